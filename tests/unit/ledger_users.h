/* ledger_users.h - what the tests of lib/ledger with several users share: processes of other users */
#ifndef HRUN_TESTS_LEDGER_USERS_H
#define HRUN_TESTS_LEDGER_USERS_H

#include "ledger_test.h"

#include <sys/prctl.h>
#include <sys/wait.h>

enum { OTHER = 64001, THIRD = 64002 };  /* users that need not be known to the system */

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
    if (pid < 0 || read(ready[0], &c, 1) != 1)
        ok(0, "a process of user %lu does its part", (unsigned long)uid);
    close(ready[0]);
    return pid;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

#endif
