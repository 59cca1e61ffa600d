/* net_yaml.h - the format of network files as a libcyaml schema; hrun-profile(5) describes it
 *
 * Purpose: what net_yaml.c writes and net_read.c reads.
 * Invariants: of pairs, trunks and what is local to hosts only those stand in a file of which something is known; an
 * empty text is left out, as libcyaml would write nothing for it; so is a half width that is not known, as a file has
 * no NAN.
 */
#ifndef HRUN_NET_NET_YAML_H
#define HRUN_NET_NET_YAML_H

#include "base/yaml.h"
#include "net/net.h"

#include <locale.h>

struct net_file_value {
    double v, *half;
};

struct net_file_host {
    char *name;
    int class_of, group;
};

struct net_file_local {
    int from, to;
    struct net_file_value fixed_s, s_per_byte;
};

struct net_file_class {
    struct net_file_value C_s, t_s_per_byte, out_bytes_per_s, in_bytes_per_s;
    double local_bytes_per_s;
    int kinds;
    struct net_file_local *local;
    unsigned nlocal;
};

struct net_file_pair {
    int from, to;
    struct net_file_value L_s, beta_bytes_per_s;
};

struct net_file_trunk {
    int from, to;
    struct net_file_value bytes_per_s;
};

struct net_file {
    int version, groups;
    char *engine, *mpi, *selector, *date;
    struct net_file_host *hosts;
    struct net_file_class *classes;
    struct net_file_pair *pairs;
    struct net_file_trunk *trunks;
    struct hrun_net_segment *segments;
    unsigned nhosts, nclasses, npairs, ntrunks, nsegments;
    double sync_bytes, bias_bytes, back_share, reduce_s_per_byte;
    int wire_waits, exchange_waits, trunks_shared;
    struct hrun_net_thresholds thresholds;
};

extern const cyaml_schema_value_t net_schema;

/* libcyaml, printf and strtod follow the locale, files must not. NULL when memory ran out; NULL may be left. */
locale_t net_enter_c_locale(locale_t *old);
void net_leave_c_locale(locale_t c, locale_t old);

#endif
