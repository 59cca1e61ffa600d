/* files: reading, atomic replacement under failures, locks between processes, run folders, removal */
#include "fixture.h"

#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char *top;

/* top/name; the result lives until the next call but three */
static const char *in(const char *name)
{
    static char ring[4][512];
    static int next;

    next = (next + 1) % 4;
    snprintf(ring[next], sizeof ring[next], "%s/%s", top, name);
    return ring[next];
}

static int exists(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0;
}

/* Permission bits, -1 when there is no such file. */
static int mode_of(const char *path)
{
    struct stat st;

    return lstat(path, &st) ? -1 : (int)(st.st_mode & 07777);
}

static int count_entries(const char *path)
{
    DIR *d = opendir(path);
    struct dirent *e;
    int n = 0;

    while (d && (e = readdir(d)))
        n += e->d_name[0] != '.' || (e->d_name[1] && e->d_name[1] != '.');
    if (d)
        closedir(d);
    return n;
}

static int holds(const char *path, const char *want)
{
    struct hrun_buf b = HRUN_BUF_INIT;
    int same = hrun_file_read(path, 1 << 20, &b, NULL) == 0 && strcmp(b.data, want) == 0;

    hrun_buf_release(&b);
    return same;
}

static void test_read(void)
{
    struct hrun_buf b = HRUN_BUF_INIT;
    struct hrun_error err = { 0 };

    hrun_buf_adds(&b, "before ");
    ok(hrun_file_replace(in("r"), "12345", 5, 0644, &err) == 0, "a file of five bytes");
    ok(hrun_file_read(in("r"), 5, &b, &err) == 0, "is read with a limit of five");
    is_str(b.data, "before 12345", "and appended");
    ok(hrun_file_read(in("r"), 4, &b, &err) == -1 && err.code == HRUN_EINVAL, "not with a limit of four");
    has_str(err.text, "larger than the 4 bytes", "the message says so");
    is_str(b.data, "before 12345", "the buffer is as before");
    ok(hrun_file_read(in("none"), 5, &b, &err) == -1 && err.code == HRUN_ENOENT && err.sys == ENOENT,
       "no such file");
    has_str(err.text, "/none': No such file", "its name is told");
    ok(hrun_file_read(top, 5, &b, &err) == -1 && err.code == HRUN_EINVAL, "a folder");
    ok(hrun_file_read(in("r/x"), 5, &b, &err) == -1 && err.code == HRUN_EIO && err.sys == ENOTDIR,
       "a file as folder");
    {
        static char big[20000];
        memset(big, 'x', sizeof big);
        hrun_file_replace(in("big"), big, sizeof big, 0600, &err);
        ok(hrun_file_read(in("big"), sizeof big - 1, &b, &err) == -1,
           "a larger file, one byte over the limit");
        is_str(b.data, "before 12345", "the buffer is as before");
    }
    {
        char name[32];
        int ends[2];
        pid_t child;

        ok(mkfifo(in("fifo"), 0600) == 0 && hrun_file_read(in("fifo"), 5, &b, &err) == -1 && err.code == HRUN_EINVAL,
           "a pipe into which nobody writes is not waited for");
        has_str(err.text, "is a pipe to which nothing is written", "which is told");
        if (pipe(ends) || (child = fork()) < 0)
            bail("no pipe or process");
        if (!child) {
            usleep(100000);
            _exit(write(ends[1], " x", 2) != 2);
        }
        close(ends[1]);
        snprintf(name, sizeof name, "/proc/self/fd/%d", ends[0]);
        ok(hrun_file_read(name, 5, &b, &err) == 0, "one into which somebody writes is");
        is_str(b.data, "before 12345 x", "and read to its end");
        waitpid(child, NULL, 0);
        close(ends[0]);
    }
    ok(hrun_file_read("/proc/self/mem", 5, &b, &err) == -1 && err.code == HRUN_EIO && err.sys == EIO,
       "a file that cannot be read");
    hrun_buf_release(&b);
}

