/* remote.c - a short command on other hosts, through the agent that mpirun would use; see launch.h for the
 * contracts
 *
 * Each agent leads its own process group, so that its children end with it. If hrun is killed, the guard ends the
 * agents (guard.h). It finds them by their environment, because numbers of process groups are reused. An agent is done
 * when it has exited. hrun then reads the contents of its pipes, but does not wait for end of file: a shared ssh
 * connection in the background may keep the pipes open.
 */
#include "base/units.h"
#include "launch/agent.h"
#include "launch/env.h"
#include "launch/guard.h"
#include "launch/procs.h"
#include "launch/programs.h"
#include "launch/signals.h"
#include "launch/slurm.h"
#include "launch/spawn.h"
#include "launch/words.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    AT_ONCE = 64,               /* agents at a time; limits the load of this host, as each host has its own sshd */
    OUTPUT_MAX = 8 << 20,       /* bytes; four times the topology of a node with a thousand PUs */
    SAID_MAX = 4096,            /* bytes kept from the end of standard error */
    PATIENCE_MS = 500,          /* time from SIGTERM to SIGKILL */
    STEP_MS = 10
};

struct remote_agent {
    int host;                   /* index into hosts */
    pid_t pid;                  /* and process group */
    int fds[2];                 /* its standard output and error; -1 when closed */
    double deadline_s;
    struct hrun_buf said;       /* the end of its standard error */
};

struct crowd {
    const struct hrun_remote *what;
    char *const *hosts;
    struct hrun_buf *outputs;
    char *program;              /* path of the agent */
    struct hrun_strvec words;   /* agent and its options; the host and the command follow */
    char *command;              /* quoted */
    struct hrun_allocation flux;    /* the instance's hosts in the order of their broker ranks, for flux exec; empty: a
                                       remote shell is used */
    struct hrun_strvec env;
    char *job_id;
    struct hrun_guard guard;
    struct hrun_signals signals;
    int interrupted;
    struct remote_agent agents[AT_ONCE];
    int nagents;
    struct hrun_error *errors;
    int nfailed;
};

/* ---------------------------------------------------------------- choice of the agent */

int hrun_flux_resources(struct hrun_buf *text, struct hrun_error *err)
{
    const char *uri = getenv("FLUX_URI");
    autofree char *flux = uri && *uri ? hrun_program_find("flux", NULL, NULL) : NULL;
    char *const words[] = { flux, (char *)(uintptr_t)"kvs", (char *)(uintptr_t)"get", (char *)(uintptr_t)"resource.R",
                            NULL };
    int rc = flux ? hrun_command_output(words, 0, text, err) : 0;

    if (flux && !rc && !text->len)
        rc = hrun_fail(err, HRUN_EENGINE, "FLUX_URI names a Flux instance, and 'flux kvs get resource.R' prints "
                       "nothing: if the instance has ended or is not yours, unset FLUX_URI");
    return rc;
}

/* Set c up for flux exec if this is a Flux instance with all n hosts and the user names no agent. 1 if so, else 0. */
static int find_flux(struct crowd *c, int n)
{
    static const char *const keys[] = { "plm_rsh_agent", "plm_ssh_agent" };
    autofree char *setting = hrun_agent_setting(c->what->mca, keys, 2);
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    int good = !setting && !hrun_flux_resources(&text, NULL) && text.len &&
               !hrun_allocation_flux(text.data, &c->flux, NULL);

    for (int i = 0; i < n && good; i++)
        good = hrun_allocation_index(&c->flux, c->hosts[i], 0) >= 0;
    if (good && (c->program = hrun_program_find("flux", NULL, NULL))) {
        hrun_strvec_add(&c->words, "flux", "exec", "--noinput", "--dir=/", "--rank", NULL);
        return 1;
    }
    hrun_allocation_release(&c->flux);
    return 0;
}

/* ---------------------------------------------------------------- one agent */

/* The agent's word for a host: its broker rank or its name. The caller frees it. */
static char *name_of(const struct crowd *c, int host)
{
    return c->flux.hosts.n ? hrun_strf("%d", hrun_allocation_index(&c->flux, c->hosts[host], 0))
                           : hrun_bare_name(c->hosts[host]);
}

