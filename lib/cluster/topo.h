/* topo.h - one host's hardware topology and its PEs (only the files of this header use hwloc)
 *
 * Purpose: load the topology of this host (or of another, from XML or a synthetic description), cut it into
 * PEs at a level, bind a process to one.
 * Invariants:
 *   - no PE contains PUs that the cgroup (and, for this host, the process's affinity mask) forbids;
 *   - a PE contains cores of one core kind: a level object with P-cores and E-cores gives one PE for each;
 *   - PEs do not overlap, and every usable core is in exactly one; they are numbered from 0, by core kind
 *     (fastest kind first), then by position in the topology; cores that lie in no object of the level (for instance
 *     E-cores without an L3 cache) form separate PEs, by package and kind;
 *   - logical core numbers are those of the whole allowed topology, as mpirun counts them, independent of the affinity
 *     mask; if the system shows no cores, each PU counts as a core;
 *   - HWLOC_SYNTHETIC and HWLOC_XMLFILE work as in hwloc (the first has precedence, an empty value counts as unset),
 *     but a bad value is an error, while hwloc silently uses the real machine. Their topology is not "this system":
 *     the affinity mask and the cgroup do not apply and binding is refused;
 *   - a description with which hwloc crashes, or needs more than a second of processor time or 192 MiB, is an error:
 *     each one is loaded in a child process first.
 */
#ifndef HRUN_CLUSTER_TOPO_H
#define HRUN_CLUSTER_TOPO_H

#include "base/buf.h"
#include "base/error.h"

#include <stdint.h>

enum hrun_level { HRUN_LEVEL_NODE, HRUN_LEVEL_PACKAGE, HRUN_LEVEL_NUMA, HRUN_LEVEL_L3, HRUN_LEVEL_CORE };

const char *hrun_level_name(enum hrun_level level);           /* "node", "package", ... */
int hrun_level_parse(const char *text, enum hrun_level *out, struct hrun_error *err);

struct hrun_topo;

/* Source of a topology. */
enum hrun_topo_source {
    HRUN_TOPO_THIS,       /* this host; `text` unused */
    HRUN_TOPO_XML_FILE,   /* text is a path */
    HRUN_TOPO_XML,        /* text is XML */
    HRUN_TOPO_SYNTHETIC   /* text is hwloc's synthetic description, "package:2 core:4 pu:1" */
};

struct hrun_topo_pe {
    int kind;              /* core kind, from 0, the fastest first */
    char *cpuset;          /* PUs by operating system number, "0-3,8" */
    char *cores;           /* cores by hwloc logical number in the host's topology, "0-3" (rankfile slots) */
    char *core_pus;        /* of each core, in the order of `cores`, its usable PUs: "0,8;1,9" */
    int ncores, npus;
    uint64_t memory_bytes; /* its share, by cores, of the memory of its NUMA nodes; a cgroup's memory limit is divided
                              among the usable cores; 0 = unknown (for instance a synthetic description without
                              memory=) */
};

/* Load. Errors: HRUN_EINVAL (bad XML or synthetic text; the message has the right form), HRUN_ENOENT, HRUN_EIO
 * (hwloc finds no topology at all, or no core may be used).
 * The caller destroys the result. */
struct hrun_topo *hrun_topo_load(enum hrun_topo_source source, const char *text, struct hrun_error *err);
void hrun_topo_destroy(struct hrun_topo *t);
/* A view of t with only those usable PUs that are in list `usable` ("0-3,8"); the view may have no core. The caller
 * destroys the view before t. NULL: `usable` is not a list. */
struct hrun_topo *hrun_topo_restrict(const struct hrun_topo *t, const char *usable);

/* 1 if the topology describes this machine, so that binding works; else 0. */
int hrun_topo_is_this_system(const struct hrun_topo *t);
/* CPU model, blanks trimmed and squeezed; "unknown" if the system has none. */
const char *hrun_topo_cpu_model(const struct hrun_topo *t);
/* The machine as named by uname -m ("x86_64"); "" if the topology does not contain it. */
const char *hrun_topo_machine(const struct hrun_topo *t);
/* Number of usable cores, all or of one kind (kind >= 0); at least 1 unless t is a view. */
int hrun_topo_ncores(const struct hrun_topo *t, int kind);
/* The CPU quota of the process's cgroup, in CPUs (0.3, 2); 0: no limit, or the topology is not that of this machine. */
double hrun_topo_cpu_quota(const struct hrun_topo *t);
/* Usable PUs. */
int hrun_topo_npus(const struct hrun_topo *t);
/* Number of core kinds with usable cores (at least 1), fastest first, and the name of one. Cores of one kind have equal
 * CoreType, CPU part, L1d and L2 caches; all of them have an L3 cache, or none. Their speeds (Linux's cpu_capacity,
 * maximal and base frequency) are within 10 % of another core of the kind, or unknown; a core without any known speed
 * is of the only kind that fits. Order: by the first speed that is known for all kinds and differs, else by hwloc's
 * efficiency. Name: "" if there is one kind only or no such kind, else hwloc's CoreType ("IntelCore"; "IntelAtom-2" for
 * the second kind of that type) or "kindK". */
