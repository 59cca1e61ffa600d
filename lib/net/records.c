/* records.c - timed exchanges of messages as text; see estimate.h for the contracts */
#include "net/estimate.h"

#include "base/alloc.h"
#include "base/list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The numbers of a kind of record and their limits. */
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

enum { FIELDS = 13, NAME = 256 };

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

static int to_whole(const char *text, int least, int most, int *out)
{
    char *end;
    long v = strtol(text, &end, 10);

    if (*end || end == text || v < least || v > most)
        return -1;
    *out = (int)v;
    return 0;
}

static int to_number(const char *text, double *out)
{
    char *end;
    double v = strtod(text, &end);

    if (*end || end == text || !isfinite(v) || v < 0)
        return -1;
    *out = v;
    return 0;
}

/* Split a line at white space. Result: the number of words, FIELDS + 1 if there are more. */
static int split_line(char *line, char **word)
{
    char *save, *w = strtok_r(line, " \t\r", &save);
    int n = 0;

    for (; w && n < FIELDS; w = strtok_r(NULL, " \t\r", &save))
        word[n++] = w;
    return w ? FIELDS + 1 : n;
}

static int records_begin(struct reader *rd, char **word, int n)
{
    int version, hosts;

    if (rd->began)
        return bad_record(rd, "a second `network` line");
    if (n != 3 || to_whole(word[1], 1, 1, &version) || to_whole(word[2], 1, HRUN_HOSTLIST_MAX, &hosts))
        return bad_record(rd, "`network 1 HOSTS` is expected, with no more hosts than a host list may name");
    rd->r.hosts = xcalloc((size_t)hosts, sizeof *rd->r.hosts);
    rd->r.kind_of = xcalloc((size_t)hosts, sizeof *rd->r.kind_of);
    rd->r.nkinds = xcalloc((size_t)hosts, sizeof *rd->r.nkinds);
    rd->r.group_of = xcalloc((size_t)hosts, sizeof *rd->r.group_of);
    rd->r.nhosts = hosts;
    rd->began = 1;
    return 0;
}

static int record_host(struct reader *rd, char **word, int n)
{
    int at, group;

    if (n != 6 || to_whole(word[1], 0, rd->r.nhosts - 1, &at) || strlen(word[2]) >= NAME || rd->r.hosts[at] ||
        to_whole(word[3], 0, MANY, &rd->r.kind_of[at]) || to_whole(word[4], 1, MANY, &rd->r.nkinds[at]) ||
        to_whole(word[5], 0, rd->r.nhosts - 1, &group))
        return bad_record(rd, "`host INDEX NAME KIND NKINDS GROUP` is expected, once for each host");
    rd->r.hosts[at] = xstrdup(word[2]);
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

static int record(struct reader *rd, enum hrun_net_kind kind, char **word, int n)
{
    struct hrun_net_record v = { .kind = kind };
    const char *wrong;

    if (rd->named < rd->r.nhosts)
        return bad_record(rd, "it stands before the `host` lines of all hosts");
    if (n < 11 || n > 12 || to_whole(word[1], -1, MANY, &v.i) || to_whole(word[2], -1, MANY, &v.j) ||
        to_whole(word[3], -1, MANY, &v.k) || to_whole(word[4], 0, MANY, &v.n) || to_number(word[5], &v.bytes) ||
        to_number(word[6], &v.back_bytes) ||
        to_whole(word[7], 1, MANY, &v.repetitions) || to_number(word[8], &v.time_s) || to_number(word[9], &v.sd_s) ||
        to_number(word[10], &v.max_s) || (n > 11 && to_number(word[11], &v.mean_s)))
        return bad_record(rd, "`KIND I J K N BYTES BACK REPETITIONS TIME SD MAX [MEAN]` is expected, times and sizes "
                          "finite and not negative");
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
    char *word[FIELDS];
    int n = split_line(line, word);

    if (n == 0)
        return 0;
    if (!strcmp(word[0], "network"))
        return records_begin(rd, word, n);
    if (!rd->began)
        return 0;
    if (!strcmp(word[0], "host"))
        return record_host(rd, word, n);
    if (!strcmp(word[0], "spent"))
        return n == 2 && !to_number(word[1], &rd->r.spent_s) ? 0 : bad_record(rd, "`spent SECONDS` is expected");
    if (!strcmp(word[0], "end") && n == 1)
        rd->ended = 1;
    for (int k = 0; k < HRUN_NET_NKINDS; k++)
        if (!strcmp(word[0], kinds[k].word))
            return record(rd, (enum hrun_net_kind)k, word, n);
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
            if (rd.began && !text[len])        /* without its end */
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
