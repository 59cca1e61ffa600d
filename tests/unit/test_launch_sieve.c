/* test_launch_sieve.c - lines of watched ranks among standard error, cut into any pieces */
#include "tap.h"

#include "launch/output.h"
#include "base/trace_lines.h"

/* Feed text in pieces of `piece` bytes. */
static void sift(const char *text, size_t len, size_t piece, const char *rest_want, const char *lines_want)
{
    struct hrun_buf s = HRUN_BUF_INIT;
    struct hrun_buf rest = HRUN_BUF_INIT, lines = HRUN_BUF_INIT;

    for (size_t at = 0; at < len; at += piece)
        hrun_sieve_feed(&s, text + at, at + piece < len ? piece : len - at, &rest, &lines);
    hrun_sieve_end(&s, &rest);
    is_str(rest.data, rest_want, "the rest, in pieces of %zu", piece);
    is_str(lines.data, lines_want, "the lines");
    hrun_buf_release(&s);
    hrun_buf_release(&rest);
    hrun_buf_release(&lines);
}

int main(void)
{
    static const char mixed[] = "one\n" HRUN_TRACE_MARK "b,1 x\ntwo without end" HRUN_TRACE_MARK "e,1 y\nthree\n\x1e"
                                "four\x1ehrun-tr\x1ehrun-trace z\nfive\x1e";
    static const char half[] = "text" HRUN_TRACE_MARK "no end";
    struct hrun_buf lengthy = HRUN_BUF_INIT;

    for (size_t piece = 1; piece <= sizeof mixed; piece += piece < 14 ? 1 : 40)
        sift(mixed, sizeof mixed - 1, piece, "one\ntwo without endthree\n\x1e" "four\x1ehrun-trfive\x1e",
             "b,1 x\ne,1 y\nz\n");
    sift(half, sizeof half - 1, 3, half, "");
    hrun_buf_adds(&lengthy, HRUN_TRACE_MARK);
    hrun_buf_addn(&lengthy, 'x', 3 * HRUN_TRACE_LINE);
    hrun_buf_adds(&lengthy, "\nend\n");
    sift(lengthy.data, lengthy.len, 1000, lengthy.data, "");
    hrun_buf_release(&lengthy);
    return tap_done();
}
