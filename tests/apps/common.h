/* common.h - what the test applications share: options, timing, messages, the order of a run
 *
 * Purpose: an application fills one struct app_kernel (a small table of functions) and calls app_main. Rank 0
 * then prints four lines:
 *     time: 1.234567 s               median over --repeat runs of the largest time of any rank
 *     check: ok (residual 1.2e-3)    or "FAILED"; the residual is scaled, the application says how
 *     result: ...                    figures to compare between runs
 *     memory: 50204672 bytes         the largest resident size that any rank has had
 * With a list of sizes, as in "lu 200,400,800 --repeat 3", one start measures them all: --repeat rounds through the
 * list (a drift of the machine then meets all sizes alike), a line for each run, the check in the last round:
 *     N=200 run 1: 0.0123 s
 *     N=200 check: ok (residual 1.2e-3)
 *     N=50 refused                   the rule excludes this size; why stands on standard error
 * Exit status: 0; 1 the check failed; 2 a size or option that cannot be used (one message, from rank 0);
 * 3 not enough memory. All ranks end with the same status and none aborts.
 * Invariants: no mutable globals and no MPI calls by other threads than the first, so that the applications
 * also run under simulators that hold all ranks in one process; computation and communication stand in
 * separate functions; no collective is called on one process.
 */
#ifndef HRUN_TESTS_APPS_COMMON_H
#define HRUN_TESTS_APPS_COMMON_H

#include <errno.h>
#include <float.h>
#include <math.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "play.h"

enum { APP_OK = 0, APP_WRONG = 1, APP_REFUSED = 2, APP_NO_MEMORY = 3 };
enum { APP_REPEAT_MAX = 1000, APP_SIZES_MAX = 100 };

/* Scaled residuals below this pass, as in HPL: a backward stable method stays near 1. */
#define APP_RESIDUAL_MAX 16.0

/* A whole-number option "-b 32", "--block 32" or "--block=32". The table ends with a NULL name. */
struct app_option {
    const char *name;
    char sym;               /* short form, or 0 */
    long min, max;
    long value;             /* the default, then what the user gave */
    const char *help;
};

struct app {
    const char *name;
    MPI_Comm comm;          /* of all processes of this run */
    int rank, size;
    long N;                 /* the size that is run now, of sizes[nsizes] */
    long sizes[APP_SIZES_MAX];
    int nsizes;
    const char *gate;       /* --gate, or NULL */
    const char *play;       /* --play, or NULL; of skeletons alone */
    const char *shares;     /* --shares, or NULL */
    const char *owners;     /* --owners, or NULL */
    struct app_arena *arena; /* of skeletons */
    int quiet;              /* 1: app_refuse says nothing */
    struct app_option *options;  /* those of the application */
    long repeat;
    int spoil;              /* 1: disturb one number of the result, so that the check must fail */
};

struct app_verdict {
    double residual;
    int ok;
    char result[128];
};

struct app_kernel {
    const char *name;
    const char *title;
    long n_min, n_max;
    /* Does the rule accept N on this many processes? APP_OK, or what app_refuse gave. May be NULL. */
    int (*allowed)(const struct app *a);
    /* Allocate and set up. NULL when memory ran out. */
    void *(*create)(const struct app *a);
    void (*destroy)(void *state);
    void (*prepare)(const struct app *a, void *state);   /* before each run, not timed */
    void (*solve)(const struct app *a, void *state);     /* timed */
    void (*check)(const struct app *a, void *state, struct app_verdict *v);
};

/* ---------------------------------------------------------------- messages */

__attribute__((format(printf, 2, 3), unused))
static int app_refuse(const struct app *a, const char *fmt, ...)
{
    va_list ap;

    if (a->rank == 0 && !a->quiet) {
        fprintf(stderr, "%s: ", a->name);
        va_start(ap, fmt);
        vfprintf(stderr, fmt, ap);
        va_end(ap);
        fputc('\n', stderr);
    }
    return APP_REFUSED;
}

