/* words.c - lines from a launcher; see words.h for the contracts */
#include "launch/words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A note that does not fit into the FIFO is lost. FIFO_BYTES is Linux's limit for users, and suffices for the notes of
 * 40000 ranks. */
enum { LINE_MAX_BYTES = 4096, FIFO_BYTES = 1 << 20 };

void hrun_close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

int hrun_words_open(struct hrun_words *w, struct hrun_error *err)
{
    int fds[2];

    if (pipe2(fds, O_CLOEXEC))
        return hrun_fail_errno(err, HRUN_EIO, "cannot make a pipe for the words of the launcher");
    fcntl(fds[0], F_SETFL, O_NONBLOCK);
    w->fd = fds[0];
    w->child_fd = fds[1];
    return 0;
}

int hrun_words_fifo(struct hrun_words *w, const char *path)
{
    /* Open for writing, too, so that reading never returns end of file. */
    if (mkfifo(path, 0600) || (w->fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)) < 0)
        return -1;
    fcntl(w->fd, F_SETPIPE_SZ, FIFO_BYTES);
    return 0;
}

void hrun_lines_feed(struct hrun_buf *line, size_t max, const char *data, size_t len,
                     void (*on_line)(void *ctx, char *line, size_t len), void *ctx)
{
    while (len > 0) {
        const char *nl = memchr(data, '\n', len);
        size_t part = nl ? (size_t)(nl - data) + 1 : len;

        hrun_buf_add(line, data, part);
        if (nl || line->len >= max) {
            on_line(ctx, line->data, line->len);
            hrun_buf_reset(line);
        }
        data += part;
        len -= part;
    }
}

static void pass_line(struct hrun_words *w, void (*on_line)(void *ctx, char *line), void *ctx)
{
    if (w->line.len)
        on_line(ctx, w->line.data);
    hrun_buf_reset(&w->line);
}

void hrun_words_read(struct hrun_words *w, void (*on_line)(void *ctx, char *line), void *ctx)
{
    char data[4096];
    ssize_t n = 0;

    while (w->fd >= 0 && ((n = read(w->fd, data, sizeof data)) > 0 || (n < 0 && errno == EINTR)))
        for (ssize_t i = 0; i < n; i++) {
            if (data[i] != '\n')
                hrun_buf_addc(&w->line, data[i] ? data[i] : '?');
            if (data[i] == '\n' || w->line.len >= LINE_MAX_BYTES)
                pass_line(w, on_line, ctx);
        }
    if (w->fd >= 0 && n == 0) {
        pass_line(w, on_line, ctx);
        hrun_close_fd(&w->fd);
    }
}

void hrun_words_close(struct hrun_words *w)
{
    hrun_close_fd(&w->fd);
    hrun_close_fd(&w->child_fd);
    hrun_buf_release(&w->line);
}

void hrun_last_line(const struct hrun_buf *text, char *out, size_t size)
{
    size_t end = text ? text->len : 0, begin;

    while (end > 0 && strchr(" \t\r\n->", text->data[end - 1]))
        end--;
    for (begin = end; begin > 0 && text->data[begin - 1] != '\n'; begin--)
        ;
    while (begin < end && strchr(" ->", text->data[begin]))
        begin++;
    snprintf(out, size, "%.*s", (int)(end - begin), end > begin ? text->data + begin : "");
}
