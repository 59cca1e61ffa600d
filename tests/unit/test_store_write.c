/* test_store_write.c - many writers, killed writers, full and read-only file systems */
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

static char *dir, *logfile;
static struct hrun_store *store;

static void pause_us(long us)
{
    struct timespec t = { us / 1000000, us % 1000000 * 1000 };

    nanosleep(&t, NULL);
}

/* Several processes append at once; every record is there, each writer's in its order. */
static void test_writers(int writers, int each)
{
    struct hrun_samples got = { 0 };
    struct hrun_error err = { 0 };
    int next[8] = { 0 }, failed = 0, wrong = 0, status;
    pid_t pid[8];

    unlink(logfile);
    for (int w = 0; w < writers; w++) {
        pid[w] = fork();
        if (pid[w] == 0) {
            for (int i = 0; i < each; i++) {
                struct hrun_sample s = plain_sample(1 + w * 1000 + i);
                if (hrun_store_append(store, APP, SIG, &s, &err))
                    _exit(1);
            }
            _exit(0);
        }
    }
    for (int w = 0; w < writers; w++)
        failed += pid[w] < 0 || waitpid(pid[w], &status, 0) != pid[w] || status != 0;
    is_int(failed, 0, "%d processes append %d records each", writers, each);
    ok(!hrun_store_samples(store, APP, SIG, &got, &err) && got.bad == 0, "the log is sound");
    is_int(got.n, writers * each, "no record is lost");
    for (size_t i = 0; i < got.n; i++) {
        int w = (int)((got.v[i].N - 1) / 1000);
        wrong += w >= writers || (got.v[i].N - 1) % 1000 != next[w]++;
    }
    is_int(wrong, 0, "each writer's records are in its order");
    hrun_samples_release(&got);
}

/* A writer is killed at a random moment, again and again on one log. All that it was told is stored is there,
 * and of what it was not told at most the record in the making. */
static void test_killed_writers(void)
{
    enum { ROUNDS = 40, SEED = 99, LONGEST_US = 8000 };
    struct hrun_samples got = { 0 };
    struct hrun_error err = { 0 };
    uint64_t rng = SEED;
    size_t before = 0, kills_in_work = 0;
    int lost = 0, invented = 0, unread = 0;

    unlink(logfile);
    for (int round = 0; round < ROUNDS; round++) {
        int ends[2], told = 0, status;
        char byte;
        pid_t pid;

        if (pipe(ends) || (pid = fork()) < 0) {
            ok(0, "pipe and fork");
            return;
        }
        if (pid == 0) {
            for (int64_t id = 1; ; id++) {
                struct hrun_sample s = plain_sample(id);
                if (hrun_store_append(store, APP, SIG, &s, &err) || write(ends[1], "", 1) != 1)
                    _exit(1);
            }
        }
        close(ends[1]);
        /* Every other one is met at work for sure, however slow the machine. */
        if (round % 2)
            told += read(ends[0], &byte, 1) == 1;
        pause_us((long)(draw(&rng) % LONGEST_US));
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
        while (read(ends[0], &byte, 1) == 1)
            told++;
        close(ends[0]);
        kills_in_work += told > 0;
        unread += !WIFSIGNALED(status) || hrun_store_samples(store, APP, SIG, &got, &err) != 0;
        for (int i = 0; i < told; i++)
            lost += before + (size_t)i >= got.n || got.v[before + (size_t)i].N != i + 1;
        invented += got.n < before || got.n > before + (size_t)told + 1;
        before = got.n;
        hrun_samples_release(&got);
    }
    is_int(unread, 0, "the log is read after each of %d kills (seed %d)", ROUNDS, SEED);
    is_int(lost, 0, "each record that was acknowledged is there");
    is_int(invented, 0, "besides them at most the one in the making");
    ok(kills_in_work >= ROUNDS / 2, "kills met %zu writers at work", kills_in_work);
}

/* A reader that meets half a record waits for its writer and then sees all of it. */
static void test_record_in_the_making(void)
{
    char *lockname = file_of(dir, ".lock");
    struct hrun_sample s = plain_sample(1);
    struct hrun_samples got = { 0 };
    struct hrun_error err = { 0 };
    struct hrun_buf text;
    int ends[2], status;
    size_t half;
    char byte;
    pid_t pid;

    unlink(logfile);
    ok(!hrun_store_append(store, APP, SIG, &s, &err), "a record");
    text = read_file(logfile);
    half = text.len / 2;
    write_file(logfile, text.data, half);
    if (pipe(ends) || (pid = fork()) < 0) {
        ok(0, "pipe and fork");
        return;
    }
    if (pid == 0) {
        int lock = hrun_lock(lockname, NULL), fd = open(logfile, O_WRONLY | O_APPEND);

        if (lock < 0 || fd < 0 || write(ends[1], "", 1) != 1)
            _exit(1);
        pause_us(100000);
        if (hrun_write_all(fd, text.data + half, text.len - half))
            _exit(1);
        close(fd);
        hrun_unlock(lock);
        _exit(0);
    }
    ok(read(ends[0], &byte, 1) == 1, "half of it, the rest on its way");
    ok(!hrun_store_samples(store, APP, SIG, &got, &err) && got.n == 1 && got.bad == 0, "is waited for");
    hrun_samples_release(&got);
    waitpid(pid, &status, 0);
    is_int(status, 0, "the writer ended");
    close(ends[0]);
    close(ends[1]);
    hrun_buf_release(&text);
    free(lockname);
}

