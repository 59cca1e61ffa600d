/* fuzz_ranks.c - any text as what hrun tells the ranks through the environment: the bindings of HRUN_RANKS and the
 * network of libhrun-coll.so, which gets the count of its records that is right. Refused, the outputs untouched; or
 * entries and parameters that can be. */
#include "fuzz.h"

#include "../../hrun/coll/net.c"     /* else built without our sanitizers, for users' programs */
#include "launch/ranks.h"

#include <math.h>

const char *const fuzz_seeds[] = {
    "0-3=0-7/8;4=8,24/1;5-9=", "0=0;1=1;2=;9=3", "0-1073741823=0/1073741823", "0-=1", "0=1/",
    "b,1,4,2,2,1,65536,0.1,1e-6,10;t,1024,65536,0.2;s,0,1,1;s,1024,2,0.5;c,0,1e-5,1e-9,0,1e8,0,1,1e-6,0;c,1,1e-5,1e-"
    "9,0,0,0,2,"
    "1,0,1,0,1,0,1,0;p,0,1,5e-5,1.25e8;g,0,0,1e7;h,0,0,0;h,1,1,0;r,0,1,0,0;r,2,3,1,1;u,bcast,4,1024,binomial;"
    "f,gather,linear;v,1;", "b,1,1,1,1,1,0,0,0,0;s,0,1,1;c,0,0,0,0,0,0,1,0,0;h,0,0,0;r,0,0,0,0;",
    "b,1,1,2,2,1,0,0,0,0;s,0,1,1;c,0,0,0,0,0,0,1,0,0;c,1,0,0,0,0,0,2,0,0,0,0,0,0,0,0;h,0,1,0;r,0,0,0,1;h,0,0,0;",
    "b,1,1,50000,1,50000,0,0,0,0;g,49999,49999,0;", NULL
};

/* The one variable that there is. */
static const char *text;

static char *lookup(const char *name)
{
    return strcmp(name, HRUN_RANKS_VARIABLE) ? NULL : (char *)(uintptr_t)text;
}

static void check_entry(int rank)
{
    struct hrun_ranks_entry e = { (char *)(uintptr_t)text, -4711 };
    struct hrun_error err = { 0 };

    if (hrun_ranks_find(lookup, rank, &e, &err)) {
        FUZZ_CHECK((err.code == HRUN_EPARSE || err.code == HRUN_ENOENT) && err.text[0]);
        FUZZ_CHECK(e.cpuset == text && e.threads == -4711);
        return;
    }
    FUZZ_CHECK(e.threads >= 0 && !e.cpuset[strspn(e.cpuset, "0123456789,-")]);
    free(e.cpuset);
}

static void check_net(void)
{
    struct hrun_buf ended = HRUN_BUF_INIT;
    struct coll_net *n;
    int count = 0;

    for (const char *p = text; (p = strchr(p, ';')); p++)
        count++;
    hrun_buf_addf(&ended, "%se,%d", text, count);
    n = coll_net_read(ended.data);
    hrun_buf_release(&ended);
    if (!n)
        return;
    FUZZ_CHECK(n->nranks > 0 && n->nhosts > 0 && n->nsegments > 0 && n->segments[0].from == 0);
    for (int r = 0; r < n->nranks && r < 64; r++) {
        int last = n->nranks - 1;
        double s = coll_p2p(n, n->host[r], n->kind[r], n->host[last], n->kind[last], 1024);

        FUZZ_CHECK(n->host[r] >= 0 && n->host[r] < n->nhosts && n->kind[r] >= 0);
        FUZZ_CHECK(n->kind[r] < n->classes[n->class_of[n->host[r]]].nkinds && (s >= 0 || s == -1));
    }
    coll_net_free(n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hrun_buf b = HRUN_BUF_INIT;

    hrun_buf_add(&b, data, size);
    text = b.data;
    check_entry(0);
    check_entry(4);
    check_entry(0x3fffffff);
    check_net();
    hrun_buf_release(&b);
    return 0;
}
