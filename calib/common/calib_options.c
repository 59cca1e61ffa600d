/* calib_options.c - the option table of hrun-calibrate, for parsing, --help, completion and the man page test */
#include "calib_options.h"

#include "base/alloc.h"
#include "base/units.h"

#include <stdlib.h>
#include <string.h>

#define AT(member) offsetof(struct calib_settings, member)

/* Read the limits of --budget, separated by commas: "2%", "50runs" or a time. */
static int budget_limits(void *settings, const struct hrun_opt *opt, const char *value, struct hrun_error *err)
{
    static const char runs[] = "runs";
    struct calib_budget *b = &((struct calib_settings *)settings)->budget;
    autofree char *list = xstrdup(value);
    char *rest = list, *text;
    int rc = 0;

    (void)opt;
    while (!rc && (text = strsep(&rest, ","))) {
        size_t len = strlen(text), end = len > sizeof runs - 1 ? len - (sizeof runs - 1) : 0;

        if (len && text[len - 1] == '%') {
            rc = hrun_parse_percent("--budget", text, &b->target, err);
        } else if (!end || strcmp(text + end, runs)) {
            rc = hrun_parse_duration("--budget", text, &b->limit_s, err);
        } else {
            text[end] = 0;
            rc = hrun_parse_count("--budget", text, 1, 1000000, &b->runs, err);
        }
    }
    return rc;
}

/* Read "NAME" or "NAME=LIST"; LIST becomes the sizes. */
static int vary(void *settings, const struct hrun_opt *opt, const char *value, struct hrun_error *err)
{
    struct calib_settings *s = settings;
    const char *list = strrchr(value, '=');

    if (s->define.vary)
        return hrun_fail(err, HRUN_EINVAL, "--vary is given twice, with '%s' and '%s', and one number of a command is "
                         "its size: give one of them", s->define.vary, value);
    if (!*value || list == value)
        return hrun_fail(err, HRUN_EINVAL, "--vary needs the name of a number in the command: NAME=LIST, not '%s'",
                         value);
    s->define.vary = value;
    return list ? lists_add(settings, opt, list + 1, err) : 0;
}

static const char usage_show[] =
    "Usage: hrun-calibrate show [OPTION]... [APP]...\n"
    "Show the profiles: measurements, models, how well they fit; or the network, or speeds.\n";
static const char usage_fit[] =
    "Usage: hrun-calibrate fit [OPTION]... [APP]...\n"
    "Fit the models anew from the stored measurements.\n";
static const char usage_report[] =
    "Usage: hrun-calibrate report [OPTION]... [APP] -o FILE\n"
    "Write a page, or figures, of times, fits and choices.\n";
static const char usage_export[] =
    "Usage: hrun-calibrate export [OPTION]... [APP]...\n"
    "Write the measurements for other programs.\n";
static const char usage_import[] =
    "Usage: hrun-calibrate import [OPTION]... FILE...\n"
    "Take measurements over from files that `export` or other programs wrote.\n";
static const char usage_doctor[] =
    "Usage: hrun-calibrate doctor [OPTION]... [PROGRAM]\n"
    "Say what makes this cluster unpredictable.\n";
static const char usage_network[] =
    "Usage: hrun-calibrate network [OPTION]...\n"
    "Measure what messages between hosts take.\n";
static const char usage_speeds[] =
    "Usage: hrun-calibrate speeds [OPTION]...\n"
    "Measure how quick each kind of core is.\n";

const struct hrun_opt_mode calib_modes[] = {
    [CALIB_SHOW_NETWORK] = { "show", "network", "`show --network`", 0, usage_show },
    [CALIB_SHOW_SPEEDS] = { "show", "speeds", "`show --speeds`", 0, usage_show },
    [CALIB_SHOW] = { "show", NULL, "`show`", 1, usage_show },
    [CALIB_FIT] = { "fit", NULL, "`fit`", 1, usage_fit },
    [CALIB_REPORT] = { "report", NULL, "`report`", 1, usage_report },
    [CALIB_EXPORT] = { "export", NULL, "`export`", 1, usage_export },
    [CALIB_IMPORT] = { "import", NULL, "`import`", 1, usage_import },
    [CALIB_DOCTOR_FROM] = { "doctor", "from", "`doctor --from`", 0, usage_doctor },
    [CALIB_DOCTOR] = { "doctor", NULL, "`doctor`", 1, usage_doctor },
    [CALIB_NETWORK_FROM] = { "network", "from", "`network --from`", 0, usage_network },
    [CALIB_NETWORK] = { "network", NULL, "`network`", 0, usage_network },
    [CALIB_SPEEDS] = { "speeds", NULL, "`speeds`", 0, usage_speeds },
    [CALIB_NEW] = { NULL, "new", "`--new`", 1, NULL },
    [CALIB_VARY] = { NULL, "vary", "`--vary`", 1, NULL },
    [CALIB_MEASURE] = { NULL, NULL, "measuring a program", 1, NULL },
};