/* ---------------------------------------------------------------- numbers */

/* The splitmix64 finaliser: a bijection that scatters neighbouring counters over all 64 bits. */
__attribute__((unused)) static inline uint64_t app_mix(uint64_t z)
{
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Random number i of stream s, uniform in [-0.5, 0.5): any rank makes any of them alone. */
__attribute__((unused)) static inline double app_random(uint64_t stream, uint64_t i)
{
    return (double)(app_mix(app_mix(stream) ^ i) >> 11) * 0x1p-53 - 0.5;
}

/* The larger of m and |x|; a NaN, once met, stays, so that a check cannot overlook it. */
__attribute__((unused)) static inline double app_max_abs(double m, double x)
{
    return isnan(m) || fabs(x) <= m ? m : fabs(x);
}

/* The part of a checksum that belongs to the value at global index i; parts are added modulo 2^64, so the sum
 * does not depend on which rank holds what, but on every bit of every value. */
__attribute__((unused)) static inline uint64_t app_hash(uint64_t i, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return app_mix(app_mix(i) ^ bits);
}

/* Rows lo..hi-1 of n belong to part `rank` of `size`; parts differ by at most one row. */
__attribute__((unused)) static inline void app_part(long n, int rank, int size, long *lo, long *hi)
{
    *lo = n * rank / size;
    *hi = n * (rank + 1) / size;
}

/* The n numbers of --NAME, "4*96,2*64" or "96,64", none below `least`, into value[n]; what they belong to. APP_OK, or
 * what app_refuse gave. */
static int app_list(const struct app *a, const char *name, const char *text, double least, int n, const char *of,
                    double *value)
{
    const char *p = text;
    int have = 0;

    for (; *p; p += *p == ',') {
        long count = 1;
        double v;
        char *end;
        int used = 0;

        if (sscanf(p, "%ld*%n", &count, &used) == 1 && used)
            p += used;
        else
            count = 1;
        v = *p >= '0' && *p <= '9' ? strtod(p, &end) : -1;
        if (!(v >= least) || !isfinite(v) || (*end && *end != ',') || count < 1)
            return app_refuse(a, "--%s=%s: %s are COUNT*NUMBER,..., not '%s'", name, text, name, p);
        if (count > n - have)
            return app_refuse(a, "--%s=%s: more %s than the %d %s", name, text, name, n, of);
        while (count-- > 0)
            value[have++] = v;
        p = end;
    }
    return have == n ? APP_OK : app_refuse(a, "--%s=%s: %d of the %s for %d %s", name, text, have, name, n, of);
}

/* The shares of --shares, one for each rank into share[a->size]. APP_OK, or what app_refuse gave. */
__attribute__((unused))
static int app_shares(const struct app *a, double *share)
{
    return app_list(a, "shares", a->shares, DBL_MIN, a->size, "processes", share);
}

/* The shares of --shares, which are whole and come to n in all; `what` they are. APP_OK, or what app_refuse gave. */
__attribute__((unused))
static int app_whole_shares(const struct app *a, long n, const char *what, double *share)
{
    int status = app_shares(a, share);
    double sum = 0;

    for (int r = 0; r < a->size && status == APP_OK; r++) {
        sum += share[r];
        if (share[r] < 1 || share[r] != floor(share[r]))
            status = app_refuse(a, "--shares=%s: %s are whole, not %.10g", a->shares, what, share[r]);
    }
    if (status == APP_OK && sum != (double)n)
        status = app_refuse(a, "--shares=%s: %.10g %s in all, not %ld", a->shares, sum, what, n);
    return status;
}

/* Units lo..hi-1 of n belong to this rank: as many as --shares says, else as app_part deals them. APP_OK, or what
 * app_refuse gave. */
__attribute__((unused))
static int app_divide(const struct app *a, long n, const char *what, long *lo, long *hi)
{
    double *share = a->shares ? malloc((size_t)a->size * sizeof *share) : NULL;
    int status;

    app_part(n, a->rank, a->size, lo, hi);
    if (!a->shares)
        return APP_OK;
    status = share ? app_whole_shares(a, n, what, share) : app_refuse(a, "not enough memory");
    if (status == APP_OK) {
        *lo = 0;
        for (int r = 0; r < a->rank; r++)
            *lo += (long)share[r];
        *hi = *lo + (long)share[a->rank];
    }
    free(share);
    return status;
}

/* ---------------------------------------------------------------- communication */

/* In place over all ranks. Not called on one process: some simulated collectives do not bear it. */
__attribute__((unused))
static void app_allreduce(const struct app *a, void *data, int count, MPI_Datatype type, MPI_Op op)
{
    if (a->size > 1)
        MPI_Allreduce(MPI_IN_PLACE, data, count, type, op, a->comm);
}

static double app_time_start(const struct app *a)
{
    if (a->size > 1)
        MPI_Barrier(a->comm);
    return MPI_Wtime();
}

/* Seconds since start, on the rank that took longest. */
static double app_time_stop(const struct app *a, double start)
{
    double t = MPI_Wtime() - start;

    app_allreduce(a, &t, 1, MPI_DOUBLE, MPI_MAX);
    return t;
}

/* ---------------------------------------------------------------- options */

/* A decimal whole number in min..max, nothing before or behind it. */
static int app_number(const char *text, long min, long max, long *out)
{
    char *end;
    long v;

    if (!text || text[0] < '0' || text[0] > '9')
        return -1;
    errno = 0;
    v = strtol(text, &end, 10);
    if (errno || *end || v < min || v > max)
        return -1;
    *out = v;
    return 0;
}

static void app_usage(const struct app *a, const struct app_kernel *k, const struct app_option *common)
{
    const struct app_option *tables[2] = { a->options, common };

    if (a->rank)
        return;
    printf("usage: %s N[,N...] [options]\n%s, N from %ld to %ld\n", k->name, k->title, k->n_min, k->n_max);
    for (int t = 0; t < 2; t++)
        for (const struct app_option *o = tables[t]; o->name; o++)
            printf("  -%c, --%-10s %s (default %ld)\n", o->sym, o->name, o->help, o->value);
    printf("      --shares=LIST work of each rank, COUNT*SHARE,..., for applications that divide by it\n");
    printf("      --owners=LIST rank of each unit of work, COUNT*RANK,..., for applications that are told the order\n");
    printf("      --gate=SOCKET wait there before the first run, stay until after the last\n");
    fflush(stdout);
}

/* The option that `word` names; *value becomes what follows "=", else NULL. */
static struct app_option *app_find(struct app_option *table, const char *word, const char **value)
{
    *value = NULL;
    for (struct app_option *o = table; o->name; o++) {
        size_t len = strlen(o->name);
        if (word[0] == '-' && word[1] == o->sym && !word[2])
            return o;
        if (strncmp(word, "--", 2) || strncmp(word + 2, o->name, len))
            continue;
        if (word[2 + len] == '=')
            *value = word + 2 + len + 1;
        if (*value || !word[2 + len])
            return o;
    }
    return NULL;
}

/* "200" or "200,400,800". -1 go on, else the exit status. */
static int app_parse_sizes(struct app *a, const struct app_kernel *k, const char *text)
{
    char word[32];
    size_t len;

    for (a->nsizes = 0; a->nsizes < APP_SIZES_MAX; text += len + 1) {
        len = strcspn(text, ",");
        snprintf(word, sizeof word, "%.*s", (int)len, text);
        if (len >= sizeof word || app_number(word, k->n_min, k->n_max, &a->sizes[a->nsizes]))
            return app_refuse(a, "N must be a whole number from %ld to %ld, not '%.*s'", k->n_min, k->n_max, (int)len,
                              text);
        a->nsizes++;
        if (!text[len])
            return -1;
    }
    return app_refuse(a, "more than %d sizes", APP_SIZES_MAX);
}

/* Result: -1 go on, else the exit status. */
static int app_parse(struct app *a, const struct app_kernel *k, int argc, char **argv)
{
    struct app_option common[] = {
        { "repeat", 'r', 1, APP_REPEAT_MAX, 1, "runs; the time is their median" },
        { "spoil", 'x', 0, 1, 0, "1 disturbs the result, so that the check must fail" },
        { NULL, 0, 0, 0, 0, NULL }
    };
    struct app_option *o;
    const char *value;
    int status;

    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-h") || !strcmp(argv[i], "--help")) {
            app_usage(a, k, common);
            return APP_OK;
        }
        if (argv[i][0] != '-' && !a->nsizes) {
            status = app_parse_sizes(a, k, argv[i]);
            if (status >= 0)
                return status;
            continue;
        }
        if (!strncmp(argv[i], "--gate=", 7)) {
            a->gate = argv[i] + 7;
            continue;
        }
        if (!strncmp(argv[i], "--shares", 8) && (!argv[i][8] || argv[i][8] == '=')) {
            a->shares = argv[i][8] ? argv[i] + 9 : argv[i + 1] ? argv[++i] : "";
            continue;
        }
        if (!strncmp(argv[i], "--owners=", 9)) {
            a->owners = argv[i] + 9;
            continue;
        }
        if (APP_PLAYED && !strncmp(argv[i], "--play=", 7)) {
            a->play = argv[i] + 7;
            continue;
        }
        o = app_find(a->options, argv[i], &value);
        if (!o)
            o = app_find(common, argv[i], &value);
        if (!o)
            return app_refuse(a, "unexpected '%s'; '%s --help' lists the options", argv[i], k->name);
        if (!value)
            value = i + 1 < argc ? argv[++i] : NULL;
        if (app_number(value, o->min, o->max, &o->value))
            return app_refuse(a, "--%s needs a whole number from %ld to %ld, not '%s'", o->name, o->min,
                              o->max, value ? value : "");
    }
    if (!a->nsizes && !a->play)
        return app_refuse(a, "the size is missing; usage: %s N [options]", k->name);
    a->N = a->sizes[0];
    a->repeat = common[0].value;
    a->spoil = (int)common[1].value;
    return -1;
}

