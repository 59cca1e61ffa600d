/* app.h - app definitions: what an application accepts, how its time behaves, what it reads and prints
 *
 * Purpose: load share/profiles/NAME.yaml (format: hrun-app(5)), answer the questions that models, search and
 * launch ask about the application, and write its input files.
 * Invariants:
 *   - every mistake in a definition is found at loading, with file, line, column and what would be right;
 *   - a loaded definition is not changed but by hrun_app_fix_threads and hrun_app_suit, except that its expressions
 *     hold the variables of an evaluation (one thread at a time);
 *   - a file that the user wrote or changed is never overwritten unless force is set.
 */
#ifndef HRUN_APP_APP_H
#define HRUN_APP_APP_H

#include "base/buf.h"
#include "base/error.h"
#include "expr/expr.h"

#include <stddef.h>
#include <stdint.h>

/* ---------------------------------------------------------------- formula
 *
 * The seconds of one process as an expression: what a definition says under `where` and `formula`
 *
 * Purpose: applications of which is known what they compute and send need no measurements of their own: the speeds of
 * the PEs and the network tell their time (paper 003, section 3.3). A formula is a list of steps: the named values of
 * `where`, each of which may use those before it, and the formula itself. It is evaluated for each process of a
 * configuration, in order of ranks; the application takes as long as the longest (lib/model).
 * Invariants: names are distinct, and no variables, constants or functions; the last step is the formula.
 */

/* The variables of each step; behind them stand the steps before it. */
enum hrun_formula_variable {
    HRUN_FORMULA_N,
    HRUN_FORMULA_P,
    HRUN_FORMULA_SHARE,         /* the part of the work of this process; their sum is 1 */
    HRUN_FORMULA_PERF,          /* s per floating-point operation (Perf(p) of paper 003, eqs. 2 and 3) */
    HRUN_FORMULA_LATENCY,       /* s of an empty message */
    HRUN_FORMULA_BANDWIDTH,     /* bytes/s of large ones */
    HRUN_FORMULA_ROOT,          /* 1 for rank 0, else 0 */
    HRUN_FORMULA_RANK,
    HRUN_FORMULA_VARIABLES
};

/* The functions: those of the network (hrun_app_functions) have their numbers there, behind them stand these. */
enum hrun_formula_function {
    HRUN_FORMULA_UPTO,          /* upto(r): the sum of the shares of ranks below r; between ranks it is linear */
    HRUN_FORMULA_EVERY,         /* every(k): of all ranks that leave this one's remainder when divided by k */
    HRUN_FORMULA_BEFORE,        /* before(x): the sum of x over the ranks below this one */
    HRUN_FORMULA_TOTAL,         /* total(x): the sum of x over all processes */
    HRUN_FORMULA_MOST,          /* most(x): the greatest x of all processes */
    HRUN_FORMULA_FUNCTIONS
};

struct hrun_formula_step {
    char *name;                 /* NULL of the formula */
    struct hrun_expr *expr;
    int varies;                 /* 0: it has one value for all processes of a configuration */
};

struct hrun_formula {
    struct hrun_formula_step *steps;
    int n;
    int has_network;            /* 1: some step asks for the network */
    int has_rate;               /* 1: for latency or bandwidth */
};

/* Compile where[n] (names and texts) and the formula. Errors: HRUN_EPARSE or HRUN_EINVAL with err->column in the text
 * of step *at (0..n, n being the formula), of *name = 1 in its name. */
int hrun_formula_compile(char *const *names, char *const *texts, int n, const char *formula,
                         const struct hrun_const *consts, int nconsts, struct hrun_formula **out, int *at, int *name,
                         struct hrun_error *err);
void hrun_formula_destroy(struct hrun_formula *f);

/* The most processes that a definition may put on one PE. A PE is a node at most, and Linux runs on at most 8192
 * CPUs (NR_CPUS of x86-64): more processes could not even have a hardware thread each. On the largest host list
 * (16384 names) that makes 2^27 processes, which lib/plan still counts (up to 2^30). */
enum { HRUN_PROCS_PER_PE_MAX = 8192 };

struct hrun_term {
    char *text;                 /* as written: "N^3/P" */
    struct hrun_expr *expr;
};

