/* main.c - hrun-calibrate: measure an application on each sub-cluster and fit its models */
#include "calib.h"

#include <stdio.h>
#include <string.h>

/* The subcommands, whose names stand where a program would. */
static const struct { const char *name; int (*run)(const struct calib_settings *s, char **apps); } subcommands[] = {
    { "show", calib_show }, { "fit", calib_fit }, { "report", calib_report }, { "export", calib_export },
    { "import", calib_import }, { "doctor", calib_doctor }, { "network", calib_network },
    { "speeds", calib_speeds },
};

/* --help and the like: 1 when that was all that was asked for. */
static int meta(const struct calib_settings *s)
{
    return context_meta(&s->common, calib_options, "hrun-calibrate", calib_usage, calib_usage_after,
                        "show fit report export import: doctor: network: speeds:");
}

/* argv[0] is the subcommand; options may stand among the names. */
static int run_subcommand(int which, struct calib_settings *s, int argc, char **argv)
{
    struct hrun_strvec names = HRUN_STRVEC_INIT;
    struct hrun_error err = { 0 };
    char *none[] = { NULL };
    int rest, rc, status;

    while (!(rc = hrun_opts_parse(calib_options, s, argc, argv, &rest, &err)) && rest < argc) {
        rc = hrun_strvec_push(&names, argv[rest]) ? hrun_fail_nomem(&err) : 0;
        argc -= rest;
        argv += rest;
    }
    status = rc ? context_complain("hrun-calibrate", &err) : meta(s) ? 0
           : subcommands[which].run(s, names.n ? names.v : none);
    hrun_strvec_release(&names);
    return status;
}

int main(int argc, char **argv)
{
    struct calib_settings s = { 0 };
    struct hrun_error err = { 0 };
    int rest = argc, status = -1;

    context_start();
    if (hrun_opts_parse(calib_options, &s, argc, argv, &rest, &err))
        status = context_complain("hrun-calibrate", &err);
    else if (meta(&s))
        status = 0;
    for (size_t i = 0; argv[rest] && status < 0 && i < sizeof subcommands / sizeof subcommands[0]; i++)
        if (!strcmp(argv[rest], subcommands[i].name))
            status = run_subcommand((int)i, &s, argc - rest, argv + rest);
    if (status < 0)
        status = s.make_new ? calib_new(&s, argv + rest) : calib_variants(&s, argv + rest);
    common_settings_release(&s.common);
    if (fflush(stdout) || ferror(stdout)) {
        perror("hrun-calibrate: standard output");
        return status ? status : STATUS_FAILED;
    }
    return status;
}
