/* srun_parts.c - can srun be used here, and which ranks go to which component of the job; see srun.h and launch.h */
#include "launch/ask.h"
#include "launch/engines.h"
#include "launch/srun.h"

#include "base/hostlist.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* ---------------------------------------------------------------- usable */

int hrun_srun_missing(struct hrun_error *err, const char *name)
{
    return hrun_fail(err, HRUN_EENGINE, "engine srun needs %s, and there is none in PATH: install slurm-client", name);
}

static int has_pmix(char *srun, struct hrun_error *err)
{
    char *const words[] = { srun, (char *)(uintptr_t)"--mpi=list", NULL };
    struct hrun_buf text = HRUN_BUF_INIT;
    int rc = hrun_ask(words, 1, &text, err);    /* older versions say it on standard error */

    if (!rc && !strstr(text.data, "pmix"))
        rc = hrun_fail(err, HRUN_EENGINE, "this Slurm has no PMIx (srun --mpi=list does not name it): install "
                       "slurm-wlm-basic-plugins on all nodes, or use --engine mpirun");
    hrun_buf_release(&text);
    return rc;
}

/* All hosts must be nodes of the allocation. */
static int check_hosts(const struct hrun_cluster *c, const struct hrun_allocation *a, struct hrun_error *err)
{
    int group;

    for (int i = 0; i < c->nhosts; i++) {
        char *node = hrun_srun_node(a, c->hosts[i].name, c->hosts[i].is_local, &group, err);
        if (!node)
            return -1;
        free(node);
    }
    return 0;
}

int hrun_srun_usable(const struct hrun_cluster *cluster, struct hrun_openmpi *found, struct hrun_error *err)
{
    struct hrun_allocation a;
    char *srun = NULL, *scancel = NULL;
    int rc = -1;

    (void)found;
    if (hrun_allocation_find(&a, err))
        return -1;
    if (a.manager != HRUN_MANAGER_SLURM) {
        hrun_fail(err, HRUN_EENGINE, "engine srun works inside a Slurm allocation, and this is none: get one with "
                  "salloc or sbatch, or use another engine");
    } else if (!(srun = hrun_program_find("srun", NULL, NULL))) {
        hrun_srun_missing(err, "srun");
    } else if (!(scancel = hrun_program_find("scancel", NULL, NULL))) {
        hrun_srun_missing(err, "scancel");
    } else {
        rc = check_hosts(cluster, &a, err) || has_pmix(srun, err) ? -1 : 0;
    }
    free(srun);
    free(scancel);
    hrun_allocation_release(&a);
    return rc;
}

/* Is it the same host, one name having a domain? */
static int same_host(const char *a, const char *b)
{
    size_t n = strcspn(a, "."), m = strcspn(b, ".");

    return !strcasecmp(a, b) || (n == m && !strncasecmp(a, b, n) && (!a[n] || !b[m]));
}

char *hrun_srun_node(const struct hrun_allocation *a, const char *name, int is_local, int *group,
                     struct hrun_error *err)
{
    const char *names[3] = { name, NULL, NULL };
    char own[256] = "", *copy;

    gethostname(own, sizeof own - 1);
    if (is_local) {
        names[1] = getenv("SLURMD_NODENAME");
        names[2] = own;
    }
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; names[k] && i < a->hosts.n; i++)
            if (same_host(names[k], a->hosts.v[i])) {
                *group = a->group[i];
                copy = strdup(a->hosts.v[i]);
                if (!copy)
                    hrun_fail_nomem(err);
                return copy;
            }
    hrun_fail(err, HRUN_EINVAL, "host '%s' is not part of %s: leave it out, or use --engine mpirun", name, a->name);
    return NULL;
}

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
    return hrun_strvec_push(&last->nodes, node) ? hrun_fail_nomem(err) : 0;
}

/* p->nodes, from the allocation's names of the hosts used (by their numbers; NULL for the others). */
static int note_nodes(struct hrun_srun_parts *p, const struct hrun_allocation *a, char *const *used, int nhosts,
                      struct hrun_error *err)
{
    struct hrun_buf text = HRUN_BUF_INIT;
    struct hrun_strvec v = HRUN_STRVEC_INIT;
    int bad = 0;

