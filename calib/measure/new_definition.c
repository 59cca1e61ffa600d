/* new_definition.c - hrun-calibrate --new and --vary; see new_definition.h */
#include "new_definition.h"

#include "../common/alone.h"
#include "../profiles/profiles.h"
#include "app/draft.h"
#include "app/time_match.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/units.h"
#include "fit/fit.h"
#include "model/discover.h"
#include "session/number.h"
#include "session/problem.h"
#include "session/work.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Processes per PE without --procs: the useful numbers on the faster kind of nodes in paper 000. */
static const int PROCS[] = { 1, 2 };
/* Parts of the budget: for the runs before the first choice of terms; for runs designed by the first terms, before the
 * second choice; for runs designed by the final terms. */
static const double PARTS[] = { 0.4, 0.3, 0.3 };
enum { LAST = sizeof PARTS / sizeof *PARTS - 1 };
/* Ratio of an automatic budget to that of a program with known terms. */
static const double MORE = 1.7;

/* The number of runs of a part, if --budget is a number of runs; a small number is a single part. */
static long long runs_of(const struct calib_settings *s, int part)
{
    long long first = (long long)ceil(PARTS[0] * (double)s->budget.runs),
        second = (long long)(PARTS[1] * (double)s->budget.runs);

    if (s->budget.runs <= LAST + 1)
        return part ? 0 : s->budget.runs;
    return part == 0 ? first : part < LAST ? second : s->budget.runs - first - second;
}

static void print_part(const struct calib_settings *s, int part, const char *what)
{
    if (!s->common.quiet && !s->no_fit && !s->full_grid && !s->dry_run)
        fprintf(stderr, "hrun-calibrate: part %d of %d: %s\n", part + 1, LAST + 1, what);
}

/* Files of one --new or --vary. */
struct definition_files {
    char *own;                 /* temporary folder */
    char *draft;               /* the provisional definition in it */
    char *folder, *file;       /* folder and file of the final definition; NULL: the store chooses them */
};

static void definition_files_release(struct definition_files *p)
{
    hrun_remove_tree(p->own);
    free(p->own);
    free(p->draft);
    free(p->folder);
    free(p->file);
}

/* The folder of the user's own definitions: the first of --profile-path, else the one below the home folder. */
static char *own_folder(const struct calib_settings *s, struct hrun_error *err)
{
    const char *path = s->common.profile_path;
    struct hrun_error why = { 0 };
    char *folder;

    path += path ? strspn(path, ":") : 0;
    folder = path && *path ? xstrndup(path, strcspn(path, ":"))
                           : hrun_user_path("XDG_CONFIG_HOME", ".config", "hrun/profiles", &why);
    if (!folder && why.code == HRUN_ENOENT)
        hrun_fail(err, HRUN_EINVAL, "there is no place for the definition (%s): name one with --profile-path DIR",
                  why.text);
    return folder;
}

static int check_free(const struct calib_settings *s, const char *file, struct hrun_error *err)
{
    if (file && !s->common.force && access(file, F_OK) == 0)
        return hrun_fail(err, HRUN_EEXISTS, "%s is there already; --force replaces it, -app OTHER makes one of another "
                         "name", file);
    return 0;
}

/* Fail if a folder that is searched earlier has a definition of this name, which would hide the new one. */
static int check_hidden(const struct calib_settings *s, const char *name, const char *folder, struct hrun_error *err)
{
    static const char behind[] = "/etc/hrun/profiles";     /* searched after all folders of new definitions */
    autorelease(hrun_strvec_release) struct hrun_strvec dirs = HRUN_STRVEC_INIT;
    int rc = hrun_app_path(s->common.profile_path, NULL, &dirs, err);

    for (size_t i = 0; i < dirs.n && !rc && strcmp(dirs.v[i], folder) && strcmp(dirs.v[i], behind); i++) {
        char *file = hrun_strf("%s/%s.yaml", dirs.v[i], name);

        if (access(file, F_OK) == 0)
            rc = hrun_fail(err, HRUN_EEXISTS, "%s would hide the new definition: remove it, choose another name (-app "
                           "OTHER), or name the folder of the new one with --profile-path", file);
        free(file);
    }
    return rc;
}

