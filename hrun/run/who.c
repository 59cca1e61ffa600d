/* who.c - hrun --show-cluster=users: the locks on PEs, as text and as JSON; see run.h */
#include "base/json.h"
#include "base/file.h"
#include "base/units.h"
#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Append "node1:0-3 node2:0-7"; of many hosts only the first FEW and their number. */
static void add_uses(const struct hrun_ledger_holder *h, struct hrun_buf *out)
{
    enum { FEW = 3 };
    json_t *uses = json_object_get(h->text, "uses");
    const char *host, *pus;

    for (size_t u = 0; u < json_array_size(uses) && u < FEW; u++)
        if (!json_unpack(json_array_get(uses, u), "[s, s]", &host, &pus))
            hrun_buf_addf(out, "%s%s:%s", u ? " " : "", host, pus);
    if (json_array_size(uses) > FEW)
        hrun_buf_addf(out, " ... (%zu hosts)", json_array_size(uses));
}

static void add_holder_row(struct hrun_table *t, const struct hrun_ledger *l, const struct hrun_ledger_holder *h)
{
    autorelease(hrun_buf_release) struct hrun_buf user = HRUN_BUF_INIT, uses = HRUN_BUF_INIT;
    autorelease(hrun_buf_release) struct hrun_buf since = HRUN_BUF_INIT, until = HRUN_BUF_INIT;

    hrun_ledger_user(l, h->uid, &user);
    add_uses(h, &uses);
    ledger_add_time(&since, "", h->since_s);
    ledger_add_time(&until, "", h->end_s);
    hrun_table_cell(t, "%s", user.data);
    hrun_table_cell(t, h->text ? "%s:%lld" : "-", h->host, (long long)h->pid);
    hrun_table_cell(t, "%s", *h->app ? h->app : h->text ? hrun_base_name(h->program) : "-");
    hrun_table_cell(t, h->N ? "%lld" : "-", (long long)h->N);
    hrun_table_cell(t, "%s", uses.data);
    hrun_table_cell(t, "%s", since.data);
    hrun_table_cell(t, "%s", h->silent ? "stopped" : until.len ? until.data : "-");
}

static void print_users_text(const struct hrun_ledger *l, const struct hrun_ledger_list *list, struct hrun_buf *out)
{
    int used = 0;

    for (int k = 0; k < list->nholders; k++)
        used += !list->holders[k].waits;
    hrun_buf_addf(out, used ? "in use (%s):\n" : "no PEs are in use (%s)\n", hrun_ledger_dir(l));
    for (int waits = 0; waits < 2; waits++) {
        struct hrun_table *t = hrun_table_create("lllrlll");
        int n = 0;

        hrun_table_row(t, "user", "host:pid", "app", "N", "PUs", "since", waits ? "" : "until");
        for (int k = 0; k < list->nholders; k++)
            if (list->holders[k].waits == waits && ++n)
                add_holder_row(t, l, &list->holders[k]);
        if (n && waits)
            hrun_buf_adds(out, "\nwaiting, the first one first:\n");
        if (n)
            hrun_table_render(t, 2, out);
        hrun_table_destroy(t);
    }
}

static void print_users_json(const struct hrun_ledger *l, const struct hrun_ledger_list *list, struct hrun_buf *out)
{
    json_t *root = json_object(), *runs = json_array();

    for (int k = 0; k < list->nholders; k++) {
        const struct hrun_ledger_holder *h = &list->holders[k];
        autorelease(hrun_buf_release) struct hrun_buf user = HRUN_BUF_INIT;
        json_t *uses = json_array(), *use;
        const char *host, *pus;
        size_t i;

        json_array_foreach(json_object_get(h->text, "uses"), i, use)
            if (!json_unpack(use, "[s, s]", &host, &pus))
                json_array_append_new(uses, json_pack("{s:s, s:s}", "host", host, "pus", pus));
        hrun_ledger_user(l, h->uid, &user);
        json_array_append_new(
            runs, json_pack("{s:s, s:s, s:o, s:s, s:I, s:s, s:o, s:s, s:I, s:o, s:b, s:o}", "state",
                            h->waits ? "waits" : "runs", "user", user.data, "uid",
                            h->uid == (uid_t)-1 ? json_null() : json_integer((json_int_t)h->uid), "host", h->host,
                            "pid", h->pid, "app", h->app, "N", h->N ? json_integer(h->N) : json_null(), "program",
                            h->program, "since", h->since_s, "until",
                            h->end_s ? json_integer(h->end_s) : json_null(), "stopped", h->silent, "uses", uses));
    }
    json_object_set_new(root, "ledger", json_string(hrun_ledger_dir(l)));
    json_object_set_new(root, "runs", runs);
    hrun_json_print(root, out);
}

static int by_queue_place(const void *a, const void *b)
{
    const struct hrun_ledger_holder *x = a, *y = b;

    return x->waits != y->waits ? x->waits - y->waits : x->place - y->place;
}

int run_who(const struct hrun_settings *s, char **words)
{
    autofree char *dir = NULL, *why = NULL, *from_file = NULL;
    autorelease(hrun_ledger_list_release) struct hrun_ledger_list list = { 0 };
    autorelease(hrun_buf_release) struct hrun_buf out = HRUN_BUF_INIT;
    struct hrun_error err = { 0 };
    struct hrun_ledger *l = NULL;
    int named, rc;

    (void)words;
    rc = s->common.machine.cluster_file ? hrun_clusterfile_ledger(s->common.machine.cluster_file, &from_file, &err) : 0;
    if (!rc)
        ledger_find(from_file, &dir, &named, &why);
    if (!rc && !dir)
        rc = hrun_fail(&err, HRUN_ENOENT, "there is no ledger (%s); name one with HRUN_LEDGER=DIR or in the "
                       "cluster file", why);
    if (!rc)
        rc = hrun_ledger_open(dir, &l, &err) || hrun_ledger_read(l, NULL, 0, &list, &err);
    if (list.nholders)
        qsort(list.holders, (size_t)list.nholders, sizeof *list.holders, by_queue_place);
    /* After an error, as with too many locks, the locks that were read are shown. */
    if (!rc || list.nholders)
        (s->common.json ? print_users_json : print_users_text)(l, &list, &out);
    fputs(out.data, stdout);
    hrun_ledger_close(l);
    return rc ? context_complain("hrun", &err) : 0;
}
