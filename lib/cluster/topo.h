/* topo.h - one host's hardware topology -> its PEs (the only files that know hwloc)
 *
 * Purpose: load the topology of this host (or of another, from XML or a synthetic description), cut it into
 * PEs at a level, bind a process to one.
 * Invariants:
 *   - what the cgroup (and, for this host, the process's affinity mask) forbids is in no PE;
 *   - a PE holds cores of one core kind: a level object with P-cores and E-cores gives one PE for each;
 *   - PEs do not overlap, and every usable core is in exactly one; they are numbered from 0, by core kind
 *     (fastest kind first), then by position in the topology; cores that lie in no object of the level
 *     (E-cores without an L3 cache, say) form PEs of their own, by package and kind;
 *   - logical core numbers are those of the whole allowed topology, as mpirun counts them, whatever the
 *     affinity mask leaves; where the system shows no cores each PU counts as one;
 *   - HWLOC_SYNTHETIC and HWLOC_XMLFILE are honoured as hwloc does (the first goes before the second, an
 *     empty value is none), but a bad one is an error where hwloc would silently take the real machine; such
 *     a topology is not "this system": the affinity mask and the cgroup do not apply and binding is refused;
 *   - a description that crashes hwloc, or takes it more than a second or 192 MiB, is an error: each one is loaded in
 *     a child process first.
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

/* Where a topology comes from. */
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
    uint64_t memory_bytes; /* its share of the memory of the NUMA nodes it lies in, by cores; a cgroup's
                              memory limit is shared out over the usable cores; 0 = unknown (a synthetic
                              description without memory=, say) */
};

/* Load. Errors: HRUN_EINVAL (bad XML or synthetic text; the message says which and how it should look),
 * HRUN_ENOENT, HRUN_EIO (hwloc finds no topology at all, or no core may be used).
 * Result: to be given to hrun_topo_destroy. */
struct hrun_topo *hrun_topo_load(enum hrun_topo_source source, const char *text, struct hrun_error *err);
void hrun_topo_destroy(struct hrun_topo *t);
/* The same with those PUs alone that `usable` ("0-3,8") lists, too; it may have no core. To be destroyed before t.
 * NULL: that is no list. */
struct hrun_topo *hrun_topo_restrict(const struct hrun_topo *t, const char *usable);

/* 1 if the topology describes the machine we run on (binding works). */
int hrun_topo_is_this_system(const struct hrun_topo *t);
/* CPU model, blanks trimmed and squeezed; "unknown" if the system has none. */
const char *hrun_topo_cpu_model(const struct hrun_topo *t);
/* As uname -m calls it ("x86_64"); "" where the topology does not say. */
const char *hrun_topo_machine(const struct hrun_topo *t);
/* Usable cores (at least 1), all of them or of one kind (kind >= 0). */
int hrun_topo_ncores(const struct hrun_topo *t, int kind);
/* The CPUs whose time the process's cgroup grants altogether, as 0.3 or 2; 0: it sets no limit, or the topology does
 * not describe the machine we run on. */
double hrun_topo_cpu_quota(const struct hrun_topo *t);
/* Usable PUs. */
int hrun_topo_npus(const struct hrun_topo *t);
/* Number of core kinds that hold usable cores (at least 1) and the name of one. Cores are of one kind when the system
 * calls them alike (CoreType, CPU part), their L1d and L2 caches are equal, all or none have an L3 cache, and capacity
 * (Linux's cpu_capacity), maximal and base frequency are known for both or for neither, and are within 10 % of those of
 * some other core of the kind. A core without any of the three is of the only kind that it may belong to.
 * Hardware threads do not count: they may be off line one by one. (hwloc 2.9 has a kind for each frequency.) The
 * fastest first: by capacity, else by maximal, else by base frequency, whichever is known for all kinds and
 * differs, else by hwloc's efficiency. Name: "" when there is one kind only, else hwloc's CoreType ("IntelCore",
 * "IntelAtom"; "IntelAtom-2" for the second kind of that type) or "kindK". kind outside 0..nkinds-1 gives "". */
int hrun_topo_nkinds(const struct hrun_topo *t);
const char *hrun_topo_kind_name(const struct hrun_topo *t, int kind);

/* Cut into PEs. max_cores > 0 uses only the first max_cores usable cores, fastest kind first (slots of a
 * host file). Result: *pes with *n entries (n >= 1), freed by hrun_topo_pes_free. Errors: HRUN_EINVAL when
 * the machine has no object of that level (the message lists the levels it has). */
int hrun_topo_pes(const struct hrun_topo *t, enum hrun_level level, int max_cores,
                  struct hrun_topo_pe **pes, int *n, struct hrun_error *err);
