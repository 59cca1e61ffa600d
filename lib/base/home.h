/* home.h - where a user's own files are
 *
 * Purpose: one rule for all folders below the home folder, also where HOME is not set, as for cron and services.
 */
#ifndef HRUN_BASE_HOME_H
#define HRUN_BASE_HOME_H

#include "base/error.h"

/* "VALUE/BELOW", VALUE being that of the variable xdg (NULL: none), else "HOME/IN_HOME/BELOW". The home folder is
 * $HOME, else that of the user database. Values that are no absolute paths do not count, as the XDG base directory
 * specification says. Nothing need exist. Result: the path, which the caller frees; NULL with HRUN_ENOENT (the user has
 * no home folder) or HRUN_ENOMEM. */
char *hrun_user_path(const char *xdg, const char *in_home, const char *below, struct hrun_error *err);

#endif
