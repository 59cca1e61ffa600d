/* probe_look.c - looks at the beginning of the real run; see probe.h */
#include "probe.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A look at a command that was never run; of one that was it takes a tenth of its time, but no longer. */
static const double LOOK_S = 5, LOOK_PART = 0.1;
/* Less says nothing: MPI_Init alone takes 0.3 s and more. */
static const double LEAST_S = 0.25;
/* How long the program may take to MPI_Init, beside the look and half of it. */
static const double START_S = 5;
/* How often what was told is read, where many processes tell it. */
static const double ASK_STEP_S = 0.05;
/* What is seen: from the middle of the look, as the beginning is like nothing that follows, in two halves that tell how
 * much it changes. */
enum { FIRST = HRUN_TRACE_SNAPSHOTS / 2, MIDDLE = 3 * HRUN_TRACE_SNAPSHOTS / 4, LAST = HRUN_TRACE_SNAPSHOTS };

/* Why standard input cannot be read a second time; NULL: it can. */
static const char *obstacle_of_input(const struct context *c)
{
    struct stat st;

    if ((c->app && c->app->stdin_text) || fstat(STDIN_FILENO, &st) || S_ISREG(st.st_mode) || S_ISCHR(st.st_mode))
        return NULL;
    return "standard input is a pipe, which cannot be read a second time: name a file, or </dev/null";
}

int look_plan(struct probe *p, const struct work *w, const struct hrun_settings *s, const struct decision *d,
              struct hrun_error *err)
{
    size_t len = (size_t)d->nsubs * sizeof *p->pes;
    const char *why;
    int runs = 0;

    p->pes = malloc(len);
    p->procs = malloc(len);
    if (!p->pes || !p->procs)
        return hrun_fail_nomem(err);
    memcpy(p->pes, d->pes, len);
    memcpy(p->procs, d->procs, len);
    p->P = d->P;
    p->N = d->N;
    p->input_at = lseek(STDIN_FILENO, 0, SEEK_CUR);
    if (probe_ask_open(p, w, s, d, err) || (p->useful && probe_ask_watched(p, w->c, err)))
        return -1;
    if (w->c->problem && w->c->app->fixed)      /* of others runs at all sizes would count */
        p->expected_s = problem_expect(w->c, d->pes, d->procs, &runs);
    p->look_s = s->probe_s > 0 ? s->probe_s : p->expected_s > 0 ? fmin(LOOK_S, LOOK_PART * p->expected_s) : LOOK_S;
    why = w->c->mpi.kind == HRUN_MPI_NONE ? "the program is not linked with MPI"
          : w->tag_output ? "--tag-output marks what would be held back"
          : p->look_s < LEAST_S ? "the run is too short for it" : obstacle_of_input(w->c);
    if (why && !*p->why)
        snprintf(p->why, sizeof p->why, "%s", why);
    if (!p->useful || *p->why)
        p->look_s = 0;
    return 0;
}

static double count_of(const struct hrun_trace_sub *s, const char *name)
{
    for (int i = 0; i < s->ncalls; i++)
        if (!strcmp(s->calls[i].name, name))
            return s->calls[i].count_max;
    return 0;
}

static struct probe_rates rates_of(const struct waits *w)
{
    struct probe_rates r = { 0, 0 };

    for (int i = 0; i < w->nsubs; i++) {
        const struct hrun_trace_sub *s = &w->subs[i];

        if (!s->nranks)
            continue;
        r.collective = fmax(r.collective, count_of(s, HRUN_TRACE_COLLECTIVE) / s->elapsed_s);
        r.sent = fmax(r.sent, count_of(s, HRUN_TRACE_SENT) / s->elapsed_s);
    }
    return r;
}

static int read_window(const struct work *w, int from, int to, struct waits *out, struct hrun_error *err)
{
    waits_init(out);
    out->nsubs = w->c->cluster->nsubs;
    out->subs = calloc((size_t)out->nsubs, sizeof *out->subs);
    if (!out->subs)
        return hrun_fail_nomem(err);
    return waits_window(w->waits, out->nsubs, from, to, out->subs, err);
}

