/* export.c - the formats of an export, and the text format of Extra-P; see store.h */
#include "base/alloc.h"
#include "store/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int hrun_exchange_find_format(const char *word, const char *path, enum hrun_exchange_format *out,
                              struct hrun_error *err)
{
    static const struct { const char *word, *suffix; } formats[] = {
        [HRUN_EXCHANGE_CSV] = { "csv", ".csv" }, [HRUN_EXCHANGE_EXTRAP] = { "extrap", ".txt" },
    };

    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        size_t len = word ? 0 : strlen(path), n = strlen(formats[i].suffix);

        if (word ? !strcmp(word, formats[i].word) : len > n && !strcasecmp(path + len - n, formats[i].suffix)) {
            *out = (enum hrun_exchange_format)i;
            return 0;
        }
    }
    return hrun_fail(err, HRUN_EINVAL, "the name '%.200s' ends neither in .csv nor in .txt: say which format it has "
                     "with --format csv or extrap", path);
}

void exchange_number(double value, int plain, char out[EXCHANGE_NUMBER])
{
    /* 17 digits reproduce every double; use fewer if that is enough. 341 places have 17 digits of the smallest
     * double. */
    for (int digits = 1; digits <= (plain ? 341 : 17); digits++) {
        if (plain)
            snprintf(out, EXCHANGE_NUMBER, "%.*f", digits, value);
        else
            snprintf(out, EXCHANGE_NUMBER, "%.*g", digits, value);
        if (strtod(out, NULL) == value)
            return;
    }
}

static int compare_points(const struct hrun_sample *a, const struct hrun_sample *b)
{
    if (a->N != b->N)
        return a->N < b->N ? -1 : 1;
    if (a->P != b->P)
        return a->P < b->P ? -1 : 1;
    return (a->M > b->M) - (a->M < b->M);
}

struct placed {
    const struct hrun_sample *s;
    size_t place;       /* position in the log */
};

static int by_point(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    int c = compare_points(x->s, y->s);

    return c ? c : (x->place > y->place) - (x->place < y->place);
}

/* Each DATA line has the times of one point, in the order of POINTS. */
static void add_region(struct hrun_buf *out, const struct hrun_exchange_set *set, const char *consts,
                       const struct placed *v, size_t n)
{
    autorelease(hrun_buf_release) struct hrun_buf data = HRUN_BUF_INIT;
    char number[EXCHANGE_NUMBER];
    int has_M = 0;

    for (size_t i = 0; i < n; i++)
        has_M |= v[i].s->M != 1;
    hrun_buf_addf(out, "# measured by hrun: seconds, for the size N, P processes in all%s\nPARAMETER N P%s\n",
                  has_M ? " and M on each PE" : "", has_M ? " M" : "");
    for (size_t i = 0; i < n; i++) {
        const struct hrun_sample *s = v[i].s, *last = i ? v[i - 1].s : NULL;

        if (!last || compare_points(last, s)) {
            /* A line for each size. */
            hrun_buf_adds(out, !last ? "POINTS" : last->N != s->N ? "\nPOINTS" : "");
            hrun_buf_addf(out, " (%lld %d", (long long)s->N, s->P);
            if (has_M)
                hrun_buf_addf(out, " %d", s->M);
            hrun_buf_addc(out, ')');
            hrun_buf_adds(&data, last ? "\nDATA" : "DATA");
        }
        exchange_number(s->time_s, 1, number);
        hrun_buf_addf(&data, " %s", number);
    }
    hrun_buf_addf(out, "\nMETRIC time\nREGION %s->%s%s%s\n", set->app, set->signature, *consts ? "->" : "", consts);
    hrun_buf_add(out, data.data, data.len);
    hrun_buf_addc(out, '\n');
}

/* Write one region: the good runs on one sub-cluster. */
static int write_extrap(const struct hrun_exchange_set *sets, size_t nsets, struct hrun_buf *out, size_t *left_out,
                        struct hrun_error *err)
{
    const struct hrun_exchange_set *set = NULL;
    autofree struct placed *v = NULL;
    const char *consts;
    size_t n = 0;

    for (size_t k = 0; k < nsets; k++) {
        size_t i = 0;

        while (i < sets[k].n && (!sets[k].v[i]->ok || sets[k].v[i]->mixed))
            i++;
        if (i == sets[k].n) {
            *left_out += i;
        } else if (set) {
            return hrun_fail(err, HRUN_EINVAL, "a file for Extra-P holds the measurements of one profile with one set "
                             "of constants, not those of %s on %s and of %s on %s", set->app, set->signature,
                             sets[k].app, sets[k].signature);
        } else {
            set = &sets[k];
        }
    }
    if (!set)
        return hrun_fail(err, HRUN_ENODATA, "there is no good run of one sub-cluster alone, which is what Extra-P's "
                         "format holds");
    v = xcalloc(set->n, sizeof *v);
    for (size_t i = 0; i < set->n; i++)
        if (set->v[i]->ok && !set->v[i]->mixed)
            v[n++] = (struct placed) { set->v[i], i };
        else
            ++*left_out;
    consts = v[0].s->consts ? v[0].s->consts : "";
    for (const char *s = consts; *s; s++)
        if ((unsigned char)*s < ' ')
            return hrun_fail(err, HRUN_EINVAL, "the constants of %s on %s have control characters", set->app,
                             set->signature);
    qsort(v, n, sizeof *v, by_point);
    add_region(out, set, consts, v, n);
    return 0;
}

int hrun_exchange_write(enum hrun_exchange_format format, const struct hrun_exchange_set *sets, size_t nsets,
                        struct hrun_buf *out, size_t *left_out, struct hrun_error *err)
{
    *left_out = 0;
    if (format == HRUN_EXCHANGE_EXTRAP)
        return write_extrap(sets, nsets, out, left_out, err);
    exchange_write_csv(sets, nsets, out);
    return 0;
}
