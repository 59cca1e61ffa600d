/* mpi_waits.c - who waits in a run; see mpi_waits.h for the contracts */
#include "session/mpi_waits.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/units.h"
#include "session/work.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void waits_init(struct waits *w)
{
    memset(w, 0, sizeof *w);
    w->limits = -1;
    hrun_buf_init(&w->text);
}

void waits_release(struct waits *w)
{
    free(w->subs);
    free(w->library);
    hrun_buf_release(&w->text);
    waits_init(w);
}

/* Why this program cannot be watched; NULL: it can. */
static const char *why_not_watched(const struct waits *w, const struct context *c)
{
    if (c->engine->simulated)
        return "simulated programs are not watched";
    if (!w->library && c->mpi.kind == HRUN_MPI_MPICH)
        return "libhrun-trace-mpich.so is not where hrun is installed (it is built where mpicc.mpich is)";
    if (!w->library)
        return "libhrun-trace.so is not where hrun is installed (make install)";
    return NULL;
}

void waits_add_preload(struct waits *w, const struct context *c, const struct hrun_layout *l, struct hrun_job *job)
{
    const char *why;

    waits_release(w);
    w->library = hrun_installed_library(c->mpi.kind == HRUN_MPI_MPICH ? "libhrun-trace-mpich.so" : "libhrun-trace.so");
    why = why_not_watched(w, c);
    if (why) {
        snprintf(w->why, sizeof w->why, "%s", why);
        return;
    }
    snprintf(w->ranks, sizeof w->ranks, "%d", l->nranks);
    job->preloads.v[job->preloads.n++] = (struct hrun_preload){ w->library, HRUN_TRACE_VARIABLE, w->ranks };
    job->output.trace_text = &w->text;
}

void waits_read(struct waits *w, const struct context *c, const struct hrun_layout *l)
{
    autofree int *sub = xcalloc((size_t)l->nranks, sizeof *sub);
    struct hrun_error why = { 0 };

    if (w->why[0])
        return;
    w->nsubs = c->cluster->nsubs;
    w->subs = xcalloc((size_t)w->nsubs, sizeof *w->subs);
    for (int r = 0; r < l->nranks; r++)
        sub[r] = l->ranks[r].sub;
    if (!waits_parse(&w->text, sub, l->nranks, w->subs, w->nsubs, &why)) {
        w->limits = waits_awaited(w->subs, w->nsubs);
        return;
    }
    free(w->subs);
    w->subs = NULL;
    snprintf(w->why, sizeof w->why, "%.400s", why.code != HRUN_ENODATA ? why.text
             : c->mpi.kind == HRUN_MPI_NONE ? "the program is not linked with MPI"
             : "its processes told nothing: the program is linked with MPI statically, or closes its standard "
               "error, or its hosts have no hrun");
}

/* ---------------------------------------------------------------- the report */

static void add_seconds_cell(struct hrun_table *t, double seconds)
{
    hrun_table_cell(t, "%s", hrun_seconds(seconds).s);
}

void waits_report(const struct waits *w, const struct context *c, struct hrun_buf *out)
{
    struct hrun_table *t;
    double overhead = 0, setup_s = 0;
    int used = 0;

    if (!w->subs) {
        hrun_buf_addf(out, "hrun: who waits is not known: %s\n", w->why);
        return;
    }
    t = hrun_table_create("lrrrrl");
    hrun_table_row(t, "sub-cluster", "computes", "at most", "in MPI", "at least", "of its time in");
    for (int i = 0; i < w->nsubs; i++) {
        const struct waits_sub *s = &w->subs[i];
        autorelease(hrun_buf_release) struct hrun_buf calls = HRUN_BUF_INIT;

        if (!s->nranks)
            continue;
        used++;
        overhead = fmax(overhead, s->overhead);
        setup_s = fmax(setup_s, s->setup_s);
        for (int k = 0; k < WAITS_CALLS && s->calls[k].name[0]; k++)
            hrun_buf_addf(&calls, "%s%s %.1f %%", k ? ", " : "", s->calls[k].name,
                          s->elapsed_s > 0 ? 100 * s->calls[k].time_s / s->elapsed_s : 0.0);
        hrun_table_cell(t, "%s", c->cluster->subs[i].name);
        add_seconds_cell(t, s->compute_mean_s);
        add_seconds_cell(t, s->compute_s);
        add_seconds_cell(t, s->mpi_mean_s);
        add_seconds_cell(t, s->mpi_s);
        hrun_table_cell(t, "%s", calls.data);
    }
    if (used > 1 && w->limits < 0)
        hrun_buf_adds(out, "hrun: no sub-cluster waits clearly less than the others; ");
    else if (used > 1)
        hrun_buf_addf(out, "hrun: the others wait for %s; ", c->cluster->subs[w->limits].name);
    else
        hrun_buf_adds(out, "hrun: ");
    hrun_buf_addf(out, "the busiest process computes %.2f times as long as the mean one; watching took about %.*f %% "
                  "of the time, and %s in MPI_Init\n", waits_imbalance(w->subs, w->nsubs), overhead < 0.01 ? 3 : 0,
                  100 * overhead, hrun_seconds(setup_s).s);
    hrun_table_render(t, 2, out);
    hrun_table_destroy(t);
}
