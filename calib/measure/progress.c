/* progress.c - progress of measurements on standard error; see progress.h */
#include "progress.h"

#include "budget.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

void progress_start(struct progress *p, const struct context *c, const struct campaign *g)
{
    *p = (struct progress){ .c = c, .g = g, .quiet = c->set->quiet, .tty = isatty(STDERR_FILENO),
                            .total = campaign_left(g, -1), .ended_s = hrun_monotonic_s() };
}

void progress_clear(const struct progress *p)
{
    static const char erase[] = "\r\033[K";

    if (p->tty && write(STDERR_FILENO, erase, sizeof erase - 1) < 0)
        return;
}

/* Append to `name` the sub-cluster of a point, or its configuration if the point is on several; to `out` the rest. */
static void add_point_words(const struct progress *p, const struct point *point, struct hrun_buf *name,
                            struct hrun_buf *out)
{
    if (point->sub >= 0)
        hrun_buf_adds(name, p->c->cluster->subs[point->sub].name);
    else
        hrun_buf_adds(name, hrun_config_text(&point->config).s);
    hrun_buf_adds(out, "  ");
    if (!p->c->app->fixed)
        hrun_buf_addf(out, "N=%-8lld ", (long long)point->N);
    hrun_buf_addf(out, "P=%-3d", point->P);
    if (point->sub >= 0)
        hrun_buf_addf(out, " (%s x %d)", hrun_counted(point->config.pes[point->sub], "PE").s,
                      point->config.procs[point->sub]);
    if (point->work > 0)
        hrun_buf_addf(out, " %.10g rows%s", point->work, point->copies ? " each alone" : "");
    if (point->sub < 0 && point->share)
        hrun_buf_adds(out, " unequal shares");
}

double progress_left(const struct progress *p)
{
    const struct budget *b = p->g->budget;
    const struct hrun_design_state *st = b ? hrun_design_state(b->design) : NULL;
    int left = campaign_left(p->g, -1);
    double own;

    if (b && b->limit_s > 0)    /* the design does not include the last run yet */
        return fmax(b->limit_s - (p->c->cluster->platform ? st->spent_s : fmax(st->spent_s, p->busy_s)), 0);
    if (b)
        return p->wall_s > 0 ? st->left_s * p->busy_s / p->wall_s : st->left_s;
    own = campaign_time_left(p->g, -1);
    if (own <= 0 || !left || !p->runs)
        return left ? own : 0;
    /* Simulated time differs from the real time of the simulator. */
    return p->c->cluster->platform ? left * p->busy_s / p->runs : own + left * (p->busy_s - p->wall_s) / p->runs;
}

/* Add a run's real time and its wall time to the sums. */
static void count_run_time(struct progress *p, const struct event *e)
{
    static const double wait_s = 10;    /* a longer pause was a wait for other users' runs */
    double now = hrun_monotonic_s(), pause_s = fmax(now - p->ended_s - e->wall_s, 0);

    p->busy_s += p->c->cluster->platform ? now - p->ended_s : e->wall_s + (pause_s < wait_s ? pause_s : 0);
    p->wall_s += e->wall_s;
    p->runs++;
    p->ended_s = now;
}

/* Append "about 2 min left". Append nothing if the time is not known. "up to": an automatic budget, which the campaign
 * need not use up. "at least", "perhaps": the time is less sure. */
static void add_time_left(const struct progress *p, struct hrun_buf *out)
{
    const struct budget *b = p->g->budget;
    double left = progress_left(p);

    if (left <= 0 || (b && b->finds && hrun_design_state(b->design)->budget_s <= 0))
        return;
    if (b)
        hrun_buf_adds(out, b->limit_s > 0 || b->runs ? "about " : b->finds ? "up to " : "at least ");
    else
        hrun_buf_adds(out, campaign_left_is_sure(p->g) ? "about " : "perhaps ");
    if (left < 1.5)
        hrun_buf_adds(out, "a second");
    else if (left < 60)
        hrun_buf_addf(out, "%.0f s", left);
    else
        hrun_buf_adds(out, hrun_seconds(round(left)).s);
    hrun_buf_adds(out, " left");
}

/* Append the result of chosen runs so far: "the best is found at 3 of 4 sizes, to +- 33 %". */
static void add_settled_sizes(const struct progress *p, struct hrun_buf *out)
{
    const struct hrun_design_state *st = hrun_design_state(p->g->budget->design);

    if (st->sizes && !isnan(st->loss))
        hrun_buf_addf(out, "the best is found at %d of %d sizes, to +- %.2g %%", st->settled, st->sizes,
                      100 * st->interval);
}

