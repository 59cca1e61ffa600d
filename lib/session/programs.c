/* programs.c - the program and the words of each rank of a job; see work.h */
#include "base/alloc.h"
#include "base/file.h"
#include "session/work.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The largest P tried to find a program whose name contains {P}. */
enum { VARIANTS_MAX = 4096 };

static char *expand_program_word(const struct work *w, const struct hrun_app_values *values, const char *word,
                                 struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf out = HRUN_BUF_INIT;

    return hrun_app_expand_word(w->c->app, word, values, &out, err) ? NULL : hrun_buf_detach(&out);
}

/* Find the programs of a job after the first one. */
static int find_others(const struct work *w, int64_t P, struct hrun_error *err)
{
    hrun_strvec_release(&w->c->others);
    for (int i = 1; i < w->programs.n; i++) {
        const struct hrun_app_values values = { .N = w->N, .P = P };
        autofree char *name = expand_program_word(w, &values, w->programs.v[i].words[0], err);
        autofree char *path = name ? context_find_other(w->c, name, w->programs.v[i].wdir, err) : NULL;

        if (!path)
            return -1;
        hrun_strvec_push(&w->c->others, path);
    }
    return 0;
}

/* If the program shows no MPI (such as nice or taskset), and a later word names a program of MPICH, use MPICH. */
static void find_mpi_behind(const struct work *w)
{
    struct hrun_mpi *mpi = &w->c->mpi, other;

    if (mpi->kind != HRUN_MPI_NONE || w->c->set->job.mpi_family)
        return;
    for (char *const *word = w->words + 1; word[-1] && *word && mpi->kind == HRUN_MPI_NONE; word++) {
        autofree char *path = **word == '-' ? NULL : hrun_program_find(*word, w->c->set->job.wdir, NULL);

        if (path && !hrun_program_mpi(path, &other, NULL) && other.kind == HRUN_MPI_MPICH) {
            *mpi = other;
            mpi->behind_script = 1;
        }
    }
}

int work_find_program(const struct work *w, int64_t P, struct hrun_error *err)
{
    struct hrun_error first = { 0 }, later;
    int64_t lo = P ? P : 1, hi = P ? P : strstr(w->words[0], "{P}") ? VARIANTS_MAX : 1;

    for (int64_t p = lo; p <= hi; p++) {
        autofree char *name = expand_program_word(w, &(struct hrun_app_values){ .N = w->N, .P = p }, w->words[0], err);

        if (!name)
            return -1;
        if (!context_find_program(w->c, name, p == lo ? &first : &later)) {
            find_mpi_behind(w);
            return find_others(w, p, err);
        }
    }
    if (err)
        *err = first;
    return -1;
}

/* Append the words to start: {N}, {P}, {shares} and constants are replaced, other words in braces stay. If the user
 * gave no arguments, those of the definition follow. */
static int make_words(const struct work *w, char *const *words, const struct hrun_app_values *values,
                      struct hrun_strvec *out, struct hrun_error *err)
{
    const struct hrun_app *app = w->c->app;
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;

    for (char *const *word = words; *word; word++) {
        autofree char *s = expand_program_word(w, values, *word, err);

        if (!s)
            return -1;
        hrun_strvec_push(out, s);
    }
    for (int i = 0; app && words == w->words && !words[1] && i < app->run.nargs; i++) {
        hrun_buf_reset(&b);
        if (hrun_app_expand(app, app->run.args[i], values, &b, err))
            return hrun_fail_prefix(err, "args of %s", app->name);
        hrun_strvec_push(out, b.data);
    }
    return 0;
}

void work_words_release(struct work_words *words)
{
    for (int i = 0; words->argvs && i < words->n; i++)
        hrun_strvec_release(&words->argvs[i]);
    free(words->argvs);
    hrun_strvec_release(&words->paths);
    hrun_strvec_release(&words->env);
    free(words->programs);
    free(words->which);
    *words = (struct work_words){ 0 };
}

/* Allocate n programs. */
static void words_create(struct work_words *out, int n)
{
    out->argvs = xcalloc((size_t)n, sizeof *out->argvs);
    out->programs = xcalloc((size_t)n, sizeof *out->programs);
    out->n = n;
}

/* Set the program of each rank: ranks are numbered one program after the other. */
static void deal_ranks(const struct work *w, const struct hrun_layout *layout, struct work_words *out)
{
    out->which = xcalloc((size_t)layout->nranks, sizeof *out->which);
    for (int r = 0, i = 0, left = w->programs.v[0].procs; r < layout->nranks; r++, left--) {
        if (!left && i + 1 < w->programs.n)
            left = w->programs.v[++i].procs;
        out->which[r] = i;
    }
}

/* ---------------------------------------------------------------- builds: separate programs for sub-clusters */

/* The program for a sub-cluster in the cluster file, else in the definition; NULL: none. */
static const char *build_of(const struct context *c, int sub)
{
    const struct hrun_subcluster *s = &c->cluster->subs[sub];
    const struct hrun_topo *t = c->cluster->hosts[s->pes[0].host].topo;

    for (int i = 0; !s->program && c->app && i < c->app->programs.nbuilds; i++) {
        const struct hrun_app_build *b = &c->app->programs.builds[i];

        if (!strcmp(b->on, s->name) || (t && !strcmp(b->on, hrun_topo_machine(t))))
            return b->program;
    }
    return s->program;
}

