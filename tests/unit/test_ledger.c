/* test_ledger.c - entries, claims and the queue, one process alone; test_ledger_others.c has several */
#include "ledger.h"

#include "base/list.h"

#include <fcntl.h>
#include <time.h>

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

static int meet(const char *a, const char *b)
{
    struct hrun_ledger_pus pus;

    hrun_ledger_pus_read(a, &pus);
    return hrun_ledger_pus_meet(&pus, b);
}

static void test_names(void)
{
    ok(hrun_same_host("node1", "NODE1.example.org"), "a host with and without domain");
    ok(!hrun_same_host("node1.a", "node1.b"), "two domains are two hosts");
    ok(!hrun_same_host("10.0.0.1", "10.0.0.2"), "two addresses too");
    ok(!hrun_same_host("node1", "node10"), "and two names");
    ok(!hrun_ledger_host_order("node1", "NODE1.example.org") && !hrun_ledger_host_order("n.b", "n.a"),
       "names of one host stand together");
    ok(hrun_ledger_host_order("node1.z", "node10") < 0 && hrun_ledger_host_order("node10", "node1.z") > 0 &&
       hrun_ledger_host_order("a", "B") < 0, "others in their order");
    ok(meet("0-3,8", "5,7-9") && meet("5,7-9", "0-3,8"), "8 is in both lists");
    ok(!meet("0-3,8", "4-7,9") && !meet("4-7,9", "0-3,8"), "none is");
    ok(meet("0-255", "127") && meet("63-64,191", "191") && !meet("63-64,191", "0-62,65-190,192-255"), "of many");
    ok(meet("8191", "0-1000000") && !meet("8192-1000000", "8192-1000000"), "of more than any host has");
    ok(!meet("", "0") && !meet("x", "0") && !meet("0", "") && !meet("0", "x"), "nothing in none");
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
    hrun_ledger_close(a);
    hrun_ledger_close(b);
    hrun_ledger_close(c);
    is_int(files(), 0, "nothing is left");
}

/* One that waits and is stopped: its entry is not touched any more. */
static void test_silent(void)
{
    struct hrun_ledger *b = open_ledger(), *d;
    struct hrun_ledger_list list;
    struct timespec then[2] = { { .tv_nsec = UTIME_OMIT }, { 0 } };
    char *own = hrun_strf("%s/hrun-%lu", dir, (unsigned long)geteuid()), *path;

    is_int(queue(b, "n", "0"), 0, "one waits");
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
    hrun_ledger_close(b);
    is_int(files(), 0, "nothing of it is left");
    free(path);
    free(own);
}

int main(void)
{
    begin_tests();
    test_open();
    test_names();
    test_claims();
    test_queue();
    test_silent();
    hrun_remove_tree(dir);
    return tap_done();
}
