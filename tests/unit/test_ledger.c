/* test_ledger.c - locks on PUs, the queue, who holds what, and what a user does against the others */
#include "fixture.h"

#include "cluster/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char *dir, *locks;

static struct hrun_ledger *open_ledger(void)
{
    struct hrun_ledger *l = NULL;
    struct hrun_error err = { 0 };

    ok(!hrun_ledger_open(dir, &l, &err), "a ledger %s", err.text);
    return l;
}

static const struct hrun_ledger_holder me = { .app = "lu", .program = "/bin/l\nu", .N = 600, .since_s = 1000 };

/* Lock PUs of one host, or wait for them. */
static int use(struct hrun_ledger *l, int wait, const char *host, const char *pus)
{
    struct hrun_error err = { 0 };
    int rc;

    hrun_ledger_want(l, host, pus);
    rc = (wait ? hrun_ledger_queue : hrun_ledger_lock)(l, &me, &err);
    if (rc < 0)
        printf("# %s\n", err.text);
    return rc;
}

/* What others hold of a host, as "first-last" and "place n" for those that count, each before a blank. */
static const char *held(struct hrun_ledger *l, const char *host)
{
    static char text[4096];
    char *hosts[] = { (char *)(uintptr_t)host };
    struct hrun_ledger_list list;
    struct hrun_error err = { 0 };
    size_t len = 0;

    text[0] = 0;
    if (hrun_ledger_read(l, hosts, 1, &list, &err))
        snprintf(text, sizeof text, "%s", err.text);
    for (int k = 0; !err.text[0] && k < list.nholds && len < sizeof text - 100; k++) {
        const struct hrun_ledger_hold *h = &list.holds[k];
        const struct hrun_ledger_holder *who = &list.holders[h->holder];

        if (!who->waits)
            len += (size_t)sprintf(text + len, "%d-%d%s ", h->first, h->last, who->text ? "" : "?");
        else if (who->text && !who->silent)
            len += (size_t)sprintf(text + len, "place %d ", who->place);
    }
    hrun_ledger_list_release(&list);
    return text;
}

static void test_open(void)
{
    struct hrun_ledger *l = NULL;
    struct hrun_error err = { 0 };

    ok(hrun_ledger_open("/nowhere/at/all", &l, &err) == -1 && err.code == HRUN_ENOENT, "no such ledger");
    ok(hrun_ledger_open("/dev/null", &l, &err) == -1 && err.code == HRUN_EINVAL, "a file is none");
    chmod(dir, 0777);
    ok(hrun_ledger_open(dir, &l, &err) == -1 && err.code == HRUN_EINVAL, "nor is a folder without sticky bit");
    has_str(err.text, "chmod +t", "is said");
    chmod(dir, 01777);
    l = open_ledger();
    is_str(held(l, "n"), "", "nothing is held");
    ok(access(locks, F_OK) != 0, "reading makes nothing");
    hrun_ledger_close(l);
    hrun_ledger_close(NULL);
}

static void test_locks(void)
{
    struct hrun_ledger *a = open_ledger(), *b = open_ledger();

    is_int(use(a, 0, "n", "0-3,8"), 1, "PUs are locked");
    is_str(held(b, "N.example.org"), "0-3 8-8 ", "the name of a host counts without domain and case");
    is_str(held(a, "n"), "", "what is one's own is not in the way");
    is_int(use(b, 0, "n", "3-5"), 0, "one of them is in use");
    is_int(use(b, 0, "m", "3-5"), 1, "on another host it is not");
    hrun_ledger_unlock(b);
    is_int(use(b, 0, "10.0.0.1", "0"), 1, "an address");
    is_str(held(a, "10.0.0.2"), "", "is not another one");
    hrun_ledger_unlock(b);
    is_int(use(b, 0, "n", "4-7,9"), 1, "nor are the others");
    hrun_ledger_unlock(b);
    use(a, 0, "n", "4");
    hrun_ledger_want(b, "m", "0");
    is_int(use(b, 0, "n", "4"), 0, "all or nothing");
    is_str(held(a, "m"), "", "what could be had is let go");
    hrun_ledger_close(a);
    hrun_ledger_want(b, "m", "0,2,1");
    is_int(use(b, 0, "n", "4"), 1, "locks end with their holder");
    a = open_ledger();
    is_str(held(a, "m"), "0-2 ", "few ranges are few locks");
    is_str(held(a, "n"), "4-4 ", "on each host");
    hrun_ledger_close(a);
    hrun_ledger_close(b);
}

