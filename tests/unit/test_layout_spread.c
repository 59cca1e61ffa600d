/* test_layout_spread.c - which PEs a configuration gets: invariants over all machines of tests/data/topo, as two hosts,
 * at all levels, with many counts, in what each engine is given. Nothing is launched. */
#include "fixture.h"

#include "base/list.h"
#include "launch/engines/srun.h"
#include "launch/ranks.h"
#include "layout/layout.h"

#include <dirent.h>
#include <string.h>

enum { CORES = 512, NHOSTS = 2 };

/* Two hosts like this; NULL: the machine has no such level. */
static struct hrun_cluster *two_hosts(const char *xml, int level)
{
    char *dir = temp_dir(), *path = hrun_strf("%s/cluster.yaml", dir);
    char *text = hrun_strf("subclusters:\n  - {name: m, hosts: '127.0.0.[11-12]', topology: '%s'}\n", xml);
    struct hrun_cluster_request req = { .cluster_file = path, .level = level };
    struct hrun_cluster *c = NULL;
    struct hrun_error err = { 0 };

    write_text(path, text);
    if (hrun_cluster_discover(&req, &c, &err) && !strstr(err.text, "has no level"))
        bail(err.text);
    free(text);
    free(path);
    free(dir);
    return c;
}

/* ---------------------------------------------------------------- ranks and PEs */

static const char *broken_ranks(const struct hrun_layout *l, const char *const *busy, int P)
{
    static char on[NHOSTS][CORES];
    int local[NHOSTS] = { 0 };

    memset(on, 0, sizeof on);
    if (l->nranks != P)
        return "P ranks";
    for (int r = 0; r < P; r++) {
        const struct hrun_rank *k = &l->ranks[r], *before = r ? k - 1 : NULL;
        const struct hrun_pe *pe = &l->cluster->subs[k->sub].pes[k->pe];
        long first, last;

        if (pe->host != k->host || strcmp(pe->cores, k->cores) || strcmp(pe->cpuset, k->cpuset))
            return "a rank is bound to its PE";
        if (busy && busy[k->sub][k->pe])
            return "busy PEs have no rank";
        if (k->local_rank != local[k->host]++)
            return "ranks of a host are numbered";
        for (const char *p = k->cores; *p; p += *p == ',') {
            p = hrun_range_next(p, CORES - 1, &first, &last);
            for (long c = first; c <= last; c++)
                if (on[k->host][c]++)
                    return "no core has two ranks";
        }
        if (before && (before->sub > k->sub || (before->sub == k->sub && before->pe >= k->pe)))
            return "ranks follow the order of sub-clusters and PEs";
    }
    return NULL;
}

/* The number of the object around a PE. */
static int domain_of(const struct hrun_cluster *c, const struct hrun_pe *pe, enum hrun_object type)
{
    return hrun_topo_object(c->hosts[pe->host].topo, atoi(pe->cores), type);
}

/* Of the PEs of a host that lie in one `outer` object (-1: on the host), those in each `inner` object that has as many
 * free PEs as every other there: ranks differ by one at most. */
static int is_even(const struct hrun_layout *l, const char *const *busy, int sub, int host, int outer, int outer_number,
                   enum hrun_object inner)
{
    const struct hrun_subcluster *s = &l->cluster->subs[sub];
    int room[CORES] = { 0 }, used[CORES] = { 0 }, least = CORES, most = 0, size = 0;

    for (int p = 0; p < s->npes; p++) {
        if (s->pes[p].host != host || (busy && busy[sub][p]) ||
            (outer >= 0 && domain_of(l->cluster, &s->pes[p], (enum hrun_object)outer) != outer_number))
            continue;
        room[domain_of(l->cluster, &s->pes[p], inner) + 1]++;
        for (int r = 0; r < l->nranks; r++)
            used[domain_of(l->cluster, &s->pes[p], inner) + 1] += l->ranks[r].sub == sub && l->ranks[r].pe == p;
    }
    for (int d = 0; d < CORES; d++) {
        if (!room[d])
            continue;
        if (size && room[d] != size)
            return 1;
        size = room[d];
        least = used[d] < least ? used[d] : least;
        most = used[d] > most ? used[d] : most;
    }
    return most - least <= 1 || least == CORES;
}

static const char *uneven(const struct hrun_layout *l, const char *const *busy)
{
    for (int i = 0; i < l->cluster->nsubs; i++)
        for (int h = 0; h < NHOSTS; h++) {
            if (!is_even(l, busy, i, h, -1, 0, HRUN_OBJECT_PACKAGE))
                return "packages are even";
            for (int k = -1; k < 64; k++)
                if (!is_even(l, busy, i, h, HRUN_OBJECT_PACKAGE, k, HRUN_OBJECT_NUMA))
                    return "memory nodes of a package are even";
            for (int k = -1; k < 64; k++)
                if (!is_even(l, busy, i, h, HRUN_OBJECT_NUMA, k, HRUN_OBJECT_L3))
                    return "L3 caches of a memory node are even";
        }
    return NULL;
}

