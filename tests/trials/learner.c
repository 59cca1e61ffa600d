/* learner.c - hrun_learn_next (lib/plan/learn.h) for a script: it reads a problem and runs, and says what to run next
 *
 * Input: "SUBS LOSS", for each sub-cluster "PES CORES SPEED COUNT M...", then lines of "PES... M... SECONDS", each a run
 * that was asked for; the first is of the usual configuration. After each run a line: "STATE BEST PES... M...", BEST
 * being the place of a run of the best known configuration.
 */
#include "plan/learn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUBS = 8, PROCS = 16, RUNS = 1000 };

static void fail(const char *why)
{
    fprintf(stderr, "learner: %s\n", why);
    exit(2);
}

static int number(void)
{
    int v;

    if (scanf("%d", &v) != 1)
        fail("a number is missing");
    return v;
}

int main(void)
{
    static int procs[SUBS][PROCS];
    static struct hrun_learn_run runs[RUNS];
    struct hrun_learn_sub subs[SUBS] = { { 0 } };
    struct hrun_learn_question q = { .subs = subs, .runs = runs, .nsubs = number() };

    if (q.nsubs > SUBS || scanf("%lf", &q.loss) != 1)
        fail("too many sub-clusters, or no loss");
    for (int i = 0; i < q.nsubs; i++) {
        subs[i] = (struct hrun_learn_sub) { .npes = number(), .known = 1, .procs = procs[i] };
        subs[i].cores = number();
        if (scanf("%lf", &subs[i].speed) != 1 || (subs[i].nprocs = number()) > PROCS)
            fail("a speed is missing, or too many numbers of processes");
        for (int k = 0; k < subs[i].nprocs; k++)
            procs[i][k] = number();
    }
    for (int first; q.nruns < RUNS && scanf("%d", &first) == 1;) {
        struct hrun_learn_run *r = &runs[q.nruns++];
        struct hrun_learn_answer a;
        struct hrun_error err;

        r->config.nsubs = q.nsubs;
        for (int k = 0; k < q.nsubs; k++)
            r->config.pes[k] = k ? number() : first;
        for (int k = 0; k < q.nsubs; k++)
            r->config.procs[k] = number();
        if (scanf("%lf", &r->time_s) != 1)
            fail("a time is missing");
        r->learnt = q.nruns > 2;
        q.config = runs[0].config;
        if (hrun_learn_next(&q, &a, &err))
            fail(err.text);
        printf("%d %d", a.why, a.best);
        for (int k = 0; k < q.nsubs; k++)
            printf(" %d", a.config.pes[k]);
        for (int k = 0; k < q.nsubs; k++)
            printf(" %d", a.config.procs[k]);
        printf("\n");
        fflush(stdout);
    }
    return 0;
}
