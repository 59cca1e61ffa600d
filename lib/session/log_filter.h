/* log_filter.h - the runs of c->app with the constants of now, on the cluster of now */
#ifndef HRUN_SESSION_LOG_FILTER_H
#define HRUN_SESSION_LOG_FILTER_H

#include "session/context.h"

struct log_filter {
    struct hrun_buf cluster, consts;
};

void log_filter_make(const struct context *c, struct log_filter *out);
/* Is it such a run, of size N, whose configuration is known? */
int log_filter_takes(const struct log_filter *f, const struct hrun_sample *s, int64_t N);
void log_filter_release(struct log_filter *f);

#endif
