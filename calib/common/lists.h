/* lists.h - what the options say is to be measured: sizes, numbers of PEs, processes per PE, sub-clusters */
#ifndef CALIB_LISTS_H
#define CALIB_LISTS_H

#include "options.h"

struct lists {
    struct number_list sizes, pes, procs; /* pes.n = 0: no --pes, each sub-cluster its own numbers */
    int own;                  /* 1: the sizes are ours, up to the one that -N names */
    int *most;                /* of each sub-cluster: PEs that may be used, 0 none; owned */
};

/* Sizes and processes per PE that the options do not give are the definition's; of chosen runs -N stands for sizes up
 * to it, down to an eighth, which the rule accepts for many P. Errors: HRUN_EINVAL (no sizes known, no sub-cluster has
 * that many PEs), those of context_use, HRUN_ENOMEM. */
int lists_read(const struct context *c, const struct calib_settings *s, struct lists *out, struct hrun_error *err);
/* For the option table: a list as "1,2,4-8:2" with numbers in min..max of the row, into a struct number_list. */
int lists_add(void *settings, const struct hrun_opt *opt, const char *value, struct hrun_error *err);
void lists_release(struct lists *l);

#endif
