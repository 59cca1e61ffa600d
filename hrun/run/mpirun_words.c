/* mpirun_words.c - options of mpirun 4 and 5, of mpiexec.hydra and of srun; see mpirun_words.h */
#include "mpirun_words.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { PARAMETERS_MAX = 1 << 20 };      /* bytes */

enum what {
    SERVED,     /* text: hrun's words, with %1 and %2 for the values */
    EACH,       /* the same for each element of a list with commas */
    ALL,        /* variables of all programs; text: NAME=VALUE, or a list of names with commas */
    PROGRAMS,   /* read from a file (add_words_of_file); text: a description */
    PARAMETERS, /* read from a file (add_words_of_file); text: a description */
    HERE,       /* obeyed by serve_here; text: a description, or advice */
    PLACE,      /* text: a key of hrun_mapping_set and its value, with %1 for the word's */
    INSTEAD,    /* text: what hrun does instead */
    REFUSED     /* text: what to write */
};

struct word {
    const char *name;    /* without its one or two dashes */
    int values;
    enum what what;
    const char *text;
};

#define PLACES "hrun leaves memory and the order of hosts as they are; the host list orders hosts"
#define REACHES "hrun reaches the hosts by ssh, or by srun inside a job of Slurm (--mca plm_rsh_agent: another way)"
#define NEEDLESS "hrun needs no such word"
#define ASKS "ask salloc or sbatch for it; hrun runs on the hosts of the job"
#define DEBUGGER "start the debugger in front of each process: hrun -n P gdb -batch -ex run -ex bt --args PROGRAM"

