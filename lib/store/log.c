/* log.c - the append-only log of raw measurements; see store.h for the contracts
 *
 * One record per line: JSON, tab, CRC-32 of the JSON text as 8 hex digits, newline. A tab in JSON text is escaped, so a
 * tab and 8 hex digits end a record; STORE_RECORD_START begins it. By these two marks a reader finds the next record
 * after any damage, even of a newline.
 */
#include "base/alloc.h"
#include "store/internal.h"
#include "base/file.h"
#include "base/units.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

enum { CRC_DIGITS = 8, END_LENGTH = 1 + CRC_DIGITS };

/* ---------------------------------------------------------------- writing */

/* Number of folders from the log's up to DATA. An append synchronises these too, so that their names are durable. */
enum { FOLDERS = 3 };

int store_append(struct hrun_store *s, const char *app, const char *signature, const struct hrun_sample *const *v,
                 size_t n, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf lines = HRUN_BUF_INIT;
    autofree char *path = store_path(s, app, signature, ".log", err);
    int lock, torn, rc;

    if (!path)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (store_encode(app, signature, v[i], &lines, err))
            return -1;
    lock = store_lock(s, app, signature, err);
    if (lock < 0)
        return store_advise(err, "the measurement is not stored");
    rc = hrun_file_append(path, lines.data, lines.len, FOLDERS, &torn, err);
    if (rc)
        store_advise(err, torn ? "the log keeps its earlier records; the unfinished one is skipped"
                               : "the log keeps its earlier records");
    store_unlock(s, lock);
    return rc;
}

int hrun_store_append(struct hrun_store *s, const char *app, const char *signature,
                      const struct hrun_sample *sample, struct hrun_error *err)
{
    return store_append(s, app, signature, &sample, 1, err);
}

/* ---------------------------------------------------------------- reading */

struct reader {
    const char *path, *app, *signature;
    size_t line;
    struct hrun_samples got;
    size_t cap;
};

/* Count a bad record; keep the reason and line of the first. */
static void note_bad(struct reader *r, const char *why)
{
    if (r->got.bad++ == 0)
        r->got.first_bad = hrun_strf("%s:%zu: %s", r->path, r->line, why);
}

/* Offset of the first record's end mark in text[len], or len. */
static size_t find_end(const char *text, size_t len)
{
    for (size_t i = 0; i + END_LENGTH <= len; i++) {
        size_t n = 0;
        const char *tab = memchr(text + i, '\t', len - i);

        if (!tab)
            break;
        i = (size_t)(tab - text);
        if (i + END_LENGTH > len)
            break;
        /* Only lower-case digits are accepted, so that a flipped bit always changes the number. */
        while (n < CRC_DIGITS && strchr("0123456789abcdef", tab[1 + n]) && tab[1 + n])
            n++;
        if (n == CRC_DIGITS)
            return i;
    }
    return len;
}

/* Offset of the last record start in text[len], or 0. */
static size_t find_start(const char *text, size_t len)
{
    static const char start[] = STORE_RECORD_START;
    const size_t n = sizeof start - 1;

    for (size_t i = len; i-- > 0; )
        if (len - i >= n && !memcmp(text + i, start, n))
            return i;
    return 0;
}

static int has_checksum(const char *text, size_t len, unsigned long stored)
{
    return crc32(0, (const unsigned char *)text, (unsigned)len) == stored;
}

/* Add a record with a correct checksum. */
static void add_sample(struct reader *r, const char *json, size_t len)
{
    struct hrun_error why = { 0 };

    hrun_grow(r->got.v, r->got.n + 1, r->cap);
    if (!store_decode(json, len, r->app, r->signature, &r->got.v[r->got.n], &why))
        r->got.n++;
    else
        note_bad(r, why.text);
}

