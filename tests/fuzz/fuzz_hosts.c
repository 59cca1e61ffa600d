/* fuzz_hosts.c - any text as a host file and as what --host says: refused with a place in it, the list as before; or
 * hosts that are each listed once, with slots and places that can be */
#include "fuzz.h"

#include "base/list.h"
#include "cluster/internal.h"

#include <strings.h>

const char *const fuzz_seeds[] = {
    "# nodes\na slots=4\nb-[0-3] slots = 2 max_slots=8\r\n\n[::1]:2 # own\nn[098-101]:3\n"
    "last", "a:2,b,p4-[0-3,7]:4,[fe80::1]",
    "a\nA\n", "a slots=65537", "a slots=4 slots=4", "x[1-", "a:2 slots=3", "\xef\xbb\xbf" "a", "", NULL
};

static int read_list(const char *text, size_t size, int is_file, struct hrun_host_list *list, struct hrun_error *err)
{
    return is_file ? hrun_hostfile_read(fuzz_file(text, size), 0, list, err) : hrun_hosts_parse(text, list, err);
}

static void check(const char *text, size_t size, int is_file)
{
    static struct hrun_host_entry before;
    struct hrun_host_list list = { .v = &before, .n = 0, .cap = 7 }, found = HRUN_HOST_LIST_INIT;
    struct hrun_error err = { 0 };
    int rc = read_list(text, size, is_file, &found, &err);

    if (rc) {
        FUZZ_CHECK(!found.v && !found.n && err.code == HRUN_EPARSE && err.text[0]);
        FUZZ_CHECK((size_t)err.line <= size + 1 && (size_t)err.column <= size + 1);
        FUZZ_CHECK(read_list(text, size, is_file, &list, NULL) && list.v == &before && list.cap == 7);
    }
    for (size_t i = 0; i < found.n; i++) {
        const struct hrun_host_entry *e = &found.v[i];

        FUZZ_CHECK(e->name[0] && !strpbrk(e->name, " \t\r\n,#"));
        FUZZ_CHECK(e->slots >= 0 && e->slots <= HRUN_CORES_MAX && e->line >= 1 && e->column >= 1);
        FUZZ_CHECK((size_t)e->line <= size + 1 && (size_t)e->column <= size + 1);
        for (size_t k = i > 8 ? i - 8 : 0; k < i; k++)
            FUZZ_CHECK(strcasecmp(e->name, found.v[k].name));
    }
    FUZZ_CHECK(rc || found.n);
    hrun_host_list_release(&found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hrun_buf text = HRUN_BUF_INIT;

    hrun_buf_add(&text, data, size);
    check(text.data, size, 1);
    check(text.data, strlen(text.data), 0);
    hrun_buf_release(&text);
    return 0;
}