static int find_definition_files(const struct calib_settings *s, const struct new_app *a, struct definition_files *p,
                      struct hrun_error *err)
{
    p->own = hrun_rundir_create(NULL, err);
    if (!p->own)
        return -1;
    p->draft = hrun_strf("%s/%s.yaml", p->own, a->name);
    if (a->command)
        return 0;
    p->folder = own_folder(s, err);
    if (!p->folder)
        return -1;
    p->file = hrun_strf("%s/%s.yaml", p->folder, a->name);
    return check_hidden(s, a->name, p->folder, err) || check_free(s, p->file, err) ? -1 : 0;
}

/* Wait for another --new of this name, lock the name, and fail if the other --new has written the definition. */
static int lock_name(const struct calib_settings *s, const char *name, const char *file, struct exclusive *own,
                     int *sig, struct hrun_error *err)
{
    autorelease(context_release) struct context c = { .set = &s->common };

    return context_open_store(&c, err) || exclusive_add(own, &c, name, "new", err) ||
           exclusive_begin(own, &c, name, sig, err) || check_free(s, file, err) ? -1 : 0;
}

/* Fail unless the text is an expression that accepts some P at these sizes. */
static int check_given_rule(const char *text, const struct number_list *sizes, struct hrun_error *err)
{
    enum { TRIED = 1024 };
    static const char *const vars[] = { "N", "P" };
    struct hrun_expr *e = hrun_expr_compile(text, vars, 2, NULL, 0, err);
    int accepts = 0;

    for (int i = 0; e && i < sizes->n && !accepts; i++)
        for (int P = 1; P <= TRIED && !accepts; P++) {
            double v[2] = { (double)sizes->v[i], P }, value;

            accepts = !hrun_expr_eval(e, v, &value, NULL) && value != 0;
        }
    if (e && !accepts)
        hrun_fail(err, HRUN_EINVAL, "accepts no number of processes up to %d at any of the --sizes", (int)TRIED);
    hrun_expr_destroy(e);
    return accepts ? 0 : hrun_fail_prefix(err, "--rule '%s'", text);
}

static int check_new_name(const char *name, const char *program, struct hrun_error *err)
{
    autofree char *plain = hrun_app_name_of(name);

    if (hrun_app_is_name(name))
        return 0;
    if (!*name)
        return hrun_fail(err, HRUN_EINVAL, "no name can be made of that of the program, '%s': give one with -app NAME",
                         program);
    return hrun_fail(err, HRUN_EINVAL, "-app %s: the name of a new application has lower-case letters, digits, '.', "
                     "'_' and '-', a letter or digit first, and does not end in .yaml: -app %s would do", name,
                     *plain ? plain : "NAME");
}

static int check_settings(const struct calib_settings *s, const struct new_app *a, struct hrun_error *err)
{
    const struct number_list only = { { s->N }, 1 };
    struct hrun_time_match *pattern;

    if (check_new_name(a->name, a->words[0], err))
        return -1;
    if (!number_is_open(a->words))
        return hrun_fail(err, HRUN_EINVAL, "the size N does not reach the program: write {N} where it stands, for "
                         "instance %s '{N}'", a->words[0]);
    if (!s->sizes.n && !s->N)
        return hrun_fail(err, HRUN_EINVAL, "nothing is known of %s: say which sizes N to measure, with -N SIZE, the "
                         "one that matters, or --sizes LIST", a->name);
    if (s->define.rule && check_given_rule(s->define.rule, s->N ? &only : &s->sizes, err))
        return -1;
    if (s->define.time) {
        pattern = hrun_time_match_create(s->define.time, err);
        hrun_time_match_destroy(pattern);
        if (!pattern)
            return hrun_fail_prefix(err, "--time");
    }
    if (s->sizes.n == 1 && !(a->command && a->command->app))
        return hrun_fail(err, HRUN_EINVAL, "--%s: two sizes or more tell how time grows with N",
                         a->command ? "vary" : "sizes");
    return 0;
}