void hrun_topo_pes_free(struct hrun_topo_pe *pes, int n);

/* What ranks are mapped over and bound to, largest first; hrun_mapping (lib/layout) has their words. */
enum hrun_object {
    HRUN_OBJECT_NODE, HRUN_OBJECT_PACKAGE, HRUN_OBJECT_NUMA, HRUN_OBJECT_L3, HRUN_OBJECT_L2, HRUN_OBJECT_L1,
    HRUN_OBJECT_CORE, HRUN_NOBJECTS
};
/* The logical number of the smallest object of that type around a core, which hrun_topo_pe.cores numbers; of memory
 * nodes that share their cores the first. -1: there is none around it, or no such core. */
int hrun_topo_object(const struct hrun_topo *t, int core, enum hrun_object type);

/* Bind the calling thread to cpuset (OS numbers, list format). Processes forked by it inherit the binding.
 * Errors: HRUN_EINVAL (no list, not among the usable PUs, or a topology that is not this system's; the
 * binding is as before), HRUN_EIO. */
int hrun_topo_bind(const struct hrun_topo *t, const char *cpuset, struct hrun_error *err);

/* Append 8 hex digits (CRC-32) that change when what this process may use of this host does, without loading a
 * topology (well under a millisecond): the host's own name, the PUs online and those in the affinity mask, CPU
 * model, memory and the cgroup's limit of it (each to two significant binary digits), its CPU quota, the variables of
 * hwloc that replace a topology with date and size of the file they name, and `extra` (may be NULL): what the
 * caller finds worth watching. Equal for all processes of one host that may use the same. */
void hrun_topo_fingerprint(const char *extra, struct hrun_buf *out);

/* Append the topology as hwloc XML. Errors: HRUN_EIO. */
int hrun_topo_export(const struct hrun_topo *t, struct hrun_buf *out, struct hrun_error *err);

/* ---------------------------------------------------------------- benchmark
 *
 * How quick cores are while all of them work
 *
 * Purpose: kinds of cores differ by more than their frequency. Each core runs a fixed kernel, most of it
 * floating point in the cache, the rest a stream through memory, at the same time as the others, as it will be used.
 * Invariants: the processes that do so are bound, end with the caller's thread, and have ended when the function
 * returns.
 */

struct hrun_topo_rate {
    double rate;           /* rounds of the kernel in a second of processor time */
    double share;          /* of the wall time, in which the process ran: below 1 where others had its core */
};

/* The rates of cpusets[n] (as hrun_topo_bind has them), by a process on each for `seconds` (> 0). The caller has one
 * thread. Errors, out[n] is undefined then: those of hrun_topo_bind; HRUN_EIO: a process cannot be made, or says
 * nothing within 3 s more. */
int hrun_topo_benchmark(const struct hrun_topo *t, const char *const *cpusets, int n, double seconds,
                        struct hrun_topo_rate *out, struct hrun_error *err);

/* ---------------------------------------------------------------- sysinfo
 *
 * What the system itself shows of a host, without hwloc (internal to lib/cluster)
 *
 * Purpose: limits of cgroups, the CPU model of /proc/cpuinfo, and the rounding of memory.
 * Invariants: needs the C library and lib/base/buf alone, so that hrun-shim can link it.
 */

/* The smallest memory limit (bytes) on the way from the process's cgroup up to the root, version 2
 * (memory.max) or 1 (memory.limit_in_bytes); UINT64_MAX when there is none or nothing can be read.
 * root: "" for this system, else a folder that stands for "/". */
uint64_t hrun_cgroup_memory_limit(const char *root);

/* The smallest quota of processor time on the same way, in CPUs (cpu.max of version 2, cpu.cfs_quota_us of version 1):
 * 0.3 for 30 ms in each 100 ms; 0 when there is none or nothing can be read. */
double hrun_cgroup_cpu_quota(const char *root);

/* Append the CPU model of /proc/cpuinfo below root, blanks squeezed; nothing when it names none. */
void hrun_cpuinfo_model(const char *root, struct hrun_buf *out);

/* The part number of an Arm core (bits 15 to 4 of its MIDR_EL1, as Linux shows it below root); 0: unknown. */
unsigned hrun_cpu_part(const char *root, int cpu);

/* Append text without blanks at either end and with single blanks inside. */
void hrun_add_squeezed(struct hrun_buf *out, const char *text);

/* To two significant binary digits (1, 1.5, 2, 3, 4, 6, ... times a power of two). Memory comes in such
 * sizes; what firmware and kernel keep of it, a few percent, stays far from the limits at 1.25 and 1.75. */
uint64_t hrun_round_memory(uint64_t bytes);

#endif
