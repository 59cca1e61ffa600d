/* test_trace.c - what watched ranks tell: reading, summing up, the text of a measurement */
#include "tap.h"

#include "trace/trace.h"

#include <stdlib.h>

/* Append a line with its check. */
static void line(struct hrun_buf *b, const char *body)
{
    hrun_buf_addf(b, "%s %08lx\n", body, (unsigned long)hrun_trace_check(body, strlen(body)));
}

/* Three ranks, two sub-clusters: ranks 0 and 1 in sub-cluster 0, rank 2 in 1. */
static const int subs[] = { 0, 0, 1 };

static void told(struct hrun_buf *b)
{
    line(b, "b,1,3;r,0,10000000000,6000000000,1,100,5;d,0,1,10,800;c,0,Send,10,800,1000000000");
    line(b, "c,0,Allreduce,5,40,5000000000;r,1,10000000000,7000000000,2,100,5;c,1,Allreduce,5,40,7000000000");
    line(b, "r,2,10000000000,1000000000,2,100,5;d,2,3,4,64;c,2,Send,4,64,400000000;c,2,Allreduce,5,40,600000000");
    line(b, "e,3");
}

static void test_sum(void)
{
    struct hrun_buf b = HRUN_BUF_INIT;
    struct hrun_error err = { 0 };
    struct hrun_trace_sub s[2];
    struct hrun_trace *t;

    told(&b);
    t = hrun_trace_read(b.data, b.len, 3, &err);
    if (!ok(t != NULL, "what three ranks told is read (%s)", err.text))
        return;
    is_int(t->ncalls, 2, "two functions");
    ok(!hrun_trace_sum(t, subs, 0, &s[0], &err) && !hrun_trace_sum(t, subs, 1, &s[1], &err), "summed up");
    is_int(s[0].nranks, 2, "two ranks here");
    is_num(s[0].compute_s, 4, 1e-12, "the most time outside MPI");
    is_num(s[0].compute_mean_s, 3.5, 1e-12, "and the mean");
    is_num(s[0].mpi_s, 6, 1e-12, "the least time inside");
    is_num(s[0].mpi_mean_s, 6.5, 1e-12, "and the mean");
    is_num(s[0].peers, 2, 0, "ranks that one talks to, at most");
    is_num(s[0].sent[HRUN_TRACE_HOST], 5, 0, "messages within the host, mean of the ranks");
    is_num(s[0].sent_bytes[HRUN_TRACE_HOST], 400, 0, "and their bytes");
    is_num(s[1].sent[HRUN_TRACE_FAR], 4, 0, "messages to the other sub-cluster");
    is_str(s[0].calls[0].name, "Allreduce", "the function that takes longest is first");
    is_num(s[0].calls[0].time_s, 6, 1e-12, "with its mean time");
    is_num(s[0].calls[1].count, 5, 0, "mean number of calls");
    is_num(s[0].calls[1].count_max, 10, 0, "and the largest");
    is_num(s[0].calls[1].bytes_max, 800, 0, "and the most bytes");
    is_num(s[0].overhead, 15 * 100e-9 / 10, 1e-15, "watching took calls times the cost of one");
    is_num(s[0].setup_s, 5e-9, 1e-15, "and what it needed to begin");
    is_int(hrun_trace_awaited(s, 2), 1, "the sub-cluster whose rank waits least limits");
    is_num(hrun_trace_imbalance(s, 2), 9 / (16 / 3.0), 1e-12, "imbalance: the most over the mean of all ranks");
    is_int(hrun_trace_awaited(s, 0), -1, "of none, none limits");
    is_int(hrun_trace_awaited(s, 1), 0, "of one, that one");
    s[1].mpi_s = 5.81;
    is_int(hrun_trace_awaited(s, 2), -1, "where both wait alike it cannot be told");
    s[1].mpi_s = 6.19;
    is_int(hrun_trace_awaited(s, 2), -1, "whichever is ahead by a little");
    s[1].mpi_s = 6.21;
    is_int(hrun_trace_awaited(s, 2), 0, "a difference of more than 2 %% of the run counts");
    hrun_trace_sub_release(&s[0]);
    hrun_trace_sub_release(&s[1]);
    ok(!hrun_trace_sum(t, subs, 2, &s[0], &err) && !s[0].nranks && !s[0].calls, "one that takes no part has nothing");
    hrun_trace_destroy(t);
    hrun_buf_release(&b);
}