/* Print the definition. d: has the terms. */
static int print_draft(const struct new_app *a, struct hrun_app_draft *d, struct hrun_buf *text,
                       struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf title = HRUN_BUF_INIT;
    const char *program = hrun_base_name(a->words[0]);
    int procs[LIST_MAX + 1];
    char number[32];
    int64_t units;

    if (problem_units(NULL, a->words, NULL, 1, &units, err))
        return -1;
    snprintf(number, sizeof number, "%lld", (long long)units);
    d->units = units < 0 ? "N" : units ? number : NULL;
    for (int i = 0; i < a->lists.procs.n; i++)
        procs[i] = (int)a->lists.procs.v[i];
    if (a->command)
        hrun_buf_add_command(&title, a->words);
    d->title = a->command ? title.data : NULL;
    d->in_command = a->command != NULL;
    d->name = a->name;
    d->program = strchr(program, '{') ? NULL : program;
    d->rule = a->rule.data;
    d->procs_per_pe = a->lists.procs.n ? procs : PROCS;
    d->nprocs = a->suits ? 0 : a->lists.procs.n ? a->lists.procs.n : (int)(sizeof PROCS / sizeof PROCS[0]);
    d->args = a->words + 1;
    d->time_match = a->time_match;
    d->time_file = a->time_file;
    d->time_value = a->time_value;
    d->sizes = a->lists.sizes.v;
    d->nsizes = a->lists.sizes.n;
    return hrun_app_draft_print(d, text, err);
}

/* Write the definition to a file, and check that it can be read. */
static int write_draft(const struct new_app *a, struct hrun_app_draft *d, const char *file, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    struct hrun_app *app = NULL;
    int rc = -1;

    if (!print_draft(a, d, &text, err) && !hrun_file_replace(file, text.data, text.len, 0644, err))
        rc = hrun_app_load(file, NULL, &app, err);
    hrun_app_destroy(app);
    if (rc && a->command && (err->code == HRUN_EINVAL || err->code == HRUN_EPARSE)) {
        const struct hrun_error why = *err;

        hrun_fail(err, HRUN_EINVAL, "the command does not fit into a definition (%s): write a script with its words, "
                  "and vary a number of that", why.text);
    }
    return rc;
}

/* Write the final definition to the store (for a command) or to the user's folder. */
static int write_for_good(const struct new_app *a, struct hrun_app_draft *d, const struct definition_files *at,
                          struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;

    if (!a->command)
        return hrun_mkdirs(at->folder, 0755, err) || write_draft(a, d, at->file, err) ? -1 : 0;
    return print_draft(a, d, &text, err) || problem_define(a->command, text.data, err) ? -1 : 0;
}

/* The terms common to Himeno and FEM in paper 000's Table V. The first runs are designed with these terms. In the
 * definition they follow the terms found, since a few runs may not show all terms. */
static char *common_np[] = { "N^3/P", "N^2/P", "N/P", "1/P", "N^2", "N", "1", "ln(P)", "N^4/P", NULL };
static char *common_n[] = { "N^3", "N^2", "N", "1", "N^4", NULL };

static int write_provisional(const struct new_app *a, const char *file, struct hrun_error *err)
{
    static char *p[] = { "T/P", "1", "ln(P)", "N^4/P", NULL };
    struct hrun_strvec terms[] = { { common_np, 9, 0 }, { common_n, 5, 0 }, { p, 3, 0 } };
    struct hrun_app_draft d = { .np = &terms[0], .n = &terms[1], .p = &terms[2] };

    return write_draft(a, &d, file, err);
}

/* Find cluster, program, engine and store for the draft, and read the lists of the options. */
static int open_context(struct context *c, const struct calib_settings *s, struct new_app *a, struct hrun_error *err)
{
    struct work w = { .c = c, .words = a->words };

    c->set = &s->common;
    w.N = s->N ? s->N : s->sizes.v[0];
    if (context_app(c, a->words[0], err) || work_find_program(&w, 0, err) || context_cluster(c, &s->common, err) ||
        context_choose_engine(c, 1, err) || alone_check_real(c, err))
        return -1;
    lists_release(&a->lists);
    if (lists_read(c, s, &a->lists, err))
        return -1;
    for (int i = 0; a->command && a->command->app && i < a->command->app->sizes.n; i++)
        number_list_add(&a->lists.sizes, a->command->app->sizes.v[i]);
    return 0;
}

/* Put the given rule, else a rule found by runs, into the draft. Result: as new_find_rule. */
static int settle_rule(const struct calib_settings *s, struct new_app *a, const char *draft, struct hrun_error *err)
{
    autorelease(context_release) struct context c = { 0 };
    int rc;

    hrun_buf_adds(&a->rule, s->define.rule ? s->define.rule : "P >= 1");
    rc = write_provisional(a, draft, err) || open_context(&c, s, a, err) ? -1 : 0;
    if (!rc && !s->define.rule && !s->dry_run) {
        hrun_buf_reset(&a->rule);
        rc = new_find_rule(&c, a, err);
        if (!rc && !s->common.quiet)
            fprintf(stderr, "hrun-calibrate: the rule is %s\n", a->rule.data);
    } else if (!rc) {
        hrun_buf_adds(&a->rule_from, a->command && a->command->app ? "As before, or by --rule." : "Given by --rule.");
    }
    return rc ? rc : write_provisional(a, draft, err);
}

