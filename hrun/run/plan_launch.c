/* plan_launch.c - from the command line to a layout with locked PEs; see run.h */
#include "base/units.h"
#include "report.h"
#include "session/context_network.h"
#include "session/core_kinds.h"
#include "session/decide_by_runs.h"
#include "session/decide_unmodelled.h"
#include "session/finest.h"
#include "session/number.h"
#include "session/placement.h"
#include "session/problem.h"
#include "session/work_passed.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void on_words(void *ctx, const char *text)
{
    (void)ctx;
    fprintf(stderr, "hrun: %s\n", text);
}

static void drop_choice(struct launch_plan *p)
{
    hrun_layout_destroy(p->layout);
    p->layout = NULL;
    probe_release(&p->probe);
    decision_release(&p->d);
    profiles_release(&p->known);
    variants_release(&p->variants);
}

void launch_plan_release(struct launch_plan *p)
{
    ledger_release(&p->ledger);
    drop_choice(p);
    context_release(&p->c);
}

/* ---------------------------------------------------------------- the decision */

/* Add the command that measures a larger size to the error, if only one size was measured. */
static void advise_size(const struct launch_plan *p, const struct finest *f, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf command = HRUN_BUF_INIT;
    const struct decision larger = { .N = f->measure };
    struct hrun_error why = *err;

    if (!f->measure)
        return;
    report_calibrate_command(&p->c, CALIBRATE_MEASURE, &larger, p->w.words, &command);
    hrun_fail(err, why.code, "%s; to measure a larger one: %s", why.text, command.data);
}

/* Decide; with --finest, for the largest size up to N (0: no limit) that has a decision. Earlier runs may exclude a
 * size that the models allow. */
static int decide_size(struct launch_plan *p, const struct question *q, int finest, int64_t N, struct hrun_error *err)
{
    struct hrun_error why = { 0 };
    struct finest f = { 0 }, first = { 0 };
    int rc = -1;

    if (!finest)
        return decision_make(&p->c, q, &p->known, N, &p->d, err);
    p->w.N = 0;
    if (!work_size_is_passed(&p->w))
        return hrun_fail(err, HRUN_EINVAL, "--finest: the size N does not reach the program: write {N} where it "
                         "stands, for instance %s '{N}'", p->w.words[0]);
    while (rc && !finest_find(&p->c, q, &p->known, N, &f, rc && why.text[0] ? &why : err)) {
        if (!first.on)
            first = f;
        f.limit = first.limit;
        f.given = first.given;
        if (!f.next && N < first.limit && why.text[0]) {   /* earlier runs exclude what the search allowed */
            f.next = N + 1;
            snprintf(f.why, sizeof f.why, "%.639s", why.text);
        }
        rc = decision_make(&p->c, q, &p->known, f.N, &p->d, &why);
        N = f.N - 1;
        if (rc && (why.code != HRUN_EINFEASIBLE || N < 1))
            break;
    }
    if (rc && why.text[0])
        *err = why;
    if (rc) {
        advise_size(p, &f, err);
        return -1;
    }
    p->d.finest = f;
    p->w.N = f.N;
    return 0;
}

/* Probe if there is no profile; in a dry run only plan the probe. */
static int probe_speeds(struct launch_plan *p, const struct hrun_settings *s, struct hrun_error *err)
{
    p->probe.asked = s->probe;
    if (!s->probe)
        return 0;
    if (p->d.by == BY_MODEL) {
        p->probe.not_needed = 1;
        if (!s->dry_run)
            settings_say(&s->common, "--probe is not needed: there is a profile, and it is used");
        return 0;
    }
    if (probe_plan(&p->probe, &p->w, s, &p->d, err))
        return -1;
    if (s->dry_run)
        return 0;
    probe_announce(&p->probe, &s->common);
    return p->probe.useful ? probe_make(&p->probe, &p->w, s, &p->d, err) : 0;
}

