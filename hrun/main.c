/* main.c - hrun: start an MPI program in the configuration that its profile says is best */
#include "run.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    struct hrun_settings s = { 0 };
    struct hrun_error err = { 0 };
    int rest, status;

    context_start();
    if (hrun_opts_parse(hrun_options, &s, argc, argv, &rest, &err))
        status = context_complain("hrun", &err);
    else if (context_meta(&s.common, hrun_options, "hrun", hrun_usage, hrun_usage_after, NULL))
        status = 0;
    else if (s.show_cluster)
        status = run_show_cluster(&s, argv + rest);
    else if (s.list_apps)
        status = run_list_apps(&s);
    else
        status = run_program(&s, argv + rest);
    common_settings_release(&s.common);
    if (fflush(stdout) || ferror(stdout)) {
        perror("hrun: standard output");
        return status ? status : STATUS_FAILED;
    }
    return status;
}
