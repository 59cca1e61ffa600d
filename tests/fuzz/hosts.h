/* hosts.h - names resolve without a name server: for targets that discover hosts
 *
 * Each name of letters, digits, '.', '_', '-' and ':' is another host at 192.0.2.1 (RFC 5737), all else is none. This
 * host is a synthetic machine.
 */
#ifndef HRUN_TESTS_FUZZ_HOSTS_H
#define HRUN_TESTS_FUZZ_HOSTS_H

#include <arpa/inet.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

/* In place of the C library's. */
int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **list)
{
    static struct sockaddr_in address = { .sin_family = AF_INET };
    static struct addrinfo one = { .ai_family = AF_INET, .ai_addr = (struct sockaddr *)&address,
                                   .ai_addrlen = sizeof address };

    (void)service;
    (void)hints;
    address.sin_addr.s_addr = htonl(0xc0000201);
    if (name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-:")])
        return EAI_NONAME;
    *list = &one;
    return 0;
}

void freeaddrinfo(struct addrinfo *list)
{
    (void)list;
}

/* Before the first discovery: nothing of this machine counts. */
static inline void hosts_settle(void)
{
    setenv("HWLOC_SYNTHETIC", "package:1 core:2 pu:1", 1);
    setenv("OMPI_MCA_orte_default_hostfile", "none", 1);
    unsetenv("SLURM_JOB_ID");
    unsetenv("PBS_NODEFILE");
}

#endif
