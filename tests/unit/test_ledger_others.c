/* test_ledger_others.c - claims of other processes and users, hostile entries; many processes that claim and are
 * killed: no PU is granted twice, and all come to their turn */
#include "ledger.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>

static void nap_us(long us)
{
    struct timespec t = { us / 1000000, us % 1000000 * 1000 };

    nanosleep(&t, NULL);
}

static void claim_all(void)
{
    claim(open_ledger(), "n", "0-7");
}

static void test_killed(void)
{
    struct hrun_ledger *l;
    pid_t pid = begin(0, claim_all);

    l = open_ledger();
    is_int(claim(l, "n", "0"), 0, "another process has it");
    is_int(files(), 1, "and stands there");
    end(pid);
    is_int(claim(l, "n", "0"), 1, "when it is killed it has not");
    hrun_ledger_close(l);
    is_int(files(), 0, "and what it left is removed");
    if (geteuid()) {
        ok(1, "another user # SKIP not root");
        return;
    }
    pid = begin(OTHER, claim_all);
    l = open_ledger();
    is_int(claim(l, "n", "0"), 0, "another user has it");
    end(pid);
    is_int(claim(l, "n", "0"), 1, "killed, not");
    hrun_ledger_close(l);
    pid = begin(OTHER, claim_all);
    end(pid);
    is_int(count(), 0, "what another user has left does not count either");
}

/* ---------------------------------------------------------------- hostile entries */

static char *home;             /* folder of the user OTHER */
static char *left;             /* an entry that is dead */

static void put_file(const char *name, const char *text, size_t len)
{
    char *path = hrun_strf("%s/%s", home, name);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
    struct flock lk = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

    /* Locked, as if it were of a living process. */
    if (fd < 0 || hrun_write_all(fd, text, len) || fcntl(fd, F_SETLK, &lk))
        _exit(2);
    free(path);
}

static void make_hostile(void)
{
    static const char *const texts[] = {
        "", "\n", "hrun ledger 1\n", "hrun ledger 2\nstate runs\nend-of-entry\n", "no entry at all",
        "hrun ledger 1\nstate runs\nticket 1\npid 5\nhost a\napp b\nprogram c\nversion d\nuse n 0-7\n",
        "hrun ledger 1\nstate runs\nticket -5\npid 5\nhost a\napp b\nprogram c\nversion d\nuse n 0-7\nend-of-entry\n",
        "hrun ledger 1\nstate runs\nticket 9007199254740992\npid 5\nhost a\napp b\nprogram c\nversion d\nuse n 0-7\n"
        "end-of-entry\n",
        "hrun ledger 1\nstate runs\nticket 1\npid 5\nhost a\nhost a\napp b\nprogram c\nversion d\nuse n 0-7\n"
        "end-of-entry\n",
        "hrun ledger 1\nstate rules\nticket 1\npid 5\nhost a\napp b\nprogram c\nversion d\nuse n 0-7\nend-of-entry\n",
        "hrun ledger 1\nstate runs\nticket 1\npid 5\nhost a\napp b\nprogram c\nversion d\nuse  0-7\nend-of-entry\n",
    };
    static const char good[] = "hrun ledger 1\nstate runs\nticket 3\npid 5\nhost a\napp b\x1b[2J\xff\nprogram c\n"
                               "version d\nlater words\nuse n 9\nend-of-entry\n";
    char name[64], *large = malloc(HRUN_LEDGER_BYTES + 1), *path;

    umask(0);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        snprintf(name, sizeof name, "run-bad-%zu", i);
        put_file(name, texts[i], strlen(texts[i]));
    }
    memset(large, 'x', HRUN_LEDGER_BYTES + 1);
    put_file("run-large", large, HRUN_LEDGER_BYTES + 1);
    path = hrun_strf("%s/run-fifo", home);
    (void)!mkfifo(path, 0644);
    free(path);
    path = hrun_strf("%s/run-folder", home);
    (void)!mkdir(path, 0755);
    free(path);
    path = hrun_strf("%s/run-link", home);
    (void)!symlink("run-bad-5", path);
    free(path);
    path = hrun_strf("%s/run-nowhere", home);
    (void)!symlink("/dev/zero", path);
    free(path);
    free(large);
    /* A good one, whose texts would move a terminal, and which claims nothing of ours. */
    put_file("run-good", good, sizeof good - 1);
}