/* ---------------------------------------------------------------- the run */

static int app_compare(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;

    return (a > b) - (a < b);
}

static double app_median(double *t, long n)
{
    qsort(t, (size_t)n, sizeof *t, app_compare);
    return n % 2 ? t[n / 2] : 0.5 * (t[n / 2 - 1] + t[n / 2]);
}

/* Bytes; over all ranks. getrusage counts in KiB. */
static double app_memory(const struct app *a)
{
    struct rusage use;
    double bytes = getrusage(RUSAGE_SELF, &use) ? 0.0 : 1024.0 * (double)use.ru_maxrss;

    app_allreduce(a, &bytes, 1, MPI_DOUBLE, MPI_MAX);
    return bytes;
}

/* Room for the size a->N on all ranks. Result: APP_OK, or APP_NO_MEMORY with a message and no state. */
static int app_create(const struct app *a, const struct app_kernel *k, void **state)
{
    int have;

    *state = k->create(a);
    have = *state != NULL;
    app_allreduce(a, &have, 1, MPI_INT, MPI_MIN);
    if (have)
        return APP_OK;
    app_refuse(a, "not enough memory for N=%ld on %d process%s", a->N, a->size, a->size == 1 ? "" : "es");
    if (*state)
        k->destroy(*state);
    return APP_NO_MEMORY;
}

