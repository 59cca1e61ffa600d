/* tool.c - the programs that hrun-calibrate starts on hosts */
#include "calib.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *calib_tool(const char *name, struct hrun_error *err)
{
    char *self = realpath("/proc/self/exe", NULL), *path = NULL, *slash;

    for (int up = 0; self && up < 2; up++)
        if ((slash = strrchr(self, '/')))
            *slash = 0;
    path = self ? hrun_strf("%s/lib/hrun/%s", self, name) : NULL;
    free(self);
    if (!path)
        hrun_fail_nomem(err);
    else if (access(path, X_OK)) {
        hrun_fail(err, HRUN_ENOENT, "%s is not there or cannot be executed; install hrun (make install)", path);
        free(path);
        path = NULL;
    }
    return path;
}
