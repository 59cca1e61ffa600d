/* calibrate_network.c - hrun-calibrate network, and show --network; see calib_network.h */
#include "../common/alone.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/units.h"
#include "calib_network.h"
#include "session/context_network.h"
#include "session/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limit of a file of records, bytes. It is enough for a thousand hosts with 31 trips each and as many other records. */
static const size_t RECORDS_MAX = (size_t)1 << 28;

/* The rules that choose algorithms; with SimGrid `ompi`, or `mpich` if the user sets it (lib/launch/engines/smpi.c). */
static const char *selector(const struct context *c)
{
    for (size_t i = 0; i < c->set->job.smpi.n; i++)
        if (!strcmp(c->set->job.smpi.v[i], "smpi/coll-selector:mpich"))
            return "mpich";
    return c->cluster->platform ? "ompi" : "openmpi";
}

/* network/weight-S of SimGrid's SMPI model, bytes. */
static const double SMPI_BIAS_BYTES = 8775;

/* Set the members that an estimate cannot measure: names, date, and for a simulation wire_waits and bias_bytes. In SMPI
 * bytes flow only once the receiver receives (smpi/async-small-thresh is 0 by default), and a message with a longer
 * round trip gets a smaller share of a link; tests/accuracy/net shows both. */
static void describe_network(const struct context *c, const struct network_key *k, struct hrun_net *net)
{
    char date[21];
    const struct { char **to; const char *text; } texts[] = {
        { &net->engine, k->engine.data }, { &net->mpi, k->mpi.data }, { &net->selector, selector(c) },
        { &net->date, date },
    };

    if (c->cluster->platform) {
        net->wire_waits = 1;
        net->bias_bytes = net->bias_bytes > 0 ? net->bias_bytes : SMPI_BIAS_BYTES;
    }
    hrun_date_now(date);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        free(*texts[i].to);
        *texts[i].to = xstrdup(texts[i].text);
    }
}

static void print_network(const struct calib_settings *s, const struct hrun_net *net,
                          const struct network_about *about)
{
    autorelease(hrun_buf_release) struct hrun_buf out = HRUN_BUF_INIT;

    if (s->common.json)
        network_json(net, about, &out);
    else
        network_text(net, about, s->common.verbose, &out);
    if (s->common.json || !s->common.quiet)
        fputs(out.data, stdout);
}

/* ---------------------------------------------------------------- measure */

/* The path of the records of the network in `file`, kept beside it for later estimates. The caller frees it. */
static char *records_file(const char *file)
{
    return hrun_strf("%.*s.records", (int)(strlen(file) - strlen(".yaml")), file);
}

int network_read_records(const char *file, struct hrun_net_records *out, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf lines = HRUN_BUF_INIT;
    autofree char *path = records_file(file);

    return hrun_file_read(path, RECORDS_MAX, &lines, NULL) ? 0 : hrun_net_records_parse(lines.data, out, err);
}

/* Write the records beside the network's `file`, and to the file of --keep. */
static int keep_records(const struct calib_settings *s, const char *file, const struct hrun_net_records *r,
                        struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    autofree char *beside = records_file(file);

    hrun_net_records_print(r, &text);
    if (hrun_file_replace(beside, text.data, text.len, 0666, err))
        return -1;
    return s->keep ? hrun_file_replace(s->keep, text.data, text.len, 0666, err) : 0;
}

static int print_network_plan(struct context *c, const struct network_plan *p, const char *file, struct hrun_error *err)
{
    struct work w = { .c = c, .words = p->words.v, .quiet_run = 1 };
    autorelease(work_words_release) struct work_words words = { 0 };
    autorelease(hrun_buf_release) struct hrun_buf out = HRUN_BUF_INIT;
    struct hrun_job job;
    autofree char *stdin_text = NULL;
    int rc = work_job(&w, p->layout, &words, &stdin_text, &job, err);

    if (!rc)
        rc = hrun_engine_command(c->engine, &job, &out, err);
    if (!rc)
        printf("the network of %s, by %d processes\n  would run: %s\n  would write: %s\n",
               hrun_counted(c->cluster->nhosts, "host").s, p->layout->nranks, out.data, file);
    return rc;
}

