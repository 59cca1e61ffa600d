/* spawn.c - starting processes bound to their PEs; see spawn.h for the contracts */
#include "launch/spawn.h"

#include "base/alloc.h"
#include "base/file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

/* The message through the pipe from a child that could not start. */
enum step { STEP_WDIR, STEP_FILES, STEP_EXEC };
struct complaint {
    int index, step, error;
};

/* Words of an affinity mask. The kernel's limit is 8192 processors, that of glibc's cpu_set_t 1024. */
enum { MASK_WORDS = 8192 / (8 * (int)sizeof(unsigned long)) };

static _Noreturn void give_up_spawn(int fd, int index, int step)
{
    struct complaint c = { index, step, errno };
    ssize_t n = write(fd, &c, sizeof c);

    _exit(n == (ssize_t)sizeof c ? 126 : 125);
}

static _Noreturn void become_child(const struct hrun_spawn *s, const struct hrun_spawn_one *one, int index,
                                   int complaints, pid_t parent, int is_elf)
{
    struct rlimit marked;

    if (one->own_group && s->sessions)
        setsid();
    else if (one->own_group)
        setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, s->death_signal);
    if (getppid() != parent)
        _exit(125);  /* hrun died before the line above */
    for (int i = 0; i < 3; i++) {
        int fd = one->fds[i] == HRUN_SPAWN_NULL ? open("/dev/null", O_RDWR | O_CLOEXEC) : one->fds[i];

        if (one->fds[i] != HRUN_SPAWN_INHERIT && dup2(fd, i) < 0)
            give_up_spawn(complaints, index, STEP_FILES);
    }
    if (one->keep_fd > 2 && fcntl(one->keep_fd, F_SETFD, 0))
        give_up_spawn(complaints, index, STEP_FILES);
    if (one->wdir && chdir(one->wdir))
        give_up_spawn(complaints, index, STEP_WDIR);
    if (s->mark && !getrlimit(RLIMIT_LOCKS, &marked)) {
        marked.rlim_cur = s->mark;
        setrlimit(RLIMIT_LOCKS, &marked);
    }
    if (s->ignore_ttou && one->own_group)
        signal(SIGTTOU, SIG_IGN);
    sigaction(SIGCHLD, &s->sigchld, NULL);
    sigprocmask(SIG_SETMASK, &s->mask, NULL);
    /* execvpe(3) starts a script without "#!" by a shell, which must not interpret a binary of another machine. */
    (is_elf ? execve : execvpe)(one->program, one->argv, one->env);
    give_up_spawn(complaints, index, STEP_EXEC);
}

/* e_machine of an ELF file, EM_NONE if its header is truncated; -1: not an ELF file. */
static int elf_machine(const char *path)
{
    Elf32_Ehdr head = { .e_machine = EM_NONE };     /* the 64-bit header is the same up to e_machine */
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), is_elf;

    if (fd < 0)
        return -1;
    is_elf = read(fd, &head, sizeof head) >= SELFMAG && !memcmp(head.e_ident, ELFMAG, SELFMAG);
    close(fd);
    return is_elf ? head.e_machine : -1;
}

static int explain_complaint(const struct hrun_spawn_one *one, const struct complaint *c, struct hrun_error *err)
{
    /* Machines as named by uname -m. */
    static const struct { int machine; const char *name; } names[] = {
        { EM_386, "i386" }, { EM_X86_64, "x86_64" }, { EM_ARM, "arm" }, { EM_AARCH64, "aarch64" },
        { EM_PPC64, "ppc64" }, { EM_RISCV, "riscv64" }, { EM_S390, "s390x" },
    };
    const char *program = one->program, *machine = NULL;
    int elf = c->error == ENOEXEC ? elf_machine(program) : -1;
    struct utsname here;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].machine == elf)
            machine = names[i].name;
    errno = c->error;
    if (c->step == STEP_WDIR)
        return hrun_fail_errno(err, HRUN_EINVAL, "cannot enter the working directory %s", one->wdir);
    if (c->step == STEP_FILES)
        return hrun_fail_errno(err, HRUN_EIO, "cannot set up the files of process %d", c->index);
    if (c->error == ENOENT)
        return hrun_fail(err, HRUN_ENOPROG, "%s cannot be executed: it, or the interpreter that it names, "
                         "does not exist", program);
    if (machine && !uname(&here) && strcmp(machine, here.machine))
        return hrun_fail(err, HRUN_ENOEXEC, "%s cannot be executed: it is built for %s, and this host is %s",
                         program, machine, here.machine);
    return hrun_fail_errno(err, HRUN_ENOEXEC, "%s cannot be executed", program);
}

/* Start the processes. The parent binds itself before each fork, and the child inherits the binding; at the end the
 * parent restores its own. Result: number of processes started; if below n, *err is set. */
static int fork_processes(const struct hrun_spawn *s, const struct hrun_spawn_one *one, int n, pid_t *pids,
                          int complaints, struct hrun_error *err)
{
    unsigned long before[MASK_WORDS] = { 0 };
    int have_mask = syscall(SYS_sched_getaffinity, 0, sizeof before, before) > 0, i = 0;
    const char *bound = "";
    int is_elf = 0;
    pid_t parent = getpid();

    for (; i < n; i++) {
        const char *cpuset = s->topo && one[i].cpuset ? one[i].cpuset : "";

        if (!i || one[i].program != one[i - 1].program)
            is_elf = elf_machine(one[i].program) >= 0;
        if (*cpuset && strcmp(bound, cpuset) && hrun_topo_bind(s->topo, cpuset, err))
            break;
        if (*bound && !*cpuset)
            syscall(SYS_sched_setaffinity, 0, sizeof before, before);
        bound = cpuset;
        pids[i] = fork();
        if (pids[i] == 0)
            become_child(s, &one[i], i, complaints, parent, is_elf);
        if (pids[i] < 0) {
            hrun_fail_errno(err, HRUN_EIO, "cannot start process %d of %d", i, n);
            break;
        }
    }
    if (*bound && have_mask)
        syscall(SYS_sched_setaffinity, 0, sizeof before, before);
    return i;
}

int hrun_spawn(const struct hrun_spawn *s, const struct hrun_spawn_one *one, int n, pid_t *pids,
               struct hrun_error *err)
{
    struct complaint c;
    int fds[2], started, rc = -1;
    ssize_t got;

    if (pipe2(fds, O_CLOEXEC))
        return hrun_fail_errno(err, HRUN_EIO, "cannot make a pipe");
    started = fork_processes(s, one, n, pids, fds[1], err);
    close(fds[1]);
    if (started == n) {
        /* End of file: all children have executed their programs, and exec has closed the pipe. */
        while ((got = read(fds[0], &c, sizeof c)) < 0 && errno == EINTR)
            ;
        rc = got == (ssize_t)sizeof c ? explain_complaint(&one[c.index], &c, err) : 0;
    }
    close(fds[0]);
    for (int i = 0; rc && i < started; i++) {
        if (one[i].own_group)
            kill(-pids[i], SIGKILL);
        kill(pids[i], SIGKILL);
        while (waitpid(pids[i], NULL, 0) < 0 && errno == EINTR)
            ;
    }
    return rc;
}

int hrun_text_fd(const char *text, struct hrun_error *err)
{
    int fd = memfd_create("stdin", MFD_CLOEXEC);

    if (fd >= 0 && !hrun_write_all(fd, text, strlen(text)) && !lseek(fd, 0, SEEK_SET))
        return fd;
    hrun_fail_errno(err, HRUN_EIO, "cannot hold the text for standard input");
    if (fd >= 0)
        close(fd);
    return -1;
}