static int start_agent(struct crowd *c, int host, struct hrun_error *err)
{
    struct remote_agent *a = &c->agents[c->nagents];
    autorelease(hrun_strvec_release) struct hrun_strvec argv = HRUN_STRVEC_INIT;
    const struct hrun_spawn s = { .mask = c->signals.old_mask, .sigchld = c->signals.old_sigchld,
                                  .death_signal = SIGKILL };
    struct hrun_spawn_one one = { .program = c->program, .env = c->env.v, .fds = { HRUN_SPAWN_NULL }, .own_group = 1 };
    autofree char *name = name_of(c, host);
    int pipes[2][2] = { { -1, -1 }, { -1, -1 } }, rc = -1;

    hrun_strvec_add_all(&argv, c->words.v);
    hrun_strvec_push(&argv, name);
    if (c->flux.hosts.n)
        hrun_strvec_add(&argv, "sh", "-c", NULL);
    hrun_strvec_push(&argv, c->command);
    one.argv = argv.v;
    *a = (struct remote_agent){ .host = host, .said = HRUN_BUF_INIT };
    if (pipe2(pipes[0], O_CLOEXEC) || pipe2(pipes[1], O_CLOEXEC) ||
        fcntl(pipes[0][0], F_SETFL, O_NONBLOCK) || fcntl(pipes[1][0], F_SETFL, O_NONBLOCK)) {
        hrun_fail_errno(err, HRUN_EIO, "cannot make a pipe to host '%s'", c->hosts[host]);
    } else {
        one.fds[1] = pipes[0][1];
        one.fds[2] = pipes[1][1];
        rc = hrun_spawn(&s, &one, 1, &a->pid, err);
        if (rc && err && (err->code == HRUN_ENOPROG || err->code == HRUN_ENOEXEC))
            err->code = HRUN_EENGINE;   /* the missing program is not the user's */
    }
    for (int k = 0; k < 2; k++) {
        a->fds[k] = pipes[k][0];
        hrun_close_fd(&pipes[k][1]);
        if (rc)
            hrun_close_fd(&a->fds[k]);
    }
    a->deadline_s = hrun_monotonic_s() + c->what->timeout_s;
    c->nagents += !rc;
    return rc;
}

/* Read the present contents of a pipe. which: 0 output, 1 error. */
static void drain_remote_pipe(struct crowd *c, struct remote_agent *a, int which)
{
    struct hrun_buf *out = &c->outputs[a->host];
    char chunk[16384];
    ssize_t n = -1;

    while (a->fds[which] >= 0 && (which || out->len <= OUTPUT_MAX) &&
           ((n = read(a->fds[which], chunk, sizeof chunk)) > 0 || (n < 0 && errno == EINTR))) {
        if (n > 0 && which)
            hrun_buf_add_tail(&a->said, chunk, (size_t)n, SAID_MAX);
        else if (n > 0)
            hrun_buf_add(out, chunk, (size_t)n);
    }
    if (n == 0)
        hrun_close_fd(&a->fds[which]);
}

/* ---------------------------------------------------------------- failures */

/* Set the error of an agent's host, if the host failed. LATE and TOO_MUCH: the agent still runs, and end_late ends it
 * afterwards; EXITED: *end is set as by waitid(2). ssh exits with 255 if there is no connection, else with the status
 * of the command. */
enum agent_end { EXITED, LATE, TOO_MUCH };

