/* host_answer.c - asking hosts for their topologies, reading the answers, answering for this host; see cluster.h and
 * internal.h for the contracts */
#include "cluster/internal.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/list.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void hrun_host_answer_destroy(struct hrun_host_answer *t)
{
    if (!t)
        return;
    free(t->usable);
    free(t->cpu_model);
    free(t->mpi);
    free(t->fingerprint);
    free(t->machine);
    free(t);
}

/* The marks around the data that the XML does not contain. */
#define ANSWER_MARK "<?hrun\n"
#define ANSWER_END "?>"

/* ---------------------------------------------------------------- the key of a topology */

/* The memory of nodes is rounded, because each host's answer has the exact total. */
uint64_t hrun_topology_key(const char *xml, size_t len)
{
    static const char *const personal[] = {     /* tags that differ between equal hosts */
        "<page_type ", "<info name=\"HostName\"", "<info name=\"OSRelease\"", "<info name=\"OSVersion\"",
        "<info name=\"LinuxCgroup\"", "<info name=\"ProcessName\"", "<info name=\"DMI", NULL
    };
    static const char memory[] = " local_memory=\"";
    const char *last = xml + len, *end, *at;
    uint64_t h = HRUN_HASH_INIT, rounded;
    char *after;

    for (const char *p = memchr(xml, '<', len); p; p = memchr(end, '<', (size_t)(last - end))) {
        end = memchr(p, '>', (size_t)(last - p));
        if (!end)
            end = last;
        if (hrun_begins_with(p, personal))
            continue;
        at = memmem(p, (size_t)(end - p), memory, strlen(memory));
        if (at) {
            at += strlen(memory);
            h = hrun_hash(h, p, (size_t)(at - p));
            rounded = hrun_round_memory(strtoull(at, &after, 10));
            h = hrun_hash(h, &rounded, sizeof rounded);
            p = after;
        }
        h = hrun_hash(h, p, (size_t)(end - p));
    }
    return h;
}

/* ---------------------------------------------------------------- the answer of this host */

int hrun_cluster_export(const char *mpi, const char *watched, struct hrun_buf *out, struct hrun_error *err)
{
    struct hrun_topo *t = hrun_topo_load(HRUN_TOPO_THIS, NULL, err);
    struct hrun_topo_pe *pes = NULL;
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT, boot = HRUN_BUF_INIT;
    char name[256] = "";
    uint64_t memory = 0, key;
    int n = 0, rc = -1;

    if (!t || hrun_topo_export(t, &b, err) || hrun_topo_pes(t, HRUN_LEVEL_NODE, 0, &pes, &n, err))
        goto done;
    key = hrun_topology_key(b.data, b.len);
    hrun_buf_addf(&b, "%susable ", ANSWER_MARK);
    for (int i = 0; i < n; i++) {       /* a PE for each kind of cores */
        hrun_buf_addf(&b, "%s%s", i ? "," : "", pes[i].cpuset);
        memory += pes[i].memory_bytes;
    }
    hrun_buf_addf(&b, "\nmemory %llu\n", (unsigned long long)memory);
    if (hrun_topo_cpu_quota(t) > 0)
        hrun_buf_addf(&b, "quota %.6f\n", hrun_topo_cpu_quota(t));
    if (!strstr(hrun_topo_cpu_model(t), ANSWER_END))
        hrun_buf_addf(&b, "cpu %s\n", hrun_topo_cpu_model(t));
    if (mpi)
        hrun_buf_addf(&b, "mpi %s\n", mpi);
    hrun_buf_adds(&b, "fingerprint ");
    hrun_topo_fingerprint(watched, &b);
    hrun_buf_addc(&b, '\n');
    /* The name distinguishes containers on one kernel. */
    if (!hrun_file_read("/proc/sys/kernel/random/boot_id", 64, &boot, NULL) && !gethostname(name, sizeof name - 1))
        hrun_buf_addf(&b, "machine %016llx %s\n",
                      (unsigned long long)hrun_hash(HRUN_HASH_INIT, boot.data, boot.len), name);
    hrun_buf_addf(&b, "topology %016llx\n%s\n", (unsigned long long)key, ANSWER_END);
    hrun_buf_add(out, b.data, b.len);
    rc = 0;
done:
    hrun_topo_pes_free(pes, n);
    hrun_topo_destroy(t);
    return rc;
}

/* ---------------------------------------------------------------- answers of other hosts */

static struct hrun_topo *find_known_topology(const struct hrun_cluster *c, uint64_t key)
{
    for (int i = c->ntopos - 1; i >= 0; i--)
        if (key && c->topo_keys[i] == key)
            return c->topos[i];
    return NULL;
}

/* Load xml, which ends with NUL, as the topology with this key. NULL on failure. */
static struct hrun_topo *load_xml(struct hrun_cluster *c, uint64_t key, const char *xml, struct hrun_error *err)
{
    struct hrun_topo *t = hrun_topo_load(HRUN_TOPO_XML, xml, err);

    if (t)
        hrun_cluster_add_topo(c, t, key);
    return t;
}

