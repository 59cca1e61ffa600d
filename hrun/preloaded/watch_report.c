/* watch_report.c - the report of all ranks' calls, by rank 0; see watch.h and lib/base/trace_lines.h */
#include "watch.h"

#include "base/preloaded.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const names[WATCH_CALLS] = {
#define CALL(Name, fortran, params, list) [WATCH_##Name] = #Name,
#define CALL_C(Name, params, list) [WATCH_##Name] = #Name,
#include "calls.def"
#undef CALL
#undef CALL_C
};

/* Bytes of a line besides its body: mark, check, blank, newline. */
enum { AROUND = sizeof HRUN_TRACE_MARK + 10 };

struct report {
    char body[HRUN_TRACE_LINE - AROUND];
    size_t len;
    uint64_t lines;
};

static int report_fd = STDERR_FILENO;

void watch_report_open(void)
{
    int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

    report_fd = fd < 0 ? STDERR_FILENO : fd;
}

static void report_put_line(struct report *t)
{
    char line[HRUN_TRACE_LINE];
    int len = snprintf(line, sizeof line, "%s%s %08" PRIx32 "\n", HRUN_TRACE_MARK, t->body,
                       hrun_trace_check(t->body, t->len));

    hrun_preloaded_write(report_fd, line, (size_t)len);
    t->len = 0;
    t->lines++;
}

__attribute__((format(printf, 2, 3))) static void report_add(struct report *t, const char *fmt, ...)
{
    char record[256];
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(record, sizeof record, fmt, ap);
    va_end(ap);
    if (t->len && t->len + 1 + (size_t)n >= sizeof t->body)
        report_put_line(t);
    if (t->len)
        t->body[t->len++] = ';';
    memcpy(t->body + t->len, record, (size_t)n + 1);
    t->len += (size_t)n;
}

void watch_report(const struct watch_counts *counts, int n)
{
    struct report t = { .len = 0 };

    report_add(&t, "b,%d", n);
    for (int r = 0; r < n; r++) {
        const struct watch_counts *c = &counts[r];

        report_add(&t, "r,%d,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, r, c->elapsed_ns, c->mpi_ns, c->cost_ns,
            c->own_ns);
        for (int i = 0; i < WATCH_CALLS; i++)
            if (c->calls[i].count)
                report_add(&t, "c,%d,%s,%" PRIu64 ",%" PRIu64, r, names[i], c->calls[i].count, c->calls[i].ns);
    }
    report_put_line(&t);
    report_add(&t, "e,%" PRIu64, t.lines);
    report_put_line(&t);
}
