/* file.c - reading, folders, locking, folders for one run; see file.h for the contracts */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

/* ---------------------------------------------------------------- reading */

/* Append the content of fd, which is closed, to *out; fd -1: it could not be opened, as errno tells. */
static int read_open(int fd, const char *path, size_t max, struct hrun_buf *out, struct hrun_error *err)
{
    char chunk[16384];
    size_t start = out->len, total = 0;
    struct stat st;
    ssize_t got;
    int rc = -1;

    if (fd < 0)
        return hrun_fail_errno(err, errno == ENOENT ? HRUN_ENOENT : HRUN_EIO, "cannot read '%s'", path);
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        hrun_fail(err, HRUN_EINVAL, "'%s' is a folder; a file is expected", path);
        goto out;
    }
    for (;;) {
        got = read(fd, chunk, sizeof chunk);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        total += (size_t)got;
        if (total > max) {
            hrun_fail(err, HRUN_EINVAL, "'%s' is larger than the %zu bytes expected at most: is it the right "
                      "file?", path, max);
            goto out;
        }
        hrun_buf_add(out, chunk, (size_t)got);
    }
    if (got < 0) {
        hrun_fail_errno(err, HRUN_EIO, "cannot read '%s'", path);
        goto out;
    }
    if (out->failed) {
        hrun_fail_nomem(err);
        goto out;
    }
    rc = 0;
out:
    if (rc && out->len > start) {
        out->len = start;
        out->data[start] = 0;
    }
    close(fd);
    return rc;
}

int hrun_file_read(const char *path, size_t max, struct hrun_buf *out, struct hrun_error *err)
{
    int fd, rc, saved = errno;

    do
        fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    rc = read_open(fd, path, max, out, err);
    errno = saved;
    return rc;
}

int hrun_file_read_in(int folder, const char *path, size_t max, struct hrun_buf *out, struct hrun_error *err)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    int saved = errno, rc;

    rc = read_open(openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), path, max, out, err);
    errno = saved;
    return rc;
}

/* ---------------------------------------------------------------- folders */

int hrun_is_folder(const char *path)
{
    struct stat st;
    int saved = errno, yes = stat(path, &st) == 0 && S_ISDIR(st.st_mode);

    errno = saved;
    return yes;
}

/* A parent that exists may answer EACCES or EROFS before EEXIST: only what is no folder afterwards counts. */
static int make_dir(const char *path, mode_t mode)
{
    int why;

    if (mkdir(path, mode) == 0)
        return 0;
    why = errno;
    if (hrun_is_folder(path))
        return 0;
    errno = why == EEXIST ? ENOTDIR : why;
    return -1;
}

int hrun_mkdirs(const char *path, mode_t mode, struct hrun_error *err)
{
    char *copy = strdup(path), *p;
    int saved = errno, rc = 0;

    if (!copy)
        return hrun_fail_nomem(err);
    for (p = copy + (copy[0] == '/'); *p && !rc; p++) {
        if (*p != '/')
            continue;
        *p = 0;
        rc = make_dir(copy, mode);
        if (!rc)
            *p = '/';
    }
    if (!rc)
        rc = make_dir(copy, mode);
    if (rc)
        hrun_fail_errno(err, HRUN_EIO, "cannot create the folder '%s'", copy);
    free(copy);
    errno = saved;
    return rc;
}

int hrun_open_below(int top, const char *path, int make, size_t *len)
{
    int dir = openat(top, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

    for (const char *p = path, *slash; dir >= 0 && (slash = strchr(p, '/')); p = slash + 1) {
        char *name = strndup(p, (size_t)(slash - p));
        int next = -1, why = ENOMEM;
        struct stat st;

        *len = (size_t)(slash - path);
        if (name && !*name) {
            free(name);
            continue;
        }
        if (name) {
            int refused = make && mkdirat(dir, name, 0777) ? errno : 0;

            next = openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            why = errno == ENOENT && refused ? refused : errno;
            if (next < 0 && !fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISLNK(st.st_mode))
                why = ELOOP;
        }
        free(name);
        close(dir);
        dir = next;
        errno = why;
    }
    return dir;
}

/* ---------------------------------------------------------------- locks */

/* A lock for reading keeps writers waiting: nobody reads a lock file who cannot write it. */
static int open_lock(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0222);
    struct stat st;
    mode_t mode;

    if (fd < 0 || fstat(fd, &st) || st.st_uid != geteuid())
        return fd;
    mode = (st.st_mode & 0222) | (st.st_mode & 0222) << 1;
    if ((st.st_mode & 0666) != mode)
        fchmod(fd, mode);
    return fd;
}

