/* recent.c - a cache of the records that a decision needs; see store.h
 *
 * SIGNATURE.recent has a line that identifies the log and the part that was read, one line for each sample, and the
 * CRC-32 of these lines as 8 hex digits. The cache is valid if the log has the recorded inode, has not become shorter,
 * and has unchanged bytes before the position at which reading ended.
 */
#include "base/alloc.h"
#include "store/internal.h"
#include "base/file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* The median of the first 8 runs shows the times before a change, without the influence of outliers. The mean of 24
 * runs is five times more precise than one run. 512 runs are read within a millisecond. */
enum { FIRST = 8, LAST = 24, RUNS_MAX = 512 };

/* Bytes of the log. The cache is rewritten if it lacks more than RENEW bytes (100 records). A cache is valid only if
 * the COMPARE bytes before its end position are unchanged. */
enum { RENEW = 64 * 1024, COMPARE = 4096 };

/* Largest size of a cache that is read; some thousand records take far less. */
enum { RECENT_MAX = 64 * 1024 * 1024 };

enum { CRC_DIGITS = 8 };

/* The text fields that are kept, in the order of a line. */
static const struct {
    size_t at;
    int is_kind;            /* 1: part of the kind of a sample (by_kind) */
} texts[] = {
    { offsetof(struct hrun_sample, status), 1 }, { offsetof(struct hrun_sample, origin), 1 },
    { offsetof(struct hrun_sample, config), 1 }, { offsetof(struct hrun_sample, cluster), 1 },
    { offsetof(struct hrun_sample, consts), 1 }, { offsetof(struct hrun_sample, date), 0 },
    { offsetof(struct hrun_sample, signatures), 1 }, { offsetof(struct hrun_sample, settings), 0 },
    { offsetof(struct hrun_sample, shares), 1 },
};
enum { NTEXTS = sizeof texts / sizeof *texts };

static char **kept_text_place(const struct hrun_sample *s, int i)
{
    return (char **)((char *)(uintptr_t)s + texts[i].at);
}

static const char *kept_text(const struct hrun_sample *s, int i)
{
    char *t = *kept_text_place(s, i);

    return t ? t : "";
}

static unsigned long checksum(const char *data, size_t len)
{
    return crc32(0, (const unsigned char *)data, (unsigned)len);
}

/* ---------------------------------------------------------------- which samples are kept */

/* Order by kind: samples of one kind have the same N, M and texts with is_kind. */
static int by_kind(const struct hrun_sample *x, const struct hrun_sample *y)
{
    int order = (x->N > y->N) - (x->N < y->N);

    for (int i = 0; i < NTEXTS && !order; i++)
        order = texts[i].is_kind ? strcmp(kept_text(x, i), kept_text(y, i)) : 0;
    return order ? order : (x->M > y->M) - (x->M < y->M);
}

static int by_kind_and_place(const void *a, const void *b)
{
    const struct hrun_sample *const *x = a, *const *y = b;
    int order = by_kind(*x, *y);

    return order ? order : (*x > *y) - (*x < *y);
}

/* Keep the FIRST and the LAST samples of each kind; of these with origin "run" only the last RUNS_MAX. */
static void thin_out(struct hrun_samples *s)
{
    autofree const struct hrun_sample **items = xcalloc(s->n + 1, sizeof *items);
    autofree char *drop = xcalloc(s->n + 1, 1);
    size_t runs = 0, kept = 0, end;

    for (size_t i = 0; i < s->n; i++)
        items[i] = &s->v[i];
    if (s->n)
        qsort(items, s->n, sizeof *items, by_kind_and_place);
    for (size_t begin = 0; begin < s->n; begin = end) {
        for (end = begin; end < s->n && !by_kind(items[end], items[begin]);)
            end++;
        for (size_t i = begin + FIRST; i + LAST < end; i++)
            drop[items[i] - s->v] = 1;
    }
    for (size_t i = s->n; i-- > 0; )
        if (!drop[i] && hrun_text_same(s->v[i].origin, "run") && ++runs > RUNS_MAX)
            drop[i] = 1;
    for (size_t i = 0; i < s->n; i++) {
        if (drop[i])
            hrun_sample_release(&s->v[i]);
        else
            s->v[kept++] = s->v[i];
    }
    s->n = kept;
}

/* ---------------------------------------------------------------- the file */

/* The log that a cache was made from. */
struct origin {
    uintmax_t inode;
    off_t end;              /* number of bytes read */
    unsigned long before;   /* CRC-32 of the COMPARE bytes before `end` */
};

/* The CRC-32 of the COMPARE bytes before `end` in the log. */
static int read_before(int fd, off_t end, unsigned long *crc)
{
    char buf[COMPARE];
    off_t len = end < COMPARE ? end : COMPARE;

    if (pread(fd, buf, (size_t)len, end - len) != (ssize_t)len)
        return -1;
    *crc = checksum(buf, (size_t)len);
    return 0;
}

