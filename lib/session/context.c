/* context.c - definition, program, cluster, engine and store of a decision; see context.h */
#include "session/context.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/units.h"
#include "launch/agent.h"
#include "session/guess.h"
#include "session/number.h"
#include "session/problem.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef HRUN_SHARE
#error "HRUN_SHARE must name the installed share folder"
#endif

/* The path of hrun, which other hosts must have too; the caller frees it. NULL: not known. */
static char *hrun_path(void)
{
    static const char calibrate[] = "-calibrate";
    char *path = realpath("/proc/self/exe", NULL);
    size_t len = path ? strlen(path) : 0;
    autofree char *prefix = NULL;

    if (len > strlen(calibrate) && !strcmp(path + len - strlen(calibrate), calibrate))
        path[len - strlen(calibrate)] = 0;
    if (path && !strcmp(strrchr(path, '/'), "/hrun"))
        return path;
    free(path);
    prefix = hrun_installed();
    return prefix ? hrun_strf("%s/bin/hrun", prefix) : NULL;
}

/* Get the topologies of other hosts. Healthy hosts answer within 1 s; a limit of 10 s allows for slow name servers. */
static int ask_topologies(void *ctx, char *const *hosts, int n, int skip, struct hrun_buf *texts,
                          struct hrun_error *errors, struct hrun_error *err)
{
    const struct settings *g = ctx;
    autofree char *path = hrun_path();
    char export[] = "--show-cluster=xml";
    char *const argv[] = { path, export, NULL };
    struct hrun_remote what = {
        .argv = argv, .mca = &g->job.mca, .timeout_s = 10,
        .missing = "install hrun there at the same path",
        .otherwise = "describe the host in a cluster file (see hrun-cluster(5))", .keep_going = skip,
    };

    return path ? hrun_remote_run(&what, hosts, n, texts, errors, err)
                : hrun_fail_errno(err, HRUN_EIO, "cannot find the path of hrun itself");
}

/* The folder for topologies of hosts: $HRUN_CACHE, else in the user's cache folder. The caller frees it; NULL: none. */
static char *cache_folder(void)
{
    const char *value = getenv("HRUN_CACHE");

    return value && *value ? xstrdup(value) : hrun_user_path("XDG_CACHE_HOME", ".cache", "hrun/topologies", NULL);
}

char *settings_parameter(const struct settings *g, const char *const names[2])
{
    return hrun_agent_setting(&g->job.mca, names, 2);
}

/* What access to other hosts depends on, as text: batch job and remote shell. The caller frees it. */
static char *describe_access(const struct settings *g)
{
    static const char *const variables[] = { "SLURM_JOB_ID", "SLURM_RESTART_COUNT", "FLUX_URI" };
    static const char *const agents[] = { "plm_rsh_agent", "plm_ssh_agent" };
    struct hrun_buf b = HRUN_BUF_INIT;
    autofree char *agent = settings_parameter(g, agents);
    const char *value;

    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        if ((value = getenv(variables[i])))
            hrun_buf_addf(&b, "%s=%s\n", variables[i], value);
    if (agent)
        hrun_buf_addf(&b, "agent=%s\n", agent);
    return hrun_buf_detach(&b);
}

static int read_platform(void *ctx, const char *path, char *const *hosts, struct hrun_buf *text,
                         struct hrun_error *err)
{
    (void)ctx;
    return hrun_platform_ask(path, hosts, text, err);
}

static int flux_resources(void *ctx, struct hrun_buf *text, struct hrun_error *err)
{
    (void)ctx;
    return hrun_flux_resources(text, err);
}

