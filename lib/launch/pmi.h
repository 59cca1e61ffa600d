/* pmi.h - the server of PMI-1, the protocol of MPICH's family */
#ifndef HRUN_LAUNCH_PMI_H
#define HRUN_LAUNCH_PMI_H

#include "base/error.h"
#include "launch/guard.h"
#include "layout/layout.h"

#include <poll.h>

struct hrun_pmi;

/* Who a server tells what ranks do, and who brings its answers to them. send = NULL: they have connections. */
struct hrun_pmi_owner {
    void (*report)(void *ctx, const struct hrun_guard_event *ev);
    void (*send)(void *ctx, int rank, const char *data, size_t len);
    void *ctx;
};

/* For the ranks of a layout, which is not kept. apps: the number of each rank's program, an array that outlives the
 * server; NULL: all 0. */
struct hrun_pmi *hrun_pmi_create(const struct hrun_layout *l, const int *apps, const struct hrun_pmi_owner *owner);
/* Give each rank a connection: fds[nranks] get their ends, close-on-exec, which the caller closes. Errors: HRUN_EIO;
 * fds are closed then. */
int hrun_pmi_connect(struct hrun_pmi *p, int *fds, struct hrun_error *err);
void hrun_pmi_destroy(struct hrun_pmi *p);
/* Fill polled[nranks] for poll(2); do what it has found possible. */
void hrun_pmi_poll(const struct hrun_pmi *p, struct pollfd *polled);
void hrun_pmi_handle(struct hrun_pmi *p, const struct pollfd *polled);
/* What a rank has sent, as _handle does it. A rank that breaks the protocol is reported and not listened to again. */
void hrun_pmi_feed(struct hrun_pmi *p, int rank, const char *data, size_t len);
/* It does not read its answers, of which HRUN_PMI_UNREAD_MAX bytes (frames.h) may wait: the same. */
void hrun_pmi_unread(struct hrun_pmi *p, int rank);

#endif
