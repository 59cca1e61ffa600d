/* report.h - what hrun-calibrate report tells, gathered from the logs and models
 *
 * Purpose: everything that the page, the PDF and the plots show, as numbers; how it looks is decided elsewhere.
 * The sub-clusters are those of the newest calibration run: their names, their profiles, and of each as many PEs as a
 * recorded run used at most. No host is asked, so that profiles can be looked at anywhere.
 * Errors are paper 000's (sections 4.1 and 6.2): with the predicted time T' and the actual time T of the chosen
 * configuration, and the actual time B of the truly best one, epsilon = (T - B)/B and delta = (T' - T)/T.
 */
#ifndef CALIB_REPORT_H
#define CALIB_REPORT_H

#include "plot.h"

#include "../common/options.h"
#include "model/model.h"
#include "net/net.h"

struct report_sub {
    char *name;
    char *signature;
    int npes;                       /* the most that a recorded run used */
    int same;                       /* the first sub-cluster with this signature, whose samples and models count */
    struct hrun_samples samples;
    struct hrun_models *models;     /* NULL: none */
    double cost_per_hour, power_w;  /* of a PE; 0: not known */
};

/* What money or energy takes time at r->N. */
struct report_tradeoff {
    const char *what, *unit;        /* "cost", ""; static */
    struct hrun_plan *front;        /* hrun_plan_pareto, quickest first; NULL: nothing is known of it */
    struct hrun_plan *best;         /* configurations that take least of it */
};
enum { REPORT_TRADEOFFS = 2 };      /* cost and energy */

struct report_run {
    const struct hrun_sample *s;
    int sub;                        /* the only sub-cluster used; -1: several, or unknown ones */
    int *config;                    /* pes[nsubs], procs[nsubs]; NULL: not of these sub-clusters */
    double npes;                    /* PEs used in all; of unknown sub-clusters those that the log tells of */
    int counts;                     /* good, with the definition's constants: may be compared with models */
    double fit, low, high;          /* predicted time and its 95 % interval, s; fit = 0: none */
};

/* Was it one with unequal shares of the work? */
int report_is_dealt(const struct report_run *run);

/* One configuration at one N as it was recorded, with equal shares. */
struct report_point {
    const int *config;
    int64_t N;
    int P, runs;
    double time_s;                  /* median */
    double fit;                     /* predicted, 0: none */
};

/* What models and runs say of one recorded N. */
struct report_size {
    int64_t N;
    int recorded;                   /* configurations with runs at this N */
    double valid;                   /* configurations that are valid; 0 unless counted */
    int counted;
    int *chosen;                    /* configuration; NULL: nothing valid is predicted */
    int P;
    double predicted_s, low_s, high_s; /* of the chosen one, as hrun would tell it; 95 % interval */
    double measured_s;              /* median of its runs; 0: never run at this N */
    const int *best;                /* the best recorded configuration */
    double best_s;
    double epsilon, delta;          /* NAN: not known */
    int exact;                      /* all valid configurations are recorded: epsilon is exact, else a lower bound */
    double ranked_epsilon;          /* had the models chosen among the recorded ones only; NAN: less than two */
    double ranked_delta;
};

/* Configurations drawn in the landscape: more dots than this hide each other. */
enum { REPORT_LANDSCAPE_MAX = 1200 };

struct report {
    struct context *c;
    struct report_sub *subs;
    int nsubs;
    struct report_run *runs;        /* mixed ones once; by N, then P, then date */
    int nruns;
    struct report_point *points;    /* by N, then time */
    int npoints;
    struct report_size *sizes;      /* by N */
    int nsizes;
    int64_t N;                      /* of the landscape */
    struct report_size choice;      /* at N; only what is predicted */
    struct hrun_plan *plan;         /* at N, best first; NULL: nothing is predicted there */
    struct report_best { int P; double time_s; } *front;  /* best time for each P at N */
    int nfront;
    struct report_tradeoff tradeoffs[REPORT_TRADEOFFS];
    char *why_no_plan;              /* NULL with a plan */
    struct hrun_strvec others;      /* profiles of the application that are not of these sub-clusters */
    size_t bad, old, other_consts;  /* records skipped; that no longer count; with other constants */
    struct report_predictors *predictors;
    struct hrun_corrections *corrections;   /* NULL: none */
    int failed;                     /* memory ran out for some prediction */
    struct hrun_net *net;           /* of the hosts that options name; NULL: none was measured, or they name none */
    struct hrun_net_records experiments;  /* what it was estimated from; empty where they are not kept */
};

/* Find the network of the hosts that options name: no others are asked. What fails is told on stderr: a report does
 * without. */
void report_network_find(const struct calib_settings *s, struct report *r);
/* Find what PEs cost and draw in the cluster file that the options name, without asking a host. What fails is told on
 * stderr: a report does without. */
void report_prices_find(const struct calib_settings *s, struct report *r);
/* After that: r->tradeoffs, where all sub-clusters have a price or a power. Errors: HRUN_ENOMEM. */
int report_tradeoffs(struct report *r, struct hrun_error *err);
void report_tradeoffs_release(struct report *r);
/* A figure of one; NULL: there is none, or memory ran out (then *failed). */
struct plot *report_tradeoff_figure(const struct report *r, int which, int *failed);
/* The predicted time over N with equal, proportional and the best shares; NULL: the definition has no `shares`, there
 * are fewer than two sizes, or memory ran out (then *failed). */
