/* frames.h - the protocol between hrun and the proxy on each host of a job (`hrun-shim proxy`, hrun/shim/shim.h)
 *
 * Purpose: engine ssh has one connection to each host. It carries PMI, output, input, signals and exit statuses.
 * Format: the proxy first sends HRUN_PROXY_HELLO; a shell may have written text before it. Then both sides send frames:
 * three 4-byte numbers in network byte order (kind, number, length of the data), and the data.
 */
#ifndef HRUN_LAUNCH_FRAMES_H
#define HRUN_LAUNCH_FRAMES_H

#include "base/buf.h"

#define HRUN_PROXY_HELLO "hrun-proxy 1\n"

enum hrun_frame_kind {
    /* To the proxy. */
    HRUN_FRAME_JOB = 1,         /* what to start: words that add_job (engines/ssh.c) writes, each ended by NUL */
    HRUN_FRAME_SIGNAL,          /* number: signal for all ranks of the host */
    HRUN_FRAME_INPUT,           /* standard input of rank 0; no data: end of input */
    HRUN_FRAME_DEAF,            /* the ranks' standard output (number 0) or error (1) has no reader any more */
    /* From the proxy. */
    HRUN_FRAME_OUTPUT,          /* number: rank; its standard output */
    HRUN_FRAME_ERRORS,          /* number: rank; its standard error */
    HRUN_FRAME_TAKEN,           /* number: bytes of input delivered to rank 0; 0: rank 0 has closed its input */
    HRUN_FRAME_EXIT,            /* number: rank; data: its wait status in decimal. Only output of the rank's children
                                   may follow */
    /* In both directions. */
    HRUN_FRAME_PMI,             /* number: rank; data: bytes of its PMI connection */
    /* From the proxy. */
    HRUN_FRAME_UNREAD,          /* number: rank that did not read its PMI answers; its connection is closed */
    HRUN_FRAME_KINDS
};

enum { HRUN_FRAME_MAX = 64 << 20 };     /* largest frame data in bytes; a larger frame is a protocol error */
enum { HRUN_PMI_UNREAD_MAX = 1 << 20 }; /* limit of unread PMI answers per rank, bytes */
enum { HRUN_INPUT_WINDOW = 64 << 10 };  /* limit of input not yet delivered to rank 0, bytes */

struct hrun_frame {
    enum hrun_frame_kind kind;
    int number;
    const char *data;           /* in the buffer */
    size_t len;
};

void hrun_frame_add(struct hrun_buf *out, enum hrun_frame_kind kind, int number, const char *data, size_t len);
/* Parses the frame at in->data + *at, and moves *at behind it. 1: *out is set; 0: the frame is incomplete; -1: the data
 * is not a frame. */
int hrun_frame_next(const struct hrun_buf *in, size_t *at, struct hrun_frame *out);
/* Drop the data before *at, and set *at to 0. */
void hrun_frames_drop(struct hrun_buf *in, size_t *at);

/* Words and decimal numbers, each ended by NUL: append one, or read the next one before end. Behind the last one the
 * result is "" or 0. hrun_frame_count reads how many items follow, of at least one byte each; 0 if they do not fit
 * before end. */
void hrun_frame_add_word(struct hrun_buf *out, const char *word);
void hrun_frame_add_number(struct hrun_buf *out, int n);
const char *hrun_frame_word(const char **at, const char *end);
int hrun_frame_number(const char **at, const char *end);
int hrun_frame_count(const char **at, const char *end);
/* A list of words (NULL: empty): their number, and the words. *list gets a NULL-terminated array, which the caller
 * frees; its words point into the data. */
void hrun_frame_add_words(struct hrun_buf *out, char *const *list);
void hrun_frame_words(const char **at, const char *end, const char ***list);

/* Send as much of *out as fd accepts now, and keep the rest. 0, or -1 if the connection is broken. */
int hrun_frames_send(int fd, struct hrun_buf *out);

#endif
