/* sum.c - one sub-cluster of a watched run, and its text; see trace.h */
#include "trace/trace.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double NS = 1e-9;

/* One sub-cluster waits less than another when that is more than this part of the run: equal runs on one quiet host
 * differ by 0.5 to 1.5 %. */
static const double MARGIN = 0.02;

static int longest_first(const void *a, const void *b)
{
    const struct hrun_trace_call *x = a, *y = b;

    return x->time_s != y->time_s ? (x->time_s < y->time_s) - (x->time_s > y->time_s) : strcmp(x->name, y->name);
}

/* What the ranks of sub-cluster i did in function f. Result: 1 if any of them called it. */
static int sum_call(const struct hrun_trace *t, const int *sub, int i, int f, int nranks, struct hrun_trace_call *out)
{
    double count = 0, bytes = 0, ns = 0;

    memset(out, 0, sizeof *out);
    for (int r = 0; r < t->nranks; r++) {
        const struct hrun_trace_count *c = &t->calls[(size_t)f * (size_t)t->nranks + (size_t)r];

        if (sub[r] != i)
            continue;
        count += (double)c->count;
        bytes += (double)c->bytes;
        ns += (double)c->ns;
        out->count_max = fmax(out->count_max, (double)c->count);
        out->bytes_max = fmax(out->bytes_max, (double)c->bytes);
    }
    snprintf(out->name, sizeof out->name, "%s", t->names[f]);
    out->count = count / nranks;
    out->bytes = bytes / nranks;
    out->time_s = ns * NS / nranks;
    return count > 0;
}

static void add_rank(const struct hrun_trace_rank *r, struct hrun_trace_sub *s)
{
    double compute_s = (double)(r->elapsed_ns - r->mpi_ns) * NS, mpi_s = (double)r->mpi_ns * NS;

    s->compute_s = fmax(s->compute_s, compute_s);
    s->mpi_s = s->nranks ? fmin(s->mpi_s, mpi_s) : mpi_s;
    s->compute_mean_s += compute_s;
    s->mpi_mean_s += mpi_s;
    s->elapsed_s += (double)r->elapsed_ns * NS;
    s->peers = fmax(s->peers, (double)r->peers);
    if (r->elapsed_ns)
        s->overhead = fmax(s->overhead, (double)r->ncalls * (double)r->cost_ns / (double)r->elapsed_ns);
    s->setup_s = fmax(s->setup_s, (double)r->own_ns * NS);
    for (int d = 0; d < HRUN_TRACE_DISTANCES; d++) {
        s->sent[d] += (double)r->sent[d];
        s->sent_bytes[d] += (double)r->sent_bytes[d];
    }
    s->nranks++;
}

int hrun_trace_sum(const struct hrun_trace *t, const int *sub, int i, struct hrun_trace_sub *out,
                   struct hrun_error *err)
{
    struct hrun_trace_sub s = { 0 };

    for (int r = 0; r < t->nranks; r++)
        if (sub[r] == i)
            add_rank(&t->ranks[r], &s);
    if (s.nranks) {
        s.compute_mean_s /= s.nranks;
        s.mpi_mean_s /= s.nranks;
        s.elapsed_s /= s.nranks;
        for (int d = 0; d < HRUN_TRACE_DISTANCES; d++) {
            s.sent[d] /= s.nranks;
            s.sent_bytes[d] /= s.nranks;
        }
        s.calls = calloc((size_t)t->ncalls + 1, sizeof *s.calls);
        if (!s.calls)
            return hrun_fail_nomem(err);
        for (int f = 0; f < t->ncalls; f++)
            s.ncalls += sum_call(t, sub, i, f, s.nranks, &s.calls[s.ncalls]);
        qsort(s.calls, (size_t)s.ncalls, sizeof *s.calls, longest_first);
    }
    *out = s;
    return 0;
}

void hrun_trace_sub_release(struct hrun_trace_sub *s)
{
    int saved = errno;

    if (s) {
        free(s->calls);
        memset(s, 0, sizeof *s);
    }
    errno = saved;
}

int hrun_trace_awaited(const struct hrun_trace_sub *subs, int n)
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

double hrun_trace_imbalance(const struct hrun_trace_sub *subs, int n)
{
    double most = 0, sum = 0, ranks = 0;

    for (int i = 0; i < n; i++) {
        most = fmax(most, subs[i].compute_s);
        sum += subs[i].compute_mean_s * subs[i].nranks;
        ranks += subs[i].nranks;
    }
    return sum > 0 ? most / (sum / ranks) : 0;
}

