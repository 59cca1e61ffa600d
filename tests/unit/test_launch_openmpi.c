/* test_launch_openmpi.c - what mpirun --version said is kept while mpirun is the same, and only then
 *
 * This program itself, under the name mpirun, is the one that is asked: it tells the version in FAKE_VERSION. */
#include "fixture.h"

#include "base/file.h"
#include "launch/programs.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct place {
    char *top, *bin, *other, *cache, *asked;    /* asked: a file with a byte for each question */
};

static void put_data(const char *folder, const char *name, const char *text, size_t len)
{
    char *path = hrun_strf("%s/%s", folder, name);

    if (hrun_file_replace(path, text, len, 0755, NULL))
        ok(0, "%s is written", path);
    free(path);
}

/* A mpirun of its own file. */
static void install(const char *folder)
{
    struct hrun_buf self = HRUN_BUF_INIT;

    if (hrun_file_read("/proc/self/exe", (size_t)1 << 30, &self, NULL))
        ok(0, "this program is read");
    put_data(folder, "mpirun", self.data, self.len);
    hrun_buf_release(&self);
}

static long long questions(const struct place *p)
{
    struct stat st;

    return stat(p->asked, &st) ? 0 : (long long)st.st_size;
}

/* Find mpirun: it is asked so many times, and the answer is that version and path. */
static void finds(const struct place *p, const char *cache, int refresh, int asked, const char *version,
                  const char *folder, const char *when)
{
    struct hrun_openmpi m = { .cache_dir = cache, .refresh = refresh };
    struct hrun_error err = { .text = "" };
    long long before = questions(p);
    char *path = hrun_strf("%s/mpirun", folder);

    is_int(hrun_openmpi_find(&m, &err), 0, "%s: mpirun is found %s", when, err.text);
    is_int(questions(p) - before, asked, "... and %s asked", asked ? "is" : "is not");
    is_str(m.version, version, "... its version");
    is_str(m.path, path, "... its path");
    is_int(m.major, strtol(version, NULL, 10), "... its major version");
    ok(m.cache_dir == cache && m.refresh == refresh, "... and what the caller has set stays");
    free(path);
}

static void test_kept(const struct place *p)
{
    setenv("FAKE_VERSION", "4.1.4", 1);
    finds(p, p->cache, 0, 1, "4.1.4", p->bin, "nothing is kept");
    finds(p, p->cache, 0, 0, "4.1.4", p->bin, "the second time");
    finds(p, NULL, 0, 1, "4.1.4", p->bin, "no folder is given");
    setenv("FAKE_VERSION", "5.0.1", 1);
    finds(p, p->cache, 0, 0, "4.1.4", p->bin, "the program is the same");
    finds(p, p->cache, 1, 1, "5.0.1", p->bin, "a refresh");
    finds(p, p->cache, 0, 0, "5.0.1", p->bin, "after it");
    finds(p, "/dev/null/none", 0, 1, "5.0.1", p->bin, "a folder that cannot be written");
}

/* Whatever an answer depends on: when it changes, mpirun is asked. */
static void test_changed(const struct place *p)
{
    char *path = hrun_strf("%s:%s", p->other, p->bin), *file = hrun_strf("%s/mpirun", p->bin);
    struct timespec now[2] = { { 0, UTIME_OMIT }, { 0, UTIME_NOW } };
    struct stat st;

    setenv("FAKE_VERSION", "4.1.5", 1);
    stat(file, &st);
    install(p->bin);
    now[1] = st.st_mtim;
    utimensat(AT_FDCWD, file, now, 0);
    finds(p, p->cache, 0, 1, "4.1.5", p->bin, "another program of the same size and date");
    finds(p, p->cache, 0, 0, "4.1.5", p->bin, "the second time");
    setenv("FAKE_VERSION", "4.1.6", 1);
    now[1].tv_nsec = UTIME_NOW;
    utimensat(AT_FDCWD, file, now, 0);
    finds(p, p->cache, 0, 1, "4.1.6", p->bin, "another date");
    setenv("FAKE_VERSION", "4.1.7", 1);
    setenv("LD_LIBRARY_PATH", p->other, 1);
    finds(p, p->cache, 0, 1, "4.1.7", p->bin, "another LD_LIBRARY_PATH");
    finds(p, p->cache, 0, 0, "4.1.7", p->bin, "the second time");
    unsetenv("LD_LIBRARY_PATH");
    setenv("FAKE_VERSION", "4.1.8", 1);
    install(p->other);
    setenv("PATH", path, 1);
    finds(p, p->cache, 0, 1, "4.1.8", p->other, "another one comes first in PATH");
    finds(p, p->cache, 0, 0, "4.1.8", p->other, "the second time");
    setenv("PATH", p->bin, 1);
    free(path);
    free(file);
}

