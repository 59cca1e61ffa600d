/* openmpi.c - finding Open MPI's mpirun and its version; see programs.h and launch.h for the contracts */
#include "launch/programs.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *const hrun_openmpi_names[] = { "mpirun", "mpirun.openmpi", NULL };

int hrun_openmpi_find(struct hrun_openmpi *m, struct hrun_error *err)
{
    static const char *const marks[] = { "(Open MPI) ", "(OpenRTE) " };
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    autorelease(hrun_buf_release) struct hrun_buf key = HRUN_BUF_INIT;
    autofree char *other = NULL;

    if (hrun_openmpi_recall(m, &key) == 0)
        return 0;
    for (size_t i = 0; hrun_openmpi_names[i]; i++) {
        autofree char *path = hrun_program_find(hrun_openmpi_names[i], NULL, NULL);
        char *const words[] = { path, (char *)(uintptr_t)"--version", NULL };
        char *version = NULL;

        if (!path)
            continue;
        hrun_buf_reset(&b);
        if (hrun_command_output(words, 0, &b, err))
            return -1;
        /* "mpirun (Open MPI) 4.1.4", "mpirun.openmpi (OpenRTE) 4.1.4" */
        for (size_t k = 0; k < sizeof marks / sizeof *marks && !version; k++)
            if ((version = strstr(b.data, marks[k])))
                version += strlen(marks[k]);
        if (version && isdigit((unsigned char)*version)) {
            version[strcspn(version, " \t\r\n")] = 0;
            snprintf(m->path, sizeof m->path, "%s", path);
            m->major = (int)strtol(version, NULL, 10);
            snprintf(m->version, sizeof m->version, "%s", version);
            hrun_openmpi_keep(m, &key);
            return 0;
        }
        free(other);
        other = xstrdup(path);
    }
    if (!other)
        return hrun_fail(err, HRUN_EENGINE, "there is no mpirun in PATH: install openmpi-bin");
    return hrun_fail(err, HRUN_EENGINE, "%s is not Open MPI's, and there is no mpirun.openmpi: install "
                     "openmpi-bin, or put the folder of Open MPI's mpirun first in PATH", other);
}

int hrun_openmpi_of(const struct hrun_job *job, struct hrun_openmpi *m, struct hrun_error *err)
{
    if (job->openmpi && job->openmpi->path[0]) {
        *m = *job->openmpi;
        return 0;
    }
    m->cache_dir = job->openmpi ? job->openmpi->cache_dir : NULL;
    m->refresh = job->openmpi ? job->openmpi->refresh : 0;
    return hrun_openmpi_find(m, err);
}

void hrun_openmpi_watched(char *watched, size_t size)
{
    static const char *const names[] = { "mpirun.openmpi", "mpirun", "orted", "prted" };
    size_t len = 0;

    *watched = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names && len < size; i++) {
        autofree char *path = hrun_program_find(names[i], NULL, NULL);
        struct stat st;

        if (path && stat(path, &st) == 0)
            len += (size_t)snprintf(watched + len, size - len, "%s %lld %lld;", path, (long long)st.st_size,
                                    (long long)st.st_mtime);
    }
}
