/* probe_size.c - sizes to probe with; see probe.h for the contracts */
#include "probe.h"

/* So many sizes are looked at in a row; a rule takes some 50 ns. */
enum { NEAR = 1024 };
/* Work that grows as N^2 takes 1/64 of the time at an eighth of the size; a program whose work grows as N gains nothing
 * from a smaller one, whose messages would count for more. */
enum { SHARE = 8 };

int probe_size_accepts(const struct context *c, const struct decision *d, int64_t N, int P, struct hrun_error *err)
{
    int valid = hrun_app_rule(c->app, N, P, err);
    double bytes;

    if (valid <= 0)
        return valid;
    if (hrun_app_memory(c->app, N, P, &bytes, err))
        return -1;
    for (int i = 0; i < d->nsubs; i++) {
        double memory = (double)c->cluster->subs[i].memory_bytes;

        if (d->subs[i].npes && memory > 0 && bytes > memory)
            return 0;
    }
    return 1;
}

static int accepts_both(const struct context *c, const struct decision *d, int64_t N, int P, int Q,
                        struct hrun_error *err)
{
    int valid = probe_size_accepts(c, d, N, P, err);

    return valid == 1 && Q ? probe_size_accepts(c, d, N, Q, err) : valid;
}

static int64_t common_multiple(int64_t a, int64_t b)
{
    int64_t x = a, y = b;

    while (y) {
        int64_t rest = x % y;

        x = y;
        y = rest;
    }
    return a / x * b;
}

/* Of sizes from, from + step, ... the first up to `to` that is accepted. */
static int find_step(const struct context *c, const struct decision *d, int64_t from, int64_t to, int64_t step, int P,
                     int Q, int64_t *N, struct hrun_error *err)
{
    int64_t n = from;

    for (int k = 0; k < NEAR && n <= to; k++, n += step) {
        int valid = accepts_both(c, d, n, P, Q, err);

        if (valid)
            *N = n;
        if (valid)
            return valid;
    }
    return 0;
}

int probe_size_find(const struct context *c, const struct decision *d, int64_t from, int64_t to, int P, int Q,
                    int64_t *N, struct hrun_error *err)
{
    int64_t step = common_multiple(P, Q ? Q : P), first = (from + step - 1) / step * step;
    int rc = find_step(c, d, first, to, step, P, Q, N, err);

    if (!rc)
        rc = find_step(c, d, from, to, 1, P, Q, N, err);
    for (int64_t n = from; n <= to && !rc; n *= 2)
        rc = find_step(c, d, n, n, 1, P, Q, N, err);
    for (int k = 62; k > 0 && !rc; k--)
        if (d->N >> k >= from && d->N >> k <= to)
            rc = find_step(c, d, d->N >> k, d->N >> k, 1, P, Q, N, err);
    return rc;
}

/* The largest P from least..most that is accepted at N: 1 with *P, 0, -1. */
static int most_processes(const struct context *c, const struct decision *d, int64_t N, int least, int most, int *P,
                          struct hrun_error *err)
{
    int valid = 0;

    for (*P = most; *P >= least; --*P)
        if ((valid = probe_size_accepts(c, d, N, *P, err)))
            break;
    return valid;
}

int probe_size_choose(const struct context *c, const struct decision *d, int64_t asked, int used, int total,
                      int64_t *N, int *P, struct hrun_error *err)
{
    const struct hrun_app *app = c->app;
    int64_t from = (d->N + SHARE - 1) / SHARE;
    int rc = 0;

    if (asked) {
        *N = asked;
        rc = most_processes(c, d, asked, used, total, P, err);
        return rc > 0 ? 0 : rc < 0 ? -1
               : hrun_fail(err, HRUN_EINFEASIBLE, "--probe=%lld: no number of processes from %d to %d is valid "
                           "there (rule '%s'%s)", (long long)asked, used, total, hrun_expr_text(app->rule),
                           app->memory || app->shares.memory ? ", memory" : "");
    }
    for (int i = 0; i < app->sizes.n && app->sizes.v[i] <= d->N / 2 && !rc; i++) {
        *N = app->sizes.v[i];
        rc = most_processes(c, d, *N, used, total, P, err);
    }
    for (int p = total; p >= used && !rc; p--) {
        *P = p;
        rc = probe_size_find(c, d, from, d->N, p, 0, N, err);
    }
    return rc > 0 ? 0 : rc < 0 ? -1
           : hrun_fail(err, HRUN_EINFEASIBLE, "--probe finds no size up to N = %lld at which the rule of %s, '%s', "
                       "accepts a number of processes from %d to %d; name one with --probe=SIZE", (long long)d->N,
                       app->name, hrun_expr_text(app->rule), used, total);
}
