/* fft.c - complex Fourier transform of N = N1 N2 numbers by the six-step (transpose) algorithm
 *
 * What FFTE's parallel transform does (paper 000, section 5.4). The numbers x_j, j = j1 N2 + j2, stand as an
 * N1 x N2 matrix, each rank holding N1/P whole rows; with k = k1 + N1 k2
 *   X_k = sum_j2 e(j2 k2 / N2) [ e(j2 k1 / N) sum_j1 e(j1 k1 / N1) x_j ],   e(t) = exp(-2 pi i t)
 * so: transpose, N2 transforms of length N1, factors e(j2 k1 / N), transpose, N1 transforms of length N2,
 * transpose. N1 and N2 are powers of two as close as possible; P divides both exactly when P is a power of
 * two and P^2 divides N.
 *   computation    O(N log N) / P                communication  3 all-to-alls of 16 N / P bytes per rank
 * Memory of one process in bytes: 32 N/P, and tables of 16 (2 N1 + 3 N2) <= 16 * 6.3 sqrt(N) at most.
 * The order of all operations on a number is the same for every P, and so is every bit of the result.
 *
 * Check, each scaled: (1) Parseval's identity on random numbers; (2) their transform back gives them again;
 * (3) the transform of an impulse at d plus a tone of frequency f and height 1/N is e(dk/N), and 1 more at
 * k = f. (A tone of height 1 would sum to N and drown the impulse in its roundings.) The errors are divided
 * by eps (1 + log2 N).
 */
#include "common.h"

/* Tile edge of the transposition: 16 x 16 numbers of 16 bytes, read and written, fit a 32 KiB cache. */
enum { FFT_TILE = 16 };
enum { FFT_OPT_SEED };
/* Operations per number: two products in first_transforms; sine, cosine (some 20 each) and the angle of unit. */
enum { FFT_FLOPS_FACTOR = 12, FFT_FLOPS_UNIT = 44 };

struct cplx {
    double re, im;
};

struct fft {
    MPI_Comm comm;
    long n, n1, n2;
    int size, rank;
    uint64_t seed;
    long m;                 /* numbers held here: n / size */
    struct cplx *x, *buf;   /* m each */
    struct cplx *w1, *w2;   /* e(k/n1), k < n1; e(k/n2), k < n2 */
    struct cplx *fine, *coarse; /* e(k/n), k < nfine; e(k nfine / n), k < n / nfine */
    long nfine;
    int nfine_bits;
    struct cplx *row;       /* n2 >= n1: work space for one transform */
};

/* ---------------------------------------------------------------- computation */

static inline struct cplx mul(struct cplx a, struct cplx b)
{
    struct cplx c = { a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re };

    return c;
}

static inline struct cplx add(struct cplx a, struct cplx b)
{
    struct cplx c = { a.re + b.re, a.im + b.im };

    return c;
}

static inline struct cplx sub(struct cplx a, struct cplx b)
{
    struct cplx c = { a.re - b.re, a.im - b.im };

    return c;
}

/* e(k/n) for 0 <= k < n, by the angle nearest to 0 */
static struct cplx unit(long k, long n)
{
    double t = -2.0 * M_PI * (double)(2 * k > n ? k - n : k) / (double)n;
    struct cplx c = { cos(t), sin(t) };

    return c;
}

static void fill_units(struct cplx *w, long count, long step, long n)
{
    for (long k = 0; k < count; k++)
        w[k] = unit(k * step, n);
}

/* One step of Stockham's algorithm by four: s interleaved transforms of length len from in to out.
 * w holds e(k/(len s)). */
static void step4(long len, long s, const struct cplx *w, const struct cplx *restrict in,
                  struct cplx *restrict out)
{
    long q4 = len / 4;

    for (long p = 0; p < q4; p++) {
        struct cplx w1 = w[p * s], w2 = w[2 * p * s], w3 = w[3 * p * s];
        for (long q = 0; q < s; q++) {
            struct cplx a = in[q + s * p], b = in[q + s * (p + q4)];
            struct cplx c = in[q + s * (p + 2 * q4)], d = in[q + s * (p + 3 * q4)];
            struct cplx ac = add(a, c), amc = sub(a, c), bd = add(b, d);
            struct cplx ibmd = { d.im - b.im, b.re - d.re };    /* i (b - d) */
            out[q + s * (4 * p)] = add(ac, bd);
            out[q + s * (4 * p + 1)] = mul(w1, sub(amc, ibmd));
            out[q + s * (4 * p + 2)] = mul(w2, sub(ac, bd));
            out[q + s * (4 * p + 3)] = mul(w3, add(amc, ibmd));
        }
    }
}