/* Seconds of one run. */
static double app_solve(const struct app *a, const struct app_kernel *k, void *state)
{
    double start;

    if (!APP_PLAYED)
        k->prepare(a, state);
    start = app_time_start(a);
    k->solve(a, state);
    return app_time_stop(a, start);
}

static int app_check(const struct app *a, const struct app_kernel *k, void *state, struct app_verdict *v)
{
    if (APP_PLAYED) {
        v->ok = 1;
        snprintf(v->result, sizeof v->result, "played");
        return APP_OK;
    }
    k->check(a, state, v);
    /* Every rank holds the same reduced numbers, yet one verdict for all costs nothing. */
    app_allreduce(a, &v->ok, 1, MPI_INT, MPI_MIN);
    return v->ok ? APP_OK : APP_WRONG;
}

static int app_run(const struct app *a, const struct app_kernel *k)
{
    struct app_verdict v = { 0 };
    double t[APP_REPEAT_MAX], bytes;
    void *state;
    int status = app_create(a, k, &state);

    if (status)
        return status;
    for (long r = 0; r < a->repeat; r++)
        t[r] = app_solve(a, k, state);
    status = app_check(a, k, state, &v);
    bytes = app_memory(a);
    if (a->rank == 0) {
        printf("time: %.7g s\n", app_median(t, a->repeat));
        printf("check: %s (residual %.3g)\n", v.ok ? "ok" : "FAILED", v.residual);
        printf("result: %s\n", v.result);
        printf("memory: %.0f bytes\n", bytes);
        fflush(stdout);
    }
    k->destroy(state);
    return status;
}