/* Hosts and domains without busy PEs: what is even in each part is even in all. */
static const char *uneven_globally(const struct hrun_layout *l)
{
    for (int i = 0; i < l->cluster->nsubs; i++)
        for (int h = 0; h < NHOSTS; h++)
            if (!is_even(l, NULL, i, h, -1, 0, HRUN_OBJECT_NUMA) || !is_even(l, NULL, i, h, -1, 0, HRUN_OBJECT_L3))
                return "memory nodes and L3 caches of a host are even";
    return NULL;
}

/* A host is full before the next one of the sub-cluster has ranks. */
static const char *gap_of_hosts(const struct hrun_layout *l, const char *const *busy)
{
    for (int i = 0; i < l->cluster->nsubs; i++) {
        const struct hrun_subcluster *s = &l->cluster->subs[i];
        int left = 0, behind = 0;

        for (int p = 0; p < s->npes; p++) {
            int used = 0;

            for (int r = 0; r < l->nranks; r++)
                used |= l->ranks[r].sub == i && l->ranks[r].pe == p;
            left += s->pes[p].host == s->pes[0].host && !used && !(busy && busy[i][p]);
            behind += s->pes[p].host != s->pes[0].host && used;
        }
        if (left && behind)
            return "host by host";
    }
    return NULL;
}

/* ---------------------------------------------------------------- what engines are given */

static int is_host(const struct hrun_layout *l, int r, const char *name, size_t len)
{
    const char *want = l->cluster->hosts[l->ranks[r].host].name;

    return strlen(want) == len && !strncmp(want, name, len);
}

/* mpirun: "rank 0=host slot=0-3" */
static int mpirun_gets(const struct hrun_layout *l)
{
    struct hrun_buf b = HRUN_BUF_INIT;
    struct hrun_error err;
    int good = !hrun_layout_rankfile(l, &b, &err), r = 0;

    for (const char *line = b.data; good && *line; line = strchr(line, '\n') + 1, r++) {
        char host[64], slots[512];
        int rank;

        good = sscanf(line, "rank %d=%63s slot=%511s", &rank, host, slots) == 3 && rank == r && r < l->nranks &&
               is_host(l, r, host, strlen(host)) && !strcmp(slots, l->ranks[r].cores);
    }
    hrun_buf_release(&b);
    return good && r == l->nranks;
}

/* smpi: the host of each rank, a line each */
static int smpi_gets(const struct hrun_layout *l)
{
    struct hrun_buf b = HRUN_BUF_INIT;
    int good = 1, r = 0;

    hrun_layout_hostfile(l, &b);
    for (const char *line = b.data; good && *line; line += strcspn(line, "\n") + 1, r++)
        good = r < l->nranks && is_host(l, r, line, strcspn(line, "\n"));
    hrun_buf_release(&b);
    return good && r == l->nranks;
}

static struct hrun_strvec ranks_words;

static char *look_up(const char *name)
{
    for (size_t i = 0; i < ranks_words.n; i++)
        if (!strncmp(ranks_words.v[i], name, strlen(name)) && ranks_words.v[i][strlen(name)] == '=')
            return ranks_words.v[i] + strlen(name) + 1;
    return NULL;
}

/* ssh and srun: the shim binds each rank by this */
static int shim_gets(const struct hrun_layout *l)
{
    int good = 1;

    ranks_words = (struct hrun_strvec)HRUN_STRVEC_INIT;
    hrun_ranks_words(l, &ranks_words);
    for (int r = 0; r < l->nranks && good; r++) {
        struct hrun_ranks_entry entry = { NULL, 0 };

        good = !hrun_ranks_find(look_up, r, &entry, NULL) && !strcmp(entry.cpuset, l->ranks[r].cpuset);
        free(entry.cpuset);
    }
    hrun_strvec_release(&ranks_words);
    return good;
}

/* srun: the node of each rank */
static int srun_gets(const struct hrun_layout *l)
{
    struct hrun_srun_parts parts;
    int good;

    setenv("SLURM_JOB_ID", "1", 1);
    good = !hrun_srun_make_parts(l, &parts, NULL);
    unsetenv("SLURM_JOB_ID");
    if (!good)
        return 0;
    good = parts.n == 1 && parts.v[0].nranks == l->nranks;
    for (int r = 0; r < l->nranks && good; r++)
        good = is_host(l, r, parts.v[0].nodes.v[r], strlen(parts.v[0].nodes.v[r]));
    hrun_srun_parts_release(&parts);
    return good;
}

/* ---------------------------------------------------------------- all of it */

static const struct { const char *name; int (*gets)(const struct hrun_layout *l); } engines[] = {
    { "mpirun", mpirun_gets }, { "smpi", smpi_gets }, { "shim", shim_gets }, { "srun", srun_gets },
};

static int ncases, nbad;

