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
        return fail_record(r, "a number here is missing or not one that can be");
    *out = (int)v;
    return 0;
}

static int read_number(struct reader *r, double *out)
{
    char *text = next_record_word(r), *end;

    *out = strtod(text, &end);
    return !*text || *end || !isfinite(*out) ? fail_record(r, "a number here is missing or not finite") : 0;
}

/* A copy of the rest of the line; the caller frees it. */
static char *copy_rest(const struct reader *r)
{
    return xstrdup(r->at + strspn(r->at, " "));
}

/* Append a zeroed element of `size` bytes to a list of *n; its address. */
static void *add_zeroed(void *list, int *n, size_t size)
{
    char **v = list;

    if (!(*n & (*n - 1)))          /* full at 0, 1, 2, 4, 8, ... */
        *v = xrealloc(*v, size * (size_t)(*n ? *n * 2 : 1));
    memset(*v + size * (size_t)*n, 0, size);
    return *v + size * (size_t)(*n)++;
}

static int read_times(struct reader *r, struct doctor_times *t)
{
    size_t most = strlen(r->at) / 2 + 1;   /* a digit and a blank each */

    free(t->v);
    t->n = 0;
    t->v = xmalloc(most * sizeof *t->v);
    for (r->at += strspn(r->at, " "); *r->at; r->at += strspn(r->at, " ")) {
        if (read_number(r, &t->v[t->n]))
            return -1;
        if (t->v[t->n++] <= 0)
            return fail_record(r, "a time is not above 0");
    }
    return t->n ? 0 : fail_record(r, "there is no time here");
}

static int read_sub_record(struct reader *r)
{
    int index;
    struct doctor_sub *s;

    if (read_index(r, INT_MAX, &index))
        return -1;
    if (index != r->d->nsubs)
        return fail_record(r, "sub-clusters are not in order");
    s = add_zeroed(&r->d->subs, &r->d->nsubs, sizeof *s);
    if (read_index(r, INT_MAX, &s->pus))
        return -1;
    s->name = copy_rest(r);
    return 0;
}

static int read_doctor_rank(struct reader *r)
{
    struct doctor_data *d = r->d;
    struct doctor_rank *k;
    int index;

    if (read_index(r, INT_MAX, &index))
        return -1;
    if (index != d->nranks)
        return fail_record(r, "processes are not in order");
    k = add_zeroed(&d->ranks, &d->nranks, sizeof *k);
    if (read_index(r, d->nsubs, &k->sub) || read_index(r, INT_MAX, &k->pe))
        return -1;
    k->host_name = copy_rest(r);
    while (strcmp(d->ranks[k->host].host_name, k->host_name))
        k->host++;
    return 0;
}

static int read_library_record(struct reader *r)
{
    hrun_strvec_push(&r->d->libraries, r->at);
    return 0;
}

static int read_fact_record(struct reader *r)
{
    struct doctor_fact *f = add_zeroed(&r->d->facts, &r->d->nfacts, sizeof *f);

    if (read_index(r, r->d->nranks, &f->rank))
        return -1;
    f->order = r->d->nfacts;
    f->key = xstrdup(next_record_word(r));
    f->value = copy_rest(r);
    return 0;
}

/* Read the rank of a record. Result: its process; NULL if there is none. */
static struct doctor_rank *read_whose(struct reader *r)
{
    int rank;

    return read_index(r, r->d->nranks, &rank) ? NULL : &r->d->ranks[rank];
}

static int read_kernel_record(struct reader *r)
{
    struct doctor_rank *k = read_whose(r);

    return k ? read_times(r, &k->kernel) : -1;
}

static int read_noise_record(struct reader *r)
{
    struct doctor_rank *k = read_whose(r);

    if (!k || read_index(r, INT_MAX, &k->quanta) || read_number(r, &k->least) || read_number(r, &k->mean) ||
        read_number(r, &k->median) || read_number(r, &k->p99) || read_number(r, &k->most))
        return -1;
    return k->least <= 0 ? fail_record(r, "a time is not above 0") : 0;
}

static int read_clock_record(struct reader *r)
{
    struct doctor_rank *k = read_whose(r);

    if (!k || read_number(r, &k->offset) || read_number(r, &k->offset_error))
        return -1;
    k->has_clock = 1;
    return 0;
}

static int read_pairs_record(struct reader *r)
{
    return read_index(r, INT_MAX, &r->d->pairs) || read_index(r, INT_MAX, &r->d->pairs_all) ? -1 : 0;
}

static int read_trip_record(struct reader *r)
{
    struct doctor_messages *m = add_zeroed(&r->d->trips, &r->d->ntrips, sizeof *m);

    return read_index(r, r->d->nranks, &m->a) || read_index(r, r->d->nranks, &m->b) || read_number(r, &m->bytes) ||
           read_times(r, &m->t) ? -1 : 0;
}

