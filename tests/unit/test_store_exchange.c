/* test_store_exchange.c - measurements through text and back: nothing is lost that a format holds, what is known is not
 * added again, and each allocation that fails leaves things as they were */
#include "store.h"

#include "nomem.h"
#include "store/store.h"

#include <float.h>
#include <jansson.h>

static const char *const words[] = { "csv", "extrap", "jsonl" };

/* Texts that need care. */
static char *const odd[] = {
    "", "plain", "a,b", "say \"so\"", "two\nlines", "\r\n", " blanks ", "\t", "\"", "gr\xc3\xbc\xc3\x9f"
};
enum { NODD = sizeof odd / sizeof *odd };

/* A finite time, of any size. */
static double draw_time(uint64_t *state)
{
    union { uint64_t bits; double value; } u;

    do
        u.bits = draw(state) >> 1;
    while (!isfinite(u.value) || u.value == 0);
    return u.value;
}

/* Sample i of many: all of different kinds, but those of one point for Extra-P. */
static struct hrun_sample drawn_sample(uint64_t *state, int plain)
{
    struct hrun_sample s = plain_sample(1 + (int64_t)(draw(state) % ((uint64_t)1 << 53)));

    s.time_s = draw_time(state);
    s.wall_s = draw_time(state);
    if (plain)
        return s;
    s.mixed = draw(state) % 2;
    s.P += s.mixed;
    s.ok = draw(state) % 4 != 0;
    s.status = s.ok ? "ok" : "exit 3, \"why\"";
    s.time_s = s.ok ? s.time_s : 0;
    s.program = odd[draw(state) % NODD];
    s.host = odd[draw(state) % NODD];
    s.trace = odd[draw(state) % NODD];
    s.signatures = "x,y";
    s.limits = s.mixed ? "b" : "";
    s.compute_s = draw_time(state);
    return s;
}

/* Write v[n] and read it back. */
static int through(enum hrun_exchange_format format, const struct hrun_sample *const *v, size_t n,
                   struct hrun_exchange *back, size_t *left, struct hrun_error *err)
{
    const struct hrun_exchange_set set = { APP, SIG, v, n };
    struct hrun_buf text = HRUN_BUF_INIT;
    int rc = hrun_exchange_write(format, &set, 1, &text, left, err);

    if (!rc)
        rc = hrun_exchange_read(format, "f", text.data, text.len, back, err);
    hrun_buf_release(&text);
    return rc;
}

static void test_round_trip(void)
{
    enum { N = 400 };
    static struct hrun_sample s[N];
    const struct hrun_sample *v[N];
    uint64_t state = 7;

    for (int f = 0; f < 3; f++) {
        struct hrun_exchange back = HRUN_EXCHANGE_INIT;
        struct hrun_error err = { 0 };
        enum hrun_exchange_format format = HRUN_EXCHANGE_CSV;
        size_t left = 9, same = 0;

        is_int(hrun_exchange_parse(words[f], &format, &err), 0, "%s is a format", words[f]);
        for (int i = 0; i < N; i++) {
            s[i] = drawn_sample(&state, f > 0);
            v[i] = &s[i];
        }
        is_int(through(format, v, N, &back, &left, &err), 0, "%s: written and read", words[f]);
        is_str(err.text, "", "%s: without an error", words[f]);
        is_int(left, 0, "%s: nothing is left out", words[f]);
        is_int(back.n, N, "%s: and nothing lost", words[f]);
        for (size_t i = 0; i < back.n; i++) {
            struct hrun_sample *b = &back.v[i].sample, was;
            int k = 0;

            while (k < N && (s[k].N != b->N || s[k].time_s != b->time_s))
                k++;
            was = s[k < N ? k : 0];
            was.origin = "import";
            same -= strcmp(b->origin, "import") != 0;
            if (f == 1)         /* no place for the conditions */
                same += k < N && was.P == b->P && was.M == b->M && was.pes == b->pes
                        && same_text(was.consts, b->consts);
            else
                same += k < N && same_sample(&was, b);
            if (strcmp(back.v[i].app, APP) || strcmp(back.v[i].signature, SIG))
                same = 0;
        }
        is_int(same, N, "%s: every one is what it was", words[f]);
        hrun_exchange_release(&back);
    }
}

