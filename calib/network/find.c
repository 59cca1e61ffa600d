/* find.c - the network of the hosts that options name, for commands that need no hosts; see network.h */
#include "network.h"

#include "../common/options.h"
#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>

int network_named(const struct settings *s)
{
    return s->hosts || s->host_file || s->cluster_file || s->platform;
}

/* Cluster, MPI and engine, as runs of the application have them; the benchmark stands for its program. */
static int find_for_hosts(struct context *hosts, struct hrun_buf *note, struct hrun_error *err)
{
    char *program = hrun_installed_tool(hosts->set->platform ? "hrun-netbench-smpi" : "hrun-netbench", err);
    int rc = !program || context_cluster(hosts, hosts->set, err) || context_find_program(hosts, program, err) ||
             context_choose_engine(hosts, 1, err) || network_use(hosts, note, err) ? -1 : 0;

    free(program);
    return rc;
}

int network_of_options(struct context *c, const char *without, struct hrun_error *err)
{
    struct context hosts = { .set = c->set, .app = c->app };
    struct hrun_buf note = HRUN_BUF_INIT;
    int rc = 0;

    if (c->view || !c->app || !hrun_app_has_network(c->app))
        return 0;
    if (network_named(c->set))
        rc = find_for_hosts(&hosts, &note, err);
    if (!rc) {
        c->net = hosts.net;
        c->view = hosts.view;
        hosts.net = NULL;
        hosts.view = NULL;
    }
    if (!rc && !c->set->quiet && note.len)
        fprintf(stderr, "hrun-calibrate: %s\n", note.data);
    if (!rc && !c->set->quiet && !c->view)
        fprintf(stderr, "hrun-calibrate: %s: terms of %s that ask for the network are left out%s; %s\n",
                network_named(c->set) ? "the network of these hosts was not measured" : "no hosts were named",
                c->app->name, without, network_named(c->set) ? "`hrun-calibrate network` measures it" :
                "name them as for hrun (--host, --hostfile, --cluster, --platform)");
    else if (!rc && c->set->verbose)
        fprintf(stderr, "hrun-calibrate: the network of %d host%s measured %s is used\n", c->net->nhosts,
                c->net->nhosts == 1 ? "" : "s", c->net->date);
    hosts.app = NULL;
    context_release(&hosts);
    hrun_buf_release(&note);
    return rc;
}
