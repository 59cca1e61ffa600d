/* topo_parts.h - the hwloc topology behind struct hrun_topo; private to the files of topo.h that use hwloc */
#ifndef HRUN_CLUSTER_TOPO_PARTS_H
#define HRUN_CLUSTER_TOPO_PARTS_H

#include "cluster/topo.h"

#include <hwloc.h>

/* Invariants of struct hrun_topo after hrun_topo_load:
 *   - `cores` contains the usable cores, by kind, then by logical number; each has at least one usable PU;
 *   - kinds are numbered without a gap, fastest first, and each has a usable core.
 */

struct hrun_topo_core {
    hwloc_obj_t obj;        /* its Core object, or its PU if the system shows no cores */
    hwloc_bitmap_t pus;     /* its usable PUs */
    int kind;
    int package;            /* logical number of its package, -1 for none */
};

struct hrun_topo {
    hwloc_topology_t hwloc;
    hwloc_obj_type_t core_type;     /* HWLOC_OBJ_CORE, or HWLOC_OBJ_PU if there are no cores */
    hwloc_bitmap_t usable;          /* usable PUs */
    struct hrun_topo_core *cores;
    int ncores;
    struct hrun_strvec kinds;       /* kind names */
    char *cpu_model;
    uint64_t memory_limit;          /* of the cgroup, bytes; UINT64_MAX for none */
    double cpu_quota;               /* of the cgroup, CPUs; 0 for none */
    int memory_made_up;             /* 1: no memory in a synthetic description; hwloc invents 1 GB per node */
    int is_restricted;              /* 1: all members but `usable` and `cores` belong to another topology */
};

/* 1 if the machine has objects of this level, else 0. */
int hrun_topo_has_level(const struct hrun_topo *t, enum hrun_level level);

/* Make kinds of the usable cores: sort them by kind, name the kinds. */
void hrun_topo_find_kinds(struct hrun_topo *t);

/* Call work in a forked process with limits on its memory, processor time and wall time: hwloc 2.9 crashes on broken
 * XML, and makes a billion PUs of a short text. work prints nothing, and takes no lock of hwloc or libxml2 (as
 * hwloc_topology_init, _destroy and _set_xmlbuffer do), which another thread may hold during the fork. Only *err
 * returns from the process.
 * what: the description, for messages. Errors: those of work; HRUN_EINVAL for a crash and for exceeded limits. */
int hrun_topo_try(int (*work)(void *ctx, struct hrun_error *err), void *ctx, const char *what, struct hrun_error *err);

#endif
