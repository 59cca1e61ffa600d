/* context.c - wiring the rooms of lib/ together for both commands; see context.h */
#include "context.h"

#include "base/units.h"
#include "launch/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef HRUN_SHARE
#error "HRUN_SHARE must name the installed share folder"
#endif

static const char PLUGINS_VARIABLE[] = "HWLOC_PLUGINS_BLACKLIST";

static void heed_nothing(int sig)
{
    (void)sig;
}

void context_start(void)
{
    struct sigaction act = { .sa_handler = heed_nothing, .sa_flags = SA_RESTART };

    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0)
            _exit(STATUS_FAILED);
    sigaction(SIGPIPE, &act, NULL);
    sigaction(SIGXFSZ, &act, NULL);
}

void common_settings_release(struct common_settings *s)
{
    hrun_strvec_release(&s->defines);
    hrun_strvec_release(&s->env);
    hrun_strvec_release(&s->mca);
    hrun_strvec_release(&s->smpi);
}

/* The hrun that belongs to this command, as an absolute path; the caller frees it. */
static char *hrun_path(void)
{
    static const char calibrate[] = "-calibrate";
    char *path = realpath("/proc/self/exe", NULL);
    size_t len = path ? strlen(path) : 0;

    if (len > strlen(calibrate) && !strcmp(path + len - strlen(calibrate), calibrate))
        path[len - strlen(calibrate)] = 0;
    return path;
}

/* Of other hosts; ctx is the settings. A healthy host answers within a second; ten also suffice a slow name server. */
static int ask_topologies(void *ctx, char *const *hosts, int n, int skip, struct hrun_buf *texts,
                          struct hrun_error *errors, struct hrun_error *err)
{
    const struct common_settings *s = ctx;
    char *path = hrun_path(), export[] = "--export-topology";
    char *const argv[] = { path, export, NULL };
    struct hrun_remote what = {
        .argv = argv, .mca = s->mca.v, .n_mca = (int)s->mca.n, .timeout_s = 10,
        .missing = "install hrun there at the same path",
        .otherwise = "describe the host in a cluster file (see hrun-cluster(5))", .keep_going = skip,
    };
    int rc = path ? hrun_remote_run(&what, hosts, n, texts, errors, err)
                  : hrun_fail_errno(err, HRUN_EIO, "cannot find the path of hrun itself");

    free(path);
    return rc;
}

/* What hosts said is kept in $HRUN_CACHE, else below the user's cache folder. The caller frees it; NULL: nowhere. */
static char *cache_folder(void)
{
    static const struct { const char *variable, *below; } places[] = {
        { "HRUN_CACHE", "" }, { "XDG_CACHE_HOME", "/hrun/topologies" }, { "HOME", "/.cache/hrun/topologies" },
    };
    const char *value;

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if ((value = getenv(places[i].variable)) && *value)
            return hrun_strf("%s%s", value, places[i].below);
    return NULL;
}

/* What the user says of a parameter of mpirun's that has two names, those of Open MPI 4 and 5. The caller frees it. */
static char *mca_setting(const struct common_settings *s, const char *const names[2])
{
    return hrun_agent_setting(s->mca.v, (int)s->mca.n, names, 2);
}

/* What reaches other hosts: the settings of the remote shell, and the job whose steps do. The caller frees it. */
static char *way_to_hosts(const struct common_settings *s)
{
    static const char *const variables[] = { "SLURM_JOB_ID", "SLURM_RESTART_COUNT" };
    static const char *const agents[] = { "plm_rsh_agent", "plm_ssh_agent" };
    struct hrun_buf b = HRUN_BUF_INIT;
    char *agent = mca_setting(s, agents);
    const char *value;

    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        if ((value = getenv(variables[i])))
            hrun_buf_addf(&b, "%s=%s\n", variables[i], value);
    if (agent)
        hrun_buf_addf(&b, "agent=%s\n", agent);
    free(agent);
    return hrun_buf_detach(&b);
}

