/* progress.c - what hrun-calibrate shows while it measures; see progress.h */
#include "progress.h"

#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int progress_start(struct progress *p, const struct context *c, const struct campaign *g, int parallel,
                   struct hrun_error *err)
{
    memset(p, 0, sizeof *p);
    p->c = c;
    p->g = g;
    p->quiet = c->set->quiet;
    p->parallel = parallel;
    p->tty = isatty(STDERR_FILENO);
    p->total = campaign_left(g, -1);
    p->running = malloc((size_t)g->ngroups * sizeof *p->running);
    if (!p->running)
        return hrun_fail_nomem(err);
    for (int i = 0; i < g->ngroups; i++)
        p->running[i] = -1;
    return 0;
}

void progress_end(struct progress *p)
{
    progress_clear(p);
    free(p->running);
    p->running = NULL;
}

void progress_clear(const struct progress *p)
{
    if (p->tty)
        fputs("\r\033[K", stderr);
}

static void add_point(const struct progress *p, int i, struct hrun_buf *out)
{
    const struct point *point = &p->g->v[i];

    hrun_buf_addf(out, "%s  N=%-8lld P=%-3d (%d PE%s x %d)", p->c->cluster->subs[point->sub].name, (long long)point->N,
                  point->pes * point->m, point->pes, point->pes == 1 ? "" : "s", point->m);
}

static void add_running(const struct progress *p, struct hrun_buf *out)
{
    int n = 0;

    for (int k = 0; k < p->g->ngroups; k++) {
        if (p->running[k] < 0)
            continue;
        hrun_buf_adds(out, n++ ? ", " : "");
        if (p->parallel)
            hrun_buf_addf(out, "%s N=%lld P=%d", p->c->cluster->subs[p->g->v[p->running[k]].sub].name,
                          (long long)p->g->v[p->running[k]].N, p->g->v[p->running[k]].pes * p->g->v[p->running[k]].m);
        else
            add_point(p, p->running[k], out);
    }
    hrun_buf_adds(out, "  running");
}

static void add_left(const struct progress *p, struct hrun_buf *out)
{
    double left = p->parallel ? campaign_time_left_parallel(p->g) : campaign_time_left(p->g, -1);

    if (left <= 0 || !campaign_left(p->g, -1))
        return;
    hrun_buf_adds(out, "   about ");
    if (left < 1)
        hrun_buf_adds(out, "a second");
    else
        hrun_add_seconds(out, round(left));
    hrun_buf_adds(out, " left");
}

/* "[ 12/60] amd-core  N=800  P=2 (2 PEs x 1)": before a run, rewritten afterwards with its time. */
static void show_point(struct progress *p, const struct event *e)
{
    struct hrun_buf out = HRUN_BUF_INIT;
    int width = snprintf(NULL, 0, "%d", p->total), begin = e->kind == EVENT_BEGIN;
    int done = p->total - campaign_left(p->g, -1);

    p->running[p->g->group[p->g->v[e->point].sub]] = begin ? e->point : -1;
    if (p->quiet || (begin && !p->tty))
        return;
    hrun_buf_addf(&out, "[%*d/%d] ", width, done + begin, p->total);
    if (begin) {
        add_running(p, &out);
    } else {
        add_point(p, e->point, &out);
        hrun_buf_adds(&out, "  ");
        if (e->ok)
            hrun_add_seconds(&out, e->time_s);
        else
            hrun_buf_addf(&out, "failed: %s", e->text);
    }
    add_left(p, &out);
    progress_clear(p);
    if (!out.failed)
        fputs(out.data, stderr);
    if (!p->tty || (!begin && !e->ok))
        fputc('\n', stderr);
    fflush(stderr);
    hrun_buf_release(&out);
}

void progress_show(void *progress, const struct event *e)
{
    struct progress *p = progress;

    if (e->kind == EVENT_BEGIN || e->kind == EVENT_RUN) {
        show_point(p, e);
        return;
    }
    progress_clear(p);
    if (e->kind == EVENT_WORDS)
        fprintf(stderr, "hrun-calibrate: %s\n", e->text);
    else
        fprintf(stderr, "hrun-calibrate: sub-cluster %s is given up: %s (%s)\n", p->c->cluster->subs[e->sub].name,
                e->text, p->g->last_failure);
}
