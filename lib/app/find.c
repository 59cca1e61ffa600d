/* find.c - find definitions by name or program; see app.h for the contracts */
#include "app/app.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/list.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Larger files are not definitions. */
enum { DEFINITION_MAX = 1 << 20 };

/* Append a folder if it exists and is not in dirs yet. */
static void push_dir(struct hrun_strvec *dirs, const char *path)
{
    for (size_t i = 0; i < dirs->n; i++)
        if (!strcmp(dirs->v[i], path))
            return;
    if (hrun_is_folder(path))
        hrun_strvec_push(dirs, path);
}

/* Append the folders of a colon-separated list. option: the option that gives the list if each folder must exist; NULL:
 * folders may be missing. */
static int push_dirs(struct hrun_strvec *dirs, const char *list, const char *option, struct hrun_error *err)
{
    while (list && *list) {
        size_t len = strcspn(list, ":");
        autofree char *path = xstrndup(list, len);

        if (len > 0 && option && !hrun_is_folder(path))
            return hrun_fail(err, HRUN_ENOENT, "%s: there is no folder '%s'", option, path);
        if (len > 0)
            push_dir(dirs, path);
        list += len + (list[len] == ':');
    }
    return 0;
}

int hrun_app_path(const char *profile_path, const char *installed, struct hrun_strvec *dirs,
                  struct hrun_error *err)
{
    autofree char *own = hrun_user_path("XDG_CONFIG_HOME", ".config", "hrun/profiles", NULL);

    if (push_dirs(dirs, profile_path, "--profile-path", err))
        return -1;
    push_dirs(dirs, getenv("HRUN_PROFILE_PATH"), NULL, NULL);
    if (own)
        push_dir(dirs, own);
    push_dir(dirs, "/etc/hrun/profiles");
    if (installed)
        push_dir(dirs, installed);
    return 0;
}

static int is_definition(const struct dirent *d)
{
    size_t len = strlen(d->d_name);

    return len > 5 && d->d_name[0] != '.' && !strcmp(d->d_name + len - 5, ".yaml");
}

/* The names of the definitions in one folder, sorted. */
static int list_dir(const char *dir, struct hrun_strvec *names, struct hrun_error *err)
{
    struct dirent **entries = NULL;
    int n = scandir(dir, &entries, is_definition, alphasort);

    if (n < 0 && errno == ENOENT)
        return 0;
    if (n < 0)
        return hrun_fail_errno(err, HRUN_EIO, "cannot read the folder '%s'", dir);
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        hrun_strvec_pushf(names, "%.*s", (int)strlen(name) - 5, name);
        free(entries[i]);
    }
    free(entries);
    return 0;
}

int hrun_app_list(const struct hrun_strvec *dirs, struct hrun_strvec *names, struct hrun_error *err)
{
    size_t first = names->n;

    for (size_t i = 0; i < dirs->n; i++)
        if (list_dir(dirs->v[i], names, err))
            return -1;
    hrun_strvec_sort(names, first);
    return 0;
}

static int fail_not_found(const struct hrun_strvec *dirs, const char *name, struct hrun_error *err)
{
    autorelease(hrun_strvec_release) struct hrun_strvec known = HRUN_STRVEC_INIT;
    autorelease(hrun_buf_release) struct hrun_buf where = HRUN_BUF_INIT, all = HRUN_BUF_INIT;
    const char *hint;

    hrun_app_list(dirs, &known, NULL);
    for (size_t i = 0; i < dirs->n; i++)
        hrun_buf_addf(&where, "%s%s", i ? ", " : "", dirs->v[i]);
    for (size_t i = 0; i < known.n; i++)
        hrun_buf_addf(&all, "%s%s", i ? ", " : "", known.v[i]);
    hint = hrun_nearest(name, (const char *const *)known.v, known.n);
    return hrun_fail(err, HRUN_ENOENT, "there is no definition of '%s'%s%s%s (known: %s; searched: %s)", name,
                     hint ? ", did you mean '" : "", hint ? hint : "", hint ? "'?" : "",
                     known.n ? all.data : "none", dirs->n ? where.data : "no folder exists");
}

/* The path of name[len].yaml in the first folder that has it, or NULL; the caller frees it. */
static char *find_definition(const struct hrun_strvec *dirs, const char *name, size_t len)
{
    for (size_t i = 0; len && i < dirs->n; i++) {
        char *path = hrun_strf("%s/%.*s.yaml", dirs->v[i], (int)len, name);

        if (!access(path, F_OK))
            return path;
        free(path);
    }
    return NULL;
}

int hrun_app_find(const struct hrun_strvec *dirs, const char *name, char *const *defines, struct hrun_app **out,
                  struct hrun_error *err)
{
    size_t len = strlen(name);
    const char *dot = strrchr(name, '.');
    struct hrun_app *whole;
    int k;
    autofree char *path = find_definition(dirs, name, len);
    autofree char *of_variant = dot ? find_definition(dirs, name, (size_t)(dot - name)) : NULL;

