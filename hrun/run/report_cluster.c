/* report_cluster.c - --show-cluster as text; see report.h */
#include "report.h"

#include "base/alloc.h"
#include "base/list.h"
#include "base/units.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Cut a long list that begins at out->data[before], and append its number of entries. */
static void shorten(struct hrun_buf *out, size_t before, int count)
{
    enum { WIDTH = 60 };
    size_t cut;

    if (out->len - before <= WIDTH)
        return;
    for (cut = before + WIDTH; cut > before && out->data[cut] != ','; cut--)
        continue;
    if (cut == before)
        return;
    out->data[out->len = cut] = 0;
    hrun_buf_addf(out, ",... (%d hosts)", count);
}

void report_hosts(const struct hrun_cluster *cl, const struct hrun_subcluster *s, int n, struct hrun_buf *out)
{
    size_t before = out->len;
    int count = 0;

    hrun_subcluster_hosts(cl, s, 0, n, out);
    for (int i = 0; i < n; i++)         /* the PEs of a host have consecutive indices */
        count += !i || s->pes[i].host != s->pes[i - 1].host;
    shorten(out, before, count);
}

void report_rank_hosts(const struct hrun_layout *l, int sub, struct hrun_buf *out)
{
    char **names = xcalloc((size_t)l->cluster->nhosts + 1, sizeof *names);
    char *seen = xcalloc((size_t)l->cluster->nhosts + 1, 1);
    size_t before = out->len;
    int n = 0;

    for (int r = 0; r < l->nranks; r++)
        if (l->ranks[r].sub == sub && !seen[l->ranks[r].host]) {
            seen[l->ranks[r].host] = 1;
            names[n++] = l->cluster->hosts[l->ranks[r].host].name;
        }
    if (n)
        hrun_hostlist_print(names, (size_t)n, out);
    free(names);
    free(seen);
    shorten(out, before, n);
}

static void add_title(const struct hrun_cluster *cl, struct hrun_buf *out)
{
    int is_source = cl->allocation && !strcmp(cl->allocation, cl->source), n = 0;

    for (int i = 0; i < cl->nsubs; i++)
        n += cl->subs[i].npes;
    hrun_buf_addf(out, "%s in %s on %s (%s", hrun_counted(n, "PE").s, hrun_counted(cl->nsubs, "sub-cluster").s,
                  hrun_counted(cl->nhosts, "host").s, cl->source);
    if (cl->allocation && !is_source)
        hrun_buf_addf(out, ", in %s", cl->allocation);
    if (cl->ngroups > 1)
        hrun_buf_addf(out, ", %d components", cl->ngroups);
    hrun_buf_adds(out, ")\n\n");
}

static void add_cluster_table(const struct context *c, struct hrun_buf *out)
{
    const struct hrun_cluster *cl = c->cluster;
    struct hrun_table *t = hrun_table_create("lllrrlrl");
    autorelease(hrun_buf_release) struct hrun_buf hosts = HRUN_BUF_INIT;

    hrun_table_row(t, "sub-cluster", "CPU model", "level", "PEs", "cores/PE", "hosts", "memory/PE", "signature");
    for (int i = 0; i < cl->nsubs; i++) {
        const struct hrun_subcluster *s = &cl->subs[i];

        hrun_buf_reset(&hosts);
        report_hosts(cl, s, s->npes, &hosts);
        hrun_table_cell(t, "%s", s->name);
        hrun_table_cell(t, "%s%s%s%s", s->cpu_model, s->core_kind[0] ? " (" : "", s->core_kind,
                        s->core_kind[0] ? ")" : "");
        hrun_table_cell(t, "%s", hrun_level_name(s->level));
        hrun_table_cell(t, "%d", s->npes);
        hrun_table_cell(t, "%d", s->cores_per_pe);
        hrun_table_cell(t, "%s", hosts.data);
        hrun_table_cell(t, "%s", s->memory_bytes ? hrun_bytes((double)s->memory_bytes).s : "unknown");
        hrun_table_cell(t, "%s", (size_t)i < c->signatures.n ? c->signatures.v[i] : "-");
    }
    hrun_table_render(t, 2, out);
    hrun_table_destroy(t);
}

/* Append the networks of simulated hosts, which the table does not show. */
static void add_networks(const struct hrun_cluster *cl, struct hrun_buf *out)
{
    for (int i = 0; i < cl->nsubs && cl->platform; i++)
        hrun_buf_addf(out, "%s  network of %s: %s\n", i ? "" : "\n", cl->subs[i].name,
                      cl->subs[i].network[0] ? cl->subs[i].network : "none");
}

/* Add the number of hosts with remembered descriptions, and their age. */
static void add_memory_age(const struct hrun_cluster *cl, struct hrun_buf *out)
{
    int n = 0;
    int64_t oldest = INT64_MAX;
    double age;

    for (int h = 0; h < cl->nhosts; h++) {
        if (!cl->hosts[h].remembered)
            continue;
        n++;
        oldest = cl->hosts[h].asked_s < oldest ? cl->hosts[h].asked_s : oldest;
    }
    if (!n)
        return;
    age = (double)time(NULL) - (double)oldest;
    hrun_buf_addf(out, "\n  %s as remembered, the %sanswer is %s old (--refresh asks anew)\n",
                  hrun_counted(n, "host").s, n > 1 ? "oldest " : "", hrun_age(age > 0 ? age : 0).s);
}

/* Append the hosts that the user named and that are not in the table. */
static void add_left_out(const struct hrun_cluster *cl, struct hrun_buf *out)
{
    for (size_t i = 0; i < cl->why_not.n; i++)
        hrun_buf_addf(out, "%s  left out: %s\n", i ? "" : "\n", cl->why_not.v[i]);
    if (!cl->not_granted.n)
        return;
    hrun_buf_addf(out, "\n  left out, not in %s: ", cl->allocation);
    hrun_hostlist_print(cl->not_granted.v, cl->not_granted.n, out);
    hrun_buf_addc(out, '\n');
}

static void add_pe_lines(const struct hrun_cluster *cl, struct hrun_buf *out)
{
    for (int i = 0; i < cl->nsubs; i++)
        for (int k = 0; k < cl->subs[i].npes; k++) {
            const struct hrun_pe *pe = &cl->subs[i].pes[k];

            hrun_buf_addf(out, "%s  %s PE %d: host %s, cores %s, PUs %s\n", i + k ? "" : "\n", cl->subs[i].name, k,
                          cl->hosts[pe->host].name, pe->cores, pe->cpuset[0] ? pe->cpuset : "-");
        }
}

void report_cluster(const struct context *c, struct hrun_buf *out)
{
    add_title(c->cluster, out);
    add_cluster_table(c, out);
    add_networks(c->cluster, out);
    add_memory_age(c->cluster, out);
    add_left_out(c->cluster, out);
    if (c->set->verbose)
        add_pe_lines(c->cluster, out);
}
