/* program.c - finding programs, and the output of short commands; see launch.h and programs.h for the contracts */
#include "launch/programs.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* dir/name as an absolute path. A relative dir is relative to wdir, a relative wdir to the current folder. NULL: there
 * is no current folder. */
static char *absolute_path(const char *wdir, const char *dir, size_t len, const char *name, struct hrun_error *err)
{
    const char *base = wdir && *wdir ? wdir : "";
    autofree char *cwd = NULL;

    if (len && dir[0] == '/')
        return hrun_strf("%.*s/%s", (int)len, dir, name);
    if (base[0] != '/' && !(cwd = getcwd(NULL, 0))) {
        hrun_fail_errno(err, HRUN_ENOPROG, "the present folder cannot be found");
        return NULL;
    }
    return hrun_strf("%s%s%s/%.*s%s%s", cwd ? cwd : "", cwd && *base ? "/" : "", base, (int)len, dir,
                     len ? "/" : "", name);
}

/* 0 if path can be executed; else ENOENT, EACCES, EISDIR, or EINVAL for other files that are not regular. */
static int check_executable(const char *path)
{
    struct stat st;

    if (stat(path, &st))
        return errno == EACCES ? EACCES : ENOENT;
    if (S_ISDIR(st.st_mode))
        return EISDIR;
    if (!S_ISREG(st.st_mode))
        return EINVAL;
    return access(path, X_OK) ? EACCES : 0;
}

static int not_executable(const char *path, int why, struct hrun_error *err)
{
    if (why == EISDIR)
        return hrun_fail(err, HRUN_ENOEXEC, "%s is a folder, not a program", path);
    if (why == EINVAL)
        return hrun_fail(err, HRUN_ENOEXEC, "%s is not a regular file, and so no program", path);
    return hrun_fail(err, HRUN_ENOEXEC, "%s cannot be executed: set its permission with chmod +x", path);
}

static char *find_by_path(const char *name, const char *wdir, struct hrun_error *err)
{
    char *path = name[0] == '/' ? xstrdup(name) : absolute_path(wdir, "", 0, name, err);
    int why;

    if (!path)
        return NULL;
    why = check_executable(path);
    if (why == 0)
        return path;
    if (why == ENOENT)
        hrun_fail(err, HRUN_ENOPROG, "%s: there is no such program (looked for %s)", name, path);
    else
        not_executable(path, why, err);
    free(path);
    return NULL;
}

static char *find_in_path(const char *name, const char *wdir, struct hrun_error *err)
{
    const char *list = getenv("PATH"), *end;
    autofree char *refused = NULL, *here = NULL;

    if (!list)
        list = "/bin:/usr/bin";  /* the default of execvp(3) without the current folder */
    for (const char *p = list; ; p = end + 1) {
        char *path;
        int why;

        end = p + strcspn(p, ":");
        path = absolute_path(wdir, p, (size_t)(end - p), name, err);
        if (!path)
            return NULL;
        why = check_executable(path);
        if (why == 0)
            return path;
        if (why == EACCES && !refused)
            refused = path;
        else
            free(path);
        if (!*end)
            break;
    }
    if (refused) {
        not_executable(refused, EACCES, err);
        return NULL;
    }
    here = absolute_path(wdir, "", 0, name, NULL);
    if (here && check_executable(here) == 0)
        hrun_fail(err, HRUN_ENOPROG, "%s: there is no program of this name in PATH; did you mean ./%s?", name, name);
    else if (name[strspn(name, "0123456789.,")] || !strpbrk(name, "0123456789"))
        hrun_fail(err, HRUN_ENOPROG, "%s: there is no program of this name in PATH, which is %s", name, list);
    else
        hrun_fail(err, HRUN_ENOPROG, "%s: there is no program of this name in PATH; is it part of an option's list? "
                  "Lists are written with commas: 16,24,32", name);
    return NULL;
}

