/* skeleton.c - a program made of phases that a file lists, for SimGrid's SMPI: the programs of random trials
 *
 *   skeleton SPEC N [SHARES]       one run; rank 0 prints "time: SECONDS s" unless the program has no clock. SHARES,
 *                                  "4*96,2*64": of the N parts of the work, by rank; phases that can (share_of) do
 *   skeleton SPEC --play=FILE      many runs in one simulation, without noise. A line of FILE is
 *                                  "ID N RANK,RANK,... [shares=SHARES]": these processes of MPI_COMM_WORLD run size N;
 *                                  prints "ID SECONDS" or "ID refused"
 *
 * SPEC has one setting per line; quantities "c a" mean c N^a:
 *   start S                        seconds of start-up, not part of the program's own time
 *   clock R                        resolution of the printed time in seconds; 0: nothing is printed
 *   noise SIGMA SHARE FACTOR SEED  every run takes exp(SIGMA z) times as long, z standard normal; a SHARE of all runs
 *                                  is disturbed and takes up to FACTOR times as long. RUNS (environment) names a file
 *                                  with a line for each run so far: how long it took in all. Without it there is no
 *                                  noise: a run takes as long as z = 0 says.
 *   square 1                       P must be a square whose root divides N
 *   kind PREFIX FACTOR PORTS       memory-bound work takes FACTOR times as long on hosts of that name, and so many
 *                                  processes of a host have their full speed
 *   needs OWN c a                  bytes that each process takes: OWN, and its equal part of c N^a. A run of which more
 *   room PREFIX BYTES              stand on a host of that name than it has room for fails
 *   phase SHAPE DIMS WORK c a STEPS c a BYTES c a MEMORY REDUCE
 * WORK: operations of all processes in a step; STEPS: repetitions; BYTES: data of the whole problem; MEMORY 1: the work
 * is memory-bound; REDUCE: sums over all processes in each step.
 *
 * Steps are all alike, or in a few groups of alike ones (dense): after the first ones all sleep through the rest at the
 * pace of the slowest. All work is counted (smpi_execute_flops), so times are the same from run to run.
 */
#include <mpi.h>
#include <simgrid/barrier.h>
#include <simgrid/host.h>
#include <smpi/smpi.h>

#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PHASES = 8, KINDS = 8, RANKS = 512, GROUPS = 8, DIMS = 3 };

struct growth {
    double c, a;
};

struct phase {
    char shape[16];
    int dims, memory, reduce;
    struct growth work, steps, bytes;
};

struct program {
    double start_s, clock_s, sigma, share, factor;
    unsigned long long seed;
    int square, nphases, nkinds, nrooms;
    double own_bytes;
    struct growth bytes;
    struct phase phases[PHASES];
    struct {
        char prefix[32];
        double factor;
        int ports;
    } kinds[KINDS];
    struct {
        char prefix[32];
        double bytes;
    } rooms[KINDS];
};

/* A run, as one of its processes sees it. */
struct run {
    const struct program *program;
    MPI_Comm comm;
    int rank, size;
    double N;
    const int *shares;          /* of the N parts, by rank; NULL: equal */
    double slowdown;            /* of memory-bound work here */
    char *out, *in;             /* of `room` bytes each */
    size_t room;
};

static double value(struct growth g, double N)
{
    return g.c * pow(N, g.a);
}