int hrun_lock(const char *path, struct hrun_error *err)
{
    struct flock lk = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    int saved = errno, fd = open_lock(path), rc;

    if (fd < 0) {
        hrun_fail_errno(err, HRUN_EIO, "cannot open the lock file '%s'", path);
        errno = saved;
        return -1;
    }
    do
        rc = fcntl(fd, F_SETLKW, &lk);
    while (rc && errno == EINTR);
    if (rc) {
        hrun_fail_errno(err, HRUN_EIO, "cannot lock '%s'", path);
        close(fd);
        fd = -1;
    }
    errno = saved;
    return fd;
}

/* Who has a lock, by what hrun_lock_try has written into its file. */
static void fail_busy(const char *path, struct hrun_error *err)
{
    struct hrun_buf text = HRUN_BUF_INIT;
    struct utsname here;
    char host[65];
    long pid;

    if (hrun_file_read(path, 256, &text, NULL) || sscanf(text.data, "%ld %64[A-Za-z0-9._-]", &pid, host) != 2)
        hrun_fail(err, HRUN_EBUSY, "another process");
    else if (!uname(&here) && !strcmp(host, here.nodename))
        hrun_fail(err, HRUN_EBUSY, "process %ld", pid);
    else
        hrun_fail(err, HRUN_EBUSY, "process %ld on %s", pid, host);
    hrun_buf_release(&text);
}

int hrun_lock_try(const char *path, struct hrun_error *err)
{
    struct flock lk = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    int saved = errno, fd = open_lock(path), len;
    struct utsname here;
    char text[128];

    if (fd < 0) {
        hrun_fail_errno(err, HRUN_EIO, "cannot open the lock file '%s'", path);
    } else if (fcntl(fd, F_OFD_SETLK, &lk)) {
        if (errno == EAGAIN || errno == EACCES)
            fail_busy(path, err);
        else
            hrun_fail_errno(err, HRUN_EIO, "cannot lock '%s'", path);
        close(fd);
        fd = -1;
    } else {
        /* Without these words the lock is as good: a full disk does not matter. */
        len = snprintf(text, sizeof text, "%ld %s\n", (long)getpid(), uname(&here) ? "?" : here.nodename);
        (void)!(ftruncate(fd, 0) || pwrite(fd, text, (size_t)len, 0) != len);
    }
    errno = saved;
    return fd;
}

void hrun_unlock(int fd)
{
    int saved = errno;

    if (fd >= 0)
        close(fd); /* ends the lock */
    errno = saved;
}

/* ---------------------------------------------------------------- folders for one run */

static void remove_at(int at, const char *name)
{
    struct dirent *e;
    DIR *dir;
    int fd;

    if (unlinkat(at, name, 0) == 0 || (errno != EISDIR && errno != EPERM))
        return; /* Linux says EISDIR for a folder, POSIX EPERM */
    fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == EACCES && fchmodat(at, name, S_IRWXU, 0) == 0)
        fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return;
    dir = fdopendir(fd);
    if (!dir) {
        close(fd);
        return;
    }
    while ((e = readdir(dir)))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            remove_at(fd, e->d_name);
    closedir(dir);
    unlinkat(at, name, AT_REMOVEDIR);
}

void hrun_remove_tree(const char *path)
{
    int saved = errno;

    if (path && path[0])
        remove_at(AT_FDCWD, path);
    errno = saved;
}

/* When a process started, in clock ticks after boot (proc(5), field 22 of stat); 0 when not known. */
static unsigned long long start_ticks(long pid)
{
    struct hrun_buf text = HRUN_BUF_INIT;
    unsigned long long ticks = 0;
    char path[64], *p;

    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    if (hrun_file_read(path, 4096, &text, NULL) == 0 && (p = strrchr(text.data, ')'))) {
        p++; /* field 2 ends here; 20 blanks further field 22 begins */
        for (int i = 0; i < 20 && p; i++)
            if ((p = strchr(p, ' ')))
                p++;
        if (p)
            ticks = strtoull(p, NULL, 10);
    }
    hrun_buf_release(&text);
    return ticks;
}

