/* test_launch_pmi.c - the PMI-1 server: what MPICH's client asks and gets, and what breaks the protocol */
#include "launch/guard.h"
#include "launch/mpich.h"
#include "launch/pmi.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RANKS = 3 };

static struct {
    struct hrun_pmi *pmi;
    int fds[RANKS], events[2];
} s;

static void keep_event(void *ctx, const struct hrun_guard_event *ev)
{
    (void)ctx;
    (void)!send(s.events[0], ev, sizeof *ev, 0);
}

/* A layout of n ranks on these hosts, 'a' being the first. */
static void lay_out(const char *hosts, struct hrun_layout *l, struct hrun_cluster *c, struct hrun_rank *ranks)
{
    *c = (struct hrun_cluster){ .nhosts = 26 };
    *l = (struct hrun_layout){ .cluster = c, .ranks = ranks, .nranks = (int)strlen(hosts) };
    for (int r = 0; r < l->nranks; r++)
        ranks[r] = (struct hrun_rank){ .host = hosts[r] - 'a' };
}

static void start(void)
{
    const struct hrun_pmi_owner owner = { .report = keep_event };
    struct hrun_error err;
    struct hrun_cluster c;
    struct hrun_layout l;
    struct hrun_rank ranks[RANKS];

    lay_out("aaa", &l, &c, ranks);
    socketpair(AF_UNIX, SOCK_SEQPACKET, 0, s.events);
    s.pmi = hrun_pmi_create(&l, NULL, &owner);
    if (hrun_pmi_connect(s.pmi, s.fds, &err))
        exit(1);
}

static void stop(void)
{
    hrun_pmi_destroy(s.pmi);
    for (int i = 0; i < RANKS; i++)
        close(s.fds[i]);
    close(s.events[0]);
    close(s.events[1]);
}

/* Rank sends this through its connection; the server does what it can. */
static void say(int rank, const char *text)
{
    struct pollfd polled[RANKS];

    (void)!write(s.fds[rank], text, strlen(text));
    hrun_pmi_poll(s.pmi, polled);
    poll(polled, RANKS, 0);
    hrun_pmi_handle(s.pmi, polled);
}

/* What the rank has got since then; "closed" when the server has hung up. */
static const char *heard(int rank)
{
    static char text[8192];
    ssize_t n = recv(s.fds[rank], text, sizeof text - 1, MSG_DONTWAIT);

    text[n > 0 ? n : 0] = 0;
    return n == 0 ? "closed" : text;
}

static struct hrun_guard_event event(void)
{
    struct hrun_guard_event ev = { 0 };

    if (recv(s.events[1], &ev, sizeof ev, MSG_DONTWAIT) < 0)
        ev.kind = 0;
    return ev;
}

static void is_answer(int rank, const char *asked, const char *want)
{
    char line[512];

    snprintf(line, sizeof line, "%s\n", asked);
    say(rank, line);
    is_str(heard(rank), want, "%s", asked);
}

#define INIT "cmd=init pmi_version=1 pmi_subversion=1"
#define INITED "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"

static void test_session(void)
{
    struct hrun_guard_event ev;

    start();
    is_answer(1, INIT, INITED);
    ev = event();
    ok(ev.kind == HRUN_GUARD_CONNECTED && ev.rank == 1, "hrun is told that rank 1 is there");
    is_answer(1, "cmd=get_maxes", "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n");
    is_answer(1, "cmd=get_appnum", "cmd=appnum appnum=0\n");
    is_answer(1, "cmd=get_universe_size", "cmd=universe_size size=3\n");
    is_answer(1, "cmd=get_my_kvsname", "cmd=my_kvsname kvsname=kvs_0\n");
    is_answer(1, "cmd=get kvsname=kvs_0 key=PMI_process_mapping",
              "cmd=get_result rc=0 msg=success value=(vector,(0,1,3))\n");
    is_answer(1, "cmd=get kvsname=kvs_0 key=x", "cmd=get_result rc=-1 msg=key_not_found value=unknown\n");
    is_answer(1, "cmd=put kvsname=kvs_0 key=x value=a=b", "cmd=put_result rc=0 msg=success\n");
    is_answer(0, INIT, INITED);
    is_answer(0, "cmd=get kvsname=kvs_0 key=x", "cmd=get_result rc=0 msg=success value=a=b\n");
    is_answer(0, "cmd=put kvsname=kvs_0 key=x value=2", "cmd=put_result rc=0 msg=success\n");
    is_answer(1, "cmd=get kvsname=kvs_0 key=x", "cmd=get_result rc=0 msg=success value=2\n");
    is_answer(0, "cmd=publish_name service=s port=p", "cmd=publish_result info=ok rc=0 msg=success\n");
    is_answer(0, "cmd=publish_name service=s port=q",
              "cmd=publish_result info=error rc=-1 msg=duplicate_service_s\n");
    is_answer(1, "cmd=lookup_name service=s", "cmd=lookup_result info=ok rc=0 msg=success port=p\n");
    is_answer(0, "cmd=unpublish_name service=s", "cmd=unpublish_result info=ok rc=0 msg=success\n");
    is_answer(1, "cmd=lookup_name service=s", "cmd=lookup_result info=error rc=-1 msg=service_s_not_found\n");
    is_answer(1, "mcmd=spawn\nnprocs=2\nexecname=cmd=finalize\nendcmd",
              "cmd=spawn_result rc=-1 msg=hrun_starts_no_further_processes\n");
    is_answer(1, "cmd=finalize", "cmd=finalize_ack\n");
    event();
    ev = event();
    ok(ev.kind == HRUN_GUARD_FINALIZED && ev.rank == 1, "and that it has finalized");
    stop();
}

