/* fuzz_pmi.c - anything that two ranks may send to the PMI-1 server, in pieces: the first byte of a piece tells
 * whose it is and how long. The server answers in whole lines, reports each rank as refused once at most, and does
 * not crash. */
#include "fuzz.h"

#include "launch/guard.h"
#include "launch/pmi.h"

#include <string.h>

const char *const fuzz_seeds[] = {
    "\x42" "cmd=init pmi_version=1 pmi_subversion=1\n" "\x41" "cmd=init pmi_version=1 pmi_subversion=1\n",
    "\x7e" "cmd=init pmi_version=1 pmi_subversion=1\ncmd=get_maxes\ncmd=get_appnum\ncmd=get_my_kvsname\n",
    "\x7e" "cmd=init pmi_version=1\ncmd=put kvsname=kvs_0 key=a value=b\ncmd=get kvsname=kvs_0 key=a\n",
    "\x7e" "cmd=init pmi_version=1\ncmd=barrier_in\n" "\x7f" "cmd=init pmi_version=1\ncmd=barrier_in\n",
    "\x7e" "cmd=init pmi_version=1\ncmd=publish_name service=s port=p\ncmd=lookup_name service=s\n",
    "\x7e" "cmd=init pmi_version=1\ncmd=unpublish_name service=s\ncmd=finalize\ncmd=get_universe_size\n",
    "\x7e" "cmd=init pmi_version=1\nmcmd=spawn\nnprocs=1\nexecname=x\nendcmd\n", "\x7e" "cmd=abort exitcode=-7\n",
    "\x7e" "cmd=init pmi_version=2 pmi_subversion=0\n", "\x7e" "cmd=get_maxes\n", "\x7e" "no command\n", "\x02" "\n", NULL
};

enum { RANKS = 2 };

static int refused[RANKS];

static void on_event(void *ctx, const struct hrun_guard_event *ev)
{
    (void)ctx;
    FUZZ_CHECK(ev->rank >= 0 && ev->rank < RANKS);
    FUZZ_CHECK(ev->kind >= HRUN_GUARD_CONNECTED && ev->kind <= HRUN_GUARD_REFUSED);
    FUZZ_CHECK(memchr(ev->text, 0, sizeof ev->text));
    if (ev->kind == HRUN_GUARD_REFUSED)
        FUZZ_CHECK(ev->text[0] && !refused[ev->rank]++);
}

static void on_answer(void *ctx, int rank, const char *data, size_t len)
{
    (void)ctx;
    FUZZ_CHECK(rank >= 0 && rank < RANKS && len && data[len - 1] == '\n');
    FUZZ_CHECK(!refused[rank]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct hrun_pmi_owner owner = { on_event, on_answer, NULL };
    const struct hrun_cluster cluster = { .nhosts = RANKS };
    struct hrun_rank ranks[RANKS] = { { .host = 0 }, { .host = 1 } };
    const struct hrun_layout layout = { .cluster = &cluster, .ranks = ranks, .nranks = RANKS };
    struct hrun_pmi *p = hrun_pmi_create(&layout, NULL, &owner);

    memset(refused, 0, sizeof refused);
    while (size > 1) {
        int rank = data[0] & 1;
        size_t n = data[0] >> 1;

        data++;
        size--;
        n = n > size ? size : n;
        hrun_pmi_feed(p, rank, (const char *)data, n);
        data += n;
        size -= n;
    }
    hrun_pmi_destroy(p);
    return 0;
}