/* The last step when log2 of the length is odd: s transforms of length 2. */
static void step2(long s, const struct cplx *restrict in, struct cplx *restrict out)
{
    for (long q = 0; q < s; q++) {
        out[q] = add(in[q], in[q + s]);
        out[q + s] = sub(in[q], in[q + s]);
    }
}

/* Transform x[n] in place, n a power of two; w holds e(k/n), work n numbers. */
static void transform(struct cplx *x, long n, const struct cplx *w, struct cplx *work)
{
    struct cplx *in = x, *out = work, *swap;
    long len = n, s = 1;

    while (len > 1) {
        if (len >= 4)
            step4(len, s, w, in, out);
        else
            step2(s, in, out);
        s *= len >= 4 ? 4 : 2;
        len /= len >= 4 ? 4 : 2;
        swap = in;
        in = out;
        out = swap;
    }
    if (in != x)
        memcpy(x, in, (size_t)n * sizeof *x);
}

/* Operations of transform per number: 34 for four numbers of step4, 4 for two of step2. */
static double transform_flops(long n)
{
    double flops = 0.0;

    for (; n > 1; n /= n >= 4 ? 4 : 2)
        flops += n >= 4 ? 34.0 / 4.0 : 2.0;
    return flops;
}

static void make_tables(struct fft *s)
{
    fill_units(s->w1, s->n1, 1, s->n1);
    fill_units(s->w2, s->n2, 1, s->n2);
    fill_units(s->fine, s->nfine, 1, s->n);
    fill_units(s->coarse, s->n / s->nfine, s->nfine, s->n);
}

/* Rows j2 of length N1: transform each and multiply by e(j2 k1 / N). */
static void first_transforms(struct fft *s)
{
    long rows = s->n2 / s->size, j2;
    struct cplx *x;

    for (long r = 0; r < rows; r++) {
        x = s->x + r * s->n1;
        j2 = s->rank * rows + r;
        transform(x, s->n1, s->w1, s->row);
        for (long k1 = 0; k1 < s->n1; k1++) {
            long e = j2 * k1;
            x[k1] = mul(x[k1], mul(s->coarse[e >> s->nfine_bits], s->fine[e & (s->nfine - 1)]));
        }
    }
}

static void second_transforms(struct fft *s)
{
    for (long r = 0; r < s->n1 / s->size; r++)
        transform(s->x + r * s->n2, s->n2, s->w2, s->row);
}

/* buf := the rows x cols matrix x, transposed, in tiles: cut into `size` pieces of cols/size columns of x,
 * each piece is what one rank gets. */
static void pack(struct fft *s, long rows, long cols)
{
    for (long c0 = 0; c0 < cols; c0 += FFT_TILE)
        for (long r0 = 0; r0 < rows; r0 += FFT_TILE)
            for (long c = c0; c < cols && c < c0 + FFT_TILE; c++)
                for (long r = r0; r < rows && r < r0 + FFT_TILE; r++)
                    s->buf[c * rows + r] = s->x[r * cols + c];
}

/* From each rank came a height x width matrix; x := them side by side. */
static void unpack(struct fft *s, long height, long width)
{
    for (long p = 0; p < s->size; p++)
        for (long r = 0; r < height; r++)
            memcpy(s->x + r * width * s->size + p * width, s->buf + (p * height + r) * width,
                   (size_t)width * sizeof *s->x);
}

/* ---------------------------------------------------------------- communication */

static void swap_buffers(struct fft *s)
{
    struct cplx *x = s->x;

    s->x = s->buf;
    s->buf = x;
}

/* From buf into x, piece p to rank p. */
static void all_to_all(struct fft *s)
{
    int count = (int)(2 * s->m / s->size);

    MPI_Alltoall(s->buf, count, MPI_DOUBLE, s->x, count, MPI_DOUBLE, s->comm);
}

