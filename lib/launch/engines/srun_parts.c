/* srun_parts.c - which ranks go to which component of the job; see srun.h */
#include "launch/engines/srun.h"

#include "base/alloc.h"
#include "base/list.h"

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

/* Give rank r of the layout to the part of its component, which is the last one or a later one. */
static int add_rank(struct hrun_srun_parts *p, const struct hrun_layout *l, int r, const char *node, int group,
                    char *seen, struct hrun_error *err)
{
    struct hrun_srun_part *last = p->n ? &p->v[p->n - 1] : NULL;

    if (last && group < last->group)
        return hrun_fail(err, HRUN_EINVAL, "rank %d is on component %d of %s and rank %d on component %d, and Slurm "
                         "numbers processes component by component: order the sub-clusters so in a cluster file", r - 1,
                         last->group, p->name, r, group);
    if (!last || group > last->group) {
        last = &p->v[p->n++];
        *last = (struct hrun_srun_part){ .group = group, .first = r };
    }
    last->nranks++;
    last->nhosts += !seen[l->ranks[r].host];
    seen[l->ranks[r].host] = 1;
    hrun_strvec_push(&last->nodes, node);
    return 0;
}

/* p->nodes, from the allocation's names of the hosts used (by their numbers; NULL for the others). */
static int note_nodes(struct hrun_srun_parts *p, const struct hrun_allocation *a, char *const *used, int nhosts)
{
    struct hrun_buf text = HRUN_BUF_INIT;
    struct hrun_strvec v = HRUN_STRVEC_INIT;

    if (p->ngroups > 1)
        return 0;
    for (size_t i = 0; i < a->hosts.n; i++)
        for (int h = 0; h < nhosts; h++)
            if (used[h] && !strcmp(used[h], a->hosts.v[i])) {
                hrun_strvec_push(&v, used[h]);
                break;
            }
    if (v.n < a->hosts.n) {
        hrun_hostlist_print(v.v, v.n, &text);
        p->nodes = xstrdup(text.data);
    }
    hrun_strvec_release(&v);
    hrun_buf_release(&text);
    return 0;
}

int hrun_srun_make_parts(const struct hrun_layout *l, struct hrun_srun_parts *p, struct hrun_error *err)
{
    const struct hrun_cluster *c = l->cluster;
    struct hrun_allocation a;
    char *seen = xcalloc((size_t)c->nhosts + 1, 1), **nodes = xcalloc((size_t)c->nhosts + 1, sizeof *nodes);
    int *groups = xcalloc((size_t)c->nhosts + 1, sizeof *groups), rc = 0;

    *p = (struct hrun_srun_parts){ 0 };
    if (hrun_allocation_find(&a, err)) {
        rc = -1;
        goto out;
    }
    p->ngroups = a.ngroups > 1 ? a.ngroups : 1;
    p->v = xcalloc((size_t)p->ngroups, sizeof *p->v);
    p->name = xstrdup(a.name ? a.name : "");
    if (a.manager != HRUN_MANAGER_SLURM)
        rc = hrun_fail(err, HRUN_EENGINE, "engine srun works inside a Slurm allocation, and this is none");
    for (int r = 0; r < l->nranks && !rc; r++) {
        int h = l->ranks[r].host;

        if (!nodes[h])
            nodes[h] = hrun_srun_node(&a, c->hosts[h].name, c->hosts[h].is_local, &groups[h], err);
        rc = nodes[h] ? add_rank(p, l, r, nodes[h], groups[h], seen, err) : -1;
    }
    rc = rc || note_nodes(p, &a, nodes, c->nhosts) ? -1 : 0;
    hrun_allocation_release(&a);
out:
    for (int h = 0; h < c->nhosts; h++)
        free(nodes[h]);
    free(nodes);
    free(groups);
    free(seen);
    if (rc)
        hrun_srun_parts_release(p);
    return rc;
}
