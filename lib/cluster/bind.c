/* bind.c - binding the calling thread, and reading bindings; see topo.h for the contracts */
#include "base/alloc.h"
#include "cluster/topo_parts.h"

#include <stdlib.h>

int hrun_topo_bind(const struct hrun_topo *t, const char *cpuset, struct hrun_error *err)
{
    autofree char *usable = NULL;
    hwloc_bitmap_t set;
    int rc = 0;

    if (!hwloc_topology_is_thissystem(t->hwloc))
        return hrun_fail(err, HRUN_EINVAL, "the topology is not this system's (is HWLOC_XMLFILE or "
                         "HWLOC_SYNTHETIC set?), so nothing can be bound by it");
    set = hwloc_bitmap_alloc();
    if (hwloc_bitmap_list_asprintf(&usable, t->usable) < 0)
        hrun_out_of_memory();
    if (hwloc_bitmap_list_sscanf(set, cpuset) < 0 || hwloc_bitmap_iszero(set))
        rc = hrun_fail(err, HRUN_EINVAL, "cannot bind to '%s': it is no list of PUs, such as '0-3,8'", cpuset);
    else if (!hwloc_bitmap_isincluded(set, t->usable))
        rc = hrun_fail(err, HRUN_EINVAL, "cannot bind to PUs '%s': usable here are '%s'", cpuset, usable);
    else if (hwloc_set_cpubind(t->hwloc, set, HWLOC_CPUBIND_THREAD) < 0)
        rc = hrun_fail_errno(err, HRUN_EIO, "cannot bind to PUs '%s'", cpuset);
    hwloc_bitmap_free(set);
    return rc;
}
