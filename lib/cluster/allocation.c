/* allocation.c - the allocation of a resource manager, from the environment; see cluster.h for the contracts */
#include "cluster/internal.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/list.h"
#include "base/units.h"

#include <ctype.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* Max bytes of a list of hosts, which has a line for each core. */
static const size_t nodefile_max = (size_t)64 << 20;

/* Components of one job: Slurm's own limit is 128 by default. */
enum { GROUPS_MAX = 4096 };

/* The value of an environment variable; NULL: unset or empty. */
static const char *env_setting(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

void hrun_allocation_release(struct hrun_allocation *a)
{
    free(a->name);
    hrun_strvec_release(&a->hosts);
    free(a->cpus);
    free(a->slots);
    free(a->group);
    *a = (struct hrun_allocation){ 0 };
}

/* Add a host. cpus, slots: as in struct hrun_allocation. */
static int add_granted_host(struct hrun_allocation *a, const char *name, int cpus, int slots, int group,
                            struct hrun_error *err)
{
    int **lists[] = { &a->cpus, &a->slots, &a->group };
    size_t n = a->hosts.n, room = (n ? 2 * n : 1) * sizeof **lists[0];

    if (n == HRUN_HOSTLIST_MAX)
        return hrun_fail(err, HRUN_EINVAL, "the allocation has more than %d hosts", HRUN_HOSTLIST_MAX);
    for (size_t i = 0; i < sizeof lists / sizeof *lists && !(n & (n - 1)); i++)     /* full at 0, 1, 2, 4, ... hosts */
        *lists[i] = xrealloc(*lists[i], room);
    hrun_strvec_push(&a->hosts, name);
    a->cpus[n] = cpus;
    a->slots[n] = slots;
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

/* The value of a variable of one component of the job, or NULL. suffix: "_HET_GROUP_0"; "": the only component. *name
 * is freed and set to the variable's name. */
static const char *slurm_setting(const char *base, const char *suffix, char **name)
{
    free(*name);
    *name = hrun_strf("%s%s", base, suffix);
    return env_setting(*name);
}

/* Read "4(x2),2,1" into counts[n]. */
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
                return hrun_fail_at(err, HRUN_EPARSE, name, 1, (int)(p - text) + 1, "'%.60s': write a repetition as in "
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

/* Read the CPUs of each host of a component: Slurm's number, else the number that its tasks may use, else 0 (all). Read
 * the tasks of each host only if the user requested tasks, because SLURM_TASKS_PER_NODE is always set. In a step on
 * fewer hosts than the job has, SLURM_TASKS_PER_NODE counts the step's hosts only, and is ignored. */
static int read_cpus(struct hrun_allocation *a, const char *suffix, int *cpus, int *tasks, size_t n,
                     struct hrun_error *err)
{
    autofree char *name = NULL;
    const char *text, *per_host, *asked, *width = slurm_setting("SLURM_CPUS_PER_TASK", suffix, &name);
    int64_t each = 1;

    if (width && hrun_parse_count(name, width, 1, HRUN_CORES_MAX, &each, err))
        return -1;
    a->cpus_each = width && !*suffix ? (int)each : 0;
    asked = slurm_setting("SLURM_NTASKS", suffix, &name);
    if (!asked)
        asked = slurm_setting("SLURM_NPROCS", suffix, &name);
    per_host = slurm_setting("SLURM_TASKS_PER_NODE", suffix, &name);
    if (asked && per_host && read_counts(name, per_host, tasks, n, NULL))
        memset(tasks, 0, n * sizeof *tasks);
    text = slurm_setting("SLURM_JOB_CPUS_PER_NODE", suffix, &name);
    if (text)
        return read_counts(name, text, cpus, n, err);
    if (per_host && read_counts("SLURM_TASKS_PER_NODE", per_host, cpus, n, err))
        return -1;
    for (size_t i = 0; i < n; i++)
        cpus[i] = cpus[i] > HRUN_CORES_MAX / each ? HRUN_CORES_MAX : cpus[i] * (int)each;
    return 0;
}

/* Add a component. 1: added; 0: there is no such component; -1 with *err. */
static int add_component(struct hrun_allocation *a, const char *suffix, int group, struct hrun_error *err)
{
    autorelease(hrun_strvec_release) struct hrun_strvec names = HRUN_STRVEC_INIT;
    struct hrun_error why;
    autofree char *name = NULL;
    const char *text = slurm_setting("SLURM_JOB_NODELIST", suffix, &name);
    autofree int *cpus = NULL;

    if (!text)
        text = slurm_setting("SLURM_NODELIST", suffix, &name);
    if (!text)
        return 0;
    if (hrun_hostlist_parse(text, &names, &why))
        return hrun_fail_at(err, why.code, name, why.column ? 1 : 0, why.column, "%s", why.text);
    cpus = xcalloc(2 * names.n, sizeof *cpus);
    if (read_cpus(a, suffix, cpus, cpus + names.n, names.n, err))
        return -1;
    /* If components share a node, the first one determines its granted part. */
    for (size_t i = 0; i < names.n; i++)
        if (find_host(a, names.v[i]) < 0 &&
            add_granted_host(a, names.v[i], cpus[i], cpus[names.n + i], group, err))
            return -1;
    return 1;
}

static int find_slurm(struct hrun_allocation *a, struct hrun_error *err)
{
    const char *id = env_setting("SLURM_JOB_ID") ? env_setting("SLURM_JOB_ID") : env_setting("SLURM_JOBID");
    const char *size = env_setting("SLURM_HET_SIZE");
    int64_t n = 0;
    int found = 0;

    if (!id)
        return 0;
    if (size && hrun_parse_count("SLURM_HET_SIZE", size, 1, GROUPS_MAX, &n, err))
        return -1;
    for (int i = 0; i < n; i++) {
        autofree char *suffix = hrun_strf("_HET_GROUP_%d", i);
        int rc = add_component(a, suffix, i, err);

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
    return 1;
}

/* ---------------------------------------------------------------- managers that list hosts */

/* The variables and files by which a manager lists the hosts of a job. */
struct lister {
    enum hrun_manager manager;
    const char *name;
    const char *file;           /* the variable that names a file with a host at the beginning of each line, or NULL */
    int counts;                 /* 1: its number of slots is the second word of the line; 0: a line is one slot */
    int whole;                  /* 1: each host is granted as a whole */
    const char *words;          /* the variable with "HOST SLOTS HOST SLOTS", used without a file, or NULL */
    const char *id;             /* the variable with the name of the job */
    const char *cpus;           /* the variable with the smallest number of cores of a host, or NULL */
    const char *slots;          /* variable with the number of slots of a job without a list of hosts, which runs on
                                   this host; NULL: one slot */
};

static const struct lister listers[] = {
    { HRUN_MANAGER_PBS, "PBS", "PBS_NODEFILE", 0, 0, NULL, "PBS_JOBID", "NCPUS", NULL },
    { HRUN_MANAGER_OTHER, "SGE", "PE_HOSTFILE", 1, 0, NULL, "JOB_ID", NULL, "NSLOTS" },
    { HRUN_MANAGER_OTHER, "LSF", "LSB_DJOB_HOSTFILE", 0, 0, "LSB_MCPU_HOSTS", "LSB_JOBID", NULL,
      "LSB_DJOB_NUMPROC" },
    { HRUN_MANAGER_OTHER, "OAR", "OAR_NODEFILE", 0, 0, NULL, "OAR_JOB_ID", NULL, NULL },
    { HRUN_MANAGER_OTHER, "Cobalt", "COBALT_NODEFILE", 0, 1, NULL, "COBALT_JOBID", NULL, NULL },
    { HRUN_MANAGER_OTHER, "Slurm", NULL, 0, 0, NULL, "SLURM_JOB_ID", NULL, "SLURM_NTASKS" },
};

/* The list of a job's hosts while it is read. */
struct listing {
    struct hrun_allocation *a;
    const struct lister *l;
    const char *place;          /* for messages: the file or variable, and the line */
    int line;
    int last;                   /* index of the host named last, -1: none */
};

/* Add the slots of one host. */
static int add_granted_slots(struct listing *n, char *name, const char *slots, struct hrun_error *err)
{
    struct hrun_allocation *a = n->a;
    autorelease(hrun_strvec_release) struct hrun_strvec one = HRUN_STRVEC_INIT;
    struct hrun_error why = { 0 };
    int64_t count = 1;

    if (slots && hrun_parse_count("slots", slots, 1, HRUN_CORES_MAX, &count, &why))
        return hrun_fail_at(err, why.code, n->place, n->line, 0, "host '%.60s': %s", name, why.text);
    /* Try the last host and the next one first: files are often ordered host by host, or in rounds. */
    if (n->last < 0 || strcasecmp(a->hosts.v[n->last], name)) {
        int next = (size_t)(n->last + 1) < a->hosts.n ? n->last + 1 : 0;

        n->last = a->hosts.n && !strcasecmp(a->hosts.v[next], name) ? next : find_host(a, name);
    }
    if (n->last >= 0) {
        int *have = &a->slots[n->last];

        *have = count < HRUN_CORES_MAX - *have ? *have + (int)count : HRUN_CORES_MAX;
        return 0;
    }
    if (hrun_hostlist_parse(name, &one, &why) || one.n != 1)
        return hrun_fail_at(err, HRUN_EPARSE, n->place, n->line, 0, "'%.60s' is no host name (%s holds one in a line)",
                            name, n->l->file);
    n->last = (int)a->hosts.n;
    return add_granted_host(a, one.v[0], 0, (int)count, 0, err);
}

static int read_node_file(struct listing *n, char *text, struct hrun_error *err)
{
    char *next;

    for (char *line = text; *line; line = next) {
        char *name, *slots, *save = NULL;

        n->line++;
        next = line + strcspn(line, "\n");
        next += *next == '\n' ? (*next = 0, 1) : 0;
        name = strtok_r(line, " \t\r", &save);
        slots = name && n->l->counts ? strtok_r(NULL, " \t\r", &save) : NULL;
        if (name && n->l->counts && !slots)
            return hrun_fail_at(err, HRUN_EPARSE, n->place, n->line, 0, "host '%.60s' has no number of slots", name);
        if (name && add_granted_slots(n, name, slots, err))
            return -1;
    }
    return 0;
}

/* "HOST SLOTS HOST SLOTS" */
static int read_host_slots(struct listing *n, const char *words, struct hrun_error *err)
{
    autofree char *copy = xstrdup(words);
    char *save = NULL;
    int rc = 0;

    for (char *name = strtok_r(copy, " \t\n", &save); name && !rc; name = strtok_r(NULL, " \t\n", &save)) {
        const char *slots = strtok_r(NULL, " \t\n", &save);

        rc = slots ? add_granted_slots(n, name, slots, err)
                   : hrun_fail_at(err, HRUN_EPARSE, n->place, 0, 0, "host '%.60s' has no number of slots", name);
    }
    return rc;
}

static int find_listed(struct hrun_allocation *a, const struct lister *l, struct hrun_error *err)
{
    const char *path = l->file ? env_setting(l->file) : NULL, *words = l->words ? env_setting(l->words) : NULL,
               *id = env_setting(l->id), *slots = l->slots ? env_setting(l->slots) : NULL,
               *cpus = l->cpus ? env_setting(l->cpus) : NULL;
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    struct listing n = { a, l, path ? path : l->slots, 0, -1 };
    char own[HOST_NAME_MAX + 1];
    int64_t least = 0;
    int rc = 0;

    if (!path && !words) {
        if (!id || (l->slots && !slots))
            return 0;
        rc = gethostname(own, sizeof own) ? hrun_fail_errno(err, HRUN_EIO, "this host has no name")
                                          : add_granted_slots(&n, own, slots, err);
    } else if (!path || (words && access(path, R_OK))) {
        n.place = l->words;
        rc = read_host_slots(&n, words, err);
    } else if (hrun_file_read(path, nodefile_max, &text, err)) {
        rc = hrun_fail_prefix(err, "%s", l->file);
    } else if (strlen(text.data) < text.len) {
        rc = hrun_fail_at(err, HRUN_EPARSE, path, 0, 0, "%s is no text: it holds a zero byte", l->file);
    } else {
        rc = read_node_file(&n, text.data, err);
        if (!rc && !a->hosts.n)
            rc = hrun_fail_at(err, HRUN_EPARSE, path, 0, 0, "%s names no host", l->file);
    }
    if (rc || (cpus && hrun_parse_count(l->cpus, cpus, 1, HRUN_CORES_MAX, &least, err)))
        return -1;
    for (size_t i = 0; i < a->hosts.n; i++) {
        a->cpus[i] = l->whole ? 0 : a->slots[i] < least ? (int)least : a->slots[i];
        a->slots[i] = l->whole ? 0 : a->slots[i];
    }
    a->manager = l->manager;
    a->cpus_are_cores = 1;
    a->ngroups = 1;
    a->name = hrun_strf("%s job%s%s", l->name, id ? " " : "", id ? id : "");
    return 1;
}

/* ---------------------------------------------------------------- Flux */

/* Count the numbers, below max, in "0-3,8". -1: not such a list. If cores is not NULL, cores[number] gets value. */
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

int hrun_allocation_flux(const char *resources, struct hrun_allocation *out, struct hrun_error *err)
{
    json_auto_t *r = json_loads(resources, 0, NULL);
    json_t *execution = json_object_get(r, "execution"), *list, *entry;
    struct hrun_allocation a = { .manager = HRUN_MANAGER_FLUX, .cpus_are_cores = 1, .ngroups = 1 };
    autorelease(hrun_strvec_release) struct hrun_strvec names = HRUN_STRVEC_INIT;
    struct hrun_error why = { 0 };
    autofree int *cores = NULL;
    int bad = 0, rc = 0;
    size_t i;

    json_array_foreach(json_object_get(execution, "nodelist"), i, list)
        bad = bad || !json_is_string(list) || hrun_hostlist_parse(json_string_value(list), &names, &why);
    cores = xcalloc(names.n + 1, sizeof *cores);
    a.name = xstrdup("Flux instance");
    json_array_foreach(json_object_get(execution, "R_lite"), i, entry) {    /* ranks of brokers, their cores */
        const json_t *children = json_object_get(entry, "children");
        int have = read_idset(json_string_value(json_object_get(children, "core")), HRUN_CORES_MAX, NULL, 0);

        bad = bad || have < 1 ||
              read_idset(json_string_value(json_object_get(entry, "rank")), (long)names.n, cores, have) < 0;
    }
    for (i = 0; i < names.n; i++)
        bad = bad || !cores[i];
    if (bad || !names.n)
        rc = hrun_fail(err, HRUN_EPARSE, "the resource set of the Flux instance cannot be understood: %.200s",
                       resources);
    /* Several brokers of a test instance may be on one host; only the first is used. */
    for (i = 0; i < names.n && !rc; i++)
        rc = find_host(&a, names.v[i]) < 0 ? add_granted_host(&a, names.v[i], cores[i], 0, 0, err) : 0;
    if (rc)
        hrun_allocation_release(&a);
    *out = a;
    return rc;
}

/* ---------------------------------------------------------------- host files from the environment */

/* Variables with host files of Open MPI and hydra; the first that is set counts. */
static const struct { const char *variable, *whose; } named_files[] = {
    { "OMPI_MCA_orte_default_hostfile", "Open MPI" }, { "PRTE_MCA_prte_default_hostfile", "Open MPI" },
    { "I_MPI_HYDRA_HOST_FILE", "hydra" }, { "HYDRA_HOST_FILE", "hydra" },
};

/* The default host file in Open MPI's configuration folders: from its variables, else below the prefix of the mpirun in
 * PATH; then /etc/openmpi. The first file counts. The caller frees the path; NULL: there is none. */
static char *installed_hostfile(void)
{
    const char *config = env_setting("OPAL_SYSCONFDIR"), *prefix = env_setting("OPAL_PREFIX");
    autorelease(hrun_strvec_release) struct hrun_strvec folders = HRUN_STRVEC_INIT;
    size_t len;

    if (config)
        hrun_strvec_push(&folders, config);
    if (prefix)
        hrun_strvec_pushf(&folders, "%s/etc", prefix);
    for (const char *p = env_setting("PATH"); p && !folders.n; p = p[len] ? p + len + 1 : NULL) {
        autofree char *mpirun = hrun_strf("%.*s/mpirun", (int)(len = strcspn(p, ":")), p);

        if (!access(mpirun, X_OK))
            hrun_strvec_pushf(&folders, "%.*s/../etc", (int)len, p);
    }
    hrun_strvec_push(&folders, "/etc/openmpi");
    for (size_t i = 0; i < folders.n; i++) {
        char *path = hrun_strf("%s/openmpi-default-hostfile", folders.v[i]);

        if (!access(path, R_OK))
            return path;
        free(path);
    }
    return NULL;
}

/* hostfile: value of Open MPI's parameter; NULL: none. */
static int find_hostfile(struct hrun_allocation *a, const char *hostfile, struct hrun_error *err)
{
    const char *named = hostfile && *hostfile ? hostfile : NULL, *whose = "Open MPI";
    autorelease(hrun_host_list_release) struct hrun_host_list list = HRUN_HOST_LIST_INIT;
    autofree char *path = NULL;

    for (size_t i = 0; i < sizeof named_files / sizeof *named_files && !named; i++) {
        named = env_setting(named_files[i].variable);
        whose = named ? named_files[i].whose : whose;
    }
    path = named ? xstrdup(named) : installed_hostfile();
    if (!path || !strcmp(path, "none"))
        return 0;
    if (hrun_hostfile_read(path, 1, &list, err))
        return hrun_fail_prefix(err, "%s's default host file", whose);
    if (!list.n)
        return 0;
    for (size_t i = 0; i < list.n; i++)
        if (add_granted_host(a, list.v[i].name, list.v[i].slots, list.v[i].slots, 0, err))
            return -1;
    a->manager = HRUN_MANAGER_OPENMPI;
    a->cpus_are_cores = 1;
    a->ngroups = 1;
    a->name = hrun_strf("%s's host file %s", whose, path);
    return 1;
}

/* ---------------------------------------------------------------- all sources, in order */

int hrun_allocation_find(const char *hostfile, struct hrun_allocation *out, struct hrun_error *err)
{
    int rc;

    *out = (struct hrun_allocation){ 0 };
    rc = find_slurm(out, err);
    for (size_t i = 0; i < sizeof listers / sizeof *listers && !rc; i++)
        rc = find_listed(out, &listers[i], err);
    if (!rc)
        rc = find_hostfile(out, hostfile, err);
    if (rc <= 0)
        hrun_allocation_release(out);
    return rc < 0 ? -1 : 0;
}
