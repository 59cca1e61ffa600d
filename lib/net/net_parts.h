/* net_parts.h - make, check, print and parse networks, and look up their parts; for lib/net alone */
#ifndef HRUN_NET_NET_PARTS_H
#define HRUN_NET_NET_PARTS_H

#include "net/net.h"

#include <stddef.h>

/* The version of the files that this hrun writes, and the highest that it reads. */
enum { NET_VERSION = 1 };

/* Size of the path of a value in a file, such as "classes[4294967295].local[4294967295].s_per_byte.half". */
enum { NET_WHERE = 96 };

/* As hrun_net_check. On failure `where` is the path of the value in the file. The reader of a file checks pairs, trunks
 * and local values itself, as a file may have only some of them, in any order. */
int net_check(const struct hrun_net *net, char where[NET_WHERE], struct hrun_error *err);

/* Check that a number is finite and not negative; check a value, whose half width may also be NAN. Errors: HRUN_EINVAL;
 * ".v" or ".half" is then appended to the path in where. */
int net_check_number(const char *where, double v, struct hrun_error *err);
int net_check_value(const struct hrun_net_value *value, char where[NET_WHERE], struct hrun_error *err);

/* Append a network that passes net_check as YAML. Errors: HRUN_EINVAL (text that is not UTF-8). */
int net_print(const struct hrun_net *net, struct hrun_buf *out, struct hrun_error *err);

/* Parse the network in text[len]. name: name of the file, for messages. Errors: HRUN_EPARSE with line and column. */
int net_parse(const char *name, const char *text, size_t len, struct hrun_net **out, struct hrun_error *err);

/* Parse a whole file with version and checksum. Errors: those of net_parse, and HRUN_ECORRUPT. */
int net_parse_file(const char *name, const struct hrun_buf *text, struct hrun_net **out, struct hrun_error *err);

/* A network with these numbers of classes, groups and segments, each >= 1, for the caller to fill in: all hosts (names
 * are copied) in class 0, one kind of PEs, factors 1, selector "openmpi", the other texts "", no limits, times 0, beta
 * 0, half widths NAN. Arrays may be replaced by others from malloc. */
struct hrun_net *net_make(const char *const *hosts, int n, int nclasses, int ngroups, int nsegments);
/* As net_make, for an existing network: allocate arrays, and texts that are NULL; numbers and flags stay. */
void net_allocate(struct hrun_net *net, const char *const *hosts, int n, int nclasses, int ngroups, int nsegments);

/* Allocate the tables of a class for this number of kinds of PEs, >= 1; all values are unknown. */
void net_class_set_kinds(struct hrun_net_class *c, int nkinds);

/* 1 if a value differs from { 0, NAN } and so is written to files, else 0. */
int net_is_known(const struct hrun_net_value *v);

/* net_segment_of: the segment of messages of this size. net_pair: the parameters from one host to another. net_trunk:
 * the index in net->trunks of the trunk from group g to group h; both directions may share one. */
const struct hrun_net_segment *net_segment_of(const struct hrun_net_segment *segments, int n, double bytes);
const struct hrun_net_pair *net_pair(const struct hrun_net *net, int from, int to);
int net_trunk(const struct hrun_net *net, int g, int h);

#endif
