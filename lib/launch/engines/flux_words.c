/* flux_words.c - what flux job attach writes to standard error; see flux.h
 *
 * The lines of Flux 0.88:
 *   0.028s: job.alloc {"annotations":{"sched":{"resource_summary":"rank[0-1]/core[0-1]"}}}
 *   0.070s: exec.shell.start {"taskmap":{"version":1,"map":[[0,2,2,1]]}}
 *   0.177s: job.exception f4ancLp7 type=exec severity=0 node failure on h2 (rank 1)
 *   0.164s: flux-shell[0]: FATAL: task-exit: ...
 *   flux-job: task(s) exited with exit code 3
 * and between them those of hrun-shim, HRUN_RANK_ENDED, which may stand behind a line of the program that has no end.
 */
#include "launch/engines/flux.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { LINE_MAX_BYTES = 4096 };     /* longer ones are the program's */

static int text_behind(const char *line, const char *mark, struct hrun_flux_said *out)
{
    const char *p = strstr(line, mark);

    if (!p)
        return 0;
    out->text = p + strlen(mark);
    out->len = strlen(out->text);
    return 1;
}

/* Behind "0.028s: ". */
static void read_event(const char *event, struct hrun_flux_said *out)
{
    if (!strcmp(event, "job.depend"))
        out->kind = HRUN_FLUX_QUEUED;
    else if (!strncmp(event, "exec.shell.start ", 17))
        out->kind = HRUN_FLUX_STARTED;
    else if (!strncmp(event, "job.", 4) || !strncmp(event, "exec.", 5) || !strncmp(event, "flux-shell", 10))
        out->kind = HRUN_FLUX_NOTHING;
    if (!strncmp(event, "job.exception ", 14) && text_behind(event, "node failure on ", out)) {
        out->kind = HRUN_FLUX_LOST;
        out->len = strcspn(out->text, " ");
    } else if (out->kind == HRUN_FLUX_NOTHING &&
               (text_behind(event, " severity=0 ", out) || text_behind(event, ": ERROR: ", out) ||
                text_behind(event, ": FATAL: ", out))) {
        out->kind = HRUN_FLUX_COMPLAINT;
    }
}

void hrun_flux_read(const char *line, struct hrun_flux_said *out)
{
    size_t digits = strspn(line, "0123456789."), mark = strlen(HRUN_RANK_ENDED);

    memset(out, 0, sizeof *out);
    if (!strncmp(line, HRUN_RANK_ENDED, mark) && sscanf(line + mark, "%9d %9d", &out->rank, &out->status) == 2)
        out->kind = HRUN_FLUX_ENDED;
    else if (digits && !strncmp(line + digits, "s: ", 3))
        read_event(line + digits + 3, out);
    else if (!strncmp(line, "flux-job: ", 10))
        out->kind = HRUN_FLUX_NOTHING;
}

/* Could a line of Flux begin so? */
static int may_begin(char c)
{
    return isdigit((unsigned char)c) || c == 'f';
}

/* Held is whole, without its end. */
static void sort_line(struct hrun_flux_sieve *s, const struct hrun_flux_ears *e)
{
    char *line = s->held.data, *mark = strstr(line, HRUN_RANK_ENDED);
    struct hrun_flux_said said;
    size_t before = mark ? (size_t)(mark - line) : 0, label = strspn(line, "0123456789");

    hrun_flux_read(mark ? mark : line, &said);
    if (said.kind == HRUN_FLUX_PROGRAM || (s->in_line && !mark) || strlen(line) < s->held.len) {
        hrun_buf_addc(&s->held, '\n');
        e->put(e->ctx, s->held.data, s->held.len);
    } else {
        if (before > (e->labels ? label + 2 : 0)) {
            e->put(e->ctx, line, before);
            if (e->labels)
                e->put(e->ctx, "\n", 1);
        }
        e->hear(e->ctx, &said);
    }
    s->in_line = 0;
    hrun_buf_reset(&s->held);
}

void hrun_flux_sieve(struct hrun_flux_sieve *s, const struct hrun_flux_ears *e, const char *data, size_t len)
{
    const char first = HRUN_RANK_ENDED[0];

    for (size_t i = 0, n; i < len; i += n) {
        const char *end = memchr(data + i, '\n', len - i), *mark;

        n = end ? (size_t)(end - data) - i + 1 : len - i;
        mark = memchr(data + i, first, n);
        if (!s->held.len && mark != data + i && (s->in_line || !may_begin(data[i]))) {
            n = mark ? (size_t)(mark - data) - i : n;
            e->put(e->ctx, data + i, n);
            s->in_line = data[i + n - 1] != '\n';
            continue;
        }
        hrun_buf_add(&s->held, data + i, n - (end != NULL));
        if (end) {
            sort_line(s, e);
        } else if (s->held.len > LINE_MAX_BYTES || s->held.failed) {
            hrun_flux_sieve_end(s, e);
            s->in_line = 1;
        }
    }
}

void hrun_flux_sieve_end(struct hrun_flux_sieve *s, const struct hrun_flux_ears *e)
{
    if (s->held.len)
        e->put(e->ctx, s->held.data, s->held.len);
    hrun_buf_reset(&s->held);
}
