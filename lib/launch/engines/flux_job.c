/* flux_job.c - the job as Flux is told it: hosts, taskmap, jobspec; see flux.h */
#include "launch/engines/flux.h"

#include "base/file.h"
#include "base/list.h"

#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---------------------------------------------------------------- where ranks are */

void hrun_flux_place_release(struct hrun_flux_place *p)
{
    hrun_strvec_release(&p->hosts);
    free(p->taskmap);
    p->taskmap = NULL;
}

/* number[i], for each host of the instance that is used: its place among them. */
static int number_hosts(const struct hrun_allocation *a, int *number, struct hrun_strvec *hosts)
{
    int bad = 0;

    for (size_t i = 0; i < a->hosts.n && !bad; i++)
        if (number[i]) {
            number[i] = (int)hosts->n;
            bad = hrun_strvec_push(hosts, a->hosts.v[i]);
        }
    return bad;
}

static void add_taskmap(const struct hrun_layout *l, const int *of, const int *number, struct hrun_buf *out)
{
    hrun_buf_addc(out, '[');
    for (int r = 0, n; r < l->nranks; r += n) {
        for (n = 1; r + n < l->nranks && l->ranks[r + n].host == l->ranks[r].host; n++)
            ;
        hrun_buf_addf(out, "%s[%d,1,%d,1]", r ? "," : "", number[of[l->ranks[r].host]], n);
    }
    hrun_buf_addc(out, ']');
}

int hrun_flux_place(const struct hrun_allocation *a, const struct hrun_layout *l, struct hrun_flux_place *p,
                    struct hrun_error *err)
{
    const struct hrun_cluster *c = l->cluster;
    struct hrun_buf map = HRUN_BUF_INIT;
    int *of = calloc((size_t)c->nhosts + 1, sizeof *of), *number = calloc(a->hosts.n + 1, sizeof *number), rc = 0;

    *p = (struct hrun_flux_place){ .hosts = HRUN_STRVEC_INIT };
    if (!of || !number)
        rc = hrun_fail_nomem(err);
    for (int h = 0; h < c->nhosts && !rc; h++) {
        of[h] = hrun_allocation_index(a, c->hosts[h].name, c->hosts[h].is_local);
        if (of[h] < 0)
            rc = hrun_fail(err, HRUN_EINVAL, "host '%s' is not part of the %s: leave it out, or use --engine mpirun",
                           c->hosts[h].name, a->name);
    }
    for (int r = 0; r < l->nranks && !rc; r++)
        number[of[l->ranks[r].host]] = 1;
    if (!rc) {
        rc = number_hosts(a, number, &p->hosts);
        add_taskmap(l, of, number, &map);
        p->taskmap = hrun_buf_detach(&map);
        rc = rc || !p->taskmap ? hrun_fail_nomem(err) : 0;
    }
    hrun_buf_release(&map);
    free(of);
    free(number);
    if (rc)
        hrun_flux_place_release(p);
    return rc;
}

/* ---------------------------------------------------------------- the jobspec */

static json_t *command(const struct hrun_job *job, const char *shim, struct hrun_error *err)
{
    json_t *words = json_pack("[s, s]", shim, "rank");

    for (int i = 0; job->argv[i] && words; i++) {
        const char *word = i ? job->argv[i] : job->program;

        if (json_array_append_new(words, json_string(word))) {
            hrun_fail(err, HRUN_EINVAL, "Flux takes no word that is not UTF-8: %s", word);
            json_decref(words);
            return NULL;
        }
    }
    if (!words)
        hrun_fail_nomem(err);
    return words;
}

/* A variable that is not UTF-8 cannot be passed on. */
static json_t *environment(const struct hrun_strvec *env)
{
    json_t *o = json_object();

    for (size_t i = 0; i < env->n; i++) {
        char *eq = strchr(env->v[i], '=');

        if (!eq)
            continue;
        *eq = 0;
        json_object_set_new(o, env->v[i], json_string(eq + 1));
        *eq = '=';
    }
    return o;
}

