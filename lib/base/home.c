/* home.c - where a user's own files are; see file.h */
#include "base/file.h"

#include "base/alloc.h"
#include "base/buf.h"

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
    autofree char *text = xmalloc(ENTRY_MAX);

    if (!home || *home != '/')
        home = !getpwuid_r(geteuid(), &entry, text, ENTRY_MAX, &found) && found ? entry.pw_dir : "";
    if (*home == '/')
        return xstrdup(home);
    hrun_fail(err, HRUN_ENOENT, "HOME is not set to an absolute path, and user %lu has no home folder",
              (unsigned long)geteuid());
    return NULL;
}

char *hrun_user_path(const char *xdg, const char *in_home, const char *below, struct hrun_error *err)
{
    const char *value = xdg ? getenv(xdg) : NULL;
    int in_xdg = value && *value == '/';
    autofree char *home = in_xdg ? NULL : home_folder(err);
    char *path = in_xdg ? hrun_strf("%s/%s", value, below) : home ? hrun_strf("%s/%s/%s", home, in_home, below) : NULL;

    return path;
}
