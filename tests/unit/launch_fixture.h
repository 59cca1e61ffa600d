/* launch_fixture.h - a job on this host for the tests of lib/launch, and what must be gone after it */
#ifndef HRUN_TESTS_LAUNCH_FIXTURE_H
#define HRUN_TESTS_LAUNCH_FIXTURE_H

#include "base/buf.h"
#include "base/file.h"
#include "launch/launch.h"
#include "tap.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

struct fixture {
    struct hrun_topo *topo;
    struct hrun_topo_pe *tpes;
    struct hrun_pe *pes;
    int npes;
    char host_name[256];
    struct hrun_host host;
    struct hrun_subcluster sub;
    struct hrun_cluster cluster;
    char tmp[64];                /* TMPDIR of the test: must be empty after each job */
    struct hrun_buf messages, output, errors;
};

/* One sub-cluster: the cores of this host. 0, or -1 with a failed check. */
__attribute__((unused))
static int fixture_open(struct fixture *f)
{
    struct hrun_error err;

    memset(f, 0, sizeof *f);
    hrun_buf_init(&f->messages);
    hrun_buf_init(&f->output);
    hrun_buf_init(&f->errors);
    strcpy(f->tmp, "/tmp/hrun-test.XXXXXX");
    if (!mkdtemp(f->tmp) || setenv("TMPDIR", f->tmp, 1) || gethostname(f->host_name, sizeof f->host_name - 1))
        return ok(0, "a folder for the test") - 1;
    f->topo = hrun_topo_load(HRUN_TOPO_THIS, NULL, &err);
    if (!f->topo || hrun_topo_pes(f->topo, HRUN_LEVEL_CORE, 0, &f->tpes, &f->npes, &err))
        return ok(0, "the topology: %s", err.text) - 1;
    f->pes = calloc((size_t)f->npes, sizeof *f->pes);
    for (int i = 0; i < f->npes; i++)
        f->pes[i] = (struct hrun_pe){ .index = i, .cpuset = f->tpes[i].cpuset, .cores = f->tpes[i].cores,
                                      .ncores = f->tpes[i].ncores, .npus = f->tpes[i].npus };
    f->host = (struct hrun_host){ .name = f->host_name, .is_local = 1, .topo = f->topo };
    f->sub = (struct hrun_subcluster){ .name = (char *)"here", .level = HRUN_LEVEL_CORE, .pes = f->pes,
                                       .npes = f->npes };
    f->cluster = (struct hrun_cluster){ .source = (char *)"this host", .hosts = &f->host, .nhosts = 1,
                                        .subs = &f->sub, .nsubs = 1 };
    return 0;
}

__attribute__((unused))
static void fixture_close(struct fixture *f)
{
    hrun_buf_release(&f->messages);
    hrun_buf_release(&f->output);
    hrun_buf_release(&f->errors);
    free(f->pes);
    hrun_topo_pes_free(f->tpes, f->npes);
    hrun_topo_destroy(f->topo);
    hrun_remove_tree(f->tmp);
}

__attribute__((unused))
static void fixture_message(void *ctx, const char *text)
{
    struct fixture *f = ctx;

    hrun_buf_addf(&f->messages, "%s\n", text);
}

__attribute__((unused))
static void fixture_output(void *ctx, const char *data, size_t len)
{
    struct fixture *f = ctx;

    hrun_buf_add(&f->output, data, len);
}

/* A job of argv on layout, whose output is collected. program: what hrun_program_find gave. */
__attribute__((unused))
static struct hrun_job fixture_job(struct fixture *f, const struct hrun_layout *layout,
                                                           char *const *argv, const char *program)
{
    struct hrun_job job;

    memset(&job, 0, sizeof job);
    job.layout = layout;
    job.argv = argv;
    job.program = program;
    job.no_stdin = 1;
    job.on_stdout = fixture_output;
    job.on_message = fixture_message;
    job.ctx = f;
    job.swallow = 1;
    job.stderr_text = &f->errors;
    hrun_buf_reset(&f->messages);
    hrun_buf_reset(&f->output);
    hrun_buf_reset(&f->errors);
    return job;
}

/* Entries of a folder that begin with prefix. */
__attribute__((unused))
static int entries(const char *path, const char *prefix)
{
    DIR *dir = opendir(path);
    struct dirent *e;
    int n = 0;

    while (dir && (e = readdir(dir)))
        n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..") && !strncmp(e->d_name, prefix, strlen(prefix));
    if (dir)
        closedir(dir);
    return n;
}

/* Path of a test application in buf, or NULL when it has not been built. */
__attribute__((unused))
static const char *test_app(const char *name, char *buf, size_t size)
{
    const char *dir = getenv("HRUN_TEST_APPS");

    snprintf(buf, size, "%s/%s", dir ? dir : "build/tests/apps", name);
    return access(buf, X_OK) ? NULL : buf;
}

#endif
