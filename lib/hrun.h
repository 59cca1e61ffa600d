/* hrun.h - libhrun: what would an application take on a cluster, and what would be best?
 *
 * Purpose: the answers of `hrun --dry-run` for schedulers and tools: a question as JSON in, the answer as JSON out,
 * from C and from any language that can call C. libhrun(3) has a program in C and one in Python. The library also
 * answers how long messages take between the hosts of a network (below).
 *
 *     answer = hrun_ask("{\"app\": \"hpl\", \"N\": 9600, \"cluster\": \"cluster.yaml\"}", &err);
 *
 * A function that can fail takes an error, or NULL. On failure it fills the error and returns -1, NAN or NULL. The
 * error's text is one sentence: what happened, where, what to do instead. On failure outputs are untouched unless
 * stated otherwise. When memory runs out the process ends, as with glib.
 * The ABI: libhrun.so.N exports what hrun.h declares, and nothing else. A release that takes something away, or changes
 * what a function takes or a structure holds, has another N; with one N, functions are only added. All structures but
 * struct hrun_error are opaque.
 */
#ifndef HRUN_H
#define HRUN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- errors */

/* Stable codes. */
enum hrun_code {
    HRUN_OK = 0,
    HRUN_EINVAL,      /* a value that the caller or the user gave cannot be used */
    HRUN_EPARSE,      /* text that does not parse: file, line and column are set */
    HRUN_ENOENT,      /* something named does not exist */
    HRUN_EIO,         /* the system refused a read, write, lock or the like; `sys` holds errno */
    HRUN_ECORRUPT,    /* stored data does not pass its checks */
    HRUN_ENODATA,     /* too few measurements, or no model */
    HRUN_ERANK,       /* a least squares matrix is rank deficient */
    HRUN_ENONFINITE,  /* NaN or infinity where a number is needed */
    HRUN_EINFEASIBLE, /* no configuration is valid */
    HRUN_EMPI,        /* the program's MPI cannot be served by the engine */
    HRUN_ENOEXEC,     /* the program exists and cannot be executed (exit status 126) */
    HRUN_ENOPROG,     /* the program does not exist (exit status 127) */
    HRUN_EENGINE,     /* the engine itself failed */
    HRUN_EEXISTS,     /* something is in the way, for instance a file the user wrote */
    HRUN_ECHANGED,    /* a host is not what was remembered of it; nothing of the program was started */
    HRUN_EBUSY        /* PEs that are needed are in use by other runs */
};

enum { HRUN_ERROR_FILE = 512, HRUN_ERROR_TEXT = 1536 };

struct hrun_error {
    enum hrun_code code;
    int sys;                      /* errno of the failed system call, or 0 */
    char file[HRUN_ERROR_FILE];   /* where something was parsed, or "" */
    int line, column;             /* from 1; 0 when unknown */
    char text[HRUN_ERROR_TEXT];
    double excess;                /* the nearest configuration's factor over limits that none keeps; else 0 */
};

/* The size of struct hrun_error, for languages that do not read this header. Zeroed memory of this size is an empty
 * error. */
size_t hrun_error_size(void);

/* Write "FILE:LINE:COLUMN: text" (as much of the place as is known) into out[size],
 * always NUL-terminated, other control characters than tab as "\u001b". Result: out. */
char *hrun_error_format(const struct hrun_error *err, char *out, size_t size);

/* ---------------------------------------------------------------- questions */

/* The version of this library: "0.1.0". */
const char *hrun_version(void);

/* The document that `hrun --dry-run=time --json` prints for the same options, by the same code: hrun(1) describes it.
 * question: a JSON object whose keys are the names of hrun's options without dashes, with the same values:
 *
 *   app, variant, define, profile-path, data         the application, its definition and profiles
 *   N (or size), np (or n), config, use, objective, limit, shares, top, force   what is asked
 *   cluster, hostfile, host, platform, level, network, refresh, skip-unreachable   the cluster; none: this host
 *   engine, mpi, export (or x), mca ("KEY=VALUE"), smpi, wdir                    how it would be started
 *   program     the program and its arguments, a string or an array of strings; with `app` it need not exist
 *
 * Values are strings or numbers, true for an option without a value; a key with false or null counts as not given.
 * define, config, export, mca and smpi take arrays, too; the answer to several configs is an array of documents.
 * Nothing of the application is started. hrun_ask may start ssh, mpirun --version and hrun-smpi to ask what hosts are
 * made of, and leaves no process. It reads cluster, definition and profiles anew in each call.
 * Threads: any may call it, each with an error object of its own; calls are answered one after another. The locale of
 * the process does not matter.
 * Result: the text, which the caller frees by free(3), or NULL. Errors: HRUN_EPARSE (no JSON object, with line and
 * column), HRUN_EINVAL (a key or a value), HRUN_ENODATA (no profile), HRUN_EINFEASIBLE (no configuration is valid or
 * keeps the limits; says what would), those of cluster and definition. hrun would print the same text and end with
 * status 125; after HRUN_ENOEXEC and HRUN_ENOPROG with 126 and 127. */
char *hrun_ask(const char *question, struct hrun_error *err);

/* ---------------------------------------------------------------- networks
 *
 * What messages take between the hosts of a cluster: the model of hrun-model(7). A network is not changed once it is
 * made: predictions may run in several threads. */

struct hrun_net;

/* A network from the records that libhrun-mpi gives (hrun-mpi.h). The caller destroys it. Errors (result NULL):
 * HRUN_EPARSE with the line, HRUN_ENODATA (records that are not complete, a pair of hosts without any). */
struct hrun_net *hrun_net_from_records(const char *records, struct hrun_error *err);
void hrun_net_destroy(struct hrun_net *net);

/* Write a network as YAML; read it back, equal to the last bit. Writing replaces the file atomically, and makes a
 * missing folder (mode 0700). If the last line is a checksum, it must be right. A file of a newer hrun is never
 * replaced. Errors: writing HRUN_EIO, HRUN_EEXISTS (of a newer hrun); reading HRUN_ENOENT, HRUN_EIO, HRUN_EPARSE with
 * file, line and column, HRUN_ECORRUPT (the checksum, or of a newer hrun). */
int hrun_net_save(const struct hrun_net *net, const char *file, struct hrun_error *err);
int hrun_net_load(const char *file, struct hrun_net **out, struct hrun_error *err);

/* Index of the host with this name; -1: there is none. */
int hrun_net_find(const struct hrun_net *net, const char *host);

/* Seconds that a collective operation takes among n processes, process r on the host with index host[r]: "scatter",
 * "gather", "allgather" (bytes: for each process), "alltoall" (for each pair), "bcast", "reduce", "allreduce" (bytes:
 * the whole message), "barrier"; "p2p" (between neighbours, the slowest) and "ring". root: of operations that have one.
 * algorithm NULL: the one that the MPI library chooses; *used gets its name (used may be NULL). Result: NAN on failure.
 * Errors: HRUN_EINVAL (an unknown operation or algorithm, a host or root out of range, bytes), HRUN_ENODATA (a pair of
 * hosts of which nothing was measured, named). */
double hrun_net_time(const struct hrun_net *net, const char *operation, double bytes, int root, const char *algorithm,
                     const int *host, int n, const char **used, struct hrun_error *err);

#ifdef __cplusplus
}
#endif
#endif
