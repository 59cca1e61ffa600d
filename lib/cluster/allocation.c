/* allocation.c - what a resource manager grants, from the environment; see cluster.h for the contracts */
#include "cluster/internal.h"

#include "base/file.h"
#include "base/list.h"
#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* Hosts of many cores, a line for each core. */
static const size_t nodefile_max = (size_t)64 << 20;

/* Components of one job: Slurm's own limit is 128 by default. */
enum { GROUPS_MAX = 4096 };

/* The value of an environment variable, NULL when it is not set or empty. */
static const char *setting(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

void hrun_allocation_release(struct hrun_allocation *a)
{
    int saved = errno;

    if (!a)
        return;
    free(a->name);
    hrun_strvec_release(&a->hosts);
    free(a->cpus);
    free(a->group);
    *a = (struct hrun_allocation){ 0 };
    errno = saved;
}

static int add_host(struct hrun_allocation *a, const char *name, int cpus, int group, struct hrun_error *err)
{
    size_t n = a->hosts.n;

    if (n == HRUN_HOSTLIST_MAX)
        return hrun_fail(err, HRUN_EINVAL, "the allocation has more than %d hosts", HRUN_HOSTLIST_MAX);
    if (!(n & (n - 1))) {       /* full at 0, 1, 2, 4, ...: double */
        size_t room = n ? 2 * n : 1;
        int *c = realloc(a->cpus, room * sizeof *c), *g;

        if (c)
            a->cpus = c;
        g = c ? realloc(a->group, room * sizeof *g) : NULL;
        if (!g)
            return hrun_fail_nomem(err);
        a->group = g;
    }
    if (hrun_strvec_push(&a->hosts, name))
        return hrun_fail_nomem(err);
    a->cpus[n] = cpus;
    a->group[n] = group;
    return 0;
}

static int find_host(const struct hrun_allocation *a, const char *name)
{
    for (size_t i = a->hosts.n; i-- > 0; )
        if (!strcasecmp(a->hosts.v[i], name))
            return (int)i;
    return -1;
}

/* ---------------------------------------------------------------- Slurm */

/* A variable of a component of the job; suffix "" for a job of one: its name, to be freed in any case, and its value or
 * NULL. */
static int slurm_setting(const char *base, const char *suffix, char **name, const char **value, struct hrun_error *err)
{
    free(*name);
    *name = hrun_strf("%s%s", base, suffix);
    *value = *name ? setting(*name) : NULL;
    return *name ? 0 : hrun_fail_nomem(err);
}

/* "4(x2),2,1": counts[n]. */
static int read_counts(const char *name, const char *text, int *counts, size_t n, struct hrun_error *err)
{
    const char *p = text;
    size_t have = 0;
    long value, times;
    char *end;

    for (;;) {
        value = isdigit((unsigned char)*p) ? strtol(p, &end, 10) : 0;
        if (value < 1 || value > HRUN_CORES_MAX)
            return hrun_fail_at(err, HRUN_EPARSE, name, 1, (int)(p - text) + 1, "'%.60s': a number of 1 to %d is "
                                "needed here, as in 4(x2),2", text, HRUN_CORES_MAX);
        times = 1;
        if (*end == '(') {
            times = end[1] == 'x' && isdigit((unsigned char)end[2]) ? strtol(end + 2, &end, 10) : 0;
            if (times < 1 || times > HRUN_HOSTLIST_MAX || *end++ != ')')
                return hrun_fail_at(err, HRUN_EPARSE, name, 1, (int)(p - text) + 1, "'%.60s': a repetition looks as in "
                                    "4(x2),2", text);
        }
        for (long i = 0; i < times && have <= n; i++)
            if (have++ < n)
                counts[have - 1] = (int)value;
        p = end;
        if (*p != ',')
            break;
        p++;
    }
    if (*p)
        return hrun_fail_at(err, HRUN_EPARSE, name, 1, (int)(p - text) + 1, "'%.60s': a comma is needed here, as in "
                            "4(x2),2", text);
    if (have != n)
        return hrun_fail_at(err, HRUN_EPARSE, name, 0, 0, "'%.60s' counts %s than the %zu hosts of the allocation",
                            text, have < n ? "fewer" : "more", n);
    return 0;
}

/* CPUs of each host of a component: as Slurm says, else as many as its tasks may use, else all. */
static int read_cpus(const char *suffix, int *cpus, size_t n, struct hrun_error *err)
{
    char *name = NULL, *per_task = NULL;
    const char *text, *width;
    int64_t each = 1;
    int rc = slurm_setting("SLURM_JOB_CPUS_PER_NODE", suffix, &name, &text, err);

    if (!rc && !text) {
        rc = slurm_setting("SLURM_TASKS_PER_NODE", suffix, &name, &text, err) ||
             slurm_setting("SLURM_CPUS_PER_TASK", suffix, &per_task, &width, err) ? -1 : 0;
        if (!rc && text && width)
            rc = hrun_parse_count(per_task, width, 1, HRUN_CORES_MAX, &each, err);
    }
    if (!rc && text)
        rc = read_counts(name, text, cpus, n, err);
    for (size_t i = 0; i < n && !rc; i++)
        cpus[i] = cpus[i] > HRUN_CORES_MAX / each ? HRUN_CORES_MAX : cpus[i] * (int)each;
    free(name);
    free(per_task);
    return rc;
}

/* One component. 1: it is there, 0: it is not, -1 with *err. */
static int add_component(struct hrun_allocation *a, const char *suffix, int group, struct hrun_error *err)
{
    static const char *const lists[] = { "SLURM_JOB_NODELIST", "SLURM_NODELIST" };
    struct hrun_strvec names = HRUN_STRVEC_INIT;
    struct hrun_error why;
    const char *text = NULL;
    char *name = NULL;
    int *cpus = NULL, rc = -1;

    for (size_t i = 0; i < sizeof lists / sizeof lists[0] && !text; i++)
        if (slurm_setting(lists[i], suffix, &name, &text, err))
            goto done;
    if (!text) {
        rc = 0;
        goto done;
    }
    if (hrun_hostlist_parse(text, &names, &why)) {
        hrun_fail_at(err, why.code, name, why.column ? 1 : 0, why.column, "%s", why.text);
        goto done;
    }
    cpus = calloc(names.n, sizeof *cpus);
    if (!cpus) {
        hrun_fail_nomem(err);
        goto done;
    }
    if (read_cpus(suffix, cpus, names.n, err))
        goto done;
    for (size_t i = 0; i < names.n; i++) {
        /* Components may share a node; what a process is told of it is then the first one's. */
        if (find_host(a, names.v[i]) < 0 && add_host(a, names.v[i], cpus[i], group, err))
            goto done;
    }
    rc = 1;
done:
    hrun_strvec_release(&names);
    free(cpus);
    free(name);
    return rc;
}

static int find_slurm(struct hrun_allocation *a, const char *hostfile, struct hrun_error *err)
{
    const char *id = setting("SLURM_JOB_ID") ? setting("SLURM_JOB_ID") : setting("SLURM_JOBID");
    const char *size = setting("SLURM_HET_SIZE");
    int64_t n = 0;
    int found = 0;

    (void)hostfile;
    if (!id)
        return 0;
    if (size && hrun_parse_count("SLURM_HET_SIZE", size, 1, GROUPS_MAX, &n, err))
        return -1;
    for (int i = 0; i < n; i++) {
        char *suffix = hrun_strf("_HET_GROUP_%d", i);
        int rc = suffix ? add_component(a, suffix, i, err) : hrun_fail_nomem(err);

        free(suffix);
        if (rc < 0)
            return -1;
        if (!rc)
            return hrun_fail(err, HRUN_EPARSE, "SLURM_HET_SIZE says that job %s has %d components, and "
                             "SLURM_JOB_NODELIST_HET_GROUP_%d is not set", id, (int)n, i);
        found = 1;
    }
    if (!found && (found = add_component(a, "", 0, err)) <= 0)
        return found;
    a->manager = HRUN_MANAGER_SLURM;
    a->ngroups = n > 1 ? (int)n : 1;
    a->name = hrun_strf("Slurm job %s", id);
    return a->name ? 1 : hrun_fail_nomem(err);
}

/* ---------------------------------------------------------------- PBS */

/* The file's order is mostly host by host, or round after round: look where the next line should be. */
static int find_next(const struct hrun_allocation *a, const char *name, int last)
{
    int next = (size_t)(last + 1) < a->hosts.n ? last + 1 : 0;

    if (last < 0)
        return -1;
    return !strcasecmp(a->hosts.v[last], name)   ? last
         : !strcasecmp(a->hosts.v[next], name)   ? next
                                                 : find_host(a, name);
}

static int find_pbs(struct hrun_allocation *a, const char *hostfile, struct hrun_error *err)
{
    const char *path = setting("PBS_NODEFILE"), *id = setting("PBS_JOBID");
    struct hrun_buf text = HRUN_BUF_INIT;
    struct hrun_strvec one = HRUN_STRVEC_INIT;
    struct hrun_error why;
    char *line, *next;
    int number = 1, at = -1, rc = -1;

    (void)hostfile;
    if (!path)
        return 0;
    if (hrun_file_read(path, nodefile_max, &text, err)) {
        hrun_fail_prefix(err, "PBS_NODEFILE");
        goto done;
    }
    if (strlen(text.data) < text.len) {
        hrun_fail_at(err, HRUN_EPARSE, path, 0, 0, "PBS_NODEFILE is no text: it holds a zero byte");
        goto done;
    }
    for (line = text.data; *line; line = next, number++) {
        next = line + strcspn(line, "\n");
        next += *next == '\n' ? (*next = 0, 1) : 0;
        line += strspn(line, " \t\r");
        line[strcspn(line, " \t\r")] = 0;
        if (!*line)
            continue;
        at = find_next(a, line, at);
        if (at >= 0) {
            a->cpus[at] += a->cpus[at] < HRUN_CORES_MAX;
            continue;
        }
        hrun_strvec_release(&one);
        why.code = HRUN_OK;
        if (hrun_hostlist_parse(line, &one, &why) && why.code == HRUN_ENOMEM) {
            hrun_fail_nomem(err);
            goto done;
        }
        if (why.code || one.n != 1) {
            hrun_fail_at(err, HRUN_EPARSE, path, number, 0, "'%.60s' is no host name (PBS_NODEFILE holds one in a "
                         "line)", line);
            goto done;
        }
        at = (int)a->hosts.n;
        if (add_host(a, one.v[0], 1, 0, err))
            goto done;
    }
    if (!a->hosts.n) {
        hrun_fail_at(err, HRUN_EPARSE, path, 0, 0, "PBS_NODEFILE names no host");
        goto done;
    }
    a->manager = HRUN_MANAGER_PBS;
    a->cpus_are_cores = 1;
    a->ngroups = 1;
    a->name = id ? hrun_strf("PBS job %s", id) : strdup("PBS job");
    rc = a->name ? 1 : hrun_fail_nomem(err);
done:
    hrun_strvec_release(&one);
    hrun_buf_release(&text);
    return rc;
}

/* ---------------------------------------------------------------- Flux */

/* "0-3,8": how many numbers. -1: that is no such list. cores (may be NULL) gets value for each, which are below max. */
static int read_idset(const char *list, long max, int *cores, int value)
{
    int n = 0;
    long first, last;

    for (const char *p = list; p; p++) {
        p = hrun_range_next(p, max - 1, &first, &last);
        if (!p || (*p && *p != ','))
            return -1;
        n += (int)(last - first) + 1;
        for (long i = first; cores && i <= last; i++)
            cores[i] = value;
        if (!*p)
            return n;
    }
    return -1;
}

/* The cores of n hosts, by the ranks of their brokers. -1: R is not as it should be. */
static int read_flux_cores(const json_t *lite, int *cores, size_t n)
{
    size_t i;
    json_t *entry;

    json_array_foreach(lite, i, entry) {
        const json_t *children = json_object_get(entry, "children");
        int have = read_idset(json_string_value(json_object_get(children, "core")), HRUN_CORES_MAX, NULL, 0);

        if (have < 1 || read_idset(json_string_value(json_object_get(entry, "rank")), (long)n, cores, have) < 0)
            return -1;
    }
    for (i = 0; i < n && cores[i]; i++)
        ;
    return n && i == n ? 0 : -1;
}

int hrun_allocation_flux(const char *resources, struct hrun_allocation *out, struct hrun_error *err)
{
    json_t *r = json_loads(resources, 0, NULL), *execution = json_object_get(r, "execution"), *list;
    struct hrun_allocation a = { .manager = HRUN_MANAGER_FLUX, .cpus_are_cores = 1, .ngroups = 1 };
    struct hrun_strvec names = HRUN_STRVEC_INIT;
    struct hrun_error why = { 0 };
    int *cores = NULL, bad = 0, rc = -1;
    size_t i;

    json_array_foreach(json_object_get(execution, "nodelist"), i, list)
        bad = bad || !json_is_string(list) || hrun_hostlist_parse(json_string_value(list), &names, &why);
    cores = calloc(names.n + 1, sizeof *cores);
    a.name = strdup("Flux instance");
    if (!cores || !a.name || why.code == HRUN_ENOMEM) {
        hrun_fail_nomem(err);
    } else if (bad || read_flux_cores(json_object_get(execution, "R_lite"), cores, names.n)) {
        hrun_fail(err, HRUN_EPARSE, "the resource set of the Flux instance cannot be understood: %.200s", resources);
    } else {
        /* Several brokers of a test instance are on one host: the first one counts. */
        for (i = 0, rc = 0; i < names.n && !rc; i++)
            rc = find_host(&a, names.v[i]) < 0 ? add_host(&a, names.v[i], cores[i], 0, err) : 0;
    }
    if (rc)
        hrun_allocation_release(&a);
    *out = a;
    json_decref(r);
    hrun_strvec_release(&names);
    free(cores);
    return rc;
}

/* ---------------------------------------------------------------- Open MPI's default host file */

/* What the environment names; NULL: nothing. */
static const char *named_hostfile(void)
{
    static const char *const variables[] = { "OMPI_MCA_orte_default_hostfile", "PRTE_MCA_prte_default_hostfile" };
    const char *value = NULL;

    for (size_t i = 0; i < sizeof variables / sizeof variables[0] && !value; i++)
        value = setting(variables[i]);
    return value;
}

/* Where Open MPI's configuration is: as its variables say, below the prefix of the mpirun in PATH, where packages of
 * distributions have it. The first file counts. The caller frees *found; NULL: there is none. */
static int installed_hostfile(char **found, struct hrun_error *err)
{
    static const char name[] = "openmpi-default-hostfile";
    const char *config = setting("OPAL_SYSCONFDIR"), *prefix = setting("OPAL_PREFIX"), *path = setting("PATH");
    char *tries[4] = { NULL };
    size_t n = 0, len;
    int nomem = 0;

    if (config)
        tries[n++] = hrun_strf("%s/%s", config, name);
    if (prefix)
        tries[n++] = hrun_strf("%s/etc/%s", prefix, name);
    for (const char *p = path; p && !config && !prefix; p = p[len] ? p + len + 1 : NULL) {
        char *mpirun;
        int there;

        len = strcspn(p, ":");
        mpirun = hrun_strf("%.*s/mpirun", (int)len, p);
        there = mpirun && !access(mpirun, X_OK);
        nomem |= !mpirun;
        free(mpirun);
        if (!there)
            continue;
        tries[n++] = hrun_strf("%.*s/../etc/%s", (int)len, p, name);
        break;
    }
    tries[n++] = hrun_strf("/etc/openmpi/%s", name);
    for (size_t i = 0; i < n; i++) {
        nomem |= !tries[i];
        if (!*found && !nomem && !access(tries[i], R_OK))
            *found = tries[i];
        else
            free(tries[i]);
    }
    if (!nomem)
        return 0;
    free(*found);
    *found = NULL;
    return hrun_fail_nomem(err);
}

static int find_openmpi(struct hrun_allocation *a, const char *hostfile, struct hrun_error *err)
{
    const char *named = hostfile && *hostfile ? hostfile : named_hostfile();
    struct hrun_host_list list = HRUN_HOST_LIST_INIT;
    char *path = named ? strdup(named) : NULL;
    int rc = !named ? installed_hostfile(&path, err) : path ? 0 : hrun_fail_nomem(err);

    if (rc || !path || !strcmp(path, "none"))
        goto done;
    if (hrun_hostfile_read_any(path, &list, err)) {
        rc = hrun_fail_prefix(err, "Open MPI's default host file");
        goto done;
    }
    for (size_t i = 0; i < list.n && !rc; i++)
        rc = add_host(a, list.v[i].name, list.v[i].slots, 0, err);
    if (rc || !list.n)
        goto done;
    a->manager = HRUN_MANAGER_OPENMPI;
    a->cpus_are_cores = 1;
    a->ngroups = 1;
    a->name = hrun_strf("Open MPI's host file %s", path);
    rc = a->name ? 1 : hrun_fail_nomem(err);
done:
    hrun_host_list_release(&list);
    free(path);
    return rc;
}

/* ---------------------------------------------------------------- the first that knows something */

int hrun_allocation_look(const char *hostfile, struct hrun_allocation *out, struct hrun_error *err)
{
    static int (*const finders[])(struct hrun_allocation *a, const char *hostfile, struct hrun_error *err) = {
        find_slurm, find_pbs, find_openmpi
    };
    int rc = 0;

    *out = (struct hrun_allocation){ 0 };
    for (size_t i = 0; i < sizeof finders / sizeof finders[0] && !rc; i++)
        rc = finders[i](out, hostfile, err);
    if (rc <= 0)
        hrun_allocation_release(out);
    return rc < 0 ? -1 : 0;
}

int hrun_allocation_find(struct hrun_allocation *out, struct hrun_error *err)
{
    return hrun_allocation_look(NULL, out, err);
}
