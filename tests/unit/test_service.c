/* test_service.c - lib/session: answers against all configurations one by one, threads, errors, ownership
 *
 * The clusters are described ones, their profiles are made of made-up times; nothing is started. `make races` runs it
 * where races are seen.
 */
#include "store.h"

#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 8, ROUNDS = 6 };
static const int64_t sizes[] = { 1000, 1500, 2000, 3000 };
enum { NSIZES = sizeof sizes / sizeof *sizes };

/* ------------------------------------------------------------------ all configurations */

/* All that there are, as texts. Result: how many. */
static int list_all(char out[][32])
{
    int n = 0;

    for (int p = 0; p <= NEW; p++)
        for (int q = 0; q <= OLD; q++)
            if (p + q)
                snprintf(out[n++], 32, "(%d,%d,%d,%d)", p, p > 0, q, q > 0);
    return n;
}

static double get_time(const struct hrun_answer *a)
{
    return hrun_answer_time_s(a, 0);
}

static double get_cost(const struct hrun_answer *a)
{
    return hrun_answer_cost(a, 0);
}

static double get_energy(const struct hrun_answer *a)
{
    return hrun_answer_energy_j(a, 0);
}

/* Is the best by the wishes the best of all by value, and are the alternatives the next ones? */
static void try_best(struct hrun_service *s, int64_t N, const char *wishes, double (*value)(const struct hrun_answer *))
{
    char all[32][32];
    double values[32];
    int n = list_all(all), rising = 1, agree = 1, below = 0;
    struct hrun_error err = { 0 };
    struct hrun_answer *best = hrun_service_best(s, N, wishes, &err);

    if (!ok(best != NULL, "there is a best one (%s)", wishes ? wishes : ""))
        return;
    for (int i = 0; i < n; i++) {
        struct hrun_answer *a = hrun_service_predict(s, all[i], N, &err);

        values[i] = a ? value(a) : NAN;
        for (int k = 0; a && k < hrun_answer_count(best); k++)
            if (!strcmp(hrun_answer_config(best, k), all[i]))
                agree = agree && hrun_answer_time_s(best, k) == hrun_answer_time_s(a, 0) &&
                        hrun_answer_low_s(best, k) == hrun_answer_low_s(a, 0) &&
                        hrun_answer_high_s(best, k) == hrun_answer_high_s(a, 0) &&
                        hrun_answer_cost(best, k) == hrun_answer_cost(a, 0) &&
                        hrun_answer_processes(best, k) == hrun_answer_processes(a, 0);
        hrun_answer_destroy(a);
    }
    for (int i = 0; i < n; i++)
        below += values[i] < value(best);
    is_int(below, 0, "N = %lld: none of all has less", (long long)N);
    ok(agree, "each choice is what is predicted of its configuration");
    for (int k = 1; k < hrun_answer_count(best) && value == get_time; k++) {
        int quicker = 0;

        for (int i = 0; i < n; i++)
            quicker += values[i] < hrun_answer_time_s(best, k);
        rising = rising && quicker <= k && hrun_answer_time_s(best, k) >= hrun_answer_time_s(best, k - 1);
    }
    ok(rising, "alternatives are the next best ones, in order");
    hrun_answer_destroy(best);
}

static void try_answers(const struct place *p)
{
    struct hrun_service *s = set_up_open(p, p->cluster);
    struct hrun_error err = { 0 };
    struct hrun_answer *a;

    is_str(hrun_service_app(s), "lu", "the application");
    is_str(hrun_service_engine(s), "mpirun", "the engine");
    is_int(hrun_service_nsubs(s), 2, "two sub-clusters");
    is_str(hrun_service_sub_name(s, 1), "old", "their names");
    is_int(hrun_service_sub_pes(s, 1), OLD, "their PEs");
    ok(hrun_service_sub_has_profile(s, 0) && hrun_service_sub_has_profile(s, 1), "both have profiles");
    for (int i = 0; i < NSIZES; i++)
        try_best(s, sizes[i], "top=14", get_time);
    try_best(s, 2000, NULL, get_time);
    try_best(s, 2000, "objective=cost", get_cost);
    try_best(s, 2000, " objective=energy  top=2 ", get_energy);
    a = hrun_service_best(s, 2000, "use=old:3 top=1", &err);
    ok(a && !hrun_answer_pes(a, 0, 0) && hrun_answer_pes(a, 0, 1) <= 3, "use keeps to what it names");
    is_int(hrun_answer_count(a), 1, "top says how many");
    hrun_answer_destroy(a);
    a = hrun_service_best(s, 2000, "np=3", &err);
    is_int(hrun_answer_processes(a, 0), 3, "np says how many processes");
    hrun_answer_destroy(a);
    a = hrun_service_predict(s, "2,1,4,1", 2000, &err);
    ok(hrun_answer_low_s(a, 0) < hrun_answer_time_s(a, 0) && hrun_answer_time_s(a, 0) < hrun_answer_high_s(a, 0),
       "the time is inside its interval");
    ok(a && hrun_answer_pes(a, 0, 1) == 4 && hrun_answer_procs_per_pe(a, 0, 1) == 1, "PEs and processes on each");
    is_int(hrun_answer_size(a), 2000, "the size");
    hrun_service_destroy(s);
    is_str(hrun_answer_config(a, 0), "(2,1,4,1)", "an answer outlives its service");
    hrun_answer_destroy(a);
    s = set_up_open(p, p->unpriced);
    a = hrun_service_best(s, 2000, NULL, &err);
    ok(isnan(hrun_answer_cost(a, 0)) && isnan(hrun_answer_energy_j(a, 0)), "without prices nothing is said to be free");
    hrun_answer_destroy(a);
    hrun_service_destroy(s);
}

