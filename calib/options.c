/* options.c - the option table of hrun-calibrate: parsing, --help, completion and the man page test go by it */
#include "options.h"

#define AT(member) offsetof(struct calib_settings, member)

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
    "Measure an application on each sub-cluster, fit the models hrun chooses by.\n"
    "\n"
    "  hrun-calibrate -app hpl ./xhpl      measure what is not measured yet, then fit\n"
    "  hrun-calibrate --new -app NAME --sizes 1000,2000,4000 -- ./mycode {N}\n"
    "                                      a program without a definition\n"
    "  hrun-calibrate show hpl             show the profiles\n"
    "  hrun-calibrate fit hpl              fit anew from the stored measurements\n"
    "  hrun-calibrate report hpl -o r.html show times, fits and choices as plots\n"
    "  hrun-calibrate export -o t.csv hpl  measurements for other programs\n"
    "  hrun-calibrate doctor               say what makes this cluster unpredictable\n"
    "  hrun-calibrate network              measure what messages between hosts take\n";

const char calib_usage_after[] =
    "\n"
    "Calibration can be stopped at any time; the same command goes on where it was.\n"
    "Exit status: 0, or 125 when something failed (126, 127: the program cannot be\n"
    "executed or found; 130: interrupted; 1: doctor found problems).\n"
    "Manual: hrun-calibrate(1).\n";