/* Else the ranks have those of the brokers. */
static json_t *limits(void)
{
    static const struct {
        const char *name;
        __rlimit_resource_t which;
    } rows[] = {
        { "as", RLIMIT_AS }, { "core", RLIMIT_CORE }, { "cpu", RLIMIT_CPU }, { "data", RLIMIT_DATA },
        { "fsize", RLIMIT_FSIZE }, { "memlock", RLIMIT_MEMLOCK }, { "nofile", RLIMIT_NOFILE },
        { "nproc", RLIMIT_NPROC }, { "stack", RLIMIT_STACK }
    };
    json_t *o = json_object();
    struct rlimit limit;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!getrlimit(rows[i].which, &limit))
            json_object_set_new(o, rows[i].name,
                                json_integer(limit.rlim_cur == RLIM_INFINITY ? -1 : (json_int_t)limit.rlim_cur));
    return o;
}

/* With whole hosts and one slot on each Flux takes any number of tasks, and any map of these to hosts; the shim binds
 * them. Flux would end the job 30 s after the first task has ended (exit-timeout), and collect output for 0.5 s. It
 * takes 10 MiB of input, at most 32. */
static json_t *options(const struct hrun_job *job, const struct hrun_flux_place *p)
{
    const char *buffer = job->tag_output ? "line" : "none";

    return json_pack("{s:{s:s, s:s}, s:s, s:s, s:o, s:{s:f, s:{s:{s:s}}, s:{s:{s:s}}}, s:{s:f, s:i}}",
                     "taskmap", "scheme", "manual", "value", p->taskmap,
                     "cpu-affinity", "off", "exit-timeout", "none", "rlimit", limits(),
                     "output", "batch-timeout", 0.05, "stdout", "buffer", "type", buffer,
                     "stderr", "buffer", "type", buffer,
                     "input", "batch-timeout", 0.0, "limit", 32 << 20);
}

static int add_chunk(const char *data, size_t len, void *out)
{
    hrun_buf_add(out, data, len);
    return 0;
}

int hrun_flux_jobspec(const struct hrun_job *job, const struct hrun_flux_place *p, const char *shim,
                      const struct hrun_strvec *env, struct hrun_buf *out, struct hrun_error *err)
{
    struct hrun_buf hosts = HRUN_BUF_INIT;
    char *cwd = realpath(job->wdir ? job->wdir : ".", NULL);
    json_t *words = command(job, shim, err), *spec;
    int rc = -1;

    if (!words)
        goto out;
    hrun_hostlist_print(p->hosts.v, p->hosts.n, &hosts);
    spec = json_pack("{s:i, s:[{s:s, s:i, s:b, s:[{s:s, s:i, s:s, s:[{s:s, s:i}]}]}], "
                     "s:[{s:o, s:s, s:{s:i}}], s:{s:{s:i, s:s, s:{s:s}, s:{s:[s]}, s:o, s:{s:o}}}}",
                     "version", 1,
                     "resources", "type", "node", "count", (int)p->hosts.n, "exclusive", 1,
                     "with", "type", "slot", "count", 1, "label", "task", "with", "type", "core", "count", 1,
                     "tasks", "command", words, "slot", "task", "count", "total", job->layout->nranks,
                     "attributes", "system", "duration", 0, "cwd", cwd ? cwd : "/",
                     "job", "name", hrun_base_name(job->program),
                     "constraints", "hostlist", hosts.data, "environment", environment(env),
                     "shell", "options", options(job, p));
    rc = !spec || json_dump_callback(spec, add_chunk, out, JSON_COMPACT) || out->failed ? hrun_fail_nomem(err) : 0;
    json_decref(spec);
out:
    hrun_buf_release(&hosts);
    free(cwd);
    return rc;
}