/* Append the purpose of a chosen run: "(a first look)". */
static void add_stage(const struct progress *p, struct hrun_buf *out)
{
    static const char *const words[] = {
        [HRUN_DESIGN_SCREEN] = "a first look", [HRUN_DESIGN_CHOICE] = "is it the best?",
        [HRUN_DESIGN_REPEAT] = "once more, to be sure",
    };

    hrun_buf_addf(out, "(%s)", words[hrun_design_state(p->g->budget->design)->stage]);
}

/* Append the text of `add` to a line, unless the line would exceed `columns`. */
static void add_fitting(const struct progress *p, void (*add)(const struct progress *p, struct hrun_buf *out),
                        size_t columns, struct hrun_buf *line)
{
    autorelease(hrun_buf_release) struct hrun_buf more = HRUN_BUF_INIT;

    add(p, &more);
    if (more.len && hrun_text_width(line->data, line->len) + 2 + more.len <= columns)
        hrun_buf_addf(line, "  %s", more.data);
}

/* Print "[ 12/60] amd-core  N=800  P=2 (2 PEs x 1)  running  about 5 s left" before a run, and rewrite it with its time
 * afterwards. On a narrow terminal the name is shortened, then everything but the time left. */
static void show_point(struct progress *p, const struct event *e)
{
    enum { NAME_MIN = 8 };
    autorelease(hrun_buf_release) struct hrun_buf head = HRUN_BUF_INIT, name = HRUN_BUF_INIT, rest = HRUN_BUF_INIT,
                                                  left = HRUN_BUF_INIT, line = HRUN_BUF_INIT;
    int digits = snprintf(NULL, 0, "%d", p->total), begin = e->kind == EVENT_BEGIN;
    int done = p->total - campaign_left(p->g, -1);
    size_t columns = (size_t)hrun_terminal_width(STDERR_FILENO) - 1, others;

    if (!begin)
        count_run_time(p, e);
    if (p->quiet || (begin && !p->tty))
        return;
    if (!p->g->budget) {
        hrun_buf_addf(&head, "[%*d/%d] ", digits, done + begin, p->total);
    } else {        /* the design does not count the run yet */
        hrun_buf_addf(&head, "[%d", hrun_design_state(p->g->budget->design)->runs + 1);
        if (p->g->budget->runs)
            hrun_buf_addf(&head, "/%d", p->g->budget->runs);
        hrun_buf_adds(&head, "] ");
    }
    add_point_words(p, &p->g->v[e->point], &name, &rest);
    hrun_buf_adds(&rest, "  ");
    if (!begin && e->end == RUN_GOOD)
        hrun_buf_adds(&rest, hrun_seconds(e->time_s).s);
    else
        hrun_buf_adds(&rest, begin ? "running" : e->end == RUN_TOO_SHORT ? "too short to tell"
                             : e->end == RUN_TOO_SLOW ? "ended, too slow"
                             : "failed");
    add_fitting(p, add_time_left, SIZE_MAX, &left);
    others = head.len + rest.len + left.len;
    hrun_add_shortened(&head, name.data, columns > others + NAME_MIN ? columns - others : NAME_MIN);
    hrun_buf_adds(&head, rest.data);
    hrun_add_shortened(&line, head.data, columns - left.len);
    hrun_buf_adds(&line, left.data);
    if (p->g->budget) {
        add_fitting(p, add_stage, columns, &line);
        add_fitting(p, add_settled_sizes, columns, &line);
    }
    if (!begin && e->end != RUN_GOOD && e->end != RUN_TOO_SHORT && e->end != RUN_TOO_SLOW)
        hrun_buf_addf(&line, "\n  failed: %s", e->text);
    progress_clear(p);
    fputs(line.data, stderr);
    if (!p->tty || (!begin && e->end != RUN_GOOD))
        fputc('\n', stderr);
    fflush(stderr);
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
        fprintf(stderr, "hrun-calibrate: %s%s %s given up: %s (%s)\n",
                e->sub < p->g->nsubs ? "sub-cluster " : "runs on several sub-clusters",
                e->sub < p->g->nsubs ? p->c->cluster->subs[e->sub].name : "", e->sub < p->g->nsubs ? "is" : "are",
                e->text, p->g->last_failure);
}
