/* test_ask.c - hrun_ask: answers against all configurations one by one, errors, locale, threads
 *
 * The clusters are described ones, their profiles are made of made-up times; nothing is started. `make races` runs it
 * where races are seen.
 */
#include "fixture.h"

#include "hrun.h"
#include "model/model.h"
#include "session/context.h"
#include "store/store.h"

#include <jansson.h>
#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 8, ROUNDS = 6 };
static const int64_t sizes[] = { 1000, 1500, 2000, 3000 };
enum { NSIZES = sizeof sizes / sizeof *sizes };

/* ------------------------------------------------------------------ clusters and profiles */

enum { NEW = 2, OLD = 4 };      /* hosts */

struct place {
    char *dir, *cluster, *unpriced, *data;
};

static void make_cluster(const char *path, const char *new_price, const char *old_price)
{
    char *text = hrun_strf("subclusters:\n"
                           "  - {name: new, hosts: '127.0.0.[2-3]', topology: '[numa] package:1 core:4 pu:1'%s}\n"
                           "  - {name: old, hosts: '127.0.1.[1-4]', topology: '[numa] package:1 core:2 pu:1'%s}\n",
                           new_price, old_price);

    write_text(path, text);
    free(text);
}

/* Seconds of lu on a sub-cluster alone. */
static double seconds(double N, int P, double speed)
{
    return 2e-9 * N * N * N / P / speed + (P > 1 ? 1e-8 * N * N + 1e-3 * P : 0) + 0.01;
}

static void make_profile(const struct context *c, int sub, double speed)
{
    struct hrun_fit_options options = HRUN_FIT_OPTIONS_DEFAULT;
    const char *signature = c->signatures.v[sub];
    struct hrun_error err = { 0 };
    struct hrun_samples log = { 0 };
    struct hrun_models *m = NULL;

    for (int N = 400; N <= 3200; N += 400)
        for (int pes = 1; pes <= c->cluster->subs[sub].npes; pes++) {
            double t = seconds(N, pes, speed) * (1 + 0.01 * (pes % 2 ? 1 : -1));
            struct hrun_sample s = { .N = N, .P = pes, .M = 1, .pes = pes, .time_s = t, .wall_s = t, .ok = 1,
                                     .status = "ok", .origin = "calibration", .launcher.mpi = (char *)c->mpi.id,
                                     .launcher.engine = "mpirun", .date = "2026-11-20T10:36:00Z" };

            if (hrun_store_append(c->store, "lu", signature, &s, &err))
                bail(err.text);
        }
    if (hrun_store_samples(c->store, "lu", signature, &log, &err) ||
        hrun_model_fit(c->app, log.v, log.n, &options, &m, NULL, &err))
        bail(err.text);
    free(m->signature);
    m->signature = strdup(signature);
    if (hrun_store_put_models(c->store, m, &err))
        bail(err.text);
    hrun_models_destroy(m);
    hrun_samples_release(&log);
}

/* A folder with clusters, and a data folder with profiles of lu on them. */
static void make_place(struct place *p)
{
    struct hrun_error err = { 0 };
    struct context c = { 0 };
    struct settings set = { .app = "lu", .profile_path = "tests/apps", .job.engine = "mpirun" };

    p->dir = temp_dir();
    p->cluster = hrun_strf("%s/cluster.yaml", p->dir);
    p->unpriced = hrun_strf("%s/unpriced.yaml", p->dir);
    p->data = hrun_strf("%s/data", p->dir);
    make_cluster(p->cluster, ", cost_per_hour: 9.5, power_w: 200", ", cost_per_hour: 1.25, power_w: 150");
    make_cluster(p->unpriced, "", "");
    set.data = p->data;
    set.machine.cluster_file = p->cluster;
    c.set = &set;
    if (context_find_app(&c, NULL, &err) || context_discover(&c, &err) || context_choose_engine(&c, 0, &err))
        bail(err.text);
    make_profile(&c, 0, 4);
    make_profile(&c, 1, 1);
    context_release(&c);
}

static void place_release(struct place *p)
{
    free(p->dir);
    free(p->cluster);
    free(p->unpriced);
    free(p->data);
}

/* ------------------------------------------------------------------ questions */

