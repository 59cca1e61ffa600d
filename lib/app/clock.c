/* clock.c - the running time that an application prints; see clock.h for the contracts */
#include "app/clock.h"

#include "app/time_match.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* Number of bytes that one compiled expression searches: a search uses memory for each byte until the expression is
 * freed. */
enum { SEARCHED_MAX = 16384 };

/* The state of a file before the run. */
struct before {
    char *path;
    off_t length;
    uLong crc;              /* CRC-32 of its content */
    ino_t inode;
    struct timespec mtime;
};

struct hrun_clock {
    const struct hrun_app *app;
    double N, P;
    struct hrun_time_match *pattern;
    char *path;             /* pattern of the files to read below the working directory, or NULL for standard output */
    size_t dir_len;         /* length of the working directory's name with a slash */
    struct before *before;  /* the files that matched before the run */
    size_t nbefore;
    struct hrun_buf line;   /* the line that has not ended yet */
    struct hrun_buf match;  /* the last line that matched, or empty */
    size_t searched;        /* number of bytes searched with `pattern` */
    int skip;               /* 1: `line` has reached HRUN_CLOCK_LINE; the rest is dropped */
};

/* ------------------------------------------------------------------ lines */

/* Call before a search of len bytes. Compiles the pattern again, which frees its memory, after SEARCHED_MAX bytes. */
static void renew_pattern(struct hrun_clock *c, size_t len)
{
    c->searched += len;
    if (c->searched <= SEARCHED_MAX)
        return;
    hrun_time_match_destroy(c->pattern);
    c->pattern = hrun_time_match_create(c->app->time.match, NULL);
    c->searched = len;
}

static void end_line(struct hrun_clock *c)
{
    size_t len = c->line.len;
    struct hrun_buf swap = c->match;

    c->skip = 0;
    /* Replace NULs by blanks, as a NUL would end the line. */
    for (char *s = c->line.data; len > 0 && (s = memchr(s, 0, (size_t)(c->line.data + len - s))); )
        *s = ' ';
    renew_pattern(c, len);
    /* "\r\n" is one line end: ignore the empty line within. */
    if (len && hrun_time_match_test(c->pattern, c->line.data)) {
        c->match = c->line;
        c->line = swap;
    }
    hrun_buf_reset(&c->line);
}

/* A line ends with a line feed or, in progress displays, with a carriage return. */
static void feed(struct hrun_clock *c, const char *data, size_t len)
{
    while (len > 0) {
        size_t part = 0, room = HRUN_CLOCK_LINE - c->line.len;
        int end;

        while (part < len && data[part] != '\n' && data[part] != '\r')
            part++;
        end = part < len;
        if (!c->skip)
            hrun_buf_add(&c->line, data, part < room ? part : room);
        if (part > room)
            c->skip = 1;
        if (end)
            end_line(c);
        part += (size_t)end;
        data += part;
        len -= part;
    }
}

void hrun_clock_feed(struct hrun_clock *c, const char *data, size_t len)
{
    /* If the time is in a file, standard output is ignored. */
    if (!c->path)
        feed(c, data, len);
}

/* ------------------------------------------------------------------ files */

/* Read at most max bytes (-1: all) from fd's position: into c's lines, or into the checksum if c is NULL. Result: the
 * number of bytes, or -1 with errno. */
static off_t read_on(int fd, off_t max, struct hrun_clock *c, uLong *crc)
{
    char chunk[16384];
    off_t total = 0;

    while (max < 0 || total < max) {
        size_t want = max < 0 || max - total > (off_t)sizeof chunk ? sizeof chunk : (size_t)(max - total);
        ssize_t got = read(fd, chunk, want);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        total += got;
        if (c)
            feed(c, chunk, (size_t)got);
        else
            *crc = crc32_z(*crc, (const unsigned char *)chunk, (size_t)got);
    }
    return total;
}

/* Open and stat a file. Result: its descriptor; -1 with *err; or -1 with errno ENOENT and no *err if it is missing, or
 * if a pattern matches something that is not a regular file. */
static int open_time_file(const struct hrun_clock *c, const char *path, struct stat *st, struct hrun_error *err)
{
    int other = strpbrk(c->app->time.file, "*?[") && !stat(path, st) && !S_ISREG(st->st_mode);
    int fd = other ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (other)
        errno = ENOENT;
    if (fd < 0 && errno == ENOENT)
        return -1;
    if (fd < 0 || fstat(fd, st)) {
        hrun_fail_errno(err, HRUN_EIO, "cannot read '%s'", path);
        if (fd >= 0)
            close(fd);
        errno = EIO;
        return -1;
    }
    return fd;
}

