/* mixed.h - runs on several sub-clusters, found again in the logs of all that took part; not for other rooms
 *
 * Invariants: runs are in order of N; the parts of a run stand together.
 */
#ifndef HRUN_MODEL_MIXED_H
#define HRUN_MODEL_MIXED_H

#include "model/joint.h"

struct hrun_mixed_part {
    int sub;            /* index into subs */
    int M;
    int pes;
};

struct hrun_mixed_run {
    int64_t N;
    int P;
    double T;
    const char *date;   /* of a sample; "" when it has none */
    size_t first, nparts;
    int whole;          /* 1: all that took part are in subs */
    const struct hrun_sample *sample;
};

struct hrun_mixed {
    struct hrun_mixed_run *runs;
    struct hrun_mixed_part *parts;
    size_t nruns, nparts;
};

/* The good mixed runs with the definition's constants. The samples must outlive *out. Errors: HRUN_ENOMEM,
 * HRUN_ENONFINITE and HRUN_EINVAL for a run that breaks an invariant, naming it. */
int hrun_mixed_list(const struct hrun_app *app, const struct hrun_joint_sub *subs, int nsubs, struct hrun_mixed *out,
                    struct hrun_error *err);
void hrun_mixed_release(struct hrun_mixed *m);

/* An order of records by N and then by run: 0 when two are of one run, in logs of different sub-clusters. Times are
 * kept to the last bit, so that two runs of one configuration in one second differ in them. */
int hrun_mixed_order(const struct hrun_sample *a, const struct hrun_sample *b);

#endif
