/* bench_topo.c - what hwloc's discovery of this host costs as a process: nothing but hrun_topo_load */
#include "cluster/topo.h"

#include <stdio.h>

int main(void)
{
    struct hrun_error err;
    struct hrun_topo *t = hrun_topo_load(HRUN_TOPO_THIS, NULL, &err);

    if (!t) {
        fprintf(stderr, "bench_topo: %s\n", err.text);
        return 1;
    }
    hrun_topo_destroy(t);
    return 0;
}