static int read_alltoall_record(struct reader *r)
{
    struct doctor_messages *m = add_zeroed(&r->d->alltoall, &r->d->nalltoall, sizeof *m);

    m->a = m->b = -1;
    return read_number(r, &m->bytes) || read_times(r, &m->t) ? -1 : 0;
}

static int read_busy_record(struct reader *r)
{
    struct doctor_rank *k = read_whose(r);

    if (!k || read_number(r, &k->busy) || read_number(r, &k->stolen))
        return -1;
    k->has_busy = 1;
    return 0;
}

static int read_swapped_record(struct reader *r)
{
    struct doctor_rank *k = read_whose(r);

    return !k || read_number(r, &k->swapped) ? -1 : 0;
}

static int read_process_record(struct reader *r)
{
    struct doctor_process *p = add_zeroed(&r->d->processes, &r->d->nprocesses, sizeof *p);

    if (read_index(r, r->d->nranks, &p->rank) || read_index(r, INT_MAX, &p->pid) || read_number(r, &p->share))
        return -1;
    p->name = copy_rest(r);
    return 0;
}

static const char FIRST[] = "hrun-probe";

static int read_first_record(struct reader *r)
{
    int version;

    return read_index(r, INT_MAX, &version) ? -1
         : version != 1 ? fail_record(r, "these records are of another version of hrun-probe") : 0;
}

/* first = 1: stands before the line "hrun-probe 1". */
static const struct { const char *word; int first; int (*read)(struct reader *r); } record_kinds[] = {
    { "sub", 1, read_sub_record }, { "rank", 1, read_doctor_rank }, { "library", 1, read_library_record },
    { FIRST, 1, read_first_record }, { "fact", 1, read_fact_record }, { "kernel", 0, read_kernel_record },
    { "noise", 0, read_noise_record }, { "clock", 0, read_clock_record }, { "pairs", 0, read_pairs_record },
    { "trip", 0, read_trip_record }, { "alltoall", 0, read_alltoall_record }, { "busy", 0, read_busy_record },
    { "swapped", 0, read_swapped_record }, { "process", 0, read_process_record },
};
enum { NKINDS = sizeof record_kinds / sizeof record_kinds[0] };

static int compare_facts(const void *a, const void *b)
{
    const struct doctor_fact *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank > y->rank ? 1 : -1;
    return x->order > y->order ? 1 : -1;
}

static void order_facts(struct doctor_data *d)
{
    if (d->nfacts)
        qsort(d->facts, (size_t)d->nfacts, sizeof d->facts[0], compare_facts);
    for (int i = d->nfacts - 1; i >= 0; i--) {
        d->ranks[d->facts[i].rank].first_fact = i;
        d->ranks[d->facts[i].rank].nfacts++;
    }
}

int doctor_read(const char *name, const char *text, struct doctor_data *out, struct hrun_error *err)
{
    struct doctor_data d = { 0 };
    struct reader r = { .d = &d, .name = name, .err = err };
    char *copy = xstrdup(text), *save, *line;
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
            rc = record_kinds[k].read(&r);
        else if (begun && what[0])
            rc = fail_record(&r, "this is no record of hrun-probe");
        begun |= k < NKINDS && record_kinds[k].read == read_first_record;
    }
    if (!rc && (!ended || !d.nranks))
        rc = hrun_fail_at(err, HRUN_EPARSE, name, 0, 0, d.nranks && begun ? "the records are torn: their end is missing"
                          : "these are no records of hrun-calibrate doctor");
    free(copy);
    if (rc) {
        doctor_release(&d);
        return -1;
    }
    order_facts(&d);        /* all ranks are valid here */
    *out = d;
    return 0;
}

/* ---------------------------------------------------------------- what is known of a cluster, in memory */

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
        free(d->ranks[i].host_name);
        free(d->ranks[i].kernel.v);
    }
    for (int i = 0; i < d->nfacts; i++) {
        free(d->facts[i].key);
        free(d->facts[i].value);
    }
    for (int i = 0; i < d->nprocesses; i++)
        free(d->processes[i].name);
    release_messages(d->trips, d->ntrips);
    release_messages(d->alltoall, d->nalltoall);
    free(d->subs);
    free(d->ranks);
    free(d->facts);
    free(d->processes);
    hrun_strvec_release(&d->libraries);
    memset(d, 0, sizeof *d);
}

int doctor_leads(const struct doctor_data *d, int rank)
{
    return d->ranks[rank].host == rank;
}

static const char *find_own_fact(const struct doctor_data *d, int rank, const char *key)
{
    const struct doctor_rank *r = &d->ranks[rank];

    for (int i = r->first_fact; i < r->first_fact + r->nfacts; i++)
        if (!strcmp(d->facts[i].key, key))
            return d->facts[i].value;
    return NULL;
}

const char *doctor_fact(const struct doctor_data *d, int rank, const char *key)
{
    const char *value = find_own_fact(d, rank, key);

    return value ? value : find_own_fact(d, d->ranks[rank].host, key);
}