/* Read one line without its newline. A damaged line is searched for intact records. */
static void read_log_line(struct reader *r, const char *text, size_t len)
{
    while (len) {
        size_t end = find_end(text, len), start;
        unsigned long stored;
        char why[128];

        if (end == len) {
            note_bad(r, "a record without its end (its writer was stopped, or the record is damaged)");
            return;
        }
        stored = strtoul(text + end + 1, NULL, 16);
        start = has_checksum(text, end, stored) ? 0 : find_start(text, end);
        if (start && has_checksum(text + start, end - start, stored)) {
            snprintf(why, sizeof why, "%s of a damaged or unfinished record in front of another",
                     hrun_counted(start, "byte").s);
            note_bad(r, why);
            add_sample(r, text + start, end - start);
        } else if (start || !has_checksum(text, end, stored)) {
            snprintf(why, sizeof why, "a damaged record: its checksum is %08lx, its text has %08lx", stored,
                     crc32(0, (const unsigned char *)text, (unsigned)end));
            note_bad(r, why);
        } else {
            add_sample(r, text, end);
        }
        text += end + END_LENGTH;
        len -= end + END_LENGTH;
    }
}

/* Read the next line of f with its newline into line, truncated to STORE_LINE_MAX bytes. Result: its length, 0 at the
 * end. */
static off_t next_line(FILE *f, char *line)
{
    off_t len = 0;

    for (int c = 0; c != '\n' && (c = getc_unlocked(f)) != EOF; len++)
        if (len < STORE_LINE_MAX)
            line[len] = (char)c;
    line[len < STORE_LINE_MAX ? len : STORE_LINE_MAX] = 0;
    return len;
}

int store_read_tail(const char *path, const char *app, const char *signature, struct store_log_end *end,
                    struct hrun_samples *out, struct hrun_error *err)
{
    struct reader r = { .path = path, .app = app, .signature = signature };
    FILE *f = fopen(path, "re");
    autofree char *line = xmalloc(STORE_LINE_MAX + 1);
    off_t len;
    int rc = 0;

    if (!f && errno != ENOENT)
        return hrun_fail_errno(err, HRUN_EIO, "cannot open %s", path);
    if (f)
        fseeko(f, end->at, SEEK_SET);
    while (f && (len = next_line(f, line)) > 0) {
        r.line++;
        r.got.read += len;
        end->torn = feof(f) != 0;
        end->at += end->torn ? 0 : len;
        if (len > STORE_LINE_MAX)
            note_bad(&r, "a line longer than 256 KiB, which no record is");
        else
            read_log_line(&r, line, (size_t)(len - !end->torn));
    }
    if (f && ferror(f)) {
        rc = hrun_fail_errno(err, HRUN_EIO, "cannot read %s", path);
        hrun_samples_release(&r.got);
    } else {
        *out = r.got;
    }
    if (f)
        fclose(f);
    return rc;
}

int hrun_store_samples(struct hrun_store *s, const char *app, const char *signature,
                       struct hrun_samples *out, struct hrun_error *err)
{
    autofree char *path = s ? store_path(s, app, signature, ".log", err) : NULL, *lockname = NULL;
    struct hrun_samples got = { 0 };
    struct store_log_end end = { 0, 0 };
    int lock = -1, rc = 0;

    if (s && (!path || store_read_tail(path, app, signature, &end, &got, err)))
        return -1;
    /* Another process may still be writing a record that looks torn, so wait for its lock and read again. If this
     * process holds the lock, there is no other writer. Without write permission there is no lock, and the record
     * counts as torn. */
    if (got.bad && !store_holds(s, app, signature)) {
        lockname = store_path(s, app, signature, ".lock", err);
        lock = hrun_lock(lockname, NULL);
    }
    if (lock >= 0) {
        hrun_samples_release(&got);
        end = (struct store_log_end){ 0, 0 };
        rc = store_read_tail(path, app, signature, &end, &got, err);
        hrun_unlock(lock);
    }
    if (!rc)
        *out = got;
    return rc;
}

int hrun_store_has_more(struct hrun_store *s, const char *app, const char *signature, const struct hrun_samples *old)
{
    autofree char *path = store_path(s, app, signature, ".log", NULL);
    struct stat st;

    return path && !stat(path, &st) && st.st_size != old->read;
}
