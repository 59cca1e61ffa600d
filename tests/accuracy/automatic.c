/* automatic.c - the method `automatic`: the grid's measurements, with terms that hrun-calibrate --new takes from its
 * library (lib/model/model.h) in place of those that somebody wrote; rule and processes per PE stay */
#include "accuracy.h"

#include "app/app.h"
#include "app/draft.h"
#include "base/alloc.h"
#include "base/file.h"
#include "model/discover.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The trial's application with these terms: written and read back. */
static int make_app(const struct hrun_app *app, const struct hrun_discovery *d, struct hrun_app **out,
                    struct hrun_error *err)
{
    struct hrun_app_draft draft = { .name = app->name, .program = app->name, .rule = hrun_expr_text(app->rule),
                                    .procs_per_pe = app->procs_per_pe, .nprocs = app->nprocs_per_pe, .np = &d->np,
                                    .n = &d->n, .p = &d->p, .sizes = app->sizes.v, .nsizes = app->sizes.n };
    struct hrun_buf text = HRUN_BUF_INIT;
    char folder[] = "/tmp/hrun-accuracy-XXXXXX", *file = NULL;
    int rc = -1;

    if (!mkdtemp(folder))
        return hrun_fail_errno(err, HRUN_EIO, "%s", folder);
    file = hrun_strf("%s/%s.yaml", folder, app->name);
    if (!hrun_app_draft_print(&draft, &text, err) && !hrun_file_replace(file, text.data, text.len, 0600, err))
        rc = hrun_app_load(file, NULL, out, err);
    unlink(file);
    rmdir(folder);
    free(file);
    hrun_buf_release(&text);
    return rc;
}

/* The points of all sub-clusters, those of each M as a series of their own. */
static int gather(const struct trial *trial, struct hrun_discover_point **out, size_t *n, struct hrun_error *err)
{
    const struct truth *t = trial->truth;
    struct hrun_discover_point *v = xcalloc(t->nruns * (size_t)trial->repetitions + 1, sizeof *v);
    int rc = 0;

    *n = 0;
    for (int i = 0; i < t->nsubs && !rc; i++) {
        struct hrun_samples samples = { 0 };
        double cost_s = 0;

        rc = truth_train(t, i, &trial->noise, trial->repetitions, NULL, &samples, &cost_s, err);
        for (size_t k = 0; k < samples.n && !rc; k++) {
            const struct hrun_sample *s = &samples.v[k];

            v[(*n)++] = (struct hrun_discover_point){ i * HRUN_PROCS_PER_PE_MAX + s->M, s->N, s->P, s->M, s->time_s };
        }
        hrun_samples_release(&samples);
    }
    if (rc)
        free(v);
    else
        *out = v;
    return rc;
}

int accuracy_automatic(const struct method *m, const struct trial *trial, struct answer *answers, double *cost_s,
                       struct hrun_error *err)
{
    struct trial own = *trial;
    struct hrun_discovery found = { 0 };
    struct hrun_discover_point *points = NULL;
    struct hrun_app *app = NULL;
    size_t n;
    int rc = -1;

    if (gather(trial, &points, &n, err) || hrun_discover(points, n, &m->options, &found, err) ||
        make_app(trial->app, &found, &app, err))
        goto done;
    own.app = app;
    rc = accuracy_joint(m, &own, answers, cost_s, err);
done:
    hrun_app_destroy(app);
    hrun_discovery_release(&found);
    free(points);
    return rc;
}
