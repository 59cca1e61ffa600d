/* openmpi.h - the mpirun of this host (internal) */
#ifndef HRUN_LAUNCH_OPENMPI_H
#define HRUN_LAUNCH_OPENMPI_H

#include "launch/launch.h"

/* By what names mpirun goes, in the order of the search; NULL ends the list. */
extern const char *const hrun_openmpi_names[];

/* The first of these in PATH that is Open MPI's. The caller sets m->cache_dir and m->refresh. Errors: HRUN_EENGINE
 * (none; says what to install), HRUN_EIO, HRUN_ENOMEM; the rest of *m is untouched. */
int hrun_openmpi_find(struct hrun_openmpi *m, struct hrun_error *err);
/* That of a job: what its caller knows, else what is found. Errors: those of hrun_openmpi_find. */
int hrun_openmpi_of(const struct hrun_job *job, struct hrun_openmpi *m, struct hrun_error *err);

/* In openmpi_kept.c. Recall what was found before: 0; or -1, *m untouched, where nothing is kept in m->cache_dir, or
 * since then a program, PATH or what it loads libraries by has changed. *key gets all that an answer depends on from
 * now on, for hrun_openmpi_keep, which uses it up: a program that is replaced while it is asked is asked again. It is
 * empty where an answer cannot be kept. That it could not be written is no error. errno is kept. */
int hrun_openmpi_recall(struct hrun_openmpi *m, struct hrun_buf *key);
void hrun_openmpi_keep(const struct hrun_openmpi *m, struct hrun_buf *key);

#endif
