/* test_service_nomem.c - lib/session when memory runs out: each allocation of a question fails once, in turn */
#include "nomem.h"

#include "store.h"

static struct hrun_answer *ask(struct hrun_service *s, int64_t N, int way, struct hrun_error *err)
{
    return way == 0 ? hrun_service_predict(s, "(2,1,4,1)", N, err)
           : hrun_service_best(s, N, way == 1 ? NULL : "objective=cost limit=within=50 top=9", err);
}

/* Do they say the same? What could do without some memory must not have become another answer. */
static int is_same(const struct hrun_answer *a, const struct hrun_answer *b)
{
    int same = a && b && hrun_answer_count(a) == hrun_answer_count(b);

    for (int k = 0; same && k < hrun_answer_count(a); k++)
        same = !strcmp(hrun_answer_config(a, k), hrun_answer_config(b, k)) &&
               hrun_answer_time_s(a, k) == hrun_answer_time_s(b, k) &&
               hrun_answer_low_s(a, k) == hrun_answer_low_s(b, k) &&
               hrun_answer_high_s(a, k) == hrun_answer_high_s(b, k) &&
               hrun_answer_cost(a, k) == hrun_answer_cost(b, k);
    return same;
}

/* Some of the allocations, all of the first ones: there are thousands. */
enum { DENSE = 100, STEP = 13 };

/* The size is a new one each time, so that nothing of it is known yet. */
static void try_way(struct hrun_service *s, int way)
{
    static const char *const ways[] = { "a prediction", "the best", "the best by wishes" };
    long n, failed = 0, odd = 0, other = 0;
    int more = 1;

    for (n = 1; more && n < 100000; n += n < DENSE ? 1 : STEP + way) {
        int64_t N = 1000 + 10000 * way + n;
        struct hrun_error err = { 0 };
        struct hrun_answer *a, *b;

        calls = 0;
        fail_at = n;
        a = ask(s, N, way, &err);
        fail_at = 0;
        more = calls >= n;
        failed += !a;
        odd += !a && err.code != HRUN_ENOMEM && err.sys != ENOMEM;
        b = ask(s, N, way, &err);
        other += a ? !is_same(a, b) : !b;
        hrun_answer_destroy(a);
        hrun_answer_destroy(b);
    }
    if (!REPLACED) {
        printf("ok %d - %s # SKIP another allocator is in place\n", ++tap_count, ways[way]);
        return;
    }
    ok(!more && failed > 20, "%s without memory: %ld allocations fail", ways[way], failed);
    is_int(odd, 0, "each is told as such");
    is_int(other, 0, "what did not fail is not another answer, and what failed can be asked again");
}

/* The last allocations of a question whose answer is cheaper than the quickest configuration, and within its interval:
 * the same question each time, of a service that knows nothing yet. */
static void try_interval(const struct place *p)
{
    enum { LAST = 150 };
    long total = LAST, failed = 0, other = 0;
    struct hrun_answer *want = NULL;

    for (long n = 0; n <= LAST; n++) {
        struct hrun_service *s = set_up_open(p, p->cluster);
        struct hrun_error err = { 0 };
        struct hrun_answer *a;

        calls = 0;
        fail_at = n ? total - LAST + n : 0;
        a = hrun_service_best(s, 220, "objective=cost limit=within=interval", &err);
        fail_at = 0;
        if (!n) {
            total = calls;
            want = a;
        } else {
            failed += !a;
            other += a && !is_same(a, want);
            hrun_answer_destroy(a);
        }
        hrun_service_destroy(s);
    }
    hrun_answer_destroy(want);
    if (REPLACED)
        is_int(other, 0, "an interval without memory: no other answer, %ld allocations fail", failed);
}

int main(void)
{
    struct hrun_service *s;
    struct place p;

    make_place(&p);
    s = set_up_open(&p, p.cluster);
    for (int way = 0; way < 3; way++)
        try_way(s, way);
    hrun_service_destroy(s);
    try_interval(&p);
    hrun_remove_tree(p.dir);
    return tap_done();
}
