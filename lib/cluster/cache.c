/* cache.c - the cache of hosts' answers; see internal.h for the contracts
 *
 * One file contains all hosts of a cluster, so that a start with 1,000 known hosts reads two or three files only.
 * There is no lock: a file is replaced as a whole, and each line has a checksum. If two processes write at once, the
 * answers of one are lost, and its hosts are asked again. */
#include "cluster/internal.h"

#include "base/alloc.h"
#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

/* Max bytes of files. A line of hosts-* takes 1 KiB for each of HRUN_HOSTLIST_MAX hosts. */
static const size_t index_max = (size_t)16 << 20, xml_max = (size_t)16 << 20;

static const int64_t age_max_s = 30 * 86400;

static const char index_head[] = "hrun-hosts 1\n", host_files[] = "hosts-", topology_files[] = "topology-";

/* Prefixes of the names of files that may be removed when old; the last is that of lib/launch. */
static const char *const swept_files[] = { host_files, topology_files, "openmpi-" };

/* Fields of a line, between tabs. */
enum { CRC, NAME, ASKED, KEY, MEMORY, FINGERPRINT, MACHINE, USABLE, MPI, QUOTA, CPU, NFIELDS };

struct line {
    char *name;                 /* points into text */
    char *rest;                 /* the line after the name */
};

struct hrun_cache {
    char *dir, *path;
    struct hrun_buf text;       /* the file, cut into lines */
    struct line *lines;         /* sorted by name */
    size_t nlines;
    struct hrun_strvec names, fresh;    /* to be written: hosts, and their lines */
    char *note;                 /* why something could not be written */
    int64_t now_s;
};

static uint32_t sum_of(const char *name, const char *rest)
{
    uLong sum = crc32(0, (const Bytef *)name, (uInt)strlen(name));

    return (uint32_t)crc32(sum, (const Bytef *)rest, (uInt)strlen(rest));
}

static int compare_lines(const void *pa, const void *pb)
{
    return strcasecmp(((const struct line *)pa)->name, ((const struct line *)pb)->name);
}

/* Cut the text into lines. Lines with a wrong checksum are dropped. */
static void read_cache_lines(struct hrun_cache *cache)
{
    char *p = cache->text.data + strlen(index_head), *end, *name, *rest, *after;
    size_t cap = 0;

    for (; (end = strchr(p, '\n')); p = end + 1) {
        *end = 0;
        name = strchr(p, '\t');
        rest = name ? strchr(name + 1, '\t') : NULL;
        if (!rest)
            continue;
        *name++ = *rest++ = 0;
        if (strtoul(p, &after, 16) != sum_of(name, rest) || *after)
            continue;
        hrun_grow(cache->lines, cache->nlines + 1, cap);
        cache->lines[cache->nlines++] = (struct line){ name, rest };
    }
    if (cache->nlines)
        qsort(cache->lines, cache->nlines, sizeof *cache->lines, compare_lines);
}

struct hrun_cache *hrun_cache_open(const struct hrun_cluster_request *req, const char *own_name)
{
    struct hrun_cache *cache = req->cache_dir && *req->cache_dir ? xcalloc(1, sizeof *cache) : NULL;

    if (!cache)
        return NULL;
    hrun_buf_init(&cache->text);
    cache->now_s = (int64_t)time(NULL);
    cache->dir = xstrdup(req->cache_dir);
    cache->path = hrun_strf("%s/%s%08lx", req->cache_dir, host_files,
                            (unsigned long)sum_of(own_name, req->via ? req->via : ""));
    if (!hrun_file_read(cache->path, index_max, &cache->text, NULL) &&
        !strncmp(cache->text.data, index_head, strlen(index_head)))
        read_cache_lines(cache);
    return cache;
}

/* 1 if an answer of time asked_s is still valid, else 0. More than a minute in the future is not valid. */
static int is_current(const struct hrun_cache *cache, int64_t asked_s)
{
    return asked_s > 0 && asked_s <= cache->now_s + 60 && cache->now_s - asked_s <= age_max_s;
}

/* Copy a field; NULL for "-", a value that the host did not give. */
static char *copy_cache_field(const char *field)
{
    return strcmp(field, "-") ? xstrdup(field) : NULL;
}

struct hrun_host_answer *hrun_cache_find(const struct hrun_cache *cache, const char *host)
{
    const struct line key = { (char *)(uintptr_t)host, NULL };
    const struct line *line = cache && cache->nlines
                              ? bsearch(&key, cache->lines, cache->nlines, sizeof key, compare_lines) : NULL;
    autofree char *rest = line ? xstrdup(line->rest) : NULL;
    char *next = rest, *f[NFIELDS] = { NULL };
    struct hrun_host_answer *t;
    int n = ASKED;

    for (; next && n < NFIELDS; n++)
        f[n] = strsep(&next, "\t");
    if (!rest || n < NFIELDS || next || !is_current(cache, strtoll(f[ASKED], NULL, 10)) ||
        strtoull(f[MEMORY], NULL, 10) > HRUN_MEMORY_MAX)
        return NULL;
    t = xmalloc(sizeof *t);
    *t = (struct hrun_host_answer){
        .asked_s = strtoll(f[ASKED], NULL, 10), .key = strtoull(f[KEY], NULL, 16),
        .memory_bytes = strtoull(f[MEMORY], NULL, 10), .cpu_quota = hrun_cpu_quota_of(f[QUOTA]), .remembered = 1,
        .fingerprint = copy_cache_field(f[FINGERPRINT]), .machine = copy_cache_field(f[MACHINE]),
        .usable = copy_cache_field(f[USABLE]), .mpi = copy_cache_field(f[MPI]), .cpu_model = copy_cache_field(f[CPU])
    };
    return t;
}

