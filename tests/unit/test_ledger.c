/* test_ledger.c - entries, hostile ones too; claims and the queue; many processes that claim and are killed: no PU is
 * granted twice, and all come to their turn */
#include "tap.h"

#include "base/file.h"
#include "ledger/ledger.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { OTHER = 64001, THIRD = 64002 };  /* users that need not be known to the system */

static char *dir;

static void nap_us(long us)
{
    struct timespec t = { us / 1000000, us % 1000000 * 1000 };

    nanosleep(&t, NULL);
}

static struct hrun_ledger *open_ledger(void)
{
    struct hrun_ledger *l = NULL;
    struct hrun_error err = { 0 };

    if (hrun_ledger_open(dir, &l, &err))
        printf("# %s\n", err.text);
    return l;
}

static struct hrun_ledger_entry entry(struct hrun_ledger_use *uses, int n)
{
    return (struct hrun_ledger_entry){ .since_s = 1000, .end_s = 2000, .app = (char *)"lu", .N = 600,
                                       .program = (char *)"/bin/lu", .version = (char *)"1", .uses = uses, .nuses = n };
}

/* Claim PUs of one host: 1, 0, -1. */
static int claim(struct hrun_ledger *l, const char *host, const char *pus)
{
    struct hrun_ledger_use use = { (char *)(uintptr_t)host, (char *)(uintptr_t)pus };
    struct hrun_ledger_entry e = entry(&use, 1);
    struct hrun_error err = { 0 };
    int rc = hrun_ledger_claim(l, &e, NULL, &err);

    if (rc < 0)
        printf("# %s\n", err.text);
    return rc;
}

static int queue(struct hrun_ledger *l, const char *host, const char *pus)
{
    struct hrun_ledger_use use = { (char *)(uintptr_t)host, (char *)(uintptr_t)pus };
    struct hrun_ledger_entry e = entry(&use, 1);

    return hrun_ledger_queue(l, &e, NULL);
}

static struct hrun_ledger_list look(struct hrun_ledger *l)
{
    struct hrun_ledger_list list = { 0 };
    struct hrun_error err = { 0 };

    if (hrun_ledger_read(l, &list, &err))
        printf("# %s\n", err.text);
    return list;
}

static int count(void)
{
    struct hrun_ledger *l = open_ledger();
    struct hrun_ledger_list list = look(l);
    int n = list.n;

    hrun_ledger_list_release(&list);
    hrun_ledger_close(l);
    return n;
}

/* Names in a folder that begin so. */
static int names(const char *folder, const char *with)
{
    DIR *list = opendir(folder);
    struct dirent *e;
    int n = 0;

    while (list && (e = readdir(list)))
        n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..") && !strncmp(e->d_name, with, strlen(with));
    if (list)
        closedir(list);
    return n;
}

/* Names in this user's folder. */
static int files(void)
{
    char *own = hrun_strf("%s/hrun-%lu", dir, (unsigned long)geteuid());
    int n = names(own, "");

    free(own);
    return n;
}

/* The path of an entry in a folder, which the caller frees; NULL: there is none. */
static char *an_entry(const char *folder)
{
    DIR *list = opendir(folder);
    struct dirent *e;
    char *path = NULL;

    while (list && !path && (e = readdir(list)))
        if (!strncmp(e->d_name, "run-", 4))
            path = hrun_strf("%s/%s", folder, e->d_name);
    if (list)
        closedir(list);
    return path;
}

/* ---------------------------------------------------------------- one after the other */

static void test_open(void)
{
    struct hrun_ledger *l = NULL;
    struct hrun_error err = { 0 };
    char *open_to_all = hrun_strf("%s/open", dir), *file = hrun_strf("%s/file", dir);
    FILE *f;

    ok(hrun_ledger_open("/nowhere/at/all", &l, &err) == -1 && err.code == HRUN_ENOENT, "no such ledger");
    f = fopen(file, "w");
    fclose(f);
    ok(hrun_ledger_open(file, &l, &err) == -1 && err.code == HRUN_EINVAL, "a file is none");
    mkdir(open_to_all, 0700);
    chmod(open_to_all, 0777);
    ok(hrun_ledger_open(open_to_all, &l, &err) == -1 && err.code == HRUN_EINVAL, "nor is a folder without sticky bit");
    has_str(err.text, "chmod +t", "is said");
    ok(!l, "nothing comes out");
    l = open_ledger();
    is_int(count(), 0, "it is empty");
    is_int(files(), 0, "reading enters nothing");
    is_str(hrun_ledger_dir(l), dir, "its folder");
    hrun_ledger_close(l);
    hrun_ledger_close(NULL);
    rmdir(open_to_all);
    unlink(file);
    free(open_to_all);
    free(file);
}

