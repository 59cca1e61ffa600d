/* mpi_waits.c - the time that ranks spend inside MPI; see mpi_waits.h for the contracts */
#include "session/mpi_waits.h"

#include "base/alloc.h"
#include "base/config.h"
#include "base/file.h"
#include "base/units.h"
#include "session/work.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- the lines of libhrun-trace.so */

static const double NS = 1e-9;

/* Least difference of times inside MPI that counts, relative to the run. Equal runs on one idle host differ by 0.5 to
 * 1.5 %. */
static const double MARGIN = 0.02;

struct wait_reader {
    const int *sub;             /* [nranks]: sub-cluster of each rank */
    int nranks;
    struct wait_rank {
        unsigned long long elapsed_ns, mpi_ns, cost_ns, own_ns;
        double ncalls;          /* sum over all functions */
        int reported;
    } *ranks;
    struct wait_function {
        char name[HRUN_TRACE_NAME];
        double ns[HRUN_SUBS_MAX];   /* sum over the ranks of each sub-cluster */
    } *functions;
    int nfunctions, functions_cap;
    unsigned long long lines;   /* read so far */
    int begun, ended;
};

static void release_reader(struct wait_reader *r)
{
    free(r->ranks);
    free(r->functions);
}

/* Result: 0, or -1 if the library cannot have written this. */
static int add_calls(struct wait_reader *r, int rank, const char *name, unsigned long long count, unsigned long long ns)
{
    int f = 0;

    if (rank < 0 || rank >= r->nranks || !r->ranks[rank].reported)
        return -1;
    while (f < r->nfunctions && strcmp(r->functions[f].name, name))
        f++;
    if (f == r->nfunctions) {
        hrun_grow(r->functions, f + 1, r->functions_cap);
        memset(&r->functions[f], 0, sizeof *r->functions);
        snprintf(r->functions[f].name, sizeof r->functions->name, "%s", name);
        r->nfunctions++;
    }
    r->functions[f].ns[r->sub[rank]] += (double)ns;
    r->ranks[rank].ncalls += (double)count;
    return 0;
}

/* Read a record (base/trace_lines.h). Result: as add_calls. */
static int read_record(struct wait_reader *r, const char *record)
{
    struct wait_rank v = { .reported = 1 };
    unsigned long long count, ns;
    char name[HRUN_TRACE_NAME];
    int rank, n, used = 0;

    if (r->ended)
        return -1;
    if (!r->begun) {
        r->begun = sscanf(record, "b,%d%n", &n, &used) == 1 && !record[used] && n == r->nranks;
        return r->begun ? 0 : -1;
    }
    if (sscanf(record, "r,%d,%llu,%llu,%llu,%llu%n", &rank, &v.elapsed_ns, &v.mpi_ns, &v.cost_ns, &v.own_ns,
               &used) == 5 && !record[used]) {
        if (rank < 0 || rank >= r->nranks || r->ranks[rank].reported || v.mpi_ns > v.elapsed_ns)
            return -1;
        r->ranks[rank] = v;
        return 0;
    }
    if (sscanf(record, "c,%d,%47[A-Za-z0-9_],%llu,%llu%n", &rank, name, &count, &ns, &used) == 4 && !record[used])
        return add_calls(r, rank, name, count, ns);
    r->ended = sscanf(record, "e,%llu%n", &count, &used) == 1 && !record[used] && count == r->lines;
    return r->ended ? 0 : -1;
}

/* Read the records of a line "BODY CHECK". Result: as add_calls. */
static int read_wait_line(struct wait_reader *r, const char *line, size_t len)
{
    char body[HRUN_TRACE_LINE], check[16], *save = NULL;
    int rc = 0;

    if (len < 10 || len >= sizeof body || line[len - 9] != ' ' || memchr(line, 0, len))
        return -1;
    snprintf(check, sizeof check, "%08lx", (unsigned long)hrun_trace_check(line, len - 9));
    if (memcmp(check, line + len - 8, 8))
        return -1;
    memcpy(body, line, len - 9);
    body[len - 9] = 0;
    for (char *record = strtok_r(body, ";", &save); record && !rc; record = strtok_r(NULL, ";", &save))
        rc = read_record(r, record);
    r->lines++;
    return rc;
}

static void add_wait_rank(const struct wait_rank *r, struct waits_sub *s)
{
    double compute_s = (double)(r->elapsed_ns - r->mpi_ns) * NS, mpi_s = (double)r->mpi_ns * NS;

    s->compute_s = fmax(s->compute_s, compute_s);
    s->mpi_s = s->nranks ? fmin(s->mpi_s, mpi_s) : mpi_s;
    s->compute_mean_s += compute_s;
    s->mpi_mean_s += mpi_s;
    s->elapsed_s += (double)r->elapsed_ns * NS;
    if (r->elapsed_ns)
        s->overhead = fmax(s->overhead, r->ncalls * (double)r->cost_ns / (double)r->elapsed_ns);
    s->setup_s = fmax(s->setup_s, (double)r->own_ns * NS);
    s->nranks++;
}

