/* internal.h - what the files of lib/app share
 *
 * load.c: the keys of a definition, its variants, copies and errors; load_values.c: names, constants, numbers and
 * words; load_model.c: rule, terms, formulas, meshes and rings; load_inputs.c: what a run is given, and its time;
 * template.c: the braces.
 */
#ifndef HRUN_APP_INTERNAL_H
#define HRUN_APP_INTERNAL_H

#include "app/app.h"
#include "base/buf.h"
#include "base/yaml.h"

#include <stdint.h>

/* A definition as it stands in the file. Pointers are NULL where the file has nothing. */
struct raw_terms {
    char **np, **n, **p;
    unsigned np_count, n_count, p_count;
};

struct raw_file {
    char *path, *content;
};

struct raw_time {
    char *match, *file, *value;
};

struct raw_const {
    char *name, *file;
    double value;
    int line;
};

struct raw_ring {
    char *local, *step, *bytes;
};

struct raw_step {
    char *name, *is;
};

struct raw_variant {        /* what stands here replaces what the definition says */
    char *name, *title, *rule, *memory, *formula;
    char **args;
    unsigned args_count;
    struct raw_const *constants;    /* values of some of the definition's */
    unsigned constants_count;
    struct raw_terms *terms;
    struct raw_step *where;
    unsigned where_count;
};

struct raw_weak {
    char *rows, *unit, *memory;
};

struct raw_shares {
    char *units, *min, *memory, *deal;
};

struct raw_prepare {
    char **run, **mpi;
    unsigned run_count, mpi_count;
};

struct raw_build {
    char *on, *program;
};

struct raw_app {
    char *name, *title, *rule, *memory, *threads, *family, *stdin_text, *scratch, *size;
    char **programs, **args;
    unsigned programs_count, args_count;
    struct raw_build *builds;
    unsigned builds_count;
    int *procs_per_pe;
    unsigned procs_per_pe_count;
    struct raw_terms *terms;
    struct raw_ring *ring;
    char *formula;
    struct raw_step *where;
    unsigned where_count;
    struct raw_variant *variants;
    unsigned variants_count;
    struct raw_weak *weak;
    struct raw_shares *shares;
    struct raw_prepare *prepare;
    unsigned prepare_count;
    struct raw_file *files;
    unsigned files_count;
    struct raw_time *time;
    struct raw_const *constants;
    unsigned constants_count;
    struct raw_step *derived;
    unsigned derived_count;
    int64_t *sizes;
    unsigned sizes_count;
};

/* The constant or derived value whose name is name[len]; NULL: there is none, or app is NULL. */
struct hrun_const *hrun_app_find_const(const struct hrun_app *app, const char *name, size_t len);

/* Check a template of app, whose constants are known already. Result: 0, or -1 with the text of *err, and
 * *offset the place of the mistake (characters into text). */
int hrun_template_check(const struct hrun_app *app, const char *text, int *offset, struct hrun_error *err);

/* The value of a constant as it is written in templates and measurements: 15 digits, 17 where needed. */
void hrun_app_add_value(struct hrun_buf *out, double value);

/* ---------------------------------------------------------------- loading: 0, or -1 with the error of the loading */

/* What one loading works on. */
struct hrun_load {
    const struct raw_app *raw;
    const struct raw_variant *variant;  /* whose keys stand in raw in place of the definition's; NULL: none */
    unsigned nth;                       /* of the variants */
    const struct hrun_yaml *marks;
    struct hrun_app *app;
    struct hrun_error *err;
};

/* Copies, the caller's, of a text that may be NULL and of from[n]. */
char *hrun_load_text(const char *s);
void hrun_load_list(char *const *from, unsigned n, char ***out, int *nout);

enum { HRUN_LOAD_PLACE = 128 };
/* Where the value at path stands in the file: that of a variant among its own keys, if it has it. */
const char *hrun_load_place(const struct hrun_load *l, const char *path, char room[HRUN_LOAD_PLACE]);
/* A mistake at the beginning of the value at path. Result: -1. */
__attribute__((format(printf, 3, 4)))
int hrun_load_bad(const struct hrun_load *l, const char *path, const char *fmt, ...);
/* An error with the place of the value at path, the message being that of a deeper function. Result: -1. */
int hrun_load_fail_inside(const struct hrun_load *l, const char *path, int offset, const struct hrun_error *inner);

/* Is the text at path a template? */
int hrun_load_check_template(const struct hrun_load *l, const char *path, const char *text);

/* Names, constants, -D, processes per PE, family and the like. */
int hrun_load_values(struct hrun_load *l, const char *file, char *const *defines);
/* Rule, memory, and what the family has: terms, formula, mesh or ring. The values are loaded. */
int hrun_load_model(struct hrun_load *l);
/* Files, arguments, standard input, and where the time stands. The values are loaded. */
int hrun_load_inputs(struct hrun_load *l);

/* ---------------------------------------------------------------- rules
 *
 * Which rule an application has, told from runs that work and runs that do not
 *
 * Purpose: of a library of rules keep those that agree with every run, and say which run would tell most about the
 * rest. Rules are made of what must hold of N (nothing, a power of two), of P (nothing, two or more, even, a power of
 * two, a square, a cube) and of both (nothing, P divides N, P*P does, a side of the square or cube does).
 * Invariants: the first rule that is left is the simplest one, and allows most of what the others do.
 */

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

#endif