/* Parse a line into one sample; modifies the line. Result: 0 or -1. */
static int take_line(char *line, struct hrun_sample *s)
{
    char *at;
    int used = 0;

    memset(s, 0, sizeof *s);
    if (sscanf(line, "%" SCNd64 " %d %d %d %d %d %n", &s->N, &s->P, &s->M, &s->pes, &s->ok, &s->mixed, &used) != 6 ||
        !used)
        return -1;
    s->time_s = strtod(line + used, &at);
    for (int i = 0; i < NTEXTS; i++) {
        size_t len;

        if (*at++ != '\t')
            return -1;
        len = strcspn(at, "\t");
        *kept_text_place(s, i) = xstrndup(at, len);
        at += len;
    }
    s->wall_s = s->time_s;
    return *at || store_check_sample(s, NULL) ? -1 : 0;
}

/* Parse the text of a cache; modifies the text. Result: 0, or -1 if it is damaged or of another version of hrun. */
static int take_file(char *data, size_t len, struct origin *o, struct hrun_samples *out)
{
    char *end = data + len, *line, *newline;
    size_t cap = 0;

    if (len < CRC_DIGITS + 1 || end[-1] != '\n' ||
        strtoul(end - CRC_DIGITS - 1, NULL, 16) != checksum(data, len - CRC_DIGITS - 1))
        return -1;
    end -= CRC_DIGITS + 1;
    line = data;
    for (newline = memchr(data, '\n', (size_t)(end - data)); newline; line = newline + 1,
         newline = memchr(line, '\n', (size_t)(end - line))) {
        intmax_t offset;

        *newline = 0;
        if (line == data) {
            if (sscanf(line, "hrun recent 4 %" SCNuMAX " %" SCNdMAX " %lx", &o->inode, &offset, &o->before) != 3)
                return -1;
            o->end = (off_t)offset;
            continue;
        }
        hrun_grow(out->v, out->n + 1, cap);
        if (take_line(line, &out->v[out->n++]))
            return -1;
    }
    return line == data || line != end ? -1 : 0;
}

/* Read the cache of the log in fd. Without a valid cache there are no samples. */
static void read_recent(const char *path, int fd, const struct stat *st, struct origin *o, struct hrun_samples *out)
{
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    unsigned long before;

    if (hrun_file_read(path, RECENT_MAX, &b, NULL) || take_file(b.data, b.len, o, out) ||
        o->inode != (uintmax_t)st->st_ino || o->end < 0 || o->end > st->st_size || read_before(fd, o->end, &before) ||
        before != o->before) {
        hrun_samples_release(out);
        memset(o, 0, sizeof *o);
    }
}

/* Write the cache. After a failure the log is read again next time. */
static void write_recent(const char *path, int fd, struct origin *o, const struct hrun_samples *s)
{
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    int odd = read_before(fd, o->end, &o->before);

    hrun_buf_addf(&b, "hrun recent 4 %" PRIuMAX " %" PRIdMAX " %08lx\n", o->inode, (intmax_t)o->end, o->before);
    for (size_t i = 0; i < s->n && !odd; i++) {
        const struct hrun_sample *v = &s->v[i];

        hrun_buf_addf(&b, "%" PRId64 " %d %d %d %d %d %.17g", v->N, v->P, v->M, v->pes, v->ok, v->mixed, v->time_s);
        for (int k = 0; k < NTEXTS; k++) {
            odd |= kept_text(v, k)[strcspn(kept_text(v, k), "\t\n")] != 0;
            hrun_buf_addf(&b, "\t%s", kept_text(v, k));
        }
        hrun_buf_addc(&b, '\n');
    }
    hrun_buf_addf(&b, "%08lx\n", checksum(b.data, b.len));
    if (!odd)
        hrun_file_replace(path, b.data, b.len, 0666, NULL);
}

int hrun_store_recent(struct hrun_store *s, const char *app, const char *signature, struct hrun_samples *out,
                      struct hrun_error *err)
{
    autofree char *log = s ? store_path(s, app, signature, ".log", err) : NULL;
    autofree char *path = log ? store_path(s, app, signature, ".recent", err) : NULL;
    struct hrun_samples got = { 0 }, tail = { 0 };
    struct origin o = { 0 };
    struct stat st;
    struct store_log_end end;
    int fd, rc;

    if (s && !path)
        return -1;
    fd = path ? open(log, O_RDONLY | O_CLOEXEC) : -1;
    if (fd >= 0 && !fstat(fd, &st))
        read_recent(path, fd, &st, &o, &got);
    end = (struct store_log_end){ o.end, 0 };
    rc = path ? store_read_tail(log, app, signature, &end, &tail, err) : 0;
    if (tail.n) {
        got.v = xrealloc(got.v, (got.n + tail.n) * sizeof *got.v);
        memcpy(got.v + got.n, tail.v, tail.n * sizeof *tail.v);
        got.n += tail.n;
        tail.n = 0;
    }
    hrun_samples_release(&tail);
    if (end.at > o.end || end.torn) {
        hrun_samples_current(&got);
        thin_out(&got);
    }
    if (fd >= 0 && end.at - o.end > RENEW && !end.torn && !rc) {
        o.inode = (uintmax_t)st.st_ino;
        o.end = end.at;
        write_recent(path, fd, &o, &got);
    }
    if (fd >= 0)
        close(fd);
    if (rc)
        hrun_samples_release(&got);
    else
        *out = got;
    return rc;
}
