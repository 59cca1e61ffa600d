/* ledger.c - advisory locks on PUs; see ledger.h for the format of the locks */
#include "cluster/ledger.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/list.h"
#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

static const char LOCKS[] = "hrun.locks", TEXT[] = "hrun-%04lx";

/* Token NAMELESS: no hrun-XXXX. A text of 10,000 hosts has some 400 KiB. A queue longer than PLACES is not joined. */
enum { UNIT_BITS = 14, TOKEN_BITS = 16, NAMELESS = (1 << TOKEN_BITS) - 2, TEXT_MAX = 1 << 20, SLOTS = 64,
       PLACES = 1024 };

/* Limits of the processor time of reading. A lock operation takes 1 us; with 20,000 other locks, 0.3 ms. */
static const double READ_S = 0.02, READ_HOST_S = 2e-5, READ_ALL_S = 1;

/* PUs of a host, as unit numbers over all hosts. */
struct pu_range {
    off_t first, last;
    const char *host;
};

struct hrun_ledger {
    char *dir, host[65];
    int folder, locks, queue, text; /* descriptors: the folder; LOCKS, for PUs and for places; the own text; -1: none */
    long token;
    int place;                  /* in the queue, -1: none */
    struct pu_range *wanted;       /* nwanted ranges to lock or wait for next */
    int nwanted, wanted_cap;
    double stop_s;              /* time of the processor clock at which reading fails */
};

/* ---------------------------------------------------------------- offsets */

/* A hash of 33 bits of a name, equal with and without the domain. Not 0: host 0 has all taken places. */
static off_t host_key(const char *name)
{
    size_t n = name[strspn(name, "0123456789.")] ? strcspn(name, ".") : strlen(name);
    uint64_t h = HRUN_HASH_INIT;

    for (size_t i = 0; i < n; i++)
        h = hrun_hash(h, &(char){ (char)tolower((unsigned char)name[i]) }, 1);
    h = (h ^ h >> 33) & 0x1ffffffff;
    return (off_t)(h ? h : 1);
}

/* The number of a unit over all hosts; the offset of a unit. */
static off_t unit_number(off_t key, long unit)
{
    return (key << UNIT_BITS) + unit;
}

static off_t unit_offset(off_t key, long unit)
{
    return unit_number(key, unit) << TOKEN_BITS;
}

static int unit_of(off_t offset)
{
    return (int)(offset >> TOKEN_BITS & ((1 << UNIT_BITS) - 1));
}

/* Lock units. 1: done; 0: another process has one of them; -1 with errno. */
static int lock_units(const struct hrun_ledger *l, int fd, off_t first, off_t last)
{
    struct flock lk = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = first << TOKEN_BITS,
                        .l_len = ((last - first) << TOKEN_BITS) + l->token + 1 };

    return !fcntl(fd, F_OFD_SETLK, &lk) ? 1 : errno == EAGAIN || errno == EACCES ? 0 : -1;
}

static void unlock_all(int fd)
{
    struct flock all = { .l_type = F_UNLCK, .l_whence = SEEK_SET };

    if (fd >= 0)
        fcntl(fd, F_OFD_SETLK, &all);
}

/* ---------------------------------------------------------------- files */

