/* fuzz_net.c - any text as a network file: refused with words, a place in it or its checksum; or it keeps the
 * invariants, and what a message takes is a time; printed and read again it is the same text */
#include "fuzz.h"

#include "net/net_parts.h"

#include <math.h>
#include <string.h>

#define HEAD "version: 1\nselector: openmpi\ngroups: 1\nhosts:\n- {name: a, class: 0, group: 0}\n"
#define CLASS "- C_s: {v: 1e-5, half: 1e-7}\n  t_s_per_byte: {v: 1e-9}\n  out_bytes_per_s: {v: 0}\n" \
              "  in_bytes_per_s: {v: 1e8}\n  local_bytes_per_s: 0\n  kinds: 2\n"
#define TAIL "sync_bytes: 65536\nbias_bytes: 8775\nback_share: 0.05\nreduce_s_per_byte: 1e-10\nwire_waits: 0\n" \
             "trunks_shared: 0\nthresholds: {scatter_S: 0, gather_M1: 10, gather_M2: 20, kappa1_s_per_byte: -1e-9, " \
             "kappa2_s_per_byte: 0, irregular_s: 0.2, irregular_share: 0.5}\n"

const char *const fuzz_seeds[] = {
    HEAD "classes:\n" CLASS "segments:\n- {from_bytes: 0, a: 1, b: 1}\n" TAIL,
    HEAD "- {name: b, class: 0, group: 0}\nclasses:\n" CLASS
    "  local:\n  - {from: 0, to: 1, fixed_s: {v: 1e-6, half: 0}, s_per_byte: {v: 0}}\n"
    "pairs:\n- {from: 0, to: 0, L_s: {v: 5e-5}, beta_bytes_per_s: {v: 1.25e8}}\n"
    "trunks:\n- {from: 0, to: 0, bytes_per_s: {v: 1e7}}\n"
    "segments:\n- {from_bytes: 0, a: 1, b: 1}\n- {from_bytes: 1024, a: 2, b: 0.5}\n" TAIL,
    HEAD "classes:\n" CLASS "segments:\n- {from_bytes: 0, a: 1, b: 1}\n" TAIL "# crc32 00000000\n",
    "version: 2\n", "", NULL
};

/* Every message takes a time, or nothing is known of it. */
static void check(const struct hrun_net *net)
{
    static const double sizes[] = { 0, 1, 1024, 1e6 };

    FUZZ_CHECK(!hrun_net_check(net, NULL));
    for (int i = 0; i < net->nhosts; i++) {
        FUZZ_CHECK(hrun_net_find(net, net->hosts[i]) == i);
        for (int j = 0; j < net->nhosts; j++)
            for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
                FUZZ_CHECK(!(hrun_net_p2p(net, i, 0, j, 0, sizes[k]) < 0));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hrun_buf text = HRUN_BUF_INIT, once = HRUN_BUF_INIT, twice = HRUN_BUF_INIT;
    struct hrun_net *net = NULL, *back = NULL;
    struct hrun_error err = { 0 };

    hrun_buf_add(&text, data, size);
    if (net_parse_file("f", &text, &net, &err)) {
        FUZZ_CHECK(!net && err.text[0] && !strcmp(err.file, "f"));
        FUZZ_CHECK(err.code == HRUN_ECORRUPT || (err.code == HRUN_EPARSE && err.line >= 1 && err.column >= 1));
        FUZZ_CHECK((size_t)err.line <= size + 1 && (size_t)err.column <= size + 1);
    } else {
        check(net);
        FUZZ_CHECK(!net_print(net, &once, &err) && !net_parse_file("f", &once, &back, &err));
        FUZZ_CHECK(!net_print(back, &twice, &err) && !strcmp(once.data, twice.data));
    }
    hrun_net_destroy(net);
    hrun_net_destroy(back);
    hrun_buf_release(&text);
    hrun_buf_release(&once);
    hrun_buf_release(&twice);
    return 0;
}
