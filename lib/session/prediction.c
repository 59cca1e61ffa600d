/* prediction.c - what is predicted of a configuration that was decided on; see decide.h */
#include "base/alloc.h"
#include "session/decide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void keep_farther(struct beyond *b, int sub, int64_t v, const int64_t *measured)
{
    double factor = hrun_beyond(v, measured[0], measured[1]);

    if (factor > b->factor)
        *b = (struct beyond){ factor, sub, { measured[0], measured[1] } };
}

/* That the models have no prediction is no error. */
static void predict_time(struct decision *d, struct hrun_predictor *p)
{
    struct hrun_error why = { 0 };
    int64_t sizes[2], counts[2];

    d->time = (struct hrun_interval){ 0 };
    d->beyond_n.factor = d->beyond_p.factor = 1;
    memset(d->sub_time_s, 0, (size_t)d->nsubs * sizeof *d->sub_time_s);
    if (hrun_predictor_time_whole(p, &d->config, &d->time, d->sub_time_s, &d->limiting, &why)) {
        d->predicted = 0;
        return;
    }
    d->tasking = *hrun_predictor_tasking(p);
    for (int i = 0; i < d->nsubs; i++) {
        if (!d->config.pes[i])
            continue;
        if (!hrun_predictor_measured(p, i, d->config.procs[i], d->P, sizes, counts)) {
            keep_farther(&d->beyond_n, i, d->N, sizes);
            keep_farther(&d->beyond_p, i, d->P, counts);
        }
    }
    d->predicted = d->time.mid > 0;
}

/* How the work is dealt out. */
static void predict_shares(struct decision *d, struct hrun_predictor *p, const double *pace)
{
    struct hrun_error why = { 0 };

    d->share = xcalloc((size_t)d->nsubs, sizeof *d->share);
    d->predicted = !hrun_predictor_shares(p, &d->config, d->share, &why);
    if (pace && d->predicted) {
        d->unwatched = xcalloc((size_t)d->nsubs, sizeof *d->unwatched);
        hrun_predictor_pace(p, NULL);
        d->predicted = !hrun_predictor_shares(p, &d->config, d->unwatched, &why);
        hrun_predictor_pace(p, pace);
    }
}

/* Runs of this very configuration tell more than its model. */
static void correct_prediction(struct decision *d, const struct corrected *k)
{
    struct hrun_correction at;

    if (!d->predicted || !hrun_corrections_tell(k->all, &d->config, d->N, &d->time, &at))
        return;
    for (int i = 0; i < d->nsubs; i++)
        d->sub_time_s[i] *= at.factor;
    d->factor = at.factor;
    d->runs_here = at.runs;
    d->runs_elsewhere = at.others;
}

const struct corrected *predicted_known(const struct decision *d, const struct at_size *at)
{
    return d->sharing != HRUN_SHARES_EQUAL ? &at->dealt : &at->known;
}

double predicted_doubt(const struct corrected *k, const struct hrun_config *config)
{
    const struct hrun_correction *r = corrected_find(k, config);

    return exp(hrun_corrections_sd(k->all)) * (r ? hrun_correction_doubt(k->all, r) : 1);
}

/* The configuration that mpirun's default amounts to, and what the model says of it. */
static void predict_plain(struct decision *d, const struct at_size *at, const struct hrun_plan_problem *problem)
{
    const struct corrected *k = &at->known;
    const struct hrun_correction *r;
    struct hrun_plan_problem any = *problem;
    struct hrun_choice choice;

    any.P = 0;
    d->plain_P = 0;
    for (int i = 0; i < d->nsubs; i++) {
        d->plain.pes[i] = d->subs[i].npes;
        d->plain.procs[i] = d->subs[i].npes > 0 ? d->subs[i].each : 0;
    }
    if (!hrun_plan_evaluate(problem, &d->plain, 0, &choice, NULL)) {
        d->plain_known = 1;
        r = corrected_find(k, &d->plain);
        d->plain_time_s = choice.time_s * (r ? r->factor : 1);
        d->plain_ranked_s = d->plain_time_s * predicted_doubt(k, &d->plain) /
                            predicted_doubt(predicted_known(d, at), &d->config);
        d->plain_valid = !hrun_plan_evaluate(problem, &d->plain, 1, &choice, NULL);
        if (!d->plain_valid && !hrun_plan_evaluate(&any, &d->plain, 1, &choice, NULL))
            d->plain_P = problem->P;
    }
}

/* How well a ring is balanced. */
static void predict_balance(struct decision *d, struct hrun_predictor *p)
{
    autofree int *npes = xcalloc((size_t)d->nsubs, sizeof *npes);

    for (int i = 0; i < d->nsubs; i++)
        npes[i] = d->subs[i].npes;
    if (hrun_predictor_balance(p, npes, &d->config, &d->balance, NULL))
        d->balance.q = 0;
}

/* The least and the largest size that was run, with whatever shares. */
static void find_sizes(struct decision *d, const struct at_size *at)
{
    int64_t dealt[2];

    hrun_corrections_sizes(at->known.all, d->sizes);
    if (!at->dealt.all || !hrun_corrections_sizes(at->dealt.all, dealt))
        return;
    d->sizes[0] = d->sizes[0] && d->sizes[0] < dealt[0] ? d->sizes[0] : dealt[0];
    d->sizes[1] = d->sizes[1] > dealt[1] ? d->sizes[1] : dealt[1];
}

int predicted_fill(struct decision *d, const struct at_size *at, const struct hrun_plan_problem *problem,
                   struct hrun_error *err)
{
    struct hrun_predictor *p = at->predictor;
    const struct corrected *k = predicted_known(d, at);

    predict_time(d, p);
    free(d->share);
    free(d->unwatched);
    d->share = d->unwatched = NULL;
    if (hrun_predictor_deals(p) && d->predicted)
        predict_shares(d, p, at->dealt.pace);
    if (hrun_predictor_has_balance(p) && d->predicted)
        predict_balance(d, p);
    correct_prediction(d, k);
    find_sizes(d, at);
    if (hrun_predictor_deal(p, HRUN_SHARES_EQUAL, err))
        return -1;
    predict_plain(d, at, problem);
    return hrun_predictor_deal(p, d->sharing, err);
}

void predicted_irregular(const struct context *c, const struct decision *d, struct hrun_buf *out)
{
    for (int i = 0; d->network && d->has_config && c->net && i < d->nsubs; i++)
        if (d->config.pes[i])
            hrun_models_irregular(c->app, &d->subs[i].models, 1, c->net, d->N, d->P, out);
}