/* ---------------------------------------------------------------- terms */

/* The measurements, their ranges, and the terms found. */
struct measured_points {
    struct hrun_discover_point *v;
    size_t n;
    struct hrun_strvec mixed;      /* series of runs on several sub-clusters */
    struct hrun_discovery found;   /* terms found */
    int64_t nmin, nmax;
    int pmin, pmax;
};

static void measured_points_release(struct measured_points *p)
{
    free(p->v);
    hrun_strvec_release(&p->mixed);
    hrun_discovery_release(&p->found);
}

/* The series of a run on several sub-clusters; -1 if an earlier sub-cluster has the run, or the run used another
 * cluster. Each set of sub-clusters and processes per PE has one series, since one sub-cluster limits all runs of a
 * set, whatever their numbers of PEs. */
static int mixed_series(const struct context *c, int sub, const struct hrun_sample *s, struct hrun_strvec *mixed)
{
    int nsubs = c->cluster->nsubs, first = 0;
    struct hrun_config config;
    autorelease(hrun_buf_release) struct hrun_buf key = HRUN_BUF_INIT;
    size_t i = 0;

    if (hrun_config_parse(s->config ? s->config : "", nsubs, &config, NULL))
        return -1;
    while (first < nsubs && !config.pes[first])
        first++;
    if (first == nsubs || strcmp(c->signatures.v[first], c->signatures.v[sub]))
        return -1;
    hrun_buf_adds(&key, s->signatures ? s->signatures : "");
    for (int k = 0; k < nsubs; k++)
        hrun_buf_addf(&key, ",%d", config.procs[k]);
    while (i < mixed->n && strcmp(mixed->v[i], key.data))
        i++;
    if (i == mixed->n)
        hrun_strvec_push(mixed, key.data);
    return nsubs * HRUN_PROCS_PER_PE_MAX + 1 + (int)i;
}

/* Add the valid runs of one profile's log as separate series. */
static int add_log_points(struct context *c, int sub, struct measured_points *p, struct hrun_error *err)
{
    autorelease(hrun_samples_release) struct hrun_samples log = { 0 };
    autorelease(hrun_buf_release) struct hrun_buf consts = HRUN_BUF_INIT;

    if (hrun_store_samples(c->store, c->app->name, c->signatures.v[sub], &log, err))
        return -1;
    hrun_samples_current(&log);
    p->v = xrealloc(p->v, (p->n + log.n + 1) * sizeof *p->v);
    hrun_app_consts_text(c->app, &consts);
    for (size_t i = 0; i < log.n; i++) {
        const struct hrun_sample *s = &log.v[i];
        int series = sub * HRUN_PROCS_PER_PE_MAX + s->M;

        if (!s->ok || !hrun_text_same(s->consts, consts.data))
            continue;
        series = s->mixed ? mixed_series(c, sub, s, &p->mixed) : series;
        if (series < 0)
            continue;
        p->v[p->n++] = (struct hrun_discover_point){ series, s->N, s->P, s->mixed ? 1 : s->M, s->time_s };
        p->nmin = p->nmin && p->nmin < s->N ? p->nmin : s->N;
        p->nmax = p->nmax > s->N ? p->nmax : s->N;
        p->pmin = p->pmin && p->pmin < s->P ? p->pmin : s->P;
        p->pmax = p->pmax > s->P ? p->pmax : s->P;
    }
    return 0;
}

/* Read all measurements of the cluster, each log once even if two sub-clusters share it. */
static int read_points(struct context *c, struct measured_points *p, struct hrun_error *err)
{
    for (int i = 0; i < c->cluster->nsubs; i++) {
        int again = 0;

        for (int j = 0; j < i; j++)
            again |= !strcmp(c->signatures.v[i], c->signatures.v[j]);
        if (!again && add_log_points(c, i, p, err))
            return -1;
    }
    return 0;
}

static void add_common_terms(struct hrun_strvec *terms, char *const *common)
{
    for (char *const *term = common; *term; term++) {
        int there = 0;

        for (size_t i = 0; i < terms->n; i++)
            there |= !strcmp(terms->v[i], *term);
        if (!there)
            hrun_strvec_push(terms, *term);
    }
}

