/* read.c - reading the entries of all users; see ledger.h for what is looked at and what is not */
#include "ledger/internal.h"

#include "base/units.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <search.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Within so many seconds of this host's clock an entry was touched now: the clock of the file system need not be asked
 * for, which takes a file of our own. */
enum { FRESH_S = 10 };

/* What may yet be read of one user, in all his folders. */
struct budget {
    uid_t uid;
    int names, uses;
    off_t bytes;
};

struct reading {
    struct hrun_ledger *l;
    struct hrun_ledger_list list;
    void *budgets;              /* a tree (plan/internal.h) of struct budget by user */
    dev_t dev;                  /* of the ledger */
    int64_t now_s;              /* by the clock of the file system; 0: not asked yet, -1: not known */
    int sys;                    /* errno of what has failed: who does not see all must not choose */
};

/* Something could not be looked at. That it is not there any more, or that its owner keeps others from it (by a lease:
 * EAGAIN; by encryption: ENOKEY), is no failure. */
static void note_failure(struct reading *r, int sys)
{
    static const int harmless[] = { 0, ENOENT, EACCES, EPERM, ELOOP, ENOTDIR, ENXIO, ENODEV, ESTALE, EAGAIN, ENOKEY };

    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        if (sys == harmless[i])
            return;
    r->sys = sys;
}

/* ---------------------------------------------------------------- one entry */

/* Was a waiting run stopped? */
static int is_silent(struct reading *r, const struct stat *st)
{
    int64_t touched = (int64_t)st->st_mtime, here = (int64_t)time(NULL);

    if (touched > here - FRESH_S && touched < here + FRESH_S)
        return 0;
    if (!r->now_s)
        r->now_s = ledger_now(r->l);
    return (r->now_s < 0 ? here : r->now_s) - touched > HRUN_LEDGER_SILENT_S;
}

static int keep(struct reading *r, const struct hrun_ledger_entry *e)
{
    struct hrun_ledger_list *list = &r->list;
    struct hrun_ledger_entry *grown;

    if (!(list->n & (list->n - 1))) {
        grown = realloc(list->v, (list->n ? (size_t)list->n * 2 : 1) * sizeof *grown);
        if (!grown) {
            r->sys = ENOMEM;
            return -1;
        }
        list->v = grown;
    }
    list->v[list->n++] = *e;
    return 0;
}

/* Read fd whole; NULL with errno where that fails. */
static char *slurp(int fd, size_t size)
{
    char *text = malloc(size + 1);
    size_t have = 0;
    ssize_t n = 1;

    while (text && have < size && n) {
        n = read(fd, text + have, size - have);
        if (n < 0 && errno != EINTR) {
            free(text);
            return NULL;
        }
        have += n > 0 ? (size_t)n : 0;
    }
    if (text)
        memset(text + have, 0, size + 1 - have);
    return text;
}

static void read_text(struct reading *r, int fd, const struct stat *st, int pending, struct budget *left)
{
    struct hrun_ledger_entry e = { .uid = st->st_uid };
    char *text = slurp(fd, (size_t)st->st_size);
    int rc;

    if (!text) {
        note_failure(r, errno);
        return;
    }
    rc = ledger_parse(text, (size_t)st->st_size, left->uses, &e);
    free(text);
    if (rc < 0)
        r->sys = ENOMEM;
    if (rc) {
        r->list.skipped++;
        return;
    }
    left->uses -= e.nuses;
    e.uid = st->st_uid;
    if (e.state == HRUN_LEDGER_RUNS && pending)
        e.state = HRUN_LEDGER_CLAIMS;
    e.silent = e.state == HRUN_LEDGER_WAITS && is_silent(r, st);
    if (keep(r, &e))
        ledger_entry_release(&e);
}

/* The file name in a user's folder. */
static void read_file(struct reading *r, int dir, const char *name, struct budget *left)
{
    struct stat st;
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), live, pending;

    if (fd < 0) {
        note_failure(r, errno);
        return;
    }
    /* That a file has other names is no fault: another user may have made them. */
    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != left->uid) {
        r->list.skipped++;
        close(fd);
        return;
    }
    live = ledger_is_locked(fd, LEDGER_BYTE_LIVE);
    pending = live > 0 ? ledger_is_locked(fd, LEDGER_BYTE_PENDING) : 0;
    if (live < 0 || pending < 0) {
        note_failure(r, errno);
    } else if (!live) {
        if (left->uid == r->l->uid)
            unlinkat(dir, name, 0);
    } else if (st.st_size > HRUN_LEDGER_BYTES || st.st_size > left->bytes) {
        r->list.skipped++;
    } else {
        left->bytes -= st.st_size;
        read_text(r, fd, &st, pending, left);
    }
    close(fd);
}

/* What a process of this user and host that is gone had begun to write. */
static void sweep(const struct reading *r, int dir, const char *name)
{
    const char *p = name + strlen(LEDGER_NEW);
    size_t len = strlen(r->l->host);
    long pid;

    if (strncmp(p, r->l->host, len) || p[len] != '-')
        return;
    pid = strtol(p + len + 1, NULL, 10);
    if (pid > 0 && pid <= INT_MAX && kill((pid_t)pid, 0) && errno == ESRCH)
        unlinkat(dir, name, 0);
}

/* ---------------------------------------------------------------- one user */

static int begins(const char *name, const char *with)
{
    return !strncmp(name, with, strlen(with));
}