/* Check that a simulating engine and --smpi are used with a platform file, and other engines without one. */
static int check_platform(const struct settings *g, struct hrun_error *err)
{
    const struct hrun_engine *e = hrun_engine_find(g->job.engine);

    if (e && e->simulated && !g->machine.platform)
        return hrun_fail(err, HRUN_EINVAL, "engine smpi simulates the hosts of a platform file of SimGrid: say which "
                         "with --platform FILE");
    if (g->machine.platform && e && !e->simulated)
        return hrun_fail(err, HRUN_EINVAL, "--platform: its hosts are simulated, and engine %s starts processes on "
                         "real ones: use --engine smpi", g->job.engine);
    if (g->job.smpi.n && !g->machine.platform)
        return hrun_fail(err, HRUN_EINVAL, "--smpi sets parameters of SimGrid, and nothing is simulated without "
                         "--platform FILE");
    return 0;
}

/* Set the processes per PE, and threads, of a definition that adapts to the PEs. */
static void suit_pes(struct context *c)
{
    const char *threads = settings_exported(c->set, "OMP_NUM_THREADS");
    int n = c->cluster->nsubs;
    autofree int *cores = xcalloc((size_t)n + 1, sizeof *cores);

    for (int i = 0; i < n; i++)
        cores[i] = c->cluster->subs[i].npes ? c->cluster->subs[i].pes[0].ncores : 0;
    hrun_app_suit(c->app, cores, n);
    if (c->cluster->platform)
        c->app->run.threads_fill = 0;   /* simulated ranks have no threads */
    if (c->app->run.threads_fill && threads)
        hrun_app_fix_threads(c->app, threads);
}

int context_discover(struct context *c, struct hrun_error *err)
{
    const struct settings *g = c->set;
    struct hrun_cluster_request req = {
        .cluster_file = g->machine.cluster_file, .host_file = g->machine.host_file, .hosts = g->machine.hosts,
        .level = -1, .topologies = ask_topologies, .ctx = (void *)c->set,
        /* A remembered host may be down now, so --skip-unreachable asks all hosts again. */
        .refresh = g->machine.refresh || g->machine.skip_unreachable, .skip_unreachable = g->machine.skip_unreachable,
        .platform = g->machine.platform, .read_platform = read_platform, .flux_resources = flux_resources,
    };
    static const char *const hostfiles[] = { "orte_default_hostfile", "prte_default_hostfile" };
    autofree char *cache = cache_folder(), *via = describe_access(g), *hostfile = settings_parameter(g, hostfiles);
    enum hrun_level level;
    int rc;

    if (check_platform(g, err))
        return -1;
    if (g->machine.level) {
        if (hrun_level_parse(g->machine.level, &level, err))
            return -1;
        req.level = (int)level;
    } else if (c->app && c->app->run.threads_fill && !g->machine.cluster_file) {
        req.level = HRUN_LEVEL_NODE;  /* a PE of one core cannot be divided among ranks */
    }
    req.cache_dir = cache;
    req.via = via;
    req.openmpi_hostfile = hostfile;
    rc = hrun_cluster_discover(&req, &c->cluster, err);
    if (!rc && c->app && c->app->suits_pes)
        suit_pes(c);
    return rc;
}

/* Apply --mpi to a program that does not show its MPI. */
static int apply_family(struct context *c, const char *argv0, struct hrun_error *err)
{
    const char *said = c->set->job.mpi_family;
    struct hrun_mpi *mpi = &c->mpi;
    int mpich = said && !strcmp(said, "mpich"), open = mpi->kind == HRUN_MPI_NONE || mpi->kind == HRUN_MPI_UNKNOWN;

    if (!said || mpi->kind == (mpich ? HRUN_MPI_MPICH : HRUN_MPI_OPENMPI))
        return 0;
    if (!open && !mpi->behind_script)
        return hrun_fail(err, HRUN_EINVAL, "--mpi %s: %s is linked with %s; leave --mpi out", said, argv0, mpi->name);
    if (mpich)
        *mpi = (struct hrun_mpi){ .kind = HRUN_MPI_MPICH, .name = "MPICH", .id = "mpich" };
    else if (!open)
        *mpi = (struct hrun_mpi){ .kind = HRUN_MPI_UNKNOWN, .id = "script" };
    return 0;
}

