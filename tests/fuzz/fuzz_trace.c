/* fuzz_trace.c - any text as what ranks told (checks mended, so that the records are reached) and as a measurement's
 * text: refused, or summed up and written to a text that is read back as the same */
#include "fuzz.h"

#include "session/mpi_waits.h"

#include <math.h>
#include <string.h>

const char *const fuzz_seeds[] = {
    "b,3;r,0,10000,6000,100,5;c,0,Send,10,1000;c,0,Allreduce,5,5000\n"
    "r,1,10000,7000,100,5;c,1,Allreduce,5,7000;r,2,10000,1000,100,5;c,2,Send,4,400\ne,2\n",
    "b,3;r,0,0,0,0,0;r,1,18446744073709551615,18446744073709551615,9,9;r,2,1,0,0,0\ne,1\n",
    "1 ranks=2 elapsed=10 compute=4,3.5 mpi=6,6.5 overhead=1.5e-07,5e-09", "e,0\n", NULL
};

static const int subs[] = { 0, 0, 1 };

static void check_sub(const struct waits_sub *s)
{
    struct hrun_buf one = HRUN_BUF_INIT, two = HRUN_BUF_INIT;
    struct waits_sub back;

    FUZZ_CHECK(isfinite(s->compute_s) && s->compute_s >= 0 && isfinite(s->mpi_s) && s->mpi_s >= 0);
    waits_encode(s, &one);
    FUZZ_CHECK(!waits_decode(one.data, &back));
    waits_encode(&back, &two);
    FUZZ_CHECK(strcmp(one.data, two.data) == 0);
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
    struct waits_sub s[2] = { { 0 }, { 0 } }, one;

    hrun_buf_add(&text, data, size);
    FUZZ_CHECK(!waits_parse(&text, subs, 3, s, 2, &err) || err.text[0]);
    mend(text.data, &lines);
    memset(s, 0, sizeof s);
    if (!waits_parse(&lines, subs, 3, s, 2, &err))
        for (int i = 0; i < 2; i++) {
            FUZZ_CHECK(s[i].nranks == 2 - i);
            check_sub(&s[i]);
        }
    if (!waits_decode(text.data, &one))
        check_sub(&one);
    hrun_buf_release(&text);
    hrun_buf_release(&lines);
    return 0;
}
