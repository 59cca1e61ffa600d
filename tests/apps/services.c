/* services.c - a client of PMIx that asks its server, and has it print words */
#include <pmix.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pmix_proc_t me;

/* Ask for a key, of a namespace where one is given. */
static pmix_status_t ask(const char *key, const char *more, const char *nspace, pmix_info_t **found, size_t *n)
{
    pmix_query_t *q;
    pmix_status_t rc;

    PMIX_QUERY_CREATE(q, 1);
    PMIX_ARGV_APPEND(rc, q->keys, key);
    if (more)
        PMIX_ARGV_APPEND(rc, q->keys, more);
    if (nspace) {
        PMIX_INFO_CREATE(q->qualifiers, 1);
        PMIX_INFO_LOAD(q->qualifiers, PMIX_NSPACE, nspace, PMIX_STRING);
        q->nqual = 1;
    }
    *found = NULL;
    *n = 0;
    rc = PMIx_Query_info(q, 1, found, n);
    return rc;
}

/* The server may learn a moment after us that we are started. */
static void table(const char *key)
{
    const pmix_proc_info_t *v;
    const pmix_data_array_t *a;
    pmix_info_t *found;
    size_t n;
    pmix_status_t rc;

    do {
        rc = ask(key, NULL, me.nspace, &found, &n);
        a = rc == PMIX_SUCCESS && n == 1 ? found->value.data.darray : NULL;
        v = a && a->type == PMIX_PROC_INFO ? a->array : NULL;
    } while (v && !v[me.rank].pid);
    printf("%s %s", key, PMIx_Error_string(rc));
    for (size_t i = 0; v && i < a->size; i++)
        printf(" %u%s%s%s", v[i].proc.rank, v[i].proc.rank == me.rank && v[i].pid == getpid() ? " me" : "",
               v[i].state == PMIX_PROC_STATE_CONNECTED ? " connected" : "",
               v[i].executable_name && strstr(v[i].executable_name, "services") ? " services" : "");
    printf("\n");
}

static void spawn(void)
{
    char nspace[PMIX_MAX_NSLEN + 1];
    pmix_app_t *a;
    pmix_status_t rc;

    PMIX_APP_CREATE(a, 1);
    a->cmd = strdup("/bin/true");
    a->maxprocs = 1;
    PMIX_ARGV_APPEND(rc, a->argv, "true");
    rc = PMIx_Spawn(NULL, 0, a, 1, nspace);
    printf("spawn of /bin/true %s\n", PMIx_Error_string(rc));
}

int main(int argc, char **argv)
{
    pmix_info_t info, *found;
    size_t n;
    pmix_status_t rc;
    char *text;

    PMIx_Init(&me, NULL, 0);
    PMIx_Fence(NULL, 0, NULL, 0);
    if (me.rank == 0 && argc > 1 && !strcmp(argv[1], "spawn")) {
        spawn();
    } else if (me.rank == 0 && argc > 1) {     /* argv[1] times 10 bytes of words */
        text = calloc((size_t)atoi(argv[1]) + 1, 10);
        for (int i = 0; i < atoi(argv[1]); i++)
            sprintf(text + 10 * i, "%8d\n%c", i, i + 1 < atoi(argv[1]) ? ' ' : 0);
        PMIX_INFO_LOAD(&info, PMIX_LOG_STDOUT, text, PMIX_STRING);
        rc = PMIx_Log(&info, 1, NULL, 0);
        fprintf(stderr, "log %s\n", PMIx_Error_string(rc));
    } else if (me.rank == 0) {
        PMIX_INFO_LOAD(&info, PMIX_LOG_STDERR, "words\n", PMIX_STRING);
        printf("log %s\n", PMIx_Error_string(PMIx_Log(&info, 1, NULL, 0)));
        PMIX_INFO_LOAD(&info, PMIX_LOG_EMAIL, "words\n", PMIX_STRING);
        printf("mail %s\n", PMIx_Error_string(PMIx_Log(&info, 1, NULL, 0)));
        rc = ask(PMIX_QUERY_NAMESPACES, NULL, NULL, &found, &n);
        printf("namespaces %s%s\n", PMIx_Error_string(rc),
               n == 1 && !strcmp(found->value.data.string, me.nspace) ? " mine" : "");
        rc = ask(PMIX_QUERY_JOB_STATUS, NULL, me.nspace, &found, &n);
        printf("status %s%s\n", PMIx_Error_string(rc), n == 1 && !found->value.data.status ? " good" : "");
        table(PMIX_QUERY_PROC_TABLE);
        table(PMIX_QUERY_LOCAL_PROC_TABLE);
        rc = ask(PMIX_QUERY_SUPPORTED_KEYS, NULL, NULL, &found, &n);
        printf("keys %s%s\n", PMIx_Error_string(rc),
               n == 1 && strstr(found->value.data.string, PMIX_QUERY_JOB_STATUS) ? " listed" : "");
        printf("unknown %s\n", PMIx_Error_string(ask("no.such.key", NULL, NULL, &found, &n)));
        printf("of no job %s\n", PMIx_Error_string(ask(PMIX_QUERY_JOB_STATUS, NULL, "no job", &found, &n)));
        rc = ask(PMIX_QUERY_NAMESPACES, "no.such.key", NULL, &found, &n);
        printf("one of two %s\n", PMIx_Error_string(rc));
    }
    fflush(stdout);
    PMIx_Fence(NULL, 0, NULL, 0);
    PMIx_Finalize(NULL, 0);
    return 0;
}
