/* test_app_find.c - search folders, names, programs, and what hides what */
#include "fixture.h"

#include "app/app.h"

#include <errno.h>

static void definition(const char *dir, const char *name, const char *programs)
{
    char *file = hrun_strf("%s.yaml", name);
    char *text = hrun_strf("name: %s\ntitle: in %s\nprograms: [%s]\nterms: {np: [\"1\"], n: [\"1\"]}\n"
                           "constants: [{name: k, value: 1}]\n", name, dir, programs);

    put(dir, file, text);
    free(file);
    free(text);
}

static void test_path(const char *top)
{
    struct hrun_strvec dirs = HRUN_STRVEC_INIT;
    struct hrun_error err = { .code = HRUN_OK };
    char *a = hrun_strf("%s/a", top), *b = hrun_strf("%s/b", top);
    char *config = hrun_strf("%s/config/hrun/profiles", top), *list = hrun_strf("%s::%s", a, b);
    char *xdg = hrun_strf("%s/config", top), *env = hrun_strf("%s/none:%s", top, b);
    char *home = hrun_strf("%s/.config/hrun/profiles", top), *wrong = hrun_strf("%s:%s/none", a, top);
    char *message = hrun_strf("--profile-path: there is no folder '%s/none'", top);

    hrun_mkdirs(config, 0777, NULL);
    hrun_mkdirs(home, 0777, NULL);
    setenv("XDG_CONFIG_HOME", xdg, 1);
    setenv("HRUN_PROFILE_PATH", env, 1);
    ok(!hrun_app_path(list, a, &dirs, &err), "folders: %s", err.text);
    ok(dirs.n >= 3, "three and perhaps /etc");
    if (dirs.n >= 3) {
        is_str(dirs.v[0], a, "--profile-path first");
        is_str(dirs.v[1], b, "each folder once, missing ones not");
        is_str(dirs.v[2], config, "then the user's");
    }
    hrun_strvec_release(&dirs);

    unsetenv("XDG_CONFIG_HOME");
    unsetenv("HRUN_PROFILE_PATH");
    setenv("HOME", top, 1);
    ok(!hrun_app_path(NULL, b, &dirs, &err) && dirs.n >= 2, "without the variables");
    is_str(dirs.n ? dirs.v[0] : NULL, home, "~/.config/hrun/profiles");
    is_str(dirs.n ? dirs.v[dirs.n - 1] : NULL, b, "the installed ones last");
    hrun_strvec_release(&dirs);

    ok(hrun_app_path(wrong, NULL, &dirs, &err), "a folder of --profile-path that does not exist");
    is_int(err.code, HRUN_ENOENT, "code");
    is_str(err.text, message, "message");
    hrun_strvec_release(&dirs);
    free(a); free(b); free(config); free(list); free(xdg); free(env); free(home); free(wrong); free(message);
}

