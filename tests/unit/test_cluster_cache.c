/* test_cluster_cache.c - what hosts said is remembered: who is asked when, damaged and unwritable caches, hosts that do
 * not answer, two names of one machine */
#include "tap.h"

#include "base/file.h"
#include "cluster/internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct network {
    char *text;                 /* what all hosts answer, ... */
    const char *host, *other;   /* ... but host, which answers other (NULL: nothing) */
    struct hrun_buf asked;      /* the hosts of the last discovery */
};

static int ask(void *ctx, char *const *hosts, int n, int skip, struct hrun_buf *texts, struct hrun_error *errors,
               struct hrun_error *err)
{
    struct network *w = ctx;

    (void)skip, (void)err;
    for (int i = 0; i < n; i++) {
        int odd = w->host && !strcmp(w->host, hosts[i]);

        hrun_buf_addf(&w->asked, "%s%s", w->asked.len ? " " : "", hosts[i]);
        if (odd && !w->other)
            hrun_fail(&errors[i], HRUN_EENGINE, "host '%s' is silent", hosts[i]);
        else
            hrun_buf_adds(&texts[i], odd ? w->other : w->text);
    }
    return 0;
}

static struct hrun_cluster *discover(struct network *w, const char *dir, const char *hosts, int refresh, int skip,
                                     const char *via, struct hrun_error *err)
{
    struct hrun_cluster_request req = { .hosts = hosts, .level = -1, .topologies = ask, .ctx = w, .cache_dir = dir,
                                        .refresh = refresh, .skip_unreachable = skip, .via = via };
    struct hrun_cluster *c = NULL;

    hrun_buf_reset(&w->asked);
    memset(err, 0, sizeof *err);
    return hrun_cluster_discover(&req, &c, err) ? NULL : c;
}

/* Who is asked when hosts are discovered, plainly. */
static void is_asked(struct network *w, const char *dir, const char *hosts, const char *want, const char *what)
{
    struct hrun_error err;
    struct hrun_cluster *c = discover(w, dir, hosts, 0, 0, NULL, &err);

    ok(c != NULL, "%s %s", what, err.text);
    is_str(w->asked.data, want, "%s", what);
    hrun_cluster_destroy(c);
}

/* Path of the only file whose name begins so. */
static char *find_file(const char *dir, const char *start)
{
    DIR *d = opendir(dir);
    struct dirent *e;
    char *path = NULL;

    while (d && !path && (e = readdir(d)))
        if (!strncmp(e->d_name, start, strlen(start)))
            path = hrun_strf("%s/%s", dir, e->d_name);
    if (d)
        closedir(d);
    ok(path != NULL, "there is a file %s*", start);
    return path;
}

static void test_remembered(struct network *w, const char *dir)
{
    struct hrun_error err;
    struct hrun_cluster *c, *d;
    struct stat st;
    char *path;

    c = discover(w, dir, "127.0.0.[11-12]", 0, 0, NULL, &err);
    is_str(w->asked.data, "127.0.0.11 127.0.0.12", "a cold start asks all");
    d = discover(w, dir, "127.0.0.[11-12]", 0, 0, NULL, &err);
    is_str(w->asked.data, "", "a warm one none");
    if (ok(c && d, "both work %s", err.text)) {
        ok(!c->hosts[0].remembered && d->hosts[0].remembered, "which is told");
        is_int(d->hosts[0].asked_s, c->hosts[0].asked_s, "when it was asked");
        is_str(d->hosts[1].fingerprint, c->hosts[1].fingerprint, "the fingerprint");
        is_str(d->hosts[1].mpi, "4.1.4", "the Open MPI");
        ok(c->hosts[1].cpu_quota == 0.75 && d->hosts[1].cpu_quota == 0.75, "what the cgroup grants");
        is_str(d->subs[0].name, c->subs[0].name, "the name");
        is_str(d->subs[0].pes[1].core_pus, c->subs[0].pes[1].core_pus, "the PUs");
        is_int(d->subs[0].pes[1].memory_bytes, c->subs[0].pes[1].memory_bytes, "the memory");
        is_str(d->subs[0].cpu_model, c->subs[0].cpu_model, "the CPU model");
    }
    hrun_cluster_destroy(c);
    hrun_cluster_destroy(d);
    is_asked(w, dir, "127.0.0.[12-13]", "127.0.0.13", "a new host is asked alone");
    is_asked(w, dir, "127.0.0.[11-13]", "", "and joins the others");
    c = discover(w, dir, "127.0.0.[11-12]", 1, 0, NULL, &err);
    is_str(w->asked.data, "127.0.0.11 127.0.0.12", "a refresh asks all");
    hrun_cluster_destroy(c);
    is_asked(w, dir, "127.0.0.13", "", "and forgets no other");
    c = discover(w, dir, "127.0.0.11", 0, 0, "another shell", &err);
    is_str(w->asked.data, "127.0.0.11", "what was said through another way does not count");
    hrun_cluster_destroy(c);
    is_asked(w, NULL, "127.0.0.11", "127.0.0.11", "without a cache all are asked");
    path = find_file(dir, "topology-");
    if (path)
        ok(!stat(path, &st) && (st.st_mode & 0777) == 0600, "it is the user's alone");
    free(path);
}