/* The smallest and the largest double, and others that text likes to bend. */
static void test_numbers(void)
{
    static const double times[] = {
        DBL_MIN, 4.9406564584124654e-324, DBL_MAX, 0.1, 1.0 / 3, 1e22, 123456789.123456789
    };

    for (int f = 0; f < 3; f++)
        for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
            struct hrun_sample s = plain_sample((int64_t)1 << 53);
            const struct hrun_sample *v = &s;
            struct hrun_exchange back = HRUN_EXCHANGE_INIT;
            struct hrun_error err = { 0 };
            size_t left;

            s.time_s = times[i];
            ok(!through((enum hrun_exchange_format)f, &v, 1, &back, &left, &err) && back.n == 1
               && back.v[0].sample.time_s == times[i] && back.v[0].sample.N == s.N, "%s: %g s come back", words[f],
               times[i]);
            hrun_exchange_release(&back);
        }
}

/* Equal runs are kept apart, and told from those that are there. */
static void test_store(void)
{
    static const char text[] = "PARAMETER N P\nPOINTS (100 1)\nREGION " APP "->" SIG "\nDATA 2 2 3\n";
    struct hrun_exchange x = HRUN_EXCHANGE_INIT;
    struct hrun_samples log = { 0 };
    struct hrun_error err = { 0 };
    char *dir = temp_dir();
    struct hrun_store *store = open_store(dir);
    struct hrun_sample one = plain_sample(100);
    size_t added = 9, known = 9;

    one.P = one.M = one.pes = 1;
    one.time_s = 2;
    hrun_store_append(store, APP, SIG, &one, &err);
    is_int(hrun_exchange_read(HRUN_EXCHANGE_EXTRAP, "f", text, sizeof text - 1, &x, &err), 0, "three runs of a point");
    is_int(hrun_exchange_store(store, &x, APP, SIG, &added, &known, &err), 0, "are stored");
    ok(added == 2 && known == 1, "but for one of two equal ones, which is there");
    is_int(hrun_exchange_store(store, &x, APP, SIG, &added, &known, &err), 0, "and again");
    ok(added == 0 && known == 3, "which adds nothing");
    is_int(hrun_exchange_store(store, &x, APP, "other", &added, &known, &err), 0, "of another profile");
    ok(added == 0 && known == 0, "there is nothing");
    is_int(hrun_store_samples(store, APP, SIG, &log, &err), 0, "the log");
    is_int(log.n, 3, "has each once");
    hrun_samples_release(&log);
    hrun_exchange_release(&x);
    hrun_store_close(store);
    hrun_remove_tree(dir);
    free(dir);
}

/* Write, read, claim: each allocation fails in turn. */
static int errand(enum hrun_exchange_format format, struct hrun_error *err)
{
    struct hrun_sample s[2] = { plain_sample(100), plain_sample(200) };
    const struct hrun_sample *v[2] = { &s[0], &s[1] };
    struct hrun_exchange x = HRUN_EXCHANGE_INIT;
    size_t left;
    int rc = through(format, v, 2, &x, &left, err);

    if (!rc)
        rc = hrun_exchange_claim(&x, "jacobi", "sig-2", err);
    for (size_t i = 0; i < 2 && !rc; i++) {
        struct hrun_sample *b = &x.v[x.n == 2 ? i : 0].sample, was = s[i];

        was.origin = "import";
        if (x.n != 2 || strcmp(x.v[i].app, "jacobi") || strcmp(x.v[i].signature, "sig-2") || b->N != was.N
            || (format != HRUN_EXCHANGE_EXTRAP && !same_sample(b, &was)))
            rc = hrun_fail(err, HRUN_ECORRUPT, "something was lost");
    }
    hrun_exchange_release(&x);
    return rc;
}

static void test_nomem(void)
{
    if (!REPLACED) {
        printf("# allocations cannot be made to fail here\n");
        return;
    }
#if REPLACEABLE
    /* Jansson 2.14 does not notice each failure when it reads, and drops a letter of a string then: leave it out. */
    json_set_alloc_funcs(__libc_malloc, __libc_free);
#endif
    for (int f = 0; f < 3; f++) {
        long k = 0, bad = 0, lost = 0;
        int rc, hit = 1;

        while (hit) {
            struct hrun_error err = { 0 };
            long before = live;

            calls = 0;
            fail_at = ++k;
            rc = errand((enum hrun_exchange_format)f, &err);
            hit = calls >= fail_at;
            fail_at = 0;
            lost += live != before;
            /* libcsv can do with less. */
            if (rc && (!hit || err.code != HRUN_ENOMEM)) {
                bad++;
                printf("# %s, allocation %ld: %s\n", words[f], k, err.text);
            }
        }
        ok(k > 20, "%s: %ld allocations fail, each in turn", words[f], k - 1);
        is_int(bad, 0, "%s: each is told as such or does no harm", words[f]);
        is_int(lost, 0, "%s: and nothing is lost", words[f]);
    }
}

int main(void)
{
    test_round_trip();
    test_numbers();
    test_store();
    test_nomem();
    return tap_done();
}
