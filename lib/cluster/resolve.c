/* resolve.c - is it a host, is it this one, and what another one says that it is made of; see private.h for
 * the contracts */
#include "cluster/private.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <resolv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct hrun_resolver {
    char own[256];              /* HOST_NAME_MAX is 64 on Linux, POSIX allows 255 */
    struct ifaddrs *addresses;  /* of this host's interfaces */
};

struct hrun_resolver *hrun_resolver_create(struct hrun_error *err)
{
    struct hrun_resolver *r = calloc(1, sizeof *r);

    if (!r) {
        hrun_fail_nomem(err);
        return NULL;
    }
    if (gethostname(r->own, sizeof r->own - 1)) {
        hrun_fail_errno(err, HRUN_EIO, "cannot find this host's name");
        goto fail;
    }
    if (!r->own[0])
        snprintf(r->own, sizeof r->own, "localhost");
    if (getifaddrs(&r->addresses))
        r->addresses = NULL;    /* names still tell this host from others */
    return r;
fail:
    hrun_resolver_destroy(r);
    return NULL;
}

void hrun_resolver_destroy(struct hrun_resolver *r)
{
    int saved = errno;

    if (!r)
        return;
    if (r->addresses)
        freeifaddrs(r->addresses);
    free(r);
    errno = saved;
}

const char *hrun_resolver_own_name(const struct hrun_resolver *r)
{
    return r->own;
}

static int is_own_name(const struct hrun_resolver *r, const char *name)
{
    size_t len = strcspn(r->own, ".");

    return !strcasecmp(name, r->own) || !strcasecmp(name, "localhost") ||
           (!strncasecmp(name, r->own, len) && name[len] == 0);
}

static int is_own_address(const struct hrun_resolver *r, const struct sockaddr *a)
{
    const struct sockaddr_in *a4 = (const void *)a, *b4;
    const struct sockaddr_in6 *a6 = (const void *)a, *b6;

    if (a->sa_family == AF_INET && ntohl(a4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET)
        return ntohl(a4->sin_addr.s_addr) == INADDR_LOOPBACK;
    if (a->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&a6->sin6_addr))
        return 1;
    for (const struct ifaddrs *i = r->addresses; i; i = i->ifa_next) {
        if (!i->ifa_addr || i->ifa_addr->sa_family != a->sa_family)
            continue;
        b4 = (const void *)i->ifa_addr;
        b6 = (const void *)i->ifa_addr;
        if (a->sa_family == AF_INET && a4->sin_addr.s_addr == b4->sin_addr.s_addr)
            return 1;
        if (a->sa_family == AF_INET6 && IN6_ARE_ADDR_EQUAL(&a6->sin6_addr, &b6->sin6_addr))
            return 1;
    }
    return 0;
}

/* getaddrinfo with a resolver that asks each name server once and waits a second (by default it would be
 * five seconds, twice). The resolver's state belongs to the thread (resolver(3)). */
static int lookup(const char *name, struct addrinfo **list)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    int rc, patient = -1, retries = -1;

    if (res_init() == 0) {
        patient = _res.retrans;
        retries = _res.retry;
        _res.retrans = 1;
        _res.retry = 1;
    }
    rc = getaddrinfo(name, NULL, &hints, list);
    if (patient >= 0) {
        _res.retrans = patient;
        _res.retry = retries;
    }
    return rc;
}

int hrun_resolver_look(struct hrun_resolver *r, const char *name, int *is_local, struct hrun_error *err)
{
    struct addrinfo *list = NULL;
    char *bare = NULL;
    size_t len = strlen(name);
    int rc = -1, code, saved = errno;

    if (is_own_name(r, name)) {
        *is_local = 1;
        return 0;
    }
    /* "[::1]" is how host lists write IPv6 addresses. */
    bare = name[0] == '[' && name[len - 1] == ']' ? strndup(name + 1, len - 2) : strdup(name);
    if (!bare) {
        hrun_fail_nomem(err);
        goto done;
    }
    code = lookup(bare, &list);
    if (code) {
        hrun_fail(err, HRUN_EINVAL, "unknown host '%s': %s", name,
                  code == EAI_SYSTEM ? strerror(errno) : gai_strerror(code));
        goto done;
    }
    *is_local = 0;
    for (const struct addrinfo *a = list; a; a = a->ai_next)
        *is_local |= is_own_address(r, a->ai_addr);
    rc = 0;
done:
    if (list)
        freeaddrinfo(list);
    free(bare);
    errno = saved;
    return rc;
}

