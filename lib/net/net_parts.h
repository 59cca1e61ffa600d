/* net_parts.h - make, check, print and parse networks, and look up their parts; for lib/net alone */
#ifndef HRUN_NET_NET_PARTS_H
#define HRUN_NET_NET_PARTS_H

#include "net/net.h"

#include <stddef.h>

/* The version of files that this hrun writes; what a higher number means is only known to a newer hrun. */
enum { NET_VERSION = 1 };

/* The path of a value in a file: "classes[4294967295].local[4294967295].s_per_byte.half" and some. */
enum { NET_WHERE = 96 };

/* hrun_net_check, which on failure leaves in `where` the path of the value in the file. Of pairs, trunks and what is
 * local to a host the file has not all, and in any order: who reads them checks them as they come. */
int net_check(const struct hrun_net *net, char where[NET_WHERE], struct hrun_error *err);

/* Is the number finite and not negative; is the value, and its half width the same or NAN? On failure HRUN_EINVAL, and
 * where, which holds the path of the value, has ".v" or ".half" behind it. */
int net_check_number(const char *where, double v, struct hrun_error *err);
int net_check_value(const struct hrun_net_value *value, char where[NET_WHERE], struct hrun_error *err);

/* Append a network that passes net_check as YAML. Errors: HRUN_EINVAL (text that is not UTF-8). */
int net_print(const struct hrun_net *net, struct hrun_buf *out, struct hrun_error *err);

/* The network of text[len]; name stands for the file in messages. Errors: HRUN_EPARSE with the place. */
int net_parse(const char *name, const char *text, size_t len, struct hrun_net **out, struct hrun_error *err);

/* The whole file, with version and checksum. Errors: those of net_parse, and HRUN_ECORRUPT. */
int net_parse_file(const char *name, const struct hrun_buf *text, struct hrun_net **out, struct hrun_error *err);

/* As hrun_net_create, with these numbers of classes, groups and segments, each >= 1; all hosts are of class 0. */
struct hrun_net *net_make(const char *const *hosts, int n, int nclasses, int ngroups, int nsegments);

/* Give a class tables for this number of kinds of PEs, >= 1, all unknown. */
void net_class_set_kinds(struct hrun_net_class *c, int nkinds);

/* Must a value be written to a file: does it differ from { 0, NAN }? */
int net_is_known(const struct hrun_net_value *v);

/* The segment of messages of this size; the parameters from one host to another; where in net->trunks the trunk
 * from group g to group h is, which both directions may share. */
const struct hrun_net_segment *net_segment_of(const struct hrun_net_segment *segments, int n, double bytes);
const struct hrun_net_pair *net_pair(const struct hrun_net *net, int from, int to);
int net_trunk(const struct hrun_net *net, int g, int h);

#endif
