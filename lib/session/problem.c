/* problem.c - a command whose program no definition knows, as an application with one size; see context.h */
#include "session/context.h"

#include "base/file.h"
#include "base/hash.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
    uint64_t words, contents, folder;
    int nfiles;                 /* that its words name */
    int reads_file;             /* 1: standard input is a file, which no later run may have: nothing is kept */
    int known;                  /* this command, with these contents, is in the index already */
    int defined;                /* problems/NAME.yaml is there */
    int shared;                 /* it has what a definition with size: command says */
};

/* Forms that differ within the few P of one size: what divides, what does not, and what grows with processes. Files are
 * copied for each run, not linked: which of them the program writes nobody has said. */
static const char TERMS[] =
    "size: fixed\n"
    "scratch: copy\n"
    "terms:\n"
    "  np: [\"1/P\", \"1\", \"ln(P)\", \"P\"]\n"
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
    if (fstatat(folder, word, &st, 0) || !S_ISREG(st.st_mode))
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

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

int problem_input_is_file(void)
{
    struct stat st;

    return !fstat(STDIN_FILENO, &st) && S_ISREG(st.st_mode) && lseek(STDIN_FILENO, 0, SEEK_CUR) < st.st_size;
}

static int identify(const struct context *c, char *const *words, struct problem *p, struct hrun_error *err)
{
    const char *dir = c->set->wdir ? c->set->wdir : ".", *program = base_name(words[0]);
    char *path = realpath(dir, NULL);
    int folder = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (!path || folder < 0) {
        free(path);
        if (folder >= 0)
            close(folder);
        return hrun_fail_errno(err, HRUN_EINVAL, "the working directory %s cannot be used", dir);
    }
    p->folder = hrun_hash(HRUN_HASH_INIT, path, strlen(path));
    p->words = hrun_hash(HRUN_HASH_INIT, program, strlen(program) + 1);
    p->contents = HRUN_HASH_INIT;
    if (strchr(words[0], '/'))      /* one that is installed is known by its name */
        p->contents = hash_file(p->contents, folder, words[0]);
    for (int i = 1; words[i]; i++) {
        uint64_t before = p->contents;

        p->words = hrun_hash(p->words, words[i], strlen(words[i]) + 1);
        p->contents = hash_file(p->contents, folder, words[i]);
        p->nfiles += p->contents != before;
    }
    if (!p->nfiles)                 /* what it reads is in the folder, by names of its own */
        p->contents = hrun_hash(p->contents, path, strlen(path));
    p->reads_file = problem_input_is_file();
    if (p->reads_file)
        p->contents = hash_file(p->contents, folder, "/dev/stdin");
    free(path);
    close(folder);
    return 0;
}

/* ---------------------------------------------------------------- on disk */

static char *in_folder(const struct context *c, const char *file, const char *suffix, struct hrun_error *err)
{
    struct hrun_store *s = hrun_store_open(c->set->data, err);
    char *path = s ? hrun_strf("%s/problems/%s%s", hrun_store_dir(s), file, suffix) : NULL;

    if (s && !path)
        hrun_fail_nomem(err);
    hrun_store_close(s);
    return path;
}

/* The name under which the command is known, or NULL. Of the same words in the same folder, with other contents, the
 * last one counts; p->known tells whether the contents are the same. A line that is none is passed over. */
