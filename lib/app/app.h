/* app.h - app definitions: what an application accepts, how its time behaves, what it reads and prints
 *
 * Purpose: load share/profiles/NAME.yaml (format: hrun-app(5)) and evaluate it for models, search and launch. Other
 * headers of this folder are about single runs: template.h, inputs.h, clock.h.
 * Invariants:
 *   - every mistake in a definition is reported at loading, with file, line, column and a correction;
 *   - only hrun_app_fix_threads, hrun_app_suit, hrun_app_rule_of_runs and a caller that sets most_procs change a loaded
 *     definition; its expressions store the variables of an evaluation, so one thread at a time may evaluate them.
 */
#ifndef HRUN_APP_APP_H
#define HRUN_APP_APP_H

#include "app/formula.h"
#include "base/buf.h"
#include "base/error.h"
#include "expr/expr.h"

#include <stddef.h>
#include <stdint.h>

/* The largest number of processes of a definition on one PE. A PE is at most a node, and Linux supports at most 8192
 * CPUs (NR_CPUS of x86-64). On the largest host list (16384 names) that makes 2^27 processes, below the limit of
 * lib/plan, 2^30. */
enum { HRUN_PROCS_PER_PE_MAX = 8192 };

/* NP-T terms may call hrun_app_functions: "alltoall(16*N/P^2)". The value of such a *network term* is the time of one
 * operation among the ranks, times the factor of the call ("N*p2p(8)"); its coefficient is the number of operations. */
struct hrun_term {
    char *text;                 /* as written: "N^3/P" */
    struct hrun_expr *expr;
};

/* 1 for a network term, else 0. */
int hrun_term_is_network(const struct hrun_expr *term);

struct hrun_terms {
    struct hrun_term *v;
    int n;
};

/* The kind of model of lib/model (key `family`). */
enum hrun_app_family {
    HRUN_APP_NPT,               /* formulas in N and P (paper 000) */
    HRUN_APP_WEAK,              /* rows of a mesh on each process (paper 001) */
    HRUN_APP_RING,              /* a ring of virtual processes (paper 004) */
    HRUN_APP_ANALYTIC,          /* a formula in the speeds of the PEs and the network (paper 003, section 3.3) */
    HRUN_APP_FAMILIES           /* their number */
};

/* The value of key `family`; lib/model has a row for each. */
const char *hrun_app_family_name(enum hrun_app_family family);

/* The work of a process of a ring (family ring), over n = N/P, N and P. */
struct hrun_app_ring {
    struct hrun_expr *local;    /* work on its own data, in any unit */
    struct hrun_expr *step;     /* work on its own data and the visiting data, in the same unit */
    struct hrun_expr *bytes;    /* bytes that it sends in a step */
};

/* The mesh of family weak: N columns (the length of its messages). Rows are distributed in whole units. */
struct hrun_app_weak {
    struct hrun_expr *rows;     /* number of rows of the mesh, over N */
    struct hrun_expr *unit;     /* rows of a unit, over N */
    struct hrun_expr *memory;   /* bytes of a process over N, P, W (its rows); NULL: use `memory` of the definition */
};

/* The models of families other than npt. Only members of the definition's family are not NULL. */
struct hrun_app_law {
    struct hrun_app_ring ring;
    struct hrun_app_weak weak;
    struct hrun_formula *formula;
};

/* The program reads the share of each process, in whole units, from its inputs (key `shares`, family npt). The share is
 * the variable W of the definition's terms; a term with W is proportional to it. */
struct hrun_app_shares {
    struct hrun_expr *units;    /* number of all units, over N; NULL: shares are equal */
    struct hrun_expr *min;      /* fewest units of a process, over N */
    struct hrun_expr *memory;   /* bytes of a process over N, P, W; NULL: use `memory` of the definition */
    int cyclic;                 /* key `deal`. 1: units go to the ranks in several laps; 0: each rank has consecutive
                                   units */
};

/* A program for some sub-clusters that replaces the program of the command line. */
struct hrun_app_build {
    char *on;                   /* name of a sub-cluster, or machine type of its hosts (uname -m) */
    char *program;              /* {program} in it stands for the program of the command line */
};

struct hrun_app_programs {
    char **names;               /* base names of the programs that this definition applies to */
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
    int mpi;                    /* 1: runs with the processes of the application, on their PEs; 0: one local process */
};

struct hrun_app_preset {        /* the place of a constant's value in a user's own input file */
    const char *name, *file;
    int line;                   /* from 1 */
    double value;               /* the definition's value */
};

/* The folder of a run that only measures (key `scratch`). */
enum hrun_app_scratch {
    HRUN_APP_SCRATCH_LINK,      /* copies of the working folder's small files, links to large ones */
    HRUN_APP_SCRATCH_COPY,      /* copies of all files */
    HRUN_APP_SCRATCH_NONE       /* the working folder itself */
};

