/* progress.h - what hrun-calibrate shows while it measures, on standard error */
#ifndef CALIB_MEASURE_PROGRESS_H
#define CALIB_MEASURE_PROGRESS_H

#include "campaign.h"

struct progress {
    const struct context *c;
    const struct campaign *g;     /* events are noted in it before they are shown */
    int quiet;
    int tty;                      /* stderr is a terminal: one line that is rewritten */
    int total;                    /* runs to be made */
    double ended_s;               /* when the last run ended, or the first began */
    double busy_s, wall_s;        /* of all runs so far: by this clock, with what passes between runs; by their own */
    int runs;                     /* number of these */
};

/* Real seconds that are left, by what runs have taken so far and what passes between them. 0: not known. */
double progress_left(const struct progress *p);

void progress_start(struct progress *p, const struct context *c, const struct campaign *g);
void progress_show(void *progress, const struct event *e);
/* To be called before anything else is written to standard error. */
void progress_clear(const struct progress *p);

#endif
