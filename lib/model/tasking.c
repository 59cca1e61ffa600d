/* tasking.c - how a program deals its work out; see tasking.h for the contract */
#include "model/tasking.h"

#include <math.h>

double hrun_tasking_excess(const struct hrun_tasking *f, int P)
{
    return f->master && P > 1 ? P / (P - 1.0) : 1;
}

void hrun_tasking_term(const struct hrun_tasking *f, const char *term, struct hrun_buf *out)
{
    hrun_buf_addf(out, f->master ? "(%s)*P/(P-1)" : "%s", term);
}

double hrun_tasking_time(const struct hrun_tasking *f, const struct hrun_part_time *parts, int n)
{
    double most = parts[0].t, rate = 0;
    int P = 0;

    for (int i = 0; i < n; i++) {
        int workers = parts[i].processes - (i == 0 && (n > 1 || parts[i].processes > 1) ? f->master : 0);

        most = isnan(parts[i].t) || parts[i].t > most ? parts[i].t : most;
        rate += workers / parts[i].t;
        P += workers;
    }
    return f->dynamic && most > 0 ? P / rate : most;
}

double hrun_tasking_least(const struct hrun_tasking *f, const struct hrun_part_time *parts, int n, int rest,
                          double quickest)
{
    double most = 0, rate = rest > 0 ? rest / quickest : 0;
    int P = rest;

    for (int i = 0; i < n; i++) {
        most = fmax(most, parts[i].t);
        rate += parts[i].processes / parts[i].t;
        P += parts[i].processes;
    }
    return f->dynamic ? P / rate / hrun_tasking_excess(f, P) : most;
}
