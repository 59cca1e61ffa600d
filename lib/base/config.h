/* config.h - a configuration: how many PEs of each sub-cluster run how many processes each
 *
 * (P1,M1,...,PG,MG) of paper 000, section 4.1: Pi PEs of sub-cluster i with Mi processes on each; Mi = 0 if Pi = 0, and
 * P = sum Pi Mi > 0. Assignment copies a configuration; nothing is freed.
 */
#ifndef HRUN_BASE_CONFIG_H
#define HRUN_BASE_CONFIG_H

#include "base/buf.h"
#include "base/error.h"

enum { HRUN_SUBS_MAX = 64 };    /* sub-clusters of a cluster (lib/cluster refuses more) */

struct hrun_config {
    int nsubs;                  /* G */
    int pes[HRUN_SUBS_MAX];     /* Pi */
    int procs[HRUN_SUBS_MAX];   /* Mi */
};

/* The number of processes P; the number of PEs, the sum of Pi. */
int hrun_config_processes(const struct hrun_config *c);
int hrun_config_all_pes(const struct hrun_config *c);
/* The configuration that uses one sub-cluster only. */
struct hrun_config hrun_config_alone(int nsubs, int sub, int pes, int procs);
/* Compare configurations of one cluster in the order of (P1,M1,P2,M2,...): -1, 0 or 1. */
int hrun_config_order(const struct hrun_config *a, const struct hrun_config *b);
int hrun_config_equal(const struct hrun_config *a, const struct hrun_config *b);

/* The text form "(4,1,0,0)", returned by value like struct hrun_text (units.h). */
struct hrun_config_text {
    char s[2 * 12 * HRUN_SUBS_MAX + 3];
};
struct hrun_config_text hrun_config_text(const struct hrun_config *c);
/* The configuration of nsubs sub-clusters in `text`. Errors: HRUN_EPARSE with the column; *out is undefined. */
int hrun_config_parse(const char *text, int nsubs, struct hrun_config *out, struct hrun_error *err);

#endif
