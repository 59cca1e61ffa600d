/* pes_in_use.c - the PEs that other runs use, and the locks of this run; see pes_in_use.h */
#include "session/pes_in_use.h"

#include "base/alloc.h"
#include "base/list.h"
#include "base/units.h"
#include "launch/procs.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* SITE: a folder or a link to one, made by the administrator of a cluster. HOST: exists on every Linux host. */
static const char SITE[] = "/etc/hrun/ledger", HOST[] = "/run/lock";

/* ---------------------------------------------------------------- the folder */

void ledger_find(const char *from_file, char **dir, int *named, char **why)
{
    const char *env = getenv("HRUN_LEDGER"), *place, *reason = NULL;
    struct stat st;

    *dir = *why = NULL;
    *named = 1;
    place = env && *env ? env : from_file;
    if (!place) {
        *named = 0;
        place = !access(SITE, F_OK) ? SITE
                : !stat(HOST, &st) && S_ISDIR(st.st_mode) && (st.st_mode & S_ISVTX) && !access(HOST, W_OK | X_OK) ? HOST
                : NULL;
        reason = "there is neither /etc/hrun/ledger nor a sticky folder /run/lock to write in";
    } else if (!strcmp(place, "none")) {
        place = NULL;
        reason = env && *env ? "HRUN_LEDGER is none" : "the cluster file says none";
    }
    *(place ? dir : why) = xstrdup(place ? place : reason);
}

/* ---------------------------------------------------------------- opening */

/* Allocate mask (one block in the order of sub-clusters) and first, and set names. */
static void allocate_masks(struct ledger *g, const struct hrun_cluster *cl)
{
    autorelease(hrun_buf_release) struct hrun_buf name = HRUN_BUF_INIT;
    size_t n = 1;

    for (int i = 0; i < cl->nsubs; i++)
        n += (size_t)cl->subs[i].npes;
    g->cluster = cl;
    g->mask = xcalloc((size_t)cl->nsubs + 1, sizeof *g->mask);
    g->mask[0] = xcalloc(n, 1);
    g->first = xcalloc((size_t)cl->nhosts + 1, sizeof *g->first);
    for (int i = 0; i < cl->nsubs; i++)
        g->mask[i + 1] = g->mask[i] + cl->subs[i].npes;
    for (int h = 0; h < cl->nhosts; h++) {
        hrun_host_own_name(&cl->hosts[h], &name);
        hrun_strvec_push(&g->names, name.data);
        hrun_buf_reset(&name);
    }
}

int ledger_open(struct ledger *g, const struct context *c, struct hrun_error *err)
{
    struct hrun_error fault = { 0 };
    autofree char *dir = NULL, *why = NULL;
    int named;

    memset(g, 0, sizeof *g);
    if (c->cluster->platform || c->cluster->allocation || !context_is_real(c) || getenv(HRUN_JOB_VARIABLE))
        return 0;
    ledger_find(c->cluster->ledger, &dir, &named, &why);
    if (dir && !hrun_ledger_open(dir, &g->l, &fault))
        allocate_masks(g, c->cluster);
    else if (dir && named)
        return hrun_fail(err, fault.code, "%s", fault.text);
    else if (!named && (dir || c->set->verbose))   /* no note if the user turned the ledger off */
        settings_say(c->set, "no ledger: %s", dir ? fault.text : why);
    return 0;
}

void ledger_release(struct ledger *g)
{
    hrun_ledger_close(g->l);
    hrun_ledger_list_release(&g->seen);
    hrun_strvec_release(&g->names);
    if (g->mask)
        free(g->mask[0]);
    free(g->mask);
    free(g->first);
    memset(g, 0, sizeof *g);
}

/* Close the ledger with a note to the user; the run continues without locks. */
static void disable_ledger(struct ledger *g, const struct context *c, const struct hrun_error *why)
{
    settings_say(c->set, "this run does not lock its PEs, so others may use them: %s", why->text);
    hrun_ledger_close(g->l);
    g->l = NULL;
    g->nbusy = 0;
}

/* ---------------------------------------------------------------- holders of PEs */

/* 1 if a list of PUs contains one of first..last, else 0. */
static int has_pu_of(const char *pus, long first, long last)
{
    long a, b;

    for (const char *p = pus; (p = hrun_range_next(p, HRUN_RANGES_MAX, &a, &b)); p++) {
        if (a <= last && b >= first)
            return 1;
        if (*p != ',')
            break;
    }
    return 0;
}

/* The index of the holder of a PE; -1: the PE is free. A run counts before a run that waits for the host. */
static int holder_of(const struct ledger *g, const struct hrun_pe *pe)
{
    for (int k = g->first[pe->host]; pe->cpuset[0] && k < g->first[pe->host + 1]; k++) {
        const struct hrun_ledger_hold *hold = &g->seen.holds[k];
        const struct hrun_ledger_holder *h = &g->seen.holders[hold->holder];

        if (h->waits ? h->text && !h->silent : has_pu_of(pe->cpuset, hold->first, hold->last))
            return hold->holder;
    }
    return -1;
}

