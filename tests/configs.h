/* configs.h - configurations and intervals from the arrays and numbers that tests have */
#ifndef HRUN_TESTS_CONFIGS_H
#define HRUN_TESTS_CONFIGS_H

#include "base/config.h"
#include "model/corrections.h"

static inline struct hrun_config config_of(int nsubs, const int *pes, const int *procs)
{
    struct hrun_config c = { .nsubs = nsubs };

    for (int i = 0; i < nsubs; i++) {
        c.pes[i] = pes[i];
        c.procs[i] = procs[i];
    }
    return c;
}

/* The address of such a configuration, until the end of the block. */
#define CONFIG(nsubs, pes, procs) ((const struct hrun_config[1]){ config_of(nsubs, pes, procs) })

static inline int predictor_time(struct hrun_predictor *p, int sub, int m, int P, double *t, double *low, double *high,
                                 struct hrun_error *err)
{
    struct hrun_interval v;
    int rc = hrun_predictor_time(p, sub, m, P, &v, err);

    if (!rc) {
        *t = v.mid;
        *low = v.low;
        *high = v.high;
    }
    return rc;
}

static inline int predictor_time_whole(struct hrun_predictor *p, const struct hrun_config *config, double *t,
                                       double *low, double *high, double *sub_time_s, int *limiting,
                                       struct hrun_error *err)
{
    struct hrun_interval v = { 0 };
    int rc = hrun_predictor_time_whole(p, config, &v, sub_time_s, limiting, err);

    if (!rc) {
        *t = v.mid;
        *low = v.low;
        *high = v.high;
    }
    return rc;
}

static inline int corrections_tell(const struct hrun_corrections *c, const struct hrun_config *config, int64_t N,
                                   double *t, double *low, double *high, struct hrun_correction *at)
{
    struct hrun_interval v = { *t, *low, *high };
    int rc = hrun_corrections_tell(c, config, N, &v, at);

    *t = v.mid;
    *low = v.low;
    *high = v.high;
    return rc;
}

#endif
