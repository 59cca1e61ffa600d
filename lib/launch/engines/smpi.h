/* smpi.h - shared by the files of engine smpi (internal) */
#ifndef HRUN_LAUNCH_SMPI_H
#define HRUN_LAUNCH_SMPI_H

#include "launch/job.h"

/* ---- smpi_words.c: what SimGrid says of a simulation, through hrun-smpi (hrun/smpi.c) */

enum hrun_smpi_kind {
    HRUN_SMPI_NOTHING,          /* of no interest */
    HRUN_SMPI_CLOCK,            /* value: simulated time, s */
    HRUN_SMPI_STATUS,           /* rank has ended with status value */
    HRUN_SMPI_ABORT,            /* rank has called MPI_Abort */
    HRUN_SMPI_DEADLOCK,         /* the ranks that are left wait for what nobody sends */
    HRUN_SMPI_STALLED,          /* a rank has ended without MPI_Finalize */
    HRUN_SMPI_WARNING,          /* text */
    HRUN_SMPI_FAILURE           /* text: SimGrid cannot go on */
};

struct hrun_smpi_said {
    enum hrun_smpi_kind kind;
    int rank;                   /* -1: unknown */
    double value;
    const char *text;           /* in the line */
};

/* Parse one line. */
void hrun_smpi_read(const char *line, struct hrun_smpi_said *out);

/* ---- smpi_words.c: a running simulation */

struct hrun_smpi_watch {
    const char *helper;         /* path of hrun-smpi */
    struct hrun_mpi mpi;
    double clock_s;             /* -1: the simulation has not come to its end */
    struct hrun_smpi_said first;    /* of the words that mean failure, the first; kind NOTHING: none. No text */
    char failure[256];          /* SimGrid's own, "" */
    int nwarnings;
};

/* Of struct hrun_driver; r->state is a struct hrun_smpi_watch. */
void bring_smpi_signal(struct hrun_run *r, int sig);
void read_simgrid_line(struct hrun_run *r, char *line);
void simulation_ended(struct hrun_run *r, int status);

#endif
