/* settings.h - what a service is told, by name: its settings, and the wishes of a question (internal) */
#ifndef HRUN_SERVICE_SETTINGS_H
#define HRUN_SERVICE_SETTINGS_H

#include "base/buf.h"
#include "service/decide.h"

/* All owned; NULL or empty where nothing is set. */
struct settings {
    char *app, *variant, *profile_path, *data, *cluster_file, *host_file, *hosts, *platform, *level;
    char *engine, *mpi, *program, *model, *fit, *placement, *hrun;
    char *refresh, *skip_unreachable;   /* "yes", "no" */
    struct hrun_strvec defines, mca, smpi;
};

/* As hrun_service_set, which says what there is. */
int settings_set(struct settings *set, const char *name, const char *value, struct hrun_error *err);
void settings_release(struct settings *set);

/* Read words NAME=VALUE with blanks between them into q, which points into words: these are cut in pieces. Errors:
 * HRUN_EINVAL. */
int wishes_read(char *words, struct question *q, struct hrun_error *err);

#endif
