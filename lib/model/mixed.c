/* mixed.c - runs on several sub-clusters; see mixed.h for the contract */
#include "model/mixed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One record of a run, in the log of one sub-cluster. */
struct entry {
    const struct hrun_sample *s;
    int sub;
};

static int by_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

static int by_number(double a, double b)
{
    return (a > b) - (a < b);
}

int hrun_mixed_order(const struct hrun_sample *x, const struct hrun_sample *y)
{
    int order = (x->N > y->N) - (x->N < y->N);

    order = order ? order : (x->P > y->P) - (x->P < y->P);
    order = order ? order : by_text(x->date, y->date);
    order = order ? order : by_number(x->time_s, y->time_s);
    order = order ? order : by_number(x->wall_s, y->wall_s);
    order = order ? order : by_text(x->config, y->config);
    order = order ? order : by_text(x->cluster, y->cluster);
    return order ? order : by_text(x->signatures, y->signatures);
}

static int by_place(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int order = hrun_mixed_order(x->s, y->s);

    order = order ? order : (x->sub > y->sub) - (x->sub < y->sub);
    order = order ? order : (x->s->M > y->s->M) - (x->s->M < y->s->M);
    return order ? order : (x->s->pes > y->s->pes) - (x->s->pes < y->s->pes);
}

static int check(const struct hrun_app *app, const struct hrun_sample *s, struct hrun_error *err)
{
    if (!isfinite(s->time_s) || s->time_s <= 0)
        return hrun_fail(err, HRUN_ENONFINITE, "a run of %s on several sub-clusters (N=%lld, P=%d) has a time of %g s; "
                         "a time is finite and above 0", app->name, (long long)s->N, s->P, s->time_s);
    if (s->M < 1 || s->pes < 1 || s->P <= s->M)
        return hrun_fail(err, HRUN_EINVAL, "a run of %s on several sub-clusters (N=%lld) has P=%d processes with %d "
                         "PEs of M=%d", app->name, (long long)s->N, s->P, s->pes, s->M);
    return 0;
}

/* The run of entries[n], which are of one run. */
static void add_run(struct hrun_mixed *out, const struct entry *entries, size_t n)
{
    const struct hrun_sample *s = entries[0].s;
    struct hrun_mixed_run *r = &out->runs[out->nruns++];
    int64_t found = 0;

    *r = (struct hrun_mixed_run) { s->N, s->P, s->time_s, s->date ? s->date : "", out->nparts, n, 0, s };
    for (size_t i = 0; i < n; i++) {
        const struct hrun_sample *e = entries[i].s;

        out->parts[out->nparts++] = (struct hrun_mixed_part) { entries[i].sub, e->M, e->pes };
        found += (int64_t)e->M * e->pes;
    }
    r->whole = found == s->P;
}

int hrun_mixed_list(const struct hrun_app *app, const struct hrun_joint_sub *subs, int nsubs, struct hrun_mixed *out,
                    struct hrun_error *err)
{
    struct hrun_buf consts = HRUN_BUF_INIT;
    struct hrun_mixed m = { NULL, NULL, 0, 0 };
    struct entry *entries = NULL;
    size_t n = 0, count = 0, end;
    int rc = -1;

    hrun_app_consts_text(app, &consts);
    for (int i = 0; i < nsubs; i++)
        n += subs[i].n;
    entries = calloc(n + 1, sizeof *entries);
    m.runs = calloc(n + 1, sizeof *m.runs);
    m.parts = calloc(n + 1, sizeof *m.parts);
    if (consts.failed || !entries || !m.runs || !m.parts) {
        hrun_fail_nomem(err);
        goto out;
    }
    for (int i = 0; i < nsubs; i++)
        for (size_t j = 0; j < subs[i].n; j++) {
            const struct hrun_sample *s = &subs[i].samples[j];

            if (!s->ok || !s->mixed || by_text(s->consts, consts.data))
                continue;
            if (check(app, s, err))
                goto out;
            entries[count++] = (struct entry) { s, i };
        }
    if (count)
        qsort(entries, count, sizeof *entries, by_place);
    for (size_t begin = 0; begin < count; begin = end) {
        for (end = begin + 1; end < count && !hrun_mixed_order(entries[begin].s, entries[end].s);)
            end++;
        add_run(&m, entries + begin, end - begin);
    }
    *out = m;
    memset(&m, 0, sizeof m);
    rc = 0;
out:
    hrun_mixed_release(&m);
    free(entries);
    hrun_buf_release(&consts);
    return rc;
}

void hrun_mixed_release(struct hrun_mixed *m)
{
    free(m->runs);
    free(m->parts);
    memset(m, 0, sizeof *m);
}
