/* local_spawn.c - further processes of a job of Open MPI (MPI_Comm_spawn); see local.h
 *
 * The guard passes a rank's request on, and this file chooses PEs. The guard then creates a namespace of the new
 * processes and sends their environment. Last this file starts the new processes as processes of the job, numbered
 * after the existing ones.
 */
#include "base/alloc.h"
#include "base/units.h"
#include "launch/engines/local.h"
#include "launch/env.h"
#include "launch/frames.h"

#include <stdlib.h>
#include <string.h>

/* Limit of the processes of one request, as for -n. */
enum { PROCS_MAX = 1 << 16 };

/* A request waits at most this time until processes of earlier requests end and free places. */
static const double PATIENCE_S = 2;

struct further_app {
    const char *host, *command, *wdir;
    char *path;
    int n;
    const char **argv, **env;
};

struct further_process {
    int app, place;                 /* numbers of its program and its PE */
    const char *cpuset;
    struct hrun_buf text;           /* variables from the guard */
    struct hrun_strvec env;         /* all */
};

struct further {
    int is_waited_for;              /* 1: ranks wait at a port until the new processes call MPI_Init */
    struct further_app *apps;
    struct further_process *procs;
    int napps, n;
};

/* ---------------------------------------------------------------- the request */

static void further_destroy(struct further *f)
{
    if (!f)
        return;
    for (int i = 0; i < f->napps; i++) {
        free(f->apps[i].path);
        free(f->apps[i].argv);
        free(f->apps[i].env);
    }
    for (int i = 0; f->procs && i < f->n; i++) {
        hrun_buf_release(&f->procs[i].text);
        hrun_strvec_release(&f->procs[i].env);
    }
    free(f->apps);
    free(f->procs);
    free(f);
}

static int is_here(const struct hrun_layout *l, const char *host)
{
    const char *name = l->cluster->hosts[l->ranks[0].host].name;
    size_t n = strcspn(host, ":,");

    return !*host || (n == 9 && !strncmp(host, "localhost", n)) ||
           (strcspn(name, ".") == strcspn(host, ".:,") && !strncmp(host, name, strcspn(name, ".")));
}

static int read_app(const struct hrun_run *r, const char **at, const char *end, struct further_app *a,
                    struct hrun_error *err)
{
    a->host = hrun_frame_word(at, end);
    a->command = hrun_frame_word(at, end);
    a->wdir = hrun_frame_word(at, end);
    a->n = hrun_frame_number(at, end);
    hrun_frame_words(at, end, &a->argv);
    hrun_frame_words(at, end, &a->env);
    a->wdir = *a->wdir ? a->wdir : NULL;
    if (a->n < 1 || a->n > PROCS_MAX)
        return hrun_fail(err, HRUN_EINVAL, "%d processes are asked for; at least 1 and at most %d can be started at a "
                         "time", a->n, PROCS_MAX);
    if (!is_here(r->job->layout, a->host))
        return hrun_fail(err, HRUN_EINVAL, "engine local starts processes on this host only, and '%s' is another: use "
                         "--engine mpirun", a->host);
    a->path = hrun_program_find(a->command, a->wdir ? a->wdir : r->job->wdir, err);
    return a->path ? 0 : -1;
}

static int read_request(const struct hrun_run *r, const struct hrun_buf *words, struct further *f,
                        struct hrun_error *err)
{
    const char *at = words->data, *end = at + words->len, *refused = hrun_frame_word(&at, end);

    f->is_waited_for = *hrun_frame_word(&at, end) != 0;
    if (*refused)
        return hrun_fail(err, HRUN_EINVAL, "key '%s' of its MPI_Info is not served by engine local: leave it "
                         "out, or use --engine mpirun", refused);
    while (at < end) {
        struct further_app *a;

        f->apps = xrealloc(f->apps, ((size_t)f->napps + 1) * sizeof *f->apps);
        a = &f->apps[f->napps++];
        *a = (struct further_app){ 0 };
        if (read_app(r, &at, end, a, err))
            return -1;
        f->n += a->n;
        if (f->n > PROCS_MAX)
            return hrun_fail(err, HRUN_EINVAL, "at most %d processes can be started at a time", PROCS_MAX);
    }
    return 0;
}

/* ---------------------------------------------------------------- PEs */

int local_slots(const struct hrun_layout *l)
{
    const struct hrun_cluster *c = l->cluster;
    int host = l->ranks[0].host, n = 0;

    for (int s = 0; s < c->nsubs; s++)
        for (int p = 0; p < c->subs[s].npes; p++)
            if (c->subs[s].pes[p].host == host)
                n += c->subs[s].pes[p].ncores > 1 ? c->subs[s].pes[p].ncores : 1;
    return c->hosts[host].slots > 0 ? c->hosts[host].slots : n;
}

/* The number of a PE over all sub-clusters. */
static int pe_number(const struct hrun_cluster *c, int sub, int pe)
{
    for (int s = 0; s < sub; s++)
        pe += c->subs[s].npes;
    return pe;
}

