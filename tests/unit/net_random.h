/* net_random.h - made-up networks for the tests of lib/net */
#ifndef HRUN_TESTS_NET_RANDOM_H
#define HRUN_TESTS_NET_RANDOM_H

#include "net/net.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* xorshift64* (Vigna, arXiv 1402.6246): seeded, the same everywhere. */
static inline uint64_t net_draw(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 2685821657736338717u;
}

/* Any number that is finite and not negative: zero often, very small and very large ones too. */
static inline double net_number(uint64_t *rng)
{
    double x;

    if (net_draw(rng) % 4 == 0)
        return 0;
    do {
        uint64_t bits = net_draw(rng);
        memcpy(&x, &bits, sizeof x);
    } while (!isfinite(x));
    return fabs(x);
}

static inline struct hrun_net_value net_value(uint64_t *rng)
{
    struct hrun_net_value v = { net_number(rng), NAN };

    if (net_draw(rng) % 3)
        v.half = net_number(rng);
    return v;
}

static inline void net_text(char **text, const char *to)
{
    free(*text);
    *text = strdup(to);
}

/* Up to nmax hosts, whatever the invariants allow. NULL when memory ran out. */
static inline struct hrun_net *net_random(uint64_t *rng, int nmax)
{
    /* What YAML could take for something else. */
    static const char *const words[] = { "", "null", "~", "1", "a: b", "# c", "- x", "{y}", "'", "two\nlines",
                                         "caf\xc3\xa9" };
    enum { NWORDS = sizeof words / sizeof *words };
    int n = 1 + (int)(net_draw(rng) % (unsigned)nmax);
    char names[64][32];
    const char *hosts[64];
    struct hrun_net *net;

    for (int i = 0; i < n; i++) {
        snprintf(names[i], sizeof names[i], "%s%d", words[1 + net_draw(rng) % (NWORDS - 1)], i);
        hosts[i] = names[i];
    }
    net = hrun_net_create(hosts, n, NULL);
    if (!net)
        return NULL;
    net_text(&net->engine, words[net_draw(rng) % NWORDS]);
    net_text(&net->mpi, words[net_draw(rng) % NWORDS]);
    net_text(&net->date, words[net_draw(rng) % NWORDS]);
    net_text(&net->selector, words[1 + net_draw(rng) % (NWORDS - 1)]);
    net->ngroups = 1 + (int)(net_draw(rng) % (unsigned)n);
    free(net->trunks);
    net->trunks = calloc((size_t)net->ngroups * (size_t)net->ngroups, sizeof *net->trunks);
    net->nsegments = 1 + (int)(net_draw(rng) % 4);
    free(net->segments);
    net->segments = calloc((size_t)net->nsegments, sizeof *net->segments);
    for (int i = 0; i < net->ngroups * net->ngroups; i++)
        net->trunks[i] = net_draw(rng) % 2 ? net_value(rng) : (struct hrun_net_value){ 0, NAN };
    for (int i = 0; i < net->nsegments; i++)
        net->segments[i] = (struct hrun_net_segment){ i * (1 + 1 / 3.0), 1e-300 + net_number(rng),
                                                      1e-300 + net_number(rng) };
    for (int i = 0; i < n; i++) {
        struct hrun_net_class *c = &net->classes[i];
        int k = 1 + (int)(net_draw(rng) % 3);

        net->class_of[i] = (int)(net_draw(rng) % (unsigned)n);
        net->group_of[i] = (int)(net_draw(rng) % (unsigned)net->ngroups);
        c->C_s = net_value(rng);
        c->t_s_per_byte = net_value(rng);
        c->out_bytes_per_s = net_value(rng);
        c->in_bytes_per_s = net_value(rng);
        c->local_bytes_per_s = net_number(rng);
        c->nkinds = k;
        free(c->local_fixed_s);
        free(c->local_s_per_byte);
        c->local_fixed_s = calloc((size_t)k * (size_t)k, sizeof *c->local_fixed_s);
        c->local_s_per_byte = calloc((size_t)k * (size_t)k, sizeof *c->local_s_per_byte);
        for (int j = 0; j < k * k; j++) {
            c->local_fixed_s[j] = net_value(rng);
            c->local_s_per_byte[j] = net_value(rng);
        }
    }
    for (int i = 0; i < n * n; i++)
        net->pairs[i] = net_draw(rng) % 3 ? (struct hrun_net_pair){ net_value(rng), net_value(rng) }
                                          : (struct hrun_net_pair){ { 0, NAN }, { 0, NAN } };
    net->sync_bytes = net_number(rng);
    net->wire_waits = (int)(net_draw(rng) % 2);
    net->trunks_shared = (int)(net_draw(rng) % 2);
    net->bias_bytes = (double)(net_draw(rng) % 20000);
    net->back_share = (double)(net_draw(rng) % 1000) / 999;
    net->reduce_s_per_byte = net_number(rng);
    net->thresholds = (struct hrun_net_thresholds){ net_number(rng), 10, 10 + (double)(net_draw(rng) % 5),
                                                    -net_number(rng), net_number(rng), net_number(rng), 0.25 };
    return net;
}

