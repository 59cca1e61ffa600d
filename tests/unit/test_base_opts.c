/* options: every way to write one, every mistake, --help in 80 columns, a bash that tries the completion */
#include "fixture.h"

#include "base/file.h"
#include "base/opts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct settings {
    const char *app, *size, *config, *dir, *objective, *exports;
    int64_t np;
    int verbose, json, dry;
    struct hrun_strvec defines, mca;
};

#define AT(member) offsetof(struct settings, member)

static const struct hrun_opt table[] = {
    { "app", 0, HRUN_OPT_WORD, "NAME", NULL, "the application's definition", "What", hrun_opt_string,
      AT(app), .modes = 1 },
    { "size", 'N', HRUN_OPT_WORD, "NUM", NULL, "problem size", "What", hrun_opt_string, AT(size), .modes = 1 },
    { "define", 'D', HRUN_OPT_WORD, "NAME=VALUE", NULL,
      "set a constant of the application's definition, as often "
      "as there are constants to set", "What", hrun_opt_append, AT(defines), .modes = 1 },
    { "processes", 'n', HRUN_OPT_COUNT, "NUM", NULL, "as many processes", "How", NULL, AT(np),
      .min = 1, .max = 99 },
    { "np", 0, HRUN_OPT_COUNT, "NUM", NULL, NULL, "How", NULL, AT(np), .min = 1, .max = 99 },
    { "objective", 0, HRUN_OPT_CHOICE, "WHAT", "time cost energy", "what to make small", "How",
      hrun_opt_string,
      AT(objective), .modes = 1 },
    { "cluster-configuration-file", 0, HRUN_OPT_FILE, "FILE", NULL, "sub-clusters", "How", hrun_opt_string,
      AT(config), .modes = 1 },
    { "wdir", 0, HRUN_OPT_DIR, "DIR", NULL, "working directory", "How", hrun_opt_string, AT(dir), .modes = 1 },
    { "mca", 0, HRUN_OPT_PAIR, "KEY VALUE", NULL, "hand a parameter on", "How", hrun_opt_append, AT(mca), .modes = 1 },
    { NULL, 'x', HRUN_OPT_WORD, "NAME[=VALUE]", NULL, "export a variable", "How", hrun_opt_string,
      AT(exports), .modes = 1 },
    { "verbose", 'v', HRUN_OPT_NONE, NULL, NULL, "say more", NULL, hrun_opt_flag, AT(verbose), .modes = 1 },
    { "json", 'j', HRUN_OPT_NONE, NULL, NULL, "for machines", NULL, hrun_opt_flag, AT(json), .modes = 1 },
    { "dry-run", 0, HRUN_OPT_NONE, NULL, NULL, "start nothing", "What", hrun_opt_flag, AT(dry), .modes = 1 },
    { 0 }
};

/* Split line at blanks ('~' stands for one inside a word) and parse it after "hrun". */
static int parse(const char *line, struct settings *s, int *rest, struct hrun_error *err)
{
    static char words[1000];
    char *argv[64] = { (char *)"hrun" }, *save = NULL;
    struct hrun_opts_given given = { 0 };
    int argc = 1, rc;

    memset(s, 0, sizeof *s);
    snprintf(words, sizeof words, "%s", line);
    for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
        for (char *c = w; *c; c++)
            if (*c == '~')
                *c = ' ';
        argv[argc++] = w;
    }
    rc = hrun_opts_parse(table, s, argc, argv, &given, err);
    *rest = rc ? *rest : given.rest;
    return rc;
}

static void release(struct settings *s)
{
    hrun_strvec_release(&s->defines);
    hrun_strvec_release(&s->mca);
}

static void show(const struct settings *s, int rest, struct hrun_buf *b)
{
    const struct { const char *name, *value; } texts[] = {
        { "app", s->app }, { "N", s->size }, { "config", s->config }, { "dir", s->dir },
        { "objective", s->objective }, { "x", s->exports }
    };

    hrun_buf_reset(b);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].value)
            hrun_buf_addf(b, "%s=%s ", texts[i].name, texts[i].value);
    if (s->np)
        hrun_buf_addf(b, "np=%d ", (int)s->np);
    for (size_t i = 0; i < s->defines.n; i++)
        hrun_buf_addf(b, "D:%s ", s->defines.v[i]);
    for (size_t i = 0; i < s->mca.n; i++)
        hrun_buf_addf(b, "mca:%s ", s->mca.v[i]);
    hrun_buf_addf(b, "%s%s%srest=%d", s->verbose ? "v " : "", s->json ? "j " : "", s->dry ? "dry " : "",
                  rest);
}

