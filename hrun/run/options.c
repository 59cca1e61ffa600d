/* options.c - the option table of hrun, for parsing, --help, completion and the man page test; see options.h */
#include "options.h"

#include "base/units.h"

#include <string.h>

/* Keep all values; a run uses the last one. */
static int add_config(void *settings, const struct hrun_opt *opt, const char *value, struct hrun_error *err)
{
    struct hrun_settings *s = settings;

    if (hrun_opt_append(settings, opt, value, err))
        return -1;
    s->ask.config = s->configs.v[s->configs.n - 1];
    return 0;
}

/* value: NULL if no size is given. */
static int set_probe(void *settings, const struct hrun_opt *opt, const char *value, struct hrun_error *err)
{
    struct hrun_settings *s = settings;

    (void)opt;
    s->probe = 1;
    s->probe_N = 0;
    return value ? hrun_parse_count("--probe", value, 1, HRUN_COUNT_MAX, &s->probe_N, err) : 0;
}

static int set_print_shares(void *settings, const struct hrun_opt *opt, const char *value, struct hrun_error *err)
{
    struct hrun_settings *s = settings;
    autorelease(hrun_buf_release) struct hrun_buf out = HRUN_BUF_INIT;
    int rc = *value ? hrun_app_add_shares(value, strlen(value), &(struct hrun_app_dealt){ .P = 1 }, &out, err)
             : hrun_fail(err, HRUN_EINVAL, "no form is given: " HRUN_SHARE_FORMS);

    (void)opt;
    s->print_shares = value;
    s->dry_run = "choice";
    return rc ? hrun_fail_prefix(err, "--print-shares") : 0;
}

#define AT(member) offsetof(struct hrun_settings, member)

const struct hrun_opt_mode hrun_modes[] = {
    [HRUN_WHO] = { NULL, "show-cluster=users", "`--show-cluster=users`", 0, NULL },
    [HRUN_EXPORT_TOPOLOGY] = { NULL, "show-cluster=xml", "`--show-cluster=xml`", 0, NULL },
    [HRUN_LIST_APPS] = { NULL, "list-apps", "`--list-apps`", 0, NULL },
    [HRUN_SHOW_CLUSTER] = { NULL, "show-cluster", "`--show-cluster`", 1, NULL },
    [HRUN_PLAN] = { "plan", NULL, "`plan`", 1,
                    "Usage: hrun plan [OPTION]... FILE\n"
                    "Propose in which order, and on which PEs, the jobs of a file run.\n" },
    [HRUN_PREDICT] = { NULL, "dry-run=time", "`--dry-run=time`", 1, NULL },
    [HRUN_DRY_RUN] = { NULL, "dry-run", "`--dry-run`", 1, NULL },
    [HRUN_PRINT_SHARES] = { NULL, "print-shares", "`--print-shares`", 1, NULL },
    [HRUN_RUN] = { NULL, NULL, "a run", 1, NULL },
};

enum {
    CLUSTER = 1 << HRUN_SHOW_CLUSTER,
    APPS = 1 << HRUN_LIST_APPS,
    WHO = 1 << HRUN_WHO,
    EXPORT = 1 << HRUN_EXPORT_TOPOLOGY,
    PLAN = 1 << HRUN_PLAN,
    PREDICT = 1 << HRUN_PREDICT,
    DRY_RUN = 1 << HRUN_DRY_RUN,
    RUN = DRY_RUN | 1 << HRUN_PRINT_SHARES | 1 << HRUN_RUN,
    CHOICE = PREDICT | RUN,
    HOSTS = CLUSTER | PLAN | CHOICE,
};

const char hrun_usage[] =
    "Usage: hrun [OPTION]... PROGRAM [ARGUMENT]...\n"
    "Start an MPI program in the configuration that is known to be best.\n"
    "\n"
    "  hrun ./mycode input.dat                  in place of mpirun\n"
    "  hrun-calibrate ./mycode input.dat        measures this command, once\n"
    "  hrun --dry-run ./mycode input.dat        the choice and why; starts nothing\n"
    "  hrun -app hpl -N 9600 ./xhpl             by a definition, at any size N\n";

