/* template.h - {N}, {P}, {shares}, {constant} and {expression} in texts */
#ifndef HRUN_APP_TEMPLATE_H
#define HRUN_APP_TEMPLATE_H

#include "app/app.h"

/* The constant or derived value whose name is name[len]; NULL: there is none, or app is NULL. */
struct hrun_const *hrun_app_find_const(const struct hrun_app *app, const char *name, size_t len);

/* Append the value of a constant as templates and measurements have it: 15 digits, 17 where needed. */
void hrun_app_add_value(struct hrun_buf *out, double value);

/* Append "nb=128,x=2": the constants in order of name, "" when there are none, derived ones only where -D gave them
 * a number; behind them "threads:fill" of a definition that says so ("threads:2" when the number is fixed; no constant
 * has a colon), and "variant:NAME" of a variant. Measurements carry it, and those with different texts are never
 * mixed. */
void hrun_app_consts_text(const struct hrun_app *app, struct hrun_buf *out);

/* What the words in braces stand for, besides constants. */
struct hrun_app_values {
    int64_t N;              /* 0: not known */
    int64_t P;
    const double *share;    /* P: of the work, by rank, in units; NULL: equal, of 1 */
};

/* Append template with {N}, {P}, {shares}, {shares:FORM}, {constant} and {expression of N, P and constants} replaced;
 * "{{" gives "{". FORM: see hrun_app_add_shares.
 * A template that uses N where it is not known is HRUN_EINVAL ("needs -N SIZE"). Whole constants print without a
 * fraction; what is computed is a whole number.
 * Errors: HRUN_EINVAL also for an unknown word, a brace that is not closed, and an expression whose value is not whole;
 * HRUN_ENONFINITE; with the line, of a template that has several; *out is as before. */
int hrun_app_expand(const struct hrun_app *app, const char *text, const struct hrun_app_values *values,
                    struct hrun_buf *out, struct hrun_error *err);

/* Check a template of app, whose constants are known already. Result: -1, or the place of the mistake (characters into
 * text) with *err. */
int hrun_template_check(const struct hrun_app *app, const char *text, struct hrun_error *err);

#define HRUN_SHARE_FORMS "units, owners, fractions, cuts or a number that they add up to"

/* The work as it is dealt to the ranks. */
struct hrun_app_dealt {
    const double *share;    /* P: of each rank; NULL: equal, of 1 */
    int64_t P;
    int cyclic;             /* owners go to the ranks in laps; see struct hrun_app_shares */
};

/* Append the shares in the form of form[len]:
 *   "" "4*96,2*64", equal neighbours together; units "96 96 64"; fractions of the whole "0.375 0.375 0.25";
 *   cuts "0.375 0.75", what ranks 0 to r have of the whole together, for r < P - 1; a number, into which as many whole
 *   numbers add up, none below 1: "3 3 2"; owners, the rank that has each unit: "0 0 0 1 1".
 * What stands behind a colon replaces the blank between them ("cuts:,"; "\n" is a line feed; "*" for units, whole
 * numbers and owners: as with ""). Cyclic owners follow each other in laps over the ranks: as many laps as the rank
 * with the fewest has units, but at least 8, or as many as the most units of a rank.
 * Errors: HRUN_EINVAL, when *out is as before. */
int hrun_app_add_shares(const char *form, size_t len, const struct hrun_app_dealt *dealt, struct hrun_buf *out,
                        struct hrun_error *err);

/* Are shares in this form counted in units of work? */
int hrun_app_form_counts(const char *form);

/* The first {shares} or {shares:FORM} of a form that there is in a word of the user's; NULL: there is none. form[*len]:
 * the form; "": {shares}. */
const char *hrun_app_find_shares(const char *text, const char **form, size_t *len);

/* Do N and the shares reach the program by standard input, files, what prepares it and, with_args, the arguments? */
void hrun_app_inputs_use(const struct hrun_app *app, int with_args, int *size, int *shares);

/* The same as hrun_app_expand for a word of the user's command line ("./bmt-{N}"), where braces may mean something
 * else: only {N}, {P}, {shares} and {constant} are replaced, "{{N}" gives "{N}", and all else stays as it is. app may
 * be NULL (no definition: no constants). Errors: HRUN_EINVAL when {N} is used and N is not known, and for what
 * resembles {shares} and is none of its forms, such as "{share:100}", unless a second brace is before it. */
int hrun_app_expand_word(const struct hrun_app *app, const char *word, const struct hrun_app_values *values,
                         struct hrun_buf *out, struct hrun_error *err);

/* The same for the value of an environment variable: only {P}, what hrun_app_find_shares finds, and {N} where it is
 * known and the work is not the same in each run, are replaced. Errors: as above. */
int hrun_app_expand_variable(const struct hrun_app *app, const char *word, const struct hrun_app_values *values,
                             struct hrun_buf *out, struct hrun_error *err);

#endif
