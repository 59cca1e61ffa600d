/* selectors.c - the algorithms that libraries choose, as tables (algorithms.h)
 *
 * The first matching row, and in it the first matching size, give the algorithm. Sizes are those of struct
 * hrun_net_call. Algorithms with the same behaviour have one name here; in Open MPI: chain and pipeline (both
 * unsegmented, fan-out 1), ring and segmented ring, linear and linear with synchronisation (all-to-all, all requests at
 * once), in-order binary and binary tree.
 */
#include "net/algorithms.h"

#include <string.h>

/* Conditions besides the number of ranks. TOTAL: sizes are totals over all ranks. */
enum fits { POWER_OF_TWO = 1, EVEN = 2, UNIFORM = 4, TOTAL = 8 };

enum { BY_SIZE_MAX = 7 };

struct row {
    enum hrun_net_op op;
    int n_below;               /* ranks; 0: any number */
    int fits;
    struct {
        double bytes_below;    /* 0: any size */
        const char *algorithm; /* NULL after the last */
    } by_size[BY_SIZE_MAX];
};

/* Open MPI 4.1 and later, coll/tuned, fixed decisions for commutative operations. Rows that change the mean predicted
 * time of an operation on up to 128 ranks by less than 0.1 % are left out. Rows for more than 1,024 ranks are left out,
 * too: the rows for 512 apply. */
