/* mpich.c - what programs of MPICH's family need beside PMI, and what they leave behind; see internal.h */
#include "launch/engines/engines.h"
#include "launch/internal.h"

#include "base/file.h"
#include "base/list.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

static int set(struct hrun_strvec *env, const char *name, const char *value)
{
    return hrun_env_set(env, name, strlen(name), value);
}

static int set_number(struct hrun_strvec *env, const char *name, int value)
{
    char text[16];

    snprintf(text, sizeof text, "%d", value);
    return set(env, name, text);
}

int hrun_mpich_env(struct hrun_strvec *env, struct hrun_error *err)
{
    static const char hangup[] = "UCX_DEBUG_SIGNO";

    /* UCX takes SIGHUP as a wish for debugging, and goes on. */
    return !hrun_env_get(env, hangup) && set(env, hangup, "0") ? hrun_fail_nomem(err) : 0;
}

int hrun_mpich_env_rank(const struct hrun_layout *l, int rank, int fd, struct hrun_strvec *env,
                        struct hrun_error *err)
{
    return set_number(env, "PMI_RANK", rank) || set_number(env, "PMI_SIZE", l->nranks) ||
           set_number(env, "PMI_FD", fd) || set_number(env, "MPI_LOCALNRANKS", l->nranks) ||
           set_number(env, "MPI_LOCALRANKID", l->ranks[rank].local_rank) ? hrun_fail_nomem(err) : 0;
}

/* Is a rank on another host than the first one? */
static int spans_hosts(const struct hrun_layout *l)
{
    for (int r = 1; r < l->nranks; r++)
        if (l->ranks[r].host != l->ranks[0].host)
            return 1;
    return 0;
}

char *hrun_mpich_preload(struct hrun_job *job, int over_slurm, char *words, size_t size)
{
    int yields = hrun_env_yields(job);
    char *library;

    if (job->n_mca && job->on_message)
        job->on_message(job->ctx, "--mca does nothing here: these are parameters of Open MPI, and the program is of "
                        "MPICH's family");
    if (!yields && !over_slurm)
        return NULL;
    snprintf(words, size, "%s%s%s", yields ? "yield " : "", over_slurm ? "status " : "",
             over_slurm && spans_hosts(job->layout) ? "progress " : "");
    library = hrun_installed_library("libhrun-mpich.so");
    if (library)
        job->preloads[job->npreloads++] = (struct hrun_preload){ library, "HRUN_MPICH", words };
    else if (job->on_message)
        job->on_message(job->ctx, over_slurm ? "statuses of processes that abort will be wrong, and MPI_Finalize may "
                        "hang: libhrun-mpich.so is not where hrun is installed (make install)"
                        : "processes that share a core will hinder each other while they wait: libhrun-mpich.so is not "
                        "where hrun is installed (make install)");
    return library;
}

/* ---------------------------------------------------------------- the command to type */

/* "0-1,4" as Hydra has it, "0+1+4". */
static void add_set(const char *cpuset, struct hrun_buf *out)
{
    long first, last;
    int n = 0;

    for (const char *p = cpuset; p && *p; p += *p == ',') {
        p = hrun_range_next(p, INT_MAX, &first, &last);
        if (!p)
            return;
        for (long i = first; i <= last; i++)
            hrun_buf_addf(out, "%s%ld", n++ ? "+" : "", i);
    }
}

static void add_bindings(const struct hrun_layout *l, struct hrun_strvec *words)
{
    struct hrun_buf b = HRUN_BUF_INIT;

    hrun_buf_adds(&b, "user:");
    for (int r = 0; r < l->nranks; r++) {
        if (!l->ranks[r].cpuset[0])
            goto out;   /* not all are bound: Hydra cannot say so */
        hrun_buf_adds(&b, r ? "," : "");
        add_set(l->ranks[r].cpuset, &b);
    }
    if (!b.failed && !hrun_strvec_push(words, "-bind-to"))
        hrun_strvec_push(words, b.data);
out:
    hrun_buf_release(&b);
}

