/* trial_slope.c - experiments in numbers with derivatives; see fitting.h */
#include "net/fitting.h"

/* A number with its derivatives with respect to the parameters that the present trial has used so far. */
typedef struct dual {
    double v, d[NET_SLOTS];
} num;

struct trial {
    const struct net_columns *c;
    const struct net_given *given;
    const double *x;
    int n, column[NET_SLOTS];
};

static double dual_value(num a)
{
    return a.v;
}

static num dual_constant(double v)
{
    return (struct dual){ v, { 0 } };
}

static num dual_parameter(struct trial *t, int column)
{
    num r = dual_constant(column >= 0 ? t->x[column] : 0);
    int slot = 0;

    if (column < 0)
        return r;
    while (slot < t->n && t->column[slot] != column)
        slot++;
    t->column[slot] = column;
    t->n = slot == t->n ? t->n + 1 : t->n;
    r.d[slot] = 1;
    return r;
}

static num dual_sum(double f, num a, double g, num b)
{
    num r = { f * a.v + g * b.v, { 0 } };

    for (int i = 0; i < NET_SLOTS; i++)
        r.d[i] = f * a.d[i] + g * b.d[i];
    return r;
}

static num dual_product(num a, num b)
{
    num r = dual_sum(b.v, a, a.v, b);

    r.v = a.v * b.v;
    return r;
}

static num dual_quotient(num a, num b)
{
    num r = dual_sum(1 / b.v, a, -a.v / b.v / b.v, b);

    r.v = a.v / b.v;
    return r;
}

#define NET_TRIAL_NUM
#define num_value dual_value
#define num_constant dual_constant
#define num_parameter dual_parameter
#define num_sum dual_sum
#define num_product dual_product
#define num_quotient dual_quotient
#include "net/trial_stages.h"

double net_trial_slope(const struct net_columns *c, const struct net_given *given, const double *x,
                       const struct hrun_net_record *r, struct net_gradient *gradient)
{
    struct trial t = { c, given, x, 0, { 0 } };
    num time = trials[r->kind](&t, r);

    gradient->n = t.n;
    for (int i = 0; i < t.n; i++) {
        gradient->column[i] = t.column[i];
        gradient->d[i] = time.d[i];
    }
    return time.v;
}