struct network_target {
    struct network_plan plan;
    struct network_key key;
    struct hrun_buf file;
};

static void network_target_release(struct network_target *t)
{
    network_key_release(&t->key);
    network_plan_release(&t->plan);
    hrun_buf_release(&t->file);
}

static int measure_and_keep(struct context *c, const struct calib_settings *s, const struct network_target *t,
                            int *interrupted, struct hrun_error *err)
{
    autorelease(hrun_net_records_release) struct hrun_net_records records = { 0 };
    autorelease(hrun_net_quality_release) struct hrun_net_quality quality = { 0 };
    autorelease(hrun_buf_release) struct hrun_buf unsure = HRUN_BUF_INIT;
    struct hrun_net *net = NULL;
    int rc;

    if (!s->common.quiet)
        fprintf(stderr, "hrun-calibrate: measuring the network of %s; run nothing on it that does not run beside "
                "your programs\n", hrun_counted(c->cluster->nhosts, "host").s);
    if (network_measure(c, &t->plan, &records, interrupted, err)) {
        const struct hrun_error why = *err;

        return *interrupted || why.code != HRUN_EENGINE ? -1
               : hrun_fail(err, why.code, "the network cannot be measured: %s; the stored network stays as it was; a "
                           "host that fails can be left out (--host, --skip-unreachable)", why.text);
    }
    if (hrun_net_estimate(&records, &net, &quality, err))
        return -1;
    describe_network(c, &t->key, net);
    rc = hrun_net_save(net, t->file.data, err) || keep_records(s, t->file.data, &records, err) ? -1 : 0;
    if (!rc) {
        print_network(s, net, &(struct network_about){ &quality, records.spent_s, records.n, t->file.data });
        /* The text already has this warning. */
        hrun_net_add_unsure(net, &unsure);
        if (unsure.len && (s->common.json || s->common.quiet))
            fprintf(stderr, "hrun-calibrate: warning: %s\n", unsure.data);
    }
    hrun_net_destroy(net);
    return rc;
}

/* Show the network in `file` instead of measuring it again. Result: 1; 0 if `file` has no network, or --redo, --again
 * or --dry-run is given. */
static int show_if_known(const struct calib_settings *s, const char *file)
{
    struct network_about about = { .file = file };
    struct hrun_net *net = NULL;

    if (s->redo || s->again || s->dry_run || hrun_net_load(file, &net, NULL))
        return 0;
    print_network(s, net, &about);
    if (!s->common.quiet)
        fprintf(stderr, "hrun-calibrate: this network was measured before, on %s; --redo measures it again\n",
                net->date);
    hrun_net_destroy(net);
    return 1;
}

static int network_on(struct context *c, struct calib_settings *s, int *interrupted, struct hrun_error *err)
{
    autorelease(network_target_release) struct network_target t = { .file = HRUN_BUF_INIT };
    autorelease(exclusive_end) struct exclusive own = { 0 };

    if (network_context(c, s, err) || network_plan(c, s, &t.plan, err) || network_key(c, &t.key, err))
        return -1;
    hrun_net_file(hrun_store_dir(c->store), &(struct hrun_net_origin){ t.key.hosts, t.key.nhosts, t.key.engine.data,
                                                                       t.key.mpi.data }, &t.file);
    if (s->dry_run)
        return print_network_plan(c, &t.plan, t.file.data, err);
    if (show_if_known(s, t.file.data))
        return 0;
    hrun_strvec_pushf(&own.paths, "%s.lock", t.file.data);
    if (hrun_store_make_folder(c->store, "networks", err) || exclusive_begin(&own, c, "this network", interrupted, err))
        return -1;
    return show_if_known(s, t.file.data) ? 0 : measure_and_keep(c, s, &t, interrupted, err);
}

/* Show the estimate from the records of --from. It is not stored, since the records do not name their cluster. */
static int estimate_from_records(const struct calib_settings *s, struct hrun_error *err)
{
    autorelease(hrun_net_records_release) struct hrun_net_records records = { 0 };
    autorelease(hrun_net_quality_release) struct hrun_net_quality quality = { 0 };
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    struct hrun_net *net = NULL;
    int rc = hrun_file_read(s->from, RECORDS_MAX, &text, err);

    if (!rc && (hrun_net_records_parse(text.data, &records, err) ||
                hrun_net_estimate(&records, &net, &quality, err))) {
        snprintf(err->file, sizeof err->file, "%s", s->from);
        rc = -1;
    }
    if (!rc)
        print_network(s, net, &(struct network_about){ .quality = &quality, .spent_s = records.spent_s,
                                                       .records = records.n });
    hrun_net_destroy(net);
    return rc;
}

