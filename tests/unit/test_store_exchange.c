/* test_store_exchange.c - measurements through text and back: nothing is lost that a format holds, and what is known is
 * not added again */
#include "store.h"

#include "store/store.h"

#include <float.h>

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

/* Sample i of many, of all kinds. */
static struct hrun_sample drawn_sample(uint64_t *state)
{
    struct hrun_sample s = plain_sample(1 + (int64_t)(draw(state) % ((uint64_t)1 << 53)));

    s.time_s = draw_time(state);
    s.wall_s = draw_time(state);
    s.mixed = draw(state) % 2;
    s.P += s.mixed;
    s.ok = draw(state) % 4 != 0;
    s.status = s.ok ? "ok" : "exit 3, \"why\"";
    s.time_s = s.ok ? s.time_s : 0;
    s.program = odd[draw(state) % NODD];
    s.launcher.host = odd[draw(state) % NODD];
    s.trace = odd[draw(state) % NODD];
    s.signatures = "x,y";
    s.limits = s.mixed ? "b" : "";
    s.compute_s = draw_time(state);
    return s;
}

/* Write v[n] as CSV and read it back. */
static int through(const struct hrun_sample *const *v, size_t n, struct hrun_exchange *back, size_t *left,
                   struct hrun_error *err)
{
    const struct hrun_exchange_set set = { APP, SIG, v, n };
    struct hrun_buf text = HRUN_BUF_INIT;
    int rc = hrun_exchange_write(HRUN_EXCHANGE_CSV, &set, 1, &text, left, err);

    if (!rc)
        rc = hrun_exchange_read("f", text.data, text.len, back, err);
    hrun_buf_release(&text);
    return rc;
}

static void test_round_trip(void)
{
    enum { N = 400 };
    static struct hrun_sample s[N];
    const struct hrun_sample *v[N];
    struct hrun_exchange back = HRUN_EXCHANGE_INIT;
    struct hrun_error err = { 0 };
    size_t left = 9, same = 0;
    uint64_t state = 7;

    for (int i = 0; i < N; i++) {
        s[i] = drawn_sample(&state);
        v[i] = &s[i];
    }
    is_int(through(v, N, &back, &left, &err), 0, "written and read");
    is_str(err.text, "", "without an error");
    is_int(left, 0, "nothing is left out");
    is_int(back.n, N, "and nothing lost");
    for (size_t i = 0; i < back.n && i < N; i++) {
        struct hrun_sample was = s[i];

        was.origin = "import";
        same += same_sample(&was, &back.v[i].sample) && !strcmp(back.v[i].sample.origin, "import")
                && !strcmp(back.v[i].app, APP) && !strcmp(back.v[i].signature, SIG);
    }
    is_int(same, N, "every one is what it was");
    hrun_exchange_release(&back);
}

/* The smallest and the largest double, and others that text likes to bend: Extra-P's format has no exponents. */
static void test_numbers(void)
{
    static const double times[] = {
        DBL_MIN, 4.9406564584124654e-324, DBL_MAX, 0.1, 1.0 / 3, 1e22, 123456789.123456789
    };

    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        struct hrun_sample s = plain_sample((int64_t)1 << 53);
        const struct hrun_sample *v = &s;
        const struct hrun_exchange_set set = { APP, SIG, &v, 1 };
        struct hrun_exchange back = HRUN_EXCHANGE_INIT;
        struct hrun_buf text = HRUN_BUF_INIT;
        struct hrun_error err = { 0 };
        const char *data;
        size_t left;

        s.time_s = times[i];
        ok(!through(&v, 1, &back, &left, &err) && back.n == 1 && back.v[0].sample.time_s == times[i]
           && back.v[0].sample.N == s.N, "%g s come back", times[i]);
        ok(!hrun_exchange_write(HRUN_EXCHANGE_EXTRAP, &set, 1, &text, &left, &err)
           && (data = strstr(text.data, "\nDATA ")) && !strchr(data, 'e') && strtod(data + 6, NULL) == times[i],
           "and stand in a file for Extra-P");
        hrun_exchange_release(&back);
        hrun_buf_release(&text);
    }
}

/* Equal runs are kept apart, and told from those that are there. */
static void test_store(void)
{
    static const char text[] = "N,P,time_s,app,signature\n100,1,2," APP "," SIG "\n100,1,2," APP "," SIG "\n100,1,3,"
        APP "," SIG "\n";
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
    is_int(hrun_exchange_read("f", text, sizeof text - 1, &x, &err), 0, "three runs of a point");
    is_int(hrun_exchange_store(store, &x, 0, &added, &known, &err), 0, "are stored");
    ok(added == 2 && known == 1, "but for one of two equal ones, which is there");
    is_int(hrun_exchange_store(store, &x, 0, &added, &known, &err), 0, "and again");
    ok(added == 0 && known == 3, "which adds nothing");
    is_int(hrun_store_samples(store, APP, SIG, &log, &err), 0, "the log");
    is_int(log.n, 3, "has each once");
    hrun_samples_release(&log);
    hrun_exchange_release(&x);
    hrun_store_close(store);
    hrun_remove_tree(dir);
    free(dir);
}

int main(void)
{
    test_round_trip();
    test_numbers();
    test_store();
    return tap_done();
}
