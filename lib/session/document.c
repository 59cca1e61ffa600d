/* document.c - plans and clusters as JSON; see document.h */
#include "session/document.h"

#include "base/alloc.h"
#include "base/json.h"
#include "session/prediction.h"
#include "session/preparation.h"
#include "session/work_passed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A text, or null for NULL. If s is not UTF-8 (file names), each byte above 127 becomes U+FFFD. */
static json_t *text_json(const char *s)
{
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    json_t *j = s ? json_string(s) : json_null();

    for (; !j && *s; s++)
        if ((unsigned char)*s < 0x80)
            hrun_buf_addc(&b, *s);
        else
            hrun_buf_adds(&b, "\xef\xbf\xbd");
    return j ? j : json_string(b.data);
}

/* text_json, but null also for "". */
static json_t *text_or_null(const char *s)
{
    return text_json(s && *s ? s : NULL);
}

static json_t *config_json(const struct hrun_config *config)
{
    json_t *a = json_array();

    for (int i = 0; i < config->nsubs; i++)
        json_array_append_new(a, json_pack("{s:i, s:i}", "pes", config->pes[i], "procs_per_pe", config->procs[i]));
    return a;
}

static json_t *number_or_null(int known, double value)
{
    return known && isfinite(value) ? json_real(value) : json_null();
}

static json_t *count_json(int64_t n)
{
    return n ? json_integer((json_int_t)n) : json_null();
}

/* A share is a whole number of units, or a real number if it is relative. */
static json_t *share_json(double share)
{
    return share == floor(share) ? json_integer((json_int_t)share) : json_real(share);
}

static json_t *choice_json(const struct hrun_choice *v)
{
    return json_pack("{s:o, s:i, s:i, s:f, s:f}", "config", config_json(&v->config), "P", v->P, "pes",
                     v->npes, "predicted_s", v->time_s, "ranked_s", v->ranked_s);
}

/* For each of N and P outside the measured range: how far, and where. */
static json_t *extrapolates_json(const struct context *c, const struct decision *d)
{
    const struct { const char *what; int64_t value; const struct beyond *b; } in[] = {
        { "N", d->N, &d->basis.beyond_n }, { "P", d->P, &d->basis.beyond_p },
    };
    json_t *out = json_array();

    for (size_t i = 0; i < sizeof in / sizeof *in && d->predicted.known; i++)
        if (in[i].b->factor > 1)
            json_array_append_new(out, json_pack("{s:s, s:I, s:f, s:s, s:[I, I]}", "in", in[i].what, "value",
                                                 (json_int_t)in[i].value, "factor", in[i].b->factor, "subcluster",
                                                 c->cluster->subs[in[i].b->sub].name, "measured",
                                                 (json_int_t)in[i].b->measured[0], (json_int_t)in[i].b->measured[1]));
    return out;
}

static json_t *ranks_json(const struct hrun_layout *l)
{
    const struct hrun_cluster *cl = l->cluster;
    json_t *a = json_array();

    for (int r = 0; r < l->nranks; r++) {
        const struct hrun_rank *k = &l->ranks[r];

        json_array_append_new(a, json_pack("{s:i, s:o, s:s, s:i, s:s, s:s, s:o}", "rank", r, "host",
                                           text_json(cl->hosts[k->host].name), "subcluster", cl->subs[k->sub].name,
                                           "pe", k->pe, "cores", k->cores, "pus", k->cpuset, "threads",
                                           count_json(k->threads)));
    }
    return a;
}

/* The sub-clusters that have become faster or slower, by their runs. */
static json_t *drift_json(const struct context *c, const struct decision *d)
{
    json_t *a = json_array();

    for (int i = 0; i < d->nsubs; i++)
        if (d->basis.drift[i].runs)
            json_array_append_new(a, json_pack("{s:s, s:f, s:i, s:s}", "subcluster", c->cluster->subs[i].name, "factor",
                                               d->basis.drift[i].factor, "runs", d->basis.drift[i].runs, "since",
                                               d->basis.drift[i].since));
    return a;
}