/* Find the files that match now. Result: 0, and the caller passes found to globfree; or -1. */
static int find_time_files(const struct hrun_clock *c, glob_t *found, struct hrun_error *err)
{
    int rc = glob(c->path, 0, NULL, found);

    if (!rc || rc == GLOB_NOMATCH)
        return 0;
    globfree(found);
    if (rc == GLOB_NOSPACE)
        hrun_out_of_memory();
    return hrun_fail_errno(err, HRUN_EIO, "cannot look for '%s'", c->path);
}

/* Record the files before the run. */
static int look_before(struct hrun_clock *c, struct hrun_error *err)
{
    glob_t found = { 0 };
    int rc = find_time_files(c, &found, err);

    if (rc)
        return -1;
    c->before = xcalloc(found.gl_pathc + 1, sizeof *c->before);
    for (size_t i = 0; i < found.gl_pathc && !rc; i++) {
        struct before *b = &c->before[c->nbefore];
        struct stat st;
        int fd = open_time_file(c, found.gl_pathv[i], &st, err);

        if (fd < 0) {
            rc = errno == ENOENT ? 0 : -1;
            continue;
        }
        b->crc = crc32_z(0, NULL, 0);
        b->inode = st.st_ino;
        b->mtime = st.st_mtim;
        b->length = read_on(fd, -1, NULL, &b->crc);
        b->path = xstrdup(found.gl_pathv[i]);
        c->nbefore++;
        if (b->length < 0)
            rc = hrun_fail_errno(err, HRUN_EIO, "cannot read '%s'", found.gl_pathv[i]);
        close(fd);
    }
    globfree(&found);
    return rc;
}

/* Read the part that the run appended to a file, or all of it if the run rewrote it (its old content has changed, or it
 * was written and has the same length). Result: 1; 0 if the run did not write it; or -1. */
static int read_time_file(struct hrun_clock *c, const char *path, struct hrun_error *err)
{
    struct before b = { .crc = crc32_z(0, NULL, 0) };     /* an empty file if it did not exist */
    uLong crc = crc32_z(0, NULL, 0);
    struct stat st;
    off_t got;
    int fd = open_time_file(c, path, &st, err), rc = -1, begins_alike;

    if (fd < 0)
        return errno == ENOENT ? 0 : -1;
    for (size_t i = 0; i < c->nbefore; i++)
        if (!strcmp(c->before[i].path, path))
            b = c->before[i];
    got = read_on(fd, b.length, NULL, &crc);
    begins_alike = got == b.length && crc == b.crc;
    if (begins_alike && b.path && st.st_size == b.length && st.st_ino == b.inode &&
        st.st_mtim.tv_sec == b.mtime.tv_sec && st.st_mtim.tv_nsec == b.mtime.tv_nsec)
        rc = 0;
    else if (got >= 0 && ((begins_alike && st.st_size != b.length) || !lseek(fd, 0, SEEK_SET)) &&
             read_on(fd, -1, c, NULL) >= 0)
        rc = 1;
    else
        hrun_fail_errno(err, HRUN_EIO, "cannot read '%s'", path);
    close(fd);
    return rc;
}

/* Read the file that the run wrote. It is an error if there is none or more than one. */
static int read_time_files(struct hrun_clock *c, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf names = HRUN_BUF_INIT;
    enum { NAMED = 3 };
    glob_t found = { 0 };
    int n = 0, rc = find_time_files(c, &found, err);

    if (rc)
        return -1;
    for (size_t i = 0; i < found.gl_pathc && rc >= 0; i++) {
        rc = read_time_file(c, found.gl_pathv[i], err);
        if (rc > 0 && ++n <= NAMED)
            hrun_buf_addf(&names, "%s%s", n > 1 ? ", " : "", found.gl_pathv[i] + c->dir_len);
    }
    globfree(&found);
    hrun_buf_adds(&names, n > NAMED ? " and more" : "");
    if (rc >= 0 && !n)
        rc = hrun_fail(err, HRUN_ENODATA, "the program reported no time: the run wrote no file '%s'%s",
                       c->app->time.file, c->nbefore ? ", only an older one is there" : "");
    else if (rc >= 0 && n > 1)
        rc = hrun_fail(err, HRUN_ENODATA, "which file holds the time is not known: the run wrote %d that match '%s' "
                       "(%s); write a pattern under time.file that one of them matches", n, c->app->time.file,
                       names.data);
    return rc < 0 ? -1 : 0;
}

