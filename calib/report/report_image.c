/* report_image.c - the figures of a report as PNG and PDF, by share/report.gnuplot; see report.h
 *
 * The script gets data blocks, one for each array of the document, with the columns below; NaN stands for what is not
 * known.
 */
#include "report.h"

#include "base/units.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* A page of text: lines, and characters of a line. */
enum { LINES = 58, COLUMNS = 130 };
/* Exit statuses of a child that could not become gnuplot, as env(1). */
enum { NO_EXEC = 126, NO_PROGRAM = 127 };

/* ------------------------------------------------------------------ gnuplot */

/* A file in memory for a standard stream of gnuplot. */
static int stream_open(const char *text, size_t len)
{
    int fd = memfd_create("hrun-gnuplot", MFD_CLOEXEC);

    for (ssize_t n; fd >= 0 && len; text += n, len -= (size_t)n)
        if ((n = write(fd, text, len)) <= 0) {
            close(fd);
            return -1;
        }
    if (fd >= 0)
        lseek(fd, 0, SEEK_SET);
    return fd;
}

static void stream_read(int fd, struct hrun_buf *out)
{
    char chunk[65536];

    lseek(fd, 0, SEEK_SET);
    for (ssize_t n; (n = read(fd, chunk, sizeof chunk)) > 0;)
        hrun_buf_add(out, chunk, (size_t)n);
}

static int check_gnuplot(int status, int made, struct hrun_buf *words, struct hrun_error *err)
{
    const char *last;

    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_PROGRAM)
        return hrun_fail(err, HRUN_ENOENT, "gnuplot, which draws images, is not installed; on Debian and Ubuntu: "
                         "apt-get install gnuplot-nox (FILE.html needs none)");
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_EXEC)
        return hrun_fail(err, HRUN_EIO, "gnuplot cannot be executed");
    if (WIFSIGNALED(status))
        return hrun_fail(err, HRUN_EIO, "gnuplot ended by signal %d", WTERMSIG(status));
    if (!WEXITSTATUS(status) && made)
        return 0;
    /* The last line is why. */
    while (words->len && strchr("\n ", words->data[words->len - 1]))
        words->data[--words->len] = 0;
    last = strrchr(words->data, '\n');
    return hrun_fail(err, HRUN_EIO, "gnuplot made no plot: %s", !words->len ? "it says nothing"
                     : last ? last + 1 : words->data);
}

/* Append to *out what gnuplot(1) writes for a script, to *words what it prints. There is no shell, no file on disk, and
 * no start-up file of the user. which: as report_image has it; behind the last figure nothing is written. */
static int gnuplot_run(const struct hrun_buf *script, int which, struct hrun_buf *out, struct hrun_buf *words,
                       struct hrun_error *err)
{
    int fds[3] = { stream_open(script->data, script->len), stream_open("", 0), stream_open("", 0) }, status = 0;
    pid_t pid = fds[0] < 0 || fds[1] < 0 || fds[2] < 0 ? -1 : fork();
    int rc = pid < 0 ? hrun_fail_errno(err, HRUN_EIO, "cannot start gnuplot") : 0;

    if (pid == 0) {
        for (int i = 0; i < 3; i++)
            dup2(fds[i], i);
        execlp("gnuplot", "gnuplot", "--default-settings", "-", (char *)NULL);
        _exit(errno == ENOENT ? NO_PROGRAM : NO_EXEC);
    }
    while (!rc && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    for (int i = 0; i < 3; i++) {
        if (i && !rc)
            stream_read(fds[i], i == 1 ? out : words);
        if (fds[i] >= 0)
            close(fds[i]);
    }
    return rc || check_gnuplot(status, out->len || (which > 1 && !words->len), words, err) ? -1 : 0;
}

/* ------------------------------------------------------------------ the data */

/* Append text[len] as one quoted word for gnuplot. Of text that comes from measurements nothing may mean more than a
 * character: quotes end the word, backquotes, backslashes and at signs may mean something to gnuplot elsewhere. */
static void add_gnuplot_word(const char *text, size_t len, struct hrun_buf *out)
{
    hrun_buf_addc(out, '\'');
    for (const unsigned char *s = (const unsigned char *)text, *end = s + len; s < end; s++) {
        if (*s == '\'' || *s == '"' || *s == '`')
            hrun_buf_adds(out, "\xe2\x80\x99");
        else if (*s < 0x20 || *s == 0x7f || *s == '\\' || *s == '@')
            hrun_buf_addc(out, '_');
        else
            hrun_buf_addc(out, (char)*s);
    }
    hrun_buf_addc(out, '\'');
}

/* NAME_i = 'first - second' */
static void set_name(const char *name, size_t i, const json_t *object, const char *first, const char *second,
                     struct hrun_buf *out)
{
    struct hrun_buf text = HRUN_BUF_INIT;