/* hwloc looks for devices by plugins that load graphics libraries, which takes longer than the topology. Result: 1 when
 * they are hidden; programs that are started later see the environment as it was. */
static int hide_device_plugins(void)
{
    static const char plugins[] = "hwloc_cuda.so,hwloc_gl.so,hwloc_levelzero.so,hwloc_nvml.so,hwloc_opencl.so,"
                                  "hwloc_pci.so,hwloc_rsmi.so";

    return !getenv(PLUGINS_VARIABLE) && !setenv(PLUGINS_VARIABLE, plugins, 1);
}

/* What a discovery left out, and what -v wants to know of it. */
static void tell_discovery(const struct hrun_cluster *cl, const struct common_settings *s)
{
    for (size_t i = 0; i < cl->why_not.n && !s->quiet; i++)
        fprintf(stderr, "%s: %s; left out\n", program_invocation_short_name, cl->why_not.v[i]);
    if (s->verbose && cl->cache_note)
        fprintf(stderr, "%s: %s\n", program_invocation_short_name, cl->cache_note);
}

static int read_platform(void *ctx, const char *path, struct hrun_buf *text, struct hrun_error *err)
{
    (void)ctx;
    return hrun_platform_ask(path, text, err);
}

/* Engine smpi is for the hosts of a platform file, and only they are for it. */
static int check_platform(const struct common_settings *s, struct hrun_error *err)
{
    int named = s->engine && strcmp(s->engine, "auto"), smpi = named && !strcmp(s->engine, "smpi");

    if (smpi && !s->platform)
        return hrun_fail(err, HRUN_EINVAL, "engine smpi simulates the hosts of a platform file of SimGrid: say which "
                         "with --platform FILE");
    if (s->platform && named && !smpi)
        return hrun_fail(err, HRUN_EINVAL, "--platform: its hosts are simulated, and engine %s starts processes on "
                         "real ones: use --engine smpi", s->engine);
    if (s->smpi.n && !s->platform)
        return hrun_fail(err, HRUN_EINVAL, "--smpi sets parameters of SimGrid, and nothing is simulated without "
                         "--platform FILE");
    return 0;
}

int context_cluster(struct context *c, const struct common_settings *s, struct hrun_error *err)
{
    struct hrun_cluster_request req = {
        .cluster_file = s->cluster_file, .host_file = s->host_file, .hosts = s->hosts, .level = -1,
        .topologies = ask_topologies, .ctx = (void *)(uintptr_t)s,
        /* A remembered host may be down by now: only asking tells which to leave out. */
        .refresh = s->refresh || s->skip_unreachable, .skip_unreachable = s->skip_unreachable,
        .platform = s->platform, .read_platform = read_platform,
    };
    static const char *const hostfiles[] = { "orte_default_hostfile", "prte_default_hostfile" };
    enum hrun_level level;
    char *cache, *via, *hostfile;
    int rc, hidden;

    c->set = s;
    if (check_platform(s, err))
        return -1;
    if (s->level) {
        if (hrun_level_parse(s->level, &level, err))
            return -1;
        req.level = (int)level;
    } else if (c->app && c->app->threads_fill && !s->cluster_file) {
        req.level = HRUN_LEVEL_NODE;  /* a core leaves nothing to be shared out */
    }
    req.cache_dir = cache = cache_folder();
    req.via = via = way_to_hosts(s);
    req.openmpi_hostfile = hostfile = mca_setting(s, hostfiles);
    hidden = hide_device_plugins();
    rc = hrun_cluster_discover(&req, &c->cluster, err);
    if (hidden)
        unsetenv(PLUGINS_VARIABLE);
    if (!rc)
        tell_discovery(c->cluster, s);
    free(hostfile);
    free(via);
    free(cache);
    return rc;
}

