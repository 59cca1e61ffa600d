/* trial_value.c - experiments in plain numbers; see trial.h */
#include "net/trial_stages.h"

int net_trial_is_row(const struct hrun_net_record *r)
{
    return trials[r->kind] != NULL && r->kind != HRUN_NET_BOTH;
}

double net_trial(const struct net_columns *c, const struct net_given *given, const double *x,
                 const struct hrun_net_record *r)
{
    struct trial t = { c, given, x };

    return trials[r->kind](&t, r);
}