/* tests/cli/mpirun_words.t compares these rows with hrun-mpirun(7). */
static const struct word words[] = {
    { "c", 1, SERVED, "-n %1" },
    { "f", 1, SERVED, "--hostfile %1" },
    { "hosts", 1, SERVED, "--host %1" },
    { "gwdir", 1, SERVED, "--wdir %1" },
    { "genv", 2, ALL, "%1=%2" },
    { "env", 2, SERVED, "-x %1=%2" },
    { "app", 1, PROGRAMS, "as the lines of FILE with ':' between them" },
    { "app-file", 1, PROGRAMS, "as the lines of FILE with ':' between them" },
    { "configfile", 1, PROGRAMS, "as the lines of FILE with ':' between them" },
    { "am", 1, PARAMETERS, "as --mca for each of its parameters" },
    { "tune", 1, PARAMETERS, "as --mca and -x for each of its lines" },
    { "genvlist", 1, ALL, "%1" },
    { "envlist", 1, EACH, "-x %1" },
    { "gmca", 2, SERVED, "--mca %1 %2" },
    { "omca", 2, SERVED, "--mca %1 %2" },
    { "prepend-rank", 0, SERVED, "--tag-output" },
    { "l", 0, SERVED, "--tag-output" },
    { "display-map", 0, SERVED, "--verbose" },
    { "display-allocation", 0, SERVED, "--verbose" },
    { "display-devel-map", 0, SERVED, "--verbose" },
    { "display-topo", 0, SERVED, "--verbose" },
    { "print-rank-map", 0, SERVED, "--verbose" },
    { "display", 1, SERVED, "--verbose" },
    { "do-not-launch", 0, SERVED, "--dry-run" },
    { "ntasks", 1, SERVED, "-n %1" },
    { "nodelist", 1, SERVED, "--host %1" },
    { "w", 1, SERVED, "--host %1" },
    { "nodefile", 1, SERVED, "--hostfile %1" },
    { "chdir", 1, SERVED, "--wdir %1" },
    { "label", 0, SERVED, "--tag-output" },

    { "allow-run-as-root", 0, HERE, "as OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1" },
    { "path", 1, HERE, "PATH begins with it" },
    { "gpath", 1, HERE, "PATH begins with it" },
    { "merge-stderr-to-stdout", 0, HERE, "as 2>&1 behind the command" },
    { "stdin", 1, HERE, "rank 0 alone reads standard input: write 0 or none" },
    { "s", 1, HERE, "rank 0 alone reads standard input: write 0 or none" },

    { "map-by", 1, PLACE, "map-by %1" },
    { "rank-by", 1, PLACE, "rank-by %1" },
    { "bind-to", 1, PLACE, "bind-to %1" },
    { "rankfile", 1, PLACE, "rankfile %1" },
    { "rf", 1, PLACE, "rankfile %1" },
    { "bind-to-core", 0, PLACE, "bind-to core" },
    { "bind-to-socket", 0, PLACE, "bind-to package" },
    { "bind-to-none", 0, PLACE, "bind-to none" },
    { "bycore", 0, PLACE, "map-by core" },
    { "bynode", 0, PLACE, "map-by node" },
    { "byslot", 0, PLACE, "map-by slot" },
    { "bysocket", 0, PLACE, "map-by package" },
    { "rr", 0, PLACE, "map-by node" },
    { "ppr", 1, PLACE, "map-by ppr:%1" },
    { "ppn", 1, PLACE, "per-host %1" },
    { "perhost", 1, PLACE, "per-host %1" },
    { "npernode", 1, PLACE, "per-node %1" },
    { "npersocket", 1, PLACE, "map-by ppr:%1:package" },
    { "pernode", 0, PLACE, "per-node 1" },
    { "cpus-per-proc", 1, PLACE, "pe %1" },
    { "cpus-per-rank", 1, PLACE, "pe %1" },
    { "cpus-per-task", 1, PLACE, "pe %1" },
    { "ntasks-per-node", 1, PLACE, "per-node %1" },
    { "ntasks-per-socket", 1, PLACE, "map-by ppr:%1:package" },
    { "ntasks-per-core", 1, PLACE, "map-by ppr:%1:core" },
    { "use-hwthread-cpus", 0, PLACE, "hwthreads 1" },
    { "nolocal", 0, PLACE, "nolocal 1" },
    { "skip-launch-node", 0, PLACE, "nolocal 1" },
    { "cpu-set", 1, PLACE, "cpus %1" },
    { "cpu-list", 1, PLACE, "cpus %1" },

    { "membind", 1, INSTEAD, PLACES },
    { "order-nodes", 1, INSTEAD, PLACES },
    { "nooversubscribe", 0, INSTEAD, "hrun never starts more processes than the PEs take without --oversubscribe" },
    { "genvall", 0, INSTEAD, "processes on this host get its environment anyway, those on others what -x names" },
    { "envall", 0, INSTEAD, "processes on this host get its environment anyway, those on others what -x names" },
    { "prefix", 1, INSTEAD, "hrun takes the mpirun that is first in PATH" },
    { "launcher", 1, INSTEAD, REACHES },
    { "launcher-exec", 1, INSTEAD, REACHES },
    { "bootstrap", 1, INSTEAD, REACHES },
    { "bootstrap-exec", 1, INSTEAD, REACHES },
    { "rmk", 1, INSTEAD, REACHES },
    { "launch-agent", 1, INSTEAD, REACHES },
    { "iface", 1, INSTEAD, "hrun leaves the choice of the network to MPI (--mca btl_tcp_if_include)" },
    { "prtemca", 2, INSTEAD, "hrun's mpirun gets no parameters of PRRTE" },
    { "pmixmca", 2, INSTEAD, "hrun's mpirun gets no parameters of PMIx" },
    { "hetero-nodes", 0, INSTEAD, NEEDLESS },
    { "do-not-resolve", 0, INSTEAD, NEEDLESS },
    { "abort-on-non-zero-status", 0, INSTEAD, NEEDLESS },
    { "show-progress", 0, INSTEAD, NEEDLESS },
    { "profile", 0, INSTEAD, "hrun does not profile itself (--trace: which processes wait for which)" },
    { "localhost", 1, INSTEAD, NEEDLESS },
    { "leave-session-attached", 0, INSTEAD, NEEDLESS },
    { "disable-auto-cleanup", 0, INSTEAD, "hrun always ends all processes when one has failed" },
    { "print-all-exitcodes", 0, INSTEAD, "hrun tells the first rank that fails" },
    { "stream-buffering", 1, INSTEAD, "hrun leaves the buffers of the program as they are (stdbuf -oL changes them)" },
    { "mem-bind", 1, INSTEAD, PLACES },
    { "exclusive", 0, INSTEAD, NEEDLESS },
    { "overlap", 0, INSTEAD, NEEDLESS },
    { "exact", 0, INSTEAD, NEEDLESS },
    { "kill-on-bad-exit", 0, INSTEAD, "hrun always ends all processes when one has failed" },
    { "unbuffered", 0, INSTEAD, "hrun leaves the buffers of the program as they are (stdbuf -oL changes them)" },
    { "u", 0, INSTEAD, "hrun leaves the buffers of the program as they are (stdbuf -oL changes them)" },
    { "threads-per-core", 1, INSTEAD, "a process gets whole cores (--use-hwthread-cpus: hardware threads)" },
    { "hint", 1, INSTEAD, "a process gets whole cores (--use-hwthread-cpus: hardware threads)" },
    { "timestamp-output", 0, INSTEAD, "hrun puts no times before lines (2>&1 | ts does so)" },
    { "job-name", 1, INSTEAD, NEEDLESS },

    { "nodes", 1, REFUSED, "name the hosts with --host a,b, or ask salloc or sbatch for nodes" },
    { "exclude", 1, REFUSED, "name the hosts that remain with --host a,b" },
    { "cpu-bind", 1, REFUSED, "write --bind-to none, core, socket or numa" },
    { "distribution", 1, REFUSED, "write --map-by slot in place of block, --map-by node in place of cyclic" },
    { "multi-prog", 0, REFUSED, "write the programs on the command line: hrun -n 1 A : -n 7 B" },
    { "time", 1, REFUSED, "write --timeout with a unit: 90s, 5m, 1h30m" },
    { "input", 1, REFUSED, "redirect the input: < FILE" },
    { "error", 1, REFUSED, "redirect the output: 2> FILE" },
    { "partition", 1, REFUSED, ASKS },
    { "account", 1, REFUSED, ASKS },
    { "qos", 1, REFUSED, ASKS },
    { "reservation", 1, REFUSED, ASKS },
    { "constraint", 1, REFUSED, ASKS },
    { "gres", 1, REFUSED, ASKS },
    { "gpus", 1, REFUSED, ASKS },
    { "gpus-per-task", 1, REFUSED, ASKS },
    { "mem", 1, REFUSED, ASKS },
    { "mem-per-cpu", 1, REFUSED, ASKS },

    { "genvnone", 0, REFUSED, "write env -i NAME=VALUE... hrun" },
    { "envnone", 0, REFUSED, "write env -i NAME=VALUE... hrun" },
    { "output-filename", 1, REFUSED, "redirect the output: hrun --tag-output ... > FILE" },
    { "outfile-pattern", 1, REFUSED, "redirect the output: hrun --tag-output ... > FILE" },
    { "errfile-pattern", 1, REFUSED, "redirect the output: hrun --tag-output ... 2> FILE" },
    { "output", 1, REFUSED, "write --tag-output, or redirect the output: > FILE" },
    { "soft", 1, REFUSED, "say one number of processes, or none: hrun chooses" },
    { "usize", 1, REFUSED, "hrun starts no further processes while a program runs" },
    { "debug", 0, REFUSED, DEBUGGER },
    { "tv", 0, REFUSED, DEBUGGER },
    { "gdb", 0, REFUSED, DEBUGGER },
    { "xterm", 1, REFUSED, DEBUGGER },
};

