/* accuracy.c - prints how good the choices of several methods are (make accuracy)
 *
 *   accuracy [--tables DIR] [--networks DIR|none] [--exact] [--top DIR] [--app A,B] [--platform X,Y] [--methods M,N]
 *            [--seeds K] [--seed S] [--repeat R] [--sigma X] [--glitches X] [--jobs K] [--json]
 * Models with network terms have the network that was estimated of the cluster; with --exact that which it truly is.
 * Of each method, in percent: epsilon and |delta|, mean and worst, and how often the 95 % interval of the choice held
 * a further run, at the sizes trained and then at the others; what its measurements took of the homogeneous grid, and
 * of all configurations; how many sizes got no choice; which targets it misses over all sizes. Below, epsilon of
 * static allocations; and for each method that misses epsilon, why: how much of it has which cause, and the choices
 * that cost most, each with the predictions and runs that led to it. See accuracy.h for the words.
 * Exit status: 0; 1 when something failed, 2 for options that cannot be used.
 */
#include "accuracy.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/units.h"
#include "plan/plan.h"

#include <getopt.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { METHODS_MAX = 32 };

/* The targets of hrun: mean and worst epsilon by application (others have no mean), and for all mean and worst
 * |delta|, how often 95 % intervals hold, and the cost as a share of that of all configurations at the sizes trained,
 * which is what paper 000 measures for its N-T models. */
static const struct {
    const char *app;
    double epsilon_mean, epsilon_worst;
} targets[] = {
    { "jacobi", 0.001, 0.05 }, { "femcg", 0.01, 0.05 }, { "lu", 0.005, 0.05 }, { "fft", 0.05, 0.15 },
    { NULL, INFINITY, 0.05 }
};
static const double target_delta_mean = 0.05, target_delta_worst = 0.1,
                    target_covered_least = 0.9, target_covered_most = 0.99, target_cost = 0.05;

struct options {
    const char *tables, *networks, *top, *apps, *platforms, *methods;
    int seeds, repeat, jobs, json, exact;
    struct truth_noise noise;
};

/* Is `name` a word of the comma-separated list? NULL holds all. */
static int listed(const char *list, const char *name)
{
    size_t len = strlen(name);

    if (!list)
        return 1;
    for (const char *p = list; (p = strstr(p, name)); p++)
        if ((p == list || p[-1] == ',') && (!p[len] || p[len] == ','))
            return 1;
    return 0;
}

/* ---------------------------------------------------------------- text */

static void figures(struct hrun_table *table, const struct summary *s, int with_delta)
{
    if (!s->served) {
        for (int i = 0; i < (with_delta ? 5 : 2); i++)
            hrun_table_cell(table, "-");
        return;
    }
    hrun_table_cell(table, "%.2f", 100.0 * s->epsilon_mean);
    hrun_table_cell(table, "%.1f", 100.0 * s->epsilon_worst);
    if (!with_delta)
        return;
    hrun_table_cell(table, "%.1f", 100.0 * s->delta_mean);
    hrun_table_cell(table, "%.1f", 100.0 * s->delta_worst);
    hrun_table_cell(table, "%.0f", 100.0 * s->covered);
}

static double mean_cost(const struct trials *t)
{
    double sum = 0.0;

    for (int i = 0; i < t->nseeds; i++)
        sum += t->cost_s[i];
    return sum / t->nseeds;
}

/* Which of targets. */
static size_t target_of(const struct truth *t)
{
    size_t i = 0;

    while (targets[i].app && strcmp(targets[i].app, t->app))
        i++;
    return i;
}

/* Append which targets are missed over all sizes, "none" when all are reached. */
static void missed(const struct truth *t, const struct trials *v, struct hrun_buf *out)
{
    struct summary s = accuracy_summary(v, 0, v->nsizes);
    size_t start = out->len;
    const struct {
        int miss;
        const char *name;
    } all[] = {
        { s.served < s.asked, "choice" },
        { s.epsilon_mean > targets[target_of(t)].epsilon_mean, "ε" },
        { s.epsilon_worst > targets[target_of(t)].epsilon_worst, "worst ε" },
        { s.delta_mean > target_delta_mean, "δ" },
        { s.delta_worst > target_delta_worst, "worst δ" },
        { s.covered < target_covered_least || s.covered > target_covered_most, "95 %" },
        { mean_cost(v) > target_cost * truth_cost(t, 1), "cost" },
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i].miss)
            hrun_buf_addf(out, "%s%s", out->len > start ? ", " : "", all[i].name);
    if (out->len == start)
        hrun_buf_adds(out, "none");
}

