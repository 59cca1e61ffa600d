/* The doctor's records and judgements, on data: each bad case is found where it is, and a good cluster has none. */
#include "../../calib/doctor/doctor.h"
#include "tap.h"

#include <jansson.h>
#include <stdlib.h>

static const struct doctor_limits limits = { DOCTOR_SPREAD, DOCTOR_NETWORK_FACTOR * DOCTOR_SPREAD, DOCTOR_CLOCK_S };

/* Two sub-clusters: four PEs of one on hosts a1 to a4, two of the other on b1. Everything is well. */
static const char who[] =
    "a shell says hello\n"
    "sub 0 2 fast\nsub 1 1 slow kind\n"
    "rank 0 0 0 a1\nrank 1 0 1 a2\nrank 2 0 2 a3\nrank 3 0 3 a4\nrank 4 1 0 b1\nrank 5 1 1 b1\n";
static const char good[] =
    "hrun-probe 1\n"
    "fact 0 mtu 1500\nfact 1 mtu 1500\nfact 2 mtu 1500\nfact 3 mtu 1500\nfact 4 mtu 1500\n"
    "fact 0 link_mbit 1000\nfact 1 link_mbit 1000\nfact 2 link_mbit -1\nfact 4 link_mbit 1000\n"
    "fact 0 governor performance\nfact 1 governor performance\nfact 0 turbo off\nfact 0 huge_pages madvise\n"
    "fact 0 swap_used_kib 0\n"
    "kernel 0 1 1.01 0.99 1 1.005 0.995\nkernel 1 1 1.01 0.99 1 1.004 0.996\nkernel 2 1.01 1 0.99 1 1.003 0.995\n"
    "kernel 3 1 1.01 0.99 1 1.005 0.996\nkernel 4 3 3.01 2.99 3 3.005 2.995\nkernel 5 3 3.01 2.99 3 3 2.995\n"
    "noise 0 1000 0.001 0.00101 0.001 0.0011 0.002\n"
    "clock 1 0.01 0.0001\n"
    "pairs 4 4\n"
    "trip 0 1 8 1e-5 1.01e-5 1e-5\ntrip 0 1 1024 2e-5 2e-5 2.1e-5\n"
    "trip 1 2 8 1e-5 1.01e-5 1e-5\ntrip 1 2 1024 2e-5 2e-5 2.1e-5\n"
    "trip 2 3 8 1e-5 1.01e-5 1e-5\ntrip 2 3 1024 2e-5 2e-5 2.1e-5\n"
    "trip 3 4 8 4e-5 4.01e-5 4e-5\n"
    "alltoall 8 1e-4 1.01e-4 1e-4\n"
    "busy 0 0.01 0\nswapped 0 0\nprocess 0 17 0.02 idle one\n";

static struct doctor_data data;
static struct findings found;

static void drop(void)
{
    doctor_release(&data);
    findings_release(&found);
}

/* Judge the good cluster with lines before and behind its own: of two times of one thing the last counts, of two values
 * of a setting the first. Result: how many findings. */
static int judge(const char *first, const char *more)
{
    char text[8192];
    struct hrun_error err = { 0 };

    drop();
    snprintf(text, sizeof text, "%s%s%s%send\n", who, first, good, more);
    if (doctor_read("records", text, &data, &err)) {
        printf("# %s\n", err.text);
        return -1;
    }
    doctor_judge(&data, &limits, &found);
    return found.n;
}

/* Exactly these findings of one check, the first of which says words. */
static void one(const char *first, const char *more, int n, const char *check, enum doctor_severity severity,
                const char *words)
{
    is_int(judge(first, more), n, "%s: %d finding%s", check, n, n == 1 ? "" : "s");
    if (found.n < 1)
        return;
    for (int i = 0; i < found.n; i++)
        is_str(found.v[i].check->name, check, "... and of this check");
    has_str(found.v[0].what, words, "... with its place and figure");
    is_int(found.v[0].check->severity, severity, "... of the right severity");
    ok(found.problems + found.warnings == found.n && !!found.problems == (severity == DOCTOR_PROBLEM),
       "... and counted");
}