/* The Pareto front of time against cost or energy, fastest first; null if there is none. */
static json_t *pareto_json(const struct decision *d)
{
    json_t *a = d->goal.pareto ? json_array() : json_null();

    for (int k = 0; d->goal.pareto && k < d->goal.pareto->n; k++) {
        const struct hrun_choice *v = &d->goal.pareto->v[k];

        json_array_append_new(a, json_pack("{s:o, s:f, s:f}", "config", config_json(&v->config),
                                           "predicted_s", v->time_s, d->goal.pareto_of->name, v->value));
    }
    return a;
}

/* The balance of an application of family ring; null in other families. */
static json_t *ring_json(const struct decision *d)
{
    const struct hrun_balance *b = &d->predicted.balance;

    if (!b->q)
        return json_null();
    return json_pack("{s:i, s:f, s:o, s:o, s:f, s:o}", "processes", b->q, "loss", b->loss, "least_loss",
                     number_or_null(1, b->least), "rounded_loss",
                     number_or_null(1, b->rounded), "efficiency", b->efficiency, "max_loss",
                     number_or_null(d->goal.max_loss > 0, d->goal.max_loss));
}

static json_t *subclusters_json(const struct context *c, const struct decision *d)
{
    json_t *subs = json_array();

    for (int i = 0; i < d->nsubs; i++) {
        const struct hrun_subcluster *s = &c->cluster->subs[i];

        json_array_append_new(
            subs, json_pack("{s:s, s:s, s:i, s:i, s:i, s:o, s:o, s:b, s:o}", "name", s->name, "signature",
                            c->signatures.v[i], "pes", s->npes, "pes_used", d->has_config ? d->config.pes[i] : 0,
                            "procs_per_pe", d->has_config ? d->config.procs[i] : 0, "share",
                            d->shares.each && d->has_config ? share_json(d->shares.each[i]) : json_null(),
                            "predicted_s",
                            number_or_null(d->predicted.sub_time_s[i] > 0, d->predicted.sub_time_s[i]), "profile",
                            d->subs[i].models != NULL, "note", text_json(d->subs[i].why_not)));
    }
    return subs;
}

/* Add the choice and its prediction. */
static void add_chosen_json(json_t *root, const struct context *c, const struct decision *d)
{
    static const char *const by[] = { "model", "user", "default", "probe", "kinds", "runs" };
    const struct hrun_interval *time = &d->predicted.time;
    const struct hrun_tasking *tasking = &d->shares.tasking;
    int known = d->predicted.known;
    json_t *correction = !d->basis.runs_here && !d->basis.runs_elsewhere ? json_null()
                         : json_pack("{s:f, s:i, s:i}", "factor", d->basis.factor, "runs", d->basis.runs_here,
                                     "runs_at_other_N", d->basis.runs_elsewhere);

    json_object_update_new(
        root, json_pack("{s:s?, s:o, s:s, s:s, s:s, s:i, s:o}", "app", c->app ? c->app->name : NULL, "N",
                        count_json(d->N), "engine", c->engine->name, "mpi", c->mpi.id, "chosen_by", by[d->by], "P",
                        d->P, "config", d->has_config ? config_json(&d->config) : json_null()));
    json_object_update_new(
        root, json_pack("{s:o, s:o, s:o, s:s?, s:s?, s:o, s:o, s:o}", "predicted_s", number_or_null(known, time->mid),
                        "predicted_low_s", number_or_null(known, time->low), "predicted_high_s",
                        number_or_null(known, time->high), "limiting",
                        known && !tasking->dynamic ? c->cluster->subs[d->predicted.limiting].name : NULL,
                        "work_goes_to", !known ? NULL : tasking->master ? "who is free, by a master"
                        : tasking->dynamic ? "who is free" : "all alike", "correction", correction,
                        "measured_with", text_json(known ? d->basis.measured_with : NULL), "drift",
                        drift_json(c, d)));
}

