/* mapping_words.c - the values of mpirun's mapping options; see layout.h for the contracts */
#include "layout/layout.h"

#include "base/list.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Names of objects. Messages use the first name of each. */
static const struct { const char *name; enum hrun_map what; } objects[] = {
    { "slot", HRUN_MAP_SLOT }, { "node", HRUN_MAP_NODE }, { "board", HRUN_MAP_NODE },
    { "package", HRUN_MAP_NODE + HRUN_OBJECT_PACKAGE }, { "socket", HRUN_MAP_NODE + HRUN_OBJECT_PACKAGE },
    { "numa", HRUN_MAP_NODE + HRUN_OBJECT_NUMA }, { "l3cache", HRUN_MAP_NODE + HRUN_OBJECT_L3 },
    { "l3", HRUN_MAP_NODE + HRUN_OBJECT_L3 }, { "l2cache", HRUN_MAP_NODE + HRUN_OBJECT_L2 },
    { "l2", HRUN_MAP_NODE + HRUN_OBJECT_L2 }, { "l1cache", HRUN_MAP_NODE + HRUN_OBJECT_L1 },
    { "l1", HRUN_MAP_NODE + HRUN_OBJECT_L1 }, { "core", HRUN_MAP_CORE }, { "hwthread", HRUN_MAP_HWTHREAD },
    { "none", HRUN_MAP_NONE },
};
#define OBJECTS "node, package (socket), numa, l3cache, l2cache, l1cache, core, hwthread"

const char *layout_map_name(int what)
{
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
        if ((int)objects[i].what == what)
            return objects[i].name;
    return "";
}

static int word_is(const char *word, size_t len, const char *name)
{
    return strlen(name) == len && !strncasecmp(word, name, len);
}

static enum hrun_map find_object(const char *word, size_t len)
{
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
        if (word_is(word, len, objects[i].name))
            return objects[i].what;
    return HRUN_MAP_UNSET;
}

/* The value of word[len] if it is a number of 1 to 65536, else 0. */
static int positive_number(const char *word, size_t len)
{
    char *end;
    long n = len && *word >= '0' && *word <= '9' ? strtol(word, &end, 10) : 0;

    return n > 0 && n <= 1 << 16 && end == word + len ? (int)n : 0;
}

static int set_pes(struct hrun_mapping *m, const char *word, size_t len, struct hrun_error *err)
{
    m->pes = positive_number(word, len);
    return m->pes ? 0 : hrun_fail(err, HRUN_EINVAL, "'%.*s' cores for each process: it is a number of at least 1",
                                  (int)len, word);
}

/* Modifiers after the first ':' of --map-by, --rank-by and --bind-to. keys: the option that accepts the modifier;
 * `at`: the member of struct hrun_mapping that becomes `value`. */
enum { MAP = 1, RANK = 2, BIND = 4 };
#define AT(member) offsetof(struct hrun_mapping, member)
static const struct { const char *name; int keys; size_t at; int value; } modifiers[] = {
    { "span", MAP, AT(span), 1 }, { "span", RANK, AT(rank_span), 1 }, { "fill", RANK, AT(rank_fill), 1 },
    { "oversubscribe", MAP, AT(oversubscribes), 1 }, { "nooversubscribe", MAP, AT(oversubscribes), 0 },
    { "display", MAP, AT(displays), 1 }, { "displaymap", MAP, AT(displays), 1 },
    { "displayalloc", MAP, AT(displays), 1 }, { "displaydevel", MAP, AT(displays), 1 },
    { "inherit", MAP, AT(inherits), 1 }, { "noinherit", MAP, AT(inherits), 0 }, { "nolocal", MAP, AT(nolocal), 1 },
    { "hwtcpus", MAP, AT(hwthreads), 1 }, { "corecpus", MAP, AT(hwthreads), 0 },
    { "overload-allowed", BIND, AT(shares), 1 }, { "no-overload", BIND, AT(shares), 0 },
    { "if-supported", BIND, AT(if_supported), 1 }, { "report", BIND, AT(reports), 1 },
};

