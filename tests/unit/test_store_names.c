/* test_store_names.c - where the data folder is, which names are allowed, listing, dates */
#include "store.h"

#include <errno.h>
#include <pwd.h>

static char *dir;

/* The folder that is taken with these settings; NULL stands for not set. */
static char *folder(const char *data, const char *hrun, const char *xdg, const char *home)
{
    const struct { const char *name, *value; } env[] = {
        { "HRUN_DATA", hrun }, { "XDG_DATA_HOME", xdg }, { "HOME", home }
    };
    struct hrun_error err = { 0 };
    struct hrun_store *s;
    char *got;

    for (size_t i = 0; i < sizeof env / sizeof *env; i++)
        if (env[i].value)
            setenv(env[i].name, env[i].value, 1);
        else
            unsetenv(env[i].name);
    s = hrun_store_open(data, &err);
    got = s ? strdup(hrun_store_dir(s))
            : hrun_strf("%s%s", err.code == HRUN_ENOENT ? "refused: " : "", err.text);
    hrun_store_close(s);
    return got;
}

static void test_place(void)
{
    static const struct { const char *data, *hrun, *xdg, *home, *want; } cases[] = {
        { "/d", "/h", "/x", "/home/u", "/d" },
        { NULL, "/h", "/x", "/home/u", "/h" },
        { "", "/h", "/x", "/home/u", "/h" },
        { NULL, NULL, "/x", "/home/u", "/x/hrun" },
        { NULL, "", "/x", NULL, "/x/hrun" },
        { NULL, NULL, NULL, "/home/u", "/home/u/.local/share/hrun" },
        { NULL, NULL, "", "/home/u", "/home/u/.local/share/hrun" },
        { NULL, NULL, "relative", "/home/u", "/home/u/.local/share/hrun" },
        { "sub/d", NULL, NULL, NULL, "CWD/sub/d" },
        { NULL, "sub/h", NULL, NULL, "CWD/sub/h" },
        { NULL, NULL, NULL, NULL, "PASSWD/.local/share/hrun" },
        { NULL, NULL, NULL, "", "PASSWD/.local/share/hrun" },
        { NULL, NULL, "relative", "relative", "PASSWD/.local/share/hrun" },
    };
    char *cwd = getcwd(NULL, 0), *keep = getenv("HOME") ? strdup(getenv("HOME")) : NULL, *want;
    struct passwd *user = getpwuid(geteuid());

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *got = folder(cases[i].data, cases[i].hrun, cases[i].xdg, cases[i].home);

        want = !strncmp(cases[i].want, "CWD", 3) ? hrun_strf("%s%s", cwd, cases[i].want + 3)
               : strncmp(cases[i].want, "PASSWD", 6) ? strdup(cases[i].want)
               : user ? hrun_strf("%s%s", user->pw_dir, cases[i].want + 6)
               : hrun_strf("refused: no folder for measurements: HOME is not set to an absolute path, and user %lu has "
                           "no home folder; set HRUN_DATA to a folder", (unsigned long)geteuid());
        is_str(got, want, "data folder, case %zu", i);
        free(got);
        free(want);
    }
    hrun_store_close(NULL);
    if (keep)
        setenv("HOME", keep, 1);
    free(keep);
    free(cwd);
}

/* Where there is no store nothing is found. */
static void test_no_store(void)
{
    struct hrun_samples got = { .n = 1 };
    struct hrun_models none, *m = &none;
    struct hrun_strvec names = HRUN_STRVEC_INIT;
    struct hrun_error err = { 0 };

    ok(!hrun_store_samples(NULL, APP, SIG, &got, &err) && !got.n && !got.v, "no store: no measurements");
    got.n = 1;
    ok(!hrun_store_recent(NULL, APP, SIG, &got, &err) && !got.n && !got.v, "no recent ones");
    ok(!hrun_store_get_models(NULL, APP, SIG, &m, &err) && !m, "no models");
    ok(!hrun_store_signatures(NULL, APP, &names, &err) && !names.n, "no signatures");
}

/* No name leads out of the folder. */
static void test_names(void)
{
    static const char *const bad[] = {
        "", ".", "..", "../x", "a/b", "/etc", ".hidden", "-a", "_a", "A", "a b", "a\n", "a\t", "caf\xc3\xa9",
        "a:b", "a*", "~", "a\\b"
    };
    static const char *const good[] = {
        "a", "0", "9.x", "hpl", "a..b", "a-B_c.D", "x.log", "x.yaml", "x.lock"
    };
    struct hrun_store *s = open_store(dir);
    struct hrun_sample sample = plain_sample(1);
    struct hrun_samples got = { 0 };
    struct hrun_models *m = NULL;
    struct hrun_strvec names = HRUN_STRVEC_INIT;
    struct hrun_error err = { 0 };
    char longest[300];
    size_t n;

    for (size_t i = 0; i <= sizeof bad / sizeof *bad; i++) {
        const char *name = i < sizeof bad / sizeof *bad ? bad[i] : NULL;

        ok(hrun_store_append(s, name, SIG, &sample, &err) == -1 && err.code == HRUN_EINVAL
           && hrun_store_append(s, APP, name, &sample, &err) == -1 && err.code == HRUN_EINVAL
           && hrun_store_samples(s, name, SIG, &got, &err) == -1 && err.code == HRUN_EINVAL
           && hrun_store_samples(s, APP, name, &got, &err) == -1 && err.code == HRUN_EINVAL
           && hrun_store_get_models(s, name, SIG, &m, &err) == -1 && err.code == HRUN_EINVAL
           && hrun_store_get_models(s, APP, name, &m, &err) == -1 && err.code == HRUN_EINVAL
           && hrun_store_signatures(s, name, &names, &err) == -1 && err.code == HRUN_EINVAL,
           "bad name %zu is refused everywhere", i);
    }
    has_str(err.text, "'' cannot name an application: it must be a-z or 0-9, then letters, digits, '.', '_' "
            "or '-', at most 223 in all", "the message says what a name is");
    ok(!hrun_store_apps(s, &names, &err) && names.n == 0, "nothing was made for them");

    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        for (size_t j = 0; j < sizeof good / sizeof *good; j++) {
            sample.N = (int64_t)(1 + i * 100 + j);
            hrun_store_append(s, good[i], good[j], &sample, &err);
        }
    n = 0;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        for (size_t j = 0; j < sizeof good / sizeof *good; j++) {
            if (!hrun_store_samples(s, good[i], good[j], &got, &err) && got.n == 1 && !got.bad)
                n += got.v[0].N == (int64_t)(1 + i * 100 + j);
            hrun_samples_release(&got);
        }
    is_int(n, 81, "good names do not get into each other's way");

    memset(longest, 'a', sizeof longest);
    longest[223] = 0;
    ok(!hrun_store_append(s, APP, longest, &sample, &err), "the longest name");
    longest[223] = 'a';
    longest[224] = 0;
    ok(hrun_store_append(s, APP, longest, &sample, &err) == -1 && err.code == HRUN_EINVAL, "one more");
    hrun_strvec_release(&names);
    hrun_store_close(s);
}

