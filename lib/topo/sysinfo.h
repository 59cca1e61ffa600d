/* sysinfo.h - what the system itself tells of a host, without hwloc (internal to lib/topo and lib/cluster)
 *
 * Purpose: limits of cgroups, the CPU model of /proc/cpuinfo, and the rounding of memory.
 * Invariants: needs the C library and lib/base/buf alone, so that hrun-shim can link it. errno is kept.
 */
#ifndef HRUN_TOPO_SYSINFO_H
#define HRUN_TOPO_SYSINFO_H

#include "base/buf.h"

#include <stdint.h>

/* The smallest memory limit (bytes) on the way from the process's cgroup up to the root, version 2
 * (memory.max) or 1 (memory.limit_in_bytes); UINT64_MAX when there is none or nothing can be read.
 * root: "" for this system, else a folder that stands for "/". */
uint64_t hrun_cgroup_memory_limit(const char *root);

/* The smallest quota of processor time on the same way, in CPUs (cpu.max of version 2, cpu.cfs_quota_us of version 1):
 * 0.3 for 30 ms in each 100 ms; 0 when there is none or nothing can be read. */
double hrun_cgroup_cpu_quota(const char *root);

/* Append the CPU model of /proc/cpuinfo below root, blanks squeezed; nothing when it names none. */
void hrun_cpuinfo_model(const char *root, struct hrun_buf *out);

/* Append text without blanks at either end and with single blanks inside. */
void hrun_add_squeezed(struct hrun_buf *out, const char *text);

/* To two significant binary digits (1, 1.5, 2, 3, 4, 6, ... times a power of two). Memory comes in such
 * sizes; what firmware and kernel keep of it, a few percent, stays far from the limits at 1.25 and 1.75. */
uint64_t hrun_round_memory(uint64_t bytes);

#endif