struct plot *report_shares_figure(struct report *r, int *failed);
/* Append by how much the waits of the last watched run at r->N change what processes are dealt, a line; nothing where
 * there is no such run. Errors: HRUN_ENOMEM. */
int report_shares_waits(struct report *r, struct hrun_buf *out, struct hrun_error *err);
/* Search at N for the best by an objective (NULL: time), as hrun would: *plan = NULL where nothing valid is predicted,
 * which *err says. front: all than which nothing is both quicker and better. -1: no memory. */
int report_search(struct report *r, int64_t N, int P, const struct hrun_objective *objective, int top, int front,
                  struct hrun_plan **plan, struct hrun_error *err);

/* Its figures and its table: plot number which, from 0; NULL: there is none, or memory ran out (then *failed). */
struct plot *report_network_figure(const struct report *r, int which, int *failed);
struct report_table;
/* Fill the table's title, spec, cells and note. 0, or -1 when memory ran out. Without a network it stays empty. */
int report_network_table(const struct report *r, struct report_table *t);

/* c: with store and app. N: of the landscape, 0: the largest recorded one. Errors: HRUN_ENODATA (no measurement), those
 * of the store; nothing is to be released then. */
int report_gather(struct context *c, int64_t N, struct report *out, struct hrun_error *err);
void report_release(struct report *r);

/* What the models say of a configuration at N: time and 95 % interval; without what its own runs tell. 0, or
 * -1 when the models do not tell (*err may be NULL). */
int report_predict(struct report *r, const int *config, int64_t N, double *time_s, double *low, double *high,
                   struct hrun_error *err);
/* P of a configuration. */
int report_processes(const struct report *r, const int *config);
/* Predictor at N, kept in the report; NULL when there are no models, or memory ran out (then r->failed, too). */
struct hrun_predictor *report_predictor(struct report *r, int64_t N, struct hrun_error *err);
void report_predictors_destroy(struct report_predictors *p);
/* The logs of all sub-clusters, which stay the report's; the array is the caller's. NULL: no memory. */
struct hrun_joint_sub *report_logs(const struct report *r);
/* Of these logs (NULL: no memory), for such shares; *out = NULL where the models do not tell. Errors: HRUN_ENOMEM. */
int report_corrections(struct report *r, const struct hrun_joint_sub *logs, enum hrun_sharing how,
                       struct hrun_corrections **out, struct hrun_error *err);

/* The choice at each recorded N, its errors, and the landscape at r->N. Errors: HRUN_ENOMEM. */
int report_choose(struct report *r, struct hrun_error *err);

/* Summed over sizes where it is known: mean and worst. n = 0: nowhere. */
struct report_errors {
    int n;
    double mean, worst;
};
void report_errors(const struct report *r, double (*value)(const struct report_size *s), struct report_errors *out);
double report_epsilon(const struct report_size *s);        /* NAN: not known */
double report_delta(const struct report_size *s);          /* its absolute value */
double report_ranked_epsilon(const struct report_size *s);
double report_ranked_delta(const struct report_size *s);

/* What runs cost: those of one sub-cluster alone, or (sub = -1) of several. */
struct report_cost {
    int runs, failed;
    double wall_s, pe_s;            /* sum of the time they took; times the PEs they used */
};
void report_cost(const struct report *r, int sub, struct report_cost *out);

/* Where a figure or table belongs. */
enum report_section { REPORT_CLUSTER, REPORT_CHOICE, REPORT_ERRORS, REPORT_FIT, REPORT_TIMES, REPORT_NETWORK,
                      REPORT_RUNS, REPORT_SECTIONS };
const char *report_section_title(int section);

/* A table of text, for page and PDF alike. */
struct report_table {
    int section;
    const char *title;          /* static */
    const char *spec;           /* 'l' or 'r' for each column */
    struct hrun_strvec cells;   /* row by row, the heads first */
    char *note;                 /* what to know about it; NULL: nothing */
    int folded;                 /* 1: long, and only for those who look closely; not in the PDF */
};

/* All tables, those without rows left out. *n of them, for report_tables_free. NULL: HRUN_ENOMEM. */
struct report_table *report_tables(const struct report *r, int *n, struct hrun_error *err);
void report_tables_free(struct report_table *t, int n);     /* NULL-safe */

/* All figures, those without data left out. *n of them, for plot_destroy and free. NULL: HRUN_ENOMEM. */
struct plot **report_figures(struct report *r, int *n, struct hrun_error *err);

/* What pages are made of. */
struct report_parts {
    const struct report *r;
    struct plot **plots;
    int nplots;
    struct report_table *tables;
    int ntables;
    const char *waits;          /* text: what watched runs tell, or NULL */
};

/* The page; the tables and plots as one PDF; a plot as PNG. Errors: those of gnuplot_run. */
int report_html(const struct report_parts *parts, struct hrun_buf *out, struct hrun_error *err);
int report_pdf(const struct report_parts *parts, struct hrun_buf *out, struct hrun_error *err);
int report_png(const struct plot *plot, struct hrun_buf *out, struct hrun_error *err);

/* One line that says what the report is of. */
void report_title(const struct report *r, struct hrun_buf *out);

#endif
