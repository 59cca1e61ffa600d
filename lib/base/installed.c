/* installed.c - where this hrun is installed; see file.h */
#include "base/file.h"

#include "base/buf.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The file that this code is in. The loader knows the program itself by no name. */
static char *own_file(void)
{
    struct link_map *map = NULL;
    Dl_info info;

    if (dladdr1((void *)(uintptr_t)hrun_installed, &info, (void **)&map, RTLD_DL_LINKMAP) && map && *map->l_name)
        return realpath(map->l_name, NULL);
    return realpath("/proc/self/exe", NULL);
}

char *hrun_installed(void)
{
    char *path = own_file();

    for (int up = 0; up < 2 && path; up++) {
        char *slash = strrchr(path, '/');

        if (!slash || slash == path) {
            free(path);
            path = NULL;
        } else {
            *slash = 0;
        }
    }
    return path;
}

char *hrun_installed_tool(const char *name, struct hrun_error *err)
{
    autofree char *prefix = hrun_installed();
    char *path = prefix ? hrun_strf("%s/lib/hrun/%s", prefix, name) : NULL;

    if (path && !access(path, X_OK))
        return path;
    hrun_fail(err, HRUN_ENOENT, "%s is not there or cannot be executed; install hrun (make install)",
              path ? path : name);
    free(path);
    return NULL;
}

char *hrun_installed_library(const char *name)
{
    autofree char *prefix = hrun_installed();
    char *path = prefix ? hrun_strf("%s/lib/hrun/%s", prefix, name) : NULL;

    /* A blank or a colon ends a name in LD_PRELOAD. */
    if (path && (access(path, R_OK) || strpbrk(path, " :"))) {
        free(path);
        path = NULL;
    }
    return path;
}
