/* find_rule.c - find the rule of an application by trial runs; see new_definition.h */
#include "../common/alone.h"
#include "app/rules.h"
#include "base/units.h"
#include "new_definition.h"
#include "session/problem.h"
#include "session/work.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The largest P is the number of processes on all PEs, but at least TRIED_MIN and at most TRIED_MAX. Small clusters
 * thus show the rule, too: 9 is the first square that is no power of two, 8 the first cube. P > 16 distinguishes no
 * more rules. */
enum { TRIED_MIN = 9, TRIED_MAX = 16, RUNS_MAX = 64, TRIES = 2 };
/* A run counts as hanging after HANGS times the longest good run plus START_S (campaign.h). */
static const double HANGS = 20, START_S = 60;

struct rule_search {
    struct context *c;
    struct new_app *a;
    struct ledger ledger;
    struct scratch scratch;
    struct hrun_rules rules;
    struct tried { int64_t N; int P, worked; } run[RUNS_MAX];
    int nruns;
    double longest_s;              /* time of the longest good run */
    char why[768];                 /* reason of the last failure */
};

static void rule_search_release(struct rule_search *s)
{
    ledger_release(&s->ledger);
    scratch_release(&s->scratch);
    hrun_rules_release(&s->rules);
}

/* P processes on the sub-cluster with the most PEs, on the largest number of its PEs that divides P. npes[nsubs]:
 * usable PEs. */
static struct hrun_config config_of_count(const int *npes, int nsubs, int P)
{
    int most = 0, pes;

    for (int i = 1; i < nsubs; i++)
        if (npes[i] > npes[most])
            most = i;
    for (pes = P < npes[most] ? P : npes[most]; P % pes; pes--)
        ;
    return hrun_config_alone(nsubs, most, pes, P / pes);
}

/* Run once. *worked: 1 if the run is good, else 0. Result: 0, the number of a signal, or -1 with *err. */
static int run_once(struct rule_search *s, int64_t N, int P, int *worked, struct hrun_error *err)
{
    const struct hrun_cluster *cl = s->c->cluster;
    double grown = pow((double)N / (double)s->a->lists.sizes.v[0], 3);
    struct work w = { .c = s->c, .N = N, .words = s->a->words, .scratch = &s->scratch, .quiet_run = 1,
                      .limit_s = s->longest_s > 0 ? START_S + HANGS * s->longest_s * fmax(grown, 1) : 0 };
    struct hrun_config config = config_of_count(s->a->lists.most, cl->nsubs, P);
    struct hrun_layout *l = hrun_layout_create(cl, &config, err);
    struct work_result r = { 0 };
    int rc;

    rc = !l || work_find_program(&w, P, err) ? -1
         : alone_begin(&s->ledger, s->c, &(struct ledger_run){ .layout = l, .whole_hosts = 1, .N = N }, alone_say,
                       s->c);
    if (!rc && !(rc = work_run(&w, l, &r, err))) {
        rc = r.outcome.interrupted ? r.outcome.interrupted : r.outcome.signalled;
        *worked = r.ok || r.too_short;
        if (*worked)
            s->longest_s = fmax(s->longest_s, r.outcome.wall_s);
        else
            snprintf(s->why, sizeof s->why, "N=%lld on %s: %s%s%s", (long long)N, hrun_counted(P, "process").s,
                     r.status, r.detail[0] ? ": " : "", r.detail);
    }
    alone_end(&s->ledger);
    hrun_layout_destroy(l);
    return rc;
}

/* Run N on P processes, once more after a failure, and store the outcome. Result: as run_once. */
static int try_numbers(struct rule_search *s, int64_t N, int P, int *worked, struct hrun_error *err)
{
    int rc = 0;

    *worked = 0;
    for (int i = 0; i < TRIES && !*worked && !rc; i++)
        rc = run_once(s, N, P, worked, err);
    if (rc)
        return rc;
    if (!s->c->set->quiet && *worked)
        fprintf(stderr, "hrun-calibrate: N=%lld on %s: works\n", (long long)N, hrun_counted(P, "process").s);
    else if (!s->c->set->quiet)
        fprintf(stderr, "hrun-calibrate: %s\n", s->why);
    s->run[s->nruns++] = (struct tried){ N, P, *worked };
    return 0;
}

/* Make runs at these sizes, smallest first, until all remaining rules agree at each of these sizes. */
static int narrow_rules(struct rule_search *s, const int64_t *sizes, int nsizes, int most, struct hrun_error *err)
{
    int64_t N;
    int P, rc = 0, worked;

    for (int n = 1; n <= nsizes && !rc; n++)
        while (!rc && s->nruns < RUNS_MAX && hrun_rules_ask(&s->rules, sizes, n, most, &N, &P)) {
            rc = try_numbers(s, N, P, &worked, err);
            if (!rc)
                hrun_rules_learn(&s->rules, N, P, worked);
        }
    return rc;
}