    if (strchr(name, '/') || (len > 5 && !strcmp(name + len - 5, ".yaml")))
        return hrun_app_load(name, defines, out, err);
    if (path)
        return hrun_app_load(path, defines, out, err);
    if (!of_variant)
        return fail_not_found(dirs, name, err);
    if (hrun_app_load(of_variant, defines, &whole, err))
        return -1;
    k = hrun_app_find_variant(whole, dot + 1, err);
    if (k >= 0) {
        *out = whole->variants[k];
        whole->variants[k] = NULL;
    }
    hrun_app_destroy(whole);
    return k < 0 ? -1 : 0;
}

/* 1 for a character of program names, else 0. So "lu" is not a word of "xlu" or "lu-mz". */
static int in_name(char c)
{
    return isalnum((unsigned char)c) || (unsigned char)c >= 0x80 || (c && strchr("_-+.", c));
}

static int contains_word(const char *text, size_t len, const char *word)
{
    size_t n = strlen(word);

    for (const char *at = text; (at = memmem(at, len - (size_t)(at - text), word, n)); at++)
        if ((at == text || !in_name(at[-1])) && !in_name(at[n]))
            return 1;
    return 0;
}

/* 1 if the value of `programs`, without comment lines, contains the program as a word, else 0. Searches the whole text
 * if no line has that key. */
static int may_claim(const char *text, const char *program)
{
    static const char wanted[] = "programs:";
    int inside = 0, seen = 0;
    size_t len;

    for (const char *s = text; *s; s += len + (s[len] == '\n')) {
        len = strcspn(s, "\n");
        if (s[strspn(s, "abcdefghijklmnopqrstuvwxyz_")] == ':') {
            inside = !strncmp(s, wanted, sizeof wanted - 1);
            seen |= inside;
        }
        if (inside && *s != '#' && contains_word(s, len, program))
            return 1;
    }
    return !seen && contains_word(text, strlen(text), program);
}

/* Load the definition at path if its `programs` has the program, else *app = NULL and 0. The text is searched first,
 * which is quicker than loading. */
static int load_for(const char *path, const char *program, struct hrun_app **app, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    struct hrun_error why;

    *app = NULL;
    if (hrun_file_read(path, DEFINITION_MAX, &text, NULL) || !may_claim(text.data, program))
        return 0;
    /* Load without the defines, which apply only to the definition that is found. */
    if (!hrun_app_load(path, NULL, app, &why)) {
        for (int i = 0; i < (*app)->programs.n; i++)
            if (!strcmp((*app)->programs.names[i], program))
                return 0;
        hrun_app_destroy(*app);
        *app = NULL;
        return 0;
    }
    /* Overwrite comments, which begin with a '#' at the beginning of a line or after a blank, with blanks. This is only
     * for faulty definitions, as a text in a valid one may contain '#'. */
    for (char *s = text.data; (s = strchr(s, '#')); s++)
        if (s == text.data || isspace((unsigned char)s[-1]))
            memset(s, ' ', strcspn(s, "\n"));
    if (!may_claim(text.data, program))
        return 0;
    if (err)
        *err = why;
    return -1;
}

/* Find the definition of the program in one folder, whose names begin at names[first]. The names before come from
 * earlier folders and hide equal names. *found stays NULL if there is none. */
static int find_in(const char *dir, const struct hrun_strvec *names, size_t first, const char *program,
                   struct hrun_app **found, struct hrun_error *err)
{
    for (size_t i = first; i < names->n; i++) {
        autofree char *path = hrun_strf("%s/%s.yaml", dir, names->v[i]);
        struct hrun_app *app = NULL;
        size_t k = 0;

        while (k < first && strcmp(names->v[k], names->v[i]))
            k++;
        if (k == first && load_for(path, program, &app, err))
            return -1;
        if (app && *found) {
            hrun_fail(err, HRUN_EINVAL, "both %s and %s claim the program '%s': choose one with -app %s or -app %s",
                      (*found)->file, app->file, program, (*found)->name, app->name);
            hrun_app_destroy(app);
            return -1;
        }
        *found = app ? app : *found;
    }
    return 0;
}

int hrun_app_find_program(const struct hrun_strvec *dirs, const char *program, char *const *defines,
                          struct hrun_app **out, struct hrun_error *err)
{
    autorelease(hrun_strvec_release) struct hrun_strvec names = HRUN_STRVEC_INIT;
    struct hrun_app *found = NULL;
    int rc = 0;

    program = hrun_base_name(program);
    for (size_t i = 0; *program && i < dirs->n && !rc && !found; i++) {
        size_t first = names.n;

        rc = list_dir(dirs->v[i], &names, err) || find_in(dirs->v[i], &names, first, program, &found, err) ? -1 : 0;
    }
    if (!rc && found && defines && *defines)
        rc = hrun_app_load(found->file, defines, out, err);
    else if (!rc) {
        *out = found;
        return 0;
    }
    hrun_app_destroy(found);
    return rc;
}