/* Where all processes are on one host nobody is sent to look at cables. */
static void test_one_host(void)
{
    struct hrun_error err = { 0 };
    static const char text[] =
        "sub 0 2 only\nrank 0 0 0 a1\nrank 1 0 1 a1\nhrun-probe 1\nkernel 0 1 1 1\nkernel 1 1 1 1\n"
        "trip 0 1 64 1e-5 9e-5 1e-5 2e-5 1e-5\nalltoall 1024 1e-4 2e-4 3e-4\nend\n";

    drop();
    ok(!doctor_read("records", text, &data, &err), "one host");
    doctor_judge(&data, &limits, &found);
    is_int(found.n, 2, "two findings");
    for (int i = 0; i < found.n; i++)
        ok(strstr(found.v[i].advice, "inside this host") && !strstr(found.v[i].advice, "ethtool"), "%s: no cable",
           found.v[i].check->name);
}

static void test_judge(void)
{
    is_int(judge("", ""), 0, "a good cluster has no finding");
    one("", "kernel 1 1 1.2 0.9 1 1 1.3 0.95 1 1 0.9\n", 1, "kernel-spread", DOCTOR_PROBLEM, "PE 1 of fast (host a2)");
    is_num(found.v[0].limit, 0.05, 1e-12, "the limit is the threshold");
    one("", "kernel 2 1.2 1.21 1.2 1.19 1.2 1.2\n", 1, "unequal-pes", DOCTOR_PROBLEM,
        "PE 2 of fast (host a3) needs 20");
    is_num(found.v[0].measured, 0.2, 1e-2, "by how much");
    /* Of two the slower is named. */
    one("", "kernel 5 3.6 3.61 3.6 3.59 3.6 3.6\n", 1, "unequal-pes", DOCTOR_PROBLEM, "PE 1 of slow kind (host b1)");
    one("", "kernel 2 0.8 0.81 0.8 0.8 0.79\n", 1, "unequal-pes", DOCTOR_PROBLEM, "20.0 % less time");
    /* Medians apart, but no more than such samples may be by chance. */
    is_int(judge("", "kernel 0 1 1.001\nkernel 1 1 1.001\nkernel 2 1.2 1.21\nkernel 3 1 1.001\n"), 0,
           "two samples a PE do not tell that they differ");
    one("", "noise 3 1000 0.001 0.00111 0.001 0.002 0.02\n", 1, "noise", DOCTOR_PROBLEM, "take 11.0 % longer");
    one("", "clock 2 -0.5 0.001\n", 1, "clock", DOCTOR_PROBLEM, "host a3 is 0.5 s behind that of host a1");
    is_int(judge("", "clock 2 0.5 0.45\n"), 0, "a clock whose reading is too uncertain is not blamed");
    one("", "trip 4 5 64 1e-5 9e-5 1e-5 2e-5 1e-5\n", 1, "round-trip", DOCTOR_PROBLEM, "64 bytes");
    one("", "trip 4 5 64 9e-5 9e-5 9e-5\ntrip 4 5 1024 2e-5 2e-5 2e-5\n", 1, "message-size", DOCTOR_PROBLEM,
        "64 bytes take 350 % longer than those of 1 KiB");
    one("", "trip 3 0 1024 8e-5 8e-5 8e-5\n", 1, "unequal-links", DOCTOR_PROBLEM, "PE 3 of fast (host a4)");
    one("", "alltoall 1024 1e-4 2e-4 3e-4\n", 1, "alltoall", DOCTOR_PROBLEM, "1 KiB from each of 6");
    one("", "busy 4 0.5 0\nprocess 4 4711 0.5 cc1\n", 1, "others", DOCTOR_PROBLEM, "process 4711 (cc1, 50 %)");
    one("", "busy 4 0 0.2\n", 1, "stolen", DOCTOR_PROBLEM, "20.0 %");
    one("", "swapped 4 9\n", 1, "swapping", DOCTOR_PROBLEM, "host b1 swapped 9 pages");
}

