/* smpi.c - hrun-smpi, hrun's hand on SimGrid; the one program that links it, built where libsimgrid-dev is installed
 *
 * hrun-smpi hosts FILE [HOST]...
 *     Prints what SimGrid reads from a platform file (these hosts, and the routes between them), in lines: "simgrid
 *     VERSION"; for each host, in the order of their names,
 *         host SPEED CORES BANDWIDTH LATENCY ISLAND MATE-BANDWIDTH MATE-LATENCY NAME
 *     (flop/s of a core, bytes/s and s of its own link, of its route to the next host of the same kind; 0: none);
 *     "end"; then for each host, from 0, its route to itself: "loop NUMBER BANDWIDTH LATENCY". Before each question
 *     "asking FROM<TAB>TO". Before the "end", for each property that hrun knows, "property NUMBER KEY VALUE".
 *     SimGrid's own messages stand between these lines; if SimGrid aborts, they come last.
 *     Loops come last because SimGrid aborts at a host without a route to itself; such a host runs one rank at most.
 * hrun-smpi run FD PROGRAM [--cfg=NAME:VALUE]... -- FILE [ARGUMENT]...
 *     Simulate PROGRAM, which smpicc has built, as smpirun does, but without a shell between: words, standard files,
 *     signals and statuses are the program's. Descriptor FD gets SimGrid's words, one to a line, as "PRIORITY CATEGORY
 *     ACTOR TEXT" (the actor is the rank, or "maestro"), and at the end "clock SECONDS", the simulated time.
 *
 * Hosts have the same network if their own links (the first of their routes) are equal, their routes to themselves are
 * equal, and they are of one island. Two hosts are of one island unless the links between their own are THIN or FAR.
 * These limits separate links between two switches or sites from the hops and the backbone inside of one; a torus or a
 * fat tree is one island.
 */
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/link.h>
#include <simgrid/version.h>
#include <smpi/smpi.h>
#include <xbt/config.h>
#include <xbt/dynar.h>
#include <xbt/log.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Links are thin below this part of the bandwidth of both ends, and far above this multiple of the ends' latency. */
static const double THIN = 0.5, FAR = 10;
/* A platform with more islands than this counts as one island. */
enum { ISLANDS_MAX = 16 };

static const char usage[] =
    "Usage: hrun-smpi hosts FILE [HOST]...\n"
    "       hrun-smpi run FD PROGRAM [--cfg=NAME:VALUE]... -- FILE [ARGUMENT]...\n";

/* ---------------------------------------------------------------- hosts */

/* Bandwidths in bytes/s, latencies in s; 0 where there is no route. */
struct route {
    double bw, lat;
    double first_bw, first_lat;         /* of its first link */
    int split;                          /* 1: the links between its ends are thin or far */
};

struct node {
    sg_host_t host;
    double speed;
    int cores, island;
    struct route out;
};

/* "fast-2" stands before "fast-10", whatever SimGrid's order is. */
static int by_name(const void *a, const void *b)
{
    const struct node *na = a, *nb = b;

    return strverscmp(sg_host_get_name(na->host), sg_host_get_name(nb->host));
}

static int is_split(xbt_dynar_t links)
{
    unsigned long n = xbt_dynar_length(links);
    double ends_bw = 0, ends_lat = 0, inner_bw = 0, inner_lat = 0;

    for (unsigned long i = 0; i < n; i++) {
        sg_link_t l = xbt_dynar_get_as(links, (int)i, sg_link_t);
        double bw = sg_link_get_bandwidth(l), lat = sg_link_get_latency(l);

        if (i == 0 || i == n - 1) {
            ends_bw = i == 0 || bw < ends_bw ? bw : ends_bw;
            ends_lat += lat;
        } else {
            inner_bw = i == 1 || bw < inner_bw ? bw : inner_bw;
            inner_lat += lat;
        }
    }
    return n > 2 && (inner_bw < THIN * ends_bw || (ends_lat > 0 && inner_lat > FAR * ends_lat));
}

/* Without a route the process ends, by SimGrid or here; so the question is printed first. */
static struct route find_route(sg_host_t from, sg_host_t to)
{
    struct route r = { 0 };
    xbt_dynar_t links = xbt_dynar_new(sizeof(sg_link_t), NULL);

    printf("asking %s\t%s\n", sg_host_get_name(from), sg_host_get_name(to));
    fflush(stdout);
    sg_host_get_route(from, to, links);
    if (xbt_dynar_length(links)) {
        sg_link_t first = xbt_dynar_get_as(links, 0, sg_link_t);

        r.bw = sg_host_get_route_bandwidth(from, to);
        r.lat = sg_host_get_route_latency(from, to);
        r.first_bw = sg_link_get_bandwidth(first);
        r.first_lat = sg_link_get_latency(first);
        r.split = is_split(links);
    } else if (from != to) {
        exit(1);
    }
    xbt_dynar_free(&links);
    return r;
}

