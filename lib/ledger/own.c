/* own.c - this user's folder in the ledger, and the entries in it; see internal.h */
#include "ledger/internal.h"

#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* ---------------------------------------------------------------- locks */

/* Locks of an open file where the system has them: they do not end when the same process closes another descriptor of
 * the file. */
static int lock_call(int fd, int own, int process, struct flock *lk)
{
    int rc = fcntl(fd, own, lk);

    if (rc && errno == EINVAL) {
        lk->l_pid = 0;
        rc = fcntl(fd, process, lk);
    }
    return rc;
}

static int set_lock(int fd, short type, int byte, int bytes)
{
    struct flock lk = { .l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = bytes };

    return lock_call(fd, F_OFD_SETLK, F_SETLK, &lk);
}

int ledger_grant(int fd)
{
    return set_lock(fd, F_UNLCK, LEDGER_BYTE_PENDING, 1);
}

/* Asked for as a reader would: another user may hold a read lock on what he can read, and that is to mean nothing. */
int ledger_is_locked(int fd, int byte)
{
    struct flock lk = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1 };

    return lock_call(fd, F_OFD_GETLK, F_GETLK, &lk) ? -1 : lk.l_type == F_WRLCK;
}

/* ---------------------------------------------------------------- the folder */

/* Some characters that nobody else has. */
static void add_mark(char mark[9])
{
    unsigned long n = 0;

    if (getrandom(&n, sizeof n, 0) != (ssize_t)sizeof n)
        n = (unsigned long)getpid();
    snprintf(mark, 9, "%08lx", n & 0xfffffffful);
}

int ledger_open_folder(int dir, const char *name, uid_t uid, dev_t dev)
{
    struct stat st;
    int fd = -1;

    errno = 0;
    /* Looked at before it is opened: another file system may be mounted there, and may block. */
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) || !S_ISDIR(st.st_mode) || st.st_uid != uid ||
        st.st_dev != dev)
        return -1;
    fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && (fstat(fd, &st) || st.st_uid != uid || st.st_dev != dev)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* The same for a folder of this user, which others can read. */
static int open_own(const struct hrun_ledger *l, int dir, const char *name)
{
    struct stat st;
    int fd = fstat(dir, &st) ? -1 : ledger_open_folder(dir, name, l->uid, st.st_dev);

    if (fd >= 0 && !fstat(fd, &st) && (st.st_mode & 0777) != 0755)
        fchmod(fd, 0755);       /* the mask of the user has made it another, or it was opened to others */
    return fd;
}

/* A folder of ours under another name than the usual one. */
static int open_renamed(struct hrun_ledger *l, int dir, const char *usual)
{
    int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd = -1;
    DIR *list = copy < 0 ? NULL : fdopendir(copy);
    struct dirent *e;
    size_t len = strlen(usual);

    if (!list) {
        if (copy >= 0)
            close(copy);
        return -1;
    }
    while (fd < 0 && (e = readdir(list)))
        if (!strncmp(e->d_name, usual, len) && e->d_name[len] == '.' && (fd = open_own(l, dir, e->d_name)) >= 0)
            l->folder = strdup(e->d_name);
    closedir(list);
    return fd;
}

static int find_folder(struct hrun_ledger *l, int dir)
{
    char usual[32], other[48], mark[9];
    int fd, first;

    snprintf(usual, sizeof usual, LEDGER_FOLDER "%lu", (unsigned long)l->uid);
    first = mkdirat(dir, usual, 0755) ? errno : 0;
    fd = open_own(l, dir, usual);
    if (fd >= 0) {
        l->folder = strdup(usual);
        return fd;
    }
    if (first != EEXIST) {
        errno = first;
        return -1;
    }
    fd = open_renamed(l, dir, usual);
    if (fd >= 0)
        return fd;
    add_mark(mark);
    snprintf(other, sizeof other, "%s.%s", usual, mark);
    if (mkdirat(dir, other, 0755))
        return -1;
    fd = open_own(l, dir, other);
    if (fd >= 0)
        l->folder = strdup(other);
    return fd;
}

int ledger_own_folder(struct hrun_ledger *l, struct hrun_error *err)
{
    int dir, saved = errno, rc = 0;

    if (l->folder_fd >= 0)
        return 0;
    dir = open(l->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return hrun_fail_errno(err, HRUN_EIO, "cannot open the ledger '%s'", l->dir);
    l->folder_fd = find_folder(l, dir);
    if (l->folder_fd < 0)
        rc = hrun_fail_errno(err, HRUN_EIO, "cannot make a folder of one's own in the ledger '%s'", l->dir);
    else if (!l->folder)
        rc = hrun_fail_nomem(err);
    if (rc && l->folder_fd >= 0) {
        close(l->folder_fd);
        l->folder_fd = -1;
    }
    close(dir);
    errno = saved;
    return rc;
}

/* ---------------------------------------------------------------- entries */

/* Over NFS what is written is seen by others once it is on the server. */
static int sync_over_nfs(int fd)
{
    struct statfs fs;

    return fstatfs(fd, &fs) == 0 && fs.f_type == NFS_SUPER_MAGIC ? fsync(fd) : 0;
}

/* Until it is locked nobody else can open it. */
static int fill(int fd, const char *text, size_t len)
{
    return hrun_write_all(fd, text, len) || set_lock(fd, F_WRLCK, LEDGER_BYTE_LIVE, 2) || sync_over_nfs(fd) ||
           fchmod(fd, 0644) ? -1 : 0;
}

int ledger_put(struct hrun_ledger *l, const char *text, size_t len, struct ledger_file *out, struct hrun_error *err)
{
    char made[128], mark[9];
    struct ledger_file f = { .fd = -1 };
    int saved = errno;

    if (ledger_own_folder(l, err))
        return -1;
    add_mark(mark);
    snprintf(made, sizeof made, LEDGER_NEW "%s-%ld-%s", l->host, l->pid, mark);
    snprintf(f.name, sizeof f.name, LEDGER_ENTRY "%s-%ld-%s", l->host, l->pid, mark);
    f.fd = openat(l->folder_fd, made, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (f.fd < 0 || fill(f.fd, text, len) || renameat(l->folder_fd, made, l->folder_fd, f.name)) {
        hrun_fail_errno(err, HRUN_EIO, "cannot enter anything in the ledger '%s/%s'", l->dir, l->folder);
        if (f.fd >= 0) {
            unlinkat(l->folder_fd, made, 0);
            close(f.fd);
        }
        errno = saved;
        return -1;
    }
    *out = f;
    errno = saved;
    return 0;
}

void ledger_remove(struct hrun_ledger *l, struct ledger_file *f)
{
    int saved = errno;

    if (f->fd >= 0) {
        unlinkat(l->folder_fd, f->name, 0);
        close(f->fd);
    }
    free(f->text);
    *f = (struct ledger_file){ .fd = -1 };
    errno = saved;
}

int64_t ledger_now(struct hrun_ledger *l)
{
    char name[128], mark[9];
    struct stat st;
    int64_t now = -1;
    int fd;

    if (ledger_own_folder(l, NULL))
        return -1;
    add_mark(mark);
    snprintf(name, sizeof name, LEDGER_NEW "%s-%ld-%s", l->host, l->pid, mark);
    fd = openat(l->folder_fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    if (!fstat(fd, &st))
        now = (int64_t)st.st_mtime;
    unlinkat(l->folder_fd, name, 0);
    close(fd);
    return now;
}
