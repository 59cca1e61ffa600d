/* fold.c - the output of a command in short lines; see shim.h */
#include "shim.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* srun --label breaks lines of more than 1024 bytes (MAX_MSG_LEN in its io_hdr.h). */
enum { PIECE_MAX = 800 };

/* Start the command with its output into a pipe. Result: the reading end, or -1 after a message. */
static int start_command(char **words, pid_t *pid)
{
    int fds[2];

    if (pipe(fds)) {
        shim_say("cannot make a pipe: %s", strerror(errno));
        return -1;
    }
    *pid = fork();
    if (*pid == 0) {
        dup2(fds[1], STDOUT_FILENO);
        close(fds[0]);
        close(fds[1]);
        execvp(words[0], words);
        shim_say("cannot run %s: %s", words[0], strerror(errno));
        _exit(errno == ENOENT ? SHIM_NOPROG : SHIM_NOEXEC);
    }
    close(fds[1]);
    if (*pid < 0) {
        shim_say("cannot start a process: %s", strerror(errno));
        close(fds[0]);
        return -1;
    }
    return fds[0];
}

static void fold_lines(FILE *in)
{
    int c, n = 0;

    while ((c = getc(in)) != EOF) {
        if (c != '\n') {
            putchar(c);
            n++;
        }
        if (c == '\n' || n == PIECE_MAX) {
            fputs(c == '\n' ? ".\n" : "\\\n", stdout);
            n = 0;
        }
    }
    if (n)
        puts("\\");
}

int shim_fold(char **words)
{
    pid_t pid;
    int fd = start_command(words, &pid), status = 0, code;
    FILE *in = fd < 0 ? NULL : fdopen(fd, "r");

    if (!in)
        return SHIM_FAILED;
    fold_lines(in);
    fclose(in);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    code = shim_exit_status(status);
    printf("=%d\n", code);
    if (fflush(stdout)) {
        shim_say("cannot write: %s", strerror(errno));
        return SHIM_FAILED;
    }
    return code;
}
