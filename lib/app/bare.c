/* bare.c - the definition of a program that has none; see app.h for the contract */
#include "app/load.h"

#include "base/alloc.h"
#include "base/file.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

char *hrun_app_name_of(const char *program)
{
    const char *base = hrun_base_name(program);
    struct hrun_buf b = HRUN_BUF_INIT;
    char *name;

    for (; *base; base++) {
        int c = tolower((unsigned char)*base);

        if (strchr("abcdefghijklmnopqrstuvwxyz0123456789", c) || (b.len && strchr("._-", c)))
            hrun_buf_addc(&b, (char)c);
        else if (b.len)
            hrun_buf_addc(&b, '-');
    }
    name = hrun_buf_detach(&b);
    for (size_t n = strlen(name); n >= 5 && !strcmp(name + n - 5, ".yaml"); n -= 5)
        name[n - 5] = 0;
    return name;
}

int hrun_app_create_bare(const char *program, struct hrun_app **out, struct hrun_error *err)
{
    static const char *const vars[] = { "N", "P" };
    struct definition *d = xcalloc(1, sizeof *d);
    struct hrun_app *app = &d->app;

    app->name = hrun_app_name_of(program);
    app->title = xstrdup(program);
    app->file = xstrdup("");
    app->procs_per_pe = xcalloc(1, sizeof *app->procs_per_pe);
    app->procs_per_pe[app->nprocs_per_pe++] = 1;
    app->rule = hrun_expr_compile("1", vars, 2, NULL, 0, NULL);
    if (!*app->name) {
        hrun_app_destroy(app);
        return hrun_fail(err, HRUN_EINVAL, "the program's name, '%s', has no letter or digit for its records: write a "
                         "definition for it (hrun-app(5))", program);
    }
    *out = app;
    return 0;
}