/* Number the islands; the first host of each stands for it. */
static void find_islands(struct node *v, size_t n)
{
    size_t leaders[ISLANDS_MAX];
    int count = 0, k;

    for (size_t i = 0; i < n && count <= ISLANDS_MAX; i++) {
        for (k = 0; k < count && find_route(v[leaders[k]].host, v[i].host).split; k++)
            ;
        v[i].island = k;
        if (k == count && count++ < ISLANDS_MAX)
            leaders[k] = i;
    }
    for (size_t i = 0; i < n && count > ISLANDS_MAX; i++)
        v[i].island = 0;
}

static int same_kind(const struct node *a, const struct node *b)
{
    return a->speed == b->speed && a->cores == b->cores && a->island == b->island &&
           a->out.first_bw == b->out.first_bw && a->out.first_lat == b->out.first_lat;
}

/* Print the properties that hrun knows. They hold what platform files of SimGrid have no keys for. */
static void print_properties(sg_host_t host, size_t i)
{
    static const char *const keys[] = { "memory_bytes", "cost_per_hour", "power_w" };

    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        const char *value = sg_host_get_property_value(host, keys[k]);

        if (value && !strpbrk(value, "\n"))
            printf("property %zu %s %s\n", i, keys[k], value);
    }
}

/* A platform of 16384 hosts takes 80 MB; one line of a platform file can ask for a billion hosts. */
enum { HOSTS_MEMORY = 512 << 20 };

/* chosen: names up to NULL; if there are none, all hosts */
static int print_hosts(const char *file, char *const *chosen)
{
    const struct rlimit memory = { HOSTS_MEMORY, HOSTS_MEMORY };
    char *words[] = { (char *)"hrun-smpi", (char *)"--log=root.fmt:%m%n", (char *)"--log=root.thres:error", NULL };
    int count = 3;
    struct stat st;
    size_t n = 0, all;
    sg_host_t *list;
    struct node *v;

    if (!stat(file, &st) && !S_ISREG(st.st_mode)) {
        fprintf(stderr, "%s is not a regular file\n", file);
        return 1;
    }
    setrlimit(RLIMIT_AS, &memory);
    simgrid_init(&count, words);
    simgrid_load_platform(file);
    simgrid_run();      /* an empty run: routes by Floyd, Dijkstra and the like are known only after a run has begun */
    printf("simgrid %d.%d\n", SIMGRID_VERSION_MAJOR, SIMGRID_VERSION_MINOR);
    all = sg_host_count();
    list = all ? sg_host_list() : NULL; /* sg_host_list fails without hosts */
    v = calloc(all + 1, sizeof *v);
    if (!v)
        return 1;
    for (size_t i = 0; i < all; i++) {
        char *const *name = chosen;

        while (*name && strcmp(*name, sg_host_get_name(list[i])))
            name++;
        if (*name || !*chosen)
            v[n++] = (struct node){ .host = list[i], .speed = sg_host_get_speed(list[i]),
                                    .cores = sg_host_core_count(list[i]) };
    }
    qsort(v, n, sizeof *v, by_name);
    for (size_t i = 0; i < n && n > 1; i++)
        v[i].out = find_route(v[i].host, v[i ? 0 : 1].host);
    find_islands(v, n);
    for (size_t i = 0; i < n; i++) {
        struct route mate = { 0 };

        for (size_t k = 1; k < n && !mate.bw; k++)
            if (same_kind(&v[i], &v[(i + k) % n]))
                mate = find_route(v[i].host, v[(i + k) % n].host);
        printf("host %.17g %d %.17g %.17g %d %.17g %.17g %s\n", v[i].speed, v[i].cores, v[i].out.first_bw,
               v[i].out.first_lat, v[i].island, mate.bw, mate.lat, sg_host_get_name(v[i].host));
    }
    for (size_t i = 0; i < n; i++)
        print_properties(v[i].host, i);
    printf("end\n");
    for (size_t i = 0; i < n; i++) {
        struct route loop = find_route(v[i].host, v[i].host);

        printf("loop %zu %.17g %.17g\n", i, loop.bw, loop.lat);
    }
    free(v);
    fflush(stdout);
    _exit(0);       /* nothing has run: there is nothing to be torn down */
}

/* ---------------------------------------------------------------- run */

static int simulate(int argc, char **argv)
{
    char *end;
    long fd = strtol(argv[2], &end, 10);
    FILE *words = *end ? NULL : fdopen((int)fd, "w");
    int status;

    if (!words || fcntl((int)fd, F_SETFD, FD_CLOEXEC) || setvbuf(words, NULL, _IOLBF, BUFSIZ)) {
        perror("hrun-smpi: descriptor for SimGrid's words");
        return 125;
    }
    xbt_log_appender_set(&_XBT_LOGV(XBT_LOG_ROOT_CAT), xbt_log_appender_stream(words));
    xbt_log_control_set("root.fmt:%p%e%c%e%a%e%m%n");
    status = smpi_main(argv[3], argc - 3, argv + 3);
    fprintf(words, "clock %.17g\n", simgrid_get_clock());
    fflush(words);
    return status;
}

int main(int argc, char **argv)
{
    if (argc >= 3 && !strcmp(argv[1], "hosts"))
        return print_hosts(argv[2], argv + 3);
    if (argc > 5 && !strcmp(argv[1], "run"))
        return simulate(argc, argv);
    fputs(usage, stderr);
    return 125;
}
