/* report_image.c - the figures of a report as PNG and PDF, by share/report.gnuplot; see calib_report.h
 *
 * The script reads data blocks with the columns below; NaN means not known.
 */
#include "calib_report.h"
#include "base/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Exit statuses of a child that cannot execute gnuplot, as in env(1). */
enum { NO_EXEC = 126, NO_PROGRAM = 127 };

/* ------------------------------------------------------------------ gnuplot */

static int check_gnuplot(int status, int drawn, struct hrun_buf *words, struct hrun_error *err)
{
    const char *last;

    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_PROGRAM)
        return hrun_fail(err, HRUN_ENOENT, "gnuplot, which draws images, is not installed; on Debian and Ubuntu: "
                         "apt-get install gnuplot-nox (FILE.html needs none)");
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_EXEC)
        return hrun_fail(err, HRUN_EIO, "gnuplot cannot be executed");
    if (WIFSIGNALED(status))
        return hrun_fail(err, HRUN_EIO, "gnuplot ended by signal %d", WTERMSIG(status));
    if (!WEXITSTATUS(status) && drawn)
        return 0;
    /* The last line has the reason. */
    while (words->len && strchr("\n ", words->data[words->len - 1]))
        words->data[--words->len] = 0;
    last = strrchr(words->data, '\n');
    return hrun_fail(err, HRUN_EIO, "gnuplot made no plot: %s", !words->len ? "it says nothing"
                     : last ? last + 1 : words->data);
}

/* Largest output of gnuplot, bytes. */
static const size_t OUTPUT_MAX = (size_t)1 << 30;

/* Run a script with gnuplot(1); append its output to *out and its messages to *words. It uses no shell, no file on disk
 * and no start-up file of the user. */
static int gnuplot_run(const struct hrun_buf *script, struct hrun_buf *out, struct hrun_buf *words,
                       struct hrun_error *err)
{
    struct hrun_buf *const texts[] = { NULL, out, words };
    int fds[3], status = 0, rc = 0;
    pid_t pid;

