/* fail.c - why there is no configuration; see space.h for the contracts */
#include "base/units.h"
#include "plan/space.h"

/* Steps of counting that an error message may cost: about 0.1 s. */
#define ERROR_COUNT_LIMIT 1e8

int plan_fail_infeasible(struct plan_space *s, const struct hrun_plan_counts *known, struct hrun_error *err)
{
    struct hrun_plan_counts c = *known;
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    int only = s->problem->P, accepted = 0;

    if (!c.counted && plan_count(s, ERROR_COUNT_LIMIT, &c, err))
        return -1;
    if (only > s->max_P) {
        hrun_buf_addf(&text, "no configuration has %s: at most %d are possible", hrun_counted(only, "process").s,
                      s->max_P);
        return hrun_fail(err, HRUN_EINFEASIBLE, "%s", text.data);
    }
    hrun_buf_adds(&text, "no configuration");
    if (only)
        hrun_buf_addf(&text, " with %s", hrun_counted(only, "process").s);
    hrun_buf_adds(&text, " is valid: ");
    if (c.counted && c.total == 0) {
        hrun_buf_adds(&text, only ? "no numbers of PEs and processes per PE make this product"
                                  : "there are no PEs with a model");
    } else if (c.counted) {
        hrun_buf_addf(&text, "%s%s", hrun_count(c.total).s,
                      c.total == 1 ? " configuration, excluded (" : " configurations, all excluded (");
        plan_counts_print(&c, &text);
        hrun_buf_adds(&text, ")");
        if (c.excluded_rule >= c.excluded_memory && c.excluded_rule >= c.excluded_model)
            hrun_buf_adds(&text, "; choose a size or a number of processes that the rule accepts");
        else if (c.excluded_memory >= c.excluded_model && s->oracle->lines)
            hrun_buf_addf(&text, "; however the work is dealt out, it does not fit into the memory: choose a smaller "
                          "size%s", only ? " or more processes" : "");
        else if (c.excluded_memory >= c.excluded_model)
            hrun_buf_adds(&text, "; choose a smaller size or fewer processes per PE");
        else
            hrun_buf_adds(&text, "; the models give no usable time, calibrate nearer to this size");
    } else {
        int from = only ? only : 1, to = only ? only : s->max_P;
        for (int P = from; P <= to; P++) {
            int rule = s->oracle->rule(s->oracle->ctx, P, err);
            if (rule < 0)
                return -1;
            accepted += rule > 0;
        }
        hrun_buf_addf(&text, "%s configurations%s, too many to count by reason; the rule accepts %d of %d numbers of "
                      "processes%s", hrun_count(c.total).s, only ? " of any number of processes" : "", accepted,
                      to - from + 1, accepted ? ", and these have none with memory and a time" : "");
    }
    return hrun_fail(err, HRUN_EINFEASIBLE, "%s", text.data);
}
