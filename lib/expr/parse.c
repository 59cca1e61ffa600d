/* parse.c - compile text to code by precedence climbing; see internal.h for the contracts
 *
 * A text is read twice. First check_brackets() checks characters, brackets and choices. Then parse_choice() and its
 * helpers read operands and operators, and append code. They compute operations on plain numbers at once.
 */
#include "expr/internal.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/list.h"
#include "base/units.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Limit of nested parentheses, and thus of the recursion. */
enum { MAX_DEPTH = 200 };

struct parser {
    struct hrun_expr *e;
    const struct hrun_expr_scope *scope;
    const char *inside;         /* function whose argument the text is: a call is an error; NULL: none */
    const char *at;             /* next character to read */
    int depth;                  /* length of the stack after the code so far */
    struct hrun_error *err;
};

/* Properties of an operand whose code has been appended. */
struct operand {
    int plain;                  /* 1: a number; its code is one OP_NUMBER */
    int calls;                  /* number of calls in it */
    int scaled;                 /* 1: one call, perhaps times or over operands without calls */
    int negated;                /* 1: has a '-' sign or a '!' outside of arguments */
};

static int is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static const char *skip_blanks(const char *s)
{
    while (isspace((unsigned char)*s))
        s++;
    return s;
}

__attribute__((format(printf, 3, 4)))
static int fail_expr_at(const struct parser *p, const char *at, const char *fmt, ...)
{
    char what[HRUN_ERROR_TEXT];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    return hrun_fail_at(p->err, HRUN_EPARSE, NULL, 0, (int)(at - p->e->text) + 1, "%s", what);
}

/* ------------------------------------------------------------------ brackets */

/* An open parenthesis. */
struct open_bracket {
    const char *at;
    int call;                   /* 1: it opens the arguments of a function */
    int choices;                /* number of '?' whose ':' is still missing */
    const char *question;       /* the last '?' so far */
};

/* Report a character that is not ASCII, as in formulas copied from documents. */
static int fail_not_ascii(const struct parser *p, const char *at)
{
    static const struct { const char *character, *write; } known[] = {
        { "²", "'^2'" }, { "³", "'^3'" }, { "·", "'*'" }, { "×", "'*'" }, { "÷", "'/'" }, { "−", "'-'" },
        { "–", "'-'" }, { "≤", "'<='" }, { "≥", "'>='" }, { "≠", "'!='" }, { "√", "'sqrt(...)'" },
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strncmp(at, known[i].character, strlen(known[i].character)))
            return fail_expr_at(p, at, "unexpected '%s'; write %s", known[i].character, known[i].write);
    return fail_expr_at(p, at, "unexpected character");
}

static const char NO_COLON[] = "'?' without a ':' after it; write 'c ? a : b'";

static int is_call(const char *text, const char *at)
{
    while (at > text && isspace((unsigned char)at[-1]))
        at--;
    return at > text && is_word_char(at[-1]);
}

/* Check that parentheses and choices are closed and that all characters belong to the language. */
static int check_brackets(const struct parser *p)
{
    struct open_bracket stack[MAX_DEPTH + 1] = { { NULL, 0, 0, NULL } }, *top = stack;

    for (const char *s = p->e->text; *s; s++) {
        if (*s == '(') {
            if (top == stack + MAX_DEPTH)
                return fail_expr_at(p, s, "parentheses are nested too deeply");
            *++top = (struct open_bracket){ s, is_call(p->e->text, s), 0, NULL };
        } else if (*s == '?') {
            top->choices++;
            top->question = s;
        } else if (*s == ':') {
            if (top->choices-- == 0)
                return fail_expr_at(p, s, "':' without a '?' before it");
        } else if (*s == ')' || *s == ',') {
            if (top == stack && *s == ')')
                return fail_expr_at(p, s, "')' without a '(' before it");
            if (!top->call && *s == ',')
                return fail_expr_at(p, s, "unexpected ','; only a function's arguments are separated by commas");
            if (top->choices)
                return fail_expr_at(p, top->question, NO_COLON);
            top -= *s == ')';
        } else if (!is_word_char(*s) && !strchr("+-*/^%<>!=&|. \t\r\n", *s)) {
            if (*s < 0x20 || *s >= 0x7f)
                return fail_not_ascii(p, s);
            return fail_expr_at(p, s, "unexpected character '%c'", *s);
        }
    }
    if (top != stack)
        return fail_expr_at(p, top->at, "'(' without a ')' after it");
    return top->choices ? fail_expr_at(p, top->question, NO_COLON) : 0;
}

