/* test_topo_fingerprint.c - the fingerprint of a host changes with what may be used of it, and with nothing else */
#include "tap.h"

#include "base/file.h"
#include "cluster/topo.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char *fingerprint(const char *extra)
{
    struct hrun_buf b = HRUN_BUF_INIT;

    hrun_topo_fingerprint(extra, &b);
    return hrun_buf_detach(&b);
}

/* Is it now another one than `before`? */
static void differs(const char *before, const char *extra, int want, const char *what)
{
    char *now = fingerprint(extra);

    ok(!!strcmp(now, before) == want, "%s: %s, before %s", what, now, before);
    free(now);
}

static void test_affinity(const char *plain)
{
    cpu_set_t all, one;
    int first = 0;

    if (sched_getaffinity(0, sizeof all, &all) || CPU_COUNT(&all) < 2) {
        ok(1, "the affinity mask # SKIP one processor only");
        return;
    }
    while (!CPU_ISSET(first, &all))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    sched_setaffinity(0, sizeof one, &one);
    differs(plain, NULL, 1, "the affinity mask");
    sched_setaffinity(0, sizeof all, &all);
    differs(plain, NULL, 0, "the mask as it was");
}

static void test_variables(const char *plain)
{
    struct hrun_error err;
    char *dir = hrun_rundir_create(NULL, &err), *path = hrun_strf("%s/t.xml", dir), *with;

    setenv("HWLOC_SYNTHETIC", "core:2 pu:1", 1);
    differs(plain, NULL, 1, "HWLOC_SYNTHETIC");
    with = fingerprint(NULL);
    setenv("HWLOC_SYNTHETIC", "core:4 pu:1", 1);
    differs(with, NULL, 1, "another value of it");
    free(with);
    setenv("HWLOC_SYNTHETIC", "", 1);
    differs(plain, NULL, 0, "an empty value of it");
    unsetenv("HWLOC_SYNTHETIC");
    setenv("HWLOC_XMLFILE", path, 1);
    with = fingerprint(NULL);
    hrun_file_replace(path, "a", 1, 0600, &err);
    differs(with, NULL, 1, "the file of HWLOC_XMLFILE appears");
    free(with);
    with = fingerprint(NULL);
    hrun_file_replace(path, "bc", 2, 0600, &err);
    differs(with, NULL, 1, "and changes");
    free(with);
    unsetenv("HWLOC_XMLFILE");
    differs(plain, NULL, 0, "without any");
    hrun_remove_tree(dir);
    free(dir);
    free(path);
}

int main(void)
{
    char *plain;
    struct hrun_buf b = HRUN_BUF_INIT;

    unsetenv("HWLOC_SYNTHETIC");
    unsetenv("HWLOC_XMLFILE");
    plain = fingerprint(NULL);
    ok(strlen(plain) == 8 && strspn(plain, "0123456789abcdef") == 8, "8 hexadecimal digits: %s", plain);
    for (int i = 0; i < 20; i++)
        hrun_topo_fingerprint(NULL, &b);
    ok(b.len == 160 && !strncmp(b.data, plain, 8) && !strncmp(b.data + 152, plain, 8), "the same each time, appended");
    hrun_buf_release(&b);
    differs(plain, "", 0, "nothing more to watch");
    differs(plain, "4.1.4", 1, "something more to watch");
    test_affinity(plain);
    test_variables(plain);
    free(plain);
    return tap_done();
}
