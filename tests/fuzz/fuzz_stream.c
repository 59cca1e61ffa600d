/* fuzz_stream.c - any bytes of a remote command under srun, and of a job's standard error: what is taken out of them
 * does not depend on the pieces in which they come */
#include "fuzz.h"

#include "launch/output.h"
#include "launch/slurm.h"
#include "base/trace_lines.h"

const char *const fuzz_seeds[] = {
    "1: <a>.\n0: one \\\n0: line.\n1: </a>.\n00: .\nnoise\n7: nobody's.\n0: =0\n1: <!\\\n1: =3\n",
    "0: =4294967296\n0: =-1\n",
    "99999999999999999999: a.\n-1: b.\n0:c\n0: \n0: .",
    "before" HRUN_TRACE_MARK "1 b,1,2 00000000\nbehind" HRUN_TRACE_MARK "torn",
    "\x1ehrun-tr\x1ehrun-trace x\n\x1e", "", NULL
};

enum { TASKS = 2 };

struct result {
    struct hrun_buf outputs[TASKS], rest, lines;
    int status[TASKS];
};

static void read_in_pieces(const char *data, size_t size, size_t piece, struct result *r)
{
    struct hrun_unfold u = { TASKS, r->outputs, r->status, HRUN_BUF_INIT };
    struct hrun_buf s = HRUN_BUF_INIT;

    *r = (struct result){ { HRUN_BUF_INIT, HRUN_BUF_INIT }, HRUN_BUF_INIT, HRUN_BUF_INIT, { -1, -1 } };
    for (size_t at = 0; at < size; at += piece) {
        size_t len = size - at < piece ? size - at : piece;

        hrun_unfold(&u, data + at, len);
        hrun_sieve_feed(&s, data + at, len, &r->rest, &r->lines);
    }
    hrun_sieve_end(&s, &r->rest);
    FUZZ_CHECK(r->rest.len + r->lines.len <= size);
    hrun_buf_release(&s);
    hrun_buf_release(&u.line);
}

static int same(const struct hrun_buf *a, const struct hrun_buf *b)
{
    return a->len == b->len && !memcmp(a->data, b->data, a->len);
}

static void release(struct result *r)
{
    for (int i = 0; i < TASKS; i++)
        hrun_buf_release(&r->outputs[i]);
    hrun_buf_release(&r->rest);
    hrun_buf_release(&r->lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct result whole, part;

    read_in_pieces((const char *)data, size, size + 1, &whole);
    for (size_t piece = 1; piece < 16; piece += 6) {
        read_in_pieces((const char *)data, size, piece, &part);
        FUZZ_CHECK(same(&whole.rest, &part.rest) && same(&whole.lines, &part.lines));
        for (int i = 0; i < TASKS; i++)
            FUZZ_CHECK(same(&whole.outputs[i], &part.outputs[i]) && whole.status[i] == part.status[i]);
        release(&part);
    }
    release(&whole);
    return 0;
}