/* The inputs of a run. */
struct hrun_app_run {
    char **args;                /* templates appended to the command line if the user gives no arguments */
    int nargs;
    char *stdin_text;           /* template fed to the program's standard input, or NULL */
    struct hrun_app_file *files;
    int nfiles;
    struct hrun_app_preset *presets;
    int npresets;
    struct hrun_app_step *prepare;
    int nprepare;
    int threads_fill;           /* `threads: fill`: a PE's cores are divided among its processes, one thread per core */
    char *threads;              /* OMP_NUM_THREADS as the user fixed it (hrun_app_fix_threads), or NULL */
    enum hrun_app_scratch scratch;
};

/* The place of the time that the program reports. */
struct hrun_app_time {
    const char *match;          /* POSIX extended regex whose first group is a number x; NULL: wall clock */
    const char *file;           /* pattern (glob(7), no template) of the file to search, relative to the working
                                   directory; NULL: standard output */
    struct hrun_expr *value;    /* seconds over x, N and P; NULL: x */
};

struct hrun_app_sizes {
    int64_t *v;                 /* suggested for calibration, ascending; may be empty */
    int n;
    int in_command;             /* `size: number`: index from 1 of the argument in `args` with {N}, whose number is N;
                                   else 0 */
    int of_command;             /* 1: `size: command`: has no terms; each command becomes an application with the keys
                                   that hrun_app_print_shared prints */
};

struct hrun_app {
    char *name, *title;
    char *file;                 /* path of the definition */
    struct hrun_app_programs programs;
    enum hrun_app_family family;
    struct hrun_expr *rule;     /* over N, P; never NULL ("1" if the definition has none) */
    struct hrun_expr *memory;   /* bytes per process over N, P; NULL: not limited */
    int *procs_per_pe;          /* allowed Mi, ascending, distinct, 1..HRUN_PROCS_PER_PE_MAX */
    int nprocs_per_pe;
    int suits_pes;              /* 1: the definition has `size` but no procs_per_pe, and hrun_app_suit makes the list */
    int most_procs;             /* largest accepted P, set by the caller from a resource manager's grant; 0: any */
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
    int fixed;                  /* `size: fixed`: each run has the same work; N = 1 and is not passed to the program */
    char *variant;              /* name of this variant, whose `name` is "NAME.VARIANT"; or NULL */
    struct hrun_app **variants; /* the algorithms from which hrun chooses; owned. Each is a definition with its own
                                   measurements and models. A definition with variants has no predictions itself */
    int nvariants;
};

/* Append the existing folders of definitions to *dirs in search order, each once: profile_path (option
 * `--profile-path`, colon-separated, may be NULL), $HRUN_PROFILE_PATH, $XDG_CONFIG_HOME/hrun/profiles or
 * ~/.config/hrun/profiles, /etc/hrun/profiles, and `installed` (the share folder of this installation, may be NULL).
 * Errors: HRUN_ENOENT for a folder of profile_path that does not exist. */
int hrun_app_path(const char *profile_path, const char *installed, struct hrun_strvec *dirs,
                  struct hrun_error *err);

/* Load one definition. defines: "NAME=VALUE" strings of -D, whose names must be among the `constants` of the
 * definition.
 * Errors: HRUN_EPARSE with file, line, column; HRUN_EINVAL for a bad define; HRUN_ENOENT, HRUN_EIO. */
int hrun_app_load(const char *file, char *const *defines, struct hrun_app **out,
                  struct hrun_error *err);
/* The same for text in memory; name is used as the file name in messages and in `file`. */
int hrun_app_parse(const char *name, const char *text, size_t len, char *const *defines,
                   struct hrun_app **out, struct hrun_error *err);
void hrun_app_destroy(struct hrun_app *app);

/* 1 if s matches [a-z0-9][a-z0-9._-]* and does not end in .yaml, else 0. Such a name is a valid file name and never an
 * option or a path. */
int hrun_app_is_name(const char *s);
/* The application's name for a program: its base name in lower case, with '-' for invalid characters ("./Mini MD" ->
 * "mini-md"). The caller frees it; "" if nothing is left. */
char *hrun_app_name_of(const char *program);

/* A definition for a program without one: any P is accepted, one process per PE, no terms, no arguments, the wall
 * clock; its name is that of hrun_app_name_of, its file "". Errors: HRUN_EINVAL (the name would be empty). */
int hrun_app_create_bare(const char *program, struct hrun_app **out, struct hrun_error *err);

