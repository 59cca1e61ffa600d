/* app.h - app definitions: what an application accepts, how its time behaves, what it reads and prints
 *
 * Purpose: load share/profiles/NAME.yaml (format: hrun-app(5)) and answer what models, search and launch ask about the
 * application. The other headers of this folder do what depends on a run: template.h, inputs.h, clock.h.
 * Invariants:
 *   - every mistake in a definition is found at loading, with file, line, column and what would be right;
 *   - a loaded definition is not changed but by hrun_app_fix_threads, hrun_app_suit and hrun_app_rule_of_runs, except
 *     that its expressions hold the variables of an evaluation (one thread at a time).
 */
#ifndef HRUN_APP_APP_H
#define HRUN_APP_APP_H

#include "app/formula.h"
#include "base/buf.h"
#include "base/error.h"
#include "expr/expr.h"

#include <stddef.h>
#include <stdint.h>

/* The most processes that a definition may put on one PE. A PE is a node at most, and Linux runs on at most 8192
 * CPUs (NR_CPUS of x86-64): more processes could not even have a hardware thread each. On the largest host list
 * (16384 names) that makes 2^27 processes, which lib/plan still counts (up to 2^30). */
enum { HRUN_PROCS_PER_PE_MAX = 8192 };

/* NP-T terms may call hrun_app_functions: "alltoall(16*N/P^2)". Such a *network term* has the value of one such
 * operation where the ranks are, times the factor around it ("N*p2p(8)"), so that its coefficient is how often it
 * happens. */
struct hrun_term {
    char *text;                 /* as written: "N^3/P" */
    struct hrun_expr *expr;
};

/* 1 for a network term. */
int hrun_term_is_network(const struct hrun_expr *term);

