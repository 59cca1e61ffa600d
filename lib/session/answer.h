/* answer.h - what an answer of hrun.h holds (internal)
 *
 * Invariants: an answer has at least one choice, and the decisions own all that its accessors tell; only documents are
 * made of what its service holds.
 */
#ifndef HRUN_SERVICE_ANSWER_H
#define HRUN_SERVICE_ANSWER_H

#include "session/query.h"
#include "hrun.h"

struct answer_choice {
    struct decision d;            /* as if its configuration had been asked for */
    char *config;                 /* as a text */
};

struct hrun_answer {
    const struct hrun_service *of;
    const struct known_app *app;  /* the service's */
    struct decision d;            /* what was asked for */
    struct answer_choice *v;
    int n;
    char *variant;                /* of the definition that has several; or NULL */
    char *json;                   /* made when it is asked for; or NULL */
};

/* The answer to a question, with its alternatives. Errors: those of knowledge_ask. NULL with *err. */
struct hrun_answer *answer_make(struct context *c, struct knowledge *k, const struct question *q, int64_t N,
                                struct hrun_error *err);

#endif