static void print_method(struct hrun_table *table, const struct truth *t, const struct trials *v)
{
    struct summary trained = accuracy_summary(v, 0, v->ntrain), other = accuracy_summary(v, v->ntrain, v->nsizes);
    double cost = mean_cost(v);
    struct hrun_buf misses;

    hrun_buf_init(&misses);
    missed(t, v, &misses);
    hrun_table_cell(table, "%s", v->method->name);
    figures(table, &trained, 1);
    figures(table, &other, 1);
    hrun_table_cell(table, "%.1f", 100.0 * cost / truth_cost(t, 0));
    hrun_table_cell(table, "%.2f", 100.0 * cost / truth_cost(t, 1));
    hrun_table_cell(table, "%d", trained.asked + other.asked - trained.served - other.served);
    hrun_table_cell(table, "%s", misses.data ? misses.data : "");
    hrun_buf_release(&misses);
}

static void print_static(struct hrun_table *table, const struct allocation *a)
{
    struct hrun_buf text;

    hrun_buf_init(&text);
    hrun_buf_adds(&text, hrun_config_text(&a->config).s);
    hrun_table_cell(table, "%s", text.data ? text.data : "");
    figures(table, &a->summary, 0);
    for (int i = 0; i < 10; i++)
        hrun_table_cell(table, "%s", "");
    hrun_table_cell(table, "%d", a->summary.asked - a->summary.served);
    hrun_table_cell(table, "%s", "");
    hrun_buf_release(&text);
}

/* ---------------------------------------------------------------- why epsilon is missed */

static enum missing misses_epsilon(const struct truth *t, const struct trials *v)
{
    struct summary s = accuracy_summary(v, 0, v->nsizes);
    size_t k = target_of(t);

    return s.served && s.epsilon_mean > targets[k].epsilon_mean ? MISSES_MEAN
         : s.served && s.epsilon_worst > targets[k].epsilon_worst ? MISSES_WORST : MISSES_NOTHING;
}

static void print_why(const struct trial *trial, const struct trials *v, int nmethods)
{
    enum missing missing[METHODS_MAX];

    for (int m = 0; m < nmethods; m++)
        missing[m] = misses_epsilon(trial->truth, &v[m]);
    accuracy_print_why(trial, v, missing, nmethods);
}

/* Which targets of epsilon there are, and the network. */
static void print_head(const struct truth *t, const struct accuracy_network *network)
{
    size_t k = target_of(t);

    if (isfinite(targets[k].epsilon_mean))
        printf("  targets of ε: mean %g %%, ", 100.0 * targets[k].epsilon_mean);
    else
        printf("  target of ε: ");
    printf("worst %g %%\n", 100.0 * targets[k].epsilon_worst);
    if (network->what[0])
        printf("  network: %s\n", network->what);
}

/* How often the choices cross from one switch to another, where there are several. */
static void print_crossings(const struct truth *t, const struct accuracy_network *network, const struct trials *v,
                            int nmethods)
{
    for (int m = 0; m < nmethods && network->nswitches > 1; m++) {
        struct crossings c = accuracy_crossings(t, network->switch_of, &v[m]);

        printf("  %s: %d of %d choices cross between switches, %d of the best ones do; %d cross needlessly, %d stay "
               "where the best crosses\n", v[m].method->name, c.chosen, c.served, c.best, c.needless, c.missing);
    }
}

static void print_text(const struct options *o, const struct trial *trial, const struct accuracy_network *network,
                       const struct trials *v, int nmethods)
{
    const struct truth *t = trial->truth;
    struct hrun_table *table = hrun_table_create("lrrrrrrrrrrrrrl");
    struct allocation fixed[TRUTH_SUBS_MAX + 1];
    struct hrun_buf out;
    size_t nconfigs = 0, n;
    int nfixed;

    for (int i = 0; i < trial->nsizes; i++) {
        truth_at(t, trial->sizes[i], &n);
        nconfigs = n > nconfigs ? n : nconfigs;
    }
    printf("%s on %s: %zu configurations, %d sizes trained and %d others, best times %.3g to %.3g s; %s, noise %g %%, "
           "glitches %g %%\n", t->app, t->platform, nconfigs, t->ntrain, t->nother,
           truth_best(t, trial->sizes[0])->time_s, truth_best(t, t->train[t->ntrain - 1])->time_s,
           hrun_counted(o->seeds, "seed").s, 100.0 * o->noise.sigma, 100.0 * o->noise.glitches);
    print_head(t, network);
    hrun_table_row(table, "%", "ε mean", "worst", "|δ| mean", "worst", "in 95 %", "others: ε", "worst", "|δ|",
                   "worst", "in 95 %", "of grid", "of all", "no choice", "targets missed");
    for (int m = 0; m < nmethods; m++)
        print_method(table, t, &v[m]);
    accuracy_static(trial, fixed, &nfixed);
    for (int i = 0; i < nfixed; i++)
        print_static(table, &fixed[i]);
    hrun_buf_init(&out);
    hrun_table_render(table, 2, &out);
    printf("%s\n", out.data ? out.data : "");
    hrun_buf_release(&out);
    hrun_table_destroy(table);
    print_crossings(t, network, v, nmethods);
    print_why(trial, v, nmethods);
    fflush(stdout);
}

