/* network.c - hrun-calibrate network, and show --network; see network.h */
#include "network.h"

#include "../common/alone.h"
#include "../common/options.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/units.h"
#include "session/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Records of a thousand hosts: 31 trips of each, and as much again of the rest. */
static const size_t RECORDS_MAX = (size_t)1 << 28;

/* Of SimGrid, hrun has `ompi` unless the user sets another (lib/launch/engines/smpi.c). */
static const char *selector(const struct context *c)
{
    for (size_t i = 0; i < c->set->smpi.n; i++)
        if (!strcmp(c->set->smpi.v[i], "smpi/coll-selector:mpich"))
            return "mpich";
    return c->cluster->platform ? "ompi" : "openmpi";
}

static void set_text(char **to, const char *text)
{
    char *copy = xstrdup(text);

    free(*to);
    *to = copy;
}

/* SimGrid's network/weight-S of its SMPI model, bytes. */
static const double SMPI_BIAS_BYTES = 8775;

/* What an estimate does not know of its network, and where no port was shared could not see. In SMPI bytes flow only
 * from when the receiver receives (as it comes, smpi/async-small-thresh is 0), and messages that share a link do so by
 * the length of their ways; tests/accuracy/net shows both. */
static void describe_network(const struct context *c, const struct network_key *k, struct hrun_net *net)
{
    char date[21];

    if (c->cluster->platform) {
        net->wire_waits = 1;
        net->bias_bytes = net->bias_bytes > 0 ? net->bias_bytes : SMPI_BIAS_BYTES;
    }
    hrun_date_now(date);
    set_text(&net->engine, k->engine.data);
    set_text(&net->mpi, k->mpi.data);
    set_text(&net->selector, selector(c));
    set_text(&net->date, date);
}

static void print_network(const struct calib_settings *s, const struct hrun_net *net,
                          const struct network_about *about)
{
    struct hrun_buf out = HRUN_BUF_INIT;

    if (s->common.json)
        network_json(net, about, &out);
    else
        network_text(net, about, s->common.verbose, &out);
    if (s->common.json || !s->common.quiet)
        fputs(out.data, stdout);
    hrun_buf_release(&out);
}

/* Where the text was not shown, which has the warning. */
static void warn_unsure(const struct calib_settings *s, const struct hrun_net *net)
{
    struct hrun_buf words = HRUN_BUF_INIT;

    hrun_net_add_unsure(net, &words);
    if (words.len && (s->common.json || s->common.quiet))
        fprintf(stderr, "hrun-calibrate: warning: %s\n", words.data);
    hrun_buf_release(&words);
}

/* ---------------------------------------------------------------- measure */

void network_records_file(const char *file, struct hrun_buf *out)
{
    static const char suffix[] = ".yaml";
    size_t len = strlen(file), n = sizeof suffix - 1;

    hrun_buf_add(out, file, len > n && !strcmp(file + len - n, suffix) ? len - n : len);
    hrun_buf_adds(out, ".records");
}

/* Beside the network, and where --keep says. */
static int keep_records(const struct calib_settings *s, const char *file, const struct hrun_net_records *r,
                        struct hrun_error *err)
{
    struct hrun_buf text = HRUN_BUF_INIT, beside = HRUN_BUF_INIT;
    int rc;

    hrun_net_records_print(r, &text);
    network_records_file(file, &beside);
    rc = hrun_file_replace(beside.data, text.data, text.len, 0666, err);
    if (!rc && s->keep)
        rc = hrun_file_replace(s->keep, text.data, text.len, 0666, err);
    hrun_buf_release(&beside);
    hrun_buf_release(&text);
    return rc;
}

static int dry_run(struct context *c, const struct network_plan *p, const char *file, struct hrun_error *err)
{
    struct work w = { .c = c, .words = p->words.v, .quiet_run = 1 };
    struct work_words words = { 0 };
    struct hrun_buf out = HRUN_BUF_INIT;
    struct hrun_job job;
    char *stdin_text = NULL;
    int rc = work_job(&w, p->layout, &words, &stdin_text, &job, err);

    if (!rc)
        rc = hrun_engine_command(c->engine, &job, &out, err);
    if (!rc)
        printf("the network of %s, by %d processes\n  would run: %s\n  would write: %s\n",
               hrun_counted(c->cluster->nhosts, "host").s, p->layout->nranks, out.data, file);
    free(stdin_text);
    hrun_buf_release(&out);
    work_words_release(&words);
    return rc;
}

/* Measure, estimate, keep, tell. */
static int make(struct context *c, const struct calib_settings *s, const struct network_plan *p,
                const struct network_key *k, const char *file, int *interrupted, struct hrun_error *err)
{
    struct hrun_net_estimate_options options = HRUN_NET_ESTIMATE_DEFAULT;
    struct network_about about = { .file = file };
    struct hrun_net_records records = { 0 };
    struct hrun_net_quality quality = { 0 };
    struct hrun_net *net = NULL;
    int rc;

    if (!s->common.quiet)
        fprintf(stderr, "hrun-calibrate: measuring the network of %s; the machine should be as it is when programs "
                "run\n", hrun_counted(c->cluster->nhosts, "host").s);
    rc = network_measure(c, p, &records, interrupted, err);
    if (rc && !*interrupted && err->code == HRUN_EENGINE) {
        struct hrun_error why = *err;

        hrun_fail(err, why.code, "the network cannot be measured: %s; nothing of it is changed; a host that fails can "
                  "be left out (--host, --skip-unreachable)", why.text);
    }
    rc = rc || hrun_net_estimate(&records, &options, &net, &quality, err) ? -1 : 0;
    if (!rc) {
        about.quality = &quality;
        about.spent_s = records.spent_s;
        about.records = records.n;
        describe_network(c, k, net);
        rc = hrun_net_save(net, file, err) || keep_records(s, file, &records, err) ? -1 : 0;
    }
    if (!rc) {
        print_network(s, net, &about);
        warn_unsure(s, net);
    }
    hrun_net_destroy(net);
    hrun_net_quality_release(&quality);
    hrun_net_records_release(&records);
    return rc;
}

