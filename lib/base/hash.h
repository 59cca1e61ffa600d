/* hash.h - a hash of bytes, for keys and for comparing texts; not cryptographic
 *
 * FNV-1a, 64 bits (Fowler, Noll, Vo). Keys on disk contain this hash. All code is in this header, because
 * preloaded libraries are not linked with other code of hrun.
 */
#ifndef HRUN_BASE_HASH_H
#define HRUN_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HRUN_HASH_INIT UINT64_C(14695981039346656037)

/* Continue hash h (HRUN_HASH_INIT at the beginning) with data[len]. */
static inline uint64_t hrun_hash(uint64_t h, const void *data, size_t len)
{
    for (size_t i = 0; i < len; i++)
        h = (h ^ ((const unsigned char *)data)[i]) * UINT64_C(1099511628211);
    return h;
}

#endif