/* ---------------------------------------------------------------- JSON */

static json_t *json_summary(const struct summary *s, const struct trial *trial)
{
    json_t *j = json_pack("{si si}", "asked", s->asked, "served", s->served);

    if (!s->served)
        return j;
    json_object_set_new(j, "epsilon_mean", json_real(s->epsilon_mean));
    json_object_set_new(j, "epsilon_worst", json_real(s->epsilon_worst));
    json_object_set_new(j, "epsilon_worst_N", json_integer(trial->sizes[s->worst_size]));
    json_object_set_new(j, "delta_mean", json_real(s->delta_mean));
    json_object_set_new(j, "delta_worst", json_real(s->delta_worst));
    json_object_set_new(j, "covered", json_real(s->covered));
    return j;
}

static json_t *json_crossings(const struct truth *t, const struct accuracy_network *network, const struct trials *v)
{
    struct crossings c = accuracy_crossings(t, network->switch_of, v);

    return json_pack("{si si si si si}", "served", c.served, "chosen", c.chosen, "best", c.best, "needless",
                     c.needless, "missing", c.missing);
}

static json_t *json_set(const struct options *o, const struct trial *trial, const struct accuracy_network *network,
                        const struct trials *v, int nmethods)
{
    const struct truth *t = trial->truth;
    json_t *set = json_pack("{ss ss si sf sf}", "app", t->app, "platform", t->platform, "seeds", o->seeds, "sigma",
                            o->noise.sigma, "glitches", o->noise.glitches);
    json_t *methods = json_array(), *fixed = json_array();
    struct allocation a[TRUTH_SUBS_MAX + 1];
    struct summary s;
    int n;

    for (int m = 0; m < nmethods; m++) {
        json_t *j = json_pack("{ss sf sf}", "method", v[m].method->name, "cost_of_grid",
                              mean_cost(&v[m]) / truth_cost(t, 0), "cost_of_all", mean_cost(&v[m]) / truth_cost(t, 1));
        s = accuracy_summary(&v[m], 0, v[m].ntrain);
        json_object_set_new(j, "trained", json_summary(&s, trial));
        s = accuracy_summary(&v[m], v[m].ntrain, v[m].nsizes);
        json_object_set_new(j, "others", json_summary(&s, trial));
        if (network->nswitches > 1)
            json_object_set_new(j, "crossings", json_crossings(t, network, &v[m]));
        accuracy_json_why(j, trial, &v[m]);
        json_array_append_new(methods, j);
    }
    if (network->what[0])
        json_object_set_new(set, "network", json_string(network->what));
    accuracy_static(trial, a, &n);
    for (int i = 0; i < n; i++) {
        struct hrun_buf text;
        hrun_buf_init(&text);
        hrun_buf_adds(&text, hrun_config_text(&a[i].config).s);
        json_array_append_new(fixed, json_pack("{ss si si sf sf}", "config", text.data, "asked", a[i].summary.asked,
                                               "served", a[i].summary.served, "epsilon_mean",
                                               a[i].summary.epsilon_mean, "epsilon_worst",
                                               a[i].summary.epsilon_worst));
        hrun_buf_release(&text);
    }
    json_object_set_new(set, "methods", methods);
    json_object_set_new(set, "static", fixed);
    return set;
}

/* ---------------------------------------------------------------- the whole */

/* As many processes per PE as the table has of some sub-cluster: what a definition allows is made for its own tests. */
static void allow_procs(struct hrun_app *app, const struct truth *t)
{
    int most = 1, *procs;

    for (int i = 0; i < t->nsubs; i++)
        most = t->procs_max[i] > most ? t->procs_max[i] : most;
    procs = xcalloc((size_t)most, sizeof *procs);
    for (int i = 0; i < most; i++)
        procs[i] = i + 1;
    free(app->procs_per_pe);
    app->procs_per_pe = procs;
    app->nprocs_per_pe = most;
}

static int do_set(const struct options *o, struct truth *t, const struct method *const *methods, int nmethods,
                  json_t *json, struct hrun_error *err)
{
    struct trial trial = { .truth = t };
    struct trials *v = NULL;
    struct hrun_app *app = NULL;
    struct accuracy_network network = { 0 };
    char *file = hrun_strf("%s/%s", o->top, t->definition);
    int status = -1;

    if (hrun_app_load(file, NULL, &app, err) || truth_load(o->tables, t, err))
        goto done;
    allow_procs(app, t);
    if (o->networks && hrun_app_has_network(app) && accuracy_network_open(o->networks, o->exact, t, &network, err))
        goto done;
    if (accuracy_run(t, app, network.view, methods, nmethods, &o->noise, o->repeat, o->seeds, o->jobs, &v, err))
        goto done;
    accuracy_sizes(&trial);
    if (json)
        json_array_append_new(json, json_set(o, &trial, &network, v, nmethods));
    else
        print_text(o, &trial, &network, v, nmethods);
    status = 0;
done:
    accuracy_release(v);
    truth_release(t);
    accuracy_network_close(&network);
    hrun_app_destroy(app);
    free(file);
    return status;
}

