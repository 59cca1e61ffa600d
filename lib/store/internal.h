/* internal.h - declarations shared by the files of lib/store; for lib/store alone */
#ifndef HRUN_STORE_INTERNAL_H
#define HRUN_STORE_INTERNAL_H

#include "store/store.h"

#include <stddef.h>
#include <sys/types.h>

struct hrun_store {
    char *dir;        /* absolute path */
    mode_t mode;      /* of folders that hrun creates */
    int held;         /* descriptor of the lock between hrun_store_begin and _end, else -1 */
    char *held_app, *held_signature;
};

/* The highest versions that this hrun reads and writes. A record is written in the lowest version that has keys for all
 * of its values, so that older versions of hrun can read it. */
enum { STORE_RECORD_VERSION = 5, STORE_MODELS_VERSION = 1 };

/* The longest line of a log or an imported file. A record has about 500 bytes; parsed JSON takes up to 200 times its
 * length in memory. */
enum { STORE_LINE_MAX = 1 << 18 };

/* The beginning of every record. Keys are sorted, the object is flat and quotes in strings are escaped, so this text
 * occurs nowhere else in a record. After damage a reader searches this text to find the next record. */
#define STORE_RECORD_START "{\"M\":"

/* The fields of a measurement with their keys in records and other formats. */
enum store_kind { STORE_COUNT, STORE_SMALL, STORE_FLAG, STORE_SECONDS, STORE_TEXT };

struct store_field {
    const char *key;
    enum store_kind kind;   /* int64_t, int, int of 0 or 1, double, char * */
    size_t offset;
    int since;              /* the first version of records with this field */
};

enum { STORE_NFIELDS = 28 };
extern const struct store_field store_fields[STORE_NFIELDS];

void *store_member(const struct hrun_sample *s, const struct store_field *f);

/* Check a name that becomes part of a path: [a-z0-9][a-zA-Z0-9._-]*. what: for the message, such as "an application".
 * Errors: HRUN_EINVAL. */
int store_check_name(const char *what, const char *name, struct hrun_error *err);

/* DATA/profiles/APP, and DATA/profiles/APP/SIGNATURE + suffix (".log"), after checking the names. The caller
 * frees it; NULL with HRUN_EINVAL. */
char *store_folder(const struct hrun_store *s, const char *app, struct hrun_error *err);
char *store_path(const struct hrun_store *s, const char *app, const char *signature, const char *suffix,
                 struct hrun_error *err);

/* Create the folder of an application and lock one signature for writing. If hrun_store_begin holds this lock, use the
 * held lock. Result: a descriptor for store_unlock, or -1. */
int store_lock(const struct hrun_store *s, const char *app, const char *signature, struct hrun_error *err);
void store_unlock(const struct hrun_store *s, int lock);

/* 1 if s holds this signature's lock, else 0. While s holds the lock, do not open the lock file: closing the file would
 * release the lock. */
int store_holds(const struct hrun_store *s, const char *app, const char *signature);

/* Append a remedy to the message of a failed write. kept: the data that stays intact. Result: -1. */
int store_advise(struct hrun_error *err, const char *kept);

/* Check the invariants of store.h. Errors: HRUN_EINVAL naming the value. */
int store_check_sample(const struct hrun_sample *sample, struct hrun_error *err);

/* Append one whole line: JSON, tab, CRC-32, newline. Errors: HRUN_EINVAL (also for a line longer than
 * STORE_LINE_MAX). */
int store_encode(const char *app, const char *signature, const struct hrun_sample *sample,
                 struct hrun_buf *line, struct hrun_error *err);

/* hrun_store_append for n samples at once: all are appended, or none. */
int store_append(struct hrun_store *s, const char *app, const char *signature, const struct hrun_sample *const *v,
                 size_t n, struct hrun_error *err);

/* The sample of a record's JSON text, whose checksum is right. Errors: HRUN_ECORRUPT with the reason. */
int store_decode(const char *json, size_t len, const char *app, const char *signature,
                 struct hrun_sample *out, struct hrun_error *err);

/* The position up to which a log was read. */
struct store_log_end {
    off_t at;           /* offset after the last newline */
    int torn;           /* 1: an unfinished record follows */
};

/* Read the good records of the log at path that follow *end, and update *end. Without a log out->n is 0. Errors:
 * HRUN_EIO. */
int store_read_tail(const char *path, const char *app, const char *signature, struct store_log_end *end,
                    struct hrun_samples *out, struct hrun_error *err);

/* Check the invariants of store.h. Errors: HRUN_EINVAL. */
int store_check_models(const struct hrun_models *m, struct hrun_error *err);

/* Append checked models as YAML. Errors: HRUN_EINVAL (text that is not UTF-8). */
int store_print_models(const struct hrun_models *m, struct hrun_buf *out, struct hrun_error *err);

/* Parse the models in text, which was read from path. Errors: HRUN_EPARSE, HRUN_ECORRUPT with line and column. */
int store_parse_models(const char *path, const struct hrun_buf *text, const char *app, const char *signature,
                       struct hrun_models **out, struct hrun_error *err);

/* ---- exchange: shared by the files of the formats */

/* The field with this key, or NULL. */
const struct store_field *exchange_field(const char *key);
unsigned exchange_bit(const struct store_field *f);

/* Free the members of a measurement. */
void exchange_drop(struct hrun_exchanged *x);

/* Size of the text of a double, written by exchange_number exactly and with the fewest digits. plain = 1: without
 * exponent, up to 309 digits before the point, or 324 zeros and 17 digits after the point. */
enum { EXCHANGE_NUMBER = 400 };
void exchange_number(double value, int plain, char out[EXCHANGE_NUMBER]);

void exchange_write_csv(const struct hrun_exchange_set *sets, size_t nsets, struct hrun_buf *out);

#endif
