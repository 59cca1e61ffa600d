/* selectors.c - which algorithm a library takes, as tables (algorithms.h)
 *
 * The first row that fits holds. Sizes are those of struct hrun_net_call. Where a library has two algorithms of one
 * behaviour they have one name here: of Open MPI chain and pipeline (both unsegmented, fan-out 1), ring and segmented
 * ring, linear and linear with synchronisation (all-to-all, all requests at once), in-order binary and binary tree.
 */
#include "net/algorithms.h"

#include <string.h>

enum fits {
    POWER_OF_TWO = 1, EVEN = 2, UNIFORM = 4,
    TOTAL = 8                  /* bytes_below is of the ranks' messages together */
};

struct row {
    enum hrun_net_op op;
    int n_below;               /* ranks; 0: any number */
    double bytes_below;        /* 0: any size */
    int fits;                  /* what must hold besides */
    const char *algorithm;
};

/* Open MPI 4.1 and later, coll/tuned, fixed decisions for commutative operations. Rows are left out that change the
 * predicted times of up to 128 ranks by less than 0.1 % in the mean of an operation, and those of more than 1,024
 * ranks: what holds for 512 holds for them. */
static const struct row OPENMPI[] = {
    { HRUN_NET_P2P, 0, 0, 0, "direct" }, { HRUN_NET_RING, 0, 0, 0, "direct" },
    { HRUN_NET_SCATTER, 4, 2, 0, "linear-posted" }, { HRUN_NET_SCATTER, 4, 131072, 0, "linear" },
    { HRUN_NET_SCATTER, 4, 262144, 0, "linear-posted" }, { HRUN_NET_SCATTER, 4, 0, 0, "linear" },
    { HRUN_NET_SCATTER, 8, 2048, 0, "binomial" }, { HRUN_NET_SCATTER, 8, 4096, 0, "linear" },
    { HRUN_NET_SCATTER, 8, 8192, 0, "binomial" }, { HRUN_NET_SCATTER, 8, 32768, 0, "linear" },
    { HRUN_NET_SCATTER, 8, 1048576, 0, "linear-posted" }, { HRUN_NET_SCATTER, 8, 0, 0, "linear" },
    { HRUN_NET_SCATTER, 16, 16384, 0, "binomial" }, { HRUN_NET_SCATTER, 16, 1048576, 0, "linear-posted" },
    { HRUN_NET_SCATTER, 16, 0, 0, "linear" },
    { HRUN_NET_SCATTER, 32, 16384, 0, "binomial" }, { HRUN_NET_SCATTER, 32, 32768, 0, "linear" },
    { HRUN_NET_SCATTER, 32, 0, 0, "linear-posted" },
    { HRUN_NET_SCATTER, 64, 512, 0, "binomial" }, { HRUN_NET_SCATTER, 64, 8192, 0, "linear-posted" },
    { HRUN_NET_SCATTER, 64, 16384, 0, "binomial" }, { HRUN_NET_SCATTER, 64, 0, 0, "linear-posted" },
    { HRUN_NET_SCATTER, 0, 512, 0, "binomial" }, { HRUN_NET_SCATTER, 0, 0, 0, "linear-posted" },
    { HRUN_NET_GATHER, 4, 2, 0, "linear-sync" }, { HRUN_NET_GATHER, 4, 4, 0, "linear" },
    { HRUN_NET_GATHER, 4, 32768, 0, "binomial" }, { HRUN_NET_GATHER, 4, 65536, 0, "linear" },
    { HRUN_NET_GATHER, 4, 131072, 0, "binomial" }, { HRUN_NET_GATHER, 4, 0, 0, "linear-sync" },
    { HRUN_NET_GATHER, 8, 1024, 0, "binomial" }, { HRUN_NET_GATHER, 8, 8192, 0, "linear" },
    { HRUN_NET_GATHER, 8, 32768, 0, "binomial" }, { HRUN_NET_GATHER, 8, 262144, 0, "linear" },
    { HRUN_NET_GATHER, 8, 0, 0, "linear-sync" },
    { HRUN_NET_GATHER, 256, 0, 0, "binomial" },
    { HRUN_NET_GATHER, 512, 2048, 0, "binomial" }, { HRUN_NET_GATHER, 512, 8192, 0, "linear" },
    { HRUN_NET_GATHER, 0, 0, 0, "binomial" },
    { HRUN_NET_BCAST, 4, 32, 0, "chain" }, { HRUN_NET_BCAST, 4, 256, 0, "binary" },
    { HRUN_NET_BCAST, 4, 512, 0, "chain" }, { HRUN_NET_BCAST, 4, 0, 0, "binary" },
    { HRUN_NET_BCAST, 8, 64, 0, "binary" }, { HRUN_NET_BCAST, 8, 128, 0, "binomial" },
    { HRUN_NET_BCAST, 8, 2048, 0, "binary" }, { HRUN_NET_BCAST, 8, 8192, 0, "binomial" },
    { HRUN_NET_BCAST, 8, 1048576, 0, "linear" }, { HRUN_NET_BCAST, 8, 0, 0, "chain" },
    { HRUN_NET_BCAST, 16, 8, 0, "knomial" }, { HRUN_NET_BCAST, 16, 64, 0, "binary" },
    { HRUN_NET_BCAST, 16, 4096, 0, "knomial" }, { HRUN_NET_BCAST, 16, 16384, 0, "binary" },
    { HRUN_NET_BCAST, 16, 32768, 0, "binomial" }, { HRUN_NET_BCAST, 16, 0, 0, "linear" },
    { HRUN_NET_BCAST, 32, 4096, 0, "knomial" }, { HRUN_NET_BCAST, 32, 1048576, 0, "binomial" },
    { HRUN_NET_BCAST, 32, 0, 0, "scatter-doubling" },
    { HRUN_NET_BCAST, 64, 2048, 0, "binomial" },
    { HRUN_NET_BCAST, 128, 0, 0, "knomial" },
    { HRUN_NET_BCAST, 256, 2, 0, "binomial" }, { HRUN_NET_BCAST, 256, 16384, 0, "binary" },
    { HRUN_NET_BCAST, 256, 32768, 0, "linear" }, { HRUN_NET_BCAST, 256, 65536, 0, "binary" },
    { HRUN_NET_BCAST, 0, 0, 0, "knomial" },
    { HRUN_NET_REDUCE, 4, 16, 0, "binary" }, { HRUN_NET_REDUCE, 4, 32, 0, "chain" },
    { HRUN_NET_REDUCE, 4, 262144, 0, "linear" },
    { HRUN_NET_REDUCE, 8, 4096, 0, "binary" }, { HRUN_NET_REDUCE, 8, 65536, 0, "chain" },
    { HRUN_NET_REDUCE, 8, 262144, 0, "binomial" }, { HRUN_NET_REDUCE, 8, 524288, 0, "linear" },
    { HRUN_NET_REDUCE, 8, 1048576, 0, "binomial" }, { HRUN_NET_REDUCE, 8, 0, 0, "linear" },
    { HRUN_NET_REDUCE, 16, 8192, 0, "binary" },
    { HRUN_NET_REDUCE, 32, 4096, 0, "binary" },
    { HRUN_NET_REDUCE, 256, 0, 0, "binomial" },
    { HRUN_NET_REDUCE, 512, 8192, 0, "binomial" }, { HRUN_NET_REDUCE, 512, 16384, 0, "binary" },
    { HRUN_NET_REDUCE, 0, 0, 0, "binomial" },
    { HRUN_NET_ALLREDUCE, 4, 4096, 0, "recursive-doubling" }, { HRUN_NET_ALLREDUCE, 4, 8192, 0, "ring" },
    { HRUN_NET_ALLREDUCE, 4, 16384, 0, "recursive-doubling" }, { HRUN_NET_ALLREDUCE, 4, 262144, 0, "ring" },
    { HRUN_NET_ALLREDUCE, 16, 8192, 0, "recursive-doubling" },
    { HRUN_NET_ALLREDUCE, 32, 4096, 0, "recursive-doubling" },
    { HRUN_NET_ALLREDUCE, 64, 128, 0, "ring" }, { HRUN_NET_ALLREDUCE, 64, 0, 0, "rabenseifner" },
    { HRUN_NET_ALLREDUCE, 128, 262144, 0, "recursive-doubling" },
    { HRUN_NET_ALLREDUCE, 256, 131072, 0, "reduce-bcast" },
    { HRUN_NET_ALLREDUCE, 256, 262144, 0, "recursive-doubling" },
    { HRUN_NET_ALLREDUCE, 512, 4096, 0, "reduce-bcast" }, { HRUN_NET_ALLREDUCE, 512, 0, 0, "rabenseifner" },
    { HRUN_NET_ALLREDUCE, 0, 2048, 0, "reduce-bcast" }, { HRUN_NET_ALLREDUCE, 0, 16384, 0, "recursive-doubling" },
    { HRUN_NET_ALLREDUCE, 0, 0, 0, "rabenseifner" },
    { HRUN_NET_ALLGATHER, 32, 0, 0, "recursive-doubling" },
    { HRUN_NET_ALLGATHER, 64, 1024, 0, "recursive-doubling" },
    { HRUN_NET_ALLGATHER, 128, 512, 0, "recursive-doubling" }, { HRUN_NET_ALLGATHER, 128, 65536, 0, "neighbor" },
    { HRUN_NET_ALLGATHER, 128, 0, 0, "ring" },
    { HRUN_NET_ALLGATHER, 256, 512, 0, "recursive-doubling" }, { HRUN_NET_ALLGATHER, 256, 131072, 0, "neighbor" },
    { HRUN_NET_ALLGATHER, 512, 32, 0, "recursive-doubling" }, { HRUN_NET_ALLGATHER, 512, 128, 0, "bruck" },
    { HRUN_NET_ALLGATHER, 512, 1024, 0, "recursive-doubling" }, { HRUN_NET_ALLGATHER, 512, 131072, 0, "neighbor" },
    { HRUN_NET_ALLGATHER, 512, 524288, 0, "ring" }, { HRUN_NET_ALLGATHER, 512, 1048576, 0, "neighbor" },
    { HRUN_NET_ALLGATHER, 512, 0, 0, "ring" },
    { HRUN_NET_ALLGATHER, 0, 64, 0, "recursive-doubling" }, { HRUN_NET_ALLGATHER, 0, 256, 0, "bruck" },
    { HRUN_NET_ALLGATHER, 0, 2048, 0, "recursive-doubling" }, { HRUN_NET_ALLGATHER, 0, 0, 0, "neighbor" },
    { HRUN_NET_ALLTOALL, 8, 524288, 0, "linear" }, { HRUN_NET_ALLTOALL, 8, 1048576, 0, "pairwise" },
    { HRUN_NET_ALLTOALL, 16, 0, 0, "linear" },
    { HRUN_NET_ALLTOALL, 32, 4, 0, "linear" },
    { HRUN_NET_ALLTOALL, 64, 512, 0, "bruck" }, { HRUN_NET_ALLTOALL, 64, 0, 0, "linear" },
    { HRUN_NET_ALLTOALL, 256, 1024, 0, "bruck" }, { HRUN_NET_ALLTOALL, 256, 262144, 0, "linear" },
    { HRUN_NET_ALLTOALL, 512, 1024, 0, "bruck" }, { HRUN_NET_ALLTOALL, 512, 32768, 0, "linear" },
    { HRUN_NET_ALLTOALL, 512, 0, 0, "pairwise" },
    { HRUN_NET_ALLTOALL, 0, 512, 0, "bruck" }, { HRUN_NET_ALLTOALL, 0, 262144, 0, "linear" },
    { HRUN_NET_ALLTOALL, 0, 0, 0, "pairwise" },
    { HRUN_NET_BARRIER, 4, 0, 0, "recursive-doubling" },
    { HRUN_NET_BARRIER, 8, 0, 0, "linear" },
    { HRUN_NET_BARRIER, 64, 0, 0, "recursive-doubling" },
    { HRUN_NET_BARRIER, 256, 0, 0, "bruck" },
    { HRUN_NET_BARRIER, 512, 0, 0, "tree" },
    { HRUN_NET_BARRIER, 0, 0, 0, "bruck" },
    { HRUN_NET_NOPS, 0, 0, 0, NULL }
};

