/* output.h - the output of the processes where hrun has to touch it (internal)
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

struct hrun_output;

/* How lines get their tags. */
enum hrun_tagging {
    HRUN_TAG_RANK,     /* each process is one rank: hrun adds the tag */
    HRUN_TAG_SRUN,     /* the process is srun --label: "03: " is rewritten; standard error always comes through a pipe,
                          as srun has no other way to keep its own words out of it */
    HRUN_TAG_MPIRUN    /* the process is mpirun --tag-output: "[1,3]<stdout>:" is rewritten */
};

/* For nprocs processes. hold: standard error passes through hrun and waits for hrun_output_release; when more than
 * 64 KiB have come it is released. NULL and *err on failure. */
struct hrun_output *hrun_output_create(const struct hrun_job *job, int nprocs, enum hrun_tagging tagging, int hold,
                                       struct hrun_error *err);
/* Pass on what was held back and what comes, or (pass_on = 0) drop what was held back. Of the former, lines that hold
 * the text `noise` ("": none) are left out. Harmless when nothing is held. */
void hrun_output_release(struct hrun_output *o, int pass_on, const char *noise);
void hrun_output_destroy(struct hrun_output *o);

/* The descriptor that process i gets as its standard output (is_err = 0) or error; -1: hrun's own. */
int hrun_output_child_fd(const struct hrun_output *o, int i, int is_err);
/* After the last process has been started: close the writing ends. */
void hrun_output_started(struct hrun_output *o);

/* How many entries hrun_output_poll may use. */
int hrun_output_npoll(const struct hrun_output *o);
/* Fill p with what to wait for. Result: number of entries. */
int hrun_output_poll(struct hrun_output *o, struct pollfd *p);
/* Do what poll has found possible, for the entries that hrun_output_poll filled. */
void hrun_output_handle(struct hrun_output *o, const struct pollfd *p, int n);
/* 1 when all sources have ended and all has been passed on. */
int hrun_output_done(const struct hrun_output *o);
/* 0, or -1 when something could not be written (a full disk). Errors: HRUN_EIO, "standard output: ...". */
int hrun_output_failed(const struct hrun_output *o, struct hrun_error *err);
/* Give up waiting for the ends of the sources: take all that is there, close them. What has been read is still
 * passed on by hrun_output_handle. */
void hrun_output_close(struct hrun_output *o);

#endif
