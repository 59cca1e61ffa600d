/* sink.h - hrun's own standard output or error, where output of processes passes through it (internal)
 *
 * Purpose: a queue of what is to be written, and what became of writing it.
 * Invariants: a write never blocks when poll(2) has promised room; what has been written is given back, also where the
 * queue never runs empty; when the reader has gone nothing is kept.
 */
#ifndef HRUN_LAUNCH_SINK_H
#define HRUN_LAUNCH_SINK_H

#include "base/buf.h"

struct hrun_sink {
    int fd;
    struct hrun_buf queue;
    size_t at;                /* written so far */
    int dead;                 /* its reader has gone */
    int error;                /* errno of a write that failed for another reason, or 0 */
    int held;                 /* nothing is written yet */
};
#define HRUN_SINK_INIT(fd) { (fd), HRUN_BUF_INIT, 0, 0, 0, 0 }

void hrun_sink_release(struct hrun_sink *s);

/* Append, unless its reader has gone. What is held is released when it has become too much to be held. */
void hrun_sink_add(struct hrun_sink *s, const char *data, size_t len);
/* Is something to be written now? */
int hrun_sink_waiting(const struct hrun_sink *s);
/* 0: so much is to be written that nothing should be read for it. */
int hrun_sink_has_room(const struct hrun_sink *s);
/* Write a part, after poll. -1: it cannot be written any more, and s->dead is set. */
int hrun_sink_write(struct hrun_sink *s);
/* Of what is held, drop all, or (noise not NULL) lines that hold this text ("": none). Then it is held no longer. */
void hrun_sink_let_go(struct hrun_sink *s, const char *noise);

#endif
