/* settings.h - what was asked for, of a program by its options or of a service by name
 *
 * Purpose: one structure from the command line to the decision, the job and the record. The first part is what this
 * room reads; the second is what hrun and hrun-calibrate alone read.
 */
#ifndef HRUN_SERVICE_SETTINGS_H
#define HRUN_SERVICE_SETTINGS_H

#include "base/buf.h"
#include "base/error.h"

#include <stdint.h>

struct question;

/* By the names of hrun's options; NULL, 0 or empty where nothing was given. A program's strings point into argv. */
struct settings {
    const char *app, *variant, *profile_path, *data;
    const char *cluster_file, *host_file, *hosts, *platform, *level;
    const char *engine;
    const char *wdir;
    const char *network;              /* file of a network that is supposed, in place of the one that was measured */
    const char *program;              /* of a service: the path of the program */
    const char *mpi;                  /* of programs, as in signatures: "ompi-4.1.4"; that of a program goes before */
    const char *hrun;                 /* path of hrun on the other hosts; NULL: as it is installed here */
    struct hrun_strvec defines;       /* -D */
    struct hrun_strvec env;           /* -x */
    struct hrun_strvec mca;           /* --mca, "KEY=VALUE" */
    struct hrun_strvec smpi;          /* --smpi, "NAME:VALUE" */
    int refresh, skip_unreachable, force;
    int no_data;                      /* work without a store: there is no place for one */

    const char *fit;                  /* "nnls", "ls" or NULL; this and the next two: hrun-calibrate */
    double glitches;                  /* k of the glitch rule */
    int no_robust;
    double timeout_s;
    int json, quiet, verbose;
    int help, version, completion;    /* help: HRUN_OPT_LONG: all options are wanted; HRUN_OPT_SHORT */
    void (*say)(const char *text);    /* a note for the user, as one line without its end; NULL: nobody reads notes */
    const char *needs_app;            /* name of the first option given that has no effect without an app definition */
};

/* Give the user a note, unless --quiet. */
__attribute__((format(printf, 2, 3)))
void settings_say(const struct settings *set, const char *fmt, ...);

/* What -x says of a variable ("NAME=VALUE", or "NAME" for that of this process): its value, or NULL. */
const char *settings_exported(const struct settings *set, const char *name);

/* Of a program: the lists; its strings are not its own. */
void settings_release(struct settings *set);

/* ---------------------------------------------------------------- of a service, by name; strings are copied */

/* As hrun_service_set, which says what there is. */
int settings_set(struct settings *set, const char *name, const char *value, struct hrun_error *err);
/* What settings_set has copied, too. */
void settings_release_all(struct settings *set);

/* Read words NAME=VALUE with blanks between them into q, which points into words: these are cut in pieces. Errors:
 * HRUN_EINVAL. */
int wishes_read(char *words, struct question *q, struct hrun_error *err);

#endif