/* A reader's lock on an entry that is dead. */
static void read_lock(void)
{
    struct flock lk = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
    int fd = open(left, O_RDONLY);

    if (fd < 0 || fcntl(fd, F_SETLK, &lk))
        _exit(3);
}

static void squat(void)
{
    char *path = hrun_strf("%s/hrun-%d", dir, THIRD);

    (void)!mkdir(path, 0777);
    free(path);
}

static void claim_three(void)
{
    if (claim(open_ledger(), "n", "3") != 1)
        _exit(4);
}

static void test_no_entries(void)
{
    struct hrun_ledger_list list;
    struct hrun_ledger *l;
    pid_t pid = begin(OTHER, make_hostile);

    l = open_ledger();
    is_int(claim(l, "n", "0"), 1, "a claim beside what is no entry");
    list = look(l);
    is_int(list.n, 1, "one of them is");
    ok(list.skipped >= 12, "the others are counted: %d", list.skipped);
    if (list.n)
        is_str(list.v[0].app, "b?[2J" "?", "what moves terminals is taken out");
    hrun_ledger_list_release(&list);
    hrun_ledger_close(l);
    end(pid);
    is_int(count(), 0, "and that one is dead with its process");
    hrun_remove_tree(home);
}

/* A dead entry stays dead although somebody holds a lock on it that readers can have. */
static void test_readers(void)
{
    pid_t pid = begin(OTHER, claim_all);

    end(pid);
    left = an_entry(home);
    ok(left != NULL, "a killed run leaves its entry");
    pid = begin(THIRD, read_lock);
    is_int(count(), 0, "a reader's lock does not bring it to life");
    end(pid);
    free(left);
    left = NULL;
    hrun_remove_tree(home);
}

/* Somebody takes another's name. */
static void test_squatter(void)
{
    struct hrun_ledger_list list;
    struct hrun_ledger *l;
    pid_t pid = begin(OTHER, squat);

    end(pid);
    pid = begin(THIRD, claim_three);
    list = look(l = open_ledger());
    ok(list.n == 1 && list.v[0].uid == THIRD, "who finds his name taken has a folder of another name");
    hrun_ledger_list_release(&list);
    hrun_ledger_close(l);
    end(pid);
    pid = begin(THIRD, claim_three);
    is_int(entries(dir, "hrun-64002"), 2, "the same one each time");
    end(pid);
}

/* A folder that is a link, or of another user, is nobody's. */
static void test_links(void)
{
    struct hrun_ledger *l;
    char *own = hrun_strf("%s/hrun-0", dir), *file = hrun_strf("%s/run-x", home), *found;

    ok(!symlink(own, home), "a link in place of a folder");
    l = open_ledger();
    is_int(claim(l, "n", "0"), 1, "a claim");
    is_int(count(), 1, "is seen once");
    hrun_ledger_close(l);
    unlink(home);
    ok(!mkdir(home, 0755) && !chown(home, OTHER, OTHER), "a folder of another");
    l = open_ledger();
    is_int(claim(l, "n", "0"), 1, "a claim");
    found = an_entry(own);
    ok(found && !link(found, file), "linked into it");
    free(found);
    is_int(count(), 1, "counts once");
    hrun_ledger_close(l);
    unlink(file);
    free(file);
    free(own);
}

static void test_hostile(void)
{
    if (geteuid()) {
        ok(1, "hostile entries # SKIP not root");
        return;
    }
    home = hrun_strf("%s/hrun-%d", dir, OTHER);
    test_no_entries();
    test_readers();
    test_squatter();
    test_links();
    free(home);
}

/* ---------------------------------------------------------------- a crowd */

enum { CROWD = 100, PUS = 8, TURNS = 4 };

/* Shared with all: who has which PU, as they believe; who is to be killed; how often each had its turn. */
struct shared {
    int owner[PUS];
    int doomed[CROWD + 1];
    pid_t pid[CROWD + 1];
    int turns[CROWD + 1];
    int twice, errors;
};
static struct shared *crowd;

