/* problem.c - a command without a definition of its own, as an application; see problem.h */
#include "session/problem.h"

#include "app/draft.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/list.h"
#include "session/number.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    WHOLE_MAX = 16 << 20,       /* of a larger file its size, first and last PART_BYTES stand for its contents */
    PART_BYTES = 8 << 20,
    INDEX_MAX = 64 << 20,       /* bytes of problems/commands */
    TITLE_MAX = 200
};

struct problem {
    char *text;                 /* the definition */
    char *name;
    struct hrun_app *base;      /* the definition with `size: command` that knows the program; or NULL */
    const char *given;          /* -app where it does not name that; or NULL */
    uint64_t words, contents, folder;
    int nfiles;                 /* that its words name */
    int reads;                  /* 1: standard input has data, which no later run may have: nothing is kept */
    int known;                  /* this command, with these contents, is in the index already */
    int defined;                /* problems/NAME.yaml is there */
};

/* Forms that differ within the few P of one size: what divides, what does not, and what grows with processes. Files are
 * copied for each run, not linked: which of them the program writes nobody has said. */
static const char TERMS[] =
    "size: fixed\n"
    "scratch: copy\n"
    "terms:\n"
    "  np: [\"%s\", \"1\", \"ln(P)\", \"P\"]\n"
    "  n: [\"1\"]\n"
    "  p: [\"T/P\", \"1\", \"ln(P)\"]\n";

static uint64_t hash_part(uint64_t h, int fd, off_t at, off_t len)
{
    char data[64 << 10];
    ssize_t n;

    while (len > 0 && (n = pread(fd, data, (off_t)sizeof data < len ? sizeof data : (size_t)len, at)) > 0) {
        h = hrun_hash(h, data, (size_t)n);
        at += n;
        len -= n;
    }
    return h;
}

/* The contents of the file that a word names, alone or behind '=' ("-in deck", "--deck=deck"), if it names one. Pipes
 * and devices are not even opened: that alone may change them. */
static uint64_t hash_file(uint64_t h, int folder, const char *word)
{
    const char *eq = strchr(word, '=');
    struct stat st;
    int fd;

    if (fstatat(folder, word, &st, 0) && eq)
        word = eq + 1;
    if (number_value(word) || fstatat(folder, word, &st, 0) || !S_ISREG(st.st_mode))
        return h;
    fd = openat(folder, word, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        h = hrun_hash(h, &st.st_size, sizeof st.st_size);
        h = hash_part(h, fd, 0, st.st_size > WHOLE_MAX ? PART_BYTES : st.st_size);
        if (st.st_size > WHOLE_MAX)
            h = hash_part(h, fd, st.st_size - PART_BYTES, PART_BYTES);
    }
    if (fd >= 0)
        close(fd);
    return h;
}

/* Has standard input data: a file that was not read to its end, or a pipe into which something was written? */
static int input_has_data(void)
{
    struct stat st;
    int n;

    if (fstat(STDIN_FILENO, &st))
        return 0;
    return S_ISREG(st.st_mode) ? lseek(STDIN_FILENO, 0, SEEK_CUR) < st.st_size
           : S_ISFIFO(st.st_mode) && !ioctl(STDIN_FILENO, FIONREAD, &n) && n > 0;
}

int problem_check_input(struct hrun_error *err)
{
    if (!input_has_data())
        return 0;
    return hrun_fail(err, HRUN_EINVAL, "there is standard input, and the runs read none: write a script that redirects "
                     "it, and measure that; or say < /dev/null where it does not matter");
}

/* Does a variable of -x tell the program its shares? */
static int names_shares(const char *variable)
{
    const char *form;
    size_t len;

    return hrun_app_find_shares(variable, &form, &len) != NULL;
}

