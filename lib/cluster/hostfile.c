/* hostfile.c - host files and --host; see internal.h for the contracts and hrun-cluster(5) for the formats */
#include "cluster/internal.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/list.h"
#include "base/units.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

/* Max bytes of a host file: HRUN_HOSTLIST_MAX names of 255 characters, and comments. */
static const size_t file_max = (size_t)8 << 20;

static const char blanks[] = " \t\r\v\f";

/* Values of an entry's slots while the list is read. */
enum { NOT_GIVEN = -1, ALL_CORES = -2 };

void hrun_host_list_release(struct hrun_host_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->v[i].name);
    free(list->v);
    *list = (struct hrun_host_list)HRUN_HOST_LIST_INIT;
}

/* A place in a file or text, for messages. */
struct host_place {
    const char *file;
    int line, column;
};

/* Fail `offset` characters behind a place. Result: -1. */
#define FAIL_AT(place, offset, err, ...) \
    hrun_fail_at((err), HRUN_EPARSE, (place)->file, (place)->line, (place)->column + (int)(offset), __VA_ARGS__)

static int fail_user(const struct host_place *at, const char *user, int len, struct hrun_error *err)
{
    return FAIL_AT(at, 0, err, "a host list cannot name a user: write 'User %.*s' for this host into ~/.ssh/config",
                   len, user);
}

/* Add the hosts of item, a name or a range. ":N" is cut off item. */
static int add_item(struct hrun_host_list *list, const struct host_place *at, char *item, int slots,
                    struct hrun_error *err)
{
    autorelease(hrun_strvec_release) struct hrun_strvec names = HRUN_STRVEC_INIT;
    struct hrun_error why;
    char *colon = strrchr(item, ':'), *bracket = strrchr(item, ']'), *user_end = strchr(item, '@');
    int keyed = slots != NOT_GIVEN;
    struct in6_addr address;
    int64_t count;

    if (inet_pton(AF_INET6, item, &address) == 1)
        return FAIL_AT(at, 0, err, "write an IPv6 address in brackets: [%s], or [%s]:N with slots", item, item);
    if (user_end)
        return fail_user(at, item, (int)(user_end - item), err);
    if (colon && (!bracket || colon > bracket)) {
        if (keyed)
            return FAIL_AT(at, 0, err, "'%s' tells its slots twice", item);
        if (!strcmp(colon + 1, "*") || !strcmp(colon + 1, "auto"))
            count = ALL_CORES;
        else if (hrun_parse_count("slots", colon + 1, 0, HRUN_CORES_MAX, &count, &why))
            return FAIL_AT(at, colon - item + 1, err, "%s (after the ':' of 'HOST:SLOTS')", why.text);
        slots = (int)count;
        *colon = 0;
    }
    if (!*item)
        return FAIL_AT(at, 0, err, "a host name is missing");
    if (hrun_hostlist_parse(item, &names, &why))
        return FAIL_AT(at, why.column ? why.column - 1 : 0, err, "%s", why.text);
    if (names.n > HRUN_HOSTLIST_MAX - list->n)
        return FAIL_AT(at, 0, err, "more than %d hosts are named", HRUN_HOSTLIST_MAX);
    hrun_grow(list->v, list->n + names.n, list->cap);
    for (size_t i = 0; i < names.n; i++)
        list->v[list->n++] = (struct hrun_host_entry){ xstrdup(names.v[i]), slots, keyed, at->line, at->column };
    return 0;
}

static int compare_entries(const void *pa, const void *pb)
{
    const struct hrun_host_entry *a = *(struct hrun_host_entry *const *)pa;
    const struct hrun_host_entry *b = *(struct hrun_host_entry *const *)pb;
    int order = strcasecmp(a->name, b->name);

    return order ? order : (a > b) - (a < b);
}

/* Add the slots of a later mention of a host to the slots of the first mention. */
static int add_mention(struct hrun_host_entry *first, const struct hrun_host_entry *more, const char *file,
                       struct hrun_error *err)
{
    long long slots = (first->slots == NOT_GIVEN ? 1 : first->slots) + (more->slots == NOT_GIVEN ? 1 : more->slots);
    int one_line = !strcmp(file, "--host");

    if (more->keyed || first->slots == ALL_CORES || more->slots == ALL_CORES)
        return hrun_fail_at(err, HRUN_EPARSE, file, more->line, more->column, "host '%s' is listed twice (first at %s "
                            "%d), with %s: write it once, with all its slots", more->name, one_line ? "column" : "line",
                            one_line ? first->column : first->line,
                            more->keyed ? "slots of its own" : "all its cores and a number of slots");
    first->slots = slots < HRUN_CORES_MAX ? (int)slots : HRUN_CORES_MAX;
    return 0;
}

