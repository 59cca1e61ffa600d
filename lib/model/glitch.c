/* glitch.c - the glitch rule of paper 000; see glitch.h for the contract */
#include "model/glitch.h"

#include "model/terms.h"

#include <math.h>
#include <string.h>

static int same_place(const struct hrun_row *a, const struct hrun_row *b)
{
    return a->M == b->M && a->P == b->P && a->kind == b->kind;
}

/* Rows of one size are in order of time. */
static double median(const struct hrun_row *rows, size_t n)
{
    return (rows[(n - 1) / 2].T + rows[n / 2].T) / 2;
}

/* Append a line. */
static void tell(struct hrun_buf *skipped, const struct hrun_row *row, double ratio, int64_t before, double k)
{
    hrun_buf_addf(skipped, "M=%d, P=%d, N=%lld is excluded as a glitch: %.2f of the performance at N=%lld, at most "
                  "%.2f\n", row->M, row->P, (long long)row->N, ratio, (long long)before, k);
}

/* Walk over the sizes of each place; with out = NULL only look whether every performance can be computed. *kept: rows
 * that are copied to out. */
static int walk(const struct hrun_app *app, double k, const struct hrun_row *rows, size_t n, struct hrun_row *out,
                size_t *kept, struct hrun_buf *skipped, struct hrun_error *err)
{
    double before = 0;
    size_t end;

    *kept = 0;
    for (size_t first = 0; first < n; first = end) {
        const struct hrun_row *row = &rows[first];
        int compare = first > 0 && same_place(row, &rows[first - 1]), glitch;
        double work, performance;

        for (end = first; end < n && rows[end].N == row->N && same_place(&rows[end], row);)
            end++;
        if (hrun_term_eval(app->nt.v[0].expr, HRUN_TERM_N, (double)row->N, 0, 0, &work, err))
            return hrun_fail_prefix(err, "term '%s' of %s at N=%lld", app->nt.v[0].text, app->name, (long long)row->N);
        performance = work / median(row, end - first);
        glitch = compare && performance <= k * before;
        if (glitch && out && skipped)
            tell(skipped, row, performance / before, rows[first - 1].N, k);
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
    if (walk(app, k, rows, *n, NULL, &kept, NULL, err))
        return -1;
    walk(app, k, rows, *n, rows, &kept, skipped, NULL);
    *n = kept;
    return 0;
}
