/* options.c - the option table of hrun: parsing, --help, completion and the man page test go by it */
#include "options.h"

/* Each one is kept; the last one is what a run asks for. */
static int take_config(void *settings, const struct hrun_opt *opt, const char *value, struct hrun_error *err)
{
    struct hrun_settings *s = settings;

    if (hrun_opt_append(settings, opt, value, err))
        return -1;
    s->ask.config = s->configs.v[s->configs.n - 1];
    return 0;
}

#define AT(member) offsetof(struct hrun_settings, member)

const char hrun_usage[] =
    "Usage: hrun [OPTION]... PROGRAM [ARGUMENT]...\n"
    "Start an MPI program in the configuration that its profile says is best.\n"
    "\n"
    "  hrun -app hpl -N 9600 ./xhpl             in place of mpirun\n"
    "  hrun --dry-run -app hpl -N 9600 ./xhpl   the chosen layout and why\n"
    "  hrun-calibrate -app hpl ./xhpl           makes the profile\n";

const char hrun_usage_after[] =
    "\n"
    "Long options work with one dash or two. Exit status: that of the program;\n"
    "124 after a timeout, 125 when hrun itself fails, 126 and 127 when the program\n"
    "cannot be executed or found.\n"
    "Manual: hrun(1); introduction: hrun(7).\n";