static json_t *learning_json(const struct learning *l)
{
    static const char *const why[] = { "usual", "tries", "debt", "saves", "done" };

    if (!l->on)
        return json_null();
    return json_pack("{s:s, s:s?, s:i, s:o, s:o, s:f, s:o, s:o, s:o}", "state", why[l->why], "best", l->best,
                     "best_runs", l->best_runs, "best_s", number_or_null(l->best_s > 0, l->best_s),
                     "usual_s", number_or_null(l->usual_s > 0, l->usual_s), "account_s", l->account_s,
                     "expected_s", number_or_null(l->why == HRUN_LEARN_TRIES, l->expected_s),
                     "low_s", number_or_null(l->why == HRUN_LEARN_TRIES, l->low_s),
                     "high_s", number_or_null(l->why == HRUN_LEARN_TRIES, l->high_s));
}

/* Add the reasons for the size and the configuration, and what makes the prediction uncertain. */
static void add_reasons_json(json_t *root, const struct context *c, const struct decision *d)
{
    autorelease(hrun_buf_release) struct hrun_buf misses = HRUN_BUF_INIT, doubts = HRUN_BUF_INIT;
    const struct finest *f = &d->finest;
    json_t *sizes = !decision_is_outside(d) ? json_null()
                    : json_pack("[I, I]", (json_int_t)d->basis.sizes[0], (json_int_t)d->basis.sizes[1]);
    json_t *explores = !d->explores.on ? json_null()
                       : json_pack("{s:o, s:f, s:i}", "in_place_of", choice_json(&d->plan->v[0]), "predicted_loss",
                                   d->explores.loss, "open", d->explores.open);
    json_t *finest = !f->on ? json_null()
                     : json_pack("{s:I, s:I, s:b, s:o, s:o}", "N", (json_int_t)f->N, "limit", (json_int_t)f->limit,
                                 "limit_given", f->given, "next", count_json(f->next), "why_not",
                                 text_json(f->next ? f->why : NULL));

    for (int i = 0; i < d->nsubs; i++)
        hrun_models_misses(&d->subs[i].models, 1, &misses);
    decision_doubts(d, &doubts);
    json_object_update_new(
        root, json_pack("{s:o, s:o, s:s?, s:o, s:o, s:o, s:o, s:o, s:o}", "explores", explores, "learns",
                        learning_json(&d->learning), "explores_nothing", d->explores.nothing, "finest", finest,
                        "models_that_miss", text_or_null(misses.data), "extrapolation",
                        number_or_null(d->predicted.known, fmax(d->basis.beyond_n.factor, d->basis.beyond_p.factor)),
                        "extrapolates", extrapolates_json(c, d), "outside_of_sizes", sizes, "unsure",
                        text_or_null(doubts.data)));
}

/* The division of the work, for definitions with `shares`; else null. */
static json_t *sharing_json(const struct context *c, const struct decision *d, const struct hrun_layout *layout)
{
    static const char *const how[] = { "equal", "proportional", "best" };
    struct work w = { .c = (struct context *)c, .N = d->N, .share = d->shares.each };
    struct hrun_app_values values;
    autofree double *share = NULL;
    json_t *ranks, *waits;

    if (!d->shares.could_deal || work_values(&w, layout, &share, &values, NULL) || !share)
        return json_null();
    ranks = json_array();
    for (int r = 0; r < layout->nranks; r++)
        json_array_append_new(ranks, share_json(share[r]));
    /* For each sub-cluster: the share with the pace of a traced run, divided by the share without this pace. */
    waits = d->shares.unwatched && !d->kept.on ? json_array() : json_null();
    for (int i = 0; json_is_array(waits) && i < d->nsubs; i++)
        json_array_append_new(waits, number_or_null(d->shares.unwatched[i] > 0,
                                                    d->shares.each[i] / d->shares.unwatched[i]));
    return json_pack("{s:s, s:o, s:o, s:o}", "how", how[d->shares.how], "units", ranks, "waits", waits, "equal",
                     d->shares.equal.P ? choice_json(&d->shares.equal) : json_null());
}

/* The preparation before the run, for definitions with `prepare`; else null. */
static json_t *preparation_json(const struct context *c, const struct decision *d, const struct hrun_layout *layout)
{
    struct work w = { .c = (struct context *)c, .N = d->N, .share = d->shares.each };
    autorelease(hrun_strvec_release) struct hrun_strvec due = HRUN_STRVEC_INIT;
    double took_s = 0, age_s;

    if (!c->app || !c->app->run.nprepare || preparation_due(&w, layout, &due, &took_s, &age_s, NULL))
        return json_null();
    took_s = due.n ? d->kept.prepare_s : took_s;
    return json_pack("{s:i, s:b, s:o}", "steps", (int)due.n, "kept", d->kept.on, "took_s",
                     number_or_null(took_s > 0, took_s));
}

