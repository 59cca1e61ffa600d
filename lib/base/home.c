/* home.c - where a user's own files are; see file.h */
#include "base/file.h"

#include "base/alloc.h"
#include "base/buf.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static char *home_folder(struct hrun_error *err)
{
    enum { ENTRY_MAX = 64 << 10 };
    const char *home = getenv("HOME");
    struct passwd entry, *found = NULL;
    char *text = xmalloc(ENTRY_MAX), *copy = NULL;

    if (!home || *home != '/')
        home = !getpwuid_r(geteuid(), &entry, text, ENTRY_MAX, &found) && found ? entry.pw_dir : "";
    if (*home != '/')
        hrun_fail(err, HRUN_ENOENT, "HOME is not set to an absolute path, and user %lu has no home folder",
                  (unsigned long)geteuid());
    else
        copy = xstrdup(home);
    free(text);
    return copy;
}

char *hrun_user_path(const char *xdg, const char *in_home, const char *below, struct hrun_error *err)
{
    const char *value = xdg ? getenv(xdg) : NULL;
    int saved = errno, in_xdg = value && *value == '/';
    char *home = in_xdg ? NULL : home_folder(err), *path = NULL;

    if (in_xdg || home) {
        path = in_xdg ? hrun_strf("%s/%s", value, below) : hrun_strf("%s/%s/%s", home, in_home, below);
    }
    free(home);
    errno = saved;
    return path;
}
