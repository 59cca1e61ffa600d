/* hostlist.c - host ranges; see list.h for the contracts */
#include "base/alloc.h"
#include "base/list.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    NAME_LONGEST = 255,  /* octets of a domain name (RFC 1035, section 2.3.4) */
    DIGITS_MOST = 18     /* a number of 18 digits fits into 63 bits */
};

struct range {
    uint64_t lo, hi;
    int width;           /* digits to pad to with zeros; 0: none */
};

/* A list during reading. */
struct expansion {
    const char *text, *item, *end;  /* the list; begin and end of the present item */
    struct hrun_buf name;       /* the part read so far */
    size_t most;                /* limit of names in out */
    struct hrun_strvec *out;
    struct hrun_error *err;
};

static const char too_many[] = "more than 16384 names";

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int fail_hostlist(struct hrun_error *err, const char *text, const char *at, const char *what, const char *hint)
{
    enum { SHOWN = 60 };

    return hrun_fail_at(err, HRUN_EPARSE, NULL, 0, (int)(at - text) + 1, "host list '%.*s%s': %s%s", SHOWN,
                        text, strlen(text) > SHOWN ? "..." : "", what, hint);
}

/* Read digits at *p. -1 with *err if there are none or too many. */
static int read_bracket_number(const char *text, const char **p, uint64_t *value, int *ndigits,
                               struct hrun_error *err)
{
    const char *s = *p;
    uint64_t v = 0;

    while (is_digit(*s) && s - *p < DIGITS_MOST)
        v = v * 10 + (uint64_t)(*s++ - '0');
    if (s == *p)
        return fail_hostlist(err, text, s, *s ? "a number is needed here" : "the bracket is not closed",
                             ", as in p4-[0-7,9]");
    if (is_digit(*s))
        return fail_hostlist(err, text, *p, "the number has more than 18 digits", "");
    *value = v;
    *ndigits = (int)(s - *p);
    *p = s;
    return 0;
}

static int read_range(const char *text, const char **p, struct range *r, struct hrun_error *err)
{
    const char *begin = *p;
    int nlo, nhi;

    if (read_bracket_number(text, p, &r->lo, &nlo, err))
        return -1;
    r->hi = r->lo;
    r->width = nlo > 1 && *begin == '0' ? nlo : 0;
    if (**p == '-') {
        const char *second = ++*p;
        if (read_bracket_number(text, p, &r->hi, &nhi, err))
            return -1;
        if (nhi < nlo || (*second == '0' && nhi > 1 && nhi != nlo))
            return fail_hostlist(err, text, begin, "both ends of a range need the same leading zeros",
                                 ", as in [08-15]");
        if (r->hi < r->lo)
            return fail_hostlist(err, text, begin, "the range runs backwards", "");
    }
    return 0;
}

/* Find the end of the bracket whose '[' is at p. NULL with x->err if the bracket is invalid. */
static const char *check_bracket(const struct expansion *x, const char *p)
{
    const char *open = p++, *at;
    struct range r;
    size_t count = 0;

    for (;; p++) {
        at = p;
        if (read_range(x->text, &p, &r, x->err))
            return NULL;
        if (r.hi - r.lo >= HRUN_HOSTLIST_MAX || (count += (size_t)(r.hi - r.lo) + 1) > HRUN_HOSTLIST_MAX)
            fail_hostlist(x->err, x->text, at, too_many, "");
        else if (*p == ',')
            continue;
        else if (*p == ']')
            return p;
        else if (*p)
            fail_hostlist(x->err, x->text, p, "a bracket holds numbers and ranges only", ", as in p4-[0-7,9]");
        else
            fail_hostlist(x->err, x->text, open, "the bracket is not closed", ", as in p4-[0-7,9]");
        return NULL;
    }
}

static int expand_rest(struct expansion *x, const char *p);

/* Append the names for each number of the bracket at p, each with all expansions of the rest of the item. */
static int expand_bracket(struct expansion *x, const char *p)
{
    const char *end = check_bracket(x, p);
    size_t len = x->name.len;

    while (end && p < end) {
        struct range r;

        p++;
        read_range(x->text, &p, &r, NULL);
        for (; r.lo <= r.hi; r.lo++) {
            hrun_buf_addf(&x->name, "%0*llu", r.width, (unsigned long long)r.lo);
            if (expand_rest(x, end + 1))
                return -1;
            x->name.len = len;
        }
    }
    return end ? 0 : -1;
}

