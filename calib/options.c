/* options.c - the option table of hrun-calibrate: parsing, --help, completion and the man page test go by it */
#include "lists.h"

#include "base/units.h"

#define AT(member) offsetof(struct calib_settings, member)

const struct hrun_opt_mode calib_modes[] = {
    [CALIB_SHOW_NETWORK] = { "show", "network", "`show --network`", 0 },
    [CALIB_SHOW_SPEEDS] = { "show", "speeds", "`show --speeds`", 0 },
    [CALIB_SHOW] = { "show", NULL, "`show`", 1 },
    [CALIB_FIT] = { "fit", NULL, "`fit`", 1 },
    [CALIB_REPORT] = { "report", NULL, "`report`", 1 },
    [CALIB_EXPORT] = { "export", NULL, "`export`", 1 },
    [CALIB_IMPORT] = { "import", NULL, "`import`", 1 },
    [CALIB_DOCTOR_FROM] = { "doctor", "from", "`doctor --from`", 0 },
    [CALIB_DOCTOR] = { "doctor", NULL, "`doctor`", 1 },
    [CALIB_NETWORK_FROM] = { "network", "from", "`network --from`", 0 },
    [CALIB_NETWORK] = { "network", NULL, "`network`", 0 },
    [CALIB_SPEEDS] = { "speeds", NULL, "`speeds`", 0 },
    [CALIB_NEW] = { NULL, "new", "`--new`", 1 },
    [CALIB_MEASURE] = { NULL, NULL, "measuring a program", 1 },
};

/* Modes of the rows below. */
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
    MEASURE = 1 << CALIB_MEASURE,
    RUNS = NEW | MEASURE,                       /* runs of an application are made */
    STARTS = RUNS | DOCTOR | NETWORK | SPEEDS,  /* anything is */
    HOSTS = STARTS | SHOW_NETWORK | FIT | REPORT,
    SHOWN = SHOW_NETWORK | SHOW_SPEEDS | SHOW | DOCTOR_FROM | DOCTOR | NETWORK_FROM | NETWORK | SPEEDS,
};

