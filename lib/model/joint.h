/* joint.h - the models of all sub-clusters of a cluster together: what runs on several of them tell
 *
 * Purpose: a sub-cluster alone never sees the P of the whole cluster, and its model has to extrapolate. A run on
 * several sub-clusters sees it: its time is that of the sub-cluster which limits it (paper 000, section 4.1:
 * T = max Ti), and for the others a time that they do not exceed. So each such run becomes a measurement of the one
 * whose prediction is largest, and of any other whose prediction exceeds it; then all models are fitted anew. Each
 * takes over from the others what their runs tell of the program (common.h).
 * That the trace library saw others wait for a sub-cluster is no reason to take it for the one that limits: with it
 * choices were worse (tests/trials/README.md).
 * Invariants: without mixed runs, and where nothing is shared, the models are those of hrun_model_fit to the last bit.
 */
#ifndef HRUN_MODEL_JOINT_H
#define HRUN_MODEL_JOINT_H

#include "model/model.h"

/* One sub-cluster, or several alike: its signature stands once. */
struct hrun_joint_sub {
    const char *name;                   /* for the models and for messages */
    const char *signature;
    const struct hrun_sample *samples;  /* all of its log that still count, homogeneous and mixed ones */
    size_t n;
};

/* Fit the models of subs[nsubs], out[i] those of subs[i] with name and signature, NULL where none can be made;
 * *skipped (may be NULL) tells then why, and what hrun_model_fit left out, each line with the sub-cluster's name.
 * A mixed run is found again in the logs of all that took part by its date, configuration, N and times; where one of
 * these is not in subs it counts only as a bound. A model that knows from others alone how time follows P says so in
 * its record's note, "shared with others", and has wider intervals. With LS, the reference of paper 000, each
 * sub-cluster is fitted alone.
 * Errors: HRUN_ENODATA when no model at all can be made, and those of hrun_model_fit; then out is untouched. */
int hrun_model_fit_joint(const struct hrun_app *app, const struct hrun_joint_sub *subs, int nsubs,
                         const struct hrun_fit_options *options, struct hrun_models **out, struct hrun_buf *skipped,
                         struct hrun_error *err);

#endif
