/* slurm.c - options and environment of srun, hosts of a Slurm allocation, messages of srun; see slurm.h */
#include "launch/slurm.h"

#include "base/alloc.h"
#include "base/list.h"
#include "launch/env.h"
#include "launch/job.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int hrun_srun_missing(struct hrun_error *err, const char *name)
{
    return hrun_fail(err, HRUN_EENGINE, "engine srun needs %s, and there is none in PATH: install slurm-client", name);
}

int hrun_allocation_index(const struct hrun_allocation *a, const char *name, int is_local)
{
    const char *names[3] = { name, NULL, NULL };
    char own[256] = "";

    gethostname(own, sizeof own - 1);
    if (is_local) {
        names[1] = getenv("SLURMD_NODENAME");
        names[2] = own;
    }
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; names[k] && i < a->hosts.n; i++)
            if (hrun_same_host(names[k], a->hosts.v[i]))
                return (int)i;
    return -1;
}

char *hrun_srun_node(const struct hrun_allocation *a, const char *name, int is_local, int *group,
                     struct hrun_error *err)
{
    int i = hrun_allocation_index(a, name, is_local);

    if (i < 0) {
        hrun_fail(err, HRUN_EINVAL, "host '%s' is not part of %s: leave it out, or use --engine mpirun", name, a->name);
        return NULL;
    }
    *group = a->group[i];
    return xstrdup(a->hosts.v[i]);
}

void hrun_srun_clean_env(struct hrun_strvec *env)
{
    /* Variables that act as options of srun, and could contradict hrun's options. */
    static const char *const options[] = {
        "SLURM_CPUS_PER_TASK=", "SRUN_CPUS_PER_TASK=", "SLURM_CPU_BIND", "SLURM_DISTRIBUTION=", "SLURM_EXACT=",
        "SLURM_EXCLUSIVE=", "SLURM_EXPORT_ENV=", "SRUN_EXPORT_ENV=", "SLURM_HET_GROUP=", "SLURM_HINT=",
        "SLURM_HOSTFILE=", "SLURM_KILL_BAD_EXIT=", "SLURM_LABELIO=", "SLURM_MPI_TYPE=", "SLURM_MULTI_PROG",
        "SLURM_NNODES=", "SLURM_NPROCS=",
        "SLURM_NTASKS", "SLURM_OPEN_MODE=", "SLURM_OVERCOMMIT=", "SLURM_OVERLAP=", "SLURM_RELATIVE=",
        "SLURM_REMOTE_CWD=", "SLURM_STDERRMODE=", "SLURM_STDINMODE=", "SLURM_STDOUTMODE=", "SLURM_STEP_",
        "SLURM_STEPID=",
        "SLURM_THREADS=", "SLURM_THREADS_PER_CORE=", "SLURM_UNBUFFEREDIO=", "SLURM_WAIT=", "SLURM_WHOLE=",
        "SLURM_WORKING_DIR=", NULL
    };
    autorelease(hrun_strvec_release) struct hrun_strvec all = HRUN_STRVEC_INIT;

    hrun_env_base(&all);
    for (size_t i = 0; i < all.n; i++)
        if (!hrun_begins_with(all.v[i], options))
            hrun_strvec_push(env, all.v[i]);
}

void hrun_srun_push_placement(const struct hrun_srun_part *part, const char *nodes, const char *mpi,
                              struct hrun_strvec *v)
{
    if (part->is_het)
        hrun_strvec_pushf(v, "--het-group=%d", part->group);
    hrun_strvec_pushf(v, "--mpi=%s", mpi);
    hrun_strvec_pushf(v, "--nodes=%d", part->nhosts);
    hrun_strvec_pushf(v, "--ntasks=%d", part->nranks);
    hrun_strvec_push(v, "--distribution=arbitrary");
    hrun_strvec_pushf(v, "--nodelist=%s", nodes);
    hrun_strvec_add(v, "--overcommit", "--overlap", "--whole", "--cpu-bind=none", NULL);
}

int hrun_srun_push_step(const struct hrun_run *r, const struct hrun_srun_part *part, const char *mpi,
                        struct hrun_strvec *v, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    autofree char *name = hrun_strf("nodes.%d", part->group), *file = NULL;
    int fd = hrun_output_child_fd(r->output, 0, 1);

    for (size_t k = 0; k < part->nodes.n; k++)
        hrun_buf_addf(&text, "%s\n", part->nodes.v[k]);
    if (!(file = hrun_run_write(r, name, &text, err)))
        return -1;
    hrun_srun_push_placement(part, file, mpi, v);
    hrun_strvec_add(v, "--verbose", "--export=ALL", "--wait=0", "--kill-on-bad-exit=0", NULL);
    if (fd >= 0)
        hrun_strvec_pushf(v, "--error=/proc/self/fd/%d", fd);
    else
        hrun_strvec_push(v, "--error=/dev/null");
    return 0;
}