/* What is measured already is not measured again. Result: 1 when it was there and has been shown. */
static int shown_before(const struct calib_settings *s, const char *file)
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

static int lock_network(struct context *c, const char *file, struct exclusive *own, int *sig, struct hrun_error *err)
{
    if (hrun_store_make_folder(c->store, "networks", err))
        return -1;
    hrun_strvec_pushf(&own->paths, "%s.lock", file);
    return exclusive_begin(own, c, "this network", sig, err);
}

static int network_on(struct context *c, const struct calib_settings *settings, int *interrupted,
                      struct hrun_error *err)
{
    struct calib_settings s = *settings;
    struct hrun_buf file = HRUN_BUF_INIT;
    struct network_plan plan = { 0 };
    struct network_key key = { 0 };
    struct exclusive own = { 0 };
    int rc = network_context(c, &s, err) || network_plan(c, &s, &plan, err) || network_key(c, &key, err) ? -1 : 0;

    if (!rc)
        hrun_net_file(hrun_store_dir(c->store), key.hosts, key.nhosts, key.engine.data, key.mpi.data, &file);
    if (!rc && s.dry_run)
        rc = dry_run(c, &plan, file.data, err);
    else if (!rc && !(rc = shown_before(&s, file.data)) &&
             !(rc = lock_network(c, file.data, &own, interrupted, err)) && !(rc = shown_before(&s, file.data)))
        rc = make(c, &s, &plan, &key, file.data, interrupted, err);
    exclusive_end(&own);
    network_key_release(&key);
    network_plan_release(&plan);
    hrun_buf_release(&file);
    return rc < 0 ? -1 : 0;
}

/* Records that were kept: the estimate is told, and not kept, as nobody says of which cluster they are. */
static int from_records(const struct calib_settings *s, struct hrun_error *err)
{
    struct hrun_net_estimate_options options = HRUN_NET_ESTIMATE_DEFAULT;
    struct hrun_net_records records = { 0 };
    struct hrun_net_quality quality = { 0 };
    struct hrun_buf text = HRUN_BUF_INIT;
    struct hrun_net *net = NULL;
    int rc = hrun_file_read(s->from, RECORDS_MAX, &text, err);

    if (!rc && (hrun_net_records_parse(text.data, &records, err) ||
                hrun_net_estimate(&records, &options, &net, &quality, err))) {
        snprintf(err->file, sizeof err->file, "%s", s->from);
        rc = -1;
    }
    if (!rc)
        print_network(s, net, &(struct network_about){ .quality = &quality, .spent_s = records.spent_s,
                                                       .records = records.n });
    hrun_net_destroy(net);
    hrun_net_quality_release(&quality);
    hrun_net_records_release(&records);
    hrun_buf_release(&text);
    return rc;
}

int calib_network(const struct calib_settings *s, char **words)
{
    struct calib_settings again = *s;
    struct context c = { 0 };
    struct hrun_error err = { 0 };
    int interrupted = 0, rc;

    (void)words;
    rc = s->from ? from_records(s, &err) : network_on(&c, s, &interrupted, &err);
    context_release(&c);
    if (rc && err.code == HRUN_ECHANGED) {
        if (!s->common.quiet)
            fprintf(stderr, "hrun-calibrate: %s; asking all hosts anew\n", err.text);
        again.common.refresh = 1;
        rc = network_on(&c, &again, &interrupted, &err);
        context_release(&c);
    }
    rc = rc ? context_complain("hrun-calibrate", &err) : 0;
    return interrupted ? 128 + interrupted : rc;
}

/* ---------------------------------------------------------------- show */

static int show_on(struct context *c, const struct calib_settings *settings, struct hrun_error *err)
{
    struct calib_settings s = *settings;
    struct hrun_buf file = HRUN_BUF_INIT, note = HRUN_BUF_INIT;
    struct hrun_net *net = NULL;
    int rc = network_context(c, &s, err) || network_find(c, &net, &file, &note, err) ? -1 : 0;

    if (note.len)
        fprintf(stderr, "hrun-calibrate: %s\n", note.data);
    if (!rc && !net)
        rc = hrun_fail(err, HRUN_ENOENT, "the network of %s was not measured: `hrun-calibrate network` with the same "
                       "options does", c->cluster->nhosts == 1 ? "this host" : "these hosts");
    if (!rc)
        print_network(&s, net, &(struct network_about){ .file = file.data });
    hrun_net_destroy(net);
    hrun_buf_release(&note);
    hrun_buf_release(&file);
    return rc;
}

int calib_show_network(const struct calib_settings *s, char **apps)
{
    struct context c = { 0 };
    struct hrun_error err = { 0 };
    int rc = show_on(&c, s, &err);

    (void)apps;
    context_release(&c);
    return rc ? context_complain("hrun-calibrate", &err) : 0;
}

/* ---------------------------------------------------------------- the network of hosts that options name */

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
        fprintf(stderr, "hrun-calibrate: the network of %s measured %s is used\n",
                hrun_counted(c->net->nhosts, "host").s, c->net->date);
    hosts.app = NULL;
    context_release(&hosts);
    hrun_buf_release(&note);
    return rc;
}
