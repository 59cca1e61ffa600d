/* command.h - shared by the main functions of hrun and hrun-calibrate: command line, messages, exit statuses
 *
 * Purpose: parse the options that both commands have into struct settings, which lib/session uses.
 */
#ifndef HRUN_COMMAND_H
#define HRUN_COMMAND_H

#include "base/buf.h"
#include "base/error.h"
#include "base/opts.h"
#include "session/context.h"

/* hrun's own exit statuses, like those of env(1) and timeout(1). */
enum { STATUS_FAILED = 125, STATUS_NOEXEC = 126, STATUS_NOPROG = 127, STATUS_TIMEOUT = 124 };

/* Call this first in main. From then on stdout and stderr show control characters and invalid UTF-8 as text
 * (hrun_buf_add_printable). Closed descriptors 0 to 2 are opened on /dev/null, so that no other file gets their
 * numbers. SIGPIPE and SIGXFSZ get empty handlers, so that write(2) fails instead; programs that hrun starts do not
 * inherit handlers, but would inherit SIG_IGN. */
void context_start(void);

/* Print data on stdout: unchanged, or with the filter of context_start if stdout is a terminal. */
void context_print_data(const char *data, size_t len);

/* --hostfile may be given only once, as with mpirun; several lists of --host are joined. */
int context_set_hostfile(void *settings, const struct hrun_opt *opt, const char *value, struct hrun_error *err);
int context_add_hosts(void *settings, const struct hrun_opt *opt, const char *value, struct hrun_error *err);

/* hrun_opt_append for a variable. srun's lists of variables and NONE are refused. */
int context_export(void *settings, const struct hrun_opt *opt, const char *value, struct hrun_error *err);

#define COMMON_AT(member) offsetof(struct settings, member)

/* Names of options, for `needs` and `against` of a row. */
#define NAMES(...) (const char *const[]){ __VA_ARGS__, NULL }

/* Rows of the option table for both commands. in: the modes in which the option is allowed. */
#define OPTION_APP(in) \
    { "app", 0, HRUN_OPT_NAME, "NAME", "hrun --list-apps", \
      "app definition (default: the one that knows the program's name)", "Application", hrun_opt_string, \
      COMMON_AT(app), .modes = in, .often = 1 }
#define OPTION_VARIANT(in) \
    { "variant", 0, HRUN_OPT_WORD, "NAME", NULL, "use this variant of the definition: one of its algorithms", \
      "Application", hrun_opt_string, COMMON_AT(variant), .modes = in, .needs_app = 1 }
#define OPTION_DEFINE(in) \
    { "define", 'D', HRUN_OPT_WORD, "NAME=VALUE", NULL, "set a constant of the app definition", \
      "Application", hrun_opt_append, COMMON_AT(defines), .modes = in, .needs_app = 1 }
#define OPTION_PROFILE_PATH(in) \
    { "profile-path", 0, HRUN_OPT_DIR, "DIRS", NULL, "folders to search for app definitions first", \
      "Application", hrun_opt_string, COMMON_AT(profile_path), .modes = in }
#define OPTION_DATA(in) \
    { "data", 0, HRUN_OPT_DIR, "DIR", NULL, "where profiles are kept (default: $HRUN_DATA)", \
      "Application", hrun_opt_string, COMMON_AT(data), .modes = in }
#define OPTION_FIT(in) \
    { "fit", 0, HRUN_OPT_CHOICE, "METHOD", "nnls ls", "how models are fitted", \
      "Application", hrun_opt_string, COMMON_AT(fit.method), .modes = in, .needs_app = 1 }
#define OPTION_FORCE(in) \
    { "force", 0, HRUN_OPT_NONE, NULL, NULL, "overwrite files hrun did not write; run what the rule excludes", \
      "Application", hrun_opt_flag, COMMON_AT(force), .modes = in }

/* Hosts, and the parts of them that are used. */
#define OPTIONS_HOSTS(in) \
    { "hostfile", 0, HRUN_OPT_FILE, "FILE", NULL, "hosts, one per line (name slots=N)", \
      "Machine", context_set_hostfile, 0, .modes = in, .often = 1 }, \
    { "machinefile", 0, HRUN_OPT_FILE, "FILE", NULL, NULL, "Machine", context_set_hostfile, 0, .modes = in }, \
    { "host", 'H', HRUN_OPT_WORD, "HOSTS", NULL, "hosts, as a:2,b,p4-[0-3]", \
      "Machine", context_add_hosts, 0, .modes = in, .often = 1 }, \
    { "platform", 0, HRUN_OPT_FILE, "FILE", NULL, "simulated hosts: a platform file of SimGrid (engine smpi)", \
      "Machine", hrun_opt_string, COMMON_AT(machine.platform), .modes = in }, \
    { "level", 0, HRUN_OPT_CHOICE, "LEVEL", "node package numa l3 core", \
      "what one PE is (default: core on one host, else node)", \
      "Machine", hrun_opt_string, COMMON_AT(machine.level), .modes = in }, \
    { "refresh", 0, HRUN_OPT_NONE, NULL, NULL, "discover all hosts again, without what is remembered", \
      "Machine", hrun_opt_flag, COMMON_AT(machine.refresh), .modes = in }, \
    { "skip-unreachable", 0, HRUN_OPT_NONE, NULL, NULL, "leave out hosts that do not answer", \
      "Machine", hrun_opt_flag, COMMON_AT(machine.skip_unreachable), .modes = in }
