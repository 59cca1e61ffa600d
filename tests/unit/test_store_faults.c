/* test_store_faults.c - the system says no at each point in turn: short writes, failing fsync and ftruncate.
 * The functions below stand in front of the C library's. */
#include "store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <sys/syscall.h>

static size_t write_at_most = SIZE_MAX;   /* bytes per call */
static long writes_until_full = LONG_MAX; /* calls that succeed */
static long fsyncs_until_error = LONG_MAX, fsyncs;
static int ftruncate_fails;

ssize_t write(int fd, const void *data, size_t len)
{
    if (fd > 2 && writes_until_full-- <= 0) {
        errno = ENOSPC;
        return -1;
    }
    return syscall(SYS_write, fd, data, fd > 2 && len > write_at_most ? write_at_most : len);
}

int fsync(int fd)
{
    fsyncs++;
    if (fsyncs_until_error-- <= 0) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_fsync, fd);
}

int ftruncate(int fd, off_t len)
{
    if (ftruncate_fails) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_ftruncate, fd, len);
}

static char *dir, *logfile, *yaml;
static struct hrun_store *store;

static void all_well(void)
{
    write_at_most = SIZE_MAX;
    writes_until_full = fsyncs_until_error = LONG_MAX;
    fsyncs = 0;
    ftruncate_fails = 0;
}

static int unchanged(const char *path, const struct hrun_buf *before)
{
    struct hrun_buf now = read_file(path);
    int same = now.len == before->len && !memcmp(now.data, before->data, now.len);

    hrun_buf_release(&now);
    return same;
}

static void test_writes(void)
{
    enum { PIECE = 7 };
    struct hrun_sample s = plain_sample(1);
    struct hrun_samples got = { 0 };
    struct hrun_error err = { 0 };
    struct hrun_buf before;
    int wrong = 0, n;

    write_at_most = PIECE;
    ok(!hrun_store_append(store, APP, SIG, &s, &err), "a system that writes %d bytes at a time", PIECE);
    all_well();
    ok(!hrun_store_samples(store, APP, SIG, &got, &err) && got.n == 1 && got.bad == 0, "gets all of them");
    hrun_samples_release(&got);

    /* The disk is full after n pieces, for each n. */
    before = read_file(logfile);
    for (n = 0; ; n++) {
        write_at_most = PIECE;
        writes_until_full = n;
        if (!hrun_store_append(store, APP, SIG, &s, &err))
            break;
        all_well();
        wrong += err.code != HRUN_EIO || err.sys != ENOSPC || !unchanged(logfile, &before);
    }
    all_well();
    is_int(n, (before.len + PIECE - 1) / PIECE, "a write can end behind each piece");
    is_int(wrong, 0, "each time the log is as it was");
    hrun_buf_release(&before);

    /* Where not even the old length can be set again, the record that is torn is skipped. */
    write_at_most = PIECE;
    writes_until_full = 3;
    ftruncate_fails = 1;
    ok(hrun_store_append(store, APP, SIG, &s, &err) == -1 && err.sys == ENOSPC, "no way back");
    has_str(err.text, "the log keeps its earlier records; the unfinished one is skipped", "is said");
    all_well();
    ok(!hrun_store_samples(store, APP, SIG, &got, &err) && got.n == 2 && got.bad == 1, "and so it is");
    hrun_samples_release(&got);
    ok(!hrun_store_append(store, APP, SIG, &s, &err), "the next one");
    ok(!hrun_store_samples(store, APP, SIG, &got, &err) && got.n == 3 && got.bad == 1, "stands behind it");
    hrun_samples_release(&got);
    unlink(logfile);
}

static void test_fsync(void)
{
    struct hrun_sample s = plain_sample(1);
    struct hrun_error err = { 0 };
    struct hrun_buf before = HRUN_BUF_INIT;
    int wrong = 0, n;

    /* A new log: its folders' names are made durable too. */
    for (n = 0; ; n++) {
        all_well();
        fsyncs_until_error = n;
        if (!hrun_store_append(store, APP, SIG, &s, &err))
            break;
        all_well();
        wrong += err.code != HRUN_EIO || err.sys != EIO || !unchanged(logfile, &before);
    }
    is_int(n, 4, "a new log: profiles/" APP ", profiles, the data folder and the log are made durable");
    is_int(wrong, 0, "where one of them fails nothing is acknowledged and nothing stays");

    all_well();
    before = read_file(logfile);
    ok(!hrun_store_append(store, APP, SIG, &s, &err), "another record");
    is_int(fsyncs, 1, "needs the log alone");
    hrun_buf_release(&before);
    before = read_file(logfile);
    fsyncs_until_error = 0;
    ok(hrun_store_append(store, APP, SIG, &s, &err) == -1 && err.code == HRUN_EIO && err.sys == EIO,
       "a record that is not known to be on the disk is not acknowledged");
    has_str(err.text, "Input/output error; the log keeps", "the reason is given");
    all_well();
    ok(unchanged(logfile, &before), "nor does it stay");
    hrun_buf_release(&before);
}

static struct hrun_models made_models(double k)
{
    static char *terms[] = { "N^3/P", "N" };
    static double coefficients[2], cov[4] = { 1, 0.5, 0.5, 2 };
    static struct hrun_fit_record r;

    coefficients[0] = k;
    coefficients[1] = 0;
    r = (struct hrun_fit_record){
        .family = "npt", .method = "nnls", .M = 1, .nterms = 2, .terms = terms, .k = coefficients, .cov = cov,
        .s2 = 1e-6, .dof = 3, .npoints = 5, .nmin = 10, .nmax = 20, .pmin = 1, .pmax = 4, .note = "n"
    };
    return (struct hrun_models){
        .app = APP, .signature = SIG, .subcluster = "x", .consts = "nb=1", .fitted = "a", .newest = "b",
        .nsamples = 5, .v = &r, .n = 1
    };
}

static int count_in(const char *path)
{
    DIR *d = opendir(path);
    int n = 0;

    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

static void test_models(void)
{
    char *folder = hrun_strf("%s/profiles/" APP, dir);
    struct hrun_models m = made_models(1);
    struct hrun_error err = { 0 };
    struct hrun_buf before;
    int wrong = 0, n, files;

    ok(!hrun_store_put_models(store, &m, &err), "models");
    before = read_file(yaml);
    files = count_in(folder);
    m = made_models(2);
    for (n = 0; ; n++) {
        write_at_most = 64;
        writes_until_full = n;
        if (!hrun_store_put_models(store, &m, &err))
            break;
        all_well();
        wrong += err.code != HRUN_EIO || err.sys != ENOSPC || !unchanged(yaml, &before)
              || count_in(folder) != files;
    }
    all_well();
    ok(n > 3, "writing models can fail at %d points", n);
    is_int(wrong, 0, "each time the old ones stand and nothing else is left");
    hrun_buf_release(&before);
    free(folder);
}

int main(void)
{
    dir = temp_dir();
    store = open_store(dir);
    logfile = file_of(dir, ".log");
    yaml = file_of(dir, ".yaml");
    test_writes();
    test_fsync();
    test_models();
    hrun_store_close(store);
    hrun_remove_tree(dir);
    free(logfile);
    free(yaml);
    free(dir);
    return tap_done();
}