const char calib_usage[] =
    "Usage: hrun-calibrate [OPTION]... PROGRAM [ARGUMENT]...\n"
    "       hrun-calibrate [OPTION]... show [APP]...\n"
    "       hrun-calibrate [OPTION]... fit [APP]...\n"
    "       hrun-calibrate [OPTION]... report [APP] -o FILE\n"
    "       hrun-calibrate [OPTION]... export [APP]...\n"
    "       hrun-calibrate [OPTION]... import FILE...\n"
    "       hrun-calibrate [OPTION]... doctor [PROGRAM]\n"
    "       hrun-calibrate [OPTION]... network\n"
    "       hrun-calibrate [OPTION]... speeds\n"
    "Measure an application and fit the models by which hrun chooses.\n"
    "\n"
    "  hrun-calibrate -app hpl ./xhpl      measure what is not measured yet, then fit\n"
    "  hrun-calibrate --new -app NAME --sizes 1000,2000,4000 -- ./mycode {N}\n"
    "                                      a program without a definition\n"
    "  hrun-calibrate show hpl             show the profiles\n"
    "  hrun-calibrate fit hpl              fit anew from the stored measurements\n"
    "  hrun-calibrate report hpl -o r.html show times, fits and choices as plots\n"
    "  hrun-calibrate export -o t.csv hpl  measurements for other programs\n"
    "  hrun-calibrate doctor               say what makes this cluster unpredictable\n"
    "  hrun-calibrate network              measure what messages between hosts take\n"
    "  hrun-calibrate speeds               measure how quick each kind of core is\n";

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
      "What to measure", lists_add, AT(sizes), .modes = RUNS, .min = 1, .max = HRUN_COUNT_MAX },
    { "size", 'N', HRUN_OPT_COUNT, "SIZE", NULL, "the size that matters: sizes up to it are measured; report: show its "
      "configurations",
      "What to measure", NULL, AT(N), .modes = REPORT | RUNS, .min = 1, .max = HRUN_COUNT_MAX,
      .against = NAMES("sizes") },
    { "pes", 0, HRUN_OPT_WORD, "LIST", NULL, "numbers of PEs (default: all up to 4, then 6, 8, 12, 16, ...)",
      "What to measure", lists_add, AT(pes), .modes = RUNS, .min = 1, .max = 1000000 },
    { "procs", 0, HRUN_OPT_WORD, "LIST", NULL, "processes per PE (default: the definition's procs_per_pe)",
      "What to measure", lists_add, AT(procs), .modes = SPEEDS | RUNS, .min = 1, .max = HRUN_PROCS_PER_PE_MAX },
    { "np", 'n', HRUN_OPT_COUNT, "P", NULL, "family weak: processes of the target run (default: all PEs')",
      "What to measure", NULL, AT(P), .modes = MEASURE, .min = 1, .max = HRUN_COUNT_MAX },
    { "use", 0, HRUN_OPT_WORD, "NAME[:PES],...", NULL, "only these sub-clusters (and PEs of them)",
      "What to measure", hrun_opt_string, AT(use), .modes = DOCTOR | SPEEDS | RUNS },
    { "budget", 0, HRUN_OPT_TIME, "TIME", NULL,
      "time that runs may take (90, 10m, 1h30m; default: found by the first runs)",
      "What to measure", NULL, AT(budget_s), .modes = RUNS },
    { "runs", 0, HRUN_OPT_COUNT, "K", NULL, "make at most K runs",
      "What to measure", NULL, AT(runs), .modes = RUNS, .min = 1, .max = 1000000 },
    { "target-error", 0, HRUN_OPT_PERCENT, "PERCENT", NULL, "stop when the best time is known within PERCENT",
      "What to measure", NULL, AT(target), .modes = RUNS },
    { "seed", 0, HRUN_OPT_COUNT, "S", NULL, "seed of the random order of runs (default 1)",
      "What to measure", NULL, AT(seed), .modes = RUNS, .max = HRUN_COUNT_MAX,
      .against = NAMES("full-grid") },
    { "full-grid", 0, HRUN_OPT_NONE, NULL, NULL, "measure every size, PEs and processes per PE",
      "What to measure", hrun_opt_flag, AT(full_grid), .modes = RUNS,
      .against = NAMES("budget", "runs", "target-error") },
    { "repetitions", 'r', HRUN_OPT_COUNT, "K", NULL, "runs of each point of the full grid (default 3)",
      "What to measure", NULL, AT(repetitions), .modes = STARTS, .min = 1, .max = 100000 },
    { "retries", 0, HRUN_OPT_COUNT, "K", NULL, "how often a failed run is tried again (default 1)",
      "What to measure", NULL, AT(retries), .modes = RUNS, .max = 1000 },
    { "again", 0, HRUN_OPT_NONE, NULL, NULL, "measure everything again; earlier measurements no longer count",
      "What to measure", hrun_opt_flag, AT(again), .modes = NETWORK | RUNS },
    { "redo", 0, HRUN_OPT_NONE, NULL, NULL,
      "measure these points, or the network, again; others still count",
      "What to measure", hrun_opt_flag, AT(redo), .modes = NETWORK | RUNS },
    { "dry-run", 0, HRUN_OPT_NONE, NULL, NULL, "show the runs that would be made",
      "What to measure", hrun_opt_flag, AT(dry_run), .modes = NETWORK | RUNS },
    { "trace", 0, HRUN_OPT_NONE, NULL, NULL, "watch the MPI calls of the runs",
      "What to measure", hrun_opt_flag, AT(trace), .modes = RUNS },
    { "no-fit", 0, HRUN_OPT_NONE, NULL, NULL, "measure, but fit no models",
      "What to measure", hrun_opt_flag, AT(no_fit), .modes = RUNS,
      .against = NAMES("fit", "no-robust", "exclude-glitches") },

    { "new", 0, HRUN_OPT_NONE, NULL, NULL, "write the definition of a program that has none, then fit",
      "A new application", hrun_opt_flag, AT(make_new), .modes = NEW },
    { "rule", 0, HRUN_OPT_WORD, "EXPR", NULL, "which N and P it accepts: 'N % P == 0' (default: found by runs)",
      "A new application", hrun_opt_string, AT(rule), .modes = NEW },
    { "time", 0, HRUN_OPT_WORD, "REGEX", NULL,
      "where its output has its time: '^time: ([0-9.]+)' (default: wall clock)",
      "A new application", hrun_opt_string, AT(time), .modes = NEW },

    { "terms", 0, HRUN_OPT_NONE, NULL, NULL, "show: propose the definition's terms from watched runs",
      "What to show", hrun_opt_flag, AT(terms), .modes = SHOW },
    { "plot", 0, HRUN_OPT_NONE, NULL, NULL, "show: draw times over N also when output is no terminal",
      "What to show", hrun_opt_flag, AT(plot), .modes = SHOW, .against = NAMES("json") },
    { "network", 0, HRUN_OPT_NONE, NULL, NULL, "show: the network of these hosts",
      "What to show", hrun_opt_flag, AT(network), .modes = SHOW_NETWORK },
    { "speeds", 0, HRUN_OPT_NONE, NULL, NULL, "show: how quick the PEs are",
      "What to show", hrun_opt_flag, AT(speeds), .modes = SHOW_SPEEDS },
    { "output", 'o', HRUN_OPT_FILE, "FILE", NULL,
      "report: FILE.html, FILE.pdf or FILE.png (one for each plot); export: FILE.csv, FILE.txt or FILE.jsonl",
      "What to show", hrun_opt_string, AT(output), .modes = REPORT | EXPORT },

    { "format", 0, HRUN_OPT_CHOICE, "FORMAT", "csv extrap jsonl",
      "export, import: format of the file (default: by its name, else csv)",
      "Exchange", hrun_opt_string, AT(format), .modes = EXPORT | IMPORT },
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
      "How to fit", hrun_opt_flag, AT(common.no_robust), .modes = FIT | RUNS },
    { "exclude-glitches", 0, HRUN_OPT_NUMBER, "K", NULL,
      "leave out sizes with at most K of the performance of the next smaller one",
      "How to fit", NULL, AT(common.glitches), .modes = FIT | RUNS },

    OPTIONS_HOSTS(HOSTS),
    OPTION_CLUSTER(HOSTS),
    OPTION_LEDGER(STARTS),
    OPTION_ENGINE(HOSTS),
    OPTION_EXPORT(STARTS | REPORT),
    OPTION_MCA(HOSTS),
    OPTION_SMPI(HOSTS),
    OPTIONS_WDIR(STARTS),
    OPTION_TIMEOUT(STARTS),
    OPTION_JSON(SHOWN),
    OPTIONS_TELL,
    { 0 },
};