/* Speeds of which the halves say different things are so much less sure. */
static void add_change(struct probing *g, const struct waits *a, const struct waits *b)
{
    double slowest = 0;

    for (int i = 0; i < g->d->nsubs; i++) {
        double x = a->subs[i].compute_s, y = b->subs[i].compute_s;

        if (!(g->v[i].compute_s > 0))
            continue;
        g->v[i].unsure += x + y > 0 ? fabs(x - y) / (x + y) : 0;
        if (g->v[i].compute_s > slowest)
            g->unsure = g->v[i].unsure;
        slowest = fmax(slowest, g->v[i].compute_s);
    }
}

static int look_at_default(struct probing *g, const struct waits *all, double age_s, struct hrun_error *err)
{
    struct waits a, b;
    int rc = -1;

    waits_init(&a);
    waits_init(&b);
    g->p->rates = rates_of(all);
    if (!(g->p->rates.collective + g->p->rates.sent > 0)) {
        snprintf(g->p->kept, sizeof g->p->kept, "its processes do not talk to each other");
        return 0;
    }
    if (!probe_options(g, err) && !read_window(g->w, FIRST, MIDDLE, &a, err) &&
        !read_window(g->w, MIDDLE, LAST, &b, err)) {
        probe_take_watched(g, all);
        add_change(g, &a, &b);
        probe_tell_speeds(g);
        rc = probe_choose_watched(g, age_s, err);
    }
    waits_release(&a);
    waits_release(&b);
    return rc;
}

/* Back to the default. */
static void retreat(struct probe *p, struct decision *d)
{
    size_t len = (size_t)d->nsubs * sizeof *p->pes;

    memcpy(d->pes, p->pes, len);
    memcpy(d->procs, p->procs, len);
    d->P = p->P;
    d->by = BY_DEFAULT;
    p->unlike = 0;
}

/* Does the better configuration do as much as the default did? What cannot be compared does. */
static void look_at_better(struct probe *p, const struct waits *all, struct decision *d)
{
    struct probe_rates now = rates_of(all);
    int by_sent = !(p->rates.collective > 0);
    double before = by_sent ? p->rates.sent : p->rates.collective, after = by_sent ? now.sent : now.collective;

    if (!probe_is_comparable(p, d->P))
        return;
    p->shown = after > 0 ? before / after : INFINITY;
    if (after >= before)
        return;
    snprintf(p->kept, sizeof p->kept, "the other one makes %.3g %s a second in place of %.3g", after,
             by_sent ? "messages" : "collective operations", before);
    retreat(p, d);
}

enum hrun_look look_decide(struct probe *p, const struct work *w, const struct hrun_settings *s, struct decision *d,
                           double age_s, int failed)
{
    struct probing g = { .p = p, .w = w, .s = s, .d = d, .c = w->c };
    struct hrun_error err = { 0 };
    struct waits all;
    int was_unlike = p->unlike, rc;

    waits_init(&all);
    if (failed && !was_unlike)
        return HRUN_LOOK_KEEP;
    if (failed) {
        snprintf(p->kept, sizeof p->kept, "the other one fails");
        retreat(p, d);
        return HRUN_LOOK_END;
    }
    if (age_s < p->look_s || age_s < p->asked_s + ASK_STEP_S)
        return HRUN_LOOK_ON;
    p->asked_s = age_s;
    rc = read_window(w, FIRST, LAST, &all, &err);
    if (!rc && was_unlike)
        look_at_better(p, &all, d);
    else if (!rc)
        rc = look_at_default(&g, &all, age_s, &err);
    probe_release_speeds(&g);
    waits_release(&all);
    if (rc && err.code == HRUN_ENODATA && age_s < 1.5 * p->look_s + START_S)
        return HRUN_LOOK_ON;
    if (rc)
        snprintf(p->kept, sizeof p->kept, "%.200s", err.text);
    return p->unlike == was_unlike ? HRUN_LOOK_KEEP : HRUN_LOOK_END;
}

void look_ended(struct probe *p, const struct work_result *r)
{
    struct stat st;

    p->runs++;
    p->cost_s += r->outcome.wall_s;
    p->asked_s = 0;
    if (!fstat(STDIN_FILENO, &st) && S_ISREG(st.st_mode))
        lseek(STDIN_FILENO, p->input_at, SEEK_SET);
}
