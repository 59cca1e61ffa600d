/* test_model_vague.c - measurements that tell little are told: times that hardly follow N */
#include "tap.h"

#include "model/model.h"

#include <math.h>

typedef double truth(double N, int P);

static double cubic(double N, int P)
{
    return 0.5 + 1e-9 * N * N * N / P + 1e-7 * (double)((int64_t)N % 7);
}

static double start(double N, int P)
{
    return 0.4123456 + 1e-6 * N + 1e-3 * P;
}

/* What is said of runs at N = 400 to 3200 on 1 to 4 processes. */
static const char *said(truth *t, struct hrun_buf *out)
{
    struct hrun_sample s[16] = { { 0 } };
    size_t n = 0;

    for (int64_t N = 400; N <= 3200; N *= 2)
        for (int P = 1; P <= 4; P++)
            s[n++] = (struct hrun_sample){ .N = N, .P = P, .M = 1, .pes = P, .ok = 1, .time_s = t((double)N, P) };
    s[n - 1].mixed = 1;           /* neither mixed runs nor failed ones count */
    s[n - 1].time_s = 100;
    s[0].ok = 0;
    s[0].time_s = 0;
    hrun_buf_reset(out);
    hrun_samples_vague(s, n, out);
    return out->data;
}

int main(void)
{
    struct hrun_buf out = HRUN_BUF_INIT;

    is_str(said(cubic, &out), "", "of times that grow nothing is said");
    has_str(said(start, &out), "the time hardly follows N, 415 ms at N=400 and 418 ms at N=3200 on 2 processes",
            "of a start without work it is");
    hrun_buf_reset(&out);
    hrun_samples_vague(NULL, 0, &out);
    ok(!out.len, "nothing is said of nothing");
    hrun_buf_release(&out);
    return tap_done();
}