    if (p->ngroups > 1)
        return 0;
    for (size_t i = 0; i < a->hosts.n && !bad; i++)
        for (int h = 0; h < nhosts; h++)
            if (used[h] && !strcmp(used[h], a->hosts.v[i])) {
                bad = hrun_strvec_push(&v, used[h]);
                break;
            }
    if (!bad && v.n < a->hosts.n) {
        hrun_hostlist_print(v.v, v.n, &text);
        bad = text.failed || !(p->nodes = strdup(text.data));
    }
    hrun_strvec_release(&v);
    hrun_buf_release(&text);
    return bad ? hrun_fail_nomem(err) : 0;
}

int hrun_srun_make_parts(const struct hrun_layout *l, struct hrun_srun_parts *p, struct hrun_error *err)
{
    const struct hrun_cluster *c = l->cluster;
    struct hrun_allocation a;
    char *seen = calloc((size_t)c->nhosts + 1, 1), **nodes = calloc((size_t)c->nhosts + 1, sizeof *nodes);
    int *groups = calloc((size_t)c->nhosts + 1, sizeof *groups), rc = 0;

    *p = (struct hrun_srun_parts){ 0 };
    if (hrun_allocation_find(&a, err)) {
        rc = -1;
        goto out;
    }
    p->ngroups = a.ngroups > 1 ? a.ngroups : 1;
    p->v = calloc((size_t)p->ngroups, sizeof *p->v);
    p->name = strdup(a.name ? a.name : "");
    if (!seen || !nodes || !groups || !p->v || !p->name)
        rc = hrun_fail_nomem(err);
    else if (a.manager != HRUN_MANAGER_SLURM)
        rc = hrun_fail(err, HRUN_EENGINE, "engine srun works inside a Slurm allocation, and this is none");
    for (int r = 0; r < l->nranks && !rc; r++) {
        int h = l->ranks[r].host;

        if (!nodes[h])
            nodes[h] = hrun_srun_node(&a, c->hosts[h].name, c->hosts[h].is_local, &groups[h], err);
        rc = nodes[h] ? add_rank(p, l, r, nodes[h], groups[h], seen, err) : -1;
    }
    rc = rc || note_nodes(p, &a, nodes, c->nhosts, err) ? -1 : 0;
    hrun_allocation_release(&a);
out:
    for (int h = 0; nodes && h < c->nhosts; h++)
        free(nodes[h]);
    free(nodes);
    free(groups);
    free(seen);
    if (rc)
        hrun_srun_parts_release(p);
    return rc;
}

/* Names in the order in which Slurm sorts them: numbers in them count as numbers. */
static int by_name(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

/* Does each part have its nodes behind those of the part before? */
static int check_order(const struct hrun_srun_parts *p, struct hrun_error *err)
{
    for (int i = 1; i < p->n; i++) {
        const struct hrun_strvec *one = &p->v[i - 1].nodes, *two = &p->v[i].nodes;
        char *last = one->v[0], *first = two->v[0];

        for (size_t k = 0; k < one->n; k++)
            last = by_name(&one->v[k], &last) > 0 ? one->v[k] : last;
        for (size_t k = 0; k < two->n; k++)
            first = by_name(&two->v[k], &first) < 0 ? two->v[k] : first;
        if (by_name(&last, &first) > 0)
            return hrun_fail(err, HRUN_EENGINE, "component %d of %s has node %s and component %d has %s, and Slurm's "
                             "PMIx mixes up nodes that are not in the order of their names: ask for the components in "
                             "the other order, or leave one out with --use", p->v[i - 1].group, p->name, last,
                             p->v[i].group, first);
    }
    return 0;
}

int hrun_srun_check(const struct hrun_job *job, struct hrun_error *err)
{
    struct hrun_mpi mpi;
    struct hrun_srun_parts p;
    int rc;

    if (hrun_check_common(job, "srun", &mpi, err) || hrun_srun_make_parts(job->layout, &p, err))
        return -1;
    rc = mpi.kind == HRUN_MPI_OPENMPI ? check_order(&p, err) : 0;
    hrun_srun_parts_release(&p);
    return rc;
}
