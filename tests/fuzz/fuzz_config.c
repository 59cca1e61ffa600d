/* fuzz_config.c - any text as a configuration: refused with a column in it, or numbers
 * that print and parse to the same. Of an input the first byte, a digit, tells how many sub-clusters there are. */
#include "fuzz.h"

#include "base/config.h"

#include <string.h>

enum { MOST = 4 };

const char *const fuzz_seeds[] = {
    "2(4,1,0,0)", "1(4,2)", "3 ( 1 , 2,3,4,  5,6 )", "24,1,0,0", "1(2147483647,2147483647)", "1(2147483648,1)",
    "0()", "4(1,1,2,1,3,1,4,1)", "2(4,1,0)", "2(-1,1,0,0)", "1(00004,0000001)", NULL
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int nsubs = size ? (int)((unsigned)(data[0] - '0') % (MOST + 1)) : 0;
    struct hrun_config config, again;
    struct hrun_buf text = HRUN_BUF_INIT, shown = HRUN_BUF_INIT;
    struct hrun_error err = { 0 };

    if (size)
        hrun_buf_add(&text, data + 1, size - 1);
    if (hrun_config_parse(text.data, nsubs, &config, &err)) {
        FUZZ_CHECK(err.code == HRUN_EPARSE && err.text[0]);
        FUZZ_CHECK(err.column >= 1 && (size_t)err.column <= strlen(text.data) + 1);
    } else {
        FUZZ_CHECK(config.nsubs == nsubs);
        for (int i = 0; i < nsubs; i++)
            FUZZ_CHECK(config.pes[i] >= 0 && config.procs[i] >= 0);
        hrun_buf_adds(&shown, hrun_config_text(&config).s);
        FUZZ_CHECK(hrun_config_parse(shown.data, nsubs, &again, &err) == 0);
        FUZZ_CHECK(again.nsubs == nsubs && hrun_config_equal(&config, &again));
    }
    hrun_buf_release(&text);
    hrun_buf_release(&shown);
    return 0;
}
