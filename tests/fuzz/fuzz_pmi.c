/* fuzz_pmi.c - anything that two ranks may send to the PMI-1 server, in pieces: the first byte of a piece tells whose it
 * is and how long. The server answers in whole lines, reports each rank as refused once at most, and does not crash. */
#include "fuzz.h"

#include "launch/internal.h"

#include <sys/socket.h>

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

/* Read all that is there; whole lines only. */
static void drain(int fd)
{
    char data[4096], last = '\n';
    ssize_t n;

    while ((n = recv(fd, data, sizeof data, MSG_DONTWAIT)) > 0)
        last = data[n - 1];
    FUZZ_CHECK(last == '\n');
}

static void check_events(int fd, int *refused)
{
    struct hrun_guard_event ev;
    ssize_t n;

    while ((n = recv(fd, &ev, sizeof ev, MSG_DONTWAIT)) > 0) {
        FUZZ_CHECK(n == (ssize_t)sizeof ev && ev.rank >= 0 && ev.rank < RANKS);
        FUZZ_CHECK(ev.kind >= HRUN_GUARD_CONNECTED && ev.kind <= HRUN_GUARD_REFUSED);
        FUZZ_CHECK(memchr(ev.text, 0, sizeof ev.text));
        if (ev.kind == HRUN_GUARD_REFUSED)
            FUZZ_CHECK(ev.text[0] && !refused[ev.rank]++);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int pair[2], fds[RANKS], refused[RANKS] = { 0, 0 };
    struct hrun_pmi *p;

    FUZZ_CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair));
    p = hrun_pmi_create(RANKS, pair[0], fds, NULL);
    FUZZ_CHECK(p);
    while (size > 1) {
        int rank = data[0] & 1;
        size_t n = data[0] >> 1;

        data++;
        size--;
        n = n > size ? size : n;
        hrun_pmi_feed(p, rank, (const char *)data, n);
        for (int i = 0; i < RANKS; i++)
            drain(fds[i]);
        check_events(pair[1], refused);
        data += n;
        size -= n;
    }
    hrun_pmi_destroy(p);
    for (int i = 0; i < RANKS; i++)
        close(fds[i]);
    close(pair[0]);
    close(pair[1]);
    return 0;
}
