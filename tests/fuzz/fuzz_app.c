/* fuzz_app.c - any text as an app definition: refused with words and a place; or a definition that keeps the invariants
 * of app.h, whose templates can be expanded, and whose expressions give numbers or say why not */
#include "fuzz.h"

#include "app/app.h"
#include "app/template.h"
#include "base/units.h"

#include <math.h>

const char *const fuzz_seeds[] = {
    "name: a\ntitle: A sample\nprograms: [smp]\nrule: \"N % P == 0 && N > nb\"\nprocs_per_pe: [4, 1]\n"
    "memory: 8*N^2/P\nterms:\n  np: [N^3/P, \"N^2 * x\", \"alltoall(16*N/P^2)\"]\n  n: [\"1\"]\n  p: [\"T/P\"]\n"
    "constants:\n  - {name: x, value: 0.1}\n  - {name: nb, value: 64}\nfiles:\n  - path: in/{N}.dat\n    content: |\n"
    "      {N} {P} {nb} {{N}\n      {shares}\n  - {path: flags, content: \"{x}\"}\nargs: [\"-n\", \"{N}\"]\n"
    "stdin: \"{N}\\n\"\nthreads: fill\ntime: {match: \"time: *([0-9.]+)\", file: out.txt}\n"
    "sizes: [2000, 500]\n",
    "name: a\nfamily: weak\nprocs_per_pe: [1]\nweak: {rows: \"N\", unit: \"N/2^floor(log2(N))\", memory: \"8*W*N\"}\n",
    "name: a\nfamily: ring\nring: {local: \"n^2\", step: \"2*n^2\", bytes: \"8*n\"}\nsizes: [9007199254740992]\n",
    "name: a\nterms: {np: [N/q], n: [N]}\nconstants: [{name: c, value: 2, file: f, line: 3}]\n"
    "derived:\n- {name: q, is: squarest(P)}\n- {name: r, is: P/q+c}\n"
    "files: [{path: f, content: '{r} {ceil(N/q)} {P/'}]\ntime: {match: (.*), value: N/x}\n",
    "name: a\nfamily: analytic\nconstants: [{name: c, value: 1e308}]\nwhere:\n- {name: q, is: squarest(P)}\n- "
    "{name: w, is: "
    "before(share)}\nformula: \"2*N^3*share*perf + latency*q + total(w) + bcast(8*N)\"\nvariants:\n- {name: a, "
    "args: [x]}\n"
    "- {name: b, rule: \"P > 1\", formula: N}\n", "name: a\nterms: {np: [\"1\"]}\nconstants: [{name: "
    "n1234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890, value: "
    "1}]\n",
    "name: a\nterms: {np: [N^2*W, N, 1], n: [N]}\nshares: {units: \"2*N\", min: 3, memory: \"8*N*W*N + P\"}\n"
    "prepare:\n- run: [sh, -c, \"echo {shares:cuts:;}\"]\n- mpi: [x, \"{shares:99:*}\"]\nargs: [\"{shares:units}\"]\n",
    "name: a\nprograms: []\n", "name: a\nprocs_per_pe: [8192, 0]\n", NULL
};

/* A value that is finite and not negative, or words. */
static void check_value(int rc, double v, const struct hrun_error *err)
{
    FUZZ_CHECK(rc ? err->text[0] && (err->code == HRUN_ENONFINITE || err->code == HRUN_EINVAL) : isfinite(v) && v >= 0);
}