static void keep_answer(void *ctx, int rank, const char *data, size_t len)
{
    struct hrun_buf *to = ctx;

    hrun_buf_add(&to[rank], data, len);
}

/* What rank 0 is told of where ranks are, by a server without connections. */
static void is_mapping(const char *hosts, const char *want)
{
    enum { MAX = 400 };
    static struct hrun_rank ranks[MAX];
    static struct hrun_buf answers[MAX];
    static const char ask[] = INIT "\ncmd=get kvsname=kvs_0 key=PMI_process_mapping\n";
    const struct hrun_pmi_owner owner = { keep_event, keep_answer, answers };
    struct hrun_cluster c;
    struct hrun_layout l;
    struct hrun_pmi *pmi;
    char line[1024];

    for (size_t i = 0; i < MAX; i++)
        hrun_buf_init(&answers[i]);
    lay_out(hosts, &l, &c, ranks);
    socketpair(AF_UNIX, SOCK_SEQPACKET, 0, s.events);
    pmi = hrun_pmi_create(&l, NULL, &owner);
    hrun_pmi_feed(pmi, 0, ask, sizeof ask - 1);
    snprintf(line, sizeof line, want ? INITED "cmd=get_result rc=0 msg=success value=%s\n"
             : INITED "cmd=get_result rc=-1 msg=key_not_found value=unknown\n", want);
    is_str(answers[0].data, line, "ranks on %.20s: %s", hosts, want ? want : "too long to be told");
    hrun_pmi_destroy(pmi);
    for (size_t i = 0; i < MAX; i++)
        hrun_buf_release(&answers[i]);
    close(s.events[0]);
    close(s.events[1]);
}

static void test_mapping(void)
{
    char many[301];

    is_mapping("a", "(vector,(0,1,1))");
    is_mapping("aaaa", "(vector,(0,1,4))");
    is_mapping("aabbcc", "(vector,(0,3,2))");
    is_mapping("aabc", "(vector,(0,1,2),(1,2,1))");
    is_mapping("abc", "(vector,(0,3,1))");
    is_mapping("cba", "(vector,(0,3,1))");
    is_mapping("abab", "(vector,(0,2,1),(0,2,1))");
    is_mapping("aabaa", "(vector,(0,1,2),(1,1,1),(0,1,2))");
    is_mapping("zza", "(vector,(0,1,2),(1,1,1))");
    for (size_t i = 0; i < sizeof many - 1; i++)
        many[i] = "aaabab"[i % 6];
    many[sizeof many - 1] = 0;
    is_mapping(many, NULL);
}

static void test_barrier(void)
{
    start();
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < RANKS; i++) {
            if (round == 0)
                is_answer(i, INIT, INITED);
            is_answer(i, "cmd=barrier_in", i == RANKS - 1 ? "cmd=barrier_out\n" : "");
            for (int k = 0; k < RANKS - 1 && i == RANKS - 1; k++)
                is_str(heard(k), "cmd=barrier_out\n", "rank %d leaves the barrier with the last one", k);
        }
    stop();
}

static void test_pieces(void)
{
    start();
    for (const char *p = INIT; *p; p++) {
        char one[2] = { *p, 0 };
        say(0, one);
    }
    is_str(heard(0), "", "a line without its end");
    say(0, "\ncmd=get_appnum\ncmd=get_app");
    is_str(heard(0), INITED "cmd=appnum appnum=0\n", "two lines and a piece");
    say(0, "num\n");
    is_str(heard(0), "cmd=appnum appnum=0\n", "whose rest comes later");
    stop();
}

static void test_abort(void)
{
    struct hrun_guard_event ev;

    start();
    is_answer(2, INIT, INITED);
    event();
    is_answer(2, "cmd=abort exitcode=7", "");
    ev = event();
    ok(ev.kind == HRUN_GUARD_ABORT && ev.rank == 2 && ev.status == 7, "an abort with its status");
    stop();
}

