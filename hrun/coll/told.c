/* told.c - what was tuned, for hrun to say at the end; see coll.h and lib/net/collwire.h */
#include "coll.h"

#include "base/preloaded.h"
#include "net/collwire.h"
#include "trace/wire.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

/* Programs have a few such operations; what is more is counted. */
enum { TOLD_MAX = 256 };

struct told {
    enum coll_op op;
    int ranks, root, kept;
    long calls;
    double bytes, segment, time_s[2];
    char way[16];
};

/* A preloaded library has no other place for it. Threads may do operations on communicators of their own. */
static struct {
    pthread_mutex_t lock;
    struct told v[TOLD_MAX];
    int n, more;
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Only what rank 0 of the world does can be told by it. */
static int is_teller(const struct coll_comm *c)
{
    int rank = -1;

    if (!c->net->tell)
        return 0;
    coll_mpi()->Comm_rank(coll_mpi()->world, &rank);
    return rank == 0;
}

int coll_told_begin(const struct coll_comm *c, const struct coll_entry *e, enum coll_fate fate)
{
    int n = -1;

    if (!is_teller(c))
        return -1;
    pthread_mutex_lock(&all.lock);
    if (all.n < TOLD_MAX) {
        struct told *t = &all.v[all.n++];

        *t = (struct told){ .op = e->op, .ranks = c->ranks.n, .root = e->root, .kept = fate, .bytes = e->bytes,
                            .segment = e->bytes < 0 && e->op == COLL_GATHER ? coll_piece(c->net, c->net->M2)
                                       : e->choice.segment };
        snprintf(t->way, sizeof t->way, "%s", e->choice.way);
        n = all.n;
    } else {
        all.more++;
    }
    pthread_mutex_unlock(&all.lock);
    return n;
}

void coll_told_end(int told, int kept, const double time_s[2])
{
    if (told <= 0)
        return;
    pthread_mutex_lock(&all.lock);
    all.v[told - 1].kept = kept;
    all.v[told - 1].time_s[0] = time_s[0];
    all.v[told - 1].time_s[1] = time_s[1];
    pthread_mutex_unlock(&all.lock);
}

void coll_told_call(int told)
{
    if (told <= 0)
        return;
    pthread_mutex_lock(&all.lock);
    all.v[told - 1].calls++;
    pthread_mutex_unlock(&all.lock);
}

__attribute__((format(printf, 1, 2))) static void tell(const char *fmt, ...)
{
    char body[HRUN_TRACE_LINE / 2], line[HRUN_TRACE_LINE];
    va_list ap;
    int len;

    va_start(ap, fmt);
    len = vsnprintf(body, sizeof body, fmt, ap);
    va_end(ap);
    if (len < 0 || (size_t)len >= sizeof body)
        return;
    len = snprintf(line, sizeof line, "%s%s %08" PRIx32 "\n", HRUN_TRACE_MARK, body,
                   hrun_trace_check(body, (unsigned long)len));
    hrun_preloaded_write(line, (size_t)len);
}

void coll_told_tell(void)
{
    for (int i = 0; i < all.n; i++) {
        const struct told *t = &all.v[i];

        tell(HRUN_COLL_TOLD "k,%s,%d,%d,%.17g,%s,%.17g,%d,%ld,%.6g,%.6g", coll_op_names[t->op], t->ranks, t->root,
             t->bytes, t->way, t->segment, t->kept, t->calls, t->time_s[0], t->time_s[1]);
    }
    if (all.more)
        tell(HRUN_COLL_TOLD "m,%d", all.more);
    all.n = all.more = 0;
}
