/* installed.h - where this hrun is installed
 *
 * Purpose: programs and files that are installed together find each other wherever that is, in a build tree too.
 */
#ifndef HRUN_BASE_INSTALLED_H
#define HRUN_BASE_INSTALLED_H

#include "base/error.h"

/* The folder whose bin/ and lib/ this code was loaded from: that of libhrun.so where it runs in it, else of the running
 * program; without symbolic links. The caller frees it. NULL: it cannot be told, or no memory. */
char *hrun_installed(void);

/* Path of a library of ours that is preloaded: PREFIX/bin/hrun -> PREFIX/lib/hrun/NAME, and the same below build/. The
 * caller frees it. NULL: there is none, it cannot stand in LD_PRELOAD, or no memory. */
char *hrun_installed_library(const char *name);

/* Path of a program of ours that is started on hosts, in the same folder. The caller frees it. Errors: HRUN_ENOENT. */
char *hrun_installed_tool(const char *name, struct hrun_error *err);

#endif
