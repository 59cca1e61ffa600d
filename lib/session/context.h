/* context.h - what is needed before anything can be decided
 *
 * Purpose: from what the user or a scheduler gave, the objects made from it: cluster, program, its MPI, app definition,
 * engine, store, signatures. Here the other rooms of lib/ are wired together, for the commands and for hrun.h.
 * Invariants: a context is filled in the order of the functions below; context_release frees whatever was made, at any
 * point. Nothing is started but what asks: ssh for other hosts, mpirun for its version.
 */
#ifndef HRUN_SESSION_CONTEXT_H
#define HRUN_SESSION_CONTEXT_H

#include "app/app.h"
#include "app/inputs.h"
#include "base/buf.h"
#include "base/error.h"
#include "cluster/cluster.h"
#include "launch/launch.h"
#include "model/corrections.h"
#include "net/net.h"
#include "plan/plan.h"
#include "store/store.h"

#include <jansson.h>
#include <stdint.h>

/* ---------------------------------------------------------------- settings
 *
 * The options that both commands have, on the command line or in a question
 *
 * Members have the names of the options. NULL, 0 or empty: not given. The caller owns the strings.
 */

/* Where hosts come from, and what one PE is. */
struct machine_settings {
    const char *cluster_file, *host_file, *platform, *level;
    const char *hosts;                /* the last --host */
    struct hrun_strvec host_lists;    /* each --host joined with those before it */
    int refresh, skip_unreachable;
};

/* How processes are started. */
struct job_settings {
    const char *engine, *wdir;
    const char *mpi_family;           /* --mpi: "openmpi" or "mpich", for a program that does not show its MPI */
    struct hrun_strvec env;           /* -x */
    size_t env_first[2];              /* from the first index up to the second: for the first program alone */
    struct hrun_strvec mca;           /* --mca, "KEY=VALUE" */
    struct hrun_strvec smpi;          /* --smpi, "NAME:VALUE" */
    double timeout_s;                 /* limit of a run */
};

/* How hrun-calibrate fits models. */
struct fit_settings {
    const char *method;               /* "nnls" or "ls" */
    double glitches;                  /* k of the glitch rule */
    int no_robust;
};

struct settings {
    const char *app, *variant, *profile_path, *data;
    const char *network;              /* file of a network to predict with in place of the measured one */
    struct hrun_strvec defines;       /* -D */
    const char *needs_app;            /* first option given that has no effect without an app definition */
    int force;
    int no_data;                      /* 1: work without a store, as there is no folder for one */
    struct machine_settings machine;
    struct job_settings job;
    struct fit_settings fit;
    int json, quiet, verbose;
    int help, version, completion;    /* help: HRUN_OPT_LONG for all options, HRUN_OPT_SHORT for the most used */
    void (*say)(const char *text);    /* prints a note for the user, one line without its end; NULL: no notes */
    const char *option_after;         /* first word after the program that is a long option of the command, or NULL */
    char *here;                       /* owned: "./NAME" in place of a program's name that is not in PATH, or NULL */
};

/* Give the user a note, unless --quiet. */
__attribute__((format(printf, 2, 3)))
void settings_say(const struct settings *set, const char *fmt, ...);

/* The value that the user gives to a parameter of mpirun, by --mca, in the environment or in a file of parameters.
 * names: those of Open MPI 4 and 5. Result: NULL if not given, else the caller frees it. */
char *settings_parameter(const struct settings *set, const char *const names[2]);

/* The value that -x gives to a variable ("NAME=VALUE", or "NAME" for the value in this process), or NULL. */
const char *settings_exported(const struct settings *set, const char *name);

/* If the environment sets OMP_NUM_THREADS, add it to the list of -x, so that all hosts get it. */
void settings_export_threads(struct settings *set);

/* The working directory of the processes. */
static inline const char *settings_folder(const struct settings *set)
{
    return set->job.wdir ? set->job.wdir : ".";
}

void settings_release(struct settings *set);

struct problem;
struct number;

/* How quick the kinds of cores of one host are (core_kinds.h). */
struct kinds {
    double *speed;                    /* of one process on a core of each sub-cluster, in rounds of the benchmark a
                                         second; the mean of kinds that are equally quick. NULL: not known */
    double took_s;                    /* of the benchmark, where it was made just now; else 0 */
    int looked;                       /* 1: kinds_load_speeds was called */
    char why_not[256];                /* why the speeds are not known */
};