/* Of the words, with {N} in place of the number in words[at]; 0: as they are. What tells the shares is one of them. */
static uint64_t hash_words(const struct context *c, char *const *words, int at)
{
    const char *program = hrun_base_name(words[0]), *digits = at ? number_at(words, at) : NULL;
    uint64_t h = hrun_hash(HRUN_HASH_INIT, program, strlen(program) + 1);

    for (int i = 1; words[i]; i++)
        if (i == at) {
            h = hrun_hash(h, words[i], (size_t)(digits - words[i]));
            h = hrun_hash(h, "{N}", sizeof "{N}");
        } else {
            h = hrun_hash(h, words[i], strlen(words[i]) + 1);
        }
    for (size_t i = 0; i < c->set->job.env.n; i++)
        if (names_shares(c->set->job.env.v[i]))
            h = hrun_hash(h, c->set->job.env.v[i], strlen(c->set->job.env.v[i]) + 1);
    return h;
}

static int identify_command(const struct context *c, char *const *words, struct problem *p, struct hrun_error *err)
{
    const char *dir = settings_folder(c->set);
    char *path = realpath(dir, NULL);
    int folder = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (!path || folder < 0) {
        free(path);
        if (folder >= 0)
            close(folder);
        return hrun_fail_errno(err, HRUN_EINVAL, "the working directory %s cannot be used", dir);
    }
    p->folder = hrun_hash(HRUN_HASH_INIT, path, strlen(path));
    p->words = hash_words(c, words, 0);
    p->contents = HRUN_HASH_INIT;
    if (strchr(words[0], '/'))      /* one that is installed is known by its name */
        p->contents = hash_file(p->contents, folder, words[0]);
    for (int i = 1; words[i]; i++) {
        uint64_t before = p->contents;

        p->contents = hash_file(p->contents, folder, words[i]);
        p->nfiles += p->contents != before;
    }
    if (!p->nfiles)                 /* what it reads is in the folder, by names of its own */
        p->contents = hrun_hash(p->contents, path, strlen(path));
    p->reads = input_has_data();
    free(path);
    close(folder);
    return 0;
}

/* ---------------------------------------------------------------- on disk */

static char *path_of_problem(const struct context *c, const char *file, const char *suffix, struct hrun_error *err)
{
    struct hrun_store *s = hrun_store_open(c->set->data, err);
    char *path = s ? hrun_strf("%s/problems/%s%s", hrun_store_dir(s), file, suffix) : NULL;

    hrun_store_close(s);
    return path;
}

static int is_there(const struct context *c, const char *name)
{
    autofree char *path = path_of_problem(c, name, ".yaml", NULL);

    return path && !access(path, F_OK);
}

/* The hashes of the words as they are, and with {N} in place of each number; the caller frees them. */
static uint64_t *hash_numbers(const struct context *c, char *const *words, uint64_t plain, int *n)
{
    uint64_t *h;

    for (*n = 1; words[*n]; ++*n)
        ;
    h = xcalloc((size_t)*n, sizeof *h);
    for (int i = 0; i < *n; i++)
        h[i] = number_at(words, i) ? hash_words(c, words, i) : plain;
    return h;
}

/* Under which name the command is known, with which of its numbers as the size, into p and c->number. Of the same words
 * in the same folder, with other contents, the last one counts; p->known tells whether the contents are the same. A
 * line that is none is passed over; -app wants that name. */