static int is_gone(pid_t pid)
{
    char path[64], text[512] = "", *p;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    f = fopen(path, "r");
    if (!f)
        return 1;
    (void)!fread(text, 1, sizeof text - 1, f);
    fclose(f);
    p = strrchr(text, ')');
    return !p || p[2] == 'Z' || p[2] == 'X';
}

/* Take PU for worker me, in the table; one who is there and alive shows that it was granted twice. */
static void take(int pu, int me)
{
    int was = 0;

    while (!__atomic_compare_exchange_n(&crowd->owner[pu], &was, me, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
        int dead = 0;

        for (int k = 0; k < 5000 && was && crowd->doomed[was] && !(dead = is_gone(crowd->pid[was])); k++)
            nap_us(1000);
        if (was && !dead) {
            __atomic_add_fetch(&crowd->twice, 1, __ATOMIC_SEQ_CST);
            return;
        }
    }
}

static void work_one(int me, unsigned *seed)
{
    int first = rand_r(seed) % PUS, n = 1 + rand_r(seed) % 3, last = first + n - 1 < PUS ? first + n - 1 : PUS - 1;
    int waits = rand_r(seed) % 2, rc;
    struct hrun_ledger *l = open_ledger();
    char pus[16];

    snprintf(pus, sizeof pus, "%d-%d", first, last);
    while ((rc = claim(l, "n", pus)) == 0) {
        if (waits && queue(l, "n", pus))
            __atomic_add_fetch(&crowd->errors, 1, __ATOMIC_SEQ_CST);
        nap_us(10000 + rand_r(seed) % 80000);
    }
    if (rc < 0) {
        __atomic_add_fetch(&crowd->errors, 1, __ATOMIC_SEQ_CST);
    } else {
        hrun_ledger_leave(l);
        for (int pu = first; pu <= last; pu++)
            take(pu, me);
        nap_us(rand_r(seed) % 2000);
        for (int pu = first; pu <= last; pu++)
            __atomic_store_n(&crowd->owner[pu], 0, __ATOMIC_SEQ_CST);
        crowd->turns[me]++;
    }
    hrun_ledger_close(l);
}

static pid_t start_worker(int me, uid_t uid)
{
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (!pid) {
        unsigned seed = (unsigned)me * 7919;

        if (uid && setresuid(uid, uid, uid))
            _exit(1);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        crowd->pid[me] = getpid();
        for (int k = 0; k < TURNS; k++)
            work_one(me, &seed);
        _exit(0);
    }
    crowd->pid[me] = pid;
    return pid;
}

static void test_crowd(void)
{
    /* valgrind makes a hundred processes too slow. */
    const char *preload = getenv("LD_PRELOAD");
    int killed = 0, short_of = 0, failed = 0, status, n = preload && strstr(preload, "vgpreload") ? CROWD / 10 : CROWD;
    unsigned seed = 5;
    uid_t users[2] = { geteuid() ? 0 : OTHER, geteuid() ? 0 : THIRD };

    crowd = mmap(NULL, sizeof *crowd, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 1; i <= n; i++)
        start_worker(i, users[i % 2]);
    /* A quarter of them is killed at any moment. */
    for (int i = 0; i < n / 4; i++) {
        int k = 1 + rand_r(&seed) % n;

        nap_us(rand_r(&seed) % 30000);
        if (crowd->doomed[k])
            continue;
        __atomic_store_n(&crowd->doomed[k], 1, __ATOMIC_SEQ_CST);
        kill(crowd->pid[k], SIGKILL);
        killed++;
    }
    for (int i = 1; i <= n; i++) {
        if (waitpid(crowd->pid[i], &status, 0) != crowd->pid[i] || crowd->doomed[i])
            continue;
        failed += !WIFEXITED(status) || WEXITSTATUS(status);
        short_of += crowd->turns[i] != TURNS;
    }
    is_int(crowd->twice, 0, "%d processes, %d of them killed: no PU is granted twice", n, killed);
    is_int(short_of, 0, "all others have had their turns");
    is_int(crowd->errors + failed, 0, "without an error");
    is_int(count(), 0, "and nobody is left");
    munmap(crowd, sizeof *crowd);
}

int main(void)
{
    begin_tests();
    test_killed();
    test_hostile();
    test_crowd();
    hrun_remove_tree(dir);
    return tap_done();
}