static int same_build(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

/* 1 if a rank on this host starts the build, else 0. */
static int starts_here(const struct work *w, const struct hrun_layout *l, const char *build)
{
    for (int r = 0; r < l->nranks; r++)
        if (l->cluster->hosts[l->ranks[r].host].is_local && same_build(build_of(w->c, l->ranks[r].sub), build))
            return 1;
    return 0;
}

/* The path of a program that exists only on other hosts, without a search in their PATH; the caller frees it. */
static char *path_elsewhere(const struct context *c, const char *name)
{
    const char *wdir = c->set->job.wdir ? c->set->job.wdir : "";
    autofree char *cwd = *wdir == '/' ? NULL : getcwd(NULL, 0);

    if (*name == '/' || !strchr(name, '/'))
        return xstrdup(name);
    return hrun_strf("%s%s%s/%s", cwd ? cwd : "", cwd && *wdir ? "/" : "", wdir, name);
}

/* Set argv[0] to the build, with words in braces replaced. Result: its path, which the caller frees; NULL with *err. */
static char *replace_by_build(const struct work *w, const struct hrun_layout *layout, const char *build,
                              const struct hrun_app_values *values, char **argv, struct hrun_error *err)
{
    static const char named[] = "{program}";
    const char *at = strstr(build, named);
    autofree char *text = at ? hrun_strf("%.*s%s%s", (int)(at - build), build, w->words[0], at + strlen(named))
                             : xstrdup(build);
    char *name = expand_program_word(w, values, text, err);
    struct hrun_error why = { 0 };
    char *path;

    if (!name)
        return NULL;
    free(argv[0]);
    argv[0] = name;
    path = context_find_other(w->c, name, NULL, &why);
    if (!path && why.code == HRUN_ENOPROG && (!w->c->program || !starts_here(w, layout, build)))
        path = path_elsewhere(w->c, name);
    if (!path && err)
        *err = why;
    return path;
}

static int has_builds(const struct work *w, const struct hrun_layout *l)
{
    for (int r = 0; r < l->nranks; r++)
        if (build_of(w->c, l->ranks[r].sub))
            return 1;
    return 0;
}

/* Fill the words for a job with builds. Programs are numbered in the order of ranks. */
static int fill_builds(const struct work *w, const struct hrun_layout *layout, const struct hrun_app_values *values,
                       struct work_words *out, struct hrun_error *err)
{
    autofree const char **builds = xcalloc((size_t)layout->cluster->nsubs + 1, sizeof *builds);
    int n = 0;

    out->which = xcalloc((size_t)layout->nranks, sizeof *out->which);
    words_create(out, layout->cluster->nsubs + 1);
    for (int r = 0, k; r < layout->nranks; r++) {
        const char *build = build_of(w->c, layout->ranks[r].sub);
        autofree char *path = NULL;

        for (k = 0; k < n && !same_build(builds[k], build); k++)
            ;
        out->which[r] = k;
        if (k < n)
            continue;
        builds[n++] = build;
        if (make_words(w, w->words, values, &out->argvs[k], err) ||
            (build && !(path = replace_by_build(w, layout, build, values, out->argvs[k].v, err))))
            return -1;
        hrun_strvec_push(&out->paths, build ? path : w->c->program ? w->c->program : "");
    }
    for (int k = 0; k < n; k++)
        out->programs[k] = (struct hrun_program){ out->argvs[k].v, out->paths.v[k] };
    return 0;
}

/* Fill the words of program i, which env(1) starts with its own variables and folder, as this works with all engines.
 * *path: of program i; set to the path of env. */
static int fill_after_env(const struct work *w, int i, const struct hrun_app_values *values, struct work_words *out,
                          const char **path, struct hrun_error *err)
{
    struct hrun_strvec *argv = &out->argvs[i];
    autofree char *env = hrun_program_find("env", NULL, err);
    size_t at = w->programs.v[i].env.n + 1;

    if (!env)
        return -1;
    hrun_strvec_push(argv, "env");
    if (make_words(w, w->programs.v[i].env.v, values, argv, err) ||
        make_words(w, w->programs.v[i].words, values, argv, err))
        return -1;
    free(argv->v[at]);
    argv->v[at] = xstrdup(*path);
    hrun_strvec_push(&out->paths, env);
    *path = out->paths.v[out->paths.n - 1];
    return 0;
}

int work_fill_words(const struct work *w, const struct hrun_layout *layout, const struct hrun_app_values *values,
                    struct work_words *out, struct hrun_error *err)
{
    int n = w->programs.n ? w->programs.n : 1;

    if (has_builds(w, layout)) {
        if (!w->programs.n)
            return fill_builds(w, layout, values, out, err);
        return hrun_fail(err, HRUN_EINVAL, "the cluster file or the app definition names a program for a sub-cluster, "
                         "and the command line names several: leave one of the two out");
    }
    words_create(out, n);
    if (w->programs.n)
        deal_ranks(w, layout, out);
    for (int i = 0; i < n; i++) {
        const char *path = i ? w->c->others.v[i - 1] : w->c->program;

        if (w->programs.n && w->programs.v[i].env.n ? fill_after_env(w, i, values, out, &path, err)
            : make_words(w, i ? w->programs.v[i].words : w->words, values, &out->argvs[i], err))
            return -1;
        out->programs[i] = (struct hrun_program){ out->argvs[i].v, path };
    }
    return 0;
}
