/* ledger_test.h - what the tests of lib/ledger share: a ledger of their own, claims in it, looks at what is there */
#ifndef HRUN_TESTS_LEDGER_TEST_H
#define HRUN_TESTS_LEDGER_TEST_H

#include "base/file.h"
#include "ledger/ledger.h"
#include "tap.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/hrun-test-ledger.XXXXXX";

static void give_up(int sig)
{
    static const char words[] = "not ok - nobody moves any more\n";

    (void)sig;
    (void)!write(1, words, sizeof words - 1);
    _exit(1);
}

/* Make the ledger; who waits for ever in it is ended. */
static void begin_tests(void)
{
    if (!mkdtemp(dir) || chmod(dir, 01777)) {
        printf("Bail out! %s: %s\n", dir, strerror(errno));
        exit(1);
    }
    signal(SIGALRM, give_up);
    alarm(120);
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

__attribute__((unused)) static int queue(struct hrun_ledger *l, const char *host, const char *pus)
{
    struct hrun_ledger_use use = { (char *)(uintptr_t)host, (char *)(uintptr_t)pus };
    struct hrun_ledger_entry e = entry(&use, 1);

    return hrun_ledger_queue(l, &e, NULL);
}

__attribute__((unused)) static struct hrun_ledger_list look(struct hrun_ledger *l)
{
    struct hrun_ledger_list list = { 0 };
    struct hrun_error err = { 0 };

    if (hrun_ledger_read(l, &list, &err))
        printf("# %s\n", err.text);
    return list;
}

__attribute__((unused)) static int count(void)
{
    struct hrun_ledger *l = open_ledger();
    struct hrun_ledger_list list = look(l);
    int n = list.n;

    hrun_ledger_list_release(&list);
    hrun_ledger_close(l);
    return n;
}

/* Names in a folder that begin so. */
__attribute__((unused)) static int names(const char *folder, const char *with)
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
__attribute__((unused)) static int files(void)
{
    char *own = hrun_strf("%s/hrun-%lu", dir, (unsigned long)geteuid());
    int n = names(own, "");

    free(own);
    return n;
}

/* The path of an entry in a folder, which the caller frees; NULL: there is none. */
__attribute__((unused)) static char *an_entry(const char *folder)
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

#endif