/* ------------------------------------------------------------------ documents */

static void try_documents(const struct place *p)
{
    struct hrun_service *s = set_up_open(p, p->cluster), *other = set_up_open(p, p->cluster);
    struct hrun_error err = { 0 };
    struct hrun_answer *a = hrun_service_best(s, 2000, NULL, &err);
    const char *text = hrun_service_json(s, a, &err);

    has_str(text, "\"chosen_by\": \"model\"", "an answer as JSON");
    has_str(text, "\"mpirun\": null", "in which nothing would be started");
    ok(hrun_service_json(s, a, &err) == text, "it is made once");
    has_str(hrun_service_json(s, NULL, &err), "\"cpu_model\"", "the cluster as JSON");
    ok(!hrun_service_json(other, a, &err), "another service's answer is refused");
    has_str(err.text, "another service", "in words");
    hrun_answer_destroy(a);
    hrun_service_destroy(other);
    hrun_service_destroy(s);
}

/* ------------------------------------------------------------------ errors */

static void refuse_best(struct hrun_service *s, int64_t N, const char *wishes, enum hrun_code code, const char *text)
{
    struct hrun_error err = { 0 };
    struct hrun_answer *a = hrun_service_best(s, N, wishes, &err);

    ok(!a && err.code == code && !hrun_service_best(s, N, wishes, NULL), "%s at N = %lld is refused",
       wishes ? wishes : "no wish", (long long)N);
    has_str(err.text, text, "saying why");
    hrun_answer_destroy(a);
}

static void refuse_config(struct hrun_service *s, const char *config, enum hrun_code code, const char *text)
{
    struct hrun_error err = { 0 };
    struct hrun_answer *a = hrun_service_predict(s, config, 2000, &err);

    ok(!a && err.code == code && !hrun_service_predict(s, config, 2000, NULL), "%s is refused",
       config ? config : "NULL");
    has_str(err.text, text, "saying why");
    hrun_answer_destroy(a);
}

