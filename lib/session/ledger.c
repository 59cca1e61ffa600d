/* ledger.c - the ledger of the context's cluster; see work.h */
#include "session/work.h"

#include "base/list.h"
#include "launch/internal.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* What the administrator of a cluster makes, a folder or a link to one; and what every Linux host has. */
static const char SITE[] = "/etc/hrun/ledger", HOST[] = "/run/lock";

/* ---------------------------------------------------------------- where it is */

static int is_sticky(const char *path)
{
    struct stat st;

    return !stat(path, &st) && S_ISDIR(st.st_mode) && (st.st_mode & S_ISVTX) && !access(path, W_OK | X_OK);
}

int ledger_find(const char *from_file, char **dir, int *named, char **why, struct hrun_error *err)
{
    const char *env = getenv("HRUN_LEDGER"), *place, *reason = NULL;

    *dir = *why = NULL;
    *named = 1;
    place = env && *env ? env : from_file;
    if (!place) {
        *named = 0;
        place = !access(SITE, F_OK) ? SITE : is_sticky(HOST) ? HOST : NULL;
        reason = "there is neither /etc/hrun/ledger nor a sticky folder /run/lock to write in";
    } else if (!strcmp(place, "none")) {
        place = NULL;
        reason = env && *env ? "HRUN_LEDGER is none" : "the cluster file says none";
    }
    *(place ? dir : why) = strdup(place ? place : reason);
    return *dir || *why ? 0 : hrun_fail_nomem(err);
}

/* Why there is none for this cluster, whatever folder there is; or NULL. */
static const char *why_not(const struct context *c)
{
    return c->cluster->platform           ? "the hosts are simulated"
           : c->cluster->allocation       ? "the hosts are allocated by a resource manager"
           : !context_is_real(c)          ? "the topology is a description"
           : getenv(HRUN_JOB_VARIABLE)    ? "this is a run inside a run of hrun"
                                          : NULL;
}

/* ---------------------------------------------------------------- opening it */

/* mask and who are one block each, in the order of sub-clusters. */
static int allocate(struct ledger *g, const struct hrun_cluster *cl)
{
    struct hrun_buf name = HRUN_BUF_INIT;
    size_t n = 0;

    for (int i = 0; i < cl->nsubs; i++)
        n += (size_t)cl->subs[i].npes;
    g->cluster = cl;
    g->names = calloc((size_t)cl->nhosts + 1, sizeof *g->names);
    g->mask = calloc((size_t)cl->nsubs + 1, sizeof *g->mask);
    g->who = calloc((size_t)cl->nsubs + 1, sizeof *g->who);
    if (!g->names || !g->mask || !g->who || !(g->mask[0] = calloc(n + 1, 1)) ||
        !(g->who[0] = calloc(n + 1, sizeof *g->who[0])))
        return -1;
    for (int i = 0; i < cl->nsubs; i++) {
        g->mask[i + 1] = g->mask[i] + cl->subs[i].npes;
        g->who[i + 1] = g->who[i] + cl->subs[i].npes;
    }
    for (int h = 0; h < cl->nhosts; h++) {
        hrun_host_own_name(&cl->hosts[h], &name);
        g->names[h] = hrun_buf_detach(&name);
        if (!g->names[h])
            return -1;
    }
    return 0;
}

int ledger_open(struct ledger *g, const struct context *c, struct hrun_error *err)
{
    const char *reason = why_not(c);
    struct hrun_error why = { 0 };
    char *dir = NULL;
    int named = 0, rc = 0;

    memset(g, 0, sizeof *g);
    if (reason)
        g->why_none = strdup(reason);
    else if (ledger_find(c->cluster->ledger, &dir, &named, &g->why_none, err))
        return -1;
    if (dir && hrun_ledger_open(dir, &g->l, &why)) {
        g->why_none = strdup(why.text);
        if (named && err)
            *err = why;
        rc = named ? -1 : 0;
    } else if (dir && allocate(g, c->cluster)) {
        rc = hrun_fail_nomem(err);
    }
    free(dir);
    if (rc)
        ledger_release(g);
    /* Nobody is told what he has said himself. */
    else if (!g->l && !reason && !named && (c->set->verbose || why.code))
        settings_say(c->set, "no ledger: %s", g->why_none ? g->why_none : "");
    return rc;
}

