/* output.c - the output of the processes that passes through hrun; see output.h for the contracts */
#include "launch/output.h"

#include "base/alloc.h"
#include "base/trace_lines.h"
#include "launch/spawn.h"
#include "launch/words.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

enum {
    LINE_MAX_TAGGED = 64 << 10, /* a longer line is passed on in pieces */
    STDERR_KEPT = 64 << 10    /* launch.h: the last 64 KiB */
};

/* hrun's own standard output or error: a queue of data to write. */
struct sink {
    int fd;
    struct hrun_buf queue;
    size_t at;                /* written so far */
    int dead;                 /* 1: its reader has gone, data is dropped */
    int error;                /* errno of a write that failed for another reason, or 0 */
    int held;                 /* 1: nothing is written until all hosts are ready */
};

struct source {
    struct hrun_output *output;
    int fd;                   /* reading end, -1 when ended */
    int child_fd;             /* writing end, -1 when closed */
    int rank, is_err;
    int in_line;              /* 1: a piece of the present line has been passed on */
    int plain;                /* 1: not from a rank, its lines get no tags */
    struct hrun_buf line;     /* the line so far, if there are tags */
    struct hrun_buf sieve;    /* for standard error with trace_text; with tags, that of rank 0 */
};

struct hrun_output {
    const struct hrun_job *job;
    enum hrun_tagging tagging;
    struct sink sinks[2]; /* standard output, standard error */
    struct source *sources;
    int nsources, per_proc;   /* per_proc = 1: a pair of sources per process; with HRUN_TAG_FED one more */
    int nprocs, npairs;       /* at the start; later processes have pairs behind npairs */
};

/* ---------------------------------------------------------------- sinks */

/* Reading stops while this many bytes wait to be written; see output.h. */
enum { QUEUE_MAX = 64 << 10 };

static void sink_release(struct sink *s)
{
    hrun_buf_release(&s->queue);
    s->at = 0;
}

/* Append, unless the reader has gone. Held data is released when it reaches QUEUE_MAX. */
static void sink_add(struct sink *s, const char *data, size_t len)
{
    if (s->dead)
        return;
    hrun_buf_add(&s->queue, data, len);
    if (s->queue.len >= QUEUE_MAX)
        s->held = 0;
}

static int sink_waiting(const struct sink *s)
{
    return !s->held && s->queue.len > s->at;
}

static int sink_has_room(const struct sink *s)
{
    return s->queue.len - s->at < QUEUE_MAX;
}

/* Write a part. poll promises room for PIPE_BUF bytes, so this does not block even on a blocking descriptor. -1: no
 * more can be written, and s->dead is set. */
static int sink_write(struct sink *s)
{
    struct stat st;
    size_t left = s->queue.len - s->at;
    ssize_t n = write(s->fd, s->queue.data + s->at, left < PIPE_BUF ? left : PIPE_BUF);

    if (n < 0) {
        int error = errno;

        if (error == EAGAIN || error == EINTR)
            return 0;
        /* The reader has gone; a terminal that has hung up gives EIO. */
        s->dead = 1;
        if (error != EPIPE && error != ECONNRESET &&
            !(error == EIO && fstat(s->fd, &st) == 0 && S_ISCHR(st.st_mode)))
            s->error = error;
        sink_release(s);
        return -1;
    }
    s->at += (size_t)n;
    if (s->at == s->queue.len) {
        hrun_buf_reset(&s->queue);
        s->at = 0;
    } else if (s->at >= QUEUE_MAX) {  /* drop the written part, in case the queue never gets empty */
        s->queue.len -= s->at;
        memmove(s->queue.data, s->queue.data + s->at, s->queue.len + 1);
        s->at = 0;
    }
    return 0;
}

/* Stop holding. noise NULL: drop all held data; else drop only the lines that contain noise ("": none). */
static void sink_stop_holding(struct sink *s, const char *noise)
{
    struct hrun_buf *queue = &s->queue;
    size_t kept = 0, len;

    for (size_t at = 0; at < queue->len; at += len) {
        const char *line = queue->data + at, *end = memchr(line, '\n', queue->len - at);

        len = end ? (size_t)(end - line) + 1 : queue->len - at;
        if (!noise || (*noise && memmem(line, len, noise, strlen(noise))))
            continue;
        memmove(queue->data + kept, line, len);
        kept += len;
    }
    if (queue->len)
        queue->data[kept] = 0;
    queue->len = kept;
    s->held = 0;
}

