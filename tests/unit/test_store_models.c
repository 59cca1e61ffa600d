/* test_store_models.c - the models file: round trip, replacement, damage, versions, what is refused */
#include "store.h"

#include <dirent.h>
#include <float.h>
#include <locale.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

static char *dir, *yaml;
static struct hrun_store *store;

static double random_number(uint64_t *rng)
{
    double x;

    do {
        uint64_t bits = draw(rng);
        memcpy(&x, &bits, sizeof x);
    } while (!isfinite(x));
    return x;
}

static char *random_word(uint64_t *rng, int allow_empty)
{
    /* What YAML could take for something else. */
    static const char *const words[] = {
        "N^3/P", "null", "~", "true", "1", "- a", "a: b", "# c", "{x}", "[y]", "*z", "&w", "!v", "%u", "@t",
        "`s", "'", "\"", " lead", "trail ", "two\nlines", "tab\there", "caf\xc3\xa9", "---", "...", "|", ">",
        "?", "a,b", "P*ln(P)", "\x01", "\xe2\x80\xa8"
    };

    if (allow_empty && draw(rng) % 4 == 0)
        return strdup("");
    return strdup(words[draw(rng) % (sizeof words / sizeof *words)]);
}

static struct hrun_models *random_models(uint64_t *rng)
{
    static const char *const families[] = { "single", "nt", "pt", "npt" };
    struct hrun_models *m = calloc(1, sizeof *m);

    m->app = strdup(APP);
    m->signature = strdup(SIG);
    m->subcluster = random_word(rng, 1);
    m->consts = random_word(rng, 1);
    m->fitted = random_word(rng, 1);
    m->newest = random_word(rng, 1);
    m->nsamples = (int)(draw(rng) >> 33);
    m->n = (int)(draw(rng) % 5);
    m->v = calloc((size_t)m->n + 1, sizeof *m->v);
    for (int i = 0; i < m->n; i++) {
        struct hrun_fit_record *r = &m->v[i];
        size_t n = draw(rng) % 8;

        r->family = strdup(families[draw(rng) % 4]);
        r->method = strdup(draw(rng) % 2 ? "ls" : "nnls");
        r->note = random_word(rng, 1);
        r->M = 1 + (int)(draw(rng) % 64);
        r->P = (int)(draw(rng) >> 40);
        r->nterms = (int)n;
        r->terms = calloc(n + 1, sizeof *r->terms);
        r->k = calloc(n + 1, sizeof *r->k);
        r->cov = calloc(n * n + 1, sizeof *r->cov);
        for (size_t j = 0; j < n; j++) {
            r->terms[j] = random_word(rng, 0);
            r->k[j] = draw(rng) % 3 ? random_number(rng) : 0;
            for (size_t l = 0; l <= j; l++)
                r->cov[j * n + l] = r->cov[l * n + j] = draw(rng) % 3 ? random_number(rng) : 0;
        }
        r->s2 = fabs(random_number(rng));
        r->dof = (int)(draw(rng) % 100);
        r->sigma_abs_s = fabs(random_number(rng));
        r->sigma_rel = draw(rng) % 2 ? 0 : fabs(random_number(rng));
        r->npoints = (int)(draw(rng) % 1000);
        r->nmin = (int64_t)(draw(rng) >> 12);
        r->nmax = r->nmin + (int64_t)(draw(rng) >> 12);
        r->pmin = (int)(draw(rng) % 1000);
        r->pmax = r->pmin + (int)(draw(rng) % 1000);
        r->train_mean = fabs(random_number(rng));
        r->train_max = fabs(random_number(rng));
    }
    return m;
}

static int same_doubles(const double *a, const double *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(&a[i], &b[i], sizeof *a))
            return 0;
    return 1;
}

