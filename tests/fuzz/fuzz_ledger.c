/* fuzz_ledger.c - any text as that of a holder of locks: no name, or texts that a terminal can show */
#include "fuzz.h"

#include "cluster/ledger.h"

#define TEXT(host, more) "{\"pid\":4711,\"since\":17,\"until\":1700000600,\"N\":9600,\"uses\":[[\"n\",\"0\"]]," \
                         "\"app\":\"hpl\",\"program\":\"./xhpl\",\"host\":" host "}" more

const char *const fuzz_seeds[] = {
    TEXT("\"node1\"", ""), TEXT("\"node1\"", "behind"), TEXT("\"\\u001b\"", ""), TEXT("\"\033[2J\"", ""), TEXT("7", ""),
    "{\"pid\":1}", "[]", "", NULL
};

static void check(const char *s)
{
    for (; *s; s++)
        FUZZ_CHECK(*s >= ' ' && *s <= '~');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct hrun_ledger *l, *other;
    static char *path;
    struct hrun_ledger_holder me = { .app = "", .program = "" };
    struct hrun_ledger_list list;
    struct hrun_error err;
    char *host = (char *)"n";

    if (!l) {
        FUZZ_CHECK(!hrun_ledger_open(fuzz_folder(), &l, &err) && !hrun_ledger_open(fuzz_folder(), &other, &err));
        hrun_ledger_want(other, host, "0");
        FUZZ_CHECK(hrun_ledger_lock(other, &me, &err) == 1 && !hrun_ledger_read(l, &host, 1, &list, &err));
        path = hrun_strf("%s/hrun-%04lx", fuzz_folder(), list.holders[0].token);
        hrun_ledger_list_release(&list);
    }
    fuzz_write(path, (const char *)data, size);
    FUZZ_CHECK(!hrun_ledger_read(l, &host, 1, &list, &err) && list.nholds == 1 && list.nholders == 1);
    check(list.holders[0].host);
    check(list.holders[0].app);
    check(list.holders[0].program);
    hrun_ledger_list_release(&list);
    return 0;
}
