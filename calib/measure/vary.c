/* vary.c - the command and number of --vary; see new_definition.h */
#include "base/alloc.h"
#include "new_definition.h"
#include "session/number.h"
#include "session/problem.h"

#include <stdlib.h>
#include <string.h>

/* Fail if there is a definition that hrun would use for the command. */
static int check_unknown(const struct context *c, const char *program, struct hrun_error *err)
{
    if (c->app && c->app->sizes.of_command)
        return 0;
    if (c->app && !c->set->app)
        return hrun_fail(err, HRUN_EINVAL, "the definition of %s knows the program %s: it is measured with --sizes and "
                         "{N}, without --vary; or name this command with -app NAME, and give hrun the same -app NAME",
                         c->app->name, program);
    if (c->app && !problem_is_app(c))
        return hrun_fail(err, HRUN_EINVAL, "-app %s is a definition (%s): --sizes measures it, without --vary; another "
                         "name is one for the command", c->app->name, c->app->file);
    return 0;
}

/* Copy processes per PE, rule and time from the stored definition of the command, else from that of its program. */
static void take_over(struct calib_settings *s, struct new_app *a)
{
    const struct hrun_app *base = a->command->problem->base, *said = a->command->app ? a->command->app : base;

    for (int i = 0, own = !s->procs.n; own && said && !said->suits_pes && i < said->nprocs_per_pe; i++)
        number_list_add(&s->procs, said->procs_per_pe[i]);
    said = s->again ? base : said;
    if (said && !s->define.rule)
        s->define.rule = hrun_expr_text(said->rule);
    if (said && !s->define.time) {
        a->time_match = said->time.match;
        a->time_file = said->time.file;
        a->time_value = said->time.value ? hrun_expr_text(said->time.value) : NULL;
    }
}

int vary_begin(struct calib_settings *s, struct new_app *a, struct hrun_error *err)
{
    struct context *c = a->command;
    const char *list = strrchr(s->define.vary, '=');
    char *name = xstrndup(s->define.vary, list ? (size_t)(list - s->define.vary) : strlen(s->define.vary));
    struct hrun_error why = { 0 };
    int rc = 0;

    if (number_is_open(a->words))
        rc = hrun_fail(err, HRUN_EINVAL, "--vary finds the number itself, and {N} stands in the command: write the "
                       "number, or give --new in place of --vary");
    if (!rc && context_app(c, a->words[0], &why) && why.code != HRUN_ENOENT) {
        *err = why;
        rc = -1;
    }
    rc = rc || check_unknown(c, a->words[0], err) || problem_check_input(err) ||
         number_find(a->words, name, &c->number, err) ? -1 : 0;
    free(name);
    if (rc)
        return -1;
    a->words = c->number->words;
    if (c->app && !c->app->sizes.of_command)
        context_drop_app(c);
    if (problem_begin(c, a->words, err))
        return -1;
    a->name = c->problem->name;
    if (c->app && !c->app->sizes.in_command)
        return hrun_fail(err, HRUN_EINVAL, "%s is a command whose work is the same in each run (size: fixed): give "
                         "another name", a->name);
    s->N = list ? 0 : c->number->N;
    take_over(s, a);
    return 0;
}
