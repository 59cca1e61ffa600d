/* ledger.c - claims and the queue; see ledger.h for what they guarantee and why */
#include "ledger/internal.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* A claim that is in the way and comes later is waited for, 1 ms at first and then twice as long each time: about 0.1 s
 * in all, in which it reads the ledger many times over and withdraws. */
enum { ROUNDS = 7 };
/* Who has just looked chooses by what was seen; it need not be asked again before something is claimed. */
static const double FRESH_S = 0.02;

int hrun_ledger_open(const char *dir, struct hrun_ledger **out, struct hrun_error *err)
{
    struct hrun_ledger *l;
    struct utsname uts;
    struct stat st;
    int saved = errno;

    if (stat(dir, &st)) {
        hrun_fail_errno(err, errno == ENOENT ? HRUN_ENOENT : HRUN_EIO, "there is no ledger '%s'", dir);
        errno = saved;
        return -1;
    }
    if (!S_ISDIR(st.st_mode))
        return hrun_fail(err, HRUN_EINVAL, "the ledger '%s' is no folder", dir);
    if (st.st_mode & (S_IWGRP | S_IWOTH) && !(st.st_mode & S_ISVTX))
        return hrun_fail(err, HRUN_EINVAL, "the ledger '%s' is not safe: who can write there can remove the entries of "
                         "others; make it sticky (chmod +t '%s')", dir, dir);
    l = calloc(1, sizeof *l);
    if (l)
        l->dir = strdup(dir);
    if (!l || !l->dir) {
        free(l);
        return hrun_fail_nomem(err);
    }
    l->uid = geteuid();
    l->pid = (long)getpid();
    l->folder_fd = l->claim.fd = l->queue.fd = -1;
    snprintf(l->host, sizeof l->host, "%s", uname(&uts) ? "unknown" : uts.nodename);
    for (char *p = l->host; *p; p++)
        if (*p == '/')
            *p = '_';
    *out = l;
    return 0;
}

void hrun_ledger_close(struct hrun_ledger *l)
{
    int saved = errno;

    if (!l)
        return;
    hrun_ledger_withdraw(l);
    hrun_ledger_leave(l);
    if (l->folder_fd >= 0)
        close(l->folder_fd);
    free(l->folder);
    free(l->dir);
    free(l);
    errno = saved;
}

const char *hrun_ledger_dir(const struct hrun_ledger *l)
{
    return l->dir;
}

void hrun_ledger_withdraw(struct hrun_ledger *l)
{
    ledger_remove(l, &l->claim);
    /* Who has had his turn stands behind those who wait. */
    if (l->granted && l->queue.fd < 0)
        l->ticket = 0;
    l->granted = 0;
}

void hrun_ledger_leave(struct hrun_ledger *l)
{
    ledger_remove(l, &l->queue);
}

/* An entry of our own with nothing but what orders it. */
static struct hrun_ledger_entry self(const struct hrun_ledger *l)
{
    return (struct hrun_ledger_entry){ .ticket = l->ticket, .uid = l->uid, .host = (char *)(uintptr_t)l->host,
                                       .pid = l->pid };
}

int hrun_ledger_counts(const struct hrun_ledger *l, const struct hrun_ledger_entry *e)
{
    struct hrun_ledger_entry me = self(l);

    return !e->silent && (e->state != HRUN_LEDGER_WAITS || ledger_order(e, &me) < 0);
}

/* ---------------------------------------------------------------- claiming */

/* What stands in the way of mine: 0 nothing; 1 claims that will withdraw, as they come later; 2 what does not. */
static int in_the_way(const struct hrun_ledger *l, const struct hrun_ledger_list *list,
                      const struct hrun_ledger_entry *mine)
{
    struct hrun_ledger_entry me = self(l);
    int worst = 0;

    for (int i = 0; i < list->n && worst < 2; i++) {
        const struct hrun_ledger_entry *e = &list->v[i];

        if (!hrun_ledger_counts(l, e) || !ledger_meet(mine, e))
            continue;
        worst = e->state == HRUN_LEDGER_CLAIMS && ledger_order(&me, e) < 0 ? 1 : 2;
    }
    return worst;
}

static void sleep_ms(long ms)
{
    struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

    nanosleep(&t, NULL);
}

/* The claim is in place: look until it is clear whether it is granted. As hrun_ledger_claim; *seen is replaced. */
static int settle_claim(struct hrun_ledger *l, const struct hrun_ledger_entry *mine, struct hrun_ledger_list *seen,
                        struct hrun_error *err)
{
    int way = 1;

    for (int round = 0; round <= ROUNDS && way == 1; round++) {
        if (round)
            sleep_ms(1L << (round - 1));
        hrun_ledger_list_release(seen);
        if (hrun_ledger_read(l, seen, err))
            return -1;
        way = in_the_way(l, seen, mine);
    }
    if (way)
        return 0;
    if (ledger_grant(l->claim.fd))
        return hrun_fail_errno(err, HRUN_EIO, "cannot unlock an entry of the ledger '%s'", l->dir);
    l->granted = 1;
    return 1;
}