/* The limit on the size of a file ends a write in the middle of its record. */
static void test_size_limit(void)
{
    struct hrun_sample s = plain_sample(1);
    struct hrun_error err = { 0 };
    struct hrun_buf before, after;
    int status;
    pid_t pid;

    unlink(logfile);
    ok(!hrun_store_append(store, APP, SIG, &s, &err), "a record");
    before = read_file(logfile);
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        struct rlimit limit = { before.len + 10, before.len + 10 };

        tap_failed = 0;
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        if (hrun_store_append(store, APP, SIG, &s, &err) != -1 || err.code != HRUN_EIO || err.sys != EFBIG
            || !strstr(err.text, logfile) || !strstr(err.text, "File too large")
            || !strstr(err.text, "; the log keeps its earlier records: raise the limit on the size of files "
                       "(ulimit -f), or name another data folder with HRUN_DATA"))
            _exit(1);
        _exit(0);
    }
    waitpid(pid, &status, 0);
    is_int(status, 0, "ten bytes of room: the error names log, reason and remedy");
    after = read_file(logfile);
    ok(after.len == before.len && !memcmp(after.data, before.data, after.len), "the log is as it was");
    hrun_buf_release(&before);
    hrun_buf_release(&after);
}

/* A small file system of our own, seen by this process only. 0, or -1 where that is not allowed. */
static int mount_small(const char *at)
{
    if (mkdir(at, 0755) || unshare(CLONE_NEWNS) || mount("none", "/", "", MS_REC | MS_PRIVATE, NULL))
        return -1;
    return mount("hrun-test", at, "tmpfs", 0, "size=64k");
}

static void skip(const char *what)
{
    printf("ok %d # SKIP %s: no mount allowed here (%s)\n", ++tap_count, what, strerror(errno));
}

static void test_full_and_read_only(void)
{
    char *small = hrun_strf("%s/small", dir), *log = file_of(small, ".log"), *yaml = file_of(small, ".yaml");
    struct hrun_fit_record none = { 0 };
    struct hrun_models m = { .app = APP, .signature = SIG, .consts = NULL, .v = &none, .n = 0 }, *back = NULL;
    struct hrun_sample s = plain_sample(1);
    struct hrun_samples got = { 0 };
    struct hrun_error err = { 0 };
    struct hrun_buf before, after;
    struct hrun_store *t;
    int n = 0, fd, rc = 0;
    char *path;

    if (mount_small(small)) {
        skip("full disk");
        skip("read-only file system");
        goto out;
    }
    t = open_store(small);
    /* Records longer than a page: the last write finds room for a part of its record. */
    path = hrun_strf("/%05000d", 0);
    s.program = path;
    ok(!hrun_store_put_models(t, &m, &err), "models of no model");
    for (before = read_file(log); n < 100; n++) {
        s.N = 1 + n;
        rc = hrun_store_append(t, APP, SIG, &s, &err);
        if (rc)
            break;
        hrun_buf_release(&before);
        before = read_file(log);
    }
    ok(rc == -1 && n > 1, "the disk is full after %d records", n);
    ok(err.code == HRUN_EIO && err.sys == ENOSPC, "code and errno");
    has_str(err.text, log, "the log is named");
    has_str(err.text, "No space left on device; the log keeps its earlier records: free some space there, or name "
            "another data folder with HRUN_DATA", "with reason and remedy");
    after = read_file(log);
    ok(after.len == before.len && !memcmp(after.data, before.data, after.len), "the log is as it was");
    hrun_buf_release(&after);
    /* tmpfs gives whole pages: fill the rest, so that there is none for models either. */
    path[0] = '/';
    fd = open(log, O_WRONLY | O_APPEND);
    while (write(fd, "{\"M\":", 5) == 5)
        ;
    close(fd);
    m.subcluster = path;
    ok(hrun_store_put_models(t, &m, &err) == -1 && err.code == HRUN_EIO && err.sys == ENOSPC,
       "no room for models");
    has_str(err.text, yaml, "the file is named");
    has_str(err.text, "; the models stored before stand: free some space there", "with the remedy");
    ok(!hrun_store_get_models(t, APP, SIG, &back, &err) && back && !*back->subcluster, "and they do");
    hrun_models_destroy(back);
    ok(!hrun_store_samples(t, APP, SIG, &got, &err) && got.n == (size_t)n && got.bad == 1,
       "all good records are read from a full disk");
    hrun_samples_release(&got);

    if (mount("hrun-test", small, "tmpfs", MS_REMOUNT | MS_RDONLY, "")) {
        skip("read-only file system");
    } else {
        ok(hrun_store_append(t, APP, SIG, &s, &err) == -1 && err.code == HRUN_EIO && err.sys == EROFS,
           "a read-only file system takes no record");
        has_str(err.text, small, "the place is named");
        has_str(err.text, "; the measurement is not stored: the file system is read-only, or name another "
                "data folder with HRUN_DATA", "with the remedy");
        ok(hrun_store_put_models(t, &m, &err) == -1 && err.code == HRUN_EIO && err.sys == EROFS,
           "nor models");
        ok(!hrun_store_samples(t, APP, SIG, &got, &err) && got.n == (size_t)n && got.bad == 1,
           "it is read as before, a torn end too");
        hrun_samples_release(&got);
    }
    hrun_store_close(t);
    umount2(small, MNT_DETACH);
    hrun_buf_release(&before);
    free(path);
out:
    free(small);
    free(log);
    free(yaml);
}

