/* reach.c - how mpirun reaches other hosts: choice of shims, options, checks; see reach.h for the contracts */
#include "launch/engines/reach.h"

#include "base/alloc.h"
#include "base/list.h"
#include "base/units.h"
#include "launch/agent.h"
#include "launch/env.h"
#include "launch/notes.h"
#include "launch/programs.h"
#include "launch/ranks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A busy host needs seconds to accept a connection; after this time it counts as hung. */
static const double LIMIT_S = 30;

/* Limit of the list of fingerprints in bytes, about 5000 hosts: mpirun passes the list twice in one word of a command,
 * and Linux limits a word to 128 KiB. */
enum { FINGERPRINTS_MAX = 48000 };

/* Limits of a silent connection: ssh gives up after 4 times 5 s, Open MPI's own connections after 15 + 3 times 5 s
 * instead of 300 s and more. */
static const char *const ssh_options[] = { "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=4" };
static const struct { const char *key, *value; } keepalive[] = {
    { "oob_tcp_keepalive_time", "15" }, { "oob_tcp_keepalive_intvl", "5" }, { "oob_tcp_keepalive_probes", "3" },
};

/* Checks the variables by which Open MPI detects the resource managers that give it its hosts. */
int hrun_in_resource_manager(void)
{
    static const char *const names[] = {
        "SLURM_JOBID", "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "PE_HOSTFILE"
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]))
            return 1;
    return 0;
}

void hrun_reach_release(struct hrun_reach *reach)
{
    free(reach->shim);
    free(reach->fifo);
    hrun_strvec_release(&reach->agent);
    hrun_strvec_release(&reach->open);
    hrun_words_close(&reach->notes);
}

/* ---------------------------------------------------------------- the plan */

/* Iterate over the other hosts of the layout, each once: the next host from rank *i on, -1 at the end. */
static int next_remote(const struct hrun_layout *l, unsigned char *seen, int *i)
{
    for (; *i < l->nranks; (*i)++) {
        int host = l->ranks[*i].host;

        if (l->cluster->hosts[host].is_local || seen[host])
            continue;
        seen[host] = 1;
        return host;
    }
    return -1;
}

static int check_version(const struct hrun_host *h, const struct hrun_openmpi *m, struct hrun_error *err)
{
    int there[2] = { 0, 0 }, here[2] = { 0, 0 };

    /* "4.1.4" and "4.1.6" work together, 4.0 and 4.1 do not. */
    sscanf(m->version, "%d.%d", &here[0], &here[1]);
    if (!h->mpi || (sscanf(h->mpi, "%d.%d", &there[0], &there[1]) > 0 && !memcmp(here, there, sizeof here)))
        return 0;
    if (h->remembered)      /* its Open MPI may have changed since */
        return hrun_fail(err, HRUN_ECHANGED, "host '%s' had %s%s when it was asked, and this host has %s", h->name,
                         *h->mpi ? "Open MPI " : "no Open MPI", h->mpi, m->version);
    if (!*h->mpi)
        return hrun_fail(err, HRUN_EENGINE, "host '%s' has no Open MPI in its PATH: install version %s there, or "
                         "leave the host out", h->name, m->version);
    return hrun_fail(err, HRUN_EENGINE, "host '%s' has Open MPI %s and this host has %s, which do not work together: "
                     "install the same version (%.*s) on both, or leave the host out", h->name, h->mpi, m->version,
                     (int)strcspn(m->version, "."), m->version);
}

#define PLAIN_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+,@%=-"

/* 1 if neither the shell of the other host nor mpirun splits the path, else 0. */
static int is_plain(const char *path)
{
    return !path[strspn(path, PLAIN_CHARS)];
}

/* Variables and parameters that mpirun writes into commands for other hosts without quotes. extra: characters besides
 * PLAIN_CHARS that are harmless. */
