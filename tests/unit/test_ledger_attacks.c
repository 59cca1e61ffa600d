/* test_ledger_attacks.c - what one user does to the ledger costs that user: while he attacks it, the claims of two
 * others are granted and refused rightly, in bounded time and memory */
#include "ledger.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

enum { ONE = OTHER + 10, TWO = OTHER + 11 };  /* users who are attacked by OTHER */

enum { MANY = HRUN_LEDGER_FILES + 500 };  /* names in a large folder */

/* Shared with all processes. */
struct result {
    int wrong, rounds;
    long peak_KiB;
};
static struct result *result;

static char *home;              /* folder of the user OTHER */

static void claim_two(void)
{
    if (claim(open_ledger(), "n", "2") != 1)
        _exit(4);
}

/* Claims of one user beside those of another, who has PU 2: rounds times. */
static void claim_beside(int rounds)
{
    struct hrun_ledger *a = open_ledger(), *b = open_ledger();
    struct rusage use;

    for (int i = 0; i < rounds; i++) {
        result->wrong += claim(a, "n", "0") != 1;
        result->wrong += claim(b, "n", "0") != 0;
        result->wrong += claim(b, "n", "2") != 0;
        result->wrong += claim(b, "n", "1") != 1;
        hrun_ledger_withdraw(b);
        hrun_ledger_withdraw(a);
        result->rounds++;
    }
    hrun_ledger_close(a);
    hrun_ledger_close(b);
    getrusage(RUSAGE_SELF, &use);
    result->peak_KiB = use.ru_maxrss;
}

/* ---------------------------------------------------------------- attacks, as the user OTHER */

static const char HEAD[] = "hrun ledger 1\nstate runs\nticket 1\npid 5\nhost a\napp b\nprogram c\nversion d\n";
static const char TAIL[] = "end-of-entry\n";

/* A file in a folder, locked as if it were of a living process. Result: the descriptor. */
static int put_data(const char *folder, const char *name, const char *text, size_t len)
{
    char *path = hrun_strf("%s/%s", folder, name);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
    struct flock lk = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

    if (fd < 0 || hrun_write_all(fd, text, len) || fcntl(fd, F_SETLK, &lk))
        _exit(2);
    free(path);
    return fd;
}

static void make_home(void)
{
    umask(0);
    if (mkdir(home, 0755) && errno != EEXIST)
        _exit(2);
}

static void lease(void)
{
    char *text = hrun_strf("%suse n 7\n%s", HEAD, TAIL);
    int fd;

    make_home();
    fd = put_data(home, "run-lease", text, strlen(text));
    signal(SIGIO, SIG_IGN);
    if (fcntl(fd, F_SETLEASE, F_WRLCK))
        _exit(3);
    free(text);
}

/* An entry with the lines of a pattern, as many as it may have. */
static char *full_entry(const char *line, const char *more)
{
    struct hrun_buf text = HRUN_BUF_INIT;

    hrun_buf_adds(&text, HEAD);
    hrun_buf_adds(&text, line);
    while (text.len + strlen(more) + sizeof TAIL + 1 < HRUN_LEDGER_BYTES)
        hrun_buf_adds(&text, more);
    hrun_buf_addf(&text, "%s%s", text.data[text.len - 1] == '\n' ? "" : "\n", TAIL);
    return hrun_buf_detach(&text);
}

/* An entry under 4 names in each of 40 folders. */
static void link_often(const char *text)
{
    char *folder, *from, *to;

    make_home();
    put_data(home, "run-1", text, strlen(text));
    from = hrun_strf("%s/run-1", home);
    for (int i = 0; i < 40; i++) {
        folder = hrun_strf("%s.%d", home, i);
        (void)!mkdir(folder, 0755);
        for (int k = 0; k < 4; k++) {
            to = hrun_strf("%s/run-%d", folder, k);
            (void)!link(from, to);
            free(to);
        }
        free(folder);
    }
    free(from);
}

static void many_uses(void)
{
    char *text = full_entry("", "use a 0\n");

    link_often(text);
    free(text);
}

static void many_ranges(void)
{
    char *text = full_entry("use n 7", ",9");

    link_often(text);
    free(text);
}

static void sparse(void)
{
    char *folder;

    make_home();
    for (int i = 0; i < 40; i++) {
        folder = hrun_strf("%s.%d", home, i);
        (void)!mkdir(folder, 0755);
        for (int k = 0; k < 4; k++) {
            char name[32];

            snprintf(name, sizeof name, "run-%d", k);
            if (ftruncate(put_data(folder, name, "", 0), HRUN_LEDGER_BYTES))
                _exit(3);
        }
        free(folder);
    }
}

static void many_folders(void)
{
    make_home();
    for (int i = 0; i < MANY; i++) {
        char *own = hrun_strf("%s.%d", home, i), *foreign = hrun_strf("%s/hrun-%d.%d", dir, ONE, i);

        (void)!mkdir(own, 0755);
        (void)!mkdir(foreign, 0755);
        free(own);
        free(foreign);
    }
}

static void many_names(void)
{
    make_home();
    for (int i = 0; i < MANY; i++) {
        char *path = hrun_strf("%s/%s-%d", home, i % 2 ? "run" : "x", i);

        close(open(path, O_RDWR | O_CREAT, 0644));
        free(path);
    }
}

static void greatest_ticket(void)
{
    static const char text[] = "hrun ledger 1\nstate runs\nticket 9007199254740991\npid 5\nhost a\napp b\nprogram c\n"
                               "version d\nuse n 7\nend-of-entry\n";

    make_home();
    put_data(home, "run-1", text, sizeof text - 1);
}

