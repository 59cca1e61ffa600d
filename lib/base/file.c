/* file.c - reading, folders, locking, folders for one run; see file.h for the contracts */
#include "base/file.h"

#include "base/alloc.h"
#include "base/hash.h"

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

/* Two numbers, of 20 and of 16 digits. */
enum { PLACE_SIZE = 48 };

/* ---------------------------------------------------------------- reading */

/* Append the content of fd, which does not block, to *out. A pipe or terminal is read to its end where somebody writes
 * to it. */
static int read_to_end(int fd, const char *path, size_t max, struct hrun_buf *out, struct hrun_error *err)
{
    char chunk[16384];
    size_t total = 0;
    struct stat st = { 0 };
    ssize_t got;

    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
        return hrun_fail(err, HRUN_EINVAL, "'%s' is a folder; a file is expected", path);
    for (;;) {
        got = read(fd, chunk, sizeof chunk);
        if (got < 0 && (errno == EINTR || (errno == EAGAIN && !fcntl(fd, F_SETFL, 0))))
            continue;
        if (got <= 0)
            break;
        total += (size_t)got;
        if (total > max)
            return hrun_fail(err, HRUN_EINVAL, "'%s' is larger than the %zu bytes expected at most: is it the right "
                             "file?", path, max);
        hrun_buf_add(out, chunk, (size_t)got);
    }
    if (got < 0)
        return hrun_fail_errno(err, HRUN_EIO, "cannot read '%s'", path);
    if (!total && S_ISFIFO(st.st_mode))
        return hrun_fail(err, HRUN_EINVAL, "'%s' is a pipe to which nothing is written; a file is expected", path);
    return 0;
}

/* The same, and close fd. fd -1: it could not be opened, and errno says why. */
static int read_open(int fd, const char *path, size_t max, struct hrun_buf *out, struct hrun_error *err)
{
    size_t start = out->len;
    int rc;

    if (fd < 0 && errno == ENXIO)
        return hrun_fail(err, HRUN_EINVAL, "'%s' is a socket or a device; a file is expected", path);
    if (fd < 0)
        return hrun_fail_errno(err, errno == ENOENT ? HRUN_ENOENT : HRUN_EIO, "cannot read '%s'", path);
    rc = read_to_end(fd, path, max, out, err);
    if (rc && out->len > start) {
        out->len = start;
        out->data[start] = 0;
    }
    close(fd);
    return rc;
}

int hrun_file_read(const char *path, size_t max, struct hrun_buf *out, struct hrun_error *err)
{
    return read_open(open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), path, max, out, err);
}

const char *hrun_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

