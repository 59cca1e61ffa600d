/* placement.c - where ranks go; see decide.h */
#include "session/decide.h"

#include "base/units.h"
#include "session/context.h"

#include <stdlib.h>
#include <string.h>

/* What keeps a declared pattern from counting is said, not failed for: the plain order is as good as it was. */
static int explain(struct placed *out, const char *why, struct hrun_error *err)
{
    out->why_not = strdup(why);
    return out->why_not ? 0 : hrun_fail_nomem(err);
}

static int search(const struct context *c, const struct decision *d, struct placed *out, struct hrun_error *err)
{
    const struct hrun_placement_request req = {
        .cluster = c->cluster, .pes = d->pes, .procs = d->procs,
        .pattern = (enum hrun_pattern)hrun_pattern_find(c->app->pattern), .net = c->net, .bytes = HRUN_PLACEMENT_BYTES,
        .worth = HRUN_PLACEMENT_WORTH, .steps = HRUN_PLACEMENT_STEPS,
        .busy = c->busy
    };
    struct hrun_error why = { 0 };

    out->known = !hrun_placement_find(&req, &out->p, &why);
    if (out->known)
        return 0;
    if (why.code == HRUN_ENOENT || why.code == HRUN_ENODATA)
        return explain(out, why.text, err);
    if (err)
        *err = why;
    return -1;
}

int placement_choose(struct context *c, const struct decision *d, struct placed *out, struct hrun_error *err)
{
    struct hrun_buf note = HRUN_BUF_INIT;
    int rc;

    if (!c->app || !c->app->pattern || !d->has_config)
        return 0;
    out->pattern = c->app->pattern;
    if (c->cluster->ngroups > 1)
        return explain(out, "the ranks of a heterogeneous job follow its components", err);
    rc = network_load(c, &note, err);
    if (!rc && c->net)
        rc = search(c, d, out, err);
    else if (!rc) {
        if (!note.len) {
            hrun_buf_adds(&note, "the network was not measured (");
            network_command(c, &note);
            hrun_buf_addc(&note, ')');
        }
        rc = note.failed ? hrun_fail_nomem(err) : explain(out, note.data, err);
    }
    hrun_buf_release(&note);
    return rc;
}

void placement_release(struct placed *p)
{
    hrun_placement_release(&p->p);
    free(p->why_not);
    *p = (struct placed){ .pattern = NULL };
}

int placement_fill_threads(const struct context *c, struct hrun_layout *layout, struct hrun_error *err)
{
    int least = INT_MAX;

    if (!c->app || !c->app->threads_fill)
        return 0;
    if (hrun_layout_fill_threads(layout, err))
        return -1;
    for (int r = 0; r < layout->nranks; r++)
        least = layout->ranks[r].threads < least ? layout->ranks[r].threads : least;
    if (c->app->threads || c->problem || !*c->app->file) {  /* without a definition all have as many as the least has */
        for (int r = 0; r < layout->nranks; r++)
            layout->ranks[r].threads = c->app->threads ? 0 : least;
        layout->uneven_threads = 0;
    }
    return 0;
}

int placement_layout(const struct context *c, const struct decision *d, const struct placed *p,
                     struct hrun_layout **out, struct hrun_error *err)
{
    struct hrun_layout *l = !d->has_config ? hrun_layout_plain(c->cluster, d->P, d->pes, c->busy, err)
                            : p->p.order   ? hrun_layout_create_placed(c->cluster, d->pes, d->procs, p->p.order, err)
                                           : hrun_layout_create_free(c->cluster, d->pes, d->procs, c->busy, err);

    if (!l || placement_fill_threads(c, l, err)) {
        hrun_layout_destroy(l);
        return -1;
    }
    *out = l;
    return 0;
}

int placement_map(struct context *c, const struct question *q, const struct hrun_mapping *m, struct hrun_layout **out,
                  struct hrun_error *err)
{
    int *npes = calloc((size_t)c->cluster->nsubs + 1, sizeof *npes), rc = -1;
    struct hrun_layout *l = NULL;

    if (!npes)
        return hrun_fail_nomem(err);
    if (!context_use(c->cluster, q->use, npes, err) &&
        (l = hrun_layout_map(c->cluster, m, (int)q->procs, q->oversubscribe, npes, c->busy, err)))
        rc = placement_fill_threads(c, l, err);
    free(npes);
    if (rc)
        hrun_layout_destroy(l);
    else
        *out = l;
    return rc;
}

int placement_bind(struct context *c, const struct question *q, const struct hrun_mapping *m, struct hrun_layout *l,
                   struct hrun_error *err)
{
    int *npes = calloc((size_t)c->cluster->nsubs + 1, sizeof *npes), rc;

    if (!npes)
        return hrun_fail_nomem(err);
    rc = context_use(c->cluster, q->use, npes, err) || hrun_layout_bind(l, c->cluster, m, npes, c->busy, err) ||
         placement_fill_threads(c, l, err) ? -1 : 0;
    free(npes);
    return rc;
}

/* By what is gained more: the slowest message, or all of them. */
static void add_gain(const struct hrun_placement *p, struct hrun_buf *out)
{
    int slowest = p->cost.slowest_s / p->plain.slowest_s <= p->cost.sum_s / p->plain.sum_s;

    hrun_buf_adds(out, slowest ? "the slowest message takes " : "all messages together take ");
    hrun_add_seconds(out, slowest ? p->cost.slowest_s : p->cost.sum_s);
    hrun_buf_adds(out, " in place of ");
    hrun_add_seconds(out, slowest ? p->plain.slowest_s : p->plain.sum_s);
}

void placement_print(const struct placed *p, struct hrun_buf *out)
{
    if (!p->pattern)
        return;
    if (!p->known) {
        hrun_buf_addf(out, "%s, in the plain order: %s", p->pattern, p->why_not);
        return;
    }
    hrun_buf_adds(out, p->pattern);
    /* Where each host is behind a switch of its own, as far as was seen, switches tell nothing. */
    if (p->p.ngroups > 1 && p->p.ngroups < p->p.nhosts) {
        hrun_buf_addf(out, " over %d switches: %lld crossing%s", p->p.ngroups, p->p.cost.crossings,
                      p->p.cost.crossings == 1 ? "" : "s");
        if (p->p.changed)
            hrun_buf_addf(out, " in place of %lld", p->p.plain.crossings);
        hrun_buf_adds(out, "; ");
    } else {
        hrun_buf_adds(out, ": ");
    }
    if (!p->p.changed)
        hrun_buf_adds(out, "no order is better than the plain one");
    else
        add_gain(&p->p, out);
}

json_t *placement_json(const struct placed *p)
{
    if (!p->pattern)
        return json_null();
    if (!p->known)
        return json_pack("{s:s, s:b, s:s}", "pattern", p->pattern, "changed", 0, "why_not", p->why_not);
    return json_pack("{s:s, s:b, s:i, s:I, s:I, s:I, s:f, s:f, s:b}", "pattern", p->pattern, "changed", p->p.changed,
                     "switches", p->p.ngroups, "messages", (json_int_t)p->p.messages, "crossings",
                     (json_int_t)p->p.cost.crossings, "plain_crossings", (json_int_t)p->p.plain.crossings, "slowest_s",
                     p->p.cost.slowest_s, "plain_slowest_s", p->p.plain.slowest_s, "exact", p->p.exact);
}
