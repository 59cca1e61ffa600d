/* bind.c - binding the calling thread, and reading bindings; see topo.h for the contracts */
#include "topo/internal.h"

#include <stdlib.h>

static int check_this_system(const struct hrun_topo *t, struct hrun_error *err)
{
    if (hwloc_topology_is_thissystem(t->hwloc))
        return 0;
    return hrun_fail(err, HRUN_EINVAL, "the topology is not this system's (is HWLOC_XMLFILE or "
                     "HWLOC_SYNTHETIC set?), so nothing can be bound by it");
}

int hrun_topo_bind(const struct hrun_topo *t, const char *cpuset, struct hrun_error *err)
{
    hwloc_bitmap_t set = NULL;
    char *usable = NULL;
    int rc = -1;

    if (check_this_system(t, err))
        return -1;
    set = hwloc_bitmap_alloc();
    if (hwloc_bitmap_list_asprintf(&usable, t->usable) < 0)
        hrun_out_of_memory();
    if (hwloc_bitmap_list_sscanf(set, cpuset) < 0 || hwloc_bitmap_iszero(set)) {
        hrun_fail(err, HRUN_EINVAL, "cannot bind to '%s': it is no list of PUs, such as '0-3,8'", cpuset);
    } else if (!hwloc_bitmap_isincluded(set, t->usable)) {
        hrun_fail(err, HRUN_EINVAL, "cannot bind to PUs '%s': usable here are '%s'", cpuset, usable);
    } else if (hwloc_set_cpubind(t->hwloc, set, HWLOC_CPUBIND_THREAD) < 0) {
        hrun_fail_errno(err, HRUN_EIO, "cannot bind to PUs '%s'", cpuset);
    } else {
        rc = 0;
    }
    free(usable);
    hwloc_bitmap_free(set);
    return rc;
}
