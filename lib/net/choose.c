/* choose.c - which of the networks on disk is about these hosts; see net.h for the contract */
#include "net/internal.h"
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SUFFIX ".yaml"

/* The best network so far. */
struct choice {
    struct hrun_net *net;
    char *file;
    int others;                 /* hosts of it that nobody asked for */
};

struct question {
    const char *const *hosts;
    int n;
    const char *engine, *mpi;
    struct hrun_buf *note;      /* or NULL */
};

static int by_name(const void *pa, const void *pb)
{
    return strcmp(*(const char *const *)pa, *(const char *const *)pb);
}

/* How many hosts of the network nobody asked for; -1 when it has not got all of them, -2 when memory ran out. */
static int count_others(const struct hrun_net *net, const char *const *hosts, int n)
{
    const char **sorted = net_alloc(net->nhosts, sizeof *sorted);
    int others = net->nhosts;

    if (!sorted)
        return -2;
    for (int i = 0; i < net->nhosts; i++)
        sorted[i] = net->hosts[i];
    qsort(sorted, (size_t)net->nhosts, sizeof *sorted, by_name);
    for (int i = 0; i < n && others >= 0; i++)
        others = bsearch(&hosts[i], sorted, (size_t)net->nhosts, sizeof *sorted, by_name) ? others - 1 : -1;
    free(sorted);
    return others;
}

/* Look at one file, and keep its network if it is better than *best. Errors: HRUN_ENOMEM. */
static int consider(const struct question *q, const char *file, struct choice *best, struct hrun_error *err)
{
    struct hrun_error why = { 0 };
    struct hrun_net *net = NULL;
    char place[HRUN_ERROR_FILE + HRUN_ERROR_TEXT], *copy = NULL;
    int others, rc = 0;

    if (hrun_net_load(file, &net, &why)) {
        if (why.code == HRUN_ENOMEM)
            return hrun_fail_nomem(err);
        if (why.code != HRUN_ENOENT && q->note)
            hrun_buf_addf(q->note, "%snetwork not used: %s", q->note->len ? "\n" : "",
                          hrun_error_format(&why, place, sizeof place));
        return 0;
    }
    if (strcmp(net->engine, q->engine) || strcmp(net->mpi, q->mpi))
        goto out;
    others = count_others(net, q->hosts, q->n);
    if (others == -2) {
        rc = hrun_fail_nomem(err);
        goto out;
    }
    if (others < 0 || (best->net && (others > best->others ||
                                     (others == best->others && strcmp(net->date, best->net->date) <= 0))))
        goto out;
    copy = strdup(file);
    if (!copy) {
        rc = hrun_fail_nomem(err);
        goto out;
    }
    hrun_net_destroy(best->net);
    free(best->file);
    *best = (struct choice){ net, copy, others };
    net = NULL;
out:
    hrun_net_destroy(net);
    return rc;
}

/* The names of the networks in a folder, in order of the alphabet; none where it cannot be read. */
static int list_files(const char *folder, struct hrun_strvec *files, struct hrun_error *err)
{
    const size_t suffix = strlen(SUFFIX);
    DIR *d = opendir(folder);
    struct dirent *e;
    int rc = 0;

    if (!d)
        return errno == ENOMEM ? hrun_fail_nomem(err) : 0;
    while (!rc && (e = readdir(d))) {
        size_t len = strlen(e->d_name);

        if (e->d_name[0] != '.' && len > suffix && !strcmp(e->d_name + len - suffix, SUFFIX))
            rc = hrun_strvec_pushf(files, "%s/%s", folder, e->d_name) ? hrun_fail_nomem(err) : 0;
    }
    closedir(d);
    if (!rc && files->n)
        qsort(files->v, files->n, sizeof *files->v, by_name);
    return rc;
}

static int consider_all(const struct question *q, const char *folder, const char *but, struct choice *best,
                        struct hrun_error *err)
{
    struct hrun_strvec files = HRUN_STRVEC_INIT;
    int rc = list_files(folder, &files, err);

    for (size_t i = 0; i < files.n && !rc; i++)
        if (strcmp(files.v[i], but))
            rc = consider(q, files.v[i], best, err);
    hrun_strvec_release(&files);
    return rc;
}

int hrun_net_choose(const char *data, const char *const *hosts, int n, const char *engine, const char *mpi,
                    struct hrun_net **out, struct hrun_buf *file, struct hrun_buf *note, struct hrun_error *err)
{
    const struct question q = { hosts, n, engine, mpi, note };
    struct choice best = { NULL, NULL, 0 };
    struct hrun_buf exact = HRUN_BUF_INIT;
    char *folder = hrun_strf("%s/networks", data);
    int rc = -1, saved = errno;

    hrun_net_file(data, hosts, n, engine, mpi, &exact);
    if (!folder || exact.failed) {
        hrun_fail_nomem(err);
        goto out;
    }
    if (consider(&q, exact.data, &best, err))
        goto out;
    /* What bears the name may have been put there by hand and be of other hosts. */
    if ((!best.net || best.others) && consider_all(&q, folder, exact.data, &best, err))
        goto out;
    if ((file && best.file && (hrun_buf_adds(file, best.file), file->failed)) || (note && note->failed)) {
        hrun_fail_nomem(err);
        goto out;
    }
    *out = best.net;
    best.net = NULL;
    rc = 0;
out:
    hrun_net_destroy(best.net);
    free(best.file);
    free(folder);
    hrun_buf_release(&exact);
    errno = saved;
    return rc;
}