/* 1 if the word is the name of a launcher of MPI programs, else 0. A path is taken for the user's own program. */
static int is_launcher(const char *program)
{
    static const char *const names[] = { "mpirun", "mpiexec", "mpiexec.hydra", "mpirun.openmpi", "mpiexec.openmpi",
                                         "mpirun.mpich", "mpiexec.mpich", "orterun", "prterun", "prun", "srun" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(program, names[i]))
            return 1;
    return 0;
}

int context_find_program(struct context *c, const char *argv0, struct hrun_error *err)
{
    char *path;

    if (is_launcher(argv0))
        return hrun_fail(err, HRUN_EINVAL, "%s starts processes itself, and hrun stands in its place: leave it and its "
                         "options out, and name the program (hrun -n 2 PROGRAM takes mpirun's words)", argv0);
    path = hrun_program_find(argv0, c->set->job.wdir, err);
    if (!path)
        return -1;
    if (c->program && !strcmp(path, c->program)) {
        free(path);
        return 0;
    }
    free(c->program);
    c->program = path;
    return hrun_program_mpi(path, &c->mpi, err) || apply_family(c, argv0, err) ? -1 : 0;
}

char *context_program_here(const char *wdir, const char *name)
{
    autofree char *in_path = strchr(name, '/') ? NULL : hrun_program_find(name, wdir, NULL), *found = NULL;
    char *here;

    if (in_path || strchr(name, '/'))
        return NULL;
    here = hrun_strf("./%s", name);
    found = hrun_program_find(here, wdir, NULL);
    if (found)
        return here;
    free(here);
    return NULL;
}

static int shows_mpi(const struct hrun_mpi *mpi)
{
    return mpi->kind != HRUN_MPI_NONE && mpi->kind != HRUN_MPI_UNKNOWN;
}

/* Check that the program at path has the MPI of c->program. If c->program shows no MPI, set c->mpi to that of path. */
static int join_mpi(struct context *c, const char *path, const char *argv0, struct hrun_error *err)
{
    struct hrun_mpi mpi;

    if (hrun_program_mpi(path, &mpi, err))
        return -1;
    if (!shows_mpi(&mpi))
        return 0;
    if (!shows_mpi(&c->mpi)) {
        c->mpi = mpi;
        return apply_family(c, argv0, err);
    }
    if (mpi.kind != c->mpi.kind || (mpi.major && c->mpi.major && mpi.major != c->mpi.major))
        return hrun_fail(err, HRUN_EMPI, "%s is linked with %s (%s) and %s with %s (%s): the programs of one job have "
                         "to be of the same MPI", c->program, c->mpi.name, c->mpi.id, path, mpi.name, mpi.id);
    return 0;
}

char *context_find_other(struct context *c, const char *argv0, const char *wdir, struct hrun_error *err)
{
    char *path = hrun_program_find(argv0, wdir ? wdir : c->set->job.wdir, err);

    if (!path || !join_mpi(c, path, argv0, err))
        return path;
    free(path);
    return NULL;
}

int context_can_run(const struct context *c, const struct hrun_mpi *mpi)
{
    return !c->set->machine.platform || mpi->kind == HRUN_MPI_SMPI;
}

void context_drop_program(struct context *c)
{
    free(c->program);
    c->program = NULL;
    c->mpi = (struct hrun_mpi) { 0 };
}