/* A file that was cut off, at any place, or that says something else is none. */
static void test_damage(const struct place *p)
{
    struct hrun_openmpi m = { .cache_dir = p->cache };
    struct hrun_buf whole = HRUN_BUF_INIT, key = HRUN_BUF_INIT;
    char host[256] = "", *file, *wrong;
    int trusted = 0;

    gethostname(host, sizeof host - 1);
    file = hrun_strf("%s/openmpi-%s", p->cache, host);
    finds(p, p->cache, 1, 1, "4.1.8", p->bin, "before the damage");
    is_int(hrun_file_read(file, 1 << 20, &whole, NULL), 0, "the answer is in a file of this host's");
    is_int(hrun_openmpi_recall(&m, &key), 0, "whole, it is trusted");
    for (size_t n = 0; n < whole.len; n++) {
        hrun_file_replace(file, whole.data, n, 0600, NULL);
        trusted += hrun_openmpi_recall(&m, &key) == 0;
    }
    is_int(trusted, 0, "cut off at any of %zu places, it is not", whole.len);
    wrong = hrun_strf("%.*sx.1.8\n/no\nend\n", (int)key.len, key.data);
    hrun_file_replace(file, wrong, strlen(wrong), 0600, NULL);
    is_int(hrun_openmpi_recall(&m, &key), -1, "a version that is none is not trusted");
    finds(p, p->cache, 0, 1, "4.1.8", p->bin, "a damaged file");
    finds(p, p->cache, 0, 0, "4.1.8", p->bin, "which is mended");
    hrun_buf_release(&whole);
    hrun_buf_release(&key);
    free(wrong);
    free(file);
}

/* Whose answer may depend on anything. */
static void test_script(const struct place *p)
{
    char *text = hrun_strf("#!/bin/sh\nexec %s/mpirun \"$@\"\n", p->bin);
    char *path = hrun_strf("%s:/usr/bin:/bin", p->other);

    put_data(p->other, "mpirun", text, strlen(text));
    setenv("PATH", path, 1);
    setenv("FAKE_VERSION", "4.0.1", 1);
    finds(p, p->cache, 0, 1, "4.0.1", p->other, "a script");
    setenv("FAKE_VERSION", "4.0.2", 1);
    finds(p, p->cache, 0, 1, "4.0.2", p->other, "the second time");
    free(text);
    free(path);
}

/* What hrun_openmpi_find asks. */
static int answer(void)
{
    int fd = open(getenv("FAKE_ASKED"), O_WRONLY | O_APPEND | O_CREAT, 0600);

    if (fd < 0 || write(fd, "?", 1) != 1)
        return 1;
    printf("mpirun (Open MPI) %s\n\nReport bugs to nobody\n", getenv("FAKE_VERSION"));
    return 0;
}

int main(int argc, char **argv)
{
    char *top;
    struct place p;

    if (argc > 1 && !strcmp(argv[1], "--version"))
        return answer();
    top = temp_dir();
    p = (struct place){ top, hrun_strf("%s/bin", top), hrun_strf("%s/other", top), hrun_strf("%s/a/cache", top),
                        hrun_strf("%s/asked", top) };
    mkdir(p.bin, 0700);
    mkdir(p.other, 0700);
    setenv("FAKE_ASKED", p.asked, 1);
    setenv("PATH", p.bin, 1);
    unsetenv("LD_LIBRARY_PATH");
    install(p.bin);
    test_kept(&p);
    test_changed(&p);
    test_damage(&p);
    test_script(&p);
    free(top);
    free(p.bin);
    free(p.other);
    free(p.cache);
    free(p.asked);
    return tap_done();
}