/* Functions for what the network takes, which NP-T terms may call with bytes as an expression of N and P, by the names
 * of lib/net's operations: "alltoall(16*N/P^2)". A term that has one is a *network term*: its value is what one such
 * operation takes where the ranks are, times the factor around it ("N*p2p(8)"), so that its coefficient is how often it
 * happens. */
extern const struct hrun_expr_function hrun_app_functions[];
extern const int hrun_app_nfunctions;

/* 1 for a network term. */
int hrun_term_is_network(const struct hrun_expr *term);

struct hrun_terms {
    struct hrun_term *v;
    int n;
};

struct hrun_app_file {          /* an input that is written before a run */
    char *path;                 /* relative to the working directory, template */
    char *content;              /* template */
};

struct hrun_app_step {          /* a command that runs before the application (key `prepare`) */
    char **words;               /* templates */
    int nwords;
    int mpi;                    /* 1: as many processes as the application has, where these will be; 0: one, here */
};

struct hrun_app_preset {        /* where a user's own input file says the value of a constant */
    char *name, *file;
    int line;                   /* from 1 */
    double value;               /* of the definition */
};

/* How times follow from measurements (key `family`); the models of lib/model. */
enum hrun_app_family {
    HRUN_APP_NPT,               /* formulas in N and P (paper 000) */
    HRUN_APP_WEAK,              /* rows of a mesh on each process (paper 001) */
    HRUN_APP_RING,              /* a ring of virtual processes (paper 004) */
    HRUN_APP_ANALYTIC,          /* a formula in the speeds of the PEs and the network (paper 003, section 3.3) */
    HRUN_APP_FAMILIES           /* how many there are */
};

/* The names that `family` may have, in the order of the enum, ended by NULL; lib/model has a row for each. */
extern const char *const hrun_app_family_names[];

/* What the folder of a run that only measures has of the working folder (key `scratch`). */
enum hrun_app_scratch {
    HRUN_APP_SCRATCH_LINK,      /* copies of small files, links to large ones */
    HRUN_APP_SCRATCH_COPY,      /* copies of all */
    HRUN_APP_SCRATCH_NONE       /* it has no folder of its own, and runs in the working folder */
};

/* What a process of a ring does (family ring), over n = N/P, N and P. */
struct hrun_app_ring {
    struct hrun_expr *local;    /* work on its own data, in any unit */
    struct hrun_expr *step;     /* work on its own data and visiting ones, in the same unit */
    struct hrun_expr *bytes;    /* of the data that it sends in a step */
};

/* The mesh of family weak: N columns, the length of its messages, and rows that are shared out in whole units. */
struct hrun_app_weak {
    struct hrun_expr *rows;     /* in all, over N */
    struct hrun_expr *unit;     /* rows that stay together, over N */
    struct hrun_expr *memory;   /* bytes of a process over N, P, W: its rows; NULL: `memory` of the definition counts */
};

/* What of the work each process gets is told to the program (key `shares`, family npt): whole units, which a term of
 * the definition knows as W, the part that a process has of all of them. Terms with W are in proportion to it. */
struct hrun_app_shares {
    struct hrun_expr *units;    /* in all, over N; NULL: shares are equal */
    struct hrun_expr *min;      /* of a process, over N */
    struct hrun_expr *memory;   /* bytes of a process over N, P, W; NULL: `memory` of the definition counts */
    int cyclic;                 /* `deal`: 1: units go to the ranks in laps; 0: each rank has its units in a row */
};

/* The program for some sub-clusters, in place of the one that is named. */
struct hrun_app_build {
    char *on;                   /* name of a sub-cluster, or machine of its hosts (uname -m) */
    char *program;              /* {program} in it stands for the one that is named */
};

