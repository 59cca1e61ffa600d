/* context.h - what is needed before anything can be decided
 *
 * Purpose: from what the user or a scheduler gave, the objects made from it: cluster, program, its MPI, app definition,
 * engine, store, signatures. Here the other rooms of lib/ are wired together, for the commands and for hrun.h.
 * Invariants: a context is filled in the order of the functions below; context_release frees whatever was made, at any
 * point. Nothing is started but what asks: ssh for other hosts, mpirun for its version.
 */
#ifndef HRUN_SERVICE_CONTEXT_H
#define HRUN_SERVICE_CONTEXT_H

#include "app/app.h"
#include "base/buf.h"
#include "base/error.h"
#include "cluster/cluster.h"
#include "launch/launch.h"
#include "model/model.h"
#include "net/net.h"
#include "plan/plan.h"
#include "session/settings.h"
#include "store/store.h"

struct context {
    const struct settings *set;       /* the caller's */
    const struct hrun_strvec *defines;  /* constants in place of set->defines; NULL: none */
    struct hrun_cluster *cluster;
    const struct hrun_engine *engine;
    char *program;                    /* path of the program, as found; NULL: none is known */
    struct hrun_mpi mpi;
    struct hrun_openmpi openmpi;      /* of this host, where the engine uses it */
    char *cache_dir;                  /* where it is kept, with what hosts say of themselves; or NULL */
    struct hrun_strvec app_dirs;
    struct hrun_app *app;             /* NULL: unknown application */
    struct hrun_app *variants_of;     /* the definition that owns app, where app is one of its variants; else NULL */
    struct hrun_store *store;         /* NULL also where set->no_data says so */
    struct hrun_strvec signatures;    /* one per sub-cluster */
    double timeout_s;                 /* of a run of the commands; 0: none */
    struct hrun_net *net;             /* of the cluster, where something asked for it (service/network.h); or NULL */
    struct hrun_netview *view;        /* the cluster on it, where the definition asks for it; NULL without one */
    struct hrun_net *measured_net;    /* where view is of a network that is supposed, the one that runs were made on */
    struct hrun_netview *measured;    /* and the cluster on that; else NULL */
    const char *const *busy;          /* the caller's: PEs that are not to be used (hrun_layout_order); NULL: none */
};

/* App definition by name, else by the program's name; c->app stays NULL when there is neither. Of one with variants
 * c->app is that which set->variant names, else the first, and c->variants_of the definition (variants.h). */
int context_find_app(struct context *c, const char *argv0, struct hrun_error *err);
/* The same, and what the user's own input files say of its constants, unless -D does (hrun-app(5), `line`). */
int context_app(struct context *c, const char *argv0, struct hrun_error *err);
/* After it: where there is no definition, refuse an option that has no effect then. argv0: for the message, or NULL.
 * Errors: HRUN_ENOENT. */
int context_check_app(const struct context *c, const char *argv0, struct hrun_error *err);
/* The cluster; after context_find_app, whose definition may want other PEs (`threads: fill`: whole nodes, unless the
 * level or a cluster file says otherwise). */
int context_discover(struct context *c, struct hrun_error *err);
/* Program and its MPI, in place of any found before; argv0 as the user wrote it. Errors: HRUN_ENOPROG, HRUN_ENOEXEC,
 * HRUN_EIO. */
int context_find_program(struct context *c, const char *argv0, struct hrun_error *err);
/* Is a program of that MPI one for such hosts? 0: it is not built with smpicc, and they are simulated. */
int context_can_run(const struct context *c, const struct hrun_mpi *mpi);
/* Is Open MPI installed here? */
int context_has_openmpi(void);
/* 1 unless the topology of this host is only a description (HWLOC_XMLFILE, HWLOC_SYNTHETIC): then processes cannot be
 * bound, and times say nothing about the machine described. */
int context_is_real(const struct context *c);
/* As before a program was found. */
void context_drop_program(struct context *c);
/* Open the store alone. */
int context_open_store(struct context *c, struct hrun_error *err);
/* Engine, store and signatures; needs the cluster; without a program its MPI is guessed (guess.h). runs = 1: the engine
 * can run here and now; 0: something is only to be predicted for it, and without a name it is the one that would be
 * taken for such hosts. */
int context_choose_engine(struct context *c, int runs, struct hrun_error *err);
void context_drop_app(struct context *c);
void context_release(struct context *c);

/* --use NAME[:PES],...: the PEs of each sub-cluster that may be used, into npes[nsubs] (all when use is NULL).
 * Errors: HRUN_EINVAL (unknown sub-cluster, more PEs than it has, nothing left). */
int context_use(const struct hrun_cluster *cl, const char *use, int *npes, struct hrun_error *err);

#endif
