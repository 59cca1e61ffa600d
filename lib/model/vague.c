/* vague.c - measurements that tell little, however well a model fits them; see model.h */
#include "model/model.h"

#include "base/units.h"

#include <math.h>

/* The shortest times of one P and M at the least and the largest N. */
struct ends {
    int P, M;
    int64_t n[2];
    double time_s[2];
};

static int counts(const struct hrun_sample *s)
{
    return s->ok && !s->mixed && !s->copies;
}

static void look(const struct hrun_sample *samples, size_t n, struct ends *e)
{
    for (size_t i = 0; i < n; i++) {
        const struct hrun_sample *s = &samples[i];

        for (int end = 0; end < 2 && counts(s) && s->P == e->P && s->M == e->M; end++) {
            if (!e->n[end] || (end ? s->N > e->n[end] : s->N < e->n[end])) {
                e->n[end] = s->N;
                e->time_s[end] = s->time_s;
            }
            if (s->N == e->n[end])
                e->time_s[end] = fmin(e->time_s[end], s->time_s);
        }
    }
}

/* Of no P and M does the time follow N; *widest gets the one with the widest range of N. */
static int is_flat(const struct hrun_sample *samples, size_t n, struct ends *widest)
{
    static const double range = 2, power = 0.15;    /* less than any power of N that a code's work has */
    double most = 0;

    for (size_t i = 0; i < n; i++) {
        struct ends e = { .P = samples[i].P, .M = samples[i].M };

        if (!counts(&samples[i]))
            continue;
        look(samples, n, &e);
        if ((double)e.n[1] < range * (double)e.n[0])
            continue;
        if (e.time_s[1] > e.time_s[0] * pow((double)e.n[1] / (double)e.n[0], power))
            return 0;
        if ((double)e.n[1] / (double)e.n[0] > most) {
            most = (double)e.n[1] / (double)e.n[0];
            *widest = e;
        }
    }
    return most > 0;
}

int hrun_samples_vague(const struct hrun_sample *samples, size_t n, struct hrun_buf *out, struct hrun_error *err)
{
    struct ends e = { 0 };

    if (is_flat(samples, n, &e)) {
        hrun_buf_adds(out, "the time hardly follows N, ");
        hrun_add_seconds(out, e.time_s[0]);
        hrun_buf_addf(out, " at N=%lld and ", (long long)e.n[0]);
        hrun_add_seconds(out, e.time_s[1]);
        hrun_buf_addf(out, " at N=%lld on %d process%s: does the size reach the program, and is there work beside its "
                      "start? ", (long long)e.n[1], e.P, e.P == 1 ? "" : "es");
    }
    return out->failed ? hrun_fail_nomem(err) : 0;
}
