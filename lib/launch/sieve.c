/* sieve.c - lines of libhrun-trace.so among a job's standard error; see internal.h for the contracts */
#include "launch/internal.h"

#include "trace/wire.h"

#include <string.h>

static const char mark[] = HRUN_TRACE_MARK;
enum { MARK = sizeof mark - 1 };

static void give_up(struct hrun_sieve *s, struct hrun_buf *rest)
{
    hrun_buf_add(rest, s->held.data, s->held.len);
    hrun_buf_reset(&s->held);
}

void hrun_sieve_feed(struct hrun_sieve *s, const char *data, size_t len, struct hrun_buf *rest, struct hrun_buf *lines)
{
    for (size_t i = 0; i < len; i++) {
        size_t have = s->held.len;

        if (have < MARK && data[i] != mark[have]) {
            /* The first byte of the mark stands nowhere else in it: a new one can only begin here. */
            give_up(s, rest);
            have = 0;
        }
        if (have || data[i] == mark[0]) {
            hrun_buf_addc(&s->held, data[i]);
            if (have >= MARK && data[i] == '\n') {
                hrun_buf_add(lines, s->held.data + MARK, s->held.len - MARK);
                hrun_buf_reset(&s->held);
            } else if (s->held.len > HRUN_TRACE_LINE || s->held.failed) {
                give_up(s, rest);
            }
        } else {
            const char *next = memchr(data + i, mark[0], len - i);
            size_t n = next ? (size_t)(next - data) - i : len - i;

            hrun_buf_add(rest, data + i, n);
            i += n - 1;
        }
    }
}

void hrun_sieve_end(struct hrun_sieve *s, struct hrun_buf *rest)
{
    give_up(s, rest);
}

void hrun_sieve_release(struct hrun_sieve *s)
{
    hrun_buf_release(&s->held);
}
