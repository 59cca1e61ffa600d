/* time_match.c - bounded regular expressions; see time_match.h for the contracts
 *
 * glibc expands repetitions, so "((a{255}){255}){255}" takes gigabytes; find_fault limits the expanded size beforehand.
 * A search tries a match at each character, so its time grows with the square of the line's length. Only lines that
 * match the filter "^.*(text)", which reads a line once, are searched. A ')' that closes no group is an ordinary
 * character, which becomes "\)" in the filter.
 */
#include "app/time_match.h"

#include "base/alloc.h"
#include "base/buf.h"

#include <ctype.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

/* Limit of the number of characters after expansion of repetitions. Time and memory of regcomp grow with the
 * square of this number. */
enum { SIZE_MAX_CHARS = 250, DEPTH_MAX = 32 };

struct hrun_time_match {
    regex_t re, filter;
};

/* The end of the bracket expression that begins at p ("[^]a[:digit:]]"), or the end of the text. */
static const char *skip_bracket(const char *p)
{
    const char *end;

    p += 1 + (p[1] == '^');
    for (p += *p == ']'; *p && *p != ']'; p++) {
        if (*p != '[' || !p[1] || !strchr(":.=", p[1]))
            continue;
        for (end = p + 2; *end && (end[0] != p[1] || end[1] != ']'); end++)
            continue;
        p = *end ? end + 1 : end - 1;
    }
    return *p ? p + 1 : p;
}

/* The number of copies that "{2,5}", "*", "+" or "?" at *p makes of the piece before it; *p moves past it. 0: none of
 * these is at *p. */
static size_t read_repetition(const char **p)
{
    const char *s = *p;
    unsigned long low = 0, high;
    char *end;

    if (*s == '*' || *s == '?' || *s == '+') {
        ++*p;
        return *s == '+' ? 2 : 1;
    }
    if (*s != '{' || (!isdigit((unsigned char)s[1]) && s[1] != ','))
        return 0;
    low = strtoul(s + 1, &end, 10);
    high = *end == ',' ? strtoul(end + 1, &end, 10) : low;
    if (*end != '}')
        return 0;
    *p = end + 1;
    if (high <= low)
        high = low + 1;         /* "{2,}", "{2}" */
    return high < SIZE_MAX_CHARS ? high : SIZE_MAX_CHARS + 1;
}

/* The reason why text cannot be compiled with bounded effort, or NULL. Appends the text of the filter. regcomp
 * checks the syntax. */
static const char *find_fault(const char *text, struct hrun_buf *filter)
{
    const char *begin;

    size_t sums[DEPTH_MAX + 1] = { 0 }, last = 0, times;   /* sizes of open groups; size of the last piece */
    int depth = 0;

    hrun_buf_adds(filter, "^.*(");
    for (const char *p = text; *p; ) {
        begin = p;
        times = read_repetition(&p);
        if (times) {
            sums[depth] += last * (times - 1);
            last *= times;
        } else if (*p == '(') {
            if (depth++ == DEPTH_MAX)
                return "it has more than 32 groups within each other";
            sums[depth] = last = 0;
            p++;
        } else if (*p == ')' && depth > 0) {
            last = sums[depth--] + 1;
            sums[depth] += last;
            p++;
        } else {
            if (*p == ')')
                hrun_buf_addc(filter, '\\');
            if (*p == '\\' && isdigit((unsigned char)p[1]))
                return "it refers back to a group, which no extended expression does";
            p = *p == '[' ? skip_bracket(p) : p + (*p == '\\' && p[1] ? 2 : 1);
            /* regcomp reads "\d" as 'd', or within brackets as a backslash and a 'd'. */
            if (memmem(begin, (size_t)(p - begin), "\\d", 2))
                return "'\\d' is no digit in a POSIX expression: write [0-9], within brackets 0-9";
            last = 1;
            sums[depth]++;
        }
        if (sums[depth] > SIZE_MAX_CHARS)
            return "it has more than 250 characters when its repetitions are written out";
        hrun_buf_add(filter, begin, (size_t)(p - begin));
    }
    hrun_buf_addc(filter, ')');
    return NULL;
}

/* regcomp with an error message that quotes `what`. */
static int compile_regex(regex_t *re, const char *what, const char *text, int flags, struct hrun_error *err)
{
    int rc = regcomp(re, text, REG_EXTENDED | flags);
    char why[128];

    if (!rc)
        return 0;
    if (rc == REG_ESPACE)
        hrun_out_of_memory();
    regerror(rc, re, why, sizeof why);
    return hrun_fail(err, HRUN_EINVAL, "'%.60s' is not a POSIX extended regular expression: %s", what, why);
}

struct hrun_time_match *hrun_time_match_create(const char *text, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf filter = HRUN_BUF_INIT;
    const char *fault = find_fault(text, &filter);
    struct hrun_time_match *p;

    if (fault) {
        hrun_fail(err, HRUN_EINVAL, "the regular expression '%.60s' cannot be used: %s", text, fault);
        return NULL;
    }
    p = xmalloc(sizeof *p);
    if (!compile_regex(&p->re, text, text, 0, err)) {
        if (p->re.re_nsub < 1)
            hrun_fail(err, HRUN_EINVAL, "'%.60s' has no group: put the part that is the time in seconds in parentheses",
                      text);
        else if (!compile_regex(&p->filter, text, filter.data, REG_NOSUB, err))
            return p;
        regfree(&p->re);
    }
    free(p);
    return NULL;
}

int hrun_time_match_test(const struct hrun_time_match *p, const char *line)
{
    int rc = regexec(&p->filter, line, 0, NULL, 0);

    if (rc == REG_ESPACE)
        hrun_out_of_memory();
    return !rc;
}

int hrun_time_match_find(const struct hrun_time_match *p, const char *line, const char **group, size_t *len)
{
    regmatch_t match[2];
    int rc = regexec(&p->re, line, 2, match, 0);

    if (rc == REG_ESPACE)
        hrun_out_of_memory();
    if (rc || match[1].rm_so < 0)
        return 0;
    *group = line + match[1].rm_so;
    *len = (size_t)(match[1].rm_eo - match[1].rm_so);
    return 1;
}

void hrun_time_match_destroy(struct hrun_time_match *p)
{
    if (!p)
        return;
    regfree(&p->re);
    regfree(&p->filter);
    free(p);
}
