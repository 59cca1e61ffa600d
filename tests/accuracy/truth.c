#include "truth.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/list.h"
#include "configs.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS_MAX = 8, TABLE_MAX = 1 << 30 };

/* ---------------------------------------------------------------- reading */

/* Cut a line of CSV into fields in place; a field may stand in quotes, which it does not hold itself. */
static int split(char *line, char **fields)
{
    int n = 0;

    while (n < FIELDS_MAX) {
        int quoted = *line == '"';
        fields[n++] = line += quoted;
        line += strcspn(line, quoted ? "\"" : ",");
        if (quoted && *line)
            *line++ = 0;
        if (!*line)
            break;
        *line++ = 0;
    }
    return n;
}

/* Call row() for each line but the first with its `nfields` fields. */
static int read_csv(const char *path, int nfields, int (*row)(void *ctx, char **fields, const char *path, int line,
                                                              struct hrun_error *err),
                    void *ctx, struct hrun_error *err)
{
    struct hrun_buf text;
    char *line, *next, *fields[FIELDS_MAX];
    int number = 1, status;

    hrun_buf_init(&text);
    status = hrun_file_read(path, TABLE_MAX, &text, err);
    next = status || !text.len ? NULL : strchr(text.data, '\n');
    while (!status && next && next[1]) {
        line = next + 1;
        next = strchr(line, '\n');
        if (next)
            *next = 0;
        number++;
        if (split(line, fields) != nfields)
            status = hrun_fail_at(err, HRUN_EPARSE, path, number, 0, "a line of %d fields is needed", nfields);
        else
            status = row(ctx, fields, path, number, err);
    }
    hrun_buf_release(&text);
    return status;
}

struct list {
    struct truth *v;
    size_t n;
};

static int read_sizes(char *text, int64_t *sizes, int *n)
{
    char *end;

    for (*n = 0; *text && *n < TRUTH_SIZES_MAX; text = end + strspn(end, " ")) {
        sizes[*n] = strtoll(text, &end, 10);
        if (end == text || sizes[(*n)++] < 1)
            return -1;
    }
    return *text ? -1 : 0;
}

static int read_subs(const char *text, struct truth *t)
{
    int used;

    while (*text) {
        int i = t->nsubs++;
        if (i == TRUTH_SUBS_MAX ||
            sscanf(text, " %63[^:]:%d:%d%n", t->names[i], &t->npes[i], &t->procs_max[i], &used) != 3 ||
            t->npes[i] < 1 || t->procs_max[i] < 1)
            return -1;
        text += used;
    }
    return t->nsubs ? 0 : -1;
}

static int read_set(void *ctx, char **fields, const char *path, int line, struct hrun_error *err)
{
    struct list *l = ctx;
    struct truth *more = xrealloc(l->v, (l->n + 1) * sizeof *more), *t;

    l->v = more;
    t = &more[l->n];
    memset(t, 0, sizeof *t);
    snprintf(t->app, sizeof t->app, "%s", fields[0]);
    snprintf(t->platform, sizeof t->platform, "%s", fields[1]);
    snprintf(t->definition, sizeof t->definition, "%s", fields[3]);
    if (read_subs(fields[2], t) || read_sizes(fields[4], t->train, &t->ntrain) ||
        read_sizes(fields[5], t->other, &t->nother) || !t->ntrain)
        return hrun_fail_at(err, HRUN_EPARSE, path, line, 0, "sub-clusters 'NAME:PES:M ...' and two lists of sizes are "
                            "needed");
    l->n++;
    return 0;
}

int truth_list(const char *dir, struct truth **sets, size_t *n, struct hrun_error *err)
{
    char *path = hrun_strf("%s/sets.csv", dir);
    struct list l = { NULL, 0 };
    int status = read_csv(path, 6, read_set, &l, err);

    free(path);
    if (status) {
        free(l.v);
        return -1;
    }
    *sets = l.v;
    *n = l.n;
    return 0;
}