static inline int net_same_doubles(const double *a, const double *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(&a[i], &b[i], sizeof *a) && !(isnan(a[i]) && isnan(b[i])))
            return 0;
    return 1;
}

#define NET_SAME(a, b, n) net_same_doubles((const double *)(a), (const double *)(b), (size_t)(n) * sizeof *(a) / 8)

static inline int net_same_class(const struct hrun_net_class *a, const struct hrun_net_class *b)
{
    return a->nkinds == b->nkinds && NET_SAME(&a->C_s, &b->C_s, 1) && NET_SAME(&a->t_s_per_byte, &b->t_s_per_byte, 1) &&
           NET_SAME(&a->out_bytes_per_s, &b->out_bytes_per_s, 1) && NET_SAME(&a->in_bytes_per_s, &b->in_bytes_per_s, 1)
           && NET_SAME(&a->local_bytes_per_s, &b->local_bytes_per_s, 1) &&
           NET_SAME(a->local_fixed_s, b->local_fixed_s, a->nkinds * a->nkinds) &&
           NET_SAME(a->local_s_per_byte, b->local_s_per_byte, a->nkinds * a->nkinds);
}

/* Equal to the last bit. */
static inline int net_same(const struct hrun_net *a, const struct hrun_net *b)
{
    if (strcmp(a->engine, b->engine) || strcmp(a->mpi, b->mpi) || strcmp(a->selector, b->selector) ||
        strcmp(a->date, b->date) || a->nhosts != b->nhosts || a->nclasses != b->nclasses || a->ngroups != b->ngroups ||
        a->nsegments != b->nsegments)
        return 0;
    for (int i = 0; i < a->nhosts; i++)
        if (strcmp(a->hosts[i], b->hosts[i]) || a->class_of[i] != b->class_of[i] || a->group_of[i] != b->group_of[i])
            return 0;
    for (int i = 0; i < a->nclasses; i++)
        if (!net_same_class(&a->classes[i], &b->classes[i]))
            return 0;
    return NET_SAME(a->pairs, b->pairs, a->nclasses * a->nclasses) &&
           NET_SAME(a->trunks, b->trunks, a->ngroups * a->ngroups) &&
           NET_SAME(a->segments, b->segments, a->nsegments) && a->wire_waits == b->wire_waits &&
           a->trunks_shared == b->trunks_shared && NET_SAME(&a->back_share, &b->back_share, 1) &&
           NET_SAME(&a->bias_bytes, &b->bias_bytes, 1) &&
           NET_SAME(&a->sync_bytes, &b->sync_bytes, 1) &&
           NET_SAME(&a->reduce_s_per_byte, &b->reduce_s_per_byte, 1) && NET_SAME(&a->thresholds, &b->thresholds, 1);
}

#endif
