/* test_launch_flux.c - engine flux without Flux: its words, the hosts, the jobspec, the command, what is refused */
#include "tap.h"

#include "launch/engines/engines.h"
#include "launch/engines/flux.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *line;
    enum hrun_flux_kind kind;
    int rank, status;
    const char *text;
} lines[] = {
    { "0.024s: job.depend", HRUN_FLUX_QUEUED, 0, 0, NULL },
    { "0.028s: job.alloc {\"annotations\":{}}", HRUN_FLUX_NOTHING, 0, 0, NULL },
    { "0.070s: exec.shell.start {\"taskmap\":{\"version\":1}}", HRUN_FLUX_STARTED, 0, 0, NULL },
    { "0.076s: exec.shell.task-exit {\"rank\":0}", HRUN_FLUX_NOTHING, 0, 0, NULL },
    { HRUN_RANK_ENDED "3 11", HRUN_FLUX_ENDED, 3, 11, NULL },
    { HRUN_RANK_ENDED "3", HRUN_FLUX_PROGRAM, 0, 0, NULL },
    { "0.177s: job.exception f4ancLp7 type=exec severity=0 node failure on h2 (rank 1)", HRUN_FLUX_LOST, 0, 0, "h2" },
    { "0.177s: job.exception f4ancLp7 type=node-failure severity=2 node failure on h2 (shell rank 1)", HRUN_FLUX_LOST,
      0, 0, "h2" },
    { "0.177s: job.exception f4ancLp7 type=alloc severity=0 unsatisfiable request", HRUN_FLUX_COMPLAINT, 0, 0,
      "unsatisfiable request" },
    { "0.049s: flux-shell[1]: ERROR: error distributing 7 tasks", HRUN_FLUX_COMPLAINT, 0, 0,
      "error distributing 7 tasks" },
    { "0.049s: flux-shell[0]:  WARN: odd", HRUN_FLUX_NOTHING, 0, 0, NULL },
    { "flux-job: task(s) exited with exit code 3", HRUN_FLUX_NOTHING, 0, 0, NULL },
    { "0.049s: elapsed", HRUN_FLUX_PROGRAM, 0, 0, NULL },
    { "12 steps", HRUN_FLUX_PROGRAM, 0, 0, NULL },
    { "", HRUN_FLUX_PROGRAM, 0, 0, NULL },
};

static void words(void)
{
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct hrun_flux_said s;
        char *text;

        hrun_flux_read(lines[i].line, &s);
        is_int((int)s.kind, (int)lines[i].kind, "kind of '%s'", lines[i].line);
        if (lines[i].kind == HRUN_FLUX_ENDED)
            ok(s.rank == lines[i].rank && s.status == lines[i].status, "rank %d, status %d", s.rank, s.status);
        if (!lines[i].text)
            continue;
        text = hrun_strf("%.*s", (int)s.len, s.text);
        is_str(text, lines[i].text, "text");
        free(text);
    }
}

/* ---------------------------------------------------------------- the program's standard error */

struct heard {
    struct hrun_buf program;
    int nended, nothers;
};

static void put(void *ctx, const char *data, size_t len)
{
    hrun_buf_add(&((struct heard *)ctx)->program, data, len);
}

static void hear(void *ctx, const struct hrun_flux_said *said)
{
    struct heard *h = ctx;

    *(said->kind == HRUN_FLUX_ENDED ? &h->nended : &h->nothers) += 1;
}

static void sieve_one(const char *what, int labels, const char *stream, const char *want, int nended, int nothers)
{
    for (size_t step = 1; step <= strlen(stream); step++) {
        struct heard h = { .program = HRUN_BUF_INIT };
        struct hrun_flux_ears ears = { put, hear, &h, labels };
        struct hrun_flux_sieve s = { .held = HRUN_BUF_INIT };

        for (size_t at = 0; at < strlen(stream); at += step)
            hrun_flux_sieve(&s, &ears, stream + at, at + step < strlen(stream) ? step : strlen(stream) - at);
        hrun_flux_sieve_end(&s, &ears);
        if (strcmp(h.program.data, want) || h.nended != nended || h.nothers != nothers)
            ok(0, "%s, in pieces of %zu: '%s', %d and %d lines", what, step, h.program.data, h.nended, h.nothers);
        hrun_buf_release(&h.program);
        hrun_buf_release(&s.held);
    }
    ok(1, "%s, cut anywhere", what);
}

