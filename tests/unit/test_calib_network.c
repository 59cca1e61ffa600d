/* test_calib_network.c - how hrun-calibrate network starts its benchmark: processes, and the kinds of their PEs */
#include "tap.h"

#include "../../calib/calib.h"
#include "../../calib/network/network.h"

enum { SUBS = 3, PES = 4 };

/* Sub-clusters of PES PEs and of these kinds on hosts, which they share by turns. */
static struct hrun_strvec words_for(const int *kinds, int nhosts)
{
    static struct hrun_pe pes[SUBS][PES];
    struct hrun_host hosts[2] = { { .name = (char *)"a" }, { .name = (char *)"b" } };
    struct hrun_subcluster subs[SUBS];
    struct hrun_cluster cluster = { .source = (char *)"test", .hosts = hosts, .nhosts = nhosts, .ngroups = 1,
                                    .subs = subs, .nsubs = SUBS };
    struct context c = { .cluster = &cluster, .program = (char *)"bench" };
    struct calib_settings s = { 0 };
    struct network_plan plan = { 0 };
    struct hrun_strvec words = HRUN_STRVEC_INIT;
    struct hrun_error err = { 0 };

    for (int i = 0; i < SUBS; i++) {
        subs[i] = (struct hrun_subcluster){ .name = (char *)"s", .pes = pes[i], .npes = PES, .kind = kinds[i],
                                            .cores_per_pe = 1 };
        for (int p = 0; p < PES; p++)
            pes[i][p] = (struct hrun_pe){ .host = p % nhosts, .ncores = 1 };
    }
    if (!network_plan(&c, &s, &plan, &err)) {
        words = plan.words;
        plan.words = (struct hrun_strvec)HRUN_STRVEC_INIT;
    } else {
        printf("# %s\n", err.text);
    }
    network_plan_release(&plan);
    return words;
}

int main(void)
{
    static const struct { int kinds[SUBS], nhosts; const char *want, *what; } cases[] = {
        { { 0, 1, 2 }, 1, "0,0,0,0,1,1,1,1,2,2,2,2", "three kinds" },
        { { 1, 0, 1 }, 1, "1,1,1,1,0,0,0,0,1,1,1,1", "in whatever order, and two sub-clusters of one kind" },
        { { 1, 2, 1 }, 1, "0,0,0,0,1,1,1,1,0,0,0,0", "without the fastest: no number is left out" },
        { { 0, 1, 2 }, 2, "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0", "between hosts kinds do not count" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hrun_strvec words = words_for(cases[i].kinds, cases[i].nhosts);

        is_str(words.n == 3 ? words.v[0] : "", "bench", "the benchmark");
        is_str(words.n == 3 ? words.v[1] : "", "--kinds", "is told of kinds");
        is_str(words.n == 3 ? words.v[2] : "", cases[i].want, "%s", cases[i].what);
        hrun_strvec_release(&words);
    }
    return tap_done();
}