/* ------------------------------------------------------------------ messages */

/* The length of the word or the character at s. */
static int token_length(const char *s)
{
    int n = 0;

    while (is_word_char(s[n]))
        n++;
    return n ? n : *s != 0;
}

static int fail_token(const struct parser *p, const char *at, const char *before)
{
    return fail_expr_at(p, at, "%s'%.*s'", before, token_length(at), at);
}

/* Report a single '=', '&' or '|'. */
static int fail_single(const struct parser *p)
{
    if (*p->at == '=')
        return fail_expr_at(p, p->at, "'=' cannot assign here; write '==' to compare");
    return fail_expr_at(p, p->at, *p->at == '&' ? "unexpected '&'; 'and' is written '&&'"
                                           : "unexpected '|'; 'or' is written '||'");
}

static int is_single(const char *s)
{
    return *s && strchr("=&|", *s) && s[1] != *s;
}

/* Report a missing operand. */
static int fail_no_operand(const struct parser *p)
{
    const char *end = p->e->text + strlen(p->e->text);

    if (*p->at == '*' && p->at > p->e->text && p->at[-1] == '*')
        return fail_expr_at(p, p->at - 1, "unexpected '**'; a power is written '^'");
    if (*p->at)
        return is_single(p->at) ? fail_single(p) : fail_token(p, p->at, "unexpected ");
    while (isspace((unsigned char)end[-1]))
        end--;
    return fail_expr_at(p, end, "the expression ends where a value is expected");
}

/* Report text where an operator or the end should be. */
static int fail_no_operator(const struct parser *p)
{
    static const struct { const char *word, *write; } words[] = { { "and", "&&" }, { "or", "||" }, { "mod", "%" } };

    if (is_single(p->at))
        return fail_single(p);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (token_length(p->at) == (int)strlen(words[i].word) &&
            !strncasecmp(p->at, words[i].word, strlen(words[i].word)))
            return fail_expr_at(p, p->at, "unexpected '%s'; it is written '%s'", words[i].word, words[i].write);
    return fail_token(p, p->at, is_word_char(*p->at) || *p->at == '.' || *p->at == '('
                      ? "an operator is missing before " : "unexpected ");
}

/* Report an unknown word at s. */
static int fail_unknown_name(const struct parser *p, const char *s)
{
    const struct hrun_expr_scope *scope = p->scope;
    int len = token_length(s), call = *skip_blanks(s + len) == '(', n = 0;
    size_t most = (size_t)(scope->nvars + scope->nconsts + hrun_functions_n + scope->nfunctions);
    autofree const char **names = xcalloc(most + 1, sizeof *names);
    autofree char *word = xstrndup(s, (size_t)len);
    autorelease(hrun_buf_release) struct hrun_buf list = HRUN_BUF_INIT;
    const char *hint = NULL;

    for (int i = 0; call && i < hrun_functions_n; i++)
        names[n++] = hrun_functions[i].name;
    for (int i = 0; call && i < scope->nfunctions; i++)
        names[n++] = scope->functions[i].name;
    for (int i = 0; !call && i < scope->nvars; i++)
        names[n++] = scope->vars[i];
    for (int i = 0; !call && i < scope->nconsts; i++)
        names[n++] = scope->consts[i].name;
    for (int i = 0; i < n; i++)
        hrun_buf_addf(&list, "%s%s", i ? ", " : "", names[i]);
    for (int i = 0; i < n && !hint; i++)
        hint = strcasecmp(word, names[i]) ? NULL : names[i];
    hint = hint ? hint : hrun_nearest(word, names, (size_t)n);
    return fail_expr_at(p, s,
                        "unknown %s '%s'%s%s%s (known: %s)", call ? "function" : "variable", word,
                        hint ? ", did you mean '" : "", hint ? hint : "", hint ? "'?" : "", n ? list.data : "none");
}

