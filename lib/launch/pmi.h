/* pmi.h - the server of PMI-1, the protocol of MPICH's family */
#ifndef HRUN_LAUNCH_PMI_H
#define HRUN_LAUNCH_PMI_H

#include "base/error.h"
#include "launch/guard.h"
#include "layout/layout.h"

#include <poll.h>

struct hrun_pmi;

/* Callbacks of a server: report passes events of the ranks on, send delivers answers to them. send = NULL: the ranks
 * have connections (hrun_pmi_connect). */
struct hrun_pmi_owner {
    void (*report)(void *ctx, const struct hrun_guard_event *ev);
    void (*send)(void *ctx, int rank, const char *data, size_t len);
    void *ctx;
};

/* Create the server of a layout's ranks; the layout need not outlive the call. apps: the number of each rank's program,
 * an array that outlives the server; NULL: all 0. */
struct hrun_pmi *hrun_pmi_create(const struct hrun_layout *l, const int *apps, const struct hrun_pmi_owner *owner);
/* Give each rank a connection: fds[nranks] get their ends, close-on-exec, which the caller closes. Errors: HRUN_EIO;
 * fds are closed then. */
int hrun_pmi_connect(struct hrun_pmi *p, int *fds, struct hrun_error *err);
void hrun_pmi_destroy(struct hrun_pmi *p);
/* Fill polled[nranks] for poll(2). hrun_pmi_handle reads and writes as poll has set them. */
void hrun_pmi_poll(const struct hrun_pmi *p, struct pollfd *polled);
void hrun_pmi_handle(struct hrun_pmi *p, const struct pollfd *polled);
/* Process data from a rank. The server reports a rank that breaks the protocol, and ignores it from then on. */
void hrun_pmi_feed(struct hrun_pmi *p, int rank, const char *data, size_t len);
/* Report and ignore a rank that has left more than HRUN_PMI_UNREAD_MAX bytes (frames.h) of answers unread. */
void hrun_pmi_unread(struct hrun_pmi *p, int rank);

#endif