static void test_damage(struct network *w, const char *dir)
{
    struct hrun_buf b = HRUN_BUF_INIT;
    char *path = find_file(dir, "topology-"), *hosts, *at;

    if (path) {
        hrun_file_read(path, 1 << 24, &b, NULL);
        hrun_file_replace(path, b.data, b.len / 2, 0600, NULL);
        is_asked(w, dir, "127.0.0.11", "127.0.0.11", "half a topology is none");
        is_asked(w, dir, "127.0.0.[11-12]", "", "and is replaced");
        unlink(path);
        is_asked(w, dir, "127.0.0.11", "127.0.0.11", "nor is one that is gone");
    }
    free(path);
    hrun_remove_tree(dir);
    is_asked(w, dir, "127.0.0.[11-12]", "127.0.0.11 127.0.0.12", "a removed cache");
    hosts = find_file(dir, "hosts-");
    hrun_buf_reset(&b);
    hrun_file_read(hosts, 1 << 24, &b, NULL);
    at = strstr(b.data, "127.0.0.12");
    if (ok(at != NULL, "a line for the host")) {
        at[20] ^= 1;
        hrun_file_replace(hosts, b.data, b.len, 0600, NULL);
        is_asked(w, dir, "127.0.0.[11-12]", "127.0.0.12", "a damaged line is none");
    }
    hrun_file_replace(hosts, b.data, (size_t)(at - b.data) + 9, 0600, NULL);
    is_asked(w, dir, "127.0.0.[11-12]", "127.0.0.12", "nor is a torn one");
    hrun_file_replace(hosts, "garbage\n", 8, 0600, NULL);
    is_asked(w, dir, "127.0.0.11", "127.0.0.11", "nor another file");
    hrun_file_replace(hosts, "hrun-hosts 1\n\t\n\t\t\n00000000\ta\n0\t127.0.0.11\t\n", 43, 0600, NULL);
    is_asked(w, dir, "127.0.0.11", "127.0.0.11", "nor lines of nothing");
    is_asked(w, dir, "127.0.0.11", "", "each is replaced");
    free(hosts);
    hrun_buf_release(&b);
}

/* A line as it would be written at another time. */
static void test_age(struct network *w, const char *dir)
{
    static const struct { int64_t ago_s; const char *want, *what; } cases[] = {
        { 29 * 86400, "", "29 days are not too old" },
        { 31 * 86400, "127.0.0.11", "31 days are" },
        { -3600, "127.0.0.11", "what will be said in an hour is not believed" },
    };
    struct hrun_cluster_request req = { .cache_dir = dir };
    char own[256] = "";

    gethostname(own, sizeof own - 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hrun_cache *cache;
        struct hrun_host_answer *t;

        is_asked(w, dir, "127.0.0.11", "", "as left before");
        cache = hrun_cache_open(&req, own);
        t = hrun_cache_find(cache, "127.0.0.11");
        if (ok(t != NULL, "it is known")) {
            t->asked_s = (int64_t)time(NULL) - cases[i].ago_s;
            hrun_cache_put(cache, "127.0.0.11", t);
        }
        hrun_host_answer_destroy(t);
        ok(!hrun_cache_close(cache), "it is written");
        is_asked(w, dir, "127.0.0.11", cases[i].want, cases[i].what);
        if (i == 0)
            is_asked(w, dir, "127.0.0.11", "", "still");
    }
}

