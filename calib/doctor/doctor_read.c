/* doctor_read.c - read the records of doctor from text; see doctor.h */
#include "doctor.h"
#include "base/alloc.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    struct doctor_data *d;
    const char *name;
    int line;
    char *at;                      /* rest of the line */
    struct hrun_error *err;
};

/* ---------------------------------------------------------------- fields */

static int fail_record(struct reader *r, const char *what)
{
    return hrun_fail_at(r->err, HRUN_EPARSE, r->name, r->line, 0, "%s", what);
}

static char *next_record_word(struct reader *r)
{
    char *begin = r->at + strspn(r->at, " "), *end = begin + strcspn(begin, " ");

    r->at = *end ? end + 1 : end;
    *end = 0;
    return begin;
}

/* Read a whole number in 0..max-1. */
static int read_index(struct reader *r, int max, int *out)
{
    char *text = next_record_word(r), *end;
    long v;

    errno = 0;
    v = strtol(text, &end, 10);
    if (!*text || *end || errno || v < 0 || v >= max)
        return fail_record(r, "a whole number here is missing or out of range");
    *out = (int)v;
    return 0;
}

static int read_number(struct reader *r, double *out)
{
    char *text = next_record_word(r), *end;

    *out = strtod(text, &end);
    return !*text || *end || !isfinite(*out) ? fail_record(r, "a number here is missing or not finite") : 0;
}

static int read_time(struct reader *r, double *out)
{
    return read_number(r, out) ? -1 : *out <= 0 ? fail_record(r, "a time is not above 0") : 0;
}

static int read_times(struct reader *r, struct doctor_times *t)
{
    size_t most = strlen(r->at) / 2 + 1;   /* a number has at least a digit and a blank */

    free(t->v);
    t->n = 0;
    t->v = xmalloc(most * sizeof *t->v);
    for (r->at += strspn(r->at, " "); *r->at; r->at += strspn(r->at, " "))
        if (read_time(r, &t->v[t->n++]))
            return -1;
    return t->n ? 0 : fail_record(r, "there is no time here");
}

/* ---------------------------------------------------------------- records */

/* Append a zeroed element of `size` bytes to a list of *n. Result: its address. */
static void *add_zeroed(void *list, int *n, size_t size)
{
    char **v = list;

    if (!(*n & (*n - 1)))          /* full at 0, 1, 2, 4, 8, ... */
        *v = xrealloc(*v, size * (size_t)(*n ? *n * 2 : 1));
    memset(*v + size * (size_t)*n, 0, size);
    return *v + size * (size_t)(*n)++;
}

/* The functions from here to check_probe_version return the object that a record's fields are stored in; NULL after a
 * failure. */

static void *add_sub(struct reader *r)
{
    int index;

    if (read_index(r, INT_MAX, &index) || (index != r->d->nsubs && fail_record(r, "sub-clusters are not in order")))
        return NULL;
    return add_zeroed(&r->d->subs, &r->d->nsubs, sizeof *r->d->subs);
}

static void *add_rank(struct reader *r)
{
    struct doctor_rank *k;
    int index;

    if (read_index(r, INT_MAX, &index) || (index != r->d->nranks && fail_record(r, "processes are not in order")))
        return NULL;
    k = add_zeroed(&r->d->ranks, &r->d->nranks, sizeof *k);
    k->busy = k->stolen = k->clock_offset = k->clock_error = NAN;
    return k;
}

static void *find_rank(struct reader *r)
{
    int rank;

    return read_index(r, r->d->nranks, &rank) ? NULL : &r->d->ranks[rank];
}

static void *add_fact_record(struct reader *r)
{
    struct doctor_rank *k = find_rank(r);

    return k ? add_zeroed(&k->facts, &k->nfacts, sizeof *k->facts) : NULL;
}

static void *add_process(struct reader *r)
{
    return add_zeroed(&r->d->processes, &r->d->nprocesses, sizeof *r->d->processes);
}

static void *add_trip(struct reader *r)
{
    return add_zeroed(&r->d->trips, &r->d->ntrips, sizeof *r->d->trips);
}

static void *add_alltoall(struct reader *r)
{
    struct doctor_messages *m = add_zeroed(&r->d->alltoall, &r->d->nalltoall, sizeof *m);

    m->a = m->b = -1;
    return m;
}

static void *add_library(struct reader *r)
{
    hrun_strvec_push(&r->d->libraries, r->at);
    return r->d;
}

static void *find_data(struct reader *r)
{
    return r->d;
}

static void *check_probe_version(struct reader *r)
{
    int version;

    return read_index(r, INT_MAX, &version) ||
           (version != 1 && fail_record(r, "these records are of another version of hrun-probe")) ? NULL : r->d;
}

/* first = 1: may precede the line "hrun-probe 1". fields: types of the object's members at offsets `at`: i a number
 * from 0, r a rank, s a sub-cluster, d a number, p a time, t times, w a word, x the rest of the line. */
