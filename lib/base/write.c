/* write.c - writing files: whole, atomically, durably; see file.h for the contracts
 *
 * A file is replaced by a temporary file beside it, TARGET.tmp.PID.NUMBER. The writer locks the temporary file from
 * creation to renaming. The lock belongs to the open file (fcntl F_OFD_SETLK): it ends with the process, but also
 * excludes threads of the same process. So a temporary file that can be locked is left over from a killed process of
 * any host or container, and the next replacement of the same target removes it. On a file system
 * without locks nothing is removed.
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

/* How many numbers open_beside tries. A process with the same PID on another host may use a name. */
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
            /* a non-blocking terminal or pipe: wait until fd accepts more */
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

/* The folder of path; the caller frees it. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == path ? xstrdup("/") : slash ? xstrndup(path, (size_t)(slash - path)) : xstrdup(".");
}

/* Make the names in an open folder durable. File systems that cannot do this are no error. 0, or -1 with errno. */
static int sync_folder(int fd)
{
    return fsync(fd) && errno != EINVAL && errno != ENOTSUP ? -1 : 0;
}

/* ---------------------------------------------------------------- temporary files */

/* Remove the temporary files that killed processes left beside target, a name in the open folder. On a file system
 * without locks they stay. */
static void remove_left_temporaries(int folder, const char *target)
{
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct flock lk = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    size_t n = strlen(target);
    struct dirent *e;
    struct stat st;

    while (dir && (e = readdir(dir))) {
        int end = 0, left;

        if (strncmp(e->d_name, target, n) || sscanf(e->d_name + n, ".tmp.%*[0-9].%*[0-9]%n", &end) || !end ||
            e->d_name[n + (size_t)end])
            continue;
        left = openat(folder, e->d_name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        /* 0 links: another process has removed the file, and the name may belong to a new one. */
        if (left >= 0 && fstat(left, &st) == 0 && S_ISREG(st.st_mode) && fcntl(left, F_OFD_SETLK, &lk) == 0 &&
            fstat(left, &st) == 0 && st.st_nlink > 0)
            unlinkat(folder, e->d_name, 0);
        if (left >= 0)
            close(left);
    }
    if (dir)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
}

/* Create and lock a file beside target, a name in the open folder, under an unused name. mkstemp does not serve: the
 * kernel must apply the umask, which a process cannot read without changing it. */
static int open_beside(int folder, const char *target, mode_t mode, char **name)
{
    struct flock lk = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

    for (int i = 0; i < TRIES; i++) {
        char *s = hrun_strf("%s%s%ld.%d", target, mark, (long)getpid(), i);
        struct stat st;
        int fd;

        fd = openat(folder, s, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode & HRUN_FILE_MODES);
        /* On a file system without locks the file stays unlocked. */
        if (fd >= 0 && (!fcntl(fd, F_OFD_SETLK, &lk) || (errno != EAGAIN && errno != EACCES)) &&
            (fstat(fd, &st) || st.st_nlink > 0)) {
            *name = s;
            return fd;
        }
        free(s);
        if (fd >= 0)
            close(fd); /* another process is removing the file */
        else if (errno != EEXIST && errno != EINTR)
            return -1;
    }
    errno = EEXIST;
    return -1;
}

/* ---------------------------------------------------------------- whole files */

int hrun_file_replace_in(int folder, const char *path, const void *data, size_t len, mode_t mode,
                         struct hrun_error *err)
{
    int dir = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd = -1, why, rc = 0;
    const char *name = hrun_base_name(path);
    autofree char *temp = NULL;

    if (dir >= 0) {
        remove_left_temporaries(dir, name);
        fd = open_beside(dir, name, mode, &temp);
    }
    /* fsync reports a full disk over NFS; the file stays open, because the lock must last until the renaming */
    why = fd < 0 || hrun_write_all(fd, data, len) || fsync(fd) || renameat(dir, temp, dir, name) ? errno : 0;
    if (why && temp)
        unlinkat(dir, temp, 0);
    if (fd >= 0)
        close(fd);
    errno = why;
    if (why)
        rc = hrun_fail_errno(err, HRUN_EIO, "cannot write '%s'", path);
    else if (sync_folder(dir))
        rc = hrun_fail_errno(err, HRUN_EIO, "'%s' is written but may not survive a power failure", path);
    if (dir >= 0)
        close(dir);
    return rc;
}

int hrun_file_replace(const char *path, const void *data, size_t len, mode_t mode, struct hrun_error *err)
{
    autofree char *real = realpath(path, NULL); /* NULL: there is no such file yet */
    autofree char *folder = folder_of(real ? real : path);
    int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc;

    if (dir < 0)
        return hrun_fail_errno(err, HRUN_EIO, "cannot write '%s'", path);
    rc = hrun_file_replace_in(dir, real ? real : path, data, len, mode, err);
    close(dir);
    return rc;
}

/* ---------------------------------------------------------------- lines */

/* Make the names of a new file and of the folders around it durable, `depth` folders in all. 0, or -1 with errno. */
static int sync_around(const char *path, int depth)
{
    autofree char *folder = xstrdup(path);
    int why = 0;

    for (; depth > 0 && !why; depth--) {
        char *up = folder_of(folder);
        int fd = open(up, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        why = fd < 0 || sync_folder(fd) ? errno : 0;
        if (fd >= 0)
            close(fd);
        free(folder);
        folder = up;
    }
    errno = why;
    return why ? -1 : 0;
}

int hrun_file_append(const char *path, const void *data, size_t len, int depth, int *torn, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf ended = HRUN_BUF_INIT;
    /* Over NFS the size is current only if the file is opened under the caller's lock. */
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
        /* The caller has the lock, so all data behind the old end is from this write. */
        left = ftruncate(fd, st.st_size) || fsync(fd);
    }
    if (fd >= 0)
        close(fd);
    if (torn)
        *torn = left;
    return rc;
}