static int same_models(const struct hrun_models *a, const struct hrun_models *b)
{
    if (!a || !b || !same_text(a->app, b->app) || !same_text(a->signature, b->signature)
        || !same_text(a->subcluster, b->subcluster) || !same_text(a->consts, b->consts)
        || !same_text(a->fitted, b->fitted) || !same_text(a->newest, b->newest) || a->nsamples != b->nsamples
        || a->n != b->n)
        return 0;
    for (int i = 0; i < a->n; i++) {
        const struct hrun_fit_record *r = &a->v[i], *q = &b->v[i];
        const double x[] = { r->s2, r->sigma_abs_s, r->sigma_rel, r->train_mean, r->train_max };
        const double y[] = { q->s2, q->sigma_abs_s, q->sigma_rel, q->train_mean, q->train_max };

        if (!same_text(r->family, q->family) || !same_text(r->method, q->method)
            || !same_text(r->note, q->note)
            || r->M != q->M || r->P != q->P || r->nterms != q->nterms || r->dof != q->dof
            || r->npoints != q->npoints || r->nmin != q->nmin || r->nmax != q->nmax || r->pmin != q->pmin
            || r->pmax != q->pmax || !same_doubles(x, y, 5) || !same_doubles(r->k, q->k, (size_t)r->nterms)
            || !same_doubles(r->cov, q->cov, (size_t)r->nterms * (size_t)r->nterms))
            return 0;
        for (int j = 0; j < r->nterms; j++)
            if (!same_text(r->terms[j], q->terms[j]))
                return 0;
    }
    return 1;
}

static void test_round_trip(void)
{
    enum { ROUNDS = 200, SEED = 31 };
    struct hrun_models *back = (struct hrun_models *)&back;
    struct hrun_error err = { 0 };
    uint64_t rng = SEED;
    int same = 0;

    ok(!hrun_store_get_models(store, APP, SIG, &back, &err) && !back && err.code == HRUN_OK,
       "no models yet: none, and no error");
    for (int i = 0; i < ROUNDS; i++) {
        struct hrun_models *m = random_models(&rng);

        memset(&err, 0, sizeof err);
        if (hrun_store_put_models(store, m, &err) || hrun_store_get_models(store, APP, SIG, &back, &err))
            printf("#   round %d: %s\n", i, err.text);
        else
            same += same_models(m, back);
        hrun_models_destroy(back);
        back = NULL;
        hrun_models_destroy(m);
    }
    is_int(same, ROUNDS, "random models come back equal to the last bit (seed %d)", SEED);
    hrun_models_destroy(NULL);
}

/* Two families of realistic numbers: what most tests below start from. */
static struct hrun_models *plain_models(void)
{
    static const char *const terms[] = { "N^3/P", "N^2", "1" };
    struct hrun_models *m = calloc(1, sizeof *m);

    m->app = strdup(APP);
    m->signature = strdup(SIG);
    m->subcluster = strdup("cpu a, 4 cores");
    m->newest = strdup("2026-11-20T10:36:00Z");
    m->nsamples = 84;
    m->n = 2;
    m->v = calloc(2, sizeof *m->v);
    for (int i = 0; i < 2; i++) {
        struct hrun_fit_record *r = &m->v[i];

        *r = (struct hrun_fit_record){
            .family = strdup(i ? "npt" : "single"), .method = strdup("nnls"), .M = 1, .nterms = 3,
            .terms = calloc(3, sizeof *r->terms), .k = calloc(3, sizeof *r->k),
            .cov = calloc(9, sizeof *r->cov), .s2 = 1.25, .dof = 6, .sigma_abs_s = 1e-3, .sigma_rel = 0.02,
            .npoints = 9, .nmin = 400, .nmax = 9600, .pmin = 1, .pmax = 8,
            .train_mean = 0.01, .train_max = 0.03
        };
        for (int j = 0; j < 3; j++) {
            r->terms[j] = strdup(terms[j]);
            r->k[j] = 1e-9 / (3 + j);
            for (int l = 0; l < 3; l++)
                r->cov[j * 3 + l] = 1.0 / (j + l + 1);
        }
    }
    return m;
}

