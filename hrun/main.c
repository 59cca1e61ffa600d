/* main.c - hrun: start an MPI program in the configuration that its profile says is best */
#include "run.h"

static const struct context_command command = {
    "hrun", hrun_options, hrun_modes, hrun_usage, hrun_usage_after, "plan",
};

static int (*const errands[])(const struct hrun_settings *s, char **words) = {
    [HRUN_SHOW_CLUSTER] = run_show_cluster, [HRUN_LIST_APPS] = run_list_apps, [HRUN_WHO] = run_who,
    [HRUN_EXPORT_TOPOLOGY] = run_export_topology, [HRUN_PLAN] = run_plan, [HRUN_PREDICT] = run_predict,
    [HRUN_DRY_RUN] = run_program, [HRUN_RUN] = run_program,
};

int main(int argc, char **argv)
{
    struct hrun_settings s = { 0 };
    char **words;
    int status, mode;

    context_start();
    mode = context_command_line(&command, &s.common, argc, argv, &words, &status);
    if (mode >= 0)
        status = errands[mode](&s, words);
    common_settings_release(&s.common);
    hrun_strvec_release(&s.configs);
    return context_end(command.name, status);
}