/* What nobody has written for more than a month goes when something is written, and nothing else. */
static void test_sweep(struct network *w, const char *dir)
{
    static const struct { const char *name; int ago_s, stays; } cases[] = {
        { "hosts-0", 31 * 86400, 0 }, { "topology-0.xml", 31 * 86400, 0 }, { "openmpi-h", 31 * 86400, 0 },
        { "openmpi-i", 29 * 86400, 1 }, { "mine", 31 * 86400, 1 },
    };
    struct hrun_error err;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct timespec t[2] = { { 0, UTIME_OMIT }, { time(NULL) - cases[i].ago_s, 0 } };
        char *path = hrun_strf("%s/%s", dir, cases[i].name);

        hrun_file_replace(path, "", 0, 0600, NULL);
        utimensat(AT_FDCWD, path, t, 0);
        free(path);
    }
    hrun_cluster_destroy(discover(w, dir, "127.0.0.11", 1, 0, NULL, &err));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *path = hrun_strf("%s/%s", dir, cases[i].name);

        is_int(access(path, F_OK) == 0, cases[i].stays, "%s, %d days old, %s", cases[i].name, cases[i].ago_s / 86400,
               cases[i].stays ? "stays" : "is swept");
        unlink(path);
        free(path);
    }
}

static void test_unwritable(struct network *w, const char *dir)
{
    struct hrun_error err;
    struct hrun_cluster *c;
    char *file = hrun_strf("%s/file", dir), *below = hrun_strf("%s/file/cache", dir);

    hrun_file_replace(file, "x", 1, 0600, NULL);
    c = discover(w, below, "127.0.0.11", 0, 0, NULL, &err);
    if (ok(c != NULL, "a cache that cannot be written is no error"))
        has_str(c->cache_note ? c->cache_note : "", "cannot cache the hosts' topologies in ", "but is told");
    hrun_cluster_destroy(c);
    c = discover(w, dir, "127.0.0.11", 1, 0, NULL, &err);
    ok(c && !c->cache_note, "one that can be written is not told");
    hrun_cluster_destroy(c);
    free(file);
    free(below);
}

static void test_silent(struct network *w, const char *dir)
{
    static const char yaml[] = "subclusters:\n  - {name: a, hosts: \"127.0.0.[21-22]\"}\n"
                               "  - {name: b, hosts: 127.0.0.23}\n";
    struct hrun_error err;
    struct hrun_cluster *c;
    char *path = hrun_strf("%s/c.yaml", dir);

    w->host = "127.0.0.22";
    ok(!discover(w, dir, "127.0.0.[21-23]", 0, 0, NULL, &err), "a silent host is an error");
    is_str(err.text, "host '127.0.0.22' is silent", "which names it");
    is_asked(w, dir, "127.0.0.21", "", "what the others said is kept");
    c = discover(w, dir, "127.0.0.[21-23]", 0, 1, NULL, &err);
    if (ok(c != NULL, "unless it is left out %s", err.text)) {
        is_int(c->nhosts, 2, "two are left");
        is_int(c->unreachable.n, 1, "one is not");
        is_str(c->unreachable.v[0], "127.0.0.22", "that one");
        is_str(c->why_not.v[0], "host '127.0.0.22' is silent", "and why");
        is_int(c->subs[0].level, HRUN_LEVEL_NODE, "the level is that of several hosts");
    }
    hrun_cluster_destroy(c);
    c = discover(w, dir, "127.0.0.22,localhost", 0, 1, NULL, &err);
    ok(c && c->nhosts == 1 && c->hosts[0].is_local, "this host alone is left");
    hrun_cluster_destroy(c);
    ok(!discover(w, dir, "127.0.0.22", 0, 1, NULL, &err), "no host is left");
    is_str(err.text, "no host is left: host '127.0.0.22' is silent", "its message");
    w->other = "hello";
    c = discover(w, dir, "127.0.0.[21-22]", 0, 1, NULL, &err);
    ok(c && c->nhosts == 1 && c->why_not.n == 1, "a useless answer is none");
    if (c && c->why_not.n)
        has_str(c->why_not.v[0], "host '127.0.0.22' answers 'hello'", "its reason");
    hrun_cluster_destroy(c);
    w->other = NULL;
    hrun_file_replace(path, yaml, sizeof yaml - 1, 0600, NULL);
    {
        struct hrun_cluster_request req = { .cluster_file = path, .level = -1, .topologies = ask, .ctx = w,
                                            .skip_unreachable = 1 };
        c = NULL;
        ok(!hrun_cluster_discover(&req, &c, &err), "of a cluster file %s", err.text);
        ok(c && c->nhosts == 2 && c->nsubs == 2 && c->subs[0].npes == 1 && !strcmp(c->subs[1].name, "b"),
           "the others are left");
        hrun_cluster_destroy(c);
    }
    w->host = NULL;
    free(path);
}