/* Add up the slots of hosts that are listed several times, as mpirun and mpiexec do. If one of these mentions
 * gives no slots, a host of the list without slots gets one; else slots that are not given become 0 (all cores). Hosts
 * listed with 0 slots are removed. */
static int merge_mentions(struct hrun_host_list *list, const char *file, struct hrun_error *err)
{
    autofree struct hrun_host_entry **sorted = xmalloc((list->n + 1) * sizeof *sorted);
    struct hrun_host_entry *first = NULL;
    int counted = 0, rc = 0;
    size_t n = 0;

    for (size_t i = 0; i < list->n; i++)
        sorted[i] = &list->v[i];
    qsort(sorted, list->n, sizeof *sorted, compare_entries);
    for (size_t i = 0; i < list->n && !rc; i++) {
        if (!first || strcasecmp(first->name, sorted[i]->name)) {
            first = sorted[i];
            continue;
        }
        counted |= first->slots == NOT_GIVEN || sorted[i]->slots == NOT_GIVEN;
        rc = add_mention(first, sorted[i], file, err);
        sorted[i]->slots = 0;
    }
    for (size_t i = 0; i < list->n && !rc; i++) {
        struct hrun_host_entry e = list->v[i];

        if (!e.slots) {
            free(e.name);
            continue;
        }
        if (e.slots < 0)
            e.slots = e.slots == NOT_GIVEN && counted ? 1 : 0;
        list->v[n++] = e;
    }
    if (rc)
        return -1;
    if (list->n && !n)
        rc = hrun_fail_at(err, HRUN_EPARSE, file, 0, 0, "every host has 0 slots, so no process can be started");
    list->n = n;
    return rc;
}

/* Merge mentions in *found, and move it to *list, whose old content is released. */
static int replace_host_list(struct hrun_host_list *found, const char *place, struct hrun_host_list *list,
                             struct hrun_error *err)
{
    if (merge_mentions(found, place, err))
        return -1;
    hrun_host_list_release(list);
    *list = *found;
    *found = (struct hrun_host_list)HRUN_HOST_LIST_INIT;
    return 0;
}

/* ---------------------------------------------------------------- host files */

/* Read "key=value" after a name, with optional blanks around '='; *p moves behind it. */
static int read_setting(char **p, const struct host_place *at, int *slots, int *max_slots, struct hrun_error *err)
{
    static const struct { const char *key; enum { SLOTS, MOST, USER } what; } known[] = {
        { "slots", SLOTS }, { "slot", SLOTS }, { "cpus", SLOTS }, { "cpu", SLOTS }, { "count", SLOTS },
        { "max_slots", MOST }, { "max-slots", MOST }, { "slots_max", MOST }, { "slots-max", MOST },
        { "username", USER }, { "user-name", USER }, { "user_name", USER }, { "user", USER },
    };
    char *key = *p, *key_end = key + strcspn(key, "= \t\r\v\f"), *eq = key_end + strspn(key_end, blanks);
    char *value, *end;
    struct hrun_error why;
    int *into = NULL, is_user = 0;
    int64_t count;
    size_t len = (size_t)(key_end - key);

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].key) == len && !strncmp(key, known[i].key, len)) {
            into = known[i].what == SLOTS ? slots : known[i].what == MOST ? max_slots : NULL;
            is_user = known[i].what == USER;
        }
    if ((!into && !is_user) || *eq != '=')
        return FAIL_AT(at, 0, err, "'%.*s' is not understood behind a host name; a line is 'NAME [slots=N] "
                       "[max_slots=M]' or 'NAME:N'", (int)(len ? len : 1), key);
    value = eq + 1 + strspn(eq + 1, blanks);
    end = value + strcspn(value, blanks);
    *p = *end ? end + 1 : end;
    *end = 0;
    *key_end = 0;
    if (is_user)
        return fail_user(at, value, (int)strlen(value), err);
    if (*into != NOT_GIVEN)
        return FAIL_AT(at, 0, err, "'%s' is given twice", key);
    if (hrun_parse_count(key, value, 0, HRUN_CORES_MAX, &count, &why))
        return FAIL_AT(at, value - key, err, "%s", why.text);
    *into = (int)count;
    return 0;
}

static int read_hostfile_line(struct hrun_host_list *list, const char *file, char *line, int number,
                              struct hrun_error *err)
{
    struct host_place at = { file, number, 0 };
    char *name, *p, *end;
    int slots = NOT_GIVEN, max_slots = NOT_GIVEN;

