/* pmix_names.c - publish and lookup of PMIx; see pmix.h
 *
 * In MPI_Comm_accept and MPI_Comm_connect of Open MPI 4 each side publishes the names of its processes under the key
 * PORT:accept or PORT:connect, and looks up the key of the other side. A key is removed when it is first read. Several
 * processes may connect to one port, so a key may exist several times; the oldest is read first.
 */
#include "base/alloc.h"
#include "base/units.h"
#include "launch/pmix.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>

struct name {
    struct name *next;
    pmix_proc_t owner;
    int range, persistence;
    pmix_info_t info;
};

struct lookup {
    struct lookup *next;
    pmix_proc_t proc;
    char **keys;                    /* owned by PMIx, valid until the answer */
    size_t needed;                  /* number of keys needed for an answer */
    double end_s;                   /* monotonic clock; infinite: no time limit */
    pmix_lookup_cbfunc_t answer;
    void *cbdata;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct name *names;          /* oldest first, as are lookups */
static struct lookup *lookups;
static int timer = -1;

/* Programs pass integers of several types, Open MPI passes int. */
static int number_in_infos(const pmix_info_t info[], size_t ninfo, const char *key, int otherwise)
{
    for (size_t i = 0; i < ninfo; i++)
        if (PMIX_CHECK_KEY(&info[i], key))
            return info[i].value.type == PMIX_INT ? info[i].value.data.integer
                 : info[i].value.type == PMIX_UINT32 ? (int)info[i].value.data.uint32 : info[i].value.data.uint8;
    return otherwise;
}

static int is_same_proc(const pmix_proc_t *a, const pmix_proc_t *b)
{
    return PMIX_CHECK_NSPACE(a->nspace, b->nspace) && a->rank == b->rank;
}

/* The link to the oldest name with that key that the process may read; a link to NULL: there is none. */
static struct name **find(const pmix_proc_t *who, const char *key)
{
    struct name **at = &names, *x;

    for (; (x = *at); at = &x->next)
        if (PMIX_CHECK_KEY(&x->info, key) &&
            (x->range == PMIX_RANGE_NAMESPACE ? PMIX_CHECK_NSPACE(who->nspace, x->owner.nspace)
             : x->range == PMIX_RANGE_PROC_LOCAL ? is_same_proc(who, &x->owner) : x->range != PMIX_RANGE_RM))
            break;
    return at;
}

static void remove_name(struct name **at)
{
    struct name *x = *at;

    *at = x->next;
    PMIX_INFO_DESTRUCT(&x->info);
    free(x);
}

/* Answer a lookup if enough of its keys are published. 1: the lookup is answered and freed; 0: it still waits. */
static int answer_lookup(struct lookup *l)
{
    size_t n = 0, found = 0;
    pmix_pdata_t *data;

    for (; l->keys[n]; n++)
        found += *find(&l->proc, l->keys[n]) != NULL;
    if (found < l->needed)
        return 0;
    PMIX_PDATA_CREATE(data, n + 1);
    found = 0;
    for (size_t i = 0; data && i < n; i++) {
        struct name **at = find(&l->proc, l->keys[i]);

        if (!*at)
            continue;
        data[found].proc = (*at)->owner;
        PMIX_LOAD_KEY(data[found].key, l->keys[i]);
        PMIx_Value_xfer(&data[found].value, &(*at)->info.value);
        found++;
        if ((*at)->persistence == PMIX_PERSIST_FIRST_READ)
            remove_name(at);
    }
    l->answer(!data ? PMIX_ERR_NOMEM : found ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND, data, found, l->cbdata);
    PMIX_PDATA_FREE(data, n + 1);
    free(l);
    return 1;
}

/* Set the timer to the first end of a lookup. */
static void set_timer(void)
{
    double end_s = INFINITY, left_s;
    struct itimerspec t = { { 0, 0 }, { 0, 0 } };

    for (const struct lookup *l = lookups; l; l = l->next)
        end_s = fmin(end_s, l->end_s);
    if (!isinf(end_s)) {
        left_s = fmax(end_s - hrun_monotonic_s(), 1e-3);
        t.it_value.tv_sec = (time_t)left_s;
        t.it_value.tv_nsec = (long)(1e9 * (left_s - floor(left_s)));
    }
    timerfd_settime(timer, 0, &t, NULL);
}

/* 1 for a key that controls the publication and is not published itself, else 0. */
static int is_directive(const char *key)
{
    static const char *const keys[] = { PMIX_RANGE, PMIX_PERSISTENCE, PMIX_TIMEOUT, PMIX_USERID, PMIX_GRPID };

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!strcmp(key, keys[i]))
            return 1;
    return 0;
}

