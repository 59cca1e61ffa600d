/* trial.h - what an experiment takes by the stages of the model, and how that follows the parameters
 *
 * Purpose: the rows of the least squares system of estimate.h. Not for other rooms.
 * The parameters are columns of a vector x, all >= 0, in s or s/byte (rates by their inverses): C, t, out and in of
 * each class, L of each pair of classes, g = 1/beta of each ordered pair, and bias_bytes. A parameter that is not
 * looked for has column -1 and is 0. A time is homogeneous of degree 1 in x and what is given besides (factors of
 * segments and the bias apart): twice all parameters take twice the time, so that the gradient's product with x is the
 * time itself but for what trunks and the bias add.
 * Where a time is the longest or the first of several, or messages share a port, the gradient is that of the branch
 * that holds at x.
 */
#ifndef HRUN_NET_TRIAL_H
#define HRUN_NET_TRIAL_H

#include "net/estimate.h"

struct net_columns {
    int nclasses;
    const int *class_of;       /* of each host; the caller's */
    int *C, *t, *out, *in;     /* nclasses: columns, or -1 */
    int *L, *g;                /* nclasses by nclasses, sender's by receiver's; L is the same both ways */
    int bias;                  /* bias_bytes of net.h; -1: as given */
    size_t p;
};

/* What is known beside the columns. */
struct net_given {
    const int *group_of;       /* of each host */
    int ngroups;
    const double *trunk_s_per_byte;    /* ngroups by ngroups, as messages one way see it; 0: no limit */
    int trunks_shared;                 /* do both ways share it? */
    const struct hrun_net_segment *segments;
    int nsegments;
    double back_share, bias_bytes;     /* of net.h */
};

enum { NET_SLOTS = 14 };       /* of a fan: C and t of three hosts, three ports, L and g of two pairs, the bias */

struct net_gradient {
    int n;
    int column[NET_SLOTS];
    double d[NET_SLOTS];
};

/* The segment in which messages of so many bytes are. */
const struct hrun_net_segment *net_segment(const struct net_given *given, double bytes);

/* The bytes of the second message of a fan or join. */
double net_second_bytes(const struct hrun_net_record *r);

/* Does the experiment tell of columns? Trips, fans, joins and calls do. What `both` takes depends on how two
 * unlike hosts fell into step; it tells back_share alone. */
int net_trial_is_row(const struct hrun_net_record *r);

/* What it takes at x, of one of these or `both`; the same, and how that follows x. */
double net_trial(const struct net_columns *c, const struct net_given *given, const double *x,
                 const struct hrun_net_record *r);
double net_trial_slope(const struct net_columns *c, const struct net_given *given, const double *x,
                       const struct hrun_net_record *r, struct net_gradient *gradient);

/* When do n messages of `bytes` each, under way from start_s[n] on, end that alone take alone_s_per_byte[n] and
 * together share shared_s_per_byte (0: no limit) max-min fairly? The shorter the way, way_s[n] (NULL or 0: all the
 * same), the more. end_s[n]. work[4 n]: scratch. */
void net_share(int n, const double *start_s, const double *alone_s_per_byte, const double *way_s, double bytes,
               double shared_s_per_byte, double *end_s, double *work);

#endif
