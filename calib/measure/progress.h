/* progress.h - progress of hrun-calibrate's measurements on standard error */
#ifndef CALIB_MEASURE_PROGRESS_H
#define CALIB_MEASURE_PROGRESS_H

#include "campaign.h"

struct progress {
    const struct context *c;
    const struct campaign *g;     /* campaign_note must get each event before progress_show does */
    int quiet;
    int tty;                      /* 1: stderr is a terminal, on which one line is rewritten */
    int total;                    /* number of runs to make */
    double ended_s;               /* time when the last run ended; before the first run: the start */
    double busy_s, wall_s;        /* all runs so far: real time including gaps between runs; sum of their wall times */
    int runs;                     /* number of runs so far */
};

/* Expected real time left, s, from the runs so far and the gaps between them. 0: not known. */
double progress_left(const struct progress *p);

void progress_start(struct progress *p, const struct context *c, const struct campaign *g);
void progress_show(void *progress, const struct event *e);
/* Clear the line on a terminal. Call it before other writes to standard error. */
void progress_clear(const struct progress *p);

#endif
