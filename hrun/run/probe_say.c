/* probe_say.c - messages about a probe; see probe.h */
#include "probe.h"

#include "base/units.h"

static const char useless[] = "--probe runs nothing: all PEs are alike, and no other configuration can be quicker by "
                              "their speed";

/* Append "with N = 150 on 12 processes, one per PE". */
static void add_runs(const struct probe *p, struct hrun_buf *out)
{
    if (p->apart)
        hrun_buf_addf(out, "with N = %lld on each sub-cluster alone, one process per PE (%s)", (long long)p->N, p->why);
    else
        hrun_buf_addf(out, "with N = %lld on %s, one per PE", (long long)p->N, hrun_counted(p->P, "process").s);
}

void probe_announce(const struct probe *p, const struct settings *set)
{
    autorelease(hrun_buf_release) struct hrun_buf runs = HRUN_BUF_INIT;

    add_runs(p, &runs);
    if (p->useful)
        settings_say(set, "probes the speeds %s", runs.data);
    else
        settings_say(set, "%s", useless);
}

void probe_after(const struct probe *p, const struct decision *d, double job_s, struct hrun_buf *out)
{
    hrun_buf_addf(out, "hrun: the probe took %s and %s", hrun_counted(p->runs, "run").s, hrun_seconds(p->cost_s).s);
    if (job_s > 0)
        hrun_buf_addf(out, ", %.*f %% of the real run", p->cost_s < 0.1 * job_s, 100 * p->cost_s / job_s);
    if (p->unlike) {
        hrun_buf_addf(out, "; %s is predicted to take %.2f of the time of one process per PE, and took %.2f of it at N "
                      "= %lld\n", hrun_config_text(&d->config).s, p->predicted, p->shown, (long long)p->shown_N);
        return;
    }
    hrun_buf_addf(out, "; one process per PE stays");
    if (*p->kept)
        hrun_buf_addf(out, ", as %s", p->kept);
    if (p->predicted > 0)
        hrun_buf_addf(out, "; the last other configuration was predicted to take %.2f of its time", p->predicted);
    if (p->shown > 0)
        hrun_buf_addf(out, "; the last one tried took %.2f of it at N = %lld", p->shown, (long long)p->shown_N);
    hrun_buf_addc(out, '\n');
}

void probe_print(const struct probe *p, struct hrun_buf *out)
{
    if (!p->asked)
        return;
    if (p->not_needed || !p->useful) {
        hrun_buf_addf(out, "  %s\n", p->not_needed ? "--probe is not needed: there is a profile" : useless);
        return;
    }
    if (p->runs) {
        hrun_buf_adds(out, "  --probe      ran ");
        add_runs(p, out);
        hrun_buf_adds(out, p->unlike ? "\n" : ": the default stays\n");
        return;
    }
    hrun_buf_adds(out, "  --probe      first runs ");
    add_runs(p, out);
    hrun_buf_addf(out, ", %s;\n               what follows is run unless these speeds, and one more small run, show a "
                  "quicker one\n", hrun_config_text(&p->config).s);
}

json_t *probe_json(const struct probe *p, int nsubs)
{
    json_t *pes;

    if (!p->asked)
        return json_null();
    if (p->not_needed)
        return json_pack("{s:b}", "needed", 0);
    pes = json_array();
    for (int i = 0; i < nsubs; i++)
        json_array_append_new(pes, json_pack("{s:i, s:i}", "pes", p->config.pes[i], "procs_per_pe",
                                             p->config.procs[i]));
    return json_pack("{s:b, s:b, s:I, s:i, s:o, s:b, s:s?}", "needed", 1, "useful", p->useful, "N",
                     (json_int_t)p->N, "P", p->P, "config", pes, "apart", p->apart, "why_apart",
                     p->apart ? p->why : NULL);
}
