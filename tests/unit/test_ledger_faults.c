/* test_ledger_faults.c - the ledger when each allocation, write, lock and rename fails, one in turn: an error, nothing
 * claimed, nothing left behind */
#include "fixture.h"

#include "base/file.h"
#include "ledger/ledger.h"
#include "nomem.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char *dir;
static int write_fails, lock_fails, rename_fails;

ssize_t write(int fd, const void *data, size_t len)
{
    if (fd > 2 && write_fails) {
        errno = ENOSPC;
        return -1;
    }
    return syscall(SYS_write, fd, data, len);
}

int fcntl(int fd, int cmd, ...)
{
    va_list ap;
    void *arg;

    va_start(ap, cmd);
    arg = va_arg(ap, void *);
    va_end(ap);
    if (lock_fails && (cmd == F_OFD_SETLK || cmd == F_SETLK)) {
        errno = ENOLCK;
        return -1;
    }
    return (int)syscall(SYS_fcntl, fd, cmd, arg);
}

int renameat(int a, const char *from, int b, const char *to)
{
    if (rename_fails) {
        errno = EACCES;
        return -1;
    }
    return (int)syscall(SYS_renameat2, a, from, b, to, 0);
}

/* Files in the folders of all users. */
static int files(void)
{
    DIR *list = opendir(dir);
    struct dirent *e;
    int n = 0;

    while ((e = readdir(list))) {
        char path[600];
        DIR *own;

        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        own = e->d_name[0] == '.' ? NULL : opendir(path);
        while (own && (e = readdir(own)))
            n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
        if (own)
            closedir(own);
    }
    closedir(list);
    return n;
}

/* Open, claim one PU, wait for another, look. 0, or -1 with *err; *at: how far it came. */
static int all(struct hrun_error *err, int *at)
{
    struct hrun_ledger_use one = { (char *)"n", (char *)"0" }, two = { (char *)"n", (char *)"1-2" };
    struct hrun_ledger_entry e = { .app = (char *)"lu", .program = (char *)"/bin/lu", .version = (char *)"1",
                                   .uses = &one, .nuses = 1 };
    struct hrun_ledger_list list = { 0 };
    struct hrun_ledger *l = NULL, *other = NULL;
    int rc = -1;

    *at = 0;
    if (hrun_ledger_open(dir, &l, err) || hrun_ledger_open(dir, &other, err))
        goto done;
    *at = 1;
    if (hrun_ledger_claim(l, &e, NULL, err) != 1)
        goto done;
    *at = 2;
    e.uses = &two;
    if (hrun_ledger_queue(l, &e, err))
        goto done;
    *at = 3;
    if (hrun_ledger_read(other, &list, err))
        goto done;
    *at = 4;
    rc = list.n == 2 ? 0 : -1;
done:
    hrun_ledger_list_release(&list);
    hrun_ledger_close(l);
    hrun_ledger_close(other);
    return rc;
}

static void test_memory(void)
{
    struct hrun_error err = { 0 };
    int wrong = 0, errors = 0, lost = 0, litter = 0, at;
    long n, before;

    ok(!all(&err, &at), "it works");
    for (n = 1; n < 10000; n++) {
        int rc;

        err = (struct hrun_error){ 0 };
        before = live;
        calls = 0;
        fail_at = n;
        rc = all(&err, &at);
        fail_at = 0;
        lost += live != before;
        litter += files() != 0;
        if (calls < n)
            break;
        /* opendir tells by errno what it has not got; qsort does without. */
        errors += rc != 0;
        wrong += rc && err.code != HRUN_ENOMEM && (err.code != HRUN_EIO || err.sys != ENOMEM);
    }
    ok(errors > 40 && !wrong, "of %ld allocations that fail %d are errors, the others do no harm", n - 1, errors);
    is_int(lost, 0, "and loses nothing");
    is_int(litter, 0, "and leaves nothing");
}

static void test_faults(void)
{
    static const struct { int *fails; int sys; const char *what; } faults[] = {
        { &write_fails, ENOSPC, "a full disk" }, { &lock_fails, ENOLCK, "no locks" },
        { &rename_fails, EACCES, "no rename" },
    };
    struct hrun_error err;
    int at;

    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        err = (struct hrun_error){ 0 };
        *faults[i].fails = 1;
        ok(all(&err, &at) == -1 && err.code == HRUN_EIO && err.sys == faults[i].sys, "%s: %s", faults[i].what,
           err.text);
        is_int(at, 1, "nothing is claimed");
        *faults[i].fails = 0;
        is_int(files(), 0, "and nothing is left");
    }
    ok(!all(&err, &at), "then all is well again");
}

int main(void)
{
    dir = temp_dir();
    if (chmod(dir, 01777))
        bail(dir);
    test_faults();
    if (REPLACED)
        test_memory();
    else
        ok(1, "no memory # SKIP the allocator is not ours here");
    free(dir);
    return tap_done();
}
