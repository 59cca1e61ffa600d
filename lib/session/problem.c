/* problem.c - treat a command without a definition as an application; see problem.h */
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
    WHOLE_MAX = 16 << 20,       /* of a larger file only the size and the first and last PART_BYTES are hashed */
    PART_BYTES = 8 << 20,
    INDEX_MAX = 64 << 20,       /* bytes of problems/commands */
    TITLE_MAX = 200
};

/* These terms differ clearly among a few P at one size. Each run gets copies of files, not links, as the program may
 * write any of them. */
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

/* Add the contents of the file that a word names, as a whole or after its '=' ("-in deck", "--deck=deck"), to the hash.
 * Pipes and devices are not opened, as opening may change their state. */
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

/* 1 if standard input is a file not read to its end or a pipe with data, else 0. */
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

/* Hash the words, with {N} in place of the number in words[at] (at = 0: unchanged), and the variables of -x that
 * contain {shares}. */
static uint64_t hash_words(const struct context *c, char *const *words, int at)
{
    const char *program = hrun_base_name(words[0]), *digits = at ? number_at(words, at) : NULL, *form;
    const struct hrun_strvec *env = &c->set->job.env;
    uint64_t h = hrun_hash(HRUN_HASH_INIT, program, strlen(program) + 1);
    size_t len;

    for (int i = 1; words[i]; i++)
        if (i == at) {
            h = hrun_hash(h, words[i], (size_t)(digits - words[i]));
            h = hrun_hash(h, "{N}", sizeof "{N}");
        } else {
            h = hrun_hash(h, words[i], strlen(words[i]) + 1);
        }
    for (size_t i = 0; i < env->n; i++)
        if (hrun_app_find_shares(env->v[i], &form, &len))
            h = hrun_hash(h, env->v[i], strlen(env->v[i]) + 1);
    return h;
}

static int identify_command(const struct context *c, char *const *words, struct problem *p, struct hrun_error *err)
{
    const char *dir = settings_folder(c->set);
    char *path = realpath(dir, NULL);
    int folder = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC), files = 0;

    if (!path || folder < 0) {
        free(path);
        if (folder >= 0)
            close(folder);
        return hrun_fail_errno(err, HRUN_EINVAL, "the working directory %s cannot be used", dir);
    }
    p->folder = hrun_hash(HRUN_HASH_INIT, path, strlen(path));
    p->words = hash_words(c, words, 0);
    p->contents = HRUN_HASH_INIT;
    if (strchr(words[0], '/'))      /* an installed program is identified by its name alone */
        p->contents = hash_file(p->contents, folder, words[0]);
    for (int i = 1; words[i]; i++) {
        uint64_t before = p->contents;

        p->contents = hash_file(p->contents, folder, words[i]);
        files += p->contents != before;
    }
    if (!files)                     /* the program may read files of the folder that no word names */
        p->contents = hrun_hash(p->contents, path, strlen(path));
    p->reads = input_has_data();
    free(path);
    close(folder);
    return 0;
}

/* ---------------------------------------------------------------- on disk */

/* The path of problems/FILE in the data folder; the caller frees it. Errors: those of hrun_store_open. */
static char *problem_path(const struct context *c, const char *file, const char *suffix, struct hrun_error *err)
{
    struct hrun_store *s = hrun_store_open(c->set->data, err);
    char *path = s ? hrun_strf("%s/problems/%s%s", hrun_store_dir(s), file, suffix) : NULL;

    hrun_store_close(s);
    return path;
}

/* The path of the stored definition with this name; the caller frees it. NULL: none. */
static char *stored_definition(const struct context *c, const char *name)
{
    char *path = c->set->no_data || !hrun_app_is_name(name) ? NULL : problem_path(c, name, ".yaml", NULL);

    if (path && !access(path, F_OK))
        return path;
    free(path);
    return NULL;
}

/* Find the command in the index; set p->name, p->known and, if a number in its words is the size, c->number. Valid is
 * the last line with these words and contents (p->known = 1), else the last line with these words and this folder.
 * If -app is given, lines with another name are ignored. */
static int find_known(struct context *c, struct problem *p, char *const *words, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    autofree char *path = problem_path(c, "commands", "", err);
    autofree uint64_t *h = NULL;    /* h[0]: of the unchanged words; h[i]: with {N} in place of a number in word i */
    unsigned long long hash, contents, folder;
    char found[256], *save = NULL;
    int n = 1, at = 0, i;

    if (!path)
        return -1;
    while (words[n])
        n++;
    h = xcalloc((size_t)n, sizeof *h);
    for (i = 0; i < n; i++)
        h[i] = number_at(words, i) ? hash_words(c, words, i) : p->words;
    if (!hrun_file_read(path, INDEX_MAX, &text, NULL))
        for (char *line = strtok_r(text.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
            autofree char *definition = NULL;
            int same;

            if (sscanf(line, "%llx %llx %llx %255s", &hash, &contents, &folder, found) != 4 ||
                !hrun_app_is_name(found) || (p->given && strcmp(p->given, found)))
                continue;
            for (i = 0; i < n && h[i] != hash; i++)
                ;
            same = contents == p->contents;
            if (i == n || (!same && (folder != p->folder || p->known)) ||
                (i && !(definition = stored_definition(c, found))))
                continue;
            p->known = same;
            at = i;
            free(p->name);
            p->name = xstrdup(found);
        }
    if (at) {
        p->words = h[at];
        c->number = number_create(words, at, number_at(words, at));
    }
    return 0;
}

/* Set *units as in problem_units if the word contains shares. */
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

/* Refuse "shares:FORM:", alone or after '=': the shell's expansion of {shares:FORM:,} without quotes. */
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
    const struct hrun_app_values values = { .N = 1, .P = 1 };
    autorelease(hrun_strvec_release) struct hrun_strvec all = HRUN_STRVEC_INIT;
    autorelease(hrun_buf_release) struct hrun_buf none = HRUN_BUF_INIT;
    size_t nwords;

    *units = 0;
    hrun_strvec_add_all(&all, words);
    nwords = all.n;
    hrun_strvec_add_all(&all, env ? env->v : NULL);
    for (size_t i = 0; i < all.n; i++)
        if ((i < nwords && hrun_app_expand_word(app, all.v[i], &values, &none, err)) ||
            add_units(all.v[i], sized, units, err))
            return -1;
    for (size_t i = 0; i < all.n && !*units; i++)
        if (check_quoted(all.v[i], err))
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
    autofree char *path = stored_definition(c, name);

    return path ? hrun_app_load(path, c->set->defines.v, &c->app, err) : 1;
}

