/* exchange.h - measurements as text for other programs, and from them
 *
 * Purpose: write stored measurements as CSV, or as input of Extra-P (its text and its JSON Lines format), and read the
 * same back into logs. Formats, as users see them: hrun-calibrate(1), "Exchange".
 *     csv     RFC 4180 with a header line; columns "app", "signature", and the keys of hrun-profile(5), in any order
 *     extrap  Extra-P, docs/file-formats.md, "Text file format": PARAMETER, POINTS, METRIC, REGION, DATA
 *     jsonl   the same document, "JSON Lines format"; what Extra-P has no key for stands under the key "hrun", which it
 *             passes over
 * Invariants:
 *   - what is written and read back is the same measurement to the last bit, but for what the format cannot hold: csv
 *     and jsonl hold every field; extrap holds N, P, M, time_s, consts, application and signature;
 *   - Extra-P takes a file only where all its regions (here: application, signature and constants) were measured at the
 *     same points, and it models one time as a function of the parameters; so failed runs and runs of several
 *     sub-clusters are left out of its formats, and regions whose points differ are refused;
 *   - nothing is read that breaks an invariant of store.h; the first record that does is told with file and line, and
 *     then nothing of the file is taken.
 */
#ifndef HRUN_STORE_EXCHANGE_H
#define HRUN_STORE_EXCHANGE_H

#include "base/buf.h"
#include "base/error.h"
#include "store/store.h"

enum hrun_exchange_format { HRUN_EXCHANGE_CSV, HRUN_EXCHANGE_EXTRAP, HRUN_EXCHANGE_JSONL };

/* The format that a word of --format names ("csv", "extrap", "jsonl"), or that the end of a file's name does (".csv",
 * ".txt", ".jsonl"). Errors: HRUN_EINVAL. */
int hrun_exchange_parse(const char *word, enum hrun_exchange_format *out, struct hrun_error *err);
int hrun_exchange_guess(const char *path, enum hrun_exchange_format *out, struct hrun_error *err);

/* Measurements v[n] of one profile and, for Extra-P, of one set of constants. Nothing is owned. */
struct hrun_exchange_set {
    const char *app, *signature;
    const struct hrun_sample *const *v;
    size_t n;
};

/* Append the sets as text. *left_out becomes the number of measurements that the format cannot hold.
 * Errors: HRUN_EINVAL (points that differ, constants that are no line of text), HRUN_ENODATA (Extra-P: nothing is
 * left), HRUN_ENOMEM; out is to be thrown away then. */
int hrun_exchange_write(enum hrun_exchange_format format, const struct hrun_exchange_set *sets, size_t nsets,
                        struct hrun_buf *out, size_t *left_out, struct hrun_error *err);

/* A measurement that was read. */
struct hrun_exchanged {
    char *app, *signature;      /* NULL: the file does not say */
    struct hrun_sample sample;  /* origin is "import"; what the file does not say is as if it said nothing unusual:
                                   M = 1, pes = P/M, wall_s = time_s, a good run of now */
    unsigned given;             /* bit i: the file gives field i of a record */
    int line;
};

struct hrun_exchange {
    struct hrun_exchanged *v;
    size_t n, cap;
};

#define HRUN_EXCHANGE_INIT { NULL, 0, 0 }

/* Append the measurements of text[len], which was read from the file `name`. Errors: HRUN_EPARSE (with the place: what
 * the format or store.h forbids; out is as it was), HRUN_ENOMEM. */
int hrun_exchange_read(enum hrun_exchange_format format, const char *name, const char *text, size_t len,
                       struct hrun_exchange *out, struct hrun_error *err);
void hrun_exchange_release(struct hrun_exchange *x);

/* Say whose the measurements are: app and signature replace what was read, NULL leaves it.
 * Errors: HRUN_EINVAL (some have no application or signature then, a name is none, or several that were read would
 * become one), HRUN_ENOMEM. */
int hrun_exchange_claim(struct hrun_exchange *x, const char *app, const char *signature, struct hrun_error *err);

/* Add the measurements of one profile to its log, all in one write; app and signature are those of x after
 * hrun_exchange_claim. A measurement that the log holds already, as far as the file tells, is not added: for each equal
 * one in the log one is passed over, so that a file can be imported twice and equal runs are kept apart.
 * *added and *known: how many of either. Errors: as of hrun_store_append; the log is then as it was. */
int hrun_exchange_store(struct hrun_store *s, const struct hrun_exchange *x, const char *app, const char *signature,
                        size_t *added, size_t *known, struct hrun_error *err);

#endif
