/* rules.c - find the rule of an application; see rules.h for the contract */
#include "app/rules.h"

#include <math.h>
#include <string.h>

static int any(int64_t N, int P)
{
    (void)N, (void)P;
    return 1;
}

static int is_power(int64_t x)
{
    return x > 0 && (x & (x - 1)) == 0;
}

static int64_t root(int P, int cube)
{
    return llround(cube ? cbrt(P) : sqrt(P));
}

static int n_power(int64_t N, int P) { (void)P; return is_power(N); }
static int p_several(int64_t N, int P) { (void)N; return P >= 2; }
static int p_even(int64_t N, int P) { (void)N; return P % 2 == 0; }
static int p_power(int64_t N, int P) { (void)N; return is_power(P); }
static int p_square(int64_t N, int P) { (void)N; return root(P, 0) * root(P, 0) == P; }
static int p_cube(int64_t N, int P) { (void)N; return root(P, 1) * root(P, 1) * root(P, 1) == P; }
static int divides(int64_t N, int P) { return N % P == 0; }
static int square_divides(int64_t N, int P) { return N % ((int64_t)P * P) == 0; }
static int side_divides(int64_t N, int P) { return N % root(P, 0) == 0; }
static int edge_divides(int64_t N, int P) { return N % root(P, 1) == 0; }

/* A condition; the first in each table always holds. */
struct part {
    const char *text;
    int (*holds)(int64_t N, int P);
};
static const struct part on_n[] = { { "", any }, { "ispow2(N)", n_power } };
static const struct part on_p[] = {
    { "", any }, { "P >= 2", p_several }, { "P % 2 == 0", p_even }, { "ispow2(P)", p_power },
    { "round(sqrt(P))^2 == P", p_square }, { "round(cbrt(P))^3 == P", p_cube }
};
/* only: the condition in on_p that it requires, or NULL. */
static const struct { struct part part; int (*only)(int64_t N, int P); } on_both[] = {
    { { "", any }, NULL }, { { "N % P == 0", divides }, NULL }, { { "N % (P*P) == 0", square_divides }, NULL },
    { { "N % round(sqrt(P)) == 0", side_divides }, p_square }, { { "N % round(cbrt(P)) == 0", edge_divides }, p_cube }
};
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

void hrun_rules_init(struct hrun_rules *r)
{
    memset(r, 0, sizeof *r);
    for (size_t n = 0; n < COUNT(on_n); n++)
        for (size_t both = 0; both < COUNT(on_both); both++)
            for (size_t p = 0; p < COUNT(on_p); p++) {
                if (on_both[both].only && on_both[both].only != on_p[p].holds)
                    continue;
                r->form[r->n] = (struct hrun_rule_form){ (unsigned char)n, (unsigned char)p, (unsigned char)both };
                r->left[r->n++] = 1;
            }
}

int hrun_rules_accept(const struct hrun_rules *r, int i, int64_t N, int P)
{
    const struct hrun_rule_form *f = &r->form[i];

    return (!r->at_most_n || P <= N) && on_n[f->n].holds(N, P) &&
           on_p[f->p].holds(N, P) && on_both[f->both].part.holds(N, P);
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

void hrun_rules_print(const struct hrun_rules *r, int i, struct hrun_buf *out)
{
    const struct hrun_rule_form *f = &r->form[i];
    const char *parts[] = { on_n[f->n].text, on_p[f->p].text, on_both[f->both].part.text };
    int printed = r->at_most_n;

    hrun_buf_adds(out, r->at_most_n ? "P <= N" : "");
    for (size_t k = 0; k < COUNT(parts); k++)
        if (parts[k][0])
            hrun_buf_addf(out, "%s%s", printed++ ? " && " : "", parts[k]);
    if (!printed)
        hrun_buf_adds(out, "P >= 1");
}

static int set_rule(struct hrun_app *app, const struct hrun_buf *text, struct hrun_error *err)
{
    static const char *const vars[] = { "N", "P" };
    struct hrun_expr *rule = hrun_expr_compile(text->data, vars, 2, NULL, 0, err);

    if (!rule)
        return -1;
    hrun_expr_destroy(app->rule);
    app->rule = rule;
    return 1;
}

int hrun_app_rule_of_runs(struct hrun_app *app, const int *P, const int *worked, int n, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    struct hrun_rules r;
    int refused = 0, good = 0, several = 0;

    hrun_rules_init(&r);
    for (int i = 0; i < n; i++) {
        hrun_rules_learn(&r, 1, P[i], worked[i]);
        *(worked[i] ? &good : &refused) += 1;
        several |= worked[i] && P[i] > 1;    /* P = 1 satisfies nearly all conditions */
    }
    several &= refused > 1 && hrun_rules_first(&r) >= 0;
    if (several) {
        hrun_rules_print(&r, hrun_rules_first(&r), &text);
    } else {
        int only = good && refused > 2 * good;   /* then untried numbers are probably refused, too */

        for (int i = 0, k = 0; i < n; i++)
            if (worked[i] == only)
                hrun_buf_addf(&text, "%sP %s %d", !k++ ? "" : only ? " || " : " && ", only ? "==" : "!=",
                              P[i]);
    }
    return !refused || !strcmp(text.data, hrun_expr_text(app->rule)) ? 0 : set_rule(app, &text, err);
}