struct hrun_app {
    char *name, *title;
    char *file;                 /* where the definition was read */
    char **programs;            /* names by which the program is known */
    int nprograms;
    struct hrun_app_build *builds;
    int nbuilds;
    enum hrun_app_family family;
    struct hrun_expr *rule;     /* over N, P; never NULL ("1" when the definition has none) */
    int *procs_per_pe;          /* allowed Mi, ascending, distinct, 1..HRUN_PROCS_PER_PE_MAX */
    int nprocs_per_pe;
    int suits_pes;              /* 1: `size` without procs_per_pe: hrun_app_suit makes the list */
    int most_procs;             /* a larger P is not accepted: what a resource manager grants; 0: any. The caller's */
    struct hrun_expr *memory;   /* bytes per process over N, P; NULL: not limited */
    struct hrun_terms np;       /* NP-T terms over N, P (paper 000, eq. 4 and Table V), network terms among them */
    struct hrun_terms nt;       /* N-T terms over N (eq. 2): key `n` */
    struct hrun_terms pt;       /* P-T terms over T, P, N (eq. 3): key `p`; T is the N-T model's value */
    struct hrun_app_ring ring;  /* of family ring, else NULL */
    struct hrun_app_weak weak;  /* of family weak, else NULL */
    struct hrun_app_shares shares;
    struct hrun_app_file *files;
    int nfiles;
    struct hrun_app_step *prepare;
    int nprepare;
    char **args;                /* templates appended to the command line when the user gives no arguments */
    int nargs;
    int threads_fill;           /* `threads: fill`: a PE's cores are shared out to its processes, a thread for each */
    char *threads;              /* OMP_NUM_THREADS as the user fixed it (hrun_app_fix_threads), or NULL */
    enum hrun_app_scratch scratch;
    char *stdin_text;           /* template fed to the program's standard input, or NULL */
    char *time_match;           /* POSIX extended regex, the first group being a number; NULL: wall clock */
    struct hrun_expr *time_value; /* seconds over x, that number, N and P; NULL: x */
    char *time_file;            /* pattern (glob(7), no template) of the file in which time_match is looked for,
                                   relative to the working directory; NULL: standard output */
    struct hrun_const *consts;  /* the definition's `constants` by name, then its `derived`, overridden by -D */
    int nconsts;
    struct hrun_app_preset *presets;
    int npresets;
    struct hrun_formula *formula; /* of the family analytic; else NULL */
    char *variant;              /* which one this is, or NULL; `name` is then "NAME.VARIANT" */
    struct hrun_app **variants; /* the algorithms among which hrun chooses: definitions of their own, whose
                                   measurements and models are apart from each other's; owned. Where there are some,
                                   this definition itself cannot be predicted */
    int nvariants;
    int fixed;                  /* `size: fixed`: each run has the same work, N = 1, which no word tells the program */
    int in_command;             /* `size: number`: N is the number where this one of `args`, from 1, has {N}; else 0 */
    int of_command;             /* `size: command`: it has no terms, and stands for commands that are applications of
                                   their own, which take over what hrun_app_print_shared prints */
    int64_t *sizes;             /* calibration sizes the definition suggests, ascending; may be empty */
    int nsizes;
};

/* Where definitions are searched, in order: `--profile-path` (colon-separated, may be NULL),
 * $HRUN_PROFILE_PATH, $XDG_CONFIG_HOME/hrun/profiles or ~/.config/hrun/profiles, /etc/hrun/profiles, and
 * `installed` (the share folder of this installation, may be NULL). Appends the existing folders to *dirs,
 * each once. Errors: HRUN_ENOENT for a folder of `--profile-path` that does not exist. */
int hrun_app_path(const char *profile_path, const char *installed, struct hrun_strvec *dirs,
                  struct hrun_error *err);

/* Load one definition. defines: "NAME=VALUE" strings of -D; a name that the definition does not declare under
 * `constants` is an error that lists the declared ones.
 * Errors: HRUN_EPARSE with file, line, column; HRUN_EINVAL for a bad define; HRUN_ENOENT, HRUN_EIO. */
int hrun_app_load(const char *file, char *const *defines, struct hrun_app **out,
                  struct hrun_error *err);
/* The same for text in memory; name stands for the file in messages, and is its `file`. */
int hrun_app_parse(const char *name, const char *text, size_t len, char *const *defines,
                   struct hrun_app **out, struct hrun_error *err);
void hrun_app_destroy(struct hrun_app *app);

/* [a-z0-9][a-z0-9._-]* without .yaml at its end, so that a name is a file name anywhere and never an option nor a path.
 * Result: 1 or 0. */
int hrun_app_is_name(const char *s);
/* The name that an application of this program has: its own in lower-case letters, without the folder, '-' for what may
 * not stand in one ("./Mini MD" -> "mini-md"). The caller frees it; "" where nothing is left. */
char *hrun_app_name_of(const char *program);

