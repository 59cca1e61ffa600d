/* hash.h - a hash of bytes, for keys and for seeing whether two texts are the same; not against an adversary
 *
 * FNV-1a, 64 bits (Fowler, Noll, Vo; offset and prime are theirs). Keys on disk are made of it. All is in this header,
 * as libraries that are preloaded into programs are linked with nothing of ours.
 */
#ifndef HRUN_BASE_HASH_H
#define HRUN_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HRUN_HASH_INIT UINT64_C(14695981039346656037)

/* h: HRUN_HASH_INIT, or the hash of what stands before. */
static inline uint64_t hrun_hash(uint64_t h, const void *data, size_t len)
{
    for (size_t i = 0; i < len; i++)
        h = (h ^ ((const unsigned char *)data)[i]) * UINT64_C(1099511628211);
    return h;
}

#endif