static void test_replace(void)
{
    static char big[100000];
    struct rlimit old, small;
    struct hrun_error err = { 0 };
    struct flock lk = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    struct stat st;
    int entries, held[3];

    umask(022);
    ok(hrun_mkdirs(in("w"), 0755, &err) == 0, "a folder");
    ok(hrun_file_replace(in("w/f"), "old", 3, 0666, &err) == 0 && holds(in("w/f"), "old"), "a new file");
    is_int(mode_of(in("w/f")), 0644, "mode after umask");
    ok(hrun_file_replace(in("w/f"), "", 0, 0600, &err) == 0 && holds(in("w/f"), ""), "replaced by nothing");
    ok(hrun_file_replace(in("w/f"), "old", 3, 0600, &err) == 0, "and again");
    is_int(count_entries(in("w")), 1, "no temporary file is left");

    /* the disk is full */
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = 4096;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    ok(hrun_file_replace(in("w/f"), big, sizeof big, 0600, &err) == -1 && err.code == HRUN_EIO
       && err.sys == EFBIG,
       "a write that fails half way");
    setrlimit(RLIMIT_FSIZE, &old);
    ok(holds(in("w/f"), "old"), "leaves the old file");
    is_int(count_entries(in("w")), 1, "and no temporary file");

    ok(hrun_file_replace(in("no/f"), "x", 1, 0600, &err) == -1 && err.code == HRUN_EIO && err.sys == ENOENT,
       "no such folder");
    ok(mkdir(in("w/dir"), 0700) == 0 && hrun_file_replace(in("w/dir"), "x", 1, 0600, &err) == -1
       && err.code == HRUN_EIO, "a folder is not replaced");
    is_int(count_entries(in("w")), 2, "and nothing is left");
    ok(symlink("f", in("w/link")) == 0 && hrun_file_replace(in("w/link"), "new", 3, 0600, &err) == 0
       && lstat(in("w/link"), &st) == 0 && S_ISLNK(st.st_mode) && holds(in("w/f"), "new"),
       "through a symbolic link its target is replaced");

    /* temporary names that others took are passed over */
    entries = count_entries(in("w"));
    for (int i = 0; i < 3; i++) {
        char taken[600];
        snprintf(taken, sizeof taken, "%s.tmp.%ld.%d", in("w/f"), (long)getpid(), i);
        held[i] = open(taken, O_CREAT | O_WRONLY, 0600);
        fcntl(held[i], F_OFD_SETLK, &lk);
    }
    ok(hrun_file_replace(in("w/f"), "free", 4, 0600, &err) == 0 && holds(in("w/f"), "free"),
       "temporary files that are being written");
    is_int(count_entries(in("w")), entries + 3, "stay as they are");
    for (int i = 0; i < 3; i++)
        close(held[i]);
    ok(hrun_file_replace(in("w/f"), "then", 4, 0600, &err) == 0 && holds(in("w/f"), "then"), "when their writers "
       "are gone");
    is_int(count_entries(in("w")), entries, "they go too");
}

/* Of what is beside a target only what a killed writer of just this one left is removed. */
static void test_leftovers(void)
{
    static const char *const keep[] = { "HPL.dat.tmp", "HPL.dat.tmp.1", "HPL.dat.tmp.1.", "HPL.dat.tmp.x.1",
                                        "HPL.dat.tmp.1.2.bak", "HPL.dat.tmp..1", "xHPL.dat.tmp.1.2",
                                        "HPL.tmp.1.2", "HPL.datx.tmp.1.2" };
    struct hrun_error err = { 0 };
    char name[64];
    int killed = 0, status, end[2];
    pid_t pid;

    hrun_mkdirs(in("left"), 0700, &err);
    for (size_t i = 0; i < sizeof keep / sizeof *keep; i++) {
        snprintf(name, sizeof name, "left/%s", keep[i]);
        close(open(in(name), O_CREAT | O_WRONLY, 0600));
    }
    hrun_mkdirs(in("left/HPL.dat.tmp.7.7"), 0700, &err);
    ok(symlink("HPL.dat.tmp", in("left/HPL.dat.tmp.8.8")) == 0, "a link");
    close(open(in("left/HPL.dat.tmp.123.0"), O_CREAT | O_WRONLY, 0600));

    /* a writer that does not come to its end: it writes until it is killed */
    for (int round = 0; round < 200 && !killed; round++) {
        ok(pipe(end) == 0, "a pipe");
        pid = fork();
        if (pid == 0) {
            static char data[1 << 20];
            if (write(end[1], "x", 1) != 1)
                _exit(1);
            for (;;)
                hrun_file_replace(in("left/HPL.dat"), data, sizeof data, 0600, NULL);
        }
        ok(read(end[0], name, 1) == 1, "a writer");
        usleep((useconds_t)(1000 + 371 * round));
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
        close(end[0]);
        close(end[1]);
        snprintf(name, sizeof name, "left/HPL.dat.tmp.%ld.0", (long)pid);
        killed = exists(in(name));
    }
    ok(killed, "a killed one leaves its temporary file");
    ok(hrun_file_replace(in("left/HPL.dat"), "new", 3, 0600, &err) == 0 && holds(in("left/HPL.dat"), "new"),
       "the next one replaces the target");
    ok(!exists(in(name)) && !exists(in("left/HPL.dat.tmp.123.0")), "and removes what was left");
    is_int(count_entries(in("left")), sizeof keep / sizeof *keep + 3, "and nothing else");
    ok(chdir(in("left")) == 0, "in the folder");
    close(open("HPL.dat.tmp.5.5", O_CREAT | O_WRONLY, 0600));
    close(open("new.tmp.5.5", O_CREAT | O_WRONLY, 0600));
    ok(hrun_file_replace("HPL.dat", "x", 1, 0600, &err) == 0 && hrun_file_replace("new", "x", 1, 0600, &err) == 0
       && !exists("HPL.dat.tmp.5.5") && !exists("new.tmp.5.5"), "targets without folders, old and new");
    ok(chdir("/") == 0, "and out");
}