/* ------------------------------------------------------------------ code */

static struct op *append_op(struct parser *p, enum opcode code, int arg)
{
    struct op *op = &p->e->ops[p->e->nops++];

    *op = (struct op){ .code = (short)code, .count = 1, .arg = arg };
    return op;
}

/* Append an operation that pushes a number. */
static struct op *append_push_op(struct parser *p, enum opcode code, int arg)
{
    if (++p->depth > p->e->depth)
        p->e->depth = p->depth;
    return append_op(p, code, arg);
}

/* Append an operation on `count` operands, or compute it if plain is 1. at: its position in the text. */
static int append_operation(struct parser *p, enum opcode code, int arg, int count, int plain, const char *at)
{
    struct hrun_expr *e = p->e;
    autofree double *stack = NULL;
    const char *why;
    double value;

    append_op(p, code, arg)->count = (short)count;
    p->depth -= count - 1;
    if (!plain)
        return 0;
    stack = xcalloc((size_t)count, sizeof *stack);
    e->nops -= count + 1;
    hrun_expr_flags();
    value = hrun_expr_run(e->ops + e->nops, count + 1, NULL, NULL, stack);
    why = hrun_expr_flags();
    append_op(p, OP_NUMBER, 0)->number = value;
    return why ? fail_expr_at(p, at, "'%s' %s, whatever the variables are", e->text, why) : 0;
}

/* ------------------------------------------------------------------ operands */

static int parse_choice(struct parser *p, struct operand *out);

static int parse_number(struct parser *p, struct operand *out)
{
    const char *s = p->at, *end = s + strspn(s, "0123456789");
    autofree char *text = NULL;
    double number;

    end += *end == '.';
    end += end[-1] == '.' ? strspn(end, "0123456789") : 0;
    if (tolower((unsigned char)*end) == 'e') {
        const char *exponent = end + 1 + (end[1] == '+' || end[1] == '-');

        end = isdigit((unsigned char)*exponent) ? exponent + strspn(exponent, "0123456789") : end + 1;
    }
    text = xstrndup(s, (size_t)(end - s));
    if (hrun_parse_number("expression", text, &number, NULL))
        return fail_expr_at(p, s, "'%s' is not a number", text);
    append_push_op(p, OP_NUMBER, 0)->number = number;
    *out = (struct operand){ .plain = 1 };
    p->at = end;
    return 0;
}

/* Parse the arguments of a function of the language, after its '('. */
static int parse_arguments(struct parser *p, int function, const char *name, struct operand *out)
{
    const struct hrun_function *f = &hrun_functions[function];
    int n = 0, plain = 1, calls = 0;

    if (*(p->at = skip_blanks(p->at)) != ')')
        do {
            struct operand one;

            p->at += n > 0;
            if (parse_choice(p, &one))
                return -1;
            plain &= one.plain;
            calls += one.calls;
            n++;
        } while (*p->at == ',');
    if (*p->at != ')')
        return fail_no_operator(p);
    if (!n || (f->one && n > 1))
        return fail_expr_at(p, name, "too %s arguments for '%s'", n ? "many" : "few", f->name);
    p->at++;
    *out = (struct operand){ .plain = plain, .calls = calls };
    return append_operation(p, f->one ? OP_ONE : OP_MANY, function, n, plain, name);
}

/* The ')' that closes the '(' at s. *commas: number of commas between its arguments. */
static const char *find_closing(const char *s, int *commas)
{
    int depth = 0;

    for (*commas = 0;; s++) {
        depth += *s == '(' ? 1 : *s == ')' ? -1 : 0;
        *commas += *s == ',' && depth == 1;
        if (!depth)
            return s;
    }
}