/* SimGrid 3.32, --cfg=smpi/coll-selector:mpich. */
static const struct row MPICH[] = {
    { HRUN_NET_P2P, 0, 0, 0, "direct" }, { HRUN_NET_RING, 0, 0, 0, "direct" },
    { HRUN_NET_SCATTER, 0, 0, 0, "binomial-rising" },
    { HRUN_NET_GATHER, 0, 0, 0, "binomial" },
    { HRUN_NET_BCAST, 0, 0, UNIFORM, "by-hosts" },
    { HRUN_NET_BCAST, 9, 0, 0, "binomial-mpich" },
    { HRUN_NET_BCAST, 0, 12288, 0, "binomial-mpich" },
    { HRUN_NET_BCAST, 0, 524288, EVEN, "scatter-doubling" },
    { HRUN_NET_BCAST, 0, 0, 0, "scatter-ring" },
    { HRUN_NET_REDUCE, 0, 0, 0, "by-hosts" },
    { HRUN_NET_ALLREDUCE, 0, 0, 0, "by-hosts" },
    { HRUN_NET_ALLGATHER, 0, 524288, POWER_OF_TWO | TOTAL, "recursive-doubling" },
    { HRUN_NET_ALLGATHER, 0, 81921, TOTAL, "bruck" },
    { HRUN_NET_ALLGATHER, 0, 0, 0, "pairwise" },
    { HRUN_NET_ALLTOALL, 8, 32768, 0, "throttled" },
    { HRUN_NET_ALLTOALL, 0, 256, 0, "bruck" },
    { HRUN_NET_ALLTOALL, 0, 32768, 0, "throttled" },
    { HRUN_NET_ALLTOALL, 0, 0, 0, "pairwise" },
    { HRUN_NET_BARRIER, 0, 0, 0, "bruck" },
    { HRUN_NET_NOPS, 0, 0, 0, NULL }
};