static void test_listing(void)
{
    char *place = hrun_strf("%s/listing", dir), *stray;
    struct hrun_store *s = open_store(place);
    struct hrun_sample sample = plain_sample(1);
    struct hrun_models m = { .app = "b", .signature = "only-models" };
    struct hrun_strvec names = HRUN_STRVEC_INIT;
    struct hrun_error err = { 0 };
    struct hrun_buf all = HRUN_BUF_INIT;
    static const char *const strays[] = {
        "profiles/readme", "profiles/b/.log", "profiles/b/X.log", "profiles/b/log",
        "profiles/b/s1.yaml.tmp.7.0", "profiles/b/s1.txt", "profiles/b/a b.yaml"
    };

    ok(!hrun_store_apps(s, &names, &err) && !hrun_store_signatures(s, "b", &names, &err) && names.n == 0,
       "no data folder: no names");
    ok(!hrun_store_append(s, "b", "s2", &sample, &err) && !hrun_store_append(s, "b", "s10", &sample, &err)
       && !hrun_store_append(s, "b", "s1", &sample, &err) && !hrun_store_append(s, "a", "s1", &sample, &err)
       && !hrun_store_put_models(s, &m, &err), "measurements and models");
    m.signature = "s1";
    ok(!hrun_store_put_models(s, &m, &err), "both for one");
    for (size_t i = 0; i < sizeof strays / sizeof *strays; i++) {
        stray = hrun_strf("%s/%s", place, strays[i]);
        write_file(stray, "", 0);
        free(stray);
    }
    hrun_strvec_push(&names, "kept");
    ok(!hrun_store_apps(s, &names, &err) && !hrun_store_signatures(s, "b", &names, &err)
       && !hrun_store_signatures(s, "none", &names, &err), "listing among stray files");
    for (size_t i = 0; i < names.n; i++)
        hrun_buf_addf(&all, "%s ", names.v[i]);
    is_str(all.data, "kept a b only-models s1 s10 s2 ", "appended, sorted, each once, nothing else");
    hrun_buf_release(&all);
    hrun_strvec_release(&names);
    hrun_store_close(s);
    free(place);
}

static void test_dates(void)
{
    static const char *const bad[] = {
        "", "now", "2026-11-20", "2026-11-20T10:36:00", "2026-11-20 10:36:00Z", "2026-11-20T10:36:00z",
        "2026-11-20T10:36:00Z ", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-02-29T00:00:00Z",
        "2026-04-31T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00:60Z",
        "2026-01-0xT00:00:00Z", "-026-01-01T00:00:00Z", "+026-01-01T00:00:00Z"
    };
    double age = 7, leap = 0, first = 0;
    char now[21];
    int refused = 0;

    hrun_date_now(now);
    ok(strlen(now) == 20 && !hrun_date_age(now, &age) && age >= 0 && age <= 5, "now (%s) is %g s old", now,
       age);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        age = 7;
        refused += hrun_date_age(bad[i], &age) == -1 && age == 7;
    }
    is_int(refused, sizeof bad / sizeof *bad, "what is no date is refused, and nothing given");
    ok(hrun_date_age(NULL, &age) == -1, "nor is nothing");
    ok(!hrun_date_age("2024-02-28T23:59:59Z", &first), "a date");
    ok(!hrun_date_age("2024-03-01T00:00:00Z", &leap), "and another");
    ok(fabs(first - leap - 86401) <= 2, "2024 has a 29 February (%g s)", first - leap);
    ok(!hrun_date_age("9999-12-31T23:59:59Z", &age) && age < 0, "what lies ahead has a negative age");
    setenv("TZ", "America/St_Johns", 1);
    ok(!hrun_date_age("1970-01-01T00:00:00Z", &first), "the epoch");
    setenv("TZ", "Asia/Tokyo", 1);
    ok(!hrun_date_age("1970-01-01T00:00:00Z", &leap) && fabs(first - leap) <= 5, "the zone does not matter");
    unsetenv("TZ");
}

int main(void)
{
    dir = temp_dir();
    test_place();
    test_no_store();
    test_names();
    test_listing();
    test_dates();
    hrun_remove_tree(dir);
    free(dir);
    return tap_done();
}
