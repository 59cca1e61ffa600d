/* options: every way to write one, every mistake, --help in 80 columns, a bash that tries the completion */
#include "tap.h"

#include "base/file.h"
#include "base/opts.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct settings {
    const char *app, *size, *np, *config, *dir, *objective, *exports;
    int verbose, json, dry;
    struct hrun_strvec defines, mca;
};

static int positive(void *settings, const struct hrun_opt *opt, const char *value, struct hrun_error *err)
{
    if (atoi(value) < 1)
        return hrun_fail(err, HRUN_EINVAL, "--%s needs a number from 1, not '%s'", opt->name, value);
    return hrun_opt_string(settings, opt, value, err);
}

#define AT(member) offsetof(struct settings, member)

static const struct hrun_opt table[] = {
    { "app", 0, HRUN_OPT_WORD, "NAME", NULL, "the application's definition", "What", hrun_opt_string,
      AT(app) },
    { "size", 'N', HRUN_OPT_WORD, "NUM", NULL, "problem size", "What", hrun_opt_string, AT(size) },
    { "define", 'D', HRUN_OPT_WORD, "NAME=VALUE", NULL,
      "set a constant of the application's definition, as often "
      "as there are constants to set", "What", hrun_opt_append, AT(defines) },
    { "processes", 'n', HRUN_OPT_WORD, "NUM", NULL, "as many processes", "How", positive, AT(np) },
    { "np", 0, HRUN_OPT_WORD, "NUM", NULL, NULL, "How", positive, AT(np) },
    { "objective", 0, HRUN_OPT_CHOICE, "WHAT", "time cost energy", "what to make small", "How",
      hrun_opt_string,
      AT(objective) },
    { "cluster-configuration-file", 0, HRUN_OPT_FILE, "FILE", NULL, "sub-clusters", "How", hrun_opt_string,
      AT(config) },
    { "wdir", 0, HRUN_OPT_DIR, "DIR", NULL, "working directory", "How", hrun_opt_string, AT(dir) },
    { "mca", 0, HRUN_OPT_PAIR, "KEY VALUE", NULL, "hand a parameter on", "How", hrun_opt_append, AT(mca) },
    { NULL, 'x', HRUN_OPT_WORD, "NAME[=VALUE]", NULL, "export a variable", "How", hrun_opt_string,
      AT(exports) },
    { "verbose", 'v', HRUN_OPT_NONE, NULL, NULL, "say more", NULL, hrun_opt_flag, AT(verbose) },
    { "json", 'j', HRUN_OPT_NONE, NULL, NULL, "for machines", NULL, hrun_opt_flag, AT(json) },
    { "dry-run", 0, HRUN_OPT_NONE, NULL, NULL, "start nothing", "What", hrun_opt_flag, AT(dry) },
    { 0 }
};

/* Split line at blanks ('~' stands for one inside a word) and parse it after "hrun". */
static int parse(const char *line, struct settings *s, int *rest, struct hrun_error *err)
{
    static char words[1000];
    char *argv[64] = { (char *)"hrun" }, *save = NULL;
    int argc = 1;

    memset(s, 0, sizeof *s);
    snprintf(words, sizeof words, "%s", line);
    for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
        for (char *c = w; *c; c++)
            if (*c == '~')
                *c = ' ';
        argv[argc++] = w;
    }
    return hrun_opts_parse(table, s, argc, argv, rest, err);
}

static void release(struct settings *s)
{
    hrun_strvec_release(&s->defines);
    hrun_strvec_release(&s->mca);
}

static void show(const struct settings *s, int rest, struct hrun_buf *b)
{
    const struct { const char *name, *value; } texts[] = {
        { "app", s->app }, { "N", s->size }, { "np", s->np }, { "config", s->config }, { "dir", s->dir },
        { "objective", s->objective }, { "x", s->exports }
    };

    hrun_buf_reset(b);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].value)
            hrun_buf_addf(b, "%s=%s ", texts[i].name, texts[i].value);
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
        { "-np 0", "--np needs a number from 1, not '0'" },
        { "-n0", "--processes needs a number from 1, not '0'" },
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

    hrun_opts_help(table, &b);
    is_str(b.data, want, "--help: groups in order, hidden aliases left out, text wrapped");
    for (const char *p = b.data; *p; p += strcspn(p, "\n") + 1)
        if (strcspn(p, "\n") > longest)
            longest = strcspn(p, "\n");
    ok(longest <= 80, "within 80 columns (%zu)", longest);
    hrun_buf_release(&b);
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
    char dir[] = "/tmp/test_base_opts.XXXXXX", path[64];
    struct hrun_buf b = HRUN_BUF_INIT;
    struct hrun_error err = { 0 };
    char *cmd;

    if (!mkdtemp(dir))
        return;
    hrun_opts_completion(table, "hrun-x", "show fit", &b);
    ok(!b.failed && b.len, "a completion");
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
    hrun_remove_tree(dir);
    hrun_buf_release(&b);
}

int main(void)
{
    test_parse();
    test_mistakes();
    test_help();
    test_completion();
    return tap_done();
}