/* The words that MPICH's mpiexec has and Open MPI's mpirun has not. */
static const char of_mpiexec[] =
    " f hosts genv env genvlist envlist prepend-rank l print-rank-map configfile ppn perhost rr membind order-nodes "
    "genvall envall launcher launcher-exec bootstrap bootstrap-exec rmk iface print-all-exitcodes disable-auto-cleanup "
    "profile localhost skip-launch-node gpath gwdir ";

static int is_of_mpiexec(const char *name)
{
    size_t len = strlen(name);

    for (const char *p = of_mpiexec; (p = strstr(p, name)); p++)
        if (p[-1] == ' ' && p[len] == ' ')
            return 1;
    return 0;
}

static const struct word *find_word(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].name) == len && !strncmp(words[i].name, name, len))
            return &words[i];
    return NULL;
}

/* Fail for an unknown option that is the beginning of a word of another launcher, or resembles such a word more than
 * any option of hrun. */
static int check_spelling(const char *word, const char *name, size_t len, struct hrun_error *err)
{
    enum { NWORDS = sizeof words / sizeof *words, BEGINS = 3 };
    const char *known[HRUN_OPTS_MAX + NWORDS], *near = NULL;
    char *plain = xstrndup(name, len);
    size_t n = 0;
    int rc = 0;

    for (const struct hrun_opt *o = hrun_options; o->name; o++)
        known[n++] = o->name;
    for (size_t i = 0; i < NWORDS; i++) {
        known[n++] = words[i].name;
        if (!near && len >= BEGINS && !strncmp(words[i].name, name, len))
            near = words[i].name;
    }
    if (word[1] == 'c' && name[1] && !name[1 + strspn(name + 1, "0123456789")])
        rc = hrun_fail(err, HRUN_EINVAL, "unknown option '%s'; for the cores of each process, as with srun, write "
                       "--cpus-per-task %s", word, name + 1);
    near = near || rc ? near : hrun_nearest(plain, known, n);
    if (near && find_word(near, strlen(near)))
        rc = hrun_fail(err, HRUN_EINVAL, "unknown option '%s'; did you mean '%s%s'?", word, near[1] ? "--" : "-", near);
    free(plain);
    return rc;
}