static char *find_name(const struct context *c, struct problem *p)
{
    struct hrun_buf text = HRUN_BUF_INIT;
    char *path = in_folder(c, "commands", "", NULL), *name = NULL, found[256], *save = NULL;
    unsigned long long words, contents, folder;

    if (path && !hrun_file_read(path, INDEX_MAX, &text, NULL))
        for (char *line = strtok_r(text.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
            int same;

            if (sscanf(line, "%llx %llx %llx %255s", &words, &contents, &folder, found) != 4 ||
                !hrun_app_is_name(found) || words != p->words)
                continue;
            same = contents == p->contents;
            if (!same && (folder != p->folder || p->known))
                continue;
            p->known = same;
            free(name);
            name = strdup(found);
        }
    hrun_buf_release(&text);
    free(path);
    return name;
}

/* base: the definition with size: command that knows the program, or NULL. */
static int print_definition(struct problem *p, const char *name, char *const *words, const struct hrun_app *base,
                            struct hrun_error *err)
{
    struct hrun_buf b = HRUN_BUF_INIT, command = HRUN_BUF_INIT;

    hrun_buf_add_command(&command, words);
    hrun_buf_addf(&b, "# Made by hrun of a command that no definition knows; see hrun-app(5), \"size\".\nname: %s\n"
                  "title: \"", name);
    for (size_t i = 0; i < command.len && i < TITLE_MAX; i++) {
        unsigned char ch = (unsigned char)command.data[i];

        if (ch == '"' || ch == '\\')
            hrun_buf_addc(&b, '\\');
        hrun_buf_addc(&b, ch < ' ' || ch > '~' ? '?' : (char)ch);
    }
    hrun_buf_addf(&b, "\"\n%s", TERMS);
    hrun_buf_release(&command);
    if (base && hrun_app_print_shared(base, &b, err)) {
        hrun_buf_release(&b);
        return -1;
    }
    p->text = hrun_buf_detach(&b);
    return p->text ? 0 : hrun_fail_nomem(err);
}

/* ---------------------------------------------------------------- find and keep */

int problem_named(struct context *c, const char *name, struct hrun_error *err)
{
    char *path = c->set->no_data || !hrun_app_is_name(name) ? NULL : in_folder(c, name, ".yaml", NULL);
    int rc = path && !access(path, F_OK) ? hrun_app_load(path, c->set->defines.v, (int)c->set->defines.n, &c->app, err)
                                         : 1;

    free(path);
    return rc;
}

char *problem_title(const struct settings *set, const char *name)
{
    struct context c = { .set = set };
    char *title = NULL;

    if (!problem_named(&c, name, NULL))
        title = strdup(c.app->title);
    context_drop_app(&c);
    return title;
}

static int has_braces(char *const *words)
{
    for (; *words; words++)
        if (strstr(*words, "{N}"))
            return 1;
    return 0;
}

/* Write the definition of a new problem, and load it. named: by the user, so that no program was looked for. */
static int define(struct context *c, struct problem *p, const char *name, int named, char *const *words,
                  const struct hrun_app *base, struct hrun_error *err)
{
    struct hrun_app *found = NULL;
    char *path = in_folder(c, name, ".yaml", err);
    int rc = -1;

    if (!path || (named && hrun_app_find_program(&c->app_dirs, words[0], NULL, 0, &found, err)))
        goto out;
    base = found && found->of_command ? found : base;
    p->shared = base != NULL;
    rc = print_definition(p, name, words, base, err) ||
         hrun_app_parse(path, p->text, strlen(p->text), NULL, 0, &c->app, err) ? -1 : 0;
out:
    hrun_app_destroy(found);
    free(path);
    return rc;
}

/* Make c->app, which is NULL, that of the command. base: as above; it is the one that -app names where there is one. */
static int find(struct context *c, char *const *words, const struct hrun_app *base, struct hrun_error *err)
{
    struct problem *p = calloc(1, sizeof *p);
    const char *given = base ? NULL : c->set->app;
    char *name = NULL, *program = NULL;
    int rc = -1;

    if (!p)
        return hrun_fail_nomem(err);
    problem_destroy(c->problem);
    c->problem = p;
    if (identify(c, words, p, err))
        return -1;
    name = given ? strdup(given) : find_name(c, p);
    if (name && !p->known && !given)
        settings_say(c->set, "this command or its files have changed since it was last run: what is known of %s is a "
                     "guess now; hrun-calibrate --again measures anew, -app OTHER-NAME keeps both", name);
    program = name ? NULL : hrun_app_name_of(words[0]);
    if (!name && program && *program)
        name = hrun_strf("%.60s-%08x", program,
                         (unsigned)(hrun_hash(p->words, &p->contents, sizeof p->contents) >> 32));
    if (!name && program && !*program) {
        rc = 0;         /* nothing to call it by */
        goto out;
    }
    rc = name ? problem_named(c, name, err) : hrun_fail_nomem(err);
    p->defined = rc == 0;
    if (rc == 1)
        rc = define(c, p, name, given != NULL, words, base, err);
out:
    free(program);
    free(name);
    return rc;
}

int problem_find(struct context *c, char *const *words, int as_it_stands, struct hrun_error *err)
{
    struct hrun_app *base = c->app && c->app->of_command ? c->app : NULL;
    int rc = 0, is_command = as_it_stands && words[0] && !has_braces(words);

    if (base)
        c->app = NULL;
    if (base && c->set->app && !is_command)
        rc = hrun_fail(err, HRUN_EINVAL, "%s knows commands as they stand (size: command): give one program with its "
                       "arguments, and leave -N, --sizes and {N} out", base->name);
    else if (!c->app && is_command && !c->set->no_data)
        rc = find(c, words, base, err);
    hrun_app_destroy(base);
    return rc;
}

int problem_is_known(const struct context *c)
{
    return !c->problem || c->problem->defined || c->problem->shared;
}

int problem_is_worth(const struct context *c, double time_s)
{
    /* Below it is start-up, and somebody trying things out. */
    static const double worth_keeping_s = 1;

    return !c->problem || (!c->problem->reads_file && (c->problem->defined || time_s >= worth_keeping_s));
}

int problem_keep(struct context *c, struct hrun_error *err)
{
    struct problem *p = c->problem;
    char *path = NULL, *index = NULL, line[400];
    int n, rc = -1;

    if (!p || (p->defined && p->known))
        return 0;
    if (hrun_store_make_folder(c->store, "problems", err) || !(path = in_folder(c, c->app->name, ".yaml", err)) ||
        !(index = in_folder(c, "commands", "", err)))
        goto out;
    if (!p->defined && hrun_file_replace(path, p->text, strlen(p->text), 0600, err))
        goto out;
    n = snprintf(line, sizeof line, "%016llx %016llx %016llx %s\n", (unsigned long long)p->words,
                 (unsigned long long)p->contents, (unsigned long long)p->folder, c->app->name);
    rc = hrun_file_append(index, line, (size_t)n, 0644, 1, NULL, err);
    p->defined = p->known = !rc;
out:
    free(path);
    free(index);
    return rc;
}

void problem_destroy(struct problem *p)
{
    if (p)
        free(p->text);
    free(p);
}

/* ---------------------------------------------------------------- what earlier runs took */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double problem_expect(const struct context *c, const int *pes, const int *procs, int *runs)
{
    enum { LAST = 9 };
    struct hrun_buf config = HRUN_BUF_INIT;
    struct hrun_samples s = { 0 };
    double times[LAST];
    int sub = 0, used = 0, n = 0;

    *runs = 0;
    for (int i = c->cluster->nsubs - 1; i >= 0; i--)
        if (pes[i]) {
            sub = i;
            used++;
        }
    if (!used || !c->store || hrun_store_samples(c->store, c->app->name, c->signatures.v[sub], &s, NULL))
        return 0;
    hrun_config_print(pes, procs, c->cluster->nsubs, &config);
    for (size_t i = s.n; i > 0 && n < LAST; i--) {
        const struct hrun_sample *v = &s.v[i - 1];

        if (v->ok && (used > 1 ? v->mixed && !strcmp(v->config, config.data)
                               : !v->mixed && v->pes == pes[sub] && v->M == procs[sub]))
            times[n++] = v->time_s;
    }
    hrun_buf_release(&config);
    hrun_samples_release(&s);
    qsort(times, (size_t)n, sizeof *times, by_value);
    *runs = n;
    return n ? times[n / 2] : 0;
}
