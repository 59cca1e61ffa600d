/* hrun.h - libhrun: what would an application take on a cluster, and what would be best?
 *
 * Purpose: the answers of `hrun --dry-run` for schedulers and tools, from C and from any language that can call C
 * (ctypes): opaque objects, numbers and texts alone, no callbacks. libhrun(3) has a program
 * in C and one in Python.
 *
 *     s = hrun_service_create(&err);
 *     hrun_service_set(s, "cluster", "cluster.yaml", &err);
 *     hrun_service_set(s, "app", "hpl", &err);
 *     hrun_service_open(s, &err);
 *     a = hrun_service_best(s, 9600, "top=5", &err);
 *     printf("%s %.1f s\n", hrun_answer_config(a, 0), hrun_answer_time_s(a, 0));
 *
 * A function that can fail fills the error that it is given (or NULL) and gives -1 or NULL; its text is one sentence:
 * what happened, where, what to do instead. On failure outputs are untouched unless said otherwise.
 * Invariants:
 *   - what is answered is what hrun of the same version decides with the same options, by the same code, where no other
 *     run has PEs in use;
 *   - nothing of the application is started; hrun_service_open may start ssh, mpirun --version and hrun-smpi to ask
 *     what hosts are made of, and no process of these remains;
 *   - a service that is open does not change: profiles and cluster stay as they were read. Runs at a size N that is
 *     asked for the first time in a while count as they are then; who wants all that was measured since opens another
 *     service;
 *   - threads: an open service may be used by any number of threads at once; create, set, open and destroy are for one.
 *     Different services share nothing that changes. An answer is not changed but by hrun_service_json, and may be read
 *     by several threads. An error object is its thread's own;
 *   - the locale of the process does not matter;
 *   - texts that are returned are owned by the object that they are asked of, and live as long as it. Sub-clusters,
 *     choices count from 0; what is out of range, asked of NULL, or of a service that is not open, is 0, NAN or NULL.
 * The ABI: libhrun.so.N exports what hrun.h declares, and nothing else. A release that takes something away, or changes
 * what a function takes or a structure holds, has another N; within one, functions are added. All
 * structures but struct hrun_error are opaque.
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
    HRUN_ENOMEM,      /* memory ran out */
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
    double excess;                /* limits that nothing keeps: the nearest is over them by this factor; else 0 */
};

/* The bytes of a struct hrun_error, for languages that do not read this header: so much zeroed memory is one. */
size_t hrun_error_size(void);

/* Write "FILE:LINE:COLUMN: text" (as much of the place as is known) into out[size],
 * always NUL-terminated, other control characters than tab as "\u001b". Result: out. */
char *hrun_error_format(const struct hrun_error *err, char *out, size_t size);

/* ---------------------------------------------------------------- the service */

struct hrun_service;
struct hrun_answer;

/* "0.1.0": of this library. */
const char *hrun_version(void);

/* A service that is not open yet. The caller destroys it. Errors: HRUN_ENOMEM (result NULL). */
struct hrun_service *hrun_service_create(struct hrun_error *err);

/* Set one thing before the service is opened; value NULL: as if it had never been set. name is that of hrun's option:
 *   app, variant, profile-path, define ("NAME=VALUE"), data   the application, its definition and profiles
 *   cluster, hostfile, host, platform, level            the cluster: one of the first four, none for this host or
 *                                                       allocation
 *   engine, mpi, program                                whose profiles: "mpirun", "ompi-4.1.4", the path of a program
 *                                                       whose MPI it is; by default what was measured
 *   mca ("KEY=VALUE"), smpi ("NAME:VALUE")              as with hrun
 *   refresh, skip-unreachable ("yes" or "no"), hrun     asking other hosts: anew, without those that do not answer;
 *                                                       the path of hrun there
 * define, mca and smpi add one more each time; each other one counts as it was set last. The value is copied.
 * Errors: HRUN_EINVAL (no such name, nothing that may be its value, the service is open), HRUN_ENOMEM; the service is
 * as before. */
int hrun_service_set(struct hrun_service *s, const char *name, const char *value, struct hrun_error *err);

/* Find the cluster, the definition and the profiles. Without an app only the cluster can be asked for. No profile is no
 * error. Errors: those of lib/cluster, lib/app, lib/store and lib/net, HRUN_EINVAL (it is open, settings that
 * contradict each other); the service can then be set and opened once more. */
int hrun_service_open(struct hrun_service *s, struct hrun_error *err);
void hrun_service_destroy(struct hrun_service *s);

/* The application's name, NULL without one; the engine and the MPI whose profiles are used. */
const char *hrun_service_app(const struct hrun_service *s);
const char *hrun_service_engine(const struct hrun_service *s);
const char *hrun_service_mpi(const struct hrun_service *s);

/* Sub-clusters: how many, the name, the PEs, the signature of profiles, 1 if there is a profile of the application that
 * can be used, and if not why not (NULL: it was never measured). */
int hrun_service_nsubs(const struct hrun_service *s);
const char *hrun_service_sub_name(const struct hrun_service *s, int sub);
int hrun_service_sub_pes(const struct hrun_service *s, int sub);
const char *hrun_service_sub_signature(const struct hrun_service *s, int sub);
int hrun_service_sub_has_profile(const struct hrun_service *s, int sub);
const char *hrun_service_sub_note(const struct hrun_service *s, int sub);

