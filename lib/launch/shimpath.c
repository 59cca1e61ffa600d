/* shimpath.c - where hrun-shim is; see programs.h for the contract */
#include "launch/programs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char NAME[] = "hrun-shim";

char *hrun_beside_path(const char *name)
{
    autofree char *self = realpath("/proc/self/exe", NULL);
    const char *slash = self ? strrchr(self, '/') : NULL;
    char *path = slash ? hrun_strf("%.*s/%s", (int)(slash - self), self, name) : NULL;   /* "/usr/bin/hrun-shim" */

    if (path && access(path, X_OK) == 0)
        return path;
    free(path);
    return hrun_program_find(name, NULL, NULL);
}

char *hrun_shim_path(struct hrun_error *err)
{
    char *path = hrun_beside_path(NAME);

    if (!path)
        hrun_fail(err, HRUN_EENGINE, "%s, which binds the processes, is neither beside this program nor in PATH: "
                  "install hrun anew (make install)", NAME);
    return path;
}