int hrun_file_read_in(int folder, const char *path, size_t max, struct hrun_buf *out, struct hrun_error *err)
{
    return read_open(openat(folder, hrun_base_name(path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), path, max,
                     out, err);
}

/* ---------------------------------------------------------------- folders */

int hrun_is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* A parent that exists may answer EACCES or EROFS before EEXIST: only what is no folder afterwards counts. */
static int make_dir(const char *path, mode_t mode)
{
    int why;

    if (mkdir(path, mode & HRUN_FILE_MODES) == 0)
        return 0;
    why = errno;
    if (hrun_is_folder(path))
        return 0;
    errno = why == EEXIST ? ENOTDIR : why;
    return -1;
}

int hrun_mkdirs(const char *path, mode_t mode, struct hrun_error *err)
{
    autofree char *copy = xstrdup(path);

    for (char *p = copy + (copy[0] == '/'); ; p++) {
        char end = *p;

        if (end && end != '/')
            continue;
        *p = 0;
        if (make_dir(copy, mode))
            return hrun_fail_errno(err, HRUN_EIO, "cannot create the folder '%s'", copy);
        if (!end)
            return 0;
        *p = end;
    }
}

int hrun_open_below(int top, const char *path, int make, size_t *len)
{
    int dir = openat(top, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

    for (const char *p = path, *slash; dir >= 0 && (slash = strchr(p, '/')); p = slash + 1) {
        autofree char *name = xstrndup(p, (size_t)(slash - p));
        int next, why, refused;
        struct stat st;

        *len = (size_t)(slash - path);
        if (!*name)
            continue;
        refused = make && mkdirat(dir, name, HRUN_FILE_MODES & 0777) ? errno : 0;
        next = openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        why = errno == ENOENT && refused ? refused : errno;
        if (next < 0 && !fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISLNK(st.st_mode))
            why = ELOOP;
        close(dir);
        dir = next;
        errno = why;
    }
    return dir;
}

/* ---------------------------------------------------------------- locks */

/* Open a lock file. Its mode lets only users read it who can write it, because a read lock blocks writers. A file that
 * another user may have put in its place is not changed. -1 with *err. */
static int open_lock(const char *path, int access, struct hrun_error *err)
{
    int fd = open(path, access | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, HRUN_FILE_MODES & 0622);
    struct stat st;
    mode_t mode;

    if (fd < 0 ? errno == ELOOP : fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_nlink > 1) {
        hrun_fail(err, HRUN_EEXISTS, "'%s' is no lock file, but a link or special file: remove it", path);
        hrun_unlock(fd);
        return -1;
    }
    if (fd < 0)
        return hrun_fail_errno(err, HRUN_EIO, "cannot open the lock file '%s'", path);
    mode = st.st_mode & HRUN_FILE_MODES & 0222;
    mode |= mode << 1;
    if (st.st_uid == geteuid() && (st.st_mode & 0666) != mode)
        fchmod(fd, mode);
    return fd;
}

/* Report the holder of a lock, which hrun_lock_try has written into the file. */
static void fail_busy(const char *path, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    struct utsname here;
    char host[65];
    long pid;

    if (hrun_file_read(path, 256, &text, NULL) || sscanf(text.data, "%ld %64[A-Za-z0-9._-]", &pid, host) != 2)
        hrun_fail(err, HRUN_EBUSY, "another process");
    else if (!uname(&here) && !strcmp(host, here.nodename))
        hrun_fail(err, HRUN_EBUSY, "process %ld", pid);
    else
        hrun_fail(err, HRUN_EBUSY, "process %ld on %s", pid, host);
}

/* A lock could not be taken: close fd. busy: 1 where another process may have it. Result: -1. */
static int fail_lock(int fd, const char *path, int busy, struct hrun_error *err)
{
    if (busy && (errno == EAGAIN || errno == EACCES))
        fail_busy(path, err);
    else
        hrun_fail_errno(err, HRUN_EIO, "cannot lock '%s'", path);
    hrun_unlock(fd);
    return -1;
}

int hrun_lock(const char *path, struct hrun_error *err)
{
    struct flock lk = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    int fd = open_lock(path, O_WRONLY, err), rc;

    do
        rc = fd < 0 ? 0 : fcntl(fd, F_SETLKW, &lk);
    while (rc && errno == EINTR);
    return rc ? fail_lock(fd, path, 0, err) : fd;
}

int hrun_lock_try(const char *path, struct hrun_error *err)
{
    struct flock lk = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    int fd = open_lock(path, O_WRONLY, err), len;
    struct utsname here;
    char text[128];

    if (fd < 0)
        return -1;
    if (fcntl(fd, F_OFD_SETLK, &lk))
        return fail_lock(fd, path, 1, err);
    /* Without these words the lock is as good: a full disk does not matter. */
    len = snprintf(text, sizeof text, "%ld %s\n", (long)getpid(), uname(&here) ? "?" : here.nodename);
    (void)!(ftruncate(fd, 0) || pwrite(fd, text, (size_t)len, 0) != len);
    return fd;
}

int hrun_lock_share(const char *path, int alone, int *fd, struct hrun_error *err)
{
    struct flock lk = { .l_type = alone ? F_WRLCK : F_RDLCK, .l_whence = SEEK_SET };
    int at = *fd < 0 ? open_lock(path, O_RDWR, err) : *fd;

    if (at < 0)
        return -1;
    if (fcntl(at, F_OFD_SETLK, &lk))
        return fail_lock(*fd < 0 ? at : -1, path, 1, err);
    *fd = at;
    return 0;
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
    enum { ROUNDS = 2 };        /* the second for what was short for a moment, such as descriptors */
    int saved = errno;

    for (int i = 0; path && path[0] && i < ROUNDS && (!i || !access(path, F_OK)); i++)
        remove_at(AT_FDCWD, path);
    errno = saved;
}

/* When a process started, in clock ticks after boot (proc(5), field 22 of stat); 0 when not known. */
static unsigned long long start_ticks(long pid)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
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
    return ticks;
}

/* The scope of process numbers, "SPACE-HASH": number of the PID name space, and a hash of host name and boot. "":
 * unknown. */
static void find_pid_space(char *place, size_t size)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    char link[64] = "", *number;
    struct utsname u;

    *place = 0;
    if (readlink("/proc/self/ns/pid", link, sizeof link - 1) > 0 && (number = strchr(link, '[')) && uname(&u) == 0 &&
        !hrun_file_read("/proc/sys/kernel/random/boot_id", 256, &text, NULL)) {
        hrun_buf_adds(&text, u.nodename);
        snprintf(place, size, "%lu-%016llx", strtoul(number + 1, NULL, 10),
                 (unsigned long long)hrun_hash(HRUN_HASH_INIT, text.data, text.len));
    }
}

