/* config.c - one configuration: its text form and its evaluation; see plan.h for the contracts */
#include "plan/internal.h"

#include "base/alloc.h"
#include "base/units.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void hrun_choice_release(struct hrun_choice *c)
{
    if (!c)
        return;
    free(c->pes);
    free(c->procs);
    c->pes = c->procs = NULL;
}

void hrun_config_print(const int *pes, const int *procs, int nsubs, struct hrun_buf *out)
{
    hrun_buf_addc(out, '(');
    for (int i = 0; i < nsubs; i++)
        hrun_buf_addf(out, "%s%d,%d", i ? "," : "", pes[i], procs[i]);
    hrun_buf_addc(out, ')');
}

static const char *blanks(const char *at)
{
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

static int fail_text(struct hrun_error *err, const char *text, const char *at, int nsubs, const char *what)
{
    int column = (int)(at - text) + 1;
    char found[16] = "the end";

    if (*at) {
        found[0] = found[2] = '\'';
        found[1] = *at;
        found[3] = 0;
    }
    return hrun_fail_at(err, HRUN_EPARSE, NULL, 0, column, "configuration \"%s\", column %d: expected %s, "
                        "found %s; it needs %d number%s, the PEs used and the processes on each for %d "
                        "sub-cluster%s, such as (4,1%s)", text, column, what, found, 2 * nsubs,
                        nsubs ? "s" : "", nsubs, nsubs == 1 ? "" : "s", nsubs > 1 ? ",0,0" : "");
}

int hrun_config_parse(const char *text, int nsubs, int *pes, int *procs, struct hrun_error *err)
{
    const char *at = blanks(text);
    int *value = xcalloc((size_t)nsubs * 2 + 1, sizeof *value), open = *at == '(', rc = -1;

    at = blanks(at + open);
    for (int k = 0; k < 2 * nsubs; k++) {
        const char *start;
        long number = 0;
        if (k > 0 && *at != ',') {
            int in_number = !*at && isdigit((unsigned char)at[-1]);
            fail_text(err, text, at, nsubs, in_number ? "',' or a digit" : "','");
            goto out;
        }
        at = blanks(at + (k > 0));
        for (start = at; isdigit((unsigned char)*at) && number <= INT_MAX; at++)
            number = 10 * number + (*at - '0');
        if (at == start || number > INT_MAX) {
            fail_text(err, text, start, nsubs, at == start ? "a whole number"
                                                           : "a number of at most 2147483647");
            goto out;
        }
        value[k] = (int)number;
        at = blanks(at);
    }
    if (open && *at != ')') {
        fail_text(err, text, at, nsubs, "')'");
        goto out;
    }
    at = blanks(at + open);
    if (*at) {
        fail_text(err, text, at, nsubs, "the end");
        goto out;
    }
    for (int i = 0; i < nsubs; i++) {
        pes[i] = value[2 * i];
        procs[i] = value[2 * i + 1];
    }
    rc = 0;
out:
    free(value);
    return rc;
}

/* Name every M of sub-cluster i: "1, 2, 4". */
static void add_procs(const struct plan_space *s, int i, struct hrun_buf *out)
{
    for (int o = s->first[i]; o < s->first[i + 1]; o++)
        hrun_buf_addf(out, "%s%d", o > s->first[i] ? ", " : "", s->oracle->options[o].m);
}

/* The form of a configuration: what can be said without the oracle's functions. *P becomes its processes. */
static int check_form(const struct plan_space *s, const int *pes, const int *procs, int *P,
                      struct hrun_error *err)
{
    struct hrun_buf known = HRUN_BUF_INIT;
    int sum = 0, rc = -1;

    for (int i = 0; i < s->nsubs; i++) {
        int o = s->first[i];
        if (pes[i] < 0 || procs[i] < 0) {
            hrun_fail(err, HRUN_EINVAL, "sub-cluster %d: %d PEs with %d processes: neither can be negative",
                      i + 1, pes[i], procs[i]);
            goto out;
        }
        if (pes[i] > s->subs[i].npes) {
            hrun_fail(err, HRUN_EINVAL, "sub-cluster %d has %d PEs, not %d", i + 1, s->subs[i].npes, pes[i]);
            goto out;
        }
        if ((pes[i] == 0) != (procs[i] == 0)) {
            hrun_fail(err, HRUN_EINVAL, "sub-cluster %d: Pi = %d with Mi = %d: either both are 0 or neither",
                      i + 1, pes[i], procs[i]);
            goto out;
        }
        if (pes[i] == 0)
            continue;
        while (o < s->first[i + 1] && s->oracle->options[o].m != procs[i])
            o++;
        if (o == s->first[i + 1]) {
            add_procs(s, i, &known);
            hrun_fail(err, HRUN_EINVAL, "sub-cluster %d has no model for %d process%s per PE (it has: %s)",
                      i + 1, procs[i], procs[i] == 1 ? "" : "es", o > s->first[i] ? known.data : "none");
            goto out;
        }
        sum += pes[i] * procs[i]; /* at most max_P */
    }
    if (sum == 0) {
        hrun_fail(err, HRUN_EINVAL, "the configuration uses no PE at all");
        goto out;
    }
    *P = sum;
    rc = 0;
out:
    hrun_buf_release(&known);
    return rc;
}

/* Mi processes of bytes each do not fit into a PE. */
static void fail_memory(struct hrun_error *err, const struct hrun_option *option, double bytes, double memory)
{
    struct hrun_buf each = HRUN_BUF_INIT, all = HRUN_BUF_INIT;

    hrun_add_bytes(&each, bytes);
    hrun_add_bytes(&all, memory);
    hrun_fail(err, HRUN_EINVAL, "sub-cluster %d: %d process%s of %s each do not fit into the %s of a PE; use more "
              "processes in all, fewer on each PE, or a smaller N", option->sub + 1, option->m,
              option->m == 1 ? "" : "es", each.data, all.data);
    hrun_buf_release(&each);
    hrun_buf_release(&all);
}

int hrun_plan_evaluate(const struct hrun_plan_problem *problem, const int *pes, const int *procs, int check,
                       struct hrun_choice *out, struct hrun_error *err)
{
    const struct hrun_oracle *oracle = problem->oracle;
    struct hrun_choice c = { 0 };
    struct plan_space s;
    double bytes = 0, *t = NULL;
    int rc = -1, rule, P;

    if (plan_space_init(&s, problem, 0, err) || check_form(&s, pes, procs, &P, err))
        goto out;
    if (check && problem->P && P != problem->P) {
        hrun_fail(err, HRUN_EINVAL, "the configuration has %d process%s, not %d", P, P == 1 ? "" : "es",
                  problem->P);
        goto out;
    }
    if (check) {
        rule = oracle->rule(oracle->ctx, P, err);
        if (rule < 0)
            goto out;
        if (!rule) {
            hrun_fail(err, HRUN_EINVAL, "the application's rule refuses %d process%s", P, P == 1 ? "" : "es");
            goto out;
        }
    }
    if (check && oracle->memory && oracle->memory(oracle->ctx, P, &bytes, err))
        goto out;
    c.pes = xmalloc((size_t)s.nsubs * sizeof(int));
    c.procs = xmalloc((size_t)s.nsubs * sizeof(int));
    t = xmalloc(((size_t)s.nopt + 1) * sizeof *t);
    memcpy(c.pes, pes, (size_t)s.nsubs * sizeof(int));
    memcpy(c.procs, procs, (size_t)s.nsubs * sizeof(int));
    c.P = P;
    if (oracle->times(oracle->ctx, P, t, err))
        goto out;
    for (int o = 0; o < s.nopt; o++) {
        const struct hrun_option *option = &oracle->options[o];
        double memory = s.subs[option->sub].memory_bytes;
        if (pes[option->sub] == 0 || procs[option->sub] != option->m)
            continue;
        if (check && memory > 0 && !(option->m * bytes <= memory)) {
            fail_memory(err, option, bytes, memory);
            goto out;
        }
        if (!(isfinite(t[o]) && t[o] > 0)) {
            hrun_fail(err, HRUN_EINVAL, "sub-cluster %d: the model for Mi = %d gives no usable time at "
                      "%d process%s in all", option->sub + 1, option->m, P, P == 1 ? "" : "es");
            goto out;
        }
        c.npes += pes[option->sub];
    }
    if (plan_choice_look(&s, t, &c, err))
        goto out;
    if (isinf(c.time_s)) {
        hrun_fail(err, HRUN_EINVAL, "the work cannot be shared out over this configuration: its processes are more "
                  "than there are parts, or have too little memory for them");
        goto out;
    }
    if (!isfinite(c.value)) {
        hrun_fail(err, HRUN_EINVAL, "the objective \"%s\" has no finite value for this configuration",
                  s.objective->name);
        goto out;
    }
    *out = c;
    c.pes = c.procs = NULL;
    rc = 0;
out:
    free(t);
    hrun_choice_release(&c);
    plan_space_release(&s);
    return rc;
}
