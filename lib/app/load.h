/* load.h - a definition as read from its file, shared by the files that load it
 *
 * The YAML reader fills struct definition; the loader makes the rest of its struct hrun_app from the texts. load.c: the
 * keys, variants and errors; load_values.c: names, constants, numbers and words; load_model.c: rule, terms, formulas,
 * meshes and rings; load_inputs.c: inputs and time of a run.
 */
#ifndef HRUN_APP_LOAD_H
#define HRUN_APP_LOAD_H

#include "app/app.h"
#include "base/yaml.h"

/* Pointers are NULL for keys that the file does not have. */
struct raw_terms {
    char **np, **n, **p;
    unsigned nnp, nn, npt;
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

struct raw_variant {        /* its keys replace those of the definition */
    char *name, *title, *rule, *memory, *formula;
    char **args;
    int nargs;
    struct raw_const *constants;    /* new values of some constants of the definition */
    unsigned nconstants;
    struct raw_terms *terms;
    struct hrun_named_expr *where;
    int nwhere;
};

struct raw_weak {
    char *rows, *unit, *memory;
};

struct raw_shares {
    char *units, *min, *memory;
    int cyclic;
};

struct raw_prepare {
    char **run, **mpi;
    int nrun, nmpi;
};

/* Values of key `size`. */
enum { SIZE_FIXED = 1, SIZE_COMMAND, SIZE_NUMBER };

struct definition {
    struct hrun_app app;            /* the first member: hrun_app_destroy finds the definition by it */
    char *rule, *memory, *formula;
    int size;                       /* 0: not given */
    int family, scratch;            /* 1 + a value of their enum; 0: not given */
    struct raw_terms *terms;
    struct hrun_named_expr *where, *derived;
    int nwhere, nderived;
    struct raw_ring *ring;
    struct raw_weak *weak;
    struct raw_shares *shares;
    struct raw_variant *variants;
    struct raw_prepare *prepare;
    struct raw_time *time;
    struct raw_const *constants;
    unsigned nvariants, nprepare, nconstants;
};

/* The state of one loading. Functions that take it return 0, or -1 with *err. */
struct hrun_load {
    struct definition *d;
    struct hrun_app *app;               /* the application of d */
    const struct raw_variant *variant;  /* the variant whose keys have replaced the definition's in d, or NULL */
    unsigned nth;                       /* index of the variant */
    const struct hrun_yaml *marks;
    struct hrun_error *err;
    char path[64];                      /* the last result of hrun_load_at */
};

/* A path in the file, "files[2].path", valid until the next call. */
__attribute__((format(printf, 2, 3)))
const char *hrun_load_at(struct hrun_load *l, const char *fmt, ...);

/* Report a mistake in the value at path, at `offset` characters into its text. For a variant that has this key, the
 * place is in the variant. Result: -1. */
__attribute__((format(printf, 4, 5)))
int hrun_load_bad_at(const struct hrun_load *l, const char *path, int offset, const char *fmt, ...);
#define hrun_load_bad(l, path, ...) hrun_load_bad_at(l, path, 0, __VA_ARGS__)
/* Report a mistake in the expression at path, at the column in *inner. Result: -1. */
int hrun_load_bad_expr(const struct hrun_load *l, const char *path, const struct hrun_error *inner);

/* Compile the text at path, with the definition's constants. NULL on a mistake. */
struct hrun_expr *hrun_load_expr(struct hrun_load *l, const char *path, const char *text, const char *const *vars,
                                 int nvars);

/* Check that the text at path is a template. */
int hrun_load_check_template(struct hrun_load *l, const char *path, const char *text);

/* Names, constants, -D, processes per PE, family and the like. */
int hrun_load_values(struct hrun_load *l, char *const *defines);
/* Rule, memory, and the family's terms, formula, mesh or ring. To be called after hrun_load_values. */
int hrun_load_model(struct hrun_load *l);
/* Files, arguments, standard input and time. To be called after hrun_load_values. */
int hrun_load_inputs(struct hrun_load *l);

#endif
