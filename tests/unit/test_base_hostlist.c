/* host ranges: expansion, folding, round trips over random lists, mistakes with their column */
#include "tap.h"

#include "base/list.h"

#include <stdlib.h>

static void joined(const struct hrun_strvec *v, struct hrun_buf *b)
{
    hrun_buf_reset(b);
    for (size_t i = 0; i < v->n; i++)
        hrun_buf_addf(b, "%s%s", i ? " " : "", v->v[i]);
}

static void test_parse(void)
{
    static const struct { const char *text, *names, *folded; } t[] = {
        { "head", "head", "head" },
        { "p4-[0-3]", "p4-0 p4-1 p4-2 p4-3", "p4-[0-3]" },
        { "p4-[0-2,9],xe-[08-10],head", "p4-0 p4-1 p4-2 p4-9 xe-08 xe-09 xe-10 head",
          "p4-[0-2,9],xe-[08-10],head" },
        { "a[3]", "a3", "a3" }, { "a[3,1,2]b", "a3b a1b a2b", "a[3,1-2]b" },
        { "r[1-2]n[0-1]", "r1n0 r1n1 r2n0 r2n1", "r1n[0-1],r2n[0-1]" },
        { "n[098-101]", "n098 n099 n100 n101", "n[098-101]" },
        { "n[98-101]", "n98 n99 n100 n101", "n[98-101]" },
        { "n[9-10],n[09-10]", "n9 n10 n09 n10", "n[9-10,09-10]" }, { "n[0-1]", "n0 n1", "n[0-1]" },
        { "n[00-01]", "n00 n01", "n[00-01]" }, { "n[98-101],n[0,00,000]", "n98 n99 n100 n101 n0 n00 n000",
          "n[98-101,0,00,000]" },
        { "[::1]", "[::1]", "[::1]" }, { "[fe80::1.2],a,[::2]", "[fe80::1.2] a [::2]",
                                         "[fe80::1.2],a,[::2]" },
        { "[1-3]", "1 2 3", "[1-3]" }, { "a.b_c-1,a.b_c-2", "a.b_c-1 a.b_c-2", "a.b_c-[1-2]" },
        { "a1,a1,a2", "a1 a1 a2", "a1,a[1-2]" }, { "a1,a2,a1", "a1 a2 a1", "a[1-2,1]" },
        { "a2,a1", "a2 a1", "a[2,1]" }, { "a,b", "a b", "a,b" }, { "a1b1,a2b2", "a1b1 a2b2", "a1b1,a2b2" },
        { "x[1-2][3-4]", "x13 x14 x23 x24", "x[13-14,23-24]" },
        { "h1234567890123456789,h1234567890123456790", "h1234567890123456789 h1234567890123456790",
          "h1234567890123456789,h1234567890123456790" },
        { "n[999999999999999998-999999999999999999]", "n999999999999999998 n999999999999999999",
          "n[999999999999999998-999999999999999999]" },
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct hrun_strvec v = HRUN_STRVEC_INIT;
        struct hrun_buf b = HRUN_BUF_INIT;
        struct hrun_error err = { 0 };
        ok(hrun_hostlist_parse(t[i].text, &v, &err) == 0, "'%s' parses %s", t[i].text, err.text);
        joined(&v, &b);
        is_str(b.data, t[i].names, "'%s' expands", t[i].text);
        hrun_buf_reset(&b);
        hrun_hostlist_print(v.v, v.n, &b);
        is_str(b.data, t[i].folded, "'%s' folds again", t[i].text);
        hrun_strvec_release(&v);
        hrun_buf_release(&b);
    }
}

static void test_mistakes(void)
{
    static const struct { const char *text; int column; const char *want; } t[] = {
        { "", 1, "host list '': it is empty" }, { ",a", 1, "a name is missing here" },
        { "a,,b", 3, "a name is missing here" }, { "a,", 3, "a name is missing here" },
        { "a, b", 3,
          "a name holds letters, digits, '-', '_' and '.' only; separate names by commas without blanks" },
        { "a!b", 2, "a name holds letters, digits" }, { "a]", 2, "a name holds letters, digits" },
        { "\xC3\xA4", 1, "a name holds letters, digits" },
        { "p[", 3, "the bracket is not closed, as in p4-[0-7,9]" }, { "p[1", 2, "the bracket is not closed" },
        { "p[1-", 5, "the bracket is not closed" }, { "p[1,", 5, "the bracket is not closed" },
        { "p[]", 3, "a number is needed here" }, { "p[a]", 3, "a number is needed here" },
        { "p[1-]", 5, "a number is needed here" }, { "p[,1]", 3, "a number is needed here" },
        { "p[1-2-3]", 6, "a bracket holds numbers and ranges only" },
        { "p[1;2]", 4, "a bracket holds numbers" },
        { "p[1[2]]", 4, "a bracket holds numbers" },
        { "p[3-1]", 3, "the range runs backwards" },
        { "p[1,10-9]", 5, "both ends of a range need the same leading" },
        { "p[1-05]", 3, "both ends of a range need the same leading zeros, as in [08-15]" },
        { "p[01-5]", 3, "both ends of a range need the same leading zeros" },
        { "p[1234567890123456789]", 3, "the number has more than 18 digits" },
        { "[::1]x", 6, "nothing may follow an IPv6 address but a comma" },
        { "x[::1]", 3, "a number is needed here" },
        { "a,p[0-16383]", 3, "more than 16384 names" }, { "p[0-16384]", 3, "more than 16384 names" },
        { "p[0-999999999999999999]", 3, "more than 16384 names" },
        { "p[0-16383],a", 12, "more than 16384 names" }, { "a[0-299]b[0-299]", 1, "more than 16384 names" },
        { "a[0-16383]b[0-16383]c[0-16383]d[0-16383]e[0-16383]", 1, "more than 16384 names" },
        { "p[0-10000,0-10000]", 11, "more than 16384 names" },
    };
    char longest[400];

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct hrun_strvec v = HRUN_STRVEC_INIT;
        struct hrun_error err = { 0 };
        hrun_strvec_push(&v, "before");
        ok(hrun_hostlist_parse(t[i].text, &v, &err) == -1 && err.code == HRUN_EPARSE, "'%s' is refused",
           t[i].text);
        is_int(err.column, t[i].column, "its column");
        has_str(err.text, t[i].want, "its words");
        ok(v.n == 1 && !strcmp(v.v[0], "before") && !v.v[1], "the list is as before");
        hrun_strvec_release(&v);
    }
    memset(longest, 'a', sizeof longest);
    for (int len = 255; len <= 256; len++) {
        struct hrun_strvec v = HRUN_STRVEC_INIT;
        longest[len] = 0;
        ok(hrun_hostlist_parse(longest, &v, NULL) == (len == 255 ? 0 : -1), "a name of %d characters", len);
        longest[len] = 'a';
        hrun_strvec_release(&v);
    }
}

