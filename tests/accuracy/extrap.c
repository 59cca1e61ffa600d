/* extrap.c - the methods `extrap` and `extrapneg`: Extra-P's published approach on the grid's measurements, to compare
 * with terms chosen otherwise
 */
#include "accuracy.h"
#include "extrap_fit.h"

static int decide(const struct trial *trial, int negative, struct answer *answers, double *cost_s,
                  struct hrun_error *err)
{
    const struct truth *t = trial->truth;
    struct hrun_models *models[TRUTH_SUBS_MAX] = { NULL };
    int rc = 0;

    for (int i = 0; i < t->nsubs && !rc; i++) {
        struct hrun_samples samples = { 0 };

        rc = truth_train(t, i, &trial->noise, trial->repetitions, NULL, &samples, cost_s, err);
        if (!rc)
            models[i] = extrap_fit(trial->app, &samples, negative);
        hrun_samples_release(&samples);
    }
    rc = rc || accuracy_choose(trial, models, answers, err) ? -1 : 0;
    for (int i = 0; i < t->nsubs; i++)
        hrun_models_destroy(models[i]);
    return rc;
}

int accuracy_extrap(const struct method *m, const struct trial *trial, struct answer *answers, double *cost_s,
                    struct hrun_error *err)
{
    (void)m;
    return decide(trial, 0, answers, cost_s, err);
}

int accuracy_extrap_negative(const struct method *m, const struct trial *trial, struct answer *answers, double *cost_s,
                             struct hrun_error *err)
{
    (void)m;
    return decide(trial, 1, answers, cost_s, err);
}
