/* mapping_file.c - read a user's rankfile as Open MPI does; see layout.h for the contracts */
#include "layout/mapping.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/list.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

struct reading {
    struct mapping *w;
    const char *path;
    int line;
    struct hrun_error *err;
};

static int fail_line(const struct reading *g, const char *what, const char *found, size_t len)
{
    return hrun_fail_at(g->err, HRUN_EPARSE, g->path, g->line, 0, "%s, found '%.*s'", what, (int)(len < 60 ? len : 60),
                        found);
}

/* 1 if the names are equal, or one of them is the other without its domain; else 0. */
static int same_name(const char *host, const char *name, size_t len)
{
    size_t n = strlen(host);

    return n < len ? !strncasecmp(host, name, n) && name[n] == '.'
                   : !strncasecmp(host, name, len) && (!host[len] || host[len] == '.');
}

int mapping_find_host(const struct hrun_cluster *c, const char *name, size_t len)
{
    char own[256] = "";

    gethostname(own, sizeof own - 1);
    for (int h = 0; h < c->nhosts && len; h++)
        if (same_name(c->hosts[h].name, name, len) ||
            (c->hosts[h].is_local && (same_name("localhost", name, len) || same_name(own, name, len))))
            return h;
    return -1;
}

/* The index of the host NAME or +nX; -1 on errors. */
static int find_named_host(const struct reading *g, const char *name, size_t len)
{
    const struct hrun_cluster *c = g->w->cluster;
    autofree char **names = xcalloc((size_t)c->nhosts + 1, sizeof *names);
    autorelease(hrun_buf_release) struct hrun_buf list = HRUN_BUF_INIT;
    int found = mapping_find_host(c, name, len);
    char *end;

    if (len > 2 && name[0] == '+' && tolower((unsigned char)name[1]) == 'n') {
        long h = isdigit((unsigned char)name[2]) ? strtol(name + 2, &end, 10) : -1;

        if (h >= 0 && h < c->nhosts && end == name + len)
            return (int)h;
        return hrun_fail_at(g->err, HRUN_EINVAL, g->path, g->line, 0, "host '%.*s': there %s %d, +n0 to +n%d", (int)len,
                            name, c->nhosts == 1 ? "is" : "are", c->nhosts, c->nhosts - 1);
    }
    if (found >= 0)
        return found;
    for (int h = 0; h < c->nhosts; h++)
        names[h] = c->hosts[h].name;
    hrun_hostlist_print(names, (size_t)c->nhosts, &list);
    return hrun_fail_at(g->err, HRUN_EINVAL, g->path, g->line, 0, "host '%.*s' does not belong to this run (%.200s): "
                        "name it with --host or in the host file", (int)len, name, list.data);
}

/* Add the units of core `number` to p. package >= 0: `number` counts the cores of the package from 0. w->threads:
 * `number` counts hardware threads from 0. Result: 1 if there is such a unit, else 0. */
static int give_core(struct mapping *w, struct proc *p, int package, int number)
{
    struct room *r = &w->rooms[p->host];
    int at = -1, last = -1, any = 0;

    for (int u = 0; u < r->n; u++) {
        const struct hrun_core *core = r->units[u].core;

        if (package >= 0 && core->at[HRUN_OBJECT_PACKAGE] != package)
            continue;
        at += w->threads || core->number != last;
        last = core->number;
        if (package < 0 && !w->threads ? core->number == number : at == number) {
            p->units = xrealloc(p->units, ((size_t)p->nunits + 1) * sizeof *p->units);
            p->units[p->nunits++] = u;
            w->shared |= r->units[u].load++ > 0;
            any = 1;
        }
    }
    return any;
}

static int fail_slot(const struct reading *g, const struct proc *p, int package, long number)
{
    const struct room *r = &g->w->rooms[p->host];
    autorelease(hrun_strvec_release) struct hrun_strvec texts = HRUN_STRVEC_INIT;
    autofree int *v = xcalloc((size_t)r->n + 1, sizeof *v);
    const char *what = g->w->threads ? "hardware threads" : "cores", *has;
    size_t n = 0;

    for (int u = 0; u < r->n; u++)
        if (package < 0 || r->units[u].core->at[HRUN_OBJECT_PACKAGE] == package) {
            v[n] = package < 0 && !g->w->threads ? r->units[u].core->number : (int)n;
            n++;
        }
    has = layout_keep_list(&texts, v, n);
    if (package >= 0)
        return hrun_fail_at(g->err, HRUN_EINVAL, g->path, g->line, 0, "host %s has no slot %d:%ld: package %d has %s "
                            "%s", g->w->cluster->hosts[p->host].name, package, number, package, n ? what : "no",
                            n ? has : what);
    return hrun_fail_at(g->err, HRUN_EINVAL, g->path, g->line, 0, "host %s has no slot %ld: it has %s %s",
                        g->w->cluster->hosts[p->host].name, number, what, has);
}

