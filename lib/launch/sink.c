/* sink.c - what is written to hrun's own standard output and error; see output.h for the contracts */
#include "launch/output.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reading stops while this many bytes wait to be written; see output.h. */
enum { QUEUE_MAX = 64 << 10 };

void hrun_sink_release(struct hrun_sink *s)
{
    hrun_buf_release(&s->queue);
    s->at = 0;
}

void hrun_sink_add(struct hrun_sink *s, const char *data, size_t len)
{
    if (s->dead)
        return;
    hrun_buf_add(&s->queue, data, len);
    if (s->queue.len >= QUEUE_MAX)
        s->held = 0;
}

int hrun_sink_waiting(const struct hrun_sink *s)
{
    return !s->held && s->queue.len > s->at;
}

int hrun_sink_has_room(const struct hrun_sink *s)
{
    return s->queue.len - s->at < QUEUE_MAX;
}

/* 1 if the errno of a write means that the reader has gone, else 0. A terminal that has hung up gives EIO. */
static int reader_gone(int fd, int error)
{
    struct stat st;

    return error == EPIPE || error == ECONNRESET ||
           (error == EIO && fstat(fd, &st) == 0 && S_ISCHR(st.st_mode));
}

/* poll promises room for PIPE_BUF bytes, so this does not block even on a blocking descriptor. */
int hrun_sink_write(struct hrun_sink *s)
{
    size_t left = s->queue.len - s->at;
    ssize_t n = write(s->fd, s->queue.data + s->at, left < PIPE_BUF ? left : PIPE_BUF);

    if (n < 0) {
        int error = errno;

        if (error == EAGAIN || error == EINTR)
            return 0;
        s->error = reader_gone(s->fd, error) ? 0 : error;
        s->dead = 1;
        hrun_sink_release(s);
        return -1;
    }
    s->at += (size_t)n;
    if (s->at == s->queue.len) {
        hrun_buf_reset(&s->queue);
        s->at = 0;
    } else if (s->at >= QUEUE_MAX) {  /* drop the written part, also if the queue never runs empty */
        s->queue.len -= s->at;
        memmove(s->queue.data, s->queue.data + s->at, s->queue.len + 1);
        s->at = 0;
    }
    return 0;
}

/* Remove the lines that contain noise from a queue. */
static void drop_lines(struct hrun_buf *queue, const char *noise)
{
    size_t kept = 0, len;

    for (size_t at = 0; at < queue->len; at += len) {
        const char *line = queue->data + at, *end = memchr(line, '\n', queue->len - at);

        len = end ? (size_t)(end - line) + 1 : queue->len - at;
        if (memmem(line, len, noise, strlen(noise)))
            continue;
        memmove(queue->data + kept, line, len);
        kept += len;
    }
    queue->data[kept] = 0;
    queue->len = kept;
}

void hrun_sink_let_go(struct hrun_sink *s, const char *noise)
{
    if (!noise)
        hrun_buf_reset(&s->queue);
    else if (*noise)
        drop_lines(&s->queue, noise);
    s->held = 0;
}