/* Round `round` (from 1) of one size of a list. */
static int app_run_listed(const struct app *a, const struct app_kernel *k, long round)
{
    struct app_verdict v = { 0 };
    void *state;
    int status = app_create(a, k, &state);
    double t;

    if (status)
        return status;
    t = app_solve(a, k, state);
    if (a->rank == 0)
        printf("N=%ld run %ld: %.7g s\n", a->N, round, t);
    if (round == a->repeat) {
        status = app_check(a, k, state, &v);
        if (a->rank == 0)
            printf("N=%ld check: %s (residual %.3g)\n", a->N, v.ok ? "ok" : "FAILED", v.residual);
    }
    if (a->rank == 0)
        fflush(stdout);
    k->destroy(state);
    return status;
}

/* A list of sizes. Result: APP_OK when all that the rule accepts went well; APP_REFUSED when it accepts none. */
static int app_run_list(struct app *a, const struct app_kernel *k)
{
    int accepted = 0, status;

    for (int i = 0; i < a->nsizes; i++) {
        a->N = a->sizes[i];
        if (!k->allowed || k->allowed(a) == APP_OK) {
            a->sizes[accepted++] = a->N;
        } else if (a->rank == 0) {
            printf("N=%ld refused\n", a->N);
            fflush(stdout);
        }
    }
    for (long round = 1; round <= a->repeat; round++)
        for (int i = 0; i < accepted; i++) {
            a->N = a->sizes[i];
            status = app_run_listed(a, k, round);
            if (status)
                return status;
        }
    return accepted ? APP_OK : APP_REFUSED;
}

/* ---------------------------------------------------------------- the gate */

/* All ranks have started: rank 0 connects to the socket, and all go on when it answers, with whatever bytes. A test
 * bed can so do something between the start and the first run. The connection stays open: *fd, for app_leave_gate.
 * Result: APP_OK, or APP_REFUSED with a message. */
static int app_wait_at_gate(const struct app *a, int *fd)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    int open = 1;
    char answer;

    *fd = -1;
    if (a->size > 1)
        MPI_Barrier(a->comm);
    if (a->rank == 0) {
        snprintf(at.sun_path, sizeof at.sun_path, "%s", a->gate);
        *fd = socket(AF_UNIX, SOCK_STREAM, 0);
        open = strlen(a->gate) < sizeof at.sun_path && *fd >= 0 &&
               !connect(*fd, (struct sockaddr *)&at, sizeof at) && read(*fd, &answer, 1) == 1;
    }
    app_allreduce(a, &open, 1, MPI_INT, MPI_MIN);
    return open ? APP_OK : app_refuse(a, "nobody answers at --gate=%s", a->gate);
}

static void app_leave_gate(int fd)
{
    if (fd >= 0)
        close(fd);
}

/* ---------------------------------------------------------------- many runs in one simulation */

