/* service.c - the estimate as a service; see hrun.h for the contracts */
#include "hrun.h"

#include "base/units.h"
#include "session/decide.h"
#include "session/context.h"

#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct hrun_service {
    pthread_mutex_t lock;         /* held while anything below is used, but by the accessors of what never changes */
    locale_t plain;               /* numbers with a dot, whatever the process has set */
    struct settings set;
    int open;
    struct context c;
    struct knowledge known;
    char *cluster_json;           /* made when it is asked for */
};

/* Languages that know no types give NULL where creating has failed. */
static int no_service(struct hrun_error *err)
{
    return hrun_fail(err, HRUN_EINVAL, "there is no service: hrun_service_create gave NULL");
}

int hrun_service_set(struct hrun_service *s, const char *name, const char *value, struct hrun_error *err)
{
    if (!s)
        return no_service(err);
    if (s->open)
        return hrun_fail(err, HRUN_EINVAL, "%s: the service is open; settings are for another one", name ? name : "");
    return settings_set(&s->set, name, value, err);
}

const char *hrun_version(void)
{
    return HRUN_VERSION;
}

struct hrun_service *hrun_service_create(struct hrun_error *err)
{
    struct hrun_service *s = calloc(1, sizeof *s);

    if (!s) {
        hrun_fail_nomem(err);
        return NULL;
    }
    s->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!s->plain || pthread_mutex_init(&s->lock, NULL)) {
        if (s->plain)
            freelocale(s->plain);
        free(s);
        hrun_fail_nomem(err);
        return NULL;
    }
    return s;
}

static void close_all(struct hrun_service *s)
{
    knowledge_release(&s->known);
    context_release(&s->c);
    free(s->cluster_json);
    s->cluster_json = NULL;
    s->open = 0;
}

void hrun_service_destroy(struct hrun_service *s)
{
    if (!s)
        return;
    close_all(s);
    settings_release_all(&s->set);
    pthread_mutex_destroy(&s->lock);
    freelocale(s->plain);
    free(s);
}

/* Alone with the service, in a locale whose numbers have dots. Result: the locale to leave with. */
static locale_t enter(struct hrun_service *s)
{
    pthread_mutex_lock(&s->lock);
    return uselocale(s->plain);
}

static void leave(struct hrun_service *s, locale_t before)
{
    uselocale(before);
    pthread_mutex_unlock(&s->lock);
}

static int open_all(struct hrun_service *s, struct hrun_error *err)
{
    const struct settings *set = &s->set;
    struct context *c = &s->c;

    c->set = set;
    if (context_find_app(c, set->program, err) || context_discover(c, err) ||
        (set->program && context_find_program(c, set->program, err)) || context_choose_engine(c, 0, err))
        return -1;
    return knowledge_load(c, &s->known, err);
}

int hrun_service_open(struct hrun_service *s, struct hrun_error *err)
{
    locale_t before;
    int rc;

    if (!s)
        return no_service(err);
    before = enter(s);
    rc = s->open ? hrun_fail(err, HRUN_EINVAL, "the service is open already") : open_all(s, err);
    if (!rc)
        s->open = 1;
    else if (!s->open)
        close_all(s);
    leave(s, before);
    return rc ? -1 : 0;
}

/* ------------------------------------------------------------------ what it has */

static const struct hrun_subcluster *sub_at(const struct hrun_service *s, int sub)
{
    return s && s->open && sub >= 0 && sub < s->c.cluster->nsubs ? &s->c.cluster->subs[sub] : NULL;
}

const char *hrun_service_app(const struct hrun_service *s)
{
    return s && s->open && s->known.n ? (s->c.variants_of ? s->c.variants_of : s->known.v[0].app)->name : NULL;
}

const char *hrun_service_engine(const struct hrun_service *s)
{
    return s && s->open ? s->c.engine->name : NULL;
}

const char *hrun_service_mpi(const struct hrun_service *s)
{
    return s && s->open ? s->c.mpi.id : NULL;
}

