/* srun_words.c - what srun -v says of a running step; see slurm.h
 *
 * Lines of Slurm 22.05; the parser uses the parts that are the same in 20.11 to 24.05:
 *   srun: launching StepId=5.3 on host h1, 2 tasks: [1,3]
 *   srun: launch/slurm: _task_start: Node h1, 2 tasks started
 *   srun: launch/slurm: _task_finish: Received task exit notification for 1 task of StepId=5.3 (status=0x0300).
 *   srun: error: h1: task 3: Exited with exit code 3
 *   srun: launch/slurm: _task_finish: h1: tasks 1,3: Completed
 *   srun: Job step aborted: Waiting up to 4 seconds for job step to finish.
 */
#include "base/list.h"
#include "launch/slurm.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

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

/* Find the word after a mark in a line: "srun: error: Node failure on h3". */
static int word_behind(const char *line, const char *mark, struct hrun_srun_said *out)
{
    const char *p = strstr(line, mark);

    if (!p)
        return 0;
    out->text = p + strlen(mark);
    out->len = strcspn(out->text, " ,:;");
    return out->len > 0;
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
    else if (word_behind(line, "Node failure on ", out))
        out->kind = HRUN_SRUN_LOST;
    else if (strstr(line, "step creation") && text_behind(line, own, out))
        out->kind = HRUN_SRUN_WAITING;
    else if (text_behind(line, "srun: error: ", out) || text_behind(line, "srun: fatal: ", out))
        out->kind = HRUN_SRUN_COMPLAINT;
}
