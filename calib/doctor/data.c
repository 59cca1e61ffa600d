/* data.c - what is known of a cluster, in memory; see doctor.h */
#include "doctor.h"

#include <stdlib.h>
#include <string.h>

static void release_messages(struct doctor_messages *v, int n)
{
    for (int i = 0; i < n; i++)
        free(v[i].t.v);
    free(v);
}

void doctor_release(struct doctor_data *d)
{
    for (int i = 0; i < d->nsubs; i++)
        free(d->subs[i].name);
    for (int i = 0; i < d->nranks; i++) {
        free(d->ranks[i].host_name);
        free(d->ranks[i].kernel.v);
    }
    for (int i = 0; i < d->nfacts; i++) {
        free(d->facts[i].key);
        free(d->facts[i].value);
    }
    for (int i = 0; i < d->nprocesses; i++)
        free(d->processes[i].name);
    release_messages(d->trips, d->ntrips);
    release_messages(d->alltoall, d->nalltoall);
    free(d->subs);
    free(d->ranks);
    free(d->facts);
    free(d->processes);
    hrun_strvec_release(&d->libraries);
    memset(d, 0, sizeof *d);
}

int doctor_leads(const struct doctor_data *d, int rank)
{
    return d->ranks[rank].host == rank;
}

static const char *own_fact(const struct doctor_data *d, int rank, const char *key)
{
    const struct doctor_rank *r = &d->ranks[rank];

    for (int i = r->first_fact; i < r->first_fact + r->nfacts; i++)
        if (!strcmp(d->facts[i].key, key))
            return d->facts[i].value;
    return NULL;
}

const char *doctor_fact(const struct doctor_data *d, int rank, const char *key)
{
    const char *value = own_fact(d, rank, key);

    return value ? value : own_fact(d, d->ranks[rank].host, key);
}
