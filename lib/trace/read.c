/* read.c - the lines of libhrun-trace.so; see trace.h and wire.h */
#include "trace/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Functions that a program may call, in all: far more than hrun/preloaded/calls.def has. */
enum { CALLS_MAX = 512, WORDS_MAX = 8 };

int hrun_trace_places(const int *sub, const int *pe, int nranks, struct hrun_buf *out, struct hrun_error *err)
{
    int m;

    for (int first = 0, last; first < nranks; first = last + 1) {
        for (m = 1; first + m < nranks && sub[first + m] == sub[first] && pe[first + m] == pe[first]; m++)
            ;
        /* As far as PEs follow each other with m ranks on each; the last one may have fewer. */
        for (last = first; last + 1 < nranks && sub[last + 1] == sub[first] &&
                           pe[last + 1] == pe[first] + (last + 1 - first) / m; last++)
            ;
        hrun_buf_addf(out, "%s%d-%d:%d:%d:%d", first ? ";" : "", first, last, sub[first], pe[first], m);
    }
    return out->failed ? hrun_fail_nomem(err) : 0;
}

struct reader {
    struct hrun_trace *t;
    int wanted;               /* ranks */
    uint64_t lines;           /* so far */
    int begun, ended;
};

/* A record in words, each ending with 0. */
struct record {
    const char *word[WORDS_MAX];
    int n;
};

static int number(const char *word, uint64_t max, uint64_t *out)
{
    char *end;

    if (!word[0] || word[strspn(word, "0123456789")])
        return -1;
    errno = 0;
    *out = strtoull(word, &end, 10);
    return errno || *out > max ? -1 : 0;
}

/* Numbers of the words from first on; the first of them is a rank. */
static int numbers(const struct reader *r, const struct record *rec, int first, int n, uint64_t *out)
{
    if (rec->n != first + n)
        return -1;
    for (int i = 0; i < n; i++)
        if (number(rec->word[first + i], UINT64_MAX, &out[i]))
            return -1;
    return r->begun ? 0 : -1;
}

static int rank_of(const struct reader *r, const struct record *rec, int *rank)
{
    uint64_t v;

    if (rec->n < 2 || !r->begun || number(rec->word[1], (uint64_t)r->t->nranks - 1, &v))
        return -1;
    *rank = (int)v;
    return 0;
}

static int take_begin(struct reader *r, const struct record *rec)
{
    uint64_t version, n;

    if (r->begun || rec->n != 3 || number(rec->word[1], HRUN_TRACE_VERSION, &version) ||
        version != HRUN_TRACE_VERSION || number(rec->word[2], (uint64_t)r->wanted, &n) || n != (uint64_t)r->wanted)
        return -1;
    r->begun = 1;
    return 0;
}

static int take_rank(struct reader *r, const struct record *rec)
{
    uint64_t v[5];
    int rank;

    if (rank_of(r, rec, &rank) || numbers(r, rec, 2, 5, v) || r->t->ranks[rank].reported || v[1] > v[0])
        return -1;
    r->t->ranks[rank].reported = 1;
    r->t->ranks[rank].elapsed_ns = v[0];
    r->t->ranks[rank].mpi_ns = v[1];
    r->t->ranks[rank].peers = v[2];
    r->t->ranks[rank].cost_ns = v[3];
    r->t->ranks[rank].own_ns = v[4];
    return 0;
}

static int take_distance(struct reader *r, const struct record *rec)
{
    uint64_t v[3];
    int rank;

    if (rank_of(r, rec, &rank) || numbers(r, rec, 2, 3, v) || v[0] >= HRUN_TRACE_DISTANCES)
        return -1;
    r->t->ranks[rank].sent[v[0]] = v[1];
    r->t->ranks[rank].sent_bytes[v[0]] = v[2];
    return 0;
}

/* Index of a function; -1: it has no name, or there are too many; -2: no memory. */
static int function_of(struct hrun_trace *t, const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    size_t n = (size_t)t->ncalls, ranks = (size_t)t->nranks;
    char (*names)[HRUN_TRACE_NAME];
    struct hrun_trace_count *calls;

    for (int i = 0; i < t->ncalls; i++)
        if (!strcmp(t->names[i], name))
            return i;
    if (!name[0] || name[strspn(name, letters)] || strlen(name) >= HRUN_TRACE_NAME || t->ncalls == CALLS_MAX)
        return -1;
    names = realloc(t->names, (n + 1) * sizeof *names);
    if (!names)
        return -2;
    t->names = names;
    calls = realloc(t->calls, (n + 1) * ranks * sizeof *calls);
    if (!calls)
        return -2;
    t->calls = calls;
    snprintf(names[n], HRUN_TRACE_NAME, "%s", name);
    memset(calls + n * ranks, 0, ranks * sizeof *calls);
    return t->ncalls++;
}