static int usage(const char *why)
{
    fprintf(stderr, "accuracy: %s; usage: accuracy [--tables DIR] [--networks DIR|none] [--exact] [--top DIR]\n"
            "    [--app A,B] [--platform X,Y] [--methods M,N] [--seeds K] [--seed S] [--repeat R] [--sigma X]\n"
            "    [--glitches X] [--jobs K] [--json]\n"
            "methods:\n", why);
    for (const struct method *m = accuracy_methods; m->name; m++)
        fprintf(stderr, "    %-10s %s\n", m->name, m->what);
    return 2;
}

static int parse(struct options *o, int argc, char **argv)
{
    static const struct option table[] = {
        { "tables", 1, NULL, 't' }, { "networks", 1, NULL, 'w' }, { "exact", 0, NULL, 'e' }, { "top", 1, NULL, 'T' },
        { "app", 1, NULL, 'a' }, { "platform", 1, NULL, 'p' },
        { "methods", 1, NULL, 'm' }, { "seeds", 1, NULL, 'k' }, { "seed", 1, NULL, 's' }, { "repeat", 1, NULL, 'r' },
        { "sigma", 1, NULL, 'n' }, { "glitches", 1, NULL, 'g' }, { "jobs", 1, NULL, 'j' }, { "json", 0, NULL, 'J' },
        { NULL, 0, NULL, 0 }
    };
    int c;

    opterr = 0;
    while ((c = getopt_long(argc, argv, "", table, NULL)) != -1)
        switch (c) {
        case 't': o->tables = optarg; break;
        case 'w': o->networks = strcmp(optarg, "none") ? optarg : NULL; break;
        case 'e': o->exact = 1; break;
        case 'T': o->top = optarg; break;
        case 'a': o->apps = optarg; break;
        case 'p': o->platforms = optarg; break;
        case 'm': o->methods = optarg; break;
        case 'k': o->seeds = (int)strtol(optarg, NULL, 10); break;
        case 's': o->noise.seed = strtoull(optarg, NULL, 10); break;
        case 'r': o->repeat = (int)strtol(optarg, NULL, 10); break;
        case 'n': o->noise.sigma = strtod(optarg, NULL); break;
        case 'g': o->noise.glitches = strtod(optarg, NULL); break;
        case 'j': o->jobs = (int)strtol(optarg, NULL, 10); break;
        case 'J': o->json = 1; break;
        default: return -1;
        }
    return optind < argc || o->seeds < 1 || o->repeat < 1 || o->jobs < 1 || !(o->noise.sigma >= 0) ||
           !(o->noise.glitches >= 0) ? -1 : 0;
}

int main(int argc, char **argv)
{
    struct options o = { .tables = "build/accuracy/tables", .networks = "build/accuracy/networks", .top = ".",
                         .seeds = 20, .repeat = 1, .jobs = (int)sysconf(_SC_NPROCESSORS_ONLN),
                         .noise = TRUTH_NOISE_DEFAULT };
    const struct method *methods[METHODS_MAX];
    struct truth *sets = NULL;
    struct hrun_error err = { 0 };
    size_t nsets = 0;
    json_t *json = NULL;
    int nmethods = 0, done = 0, status;

    if (parse(&o, argc, argv))
        return usage("an option cannot be used");
    for (const struct method *m = accuracy_methods; m->name; m++)
        if (listed(o.methods, m->name))
            methods[nmethods++] = m;
    if (!nmethods)
        return usage("no such method");
    json = o.json ? json_array() : NULL;
    status = truth_list(o.tables, &sets, &nsets, &err);
    for (size_t i = 0; !status && i < nsets; i++)
        if (listed(o.apps, sets[i].app) && listed(o.platforms, sets[i].platform)) {
            status = do_set(&o, &sets[i], methods, nmethods, json, &err);
            done++;
        }
    if (!status && !done)
        status = hrun_fail(&err, HRUN_ENOENT, "%s/sets.csv has no such table", o.tables);
    if (!status && json)
        status = json_dumpf(json, stdout, JSON_INDENT(1)) || putchar('\n') == EOF;
    if (status)
        fprintf(stderr, "accuracy: %s\n", err.text);
    json_decref(json);
    free(sets);
    return status ? 1 : 0;
}
