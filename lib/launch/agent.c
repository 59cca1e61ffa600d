/* agent.c - the remote shell that mpirun would use; see agent.h for the contracts */
#include "launch/agent.h"

#include "base/alloc.h"
#include "base/file.h"
#include "launch/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The value of the last line "KEY = VALUE" in a file of MCA parameters. NULL: none. */
static char *setting_in_file(const char *path, const char *const *keys, int n_keys)
{
    enum { FILE_MAX = 1 << 20 };
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    char *value = NULL, *line, *save, *eq, *end;

    if (hrun_file_read(path, FILE_MAX, &b, NULL) || !b.len)
        return NULL;
    for (line = strtok_r(b.data, "\r\n", &save); line; line = strtok_r(NULL, "\r\n", &save)) {
        line += strspn(line, " \t");
        eq = strchr(line, '=');
        if (*line == '#' || !eq)
            continue;
        for (end = eq; end > line && strchr(" \t", end[-1]); end--)
            ;
        for (int k = 0; k < n_keys; k++) {
            if (strlen(keys[k]) != (size_t)(end - line) || strncmp(line, keys[k], strlen(keys[k])))
                continue;
            free(value);
            value = xstrdup(eq + 1 + strspn(eq + 1, " \t"));
        }
    }
    for (end = value ? value + strlen(value) : NULL; end && end > value && strchr(" \t", end[-1]); )
        *--end = 0;
    return value;
}

/* 1 if words or the environment set the parameter, else 0. *value gets its value, NULL for an empty variable. */
static int is_mca_set(const struct hrun_strvec *mca, const char *const *keys, int n_keys, char **value)
{
    static const char *const prefixes[] = { "OMPI_MCA_", "PRTE_MCA_" };
    char name[128];
    const char *set;

    for (size_t i = mca ? mca->n : 0; i-- > 0; )
        for (int k = 0; k < n_keys; k++) {
            size_t len = strlen(keys[k]);

            if (!strncmp(mca->v[i], keys[k], len) && mca->v[i][len] == '=') {
                *value = xstrdup(mca->v[i] + len + 1);
                return 1;
            }
        }
    for (int k = 0; k < n_keys; k++)
        for (size_t p = 0; p < sizeof prefixes / sizeof *prefixes; p++) {
            snprintf(name, sizeof name, "%s%s", prefixes[p], keys[k]);
            set = getenv(name);
            if (set) {
                *value = *set ? xstrdup(set) : NULL;
                return 1;
            }
        }
    return 0;
}

char *hrun_agent_setting(const struct hrun_strvec *mca, const char *const *keys, int n_keys)
{
    static const char *const lists[] = { "mca_base_param_files" };
    static const char system_files[] = "/etc/openmpi/openmpi-mca-params.conf:/etc/openmpi-mca-params.conf:"
                                       "/usr/local/etc/openmpi-mca-params.conf";
    autofree char *own = NULL, *files = NULL;
    char *value = NULL, *next, *path;

    if (is_mca_set(mca, keys, n_keys, &value))
        return value;
    /* The list replaces Open MPI's own files. */
    is_mca_set(mca, lists, 1, &files);
    if (!files) {
        own = hrun_user_path(NULL, ".openmpi", "mca-params.conf", NULL);
        files = hrun_strf("%s:%s", own ? own : "", system_files);
    }
    next = files;
    while (!value && (path = strsep(&next, ":,")))
        value = setting_in_file(path, keys, n_keys);
    return value;
}

int hrun_agent_is_ssh(const char *program)
{
    return !strcmp(hrun_base_name(program), "ssh");
}

char *hrun_bare_name(const char *host)
{
    size_t len = strlen(host);

    return *host == '[' && host[len - 1] == ']' ? xstrndup(host + 1, len - 2) : xstrdup(host);
}

int hrun_agent_find(const struct hrun_strvec *mca, char **program, struct hrun_strvec *words, struct hrun_error *err)
{
    static const char *const keys[] = { "plm_rsh_agent", "plm_ssh_agent" };    /* Open MPI 4's name, then 5's */
    autofree char *said = hrun_agent_setting(mca, keys, 2);
    const char *setting = said ? said : "ssh";
    autofree char *copy = xstrdup(setting);
    char *next = copy, *one, *word, *save, *found = NULL;

    while (!found && (one = strsep(&next, ":"))) {
        hrun_strvec_release(words);
        for (word = strtok_r(one, " \t", &save); word; word = strtok_r(NULL, " \t", &save))
            hrun_strvec_push(words, word);
        if (words->n)
            found = hrun_program_find(words->v[0], NULL, NULL);
    }
    if (found) {
        if (hrun_agent_is_ssh(found))
            hrun_strvec_push(words, "-x");
        *program = found;
        return 0;
    }
    hrun_strvec_release(words);
    if (!strcmp(setting, "ssh"))
        return hrun_fail(err, HRUN_EENGINE, "other hosts are reached through ssh, and there is none: install "
                         "openssh-client");
    return hrun_fail(err, HRUN_EENGINE, "the agent '%s' that reaches other hosts is not found or cannot be executed: "
                     "correct plm_rsh_agent", setting);
}
