/* learn_belief.c - predicted times of configurations from a few runs; see learn_belief.h */
#include "plan/learn_belief.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Unknowns of a particle have standard normal priors. Those of the program: */
enum { MESSAGES, SERIAL, GROWTH, CROWD, MEMORY, TASKS, TRUNK, COMMON };
/* Those of each sub-cluster: */
enum { WORK, WIRE, PORTS, SIDE, OWN };
enum { DIMS_MAX = COMMON + OWN * HRUN_LEARN_SUBS };

/* Standard deviation of residuals; half of the variance is correlated between configurations, over REACH_P in ln P. */
static const double MISS = 0.10, REACH_P = 0.5;
/* Relative scatter of runs on a quiet node, and additional scatter of a single run, which may be disturbed. */
static const double NOISE = 0.03, DISTURBED = 0.04;
/* Standard deviation of ln work of a sub-cluster with a measured and with a guessed speed. */
static const double KNOWN = 0.25, GUESSED = 0.5;
/* Degrees of freedom of the t distribution of residuals. */
static const double DOF = 6;

enum { PARTICLES = LEARN_PARTICLES, STEPS = 3, STAGES = 12 };

/* The parameters of learn.h's formula, from the unknowns of a particle. */
struct form {
    double messages, serial, growth, crowd, memory;
    int tasks;
    double trunk;              /* factor of the time of messages between two sides */
    double work[HRUN_LEARN_SUBS], wire[HRUN_LEARN_SUBS], ports[HRUN_LEARN_SUBS], side[HRUN_LEARN_SUBS];
};

struct particle {
    double z[DIMS_MAX];        /* unknowns */
    struct form form;          /* made from z */
    double weights[LEARN_POINTS];   /* inverse times residuals */
    double level;              /* a of learn.h */
    double log_l;              /* log likelihood */
};

struct learn_belief {
    const struct hrun_learn_sub *subs;
    int nsubs, dims, n;
    int reference;             /* reference number of processes: the number of cores */
    double speed;              /* mean speed of a core: the unit of speed, so that work on all cores takes about 1 */
    const struct learn_point *points;   /* n, borrowed */
    double inverse[LEARN_POINTS * LEARN_POINTS];    /* n by n: inverse of the covariance of residuals */
    double ones[LEARN_POINTS]; /* n: inverse times 1 */
    double ones_sum;
    double scale;              /* variance of residuals over the assumed one */
    uint64_t rng;
    struct particle p[PARTICLES];
};

/* ---------------------------------------------------------------- random numbers */