/* SimGrid 3.32, --cfg=smpi/coll-selector:ompi: Open MPI's rules, but with another allgather (tests/accuracy/net
 * --selector ompi). */
static const struct row OMPI[] = {
    { HRUN_NET_ALLGATHER, 3, 0, 0, "ring" }, { HRUN_NET_ALLGATHER, 32, 0, 0, "recursive-doubling-mpich" },
    { HRUN_NET_ALLGATHER, 64, 1024, 0, "recursive-doubling-mpich" },
    { HRUN_NET_ALLGATHER, 256, 512, 0, "recursive-doubling-mpich" },
    { HRUN_NET_NOPS, 0, 0, 0, NULL }
};

static const struct {
    const char *name;
    const struct row *rows, *rest; /* rest: where the rows have nothing on an operation */
} SELECTORS[] = { { "openmpi", OPENMPI, NULL }, { "ompi", OMPI, OPENMPI }, { "mpich", MPICH, NULL } };

enum { NSELECTORS = sizeof SELECTORS / sizeof *SELECTORS };

static int row_fits(const struct row *row, enum hrun_net_op op, int n, double bytes, int uniform)
{
    double size = row->fits & TOTAL ? bytes * n : bytes;

    return row->op == op && (!row->n_below || n < row->n_below) && (row->bytes_below <= 0 || size < row->bytes_below)
           && (!(row->fits & POWER_OF_TWO) || net_pow2_below(n) == n) && (!(row->fits & EVEN) || n % 2 == 0)
           && (!(row->fits & UNIFORM) || uniform);
}

static const char *first_fit(const struct row *rows, enum hrun_net_op op, int n, double bytes, int uniform)
{
    for (const struct row *row = rows; row && row->op != HRUN_NET_NOPS; row++)
        if (row_fits(row, op, n, bytes, uniform))
            return row->algorithm;
    return NULL;
}

const char *net_select(const char *selector, enum hrun_net_op op, int n, double bytes, int uniform)
{
    for (int i = 0; i < NSELECTORS; i++)
        if (!strcmp(selector, SELECTORS[i].name)) {
            const char *found = first_fit(SELECTORS[i].rows, op, n, bytes, uniform);

            return found ? found : first_fit(SELECTORS[i].rest, op, n, bytes, uniform);
        }
    return NULL;
}