static const char *const unquoted_variables[] = {
    "OPAL_PREFIX=", "OPAL_LIBDIR=", "OPAL_BINDIR=", "PRTE_PREFIX=", "PMIX_PREFIX=", NULL
};
static const struct { const char *key, *extra; } unquoted_parameters[] = {
    { "orte_launch_agent", " " }, { "prte_launch_agent", " " }, { "plm_rsh_args", " :~" }, { "plm_ssh_args", " :~" },
    { "plm_rsh_chdir", "" }, { "plm_ssh_chdir", "" }, { "plm_rsh_pass_libpath", ":" }, { "plm_ssh_pass_libpath", ":" },
};
enum { N_PARAMETERS = sizeof unquoted_parameters / sizeof *unquoted_parameters };

/* mpirun writes other settings "KEY=VALUE" into these commands as -mca KEY "VALUE". */
static int check_setting(const char *setting, const char *advice, struct hrun_error *err)
{
    static const char name_chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    size_t len = strspn(setting, name_chars);
    /* extra NULL: mpirun quotes the setting. */
    const char *bad = setting + len, *extra = hrun_begins_with(setting, unquoted_variables) ? "" : NULL;

    for (int i = 0; i < N_PARAMETERS; i++)
        if (strlen(unquoted_parameters[i].key) == len && !strncmp(setting, unquoted_parameters[i].key, len))
            extra = unquoted_parameters[i].extra;
    if (!*bad)
        return hrun_fail(err, HRUN_EINVAL, "the parameter %s in the environment has no value: unset it", setting);
    if (*bad == '=' && extra)
        while (*++bad && (strchr(PLAIN_CHARS, *bad) || strchr(extra, *bad)))
            ;
    else if (*bad == '=')
        bad = strpbrk(bad, "\"$`\\\n");
    if (!bad || !*bad)
        return 0;
    if (extra)
        return hrun_fail(err, HRUN_EINVAL, "mpirun writes %s without quotes into the commands of other hosts' shells: "
                         "only letters, digits%s and %s_./+,@%%=- can stand in it", setting,
                         strchr(extra, ' ') ? ", blanks" : "", extra + strspn(extra, " "));
    return hrun_fail(err, HRUN_EINVAL, "mpirun writes %s into the commands of other hosts' shells, where "
                     "'%c' has a special meaning: %s", setting, *bad == '\n' ? ' ' : *bad, advice);
}

int hrun_reach_check_shells(const struct hrun_run *r, const struct hrun_openmpi *m, const struct hrun_strvec *env,
                            struct hrun_error *err)
{
    const struct hrun_reach *reach = r->reach;
    static const char *const prefixes[] = { "OMPI_MCA_", "PRTE_MCA_", "PMIX_MCA_", NULL };
    static const char advice[] = "leave it out, or set it in openmpi-mca-params.conf on each host";
    autorelease(hrun_strvec_release) struct hrun_strvec settings = HRUN_STRVEC_INIT;

    if (!reach->nremote || reach->managed)
        return 0;
    if (!is_plain(m->path))
        return hrun_fail(err, HRUN_EINVAL, "mpirun writes its own path into the commands of other hosts' shells, and "
                         "%s has characters that a shell interprets: put another mpirun first in PATH", m->path);
    hrun_strvec_pushf(&settings, "TMPDIR=%s", r->own.rundir);
    for (size_t i = 0; i < r->job->mca.n; i++)
        hrun_strvec_push(&settings, r->job->mca.v[i]);
    for (size_t i = 0; i < reach->agent.n; i++)
        hrun_strvec_pushf(&settings, "plm_rsh_agent=%s", reach->agent.v[i]);
    for (size_t i = 0; i < env->n; i++) {
        if (hrun_begins_with(env->v[i], prefixes))
            hrun_strvec_push(&settings, env->v[i] + strlen(prefixes[0]));   /* all have one length */
        if (hrun_begins_with(env->v[i], unquoted_variables))
            hrun_strvec_push(&settings, env->v[i]);
    }
    /* Check files of parameters, too, for parameters without quotes. */
    for (int i = 0; i < N_PARAMETERS; i++) {
        autofree char *value = hrun_agent_setting(&r->job->mca, &unquoted_parameters[i].key, 1);

        if (value)
            hrun_strvec_pushf(&settings, "%s=%s", unquoted_parameters[i].key, value);
    }
    for (size_t i = 0; i < settings.n; i++)
        if (check_setting(settings.v[i], i ? advice : "set TMPDIR to another folder", err))
            return -1;
    return 0;
}

