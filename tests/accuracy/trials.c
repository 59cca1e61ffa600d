/* trials.c - methods over seeds, in several processes, and what comes of it */
#include "accuracy.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Repetition of the run that an interval is tried on: no method measures as often. */
enum { TRIAL_AFTERWARDS = 1 << 20 };

void accuracy_sizes(struct trial *trial)
{
    const struct truth *t = trial->truth;

    trial->nsizes = t->ntrain + t->nother;
    memcpy(trial->sizes, t->train, (size_t)t->ntrain * sizeof t->train[0]);
    memcpy(trial->sizes + t->ntrain, t->other, (size_t)t->nother * sizeof t->other[0]);
}

static void judge(const struct trial *trial, const struct answer *a, int size, struct outcome *out)
{
    int64_t N = trial->sizes[size];
    struct truth_noise quiet = trial->noise;
    const struct truth_run *best = truth_best(trial->truth, N);
    double again;

    memset(out, 0, sizeof *out);
    if (!a->choice || !best)
        return;
    quiet.glitches = 0.0;
    again = truth_measure(a->choice, &quiet, TRIAL_AFTERWARDS);
    out->served = 1;
    out->epsilon = (a->choice->time_s - best->time_s) / best->time_s;
    out->delta = (a->predicted_s - a->choice->time_s) / a->choice->time_s;
    out->covered = a->low_s <= again && again <= a->high_s;
    accuracy_blame(trial, a, size, out);
}

/* What the processes share: outcomes of all methods, then costs, then the error of the first that failed. */
struct board {
    struct hrun_error error;
    double room[];
};

static int one_seed(struct trial *trial, struct trials *v, int nmethods, int seed, struct hrun_error *err)
{
    struct answer answers[2 * TRUTH_SIZES_MAX];

    for (int m = 0; m < nmethods; m++) {
        v[m].cost_s[seed] = 0.0;
        memset(trial->insights, 0, trial->truth->nruns * sizeof *trial->insights);
        if (v[m].method->decide(v[m].method, trial, answers, &v[m].cost_s[seed], err)) {
            char why[HRUN_ERROR_TEXT];
            memcpy(why, err->text, sizeof why);
            return hrun_fail(err, err->code, "%s, seed %llu: %s", v[m].method->name,
                             (unsigned long long)trial->noise.seed, why);
        }
        for (int i = 0; i < trial->nsizes; i++)
            judge(trial, &answers[i], i, &v[m].outcomes[seed * trial->nsizes + i]);
    }
    return 0;
}

int accuracy_run(const struct truth *t, const struct hrun_app *app, struct hrun_netview *net,
                 const struct method *const *methods, int nmethods, const struct truth_noise *noise, int repetitions,
                 int nseeds, int jobs, struct trials **out, struct hrun_error *err)
{
    struct trial trial = { .truth = t, .app = app, .noise = *noise, .repetitions = repetitions, .net = net };
    size_t outcomes, costs, bytes;
    struct trials *v = xcalloc((size_t)nmethods + 1, sizeof *v);
    struct board *board;
    int status = 0, state;
    char *room;
    pid_t pid;

    accuracy_sizes(&trial);
    trial.insights = xcalloc(t->nruns + 1, sizeof *trial.insights);
    outcomes = (size_t)nseeds * (size_t)trial.nsizes * sizeof(struct outcome);
    costs = (size_t)nseeds * sizeof(double);
    bytes = sizeof *board + (size_t)nmethods * (outcomes + costs);
    board = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (board == MAP_FAILED)
        hrun_out_of_memory();
    room = (char *)board->room;
    for (int m = 0; m < nmethods; m++, room += outcomes + costs)
        v[m] = (struct trials){ methods[m], nseeds, trial.nsizes, t->ntrain, (struct outcome *)(void *)(room + costs),
                                (double *)(void *)room };
    fflush(NULL);
    for (int j = 0; j < jobs; j++) {
        pid = fork();
        if (pid < 0)
            status = hrun_fail_errno(err, HRUN_EIO, "fork");
        if (pid != 0)
            continue;
        for (int seed = j; seed < nseeds; seed += jobs) {
            struct hrun_error e = { 0 };
            trial.noise.seed = noise->seed + (uint64_t)seed;
            if (one_seed(&trial, v, nmethods, seed, &e)) {
                board->error = e;
                _exit(1);
            }
        }
        _exit(0);
    }
    while ((pid = wait(&state)) > 0)
        if (state && !status) {
            status = -1;
            if (board->error.code)
                *err = board->error;
            else
                hrun_fail(err, HRUN_EIO, "a process of the trials died (status %d)", state);
        }
    /* The results into memory of their own. */
    for (int m = 0; !status && m < nmethods; m++) {
        v[m].outcomes = memcpy(xmalloc(outcomes + 1), v[m].outcomes, outcomes);
        v[m].cost_s = memcpy(xmalloc(costs + 1), v[m].cost_s, costs);
    }
    munmap(board, bytes);
    free(trial.insights);
    if (status) {
        if (v[0].method)
            v[0].method = NULL;
        accuracy_release(v);
        return -1;
    }
    *out = v;
    return 0;
}

