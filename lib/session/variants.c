/* variants.c - choose among the algorithms of an application; see variants.h */
#include "session/variants.h"

#include "base/alloc.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Decide for one variant, in place of an earlier decision. *nearest: the error of the variant nearest to the limits so
 * far, else the first error. */
static void decide_variant(struct context *c, const struct question *q, int64_t N, struct variant_view *v,
                           struct hrun_error *nearest)
{
    struct hrun_error why = { 0 };

    decision_release(&v->d);
    free(v->why_not);
    v->why_not = NULL;
    v->predicted = 0;
    c->app = v->app;
    v->decided = !decision_make(c, q, &v->known, N, &v->d, &why);
    if (!v->decided) {
        if (!nearest->text[0] || (why.excess > 0 && !(nearest->excess > 0 && nearest->excess <= why.excess)))
            *nearest = why;
        v->why_not = xstrdup(why.text);
        return;
    }
    v->predicted = v->d.predicted.known && isfinite(decision_value(&v->d));
    if (v->predicted) {
        v->time_s = v->d.predicted.time.mid;
        v->value = decision_value(&v->d);
    } else {
        v->why_not = xstrdup(v->d.subs && v->d.nsubs && v->d.subs[0].why_not ? v->d.subs[0].why_not
                            : v->known.have ? "the model has no prediction" : "no profile");
    }
}

static int best_of(const struct variants *v, int but)
{
    int best = -1;

    for (int k = 0; k < v->n; k++)
        if (k != but && v->v[k].predicted && (best < 0 || v->v[k].value < v->v[best].value))
            best = k;
    return best;
}

int variants_load(struct context *c, struct variants *out, struct hrun_error *err)
{
    const struct hrun_app *all = c->set->variant ? NULL : c->variants_of;

    out->n = all ? all->nvariants : 1;
    out->v = xcalloc((size_t)out->n + 1, sizeof *out->v);
    for (int k = 0; k < out->n; k++) {
        c->app = out->v[k].app = all ? all->variants[k] : c->app;
        if (profiles_load(c, &out->v[k].known, err))
            return -1;
    }
    return 0;
}

int variants_choose(struct context *c, const struct question *q, int64_t N, struct variants *out,
                    struct hrun_error *err)
{
    struct variant_view *chosen;
    struct question quickest = *q;
    struct hrun_error nearest = { 0 };
    int again = q->within || q->explore > 0;

    if (again) {
        quickest.within = quickest.explore = 0;
        quickest.objective = NULL;
    }
    for (int k = 0; k < out->n; k++)
        decide_variant(c, &quickest, N, &out->v[k], &nearest);
    out->chosen = best_of(out, -1);
    for (int k = 0; out->chosen < 0 && k < out->n; k++)
        if (out->v[k].decided)
            out->chosen = k;
    if (out->chosen < 0) {
        if (err)
            *err = nearest;
        return -1;
    }
    chosen = &out->v[out->chosen];
    c->app = chosen->app;
    if (!again)
        return 0;
    decision_release(&chosen->d);
    chosen->decided = 0;
    return decision_make(c, q, &chosen->known, N, &chosen->d, err);
}

void variants_move_chosen(struct variants *v, struct profiles *known, struct decision *d)
{
    struct variant_view *chosen = &v->v[v->chosen];

    *known = chosen->known;
    *d = chosen->d;
    chosen->known = (struct profiles){ 0 };
    memset(&chosen->d, 0, sizeof chosen->d);
    chosen->decided = 0;
}

void variants_release(struct variants *v)
{
    for (int k = 0; v->v && k < v->n; k++) {
        decision_release(&v->v[k].d);
        profiles_release(&v->v[k].known);
        free(v->v[k].why_not);
    }
    free(v->v);
    *v = (struct variants) { 0 };
}

void variants_print(const struct variants *v, struct hrun_buf *out)
{
    const struct variant_view *chosen = &v->v[v->chosen], *next;
    int k = best_of(v, v->chosen);

    hrun_buf_addf(out, "%s", chosen->app->variant);
    if (!chosen->predicted) {
        hrun_buf_adds(out, ", the first: none is predicted");
        return;
    }
    if (k < 0) {
        hrun_buf_adds(out, ", the only one that is predicted");
    } else {
        next = &v->v[k];
        hrun_buf_addf(out, "; next best: %s %s %+.1f %%", next->app->variant, hrun_config_text(&next->d.config).s,
                      100 * (next->value / chosen->value - 1));
    }
    for (int i = 0, others = 0; i < v->n; i++)
        if (!v->v[i].predicted)
            hrun_buf_addf(out, "%s %s", others++ ? "," : "; not predicted:", v->v[i].app->variant);
}

json_t *variants_json(const struct variants *v)
{
    json_t *a = v->n ? json_array() : json_null();

    for (int k = 0; k < v->n; k++) {
        const struct variant_view *view = &v->v[k];
        json_t *o = json_pack("{s:s, s:b, s:o, s:s?}", "name", view->app->variant, "chosen", k == v->chosen, "time_s",
                              view->predicted ? json_real(view->time_s) : json_null(), "why_not", view->why_not);

        if (view->decided && view->d.has_config)
            json_object_set_new(o, "config", json_string(hrun_config_text(&view->d.config).s));
        json_array_append_new(a, o);
    }
    return a;
}
