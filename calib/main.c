/* main.c - hrun-calibrate: measure an application on each sub-cluster and fit its models */
#include "common/calib_options.h"

#define MEASURE "write hrun-calibrate PROGRAM"
#define SHOW "write hrun-calibrate show"
#define REMOVE "to measure anew write hrun-calibrate --again PROGRAM; to forget an application remove its folder " \
               "$HRUN_DATA/profiles/APP (default of HRUN_DATA: ~/.local/share/hrun)"

/* Words that users mistake for subcommands, with advice. Any other word that is no subcommand names a program. */
static const struct context_not_program not_programs[] = {
    { "list", SHOW }, { "ls", SHOW }, { "status", SHOW },
    { "rm", REMOVE }, { "remove", REMOVE }, { "delete", REMOVE }, { "clear", REMOVE }, { "reset", REMOVE },
    { "help", "write hrun-calibrate --help" }, { "test", "write hrun-calibrate --dry-run PROGRAM" },
    { "run", MEASURE }, { "measure", MEASURE }, { "new", "write hrun-calibrate --new" },
    { "vary", "write hrun-calibrate --vary" }, { NULL, NULL },
};

static const struct context_command command = {
    "hrun-calibrate", calib_options, calib_modes, calib_usage, calib_usage_after,
    "show fit report export import: doctor: network: speeds:", NULL,
    not_programs,
};

static int (*const errands[])(const struct calib_settings *s, char **words) = {
    [CALIB_SHOW_NETWORK] = calib_show_network, [CALIB_SHOW_SPEEDS] = calib_show_speeds, [CALIB_SHOW] = calib_show,
    [CALIB_FIT] = calib_fit, [CALIB_REPORT] = calib_report, [CALIB_EXPORT] = calib_export,
    [CALIB_IMPORT] = calib_import, [CALIB_DOCTOR_FROM] = calib_doctor, [CALIB_DOCTOR] = calib_doctor,
    [CALIB_NETWORK_FROM] = calib_network, [CALIB_NETWORK] = calib_network, [CALIB_SPEEDS] = calib_speeds,
    [CALIB_NEW] = calib_new, [CALIB_VARY] = calib_new, [CALIB_MEASURE] = calib_variants,
};

int main(int argc, char **argv)
{
    struct calib_settings s = { CALIB_SETTINGS_DEFAULTS };
    char **words;
    int status, mode;

    context_start();
    mode = context_command_line(&command, &s.common, argc, argv, &words, &status);
    if (mode >= 0)
        context_begin(&command, &s.common, mode, words);
    if (mode >= 0)
        status = errands[mode](&s, words);
    settings_release(&s.common);
    return context_end(command.name, status);
}
