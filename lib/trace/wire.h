/* wire.h - what libhrun-trace.so writes and hrun reads: the language between the two
 *
 * Purpose: the library that is preloaded into an application's ranks (hrun/preloaded) reports on standard error of rank
 * 0, once, in MPI_Finalize, what each rank did; hrun takes these lines out of the stream (lib/launch) and reads them
 * (trace.h). Standard error is the one way back that every launcher offers from every host.
 * Format: lines HRUN_TRACE_MARK "BODY CHECK\n" of at most HRUN_TRACE_LINE bytes, so that a pipe takes each in one
 * piece, and srun --label passes it on whole, which makes two lines of one of more than 1024 bytes (Slurm 22.05, seen).
 * CHECK is hrun_trace_check(BODY) in 8 hex digits. A body is records with ';' between them, a record is words with ','
 * between them, all numbers are whole and not negative:
 *     b,VERSION,P                                 first: ranks in all
 *     r,RANK,ELAPSED,MPI,PEERS,COST,OWN           ns from MPI_Init to MPI_Finalize, ns of these inside MPI, ranks that
 *                                                 it sent messages to, ns that watching one call took, ns that the
 *                                                 library needed for itself before these, in MPI_Init
 *     d,RANK,CLASS,COUNT,BYTES                    messages sent over this distance (enum hrun_trace_distance)
 *     c,RANK,NAME,COUNT,BYTES,NS                  calls of MPI_NAME, bytes that they were given, time inside
 *     e,LINES                                     last: lines before this one
 * The other direction, HRUN_TRACE in the ranks' environment: "FIRST-LAST:SUB:PE:M" for each run of ranks, ascending
 * without a gap, with ';' between them: ranks FIRST..LAST are in sub-cluster SUB, the first M on its PE number PE, the
 * next M on the next one, and so on.
 */
#ifndef HRUN_TRACE_WIRE_H
#define HRUN_TRACE_WIRE_H

#include <stdint.h>

/* The first byte is one that text does not have. */
#define HRUN_TRACE_MARK "\x1ehrun-trace "
#define HRUN_TRACE_VERSION 1
#define HRUN_TRACE_VARIABLE "HRUN_TRACE"

enum { HRUN_TRACE_LINE = 1024, HRUN_TRACE_NAME = 48 };

/* How far a message goes. A message of a rank to itself counts as on the same PE. */
enum hrun_trace_distance { HRUN_TRACE_PE, HRUN_TRACE_HOST, HRUN_TRACE_SUB, HRUN_TRACE_FAR, HRUN_TRACE_DISTANCES };

/* FNV-1a, 32 bits (Fowler, Noll, Vo): torn and mixed lines are found by it. */
static inline uint32_t hrun_trace_check(const char *text, unsigned long len)
{
    uint32_t h = UINT32_C(2166136261);

    for (unsigned long i = 0; i < len; i++)
        h = (h ^ (unsigned char)text[i]) * UINT32_C(16777619);
    return h;
}

#endif
