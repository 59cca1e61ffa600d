/* lazy.c - checks and rewriting before compilation; see lazy.h for the contracts */
#include "expr/lazy.h"

#include "expr/expr.h"

#include <ctype.h>
#include <string.h>

/* Deeper nesting than this is no rule that anyone wrote; it bounds the recursion of rewrite(). */
enum { MAX_DEPTH = 200 };

static int fail(struct hrun_error *err, size_t pos, const char *what)
{
    return hrun_fail_at(err, HRUN_EPARSE, NULL, 0, (int)pos + 1, "%s", what);
}

/* An open parenthesis during the scan. */
struct open {
    int pos;
    int call;      /* the parenthesis of a function's arguments */
    int choices;   /* '?' still without their ':' */
    int question;  /* place of the last such '?' */
};

static int is_call(const char *text, size_t pos)
{
    while (pos > 0 && isspace((unsigned char)text[pos - 1]))
        pos--;
    return pos > 0 && (isalnum((unsigned char)text[pos - 1]) || text[pos - 1] == '_');
}

/* Two-character operators count as one; a lone = & | is refused. Result: length of the operator at s, 0 when
 * there is none, -1 with *why. */
static int operator_length(const char *s, const char **why)
{
    if (strchr("<>!=", *s) && s[1] == '=')
        return 2;
    if ((*s == '&' || *s == '|') && s[1] == *s)
        return 2;
    if (*s == '=')
        *why = "'=' cannot assign here; write '==' to compare";
    else if (*s == '&')
        *why = "unexpected '&'; 'and' is written '&&'";
    else if (*s == '|')
        *why = "unexpected '|'; 'or' is written '||'";
    else
        return strchr("+-*/^%<>!", *s) ? 1 : 0;
    return -1;
}

int hrun_expr_scan(const char *text, struct hrun_error *err)
{
    struct open stack[MAX_DEPTH + 1] = { { -1, 0, 0, 0 } };
    struct open *top = stack;
    const char *why;
    int len;

    for (size_t i = 0; text[i]; i += (size_t)len) {
        unsigned char c = (unsigned char)text[i];

        len = operator_length(text + i, &why);
        if (len < 0)
            return fail(err, i, why);
        if (len > 0)
            continue;
        len = 1;
        if (c == '(') {
            if (top == stack + MAX_DEPTH)
                return fail(err, i, "parentheses are nested too deeply");
            *++top = (struct open){ (int)i, is_call(text, i), 0, 0 };
        } else if (c == '?') {
            top->choices++;
            top->question = (int)i;
        } else if (c == ':') {
            if (top->choices-- == 0)
                return fail(err, i, "':' without a '?' before it");
        } else if (c == ')' || c == ',') {
            if (top == stack && c == ')')
                return fail(err, i, "')' without a '(' before it");
            if (!top->call && c == ',')
                return fail(err, i, "unexpected ','; only a function's arguments are separated by commas");
            if (top->choices)
                return fail(err, (size_t)top->question, "'?' without a ':' after it; write 'c ? a : b'");
            if (c == ')')
                top--;
        } else if (!isalnum(c) && !strchr("_. \t\r\n", c)) {
            if (c < 0x20 || c >= 0x7f)
                return fail(err, i, "unexpected character");
            return hrun_fail_at(err, HRUN_EPARSE, NULL, 0, (int)i + 1, "unexpected character '%c'", c);
        }
    }
    if (top != stack)
        return fail(err, (size_t)top->pos, "'(' without a ')' after it");
    if (top->choices)
        return fail(err, (size_t)top->question, "'?' without a ':' after it; write 'c ? a : b'");
    return 0;
}

struct rewriter {
    struct hrun_buf *out;
    struct hrun_strvec *numbers;
};

/* The end of what begins at s and counts as one when operators are looked for: a parenthesis with all that is
 * in it, or one character. */
static const char *skip(const char *s)
{
    int depth = 0;

    do {
        depth += *s == '(' ? 1 : *s == ')' ? -1 : 0;
        s++;
    } while (depth > 0);
    return s;
}

/* The first place in [s, end) outside parentheses where one of the characters in `set` stands (twice in a
 * row, if twice is set), or end. */
static const char *find(const char *s, const char *end, const char *set, int twice)
{
    while (s < end && !(strchr(set, *s) && (!twice || (s + 1 < end && s[1] == *s))))
        s = skip(s);
    return s;
}