/* 1 for the name of a folder that a process of this user in this place, now gone, has made by hrun_rundir_create. */
static int is_stale(const char *name, const char *place)
{
    unsigned long long then, now;
    char where[PLACE_SIZE] = "";
    long uid, pid;
    int end = 0;

    if (sscanf(name, "hrun.%ld.%ld.%llu.%47[0-9a-f-].%*6[A-Za-z0-9]%n", &uid, &pid, &then, where, &end) != 4 || !end ||
        name[end] || uid != (long)geteuid() || pid <= 0 || pid > INT_MAX || strcmp(where, place))
        return 0;
    if (kill((pid_t)pid, 0) && errno == ESRCH)
        return 1;
    return then && (now = start_ticks(pid)) && now != then; /* the number was given to another process since */
}

int hrun_keeps_names(int dir)
{
    struct stat st;

    return !fstat(dir, &st) && (st.st_uid == 0 || st.st_uid == geteuid()) &&
           (!(st.st_mode & 022) || (st.st_mode & S_ISVTX));
}

static void remove_stale(const char *base, const char *place)
{
    DIR *dir = opendir(base);
    struct dirent *e;
    struct stat st;

    if (!dir)
        return;
    /* Asked once: this folder may have thousands of names, and each run looks at them. */
    for (int safe = hrun_keeps_names(dirfd(dir)); safe && (e = readdir(dir));)
        if (is_stale(e->d_name, place) && fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISDIR(st.st_mode) && st.st_uid == geteuid())
            remove_at(dirfd(dir), e->d_name);
    closedir(dir);
}

char *hrun_rundir_create(const char *base, struct hrun_error *err)
{
    char place[PLACE_SIZE], *path;
    autofree char *cwd = NULL;

    if (!base)
        base = getenv("TMPDIR");
    if (!base || !base[0])
        base = "/tmp";
    find_pid_space(place, sizeof place);
    remove_stale(base, place);
    /* The name says whose the folder is: mkdtemp makes it at once, so that it never lacks an owner. */
    cwd = base[0] == '/' ? NULL : getcwd(NULL, 0);
    path = hrun_strf("%s%s%s/hrun.%ld.%ld.%llu.%s.XXXXXX", cwd ? cwd : "", cwd ? "/" : "", base, (long)geteuid(),
                     (long)getpid(), start_ticks((long)getpid()), place);
    if (!mkdtemp(path)) {
        hrun_fail_errno(err, HRUN_EIO, "cannot create a folder for this run in '%s' (set TMPDIR to another)", base);
        free(path);
        path = NULL;
    }
    return path;
}
