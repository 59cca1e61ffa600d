/* fuzz_cache.c - any text as the cache of what hosts said: a line of it is none, or what it says of a host can be, and
 * is the same when it is written and read again. Lines get checksums that are right, or few changed ones would be
 * read; "@" at the beginning of the second field stands for now. */
#include "fuzz.h"

#include "cluster/internal.h"

#include <math.h>
#include <time.h>
#include <zlib.h>

#define SAID "\t0123456789abcdef\t16000000000\t1a2b3c4d\t5d41402abc4b2a76 node17\t0-3\t4.1.4\t0.300000\tAMD EPYC\n"

const char *const fuzz_seeds[] = {
    "h\t@" SAID, "a\t@" SAID "H\t@" SAID "z\t1" SAID, "h\t-9223372036854775808" SAID "i\t@" SAID,
    "h\t@\t0\t0\t-\t-\t-\t-\t-\t-\n", "h\t@\t-1\t-1\t\t\t\t\t\t\n", "h\n\t\n", "", NULL
};

static char path[4096 + 32];

static void add_line(struct hrun_buf *out, const char *line, size_t len)
{
    const char *tab = memchr(line, '\t', len), *rest = tab ? tab + 1 : line + len;
    struct hrun_buf b = HRUN_BUF_INIT, sum = HRUN_BUF_INIT;

    if (tab && rest < line + len && *rest == '@')
        hrun_buf_addf(&b, "%lld", (long long)time(NULL)), rest++;
    hrun_buf_add(&b, rest, (size_t)(line + len - rest));
    hrun_buf_add(&sum, line, (size_t)((tab ? tab : rest) - line));
    hrun_buf_addf(out, "%08lx\t", crc32(crc32(0, (const Bytef *)sum.data, (uInt)sum.len), (const Bytef *)b.data,
                                        (uInt)b.len));
    hrun_buf_add(out, sum.data, sum.len);
    hrun_buf_addc(out, '\t');
    hrun_buf_add(out, b.data, b.len);
    hrun_buf_addc(out, '\n');
    hrun_buf_release(&sum);
    hrun_buf_release(&b);
}

static int same(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static void check(void)
{
    const struct hrun_cluster_request req = { .cache_dir = fuzz_folder(), .via = "ssh" };
    struct hrun_cache *cache = hrun_cache_open(&req, "own");
    struct hrun_host_answer *t = hrun_cache_find(cache, "h"), *back;
    char *why;

    FUZZ_CHECK(cache);
    if (t) {
        FUZZ_CHECK(t->remembered && !t->topo && t->asked_s > 0 && t->memory_bytes <= 1ull << 60);
        hrun_cache_put(cache, "h", t);
    }
    why = hrun_cache_close(cache);
    FUZZ_CHECK(!why);
    if (!t)
        return;
    cache = hrun_cache_open(&req, "own");
    back = hrun_cache_find(cache, "h");
    FUZZ_CHECK(back && back->asked_s == t->asked_s && back->key == t->key && back->memory_bytes == t->memory_bytes);
    FUZZ_CHECK(same(back->usable, t->usable) && same(back->cpu_model, t->cpu_model) && same(back->mpi, t->mpi));
    FUZZ_CHECK(fabs(back->cpu_quota - t->cpu_quota) <= 1e-6);
    FUZZ_CHECK(same(back->fingerprint, t->fingerprint) && same(back->machine, t->machine));
    hrun_host_answer_destroy(back);
    hrun_host_answer_destroy(t);
    FUZZ_CHECK(!hrun_cache_close(cache));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hrun_buf text = HRUN_BUF_INIT;
    const char *line = (const char *)data, *end = line + size, *stop;

    if (!path[0])
        snprintf(path, sizeof path, "%s/hosts-%08lx", fuzz_folder(), crc32(0, (const Bytef *)"ownssh", 6));
    hrun_buf_adds(&text, "hrun-hosts 1\n");
    for (; line && line < end; line = stop ? stop + 1 : end) {
        stop = memchr(line, '\n', (size_t)(end - line));
        add_line(&text, line, (size_t)((stop ? stop : end) - line));
    }
    fuzz_write(path, text.data, text.len);
    check();
    hrun_buf_release(&text);
    return 0;
}
