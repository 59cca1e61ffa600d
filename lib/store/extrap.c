/* extrap.c - measurements as input of Extra-P, in its text format; see store.h
 *
 * A line is a word and what it says. Each DATA line holds the values measured at one point, in the order of POINTS, and
 * counting begins anew with each METRIC and REGION. */
#include "store/internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char METRIC[] = "time";    /* in seconds */

/* ---------------------------------------------------------------- to text */

static void add_points(struct hrun_buf *out, const struct exchange_region *r, int has_M)
{
    for (size_t i = 0; i < r->npoints; i++) {
        const struct exchange_point *p = &r->points[i];

        /* A line for each size. */
        hrun_buf_adds(out, !i ? "POINTS" : p->N != r->points[i - 1].N ? "\nPOINTS" : "");
        hrun_buf_addf(out, " (%lld %d", (long long)p->N, p->P);
        if (has_M)
            hrun_buf_addf(out, " %d", p->M);
        hrun_buf_addc(out, ')');
    }
    hrun_buf_addc(out, '\n');
}

int exchange_write_extrap(const struct hrun_exchange_set *sets, size_t nsets, struct hrun_buf *out, size_t *left_out,
                          struct hrun_error *err)
{
    struct exchange_regions regions = { 0 };
    char number[EXCHANGE_NUMBER];

    if (exchange_regions_make(sets, nsets, &regions, left_out, err))
        return -1;
    hrun_buf_addf(out, "# measured by hrun: seconds, for the size N, P processes in all%s\nPARAMETER N P%s\n",
                  regions.has_M ? " and M on each PE" : "", regions.has_M ? " M" : "");
    add_points(out, &regions.v[0], regions.has_M);
    hrun_buf_addf(out, "METRIC %s\n", METRIC);
    for (size_t k = 0; k < regions.n; k++) {
        const struct exchange_region *r = &regions.v[k];

        hrun_buf_addf(out, "REGION %s\n", r->callpath);
        for (size_t i = 0; i < r->npoints; i++) {
            hrun_buf_adds(out, "DATA");
            for (size_t j = 0; j < r->points[i].n; j++) {
                exchange_number(r->v[r->points[i].first + j]->time_s, 1, number);
                hrun_buf_addf(out, " %s", number);
            }
            hrun_buf_addc(out, '\n');
        }
    }
    exchange_regions_release(&regions);
    return 0;
}

/* ---------------------------------------------------------------- from text */

enum { MOST_PARAMETERS = 3 };   /* N, P, M */

struct point { double at[MOST_PARAMETERS]; };

struct file {
    const struct exchange_reader *r;
    int line;
    const struct store_field *parameters[MOST_PARAMETERS];
    int nparameters;
    struct point *points;
    size_t npoints, cap;
    char *region;               /* or NULL */
    int region_line;
    size_t next;                /* the point of the next DATA line */
    int used;                   /* DATA lines were read */
};

/* Cut the next word off a line, or NULL. */
static char *next_word(char **at)
{
    char *word;

    while (isspace((unsigned char)**at))
        ++*at;
    word = *at;
    while (**at && !isspace((unsigned char)**at))
        ++*at;
    if (**at)
        *(*at)++ = 0;
    return *word ? word : NULL;
}

/* A region, or what there is without one, must have values at all points or at none. */
static int end_region(struct file *f)
{
    if (f->next && f->next < f->npoints)
        return exchange_fail(f->r, f->region_line ? f->region_line : f->line, "there are %zu lines DATA for %zu POINTS",
                             f->next, f->npoints);
    f->next = 0;
    return 0;
}

static int take_parameter(struct file *f, char *rest)
{
    static const char *const known[MOST_PARAMETERS] = { "N", "P", "M" };

    if (f->npoints)
        return exchange_fail(f->r, f->line, "PARAMETER stands behind POINTS");
    for (char *word; (word = next_word(&rest)); ) {
        const struct store_field *field = NULL;

        for (int i = 0; i < MOST_PARAMETERS; i++)
            if (!strcasecmp(word, known[i]))
                field = exchange_field(known[i]);
        if (!field)
            return exchange_fail(f->r, f->line, "the parameter '%.100s' is unknown: N, P and M can be imported", word);
        for (int i = 0; i < f->nparameters; i++)
            if (f->parameters[i] == field)
                return exchange_fail(f->r, f->line, "the parameter '%.100s' is there twice", word);
        f->parameters[f->nparameters++] = field;
    }
    return 0;
}

