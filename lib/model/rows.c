/* rows.c - the measurements that are fitted: rows, the glitch rule, runs on several sub-clusters; see rows.h */
#include "app/template.h"
#include "model/netview.h"
#include "model/rows.h"
#include "model/terms.h"

#include "base/alloc.h"
#include "base/list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int row_order(const void *a, const void *b)
{
    const struct hrun_row *x = a, *y = b;

    if (x->M != y->M)
        return x->M < y->M ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->P != y->P)
        return x->P < y->P ? -1 : 1;
    if (x->N != y->N)
        return x->N < y->N ? -1 : 1;
    return x->T < y->T ? -1 : x->T > y->T;   /* the order of the measurements does not matter */
}

void hrun_rows_sort(struct hrun_row *rows, size_t n)
{
    if (n)
        qsort(rows, n, sizeof *rows, row_order);
}

int hrun_rows_select(const struct hrun_app *app, const struct hrun_sample *samples, size_t n,
                     int own, struct hrun_row *rows, size_t *nrows, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf consts = HRUN_BUF_INIT;
    size_t count = 0, failed = 0, mixed = 0, other = 0;

    hrun_app_consts_text(app, &consts);
    for (size_t i = 0; i < n; i++) {
        const struct hrun_sample *s = &samples[i];

        if (!s->ok) {
            failed++;
        } else if (s->mixed) {
            mixed++;
        } else if (strcmp(s->consts ? s->consts : "", consts.data)) {
            other++;
        } else if (!isfinite(s->time_s) || s->time_s <= 0) {
            return hrun_fail(err, HRUN_ENONFINITE, "measurement %zu of %s (N=%lld, P=%d, M=%d) has a time of %g s; a "
                             "time is finite and above 0", i + 1, app->name, (long long)s->N, s->P, s->M, s->time_s);
        } else if (s->M < 1 || s->P < s->M) {
            return hrun_fail(err, HRUN_EINVAL, "measurement %zu of %s (N=%lld) has P=%d processes with M=%d on each PE",
                             i + 1, app->name, (long long)s->N, s->P, s->M);
        } else {
            rows[count++] = (struct hrun_row) { s->N, s->P, s->M, s->time_s, s->date ? s->date : "",
                                                s->P == s->M ? HRUN_ROW_SINGLE : HRUN_ROW_OWN, 1, s, own,
                                                hrun_app_uneven(app, s->N, s->P) };
        }
    }
    if (count == 0)
        return hrun_fail(err, HRUN_ENODATA, "no measurement of %s can be used: of %zu, %zu failed, %zu ran on several "
                         "sub-clusters, %zu had constants other than '%s'", app->name, n, failed, mixed, other,
                         consts.data);
    hrun_rows_sort(rows, count);
    *nrows = count;
    return 0;
}

/* ------------------------------------------------------------------ the glitch rule of paper 000 */

static int same_series_of_sizes(const struct hrun_row *a, const struct hrun_row *b)
{
    return a->M == b->M && a->P == b->P && a->kind == b->kind;
}

/* Copy rows[n] without glitches to out, *kept of them; out = NULL: only check that each performance has a value. */
static int cut_glitch(const struct hrun_app *app, double k, const struct hrun_row *rows, size_t n, struct hrun_row *out,
                      size_t *kept, struct hrun_buf *skipped, struct hrun_error *err)
{
    double before = 0;
    size_t end;

    *kept = 0;
    for (size_t first = 0; first < n; first = end) {
        const struct hrun_row *row = &rows[first];
        int compare = first > 0 && same_series_of_sizes(row, &rows[first - 1]), glitch;
        double work, performance;

        for (end = first; end < n && rows[end].N == row->N && same_series_of_sizes(&rows[end], row);)
            end++;
        if (hrun_term_eval(app->nt.v[0].expr, HRUN_TERM_N, (double)row->N, 0, 0, &work, err))
            return hrun_fail_prefix(err, "term '%s' of %s at N=%lld", app->nt.v[0].text, app->name, (long long)row->N);
        performance = work / ((row[(end - first - 1) / 2].T + row[(end - first) / 2].T) / 2);   /* sorted by time */
        glitch = compare && performance <= k * before;
        if (glitch && out && skipped)
            hrun_buf_addf(skipped, "M=%d, P=%d, N=%lld is excluded as a glitch: %.2f of the performance at N=%lld, at "
                          "most %.2f\n", row->M, row->P, (long long)row->N, performance / before,
                          (long long)rows[first - 1].N, k);
        before = performance;
        if (!glitch && out) {
            memmove(out + *kept, row, (end - first) * sizeof *out);
            *kept += end - first;
        }
    }
    return 0;
}

int hrun_glitches_exclude(const struct hrun_app *app, double k, struct hrun_row *rows, size_t *n,
                          struct hrun_buf *skipped, struct hrun_error *err)
{
    size_t kept;