static unsigned rnd(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u; /* C11 7.22.2.2 */
    return *seed >> 16;
}

/* parse(print(x)) == x for random lists that are rich in neighbours, zeros and repetitions. */
static void test_round_trip(void)
{
    enum { ROUNDS = 3000 };
    static const char *const pieces[] = { "a", "b-", "0", "1", "2", "9", "10", "08", "09", "007", ".", "99",
                                          "100",
                                          "[::1]", "999999999999999999", "1234567890123456789" };
    unsigned seed = 3;
    int bad = 0, shorter = 0;

    for (int round = 0; round < ROUNDS; round++) {
        struct hrun_strvec in = HRUN_STRVEC_INIT, out = HRUN_STRVEC_INIT;
        struct hrun_buf b = HRUN_BUF_INIT, plain = HRUN_BUF_INIT;
        unsigned n = 1 + rnd(&seed) % 8, range = 3 + rnd(&seed) % 14;
        struct hrun_error err = { 0 };
        int same;
        for (unsigned i = 0; i < n; i++) {
            unsigned p[4];
            for (int k = 0; k < 4; k++)
                do
                    p[k] = rnd(&seed) % (range > 16 ? 16 : range);
                while (p[k] == 13);
            if (range > 13 && rnd(&seed) % 9 == 0)
                hrun_strvec_push(&in, pieces[13]);
            else if (i && rnd(&seed) % 2) {
                /* a neighbour of the last name */
                const char *last = in.v[in.n - 1];
                size_t len = strcspn(last, "0123456789");
                if (last[len] && last[len] != '[' && last[0] != '[')
                    hrun_strvec_pushf(&in, "%.*s%lu", (int)len, last,
                                      strtoul(last + len, NULL, 10) % 1000000 + 1);
                else
                    hrun_strvec_push(&in, last);
            } else
                hrun_strvec_pushf(&in, "%s%s%s%s", pieces[p[0]], pieces[p[1]], pieces[p[2]], pieces[p[3]]);
        }
        hrun_hostlist_print(in.v, in.n, &b);
        joined(&in, &plain);
        shorter += b.len < plain.len;
        same = hrun_hostlist_parse(b.data, &out, &err) == 0 && out.n == in.n;
        for (size_t i = 0; same && i < in.n; i++)
            same = strcmp(in.v[i], out.v[i]) == 0;
        if (!same && bad++ < 3)
            printf("# '%s' printed as '%s' %s\n", plain.data, b.data, err.text);
        hrun_strvec_release(&in);
        hrun_strvec_release(&out);
        hrun_buf_release(&b);
        hrun_buf_release(&plain);
    }
    is_int(bad, 0, "parse(print(x)) == x");
    ok(shorter > ROUNDS / 8, "and folding happens (%d of %d)", shorter, ROUNDS);
}

static void test_large(void)
{
    struct hrun_strvec v = HRUN_STRVEC_INIT;
    struct hrun_buf b = HRUN_BUF_INIT;
    char *all;

    ok(hrun_hostlist_parse("n[0-16383]", &v, NULL) == 0 && v.n == 16384 && !strcmp(v.v[16383], "n16383"),
       "16384 names");
    hrun_hostlist_print(v.v, v.n, &b);
    is_str(b.data, "n[0-16383]", "fold into one range");
    hrun_strvec_release(&v);
    hrun_buf_reset(&b);
    hrun_buf_adds(&b, "n[");
    for (int i = 0; i < 16384; i++)
        hrun_buf_addf(&b, "%s%d", i ? "," : "", 2 * i);
    hrun_buf_adds(&b, "]");
    all = hrun_buf_detach(&b);
    ok(hrun_hostlist_parse(all, &v, NULL) == 0 && v.n == 16384 && !strcmp(v.v[16383], "n32766"),
       "as many single numbers");
    hrun_hostlist_print(v.v, v.n, &b);
    ok(strcmp(b.data, all) == 0, "fold into their list");
    free(all);
    hrun_strvec_release(&v);
    hrun_buf_reset(&b);
    hrun_hostlist_print(NULL, 0, &b);
    is_str(b.data, "", "no names, no text");
    hrun_buf_release(&b);
}

int main(void)
{
    test_parse();
    test_mistakes();
    test_round_trip();
    test_large();
    return tap_done();
}
