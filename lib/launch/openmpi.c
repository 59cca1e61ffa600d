/* openmpi.c - which mpirun is Open MPI's, and its version; see openmpi.h and launch.h for the contracts */
#include "launch/openmpi.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* What PATH --version prints first, at most a few lines. */
static int ask_version(const char *path, struct hrun_buf *out, struct hrun_error *err)
{
    char chunk[512];
    int fds[2], status;
    ssize_t n;
    pid_t pid;

    if (pipe2(fds, O_CLOEXEC))
        return hrun_fail_errno(err, HRUN_EIO, "cannot make a pipe");
    pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR);
        dup2(null, STDIN_FILENO);
        dup2(null, STDERR_FILENO);
        dup2(fds[1], STDOUT_FILENO);
        execl(path, path, "--version", (char *)NULL);
        _exit(127);
    }
    close(fds[1]);
    if (pid < 0) {
        close(fds[0]);
        return hrun_fail_errno(err, HRUN_EIO, "cannot start %s", path);
    }
    while ((n = read(fds[0], chunk, sizeof chunk)) > 0 || (n < 0 && errno == EINTR))
        if (n > 0)
            hrun_buf_add(out, chunk, (size_t)n);
    close(fds[0]);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return out->failed ? hrun_fail_nomem(err) : 0;
}

/* "mpirun (Open MPI) 4.1.4", "mpirun.openmpi (OpenRTE) 4.1.4": the version, cut off text. NULL: not Open MPI's. */
static char *parse_version(char *text)
{
    static const char *const marks[] = { "(Open MPI) ", "(OpenRTE) " };

    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        char *p = strstr(text, marks[i]);
        if (p && isdigit((unsigned char)p[strlen(marks[i])])) {
            p += strlen(marks[i]);
            p[strcspn(p, " \t\r\n")] = 0;
            return p;
        }
    }
    return NULL;
}

int hrun_openmpi_find(struct hrun_openmpi *m, struct hrun_error *err)
{
    static const char *const names[] = { "mpirun", "mpirun.openmpi" };
    struct hrun_buf b = HRUN_BUF_INIT;
    char *other = NULL, *path, *version = NULL;
    int rc = -1;

    for (size_t i = 0; i < sizeof names / sizeof *names && !version; i++) {
        path = hrun_program_find(names[i], NULL, NULL);
        if (!path)
            continue;
        hrun_buf_reset(&b);
        if (ask_version(path, &b, err)) {
            free(path);
            goto out;
        }
        version = parse_version(b.data);
        if (version) {
            m->path = path;
        } else {
            free(other);
            other = path;
        }
    }
    if (version) {
        m->major = (int)strtol(version, NULL, 10);
        snprintf(m->version, sizeof m->version, "%s", version);
        rc = 0;
    } else if (other) {
        hrun_fail(err, HRUN_EENGINE, "%s is not Open MPI's, and there is no mpirun.openmpi: install "
                  "openmpi-bin, or put the folder of Open MPI's mpirun first in PATH", other);
    } else {
        hrun_fail(err, HRUN_EENGINE, "there is no mpirun in PATH: install openmpi-bin");
    }
out:
    free(other);
    hrun_buf_release(&b);
    return rc;
}

void hrun_openmpi_watched(char *watched, size_t size)
{
    static const char *const names[] = { "mpirun.openmpi", "mpirun", "orted" };
    size_t len = 0;

    *watched = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names && len < size; i++) {
        char *path = hrun_program_find(names[i], NULL, NULL);
        struct stat st;

        if (path && stat(path, &st) == 0)
            len += (size_t)snprintf(watched + len, size - len, "%s %lld %lld;", path, (long long)st.st_size,
                                    (long long)st.st_mtime);
        free(path);
    }
}

void hrun_openmpi_here(char *version, size_t size, char *watched, size_t watched_size)
{
    struct hrun_openmpi m = HRUN_OPENMPI_INIT;

    *version = 0;
    if (hrun_openmpi_find(&m, NULL) == 0)
        snprintf(version, size, "%s", m.version);
    free(m.path);
    hrun_openmpi_watched(watched, watched_size);
}