/* The question about lu on the first cluster, with members of `more` (JSON without braces, or "") added or replaced.
 * The caller frees it. */
static char *make_question(const struct place *p, const char *more)
{
    char *text = hrun_strf("{%s}", more), *question;
    json_t *members = json_loads(text, 0, NULL);
    json_t *q = json_pack("{s:s, s:s, s:s, s:s, s:s, s:i}", "app", "lu", "cluster", p->cluster, "profile-path",
                          "tests/apps", "data", p->data, "engine", "mpirun", "N", 2000);

    if (!members || json_object_update(q, members))
        bail(more);
    question = json_dumps(q, 0);
    json_decref(members);
    json_decref(q);
    free(text);
    return question;
}

static char *ask_text(const struct place *p, const char *more, struct hrun_error *err)
{
    char *question = make_question(p, more), *answer = hrun_ask(question, err);

    free(question);
    return answer;
}

/* The answer, which has to be one. */
static json_t *ask(const struct place *p, const char *more)
{
    struct hrun_error err = { 0 };
    char *answer = ask_text(p, more, &err);
    json_t *a = answer ? json_loads(answer, 0, NULL) : NULL;

    free(answer);
    if (!a)
        bail(err.text);
    return a;
}

static double number_in(const json_t *object, const char *member)
{
    const json_t *v = json_object_get(object, member);

    return json_is_number(v) ? json_number_value(v) : NAN;
}

/* PEs used of a sub-cluster by a choice. */
static int pes_of(const json_t *choice, size_t sub)
{
    return (int)number_in(json_array_get(json_object_get(choice, "config"), sub), "pes");
}

/* The answers about all configurations of one process a PE, as one array. */
static json_t *ask_all(const struct place *p, int64_t N)
{
    struct hrun_buf more = HRUN_BUF_INIT;
    json_t *all;

    hrun_buf_addf(&more, "\"N\": %lld, \"config\": [", (long long)N);
    for (int k = 1; k < (NEW + 1) * (OLD + 1); k++) {
        int i = k / (OLD + 1), j = k % (OLD + 1);

        hrun_buf_addf(&more, "%s\"(%d,%d,%d,%d)\"", k > 1 ? ", " : "", i, i > 0, j, j > 0);
    }
    hrun_buf_addc(&more, ']');
    all = ask(p, more.data);
    hrun_buf_release(&more);
    return all;
}

/* Has the best by the wishes the least of all, and are the alternatives the next ones? */
static void try_best(const struct place *p, int64_t N, const char *wishes, const char *value)
{
    char *more = hrun_strf("\"N\": %lld%s", (long long)N, wishes);
    json_t *best = ask(p, more), *all = ask_all(p, N), *next = json_object_get(best, "next_best"), *a, *choice;
    size_t i, k;
    int below = 0, found = 0, rising = 1;
    double last = number_in(best, "predicted_s");

    json_array_foreach(all, i, a)
        below += number_in(a, value) < number_in(best, value);
    is_int(below, 0, "N = %lld%s: none of all has less", (long long)N, wishes);
    json_array_foreach(next, k, choice) {
        double t = number_in(choice, "predicted_s");
        int quicker = 0;

        json_array_foreach(all, i, a) {
            found += pes_of(a, 0) == pes_of(choice, 0) && pes_of(a, 1) == pes_of(choice, 1) &&
                     number_in(a, "predicted_s") == t;
            quicker += number_in(a, "predicted_s") < t;
        }
        rising = rising && t >= last && quicker <= (int)k + 1;
        last = t;
    }
    is_int(found, (int)json_array_size(next), "each alternative is what is predicted of its configuration");
    if (!strcmp(value, "predicted_s"))
        ok(rising, "alternatives are the next best ones, in order");
    json_decref(best);
    json_decref(all);
    free(more);
}

