/* rivals.c - what plain methods choose from the runs of a calibration, to compare hrun with
 *
 *   rivals APP NAME:PES[:BYTES],... N...
 *
 * of the measurements in the user's data folder, by the user's definition of APP, for sub-clusters of so many PEs of so
 * much memory. Methods: "nnls", the definition's terms by non-negative least squares, each sub-cluster and M for
 * itself; "Extra-P", its published approach, the same way. Both have the runs on one sub-cluster only: there is no way
 * to fit those on several. The time of a configuration is the largest of its sub-clusters, the search is hrun's. Prints
 * a line for each method and N, "nnls 480 NAME 6 4 NAME 0 0 ...", PEs and processes on each; none where there is no
 * choice.
 */
#include "../accuracy/extrap_fit.h"
#include "base/alloc.h"
#include "base/list.h"
#include "model/predict.h"
#include "plan/plan.h"
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fit_nnls(const struct hrun_app *app, const struct hrun_samples *s, struct hrun_models **out,
                    struct hrun_error *err)
{
    const struct hrun_fit_options options = { .method = HRUN_METHOD_NNLS, .sigma_abs_s = HRUN_FIT_SIMULATED_ABS_S,
                                              .sigma_rel = 0.02 };

    return hrun_model_fit(app, s->v, s->n, &options, out, NULL, err);
}

static int fit_extrap(const struct hrun_app *app, const struct hrun_samples *s, struct hrun_models **out,
                      struct hrun_error *err)
{
    (void)err;
    *out = extrap_fit(app, s, 0);
    return 0;
}

static const struct {
    const char *name;
    int (*fit)(const struct hrun_app *app, const struct hrun_samples *s, struct hrun_models **out,
               struct hrun_error *err);
} methods[] = { { "nnls", fit_nnls }, { "Extra-P", fit_extrap } };

enum { SUBS = 16 };

struct cluster {
    int n;
    char *name[SUBS];
    struct hrun_plan_sub subs[SUBS];
    struct hrun_samples runs[SUBS];     /* the good ones on this sub-cluster alone */
};

/* "a:4:1e9,b:2", which is cut to pieces. */
static int read_cluster(char *text, struct cluster *c)
{
    for (char *at = strtok(text, ","); at && c->n < SUBS; at = strtok(NULL, ",")) {
        struct hrun_plan_sub *s = &c->subs[c->n];
        char *colon = strchr(at, ':');

        if (!colon || sscanf(colon, ":%d:%lf", &s->npes, &s->memory_bytes) < 1)
            return -1;
        *colon = 0;
        c->name[c->n++] = at;
    }
    return c->n ? 0 : -1;
}

/* Sort the runs of one signature. */
static int read_runs(struct hrun_store *store, const char *app, const char *signature, struct cluster *c,
                     struct hrun_error *err)
{
    struct hrun_samples all = { 0 };

    if (hrun_store_samples(store, app, signature, &all, err))
        return -1;
    hrun_samples_current(&all);
    for (size_t k = 0; k < all.n; k++) {
        struct hrun_sample *s = &all.v[k];
        int place = s->signatures ? hrun_list_find(s->signatures, signature) : 0, i = 0;

        while (i < c->n && !hrun_list_is(s->cluster, place, c->name[i]))
            i++;
        if (s->ok && !s->mixed && i < c->n) {
            struct hrun_samples *to = &c->runs[i];
            struct hrun_sample *v = xrealloc(to->v, (to->n + 1) * sizeof *v);

            to->v = v;
            v[to->n++] = *s;
        } else {
            hrun_sample_release(s);
        }
    }
    free(all.v);
    free(all.first_bad);
    return 0;
}

static void choose(const struct hrun_app *app, const struct cluster *c, const char *method,
                   struct hrun_models *const *models, int64_t N)
{
    struct hrun_predictor *p = hrun_predictor_create(app, models, c->n, HRUN_FORM_NPT, N, NULL);
    struct hrun_plan_problem problem = { .subs = c->subs };
    struct hrun_plan *plan = NULL;

    if (p)
        problem.oracle = hrun_predictor_oracle(p);
    if (p && !hrun_plan_search(&problem, 1, &plan, NULL)) {
        printf("%s %lld", method, (long long)N);
        for (int i = 0; i < c->n; i++)
            printf(" %s %d %d", c->name[i], plan->v[0].config.pes[i], plan->v[0].config.procs[i]);
        putchar('\n');
    }
    hrun_plan_destroy(plan);
    hrun_predictor_destroy(p);
}

static void try_all(const struct hrun_app *app, const struct cluster *c, char *const *sizes)
{
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        struct hrun_models *models[SUBS] = { NULL };

        for (int i = 0; i < c->n; i++)
            if (c->runs[i].n && methods[m].fit(app, &c->runs[i], &models[i], NULL))
                models[i] = NULL;
        for (char *const *N = sizes; *N; N++)
            choose(app, c, methods[m].name, models, atoll(*N));
        for (int i = 0; i < c->n; i++)
            hrun_models_destroy(models[i]);
    }
}

int main(int argc, char **argv)
{
    struct hrun_strvec dirs = { 0 }, signatures = { 0 };
    struct hrun_store *store = hrun_store_open(NULL, NULL);
    struct hrun_app *app = NULL;
    struct hrun_error err = { 0 };
    struct cluster c = { 0 };
    int rc;

    if (argc < 4 || read_cluster(argv[2], &c)) {
        fputs("usage: rivals APP NAME:PES[:BYTES],... N...\n", stderr);
        return 2;
    }
    rc = hrun_app_path(NULL, NULL, &dirs, &err) || hrun_app_find(&dirs, argv[1], NULL, &app, &err) ||
         hrun_store_signatures(store, argv[1], &signatures, &err);
    for (size_t i = 0; i < signatures.n && !rc; i++)
        rc = read_runs(store, argv[1], signatures.v[i], &c, &err);
    if (rc)
        fprintf(stderr, "rivals: %s\n", err.text);
    else
        try_all(app, &c, argv + 3);
    for (int i = 0; i < c.n; i++)
        hrun_samples_release(&c.runs[i]);
    hrun_strvec_release(&signatures);
    hrun_strvec_release(&dirs);
    hrun_store_close(store);
    hrun_app_destroy(app);
    return rc ? 1 : 0;
}
