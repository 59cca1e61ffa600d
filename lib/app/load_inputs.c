/* load_inputs.c - files, arguments, standard input and the time of a definition; see internal.h */
#include "app/internal.h"
#include "app/app.h"
#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A path stays in the working directory. Result: what is wrong with it, or NULL. */
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

static int check_path(const struct hrun_load *l, const char *at, const char *path)
{
    const char *fault = path_fault(path);

    if (!fault)
        return 0;
    return hrun_load_bad(l, at, "the path '%s' %s: it is relative to the working directory and stays in it", path,
                         fault);
}

/* Which of the arguments a number of the command is: "{N}", "nx={N}". Result: how many are. */
static int find_number(const struct raw_app *raw, struct hrun_app *app)
{
    int n = 0;

    for (unsigned i = 0; i < raw->args_count; i++) {
        const char *at = strstr(raw->args[i], "{N}");

        if (at && !at[3] && (at == raw->args[i] || at[-1] == '=')) {
            app->in_command = (int)i + 1;
            n++;
        }
    }
    return n;
}

static int load_inputs(struct hrun_load *l)
{
    const struct raw_app *raw = l->raw;
    struct hrun_app *app = l->app;
    char path[64];

    app->files = xcalloc(raw->files_count + 1u, sizeof *app->files);
    for (unsigned i = 0; i < raw->files_count; i++) {
        const struct raw_file *f = &raw->files[i];

        snprintf(path, sizeof path, "files[%u].path", i);
        if (check_path(l, path, f->path) || hrun_load_check_template(l, path, f->path))
            return -1;
        for (unsigned k = 0; k < i; k++)
            if (!strcmp(raw->files[k].path, f->path))
                return hrun_load_bad(l, path, "there are two files '%s'", f->path);
        snprintf(path, sizeof path, "files[%u].content", i);
        if (hrun_load_check_template(l, path, f->content))
            return -1;
        app->nfiles = (int)i + 1;
        app->files[i].path = xstrdup(f->path);
        app->files[i].content = xstrdup(f->content);
    }
    for (unsigned i = 0; i < raw->args_count; i++) {
        snprintf(path, sizeof path, "args[%u]", i);
        if (hrun_load_check_template(l, path, raw->args[i]))
            return -1;
    }
    if (raw->size && !app->fixed && !app->of_command && find_number(raw, app) != 1)
        return hrun_load_bad(l, "size", "with size: number one word of args is {N} or ends in ={N}: where the number "
                             "stands");
    if (raw->stdin_text && hrun_load_check_template(l, "stdin", raw->stdin_text))
        return -1;
    hrun_load_list(raw->args, raw->args_count, &app->args, &app->nargs);
    app->stdin_text = hrun_load_text(raw->stdin_text);
    return 0;
}

static int load_prepare(struct hrun_load *l)
{
    const struct raw_app *raw = l->raw;
    struct hrun_app *app = l->app;
    char path[64];

    app->prepare = xcalloc(raw->prepare_count + 1u, sizeof *app->prepare);
    for (unsigned i = 0; i < raw->prepare_count; i++) {
        const struct raw_prepare *p = &raw->prepare[i];
        int mpi = p->mpi_count > 0;
        char **words = mpi ? p->mpi : p->run;
        unsigned n = mpi ? p->mpi_count : p->run_count;

        snprintf(path, sizeof path, "prepare[%u]", i);
        if (mpi == (p->run_count > 0))
            return hrun_load_bad(l, path,
                                 "a step is either `run: [WORD, ...]`, a command, or `mpi: [WORD, ...]`, one that "
                                 "is started as the application is");
        app->prepare[i].mpi = mpi;
        app->nprepare = (int)i + 1;
        hrun_load_list(words, n, &app->prepare[i].words, &app->prepare[i].nwords);
        for (unsigned k = 0; k < n; k++) {
            snprintf(path, sizeof path, "prepare[%u].%s[%u]", i, mpi ? "mpi" : "run", k);
            if (hrun_load_check_template(l, path, words[k]))
                return -1;
        }
    }
    return 0;
}

static int load_time(struct hrun_load *l)
{
    static const char *const vars[] = { "x", "N", "P" };
    const struct raw_time *t = l->raw->time;
    struct hrun_time_match *pattern;
    struct hrun_error why = { .code = HRUN_OK };

    if (!t)
        return 0;
    pattern = hrun_time_match_create(t->match, &why);
    if (!pattern)
        return hrun_load_bad(l, "time.match", "%s", why.text);
    hrun_time_match_destroy(pattern);
    if (t->file && check_path(l, "time.file", t->file))
        return -1;
    if (t->value) {
        l->app->time_value = hrun_expr_compile(t->value, vars, 3, l->app->consts, l->app->nconsts, &why);
        if (!l->app->time_value)
            return hrun_load_fail_inside(l, "time.value", why.column > 0 ? why.column - 1 : 0, &why);
    }
    l->app->time_match = xstrdup(t->match);
    l->app->time_file = hrun_load_text(t->file);
    return 0;
}

/* Shares have to reach the program. Where there are no arguments, those of the user may tell them. */
static int check_shares(const struct hrun_load *l)
{
    int size, told = 1;

    if (l->raw->shares && !l->raw->variants_count && l->app->nargs)
        hrun_app_inputs_use(l->app, 1, &size, &told);
    return told ? 0 : hrun_load_bad(l, "shares", "the share of a process does not reach the program: write {shares} "
                                    "where it stands in args, files, stdin or prepare, for instance "
                                    "args: ['{N}', '--shares={shares}'], or leave 'shares' out");
}

int hrun_load_inputs(struct hrun_load *l)
{
    return load_inputs(l) || load_prepare(l) || load_time(l) || check_shares(l) ? -1 : 0;
}
