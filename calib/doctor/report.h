/* report.h - what `doctor` found, for people and for machines */
#ifndef CALIB_DOCTOR_REPORT_H
#define CALIB_DOCTOR_REPORT_H

#include "judge.h"

/* Append the figures and the findings; all = 1: every PE and every finding, else at most some of each kind, the others
 * counted. Errors: HRUN_ENOMEM. */
int doctor_text(const struct doctor_data *d, const struct doctor_limits *limits, const struct findings *f, int all,
                struct hrun_buf *out, struct hrun_error *err);
/* The same as one JSON document, always with all. */
int doctor_json(const struct doctor_data *d, const struct doctor_limits *limits, const struct findings *f,
                struct hrun_buf *out, struct hrun_error *err);

#endif
