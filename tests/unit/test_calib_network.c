/* test_calib_network.c - how hrun-calibrate network starts its benchmark: processes, and the kinds of their PEs; and
 * how it shows what is known and what is not */
#include "tap.h"

#include "../../calib/common/calib_options.h"
#include "../../calib/network/calib_network.h"
#include "net/net_parts.h"

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
    struct calib_settings s = { CALIB_SETTINGS_DEFAULTS };
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

static void test_text(void)
{
    const char *const names[] = { "a", "b", "c" };
    struct hrun_net *net = net_make(names, 3, 3, 1, 1);
    struct hrun_buf out = HRUN_BUF_INIT;

    for (int i = 0; i < 3; i++)
        net->class_of[i] = i;
    for (int i = 0; i < 9; i++)
        net->pairs[i] = (struct hrun_net_pair){ { 2e-5, 1e-6 }, { 1e8, 1e6 } };
    net->pairs[1].L_s = (struct hrun_net_value){ 1e-7, 1e-5 };
    net->classes[0].C_s = (struct hrun_net_value){ 6e-13, 1e-10 };
    net->classes[1].C_s = (struct hrun_net_value){ 3e-6, 4e-6 };
    net->classes[2].out_bytes_per_s = (struct hrun_net_value){ 2e8, 3e8 };
    free(net->segments);
    net->segments = calloc(2, sizeof *net->segments);
    net->nsegments = 2;
    net->segments[0] = (struct hrun_net_segment){ 0, 1, 2 };
    net->segments[1] = (struct hrun_net_segment){ 1e5, 3, 0.8 };
    is_num(hrun_net_bandwidth(net, 0, 1) / 1e6, 125, 1e-9, "what long messages carry: beta by their factor");
    net->classes[1].t_s_per_byte.v = 2e-9;
    is_num(hrun_net_bandwidth(net, 0, 1) / 1e6, 100, 1e-9, "and what processors take");
    ok(isnan(hrun_net_bandwidth(net, 0, 3)), "of a host that is none, nothing");
    network_text(net, &(struct network_about){ 0 }, 1, &out);
    has_str(out.data, "125 MB/s +-1.0 %", "a network in words has the bandwidth of long messages");
    has_str(out.data, "20.0 us +-5.0 %", "the latency of empty ones");
    ok(!strstr(out.data, "beta"), "and no parameter that needs a factor");
    has_str(out.data, "not known", "an interval that is wider than its value is none");
    ok(!strstr(out.data, "10000") && !strstr(out.data, "133.") && !strstr(out.data, "150.0 %"),
       "whichever value that is");
    has_str(out.data, "a                0 s", "less than clocks show is nothing");
    has_str(out.data, "2.5", "factors are those of what is shown");
    hrun_buf_release(&out);
    hrun_net_destroy(net);
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
    test_text();
    return tap_done();
}
