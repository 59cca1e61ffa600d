/* mpich.c - libhrun-mpich.so: workarounds for programs of MPICH, enabled by words in HRUN_MPICH
 *
 * yield     MPICH 4 over UCX (Debian's) polls without yielding the processor, and has no setting for it. A barrier of
 *           four ranks on one core takes 29 ms, with this about 10 us. On free cores a yield costs a microsecond, so
 *           hrun enables it only if ranks share cores.
 * progress  Before MPICH 4.2, MPI_Finalize of ranks on several hosts mostly hangs: UCX waits for a peer that waits in
 *           PMI's barrier and does not progress UCX (mpich#6596). With this a rank progresses UCX while PMI waits.
 * status    Slurm's PMI turns each MPI_Abort into SIGKILL, and does not notice a rank that exits without MPI_Finalize.
 *           With this the first exits with the status of MPI_Abort, the second with 1 instead of 0.
 * The library wraps functions of UCX (ucp_worker_progress, _destroy) and of the C library (read and write of the
 * connection PMI_FD, _exit).
 */
#include <dlfcn.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

typedef unsigned progress_fn(void *worker);
typedef void destroy_fn(void *worker);

EXPORTED progress_fn ucp_worker_progress;
EXPORTED destroy_fn ucp_worker_destroy;

static struct {
    int yields, progresses, keeps_status;
    int pmi_fd;                 /* -1: none */
    int begun;                  /* 1 between init and finalize of PMI */
    pid_t pid;                  /* of the rank; a child has the same memory, but is not a rank */
    progress_fn *progress;
    destroy_fn *destroy;
    void *volatile worker;
} own = { .pmi_fd = -1 };

static void *next(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);

    if (!found) {
        fprintf(stderr, "libhrun-mpich: the program's MPI has no %s\n", name);
        abort();
    }
    return found;
}

static void leave(int status, void *unused)
{
    (void)unused;
    if (!own.keeps_status || (status & 0xff) || own.pid != getpid() || !own.begun)
        return;
    fflush(NULL);
    syscall(SYS_exit_group, 1);
}

__attribute__((constructor))
static void read_hrun_mpich(void)
{
    const char *words = getenv("HRUN_MPICH"), *fd = getenv("PMI_FD");

    own.pid = getpid();
    own.yields = words && strstr(words, "yield");
    own.progresses = words && strstr(words, "progress");
    own.keeps_status = words && strstr(words, "status");
    own.pmi_fd = fd && (own.progresses || own.keeps_status) ? (int)strtol(fd, NULL, 10) : -1;
    if (own.keeps_status)
        on_exit(leave, NULL);
}

unsigned ucp_worker_progress(void *worker)
{
    unsigned n;

    if (!own.progress)
        own.progress = (progress_fn *)(uintptr_t)next("ucp_worker_progress");
    own.worker = worker;
    n = own.progress(worker);
    if (!n && own.yields)
        sched_yield();
    return n;
}

void ucp_worker_destroy(void *worker)
{
    if (!own.destroy)
        own.destroy = (destroy_fn *)(uintptr_t)next("ucp_worker_destroy");
    if (own.worker == worker)
        own.worker = NULL;
    own.destroy(worker);
}

EXPORTED ssize_t read(int fd, void *data, size_t size)
{
    struct pollfd p = { fd, POLLIN, 0 };

    if (fd >= 0 && fd == own.pmi_fd && own.progresses)
        while (own.worker && own.progress && poll(&p, 1, 0) == 0)
            if (!own.progress(own.worker))
                sched_yield();
    return syscall(SYS_read, fd, data, size);
}

EXPORTED ssize_t write(int fd, const void *data, size_t size)
{
    static const char init[] = "cmd=init ", finalize[] = "cmd=finalize", aborts[] = "cmd=abort exitcode=";
    const char *text = data;

    if (fd >= 0 && fd == own.pmi_fd && own.keeps_status) {
        if (size >= sizeof init - 1 && !strncmp(text, init, sizeof init - 1)) {
            own.begun = 1;
        } else if (size >= sizeof finalize - 1 && !strncmp(text, finalize, sizeof finalize - 1)) {
            own.begun = 0;
        } else if (size > sizeof aborts && !strncmp(text, aborts, sizeof aborts - 1)) {
            int status = (int)strtol(text + sizeof aborts - 1, NULL, 10) & 0xff;
            fflush(NULL);
            syscall(SYS_exit_group, status ? status : 1);
        }
    }
    return syscall(SYS_write, fd, data, size);
}

EXPORTED __attribute__((noreturn)) void _exit(int status)
{
    leave(status, NULL);
    for (;;)
        syscall(SYS_exit_group, status);
}