/* x: rows_all x cols_all by rows over all ranks -> its transpose by rows over all ranks. */
static void transpose(struct fft *s, long rows_all, long cols_all)
{
    APP_WORK(2 * s->m, pack(s, rows_all / s->size, cols_all));
    if (s->size == 1) {
        swap_buffers(s);
        return;
    }
    all_to_all(s);
    swap_buffers(s);
    APP_WORK(2 * s->m, unpack(s, cols_all / s->size, rows_all / s->size));
}

static void forward(struct fft *s)
{
    transpose(s, s->n1, s->n2);
    APP_WORK((double)s->m * (transform_flops(s->n1) + FFT_FLOPS_FACTOR), first_transforms(s));
    transpose(s, s->n2, s->n1);
    APP_WORK((double)s->m * transform_flops(s->n2), second_transforms(s));
    transpose(s, s->n1, s->n2);
}

/* ---------------------------------------------------------------- the kernel */

static int is_power_of_two(long n)
{
    return n > 0 && !(n & (n - 1));
}

static int fft_allowed(const struct app *a)
{
    long below = 1;

    if (!is_power_of_two(a->size))
        return app_refuse(a, "%d processes: their number must be a power of two", a->size);
    while (2 * below <= a->N)
        below *= 2;
    if (below != a->N)
        return app_refuse(a, "N=%ld is not a power of two; use %ld or %ld", a->N, below, 2 * below);
    if (a->N % ((long)a->size * a->size))
        return app_refuse(a, "N=%ld on %d processes: N must be a multiple of P^2 = %ld", a->N, a->size,
                          (long)a->size * a->size);
    return APP_OK;
}

static void fft_destroy(void *state)
{
    struct fft *s = state;

    app_free(s->x);
    app_free(s->buf);
    free(s->w1);
    free(s->w2);
    free(s->fine);
    free(s->coarse);
    free(s->row);
    free(s);
}

static void *fft_create(const struct app *a)
{
    struct fft *s = calloc(1, sizeof *s);
    int bits = 0;

    if (!s)
        return NULL;
    while (1L << bits < a->N)
        bits++;
    s->comm = a->comm;
    s->n = a->N;
    s->n1 = 1L << bits / 2;
    s->n2 = s->n / s->n1;
    s->nfine_bits = (bits + 1) / 2;
    s->nfine = 1L << s->nfine_bits;
    s->size = a->size;
    s->rank = a->rank;
    s->seed = (uint64_t)a->options[FFT_OPT_SEED].value;
    s->m = s->n / s->size;
    s->x = app_alloc(a->arena, a->size, (size_t)s->m, sizeof *s->x);
    s->buf = app_alloc(a->arena, a->size, (size_t)s->m, sizeof *s->buf);
    s->w1 = malloc((size_t)s->n1 * sizeof *s->w1);
    s->w2 = malloc((size_t)s->n2 * sizeof *s->w2);
    s->fine = malloc((size_t)s->nfine * sizeof *s->fine);
    s->coarse = malloc((size_t)(s->n / s->nfine) * sizeof *s->coarse);
    s->row = malloc((size_t)s->n2 * sizeof *s->row);
    if (!s->x || !s->buf || !s->w1 || !s->w2 || !s->fine || !s->coarse || !s->row) {
        fft_destroy(s);
        return NULL;
    }
    return s;
}

static struct cplx input(const struct fft *s, long j)
{
    struct cplx c = { app_random(s->seed, 2 * (uint64_t)j), app_random(s->seed, 2 * (uint64_t)j + 1) };

    return c;
}

static void fft_prepare(const struct app *a, void *state)
{
    struct fft *s = state;

    (void)a;
    /* Fresh memory costs time when it is first touched: do it here, so that every run is timed alike. */
    memset(s->buf, 0, (size_t)s->m * sizeof *s->buf);
    for (long i = 0; i < s->m; i++)
        s->x[i] = input(s, s->rank * s->m + i);
}

static void fft_solve(const struct app *a, void *state)
{
    struct fft *s = state;

    (void)a;
    APP_WORK(FFT_FLOPS_UNIT * (double)(s->n1 + s->n2 + s->nfine + s->n / s->nfine), make_tables(s));
    forward(s);
}

