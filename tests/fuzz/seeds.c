/* seeds.c - give libFuzzer the inputs of a target, which driver.c starts from, too
 *
 * libFuzzer reads its first inputs from the folders that its command line names: the seeds are written into each.
 */
#include "fuzz.h"

#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);

static void write_seeds(const char *folder)
{
    for (int i = 0; fuzz_seeds[i]; i++) {
        char path[4096];
        FILE *f;

        snprintf(path, sizeof path, "%s/seed-%d", folder, i);
        f = fopen(path, "w");
        if (!f || fputs(fuzz_seeds[i], f) < 0 || fclose(f)) {
            perror(path);
            exit(1);
        }
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    struct stat st;

    for (int i = 1; i < *argc; i++)
        if ((*argv)[i][0] != '-' && !stat((*argv)[i], &st) && S_ISDIR(st.st_mode))
            write_seeds((*argv)[i]);
    return 0;
}