/* Every single byte changed, every line left out or said twice: never a trace. */
static void test_damage(void)
{
    struct hrun_buf b = HRUN_BUF_INIT, cut = HRUN_BUF_INIT;
    struct hrun_error err;
    int accepted = 0, tried = 0;

    told(&b);
    for (size_t i = 0; i < b.len; i++) {
        b.data[i] ^= 4;
        accepted += hrun_trace_read(b.data, b.len, 3, &err) != NULL;
        b.data[i] ^= 4;
        accepted += hrun_trace_read(b.data, i, 3, &err) != NULL;
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
            accepted += hrun_trace_read(cut.data, cut.len, 3, &err) != NULL;
        }
    }
    is_int(accepted, 0, "nor one with a line missing or doubled");
    ok(!hrun_trace_read(b.data, b.len, 4, &err) && err.code == HRUN_ECORRUPT, "nor that of another number of ranks");
    ok(!hrun_trace_read("", 0, 3, &err) && err.code == HRUN_ENODATA, "nothing told is said so");
    hrun_buf_reset(&cut);
    line(&cut, "b,1,1;r,0,5,6,0,1,1");
    line(&cut, "e,1");
    ok(!hrun_trace_read(cut.data, cut.len, 1, &err), "nobody is longer inside MPI than the run took");
    hrun_buf_reset(&cut);
    line(&cut, "b,1,1;r,0,6,5,0,1,1;c,0,Se nd,1,1,1");
    line(&cut, "e,1");
    ok(!hrun_trace_read(cut.data, cut.len, 1, &err), "a function's name is one");
    hrun_buf_release(&b);
    hrun_buf_release(&cut);
}

static void test_text(void)
{
    struct hrun_buf b = HRUN_BUF_INIT, again = HRUN_BUF_INIT;
    struct hrun_error err = { 0 };
    struct hrun_trace *t;
    struct hrun_trace_sub s, back;
    int accepted = 0;

    told(&b);
    t = hrun_trace_read(b.data, b.len, 3, &err);
    hrun_trace_sum(t, subs, 0, &s, &err);
    hrun_buf_reset(&b);
    ok(!hrun_trace_encode(&s, &b, &err), "a summary as text");
    is_str(b.data, "1 ranks=2 elapsed=10 compute=4,3.5 mpi=6,6.5 overhead=1.5e-07,5e-09 peers=2 sent=0:0,5:400,0:0,0:0 "
           "Allreduce=5,5:40,40:6 Send=5,10:400,800:0.5", "in its form");
    if (ok(!hrun_trace_decode(b.data, &back, &err), "is read back (%s)", err.text)) {
        hrun_trace_encode(&back, &again, &err);
        is_str(again.data, b.data, "as it was");
        hrun_trace_sub_release(&back);
    }
    for (size_t i = 0; i < b.len; i++) {
        char *part = hrun_strf("%.*s", (int)i, b.data);
        /* What ends behind a whole call, or in the digits of the last number, cannot be told from a shorter run. */
        if (!hrun_trace_decode(part, &back, NULL)) {
            accepted += !strchr("0123456789.", part[i - 1]);
            hrun_trace_sub_release(&back);
        }
        free(part);
    }
    is_int(accepted, 0, "a text that is cut off within a word is refused");
    ok(hrun_trace_decode(NULL, &back, &err) && err.code == HRUN_ECORRUPT, "no text is none");
    ok(hrun_trace_decode("2 ranks=1", &back, &err), "a newer version is refused");
    ok(hrun_trace_decode("1 ranks=2 elapsed=inf compute=4,3.5 mpi=6,6.5 overhead=0,0 peers=2 sent=0:0,5:400,0:0,0:0",
                         &back, &err), "what is not finite is refused");
    hrun_trace_sub_release(&s);
    hrun_trace_destroy(t);
    hrun_buf_release(&b);
    hrun_buf_release(&again);
}

static void is_places(const int *sub, const int *pe, int n, const char *want)
{
    struct hrun_buf b = HRUN_BUF_INIT;
    struct hrun_error err;

    hrun_trace_places(sub, pe, n, &b, &err);
    is_str(b.data, want, "places of %d ranks", n);
    hrun_buf_release(&b);
}

static void test_places(void)
{
    is_places((int[]){ 0 }, (int[]){ 3 }, 1, "0-0:0:3:1");
    is_places((int[]){ 0, 0, 0, 0, 1 }, (int[]){ 0, 0, 1, 1, 0 }, 5, "0-3:0:0:2;4-4:1:0:1");
    is_places((int[]){ 0, 0, 1, 1, 1 }, (int[]){ 0, 1, 0, 0, 1 }, 5, "0-1:0:0:1;2-4:1:0:2");
    is_places((int[]){ 0, 0, 0, 0 }, (int[]){ 0, 1, 0, 1 }, 4, "0-1:0:0:1;2-3:0:0:1");
    is_places((int[]){ 0, 1, 0 }, (int[]){ 0, 0, 1 }, 3, "0-0:0:0:1;1-1:1:0:1;2-2:0:1:1");
}

int main(void)
{
    test_sum();
    test_damage();
    test_text();
    test_places();
    return tap_done();
}
