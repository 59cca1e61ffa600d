/* words.h - the lines that a launcher writes to its standard error for hrun, not for the user */
#ifndef HRUN_LAUNCH_WORDS_H
#define HRUN_LAUNCH_WORDS_H

#include "base/buf.h"
#include "base/error.h"

struct hrun_words {
    int fd, child_fd;           /* reading end, and the end that the launcher gets; -1: closed */
    struct hrun_buf line;       /* the line so far */
};

#define HRUN_WORDS_INIT { -1, -1, HRUN_BUF_INIT }

/* Make the pipe. The caller closes child_fd when the launcher has inherited it. Errors: HRUN_EIO. */
int hrun_words_open(struct hrun_words *w, struct hrun_error *err);
/* Make a FIFO and read from it. -1 with errno. */
int hrun_words_fifo(struct hrun_words *w, const char *path);
/* Read without waiting, and call on_line for each line, without its newline. Lines above 4 KiB come in pieces. At the
 * end of the stream a last line without newline counts, too. */
void hrun_words_read(struct hrun_words *w, void (*on_line)(void *ctx, char *line), void *ctx);
/* Split data into lines: on_line gets each line with its newline, and pieces of a line that is longer than max bytes.
 * *line contains the line so far. */
void hrun_lines_feed(struct hrun_buf *line, size_t max, const char *data, size_t len,
                     void (*on_line)(void *ctx, char *line, size_t len), void *ctx);
/* Harmless if it was never opened. */
void hrun_words_close(struct hrun_words *w);
/* Copy the last line of a text (NULL: none) that contains words, without blanks, '-' and '>' at its ends. */
void hrun_last_line(const struct hrun_buf *text, char *out, size_t size);
/* Close *fd unless it is -1, and set it to -1. */
void hrun_close_fd(int *fd);

#endif