/* Add the alternatives, the excluded configurations, costs, and mpirun's start. */
static void add_others_json(json_t *root, const struct decision *d)
{
    const struct prediction *p = &d->predicted;
    const struct hrun_objective *objective = d->goal.objective;
    json_t *next = json_array();

    for (int k = 1; d->plan && !d->kept.on && k < d->plan->n; k++)
        json_array_append_new(next, choice_json(&d->plan->v[k]));
    json_object_update_new(
        root, json_pack("{s:o, s:o, s:s?, s:o, s:o, s:o, s:o, s:o}", "next_best", next, "failed",
                        d->failed.n ? json_pack("{s:i, s:s, s:o}", "count", d->failed.n, "configs", d->failed.configs,
                                                "last", text_json(d->failed.why)) : json_null(),
                        "objective", objective ? objective->name : NULL, "ring", ring_json(d), "cost",
                        number_or_null(objective != NULL, p->cost), "energy_j",
                        number_or_null(objective != NULL, p->energy_j), "pareto", pareto_json(d),
                        "mpirun_style", !d->plain.known ? json_null()
                        : json_pack("{s:o, s:f, s:f, s:b}", "config", config_json(&d->plain.config), "predicted_s",
                                    d->plain.time_s, "ranked_s", d->plain.ranked_s, "valid", d->plain.valid)));
}

static void add_search_json(json_t *root, const struct hrun_plan *plan)
{
    const struct hrun_plan_counts *n = &plan->counts;
    json_t *counts = json_pack("{s:f}", "total", n->total);

    if (n->counted)
        json_object_update_new(counts, json_pack("{s:f, s:f, s:f, s:f}", "valid", n->valid, "excluded_rule",
                                                 n->excluded_rule, "excluded_memory", n->excluded_memory,
                                                 "excluded_model", n->excluded_model));
    json_object_update_new(root, json_pack("{s:o, s:b, s:o, s:I, s:f}", "configurations", counts, "exact", plan->exact,
                                           "gap", number_or_null(1, plan->gap), "looks",
                                           (json_int_t)plan->evaluated, "search_s", plan->search_s));
}

static void add_network_json(json_t *root, const struct context *c, const struct decision *d)
{
    autorelease(hrun_buf_release) struct hrun_buf irregular = HRUN_BUF_INIT;
    json_t *network = !d->basis.network ? json_null()
                      : json_pack("{s:s, s:o, s:i, s:s?}", "date", c->net->date, "age_s",
                                  number_or_null(d->basis.network_age_s >= 0, d->basis.network_age_s), "hosts",
                                  c->net->nhosts, "file", c->set->network);

    predicted_irregular(c, d, &irregular);
    json_object_update_new(root, json_pack("{s:o, s:o, s:o}", "network", network, "irregular",
                                           text_or_null(irregular.data), "network_note",
                                           text_json(d->basis.network_note)));
}

static json_t *words_json(char *const *words)
{
    json_t *a = words ? json_array() : json_null();

    for (char *const *word = words; word && *word; word++)
        json_array_append_new(a, text_json(*word));
    return a;
}

/* The programs of a job with several, one entry for each series of consecutive ranks; else null. */
static json_t *programs_json(const struct hrun_job *job)
{
    json_t *a = job && job->which ? json_array() : json_null();

    for (int r = 0, n; job && job->which && r < job->layout->nranks; r += n) {
        n = hrun_job_run_length(job, r);
        json_array_append_new(a, json_pack("{s:i, s:i, s:o}", "first", r, "ranks", n, "argv",
                                           words_json(hrun_job_program(job, r).argv)));
    }
    return a;
}