static void test_append(void)
{
    static char big[100000];
    struct rlimit old, small;
    struct hrun_error err = { 0 };
    int torn = 7;

    hrun_mkdirs(in("log/a"), 0700, &err);
    ok(hrun_file_append(in("log/a/f"), "one\n", 4, 2, &torn, &err) == 0 && torn == 0, "a new file");
    ok(hrun_file_append(in("log/a/f"), "two\nth", 6, 1, NULL, &err) == 0
       && holds(in("log/a/f"), "one\ntwo\nth"), "more");
    ok(hrun_file_append(in("log/a/f"), "four\n", 5, 1, NULL, &err) == 0
       && holds(in("log/a/f"), "one\ntwo\nth\nfour\n"), "a torn end is ended");
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = 4096;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    ok(hrun_file_append(in("log/a/f"), big, sizeof big, 1, &torn, &err) == -1 && err.code == HRUN_EIO
       && err.sys == EFBIG && torn == 0, "what does not fit");
    setrlimit(RLIMIT_FSIZE, &old);
    ok(holds(in("log/a/f"), "one\ntwo\nth\nfour\n"), "leaves the file as it was");
    ok(mkfifo(in("log/fifo"), 0600) == 0 && hrun_file_append(in("log/fifo"), "x\n", 2, 1, NULL, &err) == -1
       && err.code == HRUN_EIO, "a pipe is refused");
    has_str(err.text, "in the way", "and named so");
    ok(hrun_file_append(in("log/no/f"), "x\n", 2, 1, NULL, &err) == -1 && err.sys == ENOENT, "no folder");
    ok(hrun_is_folder(in("log")) && !hrun_is_folder(in("log/a/f")) && !hrun_is_folder(in("log/no")), "and known");
}

/* A reader beside a writer never sees a part. */
static void test_atomic(void)
{
    enum { SIZE = 20000, ROUNDS = 60 };
    static char data[SIZE];
    int bad = 0, seen[2] = { 0, 0 }, status;
    pid_t pid;

    memset(data, 'a', SIZE);
    hrun_file_replace(in("atomic"), data, SIZE, 0600, NULL);
    pid = fork();
    if (pid == 0) {
        int rc = 0;
        for (int i = 0; i < ROUNDS; i++) {
            memset(data, i % 2 ? 'a' : 'b', SIZE);
            rc |= hrun_file_replace(in("atomic"), data, SIZE, 0600, NULL);
        }
        _exit(rc ? 1 : 0);
    }
    do {
        struct hrun_buf b = HRUN_BUF_INIT;
        if (hrun_file_read(in("atomic"), SIZE, &b, NULL) || b.len != SIZE || b.data[0] != b.data[SIZE - 1])
            bad++;
        else
            seen[b.data[0] - 'a']++;
        hrun_buf_release(&b);
    } while (waitpid(pid, &status, WNOHANG) == 0);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the writer succeeds");
    is_int(bad, 0, "whole content only (%d and %d times)", seen[0], seen[1]);
}