int context_use(const struct hrun_cluster *cl, const char *use, int *npes, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf names = HRUN_BUF_INIT;
    autofree char *text = xstrdup(use ? use : "");
    char *save = NULL;
    int total = 0;

    for (int i = 0; i < cl->nsubs; i++)
        npes[i] = use ? 0 : cl->subs[i].npes;
    for (char *word = strtok_r(text, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
        char *colon = strchr(word, ':');
        int64_t pes;
        int i;

        if (colon)
            *colon = 0;
        for (i = 0; i < cl->nsubs && strcmp(cl->subs[i].name, word); i++)
            ;
        if (i == cl->nsubs) {
            for (int j = 0; j < cl->nsubs; j++)
                hrun_buf_addf(&names, "%s%s", j ? ", " : "", cl->subs[j].name);
            return hrun_fail(err, HRUN_EINVAL, "--use: there is no sub-cluster '%s'; there are: %s", word, names.data);
        }
        pes = cl->subs[i].npes;
        if (colon && hrun_parse_count("--use", colon + 1, 0, cl->subs[i].npes, &pes, err))
            return -1;
        npes[i] = (int)pes;
    }
    for (int i = 0; i < cl->nsubs; i++)
        total += npes[i];
    return total ? 0 : hrun_fail(err, HRUN_EINVAL, "--use leaves no PE");
}

/* The folder of shipped definitions: in this installation or source tree, else HRUN_SHARE. The caller frees it. */
static char *share_folder(void)
{
    static const char *const below[] = {
        "/share/hrun/profiles", "/../share/profiles", "/../../share/profiles",     /* build, build/san */
    };
    autofree char *prefix = hrun_installed();

    for (size_t i = 0; prefix && i < sizeof below / sizeof below[0]; i++) {
        autofree char *path = hrun_strf("%s%s/hpl.yaml", prefix, below[i]);
        char *found = access(path, R_OK) == 0 ? realpath(path, NULL) : NULL;

        if (found) {
            *strrchr(found, '/') = 0;
            return found;
        }
    }
    return xstrdup(HRUN_SHARE);
}

int context_load_app(struct context *c, const char *name, struct hrun_error *err)
{
    const struct hrun_strvec *defines = c->defines ? c->defines : &c->set->defines;
    struct hrun_error why = { 0 };

    if (!hrun_app_find(&c->app_dirs, name, defines->v, &c->app, &why) ||
        (why.code == HRUN_ENOENT && problem_named(c, name, NULL) == 0))
        return 0;
    if (err)
        *err = why;
    if (err && why.code == HRUN_ENOENT)
        problem_hint(c, name, err);
    return -1;
}

static int find_app_of_program(struct context *c, const char *argv0, struct hrun_error *err)
{
    const struct hrun_strvec *defines = c->defines ? c->defines : &c->set->defines;

    if (c->set->app)
        return context_load_app(c, c->set->app, err);
    if (!argv0)
        return 0;
    return hrun_app_find_program(&c->app_dirs, argv0, defines->v, &c->app, err);
}

/* Replace a definition with variants in c->app by the variant of --variant, else by its first one. */
static int find_variant(struct context *c, struct hrun_error *err)
{
    int k = 0;

    if (!c->app || (!c->app->nvariants && !c->set->variant))
        return 0;
    if (c->set->variant && c->app->variant && !strcmp(c->app->variant, c->set->variant))
        return 0;
    if (c->set->variant) {
        k = hrun_app_find_variant(c->app, c->set->variant, err);
        if (k < 0)
            return hrun_fail_prefix(err, "--variant");
    }
    c->variants_of = c->app;
    c->app = c->app->variants[k];
    return 0;
}

void context_drop_app(struct context *c)
{
    hrun_app_destroy(c->variants_of ? c->variants_of : c->app);
    c->app = c->variants_of = NULL;
}

int context_find_app(struct context *c, const char *argv0, struct hrun_error *err)
{
    const char *threads = settings_exported(c->set, "OMP_NUM_THREADS");
    autofree char *share = share_folder();

    if (hrun_app_path(c->set->profile_path, share, &c->app_dirs, err) || find_app_of_program(c, argv0, err) ||
        find_variant(c, err))
        return -1;
    if (c->app && c->app->run.threads_fill && threads)
        hrun_app_fix_threads(c->variants_of ? c->variants_of : c->app, threads);
    return 0;
}

int context_open_store(struct context *c, struct hrun_error *err)
{
    c->store = c->set->no_data ? NULL : hrun_store_open(c->set->data, err);
    return c->store || c->set->no_data ? 0 : -1;
}

int context_app(struct context *c, const char *argv0, struct hrun_error *err)
{
    if (context_find_app(c, argv0, err) || presets_apply(c, argv0, err))
        return -1;
    presets_say(c, NULL);
    return 0;
}

int context_check_app(const struct context *c, const char *argv0, struct hrun_error *err)
{
    if ((c->app && problem_is_known(c)) || !c->set->needs_app)
        return 0;
    return hrun_fail(err, HRUN_ENOENT, "--%s does nothing without an app definition: %s%s; name one with -app (hrun "
                     "--list-apps)", c->set->needs_app, argv0 ? "none knows the program " : "there is none",
                     argv0 ? argv0 : "");
}

int context_has_openmpi(void)
{
    autofree char *path = hrun_program_find("ompi_info", NULL, NULL);
    struct hrun_mpi mpi;

    return path && !hrun_program_mpi(path, &mpi, NULL) && mpi.kind == HRUN_MPI_OPENMPI;
}

static int find_engine(struct context *c, int runs, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf known = HRUN_BUF_INIT;
    const char *name = c->set->job.engine;

    if (!name || !strcmp(name, "auto")) {
        c->engine = hrun_engine_auto(c->cluster, &c->mpi, &c->openmpi, runs ? err : NULL);
        if (!c->engine && !runs)
            c->engine = hrun_engine_suited(c->cluster, &c->mpi);
        return c->engine ? 0 : -1;
    }
    c->engine = hrun_engine_find(name);
    if (!c->engine) {
        for (const struct hrun_engine *const *e = hrun_engines(); *e; e++)
            hrun_buf_addf(&known, "%s%s", known.len ? ", " : "", (*e)->name);
        return hrun_fail(err, HRUN_EINVAL, "there is no engine '%s' (known: %s)", name, known.data);
    }
    return runs ? c->engine->usable(c->cluster, &c->openmpi, err) : 0;
}

static void make_signatures(struct context *c)
{
    const struct hrun_strvec *smpi = &c->set->job.smpi;
    struct hrun_buf sig = HRUN_BUF_INIT, kind = HRUN_BUF_INIT;

    hrun_engine_kind(c->engine, c->cluster, &c->mpi, smpi, &kind);
    for (int i = 0; i < c->cluster->nsubs; i++) {
        hrun_buf_reset(&sig);
        hrun_cluster_signature(&c->cluster->subs[i], c->mpi.id, kind.data, &sig);
        hrun_strvec_push(&c->signatures, sig.data);
    }
    hrun_buf_release(&sig);
    hrun_buf_release(&kind);
}

int context_choose_engine(struct context *c, int runs, struct hrun_error *err)
{
    c->timeout_s = c->set->job.timeout_s;
    if (!c->cache_dir)
        c->cache_dir = cache_folder();
    c->openmpi.cache_dir = c->cache_dir;
    c->openmpi.refresh = c->set->machine.refresh;
    if (find_engine(c, runs, err) || context_open_store(c, err) || (!c->program && guess_mpi(c, err)))
        return -1;
    make_signatures(c);
    return 0;
}

int context_is_real(const struct context *c)
{
    for (int i = 0; i < c->cluster->nhosts; i++) {
        const struct hrun_host *h = &c->cluster->hosts[i];

        if (h->is_local && h->topo && !hrun_topo_is_this_system(h->topo))
            return 0;
    }
    return 1;
}

void context_release(struct context *c)
{
    hrun_strvec_release(&c->signatures);
    hrun_store_close(c->store);
    context_drop_app(c);
    problem_destroy(c->problem);
    free(c->kinds.speed);
    number_destroy(c->number);
    hrun_strvec_release(&c->app_dirs);
    hrun_strvec_release(&c->presets);
    hrun_strvec_release(&c->missed_presets);
    free(c->cache_dir);
    free(c->program);
    hrun_strvec_release(&c->others);
    hrun_netview_destroy(c->view);
    hrun_net_destroy(c->net);
    hrun_netview_destroy(c->measured);
    hrun_net_destroy(c->measured_net);
    hrun_cluster_destroy(c->cluster);
    memset(c, 0, sizeof *c);
}
