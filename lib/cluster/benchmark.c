/* benchmark.c - the speed of cores while all cores work; see topo.h for the contract */
#include "cluster/topo_parts.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* A round is PASSES over 8 KiB in the first cache, and 128 KiB of a stream through 4 MiB, more than a core's private
 * caches. The stream takes a quarter of the time on a Xeon. */
enum { CACHED = 1024, PASSES = 200, STREAM = 1 << 19, PIECE = 1 << 14, GRACE_S = 3 };

struct answer {             /* shorter than PIPE_BUF: written whole or not at all */
    int index;
    struct hrun_topo_rate rate;
    struct hrun_error why;
};

/* The contents stay finite: x = x / 2 + 1 converges to 2. */
static void work_round(double *cached, double *stream, size_t *at)
{
    for (int p = 0; p < PASSES; p++)
        for (int i = 0; i < CACHED; i++)
            cached[i] = cached[i] * 0.5 + 1;
    for (size_t i = *at; i < *at + PIECE; i++)
        stream[i] += cached[i % CACHED];
    *at = (*at + PIECE) % STREAM;
}

static void measure_rate(double seconds, struct hrun_topo_rate *out)
{
    autofree double *data = xcalloc(STREAM + CACHED, sizeof *data);
    double start, cpu, wall;
    volatile double sum;
    size_t at = 0;
    long rounds = 0;

    for (size_t i = 0; i < STREAM; i += PIECE)      /* touch the pages, warm up */
        work_round(data + STREAM, data, &at);
    start = hrun_monotonic_s();
    cpu = hrun_thread_cpu_s();
    do {
        work_round(data + STREAM, data, &at);
        rounds++;
        wall = hrun_monotonic_s() - start;
    } while (wall < seconds);
    cpu = hrun_thread_cpu_s() - cpu;
    sum = data[0] + data[STREAM];
    (void)sum;
    *out = (struct hrun_topo_rate){ (double)rounds / cpu, cpu / wall };
}

/* The process of one core. */
_Noreturn static void run_core_child(const struct hrun_topo *t, const char *cpuset, double seconds, int fd,
                                     pid_t parent, struct answer *a)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    if (!hrun_topo_bind(t, cpuset, &a->why))
        measure_rate(seconds, &a->rate);
    _exit(hrun_write_all(fd, a, sizeof *a) != 0);
}

/* Read n answers before time until_s of the monotonic clock. */
static int collect(int fd, int n, double until_s, struct hrun_topo_rate *out, struct hrun_error *err)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };
    struct answer a;

    for (int got = 0; got < n; got++) {
        double left_s = until_s - hrun_monotonic_s();

        if (left_s < 0 || poll(&p, 1, (int)(1000 * left_s)) <= 0 || read(fd, &a, sizeof a) != (ssize_t)sizeof a)
            return hrun_fail(err, HRUN_EIO, "%d of %d processes that time the cores have not answered", n - got, n);
        if (a.why.code)
            return hrun_fail(err, a.why.code, "%s", a.why.text);
        out[a.index] = a.rate;
    }
    return 0;
}

int hrun_topo_benchmark(const struct hrun_topo *t, const char *const *cpusets, int n, double seconds,
                        struct hrun_topo_rate *out, struct hrun_error *err)
{
    autofree pid_t *pids = xcalloc((size_t)n + 1, sizeof *pids);
    pid_t self = getpid();
    int ends[2], made = 0, rc = 0;

    if (pipe2(ends, O_CLOEXEC))
        return hrun_fail_errno(err, HRUN_EIO, "cannot create a pipe");
    for (; made < n && !rc; made++) {
        struct answer a;

        memset(&a, 0, sizeof a);
        a.index = made;
        pids[made] = fork();
        if (pids[made] == 0)
            run_core_child(t, cpusets[made], seconds, ends[1], self, &a);
        if (pids[made] < 0)
            rc = hrun_fail_errno(err, HRUN_EIO, "cannot create a process");
    }
    close(ends[1]);
    rc = rc ? rc : collect(ends[0], n, hrun_monotonic_s() + seconds + GRACE_S, out, err);
    close(ends[0]);
    for (int i = 0; i < made; i++)
        if (pids[i] > 0) {
            kill(pids[i], SIGKILL);
            while (waitpid(pids[i], NULL, 0) < 0 && errno == EINTR)
                continue;
        }
    return rc;
}