static char *topology_path(const struct hrun_cache *cache, uint64_t key)
{
    return hrun_strf("%s/%s%016llx.xml", cache->dir, topology_files, (unsigned long long)key);
}

int hrun_cache_topology(const struct hrun_cache *cache, uint64_t key, struct hrun_buf *xml)
{
    autofree char *path = cache ? topology_path(cache, key) : NULL;

    return !path || hrun_file_read(path, xml_max, xml, NULL) || hrun_topology_key(xml->data, xml->len) != key ? -1 : 0;
}

void hrun_cache_put(struct hrun_cache *cache, const char *host, const struct hrun_host_answer *t)
{
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;

    if (!cache)
        return;
    hrun_buf_addf(&b, "%lld\t%016llx\t%llu\t%s\t%s\t%s\t%s\t%.6f\t%s", (long long)t->asked_s,
                  (unsigned long long)t->key, (unsigned long long)t->memory_bytes,
                  t->fingerprint ? t->fingerprint : "-", t->machine ? t->machine : "-", t->usable ? t->usable : "-",
                  t->mpi ? t->mpi : "-", t->cpu_quota, t->cpu_model ? t->cpu_model : "-");
    hrun_strvec_push(&cache->names, host);
    hrun_strvec_push(&cache->fresh, b.data);
}

static void remember_failure(struct hrun_cache *cache, const struct hrun_error *why)
{
    if (!cache->note)
        cache->note = hrun_strf("cannot cache the hosts' topologies in %s: %s", cache->dir, why->text);
}

void hrun_cache_keep(struct hrun_cache *cache, uint64_t key, const char *xml, size_t len)
{
    autofree char *path = cache ? topology_path(cache, key) : NULL;
    autorelease(hrun_buf_release) struct hrun_buf old = HRUN_BUF_INIT;
    struct hrun_error why;

    if (!path)
        return;
    if (!hrun_cache_topology(cache, key, &old))
        utimensat(AT_FDCWD, path, NULL, 0);     /* new lines use the file, so sweeping must count its age from now */
    else if (hrun_mkdirs(cache->dir, 0700, &why) || hrun_file_replace(path, xml, len, 0600, &why))
        remember_failure(cache, &why);
}

void hrun_cache_tell(const struct hrun_cache *cache, struct hrun_resolver *r)
{
    for (size_t i = 0; cache && i < cache->nlines; i++)
        hrun_resolver_know(r, cache->lines[i].name);
}

/* Remove the files whose last change is so old that all their entries are invalid. */
static void sweep_cache_folder(const struct hrun_cache *cache)
{
    DIR *d = opendir(cache->dir);
    struct dirent *e;
    struct stat st;

    while (d && (e = readdir(d)))
        for (size_t i = 0; i < sizeof swept_files / sizeof *swept_files; i++)
            if (!strncmp(e->d_name, swept_files[i], strlen(swept_files[i])) &&
                !fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode) &&
                cache->now_s - (int64_t)st.st_mtim.tv_sec > age_max_s)
                unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
}

static void add_cache_line(struct hrun_buf *out, const char *name, const char *rest)
{
    hrun_buf_addf(out, "%08lx\t%s\t%s\n", (unsigned long)sum_of(name, rest), name, rest);
}

static int compare_cached_names(const void *pa, const void *pb)
{
    return strcasecmp(*(char *const *)pa, *(char *const *)pb);
}

/* Write the old lines that are still valid, and the new ones. */
static void write_lines(struct hrun_cache *cache)
{
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    struct hrun_error why;

    hrun_buf_adds(&b, index_head);
    for (size_t i = 0; i < cache->names.n; i++)
        add_cache_line(&b, cache->names.v[i], cache->fresh.v[i]);
    qsort(cache->names.v, cache->names.n, sizeof *cache->names.v, compare_cached_names);
    for (size_t i = 0; i < cache->nlines; i++) {
        const char *name = cache->lines[i].name;

        if (is_current(cache, strtoll(cache->lines[i].rest, NULL, 10)) &&
            !bsearch(&name, cache->names.v, cache->names.n, sizeof name, compare_cached_names))
            add_cache_line(&b, name, cache->lines[i].rest);
    }
    if (hrun_mkdirs(cache->dir, 0700, &why) || hrun_file_replace(cache->path, b.data, b.len, 0600, &why))
        remember_failure(cache, &why);
    sweep_cache_folder(cache);
}

char *hrun_cache_close(struct hrun_cache *cache)
{
    char *why;

    if (!cache)
        return NULL;
    if (cache->names.n)
        write_lines(cache);
    why = cache->note;
    hrun_buf_release(&cache->text);
    hrun_strvec_release(&cache->names);
    hrun_strvec_release(&cache->fresh);
    free(cache->lines);
    free(cache->path);
    free(cache->dir);
    free(cache);
    return why;
}