static int take_call(struct reader *r, const struct record *rec)
{
    uint64_t v[3];
    int rank, f;

    if (rank_of(r, rec, &rank) || numbers(r, rec, 3, 3, v) || (f = function_of(r->t, rec->word[2])) == -1)
        return -1;
    if (f < 0)
        return -2;
    r->t->calls[(size_t)f * (size_t)r->t->nranks + (size_t)rank] = (struct hrun_trace_count){ v[0], v[1], v[2] };
    r->t->ranks[rank].ncalls += v[0];
    return 0;
}

static int take_end(struct reader *r, const struct record *rec)
{
    uint64_t lines;

    if (!r->begun || rec->n != 2 || number(rec->word[1], UINT64_MAX, &lines) || lines != r->lines)
        return -1;
    for (int i = 0; i < r->t->nranks; i++)
        if (!r->t->ranks[i].reported)
            return -1;
    r->ended = 1;
    return 0;
}

static int take_record(struct reader *r, char *text)
{
    static const struct { const char *kind; int (*take)(struct reader *r, const struct record *rec); } kinds[] = {
        { "b", take_begin }, { "r", take_rank }, { "d", take_distance }, { "c", take_call }, { "e", take_end },
    };
    struct record rec = { .n = 0 };
    char *save = NULL;

    for (char *w = strtok_r(text, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
        if (rec.n == WORDS_MAX)
            return -1;
        rec.word[rec.n++] = w;
    }
    for (size_t i = 0; rec.n && !r->ended && i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].kind, rec.word[0]))
            return kinds[i].take(r, &rec);
    return -1;
}

/* "BODY CHECK" -> its body, of at most HRUN_TRACE_LINE bytes. -1: not what was written. */
static int check_line(const char *line, size_t len, char *body)
{
    char check[16];

    if (len < 10 || len >= HRUN_TRACE_LINE || line[len - 9] != ' ' || memchr(line, 0, len))
        return -1;
    snprintf(check, sizeof check, "%08lx", (unsigned long)hrun_trace_check(line, len - 9));
    if (memcmp(check, line + len - 8, 8))
        return -1;
    memcpy(body, line, len - 9);
    body[len - 9] = 0;
    return 0;
}

/* Its records. -1: not what was written; -2: no memory. */
static int take_line(struct reader *r, const char *line, size_t len)
{
    char body[HRUN_TRACE_LINE], *save = NULL;
    int rc = 0;

    if (check_line(line, len, body))
        return -1;
    for (char *rec = strtok_r(body, ";", &save); rec && !rc; rec = strtok_r(NULL, ";", &save))
        rc = take_record(r, rec);
    r->lines++;
    return rc;
}

struct hrun_trace *hrun_trace_read(const char *lines, size_t len, int nranks, struct hrun_error *err)
{
    struct hrun_trace *t = NULL;
    struct reader r = { .wanted = nranks };
    const char *end;
    int rc = 0;

    if (!len || nranks < 1) {
        hrun_fail(err, HRUN_ENODATA, "the run told nothing");
        return NULL;
    }
    t = calloc(1, sizeof *t);
    if (t)
        t->ranks = calloc((size_t)nranks, sizeof *t->ranks);
    if (!t || !t->ranks)
        goto nomem;
    t->nranks = nranks;
    r.t = t;
    for (; len && !rc; len -= (size_t)(end - lines) + 1, lines = end + 1) {
        end = memchr(lines, '\n', len);
        rc = end ? take_line(&r, lines, (size_t)(end - lines)) : -1;
        if (!end)
            break;
    }
    if (rc == -2)
        goto nomem;
    if (!rc && r.ended)
        return t;
    if (rc)
        hrun_fail(err, HRUN_ECORRUPT, "line %llu of what the ranks told is damaged, or of other ranks",
                  (unsigned long long)r.lines);
    else
        hrun_fail(err, HRUN_ECORRUPT, "what the ranks told is not complete");
    hrun_trace_destroy(t);
    return NULL;
nomem:
    hrun_fail_nomem(err);
    hrun_trace_destroy(t);
    return NULL;
}

void hrun_trace_destroy(struct hrun_trace *t)
{
    int saved = errno;

    if (t) {
        free(t->ranks);
        free(t->names);
        free(t->calls);
        free(t);
    }
    errno = saved;
}