void ledger_look(struct ledger *g, const struct context *c)
{
    const struct hrun_cluster *cl = g->cluster;
    struct hrun_error why = { 0 };

    if (!g->l)
        return;
    hrun_ledger_list_release(&g->seen);
    if (hrun_ledger_read(g->l, g->names.v, cl->nhosts, &g->seen, &why)) {
        disable_ledger(g, c, &why);
        return;
    }
    memset(g->first, 0, ((size_t)cl->nhosts + 1) * sizeof *g->first);
    for (int k = 0; k < g->seen.nholds; k++)
        g->first[g->seen.holds[k].host + 1] = k + 1;
    for (int h = 0; h < cl->nhosts; h++)
        g->first[h + 1] = g->first[h + 1] ? g->first[h + 1] : g->first[h];
    g->nbusy = 0;
    g->version = 1;
    for (int i = 0; i < cl->nsubs; i++)
        for (int p = 0; p < cl->subs[i].npes; p++) {
            int k = holder_of(g, &cl->subs[i].pes[p]);

            g->mask[i][p] = k >= 0;
            g->nbusy += k >= 0;
            g->version = g->version * 31 + (k < 0 ? 0 : (unsigned long)g->seen.holders[k].token + 1);
        }
}

const char *const *ledger_busy(const struct ledger *g)
{
    return g && g->l && g->nbusy ? (const char *const *)g->mask : NULL;
}

double ledger_free_in(const struct ledger *g)
{
    json_int_t now = time(NULL), last = now;

    for (int k = 0; k < g->seen.nholders; k++) {
        const struct hrun_ledger_holder *h = &g->seen.holders[k];

        if (h->waits || h->end_s <= now)
            return NAN;
        last = h->end_s > last ? h->end_s : last;
    }
    return (double)(last - now);
}

/* ---------------------------------------------------------------- the locks of this run */

/* Request the PEs of the run from the ledger. Result: 1 if another run uses one of them, else 0. */
static int request_pes(const struct ledger *g, const struct ledger_run *run)
{
    const struct hrun_cluster *cl = g->cluster;
    const struct hrun_layout *l = run->layout;
    autofree char *used = xcalloc((size_t)(g->mask[cl->nsubs] - g->mask[0]) + 1, 1);
    autofree char *on = xcalloc((size_t)cl->nhosts + 1, 1);
    int busy = 0;

    for (int r = 0; l && r < l->nranks; r++)
        used[g->mask[l->ranks[r].sub] - g->mask[0] + l->ranks[r].pe] = on[l->ranks[r].host] = 1;
    for (int k = 0; l && k < l->nmore; k++)
        used[g->mask[l->more[k].sub] - g->mask[0] + l->more[k].pe] = 1;
    for (int i = 0; i < cl->nsubs; i++)
        for (int p = 0; p < cl->subs[i].npes; p++) {
            const struct hrun_pe *pe = &cl->subs[i].pes[p];

            if (l ? used[g->mask[i] - g->mask[0] + p] || (run->whole_hosts && on[pe->host]) : !g->mask[i][p]) {
                busy |= g->mask[i][p];
                hrun_ledger_want(g->l, g->names.v[pe->host], pe->cpuset);
            }
        }
    return busy;
}

/* Lock the PEs of a run, or with wait = 1 queue for them. Result: as ledger_lock. */
static int enter_ledger(struct ledger *g, const struct context *c, const struct ledger_run *run, int wait)
{
    struct hrun_ledger_holder as = { .app = c->app ? c->app->name : "", .program = c->program ? c->program : "",
                                     .N = run->N, .since_s = wait ? g->queued_s : (int64_t)time(NULL) };
    struct hrun_error why = { 0 };
    int busy, rc = 0;

    if (!g->l)
        return 1;
    /* The ledger gets no end for predictions of a month or more. */
    if (!wait && run->time_s > 0 && run->time_s < 31 * 86400.0)
        as.end_s = as.since_s + (json_int_t)run->time_s + 1;
    busy = request_pes(g, run);
    if (wait)
        rc = hrun_ledger_queue(g->l, &as, &why);
    else if (!busy)
        rc = hrun_ledger_lock(g->l, &as, &why);
    else
        hrun_ledger_unlock(g->l);
    if (rc >= 0)
        return rc;
    disable_ledger(g, c, &why);
    return 1;
}

int ledger_lock(struct ledger *g, const struct context *c, const struct ledger_run *run)
{
    int rc = enter_ledger(g, c, run, 0);

    if (rc == 1 && g->queued_s) {
        g->queued_s = 0;
        if (g->l)
            hrun_ledger_leave(g->l);
    }
    return rc;
}