/* The value of a line "key value" in the instruction at p, in fresh memory, as one line of text; NULL: none. */
static char *answer_value(const char *p, const char *key)
{
    const char *end = strstr(p, ANSWER_END), *line = strstr(p, key);
    char *value;
    size_t len;

    if (!end || !line || line > end)
        return NULL;
    line += strlen(key);
    len = strcspn(line, "\r\n");
    if (line + len > end)
        return NULL;
    value = xstrndup(line, len);
    for (char *q = value; *q; q++)
        if (iscntrl((unsigned char)*q))
            *q = ' ';
    return value;
}

/* Fail for an unusable answer; the message shows its beginning. */
static int fail_answer(const char *host, const char *text, struct hrun_error *err)
{
    char start[61];

    text += strspn(text, " \t\r\n");
    snprintf(start, sizeof start, "%.*s", (int)strcspn(text, "\n"), text);
    return hrun_fail(err, HRUN_EINVAL, "host '%s' answers %s%s%s in place of its topology; install the same hrun "
                     "there, or describe the host in a cluster file (see hrun-cluster(5))", host, *start ? "'" : "",
                     *start ? start : "nothing", *start ? "'" : "");
}

double hrun_cpu_quota_of(const char *text)
{
    char *after;
    double quota = strtod(text, &after);

    return after > text && !*after && quota > 0 && quota <= HRUN_CORES_MAX ? quota : 0;
}

static int read_instruction(const char *host, const char *p, struct hrun_host_answer *t, struct hrun_error *err)
{
    autofree char *number = answer_value(p, "\nmemory ");
    autofree char *key = answer_value(p, "\ntopology ");
    autofree char *quota = answer_value(p, "\nquota ");
    char *after = NULL;
    int good;

    t->usable = answer_value(p, "\nusable ");
    t->cpu_model = answer_value(p, "\ncpu ");
    t->mpi = answer_value(p, "\nmpi ");
    t->fingerprint = answer_value(p, "\nfingerprint ");
    t->machine = answer_value(p, "\nmachine ");
    if (number)
        t->memory_bytes = strtoull(number, &after, 10);
    good = t->usable && number && isdigit((unsigned char)*number) && !*after && t->memory_bytes <= HRUN_MEMORY_MAX;
    if (key)
        t->key = strtoull(key, NULL, 16);
    t->cpu_quota = quota ? hrun_cpu_quota_of(quota) : 0;
    return good ? 0 : fail_answer(host, p, err);
}

/* Fill *t from the output of a host. The text is cut after the XML. */
static int read_host_answer(const struct hrun_discovery *d, const char *host, struct hrun_buf *text,
                            struct hrun_host_answer *t, struct hrun_error *err)
{
    static const char last[] = "</topology>";
    enum { LAST = sizeof last - 1, TAIL = 1 << 16 };
    char *tail = text->data + (text->len > TAIL ? text->len - TAIL : 0), *more = strstr(tail, ANSWER_MARK);
    char *xml, *end;
    struct hrun_error why;

    /* Find the last instruction of hrun, which is near the end. */
    for (char *next; more && (next = strstr(more + 1, ANSWER_MARK)); )
        more = next;
    t->asked_s = (int64_t)time(NULL);
    if (more && read_instruction(host, more, t, err))
        return -1;
    xml = strstr(text->data, "<?xml");
    /* XML with a known key is not loaded again, if its end tag is right before the instruction. */
    for (end = more; t->key && xml && end > xml && isspace((unsigned char)end[-1]); )
        end--;
    if (t->key && xml && end - xml >= LAST && !strncmp(end - LAST, last, LAST) &&
        (t->topo = find_known_topology(d->c, t->key)))
        return 0;
    end = xml ? strstr(xml, last) : NULL;
    if (!end || (more && end > more))
        return fail_answer(host, text->data, err);
    end += LAST;
    *end = 0;
    /* Compute the key here: the host's release of hrun may compute keys otherwise. */
    t->key = hrun_topology_key(xml, (size_t)(end - xml));
    t->topo = find_known_topology(d->c, t->key);
    if (t->topo)
        return 0;
    t->topo = load_xml(d->c, t->key, xml, &why);
    if (!t->topo)
        return hrun_fail(err, why.code, "host '%s': %s", host, why.text);
    hrun_cache_keep(d->cache, t->key, xml, (size_t)(end - xml));
    return 0;
}

/* ---------------------------------------------------------------- asking */

/* The cached answer of a host with its topology, or NULL. */
static struct hrun_host_answer *recall_answer(const struct hrun_discovery *d, const char *host)
{
    struct hrun_host_answer *t = hrun_cache_find(d->cache, host);
    autorelease(hrun_buf_release) struct hrun_buf xml = HRUN_BUF_INIT;

    if (!t)
        return NULL;
    t->topo = find_known_topology(d->c, t->key);
    if (!t->topo && !hrun_cache_topology(d->cache, t->key, &xml))
        t->topo = load_xml(d->c, t->key, xml.data, NULL);
    if (t->topo)
        return t;
    hrun_host_answer_destroy(t);
    return NULL;
}