static struct dirent *next_name(struct reading *r, DIR *list)
{
    struct dirent *e;

    errno = 0;
    e = readdir(list);
    if (!e && errno)
        note_failure(r, errno);
    return e;
}

static void read_folder(struct reading *r, int fd, struct budget *left)
{
    const struct hrun_ledger *l = r->l;
    int own = left->uid == l->uid;
    DIR *list = fdopendir(fd);
    struct dirent *e;

    if (!list) {
        note_failure(r, errno);
        close(fd);
        return;
    }
    /* Of this user's own folder all is read, as what is dead is removed there. */
    while (!r->sys && (e = next_name(r, list))) {
        if (!own && --left->names < 0) {
            r->list.skipped++;
            break;
        }
        if (own && begins(e->d_name, LEDGER_NEW))
            sweep(r, fd, e->d_name);
        if (begins(e->d_name, LEDGER_ENTRY) && (e->d_type == DT_REG || e->d_type == DT_UNKNOWN) &&
            !(own && (!strcmp(e->d_name, l->claim.name) || !strcmp(e->d_name, l->queue.name))))
            read_file(r, fd, e->d_name, left);
    }
    closedir(list);
}

/* hrun-UID, or hrun-UID.XXXXXX. */
static int folder_uid(const char *name, uid_t *uid)
{
    unsigned long n;
    char *end;

    if (!begins(name, LEDGER_FOLDER) || !isdigit((unsigned char)name[strlen(LEDGER_FOLDER)]))
        return -1;
    errno = 0;
    n = strtoul(name + strlen(LEDGER_FOLDER), &end, 10);
    *uid = (uid_t)n;
    return errno || *uid != n || (*end && *end != '.') ? -1 : 0;
}

static int by_uid(const void *a, const void *b)
{
    uid_t x = ((const struct budget *)a)->uid, y = ((const struct budget *)b)->uid;

    return (x > y) - (x < y);
}

/* The budget of a user of whom a folder was found. NULL: no memory. */
static struct budget *new_budget(struct reading *r, uid_t uid)
{
    struct budget *b = malloc(sizeof *b);

    if (b)
        *b = (struct budget){ uid, HRUN_LEDGER_FILES, HRUN_LEDGER_USES, 4 * (off_t)HRUN_LEDGER_BYTES };
    if (b && tsearch(b, &r->budgets, by_uid))
        return b;
    free(b);
    r->sys = ENOMEM;
    return NULL;
}

/* A name in the ledger. A folder costs what a file does. */
static void read_user(struct reading *r, int dir, const struct dirent *e)
{
    struct budget key, **found, *left;
    int fd;

    if ((e->d_type != DT_DIR && e->d_type != DT_UNKNOWN) || folder_uid(e->d_name, &key.uid))
        return;
    found = tfind(&key, &r->budgets, by_uid);
    left = found ? *found : NULL;
    if (left && left->names <= 0) {
        r->list.skipped++;
        return;
    }
    fd = ledger_open_folder(dir, e->d_name, key.uid, r->dev);
    if (fd < 0) {
        note_failure(r, errno);
    } else if (!left && !(left = new_budget(r, key.uid))) {
        close(fd);
    } else {
        left->names--;
        read_folder(r, fd, left);
    }
}

/* ---------------------------------------------------------------- all */

static int by_order(const void *a, const void *b)
{
    return ledger_order(a, b);
}

static void take_ticket(struct hrun_ledger *l, const struct hrun_ledger_list *list)
{
    int64_t greatest = 0;

    for (int i = 0; i < list->n; i++)
        if (list->v[i].ticket > greatest)
            greatest = list->v[i].ticket;
    /* Somebody may have made up the greatest that there is: who has it, too, is ordered by user, host, process. */
    l->ticket = greatest < HRUN_COUNT_MAX - 1 ? greatest + 1 : greatest;
}

int hrun_ledger_read(struct hrun_ledger *l, struct hrun_ledger_list *out, struct hrun_error *err)
{
    struct reading r = { .l = l };
    struct stat st;
    struct dirent *e;
    DIR *list;
    int saved = errno;

    list = opendir(l->dir);
    if (!list || fstat(dirfd(list), &st)) {
        hrun_fail_errno(err, HRUN_EIO, "cannot read the ledger '%s'", l->dir);
        if (list)
            closedir(list);
        errno = saved;
        return -1;
    }
    r.dev = st.st_dev;
    while (!r.sys && (e = next_name(&r, list)))
        read_user(&r, dirfd(list), e);
    closedir(list);
    tdestroy(r.budgets, free);
    if (r.sys) {
        hrun_ledger_list_release(&r.list);
        errno = r.sys;
        hrun_fail_errno(err, r.sys == ENOMEM ? HRUN_ENOMEM : HRUN_EIO, "cannot read all of the ledger '%s'", l->dir);
        errno = saved;
        return -1;
    }
    errno = saved;
    if (r.list.n)
        qsort(r.list.v, (size_t)r.list.n, sizeof *r.list.v, by_order);
    if (!l->ticket)
        take_ticket(l, &r.list);
    l->looked_s = hrun_monotonic_s();
    *out = r.list;
    return 0;
}

void hrun_ledger_list_release(struct hrun_ledger_list *list)
{
    for (int i = 0; i < list->n; i++)
        ledger_entry_release(&list->v[i]);
    free(list->v);
    *list = (struct hrun_ledger_list){ .n = 0 };
}
