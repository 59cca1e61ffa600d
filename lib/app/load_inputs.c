/* load_inputs.c - files, arguments, standard input and the time of a definition; see load.h */
#include "app/load.h"

#include "app/template.h"
#include "app/time_match.h"
#include "base/alloc.h"

#include <string.h>

/* Check that a path stays in the working directory. Result: the mistake, or NULL. */
static const char *path_fault(const char *p)
{
    const char *s = p;

    if (!*p)
        return "is empty";
    if (*p == '/')
        return "is absolute";
    if (p[strlen(p) - 1] == '/')
        return "is a folder";
    for (; s; s = strchr(s, '/')) {
        s += *s == '/';
        if (*s == '/' || (*s == '.' && (s[1] == '/' || !s[1])))
            return "has an empty or '.' part, which leads nowhere";
        if (!strncmp(s, "..", 2) && (s[2] == '/' || !s[2]))
            return "leaves the working directory";
    }
    return NULL;
}

static int check_path(struct hrun_load *l, const char *at, const char *path)
{
    const char *fault = path_fault(path);

    if (!fault)
        return 0;
    return hrun_load_bad(l, at, "the path '%s' %s: it is relative to the working directory and stays in it", path,
                         fault);
}

/* Set sizes.in_command to the argument with {N}, such as "{N}" or "nx={N}". Result: the number of such arguments. */
static int find_number(struct hrun_app *app)
{
    int n = 0;

    for (int i = 0; i < app->run.nargs; i++) {
        const char *arg = app->run.args[i], *at = strstr(arg, "{N}");

        if (at && !at[3] && (at == arg || at[-1] == '=')) {
            app->sizes.in_command = i + 1;
            n++;
        }
    }
    return n;
}

static int load_inputs(struct hrun_load *l)
{
    const struct hrun_app_run *run = &l->app->run;

    for (int i = 0; i < run->nfiles; i++) {
        const char *path = hrun_load_at(l, "files[%d].path", i);

        if (check_path(l, path, run->files[i].path) || hrun_load_check_template(l, path, run->files[i].path))
            return -1;
        for (int k = 0; k < i; k++)
            if (!strcmp(run->files[k].path, run->files[i].path))
                return hrun_load_bad(l, path, "there are two files '%s'", run->files[i].path);
        if (hrun_load_check_template(l, hrun_load_at(l, "files[%d].content", i), run->files[i].content))
            return -1;
    }
    for (int i = 0; i < run->nargs; i++)
        if (hrun_load_check_template(l, hrun_load_at(l, "args[%d]", i), run->args[i]))
            return -1;
    if (l->d->size == SIZE_NUMBER && find_number(l->app) != 1)
        return hrun_load_bad(l, "size", "with size: number one word of args is {N} or ends in ={N}: where the number "
                             "stands");
    return run->stdin_text ? hrun_load_check_template(l, "stdin", run->stdin_text) : 0;
}

static int load_prepare(struct hrun_load *l)
{
    struct hrun_app_run *run = &l->app->run;

    run->prepare = xcalloc(l->d->nprepare + 1u, sizeof *run->prepare);
    for (unsigned i = 0; i < l->d->nprepare; i++) {
        const struct raw_prepare *p = &l->d->prepare[i];
        struct hrun_app_step *step = &run->prepare[run->nprepare++];

        if (!p->nmpi == !p->nrun)
            return hrun_load_bad(l, hrun_load_at(l, "prepare[%u]", i),
                                 "a step is either `run: [WORD, ...]`, a command, or `mpi: [WORD, ...]`, one that "
                                 "is started as the application is");
        *step = p->nmpi ? (struct hrun_app_step){ p->mpi, p->nmpi, 1 } : (struct hrun_app_step){ p->run, p->nrun, 0 };
        for (int k = 0; k < step->nwords; k++)
            if (hrun_load_check_template(l, hrun_load_at(l, "prepare[%u].%s[%d]", i, step->mpi ? "mpi" : "run", k),
                                         step->words[k]))
                return -1;
    }
    return 0;
}

static int load_time(struct hrun_load *l)
{
    static const char *const vars[] = { "x", "N", "P" };
    const struct raw_time *t = l->d->time;
    struct hrun_time_match *pattern;
    struct hrun_error why;

    if (!t)
        return 0;
    pattern = hrun_time_match_create(t->match, &why);
    if (!pattern)
        return hrun_load_bad(l, "time.match", "%s", why.text);
    hrun_time_match_destroy(pattern);
    l->app->time.match = t->match;
    l->app->time.file = t->file;
    if (t->file && check_path(l, "time.file", t->file))
        return -1;
    l->app->time.value = t->value ? hrun_load_expr(l, "time.value", t->value, vars, 3) : NULL;
    return t->value && !l->app->time.value ? -1 : 0;
}

int hrun_load_inputs(struct hrun_load *l)
{
    int size, used = 1;

    if (load_inputs(l) || load_prepare(l) || load_time(l))
        return -1;
    /* One of the inputs must contain the shares. Without `args` the user's arguments may contain them. */
    if (l->d->shares && (l->variant || !l->d->nvariants) && l->app->run.nargs)
        hrun_app_inputs_use(l->app, 1, &size, &used);
    return used ? 0 : hrun_load_bad(l, "shares", "the share of a process does not reach the program: write {shares} "
                                    "where it stands in args, files, stdin or prepare, for instance "
                                    "args: ['{N}', '--shares={shares}'], or leave 'shares' out");
}