#ifdef HRUN_SMPI
/* One line of a list of runs: "N RANK,RANK,...": the processes of MPI_COMM_WORLD that take part, in their order. The
 * first of them prints "LINE SECONDS", the line counted from 1, or "LINE refused". The others wait, which costs them
 * nothing; no two runs overlap. Result: APP_OK, or APP_REFUSED with a message. */
static int app_play_line(struct app *a, const struct app_kernel *k, long number, const char *text)
{
    int ranks[512], n = 0, world, mine = 0, status = APP_OK, used;
    MPI_Group all, some;
    void *state;
    double t;

    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    if (sscanf(text, "%ld%n", &a->N, &used) != 1)
        return app_refuse(a, "%s:%ld: not a size and ranks", a->play, number);
    for (text += used; n < 512 && sscanf(text, " %d%n", &ranks[n], &used) == 1; text += used + (text[used] == ',')) {
        mine |= ranks[n] == world;
        n++;
    }
    if (mine) {
        MPI_Comm_group(MPI_COMM_WORLD, &all);
        MPI_Group_incl(all, n, ranks, &some);
        MPI_Comm_create_group(MPI_COMM_WORLD, some, 0, &a->comm);
        MPI_Comm_rank(a->comm, &a->rank);
        MPI_Comm_size(a->comm, &a->size);
        a->quiet = 1;
        status = k->allowed ? k->allowed(a) : APP_OK;
        a->quiet = 0;
        if (status == APP_OK && (status = app_create(a, k, &state)) == APP_OK) {
            t = app_solve(a, k, state);
            if (a->rank == 0)
                printf("%ld %.12g\n", number, t);
            k->destroy(state);
        } else if (a->rank == 0) {
            printf("%ld refused\n", number);
        }
        MPI_Comm_free(&a->comm);
        MPI_Group_free(&some);
        a->comm = MPI_COMM_WORLD;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return APP_OK;
}

static int app_play(struct app *a, const struct app_kernel *k)
{
    FILE *f = fopen(a->play, "r");
    char line[2048];
    int status = APP_OK;

    if (!f)
        return app_refuse(a, "%s cannot be read: %s", a->play, strerror(errno));
    for (long number = 1; status == APP_OK && fgets(line, sizeof line, f); number++)
        status = app_play_line(a, k, number, line);
    fclose(f);
    return status;
}
#else
static int app_play(struct app *a, const struct app_kernel *k)
{
    (void)k;
    return app_refuse(a, "only skeletons play lists of runs");
}
#endif

/* app_main for an application that makes threads (wanted: MPI_THREAD_FUNNELED) or does not. */
static int app_main_as(int wanted, const struct app_kernel *k, struct app_option *options, int argc, char **argv)
{
    struct app_arena arena = { NULL, 0 };
    struct app a = { .name = k->name, .options = options, .comm = MPI_COMM_WORLD, .arena = &arena };
    int level, status, gate = -1;

    MPI_Init_thread(&argc, &argv, wanted, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &a.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &a.size);
    status = app_parse(&a, k, argc, argv);
    if (status < 0 && level < wanted)
        status = app_refuse(&a, "this MPI library does not bear threads");
    if (status < 0 && a.play) {
        status = app_play(&a, k);
    } else if (status < 0) {
        status = k->allowed && a.nsizes == 1 ? k->allowed(&a) : APP_OK;
        if (status == APP_OK && a.gate)
            status = app_wait_at_gate(&a, &gate);
        if (status == APP_OK)
            status = a.nsizes == 1 ? app_run(&a, k) : app_run_list(&a, k);
        app_leave_gate(gate);
    }
    MPI_Finalize();
    return status;
}

/* options: the application's own, may hold only the end row. Result: the exit status. */
__attribute__((unused))
static int app_main(const struct app_kernel *k, struct app_option *options, int argc, char **argv)
{
    return app_main_as(MPI_THREAD_SINGLE, k, options, argc, argv);
}

#endif
