/* trace_lines.h - the lines that libhrun-trace.so writes and hrun reads
 *
 * Purpose: the library, preloaded into the ranks (hrun/preloaded), reports the MPI calls of each rank on standard error
 * of rank 0, once, in MPI_Finalize. hrun removes these lines from the stream (lib/launch) and parses them
 * (session/mpi_waits.h). Standard error is the only way back that every launcher offers from every host.
 * Format: lines HRUN_TRACE_MARK "BODY CHECK\n" of at most HRUN_TRACE_LINE bytes, so that a write to a pipe is atomic.
 * srun --label passes on a line of this length whole, but splits longer lines (seen with Slurm 22.05). CHECK is
 * hrun_trace_check(BODY) in 8 hex digits. A body is records separated by ';', a record is words separated by ',',
 * numbers are non-negative integers:
 *     b,P                                         first: number of ranks
 *     r,RANK,ELAPSED,MPI,COST,OWN                 ELAPSED: ns from MPI_Init to MPI_Finalize; MPI: ns of ELAPSED inside
 *                                                 MPI; COST: ns to watch one call; OWN: ns of the library itself in
 *                                                 MPI_Init, before ELAPSED
 *     c,RANK,NAME,COUNT,NS                        calls of MPI_NAME by a rank whose r came before; NS: ns inside them
 *     e,LINES                                     last: number of lines before this one
 * hrun passes P, the number of ranks, in the ranks' environment variable HRUN_TRACE.
 * libhrun-coll.so reports in lines of the same form (net/tune.h).
 */
#ifndef HRUN_BASE_TRACE_LINES_H
#define HRUN_BASE_TRACE_LINES_H

#include <stdint.h>

/* The first byte does not occur in text. */
#define HRUN_TRACE_MARK "\x1ehrun-trace "
#define HRUN_TRACE_VARIABLE "HRUN_TRACE"
#define HRUN_COLL_VARIABLE "HRUN_COLL"     /* for libhrun-coll.so: the text of net/tune.h */

enum { HRUN_TRACE_LINE = 1024, HRUN_TRACE_NAME = 48 };

/* FNV-1a, 32 bits (Fowler, Noll, Vo); detects torn and mixed lines. */
static inline uint32_t hrun_trace_check(const char *text, unsigned long len)
{
    uint32_t h = UINT32_C(2166136261);

    for (unsigned long i = 0; i < len; i++)
        h = (h ^ (unsigned char)text[i]) * UINT32_C(16777619);
    return h;
}

#endif