static void try_answers(const struct place *p)
{
    char *unpriced = hrun_strf("\"cluster\": \"%s\"", p->unpriced);
    json_t *a;

    for (int i = 0; i < NSIZES; i++)
        try_best(p, sizes[i], ", \"top\": 14", "predicted_s");
    try_best(p, 2000, "", "predicted_s");
    try_best(p, 2000, ", \"objective\": \"cost\"", "cost");
    try_best(p, 2000, ", \"objective\": \"energy\", \"top\": 2", "energy_j");
    a = ask(p, "\"use\": \"old:3\", \"top\": \"1\"");
    ok(!pes_of(a, 0) && pes_of(a, 1) <= 3, "use keeps to what it names");
    is_int(json_array_size(json_object_get(a, "next_best")), 0, "top says how many; a number may be a text");
    json_decref(a);
    a = ask(p, "\"n\": 3, \"refresh\": true, \"force\": false, \"use\": null");
    is_int((int)number_in(a, "P"), 3, "n says how many processes; flags are true or false");
    json_decref(a);
    a = ask(p, "\"config\": \"2,1,4,1\"");
    ok(number_in(a, "predicted_low_s") < number_in(a, "predicted_s") &&
       number_in(a, "predicted_s") < number_in(a, "predicted_high_s"), "the time is inside its interval");
    ok(json_is_null(json_object_get(a, "argv")) && json_is_null(json_object_get(a, "mpirun")), "nothing is started");
    json_decref(a);
    a = ask(p, unpriced);
    ok(isnan(number_in(a, "cost")) && isnan(number_in(a, "energy_j")), "without prices nothing is said to be free");
    json_decref(a);
    free(unpriced);
}

/* ------------------------------------------------------------------ errors */

static void try_errors(const struct place *p)
{
    static const struct { const char *more; enum hrun_code code; const char *text; } bad[] = {
        { "\"cluster\": \"/nosuch.yaml\"", HRUN_ENOENT, "nosuch.yaml" },
        { "\"N\": null", HRUN_EINVAL, "give -N SIZE" },
        { "\"N\": 0", HRUN_EINVAL, "N" },
        { "\"N\": -3", HRUN_EINVAL, "N" },
        { "\"N\": 2000.5", HRUN_EINVAL, "2000.5" },
        { "\"N\": true", HRUN_EINVAL, "'N' in the question is a text or a number" },
        { "\"speed\": 9", HRUN_EINVAL, "unknown key 'speed'; there are: app, variant" },
        { "\"clutser\": \"a\"", HRUN_EINVAL, "did you mean 'cluster'?" },
        { "\"refresh\": \"yes\"", HRUN_EINVAL, "'refresh' in the question must be true or false" },
        { "\"objective\": \"fame\"", HRUN_EINVAL, "must be one of time, cost, energy, found 'fame'" },
        { "\"objective\": [\"cost\"]", HRUN_EINVAL, "is a text or a number" },
        { "\"define\": [\"nb\"]", HRUN_EINVAL, "define needs NAME=VALUE, not 'nb'" },
        { "\"mca\": \"=1\"", HRUN_EINVAL, "mca needs KEY=VALUE" },
        { "\"use\": \"odd\"", HRUN_EINVAL, "there are: new, old" },
        { "\"limit\": \"time=0.001\"", HRUN_EINFEASIBLE, "" },
        { "\"config\": \"(3,1,0,0)\"", HRUN_EINVAL, "new has 2 PEs" },
        { "\"config\": \"(1,1)\"", HRUN_EPARSE, "" },
        { "\"config\": \"(1,2,0,0)\"", HRUN_ENODATA, "do not predict (1,2,0,0)" },
        { "\"config\": [\"(1,1,0,0)\", \"(9,1,0,0)\"]", HRUN_EINVAL, "(9,1,0,0): " },
        { "\"app\": \"jacobi\"", HRUN_ENODATA, "has no profile of jacobi" },
        { "\"app\": null", HRUN_ENOENT, "needs an app definition" },
        { "\"program\": [\"/nosuch/lu\", 2000]", HRUN_ENOPROG, "/nosuch/lu" },
    };
    static const struct { const char *question; int line; } broken[] = {
        { "{\n\"app\": }", 2 }, { "", 1 }, { NULL, 1 }, { "[1, 2]", 0 }, { "{\"N\": 1, \"N\": 2}", 1 },
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct hrun_error err = { 0 };
        char *answer = ask_text(p, bad[i].more, &err);

        ok(!answer && err.code == bad[i].code && strstr(err.text, bad[i].text), "%s is refused: %s", bad[i].more,
           err.text);
        ok(!ask_text(p, bad[i].more, NULL), "without an error object, too");
        free(answer);
    }
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct hrun_error err = { 0 };

        ok(!hrun_ask(broken[i].question, &err) && err.code == HRUN_EPARSE && err.line == broken[i].line,
           "no question %d: %s", (int)i, err.text);
    }
}