/* The number of further words that belong to an option of hrun; -1 with *err. After two dashes a unique abbreviation of
 * the name is allowed. After one dash an abbreviation is refused, as it may be a word of another launcher. */
static int own_values(const char *word, struct hrun_error *err)
{
    const char *name = word + 1 + (word[1] == '-');
    size_t len = strcspn(name, "=");
    const struct hrun_opt *found = NULL;

    for (const struct hrun_opt *o = hrun_options; o->name && !found; o++)
        if ((strlen(o->name) == len && !strncmp(o->name, name, len)) || (len == 1 && word[1] != '-' && o->sym == *name))
            found = o;
    for (const struct hrun_opt *o = hrun_options; o->name && !found && word[1]; o++)
        if (!strncmp(o->name, name, len))
            found = o;
    if (found && word[1] != '-' && len > 1 && strlen(found->name) != len)
        return hrun_fail(err, HRUN_EINVAL, "unknown option '%s'; did you mean '--%s'?", word, found->name);
    for (const struct hrun_opt *o = hrun_options; o->name && !found && word[1] != '-'; o++)
        if (o->sym == *name)    /* "-n4" */
            return 0;
    if (!found)
        return check_spelling(word, name, len, err);
    if (found->arg == HRUN_OPT_NONE || found->optional)
        return 0;
    return (found->arg == HRUN_OPT_PAIR ? 2 : 1) - (name[len] == '=');
}

/* Append the words of text, with values in place of %1 and %2. */
static void add_served(const char *text, const char *const *values, struct hrun_strvec *out)
{
    autorelease(hrun_buf_release) struct hrun_buf word = HRUN_BUF_INIT;

    while (*text) {
        size_t len = strcspn(text, " ");

        hrun_buf_reset(&word);
        for (size_t i = 0; i < len; i++) {
            int value = text[i] == '%' ? text[++i] - '1' : -1;
            if (value >= 0)
                hrun_buf_adds(&word, values[value]);
            else
                hrun_buf_addc(&word, text[i]);
        }
        hrun_strvec_push(out, word.data);
        text += len;
        text += *text == ' ';
    }
}

static void add_each(const char *text, const char *list, struct hrun_strvec *out)
{
    autofree char *copy = xstrdup(list);
    char *save = NULL;

    for (char *one = strtok_r(copy, ",", &save); one; one = strtok_r(NULL, ",", &save))
        add_served(text, (const char *const[]){ one, "" }, out);
}

/* Append the words of a file. PROGRAMS: the words of each line, with ':' between lines. PARAMETERS: a line is
 * "KEY = VALUE" or begins with an option; *env gets the variables of -x. */
static int add_words_of_file(enum what what, const char *path, struct hrun_strvec *out, struct hrun_strvec *env,
                             struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    char *save, *rest;

    if (hrun_file_read(path, PARAMETERS_MAX, &text, err))
        return -1;
    for (char *line = strtok_r(text.data, "\r\n", &save); line; line = strtok_r(NULL, "\r\n", &save)) {
        int options = what == PROGRAMS || line[strspn(line, " \t")] == '-';
        char *word = strtok_r(line, options ? " \t" : " \t=", &rest), *value;

        if (!word || *word == '#')
            continue;
        if (what == PROGRAMS && out->n && strcmp(word, ":") && strcmp(out->v[out->n - 1], ":"))
            hrun_strvec_push(out, ":");
        for (; options && word; word = strtok_r(NULL, " \t", &rest)) {
            if (what == PARAMETERS && !strcmp(word, "-x") && (value = strtok_r(NULL, " \t", &rest)))
                hrun_strvec_push(env, value);
            else
                hrun_strvec_push(out, word);
        }
        if (options)
            continue;
        value = rest + strspn(rest, " \t=");
        for (char *end = value + strlen(value); end > value && strchr(" \t", end[-1]); )
            *--end = 0;
        hrun_strvec_push(out, "--mca");
        hrun_strvec_push(out, word);
        hrun_strvec_push(out, value);
    }
    return 0;
}