static void test_parse(void)
{
    static const struct { const char *line, *want; } t[] = {
        { "", "rest=1" }, { "./a.out", "rest=1" }, { "-app hpl ./a.out", "app=hpl rest=3" },
        { "--app hpl", "app=hpl rest=3" }, { "--app=hpl x", "app=hpl rest=2" },
        { "-app=hpl", "app=hpl rest=2" },
        { "-N 9600", "N=9600 rest=3" }, { "-N9600 x", "N=9600 rest=2" }, { "--size=5", "N=5 rest=2" },
        { "-n 2", "np=2 rest=3" }, { "-n2", "np=2 rest=2" }, { "-np 2", "np=2 rest=3" },
        { "--np 2", "np=2 rest=3" },
        { "-D nb=1 -Dx=2 --define y=3", "D:nb=1 D:x=2 D:y=3 rest=6" },
        { "-vj", "v j rest=2" }, { "-v -j --dry-run", "v j dry rest=4" }, { "-vN7", "N=7 v rest=2" },
        { "--mca a b c", "mca:a=b rest=4" }, { "-mca a b --mca=c d -v p", "mca:a=b mca:c=d v rest=7" },
        { "-- -v", "rest=2" }, { "-v -- -v", "v rest=3" }, { "prog -v", "rest=1" }, { "-v - -j", "v rest=2" },
        { "--mca a -v x", "mca:a=-v rest=4" }, { "--app= x", "app= rest=2" },
        { "-xPATH -v", "x=PATH v rest=3" },
        { "--objective cost", "objective=cost rest=3" }, { "--obj energy", "objective=energy rest=3" },
        { "--dry", "dry rest=2" }, { "--wdir a~b", "dir=a b rest=3" },
        { "--app --app x", "app=--app rest=3" },
        { "-app a -app b", "app=b rest=5" }, { "-j prog -N 5 -- -v", "j rest=2" },
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct hrun_buf b = HRUN_BUF_INIT;
        struct hrun_error err = { 0 };
        struct settings s;
        int rest = -5, rc = parse(t[i].line, &s, &rest, &err);
        show(&s, rest, &b);
        ok(rc == 0, "'%s' parses%s%s", t[i].line, rc ? ": " : "", rc ? err.text : "");
        is_str(b.data, t[i].want, "'%s' means", t[i].line);
        release(&s);
        hrun_buf_release(&b);
    }
}

static void test_mistakes(void)
{
    static const struct { const char *line, *want; } t[] = {
        { "--ap1 x", "unknown option '--ap1'; did you mean '--app'?" },
        { "-objectiev cost", "unknown option '-objectiev'; did you mean '--objective'?" },
        { "--objectiev=cost", "unknown option '--objectiev=cost'; did you mean '--objective'?" },
        { "-q", "unknown option '-q'; --help lists all" }, { "-vq", "unknown option '-q'; --help lists all" },
        { "--zzzz", "unknown option '--zzzz'; --help lists all" },
        { "-zzzz", "unknown option '-zzzz'; --help lists all" },
        { "-v --d x", "option '--d' could mean several: --define, --dry-run" },
        { "--app", "option '--app' needs a value: --app NAME" },
        { "-app", "option '--app' needs a value: --app NAME" },
        { "-N", "option '-N' needs a value: -N NUM" },
        { "-v -D", "option '-D' needs a value: -D NAME=VALUE" },
        { "--mca", "option '--mca' needs two values: --mca KEY VALUE" },
        { "--mca a", "option '--mca' needs two values: --mca KEY VALUE" },
        { "--verbose=yes", "option '--verbose' takes no value, found '--verbose=yes'" },
        { "-v -json=1", "option '--json' takes no value, found '-json=1'" },
        { "--objective speed", "option '--objective' must be one of time, cost, energy, found 'speed'" },
        { "--objective=tiem",
          "option '--objective' must be one of time, cost, energy, found 'tiem'; did you mean "
          "'time'?" },
        { "--objective", "option '--objective' needs a value: --objective WHAT (one of time cost energy)" },
        { "-np 0", "--np needs a whole number in 1..99, not '0'" },
        { "-n0", "-n needs a whole number in 1..99, not '0'" },
        { "-D n", "--define needs NAME=VALUE, not 'n'" }, { "-D =n", "--define needs NAME=VALUE, not '=n'" },
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct hrun_error err = { 0 };
        struct settings s;
        int rest = -5, rc = parse(t[i].line, &s, &rest, &err);
        ok(rc == -1 && err.code == HRUN_EINVAL && rest == -5, "'%s' is refused", t[i].line);
        is_str(err.text, t[i].want, "'%s': words", t[i].line);
        release(&s);
        /* an abandoned parse, perhaps inside a word of short options, leaves nothing behind */
        rc = parse("-j x", &s, &rest, &err);
        ok(rc == 0 && rest == 2 && s.json && !s.verbose, "and the next parse begins anew");
        release(&s);
    }
}

