/* test_app_inputs.c - input files: the user's are never lost, hrun's own are known by their mark */
#include "fixture.h"

#include "app/app.h"
#include "app/inputs.h"
#include "app/template.h"

#include <sys/wait.h>

static struct hrun_app *app;
static char *top, *dir;

/* A size, on two processes. */
#define AT(size) (&(struct hrun_app_values){ size, 2, NULL })

/* Change a text in a file, as a user does. */
static void change(const char *folder, const char *name, const char *from, const char *to)
{
    char *text = strdup(get(folder, name));

    memcpy(strstr(text, from), to, strlen(to));
    put(folder, name, text);
    free(text);
}

static int write_files(int64_t N, int force, struct hrun_error *err)
{
    err->code = HRUN_OK;
    err->text[0] = 0;
    return hrun_app_write_files(app, AT(N), dir, force, 0, err);
}

/* Has a.dat this size, and a mark? */
static int is_size(int N)
{
    const char *text = get(dir, "a.dat");
    char want[64];
    int at = 0;

    snprintf(want, sizeof want, "size %d on 2, hrun:", N);
    sscanf(text, "size %*d on 2, hrun:%*8[0-9a-f]\n%n", &at);
    return at && !text[at] && !strncmp(text, want, strlen(want));
}

static void test_ownership(void)
{
    struct hrun_error err;
    struct stat before, after;
    char *path = hrun_strf("%s/a.dat", dir);

    ok(!write_files(100, 0, &err), "files are written: %s", err.text);
    ok(is_size(100), "the first");
    is_str(get(dir, "sub/b-100.dat"), "100\n", "the second, in a folder of its own");

    stat(path, &before);
    ok(!write_files(100, 0, &err), "again");
    stat(path, &after);
    ok(before.st_ino == after.st_ino, "what is right is not touched");

    ok(!write_files(200, 0, &err), "hrun's own file is replaced: %s", err.text);
    ok(is_size(200), "by the new one");
    is_str(get(dir, "sub/b-100.dat"), "100\n", "another size's file stays");

    change(dir, "a.dat", "200", "201");
    is_int(write_files(300, 0, &err), -1, "a file that the user changed");
    is_int(err.code, HRUN_EEXISTS, "code");
    has_str(err.text, "/a.dat' was changed, or was not written by hrun: it is kept and nothing is written",
            "message");
    has_str(get(dir, "a.dat"), "size 201 on 2, hrun:", "it is kept");
    is_str(get(dir, "sub/b-300.dat"), "(none)", "of several files none is written");
    ok(!write_files(300, 1, &err), "force: %s", err.text);
    ok(is_size(300), "it is replaced");
    ok(!write_files(400, 0, &err), "and hrun's own from then on");

    put(dir, "a.dat", "mine, of size 500\n");
    is_int(write_files(500, 0, &err), -1, "a file without a mark is the user's");
    put(dir, "a.dat", "hrun:");
    is_int(write_files(500, 0, &err), -1, "so is one with a part of a mark");
    put(dir, "a.dat", "size 500 on 2, hrun:00000000\n");
    is_int(write_files(500, 0, &err), -1, "or with a wrong one");
    put(dir, "a.dat", "");
    is_int(write_files(500, 0, &err), -1, "or an empty one");
    unlink(path);
    ok(!write_files(600, 0, &err), "a file that is gone is written");
    put(dir, "sub/b-601.dat", "601\n");
    ok(!write_files(601, 0, &err), "a user's file with the right content will do");
    put(dir, "sub/b-602.dat", "601\n");
    is_int(write_files(602, 0, &err), -1, "one with another content not");
    has_str(err.text, "(to have hrun overwrite its own, put hrun:00000000 into the definition's content",
            "which says what lacks");

    unlink(path);
    ok(!symlink("nowhere", path), "a dangling link");
    is_int(write_files(700, 0, &err), -1, "is the user's");
    is_int(err.code, HRUN_EEXISTS, "code");
    unlink(path);
    mkfifo(path, 0600);
    is_int(write_files(700, 1, &err), -1, "a pipe is in the way, also with force");
    is_int(err.code, HRUN_EEXISTS, "code");
    unlink(path);
    mkdir(path, 0700);
    is_int(write_files(700, 1, &err), -1, "a folder is in the way");
    is_int(err.code, HRUN_EEXISTS, "code");
    rmdir(path);
    is_int(hrun_app_write_files(app, AT(0), dir, 0, 0, &err), -1, "N is needed");
    is_int(err.code, HRUN_EINVAL, "code");
    has_str(err.text, "file 'a.dat' of files: line 1: {N} is the problem size", "message");
    is_int(hrun_app_write_files(app, AT(1), "/nonexistent", 0, 0, &err), -1, "no such working directory");
    is_int(err.code, HRUN_EIO, "code");
    free(path);
}