/* Obey a word that needs no option. Result: 1; 0 if its value is not supported; -1 with errno. */
static int serve_here(const char *name, const char *value)
{
    const char *before = getenv("PATH");
    autofree char *path = NULL;

    if (!strcmp(name, "allow-run-as-root"))
        return setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1) || setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1) ? -1 : 1;
    if (!strcmp(name, "merge-stderr-to-stdout"))
        return dup2(STDOUT_FILENO, STDERR_FILENO) < 0 ? -1 : 1;
    if (!strcmp(name, "stdin") || !strcmp(name, "s"))
        return !strcmp(value, "none") ? (freopen("/dev/null", "r", stdin) ? 1 : -1) : !strcmp(value, "0");
    path = hrun_strf("%s%s%s", value, before ? ":" : "", before ? before : "");
    return setenv("PATH", path, 1) ? -1 : 1;
}

/* Read the text of the rankfile once, since the file may be a pipe, or may change before the layout is made. */
static int keep_rankfile(struct hrun_settings *s, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    struct hrun_strvec *v = &s->mapping_words;

    s->mapping.rankfile_text = NULL;
    if (!s->mapping.rankfile)
        return 0;
    if (hrun_file_read(s->mapping.rankfile, HRUN_RANKFILE_MAX, &text, err))
        return -1;
    hrun_strvec_push(v, text.data);
    s->mapping.rankfile_text = v->v[v->n - 1];
    return 0;
}

/* Set a placement in s->mapping, with its values stored in s->mapping_words. */
static int set_place(const struct word *w, const char *as, const char *const *values, struct hrun_settings *s,
                     struct hrun_error *err)
{
    struct hrun_strvec *v = &s->mapping_words;

    add_served(w->text, values, v);
    if (!hrun_mapping_set(&s->mapping, v->v[v->n - 2], v->v[v->n - 1], err)) {
        s->common.verbose |= s->mapping.displays;
        s->report_bindings |= s->mapping.reports;
        return keep_rankfile(s, err);
    }
    return hrun_fail_prefix(err, "%s%s%s", as, w->values ? " " : "", w->values ? values[0] : "");
}

static int replace_one(const struct word *w, const char *as, const char *const *values, struct hrun_settings *s,
                       struct hrun_strvec *out, struct hrun_error *err)
{
    int done;

    switch (w->what) {
    case SERVED:
        add_served(w->text, values, out);
        break;
    case EACH:
        add_each(w->text, values[0], out);
        break;
    case ALL:
        if (w->values == 1)
            add_each(w->text, values[0], &s->common.job.env);
        else
            add_served(w->text, values, &s->common.job.env);
        break;
    case PROGRAMS:
        break;
    case PARAMETERS:
        return add_words_of_file(PARAMETERS, values[0], out, &s->common.job.env, err)
               ? hrun_fail_prefix(err, "%s", as) : 0;
    case HERE:
        done = serve_here(w->name, values[0]);
        if (done > 0)
            break;
        if (done < 0)
            return hrun_fail_errno(err, HRUN_EIO, "%s", as);
        return hrun_fail(err, HRUN_EINVAL, "%s %s is not served: %s", as, values[0], w->text);
    case PLACE:
        return set_place(w, as, values, s, err);
    case INSTEAD:
        hrun_strvec_pushf(&s->notes, "%s%s%s: %s", as, w->values ? " " : "", w->values ? values[0] : "", w->text);
        break;
    case REFUSED:
        return hrun_fail(err, HRUN_EINVAL, "%s, an option of mpirun, mpiexec or srun, is not served: %s", as, w->text);
    }
    return 0;
}