int hrun_expr_is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The length of the number that begins at s, or 0: digits with a point, and an exponent. */
static size_t number_length(const char *s)
{
    size_t n = strspn(s, "0123456789."), sign;

    if (strspn(s, ".") == n)
        return 0;
    if (s[n] == 'e' || s[n] == 'E') {
        sign = s[n + 1] == '+' || s[n + 1] == '-';
        if (isdigit((unsigned char)s[n + 1 + sign]))
            n += 1 + sign + strspn(s + n + 1 + sign, "0123456789");
    }
    return n;
}

static void rewrite_list(struct rewriter *r, const char *s, const char *end);

/* The end of what begins at s and binds more than a sign does: a number, a name, a call or parentheses, with
 * its exponents. */
static const char *operand_end(const char *s, const char *end)
{
    size_t len;

    for (;;) {
        while (s < end && (isspace((unsigned char)*s) || strchr("+-!", *s)))
            s++;
        len = number_length(s);
        s += len;
        while (len == 0 && s < end && hrun_expr_is_word(*s))
            s++;
        while (s < end && isspace((unsigned char)*s))
            s++;
        if (s < end && *s == '(')
            s = skip(s);
        while (s < end && isspace((unsigned char)*s))
            s++;
        if (s >= end || *s != '^')
            return s;
        s++;
    }
}

/* A number, which begins at s: by name, but for an exponent (muParser is quick with N^2 and N^3). */
static void rewrite_number(struct rewriter *r, const char *begin, const char *s, size_t len)
{
    const char *before = s;

    while (before > begin && isspace((unsigned char)before[-1]))
        before--;
    if (!r->numbers || (before > begin && before[-1] == '^')) {
        hrun_buf_add(r->out, s, len);
        return;
    }
    hrun_buf_addf(r->out, "__%zu", r->numbers->n);
    if (hrun_strvec_pushf(r->numbers, "%.*s", (int)len, s))
        r->out->failed = 1;
}

/* [s, end) without && and || outside parentheses. */
static void rewrite_plain(struct rewriter *r, const char *s, const char *end)
{
    const char *begin = s;

    while (s < end) {
        const char *next = skip(s);
        size_t len = number_length(s);

        if (*s == '(') {
            hrun_buf_addc(r->out, '(');
            rewrite_list(r, s + 1, next - 1);
            hrun_buf_addc(r->out, ')');
        } else if (*s == '!' && s[1] != '=') {
            next = operand_end(s + 1, end);
            hrun_buf_adds(r->out, "((");
            rewrite_plain(r, s + 1, next);
            hrun_buf_adds(r->out, ")==0)");
        } else if (*s == '!') {
            next = s + 2;
            hrun_buf_adds(r->out, "!=");
        } else if (len > 0) {
            rewrite_number(r, begin, s, len);
            next = s + len;
        } else if (hrun_expr_is_word(*s)) {
            while (hrun_expr_is_word(*next))
                next++;
            hrun_buf_add(r->out, s, (size_t)(next - s));
        } else {
            hrun_buf_addc(r->out, isspace((unsigned char)*s) ? ' ' : *s);
        }
        s = next;
    }
}

/* A chain of one operator, "||" or, inside its parts, "&&". */
static void rewrite_chain(struct rewriter *r, const char *s, const char *end, char op)
{
    const char set[2] = { op, 0 };
    const char *part = find(s, end, set, 1);
    size_t open = 0;
    int chain = part < end;

    for (;; part = find(s, end, set, 1)) {
        hrun_buf_adds(r->out, chain ? "((" : "");
        if (op == '|')
            rewrite_chain(r, s, part, '&');
        else
            rewrite_plain(r, s, part);
        if (part == end)
            break;
        hrun_buf_adds(r->out, op == '|' ? ")?1:" : ")?");
        open++;
        s = part + 2;
    }
    hrun_buf_adds(r->out, chain ? ")!=0)" : "");
    while (open-- > 0)
        hrun_buf_adds(r->out, op == '|' ? ")" : ":0)");
}

/* Arguments and choices: parts between , ? and : are independent of each other. */
static void rewrite_list(struct rewriter *r, const char *s, const char *end)
{
    for (;;) {
        const char *part = find(s, end, ",?:", 0);

        rewrite_chain(r, s, part, '|');
        if (part == end)
            return;
        hrun_buf_addc(r->out, *part);
        s = part + 1;
    }
}

int hrun_expr_rewrite(const char *text, struct hrun_buf *out, struct hrun_strvec *numbers)
{
    struct rewriter r = { out, numbers };

    rewrite_list(&r, text, text + strlen(text));
    return out->failed ? -1 : 0;
}
