/* load.h - what the files that load a definition share; not for other rooms
 *
 * load.c: names, numbers and words, and the order of all; load_model.c: terms, formulas, meshes and rings (with
 * load_weak.c and load_ring.c); load_inputs.c: what a run is given, and its time; load_variants.c: the algorithms;
 * load_pieces.c: copies, and errors with their place in the file.
 * All return 0, or -1 with the error of the loading.
 */
#ifndef HRUN_APP_LOAD_H
#define HRUN_APP_LOAD_H

#include "app/internal.h"

/* What one loading works on. */
struct hrun_load {
    const struct raw_app *raw;
    const struct raw_variant *variant;  /* whose keys stand in raw in place of the definition's; NULL: none */
    unsigned nth;                       /* of the variants */
    const struct hrun_yaml *marks;
    struct hrun_app *app;
    struct hrun_error *err;
};

/* ---------------------------------------------------------------- pieces */

/* A copy of a text, the caller's; NULL when memory ran out. */
char *hrun_load_copy(const struct hrun_load *l, const char *s);
/* Of one that may be NULL. */
int hrun_load_text(const struct hrun_load *l, const char *s, char **out);
int hrun_load_list(const struct hrun_load *l, char *const *from, unsigned n, char ***out, int *nout);

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

/* ---------------------------------------------------------------- parts of a definition, whose constants are loaded */

/* Rule, memory, terms and formula. */
int hrun_load_expressions(struct hrun_load *l);
int hrun_load_weak(const struct hrun_load *l);
int hrun_load_ring(const struct hrun_load *l);
int hrun_load_inputs(struct hrun_load *l);
int hrun_load_time(struct hrun_load *l);

/* All of a definition, or of a variant, but its variants. */
int hrun_load_all(struct hrun_load *l, const char *file, char *const *defines, int ndefines);
int hrun_load_variants(struct hrun_load *l, const char *file, char *const *defines, int ndefines);

#endif