/* A definition for a program that none knows: any P is accepted, one process per PE, no terms, no arguments, the wall
 * clock; its name is hrun_app_name_of, its file "". Errors: HRUN_EINVAL (nothing of the name is left). */
int hrun_app_create_bare(const char *program, struct hrun_app **out, struct hrun_error *err);

/* For suits_pes: the processes that PEs of so many cores (cores[n], 0: not known) may hold. Of one core: 1 and 2; of
 * c: 1, c/2 and c, which then share the cores as with threads_fill. For PEs of several kinds all of these. */
void hrun_app_suit(struct hrun_app *app, const int *cores, int n);

/* Which variant has this name: 0..nvariants-1, or -1 with HRUN_ENOENT, naming the known ones and the nearest. */
int hrun_app_find_variant(const struct hrun_app *app, const char *name, struct hrun_error *err);

/* 1 if the definition has network terms, or a formula that asks for the network. */
int hrun_app_has_network(const struct hrun_app *app);

/* Find and load by name (NAME.yaml, or a path when name holds a '/' or ends in .yaml); "NAME.VARIANT" is a variant of
 * NAME, where there is no such file.
 * Errors: HRUN_ENOENT naming the folders searched and the nearest known name. */
int hrun_app_find(const struct hrun_strvec *dirs, const char *name, char *const *defines,
                  struct hrun_app **out, struct hrun_error *err);

/* Find the definition whose `programs` holds the base name of program. *out = NULL and 0 when none does;
 * two definitions in one folder that claim the same program are an error that names both (HRUN_EINVAL).
 * A definition hides those of its name in later folders. One that has mistakes fails the call only when the
 * program's name is a word of it, comments apart: a broken file is no reason to refuse a program that it does
 * not concern. */
int hrun_app_find_program(const struct hrun_strvec *dirs, const char *program, char *const *defines,
                          struct hrun_app **out, struct hrun_error *err);

/* Names of all definitions in dirs, sorted, each once. */
int hrun_app_list(const struct hrun_strvec *dirs, struct hrun_strvec *names, struct hrun_error *err);

/* Does the rule accept (N, P), and are there units for so many processes (else errors as of hrun_app_units)? 1, 0, or
 * -1 with HRUN_ENONFINITE ("rule of hpl: '...' divides by zero at N=..., P=..."). */
int hrun_app_rule(const struct hrun_app *app, int64_t N, int64_t P, struct hrun_error *err);

/* Of an application of one size whose runs tell the rule: runs with P[i] processes worked, or the program refused that
 * number. The rule becomes the simplest that agrees with all, once two numbers were refused; where none agrees, that it
 * is none of those, or, where more than twice as many were refused as worked, that it is one of these. Result: 1: it is
 * another one now, 0, or -1: errors of lib/expr. */
int hrun_app_rule_of_runs(struct hrun_app *app, const int *P, const int *worked, int n, struct hrun_error *err);

/* Bytes per process; *bytes = 0 when the definition has no memory expression. Errors: HRUN_ENONFINITE,
 * HRUN_EINVAL for a negative value. */
int hrun_app_memory(const struct hrun_app *app, int64_t N, int64_t P, double *bytes, struct hrun_error *err);

/* What a process does in a ring of P processes. */
struct hrun_ring_work {
    double n;                   /* N/P */
    double local, step;         /* units of work */
    double bytes;
};

/* Of a definition of family ring. Errors: HRUN_ENONFINITE, HRUN_EINVAL for a negative value; *out is as before. */
int hrun_app_ring_work(const struct hrun_app *app, int64_t N, int64_t P, struct hrun_ring_work *out,
                       struct hrun_error *err);

/* Of a definition of family weak: how many units of rows the mesh of size N has, a part of one counting as one, and the
 * rows of a unit. Errors: HRUN_ENONFINITE, HRUN_EINVAL (no whole number above 0); both are as before. */
int hrun_app_mesh(const struct hrun_app *app, int64_t N, int64_t *units, int64_t *unit, struct hrun_error *err);

/* Of a definition with `shares`: how many units there are, and the least of a process. Errors: HRUN_ENONFINITE,
 * HRUN_EINVAL (no whole number above 0); both are as before. */
int hrun_app_units(const struct hrun_app *app, int64_t N, int64_t *units, int64_t *least, struct hrun_error *err);

