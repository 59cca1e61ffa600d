/* test_net_estimate.c - from timed exchanges of messages to the parameters of the network */
#include "tap.h"
#include "unit/net_truth.h"

#include <time.h>

static const struct hrun_net_estimate_options plain = { 0, 0.05, 0.01 }, sharing = HRUN_NET_ESTIMATE_DEFAULT;

static double off(double got, double want)
{
    return want > 0 ? fabs(got / want - 1) : got;
}

struct offs { double C, t, L, beta, out, in, half; };
static struct offs compare(const struct hrun_net *net, const struct truth *u)
{
    struct offs o = { 0 };
    for (int i = 0; i < u->n; i++) {
        const struct hrun_net_class *c = &net->classes[net->class_of[i]];
        o.C = fmax(o.C, off(c->C_s.v, u->C[i]));
        o.t = fmax(o.t, off(c->t_s_per_byte.v, u->t[i]));
        o.out = fmax(o.out, off(c->out_bytes_per_s.v, u->out[i]));
        o.in = fmax(o.in, off(c->in_bytes_per_s.v, u->in[i]));
        for (int j = 0; j < u->n; j++) {
            const struct hrun_net_pair *p = &net->pairs[net->class_of[i] * net->nclasses + net->class_of[j]];
            if (i == j) continue;
            o.L = fmax(o.L, off(p->L_s.v, u->L[i][j]));
            o.beta = fmax(o.beta, off(p->beta_bytes_per_s.v, u->beta[i][j]));
        }
    }
    return o;
}

static void show(const char *name, const struct truth *u, int what, double noise, int every, double m)
{
    struct log l;
    struct hrun_net *net = NULL;
    struct hrun_net_quality q = { 0 };
    struct hrun_error err = { 0 };
    struct offs o;
    struct timespec a, b;

    log_begin(&l, u, noise, 10);
    log_all(&l, u, what, m, every);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
    if (hrun_net_estimate(&l.r, &plain, &net, &q, &err)) {
        printf("# %s: error %s\n", name, err.text);
        return;
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
    o = compare(net, u);
    printf("# %s: %zu records, %.3f s: C %.2g t %.2g L %.2g beta %.2g out %.2g in %.2g; residual %.2g worst %.2g back %g trunk %g groups %d\n", name, l.r.n,
           (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec), o.C, o.t, o.L, o.beta, o.out, o.in, q.residual_rel, q.worst_rel, net->back_share, net->trunks[net->ngroups > 1].v, net->ngroups);
    for (size_t i = 0; i < q.notes.n; i++) printf("#   %s\n", q.notes.v[i]);
    hrun_net_quality_release(&q);
    hrun_net_destroy(net);
    hrun_net_records_release(&l.r);
}

static void paper(struct truth *u, int n)
{
    *u = (struct truth){ .n = n };
    for (int i = 0; i < n; i++) { u->C[i] = truth_between(20e-6, 80e-6); u->t[i] = truth_between(1e-9, 8e-9); u->kind[i] = i; }
    for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) u->beta[i][j] = u->beta[j][i] = truth_between(5e7, 1.2e8);
}
static void wired(struct truth *u, int n)
{
    *u = (struct truth){ .n = n };
    for (int i = 0; i < n; i++) { u->C[i] = truth_between(2e-6, 8e-6); u->t[i] = truth_between(1e-10, 4e-10); u->kind[i] = i; u->out[i] = truth_between(8e7, 1.3e8); u->in[i] = truth_between(8e7, 1.3e8); }
    for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { if (i == j) continue; u->L[i][j] = u->L[j][i] = truth_between(20e-6, 30e-6); u->beta[i][j] = fmin(u->out[i], u->in[j]); }
}

int main(int argc, char **argv)
{
    struct truth u;
    (void)argc, (void)argv; (void)sharing;
    for (int n = 4; n <= 16; n *= 2) { int ev = n / 4;
        paper(&u, n);
        show("paper, paper's records", &u, EMPTY | THERE | FANS, 0, ev, 16384);
        show("paper, all", &u, ALL, 0, ev, 16384);
        show("paper, all, noise 1 %", &u, ALL, 0.01, ev, 16384);
        wired(&u, n);
        show("wired, all", &u, ALL, 0, ev, 16384);
        show("wired, no calls", &u, ALL & ~CALLS, 0, ev, 16384);
        show("wired, all, noise 1 %", &u, ALL, 0.01, ev, 16384);
    }
    return tap_done();
}
