/* fuzz_hostlist.c - any text: refused with a column in it, or expanded, folded and expanded to the same */
#include "fuzz.h"

#include "base/list.h"

#include <string.h>

const char *const fuzz_seeds[] = {
    "p4-[0-7,9],xe-[00-15],head", "r[1-2]n[0-3]", "[::1],[fe80::1],a", "n[098-101]", "a1,a2,a3,b1",
    "a[1,3-5]b[07-11].c",
    "n[999999999999999990-999999999999999999]", "x[0-255][0-255]", NULL
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hrun_strvec names = HRUN_STRVEC_INIT, again = HRUN_STRVEC_INIT;
    struct hrun_buf text = HRUN_BUF_INIT, folded = HRUN_BUF_INIT;
    struct hrun_error err = { 0 };

    hrun_buf_add(&text, data, size);
    if (hrun_hostlist_parse(text.data, &names, &err)) {
        FUZZ_CHECK(names.n == 0);
        FUZZ_CHECK(err.code == HRUN_EPARSE && err.text[0]);
        FUZZ_CHECK(err.column >= 1 && (size_t)err.column <= strlen(text.data) + 1);
    } else {
        FUZZ_CHECK(names.n >= 1 && names.n <= HRUN_HOSTLIST_MAX);
        hrun_hostlist_print(names.v, names.n, &folded);
        FUZZ_CHECK(hrun_hostlist_parse(folded.data, &again, &err) == 0);
        FUZZ_CHECK(again.n == names.n);
        for (size_t i = 0; i < names.n; i++)
            FUZZ_CHECK(strcmp(names.v[i], again.v[i]) == 0);
    }
    hrun_strvec_release(&names);
    hrun_strvec_release(&again);
    hrun_buf_release(&text);
    hrun_buf_release(&folded);
    return 0;
}