    for (int i = 0; i < 3; i++)
        fds[i] = memfd_create("hrun-gnuplot", MFD_CLOEXEC);
    pid = fds[2] < 0 || hrun_write_all(fds[0], script->data, script->len) || lseek(fds[0], 0, SEEK_SET) ? -1 : fork();
    if (pid == 0) {
        for (int i = 0; i < 3; i++)
            dup2(fds[i], i);
        execlp("gnuplot", "gnuplot", "--default-settings", "-", (char *)NULL);
        _exit(errno == ENOENT ? NO_PROGRAM : NO_EXEC);
    }
    if (pid < 0)
        rc = hrun_fail_errno(err, HRUN_EIO, "cannot start gnuplot");
    while (!rc && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    for (int i = 0; i < 3; i++) {
        autofree char *path = hrun_strf("/proc/self/fd/%d", fds[i]);

        if (i && !rc)
            rc = hrun_file_read(path, OUTPUT_MAX, texts[i], err);
        if (fds[i] >= 0)
            close(fds[i]);
    }
    return rc ? -1 : check_gnuplot(status, out->len > 0, words, err);
}

/* ------------------------------------------------------------------ the data */

static const struct block {
    const char *name, *path;        /* path: leads to an array of objects or to one object */
    const char *keys;               /* names of the members in its columns, separated by blanks */
} blocks[] = {
    { "SUBS", "subclusters", "name" },
    { "RUNS", "runs", "N P time_s wall_s fitted_s low_s high_s on M counts" },
    { "SHARES", "shares", "N equal_s proportional_s best_s" },
    { "PLAN", "plan/choices", "P predicted_s" },
    { "CHOSEN", "plan", "P predicted_s low_s high_s" },
    { "MEASURED", "measured", "P time_s cost energy" },
    { "COST", "tradeoffs/cost/choices", "value predicted_s" },
    { "COST_FRONT", "tradeoffs/cost/front", "value predicted_s" },
    { "ENERGY", "tradeoffs/energy/choices", "value predicted_s" },
    { "ENERGY_FRONT", "tradeoffs/energy/front", "value predicted_s" },
    { "TRIPS", "network/round_trips", "from to" },
    { "SCATTER", "network/scatter/measured", "bytes time_s max_s" },
    { "SCATTER_MODEL", "network/scatter/model", "bytes time_s max_s" },
    { "GATHER", "network/gather/measured", "bytes time_s max_s" },
    { "GATHER_MODEL", "network/gather/model", "bytes time_s max_s" },
};
static const struct block trip_blocks[] = {
    { "TRIP", "measured", "bytes time_s" }, { "TRIP_MODEL", "model", "bytes time_s" },
};

/* Append text[len] for gnuplot, with replacements for characters that gnuplot interprets. */
static void add_gnuplot_text(const char *text, size_t len, struct hrun_buf *out)
{
    for (const unsigned char *s = (const unsigned char *)text, *end = s + len; s < end; s++) {
        if (*s == '\'' || *s == '"' || *s == '`')
            hrun_buf_adds(out, "\xe2\x80\x99");
        else if (*s < 0x20 || *s == 0x7f || *s == '\\' || *s == '@')
            hrun_buf_addc(out, '_');
        else
            hrun_buf_addc(out, (char)*s);
    }
}

static void add_cell(const json_t *v, struct hrun_buf *out)
{
    if (json_is_string(v)) {
        hrun_buf_addc(out, '"');
        add_gnuplot_text(json_string_value(v), json_string_length(v), out);
        hrun_buf_adds(out, "\" ");
    } else if (json_is_number(v)) {
        hrun_buf_addf(out, "%.9g ", json_number_value(v));
    } else {
        hrun_buf_adds(out, json_is_true(v) ? "1 " : json_is_false(v) ? "0 " : "NaN ");
    }
}

/* Append the data block $NAME, and the variable NAME with its number of rows. An empty block gets a row of NaN, since
 * gnuplot needs one. */
static void add_block(const struct block *block, const char *name, const json_t *root, struct hrun_buf *out)
{
    const json_t *rows = report_member(root, block->path);
    size_t n = json_is_object(rows) ? 1 : json_array_size(rows);

    hrun_buf_addf(out, "%s = %zu\n$%s << EOD\n", name, n, name);
    for (size_t i = 0; i < (n ? n : 1); i++) {
        const json_t *row = json_is_object(rows) ? rows : json_array_get(rows, i);
        autofree char *keys = xstrdup(block->keys);
        char *save = NULL;

        for (char *key = strtok_r(keys, " ", &save); key; key = strtok_r(NULL, " ", &save))
            add_cell(json_object_get(row, key), out);
        hrun_buf_addc(out, '\n');
    }
    hrun_buf_adds(out, "EOD\n");
}

static void add_blocks(const json_t *root, struct hrun_buf *out)
{
    const json_t *trips = report_member(root, "network/round_trips");

    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++)
        add_block(&blocks[k], blocks[k].name, root, out);
    for (size_t i = 0; i < json_array_size(trips); i++)
        for (size_t k = 0; k < 2; k++) {
            autofree char *name = hrun_strf("%s_%zu", trip_blocks[k].name, i);

            add_block(&trip_blocks[k], name, json_array_get(trips, i), out);
        }
}

int report_draw(const json_t *root, const char *script, const char *text, struct hrun_buf *out,
                struct hrun_buf *titles, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf all = HRUN_BUF_INIT;

    hrun_buf_addf(&all, "PDF = %d\nN = %.0f\n", text != NULL, json_number_value(json_object_get(root, "N")));
    add_blocks(root, &all);
    hrun_buf_adds(&all, "$TEXT << EOD\n");
    for (size_t n; text && *text; text += n + (text[n] == '\n')) {
        n = strcspn(text, "\n");
        hrun_buf_addc(&all, ' ');   /* so that no line equals the end mark of the block */
        add_gnuplot_text(text, n, &all);
        hrun_buf_addc(&all, '\n');
    }
    hrun_buf_addf(&all, "EOD\n%s", script);
    return gnuplot_run(&all, out, titles, err);
}