int hrun_mpich_command(const struct hrun_job *job, struct hrun_buf *out, struct hrun_error *err)
{
    struct hrun_strvec words = HRUN_STRVEC_INIT;
    int bad = hrun_strvec_push(&words, "mpiexec.hydra") || hrun_strvec_push(&words, "-n") ||
              hrun_strvec_pushf(&words, "%d", hrun_job_run_length(job, 0)), rc;

    add_bindings(job->layout, &words);
    if (!bad && job->wdir)
        bad = hrun_strvec_push(&words, "-wdir") || hrun_strvec_push(&words, job->wdir);
    for (int i = 0; !bad && i < job->n_env; i++) {
        const char *eq = strchr(job->env[i], '=');
        /* Hydra passes the environment on. */
        if (eq)
            bad = hrun_strvec_push(&words, "-genv") ||
                  hrun_strvec_pushf(&words, "%.*s", (int)(eq - job->env[i]), job->env[i]) ||
                  hrun_strvec_push(&words, eq + 1);
    }
    for (int r = 0, n; !bad && r < job->layout->nranks; r += n) {
        n = hrun_job_run_length(job, r);
        if (r)
            bad = hrun_strvec_push(&words, ":") || hrun_strvec_push(&words, "-n") ||
                  hrun_strvec_pushf(&words, "%d", n);
        bad = bad || hrun_push_program(job, r, 0, &words);
    }
    rc = bad ? hrun_fail_nomem(err) : hrun_show_command(job, &words, out, err);
    hrun_strvec_release(&words);
    return rc;
}

/* ---------------------------------------------------------------- shared memory without an owner */

/* Has the process this file open or mapped? What cannot be looked at may have. */
static int has_file(const char *pid, const char *path)
{
    char name[512], target[512];
    struct hrun_buf maps = HRUN_BUF_INIT;
    struct dirent *e;
    DIR *dir;
    ssize_t n;
    int has;

    snprintf(name, sizeof name, "/proc/%.20s/maps", pid);
    has = hrun_file_read(name, 64 << 20, &maps, NULL) == 0 && maps.data && strstr(maps.data, path);
    hrun_buf_release(&maps);
    snprintf(name, sizeof name, "/proc/%.20s/fd", pid);
    dir = has ? NULL : opendir(name);
    while (dir && !has && (e = readdir(dir))) {
        snprintf(name, sizeof name, "/proc/%.20s/fd/%.20s", pid, e->d_name);
        n = readlink(name, target, sizeof target - 1);
        target[n > 0 ? n : 0] = 0;
        has = !strcmp(target, path);
    }
    if (dir)
        closedir(dir);
    return has;
}

static int is_in_use(const char *path)
{
    DIR *dir = opendir("/proc");
    struct dirent *e;
    int used = !dir;

    while (dir && !used && (e = readdir(dir)))
        used = e->d_name[0] >= '1' && e->d_name[0] <= '9' && has_file(e->d_name, path);
    if (dir)
        closedir(dir);
    return used;
}

static void remove_files(time_t since)
{
    static const char *const prefixes[] = { "mpich_shar_tmp", "ucx_shm_posix_" };
    DIR *dir = opendir("/dev/shm");
    struct dirent *e;
    struct stat st;
    char path[512];

    while (dir && (e = readdir(dir)))
        for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
            if (strncmp(e->d_name, prefixes[i], strlen(prefixes[i])))
                continue;
            snprintf(path, sizeof path, "/dev/shm/%s", e->d_name);
            if (lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_ctime >= since &&
                !is_in_use(path))
                unlink(path);
        }
    if (dir)
        closedir(dir);
}

static int is_living(int pid)
{
    struct hrun_buf stat = HRUN_BUF_INIT;
    char path[64], *end;
    int living;

    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    living = hrun_file_read(path, 1 << 16, &stat, NULL) == 0 && stat.data && (end = strrchr(stat.data, ')')) &&
             end[1] && !strchr("ZX", end[2]);
    hrun_buf_release(&stat);
    return living;
}

/* Of System V: private segments to which nobody is attached, made by a process that is no more. UCX makes them. */
static void remove_segments(time_t since)
{
    FILE *f = fopen("/proc/sysvipc/shm", "re");
    struct shmid_ds ds;
    char line[512];
    int id, maker;
    long key;

    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%ld %d %*o %*u %d", &key, &id, &maker) != 3 || key != IPC_PRIVATE)
            continue;
        if (shmctl(id, IPC_STAT, &ds) == 0 && ds.shm_nattch == 0 && ds.shm_perm.cuid == geteuid() &&
            ds.shm_ctime >= since && !is_living(maker))
            shmctl(id, IPC_RMID, NULL);
    }
    if (f)
        fclose(f);
}

void hrun_mpich_remove_orphans(time_t since)
{
    remove_files(since);
    remove_segments(since);
}
