/* calib_report.h - hrun-calibrate report: the data on an application as one JSON document, and as page, images or text
 *
 * Purpose: the document (hrun-profile(5), REPORTS) combines logs, models and hrun's decisions. share/report.html shows
 * it as a page, share/report.gnuplot as images, report_text as text.
 * The sub-clusters are those of the newest calibration run, each with the largest number of PEs of a recorded run. No
 * host is contacted, so profiles can be shown anywhere.
 * The errors are paper 000's (sections 4.1 and 6.2): epsilon = (T - B)/B and delta = (T' - T)/T. T' is the predicted
 * and T the actual time of the chosen configuration, B the actual time of the truly best one.
 */
#ifndef CALIB_REPORT_H
#define CALIB_REPORT_H

#include "../common/calib_options.h"
#include "session/decide.h"

struct report_sub {
    char *name;
    int log;                        /* index of its profile in logs */
    int npes;                       /* largest number that a recorded run used */
};

struct report_run {
    const struct hrun_sample *s;
    int sub;                        /* the only sub-cluster used; -1: several, or unknown ones */
    struct hrun_config *config;     /* owned; NULL: it used other sub-clusters */
    double npes;                    /* PEs used in all, those of unknown sub-clusters included */
    int counts;                     /* 1: a good run with the definition's constants, compared with models */
    int dealt;                      /* 1: the shares of the work are unequal */
    double fit, low, high;          /* prediction of the models alone and its 95 % interval, s; fit = 0: none */
};

struct report {
    struct context *c;              /* its cluster, signatures and engine become those of the runs */
    struct hrun_strvec signatures;  /* of all profiles of the application */
    struct hrun_samples *logs;      /* measurements of each profile */
    struct report_sub *subs;
    int nsubs;
    struct report_run *runs;        /* a run on several sub-clusters occurs once; sorted by N, P, date */
    int nruns;
    struct hrun_strvec others;      /* profiles of the application on other sub-clusters */
    size_t bad, old, other_consts;  /* records skipped; records that no longer count; runs with other constants */
    struct profiles known;
};

/* Read the logs and models of c->app. Errors: HRUN_ENODATA (no measurement), those of the store and of profiles_load.
 * Release it in any case. */
int report_gather(struct context *c, const struct calib_settings *s, struct report *r, struct hrun_error *err);
void report_release(struct report *r);

/* 1 if no earlier sub-cluster has the profile of sub-cluster i, else 0. */
int report_is_first(const struct report *r, int i);

/* Add "N", "runs", "sizes", "measured", "plan", "why_no_plan", "tradeoffs", "shares" and "shares_by_waits" to the
 * document. N: the size whose configurations are shown; 0: the largest with a good run. Errors: HRUN_EPARSE (a
 * record). */
int report_add_choices(struct report *r, int64_t N, json_t *root, struct hrun_error *err);

/* The network of the hosts that the options name, with its measurements; null if they name none, or if the network is
 * not known, which is reported on stderr. */
json_t *report_network(const struct calib_settings *s);

/* The member of the document at a path such as "plan/choices"; NULL: there is none. */
json_t *report_member(const json_t *root, const char *path);

/* Append the document as tables of text, without single measurements. models: tables of the models, as text. */
void report_text(const json_t *root, const char *models, struct hrun_buf *out);

/* Draw the figures with the script share/report.gnuplot. Append to *out a PDF of text and figures or, if text is NULL,
 * the figures as concatenated PNGs; append to *titles a line for each figure. Errors: HRUN_ENOENT (gnuplot is not
 * installed), HRUN_EIO (it cannot be started, or refuses the script). */
int report_draw(const json_t *root, const char *script, const char *text, struct hrun_buf *out,
                struct hrun_buf *titles, struct hrun_error *err);

#endif
