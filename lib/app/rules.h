/* rules.h - find an application's rule from runs that work and runs that do not
 *
 * Purpose: keep those rules of a library that agree with every run, and find the run that divides the remaining rules
 * best. A rule combines conditions on N (none, a power of two), on P (none, two or more, even, a power of two, a
 * square, a cube) and on both (none; N is a multiple of P, of P*P, of the side of the square or cube).
 * Invariants: the first remaining rule is the simplest and least restrictive one.
 */
#ifndef HRUN_APP_RULES_H
#define HRUN_APP_RULES_H

#include "app/app.h"

enum { HRUN_RULES_MAX = 64 };

struct hrun_rules {
    struct hrun_expr *rule[HRUN_RULES_MAX];    /* over N, P */
    char left[HRUN_RULES_MAX];     /* 1: agrees with all runs */
    int n;
};

/* at_most_n = 1: P <= N is part of each rule. */
void hrun_rules_init(struct hrun_rules *r, int at_most_n);
void hrun_rules_release(struct hrun_rules *r);

/* 1 if rule i accepts (N, P), else 0. */
int hrun_rules_accept(const struct hrun_rules *r, int i, int64_t N, int P);

/* Drop the rules that disagree with the outcome of a run at (N, P). worked: 1 if the run worked, else 0. */
void hrun_rules_learn(struct hrun_rules *r, int64_t N, int P, int worked);

/* The first remaining rule, or -1. */
int hrun_rules_first(const struct hrun_rules *r);

/* Find the run that divides the remaining rules most evenly, among equals the one with the smallest N, then P.
 * sizes[nsizes]: ascending; P from 1 to most. Result: 1, or 0 if the rules agree on all of these runs. */
int hrun_rules_ask(const struct hrun_rules *r, const int64_t *sizes, int nsizes, int most, int64_t *N, int *P);

/* For an application of one size: make its rule from n runs with P[i] processes. worked[i]: 1, or 0 if the run was
 * refused. If at least two runs were refused and one with P > 1 worked, the rule becomes the simplest one that agrees
 * with all runs. Otherwise, or if none agrees, the rule excludes the refused P; if more than twice as many runs were
 * refused as worked, it accepts only the P that worked. Result: 1 if the rule has changed, else 0; -1 with *err. */
int hrun_app_rule_of_runs(struct hrun_app *app, const int *P, const int *worked, int n, struct hrun_error *err);

#endif