/* 1 if path is a file for mpirun's --app: its first line begins with an option. Else 0: -app names a definition. */
static int is_app_file(const char *path)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    const char *p = path && !hrun_file_read(path, PARAMETERS_MAX, &text, NULL) ? text.data : "";

    while (*(p += strspn(p, " \t\r\n")) == '#')
        p += strcspn(p, "\n");
    return *p == '-' && p[1] && !strchr("- \t\r\n", p[1]);
}

/* Replace the options of argv[*at..], up to "--" or the program. *file gets the words of a file of programs. */
static int replace_options(char **argv, int *at, struct hrun_settings *s, struct hrun_strvec *out,
                           struct hrun_strvec *file, struct hrun_error *err)
{
    const char *c = NULL;
    int i = *at, own, np = 0;

    while (argv[i] && argv[i][0] == '-' && argv[i][1] && strcmp(argv[i], "--")) {
        const char *name = argv[i] + 1 + (argv[i][1] == '-'), *eq = strchr(name, '='), *values[2] = { "", "" };
        const struct word *w = find_word(name, eq ? (size_t)(eq - name) : strlen(name));
        char as[64];

        if (w && !strcmp(w->name, "app") && !is_app_file(eq ? eq + 1 : argv[i + 1]))
            w = NULL;
        np |= (*name == 'n' && argv[i][1] == 'n' && !name[1 + strspn(name + 1, "0123456789")]) ||
              (!strncmp(name, "np", 2) && (!name[2] || name[2] == '=')) || (w && !strcmp(w->name, "ntasks"));
        if (!w) {
            s->short_N |= argv[i][1] == 'N';
            own = own_values(argv[i], err);
            if (own < 0)
                return -1;
            for (; own >= 0 && argv[i]; own--)
                hrun_strvec_push(out, argv[i++]);
            continue;
        }
        snprintf(as, sizeof as, "%.*s%s", (int)(name - argv[i]), argv[i], w->name);
        if (eq && w->values != 1 && w->what != INSTEAD)
            return hrun_fail(err, HRUN_EINVAL, "option '%s' takes no value behind '=', found '%s'", as, argv[i]);
        i++;
        if (eq)
            values[0] = eq + 1;
        for (int k = 0; k < w->values && !eq; k++) {
            if (!argv[i])
                return hrun_fail(err, HRUN_EINVAL, "option '%s' needs %s", as,
                                 w->values == 2 ? "two values" : "a value");
            values[k] = argv[i++];
        }
        c = !strcmp(w->name, "c") ? values[0] : c;
        s->hydra |= is_of_mpiexec(w->name);
        if (w->what == PROGRAMS && add_words_of_file(PROGRAMS, values[0], file, NULL, err))
            return hrun_fail_prefix(err, "%s", as);
        if (w->what != PROGRAMS && replace_one(w, as, values, s, out, err))
            return -1;
        s->gwdir = !strcmp(w->name, "gwdir") ? out->v[out->n - 1] : s->gwdir;
    }
    *at = i;
    return !c || !np ? 0
           : hrun_fail(err, HRUN_EINVAL, "-c %s and -n both give the number of processes, as with mpirun: for the "
                       "cores of each process, as with srun, write --cpus-per-task %s", c, c);
}

int mpirun_words_replace(char **argv, struct hrun_settings *s, struct hrun_strvec *out, struct hrun_error *err)
{
    autorelease(hrun_strvec_release) struct hrun_strvec file = HRUN_STRVEC_INIT, more = HRUN_STRVEC_INIT;
    int i = 1;

    hrun_strvec_push(out, argv[0]);
    s->hydra |= !strncmp(hrun_base_name(argv[0]), "mpiexec", 7);
    if (replace_options(argv, &i, s, out, &file, err))
        return -1;
    if (file.n && argv[i])
        return hrun_fail(err, HRUN_EINVAL, "the file of --app or --configfile names the programs: leave '%s' out",
                         argv[i]);
    if (file.n) {
        argv = file.v;
        i = 0;
        if (replace_options(argv, &i, s, out, &more, err))
            return -1;
        if (more.n)
            return hrun_fail(err, HRUN_EINVAL, "a file of programs (--app, --configfile) cannot name another one");
    }
    hrun_strvec_add_all(out, argv + i);
    s->common.job.env_first[0] = s->common.job.env.n;
    return 0;
}