static void try_errors(const struct place *p)
{
    struct hrun_service *s = set_up(p, "/nosuch.yaml", "lu");
    struct hrun_error err = { 0 };

    refuse_best(s, 2000, NULL, HRUN_EINVAL, "not open");
    ok(!hrun_service_nsubs(s) && !hrun_service_sub_name(s, 0), "a service that is not open has no cluster");
    is_int(hrun_service_open(s, &err), -1, "a cluster that is not there");
    has_str(err.text, "nosuch.yaml", "is named");
    ok(!hrun_service_set(s, "cluster", p->cluster, &err) && !hrun_service_open(s, &err),
       "once mended it can be opened");
    is_int(hrun_service_open(s, &err), -1, "but not twice");
    is_int(hrun_service_set(s, "app", "fft", &err), -1, "nor set");
    refuse_best(s, 0, NULL, HRUN_EINVAL, "N = 0");
    refuse_best(s, -3, NULL, HRUN_EINVAL, "N = -3");
    refuse_best(s, 2000, "speed=9", HRUN_EINVAL, "names are: objective, limit");
    refuse_best(s, 2000, "top", HRUN_EINVAL, "no wish");
    refuse_best(s, 2000, "objective=fame", HRUN_EINVAL, "must be one of time, cost, energy, found 'fame'");
    refuse_best(s, 2000, "use=odd", HRUN_EINVAL, "there are: new, old");
    refuse_best(s, 2000, "limit=time=0.001", HRUN_EINFEASIBLE, "");
    refuse_config(s, "(3,1,0,0)", HRUN_EINVAL, "new has 2 PEs");
    refuse_config(s, "(1,1)", HRUN_EPARSE, "");
    refuse_config(s, NULL, HRUN_EPARSE, "");
    refuse_config(s, "(1,2,0,0)", HRUN_ENODATA, "say nothing of (1,2,0,0)");
    ok(!hrun_answer_config(NULL, 0) && isnan(hrun_answer_time_s(NULL, 0)) && !hrun_answer_count(NULL),
       "no answer has no choices");
    hrun_service_destroy(s);
    s = set_up(p, p->cluster, "jacobi");
    ok(!hrun_service_open(s, &err), "no profile is no error");
    ok(!hrun_service_sub_has_profile(s, 0), "but is told");
    refuse_best(s, 2000, NULL, HRUN_ENODATA, "has no profile of jacobi");
    hrun_service_destroy(s);
    s = set_up(p, p->cluster, NULL);
    ok(!hrun_service_open(s, &err), "a cluster alone");
    refuse_best(s, 2000, NULL, HRUN_ENOENT, "no application");
    hrun_service_destroy(s);
    s = set_up(p, p->cluster, "lu");
    is_int(hrun_service_set(s, "colour", "red", &err), -1, "an unknown setting");
    has_str(err.text, "there are: app, variant, profile-path", "is told what there is");
    is_int(hrun_service_set(s, "refresh", "maybe", &err), -1, "yes or no");
    is_int(hrun_service_set(s, "define", "nb", &err), -1, "a constant without a value");
    is_int(hrun_service_set(s, "mca", "=1", &err), -1, "a value without a name");
    hrun_service_destroy(s);
    refuse_best(NULL, 2000, NULL, HRUN_EINVAL, "no service");
    refuse_config(NULL, "(1,1,0,0)", HRUN_EINVAL, "no service");
    ok(hrun_service_set(NULL, "app", "lu", &err) && hrun_service_open(NULL, &err) &&
       !hrun_service_json(NULL, NULL, &err) && !hrun_service_nsubs(NULL), "nor has it anything else");
    hrun_service_destroy(NULL);
    hrun_answer_destroy(NULL);
}

/* A locale of numbers with commas, made in the folder. 0, or -1 where that cannot be done here. */
static int make_locale(const char *dir)
{
    char path[600];
    pid_t child;
    int status = 1;

    snprintf(path, sizeof path, "%s/de_DE", dir);
    fflush(stdout);
    child = fork();
    if (!child) {
        fclose(stderr);
        execlp("localedef", "localedef", "-i", "de_DE", "-f", "ISO-8859-1", path, (char *)NULL);
        _exit(127);
    }
    waitpid(child, &status, 0);
    setenv("LOCPATH", dir, 1);
    return !status && setlocale(LC_NUMERIC, "de_DE") ? 0 : -1;
}

/* A process that writes numbers with a comma. */
static void try_locale(const struct place *p)
{
    struct hrun_service *s = set_up_open(p, p->cluster), *there;
    struct hrun_answer *want = hrun_service_best(s, 2000, NULL, NULL), *a, *cheap;
    char wish[64];

    snprintf(wish, sizeof wish, "objective=cost limit=time=%.3f", 1.2 * hrun_answer_time_s(want, 0));
    if (make_locale(p->dir)) {
        printf("ok %d - another locale # SKIP localedef cannot make one here\n", ++tap_count);
    } else {
        there = set_up_open(p, p->cluster);
        a = hrun_service_best(there, 2000, NULL, NULL);
        cheap = hrun_service_best(there, 2000, wish, NULL);
        ok(a && hrun_answer_time_s(a, 0) == hrun_answer_time_s(want, 0) &&
           hrun_answer_cost(a, 0) == hrun_answer_cost(want, 0), "a locale with commas does not matter to files");
        ok(cheap != NULL, "nor to wishes");
        is_str(localeconv()->decimal_point, ",", "and is left as it was");
        setlocale(LC_NUMERIC, "C");
        hrun_answer_destroy(a);
        hrun_answer_destroy(cheap);
        hrun_service_destroy(there);
    }
    hrun_answer_destroy(want);
    hrun_service_destroy(s);
}

/* ------------------------------------------------------------------ threads */

