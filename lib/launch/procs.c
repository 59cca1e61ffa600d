/* procs.c - the processes of a job, through /proc; see procs.h for the contracts */
#include "launch/procs.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "launch/programs.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROC_FILE_MAX = 16 << 20 };  /* an environment or a list of mappings is far smaller */

void hrun_pids_push(struct hrun_pids *p, pid_t pid)
{
    hrun_grow(p->v, p->n + 1, p->cap);
    p->v[p->n++] = pid;
}

int hrun_pids_has(const struct hrun_pids *p, pid_t pid)
{
    for (size_t i = 0; p && i < p->n; i++)
        if (p->v[i] == pid)
            return 1;
    return 0;
}

void hrun_pids_release(struct hrun_pids *p)
{
    free(p->v);
    p->v = NULL;
    p->n = p->cap = 0;
}

static int slurp(pid_t pid, const char *what, struct hrun_buf *out)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, what);
    return hrun_file_read(path, PROC_FILE_MAX, out, NULL);
}

int hrun_procs_marked(pid_t pid, const char *job_id, unsigned long mark)
{
    static const char limit[] = "\nMax file locks ";
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    size_t name = strlen(HRUN_JOB_VARIABLE), at = 0;
    const char *p;
    int found = 0;

    if (slurp(pid, "environ", &b) == 0)
        for (; at < b.len && !found; at += strlen(b.data + at) + 1)
            found = !strncmp(b.data + at, HRUN_JOB_VARIABLE, name) && b.data[at + name] == '=' &&
                    !strcmp(b.data + at + name + 1, job_id);
    hrun_buf_reset(&b);
    if (found || !mark || slurp(pid, "limits", &b) || !(p = strstr(b.data, limit)))
        return found;
    /* Another user's process, which hrun may not signal, can have any limit. */
    return strtoul(p + strlen(limit), NULL, 10) == mark && !kill(pid, 0);
}

int hrun_procs_of_job(const char *job_id, unsigned long mark, const struct hrun_pids *groups,
                      const struct hrun_pids *except, struct hrun_pids *out)
{
    DIR *dir = opendir("/proc");
    struct dirent *e;

    if (!dir)
        return -1;
    while ((e = readdir(dir))) {
        autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
        pid_t pid = (pid_t)atol(e->d_name);
        long group;
        char state;
        const char *p;

        if (pid <= 0 || pid == getpid() || hrun_pids_has(except, pid) || slurp(pid, "stat", &text))
            continue;
        p = strrchr(text.data, ')');    /* "pid (name) state ppid pgrp ..."; name may contain any character */
        if (!p || sscanf(p + 1, " %c %*d %ld", &state, &group) != 2 || state == 'Z' || state == 'X')
            continue;
        if (hrun_pids_has(groups, (pid_t)group) || hrun_procs_marked(pid, job_id, mark))
            hrun_pids_push(out, pid);
    }
    closedir(dir);
    return 0;
}

int hrun_procs_children(pid_t pid, struct hrun_pids *out)
{
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    char folder[64], path[128], *end;
    struct dirent *e;
    int listed = 0;
    DIR *dir;

    snprintf(folder, sizeof folder, "/proc/%ld/task", (long)pid);
    dir = opendir(folder);
    while (dir && (e = readdir(dir))) {
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%.20s/children", folder, e->d_name);
        hrun_buf_reset(&b);
        if (hrun_file_read(path, PROC_FILE_MAX, &b, NULL))
            continue;
        listed = 1;
        for (char *p = b.data; ; p = end) {
            long child = strtol(p, &end, 10);

            if (end == p)
                break;
            hrun_pids_push(out, (pid_t)child);
        }
    }
    if (dir)
        closedir(dir);
    return listed ? 0 : -1;
}

void hrun_procs_tree(pid_t root, struct hrun_pids *out)
{
    size_t at = out->n;

    hrun_pids_push(out, root);
    for (; at < out->n; at++)
        hrun_procs_children(out->v[at], out);  /* a process that has just ended has none */
}

enum hrun_mpi_kind hrun_procs_mpi(pid_t pid, char *name, size_t size)
{
    static const char openmpi[] = "libmpi.so";
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    char *line, *save = NULL;
    enum hrun_mpi_kind found = HRUN_MPI_NONE;

    if (slurp(pid, "maps", &b) == 0)
        for (line = strtok_r(b.data, "\n", &save); line && found == HRUN_MPI_NONE;
             line = strtok_r(NULL, "\n", &save)) {
            const char *path = strchr(line, '/'), *base = path ? strrchr(path, '/') + 1 : NULL;
            if (base && hrun_soname_is_mpich(base))
                found = HRUN_MPI_MPICH;
            else if (base && !strncmp(base, openmpi, strlen(openmpi)))
                found = HRUN_MPI_OPENMPI;
            if (found != HRUN_MPI_NONE)
                snprintf(name, size, "%s", base);
        }
    return found;
}