/* Apply the modifier word[len]. */
static int modify(struct hrun_mapping *m, int key, const char *word, size_t len, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf known = HRUN_BUF_INIT;

    if (!len)
        return 0;
    if (key == MAP && len > 2 && !strncasecmp(word, "pe=", 3))
        return set_pes(m, word + 3, len - 3, err);
    if (key == MAP && len > 4 && !strncasecmp(word, "file=", 5)) {
        m->rankfile = word + 5;
        return 0;
    }
    if (key == MAP && word_is(word, len, "1"))     /* mpiexec's core:1 */
        return 0;
    if (key == MAP && positive_number(word, len))
        return hrun_fail(err, HRUN_EINVAL, "a number after the object, as in mpiexec, is not supported: for %.*s cores "
                         "of each process write pe=%.*s", (int)len, word, (int)len, word);
    if (key == BIND && positive_number(word, len)) {   /* mpiexec's core:2: bind to cores in order */
        m->by = m->by ? m->by : HRUN_MAP_SLOT;
        return set_pes(m, word, len, err);
    }
    for (size_t i = 0; i < sizeof modifiers / sizeof *modifiers; i++)
        if (modifiers[i].keys == key && word_is(word, len, modifiers[i].name)) {
            memcpy((char *)m + modifiers[i].at, &modifiers[i].value, sizeof(int));
            return 0;
        }
    for (size_t i = 0; i < sizeof modifiers / sizeof *modifiers; i++)
        if (modifiers[i].keys == key)
            hrun_buf_addf(&known, "%s%s", known.len ? ", " : "", modifiers[i].name);
    return hrun_fail(err, HRUN_EINVAL, "unknown modifier '%.*s'; there are %s%s", (int)len, word,
                     key == MAP ? "pe=N, " : key == BIND ? "N (cores), " : "", known.data);
}

static int modify_all(struct hrun_mapping *m, int key, const char *p, struct hrun_error *err)
{
    for (size_t len; *p; p += len) {
        p += *p == ':' || *p == ',';
        len = strncasecmp(p, "file=", 5) ? strcspn(p, ":,") : strlen(p);     /* a file name is the rest of the text */
        if (modify(m, key, p, len, err))
            return -1;
    }
    return 0;
}

static int two_ways(struct hrun_error *err)
{
    return hrun_fail(err, HRUN_EINVAL, "a rankfile and --map-by or its like contradict each other: both say where "
                     "processes go; give one of them");
}

/* Set m->cpus to a list of cores up to `end` or the end of the text. Result: the end of the list; NULL on errors. */
static const char *set_cpus(struct hrun_mapping *m, const char *value, char end, struct hrun_error *err)
{
    long first, last;
    const char *p = value;

    do {
        p = hrun_range_next(p, HRUN_RANGES_MAX, &first, &last);
    } while (p && *p == ',' && p++);
    if (p && (!*p || *p == end)) {
        m->cpus = value;
        return p;
    }
    hrun_fail(err, HRUN_EINVAL, "'%s' is no list of cores such as 0-3,8", value);
    return NULL;
}

static int map_by(struct hrun_mapping *m, const char *value, struct hrun_error *err)
{
    const char *p = value + strcspn(value, ":,");
    size_t len = (size_t)(p - value);
    const char *file = m->rankfile;

    m->per = 0;
    m->by = HRUN_MAP_UNSET;
    m->rankfile = NULL;
    m->seq = word_is(value, len, "seq");
    if (!strncasecmp(value, "pe-list=", 8)) {
        p = set_cpus(m, value + 8, ':', err);
        m->by = HRUN_MAP_SLOT;
        return p ? modify_all(m, MAP, p, err) : -1;
    }
    if (word_is(value, len, "ppr")) {       /* ppr:N:OBJECT */
        size_t digits = strcspn(p += *p == ':', ":"), name;

        m->per = positive_number(p, digits);
        p += digits + (p[digits] == ':');
        name = strcspn(p, ":,");
        m->by = find_object(p, name);
        if (!m->per || m->by < HRUN_MAP_NODE)
            return hrun_fail(err, HRUN_EINVAL, "ppr says how many processes each object gets, as in ppr:2:node; "
                             "objects are " OBJECTS);
        p += name;
    }
    if (!m->per && !m->seq && !word_is(value, len, "rankfile") && len)
        m->by = find_object(value, len);
    if (!m->per && !m->seq && !word_is(value, len, "rankfile") && len && m->by < HRUN_MAP_SLOT)
        return hrun_fail(err, HRUN_EINVAL, "unknown word '%.*s'; there are slot, " OBJECTS ", ppr:N:OBJECT, "
                         "seq, pe-list=LIST and rankfile:file=FILE", (int)len, value);
    if (modify_all(m, MAP, p, err))
        return -1;
    if (word_is(value, len, "rankfile") != (m->rankfile != NULL))
        return hrun_fail(err, HRUN_EINVAL, "a rankfile is named as in rankfile:file=FILE");
    if (file && len && !m->rankfile)
        return two_ways(err);
    m->rankfile = m->rankfile ? m->rankfile : len ? NULL : file;
    return 0;
}

