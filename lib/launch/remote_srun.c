/* remote_srun.c - a short command on the nodes of a Slurm allocation, by one step of srun for all; see slurm.h
 *
 * The step overlaps others and is not bound, so the command may use exactly the CPUs granted to the job on its node.
 * srun --label marks the lines of each node, but breaks those of more than 1 KiB. So the step runs `hrun-shim fold`,
 * which runs the command, folds its output into shorter lines, and at the end writes its status. If the step cannot be
 * created, for instance because a node is down, each half of the hosts is tried, until the failing ones are found. A
 * step for a few nodes takes 0.1 s.
 */
#include "base/alloc.h"
#include "launch/job.h"
#include "launch/programs.h"
#include "launch/slurm.h"

#include <ctype.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OUTPUT_MAX = 8 << 20 };  /* as in remote.c */

/* ---------------------------------------------------------------- decoding the output */

static void unfold_line(void *unfold, char *line, size_t len)
{
    struct hrun_unfold *u = unfold;
    char *end;
    long task = strtol(line, &end, 10);
    size_t head = (size_t)(end - line) + 2;

    if (end == line || strncmp(end, ": ", 2) || task < 0 || task >= u->n || len <= head + 1)
        return;
    if (line[head] == '=' && isdigit((unsigned char)line[head + 1])) {
        u->status[task] = (int)strtol(line + head + 1, NULL, 10);
        return;
    }
    if (u->outputs[task].len > OUTPUT_MAX)
        return;
    hrun_buf_add(&u->outputs[task], line + head, len - head - 2);
    if (line[len - 2] == '.')
        hrun_buf_addc(&u->outputs[task], '\n');
}

void hrun_unfold(void *unfold, const char *data, size_t len)
{
    struct hrun_unfold *u = unfold;

    hrun_lines_feed(&u->line, SIZE_MAX, data, len, unfold_line, u);
}

/* ---------------------------------------------------------------- one step */

struct node {
    int host;                   /* index into hosts */
    int group;                  /* component of a heterogeneous job */
    char *name;                 /* name for Slurm */
};

struct gather {
    const struct hrun_remote *what;
    char *const *hosts;
    struct hrun_buf *outputs;
    struct hrun_error *errors;
    struct hrun_allocation a;
    char *srun, *shim;
    struct node *nodes;         /* sorted by component */
    int nnodes, nfailed;
    int signalled;
};

/* A step of srun. */
struct step {
    struct gather *g;
    const struct node *nodes;
    int n;
    int started;                /* tasks */
    char complaint[256];        /* last error message of srun, or "" */
    struct hrun_outcome out;
    struct hrun_buf stderr_text;
};

static void read_gather_line(struct hrun_run *r, char *line)
{
    struct step *t = r->state;
    struct hrun_srun_said said;

    hrun_srun_read(line, &said);
    if (said.kind == HRUN_SRUN_STARTED)
        t->started += said.ntasks;
    else if (said.kind == HRUN_SRUN_COMPLAINT || said.kind == HRUN_SRUN_WAITING)
        snprintf(t->complaint, sizeof t->complaint, "%s", said.text);
    else if (said.kind == HRUN_SRUN_LOST)
        snprintf(t->complaint, sizeof t->complaint, "node failure on %.*s", (int)said.len, said.text);
}

/* SIGTERM makes srun kill its tasks. */
static void bring_gather_signal(struct hrun_run *r, int sig)
{
    if (sig == SIGKILL || hrun_signal_action(sig) == HRUN_SIGNAL_END)
        kill(r->procs[0].pid, SIGTERM);
}

