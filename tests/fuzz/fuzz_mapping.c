/* fuzz_mapping.c - any text as mpirun's words for where ranks go, and as a rankfile: refused with words, or ranks that
 * have cores of their hosts */
#include "fuzz.h"

#include "layout/layout.h"

const char *const fuzz_seeds[] = {
    "node", "ppr:2:socket:pe=2,OVERSUBSCRIBE", "slot:span:DISPLAY", "core:overload-allowed", "none:if-supported", "3",
    "rankfile:file=/dev/null", "rank 0=a slot=0-1\nrank 1=+n1 slot=2,3 # own\n", "rank 0=a slot=0:0-1;1:*\n",
    "rank 1=b slots=0\r\n\n rank 0 = b slot = 1", "rank 0=a slot=4\n", "rank 99999999=a slot=0", "", NULL
};

enum { NPES = 8 };
static struct hrun_pe pes[NPES];
static struct hrun_host hosts[] = { { .name = (char *)"a" }, { .name = (char *)"b.lan", .slots = 3 } };
static struct hrun_subcluster sub = { .name = (char *)"s", .pes = pes, .npes = NPES };
static struct hrun_cluster cluster = { .hosts = hosts, .nhosts = 2, .subs = &sub, .nsubs = 1, .ngroups = 1 };

static void check(const struct hrun_mapping *m, int n)
{
    struct hrun_error err = { 0 };
    struct hrun_layout *l = hrun_layout_map(&cluster, m, n, NULL, NULL, &err);

    FUZZ_CHECK(l || (err.code && err.text[0]));
    FUZZ_CHECK(!l || (l->nranks > 0 && (!n || l->nranks == n || m->rankfile)));
    for (int r = 0; l && r < l->nranks; r++)
        FUZZ_CHECK(l->ranks[r].host >= 0 && l->ranks[r].host < 2 && l->ranks[r].ncores > 0 && l->ranks[r].cores[0] &&
                   pes[l->ranks[r].pe].host == l->ranks[r].host);
    hrun_layout_destroy(l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const keys[] = { "map-by", "rank-by", "bind-to", "per-node", "per-host", "pe" };
    static const char *const cores[] = { "0", "1", "2", "3" };
    struct hrun_buf text = HRUN_BUF_INIT;
    struct hrun_mapping m = { .per = 0 };
    int any = 0;

    for (int p = 0; p < NPES; p++)
        pes[p] = (struct hrun_pe){ p / 4, p % 4, "", cores[p % 4], "", 1, 1, 0 };
    hrun_buf_add(&text, data, size);
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        struct hrun_error err = { 0 };
        struct hrun_mapping before = m;

        if (hrun_mapping_set(&m, keys[k], text.data, &err)) {
            FUZZ_CHECK(err.code == HRUN_EINVAL && err.text[0]);
            m = before;
            continue;
        }
        m.rankfile = NULL;
        check(&m, (int)(size % 9));
        any = 1;
    }
    FUZZ_CHECK(any || size);
    m = (struct hrun_mapping){ .rankfile = fuzz_file(data, size), .hwthreads = (int)(size & 1) };
    check(&m, (int)(size / 2 % 3));
    hrun_buf_release(&text);
    return 0;
}