/* A comma for the decimal point must not reach the files. */
static void test_locale(void)
{
    static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "da_DK.UTF-8" };
    struct hrun_models *m = plain_models(), *back = NULL;
    struct hrun_sample s = plain_sample(1);
    struct hrun_samples got = { 0 };
    struct hrun_error err = { 0 };
    const char *set = NULL;

    for (size_t i = 0; i < sizeof names / sizeof *names && !set; i++)
        set = setlocale(LC_ALL, names[i]) ? names[i] : NULL;
    /* Only locales that the system has generated can be set; bootstrap generates none. */
    if (!set) {
        printf("ok %d # SKIP no locale with a decimal comma is installed\n", ++tap_count);
    } else {
        ok(!hrun_store_put_models(store, m, &err) && !hrun_store_append(store, APP, SIG, &s, &err),
           "written in the locale %s", set);
        setlocale(LC_ALL, "C");
        ok(!hrun_store_get_models(store, APP, SIG, &back, &err) && same_models(m, back), "models read in C");
        hrun_models_destroy(back);
        setlocale(LC_ALL, set);
        ok(!hrun_store_get_models(store, APP, SIG, &back, &err) && same_models(m, back), "and in %s", set);
        hrun_models_destroy(back);
        ok(!hrun_store_samples(store, APP, SIG, &got, &err) && got.n == 1 && got.v[0].time_s == 12.5
           && strchr(setlocale(LC_ALL, NULL), '_'), "so are measurements, and the locale stays");
        hrun_samples_release(&got);
        setlocale(LC_ALL, "C");
    }
    hrun_models_destroy(m);
}

/* Any cut and any flipped bit is found before a value is believed. */
static void test_damage(void)
{
    struct hrun_models *m = plain_models(), *out = (struct hrun_models *)&m;
    struct hrun_error err = { 0 };
    struct hrun_buf text;
    int missed = 0, unsaid = 0;

    ok(!hrun_store_put_models(store, m, &err), "models");
    text = read_file(yaml);
    for (size_t len = 0; len < text.len; len++) {
        write_file(yaml, text.data, len);
        missed += hrun_store_get_models(store, APP, SIG, &out, &err) != -1 || err.code != HRUN_ECORRUPT
               || out != (struct hrun_models *)&m;
        unsaid += strcmp(err.file, yaml) || !strstr(err.text, "the last line with the checksum is missing; "
                         "`hrun-calibrate fit` makes the models anew from the measurements");
    }
    is_int(missed, 0, "cut at any of %zu lengths: refused, nothing is given", text.len);
    is_int(unsaid, 0, "with the file, the reason and the remedy");
    for (size_t at = 0; at < text.len; at++)
        for (int bit = 0; bit < 8; bit++) {
            text.data[at] ^= (char)(1 << bit);
            write_file(yaml, text.data, text.len);
            text.data[at] ^= (char)(1 << bit);
            missed += hrun_store_get_models(store, APP, SIG, &out, &err) != -1 || err.code != HRUN_ECORRUPT;
        }
    is_int(missed, 0, "each of %zu flipped bits is noticed", text.len * 8);
    hrun_buf_release(&text);
    hrun_models_destroy(m);
}

/* The file with `from` replaced by `to` and a checksum that is right again. */
static void alter(const char *from, const char *to)
{
    struct hrun_models *m = plain_models();
    struct hrun_buf text, out = HRUN_BUF_INIT;
    char *at;

    unlink(yaml);
    hrun_store_put_models(store, m, NULL);
    text = read_file(yaml);
    at = strstr(text.data, from);
    if (!at) {
        printf("Bail out! no '%s' in the models file\n", from);
        exit(1);
    }
    hrun_buf_add(&out, text.data, (size_t)(at - text.data));
    hrun_buf_addf(&out, "%s%s", to, at + strlen(from));
    *strstr(out.data, "# crc32 ") = 0;
    out.len = strlen(out.data);
    hrun_buf_addf(&out, "# crc32 %08lx\n", crc32(0, (const unsigned char *)out.data, (unsigned)out.len));
    write_file(yaml, out.data, out.len);
    hrun_buf_release(&text);
    hrun_buf_release(&out);
    hrun_models_destroy(m);
}

