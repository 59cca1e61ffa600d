/* template.h - {N}, {P}, {shares}, {constant} and {expression} in texts */
#ifndef HRUN_APP_TEMPLATE_H
#define HRUN_APP_TEMPLATE_H

#include "app/app.h"

/* The constant or derived value with this name, or NULL if there is none or app is NULL. */
struct hrun_const *hrun_app_find_const(const struct hrun_app *app, const char *name, size_t len);

/* Append the value of a constant for templates and measurements: 15 digits, or 17 if they are needed. */
void hrun_app_add_value(struct hrun_buf *out, double value);

/* Append the text that identifies the constants of a measurement, "nb=128,x=2", in order of name; measurements with
 * different texts are never mixed. Derived values are included only if -D gave them a number. With threads_fill
 * "threads:fill" follows ("threads:2" if the number is fixed); for a variant "variant:NAME". */
void hrun_app_consts_text(const struct hrun_app *app, struct hrun_buf *out);

/* The values of words in braces other than constants. */
struct hrun_app_values {
    int64_t N;              /* 0: not known */
    int64_t P;
    const double *share;    /* P: work of each rank in units; NULL: 1 each */
};

/* Append template with {N}, {P}, {shares}, {shares:FORM}, {constant} and {expression of N, P and constants}
 * replaced; "{{" gives "{". FORM: see hrun_app_add_shares. Whole constants are printed without a fraction. Errors:
 * HRUN_EINVAL for an unknown N ("needs -N SIZE"), an unknown word, a brace that is not closed, and an expression whose
 * value is not a whole number; HRUN_ENONFINITE. For templates of several lines the message has the line number. After
 * an error *out is unchanged. */
int hrun_app_expand(const struct hrun_app *app, const char *text, const struct hrun_app_values *values,
                    struct hrun_buf *out, struct hrun_error *err);

/* Check a template of app, whose constants are loaded. Result: -1, or the offset of the mistake in text with *err. */
int hrun_template_check(const struct hrun_app *app, const char *text, struct hrun_error *err);

#define HRUN_SHARE_FORMS "units, owners, fractions, cuts or a number that they add up to"

/* The distribution of the work among the ranks. */
struct hrun_app_dealt {
    const double *share;    /* P: work of each rank; NULL: 1 each */
    int64_t P;
    int cyclic;             /* as in struct hrun_app_shares */
};

/* Append the shares in the form of form[len]:
 *     ""         "4*96,2*64": runs of equal shares are folded
 *     units      "96 96 64"
 *     fractions  of the whole: "0.375 0.375 0.25"
 *     cuts       sums of the fractions of ranks 0..r, for r < P - 1: "0.375 0.75"
 *     a number   whole numbers >= 1 whose sum is this number: "3 3 2"
 *     owners     the rank of each unit: "0 0 0 1 1"; cyclic: in max(least share, min(8, largest share)) laps
 * Text after a colon replaces the blank between entries ("cuts:,"; "\n" is a line feed). "*" as this text folds runs
 * of units, whole numbers and owners. Errors: HRUN_EINVAL; *out is unchanged then. */
int hrun_app_add_shares(const char *form, size_t len, const struct hrun_app_dealt *dealt, struct hrun_buf *out,
                        struct hrun_error *err);

/* 1 if the form lists units of work ("units", "owners"), else 0. */
int hrun_app_form_counts(const char *form);

/* The first {shares} or {shares:FORM} with a valid form in a word of the command line, or NULL. form[*len]: the form;
 * "" for {shares}. */
const char *hrun_app_find_shares(const char *text, const char **form, size_t *len);

/* *size, *shares: 1 if N or the shares are used in standard input, files, `prepare` or, if with_args, the arguments;
 * else 0. */
void hrun_app_inputs_use(const struct hrun_app *app, int with_args, int *size, int *shares);

/* hrun_app_expand for a word of the command line ("./bmt-{N}"), in which other braces may belong to other programs:
 * only {N}, {P}, {shares}, {shares:FORM} and {constant} are replaced; "{{N}" gives "{N}". app may be NULL (no
 * constants). Errors: HRUN_EINVAL for {N} when N is not known, and for text that resembles {shares} but has no valid
 * form, such as "{share:100}", unless a second brace precedes the text. */
int hrun_app_expand_word(const struct hrun_app *app, const char *word, const struct hrun_app_values *values,
                         struct hrun_buf *out, struct hrun_error *err);

/* hrun_app_expand_word for the value of an environment variable: only {P}, {shares}, {shares:FORM} and, if N is
 * known and the size is not fixed, {N} are replaced. */
int hrun_app_expand_variable(const struct hrun_app *app, const char *word, const struct hrun_app_values *values,
                             struct hrun_buf *out, struct hrun_error *err);

#endif
