/* records.c - timed exchanges of messages as text; see estimate.h for the contracts */
#include "net/estimate.h"

#include "base/alloc.h"
#include "base/list.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kind {
    const char *word;
    int hosts;                 /* number of i, j, k that are hosts, which must differ */
    int least_n, most_n;       /* limits of n; most_n 0: n is not used */
    int may_be_0;              /* 1: its time may be 0 */
};

enum { MANY = 1 << 20 };       /* limit of ranks and kinds: beyond any machine, and its square fits in 64 bits */

static const struct kind kinds[HRUN_NET_NKINDS] = {
    [HRUN_NET_TRIP] = { "trip", 2, 0, 0, 0 },
    [HRUN_NET_FAN] = { "fan", 3, 0, 0, 0 },
    [HRUN_NET_JOIN] = { "join", 3, 0, 0, 0 },
    [HRUN_NET_CALL] = { "call", 2, 0, 0, 1 },
    [HRUN_NET_BOTH] = { "both", 2, 0, 0, 0 },
    [HRUN_NET_PAIRS] = { "pairs", 0, 1, MANY, 0 },
    [HRUN_NET_LOCAL] = { "local", 1, 0, MANY, 0 },
    [HRUN_NET_SCATTERED] = { "scatter", 1, 1, MANY, 0 },
    [HRUN_NET_GATHERED] = { "gather", 1, 1, MANY, 0 },
    [HRUN_NET_SYNC] = { "sync", 2, 0, 1, 1 },
};

void hrun_net_records_release(struct hrun_net_records *r)
{
    for (int i = 0; r->hosts && i < r->nhosts; i++)
        free(r->hosts[i]);
    free(r->hosts);
    free(r->kind_of);
    free(r->nkinds);
    free(r->group_of);
    free(r->v);
    *r = (struct hrun_net_records){ 0 };
}

/* ---------------------------------------------------------------- reading */

enum { NUMBERS = 11 };

struct reader {
    struct hrun_net_records r;
    size_t cap;
    int line, ngroups, named;  /* named: number of hosts with a line */
    int began, ended;
    struct hrun_error *err;
};

static int bad_record(const struct reader *rd, const char *what)
{
    return hrun_fail_at(rd->err, HRUN_EPARSE, "", rd->line, 0,
                        "a record of the network benchmark does not make sense: %s; measure again", what);
}

/* Parse a text of at most `most` finite numbers and nothing else. Result: their number, or -1. */
static int parse_numbers(const char *text, double *v, int most)
{
    for (int n = 0;; n++) {
        char *end;

        text += strspn(text, " \t\r");
        if (!*text)
            return n;
        if (n == most)
            return -1;
        v[n] = strtod(text, &end);
        if (end == text || !isfinite(v[n]))
            return -1;
        text = end;
    }
}

static int records_begin(struct reader *rd, const char *rest)
{
    double v[2];
    size_t n;

    if (rd->began)
        return bad_record(rd, "a second `network` line");
    if (parse_numbers(rest, v, 2) != 2 || v[0] != 1 || !(v[1] >= 1 && v[1] <= HRUN_HOSTLIST_MAX) || v[1] != floor(v[1]))
        return bad_record(rd, "`network 1 HOSTS` is expected, with no more hosts than a host list may name");
    n = (size_t)v[1];
    rd->r.hosts = xcalloc(n, sizeof *rd->r.hosts);
    rd->r.kind_of = xcalloc(n, sizeof *rd->r.kind_of);
    rd->r.nkinds = xcalloc(n, sizeof *rd->r.nkinds);
    rd->r.group_of = xcalloc(n, sizeof *rd->r.group_of);
    rd->r.nhosts = (int)n;
    rd->began = 1;
    return 0;
}

static int record_host(struct reader *rd, const char *rest)
{
    int at, kind, nkinds, group, end = 0;
    char name[256];

    if (sscanf(rest, "%d %255s %d %d %d %n", &at, name, &kind, &nkinds, &group, &end) < 5 || rest[end] || at < 0 ||
        at >= rd->r.nhosts || rd->r.hosts[at] || kind < 0 || kind > MANY || nkinds < 1 || nkinds > MANY || group < 0 ||
        group >= rd->r.nhosts)
        return bad_record(rd, "`host INDEX NAME KIND NKINDS GROUP` is expected, once for each host");
    rd->r.hosts[at] = xstrdup(name);
    rd->r.kind_of[at] = kind;
    rd->r.nkinds[at] = nkinds;
    rd->r.group_of[at] = group;
    rd->ngroups = group + 1 > rd->ngroups ? group + 1 : rd->ngroups;
    rd->named++;
    return 0;
}

/* Check hosts, groups, kinds and n for the kind of record. Result: the mistake, or NULL. */
static const char *misplaced(const struct reader *rd, const struct hrun_net_record *v)
{
    const struct kind *k = &kinds[v->kind];
    const int place[3] = { v->i, v->j, v->k };

    for (int i = 0; i < k->hosts; i++) {
        if (place[i] < 0 || place[i] >= rd->r.nhosts)
            return "a host out of range";
        for (int l = 0; l < i; l++)
            if (place[l] == place[i])
                return "one host where there should be several";
    }
    if (v->kind == HRUN_NET_PAIRS && (v->i < 0 || v->j < 0 || v->i >= rd->ngroups || v->j >= rd->ngroups))
        return "a group out of range";
    if (v->kind == HRUN_NET_LOCAL &&
        (v->j < 0 || v->k < 0 || v->j >= rd->r.nkinds[v->i] || v->k >= rd->r.nkinds[v->i]))
        return "a kind of processing elements out of range";
    if (k->most_n > 0 && (v->n < k->least_n || v->n > k->most_n))
        return "a count out of range";
    if ((v->kind == HRUN_NET_SCATTERED || v->kind == HRUN_NET_GATHERED) && v->n >= rd->r.nhosts)
        return "more hosts than there are";
    return NULL;
}