static void check_numbers(const struct hrun_app *app, int64_t N, int64_t P)
{
    struct hrun_error err = { 0 };
    struct hrun_ring_work work = { 0 };
    int64_t units = 0, unit = 0, most = 0;
    double bytes = 0;
    int rc = hrun_app_rule(app, N, P, &err);

    FUZZ_CHECK(rc == 0 || rc == 1 ||
               (rc == -1 && (err.code == HRUN_ENONFINITE || (app->shares.units && err.code == HRUN_EINVAL)) &&
                err.text[0]));
    rc = hrun_app_memory(app, N, P, &bytes, &err);
    check_value(rc, bytes, &err);
    if (app->family == HRUN_APP_RING) {
        rc = hrun_app_ring_work(app, N, P, &work, &err);
        check_value(rc, fmin(fmin(work.local, work.step), work.bytes), &err);
    }
    if (app->shares.units) {
        rc = hrun_app_units(app, N, &units, &unit, &err);
        check_value(rc, fmin((double)units, (double)unit) - (rc ? 0 : 1), &err);
        FUZZ_CHECK(!(hrun_app_uneven(app, N, P) < 1 - 1e-9));
        rc = rc ? rc : hrun_app_share_memory(app, N, P, 0.5, &bytes, &err);
        check_value(rc, bytes, &err);
    }
    if (app->family != HRUN_APP_WEAK)
        return;
    rc = hrun_app_mesh(app, N, &units, &unit, &err);
    check_value(rc, fmin((double)units, (double)unit) - (rc ? 0 : 1), &err);
    if (rc)
        return;
    rc = hrun_app_share_memory(app, N, P, (double)unit, &bytes, &err);
    check_value(rc, bytes, &err);
    most = hrun_app_units_fitting(app, N, P, units, 1e9, &err);
    check_value(most < 0 ? -1 : 0, (double)most, &err);
    FUZZ_CHECK(most <= units);
}

static void check_template(const struct hrun_app *app, const char *text)
{
    static const double share[] = { 96, 96, 96, 96, 64, 64, 64, 64 };
    const struct hrun_app_values v = { 9600, 8, share };
    struct hrun_buf out = HRUN_BUF_INIT;
    struct hrun_error err;

    FUZZ_CHECK(!text || !hrun_app_expand(app, text, &v, &out, &err) || strstr(err.text, "do not add up"));
    hrun_buf_release(&out);
}

static void check(const struct hrun_app *app)
{
    struct hrun_buf text = HRUN_BUF_INIT;

    FUZZ_CHECK(app->name && app->name[0] && (app->rule || app->nvariants) && app->nprocs_per_pe > 0);
    for (int i = 0; i < app->nprocs_per_pe; i++)
        FUZZ_CHECK(app->procs_per_pe[i] > (i ? app->procs_per_pe[i - 1] : 0) &&
                   app->procs_per_pe[i] <= HRUN_PROCS_PER_PE_MAX);
    for (int i = 0; i < app->sizes.n; i++)
        FUZZ_CHECK(app->sizes.v[i] > (i ? app->sizes.v[i - 1] : 0) && app->sizes.v[i] <= HRUN_COUNT_MAX);
    for (int i = 0; i < app->nconsts; i++)
        FUZZ_CHECK(isfinite(app->consts[i].value));
    for (int i = 0; i < app->run.nfiles; i++) {
        check_template(app, app->run.files[i].path);
        check_template(app, app->run.files[i].content);
    }
    for (int i = 0; i < app->run.nprepare; i++)
        for (int k = 0; k < app->run.prepare[i].nwords; k++)
            check_template(app, app->run.prepare[i].words[k]);
    for (int i = 0; i < app->run.nargs; i++)
        check_template(app, app->run.args[i]);
    check_template(app, app->run.stdin_text);
    hrun_app_consts_text(app, &text);
    hrun_buf_release(&text);
    check_numbers(app, 1, 1);
    check_numbers(app, 9600, 8);
    check_numbers(app, HRUN_COUNT_MAX, 1 << 29);
    for (int i = 0; i < app->nvariants; i++) {
        check(app->variants[i]);
        FUZZ_CHECK(hrun_app_find_variant(app, app->variants[i]->variant, NULL) == i);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[4096 + 16];    /* a definition has the name of its file */
    const char *file = fuzz_file(data, size);
    struct hrun_app *app = NULL;
    struct hrun_error err = { 0 };

    if (!path[0]) {
        snprintf(path, sizeof path, "%s/a.yaml", fuzz_folder());
        FUZZ_CHECK(!symlink(file, path));
    }
    if (hrun_app_load(path, NULL, &app, &err)) {
        FUZZ_CHECK(!app && err.code == HRUN_EPARSE && err.text[0] && err.line >= 0);
        FUZZ_CHECK((size_t)err.line <= size + 1 && (size_t)err.column <= size + 1);
        return 0;
    }
    check(app);
    hrun_app_destroy(app);
    return 0;
}
