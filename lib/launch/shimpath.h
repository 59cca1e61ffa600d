/* shimpath.h - where hrun-shim is (internal) */
#ifndef HRUN_LAUNCH_SHIMPATH_H
#define HRUN_LAUNCH_SHIMPATH_H

#include "base/error.h"

/* Absolute path of hrun-shim: beside the running program (hrun and hrun-calibrate are installed with it), else, for
 * other programs that use this library, in PATH. It has to be at the same path on all hosts of a job. The caller frees
 * it. NULL with HRUN_EENGINE: it is in neither place. */
char *hrun_shim_path(struct hrun_error *err);

/* The same for another program that is installed with hrun; NULL: it is in neither place. */
char *hrun_beside_path(const char *name);

#endif