/* What a configuration "(P1,M1,P2,M2,...)" takes at size N. The caller destroys the answer, before the service or after
 * it. Errors (result NULL): HRUN_EINVAL (not open, N < 1, more PEs than there are), HRUN_EPARSE (the configuration),
 * HRUN_EINFEASIBLE (the rule excludes it), HRUN_ENODATA (no profile; says whose), HRUN_ENOENT (no app was set), those
 * of the store, HRUN_ENOMEM. */
struct hrun_answer *hrun_service_predict(struct hrun_service *s, const char *config, int64_t N, struct hrun_error *err);

/* The best configuration at size N and its alternatives, best first. wishes: words NAME=VALUE with blanks between them,
 * or NULL: "objective=cost top=10". Names, as hrun's options: objective (time, cost, energy), limit
 * (time=30m,cost=5,energy=2e6,pes=8,within=10%,loss=5%), use (sub-clusters and PEs), np (processes), top (how
 * many choices, 3 unless told). Ownership and errors: as hrun_service_predict; HRUN_EINVAL also for a wish,
 * HRUN_EINFEASIBLE (nothing is valid, or keeps the limits; says what would). */
struct hrun_answer *hrun_service_best(struct hrun_service *s, int64_t N, const char *wishes, struct hrun_error *err);

/* The text of an answer as `hrun --dry-run --json` prints it (hrun(1)), where nothing would be started: argv and mpirun
 * are null; owned by the answer. a NULL: the cluster as `hrun --show-cluster --json` prints it; owned by the service.
 * s is the service that gave the answer. Errors (result NULL): HRUN_EINVAL, those of lib/layout and lib/net,
 * HRUN_ENOMEM. */
const char *hrun_service_json(struct hrun_service *s, struct hrun_answer *a, struct hrun_error *err);

/* An answer: its size N; of a definition with variants the one that it is about, else NULL; how many choices it holds,
 * the best (or the one that was asked for) and its alternatives. Of choice k: the configuration as a text, the
 * processes, the PEs used of a sub-cluster and the processes on each; the predicted time with its 95 % interval, in s;
 * the money, and the energy in J, NAN where prices or powers are not known; the sub-cluster that limits it; and how
 * many runs of it at this N have corrected the prediction. */
int64_t hrun_answer_size(const struct hrun_answer *a);
const char *hrun_answer_variant(const struct hrun_answer *a);
int hrun_answer_count(const struct hrun_answer *a);
const char *hrun_answer_config(const struct hrun_answer *a, int k);
int hrun_answer_processes(const struct hrun_answer *a, int k);
int hrun_answer_pes(const struct hrun_answer *a, int k, int sub);
int hrun_answer_procs_per_pe(const struct hrun_answer *a, int k, int sub);
double hrun_answer_time_s(const struct hrun_answer *a, int k);
double hrun_answer_low_s(const struct hrun_answer *a, int k);
double hrun_answer_high_s(const struct hrun_answer *a, int k);
double hrun_answer_cost(const struct hrun_answer *a, int k);
double hrun_answer_energy_j(const struct hrun_answer *a, int k);
int hrun_answer_limiting(const struct hrun_answer *a, int k);
int hrun_answer_runs(const struct hrun_answer *a, int k);
void hrun_answer_destroy(struct hrun_answer *a);

/* ---------------------------------------------------------------- networks
 *
 * What messages take between the hosts of a cluster: the model of hrun-model(7). A network is not changed once it is
 * made: predictions may run in several threads. */

struct hrun_net;

/* A network from the records that libhrun-mpi gives (hrun-mpi.h). The caller destroys it. Errors (result NULL):
 * HRUN_EPARSE with the line, HRUN_ENODATA (records that are not complete, a pair of hosts without any), HRUN_ENOMEM. */
struct hrun_net *hrun_net_from_records(const char *records, struct hrun_error *err);
void hrun_net_destroy(struct hrun_net *net);

/* As YAML, in a file that is replaced atomically, its folder made when missing (mode 0700); and back, equal to the last
 * bit. A checksum in its last line must be right where it stands. A file of a newer hrun is never replaced. Errors:
 * writing HRUN_EIO, HRUN_EEXISTS (of a newer hrun), HRUN_ENOMEM; reading HRUN_ENOENT, HRUN_EIO, HRUN_EPARSE with file,
 * line and column, HRUN_ECORRUPT (the checksum, or of a newer hrun), HRUN_ENOMEM. */
int hrun_net_save(const struct hrun_net *net, const char *file, struct hrun_error *err);
int hrun_net_load(const char *file, struct hrun_net **out, struct hrun_error *err);

/* Index of a host by name, -1: there is none. */
int hrun_net_find(const struct hrun_net *net, const char *host);

/* Seconds that a collective operation takes among n processes, process r on host[r], an index: "scatter", "gather",
 * "allgather", "alltoall" (bytes: of each process, for each pair), "bcast", "reduce", "allreduce" (bytes: the whole
 * message), "barrier"; "p2p" (between neighbours, the slowest) and "ring". root: of operations that have one.
 * algorithm: NULL, that which the MPI library chooses; *used (may be NULL) gets its name. Result: NAN on failure.
 * Errors: HRUN_EINVAL (an unknown operation or algorithm, a host or root out of range, bytes), HRUN_ENODATA (a pair of
 * hosts of which nothing was measured, named), HRUN_ENOMEM. */
double hrun_net_time(const struct hrun_net *net, const char *operation, double bytes, int root, const char *algorithm,
                     const int *host, int n, const char **used, struct hrun_error *err);

#ifdef __cplusplus
}
#endif
#endif