/* With equal shares, how much more than a P-th of the work the process has that has most: 1 where P divides the units,
 * and without `shares`. Of so many units, or of those of N. */
double hrun_units_uneven(int64_t units, int64_t P);
double hrun_app_uneven(const struct hrun_app *app, int64_t N, int64_t P);

/* Is this NP-T term in proportion to the share W of a process? */
int hrun_app_term_is_shared(const struct hrun_app *app, const struct hrun_expr *term);

/* Bytes of a process that has so many rows; else as hrun_app_memory. Of family weak, and where `shares` says it,
 * hrun_app_memory tells them of equal shares. */
int hrun_app_rows_memory(const struct hrun_app *app, int64_t N, int64_t P, double rows, double *bytes,
                         struct hrun_error *err);

/* Bytes of a process whose part of the work is W, of a definition with `shares`. */
int hrun_app_share_memory(const struct hrun_app *app, int64_t N, int64_t P, double W, double *bytes,
                          struct hrun_error *err);

/* The most units (of `unit` rows, with family weak), up to `units`, that fit into room_bytes (not above 0: all) of a
 * process among P. What they take must not fall as they grow. Errors: as above; *most is as before. */
int hrun_app_units_fitting(const struct hrun_app *app, int64_t N, int64_t P, int64_t units, int64_t unit,
                           double room_bytes, int64_t *most, struct hrun_error *err);

/* The user fixes OMP_NUM_THREADS of an application that fills its cores with threads: from now on its measurements
 * are of that number, apart from those of other numbers and of the filled ones. */
void hrun_app_fix_threads(struct hrun_app *app, const char *value);

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

#define HRUN_SHARE_FORMS "units, owners, fractions, cuts or a number that they add up to"

/* Append the shares of P ranks (share NULL: equal) in the form of form[len]; "": "4*96,2*64", equal neighbours
 * together. Else `units` ("96 96 64"), `fractions` of the whole ("0.375 0.375 0.25"), `cuts`, what ranks 0 to r have
 * of the whole together for r < P - 1 ("0.375 0.75"), a number, into which as many whole numbers add up, none below
 * 1 ("3 3 2"), or `owners`, the rank that has each unit ("0 0 0 1 1"). Behind a colon: what stands between them in
 * place of a blank ("cuts:,"), "\n" for a line feed; "*": units, whole numbers and owners as with "".
 * cyclic: owners follow each other in laps over the ranks, as many as the rank with the fewest has units, but at least
 * 8, or as many as the most units of a rank; in a lap a rank with more has several in a row.
 * Errors: HRUN_EINVAL (another form, named with those that there are; nothing behind the colon; a number below P;
 * owners of more than a million units or of parts of one); *out is as before. */