/* Fail with the error of the first host that failed, and the names of the others. */
static int fail_failures(char *const *hosts, int n, const struct hrun_error *errors, int *bad, struct hrun_error *err)
{
    autofree char **others = xcalloc((size_t)n + 1, sizeof *others);
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    size_t nothers = 0;

    *bad = -1;
    for (int i = 0; i < n; i++) {
        if (!errors[i].code)
            continue;
        if (*bad < 0)
            *bad = i;
        else
            others[nothers++] = hosts[i];
    }
    if (nothers)
        hrun_hostlist_print(others, nothers, &b);
    return hrun_fail(err, errors[*bad].code, "%s%s%.400s%s", errors[*bad].text, b.len ? " (also failed: " : "", b.data,
                     b.len ? ")" : "");
}

/* Ask n hosts without a cached answer. */
static int ask_unknown_hosts(const struct hrun_discovery *d, char *const *hosts, int n,
                             struct hrun_host_answer **answers, struct hrun_error *errors, struct hrun_error *err)
{
    const struct hrun_cluster_request *req = d->req;
    struct hrun_buf *texts = xcalloc((size_t)n + 1, sizeof *texts);
    int rc, failed = 0;

    for (int i = 0; i < n; i++)
        hrun_buf_init(&texts[i]);
    rc = req->topologies(req->ctx, hosts, n, req->skip_unreachable, texts, errors, err);
    for (int i = 0; i < n; i++)
        failed |= errors[i].code != 0;
    for (int i = 0; i < n && !rc; i++) {
        /* Hosts that were not asked after another one failed have no text. */
        if (errors[i].code || (failed && !req->skip_unreachable && !texts[i].len))
            continue;
        answers[i] = xcalloc(1, sizeof **answers);
        /* An answer from which no PEs can be made is not cached. */
        if (!read_host_answer(d, hosts[i], &texts[i], answers[i], &errors[i])) {
            struct hrun_host h = { .name = hosts[i], .topo = answers[i]->topo, .answer = answers[i] };

            if (answers[i]->usable)
                hrun_host_cut(d->c, &h, HRUN_LEVEL_CORE, 0, &errors[i]);
        }
        if (!errors[i].code) {
            hrun_cache_put(d->cache, hosts[i], answers[i]);
        } else {
            hrun_host_answer_destroy(answers[i]);
            answers[i] = NULL;
        }
        hrun_buf_release(&texts[i]);
    }
    for (int i = 0; i < n; i++)
        hrun_buf_release(&texts[i]);
    free(texts);
    return rc;
}

/* ---------------------------------------------------------------- two names of one machine */

/* Refuse two names of one machine. Addresses in 127/8 are emulated hosts; each counts as a separate machine. */
static int check_machines(char *const *hosts, int n, struct hrun_host_answer *const *answers, int *bad,
                          struct hrun_error *err)
{
    for (*bad = 0; *bad < n; ++*bad) {
        const char *machine = answers[*bad] && strncmp(hosts[*bad], "127.", 4) ? answers[*bad]->machine : NULL;

        for (int i = 0; i < *bad && machine; i++)
            if (answers[i] && answers[i]->machine && !strcmp(answers[i]->machine, machine) &&
                strncmp(hosts[i], "127.", 4))
                return hrun_fail(err, HRUN_EINVAL, "host '%s' is the same machine as '%s'; name it once", hosts[*bad],
                                 hosts[i]);
    }
    *bad = -1;
    return 0;
}

/* ---------------------------------------------------------------- all together */

int hrun_ask_hosts(const struct hrun_discovery *d, char *const *hosts, int n, struct hrun_host_answer **answers,
                   int *bad, struct hrun_error *err)
{
    autofree char **names = xcalloc((size_t)n + 1, sizeof *names);
    autofree int *where = xcalloc((size_t)n + 1, sizeof *where);
    autofree struct hrun_host_answer **fresh = xcalloc((size_t)n + 1, sizeof *fresh);
    autofree struct hrun_error *errors = xcalloc((size_t)n + 1, sizeof *errors);
    int nasked = 0, nfailed = 0, rc;

    *bad = -1;
    for (int i = 0; i < n; i++) {
        answers[i] = d->req->refresh ? NULL : recall_answer(d, hosts[i]);
        if (answers[i])
            continue;
        where[nasked] = i;
        names[nasked++] = hosts[i];
    }
    rc = nasked ? ask_unknown_hosts(d, names, nasked, fresh, errors, err) : 0;
    for (int i = 0; i < nasked; i++) {
        answers[where[i]] = fresh[i];
        nfailed += errors[i].code != 0;
    }
    if (!rc && nfailed && !d->req->skip_unreachable) {
        rc = fail_failures(names, nasked, errors, bad, err);
        *bad = where[*bad];
    }
    for (int i = 0; i < nasked && !rc; i++)
        if (errors[i].code) {
            hrun_strvec_push(&d->c->unreachable, names[i]);
            hrun_strvec_push(&d->c->why_not, errors[i].text);
        }
    rc = rc ? rc : check_machines(hosts, n, answers, bad, err);
    for (int i = 0; i < n && rc; i++) {
        hrun_host_answer_destroy(answers[i]);
        answers[i] = NULL;
    }
    return rc;
}