static int read_run(void *ctx, char **fields, const char *path, int line, struct hrun_error *err)
{
    struct truth *t = ctx;
    struct truth_run *run;
    struct hrun_config config;
    char *end;

    /* Room doubles at each power of two. */
    if (!(t->nruns & (t->nruns + 1)) || !t->runs) {
        run = xrealloc(t->runs, (2 * t->nruns + 2) * sizeof *run);
        t->runs = run;
    }
    run = &t->runs[t->nruns];
    memset(run, 0, sizeof *run);
    if (hrun_config_parse(fields[3], t->nsubs, &config, err))
        return -1;
    for (int i = 0; i < t->nsubs; i++) {
        run->pes[i] = config.pes[i];
        run->procs[i] = config.procs[i];
        if (run->pes[i] > t->npes[i] || run->procs[i] > t->procs_max[i])
            return hrun_fail_at(err, HRUN_EPARSE, path, line, 0, "%s is none of the set's configurations", fields[3]);
        run->P += run->pes[i] * run->procs[i];
    }
    run->N = strtoll(fields[2], NULL, 10);
    run->time_s = strtod(fields[4], &end);
    if (run->N < 1 || *end || !(run->time_s > 0) || !isfinite(run->time_s) || run->P < 1)
        return hrun_fail_at(err, HRUN_EPARSE, path, line, 0, "size, configuration and time must be above 0");
    t->nruns++;
    return 0;
}

static int compare_runs(const void *x, const void *y)
{
    const struct truth_run *a = x, *b = y;

    if (a->N != b->N)
        return a->N < b->N ? -1 : 1;
    for (int i = 0; i < TRUTH_SUBS_MAX; i++) {
        if (a->pes[i] != b->pes[i])
            return a->pes[i] - b->pes[i];
        if (a->procs[i] != b->procs[i])
            return a->procs[i] - b->procs[i];
    }
    return 0;
}

int truth_load(const char *dir, struct truth *t, struct hrun_error *err)
{
    char *path = hrun_strf("%s/%s-%s.csv", dir, t->app, t->platform);
    int status = read_csv(path, 5, read_run, t, err);

    if (!status && t->nruns)
        qsort(t->runs, t->nruns, sizeof *t->runs, compare_runs);
    for (size_t i = 1; !status && i < t->nruns; i++)
        if (!compare_runs(&t->runs[i - 1], &t->runs[i]))
            status = hrun_fail(err, HRUN_EPARSE, "%s has a configuration twice at N=%lld", path,
                               (long long)t->runs[i].N);
    if (status)
        truth_release(t);
    free(path);
    return status;
}

void truth_release(struct truth *t)
{
    free(t->runs);
    t->runs = NULL;
    t->nruns = 0;
}

/* ---------------------------------------------------------------- looking up */

const struct truth_run *truth_find(const struct truth *t, int64_t N, const struct hrun_config *config)
{
    struct truth_run key = { .N = N };

    memcpy(key.pes, config->pes, (size_t)t->nsubs * sizeof *key.pes);
    memcpy(key.procs, config->procs, (size_t)t->nsubs * sizeof *key.procs);
    return t->nruns ? bsearch(&key, t->runs, t->nruns, sizeof key, compare_runs) : NULL;
}

const struct truth_run *truth_at(const struct truth *t, int64_t N, size_t *n)
{
    size_t first = 0, end;

    while (first < t->nruns && t->runs[first].N != N)
        first++;
    for (end = first; end < t->nruns && t->runs[end].N == N; end++)
        ;
    *n = end - first;
    return *n ? &t->runs[first] : NULL;
}

const struct truth_run *truth_best(const struct truth *t, int64_t N)
{
    size_t n;
    const struct truth_run *runs = truth_at(t, N, &n), *best = runs;

    for (size_t i = 1; i < n; i++)
        if (runs[i].time_s < best->time_s)
            best = &runs[i];
    return best;
}

int truth_alone(const struct truth *t, const struct truth_run *run)
{
    int sub = -1;

    for (int i = 0; i < t->nsubs; i++) {
        if (run->pes[i] && sub >= 0)
            return -1;
        if (run->pes[i])
            sub = i;
    }
    return sub;
}

/* ---------------------------------------------------------------- measuring */