    if (!(k >= 0) || !isfinite(k))
        return hrun_fail(err, HRUN_EINVAL, "the factor of the glitch rule is %g; it must be finite and not negative",
                         k);
    if (k == 0)
        return 0;
    if (app->nt.n == 0)
        return hrun_fail(err, HRUN_EINVAL, "the glitch rule needs the performance, that is the first term under 'n' "
                         "over the time; the definition of %s has none", app->name);
    if (cut_glitch(app, k, rows, *n, NULL, &kept, NULL, err))
        return -1;
    cut_glitch(app, k, rows, *n, rows, &kept, skipped, NULL);
    *n = kept;
    return 0;
}

/* ------------------------------------------------------------------ runs on several sub-clusters */

/* One record of a run, in the log of one sub-cluster. */
struct entry {
    const struct hrun_sample *s;
    int sub;
};

static int text_order(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

/* The share of each process at a place of the record's configuration, relative to 1/P. */
static double share_at(const struct hrun_app *app, const struct hrun_sample *s, int place)
{
    return hrun_sample_dealt(s) ? hrun_sample_share(s, place) * s->P : hrun_app_uneven(app, s->N, s->P);
}

/* share_at for the log's own sub-cluster: at the place with the record's PEs, processes per PE and signature. */
static double own_share(const struct hrun_app *app, const struct hrun_sample *s, const char *signature)
{
    const char *at = s->config;
    int place = -1, pes, m;

    while (hrun_sample_dealt(s) && hrun_config_next(&at, &place, &pes, &m) > 0)
        if (pes == s->pes && m == s->M && (!s->signatures || !*s->signatures ||
                                           hrun_list_is(s->signatures, place, signature)))
            return share_at(app, s, place);
    return hrun_app_uneven(app, s->N, s->P);
}

static int number_order(double a, double b)
{
    return (a > b) - (a < b);
}

int hrun_mixed_order(const struct hrun_sample *x, const struct hrun_sample *y)
{
    int order = (x->N > y->N) - (x->N < y->N);

    order = order ? order : (x->P > y->P) - (x->P < y->P);
    order = order ? order : text_order(x->date, y->date);
    order = order ? order : number_order(x->time_s, y->time_s);
    order = order ? order : number_order(x->wall_s, y->wall_s);
    order = order ? order : text_order(x->config, y->config);
    order = order ? order : text_order(x->shares, y->shares);
    order = order ? order : text_order(x->cluster, y->cluster);
    return order ? order : text_order(x->signatures, y->signatures);
}

static int mixed_entry_order(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int order = hrun_mixed_order(x->s, y->s);

    order = order ? order : (x->sub > y->sub) - (x->sub < y->sub);
    order = order ? order : (x->s->M > y->s->M) - (x->s->M < y->s->M);
    return order ? order : (x->s->pes > y->s->pes) - (x->s->pes < y->s->pes);
}

static int check_mixed(const struct hrun_app *app, const struct hrun_sample *s, struct hrun_error *err)
{
    if (!isfinite(s->time_s) || s->time_s <= 0)
        return hrun_fail(err, HRUN_ENONFINITE, "a run of %s on several sub-clusters (N=%lld, P=%d) has a time of %g s; "
                         "a time is finite and above 0", app->name, (long long)s->N, s->P, s->time_s);
    if (s->M < 1 || s->pes < 1 || s->P <= s->M)
        return hrun_fail(err, HRUN_EINVAL, "a run of %s on several sub-clusters (N=%lld) has P=%d processes with %d "
                         "PEs of M=%d", app->name, (long long)s->N, s->P, s->pes, s->M);
    return 0;
}

/* Add the run with the records entries[n]. */
static void add_mixed_run(const struct hrun_app *app, struct hrun_mixed *out, const struct hrun_joint_sub *subs,
                          const struct entry *entries, size_t n)
{
    const struct hrun_sample *s = entries[0].s;
    struct hrun_mixed_run *r = &out->runs[out->nruns++];
    double least = hrun_sample_dealt(s) ? INFINITY : 0;
    int64_t found = 0;

    *r = (struct hrun_mixed_run) { s->N, s->P, s->time_s, s->date ? s->date : "", out->nparts, n, 0, s };
    for (size_t i = 0; i < n; i++) {
        const struct hrun_sample *e = entries[i].s;

        out->parts[out->nparts++] = (struct hrun_mixed_part) { entries[i].sub, e->M, e->pes,
                                                                own_share(app, e, subs[entries[i].sub].signature), 0 };
        found += (int64_t)e->M * e->pes;
        least = fmin(least, e->mpi_s);
    }
    r->whole = found == s->P;
    for (size_t i = 0; i < n && r->whole && least > 0; i++)
        out->parts[r->first + i].busy_s = fmax(s->time_s - (entries[i].s->mpi_s - least), 0);
}

int hrun_mixed_list(const struct hrun_app *app, const struct hrun_joint_sub *subs, int nsubs, struct hrun_mixed *out,
                    struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf consts = HRUN_BUF_INIT;
    struct hrun_mixed m = { NULL, NULL, 0, 0 };
    autofree struct entry *entries = NULL;
    size_t n = 0, count = 0, end;

    hrun_app_consts_text(app, &consts);
    for (int i = 0; i < nsubs; i++)
        n += subs[i].n;
    entries = xcalloc(n + 1, sizeof *entries);
    m.runs = xcalloc(n + 1, sizeof *m.runs);
    m.parts = xcalloc(n + 1, sizeof *m.parts);
    for (int i = 0; i < nsubs; i++)
        for (size_t j = 0; j < subs[i].n; j++) {
            const struct hrun_sample *s = &subs[i].samples[j];

            if (!s->ok || !s->mixed || text_order(s->consts, consts.data))
                continue;
            if (check_mixed(app, s, err)) {
                hrun_mixed_release(&m);
                return -1;
            }
            entries[count++] = (struct entry) { s, i };
        }
    if (count)
        qsort(entries, count, sizeof *entries, mixed_entry_order);
    for (size_t begin = 0; begin < count; begin = end) {
        for (end = begin + 1; end < count && !hrun_mixed_order(entries[begin].s, entries[end].s);)
            end++;
        add_mixed_run(app, &m, subs, entries + begin, end - begin);
    }
    *out = m;
    return 0;
}

void hrun_mixed_release(struct hrun_mixed *m)
{
    free(m->runs);
    free(m->parts);
    memset(m, 0, sizeof *m);
}

/* ------------------------------------------------------------------ runs as a cluster's configurations */

/* The sub-cluster that is at `place` in the record's configuration, or -1. own: the signature of the log. */
static int find_sub_of_run(const struct hrun_sample *s, int place, const char *own, const struct hrun_joint_sub *subs,
                           int nsubs)
{
    size_t len = 0;
    int is_named = hrun_list_item(s->signatures, place, &len) && len, found = -1, several = 0;

    if (!is_named && s->mixed)
        return -1;
    for (int i = 0; i < nsubs; i++) {
        if (is_named ? !hrun_list_is(s->signatures, place, subs[i].signature) : strcmp(own, subs[i].signature))
            continue;
        if (hrun_list_is(s->cluster, place, subs[i].name))
            return i;
        several = found >= 0;
        found = i;
    }
    return several ? -1 : found;
}

/* Read configuration and shares of a record. Returns 1, or 0 if the cluster has no such configuration. */
static int read_run_config(const struct hrun_app *app, const struct hrun_sample *s, const char *own,
                           const struct hrun_joint_sub *subs, int nsubs, struct hrun_config *out,
                           double *share)
{
    const char *at = s->config;
    int64_t P = 0;
    int place = -1, p, m, found;

    *out = (struct hrun_config){ .nsubs = nsubs };
    while ((found = hrun_config_next(&at, &place, &p, &m)) > 0) {
        int sub = find_sub_of_run(s, place, own, subs, nsubs);

        if (sub < 0 || out->pes[sub])
            return 0;
        out->pes[sub] = p;
        out->procs[sub] = m;
        share[sub] = share_at(app, s, place);
        P += (int64_t)p * m;
    }
    return !found && P == s->P;
}

static int recalled_order(const void *a, const void *b)
{
    const struct hrun_recalled *x = a, *y = b;

    return hrun_mixed_order(x->s, y->s);
}

void hrun_recall(const struct hrun_app *app, const struct hrun_joint_sub *subs, int nsubs, struct hrun_recalled *runs,
                 double *shares, size_t *count)
{
    autorelease(hrun_buf_release) struct hrun_buf consts = HRUN_BUF_INIT;
    size_t n = 0, kept = 0;

    hrun_app_consts_text(app, &consts);
    for (int i = 0; i < nsubs; i++) {
        int again = 0;

        for (int j = 0; j < i; j++)
            again |= !strcmp(subs[j].signature, subs[i].signature);
        for (size_t k = 0; k < subs[i].n && !again; k++) {
            const struct hrun_sample *s = &subs[i].samples[k];

            runs[n] = (struct hrun_recalled){ .s = s, .share = hrun_sample_dealt(s) ? shares : NULL };
            if (hrun_family_of(app)->deals_units && s->origin && !strcmp(s->origin, "calibration"))
                continue;   /* its mesh does not follow from N */
            if (!s->ok || !(s->time_s > 0) || strcmp(s->consts ? s->consts : "", consts.data) ||
                !read_run_config(app, s, subs[i].signature, subs, nsubs, &runs[n].config, shares))
                continue;
            n++;
            shares += nsubs;
        }
    }
    if (n)
        qsort(runs, n, sizeof *runs, recalled_order);
    for (size_t i = 0; i < n; i++)
        if (!i || !runs[i].s->mixed || recalled_order(&runs[i], &runs[kept - 1]))
            runs[kept++] = runs[i];
    *count = kept;
}
