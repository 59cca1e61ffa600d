/* test_launch_output.c - the output that hrun passes on: slow readers, full disks, strangers, memory */
#include "launch.h"

#include "launch/guard.h"
#include "launch/output.h"
#include "base/trace_lines.h"

/* on_stdout hears the output, and it is passed on as well. */
static void heard(struct hrun_job *job)
{
    job->output.swallow = 0;
    job->output.stderr_text = NULL;
}

static const struct {
    const char *name;
    void (*change)(struct hrun_job *);
} ways[] = { { "on_stdout", heard }, { "tag_output", tagged } };
enum { NWAYS = sizeof ways / sizeof *ways };

/* More than the pipes and the queue hold, and a reader that begins after the program has ended. */
static void slow_reader(struct fixture *f)
{
    static const char *const words[] = { "bash", "-c", "for ((i = 0; i < 180; i++)); do printf '%0999d\n' $i; done",
                                         NULL };
    char data[1 << 12], last[32];
    ssize_t n;

    for (int w = 0; w < NWAYS; w++) {
        struct hrun_buf b = HRUN_BUF_INIT;
        struct victim v = start_victim_with(f, "local", 1, words, ways[w].change);
        sleep(2);
        while ((n = read(v.out, data, sizeof data)) > 0)
            hrun_buf_add(&b, data, (size_t)n);
        is_int(status_of(v.pid), 0, "%s: a reader that sleeps 2 s", ways[w].name);
        is_int(count(b.data, "\n"), 180, "gets every line");
        snprintf(last, sizeof last, "%020d\n", 179);
        has_str(b.data, last, "the last one too");
        close(v.out);
        hrun_buf_release(&b);
    }
}

/* One launch whose standard output is the file. Result as of launch. */
static int launch_into(struct fixture *f, const char *path, const char *const *words,
                       void (*change)(struct hrun_job *), struct hrun_error *err)
{
    int old = dup(STDOUT_FILENO), fd = open(path, O_WRONLY | O_CLOEXEC), rc;
    struct hrun_outcome out;

    fflush(stdout);
    dup2(fd, STDOUT_FILENO);
    close(fd);
    rc = launch(f, "local", 2, words, change, &out, err);
    dup2(old, STDOUT_FILENO);
    close(old);
    return rc;
}

static void full_disk(struct fixture *f)
{
    static const char *const words[][4] = { { "sh", "-c", "echo text", NULL },
                                            { "sh", "-c", "echo text; exec sleep 30", NULL } };
    struct hrun_error err;
    int fds = open_fds();

    if (access("/dev/full", W_OK)) {
        ok(1, "# SKIP there is no /dev/full");
        return;
    }
    for (int w = 0; w < NWAYS; w++)
        for (int i = 0; i < 2; i++) {
            double begin = now_s();
            is_int(launch_into(f, "/dev/full", words[i], ways[w].change, &err), -1, "%s: a full disk",
                   ways[w].name);
            is_int(err.code, HRUN_EIO, "code");
            is_str(err.text, "standard output: No space left on device", "message");
            ok(now_s() - begin < 10, "the job is ended (%.1f s)", now_s() - begin);
            is_clean(f, fds, "a full disk");
        }
}

/* A reader that leaves is no error: the program gets SIGPIPE. */
static void gone_reader(struct fixture *f)
{
    static const char *const words[] = { "sh", "-c", "exec yes", NULL };
    struct hrun_buf b = HRUN_BUF_INIT;
    struct victim v = start_victim_with(f, "local", 1, words, tagged);

    ok(wait_text(&v, &b, "y\n", 10), "a reader that leaves early");
    close(v.out);
    is_int(status_of(v.pid), 128 + SIGPIPE, "the program notices");
    hrun_buf_release(&b);
}

/* A process without the job's marks (variable, group, limit) that never stops writing into its pipe does not keep
 * hrun. It is ended, as it has become hrun's child. */
static void chatty_stranger(struct fixture *f)
{
    static const char *const words[] = {
        "bash", "-c", "echo hello; ulimit -S -x unlimited; env -i setsid yes & sleep 0.3; exit 0", NULL
    };
    struct hrun_outcome out;
    struct hrun_error err;
    double begin = now_s();

    is_int(launch(f, "local", 1, words, NULL, &out, &err), 0, "a stranger that writes for ever");
    is_int(out.status, 0, "status");
    ok(now_s() - begin < 10, "is not listened to for ever (%.1f s)", now_s() - begin);
    has_str(f->output.data, "hello\n", "what the job wrote is there");
    ok(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, "the stranger is ended");
}