int calib_network(const struct calib_settings *settings, char **words)
{
    struct calib_settings s = *settings;
    struct hrun_error err = { 0 };
    int interrupted = 0, again = 0, rc;

    (void)words;
    do {
        autorelease(context_release) struct context c = { 0 };

        rc = s.from ? estimate_from_records(&s, &err) : network_on(&c, &s, &interrupted, &err);
    } while (rc && !again++ && alone_asks_anew(&s, &err));
    rc = rc ? context_complain("hrun-calibrate", &err) : 0;
    return interrupted ? 128 + interrupted : rc;
}

/* ---------------------------------------------------------------- show */

int calib_show_network(const struct calib_settings *settings, char **apps)
{
    struct calib_settings s = *settings;
    autorelease(context_release) struct context c = { 0 };
    autorelease(hrun_buf_release) struct hrun_buf file = HRUN_BUF_INIT, note = HRUN_BUF_INIT;
    struct hrun_error err = { 0 };
    struct hrun_net *net = NULL;
    int rc = network_context(&c, &s, &err) || network_find(&c, &net, &file, &note, &err) ? -1 : 0;

    (void)apps;
    if (note.len)
        fprintf(stderr, "hrun-calibrate: %s\n", note.data);
    if (!rc && !net)
        rc = hrun_fail(&err, HRUN_ENOENT, "the network of %s was not measured: `hrun-calibrate network` with the same "
                       "options measures it", c.cluster->nhosts == 1 ? "this host" : "these hosts");
    if (!rc)
        print_network(&s, net, &(struct network_about){ .file = file.data });
    hrun_net_destroy(net);
    return rc ? context_complain("hrun-calibrate", &err) : 0;
}

/* ---------------------------------------------------------------- the network of hosts that options name */

int network_named(const struct settings *s)
{
    return s->machine.hosts || s->machine.host_file || s->machine.cluster_file || s->machine.platform;
}

/* Load the network of the hosts that the options name into c. Cluster, MPI and engine are those of a run of the
 * application, with hrun-netbench as the program. */
static int use_named_network(struct context *c, struct hrun_buf *note, struct hrun_error *err)
{
    struct context hosts = { .set = c->set, .app = c->app };
    const char *tool = c->set->machine.platform ? "hrun-netbench-smpi" : "hrun-netbench";
    autofree char *program = hrun_installed_tool(tool, err);
    int rc = !program || context_cluster(&hosts, hosts.set, err) || context_find_program(&hosts, program, err) ||
             context_choose_engine(&hosts, 1, err) || network_use(&hosts, note, err) ? -1 : 0;

    if (!rc) {
        c->net = hosts.net;
        c->view = hosts.view;
        hosts.net = NULL;
        hosts.view = NULL;
    }
    hosts.app = NULL;       /* owned by c */
    context_release(&hosts);
    return rc;
}

int network_of_options(struct context *c, const char *without, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf note = HRUN_BUF_INIT;
    int named = network_named(c->set);

    if (c->view || !c->app || !hrun_app_has_network(c->app))
        return 0;
    if (named && use_named_network(c, &note, err))
        return -1;
    if (!c->set->quiet && note.len)
        fprintf(stderr, "hrun-calibrate: %s\n", note.data);
    if (!c->set->quiet && !c->view)
        fprintf(stderr, "hrun-calibrate: %s: terms of %s that ask for the network are left out%s; %s\n",
                named ? "the network of these hosts was not measured" : "no hosts were named", c->app->name, without,
                named ? "`hrun-calibrate network` measures it"
                      : "name them as for hrun (--host, --hostfile, --cluster, --platform)");
    else if (c->view && c->set->verbose)
        fprintf(stderr, "hrun-calibrate: the network of %s measured %s is used\n",
                hrun_counted(c->net->nhosts, "host").s, c->net->date);
    return 0;
}
