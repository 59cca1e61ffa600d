/* fuzz_notes.c - any line as what other programs tell hrun of a run: a note of an agent, a word of srun or of SimGrid.
 * It is nothing of interest, or what it says lies in the line and can be. Notes are the same when they are written and
 * read again. */
#include "fuzz.h"

#include "launch/notes.h"
#include "launch/slurm.h"
#include "launch/engines/smpi.h"
#include "launch/engines/srun.h"

#include <limits.h>
#include <math.h>
#include <signal.h>

const char *const fuzz_seeds[] = {
    "begun\tnode1\t0\t", "lost\tnode1.domain\t255\tConnection closed", "late\tn\t0\t30", "up\t\t-1\t\t",
    "srun: launching StepId=5.3 on host h1, 2 tasks: [1,3]", "srun: launch/slurm: _task_start: Node h1, 2 tasks "
    "started",
    "srun: launch/slurm: _task_finish: Received task exit notification for 1 task of StepId=5.3 (status=0x0300).",
    "srun: error: h1: task 3: Exited with exit code 3", "srun: error: h1: tasks 0-2,4: Killed",
    "srun: error: h1: task 3: Segmentation fault (core dumped)", "srun: error: h1: task 3: Real-time signal 2",
    "srun: launch/slurm: _task_finish: h1: tasks 1,3: Completed", "srun: error: Node failure on h3",
    "srun: Job step aborted: Waiting up to 4 seconds for job step to finish.", "srun: fatal: x",
    "srun: Job 7 step creation temporarily disabled, retrying", "clock 1.5e3", "clock inf",
    "srun: error: h1: task 3: Real-time signal 2147483647", "srun: error: h1: task 3: Exited with exit code 4294967299",
    "srun: error: h1: task 4294967299: Killed", "INFO smpi_kernel 3 SMPI process did not return 0. Return value : "
    "1e300",
    "INFO smpi_kernel 3 SMPI process did not return 0. Return value : 7", "WARNING root maestro x",
    "CRITICAL xbt_exception maestro Uncaught exception std::out_of_range: Bad config key", NULL
};

static void check_note(const char *line)
{
    struct hrun_note_read n = { .number = -4711 }, back;
    char written[4096];
    int ends[2];
    ssize_t len;

    if (hrun_note_parse(line, &n)) {
        FUZZ_CHECK(n.number == -4711 && !n.host[0] && !n.text[0]);
        return;
    }
    FUZZ_CHECK((unsigned)n.kind < HRUN_NOTE_KINDS && strlen(n.host) < sizeof n.host && strlen(n.text) < sizeof n.text);
    FUZZ_CHECK(!pipe(ends));
    hrun_note_write(ends[1], n.kind, n.host, n.number, n.text);
    close(ends[1]);
    len = read(ends[0], written, sizeof written - 1);
    close(ends[0]);
    FUZZ_CHECK(len > 0 && written[len - 1] == '\n' && memchr(written, '\n', (size_t)len) == written + len - 1);
    written[len - 1] = 0;
    FUZZ_CHECK(!hrun_note_parse(written, &back) && back.kind == n.kind && back.number == n.number);
    FUZZ_CHECK(strlen(back.host) == strlen(n.host) && strlen(back.text) == strlen(n.text));
}

static void check_srun(const char *line)
{
    struct hrun_srun_said said;

    hrun_srun_read(line, &said);
    FUZZ_CHECK(memchr(said.step, 0, sizeof said.step));
    FUZZ_CHECK(!said.text || (said.text >= line && said.text + said.len <= line + strlen(line)));
    if (said.kind == HRUN_SRUN_STARTED)
        FUZZ_CHECK(said.ntasks >= 0);
    if (said.kind == HRUN_SRUN_TASKS)
        FUZZ_CHECK(said.task >= 0 && said.signal >= 0 && said.signal <= SIGRTMAX && said.status >= 0 &&
                   said.status <= 255);
}

static void check_smpi(const char *line)
{
    struct hrun_smpi_said said;

    hrun_smpi_read(line, &said);
    FUZZ_CHECK(said.rank >= -1 && (!said.text || (said.text >= line && said.text <= line + strlen(line))));
    FUZZ_CHECK(said.kind != HRUN_SMPI_CLOCK || (isfinite(said.value) && said.value >= 0));
    FUZZ_CHECK(said.kind != HRUN_SMPI_STATUS || (said.value >= INT_MIN && said.value <= INT_MAX));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hrun_buf line = HRUN_BUF_INIT;

    hrun_buf_add(&line, data, size);
    check_note(line.data);
    check_srun(line.data);
    check_smpi(line.data);
    hrun_buf_release(&line);
    return 0;
}
