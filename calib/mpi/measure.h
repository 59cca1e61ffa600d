/* measure.h - internals of libhrun-mpi: experiments, their repetition, their schedule
 *
 * Purpose: every experiment is a *trial*: a process that leads, one or more that follow, and messages between them.
 * repeat.c repeats any trial. The stages (trips.c, fans.c, sweeps.c) choose the trials, with partners from rounds.c.
 * measure.c calls the stages one after the other.
 * Invariants:
 *   - every process calls every stage, in the same order. A process is in at most one trial at a time, and sleeps at
 *     the end of a stage until all processes have reached it;
 *   - all processes compute groups and partners from equal data. Messages carry only three decisions: whether a trial
 *     continues, whether a send waits for its receiver, and whether the time limit has passed;
 *   - the process that leads measures with its own clock, once its receives are posted and its followers are ready. It
 *     keeps the records, which are gathered at the end.
 */
#ifndef CALIB_MPI_MEASURE_H
#define CALIB_MPI_MEASURE_H

#include "hrun-mpi.h"
#include "messages.h"

/* The kinds of enum hrun_net_kind (lib/net/estimate.h), in the same order. net_kind_names: their names in records. */
enum net_kind {
    NET_TRIP, NET_FAN, NET_JOIN, NET_CALL, NET_BOTH, NET_PAIRS, NET_LOCAL, NET_SCATTER, NET_GATHER, NET_SYNC, NET_NKINDS
};
extern const char *const net_kind_names[NET_NKINDS];

struct net_record {
    int kind, i, j, k, n;
    int bytes, back, repetitions;
    double time_s, sd_s, max_s, mean_s;    /* mean_s 0: not recorded */
};

struct net_times {
    int n;
    double median_s, sd_s, max_s, mean_s;
    double call_s, call_sd_s, call_max_s; /* duration of the first send call */
};

/* Times of trips and their standard errors, s; both nhosts by nhosts, rows by leader; 0: not measured. */
struct trip_table {
    double *s, *error;
};

struct net_bench {
    struct message_buffers m;      /* comm: a duplicate of the caller's; out: NET_BYTES_MAX; in: NET_IN_MAX bytes */
    int nranks;
    struct hrun_measure_options set;
    int nhosts, host;              /* number of hosts, in the order of their first processes; this process's host */
    int *host_of, *kind_of;        /* nranks */
    int *leader;                   /* nhosts: first process of each */
    char (*names)[HOST_NAME];       /* nhosts */
    int ngroups, *group_of;        /* nhosts: group of hosts behind one switch, by find_groups; at first one group */
    double *times, *calls;         /* repetitions of one trial: max(set.most, NET_FIXED) */
    double begin_s;
    struct net_record *v;
    int n, room;
    char odd[2 * HOST_NAME + 400];  /* the reason why no time is valid, or ""; the same on all processes */
    struct trip_table empty, full; /* empty trips, trips of `bytes` */
    int bytes;                     /* M of trips, fans and joins: below rendezvous, large enough to show the rate */
    int eager;                     /* largest message whose send did not wait for the receiver; 0: none */
    int apart;                     /* 1: simultaneous trips disturb each other, so trips run one at a time */
};

enum {
    NET_BYTES_MAX = 1 << 20,       /* longest message */
    NET_IN_MAX = 1 << 22,          /* largest sum of the messages that a process receives at once */
    NET_FIXED = 8,                 /* the most repetitions of a trial with a fixed number of them */
};

/* A barrier in which processes sleep (except in a simulation). Collective. */
void net_rest(struct net_bench *b);
/* 1 if set.limit_s has passed, so that optional stages are skipped, else 0; the same on all processes. Collective. */
int net_late(struct net_bench *b);
/* The time of a trip of b->bytes from host i to host j minus that of an empty trip, s; 0 if unknown. */
double net_bytes_take(const struct net_bench *b, int i, int j);
/* Append a copy of *r with number, median, deviation and maximum of *m. mean_s stays that of *r. */
void net_keep(struct net_bench *b, const struct net_record *r, const struct net_times *m);

