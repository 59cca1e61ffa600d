/* openmpi_kept.c - the cache of the output of mpirun --version; see programs.h for the contracts
 *
 * There is one file for each host, because hosts may share the folder but not the programs. The file begins with the
 * state that the answer depends on, and is valid only while that is unchanged. The answer of a script is not cached.
 */
#include "base/file.h"
#include "launch/programs.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Two paths and two variables. */
enum { KEPT_MAX = 1 << 17 };

static const char head[] = "hrun-openmpi 1\n";

/* The end of a complete file. */
static const char tail[] = "\nend\n";

/* 1: a binary program, whose *st is filled. */
static int is_binary(const char *path, struct stat *st)
{
    static const char elf[4] = { 0x7f, 'E', 'L', 'F' };
    char begins[sizeof elf];
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), good;

    if (fd < 0)
        return 0;
    good = !fstat(fd, st) && read(fd, begins, sizeof begins) == (ssize_t)sizeof begins &&
           !memcmp(begins, elf, sizeof elf);
    close(fd);
    return good;
}

/* Append the state that the answer depends on. -1: a script is among the programs, do not cache. */
static int add_kept_key(struct hrun_buf *out)
{
    static const char *const variables[] = { "LD_LIBRARY_PATH", "OPAL_PREFIX" };

    hrun_buf_adds(out, head);
    for (size_t i = 0; hrun_openmpi_names[i]; i++) {
        autofree char *path = hrun_program_find(hrun_openmpi_names[i], NULL, NULL);
        struct stat st;

        if (path && !is_binary(path, &st))
            return -1;
        if (path)
            hrun_buf_addf(out, "%s %llu %llu %lld %lld.%09ld %lld.%09ld\n", path, (unsigned long long)st.st_dev,
                          (unsigned long long)st.st_ino, (long long)st.st_size, (long long)st.st_mtim.tv_sec,
                          st.st_mtim.tv_nsec, (long long)st.st_ctim.tv_sec, st.st_ctim.tv_nsec);
    }
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        hrun_buf_addf(out, "%s\n", getenv(variables[i]) ? getenv(variables[i]) : "");
    return 0;
}

static char *kept_path(const char *dir)
{
    char host[256] = "";

    gethostname(host, sizeof host - 1);
    return dir && *dir && *host && !strchr(host, '/') ? hrun_strf("%s/openmpi-%s", dir, host) : NULL;
}

/* Parse "4.1.4\n/usr/bin/mpirun" and tail. */
static int parse_kept(char *text, struct hrun_openmpi *m)
{
    size_t len = strlen(text), end = strlen(tail);
    char *path = strchr(text, '\n');

    if (!path || len < end || strcmp(text + len - end, tail) || !isdigit((unsigned char)*text))
        return -1;
    text[len - end] = *path++ = 0;
    if (*path != '/' || strlen(path) >= sizeof m->path || strlen(text) >= sizeof m->version)
        return -1;
    snprintf(m->path, sizeof m->path, "%s", path);
    snprintf(m->version, sizeof m->version, "%s", text);
    m->major = (int)strtol(text, NULL, 10);
    return 0;
}

int hrun_openmpi_recall(struct hrun_openmpi *m, struct hrun_buf *key)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    autofree char *file = kept_path(m->cache_dir);
    int saved = errno, rc = -1;

    hrun_buf_reset(key);
    if (!file || add_kept_key(key))
        hrun_buf_reset(key);
    else if (!m->refresh && !hrun_file_read(file, KEPT_MAX, &text, NULL) && text.len > key->len &&
             !memcmp(text.data, key->data, key->len))
        rc = parse_kept(text.data + key->len, m);
    errno = saved;
    return rc;
}

void hrun_openmpi_keep(const struct hrun_openmpi *m, struct hrun_buf *key)
{
    autofree char *file = key->len ? kept_path(m->cache_dir) : NULL;
    int saved = errno;

    if (file) {
        hrun_buf_addf(key, "%s\n%s%s", m->version, m->path, tail);
        if (!hrun_mkdirs(m->cache_dir, 0700, NULL))
            hrun_file_replace(file, key->data, key->len, 0600, NULL);
    }
    errno = saved;
}