/* No path leads out of the working directory, which itself may be reached through a link. */
static void test_links(void)
{
    struct hrun_error err;
    char *out = hrun_strf("%s/out", top), *sub = hrun_strf("%s/linked/sub", top), *real = hrun_strf("%s/linked", top);
    char *file = hrun_strf("%s/a.dat", real), *other = hrun_strf("%s/out/theirs", top), *work = dir;

    hrun_mkdirs(out, 0777, NULL);
    hrun_mkdirs(real, 0777, NULL);
    dir = real;
    ok(!symlink(out, sub), "a folder of the working directory that is a link");
    for (int force = 0; force < 2; force++) {
        is_int(write_files(800, force, &err), -1, "is refused%s", force ? ", also with force" : "");
        is_int(err.code, HRUN_EEXISTS, "code");
        has_str(err.text, "/linked/sub' is a symbolic link, which may lead out of the working directory", "message");
    }
    put(out, "b-800.dat", "800\n");
    is_int(write_files(800, 0, &err), -1, "even where what it leads to is right");
    is_str(get(out, "b-900.dat"), "(none)", "nothing is written there");
    unlink(sub);
    unlink(file);
    put(out, "theirs", "theirs\n");
    ok(!symlink(other, file), "a file that is a link");
    for (int force = 0; force < 2; force++) {
        is_int(write_files(801, force, &err), -1, "is refused%s", force ? ", also with force" : "");
        is_int(err.code, HRUN_EEXISTS, "code");
        has_str(err.text, "/linked/a.dat' is in the way", "message");
    }
    is_str(get(out, "theirs"), "theirs\n", "what it leads to is kept");
    unlink(file);
    dir = hrun_strf("%s/to-linked", top);
    ok(!symlink(real, dir) && !write_files(802, 0, &err), "a link to the working directory is fine: %s", err.text);
    is_str(get(real, "sub/b-802.dat"), "802\n", "the files are in it");
    free(dir);
    dir = work;
    free(out);
    free(sub);
    free(real);
    free(file);
    free(other);
}

/* What the system refuses leaves the files as they are. */
static void test_io(void)
{
    struct hrun_error err = { .code = HRUN_OK };
    char *work = hrun_strf("%s/io", top);

    hrun_mkdirs(work, 0777, NULL);
    put(work, "sub", "a file");
    is_int(hrun_app_write_files(app, AT(1), work, 0, 0, &err), -1, "a file where a folder is needed");
    is_int(err.code, HRUN_EIO, "code");
    is_str(get(work, "sub"), "a file", "it is kept");
    is_str(get(work, "a.dat"), "(none)", "and of several files none is written");
    free(work);
}

