/* ledger.h - which PEs of the cluster others use, and that this run uses some (lib/ledger)
 *
 * Purpose: the one place that knows where the ledger is, which PEs an entry means, and what is said of them; both
 * commands go by it.
 * Invariants: where there is no ledger nothing is in use and nothing is entered; a ledger that nobody has asked for and
 * that cannot be used is no reason not to run.
 */
#ifndef HRUN_LEDGER_USE_H
#define HRUN_LEDGER_USE_H

#include "session/context.h"
#include "layout/layout.h"
#include "ledger/ledger.h"

#include <jansson.h>

/* Who waits looks so often: a run that has ended is noticed soon, and a file server is not kept busy. */
#define LEDGER_POLL_S 0.5

struct ledger {
    struct hrun_ledger *l;        /* NULL: there is none */
    char *why_none;               /* why, for -v; or NULL */
    struct hrun_ledger_list seen; /* at the last look */
    const struct hrun_cluster *cluster;
    char **names;                 /* of each host: what it calls itself */
    char **mask;                  /* [sub][pe]: 1: in use by others, or kept for an earlier one that waits */
    int **who;                    /* [sub][pe]: the entry of seen that has it, -1: none */
    int nbusy;                    /* PEs in the mask */
    int told;                     /* 1: that it cannot be written has been said */
    int64_t queued_s;             /* since when this run waits, 0: it does not */
};

/* Where the ledger is: $HRUN_LEDGER, the cluster file, /etc/hrun/ledger, /run/lock. *dir: fresh memory, NULL
 * where there is none, and then *why too. named: 1 where the user has named it. from_file: what the cluster file says,
 * or NULL. Errors: HRUN_ENOMEM. */
int ledger_find(const char *from_file, char **dir, int *named, char **why, struct hrun_error *err);

/* Open the ledger of the context's cluster, if there is one for it: none inside an allocation, of simulated or
 * described hosts, and of a run inside another. Errors: those of hrun_ledger_open where the user has named it;
 * HRUN_ENOMEM. */
int ledger_open(struct ledger *g, const struct context *c, struct hrun_error *err);
/* Lets go what is claimed. NULL members and a zeroed object are fine. */
void ledger_release(struct ledger *g);

/* Read it, into the mask. That it cannot be read is said once, and nothing is in use then. Errors: HRUN_ENOMEM. */
int ledger_look(struct ledger *g, const struct context *c, struct hrun_error *err);

/* For ledger_claim.c: the mask from what was seen; and that something cannot be done with the ledger, after which the
 * run goes on without it. 0, or -1 with HRUN_ENOMEM. */
int ledger_mark(struct ledger *g, struct hrun_error *err);
int ledger_trouble(struct ledger *g, const struct context *c, const struct hrun_error *why, struct hrun_error *err);

/* The busy PEs for lib/layout; NULL: none. */
const char *const *ledger_busy(const struct ledger *g);
/* PEs of a sub-cluster that are not busy. */
int ledger_free_pes(const struct ledger *g, int sub);
/* 1 if a claim that is not granted yet is among what was seen: that changes within milliseconds. */
int ledger_is_moving(const struct ledger *g);

/* What is claimed and entered for a run. */
struct ledger_run {
    const struct hrun_layout *layout; /* NULL: all PEs that are not busy */
    int whole_hosts;              /* 1: nobody else is to be on its hosts (measuring) */
    int64_t N;
    double time_s;                /* predicted, 0: not known */
};
/* As hrun_ledger_claim, what was found goes into the mask. A ledger that cannot be written is said once, and counts as
 * granted. Errors: HRUN_ENOMEM. */
int ledger_claim(struct ledger *g, const struct context *c, const struct ledger_run *run, struct hrun_error *err);
/* Enter that it waits for them. Errors: HRUN_ENOMEM. */
int ledger_queue(struct ledger *g, const struct context *c, const struct ledger_run *run, struct hrun_error *err);

/* Claim the run's PEs and wait until they are granted; *sig: the signal that ended the waiting (nothing is entered
 * then), else 0. say is called once, with the words on whom it waits for. Errors: HRUN_ENOMEM. */
int ledger_claim_waiting(struct ledger *g, const struct context *c, const struct ledger_run *run,
                         void (*say)(void *ctx, const char *text), void *ctx, int *sig, struct hrun_error *err);

/* Sleep. Result: the number of SIGINT, SIGTERM, SIGHUP or SIGQUIT when one of them has ended it, else 0. */
int ledger_sleep(double seconds);

/* The busy PEs of a sub-cluster by user: "6 of 8 PEs of fast in use by alice until about 14:20"; nothing when none is.
 * Append of all sub-clusters, each with lead before it and tail behind. */
void ledger_tell(const struct ledger *g, const char *lead, const char *tail, struct hrun_buf *out);
json_t *ledger_json(const struct ledger *g);

/* The name of a user. */
json_t *ledger_user_json(uid_t uid);

/* Append a time of day, with the date where it is not today. */
void ledger_add_time(struct hrun_buf *out, int64_t when_s);

#endif