static void check(const char *machine, int level, const struct hrun_cluster *c, const int *pes,
                  const char *const *busy, int plain)
{
    struct hrun_config config = { .nsubs = c->nsubs };
    int P = 0;
    struct hrun_error err = { 0 };
    struct hrun_layout *l;
    const char *bad;

    for (int i = 0; i < c->nsubs; i++) {
        config.pes[i] = pes[i];
        config.procs[i] = pes[i] > 0;
        P += pes[i];
    }
    l = plain ? hrun_layout_plain(c, P, pes, busy, &err) : hrun_layout_create_free(c, &config, busy, &err);
    bad = !l ? err.text : broken_ranks(l, busy, P);
    bad = bad ? bad : uneven(l, busy);
    bad = bad || busy ? bad : uneven_globally(l);
    bad = bad ? bad : gap_of_hosts(l, busy);
    for (size_t e = 0; e < sizeof engines / sizeof *engines && !bad; e++, ncases++)
        bad = engines[e].gets(l) ? NULL : engines[e].name;
    if (bad && nbad++ < 20) {
        printf("# %s, %s, plain %d, busy %d, PEs", machine, hrun_level_name((enum hrun_level)level), plain, !!busy);
        for (int i = 0; i < c->nsubs; i++)
            printf(" %d", pes[i]);
        printf(": %s\n", bad);
    }
    hrun_layout_destroy(l);
}

/* P processes as hrun -n deals them; then each sub-cluster alone; then where every third PE is busy. */
static void check_counts(const char *machine, int level, const struct hrun_cluster *c)
{
    static char taken[16][NHOSTS * CORES];
    const char *busy[16];
    int all = 0;

    for (int i = 0; i < c->nsubs; i++) {
        all += c->subs[i].npes;
        busy[i] = taken[i];
        for (int p = 0; p < c->subs[i].npes; p++)
            taken[i][p] = p % 3 == 1;
    }
    int counts[] = { 1, 2, 3, 4, 5, 7, all / 3, all / 2, all - 1, all };

    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        int pes[16], left = counts[k];

        for (int i = 0; i < c->nsubs; i++) {
            pes[i] = left < c->subs[i].npes ? left : c->subs[i].npes;
            left -= pes[i];
        }
        if (counts[k] < 1 || left > 0)
            continue;
        check(machine, level, c, pes, NULL, 0);
        check(machine, level, c, pes, NULL, 1);
        for (int i = 0; i < c->nsubs; i++) {
            int only[16] = { 0 }, nfree = c->subs[i].npes - (c->subs[i].npes + 1) / 3;

            only[i] = counts[k] < nfree ? counts[k] : nfree;
            check(machine, level, c, only, NULL, 0);
            check(machine, level, c, only, busy, 0);
        }
    }
}

static void check_machine(const char *name, const char *xml)
{
    int before = nbad, levels = 0;

    for (int level = HRUN_LEVEL_NODE; level <= HRUN_LEVEL_CORE; level++) {
        struct hrun_cluster *c = two_hosts(xml, level);

        if (!c)
            continue;
        if (c->nsubs > 16)
            bail("more sub-clusters than the test takes");
        check_counts(name, level, c);
        hrun_cluster_destroy(c);
        levels++;
    }
    ok(nbad == before && levels > 1, "%s: %d levels", name, levels);
}

static int ends_xml(const struct dirent *e)
{
    size_t len = strlen(e->d_name);

    return len > 4 && !strcmp(e->d_name + len - 4, ".xml");
}

/* Those that machines.py prints. */
static void check_made(const char *dir)
{
    char *list = hrun_strf("%s/machines.py", dir), name[64];
    FILE *f = popen(list, "r");
    int n = 0;

    while (f && fscanf(f, "%63s", name) == 1) {
        char *tmp = temp_dir(), *xml = hrun_strf("%s/%s.xml", tmp, name);
        char *make = hrun_strf("%s %s >%s", list, name, xml);

        if (system(make))
            bail(make);
        check_machine(name, xml);
        n++;
        free(tmp);
        free(xml);
        free(make);
    }
    ok(f && !pclose(f) && n >= 12, "%d machines of machines.py", n);
    free(list);
}

int main(void)
{
    const char *data = getenv("HRUN_TEST_DATA");
    char *dir = realpath(data ? data : "tests/data", NULL), *topo = hrun_strf("%s/topo", dir ? dir : "");
    struct dirent **list = NULL;
    int n = scandir(topo, &list, ends_xml, alphasort);

    setenv("SLURM_JOB_NODELIST", "127.0.0.[11-12]", 1);
    setenv("SLURM_JOB_CPUS_PER_NODE", "512(x2)", 1);
    for (int i = 0; i < n; i++) {
        char *xml = hrun_strf("%s/%s", topo, list[i]->d_name);

        check_machine(list[i]->d_name, xml);
        free(xml);
        free(list[i]);
    }
    check_made(topo);
    ok(ncases > 1000 && !nbad, "%d cases, %d broken", ncases, nbad);
    free(list);
    free(topo);
    free(dir);
    return tap_done();
}
