/* tune.h - the network of a run as text: from hrun to libhrun-coll.so, and what comes back
 *
 * Purpose: the library that is preloaded into an application's ranks (hrun/preloaded) chooses how a collective
 * operation is done by the parameters of net.h. It finds them in a variable of its environment, as hosts need not
 * share a folder.
 * Invariants: the text is the same for all ranks, so that all of them choose the same.
 * Format: records with ';' between them, a record is words with ',' between them; times in s, sizes in bytes, rates in
 * bytes/s (0: no limit), numbers with 6 digits, as parameters are known to a percent or so. Hosts, classes and groups
 * are those that ranks are on, counted anew from 0. In this order:
 *     b,VERSION,P,HOSTS,CLASSES,GROUPS,SEGMENTS,SELECTOR  first: ranks in all; selector as in net.h
 *     o,MARGIN,COST,PATIENCE,TELL            struct hrun_net_tune_options
 *     w,SYNC,WAITS,EXCHANGE,BIAS,BACK,SHARED sync_bytes, wire_waits, exchange_waits, bias_bytes, back_share,
 *                                            trunks_shared of net.h
 *     t,M1,M2,IRREGULAR                      a linear gather of M1..M2 bytes per rank takes so much longer on average
 *     s,FROM,A,B                             segments of the sizes
 *     c,CLASS,C,T,OUT,IN,LOCAL,KINDS,F,B,... each class: fixed, per byte, ports, memory; KINDS by KINDS times what a
 *                                            message inside a host takes, fixed and per byte
 *     p,FROM,TO,L,BETA                       pairs of classes that were measured
 *     g,FROM,TO,RATE                         trunks between groups that limit
 *     h,HOST,CLASS,GROUP                     each host
 *     r,FIRST,LAST,HOST,KIND                 ranks FIRST..LAST of the world, ascending without a gap
 *     f,OP,WAY                               take WAY for OP whatever the model says (for tests and comparisons)
 *     e,RECORDS                              last: records before this one
 * The report goes to standard error of rank 0 in MPI_Finalize, in lines of base/trace_lines.h (mark, body, check) whose
 * body begins with HRUN_COLL_REPORT, so that hrun finds them among those of libhrun-trace.so. A body is one record, of
 * one choice for a communicator of rank 0, in the order in which they were first tried:
 *     k,OP,RANKS,ROOT,BYTES,WAY,SEGMENT,KEPT,CALLS,LIBRARY,OURS  BYTES as sizes are rounded for the choice (-1: a
 *                                            variant with counts); SEGMENT as of a piece, 0: none; KEPT 1: it was
 *                                            quicker and stays, 0: it was not, -1: the trial has not ended, 2: it was
 *                                            to be taken without a trial; how many calls went this way; what a call of
 *                                            either took, s, as they were compared (0: they were not)
 *     m,MORE                                 last, if need be: number of further choices, which are not reported
 */
#ifndef HRUN_NET_TUNE_H
#define HRUN_NET_TUNE_H

#include "net/net.h"

#define HRUN_COLL_VERSION 2
#define HRUN_COLL_REPORT "coll "

/* One variable of the environment holds at most 128 KiB. */
enum { HRUN_COLL_TEXT = 100000 };

struct hrun_net_tune_options {
    double margin;             /* part of the time that another way must save. 0.1: where predictions are right within
                                  5 %, on either side, it does */
    double cost_s;             /* and how long. 5e-6: what looking up, and memory for the requests, takes, some us */
    int patience;              /* calls of an operation before its way is chosen, so that choosing, some 100 us among 32
                                  processes and 10 ms among 512, is paid for by calls that are made often */
    int tell;                  /* 1: at the end the processes report what was tuned */
};
#define HRUN_NET_TUNE_DEFAULT { 0.1, 5e-6, 4, 0 }

/* Append the text for a world of these ranks. Errors: HRUN_EINVAL (a host or kind out of range, no rank), HRUN_ENODATA
 * (the text would be longer than HRUN_COLL_TEXT: too many unlike hosts or too many runs of ranks). */
int hrun_net_tune(const struct hrun_net *net, const struct hrun_net_ranks *world,
                  const struct hrun_net_tune_options *options, struct hrun_buf *out, struct hrun_error *err);

/* What the text says. Hosts have no names; of the thresholds there are those of record `t`. */
struct hrun_net_tuning {
    struct hrun_net *net;      /* owned */
    struct hrun_net_ranks world;
    int *places;               /* owned: what world points to */
    struct hrun_net_tune_options options;
    char forced[HRUN_NET_NOPS][16]; /* a way, or "" */
};

/* NULL: the text is damaged or of another version. */
struct hrun_net_tuning *hrun_net_tuning_read(const char *text);
void hrun_net_tuning_destroy(struct hrun_net_tuning *t);

#endif