    hrun_buf_adds(&text, json_string_value(json_object_get(object, first)));
    if (second)
        hrun_buf_addf(&text, " - %s", json_string_value(json_object_get(object, second)));
    hrun_buf_addf(out, "%s_%zu = ", name, i);
    add_gnuplot_word(text.data, text.len, out);
    hrun_buf_addc(out, '\n');
    hrun_buf_release(&text);
}

/* $NAME: a row for each object of an array, its members `keys`, which blanks separate, and the number of rows as the
 * variable NAME. An empty block has a row of NaN, as gnuplot wants one. */
static void add_block(const char *name, const json_t *rows, const char *keys, struct hrun_buf *out)
{
    size_t n = json_array_size(rows);

    hrun_buf_addf(out, "%s = %zu\n$%s << EOD\n", name, n, name);
    for (size_t i = 0; i < (n ? n : 1); i++) {
        for (const char *at = keys; *at; at += strcspn(at, " "), at += *at == ' ') {
            const json_t *v;
            char key[32];

            snprintf(key, sizeof key, "%.*s", (int)strcspn(at, " "), at);
            v = json_object_get(json_array_get(rows, i), key);
            if (json_is_number(v))
                hrun_buf_addf(out, "%.9g ", json_number_value(v));
            else
                hrun_buf_adds(out, json_is_true(v) ? "1 " : json_is_false(v) ? "0 " : "NaN ");
        }
        hrun_buf_addc(out, '\n');
    }
    hrun_buf_adds(out, "EOD\n");
}

/* NAME = '1 2 4': the distinct values of a member of the runs, in the order of the runs. */
static void set_values(const char *name, const json_t *runs, const char *key, struct hrun_buf *out)
{
    const json_t *run;
    size_t i, k;

    hrun_buf_addf(out, "%s = '", name);
    json_array_foreach(runs, i, run) {
        json_int_t v = json_integer_value(json_object_get(run, key));

        for (k = 0; k < i && json_integer_value(json_object_get(json_array_get(runs, k), key)) != v; k++)
            ;
        if (k == i)
            hrun_buf_addf(out, "%" JSON_INTEGER_FORMAT " ", v);
    }
    hrun_buf_adds(out, "'\n");
}

static void add_network_blocks(const json_t *network, struct hrun_buf *out)
{
    static const char keys[] = "bytes time_s max_s";
    const json_t *trips = json_object_get(network, "round_trips"), *way;
    char name[32];
    size_t i;

    hrun_buf_addf(out, "NTRIPS = %zu\n", json_array_size(trips));
    json_array_foreach(trips, i, way) {
        set_name("TRIP_NAME", i, way, "from", "to", out);
        snprintf(name, sizeof name, "TRIP_%zu", i);
        add_block(name, json_object_get(way, "measured"), keys, out);
        snprintf(name, sizeof name, "TRIP_MODEL_%zu", i);
        add_block(name, json_object_get(way, "model"), keys, out);
    }
    for (int k = 0; k < 2; k++) {
        const json_t *op = json_object_get(network, k ? "gather" : "scatter");

        add_block(k ? "GATHER" : "SCATTER", json_object_get(op, "measured"), keys, out);
        add_block(k ? "GATHER_MODEL" : "SCATTER_MODEL", json_object_get(op, "model"), keys, out);
    }
}

static void add_blocks(const json_t *root, struct hrun_buf *out)
{
    const json_t *plan = json_object_get(root, "plan"), *subs = json_object_get(root, "subclusters"), *sub;
    const json_t *tradeoffs = json_object_get(root, "tradeoffs"), *runs = json_object_get(root, "runs");
    json_t *chosen = json_pack("[O*]", plan);
    size_t i;

    hrun_buf_addf(out, "N = %.0f\nNSUBS = %zu\n", json_number_value(json_object_get(root, "N")), json_array_size(subs));
    json_array_foreach(subs, i, sub)
        set_name("SUB", i, sub, "name", NULL, out);
    set_values("PROCS_PER_PE", runs, "M", out);
    set_values("SIZES", runs, "N", out);
    set_values("PROCESSES", runs, "P", out);
    add_block("RUNS", runs, "N P time_s wall_s fitted_s low_s high_s on M counts", out);
    add_block("SHARES", json_object_get(root, "shares"), "N equal_s proportional_s best_s", out);
    add_block("PLAN", json_object_get(plan, "choices"), "P predicted_s", out);
    add_block("CHOSEN", chosen, "P predicted_s low_s high_s", out);
    add_block("MEASURED", json_object_get(root, "measured"), "P time_s cost energy", out);
    for (int k = 0; k < 2; k++) {
        const json_t *t = json_object_get(tradeoffs, k ? "energy" : "cost");

        add_block(k ? "ENERGY" : "COST", json_object_get(t, "choices"), "value predicted_s", out);
        add_block(k ? "ENERGY_FRONT" : "COST_FRONT", json_object_get(t, "front"), "value predicted_s", out);
    }
    json_decref(chosen);
    add_network_blocks(json_object_get(root, "network"), out);
}

/* Pages of text, each as the variable PAGE_k; lines too long for it are cut. */
static void add_pages(const char *text, struct hrun_buf *out)
{
    int pages = 0;

    while (*text) {
        hrun_buf_addf(out, "PAGE_%d = ''", ++pages);
        for (int i = 0; i < LINES && *text; i++) {
            size_t n = strcspn(text, "\n"), shown = n;

            while (hrun_text_width(text, shown) > COLUMNS)
                shown--;
            while (shown < n && ((unsigned char)text[shown] & 0xc0) == 0x80)
                shown--;
            hrun_buf_adds(out, ".");
            add_gnuplot_word(text, shown, out);
            hrun_buf_adds(out, ".\"\\n\"");
            text += n + (text[n] == '\n');
        }
        hrun_buf_addc(out, '\n');
    }
    hrun_buf_addf(out, "NPAGES = %d\n", pages);
}

int report_image(const json_t *root, const char *script, const char *text, int which, struct hrun_buf *out,
                 struct hrun_buf *title, struct hrun_error *err)
{
    struct hrun_buf all = HRUN_BUF_INIT;
    int rc;

    hrun_buf_addf(&all, "FIGURE = %d\n", which);
    add_blocks(root, &all);
    add_pages(text, &all);
    hrun_buf_adds(&all, script);
    rc = gnuplot_run(&all, which, out, title, err);
    hrun_buf_release(&all);
    return rc;
}
