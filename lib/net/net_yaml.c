/* net_yaml.c - a network as YAML text; see internal.h and net_yaml.h for the contracts */
#include "net/internal.h"
#include "net/net_yaml.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#define NUMBER(key, type, member) CYAML_FIELD_FLOAT(key, CYAML_FLAG_DEFAULT, type, member)
#define WHOLE(key, type, member) CYAML_FIELD_INT(key, CYAML_FLAG_DEFAULT, type, member)
#define VALUE(key, type, member) CYAML_FIELD_MAPPING(key, CYAML_FLAG_FLOW, type, member, value_fields)
#define TEXT(key, flags, member, min) \
    CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | (flags), struct net_file, member, min, CYAML_UNLIMITED)
#define LIST(key, flags, type, member, count, entry, min) \
    CYAML_FIELD_SEQUENCE_COUNT(key, CYAML_FLAG_POINTER | (flags), type, member, count, entry, min, CYAML_UNLIMITED)
#define MAYBE CYAML_FLAG_OPTIONAL

static const cyaml_schema_field_t value_fields[] = {
    NUMBER("v", struct net_file_value, v),
    CYAML_FIELD_FLOAT_PTR("half", CYAML_FLAG_POINTER | MAYBE, struct net_file_value, half),
    CYAML_FIELD_END
};

static const cyaml_schema_field_t host_fields[] = {
    CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_POINTER, struct net_file_host, name, 1, CYAML_UNLIMITED),
    WHOLE("class", struct net_file_host, class_of),
    WHOLE("group", struct net_file_host, group),
    CYAML_FIELD_END
};

static const cyaml_schema_field_t local_fields[] = {
    WHOLE("from", struct net_file_local, from),
    WHOLE("to", struct net_file_local, to),
    VALUE("fixed_s", struct net_file_local, fixed_s),
    VALUE("s_per_byte", struct net_file_local, s_per_byte),
    CYAML_FIELD_END
};

static const cyaml_schema_field_t pair_fields[] = {
    WHOLE("from", struct net_file_pair, from),
    WHOLE("to", struct net_file_pair, to),
    VALUE("L_s", struct net_file_pair, L_s),
    VALUE("beta_bytes_per_s", struct net_file_pair, beta_bytes_per_s),
    CYAML_FIELD_END
};

static const cyaml_schema_field_t trunk_fields[] = {
    WHOLE("from", struct net_file_trunk, from),
    WHOLE("to", struct net_file_trunk, to),
    VALUE("bytes_per_s", struct net_file_trunk, bytes_per_s),
    CYAML_FIELD_END
};

static const cyaml_schema_field_t segment_fields[] = {
    NUMBER("from_bytes", struct hrun_net_segment, from_bytes),
    NUMBER("a", struct hrun_net_segment, a),
    NUMBER("b", struct hrun_net_segment, b),
    CYAML_FIELD_END
};

static const cyaml_schema_field_t threshold_fields[] = {
    NUMBER("scatter_S", struct hrun_net_thresholds, scatter_S),
    NUMBER("gather_M1", struct hrun_net_thresholds, gather_M1),
    NUMBER("gather_M2", struct hrun_net_thresholds, gather_M2),
    NUMBER("kappa1_s_per_byte", struct hrun_net_thresholds, kappa1_s_per_byte),
    NUMBER("kappa2_s_per_byte", struct hrun_net_thresholds, kappa2_s_per_byte),
    NUMBER("irregular_s", struct hrun_net_thresholds, irregular_s),
    NUMBER("irregular_share", struct hrun_net_thresholds, irregular_share),
    CYAML_FIELD_END
};

static const cyaml_schema_value_t host_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_FLOW, struct net_file_host, host_fields)
};
static const cyaml_schema_value_t local_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_FLOW, struct net_file_local, local_fields)
};
static const cyaml_schema_value_t pair_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_FLOW, struct net_file_pair, pair_fields)
};
static const cyaml_schema_value_t trunk_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_FLOW, struct net_file_trunk, trunk_fields)
};
static const cyaml_schema_value_t segment_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_FLOW, struct hrun_net_segment, segment_fields)
};

static const cyaml_schema_field_t class_fields[] = {
    VALUE("C_s", struct net_file_class, C_s),
    VALUE("t_s_per_byte", struct net_file_class, t_s_per_byte),
    VALUE("out_bytes_per_s", struct net_file_class, out_bytes_per_s),
    VALUE("in_bytes_per_s", struct net_file_class, in_bytes_per_s),
    NUMBER("local_bytes_per_s", struct net_file_class, local_bytes_per_s),
    WHOLE("kinds", struct net_file_class, kinds),
    LIST("local", MAYBE, struct net_file_class, local, nlocal, &local_entry, 0),
    CYAML_FIELD_END
};

static const cyaml_schema_value_t class_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct net_file_class, class_fields)
};

static const cyaml_schema_field_t file_fields[] = {
    WHOLE("version", struct net_file, version),
    TEXT("engine", MAYBE, engine, 0),
    TEXT("mpi", MAYBE, mpi, 0),
    TEXT("selector", 0, selector, 1),
    TEXT("date", MAYBE, date, 0),
    WHOLE("groups", struct net_file, groups),
    LIST("hosts", 0, struct net_file, hosts, nhosts, &host_entry, 1),
    LIST("classes", 0, struct net_file, classes, nclasses, &class_entry, 1),
    LIST("pairs", MAYBE, struct net_file, pairs, npairs, &pair_entry, 0),
    LIST("trunks", MAYBE, struct net_file, trunks, ntrunks, &trunk_entry, 0),
    LIST("segments", 0, struct net_file, segments, nsegments, &segment_entry, 1),
    NUMBER("sync_bytes", struct net_file, sync_bytes),
    WHOLE("wire_waits", struct net_file, wire_waits),
    CYAML_FIELD_INT("exchange_waits", CYAML_FLAG_OPTIONAL, struct net_file, exchange_waits),
    NUMBER("bias_bytes", struct net_file, bias_bytes),
    NUMBER("back_share", struct net_file, back_share),
    WHOLE("trunks_shared", struct net_file, trunks_shared),
    NUMBER("reduce_s_per_byte", struct net_file, reduce_s_per_byte),
    CYAML_FIELD_MAPPING("thresholds", CYAML_FLAG_DEFAULT, struct net_file, thresholds, threshold_fields),
    CYAML_FIELD_END
};