static void test_queue(void)
{
    struct hrun_ledger *run = open_ledger(), *a = open_ledger(), *b = open_ledger(), *other = open_ledger();
    struct timespec old[2] = { { 1000, 0 }, { 1000, 0 } };
    struct hrun_ledger_list list;
    struct hrun_error err;
    char path[4096];

    use(run, 0, "n", "0-3");
    is_int(use(a, 1, "n", "0-1"), 0, "one waits");
    is_int(use(b, 1, "n", "0"), 0, "another, too");
    is_str(held(a, "n"), "0-3 ", "the first has nobody before it");
    is_str(held(b, "n"), "0-3 place 0 ", "the second has the first");
    use(a, 1, "n", "0-1");
    is_str(held(b, "n"), "0-3 place 0 ", "a place is kept");
    hrun_ledger_close(run);
    has_str(held(other, "n"), "place 1", "who comes later has both");
    is_str(held(other, "m"), "", "on the hosts that they wait for");
    use(a, 1, "m", "0");
    is_str(held(b, "n"), "", "it waits for another host now");
    is_str(held(other, "m"), "place 0 ", "with the same place");
    use(a, 1, "n", "0");
    ok(!hrun_ledger_read(other, NULL, 0, &list, &err) && list.nholders == 2, "all who hold something");
    ok(list.holders[0].uid == geteuid() && list.holders[0].pid == getpid(), "with user and process");
    snprintf(path, sizeof path, "%s/hrun-%04lx", dir, list.holders[list.holders[0].place].token);
    hrun_ledger_list_release(&list);
    ok(!utimensat(AT_FDCWD, path, old, 0), "the first one has been stopped");
    is_str(held(b, "n"), "", "and is waited for no more");
    hrun_ledger_leave(a);
    use(a, 1, "n", "0");
    is_str(held(b, "n"), "", "who leaves begins at the end");
    is_str(held(a, "n"), "place 1 ", "behind who has waited");
    hrun_ledger_close(a);
    hrun_ledger_close(b);
    hrun_ledger_close(other);
}

static int files(void)
{
    char *command = hrun_strf("exit $(ls '%s' | wc -l)", dir);
    int status = system(command);

    free(command);
    return WEXITSTATUS(status);
}

/* What a killed process leaves does not count, and is used again. */
static void test_killed(void)
{
    struct hrun_ledger *l;

    for (int i = 0; i < 3; i++) {
        int go[2];
        char c;
        pid_t pid;

        if (pipe(go) || (pid = fork()) < 0)
            bail("fork");
        if (!pid) {
            if (!hrun_ledger_open(dir, &l, NULL) && use(l, 0, "n", "0") == 1)
                (void)!write(go[1], "", 1);
            pause();
        }
        close(go[1]);
        is_int((int)read(go[0], &c, 1), 1, "another process has it");
        l = open_ledger();
        is_str(held(l, "n"), "0-0 ", "is seen");
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        close(go[0]);
        is_str(held(l, "n"), "", "until it is killed");
        hrun_ledger_close(l);
    }
    is_int(files(), 2, "one file is left of it");
    l = open_ledger();
    use(l, 0, "n", "0");
    hrun_ledger_close(l);
    is_int(files(), 1, "until its user has another run");
}

/* ---------------------------------------------------------------- against the others */

static int lock_bytes(int fd, off_t start, off_t len)
{
    struct flock lk = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = len };

    return fcntl(fd, F_OFD_SETLK, &lk);
}

#define WHOLE(host) "{\"pid\":1,\"since\":1,\"until\":1,\"N\":1,\"app\":\"\",\"program\":\"\",\"version\":\"\"," \
                    "\"uses\":[],\"host\":\"" host "\"}"

