/* main.c - hrun-calibrate: measure an application on each sub-cluster and fit its models */
#include "calib.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    struct calib_settings s = { 0 };
    struct hrun_error err = { 0 };
    int rest, status;

    context_start();
    if (hrun_opts_parse(calib_options, &s, argc, argv, &rest, &err))
        status = context_complain("hrun-calibrate", &err);
    else if (context_meta(&s.common, calib_options, "hrun-calibrate", calib_usage, calib_usage_after))
        status = 0;
    else if (argv[rest] && !strcmp(argv[rest], "show"))
        status = calib_show(&s, argv + rest + 1);
    else if (argv[rest] && !strcmp(argv[rest], "fit"))
        status = calib_fit(&s, argv + rest + 1);
    else
        status = calib_measure(&s, argv + rest);
    common_settings_release(&s.common);
    if (fflush(stdout) || ferror(stdout)) {
        perror("hrun-calibrate: standard output");
        return status ? status : STATUS_FAILED;
    }
    return status;
}