const struct hrun_opt calib_options[] = {
    COMMON_OPTIONS_WHAT,

    { "sizes", 0, HRUN_OPT_WORD, "LIST", NULL, "sizes N: 400,800,1600 or 100-500:100 (default: the definition's)",
      "What to measure", hrun_opt_string, AT(sizes) },
    { "size", 'N', HRUN_OPT_WORD, "SIZE", NULL, "this size alone; report: the one whose configurations are shown",
      "What to measure", hrun_opt_string, AT(size) },
    { "pes", 0, HRUN_OPT_WORD, "LIST", NULL, "numbers of PEs (default: all up to 4, then 6, 8, 12, 16, ...)",
      "What to measure", hrun_opt_string, AT(pes) },
    { "procs", 0, HRUN_OPT_WORD, "LIST", NULL, "processes per PE (default: the definition's procs_per_pe)",
      "What to measure", hrun_opt_string, AT(procs) },
    { "np", 'n', HRUN_OPT_WORD, "P", NULL, "family weak: processes of the target run (default: all PEs')",
      "What to measure", hrun_opt_string, AT(procs_wanted) },
    { "use", 0, HRUN_OPT_WORD, "NAME[:PES],...", NULL, "only these sub-clusters (and PEs of them)", "What to measure",
      hrun_opt_string, AT(use) },
    { "budget", 0, HRUN_OPT_WORD, "TIME", NULL, "choose the runs that tell most, for this long (90, 10m, 1h30m)",
      "What to measure", hrun_opt_string, AT(budget) },
    { "runs", 0, HRUN_OPT_WORD, "K", NULL, "choose the runs that tell most, at most K", "What to measure",
      hrun_opt_string, AT(runs) },
    { "target-error", 0, HRUN_OPT_WORD, "PERCENT", NULL, "choose runs until the best time is known so well",
      "What to measure", hrun_opt_string, AT(target) },
    { "seed", 0, HRUN_OPT_WORD, "S", NULL, "of the random order of chosen runs (default 1)", "What to measure",
      hrun_opt_string, AT(seed) },
    { "full-grid", 0, HRUN_OPT_NONE, NULL, NULL, "every size, PEs and processes per PE (the default)",
      "What to measure", hrun_opt_flag, AT(full_grid) },
    { "repetitions", 'r', HRUN_OPT_WORD, "K", NULL, "runs of each point (default 3)", "What to measure",
      hrun_opt_string, AT(repetitions) },
    { "retries", 0, HRUN_OPT_WORD, "K", NULL, "how often a failed run is tried again (default 1)", "What to measure",
      hrun_opt_string, AT(retries) },
    { "parallel", 0, HRUN_OPT_NONE, NULL, NULL, "measure sub-clusters that share no host at the same time",
      "What to measure", hrun_opt_flag, AT(parallel) },
    { "again", 0, HRUN_OPT_NONE, NULL, NULL, "measure all anew: what was measured before no longer counts",
      "What to measure", hrun_opt_flag, AT(again) },
    { "redo", 0, HRUN_OPT_NONE, NULL, NULL,
      "measure these points, or the network, anew; other measurements still count",
      "What to measure", hrun_opt_flag, AT(redo) },
    { "dry-run", 0, HRUN_OPT_NONE, NULL, NULL, "show the runs that would be made", "What to measure", hrun_opt_flag,
      AT(dry_run) },
    { "trace", 0, HRUN_OPT_NONE, NULL, NULL, "watch the MPI calls of all runs (default: of mixed ones)",
      "What to measure", hrun_opt_flag, AT(trace) },
    { "no-trace", 0, HRUN_OPT_NONE, NULL, NULL, "watch no run", "What to measure", hrun_opt_flag, AT(no_trace) },
    { "no-fit", 0, HRUN_OPT_NONE, NULL, NULL, "measure only", "What to measure", hrun_opt_flag, AT(no_fit) },

    { "new", 0, HRUN_OPT_NONE, NULL, NULL, "write the definition of a program that has none, then fit",
      "A new application", hrun_opt_flag, AT(make_new) },
    { "rule", 0, HRUN_OPT_WORD, "EXPR", NULL, "which N and P it accepts: 'N % P == 0' (default: tried)",
      "A new application", hrun_opt_string, AT(rule) },
    { "time", 0, HRUN_OPT_WORD, "REGEX", NULL, "its own time in its output: '^time: ([0-9.]+)' (default: the clock)",
      "A new application", hrun_opt_string, AT(time) },

    { "terms", 0, HRUN_OPT_NONE, NULL, NULL, "show: propose the definition's terms from watched runs",
      "What to show", hrun_opt_flag, AT(terms) },
    { "plot", 0, HRUN_OPT_NONE, NULL, NULL, "show: draw times over N also where no terminal is", "What to show",
      hrun_opt_flag, AT(plot) },
    { "network", 0, HRUN_OPT_NONE, NULL, NULL, "show: the network of these hosts", "What to show", hrun_opt_flag,
      AT(network) },
    { "speeds", 0, HRUN_OPT_NONE, NULL, NULL, "show: how quick the PEs are", "What to show",
      hrun_opt_flag, AT(speeds) },
    { "output", 'o', HRUN_OPT_FILE, "FILE", NULL,
      "report: FILE.html, FILE.pdf or FILE.png (one for each plot); export: FILE.csv, FILE.txt or FILE.jsonl",
      "What to show", hrun_opt_string, AT(output) },

    { "format", 0, HRUN_OPT_CHOICE, "FORMAT", "csv extrap jsonl",
      "export, import: of the file (default: by its name, else csv)", "Exchange", hrun_opt_string, AT(format) },
    { "signature", 0, HRUN_OPT_WORD, "SIGNATURE", NULL, "export: only this profile; import: into this one", "Exchange",
      hrun_opt_string, AT(signature) },
    { "threshold", 0, HRUN_OPT_WORD, "PERCENT", NULL, "doctor: how much equal work may vary (default 5)",
      "What to diagnose", hrun_opt_string, AT(threshold) },
    { "precision", 0, HRUN_OPT_WORD, "PERCENT", NULL, "network: repeat until each mean is known so well (default 2.5)",
      "What to diagnose", hrun_opt_string, AT(precision) },
    { "keep", 0, HRUN_OPT_FILE, "FILE", NULL, "doctor, network: write there what was measured", "What to diagnose",
      hrun_opt_string, AT(keep) },
    { "from", 0, HRUN_OPT_FILE, "FILE", NULL, "doctor, network: judge what --keep has written; measure nothing",
      "What to diagnose", hrun_opt_string, AT(from) },

    { "no-robust", 0, HRUN_OPT_NONE, NULL, NULL, "let all measurements count in full, keep all terms",
      "How to fit", hrun_opt_flag, AT(common.no_robust) },
    { "exclude-glitches", 0, HRUN_OPT_WORD, "K", NULL,
      "leave out sizes with at most K of the performance of the next smaller one", "How to fit", hrun_opt_string,
      AT(common.glitches) },
    { "remeasure", 0, HRUN_OPT_WORD, "K", NULL, "more runs of a point that looks suspicious (default 1)", "How to fit",
      hrun_opt_string, AT(remeasure) },

    COMMON_OPTIONS_WHERE,
    COMMON_OPTIONS_LAUNCH,
    COMMON_OPTIONS_TELL,
    { 0 },
};
