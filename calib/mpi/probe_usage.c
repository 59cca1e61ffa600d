/* probe_usage.c - processor time of other processes on the processors of this process, from /proc (Linux)
 *
 * busy: busy time of the processors in this process's affinity between begin and end minus this process's own time, in
 * processors; stolen: time that the hypervisor took. There is no line `busy` if the counters show less than half of
 * this process's own time, as in some containers. Leaders also print the busiest processes and the number of swapped
 * pages.
 */
#include "hrun_probe.h"

#include <ctype.h>
#include <dirent.h>
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PROCESSES_MAX = 65536, NAMED = 16 };
static const double NAMED_LEAST = 0.01;   /* least share of a processor */

struct process { int pid; double s; char name[32]; };

struct usage {
    double at, own, busy, stolen;
    double swapped;                /* pages swapped in and out */
    struct process *v;             /* leaders: processes that are not of this job */
    int n;
};

static double own_s(void)
{
    struct rusage r;

    getrusage(RUSAGE_SELF, &r);
    return (double)r.ru_utime.tv_sec + (double)r.ru_stime.tv_sec +
           1e-6 * (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

/* /proc/stat, proc(5): "cpu3 user nice system idle iowait irq softirq steal". */
static void read_processors(struct usage *u)
{
    double tick = (double)sysconf(_SC_CLK_TCK);
    char line[1024];
    cpu_set_t mine;
    FILE *f = sched_getaffinity(0, sizeof mine, &mine) ? NULL : fopen("/proc/stat", "re");

    while (f && fgets(line, sizeof line, f)) {
        unsigned long long user, nice, sys, idle, wait, irq, soft, steal = 0;
        int cpu;

        /* Skip "cpu  1 2 3", the sum of all processors. */
        if (!isdigit((unsigned char)line[strspn(line, "cpu")]) ||
            sscanf(line, "cpu%d %llu %llu %llu %llu %llu %llu %llu %llu", &cpu, &user, &nice, &sys, &idle, &wait, &irq,
                   &soft, &steal) < 8 || cpu < 0 || cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &mine))
            continue;
        u->busy += (double)(user + nice + sys + irq + soft) / tick;
        u->stolen += (double)steal / tick;
    }
    if (f)
        fclose(f);
}

static void count_swapped(struct usage *u)
{
    char line[256];
    double pages;
    FILE *f = fopen("/proc/vmstat", "re");

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "pswpin %lf", &pages) == 1 || sscanf(line, "pswpout %lf", &pages) == 1)
            u->swapped += pages;
    if (f)
        fclose(f);
}

/* Read /proc/PID/stat: "pid (name) state ppid ... utime stime"; name: any characters. Result: 1, or 0 if unreadable. */
static int read_process_stat(const char *pid, struct process *out)
{
    char path[64], text[1024], *end;
    unsigned long user, sys;
    size_t n;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    f = fopen(path, "re");
    n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    text[n] = 0;
    end = strrchr(text, ')');
    if (!end || sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &sys) != 2)
        return 0;
    *end = 0;
    snprintf(out->name, sizeof out->name, "%.31s", strchr(text, '(') ? strchr(text, '(') + 1 : "");
    for (char *c = out->name; *c; c++)
        if (!isgraph((unsigned char)*c))
            *c = '_';
    out->pid = (int)strtol(pid, NULL, 10);
    out->s = (double)(user + sys) / (double)sysconf(_SC_CLK_TCK);
    return 1;
}

static void read_processes(const int *own, int nown, struct usage *u)
{
    DIR *dir = opendir("/proc");
    struct dirent *e;

    u->v = mpi_alloc(PROCESSES_MAX, sizeof *u->v);
    while (dir && u->n < PROCESSES_MAX && (e = readdir(dir))) {
        int mine = 0;

        if (!isdigit((unsigned char)e->d_name[0]) || !read_process_stat(e->d_name, &u->v[u->n]))
            continue;
        for (int i = 0; i < nown; i++)
            mine |= own[i] == u->v[u->n].pid;
        u->n += !mine;
    }
    if (dir)
        closedir(dir);
}

static struct usage *read_usage(struct probe *p)
{
    struct usage *u = mpi_alloc(1, sizeof *u);
    int pid = (int)getpid(), *pids = mpi_alloc((size_t)p->nranks, sizeof *pids), n = 0;

    MPI_Allgather(&pid, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < p->nranks; r++)
        if (p->leader[r] == p->leader[p->rank])
            pids[n++] = pids[r];
    u->at = mpi_now();
    u->own = own_s();
    read_processors(u);
    if (p->leader[p->rank] == p->rank) {
        count_swapped(u);
        read_processes(pids, n, u);
    }
    free(pids);
    return u;
}

void probe_usage_begin(struct probe *p)
{
    p->before = read_usage(p);
}

/* For qsort: processes in descending order of their time. */
static int compare_usage(const void *a, const void *b)
{
    double x = ((const struct process *)a)->s, y = ((const struct process *)b)->s;

    return (x < y) - (x > y);
}

static void name_others(const struct probe *p, const struct usage *before, struct usage *after, double elapsed)
{
    for (int i = 0; i < after->n; i++)
        for (int k = 0; k < before->n; k++)
            if (before->v[k].pid == after->v[i].pid && before->v[k].s <= after->v[i].s)
                after->v[i].s -= before->v[k].s;
    if (after->n)
        qsort(after->v, (size_t)after->n, sizeof after->v[0], compare_usage);
    for (int i = 0; i < after->n && i < NAMED && after->v[i].s >= NAMED_LEAST * elapsed; i++)
        fprintf(p->out, "process %d %d %.4f %s\n", p->rank, after->v[i].pid, after->v[i].s / elapsed, after->v[i].name);
}

void probe_usage_end(struct probe *p)
{
    struct usage *before = p->before, *after = read_usage(p);
    double elapsed = after->at - before->at, own = after->own - before->own, busy = after->busy - before->busy;

    if (elapsed > 0 && busy >= 0.5 * own)
        fprintf(p->out, "busy %d %.4f %.4f\n", p->rank, busy > own ? (busy - own) / elapsed : 0,
                (after->stolen - before->stolen) / elapsed);
    if (p->leader[p->rank] == p->rank) {
        fprintf(p->out, "swapped %d %.0f\n", p->rank, after->swapped - before->swapped);
        name_others(p, before, after, elapsed > 0 ? elapsed : 1);
    }
    free(before->v);
    free(before);
    free(after->v);
    free(after);
    p->before = NULL;
}
