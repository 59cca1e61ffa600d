/* frames.h - what hrun and the proxy on a host of a job (`hrun-shim proxy`, hrun/shim/shim.h) tell each other
 *
 * Purpose: engine ssh has one connection to each host, through which PMI, output, input, signals and ends go.
 * Format: the proxy begins with HRUN_PROXY_HELLO, in front of which a shell may have written; then both ways frames of
 * three numbers of four bytes, most significant first (kind, number, length of what follows), and the data.
 */
#ifndef HRUN_LAUNCH_FRAMES_H
#define HRUN_LAUNCH_FRAMES_H

#include "base/buf.h"

#define HRUN_PROXY_HELLO "hrun-proxy 1\n"

enum hrun_frame_kind {
    /* To the proxy. */
    HRUN_FRAME_JOB = 1,         /* what to start: words that engines/ssh.c makes, each ended by NUL */
    HRUN_FRAME_SIGNAL,          /* number: signal to all ranks there */
    HRUN_FRAME_INPUT,           /* standard input of rank 0; without data: its end */
    HRUN_FRAME_DEAF,            /* nobody reads the ranks' standard output (number 0) or error (1) any more */
    /* From it. */
    HRUN_FRAME_OUTPUT,          /* number: rank; its standard output */
    HRUN_FRAME_ERRORS,          /* number: rank; its standard error */
    HRUN_FRAME_TAKEN,           /* number: bytes of input that rank 0 has been given; 0: it reads no more */
    HRUN_FRAME_EXIT,            /* number: rank; data: its wait status in decimal. Nothing of the rank follows but what
                                   its children write */
    /* Both ways. */
    HRUN_FRAME_PMI,             /* number: rank; what is sent through its PMI connection */
    /* From it. */
    HRUN_FRAME_UNREAD,          /* number: rank, which does not read what PMI answers; nobody listens to it now */
    HRUN_FRAME_KINDS
};

enum { HRUN_FRAME_MAX = 64 << 20 };     /* bytes of data; more is a fault of the other side */
enum { HRUN_PMI_UNREAD_MAX = 1 << 20 }; /* bytes of PMI's answers that a rank has not read */
enum { HRUN_INPUT_WINDOW = 64 << 10 };  /* bytes of input that rank 0 has not been given yet */

struct hrun_frame {
    enum hrun_frame_kind kind;
    int number;
    const char *data;           /* in the buffer */
    size_t len;
};

void hrun_frame_add(struct hrun_buf *out, enum hrun_frame_kind kind, int number, const char *data, size_t len);
/* The frame at in->data + *at, which is moved behind it. 1: *out is set; 0: it has not all come yet; -1: these are no
 * frames. */
int hrun_frame_next(const struct hrun_buf *in, size_t *at, struct hrun_frame *out);
/* Drop what is before *at, and set that to 0. */
void hrun_frames_drop(struct hrun_buf *in, size_t *at);

/* Words, each ended by NUL, also of numbers: append one; take the next one before end, "" or 0 behind the last. */
void hrun_frame_add_word(struct hrun_buf *out, const char *word);
void hrun_frame_add_number(struct hrun_buf *out, int n);
const char *hrun_frame_word(const char **at, const char *end);
int hrun_frame_number(const char **at, const char *end);

/* A connection's way out: what could not be sent yet. -1: it is broken. */
int hrun_frames_send(int fd, struct hrun_buf *out);

#endif
