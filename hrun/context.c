/* context.c - wiring the rooms of lib/ together for both commands; see context.h */
#include "context.h"

#include "base/installed.h"
#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* What the other rooms are to know of the settings, which may have changed since the last step. */
static void give(struct context *c)
{
    const struct common_settings *s = c->set;

    c->given = (struct given) {
        .app = s->app, .variant = s->variant, .profile_path = s->profile_path, .data = s->data,
        .cluster_file = s->cluster_file, .host_file = s->host_file, .hosts = s->hosts, .platform = s->platform,
        .level = s->level, .engine = s->engine,
        .fit = s->fit, .wdir = s->wdir, .defines = &s->defines, .env = &s->env, .mca = &s->mca, .smpi = &s->smpi,
        .network = s->network_file, .refresh = s->refresh, .skip_unreachable = s->skip_unreachable, .force = s->force,
    };
}

int context_app(struct context *c, const char *argv0, struct hrun_error *err)
{
    give(c);
    return context_find_app(c, argv0, err);
}

int context_cluster(struct context *c, const struct common_settings *s, struct hrun_error *err)
{
    int rc, hidden;

    c->set = s;
    give(c);
    hidden = hide_device_plugins();
    rc = context_discover(c, err);
    if (hidden)
        unsetenv(PLUGINS_VARIABLE);
    if (!rc)
        tell_discovery(c->cluster, s);
    return rc;
}

int context_program(struct context *c, const char *argv0, struct hrun_error *err)
{
    give(c);
    return context_find_program(c, argv0, err);
}

int context_has_openmpi(void)
{
    char *path = hrun_program_find("ompi_info", NULL, NULL);
    struct hrun_mpi mpi;
    int has = path && !hrun_program_mpi(path, &mpi, NULL) && mpi.kind == HRUN_MPI_OPENMPI;

    free(path);
    return has;
}

int context_store(struct context *c, struct hrun_error *err)
{
    give(c);
    return context_open_store(c, err);
}

int context_engine(struct context *c, struct hrun_error *err)
{
    give(c);
    if (c->set->timeout && hrun_parse_duration("--timeout", c->set->timeout, &c->timeout_s, err))
        return -1;
    return context_choose_engine(c, 1, err);
}

int context_predicts(struct context *c, struct hrun_error *err)
{
    give(c);
    return context_choose_engine(c, 0, err);
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

char *context_library(const char *name)
{
    char *prefix = hrun_installed(), *path = prefix ? hrun_strf("%s/lib/hrun/%s", prefix, name) : NULL;

    free(prefix);
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
