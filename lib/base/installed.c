/* installed.c - folders of this installation of hrun, and of a user's own files; see file.h */
#include "base/file.h"

#include <dlfcn.h>
#include <link.h>
#include <pwd.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *hrun_installed(void)
{
    struct link_map *map = NULL;
    Dl_info info;
    /* map: the file with this code. The loader gives the program itself an empty name. */
    int is_library = dladdr1((void *)(uintptr_t)hrun_installed, &info, (void **)&map, RTLD_DL_LINKMAP) && map &&
                     *map->l_name;
    char *path = realpath(is_library ? map->l_name : "/proc/self/exe", NULL);

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

    /* A blank or a colon would end the name in LD_PRELOAD. */
    if (path && (access(path, R_OK) || strpbrk(path, " :"))) {
        free(path);
        path = NULL;
    }
    return path;
}

char *hrun_user_path(const char *xdg, const char *in_home, const char *below, struct hrun_error *err)
{
    enum { ENTRY_MAX = 64 << 10 };
    const char *value = xdg ? getenv(xdg) : NULL, *home = getenv("HOME");
    struct passwd entry, *found = NULL;
    autofree char *text = xmalloc(ENTRY_MAX);

    if (value && *value == '/')
        return hrun_strf("%s/%s", value, below);
    if (!home || *home != '/')
        home = !getpwuid_r(geteuid(), &entry, text, ENTRY_MAX, &found) && found ? entry.pw_dir : "";
    if (*home == '/')
        return hrun_strf("%s/%s/%s", home, in_home, below);
    hrun_fail(err, HRUN_ENOENT, "HOME is not set to an absolute path, and user %lu has no home folder",
              (unsigned long)geteuid());
    return NULL;
}
