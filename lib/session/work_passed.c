/* work_passed.c - check that size and shares are passed to the program, and compute shares; see work_passed.h */
#include "session/work_passed.h"

#include "base/alloc.h"
#include "session/problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int work_size_is_passed(const struct work *w)
{
    char number[32];
    int size_is_passed, shares;

    if (w->c->app->fixed)
        return 1;
    hrun_app_inputs_use(w->c->app, !w->words[1], &size_is_passed, &shares);
    snprintf(number, sizeof number, "%lld", (long long)w->N);
    for (char *const *word = w->words; *word && !size_is_passed; word++)
        size_is_passed = strstr(*word, "{N}") || (word > w->words && w->N && !strcmp(*word, number));
    return size_is_passed;
}

/* The words of program i of the job. */
static char *const *words_of(const struct work *w, int i)
{
    return i ? w->programs.v[i].words : w->words;
}

/* 1 if the definition determines the number of units of work, else 0. */
static int has_units(const struct hrun_app *app)
{
    return app && (app->shares.units || hrun_family_of(app)->deals_units || hrun_family_of(app)->by_formula);
}

int work_check_words(const struct work *w, struct hrun_error *err)
{
    const struct hrun_app *app = w->c->app;
    int64_t units;

    for (int i = 0; i == 0 || i < w->programs.n; i++)
        if (problem_units(app, words_of(w, i), &w->c->set->job.env, has_units(app), &units, err))
            return -1;
    return 0;
}

/* 1 if the share of a process is passed to the program, else 0. */
static int shares_are_passed(const struct work *w)
{
    const struct hrun_strvec *env = &w->c->set->job.env;
    const char *form;
    size_t len;
    int size, passed = 0;

    if (w->c->app)
        hrun_app_inputs_use(w->c->app, !w->words[1], &size, &passed);
    for (int i = 0; i == 0 || i < w->programs.n; i++)
        for (char *const *word = words_of(w, i); *word && !passed; word++)
            passed = hrun_app_find_shares(*word, &form, &len) != NULL;
    for (size_t i = 0; i < env->n && !passed; i++)
        passed = hrun_app_find_shares(env->v[i], &form, &len) != NULL;
    return passed;
}

int work_check_shares(const struct work *w, struct hrun_error *err)
{
    const struct hrun_app *app = w->c->app;

    if (!app || !(app->shares.units || hrun_family_of(app)->deals_units) || shares_are_passed(w))
        return 0;
    if (app->shares.units)
        return hrun_fail(err, HRUN_EINVAL, "%s has shares, and those of a process do not reach the program: write "
                         "{shares} where they stand, for instance %s '--shares={shares}'", app->name, w->words[0]);
    return hrun_fail(err, HRUN_EINVAL, "the rows of a process do not reach the program: write {shares} where they "
                     "stand, for instance %s '{N}' '--shares={shares}'", w->words[0]);
}

int work_check_dealt(const struct work *w, struct hrun_error *err)
{
    if (has_units(w->c->app) || shares_are_passed(w))
        return 0;
    return hrun_fail(err, HRUN_EINVAL, "%s has no shares: write {shares:100:,} in quotes, or another form, where they "
                     "stand in its words, or `shares` into its definition (hrun-app(5))", w->words[0]);
}

int work_equal_rows(const struct work *w, int P, double *rows, struct hrun_error *err)
{
    int64_t units, unit;

    *rows = 0;
    if (!w->c->app || !hrun_family_of(w->c->app)->deals_units || !w->N)
        return 0;
    if (hrun_app_mesh(w->c->app, w->N, &units, &unit, err))
        return -1;
    *rows = (double)((units + P - 1) / P) * (double)unit;
    return 0;
}

/* Set share[nranks] to whole units: w->share, or equal shares. If the sum exceeds the units, the last ranks of the
 * sub-cluster with the most processes get one unit less. */
static int shares_of_units(const struct work *w, const struct hrun_layout *layout, double *share,
                           struct hrun_error *err)
{
    int64_t units, least, excess = 0;
    int P = layout->nranks, n = 0, who = -1;

    if (hrun_app_units(w->c->app, w->N, &units, &least, err))
        return -1;
    for (int r = 0; r < P; r++) {
        share[r] = w->share ? w->share[layout->ranks[r].sub] : (double)(units / P + (r < units % P));
        excess += (int64_t)share[r];
    }
    excess -= units;
    for (int i = 0; i < w->c->cluster->nsubs && excess > 0; i++) {
        int count = 0;

        for (int r = 0; r < P; r++)
            count += layout->ranks[r].sub == i && (int64_t)share[r] > least;
        who = count > n ? i : who;
        n = count > n ? count : n;
    }
    for (int r = P - 1; r >= 0 && excess > 0; r--)
        if (layout->ranks[r].sub == who && (int64_t)share[r] > least) {
            share[r]--;
            excess--;
        }
    return excess ? hrun_fail(err, HRUN_EINVAL, "%d shares do not add up to %lld units", P, (long long)units) : 0;
}

int work_values(const struct work *w, const struct hrun_layout *layout, double **share, struct hrun_app_values *values,
                struct hrun_error *err)
{
    int is_units = w->c->app && w->c->app->shares.units && w->N, P = layout->nranks;
    autofree double *v = NULL;
    double rows = 0;

    *share = NULL;
    if (!w->share && work_equal_rows(w, P, &rows, err))
        return -1;
    if (w->share || rows > 0 || is_units)
        v = xcalloc((size_t)P + 1, sizeof *v);
    for (int r = 0; r < P && v && !is_units; r++)
        v[r] = w->share ? w->share[layout->ranks[r].sub] : rows;
    if (is_units && shares_of_units(w, layout, v, err))
        return -1;
    *values = (struct hrun_app_values){ .N = w->N, .P = P, .share = v };
    *share = v;
    v = NULL;
    return 0;
}
