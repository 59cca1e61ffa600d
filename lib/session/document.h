/* document.h - plans and clusters for machines, as JSON
 *
 * Purpose: hrun --dry-run --json, hrun --show-cluster --json and hrun_ask give the same documents (hrun(1)).
 */
#ifndef HRUN_SESSION_DOCUMENT_H
#define HRUN_SESSION_DOCUMENT_H

#include "session/decide.h"
#include "session/variants.h"

/* What would be started. */
struct command {
    const struct hrun_layout *layout;
    const struct hrun_mapping *mapping; /* the user's words for where ranks go; NULL: there are none */
    char *const *argv;        /* program and arguments with everything replaced; NULL: no program is known */
    const struct hrun_job *job; /* for the programs of all ranks; NULL: all start argv */
    const char *mpirun;       /* the line to type: what engine mpirun or srun runs, the equivalent for local and smpi;
                                 NULL: no program is known */
    const char *yielding;     /* why waiting processes yield (hrun_job_yielding); "": they do not */
    const struct variants *variants; /* among which one was chosen; NULL or without any: there are none */
    json_t *more;             /* members that the command adds; NULL: none */
};

/* Append the plan. */
void document_plan(const struct context *c, const struct decision *d, const struct command *cmd, struct hrun_buf *out);

/* Append the cluster; signatures may be fewer than the sub-clusters when they are not known. */
void document_cluster(const struct context *c, struct hrun_buf *out);

#endif
