/* main.c - hrun: start an MPI program in the configuration that its profile says is best */
#include "base/alloc.h"
#include "jobs/jobs.h"
#include "run/mpirun_words.h"
#include "run/run.h"

#include <stdlib.h>
#include <string.h>

static const struct context_command command = {
    "hrun", hrun_options, hrun_modes, hrun_usage, hrun_usage_after, "plan", programs_read, NULL,
};

/* Check that data can be kept; if not, say so, and record no run. */
static void check_data(struct hrun_settings *s)
{
    struct hrun_error err = { 0 };
    struct hrun_store *store = hrun_store_open(s->common.data, &err);

    if (!store && err.code == HRUN_ENOENT) {
        if (!s->common.quiet)
            context_complain("hrun: nothing is kept", &err);
        s->common.no_data = 1;
        s->ask.unrecorded = 1;
    }
    hrun_store_close(store);
}

static const unsigned modes_without_data = 1u << HRUN_LIST_APPS | 1u << HRUN_WHO | 1u << HRUN_EXPORT_TOPOLOGY;

static const unsigned modes_of_runs = 1u << HRUN_PREDICT | 1u << HRUN_DRY_RUN | 1u << HRUN_PRINT_SHARES |
                                      1u << HRUN_RUN;

static int (*const errands[])(const struct hrun_settings *s, char **words) = {
    [HRUN_SHOW_CLUSTER] = run_show_cluster, [HRUN_LIST_APPS] = run_list_apps, [HRUN_WHO] = run_who,
    [HRUN_EXPORT_TOPOLOGY] = run_export_topology, [HRUN_PLAN] = run_plan, [HRUN_PREDICT] = run_predict,
    [HRUN_DRY_RUN] = run_program, [HRUN_PRINT_SHARES] = run_program, [HRUN_RUN] = run_program,
};

int main(int argc, char **argv)
{
    struct hrun_settings s = { 0 };
    autorelease(hrun_strvec_release) struct hrun_strvec line = HRUN_STRVEC_INIT;
    autofree char **given = NULL;   /* the words of line; context_command_line overwrites the array */
    struct hrun_error err = { 0 };
    char **words;
    int status, mode = -1;

    (void)argc;
    context_start();
    if (mpirun_words_replace(argv, &s, &line, &err)) {
        status = context_complain(command.name, &err);
    } else {
        given = xcalloc(line.n + 1, sizeof *given);
        memcpy(given, line.v, line.n * sizeof *given);
        mode = context_command_line(&command, &s.common, (int)line.n, given, &words, &status);
    }
    if (mode >= 0 && (modes_of_runs >> mode & 1)) {
        int bad = options_of_user(&s, &err);

        if (!bad)
            mpirun_parameters_obey(&s);
        if (bad || programs_hosts(&s, &err)) {
            status = context_complain(command.name, &err);
            mode = -1;
        }
    }
    for (size_t i = 0; i < s.notes.n && mode >= 0 && !s.common.quiet; i++)
        fprintf(stderr, "%s: %s\n", command.name, s.notes.v[i]);
    if (mode >= 0 && !(modes_without_data >> mode & 1))
        check_data(&s);
    if (mode >= 0)
        context_begin(&command, &s.common, mode, words);
    if (mode >= 0)
        status = errands[mode](&s, words);
    settings_release(&s.common);
    programs_release(&s);
    hrun_strvec_release(&s.configs);
    hrun_strvec_release(&s.mapping_words);
    return context_end(command.name, status);
}