static void test_mkdirs(void)
{
    struct hrun_error err = { 0 };

    ok(hrun_mkdirs(in("m/a/b//c/"), 0700, &err) == 0 && exists(in("m/a/b/c")), "parents are made");
    ok(hrun_mkdirs(in("m/a/b/c"), 0700, &err) == 0, "an existing folder is fine");
    ok(hrun_mkdirs("/", 0700, &err) == 0, "so is the root");
    ok(hrun_file_replace(in("m/file"), "", 0, 0600, &err) == 0
       && hrun_mkdirs(in("m/file/x/y"), 0700, &err) == -1 && err.code == HRUN_EIO && err.sys == ENOTDIR,
       "a file in the way");
    has_str(err.text, "m/file': Not a directory", "is named");
    ok(hrun_mkdirs(in("m/file"), 0700, &err) == -1 && err.sys == ENOTDIR, "also at the end");
    ok(hrun_mkdirs("", 0700, &err) == -1 && err.code == HRUN_EIO, "an empty name");
    ok(hrun_mkdirs("/proc/none/x", 0700, &err) == -1 && err.code == HRUN_EIO, "a place that refuses");
}

/* In another process: could the file be locked so? 1, 0. */
static int lockable(const char *path, short type)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        struct flock lk = { .l_type = type, .l_whence = SEEK_SET };
        int fd = open(path, O_RDWR);
        _exit(fd < 0 ? 2 : fcntl(fd, F_SETLK, &lk) ? 0 : 1);
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The same file with other content. */
static void truncate_to(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    fputs(text, f);
    fclose(f);
}

static void test_lock(void)
{
    struct hrun_error err = { 0 };
    int fd, status, p[2];
    char c = 0;
    pid_t pid;

    fd = hrun_lock(in("lock"), &err);
    ok(fd >= 0 && (fcntl(fd, F_GETFD) & FD_CLOEXEC), "a writer's lock, closed on exec");
    is_int(lockable(in("lock"), F_WRLCK), 0, "keeps writers out");
    is_int(lockable(in("lock"), F_RDLCK), 0, "keeps readers out");
    hrun_unlock(fd);
    is_int(lockable(in("lock"), F_WRLCK), 1, "until it is given back");
    ok(exists(in("lock")), "the lock file stays");
    hrun_unlock(-1);
    is_int(mode_of(in("lock")), 0600, "who cannot write it cannot read it");
    ok(chmod(in("lock"), 0644) == 0, "a lock file that others may read");
    fd = hrun_lock(in("lock"), &err);
    is_int(mode_of(in("lock")), 0600, "is closed to them");
    hrun_unlock(fd);
    ok(chmod(in("lock"), 0664) == 0, "one that a group may write");
    fd = hrun_lock(in("lock"), &err);
    is_int(mode_of(in("lock")), 0660, "is kept for the group");
    hrun_unlock(fd);
    ok(chmod(in("lock"), 0666) == 0, "one that all may write");
    fd = hrun_lock(in("lock"), &err);
    is_int(mode_of(in("lock")), 0660, "is closed to others");
    hrun_unlock(fd);

    /* what another user has put in its place */
    truncate_to(in("precious"), "mine");
    ok(chmod(in("precious"), 0755) == 0 && symlink("precious", in("lock.link")) == 0 &&
       link(in("precious"), in("lock.hard")) == 0 && mkfifo(in("lock.fifo"), 0600) == 0, "links and a FIFO");
    for (int i = 0; i < 3; i++) {
        static const char *const names[] = { "lock.link", "lock.hard", "lock.fifo" };
        ok(hrun_lock(in(names[i]), &err) == -1 && hrun_lock_try(in(names[i]), &err) == -1, "%s is no lock", names[i]);
    }
    has_str(err.text, "lock.fifo", "is told");
    is_int(mode_of(in("precious")), 0755, "what they lead to keeps its mode");
    ok(holds(in("precious"), "mine"), "and its content");

    /* waiting, and the end of a process as the end of its lock */
    ok(pipe(p) == 0, "a pipe");
    pid = fork();
    if (pid == 0) {
        fd = hrun_lock(in("lock"), NULL);
        if (write(p[1], "x", 1) != 1)
            _exit(1);
        usleep(50000);
        _exit(0);
    }
    ok(read(p[0], &c, 1) == 1 && c == 'x', "another process has the lock");
    fd = hrun_lock(in("lock"), &err);
    ok(fd >= 0 && waitpid(pid, &status, 0) == pid, "it is ours when that process has ended");
    hrun_unlock(fd);
    close(p[0]);
    close(p[1]);
    ok(chmod(in("lock"), 0444) == 0 && chmod(top, 0711) == 0, "a lock file that we may only read");
    pid = fork();
    if (pid == 0) {
        if (geteuid() == 0 && setuid(65534)) /* root may write everywhere */
            _exit(3);
        _exit(hrun_lock(in("lock"), &err) >= 0 || err.sys != EACCES);
    }
    ok(waitpid(pid, &status, 0) == pid && WIFEXITED(status), "a process that may not write");
    is_int(WEXITSTATUS(status), 0, "gets no lock");
    ok(hrun_lock(in("none/lock"), &err) == -1 && err.code == HRUN_EIO, "no such folder");
    has_str(err.text, "cannot open the lock file", "is told");
}