enum {
    SHOW_NETWORK = 1 << CALIB_SHOW_NETWORK,
    SHOW_SPEEDS = 1 << CALIB_SHOW_SPEEDS,
    SHOW = 1 << CALIB_SHOW,
    FIT = 1 << CALIB_FIT,
    REPORT = 1 << CALIB_REPORT,
    EXPORT = 1 << CALIB_EXPORT,
    IMPORT = 1 << CALIB_IMPORT,
    DOCTOR_FROM = 1 << CALIB_DOCTOR_FROM,
    DOCTOR = 1 << CALIB_DOCTOR,
    NETWORK_FROM = 1 << CALIB_NETWORK_FROM,
    NETWORK = 1 << CALIB_NETWORK,
    SPEEDS = 1 << CALIB_SPEEDS,
    NEW = 1 << CALIB_NEW,
    VARY = 1 << CALIB_VARY,
    MEASURE = 1 << CALIB_MEASURE,
    RUNS = NEW | VARY | MEASURE,                /* modes that run an application */
    STARTS = RUNS | DOCTOR | NETWORK | SPEEDS,  /* modes that start processes */
    HOSTS = STARTS | SHOW_NETWORK | FIT | REPORT,
    SHOWN = SHOW_NETWORK | SHOW_SPEEDS | SHOW | DOCTOR_FROM | DOCTOR | NETWORK_FROM | NETWORK | SPEEDS,
};

const char calib_usage[] =
    "Usage: hrun-calibrate [OPTION]... PROGRAM [ARGUMENT]...\n"
    "       hrun-calibrate SUBCOMMAND [OPTION]... [NAME]...\n"
    "Measure an application and fit the models by which hrun chooses.\n"
    "\n"
    "  hrun-calibrate ./mycode input.dat  a command as it stands\n"
    "  hrun-calibrate -app hpl ./xhpl     by a definition, at any size N\n"
    "  hrun-calibrate --new -app NAME --sizes 1000,2000,4000 -- ./mycode {N}\n"
    "                                     a program without a definition\n"
    "  hrun-calibrate --vary x=12,16,20 ./lmp -in in.lj -var x 20\n"
    "                                     a command, of which one number is the size\n"
    "\n"
    "Subcommands, each with a --help of its own:\n"
    "  show [APP]...          show the profiles\n"
    "  fit [APP]...           fit anew from the stored measurements\n"
    "  report [APP] -o FILE   show times, fits and choices as plots\n"
    "  export [APP]...        write measurements for other programs (-o FILE)\n"
    "  import FILE...         take over measurements\n"
    "  doctor [PROGRAM]       say what makes this cluster unpredictable\n"
    "  network                measure what messages between hosts take\n"
    "  speeds                 measure how quick each kind of core is\n";

const char calib_usage_after[] =
    "\n"
    "Calibration can be stopped at any time; the same command goes on where it was.\n"
    "Exit status: 0, or 125 when something failed (126, 127: the program cannot be\n"
    "executed or found; 130: interrupted; 1: doctor found problems).\n"
    "Manual: hrun-calibrate(1).\n";

