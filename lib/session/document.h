/* document.h - plans and clusters as JSON
 *
 * Purpose: the documents of hrun --dry-run --json, hrun --show-cluster --json and hrun_ask (hrun(1)).
 */
#ifndef HRUN_SESSION_DOCUMENT_H
#define HRUN_SESSION_DOCUMENT_H

#include "session/decide.h"
#include "session/variants.h"

/* The command that hrun would start. */
struct command {
    const struct hrun_layout *layout;
    const struct hrun_mapping *mapping; /* the user's options for the placement of ranks; NULL: none */
    char *const *argv;        /* program and arguments, with all words in braces replaced; NULL: no program is known */
    const struct hrun_job *job; /* programs of the ranks; NULL: all ranks start argv */
    const char *mpirun;       /* the command line of engine mpirun or srun; for local and smpi an equivalent one; NULL:
                                 no program is known */
    const char *yielding;     /* why waiting processes yield (hrun_job_yielding); "": they do not */
    const struct variants *variants; /* the variants of the definition; NULL or empty: none */
    json_t *more;             /* members that the command adds; NULL: none */
};

/* Append the plan of a decision. */
void document_plan(const struct context *c, const struct decision *d, const struct command *cmd, struct hrun_buf *out);

/* Append the cluster. c->signatures may have fewer entries than there are sub-clusters. */
void document_cluster(const struct context *c, struct hrun_buf *out);

#endif
