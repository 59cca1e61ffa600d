/* entry.c - the text of an entry; see internal.h
 *
 *     hrun ledger 1
 *     state runs
 *     ticket 12
 *     host node1
 *     ...
 *     use node1 0-3,8
 *     end-of-entry
 *
 * Lines with other words are from a later hrun, and do not matter.
 */
#include "ledger/internal.h"

#include "base/list.h"
#include "base/units.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char HEAD[] = "hrun ledger 1", TAIL[] = "end-of-entry", USE[] = "use ";

#define AT(member) offsetof(struct hrun_ledger_entry, member)
static const struct { const char *word; size_t at; } texts[] = {
    { "host", AT(host) }, { "app", AT(app) }, { "program", AT(program) }, { "version", AT(version) },
};
static const struct { const char *word; size_t at; } numbers[] = {
    { "ticket", AT(ticket) }, { "since", AT(since_s) }, { "end", AT(end_s) }, { "N", AT(N) },
};

/* ---------------------------------------------------------------- writing */

/* A line ends where the text does: control characters do not get into one. */
static void add_text(struct hrun_buf *out, const char *word, const char *text)
{
    hrun_buf_addf(out, "%s ", word);
    for (const char *p = text ? text : ""; *p; p++)
        hrun_buf_addc(out, (unsigned char)*p < ' ' ? '?' : *p);
    hrun_buf_addc(out, '\n');
}

void ledger_print(const struct hrun_ledger_entry *e, int waits, int64_t ticket, struct hrun_buf *out)
{
    const char *base = (const char *)e;

    hrun_buf_addf(out, "%s\nstate %s\npid %ld\nticket %lld\n", HEAD, waits ? "waits" : "runs", e->pid,
                  (long long)ticket);
    for (size_t i = 1; i < sizeof numbers / sizeof *numbers; i++)
        hrun_buf_addf(out, "%s %lld\n", numbers[i].word, (long long)*(const int64_t *)(base + numbers[i].at));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        add_text(out, texts[i].word, *(char *const *)(base + texts[i].at));
    for (int i = 0; i < e->nuses; i++)
        hrun_buf_addf(out, "%s%s %s\n", USE, e->uses[i].host, e->uses[i].pus);
    hrun_buf_addf(out, "%s\n", TAIL);
}

/* ---------------------------------------------------------------- reading */

static int by_host(const void *a, const void *b);

void ledger_entry_release(struct hrun_ledger_entry *e)
{
    for (int i = 0; i < e->nuses; i++) {
        free(e->uses[i].host);
        free(e->uses[i].pus);
    }
    free(e->uses);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(*(char **)((char *)e + texts[i].at));
    memset(e, 0, sizeof *e);
}

/* What is shown on terminals holds nothing that moves them. */
static char *copy(const char *text)
{
    char *s = strdup(text);

    for (char *p = s; p && *p; p++)
        if (*p < ' ' || *p > '~')
            *p = '?';
    return s;
}

/* "node1 0-3,8" */
static int parse_use(struct hrun_ledger_entry *e, char *text)
{
    char *blank = strchr(text, ' ');
    struct hrun_ledger_use *grown;

    if (!blank || blank == text)
        return 1;
    *blank = 0;
    if (!(e->nuses & (e->nuses - 1))) {
        grown = realloc(e->uses, (e->nuses ? (size_t)e->nuses * 2 : 1) * sizeof *grown);
        if (!grown)
            return -1;
        e->uses = grown;
    }
    e->uses[e->nuses] = (struct hrun_ledger_use){ copy(text), copy(blank + 1) };
    e->nuses++;
    return e->uses[e->nuses - 1].host && e->uses[e->nuses - 1].pus ? 0 : -1;
}

/* A line "word value". 0, 1: it cannot be, -1: no memory. */
static int parse_line(struct hrun_ledger_entry *e, char *line)
{
    size_t len = strcspn(line, " ");
    char *value = line[len] ? line + len + 1 : line + len;
    int64_t n;

    if (!strncmp(line, USE, sizeof USE - 1))
        return parse_use(e, value);
    line[len] = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char **text = (char **)((char *)e + texts[i].at);

        if (!strcmp(line, texts[i].word)) {
            if (*text)
                return 1;
            *text = copy(value);
            return *text ? 0 : -1;
        }
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!strcmp(line, numbers[i].word))
            return hrun_parse_count(line, value, 0, HRUN_COUNT_MAX, (int64_t *)((char *)e + numbers[i].at), NULL) != 0;
    if (!strcmp(line, "pid")) {
        if (hrun_parse_count(line, value, 1, INT32_MAX, &n, NULL))
            return 1;
        e->pid = (long)n;
    }
    if (!strcmp(line, "state")) {
        if (strcmp(value, "runs") && strcmp(value, "waits"))
            return 1;
        e->state = *value == 'w' ? HRUN_LEDGER_WAITS : HRUN_LEDGER_RUNS;
    }
    return 0;
}

