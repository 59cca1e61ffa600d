/* who.c - hrun --show-cluster=users: the ledger as people and machines read it */
#include "run.h"

#include "base/file.h"
#include "base/list.h"
#include "base/units.h"
#include "session/context.h"
#include "session/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "node1:0-3 node2:0-7"; of many hosts their names. */
static void add_uses(const struct hrun_ledger_entry *e, struct hrun_buf *out)
{
    enum { FEW = 3 };
    char **names;

    for (int u = 0; u < e->nuses && e->nuses <= FEW; u++)
        hrun_buf_addf(out, "%s%s:%s", u ? " " : "", e->uses[u].host, e->uses[u].pus);
    if (e->nuses <= FEW)
        return;
    names = calloc((size_t)e->nuses, sizeof *names);
    for (int u = 0; names && u < e->nuses; u++)
        names[u] = e->uses[u].host;
    if (names)
        hrun_hostlist_print(names, (size_t)e->nuses, out);
    else
        out->failed = 1;
    free(names);
}

static void add_row(struct hrun_table *t, const struct hrun_ledger_entry *e)
{
    struct hrun_buf who = HRUN_BUF_INIT, uses = HRUN_BUF_INIT, since = HRUN_BUF_INIT, until = HRUN_BUF_INIT;

    hrun_ledger_user(e->uid, &who);
    add_uses(e, &uses);
    ledger_add_time(&since, e->since_s);
    if (e->end_s)
        ledger_add_time(&until, e->end_s);
    hrun_table_cell(t, "%s", who.data);
    hrun_table_cell(t, "%s:%ld", e->host, e->pid);
    hrun_table_cell(t, "%s", *e->app ? e->app : hrun_base_name(e->program));
    if (e->N)
        hrun_table_cell(t, "%lld", (long long)e->N);
    else
        hrun_table_cell(t, "-");
    hrun_table_cell(t, "%s", uses.data);
    hrun_table_cell(t, "%s", since.data);
    hrun_table_cell(t, "%s", e->silent ? "stopped" : until.len ? until.data : "-");
    hrun_buf_release(&who);
    hrun_buf_release(&uses);
    hrun_buf_release(&since);
    hrun_buf_release(&until);
}

static int add_table(const struct hrun_ledger_list *list, int waits, struct hrun_buf *out, struct hrun_error *err)
{
    struct hrun_table *t = hrun_table_create("lllrlll");
    int rc = t ? 0 : -1, n = 0;

    if (t)
        hrun_table_row(t, "user", "host:pid", "app", "N", "PUs", "since", waits ? "" : "until");
    for (int k = 0; t && k < list->n; k++)
        if ((list->v[k].state == HRUN_LEDGER_WAITS) == waits) {
            add_row(t, &list->v[k]);
            n++;
        }
    if (n && waits)
        hrun_buf_adds(out, "\nwaiting, the first one first:\n");
    if (n && !rc)
        rc = hrun_table_render(t, 2, out);
    hrun_table_destroy(t);
    return rc || out->failed ? hrun_fail_nomem(err) : 0;
}

static int print_text(const struct hrun_ledger *l, const struct hrun_ledger_list *list, struct hrun_buf *out,
                      struct hrun_error *err)
{
    int used = 0;

    for (int k = 0; k < list->n; k++)
        used += list->v[k].state != HRUN_LEDGER_WAITS;
    hrun_buf_addf(out, used ? "in use (%s):\n" : "no PEs are in use (%s)\n", hrun_ledger_dir(l));
    return add_table(list, 0, out, err) || add_table(list, 1, out, err) ? -1 : 0;
}

static int print_json(const struct hrun_ledger *l, const struct hrun_ledger_list *list, struct hrun_buf *out,
                      struct hrun_error *err)
{
    static const char *const states[] = { "claims", "runs", "waits" };
    json_t *root = json_object(), *runs = json_array();

    for (int k = 0; k < list->n; k++) {
        const struct hrun_ledger_entry *e = &list->v[k];
        json_t *uses = json_array();

        for (int u = 0; u < e->nuses; u++)
            json_array_append_new(uses, json_pack("{s:s, s:s}", "host", e->uses[u].host, "pus", e->uses[u].pus));
        json_array_append_new(
            runs, json_pack("{s:s, s:o, s:I, s:s, s:I, s:s, s:o, s:s, s:s, s:I, s:o, s:b, s:o}", "state",
                            states[e->state], "user", ledger_user_json(e->uid), "uid", (json_int_t)e->uid, "host",
                            e->host, "pid", (json_int_t)e->pid, "app", e->app, "N",
                            e->N ? json_integer((json_int_t)e->N) : json_null(), "program", e->program, "version",
                            e->version, "since", (json_int_t)e->since_s, "until", e->end_s
                            ? json_integer((json_int_t)e->end_s) : json_null(), "stopped", e->silent, "uses",
                            uses));
    }
    json_object_set_new(root, "ledger", json_string(hrun_ledger_dir(l)));
    json_object_set_new(root, "runs", runs);
    return json_print(root, out, err);
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
        rc = hrun_ledger_open(dir, &l, &err) || hrun_ledger_read(l, &list, &err) ||
             (s->common.json ? print_json : print_text)(l, &list, &out, &err);
    if (rc)
        status = context_complain("hrun", &err);
    else
        fputs(out.data, stdout);
    hrun_ledger_list_release(&list);
    hrun_ledger_close(l);
    hrun_buf_release(&out);
    free(from_file);
    free(dir);
    free(why);
    return status;
}
