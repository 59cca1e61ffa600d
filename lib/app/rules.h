/* rules.h - find an application's rule from runs that work and runs that do not
 *
 * Purpose: of a library of rules keep those that agree with every run, and name the run that would tell most about the
 * rest. Rules are made of what must hold of N (nothing, a power of two), of P (nothing, two or more, even, a power of
 * two, a square, a cube) and of both (nothing, P divides N, P*P does, a side of the square or cube does).
 * Invariants: the first rule that is left is the simplest one, and allows most of what the others do.
 */
#ifndef HRUN_APP_RULES_H
#define HRUN_APP_RULES_H

#include "app/app.h"

enum { HRUN_RULES_MAX = 64 };

struct hrun_rules {
    struct hrun_rule_form { unsigned char n, p, both; } form[HRUN_RULES_MAX];
    char left[HRUN_RULES_MAX];     /* 1: agrees with all runs */
    int n;
    int at_most_n;                 /* 1: P <= N is part of each rule; 0 at first */
};

void hrun_rules_init(struct hrun_rules *r);

/* Does rule i accept (N, P)? */
int hrun_rules_accept(const struct hrun_rules *r, int i, int64_t N, int P);

/* A run at (N, P) worked, or did not. */
void hrun_rules_learn(struct hrun_rules *r, int64_t N, int P, int worked);

/* The first rule that is left, -1: none. */
int hrun_rules_first(const struct hrun_rules *r);

/* The run that tells most: that on which the rules left are divided most evenly, of equals the one with the smallest
 * N, then P. sizes[nsizes]: ascending; P from 1 to most. 0 when they agree on all of these runs. */
int hrun_rules_ask(const struct hrun_rules *r, const int64_t *sizes, int nsizes, int most, int64_t *N, int *P);

/* Append rule i as an expression of lib/expr: "N % P == 0 && ispow2(P)". */
void hrun_rules_print(const struct hrun_rules *r, int i, struct hrun_buf *out);

/* For an application of one size: make its rule from runs, of which that with P[i] processes worked, or the program
 * refused that number. The rule becomes the simplest that agrees with all runs, once two were refused. Where none
 * agrees, P must be none of the refused numbers, or, if more than twice as many were refused as worked, one of those
 * that worked. Result: 1: the rule has changed, 0, or -1: errors of lib/expr. */
int hrun_app_rule_of_runs(struct hrun_app *app, const int *P, const int *worked, int n, struct hrun_error *err);

#endif
