/* core_kinds.h - choose the kinds of cores of one host for a program without a profile
 *
 * Purpose: a laptop or workstation has fast and slow cores. With one process on each core the fast cores wait for the
 * slow ones. A run may end sooner if it leaves out the slow cores, or puts two processes on each fast core. A benchmark
 * of KINDS_SECONDS measures the speeds once per machine; the store keeps the speeds.
 * Method: the time is proportional to max(Mi / si) / P over the kinds used, with speeds si (model.h, "speeds"). hrun
 * chooses the fastest configuration with one process per core. Two processes on some cores must be 30 % faster
 * (tests/trials/hybrid), as the cost of sharing a core is unknown. Candidates are these two configurations, and one
 * process per core of the k fastest kinds. After two candidates were run, hrun chooses that of the least median time.
 * Invariants: kinds whose speeds differ by less than 10 % count as one. A benchmark is valid only if no other program
 * used the cores and cores of one kind were equally fast; after an invalid one hrun waits an hour before the next.
 */
#ifndef HRUN_SESSION_CORE_KINDS_H
#define HRUN_SESSION_CORE_KINDS_H

#include "session/decide.h"

#define KINDS_SECONDS 1.5

/* 1 if there are kinds of cores to choose among, else 0: only in a decision BY_DEFAULT, on the local host alone, if the
 * host is real and has several kinds, and without --use, a quota of processor time, and `threads: fill`. */
int kinds_matter(const struct context *c, const struct question *q, const struct decision *d);

/* Fill c->kinds from the store, else (with --refresh always) by the benchmark, which uses all cores for KINDS_SECONDS.
 * why_not: why the benchmark may not run, or NULL. Needs engine and store. The user gets a note if the speeds cannot be
 * stored. */
void kinds_load_speeds(struct context *c, const char *why_not);

/* Average the rates of the PEs, given in the order of sub-clusters, into speed[nsubs]. Result: 1, or 0 with the reason
 * in why[size] if the benchmark was not valid. */
int kinds_average_rates(const struct hrun_cluster *cl, const struct hrun_topo_rate *rates, double *speed, char *why,
                size_t size);

/* Choose the configuration of d by the speeds in c->kinds and, with by_runs = 1, by earlier runs. Needs kinds_matter.
 * Without known speeds d does not change. Errors: those of the search. */
int kinds_decide(const struct context *c, int by_runs, struct decision *d, struct hrun_error *err);

/* Append "cores of kind0 (8) are 1.9 times as quick as those of kind1 (16), measured in 1.5 s", or the reason why the
 * speeds are not known. */
void kinds_print(const struct context *c, struct hrun_buf *out);
/* Append the processes per core, as "one per core" or "2 per core of kind0, one per core of kind1". */
void kinds_print_config(const struct context *c, const struct decision *d, struct hrun_buf *out);

#endif
