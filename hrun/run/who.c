/* who.c - hrun --show-cluster=users: the ledger as people and machines read it */
#include "run.h"

#include "base/file.h"
#include "base/units.h"
#include "session/context.h"
#include "session/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "node1:0-3 node2:0-7"; of many hosts how many they are. */
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

static void add_row(struct hrun_table *t, const struct hrun_ledger *l, const struct hrun_ledger_holder *h)
{
    struct hrun_buf cells[4] = { HRUN_BUF_INIT, HRUN_BUF_INIT, HRUN_BUF_INIT, HRUN_BUF_INIT };

    hrun_ledger_user(l, h->uid, &cells[0]);
    add_uses(h, &cells[1]);
    ledger_add_time(&cells[2], "", h->since_s);
    ledger_add_time(&cells[3], "", h->end_s);
    hrun_table_cell(t, "%s", cells[0].data);
    hrun_table_cell(t, h->text ? "%s:%lld" : "-", h->host, (long long)h->pid);
    hrun_table_cell(t, "%s", *h->app ? h->app : h->text ? hrun_base_name(h->program) : "-");
    hrun_table_cell(t, h->N ? "%lld" : "-", (long long)h->N);
    hrun_table_cell(t, "%s", cells[1].data);
    hrun_table_cell(t, "%s", cells[2].data);
    hrun_table_cell(t, "%s", h->silent ? "stopped" : cells[3].len ? cells[3].data : "-");
    for (int i = 0; i < 4; i++)
        hrun_buf_release(&cells[i]);
}

static int print_text(const struct hrun_ledger *l, const struct hrun_ledger_list *list, struct hrun_buf *out,
                      struct hrun_error *err)
{
    int rc = 0, used = 0;

    for (int k = 0; k < list->nholders; k++)
        used += !list->holders[k].waits;
    hrun_buf_addf(out, used ? "in use (%s):\n" : "no PEs are in use (%s)\n", hrun_ledger_dir(l));
    for (int waits = 0; waits < 2 && !rc; waits++) {
        struct hrun_table *t = hrun_table_create("lllrlll");
        int n = 0;

        hrun_table_row(t, "user", "host:pid", "app", "N", "PUs", "since", waits ? "" : "until");
        for (int k = 0; k < list->nholders; k++)
            if (list->holders[k].waits == waits && ++n)
                add_row(t, l, &list->holders[k]);
        if (n && waits)
            hrun_buf_adds(out, "\nwaiting, the first one first:\n");
        if (n)
            hrun_table_render(t, 2, out);
        hrun_table_destroy(t);
    }
    return rc ? hrun_fail_nomem(err) : 0;
}

static int print_json(const struct hrun_ledger *l, const struct hrun_ledger_list *list, struct hrun_buf *out,
                      struct hrun_error *err)
{
    json_t *root = json_object(), *runs = json_array();

    for (int k = 0; k < list->nholders; k++) {
        const struct hrun_ledger_holder *h = &list->holders[k];
        struct hrun_buf user = HRUN_BUF_INIT;
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
        hrun_buf_release(&user);
    }
    json_object_set_new(root, "ledger", json_string(hrun_ledger_dir(l)));
    json_object_set_new(root, "runs", runs);
    return json_print(root, out, err);
}

static int by_place(const void *a, const void *b)
{
    const struct hrun_ledger_holder *x = a, *y = b;

    return x->waits != y->waits ? x->waits - y->waits : x->place - y->place;
}

int run_who(const struct hrun_settings *s, char **words)
{
    char *dir = NULL, *why = NULL, *from_file = NULL;
    struct hrun_ledger_list list = { 0 };
    struct hrun_buf out = HRUN_BUF_INIT;
    struct hrun_error err = { 0 };
    struct hrun_ledger *l = NULL;
    int named, status = 0, rc;

    (void)words;
    rc = (s->common.cluster_file && hrun_clusterfile_ledger(s->common.cluster_file, &from_file, &err)) ||
         ledger_find(from_file, &dir, &named, &why, &err);
    if (!rc && !dir)
        rc = hrun_fail(&err, HRUN_ENOENT, "there is no ledger (%s); name one with HRUN_LEDGER=DIR or in the "
                       "cluster file", why);
    if (!rc)
        rc = hrun_ledger_open(dir, &l, &err) || hrun_ledger_read(l, NULL, 0, &list, &err);
    if (list.nholders)
        qsort(list.holders, (size_t)list.nholders, sizeof *list.holders, by_place);
    /* Of too many locks those that were read are shown. */
    if (!rc || list.nholders)
        rc = (s->common.json ? print_json : print_text)(l, &list, &out, &err) || rc;
    fputs(out.data ? out.data : "", stdout);
    if (rc)
        status = context_complain("hrun", &err);
    hrun_ledger_list_release(&list);
    hrun_ledger_close(l);
    hrun_buf_release(&out);
    free(from_file);
    free(dir);
    free(why);
    return status;
}