const struct hrun_opt calib_options[] = {
    OPTION_APP(SHOW | FIT | REPORT | EXPORT | IMPORT | SPEEDS | RUNS),
    OPTION_VARIANT(REPORT | SPEEDS | MEASURE),
    OPTION_DEFINE(SHOW | FIT | REPORT | SPEEDS | MEASURE),
    OPTION_PROFILE_PATH(SHOW | FIT | REPORT | IMPORT | SPEEDS | RUNS),
    OPTION_DATA(SHOW_NETWORK | SHOW_SPEEDS | SHOW | FIT | REPORT | EXPORT | IMPORT | NETWORK | SPEEDS | RUNS),
    OPTION_FIT(FIT | RUNS),
    OPTION_FORCE(RUNS),

    { "sizes", 0, HRUN_OPT_WORD, "LIST", NULL, "sizes N: 400,800,1600 or 100-500:100 (default: the definition's)",
      "What to measure", lists_add, AT(sizes), .modes = NEW | MEASURE, .min = 1, .max = HRUN_COUNT_MAX, .often = 1 },
    { "size", 'N', HRUN_OPT_COUNT, "SIZE", NULL, "the size that matters: sizes up to it are measured; report: its "
      "configurations",
      "What to measure", NULL, AT(N), .modes = REPORT | NEW | MEASURE, .min = 1, .max = HRUN_COUNT_MAX,
      .against = NAMES("sizes"), .often = 1 },
    { "pes", 0, HRUN_OPT_WORD, "LIST", NULL, "numbers of PEs (default: all up to 4, then 6, 8, 12, 16, ...)",
      "What to measure", lists_add, AT(pes), .modes = RUNS, .min = 1, .max = 1000000 },
    { "procs", 0, HRUN_OPT_WORD, "LIST", NULL, "processes per PE (default: the definition's procs_per_pe)",
      "What to measure", lists_add, AT(procs), .modes = SPEEDS | RUNS, .min = 1, .max = HRUN_PROCS_PER_PE_MAX },
    { "np", 'n', HRUN_OPT_COUNT, "P", NULL, "family weak: processes of the target run (default: all PEs')",
      "What to measure", NULL, AT(P), .modes = MEASURE, .min = 1, .max = HRUN_COUNT_MAX },
    { "use", 0, HRUN_OPT_WORD, "NAME[:PES],...", NULL, "only these sub-clusters (and PEs of them)",
      "What to measure", hrun_opt_string, AT(use), .modes = DOCTOR | SPEEDS | RUNS },
    { "budget", 0, HRUN_OPT_WORD, "LIMITS", NULL,
      "end after a time (10m), runs (50runs), or when the best time is known within 2%; or the first of 10m,50runs,2% "
      "(default: found by the first runs)",
      "What to measure", budget_limits, 0, .modes = RUNS, .often = 1 },
    { "seed", 0, HRUN_OPT_COUNT, "S", NULL, "seed of the random order of runs (default 1)",
      "What to measure", NULL, AT(budget.seed), .modes = RUNS, .max = HRUN_COUNT_MAX,
      .against = NAMES("full-grid") },
    { "full-grid", 0, HRUN_OPT_NONE, NULL, NULL, "measure every size, PEs and processes per PE",
      "What to measure", hrun_opt_flag, AT(full_grid), .modes = RUNS,
      .against = NAMES("budget") },
    { "repetitions", 'r', HRUN_OPT_COUNT, "K", NULL,
      "runs of each point of the full grid (default 3); doctor: rounds (20); network: rounds at most (100)",
      "What to measure", NULL, AT(repetitions), .modes = STARTS, .min = 1, .max = 100000 },
    { "retries", 0, HRUN_OPT_COUNT, "K", NULL, "how often a failed run is tried again (default 1)",
      "What to measure", NULL, AT(retries), .modes = RUNS, .max = 1000 },
    { "again", 0, HRUN_OPT_NONE, NULL, NULL, "measure everything again; earlier measurements no longer count",
      "What to measure", hrun_opt_flag, AT(again), .modes = NETWORK | RUNS, .often = 1 },
    { "redo", 0, HRUN_OPT_NONE, NULL, NULL,
      "measure these points, or the network, again; others still count",
      "What to measure", hrun_opt_flag, AT(redo), .modes = NETWORK | RUNS },
    { "dry-run", 0, HRUN_OPT_NONE, NULL, NULL, "show the runs that would be made",
      "What to measure", hrun_opt_flag, AT(dry_run), .modes = NETWORK | RUNS, .often = 1 },
    { "trace", 0, HRUN_OPT_NONE, NULL, NULL, "watch the MPI calls of the runs",
      "What to measure", hrun_opt_flag, AT(trace), .modes = RUNS },

    { "new", 0, HRUN_OPT_NONE, NULL, NULL, "write the definition of a program that has none, then fit",
      "A new application", hrun_opt_flag, AT(define.make), .modes = NEW, .often = 1 },
    { "vary", 0, HRUN_OPT_WORD, "NAME=LIST", NULL,
      "measure a command at these values of a number in it: x=12,16,20 of ./lmp -in in.lj -var x 20 (NAME alone: "
      "values up to the one it has)",
      "A new application", vary, AT(sizes), .modes = VARY, .min = 1, .max = HRUN_COUNT_MAX, .often = 1 },
    { "rule", 0, HRUN_OPT_WORD, "EXPR", NULL, "which N and P it accepts: 'N % P == 0' (default: found by runs)",
      "A new application", hrun_opt_string, AT(define.rule), .modes = NEW | VARY },
    { "time", 0, HRUN_OPT_WORD, "REGEX", NULL,
      "where its output has its time: '^time: ([0-9.]+)' (default: wall clock)",
      "A new application", hrun_opt_string, AT(define.time), .modes = NEW | VARY, .often = 1 },

    { "plot", 0, HRUN_OPT_NONE, NULL, NULL, "show: draw times over N also when output is no terminal",
      "What to show", hrun_opt_flag, AT(show.plot), .modes = SHOW, .against = NAMES("json") },
    { "network", 0, HRUN_OPT_NONE, NULL, NULL, "show: the network of these hosts",
      "What to show", hrun_opt_flag, AT(show.network), .modes = SHOW_NETWORK },
    { "speeds", 0, HRUN_OPT_NONE, NULL, NULL, "show: how quick the PEs are",
      "What to show", hrun_opt_flag, AT(show.speeds), .modes = SHOW_SPEEDS },
    { "output", 'o', HRUN_OPT_FILE, "FILE", NULL,
      "report: FILE.html, FILE.pdf or FILE.png (one for each plot); export: FILE.csv or FILE.txt",
      "What to show", hrun_opt_string, AT(output), .modes = REPORT | EXPORT, .often = 1 },

    { "format", 0, HRUN_OPT_CHOICE, "FORMAT", "csv extrap",
      "export: format of the file (default: by its name, else csv)",
      "Exchange", hrun_opt_string, AT(format), .modes = EXPORT },
    { "signature", 0, HRUN_OPT_WORD, "SIGNATURE", NULL, "export: only this profile; import: into this one",
      "Exchange", hrun_opt_string, AT(signature), .modes = EXPORT | IMPORT },
    { "threshold", 0, HRUN_OPT_PERCENT, "PERCENT", NULL, "doctor: how much equal work may vary (default 5)",
      "What to diagnose", NULL, AT(threshold), .modes = DOCTOR_FROM | DOCTOR },
    { "precision", 0, HRUN_OPT_PERCENT, "PERCENT", NULL,
      "network: repeat until each mean is known within PERCENT (default 2.5)",
      "What to diagnose", NULL, AT(precision), .modes = NETWORK },
    { "keep", 0, HRUN_OPT_FILE, "FILE", NULL, "doctor, network: write what was measured to FILE",
      "What to diagnose", hrun_opt_string, AT(keep), .modes = DOCTOR_FROM | DOCTOR | NETWORK },
    { "from", 0, HRUN_OPT_FILE, "FILE", NULL, "doctor, network: judge FILE, which --keep wrote; measure nothing",
      "What to diagnose", hrun_opt_string, AT(from), .modes = DOCTOR_FROM | NETWORK_FROM },

    { "no-robust", 0, HRUN_OPT_NONE, NULL, NULL, "give all measurements full weight",
      "How to fit", hrun_opt_flag, AT(common.fit.no_robust), .modes = FIT | RUNS },
    { "exclude-glitches", 0, HRUN_OPT_NUMBER, "K", NULL,
      "leave out sizes with at most K of the performance of the next smaller one",
      "How to fit", NULL, AT(common.fit.glitches), .modes = FIT | RUNS },

    OPTIONS_HOSTS(HOSTS),
    OPTION_CLUSTER(HOSTS),
    OPTION_ENGINE(HOSTS),
    OPTION_MPI(HOSTS),
    OPTION_EXPORT(STARTS | REPORT),
    OPTION_MCA(HOSTS),
    OPTION_SMPI(HOSTS),
    OPTIONS_WDIR(STARTS),
    OPTION_TIMEOUT(STARTS),
    OPTION_JSON(SHOWN),
    OPTIONS_TELL,
    { 0 },
};
