/* lists.c - the sizes, PEs and processes that the options select; see calib_options.h */
#include "calib_options.h"

#include "base/alloc.h"
#include "base/units.h"

#include <stdlib.h>
#include <string.h>

int number_list_add(struct number_list *l, int64_t x)
{
    int i;

    for (i = l->n; i > 0 && l->v[i - 1] > x; i--)
        ;
    if (i > 0 && l->v[i - 1] == x)
        return 0;
    if (l->n == LIST_MAX)
        return -1;
    memmove(l->v + i + 1, l->v + i, (size_t)(l->n - i) * sizeof *l->v);
    l->v[i] = x;
    l->n++;
    return 0;
}

/* Add the numbers of "4" or "4-8:2" to l. The word is overwritten. */
static int add_number_range(const char *what, char *word, const struct hrun_opt *opt, struct number_list *l,
                            struct hrun_error *err)
{
    char *dash = strchr(word + 1, '-'), *colon = strchr(word, ':');
    int64_t lo, hi, step = 1;

    if (dash)
        *dash = 0;
    if (colon)
        *colon = 0;
    if (colon && !dash)
        return hrun_fail(err, HRUN_EINVAL, "%s: '%s:%s' is no range; say FIRST-LAST:STEP", what, word, colon + 1);
    if (hrun_parse_count(what, word, opt->min, opt->max, &lo, err) ||
        (dash && hrun_parse_count(what, dash + 1, opt->min, opt->max, &hi, err)) ||
        (colon && hrun_parse_count(what, colon + 1, 1, opt->max, &step, err)))
        return -1;
    hi = dash ? hi : lo;
    if (hi < lo)
        return hrun_fail(err, HRUN_EINVAL, "%s: the range %lld-%lld runs backwards: say %lld-%lld", what, (long long)lo,
                         (long long)hi, (long long)hi, (long long)lo);
    for (int64_t x = lo; x <= hi; x += step)
        if (number_list_add(l, x))
            return hrun_fail(err, HRUN_EINVAL, "%s: more than %d numbers", what, LIST_MAX);
    return 0;
}

int lists_add(void *settings, const struct hrun_opt *opt, const char *value, struct hrun_error *err)
{
    struct number_list l = { .n = 0 };
    autofree char *copy = xstrdup(value), *what = hrun_strf("--%s", opt->name);
    char *save = NULL;

    for (char *word = strtok_r(copy, ",", &save); word; word = strtok_r(NULL, ",", &save))
        if (add_number_range(what, word, opt, &l, err))
            return -1;
    if (!l.n)
        return hrun_fail(err, HRUN_EINVAL, "%s: the list is empty", what);
    *(struct number_list *)(void *)((char *)settings + opt->offset) = l;
    return 0;
}

/* The number of P in 1..most that the rule accepts at N; -1 on errors. */
static int count_accepted(const struct hrun_app *app, int64_t N, int most, struct hrun_error *err)
{
    int n = 0;

    for (int P = 1; P <= most; P++) {
        int good = hrun_app_rule(app, N, P, err);

        if (good < 0)
            return -1;
        n += good;
    }
    return n;
}

/* Of N and the sizes that differ from it by at most N/10 and at most STEPS: the one that the rule accepts for the most
 * P, and among equals the nearest to N. -1 on errors. */
static int64_t best_size_near(const struct hrun_app *app, int64_t N, int most, struct hrun_error *err)
{
    enum { STEPS = 64 };
    int64_t reach = N / 10 < STEPS ? N / 10 : STEPS, best = N;
    int accepted = count_accepted(app, N, most, err);

    for (int64_t d = 1; d <= reach && accepted >= 0 && accepted < most; d++)
        for (int side = -1; side <= 1; side += 2) {
            int n = count_accepted(app, N + side * d, most, err);

            if (n < 0)
                return -1;
            if (n > accepted) {
                accepted = n;
                best = N + side * d;
            }
        }
    return accepted < 0 ? -1 : best;
}

/* Set *out to N and smaller sizes. Neighbours have a ratio of about 1.5 at most, which shows how times grow with N. */
static int sizes_up_to(const struct context *c, int64_t N, struct number_list *out, struct hrun_error *err)
{
    static const int parts[][2] = { { 1, 8 }, { 1, 6 }, { 1, 4 }, { 1, 3 }, { 1, 2 }, { 2, 3 } };
    enum { PROCESSES = 256 };
    int most = 0;

    for (int i = 0; i < c->cluster->nsubs; i++)
        most += c->cluster->subs[i].npes;
    out->n = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        int64_t part = N * parts[i][0] / parts[i][1];
        int64_t n = part ? best_size_near(c->app, part, most < PROCESSES ? most : PROCESSES, err) : 0;

        if (n < 0)
            return -1;
        if (n >= 1 && n < N && (!out->n || n > out->v[out->n - 1]))
            out->v[out->n++] = n;
    }
    out->v[out->n++] = N;
    return 0;
}

int lists_read(const struct context *c, const struct calib_settings *s, struct lists *out, struct hrun_error *err)
{
    const struct hrun_app *app = c->app;
    int most = 0;

    *out = (struct lists){ s->sizes, s->pes, s->procs, s->N && !s->full_grid && !hrun_family_of(app)->points,
                           xcalloc((size_t)c->cluster->nsubs, sizeof *out->most) };
    if (out->own && sizes_up_to(c, s->N, &out->sizes, err))
        return -1;
    if (s->N && !out->own)
        out->sizes = (struct number_list){ { s->N }, 1 };
    for (int i = 0; !s->N && !s->sizes.n && i < app->sizes.n && i < LIST_MAX; i++)
        out->sizes.v[out->sizes.n++] = app->sizes.v[i];
    for (int i = 0; !s->procs.n && i < app->nprocs_per_pe && i < LIST_MAX; i++)
        out->procs.v[out->procs.n++] = app->procs_per_pe[i];
    if (context_use(c->cluster, s->use, out->most, err))
        return -1;
    for (int i = 0; i < c->cluster->nsubs; i++)
        most = out->most[i] > most ? out->most[i] : most;
    if (!out->sizes.n)
        return hrun_fail(err, HRUN_EINVAL, "the definition of %s (%s) suggests no sizes: name the one that matters "
                         "with -N SIZE, or all with --sizes LIST", app->name, app->file);
    if (out->pes.n && out->pes.v[0] > most)
        return hrun_fail(err, HRUN_EINVAL, "--pes: no sub-cluster has so many PEs as %lld (hrun --show-cluster)",
                         (long long)out->pes.v[0]);
    return 0;
}

void lists_release(struct lists *l)
{
    free(l->most);
    *l = (struct lists){ .most = NULL };
}