/* Choose the PEs with the fewest processes for each core, except PEs that other runs use. 0; 1: places may become free
 * soon; -1 with *err. */
static int find_further_places(const struct hrun_run *r, const struct local *x, struct further *f,
                               struct hrun_error *err)
{
    const struct hrun_layout *l = r->job->layout;
    const struct hrun_cluster *c = l->cluster;
    autofree int *load = xcalloc((size_t)pe_number(c, c->nsubs, 0) + 1, sizeof *load);
    int slots = local_slots(l), used = 0, later = 0;     /* later: living processes of earlier requests */

    f->procs = xcalloc((size_t)f->n, sizeof *f->procs);
    for (int i = 0; i < f->n; i++)
        hrun_buf_init(&f->procs[i].text);
    for (int i = 0; i < r->nprocs; i++)
        if (r->procs[i].alive) {
            load[i < l->nranks ? pe_number(c, l->ranks[i].sub, l->ranks[i].pe) : x->places[i - l->nranks]]++;
            used++;
            later += i >= l->nranks;
        }
    if (used + f->n > slots && !r->job->oversubscribe) {
        if (later && used - later + f->n <= slots && hrun_monotonic_s() < r->due.spawn_s)
            return 1;
        return hrun_fail(err, HRUN_EINVAL, "%d of %d places of this host are free: start hrun with a smaller -n, or "
                         "with --oversubscribe", used < slots ? slots - used : 0, slots);
    }
    for (int i = 0, app = 0, left = f->apps[0].n; i < f->n; i++, left--) {
        double least = 0;
        int best = -1;

        if (!left)
            left = f->apps[++app].n;
        for (int s = 0, at = 0; s < c->nsubs; s++)
            for (int p = 0; p < c->subs[s].npes; p++, at++) {
                const struct hrun_pe *pe = &c->subs[s].pes[p];
                double now = (load[at] + 1.0) / (pe->ncores > 1 ? pe->ncores : 1);

                if (pe->host != l->ranks[0].host || (r->job->busy && r->job->busy[s] && r->job->busy[s][p]) ||
                    (best >= 0 && now >= least))
                    continue;
                least = now;
                best = at;
                f->procs[i].cpuset = x->topo ? pe->cpuset : "";
            }
        if (best < 0)
            return hrun_fail(err, HRUN_EINVAL, "other runs use all PEs of this host");
        load[best]++;
        f->procs[i].place = best;
        f->procs[i].app = app;
    }
    return 0;
}

/* ---------------------------------------------------------------- start */

static void forget_further(struct local *x)
{
    further_destroy(x->further);
    x->further = NULL;
    hrun_buf_reset(&x->request);
    hrun_buf_reset(&x->refusal);
}

static void refuse_further(struct hrun_run *r, struct local *x, const char *why)
{
    const struct hrun_buf none = HRUN_BUF_INIT;
    const struct further_app *a = x->further && x->further->napps ? &x->further->apps[0] : NULL;

    if (r->ending.kill_s <= 0)
        hrun_run_say(r, "MPI_Comm_spawn of %s is refused: %s", a ? a->command : "further processes", why);
    hrun_guard_serve(&r->guard, &none, NULL);
    forget_further(x);
}

/* Handle a complete request. */
static void prepare_further(struct hrun_run *r, struct local *x)
{
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    struct hrun_error err = { 0 };
    struct further *f = x->further = xcalloc(1, sizeof *f);
    int bad = r->ending.kill_s > 0 || read_request(r, &x->request, f, &err) ? -1 : find_further_places(r, x, f, &err);

    x->nalive = r->nalive;
    if (bad > 0) {      /* tried again later */
        further_destroy(f);
        x->further = NULL;
        return;
    }
    r->due.spawn_s = 0;
    if (!bad) {
        hrun_frame_add_number(&b, r->nprocs);
        hrun_frame_add_number(&b, f->n);
        hrun_frame_add_word(&b, f->apps[0].wdir ? f->apps[0].wdir : "");
        for (int i = 0; i < f->n; i++) {
            hrun_frame_add_word(&b, f->procs[i].cpuset);
            hrun_frame_add_number(&b, f->procs[i].app);
        }
        bad = hrun_guard_serve(&r->guard, &b, &err);
    }
    if (bad)
        refuse_further(r, x, err.text);
}