static void test_broken(void)
{
    static char lengthy[6000];
    static const struct { const char *sent, *says; } bad[] = {
        { "cmd=get_maxes\n", "sent a command of PMI before init: \"cmd=get_maxes\"" },
        { INIT "\ncmd=initack pmiid=-1\n", "sent an unknown PMI command: \"cmd=initack pmiid=-1\"" },
        { "\001\002garbage\n", "sent an unknown PMI command: \"\001\002garbage\"" },
        { "\n", "sent an unknown PMI command" },
        { INIT "\ncmd=put kvsname=kvs_0 value=1\n", "without a field that it needs" },
        { "cmd=init\n", "without a field that it needs" },
        { "cmd=init pmi_version=2 pmi_subversion=0\n", "speaks another version of PMI than 1" },
        { INIT "\ncmd=barrier_in\ncmd=barrier_in\n", "entered a PMI barrier twice" },
        { lengthy, "sent too long a line to PMI" },
    };
    struct hrun_guard_event ev;

    memset(lengthy, 'x', sizeof lengthy - 1);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        start();
        say(1, bad[i].sent);
        while ((ev = event()).kind == HRUN_GUARD_CONNECTED)
            ;
        is_int(ev.kind, HRUN_GUARD_REFUSED, "%s: refused", bad[i].says);
        is_int(ev.rank, 1, "the rank");
        has_str(ev.text, bad[i].says, "why");
        heard(1);
        is_str(heard(1), "closed", "it is not listened to again");
        is_answer(0, INIT, INITED);
        stop();
    }
}

/* A rank that asks for ever and does not read: the server does not wait, and its memory is bounded. */
static void test_deaf(void)
{
    struct hrun_guard_event ev = { 0 };

    start();
    say(0, INIT "\n");
    event();
    for (int i = 0; i < 1000000 && ev.kind == 0; i++) {
        hrun_pmi_feed(s.pmi, 0, "cmd=get_maxes\n", 14);
        ev = event();
    }
    is_int(ev.kind, HRUN_GUARD_REFUSED, "a rank that does not read its answers");
    has_str(ev.text, "does not read the answers", "why");
    stop();
}

/* What is replaced or taken back does not count for what may be stored: 270 MiB pass through room for 256. */
static void test_given_back(void)
{
    static char put[4096], publish[4096];
    static const char unpublish[] = "cmd=unpublish_name service=s\n";
    struct hrun_guard_event ev = { 0 };

    start();
    say(0, INIT "\n");
    event();
    snprintf(put, sizeof put, "cmd=put kvsname=kvs_0 key=k value=%03900d\n", 0);
    snprintf(publish, sizeof publish, "cmd=publish_name service=s port=%03900d\n", 0);
    for (int i = 0; i < 36000 && ev.kind == 0; i++) {
        hrun_pmi_feed(s.pmi, 0, put, strlen(put));
        hrun_pmi_feed(s.pmi, 0, publish, strlen(publish));
        hrun_pmi_feed(s.pmi, 0, unpublish, strlen(unpublish));
        heard(0);
        ev = event();
    }
    is_int(ev.kind, 0, "a rank that replaces and takes back is not refused");
    is_answer(0, "cmd=lookup_name service=s",
              "cmd=lookup_result info=error rc=-1 msg=service_s_not_found\n");
    stop();
}

/* Shared memory without an owner goes, and no other. */
static void test_orphans(void)
{
    static const char *const names[] = { "/dev/shm/mpich_shar_tmpAAAAAA", "/dev/shm/mpich_shar_tmpBBBBBB",
                                         "/dev/shm/ucx_shm_posix_test" };
    struct stat st;
    FILE *f, *open_one;

    if (access("/dev/shm", W_OK)) {
        ok(1, "# SKIP no /dev/shm");
        return;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((f = fopen(names[i], "w")))
            fclose(f);
    open_one = fopen(names[1], "r");
    hrun_mpich_remove_orphans(time(NULL) + 100);
    ok(!stat(names[0], &st), "what is older than the job stays");
    hrun_mpich_remove_orphans(time(NULL) - 10);
    ok(stat(names[0], &st) && stat(names[2], &st), "what nobody has is removed");
    ok(!stat(names[1], &st), "what a process has open stays");
    if (open_one)
        fclose(open_one);
    hrun_mpich_remove_orphans(time(NULL) - 10);
    ok(stat(names[1], &st), "until it has ended");
}

int main(void)
{
    test_session();
    test_mapping();
    test_barrier();
    test_pieces();
    test_abort();
    test_broken();
    test_deaf();
    test_given_back();
    test_orphans();
    return tap_done();
}