/* Make a bare definition, so that a program without a definition can be probed. */
static int make_bare(struct context *c, const char *program, struct hrun_error *err)
{
    struct hrun_app *other = NULL;

    if (hrun_app_create_bare(program, &c->app, err))
        return -1;
    if (hrun_app_find(&c->app_dirs, c->app->name, NULL, &other, NULL))
        return 0;
    hrun_app_destroy(other);
    return hrun_fail(err, HRUN_EINVAL, "no definition knows the program %s, but there is one called %s: say -app %s "
                     "where that is what it is, or call the program otherwise", program, c->app->name, c->app->name);
}

/* Choose by the speeds of the cores, if the program has no profile and the host has several kinds of cores. */
static int choose_kinds(struct launch_plan *p, const struct question *ask, struct hrun_error *err)
{
    const char *why_not = p->set->dry_run ? "a run would first measure them, with all cores, in 1.5 s"
                          : ledger_busy(&p->ledger) ? "others use some cores, so that they are not measured now" : NULL;

    if (p->set->probe || p->set->programs.n || p->granted.by || !kinds_matter(&p->c, ask, &p->d))
        return 0;
    if (!p->c.kinds.looked)
        kinds_load_speeds(&p->c, why_not);
    return kinds_decide(&p->c, !learn_applies(&p->c, ask, &p->d), &p->d, err);
}

/* Load the profiles and decide by them, for the best variant if none is named. */
static int decide_by_profiles(struct launch_plan *p, struct hrun_error *err)
{
    struct context *c = &p->c;
    int choose = c->variants_of && !p->set->common.variant && p->N;

    if (choose && p->set->finest)
        return hrun_fail(err, HRUN_EINVAL, "--finest chooses the size of one variant: say which with --variant");
    if (choose) {
        if (variants_load(c, &p->variants, err) || variants_choose(c, &p->ask, p->N, &p->variants, err))
            return -1;
        variants_move_chosen(&p->variants, &p->known, &p->d);
        return 0;
    }
    if (c->app && (p->N || p->set->finest) && profiles_load(c, &p->known, err))
        return -1;
    return decide_size(p, &p->ask, p->set->finest, p->N, err);
}

/* For a dry run without words, find the definition's program, which may be missing. A program of that name built for
 * other hosts is ignored. */
static int find_definitions_program(struct launch_plan *p, struct hrun_error *err)
{
    struct hrun_error why;

    if (!work_find_program(&p->w, 0, &why)) {
        if (!context_can_run(&p->c, &p->c.mpi))
            context_drop_program(&p->c);
        return 0;
    }
    if (why.code == HRUN_ENOPROG)
        return 0;
    *err = why;
    return -1;
}

/* Check the file of --network, and print a note if no prediction uses it. */
static int check_network_option(struct launch_plan *p, const struct hrun_settings *s, struct hrun_error *err)
{
    const char *file = s->common.network;

    if (!file)
        return 0;
    if (network_load(&p->c, NULL, err))
        return -1;
    if (!p->d.basis.network && !s->tune_collectives)
        settings_say(&s->common, "--network %s changes nothing: %s", file,
                     p->c.app && hrun_app_has_network(p->c.app) ? "there is no prediction that asks the network"
                     : "the application has no terms of the network");
    return 0;
}

/* ---------------------------------------------------------------- the layout and its PEs */

int plan_layout(struct launch_plan *p, const char *const *busy, struct hrun_error *err)
{
    struct context *c = &p->c;
    int rc;

    hrun_layout_destroy(p->layout);
    p->layout = NULL;
    c->busy = busy;
    if (hrun_mapping_places(&p->mapping) || p->d.fallback.granted)
        rc = placement_map(c, &p->ask, p->d.fallback.granted ? &p->granted : &p->mapping, &p->layout, err);
    else
        rc = placement_layout(c, &p->d, &p->layout, err) ||
             (p->mapping.bind_to && placement_bind(c, &p->ask, &p->mapping, p->layout, err)) ? -1 : 0;
    p->w.share = p->d.shares.each;
    return rc;
}