/* ---------------------------------------------------------------- sources */

/* 1 if this stream of the processes passes through hrun, else 0. */
static int is_wanted(const struct hrun_output *o, int is_err)
{
    const struct hrun_job_output *to = &o->job->output;

    if (!is_err)
        return to->tagged || to->on_stdout;
    return to->tagged || to->trace_text || o->sinks[1].held ||
           (to->swallow ? to->stderr_text != NULL : o->tagging == HRUN_TAG_SRUN);
}

/* Open a pseudo-terminal instead of a pipe. A program whose output goes through hrun to the user's terminal then writes
 * line by line, as without hrun. The terminal passes all bytes unchanged. 0 or -1. */
static int open_terminal(int fds[2])
{
    struct termios t;
    struct winsize size;
    char name[64];

    fds[1] = -1;
    fds[0] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (fds[0] < 0)
        return -1;
    if (grantpt(fds[0]) || unlockpt(fds[0]) || ptsname_r(fds[0], name, sizeof name) ||
        (fds[1] = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)) < 0 || tcgetattr(fds[1], &t))
        goto fail;
    cfmakeraw(&t);
    if (tcsetattr(fds[1], TCSANOW, &t))
        goto fail;
    if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
        ioctl(fds[1], TIOCSWINSZ, &size);
    return 0;
fail:
    hrun_close_fd(&fds[1]);
    close(fds[0]);
    return -1;
}

/* Open a pipe, or, with terminal = 1 and if possible, a terminal. */
static int open_source(struct source *s, int terminal, struct hrun_error *err)
{
    int fds[2];

    if (!(terminal && !open_terminal(fds)) && pipe2(fds, O_CLOEXEC))
        return hrun_fail_errno(err, HRUN_EIO, "cannot make a pipe for the output of rank %d", s->rank);
    fcntl(fds[0], F_SETFL, O_NONBLOCK);
    s->fd = fds[0];
    s->child_fd = fds[1];
    return 0;
}

int hrun_output_grow(struct hrun_output *o, int first, int n, struct hrun_error *err)
{
    /* mpirun itself gives its processes terminals. */
    int terminal = o->tagging == HRUN_TAG_RANK && !o->job->output.swallow && isatty(STDOUT_FILENO);
    int before = o->nsources;

    o->sources = xrealloc(o->sources, (size_t)(before + 2 * n) * sizeof *o->sources);
    for (int i = 0; i < 2 * n; i++) {
        struct source *s = &o->sources[o->nsources++];

        *s = (struct source){ .output = o, .fd = -1, .child_fd = -1, .rank = first + i / 2, .is_err = i % 2 };
        hrun_buf_init(&s->line);
        hrun_buf_init(&s->sieve);
        if (o->tagging == HRUN_TAG_FED || !is_wanted(o, s->is_err) || !open_source(s, terminal && !s->is_err, err))
            continue;
        for (; o->nsources > before; o->nsources--) {
            hrun_close_fd(&o->sources[o->nsources - 1].fd);
            hrun_close_fd(&o->sources[o->nsources - 1].child_fd);
        }
        return -1;
    }
    return 0;
}

struct hrun_output *hrun_output_create(const struct hrun_job *job, int nprocs, enum hrun_tagging tagging, int hold,
                                       struct hrun_error *err)
{
    const struct hrun_job_output *to = &job->output;
    struct hrun_output *o = xcalloc(1, sizeof *o);
    int n, fed = tagging == HRUN_TAG_FED;

    o->job = job;
    o->tagging = tagging;
    o->per_proc = fed ? to->tagged || to->trace_text : to->tagged && tagging == HRUN_TAG_RANK;
    o->sinks[0] = (struct sink){ .fd = STDOUT_FILENO, .queue = HRUN_BUF_INIT };
    o->sinks[1] = (struct sink){ .fd = STDERR_FILENO, .queue = HRUN_BUF_INIT };
    o->sinks[1].held = hold && !to->swallow;
    n = o->per_proc ? nprocs : 1;
    o->nprocs = nprocs;
    o->npairs = n + fed;
    if (hrun_output_grow(o, 0, n + fed, err))
        goto fail;
    if (fed) {
        struct source *words = &o->sources[o->nsources - 1];

        words->plain = 1;
        if (is_wanted(o, 1) && open_source(words, 0, err))
            goto fail;
    }
    return o;
fail:
    hrun_output_destroy(o);
    return NULL;
}