/* ---------------------------------------------------------------- what a host tells of itself */

static const char mark[] = "<?hrun\n", mark_end[] = "?>";

int hrun_cluster_export(struct hrun_buf *out, struct hrun_error *err)
{
    struct hrun_topo *t = hrun_topo_load(HRUN_TOPO_THIS, NULL, err);
    struct hrun_topo_pe *pes = NULL;
    struct hrun_buf b = HRUN_BUF_INIT;
    uint64_t memory = 0;
    int n = 0, rc = -1;

    if (!t || hrun_topo_export(t, &b, err) || hrun_topo_pes(t, HRUN_LEVEL_NODE, 0, &pes, &n, err))
        goto done;
    hrun_buf_addf(&b, "%susable ", mark);
    for (int i = 0; i < n; i++) {       /* one PE for each kind of cores */
        hrun_buf_addf(&b, "%s%s", i ? "," : "", pes[i].cpuset);
        memory += pes[i].memory_bytes;
    }
    hrun_buf_addf(&b, "\nmemory %llu\n", (unsigned long long)memory);
    if (!strstr(hrun_topo_cpu_model(t), mark_end))
        hrun_buf_addf(&b, "cpu %s\n", hrun_topo_cpu_model(t));
    hrun_buf_addf(&b, "%s\n", mark_end);
    if (!b.failed)
        hrun_buf_add(out, b.data, b.len);
    rc = b.failed || out->failed ? hrun_fail_nomem(err) : 0;
done:
    hrun_buf_release(&b);
    hrun_topo_pes_free(pes, n);
    hrun_topo_destroy(t);
    return rc;
}

void hrun_told_destroy(struct hrun_told *t)
{
    if (!t)
        return;
    free(t->usable);
    free(t->cpu_model);
    free(t);
}

/* Is this tag, without its '>', one that differs between hosts of one make? */
static int is_personal(const char *tag, size_t len)
{
    static const char *const starts[] = {
        "<page_type ", "<info name=\"HostName\"", "<info name=\"OSRelease\"", "<info name=\"OSVersion\"",
        "<info name=\"LinuxCgroup\"", "<info name=\"ProcessName\"", "<info name=\"DMI"
    };

    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        if (len >= strlen(starts[i]) && !strncmp(tag, starts[i], strlen(starts[i])))
            return 1;
    return 0;
}

/* The tags of xml that make a topology what it is; the memory of nodes is rounded, since each host tells its own
 * total beside it. Hosts with equal keys may share a topology. */
static void add_key(const char *xml, struct hrun_buf *out)
{
    static const char memory[] = " local_memory=\"";
    const char *end, *at;
    char *after;

    for (const char *p = strchr(xml, '<'); p; p = strchr(end, '<')) {
        end = strchr(p, '>');
        if (!end)
            end = p + strlen(p);
        if (is_personal(p, (size_t)(end - p)))
            continue;
        at = memmem(p, (size_t)(end - p), memory, strlen(memory));
        if (at) {
            at += strlen(memory);
            hrun_buf_add(out, p, (size_t)(at - p));
            hrun_buf_addf(out, "%llu", (unsigned long long)hrun_round_memory(strtoull(at, &after, 10)));
            p = after;
        }
        hrun_buf_add(out, p, (size_t)(end - p));
    }
}

struct keyed {
    struct hrun_buf key;
    uint64_t hash;
    struct hrun_topo *topo;
};

/* FNV-1a, 64 bits (Fowler, Noll, Vo; offset and prime are theirs). */
static uint64_t hash_of(const char *data, size_t len)
{
    uint64_t h = 14695981039346656037u;

    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)data[i]) * 1099511628211u;
    return h;
}

/* The topology of xml: one that an earlier host has, or a new one. NULL on failure. */
static struct hrun_topo *find_topo(struct hrun_cluster *c, struct keyed *known, int *nknown, const char *xml,
                                   struct hrun_error *err)
{
    struct keyed *k = &known[*nknown];