    line[strcspn(line, "#")] = 0;
    name = line + strspn(line, blanks);
    if (!*name)
        return 0;
    end = name + strcspn(name, blanks);
    p = *end ? end + 1 : end;
    *end = 0;
    at.column = (int)(name - line) + 1;
    for (p += strspn(p, blanks); *p; p += strspn(p, blanks)) {
        struct host_place here = { file, number, (int)(p - line) + 1 };

        if (read_setting(&p, &here, &slots, &max_slots, err))
            return -1;
    }
    if (max_slots != NOT_GIVEN && max_slots < slots)
        return FAIL_AT(&at, 0, err, "max_slots=%d is less than slots=%d", max_slots, slots);
    return add_item(list, &at, name, slots == NOT_GIVEN ? max_slots : slots, err);
}

int hrun_hostfile_read(const char *path, int may_be_empty, struct hrun_host_list *list, struct hrun_error *err)
{
    autorelease(hrun_host_list_release) struct hrun_host_list found = HRUN_HOST_LIST_INIT;
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    char *line, *next, *end;

    if (hrun_file_read(path, file_max, &text, err))
        return -1;
    line = text.data + (strncmp(text.data, "\xef\xbb\xbf", 3) ? 0 : 3);     /* byte order mark */
    end = text.data + text.len;
    for (int number = 1; line < end; line = next, number++) {
        next = memchr(line, '\n', (size_t)(end - line));
        next = next ? next + 1 : end + 1;
        if (memchr(line, 0, (size_t)((next < end ? next : end) - line)))
            return hrun_fail_at(err, HRUN_EPARSE, path, number, 0, "this is no text: the line holds a zero byte");
        next[-1] = 0;
        if (read_hostfile_line(&found, path, line, number, err))
            return -1;
    }
    if (!found.n && !may_be_empty)
        return hrun_fail_at(err, HRUN_EPARSE, path, 0, 0, "the host file names no host; a line is 'NAME [slots=N]'");
    return replace_host_list(&found, path, list, err);
}

/* ---------------------------------------------------------------- --host */

int hrun_hosts_parse(const char *text, struct hrun_host_list *list, struct hrun_error *err)
{
    struct host_place at = { "--host", 1, 0 };
    autorelease(hrun_host_list_release) struct hrun_host_list found = HRUN_HOST_LIST_INIT;
    autofree char *copy = xstrdup(text);
    char *end, *tail;
    int last = 0;

    for (char *item = copy; !last; item = end + 1) {
        int depth = 0;

        for (end = item; *end && (*end != ',' || depth > 0); end++)     /* a comma in a bracket is not an end */
            depth += (*end == '[') - (*end == ']');
        last = *end == 0;
        *end = 0;
        item += strspn(item, blanks);
        for (tail = item + strlen(item); tail > item && strchr(blanks, tail[-1]); tail--)
            tail[-1] = 0;
        at.column = (int)(item - copy) + 1;
        if (add_item(&found, &at, item, NOT_GIVEN, err))
            return -1;
    }
    return replace_host_list(&found, at.file, list, err);
}

/* ---------------------------------------------------------------- both */

int hrun_hosts_asked(const struct hrun_cluster_request *req, struct hrun_host_list *list, const char **place,
                     struct hrun_error *err)
{
    struct hrun_host_list chosen = HRUN_HOST_LIST_INIT;
    size_t at = 0, k;
    int rc;

    *place = req->host_file ? req->host_file : "--host";
    if (!req->host_file)
        return hrun_hosts_parse(req->hosts, list, err);
    rc = hrun_hostfile_read(req->host_file, 0, list, err);
    if (rc || !req->hosts)
        return rc;
    rc = hrun_hosts_parse(req->hosts, &chosen, err);
    for (size_t i = 0; i < chosen.n && !rc; i++) {
        struct hrun_host_entry *e = &chosen.v[i], *of;

        for (k = 0; k < list->n && !hrun_same_host(list->v[at].name, e->name); k++)
            at = (at + 1) % list->n;
        of = &list->v[at];
        if (k == list->n)
            rc = hrun_fail_at(err, HRUN_EINVAL, "--host", e->line, e->column, "host '%s' is not in %s; with a host "
                              "file --host chooses among its hosts", e->name, req->host_file);
        else if (!e->slots || (of->slots && of->slots < e->slots))
            e->slots = of->slots;
    }
    hrun_host_list_release(list);
    *list = chosen;
    *place = "--host";
    return rc;
}