/* ------------------------------------------------------------------ the clock */

struct hrun_clock *hrun_clock_create(const struct hrun_app *app, const struct hrun_app_values *values, const char *dir,
                                     struct hrun_error *err)
{
    struct hrun_buf path = HRUN_BUF_INIT;
    struct hrun_clock *c;

    if (!app->time.match)
        return NULL;
    c = xcalloc(1, sizeof *c);
    c->app = app;
    c->N = (double)values->N;
    c->P = (double)values->P;
    hrun_buf_init(&c->line);
    hrun_buf_init(&c->match);
    c->pattern = hrun_time_match_create(app->time.match, err);
    if (!c->pattern) {
        hrun_fail_prefix(err, "time of %s", app->name);
        goto fail;
    }
    if (!app->time.file)
        return c;
    for (const char *s = dir; *s; s++)      /* quote the folder's name, which is not a pattern */
        hrun_buf_addf(&path, "%s%c", strchr("*?[\\", *s) ? "\\" : "", *s);
    hrun_buf_addf(&path, "/%s", app->time.file);
    c->dir_len = strlen(dir) + 1;
    c->path = hrun_buf_detach(&path);
    if (look_before(c, err))
        goto fail;
    return c;
fail:
    hrun_clock_destroy(c);
    return NULL;
}

/* Parse a number, whose exponent may have Fortran's D, or a time with units: "1m 2.34s". */
static int parse_seconds(const char *text, double *t)
{
    autorelease(hrun_buf_release) struct hrun_buf number = HRUN_BUF_INIT, units = HRUN_BUF_INIT;

    for (const char *s = text; *s; s++) {
        hrun_buf_addc(&number, *s == 'D' || *s == 'd' ? 'e' : *s);
        if (*s != ' ')
            hrun_buf_addc(&units, *s);
    }
    return hrun_parse_number("time", number.data, t, NULL) && hrun_parse_duration("time", units.data, t, NULL) ? -1 : 0;
}

int hrun_clock_result(struct hrun_clock *c, double *time_s, struct hrun_error *err)
{
    const char *place = c->path ? c->app->time.file : "its standard output", *group;
    struct hrun_expr *value = c->app->time.value;
    autofree char *found = NULL;
    size_t len;
    double t;

    if (c->path) {
        hrun_buf_reset(&c->line);
        hrun_buf_reset(&c->match);
        c->skip = 0;
        if (read_time_files(c, err))
            return -1;
    }
    /* The last line may have no line feed. */
    if (c->line.len > 0)
        end_line(c);
    renew_pattern(c, c->match.len);
    if (!c->match.len || !hrun_time_match_find(c->pattern, c->match.data, &group, &len))
        return hrun_fail(err, HRUN_ENODATA, "the program reported no time: no line of %s matches '%s'", place,
                         c->app->time.match);
    found = xstrndup(group, len);
    if (parse_seconds(found, &t) || (!value && t < 0))
        return hrun_fail(err, HRUN_ENONFINITE, "the program reported a time of '%s' in %s: not a positive number of "
                         "seconds", found, place);
    if (value && hrun_expr_eval(value, (const double[]){ t, c->N, c->P }, &t, err))
        return hrun_fail_prefix(err, "time of %s", c->app->name);
    if (value && t <= 0)
        return hrun_fail(err, HRUN_ENONFINITE, "time of %s: '%s' is %g at x=%s, N=%.0f, P=%.0f: not a positive number "
                         "of seconds", c->app->name, hrun_expr_text(value), t, found, c->N, c->P);
    *time_s = t;
    return 0;
}

void hrun_clock_destroy(struct hrun_clock *c)
{
    if (!c)
        return;
    hrun_time_match_destroy(c->pattern);
    hrun_buf_release(&c->line);
    hrun_buf_release(&c->match);
    for (size_t i = 0; i < c->nbefore; i++)
        free(c->before[i].path);
    free(c->before);
    free(c->path);
    free(c);
}
