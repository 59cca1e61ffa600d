/* context_network.c - find and load the network of the cluster's hosts; see context_network.h */
#include "session/context_network.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/list.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Limit as in lib/cluster: a platform file has some KiB, or some MiB with thousands of hosts. */
static const size_t PLATFORM_MAX = (size_t)64 << 20;

/* Parameters of Open MPI that choose links and their use begin with link_prefixes. All parameters of SimGrid belong to
 * the network except those of computation and algorithms (ignored_prefixes). */
static const char *const link_prefixes[] = { "btl", "pml", "mtl", "opal_", "ucx", NULL };
static const char *const ignored_prefixes[] = {
    "smpi/coll-selector", "smpi/host-speed", "smpi/simulate-computation", NULL,
};

/* Append the program's MPI. If the program shows none (a script), append the Open MPI of the engine or of this host. */
static void add_mpi_of_network(const struct context *c, struct hrun_buf *out)
{
    struct hrun_openmpi m = c->openmpi;

    if (c->mpi.kind == HRUN_MPI_OPENMPI || c->mpi.kind == HRUN_MPI_SMPI) {
        hrun_buf_adds(out, c->mpi.id);
        return;
    }
    if (m.version[0] || hrun_openmpi_find(&m, NULL) == 0)
        hrun_buf_addf(out, "ompi-%s", m.version);
    else
        hrun_buf_adds(out, c->mpi.id);
}

int network_key(const struct context *c, struct network_key *out, struct hrun_error *err)
{
    const struct hrun_strvec *mca = &c->set->job.mca, *smpi = &c->set->job.smpi;
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;

    hrun_buf_init(&out->engine);
    hrun_buf_init(&out->mpi);
    out->nhosts = c->cluster->nhosts;
    out->hosts = xcalloc((size_t)out->nhosts + 1, sizeof *out->hosts);
    for (int i = 0; i < out->nhosts; i++)
        out->hosts[i] = c->cluster->hosts[i].name;
    if (c->cluster->platform && hrun_file_read(c->cluster->platform, PLATFORM_MAX, &text, err))
        return -1;
    if (c->cluster->platform)
        hrun_buf_addf(&out->engine, "smpi %08lx", crc32(0, (const unsigned char *)text.data, (unsigned)text.len));
    else
        hrun_buf_adds(&out->engine, "real");
    for (size_t i = 0; i < mca->n; i++)
        if (hrun_begins_with(mca->v[i], link_prefixes))
            hrun_buf_addf(&out->engine, " %s", mca->v[i]);
    for (size_t i = 0; i < smpi->n; i++)
        if (!hrun_begins_with(smpi->v[i], ignored_prefixes))
            hrun_buf_addf(&out->engine, " %s", smpi->v[i]);
    add_mpi_of_network(c, &out->mpi);
    return 0;
}

void network_key_release(struct network_key *k)
{
    hrun_buf_release(&k->engine);
    hrun_buf_release(&k->mpi);
    free(k->hosts);
}

int network_find(const struct context *c, struct hrun_net **out, struct hrun_buf *file, struct hrun_buf *note,
                 struct hrun_error *err)
{
    autorelease(network_key_release) struct network_key k = { .engine = HRUN_BUF_INIT, .mpi = HRUN_BUF_INIT };

    *out = NULL;
    if (!c->store)
        return 0;
    if (network_key(c, &k, err))
        return -1;
    *out = hrun_net_choose(hrun_store_dir(c->store),
                           &(struct hrun_net_origin){ k.hosts, k.nhosts, k.engine.data, k.mpi.data }, file, note);
    return 0;
}

static int load_supposed(const struct context *c, struct hrun_net **out, struct hrun_error *err)
{
    const char *file = c->set->network;
    struct hrun_net *net;

    if (hrun_net_load(file, &net, err))
        return -1;
    for (int i = 0; i < c->cluster->nhosts; i++)
        if (hrun_net_find(net, c->cluster->hosts[i].name) < 0) {
            hrun_net_destroy(net);
            return hrun_fail_at(err, HRUN_ENODATA, file, 0, 0, "this network has no host %s: name hosts that it has "
                                "(--host), or add it", c->cluster->hosts[i].name);
        }
    *out = net;
    return 0;
}

int network_load(struct context *c, struct hrun_buf *note, struct hrun_error *err)
{
    if (c->net)
        return 0;
    return c->set->network ? load_supposed(c, &c->net, err) : network_find(c, &c->net, NULL, note, err);
}

int network_use(struct context *c, struct hrun_buf *note, struct hrun_error *err)
{
    if (c->view || !c->app || (!hrun_app_has_network(c->app) && !hrun_family_of(c->app)->uses_network))
        return 0;
    if (!c->net && network_find(c, &c->net, NULL, note, err))
        return -1;
    if (!c->net && c->set->network && load_supposed(c, &c->net, err))
        return -1;
    if (!c->net)
        return 0;
    c->view = hrun_netview_create(c->net, c->cluster, err);
    return c->view ? 0 : -1;
}

int network_suppose(struct context *c, struct hrun_error *err)
{
    struct hrun_net *net;
    struct hrun_netview *view;

    if (!c->set->network || !c->view || c->measured)
        return 0;
    if (load_supposed(c, &net, err))
        return -1;
    view = hrun_netview_create(net, c->cluster, err);
    if (!view) {
        hrun_net_destroy(net);
        return -1;
    }
    c->measured_net = c->net;
    c->measured = c->view;
    c->net = net;
    c->view = view;
    return 0;
}

void network_command(const struct context *c, struct hrun_buf *out)
{
    const struct settings *g = c->set;
    const struct hrun_strvec *mca = &g->job.mca, *smpi = &g->job.smpi;
    const struct { const char *option, *value; } given[] = {
        { "--hostfile", g->machine.host_file }, { "--host", g->machine.hosts },
        { "--cluster", g->machine.cluster_file }, { "--platform", g->machine.platform },
        { "--engine", g->job.engine }, { "--data", g->data }
    };

    hrun_buf_adds(out, "hrun-calibrate network");
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (given[i].value) {
            hrun_buf_addf(out, " %s ", given[i].option);
            hrun_buf_add_shell(out, given[i].value);
        }
    for (size_t i = 0; i < smpi->n; i++) {
        hrun_buf_adds(out, " --smpi ");
        hrun_buf_add_shell(out, smpi->v[i]);
    }
    for (size_t i = 0; i < mca->n; i++) {
        size_t key = strcspn(mca->v[i], "=");

        hrun_buf_addf(out, " --mca %.*s ", (int)key, mca->v[i]);
        hrun_buf_add_shell(out, mca->v[i] + key + (mca->v[i][key] == '='));
    }
}