    *k = (struct keyed){ .key = HRUN_BUF_INIT };
    add_key(xml, &k->key);
    if (k->key.failed)
        goto nomem;
    k->hash = hash_of(k->key.data, k->key.len);
    for (int i = 0; i < *nknown; i++)
        if (known[i].hash == k->hash && !strcmp(known[i].key.data, k->key.data)) {
            hrun_buf_release(&k->key);
            return known[i].topo;
        }
    k->topo = hrun_topo_load(HRUN_TOPO_XML, xml, err);
    if (k->topo && hrun_cluster_add_topo(c, k->topo, err) < 0)
        k->topo = NULL;
    if (!k->topo) {
        hrun_buf_release(&k->key);
        return NULL;
    }
    (*nknown)++;
    return k->topo;
nomem:
    hrun_buf_release(&k->key);
    hrun_fail_nomem(err);
    return NULL;
}

/* The value of a line "key value" in the instruction at p, in fresh memory; NULL: none, or memory ran out. */
static char *told_line(const char *p, const char *key)
{
    const char *end = strstr(p, mark_end), *line = strstr(p, key);
    size_t len;

    if (!end || !line || line > end)
        return NULL;
    line += strlen(key);
    len = strcspn(line, "\r\n");
    return line + len <= end ? strndup(line, len) : NULL;
}

/* The beginning of a useless answer, fit for a message. */
static int fail_answer(const char *host, const char *text, struct hrun_error *err)
{
    char start[61];
    size_t n = 0;

    text += strspn(text, " \t\r\n");
    for (; text[n] && text[n] != '\n' && n < sizeof start - 1; n++)
        start[n] = isprint((unsigned char)text[n]) ? text[n] : '?';
    start[n] = 0;
    return hrun_fail(err, HRUN_EINVAL, "host '%s' answers %s%s%s in place of its topology; install the same hrun "
                     "there, or describe the host in a cluster file (see hrun-cluster(5))", host, n ? "'" : "",
                     n ? start : "nothing", n ? "'" : "");
}

/* Make *t of what a host printed. text is cut behind the XML. */
static int read_told(struct hrun_cluster *c, struct keyed *known, int *nknown, const char *host, char *text,
                     struct hrun_told *t, struct hrun_error *err)
{
    static const char last[] = "</topology>";
    char *xml = strstr(text, "<?xml"), *end = xml ? strstr(xml, last) : NULL, *more, *number, *after;
    struct hrun_error why;
    int rc = 0;

    if (!end)
        return fail_answer(host, text, err);
    end += strlen(last);
    more = strstr(end, mark);
    if (more) {
        t->usable = told_line(more, "\nusable ");
        t->cpu_model = told_line(more, "\ncpu ");
        number = told_line(more, "\nmemory ");
        if (number)
            t->memory_bytes = strtoull(number, &after, 10);
        if (!t->usable || !number || !isdigit((unsigned char)*number) || *after)
            rc = fail_answer(host, more, err);
        free(number);
    }
    *end = 0;
    if (rc)
        return -1;
    t->topo = find_topo(c, known, nknown, xml, &why);
    if (t->topo)
        return 0;
    return hrun_fail(err, why.code, "host '%s': %s", host, why.text);
}

int hrun_told_ask(const struct hrun_cluster_request *req, struct hrun_cluster *c, char *const *hosts, int n,
                  struct hrun_told **told, int *bad, struct hrun_error *err)
{
    struct hrun_buf *texts = calloc((size_t)n + 1, sizeof *texts);
    struct keyed *known = calloc((size_t)n + 1, sizeof *known);
    int nknown = 0, rc = -1;

    *bad = -1;
    for (int i = 0; i < n; i++)
        told[i] = NULL;
    if (!texts || !known) {
        hrun_fail_nomem(err);
        goto done;
    }
    for (int i = 0; i < n; i++)
        hrun_buf_init(&texts[i]);
    rc = req->topologies(req->ctx, hosts, n, texts, bad, err);
    for (int i = 0; i < n && !rc; i++) {
        told[i] = calloc(1, sizeof **told);
        rc = told[i] ? read_told(c, known, &nknown, hosts[i], texts[i].data, told[i], err) : hrun_fail_nomem(err);
        if (rc)
            *bad = i;
        hrun_buf_release(&texts[i]);
    }
done:
    for (int i = 0; i < nknown; i++)
        hrun_buf_release(&known[i].key);
    for (int i = 0; i < n && texts; i++)
        hrun_buf_release(&texts[i]);
    for (int i = 0; i < n && rc; i++) {
        hrun_told_destroy(told[i]);
        told[i] = NULL;
    }
    free(known);
    free(texts);
    return rc;
}