static double uniform(struct learn_belief *b)
{
    b->rng ^= b->rng << 13;
    b->rng ^= b->rng >> 7;
    b->rng ^= b->rng << 17;
    return ((double)(b->rng >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(struct learn_belief *b)
{
    double r = sqrt(-2 * log(uniform(b)));

    return r * cos(6.283185307179586 * uniform(b));
}

/* ---------------------------------------------------------------- the formula of learn.h */

static double logistic(double z)
{
    return 1 / (1 + exp(-1.5 * z));
}

/* Heavy-tailed transformation of a normal z: a port may have a tenth of the usual bandwidth. */
static double heavy(double z)
{
    return 0.3 * z + 0.2 * z * z * z;
}

static void make_form(const struct learn_belief *b, struct particle *p)
{
    const double *z = p->z, *own = z + COMMON;
    struct form *f = &p->form;

    f->messages = 0.2 * exp(2 * z[MESSAGES]);
    f->serial = 0.01 * exp(2 * z[SERIAL]);
    f->growth = 0.15 + 0.5 * z[GROWTH];
    f->crowd = logistic(z[CROWD]);
    f->memory = logistic(3 * z[MEMORY] - 1);
    f->tasks = z[TASKS] > 1.2;
    f->trunk = exp(heavy(fmax(0, z[TRUNK])));
    for (int i = 0; i < b->nsubs; i++, own += OWN) {
        f->work[i] = exp((b->subs[i].known ? KNOWN : GUESSED) * own[WORK]) * b->speed / b->subs[i].speed;
        f->wire[i] = f->messages * exp(heavy(own[WIRE]));
        f->side[i] = own[SIDE];
        f->ports[i] = exp(0.7 + 0.5 * own[PORTS]);
    }
}

/* The work of a process if m processes share the cores and the memory of a PE. */
static double work_s(const struct learn_belief *b, const struct form *f, int i, int m)
{
    int cores = b->subs[i].cores;
    double busy = m < cores ? m : cores;
    double crowding = fmax(1, (double)m / cores) * (1 - f->memory + f->memory * fmax(1, busy / f->ports[i]));

    return f->work[i] * crowding * b->reference;
}

/* Factor of the time of messages if all processes are on one PE, without a network. */
static const double INSIDE = 0.1;

static double messages_s(const struct learn_belief *b, const struct form *f, int i, int m, int P)
{
    double t = f->wire[i] * exp(f->growth * log((double)P / b->reference) + f->crowd * log(m));

    return P == 1 ? 0 : m == P ? INSIDE * t : t;
}

static double form_time(const struct learn_belief *b, const struct form *f, const struct hrun_config *config)
{
    double most = 0, wires = 0, speed = 0, between = 1, side = 0;
    int P = hrun_config_processes(config);

    for (int i = 0; i < b->nsubs; i++)
        if (config->pes[i]) {
            between = side * f->side[i] < 0 ? f->trunk : between;
            side = side != 0 ? side : f->side[i];
        }
    for (int i = 0; i < b->nsubs; i++) {
        double work, wire;

        if (!config->pes[i])
            continue;
        work = work_s(b, f, i, config->procs[i]);
        wire = between * messages_s(b, f, i, config->procs[i], P);
        most = fmax(most, work / P + wire);
        wires = fmax(wires, wire);
        speed += config->pes[i] * config->procs[i] / work;
    }
    return f->serial + (f->tasks ? 1 / speed + wires : most);
}

double learn_option_time(const struct learn_belief *b, int k, int i, int m, int P)
{
    const struct form *f = &b->p[k].form;

    return f->serial + work_s(b, f, i, m) / P + messages_s(b, f, i, m, P);
}

int learn_is_separable(const struct learn_belief *b, int k)
{
    return !b->p[k].form.tasks;
}

/* ---------------------------------------------------------------- residuals */

static double residual_covariance(const struct learn_belief *b, const struct learn_point *x,
                                  const struct learn_point *y)
{
    double p = log((double)x->P / y->P) / REACH_P;
    int differ = 0;

    for (int i = 0; i < b->nsubs; i++)
        differ += x->config.procs[i] != y->config.procs[i];
    return 0.5 * MISS * MISS * exp(-0.5 * p * p - 0.5 * differ);
}

/* Invert a symmetric positive definite a[n by n] in place (Gauss-Jordan elimination). */
static void invert(double *a, int n)
{
    for (int k = 0; k < n; k++) {
        double pivot = 1 / a[k * n + k];

        a[k * n + k] = 1;
        for (int j = 0; j < n; j++)
            a[k * n + j] *= pivot;
        for (int i = 0; i < n; i++) {
            double factor = a[i * n + k];

            if (i == k)
                continue;
            a[i * n + k] = 0;
            for (int j = 0; j < n; j++)
                a[i * n + j] -= factor * a[k * n + j];
        }
    }
}

/* Set the form of a particle, its log likelihood, level and weights. */
static void assess_particle(struct learn_belief *b, struct particle *p)
{
    double level = 0, q = 0, r[LEARN_POINTS];

    make_form(b, p);
    for (int i = 0; i < b->n; i++) {
        r[i] = b->points[i].log_s - log(form_time(b, &p->form, &b->points[i].config));
        level += b->ones[i] * r[i];
    }
    level /= b->ones_sum;
    for (int i = 0; i < b->n; i++) {
        p->weights[i] = 0;
        for (int j = 0; j < b->n; j++)
            p->weights[i] += b->inverse[i * b->n + j] * (r[j] - level);
        q += p->weights[i] * (r[i] - level);
    }
    p->level = level;
    p->log_l = -0.5 * (DOF + b->n - 1) * log1p(q / DOF);
}

/* ---------------------------------------------------------------- the sample */

/* Set w to the weights exp(step log_l), scaled to 1 for the likeliest particle. Result: their sum. */
static double weigh_particles(const struct learn_belief *b, double step, double *w)
{
    double top = -INFINITY, sum = 0;

    for (int k = 0; k < PARTICLES; k++)
        top = fmax(top, b->p[k].log_l);
    for (int k = 0; k < PARTICLES; k++)
        sum += w[k] = exp(step * (b->p[k].log_l - top));
    return sum;
}

/* The largest step of the likelihood's power with an effective sample size of half of the particles. */
static double next_step(const struct learn_belief *b, double left)
{
    double low = 0, high = left, w[PARTICLES];

    for (int t = 0; t < 20; t++) {
        double step = t ? (low + high) / 2 : left, sum = weigh_particles(b, step, w), squares = 0;

        for (int k = 0; k < PARTICLES; k++)
            squares += w[k] * w[k];
        if (sum * sum / squares >= PARTICLES / 2.0) {
            if (!t)
                return left;
            low = step;
        } else {
            high = step;
        }
    }
    return low > 0 ? low : left;
}

/* Systematic resampling by weights exp(step log_l). */
static void resample(struct learn_belief *b, double step)
{
    double w[PARTICLES], sum = weigh_particles(b, step, w), at = 0, next = uniform(b) * sum / PARTICLES;
    int from[PARTICLES], n = 0, taken[PARTICLES] = { 0 }, empty = 0;

    for (int k = 0; k < PARTICLES; k++) {
        at += w[k];
        for (; n < PARTICLES && next < at; next += sum / PARTICLES)
            from[n++] = k;
    }
    while (n < PARTICLES)
        from[n++] = PARTICLES - 1;
    for (int k = 0; k < PARTICLES; k++)
        taken[from[k]] = 1;
    /* A particle that is kept stays in its place; copies replace the others. */
    for (int k = 1; k < PARTICLES; k++) {
        if (from[k] != from[k - 1])
            continue;
        while (taken[empty])
            empty++;
        taken[empty] = 1;
        b->p[empty] = b->p[from[k]];
    }
}

/* One Metropolis step of each particle. */
static void move_particles(struct learn_belief *b, double power, const double *spread)
{
    for (int k = 0; k < PARTICLES; k++) {
        struct particle *p = &b->p[k], old = *p;
        double before = power * p->log_l, after = 0, size = 0.2 + 0.8 * uniform(b);

        for (int j = 0; j < b->dims; j++) {
            before -= p->z[j] * p->z[j] / 2;
            if (uniform(b) < 0.4)
                p->z[j] += size * spread[j] * normal(b);
            after -= p->z[j] * p->z[j] / 2;
        }
        assess_particle(b, p);
        after += power * p->log_l;
        if (!(log(uniform(b)) < after - before))
            *p = old;
    }
}

static void spreads(const struct learn_belief *b, double *spread)
{
    for (int j = 0; j < b->dims; j++) {
        double sum = 0, squares = 0;

        for (int k = 0; k < PARTICLES; k++) {
            sum += b->p[k].z[j];
            squares += b->p[k].z[j] * b->p[k].z[j];
        }
        spread[j] = sqrt(fmax(squares / PARTICLES - sum * sum / PARTICLES / PARTICLES, 1e-4));
    }
}

static void draw_particles(struct learn_belief *b)
{
    double power = 0, spread[DIMS_MAX], q = 0;

    for (int k = 0; k < PARTICLES; k++) {
        for (int j = 0; j < b->dims; j++)
            b->p[k].z[j] = normal(b);
        assess_particle(b, &b->p[k]);
    }
    for (int stage = 0; power < 1; stage++) {
        double step = stage + 1 < STAGES ? next_step(b, 1 - power) : 1 - power;

        resample(b, step);
        power += step;
        spreads(b, spread);
        for (int t = 0; t < STEPS; t++)
            move_particles(b, power, spread);
    }
    for (int k = 0; k < PARTICLES; k++)
        q += DOF * expm1(-b->p[k].log_l / (0.5 * (DOF + b->n - 1))) / PARTICLES;
    b->scale = (DOF + q) / (DOF + b->n - 1);
}

/* ---------------------------------------------------------------- create and predict */

struct learn_belief *learn_belief_create(const struct hrun_learn_sub *subs, int nsubs,
                                         const struct learn_point *points, int n)
{
    struct learn_belief *b = xcalloc(1, sizeof *b);

    b->subs = subs;
    b->nsubs = nsubs;
    b->dims = COMMON + OWN * nsubs;
    b->n = n;
    b->points = points;
    b->rng = UINT64_C(88172645463325252);
    for (int i = 0; i < nsubs; i++) {
        b->reference += subs[i].npes * subs[i].cores;
        b->speed += subs[i].npes * subs[i].cores * subs[i].speed;
    }
    b->speed /= b->reference;
    for (int i = 0; i < n; i++) {
        double runs = points[i].runs;

        for (int j = 0; j < n; j++)
            b->inverse[i * n + j] = residual_covariance(b, &points[i], &points[j]);
        b->inverse[i * n + i] += 0.5 * MISS * MISS + NOISE * NOISE / runs + DISTURBED * DISTURBED / (runs * runs);
    }
    invert(b->inverse, n);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            b->ones[i] += b->inverse[i * n + j];
        b->ones_sum += b->ones[i];
    }
    draw_particles(b);
    return b;
}

/* Gauss-Hermite nodes and weights of the normal distribution, for the residual common to all particles. */
enum { NODES = 5 };
static const double node[NODES] = { -2.856970013872806, -1.355626179974266, 0, 1.355626179974266, 2.856970013872806 };
static const double weight[NODES] = { 0.011257411327720691, 0.2220759220056126, 0.5333333333333333,
                                      0.2220759220056126, 0.011257411327720691 };

void learn_predict(const struct learn_belief *b, const struct learn_point *x, double best_s, struct learn_outlook *out)
{
    double k[LEARN_POINTS], own = MISS * MISS, to_level = 1, sum = 0, squares = 0, factor[NODES];

    for (int i = 0; i < b->n; i++) {
        int same = hrun_config_equal(&x->config, &b->points[i].config);

        k[i] = residual_covariance(b, x, &b->points[i]) + (same ? 0.5 * MISS * MISS : 0);
        to_level -= k[i] * b->ones[i];
    }
    for (int i = 0; i < b->n; i++)
        for (int j = 0; j < b->n; j++)
            own -= k[i] * b->inverse[i * b->n + j] * k[j];
    own = b->scale * (fmax(own, 0) + to_level * to_level / b->ones_sum);
    for (int i = 0; i < NODES; i++)
        factor[i] = exp(node[i] * sqrt(own));
    out->expected = out->gain = 0;
    for (const struct particle *p = b->p; p < b->p + PARTICLES; p++) {
        double v = p->level + log(form_time(b, &p->form, &x->config));

        for (int i = 0; i < b->n; i++)
            v += k[i] * p->weights[i];
        sum += v;
        squares += v * v;
        v = exp(v) / best_s;
        for (int i = 0; i < NODES; i++) {
            out->expected += weight[i] * factor[i] * v / PARTICLES;
            out->gain += weight[i] * fmax(0, 1 - factor[i] * v) / PARTICLES;
        }
    }
    out->mean = sum / PARTICLES;
    out->sd = sqrt(fmax(squares / PARTICLES - out->mean * out->mean, 0) + own);
}
