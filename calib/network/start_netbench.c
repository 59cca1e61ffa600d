/* start_netbench.c - start hrun-netbench on the hosts and read what it prints; see calib_network.h */
#include "calib_network.h"

#include "../common/alone.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/units.h"

#include <stdlib.h>
#include <string.h>

/* Processes on a host: two exchange messages. If there are cores for four, two pairs show what pairs share. */
enum { PROCS_LEAST = 2, PROCS_MOST = 4 };
/* The benchmark skips optional experiments after this part of --timeout. */
static const double LIMIT_SHARE = 0.5;

int network_context(struct context *c, struct calib_settings *s, struct hrun_error *err)
{
    int nodes = 1;

    if (context_cluster(c, &s->common, err))
        return -1;
    for (int i = 0; i < c->cluster->nsubs; i++)
        nodes &= c->cluster->subs[i].level == HRUN_LEVEL_NODE;
    if (!nodes && c->cluster->nhosts > 1) {
        hrun_cluster_destroy(c->cluster);
        c->cluster = NULL;
        s->common.machine.level = "node";
        if (context_cluster(c, &s->common, err))
            return -1;
    }
    return alone_find_tool(c, c->cluster->platform ? "hrun-netbench-smpi" : "hrun-netbench", err);
}

/* ---------------------------------------------------------------- plan */

/* On one host choose some PEs of each sub-cluster, or several processes on its only PE; on several hosts all PEs, with
 * several processes each. */
static void choose_netbench_pes(const struct hrun_cluster *cl, struct hrun_config *out)
{
    for (int i = 0; i < cl->nsubs; i++) {
        const struct hrun_subcluster *sub = &cl->subs[i];

        if (cl->nhosts == 1 && sub->npes > 1) {
            out->pes[i] = sub->npes >= PROCS_MOST ? PROCS_MOST : PROCS_LEAST;
            out->procs[i] = 1;
        } else {
            out->pes[i] = sub->npes;
            out->procs[i] = sub->cores_per_pe >= PROCS_MOST ? PROCS_MOST : PROCS_LEAST;
        }
    }
}

/* The kind of PE of a sub-cluster: on one host numbered without gaps in the order that hrun_net_kind expects; on
 * several 0, since a node is one PE. */
static int kind_number(const struct hrun_cluster *cl, int sub)
{
    int n = 0;

    for (int kind = 0; cl->nhosts == 1 && kind < cl->subs[sub].kind; kind++) {
        int i = 0;

        while (i < cl->nsubs && cl->subs[i].kind != kind)
            i++;
        n += i < cl->nsubs;
    }
    return n;
}

int network_plan(const struct context *c, const struct calib_settings *s, struct network_plan *out,
                 struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf kinds = HRUN_BUF_INIT;
    struct hrun_config config = { .nsubs = c->cluster->nsubs };

    memset(out, 0, sizeof *out);
    choose_netbench_pes(c->cluster, &config);
    out->layout = hrun_layout_create(c->cluster, &config, err);
    if (!out->layout)
        return -1;
    for (int r = 0; r < out->layout->nranks; r++)
        hrun_buf_addf(&kinds, "%s%d", r ? "," : "", kind_number(c->cluster, out->layout->ranks[r].sub));
    hrun_strvec_add(&out->words, c->program, "--kinds", kinds.data, NULL);
    if (s->precision > 0) {
        hrun_strvec_push(&out->words, "--precision");
        hrun_strvec_pushf(&out->words, "%.17g", s->precision);
    }
    if (s->repetitions) {
        hrun_strvec_push(&out->words, "--most");
        hrun_strvec_pushf(&out->words, "%lld", (long long)s->repetitions);
    }
    if (c->timeout_s > 0) {
        hrun_strvec_push(&out->words, "--limit");
        hrun_strvec_pushf(&out->words, "%.17g", LIMIT_SHARE * c->timeout_s);
    }
    return 0;
}

void network_plan_release(struct network_plan *p)
{
    hrun_layout_destroy(p->layout);
    hrun_strvec_release(&p->words);
}

/* ---------------------------------------------------------------- measure */

int network_measure(struct context *c, const struct network_plan *p, struct hrun_net_records *out, int *interrupted,
                    struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    const struct hrun_layout *l = p->layout;
    int h = 0;

    if (alone_run(c, &(struct alone_tool){ l, p->words.v, "the network" }, &text, interrupted, err) ||
        hrun_net_records_parse(text.data, out, err))
        return -1;
    /* Set the names that hrun uses, and the sub-clusters as kinds. The benchmark numbers hosts in the order of their
     * first ranks. */
    for (int k = 0; k < l->nranks; k++) {
        int first = 0;

        while (l->ranks[first].host != l->ranks[k].host)
            first++;
        if (first == k && h < out->nhosts) {
            free(out->hosts[h]);
            out->hosts[h] = xstrdup(c->cluster->hosts[l->ranks[k].host].name);
            out->kind_of[h] = l->ranks[k].sub;
        }
        h += first == k;
    }
    if (h != out->nhosts)
        return hrun_fail(err, HRUN_EINVAL, "%d hosts report %d different names: give each host its own name "
                         "(hostnamectl), and list it once", h, out->nhosts);
    return 0;
}