int hrun_app_add_shares(const char *form, size_t len, int cyclic, const double *share, int64_t P, struct hrun_buf *out,
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

/* Write the definition's files for these values under dir; check = 1: write nothing, 0 where it would succeed. A file
 * that has the right content is not touched. One with another content is replaced where hrun wrote it and nobody
 * changed it since, which its mark says (inputs.c), else only with force. Anything that is not a regular file (a
 * folder, a pipe) is in the way in any case. Errors: HRUN_EEXISTS (nothing is written then, of several files none),
 * HRUN_EINVAL (a template), HRUN_EIO; files replaced before the failure stay. */
int hrun_app_write_files(const struct hrun_app *app, const struct hrun_app_values *values, const char *dir, int force,
                         int check, struct hrun_error *err);

/* Read the constants of `presets` from the user's own files in dir; files with hrun's mark are skipped. Append to
 * *defines, as NAME=VALUE, those whose line begins with one number that differs from the definition's value, and to
 * *missed, with the definition's value, those whose line does not begin with exactly one number. */
void hrun_app_presets(const struct hrun_app *app, const char *dir, struct hrun_strvec *defines,
                      struct hrun_strvec *missed);

/* Has the input file that hrun writes for these values the number `said` at a preset's place? Where it has another one,
 * *written gets that. */
int hrun_app_preset_holds(const struct hrun_app *app, const struct hrun_app_preset *p, double said,
                          const struct hrun_app_values *values, double *written);

/* Reading the application's own time. Feed standard output in pieces, cut anywhere; each line is matched
 * apart (only its first HRUN_CLOCK_LINE bytes, without its end: LF, CR or both); the last match counts. */
enum { HRUN_CLOCK_LINE = 65536 };

struct hrun_clock;
/* NULL with *err unset when the definition has no time_match. values: of the run, for time_value. dir: working
 * directory, for time_file. The content at creation of the files that match is remembered (length and checksum): read
 * is the one that the run writes, of it what the run appends, or all where it writes the file anew. app outlives the
 * clock. Errors: HRUN_EINVAL (the expression), HRUN_EIO. */
struct hrun_clock *hrun_clock_create(const struct hrun_app *app, const struct hrun_app_values *values, const char *dir,
                                     struct hrun_error *err);
void hrun_clock_feed(struct hrun_clock *c, const char *data, size_t len);
/* *time_s of the last match; 0 where the program says 0: the run was shorter than it can tell. Errors: HRUN_ENODATA (no
 * line matched, the run wrote no such file, or several; says which expression and where it was looked for),
 * HRUN_ENONFINITE (negative, not finite, or by time_value not positive), HRUN_EIO. */
int hrun_clock_result(struct hrun_clock *c, double *time_s, struct hrun_error *err);
void hrun_clock_destroy(struct hrun_clock *c);

/* ---------------------------------------------------------------- draft
 *
 * The text of an app definition that nobody wrote by hand
 *
 * Purpose: print what is known of an application as a definition that hrun_app_load reads (format: hrun-app(5)), with
 * comments that tell a person where it comes from.
 */

struct hrun_app_draft {
    const char *name;              /* [a-z0-9][a-zA-Z0-9._-]* */
    const char *title;             /* or NULL */
    const char *comment;           /* lines of text without '#', or NULL: stand on top */
    const char *program;           /* name by which the application is known, or NULL */
    const char *rule;              /* expression */
    const char *rule_comment;      /* stands before it, or NULL */
    const char *terms_comment;
    const int *procs_per_pe;
    int nprocs;                    /* 0: none are said */
    int in_command;                /* 1: of a command, `size: number` and `scratch: copy` */
    const struct hrun_strvec *np, *n, *p;
    const char *units;             /* of its shares, by which terms over P are in proportion to W; or NULL */
    char *const *args;             /* words as the user wrote them ({N}, {P} and {shares} are replaced, other braces
                                      stay) */
    const char *time_match;        /* regular expression, or NULL: the wall clock */
    const char *time_file, *time_value;    /* as those of struct hrun_app, or NULL */
    const int64_t *sizes;          /* ascending; may be empty */
    int nsizes;
};

/* Append the definition. Errors: HRUN_EINVAL (text with a control character: it has no place in one line); *out is then
 * undefined. Whether names and expressions are right hrun_app_load tells. */
int hrun_app_draft_print(const struct hrun_app_draft *d, struct hrun_buf *out, struct hrun_error *err);

/* Append, as lines of a definition, what one of `size: command` says of its commands: rule, procs_per_pe and time.
 * Errors: as above. */
int hrun_app_print_shared(const struct hrun_app *app, struct hrun_buf *out, struct hrun_error *err);

/* ---------------------------------------------------------------- time_match
 *
 * The regular expression that finds the time in what a program prints
 *
 * Purpose: POSIX extended regular expressions, compiled and tested with bounded effort; the only place with regex.h.
 * Invariants: an expression has a group; compiling it takes milliseconds and megabytes, whatever its text. Searching
 * takes memory, up to 5 KB for each character searched, which only hrun_time_match_destroy frees.
 */

struct hrun_time_match;

/* Compile text. Errors: HRUN_EINVAL (the message quotes text and says what is wrong). */
struct hrun_time_match *hrun_time_match_create(const char *text, struct hrun_error *err);
/* Does line match? Each character of the line is read once. */
int hrun_time_match_test(const struct hrun_time_match *p, const char *line);
/* Find the first match in a line that matches: where its first group begins, and its length. It takes time by the
 * square of the line's length. Result: 1, or 0 if the group took no part in the match. */
int hrun_time_match_find(const struct hrun_time_match *p, const char *line, const char **group, size_t *len);
void hrun_time_match_destroy(struct hrun_time_match *p);

#endif