/* ---------------------------------------------------------------- numbers, and what they count for */

struct numbers {
    int64_t count;
    double number, part, time_s;
    int all;
};

enum { SHOW, SHOW_ALL, PLAN, RUN };

static const struct hrun_opt_mode modes[] = {
    { "show", "all", "`show --all`", 0, NULL }, { "show", NULL, "`show`", 1, NULL },
    { NULL, "time", "`--time`", 1, NULL },
    { NULL, NULL, "a run", 1, NULL },
};

#define NUMBER(member) offsetof(struct numbers, member)
static const struct hrun_opt numbers[] = {
    { "count", 'c', HRUN_OPT_COUNT, "K", NULL, "", "", NULL, NUMBER(count), .modes = 1 << RUN, .min = -1, .max = 3 },
    { "number", 0, HRUN_OPT_NUMBER, "X", NULL, "", "", NULL, NUMBER(number), .modes = 1 << PLAN | 1 << RUN,
      .needs = (const char *const[]){ "count", "part", NULL } },
    { "part", 0, HRUN_OPT_PERCENT, "X", NULL, "", "", NULL, NUMBER(part), .modes = 7 },
    { "time", 0, HRUN_OPT_TIME, "T", NULL, "", "", NULL, NUMBER(time_s), .modes = 1 << PLAN },
    { "one", 'o', HRUN_OPT_NONE, NULL, NULL, "", "", hrun_opt_flag, NUMBER(all), .modes = 1 << RUN,
      .against = (const char *const[]){ "part", "count", NULL } },
    { "all", 'a', HRUN_OPT_NONE, NULL, NULL, "", "", hrun_opt_flag, NUMBER(all), .modes = 1 << SHOW },
    { 0 }
};

/* Parse two words, find the mode and check it: the mode, or -1. */
static int check_two(const char *first, const char *second, const char *word, struct numbers *n,
                     struct hrun_opts_given *given, struct hrun_error *err)
{
    char *argv[] = { (char *)"x", (char *)first, (char *)second, NULL };
    int mode;

    if (hrun_opts_parse(numbers, n, 1 + (first != NULL) + (second != NULL), argv, given, err))
        return -1;
    mode = hrun_opts_mode(numbers, modes, given, word);
    return hrun_opts_check(numbers, modes, mode, given, err) ? -1 : mode;
}

