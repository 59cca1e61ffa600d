/* log_filter.h - which runs of a log have the cluster and the constants of this context */
#ifndef HRUN_SESSION_LOG_FILTER_H
#define HRUN_SESSION_LOG_FILTER_H

#include "session/context.h"

struct log_filter {
    struct hrun_buf cluster, consts;
};

void log_filter_make(const struct context *c, struct log_filter *out);
/* Is it such a run, of size N, with its configuration recorded? */
int log_filter_accepts(const struct log_filter *f, const struct hrun_sample *s, int64_t N);
void log_filter_release(struct log_filter *f);

#endif