/* The number of distinct sizes (in_P = 0) or distinct P (in_P = 1). */
static int count_distinct(const struct measured_points *p, int in_P)
{
    int count = 0;

    for (size_t i = 0; i < p->n; i++) {
        size_t k = 0;

        while (k < i && (in_P ? p->v[k].P != p->v[i].P : p->v[k].N != p->v[i].N))
            k++;
        count += k == i;
    }
    return count;
}

/* Warn if there are too few measurements for the terms: two sizes, or two P, fit any power equally well, and
 * cross-validation needs at least twice as many points as terms. */
static void warn_few_points(const struct measured_points *p, size_t nfound, const struct new_app *a)
{
    enum { POWER = 3, EACH = 2 };
    int sizes = count_distinct(p, 0), counts = count_distinct(p, 1);
    const char *wanting = sizes < POWER ? "at least three sizes"
                          : counts < POWER ? "at least three numbers of processes (more PEs, or --procs)"
                              : "more sizes";

    if (sizes < POWER || counts < POWER || p->found.points < EACH * (int)nfound)
        fprintf(stderr, "hrun-calibrate: the terms rest on little and may be poor: %s chosen by runs at %s and %s of "
                "processes; better ones need %s: say %s with them, or edit the definition where you know better, and "
                "say: hrun-calibrate fit %s\n", hrun_counted(nfound, "term").s, hrun_counted(sizes, "size").s,
                hrun_counted(counts, "number").s, wanting, a->command ? "--vary" : "--new --force", a->name);
}

/* Write the draft with the terms found; end = 1: write the final definition, and print the terms. */
static int write_found(const struct calib_settings *s, struct new_app *a, const struct definition_files *at, int end,
                       struct measured_points *p, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf about = HRUN_BUF_INIT, why = HRUN_BUF_INIT;
    struct hrun_app_draft d = { .np = &p->found.np, .n = &p->found.n, .p = &p->found.p };
    size_t nfound = p->found.np.n;
    char date[21];

    add_common_terms(&p->found.np, common_np);
    add_common_terms(&p->found.n, common_n);
    hrun_date_now(date);
    hrun_buf_addf(&about, "Made by hrun-calibrate --%s on %.10s from %zu runs, N from %lld to %lld on %d to %d "
                  "processes;\nfar beyond them its predictions are guesses.\n", a->command ? "vary" : "new", date, p->n,
                  (long long)p->nmin, (long long)p->nmax, p->pmin, p->pmax);
    hrun_buf_addf(&why, "Chosen because they predict best the runs that the fit left out: mean error %.1f %%%s",
                  100 * p->found.error, isnan(p->found.beyond) ? "." : ",\n");
    if (!isnan(p->found.beyond))
        hrun_buf_addf(&why, "and %.1f %% at the largest number of processes, predicted from the smaller ones.",
                      100 * p->found.beyond);
    hrun_buf_addf(&why, "\nCommon terms that few runs do not show follow them. Where you know better, change\nthem "
                  "and say: hrun-calibrate fit %s", a->name);
    d.comment = about.data;
    d.rule_comment = a->rule_from.data;
    d.terms_comment = why.data;
    if (write_draft(a, &d, at->draft, err) || (end && write_for_good(a, &d, at, err)))
        return -1;
    if (!end)
        return 0;
    printf("%s: rule %s, terms", a->command ? a->name : at->file, a->rule.data);
    for (size_t i = 0; i < nfound; i++)
        printf("%s %s", i ? "," : "", p->found.np.v[i]);
    printf("\n\n");
    fflush(stdout);
    if (!s->common.quiet)
        warn_few_points(p, nfound, a);
    return 0;
}

/* Choose terms from the measurements, and write the definition. */
static int write_definition(const struct calib_settings *s, struct new_app *a, const struct definition_files *at,
                            int end, struct hrun_error *err)
{
    autorelease(measured_points_release) struct measured_points p = { 0 };
    autorelease(context_release) struct context c = { 0 };
    struct hrun_fit_options options;

    if (open_context(&c, s, a, err) || read_points(&c, &p, err) || fit_options(&s->common, &options, err))
        return -1;
    if (!hrun_discover(p.v, p.n, &options, &p.found, err))
        return write_found(s, a, at, end, &p, err);
    if (err->code != HRUN_ENODATA)
        return -1;
    if (!p.n)
        return hrun_fail(err, HRUN_ENODATA, "no run of %s told a time, so no definition is written", a->name);
    /* Later parts may have enough runs. */
    return end ? hrun_fail_prefix(err, "%s: the runs tell too little (a larger --budget, or more --sizes, would do)",
                                  a->name) : 0;
}