/* Where all is right nothing need be written. */
static void test_read_only(void)
{
    struct hrun_error err = { .code = HRUN_OK };
    char *sub = hrun_strf("%s/sub", dir);
    int status;
    pid_t pid;

    ok(!write_files(20000, 1, &err), "files: %s", err.text);
    ok(!chmod(top, 0755) && !chmod(dir, 0555) && !chmod(sub, 0555), "a folder that may only be read");
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        if (geteuid() == 0 && setuid(65534)) /* root may write everywhere */
            _exit(3);
        if (hrun_app_write_files(app, AT(20000), dir, 0, 0, &err))
            _exit(1);
        if (!hrun_app_write_files(app, AT(20001), dir, 0, 1, &err) || err.code != HRUN_EIO)
            _exit(2);
        _exit(0);
    }
    ok(waitpid(pid, &status, 0) == pid && WIFEXITED(status), "a process that may not write");
    is_int(WEXITSTATUS(status), 0, "goes on where all files are right, not where one is to be written");
    chmod(dir, 0755);
    chmod(sub, 0755);
    free(sub);
}

/* A process killed in the middle of a replacement leaves a temporary file in the user's folder. */
static void test_leftovers(void)
{
    struct hrun_error err;

    put(dir, "a.dat.tmp.123.0", "half");
    put(dir, "a.dat.tmp", "the user's");
    ok(!write_files(30000, 1, &err), "the next one: %s", err.text);
    is_str(get(dir, "a.dat.tmp.123.0"), "(none)", "removes it");
    is_str(get(dir, "a.dat.tmp"), "the user's", "and nothing else");
}

static void test_clash(void)
{
    struct hrun_error err = { .code = HRUN_OK };
    struct hrun_app *clash = NULL;
    char *path = hrun_strf("%s/clash.yaml", top);

    put(top, "clash.yaml", "name: clash\nterms: {np: [\"1\"], n: [\"1\"]}\nfiles:\n"
        "  - {path: 'a{N}', content: x}\n"
        "  - {path: 'a7', content: y}\n");
    ok(!hrun_app_load(path, NULL, &clash, &err), "loads: %s", err.text);
    if (clash) {
        ok(!hrun_app_write_files(clash, &(struct hrun_app_values){ 6, 1, NULL }, dir, 0, 0, &err), "two paths");
        is_int(hrun_app_write_files(clash, &(struct hrun_app_values){ 7, 1, NULL }, dir, 0, 0, &err), -1,
               "that fall together");
        is_int(err.code, HRUN_EINVAL, "code");
        has_str(err.text, "two files of clash have the path '", "message");
    }
    hrun_app_destroy(clash);
    free(path);
}

