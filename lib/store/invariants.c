/* invariants.c - checks of a measurement; see store.h and internal.h */
#include "base/list.h"
#include "base/units.h"
#include "store/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Check `shares` against `config`. A share is a whole number of units, and the last processes of a sub-cluster may have
 * had one unit less, so the sum of all shares is below 2. Only rounding puts the sum below 1; 0.5 is a safe bound. */
static int check_sample_shares(const struct hrun_sample *s, int subs, struct hrun_error *err)
{
    static const double LEAST = 0.5, MOST = 2;
    const char *at = s->config ? s->config : "";
    double sum = 0;

    if (hrun_list_count(s->shares) != subs)
        return hrun_fail(err, HRUN_EINVAL, "shares are '%s' for the %d sub-clusters '%s'", s->shares, subs,
                         s->cluster ? s->cluster : "");
    for (int i = 0; i < subs; i++) {
        size_t len;
        const char *own = hrun_list_item(s->shares, i, &len);
        char *end, *behind;
        double part = strtod(own, &end);
        long pes = *at == (i ? ',' : '(') ? strtol(at + 1, &behind, 10) : -1;
        long procs = pes >= 0 && *behind == ',' ? strtol(behind + 1, &behind, 10) : -1;

        if (procs < 0 || *behind != (i < subs - 1 ? ',' : ')'))
            return hrun_fail(err, HRUN_EINVAL, "shares are '%s', but config is '%s', none of the %d sub-clusters '%s'",
                             s->shares, s->config ? s->config : "", subs, s->cluster);
        if (end != own + len || !(part >= 0 && part <= 1) || (part > 0) != (pes > 0 && procs > 0))
            return hrun_fail(err, HRUN_EINVAL, "shares are '%s' for the configuration %s: each is a number above 0 and "
                             "at most 1 where there are processes, and else 0", s->shares, s->config);
        sum += (double)pes * (double)procs * part;
        at = behind;
    }
    if (!(sum >= LEAST && sum <= MOST))
        return hrun_fail(err, HRUN_EINVAL, "shares are '%s' for the configuration %s: those of all processes add up to "
                         "%g, not to 1", s->shares, s->config, sum);
    return 0;
}

/* Check the fields that older versions of hrun did not record. */
static int check_details(const struct hrun_sample *s, struct hrun_error *err)
{
    int n = hrun_list_count(s->signatures), subs = hrun_list_count(s->cluster);

    if (n && n != subs)
        return hrun_fail(err, HRUN_EINVAL, "signatures are %d ('%s') for the %d sub-clusters '%s'", n, s->signatures,
                         subs, s->cluster ? s->cluster : "");
    if (s->limits && *s->limits && hrun_list_find(s->cluster, s->limits) < 0)
        return hrun_fail(err, HRUN_EINVAL, "limits is '%s', which is none of the sub-clusters '%s'", s->limits,
                         s->cluster ? s->cluster : "");
    if (!(isfinite(s->compute_s) && s->compute_s >= 0) || !(isfinite(s->mpi_s) && s->mpi_s >= 0))
        return hrun_fail(err, HRUN_EINVAL, "compute_s and mpi_s are %g and %g: they must be finite and not negative",
                         s->compute_s, s->mpi_s);
    if (!(isfinite(s->work) && s->work >= 0))
        return hrun_fail(err, HRUN_EINVAL, "work is %g: it must be finite and not negative", s->work);
    if (s->shares && *s->shares && check_sample_shares(s, subs, err))
        return -1;
    if ((s->copies != 0 && s->copies != 1) || (s->copies && s->mixed))
        return hrun_fail(err, HRUN_EINVAL, "copies is %d: it must be 0 or 1, and 0 where several sub-clusters "
                         "took part",
                         s->copies);
    return 0;
}

int store_check_sample(const struct hrun_sample *s, struct hrun_error *err)
{
    int64_t here = (int64_t)s->M * s->pes;
    double age;

    if (s->N < 1 || s->N > HRUN_COUNT_MAX)
        return hrun_fail(err, HRUN_EINVAL, "N is %lld, not in 1..2^53", (long long)s->N);
    if (s->P < 1 || s->M < 1 || s->pes < 1)
        return hrun_fail(err, HRUN_EINVAL, "P, M and pes are %d, %d and %d: each must be 1 or more",
                         s->P, s->M, s->pes);
    if ((s->ok != 0 && s->ok != 1) || (s->mixed != 0 && s->mixed != 1))
        return hrun_fail(err, HRUN_EINVAL, "ok and mixed are %d and %d: each must be 0 or 1", s->ok,
                         s->mixed);
    if (!s->mixed && here != s->P)
        return hrun_fail(err, HRUN_EINVAL, "P is %d, but %d PEs with %d processes each hold %lld", s->P,
                         s->pes, s->M, (long long)here);
    if (s->mixed && here >= s->P)
        return hrun_fail(err, HRUN_EINVAL, "P is %d, but %lld processes are in this sub-cluster alone and "
                         "others took part", s->P, (long long)here);
    if (s->ok != hrun_text_same(s->status, "ok"))
        return hrun_fail(err, HRUN_EINVAL, "status is '%s' for a run that %s", s->status ? s->status : "",
                         s->ok ? "was good: it must be 'ok'" : "failed: it must say how");
    if (!s->ok && (!s->status || !*s->status))
        return hrun_fail(err, HRUN_EINVAL, "status is empty for a run that failed: it must say how");
    if (s->ok && !(isfinite(s->time_s) && s->time_s > 0))
        return hrun_fail(err, HRUN_EINVAL, "time_s is %g: a time is a positive, finite number of seconds",
                         s->time_s);
    if (s->ok && !(isfinite(s->wall_s) && s->wall_s > 0))
        return hrun_fail(err, HRUN_EINVAL, "wall_s is %g: a time is a positive, finite number of seconds",
                         s->wall_s);
    if (!s->ok && s->time_s != 0)
        return hrun_fail(err, HRUN_EINVAL, "time_s is %g for a run that failed: it must be 0", s->time_s);
    if (!s->ok && !(isfinite(s->wall_s) && s->wall_s >= 0))
        return hrun_fail(err, HRUN_EINVAL, "wall_s is %g: it must be finite and not negative", s->wall_s);
    if (hrun_date_age(s->date, &age))
        return hrun_fail(err, HRUN_EINVAL, "date is '%s', not of the form 2026-11-20T10:36:00Z",
                         s->date ? s->date : "");
    return check_details(s, err);
}
