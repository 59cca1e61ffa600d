/* fuzz_cluster.c - any text as a cluster file: refused with words and a place; or sub-clusters that keep the invariants
 * of cluster.h. A rankfile of one rank on each PE is read back as it was meant. */
#include "fuzz.h"
#include "hosts.h"

#include "base/list.h"
#include "cluster/cluster.h"
#include "layout/layout.h"

#include <math.h>
#include <strings.h>

const char *const fuzz_seeds[] = {
    "subclusters:\n- {name: fast, hosts: \"p4-[0-1]\", cores: 16, memory: 64GiB, cpu: \"AMD EPYC\", cost_per_hour: "
    "1.5, "
    "power_w: 200}\n- {hosts: \"x,y\", cores: 2, kind: P}\n",
    "level: core\nexclude: \"b\"\nledger: locks\nsubclusters:\n- {hosts: \"a,b,c\", exclude: \"c\", topology: "
    "\"package:2 "
    "core:2 pu:2\", level: package}\n- {hosts: \"d\", cores: 3}\n",
    "subclusters:\n- {hosts: \"a\", cores: 4, memory: 1T}\n- {hosts: \"a\", cores: 65536, level: core}\n",
    "subclusters:\n- {hosts: \"localhost\"}\n", "subclusters:\n- {hosts: \"a\", topology: \"missing.xml\"}\n",
    "subclusters:\n- {hosts: \"a\", cores: 1, cost_per_hour: 1e308, power_w: .inf}\n", "subclusters: []\n", NULL
};

static void check(const struct hrun_cluster *c)
{
    FUZZ_CHECK(c->nsubs > 0 && c->nhosts > 0);
    for (int i = 0; i < c->nsubs; i++) {
        const struct hrun_subcluster *s = &c->subs[i];
        struct hrun_buf sig = HRUN_BUF_INIT;

        FUZZ_CHECK(s->name[0] && s->npes > 0 && s->cores_per_pe > 0 && s->pus_per_pe > 0);
        FUZZ_CHECK(isfinite(s->cost_per_hour) && s->cost_per_hour >= 0 && isfinite(s->power_w) && s->power_w >= 0);
        for (int k = 0; k < i; k++)
            FUZZ_CHECK(strcmp(c->subs[k].name, s->name));
        for (int p = 0; p < s->npes; p++) {
            const struct hrun_pe *e = &s->pes[p];

            FUZZ_CHECK(e->host >= 0 && e->host < c->nhosts && e->ncores == s->cores_per_pe);
            FUZZ_CHECK(e->memory_bytes <= 1ull << 60);
        }
        hrun_cluster_signature(s, "ompi-4.1.4", "mpirun", &sig);
        FUZZ_CHECK(sig.len && !sig.data[strspn(sig.data, "abcdefghijklmnopqrstuvwxyz0123456789.-")]);
        hrun_buf_release(&sig);
    }
    for (int h = 0; h < c->nhosts; h++)
        for (int k = h > 8 ? h - 8 : 0; k < h; k++)
            FUZZ_CHECK(strcasecmp(c->hosts[h].name, c->hosts[k].name));
}

/* "rank 0=host slot=0-3,8", a line for each. */
static void check_rankfile(const struct hrun_layout *l, char *text)
{
    char *line, *slots, *save = NULL;
    long first, last, before;
    int rank, used, n = 0;

    for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save), n++) {
        const char *host = l->cluster->hosts[l->ranks[n].host].name, *p;
        int ncores = 0;

        FUZZ_CHECK(n < l->nranks && sscanf(line, "rank %d=%n", &rank, &used) == 1 && rank == n);
        slots = strstr(line, " slot=");
        FUZZ_CHECK(slots && slots == line + used + strlen(host) && !strncmp(line + used, host, strlen(host)));
        for (p = slots + 6, before = -1; (p = hrun_range_next(p, HRUN_RANGES_MAX, &first, &last)); p++) {
            FUZZ_CHECK(first > before);
            before = last;
            ncores += (int)(last - first) + 1;
            if (*p != ',')
                break;
        }
        FUZZ_CHECK(p && !*p && ncores == l->cluster->subs[l->ranks[n].sub].pes[l->ranks[n].pe].ncores);
    }
    FUZZ_CHECK(n == l->nranks);
}

static void check_ranks(const struct hrun_cluster *c)
{
    struct hrun_buf text = HRUN_BUF_INIT;
    struct hrun_error err = { 0 };
    struct hrun_layout *l;
    int npes = 0;

    for (int i = 0; i < c->nsubs; i++)
        npes += c->subs[i].npes;
    l = hrun_layout_plain(c, npes, NULL, NULL, &err);
    FUZZ_CHECK(l && l->nranks == npes);
    if (hrun_layout_rankfile(l, &text, &err))
        FUZZ_CHECK(err.code == HRUN_EINVAL && err.text[0] && !text.len);
    else
        check_rankfile(l, text.data);
    hrun_layout_destroy(l);
    hrun_buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hrun_cluster_request req = { .level = -1, .cluster_file = fuzz_file(data, size) };
    struct hrun_cluster *c = NULL;
    struct hrun_error err = { 0 };
    double cost = -1, power = -1;
    char *ledger = NULL;
    int rc;

    hosts_settle();
    if (hrun_cluster_discover(&req, &c, &err)) {
        FUZZ_CHECK(!c && err.text[0] && !strcmp(err.file, req.cluster_file) && err.line >= 0);
        FUZZ_CHECK((err.code == HRUN_EPARSE || err.code == HRUN_EINVAL) && (size_t)err.line <= size + 1);
    } else {
        check(c);
        check_ranks(c);
        FUZZ_CHECK(!hrun_clusterfile_ledger(req.cluster_file, &ledger, &err));
        rc = hrun_clusterfile_price(req.cluster_file, c->subs[0].name, &cost, &power, &err);
        FUZZ_CHECK(rc == 0 || (rc == 1 && cost >= 0 && power >= 0));
    }
    free(ledger);
    hrun_cluster_destroy(c);
    return 0;
}