static void test_modes(void)
{
    static const struct { const char *first, *second, *word; int mode; const char *why; } t[] = {
        { NULL, NULL, NULL, RUN, "" }, { NULL, NULL, "prog", RUN, "" }, { NULL, NULL, "show", SHOW_ALL, "" },
        { "-a", NULL, "show", SHOW, "" }, { "--count=-1", NULL, NULL, RUN, "" }, { "--time=2m", NULL, "x", PLAN, "" },
        { "--number=2", "--count=1", NULL, RUN, "" }, { "--number=2", "-c1", "x", RUN, "" },
        { "-a", NULL, "prog", -1, "-a: --all does nothing for a run: leave it out; it is for `show --all`" },
        { "-a", "--time=9", NULL, -1, "-a: --all does nothing for `--time`: leave it out; it is for `show --all`" },
        { "--time=9", NULL, "show", -1, "--time does nothing for `show`: leave it out" },
        { "--part=9", NULL, NULL, -1, "--part does nothing for a run: leave it out; it is for `show --all`, `show` or "
          "`--time`" },
        { "--number=2", NULL, NULL, -1, "--number does nothing without --count or --part" },
        { "--one", "--count=1", NULL, -1, "--one and --count contradict each other: give one of them" },
        { "--part=9", "-o", NULL, -1, "--part does nothing for a run: leave it out; it is for `show --all`, `show` or "
          "`--time`" },
        { "--one", NULL, NULL, RUN, "" }, { "--one", "--time=9", NULL, -1, "--one does nothing for `--time`: leave it "
          "out; it is for a run" },
        { "--count=4", NULL, NULL, -1, "--count needs a whole number in -1..3, not '4'" },
        { "-cx", NULL, NULL, -1, "-c needs a whole number such as 1, not 'x'" },
        { "--number=0", NULL, NULL, -1, "--number 0: it must be above 0" },
        { "--part=0", NULL, NULL, -1, "--part 0: a percentage above 0 and at most 100 is needed" },
        { "--time=soon", NULL, NULL, -1, "--time needs a time such as 90, 90s, 1.5m, 2h or 1h30m, not 'soon'" },
    };
    struct hrun_opts_given given = { .ended = 0 };
    struct hrun_error err = { 0 };
    struct numbers n = { 0 };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        err = (struct hrun_error){ 0 };
        given = (struct hrun_opts_given){ .ended = 0 };
        is_int(check_two(t[i].first, t[i].second, t[i].word, &n, &given, &err), t[i].mode, "%s %s %s: mode",
               t[i].first ? t[i].first : "-", t[i].second ? t[i].second : "-", t[i].word ? t[i].word : "-");
        is_str(err.text, t[i].why, "and why");
    }
    n = (struct numbers){ 0 };
    check_two("--part=9%", "--time=2m", NULL, &n, &given, &err);
    ok(n.part == 0.09 && n.time_s == 120, "numbers have the units of their kinds");
    given = (struct hrun_opts_given){ .ended = 0 };
    check_two("--", "-a", NULL, &n, &given, &err);
    ok(given.ended && !given.rows[5], "-- ends the options, and is told");
    given = (struct hrun_opts_given){ .ended = 0 };
    check_two("prog", "--", NULL, &n, &given, &err);
    ok(!given.ended, "that of the program is not");
}

static void test_help(void)
{
    static const char want[] =
        "What:\n"
        "      --app NAME           the application's definition\n"
        "  -N, --size NUM           problem size\n"
        "  -D, --define NAME=VALUE  set a constant of the application's definition, as\n"
        "                           often as there are constants to set\n"
        "      --dry-run            start nothing\n"
        "\n"
        "How:\n"
        "  -n, --processes NUM      as many processes\n"
        "      --objective WHAT     what to make small (time, cost, energy)\n"
        "      --cluster-configuration-file FILE\n"
        "                           sub-clusters\n"
        "      --wdir DIR           working directory\n"
        "      --mca KEY VALUE      hand a parameter on\n"
        "  -x NAME[=VALUE]          export a variable\n"
        "\n"
        "  -v, --verbose            say more\n"
        "  -j, --json               for machines\n";
    struct hrun_buf b = HRUN_BUF_INIT;
    size_t longest = 0;

    hrun_opts_help(table, ~0u, 0, &b);
    is_str(b.data, want, "--help: groups in order, hidden aliases left out, text wrapped");
    for (const char *p = b.data; *p; p += strcspn(p, "\n") + 1)
        if (strcspn(p, "\n") > longest)
            longest = strcspn(p, "\n");
    ok(longest <= 80, "within 80 columns (%zu)", longest);
    hrun_buf_release(&b);
}

