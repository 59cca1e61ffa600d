/* output.h - the output of the processes where hrun has to touch it
 *
 * Purpose: pipes from the processes to hrun's own output, to on_stdout, or to stderr_text, with tags when
 * asked.
 * Invariants:
 *   - nothing is read that cannot be passed on: a slow reader of hrun's output slows the program, and never
 *     stops hrun from hearing signals (each write fits what poll has promised);
 *   - the order within one rank's stream is kept; without tags data is passed on as it comes, with tags
 *     line by line (a last line without an end gets one);
 *   - when the reader of hrun's output has gone the programs' pipes are closed, so that they notice as
 *     usual; any other failure to write is kept for hrun_output_failed;
 *   - what is held does not grow with the output: some 64 KiB per stream, and
 *     at the end what the pipes hold.
 */
#ifndef HRUN_LAUNCH_OUTPUT_H
#define HRUN_LAUNCH_OUTPUT_H

#include "launch/launch.h"

#include <poll.h>
#include <stddef.h>

struct hrun_output;

/* How lines get their tags. */
enum hrun_tagging {
    HRUN_TAG_RANK,     /* each process is one rank: hrun adds the tag */
    HRUN_TAG_SRUN,     /* the process is srun --label: "03: " is rewritten; standard error always comes through a pipe,
                          as srun has no other way to keep its own words out of it */
    HRUN_TAG_MPIRUN,   /* the process is mpirun --tag-output: "[1,3]<stdout>:" is rewritten */
    HRUN_TAG_PRTERUN,  /* the same by Open MPI 5, which puts a blank behind it */
    HRUN_TAG_FED       /* each process is one rank, whose output comes by hrun_output_feed; the descriptors are those of
                          what brings it here, whose words get no tags */
};

/* For nprocs processes. hold: standard error passes through hrun and waits for hrun_output_release, or until more than
 * 64 KiB have come. NULL and *err on failure. */
struct hrun_output *hrun_output_create(const struct hrun_job *job, int nprocs, enum hrun_tagging tagging, int hold,
                                       struct hrun_error *err);
/* Pass on what was held back and what comes, or (pass_on = 0) drop what was held back. Of the former, lines that hold
 * the text `noise` ("": none) are left out. Harmless when nothing is held. */
void hrun_output_release(struct hrun_output *o, int pass_on, const char *noise);
void hrun_output_destroy(struct hrun_output *o);

/* Make room for the output of n processes from number first on. -1 with *err: o is as before. */
int hrun_output_grow(struct hrun_output *o, int first, int n, struct hrun_error *err);
/* The descriptor that process i gets as its standard output (is_err = 0) or error; -1: hrun's own. */
int hrun_output_child_fd(const struct hrun_output *o, int i, int is_err);
/* After the last process has been started: close the writing ends. */
void hrun_output_started(struct hrun_output *o);

/* HRUN_TAG_FED: what rank i has written; the rank has ended. */
void hrun_output_feed(struct hrun_output *o, int i, int is_err, const char *data, size_t len);
void hrun_output_end(struct hrun_output *o, int i);
/* 1: what is fed can be passed on soon; 0: the caller should wait. */
int hrun_output_has_room(const struct hrun_output *o);
/* 1: nobody reads hrun's own standard output or error any more, and nobody else wants that of the ranks. */
int hrun_output_is_deaf(const struct hrun_output *o, int is_err);

/* Fill *p, which is made larger, behind the first `before` entries with what to wait for. Result: number of entries
 * that were added. */
int hrun_output_poll(struct hrun_output *o, int before, struct pollfd **p);
/* Do what poll has found possible, for the entries that hrun_output_poll filled. */
void hrun_output_handle(struct hrun_output *o, const struct pollfd *p, int n);
/* 1 when all sources have ended and all has been passed on. */
int hrun_output_done(const struct hrun_output *o);
/* 0, or -1 when something could not be written (a full disk). Errors: HRUN_EIO, "standard output: ...". */
int hrun_output_failed(const struct hrun_output *o, struct hrun_error *err);
/* Give up waiting for the ends of the sources: take all that is there, close them. What has been read is still
 * passed on by hrun_output_handle. */
void hrun_output_close(struct hrun_output *o);

/* ---------------------------------------------------------------- sink
 *
 * Hrun's own standard output or error, where output of processes passes through it
 *
 * Purpose: a queue of what is to be written, and what became of writing it.
 * Invariants: a write never blocks when poll(2) has promised room; what has been written is given back, also where the
 * queue never runs empty; when the reader has gone nothing is kept.
 */

struct hrun_sink {
    int fd;
    struct hrun_buf queue;
    size_t at;                /* written so far */
    int dead;                 /* its reader has gone */
    int error;                /* errno of a write that failed for another reason, or 0 */
    int held;                 /* 1: nothing is written until all hosts are ready */
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

/* ---------------------------------------------------------------- sieve
 *
 * Taking the lines of libhrun-trace.so out of the standard error of a job
 *
 * Purpose: a line begins with HRUN_TRACE_MARK (base/trace_lines.h), wherever in the stream that stands, and ends with
 * its newline; all else is passed on as it came, in order and at once, but for a beginning of a mark, which is held
 * until it is known to be one.
 * Invariants: what begins like a mark and is none, and a line longer than HRUN_TRACE_LINE, is passed on whole.
 */

struct hrun_sieve {
    struct hrun_buf held;      /* mark and line so far */
};
#define HRUN_SIEVE_INIT { HRUN_BUF_INIT }

/* Append to *rest what is passed on, to *lines the lines without their marks. */
void hrun_sieve_feed(struct hrun_sieve *s, const char *data, size_t len, struct hrun_buf *rest, struct hrun_buf *lines);
/* The stream has ended. */
void hrun_sieve_end(struct hrun_sieve *s, struct hrun_buf *rest);
void hrun_sieve_release(struct hrun_sieve *s);

#endif
