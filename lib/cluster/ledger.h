/* ledger.h - advisory locks on the PUs of hosts, by which users without a scheduler share them
 *
 * Purpose: a run locks the PUs that it uses, so that the next one chooses among those that remain, or waits. Locks end
 * with the process that took them (or its host): nothing has to be cleaned after a crash.
 * The ledger is a folder, sticky where several users write it (/run/lock; mode 1777 on a shared file system), with
 *   hrun.locks   an empty file that all users of the folder can write, made by whoever is first and never removed. All
 *                locks are in it: open file description locks (fcntl(2); they work over NFS), for writing, on ranges
 *                of bytes;
 *   hrun-XXXX    who holds what, a file of mode 0644 for each process with locks: a JSON object. XXXX is its token.
 * Invariants:
 *   - offset = (host * 2^14 + unit) * 2^16, where host is a hash of 33 bits of the host's name without its domain, and
 *     unit a PU (below 2^13), or 2^13 + a place in the queue. A range of units is locked from its first byte to byte
 *     `token` of its last unit: ranges with a unit in common overlap, and F_OFD_GETLK finds who holds one. Two hosts of
 *     one hash, a chance of 1 in 1,000 for 4,000 hosts, wait for each other without need;
 *   - a PU is never granted twice: the kernel, or the file server, excludes it. Ranges are taken in the order of their
 *     offsets, so that of runs that start at the same time one gets all that it wants;
 *   - first come, first served: who waits has a place in the queue, the one after the last taken on any host, and
 *     holds it on each host that he waits for. A free PU of such a host is kept for him from all that have a later
 *     place or none. A waiting process touches its hrun-XXXX; one that has not for HRUN_LEDGER_SILENT_S was stopped
 *     (^Z), and keeps nobody waiting;
 *   - who holds a lock is the owner of its hrun-XXXX (fstat), whose other words are his, without control bytes. A lock
 *     without such a file is of a user without a name: it counts for PUs, not in the queue;
 *   - what others do costs little: no folder is listed, no link followed, nothing opened that is no plain file of the
 *     folder's file system, and the locks are read within a bounded time of processor. What exceeds it is an error,
 *     and so is a hrun.locks that cannot be opened: the caller goes on without locks.
 * It is an agreement: a user can lock what he does not use, name another's token, and remove a hrun.locks that he has
 * made; and it knows nothing of programs that hrun did not start.
 */
#ifndef HRUN_CLUSTER_LEDGER_H
#define HRUN_CLUSTER_LEDGER_H

#include "base/buf.h"
#include "base/error.h"

#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

enum { HRUN_LEDGER_PUS = 1 << 13, HRUN_LEDGER_SILENT_S = 30 };

/* A process with locks. Texts are printable ASCII. */
struct hrun_ledger_holder {
    long token;
    uid_t uid;                  /* (uid_t)-1: not known */
    int waits, place;           /* it holds this place in the queue; a process that holds PUs, too, is two of them */
    int silent;                 /* it waits, and was stopped: it does not count */
    const char *host, *app, *program; /* host of hrun; "": not known, or no definition */
    json_int_t pid, since_s, end_s, N; /* end_s: as predicted; 0: not known. Times are seconds since 1970 */
    json_t *text;               /* owns the strings; its "uses" are [[host, pus], ...]. NULL: a holder without a name */
};

/* What is held: units first..last of the host with this index; holder is an index, too. */
struct hrun_ledger_hold {
    int host, first, last, holder;
};

struct hrun_ledger_list {
    struct hrun_ledger_holder *holders;
    struct hrun_ledger_hold *holds;     /* host by host */
    int nholders, nholds, holders_cap, holds_cap;
};

struct hrun_ledger;

/* Open the ledger in folder dir. Errors: HRUN_ENOENT, HRUN_EINVAL (no folder; one that others may write and that is not
 * sticky), HRUN_EIO. */
int hrun_ledger_open(const char *dir, struct hrun_ledger **out, struct hrun_error *err);
/* NULL-safe; all locks end. */
void hrun_ledger_close(struct hrun_ledger *l);
const char *hrun_ledger_dir(const struct hrun_ledger *l);

/* Read what others hold on these hosts: their PUs; and the places in the queue before this process's own, where it has
 * one. hosts NULL: of all hosts, n = 0, also the silent ones. Nothing is written. *out is zeroed before; released also
 * after an error. Errors: HRUN_EIO. */
int hrun_ledger_read(struct hrun_ledger *l, char *const *hosts, int n, struct hrun_ledger_list *out,
                     struct hrun_error *err);
void hrun_ledger_list_release(struct hrun_ledger_list *list);

/* Add PUs of a host ("0-3,8"; host lives until then) to what the next call of hrun_ledger_lock or _queue is about. */
void hrun_ledger_want(struct hrun_ledger *l, const char *host, const char *pus);
/* Lock what is wanted; nothing is locked before. Of `as` app, program, N, since_s and end_s count. Result: 1 all is
 * locked; 0 others have some: nothing is; -1 with *err: nothing is. Errors: HRUN_EIO. */
int hrun_ledger_lock(struct hrun_ledger *l, const struct hrun_ledger_holder *as, struct hrun_error *err);
/* Nothing is locked, and nothing wanted, any more. */
void hrun_ledger_unlock(struct hrun_ledger *l);
/* Wait for what is wanted: take a place in the queue, or keep it for this in place of others, and show that it is
 * alive. A queue without a free place is passed over. Errors: HRUN_EIO. */
int hrun_ledger_queue(struct hrun_ledger *l, const struct hrun_ledger_holder *as, struct hrun_error *err);
void hrun_ledger_leave(struct hrun_ledger *l);

/* Append the name of a user, "uid 1234" where it has none, "a user without a name (fuser -v LOCKS)". */
void hrun_ledger_user(const struct hrun_ledger *l, uid_t uid, struct hrun_buf *out);

#endif
