/* calib.h - a context of two sub-clusters and of an engine of the test's own, for the tests of campaigns */
#ifndef HRUN_TESTS_CALIB_H
#define HRUN_TESTS_CALIB_H

#include "fixture.h"

#include "../../calib/measure/runs.h"
#include "session/decide.h"

static char *folder;

struct fixture {
    struct settings set;
    struct context c;
    struct campaign g;
    struct runs r;
    int given_up, events;     /* sub-clusters (1 << sub) and runs, of which was told */
    char words[4096];         /* what was told, in words */
    char *argv[3];
    struct hrun_error err;
};

/* For the engine of the test. */
static int checks;   /* of the job that is run next */

static inline int fake_check(const struct hrun_job *job, struct hrun_error *err)
{
    (void)job;
    (void)err;
    checks++;
    return 0;
}

static inline void hear(void *ctx, const struct event *e)
{
    struct fixture *f = ctx;
    size_t used = strlen(f->words);

    f->events += e->kind == EVENT_RUN;
    f->given_up |= e->kind == EVENT_GIVEN_UP ? 1 << e->sub : 0;
    if (e->kind == EVENT_GIVEN_UP || e->kind == EVENT_WORDS)
        snprintf(f->words + used, sizeof f->words - used, "%s%s\n", e->kind == EVENT_GIVEN_UP ? "given up: " : "",
                 e->text);
}

static inline void stop(const struct fixture *f)
{
    bail(f->err.text);
}

/* A context with this cluster file and these terms, the data folder `name`, and sub-clusters of the signatures "near"
 * and `second`; the runs have no campaign yet. */
static inline void set_up_context(struct fixture *f, const char *name, const char *cluster, const char *terms,
                                  const char *second, const struct hrun_engine *engine)
{
    struct hrun_cluster_request req = { .level = -1 };
    char *path = hrun_strf("%s/cluster.yaml", folder), *def = hrun_strf("%s/fake.yaml", folder);
    char *data = hrun_strf("%s/%s", folder, name);
    char *app = hrun_strf("name: fake\nrule: \"P >= 1\"\nprocs_per_pe: [1]\nterms: %s\nargs: [\"{N}\"]\n", terms);

    memset(f, 0, sizeof *f);
    write_text(path, cluster);
    write_text(def, app);
    f->c.set = &f->set;
    f->c.engine = engine;
    req.cluster_file = path;
    if (hrun_cluster_discover(&req, &f->c.cluster, &f->err) || !(f->c.store = hrun_store_open(data, &f->err)) ||
        hrun_app_load(def, NULL, &f->c.app, &f->err))
        stop(f);
    hrun_strvec_push(&f->c.signatures, "near");
    hrun_strvec_push(&f->c.signatures, second);
    f->argv[0] = (char *)"/bin/true";
    f->argv[1] = (char *)"{N}";
    f->r = (struct runs){ .c = &f->c, .words = f->argv, .g = &f->g, .on_event = hear, .ctx = f };
    free(app);
    free(data);
    free(def);
    free(path);
}

static inline void tear_down(struct fixture *f)
{
    campaign_release(&f->g);
    context_release(&f->c);
}

#endif
