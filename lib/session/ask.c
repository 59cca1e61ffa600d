/* ask.c - answer a question in JSON; see hrun.h */

#include "base/list.h"
#include "base/opts.h"
#include "base/units.h"
#include "session/query.h"

#include <jansson.h>
#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct asked {
    struct settings set;
    struct query query;
    struct hrun_strvec configs, words;
    struct hrun_strvec texts;         /* numbers as text; the settings point to these texts */
};

#define AT(member) offsetof(struct asked, member)
#define TEXT_KEY(key, member) { .name = key, .arg = HRUN_OPT_WORD, .apply = hrun_opt_string, .offset = AT(member) }
#define COUNT_KEY(key, letter, member, most) \
    { .name = key, .sym = letter, .arg = HRUN_OPT_COUNT, .offset = AT(member), .min = 1, .max = most }
#define FLAG_KEY(key, member) { .name = key, .apply = hrun_opt_flag, .offset = AT(member) }
/* A key whose value may also be an array. */
#define LIST_KEY(key, letter, form, member) \
    { .name = key, .sym = letter, .arg = HRUN_OPT_WORD, .meta = form, .apply = hrun_opt_append, .offset = AT(member) }
#define CHOICE_KEY(key, of, member) \
    { .name = key, .arg = HRUN_OPT_CHOICE, .choices = of, .apply = hrun_opt_string, .offset = AT(member) }

/* All keys but `program` are options of hrun. */
static const struct hrun_opt question_keys[] = {
    TEXT_KEY("app", set.app), TEXT_KEY("variant", set.variant), LIST_KEY("define", 'D', "NAME=VALUE", set.defines),
    TEXT_KEY("profile-path", set.profile_path), TEXT_KEY("data", set.data), FLAG_KEY("force", set.force),
    COUNT_KEY("size", 'N', query.N, HRUN_COUNT_MAX), COUNT_KEY("np", 'n', query.ask.procs, QUESTION_PROCS_MAX),
    LIST_KEY("config", 0, "(P1,M1,...)", configs), TEXT_KEY("use", query.ask.use),
    CHOICE_KEY("objective", "time cost energy", query.ask.objective),
    { .name = "limit", .arg = HRUN_OPT_WORD, .apply = question_limit, .offset = AT(query.ask) },
    COUNT_KEY("top", 0, query.ask.top, QUESTION_TOP_MAX),
    CHOICE_KEY("shares", "best equal proportional", query.ask.shares),
    TEXT_KEY("cluster", set.machine.cluster_file), TEXT_KEY("hostfile", set.machine.host_file),
    TEXT_KEY("host", set.machine.hosts), TEXT_KEY("platform", set.machine.platform),
    CHOICE_KEY("level", "node package numa l3 core", set.machine.level), TEXT_KEY("network", set.network),
    FLAG_KEY("refresh", set.machine.refresh),
    FLAG_KEY("skip-unreachable", set.machine.skip_unreachable), TEXT_KEY("engine", set.job.engine),
    CHOICE_KEY("mpi", "openmpi mpich", set.job.mpi_family), LIST_KEY("export", 'x', "NAME[=VALUE]", set.job.env),
    LIST_KEY("mca", 0, "KEY=VALUE", set.job.mca), LIST_KEY("smpi", 0, "NAME:VALUE", set.job.smpi),
    TEXT_KEY("wdir", set.job.wdir), LIST_KEY("program", 0, "WORD", words),
};
enum { NKEYS = sizeof question_keys / sizeof *question_keys };

static const struct hrun_opt *find_key(const char *name, struct hrun_error *err)
{
    const char *known[NKEYS], *near;
    struct hrun_buf names = HRUN_BUF_INIT;

    for (int i = 0; i < NKEYS; i++) {
        const struct hrun_opt *key = &question_keys[i];

        if (!strcmp(name, key->name) || (key->sym && name[0] == key->sym && !name[1]))
            return key;
        known[i] = key->name;
    }
    for (int i = 0; i < NKEYS; i++)
        hrun_buf_addf(&names, "%s%s", i ? ", " : "", known[i]);
    near = hrun_nearest(name, known, NKEYS);
    if (near)
        hrun_fail(err, HRUN_EINVAL, "the question has an unknown key '%s'; did you mean '%s'?", name, near);
    else
        hrun_fail(err, HRUN_EINVAL, "the question has an unknown key '%s'; there are: %s", name, names.data);
    hrun_buf_release(&names);
    return NULL;
}

static int apply_key(struct asked *a, const struct hrun_opt *key, const char *name, const json_t *value,
                     struct hrun_error *err)
{
    int list = key->apply == hrun_opt_append;

    if (json_is_null(value) || json_is_false(value))
        return 0;
    if (list && json_is_array(value)) {
        for (size_t i = 0; i < json_array_size(value); i++)
            if (apply_key(a, key, name, json_array_get(value, i), err))
                return -1;
        return 0;
    }
    if (key->arg == HRUN_OPT_NONE)
        return json_is_true(value) ? key->apply(a, key, NULL, err)
               : hrun_fail(err, HRUN_EINVAL, "'%s' in the question must be true or false", name);
    if (json_is_string(value))
        return hrun_opt_apply(key, name, a, json_string_value(value), err);
    if (!json_is_number(value))
        return hrun_fail(err, HRUN_EINVAL, "'%s' in the question is a text or a number%s", name,
                         list ? ", or an array of these" : "");
    if (json_is_integer(value))
        hrun_strvec_pushf(&a->texts, "%lld", (long long)json_integer_value(value));
    else
        hrun_strvec_pushf(&a->texts, "%.17g", json_real_value(value));
    return hrun_opt_apply(key, name, a, a->texts.v[a->texts.n - 1], err);
}

static int read_question(struct asked *a, const json_t *root, struct hrun_error *err)
{
    const char *name;
    json_t *value;

    if (!json_is_object(root))
        return hrun_fail(err, HRUN_EPARSE, "the question is no JSON object");
    json_object_foreach((json_t *)root, name, value) {
        const struct hrun_opt *key = find_key(name, err);

        if (!key || apply_key(a, key, name, value, err))
            return -1;
    }
    a->set.json = 1;
    a->query.set = &a->set;
    a->query.configs = &a->configs;
    if (a->words.n)
        a->query.words = a->words.v;
    settings_export_threads(&a->set);
    return 0;
}

/* Only one call runs at a time, as a call forks to try topologies. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

char *hrun_ask(const char *question, struct hrun_error *err)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0), before = uselocale(plain);
    struct hrun_buf out = HRUN_BUF_INIT;
    struct context c = { 0 };
    struct asked a = { .query.words = (char *[]){ NULL } };
    json_error_t why;
    json_t *root = json_loads(question ? question : "", JSON_REJECT_DUPLICATES, &why);
    char *answer = NULL;

    pthread_mutex_lock(&one_at_a_time);
    if (!root)
        hrun_fail_at(err, HRUN_EPARSE, "question", why.line, why.column, "%s", why.text);
    else if (!read_question(&a, root, err) && !query_find(&c, &a.query, err) && !context_discover(&c, err) &&
             !query_answer(&c, &a.query, &out, err))
        answer = hrun_buf_detach(&out);
    hrun_buf_release(&out);
    context_release(&c);
    settings_release(&a.set);
    hrun_strvec_release(&a.configs);
    hrun_strvec_release(&a.words);
    hrun_strvec_release(&a.texts);
    json_decref(root);
    pthread_mutex_unlock(&one_at_a_time);
    uselocale(before);
    freelocale(plain);
    return answer;
}

const char *hrun_version(void)
{
    return HRUN_VERSION;
}