/* An entry as others will read it, and its text. 0, or -1 with *err. */
static int make_entry(const struct hrun_ledger *l, const struct hrun_ledger_entry *e, int waits, struct hrun_buf *text,
                      struct hrun_ledger_entry *as_read, struct hrun_error *err)
{
    struct hrun_ledger_entry whole = *e;
    char *copy;
    int rc;

    whole.host = (char *)(uintptr_t)l->host;
    whole.pid = l->pid;
    ledger_print(&whole, waits, l->ticket, text);
    if (text->len > HRUN_LEDGER_BYTES || e->nuses > HRUN_LEDGER_USES)
        return hrun_fail(err, HRUN_EINVAL, "an entry of %d hosts is too large for the ledger '%s'", e->nuses, l->dir);
    copy = text->failed ? NULL : strdup(text->data);
    rc = copy ? ledger_parse(copy, text->len, e->nuses, as_read) : -1;
    free(copy);
    if (rc < 0)
        return hrun_fail_nomem(err);
    return rc ? hrun_fail(err, HRUN_EINVAL, "an entry that cannot be read again: a host or its PUs have no name") : 0;
}

/* The first look at the ledger gives the ticket. */
static int need_ticket(struct hrun_ledger *l, struct hrun_error *err)
{
    struct hrun_ledger_list list = { 0 };

    if (l->ticket)
        return 0;
    if (hrun_ledger_read(l, &list, err))
        return -1;
    hrun_ledger_list_release(&list);
    return 0;
}

/* Claim mine, of which text tells. What is plainly in use is not claimed: it would only hold up others who look just
 * then. As hrun_ledger_claim; *seen is empty before. */
static int try_claim(struct hrun_ledger *l, const struct hrun_ledger_entry *mine, const struct hrun_buf *text,
                     struct hrun_ledger_list *seen, struct hrun_error *err)
{
    int rc;

    if (!l->looked_s || hrun_monotonic_s() - l->looked_s > FRESH_S) {
        if (hrun_ledger_read(l, seen, err))
            return -1;
        if (in_the_way(l, seen, mine) == 2)
            return 0;
    }
    l->looked_s = 0;
    if (ledger_put(l, text->data, text->len, &l->claim, err))
        return -1;
    rc = settle_claim(l, mine, seen, err);
    if (rc <= 0)
        hrun_ledger_withdraw(l);
    return rc;
}

int hrun_ledger_claim(struct hrun_ledger *l, const struct hrun_ledger_entry *e, struct hrun_ledger_list *seen,
                      struct hrun_error *err)
{
    struct hrun_ledger_entry mine = { 0 };
    struct hrun_ledger_list found = { 0 };
    struct hrun_buf text = HRUN_BUF_INIT;
    int rc = -1;

    if (l->claim.fd >= 0)
        return hrun_fail(err, HRUN_EINVAL, "something is claimed in the ledger '%s' already", l->dir);
    if (!need_ticket(l, err) && !make_entry(l, e, 0, &text, &mine, err))
        rc = try_claim(l, &mine, &text, &found, err);
    if (!rc && seen) {
        hrun_ledger_list_release(seen);
        *seen = found;
    } else {
        hrun_ledger_list_release(&found);
    }
    ledger_entry_release(&mine);
    hrun_buf_release(&text);
    return rc;
}

/* ---------------------------------------------------------------- waiting */

int hrun_ledger_queue(struct hrun_ledger *l, const struct hrun_ledger_entry *e, struct hrun_error *err)
{
    struct hrun_ledger_entry mine = { 0 };
    struct hrun_buf text = HRUN_BUF_INIT;
    struct ledger_file old = l->queue, made;
    int rc = -1;

    if (need_ticket(l, err) || make_entry(l, e, 1, &text, &mine, err))
        goto done;
    if (old.fd >= 0 && !strcmp(old.text, text.data)) {
        rc = futimens(old.fd, NULL) ? hrun_fail_errno(err, HRUN_EIO, "cannot touch an entry of the ledger '%s'", l->dir)
                                    : 0;
        goto done;
    }
    /* The new one is in place before the old one goes: the turn is kept. */
    if (ledger_put(l, text.data, text.len, &made, err))
        goto done;
    made.text = hrun_buf_detach(&text);
    l->queue = made;
    ledger_remove(l, &old);
    rc = 0;
done:
    ledger_entry_release(&mine);
    hrun_buf_release(&text);
    return rc;
}

void hrun_ledger_user(uid_t uid, struct hrun_buf *out)
{
    long room = sysconf(_SC_GETPW_R_SIZE_MAX);
    size_t size = room > 0 ? (size_t)room : 16384;
    char *text = malloc(size);
    struct passwd pw, *found = NULL;
    int saved = errno;

    if (text && !getpwuid_r(uid, &pw, text, size, &found) && found)
        hrun_buf_adds(out, pw.pw_name);
    else
        hrun_buf_addf(out, "uid %lu", (unsigned long)uid);
    free(text);
    errno = saved;
}
