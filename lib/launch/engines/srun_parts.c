/* srun_parts.c - which ranks go to which component of the job; see srun.h */
#include "base/alloc.h"
#include "base/list.h"
#include "launch/engines/srun.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* ---------------------------------------------------------------- parts: the components of the job that are used */

void hrun_srun_parts_release(struct hrun_srun_parts *p)
{
    for (int i = 0; i < p->n; i++)
        hrun_strvec_release(&p->v[i].nodes);
    free(p->v);
    free(p->name);
    free(p->nodes);
    *p = (struct hrun_srun_parts){ 0 };
}

/* Give rank r, on this node of component group, to the part of its component, which is the last one or a later one. */
static int give_rank(struct hrun_srun_parts *p, int r, const char *node, int group, struct hrun_error *err)
{
    struct hrun_srun_part *last = p->n ? &p->v[p->n - 1] : NULL;

    if (last && group < last->group)
        return hrun_fail(err, HRUN_EINVAL, "rank %d is on component %d of %s and rank %d on component %d, and Slurm "
                         "numbers processes component by component: order the sub-clusters so in a cluster file", r - 1,
                         last->group, p->name, r, group);
    if (!last || group > last->group) {
        last = &p->v[p->n++];
        *last = (struct hrun_srun_part){ .is_het = p->ngroups > 1, .group = group, .first = r };
    }
    last->nranks++;
    hrun_strvec_push(&last->nodes, node);
    return 0;
}

/* p->nodes, from the allocation's names of the hosts used (by their numbers; NULL for the others). */
static void note_nodes(struct hrun_srun_parts *p, const struct hrun_allocation *a, char *const *used, int nhosts)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    autorelease(hrun_strvec_release) struct hrun_strvec v = HRUN_STRVEC_INIT;

    if (p->ngroups > 1)
        return;
    for (size_t i = 0; i < a->hosts.n; i++)
        for (int h = 0; h < nhosts; h++)
            if (used[h] && !strcmp(used[h], a->hosts.v[i])) {
                hrun_strvec_push(&v, used[h]);
                break;
            }
    if (v.n < a->hosts.n) {
        hrun_hostlist_print(v.v, v.n, &text);
        p->nodes = hrun_buf_detach(&text);
    }
}

int hrun_srun_make_parts(const struct hrun_layout *l, struct hrun_srun_parts *p, struct hrun_error *err)
{
    const struct hrun_cluster *c = l->cluster;
    struct hrun_allocation a;
    autofree char **nodes = xcalloc((size_t)c->nhosts + 1, sizeof *nodes);
    autofree int *groups = xcalloc((size_t)c->nhosts + 1, sizeof *groups);
    int rc = 0;

    *p = (struct hrun_srun_parts){ 0 };
    if (hrun_allocation_find(&a, err))
        return -1;
    p->ngroups = a.ngroups > 1 ? a.ngroups : 1;
    p->v = xcalloc((size_t)p->ngroups, sizeof *p->v);
    p->name = xstrdup(a.name ? a.name : "");
    if (a.manager != HRUN_MANAGER_SLURM)
        rc = hrun_fail(err, HRUN_EENGINE, "engine srun works inside a Slurm allocation, and this is none");
    for (int r = 0; r < l->nranks && !rc; r++) {
        int h = l->ranks[r].host, is_new = !nodes[h];

        if (is_new)
            nodes[h] = hrun_srun_node(&a, c->hosts[h].name, c->hosts[h].is_local, &groups[h], err);
        rc = nodes[h] ? give_rank(p, r, nodes[h], groups[h], err) : -1;
        if (!rc)
            p->v[p->n - 1].nhosts += is_new;
    }
    if (rc)
        hrun_srun_parts_release(p);
    else
        note_nodes(p, &a, nodes, c->nhosts);
    hrun_allocation_release(&a);
    for (int h = 0; h < c->nhosts; h++)
        free(nodes[h]);
    return rc;
}