/* Build the command, one part for each component. */
static int build_gather(const struct hrun_run *r, struct hrun_strvec *v, struct hrun_error *err)
{
    const struct step *t = r->state;

    hrun_strvec_push(v, "srun");
    for (int i = 0; i < t->n; ) {
        struct hrun_srun_part part = { .is_het = t->g->a.ngroups > 1, .group = t->nodes[i].group };
        int failed;

        if (i)
            hrun_strvec_push(v, ":");
        for (; i < t->n && t->nodes[i].group == part.group; i++)
            hrun_strvec_push(&part.nodes, t->nodes[i].name);
        part.nhosts = part.nranks = (int)part.nodes.n;
        failed = hrun_srun_push_step(r, &part, "none", v, err);
        hrun_strvec_release(&part.nodes);
        if (failed)
            return -1;
        hrun_strvec_add(v, "--chdir=/", "--input=none", "--label", "--job-name=hrun", t->g->shim, "fold", NULL);
        hrun_strvec_add_all(v, t->g->what->argv);
    }
    return 0;
}

/* srun's status is ignored, because the tasks report the statuses of their commands. */
static void gather_ended(struct hrun_run *r, int status)
{
    (void)r, (void)status;
}

static int start_gather(struct hrun_run *r, struct hrun_error *err)
{
    const struct step *t = r->state;
    autorelease(hrun_strvec_release) struct hrun_strvec argv = HRUN_STRVEC_INIT;
    autorelease(hrun_strvec_release) struct hrun_strvec env = HRUN_STRVEC_INIT;

    r->style.tagging = HRUN_TAG_SRUN;
    if (hrun_run_prepare(r, 1, err) || build_gather(r, &argv, err))
        return -1;
    hrun_srun_clean_env(&env);
    return hrun_run_start_one(r, t->g->srun, argv.v, &env, err);
}

/* ---------------------------------------------------------------- failures */

static void blame_node(struct gather *g, int host, const char *happened, const char *why, const char *do_this)
{
    const struct hrun_remote *what = g->what;

    hrun_fail(&g->errors[host], HRUN_EENGINE, "host '%s' %s%s%.300s; %s%s%s", g->hosts[host], happened,
              *why ? ": " : "", why, do_this, what->otherwise ? ", or " : "", what->otherwise ? what->otherwise : "");
    g->nfailed++;
}

/* task: index in t->nodes; status: exit status of its command, -1: unknown. */
static void classify_node_failure(struct step *t, int task, int status)
{
    struct gather *g = t->g;
    int host = t->nodes[task].host;
    autofree char *see = hrun_strf("see what 'srun --overlap -N 1 -w %s %s' says", t->nodes[task].name,
                                   g->what->argv[0]);
    autofree char *late = hrun_strf("did not answer within %g s", g->what->timeout_s);
    char words[400] = "";       /* the last line that the task has written to standard error */

    for (const char *line = t->stderr_text.data; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        char *end;
        long n = strtol(line, &end, 10);

        if (end != line && n == task && !strncmp(end, ": ", 2))
            snprintf(words, sizeof words, "%.*s", (int)strcspn(end + 2, "\n"), end + 2);
    }
    if (status == 126 || status == 127)
        blame_node(g, host, "cannot run the command", words, g->what->missing);
    else if (status > 0)
        blame_node(g, host, "did not answer", words, see);
    else if (status < 0 && strstr(words, "execve"))
        blame_node(g, host, "cannot run hrun-shim", words, g->what->missing);
    else if (status < 0)
        blame_node(g, host, t->out.timed_out ? late : "did not answer", *words ? words : t->complaint, see);
    else if (g->outputs[host].len > OUTPUT_MAX)
        blame_node(g, host, "prints too much", "", see);
}

/* ---------------------------------------------------------------- all hosts */