static void test_names(void)
{
    ok(hrun_ledger_same_host("node1", "NODE1.example.org"), "a host with and without domain");
    ok(!hrun_ledger_same_host("node1.a", "node1.b"), "two domains are two hosts");
    ok(!hrun_ledger_same_host("10.0.0.1", "10.0.0.2"), "two addresses too");
    ok(!hrun_ledger_same_host("node1", "node10"), "and two names");
    ok(hrun_ledger_pus_meet("0-3,8", "5,7-9"), "8 is in both lists");
    ok(!hrun_ledger_pus_meet("0-3,8", "4-7,9"), "none is");
    ok(!hrun_ledger_pus_meet("", "0") && !hrun_ledger_pus_meet("x", "0"), "nothing in none");
}

static void test_claims(void)
{
    struct hrun_ledger *a = open_ledger(), *b = open_ledger();
    struct hrun_ledger_use uses[] = { { (char *)"node2", (char *)"0-1" }, { (char *)"node1", (char *)"2" } };
    struct hrun_ledger_entry e = entry(uses, 2);
    struct hrun_ledger_list list = { 0 };
    struct hrun_error err = { 0 };

    errno = 77;
    is_int(claim(a, "node1", "0-3"), 1, "a claim is granted");
    is_int(errno, 77, "errno is kept");
    is_int(hrun_ledger_claim(a, &e, NULL, &err), -1, "one at a time");
    is_int(err.code, HRUN_EINVAL, "is said");
    is_int(claim(b, "node1.example.org", "3"), 0, "another to one of its PUs is not");
    is_int(claim(b, "node2", "3"), 1, "on another host it is");
    hrun_ledger_withdraw(b);
    is_int(claim(b, "node1", "4-7"), 1, "and of other PUs");
    hrun_ledger_withdraw(b);
    is_int(hrun_ledger_claim(b, &e, &list, &err), 0, "one of two hosts is in use");
    ok(list.n == 1 && list.v[0].state == HRUN_LEDGER_RUNS && list.v[0].uid == geteuid() && list.v[0].nuses == 1,
       "by whom is told");
    if (list.n == 1) {
        is_str(list.v[0].uses[0].pus, "0-3", "which PUs");
        is_str(list.v[0].app, "lu", "the application");
        ok(list.v[0].N == 600 && list.v[0].end_s == 2000 && list.v[0].since_s == 1000 && list.v[0].pid == getpid(),
           "size, start, end and process");
    }
    is_int(count(), 1, "nothing is left of what was not granted");
    hrun_ledger_withdraw(a);
    is_int(hrun_ledger_claim(b, &e, &list, &err), 1, "then it is free");
    is_int(list.n, 1, "what was seen before is left alone");
    hrun_ledger_list_release(&list);
    hrun_ledger_close(a);
    hrun_ledger_close(b);
    is_int(count(), 0, "closed, all is free");
    is_int(files(), 0, "and nothing is left");
    e.uses[0].host = (char *)"";
    a = open_ledger();
    ok(hrun_ledger_claim(a, &e, NULL, &err) == -1 && err.code == HRUN_EINVAL, "a host without a name");
    hrun_ledger_close(a);
    is_int(files(), 0, "enters nothing");
}

static void test_queue(void)
{
    struct hrun_ledger *a = open_ledger(), *b = open_ledger(), *c = open_ledger(), *d;
    struct hrun_ledger_list list;
    struct timespec then[2] = { { .tv_nsec = UTIME_OMIT }, { 0 } };
    char *own = hrun_strf("%s/hrun-%lu", dir, (unsigned long)geteuid()), *path;

    is_int(claim(a, "n", "0-1"), 1, "one runs");
    is_int(queue(b, "n", "0-2"), 0, "one waits for all");
    is_int(claim(c, "n", "2"), 0, "a later one does not get what it waits for");
    is_int(claim(c, "n", "3"), 1, "but what it does not");
    hrun_ledger_withdraw(c);
    is_int(queue(c, "n", "0"), 0, "a later one waits too");
    list = look(a);
    ok(list.n == 2 && list.v[0].ticket < list.v[1].ticket && list.v[0].state == HRUN_LEDGER_WAITS,
       "they stand in their order");
    ok(list.n == 2 && !hrun_ledger_counts(a, &list.v[0]), "those who wait do not stand in the way of earlier ones");
    hrun_ledger_list_release(&list);
    list = look(c);
    ok(list.n == 2 && hrun_ledger_counts(c, &list.v[0]) && hrun_ledger_counts(c, &list.v[1]),
       "but in that of later ones");
    hrun_ledger_list_release(&list);
    hrun_ledger_withdraw(a);
    is_int(claim(c, "n", "0"), 0, "the later one does not go first");
    is_int(queue(b, "n", "0-1"), 0, "the first wants less now");
    d = open_ledger();
    is_int(claim(d, "n", "2"), 1, "then what it wanted is there for others");
    hrun_ledger_close(d);
    is_int(claim(b, "n", "0-1"), 1, "the first goes");
    hrun_ledger_leave(b);
    is_int(files(), 2, "and waits no more");
    hrun_ledger_withdraw(b);
    is_int(claim(c, "n", "0"), 1, "then the second");
    hrun_ledger_withdraw(c);

    /* One that waits and is stopped: its entry is not touched any more. */
    is_int(queue(b, "n", "0"), 0, "one waits");
    hrun_ledger_leave(c);
    path = an_entry(own);
    then[1].tv_sec = time(NULL) - HRUN_LEDGER_SILENT_S - 5;
    ok(path && !utimensat(AT_FDCWD, path, then, 0), "for long it does not move");
    d = open_ledger();
    list = look(d);
    ok(list.n == 1 && list.v[0].silent, "that is seen");
    hrun_ledger_list_release(&list);
    is_int(claim(d, "n", "0"), 1, "and it holds up nobody");
    hrun_ledger_close(d);
    then[1].tv_sec = time(NULL) + 100000;
    ok(path && !utimensat(AT_FDCWD, path, then, 0), "touched in the future");
    d = open_ledger();
    is_int(claim(d, "n", "0"), 0, "it counts, until its next touch");
    hrun_ledger_close(d);
    is_int(queue(b, "n", "0"), 0, "it touches it");
    d = open_ledger();
    list = look(d);
    ok(list.n == 1 && !list.v[0].silent, "it is alive again");
    hrun_ledger_list_release(&list);
    hrun_ledger_close(d);
    hrun_ledger_close(a);
    hrun_ledger_close(b);
    hrun_ledger_close(c);
    is_int(files(), 0, "nothing is left");
    free(path);
    free(own);
}