static double limit_s(void)
{
    const char *text = getenv("HRUN_CONNECT_TIMEOUT");
    double s;

    return text && hrun_parse_duration("HRUN_CONNECT_TIMEOUT", text, &s, NULL) == 0 && s > 0 ? s : LIMIT_S;
}

/* Choose where shims are used, and find hrun-shim. asked: 1 if all other hosts have answered through their hrun. */
static int plan_shims(const struct hrun_job *job, const struct hrun_openmpi *m, int asked, struct hrun_reach *out,
                      struct hrun_error *err)
{
    static const char *const launch_agent[] = { "orte_launch_agent", "prte_launch_agent" };
    autofree char *own = m ? hrun_agent_setting(&job->mca, launch_agent, 2) : NULL;
    int needed = job->report_bindings || job->layout->splits_cores, wanted;

    for (int i = 0; i < job->layout->nranks; i++)
        needed |= job->layout->ranks[i].threads > 0;
    wanted = needed || job->preloads.n || !out->nremote;    /* mpirun alone may lose a signal, or hang */
    if (!m && !asked)
        return hrun_fail(err, HRUN_EINVAL, "programs of MPICH need hrun on every host, and hosts that a cluster file "
                         "describes may not have it: leave their topology out of the file");
    if (!m) {
        out->agents = out->daemons = out->nremote > 0;
        out->ranks = 1;
        out->shim = hrun_shim_path(err);
        return out->shim ? 0 : -1;
    }
    out->managed = hrun_in_resource_manager() && job->layout->cluster->ngroups < 2;
    out->prrte = m->major >= 5;
    out->agents = out->nremote && !out->managed && (!out->prrte || out->nremote <= HRUN_REACH_RADIX);
    out->daemons = out->nremote && (!out->prrte || out->agents) && asked && !own;
    out->ranks = asked && (out->daemons || wanted) && !hrun_env_user_mca(job, "mca_base_env_list");
    if (job->report_bindings && !out->ranks)
        return hrun_fail(err, HRUN_EINVAL, asked ? "--report-bindings needs variables that mpirun does not "
                         "pass on beside mca_base_env_list: use -x instead of mca_base_env_list"
                         : "--report-bindings needs hrun on every host, and hosts that a cluster file describes may "
                         "not have it: leave their topology out of the file");
    if (job->layout->uneven_threads && !out->ranks)
        return hrun_fail(err, HRUN_EINVAL, "the processes of this layout have different numbers of threads, which "
                         "mpirun cannot tell them on hosts without hrun: leave the topology of the hosts out of the "
                         "cluster file, or set -x OMP_NUM_THREADS");
    if (!out->agents && !out->daemons && !out->ranks)
        return 0;
    out->shim = hrun_shim_path(out->ranks && needed ? err : NULL);
    if (!out->shim && out->ranks && needed)
        return -1;
    if (!out->shim)
        out->agents = out->daemons = out->ranks = 0;    /* libhrun without hrun-shim: plain mpirun */
    else if (!is_plain(out->shim))
        out->agents = out->daemons = 0;
    out->rank_notes = out->ranks && (!out->nremote || (out->agents && out->daemons));
    return 0;
}