const struct hrun_opt hrun_options[] = {
    { "size", 'N', HRUN_OPT_WORD, "SIZE", NULL, "problem size N of the application", "Application",
      hrun_opt_string, AT(size) },
    COMMON_OPTIONS_WHAT,
    { "model", 0, HRUN_OPT_CHOICE, "FAMILY", "npt pt nt", "model family that predicts", "Application",
      hrun_opt_string, AT(ask.family) },
    { "list-apps", 0, HRUN_OPT_NONE, NULL, NULL, "list the app definitions that hrun finds", "Application",
      hrun_opt_flag, AT(list_apps) },

    { "np", 'n', HRUN_OPT_WORD, "P", NULL, "start P processes; the model only chooses where", "Choice",
      hrun_opt_string, AT(ask.procs) },
    { "config", 0, HRUN_OPT_WORD, "(P1,M1,...)", NULL, "use this configuration: PEs and processes per PE",
      "Choice", take_config, AT(configs) },
    { "use", 0, HRUN_OPT_WORD, "NAME[:PES],...", NULL, "use only these sub-clusters (and PEs of them)", "Choice",
      hrun_opt_string, AT(ask.use) },
    { "objective", 0, HRUN_OPT_CHOICE, "WHAT", "time cost energy", "what is minimised", "Choice",
      hrun_opt_string, AT(ask.objective) },
    { "within", 0, HRUN_OPT_WORD, "PERCENT", NULL, "the cheapest that is at most so much slower than the quickest",
      "Choice", hrun_opt_string, AT(ask.within) },
    { "max-time", 0, HRUN_OPT_WORD, "TIME", NULL, "choose nothing that takes longer", "Choice",
      hrun_opt_string, AT(ask.max_time) },
    { "max-cost", 0, HRUN_OPT_WORD, "COST", NULL, "choose nothing that costs more", "Choice",
      hrun_opt_string, AT(ask.max_cost) },
    { "max-energy", 0, HRUN_OPT_WORD, "JOULES", NULL, "choose nothing that takes more energy", "Choice",
      hrun_opt_string, AT(ask.max_energy) },
    { "max-pes", 0, HRUN_OPT_WORD, "PES", NULL, "choose nothing with more PEs", "Choice",
      hrun_opt_string, AT(ask.max_pes) },
    { "max-loss", 0, HRUN_OPT_WORD, "PERCENT", NULL, "of a ring, the fewest processes that lose no more by imbalance",
      "Choice", hrun_opt_string, AT(ask.max_loss) },
    { "finest", 0, HRUN_OPT_NONE, NULL, NULL, "choose the largest size N, too, that the limits allow (-N: at most)",
      "Choice", hrun_opt_flag, AT(finest) },
    { "top", 0, HRUN_OPT_WORD, "K", NULL, "show the K best configurations (default 3)", "Choice",
      hrun_opt_string, AT(ask.top) },
    { "explore", 0, HRUN_OPT_WORD, "PERCENT", NULL, "now and then try what may be as quick as the best", "Choice",
      hrun_opt_string, AT(ask.explore) },
    { "probe", 0, HRUN_OPT_NONE, NULL, NULL, "without a profile: let a small run tell the speeds, then choose by them",
      "Choice", hrun_opt_flag, AT(probe) },
    { "probe-size", 0, HRUN_OPT_WORD, "SIZE", NULL, "the size N of that run", "Choice", hrun_opt_string,
      AT(probe_size) },
    { "placement", 0, HRUN_OPT_CHOICE, "HOW", "pattern plain", "place ranks by the app's pattern, or in plain order",
      "Choice", hrun_opt_string, AT(placement) },
    { "oversubscribe", 0, HRUN_OPT_NONE, NULL, NULL, "let -n start more processes than the PEs take", "Choice",
      hrun_opt_flag, AT(ask.oversubscribe) },

    COMMON_OPTIONS_WHERE,
    { "network", 0, HRUN_OPT_FILE, "FILE", NULL, "predict as on this network, not the measured one (what if)",
      "Machine", hrun_opt_string, COMMON_AT(network_file) },
    { "wait", 0, HRUN_OPT_NONE, NULL, NULL, "wait for PEs that others use, where that is quicker", "Machine",
      hrun_opt_flag, AT(wait) },
    { "wait-at-most", 0, HRUN_OPT_WORD, "TIME", NULL, "wait so long, then take what is free (90, 5m, 1h30m)", "Machine",
      hrun_opt_string, AT(wait_at_most) },
    { "who", 0, HRUN_OPT_NONE, NULL, NULL, "list who uses which PEs, and who waits; start nothing", "Machine",
      hrun_opt_flag, AT(who) },
    { "show-cluster", 0, HRUN_OPT_NONE, NULL, NULL, "show sub-clusters, PEs, hosts, signatures; start nothing",
      "Machine", hrun_opt_flag, AT(show_cluster) },
    { "export-topology", 0, HRUN_OPT_NONE, NULL, NULL, "print this host's topology as hwloc XML",
      "Machine", hrun_opt_flag, COMMON_AT(export_topology) },

    { "dry-run", 0, HRUN_OPT_NONE, NULL, NULL, "show the choice and why; start nothing", "Launch",
      hrun_opt_flag, AT(dry_run) },
    { "predict", 0, HRUN_OPT_NONE, NULL, NULL, "print the predicted seconds of each --config; start nothing", "Launch",
      hrun_opt_flag, AT(predict) },
    COMMON_OPTIONS_LAUNCH,
    { "report-bindings", 0, HRUN_OPT_NONE, NULL, NULL, "tell where each process runs; fail unless as planned",
      "Launch", hrun_opt_flag, AT(report_bindings) },
    { "trace", 0, HRUN_OPT_NONE, NULL, NULL, "watch the MPI calls and tell who waits for whom", "Launch",
      hrun_opt_flag, AT(trace) },
    { "tune-collectives", 0, HRUN_OPT_NONE, NULL, NULL, "do scatter, gather and broadcast as the network wants",
      "Launch", hrun_opt_flag, AT(tune_collectives) },
    { "tag-output", 0, HRUN_OPT_NONE, NULL, NULL, "begin each line of output with its rank", "Launch",
      hrun_opt_flag, AT(tag_output) },
    { "no-record", 0, HRUN_OPT_NONE, NULL, NULL, "do not keep the time of this run", "Launch",
      hrun_opt_flag, AT(ask.unrecorded) },

    COMMON_OPTIONS_TELL,
    { 0 },
};