/* ---------------------------------------------------------------- other processes */

/* Run work in a process of another user (0: of this one) until it is killed; result: its number, when it is ready. */
static pid_t begin(uid_t uid, void (*work)(void))
{
    int ready[2];
    char c;
    pid_t pid;

    fflush(stdout);
    if (pipe(ready))
        return -1;
    pid = fork();
    if (!pid) {
        close(ready[0]);
        if (uid && setresuid(uid, uid, uid))
            _exit(1);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        work();
        (void)!write(ready[1], "x", 1);
        for (;;)
            pause();
    }
    close(ready[1]);
    (void)!read(ready[0], &c, 1);
    close(ready[0]);
    return pid;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
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

static void test_hostile(void)
{
    struct hrun_ledger_list list;
    struct hrun_ledger *l;
    char *path, *own;
    pid_t pid;

    if (geteuid()) {
        ok(1, "hostile entries # SKIP not root");
        return;
    }
    home = hrun_strf("%s/hrun-%d", dir, OTHER);
    pid = begin(OTHER, make_hostile);
    /* An entry of ours that is linked into another's folder is not his. */
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

    /* A dead entry stays dead although somebody holds a lock on it that readers can have. */
    hrun_remove_tree(home);
    pid = begin(OTHER, claim_all);
    end(pid);
    left = an_entry(home);
    ok(left != NULL, "a killed run leaves its entry");
    pid = begin(THIRD, read_lock);
    is_int(count(), 0, "a reader's lock does not bring it to life");
    end(pid);
    free(left);
    left = NULL;

    /* Somebody takes another's name. */
    hrun_remove_tree(home);
    pid = begin(OTHER, squat);
    end(pid);
    pid = begin(THIRD, claim_three);
    list = look(l = open_ledger());
    ok(list.n == 1 && list.v[0].uid == THIRD, "who finds his name taken has a folder of another name");
    hrun_ledger_list_release(&list);
    hrun_ledger_close(l);
    end(pid);
    pid = begin(THIRD, claim_three);
    is_int(names(dir, "hrun-64002"), 2, "the same one each time");
    end(pid);

    /* A folder that is a link, or of another user, is nobody's. */
    own = hrun_strf("%s/hrun-%d", dir, OTHER);
    path = hrun_strf("%s/hrun-0", dir);
    ok(!symlink(path, own), "a link in place of a folder");
    l = open_ledger();
    is_int(claim(l, "n", "0"), 1, "a claim");
    is_int(count(), 1, "is seen once");
    hrun_ledger_close(l);
    unlink(own);
    ok(!mkdir(own, 0755) && !chown(own, OTHER, OTHER), "a folder of another");
    free(own);
    own = hrun_strf("%s/hrun-%d/run-x", dir, OTHER);
    l = open_ledger();
    is_int(claim(l, "n", "0"), 1, "a claim");
    left = an_entry(path);
    ok(left && !link(left, own), "linked into it");
    free(left);
    is_int(count(), 1, "counts once");
    hrun_ledger_close(l);
    unlink(own);
    free(own);
    free(path);
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
            crowd->errors++;
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

static void give_up(int sig)
{
    static const char words[] = "not ok - nobody moves any more\n";

    (void)sig;
    (void)!write(1, words, sizeof words - 1);
    _exit(1);
}

int main(void)
{
    char name[] = "/tmp/hrun-test-ledger.XXXXXX";

    dir = mkdtemp(name);
    if (!dir || chmod(dir, 01777)) {
        perror(name);
        return 1;
    }
    signal(SIGALRM, give_up);
    alarm(120);
    test_open();
    test_names();
    test_claims();
    test_queue();
    test_killed();
    test_hostile();
    test_crowd();
    hrun_remove_tree(dir);
    free(home);
    return tap_done();
}
