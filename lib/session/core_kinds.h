/* core_kinds.h - which kinds of cores of one host are used where nothing is known of the program
 *
 * Purpose: a laptop or workstation has fast and slow cores. One process on each core makes the fast ones wait for the
 * slow ones; without these, or with two processes on each fast core, equal shares of work may be done sooner. How quick
 * the kinds are a benchmark of KINDS_SECONDS tells once on a machine; the store keeps it.
 * How: time goes as max(Mi / si) / P over the kinds used, si being their speeds (model.h, "speeds"). The quickest
 * configuration with one process on a core is taken; one with two on some cores, whose cost is not known, where it
 * promises to be 30 % quicker (tests/trials/hybrid). Of these and one process on each core of the quickest kinds, be it
 * one kind, two, or all, the least median is taken whatever speeds say, where runs of several of them are known.
 * Invariants: kinds whose speeds differ by less than 10 % count as one. A benchmark is kept only where each core was
 * the benchmark's alone and cores of a kind were alike; one that was not is not made again for an hour.
 */
#ifndef HRUN_SESSION_CORE_KINDS_H
#define HRUN_SESSION_CORE_KINDS_H

#include "session/decide.h"

#define KINDS_SECONDS 1.5

/* Is there a choice between kinds of cores? Only in a decision BY_DEFAULT on this one host, which is real and has
 * several kinds; without --use, a quota of processor time, and `threads: fill`. */
int kinds_matter(const struct context *c, const struct question *q, const struct decision *d);

/* Fill c->kinds from the store, else (with --refresh always) by the benchmark, which keeps all cores busy for 1.5 s.
 * why_not: why the benchmark may not be made; NULL: it may. Needs c->signatures. The user gets a note where the result
 * cannot be stored. */
void kinds_load_speeds(struct context *c, const char *why_not);

/* Speeds of sub-clusters from the rates of their PEs, sub-cluster by sub-cluster, into speed[nsubs]. Result: 1; 0 with
 * why[size] where the rates cannot be trusted. */
int kinds_average_rates(const struct hrun_cluster *cl, const struct hrun_topo_rate *rates, double *speed, char *why,
                size_t size);

/* Choose the configuration of d by c->kinds and, with by_runs, by earlier runs. Needs kinds_matter. Where neither is
 * known d stays. Errors: those of the search. */
int kinds_decide(const struct context *c, int by_runs, struct decision *d, struct hrun_error *err);

/* Append "cores of kind0 (8) are 1.9 times as quick as those of kind1 (16), measured in 1.5 s", or why that is not
 * known. */
void kinds_print(const struct context *c, struct hrun_buf *out);
/* Append "one per core", "2 per core of kind0, one per core of kind1". */
void kinds_print_config(const struct context *c, const struct decision *d, struct hrun_buf *out);

#endif
