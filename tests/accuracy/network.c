/* network.c - the network of a table's cluster; see accuracy.h */
#include "accuracy.h"

#include "base/alloc.h"
#include "base/file.h"
#include "net/estimate.h"
#include "model/netview.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whose algorithms the tables were played with (tests/accuracy/tables). */
static const char SELECTOR[] = "mpich";

/* The view: hosts of sub-cluster NAME are NAME-0, NAME-1, ... */
static struct hrun_netview *make_view(const struct hrun_net *net, const struct truth *t, struct hrun_error *err)
{
    struct hrun_netview_source source = hrun_netview_source_of(net);
    struct hrun_netview_sub subs[TRUTH_SUBS_MAX];
    struct hrun_netview_pe *pes[TRUTH_SUBS_MAX] = { NULL };
    struct hrun_netview *v;

    for (int i = 0; i < t->nsubs; i++) {
        pes[i] = xcalloc((size_t)t->npes[i], sizeof *pes[i]);
        for (int p = 0; p < t->npes[i]; p++) {
            char name[TRUTH_NAME + 16];

            snprintf(name, sizeof name, "%s-%d", t->names[i], p);
            pes[i][p].host = hrun_net_find(net, name);
        }
        subs[i] = (struct hrun_netview_sub){ t->names[i], t->npes[i], pes[i] };
    }
    v = hrun_netview_of(&source, subs, t->nsubs, err);
    for (int i = 0; i < t->nsubs; i++)
        free(pes[i]);
    return v;
}

/* ---------------------------------------------------------------- estimated */

/* The records of a few dozen hosts are some 100 KiB. */
static const size_t RECORDS_MAX = (size_t)64 << 20;

/* Hosts of one sub-cluster may be alike, as those of one kind are for hrun-calibrate. */
static void set_kinds(const struct truth *t, struct hrun_net_records *r)
{
    for (int i = 0; i < r->nhosts; i++) {
        const char *dash = strrchr(r->hosts[i], '-');
        size_t len = dash ? (size_t)(dash - r->hosts[i]) : strlen(r->hosts[i]);

        for (int k = 0; k < t->nsubs; k++)
            if (strlen(t->names[k]) == len && !strncmp(t->names[k], r->hosts[i], len))
                r->kind_of[i] = k;
    }
}

static int estimate(const char *file, const struct truth *t, struct accuracy_network *out, struct hrun_error *err)
{
    struct hrun_buf text = HRUN_BUF_INIT;
    struct hrun_net_records r = { 0 };
    struct hrun_net_quality q = { 0 };
    char *mpich = xstrdup(SELECTOR);
    int rc = -1;

    if (hrun_file_read(file, RECORDS_MAX, &text, err) || hrun_net_records_parse(text.data, &r, err))
        goto out;
    set_kinds(t, &r);
    if (hrun_net_estimate(&r, &out->net, &q, err))
        goto out;
    free(out->net->selector);
    out->net->selector = mpich;
    mpich = NULL;
    snprintf(out->what, sizeof out->what, "estimated from %zu records of %d hosts, %.3g s of simulated time, residuals "
             "%.2g %%: %d classes, %d switches", r.n, r.nhosts, r.spent_s, 100 * q.residual_rel, out->net->nclasses,
             out->net->ngroups);
    rc = 0;
out:
    hrun_net_quality_release(&q);
    hrun_net_records_release(&r);
    hrun_buf_release(&text);
    free(mpich);
    return rc;
}

/* ---------------------------------------------------------------- both */

/* Behind which switch each sub-cluster is, by the true network. */
static void find_switches(const struct hrun_net *net, const struct truth *t, struct accuracy_network *out)
{
    for (int i = 0; i < t->nsubs; i++) {
        char name[TRUTH_NAME + 16];
        int host;

        snprintf(name, sizeof name, "%s-0", t->names[i]);
        host = hrun_net_find(net, name);
        out->switch_of[i] = host < 0 ? 0 : net->group_of[host];
        out->nswitches = out->nswitches > out->switch_of[i] ? out->nswitches : out->switch_of[i] + 1;
    }
}

int accuracy_network_open(const char *dir, int exact, const struct truth *t, struct accuracy_network *out,
                          struct hrun_error *err)
{
    char *records = hrun_strf("%s/%s.txt", dir, t->platform), *parameters = hrun_strf("%s/%s.yaml", dir, t->platform);
    struct hrun_net *net = NULL;
    int rc = -1;

    memset(out, 0, sizeof *out);
    if (!access(parameters, R_OK)) {
        if (hrun_net_load(parameters, &net, err))
            goto out;
        find_switches(net, t, out);
    }
    if (!exact && !access(records, R_OK)) {
        if (estimate(records, t, out, err))
            goto out;
    } else if (net) {
        out->net = net;
        net = NULL;
        snprintf(out->what, sizeof out->what, "not estimated: the parameters of the platform");
    }
    out->view = out->net ? make_view(out->net, t, err) : NULL;
    rc = out->net && !out->view ? -1 : 0;
out:
    if (rc)
        accuracy_network_close(out);
    hrun_net_destroy(net);
    free(records);
    free(parameters);
    return rc;
}

void accuracy_network_close(struct accuracy_network *n)
{
    hrun_netview_destroy(n->view);
    hrun_net_destroy(n->net);
    n->view = NULL;
    n->net = NULL;
}
