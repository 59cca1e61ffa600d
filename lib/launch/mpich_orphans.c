/* mpich_orphans.c - shared memory of MPICH and UCX without an owner; see mpich.h */
#include "base/file.h"
#include "launch/mpich.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

/* 1 if the process has this file open or mapped; 0: it has not, or cannot be examined. */
static int has_file(const char *pid, const char *path)
{
    char name[512], target[512];
    autorelease(hrun_buf_release) struct hrun_buf maps = HRUN_BUF_INIT;
    struct dirent *e;
    DIR *dir;
    ssize_t n;
    int has;

    snprintf(name, sizeof name, "/proc/%.20s/maps", pid);
    has = hrun_file_read(name, 64 << 20, &maps, NULL) == 0 && strstr(maps.data, path);
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

/* Remove private System V segments, as UCX makes, that no process has attached and whose creator has ended. */
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
            ds.shm_ctime >= since && kill(maker, 0) && errno == ESRCH)
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