/* Parse a call of the caller's function f, whose name is at p->at. Its argument is compiled separately. */
static int parse_call(struct parser *p, int f, struct operand *out)
{
    const struct hrun_expr_function *function = &p->scope->functions[f];
    struct expr_call *call = &p->e->calls[p->e->ncalls];
    const char *name = p->at, *open = strchr(name, '('), *end, *start = skip_blanks(open + 1);
    struct hrun_error inner;
    int commas;
    autofree char *text = NULL;

    end = find_closing(open, &commas);
    if (p->inside)
        return fail_expr_at(p, name, "'%s' cannot stand in the argument of '%s'", function->name, p->inside);
    if (p->e->ncalls == HRUN_EXPR_CALLS_MAX)
        return fail_expr_at(p, name, "more than %d calls of functions such as %s", HRUN_EXPR_CALLS_MAX, function->name);
    if (!function->arguments && start < end)
        return fail_expr_at(p, name, "too many arguments for '%s': write %s()", function->name, function->name);
    if (function->arguments && (start == end || commas))
        return fail_expr_at(p, name, "too %s arguments for '%s'", start == end ? "few" : "many", function->name);
    *call = (struct expr_call){ f, (int)(name - p->e->text) + 1, NULL };
    append_push_op(p, OP_CALLED, p->e->ncalls++);
    p->at = end + 1;
    *out = (struct operand){ .calls = 1, .scaled = 1 };
    if (start == end)
        return 0;
    text = xstrndup(open + 1, (size_t)(end - open - 1));
    call->argument = hrun_expr_create(text, p->scope, function->name, &inner);
    if (!call->argument)
        return fail_expr_at(p, open + inner.column, "%s", inner.text);
    for (int v = 0; v < p->e->nvars; v++)
        p->e->used[v] |= call->argument->used[v];
    return 0;
}

/* Compile constant c, unless it is a number or compiled already. s: where the text uses it. */
static int parse_derived(struct parser *p, int c, const char *s)
{
    struct hrun_expr *e = p->e;
    const struct hrun_const *is = &p->scope->consts[c];
    struct hrun_error inner;

    if (!is->is || e->derived[c])
        return 0;
    e->derived[c] = hrun_expr_compile(is->is, p->scope->vars, e->nvars, p->scope->consts, c, &inner);
    if (!e->derived[c])
        return fail_expr_at(p, s, "'%s' is '%s', which has no value here: %s", is->name, is->is, inner.text);
    e->nderived++;
    for (int v = 0; v < e->nvars; v++)
        e->used[v] |= e->derived[c]->used[v];
    return 0;
}

static int is_name_at(const char *s, int len, const char *name)
{
    return (int)strlen(name) == len && !strncmp(s, name, (size_t)len);
}

static int parse_word(struct parser *p, struct operand *out)
{
    const char *s = p->at, *after;
    const struct hrun_expr_scope *scope = p->scope;
    int len = token_length(s), value = -1, function = -1, own = -1;

    after = skip_blanks(s + len);
    for (int i = 0; i < scope->nvars; i++)
        value = is_name_at(s, len, scope->vars[i]) ? i : value;
    for (int c = 0; c < scope->nconsts; c++)
        value = is_name_at(s, len, scope->consts[c].name) ? scope->nvars + c : value;
    for (int i = 0; i < hrun_functions_n; i++)
        function = is_name_at(s, len, hrun_functions[i].name) ? i : function;
    for (int i = 0; i < scope->nfunctions; i++)
        own = is_name_at(s, len, scope->functions[i].name) ? i : own;
    if ((function >= 0 || (own >= 0 && value < 0)) && *after != '(')
        return fail_expr_at(p, s, "function '%.*s' needs its arguments in parentheses", len, s);
    if (own >= 0 && *after == '(')
        return parse_call(p, own, out);
    if (function >= 0) {
        p->at = after + 1;
        return parse_arguments(p, function, s, out);
    }
    if (value < 0)
        return fail_unknown_name(p, s);
    if (*after == '(')
        return fail_expr_at(p, s, "'%.*s' is not a function", len, s);
    p->at = s + len;
    append_push_op(p, OP_VALUE, value);
    *out = (struct operand){ 0 };
    if (value >= scope->nvars)
        return parse_derived(p, value - scope->nvars, s);
    p->e->used[value] = 1;
    return 0;
}