static const struct record_kind {
    const char *word;
    int first;
    void *(*object)(struct reader *r);
    const char *fields;
    size_t at[6];
} record_kinds[] = {
#define RANK(member) offsetof(struct doctor_rank, member)
#define MESSAGES(member) offsetof(struct doctor_messages, member)
    { "sub", 1, add_sub, "ix", { offsetof(struct doctor_sub, pus), offsetof(struct doctor_sub, name) } },
    { "rank", 1, add_rank, "six", { RANK(sub), RANK(pe), RANK(host_name) } },
    { "library", 1, add_library, "", { 0 } },
    { "hrun-probe", 1, check_probe_version, "", { 0 } },
    { "fact", 1, add_fact_record, "wx", { offsetof(struct doctor_fact, key), offsetof(struct doctor_fact, value) } },
    { "kernel", 0, find_rank, "t", { RANK(kernel) } },
    { "noise", 0, find_rank, "ipdddd", { RANK(quanta), RANK(least), RANK(mean), RANK(median), RANK(p99), RANK(most) } },
    { "clock", 0, find_rank, "dd", { RANK(clock_offset), RANK(clock_error) } },
    { "pairs", 0, find_data, "ii", { offsetof(struct doctor_data, pairs), offsetof(struct doctor_data, pairs_all) } },
    { "trip", 0, add_trip, "rrdt", { MESSAGES(a), MESSAGES(b), MESSAGES(bytes), MESSAGES(t) } },
    { "alltoall", 0, add_alltoall, "dt", { MESSAGES(bytes), MESSAGES(t) } },
    { "busy", 0, find_rank, "dd", { RANK(busy), RANK(stolen) } },
    { "swapped", 0, find_rank, "d", { RANK(swapped) } },
    { "process", 0, add_process, "ridx", { offsetof(struct doctor_process, rank), offsetof(struct doctor_process, pid),
                                           offsetof(struct doctor_process, share),
                                           offsetof(struct doctor_process, name) } },
};
enum { NKINDS = sizeof record_kinds / sizeof record_kinds[0] };

static int read_record_field(struct reader *r, char field, void *to)
{
    switch (field) {
    case 'i': return read_index(r, INT_MAX, to);
    case 'r': return read_index(r, r->d->nranks, to);
    case 's': return read_index(r, r->d->nsubs, to);
    case 'd': return read_number(r, to);
    case 'p': return read_time(r, to);
    case 't': return read_times(r, to);
    case 'w': *(char **)to = xstrdup(next_record_word(r)); return 0;
    default: *(char **)to = xstrdup(r->at + strspn(r->at, " ")); return 0;
    }
}

static int read_probe_record(struct reader *r, const struct record_kind *kind)
{
    char *object = kind->object(r);

    for (size_t k = 0; object && kind->fields[k]; k++)
        if (read_record_field(r, kind->fields[k], object + kind->at[k]))
            return -1;
    return object ? 0 : -1;
}

int doctor_read(const char *name, const char *text, struct doctor_data *out, struct hrun_error *err)
{
    struct doctor_data d = { 0 };
    struct reader r = { .d = &d, .name = name, .err = err };
    autofree char *copy = xstrdup(text);
    char *save, *line;
    int rc = 0, begun = 0, ended = 0;

    for (save = copy; !rc && !ended && (line = strsep(&save, "\n")); ) {
        size_t k = 0;
        char *what;

        r.line++;
        r.at = line;
        what = next_record_word(&r);
        while (k < NKINDS && strcmp(record_kinds[k].word, what))
            k++;
        if (begun && !strcmp(what, "end"))
            ended = 1;
        else if (k < NKINDS && (record_kinds[k].first || begun))
            rc = read_probe_record(&r, &record_kinds[k]);
        else if (begun && what[0])
            rc = fail_record(&r, "this is no record of hrun-probe");
        begun |= k < NKINDS && record_kinds[k].object == check_probe_version;
    }
    if (!rc && (!ended || !d.nranks))
        rc = hrun_fail_at(err, HRUN_EPARSE, name, 0, 0, d.nranks && begun ? "the records are torn: their end is missing"
                          : "these are no records of hrun-calibrate doctor");
    if (rc) {
        doctor_release(&d);
        return -1;
    }
    for (int k = 0; k < d.nranks; k++)
        while (strcmp(d.ranks[d.ranks[k].host].host_name, d.ranks[k].host_name))
            d.ranks[k].host++;
    *out = d;
    return 0;
}

/* ---------------------------------------------------------------- the data */

static void release_messages(struct doctor_messages *v, int n)
{
    for (int i = 0; i < n; i++)
        free(v[i].t.v);
    free(v);
}

void doctor_release(struct doctor_data *d)
{
    for (int i = 0; i < d->nsubs; i++)
        free(d->subs[i].name);
    for (int i = 0; i < d->nranks; i++) {
        for (int k = 0; k < d->ranks[i].nfacts; k++) {
            free(d->ranks[i].facts[k].key);
            free(d->ranks[i].facts[k].value);
        }
        free(d->ranks[i].facts);
        free(d->ranks[i].host_name);
        free(d->ranks[i].kernel.v);
    }
    for (int i = 0; i < d->nprocesses; i++)
        free(d->processes[i].name);
    release_messages(d->trips, d->ntrips);
    release_messages(d->alltoall, d->nalltoall);
    free(d->subs);
    free(d->ranks);
    free(d->processes);
    hrun_strvec_release(&d->libraries);
    memset(d, 0, sizeof *d);
}

int doctor_leads(const struct doctor_data *d, int rank)
{
    return d->ranks[rank].host == rank;
}

static const char *find_own_fact(const struct doctor_rank *r, const char *key)
{
    for (int i = 0; i < r->nfacts; i++)
        if (!strcmp(r->facts[i].key, key))
            return r->facts[i].value;
    return NULL;
}

const char *doctor_fact(const struct doctor_data *d, int rank, const char *key)
{
    const char *value = find_own_fact(&d->ranks[rank], key);

    return value ? value : find_own_fact(&d->ranks[d->ranks[rank].host], key);
}
