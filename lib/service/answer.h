/* answer.h - what an answer of service.h holds (internal)
 *
 * Invariants: an answer has at least one choice, and the decisions own all that its accessors tell; only documents are
 * made of what its service holds.
 */
#ifndef HRUN_SERVICE_ANSWER_H
#define HRUN_SERVICE_ANSWER_H

#include "service/decide.h"
#include "service/service.h"

struct answer_choice {
    struct decision d;            /* as if its configuration had been asked for */
    char *config;                 /* as a text */
};

struct hrun_answer {
    const struct hrun_service *of;
    struct decision d;            /* what was asked for */
    struct answer_choice *v;
    int n;
    char *json;                   /* made when it is asked for; or NULL */
};

/* The answer to a question, with its alternatives. Errors: those of predict_make. NULL with *err. */
struct hrun_answer *answer_make(struct context *c, const struct question *q, const struct profiles *p,
                                const struct at_size *at, int64_t N, struct hrun_error *err);

#endif