static int parse_operand(struct parser *p, struct operand *out)
{
    p->at = skip_blanks(p->at);
    if (isdigit((unsigned char)*p->at) || *p->at == '.')
        return parse_number(p, out);
    if (is_word_char(*p->at))
        return parse_word(p, out);
    if (*p->at != '(')
        return fail_no_operand(p);
    p->at++;
    if (parse_choice(p, out))
        return -1;
    if (*p->at != ')')
        return fail_no_operator(p);
    p->at++;
    return 0;
}

/* ------------------------------------------------------------------ operators */

enum level { LEVEL_OR = 1, LEVEL_AND, LEVEL_COMPARE, LEVEL_ADD, LEVEL_MULTIPLY, LEVEL_SIGN, LEVEL_POWER };

static const struct operator {
    char text[3];
    enum level level;
    enum opcode code;           /* not used for || and && */
} operators[] = {               /* an operator precedes its prefixes: "<=" before "<" */
    { "||", LEVEL_OR, OP_JUMP_IF_0 }, { "&&", LEVEL_AND, OP_JUMP_IF_0 },
    { "==", LEVEL_COMPARE, OP_EQUAL }, { "!=", LEVEL_COMPARE, OP_NOT_EQUAL },
    { "<=", LEVEL_COMPARE, OP_LESS_EQUAL }, { ">=", LEVEL_COMPARE, OP_GREATER_EQUAL },
    { "<", LEVEL_COMPARE, OP_LESS }, { ">", LEVEL_COMPARE, OP_GREATER },
    { "+", LEVEL_ADD, OP_ADD }, { "-", LEVEL_ADD, OP_SUBTRACT },
    { "*", LEVEL_MULTIPLY, OP_MULTIPLY }, { "/", LEVEL_MULTIPLY, OP_DIVIDE }, { "%", LEVEL_MULTIPLY, OP_REMAINDER },
    { "^", LEVEL_POWER, OP_POWER },
};

static const struct operator *operator_at(const char *s)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (!strncmp(s, operators[i].text, strlen(operators[i].text)))
            return &operators[i];
    return NULL;
}

static int parse_level(struct parser *p, enum level level, struct operand *out);

/* Parse an operand with its exponents, and a sign or ! before it. */
static int parse_signed(struct parser *p, struct operand *out)
{
    const char *at = skip_blanks(p->at);
    char sign = *at;

    if (sign != '-' && sign != '+' && sign != '!')
        return parse_level(p, LEVEL_POWER, out);
    p->at = at + 1;
    if (parse_level(p, LEVEL_POWER, out))
        return -1;
    if (sign == '+')
        return 0;
    out->scaled = 0;
    out->negated = 1;
    return append_operation(p, sign == '-' ? OP_NEGATE : OP_NOT, 0, 1, out->plain, at);
}

/* Parse the right side of && or ||, after the code of the left side. The code skips the right side if the left side
 * decides. */