char *hrun_program_find(const char *name, const char *wdir, struct hrun_error *err)
{
    if (!name || !*name) {
        hrun_fail(err, HRUN_ENOPROG, "no program is named");
        return NULL;
    }
    return strchr(name, '/') ? find_by_path(name, wdir, err) : find_in_path(name, wdir, err);
}

char *hrun_beside_path(const char *name)
{
    autofree char *self = realpath("/proc/self/exe", NULL);
    const char *slash = self ? strrchr(self, '/') : NULL;
    char *path = slash ? hrun_strf("%.*s/%s", (int)(slash - self), self, name) : NULL;   /* "/usr/bin/hrun-shim" */

    if (path && access(path, X_OK) == 0)
        return path;
    free(path);
    return hrun_program_find(name, NULL, NULL);
}

char *hrun_shim_path(struct hrun_error *err)
{
    char *path = hrun_beside_path("hrun-shim");

    if (!path)
        hrun_fail(err, HRUN_EENGINE, "hrun-shim, which binds the processes, is neither beside this program nor in "
                  "PATH: install hrun anew (make install)");
    return path;
}

/* ---------------------------------------------------------------- output of a short command */

enum { WAIT_MS = 10000, CPU_MAX_S = 60 };

static void become(char *const *argv, int errors, int out)
{
    struct rlimit cpu;
    sigset_t none;
    int null = open("/dev/null", O_RDWR);

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    dup2(null, STDIN_FILENO);
    dup2(errors ? out : null, STDERR_FILENO);
    dup2(out, STDOUT_FILENO);
    if (!getrlimit(RLIMIT_CPU, &cpu) && (cpu.rlim_cur == RLIM_INFINITY || cpu.rlim_cur > CPU_MAX_S)) {
        cpu.rlim_cur = CPU_MAX_S;
        setrlimit(RLIMIT_CPU, &cpu);
    }
    execv(argv[0], argv);
    _exit(127);
}

/* 1 if the process is runnable or has used processor time since the last call, else 0. *used: the processor time of the
 * process and its children at the last call; updated. */
static int works(pid_t pid, double *used)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    double before = *used, t[4];
    autofree char *path = hrun_strf("/proc/%d/stat", (int)pid);
    char state = 0;
    const char *at;

    if (!hrun_file_read(path, 4096, &text, NULL) && (at = strrchr(text.data, ')')) &&
        sscanf(at, ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lf %lf %lf %lf", &state, t, t + 1, t + 2, t + 3) == 5)
        *used = t[0] + t[1] + t[2] + t[3];
    return state == 'R' || *used > before;
}

/* Read the command's output until its end. 0, or -1 if it does not answer. */
static int read_command_output(int fd, pid_t pid, struct hrun_buf *out)
{
    struct pollfd p = { fd, POLLIN, 0 };
    char chunk[4096];
    double used = 0;

    for (;;) {
        int ready = poll(&p, 1, WAIT_MS);
        ssize_t n = ready > 0 ? read(fd, chunk, sizeof chunk) : -1;

        if (n == 0)
            return 0;
        if (n > 0)
            hrun_buf_add(out, chunk, (size_t)n);
        else if (ready == 0 ? !works(pid, &used) : errno != EINTR)
            return -1;
    }
}

int hrun_command_output(char *const *argv, int errors, struct hrun_buf *out, struct hrun_error *err)
{
    int fds[2], rc;
    pid_t pid;

    if (pipe2(fds, O_CLOEXEC))
        return hrun_fail_errno(err, HRUN_EIO, "cannot make a pipe");
    pid = fork();
    if (pid == 0)
        become(argv, errors, fds[1]);
    close(fds[1]);
    if (pid < 0) {
        close(fds[0]);
        return hrun_fail_errno(err, HRUN_EIO, "cannot start %s", argv[0]);
    }
    rc = read_command_output(fds[0], pid, out);
    close(fds[0]);
    if (rc)
        kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return rc ? hrun_fail(err, HRUN_EIO, "%s %s does not answer", argv[0], argv[1]) : 0;
}