/* Append "HOST BOOT PIDSPACE ": where a process number means the same process as here. Nothing when it
 * cannot be told. */
static void add_where(struct hrun_buf *out)
{
    struct hrun_buf boot = HRUN_BUF_INIT;
    char space[64];
    struct utsname u;
    ssize_t len = readlink("/proc/self/ns/pid", space, sizeof space - 1);

    if (len > 0 && uname(&u) == 0 && !hrun_file_read("/proc/sys/kernel/random/boot_id", 256, &boot, NULL)) {
        space[len] = 0;
        boot.data[strcspn(boot.data, "\n")] = 0;
        hrun_buf_addf(out, "%s %s %s ", u.nodename, boot.data, space);
    }
    hrun_buf_release(&boot);
}

/* Is the folder base/name, made by process pid, left over? where: as from add_where. */
static int is_stale(const char *base, const char *name, long pid, const char *where)
{
    struct hrun_buf owner = HRUN_BUF_INIT;
    char *path = hrun_strf("%s/%s", base, name), *file = hrun_strf("%s/%s/.owner", base, name);
    struct stat st;
    int stale = 0;

    if (path && file && lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid()
        && hrun_file_read(file, 4096, &owner, NULL) == 0 && where[0]
        && strncmp(owner.data, where, strlen(where)) == 0) {
        unsigned long long then = strtoull(owner.data + strlen(where), NULL, 10), now;
        if (kill((pid_t)pid, 0) && errno == ESRCH)
            stale = 1;
        else if (then && (now = start_ticks(pid)))
            stale = now != then; /* the number was given to another process since */
    }
    hrun_buf_release(&owner);
    free(path);
    free(file);
    return stale;
}

static void remove_stale(const char *base, const char *where)
{
    DIR *dir = opendir(base);
    struct dirent *e;

    if (!dir)
        return;
    while ((e = readdir(dir))) {
        long uid, pid;
        int end = 0;
        if (sscanf(e->d_name, "hrun.%ld.%ld.%*6[A-Za-z0-9]%n", &uid, &pid, &end) != 2 || !end
            || e->d_name[end] || uid != (long)geteuid() || pid <= 0 || pid > INT_MAX)
            continue;
        if (is_stale(base, e->d_name, pid, where)) {
            char *path = hrun_strf("%s/%s", base, e->d_name);
            hrun_remove_tree(path);
            free(path);
        }
    }
    closedir(dir);
}

char *hrun_rundir_create(const char *base, struct hrun_error *err)
{
    struct hrun_buf where = HRUN_BUF_INIT;
    char *path = NULL, *owner = NULL;
    int saved = errno, fd = -1, rc;

    if (!base)
        base = getenv("TMPDIR");
    if (!base || !base[0])
        base = "/tmp";
    add_where(&where);
    remove_stale(base, where.data);
    path = hrun_strf("%s/hrun.%ld.%ld.XXXXXX", base, (long)geteuid(), (long)getpid());
    if (!path || where.failed) {
        hrun_fail_nomem(err);
        goto fail;
    }
    if (!mkdtemp(path)) {
        hrun_fail_errno(err, HRUN_EIO, "cannot create a folder for this run in '%s' (set TMPDIR to another)",
                        base);
        goto fail;
    }
    owner = hrun_strf("%s/.owner", path);
    hrun_buf_addf(&where, "%llu\n", start_ticks((long)getpid()));
    if (!owner || where.failed) {
        hrun_fail_nomem(err);
        hrun_remove_tree(path);
        goto fail;
    }
    /* no fsync: after a crash of the host the folder is nobody's anyway, and it costs milliseconds */
    fd = open(owner, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    rc = fd < 0 ? -1 : hrun_write_all(fd, where.data, where.len);
    if (rc)
        hrun_fail_errno(err, HRUN_EIO, "cannot write '%s' (set TMPDIR to another folder)", owner);
    if (fd >= 0)
        close(fd);
    if (rc) {
        hrun_remove_tree(path);
        goto fail;
    }
    goto out;
fail:
    free(path);
    path = NULL;
out:
    free(owner);
    hrun_buf_release(&where);
    errno = saved;
    return path;
}
