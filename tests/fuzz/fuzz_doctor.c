/* fuzz_doctor.c - any text as the records of the doctor: refused with words, the outputs untouched; or data that keep
 * the invariants of calib/doctor/doctor.h, and findings that say something */
#include "fuzz.h"

#include "../../calib/doctor/doctor.h"

#include <math.h>

#define RANKS "sub 0 2 fast\nsub 1 1 slow\nrank 0 0 0 h1\nrank 1 0 1 h1\nrank 2 1 0 h2\n"

const char *const fuzz_seeds[] = {
    "motd\n" RANKS "library /opt/libblas.so\nhrun-probe 1\nfact 0 governor performance\nfact 2 governor powersave\n"
    "fact 0 turbo on\nfact 0 mtu 1500\nfact 2 mtu 9000\nfact 0 link_mbit 1000\nfact 1 blas openblas 8\n"
    "fact 0 swap_used_kib 1000\nfact 0 huge_pages never\nkernel 0 0.1 0.2 0.1\nkernel 1 0.1 0.1 0.1\nkernel 2 0.3 "
    "0.3 0.3\n"
    "noise 0 1000 1e-3 1.1e-3 1e-3 2e-3 5e-3\nclock 2 0.5 1e-4\npairs 3 3\ntrip 0 2 0 1e-4 2e-4 1e-2\n"
    "trip 0 1 65536 1e-3 1e-3\nalltoall 1024 1e-3 2e-3\nbusy 0 0.5 0.1\nswapped 0 12\nprocess 0 4711 0.5 other "
    "program\nend\n",
    "sub 0 0 a\nrank 0 0 0 h\nhrun-probe 1\nkernel 0 1\nend\n", RANKS "hrun-probe 2\nend\n", "hrun-probe 1\n"
    "end\n", "", NULL
};

static void check_times(const struct doctor_times *t)
{
    FUZZ_CHECK(t->n >= 0 && (!t->n || t->v));
    for (int i = 0; i < t->n; i++)
        FUZZ_CHECK(isfinite(t->v[i]) && t->v[i] > 0);
}

static void check(const struct doctor_data *d)
{
    FUZZ_CHECK(d->nranks > 0 && d->nsubs > 0);
    for (int r = 0; r < d->nranks; r++) {
        const struct doctor_rank *k = &d->ranks[r];

        FUZZ_CHECK(k->sub >= 0 && k->sub < d->nsubs && k->host >= 0 && k->host <= r && k->host_name);
        for (int i = 0; i < k->nfacts; i++)
            FUZZ_CHECK(k->facts[i].key && k->facts[i].value);
        check_times(&k->kernel);
    }
    for (int i = 0; i < d->ntrips; i++) {
        FUZZ_CHECK(d->trips[i].a >= 0 && d->trips[i].a < d->nranks && d->trips[i].b >= 0 && d->trips[i].b < d->nranks);
        check_times(&d->trips[i].t);
    }
    for (int i = 0; i < d->nalltoall; i++)
        check_times(&d->alltoall[i].t);
    for (int i = 0; i < d->nprocesses; i++)
        FUZZ_CHECK(d->processes[i].rank >= 0 && d->processes[i].rank < d->nranks && d->processes[i].name);
}

static void check_findings(const struct doctor_data *d)
{
    const struct doctor_limits limits = { DOCTOR_SPREAD, DOCTOR_SPREAD * DOCTOR_NETWORK_FACTOR, DOCTOR_CLOCK_S };
    struct findings f = { 0 };

    doctor_judge(d, &limits, &f);
    FUZZ_CHECK(f.problems + f.warnings == f.n);
    for (int i = 0; i < f.n; i++)
        FUZZ_CHECK(f.v[i].what[0] && f.v[i].check->name[0] && f.v[i].rank >= -1 && f.v[i].rank < d->nranks);
    findings_release(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct doctor_data none;
    struct doctor_data d = none;
    struct hrun_buf text = HRUN_BUF_INIT;
    struct hrun_error err = { 0 };

    hrun_buf_add(&text, data, size);
    if (doctor_read("f", text.data, &d, &err)) {
        FUZZ_CHECK(err.code == HRUN_EPARSE && err.text[0] && !strcmp(err.file, "f") && (size_t)err.line <= size + 1);
        FUZZ_CHECK(!memcmp(&d, &none, sizeof d));
    } else {
        check(&d);
        check_findings(&d);
        doctor_release(&d);
    }
    hrun_buf_release(&text);
    return 0;
}
