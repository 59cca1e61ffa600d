/* show_mpi_waits.h - what show tells of watched runs: who waits, and the terms that they propose */
#ifndef CALIB_SHOW_MPI_WAITS_H
#define CALIB_SHOW_MPI_WAITS_H

#include "store/store.h"

#include <jansson.h>

/* Append a table of the watched runs of a profile, one row for each number of processes per PE; nothing when there are
 * none. signature: the profile's. Errors: HRUN_ENOMEM. */
int waits_show(const struct hrun_samples *samples, const char *signature, struct hrun_buf *out, struct hrun_error *err);
/* The same for machines: an array of objects; NULL when memory ran out. */
json_t *waits_json(const struct hrun_samples *samples, const char *signature);

/* Append the terms that the watched runs propose, and how they were found. Errors: those of hrun_trace_propose. */
int waits_terms(const struct hrun_samples *samples, struct hrun_buf *out, struct hrun_error *err);
json_t *waits_terms_json(const struct hrun_samples *samples, struct hrun_error *err);

#endif
