/* recall.h - the runs in the logs of a cluster's sub-clusters, as configurations of the cluster; not for other rooms
 *
 * Purpose: a record tells its configuration over the sub-clusters that there were when it was made; clusters change.
 * Sub-clusters are known again by their signatures, and those of one signature by their names.
 */
#ifndef HRUN_MODEL_RECALL_H
#define HRUN_MODEL_RECALL_H

#include "model/joint.h"

struct hrun_recalled {
    const struct hrun_sample *s;
    int nsubs;
    int *pes, *procs;       /* nsubs each */
    double r;               /* this and the next: the caller's */
    int limiting;
};

/* All good runs of the cluster's configurations with the definition's constants into runs[], in order of N, each once:
 * of records in several logs the first. runs[] has room for every sample of subs[nsubs], numbers[] for 2 nsubs times as
 * many. Errors: HRUN_ENOMEM. */
int hrun_recall(const struct hrun_app *app, const struct hrun_joint_sub *subs, int nsubs, struct hrun_recalled *runs,
                int *numbers, size_t *count, struct hrun_error *err);

#endif
