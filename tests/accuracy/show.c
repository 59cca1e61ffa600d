/* show.c - why choices are not the best ones, as text and as JSON */
#include "accuracy.h"
#include "configs.h"

#include "base/buf.h"
#include "base/units.h"
#include "plan/plan.h"

#include <math.h>
#include <stdio.h>

/* Choices that are shown of a method. */
enum { MISSES_SHOWN = 3 };

/* "noise: runs as many as were made, one at least, tell 5.5 % apart" */
static void add_cause(const struct outcome *o, struct hrun_buf *out)
{
    hrun_buf_addf(out, "%s: ", accuracy_cause_name(o->cause));
    if (o->cause == CAUSE_NOISE)
        hrun_buf_addf(out, "runs as many as were made, one at least, tell %.1f %% apart", 100.0 * o->apart);
    else if (o->cause == CAUSE_MODEL && isnan(o->best_delta))
        hrun_buf_adds(out, "it has no prediction for the best");
    else if (o->cause == CAUSE_MODEL)
        hrun_buf_addf(out, "the %s", o->best_delta > -o->delta ? "best is quicker than its interval says"
                                                               : "choice is slower than its interval says");
    else if (o->cause == CAUSE_NOT_RUN)
        hrun_buf_adds(out, "the best was never run at this size or next to it");
    else
        hrun_buf_adds(out, "the intervals overlap");
}

static void add_run(struct hrun_table *table, const struct truth *t, size_t run)
{
    struct hrun_buf text;

    hrun_buf_init(&text);
    hrun_buf_adds(&text, hrun_config_text(CONFIG(t->nsubs, t->runs[run].pes, t->runs[run].procs)).s);
    hrun_table_cell(table, "%s", text.data ? text.data : "");
    hrun_buf_release(&text);
}

static void print_miss(struct hrun_table *table, const struct trial *trial, const struct trials *v,
                       const struct miss *m)
{
    const struct outcome *o = &m->worst;
    struct hrun_buf cause;

    hrun_buf_init(&cause);
    add_cause(o, &cause);
    hrun_table_cell(table, "%s", v->method->name);
    hrun_table_cell(table, "%s", trial->truth->app);
    hrun_table_cell(table, "%s", trial->truth->platform);
    hrun_table_cell(table, "%lld", (long long)trial->sizes[m->size]);
    hrun_table_cell(table, "%d", m->seeds);
    add_run(table, trial->truth, o->chosen);
    add_run(table, trial->truth, o->best);
    hrun_table_cell(table, "%.2f", 100.0 * o->epsilon);
    hrun_table_cell(table, "%+.1f", 100.0 * o->delta);
    hrun_table_cell(table, isnan(o->best_delta) ? "-" : "%+.1f", 100.0 * o->best_delta);
    hrun_table_cell(table, "%d", o->runs_chosen);
    hrun_table_cell(table, "%d+%d", o->runs_best, o->runs_near);
    hrun_table_cell(table, "%s", cause.data ? cause.data : "");
    hrun_buf_release(&cause);
}

/* How much of a method's epsilon has which cause, one line. */
static void print_causes(const struct trials *v)
{
    double share[CAUSES], once = accuracy_causes(v, share);
    const char *sep = "";

    printf("  %s: of its epsilon ", v->method->name);
    for (int c = CAUSE_NOISE; c < CAUSES; c++)
        if (share[c] > 0.0) {
            printf("%s%.0f %% %s", sep, 100.0 * share[c], accuracy_cause_name((enum cause)c));
            sep = ", ";
        }
    printf("; to run every configuration once and take the quickest: %.2f %%\n", 100.0 * once);
}

void accuracy_print_why(const struct trial *trial, const struct trials *v, const enum missing *missing, int nmethods)
{
    struct hrun_table *table = hrun_table_create("lllrrllrrrrrl");
    struct miss misses[MISSES_SHOWN];
    struct hrun_buf out;
    int rows = 0, n;

    hrun_table_row(table, "why", "app", "platform", "N", "seeds", "chosen", "best", "ε", "δ", "δ best", "runs",
                   "of best", "cause");
    for (int m = 0; m < nmethods; m++) {
        if (missing[m] == MISSES_NOTHING)
            continue;
        print_causes(&v[m]);
        n = accuracy_misses(&v[m], missing[m] == MISSES_WORST, MISSES_SHOWN, misses);
        for (int k = 0; k < n; k++, rows++)
            print_miss(table, trial, &v[m], &misses[k]);
    }
    hrun_buf_init(&out);
    if (rows) {
        hrun_table_render(table, 2, &out);
        printf("%s\n", out.data);
    }
    hrun_buf_release(&out);
    hrun_table_destroy(table);
}

static json_t *json_run(const struct truth *t, size_t run)
{
    struct hrun_buf text;
    json_t *j;

    hrun_buf_init(&text);
    hrun_buf_adds(&text, hrun_config_text(CONFIG(t->nsubs, t->runs[run].pes, t->runs[run].procs)).s);
    j = json_string(text.data);
    hrun_buf_release(&text);
    return j;
}

void accuracy_json_why(json_t *j, const struct trial *trial, const struct trials *v)
{
    json_t *causes = json_object(), *list = json_array();
    struct miss misses[MISSES_SHOWN];
    double share[CAUSES], once = accuracy_causes(v, share);

    json_object_set_new(j, "epsilon_of_all_once", json_real(once));
    for (int c = CAUSE_NOISE; c < CAUSES; c++)
        json_object_set_new(causes, accuracy_cause_name((enum cause)c), json_real(share[c]));
    for (int k = 0, n = accuracy_misses(v, 0, MISSES_SHOWN, misses); k < n; k++) {
        const struct outcome *o = &misses[k].worst;
        json_t *m = json_pack("{sI si so so sf sf ss si si si}", "N", (json_int_t)trial->sizes[misses[k].size], "seeds",
                              misses[k].seeds, "chosen", json_run(trial->truth, o->chosen), "best",
                              json_run(trial->truth, o->best), "epsilon", o->epsilon, "delta", o->delta, "cause",
                              accuracy_cause_name(o->cause), "runs_chosen", o->runs_chosen, "runs_best", o->runs_best,
                              "runs_near", o->runs_near);
        if (!isnan(o->best_delta))
            json_object_set_new(m, "delta_best", json_real(o->best_delta));
        json_array_append_new(list, m);
    }
    json_object_set_new(j, "causes", causes);
    json_object_set_new(j, "misses", list);
}
