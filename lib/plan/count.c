/* count.c - the numbers of valid and of excluded configurations
 *
 * Configurations are not enumerated: the number of those with exactly s processes is a convolution over the
 * sub-clusters, and one convolution serves all P with the same usable options.
 */
#include "base/alloc.h"
#include "base/units.h"
#include "plan/space.h"

#include <stdlib.h>
#include <string.h>

/* The number of configurations by their number of processes, for one set of options. */
struct tally {
    unsigned char *set;  /* nopt: options that may be used */
    double *w;           /* top + 1 */
    int known;
};

enum { ALL, MEMORY, USABLE, TALLIES };

struct counter {
    struct plan_space *s;
    int top;             /* largest P of interest */
    double *old, *run;   /* top + 1 each */
    double steps;
    struct tally tallies[TALLIES];
};

/* Cost of one Ti in additions: about ten terms with a multiplication each. */
enum { TIME_STEPS = 16 };

static void counter_release(struct counter *c)
{
    for (int i = 0; i < TALLIES; i++) {
        free(c->tallies[i].set);
        free(c->tallies[i].w);
    }
    free(c->old);
    free(c->run);
}

/* Set w[s] for s = 0..top. run[s] = sum over p = 1..|Gi| of old[s - p M] is computed from run[s - M]. */
static void convolve(struct counter *c, struct tally *t)
{
    const struct plan_space *s = c->s;
    double *w = t->w, *old = c->old, *run = c->run;
    long reach = 0;

    memset(w, 0, ((size_t)c->top + 1) * sizeof *w);
    w[0] = 1;
    for (int i = 0; i < s->nsubs; i++) {
        if (s->subs[i].npes == 0 || s->first[i] == s->first[i + 1])
            continue;
        reach += s->full[s->first[i + 1] - 1];
        reach = reach < c->top ? reach : c->top;
        memcpy(old, w, ((size_t)reach + 1) * sizeof *w);
        for (int o = s->first[i]; o < s->first[i + 1]; o++) {
            long m = s->oracle->options[o].m, beyond = s->full[o] + m;

            if (!t->set[o])
                continue;
            for (long x = 0; x <= reach; x++) {
                run[x] = x < m ? 0 : run[x - m] + old[x - m];
                if (x >= beyond)
                    run[x] -= old[x - beyond];
                w[x] += run[x];
            }
        }
    }
    c->steps += (double)s->nopt * (c->top + 1);
    t->known = 1;
}

/* Number of configurations with P processes whose options all have a state with good[state] at P. */
static double count_at(struct counter *c, struct tally *t, const struct plan_row *row, const unsigned char *good)
{
    int nopt = c->s->nopt, same = t->known;

    for (int o = 0; o < nopt; o++) {
        /* An option with m > P is never used at P, so `in` is arbitrary; 1 lets one convolution serve more rows. */
        unsigned char in = c->s->oracle->options[o].m > row->P || good[row->state[o]];
        same = same && t->set[o] == in;
        t->set[o] = in;
    }
    if (!same)
        convolve(c, t);
    return t->w[row->P];
}

int plan_count(struct plan_space *s, double limit, struct hrun_plan_counts *out, struct hrun_error *err)
{
    static const unsigned char fits[] = { [PLAN_USABLE] = 1, [PLAN_MEMORY] = 0, [PLAN_MODEL] = 1 };
    static const unsigned char works[] = { [PLAN_USABLE] = 1, [PLAN_MEMORY] = 0, [PLAN_MODEL] = 0 };
    struct hrun_plan_counts n = { .total = plan_space_total(s) };
    autorelease(counter_release) struct counter c = { .s = s };
    int only = s->problem->P;

    c.top = only ? only : s->max_P;
    if (only > s->max_P || s->max_P == 0) {
        *out = (struct hrun_plan_counts){ .counted = 1 };
        return 0;
    }
    *out = n;
    /* Sums of whole numbers below 2^53 are exact. */
    c.steps = (double)s->nopt * (c.top + 1) + (double)TIME_STEPS * s->nopt * (only ? 1 : s->max_P);
    if (n.total > (double)HRUN_COUNT_MAX || c.steps > limit)
        return 0;
    c.old = xcalloc((size_t)c.top + 1, sizeof *c.old);
    c.run = xcalloc((size_t)c.top + 1, sizeof *c.run);
    for (int i = 0; i < TALLIES; i++) {
        c.tallies[i].set = xcalloc((size_t)s->nopt + 1, 1);
        c.tallies[i].w = xcalloc((size_t)c.top + 1, sizeof *c.tallies[i].w);
    }
    memset(c.tallies[ALL].set, 1, (size_t)s->nopt);
    convolve(&c, &c.tallies[ALL]);
    for (int P = only ? only : 1; P <= c.top; P++) {
        const struct plan_row *row;
        double all = c.tallies[ALL].w[P], fit, valid;

        if (all == 0)
            continue;
        row = plan_space_row(s, P, err);
        if (!row)
            return -1;
        if (!row->rule) {
            n.excluded_rule += all;
            continue;
        }
        fit = count_at(&c, &c.tallies[MEMORY], row, fits);
        valid = count_at(&c, &c.tallies[USABLE], row, works);
        n.excluded_memory += all - fit;
        n.excluded_model += fit - valid;
        n.valid += valid;
        if (c.steps > limit)
            return 0;
    }
    n.counted = 1;
    if (only)
        n.total = c.tallies[ALL].w[only];
    *out = n;
    return 0;
}

int hrun_plan_count(const struct hrun_plan_problem *problem, double limit, struct hrun_plan_counts *out,
                    struct hrun_error *err)
{
    autorelease(plan_space_release) struct plan_space s;

    return plan_space_init(&s, problem, 0, err) ? -1 : plan_count(&s, limit, out, err);
}