/* ------------------------------------------------------------------ locale */

/* A locale of numbers with commas, made in the folder. 0, or -1 where that cannot be done here. */
static int make_locale(const char *dir)
{
    char *path = hrun_strf("%s/de_DE", dir);
    pid_t child;
    int status = 1;

    fflush(stdout);
    child = fork();
    if (!child) {
        fclose(stderr);
        execlp("localedef", "localedef", "-i", "de_DE", "-f", "ISO-8859-1", path, (char *)NULL);
        _exit(127);
    }
    waitpid(child, &status, 0);
    free(path);
    setenv("LOCPATH", dir, 1);
    return !status && setlocale(LC_NUMERIC, "de_DE") ? 0 : -1;
}

/* A copy of a document but for how long the search took; NULL of NULL. */
static char *without_search_s(const char *json)
{
    char *copy = json ? strdup(json) : NULL, *from = copy ? strstr(copy, "\"search_s\"") : NULL;

    if (from)
        memmove(from, from + strcspn(from, "\n"), strlen(from + strcspn(from, "\n")) + 1);
    return copy;
}

/* Is the answer to the same question the same as before? */
static int is_answer(const struct place *p, const char *more, const char *want)
{
    char *answer = ask_text(p, more, NULL), *text = without_search_s(answer);
    int same = text && !strcmp(text, want);

    free(answer);
    free(text);
    return same;
}

/* The answer as it is compared; the caller frees it. */
static char *known_answer(const struct place *p, const char *more)
{
    struct hrun_error err = { 0 };
    char *answer = ask_text(p, more, &err), *text = without_search_s(answer);

    free(answer);
    if (!text)
        bail(err.text);
    return text;
}

/* A process that writes numbers with a comma. */
static void try_locale(const struct place *p)
{
    static const char wish[] = "\"objective\": \"cost\", \"limit\": \"time=2.55\"";
    char *want = known_answer(p, wish);

    if (make_locale(p->dir)) {
        printf("ok %d - another locale # SKIP localedef cannot make one here\n", ++tap_count);
    } else {
        ok(is_answer(p, wish, want), "a locale with commas does not matter");
        is_str(localeconv()->decimal_point, ",", "and is left as it was");
        setlocale(LC_NUMERIC, "C");
    }
    free(want);
}

/* ------------------------------------------------------------------ threads */

struct asking {
    const struct place *p;
    char **more, **want;          /* of each size: the question, and what one thread alone is answered */
    int first, wrong;
};

static void *ask_again(void *ctx)
{
    struct asking *k = ctx;

    for (int round = 0; round < ROUNDS; round++)
        for (int j = 0; j < NSIZES; j++) {
            int i = (j + k->first) % NSIZES;
            struct hrun_error err = { 0 };

            k->wrong += !is_answer(k->p, k->more[i], k->want[i]);
            k->wrong += ask_text(k->p, "\"config\": \"(9,1,0,0)\"", &err) || err.code != HRUN_EINVAL;
        }
    return NULL;
}

static void try_threads(const struct place *p)
{
    char *more[NSIZES], *want[NSIZES];
    struct asking k[THREADS];
    pthread_t t[THREADS];
    int wrong = 0;

    for (int i = 0; i < NSIZES; i++) {
        more[i] = hrun_strf("\"N\": %lld", (long long)sizes[i]);
        want[i] = known_answer(p, more[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        k[i] = (struct asking) { p, more, want, i, 0 };
        if (pthread_create(&t[i], NULL, ask_again, &k[i]))
            bail("no thread");
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(t[i], NULL);
        wrong += k[i].wrong;
    }
    is_int(wrong, 0, "%d threads are answered what one alone is", THREADS);
    for (int i = 0; i < NSIZES; i++) {
        free(more[i]);
        free(want[i]);
    }
}

int main(void)
{
    struct place p;

    make_place(&p);
    try_answers(&p);
    try_errors(&p);
    try_locale(&p);
    try_threads(&p);
    place_release(&p);
    return tap_done();
}
