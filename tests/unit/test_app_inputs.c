/* test_app_inputs.c - input files: the user's are never lost, hrun's own are known again after a crash */
#include "fixture.h"

#include "app/app.h"

#include <sys/wait.h>

static struct hrun_app *app;
static char *top, *dir, *ledger;

/* A size, on two processes. */
#define AT(size) (&(struct hrun_app_values){ size, 2, NULL })

static int write_files(int64_t N, int force, struct hrun_error *err)
{
    err->code = HRUN_OK;
    err->text[0] = 0;
    return hrun_app_write_files(app, AT(N), dir, ledger, force, err);
}

static int lines(const char *text)
{
    int n = 0;

    for (; *text; text++)
        n += *text == '\n';
    return n;
}

static void test_ownership(void)
{
    struct hrun_error err;
    struct stat before, after;
    char *path = hrun_strf("%s/a.dat", dir);

    ok(!write_files(100, 0, &err), "files are written: %s", err.text);
    is_str(get(dir, "a.dat"), "size 100 on 2\n", "the first");
    is_str(get(dir, "sub/b-100.dat"), "100\n", "the second, in a folder of its own");
    is_int(lines(get(top, "data/ledger")), 2, "the ledger has both");

    stat(path, &before);
    ok(!write_files(100, 0, &err), "again");
    stat(path, &after);
    ok(before.st_ino == after.st_ino, "what is right is not touched");
    is_int(lines(get(top, "data/ledger")), 2, "nor is the ledger");

    ok(!write_files(200, 0, &err), "hrun's own file is replaced: %s", err.text);
    is_str(get(dir, "a.dat"), "size 200 on 2\n", "by the new one");
    is_str(get(dir, "sub/b-100.dat"), "100\n", "another size's file stays");

    put(dir, "a.dat", "size 200 on 2, my own\n");
    is_int(write_files(300, 0, &err), -1, "a file that the user changed");
    is_int(err.code, HRUN_EEXISTS, "code");
    has_str(err.text, "/a.dat' was changed, or was not written by hrun: it is kept and nothing is written",
            "message");
    is_str(get(dir, "a.dat"), "size 200 on 2, my own\n", "it is kept");
    is_str(get(dir, "sub/b-300.dat"), "(none)", "of several files none is written");
    ok(!write_files(300, 1, &err), "force: %s", err.text);
    is_str(get(dir, "a.dat"), "size 300 on 2\n", "it is replaced");
    ok(!write_files(400, 0, &err), "and hrun's own from then on");

    unlink(path);
    put(dir, "a.dat", "size 500 on 2\n");
    ok(!write_files(500, 0, &err), "a user's file with the right content will do");
    is_int(write_files(600, 0, &err), -1, "but it stays the user's");
    unlink(path);
    ok(!write_files(600, 0, &err), "a file that is gone is written");

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
    is_int(hrun_app_write_files(app, AT(0), dir, ledger, 0, &err), -1, "N is needed");
    is_int(err.code, HRUN_EINVAL, "code");
    has_str(err.text, "file 'a.dat' of files: line 1: {N} is the problem size", "message");
    is_int(hrun_app_write_files(app, AT(1), "/nonexistent", ledger, 0, &err), -1, "no such working directory");
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
    put(real, "a.dat", "size 800 on 2\n");
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

/* Between the ledger's line and the file's replacement anything may happen. */
static void test_crash(void)
{
    struct hrun_error err;
    char *saved, *other = hrun_strf("%s/other", top);

    hrun_mkdirs(other, 0777, NULL);
    ok(!write_files(1000, 0, &err), "a file: %s", err.text);
    saved = strdup(get(dir, "a.dat"));
    for (int i = 1; i <= 3; i++) {
        ok(!write_files(1000 + i, 0, &err), "attempt %d: %s", i, err.text);
        put(dir, "a.dat", saved);      /* as if it had not come to the replacement */
    }
    ok(!write_files(2000, 0, &err), "the former content is still hrun's: %s", err.text);

    /* Forced: the user's content must not become hrun's when the replacement does not happen. */
    put(dir, "a.dat", "mine\n");
    ok(!write_files(2001, 1, &err), "forced");
    put(dir, "a.dat", "mine\n");
    is_int(write_files(2002, 0, &err), -1, "the user's file is still the user's");
    ok(!write_files(2002, 1, &err), "forced again");

    /* A torn line, a foreign line, a binary one. */
    put(top, "data/ledger", "{\"path\": \"/x\", \"crc32\": 1, \"length\": 2}\nnonsense\n{}\n[1]\n"
        "{\"path\": 3}\n"
        "{\"path\": \"/y\", \"crc32\": -1, \"length\": 2}\n{\"path\": \"/tmp/x\", \"crc");
    is_int(write_files(2003, 0, &err), -1, "what the ledger does not know is the user's");
    ok(!write_files(2003, 1, &err), "a torn ledger is no obstacle: %s", err.text);
    ok(!write_files(2004, 0, &err), "new lines are read after the torn one: %s", err.text);
    has_str(get(top, "data/ledger"), "\"crc\n{\"path\"", "they begin on lines of their own");
    free(saved);
    free(other);
}

static void test_compaction(void)
{
    struct hrun_buf text = HRUN_BUF_INIT;
    struct hrun_error err;
    const char *own;

    ok(!write_files(10000, 0, &err), "a file: %s", err.text);
    hrun_buf_adds(&text, get(top, "data/ledger"));
    for (int i = 0; i < 900; i++)
        hrun_buf_addf(&text, "{\"path\": \"/x\", \"crc32\": %d, \"length\": 1}\n", i);
    put(top, "data/ledger", text.data);
    ok(!write_files(10001, 0, &err), "a long ledger: %s", err.text);
    ok(lines(get(top, "data/ledger")) > 900, "grows (%d lines)", lines(get(top, "data/ledger")));
    hrun_buf_reset(&text);
    hrun_buf_adds(&text, get(top, "data/ledger"));
    for (int i = 0; i < 200; i++)
        hrun_buf_addf(&text, "{\"path\": \"/x\", \"crc32\": %d, \"length\": 1}\n", 900 + i);
    put(top, "data/ledger", text.data);
    ok(!write_files(10002, 0, &err), "a longer one: %s", err.text);
    own = get(top, "data/ledger");
    ok(lines(own) < 50, "is cut back (%d lines)", lines(own));
    has_str(own, "{\"path\": \"/x\", \"crc32\": 1099, \"length\": 1}\n", "the last line of each path stays");
    ok(!strstr(own, "1098"), "earlier ones do not");
    ok(!write_files(10003, 0, &err), "hrun's files are known as before: %s", err.text);
    hrun_buf_release(&text);
}

/* Two hruns in two folders share a ledger: no line is lost. */
static void test_parallel(void)
{
    enum { CHILDREN = 4, ROUNDS = 12 };
    pid_t pids[CHILDREN];
    int failed = 0, status;

    for (int k = 0; k < CHILDREN; k++) {
        pids[k] = fork();
        if (pids[k] == 0) {
            char *mine = hrun_strf("%s/p%d", top, k);
            int bad = hrun_mkdirs(mine, 0777, NULL) != 0;

            for (int i = 0; i < ROUNDS; i++)
                bad += hrun_app_write_files(app, AT(1 + i), mine, ledger, 0, NULL) != 0;
            _exit(bad != 0);
        }
    }
    for (int k = 0; k < CHILDREN; k++)
        failed += waitpid(pids[k], &status, 0) != pids[k] || status != 0;
    is_int(failed, 0, "four at once");
}

/* Names that JSON does not take as they are. */
static void test_odd_names(void)
{
    struct hrun_error err = { .code = HRUN_OK };
    char *odd = hrun_strf("%s/odd \xff\"%%41\\\n\xc3\xa9", top);

    hrun_mkdirs(odd, 0777, NULL);
    for (int i = 1; i <= 3; i++)
        ok(!hrun_app_write_files(app, AT(i), odd, ledger, 0, &err), "an odd folder, %d: %s", i, err.text);
    is_str(get(odd, "a.dat"), "size 3 on 2\n", "the file is replaced");
    free(odd);
}

/* What the system refuses leaves the files as they are. */
static void test_io(void)
{
    struct hrun_error err = { .code = HRUN_OK };
    char *work = hrun_strf("%s/io", top), *bad = hrun_strf("%s/badledger", top);
    char *lock = hrun_strf("%s.lock", bad), *below = hrun_strf("%s/files.yaml/ledger", top);

    hrun_mkdirs(work, 0777, NULL);
    hrun_mkdirs(bad, 0777, NULL);
    is_int(hrun_app_write_files(app, AT(1), work, bad, 0, &err), -1, "the ledger is a folder");
    is_int(err.code, HRUN_EINVAL, "code");
    is_str(get(work, "a.dat"), "(none)", "nothing is written");
    unlink(lock);
    hrun_mkdirs(lock, 0777, NULL);
    is_int(hrun_app_write_files(app, AT(1), work, bad, 0, &err), -1, "the lock is a folder");
    is_int(err.code, HRUN_EIO, "code");
    is_int(hrun_app_write_files(app, AT(1), work, below, 0, &err), -1, "the ledger's folder is a file");
    is_int(err.code, HRUN_EIO, "code");
    put(work, "sub", "a file");
    is_int(hrun_app_write_files(app, AT(1), work, ledger, 0, &err), -1, "a file where a folder is needed");
    is_int(err.code, HRUN_EIO, "code");
    is_str(get(work, "sub"), "a file", "it is kept");
    free(work);
    free(bad);
    free(lock);
    free(below);
}

/* Where all is right nothing need be written, so a data folder that may only be read is no obstacle. */
static void test_read_only_data(void)
{
    struct hrun_error err = { .code = HRUN_OK };
    char *data = hrun_strf("%s/data", top), *locked = hrun_strf("%s.lock", ledger);
    char *none = hrun_strf("%s/none/ledger", top), *folder = hrun_strf("%s/none", top);
    struct stat st;
    int status;
    pid_t pid;

    ok(!write_files(20000, 1, &err), "files: %s", err.text);
    ok(!chmod(top, 0755) && !chmod(dir, 0755) && !chmod(data, 0555) && !chmod(locked, 0444) && !chmod(ledger, 0444),
       "a data folder that may only be read");
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        if (geteuid() == 0 && setuid(65534)) /* root may write everywhere */
            _exit(3);
        if (hrun_app_write_files(app, AT(20000), dir, ledger, 0, &err))
            _exit(1);
        if (!hrun_app_write_files(app, AT(20001), dir, ledger, 0, &err) || err.code != HRUN_EIO)
            _exit(2);
        _exit(0);
    }
    ok(waitpid(pid, &status, 0) == pid && WIFEXITED(status), "a process that may not write");
    is_int(WEXITSTATUS(status), 0, "goes on where all files are right, not where one is to be written");
    chmod(data, 0755);
    chmod(locked, 0644);
    chmod(ledger, 0644);
    ok(!hrun_app_write_files(app, AT(20000), dir, none, 0, &err) && stat(folder, &st), "nor is a data folder made");
    free(data);
    free(locked);
    free(none);
    free(folder);
}

