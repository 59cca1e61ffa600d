/* pes_in_use.h - the PEs that other runs use, and the locks of this run (cluster/ledger.h)
 *
 * Invariants: without a ledger no PE counts as used, and none is locked. If locking fails, the user gets one note and
 * the run continues without locks. ledger_open fails only if the user named a ledger that cannot be opened.
 */
#ifndef HRUN_SESSION_PES_IN_USE_H
#define HRUN_SESSION_PES_IN_USE_H

#include "cluster/ledger.h"
#include "session/context.h"

struct ledger {
    struct hrun_ledger *l;        /* NULL: none */
    struct hrun_ledger_list seen; /* contents at the last ledger_look */
    const struct hrun_cluster *cluster;
    struct hrun_strvec names;     /* each host's own name */
    char **mask;                  /* [sub][pe]: 1: used by another run, or reserved for a run that waits */
    int nbusy;                    /* number of PEs with mask 1 */
    int *first;                   /* nhosts + 1: index of the host's first entry in seen.holds */
    unsigned long version;        /* changes if the holder of a PE changes */
    int waits;                    /* 1: no configuration is valid on the free PEs, so the run waits (or would) */
    int64_t queued_s;             /* start of the wait, seconds since 1970; 0: this run does not wait */
};

/* Find the folder of the ledger: $HRUN_LEDGER, else that of the cluster file (from_file, or NULL), /etc/hrun/ledger,
 * /run/lock. Set *dir, or *why if there is none; the caller frees both. *named: 1 if the user named the folder. */
void ledger_find(const char *from_file, char **dir, int *named, char **why);

/* Open the ledger of c->cluster. g->l stays NULL inside an allocation, for simulated or described hosts, and for a run
 * inside another run. Errors: those of hrun_ledger_open if the user named the ledger. */
int ledger_open(struct ledger *g, const struct context *c, struct hrun_error *err);
/* Remove the locks and release *g, which may be zeroed. */
void ledger_release(struct ledger *g);

/* Read the ledger into seen, mask and version. */
void ledger_look(struct ledger *g, const struct context *c);
/* The mask for lib/layout; NULL: no PE is busy. */
const char *const *ledger_busy(const struct ledger *g);
/* Seconds until all runs in the ledger end as predicted; NAN if one waits, is overdue or has no prediction. */
double ledger_free_in(const struct ledger *g);

struct ledger_run {
    const struct hrun_layout *layout; /* NULL: all PEs that are not busy */
    int whole_hosts;              /* 1: lock all PEs of the run's hosts (measurements) */
    int64_t N;
    double time_s;                /* predicted; 0: not known */
};
/* Lock the PEs of a run. Result: 1 (also without a ledger), or 0 if other runs use some of them. */
int ledger_lock(struct ledger *g, const struct context *c, const struct ledger_run *run);
/* Queue for the PEs of a run, and sleep for at most a second. Result: as ledger_sleep. */
int ledger_wait(struct ledger *g, const struct context *c, const struct ledger_run *run);
/* Sleep. Result: the number of the signal (SIGINT, SIGTERM, SIGHUP, SIGQUIT) that ended the sleep, else 0. */
int ledger_sleep(double seconds);

/* Append the users of busy PEs: "6 of 8 PEs of fast in use by alice since 13:10 until about 14:20; ...". */
void ledger_print_users(const struct ledger *g, struct hrun_buf *out);
json_t *ledger_json(const struct ledger *g);
/* Append lead and the time of day of when_s, with the date unless it is today; nothing for 0. */
void ledger_add_time(struct hrun_buf *out, const char *lead, int64_t when_s);

#endif
