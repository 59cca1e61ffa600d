/* ranks.h - what each rank is bound to, told to hrun-shim through the environment
 *
 * Purpose: mpirun and srun bind by rules of their own, and the ranks of unlike nodes need a list that neither can
 * express; so `hrun-shim rank PROGRAM ARGUMENT...` stands in front of each rank, binds itself, and becomes the
 * program. This file is the language between the two.
 * Format: entries "FIRST[-LAST]=CPUSET[/THREADS]" separated by ';', ranks ascending without a gap, neighbours that are
 * alike in one entry: "0-3=0-7/8;4=8,24/1". An empty CPUSET binds nothing. The text stands in HRUN_RANKS,
 * HRUN_RANKS_1, HRUN_RANKS_2, ...: one variable holds at most HRUN_RANKS_PART bytes and only whole entries, since Linux
 * takes strings of at most 128 KiB.
 */
#ifndef HRUN_LAUNCH_RANKS_H
#define HRUN_LAUNCH_RANKS_H

#include "base/buf.h"
#include "base/error.h"
#include "layout/layout.h"

#define HRUN_RANKS_VARIABLE "HRUN_RANKS"
/* "bind", "report", "tell", with commas: what the shim does with them. For the first two it compares its real affinity
 * with the planned one, and fails where they differ. For the third it stays beside the rank, and writes notes of its
 * begin and end into the FIFO that HRUN_NOTES names. */
#define HRUN_RANKS_DO_VARIABLE "HRUN_RANKS_DO"
/* A folder of the rank's host for Open MPI's shared memory files. Not set: they stay where Open MPI puts them. */
#define HRUN_RANKS_SHM_VARIABLE "HRUN_SHM"

enum { HRUN_RANKS_PART = 100000 };

/* The MCA parameters that say where Open MPI's shared memory files are, ending with NULL. */
extern const char *const hrun_shared_memory_keys[];

/* Append to *words "HRUN_RANKS=...", "HRUN_RANKS_1=...", ... for all ranks of the layout. */
void hrun_ranks_words(const struct hrun_layout *l, struct hrun_strvec *words);

struct hrun_ranks_entry {
    char *cpuset;               /* "" for none; the caller frees it */
    int threads;                /* 0: not said */
};
/* The entry of a rank, as lookup(name) finds the variables (getenv, or a test's). Errors: HRUN_EPARSE (naming the
 * variable), HRUN_ENOENT (no entry for that rank). */
int hrun_ranks_find(char *(*lookup)(const char *name), int rank, struct hrun_ranks_entry *out,
                    struct hrun_error *err);

#endif
