/* trial_value.c - experiments in plain numbers; see trial.h */
#include "net/trial.h"

typedef double num;

struct trial {
    const struct net_columns *c;
    const struct net_given *given;
    const double *x;
};

static double value(num a)
{
    return a;
}

static num constant(double v)
{
    return v;
}

static num parameter(struct trial *t, int column)
{
    return column >= 0 ? t->x[column] : 0;
}

static num sum(double f, num a, double g, num b)
{
    return f * a + g * b;
}

static num product(num a, num b)
{
    return a * b;
}

static num quotient(num a, num b)
{
    return a / b;
}

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
