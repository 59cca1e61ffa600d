/* records.c - records of tuned operations for hrun's report; see coll.h and lib/net/net.h */
#include "coll.h"

#include "base/preloaded.h"
#include "base/trace_lines.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

/* Programs have a few such operations; further ones are only counted. */
enum { RECORDS_MAX = 256 };

/* A preloaded library has no other place for its state. Threads may use different communicators at once. */
static struct {
    pthread_mutex_t lock;
    struct coll_record v[RECORDS_MAX];
    int n, more;
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

struct coll_record *coll_record_begin(const struct coll_comm *c, const struct coll_entry *e, enum coll_fate fate)
{
    struct coll_record *r = NULL;
    const struct hrun_net *net = c->tuning->net;
    int rank = -1;

    if (c->tuning->options.tell)
        coll_mpi()->Comm_rank(coll_mpi()->world, &rank);
    if (rank != 0)
        return NULL;
    pthread_mutex_lock(&all.lock);
    if (all.n < RECORDS_MAX) {
        r = &all.v[all.n++];
        *r = (struct coll_record){ .op = e->op, .ranks = c->ranks.n, .root = e->root, .kept = fate, .bytes = e->bytes,
                                   .segment = e->choice.segment };
        if (e->bytes < 0 && e->op == HRUN_NET_GATHER)
            r->segment = coll_piece(net, net->thresholds.gather_M2);
        snprintf(r->way, sizeof r->way, "%s", e->choice.way);
    } else {
        all.more++;
    }
    pthread_mutex_unlock(&all.lock);
    return r;
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
        const struct coll_record *r = &all.v[i];

        print_line(HRUN_COLL_REPORT "k,%s,%d,%d,%.17g,%s,%.17g,%d,%ld,%.6g,%.6g", hrun_net_op_name(r->op), r->ranks,
                   r->root, r->bytes, r->way, r->segment, r->kept, r->calls, r->time_s[0], r->time_s[1]);
    }
    if (all.more)
        print_line(HRUN_COLL_REPORT "m,%d", all.more);
    all.n = all.more = 0;
}