int hrun_reach_plan(const struct hrun_job *job, const struct hrun_openmpi *m, struct hrun_reach *out,
                    struct hrun_error *err)
{
    const struct hrun_layout *l = job->layout;
    autofree unsigned char *seen = xcalloc((size_t)l->cluster->nhosts + 1, 1);
    autofree char *program = NULL;
    int asked = 1, host, i = 0;

    while ((host = next_remote(l, seen, &i)) >= 0) {
        const struct hrun_host *h = &l->cluster->hosts[host];

        out->nremote++;
        asked &= h->fingerprint && *h->fingerprint;
        if (m && check_version(h, m, err))
            return -1;
    }
    out->limit_s = limit_s();
    if (plan_shims(job, m, asked, out, err) ||
        (out->agents && hrun_agent_find(&job->mca, &program, &out->agent, err)))
        return -1;
    out->reporter = !m ? "proxy" : out->daemons ? "host" : program && hrun_agent_is_ssh(program) ? "shell" : "nobody";
    for (size_t k = 0; program && hrun_agent_is_ssh(program) && k < sizeof ssh_options / sizeof *ssh_options; k++)
        hrun_strvec_push(&out->agent, ssh_options[k]);
    return 0;
}

/* ---------------------------------------------------------------- the options of mpirun */

static void push_launcher_mca(const struct hrun_reach *reach, struct hrun_strvec *v, const char *key, const char *value)
{
    hrun_strvec_add(v, reach->prrte ? "--prtemca" : "--mca", key, value, NULL);
}

/* Append the words that put hrun-shim before the remote shell. */
static void push_agent(const struct hrun_reach *reach, struct hrun_strvec *v)
{
    hrun_strvec_add(v, reach->shim, "agent", NULL);
    hrun_strvec_pushf(v, "%g", reach->limit_s);
    hrun_strvec_push(v, reach->reporter);
    hrun_strvec_pushf(v, "%zu", reach->agent.n);
    hrun_strvec_add_all(v, reach->agent.v);
}

void hrun_reach_agents(const struct hrun_reach *reach, struct hrun_strvec *v)
{
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    autorelease(hrun_strvec_release) struct hrun_strvec words = HRUN_STRVEC_INIT;

    if (!reach->agents)
        return;
    push_agent(reach, &words);
    for (size_t i = 0; i < words.n; i++)
        hrun_buf_addf(&b, "%s%s", i ? " " : "", words.v[i]);
    push_launcher_mca(reach, v, reach->prrte ? "plm_ssh_agent" : "plm_rsh_agent", b.data);
}

void hrun_reach_agent_words(const struct hrun_run *r, const struct hrun_host *host, char *const *command,
                            struct hrun_strvec *v)
{
    const struct hrun_reach *reach = r->reach;
    char *const before[] = { reach->shim, (char *)(uintptr_t)"host", (char *)(uintptr_t)r->own.job_id,
                             (char *)(uintptr_t)"reports", (char *)(uintptr_t)host->fingerprint, NULL };
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    autofree char *name = hrun_bare_name(host->name);

    push_agent(reach, v);
    hrun_buf_add_command(&b, before);
    hrun_buf_addc(&b, ' ');
    hrun_buf_add_command(&b, command);
    hrun_strvec_add(v, name, b.data, NULL);
}

