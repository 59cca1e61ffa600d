/* rows.c - which measurements are fitted, and in what order; see rows.h for the contract */
#include "model/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_place(const void *a, const void *b)
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
        qsort(rows, n, sizeof *rows, by_place);
}

int hrun_rows_select(const struct hrun_app *app, const struct hrun_sample *samples, size_t n,
                     int own, struct hrun_row *rows, size_t *nrows, struct hrun_error *err)
{
    struct hrun_buf consts = HRUN_BUF_INIT;
    size_t count = 0, failed = 0, mixed = 0, other = 0;
    int rc = -1;

    hrun_app_consts_text(app, &consts);
    if (consts.failed) {
        hrun_fail_nomem(err);
        goto out;
    }
    for (size_t i = 0; i < n; i++) {
        const struct hrun_sample *s = &samples[i];

        if (!s->ok) {
            failed++;
        } else if (s->mixed) {
            mixed++;
        } else if (strcmp(s->consts ? s->consts : "", consts.data)) {
            other++;
        } else if (!isfinite(s->time_s) || s->time_s <= 0) {
            hrun_fail(err, HRUN_ENONFINITE,
                      "measurement %zu of %s (N=%lld, P=%d, M=%d) has a time of %g s; a time is "
                      "finite and above 0",
                      i + 1, app->name, (long long)s->N, s->P, s->M, s->time_s);
            goto out;
        } else if (s->M < 1 || s->P < s->M) {
            hrun_fail(err, HRUN_EINVAL,
                      "measurement %zu of %s (N=%lld) has P=%d processes with M=%d on each PE", i + 1,
                      app->name, (long long)s->N, s->P, s->M);
            goto out;
        } else {
            rows[count++] = (struct hrun_row) { s->N, s->P, s->M, s->time_s, s->date ? s->date : "",
                                                s->P == s->M ? HRUN_ROW_SINGLE : HRUN_ROW_OWN, 1, s, own };
        }
    }
    if (count == 0) {
        hrun_fail(err, HRUN_ENODATA,
                  "no measurement of %s can be used: of %zu, %zu failed, %zu ran on several "
                  "sub-clusters, %zu had constants other than '%s'",
                  app->name, n, failed, mixed, other, consts.data);
        goto out;
    }
    hrun_rows_sort(rows, count);
    *nrows = count;
    rc = 0;
out:
    hrun_buf_release(&consts);
    return rc;
}
