/* output.h - the output of the processes that passes through hrun
 *
 * Purpose: pipes from the processes to hrun's own output, to on_stdout, or to stderr_text, with tags if the job
 * requests them. Invariants:
 *   - hrun reads only what it can pass on: a slow reader of hrun's output slows the program, but hrun still handles
 *     signals (each write fits the room that poll has reported);
 *   - the order within one rank's stream is kept; without tags data is passed on as it comes, with tags
 *     line by line (a last line without an end gets one);
 *   - if the reader of hrun's output has gone, hrun closes the programs' pipes, so that they get SIGPIPE;
 *     hrun_output_failed reports any other failure to write;
 *   - buffers are bounded: about 64 KiB per stream, and at the end the contents of the pipes.
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
                          because srun's own messages must stay out of it */
    HRUN_TAG_MPIRUN,   /* the process is mpirun --tag-output: "[1,3]<stdout>:" is rewritten */
    HRUN_TAG_PRTERUN,  /* as HRUN_TAG_MPIRUN, for Open MPI 5, which adds a blank */
    HRUN_TAG_FED       /* each process is one rank, whose output comes by hrun_output_feed; the pipes are those of the
                          programs that relay it, whose own messages get no tags */
};

/* Create the output of nprocs processes. hold: standard error passes through hrun and is held until hrun_output_release
 * or until 64 KiB have come. NULL and *err on failure. */
struct hrun_output *hrun_output_create(const struct hrun_job *job, int nprocs, enum hrun_tagging tagging, int hold,
                                       struct hrun_error *err);
/* Stop holding standard error. pass_on = 1: passes on the held text without the lines that contain `noise` ("": all
 * lines); 0: drops it. Harmless if nothing is held. */
void hrun_output_release(struct hrun_output *o, int pass_on, const char *noise);
void hrun_output_destroy(struct hrun_output *o);

/* Make room for the output of n processes from number first on. -1 with *err: o is as before. */
int hrun_output_grow(struct hrun_output *o, int first, int n, struct hrun_error *err);
/* The descriptor that process i gets as its standard output (is_err = 0) or error, or a value of enum hrun_spawn_fd. */
int hrun_output_child_fd(const struct hrun_output *o, int i, int is_err);
/* After the last process has been started: close the writing ends. */
void hrun_output_started(struct hrun_output *o);

/* HRUN_TAG_FED: add output of rank i; mark the end of its output. */
void hrun_output_feed(struct hrun_output *o, int i, int is_err, const char *data, size_t len);
void hrun_output_end(struct hrun_output *o, int i);
/* 1: the caller may feed more; 0: it should wait. */
int hrun_output_has_room(const struct hrun_output *o);
/* 1: hrun's own standard output or error has no reader any more, and there is no on_stdout for it; else 0. */
int hrun_output_is_deaf(const struct hrun_output *o, int is_err);

/* Append the entries for poll(2) to *p behind the first `before` ones; *p is reallocated. Result: number of entries
 * added. */
int hrun_output_poll(struct hrun_output *o, int before, struct pollfd **p);
/* Read and write as poll(2) has set these entries of hrun_output_poll. */
void hrun_output_handle(struct hrun_output *o, const struct pollfd *p, int n);
/* 1 if all sources have ended and all data has been passed on, else 0. */
int hrun_output_done(const struct hrun_output *o);
/* 0, or -1 if a write failed (a full disk). Errors: HRUN_EIO, "standard output: ...". */
int hrun_output_failed(const struct hrun_output *o, struct hrun_error *err);
/* Read the present contents of the pipes, and close them without waiting for their ends. hrun_output_handle still
 * passes on what was read. */
void hrun_output_close(struct hrun_output *o);

/* ---------------------------------------------------------------- sieve
 *
 * Separating the lines of libhrun-trace.so from the standard error of a job
 *
 * Purpose: a trace line begins with HRUN_TRACE_MARK (base/trace_lines.h), anywhere in the stream, and ends with its
 * newline. All other data is passed on in order and at once. A partial mark is held until the rest has come.
 * Invariants: an incomplete mark, and a line longer than HRUN_TRACE_LINE, are passed on whole.
 */

/* Append the trace lines without their marks to *lines, and all other data to *rest. *held: mark and line so far. */
void hrun_sieve_feed(struct hrun_buf *held, const char *data, size_t len, struct hrun_buf *rest,
                     struct hrun_buf *lines);
/* The stream has ended, or *held is not a trace line: append it to *rest. */
void hrun_sieve_end(struct hrun_buf *held, struct hrun_buf *rest);

#endif