static const struct row OPENMPI[] = {
    { HRUN_NET_P2P, 0, 0, { { 0, "direct" } } },
    { HRUN_NET_RING, 0, 0, { { 0, "direct" } } },
    { HRUN_NET_SCATTER, 4, 0,
      { { 2, "linear-posted" }, { 131072, "linear" }, { 262144, "linear-posted" }, { 0, "linear" } } },
    { HRUN_NET_SCATTER, 8, 0,
      { { 2048, "binomial" }, { 4096, "linear" }, { 8192, "binomial" }, { 32768, "linear" },
        { 1048576, "linear-posted" }, { 0, "linear" } } },
    { HRUN_NET_SCATTER, 16, 0, { { 16384, "binomial" }, { 1048576, "linear-posted" }, { 0, "linear" } } },
    { HRUN_NET_SCATTER, 32, 0, { { 16384, "binomial" }, { 32768, "linear" }, { 0, "linear-posted" } } },
    { HRUN_NET_SCATTER, 64, 0,
      { { 512, "binomial" }, { 8192, "linear-posted" }, { 16384, "binomial" }, { 0, "linear-posted" } } },
    { HRUN_NET_SCATTER, 0, 0, { { 512, "binomial" }, { 0, "linear-posted" } } },
    { HRUN_NET_GATHER, 4, 0,
      { { 2, "linear-sync" }, { 4, "linear" }, { 32768, "binomial" }, { 65536, "linear" },
        { 131072, "binomial" }, { 0, "linear-sync" } } },
    { HRUN_NET_GATHER, 8, 0,
      { { 1024, "binomial" }, { 8192, "linear" }, { 32768, "binomial" }, { 262144, "linear" },
        { 0, "linear-sync" } } },
    { HRUN_NET_GATHER, 256, 0, { { 0, "binomial" } } },
    { HRUN_NET_GATHER, 512, 0, { { 2048, "binomial" }, { 8192, "linear" } } },
    { HRUN_NET_GATHER, 0, 0, { { 0, "binomial" } } },
    { HRUN_NET_BCAST, 4, 0, { { 32, "chain" }, { 256, "binary" }, { 512, "chain" }, { 0, "binary" } } },
    { HRUN_NET_BCAST, 8, 0,
      { { 64, "binary" }, { 128, "binomial" }, { 2048, "binary" }, { 8192, "binomial" },
        { 1048576, "linear" }, { 0, "chain" } } },
    { HRUN_NET_BCAST, 16, 0,
      { { 8, "knomial" }, { 64, "binary" }, { 4096, "knomial" }, { 16384, "binary" }, { 32768, "binomial" },
        { 0, "linear" } } },
    { HRUN_NET_BCAST, 32, 0, { { 4096, "knomial" }, { 1048576, "binomial" }, { 0, "scatter-doubling" } } },
    { HRUN_NET_BCAST, 64, 0, { { 2048, "binomial" } } }, { HRUN_NET_BCAST, 128, 0, { { 0, "knomial" } } },
    { HRUN_NET_BCAST, 256, 0, { { 2, "binomial" }, { 16384, "binary" }, { 32768, "linear" }, { 65536, "binary" } } },
    { HRUN_NET_BCAST, 0, 0, { { 0, "knomial" } } },
    { HRUN_NET_REDUCE, 4, 0, { { 16, "binary" }, { 32, "chain" }, { 262144, "linear" } } },
    { HRUN_NET_REDUCE, 8, 0,
      { { 4096, "binary" }, { 65536, "chain" }, { 262144, "binomial" }, { 524288, "linear" },
        { 1048576, "binomial" }, { 0, "linear" } } },
    { HRUN_NET_REDUCE, 16, 0, { { 8192, "binary" } } }, { HRUN_NET_REDUCE, 32, 0, { { 4096, "binary" } } },
    { HRUN_NET_REDUCE, 256, 0, { { 0, "binomial" } } },
    { HRUN_NET_REDUCE, 512, 0, { { 8192, "binomial" }, { 16384, "binary" } } },
    { HRUN_NET_REDUCE, 0, 0, { { 0, "binomial" } } },
    { HRUN_NET_ALLREDUCE, 4, 0,
      { { 4096, "recursive-doubling" }, { 8192, "ring" }, { 16384, "recursive-doubling" }, { 262144, "ring" } } },
    { HRUN_NET_ALLREDUCE, 16, 0, { { 8192, "recursive-doubling" } } },
    { HRUN_NET_ALLREDUCE, 32, 0, { { 4096, "recursive-doubling" } } },
    { HRUN_NET_ALLREDUCE, 64, 0, { { 128, "ring" }, { 0, "rabenseifner" } } },
    { HRUN_NET_ALLREDUCE, 128, 0, { { 262144, "recursive-doubling" } } },
    { HRUN_NET_ALLREDUCE, 256, 0, { { 131072, "reduce-bcast" }, { 262144, "recursive-doubling" } } },
    { HRUN_NET_ALLREDUCE, 512, 0, { { 4096, "reduce-bcast" }, { 0, "rabenseifner" } } },
    { HRUN_NET_ALLREDUCE, 0, 0,
      { { 2048, "reduce-bcast" }, { 16384, "recursive-doubling" }, { 0, "rabenseifner" } } },
    { HRUN_NET_ALLGATHER, 32, 0, { { 0, "recursive-doubling" } } },
    { HRUN_NET_ALLGATHER, 64, 0, { { 1024, "recursive-doubling" } } },
    { HRUN_NET_ALLGATHER, 128, 0, { { 512, "recursive-doubling" }, { 65536, "neighbor" }, { 0, "ring" } } },
    { HRUN_NET_ALLGATHER, 256, 0, { { 512, "recursive-doubling" }, { 131072, "neighbor" } } },
    { HRUN_NET_ALLGATHER, 512, 0,
      { { 32, "recursive-doubling" }, { 128, "bruck" }, { 1024, "recursive-doubling" },
        { 131072, "neighbor" }, { 524288, "ring" }, { 1048576, "neighbor" }, { 0, "ring" } } },
    { HRUN_NET_ALLGATHER, 0, 0,
      { { 64, "recursive-doubling" }, { 256, "bruck" }, { 2048, "recursive-doubling" }, { 0, "neighbor" } } },
    { HRUN_NET_ALLTOALL, 8, 0, { { 524288, "linear" }, { 1048576, "pairwise" } } },
    { HRUN_NET_ALLTOALL, 16, 0, { { 0, "linear" } } }, { HRUN_NET_ALLTOALL, 32, 0, { { 4, "linear" } } },
    { HRUN_NET_ALLTOALL, 64, 0, { { 512, "bruck" }, { 0, "linear" } } },
    { HRUN_NET_ALLTOALL, 256, 0, { { 1024, "bruck" }, { 262144, "linear" } } },
    { HRUN_NET_ALLTOALL, 512, 0, { { 1024, "bruck" }, { 32768, "linear" }, { 0, "pairwise" } } },
    { HRUN_NET_ALLTOALL, 0, 0, { { 512, "bruck" }, { 262144, "linear" }, { 0, "pairwise" } } },
    { HRUN_NET_BARRIER, 4, 0, { { 0, "recursive-doubling" } } }, { HRUN_NET_BARRIER, 8, 0, { { 0, "linear" } } },
    { HRUN_NET_BARRIER, 64, 0, { { 0, "recursive-doubling" } } }, { HRUN_NET_BARRIER, 256, 0, { { 0, "bruck" } } },
    { HRUN_NET_BARRIER, 512, 0, { { 0, "tree" } } }, { HRUN_NET_BARRIER, 0, 0, { { 0, "bruck" } } },
    { .op = HRUN_NET_NOPS }
};