/* ---------------------------------------------------------------- messages of srun -v
 *
 * Lines of Slurm 22.05; the parser uses only parts that do not differ in 20.11 to 24.05:
 *   srun: launching StepId=5.3 on host h1, 2 tasks: [1,3]
 *   srun: launch/slurm: _task_start: Node h1, 2 tasks started
 *   srun: launch/slurm: _task_finish: Received task exit notification for 1 task of StepId=5.3 (status=0x0300).
 *   srun: error: h1: task 3: Exited with exit code 3
 *   srun: launch/slurm: _task_finish: h1: tasks 1,3: Completed
 *   srun: Job step aborted: Waiting up to 4 seconds for job step to finish.
 */

static const char own[] = "srun: ";

/* "StepId=5.3 " -> out->step. */
static int read_step(const char *line, struct hrun_srun_said *out)
{
    static const char key[] = "StepId=";
    const char *p = strstr(line, key);
    size_t len = p ? strspn(p + strlen(key), "0123456789.+_") : 0;

    if (!len || len >= sizeof out->step)
        return 0;
    snprintf(out->step, sizeof out->step, "%.*s", (int)len, p + strlen(key));
    return 1;
}

/* Read the number (at most max) after `before` at text into *out. 0, or -1 if there is none. */
static int read_srun_number(const char *text, const char *before, int max, int *out)
{
    size_t len = strlen(before);
    long first, last;

    if (strncmp(text, before, len) || !hrun_range_next(text + len, max, &first, &last))
        return -1;
    *out = (int)first;
    return 0;
}

/* The number of a signal that srun names, in English: "Segmentation fault (core dumped)" -> 11. 0: no signal. */
static int read_signal(const char *text)
{
    int best = 0, nth;
    size_t longest = 0;

    for (int sig = 1; sig < NSIG; sig++) {
        const char *name = sigdescr_np(sig);
        size_t len = name ? strlen(name) : 0;

        if (len > longest && !strncmp(text, name, len) && (!text[len] || text[len] == ' ')) {
            best = sig;
            longest = len;
        }
    }
    return best || read_srun_number(text, "Real-time signal ", SIGRTMAX - SIGRTMIN, &nth) ? best : SIGRTMIN + nth;
}

/* "srun: error: h1: task 3: Exited with exit code 3", "... h1: tasks 0-2,4: Killed". */
static int read_tasks(const char *line, struct hrun_srun_said *out)
{
    const char *p = strstr(line, ": task "), *many = strstr(line, ": tasks ");

    if (!p || (many && many < p))
        p = many;
    if (!p)
        return 0;
    p = strchr(p + 2, ' ') + 1;
    p += *p == '[';
    if (read_srun_number(p, "", INT_MAX, &out->task))
        return 0;
    p += strspn(p, "0123456789,-]");
    if (strncmp(p, ": ", 2))
        return 0;
    p += 2;
    if (!strncmp(p, "Completed", 9)) {
        out->status = 0;
        return 1;
    }
    if (!read_srun_number(p, "Exited with exit code ", 255, &out->status))
        return 1;
    out->signal = read_signal(p);
    out->status = 128 + out->signal;
    return out->signal > 0;
}

static int text_behind(const char *line, const char *mark, struct hrun_srun_said *out)
{
    if (strncmp(line, mark, strlen(mark)))
        return 0;
    out->text = line + strlen(mark);
    out->len = strlen(out->text);
    return 1;
}

void hrun_srun_read(const char *line, struct hrun_srun_said *out)
{
    static const char failure[] = "Node failure on ";
    const char *p;

    memset(out, 0, sizeof *out);
    if (strncmp(line, own, strlen(own)))
        return;
    if (strstr(line, "task exit notification"))
        out->kind = read_step(line, out) ? HRUN_SRUN_NOTICE : HRUN_SRUN_NOTHING;
    else if (read_tasks(line, out))
        out->kind = HRUN_SRUN_TASKS;
    else if (strstr(line, "launching ") && read_step(line, out))
        out->kind = HRUN_SRUN_STEP;
    else if ((p = strstr(line, ": Node ")) && (p = strchr(p, ',')) && !read_srun_number(p, ", ", INT_MAX, &out->ntasks))
        out->kind = HRUN_SRUN_STARTED;
    else if (strstr(line, "Job step aborted"))
        out->kind = HRUN_SRUN_ABORTED;
    else if ((p = strstr(line, failure)) && text_behind(p, failure, out) && (out->len = strcspn(out->text, " ,:;")))
        out->kind = HRUN_SRUN_LOST;
    else if (strstr(line, "step creation") && text_behind(line, own, out))
        out->kind = HRUN_SRUN_WAITING;
    else if (text_behind(line, "srun: error: ", out) || text_behind(line, "srun: fatal: ", out))
        out->kind = HRUN_SRUN_COMPLAINT;
}