struct context {
    const struct settings *set;       /* the caller's */
    const struct hrun_strvec *defines;  /* constants in place of set->defines; NULL: none */
    struct hrun_strvec presets, missed_presets;  /* hrun_app_presets of the user's input files, less what -D says */
    struct hrun_cluster *cluster;
    const struct hrun_engine *engine;
    char *program;                    /* path of the program, as found; NULL: none is known */
    struct hrun_strvec others;        /* paths of the further programs of a job that names several */
    struct hrun_mpi mpi;
    struct hrun_openmpi openmpi;      /* of this host, where the engine uses it */
    char *cache_dir;                  /* where it is kept, with what hosts say of themselves; or NULL */
    struct hrun_strvec app_dirs;
    struct hrun_app *app;             /* NULL: unknown application */
    struct hrun_app *variants_of;     /* the definition that owns app, where app is one of its variants; else NULL */
    struct problem *problem;          /* where app was made of the command (problem_find); or NULL */
    struct kinds kinds;
    struct number *number;            /* where the command says the size N in one of its words; or NULL */
    struct hrun_store *store;         /* NULL also where set->no_data says so */
    struct hrun_strvec signatures;    /* one per sub-cluster */
    double timeout_s;                 /* of a run of the commands; 0: none */
    struct hrun_net *net;             /* of the cluster, where something asked for it; or NULL */
    struct hrun_netview *view;        /* the cluster on it, where the definition asks for it; NULL without one */
    struct hrun_net *measured_net;    /* where view is of a network that is supposed, the one that runs were made on */
    struct hrun_netview *measured;    /* and the cluster on that; else NULL */
    const char *const *busy;          /* the caller's: PEs that are not to be used (hrun_layout_order); NULL: none */
};

/* App definition by name, else by the program's name; c->app stays NULL when there is neither. Of one with variants
 * c->app is that which set->variant names, else the first, and c->variants_of the definition (variants.h). */
int context_find_app(struct context *c, const char *argv0, struct hrun_error *err);
/* The definition of that name, else that of an earlier command; -D counts. Errors: those of hrun_app_find. */
int context_named(struct context *c, const char *name, struct hrun_error *err);
/* context_find_app, and what the user's own input files say of its constants, unless -D does (hrun-app(5), `line`):
 * presets_apply, and presets_say for all runs. */
int context_app(struct context *c, const char *argv0, struct hrun_error *err);

/* After context_find_app: find the definition again, with what the user's own input files say. */
int presets_apply(struct context *c, const char *argv0, struct hrun_error *err);
/* Say what is taken over from these files and what is not, for a run with these values, or for several (NULL). */
void presets_say(const struct context *c, const struct hrun_app_values *values);
/* The only number of processes for which hrun would write the user's input file as it is; 0: none, or several. */
int presets_procs(const struct context *c);
/* After it: where there is no definition, refuse an option that has no effect then. argv0: for the message, or NULL.
 * Errors: HRUN_ENOENT. */
int context_check_app(const struct context *c, const char *argv0, struct hrun_error *err);
/* The cluster; after context_find_app, whose definition may want other PEs (`threads: fill`: whole nodes, unless the
 * level or a cluster file says otherwise). */
int context_discover(struct context *c, struct hrun_error *err);
/* Program and its MPI, in place of any found before; argv0 as the user wrote it. Errors: HRUN_ENOPROG, HRUN_ENOEXEC,
 * HRUN_EIO. */
int context_find_program(struct context *c, const char *argv0, struct hrun_error *err);
/* A further program of the same job, which starts in wdir (NULL: where all do): its path, which the caller frees, or
 * NULL. Errors: also HRUN_EMPI, where it is of
 * another MPI; where the first shows none (a script), the job has that of the further one. */
char *context_find_other(struct context *c, const char *argv0, const char *wdir, struct hrun_error *err);
/* Is a program of that MPI one for such hosts? 0: it is not built with smpicc, and they are simulated. */
int context_can_run(const struct context *c, const struct hrun_mpi *mpi);
/* Is Open MPI installed here? */
int context_has_openmpi(void);
/* 1 unless the topology of this host is only a description (HWLOC_XMLFILE, HWLOC_SYNTHETIC): then processes cannot be
 * bound, and times say nothing about the machine described. */
int context_is_real(const struct context *c);
/* "./NAME" where the program is in the working directory (NULL: the present one), and none of its name in PATH; the
 * caller frees it. Else NULL. */
char *context_program_here(const char *wdir, const char *name);
#define PROGRAM_HERE "%s is not in PATH: %s of the working directory is used"
/* As before a program was found. */
void context_drop_program(struct context *c);
/* Open the store alone. */
int context_open_store(struct context *c, struct hrun_error *err);
/* Engine, store and signatures; needs the cluster; without a program its MPI is guessed. runs = 1: the engine
 * can run here and now; 0: something is only to be predicted for it, and without a name it is the one that would be
 * taken for such hosts. */
int context_choose_engine(struct context *c, int runs, struct hrun_error *err);
void context_drop_app(struct context *c);
void context_release(struct context *c);

/* --use NAME[:PES],...: the PEs of each sub-cluster that may be used, into npes[nsubs] (all when use is NULL).
 * Errors: HRUN_EINVAL (unknown sub-cluster, more PEs than it has, nothing left). */
int context_use(const struct hrun_cluster *cl, const char *use, int *npes, struct hrun_error *err);

#endif
