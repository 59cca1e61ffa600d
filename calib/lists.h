/* lists.h - what the options say is to be measured: sizes, numbers of PEs, processes per PE, sub-clusters */
#ifndef CALIB_LISTS_H
#define CALIB_LISTS_H

#include "options.h"

enum { LIST_MAX = 1000 };

struct lists {
    int64_t sizes[LIST_MAX + 1], pes[LIST_MAX + 1], procs[LIST_MAX + 1];  /* ascending, distinct */
    int nsizes, npes, nprocs; /* npes = 0: no --pes, each sub-cluster its own numbers */
    int *most;                /* of each sub-cluster: PEs that may be used, 0 none; owned */
};

/* Sizes and processes per PE that the options do not give are the definition's. Errors: HRUN_EINVAL (a bad list, no
 * sizes known), those of context_use, HRUN_ENOMEM. */
int lists_read(const struct context *c, const struct calib_settings *s, struct lists *out, struct hrun_error *err);
/* Processes per PE alone, from a list as --procs takes it, at most `most` of them. Errors: HRUN_EINVAL. */
int lists_parse_procs(const char *text, int64_t *procs, int most, int *n, struct hrun_error *err);
void lists_release(struct lists *l);

#endif
