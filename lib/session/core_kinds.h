/* core_kinds.h - which kinds of cores of one host are used for a program of which nothing is known
 *
 * Purpose: a laptop or workstation has fast and slow cores. With one process on each core the fast ones wait for the
 * slow ones; without the slow ones, or with two processes on each fast core, equal shares may be done sooner. A
 * benchmark of KINDS_SECONDS measures the speeds once on a machine; the store keeps them.
 * How: time goes as max(Mi / si) / P over the kinds used, si being their speeds (model.h, "speeds"). hrun takes the
 * quickest configuration with one process on a core, or one with two on some cores if that promises to be 30 % quicker
 * (tests/trials/hybrid), as the cost of sharing a core is not known. If several of these, or of one process on each
 * core of the quickest one, two or more kinds were run, it takes the one with the least median.
 * Invariants: kinds whose speeds differ by less than 10 % count as one. A benchmark is trusted only if it had each core
 * to itself and cores of a kind were alike; after one that is not, hrun waits an hour before the next.
 */
#ifndef HRUN_SESSION_CORE_KINDS_H
#define HRUN_SESSION_CORE_KINDS_H

#include "session/decide.h"

#define KINDS_SECONDS 1.5

/* 1 if there are kinds of cores to choose among, else 0: only in a decision BY_DEFAULT on this one real host with
 * several kinds, without --use, a quota of processor time, and `threads: fill`. */
int kinds_matter(const struct context *c, const struct question *q, const struct decision *d);

/* Fill c->kinds from the store, else (with --refresh always) by the benchmark, which keeps all cores busy for 1.5 s.
 * why_not: why the benchmark may not run, or NULL. Needs c->signatures. The user gets a note if the speeds cannot be
 * stored. */
void kinds_load_speeds(struct context *c, const char *why_not);

/* Average the rates of the PEs, which are in the order of sub-clusters, into speed[nsubs]. Result: 1; 0 with why[size]
 * if the rates cannot be trusted. */
int kinds_average_rates(const struct hrun_cluster *cl, const struct hrun_topo_rate *rates, double *speed, char *why,
                size_t size);

/* Choose the configuration of d by c->kinds and, with by_runs = 1, by earlier runs. Needs kinds_matter. Without either
 * d stays. Errors: those of the search. */
int kinds_decide(const struct context *c, int by_runs, struct decision *d, struct hrun_error *err);

/* Append "cores of kind0 (8) are 1.9 times as quick as those of kind1 (16), measured in 1.5 s", or why the speeds are
 * not known. */
void kinds_print(const struct context *c, struct hrun_buf *out);
/* Append "one per core", "2 per core of kind0, one per core of kind1". */
void kinds_print_config(const struct context *c, const struct decision *d, struct hrun_buf *out);

#endif