/* Place the processes as the allocation grants, if only the default or -n determines the choice and the rule accepts
 * that number of processes. */
static int choose_granted(struct launch_plan *p, struct hrun_error *err)
{
    struct decision *d = &p->d;
    struct hrun_layout *mapped = NULL;
    enum decided_by by = d->by;
    int rc, P = p->ask.procs ? (int)p->ask.procs : p->c.cluster->granted;

    if (!p->granted.by || p->set->probe || d->fallback.run_s > 0 || (by != BY_DEFAULT &&
                                                                     (by != BY_USER || !p->ask.procs)) ||
        (p->c.app && d->N && hrun_app_rule(p->c.app, d->N, P, NULL) <= 0))
        return 0;
    if (placement_map(&p->c, &p->ask, &p->granted, &mapped, err))
        return -1;
    if (mapped->nranks < P) {       /* tasks that share cores (sbatch --overcommit) */
        settings_say(p->c.set, "%s grants %d processes, but cores for %d only: -n %d --oversubscribe starts all",
                     p->c.cluster->allocation, P, mapped->nranks, P);
        hrun_layout_destroy(mapped);
        return 0;
    }
    p->ask.mapped = mapped;
    rc = decide_by_layout(&p->c, &p->ask, d, err);
    d->fallback.granted = 1;
    d->by = by;
    p->ask.mapped = NULL;
    hrun_layout_destroy(mapped);
    return rc;
}

/* Decide and lay out, among all PEs or those that are free. Drops an earlier choice. */
static int choose_on(struct launch_plan *p, int all, struct hrun_error *err)
{
    struct hrun_layout *mapped = NULL;
    int rc;

    drop_choice(p);
    p->c.busy = all ? NULL : ledger_busy(&p->ledger);
    if (hrun_mapping_places(&p->mapping) && placement_map(&p->c, &p->ask, &p->mapping, &mapped, err))
        return -1;
    p->ask.mapped = mapped;
    rc = decide_by_profiles(p, err) || choose_kinds(p, &p->ask, err) ||
         (learn_applies(&p->c, &p->ask, &p->d) ? learn_decide(&p->c, p->ask.explore, &p->d, err)
          : learn_refused(&p->c, &p->d, err)) || choose_granted(p, err) ? -1 : 0;
    p->ask.mapped = NULL;
    hrun_layout_destroy(mapped);
    if (rc || (p->c.program && work_find_program(&p->w, p->d.P, err)))
        return -1;
    return plan_layout(p, p->c.busy, err);
}

/* 1 if a probe will run and decide, else 0. */
static int will_probe(const struct launch_plan *p)
{
    return p->set->probe && p->d.by != BY_MODEL && !p->set->dry_run;
}

/* Choose among the free PEs; with --wait among all, unless a run on the free ones is predicted to end earlier. Result:
 * 1: the run may start; 0: it waits for busy PEs of the choice; -1 with *err. */
static int choose_free(struct launch_plan *p, struct hrun_error *err)
{
    const char *const *busy = ledger_busy(&p->ledger);
    double free_s = NAN, all_s;
    struct hrun_error why;

    if (!choose_on(p, 0, busy ? &why : err)) {
        if (!busy || !(p->set->wait_s > 0))
            return 1;
        free_s = p->d.predicted.known ? p->d.predicted.time.mid : NAN;
    } else if (!busy) {
        return -1;
    }
    if (choose_on(p, 1, err))
        return -1;
    all_s = p->d.predicted.known ? p->d.predicted.time.mid : NAN;
    if (p->set->wait_s > 0 && !plan_layout(p, busy, &why))
        return 1;
    if (free_s < ledger_free_in(&p->ledger) + all_s)
        return choose_on(p, 0, err) ? -1 : 1;
    return plan_layout(p, NULL, err);
}