static void no_files(void)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    char *path;

    make_home();
    path = hrun_strf("%s/run-fifo", home);
    (void)!mkfifo(path, 0644);
    free(path);
    path = hrun_strf("%s/run-link", home);
    (void)!symlink("/dev/zero", path);
    free(path);
    path = hrun_strf("%s.link", home);
    (void)!symlink("/proc/self/fd", path);
    free(path);
    snprintf(at.sun_path, sizeof at.sun_path, "%s/run-socket", home);
    (void)!bind(s, (struct sockaddr *)&at, sizeof at);
}

/* ---------------------------------------------------------------- attacks that go on */

/* 1 in a new process, which ends with this one. */
static int in_background(void)
{
    pid_t parent = getpid();

    if (fork())
        return 0;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    return 1;
}

/* Do something to each entry of the users that are attacked, again and again. */
static void for_entries(void (*act)(const char *path))
{
    static const int users[] = { ONE, TWO };

    for (;;) {
        for (int i = 0; i < 2; i++) {
            char *folder = hrun_strf("%s/hrun-%d", dir, users[i]);
            DIR *list = opendir(folder);
            struct dirent *e;

            while (list && (e = readdir(list))) {
                char *path = e->d_name[0] == 'r' ? hrun_strf("%s/%s", folder, e->d_name) : NULL;

                if (path)
                    act(path);
                free(path);
            }
            if (list)
                closedir(list);
            free(folder);
        }
    }
}

/* Hold locks that a reader can have, map it, ask for a lease. The first byte is locked by its owner. */
static void hold(const char *path)
{
    static int held[64], next;
    struct flock lk = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 1 };
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    fcntl(fd, F_OFD_SETLK, &lk);
    fcntl(fd, F_SETLEASE, F_RDLCK);
    mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    if (held[next])
        close(held[next]);
    held[next] = fd;
    next = (next + 1) % 64;
}

/* Root does this, as most systems keep others from it (fs.protected_hardlinks). */
static void link_here(const char *path)
{
    static int n;
    char *to = hrun_strf("%s/run-%d", home, n++ % 100);

    unlink(to);
    (void)!link(path, to);
    free(to);
}

static void read_locks(void)
{
    if (in_background())
        for_entries(hold);
}

static void links(void)
{
    make_home();
    if (chown(home, OTHER, OTHER))
        _exit(2);
    if (in_background())
        for_entries(link_here);
}

static void renames(void)
{
    char *other = hrun_strf("%s.other", home), *text = hrun_strf("%suse n 7\n%s", HEAD, TAIL);

    make_home();
    put_data(home, "run-1", text, strlen(text));
    if (in_background())
        for (;;) {
            (void)!rename(home, other);
            (void)!rename(other, home);
        }
    free(other);
    free(text);
}

/* ---------------------------------------------------------------- */

/* Is this run under valgrind or a sanitizer, which need time and memory of their own? */
static int is_checked(void)
{
#ifdef __SANITIZE_ADDRESS__
    return 1;
#else
    const char *preload = getenv("LD_PRELOAD");

    return preload && strstr(preload, "vgpreload");
#endif
}

/* rounds of claims by one user beside another while OTHER attacks. A round reads the ledger about 8 times. */
static void under_attack(const char *what, uid_t by, void (*attack)(void), int rounds)
{
    pid_t attacker = begin(by, attack), beside = begin(TWO, claim_two), pid;
    struct timespec from, to;
    double took;

    *result = (struct result){ 0 };
    clock_gettime(CLOCK_MONOTONIC, &from);
    fflush(stdout);
    pid = fork();
    if (!pid) {
        if (setresuid(ONE, ONE, ONE))
            _exit(1);
        claim_beside(rounds);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    clock_gettime(CLOCK_MONOTONIC, &to);
    took = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    end(beside);
    end(attacker);
    printf("# %s: %d rounds in %.2f s, %ld KiB\n", what, rounds, took, result->peak_KiB);
    ok(!result->wrong && result->rounds == rounds, "%s: of %d claims each is granted or refused rightly (%d wrong)",
       what, 4 * rounds, result->wrong);
    ok(result->peak_KiB < 65536 || is_checked(), "%s: in bounded memory: %ld KiB", what, result->peak_KiB);
    ok(took < 2 * rounds + 5 || is_checked(), "%s: in bounded time: %.1f s", what, took);
    hrun_remove_tree(home);
}

int main(void)
{
    static const struct { const char *what; uid_t by; void (*attack)(void); int rounds; } attacks[] = {
        { "a lease", OTHER, lease, 100 },
        { "readers' locks", OTHER, read_locks, 100 },
        { "links", 0, links, 100 },
        { "renamed folders", OTHER, renames, 100 },
        { "no files", OTHER, no_files, 100 },
        { "the greatest ticket", OTHER, greatest_ticket, 100 },
        { "many names", OTHER, many_names, 5 },
        { "many folders", OTHER, many_folders, 5 },
        { "large sparse files", OTHER, sparse, 2 },
        { "many uses, linked often", OTHER, many_uses, 2 },
        { "many ranges, linked often", OTHER, many_ranges, 2 },
    };

    begin_tests();
    if (geteuid()) {
        printf("1..0 # SKIP not root\n");
        hrun_remove_tree(dir);
        return 0;
    }
    result = mmap(NULL, sizeof *result, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    home = hrun_strf("%s/hrun-%d", dir, OTHER);
    for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++) {
        under_attack(attacks[i].what, attacks[i].by, attacks[i].attack, attacks[i].rounds);
        hrun_remove_tree(dir);
        if (mkdir(dir, 0755) || chmod(dir, 01777))
            return 1;
    }
    hrun_remove_tree(dir);
    free(home);
    return tap_done();
}