int ledger_sleep(double seconds)
{
    static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
    struct timespec t = { (time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9) };
    sigset_t set, before;
    int sig;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) {
        struct sigaction act;

        /* Signals that the caller ignores (nohup) must not be blocked, as they would end the sleep. */
        if (!sigaction(ending[i], NULL, &act) && act.sa_handler != SIG_IGN)
            sigaddset(&set, ending[i]);
    }
    sigprocmask(SIG_BLOCK, &set, &before);
    sig = sigtimedwait(&set, NULL, &t);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return sig > 0 ? sig : 0;
}

int ledger_wait(struct ledger *g, const struct context *c, const struct ledger_run *run)
{
    /* Short intervals at first, as runs may be short; then longer ones, to spare a file server. */
    int64_t now = (int64_t)time(NULL);
    int sig;

    if (!g->queued_s)
        g->queued_s = now;
    enter_ledger(g, c, run, 1);
    sig = ledger_sleep(fmin(0.05 + (double)(now - g->queued_s) / 20, 1));
    if (sig && g->l)
        hrun_ledger_leave(g->l);
    return sig;
}

/* ---------------------------------------------------------------- texts */

/* The PEs of a sub-cluster that one user uses, or waits for. */
struct share {
    const struct hrun_subcluster *sub;
    uid_t uid;
    int waits, pes;
    json_int_t since_s, end_s;  /* earliest start and latest end; end_s = 0: one of the ends is not known */
};

/* The n shares of all sub-clusters, in the order of their first PE; the caller frees them. NULL: no PE is busy. */
static struct share *add_up_shares(const struct ledger *g, int *n)
{
    struct share *shares = ledger_busy(g) ? xcalloc((size_t)g->nbusy, sizeof *shares) : NULL;
    int first = *n = 0;

    for (int i = 0; shares && i < g->cluster->nsubs; i++, first = *n)
        for (int p = 0; p < g->cluster->subs[i].npes; p++) {
            int k = holder_of(g, &g->cluster->subs[i].pes[p]);
            const struct hrun_ledger_holder *h = k < 0 ? NULL : &g->seen.holders[k];
            struct share *s = &shares[first];

            while (h && s < shares + *n && (s->uid != h->uid || s->waits != h->waits))
                s++;
            if (!h)
                continue;
            if (s == shares + *n)
                shares[(*n)++] = (struct share){ &g->cluster->subs[i], h->uid, h->waits, 0, h->since_s, h->end_s };
            s->pes++;
            if (h->since_s < s->since_s)
                s->since_s = h->since_s;
            if (!h->end_s || (s->end_s && h->end_s > s->end_s))
                s->end_s = h->end_s;
        }
    return shares;
}

void ledger_add_time(struct hrun_buf *out, const char *lead, int64_t when_s)
{
    time_t when = (time_t)when_s, now = time(NULL);
    struct tm then, today;
    char text[32];

    if (!when_s || !localtime_r(&when, &then) || !localtime_r(&now, &today))
        return;
    if (strftime(text, sizeof text,
                 then.tm_yday == today.tm_yday && then.tm_year == today.tm_year ? "%H:%M" : "%Y-%m-%d %H:%M", &then))
        hrun_buf_addf(out, "%s%s", lead, text);
}

void ledger_print_users(const struct ledger *g, struct hrun_buf *out)
{
    int n;
    autofree struct share *shares = add_up_shares(g, &n);

    for (const struct share *s = shares; s < shares + n; s++) {
        if (s > shares && s->sub == s[-1].sub)
            hrun_buf_addf(out, ", %d ", s->pes);
        else
            hrun_buf_addf(out, "%s%d of %s of %s ", s > shares ? "; " : "", s->pes, hrun_counted(s->sub->npes, "PE").s,
                          s->sub->name);
        hrun_buf_adds(out, s->waits ? "kept for " : "in use by ");
        hrun_ledger_user(g->l, s->uid, out);
        ledger_add_time(out, s->waits ? ", who waits since " : " since ", s->since_s);
        ledger_add_time(out, s->end_s > time(NULL) ? " until about " : ", overdue since ", s->end_s);
    }
}

json_t *ledger_json(const struct ledger *g)
{
    int n;
    autofree struct share *shares = add_up_shares(g, &n);
    json_t *a = json_array();

    for (const struct share *s = shares; s < shares + n; s++) {
        autorelease(hrun_buf_release) struct hrun_buf user = HRUN_BUF_INIT;

        hrun_ledger_user(g->l, s->uid, &user);
        json_array_append_new(a, json_pack("{s:s, s:i, s:s, s:b, s:I, s:o}", "subcluster", s->sub->name, "pes", s->pes,
                                           "user", user.data, "waits", s->waits, "since", s->since_s, "until",
                                           s->end_s ? json_integer(s->end_s) : json_null()));
    }
    return a;
}
