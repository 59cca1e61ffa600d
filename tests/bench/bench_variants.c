/* bench_variants.c - choosing among the variants of a definition: what it costs beyond deciding for each of them
 *
 * Two simulated sub-clusters of 6 PEs, the three variants of share/profiles/matmul.yaml, whose formulas ask for the
 * network. Alternating turns: variants_choose, and the decisions for each variant alone; medians, and the difference of
 * the shortest turns, as what others do on the machine is more than that difference.
 */
#include "bench.h"
#include "net/net_parts.h"
#include "session/decide.h"
#include "session/variants.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { REPS = 301, HOSTS = 12 };

static void die(const struct hrun_error *err)
{
    char text[HRUN_ERROR_FILE + HRUN_ERROR_TEXT + 32];

    fprintf(stderr, "bench_variants: %s\n", hrun_error_format(err, text, sizeof text));
    exit(1);
}

static int give_hosts(void *ctx, const char *path, char *const *hosts, struct hrun_buf *text,
                      struct hrun_error *err)
{
    (void)ctx;
    (void)path;
    (void)hosts;
    (void)err;
    hrun_buf_adds(text, "simgrid 3.32\n");
    for (int h = 0; h < HOSTS; h++)
        hrun_buf_addf(text, "host %g 1 1.25e8 2e-5 0 1.25e8 4e-5 %s-%d\n", h < HOSTS / 2 ? 5.2e9 : 4e9,
                      h < HOSTS / 2 ? "sol" : "azur", h % (HOSTS / 2));
    hrun_buf_adds(text, "end\n");
    return 0;
}

static struct hrun_net *make_net(const struct hrun_cluster *cl)
{
    const char *names[HOSTS];
    struct hrun_net *net;

    for (int h = 0; h < HOSTS; h++)
        names[h] = cl->hosts[h].name;
    net = net_make(names, HOSTS, HOSTS, 1, 1);
    for (int i = 0; i < HOSTS; i++) {
        net->class_of[i] = i;
        net->classes[i].out_bytes_per_s.v = net->classes[i].in_bytes_per_s.v = 1.25e8;
        for (int k = 0; k < HOSTS; k++)
            net->pairs[i * HOSTS + k] = (struct hrun_net_pair){ { 4e-5, 0 }, { i == k ? 0 : 1.25e8, 0 } };
    }
    return net;
}

static void set_up(struct context *c, char *dir)
{
    struct hrun_cluster_request req = { .level = -1, .platform = "/dev/null", .read_platform = give_hosts };
    static const struct settings none;
    struct hrun_error err = { 0 };

    c->set = &none;
    if (!mkdtemp(dir) || hrun_cluster_discover(&req, &c->cluster, &err) ||
        hrun_app_load("share/profiles/matmul.yaml", NULL, &c->variants_of, &err))
        die(&err);
    c->engine = hrun_engine_find("smpi");
    c->app = c->variants_of->variants[0];
    c->store = hrun_store_open(dir, &err);
    c->net = make_net(c->cluster);
    c->view = c->net ? hrun_netview_create(c->net, c->cluster, &err) : NULL;
    if (!c->store || !c->view)
        die(&err);
    for (int i = 0; i < c->cluster->nsubs; i++)
        hrun_strvec_push(&c->signatures, c->cluster->subs[i].name);
}

static double choose(struct context *c, int64_t N)
{
    struct question q = { 0 };
    struct variants v = { 0 };
    struct profiles known = { 0 };
    struct decision d = { 0 };
    struct hrun_error err = { 0 };
    double begin = bench_now(), t;

    if (variants_load(c, &v, &err) || variants_choose(c, &q, N, &v, &err))
        die(&err);
    variants_move_chosen(&v, &known, &d);
    t = bench_now() - begin;
    decision_release(&d);
    profiles_release(&known);
    variants_release(&v);
    return t;
}

static double each(struct context *c, int64_t N)
{
    struct profiles known[8] = { 0 };
    struct decision d[8] = { 0 };
    struct question q = { 0 };
    struct hrun_error err = { 0 };
    double begin = bench_now(), t;

    for (int k = 0; k < c->variants_of->nvariants && k < 8; k++) {
        c->app = c->variants_of->variants[k];
        if (profiles_load(c, &known[k], &err) || decision_make(c, &q, &known[k], N, &d[k], &err))
            die(&err);
    }
    t = bench_now() - begin;
    for (int k = 0; k < 8; k++) {
        if (d[k].subs)
            decision_release(&d[k]);
        profiles_release(&known[k]);
    }
    return t;
}

int main(void)
{
    char dir[] = "/tmp/bench_variants.XXXXXX";
    double all[REPS], parts[REPS];
    struct context c = { 0 };

    set_up(&c, dir);
    choose(&c, 2000);
    for (int i = 0; i < REPS; i++) {
        all[i] = choose(&c, 2000);
        parts[i] = each(&c, 2000);
    }
    bench_sort(all, REPS);
    bench_sort(parts, REPS);
    printf("  3 variants, 48 configurations each: %.3f ms, deciding for each alone %.3f ms, beyond that %.1f us\n",
           1e3 * all[REPS / 2], 1e3 * parts[REPS / 2], 1e6 * (all[0] - parts[0]));
    context_release(&c);
    rmdir(dir);
    return 0;
}