static void test_names(void)
{
    static const char *const texts[] = {
        "", "[]", "{}", "nonsense", "{\"pid\":\"x\"}", WHOLE("\033[2J"), WHOLE("\\u001b")
    };
    struct hrun_ledger *a = open_ledger(), *b = open_ledger();
    struct hrun_ledger_list list;
    struct hrun_error err;
    char path[4096];

    use(a, 0, "n", "0");
    ok(!hrun_ledger_read(b, NULL, 0, &list, &err) && list.nholders == 1, "one holder");
    is_str(list.holders[0].program, "/bin/l?u", "control bytes are not written");
    snprintf(path, sizeof path, "%s/hrun-%04lx", dir, list.holders[0].token);
    hrun_ledger_list_release(&list);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        FILE *f = fopen(path, "w");

        fputs(texts[i], f);
        fclose(f);
        is_str(held(b, "n"), "0-0? ", "a text that is none: no name, and the lock counts");
    }
    unlink(path);
    mkfifo(path, 0666);
    is_str(held(b, "n"), "0-0? ", "nobody waits for a fifo");
    unlink(path);
    ok(!symlink("/etc/passwd", path), "a link");
    is_str(held(b, "n"), "0-0? ", "nor follows it");
    hrun_ledger_close(a);
    unlink(path);
    for (unsigned i = 0; i < 64; i++) {
        snprintf(path, sizeof path, "%s/hrun-%04lx", dir, ((long)geteuid() * 40503 + i) % 65534);
        mkdir(path, 0777);
    }
    is_int(use(b, 0, "n", "0"), 1, "where all names are taken it locks without one");
    a = open_ledger();
    is_str(held(a, "n"), "0-0? ", "and is seen");
    hrun_ledger_close(a);
    hrun_ledger_close(b);
    for (unsigned i = 0; i < 64; i++) {
        snprintf(path, sizeof path, "%s/hrun-%04lx", dir, ((long)geteuid() * 40503 + i) % 65534);
        rmdir(path);
    }
}

static void test_many_locks(void)
{
    struct hrun_ledger *a = open_ledger();
    int fd = open(locks, O_RDONLY), fails = 0;

    for (int i = 0; i < 2000; i++)
        fails += lock_bytes(fd, ((off_t)1 << 62) + 2 * i, 1) != 0;
    is_int(fails, 0, "thousands of locks elsewhere");
    is_str(held(a, "n"), "", "are not in the way");
    is_int(use(a, 1, "n", "0"), 0, "in the queue");
    is_int(use(a, 0, "n", "0"), 1, "or of a lock");
    hrun_ledger_unlock(a);
    hrun_ledger_leave(a);
    is_int(lock_bytes(fd, 0, 0), 0, "a lock on all");
    has_str(held(a, "n"), "0-16383? ", "is of a user without a name");
    is_int(use(a, 1, "n", "0"), 0, "no place is left");
    is_int(use(a, 0, "n", "0"), 0, "nor a PU");
    close(fd);
    hrun_ledger_close(a);
}

/* The file of the locks is no file: an error at once. */
static void test_no_file(void)
{
    struct hrun_ledger *a = open_ledger();

    unlink(locks);
    mkfifo(locks, 0666);
    is_int(use(a, 0, "n", "0"), -1, "a fifo");
    has_str(held(a, "n"), "is not a plain file", "is said");
    unlink(locks);
    (void)!symlink("/dev/null", locks);
    is_int(use(a, 0, "n", "0"), -1, "a link");
    is_int(use(a, 1, "n", "0"), -1, "also for who waits");
    unlink(locks);
    mkdir(locks, 0777);
    is_int(use(a, 0, "n", "0"), -1, "a folder");
    rmdir(locks);
    is_int(use(a, 0, "n", "0"), 1, "it is made anew");
    hrun_ledger_close(a);
}

int main(void)
{
    struct stat st;

    umask(077);
    dir = temp_dir();
    locks = hrun_strf("%s/hrun.locks", dir);
    test_open();
    test_locks();
    ok(!stat(locks, &st) && (st.st_mode & 0777) == 0666 && !st.st_size, "all can use the file of the locks");
    is_int(files(), 1, "nothing else is left");
    test_queue();
    test_killed();
    test_names();
    test_many_locks();
    test_no_file();
    hrun_remove_tree(dir);
    free(locks);
    free(dir);
    return tap_done();
}