/* Of one mode, and of what is needed most. */
static void test_short_help(void)
{
    static const struct hrun_opt rows[] = {
        { "one", 'o', HRUN_OPT_NONE, NULL, NULL, "first", "A", hrun_opt_flag, 0, .modes = 1 },
        { "wait", 0, HRUN_OPT_TIME, "TIME", NULL, "second", "B", NULL, 0, .modes = 2, .optional = 1, .often = 1 },
        { "both", 0, HRUN_OPT_NONE, NULL, NULL, "third", "A", hrun_opt_flag, 0, .modes = 3, .often = 1 },
        { 0 }
    };
    struct hrun_buf b = HRUN_BUF_INIT;

    hrun_opts_help(rows, 2, 0, &b);
    is_str(b.data, "B:\n      --wait[=TIME]  second\n\nA:\n      --both         third\n", "of one mode");
    hrun_buf_reset(&b);
    hrun_opts_help(rows, ~0u, 1, &b);
    is_str(b.data, "\n      --wait[=TIME]  second\n      --both         third\n", "what is needed most");
    hrun_buf_release(&b);
}

/* Values that may be left out, and modes that a value asks for. */
static void test_optional(void)
{
    struct { double wait_s; int64_t count; const char *what; } s;
    static const struct hrun_opt_mode by_value[] = {
        { NULL, "what=b", "b", 0, NULL }, { NULL, NULL, "a run", 1, NULL },
    };
    const struct hrun_opt rows[] = {
        { "wait", 0, HRUN_OPT_TIME, "TIME", NULL, "", "", NULL, (size_t)((char *)&s.wait_s - (char *)&s),
          .modes = 3, .optional = 1 },
        { "count", 0, HRUN_OPT_COUNT, "K", NULL, "", "", NULL, (size_t)((char *)&s.count - (char *)&s),
          .modes = 3, .min = 1, .max = 9, .optional = 1 },
        { "what", 0, HRUN_OPT_CHOICE, "WHAT", "a b", "", "", hrun_opt_string, (size_t)((char *)&s.what - (char *)&s),
          .modes = 3, .optional = 1 },
        { 0 }
    };
    static const struct { const char *words[4]; double wait_s; int64_t count; const char *what; int rest, mode; }
    t[] = {
        { { "--wait", "--count", "--what" }, INFINITY, -1, "a b", 4, 1 },
        { { "--wait=5m", "--count=3", "--what=b" }, 300, 3, "b", 4, 0 },
        { { "-wait=5", "--what=b", "--what=a" }, 5, 0, "a", 4, 1 },
        { { "--wait", "x", "5" }, INFINITY, 0, NULL, 2, 1 },
        { { "--wait", "--", "5" }, INFINITY, 0, NULL, 3, 1 },
        { { "--wait=5m", "5m" }, 300, 0, NULL, 2, 1 },
    };
    static const struct { const char *words[3], *why; } bad[] = {
        { { "--wait", "5m", "x" }, "'5m' after --wait would be taken as the program: write --wait=5m, or -- before "
          "a program of this name" },
        { { "-count", "7", "x" }, "'7' after -count would be taken as the program: write -count=7, or -- before "
          "a program of this name" },
        { { "--what", "b" }, "'b' after --what would be taken as the program: write --what=b, or -- before "
          "a program of this name" },
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        char *argv[5] = { (char *)"x" };
        struct hrun_opts_given given = { .ended = 0 };
        struct hrun_error err = { 0 };
        int argc = 0;

        memcpy(argv + 1, t[i].words, sizeof t[i].words);
        memset(&s, 0, sizeof s);
        while (argv[argc])
            argc++;
        ok(!hrun_opts_parse(rows, &s, argc, argv, &given, &err) && given.rest == t[i].rest, "line %zu is read", i);
        ok(s.wait_s == t[i].wait_s || (isinf(s.wait_s) && isinf(t[i].wait_s)), "%zu: time", i);
        is_int(s.count, t[i].count, "%zu: count", i);
        ok(t[i].what ? s.what && !strcmp(s.what, t[i].what) : !s.what, "%zu: choice", i);
        is_int(hrun_opts_mode(rows, by_value, &given, NULL), t[i].mode, "%zu: mode", i);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *argv[4] = { (char *)"x", (char *)bad[i].words[0], (char *)bad[i].words[1], (char *)bad[i].words[2] };
        struct hrun_opts_given given = { 0 };
        struct hrun_error err = { 0 };

        is_int(hrun_opts_parse(rows, &s, argv[3] ? 4 : 3, argv, &given, &err), -1, "%s %s", argv[1], argv[2]);
        is_str(err.text, bad[i].why, "and why");
    }
}