/* Choose PEs and lock them, or wait until they are free. */
static int plan_pes(struct launch_plan *p, struct hrun_error *err)
{
    const double end_s = hrun_monotonic_s() + (p->set->wait_s > 0 ? p->set->wait_s : INFINITY);
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    unsigned long version = 0;
    int rc = 0, said = 0, ends = 0;

    while (!rc && !p->sig) {
        ledger_look(&p->ledger, &p->c);
        if (!p->ledger.l || p->ledger.version != version) {
            rc = choose_free(p, err);
            p->ledger.waits = !rc;
            version = p->ledger.version;
        }
        if (rc < 0 || p->set->dry_run)
            break;
        /* A probe may choose any PE. */
        const struct ledger_run run = { .layout = will_probe(p) ? NULL : p->layout, .N = p->w.N,
                                        .time_s = p->d.predicted.known ? p->d.predicted.time.mid : 0 };

        if (rc && !(rc = ledger_lock(&p->ledger, &p->c, &run))) {
            version = 0;         /* another run locked them first: choose again */
            p->sig = ledger_sleep(0.002);
            continue;
        }
        if (rc)
            break;
        ends = p->set->no_wait || hrun_monotonic_s() >= end_s;
        hrun_buf_reset(&text);
        if (ends || !said)
            ledger_print_users(&p->ledger, &text);
        if (ends)
            rc = hrun_fail(err, HRUN_EBUSY, "the PEs that this run needs are %s: %s; hrun --show-cluster=users lists "
                           "all runs, HRUN_LEDGER=none in the environment starts this one anyway",
                           p->set->no_wait ? "in use" : "still in use at the end of --wait", text.data);
        else if (!said++)
            settings_say(p->c.set, "waits for its PEs (--no-wait fails instead, HRUN_LEDGER=none shares them): %s",
                         text.data);
        if (!rc)
            p->sig = ledger_wait(&p->ledger, &p->c, &run);
    }
    return rc < 0 || p->sig ? -1 : 0;
}

/* Check that --explore has a size. */
static int check_explore(const struct launch_plan *p, const struct hrun_settings *s, const char *program,
                      struct hrun_error *err)
{
    if (p->N || s->finest || !(p->ask.explore > 0))
        return 0;
    if (p->c.app)
        return hrun_fail(err, HRUN_EINVAL, "--explore does nothing without a size: give -N SIZE");
    return hrun_fail(err, HRUN_ENOENT, "--explore does nothing without an app definition: none knows the program %s; "
                     "name one with -app (hrun --list-apps)", program ? program : "");
}

/* Refuse mpirun's words for where processes go together with options that let hrun choose. */
static int check_mapping_options(const struct hrun_settings *s, struct hrun_error *err)
{
    const char *other = s->ask.config ? "--config" : s->probe ? "--probe" : s->finest ? "--finest"
                        : s->ask.explore > 0 && !s->explore_if_it_fits ? "--explore" : NULL;

    if (!other || !hrun_mapping_places(&s->mapping))
        return 0;
    return hrun_fail(err, HRUN_EINVAL, "%s lets hrun choose where processes go, and --map-by and its like say it: give "
                     "one of them", other);
}

/* The number of cores of all PEs on a host. */
static int64_t count_host_cores(const struct hrun_cluster *cl, int host)
{
    int64_t cores = 0;

    for (int i = 0; i < cl->nsubs; i++)
        for (int k = 0; k < cl->subs[i].npes; k++)
            cores += cl->subs[i].pes[k].host == host ? cl->subs[i].pes[k].ncores : 0;
    return cores;
}