static void make_further_env(const struct hrun_run *r, const struct local *x, const struct further *f, int i)
{
    const struct further_app *a = &f->apps[f->procs[i].app];
    const struct hrun_buf *text = &f->procs[i].text;
    struct hrun_strvec *env = &f->procs[i].env;

    hrun_strvec_add_all(env, x->common.v);
    for (int k = 0; a->env[k]; k++)
        if (strchr(a->env[k], '='))
            hrun_env_set(env, "%s", a->env[k]);
    for (size_t at = 0; at < text->len; at += strlen(text->data + at) + 1)
        if (strchr(text->data + at, '='))
            hrun_env_set(env, "%s", text->data + at);
    if (a->wdir)
        hrun_env_set(env, "PWD=%s", a->wdir);
    hrun_env_set(env, "OMPI_COMM_WORLD_SIZE=%d", f->n);
    hrun_env_set(env, "OMPI_COMM_WORLD_LOCAL_SIZE=%d", f->n);
    hrun_env_set(env, "OMPI_COMM_WORLD_RANK=%d", i);
    hrun_env_set(env, "OMPI_COMM_WORLD_LOCAL_RANK=%d", i);
    hrun_env_set(env, "OMPI_COMM_WORLD_NODE_RANK=%d", i);
    if (r->nprocs + f->n > local_slots(r->job->layout))
        hrun_env_mca(r->job, env, hrun_env_yield, "1");
}

/* The guard is ready to serve the processes of the request: start them. */
static void start_further(struct hrun_run *r, struct local *x)
{
    struct further *f = x->further;
    autofree struct hrun_spawn_one *one = xcalloc((size_t)f->n, sizeof *one);
    int later = r->nprocs - r->job->layout->nranks;
    struct hrun_error err = { 0 };

    x->places = xrealloc(x->places, (size_t)(later + f->n) * sizeof *x->places);
    x->groups = xrealloc(x->groups, (size_t)(x->ngroups + 1) * sizeof *x->groups);
    for (int i = 0; i < f->n; i++) {
        const struct further_app *a = &f->apps[f->procs[i].app];

        make_further_env(r, x, f, i);
        one[i] = (struct hrun_spawn_one){ .program = a->path, .argv = (char *const *)(uintptr_t)a->argv,
                                          .env = f->procs[i].env.v, .wdir = a->wdir, .cpuset = f->procs[i].cpuset };
        x->places[later + i] = f->procs[i].place;
    }
    /* While the job ends, a new process would miss the signal that ends the others. */
    if (r->ending.kill_s > 0 || hrun_run_add(r, x->topo, one, f->n, &err)) {
        refuse_further(r, x, err.text);
    } else {
        if (f->is_waited_for)
            x->groups[x->ngroups++] = (struct group){ r->nprocs - f->n, r->nprocs };
        forget_further(x);
    }
}

static void on_guard_event(struct hrun_run *r, struct local *x, const struct hrun_guard_event *ev)
{
    struct hrun_buf *b = ev->kind == HRUN_GUARD_SPAWN ? &x->request
                         : ev->kind == HRUN_GUARD_UNREADY ? &x->refusal : NULL;
    int i = ev->rank - r->nprocs;

    if (ev->kind == HRUN_GUARD_ENV) {
        if (x->further && i >= 0 && i < x->further->n)
            hrun_buf_add(&x->further->procs[i].text, ev->text, (size_t)ev->status);
        return;
    }
    if (b && ev->status) {
        hrun_buf_add(b, ev->text, (size_t)ev->status);
        return;
    }
    if (ev->kind == HRUN_GUARD_SPAWN) {
        r->due.spawn_s = hrun_monotonic_s() + PATIENCE_S;
        prepare_further(r, x);
    }
    if (ev->kind == HRUN_GUARD_READY && x->further)
        start_further(r, x);
    else if (ev->kind == HRUN_GUARD_UNREADY && x->further)
        refuse_further(r, x, x->refusal.len ? x->refusal.data : "");
}

/* If all processes of a request have ended without MPI_Init, release the ranks that wait for them. */
static void find_unconnected(struct hrun_run *r, struct local *x)
{
    for (int g = 0; g < x->ngroups; g++) {
        const struct group group = x->groups[g];
        struct hrun_buf b = HRUN_BUF_INIT;
        int alive = 0, connected = 0;

        for (int i = group.first; i < group.end; i++) {
            alive += r->procs[i].alive;
            connected += r->procs[i].was_connected;
        }
        if (alive && !connected)
            continue;
        x->groups[g--] = x->groups[--x->ngroups];
        if (connected || r->ending.kill_s > 0)
            continue;
        hrun_run_say(r, "rank %d, which MPI_Comm_spawn has started, has ended without calling MPI_Init", group.first);
        hrun_frame_add_number(&b, group.first);
        hrun_guard_serve(&r->guard, &b, NULL);
        hrun_buf_release(&b);
    }
}

void local_on_spawn(struct hrun_run *r, const struct hrun_guard_event *ev)
{
    struct local *x = r->state;

    if (ev) {
        on_guard_event(r, x, ev);
        return;
    }
    find_unconnected(r, x);
    if (r->due.spawn_s > 0 && (r->nalive != x->nalive || hrun_monotonic_s() >= r->due.spawn_s))
        prepare_further(r, x);
}

void local_release(struct local *x)
{
    further_destroy(x->further);
    hrun_strvec_release(&x->common);
    free(x->topology);
    hrun_buf_release(&x->request);
    hrun_buf_release(&x->refusal);
    free(x->places);
    free(x->groups);
}