static void test_names(const char *top)
{
    struct hrun_strvec dirs = HRUN_STRVEC_INIT, names = HRUN_STRVEC_INIT;
    struct hrun_error err = { .code = HRUN_OK };
    struct hrun_app *app = NULL;
    char *a = hrun_strf("%s/a", top), *b = hrun_strf("%s/b", top), *path = hrun_strf("%s/b/solver.yaml", top);
    char *title_a = hrun_strf("in %s", a), *title_b = hrun_strf("in %s", b), *define[] = { "k=5", NULL };
    char *bad[] = { "j=5", NULL };
    char *message = hrun_strf("there is no definition of 'solvr', did you mean 'solver'? (known: fft, "
                              "lattice, solver; searched: %s, %s)", a, b);

    definition(a, "solver", "sol, solve");
    definition(b, "solver", "sol, solve, old-solve");
    definition(b, "lattice", "lat");
    definition(b, "fft", "fft1");
    put(b, "README", "not a definition");
    put(b, ".hidden.yaml", "not a definition");
    hrun_strvec_push(&dirs, a);
    hrun_strvec_push(&dirs, b);

    ok(!hrun_app_list(&dirs, &names, &err), "listing");
    ok(names.n == 3 && !strcmp(names.v[0], "fft") && !strcmp(names.v[1], "lattice") &&
       !strcmp(names.v[2], "solver"), "sorted, each once");
    ok(!hrun_app_find(&dirs, "solver", define, &app, &err) && app, "by name: %s", err.text);
    is_str(app ? app->title : NULL, title_a, "the first folder wins");
    ok(app && app->consts[0].value == 5, "defines are passed on");
    hrun_app_destroy(app);
    app = NULL;
    ok(!hrun_app_find(&dirs, path, NULL, &app, &err) && app, "by path: %s", err.text);
    is_str(app ? app->title : NULL, title_b, "that very file");
    hrun_app_destroy(app);
    app = NULL;
    is_int(hrun_app_find(&dirs, "solvr", NULL, &app, &err), -1, "an unknown name");
    is_int(err.code, HRUN_ENOENT, "code");
    is_str(err.text, message, "message");
    is_int(hrun_app_find(&dirs, "", NULL, &app, &err), -1, "an empty name");
    is_int(err.code, HRUN_ENOENT, "code");

    ok(!hrun_app_find_program(&dirs, "/opt/bin/lat", NULL, &app, &err) && app, "by program: %s", err.text);
    is_str(app ? app->name : NULL, "lattice", "its folders do not count");
    hrun_app_destroy(app);
    app = NULL;
    ok(!hrun_app_find_program(&dirs, "solve", define, &app, &err) && app && app->consts[0].value == 5,
       "by program with a define");
    is_str(app ? app->title : NULL, title_a, "the first folder wins");
    hrun_app_destroy(app);
    app = NULL;
    is_int(hrun_app_find_program(&dirs, "solve", bad, &app, &err), -1, "a define that it does not have");
    is_int(err.code, HRUN_EINVAL, "code");
    app = (struct hrun_app *)&err;
    ok(!hrun_app_find_program(&dirs, "old-solve", NULL, &app, &err) && !app, "a hidden definition claims "
                              "nothing");
    app = (struct hrun_app *)&err;
    ok(!hrun_app_find_program(&dirs, "./nobody", NULL, &app, &err) && !app, "nobody's program");

    /* A broken definition matters only to whom it names. */
    put(a, "broken.yaml", "name: broken\nprograms: [brk]\nterms: {np: [\"1/\"], n: [\"1\"]}\n");
    ok(!hrun_app_find_program(&dirs, "lat", NULL, &app, &err) && app, "a broken file beside it");
    hrun_app_destroy(app);
    app = NULL;
    is_int(hrun_app_find_program(&dirs, "brk", NULL, &app, &err), -1, "the broken one's program");
    is_int(err.code, HRUN_EPARSE, "code");
    is_int(err.line, 3, "its line");

    /* Names of one letter stand in any text. */
    put(a, "a.yaml", "name: a\nprograms: [brk-a, a.out, xb] # for a and b\n# a cat\n"
        "terms: {np: [\"1/\"], n: [\"1\"]}\n");
    app = (struct hrun_app *)&err;
    ok(!hrun_app_find_program(&dirs, "b", NULL, &app, &err) && !app, "letters of a word, words of a comment");
    app = (struct hrun_app *)&err;
    ok(!hrun_app_find_program(&dirs, "cat", NULL, &app, &err) && !app, "a line of comment");
    app = (struct hrun_app *)&err;
    ok(!hrun_app_find_program(&dirs, "xb-1", NULL, &app, &err) && !app, "more than a word");
    is_int(hrun_app_find_program(&dirs, "xb", NULL, &app, &err), -1, "a word");
    is_int(err.code, HRUN_EPARSE, "code");
    is_int(hrun_app_find_program(&dirs, "a.out", NULL, &app, &err), -1, "a word with a dot");
    put(a, "title.yaml", "name: title\ntitle: of tea\nprograms: [first,\n  last]\nterms: {np: [\"1/\"], n: [\"1\"]}\n");
    app = (struct hrun_app *)&err;
    ok(!hrun_app_find_program(&dirs, "tea", NULL, &app, &err) && !app, "a word of another key");
    is_int(hrun_app_find_program(&dirs, "last", NULL, &app, &err), -1, "a word of the key's second line");
    put(b, "sharp.yaml", "name: sharp\ntitle: \"x # y\"\nprograms: [\"n #1\", \"m #2\", c#]\n"
        "terms: {np: [\"1\"], n: [\"1\"]}\n");
    for (int i = 0; i < 3; i++) {
        const char *const sharp[] = { "n #1", "m #2", "c#" };
        app = NULL;
        ok(!hrun_app_find_program(&dirs, sharp[i], NULL, &app, &err) && app, "what only looks like a comment: %s",
           sharp[i]);
        hrun_app_destroy(app);
    }

    definition(b, "other", "lat");
    is_int(hrun_app_find_program(&dirs, "lat", NULL, &app, &err), -1, "two claim one program");
    is_int(err.code, HRUN_EINVAL, "code");
    has_str(err.text, "/b/lattice.yaml and ", "one is named");
    has_str(err.text, "/b/other.yaml claim the program 'lat': choose one with -app lattice or -app other",
            "and the other");

    hrun_strvec_release(&names);
    hrun_strvec_release(&dirs);
    free(a); free(b); free(path); free(title_a); free(title_b); free(message);
}

int main(void)
{
    char *top = temp_dir(), *a = hrun_strf("%s/a", top), *b = hrun_strf("%s/b", top);

    hrun_mkdirs(a, 0777, NULL);
    hrun_mkdirs(b, 0777, NULL);
    test_path(top);
    test_names(top);
    hrun_remove_tree(top);
    free(top);
    free(a);
    free(b);
    return tap_done();
}