/* Read slot lists separated by ';': "0-3,8", or "1:0-2" or "1:*" for package 1. */
static int read_slots(const struct reading *g, struct proc *p, const char *text)
{
    static const char how[] = "a slot list is like 0-3,8 or, of package 1, 1:0-2";
    int package = -1;

    for (const char *q = text; *q; ) {
        long first, last;
        const char *next = hrun_range_next(q, HRUN_RANGES_MAX, &first, &last);

        if (next && *next == ':' && first == last) {
            package = (int)first;
            q = next + 1;
            if (*q == '*') {
                first = 0;
                last = HRUN_RANGES_MAX;
                next = q + 1;
            } else {
                next = hrun_range_next(q, HRUN_RANGES_MAX, &first, &last);
            }
        }
        if (!next || (*next && *next != ',' && *next != ';'))
            return fail_line(g, how, text, strlen(text));
        for (long k = first; k <= last; k++) {
            int found = give_core(g->w, p, package, (int)k);

            if (!found && last == HRUN_RANGES_MAX && k > first)
                break;
            if (!found)
                return fail_slot(g, p, package, k);
        }
        package = *next == ';' ? -1 : package;
        q = next + (*next != 0);
    }
    return p->nunits ? 0 : fail_line(g, how, text, strlen(text));
}

/* Read the line "rank R=HOST slot=LIST" at p. Ranks from n on are skipped if n > 0. */
static int read_rank_line(const struct reading *g, char *p, int n)
{
    static const char how[] = "a line is like: rank 0=HOST slot=0-3";
    struct mapping *w = g->w;
    char *line = p, *end;
    size_t len;
    long rank;
    int host;

    if (strncasecmp(p, "rank", 4) || !isspace((unsigned char)p[4]))
        return fail_line(g, how, line, strlen(line));
    p += 4 + strspn(p + 4, " \t");
    rank = isdigit((unsigned char)*p) ? strtol(p, &end, 10) : -1;
    if (rank < 0 || rank > HRUN_RANGES_MAX)
        return fail_line(g, how, line, strlen(line));
    p = end + strspn(end, " \t");
    if (*p++ != '=')
        return fail_line(g, how, line, strlen(line));
    p += strspn(p, " \t");
    len = strcspn(p, " \t");
    host = find_named_host(g, p, len);
    if (host < 0)
        return -1;
    p += len + strspn(p + len, " \t");
    if (strncasecmp(p, "slot", 4))
        return fail_line(g, how, line, strlen(line));
    p += 4;
    p += *p == 's';
    p += strspn(p, " \t");
    if (*p++ != '=')
        return fail_line(g, how, line, strlen(line));
    p += strspn(p, " \t");
    if (n && rank >= n)
        return 0;
    if (rank >= w->nprocs) {
        w->procs = xrealloc(w->procs, ((size_t)rank + 1) * sizeof *w->procs);
        for (; w->nprocs <= rank; w->nprocs++)
            w->procs[w->nprocs] = (struct proc){ .host = -1 };
    }
    if (w->procs[rank].host >= 0)
        return hrun_fail_at(g->err, HRUN_EINVAL, g->path, g->line, 0, "rank %ld is named a second time", rank);
    w->procs[rank].host = host;
    if (!w->rooms[host].n)
        return hrun_fail_at(g->err, HRUN_EINVAL, g->path, g->line, 0, "no core of host %s may be used",
                            w->cluster->hosts[host].name);
    return read_slots(g, &w->procs[rank], p);
}

int mapping_read(struct mapping *w, int n, struct hrun_error *err)
{
    struct hrun_buf text = HRUN_BUF_INIT;
    struct reading g = { w, w->m.rankfile, 0, err };
    int rc = w->m.rankfile_text ? 0 : hrun_file_read(g.path, HRUN_RANKFILE_MAX, &text, err), missing = 0;

    hrun_buf_adds(&text, w->m.rankfile_text ? w->m.rankfile_text : "");
    w->exact = 1;
    w->bind = w->m.bind_to == HRUN_MAP_NONE ? HRUN_MAP_NONE : w->threads ? HRUN_MAP_HWTHREAD : HRUN_MAP_CORE;
    for (char *p = text.data, *next; !rc && p < text.data + text.len; p = next) {
        size_t len = strcspn(p, "\n");

        next = p + len + 1;
        p[len] = 0;
        g.line++;
        p[strcspn(p, "#\r")] = 0;
        p += strspn(p, " \t");
        for (char *end = p + strlen(p); end > p && isspace((unsigned char)end[-1]); )
            *--end = 0;
        if (*p)
            rc = read_rank_line(&g, p, n);
    }
    hrun_buf_release(&text);
    while (!rc && missing < w->nprocs && w->procs[missing].host >= 0)
        missing++;
    if (!rc && (!w->nprocs || missing < (n ? n : w->nprocs)))
        rc = hrun_fail_at(err, HRUN_EINVAL, g.path, 0, 0, "the rankfile has no line for rank %d of %d", missing,
                          n > w->nprocs ? n : w->nprocs ? w->nprocs : 1);
    return rc;
}