static void test_lock_try(void)
{
    struct hrun_error err = { 0 };
    char who[64];
    int fd = hrun_lock_try(in("try"), &err), status;
    pid_t pid;

    ok(fd >= 0 && (fcntl(fd, F_GETFD) & FD_CLOEXEC), "a lock without waiting, closed on exec");
    ok(hrun_lock_try(in("try"), &err) == -1 && err.code == HRUN_EBUSY, "a second one in this process is refused");
    snprintf(who, sizeof who, "process %ld", (long)getpid());
    is_str(err.text, who, "and says who has it");
    pid = fork();
    if (pid == 0)
        _exit(hrun_lock_try(in("try"), &err) >= 0 || err.code != HRUN_EBUSY);
    waitpid(pid, &status, 0);
    is_int(status, 0, "another process is refused, too");
    truncate_to(in("try"), "12 elsewhere\n");
    ok(hrun_lock_try(in("try"), &err) == -1 && !strcmp(err.text, "process 12 on elsewhere"), "one of another host");
    truncate_to(in("try"), "\x1b[2J");
    ok(hrun_lock_try(in("try"), &err) == -1 && !strcmp(err.text, "another process"), "words that are none");
    hrun_unlock(fd);
    fd = hrun_lock_try(in("try"), &err);
    ok(fd >= 0, "given back it is free");
    hrun_unlock(fd);
    pid = fork();
    if (pid == 0) {
        hrun_lock_try(in("try"), NULL);
        raise(SIGKILL);
    }
    waitpid(pid, &status, 0);
    fd = hrun_lock_try(in("try"), &err);
    ok(WIFSIGNALED(status) && fd >= 0, "a killed process has none");
    hrun_unlock(fd);
    ok(hrun_lock_try(in("none/lock"), &err) == -1 && err.code == HRUN_EIO, "no such folder");
}

static void test_lock_share(void)
{
    struct hrun_error err = { 0 };
    int a = -1, b = -1, c = -1;

    ok(!hrun_lock_share(in("share"), 1, &a, &err) && (fcntl(a, F_GETFD) & FD_CLOEXEC), "alone, closed on exec");
    ok(hrun_lock_share(in("share"), 0, &b, &err) && err.code == HRUN_EBUSY && b == -1, "others are refused");
    ok(!hrun_lock_share(in("share"), 0, &a, &err) && !hrun_lock_share(in("share"), 0, &b, &err), "it can be shared");
    ok(hrun_lock_share(in("share"), 1, &b, &err) && err.code == HRUN_EBUSY && b >= 0, "then nobody has it alone");
    ok(hrun_lock_share(in("share"), 1, &c, &err) && c == -1, "a third one neither");
    hrun_unlock(a);
    ok(!hrun_lock_share(in("share"), 1, &b, &err), "but the last one");
    hrun_unlock(b);
    ok(hrun_lock_share(in("none/lock"), 1, &c, &err) && err.code == HRUN_EIO && c == -1, "no such folder");
}

