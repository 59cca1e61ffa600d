/* measure.h - the inside of libhrun-mpi: experiments, their repetition, their schedule
 *
 * Purpose: every experiment is a *trial*: a process that leads, one or more that follow, and messages between them.
 * Trials are repeated by one function (repeat.c), which knows nothing of what is measured; the stages (trips.c, fans.c,
 * sweeps.c) say who tries what with whom, as rounds.c has it, and measure.c calls them one after the other.
 * Invariants:
 *   - every process calls every stage, in the same order; a process is in one trial at a time, and one that is in none
 *     goes on to the end of the stage, where it sleeps until all are there;
 *   - decisions are made from data that all processes have bit by bit, so no message carries them;
 *   - the process that leads measures, by its own clock, from when its receives are posted and its followers have said
 *     that they are ready; it keeps the records, which are gathered at the end.
 */
#ifndef CALIB_NET_MEASURE_H
#define CALIB_NET_MEASURE_H

#include "hrun-mpi.h"
#include "messages.h"

enum { NET_HOST = 256 };           /* bytes of a host's name */

/* As enum hrun_net_kind of lib/net/estimate.h, whose words net_kind_names has. */
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
    double call_s, call_sd_s, call_max_s; /* of the first call that sends */
};

struct net_bench {
    struct message_buffers m;      /* comm: of our own; out: NET_BYTES_MAX; in: with room for all followers */
    int nranks;
    struct hrun_measure_options set;
    int nhosts, host;              /* hosts in the order of their first processes; that of this one */
    int *host_of, *kind_of;        /* nranks */
    int *leader;                   /* nhosts: its first process */
    char (*names)[NET_HOST];       /* nhosts */
    int ngroups, *group_of;        /* nhosts: behind which switch, as far as latencies and rates tell; one at first */
    double *times, *calls;         /* of one trial: set.most, NET_FIXED at least */
    double begin_s;
    struct net_record *v;
    int n, room;
    char odd[2 * NET_HOST + 400];  /* what makes all times worthless; "": nothing. The same on all */
    double *trip0_s, *trip_s;      /* nhosts by nhosts, row: who leads; 0: not tried. Empty trips; those of `bytes` */
    double *error0_s, *error_s;    /* standard errors of these */
    int bytes;                     /* M of trips, fans and joins: below rendezvous, and big enough to see the rate */
    int eager;                     /* the most bytes a send of which was seen not to wait for the receiver; 0: none */
    int apart;                     /* 1: trips at once disturb each other, so one at a time */
};

enum {
    NET_BYTES_MAX = 1 << 20,       /* of a message */
    NET_IN_MAX = 1 << 22,          /* of all messages that a process receives at once */
    NET_FIXED = 8,                 /* the most repetitions of trials that are not repeated by what they show */
};

/* Have all come here? Those who wait sleep, where time is real. */
void net_rest(struct net_bench *b);
/* Has so long gone by that what is not needed is left out? The same answer on all. */
int net_late(struct net_bench *b);
int net_leads_host(const struct net_bench *b);   /* is this process the first of its host? */
/* What the bytes of a message from host i to host j took besides an empty one; 0 where that is not known. */
double net_bytes_take(const struct net_bench *b, int i, int j);
/* Keep a record with the times *m, without those of the call. */
void net_keep(struct net_bench *b, const struct net_record *r, const struct net_times *m);

/* ---------------------------------------------------------------- trials (repeat.c) */

/* To be called by those who lead or follow. Result: 1 on the process that leads, with *out; 0 on the others. */
int net_try(struct net_bench *b, const struct net_trial *t, struct net_times *out);

/* Sort v[n]. Result: the mean, 0 of none. sd by the quartiles where there are enough, as a few interruptions are no
 * scatter. */
double net_summary(double *v, int n, double *median, double *sd, double *max);
/* The 97.5 % quantile of Student's t distribution with df >= 1 degrees of freedom. */
double net_student(int df);

/* ---------------------------------------------------------------- rounds.c */

/* Who is the partner of x in round 0 .. net_rounds(n)-1 of the 1-factorisation of n? -1: x rests. */
int net_rounds(int n);
int net_partner(int n, int round, int x);
/* Disjoint triples of n >= 3: in round 0 .. net_triple_rounds(n)-1 out[3 q .. 3 q + 2], n/3 of them. Up to six
 * all triples come, beyond that each of n comes in at least three, of 8 and 14 in two. None comes twice. Result: how
 * many. */
int net_triple_rounds(int n);
int net_triples(int n, int round, int *out);

/* ---------------------------------------------------------------- groups.c */

/* Groups of hosts behind one switch: two are of one if what lies between each of them and any third one differs by the
 * same, within `slack` of the median and what chance explains. s: n by n, what a message takes between two, 0 where it
 * is not known; error: its standard error. group_of[n] holds groups and gets finer ones, numbered from 0 in the order
 * of hosts. Result: how many. */
int net_groups(const double *s, const double *error, int n, double slack, int *group_of);

/* Do messages from a[na] to b[nb] at once slow each other, where those inside a and b at once do not? To be tried. */
struct net_load {
    int (*slows)(void *ctx, const int *a, int na, const int *b, int nb);
    void *ctx;
};

/* Groups of hosts that share something thin on the way to others. byte_s: n by n, sender's by receiver's, what the
 * bytes of a message took while others were under way, 0 where it is not known. What is a host's own is taken out: the
 * best that it did with anyone, sending and receiving. Of what is left the split into two parts that explains most is
 * tried, and each part again, so a host whose own link is thin stays where it is. group_of as of net_groups. Where
 * nothing is thin it stays as it is. */
int net_groups_loaded(const double *byte_s, int n, const struct net_load *load, int *group_of);

/* The least that the bytes of a message took from each host, and to it; INFINITY where nothing is known. */
void net_own_rates(const double *byte_s, int n, double *out, double *in);

/* ---------------------------------------------------------------- stages */

void net_find_eager(struct net_bench *b);          /* sync records, b->eager, b->bytes (sweeps.c) */
void net_trips(struct net_bench *b);               /* trips and calls, empty and with b->bytes, the groups (trips.c) */
void net_pairs(struct net_bench *b);               /* many trips at once between groups and inside (trips.c) */
void net_boths(struct net_bench *b);               /* both ways at once (trips.c) */
void net_fans(struct net_bench *b);                /* fans and joins (fans.c) */
void net_sizes(struct net_bench *b);               /* trips of a few pairs over sizes (sweeps.c) */
void net_scatters(struct net_bench *b);            /* scatter and gather over sizes (sweeps.c) */
void net_inside_hosts(struct net_bench *b);              /* inside hosts (fans.c) */

#endif
