/* load.h - a definition as the file says it, and what the files that load it share
 *
 * The reader of YAML fills struct definition, which begins with the struct hrun_app; the rest of that is made from the
 * texts. load.c: the keys, variants and errors; load_values.c: names, constants, numbers and words; load_model.c: rule,
 * terms, formulas, meshes and rings; load_inputs.c: what a run is given, and its time.
 */
#ifndef HRUN_APP_LOAD_H
#define HRUN_APP_LOAD_H

#include "app/app.h"
#include "base/yaml.h"

/* Pointers are NULL where the file has nothing. */
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

struct raw_variant {        /* what stands here replaces what the definition says */
    char *name, *title, *rule, *memory, *formula;
    char **args;
    int nargs;
    struct raw_const *constants;    /* values of some of the definition's */
    unsigned nconstants;
    struct raw_terms *terms;
    struct hrun_named_expr *where;
    int nwhere;
};

struct raw_weak {
    char *rows, *unit, *memory;
};

struct raw_shares {
    char *units, *min, *memory, *deal;
};

struct raw_prepare {
    char **run, **mpi;
    int nrun, nmpi;
};

struct definition {
    struct hrun_app app;            /* the first member: hrun_app_destroy finds the definition by it */
    char *rule, *memory, *threads, *family, *scratch, *size, *formula;
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

/* One loading. Functions of it return 0, or -1 with *err. */
struct hrun_load {
    struct definition *d;
    struct hrun_app *app;               /* of d */
    const struct raw_variant *variant;  /* whose keys stand in d in place of the definition's; NULL: none */
    unsigned nth;                       /* of the variants */
    const struct hrun_yaml *marks;
    struct hrun_error *err;
    char path[64];                      /* the last of hrun_load_at */
};

/* A path in the file, "files[2].path", that is good until the next. */
__attribute__((format(printf, 2, 3)))
const char *hrun_load_at(struct hrun_load *l, const char *fmt, ...);

/* A mistake at the value at path, in a variant at its own key if it has that; `offset` characters into its text.
 * Result: -1. */
__attribute__((format(printf, 4, 5)))
int hrun_load_bad_at(const struct hrun_load *l, const char *path, int offset, const char *fmt, ...);
#define hrun_load_bad(l, path, ...) hrun_load_bad_at(l, path, 0, __VA_ARGS__)

/* Compile the text at path, with the definition's constants. NULL on a mistake. */
struct hrun_expr *hrun_load_expr(struct hrun_load *l, const char *path, const char *text, const char *const *vars,
                                 int nvars);

/* Is the text at path a template? */
int hrun_load_check_template(struct hrun_load *l, const char *path, const char *text);

/* Names, constants, -D, processes per PE, family and the like. */
int hrun_load_values(struct hrun_load *l, char *const *defines);
/* Rule, memory, and what the family has: terms, formula, mesh or ring. The values are loaded. */
int hrun_load_model(struct hrun_load *l);
/* Files, arguments, standard input, and where the time stands. The values are loaded. */
int hrun_load_inputs(struct hrun_load *l);

#endif