#define OPTION_CLUSTER(in) \
    { "cluster", 0, HRUN_OPT_FILE, "FILE", NULL, "cluster file (YAML) that names the sub-clusters", \
      "Machine", hrun_opt_string, COMMON_AT(machine.cluster_file), .modes = in, .often = 1 }

#define OPTION_ENGINE(in) \
    { "engine", 0, HRUN_OPT_CHOICE, "NAME", "auto local mpirun srun ssh smpi", "what starts the processes", \
      "Launch", hrun_opt_string, COMMON_AT(job.engine), .modes = in }
#define OPTION_MPI(in) \
    { "mpi", 0, HRUN_OPT_CHOICE, "NAME", "openmpi mpich", \
      "the MPI of a program that does not show it: a script, Python, a container", \
      "Launch", hrun_opt_string, COMMON_AT(job.mpi_family), .modes = in }
#define OPTION_EXPORT(in) \
    { "export", 'x', HRUN_OPT_WORD, "NAME[=VALUE]", NULL, "give an environment variable to the processes", \
      "Launch", context_export, COMMON_AT(job.env), .modes = in, .often = 1 }
#define OPTION_MCA(in) \
    { "mca", 0, HRUN_OPT_PAIR, "KEY VALUE", NULL, "set an MCA parameter of Open MPI", \
      "Launch", hrun_opt_append, COMMON_AT(job.mca), .modes = in }
#define OPTION_SMPI(in) \
    { "smpi", 0, HRUN_OPT_WORD, "NAME:VALUE", NULL, "set a parameter of SimGrid", \
      "Launch", hrun_opt_append, COMMON_AT(job.smpi), .modes = in }
#define OPTIONS_WDIR(in) \
    { "wdir", 0, HRUN_OPT_DIR, "DIR", NULL, "working directory of the processes", \
      "Launch", hrun_opt_string, COMMON_AT(job.wdir), .modes = in }, \
    { "wd", 0, HRUN_OPT_DIR, "DIR", NULL, NULL, "Launch", hrun_opt_string, COMMON_AT(job.wdir), .modes = in }
#define OPTION_TIMEOUT(in) \
    { "timeout", 0, HRUN_OPT_TIME, "TIME", NULL, "end a run after TIME (90, 5m, 1h30m)", \
      "Launch", NULL, COMMON_AT(job.timeout_s), .modes = in, .often = 1, .of_user = 1 }

#define OPTION_JSON(in) \
    { "json", 0, HRUN_OPT_NONE, NULL, NULL, "print for machines", "Output", hrun_opt_flag, COMMON_AT(json), \
      .modes = in, .often = 1 }
/* These are allowed in all modes. */
#define OPTIONS_TELL \
    { "quiet", 'q', HRUN_OPT_NONE, NULL, NULL, "say nothing but errors", \
      "Output", hrun_opt_flag, COMMON_AT(quiet), .modes = ~0U, .of_user = 1 }, \
    { "verbose", 'v', HRUN_OPT_NONE, NULL, NULL, "say more", "Output", hrun_opt_flag, COMMON_AT(verbose), \
      .modes = ~0U, .of_user = 1 }, \
    { "help", 'h', HRUN_OPT_NONE, NULL, NULL, "show all options; -h: those that are needed most", \
      "Output", hrun_opt_flag, COMMON_AT(help), .modes = ~0U, .often = 1 }, \
    { "version", 'V', HRUN_OPT_NONE, NULL, NULL, "show the version", "Output", hrun_opt_flag, COMMON_AT(version), \
      .modes = ~0U }, \
    { "completion", 0, HRUN_OPT_NONE, NULL, NULL, NULL, \
      "Output", hrun_opt_flag, COMMON_AT(completion), .modes = ~0U }

/* Find the cluster from the settings. Call context_app first: with `threads: fill` in the definition a PE is a whole
 * node, unless the settings or a cluster file set the level. */
int context_cluster(struct context *c, const struct settings *s, struct hrun_error *err);

/* Print an error on stderr as "COMMAND: ...". Result: the exit status for it. */
int context_complain(const char *command, const struct hrun_error *err);

/* A word that users mistake for a subcommand, and what to type instead. */
struct context_not_program {
    const char *word, *instead;
};

/* Description of a command, for reading its command line. */
struct context_command {
    const char *name;                 /* "hrun" */
    const struct hrun_opt *options;
    const struct hrun_opt_mode *modes;
    const char *usage, *after;        /* lines of --help above and below the options */
    const char *subcommands;          /* for the completion (hrun_opts_completion) */
    /* Split words into programs at each ':', unless "--" precedes them; NULL: a ':' is refused. */
    int (*read_programs)(struct settings *s, char **words, struct hrun_error *err);
    const struct context_not_program *not_programs;   /* up to a NULL word; NULL: none */
};

/* Read the command line into the settings, of which s is the first member; argv is overwritten. *words gets the program
 * and its arguments, or the names after a subcommand; options may stand between the names.
 * Result: the command's mode; -1 with the exit status in *status if --help or the like was answered (0), or after a
 * message about a wrong command line. */
int context_command_line(const struct context_command *cmd, struct settings *s, int argc, char **argv,
                         char ***words, int *status);

/* Prepare a mode. If words[0] is not in PATH but in the working directory, put its path into words[0], as mpirun does,
 * and print a note. Warn of an option after the program that may have been meant for the command. */
void context_begin(const struct context_command *cmd, struct settings *s, int mode, char **words);

/* Flush standard output at the end of main. If that fails, print a message, except if the reader is gone. Result:
 * status; if status is 0 and the flush fails, STATUS_FAILED, or 141 (as after SIGPIPE) if the reader is gone. */
int context_end(const char *command, int status);

#endif
