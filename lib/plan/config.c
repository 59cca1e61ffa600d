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
                        "needs %d number%s, the PEs used and the processes on each for %s, such as (4,1%s)", text,
                        column, what, found, 2 * nsubs, nsubs ? "s" : "", hrun_counted(nsubs, "sub-cluster").s,
                        nsubs > 1 ? ",0,0" : "");
}

int hrun_config_parse(const char *text, int nsubs, int *pes, int *procs, struct hrun_error *err)
{
    autofree int *value = xcalloc((size_t)nsubs * 2 + 1, sizeof *value);
    const char *at = after_blanks(text);
    int open = *at == '(';

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
        value[k] = (int)number;
        at = after_blanks(at);
    }
    if (open && *at != ')')
        return fail_config_text(err, text, at, nsubs, "')'");
    at = after_blanks(at + open);
    if (*at)
        return fail_config_text(err, text, at, nsubs, "the end");
    for (int i = 0; i < nsubs; i++) {
        pes[i] = value[2 * i];
        procs[i] = value[2 * i + 1];
    }
    return 0;
}

/* The form of a configuration: what can be said without the oracle's functions. *P becomes its processes. */
static int check_form(const struct plan_space *s, const int *pes, const int *procs, int *P,
                      struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf known = HRUN_BUF_INIT;
    int sum = 0;

    for (int i = 0; i < s->nsubs; i++) {
        int o = s->first[i];
        if (pes[i] < 0 || procs[i] < 0)
            return hrun_fail(err, HRUN_EINVAL, "sub-cluster %d: %d PEs with %d processes: neither can be negative",
                             i + 1, pes[i], procs[i]);
        if (pes[i] > s->subs[i].npes)
            return hrun_fail(err, HRUN_EINVAL, "sub-cluster %d has %d PEs, not %d", i + 1, s->subs[i].npes, pes[i]);
        if ((pes[i] == 0) != (procs[i] == 0))
            return hrun_fail(err, HRUN_EINVAL, "sub-cluster %d: Pi = %d with Mi = %d: either both are 0 or neither",
                             i + 1, pes[i], procs[i]);
        if (pes[i] == 0)
            continue;
        while (o < s->first[i + 1] && s->oracle->options[o].m != procs[i])
            o++;
        if (o == s->first[i + 1]) {
            for (o = s->first[i]; o < s->first[i + 1]; o++)
                hrun_buf_addf(&known, "%s%d", known.len ? ", " : "", s->oracle->options[o].m);
            return hrun_fail(err, HRUN_EINVAL, "sub-cluster %d has no model for %s per PE (it has: %s)", i + 1,
                             hrun_counted(procs[i], "process").s, known.len ? known.data : "none");
        }
        sum += pes[i] * procs[i]; /* at most max_P */
    }
    if (sum == 0)
        return hrun_fail(err, HRUN_EINVAL, "the configuration uses no PE at all");
    *P = sum;
    return 0;
}

/* Mi processes of bytes each do not fit into a PE. */
static int fail_option_memory(struct hrun_error *err, const struct hrun_option *option, double bytes, double memory)
{
    return hrun_fail(err, HRUN_EINVAL, "sub-cluster %d: %s of %s each do not fit into the %s of a PE; use more "
                     "processes in all, fewer on each PE, or a smaller N", option->sub + 1,
                     hrun_counted(option->m, "process").s, hrun_bytes(bytes).s, hrun_bytes(memory).s);
}

int hrun_plan_evaluate(const struct hrun_plan_problem *problem, const int *pes, const int *procs, int check,
                       struct hrun_choice *out, struct hrun_error *err)
{
    const struct hrun_oracle *oracle = problem->oracle;
    autorelease(hrun_choice_release) struct hrun_choice c = { 0 };
    autorelease(plan_space_release) struct plan_space s;
    autofree double *t = NULL;
    double bytes = 0;
    int P = 0;

    if (plan_space_init(&s, problem, 0, err) || check_form(&s, pes, procs, &P, err))
        return -1;
    if (check && problem->P && P != problem->P)
        return hrun_fail(err, HRUN_EINVAL, "the configuration has %s, not %d", hrun_counted(P, "process").s,
                         problem->P);
    if (check) {
        int rule = oracle->rule(oracle->ctx, P, err);

        if (rule < 0)
            return -1;
        if (!rule)
            return hrun_fail(err, HRUN_EINVAL, "the application's rule refuses %s", hrun_counted(P, "process").s);
    }
    if (check && oracle->memory && oracle->memory(oracle->ctx, P, &bytes, err))
        return -1;
    c.pes = xmalloc((size_t)s.nsubs * sizeof(int));
    c.procs = xmalloc((size_t)s.nsubs * sizeof(int));
    t = xmalloc(((size_t)s.nopt + 1) * sizeof *t);
    memcpy(c.pes, pes, (size_t)s.nsubs * sizeof(int));
    memcpy(c.procs, procs, (size_t)s.nsubs * sizeof(int));
    c.P = P;
    if (oracle->times(oracle->ctx, P, t, err))
        return -1;
    for (int o = 0; o < s.nopt; o++) {
        const struct hrun_option *option = &oracle->options[o];
        double memory = s.subs[option->sub].memory_bytes;
        if (pes[option->sub] == 0 || procs[option->sub] != option->m)
            continue;
        if (check && memory > 0 && !(option->m * bytes <= memory))
            return fail_option_memory(err, option, bytes, memory);
        if (!(isfinite(t[o]) && t[o] > 0))
            return hrun_fail(err, HRUN_EINVAL, "sub-cluster %d: the model for Mi = %d gives no usable time at %s in "
                             "all", option->sub + 1, option->m, hrun_counted(P, "process").s);
        c.npes += pes[option->sub];
    }
    if (plan_choice_look(&s, t, &c, err))
        return -1;
    if (isinf(c.time_s))
        return hrun_fail(err, HRUN_EINVAL, "the work cannot be shared out over this configuration: its processes are "
                         "more than there are parts, or have too little memory for them");
    if (!isfinite(c.value))
        return hrun_fail(err, HRUN_EINVAL, "the objective \"%s\" has no finite value for this configuration",
                         s.objective->name);
    *out = c;
    c.pes = c.procs = NULL;
    return 0;
}
