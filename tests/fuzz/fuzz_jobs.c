/* fuzz_jobs.c - any text as a file of jobs for `hrun plan`: refused with words and a place; or jobs with names */
#include "fuzz.h"

#include "../../hrun/jobs/jobs.h"
#include "base/units.h"

const char *const fuzz_seeds[] = {
    "jobs:\n- {app: hpl, N: 9600}\n- {name: big, app: ./lu.yaml, N: 100, count: 3, define: [nb=64], program: ./x, "
    "args: [\"{N}\", ~]}\n- {app: hpl, N: 9600, name: again}\n",
    "jobs:\n  - app: hpl\n    N: 9007199254740992\n    count: 2147483647\n", "jobs: []\n",
    "jobs:\n- {app: a/, N: 1, count: 64}\n", "jobs:\n- {app: a, N: 1e3}\n", "\xEF\xBB\xBFjobs:\r\n- {app: a, N: "
    "1}\r\n", NULL
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct jobs j = { 0 };
    struct hrun_error err = { 0 };

    if (jobs_read(fuzz_file(data, size), &j, &err)) {
        FUZZ_CHECK(err.code == HRUN_EPARSE && err.text[0] && err.line >= 1 && err.column >= 1);
        FUZZ_CHECK((size_t)err.line <= size + 1 && (size_t)err.column <= size + 1);
        jobs_release(&j);
        return 0;
    }
    FUZZ_CHECK(j.n >= 1 && j.n <= JOBS_MAX);
    for (int i = 0; i < j.n; i++)
        FUZZ_CHECK(j.v[i].name[0] && j.v[i].entry->app[0] && j.v[i].entry->N >= 1 &&
                   j.v[i].entry->N <= HRUN_COUNT_MAX);
    jobs_release(&j);
    return 0;
}
