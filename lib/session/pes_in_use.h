/* pes_in_use.h - which PEs of the cluster others use, and the locks of this run (cluster/ledger.h)
 *
 * Invariants: without a ledger no PE is in use, and nothing is locked. If locking fails the user gets one note, and the
 * run goes on without locks. It is an error only if the user has named a ledger that cannot be opened.
 */
#ifndef HRUN_SESSION_PES_IN_USE_H
#define HRUN_SESSION_PES_IN_USE_H

#include "cluster/ledger.h"
#include "session/context.h"

struct ledger {
    struct hrun_ledger *l;        /* NULL: there is none */
    struct hrun_ledger_list seen; /* at the last look */
    const struct hrun_cluster *cluster;
    struct hrun_strvec names;     /* of each host, as it calls itself */
    char **mask;                  /* [sub][pe]: 1: in use by others, or kept for a run that waits since before */
    int nbusy;                    /* PEs in the mask */
    int *first;                   /* of each host, and one more: its first entry of seen.holds */
    unsigned long version;        /* changes if a PE has another holder */
    int waits;                    /* 1: the free PEs allow no configuration, so the run waits, or would */
    int64_t queued_s;             /* when this run began to wait; 0: it does not */
};

/* Find the folder of the ledger: $HRUN_LEDGER, the cluster file's (from_file, or NULL), /etc/hrun/ledger, /run/lock.
 * Set *dir, or *why if there is none; the caller frees both. *named: 1 if the user has named it. */
void ledger_find(const char *from_file, char **dir, int *named, char **why);

/* Open the ledger of the context's cluster. There is none inside an allocation, for simulated or described hosts, and
 * for a run inside another. Errors: those of hrun_ledger_open if the user has named it. */
int ledger_open(struct ledger *g, const struct context *c, struct hrun_error *err);
/* End the locks. *g may be zeroed. */
void ledger_release(struct ledger *g);

/* Read the ledger into the mask. */
void ledger_look(struct ledger *g, const struct context *c);
/* The busy PEs for lib/layout; NULL: none. */
const char *const *ledger_busy(const struct ledger *g);
/* Seconds until all running jobs have ended as predicted; NAN if one has no prediction. */
double ledger_free_in(const struct ledger *g);

struct ledger_run {
    const struct hrun_layout *layout; /* NULL: all PEs that are not busy */
    int whole_hosts;              /* 1: nobody else is to be on its hosts (measuring) */
    int64_t N;
    double time_s;                /* predicted, 0: not known */
};
/* Lock the PEs of a run. Result: 1, or 0 if others have some of them. */
int ledger_lock(struct ledger *g, const struct context *c, const struct ledger_run *run);
/* Queue for the PEs of a run, and sleep for a moment. Result: the signal that has ended the sleep, else 0. */
int ledger_wait(struct ledger *g, const struct context *c, const struct ledger_run *run);
/* Sleep. Result: the number of SIGINT, SIGTERM, SIGHUP or SIGQUIT when one of them has ended it, else 0. */
int ledger_sleep(double seconds);

/* Append the users of busy PEs in a line: "6 of 8 PEs of fast in use by alice since 13:10 until about 14:20; ...". */
void ledger_print_users(const struct ledger *g, struct hrun_buf *out);
json_t *ledger_json(const struct ledger *g);
/* Append lead and a time of day, with the date where it is not today; nothing for 0. */
void ledger_add_time(struct hrun_buf *out, const char *lead, int64_t when_s);

#endif
