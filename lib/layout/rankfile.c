/* rankfile.c - the layout as Open MPI's mpirun reads it; see layout.h for the contract */
#include "layout/layout.h"

#include <string.h>

/* mpirun holds the slot list of a rank in char[64]: Open MPI 4 overruns it and aborts, PRRTE cuts it. */
enum { SLOT_LIST_MAX = 63 };

/* What the rankfile's scanner takes in a host name; it reads no quotes. */
static const char HOST_CHARACTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";

int hrun_layout_rankfile(const struct hrun_layout *l, struct hrun_buf *out, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;

    for (int r = 0; r < l->nranks; r++) {
        const struct hrun_rank *k = &l->ranks[r];
        const char *host = l->cluster->hosts[k->host].name;

        if (!*host || host[strspn(host, HOST_CHARACTERS)])
            return hrun_fail(err, HRUN_EINVAL, "host %s: a rankfile takes names of letters, digits, '.', '-' and "
                             "'_' only: give the host such a name", host);
        if (!k->cores[0])
            return hrun_fail(err, HRUN_EINVAL, "host %s: its cores are not known, so rank %d cannot be placed: add "
                             "its topology to the cluster file", host, r);
        if (strlen(k->cores) > SLOT_LIST_MAX)
            return hrun_fail(err, HRUN_EINVAL, "host %s: the core list of rank %d (%.20s...) has %zu characters, "
                             "and mpirun takes %d: choose a smaller PE level", host, r, k->cores,
                             strlen(k->cores), SLOT_LIST_MAX);
        hrun_buf_addf(&b, "rank %d=%s slot=%s\n", r, host, k->cores);
    }
    hrun_buf_add(out, b.data, b.len);
    return 0;
}

void hrun_layout_hostfile(const struct hrun_layout *l, struct hrun_buf *out)
{
    for (int r = 0; r < l->nranks; r++)
        hrun_buf_addf(out, "%s\n", l->cluster->hosts[l->ranks[r].host].name);
}
