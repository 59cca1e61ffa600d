/* numbers among the words of a command: which there are, by which names they are found, and what is said of others */
#include "session/context.h"
#include "session/number.h"
#include "tap.h"

#include <string.h>

enum { WORDS = 12 };

/* words: "A|B|C". Result: how many, in v. */
static int split(char *text, char **v)
{
    int n = 0;

    for (char *save = NULL, *w = strtok_r(text, "|", &save); w; w = strtok_r(NULL, "|", &save))
        v[n++] = w;
    v[n] = NULL;
    return n;
}

static void test_values(void)
{
    static const struct { const char *text; int64_t N; } t[] = {
        { "1", 1 }, { "20", 20 }, { "9007199254740992", (int64_t)1 << 53 }, { "9007199254740993", 0 }, { "0", 0 },
        { "020", 0 }, { "+20", 0 }, { "-20", 0 }, { "2.5", 0 }, { "2e3", 0 }, { "20x", 0 }, { "", 0 }, { " 20", 0 },
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        ok(number_value(t[i].text) == t[i].N, "'%s' is %lld", t[i].text, (long long)t[i].N);
}

/* want: the words with {N}, or what the error says. */
static void test_find(void)
{
    static const struct { const char *words, *name, *want, *text; int64_t N; } t[] = {
        { "./lmp|-in|in.lj|-var|x|20", "x", "./lmp|-in|in.lj|-var|x|{N}", "x 20", 20 },
        { "./a|-nx|48", "nx", "./a|-nx|{N}", "-nx 48", 48 },
        { "./a|-nx|48", "-nx", "./a|-nx|{N}", "-nx 48", 48 },
        { "./a|--size|20|deck", "size", "./a|--size|{N}|deck", "--size 20", 20 },
        { "./a|--size=20", "size", "./a|--size={N}", "--size=20", 20 },
        { "./a|--size=20", "--size", "./a|--size={N}", "--size=20", 20 },
        { "./a|nx=48|ny=4", "nx", "./a|nx={N}|ny=4", "nx=48", 48 },
        { "./a|-D|k=nx=48", "k=nx", "./a|-D|k=nx={N}", "k=nx=48", 48 },
        { "bin/mycode|2000|deck", "mycode", "bin/mycode|{N}|deck", "mycode 2000", 2000 },
        { "./a|-n|20|n=30", "-n", "./a|-n|{N}|n=30", "-n 20", 20 },
        { "./a|x|fast|-var|x|20", "x", "./a|x|fast|-var|x|{N}", "x 20", 20 },
        { "./a|-n|20|n=30", "n", "several 'n'", NULL, 0 },
        { "./a|x|20|x|20", "x", "its numbers are: x 20, x 20", NULL, 0 },
        { "./lmp|-in|in.lj|-var|x|20|nz=7", "y",
          "the command has no 'y'; its numbers are: x 20, nz=7", NULL, 0 },
        { "./a|-var|x|2.5", "x", "'x' is '2.5' in the command", NULL, 0 },
        { "./a|x=020", "x", "'x' is 'x=020' in the command", NULL, 0 },
        { "./a|-cells|20|30", "20", "its numbers are: -cells 20", NULL, 0 },
        { "./a|-x|20", "--x", "no '--x'", NULL, 0 },
        { "./a|=20", "", "no ''", NULL, 0 },
        { "./a", "x", "nor another number", NULL, 0 },
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        char text[128], *v[WORDS], joined[128] = "";
        struct hrun_error err = { 0 };
        struct number *n = NULL;
        int rc;

        snprintf(text, sizeof text, "%s", t[i].words);
        split(text, v);
        rc = number_find(v, t[i].name, &n, &err);
        for (char **w = n ? n->words : v; !rc && *w; w++) {
            strncat(joined, *w, sizeof joined - strlen(joined) - 1);
            strncat(joined, w[1] ? "|" : "", sizeof joined - strlen(joined) - 1);
        }
        if (t[i].text)
            ok(!rc && !strcmp(joined, t[i].want) && !strcmp(n->text, t[i].text) && n->N == t[i].N, "%s of %s: %s",
               t[i].name, t[i].words, rc ? err.text : joined);
        else
            ok(rc && !n && strstr(err.text, t[i].want), "%s of %s: %s", t[i].name, t[i].words, err.text);
        number_destroy(n);
    }
}

/* A definition with `size: number` says by its args which number it is; of another one all words are its args. */
static void test_of_app(void)
{
    static const char number[] = "size: number\n", other[] = "constants: [{name: k, value: 3}]\n";
    static const struct { const char *kind, *args, *words; int64_t N; } t[] = {
        { number, "['-var', 'x', '{N}']", "./a|-in|other|-var|x|24", 24 }, { number, "['-nx={N}']", "./a|-nx=24", 24 },
        { number, "['{N}', deck]", "/bin/a|24|deck", 24 }, { number, "['-var', 'x', '{N}']", "./a|-var|y|24", 0 },
        { number, "['-var', 'x', '{N}']", "./a|x|24|x|25", 0 },
        { other, "['{N}']", "./a|24", 24 }, { other, "['{N}']", "./a|24|deck", 0 }, { other, "['{N}']", "./a", 0 },
        { other, "['{N}']", "./a|024", 0 }, { other, "['{N}']", "./a|2.4", 0 }, { other, "['{N}']", "./a|x", 0 },
        { other, "[deck, '-n{N}x']", "./a|deck|-n24x", 24 }, { other, "[deck, '-n{N}x']", "./a|deck|-n24", 0 },
        { other, "[deck, '{N}']", "./a|dock|24", 0 },
        { other, "['{N}', '{2*N}', '{k}']", "./a|24|48|3", 24 }, { other, "['{N}', '{2*N}']", "./a|24|50", 0 },
        { other, "['{N}', '{P}']", "./a|24|1", 0 }, { other, "['{N}', '{P}']", "./a|24|{P}", 24 },
        { other, "['{N}', 's={shares}']", "./a|24|s={shares}", 24 }, { other, "['{P}']", "./a|24", 0 },
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        char text[256], *v[WORDS], words[128];
        struct settings set = { .data = NULL };
        struct context c = { .set = &set };
        struct hrun_error err = { 0 };
        int rc;

        snprintf(words, sizeof words, "%s", t[i].words);
        split(words, v);
        snprintf(text, sizeof text, "name: x\n%sargs: %s\n"
                 "terms: {np: ['1/P'], n: ['1'], p: ['T/P']}\n", t[i].kind, t[i].args);
        rc = hrun_app_parse("x.yaml", text, strlen(text), NULL, &c.app, &err) || number_from_args(&c, v, 0, &err);
        ok(!rc && (c.number ? c.number->N : 0) == t[i].N, "%s of args %s%s", t[i].words, t[i].args,
           err.text);
        for (int more = 0; more <= 1 && !rc && t[i].N; more++) {
            number_destroy(c.number);
            c.number = NULL;
            ok(!number_from_args(&c, v, t[i].N + more, &err) == !more, "-N says %s", more ? "another size" : "the same");
        }
        context_release(&c);
    }
}

int main(void)
{
    test_values();
    test_find();
    test_of_app();
    return tap_done();
}
