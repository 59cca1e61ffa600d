/* guess.c - choose the MPI of an application if no program is named; see guess.h */
#include "session/guess.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The search for an MPI. */
struct search {
    struct context *c;
    struct hrun_app *const *apps; /* the application, or all its variants if none is named */
    int napps;
    struct hrun_strvec there;     /* signatures of the profiles of `apps` */
    struct hrun_mpi first;        /* the first candidate; id "": none yet */
    int found;                    /* 1: c->mpi has a profile */
};

/* The MPI with this id in a signature. */
static struct hrun_mpi mpi_by_id(const char *id)
{
    static const struct { const char *begins, *name; enum hrun_mpi_kind kind; } known[] = {
        { "ompi", "Open MPI", HRUN_MPI_OPENMPI }, { "smpi", "SimGrid", HRUN_MPI_SMPI },
        { "script", "", HRUN_MPI_UNKNOWN }, { "none", "", HRUN_MPI_NONE }, { "", "MPICH", HRUN_MPI_MPICH },
    };
    struct hrun_mpi mpi = { .kind = HRUN_MPI_MPICH };
    size_t k = 0;

    while (strncmp(id, known[k].begins, strlen(known[k].begins)))
        k++;
    mpi.kind = known[k].kind;
    mpi.major = mpi.kind == HRUN_MPI_OPENMPI && id[4] == '-' ? (int)strtol(id + 5, NULL, 10) : 0;
    snprintf(mpi.name, sizeof mpi.name, "%s", known[k].name);
    snprintf(mpi.id, sizeof mpi.id, "%s", id);
    return mpi;
}

/* Set c->mpi and s->found if a sub-cluster has a profile for programs of this MPI. */
static void try_mpi(struct search *s, const struct hrun_mpi *mpi)
{
    struct context *c = s->c;
    const struct hrun_strvec *smpi = &c->set->job.smpi;
    autorelease(hrun_buf_release) struct hrun_buf kind = HRUN_BUF_INIT, sig = HRUN_BUF_INIT;

    if (c->set->job.mpi_family && (mpi->kind == HRUN_MPI_MPICH) != !strcmp(c->set->job.mpi_family, "mpich"))
        return;
    if (!s->first.id[0])
        s->first = *mpi;
    hrun_engine_kind(c->engine, c->cluster, mpi, smpi, &kind);
    for (int i = 0; i < c->cluster->nsubs && !s->found; i++) {
        hrun_buf_reset(&sig);
        hrun_cluster_signature(&c->cluster->subs[i], mpi->id, kind.data, &sig);
        for (size_t k = 0; k < s->there.n && !s->found; k++)
            s->found = !strcmp(s->there.v[k], sig.data);
    }
    if (s->found)
        c->mpi = *mpi;
}

/* Try the MPI of a program in PATH, if the program can run on these hosts. */
static void try_program(struct search *s, const char *name)
{
    autofree char *path = hrun_program_find(name, NULL, NULL);
    struct hrun_mpi mpi;

    if (path && !hrun_program_mpi(path, &mpi, NULL) && context_can_run(s->c, &mpi))
        try_mpi(s, &mpi);
}

/* Try the MPI of SimGrid, first for programs that count their operations, then for timed ones. */
static void try_simulated(struct search *s)
{
    const char *version = s->c->cluster->simgrid;
    char id[64];

    snprintf(id, sizeof id, "smpi%s%.32s", version ? "-" : "", version ? version : "");
    for (int flops = 1; flops >= 0 && !s->found; flops--) {
        struct hrun_mpi mpi = mpi_by_id(id);

        mpi.counts_flops = flops;
        try_mpi(s, &mpi);
    }
}

/* Try the MPI of the newest measurement of each profile of an application. */
static int try_measured(struct search *s, const char *app, struct hrun_error *err)
{
    autorelease(hrun_strvec_release) struct hrun_strvec there = HRUN_STRVEC_INIT;

    if (hrun_store_signatures(s->c->store, app, &there, err))
        return -1;
    for (size_t i = 0; i < there.n && !s->found; i++) {
        autorelease(hrun_samples_release) struct hrun_samples log = { 0 };
        const char *id;

        if (hrun_store_samples(s->c->store, app, there.v[i], &log, err))
            return -1;
        id = log.n ? log.v[log.n - 1].launcher.mpi : NULL;
        if (id && *id) {
            struct hrun_mpi mpi = mpi_by_id(id);

            try_mpi(s, &mpi);
        }
    }
    return 0;
}

int guess_mpi(struct context *c, struct hrun_error *err)
{
    const struct hrun_app *all = c->set->variant ? NULL : c->variants_of;
    struct search s = { .c = c, .apps = all ? all->variants : &c->app,
                        .napps = !c->app ? 0 : all ? all->nvariants : 1 };
    int rc = 0;

    for (int k = 0; k < s.napps && !rc; k++)
        rc = hrun_store_signatures(c->store, s.apps[k]->name, &s.there, err);
    for (int i = 0; !rc && c->app && i < c->app->programs.n && !s.found; i++)
        try_program(&s, c->app->programs.names[i]);
    if (!rc && !s.found && c->cluster->platform)
        try_simulated(&s);
    else if (!rc && !s.found)
        try_program(&s, "ompi_info");
    for (int k = 0; k < s.napps && !rc && !s.found; k++)
        rc = try_measured(&s, s.apps[k]->name, err);
    if (!rc && !s.found)
        c->mpi = s.first.id[0] ? s.first : mpi_by_id("none");
    hrun_strvec_release(&s.there);
    return rc;
}
