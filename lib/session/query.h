/* query.h - questions that ask for predictions alone, with what is known to answer them
 *
 * Purpose: hrun --dry-run=time and hrun.h; where hrun would start something all the same, as mpirun would, these
 * fail.
 * Invariants: what is known is of one context, which must outlive it; its application is of context.variants_of, if
 * that has variants of which none was named, each in turn: context.app is the one that was asked last.
 */
#ifndef HRUN_SERVICE_QUERY_H
#define HRUN_SERVICE_QUERY_H

#include "session/decide.h"

/* Sizes N that are kept: so many questions at a time take turns without reading logs again. */
enum { KNOWN_SIZES = 16 };

struct known_app {
    struct hrun_app *app;         /* the context's */
    struct profiles known;
    struct at_size sizes[KNOWN_SIZES]; /* .N = 0: none */
    int oldest;
};

struct knowledge {
    struct known_app *v;
    int n;                        /* 1, or the definition's variants; 0: no application is known */
};

/* Load the profiles of the context's application. Errors: those of profiles_load. */
int knowledge_load(struct context *c, struct knowledge *out, struct hrun_error *err);
void knowledge_release(struct knowledge *k);

/* Of loaded profiles of which none can be used: fails with HRUN_ENODATA, or the code of what is unreadable, and says
 * why: the first reason that tells more than that there is none. */
int profiles_none(const struct context *c, const struct profiles *p, struct hrun_error *err);

/* decision_make for N >= 1 of which the time is predicted; of several variants for the best one as variants_choose has
 * it. *app: of which application it is (NULL: nothing is said). Errors: also HRUN_ENODATA (no profile, or none for what
 * is asked; says of which sub-cluster and why), HRUN_ENOENT (no application is known). */
int knowledge_ask(struct context *c, struct knowledge *k, const struct question *q, int64_t N, struct decision *out,
                  struct known_app **app, struct hrun_error *err);
/* The same of the application that was asked last. */
int known_app_ask(struct context *c, struct known_app *a, const struct question *q, int64_t N, struct decision *out,
                  struct hrun_error *err);

/* Append the document of such a decision (document.h), which has no command. Errors: those of placement_choose and
 * lib/layout. */
int predict_document(struct context *c, const struct known_app *a, const struct decision *d,
                     struct hrun_buf *out, struct hrun_error *err);

#endif