/* Without a ledger each file that is there and differs is the user's. */
static void test_no_ledger(void)
{
    struct hrun_error err = { .code = HRUN_OK };
    char *work = hrun_strf("%s/no-ledger", top);

    hrun_mkdirs(work, 0777, NULL);
    ok(!hrun_app_write_files(app, AT(1), work, NULL, 0, &err), "missing files are written: %s", err.text);
    is_str(get(work, "sub/b-1.dat"), "1\n", "one of them");
    ok(!hrun_app_write_files(app, AT(1), work, NULL, 0, &err), "and are right: %s", err.text);
    is_int(hrun_app_write_files(app, AT(2), work, NULL, 0, &err), -1, "one that differs");
    is_int(err.code, HRUN_EEXISTS, "is not replaced");
    is_str(get(work, "sub/b-2.dat"), "(none)", "and of several files none is written");
    ok(!hrun_app_write_files(app, AT(2), work, NULL, 1, &err), "but with force: %s", err.text);
    is_str(get(work, "a.dat"), "size 2 on 2\n", "it is replaced");
    free(work);
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
    ok(!hrun_app_load(path, NULL, 0, &clash, &err), "loads: %s", err.text);
    if (clash) {
        ok(!hrun_app_write_files(clash, &(struct hrun_app_values){ 6, 1, NULL }, dir, ledger, 0, &err), "two paths");
        is_int(hrun_app_write_files(clash, &(struct hrun_app_values){ 7, 1, NULL }, dir, ledger, 0, &err), -1,
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
        "files: [{path: in, content: \"7\\n8\\n\"}, {path: none, content: x}]\n";
    const struct { const char *file, *want, *missed; } cases[] = {
        { "7 # words\n  2.5\n\n\t-3", "a=7 b=2.5 c=-3 ", "d=4 " }, { "1\n2\n\n3\n\n\n\n\n4\n", "", "" },
        { "7 8 words\n9\r\nx\n3x\n", "b=9 ", "a=1 c=3 d=4 " },
        { "words 7\n.\n\n1e999", "", "a=1 b=2 c=3 d=4 " }, { "", "", "a=1 b=2 c=3 d=4 " },
        { "inf\nnan\n", "", "a=1 b=2 c=3 d=4 " }, { "7 8x\n", "a=7 ", "b=2 c=3 d=4 " },
        { "192, NBs\n5;\n\n6,7 x\n\n\n\n\n4", "a=192 b=5 c=6 ", "" },      /* as atoi reads them */
        { "192, 256, NBs\n,\n\n3 ,\n\n\n\n\n4", "", "a=1 b=2 " },
    };
    char *work = hrun_strf("%s/presets", top), *known = hrun_strf("%s/presets.log", top);
    struct hrun_error err;
    struct hrun_app *a = load_text(top, text, &err);
    struct hrun_strvec found = HRUN_STRVEC_INIT, missed = HRUN_STRVEC_INIT;
    double written = 0;

    mkdir(work, 0700);
    ok(a && a->npresets == 5, "constants with places: %s", err.text);
    for (size_t i = 0; a && i < sizeof cases / sizeof cases[0]; i++) {
        struct hrun_buf all = HRUN_BUF_INIT, none = HRUN_BUF_INIT;

        put(work, "in", cases[i].file);
        ok(!hrun_app_presets(a, work, known, &found, &missed, &err), "presets %zu", i);
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
    ok(a && hrun_app_preset_holds(a, &a->presets[0], 7, AT(1), &written), "the file that hrun writes has a number");
    ok(a && !hrun_app_preset_holds(a, &a->presets[1], 2, AT(1), &written) && written == 8, "or another one, which is told");
    ok(a && !hrun_app_write_files(a, AT(1), work, known, 1, &err) &&
       !hrun_app_presets(a, work, known, &found, &missed, &err) && found.n == 0, "a file of hrun's says nothing: %s", err.text);
    hrun_app_destroy(a);
    free(work);
    free(known);
}

/* Would they be written? */
static void test_check(void)
{
    static const char text[] = "name: app\nterms: {np: [\"N/P\"], n: [\"N\"]}\n"
        "files: [{path: in, content: \"{N}\"}]\n";
    char *work = hrun_strf("%s/check", top), *known = hrun_strf("%s/no/check.log", top);
    struct hrun_error err;
    struct hrun_app *a = load_text(top, text, &err);
    struct stat st;

    mkdir(work, 0700);
    ok(a && !hrun_app_check_files(a, AT(5), work, known, 0, &err), "a file that can be written: %s", err.text);
    is_str(get(work, "in"), "(none)", "is not");
    ok(stat(known, &st), "nor is the ledger");
    put(work, "in", "mine");
    ok(a && hrun_app_check_files(a, AT(5), work, known, 0, &err) && err.code == HRUN_EEXISTS, "one of the user's");
    has_str(err.text, "/check/in' was changed, or was not written by hrun", "is told");
    ok(a && !hrun_app_check_files(a, AT(5), work, known, 1, &err), "but with force");
    is_str(get(work, "in"), "mine", "it is as it was");
    hrun_app_destroy(a);
    free(work);
    free(known);
}

int main(void)
{
    struct hrun_error err = { .code = HRUN_OK };
    char *path;

    top = temp_dir();
    dir = hrun_strf("%s/work", top);
    ledger = hrun_strf("%s/data/ledger", top);
    path = hrun_strf("%s/files.yaml", top);
    hrun_mkdirs(dir, 0777, NULL);
    put(top, "files.yaml", "name: files\nterms: {np: [\"1\"], n: [\"1\"]}\nfiles:\n"
        "  - path: a.dat\n    content: |\n      size {N} on {P}\n"
        "  - path: sub/b-{N}.dat\n    content: |\n      {N}\n");
    ok(!hrun_app_load(path, NULL, 0, &app, &err), "the definition loads: %s", err.text);
    if (app) {
        test_ownership();
        test_links();
        test_crash();
        test_compaction();
        test_parallel();
        test_odd_names();
        test_io();
        test_read_only_data();
        test_no_ledger();
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
    free(ledger);
    return tap_done();
}