void hrun_reach_options(const struct hrun_run *r, struct hrun_strvec *v, struct hrun_strvec *each)
{
    const struct hrun_reach *reach = r->reach;
    const struct hrun_layout *l = r->job->layout;
    const struct hrun_rank *first = &l->ranks[0];
    autofree unsigned char *seen = xcalloc((size_t)l->cluster->nhosts + 1, 1);
    autorelease(hrun_strvec_release) struct hrun_strvec words = HRUN_STRVEC_INIT;
    autorelease(hrun_buf_release) struct hrun_buf list = HRUN_BUF_INIT;     /* fingerprints that the hosts must have */
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    int host, at = 0;

    /* Open MPI's support of Slurm sees only the first component of a heterogeneous job. */
    if (l->cluster->ngroups > 1 && reach->agents) {
        if (!hrun_env_user_mca(r->job, "plm"))
            push_launcher_mca(reach, v, "plm", reach->prrte ? "ssh" : "rsh");
        if (!hrun_env_user_mca(r->job, "ras"))
            push_launcher_mca(reach, v, "ras", "^slurm");
    }
    for (size_t i = 0; reach->agents && i < sizeof keepalive / sizeof *keepalive; i++)
        if (!hrun_env_user_mca(r->job, keepalive[i].key))
            push_launcher_mca(reach, v, keepalive[i].key, keepalive[i].value);
    /* Otherwise a daemon would start others through a shim that its host may lack. */
    if (reach->agents && !reach->daemons && reach->nremote > HRUN_REACH_RADIX &&
        !hrun_env_user_mca(r->job, "plm_rsh_no_tree_spawn"))
        push_launcher_mca(reach, v, "plm_rsh_no_tree_spawn", "1");
    /* The shims bind. mpirun assumes that hosts with equal counts are equal, and warns if it cannot bind. */
    if (reach->ranks && reach->nremote && !reach->prrte && !hrun_env_user_mca(r->job, "rtc"))
        push_launcher_mca(reach, v, "rtc", "^hwloc");
    if (reach->daemons) {
        while (!reach->managed && (host = next_remote(l, seen, &at)) >= 0)
            hrun_buf_addf(&list, "%s%s", list.len ? "," : "", l->cluster->hosts[host].fingerprint);
        hrun_buf_addf(&b, "%s host %s %s %s %s", reach->shim, r->own.job_id, reach->managed ? "alone" : "reports",
                      list.len && list.len <= FINGERPRINTS_MAX ? list.data : "-", reach->prrte ? "prted" : "orted");
        push_launcher_mca(reach, v, reach->prrte ? "prte_launch_agent" : "orte_launch_agent", b.data);
    }
    if (reach->ranks) {
        hrun_ranks_words(l, &words);
        hrun_env_preload(r->job, 1, &words);
        hrun_strvec_add(each, "-x", HRUN_RANKS_DO_VARIABLE, NULL);
        for (size_t i = 0; i < words.n; i++) {
            hrun_strvec_push(each, "-x");
            hrun_strvec_pushf(each, "%.*s", (int)strcspn(words.v[i], "="), words.v[i]);
        }
    } else if (first->threads && !hrun_env_user_mca(r->job, "mca_base_env_list")) {
        hrun_strvec_push(each, "-x");
        hrun_strvec_pushf(each, "OMP_NUM_THREADS=%d", first->threads);
    }
}

void hrun_reach_env(const struct hrun_run *r, struct hrun_strvec *env)
{
    const struct hrun_reach *reach = r->reach;
    autorelease(hrun_strvec_release) struct hrun_strvec words = HRUN_STRVEC_INIT;

    if (reach->fifo)
        hrun_strvec_pushf(&words, HRUN_NOTES_VARIABLE "=%s", reach->fifo);
    if (reach->fifo && strcmp(reach->reporter, "proxy"))
        hrun_strvec_push(&words, HRUN_NOTES_KILLER_VARIABLE "=1");
    if (reach->ranks) {
        hrun_ranks_words(r->job->layout, &words);
        hrun_env_preload(r->job, 1, &words);
        hrun_strvec_pushf(&words, HRUN_RANKS_DO_VARIABLE "=bind%s%s", r->job->report_bindings ? ",report" : "",
                          reach->rank_notes ? ",tell" : "");
    }
    if (reach->ranks && reach->nremote && r->own.shmdir)
        hrun_strvec_pushf(&words, HRUN_RANKS_SHM_VARIABLE "=%s", r->own.shmdir);
    hrun_env_set_all(env, &words);
}
