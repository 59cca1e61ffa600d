/* lists.c - what the options say is to be measured; see lists.h */
#include "lists.h"

#include "base/units.h"

#include <stdlib.h>
#include <string.h>

enum { PES_MAX = 1000000 };

/* "1,2,4-8:2" -> ascending distinct numbers. */
static int parse_list(const char *what, const char *text, int64_t max, int64_t *v, int *n, struct hrun_error *err)
{
    char *copy = strdup(text), *save = NULL, *word;
    int k = 0, rc = -1;

    if (!copy)
        return hrun_fail_nomem(err);
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
        if (hrun_parse_count(what, word, 1, max, &lo, err) ||
            (dash && hrun_parse_count(what, dash + 1, lo, max, &hi, err)) ||
            (colon && hrun_parse_count(what, colon + 1, 1, max, &step, err)))
            goto done;
        if (!dash)
            hi = lo;
        for (int64_t x = lo; x <= hi; x += step) {
            int i;

            for (i = k; i > 0 && v[i - 1] > x; i--)
                ;
            if (i > 0 && v[i - 1] == x)
                continue;
            if (k == LIST_MAX) {
                hrun_fail(err, HRUN_EINVAL, "%s: more than %d numbers", what, LIST_MAX);
                goto done;
            }
            memmove(v + i + 1, v + i, (size_t)(k - i) * sizeof *v);
            v[i] = x;
            k++;
        }
    }
    if (!k) {
        hrun_fail(err, HRUN_EINVAL, "%s: the list is empty", what);
        goto done;
    }
    *n = k;
    rc = 0;
done:
    free(copy);
    return rc;
}

int lists_parse_procs(const char *text, int64_t *procs, int most, int *n, struct hrun_error *err)
{
    int64_t *all = calloc(LIST_MAX + 1, sizeof *all);
    int count = 0, rc;

    if (!all)
        return hrun_fail_nomem(err);
    rc = parse_list("--procs", text, HRUN_PROCS_PER_PE_MAX, all, &count, err);
    if (!rc && count > most)
        rc = hrun_fail(err, HRUN_EINVAL, "--procs: more than %d numbers", most);
    for (int k = 0; k < count && !rc; k++)
        procs[k] = all[k];
    *n = rc ? *n : count;
    free(all);
    return rc;
}

/* From a definition's list. */
static void take(int64_t *v, int *n, int64_t x)
{
    if (*n < LIST_MAX)
        v[(*n)++] = x;
}

int lists_read(const struct context *c, const struct calib_settings *s, struct lists *out, struct hrun_error *err)
{
    const struct hrun_app *app = c->app;
    const char *sizes = s->sizes ? s->sizes : s->size;

    memset(out, 0, sizeof *out);
    out->most = calloc((size_t)c->cluster->nsubs, sizeof *out->most);
    if (!out->most)
        return hrun_fail_nomem(err);
    for (int i = 0; !sizes && i < app->nsizes; i++)
        take(out->sizes, &out->nsizes, app->sizes[i]);
    for (int i = 0; !s->procs && i < app->nprocs_per_pe; i++)
        take(out->procs, &out->nprocs, app->procs_per_pe[i]);
    if (context_use(c->cluster, s->use, out->most, err) ||
        (sizes && parse_list(s->sizes ? "--sizes" : "-N", sizes, HRUN_COUNT_MAX, out->sizes, &out->nsizes, err)) ||
        (s->pes && parse_list("--pes", s->pes, PES_MAX, out->pes, &out->npes, err)) ||
        (s->procs && parse_list("--procs", s->procs, HRUN_PROCS_PER_PE_MAX, out->procs, &out->nprocs, err)))
        goto fail;
    if (out->nsizes)
        return 0;
    hrun_fail(err, HRUN_EINVAL, "the definition of %s (%s) suggests no sizes: give some with --sizes LIST", app->name,
              app->file);
fail:
    lists_release(out);
    return -1;
}

void lists_release(struct lists *l)
{
    free(l->most);
    memset(l, 0, sizeof *l);
}