/* An answer of which no PEs can be made is not remembered. */
static void test_useless(struct network *w, const char *dir)
{
    static const struct { const char *usable, *want; } cases[] = {
        { "\nusable x-7", "host '127.0.0.31' reports 'x-7', which is no list of usable PUs" },
        { "\nusable 9-9", "host '127.0.0.31' may use none of its cores" },
        { "\nusable    ", "host '127.0.0.31' reports" },
    };
    struct hrun_error err;
    char *text = strdup(w->text), *at = strstr(text, "\nusable 0-7\n");

    w->host = "127.0.0.31";
    w->other = text;
    for (size_t i = 0; at && i < sizeof cases / sizeof cases[0]; i++) {
        memcpy(at, cases[i].usable, strlen(cases[i].usable));
        ok(!discover(w, dir, "127.0.0.31", 0, 0, NULL, &err) && err.code == HRUN_EINVAL, "useless:%s", cases[i].usable);
        has_str(err.text, cases[i].want, "its message");
    }
    ok(at != NULL, "what may be used is in what it says");
    w->host = NULL;
    w->other = NULL;
    is_asked(w, dir, "127.0.0.31", "127.0.0.31", "a useless answer is not remembered");
    free(text);
}

static void test_machines(struct network *w, const char *dir)
{
    char own[256] = "", *line, *other;
    struct hrun_error err;
    struct hrun_cluster *c = NULL;
    struct hrun_cluster_request req = { .level = -1, .topologies = ask, .ctx = w };
    char *path = hrun_strf("%s/machines", dir);

    gethostname(own, sizeof own - 1);
    line = strstr(w->text, "\nmachine ");
    /* Machines are told apart by the boot id, which containers without /proc/sys do not show. */
    if (!line) {
        ok(1, "two names of one machine # SKIP this system has no boot id");
        free(path);
        return;
    }
    has_str(line, own, "the machine's name is in what it says");
    /* Addresses of documentation (RFC 5737): never ours, and not looked up. */
    req.hosts = "198.51.100.1,203.0.113.2";
    ok(hrun_cluster_discover(&req, &c, &err) && err.code == HRUN_EINVAL, "two names of one machine");
    is_str(err.text, "host '203.0.113.2' is the same machine as '198.51.100.1'; name it once", "its message");
    is_int(err.column, 14, "its place");
    other = strdup(w->text);
    other[line - w->text + 10] ^= 1;
    w->host = "203.0.113.2";
    w->other = other;
    ok(!hrun_cluster_discover(&req, &c, &err), "two machines %s", err.text);
    hrun_cluster_destroy(c);
    w->host = NULL;
    w->other = NULL;
    free(other);
    free(path);
}

int main(void)
{
    struct network w = { .asked = HRUN_BUF_INIT };
    struct hrun_buf text = HRUN_BUF_INIT;
    struct hrun_error err;
    char *base = hrun_rundir_create(NULL, &err), *dir = hrun_strf("%s/a/cache", base), *whole;

    setenv("HWLOC_SYNTHETIC", "package:2 [numa(memory=8GB)] core:2 pu:2", 1);
    ok(!hrun_cluster_export("4.1.4", NULL, &text, &err), "an export");
    unsetenv("HWLOC_SYNTHETIC");
    *strstr(text.data, "\nmemory ") = 0;
    w.text = whole = hrun_strf("%s\nquota 0.75\n%s", text.data, text.data + strlen(text.data) + 1);
    test_remembered(&w, dir);
    test_damage(&w, dir);
    test_age(&w, dir);
    test_sweep(&w, dir);
    test_unwritable(&w, dir);
    test_silent(&w, dir);
    test_useless(&w, dir);
    test_machines(&w, base);
    hrun_remove_tree(base);
    hrun_buf_release(&w.asked);
    hrun_buf_release(&text);
    free(base);
    free(whole);
    free(dir);
    return tap_done();
}
