/* test_mpi_waits.c - what watched ranks tell: reading, summing up, the text of a measurement */
#include "tap.h"

#include "session/mpi_waits.h"

#include <stdlib.h>
#include <string.h>

/* Append a line with its check. */
static void line(struct hrun_buf *b, const char *body)
{
    hrun_buf_addf(b, "%s %08lx\n", body, (unsigned long)hrun_trace_check(body, strlen(body)));
}

/* Three ranks, two sub-clusters: ranks 0 and 1 in sub-cluster 0, rank 2 in 1. */
static const int subs[] = { 0, 0, 1 };

static int parse(const struct hrun_buf *b, int nranks, struct waits_sub s[2], struct hrun_error *err)
{
    memset(s, 0, 2 * sizeof *s);
    return waits_parse(b, subs, nranks, s, 2, err);
}

static void told(struct hrun_buf *b)
{
    line(b, "b,3;r,0,10000000000,6000000000,100,5;c,0,Send,10,900000000;c,0,Wait,1,100000000;c,0,Recv,1,200000000");
    line(b, "c,0,Allreduce,4,4800000000;r,1,10000000000,7000000000,100,5;c,1,Allreduce,5,7000000000");
    line(b, "r,2,10000000000,1000000000,100,5;c,2,Send,4,400000000;c,2,Allreduce,5,600000000");
    line(b, "e,3");
}

static void test_sum(void)
{
    struct hrun_buf b = HRUN_BUF_INIT;
    struct hrun_error err = { 0 };
    struct waits_sub s[2];

    told(&b);
    if (!ok(!parse(&b, 3, s, &err), "what three ranks told is read (%s)", err.text))
        return;
    is_int(s[0].nranks, 2, "two ranks here");
    is_num(s[0].elapsed_s, 10, 1e-12, "for so long");
    is_num(s[0].compute_s, 4, 1e-12, "the most time outside MPI");
    is_num(s[0].compute_mean_s, 3.5, 1e-12, "and the mean");
    is_num(s[0].mpi_s, 6, 1e-12, "the least time inside");
    is_num(s[0].mpi_mean_s, 6.5, 1e-12, "and the mean");
    is_str(s[0].calls[0].name, "Allreduce", "the function that takes longest is first");
    is_num(s[0].calls[0].time_s, 5.9, 1e-12, "with its mean time");
    is_str(s[0].calls[1].name, "Send", "then the next one");
    is_str(s[0].calls[2].name, "Recv", "and the third");
    is_str(s[1].calls[1].name, "Send", "another sub-cluster has its own");
    is_str(s[1].calls[2].name, "", "of two functions");
    is_num(s[0].overhead, 16 * 100e-9 / 10, 1e-15, "watching took calls times the cost of one");
    is_num(s[0].setup_s, 5e-9, 1e-15, "and what it needed to begin");
    is_int(waits_awaited(s, 2), 1, "the sub-cluster whose rank waits least is waited for");
    is_num(waits_imbalance(s, 2), 9 / (16 / 3.0), 1e-12, "imbalance: the most over the mean of all ranks");
    is_int(waits_awaited(s, 0), -1, "of none, none is");
    is_int(waits_awaited(s, 1), 0, "of one, that one");
    s[1].mpi_s = 5.81;
    is_int(waits_awaited(s, 2), -1, "where both wait alike it cannot be told");
    s[1].mpi_s = 6.19;
    is_int(waits_awaited(s, 2), -1, "whichever is ahead by a little");
    s[1].mpi_s = 6.21;
    is_int(waits_awaited(s, 2), 0, "a difference of more than 2 %% of the run counts");
    hrun_buf_release(&b);
}

/* Every single byte changed, every line left out or said twice: always refused. */
static void test_damage(void)
{
    struct hrun_buf b = HRUN_BUF_INIT, cut = HRUN_BUF_INIT;
    struct hrun_error err;
    struct waits_sub s[2];
    int accepted = 0, tried = 0;
    size_t len;

    told(&b);
    len = b.len;
    for (size_t i = 0; i < len; i++) {
        b.data[i] ^= 4;
        accepted += !parse(&b, 3, s, &err);
        b.data[i] ^= 4;
        b.len = i;
        accepted += !parse(&b, 3, s, &err);
        b.len = len;
        tried += 2;
    }
    is_int(accepted, 0, "none of %d changed or cut texts is accepted", tried);
    for (const char *at = b.data, *end; *at; at = end + 1) {
        end = strchr(at, '\n');
        for (int twice = 0; twice < 2; twice++) {
            hrun_buf_reset(&cut);
            hrun_buf_add(&cut, b.data, (size_t)(at - b.data));
            for (int k = 0; k < 2 * twice; k++)
                hrun_buf_add(&cut, at, (size_t)(end - at) + 1);
            hrun_buf_adds(&cut, end + 1);
            accepted += !parse(&cut, 3, s, &err);
        }
    }
    is_int(accepted, 0, "nor one with a line missing or doubled");
    ok(parse(&b, 2, s, &err) && err.code == HRUN_ECORRUPT, "nor that of another number of ranks");
    b.len = 0;
    ok(parse(&b, 3, s, &err) && err.code == HRUN_ENODATA, "nothing told is said so");
    hrun_buf_reset(&cut);
    line(&cut, "b,1;r,0,5,6,1,1");
    line(&cut, "e,1");
    ok(parse(&cut, 1, s, &err), "nobody is longer inside MPI than the run took");
    hrun_buf_reset(&cut);
    line(&cut, "b,1;r,0,6,5,1,1;c,0,Se nd,1,1");
    line(&cut, "e,1");
    ok(parse(&cut, 1, s, &err), "a function's name is one");
    hrun_buf_release(&b);
    hrun_buf_release(&cut);
}

static void test_text(void)
{
    const char *want = "1 ranks=2 elapsed=10 compute=4,3.5 mpi=6,6.5 overhead=1.6e-07,5e-09";
    struct hrun_buf b = HRUN_BUF_INIT, again = HRUN_BUF_INIT;
    struct hrun_error err = { 0 };
    struct waits_sub s[2], back;
    int accepted = 0;

    told(&b);
    parse(&b, 3, s, &err);
    hrun_buf_reset(&b);
    waits_encode(&s[0], &b);
    is_str(b.data, want, "a summary as text");
    ok(!waits_decode(b.data, &back), "is read back");
    waits_encode(&back, &again);
    is_str(again.data, want, "as it was");
    hrun_buf_adds(&b, " peers=2 sent=0:0,5:400,0:0,0:0 Allreduce=5,5:40,40:6");
    hrun_buf_reset(&again);
    ok(!waits_decode(b.data, &back), "so is one that was written when there were more figures");
    waits_encode(&back, &again);
    is_str(again.data, want, "which are passed over");
    for (size_t i = 0; i < strlen(want) - strlen("5e-09"); i++) {
        char part[128];

        snprintf(part, sizeof part, "%.*s", (int)i, want);
        accepted += !waits_decode(part, &back);
    }
    is_int(accepted, 0, "a text that is cut off is refused");
    ok(waits_decode(NULL, &back), "no text is none");
    ok(waits_decode("2 ranks=2 elapsed=10 compute=4,3.5 mpi=6,6.5 overhead=0,0", &back), "a newer version is refused");
    ok(waits_decode("1 ranks=2 elapsed=inf compute=4,3.5 mpi=6,6.5 overhead=0,0", &back),
       "what is not finite is refused");
    hrun_buf_release(&b);
    hrun_buf_release(&again);
}

int main(void)
{
    test_sum();
    test_damage();
    test_text();
    return tap_done();
}
