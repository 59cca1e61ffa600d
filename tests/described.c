/* described.c - stands for libhwloc where tests/described runs something, and says another model of this machine's CPU */
#include <dlfcn.h>
#include <hwloc.h>
#include <stdlib.h>
#include <string.h>

int hwloc_topology_load(hwloc_topology_t topology)
{
    int (*load)(hwloc_topology_t) = (int (*)(hwloc_topology_t))dlsym(dlopen(HWLOC, RTLD_LAZY), "hwloc_topology_load");
    int rc = load(topology);
    hwloc_obj_t obj = NULL;

    while (!rc && (obj = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PACKAGE, obj)))
        for (unsigned i = 0; i < obj->infos_count; i++)
            if (!strcmp(obj->infos[i].name, "CPUModel") && !strcmp(obj->infos[i].value, REAL)) {
                free(obj->infos[i].value);
                obj->infos[i].value = strdup(AS);
            }
    return rc;
}