static void test_remove(void)
{
    struct hrun_error err = { 0 };

    hrun_mkdirs(in("t/a/b/c"), 0700, &err);
    hrun_mkdirs(in("outside"), 0700, &err);
    hrun_file_replace(in("outside/f"), "keep", 4, 0600, &err);
    hrun_file_replace(in("t/a/f"), "x", 1, 0400, &err);
    ok(symlink(in("outside"), in("t/a/link")) == 0 && symlink("/nowhere", in("t/dangling")) == 0,
       "links in the tree");
    ok(chmod(in("t/a/b"), 0) == 0, "a folder without permissions");
    hrun_remove_tree(in("t"));
    ok(!exists(in("t")), "all is removed");
    ok(holds(in("outside/f"), "keep"), "links were not followed");
    ok(symlink(in("outside"), in("link")) == 0, "a link as the tree");
    hrun_remove_tree(in("link"));
    ok(!exists(in("link")) && holds(in("outside/f"), "keep"), "only the link goes");
    hrun_remove_tree(in("t"));
    hrun_remove_tree(NULL);
    hrun_remove_tree("");
    ok(1, "nothing to remove is fine");
}

/* A run folder of another process: made, its name told; then the process waits on the pipe `hold`. */
static pid_t other_rundir(const char *base, char *path, size_t size, int hold)
{
    int p[2];
    ssize_t n;
    pid_t pid;

    if (pipe(p))
        return -1;
    pid = fork();
    if (pid == 0) {
        char *dir = hrun_rundir_create(base, NULL), c;
        close(p[0]);
        if (!dir || hrun_write_all(p[1], dir, strlen(dir)))
            _exit(1);
        close(p[1]);
        while (read(hold, &c, 1) > 0)
            ;
        _exit(0);
    }
    close(p[1]);
    n = read(p[0], path, size - 1);
    path[n > 0 ? n : 0] = 0;
    close(p[0]);
    return pid;
}

static void test_rundir(void)
{
    struct hrun_error err = { 0 };
    char other[512], want[128], name[600], *a, *b, *c, *place;
    struct stat st;
    int hold[2];
    pid_t pid;

    hrun_mkdirs(in("run"), 0700, &err);
    a = hrun_rundir_create(in("run"), &err);
    if (!ok(a != NULL, "a run folder"))
        return;
    snprintf(want, sizeof want, "/hrun.%ld.%ld.", (long)geteuid(), (long)getpid());
    has_str(a, want, "its name");
    ok(stat(a, &st) == 0 && (st.st_mode & 07777) == 0700, "is private");
    b = hrun_rundir_create(in("run"), &err);
    ok(b && strcmp(a, b) != 0 && exists(a), "a second one beside it");

    if (pipe(hold))
        return;
    pid = other_rundir(in("run"), other, sizeof other, hold[0]);
    ok(pid > 0 && exists(other), "one of another process");
    ok(exists(a), "which left ours alone");
    free(hrun_rundir_create(in("run"), &err));
    ok(exists(other), "its folder stays while it lives");
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(hold[0]);
    close(hold[1]);
    snprintf(name, sizeof name, "%s/sub", other);
    mkdir(name, 0700);
    c = hrun_rundir_create(in("run"), &err);
    ok(c && !exists(other), "and is removed with all in it when it was killed");
    ok(exists(a) && exists(b), "not ours");
    free(c);

    /* where others can rename what is there, a name proves nothing */
    ok(chmod(in("run"), 0770) == 0, "a folder of a group");
    pid = other_rundir(in("run"), other, sizeof other, -1);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    free(hrun_rundir_create(in("run"), &err));
    ok(exists(other), "nothing is removed");
    ok(chmod(in("run"), 01777) == 0, "a sticky one");
    free(hrun_rundir_create(in("run"), &err));
    ok(!exists(other), "is as good as one's own");
    ok(chmod(in("run"), 0700) == 0, "as it was");
    is_int(count_entries(a), 0, "a folder holds nothing of its own that a killed process could have left out");

    /* a folder of our parent, who lives: kept when it stems from another host or name space, removed when its number
     * was used again since */
    place = strrchr(a, '-');
    if (ok(place && strlen(place) > 17, "the place in the name of ours")) {
        while (place[-1] != '.')
            place--;
        place[strcspn(place, ".")] = 0;
        snprintf(other, sizeof other, "%s/hrun.%ld.%ld.1.0%s.abcdef", in("run"), (long)geteuid(), (long)getppid(),
                 place);
        mkdir(other, 0700);
        free(hrun_rundir_create(in("run"), &err));
        ok(exists(other), "another name space's folder stays");
        snprintf(other, sizeof other, "%s/hrun.%ld.%ld.1.%s0.abcdef", in("run"), (long)geteuid(), (long)getppid(),
                 place);
        mkdir(other, 0700);
        free(hrun_rundir_create(in("run"), &err));
        ok(exists(other), "another host's folder stays");
        snprintf(other, sizeof other, "%s/hrun.%ld.%ld.1.%s.abcdef", in("run"), (long)geteuid(), (long)getppid(),
                 place);
        mkdir(other, 0700);
        free(hrun_rundir_create(in("run"), &err));
        ok(!exists(other), "a process number used again does not keep a folder");
    }
    free(a);
    free(b);

    setenv("TMPDIR", in("run"), 1);
    a = hrun_rundir_create(NULL, &err);
    ok(a && strncmp(a, in("run"), strlen(in("run"))) == 0, "TMPDIR is the default base");
    free(a);
    unsetenv("TMPDIR");
    ok(chdir(top) == 0 && (a = hrun_rundir_create("run", &err)) && !strncmp(a, in("run/hrun."), strlen(in("run/hrun."))),
       "a base in the working folder becomes absolute");
    free(a);
    ok(!hrun_rundir_create(in("nowhere"), &err) && err.code == HRUN_EIO, "no such base");
    has_str(err.text, "set TMPDIR", "the message says what to do");
}