static int record(struct reader *rd, enum hrun_net_kind kind, const char *rest)
{
    static const struct { int least, whole; } ranges[NUMBERS] = {
        { -1, 1 }, { -1, 1 }, { -1, 1 }, { 0, 1 }, { 0, 0 }, { 0, 0 }, { 1, 1 }, { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 }
    };
    double x[NUMBERS] = { 0 };
    int n = parse_numbers(rest, x, NUMBERS), bad = n < NUMBERS - 1;
    struct hrun_net_record v;
    const char *wrong;

    if (rd->named < rd->r.nhosts)
        return bad_record(rd, "it stands before the `host` lines of all hosts");
    for (int k = 0; k < NUMBERS && !bad; k++)
        bad = x[k] < ranges[k].least || (ranges[k].whole && (x[k] > MANY || x[k] != floor(x[k])));
    if (bad)
        return bad_record(rd, "`KIND I J K N BYTES BACK REPETITIONS TIME SD MAX [MEAN]` is expected, times and sizes "
                          "finite and not negative");
    v = (struct hrun_net_record){ kind, (int)x[0], (int)x[1], (int)x[2], (int)x[3], x[4], x[5], (int)x[6], x[7], x[8],
                                  x[9], n < NUMBERS ? x[7] : x[10] };
    wrong = misplaced(rd, &v);
    if (wrong)
        return bad_record(rd, wrong);
    if (v.time_s == 0 && !kinds[kind].may_be_0)
        return bad_record(rd, "it took no time at all");
    if (v.max_s < v.time_s)
        return bad_record(rd, "the longest repetition is shorter than the median");
    hrun_grow(rd->r.v, rd->r.n + 1, rd->cap);
    rd->r.v[rd->r.n++] = v;
    return 0;
}

static int parse_line(struct reader *rd, char *line)
{
    char *save, *word = strtok_r(line, " \t\r", &save);

    if (!word)
        return 0;
    if (!strcmp(word, "network"))
        return records_begin(rd, save);
    if (!rd->began)
        return 0;
    if (!strcmp(word, "host"))
        return record_host(rd, save);
    if (!strcmp(word, "spent"))
        return parse_numbers(save, &rd->r.spent_s, 1) == 1 && rd->r.spent_s >= 0 ? 0
               : bad_record(rd, "`spent SECONDS` is expected");
    if (!strcmp(word, "end") && !save[strspn(save, " \t\r")])
        rd->ended = 1;
    for (int k = 0; k < HRUN_NET_NKINDS; k++)
        if (!strcmp(word, kinds[k].word))
            return record(rd, (enum hrun_net_kind)k, save);
    return 0;
}

static int fail_cut_records(const struct reader *rd)
{
    return hrun_fail_at(rd->err, HRUN_ENODATA, "", rd->line, 0, "the records of the network benchmark end before their "
                        "`end` line: it was interrupted, or they were cut; measure again");
}

/* Check that groups have no gap, all hosts are named, and `end` was read. */
static int records_complete(const struct reader *rd)
{
    if (!rd->began)
        return hrun_fail(rd->err, HRUN_ENODATA, "these are no records of the network benchmark: there is no `network` "
                         "line; `hrun-calibrate network` makes some");
    if (!rd->ended)
        return fail_cut_records(rd);
    if (rd->named < rd->r.nhosts)
        return bad_record(rd, "a host has no `host` line");
    for (int g = 0; g < rd->ngroups; g++) {
        int found = 0;

        for (int i = 0; i < rd->r.nhosts; i++)
            found |= rd->r.group_of[i] == g;
        if (!found)
            return bad_record(rd, "the numbers of the groups have a gap");
    }
    return 0;
}

int hrun_net_records_parse(const char *text, struct hrun_net_records *out, struct hrun_error *err)
{
    struct reader rd = { .err = err };

    while (*text && !rd.ended) {
        size_t len = strcspn(text, "\n");
        autofree char *line = xstrndup(text, len);

        rd.line++;
        if (parse_line(&rd, line)) {
            if (rd.began && !text[len])        /* the last line has no line feed */
                fail_cut_records(&rd);
            goto fail;
        }
        text += len + (text[len] == '\n');
    }
    if (records_complete(&rd))
        goto fail;
    *out = rd.r;
    return 0;
fail:
    hrun_net_records_release(&rd.r);
    return -1;
}

/* ---------------------------------------------------------------- writing */

void hrun_net_records_print(const struct hrun_net_records *r, struct hrun_buf *out)
{
    hrun_buf_addf(out, "network 1 %d\n", r->nhosts);
    for (int i = 0; i < r->nhosts; i++)
        hrun_buf_addf(out, "host %d %s %d %d %d\n", i, r->hosts[i], r->kind_of[i], r->nkinds[i], r->group_of[i]);
    for (size_t l = 0; l < r->n; l++) {
        const struct hrun_net_record *v = &r->v[l];

        hrun_buf_addf(out, "%s %d %d %d %d %.17g %.17g %d %.17g %.17g %.17g %.17g\n", kinds[v->kind].word, v->i, v->j,
                      v->k, v->n, v->bytes, v->back_bytes, v->repetitions, v->time_s, v->sd_s, v->max_s, v->mean_s);
    }
    hrun_buf_addf(out, "spent %.17g\nend\n", r->spent_s);
}
