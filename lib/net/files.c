/* files.c - networks on disk: names, writing, reading, choosing; see net.h for the contracts
 *
 * The last line of a file is the CRC-32 of all before it. It is checked first; then the version, as a newer one may
 * have other keys; then the schema; then the invariants of the values.
 */
#include "base/alloc.h"
#include "base/file.h"
#include "net/net_parts.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* The limit of lib/base/yaml.c; the pairs of 256 different classes take 10 MB. */
#define NET_MAX ((size_t)16 << 20)

#define HEAD "# A network measured by hrun-calibrate; format: hrun-profile(5).\n"
#define CRC_MARK "# crc32 "
#define SUFFIX ".yaml"
enum { CRC_DIGITS = 8, CRC_LINE = sizeof CRC_MARK - 1 + CRC_DIGITS + 1 };

/* Largest number of characters of a host's name in a file name. */
enum { SLUG_MAX = 24 };

/* ---------------------------------------------------------------- checksum and version */

static int check_net_crc(const char *name, const struct hrun_buf *text, struct hrun_error *err)
{
    size_t body = text->len > CRC_LINE ? text->len - CRC_LINE : 0;
    const char *line = text->data + body;
    char want[CRC_LINE + 1];

    if (!body || memcmp(line, CRC_MARK, sizeof CRC_MARK - 1) || line[CRC_LINE - 1] != '\n')
        return 0;
    snprintf(want, sizeof want, CRC_MARK "%08lx\n", crc32(0, (const unsigned char *)text->data, (unsigned)body));
    if (!memcmp(line, want, CRC_LINE))
        return 0;
    return hrun_fail_at(err, HRUN_ECORRUPT, name, 0, 0, "the network is damaged or was edited: the last line says "
                        "'%.*s', the text has '%.*s'; measure it again with `hrun-calibrate network`, or remove the "
                        "last line if the text is what you mean", CRC_LINE - 1, line, CRC_LINE - 1, want);
}

/* The version in a file; NET_VERSION if it has none. */
static long network_version(const char *text)
{
    static const char key[] = "version: ";
    const char *at = strstr(text, key);

    while (at && at != text && at[-1] != '\n')
        at = strstr(at + 1, key);
    return at ? strtol(at + sizeof key - 1, NULL, 10) : NET_VERSION;
}

int net_parse_file(const char *name, const struct hrun_buf *text, struct hrun_net **out, struct hrun_error *err)
{
    if (check_net_crc(name, text, err))
        return -1;
    if (network_version(text->data) > NET_VERSION)
        return hrun_fail_at(err, HRUN_ECORRUPT, name, 0, 0, "a newer hrun wrote the network (version %ld, this hrun "
                            "reads up to %d): use the newer hrun, or name another data folder with HRUN_DATA",
                            network_version(text->data), NET_VERSION);
    return net_parse(name, text->data, text->len, out, err);
}

int hrun_net_load(const char *file, struct hrun_net **out, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;

    return hrun_file_read(file, NET_MAX, &text, err) || net_parse_file(file, &text, out, err) ? -1 : 0;
}

/* ---------------------------------------------------------------- writing */

/* Refuse to replace a network of a newer hrun. A damaged file may be replaced, whatever its version is. */
static int check_old_net(const char *file, struct hrun_error *err)
{
    struct hrun_error why;
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;

    if (hrun_file_read(file, NET_MAX, &text, &why)) {
        if (why.code == HRUN_ENOENT)
            return 0;
        if (err)
            *err = why;
        return -1;
    }
    if (check_net_crc(file, &text, NULL) || network_version(text.data) <= NET_VERSION)
        return 0;
    return hrun_fail_at(err, HRUN_EEXISTS, file, 0, 0, "a newer hrun wrote the network (version %ld, this hrun writes "
                        "%d): it is kept; measure with the newer hrun, or name another data folder with HRUN_DATA",
                        network_version(text.data), NET_VERSION);
}

int hrun_net_save(const struct hrun_net *net, const char *file, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    const char *slash = strrchr(file, '/');
    autofree char *folder = slash && slash > file ? xstrndup(file, (size_t)(slash - file)) : NULL;

    hrun_buf_adds(&text, HEAD);
    if (hrun_net_check(net, err) || net_print(net, &text, err))
        return -1;
    hrun_buf_addf(&text, CRC_MARK "%08lx\n", crc32(0, (const unsigned char *)text.data, (unsigned)text.len));
    if (text.len > NET_MAX)
        return hrun_fail(err, HRUN_EINVAL, "the network is too large for a file (%zu MB of at most %zu): let hosts "
                         "that are alike share their parameters", text.len >> 20, NET_MAX >> 20);
    if ((folder && hrun_mkdirs(folder, 0700, err)) || check_old_net(file, err))
        return -1;
    return hrun_file_replace(file, text.data, text.len, 0666, err);
}

/* ---------------------------------------------------------------- names */

/* Append up to SLUG_MAX characters of a word in lower case; each run of characters other than ASCII letters, digits and
 * '.' becomes one '-'. */