/* Insert the function into s->calls, if its time is among the largest. */
static void add_wait_function(const struct wait_function *f, int sub, struct waits_sub *s)
{
    double time_s = f->ns[sub] * NS / s->nranks;
    int at = WAITS_CALLS;

    while (at > 0 && s->calls[at - 1].time_s < time_s)
        at--;
    if (at == WAITS_CALLS)
        return;
    memmove(&s->calls[at + 1], &s->calls[at], (size_t)(WAITS_CALLS - 1 - at) * sizeof *s->calls);
    memcpy(s->calls[at].name, f->name, sizeof f->name);
    s->calls[at].time_s = time_s;
}

int waits_parse(const struct hrun_buf *text, const int *sub, int nranks, struct waits_sub *subs, int nsubs,
                struct hrun_error *err)
{
    const char *lines = text->data;
    size_t len = text->len;
    autorelease(release_reader) struct wait_reader r = { .sub = sub, .nranks = nranks };

    if (!len)
        return hrun_fail(err, HRUN_ENODATA, "the run told nothing");
    r.ranks = xcalloc((size_t)nranks, sizeof *r.ranks);
    for (const char *end; len; len -= (size_t)(end - lines) + 1, lines = end + 1) {
        end = memchr(lines, '\n', len);
        if (!end || read_wait_line(&r, lines, (size_t)(end - lines)))
            return hrun_fail(err, HRUN_ECORRUPT, "line %llu of what the ranks told is damaged, or of other ranks",
                             r.lines);
    }
    for (int i = 0; i < nranks; i++)
        if (!r.ended || !r.ranks[i].reported)
            return hrun_fail(err, HRUN_ECORRUPT, "what the ranks told is not complete");
    for (int i = 0; i < nranks; i++)
        add_wait_rank(&r.ranks[i], &subs[sub[i]]);
    for (int i = 0; i < nsubs; i++) {
        struct waits_sub *s = &subs[i];

        if (!s->nranks)
            continue;
        s->compute_mean_s /= s->nranks;
        s->mpi_mean_s /= s->nranks;
        s->elapsed_s /= s->nranks;
        for (int f = 0; f < r.nfunctions; f++)
            add_wait_function(&r.functions[f], i, s);
    }
    return 0;
}

int waits_awaited(const struct waits_sub *subs, int n)
{
    int best = -1;

    for (int i = 0; i < n; i++)
        if (subs[i].nranks && (best < 0 || subs[i].mpi_s < subs[best].mpi_s))
            best = i;
    for (int i = 0; i < n; i++)
        if (i != best && subs[i].nranks && subs[i].mpi_s - subs[best].mpi_s <= MARGIN * subs[best].elapsed_s)
            return -1;
    return best;
}

double waits_imbalance(const struct waits_sub *subs, int n)
{
    double most = 0, sum = 0, ranks = 0;

    for (int i = 0; i < n; i++) {
        most = fmax(most, subs[i].compute_s);
        sum += subs[i].compute_mean_s * subs[i].nranks;
        ranks += subs[i].nranks;
    }
    return sum > 0 ? most / (sum / ranks) : 0;
}

void waits_encode(const struct waits_sub *s, struct hrun_buf *out)
{
    hrun_buf_addf(out, "1 ranks=%d elapsed=%.9g compute=%.9g,%.9g mpi=%.9g,%.9g overhead=%.3g,%.3g", s->nranks,
                  s->elapsed_s, s->compute_s, s->compute_mean_s, s->mpi_s, s->mpi_mean_s, s->overhead, s->setup_s);
}

int waits_decode(const char *text, struct waits_sub *out)
{
    struct waits_sub s = { 0 };
    double *const times[] = { &s.elapsed_s, &s.compute_s, &s.compute_mean_s, &s.mpi_s, &s.mpi_mean_s, &s.overhead,
                              &s.setup_s };

    if (!text || sscanf(text, "1 ranks=%d elapsed=%lf compute=%lf,%lf mpi=%lf,%lf overhead=%lf,%lf", &s.nranks,
                        times[0], times[1], times[2], times[3], times[4], times[5], times[6]) < 8 || s.nranks < 1)
        return -1;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (!isfinite(*times[i]) || *times[i] < 0)
            return -1;
    *out = s;
    return 0;
}

/* ---------------------------------------------------------------- tracing a run */

void waits_release(struct waits *w)
{
    free(w->subs);
    free(w->library);
    hrun_buf_release(&w->text);
    *w = (struct waits)WAITS_INIT;
}

/* The reason why the program of a run cannot be traced; NULL: there is none. */
static const char *why_not_traced(const struct waits *w, const struct context *c)
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
    why = why_not_traced(w, c);
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

void waits_report(const struct waits *w, const struct context *c, struct hrun_buf *out)
{
    struct hrun_table *t;
    double overhead = 0, setup_s = 0;
    int used = 0;

    if (!w->subs) {
        hrun_buf_addf(out, "hrun: the time in MPI cannot be measured: %s\n", w->why);
        return;
    }
    t = hrun_table_create("lrrrrl");
    hrun_table_row(t, "sub-cluster", "computes", "at most", "in MPI", "at least", "of its time in");
    for (int i = 0; i < w->nsubs; i++) {
        const struct waits_sub *s = &w->subs[i];
        const double times[] = { s->compute_mean_s, s->compute_s, s->mpi_mean_s, s->mpi_s };
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
        for (int k = 0; k < 4; k++)
            hrun_table_cell(t, "%s", hrun_seconds(times[k]).s);
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
