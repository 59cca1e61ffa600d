/* shimpath.c - where hrun-shim is; see internal.h for the contract */
#include "launch/internal.h"

#include "launch/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char NAME[] = "hrun-shim";

/* "/usr/bin/hrun" -> "/usr/bin/hrun-shim". NULL when there is no such program. */
static char *beside_self(const char *name)
{
    char *self = realpath("/proc/self/exe", NULL), *slash = self ? strrchr(self, '/') : NULL, *path = NULL;

    if (slash)
        path = hrun_strf("%.*s/%s", (int)(slash - self), self, name);
    free(self);
    if (path && access(path, X_OK)) {
        free(path);
        path = NULL;
    }
    return path;
}

char *hrun_beside_path(const char *name)
{
    char *path = beside_self(name);

    return path ? path : hrun_program_find(name, NULL, NULL);
}

char *hrun_shim_path(struct hrun_error *err)
{
    char *path = hrun_beside_path(NAME);

    if (!path)
        hrun_fail(err, HRUN_EENGINE, "%s, which binds the processes, is neither beside this program nor in PATH: "
                  "install hrun anew (make install)", NAME);
    return path;
}