void hrun_output_destroy(struct hrun_output *o)
{
    if (!o)
        return;
    for (int i = 0; i < o->nsources; i++) {
        hrun_close_fd(&o->sources[i].fd);
        hrun_close_fd(&o->sources[i].child_fd);
        hrun_buf_release(&o->sources[i].line);
        hrun_buf_release(&o->sources[i].sieve);
    }
    free(o->sources);
    sink_release(&o->sinks[0]);
    sink_release(&o->sinks[1]);
    free(o);
}

static struct source *source_of(const struct hrun_output *o, int i, int is_err)
{
    int pair = i >= o->nprocs ? o->npairs + i - o->nprocs : o->per_proc ? i : 0;

    return &o->sources[2 * pair + is_err];
}

int hrun_output_child_fd(const struct hrun_output *o, int i, int is_err)
{
    const struct source *s = o->tagging == HRUN_TAG_FED ? &o->sources[o->nsources - 2 + is_err]
                             : source_of(o, i, is_err);

    return s->child_fd >= 0 ? s->child_fd : o->job->output.swallow ? HRUN_SPAWN_NULL : HRUN_SPAWN_INHERIT;
}

void hrun_output_started(struct hrun_output *o)
{
    for (int i = 0; i < o->nsources; i++)
        hrun_close_fd(&o->sources[i].child_fd);
}

static int by_mpirun(const struct hrun_output *o)
{
    return o->tagging == HRUN_TAG_MPIRUN || o->tagging == HRUN_TAG_PRTERUN;
}

/* Parse a tag of mpirun, "[1,3]<stdout>:", at the start of a line. Result: its length; 0: none, outputs untouched. */
static int mpirun_tag(const struct hrun_output *o, const char *line, int *rank, int *is_err)
{
    char name[16];
    int len = 0, r;

    if (sscanf(line, "[%*d,%9d]<%15[a-z]>:%n", &r, name, &len) < 2 || !len || strncmp(name, "std", 3))
        return 0;
    *rank = r;
    *is_err = strcmp(name, "stdout") != 0;   /* stderr, stddiag */
    return len + (o->tagging == HRUN_TAG_PRTERUN && line[len] == ' ');
}

/* Parse a tag of srun, "03: ", at the start of a line. Result: its length, or 0 and *rank untouched. */
static int srun_tag(const char *line, int *rank)
{
    int len = 0, r;

    if (sscanf(line, " %9d:%n", &r, &len) < 1 || !len || line[len] != ' ')
        return 0;
    *rank = r;
    return len + 1;
}

/* Pass on text of a source after a tag ("": none). */
static void pass_text(const struct source *s, const char *tag, const char *text, size_t len)
{
    struct hrun_output *o = s->output;
    const struct hrun_job_output *to = &o->job->output;

    if (!s->is_err && to->on_stdout)
        to->on_stdout(o->job->ctx, text, len);
    if (s->is_err && to->stderr_text)
        hrun_buf_add_tail(to->stderr_text, text, len, STDERR_KEPT);
    if (to->swallow)
        return;
    sink_add(&o->sinks[s->is_err], tag, strlen(tag));
    sink_add(&o->sinks[s->is_err], text, len);
}

enum { TAG_SIZE = 32 };

/* "[3]<stderr>: " */
static void make_tag(int rank, int is_err, char tag[TAG_SIZE])
{
    snprintf(tag, TAG_SIZE, "[%d]<%s>: ", rank, is_err ? "stderr" : "stdout");
}

/* Pass on a line (ends = 1; adds a missing newline) or a piece of a line (0). Removes trace lines, which rank 0 writes,
 * also in pieces. If a trace line interrupts a line of the program, the program's line ends there. */