static void classify_agent_failure(struct crowd *c, struct remote_agent *a, enum agent_end how, const siginfo_t *end)
{
    char said[SAID_MAX];
    const char *name = c->flux.hosts.n ? "flux exec -r" : c->words.v[0];
    const char *colon, *do_this, *otherwise = c->what->otherwise;
    int exited = how == EXITED && end->si_code == CLD_EXITED, status = how == EXITED ? end->si_status : 0;
    autofree char *host = name_of(c, a->host);
    autofree char *try_it = hrun_strf("see that '%s %s true' works%s", name, host,
                                      c->flux.hosts.n ? "" : " without a password");
    autofree char *see = hrun_strf("see what '%s %s %s' says", name, host, c->command), *what = NULL;

    hrun_last_line(&a->said, said, sizeof said);
    colon = *said ? ": " : "";
    do_this = try_it;
    if (how == LATE) {
        what = hrun_strf("did not answer within %g s%s%.200s", c->what->timeout_s, colon, said);
    } else if (how == EXITED && !exited) {
        what = hrun_strf("did not answer: %s was killed by signal %d%s%.200s", name, status, colon, said);
    } else if (exited && status == 255) {
        what = hrun_strf("cannot be reached through %s%s%.200s", name, colon, said);
    } else if (exited && (status == 126 || status == 127)) {
        what = hrun_strf("cannot run %s%s%.200s%s", c->what->argv[0], *said ? " (" : "", said, *said ? ")" : "");
        do_this = c->what->missing;
    } else if (exited && status) {
        what = hrun_strf("did not answer: status %d of %s%s%.200s", status, name, colon, said);
        do_this = see;
    } else if (c->outputs[a->host].len > OUTPUT_MAX) {
        what = hrun_strf("prints more than %d MiB", OUTPUT_MAX >> 20);
        do_this = see;
    } else {
        return;
    }
    hrun_fail(&c->errors[a->host], HRUN_EENGINE, "host '%s' %s; %s%s%s", c->hosts[a->host], what, do_this,
              otherwise ? ", or " : "", otherwise ? otherwise : "");
    c->nfailed++;
}

/* ---------------------------------------------------------------- ending agents */

/* 1 if the agent has exited, else 0. It stays a zombie, so that its pid is not reused. */
static int has_agent_exited(const struct remote_agent *a, siginfo_t *end)
{
    memset(end, 0, sizeof *end);
    return waitid(P_PID, (id_t)a->pid, end, WEXITED | WNOHANG | WNOWAIT) == 0 && end->si_pid == a->pid;
}