int context_program(struct context *c, const char *argv0, struct hrun_error *err)
{
    char *path = hrun_program_find(argv0, c->set->wdir, err);

    if (!path)
        return -1;
    if (c->program && !strcmp(path, c->program)) {
        free(path);
        return 0;
    }
    free(c->program);
    c->program = path;
    return hrun_program_mpi(path, &c->mpi, err);
}

int context_use(const struct hrun_cluster *cl, const char *use, int *npes, struct hrun_error *err)
{
    struct hrun_buf names = HRUN_BUF_INIT;
    char *text = strdup(use ? use : ""), *save = NULL, *word;
    int rc = text ? 0 : hrun_fail_nomem(err), total = 0;

    for (int i = 0; i < cl->nsubs; i++)
        npes[i] = use ? 0 : cl->subs[i].npes;
    for (word = rc ? NULL : strtok_r(text, ",", &save); word && !rc; word = strtok_r(NULL, ",", &save)) {
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
            rc = hrun_fail(err, HRUN_EINVAL, "--use: there is no sub-cluster '%s'; there are: %s", word, names.data);
            break;
        }
        pes = cl->subs[i].npes;
        if (colon)
            rc = hrun_parse_count("--use", colon + 1, 0, cl->subs[i].npes, &pes, err);
        npes[i] = (int)pes;
    }
    for (int i = 0; i < cl->nsubs; i++)
        total += npes[i];
    if (!rc && !total)
        rc = hrun_fail(err, HRUN_EINVAL, "--use leaves no PE");
    hrun_buf_release(&names);
    free(text);
    return rc;
}

/* The share folder: beside the binary in a build tree or a moved installation, else the configured one. */
static char *share_folder(void)
{
    static const char *const beside[] = {
        "/../share/hrun/profiles", "/../../share/profiles", "/../../../share/profiles", /* build/bin, build/san/bin */
    };
    char exe[4096];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    char *slash;

    if (n > 0) {
        exe[n] = 0;
        slash = strrchr(exe, '/');
        if (slash)
            *slash = 0;
        for (size_t i = 0; slash && i < sizeof beside / sizeof beside[0]; i++) {
            char *path = hrun_strf("%s%s/hpl.yaml", exe, beside[i]);
            char *real = path && access(path, R_OK) == 0 ? realpath(path, NULL) : NULL;

            free(path);
            if (real) {
                *strrchr(real, '/') = 0;
                return real;
            }
        }
    }
    return strdup(HRUN_SHARE);
}

/* The last one counts, as it does for the processes. */
const char *context_exported(const struct common_settings *s, const char *name)
{
    const char *value = NULL;
    size_t len = strlen(name);

    for (size_t i = 0; i < s->env.n; i++) {
        if (!strncmp(s->env.v[i], name, len) && s->env.v[i][len] == '=')
            value = s->env.v[i] + len + 1;
        else if (!strcmp(s->env.v[i], name) && !value)
            value = getenv(name);
    }
    return value;
}

static int find_app(struct context *c, const char *argv0, struct hrun_error *err)
{
    char *const *defines = c->set->defines.v;
    int ndefines = (int)c->set->defines.n;

    if (c->set->app)
        return hrun_app_find(&c->app_dirs, c->set->app, defines, ndefines, &c->app, err);
    if (!argv0)
        return 0;
    return hrun_app_find_program(&c->app_dirs, argv0, defines, ndefines, &c->app, err);
}

int context_app(struct context *c, const char *argv0, struct hrun_error *err)
{
    const char *threads = context_exported(c->set, "OMP_NUM_THREADS");
    char *share = share_folder();
    int rc;

    if (!share)
        return hrun_fail_nomem(err);
    rc = hrun_app_path(c->set->profile_path, share, &c->app_dirs, err);
    free(share);
    if (rc || find_app(c, argv0, err))
        return -1;
    return c->app && c->app->threads_fill && threads ? hrun_app_fix_threads(c->app, threads, err) : 0;
}

int context_store(struct context *c, struct hrun_error *err)
{
    c->store = hrun_store_open(c->set->data, err);
    return c->store ? 0 : -1;
}