/* Limit the choice to the processes that the allocation grants, unless the user gives a configuration or a mapping. */
static void apply_grant(struct launch_plan *p)
{
    const struct hrun_cluster *cl = p->c.cluster;
    struct hrun_app *all = p->c.variants_of;
    int each = cl->cpus_each ? cl->cpus_each : INT_MAX, threads = 0, differs = 0;

    if (!cl->granted || p->ask.config || p->ask.procs > cl->granted || hrun_mapping_places(&p->mapping))
        return;
    if (p->c.app)
        p->c.app->most_procs = cl->granted;
    for (int k = 0; all && k < all->nvariants; k++)
        all->variants[k]->most_procs = cl->granted;
    for (int h = 0; h < cl->nhosts; h++) {
        int64_t cores = count_host_cores(cl, h), share = cores / cl->hosts[h].slots;

        threads |= !share;      /* more slots than cores: a process gets hardware threads instead of cores */
        differs |= cores != cl->hosts[h].slots;
        each = share && share < each ? (int)share : each;
    }
    if (!differs)
        return;
    p->granted = p->mapping;
    p->granted.by = HRUN_MAP_SLOT;
    p->granted.hwthreads |= threads;
    p->granted.pes = !threads ? each : cl->cpus_each ? cl->cpus_each : 1;
}

/* Let -n start more processes than PEs for a program without a definition; they fill the cores as with mpirun. If hosts
 * have slots, each process is bound to a core, since a memory node may have more cores than its host has slots. With
 * more slots than cores, processes share cores. */
static void fill_cores(struct launch_plan *p)
{
    const struct hrun_cluster *cl = p->c.cluster;
    int64_t cores = 0, pes = 0, slots = 0, room = 0;

    for (int h = 0; h < cl->nhosts; h++) {
        cores += count_host_cores(cl, h);
        slots += cl->hosts[h].slots;
        room += cl->hosts[h].slots && !cl->granted ? cl->hosts[h].slots : count_host_cores(cl, h);
    }
    for (int i = 0; i < cl->nsubs; i++)
        pes += cl->subs[i].npes;
    if ((!p->c.app || p->c.problem) && !p->ask.config && !p->ask.use && p->ask.procs > pes &&
        p->ask.procs <= (room > cores ? room : cores) && !hrun_mapping_places(&p->mapping) && !p->granted.by) {
        p->mapping.by = HRUN_MAP_SLOT;
        if (slots && !p->mapping.bind_to)
            p->mapping.bind_to = p->ask.procs > cores ? HRUN_MAP_NONE : HRUN_MAP_CORE;
    }
}

/* For a program without a definition, read -N as mpirun's processes per node, if each host has that many cores and -n
 * agrees with it. */
static int read_per_node(struct launch_plan *p, const struct hrun_settings *s, char **words, struct hrun_error *err)
{
    const struct hrun_cluster *cl = p->c.cluster;
    int64_t n = p->ask.procs, N = p->N;
    int fits = s->short_N && !hrun_mapping_places(&s->mapping) && !p->ask.config &&
               (n ? n >= N && n <= N * cl->nhosts : cl->nhosts > 1);

    for (int h = 0; h < cl->nhosts && fits; h++)
        fits = N <= count_host_cores(cl, h);
    if (!fits || number_is_open(words))
        return hrun_fail(err, HRUN_ENOENT,
                         "-N, the problem size, needs an app definition: none knows the program %s; name one with -app "
                         "(hrun --list-apps), make one with hrun-calibrate --new, or let hrun-calibrate --vary find "
                         "the size among the words. To start P processes say -n P; mpirun's -N, processes per node, is "
                         "-npernode here",
                         words[0]);
    p->mapping.by = HRUN_MAP_NODE;
    p->mapping.per = (int)N;
    p->N = p->w.N = 0;
    settings_say(&s->common, "-N %lld without an app definition is taken as mpirun's processes per node; the problem "
                 "size is --size", (long long)N);
    return 0;
}

/* Find the size, and the definition of the program or of the whole command. */
static int find_app_and_size(struct launch_plan *p, const struct hrun_settings *s, char **words, struct hrun_error *err)
{
    struct context *c = &p->c;

    p->N = s->N;
    if (context_find_app(c, words[0], err) || presets_apply(c, words[0], err) ||
        problem_find(c, s->programs.n || s->probe ? NULL : words, s->finest ? -1 : s->N, err))
        return -1;
    if (c->number)
        p->N = c->number->N;
    if (!c->app || !c->app->fixed)
        return 0;
    if (s->N > 1 || s->finest)
        return hrun_fail(err, HRUN_EINVAL, "the work of %s is the same in each run (size: fixed): leave -N and "
                         "--finest out", c->app->name);
    p->N = 1;
    return 0;
}