struct hrun_terms {
    struct hrun_term *v;
    int n;
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

/* What families other than npt say of times; NULL where it is another family. */
struct hrun_app_law {
    struct hrun_app_ring ring;
    struct hrun_app_weak weak;
    struct hrun_formula *formula;
};

/* The program is told which part of the work each process gets (key `shares`, family npt), in whole units. Terms of the
 * definition know this part as W, and are in proportion to it. */
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

struct hrun_app_programs {
    char **names;               /* by which the program is known */
    int n;
    struct hrun_app_build *builds;
    int nbuilds;
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
    const char *name, *file;
    int line;                   /* from 1 */
    double value;               /* of the definition */
};

/* What the folder of a run that only measures has of the working folder (key `scratch`). */
enum hrun_app_scratch {
    HRUN_APP_SCRATCH_LINK,      /* copies of small files, links to large ones */
    HRUN_APP_SCRATCH_COPY,      /* copies of all */
    HRUN_APP_SCRATCH_NONE       /* it has no folder of its own, and runs in the working folder */
};

/* What a run is given. */
struct hrun_app_run {
    char **args;                /* templates appended to the command line when the user gives no arguments */
    int nargs;
    char *stdin_text;           /* template fed to the program's standard input, or NULL */
    struct hrun_app_file *files;
    int nfiles;
    struct hrun_app_preset *presets;
    int npresets;
    struct hrun_app_step *prepare;
    int nprepare;
    int threads_fill;           /* `threads: fill`: a PE's cores are shared out to its processes, a thread for each */
    char *threads;              /* OMP_NUM_THREADS as the user fixed it (hrun_app_fix_threads), or NULL */
    enum hrun_app_scratch scratch;
};

/* Where the program reports its time. */
struct hrun_app_time {
    const char *match;          /* POSIX extended regex, the first group being a number; NULL: wall clock */
    const char *file;           /* pattern (glob(7), no template) of the file in which it is looked for, relative to
                                   the working directory; NULL: standard output */
    struct hrun_expr *value;    /* seconds over x, that number, N and P; NULL: x */
};

struct hrun_app_sizes {
    int64_t *v;                 /* suggested for calibration, ascending; may be empty */
    int n;
    int in_command;             /* `size: number`: N is the number where this one of `args`, from 1, has {N}; else 0 */
    int of_command;             /* `size: command`: it has no terms, and stands for commands that are applications of
                                   their own, which take over what hrun_app_print_shared prints */
};

struct hrun_app {
    char *name, *title;
    char *file;                 /* where the definition was read */
    struct hrun_app_programs programs;
    enum hrun_app_family family;
    struct hrun_expr *rule;     /* over N, P; never NULL ("1" when the definition has none) */
    struct hrun_expr *memory;   /* bytes per process over N, P; NULL: not limited */
    int *procs_per_pe;          /* allowed Mi, ascending, distinct, 1..HRUN_PROCS_PER_PE_MAX */
    int nprocs_per_pe;
    int suits_pes;              /* 1: `size` without procs_per_pe: hrun_app_suit makes the list */
    int most_procs;             /* a larger P is not accepted: what a resource manager grants; 0: any. The caller's */
    struct hrun_terms np;       /* NP-T terms over N, P (paper 000, eq. 4 and Table V), network terms among them */
    struct hrun_terms nt;       /* N-T terms over N (eq. 2): key `n` */
    struct hrun_terms pt;       /* P-T terms over T, P, N (eq. 3): key `p`; T is the N-T model's value */
    struct hrun_app_law law;
    struct hrun_app_shares shares;
    struct hrun_app_run run;
    struct hrun_app_time time;
    struct hrun_const *consts;  /* the definition's `constants` by name, then its `derived`, overridden by -D */
    int nconsts;
    struct hrun_app_sizes sizes;
    int fixed;                  /* `size: fixed`: each run has the same work, N = 1, which no word tells the program */
    char *variant;              /* which one this is, or NULL; `name` is then "NAME.VARIANT" */
    struct hrun_app **variants; /* the algorithms among which hrun chooses: definitions of their own, whose
                                   measurements and models are apart from each other's; owned. Where there are some,
                                   this definition itself cannot be predicted */
    int nvariants;
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

/* For suits_pes: set the numbers of processes that PEs with cores[n] cores (0: not known) may hold. With one core: 1
 * and 2; with c: 1, c/2 and c, which share the cores as with threads_fill. For PEs of several kinds: all of these. */
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

/* Does the rule accept (N, P), and has each process the least units (errors: also those of hrun_app_units)? 1, 0, or
 * -1 with HRUN_ENONFINITE ("rule of hpl: '...' divides by zero at N=..., P=..."). */
int hrun_app_rule(const struct hrun_app *app, int64_t N, int64_t P, struct hrun_error *err);

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
 * rows of a unit. Errors: HRUN_ENONFINITE, HRUN_EINVAL (no whole number above 0). */
int hrun_app_mesh(const struct hrun_app *app, int64_t N, int64_t *units, int64_t *unit, struct hrun_error *err);

/* Of a definition with `shares`: how many units there are, and the least of a process. Errors: HRUN_ENONFINITE,
 * HRUN_EINVAL (no whole number above 0). */
int hrun_app_units(const struct hrun_app *app, int64_t N, int64_t *units, int64_t *least, struct hrun_error *err);

/* With equal shares, the largest part of the work of a process, relative to one P-th: 1 where P divides the units,
 * and without `shares`. For a number of units, or for those of size N. */
double hrun_units_uneven(int64_t units, int64_t P);
double hrun_app_uneven(const struct hrun_app *app, int64_t N, int64_t P);

/* Is this NP-T term in proportion to the share W of a process? */
int hrun_app_term_is_shared(const struct hrun_app *app, const struct hrun_expr *term);

/* Bytes of a process whose part of the work is W, or, of family weak, that has W rows. Definitions whose memory does
 * not depend on it: as hrun_app_memory, which for the others assumes equal parts. */
int hrun_app_share_memory(const struct hrun_app *app, int64_t N, int64_t P, double W, double *bytes,
                          struct hrun_error *err);

/* The most units, up to `units`, of a process among P that fit into room_bytes (not above 0: all of them). The memory
 * must not fall as they grow. Result: their number, or -1: errors as above. */
int64_t hrun_app_units_fitting(const struct hrun_app *app, int64_t N, int64_t P, int64_t units, double room_bytes,
                               struct hrun_error *err);

/* The user fixes OMP_NUM_THREADS of an application that fills its cores with threads: from now on its measurements
 * are of that number, apart from those of other numbers and of the filled ones. */
void hrun_app_fix_threads(struct hrun_app *app, const char *value);

#endif