int context_engine(struct context *c, struct hrun_error *err)
{
    const char *name = c->set->engine;
    struct hrun_buf sig = HRUN_BUF_INIT, kind = HRUN_BUF_INIT;
    int rc = 0;

    if (!c->cache_dir)
        c->cache_dir = cache_folder();
    c->openmpi.cache_dir = c->cache_dir;
    c->openmpi.refresh = c->set->refresh;
    if (c->set->timeout && hrun_parse_duration("--timeout", c->set->timeout, &c->timeout_s, err))
        return -1;
    if (name && strcmp(name, "auto")) {
        c->engine = hrun_engine_find(name);
        if (!c->engine)
            return hrun_fail(err, HRUN_EINVAL, "no engine '%s'; there are local, mpirun, srun and smpi", name);
        if (c->engine->usable(c->cluster, &c->openmpi, err))
            return -1;
    } else {
        c->engine = hrun_engine_auto(c->cluster, &c->openmpi, err);
        if (!c->engine)
            return -1;
    }
    if (context_store(c, err))
        return -1;
    hrun_engine_kind(c->engine, c->cluster, &c->mpi, c->set->smpi.v, (int)c->set->smpi.n, &kind);
    if (kind.failed)
        rc = hrun_fail_nomem(err);
    for (int i = 0; i < c->cluster->nsubs && !rc; i++) {
        hrun_buf_reset(&sig);
        hrun_cluster_signature(&c->cluster->subs[i], c->mpi.id, kind.data, &sig);
        if (sig.failed || hrun_strvec_push(&c->signatures, sig.data))
            rc = hrun_fail_nomem(err);
    }
    hrun_buf_release(&sig);
    hrun_buf_release(&kind);
    return rc;
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
    hrun_app_destroy(c->app);
    hrun_strvec_release(&c->app_dirs);
    free(c->cache_dir);
    free(c->program);
    hrun_netview_destroy(c->view);
    hrun_net_destroy(c->net);
    hrun_cluster_destroy(c->cluster);
    memset(c, 0, sizeof *c);
}

char *context_library(const char *name)
{
    char *self = realpath("/proc/self/exe", NULL), *slash = self ? strrchr(self, '/') : NULL, *path = NULL;

    if (slash) {
        *slash = 0;
        slash = strrchr(self, '/');
    }
    if (slash)
        path = hrun_strf("%.*s/lib/hrun/%s", (int)(slash - self), self, name);
    free(self);
    /* A blank or a colon ends a name in LD_PRELOAD. */
    if (path && (access(path, R_OK) || strpbrk(path, " :"))) {
        free(path);
        path = NULL;
    }
    return path;
}

int context_complain(const char *command, const struct hrun_error *err)
{
    char text[HRUN_ERROR_FILE + HRUN_ERROR_TEXT + 32];

    fflush(stdout);
    fprintf(stderr, "%s: %s\n", command, hrun_error_format(err, text, sizeof text));
    switch (err->code) {
    case HRUN_ENOPROG: return STATUS_NOPROG;
    case HRUN_ENOEXEC: return STATUS_NOEXEC;
    default: return STATUS_FAILED;
    }
}

int context_meta(const struct common_settings *s, const struct hrun_opt *table, const char *command,
                 const char *usage, const char *after, const char *subcommands)
{
    struct hrun_buf out = HRUN_BUF_INIT;

    if (!s->help && !s->version && !s->completion)
        return 0;
    if (s->help) {
        hrun_buf_addf(&out, "%s\n", usage);
        hrun_opts_help(table, &out);
        hrun_buf_adds(&out, after);
    } else if (s->version) {
        hrun_buf_addf(&out, "%s %s\n", command, HRUN_VERSION);
    } else {
        hrun_opts_completion(table, command, subcommands, &out);
    }
    fputs(out.data, stdout);
    hrun_buf_release(&out);
    return 1;
}