void problem_hint(const struct context *c, const char *name, struct hrun_error *err)
{
    autorelease(hrun_strvec_release) struct hrun_strvec dirs = HRUN_STRVEC_INIT, names = HRUN_STRVEC_INIT;
    autofree char *folder = c->set->no_data ? NULL : problem_path(c, "", "", NULL);
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
    autofree char *path = c->app ? stored_definition(c, c->app->name) : NULL;

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

/* If the index did not set p->name, set -app, else program and hash; "" if the user may not read the definition. */
static void name_problem(struct context *c, struct problem *p, char *const *words)
{
    autofree char *program = hrun_app_name_of(words[0]), *path = NULL;

    if (!p->name && p->given)
        p->name = xstrdup(p->given);
    else if (!p->name)
        p->name = !*program ? xstrdup("") : hrun_strf("%.60s-%08x", program, (unsigned)(
                                                     hrun_hash(p->words, &p->contents, sizeof p->contents) >> 32));
    path = stored_definition(c, p->name);
    if (path && access(path, R_OK)) {
        settings_say(c->set, "you may not read %s, which describes this command: hrun treats the command as new; "
                     "--data DIR keeps data of your own", path);
        *p->name = 0;
    }
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
    if ((p->given && hrun_app_find_program(&c->app_dirs, words[0], NULL, &p->base, err)) ||
        identify_command(c, words, p, err) || find_known(c, p, words, err))
        return -1;
    if (p->base && !p->base->sizes.of_command) {
        hrun_app_destroy(p->base);
        p->base = NULL;
    }
    if (p->name && !p->known && !p->given && !p->reads)
        settings_say(c->set, "this command or its files have changed since it was last run: what is known of %s is a "
                     "guess now; hrun-calibrate with --again and the same words measures anew", p->name);
    name_problem(c, p, words);
    rc = problem_named(c, p->name, err);
    p->defined = rc == 0;
    return rc < 0 ? -1 : 0;
}

/* Replace the definition by the stored application of the command, if there is one. */
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
    autofree char *path = NULL;

    if (c->app && !c->app->sizes.of_command) {
        if (none || braces || N < 0)
            return 0;
        if (number_from_args(c, words, N, err))
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
    if (!c->app && !braces && *c->problem->name) {      /* define the command as an application of one size */
        path = problem_path(c, c->problem->name, ".yaml", err);
        return !path || print_definition(c, c->problem, words, err)
               ? -1 : hrun_app_parse(path, c->problem->text, strlen(c->problem->text), NULL, &c->app, err);
    }
    if (!c->app) {              /* no stored application, or no usable name */
        problem_destroy(c->problem);
        c->problem = NULL;
    }
    return 0;
}

int problem_is_known(const struct context *c)
{
    return !c->problem || c->problem->defined || c->problem->base;
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
    if (hrun_store_make_folder(c->store, "problems", err) || !(path = problem_path(c, p->name, ".yaml", err)) ||
        !(index = problem_path(c, "commands", "", err)) ||
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

/* Comment in the definition that marks a rule learnt from failed runs. */
static const char LEARNT[] = "   # as runs have failed";

/* Append the definition to text, with `rule` ("": none) and `comment` in place of its rule. Result: 1 if the replaced
 * rule was learnt, else 0; -1 with *err. */
static int change_rule(struct context *c, const char *rule, const char *comment, struct hrun_buf *text,
                       struct hrun_error *err)
{
    struct problem *p = c->problem;
    autorelease(hrun_buf_release) struct hrun_buf old = HRUN_BUF_INIT;
    autofree char *path = problem_path(c, p->name, ".yaml", err);
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

/* ---------------------------------------------------------------- times of earlier runs */

static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double problem_median_s(const struct context *c, const struct hrun_config *config, int *runs)
{
    enum { LAST = 9 };
    autorelease(hrun_samples_release) struct hrun_samples s = { 0 };
    const struct hrun_config_text text = hrun_config_text(config);
    double times[LAST];
    int sub = 0, n = 0, mixed;

    *runs = 0;
    while (sub < config->nsubs - 1 && !config->pes[sub])
        sub++;
    mixed = hrun_config_all_pes(config) > config->pes[sub];
    if (!config->pes[sub] || !c->store ||
        hrun_store_recent(c->store, c->app->name, c->signatures.v[sub], &s, NULL))
        return 0;
    for (size_t i = s.n; i > 0 && n < LAST; i--) {
        const struct hrun_sample *v = &s.v[i - 1];

        if (v->ok && (mixed ? v->mixed && !strcmp(v->config, text.s)
                            : !v->mixed && v->pes == config->pes[sub] && v->M == config->procs[sub]))
            times[n++] = v->time_s;
    }
    qsort(times, (size_t)n, sizeof *times, by_time);
    *runs = n;
    return n ? times[n / 2] : 0;
}
