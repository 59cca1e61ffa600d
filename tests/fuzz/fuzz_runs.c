/* fuzz_runs.c - "P<newline>CONFIGURATION<newline>CLUSTER<newline>SIGNATURES": any texts of a record as a run of a
 * cluster of three sub-clusters: none, or a configuration of P processes */
#include "fuzz.h"

#include "model/rows.h"

const char *const fuzz_seeds[] = {
    "9\n(4,2,1,1)\na,b\nx,y", "8\n(4,2)\nb\ny", "3\n(1,1,0,0,2,1)\na,b,c\nx,y,y", "8\n(4,2\n\n", "\n\n\n",
    "2147483647\n(2147483647,2147483647,2147483647,2147483647,2147483647,2147483647)\na,b,c\nx,y,y", NULL
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { SUBS = 3 };
    char *text = strndup((const char *)data, size), *next = text, *P, name[] = "a", status[] = "ok";
    struct hrun_sample s = { .N = 100, .M = 1, .pes = 1, .time_s = 1, .wall_s = 1, .ok = 1, .status = status };
    const struct hrun_joint_sub subs[SUBS] = { { "a", "x", &s, 1, 0 }, { "b", "y", &s, 1, 0 }, { "c", "y", &s, 1, 0 } };
    struct hrun_app app = { .name = name };
    struct hrun_recalled runs[SUBS];
    double shares[SUBS * SUBS];
    size_t n = 0;

    FUZZ_CHECK(text);
    P = strsep(&next, "\n");
    s.config = strsep(&next, "\n");
    s.cluster = strsep(&next, "\n");
    s.signatures = strsep(&next, "\n");
    s.shares = strsep(&next, "\n");
    s.P = (int)strtol(P, NULL, 10);
    for (s.mixed = 0; s.mixed < 2; s.mixed++) {
        hrun_recall(&app, subs, SUBS, runs, shares, &n);
        FUZZ_CHECK(n <= SUBS);
        for (size_t i = 0; i < n; i++) {
            double sum = 0;

            for (int k = 0; k < SUBS; k++) {
                int pes = runs[i].config.pes[k], procs = runs[i].config.procs[k];

                FUZZ_CHECK(pes >= 0 && procs >= 0 && !pes == !procs);
                sum += (double)pes * procs;
            }
            FUZZ_CHECK(sum == s.P && runs[i].config.nsubs == SUBS);
        }
    }
    free(text);
    return 0;
}
