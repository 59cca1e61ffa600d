/* watch_report.c - where the ranks are, as hrun says, and what all ranks did, as rank 0 reports it; see watch.h and
 * lib/trace/wire.h */
#include "watch.h"

#include "base/preloaded.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---------------------------------------------------------------- places */

int watch_read_places(const char *text, int n, struct watch_place *place)
{
    int next = 0;

    while (*text) {
        int first, last, sub, pe, m, used = 0;

        if (sscanf(text, "%d-%d:%d:%d:%d%n", &first, &last, &sub, &pe, &m, &used) < 5 || !used || first != next ||
            last < first || last >= n || m < 1)
            return -1;
        for (int i = first; i <= last; i++)
            place[i] = (struct watch_place){ .sub = sub, .pe = pe + (i - first) / m };
        next = last + 1;
        text += used;
        text += *text == ';';
    }
    return next == n ? 0 : -1;
}

enum hrun_trace_distance watch_distance(const struct watch_place *a, const struct watch_place *b)
{
    if (a->sub == b->sub && a->pe == b->pe)
        return HRUN_TRACE_PE;
    return a->host == b->host ? HRUN_TRACE_HOST : a->sub == b->sub ? HRUN_TRACE_SUB : HRUN_TRACE_FAR;
}

/* ---------------------------------------------------------------- the report */

static const char *const names[WATCH_CALLS] = {
#define CALL(Name, fortran, params, list, note) [WATCH_##Name] = #Name,
#define CALL_C(Name, params, list) [WATCH_##Name] = #Name,
#include "calls.def"
#undef CALL
#undef CALL_C
};

/* Bytes of a line that are not its body: mark, check, blank, end. */
enum { AROUND = sizeof HRUN_TRACE_MARK + 10 };

struct report {
    char body[HRUN_TRACE_LINE - AROUND];
    size_t len;
    uint64_t lines;
};

static int told_to = STDERR_FILENO;

void watch_report_open(void)
{
    int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

    told_to = fd < 0 ? STDERR_FILENO : fd;
}

static void put_line(struct report *t)
{
    char line[HRUN_TRACE_LINE];
    int len = snprintf(line, sizeof line, "%s%s %08" PRIx32 "\n", HRUN_TRACE_MARK, t->body,
                       hrun_trace_check(t->body, t->len));

    hrun_preloaded_write(told_to, line, (size_t)len);
    t->len = 0;
    t->lines++;
}

__attribute__((format(printf, 2, 3))) static void add(struct report *t, const char *fmt, ...)
{
    char record[256];
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(record, sizeof record, fmt, ap);
    va_end(ap);
    if (t->len && t->len + 1 + (size_t)n >= sizeof t->body)
        put_line(t);
    if (t->len)
        t->body[t->len++] = ';';
    memcpy(t->body + t->len, record, (size_t)n + 1);
    t->len += (size_t)n;
}

void watch_report(const struct watch_counts *all, int n)
{
    struct report t = { .len = 0 };

    add(&t, "b,%d,%d", HRUN_TRACE_VERSION, n);
    for (int r = 0; r < n; r++) {
        const struct watch_counts *c = &all[r];

        add(&t, "r,%d,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, r, c->elapsed_ns, c->mpi_ns, c->peers,
            c->cost_ns, c->own_ns);
        for (int d = 0; d < HRUN_TRACE_DISTANCES; d++)
            if (c->sent[d])
                add(&t, "d,%d,%d,%" PRIu64 ",%" PRIu64, r, d, c->sent[d], c->sent_bytes[d]);
        for (int i = 0; i < WATCH_CALLS; i++)
            if (c->calls[i].count)
                add(&t, "c,%d,%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64, r, names[i], c->calls[i].count,
                    c->calls[i].bytes, c->calls[i].ns);
    }
    put_line(&t);
    add(&t, "e,%" PRIu64, t.lines);
    put_line(&t);
}