/* Measure a part with the draft, or the last part with the definition, and then fit its models. After a full grid or a
 * budget of few runs the last part has no runs and only fits. Result: the exit status. */
static int measure_part(const struct calib_settings *s, const struct new_app *a, int part)
{
    struct calib_settings own = *s;
    char *names[] = { (char *)a->name, NULL };

    own.no_fit = part < LAST;
    own.again = part ? 0 : s->again;    /* the first part marks older records; later parts count its runs */
    own.redo = part ? 0 : s->redo;
    own.common.force = 0;       /* --force applies to the definition */
    if (!s->no_fit) {
        own.budget.part = PARTS[part];
        own.budget.runs = runs_of(s, part);
        for (int later = part + 1; later <= LAST; later++)
            own.budget.until -= PARTS[later];
        own.budget.until *= MORE;
    }
    if (part == LAST) {
        own.common.app = a->name;
        own.define.written = 1;
    }
    return part == LAST && (s->full_grid || (s->budget.runs && !own.budget.runs))
           ? calib_fit(&own, names) : calib_measure(&own, (char **)a->words);
}

/* Measure all parts. Result: the exit status; -1 with *err. */
static int make_parts(const struct calib_settings *s, struct new_app *a, const struct definition_files *at,
                      struct hrun_error *err)
{
    int status = measure_part(s, a, 0);

    /* Failed points have been reported and are left out. The others may be enough. */
    for (int part = 1; !s->dry_run && part <= LAST && (status == 0 || status == STATUS_FAILED); part++) {
        int whole = s->no_fit || s->full_grid || (s->budget.runs && !runs_of(s, LAST));     /* 1: a single part */
        int rc = write_definition(s, a, at, part == LAST || whole, err);

        part = whole ? LAST : part;
        if (!rc && !whole)
            print_part(s, part, part < LAST ? "runs that the terms led to, to choose them again"
                                          : "runs of what would be chosen");
        if (!rc && !s->no_fit)
            rc = measure_part(s, a, part);
        status = rc < 0 ? -1 : status ? status : rc;
    }
    return status;
}

int calib_new(const struct calib_settings *settings, char **words)
{
    struct calib_settings own = *settings;
    autofree char *named = NULL;        /* a name made from the program's */
    struct context command = { .set = &settings->common };
    struct new_app a = { .words = words, .time_match = own.define.time, .command = own.define.vary ? &command : NULL,
                         .rule = HRUN_BUF_INIT, .rule_from = HRUN_BUF_INIT };
    autorelease(definition_files_release) struct definition_files at = { 0 };
    autorelease(exclusive_end) struct exclusive name = { 0 };
    struct hrun_error err = { 0 };
    int rc = 0, status, sig = 0;

    if (!words[0]) {
        fprintf(stderr, "hrun-calibrate: no program given; say hrun-calibrate %s\n", own.define.vary ?
                "--vary NAME=LIST PROGRAM ... NAME NUMBER" : "--new -app NAME --sizes LIST PROGRAM '{N}'");
        return STATUS_FAILED;
    }
    if (own.define.vary)
        rc = vary_begin(&own, &a, &err);
    else
        a.name = own.common.app ? own.common.app : (named = hrun_app_name_of(words[0]));
    a.suits = own.define.vary && !own.procs.n;
    rc = rc || check_settings(&own, &a, &err) || find_definition_files(&own, &a, &at, &err) ? -1 : 0;
    if (!rc && !own.dry_run)
        rc = lock_name(&own, a.name, at.file, &name, &sig, &err);
    own.common.app = at.draft;
    rc = rc ? rc : settle_rule(&own, &a, at.draft, &err);
    if (!rc)
        print_part(&own, 0, "runs to choose terms by");
    if (rc > 0 && !sig)
        fputs("hrun-calibrate: stopped; no definition is written\n", stderr);
    status = rc > 0 ? 128 + rc : rc ? -1 : make_parts(&own, &a, &at, &err);
    if (status < 0)
        status = context_complain("hrun-calibrate", &err);
    if (sig)
        status = 128 + sig;
    lists_release(&a.lists);
    hrun_buf_release(&a.rule);
    hrun_buf_release(&a.rule_from);
    context_release(&command);
    return status;
}
