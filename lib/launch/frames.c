/* frames.c - the protocol between hrun and the proxy on a host; see frames.h for the contracts */
#include "launch/frames.h"

#include "base/alloc.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void hrun_frame_add(struct hrun_buf *out, enum hrun_frame_kind kind, int number, const char *data, size_t len)
{
    const uint32_t head[3] = { htonl((uint32_t)kind), htonl((uint32_t)number), htonl((uint32_t)len) };

    hrun_buf_add(out, head, sizeof head);
    hrun_buf_add(out, data, len);
}

int hrun_frame_next(const struct hrun_buf *in, size_t *at, struct hrun_frame *out)
{
    uint32_t head[3], kind, number, len;

    if (in->len - *at < sizeof head)
        return 0;
    memcpy(head, in->data + *at, sizeof head);
    kind = ntohl(head[0]);
    number = ntohl(head[1]);
    len = ntohl(head[2]);
    if (kind < 1 || kind >= HRUN_FRAME_KINDS || number > INT32_MAX || len > HRUN_FRAME_MAX)
        return -1;
    if (in->len - *at - sizeof head < len)
        return 0;
    *out = (struct hrun_frame){ (enum hrun_frame_kind)kind, (int)number, in->data + *at + sizeof head, len };
    *at += sizeof head + len;
    return 1;
}

void hrun_frames_drop(struct hrun_buf *in, size_t *at)
{
    in->len -= *at;
    memmove(in->data, in->data + *at, in->len);
    *at = 0;
}

void hrun_frame_add_word(struct hrun_buf *out, const char *word)
{
    hrun_buf_add(out, word, strlen(word) + 1);
}

void hrun_frame_add_number(struct hrun_buf *out, int n)
{
    hrun_buf_addf(out, "%d", n);
    hrun_buf_addc(out, 0);
}

const char *hrun_frame_word(const char **at, const char *end)
{
    const char *word = *at;
    size_t n = word < end ? strnlen(word, (size_t)(end - word)) + 1 : 0;

    *at += n;
    return n ? word : "";
}

int hrun_frame_number(const char **at, const char *end)
{
    return (int)strtol(hrun_frame_word(at, end), NULL, 10);
}

int hrun_frame_count(const char **at, const char *end)
{
    int n = hrun_frame_number(at, end);

    return n > 0 && n <= end - *at ? n : 0;
}

void hrun_frame_add_words(struct hrun_buf *out, char *const *list)
{
    int n = 0;

    while (list && list[n])
        n++;
    hrun_frame_add_number(out, n);
    for (int i = 0; i < n; i++)
        hrun_frame_add_word(out, list[i]);
}

void hrun_frame_words(const char **at, const char *end, const char ***list)
{
    int n = hrun_frame_count(at, end);

    *list = xcalloc((size_t)n + 1, sizeof **list);
    for (int i = 0; i < n; i++)
        (*list)[i] = hrun_frame_word(at, end);
}

int hrun_frames_send(int fd, struct hrun_buf *out)
{
    size_t at = 0;
    ssize_t n = 0;

    while (at < out->len && ((n = write(fd, out->data + at, out->len - at)) > 0 || (n < 0 && errno == EINTR)))
        at += n > 0 ? (size_t)n : 0;
    if (at)
        hrun_frames_drop(out, &at);
    return (n < 0 && errno != EAGAIN) ? -1 : 0;
}
