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

/* ---------------------------------------------------------------- json
 *
 * JSON documents as they are printed: indented, numbers with the digits that measurements have
 *
 * Purpose: what hrun and hrun-calibrate say to machines looks the same everywhere.
 */

/* Append a document and a newline, and drop it. */
void json_print(json_t *root, struct hrun_buf *out);

/* ---------------------------------------------------------------- settings
 *
 * What was asked for, by options on the command line or in a question
 *
 * Purpose: one structure from the command line to the decision, the job and the record. The first part is what this
 * room reads; the second is what hrun and hrun-calibrate alone read.
 */

/* By the names of hrun's options; NULL, 0 or empty where nothing was given. The strings are the caller's. */
struct settings {
    const char *app, *variant, *profile_path, *data;
    const char *cluster_file, *host_file, *hosts, *platform, *level;
    const char *engine;
    const char *wdir;
    const char *network;              /* file of a network that is supposed, in place of the one that was measured */
    const char *mpi_family;           /* --mpi: "openmpi" or "mpich", of a program that does not show it */
    struct hrun_strvec defines;       /* -D */
    struct hrun_strvec env;           /* -x */
    size_t env_first[2];              /* the indices of env from the first up to the second are of the first of several
                                         programs alone */
    struct hrun_strvec mca;           /* --mca, "KEY=VALUE" */
    struct hrun_strvec smpi;          /* --smpi, "NAME:VALUE" */
    struct hrun_strvec host_lists;    /* --host, each with those before it; hosts is the last one */
    int refresh, skip_unreachable, force;
    int no_data;                      /* work without a store: there is no place for one */

    const char *fit;                  /* "nnls", "ls" or NULL; this and the next two: hrun-calibrate */
    double glitches;                  /* k of the glitch rule */
    int no_robust;
    double timeout_s;
    int json, quiet, verbose;
    int help, version, completion;    /* help: HRUN_OPT_LONG: all options are wanted; HRUN_OPT_SHORT */
    void (*say)(const char *text);    /* a note for the user, as one line without its end; NULL: nobody reads notes */
    const char *option_after;         /* first word after the program that is a long option of the command, or NULL */
    char *here;                       /* owned: "./NAME" in place of a program's name that is not in PATH, or NULL */
    const char *needs_app;            /* name of the first option given that has no effect without an app definition */
};

/* Give the user a note, unless --quiet. */
__attribute__((format(printf, 2, 3)))
void settings_say(const struct settings *set, const char *fmt, ...);

/* What the user says of a parameter of mpirun's that has two names, those of Open MPI 4 and 5: by --mca, in the
 * environment or in a file of parameters. NULL: nothing; else the caller frees it. */
char *settings_parameter(const struct settings *set, const char *const names[2]);

/* What -x says of a variable ("NAME=VALUE", or "NAME" for that of this process): its value, or NULL. */
const char *settings_exported(const struct settings *set, const char *name);

/* Count the number of threads that the environment fixes as if it were given by -x, so that it counts on all hosts. */
void settings_export_threads(struct settings *set);

/* The lists; strings are not its own. */
void settings_release(struct settings *set);

struct problem;
struct number;