int hrun_service_nsubs(const struct hrun_service *s)
{
    return s && s->open ? s->c.cluster->nsubs : 0;
}

const char *hrun_service_sub_name(const struct hrun_service *s, int sub)
{
    return sub_at(s, sub) ? sub_at(s, sub)->name : NULL;
}

int hrun_service_sub_pes(const struct hrun_service *s, int sub)
{
    return sub_at(s, sub) ? sub_at(s, sub)->npes : 0;
}

const char *hrun_service_sub_signature(const struct hrun_service *s, int sub)
{
    return sub_at(s, sub) ? s->c.signatures.v[sub] : NULL;
}

int hrun_service_sub_has_profile(const struct hrun_service *s, int sub)
{
    int has = 0;

    for (int i = 0; sub_at(s, sub) && i < s->known.n; i++)
        has |= s->known.v[i].known.subs[sub].models != NULL;
    return has;
}

const char *hrun_service_sub_note(const struct hrun_service *s, int sub)
{
    const char *note = NULL;

    for (int i = 0; sub_at(s, sub) && i < s->known.n && !note; i++)
        note = s->known.v[i].known.subs[sub].why_not;
    return note;
}

/* ------------------------------------------------------------------ questions */

static struct hrun_answer *ask(struct hrun_service *s, const struct question *q, int64_t N, struct hrun_error *err)
{
    struct hrun_answer *a;

    if (!s->open) {
        hrun_fail(err, HRUN_EINVAL, "the service is not open");
        return NULL;
    }
    if (N < 1 || N > HRUN_COUNT_MAX) {
        hrun_fail(err, HRUN_EINVAL, "N = %lld: a size is between 1 and 2^53", (long long)N);
        return NULL;
    }
    a = answer_make(&s->c, &s->known, q, N, err);
    if (a)
        a->of = s;
    return a;
}

struct hrun_answer *hrun_service_predict(struct hrun_service *s, const char *config, int64_t N, struct hrun_error *err)
{
    struct question q = { .config = config ? config : "" };
    struct hrun_answer *a;
    locale_t before;

    if (!s) {
        no_service(err);
        return NULL;
    }
    before = enter(s);
    a = ask(s, &q, N, err);
    leave(s, before);
    return a;
}

struct hrun_answer *hrun_service_best(struct hrun_service *s, int64_t N, const char *wishes, struct hrun_error *err)
{
    struct question q = { .procs = 0 };
    char *words = s ? strdup(wishes ? wishes : "") : NULL;
    struct hrun_answer *a = NULL;
    locale_t before;

    if (!words) {
        if (s)
            hrun_fail_nomem(err);
        else
            no_service(err);
        return NULL;
    }
    before = enter(s);
    if (!wishes_read(words, &q, err))
        a = ask(s, &q, N, err);
    leave(s, before);
    free(words);
    return a;
}

/* ------------------------------------------------------------------ documents */

static int make_text(struct hrun_service *s, const struct hrun_answer *a, char **out, struct hrun_error *err)
{
    struct hrun_buf text = HRUN_BUF_INIT;
    int rc = a ? predict_document(&s->c, a->app, &a->d, &text, err)
               : document_cluster(&s->c, &text, err);

    if (!rc && !(*out = hrun_buf_detach(&text)))
        rc = hrun_fail_nomem(err);
    hrun_buf_release(&text);
    return rc;
}

const char *hrun_service_json(struct hrun_service *s, struct hrun_answer *a, struct hrun_error *err)
{
    char **kept = a ? &a->json : s ? &s->cluster_json : NULL;
    locale_t before;
    int rc = 0;

    if (!s) {
        no_service(err);
        return NULL;
    }
    before = enter(s);
    if (!s->open || (a && a->of != s))
        rc = hrun_fail(err, HRUN_EINVAL, s->open ? "the answer is another service's" : "the service is not open");
    else if (!*kept)
        rc = make_text(s, a, kept, err);
    leave(s, before);
    return rc ? NULL : *kept;
}
