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
    DIGITS_MOST = 18     /* any number of so many digits fits into 63 bits */
};

struct range {
    uint64_t lo, hi;
    size_t before;       /* numbers of the bracket's ranges in front of this one */
    int width;           /* digits to pad to with zeros; 0: none */
};

/* A literal stretch (ranges == NULL) or a bracket of a name. */
struct part {
    const char *text;
    size_t len;
    struct range *ranges;
    size_t nranges, cap, count;   /* count: numbers in all ranges */
};

struct item {
    struct part *parts;
    size_t nparts;
};

static const char too_many[] = "more than 16384 names";

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int is_name_char(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_'
        || c == '.';
}

static void item_release(struct item *it)
{
    for (size_t i = 0; i < it->nparts; i++)
        free(it->parts[i].ranges);
    free(it->parts);
}

static int bad(struct hrun_error *err, const char *text, const char *at, const char *what, const char *hint)
{
    enum { SHOWN = 60 };

    return hrun_fail_at(err, HRUN_EPARSE, NULL, 0, (int)(at - text) + 1, "host list '%.*s%s': %s%s", SHOWN,
                        text, strlen(text) > SHOWN ? "..." : "", what, hint);
}

/* Read digits at *p. -1 with *err when there are none or too many. */
static int read_number(const char *text, const char **p, uint64_t *value, int *ndigits,
                       struct hrun_error *err)
{
    const char *s = *p;
    uint64_t v = 0;

    while (is_digit(*s) && s - *p < DIGITS_MOST)
        v = v * 10 + (uint64_t)(*s++ - '0');
    if (s == *p)
        return bad(err, text, s, *s ? "a number is needed here" : "the bracket is not closed",
                   ", as in p4-[0-7,9]");
    if (is_digit(*s))
        return bad(err, text, *p, "the number has more than 18 digits", "");
    *value = v;
    *ndigits = (int)(s - *p);
    *p = s;
    return 0;
}

static int read_range(const char *text, const char **p, struct range *r, struct hrun_error *err)
{
    const char *begin = *p;
    int nlo, nhi;

    if (read_number(text, p, &r->lo, &nlo, err))
        return -1;
    r->hi = r->lo;
    r->width = nlo > 1 && *begin == '0' ? nlo : 0;
    if (**p == '-') {
        const char *second = ++*p;
        if (read_number(text, p, &r->hi, &nhi, err))
            return -1;
        if (nhi < nlo || (*second == '0' && nhi > 1 && nhi != nlo))
            return bad(err, text, begin, "both ends of a range need the same leading zeros",
                       ", as in [08-15]");
        if (r->hi < r->lo)
            return bad(err, text, begin, "the range runs backwards", "");
    }
    return 0;
}

/* At *p stands '['. Fill part with its ranges. */
static int read_bracket(const char *text, const char **p, struct part *part, struct hrun_error *err)
{
    const char *open = (*p)++;

    for (;;) {
        const char *at = *p;
        struct range *r;
        hrun_grow(part->ranges, part->nranges + 1, part->cap);
        r = &part->ranges[part->nranges];
        if (read_range(text, p, r, err))
            return -1;
        part->nranges++;
        if (r->hi - r->lo >= HRUN_HOSTLIST_MAX || part->count + (r->hi - r->lo) >= HRUN_HOSTLIST_MAX)
            return bad(err, text, at, too_many, "");
        r->before = part->count;
        part->count += (size_t)(r->hi - r->lo) + 1;
        if (**p == ']')
            break;
        if (**p != ',')
            return **p ? bad(err, text, *p, "a bracket holds numbers and ranges only", ", as in p4-[0-7,9]")
                       : bad(err, text, open, "the bracket is not closed", ", as in p4-[0-7,9]");
        ++*p;
    }
    ++*p;
    return 0;
}

/* Is the bracket at p an IPv6 address? Its length with both brackets, else 0. */
static size_t ipv6_length(const char *p)
{
    size_t len = 1 + strspn(p + 1, "0123456789abcdefABCDEF:.");

    return p[len] == ']' && memchr(p, ':', len) ? len + 1 : 0;
}

/* Read one name with its brackets, up to a comma or the end. */
static int read_item(const char *text, const char **p, struct item *it, struct hrun_error *err)
{
    const char *begin = *p;

    while (**p && **p != ',') {
        struct part *part;

        it->parts = xrealloc(it->parts, (it->nparts + 1) * sizeof *it->parts);
        part = &it->parts[it->nparts++];
        *part = (struct part){ .text = *p };
        if (**p == '[' && *p == begin && (part->len = ipv6_length(*p))) {
            *p += part->len;
            if (**p && **p != ',')
                return bad(err, text, *p, "nothing may follow an IPv6 address but a comma", "");
        } else if (**p == '[') {
            if (read_bracket(text, p, part, err))
                return -1;
        } else if (**p == '-' && *p == begin) {
            return bad(err, text, *p, "a name does not begin with '-'", "");
        } else {
            while (is_name_char(**p))
                ++*p;
            part->len = (size_t)(*p - part->text);
            if (!part->len)
                return bad(err, text, *p, "a name holds letters, digits, '-', '_' and '.' only",
                           **p == ' ' ? "; separate names by commas without blanks" : "");
        }
    }
    if (*p == begin)
        return bad(err, text, begin, text[0] ? "a name is missing here" : "it is empty", "");
    return 0;
}