/* ---------------------------------------------------------------- trials (repeat.c) */

/* Run a trial. Processes outside it return at once. Result: 1 with *out on the leader if there is a valid time, else
 * 0. */
int net_try(struct net_bench *b, const struct net_trial *t, struct net_times *out);
/* Run a trial and keep its record *r. */
void net_measure(struct net_bench *b, const struct net_trial *t, const struct net_record *r);

/* Sort v[n]. Result: the mean; 0 if n is 0. *sd comes from the quartiles if n is large enough, so that a few
 * interruptions do not count as scatter. */
double net_summary(double *v, int n, double *median, double *sd, double *max);
/* The 97.5 % quantile of Student's t distribution with df >= 1 degrees of freedom. */
double net_student(int df);

/* ---------------------------------------------------------------- rounds.c */

/* The partner of x in round 0 .. net_rounds(n)-1 of the 1-factorisation of n; -1: x rests. */
int net_rounds(int n);
int net_partner(int n, int round, int x);
/* Disjoint triples of n >= 3 hosts in round 0 .. net_triple_rounds(n)-1, at most n/3: triple q is out[3 q .. 3 q + 2].
 * Up to n = 6 the rounds contain all triples. For larger n, each host is in at least three triples of all the rounds
 * together (two for n = 8 and 14). No triple repeats. Result: the number of triples. */
int net_triple_rounds(int n);
int net_triples(int n, int round, int *out);

/* ---------------------------------------------------------------- groups.c */

/* Split groups into hosts behind one switch. Hosts i and j are in one group if s[i][k] - s[j][k] is the same for all
 * other hosts k: apart from what standard errors explain, these differences vary by at most `slack` times the median
 * of s. s: n by n, time of a message between two hosts, 0 if unknown; error: its standard error. group_of[n]: groups
 * in, finer groups out, numbered from 0 in the order of hosts. Result: the number of groups. */
int net_groups(const double *s, const double *error, int n, double slack, int *group_of);

/* slows: measures simultaneous messages; 1 if those from a[na] to b[nb] slow each other and those inside a and inside b
 * do not, else 0. */
struct net_load {
    int (*slows)(void *ctx, const int *a, int na, const int *b, int nb);
    void *ctx;
};

/* Split groups at shared bottlenecks. byte_s: n by n, row: sender; time that the bytes of a message took while other
 * pairs of hosts sent messages, too; 0 if unknown. These times are divided by the best times of the two hosts
 * (net_own_rates), so a host with a slow link of its own is not split off. The split into two parts that best explains
 * why some of these quotients are larger than others is tested with `load`. If the test confirms it, both parts are
 * split further. group_of: as for net_groups. Result: the number of groups. */
int net_groups_loaded(const double *byte_s, int n, const struct net_load *load, int *group_of);

/* out[i], in[i]: the least time that the bytes of a message took from host i and to it; INFINITY if unknown. */
void net_own_rates(const double *byte_s, int n, double *out, double *in);

/* ---------------------------------------------------------------- stages */

void net_find_eager(struct net_bench *b);          /* sync records, b->eager, b->bytes (sweeps.c) */
void net_trips(struct net_bench *b);               /* trips and calls, empty and with b->bytes; groups (trips.c) */
void net_pairs(struct net_bench *b);               /* simultaneous trips between groups and inside (trips.c) */
void net_boths(struct net_bench *b);               /* both ways at once (trips.c) */
void net_fans(struct net_bench *b);                /* fans and joins (fans.c) */
void net_sizes(struct net_bench *b);               /* trips of a few pairs over sizes (sweeps.c) */
void net_scatters(struct net_bench *b);            /* scatter and gather over sizes (sweeps.c) */
void net_inside_hosts(struct net_bench *b);              /* inside hosts (fans.c) */

#endif