/* Without a size the program reads the user's input file: start the number of processes set there. */
static void use_input_procs(struct launch_plan *p, const struct hrun_settings *s)
{
    const struct question *q = &p->ask;

    if (p->N || s->finest || q->procs || q->config || s->programs.n || hrun_mapping_places(&s->mapping))
        return;
    p->ask.procs = presets_procs(&p->c);
    if (p->ask.procs)
        settings_say(p->c.set, "starts %s, as your %s asks for (-n gives another number)",
                     hrun_counted(p->ask.procs, "process").s, p->c.app->run.presets[0].file);
}

/* Find definition, program, cluster and engine, and describe the work. */
static int plan_context(struct launch_plan *p, const struct hrun_settings *s, char **words, struct hrun_error *err)
{
    struct context *c = &p->c;

    if (check_mapping_options(s, err) || probe_check(s, err) || find_app_and_size(p, s, words, err) ||
        context_check_app(c, words[0], err))
        return -1;
    use_input_procs(p, s);
    /* Options on the command line override --explore from the user's file. */
    if (s->explore_if_it_fits && (!p->N || !c->app || p->ask.config || p->ask.procs || p->ask.unrecorded || s->probe ||
                                  s->finest || hrun_mapping_places(&s->mapping)))
        p->ask.explore = 0;
    if (check_explore(p, s, words[0], err) ||
        (s->probe && words[0] && !c->app && make_bare(c, words[0], err)))
        return -1;
    words = (char **)number_words(c, words);
    if (!words[0])
        p->named[0] = c->app->programs.n ? c->app->programs.names[0] : c->app->name;
    p->w = (struct work){ .c = c, .N = p->N, .words = words[0] ? words : p->named,
                          .programs = s->programs, .tag_output = s->tag_output,
                          .report_bindings = s->report_bindings, .oversubscribe = p->ask.oversubscribe,
                          .on_message = on_words };
    /* A run that will not be recorded does not explore. */
    if (c->app && p->N && (!work_size_is_passed(&p->w) || (c->problem && c->problem->reads)))
        p->ask.explore = 0;
    p->ask.table = s->dry_run != NULL;
    if (s->finest)   /* any size serves to find a program built for each size */
        p->w.N = c->app->sizes.n ? c->app->sizes.v[0] : 1;
    if (work_check_words(&p->w, err) || ((p->N || s->finest) && work_check_shares(&p->w, err)))
        return -1;
    if ((words[0] ? work_find_program(&p->w, 0, err) : find_definitions_program(p, err)) ||
        context_cluster(c, &s->common, err) || (!c->app && p->N && read_per_node(p, s, words, err)))
        return -1;
    apply_grant(p);
    p->ask.oversubscribe |= s->hydra && c->mpi.kind == HRUN_MPI_MPICH;
    fill_cores(p);
    if (s->explore_if_it_fits && c->cluster->nsubs > HRUN_LEARN_SUBS)
        p->ask.explore = 0;
    return context_choose_engine(c, 1, err) || ledger_open(&p->ledger, c, err) ? -1 : 0;
}

int plan_launch(struct launch_plan *p, const struct hrun_settings *s, char **words, struct hrun_error *err)
{
    int probes;

    memset(p, 0, sizeof *p);
    p->set = s;
    p->ask = s->ask;
    p->mapping = s->mapping;
    p->ask.oversubscribe |= s->mapping.oversubscribes;
    p->c.set = &s->common;
    if (plan_context(p, s, words, err) || plan_pes(p, err) || check_network_option(p, s, err))
        return -1;
    probes = will_probe(p);
    if (probe_speeds(p, s, err))
        return -1;
    if (!probes)
        return 0;
    return (p->c.program && work_find_program(&p->w, p->d.P, err)) || plan_layout(p, p->c.busy, err) ? -1 : 0;
}
