/* context.h - what a decision needs: definition, program, cluster, engine, store, signatures
 *
 * Purpose: make these objects from the settings, for the commands and for hrun.h. A context joins the rooms of lib/.
 * Invariants: the context is filled in the order of the functions below; context_release frees all of it at any point.
 * A context starts processes only to ask: ssh (other hosts), mpirun (its version), Flux, SimGrid.
 */
#ifndef HRUN_SESSION_CONTEXT_H
#define HRUN_SESSION_CONTEXT_H

#include "app/app.h"
#include "app/inputs.h"
#include "cluster/cluster.h"
#include "launch/launch.h"
#include "model/corrections.h"
#include "net/net.h"
#include "plan/plan.h"
#include "session/settings.h"
#include "store/store.h"

#include <jansson.h>
#include <stdint.h>

struct problem;
struct number;

/* Speeds of the core kinds of one host (core_kinds.h). */
struct kinds {
    double *speed;                    /* nsubs: rounds of the benchmark per second by one process on a core; kinds that
                                         count as one have their mean. NULL: not known */
    double took_s;                    /* duration of the benchmark if it ran just now, else 0 */
    int looked;                       /* 1: kinds_load_speeds was called */
    char why_not[256];                /* why the speeds are not known */
};

struct context {
    const struct settings *set;       /* the caller's */
    const struct hrun_strvec *defines;  /* constants used in place of set->defines; NULL: none */
    struct hrun_strvec presets, missed_presets;  /* hrun_app_presets of the user's input files, without those of -D */
    struct hrun_cluster *cluster;
    const struct hrun_engine *engine;
    char *program;                    /* path of the program; NULL: not known */
    struct hrun_strvec others;        /* paths of the further programs of the job */
    struct hrun_mpi mpi;
    struct hrun_openmpi openmpi;      /* Open MPI of this host, if the engine uses it */
    char *cache_dir;                  /* folder of the cache for openmpi and for what hosts report; or NULL */
    struct hrun_strvec app_dirs;
    struct hrun_app *app;             /* NULL: unknown application */
    struct hrun_app *variants_of;     /* the definition that owns app if app is one of its variants; else NULL */
    struct problem *problem;          /* if app was made from the command (problem_find); else NULL */
    struct kinds kinds;
    struct number *number;            /* if a word of the command gives the size N; else NULL */
    struct hrun_store *store;         /* NULL if set->no_data */
    struct hrun_strvec signatures;    /* one per sub-cluster */
    double timeout_s;                 /* limit of each run of hrun-calibrate; 0: none */
    struct hrun_net *net;             /* network of the cluster; NULL: not needed so far, or not measured */
    struct hrun_netview *view;        /* net with the cluster's hosts, if the definition needs it; or NULL */
    struct hrun_net *measured_net;    /* with --network: the network that runs were measured on; else NULL */
    struct hrun_netview *measured;    /* measured_net with the cluster's hosts */
    const char *const *busy;          /* the caller's: PEs that must not be used (hrun_layout_order); NULL: none */
};

/* ---------------------------------------------------------------- the application */

/* Find the definition by set->app, else by the program's name. c->app stays NULL if there is none. If the definition
 * has variants, c->app becomes the variant of set->variant, else the first one, and c->variants_of owns it. */
int context_find_app(struct context *c, const char *argv0, struct hrun_error *err);
/* Load the definition with this name, else the stored application of an earlier command (problem.h), with the
 * constants of -D. Errors: those of hrun_app_find. */
int context_load_app(struct context *c, const char *name, struct hrun_error *err);
/* context_find_app, presets_apply and presets_say for all runs. */
int context_app(struct context *c, const char *argv0, struct hrun_error *err);
/* If there is no definition, fail if an option that needs one was given (set->needs_app). argv0: for the message, or
 * NULL. Errors: HRUN_ENOENT. */
int context_check_app(const struct context *c, const char *argv0, struct hrun_error *err);
void context_drop_app(struct context *c);

/* After context_find_app: load the definition again, with the constants that the user's own input files set
 * (hrun-app(5), `line`). Constants of -D override them. */
int presets_apply(struct context *c, const char *argv0, struct hrun_error *err);
/* Tell the user the constants from the input files. values: those of the run; NULL: there are several runs. */
void presets_say(const struct context *c, const struct hrun_app_values *values);
/* The only number of processes for which hrun would write the user's input file unchanged; 0: none, or several. */
int presets_procs(const struct context *c);

/* ---------------------------------------------------------------- the program */

/* Find the program and its MPI, in place of an earlier one. Errors: HRUN_ENOPROG, HRUN_ENOEXEC, HRUN_EIO. */
int context_find_program(struct context *c, const char *argv0, struct hrun_error *err);
/* Find a further program of the job; wdir: where the program starts (NULL: in the job's folder). If the first program
 * shows no MPI (a script), the job gets the MPI of the further one. Result: the path, which the caller frees; NULL with
 * *err: as context_find_program, or HRUN_EMPI (another MPI). */
char *context_find_other(struct context *c, const char *argv0, const char *wdir, struct hrun_error *err);
/* 0 if the hosts are simulated and a program of this MPI is not built with smpicc; else 1. */
int context_can_run(const struct context *c, const struct hrun_mpi *mpi);
/* "./NAME", which the caller frees, if the program is in the working directory (wdir; NULL: the present one) and not in
 * PATH; else NULL. */
char *context_program_here(const char *wdir, const char *name);
#define PROGRAM_HERE "%s is not in PATH: %s of the working directory is used"
/* Forget the program that was found. */
void context_drop_program(struct context *c);

/* ---------------------------------------------------------------- cluster, engine, store */

/* Discover the cluster. A definition changes the PEs (`threads: fill`: whole nodes) unless --level or a cluster file
 * sets the PEs, so call context_find_app first. */
int context_discover(struct context *c, struct hrun_error *err);
/* 0 if the topology of this host is only described (HWLOC_XMLFILE, HWLOC_SYNTHETIC), else 1. With 0, processes cannot
 * be bound, and measured times are not those of the described machine. */
int context_is_real(const struct context *c);
/* 1 if Open MPI is installed here, else 0. */
int context_has_openmpi(void);
/* Choose the engine, open the store and make the signatures; needs the cluster. Guesses the MPI if c->program is NULL.
 * runs: 1: the engine must be able to run here and now; 0: only a prediction is wanted. */
int context_choose_engine(struct context *c, int runs, struct hrun_error *err);
/* Open the store alone. */
int context_open_store(struct context *c, struct hrun_error *err);
/* Read --use NAME[:PES],... into npes[nsubs]: the usable PEs of each sub-cluster (NULL: all).
 * Errors: HRUN_EINVAL (unknown sub-cluster, more PEs than it has, nothing left). */
int context_use(const struct hrun_cluster *cl, const char *use, int *npes, struct hrun_error *err);

void context_release(struct context *c);

#endif
