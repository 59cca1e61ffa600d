/* prediction.c - the prediction of the chosen configuration; see prediction.h */
#include "session/prediction.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void keep_farther(struct beyond *b, int sub, int64_t v, const int64_t *measured)
{
    double factor = hrun_beyond(v, measured[0], measured[1]);

    if (factor > b->factor)
        *b = (struct beyond){ factor, sub, { measured[0], measured[1] } };
}

/* Predict the time, and how far N and P lie outside the measured range; predicted.known = 0 if the models cannot. */
static void predict_time(struct decision *d, struct hrun_predictor *p)
{
    struct hrun_error why = { 0 };
    int64_t sizes[2], counts[2];

    d->predicted.time = (struct hrun_interval){ 0 };
    d->basis.beyond_n.factor = d->basis.beyond_p.factor = 1;
    memset(d->predicted.sub_time_s, 0, (size_t)d->nsubs * sizeof *d->predicted.sub_time_s);
    if (hrun_predictor_time_whole(p, &d->config, &d->predicted.time, d->predicted.sub_time_s, &d->predicted.limiting,
                                  &why)) {
        d->predicted.known = 0;
        return;
    }
    d->shares.tasking = *hrun_predictor_tasking(p);
    for (int i = 0; i < d->nsubs; i++) {
        if (!d->config.pes[i])
            continue;
        if (!hrun_predictor_measured(p, i, d->config.procs[i], d->P, sizes, counts)) {
            keep_farther(&d->basis.beyond_n, i, d->N, sizes);
            keep_farther(&d->basis.beyond_p, i, d->P, counts);
        }
    }
    d->predicted.known = d->predicted.time.mid > 0;
}

/* Set shares.each and, with a predictor without the pace, shares.unwatched. */
static void predict_shares(struct decision *d, struct hrun_predictor *p, struct hrun_predictor *unpaced)
{
    struct hrun_error why = { 0 };

    d->shares.each = xcalloc((size_t)d->nsubs, sizeof *d->shares.each);
    d->predicted.known = !hrun_predictor_shares(p, &d->config, d->shares.each, &why);
    if (unpaced && d->predicted.known) {
        d->shares.unwatched = xcalloc((size_t)d->nsubs, sizeof *d->shares.unwatched);
        d->predicted.known = !hrun_predictor_shares(unpaced, &d->config, d->shares.unwatched, &why);
    }
}

/* Correct the prediction by earlier runs. */
static void correct_prediction(struct decision *d, const struct corrected *k)
{
    struct hrun_correction at;

    if (!d->predicted.known || !hrun_corrections_tell(k->all, &d->config, d->N, &d->predicted.time, &at))
        return;
    for (int i = 0; i < d->nsubs; i++)
        d->predicted.sub_time_s[i] *= at.factor;
    d->basis.factor = at.factor;
    d->basis.runs_here = at.runs;
    d->basis.runs_elsewhere = at.others;
}

const struct corrected *predicted_corrections(const struct decision *d, const struct at_size *at)
{
    return d->shares.how != HRUN_SHARES_EQUAL ? &at->dealt : &at->known;
}

double predicted_doubt(const struct corrected *k, const struct hrun_config *config)
{
    const struct hrun_correction *r = corrected_find(k, config);

    return exp(hrun_corrections_sd(k->all)) * (r ? hrun_correction_doubt(k->all, r) : 1);
}

/* Set d->plain: the configuration that mpirun would start, and its prediction. */
static void predict_plain(struct decision *d, const struct at_size *at, const struct hrun_plan_problem *search)
{
    const struct corrected *k = &at->known;
    const struct hrun_correction *r;
    struct hrun_plan_problem problem = *search, any;
    struct hrun_choice choice;

    problem.oracle = hrun_predictor_oracle(at->predictors[HRUN_SHARES_EQUAL]);
    any = problem;
    any.P = 0;
    d->plain.excluded_P = 0;
    for (int i = 0; i < d->nsubs; i++) {
        d->plain.config.pes[i] = d->subs[i].npes;
        d->plain.config.procs[i] = d->subs[i].npes > 0 ? d->subs[i].each : 0;
    }
    if (!hrun_plan_evaluate(&problem, &d->plain.config, 0, &choice, NULL)) {
        d->plain.known = 1;
        r = corrected_find(k, &d->plain.config);
        d->plain.time_s = choice.time_s * (r ? r->factor : 1);
        d->plain.runs = r ? r->runs : 0;
        d->plain.ranked_s = d->plain.time_s * predicted_doubt(k, &d->plain.config) /
                            predicted_doubt(predicted_corrections(d, at), &d->config);
        d->plain.valid = !hrun_plan_evaluate(&problem, &d->plain.config, 1, &choice, NULL);
        if (!d->plain.valid && !hrun_plan_evaluate(&any, &d->plain.config, 1, &choice, NULL))
            d->plain.excluded_P = problem.P;
    }
}

void predicted_fill(struct decision *d, const struct at_size *at, const struct hrun_plan_problem *problem)
{
    struct hrun_predictor *p = at->predictors[d->shares.how];
    const struct corrected *k = predicted_corrections(d, at);
    int npes[HRUN_SUBS_MAX];
    int64_t *sizes = d->basis.sizes, dealt[2];

    predict_time(d, p);
    free(d->shares.each);
    free(d->shares.unwatched);
    d->shares.each = d->shares.unwatched = NULL;
    if (hrun_predictor_deals(p) && d->predicted.known)
        predict_shares(d, p, at->unpaced[d->shares.how]);
    for (int i = 0; i < d->nsubs; i++)
        npes[i] = d->subs[i].npes;
    if (hrun_predictor_has_balance(p) && d->predicted.known &&
        hrun_predictor_balance(p, npes, &d->config, &d->predicted.balance, NULL))
        d->predicted.balance.q = 0;
    correct_prediction(d, k);
    hrun_corrections_sizes(at->known.all, sizes);
    if (at->dealt.all && hrun_corrections_sizes(at->dealt.all, dealt)) {
        sizes[0] = sizes[0] && sizes[0] < dealt[0] ? sizes[0] : dealt[0];
        sizes[1] = sizes[1] > dealt[1] ? sizes[1] : dealt[1];
    }
    predict_plain(d, at, problem);
}

void predicted_irregular(const struct context *c, const struct decision *d, struct hrun_buf *out)
{
    for (int i = 0; d->basis.network && d->has_config && c->net && i < d->nsubs; i++)
        if (d->config.pes[i])
            hrun_models_irregular(c->app, &d->subs[i].models, 1, c->net, d->N, d->P, out);
}
