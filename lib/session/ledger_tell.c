/* ledger_tell.c - what is said of PEs that others use; see work.h */
#include "session/work.h"

#include <stdlib.h>
#include <time.h>

void ledger_add_time(struct hrun_buf *out, int64_t when_s)
{
    time_t when = (time_t)when_s, now = time(NULL);
    struct tm then, today;
    char text[32] = "?";

    if (localtime_r(&when, &then) && localtime_r(&now, &today))
        strftime(text, sizeof text,
                 then.tm_yday == today.tm_yday && then.tm_year == today.tm_year ? "%H:%M" : "%Y-%m-%d %H:%M", &then);
    hrun_buf_adds(out, text);
}

/* What one user has of a sub-cluster. */
struct share {
    uid_t uid;
    int waits;
    int pes;
    int64_t end_s;              /* the latest, 0: not known of one of them */
};

/* The shares of sub-cluster i, in the order of their first PE. shares has room for all entries seen. */
static int add_up(const struct ledger *g, int sub, struct share *shares)
{
    int n = 0;

    for (int p = 0; p < g->cluster->subs[sub].npes; p++) {
        const struct hrun_ledger_entry *e = g->who[sub][p] < 0 ? NULL : &g->seen.v[g->who[sub][p]];
        int k = 0, waits = e && e->state == HRUN_LEDGER_WAITS;

        if (!e)
            continue;
        while (k < n && (shares[k].uid != e->uid || shares[k].waits != waits))
            k++;
        if (k == n)
            shares[n++] = (struct share){ e->uid, waits, 0, e->end_s };
        shares[k].pes++;
        if (!e->end_s || !shares[k].end_s)
            shares[k].end_s = 0;
        else if (e->end_s > shares[k].end_s)
            shares[k].end_s = e->end_s;
    }
    return n;
}

static void tell_share(const struct share *s, struct hrun_buf *out)
{
    hrun_buf_adds(out, s->waits ? "kept for " : "in use by ");
    hrun_ledger_user(s->uid, out);
    if (s->waits) {
        hrun_buf_adds(out, ", who waits");
    } else if (s->end_s) {
        hrun_buf_adds(out, s->end_s > (int64_t)time(NULL) ? " until about " : ", overdue since ");
        ledger_add_time(out, s->end_s);
    }
}

void ledger_tell(const struct ledger *g, const char *lead, const char *tail, struct hrun_buf *out)
{
    struct share *shares = g->l && g->nbusy ? calloc((size_t)g->seen.n + 1, sizeof *shares) : NULL;

    for (int i = 0; shares && i < g->cluster->nsubs; i++) {
        int n = add_up(g, i, shares);

        for (int k = 0; k < n; k++) {
            if (k)
                hrun_buf_addf(out, ", %d ", shares[k].pes);
            else
                hrun_buf_addf(out, "%s%d of %d PE%s of %s ", lead, shares[k].pes, g->cluster->subs[i].npes,
                              g->cluster->subs[i].npes == 1 ? "" : "s", g->cluster->subs[i].name);
            tell_share(&shares[k], out);
        }
        if (n)
            hrun_buf_adds(out, tail);
    }
    free(shares);
}

json_t *ledger_user_json(uid_t uid)
{
    struct hrun_buf name = HRUN_BUF_INIT;
    json_t *j;

    hrun_ledger_user(uid, &name);
    j = json_string(name.data);
    hrun_buf_release(&name);
    return j ? j : json_null();
}

json_t *ledger_json(const struct ledger *g)
{
    struct share *shares = g && g->l ? calloc((size_t)g->seen.n + 1, sizeof *shares) : NULL;
    json_t *a = json_array();

    for (int i = 0; shares && i < g->cluster->nsubs; i++) {
        int n = add_up(g, i, shares);

        for (int k = 0; k < n; k++)
            json_array_append_new(a, json_pack("{s:s, s:i, s:o, s:b, s:o}", "subcluster", g->cluster->subs[i].name,
                                               "pes", shares[k].pes, "user", ledger_user_json(shares[k].uid), "waits",
                                               shares[k].waits, "until",
                                               shares[k].end_s ? json_integer((json_int_t)shares[k].end_s)
                                                               : json_null()));
    }
    free(shares);
    return a;
}