/* A ticket that leaves none for those who come later was made up. */
static int is_whole(const struct hrun_ledger_entry *e)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!*(char *const *)((const char *)e + texts[i].at))
            return 0;
    return e->pid && e->ticket < HRUN_COUNT_MAX;
}

int ledger_parse(char *text, size_t len, int max, struct hrun_ledger_entry *e)
{
    char *line = text, *end, *stop = text + len;
    int first = 1, ended = 0, rc = 0;

    for (; !rc && !ended && line < stop && (end = memchr(line, '\n', (size_t)(stop - line))); line = end + 1) {
        *end = 0;
        if (first)
            rc = strcmp(line, HEAD) != 0;
        else if (!strcmp(line, TAIL))
            ended = 1;
        else
            rc = parse_line(e, line);
        if (e->nuses > max)
            rc = 1;
        first = 0;
    }
    if (!rc && (!ended || !is_whole(e)))
        rc = 1;
    if (rc)
        ledger_entry_release(e);
    else if (e->nuses)
        qsort(e->uses, (size_t)e->nuses, sizeof *e->uses, by_host);
    return rc;
}

/* ---------------------------------------------------------------- comparing */

int ledger_order(const struct hrun_ledger_entry *a, const struct hrun_ledger_entry *b)
{
    int names;

    if (a->ticket != b->ticket)
        return a->ticket < b->ticket ? -1 : 1;
    if (a->uid != b->uid)
        return a->uid < b->uid ? -1 : 1;
    names = strcmp(a->host, b->host);
    return names ? names : (a->pid > b->pid) - (a->pid < b->pid);
}

/* The bits of word w that stand for PUs from first to last. */
static uint64_t word_bits(long w, long first, long last)
{
    uint64_t bits = UINT64_MAX;

    if (w == first / 64)
        bits <<= first % 64;
    if (w == last / 64)
        bits &= UINT64_MAX >> (63 - last % 64);
    return bits;
}

void hrun_ledger_pus_read(const char *text, struct hrun_ledger_pus *out)
{
    long first, last;

    memset(out, 0, sizeof *out);
    for (const char *p = text; (p = hrun_range_next(p, HRUN_RANGES_MAX, &first, &last)); p++) {
        for (long w = first / 64; w <= last / 64 && w < HRUN_LEDGER_PUS / 64; w++)
            out->bits[w] |= word_bits(w, first, last);
        if (*p != ',')
            break;
    }
}

int hrun_ledger_pus_meet(const struct hrun_ledger_pus *a, const char *b)
{
    long first, last;

    for (const char *p = b; (p = hrun_range_next(p, HRUN_RANGES_MAX, &first, &last)); p++) {
        for (long w = first / 64; w <= last / 64 && w < HRUN_LEDGER_PUS / 64; w++)
            if (a->bits[w] & word_bits(w, first, last))
                return 1;
        if (*p != ',')
            break;
    }
    return 0;
}

int hrun_ledger_host_order(const char *a, const char *b)
{
    size_t na = strcspn(a, "."), nb = strcspn(b, ".");
    int order = strncasecmp(a, b, na < nb ? na : nb);

    return order ? order : (na > nb) - (na < nb);
}

static int by_host(const void *a, const void *b)
{
    return hrun_ledger_host_order(((const struct hrun_ledger_use *)a)->host, ((const struct hrun_ledger_use *)b)->host);
}

int ledger_meet(const struct hrun_ledger_entry *a, const struct hrun_ledger_entry *b)
{
    struct hrun_ledger_pus pus;

    if (a->nuses > b->nuses)
        return ledger_meet(b, a);
    for (int i = 0; i < a->nuses; i++) {
        int lo = 0, hi = b->nuses;

        while (lo < hi) {
            int mid = lo + (hi - lo) / 2;

            if (by_host(&b->uses[mid], &a->uses[i]) < 0)
                lo = mid + 1;
            else
                hi = mid;
        }
        if (lo < b->nuses && !by_host(&b->uses[lo], &a->uses[i]))
            hrun_ledger_pus_read(a->uses[i].pus, &pus);
        for (; lo < b->nuses && !by_host(&b->uses[lo], &a->uses[i]); lo++)
            if (hrun_same_host(a->uses[i].host, b->uses[lo].host) &&
                hrun_ledger_pus_meet(&pus, b->uses[lo].pus))
                return 1;
    }
    return 0;
}