static void reap_agent(struct crowd *c, int i)
{
    struct remote_agent *a = &c->agents[i];

    kill(-a->pid, SIGKILL);     /* processes that the agent has left behind */
    while (waitpid(a->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    hrun_close_fd(&a->fds[0]);
    hrun_close_fd(&a->fds[1]);
    hrun_buf_release(&a->said);
    *a = c->agents[--c->nagents];
}

/* End agents first, first + 1, ... and their children. SIGTERM comes first, so that ssh can close its connection. */
static void end_agents(struct crowd *c, int first)
{
    siginfo_t end;
    int living = 1;

    for (int i = first; i < c->nagents; i++) {
        kill(-c->agents[i].pid, SIGTERM);
        kill(-c->agents[i].pid, SIGCONT);
    }
    for (int ms = 0; living && ms < PATIENCE_MS; ms += STEP_MS) {
        living = 0;
        for (int i = first; i < c->nagents; i++)
            living += !has_agent_exited(&c->agents[i], &end);
        if (living)
            poll(NULL, 0, STEP_MS);
    }
    while (c->nagents > first)
        reap_agent(c, c->nagents - 1);
}

/* ---------------------------------------------------------------- all agents */

/* Move the agents that are past their deadline or print too much to the end of the list, and end them. */
static void end_late(struct crowd *c)
{
    double now = hrun_monotonic_s();
    int first = c->nagents;

    for (int i = 0; i < first; ) {
        struct remote_agent *a = &c->agents[i], late = *a;

        if (late.deadline_s > now && c->outputs[late.host].len <= OUTPUT_MAX) {
            i++;
            continue;
        }
        classify_agent_failure(c, &late, late.deadline_s > now ? TOO_MUCH : LATE, NULL);
        *a = c->agents[--first];
        c->agents[first] = late;
    }
    if (first < c->nagents)
        end_agents(c, first);
}

/* Wait for the next event of an agent, a signal or a deadline, and handle it. */
static int step_agents(struct crowd *c, struct hrun_error *err)
{
    struct pollfd p[1 + 2 * AT_ONCE] = { { .fd = c->signals.fd, .events = POLLIN } };
    double now = hrun_monotonic_s(), wait_s = c->what->timeout_s;
    struct signalfd_siginfo info;
    siginfo_t end;

    for (int i = 0; i < c->nagents; i++) {
        if (c->agents[i].deadline_s - now < wait_s)
            wait_s = c->agents[i].deadline_s - now;
        for (int k = 0; k < 2; k++)
            p[1 + 2 * i + k] = (struct pollfd){ .fd = c->agents[i].fds[k], .events = POLLIN };
    }
    if (poll(p, 1 + 2 * (nfds_t)c->nagents, wait_s > 0 ? (int)(wait_s * 1000) + 1 : 0) < 0 && errno != EINTR)
        return hrun_fail_errno(err, HRUN_EIO, "cannot wait for other hosts");
    while (read(c->signals.fd, &info, sizeof info) == (ssize_t)sizeof info)
        if (info.ssi_signo != SIGCHLD && !c->interrupted)
            c->interrupted = (int)info.ssi_signo;
    if (c->interrupted)
        return hrun_fail(err, HRUN_EENGINE, "interrupted by signal %d", c->interrupted);
    for (int i = 0; i < c->nagents; ) {
        struct remote_agent *a = &c->agents[i];
        int exited = has_agent_exited(a, &end);

        drain_remote_pipe(c, a, 0);
        drain_remote_pipe(c, a, 1);
        if (!exited) {
            i++;
            continue;
        }
        classify_agent_failure(c, a, EXITED, &end);
        reap_agent(c, i);
    }
    end_late(c);
    return 0;
}

static int prepare_agents(struct crowd *c, int n, struct hrun_error *err)
{
    struct hrun_guard_spec spec = { .grace_ms = PATIENCE_MS };
    struct hrun_buf command = HRUN_BUF_INIT;

    if (!find_flux(c, n)) {
        if (hrun_agent_find(c->what->mca, &c->program, &c->words, err))
            return -1;
        if (hrun_agent_is_ssh(c->program))
            hrun_strvec_add(&c->words, "-o", "BatchMode=yes", NULL);
    }
    hrun_env_base(&c->env);
    hrun_buf_add_command(&command, c->what->argv);
    c->command = hrun_buf_detach(&command);
    c->job_id = hrun_strf("remote.%ld.%.0f", (long)getpid(), hrun_monotonic_s() * 1e9);
    hrun_env_set(&c->env, HRUN_JOB_VARIABLE "=%s", c->job_id);
    spec.job_id = c->job_id;
    return hrun_signals_block(&c->signals, 0, err) ||
           hrun_guard_start(&spec, NULL, NULL, &c->guard, err) ? -1 : 0;
}

int hrun_remote_run(const struct hrun_remote *what, char *const *hosts, int n, struct hrun_buf *outputs,
                    struct hrun_error *errors, struct hrun_error *err)
{
    struct crowd c = { .what = what, .hosts = hosts, .outputs = outputs, .guard = HRUN_GUARD_INIT,
                       .signals = HRUN_SIGNALS_INIT, .errors = errors };
    int next = 0, saved = errno, rc = hrun_remote_srun(what, hosts, n, outputs, errors, err);

    if (rc <= 0)
        return rc;
    rc = prepare_agents(&c, n, err);
    while (!rc && (c.nagents || (next < n && (what->keep_going || !c.nfailed)))) {
        while (!rc && next < n && (what->keep_going || !c.nfailed) && c.nagents < AT_ONCE)
            rc = start_agent(&c, next++, err);
        if (!rc && c.nagents)
            rc = step_agents(&c, err);
    }
    end_agents(&c, 0);
    hrun_guard_stop(&c.guard);
    hrun_signals_restore(&c.signals);
    hrun_strvec_release(&c.words);
    hrun_strvec_release(&c.env);
    hrun_allocation_release(&c.flux);
    free(c.program);
    free(c.command);
    free(c.job_id);
    if (c.interrupted)
        raise(c.interrupted);     /* for the caller's own handler, which may return */
    errno = saved;
    return rc;
}
