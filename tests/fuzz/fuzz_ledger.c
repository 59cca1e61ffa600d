/* fuzz_ledger.c - any text as an entry of the ledger: no entry, and nothing is kept of it; or an entry that keeps the
 * invariants of session/work.h, and that is the same when it is written and read again */
#include "fuzz.h"

#include "base/units.h"
#include "ledger/internal.h"

#define ENTRY "hrun ledger 1\nstate runs\npid 4711\nticket 12\nsince 1700000000\nend 1700000600\nN 9600\n" \
              "host node1\napp hpl\nprogram ./xhpl\nversion 0.1.0\n"

const char *const fuzz_seeds[] = {
    ENTRY "use node1 0-3,8\nuse node2.domain 0\nend-of-entry\n", ENTRY "end-of-entry\n",
    ENTRY "state waits\nuse n2 7\nuse N2 7\nuse n1 \nlater word\nend-of-entry\nbehind\n",
    ENTRY "ticket 9007199254740992\nend-of-entry\n", "hrun ledger 2\nend-of-entry\n", "", NULL
};

static int is_printable(const char *s)
{
    return s && !s[strspn(s, " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`"
                             "abcdefghijklmnopqrstuvwxyz{|}~")];
}

/* Zeroed where it is none. Result: as ledger_parse. */
static int parse(const char *text, size_t len, struct hrun_ledger_entry *e)
{
    static const struct hrun_ledger_entry none;
    char *copy = malloc(len ? len : 1);
    int rc;

    FUZZ_CHECK(copy);
    memcpy(copy, text, len);
    memset(e, 0, sizeof *e);
    rc = ledger_parse(copy, len, HRUN_LEDGER_USES, e);
    FUZZ_CHECK(rc >= 0 && (!rc || !memcmp(e, &none, sizeof none)));
    free(copy);
    return rc;
}

static void check(const struct hrun_ledger_entry *e)
{
    FUZZ_CHECK(e->pid > 0 && e->ticket >= 0 && e->ticket < HRUN_COUNT_MAX);
    FUZZ_CHECK(e->since_s >= 0 && e->end_s >= 0 && e->N >= 0 && e->N <= HRUN_COUNT_MAX);
    FUZZ_CHECK(is_printable(e->host) && is_printable(e->app) && is_printable(e->program) && is_printable(e->version));
    for (int i = 0; i < e->nuses; i++) {
        FUZZ_CHECK(is_printable(e->uses[i].host) && e->uses[i].host[0] && is_printable(e->uses[i].pus));
        FUZZ_CHECK(!i || hrun_ledger_host_order(e->uses[i - 1].host, e->uses[i].host) <= 0);
    }
    FUZZ_CHECK(!ledger_order(e, e));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hrun_buf once = HRUN_BUF_INIT, twice = HRUN_BUF_INIT;
    struct hrun_ledger_entry e, back;

    if (!parse((const char *)data, size, &e)) {
        check(&e);
        ledger_print(&e, e.state == HRUN_LEDGER_WAITS, e.ticket, &once);
        FUZZ_CHECK(!parse(once.data, once.len, &back));
        check(&back);
        FUZZ_CHECK(back.nuses == e.nuses && ledger_meet(&e, &back) == ledger_meet(&back, &e));
        ledger_print(&back, back.state == HRUN_LEDGER_WAITS, back.ticket, &twice);
        FUZZ_CHECK(!strcmp(once.data, twice.data));
        ledger_entry_release(&e);
        ledger_entry_release(&back);
    }
    hrun_buf_release(&once);
    hrun_buf_release(&twice);
    return 0;
}
