/* smpi.h - the messages that SimGrid prints through hrun-smpi (hrun/smpi.c) (internal) */
#ifndef HRUN_LAUNCH_SMPI_H
#define HRUN_LAUNCH_SMPI_H

enum hrun_smpi_kind {
    HRUN_SMPI_NOTHING,          /* of no interest */
    HRUN_SMPI_CLOCK,            /* value: simulated time, s */
    HRUN_SMPI_STATUS,           /* rank has ended with status value */
    HRUN_SMPI_ABORT,            /* rank has called MPI_Abort */
    HRUN_SMPI_DEADLOCK,         /* the remaining ranks wait for messages that no rank sends */
    HRUN_SMPI_STALLED,          /* a rank has ended without MPI_Finalize */
    HRUN_SMPI_WARNING,          /* text */
    HRUN_SMPI_FAILURE           /* text: SimGrid cannot go on */
};

struct hrun_smpi_said {
    enum hrun_smpi_kind kind;
    int rank;                   /* -1: unknown */
    double value;
    const char *text;           /* points into the line */
};

/* Parse one line. */
void hrun_smpi_read(const char *line, struct hrun_smpi_said *out);

#endif
