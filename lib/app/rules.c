/* rules.c - find the rule of an application; see rules.h for the contract */
#include "app/rules.h"

#include <string.h>

static const char *const vars[] = { "N", "P" };

/* Conditions; the first of each list always holds. */
static const char *const on_n[] = { "", "ispow2(N)" };
static const char *const on_p[] = { "", "P >= 2", "P % 2 == 0", "ispow2(P)", "round(sqrt(P))^2 == P",
                                    "round(cbrt(P))^3 == P" };
/* only: index in on_p of the condition that text requires; 0: none. */
static const struct { const char *text; size_t only; } on_both[] = {
    { "", 0 }, { "N % P == 0", 0 }, { "N % (P*P) == 0", 0 }, { "N % round(sqrt(P)) == 0", 4 },
    { "N % round(cbrt(P)) == 0", 5 },
};
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct hrun_expr *combine(const char *const parts[], size_t n)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;

    for (size_t k = 0; k < n; k++)
        if (parts[k][0])
            hrun_buf_addf(&text, "%s%s", text.len ? " && " : "", parts[k]);
    return hrun_expr_compile(text.len ? text.data : "P >= 1", vars, 2, NULL, 0, NULL);
}

void hrun_rules_init(struct hrun_rules *r, int at_most_n)
{
    memset(r, 0, sizeof *r);
    for (size_t n = 0; n < COUNT(on_n); n++)
        for (size_t both = 0; both < COUNT(on_both); both++)
            for (size_t p = 0; p < COUNT(on_p); p++) {
                const char *const parts[] = { at_most_n ? "P <= N" : "", on_n[n], on_p[p], on_both[both].text };

                if (on_both[both].only && on_both[both].only != p)
                    continue;
                r->rule[r->n] = combine(parts, COUNT(parts));
                r->left[r->n++] = 1;
            }
}

void hrun_rules_release(struct hrun_rules *r)
{
    for (int i = 0; i < r->n; i++)
        hrun_expr_destroy(r->rule[i]);
    r->n = 0;
}

int hrun_rules_accept(const struct hrun_rules *r, int i, int64_t N, int P)
{
    const double values[] = { (double)N, P };
    double y = 0;

    return !hrun_expr_eval(r->rule[i], values, &y, NULL) && y != 0;
}

void hrun_rules_learn(struct hrun_rules *r, int64_t N, int P, int worked)
{
    for (int i = 0; i < r->n; i++)
        if (r->left[i] && hrun_rules_accept(r, i, N, P) != worked)
            r->left[i] = 0;
}

int hrun_rules_first(const struct hrun_rules *r)
{
    for (int i = 0; i < r->n; i++)
        if (r->left[i])
            return i;
    return -1;
}

int hrun_rules_ask(const struct hrun_rules *r, const int64_t *sizes, int nsizes, int most, int64_t *N, int *P)
{
    int best = 0;

    for (int k = 0; k < nsizes; k++)
        for (int p = 1; p <= most; p++) {
            int yes = 0, no = 0, even;

            for (int i = 0; i < r->n; i++)
                if (r->left[i])
                    *(hrun_rules_accept(r, i, sizes[k], p) ? &yes : &no) += 1;
            even = yes < no ? yes : no;
            if (even > best) {
                best = even;
                *N = sizes[k];
                *P = p;
            }
        }
    return best > 0;
}

int hrun_app_rule_of_runs(struct hrun_app *app, const int *P, const int *worked, int n, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    autorelease(hrun_rules_release) struct hrun_rules r;
    int refused = 0, good = 0, several = 0;
    struct hrun_expr *rule;

    hrun_rules_init(&r, 0);
    for (int i = 0; i < n; i++) {
        hrun_rules_learn(&r, 1, P[i], worked[i]);
        *(worked[i] ? &good : &refused) += 1;
        several |= worked[i] && P[i] > 1;    /* P = 1 satisfies nearly all conditions */
    }
    several &= refused > 1 && hrun_rules_first(&r) >= 0;
    if (several) {
        hrun_buf_adds(&text, hrun_expr_text(r.rule[hrun_rules_first(&r)]));
    } else {
        int only = good && refused > 2 * good;   /* 1: untried numbers are probably refused, too */

        for (int i = 0, k = 0; i < n; i++)
            if (worked[i] == only)
                hrun_buf_addf(&text, "%sP %s %d", !k++ ? "" : only ? " || " : " && ", only ? "==" : "!=",
                              P[i]);
    }
    if (!refused || !strcmp(text.data, hrun_expr_text(app->rule)))
        return 0;
    rule = hrun_expr_compile(text.data, vars, 2, NULL, 0, err);
    if (!rule)
        return -1;
    hrun_expr_destroy(app->rule);
    app->rule = rule;
    return 1;
}
