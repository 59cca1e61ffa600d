/* tune.h - the network of a run as text from hrun to libhrun-coll.so, and the format of its report
 *
 * Purpose: the library preloaded into an application's ranks (hrun/preloaded) chooses the algorithms of collective
 * operations by the parameters of net.h. It reads them from an environment variable, as hosts need not share a folder.
 * Invariants: the text is the same for all ranks, so that all of them choose the same.
 * Format: records separated by ';', each of words separated by ','; times in s, sizes in bytes, rates in bytes/s (0: no
 * limit). Numbers have 6 digits, as parameters are accurate to about a percent; SYNC, M1, M2 and FROM have 17. Only
 * hosts, classes and groups with ranks are included, by their numbers in the network. In this order:
 *     b,VERSION,P,HOSTS,CLASSES,GROUPS,SEGMENTS,SELECTOR  first: numbers in all; selector as in net.h
 *     o,MARGIN,COST,PATIENCE,TELL            struct hrun_net_tune_options
 *     w,SYNC,WAITS,EXCHANGE,BIAS,BACK,SHARED sync_bytes, wire_waits, exchange_waits, bias_bytes, back_share,
 *                                            trunks_shared of net.h
 *     t,M1,M2,IRREGULAR                      mean additional time of a linear gather of M1..M2 bytes per rank
 *     s,FROM,A,B                             each segment
 *     c,CLASS,C,T,OUT,IN,LOCAL,KINDS,F,B,... each class: fixed, per byte, ports, memory; KINDS by KINDS pairs of fixed
 *                                            time and time per byte of a message inside a host
 *     p,FROM,TO,L,BETA                       each measured pair of classes
 *     g,FROM,TO,RATE                         each trunk with a limit
 *     h,HOST,CLASS,GROUP                     each host
 *     r,FIRST,LAST,HOST,KIND                 ranks FIRST..LAST of the world, ascending without a gap
 *     f,OP,WAY                               always use WAY for OP (for tests and comparisons)
 *     e,RECORDS                              last: records before this one
 * Rank 0 writes the report to standard error in MPI_Finalize, in lines of base/trace_lines.h (mark, body, check) whose
 * body begins with HRUN_COLL_REPORT; lines of libhrun-trace.so do not. A body is one record of a choice for a
 * communicator of rank 0, in the order of first trials:
 *     k,OP,RANKS,ROOT,BYTES,WAY,SEGMENT,KEPT,CALLS,LIBRARY,OURS  BYTES: rounded as for the choice (-1: a variant with
 *                                            counts); SEGMENT: size of a piece, 0: none; KEPT: 1: quicker and kept,
 *                                            0: dropped, -1: the trial has not ended, 2: used without a trial; CALLS:
 *                                            number of calls by WAY; LIBRARY, OURS: s per call of the library's and of
 *                                            WAY when they were compared, 0: they were not
 *     m,MORE                                 last, if needed: number of further choices, which are not reported
 */
#ifndef HRUN_NET_TUNE_H
#define HRUN_NET_TUNE_H

#include "net/net.h"

#define HRUN_COLL_VERSION 2
#define HRUN_COLL_REPORT "coll "

/* An environment variable has at most 128 KiB. */
enum { HRUN_COLL_TEXT = 100000 };

struct hrun_net_tune_options {
    double margin;             /* least part of the time that another way must save. 0.1 is twice a prediction error of
                                  5 % */
    double cost_s;             /* least time that a way must save. 5e-6: cost of look-up and memory for requests */
    int patience;              /* calls of an operation before its way is chosen: choosing takes some 100 us among 32
                                  processes and 10 ms among 512, which only frequent calls repay */
    int tell;                  /* 1: report the choices at the end */
};
#define HRUN_NET_TUNE_DEFAULT { 0.1, 5e-6, 4, 0 }

/* Append the text for a world of these ranks. Errors: HRUN_EINVAL (a host or kind out of range, no rank), HRUN_ENODATA
 * (the text would be longer than HRUN_COLL_TEXT: too many unlike hosts or too many runs of ranks). */
int hrun_net_tune(const struct hrun_net *net, const struct hrun_net_ranks *world,
                  const struct hrun_net_tune_options *options, struct hrun_buf *out, struct hrun_error *err);

/* The parsed text. Hosts have no names; only the thresholds of record `t` are set. */
struct hrun_net_tuning {
    struct hrun_net *net;      /* owned */
    struct hrun_net_ranks world;
    int *places;               /* owned: what world points to */
    struct hrun_net_tune_options options;
    char forced[HRUN_NET_NOPS][16]; /* a way, or "" */
};

/* Parse text; NULL if it is damaged or of another version. */
struct hrun_net_tuning *hrun_net_tuning_read(const char *text);
void hrun_net_tuning_destroy(struct hrun_net_tuning *t);

#endif