pmix_status_t pmix_publish(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t answer,
                           void *cbdata)
{
    int range = number_in_infos(info, ninfo, PMIX_RANGE, PMIX_RANGE_SESSION);
    int persistence = number_in_infos(info, ninfo, PMIX_PERSISTENCE, PMIX_PERSIST_APP);

    (void)answer, (void)cbdata;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < ninfo; i++) {
        struct name *x, **end = &names;

        if (is_directive(info[i].key))
            continue;
        x = xmalloc(sizeof *x);
        *x = (struct name){ NULL, *proc, range, persistence, PMIX_INFO_STATIC_INIT };
        PMIX_INFO_XFER(&x->info, &info[i]);
        while (*end)
            end = &(*end)->next;
        *end = x;
        for (struct lookup **at = &lookups; *at; ) {
            struct lookup *l = *at, *next = l->next;

            if (answer_lookup(l))
                *at = next;
            else
                at = &l->next;
        }
    }
    set_timer();
    pthread_mutex_unlock(&lock);
    return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t pmix_lookup(const pmix_proc_t *proc, char **keys, const pmix_info_t info[], size_t ninfo,
                          pmix_lookup_cbfunc_t answer, void *cbdata)
{
    int timeout_s = number_in_infos(info, ninfo, PMIX_TIMEOUT, 0);
    struct lookup *l = xcalloc(1, sizeof *l), **end = &lookups;
    size_t n = 0;

    while (keys[n])
        n++;
    *l = (struct lookup){ NULL, *proc, keys, 0, timeout_s > 0 ? hrun_monotonic_s() + timeout_s : INFINITY, answer,
                          cbdata };
    for (size_t i = 0; i < ninfo; i++)
        if (PMIX_CHECK_KEY(&info[i], PMIX_WAIT))
            l->needed = info[i].value.type == PMIX_INT && info[i].value.data.integer > 0 &&
                        (size_t)info[i].value.data.integer < n ? (size_t)info[i].value.data.integer : n;
    pthread_mutex_lock(&lock);
    if (!answer_lookup(l)) {
        while (*end)
            end = &(*end)->next;
        *end = l;
        set_timer();
    }
    pthread_mutex_unlock(&lock);
    return PMIX_SUCCESS;
}

/* Remove names of a process: those with these keys; keys = NULL: all, or with ended = 1 those that do not outlive the
 * process. */
static void remove_names(const pmix_proc_t *proc, char **keys, int ended)
{
    pthread_mutex_lock(&lock);
    for (struct name **at = &names; *at; ) {
        struct name *x = *at;
        int removed = !keys && (!ended || x->persistence == PMIX_PERSIST_PROC ||
                                x->persistence == PMIX_PERSIST_FIRST_READ);

        for (size_t i = 0; keys && keys[i]; i++)
            removed |= PMIX_CHECK_KEY(&x->info, keys[i]);
        if (removed && is_same_proc(proc, &x->owner))
            remove_name(at);
        else
            at = &x->next;
    }
    pthread_mutex_unlock(&lock);
}

pmix_status_t pmix_unpublish(const pmix_proc_t *proc, char **keys, const pmix_info_t info[], size_t ninfo,
                             pmix_op_cbfunc_t answer, void *cbdata)
{
    (void)info, (void)ninfo, (void)answer, (void)cbdata;
    remove_names(proc, keys, 0);
    return PMIX_OPERATION_SUCCEEDED;
}

void pmix_names_forget(const pmix_proc_t *proc)
{
    remove_names(proc, NULL, 1);
}

int pmix_names_timer(void)
{
    if (timer < 0)
        timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    return timer;
}

void pmix_names_tick(void)
{
    double now = hrun_monotonic_s();

    pthread_mutex_lock(&lock);
    for (struct lookup **at = &lookups; *at; ) {
        struct lookup *l = *at;

        if (l->end_s > now) {
            at = &l->next;
            continue;
        }
        *at = l->next;
        l->answer(PMIX_ERR_TIMEOUT, NULL, 0, l->cbdata);
        free(l);
    }
    set_timer();
    pthread_mutex_unlock(&lock);
}
