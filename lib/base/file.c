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

/* Size of PLACE (file.h): two numbers, of 20 and of 16 digits. */
enum { PLACE_SIZE = 48 };

/* ---------------------------------------------------------------- reading */

/* Append the content of fd, which does not block, to *out, and close fd. A pipe or terminal with a writer is read to
 * its end. fd -1: the file could not be opened; errno says why. */
static int read_open(int fd, const char *path, size_t max, struct hrun_buf *out, struct hrun_error *err)
{
    size_t start = out->len;
    struct stat st = { 0 };
    char chunk[16384];
    ssize_t got = 0;
    int rc = 0;

    if (fd < 0 && errno == ENXIO)
        return hrun_fail(err, HRUN_EINVAL, "'%s' is a socket or a device; a file is expected", path);
    if (fd < 0)
        return hrun_fail_errno(err, errno == ENOENT ? HRUN_ENOENT : HRUN_EIO, "cannot read '%s'", path);
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
        rc = hrun_fail(err, HRUN_EINVAL, "'%s' is a folder; a file is expected", path);
    while (!rc) {
        got = read(fd, chunk, sizeof chunk);
        if (got < 0 && (errno == EINTR || (errno == EAGAIN && !fcntl(fd, F_SETFL, 0))))
            continue;
        if (got <= 0)
            break;
        if (out->len - start + (size_t)got > max)
            rc = hrun_fail(err, HRUN_EINVAL, "'%s' is larger than the %zu bytes expected at most: is it the right "
                           "file?", path, max);
        else
            hrun_buf_add(out, chunk, (size_t)got);
    }
    if (!rc && got < 0)
        rc = hrun_fail_errno(err, HRUN_EIO, "cannot read '%s'", path);
    else if (!rc && out->len == start && S_ISFIFO(st.st_mode))
        rc = hrun_fail(err, HRUN_EINVAL, "'%s' is a pipe to which nothing is written; a file is expected", path);
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

int hrun_mkdirs(const char *path, mode_t mode, struct hrun_error *err)
{
    autofree char *copy = xstrdup(path);

    for (char *p = copy + (copy[0] == '/'); ; p++) {
        char end = *p;
        int why;

        if (end && end != '/')
            continue;
        *p = 0;
        why = mkdir(copy, mode & HRUN_FILE_MODES) ? errno : 0;
        /* mkdir of an existing parent may give EACCES or EROFS, not EEXIST. Only a missing folder is an error. */
        if (why && !hrun_is_folder(copy)) {
            errno = why == EEXIST ? ENOTDIR : why;
            return hrun_fail_errno(err, HRUN_EIO, "cannot create the folder '%s'", copy);
        }
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

/* Open a lock file. Only users who can write the file can read it: a reader's lock blocks writers. The mode of another
 * user's file is not changed. -1 with *err. */
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

/* Lock fd, the lock file at path, with this command of fcntl. 0, or -1 with *err; HRUN_EBUSY names the holder that
 * hrun_lock_try has written into the file. */
static int set_lock(int fd, const char *path, int command, short type, struct hrun_error *err)
{
    struct flock lk = { .l_type = type, .l_whence = SEEK_SET };
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    struct utsname here;
    char host[65];
    long pid;
    int rc;

    do
        rc = fcntl(fd, command, &lk);
    while (rc && errno == EINTR);
    if (!rc)
        return 0;
    if (command != F_OFD_SETLK || (errno != EAGAIN && errno != EACCES))
        return hrun_fail_errno(err, HRUN_EIO, "cannot lock '%s'", path);
    if (hrun_file_read(path, 256, &text, NULL) || sscanf(text.data, "%ld %64[A-Za-z0-9._-]", &pid, host) != 2)
        return hrun_fail(err, HRUN_EBUSY, "another process");
    if (!uname(&here) && !strcmp(host, here.nodename))
        return hrun_fail(err, HRUN_EBUSY, "process %ld", pid);
    return hrun_fail(err, HRUN_EBUSY, "process %ld on %s", pid, host);
}

int hrun_lock(const char *path, struct hrun_error *err)
{
    int fd = open_lock(path, O_WRONLY, err);

    if (fd < 0 || !set_lock(fd, path, F_SETLKW, F_WRLCK, err))
        return fd;
    hrun_unlock(fd);
    return -1;
}

int hrun_lock_try(const char *path, struct hrun_error *err)
{
    int fd = -1, len;
    struct utsname here;
    char text[128];

    if (hrun_lock_share(path, 1, &fd, err))
        return -1;
    /* The lock is valid without this text, so a full disk is ignored. */
    len = snprintf(text, sizeof text, "%ld %s\n", (long)getpid(), uname(&here) ? "?" : here.nodename);
    (void)!(ftruncate(fd, 0) || pwrite(fd, text, (size_t)len, 0) != len);
    return fd;
}

int hrun_lock_share(const char *path, int alone, int *fd, struct hrun_error *err)
{
    int at = *fd < 0 ? open_lock(path, O_RDWR, err) : *fd;

    if (at < 0)
        return -1;
    if (set_lock(at, path, F_OFD_SETLK, alone ? F_WRLCK : F_RDLCK, err)) {
        if (*fd < 0)
            hrun_unlock(at);
        return -1;
    }
    *fd = at;
    return 0;
}

void hrun_unlock(int fd)
{
    int saved = errno;

    if (fd >= 0)
        close(fd); /* releases the lock */
    errno = saved;
}

/* ---------------------------------------------------------------- folders for one run */

static void remove_at(int at, const char *name)
{
    struct dirent *e;
    DIR *dir;
    int fd;

    if (unlinkat(at, name, 0) == 0 || (errno != EISDIR && errno != EPERM))
        return; /* Linux gives EISDIR for a folder, POSIX EPERM */
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
    enum { ROUNDS = 2 };        /* the second helps if a failure passes, such as a lack of descriptors */
    int saved = errno;

    for (int i = 0; path && path[0] && i < ROUNDS && (!i || !access(path, F_OK)); i++)
        remove_at(AT_FDCWD, path);
    errno = saved;
}

/* Start time of a process in clock ticks after boot (proc(5), field 22 of stat); 0: unknown. */
static unsigned long long start_ticks(long pid)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    unsigned long long ticks = 0;
    char path[64], *p;

    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    if (hrun_file_read(path, 4096, &text, NULL) == 0 && (p = strrchr(text.data, ')'))) {
        p++; /* end of field 2; field 22 begins after 20 blanks */
        for (int i = 0; i < 20 && p; i++)
            if ((p = strchr(p, ' ')))
                p++;
        if (p)
            ticks = strtoull(p, NULL, 10);
    }
    return ticks;
}

int hrun_keeps_names(int dir)
{
    struct stat st;

    return !fstat(dir, &st) && (st.st_uid == 0 || st.st_uid == geteuid()) &&
           (!(st.st_mode & 022) || (st.st_mode & S_ISVTX));
}

/* Remove the folders in base that hrun_rundir_create made for ended processes of this user and place (file.h). */
static void remove_stale(const char *base, const char *place)
{
    DIR *dir = opendir(base);
    struct dirent *e;
    struct stat st;

    if (!dir)
        return;
    /* The folder is checked once, because it may have thousands of names. */
    for (int safe = hrun_keeps_names(dirfd(dir)); safe && (e = readdir(dir));) {
        char where[PLACE_SIZE] = "";
        unsigned long long then, now;
        long uid, pid;
        int end = 0;

        if (sscanf(e->d_name, "hrun.%ld.%ld.%llu.%47[0-9a-f-].%*6[A-Za-z0-9]%n", &uid, &pid, &then, where, &end) != 4 ||
            !end || e->d_name[end] || uid != (long)geteuid() || pid <= 0 || pid > INT_MAX || strcmp(where, place))
            continue;
        /* A different start time means that the PID now belongs to another process. */
        if ((!kill((pid_t)pid, 0) || errno != ESRCH) && (!then || !(now = start_ticks(pid)) || now == then))
            continue;
        if (fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode) &&
            st.st_uid == geteuid())
            remove_at(dirfd(dir), e->d_name);
    }
    closedir(dir);
}

char *hrun_rundir_create(const char *base, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf boot = HRUN_BUF_INIT;
    char place[PLACE_SIZE] = "", link[64] = "", *path, *number;
    autofree char *cwd = NULL;
    struct utsname u;

    if (!base)
        base = getenv("TMPDIR");
    if (!base || !base[0])
        base = "/tmp";
    /* The scope of process numbers: number of the PID name space, and a hash of boot and host name; "": unknown. */
    if (readlink("/proc/self/ns/pid", link, sizeof link - 1) > 0 && (number = strchr(link, '[')) && uname(&u) == 0 &&
        !hrun_file_read("/proc/sys/kernel/random/boot_id", 256, &boot, NULL)) {
        hrun_buf_adds(&boot, u.nodename);
        snprintf(place, sizeof place, "%lu-%016llx", strtoul(number + 1, NULL, 10),
                 (unsigned long long)hrun_hash(HRUN_HASH_INIT, boot.data, boot.len));
    }
    remove_stale(base, place);
    /* The name identifies the owning process, so the folder has an owner from the moment mkdtemp makes it. */
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