static void sieves(void)
{
    static char big[6000];
    struct heard h = { .program = HRUN_BUF_INIT };
    struct hrun_flux_ears ears = { put, hear, &h, 0 };
    struct hrun_flux_sieve s = { .held = HRUN_BUF_INIT };

    sieve_one("events and text", 0, "0.1s: job.start\nhello\n12 steps\n\n0.2s: job.clean\nfar",
              "hello\n12 steps\n\nfar", 0, 2);
    sieve_one("an end behind half a line", 0, "half" HRUN_RANK_ENDED "0 256\n0.2s: job.clean\n" HRUN_RANK_ENDED "1 0\n",
              "half", 2, 1);
    sieve_one("labels", 1, "3: text\n3: " HRUN_RANK_ENDED "3 0\n1: half" HRUN_RANK_ENDED "1 0\nflux-job: x\n",
              "3: text\n1: half\n", 2, 1);
    sieve_one("another mark", 0, "a\x1ehrun-trace r,1\nb\x1e\n", "a\x1ehrun-trace r,1\nb\x1e\n", 0, 0);
    memset(big, '7', sizeof big);
    big[sizeof big - 1] = '\n';
    hrun_flux_sieve(&s, &ears, big, sizeof big - 1);
    hrun_flux_sieve(&s, &ears, big + sizeof big - 1, 1);
    ok(h.program.len == sizeof big && !memcmp(h.program.data, big, sizeof big), "a long line is passed on whole");
    is_int(h.nended + h.nothers, 0, "and is none of Flux's");
    hrun_buf_release(&h.program);
    hrun_buf_release(&s.held);
}

/* ---------------------------------------------------------------- the instance */

static const char resources[] =
    "{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"0-1,3\",\"children\":{\"core\":\"0-1\"}},"
    "{\"rank\":\"2\",\"children\":{\"core\":\"0,2,4-5\"}}],\"starttime\":0.0,\"expiration\":0.0,"
    "\"nodelist\":[\"h[1-2],x7\",\"h9\"]}}";

static void instance(void)
{
    static const char *const bad[] = {
        "", "{}", "{\"execution\":{\"R_lite\":[],\"nodelist\":[]}}",
        "{\"execution\":{\"R_lite\":[{\"rank\":\"0\",\"children\":{\"core\":\"0\"}}],\"nodelist\":[\"a,b\"]}}",
        "{\"execution\":{\"R_lite\":[{\"rank\":\"0-7\",\"children\":{\"core\":\"0\"}}],\"nodelist\":[\"a,b\"]}}",
        "{\"execution\":{\"R_lite\":[{\"rank\":\"0-1\",\"children\":{\"core\":\"x\"}}],\"nodelist\":[\"a,b\"]}}",
        "{\"execution\":{\"R_lite\":[{\"rank\":\"0-1\",\"children\":{\"core\":\"0\"}}],\"nodelist\":[\"a[\",7]}}",
    };
    struct hrun_allocation a;
    struct hrun_error err = { 0 };

    ok(!hrun_allocation_flux(resources, &a, &err), "a resource set is read %s", err.text);
    ok(a.hosts.n == 4 && !strcmp(a.hosts.v[2], "x7") && a.cpus[2] == 4 && a.cpus[3] == 2 && a.cpus_are_cores &&
       a.manager == HRUN_MANAGER_FLUX, "hosts and cores, by the ranks of their brokers");
    hrun_allocation_release(&a);
    ok(!hrun_allocation_flux("{\"execution\":{\"R_lite\":[{\"rank\":\"0-2\",\"children\":{\"core\":\"0-1\"}}],"
                             "\"nodelist\":[\"vm,vm,vm\"]}}", &a, &err) && a.hosts.n == 1 && a.cpus[0] == 2,
       "several brokers on one host are one");
    hrun_allocation_release(&a);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ok(hrun_allocation_flux(bad[i], &a, &err) && err.code == HRUN_EPARSE && !a.hosts.n, "refused: %s", bad[i]);
}

/* ---------------------------------------------------------------- jobs */

static char cpus[] = "0";
static struct hrun_host hosts[] = { { .name = (char *)"x7" }, { .name = (char *)"h1.example.org" },
                                    { .name = (char *)"h2" }, { .name = (char *)"other" } };
static struct hrun_cluster cluster = { .hosts = hosts, .nhosts = 3, .manager = HRUN_MANAGER_FLUX };
static char *argv[] = { (char *)"./app", (char *)"a b", NULL };
static struct hrun_rank ranks[5];
static struct hrun_layout layout = { .cluster = &cluster, .ranks = ranks, .nranks = 5 };
static struct hrun_job job = { .layout = &layout, .argv = argv, .program = "/bin/app", .wdir = "/" };

