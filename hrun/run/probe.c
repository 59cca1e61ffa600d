/* probe.c - hrun --probe: its options and the order of its steps; see probe.h for the contracts */
#include "probe.h"

#include "base/alloc.h"
#include "base/units.h"
#include "session/work_passed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int probe_check(const struct hrun_settings *s, struct hrun_error *err)
{
    if (s->probe && !s->N)
        return hrun_fail(err, HRUN_EINVAL, "--probe runs the program at a smaller size first: say which is the real "
                         "one with -N SIZE, and write {N} where it stands among the program's words; where none "
                         "stands there --explore 5%% learns from the runs themselves");
    return 0;
}

/* Set *out to P PEs with one process each: one in each sub-cluster, the others in the order of sub-clusters. */
static void spread_processes(const struct decision *d, int P, struct hrun_config *out)
{
    *out = (struct hrun_config){ .nsubs = d->nsubs };
    for (int i = 0; i < d->nsubs; i++) {
        out->pes[i] = out->procs[i] = d->subs[i].npes > 0;
        P -= out->pes[i];
    }
    for (int i = 0; i < d->nsubs; i++) {
        int more = d->subs[i].npes - out->pes[i] < P ? d->subs[i].npes - out->pes[i] : P;

        out->pes[i] += more;
        P -= more;
    }
}

/* Set p->why and p->apart if the program cannot be traced, as far as this is known before the run. */
static int check_traceable(struct probe *p, const struct context *c, struct hrun_error *err)
{
    struct hrun_layout *l = hrun_layout_create_free(c->cluster, &p->config, c->busy, err);
    struct hrun_job job = { 0 };
    struct waits waits = WAITS_INIT;

    if (!l)
        return -1;
    waits_add_preload(&waits, c, l, &job);
    memcpy(p->why, waits.why, sizeof p->why);
    p->apart = *p->why != 0;
    waits_release(&waits);
    hrun_layout_destroy(l);
    return 0;
}

static void probe_release_speeds(struct probing *g)
{
    for (int i = 0; g->procs && i < g->d->nsubs; i++)
        free(g->procs[i]);
    free(g->procs);
    free(g->v);
}

/* Set p->useful: 0 if no speeds could make another configuration faster than the default. */
static int check_usefulness(struct probe *p, const struct work *w, const struct hrun_settings *s,
                            const struct decision *d, struct hrun_error *err)
{
    struct decision looked_at = *d;
    struct probing g = { .p = p, .w = w, .s = s, .d = &looked_at, .c = w->c };
    int open;

    probe_options(&g);
    open = probe_is_open(&g, err);
    p->useful = open > 0;
    probe_release_speeds(&g);
    return open < 0 ? -1 : 0;
}

int probe_plan(struct probe *p, const struct work *w, const struct hrun_settings *s, const struct decision *d,
               struct hrun_error *err)
{
    struct work unsized = *w;

    unsized.N = 0;             /* a size written as a number is not replaced */
    if (!work_size_is_passed(&unsized))
        return hrun_fail(err, HRUN_EINVAL, "--probe cannot tell the program its size: write {N} where it stands among "
                         "the program's words, in place of the number");
    if (s->probe_N && hrun_check_count("--probe", s->probe_N, 1, d->N, err))
        return -1;
    if (probe_size_choose(w->c, d, s->probe_N, &p->N, &p->P, err))
        return -1;
    spread_processes(d, p->P, &p->config);
    return check_usefulness(p, w, s, d, err) || (p->useful && check_traceable(p, w->c, err)) ? -1 : 0;
}

void probe_release(struct probe *p)
{
    memset(p, 0, sizeof *p);
}

/* Print the speeds with -v. */
static void print_measured_speeds(const struct probing *g)
{
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;

    for (int i = 0; i < g->d->nsubs; i++) {
        if (!(g->v[i].compute_s > 0))
            continue;
        hrun_buf_addf(&b, "hrun: the probe: a process of %s computes %s, unsure by %.2g %%\n",
                      g->c->cluster->subs[i].name, hrun_seconds(g->v[i].compute_s).s, 100 * g->v[i].unsure);
    }
    if (g->s->common.verbose && !g->s->common.quiet)
        fputs(b.data, stderr);
}

int probe_make(struct probe *p, const struct work *w, const struct hrun_settings *s, struct decision *d,
               struct hrun_error *err)
{
    struct probing g = { .p = p, .w = w, .s = s, .d = d, .c = w->c };
    int rc;

    probe_options(&g);
    rc = probe_measure(&g, err);
    if (!rc) {
        print_measured_speeds(&g);
        rc = probe_choose(&g, err);
    }
    probe_release_speeds(&g);
    return rc;
}
