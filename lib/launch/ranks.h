/* ranks.h - environment variables that pass each rank's binding to hrun-shim
 *
 * Purpose: neither mpirun nor srun can express the bindings of ranks on unlike nodes. So `hrun-shim rank PROGRAM
 * ARGUMENT...` starts in place of each rank, binds itself, and executes the program.
 * Format: entries "FIRST[-LAST]=CPUSET[/THREADS]" separated by ';', ranks ascending without a gap, equal neighbours in
 * one entry: "0-3=0-7/8;4=8,24/1". An empty CPUSET binds nothing. The text is in HRUN_RANKS,
 * HRUN_RANKS_1, HRUN_RANKS_2, ...: one variable contains at most HRUN_RANKS_PART bytes and only whole entries, since
 * Linux limits strings to 128 KiB.
 */
#ifndef HRUN_LAUNCH_RANKS_H
#define HRUN_LAUNCH_RANKS_H

#include "base/buf.h"
#include "base/error.h"
#include "layout/layout.h"

#define HRUN_RANKS_VARIABLE "HRUN_RANKS"
/* Actions of the shim, separated by commas. "bind" binds the rank, "report" prints its binding; with either, the shim
 * does not start a rank whose affinity is not that of the layout. "tell": the shim stays as the rank's parent, and
 * writes notes of the rank's begin and end into the FIFO that HRUN_NOTES names. */
#define HRUN_RANKS_DO_VARIABLE "HRUN_RANKS_DO"
/* A folder of the rank's host for Open MPI's shared memory files. Not set: Open MPI's default. */
#define HRUN_RANKS_SHM_VARIABLE "HRUN_SHM"

enum { HRUN_RANKS_PART = 100000 };

/* The MCA parameters for the folder of Open MPI's shared memory files, ending with NULL. */
extern const char *const hrun_shared_memory_keys[];

/* Append to *words "HRUN_RANKS=...", "HRUN_RANKS_1=...", ... for all ranks of the layout. */
void hrun_ranks_words(const struct hrun_layout *l, struct hrun_strvec *words);

struct hrun_ranks_entry {
    char *cpuset;               /* "" for none; the caller frees it */
    int threads;                /* 0: not given */
};
/* Find the entry of a rank. lookup(name) returns variables: getenv, or a test's function. Errors: HRUN_EPARSE (naming
 * the variable), HRUN_ENOENT (no entry for that rank). */
int hrun_ranks_find(char *(*lookup)(const char *name), int rank, struct hrun_ranks_entry *out,
                    struct hrun_error *err);

#endif