/* How quick the kinds of cores of one host are (decide.h, "kinds"). */
struct kinds {
    double *speed;                    /* of one process on a core of each sub-cluster, in rounds of the benchmark a
                                         second; the mean of kinds that are equally quick. NULL: not known */
    double took_s;                    /* of the benchmark, where it was made just now; else 0 */
    int looked;                       /* 1: kinds_find was called */
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
 * c->app is that which set->variant names, else the first, and c->variants_of the definition (decide.h). */
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

/* ---------------------------------------------------------------- problem
 *
 * A command whose program no definition knows, or one with `size: command`, as an application of one size, or of a
 * number in the command
 *
 * Purpose: most people have a command and an input deck that they run again and again. Its words, and the contents of
 * the files that they name, stand for an application whose work is always the same (`size: fixed`), so that profiles,
 * corrections and learning work for it. One that was measured at several values of a number in its words
 * (`hrun-calibrate --vary`, `size: number`) is known at any value.
 * On disk, in the data folder: problems/NAME.yaml, a definition like others; problems/commands, a line "WORDS CONTENTS
 * FOLDER NAME" of hashes for each command that was seen, of which the last one counts. WORDS has {N} in place of the
 * number.
 * Invariants: NAME is made of the program's name and the hashes, unless the user says it (-app); nothing is written but
 * by problem_keep. A program that is named with its folder is one of the files; where the other words name none the
 * folder counts, as what is read is found there. A whole number names no file. Of a file over 16 MiB its size and its
 * first and last 8 MiB count.
 */

/* Where c->app is NULL, or a definition with `size: command`: make it that of the command, words[0] being the program.
 * Where only the files' contents have changed since the same words were run in the same folder it is what was known of
 * them, and the user is told. c->app is NULL afterwards where there is no one command (words is NULL, or no program),
 * without a store, where {N} stands in words that are not known, and where it does not and the user says a size
 * (N; -1: in another way than by one number). c->number is the size that the words of the command have by a definition,
 * given or found (number_of_app). One that cannot tell the size of these words gives way to what is known of the same
 * command from before, unless -app names it. Errors: HRUN_EINVAL (also: -app names a definition with `size: command`
 * for what is none), HRUN_EIO, HRUN_EPARSE. */
int problem_find(struct context *c, char *const *words, int64_t N, struct hrun_error *err);
/* For words with {N}: c->problem, and as c->app what is known of it, or NULL. Errors: as above. */
int problem_begin(struct context *c, char *const *words, struct hrun_error *err);
/* Of c->problem: the name, "" where there is nothing to call it by; the definition with `size: command` that knows its
 * program, or NULL. */
const char *problem_name(const struct context *c);
const struct hrun_app *problem_base(const struct context *c);
/* Write text as the definition of c->problem, in place of any earlier one. Errors: those of the store. */
int problem_define(struct context *c, const char *text, struct hrun_error *err);
/* How many units of work a command has that is told its shares: what they add up to, or as fine as one can wish; 0: it
 * is not told them; -1, of one with a size: as many as its size. They stand in its words, or in variables NAME=VALUE of
 * env, which may be NULL; the words may name constants of app, which may be NULL. Errors: HRUN_EINVAL (units that only
 * the program knows; a form that there is not; without any, what a shell makes of one outside quotes). */
int problem_units(const struct hrun_app *app, char *const *words, const struct hrun_strvec *env, int sized,
                  int64_t *units, struct hrun_error *err);
/* The rule of c->app, as runs have told it, into the definition of c->problem. Errors: those of the store. */
int problem_keep_rule(struct context *c, struct hrun_error *err);
/* Take it out again: of c->app, and on disk by problem_keep; a rule that the user wrote stays. Errors: as above. */
int problem_forget_rule(struct context *c, struct hrun_error *err);
/* Is c->app the definition of an earlier command? */
int problem_is_app(const struct context *c);
/* The definition of that name of an earlier command: 0, 1: there is none, or -1. */
int problem_named(struct context *c, const char *name, struct hrun_error *err);
/* Add to *err, of a name that is none, the name of an earlier command that is like it. */
void problem_hint(const struct context *c, const char *name, struct hrun_error *err);
/* Its command, which the caller frees; NULL: there is none. */
char *problem_title(const struct settings *set, const char *name);
/* Write down what problem_find has made, if it has (needs c->store). */
int problem_keep(struct context *c, struct hrun_error *err);
/* 0: the program is in no definition, and nothing was written of the command. */
int problem_is_known(const struct context *c);
/* Below it is start-up, and somebody trying things out. */
#define PROBLEM_WORTH_S 1.
/* Is there standard input? Nothing is recorded then. */
int problem_reads(const struct context *c);
/* Is a run of that time to be recorded? */
int problem_is_worth(const struct context *c, double time_s);
/* Measured runs read no standard input. Errors: HRUN_EINVAL where there is some. */
int problem_check_input(struct hrun_error *err);
/* The median of the last runs of a configuration, in s, and of how many; 0: none is known. */
double problem_expect(const struct context *c, const struct hrun_config *config, int *runs);
void problem_destroy(struct problem *p);

/* ---------------------------------------------------------------- number
 *
 * A number among the words of a command, as its size N
 *
 * Purpose: "-var x 20" and "nx=48" tell the program its size; hrun knows such a command at any size.
 * Invariants: a number is a whole one above 0, as it is printed (no sign, no leading zeros), alone in a word or behind
 * the last '=' of one. Its name is the word before it, of the first argument that of the program, or what stands before
 * the '='; a number is no name. Numbers far behind in long commands (500 words) are not looked for.
 */

struct number {
    char **words;              /* those of the command, with {N} in place of the number; the array is owned */
    int at;                    /* which word that is; owned */
    char *text;                /* "x 24", "nx=48" */
    int64_t N;
};

/* The value of a text that is a number; 0: it is none. */
int64_t number_value(const char *text);
/* The digits of the number in words[i], NULL: there is none. */
const char *number_at(char *const *words, int i);
/* Does {N} stand in the words? */
int number_is_open(char *const *words);
/* That number; the caller destroys it. */
struct number *number_create(char *const *words, int i);
/* The number of that name; dashes before a name count where they are given. Errors: HRUN_ENOENT (there is none, which
 * lists those there are, or what stands there is none), HRUN_EINVAL (there are several). */
int number_find(char *const *words, const char *name, struct number **out, struct hrun_error *err);
/* c->number, where the words have one: of a definition with `size: number` that of the name that its `args` have; of
 * another one that in place of {N} where all words are its `args`, which are then left to it. N: what the user says
 * besides, or 0. Errors: HRUN_EINVAL (that is another size). */
int number_of_app(struct context *c, char *const *words, int64_t N, struct hrun_error *err);
/* The words of c->number, or words. */
char *const *number_words(const struct context *c, char *const *words);
void number_destroy(struct number *n);

/* ---------------------------------------------------------------- conditions
 *
 * What a user sets that changes times, beside the configuration
 *
 * Purpose: measurements and runs that were started with other parameters of MPI or SimGrid, or with other variables,
 * are of one profile; the user is told where they differ. MPI and engine are part of the profile's signature.
 * Invariants: settings are a text of options as one would type them, sorted; "" where there are none.
 */

/* Append the settings of c: --mca (of the option, or of OMPI_MCA_... in the environment) where the parameter is of
 * transports or algorithms, -x NAME=VALUE (also of -x NAME) where the variable is of threads, libraries or transports,
 * and --smpi. No other variable: it may be a secret. c->engine is known. */
void conditions_settings(const struct context *c, struct hrun_buf *out);

/* *out: the settings of the newest good run of a calibration of c->app on sub-clusters of c, in fresh memory, where no
 * run of one had those of c; NULL where one had, or there is none. Errors: those of the store. */
int conditions_differ(const struct context *c, char **out, struct hrun_error *err);

/* ---------------------------------------------------------------- guess
 *
 * The MPI of an application whose program is not at hand
 *
 * Purpose: profiles are about programs of one MPI (hrun_cluster_signature); who only wants to know what would be
 * predicted should not have to name a program.
 */

/* Which MPI programs of c->app have, into c->mpi: of the definition's programs that are in PATH (on simulated hosts, of
 * those that SimGrid can run), of SimGrid on simulated hosts, of the Open MPI that is installed here, and of what was
 * measured, the first one of which there is a profile here; without a profile simply the first one. Needs cluster,
 * engine and store; app may be NULL. Errors: those of the store. */
int guess_mpi(struct context *c, struct hrun_error *err);

/* ---- nearest: sizes that would do, when the given one has no valid configuration */

/* Extend err, an HRUN_EINFEASIBLE error about size N, by the nearest sizes below and above N for which rule and memory
 * leave a configuration of the problem, made of the options of its oracle; NULL: one process per PE. The search is
 * bounded in time; what it does not find it does not name. */
void nearest_sizes(struct context *c, const struct hrun_plan_problem *problem, int64_t N, struct hrun_error *err);

/* ---------------------------------------------------------------- network
 *
 * The network of the cluster's hosts: under which words it is kept, and which one there is
 *
 * Purpose: hrun-calibrate network stores networks and shows them; hrun and the rest of hrun-calibrate find them.
 * Invariants: the same hosts have one network for all engines that start real processes, as these talk by the same MPI
 * over the same wires; parameters of Open MPI that choose other wires make another network, and so do another platform
 * and parameters of SimGrid, whose hosts may have the names of those of any other. A network is loaded once: it is the
 * context's. One that is supposed (set->network) is what predictions ask; runs were made on the measured one.
 */

/* What a network is kept by (net.h: hrun_net_file, hrun_net_choose). */
struct network_key {
    struct hrun_buf engine, mpi;
    const char **hosts;            /* of the cluster, in its order; the array is owned, the names are the cluster's */
    int nhosts;
};
/* Needs cluster, program and engine. Errors: HRUN_EIO (the platform); *out is then to be released as well. */
int network_key(const struct context *c, struct network_key *out, struct hrun_error *err);
void network_key_release(struct network_key *k);

/* The network for the hosts of the cluster; *out = NULL: none was measured. *file (may be NULL): where it is kept. A
 * damaged one is told in *note (may be NULL) and passed over. Errors: those of network_key and hrun_net_choose. */
int network_find(const struct context *c, struct hrun_net **out, struct hrun_buf *file, struct hrun_buf *note,
                 struct hrun_error *err);

/* The network that is asked into c->net, unless it is there: set->network, else as network_find. Errors: those of
 * network_find and hrun_net_load; HRUN_ENODATA (set->network has not got a host of the cluster). */
int network_load(struct context *c, struct hrun_buf *note, struct hrun_error *err);

/* For a definition with network terms (lib/app): the network on which runs were made into c->net and c->view; NULL
 * where none was measured, and none is given. For other definitions nothing happens. note: as network_find. Errors:
 * those of network_load. */
int network_use(struct context *c, struct hrun_buf *note, struct hrun_error *err);

/* After network_use, and once models are fitted: set->network, if any, becomes c->net and c->view, and what they were
 * c->measured_net and c->measured. Errors: as above; then nothing changes. */
int network_suppose(struct context *c, struct hrun_error *err);

/* Append the command that measures the network of this cluster, as it was given. */
void network_command(const struct context *c, struct hrun_buf *out);

/* ---------------------------------------------------------------- profiles
 *
 * The models of a cluster's sub-clusters, as they are stored or, where that is needed, fitted anew
 *
 * Invariants: once loaded they are not changed; decisions of any size N may borrow them.
 */

struct sub_profile {
    struct hrun_models *models;   /* owned; NULL: no profile that can be used */
    char *why_not;                /* owned; why it cannot, or NULL */
    int needs_network;            /* that is why: its formula asks for the network, of which nothing is known */
    enum hrun_code unreadable;    /* it is there, and cannot be read because of this; else 0 */
    const char *other_engine;     /* no profile for this engine, but for that one; or NULL */
};

struct profiles {
    int nsubs;                    /* 0: nothing is loaded */
    struct sub_profile *subs;
    int have;                     /* so many sub-clusters have models */
    enum hrun_method method;      /* of the models */
    int nsamples;                 /* measurements behind the models */
    double newest_s;              /* age of the newest, -1 unknown */
    double network_s;             /* of the network, -1 unknown */
    char *measured_with;          /* settings of the calibration, where c has others (context.h), or NULL; owned */
    char *network_note;           /* what is to be said of it, or NULL; owned */
};

/* Load the models of all sub-clusters for c->app, and say why one has none that can be used. For a definition with
 * network terms find the network (network_use), and where the models were fitted without it, or with one that is not
 * there any more, fit them anew; c->view is then that of the network that is supposed, if one is (network_suppose).
 * Errors: those of the store, of network_use, network_suppose and lib/model; nothing is kept then. A profile that
 * cannot be read is none of them. */
int profiles_load(struct context *c, struct profiles *out, struct hrun_error *err);
void profiles_release(struct profiles *p);

/* Append the name by which the store knows the speed of a sub-cluster's PEs (HRUN_PERF_APP): that of the kind of PE
 * alone, as neither engine nor MPI change how quick it is. */
void profiles_speed_signature(const struct hrun_subcluster *sub, struct hrun_buf *out);

/* ---- logs: the runs of c->app with the constants of now, on the cluster of now */

struct log_filter {
    struct hrun_buf cluster, consts;
};

void log_filter_make(const struct context *c, struct log_filter *out);
/* Is it such a run, of size N, whose configuration is known? */
int log_filter_takes(const struct log_filter *f, const struct hrun_sample *s, int64_t N);
void log_filter_release(struct log_filter *f);

/* ---- log_corrections: what earlier runs of a configuration tell of its time; see model/model.h */

/* The corrections from the logs of the sub-clusters that have models, at a size N. */
struct corrected {
    int n;
    struct hrun_known *known;             /* the configurations and their factors; those that failed at this N in
                                             calibrations, and never ran there, are excluded */
    struct hrun_correction *details;      /* the same */
    struct hrun_corrections *all;
    struct hrun_strvec failed;            /* the excluded ones, as "(4,1,0,0)" */
    struct hrun_strvec tried;             /* those that only failed when they were explored: the fault may have been the
                                             run's, so that they may be chosen, but not be tried again */
    char *why;                            /* how the last of `failed` did, as the log has it; NULL: there is none */
    double *pace;                         /* of unequal shares: hrun_waits_pace; NULL: nothing was watched */
};

/* models: one for each sub-cluster, or NULL. Without models: none. Of runs with shares (struct hrun_corrections) as
 * predictor, of these models and N, deals them. Errors: those of the store and of hrun_corrections_create. */
int corrected_load(struct context *c, struct hrun_predictor *predictor, int64_t N, struct hrun_models *const *models,
                   struct corrected *out, struct hrun_error *err);
void corrected_release(struct corrected *k);

/* The correction of a configuration, or NULL. */
const struct hrun_correction *corrected_find(const struct corrected *k, const struct hrun_config *config);

/* Is a configuration one of `tried`? */
int corrected_tried(const struct corrected *k, const struct hrun_config *config);

/* ---- size: what is known of an application at one size N: predictor and corrections, for any question about it */

struct at_size {
    int64_t N;
    struct hrun_models **models;  /* of the profiles, NULL: none; the array is owned */
    struct hrun_predictor *predictor;
    struct corrected known;       /* of equal shares, or of what the family deals out */
    struct corrected dealt;       /* of unequal ones, where the definition has `shares`; else empty */
};

/* Needs profiles of which some sub-cluster has models; these and c must outlive it. On failure nothing is kept. Errors:
 * those of the store and of lib/model. */
int at_size_make(struct context *c, const struct profiles *p, int64_t N, struct at_size *out, struct hrun_error *err);
void at_size_release(struct at_size *a);

/* Tell a predictor what the PEs of c's cluster hold. Errors: those of hrun_predictor_limit_memory. */
int size_limit_memory(const struct context *c, struct hrun_predictor *p, struct hrun_error *err);

#endif