void ledger_release(struct ledger *g)
{
    hrun_ledger_close(g->l);
    hrun_ledger_list_release(&g->seen);
    for (int h = 0; g->names && h < g->cluster->nhosts; h++)
        free(g->names[h]);
    if (g->mask)
        free(g->mask[0]);
    if (g->who)
        free(g->who[0]);
    free(g->names);
    free(g->mask);
    free(g->who);
    free(g->why_none);
    memset(g, 0, sizeof *g);
}

/* The run goes on without locks. 0, or -1 without memory. */
static int do_without(struct ledger *g, const struct context *c, const struct hrun_error *why, struct hrun_error *err)
{
    if (why->code == HRUN_ENOMEM)
        return hrun_fail_nomem(err);
    settings_say(c->set, "this run is not in the ledger, others may use its PEs: %s", why->text);
    hrun_ledger_close(g->l);
    g->l = NULL;
    g->nbusy = 0;
    return 0;
}

/* ---------------------------------------------------------------- who has which PE */

/* The holder of a PE, -1: it is free. What runs goes before what waits for the host; holds[n] are those of the host. */
static int holder_of(const struct ledger *g, const struct hrun_pe *pe, const struct hrun_ledger_hold *holds, int n)
{
    for (int k = 0; pe->cpuset[0] && k < n; k++) {
        const struct hrun_ledger_holder *h = &g->seen.holders[holds[k].holder];

        if (h->waits ? h->text && !h->silent : hrun_ledger_has(pe->cpuset, holds[k].first, holds[k].last))
            return holds[k].holder;
    }
    return -1;
}

