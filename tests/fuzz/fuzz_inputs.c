/* fuzz_inputs.c - any text as the ledger of input files: a file that the user has changed stays as it is, unless the
 * ledger says that hrun wrote just that; then the file holds what the definition says, and a second time nothing has to
 * be done. "@" stands for the file's path. */
#include "fuzz.h"

#include "app/app.h"

#define HIS "his own\n"       /* CRC-32: 488967053 */
#define OURS "ours\n"

const char *const fuzz_seeds[] = {
    "{\"path\": \"@\", \"crc32\": 488967053, \"length\": 8}\n",
    "{\"path\": \"@\", \"crc32\": 1, \"length\": 8, \"was_crc32\": 488967053, \"was_length\": 8}\n",
    "{\"path\": \"/a%2Fb%0A%25\", \"crc32\": 4294967295, \"length\": 9223372036854775807}\n{\"path\": \"@\", \"cr",
    "{\"path\": \"@\", \"crc32\": -1, \"length\": 1e3}\n[]\n\"\"\n%%%\n", "", NULL
};

static char file[4096 + 16], ledger[4096 + 16];

static void read_back(const char *path, struct hrun_buf *out)
{
    hrun_buf_reset(out);
    FUZZ_CHECK(!hrun_file_read(path, 1 << 20, out, NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char name[] = "a", path[] = "in", content[] = OURS;
    struct hrun_app_file one = { path, content };
    const struct hrun_app app = { .name = name, .files = &one, .nfiles = 1 };
    const struct hrun_app_values v = { 1, 1, NULL };
    struct hrun_buf text = HRUN_BUF_INIT, now = HRUN_BUF_INIT;
    struct hrun_error err = { 0 };

    if (!file[0]) {
        snprintf(file, sizeof file, "%s/in", fuzz_folder());
        snprintf(ledger, sizeof ledger, "%s/ledger", fuzz_folder());
    }
    for (size_t i = 0; i < size; i++)
        if (data[i] == '@')
            hrun_buf_adds(&text, file);
        else
            hrun_buf_add(&text, data + i, 1);
    fuzz_write(ledger, text.data, text.len);
    fuzz_write(file, HIS, strlen(HIS));
    if (hrun_app_write_files(&app, &v, fuzz_folder(), ledger, 0, &err)) {
        FUZZ_CHECK(err.code == HRUN_EEXISTS && strstr(err.text, file));
        read_back(file, &now);
        FUZZ_CHECK(!strcmp(now.data, HIS));
        read_back(ledger, &now);
        FUZZ_CHECK(now.len == text.len && !memcmp(now.data, text.data, text.len));
    } else {
        FUZZ_CHECK(memmem(text.data, text.len, "488967053", 9));
        read_back(file, &now);
        FUZZ_CHECK(!strcmp(now.data, OURS));
        fuzz_write(file, HIS, strlen(HIS));     /* as an interruption leaves it */
        FUZZ_CHECK(!hrun_app_write_files(&app, &v, fuzz_folder(), ledger, 0, &err));
    }
    hrun_buf_release(&text);
    hrun_buf_release(&now);
    return 0;
}