static void test_networks(void)
{
    one("hrun-probe 1\nfact 3 mtu 9000\n", "", 1, "mtu", DOCTOR_PROBLEM,
        "MTU of host a4 (network) is 9000, that of host a1 1500");
    one("hrun-probe 1\nfact 0 mtu 9000\n", "", 1, "mtu", DOCTOR_PROBLEM,
        "MTU of host a1 (network) is 9000, that of host a2");
    one("hrun-probe 1\nfact 1 link_mbit 100\n", "fact 3 link_mbit 1000\n", 1, "link-speed", DOCTOR_PROBLEM,
        "host a2 (fast) has 100 Mbit/s, that of host a1 (fast) 1000");
    one("hrun-probe 1\nfact 4 link_mbit 100\n", "", 1, "link-speed-subs", DOCTOR_WARNING,
        "host b1 (slow kind) has 100");
}

static void test_settings(void)
{
    static const char openblas[] = "library /usr/lib/x/openblas-pthread/libblas.so.3\n";

    one("", "fact 4 governor powersave\n", 1, "governor", DOCTOR_WARNING, "host b1 is powersave");
    is_int(judge("", "fact 3 governor powersave\n"), 2, "a governor unlike that of its sub-cluster's others");
    is_str(found.v[0].check->name, "unequal-governors", "... is a problem");
    is_str(found.v[1].check->name, "governor", "... beside the warning");
    is_int(found.problems, 1, "... counted once");
    one("fact 4 cpu_quota 1.5\n", "", 1, "cpu-quota", DOCTOR_WARNING,
        "the control group of host b1 grants 1.5 CPUs to its 2 PEs");
    one("fact 0 cpu_quota 0.3\nfact 1 cpu_quota 1\nfact 4 cpu_quota 2\n", "", 1, "cpu-quota", DOCTOR_WARNING,
        "the control group of host a1 grants 0.3 CPUs to its 1 PE:");
    one("", "fact 4 turbo on\n", 1, "turbo", DOCTOR_WARNING, "host b1: turbo is on");
    one("", "fact 4 turbo_intel on\n", 1, "turbo", DOCTOR_WARNING, "host b1: turbo is on");
    one("", "fact 4 huge_pages always\n", 1, "huge-pages", DOCTOR_WARNING, "host b1");
    one("", "fact 4 swap_used_kib 2048\n", 1, "swap-used", DOCTOR_WARNING, "2 MiB");
    one(openblas, "", 4, "blas-threads", DOCTOR_PROBLEM, "openblas-pthread/libblas.so.3, which starts up to 2 threads");
    is_int(judge(openblas, "fact 0 OMP_NUM_THREADS 1\nfact 1 OMP_NUM_THREADS 1\nfact 2 OPENBLAS_NUM_THREADS 1\n"
                 "fact 3 GOTO_NUM_THREADS 1\n"), 0, "any of its variables stops OpenBLAS");
    is_int(judge(openblas, "fact 0 MKL_NUM_THREADS 1\n"), 4, "that of another library does not");
    is_int(judge("library /usr/lib/x/openblas-serial/libblas.so.3\nlibrary /usr/lib/libm.so.6\n", ""), 0,
           "a serial library needs none");
}