/* SimGrid 3.32, --cfg=smpi/coll-selector:mpich. */
static const struct row MPICH[] = {
    { HRUN_NET_P2P, 0, 0, { { 0, "direct" } } },
    { HRUN_NET_RING, 0, 0, { { 0, "direct" } } },
    { HRUN_NET_SCATTER, 0, 0, { { 0, "binomial-rising" } } },
    { HRUN_NET_GATHER, 0, 0, { { 0, "binomial" } } },
    { HRUN_NET_BCAST, 0, UNIFORM, { { 0, "by-hosts" } } }, { HRUN_NET_BCAST, 9, 0, { { 0, "binomial-mpich" } } },
    { HRUN_NET_BCAST, 0, 0, { { 12288, "binomial-mpich" } } },
    { HRUN_NET_BCAST, 0, EVEN, { { 524288, "scatter-doubling" } } },
    { HRUN_NET_BCAST, 0, 0, { { 0, "scatter-ring" } } },
    { HRUN_NET_REDUCE, 0, 0, { { 0, "by-hosts" } } },
    { HRUN_NET_ALLREDUCE, 0, 0, { { 0, "by-hosts" } } },
    { HRUN_NET_ALLGATHER, 0, POWER_OF_TWO | TOTAL, { { 524288, "recursive-doubling" } } },
    { HRUN_NET_ALLGATHER, 0, TOTAL, { { 81921, "bruck" } } }, { HRUN_NET_ALLGATHER, 0, 0, { { 0, "pairwise" } } },
    { HRUN_NET_ALLTOALL, 8, 0, { { 32768, "throttled" } } },
    { HRUN_NET_ALLTOALL, 0, 0, { { 256, "bruck" }, { 32768, "throttled" }, { 0, "pairwise" } } },
    { HRUN_NET_BARRIER, 0, 0, { { 0, "bruck" } } },
    { .op = HRUN_NET_NOPS }
};

/* SimGrid 3.32, --cfg=smpi/coll-selector:ompi: Open MPI's rules, but with another allgather (tests/accuracy/net
 * --selector ompi). */
static const struct row OMPI[] = {
    { HRUN_NET_ALLGATHER, 3, 0, { { 0, "ring" } } },
    { HRUN_NET_ALLGATHER, 32, 0, { { 0, "recursive-doubling-mpich" } } },
    { HRUN_NET_ALLGATHER, 64, 0, { { 1024, "recursive-doubling-mpich" } } },
    { HRUN_NET_ALLGATHER, 256, 0, { { 512, "recursive-doubling-mpich" } } },
    { .op = HRUN_NET_NOPS }
};

static const struct selector {
    const char *name;
    const struct row *rows, *rest; /* rest: asked if no row matches */
} SELECTORS[] = { { "openmpi", OPENMPI, NULL }, { "ompi", OMPI, OPENMPI }, { "mpich", MPICH, NULL } };

static const char *select_by_rows(const struct row *row, enum hrun_net_op op, int n, double bytes, int uniform)
{
    for (; row && row->op != HRUN_NET_NOPS; row++) {
        double size = row->fits & TOTAL ? bytes * n : bytes;

        if (row->op != op || (row->n_below && n >= row->n_below) || ((row->fits & EVEN) && n % 2) ||
            ((row->fits & POWER_OF_TWO) && net_pow2_below(n) != n) || ((row->fits & UNIFORM) && !uniform))
            continue;
        for (int i = 0; i < BY_SIZE_MAX && row->by_size[i].algorithm; i++)
            if (row->by_size[i].bytes_below <= 0 || size < row->by_size[i].bytes_below)
                return row->by_size[i].algorithm;
    }
    return NULL;
}

const char *net_select(const char *selector, enum hrun_net_op op, int n, double bytes, int uniform)
{
    const struct selector *s = SELECTORS, *end = s + sizeof SELECTORS / sizeof *SELECTORS;
    const char *found;

    while (s < end && strcmp(selector, s->name))
        s++;
    if (s == end)
        return NULL;
    found = select_by_rows(s->rows, op, n, bytes, uniform);
    return found ? found : select_by_rows(s->rest, op, n, bytes, uniform);
}
