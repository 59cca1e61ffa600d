/* recall.c - runs as the configurations of a cluster; see recall.h for the contract */
#include "model/recall.h"

#include "base/list.h"
#include "model/mixed.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The sub-cluster of the cluster that stands at `place` of the run's, or -1. own: the signature of the log. */
static int find_sub(const struct hrun_sample *s, int place, const char *own, const struct hrun_joint_sub *subs,
                    int nsubs)
{
    size_t len = 0;
    int told = hrun_list_item(s->signatures, place, &len) && len, found = -1, several = 0;

    if (!told && s->mixed)
        return -1;
    for (int i = 0; i < nsubs; i++) {
        if (told ? !hrun_list_is(s->signatures, place, subs[i].signature) : strcmp(own, subs[i].signature))
            continue;
        if (hrun_list_is(s->cluster, place, subs[i].name))
            return i;
        several = found >= 0;
        found = i;
    }
    return several ? -1 : found;
}

/* The configuration of a record into pes[nsubs] and procs[nsubs]. 1, or 0 when it is none of this cluster's. */
static int read_config(const struct hrun_sample *s, const char *own, const struct hrun_joint_sub *subs, int nsubs,
                       int *pes, int *procs)
{
    const char *at = s->config ? s->config : "";
    int64_t P = 0;

    for (int i = 0; i < nsubs; i++)
        pes[i] = procs[i] = 0;
    for (int place = 0; *at == (place ? ',' : '('); place++) {
        char *end;
        long p = strtol(at + 1, &end, 10), m = *end == ',' ? strtol(end + 1, &end, 10) : 0;
        int sub;

        at = end;
        if (p <= 0 || m <= 0)
            continue;
        if (p > INT_MAX || m > INT_MAX / p)
            return 0;
        sub = find_sub(s, place, own, subs, nsubs);
        if (sub < 0 || pes[sub])
            return 0;
        pes[sub] = (int)p;
        procs[sub] = (int)m;
        P += (int64_t)p * m;
    }
    return *at == ')' && P == s->P;
}

static int by_run(const void *a, const void *b)
{
    const struct hrun_recalled *x = a, *y = b;

    return hrun_mixed_order(x->s, y->s);
}

int hrun_recall(const struct hrun_app *app, const struct hrun_joint_sub *subs, int nsubs, struct hrun_recalled *runs,
                int *numbers, size_t *count, struct hrun_error *err)
{
    struct hrun_buf consts = HRUN_BUF_INIT;
    size_t n = 0, kept = 0;

    hrun_app_consts_text(app, &consts);
    if (consts.failed) {
        hrun_buf_release(&consts);
        return hrun_fail_nomem(err);
    }
    for (int i = 0; i < nsubs; i++) {
        int again = 0;

        for (int j = 0; j < i; j++)
            again |= !strcmp(subs[j].signature, subs[i].signature);
        for (size_t k = 0; k < subs[i].n && !again; k++) {
            const struct hrun_sample *s = &subs[i].samples[k];

            runs[n] = (struct hrun_recalled) { s, nsubs, numbers, numbers + nsubs, 0, 0 };
            if (app->family == HRUN_APP_WEAK && s->origin && !strcmp(s->origin, "calibration"))
                continue;   /* of other meshes than those of size N */
            if (!s->ok || !(s->time_s > 0) || strcmp(s->consts ? s->consts : "", consts.data) ||
                !read_config(s, subs[i].signature, subs, nsubs, runs[n].pes, runs[n].procs))
                continue;
            n++;
            numbers += 2 * nsubs;
        }
    }
    if (n)
        qsort(runs, n, sizeof *runs, by_run);
    for (size_t i = 0; i < n; i++)
        if (!i || !runs[i].s->mixed || by_run(&runs[i], &runs[kept - 1]))
            runs[kept++] = runs[i];
    *count = kept;
    hrun_buf_release(&consts);
    return 0;
}