/* ---------------------------------------------------------------- text */

enum { VERSION = 1 };

int hrun_trace_encode(const struct hrun_trace_sub *s, struct hrun_buf *out, struct hrun_error *err)
{
    hrun_buf_addf(out, "%d ranks=%d elapsed=%.9g compute=%.9g,%.9g mpi=%.9g,%.9g overhead=%.3g,%.3g peers=%g sent=",
                  VERSION, s->nranks, s->elapsed_s, s->compute_s, s->compute_mean_s, s->mpi_s, s->mpi_mean_s,
                  s->overhead, s->setup_s, s->peers);
    for (int d = 0; d < HRUN_TRACE_DISTANCES; d++)
        hrun_buf_addf(out, "%s%.12g:%.12g", d ? "," : "", s->sent[d], s->sent_bytes[d]);
    for (int i = 0; i < s->ncalls; i++)
        hrun_buf_addf(out, " %s=%.12g,%.12g:%.12g,%.12g:%.9g", s->calls[i].name, s->calls[i].count,
                      s->calls[i].count_max, s->calls[i].bytes, s->calls[i].bytes_max, s->calls[i].time_s);
    return out->failed ? hrun_fail_nomem(err) : 0;
}

/* A number that is finite and not negative at *p, which then stands behind it and behind `end` (0: none). */
static int number(const char **p, char end, double *out)
{
    char *stop;

    if (!strchr("0123456789", **p) || !**p)
        return -1;
    *out = strtod(*p, &stop);
    if (stop == *p || !isfinite(*out) || (end && *stop != end))
        return -1;
    *p = stop + (end != 0);
    return 0;
}

static int head(const char **p, struct hrun_trace_sub *s)
{
    double version, ranks;
    struct { const char *key; double *v[2]; } const fields[] = {
        { "ranks=", { &ranks, NULL } }, { "elapsed=", { &s->elapsed_s, NULL } },
        { "compute=", { &s->compute_s, &s->compute_mean_s } }, { "mpi=", { &s->mpi_s, &s->mpi_mean_s } },
        { "overhead=", { &s->overhead, &s->setup_s } }, { "peers=", { &s->peers, NULL } },
    };

    if (number(p, ' ', &version) || version != VERSION)
        return -1;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        size_t len = strlen(fields[i].key);

        if (strncmp(*p, fields[i].key, len))
            return -1;
        *p += len;
        if (number(p, fields[i].v[1] ? ',' : ' ', fields[i].v[0]) || (fields[i].v[1] && number(p, ' ', fields[i].v[1])))
            return -1;
    }
    if (ranks < 1 || ranks > 1e9 || ranks != floor(ranks) || strncmp(*p, "sent=", 5))
        return -1;
    s->nranks = (int)ranks;
    *p += 5;
    for (int d = 0; d < HRUN_TRACE_DISTANCES; d++)
        if (number(p, ':', &s->sent[d]) || number(p, d + 1 < HRUN_TRACE_DISTANCES ? ',' : 0, &s->sent_bytes[d]))
            return -1;
    return 0;
}

static int call(const char **p, struct hrun_trace_call *c)
{
    size_t len = strcspn(*p, "= ");

    memset(c, 0, sizeof *c);
    if (!len || len >= sizeof c->name || (*p)[len] != '=')
        return -1;
    memcpy(c->name, *p, len);
    *p += len + 1;
    return number(p, ',', &c->count) || number(p, ':', &c->count_max) || number(p, ',', &c->bytes) ||
           number(p, ':', &c->bytes_max) || number(p, 0, &c->time_s) ? -1 : 0;
}

int hrun_trace_decode(const char *text, struct hrun_trace_sub *out, struct hrun_error *err)
{
    struct hrun_trace_sub s = { 0 };
    const char *p = text ? text : "";
    int blanks = 0, bad = head(&p, &s);

    for (const char *c = p; !bad && *c; c++)
        blanks += *c == ' ';
    s.calls = calloc((size_t)blanks + 1, sizeof *s.calls);
    if (!s.calls)
        return hrun_fail_nomem(err);
    while (!bad && *p == ' ') {
        p++;
        bad = call(&p, &s.calls[s.ncalls]);
        s.ncalls += !bad;
    }
    if (bad || *p) {
        hrun_trace_sub_release(&s);
        return hrun_fail(err, HRUN_ECORRUPT, "the summary of a watched run is damaged: '%.60s'", text ? text : "");
    }
    *out = s;
    return 0;
}