int hrun_topo_nkinds(const struct hrun_topo *t);
const char *hrun_topo_kind_name(const struct hrun_topo *t, int kind);

/* Cut into PEs. max_cores > 0: use only the first max_cores usable cores, fastest kind first (slots of a host file).
 * Result: *pes with *n entries (n >= 1), freed by hrun_topo_pes_free. Errors: HRUN_EINVAL if the machine has no object
 * of that level (the message lists the machine's levels). */
int hrun_topo_pes(const struct hrun_topo *t, enum hrun_level level, int max_cores,
                  struct hrun_topo_pe **pes, int *n, struct hrun_error *err);
void hrun_topo_pes_free(struct hrun_topo_pe *pes, int n);

/* The objects that ranks are mapped over and bound to, largest first; their names are in hrun_mapping (lib/layout). */
enum hrun_object {
    HRUN_OBJECT_NODE, HRUN_OBJECT_PACKAGE, HRUN_OBJECT_NUMA, HRUN_OBJECT_L3, HRUN_OBJECT_L2, HRUN_OBJECT_L1,
    HRUN_OBJECT_CORE, HRUN_NOBJECTS
};
/* The logical number of the smallest object of this type around a core (numbered as in hrun_topo_pe.cores); among
 * memory nodes that share their cores, the first. -1: there is no such object or no such core. */
int hrun_topo_object(const struct hrun_topo *t, int core, enum hrun_object type);

/* Bind the calling thread to cpuset (OS numbers, list format). Processes that the thread forks inherit the binding.
 * Errors: HRUN_EINVAL (not a list, not among the usable PUs, or a topology that is not this system's; the binding is
 * unchanged), HRUN_EIO. */
int hrun_topo_bind(const struct hrun_topo *t, const char *cpuset, struct hrun_error *err);

/* Append a hash (8 hex digits) of the resources of this host that this process may use, without loading a topology
 * (well under a millisecond): the host's own name, the PUs online and those in the affinity mask, CPU model, memory and
 * the cgroup's memory limit (each to two significant binary digits), its CPU quota, hwloc's variables that replace a
 * topology with date and size of their file, and the caller's text `extra` (may be NULL). Equal for all processes of a
 * host that may use the same resources. */
void hrun_topo_fingerprint(const char *extra, struct hrun_buf *out);

/* Append the topology as hwloc XML. Errors: HRUN_EIO. */
int hrun_topo_export(const struct hrun_topo *t, struct hrun_buf *out, struct hrun_error *err);

/* ---------------------------------------------------------------- benchmark
 *
 * The speed of cores while all cores work
 *
 * Purpose: kinds of cores differ by more than their frequency. All cores run a fixed kernel at the same time, mostly
 * floating point in the cache, the rest a stream through memory.
 * Invariants: the processes are bound, end with the caller's thread, and have ended when the function returns.
 */

struct hrun_topo_rate {
    double rate;           /* rounds of the kernel per second of processor time */
    double share;          /* processor time / wall time; below 1 if other processes used the core */
};

/* Measure the rates of cpusets[n] (as for hrun_topo_bind), with a process on each for `seconds` (> 0). The caller has
 * one thread. Errors, out[n] is undefined then: those of hrun_topo_bind; HRUN_EIO: a process cannot be started, or does
 * not answer within 3 s more. */
int hrun_topo_benchmark(const struct hrun_topo *t, const char *const *cpusets, int n, double seconds,
                        struct hrun_topo_rate *out, struct hrun_error *err);

/* ---------------------------------------------------------------- sysinfo
 *
 * Data read from the system without hwloc (internal to lib/cluster)
 *
 * Purpose: limits of cgroups, the CPU model of /proc/cpuinfo, and the rounding of memory.
 * Invariants: needs only the C library and buf, file and hash of lib/base, so that hrun-shim can link it.
 */

/* The smallest memory limit (bytes) on the way from the process's cgroup up to the root, version 2 (memory.max) or 1
 * (memory.limit_in_bytes); UINT64_MAX if there is none or nothing can be read. root: "" for this system, else a folder
 * used as "/". */
uint64_t hrun_cgroup_memory_limit(const char *root);

/* The smallest quota of processor time from the process's cgroup up to the root, in CPUs (cpu.max of version 2,
 * cpu.cfs_quota_us of version 1): 0.3 for 30 ms in each 100 ms; 0 if there is none or nothing can be read. */
double hrun_cgroup_cpu_quota(const char *root);

/* Append the CPU model of /proc/cpuinfo below root, blanks squeezed; nothing if there is none. */
void hrun_cpuinfo_model(const char *root, struct hrun_buf *out);

/* The part number of an Arm core (bits 15 to 4 of its MIDR_EL1, as Linux shows it below root); 0: unknown. */
unsigned hrun_cpu_part(const char *root, int cpu);

/* Append text without blanks at either end and with single blanks inside. */
void hrun_add_squeezed(struct hrun_buf *out, const char *text);

/* Round to two significant binary digits (1, 1.5, 2, 3, 4, 6, ...). Memory comes in such sizes, and the few percent
 * that firmware and kernel reserve do not cross the limits at 1.25 and 1.75. */
uint64_t hrun_round_memory(uint64_t bytes);

#endif