static void put_output_line(struct source *s, const char *text, size_t len, int ends)
{
    struct hrun_output *o = s->output;
    int rank = s->rank, is_err = s->is_err, given = 0;
    char tag[TAG_SIZE] = "";
    autorelease(hrun_buf_release) struct hrun_buf rest = HRUN_BUF_INIT;

    if (by_mpirun(o) && !s->in_line)
        given = mpirun_tag(o, text, &rank, &is_err);
    if (o->tagging == HRUN_TAG_SRUN && !s->in_line)
        given = srun_tag(text, &rank);
    text += given;
    len -= (size_t)given;
    if (!s->in_line && (given || o->tagging == HRUN_TAG_RANK || o->tagging == HRUN_TAG_FED))
        make_tag(rank, is_err, tag);
    if (s->is_err && o->job->output.trace_text && rank == 0) {
        hrun_sieve_feed(&s->sieve, text, len, &rest, o->job->output.trace_text);
        ends = ends || rest.len < len;
        text = rest.data;
        len = rest.len;
    }
    if (len)
        pass_text(s, tag, text, len);
    if (ends && (len ? text[len - 1] != '\n' : s->in_line))
        pass_text(s, "", "\n", 1);
    s->in_line = !ends;
}

/* Pass on text with tags of mpirun. mpirun puts a tag before each piece of a rank's output, also within a line; the
 * line is then ended before the tag. */
static void put_pieces(struct source *s, const char *text, size_t len, int ends)
{
    struct hrun_output *o = s->output;
    size_t begin = 0;
    int rank, is_err;

    for (size_t at = 1; by_mpirun(o) && at < len; at++)
        if (text[at] == '[' && mpirun_tag(o, text + at, &rank, &is_err)) {
            put_output_line(s, text + begin, at - begin, 1);
            begin = at;
        }
    put_output_line(s, text + begin, len - begin, ends);
}

static void put_line(void *source, char *text, size_t len)
{
    put_pieces(source, text, len, text[len - 1] == '\n');
}

static void on_rank_output(struct source *s, const char *data, size_t len)
{
    const struct hrun_job_output *to = &s->output->job->output;
    autorelease(hrun_buf_release) struct hrun_buf rest = HRUN_BUF_INIT;

    if (!s->plain && to->tagged) {
        hrun_lines_feed(&s->line, LINE_MAX_TAGGED, data, len, put_line, s);
    } else if (!s->plain && s->is_err && to->trace_text) {
        hrun_sieve_feed(&s->sieve, data, len, &rest, to->trace_text);
        pass_text(s, "", rest.data, rest.len);
    } else {
        pass_text(s, "", data, len);
    }
}

/* Pass on the last line, which has no newline. */
static void flush_source(struct source *s)
{
    autorelease(hrun_buf_release) struct hrun_buf rest = HRUN_BUF_INIT;
    int tagged = s->output->job->output.tagged;
    char tag[TAG_SIZE] = "";

    if (tagged && (s->line.len || s->in_line)) {
        put_pieces(s, s->line.data, s->line.len, 1);
        hrun_buf_reset(&s->line);
    }
    hrun_sieve_end(&s->sieve, &rest);
    if (!rest.len)
        return;
    if (tagged) {
        hrun_buf_addc(&rest, '\n');
        make_tag(s->rank, 1, tag);
    }
    pass_text(s, tag, rest.data, rest.len);
}

static void end_source(struct source *s)
{
    flush_source(s);
    hrun_close_fd(&s->fd);
}

void hrun_output_feed(struct hrun_output *o, int i, int is_err, const char *data, size_t len)
{
    on_rank_output(source_of(o, i, is_err), data, len);
}

void hrun_output_end(struct hrun_output *o, int i)
{
    flush_source(source_of(o, i, 0));
    flush_source(source_of(o, i, 1));
}

int hrun_output_has_room(const struct hrun_output *o)
{
    return sink_has_room(&o->sinks[0]) && sink_has_room(&o->sinks[1]);
}

int hrun_output_is_deaf(const struct hrun_output *o, int is_err)
{
    return o->sinks[is_err].dead && (is_err || !o->job->output.on_stdout);
}

/* Read at most 16 KiB, so that a rank with much output does not starve the others. Result: as read(2). */
static ssize_t read_source(struct source *s)
{
    char data[16 << 10];
    ssize_t n = read(s->fd, data, sizeof data);

    if (n > 0)
        on_rank_output(s, data, (size_t)n);
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        end_source(s);
    return n;
}

/* The reader of standard output or error has gone: close the programs' pipes, unless on_stdout still gets the data. */
static void close_sources(struct hrun_output *o, int is_err)
{
    for (int i = 0; i < o->nsources; i++)
        if (o->sources[i].is_err == is_err && (is_err || !o->job->output.on_stdout))
            hrun_close_fd(&o->sources[i].fd);
}