const char hrun_usage_after[] =
    "\n"
    "Long options work with one dash or two. Exit status: that of the program;\n"
    "124 after a timeout, 125 when hrun itself fails, 126 and 127 when the program\n"
    "cannot be executed or found.\n"
    "Options of mpirun and mpiexec are understood as well: hrun-mpirun(7).\n"
    "Manual: hrun(1); introduction: hrun(7).\n";

const struct hrun_opt hrun_options[] = {
    { "size", 'N', HRUN_OPT_COUNT, "SIZE", NULL, "problem size N of the application",
      "Application", NULL, AT(N), .modes = CHOICE, .min = 1, .max = HRUN_COUNT_MAX, .often = 1 },
    OPTION_APP(CLUSTER | CHOICE),
    OPTION_VARIANT(CLUSTER | PLAN | CHOICE),
    OPTION_DEFINE(CLUSTER | PLAN | CHOICE),
    OPTION_PROFILE_PATH(APPS | HOSTS),
    OPTION_DATA(HOSTS),
    OPTION_FORCE(CHOICE),
    { "list-apps", 0, HRUN_OPT_NONE, NULL, NULL, "list the app definitions that hrun finds",
      "Application", hrun_opt_flag, AT(list_apps), .modes = APPS, .often = 1 },

    { "np", 'n', HRUN_OPT_COUNT, "P", NULL, "start P processes; the model only chooses where",
      "Choice", NULL, AT(ask.procs), .modes = CHOICE, .min = 1, .max = QUESTION_PROCS_MAX, .often = 1 },
    { "config", 0, HRUN_OPT_WORD, "(P1,M1,...)", NULL, "use this configuration: PEs and processes per PE",
      "Choice", add_config, AT(configs), .modes = CHOICE, .often = 1 },
    { "use", 0, HRUN_OPT_WORD, "NAME[:PES],...", NULL, "use only these sub-clusters (and PEs of them)",
      "Choice", hrun_opt_string, AT(ask.use), .modes = PLAN | CHOICE, .often = 1 },
    { "objective", 0, HRUN_OPT_CHOICE, "WHAT", "time cost energy", "what is minimised",
      "Choice", hrun_opt_string, AT(ask.objective), .modes = CHOICE, .often = 1 },
    { "limit", 0, HRUN_OPT_WORD, "LIMIT=VALUE,...", NULL,
      "choose nothing beyond time=30m,cost=5,energy=2e6,pes=32; within=10%: the cheapest at most 10 % slower than the "
      "best; loss=5%: the fewest processes of a ring that lose at most 5 %",
      "Choice", question_limit, AT(ask), .modes = PLAN | CHOICE, .often = 1 },
    { "finest", 0, HRUN_OPT_NONE, NULL, NULL, "choose the size, too: the largest N within the limits and -N",
      "Choice", hrun_opt_flag, AT(finest), .modes = RUN, .needs_app = 1 },
    { "top", 0, HRUN_OPT_COUNT, "K", NULL, "show the K best configurations (default 3)",
      "Choice", NULL, AT(ask.top), .modes = CHOICE, .min = 1, .max = QUESTION_TOP_MAX,
      .needs = NAMES("dry-run", "verbose") },
    { "explore", 0, HRUN_OPT_PERCENT, "PERCENT", NULL,
      "sometimes try a configuration that loses at most PERCENT, to learn; 0: never",
      "Choice", NULL, AT(ask.explore), .modes = RUN, .min = -1, .of_user = 1, .often = 1 },
    { "probe", 0, HRUN_OPT_WORD, "SIZE", NULL,
      "without a profile: measure speeds by a small run (of this size N), then choose",
      "Choice", set_probe, AT(probe), .modes = RUN, .optional = 1,
      .against = NAMES("config", "np", "explore", "finest"), .often = 1 },
    { "shares", 0, HRUN_OPT_CHOICE, "HOW", "best equal proportional",
      "how much of the work each process gets, where the definition says that it can be told (default best)",
      "Choice", hrun_opt_string, AT(ask.shares), .modes = CHOICE },
    { "oversubscribe", 0, HRUN_OPT_NONE, NULL, NULL, "let -n start more processes than the PEs take",
      "Choice", hrun_opt_flag, AT(ask.oversubscribe), .modes = RUN, .of_user = 1 },

    OPTIONS_HOSTS(HOSTS),
    OPTION_CLUSTER(HOSTS | WHO),
    { "network", 0, HRUN_OPT_FILE, "FILE", NULL, "predict with this network in place of the measured one",
      "Machine", hrun_opt_string, COMMON_AT(network), .modes = PLAN | CHOICE },
    { "wait", 0, HRUN_OPT_TIME, "TIME", NULL,
      "wait (at most TIME: 90, 5m, 1h30m) for the best PEs, also those that others use",
      "Machine", NULL, AT(wait_s), .modes = RUN, .optional = 1, .often = 1, .of_user = 1 },
    { "no-wait", 0, HRUN_OPT_NONE, NULL, NULL, "fail instead of waiting for PEs that others use",
      "Machine", hrun_opt_flag, AT(no_wait), .modes = RUN },
    { "show-cluster", 0, HRUN_OPT_CHOICE, "WHAT", "kinds users xml",
      "show sub-clusters and hosts, who uses which PEs, or this host's topology",
      "Machine", hrun_opt_string, AT(show_cluster), .modes = CLUSTER | WHO | EXPORT, .optional = 1, .often = 1 },

    { "dry-run", 0, HRUN_OPT_CHOICE, "WHAT", "choice time",
      "show the choice and why, or its predicted time alone (or that of each --config)",
      "Launch", hrun_opt_string, AT(dry_run), .modes = DRY_RUN | PREDICT, .optional = 1, .often = 1 },
    { "print-shares", 0, HRUN_OPT_WORD, "FORM", NULL,
      "print the share of each rank as units, owners, fractions, cuts or numbers of this sum; start nothing",
      "Launch", set_print_shares, AT(print_shares), .modes = 1 << HRUN_PRINT_SHARES },
    OPTION_ENGINE(HOSTS),
    OPTION_MPI(CHOICE),
    OPTION_EXPORT(HOSTS),
    OPTION_MCA(HOSTS),
    OPTION_SMPI(HOSTS),
    OPTIONS_WDIR(CLUSTER | CHOICE),
    OPTION_TIMEOUT(RUN),
    { "report-bindings", 0, HRUN_OPT_NONE, NULL, NULL,
      "say where each process is bound; fail where that is not as planned",
      "Launch", hrun_opt_flag, AT(report_bindings), .modes = RUN },
    { "trace", 0, HRUN_OPT_NONE, NULL, NULL, "watch the MPI calls; say which processes wait for which",
      "Launch", hrun_opt_flag, AT(trace), .modes = RUN },
    { "tune-collectives", 0, HRUN_OPT_NONE, NULL, NULL,
      "replace scatter, gather and broadcast by ones tuned to the network",
      "Launch", hrun_opt_flag, AT(tune_collectives), .modes = RUN },
    { "tag-output", 0, HRUN_OPT_NONE, NULL, NULL, "begin each line of output with its rank",
      "Launch", hrun_opt_flag, AT(tag_output), .modes = RUN, .often = 1, .of_user = 1 },
    { "no-record", 0, HRUN_OPT_NONE, NULL, NULL, "do not keep the time of this run",
      "Launch", hrun_opt_flag, AT(ask.unrecorded), .modes = RUN },

    OPTION_JSON(CLUSTER | WHO | PLAN | PREDICT | DRY_RUN),
    OPTIONS_TELL,
    { 0 },
};
