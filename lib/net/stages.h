/* stages.h - the steps of estimate.h around its least squares system; not for other rooms
 *
 * Purpose: what is left out, segments, groups, classes, trunks, local messages, thresholds: each a step that reads the
 * records and the solution so far.
 */
#ifndef HRUN_NET_STAGES_H
#define HRUN_NET_STAGES_H

#include "net/system.h"

/* Leave out records that contradict others of the same hosts as no scatter does (factor 2): a trip longer than every
 * fan it is part of, a fan longer than its trips one after the other, and the same of joins; an empty trip that is
 * longer than one with bytes. So do times taken by a clock that jumped. One note for each. Errors: HRUN_ENOMEM. */
int net_leave_out(struct net_work *w, struct hrun_strvec *notes, struct hrun_error *err);

/* Rendezvous begins at the size from which on sends wait, of all sizes the one that contradicts the fewest records; 0
 * when none waits. */
double net_sync(const struct hrun_net_records *r);

/* Do the bytes of a message whose sender does not wait for the receiver wait for it themselves? So they do when a late
 * receive takes more than half of what the wire does, in most of the records. */
int net_wire_waits(const struct net_work *w, const struct net_solution *s);

/* Do messages from sync_bytes on flow one after the other where two ranks send to each other at once? So they do when
 * most of the `both` records of such sizes take nearer to the sum of both ways than to the longer of them. */
int net_exchange_waits(const struct net_work *w, const struct net_solution *s);

/* ---------------------------------------------------------------- segments (segments.c) */

/* The mean round trip of the pairs of which many sizes are known, over the sizes that all of them have. */
struct net_sweep {
    double *bytes, *mean_s, *weight;   /* n each; owned by bytes */
    size_t n;
    int *from, *to;                    /* npairs: hosts; owned by from */
    size_t npairs;
    int *piece;                        /* n: segment; owned */
    double *c0, *c1;                   /* nsegments: its line; owned by c0 */
};
void net_sweep_release(struct net_sweep *s);

/* Where protocols change, by structural breaks in the sweep: the segments' sizes, and factors 1. *segments is for the
 * caller to free; one, from 0, where no pair was swept. Errors: those of breaks.h. */
int net_segments_find(const struct net_work *w, struct net_sweep *sweep, struct hrun_net_segment **segments,
                      int *nsegments, struct hrun_error *err);

/* The factors by the solution: a of the first segment and b of the one in which most trips with bytes are stay 1.
 * *change: by how much a factor changed at most, relative. */
void net_segments_fit(const struct net_work *w, const struct net_sweep *sweep, const struct net_solution *s,
                      struct hrun_net_segment *segments, int nsegments, double *change);

/* The segment of most trips with bytes. */
int net_segments_main(const struct net_work *w, const struct hrun_net_segment *segments, int nsegments);

/* ---------------------------------------------------------------- groups and classes (sharing.c) */

/* Groups of hosts by the solution of a class for each host: a latency or a time per byte, as parts of what is the two
 * hosts' own (unlike hosts on one switch are no groups), that splits the pairs into near and far ones such that near
 * is an equivalence, with the widest gap (a factor 1.5 at least) between. What only many messages at once show the
 * benchmark has seen (`pairs`, calib/net).
 * group_of[nhosts] receives numbers from 0 in order of hosts; result: how many. Errors: HRUN_ENOMEM (-1). */
int net_groups_find(const struct net_work *w, const struct net_solution *s, int *group_of, struct hrun_error *err);

/* Every host its own class; hosts of one kind behind one switch one class. Result: how many. */
int net_classes_own(int nhosts, int *class_of);
int net_classes_alike(const struct hrun_net_records *r, const int *group_of, int *class_of);

/* Was each pair of classes that has two hosts measured? If not, hosts *i and *j were not. 1, 0, or -1:
 * HRUN_ENOMEM. */
int net_classes_measured(const struct net_work *w, const int *class_of, int nclasses, int *i, int *j,
                         struct hrun_error *err);

/* Classes of hosts that cannot be told apart: beginning with all that are alike, those are split into single hosts
 * whose own parameters lower the sum of squares by more than chance does (F test at share_level; s2 from the
 * solution with all hosts on their own, where there is one, which is `own`; else NULL). A class that cannot be
 * split for want of records stays; where several cannot be at once, there is a note. class_of[nhosts] receives
 * them. Result: how many; -1 on errors: those of net_solve. */
int net_classes_share(const struct net_work *w, const struct net_solution *own, int *class_of,
                      struct hrun_strvec *notes, struct hrun_error *err);

/* ---------------------------------------------------------------- trunks and local messages (limits.c) */

/* The trunks between groups that `pairs` records tell: s/byte, 0 where there is no limit. trunk[ngroups^2]; half: half
 * widths, NAN where nothing was measured. A way of which only the other direction was measured has its value. Errors:
 * HRUN_ENOMEM. */
int net_trunks(const struct net_work *w, const struct net_solution *s, double *trunk, double *half,
               struct hrun_error *err);

/* Messages inside hosts, into the classes of net. Errors: those of lib/fit. */
int net_locals(const struct net_work *w, struct hrun_net *net, struct hrun_error *err);

/* ---------------------------------------------------------------- scatter and gather (thresholds.c) */

/* Errors: those of breaks.h. */
int net_thresholds(const struct net_work *w, const struct net_solution *s, struct hrun_net_thresholds *out,
                   struct hrun_error *err);

/* ---------------------------------------------------------------- quality (quality.c) */

/* Residuals and oddities; q->notes is not touched, notes are. Errors: -1 when memory ran out. */
int net_assess(const struct net_work *w, const struct net_solution *s, struct hrun_strvec *notes,
               struct hrun_net_quality *q);

#endif