/* Open a plain file of the folder's file system without waiting. Opening a special file could block. */
static int open_plain(const struct hrun_ledger *l, const char *name, int flags, struct stat *st)
{
    struct stat folder;
    int fd;

    errno = 0;
    if (fstat(l->folder, &folder) || fstatat(l->folder, name, st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT))
        return -1;
    fd = S_ISREG(st->st_mode) && st->st_dev == folder.st_dev
         ? openat(l->folder, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
    if (fd >= 0 && (fstat(fd, st) || !S_ISREG(st->st_mode))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Open LOCKS into *fd, unless *fd is open. Result: 1; 0: there is no LOCKS, and make is 0; -1 with *err. */
static int open_locks(const struct hrun_ledger *l, int make, int *fd, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf who = HRUN_BUF_INIT;
    struct stat st = { 0 };
    char made[64];
    int new, rc = 0;

    if (*fd >= 0)
        return 1;
    *fd = open_plain(l, LOCKS, O_RDWR, &st);
    if (*fd < 0 && errno == ENOENT) {
        if (!make)
            return 0;
        /* Make the file under another name, so that LOCKS appears with its final permissions. EEXIST: another process
         * was first. */
        snprintf(made, sizeof made, "%s.%ld", LOCKS, (long)getpid());
        new = openat(l->folder, made, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (new < 0 || fstat(l->folder, &st) || fchmod(new, st.st_mode & (S_IWGRP | S_IWOTH) ? 0666 : 0600) ||
            (linkat(l->folder, made, l->folder, LOCKS, 0) && errno != EEXIST))
            rc = hrun_fail_errno(err, HRUN_EIO, "cannot make %s/%s", l->dir, LOCKS);
        if (new >= 0) {
            unlinkat(l->folder, made, 0);
            close(new);
        }
        if (rc)
            return rc;
        *fd = open_plain(l, LOCKS, O_RDWR, &st);
    }
    if (*fd >= 0)
        return 1;
    if (errno && errno != EACCES && errno != ELOOP)
        return hrun_fail_errno(err, HRUN_EIO, "cannot open %s/%s", l->dir, LOCKS);
    hrun_ledger_user(l, st.st_uid, &who);
    return hrun_fail(err, HRUN_EIO, "%s/%s, which belongs to %s, is not a plain file that all can write", l->dir,
                     LOCKS, who.data);
}

/* Open this process's text. A file left by a killed process of this user, whose lock on the first byte has ended, is
 * reused. If no slot is free, the process has no name. */
static void open_holder_text(struct hrun_ledger *l)
{
    struct flock lk = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
    struct stat st;
    char name[32];

    for (int i = 0; i < SLOTS && l->text < 0; i++) {
        l->token = ((long)geteuid() * 40503 + i) % NAMELESS;
        snprintf(name, sizeof name, TEXT, l->token);
        l->text = openat(l->folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
        if (l->text < 0 && errno != EEXIST)
            break;
        if (l->text < 0)
            l->text = open_plain(l, name, O_RDWR, &st);
        if (l->text >= 0 && (fcntl(l->text, F_OFD_SETLK, &lk) || fstat(l->text, &st) || st.st_uid != geteuid() ||
                             !st.st_nlink || fchmod(l->text, 0644))) {
            close(l->text);
            l->text = -1;
        }
    }
    if (l->text < 0)
        l->token = NAMELESS;
}

/* Write this process's text. A failure is ignored: the locks are valid without the text. */
static void write_holder_text(struct hrun_ledger *l, const struct hrun_ledger_holder *as)
{
    autorelease(hrun_buf_release) struct hrun_buf pus = HRUN_BUF_INIT;
    json_t *root, *uses = json_array();
    struct statfs fs;
    autofree char *text = NULL;
    char *to, *from;

    if (l->text < 0)
        open_holder_text(l);
    for (int i = 0; i < l->nwanted; i++) {
        const struct pu_range *r = &l->wanted[i];

        hrun_range_add(&pus, 0, (long)(r->first % (1 << UNIT_BITS)), (long)(r->last % (1 << UNIT_BITS)));
        if (i + 1 == l->nwanted || r[1].host != r->host) {
            json_array_append_new(uses, json_pack("[s, s]", r->host, pus.data));
            hrun_buf_reset(&pus);
        }
    }
    root = json_pack("{s:I, s:I, s:I, s:I, s:s, s:s, s:s, s:o}", "pid", (json_int_t)getpid(), "since", as->since_s,
                     "until", as->end_s, "N", as->N, "host", l->host, "app", as->app, "program", as->program, "uses",
                     uses);
    text = to = from = root ? json_dumps(root, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
    /* Replace escaped characters by '?'. */
    while (from && *from)
        if (*from == '\\') {
            from += from[1] == 'u' ? 6 : 2;
            *to++ = '?';
        } else {
            *to++ = *from++;
        }
    /* Over NFS other hosts see the text only when it is on the server. */
    if (l->text >= 0 && text && pwrite(l->text, text, (size_t)(to - text), 0) > 0 && !ftruncate(l->text, to - text) &&
        !fstatfs(l->text, &fs) && fs.f_type == NFS_SUPER_MAGIC)
        fsync(l->text);
    json_decref(root);
}

/* Fill *h from the text of token h->token. Without a valid text the holder has no name. The end of a longer, older text
 * may follow for a moment. */
static void read_holder_text(const struct hrun_ledger *l, struct hrun_ledger_holder *h)
{
    struct stat st;
    char name[32];
    autofree char *text = NULL;
    json_t *root = NULL, *uses;
    ssize_t len = -1;
    int fd;

    snprintf(name, sizeof name, TEXT, h->token);
    fd = h->token < NAMELESS ? open_plain(l, name, O_RDONLY, &st) : -1;
    text = fd >= 0 && st.st_size <= TEXT_MAX ? xmalloc((size_t)st.st_size + 4096) : NULL;
    if (text)
        len = pread(fd, text, (size_t)st.st_size + 4096, 0);
    for (ssize_t i = 0; i < len; i++)
        if (text[i] < ' ' || text[i] > '~' || text[i] == '\\')
            len = -1;
    if (len > 0)
        root = json_loadb(text, (size_t)len, JSON_DISABLE_EOF_CHECK, NULL);
    if (root && !json_unpack(root, "{s:I, s:I, s:I, s:I, s:s, s:s, s:s, s:o}", "pid", &h->pid, "since",
                             &h->since_s, "until", &h->end_s, "N", &h->N, "host", &h->host, "app", &h->app, "program",
                             &h->program, "uses", &uses)) {
        h->text = root;
        h->uid = st.st_uid;
        h->silent = h->waits && time(NULL) - st.st_mtime > HRUN_LEDGER_SILENT_S;
    } else {
        json_decref(root);
        h->host = h->app = h->program = "";
        h->pid = h->since_s = h->end_s = h->N = 0;
    }
    if (fd >= 0)
        close(fd);
}

/* ---------------------------------------------------------------- opening */

int hrun_ledger_open(const char *dir, struct hrun_ledger **out, struct hrun_error *err)
{
    struct hrun_ledger *l;
    struct utsname uts;
    struct stat st;

    if (stat(dir, &st))
        return hrun_fail_errno(err, errno == ENOENT ? HRUN_ENOENT : HRUN_EIO, "there is no ledger '%s'", dir);
    if (!S_ISDIR(st.st_mode))
        return hrun_fail(err, HRUN_EINVAL, "the ledger '%s' is no folder", dir);
    if (st.st_mode & (S_IWGRP | S_IWOTH) && !(st.st_mode & S_ISVTX))
        return hrun_fail(err, HRUN_EINVAL, "the ledger '%s' is not safe: who can write there can remove the files of "
                         "others; make it sticky (chmod +t '%s')", dir, dir);
    l = xcalloc(1, sizeof *l);
    l->dir = xstrdup(dir);
    l->locks = l->queue = l->text = l->place = -1;
    l->token = NAMELESS;
    snprintf(l->host, sizeof l->host, "%s", uname(&uts) ? "unknown" : uts.nodename);
    l->folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (l->folder < 0) {
        hrun_fail_errno(err, HRUN_EIO, "cannot open the ledger '%s'", dir);
        hrun_ledger_close(l);
        return -1;
    }
    *out = l;
    return 0;
}

void hrun_ledger_close(struct hrun_ledger *l)
{
    char name[32];

    if (!l)
        return;
    if (l->queue >= 0)
        close(l->queue);
    if (l->locks >= 0)
        close(l->locks);
    if (l->text >= 0) {
        snprintf(name, sizeof name, TEXT, l->token);
        unlinkat(l->folder, name, 0);
        close(l->text);
    }
    if (l->folder >= 0)
        close(l->folder);
    free(l->wanted);
    free(l->dir);
    free(l);
}

const char *hrun_ledger_dir(const struct hrun_ledger *l)
{
    return l->dir;
}

/* ---------------------------------------------------------------- reading */

/* Add a lock of another process. host: index in the caller's list of hosts. */
static void add_hold(struct hrun_ledger *l, const struct flock *lk, int host, struct hrun_ledger_list *out)
{
    off_t end = lk->l_len ? lk->l_start + lk->l_len - 1 : INT64_MAX;
    int first = unit_of(lk->l_start);
    struct hrun_ledger_holder h = { .token = end & ((1 << TOKEN_BITS) - 1), .uid = (uid_t)-1,
                                    .waits = first >= HRUN_LEDGER_PUS, .place = first % HRUN_LEDGER_PUS };
    int k = 0, last = end >> (UNIT_BITS + TOKEN_BITS) == lk->l_start >> (UNIT_BITS + TOKEN_BITS) ? unit_of(end)
                      : (1 << UNIT_BITS) - 1;
    struct stat st;
    char path[32];

    while (k < out->nholders && (out->holders[k].token != h.token || out->holders[k].waits != h.waits))
        k++;
    if (k == out->nholders) {
        read_holder_text(l, &h);
        snprintf(path, sizeof path, "/proc/%ld", (long)lk->l_pid);
        if (!h.text && lk->l_pid > 0 && !stat(path, &st))
            h.uid = st.st_uid;
        hrun_grow(out->holders, k + 1, out->holders_cap);
        out->holders[out->nholders++] = h;
    }
    hrun_grow(out->holds, out->nholds + 1, out->holds_cap);
    out->holds[out->nholds++] = (struct hrun_ledger_hold){ host, first, last, k };
}

/* Find all locks of others in [from, to), two offsets of units. The kernel returns any one of several locks. 0,
 * or -1 with errno; ETIME: the time limit is exceeded. */
static int find_holds(struct hrun_ledger *l, int fd, off_t from, off_t to, int host, struct hrun_ledger_list *out)
{
    const off_t unit = (off_t)1 << TOKEN_BITS;

    while (from < to) {
        struct flock lk = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = from, .l_len = to - from };
        off_t start, end;

        if (hrun_thread_cpu_s() > l->stop_s) {
            errno = ETIME;
            return -1;
        }
        if (fcntl(fd, F_OFD_GETLK, &lk))
            return -1;
        if (lk.l_type == F_UNLCK)
            return 0;
        start = lk.l_start & -unit;
        end = lk.l_len ? ((lk.l_start + lk.l_len - 1) | (unit - 1)) : INT64_MAX;
        add_hold(l, &lk, host, out);
        if (start > from && find_holds(l, fd, from, start, host, out))
            return -1;
        if (end >= to - 1)
            break;
        from = end + 1;
    }
    return 0;
}

int hrun_ledger_read(struct hrun_ledger *l, char *const *hosts, int n, struct hrun_ledger_list *out,
                     struct hrun_error *err)
{
    int rc = open_locks(l, 0, &l->locks, err), before = l->place < 0 ? HRUN_LEDGER_PUS : l->place;

    memset(out, 0, sizeof *out);
    if (rc <= 0)
        return rc;
    l->stop_s = hrun_thread_cpu_s() + (hosts ? READ_S + n * READ_HOST_S : READ_ALL_S);
    rc = hosts ? 0 : find_holds(l, l->locks, unit_offset(1, 0), INT64_MAX, 0, out);
    for (int h = 0; h < n && !rc; h++) {
        off_t key = host_key(hosts[h]);

        rc = find_holds(l, l->locks, unit_offset(key, 0), unit_offset(key, HRUN_LEDGER_PUS), h, out) ||
             find_holds(l, l->queue < 0 ? l->locks : l->queue, unit_offset(key, HRUN_LEDGER_PUS),
                        unit_offset(key, HRUN_LEDGER_PUS + before), h, out);
    }
    if (rc && errno == ETIME)
        return hrun_fail(err, HRUN_EIO, "reading the locks of %s/%s takes too long, there are too many; fuser -v shows "
                         "who has them", l->dir, LOCKS);
    return rc ? hrun_fail_errno(err, HRUN_EIO, "cannot read the locks of %s/%s", l->dir, LOCKS) : 0;
}

void hrun_ledger_list_release(struct hrun_ledger_list *list)
{
    for (int k = 0; k < list->nholders; k++)
        json_decref(list->holders[k].text);
    free(list->holders);
    free(list->holds);
    memset(list, 0, sizeof *list);
}

/* ---------------------------------------------------------------- locking */

void hrun_ledger_want(struct hrun_ledger *l, const char *host, const char *pus)
{
    const off_t key = host_key(host);
    long first, last;

    for (const char *p = pus; (p = hrun_range_next(p, HRUN_LEDGER_PUS - 1, &first, &last)); p++) {
        hrun_grow(l->wanted, l->nwanted + 1, l->wanted_cap);
        l->wanted[l->nwanted++] = (struct pu_range){ unit_number(key, first), unit_number(key, last), host };
        if (*p != ',')
            break;
    }
}

static int by_first(const void *a, const void *b)
{
    const struct pu_range *x = a, *y = b;

    return (x->first > y->first) - (x->first < y->first);
}

/* Sort the wanted ranges, and join adjacent ones. */
static void join_wanted(struct hrun_ledger *l)
{
    int n = 0;

    if (l->nwanted)
        qsort(l->wanted, (size_t)l->nwanted, sizeof *l->wanted, by_first);
    for (int i = 0; i < l->nwanted; i++)
        if (n && l->wanted[i].first <= l->wanted[n - 1].last + 1)
            l->wanted[n - 1].last = l->wanted[i].last > l->wanted[n - 1].last ? l->wanted[i].last
                                    : l->wanted[n - 1].last;
        else
            l->wanted[n++] = l->wanted[i];
    l->nwanted = n;
}

int hrun_ledger_lock(struct hrun_ledger *l, const struct hrun_ledger_holder *as, struct hrun_error *err)
{
    int rc = open_locks(l, 1, &l->locks, err);

    join_wanted(l);
    if (rc > 0)
        write_holder_text(l, as);
    for (int i = 0; i < l->nwanted && rc > 0; i++)
        if ((rc = lock_units(l, l->locks, l->wanted[i].first, l->wanted[i].last)) < 0)
            hrun_fail_errno(err, HRUN_EIO, "cannot lock PUs in %s/%s", l->dir, LOCKS);
    if (rc < 1)
        unlock_all(l->locks);
    l->nwanted = 0;
    return rc;
}

void hrun_ledger_unlock(struct hrun_ledger *l)
{
    unlock_all(l->locks);
    l->nwanted = 0;
}

/* Take the place after the last taken place. A lock on host 0 marks a place as taken. */
static void take_place(struct hrun_ledger *l)
{
    int place = 0;

    for (int i = 0; i < PLACES && place < HRUN_LEDGER_PUS && l->place < 0; i++) {
        struct flock lk = { .l_type = F_WRLCK, .l_whence = SEEK_SET,
                            .l_start = unit_offset(0, HRUN_LEDGER_PUS + place) };

        lk.l_len = unit_offset(1, 0) - lk.l_start;
        if (fcntl(l->queue, F_OFD_GETLK, &lk))
            return;
        if (lk.l_type != F_UNLCK)
            place = lk.l_len && lk.l_start + lk.l_len < unit_offset(1, 0)
                    ? unit_of(lk.l_start + lk.l_len - 1) % HRUN_LEDGER_PUS + 1 : HRUN_LEDGER_PUS;
        else if (lock_units(l, l->queue, HRUN_LEDGER_PUS + place, HRUN_LEDGER_PUS + place) > 0)
            l->place = place;
    }
}

int hrun_ledger_queue(struct hrun_ledger *l, const struct hrun_ledger_holder *as, struct hrun_error *err)
{
    struct flock hosts = { .l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = unit_offset(1, 0) };
    int rc = open_locks(l, 1, &l->queue, err);

    join_wanted(l);
    if (rc > 0) {
        write_holder_text(l, as);
        if (l->place < 0)
            take_place(l);
        fcntl(l->queue, F_OFD_SETLK, &hosts);
    }
    for (int i = 0; i < l->nwanted && rc > 0 && l->place >= 0; i++) {
        off_t place = unit_number(l->wanted[i].first >> UNIT_BITS, HRUN_LEDGER_PUS + l->place);

        lock_units(l, l->queue, place, place);
    }
    l->nwanted = 0;
    return rc > 0 ? 0 : -1;
}

void hrun_ledger_leave(struct hrun_ledger *l)
{
    unlock_all(l->queue);
    l->place = -1;
}

void hrun_ledger_user(const struct hrun_ledger *l, uid_t uid, struct hrun_buf *out)
{
    struct passwd pw, *found = NULL;
    char text[16384];

    if (uid == (uid_t)-1)
        hrun_buf_addf(out, "a user without a name (fuser -v %s/%s)", l->dir, LOCKS);
    else if (!getpwuid_r(uid, &pw, text, sizeof text, &found) && found)
        hrun_buf_adds(out, found->pw_name);
    else
        hrun_buf_addf(out, "uid %lu", (unsigned long)uid);
}
