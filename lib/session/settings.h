/* settings.h - the options that hrun and hrun-calibrate share, from the command line or a question (hrun.h)
 *
 * Invariants: members have the names of the options; NULL, 0 or empty: not given. The caller owns the strings.
 */
#ifndef HRUN_SESSION_SETTINGS_H
#define HRUN_SESSION_SETTINGS_H

#include "base/buf.h"
#include "base/error.h"

#include <stddef.h>

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
    size_t env_first[2];              /* entries of env from [0] up to [1] are for the first program alone */
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

#endif