/* Both N and P, without which a time tells nothing. */
static int check_parameters(const struct file *f)
{
    int found = 0;

    for (int i = 0; i < f->nparameters; i++)
        found += strcmp(f->parameters[i]->key, "M") != 0;
    return found == 2 ? 0 : exchange_fail(f->r, f->line, "the parameters N and P are needed");
}

static int take_points(struct file *f, char *rest)
{
    struct point p = { { 0 } };
    int n = 0;

    if (check_parameters(f))
        return -1;
    if (f->used)
        return exchange_fail(f->r, f->line, "POINTS stands behind DATA");
    /* Parentheses only group what the number of parameters groups already. */
    for (char *c = rest; *c; c++)
        if (*c == '(' || *c == ')')
            *c = ' ';
    for (char *word; (word = next_word(&rest)); ) {
        char *end;

        p.at[n++] = strtod(word, &end);
        if (*end)
            return exchange_fail(f->r, f->line, "'%.100s' is no number", word);
        if (n < f->nparameters)
            continue;
        if (f->npoints == f->cap) {
            size_t cap = f->cap ? f->cap * 2 : 64;
            struct point *v = realloc(f->points, cap * sizeof *v);

            if (!v)
                return hrun_fail_nomem(f->r->err);
            f->points = v;
            f->cap = cap;
        }
        f->points[f->npoints++] = p;
        n = 0;
    }
    if (n)
        return exchange_fail(f->r, f->line, "the last point has %d of the %d parameters", n, f->nparameters);
    return 0;
}

static int take_metric(struct file *f, char *rest)
{
    char *word = next_word(&rest);

    if (end_region(f))
        return -1;
    if (!word || strcmp(word, METRIC) || next_word(&rest))
        return exchange_fail(f->r, f->line, "the metric is not '%s': nothing else can be imported", METRIC);
    return 0;
}

static int take_region(struct file *f, char *rest)
{
    if (end_region(f))
        return -1;
    while (isspace((unsigned char)*rest))
        rest++;
    free(f->region);
    f->region = strdup(rest);
    f->region_line = f->line;
    return f->region ? 0 : hrun_fail_nomem(f->r->err);
}

static int take_data(struct file *f, char *rest)
{
    size_t before = f->r->out->n;

    if (f->next >= f->npoints)
        return exchange_fail(f->r, f->line, "there are more lines DATA than the %zu POINTS", f->npoints);
    for (char *word; (word = next_word(&rest)); ) {
        struct hrun_exchanged x = { .line = f->line };
        int bad = exchange_set(f->r, &x, exchange_field("time_s"), word, strlen(word));

        for (int i = 0; i < f->nparameters && !bad; i++)
            bad = exchange_set_number(f->r, &x, f->parameters[i], f->parameters[i]->key, f->points[f->next].at[i]);
        if (!bad && f->region)
            bad = exchange_set_callpath(f->r, &x, f->region, strlen(f->region));
        if (bad) {
            exchange_drop(&x);
            return -1;
        }
        if (exchange_add(f->r, &x))
            return -1;
    }
    if (f->r->out->n == before)
        return exchange_fail(f->r, f->line, "there is no value behind DATA");
    f->used = 1;
    f->next++;
    return 0;
}

static int take_line(struct file *f, char *line)
{
    static const struct { const char *word; int (*take)(struct file *f, char *rest); } sections[] = {
        { "PARAMETER", take_parameter }, { "POINTS", take_points }, { "METRIC", take_metric },
        { "REGION", take_region }, { "DATA", take_data },
    };
    char *end = line + strlen(line), *word;

    while (end > line && isspace((unsigned char)end[-1]))
        *--end = 0;
    if (*line == '#' || !(word = next_word(&line)))
        return 0;
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (!strcmp(word, sections[i].word))
            return sections[i].take(f, line);
    return exchange_fail(f->r, f->line, "'%.100s' begins no line of Extra-P's text format: PARAMETER, POINTS, METRIC, "
                         "REGION and DATA do", word);
}

int exchange_read_extrap(const struct exchange_reader *r, const char *text, size_t len)
{
    struct file f = { .r = r };
    int rc = 0;

    for (const char *at = text, *stop = text + len; at < stop && !rc; ) {
        const char *eol = memchr(at, '\n', (size_t)(stop - at));
        size_t n = (size_t)((eol ? eol : stop) - at);
        char *line = strndup(at, n);

        f.line++;
        if (!line)
            rc = hrun_fail_nomem(r->err);
        else if (strlen(line) != n)
            rc = exchange_fail(r, f.line, "the line holds a NUL character");
        else
            rc = take_line(&f, line);
        free(line);
        at += n + (eol != NULL);
    }
    if (!rc)
        rc = end_region(&f);
    free(f.points);
    free(f.region);
    return rc;
}
