/* query.h - predictions without a run: hrun --dry-run=time and hrun_ask
 *
 * Purpose: the predicted time, or the document, of the best configuration or of given ones. Without a model these fail,
 * while hrun would start the program as mpirun does.
 */
#ifndef HRUN_SESSION_QUERY_H
#define HRUN_SESSION_QUERY_H

#include "session/decide.h"
#include "session/work.h"

struct query {
    const struct settings *set;       /* json = 1: documents, else lines of text */
    struct question ask;
    int64_t N;                        /* 0: not given */
    const struct hrun_strvec *configs;   /* none: the best configuration */
    char **words;                     /* program and arguments up to a NULL */
    struct work_programs programs;    /* separated by ':' */
};

/* Find the definition, the size and the program into the zeroed c. To be followed by the discovery of the cluster.
 * Errors: HRUN_EINVAL (no size), HRUN_ENOENT (no definition), those of context_app, problem_find, work_find_program. */
int query_find(struct context *c, struct query *q, struct hrun_error *err);

/* Append the answer for each of the configurations, several documents as an array; of a definition with variants, for
 * the quickest variant. Errors: HRUN_ENODATA (no profile, or none for what is asked; says of which sub-cluster and
 * why), those of context_choose_engine and decision_make. */
int query_answer(struct context *c, const struct query *q, struct hrun_buf *out, struct hrun_error *err);

/* Fail because none of the loaded profiles can be used: with the first reason that says more than that there is none,
 * and HRUN_ENODATA, or the code of a profile that cannot be read. */
int profiles_none(const struct context *c, const struct profiles *p, struct hrun_error *err);

#endif
