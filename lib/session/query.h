/* query.h - predictions without a run: hrun --dry-run=time and hrun_ask
 *
 * Purpose: give the predicted time, or the document, of the best configuration or of given ones. Without a model a
 * query fails, but a run would start the program as mpirun does.
 */
#ifndef HRUN_SESSION_QUERY_H
#define HRUN_SESSION_QUERY_H

#include "session/decide.h"
#include "session/work.h"

struct query {
    const struct settings *set;       /* json = 1: documents, else lines of text */
    struct question ask;
    int64_t N;                        /* 0: not given */
    const struct hrun_strvec *configs;   /* the given configurations; empty: the best one is chosen */
    char **words;                     /* program and arguments up to a NULL */
    struct work_programs programs;    /* separated by ':' */
};

/* Find the definition, the size and the program, and set them in the zeroed c. Call context_discover next. Errors:
 * HRUN_EINVAL (no size), HRUN_ENOENT (no definition), those of context_app, problem_find, work_find_program. */
int query_find(struct context *c, struct query *q, struct hrun_error *err);

/* Append the answer for each configuration, several documents as an array. If the definition has variants, the answer
 * is for the best variant. Errors: HRUN_ENODATA (no profile of a needed sub-cluster, with the reason; no prediction),
 * those of context_choose_engine and decision_make. */
int query_answer(struct context *c, const struct query *q, struct hrun_buf *out, struct hrun_error *err);

/* Fail because none of the loaded profiles is usable, with the reason of the first unusable profile, if there is one.
 * Result: -1 with HRUN_ENODATA, or with the error of a profile that cannot be read. */
int profiles_none(const struct context *c, const struct profiles *p, struct hrun_error *err);

#endif
