/* mpi_wait_times.c - the lines of libhrun-trace.so -> times of each sub-cluster, and their text; see mpi_waits.h */
#include "base/alloc.h"
#include "session/mpi_waits.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double NS = 1e-9;

/* One sub-cluster waits less than another when that is more than this part of the run: equal runs on one quiet host
 * differ by 0.5 to 1.5 %. */
static const double MARGIN = 0.02;

/* Functions that a program may call, in all: more than hrun/preloaded/calls.def has. */
enum { FUNCTIONS_MAX = 256 };

struct wait_reader {
    const int *sub;
    struct waits_sub *subs;
    struct wait_rank {
        unsigned long long elapsed_ns, mpi_ns, cost_ns, own_ns;
        double ncalls;        /* of all kinds */
        int reported;
    } *ranks;
    struct wait_function {
        char name[HRUN_TRACE_NAME];
        double *ns;           /* nsubs: all ranks together */
    } functions[FUNCTIONS_MAX];
    double *ns;               /* memory of these */
    int nranks, nsubs, nfunctions;
    unsigned long long lines; /* so far */
    int begun, ended;
};

/* "c,RANK,NAME,COUNT,NS" without the c. 0 or -1. */
static int read_call_record(struct wait_reader *r, const char *words)
{
    unsigned long long count, ns;
    char name[HRUN_TRACE_NAME];
    int rank, used = 0, f = 0;

    if (sscanf(words, "%d,%47[A-Za-z0-9_],%llu,%llu%n", &rank, name, &count, &ns, &used) < 4 || words[used] ||
        rank < 0 || rank >= r->nranks || !r->ranks[rank].reported)
        return -1;
    while (f < r->nfunctions && strcmp(r->functions[f].name, name))
        f++;
    if (f == FUNCTIONS_MAX)
        return -1;
    if (f == r->nfunctions) {
        snprintf(r->functions[f].name, sizeof name, "%s", name);
        r->functions[r->nfunctions++].ns = r->ns + (size_t)f * (size_t)r->nsubs;
    }
    r->functions[f].ns[r->sub[rank]] += (double)ns;
    r->ranks[rank].ncalls += (double)count;
    return 0;
}

static int read_rank_record(struct wait_reader *r, const char *words)
{
    struct wait_rank v = { .reported = 1 };
    int rank, used = 0;

    if (sscanf(words, "%d,%llu,%llu,%llu,%llu%n", &rank, &v.elapsed_ns, &v.mpi_ns, &v.cost_ns, &v.own_ns, &used) < 5 ||
        words[used] || rank < 0 || rank >= r->nranks || r->ranks[rank].reported || v.mpi_ns > v.elapsed_ns)
        return -1;
    r->ranks[rank] = v;
    return 0;
}

static int read_end_record(struct wait_reader *r, const char *words)
{
    unsigned long long lines;
    int used = 0;

    if (sscanf(words, "%llu%n", &lines, &used) < 1 || words[used] || lines != r->lines)
        return -1;
    for (int i = 0; i < r->nranks; i++)
        if (!r->ranks[i].reported)
            return -1;
    r->ended = 1;
    return 0;
}

static int read_record(struct wait_reader *r, const char *record)
{
    int n, used = 0;

    if (!*record || record[1] != ',' || r->ended)
        return -1;
    if (!r->begun) {
        r->begun = sscanf(record, "b,%d%n", &n, &used) == 1 && !record[used] && n == r->nranks;
        return r->begun ? 0 : -1;
    }
    return *record == 'r' ? read_rank_record(r, record + 2) : *record == 'c' ? read_call_record(r, record + 2)
           : *record == 'e' ? read_end_record(r, record + 2) : -1;
}

/* "BODY CHECK" -> its records. -1: not what was written. */
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

/* Keep the function among those that take longest. */
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

static void sum_up_waits(const struct wait_reader *r)
{
    for (int i = 0; i < r->nranks; i++)
        add_wait_rank(&r->ranks[i], &r->subs[r->sub[i]]);
    for (int i = 0; i < r->nsubs; i++) {
        struct waits_sub *s = &r->subs[i];

        if (!s->nranks)
            continue;
        s->compute_mean_s /= s->nranks;
        s->mpi_mean_s /= s->nranks;
        s->elapsed_s /= s->nranks;
        for (int f = 0; f < r->nfunctions; f++)
            add_wait_function(&r->functions[f], i, s);
    }
}

int waits_parse(const struct hrun_buf *text, const int *sub, int nranks, struct waits_sub *subs, int nsubs,
                struct hrun_error *err)
{
    const char *lines = text->data;
    size_t len = text->len;
    autofree struct wait_rank *ranks = xcalloc((size_t)nranks, sizeof *ranks);
    autofree double *ns = xcalloc((size_t)nsubs * FUNCTIONS_MAX, sizeof *ns);
    struct wait_reader r = { .sub = sub, .subs = subs, .ranks = ranks, .ns = ns, .nranks = nranks, .nsubs = nsubs };

    if (!len)
        return hrun_fail(err, HRUN_ENODATA, "the run told nothing");
    for (const char *end; len; len -= (size_t)(end - lines) + 1, lines = end + 1) {
        end = memchr(lines, '\n', len);
        if (!end || read_wait_line(&r, lines, (size_t)(end - lines)))
            return hrun_fail(err, HRUN_ECORRUPT, "line %llu of what the ranks told is damaged, or of other ranks",
                             r.lines);
    }
    if (!r.ended)
        return hrun_fail(err, HRUN_ECORRUPT, "what the ranks told is not complete");
    sum_up_waits(&r);
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