static int parse_lazy(struct parser *p, enum level level, struct operand *left)
{
    struct operand right;
    int skip = p->e->nops, end = 0;

    append_op(p, OP_JUMP_IF_0, 0);
    p->depth--;
    if (level == LEVEL_OR) {        /* a != 0: 1, else the right side */
        append_op(p, OP_NUMBER, 0)->number = 1;
        end = p->e->nops;
        append_op(p, OP_JUMP, 0);
        p->e->ops[skip].arg = p->e->nops;
    }
    if (parse_level(p, (enum level)(level + 1), &right))
        return -1;
    append_op(p, OP_TRUTH, 0);
    if (level == LEVEL_AND) {       /* a == 0: 0 */
        end = p->e->nops;
        append_op(p, OP_JUMP, 0);
        p->e->ops[skip].arg = p->e->nops;
        append_op(p, OP_NUMBER, 0);
    }
    p->e->ops[end].arg = p->e->nops;
    *left = (struct operand){ .calls = left->calls + right.calls };
    return 0;
}

/* Append a power; the frequent x^2 and x^3 are computed as products. */
static int append_power(struct parser *p, int plain_right, int plain, const char *at)
{
    struct hrun_expr *e = p->e;
    double exponent = plain_right ? e->ops[e->nops - 1].number : 0;

    if (plain || (exponent != 2 && exponent != 3))
        return append_operation(p, OP_POWER, 0, 2, plain, at);
    e->nops--;
    p->depth--;
    append_op(p, exponent == 2 ? OP_SQUARE : OP_CUBE, 0);
    return 0;
}

/* Parse the right side of operator o, which is at `at`, and append the operation. */
static int parse_right(struct parser *p, const struct operator *o, const char *at, struct operand *left)
{
    struct operand right;
    int plain, negated, times = o->code == OP_MULTIPLY;

    if (o->level == LEVEL_POWER ? parse_signed(p, &right) : parse_level(p, (enum level)(o->level + 1), &right))
        return -1;
    plain = left->plain && right.plain;
    negated = left->negated || right.negated;
    *left = (struct operand){
        .plain = plain, .calls = left->calls + right.calls, .negated = negated,
        .scaled = !negated && ((left->scaled && !right.calls && (times || o->code == OP_DIVIDE)) ||
                               (right.scaled && !left->calls && times))
    };
    return o->code == OP_POWER ? append_power(p, right.plain, plain, at)
                               : append_operation(p, o->code, 0, 2, plain, at);
}

/* Parse operators of this level and higher ones. Operators of one level associate to the left, except ^. */
static int parse_level(struct parser *p, enum level level, struct operand *out)
{
    const struct operator *o;
    int rc = level > LEVEL_SIGN ? parse_operand(p, out) : parse_signed(p, out);

    while (!rc && (p->at = skip_blanks(p->at), o = operator_at(p->at)) && o->level >= level) {
        const char *at = p->at;

        p->at += strlen(o->text);
        rc = o->level <= LEVEL_AND ? parse_lazy(p, o->level, out) : parse_right(p, o, at, out);
    }
    return rc;
}

/* Parse an expression of any level, including c ? a : b. */
static int parse_choice(struct parser *p, struct operand *out)
{
    struct operand yes, no;
    int skip, end;

    if (parse_level(p, LEVEL_OR, out))
        return -1;
    if (*p->at != '?')
        return 0;
    p->at++;
    skip = p->e->nops;
    append_op(p, OP_JUMP_IF_0, 0);
    p->depth--;
    if (parse_choice(p, &yes))
        return -1;
    if (*p->at != ':')
        return fail_no_operator(p);
    p->at++;
    end = p->e->nops;
    append_op(p, OP_JUMP, 0);
    p->e->ops[skip].arg = p->e->nops;
    p->depth--;
    if (parse_choice(p, &no))
        return -1;
    p->e->ops[end].arg = p->e->nops;
    *out = (struct operand){ .calls = out->calls + yes.calls + no.calls };
    return 0;
}

int hrun_expr_parse(struct hrun_expr *e, const struct hrun_expr_scope *scope, const char *inside,
                    struct hrun_error *err)
{
    struct parser p = { .e = e, .scope = scope, .inside = inside, .at = e->text, .err = err };
    struct operand whole;

    if (check_brackets(&p) || parse_choice(&p, &whole))
        return -1;
    if (*p.at)
        return fail_no_operator(&p);
    e->is_scaled_call = whole.scaled;
    return 0;
}