int ledger_look(struct ledger *g, const struct context *c, struct hrun_error *err)
{
    const struct hrun_cluster *cl = g->cluster;
    struct hrun_error why = { 0 };
    int *first;

    if (!g->l)
        return 0;
    hrun_ledger_list_release(&g->seen);
    if (hrun_ledger_read(g->l, g->names, cl->nhosts, &g->seen, &why))
        return do_without(g, c, &why, err);
    first = calloc((size_t)cl->nhosts + 1, sizeof *first);
    if (!first)
        return hrun_fail_nomem(err);
    for (int k = 0; k < g->seen.nholds; k++)
        first[g->seen.holds[k].host + 1] = k + 1;
    for (int h = 0; h < cl->nhosts; h++)
        first[h + 1] = first[h + 1] ? first[h + 1] : first[h];
    g->nbusy = 0;
    g->version = 1;
    for (int i = 0; i < cl->nsubs; i++)
        for (int p = 0; p < cl->subs[i].npes; p++) {
            const struct hrun_pe *pe = &cl->subs[i].pes[p];
            int k = holder_of(g, pe, &g->seen.holds[first[pe->host]], first[pe->host + 1] - first[pe->host]);

            g->who[i][p] = k;
            g->mask[i][p] = k >= 0;
            g->nbusy += k >= 0;
            g->version = g->version * 31 + (k < 0 ? 0 : (unsigned long)g->seen.holders[k].token + 1);
        }
    free(first);
    return 0;
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

/* ---------------------------------------------------------------- what this run has, or waits for */

/* Put a list of PUs in order: few ranges are few locks. 0, or -1 without memory. */
static int sort_list(struct hrun_buf *pus)
{
    char has[HRUN_LEDGER_PUS + 1] = { 0 };
    struct hrun_buf out = HRUN_BUF_INIT;
    long a, b;

    for (const char *p = pus->data; p && (p = hrun_range_next(p, HRUN_LEDGER_PUS - 1, &a, &b)) != NULL; p++) {
        memset(has + a, 1, (size_t)(b - a + 1));
        if (*p != ',')
            break;
    }
    for (a = 0; a < HRUN_LEDGER_PUS; a = b + 1) {
        for (b = a; has[b + 1] && has[a]; b++)
            continue;
        if (has[a])
            hrun_range_add(&out, 0, a, b);
    }
    hrun_buf_release(pus);
    *pus = out;
    return out.failed ? -1 : 0;
}

/* The PEs of a run as uses, by host. *n: how many; -1: others have one of them. 0, or -1 without memory. */
static int gather(const struct ledger *g, const struct ledger_run *run, struct hrun_ledger_use **out, int *n)
{
    const struct hrun_cluster *cl = g->cluster;
    struct hrun_ledger_use *uses = calloc((size_t)cl->nhosts + 1, sizeof *uses);
    struct hrun_buf *pus = calloc((size_t)cl->nhosts + 1, sizeof *pus);
    char *used = calloc((size_t)(g->mask[cl->nsubs] - g->mask[0]) + 1, 1), *on = calloc((size_t)cl->nhosts + 1, 1);
    int rc = uses && pus && used && on ? 0 : -1, count = 0, busy = 0;

    for (int r = 0; !rc && run->layout && r < run->layout->nranks; r++) {
        used[g->mask[run->layout->ranks[r].sub] - g->mask[0] + run->layout->ranks[r].pe] = 1;
        on[run->layout->ranks[r].host] = 1;
    }
    for (int k = 0; !rc && run->layout && k < run->layout->nmore; k++)
        used[g->mask[run->layout->more[k].sub] - g->mask[0] + run->layout->more[k].pe] = 1;
    for (int i = 0; !rc && i < cl->nsubs; i++)
        for (int p = 0; p < cl->subs[i].npes; p++) {
            const struct hrun_pe *pe = &cl->subs[i].pes[p];

            if (!pe->cpuset[0] || (!run->layout && g->mask[i][p]) ||
                (run->layout && !used[g->mask[i] - g->mask[0] + p] && !(run->whole_hosts && on[pe->host])))
                continue;
            busy |= g->mask[i][p];
            hrun_buf_addf(&pus[pe->host], "%s%s", pus[pe->host].len ? "," : "", pe->cpuset);
        }
    for (int h = 0; pus && h < cl->nhosts; h++) {
        if (pus[h].len && !rc && !(rc = sort_list(&pus[h]))) {
            uses[count] = (struct hrun_ledger_use){ g->names[h], hrun_buf_detach(&pus[h]) };
            rc = uses[count++].pus ? 0 : -1;
        }
        hrun_buf_release(&pus[h]);
    }
    free(pus);
    free(used);
    free(on);
    *out = uses;
    *n = count;
    return rc ? -1 : busy;
}

/* Lock the PEs of a run, or take a place in the queue for them. Result and errors as ledger_lock. */
static int enter(struct ledger *g, const struct context *c, const struct ledger_run *run, int wait,
                 struct hrun_error *err)
{
    struct hrun_ledger_holder as = { .app = c->app ? c->app->name : "", .program = c->program, .N = run->N,
                                     .since_s = wait ? g->queued_s : (int64_t)time(NULL) };
    struct hrun_ledger_use *uses = NULL;
    struct hrun_error why = { 0 };
    int rc, n = 0;

    if (!g->l)
        return 1;
    /* A prediction may be any number; a month is as good as not known. */
    if (!wait && run->time_s > 0 && run->time_s < 31 * 86400.0)
        as.end_s = as.since_s + (json_int_t)run->time_s + 1;
    rc = gather(g, run, &uses, &n);
    if (rc < 0)
        hrun_fail_nomem(&why);
    else if (wait)
        rc = hrun_ledger_queue(g->l, &as, uses, n, &why);
    else
        rc = rc ? 0 : n ? hrun_ledger_lock(g->l, &as, uses, n, &why) : 1;
    for (int k = 0; uses && k < n; k++)
        free(uses[k].pus);
    free(uses);
    return rc >= 0 ? rc : do_without(g, c, &why, err) ? -1 : 1;
}

int ledger_lock(struct ledger *g, const struct context *c, const struct ledger_run *run, struct hrun_error *err)
{
    int rc = enter(g, c, run, 0, err);

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

        /* What the caller ignores (nohup) stays ignored: a blocked signal would come nevertheless. */
        if (!sigaction(ending[i], NULL, &act) && act.sa_handler != SIG_IGN)
            sigaddset(&set, ending[i]);
    }
    sigprocmask(SIG_BLOCK, &set, &before);
    sig = sigtimedwait(&set, NULL, &t);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return sig > 0 ? sig : 0;
}