static int find_known(struct context *c, struct problem *p, char *const *words, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    autofree char *path = path_of_problem(c, "commands", "", err);
    unsigned long long hash, contents, folder;
    char found[256], *save = NULL;
    int n, at = 0, i;
    autofree uint64_t *h = hash_numbers(c, words, p->words, &n);

    if (!path)
        return -1;
    if (!hrun_file_read(path, INDEX_MAX, &text, NULL))
        for (char *line = strtok_r(text.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
            int same;

            if (sscanf(line, "%llx %llx %llx %255s", &hash, &contents, &folder, found) != 4 ||
                !hrun_app_is_name(found) || (p->given && strcmp(p->given, found)))
                continue;
            for (i = 0; i < n && h[i] != hash; i++)
                ;
            same = contents == p->contents;
            if (i == n || (!same && (folder != p->folder || p->known)) || (i && !is_there(c, found)))
                continue;
            p->known = same;
            at = i;
            free(p->name);
            p->name = xstrdup(found);
        }
    if (at) {
        p->words = h[at];
        c->number = number_create(words, at);
    }
    return 0;
}

/* The units that the shares in a word add up to, into *units where it has any; see problem_units. */
static int add_units(const char *word, int sized, int64_t *units, struct hrun_error *err)
{
    enum { FINE = 1000 };
    const char *form;
    size_t len;

    for (const char *at = word; (at = hrun_app_find_shares(at, &form, &len)); at++)
        if (len && !hrun_app_form_counts(form))
            *units = *form >= '0' && *form <= '9' ? strtoll(form, NULL, 10) : *units ? *units : FINE;
        else if (sized)
            *units = -1;
        else
            return hrun_fail(err, HRUN_EINVAL, "'%s': hrun does not know how many units of work the command has; write "
                             "what the shares add up to, {shares:100}, or {shares:fractions} or {shares:cuts}, "
                             "or let hrun-calibrate --new find a size in it", word);
    return 0;
}

/* Shares in a form that there is not. */
static int check_forms(const struct hrun_app *app, const char *word, struct hrun_error *err)
{
    const struct hrun_app_values values = { .N = 1, .P = 1 };
    autorelease(hrun_buf_release) struct hrun_buf none = HRUN_BUF_INIT;

    return hrun_app_expand_word(app, word, &values, &none, err);
}

/* A word or variable that is what shells make of {shares:FORM:,} outside quotes, "shares:FORM:" alone or behind '='. */
static int check_quoted(const char *word, struct hrun_error *err)
{
    static const char begin[] = "shares:";
    const char *eq = strchr(word, '='), *at = eq ? eq + 1 : word, *form = at + sizeof begin - 1;
    autorelease(hrun_buf_release) struct hrun_buf none = HRUN_BUF_INIT;
    size_t len;

    if (strncmp(at, begin, sizeof begin - 1))
        return 0;
    len = strcspn(form, ":");
    if (!len || !form[len] || hrun_app_add_shares(form, len, &(struct hrun_app_dealt){ .P = 1 }, &none, NULL))
        return 0;
    return hrun_fail(err, HRUN_EINVAL, "'%s' is what the shell has made of '%.*s{%s,}': write it in quotes", word,
                     (int)(at - word), word, at);
}

int problem_units(const struct hrun_app *app, char *const *words, const struct hrun_strvec *env, int sized,
                  int64_t *units, struct hrun_error *err)
{
    *units = 0;
    for (char *const *word = words; *word; word++)
        if (check_forms(app, *word, err) || add_units(*word, sized, units, err))
            return -1;
    for (size_t i = 0; env && i < env->n; i++)
        if (add_units(env->v[i], sized, units, err))
            return -1;
    for (char *const *word = words; *word && !*units; word++)
        if (check_quoted(*word, err))
            return -1;
    for (size_t i = 0; env && i < env->n && !*units; i++)
        if (check_quoted(env->v[i], err))
            return -1;
    return 0;
}

static int print_definition(const struct context *c, struct problem *p, char *const *words, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT, command = HRUN_BUF_INIT;
    int64_t units;

    if (problem_units(p->base, words, &c->set->job.env, 0, &units, err))
        return -1;
    hrun_buf_add_command(&command, words);
    hrun_buf_addf(&b, "# Made by hrun of a command that no definition knows; see hrun-app(5), \"size\".\nname: %s\n"
                  "title: \"", p->name);
    for (size_t i = 0; i < command.len && i < TITLE_MAX; i++) {
        unsigned char ch = (unsigned char)command.data[i];

        if (ch == '"' || ch == '\\')
            hrun_buf_addc(&b, '\\');
        hrun_buf_addc(&b, ch < ' ' || ch > '~' ? '?' : (char)ch);
    }
    hrun_buf_adds(&b, "\"\n");
    hrun_buf_addf(&b, TERMS, units ? "W" : "1/P");
    if (units)
        hrun_buf_addf(&b, "shares: {units: \"%lld\"}\n", (long long)units);
    if (p->base && hrun_app_print_shared(p->base, &b, err))
        return -1;
    p->text = hrun_buf_detach(&b);
    return 0;
}

/* ---------------------------------------------------------------- find and keep */

int problem_named(struct context *c, const char *name, struct hrun_error *err)
{
    autofree char *path = c->set->no_data || !hrun_app_is_name(name) ? NULL : path_of_problem(c, name, ".yaml", NULL);

    return path && !access(path, F_OK) ? hrun_app_load(path, c->set->defines.v, &c->app, err)
                                       : 1;
}

void problem_hint(const struct context *c, const char *name, struct hrun_error *err)
{
    autorelease(hrun_strvec_release) struct hrun_strvec dirs = HRUN_STRVEC_INIT, names = HRUN_STRVEC_INIT;
    autofree char *folder = c->set->no_data ? NULL : path_of_problem(c, "", "", NULL);
    struct hrun_error why = *err;
    const char *like = NULL;

    if (!folder || access(folder, X_OK))
        return;
    hrun_strvec_push(&dirs, folder);
    if (!hrun_app_list(&dirs, &names, NULL))
        like = hrun_nearest(name, (const char *const *)names.v, names.n);
    if (like)
        hrun_fail(err, why.code, "%s; did you mean the command '%s'?", why.text, like);
}

int problem_is_app(const struct context *c)
{
    autofree char *path = c->set->no_data || !c->app ? NULL : path_of_problem(c, c->app->name, ".yaml", NULL);

    return path && !strcmp(path, c->app->file);
}

char *problem_title(const struct settings *set, const char *name)
{
    struct context c = { .set = set };
    char *title = NULL;

    if (!problem_named(&c, name, NULL))
        title = xstrdup(c.app->title);
    context_drop_app(&c);
    return title;
}

/* What the command is called: as it is known, as the user says, or by its program and hashes. */
static void name_problem(struct context *c, struct problem *p, char *const *words)
{
    autofree char *program = hrun_app_name_of(words[0]), *path = NULL;

    if (!p->name && p->given)
        p->name = xstrdup(p->given);
    else if (!p->name)
        p->name = !*program ? xstrdup("") : hrun_strf("%.60s-%08x", program, (unsigned)(
                                                     hrun_hash(p->words, &p->contents, sizeof p->contents) >> 32));
    path = *p->name ? path_of_problem(c, p->name, ".yaml", NULL) : NULL;
    if (path && !access(path, F_OK) && access(path, R_OK)) {
        settings_say(c->set, "what is known of this command is in %s, which you may not read: it counts as one that "
                     "nothing is known of; --data DIR keeps your own", path);
        *p->name = 0;
    }
}

/* The definition with `size: command` that knows the program, where -app gives a name: by that none was looked for. */
static int find_base(struct context *c, struct problem *p, const char *program, struct hrun_error *err)
{
    if (p->given && hrun_app_find_program(&c->app_dirs, program, NULL, &p->base, err))
        return -1;
    if (p->base && !p->base->sizes.of_command) {
        hrun_app_destroy(p->base);
        p->base = NULL;
    }
    return 0;
}

int problem_begin(struct context *c, char *const *words, struct hrun_error *err)
{
    struct problem *p = xcalloc(1, sizeof *p);
    int rc;

    problem_destroy(c->problem);
    c->problem = p;
    p->base = c->app;
    c->app = NULL;
    p->given = p->base ? NULL : c->set->app;
    if (find_base(c, p, words[0], err) || identify_command(c, words, p, err) || find_known(c, p, words, err))
        return -1;
    if (p->name && !p->known && !p->given && !p->reads)
        settings_say(c->set, "this command or its files have changed since it was last run: what is known of %s is a "
                     "guess now; hrun-calibrate with --again and the same words measures anew", p->name);
    name_problem(c, p, words);
    rc = problem_named(c, p->name, err);
    p->defined = rc == 0;
    return rc < 0 ? -1 : 0;
}

/* The definition of a new problem, which is of one size. */
static int define_problem(struct context *c, struct problem *p, char *const *words, struct hrun_error *err)
{
    autofree char *path = path_of_problem(c, p->name, ".yaml", err);

    if (!path || print_definition(c, p, words, err))
        return -1;
    return hrun_app_parse(path, p->text, strlen(p->text), NULL, &c->app, err);
}

/* Use what was measured or run of the command before, in place of its definition; where there is nothing, keep that. */
static int find_earlier(struct context *c, char *const *words, struct hrun_error *err)
{
    struct hrun_app *app = c->app, *variants_of = c->variants_of;
    int rc;

    c->app = c->variants_of = NULL;
    rc = problem_begin(c, words, err);
    if (!rc && c->app) {
        hrun_app_destroy(variants_of ? variants_of : app);
        hrun_strvec_release(&c->presets);
        hrun_strvec_release(&c->missed_presets);
        return 0;
    }
    problem_destroy(c->problem);
    c->problem = NULL;
    c->app = app;
    c->variants_of = variants_of;
    return rc;
}

int problem_find(struct context *c, char *const *words, int64_t N, struct hrun_error *err)
{
    int none = !words || !words[0], braces = !none && number_is_open(words);

    if (c->app && !c->app->sizes.of_command) {
        if (none || braces || N < 0)
            return 0;
        if (number_of_app(c, words, N, err))
            return -1;
        return c->number || N || c->app->fixed || c->set->app || c->set->no_data ? 0 : find_earlier(c, words, err);
    }
    if (c->app && c->set->app && (none || N || braces))
        return hrun_fail(err, HRUN_EINVAL, "%s knows commands as they stand (size: command): give one program with its "
                         "arguments, and leave -N, --sizes and {N} out", c->app->name);
    if (none || c->set->no_data || (N && !braces)) {
        context_drop_app(c);
        return 0;
    }
    if (problem_begin(c, words, err))
        return -1;
    if (!c->app && !braces && *c->problem->name)
        return define_problem(c, c->problem, words, err);
    if (!c->app) {              /* nothing is known, or there is nothing to call it by */
        problem_destroy(c->problem);
        c->problem = NULL;
    }
    return 0;
}

const char *problem_name(const struct context *c)
{
    return c->problem->name;
}

const struct hrun_app *problem_base(const struct context *c)
{
    return c->problem->base;
}

int problem_is_known(const struct context *c)
{
    return !c->problem || c->problem->defined || c->problem->base;
}

int problem_reads_input(const struct context *c)
{
    return c->problem->reads;
}

int problem_is_worth_recording(const struct context *c, double time_s)
{
    return !c->problem || (!c->problem->reads && (c->problem->defined || time_s >= PROBLEM_WORTH_S));
}

int problem_keep(struct context *c, struct hrun_error *err)
{
    struct problem *p = c->problem;
    autofree char *path = NULL, *index = NULL;
    char line[400];
    int n;

    if (!p || (p->defined && p->known))
        return 0;
    if (hrun_store_make_folder(c->store, "problems", err) || !(path = path_of_problem(c, p->name, ".yaml", err)) ||
        !(index = path_of_problem(c, "commands", "", err)) ||
        (!p->defined && hrun_file_replace(path, p->text, strlen(p->text), 0600, err)))
        return -1;
    p->defined = 1;
    n = snprintf(line, sizeof line, "%016llx %016llx %016llx %s\n", (unsigned long long)p->words,
                 (unsigned long long)p->contents, (unsigned long long)p->folder, p->name);
    if (!p->known && hrun_file_append(index, line, (size_t)n, 1, NULL, err))
        return -1;
    p->known = 1;
    return 0;
}

int problem_define(struct context *c, const char *text, struct hrun_error *err)
{
    free(c->problem->text);
    c->problem->text = xstrdup(text);
    c->problem->defined = 0;
    return (!c->store && context_open_store(c, err)) || problem_keep(c, err) ? -1 : 0;
}

/* Behind a rule that runs have told. */
static const char LEARNT[] = "   # as runs have failed";

/* The definition with another rule, "": none, and what stands behind it, into text. Result: was there one that runs had
 * told? -1: errors. */
static int change_rule(struct context *c, const char *rule, const char *comment, struct hrun_buf *text,
                       struct hrun_error *err)
{
    struct problem *p = c->problem;
    autorelease(hrun_buf_release) struct hrun_buf old = HRUN_BUF_INIT;
    autofree char *path = path_of_problem(c, p->name, ".yaml", err);
    char *save = NULL;
    int learnt = 0;

    if (!path || (p->defined && hrun_file_read(path, INDEX_MAX, &old, err)))
        return -1;
    if (!p->defined)
        hrun_buf_adds(&old, p->text);
    for (char *line = strtok_r(old.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        if (strncmp(line, "rule:", strlen("rule:")))
            hrun_buf_addf(text, "%s\n", line);
        else
            learnt |= strstr(line, LEARNT) != NULL;
    if (*rule)
        hrun_buf_addf(text, "rule: \"%s\"%s\n", rule, comment);
    return learnt;
}

int problem_keep_rule(struct context *c, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;

    return change_rule(c, hrun_expr_text(c->app->rule), LEARNT, &text, err) < 0 || problem_define(c, text.data, err)
           ? -1 : 0;
}

int problem_forget_rule(struct context *c, struct hrun_error *err)
{
    struct problem *p = c->problem;
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    const char *own = p->base ? hrun_expr_text(p->base->rule) : "1", *rule = strcmp(own, "1") ? own : "";
    autofree char *file = xstrdup(c->app->file);
    int rc = change_rule(c, rule, "", &text, err);

    if (rc <= 0)
        return rc;
    context_drop_app(c);
    rc = hrun_app_parse(file, text.data, text.len, c->set->defines.v, &c->app, err);
    free(p->text);
    p->text = hrun_buf_detach(&text);
    p->defined = 0;
    return rc;
}

void problem_destroy(struct problem *p)
{
    if (p) {
        free(p->text);
        free(p->name);
        hrun_app_destroy(p->base);
    }
    free(p);
}

/* ---------------------------------------------------------------- what earlier runs took */

static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double problem_median_s(const struct context *c, const struct hrun_config *config, int *runs)
{
    enum { LAST = 9 };
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    autorelease(hrun_samples_release) struct hrun_samples s = { 0 };
    double times[LAST];
    int sub = 0, used = 0, n = 0;

    *runs = 0;
    for (int i = c->cluster->nsubs - 1; i >= 0; i--)
        if (config->pes[i]) {
            sub = i;
            used++;
        }
    if (!used || !c->store || hrun_store_recent(c->store, c->app->name, c->signatures.v[sub], &s, NULL))
        return 0;
    hrun_buf_adds(&text, hrun_config_text(config).s);
    for (size_t i = s.n; i > 0 && n < LAST; i--) {
        const struct hrun_sample *v = &s.v[i - 1];

        if (v->ok && (used > 1 ? v->mixed && !strcmp(v->config, text.data)
                               : !v->mixed && v->pes == config->pes[sub] && v->M == config->procs[sub]))
            times[n++] = v->time_s;
    }
    qsort(times, (size_t)n, sizeof *times, by_time);
    *runs = n;
    return n ? times[n / 2] : 0;
}
