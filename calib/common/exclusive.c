/* exclusive.c - locks that let one calibration of a thing run at a time; see alone.h */
#include "alone.h"
#include "base/alloc.h"
#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Interval between two attempts to lock a file that another process has locked. */
static const double POLL_S = 0.5;

int exclusive_add(struct exclusive *x, const struct context *c, const char *app, const char *signature,
                  struct hrun_error *err)
{
    char *path = hrun_store_calibration_lock(c->store, app, signature, err);

    if (!path)
        return -1;
    hrun_strvec_push(&x->paths, path);
    free(path);
    return 0;
}

/* Lock one file. Result: its descriptor, or -1 with the errors of exclusive_begin. */
static int lock(const struct context *c, const char *path, const char *what, int *sig, struct hrun_error *err)
{
    struct hrun_error why = { 0 };
    int fd, said = 0;

    while ((fd = hrun_lock_try(path, &why)) < 0 && why.code == HRUN_EBUSY) {
        if (!said++ && !c->set->quiet)
            fprintf(stderr, "hrun-calibrate: another calibration of %s is running (%s); waiting for it\n", what,
                    why.text);
        *sig = ledger_sleep(POLL_S);
        if (*sig) {
            hrun_fail(err, HRUN_EBUSY, "waiting for another calibration of %s (%s) was interrupted by signal %d; "
                      "nothing was measured", what, why.text, *sig);
            return -1;
        }
    }
    if (fd < 0 && err)
        *err = why;
    return fd;
}

int exclusive_begin(struct exclusive *x, const struct context *c, const char *what, int *sig, struct hrun_error *err)
{
    hrun_strvec_sort(&x->paths, 0);     /* sub-clusters of one kind share a profile */
    x->fds = xcalloc(x->paths.n + 1, sizeof *x->fds);
    for (size_t i = 0; i < x->paths.n; i++) {
        x->fds[x->n] = lock(c, x->paths.v[i], what, sig, err);
        if (x->fds[x->n] < 0)
            return -1;
        x->n++;
    }
    return 0;
}

void exclusive_end(struct exclusive *x)
{
    for (int i = 0; i < x->n; i++)
        hrun_unlock(x->fds[i]);
    free(x->fds);
    hrun_strvec_release(&x->paths);
    memset(x, 0, sizeof *x);
}
