/* fuzz_platform.c - any words of hrun-smpi about a platform file: refused with a reason, or sub-clusters of hosts that
 * make sense, by other names each, the fastest first */
#include "fuzz.h"

#include "cluster/cluster.h"

#include <math.h>
#include <string.h>

const char *const fuzz_seeds[] = {
    "simgrid 3.32\nhost 1.6e9 2 1.25e8 5e-5 0 1.25e8 1e-4 fast-0\nasking a\tb\nhost 5.5e8 1 1.25e8 5e-5 0 0 0 slow-0\n"
    "host 5.5e8 1 1.25e8 5e-5 1 0 0 slow-1.site\nend\nloop 0 1e10 0\nloop 1 1e10 0\n",
    "Parse error at /dev/null:17: cannot parse number:x\nExiting now.\n",
    "Uncaught exception simgrid::AssertionError by maestro/0: Refusing to create a second NetZone called 'A'.\n",
    "simgrid 3.32\nasking a\tb\nSegmentation fault.\n", "simgrid 3.32\nend\n", NULL
};

static int give(void *ctx, const char *path, char *const *hosts, struct hrun_buf *text,
                struct hrun_error *err)
{
    (void)path;
    (void)hosts;
    (void)err;
    hrun_buf_adds(text, ctx);
    return 0;
}

static void check(const struct hrun_cluster *c)
{
    FUZZ_CHECK(c->nsubs > 0 && c->nhosts > 0 && c->simgrid && c->platform);
    for (int i = 0; i < c->nsubs; i++) {
        const struct hrun_subcluster *s = &c->subs[i];

        FUZZ_CHECK(s->name[0] && s->network && s->npes > 0 && s->cores_per_pe > 0);
        FUZZ_CHECK(isfinite(s->core_flops) && s->core_flops > 0);
        FUZZ_CHECK(i == 0 || c->subs[i - 1].core_flops >= s->core_flops);
        for (int k = 0; k < i; k++)
            FUZZ_CHECK(strcmp(c->subs[k].name, s->name));
        for (int p = 0; p < s->npes; p++)
            FUZZ_CHECK(s->pes[p].host >= 0 && s->pes[p].host < c->nhosts && s->pes[p].ncores == s->cores_per_pe);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = strndup((const char *)data, size);
    struct hrun_cluster_request req = { .level = -1, .platform = "/dev/null", .read_platform = give, .ctx = text };
    struct hrun_cluster *c = NULL;
    struct hrun_error err = { 0 };

    if (!text)
        return 0;
    if (hrun_cluster_discover(&req, &c, &err))
        FUZZ_CHECK(!c && err.code && err.text[0]);
    else
        check(c);
    hrun_cluster_destroy(c);
    free(text);
    return 0;
}
