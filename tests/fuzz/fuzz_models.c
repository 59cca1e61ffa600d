/* fuzz_models.c - any text as a file of models: refused with words and a place, or models that keep the invariants of
 * store.h, and that are the same when they are written and read again */
#include "fuzz.h"

#include "store/internal.h"

#define HEAD "version: 1\napp: lu\nsignature: sig\n"
#define RECORD "- family: npt\n  method: nnls\n  M: 2\n  P: 0\n  terms:\n  - {term: N^3/P, k: 1.5e-9}\n" \
               "  - {term: N, k: 0}\n" \
               "  cov: [\"1e-3\", \"0 2.5\"]\n  s2: 0.5\n  dof: 3\n  sigma_abs_s: 1e-3\n  sigma_rel: 0.02\n  " \
               "npoints: 5\n" \
               "  nmin: 100\n  nmax: 9600\n  pmin: 1\n  pmax: 8\n  train_mean: 0.01\n  train_max: 0.05\n"

const char *const fuzz_seeds[] = {
    HEAD "subcluster: fast\nconsts: nb=128\nfitted: 2026-11-20T10:36:00Z\nnewest: 2026-11-20T10:36:00Z\nsamples: 5\n"
    "models:\n" RECORD "  note: dropped\n",
    HEAD "samples: 0\nmodels: []\n", HEAD "samples: 1\nmodels:\n" RECORD RECORD, "version: 2\n", NULL
};

static int parse(const char *text, size_t len, struct hrun_models **out)
{
    struct hrun_buf b = { (char *)(uintptr_t)text, len, 0 };
    struct hrun_error err = { 0 };

    if (!store_parse_models("f", &b, "lu", "sig", out, &err))
        return 0;
    FUZZ_CHECK(!*out && (err.code == HRUN_EPARSE || err.code == HRUN_ECORRUPT) && err.text[0]);
    FUZZ_CHECK(!strcmp(err.file, "f") && err.line >= 1 && err.column >= 1 && (size_t)err.line <= len + 1);
    return -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hrun_buf once = HRUN_BUF_INIT, twice = HRUN_BUF_INIT;
    struct hrun_models *m = NULL, *back = NULL;

    if (!parse((const char *)data, size, &m)) {
        FUZZ_CHECK(!store_check_models(m, NULL));
        FUZZ_CHECK(!store_print_models(m, &once, NULL) && !parse(once.data, once.len, &back));
        FUZZ_CHECK(!store_print_models(back, &twice, NULL) && !strcmp(once.data, twice.data));
    }
    hrun_models_destroy(m);
    hrun_models_destroy(back);
    hrun_buf_release(&once);
    hrun_buf_release(&twice);
    return 0;
}