static void test_read(void)
{
    static const struct { const char *text, *words; } bad[] = {
        { "", "no records" }, { "nothing\nof this\n", "no records" },
        { "sub 0 1 a\nrank 0 0 0 h\nhrun-probe 1\n", "torn" },
        { "sub 0 1 a\nrank 0 0 0 h\nhrun-probe 2\nend\n", "another version" },
        { "sub 0 1 a\nrank 0 1 0 h\nhrun-probe 1\nend\n", "number" },
        { "sub 0 1 a\nrank 1 0 0 h\nhrun-probe 1\nend\n", "order" },
        { "sub 1 1 a\n", "order" },
        { "sub 0 1 a\nrank 0 0 0 h\nhrun-probe 1\nkernel 0\nend\n", "no time" },
        { "sub 0 1 a\nrank 0 0 0 h\nhrun-probe 1\nkernel 0 1 x\nend\n", "number" },
        { "sub 0 1 a\nrank 0 0 0 h\nhrun-probe 1\nkernel 0 1 -1\nend\n", "above 0" },
        { "hrun-probe 1\nfact 0 mtu 1500\nend\n", "number" },
        { "sub 0 1 a\nrank 0 0 0 h\nhrun-probe 1\nkernel 0 1 nan\nend\n", "finite" },
        { "sub 0 1 a\nrank 0 0 0 h\nhrun-probe 1\nkernel 7 1\nend\n", "number" },
        { "sub 0 1 a\nrank 0 0 0 h\nhrun-probe 1\nnoise 0 5 0 1 1 1 1\nend\n", "above 0" },
        { "sub 0 1 a\nrank 0 0 0 h\nhrun-probe 1\nrumour 0\nend\n", "no record" },
    };
    struct doctor_data d = { 0 };
    struct hrun_error err = { 0 };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ok(doctor_read("F", bad[i].text, &d, &err) && err.code == HRUN_EPARSE, "bad records %zu are refused", i);
        has_str(err.text, bad[i].words, "... and it is said why");
        ok(!d.nranks && !d.subs, "... and nothing is left of them");
    }
    is_int(err.line, 4, "the line is told");
    is_int(judge("", ""), 0, "good ones");
    is_str(data.subs[1].name, "slow kind", "names may hold blanks");
    is_int(data.ranks[5].host, 4, "ranks of one host know the first");
    is_str(doctor_fact(&data, 5, "mtu"), "1500", "a setting of the host serves its ranks");
    ok(!doctor_fact(&data, 0, "none"), "an unknown one is none");
}

static void test_report(void)
{
    struct hrun_buf out = HRUN_BUF_INIT;
    json_t *root, *first;

    judge("", "kernel 1 1 1.2 0.9 1 1 1.3 0.95 1 1 0.9\nfact 4 turbo on\n");
    doctor_text(&data, &limits, &found, 0, &out);
    has_str(out.data, "6 PEs in 2 sub-clusters on 5 hosts", "the report in words counts");
    has_str(out.data, "PROBLEM  kernel-spread: ", "... tells problems");
    has_str(out.data, "(limit 5 %)", "... with their limits");
    has_str(out.data, "-> turn it off where times must repeat", "... what to do");
    has_str(out.data, "Not predictable enough for a threshold of 5 %: 1 problem, 1 warning", "... and the verdict");
    hrun_buf_reset(&out);
    doctor_json(&data, &limits, &found, &out);
    root = json_loads(out.data, 0, NULL);
    ok(root && !json_is_true(json_object_get(root, "predictable")), "... is JSON, and says it");
    first = json_array_get(json_object_get(root, "findings"), 0);
    is_str(json_string_value(json_object_get(first, "check")), "kernel-spread", "... with the check");
    is_str(json_string_value(json_object_get(first, "host")), "a2", "... the host");
    is_int(json_integer_value(json_object_get(first, "pe")), 1, "... the PE");
    ok(json_real_value(json_object_get(first, "measured")) > json_real_value(json_object_get(first, "limit")),
       "... figure and limit");
    is_int((long long)json_array_size(json_object_get(root, "pes")), 6, "... and every PE");
    json_decref(root);
    hrun_buf_release(&out);
}

int main(void)
{
    test_judge();
    test_one_host();
    test_networks();
    test_settings();
    test_read();
    test_report();
    drop();
    return tap_done();
}