/* Relative deviation from sum |X|^2 = N sum |x|^2, with this rank's shares added over all. */
static double check_parseval(const struct app *a, const struct fft *s)
{
    double sums[2] = { 0.0, 0.0 };

    for (long i = 0; i < s->m; i++) {
        struct cplx c = input(s, s->rank * s->m + i);
        sums[0] += s->x[i].re * s->x[i].re + s->x[i].im * s->x[i].im;
        sums[1] += c.re * c.re + c.im * c.im;
    }
    app_allreduce(a, sums, 2, MPI_DOUBLE, MPI_SUM);
    /* Adding m numbers one by one may cost sqrt(m) roundings (they are random), which are no fault of the
     * transform: they are granted here. */
    return fmax(0.0, fabs(sums[0] / ((double)s->n * sums[1]) - 1.0) - DBL_EPSILON * sqrt((double)s->m));
}

/* Largest deviation after the transform back, which is conj(forward(conj(X))) / N. */
static double check_inverse(struct fft *s)
{
    double worst = 0.0;

    for (long i = 0; i < s->m; i++)
        s->x[i].im = -s->x[i].im;
    forward(s);
    for (long i = 0; i < s->m; i++) {
        struct cplx c = input(s, s->rank * s->m + i);
        worst = app_max_abs(worst, s->x[i].re / (double)s->n - c.re);
        worst = app_max_abs(worst, -s->x[i].im / (double)s->n - c.im);
    }
    return worst;
}

/* Largest deviation of a transform that is known. */
static double check_known(struct fft *s)
{
    long d = (3 * s->n / 8 + 1) % s->n, f = 5 * s->n / 7, first = s->rank * s->m, j, k;
    double height = 1.0 / (double)s->n, worst = 0.0;
    struct cplx c;

    for (long i = 0; i < s->m; i++) {
        j = first + i;
        c = unit((long)((uint64_t)f * (uint64_t)j % (uint64_t)s->n), s->n);
        s->x[i].re = height * c.re + (j == d);
        s->x[i].im = -height * c.im;
    }
    forward(s);
    for (long i = 0; i < s->m; i++) {
        k = first + i;
        c = unit((long)((uint64_t)d * (uint64_t)k % (uint64_t)s->n), s->n);
        worst = app_max_abs(worst, s->x[i].re - c.re - (k == f));
        worst = app_max_abs(worst, s->x[i].im - c.im);
    }
    return worst;
}

static void fft_check(const struct app *a, void *state, struct app_verdict *v)
{
    struct fft *s = state;
    double worst, log2n = 0.0;
    uint64_t sum = 0;

    for (long n = s->n; n > 1; n /= 2)
        log2n += 1.0;
    if (a->spoil && a->rank == a->size - 1)
        s->x[s->m / 2].re += 1e-6 * (double)s->n;
    for (long i = 0; i < s->m; i++) {
        uint64_t k = (uint64_t)(s->rank * s->m + i);
        sum += app_hash(2 * k, s->x[i].re) + app_hash(2 * k + 1, s->x[i].im);
    }
    worst = check_parseval(a, s);
    worst = app_max_abs(worst, check_inverse(s));
    worst = app_max_abs(worst, check_known(s));
    app_allreduce(a, &worst, 1, MPI_DOUBLE, MPI_MAX);
    app_allreduce(a, &sum, 1, MPI_UINT64_T, MPI_SUM);
    v->residual = worst / (DBL_EPSILON * (1.0 + log2n));
    v->ok = v->residual < APP_RESIDUAL_MAX;
    snprintf(v->result, sizeof v->result, "checksum %016llx", (unsigned long long)sum);
}

int main(int argc, char **argv)
{
    struct app_option options[] = {
        { "seed", 's', 0, 1000000, 1, "number of the random input" },
        { NULL, 0, 0, 0, 0, NULL }
    };
    /* With P >= 2 a message has 2 N / P^2 numbers, which must stay below 2^31. */
    const struct app_kernel kernel = {
        "fft", "complex Fourier transform of N numbers", 1, 1L << 31,
        fft_allowed, fft_create, fft_destroy, fft_prepare, fft_solve, fft_check
    };

    return app_main(&kernel, options, argc, argv);
}