int ledger_wait(struct ledger *g, const struct context *c, const struct ledger_run *run, int *sig,
                struct hrun_error *err)
{
    /* Short runs follow each other soon, and who waits for long does not keep a file server busy. */
    int64_t now = (int64_t)time(NULL);

    if (!g->queued_s)
        g->queued_s = now;
    if (enter(g, c, run, 1, err) < 0)
        return -1;
    *sig = ledger_sleep(fmin(0.05 + (double)(now - g->queued_s) / 20, 1));
    if (*sig && g->l)
        hrun_ledger_leave(g->l);
    return 0;
}

/* ---------------------------------------------------------------- what is said of it */

/* What one user has of a sub-cluster. */
struct share {
    uid_t uid;
    int waits, pes;
    json_int_t since_s, end_s;  /* the earliest, the latest; end_s 0: not known of one of them */
};

/* The shares of sub-cluster i, in the order of their first PE. shares has room for all that were seen. */
static int add_up(const struct ledger *g, int sub, struct share *shares)
{
    int n = 0;

    for (int p = 0; p < g->cluster->subs[sub].npes; p++) {
        const struct hrun_ledger_holder *h = g->who[sub][p] < 0 ? NULL : &g->seen.holders[g->who[sub][p]];
        int k = 0;

        while (h && k < n && (shares[k].uid != h->uid || shares[k].waits != h->waits))
            k++;
        if (h && k == n)
            shares[n++] = (struct share){ h->uid, h->waits, 0, h->since_s, h->end_s };
        if (!h)
            continue;
        shares[k].pes++;
        if (h->since_s < shares[k].since_s)
            shares[k].since_s = h->since_s;
        if (!h->end_s || (shares[k].end_s && h->end_s > shares[k].end_s))
            shares[k].end_s = h->end_s;
    }
    return n;
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

int ledger_tell(const struct ledger *g, struct hrun_buf *out)
{
    struct share *shares = ledger_busy(g) ? calloc((size_t)g->seen.nholders + 1, sizeof *shares) : NULL;
    int said = 0;

    for (int i = 0; shares && i < g->cluster->nsubs; i++) {
        int n = add_up(g, i, shares);

        for (int k = 0; k < n; k++) {
            if (k)
                hrun_buf_addf(out, ", %d ", shares[k].pes);
            else
                hrun_buf_addf(out, "%s%d of %d PE%s of %s ", said++ ? "; " : "", shares[k].pes,
                              g->cluster->subs[i].npes, g->cluster->subs[i].npes == 1 ? "" : "s",
                              g->cluster->subs[i].name);
            hrun_buf_adds(out, shares[k].waits ? "kept for " : "in use by ");
            hrun_ledger_user(g->l, shares[k].uid, out);
            ledger_add_time(out, shares[k].waits ? ", who waits since " : " since ", shares[k].since_s);
            ledger_add_time(out, shares[k].end_s > time(NULL) ? " until about " : ", overdue since ", shares[k].end_s);
        }
    }
    free(shares);
    return said;
}

json_t *ledger_json(const struct ledger *g)
{
    struct share *shares = g && ledger_busy(g) ? calloc((size_t)g->seen.nholders + 1, sizeof *shares) : NULL;
    json_t *a = json_array();

    for (int i = 0; shares && i < g->cluster->nsubs; i++) {
        int n = add_up(g, i, shares);

        for (int k = 0; k < n; k++) {
            struct hrun_buf user = HRUN_BUF_INIT;

            hrun_ledger_user(g->l, shares[k].uid, &user);
            json_array_append_new(
                a, json_pack("{s:s, s:i, s:s, s:b, s:I, s:o}", "subcluster", g->cluster->subs[i].name, "pes",
                             shares[k].pes, "user", user.data, "waits", shares[k].waits, "since", shares[k].since_s,
                             "until", shares[k].end_s ? json_integer(shares[k].end_s) : json_null()));
            hrun_buf_release(&user);
        }
    }
    free(shares);
    return a;
}
