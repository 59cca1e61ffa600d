/* probe_size.c - sizes to probe with; see probe.h for the contracts */
#include "probe.h"

/* Number of consecutive sizes that are tried at most. Evaluating a rule takes some 50 ns. */
enum { NEAR = 1024 };
/* The default size is N / SHARE. Work that grows as N^2 then takes 1/64 of the time. At a smaller size messages would
 * dominate. */
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

static int accepts_both(const struct size_search *s, int64_t N, struct hrun_error *err)
{
    int valid = probe_size_accepts(s->c, s->d, N, s->P, err);

    return valid == 1 && s->Q ? probe_size_accepts(s->c, s->d, N, s->Q, err) : valid;
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

/* Find the first accepted size of from, from + step, ... up to `to`. */
static int find_by_steps(const struct size_search *s, int64_t from, int64_t to, int64_t step, int64_t *N,
                         struct hrun_error *err)
{
    int valid = 0;

    for (int k = 0; k < NEAR && from <= to && !valid; k++, from += step) {
        *N = from;
        valid = accepts_both(s, from, err);
    }
    return valid;
}

int probe_size_find(const struct size_search *s, int64_t *N, struct hrun_error *err)
{
    int64_t step = common_multiple(s->P, s->Q ? s->Q : s->P), first = (s->from + step - 1) / step * step;
    int rc = find_by_steps(s, first, s->to, step, N, err);

    if (!rc)
        rc = find_by_steps(s, s->from, s->to, 1, N, err);
    for (int64_t n = s->from; n <= s->to && !rc; n *= 2)
        rc = find_by_steps(s, n, n, 1, N, err);
    for (int k = 62; k > 0 && !rc; k--)
        if (s->d->N >> k >= s->from && s->d->N >> k <= s->to)
            rc = find_by_steps(s, s->d->N >> k, s->d->N >> k, 1, N, err);
    return rc;
}

/* Find the largest number of processes from s->P down to s->Q that is accepted at N: 1 with *P, 0 if none, or -1. */
static int find_most_accepted(const struct size_search *s, int64_t N, int *P, struct hrun_error *err)
{
    int valid = 0;

    for (*P = s->P; *P >= s->Q; --*P)
        if ((valid = probe_size_accepts(s->c, s->d, N, *P, err)))
            break;
    return valid;
}

int probe_size_choose(const struct context *c, const struct decision *d, int64_t asked, int64_t *N, int *P,
                      struct hrun_error *err)
{
    const struct hrun_app *app = c->app;
    struct size_search any = { c, d, (d->N + SHARE - 1) / SHARE, d->N, 0, 0 }, one;
    int rc = 0;

    for (int i = 0; i < d->nsubs; i++) {
        any.Q += d->subs[i].npes > 0;
        any.P += d->subs[i].npes;
    }
    if (asked) {
        *N = asked;
        rc = find_most_accepted(&any, asked, P, err);
        return rc > 0 ? 0 : rc < 0 ? -1
               : hrun_fail(err, HRUN_EINFEASIBLE, "--probe=%lld: no number of processes from %d to %d is valid "
                           "there (rule '%s'%s)", (long long)asked, any.Q, any.P, hrun_expr_text(app->rule),
                           app->memory || app->shares.memory ? ", memory" : "");
    }
    for (int i = 0; i < app->sizes.n && app->sizes.v[i] <= d->N / 2 && !rc; i++) {
        *N = app->sizes.v[i];
        rc = find_most_accepted(&any, *N, P, err);
    }
    one = any;
    for (one.Q = 0; one.P >= any.Q && !rc; one.P--) {
        *P = one.P;
        rc = probe_size_find(&one, N, err);
    }
    return rc > 0 ? 0 : rc < 0 ? -1
           : hrun_fail(err, HRUN_EINFEASIBLE, "--probe finds no size up to N = %lld at which the rule of %s, '%s', "
                       "accepts a number of processes from %d to %d; name one with --probe=SIZE", (long long)d->N,
                       app->name, hrun_expr_text(app->rule), any.Q, any.P);
}