const cyaml_schema_value_t net_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct net_file, file_fields)
};

/* ---------------------------------------------------------------- to text */

locale_t net_enter_c_locale(locale_t *old)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);

    if (c)
        *old = uselocale(c);
    return c;
}

void net_leave_c_locale(locale_t c, locale_t old)
{
    if (c) {
        uselocale(old);
        freelocale(c);
    }
}

static char *nonempty(char *s)
{
    return s && *s ? s : NULL;
}

int net_is_known(const struct hrun_net_value *v)
{
    return v->v != 0 || signbit(v->v) || !isnan(v->half);
}

/* The half width is borrowed. */
static struct net_file_value to_file(const struct hrun_net_value *v)
{
    return (struct net_file_value){ v->v, isnan(v->half) ? NULL : (double *)(uintptr_t)&v->half };
}

static int fill_class(const struct hrun_net_class *c, struct net_file_class *f)
{
    *f = (struct net_file_class){
        .C_s = to_file(&c->C_s), .t_s_per_byte = to_file(&c->t_s_per_byte),
        .out_bytes_per_s = to_file(&c->out_bytes_per_s), .in_bytes_per_s = to_file(&c->in_bytes_per_s),
        .local_bytes_per_s = c->local_bytes_per_s, .kinds = c->nkinds,
        .local = net_alloc((long long)c->nkinds * c->nkinds, sizeof *f->local)
    };
    if (!f->local)
        return -1;
    for (int a = 0, k = 0; a < c->nkinds; a++)
        for (int b = 0; b < c->nkinds; b++, k++)
            if (net_is_known(&c->local_fixed_s[k]) || net_is_known(&c->local_s_per_byte[k]))
                f->local[f->nlocal++] = (struct net_file_local){ a, b, to_file(&c->local_fixed_s[k]),
                                                             to_file(&c->local_s_per_byte[k]) };
    return 0;
}

static void fill_links(const struct hrun_net *net, struct net_file *f)
{
    for (int i = 0; i < net->nclasses; i++)
        for (int j = 0; j < net->nclasses; j++) {
            const struct hrun_net_pair *p = &net->pairs[(size_t)i * (size_t)net->nclasses + (size_t)j];

            if (net_is_known(&p->L_s) || net_is_known(&p->beta_bytes_per_s))
                f->pairs[f->npairs++] = (struct net_file_pair){ i, j, to_file(&p->L_s), to_file(&p->beta_bytes_per_s) };
        }
    for (int i = 0; i < net->ngroups; i++)
        for (int j = 0; j < net->ngroups; j++) {
            const struct hrun_net_value *t = &net->trunks[(size_t)i * (size_t)net->ngroups + (size_t)j];

            if (net_is_known(t))
                f->trunks[f->ntrunks++] = (struct net_file_trunk){ i, j, to_file(t) };
        }
}

int net_print(const struct hrun_net *net, struct hrun_buf *out, struct hrun_error *err)
{
    struct net_file f = {
        .version = NET_VERSION, .groups = net->ngroups, .engine = nonempty(net->engine), .mpi = nonempty(net->mpi),
        .selector = net->selector, .date = nonempty(net->date), .sync_bytes = net->sync_bytes,
        .wire_waits = net->wire_waits, .exchange_waits = net->exchange_waits, .bias_bytes = net->bias_bytes,
        .back_share = net->back_share,
        .trunks_shared = net->trunks_shared,
        .reduce_s_per_byte = net->reduce_s_per_byte, .thresholds = net->thresholds, .segments = net->segments,
        .nsegments = (unsigned)net->nsegments, .hosts = net_alloc(net->nhosts, sizeof *f.hosts),
        .classes = net_alloc(net->nclasses, sizeof *f.classes),
        .pairs = net_alloc((long long)net->nclasses * net->nclasses, sizeof *f.pairs),
        .trunks = net_alloc((long long)net->ngroups * net->ngroups, sizeof *f.trunks)
    };
    locale_t old = (locale_t)0, c = net_enter_c_locale(&old);
    int rc = -1;

    if (!f.hosts || !f.classes || !f.pairs || !f.trunks || !c)
        goto nomem;
    for (int i = 0; i < net->nhosts; i++)
        f.hosts[f.nhosts++] = (struct net_file_host){ net->hosts[i], net->class_of[i], net->group_of[i] };
    for (int i = 0; i < net->nclasses; i++)
        if (fill_class(&net->classes[i], &f.classes[f.nclasses++]))
            goto nomem;
    fill_links(net, &f);
    rc = hrun_yaml_print(&net_schema, &f, out, err);
    goto out;
nomem:
    hrun_fail_nomem(err);
out:
    net_leave_c_locale(c, old);
    for (unsigned i = 0; i < f.nclasses; i++)
        free(f.classes[i].local);
    free(f.hosts);
    free(f.classes);
    free(f.pairs);
    free(f.trunks);
    return rc;
}
