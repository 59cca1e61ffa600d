/* fuzz_records.c - any text as records of the network benchmark: refused with words, the outputs untouched; or records
 * that are the same when they are written and read again, and from which a network is estimated that can be stored */
#include "fuzz.h"

#include "net/estimate.h"
#include "net/net_parts.h"

#define HOSTS "network 1 3\nhost 0 a 0 2 0\nhost 1 b 0 1 0\nhost 2 c 1 1 0\n"

const char *const fuzz_seeds[] = {
    HOSTS "trip 0 1 -1 0 0 0 20 1e-4 1e-6 2e-4 1.1e-4\ntrip 0 2 -1 0 0 0 20 1e-4 1e-6 2e-4\n"
    "trip 1 2 -1 0 0 0 20 1e-4 0 1e-4\ntrip 0 1 -1 0 65536 0 9 1e-3 1e-6 2e-3\nfan 0 1 2 0 1024 0 5 3e-4 0 3e-4\n"
    "join 0 1 2 0 1024 512 5 3e-4 0 3e-4\ncall 0 1 -1 0 100 0 5 0 0 0\nboth 0 1 -1 0 1e6 0 5 1e-2 0 1e-2\n"
    "local 0 0 1 1 100 0 5 1e-6 0 1e-6\nscatter 0 -1 -1 2 1e5 0 5 1e-3 0 1e-3\ngather 0 -1 -1 2 1e5 0 5 0.2 0 0.2\n"
    "sync 0 1 -1 1 65536 0 5 1e-2 0 1e-2\nsync 0 1 -1 0 1024 0 5 0 0 0\nspent 1.5\nend\n",
    "words\nnetwork 1 1\nhost 0 a 0 2 0\nlocal 0 0 1 0 0 0 5 1e-6 0 1e-6\nlocal 0 1 1 0 1e6 0 5 1e-3 0 1e-3\nend\n",
    "network 1 4\nhost 0 a 0 1 0\nhost 1 b 0 1 0\nhost 2 c 0 1 1\nhost 3 d 0 1 1\ntrip 0 1 -1 0 0 0 2 1e-4 0 1e-4\n"
    "pairs 0 1 -1 2 1e5 0 5 1e-3 0 1e-3\nend\n", "network 1 1\nend\n", "network 1 1048576\n", "network 2 1\n", "", NULL
};

static int parse(const char *text, struct hrun_net_records *out)
{
    static const struct hrun_net_records none;
    struct hrun_error err = { 0 };

    *out = none;
    if (!hrun_net_records_parse(text, out, &err))
        return 0;
    FUZZ_CHECK((err.code == HRUN_EPARSE || err.code == HRUN_ENODATA) && err.text[0]);
    FUZZ_CHECK(!memcmp(out, &none, sizeof none));
    return -1;
}

/* A network that can be written and read, unless a name is not UTF-8; or words. */
static void check_estimate(const struct hrun_net_records *r)
{
    struct hrun_net *net = NULL, *back = NULL;
    struct hrun_buf text = HRUN_BUF_INIT;
    struct hrun_error err = { 0 };

    if (hrun_net_estimate(r, &net, NULL, &err)) {
        FUZZ_CHECK(!net && err.code && err.text[0]);
    } else {
        FUZZ_CHECK(!hrun_net_check(net, NULL));
        if (net_print(net, &text, &err))
            FUZZ_CHECK(err.code == HRUN_EINVAL && err.text[0]);
        else
            FUZZ_CHECK(!net_parse("f", text.data, text.len, &back, &err));
    }
    hrun_net_destroy(net);
    hrun_net_destroy(back);
    hrun_buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hrun_buf text = HRUN_BUF_INIT, once = HRUN_BUF_INIT, twice = HRUN_BUF_INIT;
    struct hrun_net_records r, back;

    hrun_buf_add(&text, data, size);
    if (!parse(text.data, &r)) {
        hrun_net_records_print(&r, &once);
        FUZZ_CHECK(!parse(once.data, &back) && back.n == r.n);
        hrun_net_records_print(&back, &twice);
        FUZZ_CHECK(!strcmp(once.data, twice.data));
        if (r.nhosts <= 8 && r.n <= 64)
            check_estimate(&r);
        hrun_net_records_release(&r);
        hrun_net_records_release(&back);
    }
    hrun_buf_release(&text);
    hrun_buf_release(&once);
    hrun_buf_release(&twice);
    return 0;
}