/* Line and column of the n-th occurrence of what in the file. */
static void place_of(const char *what, int n, int *line, int *column)
{
    struct hrun_buf text = read_file(yaml);
    const char *at = text.data;

    while ((at = strstr(at, what)) && --n > 0)
        at++;
    *line = *column = at ? 1 : 0;
    for (const char *p = text.data; at && p < at; p++) {
        *column = *p == '\n' ? 1 : *column + 1;
        *line += *p == '\n';
    }
    hrun_buf_release(&text);
}

/* A checksum that is right under what no hrun writes. */
static void test_foreign(void)
{
    static const struct {
        const char *from, *to;
        enum hrun_code code;
        const char *at;     /* the value that the error points to, NULL for the file */
        int n;              /* which of them */
        const char *why;
    } cases[] = {
        { "version: 1", "version: 0", HRUN_ECORRUPT, "0\n", 1, "version 0 is unknown" },
        { "app: " APP, "app: hpl", HRUN_ECORRUPT, "hpl\n", 1,
          "the models are of application 'hpl', the file is in the folder of 'lu'" },
        { "signature: " SIG, "signature: cpu-b.8c-00000000", HRUN_ECORRUPT, "cpu-b", 1,
          "the models are of sub-clusters 'cpu-b.8c-00000000', the file is named for '" SIG
          "': models of another machine do not hold here" },
        { "samples: 84", "samples: -1", HRUN_ECORRUPT, NULL, 0, "samples is -1: it cannot be below 0" },
        { "samples: 84", "samples: many", HRUN_EPARSE, "many", 1, "'samples' must be a whole number" },
        { "family: npt", "family: ../npt", HRUN_ECORRUPT, NULL, 0, "cannot name a family of models" },
        { "M: 1", "M: 0", HRUN_ECORRUPT, NULL, 0, "models[0].M is 0: it cannot be below 1" },
        { "nmax: 9600", "nmax: 7", HRUN_ECORRUPT, NULL, 0, "models[0].nmax is 7: it cannot be below 400" },
        { "dof: 6", "dof: 6\n  gpu: 1", HRUN_EPARSE, "gpu", 1, "unknown key 'gpu'" },
        { "dof: 6", "dof: 6.5", HRUN_EPARSE, "6.5", 1, "must be a whole number" },
        { "  dof: 6\n", "", HRUN_EPARSE, "family: single", 1, "dof" },
        { "s2: ", "s2: -", HRUN_ECORRUPT, NULL, 0,
          "models[0].s2 is -1.25: it must be finite and not negative" },
        { "s2: ", "s2: nan #", HRUN_EPARSE, "nan", 1, "must be a finite number, found 'nan'" },
        { "s2: ", "s2: .inf #", HRUN_EPARSE, ".inf", 1, "must be a finite number" },
        { "s2: ", "s2: 1e999 #", HRUN_EPARSE, "1e999", 1, "must be a number below" },
        { "k: ", "k: .nan #", HRUN_EPARSE, NULL, 0, "" },
        { "- 0.5 0.33333333333333331\n", "- 0.5\n", HRUN_ECORRUPT, "0.5\n", 1,
          "models[0].cov[1] is not 2 finite numbers" },
        { "- 0.5 0.33333333333333331\n", "- 0.5 nan\n", HRUN_ECORRUPT, "0.5 nan", 1,
          "models[0].cov[1] is not 2 finite numbers" },
        { "- 0.5 0.33333333333333331\n", "- 0.5 1e999\n", HRUN_ECORRUPT, "0.5 1e999", 1,
          "models[0].cov[1] is not 2 finite numbers" },
        { "- 0.5 0.33333333333333331\n", "- 0.5 0x10\n", HRUN_ECORRUPT, "0.5 0x10", 1,
          "models[0].cov[1] is not 2 finite numbers" },
        { "- 0.5 0.33333333333333331\n", "- 0.5 1 2\n", HRUN_ECORRUPT, "0.5 1 2", 1,
          "models[0].cov[1] is not 2 finite numbers" },
        { "  - 0.5 0.33333333333333331\n", "", HRUN_ECORRUPT, NULL, 0,
          "models[0].cov has 2 rows for 3 terms" },
        { "term: N^3/P", "term: ''", HRUN_EPARSE, "''", 1, "must not be empty" },
        { "models:", "- models:", HRUN_EPARSE, NULL, 0, "" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hrun_models *out = (struct hrun_models *)&out;
        struct hrun_error err = { 0 };
        int line = 0, column = 0;

        alter(cases[i].from, cases[i].to);
        ok(hrun_store_get_models(store, APP, SIG, &out, &err) == -1 && out == (struct hrun_models *)&out,
           "refused: %.*s", (int)strcspn(cases[i].to, "\n"), cases[i].to);
        is_int(err.code, cases[i].code, "its code");
        is_str(err.file, yaml, "its file");
        if (cases[i].at) {
            place_of(cases[i].at, cases[i].n, &line, &column);
            ok(line > 0 && err.line == line && err.column == column, "at %d:%d (%d:%d)", line, column,
               err.line, err.column);
        }
        has_str(err.text, cases[i].why, "the reason");
        has_str(err.text, "; `hrun-calibrate fit` makes the models anew", "the remedy");
        ok(hrun_store_get_models(store, APP, SIG, &out, NULL) == -1, "without an error object too");
    }
    unlink(yaml);
}

/* Models of a newer hrun: neither read nor replaced, and nothing is advised that would try to. */
static void test_newer(void)
{
    struct hrun_models *m = plain_models(), *out = (struct hrun_models *)&out;
    struct hrun_error err = { 0 };
    struct hrun_buf before, after;

    alter("version: 1", "version: 2\ngpu: yes");
    before = read_file(yaml);
    ok(hrun_store_get_models(store, APP, SIG, &out, &err) == -1 && err.code == HRUN_ECORRUPT
       && out == (struct hrun_models *)&out, "models of a newer hrun are refused");
    is_str(err.file, yaml, "their file");
    has_str(err.text, "a newer hrun wrote the models (version 2, this hrun reads up to 1): use the newer hrun, or "
            "name another data folder with HRUN_DATA", "the reason and the remedy");
    ok(!strstr(err.text, "hrun-calibrate fit"), "which is not to fit with this one");
    ok(hrun_store_get_models(store, APP, SIG, &out, NULL) == -1, "without an error object too");
    memset(&err, 0, sizeof err);
    ok(hrun_store_put_models(store, m, &err) == -1 && err.code == HRUN_EEXISTS, "nor are they replaced");
    is_str(err.file, yaml, "their file");
    has_str(err.text, "a newer hrun wrote the models (version 2, this hrun writes 1): they are kept", "the reason");
    ok(hrun_store_put_models(store, m, NULL) == -1, "without an error object too");
    after = read_file(yaml);
    ok(before.len == after.len && !memcmp(before.data, after.data, after.len), "they stand as they were");
    before.data[before.len / 2] ^= 1;
    write_file(yaml, before.data, before.len);
    ok(!hrun_store_put_models(store, m, &err), "damaged ones are no loss, whatever their version");
    hrun_buf_release(&before);
    hrun_buf_release(&after);
    hrun_models_destroy(m);
}

static void test_refused(void)
{
    struct hrun_models *m = plain_models();
    struct hrun_fit_record *r = &m->v[1];
    struct hrun_error err = { 0 };
    struct hrun_buf before, after;
    const struct { double *v; const char *name; int signs; } numbers[] = {
        { &r->s2, "models[1].s2 is ", 0 }, { &r->sigma_abs_s, "models[1].sigma_abs_s is ", 0 },
        { &r->sigma_rel, "models[1].sigma_rel is ", 0 }, { &r->train_mean, "models[1].train_mean is ", 0 },
        { &r->train_max, "models[1].train_max is ", 0 }, { &r->k[2], "models[1].terms[2].k is ", 1 },
        { &r->cov[0], "models[1].cov[0] holds ", 1 }, { &r->cov[2], "models[1].cov[0] holds ", 1 },
        { &r->cov[8], "models[1].cov[2] holds ", 1 },
    };
    static const double never[] = { NAN, INFINITY, -INFINITY, -1 };
    char *text;

    ok(!hrun_store_put_models(store, m, &err), "models");
    before = read_file(yaml);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        for (size_t j = 0; j < (numbers[i].signs ? 3 : 4); j++) {
            double keep = *numbers[i].v;

            *numbers[i].v = never[j];
            ok(hrun_store_put_models(store, m, &err) == -1 && err.code == HRUN_EINVAL, "%s%g: refused",
               numbers[i].name, never[j]);
            has_str(err.text, numbers[i].name, "which is said");
            *numbers[i].v = keep;
        }
    m->nsamples = -1;
    ok(hrun_store_put_models(store, m, &err) == -1 && err.code == HRUN_EINVAL, "a negative count is refused");
    m->nsamples = 84;
    r->M = 0;
    ok(hrun_store_put_models(store, m, &err) == -1 && err.code == HRUN_EINVAL, "M = 0 is refused");
    r->M = 1;
    text = r->family;
    r->family = NULL;
    ok(hrun_store_put_models(store, m, &err) == -1 && err.code == HRUN_EINVAL, "no family is refused");
    r->family = text;
    text = r->terms[0];
    r->terms[0] = NULL;
    ok(hrun_store_put_models(store, m, &err) == -1 && err.code == HRUN_EINVAL, "no term is refused");
    r->terms[0] = text;
    text = m->signature;
    m->signature = "../../x";
    ok(hrun_store_put_models(store, m, &err) == -1 && err.code == HRUN_EINVAL, "a path is no signature");
    has_str(err.text, "'../../x' cannot name a sub-cluster signature", "which is said");
    m->signature = "";
    ok(hrun_store_put_models(store, m, &err) == -1 && err.code == HRUN_EINVAL, "nor is an empty text");
    m->signature = text;
    r->note = strdup("\xff\xfe");
    ok(hrun_store_put_models(store, m, &err) == -1 && err.code == HRUN_EINVAL, "text must be UTF-8");
    after = read_file(yaml);
    ok(after.len == before.len && !memcmp(after.data, before.data, after.len), "the old models stand");
    hrun_buf_release(&before);
    hrun_buf_release(&after);
    hrun_models_destroy(m);
}

/* Writers are killed at random moments while a reader reads: it always sees whole models, old or new, and the
 * next writer removes what the killed ones left. */
static void test_killed_writers(void)
{
    enum { ROUNDS = 40, SEED = 5, LONGEST_US = 6000 };
    char *folder = hrun_strf("%s/profiles/" APP, dir), *left = hrun_strf("%s.tmp.123.0", yaml);
    struct hrun_models *m = plain_models(), *back;
    struct hrun_error err = { 0 };
    uint64_t rng = SEED;
    int broken = 0, reads = 0, moved = 0, leftovers = 0;
    struct dirent *e;
    DIR *d;

    m->nsamples = 0;
    ok(!hrun_store_put_models(store, m, &err), "the first models");
    for (int round = 0; round < ROUNDS; round++) {
        struct timespec t = { 0, (long)(draw(&rng) % LONGEST_US) * 1000 };
        int status;
        pid_t pid = fork();

        if (pid == 0) {
            /* samples counts up in steps with npoints, so a mixture of two files would show. */
            for (;;) {
                m->nsamples = m->v[0].npoints = m->v[1].npoints = m->nsamples + 1;
                if (hrun_store_put_models(store, m, &err))
                    _exit(1);
            }
        }
        for (int i = 0; i < 10; i++, reads++) {
            back = NULL;
            if (hrun_store_get_models(store, APP, SIG, &back, &err) || !back
                || (back->nsamples && back->v[1].npoints != back->nsamples))
                broken++;
            hrun_models_destroy(back);
        }
        nanosleep(&t, NULL);
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
        broken += !WIFSIGNALED(status) || hrun_store_get_models(store, APP, SIG, &back, &err) || !back;
        if (!broken)
            moved += back->nsamples > 0;
        hrun_models_destroy(broken ? NULL : back);
    }
    is_int(broken, 0, "%d reads among writers and kills: always whole models", reads);
    ok(moved > 0, "kills met writers at work (%d of %d)", moved, ROUNDS);
    write_file(left, "half", 4);
    ok(!hrun_store_put_models(store, m, &err), "the next writer");
    d = opendir(folder);
    while (d && (e = readdir(d)))
        leftovers += strstr(e->d_name, ".tmp.") != NULL;
    if (d)
        closedir(d);
    is_int(leftovers, 0, "leaves no temporary file, not even another's");
    hrun_models_destroy(m);
    free(folder);
    free(left);
}

/* How long reading takes: three families for two M, ten terms each, `used` of them with a coefficient (not a
 * check: machines differ). */
static void show_speed(int used)
{
    enum { MODELS = 6, TERMS = 10, TIMES = 50 };
    struct hrun_models *m = calloc(1, sizeof *m), *back;
    struct hrun_error err = { 0 };
    struct timespec a, b;
    double best = INFINITY;
    struct hrun_buf text;
    uint64_t rng = 1;

    m->app = strdup(APP);
    m->signature = strdup(SIG);
    m->n = MODELS;
    m->v = calloc(MODELS, sizeof *m->v);
    for (int i = 0; i < MODELS; i++) {
        struct hrun_fit_record *r = &m->v[i];

        r->family = strdup("npt");
        r->method = strdup("nnls");
        r->M = 1 + i / 3;
        r->nterms = TERMS;
        r->terms = calloc(TERMS, sizeof *r->terms);
        r->k = calloc(TERMS, sizeof *r->k);
        r->cov = calloc(TERMS * TERMS, sizeof *r->cov);
        for (int j = 0; j < TERMS; j++) {
            r->terms[j] = strdup("N^3/P");
            r->k[j] = j < used ? (double)draw(&rng) * 1e-30 : 0;
            for (int l = 0; l <= j && j < used; l++)
                r->cov[j * TERMS + l] = r->cov[l * TERMS + j] = (double)draw(&rng) * 1e-30;
        }
    }
    ok(!hrun_store_put_models(store, m, &err), "%d models of %d terms, %d in use", MODELS, TERMS, used);
    for (int i = 0; i < TIMES; i++) {
        clock_gettime(CLOCK_MONOTONIC, &a);
        back = NULL;
        if (hrun_store_get_models(store, APP, SIG, &back, &err))
            break;
        clock_gettime(CLOCK_MONOTONIC, &b);
        best = fmin(best, (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) * 1e-6);
        hrun_models_destroy(back);
    }
    text = read_file(yaml);
    ok(isfinite(best), "are read");
    printf("# %zu bytes in %.3f ms (best of %d)\n", text.len, best, TIMES);
    hrun_buf_release(&text);
    hrun_models_destroy(m);
}

int main(void)
{
    dir = temp_dir();
    store = open_store(dir);
    yaml = file_of(dir, ".yaml");
    test_round_trip();
    test_locale();
    test_damage();
    test_foreign();
    test_newer();
    test_refused();
    test_killed_writers();
    show_speed(10);
    show_speed(4);
    hrun_store_close(store);
    hrun_remove_tree(dir);
    free(yaml);
    free(dir);
    return tap_done();
}