static int rank_by(struct hrun_mapping *m, const char *value, struct hrun_error *err)
{
    size_t len = strcspn(value, ":,");

    m->rank_by = find_object(value, len);
    m->rank_fill = word_is(value, len, "fill");
    m->rank_span = word_is(value, len, "span");
    if (m->rank_by < HRUN_MAP_SLOT && len && !m->rank_fill && !m->rank_span && !word_is(value, len, "object"))
        return hrun_fail(err, HRUN_EINVAL, "unknown word '%.*s'; there are slot, fill, span, object, " OBJECTS,
                         (int)len, value);
    if (m->rank_by < HRUN_MAP_SLOT)
        m->rank_by = HRUN_MAP_NONE;   /* the object of --map-by */
    return modify_all(m, RANK, value + len, err);
}

static int bind_to(struct hrun_mapping *m, const char *value, struct hrun_error *err)
{
    size_t len = strcspn(value, ":,");
    enum hrun_map what = word_is(value, len, "rr") ? HRUN_MAP_CORE : find_object(value, len);

    if (word_is(value, len, "user"))
        return hrun_fail(err, HRUN_EINVAL, "a list of cores for each process is not served: write a rankfile, with "
                         "lines such as 'rank 0=HOST slot=0-1', and --rankfile FILE");
    if (len && (what == HRUN_MAP_UNSET || what == HRUN_MAP_SLOT))
        return hrun_fail(err, HRUN_EINVAL, "unknown word '%.*s'; there are none, " OBJECTS, (int)len, value);
    m->bind_to = what;
    return modify_all(m, BIND, value + len, err);
}

int hrun_mapping_set(struct hrun_mapping *m, const char *key, const char *value, struct hrun_error *err)
{
    if (!strcmp(key, "map-by"))
        return map_by(m, value, err);
    if (!strcmp(key, "rank-by"))
        return rank_by(m, value, err);
    if (!strcmp(key, "bind-to"))
        return bind_to(m, value, err);
    if (!strcmp(key, "pe"))
        return set_pes(m, value, strlen(value), err);
    if (!strcmp(key, "cpus"))
        return set_cpus(m, value, 0, err) ? 0 : -1;
    if (!strcmp(key, "hwthreads"))
        m->hwthreads = 1;
    else if (!strcmp(key, "oversubscribe"))
        m->oversubscribes = 1;
    else if (!strcmp(key, "nolocal"))
        m->nolocal = 1;
    else if (!strcmp(key, "rankfile") && m->by)
        return two_ways(err);
    else if (!strcmp(key, "rankfile"))
        m->rankfile = value;
    else {
        m->by = HRUN_MAP_NODE;
        m->per = positive_number(value, strlen(value));
        m->wraps = !strcmp(key, "per-host");
        if (!m->per)
            return hrun_fail(err, HRUN_EINVAL, "'%s' processes per host: it is a number of at least 1", value);
    }
    return 0;
}

int hrun_mapping_places(const struct hrun_mapping *m)
{
    return m->by || m->rank_by || m->rankfile || m->pes || m->hwthreads || m->nolocal || m->cpus || m->seq || m->hosts;
}

void hrun_mapping_print(const struct hrun_mapping *m, const struct hrun_layout *l, struct hrun_buf *out)
{
    if (m->rankfile)
        hrun_buf_addf(out, "by %s, ", m->rankfile);
    else if (m->per)
        hrun_buf_addf(out, "%d on each %s, ", m->per, layout_map_name((int)m->by));
    else if (m->hosts)
        hrun_buf_adds(out, "by the list of hosts, ");
    else if (hrun_mapping_places(m))
        hrun_buf_addf(out, "by %s%s, ", layout_map_name(l->mapped), m->span ? " of all hosts" : "");
    if (m->rankfile && l->bound != HRUN_MAP_NONE)
        hrun_buf_adds(out, "bound to its slots");
    else if (l->bound == HRUN_MAP_NONE)
        hrun_buf_adds(out, "not bound");
    else if (m->pes > 1)
        hrun_buf_addf(out, "bound to %d %s each", m->pes, m->hwthreads ? "hardware threads" : "cores");
    else
        hrun_buf_addf(out, "bound to %s", layout_map_name(l->bound));
}