/* ---------------------------------------------------------------- memory */

static long peak_kib(void)
{
    struct hrun_buf b = HRUN_BUF_INIT;
    const char *p;
    long kib = -1;

    if (hrun_file_read("/proc/self/status", 1 << 16, &b, NULL) == 0 && (p = strstr(b.data, "VmHWM:")))
        kib = atol(p + 6);
    hrun_buf_release(&b);
    return kib;
}

static void count_bytes(void *ctx, const char *data, size_t len)
{
    (void)data;
    *(long *)ctx += (long)len;
}

/* Read from fd only when o takes nothing from its sources, so that its queue never runs empty. Result: bytes
 * passed on. */
static long pass_slowly(struct hrun_output *o, int fd)
{
    struct pollfd *p = NULL;
    char data[8192];
    long total = 0;

    while (!hrun_output_done(o)) {
        int n = hrun_output_poll(o, 0, &p), listens = 0;
        ssize_t got;
        for (int i = 0; i < n; i++)
            listens |= p[i].events == POLLIN;
        poll(p, (nfds_t)n, listens ? 10 : 0);
        hrun_output_handle(o, p, n);
        if (!listens && (got = read(fd, data, sizeof data)) > 0)
            total += got;
    }
    free(p);
    for (ssize_t got; (got = read(fd, data, sizeof data)) > 0;)
        total += got;
    return total;
}

static void bounded(void)
{
    enum { BYTES = 50000000 };
    struct hrun_job job = { .output.on_stdout = count_bytes };
    struct hrun_output *o;
    struct hrun_error err;
    long heard_bytes = 0, passed, before, after;
    int p[2], old = dup(STDOUT_FILENO);
    pid_t pid;

    fflush(stdout);
    job.ctx = &heard_bytes;
    o = hrun_output_create(&job, 1, HRUN_TAG_RANK, 0, &err);
    if (!o || pipe2(p, O_CLOEXEC | O_NONBLOCK)) {
        ok(0, "an output and a pipe");
        return;
    }
    pid = fork();
    if (pid == 0) {
        dup2(hrun_output_child_fd(o, 0, 0), STDOUT_FILENO);
        execlp("head", "head", "-c", "50000000", "/dev/zero", (char *)NULL);
        _exit(1);
    }
    hrun_output_started(o);
    dup2(p[1], STDOUT_FILENO);
    close(p[1]);
    before = peak_kib();
    passed = pass_slowly(o, p[0]);
    after = peak_kib();
    dup2(old, STDOUT_FILENO);
    close(old);
    close(p[0]);
    hrun_output_destroy(o);
    is_int(status_of(pid), 0, "50 MB through a reader that is always behind");
    is_int(passed, BYTES, "all of it is passed on");
    is_int(heard_bytes, BYTES, "and heard");
    ok(before > 0 && after - before < 10000, "the memory does not grow with it (%ld KiB)", after - before);
}

/* ---------------------------------------------------------------- held back */

/* What becomes of text on the standard error of a job's only process: `first` is there when what is held is released,
 * `then` comes later. */
static void through(const struct hrun_job *job, enum hrun_tagging tagging, int hold, const char *first,
                    const char *then, int pass_on, const char *noise, struct hrun_buf *got)
{
    struct hrun_error err;
    struct hrun_output *o;
    struct pollfd *p = NULL;
    char data[1 << 12];
    int fds[2], old = dup(STDERR_FILENO), child;
    ssize_t n;

    fflush(stderr);
    o = hrun_output_create(job, 1, tagging, hold, &err);
    if (!o || pipe2(fds, O_CLOEXEC)) {
        ok(0, "an output and a pipe");
        return;
    }
    dup2(fds[1], STDERR_FILENO);
    close(fds[1]);
    child = dup(hrun_output_child_fd(o, 0, 1));
    hrun_output_started(o);
    n = write(child, first, strlen(first));
    hrun_output_release(o, pass_on, noise);
    n = n < 0 ? n : write(child, then, strlen(then));
    close(child);
    while (n >= 0 && !hrun_output_done(o)) {
        int np = hrun_output_poll(o, 0, &p);

        poll(p, (nfds_t)np, -1);
        hrun_output_handle(o, p, np);
    }
    free(p);
    dup2(old, STDERR_FILENO);
    close(old);
    while ((n = read(fds[0], data, sizeof data)) > 0)
        hrun_buf_add(got, data, (size_t)n);
    close(fds[0]);
    hrun_output_destroy(o);
}