/* Whatever the umask, others cannot write what is made here. */
static void test_modes(void)
{
    struct hrun_error err = { 0 };
    mode_t mask = umask(0);

    ok(hrun_mkdirs(in("modes/a"), 0777, &err) == 0, "folders");
    ok(hrun_file_replace(in("modes/a/replaced"), "x", 1, 0666, &err) == 0, "a file that is replaced");
    ok(hrun_file_append(in("modes/a/appended"), "x\n", 2, 1, NULL, &err) == 0, "one that is added to");
    hrun_unlock(hrun_lock(in("modes/a/lock"), &err));
    umask(mask);
    is_int(mode_of(in("modes")), 0775, "a parent folder is closed to others; the group is the umask's choice");
    is_int(mode_of(in("modes/a")), 0775, "the folder");
    is_int(mode_of(in("modes/a/replaced")), 0664, "the replaced file");
    is_int(mode_of(in("modes/a/appended")), 0664, "the file that is added to");
    is_int(mode_of(in("modes/a/lock")), 0660, "the lock");
}

static void test_write_all(void)
{
    enum { SIZE = 1 << 20 };
    static char data[SIZE];
    int p[2], status, fd;
    pid_t pid;

    ok(pipe(p) == 0 && fcntl(p[1], F_SETFL, O_NONBLOCK) == 0, "a pipe that does not block");
    pid = fork();
    if (pid == 0) {
        long sum = 0;
        ssize_t n;
        close(p[1]);
        while ((n = read(p[0], data, 5000)) > 0)
            sum += n;
        _exit(sum == SIZE ? 0 : 1);
    }
    close(p[0]);
    ok(hrun_write_all(p[1], data, SIZE) == 0, "takes a MiB");
    close(p[1]);
    ok(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0,
       "of which nothing is lost");
    fd = open("/dev/full", O_WRONLY);
    errno = 0;
    ok(hrun_write_all(fd, "x", 1) == -1 && errno == ENOSPC, "a full device is an error");
    close(fd);
    ok(hrun_write_all(-1, "x", 1) == -1 && errno == EBADF, "so is no file");
}

int main(void)
{
    top = temp_dir();
    test_read();
    test_replace();
    test_leftovers();
    test_append();
    test_atomic();
    test_mkdirs();
    test_lock();
    test_lock_try();
    test_lock_share();
    test_modes();
    test_remove();
    test_rundir();
    test_write_all();
    hrun_remove_tree(top);
    ok(!exists(top), "the test's own folder is gone");
    free(top);
    return tap_done();
}
