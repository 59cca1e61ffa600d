/* test_store_hold.c - a profile held over reading, fitting and storing: others wait, whatever the holder does with
 * the store meanwhile (a POSIX lock ends when any descriptor of its file is closed) */
#include "store.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

static char *dir, *logfile, *lockfile;
static struct hrun_store *store;

/* Has some process the lock of the profile, seen from another process? 1, 0, or -1. */
static int locked(void)
{
    int status;
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        struct flock lk = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
        int fd = open(lockfile, O_RDWR);

        _exit(fd < 0 ? 2 : fcntl(fd, F_GETLK, &lk) ? 3 : lk.l_type != F_UNLCK);
    }
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) < 2 ? WEXITSTATUS(status) : -1;
}

static int put_models(int nsamples)
{
    struct hrun_models m = { .app = APP, .signature = SIG, .nsamples = nsamples };

    return hrun_store_put_models(store, &m, NULL);
}

static void test_held(void)
{
    struct hrun_sample s = plain_sample(1);
    struct hrun_samples got = { 0 };
    struct hrun_models *m = NULL;
    struct hrun_error err = { 0 };
    struct hrun_buf text;

    ok(!hrun_store_begin(store, APP, SIG, &err), "a profile is held: %s", err.text);
    is_int(locked(), 1, "others are kept out");
    ok(hrun_store_begin(store, APP, "other", &err) == -1 && err.code == HRUN_EINVAL, "one at a time");
    has_str(err.text, "the profile of " APP " on " SIG " is locked already", "is said");
    ok(!hrun_store_append(store, APP, SIG, &s, &err), "adding a record");
    is_int(locked(), 1, "keeps the lock");
    text = read_file(logfile);
    hrun_buf_adds(&text, "torn");
    write_file(logfile, text.data, text.len);
    ok(!hrun_store_samples(store, APP, SIG, &got, &err) && got.n == 1 && got.bad == 1, "reading a torn log");
    is_int(locked(), 1, "keeps it too");
    ok(!put_models(1) && !hrun_store_get_models(store, APP, SIG, &m, &err) && m, "so do models written and read");
    is_int(locked(), 1, "to the end");
    ok(!hrun_store_append(store, APP, "other", &s, &err), "another profile of the same store may be added to");
    is_int(locked(), 1, "meanwhile");
    hrun_store_end(store);
    is_int(locked(), 0, "then it is free");
    hrun_store_end(store);
    ok(!hrun_store_begin(store, APP, SIG, &err), "and can be held again");
    hrun_store_close(store);
    is_int(locked(), 0, "until the store is closed");
    store = open_store(dir);
    ok(hrun_store_begin(store, "../x", SIG, &err) == -1 && err.code == HRUN_EINVAL, "no name");
    hrun_samples_release(&got);
    hrun_models_destroy(m);
    hrun_buf_release(&text);
}

/* Two processes add a measurement each and store models of all that they see, at the same time and often: the models
 * that stand at last are of all measurements. */
static void test_two(void)
{
    enum { PROCESSES = 2, ROUNDS = 40 };
    struct hrun_models *m = NULL;
    struct hrun_samples got = { 0 };
    struct hrun_error err = { 0 };
    pid_t pids[PROCESSES];
    int failed = 0, status;

    unlink(logfile);
    fflush(stdout);
    for (int k = 0; k < PROCESSES; k++) {
        pids[k] = fork();
        if (pids[k] == 0) {
            int bad = 0, mine;

            for (int i = 0; i < ROUNDS; i++) {
                struct hrun_sample s = plain_sample(1 + i);

                bad += hrun_store_append(store, APP, SIG, &s, NULL) != 0 || hrun_store_begin(store, APP, SIG, NULL)
                    || hrun_store_samples(store, APP, SIG, &got, NULL);
                /* what a fit takes */
                usleep((useconds_t)(200 + 700 * k));
                mine = (int)got.n;
                bad += put_models(mine) != 0;
                hrun_samples_release(&got);
                hrun_store_end(store);
                /* a little later there are these models or newer ones, of more measurements */
                usleep(1000);
                bad += hrun_store_get_models(store, APP, SIG, &m, NULL) || m->nsamples < mine;
                hrun_models_destroy(m);
                m = NULL;
            }
            _exit(bad != 0);
        }
    }
    for (int k = 0; k < PROCESSES; k++)
        failed += waitpid(pids[k], &status, 0) != pids[k] || status != 0;
    is_int(failed, 0, "%d processes, %d rounds each", PROCESSES, ROUNDS);
    ok(!hrun_store_samples(store, APP, SIG, &got, &err) && got.n == PROCESSES * ROUNDS && got.bad == 0,
       "all measurements are there");
    ok(!hrun_store_get_models(store, APP, SIG, &m, &err) && m && m->nsamples == PROCESSES * ROUNDS,
       "the models are of all of them (%d)", m ? m->nsamples : -1);
    hrun_samples_release(&got);
    hrun_models_destroy(m);
}

int main(void)
{
    dir = temp_dir();
    store = open_store(dir);
    logfile = file_of(dir, ".log");
    lockfile = file_of(dir, ".lock");
    test_held();
    test_two();
    hrun_store_close(store);
    hrun_remove_tree(dir);
    free(logfile);
    free(lockfile);
    free(dir);
    return tap_done();
}
