/* signature.c - names of kinds of PEs; see cluster.h and internal.h for the contracts */
#include "cluster/internal.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

/* Room for "core-i9-12900k"; the whole signature must remain a short file name. */
enum { SLUG_MAX = 24 };

/* 1 for words that many CPU models have in common, else 0. */
static int is_noise(const char *word, size_t len)
{
    static const char *const noise[] = { "intel", "amd", "genuine", "cpu", "processor", "gen" };
    size_t digits = strspn(word, "0123456789.");

    for (size_t i = 0; i < sizeof noise / sizeof noise[0]; i++)
        if (strlen(noise[i]) == len && !strncasecmp(word, noise[i], len))
            return 1;
    /* "64-Core", "2.60GHz" */
    return digits && ((len == digits + 5 && !strncasecmp(word + digits, "-core", 5)) ||
                      (len == digits + 3 && (!strncasecmp(word + digits, "ghz", 3) ||
                                             !strncasecmp(word + digits, "mhz", 3))));
}

/* Append the letters, digits and dots of word[len]; other characters give one '-'. glue = 1: a '-' comes first. */
static void add_word(struct hrun_buf *out, const char *word, size_t len, int glue)
{
    int pending = glue;

    for (size_t i = 0; i < len; i++) {
        if (word[i] == '(') {                           /* (R), (TM) */
            while (i + 1 < len && word[i] != ')')
                i++;
        } else if (isascii((unsigned char)word[i]) && (isalnum((unsigned char)word[i]) || word[i] == '.')) {
            if (pending)
                hrun_buf_addc(out, '-');
            pending = 0;
            hrun_buf_addc(out, (char)tolower((unsigned char)word[i]));
        } else {
            pending = 1;
        }
    }
}

void hrun_add_slug(struct hrun_buf *out, const char *model)
{
    struct hrun_buf slug = HRUN_BUF_INIT;
    const char *paren;
    size_t len, cut;

    for (const char *p = model + strspn(model, " "); *p && *p != '@'; p += len, p += strspn(p, " ")) {
        len = strcspn(p, " ");
        if (len == 4 && !strncasecmp(p, "with", 4))     /* "... with Radeon Graphics" */
            break;
        paren = memchr(p, '(', len);
        if (!is_noise(p, paren && paren > p ? (size_t)(paren - p) : len))       /* the part before "(R)" and the like */
            add_word(&slug, p, len, slug.len > 0);
    }
    cut = slug.len;
    if (cut > SLUG_MAX) {
        for (cut = SLUG_MAX; cut > 0 && slug.data[cut] != '-'; cut--)
            continue;
        if (!cut)
            cut = SLUG_MAX;
    }
    while (cut && strchr("-.", slug.data[cut - 1]))
        cut--;
    for (len = 0; len < cut && strchr("-.", slug.data[len]); len++)
        continue;
    hrun_buf_add(out, slug.data + len, cut - len);
    hrun_buf_release(&slug);
}

/* 1.5 or 12, and a unit: two significant binary digits need at most one decimal. */
void hrun_add_short_memory(struct hrun_buf *out, uint64_t bytes)
{
    static const char units[] = "bkmgtp";
    double value = (double)bytes;
    size_t u = 0;

    for (; value >= 1024 && units[u + 1]; u++)
        value /= 1024;
    hrun_buf_addf(out, "%.10g%c", value, units[u]);
}

static void add_signature_part(struct hrun_buf *out, const char *text, const char *otherwise)
{
    size_t before = out->len;

    hrun_buf_addc(out, '-');
    hrun_add_slug(out, text);
    if (out->len == before + 1)
        hrun_buf_adds(out, otherwise);
}

void hrun_cluster_signature(const struct hrun_subcluster *s, const char *mpi, const char *engine,
                            struct hrun_buf *out)
{
    struct hrun_buf exact = HRUN_BUF_INIT;
    uint64_t memory = hrun_round_memory(s->memory_bytes);
    size_t before = out->len;

    hrun_add_slug(out, s->cpu_model);
    if (out->len == before)
        hrun_buf_adds(out, "unknown");
    if (s->core_kind[0])
        add_signature_part(out, s->core_kind, "kind");
    hrun_buf_addf(out, "-%dc", s->cores_per_pe);
    if (s->pus_per_pe != s->cores_per_pe)
        hrun_buf_addf(out, "%dt", s->pus_per_pe);
    hrun_buf_addc(out, '-');
    hrun_add_short_memory(out, memory);
    if (s->quota_permille)
        hrun_buf_addf(out, "-%.3gcpu", 1e-3 * s->quota_permille);
    hrun_buf_addf(out, "-%s", hrun_level_name(s->level));
    if (mpi && *mpi)
        add_signature_part(out, mpi, "mpi");
    if (engine && *engine)
        add_signature_part(out, engine, "engine");
    /* The unit separator distinguishes "ab","c" from "a","bc". */
    hrun_buf_addf(&exact, "%s\x1f%s\x1f%d\x1f%d\x1f%llu\x1f%s\x1f%s\x1f%s", s->cpu_model, s->core_kind,
                  s->cores_per_pe, s->pus_per_pe, (unsigned long long)memory, hrun_level_name(s->level),
                  mpi ? mpi : "", engine ? engine : "");
    if (s->network)
        hrun_buf_addf(&exact, "\x1f%s", s->network);
    if (s->quota_permille)
        hrun_buf_addf(&exact, "\x1fquota %d", s->quota_permille);
    hrun_buf_addf(out, "-%08lx", crc32(0, (const Bytef *)exact.data, (uInt)exact.len) & 0xffffffffu);
    hrun_buf_release(&exact);
}