static void add_slug(struct hrun_buf *out, const char *word)
{
    size_t begin = out->len;

    for (; *word && out->len - begin < SLUG_MAX; word++) {
        if (isascii((unsigned char)*word) && (isalnum((unsigned char)*word) || *word == '.'))
            hrun_buf_addc(out, (char)tolower((unsigned char)*word));
        else if (out->len > begin && out->data[out->len - 1] != '-')
            hrun_buf_addc(out, '-');
    }
}

static int host_name_order(const void *pa, const void *pb)
{
    return strcmp(*(const char *const *)pa, *(const char *const *)pb);
}

static const char **sorted_names(const char *const *names, int n)
{
    const char **sorted = xmalloc((size_t)n * sizeof *sorted);

    memcpy(sorted, names, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, host_name_order);
    return sorted;
}

void hrun_net_file(const char *data, const struct hrun_net_origin *of, struct hrun_buf *out)
{
    autofree const char **sorted = sorted_names(of->hosts, of->n);
    uLong sum = crc32(0, NULL, 0);

    /* Include the terminating NULs, so that different lists differ. */
    for (int i = 0; i < of->n; i++)
        sum = crc32(sum, (const unsigned char *)sorted[i], (unsigned)strlen(sorted[i]) + 1);
    sum = crc32(sum, (const unsigned char *)of->engine, (unsigned)strlen(of->engine) + 1);
    sum = crc32(sum, (const unsigned char *)of->mpi, (unsigned)strlen(of->mpi) + 1);
    hrun_buf_addf(out, "%s/networks/", data);
    if (of->n > 0)
        add_slug(out, sorted[0]);
    if (of->n > 1)
        hrun_buf_addf(out, ".%d", of->n);
    hrun_buf_addc(out, '-');
    add_slug(out, of->engine);
    hrun_buf_addc(out, '-');
    add_slug(out, of->mpi);
    hrun_buf_addf(out, "-%08lx" SUFFIX, sum);
}

/* ---------------------------------------------------------------- the network on disk that fits hosts */

struct choice {
    const struct hrun_net_origin *of;
    struct hrun_buf *note;      /* or NULL */
    struct hrun_net *net;
    char *file;
    int others;                 /* number of its hosts that were not requested */
};

/* The number of the network's hosts that were not requested; -1 if it lacks a requested one. */
static int count_others(const struct hrun_net *net, const struct hrun_net_origin *of)
{
    autofree const char **sorted = sorted_names((const char *const *)net->hosts, net->nhosts);
    int others = net->nhosts;

    for (int i = 0; i < of->n && others >= 0; i++)
        others = bsearch(&of->hosts[i], sorted, (size_t)net->nhosts, sizeof *sorted, host_name_order) ? others - 1 : -1;
    return others;
}

/* Load the network of one file, and keep it if it fits better. */
static void consider_file(struct choice *best, const char *file)
{
    struct hrun_error why;
    struct hrun_net *net = NULL;
    char place[HRUN_ERROR_FILE + HRUN_ERROR_TEXT];
    int others;

    if (hrun_net_load(file, &net, &why)) {
        if (why.code != HRUN_ENOENT && best->note)
            hrun_buf_addf(best->note, "%snetwork not used: %s", best->note->len ? "\n" : "",
                          hrun_error_format(&why, place, sizeof place));
        return;
    }
    others = strcmp(net->engine, best->of->engine) || strcmp(net->mpi, best->of->mpi) ? -1
             : count_others(net, best->of);
    if (others < 0 || (best->net && (others > best->others ||
                                     (others == best->others && strcmp(net->date, best->net->date) <= 0)))) {
        hrun_net_destroy(net);
        return;
    }
    hrun_net_destroy(best->net);
    free(best->file);
    best->net = net;
    best->file = xstrdup(file);
    best->others = others;
}

static int is_network_file(const struct dirent *d)
{
    size_t len = strlen(d->d_name), suffix = strlen(SUFFIX);

    return d->d_name[0] != '.' && len > suffix && !strcmp(d->d_name + len - suffix, SUFFIX);
}

struct hrun_net *hrun_net_choose(const char *data, const struct hrun_net_origin *of, struct hrun_buf *file,
                                 struct hrun_buf *note)
{
    struct choice best = { .of = of, .note = note };
    autorelease(hrun_buf_release) struct hrun_buf exact = HRUN_BUF_INIT;
    autofree char *folder = hrun_strf("%s/networks", data);
    struct dirent **entries = NULL;
    int n;

    hrun_net_file(data, of, &exact);
    consider_file(&best, exact.data);
    /* A file with the right name may be a copy with other hosts. */
    n = !best.net || best.others ? scandir(folder, &entries, is_network_file, alphasort) : 0;
    for (int i = 0; i < n; i++) {
        autofree char *path = hrun_strf("%s/%s", folder, entries[i]->d_name);

        if (strcmp(path, exact.data))
            consider_file(&best, path);
        free(entries[i]);
    }
    free(entries);
    if (file && best.file)
        hrun_buf_adds(file, best.file);
    free(best.file);
    return best.net;
}
