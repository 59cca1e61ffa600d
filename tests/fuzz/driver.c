/* driver.c - run a fuzz target without libFuzzer
 *
 *   TARGET FILE...              each file once, as it is
 *   TARGET -n ROUNDS [-s SEED] [FILE...]
 *                               ROUNDS mutations of the target's seeds and of the files. Round r depends on
 *                               SEED and r only, so that a failure comes back anywhere.
 *   TARGET -r ROUND [-s SEED] [FILE...]
 *                               that one round
 * A failure shows round and input on standard error.
 */
#include "fuzz.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

enum {
    LONGEST = 4096,    /* bytes of a mutated input: formats are understood long before */
    OPERATIONS = 6     /* at most so many changes of a seed */
};

struct input {
    uint8_t *data;
    size_t size;
};

static struct {
    long round;
    const uint8_t *data;
    size_t size;
} now;

/* gcc and clang offer it when a sanitizer is linked */
extern void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void tell(void)
{
    fprintf(stderr, "# failed in round %ld, input of %zu bytes:\n# \"", now.round, now.size);
    for (size_t i = 0; i < now.size; i++) {
        int c = now.data[i];
        if (c >= 32 && c < 127 && c != '"' && c != '\\')
            fputc(c, stderr);
        else
            fprintf(stderr, "\\%03o", c);
    }
    fprintf(stderr, "\"\n");
}

static void on_signal(int sig)
{
    tell();
    signal(sig, SIG_DFL);
    raise(sig);
}

static void run(long round, const uint8_t *data, size_t size)
{
    /* exactly as large as the input, so that a sanitizer sees the first byte read behind it */
    uint8_t *copy = malloc(size ? size : 1);

    if (!copy)
        abort();
    if (size)
        memcpy(copy, data, size);
    now.round = round;
    now.data = copy;
    now.size = size;
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

/* xorshift64* (Marsaglia 2003, Vigna 2016) */
static uint64_t next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

static size_t below(uint64_t *state, size_t n)
{
    return n ? (size_t)((next(state) >> 16) % n) : 0;
}

/* Put from[n] at `at` of buf[*size]; what does not fit is dropped. */
static void insert(uint8_t *buf, size_t *size, size_t at, const uint8_t *from, size_t n)
{
    uint8_t part[LONGEST];

    if (n > LONGEST - *size)
        n = LONGEST - *size;
    memcpy(part, from, n); /* from may lie in buf */
    memmove(buf + at + n, buf + at, *size - at);
    memcpy(buf + at, part, n);
    *size += n;
}

static size_t mutate(uint64_t *state, const struct input *in, size_t nin, uint8_t *buf)
{
    static const char special[] = "[]{},:-_.#&*!|>'\"%@`?\\ \t\n\r0123456789aeEkKiBMGThmsd+~";
    const struct input *first = &in[below(state, nin)], *other;
    size_t size = first->size < LONGEST ? first->size : LONGEST;

    memcpy(buf, first->data, size);
    for (size_t n = below(state, OPERATIONS + 1); n > 0; n--) {
        size_t at = below(state, size + 1), len = below(state, size - at + 1);
        uint8_t c = (uint8_t)next(state);
        switch (below(state, 8)) {
        case 0:
            if (size)
                buf[below(state, size)] ^= (uint8_t)(1u << below(state, 8));
            break;
        case 1:
            insert(buf, &size, at, &c, 1);
            break;
        case 2:
        case 3:
            c = (uint8_t)special[below(state, sizeof special - 1)];
            insert(buf, &size, at, &c, 1);
            break;
        case 4:
            memmove(buf + at, buf + at + len, size - at - len);
            size -= len;
            break;
        case 5:
            insert(buf, &size, below(state, size + 1), buf + at, len);
            break;
        case 6:
            other = &in[below(state, nin)];
            at = below(state, other->size + 1);
            insert(buf, &size, below(state, size + 1), other->data + at, below(state, other->size - at + 1));
            break;
        default:
            if (at < size)
                buf[at] = (uint8_t)special[below(state, sizeof special - 1)];
        }
    }
    return size;
}

static int read_input(const char *path, struct input *in)
{
    FILE *f = fopen(path, "rb");
    size_t cap = 0, got = 1;

    in->data = NULL;
    in->size = 0;
    while (f && got > 0) {
        if (in->size == cap) {
            uint8_t *grown = realloc(in->data, cap = cap ? 2 * cap : 4096);
            if (!grown)
                break;
            in->data = grown;
        }
        got = fread(in->data + in->size, 1, cap - in->size, f);
        in->size += got;
    }
    if (!f || ferror(f) || got > 0) {
        perror(path);
        if (f)
            fclose(f);
        return -1;
    }
    fclose(f);
    return 0;
}

int main(int argc, char **argv)
{
    uint8_t buf[LONGEST];
    struct input *in;
    size_t nin = 0, nseeds = 0;
    long rounds = 0, only = -1;
    unsigned long long seed = 1;
    int opt, rc = 0;

    while ((opt = getopt(argc, argv, "n:s:r:")) != -1)
        switch (opt) {
        case 'n':
            rounds = atol(optarg);
            break;
        case 's':
            seed = strtoull(optarg, NULL, 10);
            break;
        case 'r':
            only = atol(optarg);
            rounds = only + 1;
            break;
        default:
            fprintf(stderr, "usage: %s [-n ROUNDS | -r ROUND] [-s SEED] [FILE...]\n", argv[0]);
            return 2;
        }
    signal(SIGABRT, on_signal);
    signal(SIGSEGV, on_signal);
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(tell);
    while (fuzz_seeds[nseeds])
        nseeds++;
    in = calloc(nseeds + (size_t)argc, sizeof *in);
    if (!in)
        return 1;
    for (; nin < nseeds; nin++)
        in[nin] = (struct input){ (uint8_t *)fuzz_seeds[nin], strlen(fuzz_seeds[nin]) };
    for (int i = optind; i < argc && !rc; i++)
        rc = read_input(argv[i], &in[nin++]);
    /* -1, -2, ...: the inputs as they are */
    for (size_t i = 0; i < nin && !rc && only < 0; i++)
        run(-1 - (long)i, in[i].data, in[i].size);
    for (long r = only < 0 ? 0 : only; r < rounds && !rc; r++) {
        /* SplitMix64's increment (Steele, Lea, Flood 2014) spreads neighbouring rounds */
        uint64_t state = (seed ^ UINT64_C(0x9E3779B97F4A7C15) * (uint64_t)(r + 1)) | 1;
        for (int i = 0; i < 4; i++)
            next(&state);
        run(r, buf, mutate(&state, in, nin, buf));
    }
    for (size_t i = nseeds; i < nin; i++)
        free(in[i].data);
    free(in);
    if (!rc)
        printf("%zu inputs, %ld mutations, seed %llu: no failure\n", nin, only < 0 ? rounds : 1, seed);
    return rc ? 1 : 0;
}
