/* lists.c - what the options say is to be measured; see lists.h */
#include "lists.h"

#include "base/units.h"

#include <stdlib.h>
#include <string.h>

int lists_add(void *settings, const struct hrun_opt *opt, const char *value, struct hrun_error *err)
{
    struct number_list *out = (struct number_list *)(void *)((char *)settings + opt->offset), l = { .n = 0 };
    char *copy = strdup(value), *what = hrun_strf("--%s", opt->name), *save = NULL, *word;
    int rc = -1;

    if (!copy || !what) {
        hrun_fail_nomem(err);
        goto done;
    }
    for (word = strtok_r(copy, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
        char *dash = strchr(word, '-'), *colon = strchr(word, ':');
        int64_t lo, hi, step = 1;

        if (dash == word)
            dash = NULL;
        if (dash)
            *dash = 0;
        if (colon)
            *colon = 0;
        if (colon && !dash) {
            hrun_fail(err, HRUN_EINVAL, "%s: '%s:%s' is no range; say FIRST-LAST:STEP", what, word, colon + 1);
            goto done;
        }
        if (hrun_parse_count(what, word, opt->min, opt->max, &lo, err) ||
            (dash && hrun_parse_count(what, dash + 1, lo, opt->max, &hi, err)) ||
            (colon && hrun_parse_count(what, colon + 1, 1, opt->max, &step, err)))
            goto done;
        if (!dash)
            hi = lo;
        for (int64_t x = lo; x <= hi; x += step) {
            int i;

            for (i = l.n; i > 0 && l.v[i - 1] > x; i--)
                ;
            if (i > 0 && l.v[i - 1] == x)
                continue;
            if (l.n == LIST_MAX) {
                hrun_fail(err, HRUN_EINVAL, "%s: more than %d numbers", what, LIST_MAX);
                goto done;
            }
            memmove(l.v + i + 1, l.v + i, (size_t)(l.n - i) * sizeof *l.v);
            l.v[i] = x;
            l.n++;
        }
    }
    if (!l.n) {
        hrun_fail(err, HRUN_EINVAL, "%s: the list is empty", what);
        goto done;
    }
    *out = l;
    rc = 0;
done:
    free(what);
    free(copy);
    return rc;
}

int lists_read(const struct context *c, const struct calib_settings *s, struct lists *out, struct hrun_error *err)
{
    const struct hrun_app *app = c->app;
    int most = 0;

    *out = (struct lists){ s->sizes, s->pes, s->procs, calloc((size_t)c->cluster->nsubs, sizeof *out->most) };
    if (!out->most)
        return hrun_fail_nomem(err);
    if (s->N)
        out->sizes = (struct number_list){ { s->N }, 1 };
    for (int i = 0; !s->N && !s->sizes.n && i < app->nsizes && i < LIST_MAX; i++)
        out->sizes.v[out->sizes.n++] = app->sizes[i];
    for (int i = 0; !s->procs.n && i < app->nprocs_per_pe && i < LIST_MAX; i++)
        out->procs.v[out->procs.n++] = app->procs_per_pe[i];
    if (context_use(c->cluster, s->use, out->most, err))
        goto fail;
    for (int i = 0; i < c->cluster->nsubs; i++)
        most = out->most[i] > most ? out->most[i] : most;
    if (!out->sizes.n)
        hrun_fail(err, HRUN_EINVAL, "the definition of %s (%s) suggests no sizes: give some with --sizes LIST",
                  app->name, app->file);
    else if (out->pes.n && out->pes.v[0] > most)
        hrun_fail(err, HRUN_EINVAL, "--pes: no sub-cluster has so many PEs as %lld (hrun --show-cluster)",
                  (long long)out->pes.v[0]);
    else
        return 0;
fail:
    lists_release(out);
    return -1;
}

void lists_release(struct lists *l)
{
    free(l->most);
    *l = (struct lists){ .most = NULL };
}
