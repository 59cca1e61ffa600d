/* probe_say.c - what is said of a probe; see probe.h */
#include "probe.h"

#include "base/units.h"

static const char useless[] = "--probe runs nothing: all PEs are alike, and no other configuration can be quicker by "
                              "their speed";

static const char *plural(int64_t n)
{
    return n == 1 ? "" : "s";
}

/* "with N = 150 on 12 processes, one per PE" */
static void add_runs(const struct probe *p, struct hrun_buf *out)
{
    if (p->apart)
        hrun_buf_addf(out, "with N = %lld on each sub-cluster alone, one process per PE (%s)", (long long)p->N, p->why);
    else
        hrun_buf_addf(out, "with N = %lld on %d process%s, one per PE", (long long)p->N, p->P,
                      p->P == 1 ? "" : "es");
}

void probe_before(const struct probe *p, struct hrun_buf *out)
{
    if (!p->useful) {
        hrun_buf_addf(out, "hrun: %s\n", useless);
        return;
    }
    if (p->is_look) {
        if (!(p->look_s > 0))
            hrun_buf_addf(out, "hrun: --probe does not look at the run: %s\n", p->why);
        return;
    }
    hrun_buf_adds(out, "hrun: probes the speeds ");
    add_runs(p, out);
    hrun_buf_addc(out, '\n');
}

/* "the first 5 s of the run" */
static void add_look(const struct probe *p, struct hrun_buf *out)
{
    hrun_buf_adds(out, "the first ");
    hrun_add_seconds(out, p->look_s);
    hrun_buf_adds(out, " of the run");
}

void probe_begins_anew(const struct probe *p, const struct decision *d, struct hrun_buf *out)
{
    hrun_buf_adds(out, "hrun: --probe: ");
    if (!p->unlike) {
        hrun_buf_addf(out, "%s: the default is begun anew\n", p->kept);
        return;
    }
    hrun_buf_adds(out, "by ");
    add_look(p, out);
    hrun_buf_addc(out, ' ');
    hrun_config_print(d->pes, d->procs, d->nsubs, out);
    hrun_buf_addf(out, " is predicted to take %.2f of the time of the default: it is begun anew\n", p->predicted);
}

/* What became of looks. */
static void add_looked(const struct probe *p, const struct decision *d, struct hrun_buf *out)
{
    hrun_buf_adds(out, "hrun: --probe looked at ");
    add_look(p, out);
    if (p->runs) {
        hrun_buf_addf(out, "; %d start%s ended after ", p->runs, p->runs == 1 ? " was" : "s were");
        hrun_add_seconds(out, p->cost_s);
        hrun_buf_adds(out, p->runs == 1 ? "" : " in all");
    }
    hrun_buf_adds(out, p->unlike ? "; " : "; the default was run, as ");
    if (!p->unlike) {
        hrun_buf_addf(out, "%s\n", *p->kept ? p->kept : "it ended before, or wrote much");
        return;
    }
    hrun_config_print(d->pes, d->procs, d->nsubs, out);
    hrun_buf_addf(out, " was predicted to take %.2f of the time of the default", p->predicted);
    if (p->shown > 0)
        hrun_buf_addf(out, ", and did as much in %.2f of it", p->shown);
    hrun_buf_addc(out, '\n');
}

void probe_after(const struct probe *p, const struct decision *d, double job_s, struct hrun_buf *out)
{
    if (p->is_look) {
        add_looked(p, d, out);
        return;
    }
    hrun_buf_addf(out, "hrun: the probe took %d run%s and ", p->runs, plural(p->runs));
    hrun_add_seconds(out, p->cost_s);
    if (job_s > 0)
        hrun_buf_addf(out, ", %.*f %% of the real run", p->cost_s < 0.1 * job_s, 100 * p->cost_s / job_s);
    if (p->unlike) {
        hrun_buf_adds(out, "; ");
        hrun_config_print(d->pes, d->procs, d->nsubs, out);
        hrun_buf_addf(out, " is predicted to take %.2f of the time of one process per PE, and took %.2f of it at "
                      "N = %lld\n", p->predicted, p->shown, (long long)p->shown_N);
        return;
    }
    hrun_buf_addf(out, "; one process per PE, ratio 1, as %s", p->kept);
    if (p->predicted > 0)
        hrun_buf_addf(out, ": predicted %.2f", p->predicted);
    if (p->shown > 0)
        hrun_buf_addf(out, ", %.2f at N = %lld", p->shown, (long long)p->shown_N);
    hrun_buf_addc(out, '\n');
}

void probe_print(const struct probe *p, const struct decision *d, struct hrun_buf *out)
{
    if (!p->asked)
        return;
    if (p->not_needed || !p->useful) {
        hrun_buf_addf(out, "  %s\n", p->not_needed ? "--probe is not needed: there is a profile" : useless);
        return;
    }
    if (p->is_look && !(p->look_s > 0)) {
        hrun_buf_addf(out, "  --probe      does not look at the run: %s\n", p->why);
        return;
    }
    if (p->is_look) {
        hrun_buf_adds(out, "  --probe      looks at ");
        add_look(p, out);
        hrun_buf_adds(out, ", which goes on unless another configuration is clearly quicker\n");
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
    hrun_buf_adds(out, ", ");
    hrun_config_print(p->pes, p->procs, d->nsubs, out);
    hrun_buf_adds(out, ";\n               what follows is run unless these speeds, and one more small run, show a "
                  "quicker one\n");
}

json_t *probe_json(const struct probe *p, int nsubs)
{
    json_t *pes;

    if (!p->asked)
        return json_null();
    if (p->not_needed)
        return json_pack("{s:b}", "needed", 0);
    if (p->is_look)
        return json_pack("{s:b, s:b, s:o, s:s?}", "needed", 1, "useful", p->useful, "look_s",
                         p->look_s > 0 ? json_real(p->look_s) : json_null(), "why_not", *p->why ? p->why : NULL);
    pes = json_array();
    for (int i = 0; i < nsubs; i++)
        json_array_append_new(pes, json_pack("{s:i, s:i}", "pes", p->pes[i], "procs_per_pe", p->procs[i]));
    return json_pack("{s:b, s:b, s:I, s:i, s:o, s:b, s:s?}", "needed", 1, "useful", p->useful, "N",
                     (json_int_t)p->N, "P", p->P, "config", pes, "apart", p->apart, "why_apart",
                     p->apart ? p->why : NULL);
}