/* For suits_pes: set procs_per_pe for PEs with cores[n] cores (0: not known): 1 and 2 for one core; 1, c/2 and c for c
 * cores, divided among the processes as with threads_fill; for several kinds of PEs the union of these numbers. */
void hrun_app_suit(struct hrun_app *app, const int *cores, int n);

/* The index of the variant with this name, or -1 with HRUN_ENOENT (the message has the known names and the nearest). */
int hrun_app_find_variant(const struct hrun_app *app, const char *name, struct hrun_error *err);

/* 1 if the definition has network terms or a formula that uses the network, else 0. */
int hrun_app_has_network(const struct hrun_app *app);

/* Find and load by name: NAME.yaml in dirs, or a path if name has a '/' or ends in .yaml. Without a file of that name,
 * "NAME.VARIANT" is a variant of NAME.
 * Errors: HRUN_ENOENT naming the folders searched and the nearest known name. */
int hrun_app_find(const struct hrun_strvec *dirs, const char *name, char *const *defines,
                  struct hrun_app **out, struct hrun_error *err);

/* Find the definition whose `programs` has the base name of program. *out = NULL and 0 if there is none. A definition
 * hides definitions of the same name in later folders. Errors: HRUN_EINVAL if two definitions in one folder have the
 * program; those of hrun_app_load for a faulty definition whose text, without comments, contains the program's name. */
int hrun_app_find_program(const struct hrun_strvec *dirs, const char *program, char *const *defines,
                          struct hrun_app **out, struct hrun_error *err);

/* Names of all definitions in dirs, sorted, each once. */
int hrun_app_list(const struct hrun_strvec *dirs, struct hrun_strvec *names, struct hrun_error *err);

/* 1 if the rule accepts (N, P) and each process can have its fewest units, else 0; -1 with HRUN_ENONFINITE ("rule of
 * hpl: '...' divides by zero at N=..., P=...") or an error of hrun_app_units. */
int hrun_app_rule(const struct hrun_app *app, int64_t N, int64_t P, struct hrun_error *err);

/* Bytes per process; *bytes = 0 if the definition has no memory expression. Errors: HRUN_ENONFINITE,
 * HRUN_EINVAL for a negative value. */
int hrun_app_memory(const struct hrun_app *app, int64_t N, int64_t P, double *bytes, struct hrun_error *err);

/* The work of a process in a ring of P processes. */
struct hrun_ring_work {
    double n;                   /* N/P */
    double local, step;         /* units of work */
    double bytes;
};

/* For family ring. Errors: HRUN_ENONFINITE, HRUN_EINVAL for a negative value; *out is unchanged then. */
int hrun_app_ring_work(const struct hrun_app *app, int64_t N, int64_t P, struct hrun_ring_work *out,
                       struct hrun_error *err);

/* For family weak. *units: number of units of the mesh of size N, rounded up; *unit: rows of a unit.
 * Errors: HRUN_ENONFINITE, HRUN_EINVAL (not a whole number above 0). */
int hrun_app_mesh(const struct hrun_app *app, int64_t N, int64_t *units, int64_t *unit, struct hrun_error *err);

/* For a definition with `shares`. *units: number of all units; *least: fewest units of a process.
 * Errors: HRUN_ENONFINITE, HRUN_EINVAL (not a whole number above 0). */
int hrun_app_units(const struct hrun_app *app, int64_t N, int64_t *units, int64_t *least, struct hrun_error *err);

/* The largest share of a process, over 1/P, if units are dealt out as equally as possible: 1 if P divides the number of
 * units. hrun_app_uneven: for the units of size N; 1 without `shares`. */
double hrun_units_uneven(int64_t units, int64_t P);
double hrun_app_uneven(const struct hrun_app *app, int64_t N, int64_t P);

/* 1 if this NP-T term is proportional to the share W of a process, else 0. */
int hrun_app_term_is_shared(const struct hrun_app *app, const struct hrun_expr *term);

/* Bytes of a process with the share W (family weak: with W rows). Equals hrun_app_memory, which assumes equal shares,
 * if memory does not depend on W. */
int hrun_app_share_memory(const struct hrun_app *app, int64_t N, int64_t P, double W, double *bytes,
                          struct hrun_error *err);

/* The largest number of units, up to `units`, with which one of P processes fits into room_bytes; `units` if room_bytes
 * <= 0. Memory must not decrease with units. -1 after an error as above. */
int64_t hrun_app_units_fitting(const struct hrun_app *app, int64_t N, int64_t P, int64_t units, double room_bytes,
                               struct hrun_error *err);

/* Fix OMP_NUM_THREADS of an application with threads_fill. Measurements with different numbers of threads are kept
 * apart (see hrun_app_consts_text). */
void hrun_app_fix_threads(struct hrun_app *app, const char *value);

#endif
