/* resolve.c - resolving host names, and recognising this host; see internal.h for the contracts */
#include "base/alloc.h"
#include "cluster/internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <resolv.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct hrun_resolver {
    char own[256];              /* HOST_NAME_MAX is 64 on Linux, POSIX allows 255 */
    struct ifaddrs *addresses;  /* of this host's interfaces */
    void *known;                /* names of other hosts, a tree of tsearch(3) */
};

static int compare_host_names(const void *a, const void *b)
{
    return strcasecmp(a, b);
}

void hrun_resolver_know(struct hrun_resolver *r, const char *name)
{
    if (!tfind(name, &r->known, compare_host_names) && !tsearch(xstrdup(name), &r->known, compare_host_names))
        hrun_out_of_memory();
}

struct hrun_resolver *hrun_resolver_create(struct hrun_error *err)
{
    struct hrun_resolver *r = xcalloc(1, sizeof *r);

    if (gethostname(r->own, sizeof r->own - 1)) {
        hrun_fail_errno(err, HRUN_EIO, "cannot find this host's name");
        free(r);
        return NULL;
    }
    if (!r->own[0])
        snprintf(r->own, sizeof r->own, "localhost");
    if (getifaddrs(&r->addresses))
        r->addresses = NULL;    /* this host is still recognised by its name */
    return r;
}

void hrun_resolver_destroy(struct hrun_resolver *r)
{
    if (!r)
        return;
    if (r->addresses)
        freeifaddrs(r->addresses);
    tdestroy(r->known, free);
    free(r);
}

const char *hrun_resolver_own_name(const struct hrun_resolver *r)
{
    return r->own;
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

int hrun_resolver_look(struct hrun_resolver *r, const char *name, int *is_local, struct hrun_error *err)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list = NULL;
    int patient = -1, retries = -1;
    autofree char *bare = NULL;
    size_t len = strlen(name), short_len = strcspn(r->own, ".");
    int code;

    if (!strcasecmp(name, r->own) || !strcasecmp(name, "localhost") ||
        (!strncasecmp(name, r->own, short_len) && !name[short_len])) {
        *is_local = 1;
        return 0;
    }
    if (tfind(name, &r->known, compare_host_names)) {
        *is_local = 0;
        return 0;
    }
    /* Host lists have IPv6 addresses as "[::1]". */
    bare = name[0] == '[' && name[len - 1] == ']' ? xstrndup(name + 1, len - 2) : xstrdup(name);
    /* Let the resolver ask each name server once and wait 1 s; the default is twice and 5 s. _res is per thread
     * (resolver(3)). */
    if (_res.options & RES_INIT || res_init() == 0) {
        patient = _res.retrans;
        retries = _res.retry;
        _res.retrans = 1;
        _res.retry = 1;
    }
    code = getaddrinfo(bare, NULL, &hints, &list);
    if (patient >= 0) {
        _res.retrans = patient;
        _res.retry = retries;
    }
    if (code)
        return hrun_fail(err, HRUN_EINVAL, "unknown host '%s': %s", name,
                         code == EAI_SYSTEM ? strerror(errno) : gai_strerror(code));
    *is_local = 0;
    for (const struct addrinfo *a = list; a; a = a->ai_next)
        *is_local |= is_own_address(r, a->ai_addr);
    if (!*is_local)
        hrun_resolver_know(r, name);
    freeaddrinfo(list);
    return 0;
}