/* Run cases that the rule accepts until one works, so that the rule does not come from failures alone. */
static int confirm_rule(struct rule_search *s, int most, struct hrun_error *err)
{
    const struct lists *l = &s->a->lists;
    int rc = 0, worked = 0, first;

    for (int k = 0; k < s->nruns; k++)
        worked |= s->run[k].worked;
    while (!rc && !worked && s->nruns < RUNS_MAX && (first = hrun_rules_first(&s->rules)) >= 0) {
        int P = 1, at = 0;

        while (P <= most && !hrun_rules_accept(&s->rules, first, l->sizes.v[at], P)) {
            at = (at + 1) % l->sizes.n;
            P += !at;
        }
        if (P > most) {
            s->rules.left[first] = 0;   /* it accepts nothing that can be tried */
            continue;
        }
        rc = try_numbers(s, l->sizes.v[at], P, &worked, err);
        if (!rc)
            hrun_rules_learn(&s->rules, l->sizes.v[at], P, worked);
    }
    return rc;
}

/* If all given sizes are even or powers of two, they hide conditions on the size. So try 1.5 times the smallest size,
 * too. */
static int try_between(struct rule_search *s, int most, struct hrun_error *err)
{
    const struct lists *l = &s->a->lists;
    int64_t N = l->sizes.v[0] + l->sizes.v[0] / 2;
    int64_t all[] = { N };
    int powers = 1, worked, rc, P;

    for (int i = 0; i < l->sizes.n; i++)
        powers &= (l->sizes.v[i] & (l->sizes.v[i] - 1)) == 0;
    if (!hrun_rules_ask(&s->rules, all, 1, most, &N, &P) || s->nruns == RUNS_MAX)
        return 0;
    N = all[0];
    rc = try_numbers(s, N, 1, &worked, err);
    if (rc)
        return rc;
    if (!worked && !powers) {
        s->nruns--;                /* not a valid size of this program */
        return 0;
    }
    hrun_rules_learn(&s->rules, N, 1, worked);
    return worked ? narrow_rules(s, all, 1, most, err) : narrow_rules(s, l->sizes.v, 1, most, err);
}

/* The rule that accepts no failed run and the most good runs; -1 if there is none. */
static int best_rule(const struct rule_search *s)
{
    int best = -1, most = 0;

    for (int i = 0; i < s->rules.n; i++) {
        int good = 0, bad = 0;

        for (int k = 0; k < s->nruns; k++)
            if (hrun_rules_accept(&s->rules, i, s->run[k].N, s->run[k].P))
                *(s->run[k].worked ? &good : &bad) += 1;
        if (!bad && good > most) {
            most = good;
            best = i;
        }
    }
    return best;
}

static void list_runs(const struct rule_search *s, int worked, struct hrun_buf *out)
{
    int n = 0;

    for (int k = 0; k < s->nruns; k++)
        if (s->run[k].worked == worked)
            hrun_buf_addf(out, "%sN=%lld P=%d", n++ ? ", " : "", (long long)s->run[k].N, s->run[k].P);
    if (!n)
        hrun_buf_adds(out, "none");
}

int new_find_rule(struct context *c, struct new_app *a, struct hrun_error *err)
{
    autorelease(rule_search_release) struct rule_search s = { .c = c, .a = a };
    int64_t units;
    int most = 0, rc, rule;
    autofree char *why = NULL;     /* ignored: the runs that follow report it */

    if (problem_units(NULL, a->words, NULL, 1, &units, err))
        return -1;
    hrun_rules_init(&s.rules, units < 0);
    for (int i = 0; i < c->cluster->nsubs && most < TRIED_MAX; i++)
        most += a->lists.most[i] * (int)a->lists.procs.v[a->lists.procs.n - 1];
    most = most < TRIED_MIN ? TRIED_MIN : most > TRIED_MAX ? TRIED_MAX : most;
    most = units > 0 && units < most ? (int)units : most;      /* each process has at least one unit */
    if (!c->set->quiet)
        fprintf(stderr, "hrun-calibrate: trying which numbers of processes %s accepts\n", a->name);
    if (scratch_find(&s.scratch, c, 0, &why, err))
        return -1;
    rc = ledger_open(&s.ledger, c, err);
    rc = rc ? rc : narrow_rules(&s, a->lists.sizes.v, a->lists.sizes.n, most, err);
    rc = rc ? rc : confirm_rule(&s, most, err);
    if (!rc && hrun_rules_first(&s.rules) >= 0)
        rc = try_between(&s, most, err);
    if (rc)
        return rc;
    rule = hrun_rules_first(&s.rules);
    if (rule < 0 && (rule = best_rule(&s)) < 0)
        return hrun_fail(err, HRUN_ENODATA, "no run of %s worked (the last: %s); is this how the program is started%s? "
                         "Its rule can be given with --rule", a->name, s.why,
                         a->time_match ? ", and is --time right" : "");
    hrun_buf_adds(&a->rule, hrun_expr_text(s.rules.rule[rule]));
    hrun_buf_addf(&a->rule_from, "%s%s by runs with up to %d processes. Worked: ",
                  units < 0 ? "P <= N, as each process has one of N units at least.\n" : "",
                  hrun_rules_first(&s.rules) < 0 ? "Allows none that failed, but no rule known agrees with all; found"
                                                 : "Found",
                  most);
    list_runs(&s, 1, &a->rule_from);
    hrun_buf_adds(&a->rule_from, ".\nFailed: ");
    list_runs(&s, 0, &a->rule_from);
    hrun_buf_addc(&a->rule_from, '.');
    return 0;
}
