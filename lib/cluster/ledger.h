/* ledger.h - advisory locks on the PUs of hosts, for users who share hosts without a scheduler
 *
 * Purpose: a run locks the PUs that it uses, so that the next run uses others, or waits. Locks end with the process
 * that holds them (or its host), so that nothing needs cleaning after a crash.
 * The ledger is a folder, sticky if several users write it (/run/lock; mode 1777 on a shared file system), with
 *   hrun.locks   an empty file that all users of the folder can write, created by the first run and never removed. All
 *                locks are on it: open file description locks (fcntl(2); they work over NFS), for writing, on ranges
 *                of bytes;
 *   hrun-XXXX    a JSON object with the owner and uses of locks, a file of mode 0644 for each process with locks. XXXX
 *                is the process's token.
 * Invariants:
 *   - offset = (host * 2^14 + unit) * 2^16, where host is a hash of 33 bits of the host's name without its domain, and
 *     unit a PU (below 2^13), or 2^13 + a place in the queue. A range of units is locked from its first byte to byte
 *     `token` of its last unit: ranges with a unit in common overlap, and the range from F_OFD_GETLK contains the
 *     holder's token. Two hosts with one hash wait for each other without need (chance 1 in 1,000 for 4,000 hosts);
 *   - the kernel, or the file server, ensures that no PU is granted twice. Ranges are locked in the order of their
 *     offsets, so that among runs that start at the same time one gets all its PUs;
 *   - first come, first served: a waiting process takes the place after the last taken place of any host, and keeps it
 *     on each host that it waits for. A free PU of these hosts is kept from all processes with a later place or no
 *     place. A waiting process touches its hrun-XXXX. After HRUN_LEDGER_SILENT_S seconds without a touch the process
 *     counts as stopped (^Z), and its place is ignored;
 *   - the holder of a lock is the owner of its hrun-XXXX (fstat), which has no control bytes. A lock without such a
 *     file belongs to an unnamed user: it counts for PUs, not in the queue;
 *   - other users can cost a run little time: it lists no folder, follows no link, opens only plain files of the
 *     folder's file system, and reads locks within a bounded processor time. Exceeding this time is an error; a
 *     hrun.locks that cannot be opened is one, too. The caller then goes on without locks.
 * The ledger is advisory: users can lock PUs without using them, use another's token, and remove a hrun.locks that they
 * made. Programs that hrun did not start have no locks.
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
    int waits, place;           /* waits = 1: the process has this place in the queue; if it also has PUs, it has a
                                   second entry */
    int silent;                 /* 1: the process waits, counts as stopped, and is ignored */
    const char *host, *app, *program; /* host of the process; "": unknown, or no definition */
    json_int_t pid, since_s, end_s, N; /* end_s: as predicted; 0: not known. Times are seconds since 1970 */
    json_t *text;               /* owns the strings; its "uses" are [[host, pus], ...]. NULL: a holder without a name */
};

/* Units first..last of host number `host` are locked by holder number `holder`. */
struct hrun_ledger_hold {
    int host, first, last, holder;
};

struct hrun_ledger_list {
    struct hrun_ledger_holder *holders;
    struct hrun_ledger_hold *holds;     /* host by host */
    int nholders, nholds, holders_cap, holds_cap;
};

struct hrun_ledger;

/* Open the ledger in folder dir. Errors: HRUN_ENOENT, HRUN_EINVAL (no folder, or one that others may write and that is
 * not sticky), HRUN_EIO. */
int hrun_ledger_open(const char *dir, struct hrun_ledger **out, struct hrun_error *err);
/* Release all locks. NULL-safe. */
void hrun_ledger_close(struct hrun_ledger *l);
const char *hrun_ledger_dir(const struct hrun_ledger *l);

/* Read the locks of others on these hosts: PUs, and the places in the queue before this process's own place, if any.
 * hosts NULL and n = 0: all hosts and silent holders. Writes nothing. *out is zeroed before, and the caller releases it
 * also after an error. Errors: HRUN_EIO. */
int hrun_ledger_read(struct hrun_ledger *l, char *const *hosts, int n, struct hrun_ledger_list *out,
                     struct hrun_error *err);
void hrun_ledger_list_release(struct hrun_ledger_list *list);

/* Add PUs of a host, "0-3,8", to the PUs wanted by the next hrun_ledger_lock or _queue. host must live until then. */
void hrun_ledger_want(struct hrun_ledger *l, const char *host, const char *pus);
/* Lock the wanted PUs; nothing may be locked before. Uses app, program, N, since_s and end_s of `as`. Result: 1: all
 * are locked; 0: others hold some, none is locked; -1 with *err: none is locked. Errors: HRUN_EIO. */
int hrun_ledger_lock(struct hrun_ledger *l, const struct hrun_ledger_holder *as, struct hrun_error *err);
/* Unlock all, and forget the wanted PUs. */
void hrun_ledger_unlock(struct hrun_ledger *l);
/* Queue for the wanted PUs, without waiting: take a place, or use the present place for these PUs, and touch hrun-XXXX.
 * A full queue gives no place. Errors: HRUN_EIO. */
int hrun_ledger_queue(struct hrun_ledger *l, const struct hrun_ledger_holder *as, struct hrun_error *err);
void hrun_ledger_leave(struct hrun_ledger *l);

/* Append the name of a user, "uid 1234" if the user has no name, or "a user without a name (fuser -v LOCKS)". */
void hrun_ledger_user(const struct hrun_ledger *l, uid_t uid, struct hrun_buf *out);

#endif
