/* output.c - the filter for hrun's own output, set up first in main and flushed last; see command.h */
#include "command.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Replaces stdout or stderr. Programs that hrun starts write to the descriptors directly. */
struct stream {
    int fd;
    int raw;                    /* 1: the filter is off */
    int error;                  /* errno of the first write that failed, or 0 */
    struct hrun_buf held;       /* unfinished UTF-8 character or "\r\n" */
};

static struct stream out = { STDOUT_FILENO, 0, 0, HRUN_BUF_INIT }, err = { STDERR_FILENO, 0, 0, HRUN_BUF_INIT };

/* The number of bytes at the end of text that are the beginning of a UTF-8 character or of "\r\n". */
static size_t count_unfinished(const struct hrun_buf *text)
{
    for (size_t n = 1; n <= 3 && n <= text->len; n++) {
        unsigned char c = (unsigned char)text->data[text->len - n];

        if (c >= 0xc0)
            return n < (c < 0xe0 ? 2u : c < 0xf0 ? 3u : 4u) ? n : 0;
        if (c < 0x80)
            return n == 1 && c == '\r';
    }
    return 0;
}

/* Callback for fopencookie(3). Result: len, or 0 after a failed write. */
static ssize_t write_printable(void *cookie, const char *data, size_t len)
{
    struct stream *s = cookie;
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT, clean = HRUN_BUF_INIT;
    size_t rest;

    hrun_buf_add(&text, s->held.data, s->held.len);
    hrun_buf_add(&text, data, len);
    hrun_buf_reset(&s->held);
    if (!s->raw) {
        rest = count_unfinished(&text);
        hrun_buf_add(&s->held, text.data + text.len - rest, rest);
        hrun_buf_add_printable(&clean, text.data, text.len - rest);
    }
    if (hrun_write_all(s->fd, s->raw ? text.data : clean.data, s->raw ? text.len : clean.len)) {
        s->error = s->error ? s->error : errno;
        len = 0;
    }
    return (ssize_t)len;
}

static FILE *open_stream(struct stream *s, FILE *was)
{
    FILE *f = fopencookie(s, "w", (cookie_io_functions_t){ .write = write_printable });

    if (f)
        setvbuf(f, NULL, s == &err ? _IONBF : isatty(s->fd) ? _IOLBF : _IOFBF, BUFSIZ);
    return f ? f : was;
}

static void ignore_signal(int sig)
{
    (void)sig;
}

void context_start(void)
{
    struct sigaction act = { .sa_handler = ignore_signal, .sa_flags = SA_RESTART };

    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0)
            _exit(STATUS_FAILED);
    sigaction(SIGPIPE, &act, NULL);
    sigaction(SIGXFSZ, &act, NULL);
    stdout = open_stream(&out, stdout);
    stderr = open_stream(&err, stderr);
}

void context_print_data(const char *data, size_t len)
{
    fflush(stdout);
    out.raw = !isatty(STDOUT_FILENO);
    fwrite(data, 1, len, stdout);
    fflush(stdout);
    out.raw = 0;
}

int context_end(const char *command, int status)
{
    if (!fflush(stdout) && !ferror(stdout))
        return status;
    if (out.error == EPIPE)
        return status ? status : 128 + SIGPIPE;
    fprintf(stderr, "%s: standard output: %s\n", command, strerror(out.error));
    return status ? status : STATUS_FAILED;
}