static void held(const char *first, const char *then, int pass_on, const char *noise, const char *want,
                 const char *what)
{
    struct hrun_job job = { .output.on_stdout = NULL };
    struct hrun_buf got = HRUN_BUF_INIT;

    through(&job, HRUN_TAG_MPIRUN, 1, first, then, pass_on, noise, &got);
    is_str(got.data ? got.data : "", want, "%s", what);
    hrun_buf_release(&got);
}

static void noise(void)
{
#define WARNING "[here:00042] plm:rsh: Warning: setpgid(43,43) failed in parent with errno=Permission denied(13)\n"
    static const char mark[] = ":00042] plm:rsh: Warning: setpgid(";

    held(WARNING, "", 1, mark, "", "a line that is noise is left out");
    held("a\n" WARNING WARNING "b\n", "c\n", 1, mark, "a\nb\nc\n", "its neighbours are not");
    held("a\n", WARNING, 1, mark, "a\n" WARNING, "nor is anything that comes when all is ready");
    held("[here:00043]" WARNING, "", 1, ":00043] plm:rsh: Warning: setpgid(", "[here:00043]" WARNING,
         "nor what another process says");
    held("a\n" WARNING "b\n", "c\n", 1, "", "a\n" WARNING "b\nc\n", "without noise all is passed on");
    held("an unfinished line " , "ends\n", 1, mark, "an unfinished line ends\n", "an unfinished line is passed on");
    held("a\n", "b\n", 0, mark, "b\n", "what was held back can be dropped as a whole");
#undef WARNING
}

/* ---------------------------------------------------------------- watched, with tags */

static void told(enum hrun_tagging tagging, const char *text, const char *want, const char *what)
{
    struct hrun_buf lines = HRUN_BUF_INIT, got = HRUN_BUF_INIT;
    struct hrun_job job = { .output.tagged = 1, .output.trace_text = &lines };

    through(&job, tagging, 0, text, "", 1, "", &got);
    is_str(got.data ? got.data : "", want, "%s: the rest", what);
    is_str(lines.data ? lines.data : "", "b,1 x\ne,1 y\n", "%s: the lines of the watch", what);
    hrun_buf_release(&lines);
    hrun_buf_release(&got);
}

static void watched(void)
{
#define FIRST HRUN_TRACE_MARK "b,1 x\n"
#define LAST HRUN_TRACE_MARK "e,1 y\n"
    told(HRUN_TAG_RANK, "a\n" FIRST LAST "b\n", "[0]<stderr>: a\n[0]<stderr>: b\n", "between lines");
    told(HRUN_TAG_RANK, "half" FIRST LAST " rest\n", "[0]<stderr>: half\n[0]<stderr>:  rest\n", "within a line");
    told(HRUN_TAG_SRUN, "0: half" FIRST "0: " LAST "1: rest\n", "[0]<stderr>: half\n[1]<stderr>: rest\n", "srun");
    told(HRUN_TAG_MPIRUN, "[1,0]<stderr>:half" FIRST "[1,0]<stderr>:" LAST "[1,2]<stderr>:rest\n",
         "[0]<stderr>: half\n[2]<stderr>: rest\n", "mpirun");
    told(HRUN_TAG_MPIRUN, "[1,0]<stderr>:" HRUN_TRACE_MARK "b,1 [1,0]<stderr>:x\n"
         "[1,0]<stderr>:\x1ehrun-[1,1]<stderr>:a\n"
         "[1,0]<stderr>:trace e,1[1,2]<stderr>:b\n[1,0]<stderr>: y\n", "[1]<stderr>: a\n[2]<stderr>: b\n",
         "mpirun, which tears lines");
    told(HRUN_TAG_MPIRUN, "[1,2]<foo" FIRST LAST "[1,2]<stderr>x\n[1,2]<foo>:\n",
         "[1,2]<foo\n[1,2]<stderr>x\n[1,2]<foo>:\n", "mpirun, lines that only look tagged");
    told(HRUN_TAG_SRUN, "2:half" FIRST LAST "3:\n", "2:half\n3:\n", "srun, lines that only look tagged");
    told(HRUN_TAG_RANK, FIRST LAST HRUN_TRACE_MARK "torn", "[0]<stderr>: " HRUN_TRACE_MARK "torn\n", "an end within");
#undef FIRST
#undef LAST
}

int main(void)
{
    struct fixture f;

    if (jobs_open(&f))
        return tap_done();
    alarm(300);
    slow_reader(&f);
    full_disk(&f);
    gone_reader(&f);
    chatty_stranger(&f);
    bounded();
    noise();
    watched();
    fixture_close(&f);
    return tap_done();
}
