/* write.c - writing files: whole, atomically, durably; see file.h for the contracts
 *
 * A file is replaced by way of a temporary one beside it, TARGET.tmp.PID.NUMBER. Its writer holds a lock on it
 * from its creation to its renaming. The lock is one of the open file (fcntl F_OFD_SETLK): it ends with the
 * process like any other, but keeps out threads of the same process too. So a temporary file that can be locked
 * is left over from a killed process, on whichever host or in whichever container that ran, and the next one to
 * replace the same target removes it. Where there are no locks nothing is removed.
 */
#include "base/alloc.h"
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Numbers that open_beside tries: names may be taken by processes of the same number on other hosts. */
enum { TRIES = 1000 };

static const char mark[] = ".tmp.";

/* An int has at most 10 digits, a number below TRIES 3. */
_Static_assert(HRUN_FILE_MARKS == sizeof mark - 1 + 10 + 1 + 3 && TRIES == 1000, "room for the longest name");

int hrun_write_all(int fd, const void *data, size_t len)
{
    const char *p = data;

    while (len) {
        ssize_t n = write(fd, p, len);
        if (n > 0) {
            p += n;
            len -= (size_t)n;
        } else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            /* a terminal or pipe that someone set to non-blocking: wait until it takes more */
            struct pollfd pfd = { fd, POLLOUT, 0 };
            if (poll(&pfd, 1, -1) < 0 && errno != EINTR)
                return -1;
        } else if (n == 0 || errno != EINTR) {
            if (n == 0)
                errno = EIO;
            return -1;
        }
    }
    return 0;
}

/* ---------------------------------------------------------------- folders */

/* The folder that holds path; the caller frees it. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == path ? xstrdup("/") : slash ? xstrndup(path, (size_t)(slash - path)) : xstrdup(".");
}

/* Some file systems cannot sync a folder, and say so. */
static int sync_open_folder(int fd)
{
    return fsync(fd) && errno != EINVAL && errno != ENOTSUP ? -1 : 0;
}

int hrun_sync_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), why;

    if (fd < 0)
        return -1;
    why = sync_open_folder(fd) ? errno : 0;
    close(fd);
    errno = why;
    return why ? -1 : 0;
}

/* ---------------------------------------------------------------- temporary files */

/* Is this the name of a temporary file of target (both without folders)? */
static int is_temporary(const char *name, const char *target)
{
    static const char digits[] = "0123456789";
    size_t n = strlen(target), d;

    if (strncmp(name, target, n) || strncmp(name + n, mark, sizeof mark - 1))
        return 0;
    name += n + sizeof mark - 1;
    d = strspn(name, digits);
    if (!d || name[d] != '.')
        return 0;
    name += d + 1;
    d = strspn(name, digits);
    return d && !name[d];
}

/* Take the lock that a temporary file's writer holds. 0: it is ours, or this file system has no locks;
 * -1: somebody has it. */
static int lock_file(int fd)
{
    struct flock lk = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

    return fcntl(fd, F_OFD_SETLK, &lk) && (errno == EAGAIN || errno == EACCES) ? -1 : 0;
}

/* Remove a temporary file that no process writes any more. On a file system without locks it stays. */
static void remove_left(int dir, const char *name)
{
    struct flock lk = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    int fd = openat(dir, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;

    if (fd < 0)
        return;
    /* No link: another one removed it in between, and the name may be a new file's. */
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && fcntl(fd, F_OFD_SETLK, &lk) == 0 && fstat(fd, &st) == 0
        && st.st_nlink > 0)
        unlinkat(dir, name, 0);
    close(fd);
}

/* Remove what killed processes left of replacing target, a name in the open folder. */
static void remove_left_temporaries(int folder, const char *target)
{
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *e;

    while (dir && (e = readdir(dir)))
        if (is_temporary(e->d_name, target))
            remove_left(folder, e->d_name);
    if (dir)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
}

/* Create and lock a file beside target, a name in the open folder, under a name that nobody has. Not mkstemp: the
 * kernel is to apply the umask, which cannot be read without changing it. */