/* What one alone has heard. */
struct heard {
    char config[NSIZES][32];
    double time_s[NSIZES], high_s[NSIZES], cost[NSIZES];
    char *json[NSIZES];
};

struct asking {
    struct hrun_service *s;
    const struct hrun_answer *read;  /* by all threads */
    const struct heard *want;
    int first, wrong;
};

/* The document but for how long the search took. */
static char *timeless(const char *json)
{
    char *copy = json ? strdup(json) : NULL, *line = copy ? strstr(copy, "\"search_s\"") : NULL;

    for (char *c = line; c && *c && *c != '\n'; c++)
        *c = '-';
    if (line)
        memmove(line, line + strcspn(line, "\n"), strlen(line + strcspn(line, "\n")) + 1);
    return copy;
}

static void hear(struct hrun_service *s, struct heard *h)
{
    for (int i = 0; i < NSIZES; i++) {
        struct hrun_answer *a = hrun_service_best(s, sizes[i], NULL, NULL);

        if (!a)
            bail("no answer");
        snprintf(h->config[i], sizeof h->config[i], "%s", hrun_answer_config(a, 0));
        h->time_s[i] = hrun_answer_time_s(a, 0);
        h->high_s[i] = hrun_answer_high_s(a, 0);
        h->cost[i] = hrun_answer_cost(a, 0);
        h->json[i] = timeless(hrun_service_json(s, a, NULL));
        hrun_answer_destroy(a);
    }
}

static int is_wanted(const struct asking *k, int i, const struct hrun_answer *a, const char *json)
{
    char *text = timeless(json);
    int good = a && text && k->want->json[i] && !strcmp(hrun_answer_config(a, 0), k->want->config[i]) &&
               hrun_answer_time_s(a, 0) == k->want->time_s[i] && hrun_answer_high_s(a, 0) == k->want->high_s[i] &&
               hrun_answer_cost(a, 0) == k->want->cost[i] && !strcmp(text, k->want->json[i]);

    free(text);
    return good;
}

static void *ask_again(void *ctx)
{
    struct asking *k = ctx;

    for (int round = 0; round < ROUNDS; round++)
        for (int j = 0; j < NSIZES; j++) {
            int i = (j + k->first) % NSIZES;
            struct hrun_error err = { 0 };
            struct hrun_answer *a = hrun_service_best(k->s, sizes[i], NULL, &err), *b;

            k->wrong += !is_wanted(k, i, a, hrun_service_json(k->s, a, &err));
            b = hrun_service_predict(k->s, k->want->config[i], sizes[i], &err);
            k->wrong += hrun_answer_time_s(b, 0) != k->want->time_s[i];
            k->wrong += hrun_answer_time_s(k->read, 0) != k->want->time_s[0];
            k->wrong += hrun_service_predict(k->s, "(9,1,0,0)", sizes[i], &err) || err.code != HRUN_EINVAL;
            hrun_answer_destroy(a);
            hrun_answer_destroy(b);
        }
    return NULL;
}

/* apart: each thread has a service of its own. */
static void try_threads(const struct place *p, const struct heard *want, int apart)
{
    struct hrun_service *s[THREADS];
    struct hrun_answer *read;
    struct asking k[THREADS];
    pthread_t t[THREADS];
    int wrong = 0;

    for (int i = 0; i < THREADS; i++)
        s[i] = i && !apart ? s[0] : set_up_open(p, p->cluster);
    read = hrun_service_best(s[0], sizes[0], NULL, NULL);
    for (int i = 0; i < THREADS; i++) {
        k[i] = (struct asking) { s[i], read, want, i, 0 };
        if (pthread_create(&t[i], NULL, ask_again, &k[i]))
            bail("no thread");
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(t[i], NULL);
        wrong += k[i].wrong;
    }
    is_int(wrong, 0, "%d threads with %s hear what one alone does", THREADS, apart ? "a service each" : "one service");
    hrun_answer_destroy(read);
    for (int i = 0; i < (apart ? THREADS : 1); i++)
        hrun_service_destroy(s[i]);
}

int main(void)
{
    struct hrun_service *s;
    struct heard want;
    struct place p;

    make_place(&p);
    try_answers(&p);
    try_documents(&p);
    try_errors(&p);
    try_locale(&p);
    s = set_up_open(&p, p.cluster);
    hear(s, &want);
    hrun_service_destroy(s);
    try_threads(&p, &want, 0);
    try_threads(&p, &want, 1);
    for (int i = 0; i < NSIZES; i++)
        free(want.json[i]);
    hrun_remove_tree(p.dir);
    return tap_done();
}