static void fail(const char *what)
{
    fprintf(stderr, "skeleton: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 2);
    exit(2);
}

static void read_program(const char *path, struct program *p)
{
    FILE *f = fopen(path, "r");
    char line[512];

    if (!f)
        fail("the specification cannot be read");
    memset(p, 0, sizeof *p);
    while (fgets(line, sizeof line, f)) {
        struct phase *ph = &p->phases[p->nphases < PHASES ? p->nphases : 0];
        int k = p->nkinds < KINDS ? p->nkinds : 0, m = p->nrooms < KINDS ? p->nrooms : 0;
        int good = line[0] == '#' || line[0] == '\n';

        good |= sscanf(line, "start %lf", &p->start_s) == 1 || sscanf(line, "clock %lf", &p->clock_s) == 1 ||
                sscanf(line, "square %d", &p->square) == 1 ||
                sscanf(line, "noise %lf %lf %lf %llu", &p->sigma, &p->share, &p->factor, &p->seed) == 4 ||
                sscanf(line, "needs %lf %lf %lf", &p->own_bytes, &p->bytes.c, &p->bytes.a) == 3;
        if (sscanf(line, "room %31s %lf", p->rooms[m].prefix, &p->rooms[m].bytes) == 2)
            good = ++p->nrooms <= KINDS;
        if (sscanf(line, "kind %31s %lf %d", p->kinds[k].prefix, &p->kinds[k].factor, &p->kinds[k].ports) == 3)
            good = ++p->nkinds <= KINDS;
        if (sscanf(line, "phase %15s %d %lf %lf %lf %lf %lf %lf %d %d", ph->shape, &ph->dims, &ph->work.c, &ph->work.a,
                   &ph->steps.c, &ph->steps.a, &ph->bytes.c, &ph->bytes.a, &ph->memory, &ph->reduce) == 10)
            good = ++p->nphases <= PHASES && ph->dims >= 1 && ph->dims <= DIMS;
        if (!good)
            fail(line);
    }
    fclose(f);
}

/* ---------------------------------------------------------------- work and messages */

static void pause_s(double s)
{
    struct timespec t = { (time_t)s, (long)((s - floor(s)) * 1e9) };

    if (s > 0)
        nanosleep(&t, NULL);
}

static void work(const struct run *r, const struct phase *p, double flops)
{
    if (flops > 0)
        smpi_execute_flops(flops * (p->memory ? r->slowdown : 1));
}

static int bytes_of(const struct run *r, double bytes)
{
    return (int)fmin(fmax(ceil(bytes), 1), (double)r->room);
}

static void exchange(const struct run *r, int to, int from, double bytes)
{
    int n = bytes_of(r, bytes);

    MPI_Sendrecv(r->out, n, MPI_CHAR, to < 0 ? MPI_PROC_NULL : to, 1, r->in, n, MPI_CHAR,
                 from < 0 ? MPI_PROC_NULL : from, 1, r->comm, MPI_STATUS_IGNORE);
}

static void reduce(const struct run *r, int count)
{
    double x[2] = { 1, 2 }, y[2];

    for (int i = 0; i < count && r->size > 1; i++)
        MPI_Allreduce(x, y, 2, MPI_DOUBLE, MPI_SUM, r->comm);
}

/* The largest part of N points that one of n processes has, relative to N/n. */
static double uneven(double N, int n)
{
    return ceil(N / n) / (N / n);
}

/* The part of the work that this process has. */
static double share_of(const struct run *r)
{
    return r->shares ? r->shares[r->rank] / r->N : uneven(r->N, r->size) / r->size;
}

/* ---------------------------------------------------------------- shapes: one step each */

/* Halo exchange on a grid of processes. at: part of the work and bytes of this step (levels of multigrid). */
static void halo(const struct run *r, const struct phase *p, double work_part, double edge_part)
{
    int dims[DIMS] = { 0 }, here[DIMS], stride = 1, rest = r->rank;
    double part = 1, face = value(p->bytes, r->N);

    if (p->dims == 1)
        dims[0] = r->size;
    else
        MPI_Dims_create(r->size, p->dims, dims);
    for (int i = 0; i < p->dims; i++) {
        here[i] = rest % dims[i];
        rest /= dims[i];
        part *= uneven(r->N, dims[i]);
    }
    part = r->shares && p->dims == 1 ? share_of(r) * r->size : part;
    work(r, p, work_part * part * value(p->work, r->N) / r->size);
    for (int i = 0; i < p->dims; i++) {
        double others = (double)r->size / dims[i];
        int up = here[i] + 1 < dims[i] ? r->rank + stride : -1, down = here[i] ? r->rank - stride : -1;

        if (dims[i] > 1) {
            exchange(r, up, down, edge_part * face / others);
            exchange(r, down, up, edge_part * face / others);
        }
        stride *= dims[i];
    }
}

static void step_stencil(const struct run *r, const struct phase *p, double at)
{
    (void)at;
    halo(r, p, 1, 1);
    reduce(r, p->reduce);
}

/* A V-cycle: each level has half the points in each dimension. */
static void step_multigrid(const struct run *r, const struct phase *p, double at)
{
    double part = 1, edge = 1;
    int levels = (int)fmax(log2(r->N) - 1, 1);

    (void)at;
    for (int l = 0; l < levels; l++) {
        halo(r, p, part, edge);
        part /= pow(2, p->dims);
        edge /= pow(2, p->dims - 1);
    }
    reduce(r, 1 + p->reduce);
}

/* LU: a panel is worked on by its owner, sent to all, and all update what is left of the matrix. */
static void step_dense(const struct run *r, const struct phase *p, double at)
{
    double left = 1 - at, all = value(p->work, r->N);
    int owner = (int)(at * 1000) % r->size;

    if (r->rank == owner)
        work(r, p, 0.02 * all * left);
    if (r->size > 1)
        MPI_Bcast(r->out, bytes_of(r, value(p->bytes, r->N) * left), MPI_CHAR, owner, r->comm);
    work(r, p, 3 * all * left * left * (r->shares ? share_of(r) : 1.0 / r->size));
}

static void step_transpose(const struct run *r, const struct phase *p, double at)
{
    double n = value(p->bytes, r->N) / ((double)r->size * r->size);

    (void)at;
    work(r, p, share_of(r) * value(p->work, r->N));
    for (int i = 1; i < r->size; i++)
        exchange(r, (r->rank + i) % r->size, (r->rank + r->size - i) % r->size, n);
    reduce(r, p->reduce);
}

/* Every process sees the data of every other one, passed round. */
static void step_ring(const struct run *r, const struct phase *p, double at)
{
    int right = (r->rank + 1) % r->size, left = (r->rank + r->size - 1) % r->size;

    (void)at;
    for (int i = 0; i < r->size; i++) {
        work(r, p, share_of(r) * value(p->work, r->N) / r->size);
        if (i + 1 < r->size)
            exchange(r, right, left, value(p->bytes, r->N) / r->size);
    }
}

/* SUMMA on a square grid: blocks go along rows and columns. */
static void step_grid(const struct run *r, const struct phase *p, double at)
{
    int q = (int)lround(sqrt(r->size)), row = r->rank / q, col = r->rank % q;

    (void)at;
    for (int i = 0; i < q; i++) {
        if (q > 1) {
            exchange(r, row * q + (col + 1) % q, row * q + (col + q - 1) % q, value(p->bytes, r->N) / r->size);
            exchange(r, (row + 1) % q * q + col, (row + q - 1) % q * q + col, value(p->bytes, r->N) / r->size);
        }
        work(r, p, value(p->work, r->N) / ((double)r->size * q));
    }
}

/* A sweep in blocks: each process needs a block of the one before it; there are as many blocks as the file says
 * REDUCE. */
static void step_wavefront(const struct run *r, const struct phase *p, double at)
{
    int blocks = p->reduce > 0 ? p->reduce : 8, n = bytes_of(r, value(p->bytes, r->N) / blocks);

    (void)at;
    for (int b = 0; b < blocks; b++) {
        if (r->rank > 0)
            MPI_Recv(r->in, n, MPI_CHAR, r->rank - 1, 2, r->comm, MPI_STATUS_IGNORE);
        work(r, p, share_of(r) * value(p->work, r->N) / blocks);
        if (r->rank + 1 < r->size)
            MPI_Send(r->out, n, MPI_CHAR, r->rank + 1, 2, r->comm);
    }
}

/* Rank 0 gives tasks out to who asks; REDUCE tasks in a step. */
static void step_farm(const struct run *r, const struct phase *p, double at)
{
    enum { ASK = 3, TASK = 4, END = 5 };
    int tasks = p->reduce > 0 ? p->reduce : 32, given = 0, ended = 0, n = bytes_of(r, value(p->bytes, r->N) / tasks);
    double each = value(p->work, r->N) / tasks;
    MPI_Status s;

    (void)at;
    if (r->size == 1) {
        work(r, p, each * tasks);
        return;
    }
    while (r->rank == 0 && ended < r->size - 1) {
        MPI_Recv(r->in, n, MPI_CHAR, MPI_ANY_SOURCE, ASK, r->comm, &s);
        if (given < tasks)
            MPI_Send(r->out, n, MPI_CHAR, s.MPI_SOURCE, TASK, r->comm);
        else
            MPI_Send(r->out, 1, MPI_CHAR, s.MPI_SOURCE, END, r->comm);
        ended += given++ >= tasks;
    }
    while (r->rank > 0) {
        MPI_Send(r->out, given ? n : 1, MPI_CHAR, 0, ASK, r->comm);
        MPI_Recv(r->in, n, MPI_CHAR, 0, MPI_ANY_TAG, r->comm, &s);
        if (s.MPI_TAG == END)
            break;
        given = 1;
        work(r, p, each);
    }
}

static const struct {
    const char *name;
    void (*step)(const struct run *r, const struct phase *p, double at);
    int groups;                 /* of steps: 1 where all are alike */
    int warm, kept;             /* played of each group: before, and for, the pace of the rest */
} shapes[] = {
    { "stencil", step_stencil, 1, 1, 2 }, { "multigrid", step_multigrid, 1, 1, 1 },
    { "dense", step_dense, GROUPS, 0, 1 }, { "transpose", step_transpose, 1, 0, 1 }, { "ring", step_ring, 1, 0, 1 },
    { "grid", step_grid, 1, 0, 1 }, { "wavefront", step_wavefront, 1, 1, 1 }, { "farm", step_farm, 1, 0, 1 },
};

static void together(const struct run *r)
{
    if (r->size > 1)
        MPI_Barrier(r->comm);
}

static double longest(const struct run *r, double own)
{
    double most = own;

    if (r->size > 1)
        MPI_Allreduce(&own, &most, 1, MPI_DOUBLE, MPI_MAX, r->comm);
    return most;
}

static void phase(const struct run *r, const struct phase *p)
{
    double steps = fmax(1, floor(value(p->steps, r->N))), here, mark, pace;
    size_t k = 0;
    int played;

    while (k < sizeof shapes / sizeof *shapes && strcmp(shapes[k].name, p->shape))
        k++;
    if (k == sizeof shapes / sizeof *shapes)
        fail(p->shape);
    here = steps / shapes[k].groups;
    for (int g = 0; g < shapes[k].groups; g++) {
        together(r);
        mark = MPI_Wtime();
        for (played = 0; played < shapes[k].warm + shapes[k].kept && played < here; played++) {
            if (played == shapes[k].warm) {
                together(r);
                mark = MPI_Wtime();
            }
            shapes[k].step(r, p, (g + 0.5) / shapes[k].groups);
        }
        played -= played > shapes[k].warm ? shapes[k].warm : 0;   /* since mark */
        pace = longest(r, MPI_Wtime() - mark) / played;
        here -= here > shapes[k].warm ? shapes[k].warm : 0;
        pause_s((here - played) * pace);
    }
}

/* ---------------------------------------------------------------- a run */

/* How many processes stand on this host, whose name is *name. */
static int count_here(MPI_Comm comm, int size, const char **host)
{
    const char *name = *host = sg_host_get_name(sg_host_self());
    unsigned mine = 0, all[RANKS];
    int here = 0;

    for (const char *c = name; *c; c++)
        mine = mine * 31 + (unsigned char)*c;
    all[0] = mine;
    if (size > 1)
        MPI_Allgather(&mine, 1, MPI_UNSIGNED, all, 1, MPI_UNSIGNED, comm);
    for (int i = 0; i < size; i++)
        here += all[i] == mine;
    return here;
}

static double slowdown(const struct program *p, MPI_Comm comm, int size)
{
    const char *name;
    int here = count_here(comm, size, &name);

    for (int i = 0; i < p->nkinds; i++)
        if (!strncmp(name, p->kinds[i].prefix, strlen(p->kinds[i].prefix)))
            return p->kinds[i].factor * fmax(1, (double)here / p->kinds[i].ports);
    return 1;
}

static void check_room(const struct program *p, MPI_Comm comm, double N, int size)
{
    const char *name;
    int here = p->nrooms ? count_here(comm, size, &name) : 0;

    for (int i = 0; i < p->nrooms; i++)
        if (!strncmp(name, p->rooms[i].prefix, strlen(p->rooms[i].prefix)) &&
            here * (p->own_bytes + value(p->bytes, N) / size) > p->rooms[i].bytes)
            fail("out of memory");
}

static int refused(const struct program *p, double N, int size)
{
    int q = (int)lround(sqrt(size));

    return size > RANKS || (p->square ? q * q != size || fmod(N, q) != 0 : size > N);
}

/* The program's own time, without noise; that of the process that took longest. */
static double run(const struct program *p, MPI_Comm comm, double N, const int *shares)
{
    struct run r = { .program = p, .comm = comm, .N = N, .shares = shares };
    double begin, most;

    MPI_Comm_rank(comm, &r.rank);
    MPI_Comm_size(comm, &r.size);
    for (int i = 0; i < p->nphases; i++)
        r.room = (size_t)fmin(fmax((double)r.room, value(p->phases[i].bytes, N) + 64), 1 << 24);
    r.slowdown = slowdown(p, comm, r.size);
    r.out = SMPI_SHARED_MALLOC(r.room);
    r.in = SMPI_SHARED_MALLOC(r.room);
    together(&r);
    begin = MPI_Wtime();
    for (int i = 0; i < p->nphases; i++)
        phase(&r, &p->phases[i]);
    most = longest(&r, MPI_Wtime() - begin);
    SMPI_SHARED_FREE(r.out);
    SMPI_SHARED_FREE(r.in);
    return most;
}

/* Sleeping makes a run longer, never shorter, so one with z = 0 is made that much longer too. */
static double usual(const struct program *p)
{
    return 1 + 3 * p->sigma;
}

static double uniform(unsigned long long *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

/* Of run number `index`. */
static double noise(const struct program *p, long index)
{
    unsigned long long state = p->seed + 0x632be59bd9b4e019u * (unsigned long long)index;
    double z = sqrt(-2 * log(uniform(&state))) * cos(2 * M_PI * uniform(&state)), factor;

    factor = usual(p) * exp(p->sigma * z);
    if (uniform(&state) < p->share)
        factor *= 1 + (p->factor - 1) * uniform(&state);
    return fmax(factor, 1);
}

/* Add a line for a run of t seconds without noise to the file of runs. Result: its noise. */
static double add_run(const struct program *p, double t)
{
    enum { LINE = 16 };
    const char *path = getenv("RUNS");
    int fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT, 0600) : -1;
    struct stat st;
    double factor;

    if (!path)
        return usual(p);
    if (fd < 0 || fstat(fd, &st))
        fail("the file of runs cannot be written");
    factor = noise(p, (long)st.st_size / LINE);
    if (dprintf(fd, "%15.7g\n", p->start_s + t * factor) != LINE)
        fail("the file of runs cannot be written");
    close(fd);
    return factor;
}

/* SimGrid's collective operations take other times on MPI_COMM_WORLD than on other communicators of the same processes
 * (seen with 3.32), so all runs have one of their own. */
static MPI_Comm communicator(const int *ranks, int n)
{
    MPI_Group all, some;
    MPI_Comm comm;

    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, n, ranks, &some);
    MPI_Comm_create_group(MPI_COMM_WORLD, some, 0, &comm);
    MPI_Group_free(&some);
    MPI_Group_free(&all);
    return comm;
}

