/* ledger.h - a ledger of the tests' own, claims in it, looks at what is there, and processes of other users */
#ifndef HRUN_TESTS_LEDGER_H
#define HRUN_TESTS_LEDGER_H

#include "fixture.h"

#include "ledger/ledger.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char *dir;

static inline void give_up(int sig)
{
    static const char words[] = "not ok - nobody moves any more\n";

    (void)sig;
    (void)!write(1, words, sizeof words - 1);
    _exit(1);
}

/* Make the ledger; who waits for ever in it is ended. */
static inline void begin_tests(void)
{
    if (!geteuid())
        unsetenv("TMPDIR");     /* other users must reach it */
    dir = temp_dir();
    if (chmod(dir, 01777))
        bail(dir);
    signal(SIGALRM, give_up);
    alarm(120);
}

static inline struct hrun_ledger *open_ledger(void)
{
    struct hrun_ledger *l = NULL;
    struct hrun_error err = { 0 };

    if (hrun_ledger_open(dir, &l, &err))
        printf("# %s\n", err.text);
    return l;
}

static inline struct hrun_ledger_entry entry(struct hrun_ledger_use *uses, int n)
{
    return (struct hrun_ledger_entry){ .since_s = 1000, .end_s = 2000, .app = (char *)"lu", .N = 600,
                                       .program = (char *)"/bin/lu", .version = (char *)"1", .uses = uses, .nuses = n };
}

/* Claim PUs of one host: 1, 0, -1. */
static inline int claim(struct hrun_ledger *l, const char *host, const char *pus)
{
    struct hrun_ledger_use use = { (char *)(uintptr_t)host, (char *)(uintptr_t)pus };
    struct hrun_ledger_entry e = entry(&use, 1);
    struct hrun_error err = { 0 };
    int rc = hrun_ledger_claim(l, &e, NULL, &err);

    if (rc < 0)
        printf("# %s\n", err.text);
    return rc;
}

static inline int queue(struct hrun_ledger *l, const char *host, const char *pus)
{
    struct hrun_ledger_use use = { (char *)(uintptr_t)host, (char *)(uintptr_t)pus };
    struct hrun_ledger_entry e = entry(&use, 1);

    return hrun_ledger_queue(l, &e, NULL);
}

static inline struct hrun_ledger_list look(struct hrun_ledger *l)
{
    struct hrun_ledger_list list = { 0 };
    struct hrun_error err = { 0 };

    if (hrun_ledger_read(l, &list, &err))
        printf("# %s\n", err.text);
    return list;
}

static inline int count(void)
{
    struct hrun_ledger *l = open_ledger();
    struct hrun_ledger_list list = look(l);
    int n = list.n;

    hrun_ledger_list_release(&list);
    hrun_ledger_close(l);
    return n;
}

/* Names in this user's folder. */
static inline int files(void)
{
    char *own = hrun_strf("%s/hrun-%lu", dir, (unsigned long)geteuid());
    int n = entries(own, "");

    free(own);
    return n;
}

/* The path of an entry in a folder, which the caller frees; NULL: there is none. */
static inline char *an_entry(const char *folder)
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

/* ---------------------------------------------------------------- other users */

enum { OTHER = 64001, THIRD = 64002 };  /* users that need not be known to the system */

/* Run work in a process of another user (0: of this one) until it is killed; result: its number, when it is ready. */
static inline pid_t begin(uid_t uid, void (*work)(void))
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
    if (pid < 0 || read(ready[0], &c, 1) != 1)
        ok(0, "a process of user %lu does its part", (unsigned long)uid);
    close(ready[0]);
    return pid;
}

static inline void end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

#endif