static void jobspec(void)
{
    static const int order[] = { 0, 0, 1, 0, 1 };
    struct hrun_allocation a;
    struct hrun_flux_place p;
    struct hrun_buf out = HRUN_BUF_INIT;
    struct hrun_strvec env = HRUN_STRVEC_INIT;
    struct hrun_error err = { 0 };
    json_t *spec, *system;

    for (int i = 0; i < 5; i++)
        ranks[i] = (struct hrun_rank){ .host = order[i], .cpuset = cpus };
    hrun_allocation_flux(resources, &a, &err);
    ok(!hrun_flux_place(&a, &layout, &p, &err), "a place for interleaved ranks");
    is_str(p.taskmap, "[[1,1,2,1],[0,1,1,1],[1,1,1,1],[0,1,1,1]]", "hosts are numbered as their brokers are");
    hrun_strvec_push(&env, "A=b=c");
    hrun_strvec_push(&env, "BAD=\xff");
    ok(!hrun_flux_jobspec(&job, &p, "/shim", &env, &out, &err), "a jobspec");
    spec = json_loads(out.data, 0, NULL);
    system = json_object_get(json_object_get(spec, "attributes"), "system");
    is_str(json_string_value(json_object_get(json_object_get(system, "environment"), "A")), "b=c", "a variable");
    is_int((int)json_object_size(json_object_get(system, "environment")), 1, "what is not UTF-8 is left out");
    is_str(json_string_value(json_array_get(json_object_get(json_object_get(system, "constraints"), "hostlist"), 0)),
           "h1,x7", "the hosts");
    ok(strstr(out.data, "\"command\":[\"/shim\",\"rank\",\"/bin/app\",\"a b\"]") && strstr(out.data, "\"total\":5"),
       "the command, and how many");
    json_decref(spec);
    argv[1] = (char *)"\xff";
    ok(hrun_flux_jobspec(&job, &p, "/shim", &env, &out, &err) && strstr(err.text, "UTF-8"), "refused: %s", err.text);
    argv[1] = (char *)"a b";
    hrun_flux_place_release(&p);
    cluster.nhosts = 4;
    ok(hrun_flux_place(&a, &layout, &p, &err) && strstr(err.text, "host 'other' is not part of the Flux instance"),
       "refused: %s", err.text);
    cluster.nhosts = 3;
    hrun_strvec_release(&env);
    hrun_buf_release(&out);
    hrun_allocation_release(&a);
}

/* A program called flux that tells the resources. */
static void fake(const char *folder, const char *prints)
{
    char *path = hrun_strf("%s/flux", folder);
    FILE *f = fopen(path, "w");

    fprintf(f, "#!/bin/sh\nprintf '%%s' '%s'\n", prints);
    fclose(f);
    chmod(path, 0755);
    free(path);
}

static void engine(const char *folder)
{
    static char *env[] = { (char *)"A=b c", (char *)"HOME" };
    struct hrun_mpi mpi = { .kind = HRUN_MPI_OPENMPI, .major = 5 };
    const struct hrun_engine *e = hrun_engine_find("flux");
    struct hrun_buf out = HRUN_BUF_INIT;
    struct hrun_error err = { 0 };

    unsetenv("FLUX_URI");
    ok(e && e->usable(&cluster, NULL, &err) && strstr(err.text, "flux alloc or flux start"), "outside: %s", err.text);
    setenv("FLUX_URI", "local:///nowhere", 1);
    fake(folder, "");
    ok(e->usable(&cluster, NULL, &err) && strstr(err.text, "unset FLUX_URI"), "an instance that has ended: %s",
       err.text);
    fake(folder, resources);
    ok(!e->usable(&cluster, NULL, &err) && hrun_engine_auto(&cluster, NULL, NULL, &err) == e, "taken by itself inside");
    ok(!e->suits(&cluster, &mpi), "but not for Open MPI 5");
    job.mpi = &mpi;
    ok(e->check(&job, &err) && strstr(err.text, "--engine mpirun"), "which is refused: %s", err.text);
    job.env = env;
    job.n_env = 2;
    job.no_stdin = 1;
    ok(!e->command(&job, &out, &err), "a command");
    is_str(out.data, "env 'A=b c' flux run --nodes=2 --exclusive --ntasks=5 '--requires=hosts:h1,x7' "
           "'--taskmap=manual:[[1,1,2,1],[0,1,1,1],[1,1,1,1],[0,1,1,1]]' --setopt=cpu-affinity=off "
           "--setopt=exit-timeout=none --input=0 --cwd=/ ./app 'a b' < /dev/null", "to type");
    hrun_buf_release(&out);
}

int main(void)
{
    char folder[] = "/tmp/hrun-test-flux-XXXXXX", *path;

    words();
    sieves();
    instance();
    jobspec();
    if (!mkdtemp(folder))
        return 1;
    path = hrun_strf("%s:%s", folder, getenv("PATH"));
    setenv("PATH", path, 1);
    free(path);
    engine(folder);
    path = hrun_strf("%s/flux", folder);
    unlink(path);
    rmdir(folder);
    free(path);
    return tap_done();
}