/* What a bash would offer for line, blank-separated, in `out`. */
static int complete(const char *dir, const char *line, struct hrun_buf *out)
{
    char *cmd = hrun_strf("cd '%s' && bash --norc -c 'compopt() { :; }; source ./comp; COMP_LINE=\"%s\"; "
                          "COMP_POINT=${#COMP_LINE}; _hrun_x; printf \"%%s \" \"${COMPREPLY[@]}\"'", dir,
                          line);
    char chunk[512];
    FILE *p = cmd ? popen(cmd, "r") : NULL;
    size_t n;

    hrun_buf_reset(out);
    while (p && (n = fread(chunk, 1, sizeof chunk, p)) > 0)
        hrun_buf_add(out, chunk, n);
    free(cmd);
    return p ? pclose(p) : -1;
}

static void test_completion(void)
{
    static const struct { const char *line, *want; } t[] = {
        { "hrun-x --",
          "--app --size --define --processes --objective --cluster-configuration-file --wdir --mca "
          "--verbose --json --dry-run " },
        { "hrun-x --d", "--define --dry-run " }, { "hrun-x -a", "-app " }, { "hrun-x -n", "-n " },
        { "hrun-x -v -ob", "-objective " },
        { "hrun-x --objective ", "time cost energy " }, { "hrun-x -objective e", "energy " },
        { "hrun-x --objective=", "time cost energy " }, { "hrun-x -v --objective=c", "cost " },
        { "hrun-x --app hpl --objective t", "time " }, { "hrun-x --mca a b --objective t", "time " },
        { "hrun-x --mca=a b --objective t", "time " }, { "hrun-x -N9 -D a=b:c --objective t", "time " },
        { "hrun-x --np 2 --objective t", "time " },
        { "hrun-x --app ", " " }, { "hrun-x -D ", " " }, { "hrun-x --mca a ", " " },
        { "hrun-x --cluster-configuration-file zzq-d", "zzq-dir " }, { "hrun-x --wdir zzq", "zzq-dir " },
        { "hrun-x --cluster-configuration-file=zzq-f", "zzq-file " },
        { "hrun-x zzq", "zzq-dir zzq-file " }, { "hrun-x prog zzq-d", "zzq-dir " },
        { "hrun-x prog --objective t", " " }, { "hrun-x -- --objective t", " " },
        { "hrun-x -- zzq-f", "zzq-file " },
        { "hrun-x unsha", "unshare " },
    };
    char *dir = temp_dir(), path[600];
    struct hrun_buf b = HRUN_BUF_INIT;
    struct hrun_error err = { 0 };
    char *cmd;

    hrun_opts_completion(table, "hrun-x", "show fit", &b);
    ok(b.len > 0, "a completion");
    snprintf(path, sizeof path, "%s/comp", dir);
    hrun_file_replace(path, b.data, b.len, 0600, &err);
    has_str(b.data, "complete -F _hrun_x hrun-x\n", "is registered");
    cmd = hrun_strf("bash -n %s", path);
    is_int(system(cmd), 0, "bash -n takes it");
    free(cmd);
    snprintf(path, sizeof path, "%s/zzq-file", dir);
    hrun_file_replace(path, "", 0, 0600, &err);
    snprintf(path, sizeof path, "%s/zzq-dir", dir);
    hrun_mkdirs(path, 0700, &err);
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        is_int(complete(dir, t[i].line, &b), 0, "bash runs for '%s'", t[i].line);
        is_str(b.data, t[i].want, "'%s' is completed", t[i].line);
    }
    free(dir);
    hrun_buf_release(&b);
}

int main(void)
{
    test_parse();
    test_mistakes();
    test_modes();
    test_help();
    test_short_help();
    test_optional();
    test_completion();
    return tap_done();
}