/* The splitmix64 finaliser. */
static uint64_t mix(uint64_t z)
{
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Uniform in (0, 1]: number i of the stream. */
static double uniform(uint64_t stream, uint64_t i)
{
    return ((double)(mix(mix(stream) ^ i) >> 11) + 1.0) * 0x1p-53;
}

double truth_measure(const struct truth_run *run, const struct truth_noise *noise, int repetition)
{
    uint64_t stream = mix(noise->seed) ^ mix((uint64_t)run->N) ^ (uint64_t)repetition << 40;
    double normal, factor;

    for (int i = 0; i < TRUTH_SUBS_MAX; i++)
        stream = mix(stream ^ ((uint64_t)run->pes[i] << 32 | (uint64_t)run->procs[i]));
    /* Box and Muller. A time below a tenth of the true one, which sigma 2 % never gives, would be no measurement. */
    normal = sqrt(-2.0 * log(uniform(stream, 0))) * cos(2.0 * M_PI * uniform(stream, 1));
    factor = fmax(0.1, 1.0 + noise->sigma * normal);
    if (uniform(stream, 2) <= noise->glitches)
        factor *= noise->glitch_min + (noise->glitch_max - noise->glitch_min) * uniform(stream, 3);
    return run->time_s * factor;
}

int truth_sample(const struct truth *t, const struct truth_run *run, int sub, const struct truth_noise *noise,
                 int repetition, const char *consts, struct hrun_sample *out, struct hrun_error *err)
{
    struct hrun_sample s = { .N = run->N, .P = run->P, .M = run->procs[sub], .pes = run->pes[sub], .ok = 1 };
    struct hrun_buf config, names;

    if (!run->pes[sub] || repetition < 0 || repetition >= 86400)
        return hrun_fail(err, HRUN_EINVAL, "sub-cluster %s takes no part, or there is no repetition %d", t->names[sub],
                         repetition);
    hrun_buf_init(&config);
    hrun_buf_init(&names);
    hrun_buf_adds(&config, hrun_config_text(CONFIG(t->nsubs, run->pes, run->procs)).s);
    for (int i = 0; i < t->nsubs; i++)
        hrun_list_add(&names, t->names[i]);
    s.mixed = truth_alone(t, run) < 0;
    s.time_s = s.wall_s = truth_measure(run, noise, repetition);
    s.status = hrun_strf("ok");
    s.origin = hrun_strf("calibration");
    s.config = hrun_buf_detach(&config);
    s.cluster = hrun_buf_detach(&names);
    s.signatures = s.cluster ? hrun_strf("%s", s.cluster) : NULL;
    s.consts = hrun_strf("%s", consts ? consts : "");
    s.launcher.engine = hrun_strf("smpi");
    s.date = hrun_strf("2026-01-01T%02d:%02d:%02dZ", repetition / 3600, repetition / 60 % 60, repetition % 60);
    *out = s;
    return 0;
}

static int is_trained(const struct truth *t, int64_t N)
{
    for (int i = 0; i < t->ntrain; i++)
        if (t->train[i] == N)
            return 1;
    return 0;
}

int truth_train(const struct truth *t, int sub, const struct truth_noise *noise, int repetitions, const char *consts,
                struct hrun_samples *out, double *cost_s, struct hrun_error *err)
{
    for (size_t i = 0; i < t->nruns; i++) {
        const struct truth_run *run = &t->runs[i];
        struct hrun_sample *more;
        if (truth_alone(t, run) != sub || !is_trained(t, run->N))
            continue;
        more = xrealloc(out->v, (out->n + (size_t)repetitions) * sizeof *more);
        out->v = more;
        for (int r = 0; r < repetitions; r++) {
            if (truth_sample(t, run, sub, noise, r, consts, &out->v[out->n], err))
                return -1;
            *cost_s += out->v[out->n++].time_s;
        }
    }
    return 0;
}

double truth_cost(const struct truth *t, int mixed)
{
    double sum = 0.0;

    for (size_t i = 0; i < t->nruns; i++)
        if (is_trained(t, t->runs[i].N) && (mixed || truth_alone(t, &t->runs[i]) >= 0))
            sum += t->runs[i].time_s;
    return sum;
}
