/* import.c - append imported measurements to their logs; see store.h */
#include "base/alloc.h"
#include "store/internal.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- lists of measurements */

void exchange_drop(struct hrun_exchanged *x)
{
    free(x->app);
    free(x->signature);
    hrun_sample_release(&x->sample);
    x->app = x->signature = NULL;
}

void hrun_exchange_release(struct hrun_exchange *x)
{
    for (size_t i = 0; i < x->n; i++)
        exchange_drop(&x->v[i]);
    free(x->v);
    free(x->app);
    free(x->signature);
    memset(x, 0, sizeof *x);
}

const struct store_field *exchange_field(const char *key)
{
    for (int i = 0; i < STORE_NFIELDS; i++)
        if (!strcmp(store_fields[i].key, key))
            return &store_fields[i];
    return NULL;
}

unsigned exchange_bit(const struct store_field *f)
{
    return 1u << (f - store_fields);
}

/* ---------------------------------------------------------------- owners */

/* Set the application or the signature of measurement i to `said`, or check the one in the file if `said` is NULL. */
static int claim(struct hrun_exchange *x, size_t i, int is_app, const char *said, const char *file,
                 struct hrun_error *err)
{
    const char *what = is_app ? "application" : "signature", *option = is_app ? "-app" : "--signature";
    const char *first = is_app ? x->app : x->signature;
    char **name = is_app ? &x->v[i].app : &x->v[i].signature;

    if (said && *name && first && strcmp(*name, first))
        return hrun_fail_at(err, HRUN_EINVAL, file, x->v[i].line, 0, "the file has several %ss ('%s', '%s'), and %s "
                            "would merge them", what, first, *name, option);
    if (!said && !*name)
        return hrun_fail_at(err, HRUN_EINVAL, file, x->v[i].line, 0, "the %s of the measurement is not known: say it "
                            "with %s", what, option);
    if (said) {
        free(*name);
        *name = xstrdup(said);
    }
    return store_check_name(is_app ? "an application" : "a sub-cluster signature", *name, err);
}

int hrun_exchange_claim(struct hrun_exchange *x, const char *file, const char *app, const char *signature,
                        struct hrun_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < x->n && !(x->app && x->signature); i++) {
        if (!x->app && x->v[i].app)
            x->app = xstrdup(x->v[i].app);
        if (!x->signature && x->v[i].signature)
            x->signature = xstrdup(x->v[i].signature);
    }
    for (size_t i = 0; i < x->n && !rc; i++)
        rc = claim(x, i, 1, app, file, err) || claim(x, i, 0, signature, file, err) ? -1 : 0;
    return rc;
}

/* ---------------------------------------------------------------- new measurements */

/* 1 if x and the stored measurement are equal in all fields that the file has, `origin` excepted; else 0. */
static int is_same(const struct hrun_exchanged *x, const struct hrun_sample *stored)
{
    static const char *const always[] = { "N", "P", "M", "pes", "ok", "mixed", "time_s" };
    static const size_t sizes[] = { [STORE_COUNT] = sizeof(int64_t), [STORE_SMALL] = sizeof(int),
                                    [STORE_FLAG] = sizeof(int), [STORE_SECONDS] = sizeof(double) };
    unsigned compared = x->given;

    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        compared |= exchange_bit(exchange_field(always[i]));
    compared &= ~exchange_bit(exchange_field("origin"));
    for (const struct store_field *f = store_fields; f < store_fields + STORE_NFIELDS; f++) {
        const void *p = store_member(&x->sample, f), *q = store_member(stored, f);

        if (compared & exchange_bit(f) && (f->kind == STORE_TEXT
                                           ? !hrun_text_same(*(char *const *)p, *(char *const *)q)
                                           : memcmp(p, q, sizes[f->kind]) != 0))
            return 0;
    }
    return 1;
}

int hrun_exchange_store(struct hrun_store *s, const struct hrun_exchange *x, size_t first, size_t *added,
                        size_t *known, struct hrun_error *err)
{
    const char *app = x->v[first].app, *signature = x->v[first].signature;
    autofree const struct hrun_sample **fresh = xcalloc(x->n + 1, sizeof *fresh);
    autorelease(hrun_samples_release) struct hrun_samples log = { 0 };
    autofree char *taken = NULL;        /* [log.n]: 1: a measurement of the file equals this one of the log */
    size_t n = 0, old = 0, left = 0;
    int rc;

    /* The lock keeps another import from adding the same measurements. */
    if (hrun_store_begin(s, app, signature, err))
        return -1;
    rc = hrun_store_samples(s, app, signature, &log, err);
    taken = xcalloc(log.n + 1, 1);
    for (size_t i = first; i < x->n && !rc; i++) {
        size_t k;

        if (strcmp(x->v[i].app, app) || strcmp(x->v[i].signature, signature))
            continue;
        while (left < log.n && taken[left])     /* a file in the order of the log thus needs one pass */
            left++;
        for (k = left; k < log.n && (taken[k] || !is_same(&x->v[i], &log.v[k])); k++)
            ;
        if (k == log.n) {
            fresh[n++] = &x->v[i].sample;
        } else {
            taken[k] = 1;
            old++;
        }
    }
    if (n && !rc)
        rc = store_append(s, app, signature, fresh, n, err);
    hrun_store_end(s);
    if (!rc) {
        *added = n;
        *known = old;
    }
    return rc;
}