/* "4*96,2*64" or "4*96,...": `size` shares that add up to N, into out. Result: out; NULL where text is NULL. */
static const int *read_shares(const char *text, int size, double N, int *out)
{
    double sum = 0;
    int n = 0, count, share, used;

    for (; text && sscanf(text, "%d*%d%n", &count, &share, &used) == 2; text += used + (text[used] == ','))
        for (; count > 0 && n < size; count--, sum += share)
            out[n++] = share;
    if (text && (n != size || sum != N))
        fail("the shares do not add up to the work");
    return text ? out : NULL;
}

static int run_one(const struct program *p, double N, const char *shares)
{
    int rank, size, ranks[RANKS], units[RANKS];
    double t, factor = 1;
    MPI_Comm comm;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (refused(p, N, size)) {
        if (rank == 0)
            fprintf(stderr, "skeleton: %g on %d processes is refused\n", N, size);
        return 2;
    }
    pause_s(p->start_s);
    for (int i = 0; i < size; i++)
        ranks[i] = i;
    comm = communicator(ranks, size);
    check_room(p, comm, N, size);
    t = run(p, comm, N, read_shares(shares, size, N, units));
    MPI_Comm_free(&comm);
    if (rank == 0)
        factor = add_run(p, t);
    if (size > 1)
        MPI_Bcast(&factor, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    pause_s(t * (factor - 1));
    t *= factor;
    if (rank == 0 && p->clock_s > 0)
        printf("time: %.9g s\n", p->clock_s * round(t / p->clock_s));
    return 0;
}

/* ---------------------------------------------------------------- many runs */

/* No two runs overlap; who waits sends nothing. */
static sg_bar_t next_run;

static void play_line(const struct program *p, const char *line)
{
    int ranks[RANKS], units[RANKS], n = 0, world, mine = 0, rank, used = 0;
    const char *shares = strstr(line, " shares=");
    MPI_Comm comm;
    double N, t;
    long id;

    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    if (sscanf(line, "%ld %lf %n", &id, &N, &used) < 2)
        fail(line);
    for (line += used; n < RANKS && sscanf(line, "%d%n", &ranks[n], &used) == 1; line += used + (line[used] == ','))
        mine |= ranks[n++] == world;
    shares = shares ? shares + strlen(" shares=") : NULL;
    if (mine && refused(p, N, n) && ranks[0] == world) {
        printf("%ld refused\n", id);
    } else if (mine && !refused(p, N, n)) {
        comm = communicator(ranks, n);
        MPI_Comm_rank(comm, &rank);
        t = run(p, comm, N, read_shares(shares, n, N, units)) * usual(p);
        if (rank == 0)
            printf("%ld %.12g\n", id, t + (p->clock_s > 0 ? 0 : p->start_s));
        MPI_Comm_free(&comm);
    }
    sg_barrier_wait(next_run);
}

static void play(const struct program *p, const char *path)
{
    FILE *f = fopen(path, "r");
    char line[4096];
    int rank, size;

    if (!f)
        fail("the list of runs cannot be read");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!next_run)
        next_run = sg_barrier_init((unsigned)size);
    while (fgets(line, sizeof line, f))
        play_line(p, line);
    fclose(f);
}

int main(int argc, char **argv)
{
    struct program p;
    int status = 0;

    MPI_Init(&argc, &argv);
    if (argc != 3 && argc != 4)
        fail("usage: skeleton SPEC N [SHARES] | SPEC --play=FILE");
    read_program(argv[1], &p);
    if (!strncmp(argv[2], "--play=", 7))
        play(&p, argv[2] + 7);
    else
        status = run_one(&p, strtod(argv[2], NULL), argv[3]);
    MPI_Finalize();
    return status;
}
