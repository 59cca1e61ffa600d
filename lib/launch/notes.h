/* notes.h - the notes that agents write about the other hosts of a job
 *
 * Purpose: mpirun starts its daemons through `hrun-shim agent` (hrun/shim/shim.h), one for each host. The agents report
 * events of their hosts through a FIFO in the job's folder, whose path is in HRUN_NOTES:
 * "KIND<tab>HOST<tab>NUMBER<tab>TEXT<newline>", short enough to be written in one piece.
 */
#ifndef HRUN_LAUNCH_NOTES_H
#define HRUN_LAUNCH_NOTES_H

#define HRUN_NOTES_VARIABLE "HRUN_NOTES"
/* Set if the program that starts the agent may end it by SIGKILL (mpirun). */
#define HRUN_NOTES_KILLER_VARIABLE "HRUN_NOTES_KILLER"

enum hrun_note {
    HRUN_NOTE_BEGUN,        /* the agent has been started */
    HRUN_NOTE_UP,           /* the host has passed all checks and starts the daemon */
    HRUN_NOTE_CHANGED,      /* the host has changed since it was asked what it is made of */
    HRUN_NOTE_REFUSED,      /* the host cannot take part; text: why */
    HRUN_NOTE_RANK_BEGUN,   /* by hrun-shim in front of rank `number`, without a host: the rank is about to start */
    HRUN_NOTE_RANK_ENDED,   /* the rank has ended; text: its wait status in decimal */
    HRUN_NOTE_LATE,         /* the host did not report in time; text: the limit in s */
    HRUN_NOTE_FAILED,       /* the agent ended (number: status; text: its last words) before the host had reported */
    HRUN_NOTE_LOST,         /* the agent ended before the daemon; number and text as for FAILED */
    HRUN_NOTE_CRASHED,      /* the daemon was killed; number: signal */
    HRUN_NOTE_ENDED,        /* the daemon ended; number: status */
    HRUN_NOTE_KINDS
};

/* Longest text of a note; the rest is cut off. A note is written in one piece (PIPE_BUF). */
enum { HRUN_NOTE_TEXT = 1024, HRUN_NOTE_HOST = 256 };

/* Write a note; control characters become blanks. Drops the note if the FIFO has no reader or is full. */
void hrun_note_write(int fd, enum hrun_note kind, const char *host, int number, const char *text);

struct hrun_note_read {
    enum hrun_note kind;
    int number;
    char host[HRUN_NOTE_HOST], text[HRUN_NOTE_TEXT];
};
/* Parse one line without its newline. -1: the line is not a note. */
int hrun_note_parse(const char *line, struct hrun_note_read *out);

#endif
