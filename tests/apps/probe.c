/* probe.c - a small MPI program that tells how it was started and ends as it is told to
 *
 * Words are done in order; "@R" before a word restricts it to rank R:
 *   info            one line: rank, size, CPUs, cwd, argc (after MPI_Init)
 *   app             one line: the base name of the program, and MPI's number of it (MPI_APPNUM)
 *   env=NAME        one line with the variable's value
 *   barriers=N      N barriers and how often the ranks gave up their CPU in them (sched_yield)
 *   time=N          the mean time of N barriers
 *   ring            a token once around all ranks, checked
 *   big             8 MiB around the ring (goes through shared memory), checked
 *   stdin           copies standard input to standard output
 *   out=N, err=N    N numbered lines to standard output or error
 *   term-ignore     ignore SIGTERM          trap    print the signals that come, go on
 *   sleep=S         sleep S seconds (goes on after a signal)
 *   mark=FILE       make FILE.RANK
 *   spin            barriers for ever
 *   child=S         leave a child that sleeps S seconds behind
 *   daemon=S        the same, in a session of its own
 *   nompi           as the first word: return before MPI_Init
 *   abort=C  exit=C  kill=SIG  nofinalize    (the last: _exit(0) without MPI_Finalize)
 */
#include <mpi.h>

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t rank_for_handler;

static void on_signal(int sig)
{
    char line[64];
    int n = snprintf(line, sizeof line, "rank %d signal %d\n", (int)rank_for_handler, sig);

    if (write(STDOUT_FILENO, line, (size_t)n) < 0)
        _exit(9);
}

static void info(int rank, int size)
{
    char cpus[1024] = "", cwd[1024] = "?";
    size_t len = 0;
    cpu_set_t set;

    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    for (int i = 0; i < CPU_SETSIZE && len < sizeof cpus - 8; i++)
        if (CPU_ISSET(i, &set))
            len += (size_t)snprintf(cpus + len, sizeof cpus - len, "%s%d", len ? "," : "", i);
    if (!getcwd(cwd, sizeof cwd))
        strcpy(cwd, "?");
    printf("rank %d of %d cpus %s cwd %s\n", rank, size, cpus, cwd);
    fflush(stdout);
}

static volatile long yields;

/* In place of the C library's, also for Open MPI. */
int sched_yield(void)
{
    yields++;
    return (int)syscall(SYS_sched_yield);
}

static void barriers(int n, int rank)
{
    long mine = yields, all = 0;

    for (int i = 0; i < n; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    mine = yields - mine;
    MPI_Reduce(&mine, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("yields %ld\n", all);
    fflush(stdout);
}

static void time_barriers(int n, int rank)
{
    double begin;

    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    for (int i = 0; i < n; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("a barrier takes %.1f us\n", 1e6 * (MPI_Wtime() - begin) / n);
    fflush(stdout);
}

static void ring(int rank, int size, size_t bytes)
{
    char *buf = calloc(bytes, 1), *in = calloc(bytes, 1);

    memset(buf, rank + 1, bytes);
    MPI_Sendrecv(buf, (int)bytes, MPI_BYTE, (rank + 1) % size, 0, in, (int)bytes, MPI_BYTE,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (size_t i = 0; i < bytes; i++)
        if (in[i] != (char)((rank + size - 1) % size + 1)) {
            fprintf(stderr, "rank %d: wrong byte at %zu\n", rank, i);
            MPI_Abort(MPI_COMM_WORLD, 99);
        }
    if (rank == 0)
        printf("ring good\n");
    fflush(stdout);
    free(buf);
    free(in);
}

static void nap(double seconds)
{
    struct timespec t = { (time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9) };

    while (nanosleep(&t, &t))
        ;
}

static void leave_child(double seconds, int own_session)
{
    if (fork() == 0) {
        if (own_session)
            setsid();
        signal(SIGTERM, SIG_IGN);
        nap(seconds);
        _exit(0);
    }
}

static void catch_signals(void)
{
    static const int sigs[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT };

    for (size_t i = 0; i < sizeof sigs / sizeof *sigs; i++)
        signal(sigs[i], on_signal);
}

/* Word is "name=value": its value, else NULL. */
static const char *value_of(const char *word, const char *name)
{
    size_t n = strlen(name);

    return !strncmp(word, name, n) && word[n] == '=' ? word + n + 1 : NULL;
}

static void mark(const char *file, int rank)
{
    char name[512];
    FILE *f;

    snprintf(name, sizeof name, "%s.%d", file, rank);
    f = fopen(name, "w");
    if (f)
        fclose(f);
}

static int with_value(const char *w, int rank)
{
    const char *v;

    if ((v = value_of(w, "env")))
        printf("rank %d %s=%s\n", rank, v, getenv(v) ? getenv(v) : "(unset)");
    else if ((v = value_of(w, "barriers")))
        barriers(atoi(v), rank);
    else if ((v = value_of(w, "time")))
        time_barriers(atoi(v), rank);
    else if ((v = value_of(w, "out")) || (v = value_of(w, "err")))
        for (int i = 0; i < atoi(v); i++)
            fprintf(w[0] == 'o' ? stdout : stderr, "rank %d line %d\n", rank, i);
    else if ((v = value_of(w, "mark")))
        mark(v, rank);
    else if ((v = value_of(w, "sleep")))
        nap(atof(v));
    else if ((v = value_of(w, "child")))
        leave_child(atof(v), 0);
    else if ((v = value_of(w, "daemon")))
        leave_child(atof(v), 1);
    else if ((v = value_of(w, "abort")))
        MPI_Abort(MPI_COMM_WORLD, atoi(v));
    else if ((v = value_of(w, "exit")))
        exit(atoi(v));
    else if ((v = value_of(w, "kill")))
        raise(atoi(v));
    else
        return 0;
    fflush(stdout);
    return 1;
}

static void app(int rank)
{
    int *number, given;

    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &given);
    printf("rank %d is %s, program %d\n", rank, program_invocation_short_name, given ? *number : -1);
}

static int plain(const char *w, int rank, int size)
{
    int c;

    if (!strcmp(w, "info"))
        info(rank, size);
    else if (!strcmp(w, "app"))
        app(rank);
    else if (!strcmp(w, "ring"))
        ring(rank, size, 1);
    else if (!strcmp(w, "big"))
        ring(rank, size, 8 << 20);
    else if (!strcmp(w, "stdin"))
        while ((c = getchar()) != EOF)
            putchar(c);
    else if (!strcmp(w, "term-ignore"))
        signal(SIGTERM, SIG_IGN);
    else if (!strcmp(w, "trap"))
        catch_signals();
    else if (!strcmp(w, "spin"))
        for (;;)
            MPI_Barrier(MPI_COMM_WORLD);
    else if (!strcmp(w, "nofinalize"))
        _exit(0);
    else
        return 0;
    fflush(stdout);
    return 1;
}

int main(int argc, char **argv)
{
    int rank, size;

    if (argc > 1 && !strcmp(argv[1], "nompi"))
        return 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    rank_for_handler = rank;
    for (int i = 1; i < argc; i++) {
        char *w = argv[i];
        if (*w == '@') {
            if (strtol(w + 1, &w, 10) != rank)
                continue;
            w += *w == ':';
        }
        if (!with_value(w, rank) && !plain(w, rank, size)) {
            fprintf(stderr, "probe: unknown word '%s'\n", w);
            MPI_Abort(MPI_COMM_WORLD, 98);
        }
    }
    MPI_Finalize();
    return 0;
}
