/* network.c - network terms in a fit; see family.h for the contracts */
#include "model/family.h"
#include "model/tasking.h"

#include "model/terms.h"

#include <stdlib.h>

/* A term of divided work, as the form deals it out; it is owned. */
static int deal_out(struct hrun_fit_job *job, const char *text, struct hrun_term *out, struct hrun_error *err)
{
    struct hrun_buf dealt = HRUN_BUF_INIT;
    int owned;

    hrun_tasking_term(&job->options.tasking, text, &dealt);
    out->text = hrun_buf_detach(&dealt);
    if (!out->text)
        return hrun_fail_nomem(err);
    out->expr = hrun_term_find(job->app, HRUN_TERM_NP, out->text, &owned, err);
    if (out->expr && owned)
        return 0;
    free(out->text);
    return out->expr ? hrun_fail(err, HRUN_EINVAL, "the term '%s' stands twice", text) : -1;
}

int hrun_fit_network(struct hrun_fit_job *job, struct hrun_row *rows, size_t *n, struct hrun_error *err)
{
    const struct hrun_terms *all = &job->app->np;
    int ls = job->options.method == HRUN_METHOD_LS, nsubs;
    size_t kept = 0;

    job->left_out = (struct hrun_buf)HRUN_BUF_INIT;
    job->net = hrun_app_has_network(job->app) && !ls ? job->options.net : NULL;
    job->np.v = calloc((size_t)all->n + 1, sizeof *job->np.v);
    if (!job->np.v)
        return hrun_fail_nomem(err);
    for (int j = 0; j < all->n; j++) {
        if (job->options.tasking.master && hrun_term_is_divided(all->v[j].expr)) {
            if (deal_out(job, all->v[j].text, &job->np.v[job->np.n], err))
                return -1;
            job->np.n++;
        } else if (job->net || !hrun_term_is_network(all->v[j].expr))
            job->np.v[job->np.n++] = all->v[j];
        else
            hrun_buf_addf(&job->left_out, "%s%s", job->left_out.len ? ", " : "left out ", all->v[j].text);
    }
    if (job->left_out.len)
        hrun_buf_adds(&job->left_out, ls ? ": least squares know no network"
                      : ": the network of these hosts was not measured (hrun-calibrate network)");
    if (job->left_out.failed)
        return hrun_fail_nomem(err);
    if (!job->net)
        return 0;
    nsubs = hrun_netview_nsubs(job->net);
    job->config = calloc(2 * (size_t)nsubs + 1, sizeof *job->config);
    if (!job->config)
        return hrun_fail_nomem(err);
    for (size_t i = 0; i < *n; i++)
        if (rows[i].sample && hrun_netview_config(job->net, rows[i].sample, rows[i].own, job->config,
                                                  job->config + nsubs))
            rows[kept++] = rows[i];
    if (kept < *n)
        hrun_buf_addf(&job->skipped, "%zu of %zu measurements: on hosts that the network does not know\n", *n - kept,
                      *n);
    *n = kept;
    return 0;
}

void hrun_fit_network_release(struct hrun_fit_job *job)
{
    for (int j = 0; j < job->np.n; j++) {
        int given = 0;

        for (int k = 0; k < job->app->np.n && !given; k++)
            given = job->np.v[j].text == job->app->np.v[k].text;
        if (given)
            continue;
        hrun_expr_destroy(job->np.v[j].expr);
        free(job->np.v[j].text);
    }
    free(job->np.v);
    free(job->config);
    hrun_buf_release(&job->left_out);
}

int hrun_fit_term(const struct hrun_fit_job *job, struct hrun_expr *e, const struct hrun_row *row, double *out,
                  struct hrun_error *err)
{
    int nsubs;

    if (!hrun_term_is_network(e))
        return hrun_term_eval(e, HRUN_TERM_NP, (double)row->N, row->P, 0, out, err);
    nsubs = hrun_netview_nsubs(job->net);
    if (!hrun_netview_config(job->net, row->sample, row->own, job->config, job->config + nsubs))
        return hrun_fail(err, HRUN_EINVAL, "the network does not know where a run was");
    return hrun_term_network(e, (double)row->N, row->sample->P, job->net, job->config, job->config + nsubs, out, err);
}