/* The i-th number of a bracket, appended to name. */
static void add_number(struct hrun_buf *name, const struct part *part, size_t i)
{
    size_t a = 0, b = part->nranges;
    const struct range *r;

    while (b - a > 1) {
        size_t mid = a + (b - a) / 2;
        if (part->ranges[mid].before <= i)
            a = mid;
        else
            b = mid;
    }
    r = &part->ranges[a];
    hrun_buf_addf(name, "%0*llu", r->width, (unsigned long long)(r->lo + (i - r->before)));
}

/* Append all names of an item; *left counts down what the list may still hold. */
static int expand(const char *text, const char *at, const struct item *it, size_t *left,
                  struct hrun_strvec *out, struct hrun_error *err)
{
    struct hrun_buf name = HRUN_BUF_INIT;
    size_t total = 1;
    int rc = -1;

    /* every factor is 1 .. HRUN_HOSTLIST_MAX, so that the product cannot overflow before it is found too large */
    for (size_t k = 0; k < it->nparts; k++)
        if (it->parts[k].ranges) {
            total *= it->parts[k].count;
            if (total > *left)
                break;
        }
    if (total > *left)
        return bad(err, text, at, too_many, "");
    *left -= total;
    for (size_t n = 0; n < total; n++) {
        size_t stride = total, rest = n;
        hrun_buf_reset(&name);
        for (size_t k = 0; k < it->nparts; k++) {
            const struct part *part = &it->parts[k];
            if (!part->ranges) {
                hrun_buf_add(&name, part->text, part->len);
                continue;
            }
            stride /= part->count; /* the last bracket varies fastest */
            add_number(&name, part, rest / stride);
            rest %= stride;
        }
        if (name.len > NAME_LONGEST) {
            bad(err, text, at, "a name has more than 255 characters", "");
            goto out;
        }
        hrun_strvec_push(out, name.data);
    }
    rc = 0;
out:
    hrun_buf_release(&name);
    return rc;
}

int hrun_hostlist_parse(const char *text, struct hrun_strvec *out, struct hrun_error *err)
{
    size_t start = out->n, left = HRUN_HOSTLIST_MAX;
    const char *p = text;
    int rc;

    for (;;) {
        struct item it = { NULL, 0 };
        const char *at = p;
        rc = read_item(text, &p, &it, err);
        if (!rc)
            rc = expand(text, at, &it, &left, out, err);
        item_release(&it);
        if (rc || !*p)
            break;
        p++;
    }
    if (rc && out->v) {
        while (out->n > start)
            free(out->v[--out->n]);
        out->v[start] = NULL;
    }
    return rc;
}

/* ---------------------------------------------------------------- printing */

/* The digits of name at `at`, if they are a number that may stand in a bracket. */
static int number_at(const char *name, size_t at, uint64_t *value, size_t *ndigits)
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

/* Do a and b differ in one number only? *at: where it begins. */
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
    return number_at(a, p, &va, &na) && number_at(b, p, &vb, &nb) && strcmp(a + p + na, b + p + nb) == 0;
}

/* Would parsing the range that begins with digits lo[nlo] give digits c[nc] for value v? */
static int fits_range(const char *lo, size_t nlo, const char *c, size_t nc, uint64_t v)
{
    char text[32];
    int width = nlo > 1 && *lo == '0' ? (int)nlo : 0;
    int len = snprintf(text, sizeof text, "%0*llu", width, (unsigned long long)v);

    return (size_t)len == nc && memcmp(text, c, nc) == 0;
}

/* Append the numbers of names[n] at `at` as "0-7,9". */
static void add_ranges(char *const *names, size_t n, size_t at, struct hrun_buf *out)
{
    for (size_t i = 0; i < n;) {
        uint64_t first, last, v;
        size_t nfirst, nlast, nv, j;
        number_at(names[i], at, &first, &nfirst);
        last = first;
        nlast = nfirst;
        for (j = i + 1; j < n; j++) {
            number_at(names[j], at, &v, &nv);
            if (v != last + 1 || !fits_range(names[i] + at, nfirst, names[j] + at, nv, v))
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
        /* the first two fix which number varies; each further name is compared with the first, or with the
         * second where it equals the first ("a1,a2,a1") */
        for (j++; j < n; j++)
            if (!(differ_in_one(names[i], names[j], &k) && k == at)
                && !(differ_in_one(names[i + 1], names[j], &k) && k == at))
                break;
        number_at(names[i], at, &v, &ndigits);
        hrun_buf_add(out, names[i], at);
        hrun_buf_addc(out, '[');
        add_ranges(names + i, j - i, at, out);
        hrun_buf_addc(out, ']');
        hrun_buf_adds(out, names[i] + at + ndigits);
        i = j;
    }
}

int hrun_same_host(const char *a, const char *b)
{
    size_t na = strcspn(a, "."), nb = strcspn(b, ".");

    return !strcasecmp(a, b) || (na == nb && !strncasecmp(a, b, na) && (!a[na] || !b[nb]));
}
