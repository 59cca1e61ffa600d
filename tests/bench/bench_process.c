/* bench_process.c - two commands, run in turn, compared by their medians
 *
 * Usage: bench_process REPETITIONS NAME_A COMMAND_A... -- NAME_B COMMAND_B...
 * Prints both medians, the ratio A/B and the spread. The runs alternate (A B A B ...), so that a drift of a shared
 * machine meets both. The commands' output goes to /dev/null.
 */
#include "bench.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Wall time of one run; exits when the command fails, for then the figure means nothing. */
static double run(char **argv)
{
    double start = bench_now();
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        int null = open("/dev/null", O_RDWR);

        dup2(null, 0);
        dup2(null, 1);
        dup2(null, 2);
        execvp(argv[0], argv);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status)) {
        fprintf(stderr, "bench_process: %s failed\n", argv[0]);
        exit(1);
    }
    return bench_now() - start;
}

int main(int argc, char **argv)
{
    int n = argc > 2 ? atoi(argv[1]) : 0, dash;
    double *a, *b;

    for (dash = 2; dash < argc && strcmp(argv[dash], "--"); dash++)
        ;
    if (n < 1 || dash < 4 || dash + 2 >= argc) {
        fprintf(stderr, "usage: bench_process REPETITIONS NAME COMMAND... -- NAME COMMAND...\n");
        return 2;
    }
    argv[dash] = NULL;
    a = calloc((size_t)n, sizeof *a);
    b = calloc((size_t)n, sizeof *b);
    if (!a || !b)
        return 1;
    run(argv + 3);
    run(argv + dash + 2);
    for (int i = 0; i < n; i++) {
        a[i] = run(argv + 3);
        b[i] = run(argv + dash + 2);
    }
    bench_sort(a, n);
    bench_sort(b, n);
    printf("  %-34s %8.1f ms   (quartiles %.1f .. %.1f)\n", argv[2], 1e3 * a[n / 2], 1e3 * a[n / 4],
           1e3 * a[3 * n / 4]);
    printf("  %-34s %8.1f ms   (quartiles %.1f .. %.1f)\n", argv[dash + 1], 1e3 * b[n / 2], 1e3 * b[n / 4],
           1e3 * b[3 * n / 4]);
    printf("  ratio %.2f, difference %+.1f ms (medians of %d runs in turn)\n", a[n / 2] / b[n / 2],
           1e3 * (a[n / 2] - b[n / 2]), n);
    free(a);
    free(b);
    return 0;
}