int hrun_output_poll(struct hrun_output *o, int before, struct pollfd **p)
{
    int n = before;

    *p = xrealloc(*p, sizeof **p * (size_t)(before + 2 + o->nsources));
    for (int i = 0; i < 2; i++)
        if (sink_waiting(&o->sinks[i]))
            (*p)[n++] = (struct pollfd){ o->sinks[i].fd, POLLOUT, 0 };
    for (int i = 0; i < o->nsources; i++) {
        const struct source *s = &o->sources[i];

        if (s->fd >= 0 && sink_has_room(&o->sinks[s->is_err]))
            (*p)[n++] = (struct pollfd){ s->fd, POLLIN, 0 };
    }
    return n - before;
}

void hrun_output_handle(struct hrun_output *o, const struct pollfd *p, int n)
{
    for (int i = 0; i < n; i++) {
        if (!p[i].revents)
            continue;
        for (int k = 0; k < 2 && p[i].events == POLLOUT; k++)
            if (o->sinks[k].fd == p[i].fd && sink_waiting(&o->sinks[k]) && sink_write(&o->sinks[k]))
                close_sources(o, k);
        for (int k = 0; k < o->nsources && p[i].events == POLLIN; k++)
            if (o->sources[k].fd == p[i].fd && sink_has_room(&o->sinks[o->sources[k].is_err]))
                read_source(&o->sources[k]);
    }
}

int hrun_output_done(const struct hrun_output *o)
{
    for (int i = 0; i < o->nsources; i++)
        if (o->sources[i].fd >= 0)
            return 0;
    return !sink_waiting(&o->sinks[0]) && !sink_waiting(&o->sinks[1]);
}

int hrun_output_failed(const struct hrun_output *o, struct hrun_error *err)
{
    for (int i = 0; i < 2; i++)
        if (o->sinks[i].error) {
            errno = o->sinks[i].error;
            return hrun_fail_errno(err, HRUN_EIO, i ? "standard error" : "standard output");
        }
    return 0;
}

/* Read the bytes that are available at the call, so that a process that keeps writing does not delay hrun for ever. */
static void drain_source(struct source *s)
{
    ssize_t got = 1;
    int left = 0;

    if (s->fd >= 0 && ioctl(s->fd, FIONREAD, &left) == 0)
        for (; left > 0 && got > 0; left -= (int)got)
            got = read_source(s);
}

void hrun_output_release(struct hrun_output *o, int pass_on, const char *noise)
{
    struct sink *k = &o->sinks[1];

    if (!k->held)
        return;
    for (int i = 0; i < o->nsources; i++)
        if (o->sources[i].is_err)
            drain_source(&o->sources[i]);
    if (k->held)    /* else the limit was exceeded, and the data has been released */
        sink_stop_holding(k, pass_on ? noise : NULL);
}

void hrun_output_close(struct hrun_output *o)
{
    for (int i = 0; i < o->nsources; i++) {
        drain_source(&o->sources[i]);
        if (o->sources[i].fd >= 0)
            end_source(&o->sources[i]);
    }
}

/* ---------------------------------------------------------------- lines of libhrun-trace.so in standard error */

static const char mark[] = HRUN_TRACE_MARK;
enum { MARK = sizeof mark - 1 };

void hrun_sieve_end(struct hrun_buf *held, struct hrun_buf *rest)
{
    hrun_buf_add(rest, held->data, held->len);
    hrun_buf_reset(held);
}

void hrun_sieve_feed(struct hrun_buf *held, const char *data, size_t len, struct hrun_buf *rest,
                     struct hrun_buf *lines)
{
    for (size_t i = 0; i < len; i++) {
        size_t have = held->len;

        if (have < MARK && data[i] != mark[have]) {
            /* The mark's first byte occurs in it only once, so a new mark can only begin here. */
            hrun_sieve_end(held, rest);
            have = 0;
        }
        if (have || data[i] == mark[0]) {
            hrun_buf_addc(held, data[i]);
            if (have >= MARK && data[i] == '\n') {
                hrun_buf_add(lines, held->data + MARK, held->len - MARK);
                hrun_buf_reset(held);
            } else if (held->len > HRUN_TRACE_LINE) {
                hrun_sieve_end(held, rest);
            }
        } else {
            const char *next = memchr(data + i, mark[0], len - i);
            size_t n = next ? (size_t)(next - data) - i : len - i;

            hrun_buf_add(rest, data + i, n);
            i += n - 1;
        }
    }
}