/* Things in the way where the data folder should be. */
static void test_obstacles(void)
{
    char *file = hrun_strf("%s/file", dir), *below = hrun_strf("%s/below", file);
    char *app = hrun_strf("%s/d/profiles/" APP, dir), *d = hrun_strf("%s/d", dir), *log = file_of(d, ".log");
    struct hrun_store *t = open_store(below);
    struct hrun_sample s = plain_sample(1);
    struct hrun_samples got = { 0 };
    struct hrun_error err = { 0 };

    write_file(file, "x", 1);
    ok(hrun_store_append(t, APP, SIG, &s, &err) == -1 && err.code == HRUN_EIO && err.sys == ENOTDIR,
       "a file in place of a folder");
    has_str(err.text, "; the measurement is not stored: name another data folder with HRUN_DATA", "remedy");
    ok(hrun_store_samples(t, APP, SIG, &got, &err) == -1 && err.code == HRUN_EIO, "nor can it be read");
    hrun_store_close(t);

    t = open_store(d);
    hrun_mkdirs(log, 0755, &err);
    ok(hrun_store_append(t, APP, SIG, &s, &err) == -1 && err.code == HRUN_EIO && err.sys == EISDIR,
       "a folder in place of the log");
    ok(hrun_store_samples(t, APP, SIG, &got, &err) == -1 && err.code == HRUN_EIO && err.sys == EISDIR,
       "which cannot be read either");
    has_str(err.text, log, "and is named");
    rmdir(log);
    ok(!mkfifo(log, 0644) && hrun_store_append(t, APP, SIG, &s, &err) == -1 && err.code == HRUN_EIO,
       "a pipe in place of the log does not hold the writer up");
    has_str(err.text, "is in the way: it is no regular file", "it is said");
    hrun_store_close(t);
    free(file);
    free(below);
    free(app);
    free(d);
    free(log);
}

/* Folders are made with the rights that their place asks for. */
static void test_rights(void)
{
    char *given = hrun_strf("%s/given", dir), *home = hrun_strf("%s/home", dir);
    char *deep = hrun_strf("%s/.local/share/hrun/profiles/" APP, home), *log;
    char *shallow = hrun_strf("%s/profiles", given);
    struct hrun_sample s = plain_sample(1);
    struct hrun_error err = { 0 };
    struct hrun_store *t;
    struct stat st;
    mode_t old = umask(022);

    t = open_store(given);
    log = file_of(given, ".log");
    ok(!hrun_store_append(t, APP, SIG, &s, &err), "a named folder");
    ok(!stat(shallow, &st) && (st.st_mode & 07777) == 0755, "is made for all to read");
    ok(!stat(log, &st) && (st.st_mode & 07777) == 0644, "and so is the log");
    hrun_store_close(t);

    unsetenv("HRUN_DATA");
    unsetenv("XDG_DATA_HOME");
    setenv("HOME", home, 1);
    t = open_store(NULL);
    ok(!hrun_store_append(t, APP, SIG, &s, &err), "the folder below HOME");
    ok(!stat(deep, &st) && (st.st_mode & 07777) == 0700, "is the user's alone");
    hrun_store_close(t);
    umask(old);
    free(given);
    free(home);
    free(deep);
    free(log);
    free(shallow);
}

int main(void)
{
    dir = temp_dir();
    store = open_store(dir);
    logfile = file_of(dir, ".log");
    fflush(stdout);
    test_writers(2, 50);
    test_writers(8, 25);
    test_killed_writers();
    test_record_in_the_making();
    test_size_limit();
    test_obstacles();
    test_rights();
    test_full_and_read_only();
    hrun_store_close(store);
    hrun_remove_tree(dir);
    free(logfile);
    free(dir);
    return tap_done();
}
