/* look.c - what hrun --probe does after a look at a run (hrun/run/probe_look.c), for trials
 *
 *   look LOOK EXPECTED
 *
 * reads lines, of a run that is looked at for LOOK seconds and takes EXPECTED (0: nobody knows):
 *   sub NAME PES CORES USED PROCS     a sub-cluster, of which the run has USED PEs with PROCS processes on each
 *   procs M                           processes that a PE may hold
 *   rank SUB COMPUTE COMPUTE COLLECTIVE SENT   what skeleton.c tells of each process
 *   end
 * and prints "keep WHY", or "begin RATIO NAME PES PROCS ..." for what is begun anew; after which lines "rank" and "end"
 * of that run follow, and "keep" or "retreat WHY" is printed.
 */
#include "../../hrun/run/probe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUBS = 16, RANKS = 4096 };

static int pes[SUBS], procs[SUBS], ranks_sub[RANKS];
static struct hrun_subcluster subs[SUBS];
static struct sub_view views[SUBS];

static void read_sub(const char *line, struct hrun_cluster *cl)
{
    int i = cl->nsubs;
    char name[64];

    if (i == SUBS || sscanf(line, "sub %63s %d %d %d %d", name, &subs[i].npes, &subs[i].cores_per_pe, &pes[i],
                            &procs[i]) != 5)
        exit(2);
    subs[i].name = strdup(name);
    views[i].npes = subs[i].npes;
    cl->nsubs++;
}

static void tell(struct waits *w, int r, int k, const double *v)
{
    char body[256];
    int len = snprintf(body, sizeof body, "s,%d,%d,%.0f,%.0f,%.0f,%.0f", r, k, v[0] * 1e9, v[1] * 1e9, v[2], v[3]);

    hrun_buf_addf(&w->text, "%s %08lx\n", body, (unsigned long)hrun_trace_check(body, (unsigned long)len));
}

/* As the snapshots at one half, three quarters and the end. */
static void read_rank(const char *line, struct waits *w, double look_s)
{
    int r = w->nranks;
    double a, b, collective, sent, part_s = look_s / 4;

    if (r == RANKS || sscanf(line, "rank %d %lf %lf %lf %lf", &ranks_sub[r], &a, &b, &collective, &sent) != 5)
        exit(2);
    tell(w, r, HRUN_TRACE_SNAPSHOTS / 2, (double[]){ 2 * part_s, 0, 0, 0 });
    tell(w, r, 3 * HRUN_TRACE_SNAPSHOTS / 4, (double[]){ 3 * part_s, fmax(0, part_s - a), 0, 0 });
    tell(w, r, HRUN_TRACE_SNAPSHOTS, (double[]){ look_s, fmax(0, part_s - a) + fmax(0, part_s - b), collective, sent });
    w->nranks++;
}

/* Lines up to "end". */
static void read_run(struct waits *w, struct hrun_cluster *cl, struct hrun_buf *allowed, double look_s)
{
    char line[256];
    int m;

    w->sub = ranks_sub;
    w->nranks = 0;
    hrun_buf_reset(&w->text);
    while (fgets(line, sizeof line, stdin) && strcmp(line, "end\n"))
        if (line[0] == 's')
            read_sub(line, cl);
        else if (sscanf(line, "procs %d", &m) == 1)
            hrun_buf_addf(allowed, "%s%d", allowed->len ? ", " : "", m);
        else
            read_rank(line, w, look_s);
}

int main(int argc, char **argv)
{
    struct hrun_cluster cl = { .subs = subs };
    struct settings common = { .quiet = 1 };
    struct hrun_settings set = { .probe = 1 };
    struct hrun_buf allowed = HRUN_BUF_INIT;
    struct hrun_error err = { 0 };
    struct waits waits;
    struct context c = { .set = &common, .cluster = &cl };
    struct work w = { .c = &c, .waits = &waits };
    struct decision d = { .N = 1, .subs = views, .pes = pes, .procs = procs };
    struct probe p = { .asked = 1, .is_look = 1, .look_s = argc > 1 ? atof(argv[1]) : 0,
                       .expected_s = argc > 2 ? atof(argv[2]) : 0 };
    int before_pes[SUBS], before_procs[SUBS];
    char *text;

    set.common.quiet = 1;
    waits_init(&waits);
    read_run(&waits, &cl, &allowed, p.look_s);
    text = hrun_strf("name: command\nsize: fixed\nprocs_per_pe: [%s]\nterms: {np: [\"1/P\"], n: [\"1\"]}\n", allowed.data);
    if (!cl.nsubs || !waits.nranks || hrun_app_parse("command.yaml", text, strlen(text), NULL, 0, &c.app, &err)) {
        fprintf(stderr, "look: %s\n", err.text);
        return 2;
    }
    d.nsubs = cl.nsubs;
    d.P = p.P = waits.nranks;
    memcpy(before_pes, pes, sizeof pes);
    memcpy(before_procs, procs, sizeof procs);
    p.pes = before_pes;
    p.procs = before_procs;
    if (look_decide(&p, &w, &set, &d, p.look_s, 0) == HRUN_LOOK_KEEP) {
        printf("keep %s\n", p.kept);
        return 0;
    }
    printf("begin %.4f", p.predicted);
    for (int i = 0; i < d.nsubs; i++)
        printf(" %s %d %d", subs[i].name, pes[i], procs[i]);
    putchar('\n');
    fflush(stdout);
    read_run(&waits, &cl, &allowed, p.look_s);
    p.asked_s = 0;
    if (waits.nranks)
        printf("%s %s\n", look_decide(&p, &w, &set, &d, p.look_s, 0) == HRUN_LOOK_END ? "retreat" : "keep", p.kept);
    free(text);
    hrun_buf_release(&allowed);
    hrun_buf_release(&waits.text);
    hrun_app_destroy(c.app);
    return 0;
}
