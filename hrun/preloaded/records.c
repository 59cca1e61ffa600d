/* records.c - records of tuned operations for hrun's report; see coll.h and lib/net/net.h */
#include "coll.h"

#include "base/preloaded.h"
#include "base/trace_lines.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

/* Programs have a few such operations; what is more is counted. */
enum { RECORDS_MAX = 256 };

struct record {
    enum hrun_net_op op;
    int ranks, root, kept;
    long calls;
    double bytes, segment, time_s[2];
    char way[16];
};

/* A preloaded library has no other place for it. Threads may do operations on communicators of their own. */
static struct {
    pthread_mutex_t lock;
    struct record v[RECORDS_MAX];
    int n, more;
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* 1 if a report is wanted and this is rank 0 of the world, which alone reports its own operations; else 0. */
static int is_reporter(const struct coll_comm *c)
{
    int rank = -1;

    if (!c->tuning->options.tell)
        return 0;
    coll_mpi()->Comm_rank(coll_mpi()->world, &rank);
    return rank == 0;
}

int coll_record_begin(const struct coll_comm *c, const struct coll_entry *e, enum coll_fate fate)
{
    int n = -1;

    if (!is_reporter(c))
        return -1;
    pthread_mutex_lock(&all.lock);
    if (all.n < RECORDS_MAX) {
        const struct hrun_net *net = c->tuning->net;
        struct record *r = &all.v[all.n++];

        *r = (struct record){ .op = e->op, .ranks = c->ranks.n, .root = e->root, .kept = fate, .bytes = e->bytes,
                              .segment = e->choice.segment };
        if (e->bytes < 0 && e->op == HRUN_NET_GATHER)
            r->segment = coll_piece(net, net->thresholds.gather_M2);
        snprintf(r->way, sizeof r->way, "%s", e->choice.way);
        n = all.n;
    } else {
        all.more++;
    }
    pthread_mutex_unlock(&all.lock);
    return n;
}

void coll_record_end(int record, int kept, const double time_s[2])
{
    if (record <= 0)
        return;
    pthread_mutex_lock(&all.lock);
    all.v[record - 1].kept = kept;
    all.v[record - 1].time_s[0] = time_s[0];
    all.v[record - 1].time_s[1] = time_s[1];
    pthread_mutex_unlock(&all.lock);
}

void coll_record_call(int record)
{
    if (record <= 0)
        return;
    pthread_mutex_lock(&all.lock);
    all.v[record - 1].calls++;
    pthread_mutex_unlock(&all.lock);
}

__attribute__((format(printf, 1, 2))) static void print_line(const char *fmt, ...)
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
    hrun_preloaded_write(STDERR_FILENO, line, (size_t)len);
}

void coll_records_print(void)
{
    for (int i = 0; i < all.n; i++) {
        const struct record *r = &all.v[i];

        print_line(HRUN_COLL_REPORT "k,%s,%d,%d,%.17g,%s,%.17g,%d,%ld,%.6g,%.6g", hrun_net_op_name(r->op), r->ranks,
                   r->root, r->bytes, r->way, r->segment, r->kept, r->calls, r->time_s[0], r->time_s[1]);
    }
    if (all.more)
        print_line(HRUN_COLL_REPORT "m,%d", all.more);
    all.n = all.more = 0;
}