/* Run one step for t->nodes. 1: the step was not created, t->complaint says why; 0: it was created; -1: *err is set. */
static int run_gather_step(struct step *t, struct hrun_error *err)
{
    static const struct hrun_driver driver = {
        .is_launcher = 1, .grace_ms = 1000, .start = start_gather, .signal = bring_gather_signal,
        .on_line = read_gather_line, .ended = gather_ended,
    };
    struct gather *g = t->g;
    size_t n = (size_t)t->n;
    struct hrun_unfold u = { t->n, xcalloc(n, sizeof *u.outputs), xcalloc(n, sizeof *u.status), HRUN_BUF_INIT };
    const struct hrun_layout none = { 0 };
    const struct hrun_job job = { .layout = &none, .argv = g->what->argv, .program = g->srun, .no_stdin = 1,
                                  .timeout_s = g->what->timeout_s, .ctx = &u,
                                  .output = { .on_stdout = hrun_unfold, .swallow = 1,
                                              .stderr_text = &t->stderr_text } };
    int rc;

    for (int i = 0; i < t->n; i++) {
        hrun_buf_init(&u.outputs[i]);
        u.status[i] = -1;
    }
    rc = hrun_run_job(&driver, t, NULL, &job, &t->out, err);
    g->signalled = t->out.signalled;
    if (!rc && g->signalled)
        rc = hrun_fail(err, HRUN_EENGINE, "interrupted by signal %d", g->signalled);
    if (!rc && !t->started && !t->out.timed_out && t->n > 1)
        rc = 1;
    for (int i = 0; i < t->n; i++) {
        hrun_buf_add(&g->outputs[t->nodes[i].host], u.outputs[i].data, u.outputs[i].len);
        if (!rc)
            classify_node_failure(t, i, u.status[i]);
        hrun_buf_release(&u.outputs[i]);
    }
    free(u.outputs);
    free(u.status);
    hrun_buf_release(&u.line);
    return rc;
}

static int ask_nodes(struct gather *g, const struct node *nodes, int n, struct hrun_error *err)
{
    struct step t = { .g = g, .nodes = nodes, .n = n, .stderr_text = HRUN_BUF_INIT };
    int rc = run_gather_step(&t, err);

    hrun_buf_release(&t.stderr_text);
    if (rc <= 0)
        return rc;
    if (ask_nodes(g, nodes, n / 2, err))
        return -1;
    return g->nfailed && !g->what->keep_going ? 0 : ask_nodes(g, nodes + n / 2, n - n / 2, err);
}

static int by_group(const void *a, const void *b)
{
    const struct node *x = a, *y = b;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return (x->host > y->host) - (x->host < y->host);
}

/* 0: the allocation has all n hosts; 1: some are missing; -1: *err is set. */
static int find_nodes(struct gather *g, int n, struct hrun_error *err)
{
    struct hrun_error why = { 0 };

    if (!getenv("SLURM_JOB_ID") || !(g->srun = hrun_program_find("srun", NULL, NULL)))
        return 1;
    if (hrun_allocation_find(NULL, &g->a, err))
        return -1;
    if (g->a.manager != HRUN_MANAGER_SLURM)
        return 1;
    g->nodes = xcalloc((size_t)n + 1, sizeof *g->nodes);
    for (; g->nnodes < n; g->nnodes++) {
        struct node *node = &g->nodes[g->nnodes];

        node->host = g->nnodes;
        node->name = hrun_srun_node(&g->a, g->hosts[g->nnodes], 0, &node->group, &why);
        if (!node->name)
            return 1;
    }
    qsort(g->nodes, (size_t)n, sizeof *g->nodes, by_group);
    return 0;
}

int hrun_remote_srun(const struct hrun_remote *what, char *const *hosts, int n, struct hrun_buf *outputs,
                     struct hrun_error *errors, struct hrun_error *err)
{
    struct gather g = { .what = what, .hosts = hosts, .outputs = outputs, .errors = errors };
    int rc = n > 0 ? find_nodes(&g, n, err) : 1;

    if (rc == 0) {
        g.shim = hrun_shim_path(err);
        rc = g.shim ? ask_nodes(&g, g.nodes, n, err) : -1;
    }
    for (int i = 0; g.nodes && i < n; i++)
        free(g.nodes[i].name);
    free(g.nodes);
    free(g.srun);
    free(g.shim);
    hrun_allocation_release(&g.a);
    if (g.signalled)
        raise(g.signalled);     /* for the caller's own handler, which may return */
    return rc;
}
