/* exchange_internal.h - what the formats of exchange.h share; not for other rooms */
#ifndef HRUN_STORE_EXCHANGE_INTERNAL_H
#define HRUN_STORE_EXCHANGE_INTERNAL_H

#include "store/exchange.h"
#include "store/internal.h"

/* A text that is being read. */
struct exchange_reader {
    const char *name;
    struct hrun_exchange *out;   /* what was read is appended here, and taken back by who fails */
    struct hrun_error *err;
};

/* HRUN_EPARSE at a line. Result: -1. */
int exchange_fail(const struct exchange_reader *r, int line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The field with this key, or NULL. */
const struct store_field *exchange_field(const char *key);
unsigned exchange_bit(const struct store_field *f);

/* Set a field of a measurement from text[len], and its bit. Errors: told at the measurement's line. */
int exchange_set(const struct exchange_reader *r, struct hrun_exchanged *x, const struct store_field *f,
                 const char *text, size_t len);

/* The same for the number of processes or PEs, or a size, that a program wrote as a real number ("8.0").
 * what: its name in the file. */
int exchange_set_number(const struct exchange_reader *r, struct hrun_exchanged *x, const struct store_field *f,
                        const char *what, double value);

/* "APP->SIGNATURE" or "APP->SIGNATURE->CONSTANTS" into x; nothing where callpath is no such thing, as that of another
 * program. Errors: told at the measurement's line. */
int exchange_set_callpath(const struct exchange_reader *r, struct hrun_exchanged *x, const char *callpath, size_t len);

/* Complete a measurement whose fields are set, check it and append it. It is released or moved in any case. */
int exchange_add(const struct exchange_reader *r, struct hrun_exchanged *x);

/* Release what a measurement holds that was not added. */
void exchange_drop(struct hrun_exchanged *x);

/* Room of a double in exchange_number, which is exact and as short as can be; plain = 1 takes no exponent: up to 309
 * digits before the point, or 324 zeros and 17 digits behind it. */
enum { EXCHANGE_NUMBER = 400 };
void exchange_number(double value, int plain, char out[EXCHANGE_NUMBER]);

/* One point of Extra-P: where all v[n] were measured. */
struct exchange_point {
    int64_t N;
    int P, M;
    size_t first, n;            /* its measurements in exchange_region.v */
};

struct exchange_region {
    char *callpath;
    const struct hrun_sample **v;   /* by point, then in the order of the log */
    struct exchange_point *points;
    size_t n, npoints;
};

struct exchange_regions {
    struct exchange_region *v;
    size_t n;
    int has_M;                  /* M is not always 1 */
};

/* The sets as regions of Extra-P, which all have the same points. Errors: those of hrun_exchange_write. */
int exchange_regions_make(const struct hrun_exchange_set *sets, size_t nsets, struct exchange_regions *out,
                          size_t *left_out, struct hrun_error *err);
void exchange_regions_release(struct exchange_regions *r);

/* One format each. */
int exchange_write_csv(const struct hrun_exchange_set *sets, size_t nsets, struct hrun_buf *out, size_t *left_out,
                       struct hrun_error *err);
int exchange_write_extrap(const struct hrun_exchange_set *sets, size_t nsets, struct hrun_buf *out, size_t *left_out,
                          struct hrun_error *err);
int exchange_write_jsonl(const struct hrun_exchange_set *sets, size_t nsets, struct hrun_buf *out, size_t *left_out,
                         struct hrun_error *err);
int exchange_read_csv(const struct exchange_reader *r, const char *text, size_t len);
int exchange_read_extrap(const struct exchange_reader *r, const char *text, size_t len);
int exchange_read_jsonl(const struct exchange_reader *r, const char *text, size_t len);

#endif
