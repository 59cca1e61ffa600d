/* coll_tuning.c - preload libhrun-coll.so, and get its report; see coll_tuning.h for the contracts */
#include "session/coll_tuning.h"

#include "base/trace_lines.h"
#include "base/alloc.h"
#include "base/file.h"
#include "net/tune.h"
#include "session/context_network.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tune_release(struct tune *t)
{
    free(t->library);
    hrun_buf_release(&t->lines);
    hrun_buf_release(&t->text);
    *t = (struct tune){ .tell = t->tell, .lines = HRUN_BUF_INIT, .text = HRUN_BUF_INIT };
}

/* The reason, other than the network, why this program cannot be tuned; NULL: there is none. */
static const char *why_not_tuned(const struct tune *t, const struct context *c, const struct hrun_layout *l)
{
    if (c->engine->simulated)
        return "nothing can be preloaded into simulated programs";
    if (c->mpi.kind == HRUN_MPI_MPICH)
        return "only programs of Open MPI can be tuned";
    if (!t->library)
        return "libhrun-coll.so is not where hrun is installed (make install)";
    if (l->nranks < 2)
        return "there is one process alone";
    return NULL;
}

/* Set t->text for the ranks of a layout. Errors: HRUN_ENODATA (the network lacks a host), those of hrun_net_tune. */
static int add_tuning_text(struct tune *t, const struct hrun_net *net, const struct hrun_layout *l,
                           struct hrun_error *err)
{
    struct hrun_net_tune_options options = HRUN_NET_TUNE_DEFAULT;
    autofree int *host = xmalloc((size_t)l->nranks * 2 * sizeof *host);
    int *kind = host + l->nranks;
    struct hrun_net_ranks ranks = { l->nranks, host, kind };

    for (int r = 0; r < l->nranks; r++) {
        host[r] = hrun_net_find(net, l->cluster->hosts[l->ranks[r].host].name);
        if (host[r] < 0)
            return hrun_fail(err, HRUN_ENODATA, "the network has no host %s",
                             l->cluster->hosts[l->ranks[r].host].name);
        kind[r] = hrun_net_kind(net, host[r], l->cluster->subs[l->ranks[r].sub].kind);
    }
    options.tell = t->tell;
    return hrun_net_tune(net, &ranks, &options, &t->text, err);
}

void tune_add_preload(struct tune *t, struct context *c, const struct hrun_layout *l, struct hrun_job *job)
{
    autorelease(hrun_buf_release) struct hrun_buf note = HRUN_BUF_INIT, command = HRUN_BUF_INIT;
    struct hrun_error why = { 0 };
    const char *reason;
    int rc;

    tune_release(t);
    t->library = hrun_installed_library("libhrun-coll.so");
    reason = why_not_tuned(t, c, l);
    if (reason) {
        snprintf(t->why, sizeof t->why, "%s", reason);
        return;
    }
    rc = network_load(c, &note, &why);
    network_command(c, &command);
    if (!rc && !c->net)
        snprintf(t->why, sizeof t->why, "the network of these hosts was not measured%s%s; measure it: %s",
                 note.len ? ": " : "", note.data, command.data);
    else if (!rc)
        rc = add_tuning_text(t, c->net, l, &why);
    if (rc)
        snprintf(t->why, sizeof t->why, "%s", why.text);
    if (!t->why[0]) {
        job->preloads.v[job->preloads.n++] = (struct hrun_preload){ t->library, HRUN_COLL_VARIABLE, t->text.data };
        if (t->tell && !job->output.trace_text)
            job->output.trace_text = &t->lines;
    }
}

void tune_collect_report(struct tune *t, struct hrun_buf *trace_text)
{
    struct hrun_buf rest = HRUN_BUF_INIT;

    if (!trace_text || trace_text == &t->lines)
        return;
    for (const char *line = trace_text->data, *end; line && (end = strchr(line, '\n')); line = end + 1)
        hrun_buf_add(!strncmp(line, HRUN_COLL_REPORT, sizeof HRUN_COLL_REPORT - 1) ? &t->lines : &rest, line,
                     (size_t)(end - line) + 1);
    hrun_buf_release(trace_text);
    *trace_text = rest;
}
