/* config.c - configurations: sums, order, text form; see config.h */
#include "base/config.h"

#include "base/units.h"

#include <ctype.h>
#include <stdio.h>
#include <limits.h>

int hrun_config_processes(const struct hrun_config *c)
{
    int P = 0;

    for (int i = 0; i < c->nsubs; i++)
        P += c->pes[i] * c->procs[i];
    return P;
}

int hrun_config_all_pes(const struct hrun_config *c)
{
    int pes = 0;

    for (int i = 0; i < c->nsubs; i++)
        pes += c->pes[i];
    return pes;
}

struct hrun_config hrun_config_alone(int nsubs, int sub, int pes, int procs)
{
    struct hrun_config c = { .nsubs = nsubs };

    c.pes[sub] = pes;
    c.procs[sub] = procs;
    return c;
}

int hrun_config_order(const struct hrun_config *a, const struct hrun_config *b)
{
    for (int i = 0; i < a->nsubs; i++) {
        if (a->pes[i] != b->pes[i])
            return a->pes[i] < b->pes[i] ? -1 : 1;
        if (a->procs[i] != b->procs[i])
            return a->procs[i] < b->procs[i] ? -1 : 1;
    }
    return 0;
}

int hrun_config_equal(const struct hrun_config *a, const struct hrun_config *b)
{
    return !hrun_config_order(a, b);
}

struct hrun_config_text hrun_config_text(const struct hrun_config *c)
{
    struct hrun_config_text t = { "(" };
    size_t len = 1;

    for (int i = 0; i < c->nsubs; i++)
        len += (size_t)snprintf(t.s + len, sizeof t.s - len, "%s%d,%d", i ? "," : "", c->pes[i], c->procs[i]);
    snprintf(t.s + len, sizeof t.s - len, ")");
    return t;
}

static const char *after_blanks(const char *at)
{
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

static int fail_config_text(struct hrun_error *err, const char *text, const char *at, int nsubs, const char *what)
{
    int column = (int)(at - text) + 1;
    char found[16] = "the end";

    if (*at) {
        found[0] = found[2] = '\'';
        found[1] = *at;
        found[3] = 0;
    }
    return hrun_fail_at(err, HRUN_EPARSE, NULL, 0, column, "configuration \"%s\", column %d: expected %s, found %s; it "
                        "needs %d numbers, the PEs used and the processes on each for %s, such as (4,1%s)", text,
                        column, what, found, 2 * nsubs, hrun_counted(nsubs, "sub-cluster").s, nsubs > 1 ? ",0,0" : "");
}

int hrun_config_parse(const char *text, int nsubs, struct hrun_config *out, struct hrun_error *err)
{
    const char *at = after_blanks(text);
    int open = *at == '(';

    if (nsubs > HRUN_SUBS_MAX)
        return hrun_fail(err, HRUN_EPARSE, "%d sub-clusters: a configuration has at most %d", nsubs, HRUN_SUBS_MAX);
    at = after_blanks(at + open);
    for (int k = 0; k < 2 * nsubs; k++) {
        const char *start;
        long number = 0;
        if (k > 0 && *at != ',') {
            int in_number = !*at && isdigit((unsigned char)at[-1]);

            return fail_config_text(err, text, at, nsubs, in_number ? "',' or a digit" : "','");
        }
        at = after_blanks(at + (k > 0));
        for (start = at; isdigit((unsigned char)*at) && number <= INT_MAX; at++)
            number = 10 * number + (*at - '0');
        if (at == start || number > INT_MAX)
            return fail_config_text(err, text, start, nsubs,
                                    at == start ? "a whole number" : "a number of at most 2147483647");
        *(k % 2 ? &out->procs[k / 2] : &out->pes[k / 2]) = (int)number;
        at = after_blanks(at);
    }
    if (open && *at != ')')
        return fail_config_text(err, text, at, nsubs, "')'");
    at = after_blanks(at + open);
    if (*at)
        return fail_config_text(err, text, at, nsubs, "the end");
    out->nsubs = nsubs;
    return 0;
}
