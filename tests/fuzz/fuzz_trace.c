/* fuzz_trace.c - any text as what ranks told (checks mended, so that the records are reached) and as a measurement's
 * text: refused, or summed up and written to a text that is read back as the same */
#include "fuzz.h"

#include "trace/trace.h"

#include <math.h>
#include <string.h>

const char *const fuzz_seeds[] = {
    "b,1,3;r,0,10000,6000,1,100,5;d,0,1,10,800;c,0,Send,10,800,1000;c,0,Allreduce,5,40,5000\n"
    "r,1,10000,7000,2,100,5;c,1,Allreduce,5,40,7000;r,2,10000,1000,2,100,5;d,2,3,4,64;c,2,Send,4,64,400\ne,2\n",
    "b,1,3;r,0,0,0,0,0,0;r,1,18446744073709551615,18446744073709551615,3,9,9;r,2,1,0,0,0,0\ne,1\n",
    "1 ranks=2 elapsed=10 compute=4,3.5 mpi=6,6.5 overhead=1.5e-07,5e-09 peers=2 sent=0:0,5:400,0:0,0:0 "
    "Allreduce=5,5:40,40:6 Send=5,10:400,800:0.5", "e,0\n", NULL
};

static const int subs[] = { 0, 0, 1 };

static void check_sub(const struct hrun_trace_sub *s)
{
    struct hrun_buf one = HRUN_BUF_INIT, two = HRUN_BUF_INIT;
    struct hrun_error err = { 0 };
    struct hrun_trace_sub back;

    FUZZ_CHECK(isfinite(s->compute_s) && s->compute_s >= 0 && isfinite(s->mpi_s) && s->mpi_s >= 0);
    FUZZ_CHECK(hrun_trace_encode(s, &one, &err) == 0);
    FUZZ_CHECK(hrun_trace_decode(one.data, &back, &err) == 0);
    FUZZ_CHECK(hrun_trace_encode(&back, &two, &err) == 0 && strcmp(one.data, two.data) == 0);
    hrun_trace_sub_release(&back);
    hrun_buf_release(&one);
    hrun_buf_release(&two);
}

/* The lines of text with checks that are right. */
static void mend(const char *text, struct hrun_buf *out)
{
    for (const char *at = text, *end; *at; at = end + (*end != 0)) {
        end = at + strcspn(at, "\n");
        hrun_buf_add(out, at, (size_t)(end - at));
        hrun_buf_addf(out, " %08lx\n", (unsigned long)hrun_trace_check(at, (unsigned long)(end - at)));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hrun_buf text = HRUN_BUF_INIT, lines = HRUN_BUF_INIT;
    struct hrun_error err = { 0 };
    struct hrun_trace_sub s;
    struct hrun_trace *t;

    hrun_buf_add(&text, data, size);
    t = hrun_trace_read(text.data, text.len, 3, &err);
    FUZZ_CHECK(t || err.text[0]);
    hrun_trace_destroy(t);
    mend(text.data, &lines);
    t = hrun_trace_read(lines.data, lines.len, 3, &err);
    for (int i = 0; t && i < 2; i++) {
        FUZZ_CHECK(hrun_trace_sum(t, subs, i, &s, &err) == 0 && s.nranks == 2 - i);
        check_sub(&s);
        hrun_trace_sub_release(&s);
    }
    hrun_trace_destroy(t);
    if (!hrun_trace_decode(text.data, &s, &err)) {
        check_sub(&s);
        hrun_trace_sub_release(&s);
    } else {
        FUZZ_CHECK(err.code == HRUN_ECORRUPT);
    }
    hrun_buf_release(&text);
    hrun_buf_release(&lines);
    return 0;
}
