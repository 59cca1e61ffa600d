/* fuzz_told.c - any answer of a host that is asked what it is made of: refused with the host's name, or a host with PEs
 * that can be. Byte 1 of an input stands for XML that hwloc wrote. */
#include "fuzz.h"
#include "hosts.h"

#include "cluster/cluster.h"

#define SAID "<?hrun\nusable 0-3\nmemory 16000000000\ncpu AMD EPYC\nmpi 4.1.4\nfingerprint 1a2b3c4d\n" \
             "machine 5d41402abc4b2a76 node17\n"

const char *const fuzz_seeds[] = {
    "motd\n\1\n" SAID "topology 0123456789abcdef\n?>\n", "\1" SAID "?>", "\1", "\1<?hrun\nusable 0\nmemory 0\n?>\r\n",
    "\1<?hrun\nusable 0-99\nmemory 1152921504606846976\ncpu \n?>", "bash: hrun: command not found\n", "",
    "\1" SAID "topology 0\n?>\1" SAID "?>", NULL
};

static struct hrun_buf xml = HRUN_BUF_INIT;

static void settle(void)
{
    struct hrun_topo *t = hrun_topo_load(HRUN_TOPO_SYNTHETIC, "package:2 core:2 pu:1", NULL);

    hosts_settle();
    FUZZ_CHECK(t && !hrun_topo_export(t, &xml, NULL));
    hrun_topo_destroy(t);
}

static int answer(void *ctx, char *const *hosts, int n, int skip, struct hrun_buf *texts, struct hrun_error *errors,
                  struct hrun_error *err)
{
    const struct hrun_buf *text = ctx;

    (void)hosts;
    (void)skip;
    (void)errors;
    (void)err;
    for (int i = 0; i < n; i++)
        hrun_buf_add(&texts[i], text->data, text->len);
    return 0;
}

static void check_cluster(const struct hrun_cluster *c)
{
    FUZZ_CHECK(c->nsubs > 0 && c->nhosts == 1 && c->hosts[0].answer && !c->hosts[0].remembered);
    for (int i = 0; i < c->nsubs; i++)
        for (int p = 0; p < c->subs[i].npes; p++) {
            const struct hrun_pe *e = &c->subs[i].pes[p];

            FUZZ_CHECK(e->host == 0 && e->ncores > 0 && e->npus >= e->ncores && e->cpuset[0] && e->cores[0]);
            FUZZ_CHECK(e->memory_bytes <= 1ull << 60);
        }
}

static void ask(const uint8_t *data, size_t size)
{
    struct hrun_buf text = HRUN_BUF_INIT;
    struct hrun_cluster_request req = { .level = -1, .hosts = "h", .topologies = answer, .ctx = &text };
    struct hrun_cluster *c = NULL;
    struct hrun_error err = { 0 };

    for (size_t i = 0; i < size; i++)
        if (data[i] == 1)
            hrun_buf_add(&text, xml.data, xml.len);
        else
            hrun_buf_add(&text, data + i, 1);
    if (hrun_cluster_discover(&req, &c, &err))
        FUZZ_CHECK(!c && err.code && strstr(err.text, "'h'"));
    else
        check_cluster(c);
    hrun_cluster_destroy(c);
    hrun_buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!xml.len)
        settle();
    ask(data, size);
    return 0;
}