/* What files of the user's say of constants. */
static void test_presets(void)
{
    static const char text[] = "name: app\nterms: {np: [\"N/P\"], n: [\"N\"]}\nconstants:\n"
        "- {name: a, value: 1, file: in, line: 1}\n- {name: b, value: 2, file: in, line: 2}\n"
        "- {name: c, value: 3, file: in, line: 4}\n- {name: d, value: 4, file: in, line: 9}\n"
        "- {name: e, value: 5, file: none, line: 1}\n- {name: f, value: 6}\n"
        "files: [{path: in, content: \"7\\n8\\n# hrun:00000000\\n\"}, {path: none, content: x}]\n";
    const struct { const char *file, *want, *missed; } cases[] = {
        { "7 # words\n  2.5\n\n\t-3", "a=7 b=2.5 c=-3 ", "d=4 " }, { "1\n2\n\n3\n\n\n\n\n4\n", "", "" },
        { "7 8 words\n9\r\nx\n3x\n", "b=9 ", "a=1 c=3 d=4 " },
        { "words 7\n.\n\n1e999", "", "a=1 b=2 c=3 d=4 " }, { "", "", "a=1 b=2 c=3 d=4 " },
        { "inf\nnan\n", "", "a=1 b=2 c=3 d=4 " }, { "7 8x\n", "a=7 ", "b=2 c=3 d=4 " },
        { "192, NBs\n5;\n\n6,7 x\n\n\n\n\n4", "a=192 b=5 c=6 ", "" },      /* as atoi reads them */
        { "192, 256, NBs\n,\n\n3 ,\n\n\n\n\n4", "", "a=1 b=2 " },
    };
    char *work = hrun_strf("%s/presets", top);
    struct hrun_error err;
    struct hrun_app *a = load_text(top, text, &err);
    struct hrun_strvec found = HRUN_STRVEC_INIT, missed = HRUN_STRVEC_INIT;
    double written = 0;

    mkdir(work, 0700);
    ok(a && a->run.npresets == 5, "constants with places: %s", err.text);
    for (size_t i = 0; a && i < sizeof cases / sizeof cases[0]; i++) {
        struct hrun_buf all = HRUN_BUF_INIT, none = HRUN_BUF_INIT;

        put(work, "in", cases[i].file);
        hrun_app_presets(a, work, &found, &missed);
        for (size_t k = 0; k < found.n; k++)
            hrun_buf_addf(&all, "%s ", found.v[k]);
        for (size_t k = 0; k < missed.n; k++)
            hrun_buf_addf(&none, "%s ", missed.v[k]);
        is_str(all.len ? all.data : "", cases[i].want, "what it says");
        is_str(none.len ? none.data : "", cases[i].missed, "and what it does not say in one number");
        hrun_buf_release(&all);
        hrun_buf_release(&none);
        hrun_strvec_release(&found);
        hrun_strvec_release(&missed);
    }
    ok(a && hrun_app_preset_holds(a, &a->run.presets[0], 7, AT(1), &written), "the file that hrun writes has a number");
    ok(a && !hrun_app_preset_holds(a, &a->run.presets[1], 2, AT(1), &written) && written == 8, "or another one, which is told");
    ok(a && !hrun_app_write_files(a, AT(1), work, 1, 0, &err), "a file of hrun's: %s", err.text);
    hrun_app_presets(a, work, &found, &missed);
    ok(found.n == 0, "says nothing");
    hrun_strvec_release(&missed);
    hrun_app_destroy(a);
    free(work);
}

/* Would they be written? */
static void test_check(void)
{
    static const char text[] = "name: app\nterms: {np: [\"N/P\"], n: [\"N\"]}\n"
        "files: [{path: in, content: \"{N}\"}]\n";
    char *work = hrun_strf("%s/check", top);
    struct hrun_error err;
    struct hrun_app *a = load_text(top, text, &err);

    mkdir(work, 0700);
    ok(a && !hrun_app_write_files(a, AT(5), work, 0, 1, &err), "a file that can be written: %s", err.text);
    is_str(get(work, "in"), "(none)", "is not");
    put(work, "in", "mine");
    ok(a && hrun_app_write_files(a, AT(5), work, 0, 1, &err) && err.code == HRUN_EEXISTS, "one of the user's");
    has_str(err.text, "/check/in' was changed, or was not written by hrun", "is told");
    ok(a && !hrun_app_write_files(a, AT(5), work, 1, 1, &err), "but with force");
    is_str(get(work, "in"), "mine", "it is as it was");
    hrun_app_destroy(a);
    free(work);
}

int main(void)
{
    struct hrun_error err = { .code = HRUN_OK };
    char *path;

    top = temp_dir();
    dir = hrun_strf("%s/work", top);
    path = hrun_strf("%s/files.yaml", top);
    hrun_mkdirs(dir, 0777, NULL);
    put(top, "files.yaml", "name: files\nterms: {np: [\"1\"], n: [\"1\"]}\nfiles:\n"
        "  - path: a.dat\n    content: |\n      size {N} on {P}, hrun:00000000\n"
        "  - path: sub/b-{N}.dat\n    content: |\n      {N}\n");
    ok(!hrun_app_load(path, NULL, &app, &err), "the definition loads: %s", err.text);
    if (app) {
        test_ownership();
        test_links();
        test_io();
        test_read_only();
        test_leftovers();
        test_clash();
    }
    hrun_app_destroy(app);
    test_presets();
    test_check();
    hrun_remove_tree(top);
    free(path);
    free(top);
    free(dir);
    return tap_done();
}
