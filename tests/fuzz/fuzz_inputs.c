/* fuzz_inputs.c - any text as an input file that is there: it stays as it is, unless its mark says that hrun wrote it;
 * then the file holds what the definition says, and is hrun's own again */
#include "fuzz.h"

#include "app/app.h"
#include "app/inputs.h"
#include "app/template.h"

const char *const fuzz_seeds[] = {
    "ours 7 hrun:e6c2bc45\n", "ours 7 hrun:00000000\n", "hrun:", "hrun:hrun:00000000", "", NULL
};

static void read_back(const char *path, struct hrun_buf *out)
{
    hrun_buf_reset(out);
    FUZZ_CHECK(!hrun_file_read(path, 1 << 20, out, NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char name[] = "a", path[] = "in", content[] = "ours {N} hrun:00000000\n", file[4096 + 16];
    struct hrun_app_file one = { path, content };
    const struct hrun_app app = { .name = name, .run = { .files = &one, .nfiles = 1 } };
    struct hrun_buf now = HRUN_BUF_INIT;
    struct hrun_error err = { 0 };

    snprintf(file, sizeof file, "%s/in", fuzz_folder());
    fuzz_write(file, (const char *)data, size);
    if (hrun_app_write_files(&app, &(struct hrun_app_values){ 1, 1, NULL }, fuzz_folder(), 0, 0, &err)) {
        FUZZ_CHECK(err.code == HRUN_EEXISTS && strstr(err.text, file));
        read_back(file, &now);
        FUZZ_CHECK(now.len == size && !memcmp(now.data, data, size));
    } else {
        FUZZ_CHECK(memmem(data, size, "hrun:", 5));
        for (int N = 1; N < 3; N++) {
            FUZZ_CHECK(!hrun_app_write_files(&app, &(struct hrun_app_values){ N, 1, NULL }, fuzz_folder(), 0, 0, &err));
            read_back(file, &now);
            FUZZ_CHECK(!strncmp(now.data, N == 1 ? "ours 1 hrun:" : "ours 2 hrun:", 12));
        }
    }
    hrun_buf_release(&now);
    return 0;
}