/* Append all names that consist of x->name and an expansion of the item from p on. */
static int expand_rest(struct expansion *x, const char *p)
{
    static const char good[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.";
    size_t len = strspn(p, good);

    hrun_buf_add(&x->name, p, len);
    p += len;
    if (x->name.len > NAME_LONGEST)
        return fail_hostlist(x->err, x->text, x->item, "a name has more than 255 characters", "");
    if (*p == '[')
        return expand_bracket(x, p);
    if (*p && *p != ',')
        return fail_hostlist(x->err, x->text, p, "a name holds letters, digits, '-', '_' and '.' only",
                             *p == ' ' ? "; separate names by commas without blanks" : "");
    if (x->out->n == x->most)
        return fail_hostlist(x->err, x->text, x->item, too_many, "");
    x->end = p;
    hrun_strvec_push(x->out, x->name.data);
    return 0;
}

/* Append the names of item x->item, which ends at a comma or the end of the text. */
static int expand_item(struct expansion *x)
{
    const char *p = x->item;
    size_t ipv6 = *p == '[' ? 1 + strspn(p + 1, "0123456789abcdefABCDEF:.") : 0;

    ipv6 = ipv6 && p[ipv6] == ']' && memchr(p, ':', ipv6) ? ipv6 + 1 : 0;
    hrun_buf_reset(&x->name);
    if (!*p || *p == ',')
        return fail_hostlist(x->err, x->text, p, x->text[0] ? "a name is missing here" : "it is empty", "");
    if (*p == '-')
        return fail_hostlist(x->err, x->text, p, "a name does not begin with '-'", "");
    if (ipv6 && p[ipv6] && p[ipv6] != ',')
        return fail_hostlist(x->err, x->text, p + ipv6, "nothing may follow an IPv6 address but a comma", "");
    hrun_buf_add(&x->name, p, ipv6);
    return expand_rest(x, p + ipv6);
}

int hrun_hostlist_parse(const char *text, struct hrun_strvec *out, struct hrun_error *err)
{
    struct expansion x = { .text = text, .name = HRUN_BUF_INIT, .most = out->n + HRUN_HOSTLIST_MAX, .out = out,
                           .err = err };
    size_t start = out->n;
    int rc;

    for (x.item = text; !(rc = expand_item(&x)) && *x.end; x.item = x.end + 1)
        continue;
    if (rc && out->v) {
        while (out->n > start)
            free(out->v[--out->n]);
        out->v[start] = NULL;
    }
    hrun_buf_release(&x.name);
    return rc;
}

/* ---------------------------------------------------------------- printing */

/* 1 if the digits of name at `at` are a number that a bracket may contain, else 0. */
static int bracket_number(const char *name, size_t at, uint64_t *value, size_t *ndigits)
{
    size_t n = 0;
    uint64_t v = 0;

    while (is_digit(name[at + n]) && n <= DIGITS_MOST) {
        if (n < DIGITS_MOST)
            v = v * 10 + (uint64_t)(name[at + n] - '0');
        n++;
    }
    *value = v;
    *ndigits = n;
    return n > 0 && n <= DIGITS_MOST;
}

/* 1 if a and b differ in one number only, else 0. *at: offset of this number. */
static int differ_in_one(const char *a, const char *b, size_t *at)
{
    size_t p = 0, na, nb;
    uint64_t va, vb;

    if (strchr(a, '[') || strchr(b, '['))
        return 0; /* IPv6 */
    while (a[p] && a[p] == b[p])
        p++;
    if (!a[p] && !b[p])
        return 0;
    while (p > 0 && is_digit(a[p - 1]))
        p--;
    *at = p;
    return bracket_number(a, p, &va, &na) && bracket_number(b, p, &vb, &nb) && strcmp(a + p + na, b + p + nb) == 0;
}

/* Append the numbers of names[n] at `at` as "0-7,9". */
static void add_ranges(char *const *names, size_t n, size_t at, struct hrun_buf *out)
{
    for (size_t i = 0; i < n;) {
        uint64_t first, last, v;
        size_t nfirst, nlast, nv, j;
        char text[32];
        int width;

        bracket_number(names[i], at, &first, &nfirst);
        width = nfirst > 1 && names[i][at] == '0' ? (int)nfirst : 0;
        last = first;
        nlast = nfirst;
        for (j = i + 1; j < n; j++) {
            bracket_number(names[j], at, &v, &nv);
            snprintf(text, sizeof text, "%0*llu", width, (unsigned long long)v);
            if (v != last + 1 || strlen(text) != nv || memcmp(text, names[j] + at, nv))
                break;
            last = v;
            nlast = nv;
        }
        if (i)
            hrun_buf_addc(out, ',');
        hrun_buf_add(out, names[i] + at, nfirst);
        if (j > i + 1) {
            hrun_buf_addc(out, '-');
            hrun_buf_add(out, names[j - 1] + at, nlast);
        }
        i = j;
    }
}

void hrun_hostlist_print(char *const *names, size_t n, struct hrun_buf *out)
{
    for (size_t i = 0; i < n;) {
        size_t j = i + 1, at, k, ndigits;
        uint64_t v;
        if (i)
            hrun_buf_addc(out, ',');
        if (j == n || !differ_in_one(names[i], names[j], &at)) {
            hrun_buf_adds(out, names[i]);
            i = j;
            continue;
        }
        /* the first two names determine the number that varies; each further name is compared with the first, or with
         * the second if it equals the first ("a1,a2,a1") */
        for (j++; j < n; j++)
            if (!(differ_in_one(names[i], names[j], &k) && k == at)
                && !(differ_in_one(names[i + 1], names[j], &k) && k == at))
                break;
        bracket_number(names[i], at, &v, &ndigits);
        hrun_buf_add(out, names[i], at);
        hrun_buf_addc(out, '[');
        add_ranges(names + i, j - i, at, out);
        hrun_buf_addf(out, "]%s", names[i] + at + ndigits);
        i = j;
    }
}

int hrun_same_host(const char *a, const char *b)
{
    size_t na = strcspn(a, "."), nb = strcspn(b, ".");

    return !strcasecmp(a, b) || (na == nb && !strncasecmp(a, b, na) && (!a[na] || !b[nb]));
}