static int open_beside(int folder, const char *target, mode_t mode, char **name)
{
    for (int i = 0; i < TRIES; i++) {
        char *s = hrun_strf("%s%s%ld.%d", target, mark, (long)getpid(), i);
        struct stat st;
        int fd;

        fd = openat(folder, s, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode & HRUN_FILE_MODES);
        if (fd >= 0 && lock_file(fd) == 0 && (fstat(fd, &st) || st.st_nlink > 0)) {
            *name = s;
            return fd;
        }
        free(s);
        if (fd >= 0)
            close(fd); /* somebody's sweep came between: it is being removed */
        else if (errno != EEXIST && errno != EINTR)
            return -1;
    }
    errno = EEXIST;
    return -1;
}

/* ---------------------------------------------------------------- whole files */

/* Write data[len] to a file of that name in an open folder. -1 with errno: it was not replaced. */
static int replace_name(int dir, const char *name, const void *data, size_t len, mode_t mode)
{
    autofree char *temp = NULL;
    int fd, why;

    remove_left_temporaries(dir, name);
    fd = open_beside(dir, name, mode, &temp);
    if (fd < 0)
        return -1;
    /* fsync reports a full disk over NFS; the file stays open, as the lock must last until the name is gone */
    why = hrun_write_all(fd, data, len) || fsync(fd) || renameat(dir, temp, dir, name) ? errno : 0;
    if (why)
        unlinkat(dir, temp, 0);
    close(fd);
    errno = why;
    return why ? -1 : 0;
}

int hrun_file_replace_in(int folder, const char *path, const void *data, size_t len, mode_t mode,
                         struct hrun_error *err)
{
    int dir = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;

    if (dir < 0 || replace_name(dir, hrun_base_name(path), data, len, mode))
        rc = hrun_fail_errno(err, HRUN_EIO, "cannot write '%s'", path);
    else if (sync_open_folder(dir))
        rc = hrun_fail_errno(err, HRUN_EIO, "'%s' is written but may not survive a power failure", path);
    if (dir >= 0)
        close(dir);
    return rc;
}

int hrun_file_replace(const char *path, const void *data, size_t len, mode_t mode, struct hrun_error *err)
{
    autofree char *real = realpath(path, NULL); /* NULL when there is no such file yet */
    autofree char *folder = folder_of(real ? real : path);
    int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc;

    if (dir < 0)
        return hrun_fail_errno(err, HRUN_EIO, "cannot write '%s'", path);
    rc = hrun_file_replace_in(dir, real ? real : path, data, len, mode, err);
    close(dir);
    return rc;
}

/* ---------------------------------------------------------------- lines */

/* Make the names of a new file and of the folders around it durable, `depth` folders in all. 0, or -1 with
 * errno. */
static int sync_around(const char *path, int depth)
{
    autofree char *folder = folder_of(path);

    for (int i = 0; i < depth; i++) {
        char *up;

        if (hrun_sync_folder(folder))
            return -1;
        up = folder_of(folder);
        free(folder);
        folder = up;
    }
    return 0;
}

int hrun_file_append(const char *path, const void *data, size_t len, int depth, int *torn, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf ended = HRUN_BUF_INIT;
    /* The size is asked for under the caller's lock and after opening: over NFS that makes it the present one. */
    int fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, HRUN_FILE_MODES & 0666);
    int rc = 0, left = 0;
    struct stat st;
    char last = '\n';

    if (fd < 0 || fstat(fd, &st))
        rc = hrun_fail_errno(err, HRUN_EIO, "cannot open '%s'", path);
    else if (!S_ISREG(st.st_mode))
        rc = hrun_fail(err, HRUN_EIO, "'%s' is in the way: it is no regular file", path);
    else if (st.st_size > 0 && pread(fd, &last, 1, st.st_size - 1) != 1)
        rc = hrun_fail_errno(err, HRUN_EIO, "cannot read the end of '%s'", path);
    if (last != '\n')
        hrun_buf_addc(&ended, '\n');
    hrun_buf_add(&ended, data, len);
    if (!rc && ((st.st_size == 0 && sync_around(path, depth)) || hrun_write_all(fd, ended.data, ended.len) ||
                fsync(fd))) {
        rc = hrun_fail_errno(err, HRUN_EIO, "cannot add to '%s'", path);
        /* The lock is the caller's, so all behind the old end is from this write. */
        left = ftruncate(fd, st.st_size) || fsync(fd);
    }
    if (fd >= 0)
        close(fd);
    if (torn)
        *torn = left;
    return rc;
}
