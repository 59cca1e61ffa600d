/* service.h - the estimate as a service: what would an application take on a cluster, and what would be best?
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
 * what a function takes or a structure holds, has another N; within one, functions are added. The functions of this
 * header know no structure but these opaque ones: they stay as they are when others change.
 */
#ifndef HRUN_SERVICE_H
#define HRUN_SERVICE_H

#include "base/error.h"

#include <stdint.h>

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

#endif
