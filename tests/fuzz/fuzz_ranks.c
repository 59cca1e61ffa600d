/* fuzz_ranks.c - any text as what hrun tells the ranks through the environment: the bindings of HRUN_RANKS and the
 * network of libhrun-coll.so, which gets the count of its records that is right. Refused, the outputs untouched; or
 * entries and parameters that can be. */
#include "fuzz.h"

#include "launch/ranks.h"
#include "net/tune.h"

#include <math.h>

const char *const fuzz_seeds[] = {
    "0-3=0-7/8;4=8,24/1;5-9=", "0=0;1=1;2=;9=3", "0-1073741823=0/1073741823", "0-=1", "0=1/",
    "b,2,4,2,2,1,2,openmpi;o,0.1,1e-6,10,1;w,65536,0,1,8775,0.05,1;t,1024,65536,0.2;s,0,1,1;s,1024,2,0.5;"
    "c,0,1e-5,1e-9,0,1e8,0,1,1e-6,0;c,1,1e-5,1e-9,0,0,0,2,1,0,1,0,1,0,1,0;p,0,1,5e-5,1.25e8;g,0,0,1e7;"
    "h,0,0,0;h,1,1,0;r,0,1,0,0;r,2,3,1,1;f,gather,linear;", "b,2,1,1,1,1,1,x;s,0,1,1;"
    "c,0,0,0,0,0,0,1,0,0;h,0,0,0;r,0,0,0,0;",
    "b,2,2,2,2,1,1,x;s,0,1,1;c,0,0,0,0,0,0,1,0,0;c,1,0,0,0,0,0,2,0,0,0,0,0,0,0,0;h,0,1,0;r,0,0,0,1;h,0,0,0;",
    "b,2,50000,50000,1,1000,1,x;g,999,999,0;", NULL
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
    struct hrun_net_tuning *t;
    const struct hrun_net_ranks *w;
    int count = 0;

    for (const char *p = text; (p = strchr(p, ';')); p++)
        count++;
    hrun_buf_addf(&ended, "%se,%d", text, count);
    t = hrun_net_tuning_read(ended.data);
    hrun_buf_release(&ended);
    if (!t)
        return;
    w = &t->world;
    FUZZ_CHECK(w->n > 0 && t->net->nhosts > 0 && t->net->nsegments > 0 && t->net->segments[0].from_bytes == 0);
    for (int r = 0; r < w->n && r < 64; r++) {
        int last = w->n - 1;
        double s = hrun_net_p2p(t->net, w->host[r], w->kind[r], w->host[last], w->kind[last], 1024);

        FUZZ_CHECK(w->host[r] >= 0 && w->host[r] < t->net->nhosts && w->kind[r] >= 0);
        FUZZ_CHECK(w->kind[r] < t->net->classes[t->net->class_of[w->host[r]]].nkinds && (s >= 0 || isnan(s)));
    }
    hrun_net_tuning_destroy(t);
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