void document_plan(const struct context *c, const struct decision *d, const struct command *cmd, struct hrun_buf *out)
{
    autorelease(hrun_buf_release) struct hrun_buf mapping = HRUN_BUF_INIT;
    json_t *root = json_object();

    add_chosen_json(root, c, d);
    add_reasons_json(root, c, d);
    json_object_set_new(root, "subclusters", subclusters_json(c, d));
    add_others_json(root, d);
    json_object_set_new(root, "shares", sharing_json(c, d, cmd->layout));
    json_object_set_new(root, "prepare", preparation_json(c, d, cmd->layout));
    if (d->plan)
        add_search_json(root, d->plan);
    add_network_json(root, c, d);
    if (cmd->more)
        json_object_update(root, cmd->more);
    if (cmd->mapping && cmd->layout->bound)
        hrun_mapping_print(cmd->mapping, cmd->layout, &mapping);
    json_object_update_new(
        root, json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o}", "measurements", d->basis.nsamples, "mapping",
                        text_or_null(mapping.data), "ranks", ranks_json(cmd->layout), "argv", words_json(cmd->argv),
                        "programs", programs_json(cmd->job), "yielding", text_or_null(cmd->yielding), "mpirun",
                        text_json(cmd->mpirun)));
    hrun_json_print(root, out);
}

/* The hosts that are not used, and the reasons. */
static json_t *left_out_json(const struct hrun_cluster *cl)
{
    json_t *a = json_array();

    for (size_t i = 0; i < cl->unreachable.n; i++)
        json_array_append_new(a, json_pack("{s:s, s:o}", "name", cl->unreachable.v[i], "why",
                                           text_json(cl->why_not.v[i])));
    for (size_t i = 0; i < cl->not_granted.n; i++)
        json_array_append_new(a, json_pack("{s:s, s:s}", "name", cl->not_granted.v[i], "why", "not granted"));
    return a;
}

void document_cluster(const struct context *c, struct hrun_buf *out)
{
    const struct hrun_cluster *cl = c->cluster;
    json_t *root = json_object(), *subs = json_array(), *hosts = json_array();

    for (int k = 0; k < cl->nhosts; k++) {
        const struct hrun_host *h = &cl->hosts[k];

        json_array_append_new(
            hosts, json_pack("{s:s, s:b, s:i, s:i, s:b, s:o, s:o, s:o, s:o}", "name", h->name, "local", h->is_local,
                             "slots", h->slots ? h->slots : h->cores, "component", h->group, "remembered",
                             h->remembered, "asked", count_json(h->asked_s), "fingerprint",
                             text_or_null(h->fingerprint), "openmpi", text_json(h->mpi), "cpu_quota",
                             number_or_null(h->cpu_quota > 0, h->cpu_quota)));
    }
    for (int i = 0; i < cl->nsubs; i++) {
        const struct hrun_subcluster *s = &cl->subs[i];
        json_t *pes = json_array();

        for (int k = 0; k < s->npes; k++)
            json_array_append_new(pes, json_pack("{s:s, s:i, s:s, s:s, s:f}", "host", cl->hosts[s->pes[k].host].name,
                                                 "index", s->pes[k].index, "cores", s->pes[k].cores, "pus",
                                                 s->pes[k].cpuset, "memory_bytes", (double)s->pes[k].memory_bytes));
        json_array_append_new(
            subs, json_pack("{s:s, s:o, s:s, s:s, s:i, s:i, s:f, s:f, s:f, s:s?, s:s?, s:o, s:o}", "name", s->name,
                            "cpu_model", text_json(s->cpu_model), "core_kind", s->core_kind, "level",
                            hrun_level_name(s->level), "cores_per_pe", s->cores_per_pe, "pus_per_pe", s->pus_per_pe,
                            "memory_bytes", (double)s->memory_bytes, "cost_per_hour", s->cost_per_hour, "power_w",
                            s->power_w, "network", s->network, "signature",
                            (size_t)i < c->signatures.n ? c->signatures.v[i] : NULL, "program",
                            text_json(s->program), "pes", pes));
    }
    json_object_update_new(root, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "source", text_json(cl->source),
                                           "platform", text_json(cl->platform), "allocation",
                                           text_json(cl->allocation), "hosts", hosts, "left_out", left_out_json(cl),
                                           "subclusters", subs));
    hrun_json_print(root, out);
}