/* MCA parameters of mpirun that place processes, by their names in versions 4 and 5, and the equivalent words. */
static const struct parameter {
    const char *names[2];
    struct word as;             /* no values: the parameter is true or false */
} parameters[] = {
    { { "rmaps_base_oversubscribe", "rmaps_base_oversubscribe" }, { "", 0, PLACE, "oversubscribe 1" } },
    { { "hwloc_base_binding_policy", "hwloc_default_binding_policy" }, { "", 1, PLACE, "bind-to %1" } },
    { { "rmaps_base_mapping_policy", "rmaps_default_mapping_policy" }, { "", 1, PLACE, "map-by %1" } },
    { { "rmaps_base_ranking_policy", "rmaps_default_ranking_policy" }, { "", 1, PLACE, "rank-by %1" } },
    { { "orte_rankfile", "rmaps_rank_file_path" }, { "", 1, PLACE, "rankfile %1" } },
    { { "rmaps_base_n_pernode", "rmaps_ppr_n_pernode" }, { "", 1, PLACE, "per-node %1" } },
    { { "rmaps_base_pernode", "rmaps_ppr_pernode" }, { "", 0, PLACE, "per-node 1" } },
    { { "rmaps_base_cpus_per_rank", "rmaps_base_cpus_per_proc" }, { "", 1, PLACE, "pe %1" } },
    { { "hwloc_base_use_hwthreads_as_cpus", "hwloc_use_hwthreads_as_cpus" }, { "", 0, PLACE, "hwthreads 1" } },
    { { "hwloc_base_cpu_list", "hwloc_base_cpu_set" }, { "", 1, PLACE, "cpus %1" } },
    { { "rmaps_base_no_schedule_local", "rmaps_base_no_schedule_local" }, { "", 0, PLACE, "nolocal 1" } },
};
enum { ANYWAY, UNBOUND };       /* the first rows: obeyed in any case; obeyed unless --bind-to is given */

/* Hide a parameter from mpirun, where it would conflict with hrun's rankfile. */
static void hide_parameter(const char *name, struct hrun_strvec *mca)
{
    size_t len = strlen(name), n = 0;
    char text[128];

    for (size_t i = 0; i < mca->n; i++) {
        if (strncmp(mca->v[i], name, len) || mca->v[i][len] != '=')
            mca->v[n++] = mca->v[i];
        else
            free(mca->v[i]);
    }
    while (mca->n > n)
        mca->v[--mca->n] = NULL;
    snprintf(text, sizeof text, "PRTE_MCA_%s", name);
    unsetenv(text);
    snprintf(text, sizeof text, "OMPI_MCA_%s", name);
    setenv(text, "", 1);
}

static void obey_parameter(const struct parameter *p, const char *value, struct hrun_settings *s)
{
    const struct hrun_mapping before = s->mapping;
    struct hrun_error why = { 0 };

    if (set_place(&p->as, "value", &value, s, &why)) {
        s->mapping = before;
        hrun_strvec_pushf(&s->notes, "MCA parameter %s=%s is ignored: %s", p->names[0], value, why.text);
    } else if (hrun_mapping_places(&s->mapping) && !hrun_mapping_places(&before))
        hrun_strvec_pushf(&s->notes, "MCA parameter %s=%s says where processes go, so no model chooses", p->names[0],
                          value);
}

void mpirun_parameters_obey(struct hrun_settings *s)
{
    static const char *const no[] = { "", "0", "f", "false", "disabled", "no", "n" };
    int bound = s->mapping.bind_to != HRUN_MAP_UNSET;
    int placed = hrun_mapping_places(&s->mapping) || s->ask.config || s->probe || s->finest || s->ask.explore > 0;

    for (int i = 0; i < (int)(sizeof parameters / sizeof *parameters); i++) {
        const struct parameter *p = &parameters[i];
        autofree char *value = settings_parameter(&s->common, p->names);
        int on = value && *value && !(i == UNBOUND ? bound : i != ANYWAY && placed);

        for (size_t k = 0; on && !p->as.values && k < sizeof no / sizeof *no; k++)
            on = strcasecmp(value, no[k]) != 0;
        for (int k = 0; k < 2 && value; k++)
            hide_parameter(p->names[k], &s->common.job.mca);
        if (on)
            obey_parameter(p, value, s);
    }
}