void accuracy_release(struct trials *trials)
{
    if (!trials)
        return;
    for (struct trials *t = trials; t->method; t++) {
        free(t->outcomes);
        free(t->cost_s);
    }
    free(trials);
}

/* ---------------------------------------------------------------- summing up */

static void add(struct summary *s, const struct outcome *o, int size)
{
    s->asked++;
    if (!o->served)
        return;
    s->served++;
    s->epsilon_mean += o->epsilon;
    s->delta_mean += fabs(o->delta);
    s->covered += o->covered;
    if (o->epsilon >= s->epsilon_worst) {
        s->epsilon_worst = o->epsilon;
        s->worst_size = size;
    }
    s->delta_worst = fmax(s->delta_worst, fabs(o->delta));
}

static struct summary finish(struct summary s)
{
    if (s.served) {
        s.epsilon_mean /= s.served;
        s.delta_mean /= s.served;
        s.covered /= s.served;
    }
    return s;
}

struct summary accuracy_summary(const struct trials *t, int from, int to)
{
    struct summary s = { 0 };

    for (int seed = 0; seed < t->nseeds; seed++)
        for (int i = from; i < to; i++)
            add(&s, &t->outcomes[seed * t->nsizes + i], i);
    return finish(s);
}

static int crosses(const struct truth *t, const int *switch_of, const struct truth_run *run)
{
    int first = -1;

    for (int i = 0; i < t->nsubs; i++) {
        if (run->pes[i] && first >= 0 && switch_of[i] != first)
            return 1;
        if (run->pes[i])
            first = switch_of[i];
    }
    return 0;
}

struct crossings accuracy_crossings(const struct truth *t, const int *switch_of, const struct trials *v)
{
    struct crossings c = { 0 };

    for (int i = 0; i < v->nseeds * v->nsizes; i++) {
        const struct outcome *o = &v->outcomes[i];
        int chosen, best;

        if (!o->served)
            continue;
        chosen = crosses(t, switch_of, &t->runs[o->chosen]);
        best = crosses(t, switch_of, &t->runs[o->best]);
        c.served++;
        c.chosen += chosen;
        c.best += best;
        c.needless += chosen && !best;
        c.missing += best && !chosen;
    }
    return c;
}

void accuracy_static(const struct trial *trial, struct allocation *out, int *n)
{
    const struct truth *t = trial->truth;

    *n = 0;
    for (int k = 0; k <= t->nsubs; k++) {
        struct allocation *a = &out[*n];
        memset(a, 0, sizeof *a);
        a->config.nsubs = t->nsubs;
        for (int i = 0; i < (k ? k : 1); i++) {
            a->config.pes[i] = k ? t->npes[i] : 1;
            a->config.procs[i] = 1;
        }
        if (k == 1 && t->npes[0] == 1)
            continue;           /* one PE is all that there is */
        for (int i = 0; i < trial->nsizes; i++) {
            const struct truth_run *run = truth_find(t, trial->sizes[i], &a->config);
            const struct truth_run *best = truth_best(t, trial->sizes[i]);
            struct outcome o = { .served = run && best };
            if (o.served)
                o.epsilon = (run->time_s - best->time_s) / best->time_s;
            add(&a->summary, &o, i);
        }
        a->summary = finish(a->summary);
        (*n)++;
    }
}
