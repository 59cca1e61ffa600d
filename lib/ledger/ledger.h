/* ledger.h - the PEs that runs of several users have in use, in a folder that all of them can write
 *
 * Purpose: without a scheduler several users start runs on the same hosts. Each run is entered here, so that the next
 * one chooses among the PEs that remain, or waits in a queue.
 * The ledger is a folder, sticky where several users write it (/run/lock; mode 1777 on a shared file system). In it
 * each user has a folder of his own, hrun-UID (hrun-UID.XXXXXX where another user has taken that name), mode 0755, and
 * in that a file of mode 0644 for each claim, run or waiting run.
 * Invariants:
 *   - nobody can change or remove the entry of another user: what is not a real folder of user UID on the file system
 *     of the ledger, or in it not a plain file of the same user, is not looked at; nothing is opened that could block,
 *     and no link is followed. Other names of an entry (hard links) do not matter: those in folders of other users are
 *     not looked at;
 *   - what a user does costs others little: of all folders of one user together at most HRUN_LEDGER_FILES names,
 *     HRUN_LEDGER_USES hosts and four times HRUN_LEDGER_BYTES are read. What is beyond, and what its owner keeps others
 *     from reading, is not looked at, and is its owner's loss. A name in the ledger itself costs one look (stat). Users
 *     are told apart by UID: one with subordinate UIDs (subuid(5)) can cost others as much again with each of them;
 *   - an entry counts while its process holds a write lock on its first byte, which nobody else can take, as that needs
 *     a descriptor for writing. Locks end with the process, or its host: what a killed run leaves does not count, and
 *     the next run of its user removes it. A name appears with its text whole and its locks held, and is never used
 *     twice: an entry without a lock is dead for ever;
 *   - a claim is granted when the lock on its second byte is released. Others can hold locks for reading on what they
 *     can read, leases need its owner: nothing that they do makes an operation on one's own entry wait or fail;
 *   - the same PU is never granted to two runs at a time. A claim is put in place first; then all others are read, and
 *     it is granted only if none of them has one of its PUs. Of two claims to one PU one was put in place first, say A;
 *     B has read the ledger after B was put in place, that is after A was, and A's entry stays from then on to A's end:
 *     B has seen it, and is not granted while A lives. This asks of the file system that what is in place when a folder
 *     is opened is found in it (over NFS: close-to-open consistency, the default), and nothing of clocks, of the order
 *     of tickets, or of how long anything takes: who is stopped in the middle holds up the PUs that it claims, and
 *     nothing else;
 *   - of claims that meet at the same time one goes on: they are ordered by ticket, one more than the greatest that
 *     their process saw at first (as in Lamport's bakery), then by user, host and process. The earlier one waits for a
 *     moment, the later ones withdraw;
 *   - first come, first served: what an earlier ticket waits for is not granted to a later one. A waiting run shows
 *     that it is alive by touching its entry; one that has not for HRUN_LEDGER_SILENT_S, by the clock of the file
 *     system, was stopped and holds nobody up;
 *   - who cannot see all of it (no memory, no descriptors, an error of the file system) is granted nothing.
 * Cooperation is what it rests on: a user can claim what he does not use. `hrun --show-cluster=users` names him.
 */
#ifndef HRUN_LEDGER_H
#define HRUN_LEDGER_H

#include "base/buf.h"
#include "base/error.h"

#include <stdint.h>
#include <sys/types.h>

/* An entry of 10,000 hosts has some 400 KiB; a user with more than so many runs at a time, or with runs on so many
 * hosts in all, needs a scheduler. Linux has at most 8192 PUs. A waiting run touches its entry every second: half a
 * minute allows for a busy file server. */
enum {
    HRUN_LEDGER_BYTES = 1 << 20, HRUN_LEDGER_FILES = 1024, HRUN_LEDGER_USES = 1 << 15, HRUN_LEDGER_PUS = 8192,
    HRUN_LEDGER_SILENT_S = 30
};

struct hrun_ledger_use {
    char *host;                /* its own name, as far as that is known */
    char *pus;                 /* OS numbers, "0-3,8" */
};

enum hrun_ledger_state {
    HRUN_LEDGER_CLAIMS,        /* put in place, not granted yet: that takes milliseconds */
    HRUN_LEDGER_RUNS,
    HRUN_LEDGER_WAITS
};

/* One run. Texts that come from a file hold printable ASCII alone, other characters as '?'. */
struct hrun_ledger_entry {
    enum hrun_ledger_state state;
    int64_t ticket;
    uid_t uid;                 /* the owner of the file */
    char *host;                /* of hrun */
    long pid;
    int64_t since_s, end_s;    /* seconds since 1970: of its start, and predicted of its end, 0: not known */
    char *app, *program;       /* app "": none */
    int64_t N;                 /* 0: not known */
    char *version;             /* of hrun */
    struct hrun_ledger_use *uses; /* one for each host */
    int nuses;
    int silent;                /* 1: it waits, and was stopped; it does not count */
};

/* Live entries but those of the asking ledger object, in the order of their tickets. */
struct hrun_ledger_list {
    struct hrun_ledger_entry *v;
    int n;
    int skipped;               /* files that are no entries, or too many */
};

struct hrun_ledger;

/* Open the ledger in folder dir (or a link to one), in which nothing is made before something is entered, but for this
 * user's folder where an entry has to be compared with the clock of the file system. Errors:
 * HRUN_ENOENT, HRUN_EINVAL (no folder; a folder that all may write and that is not sticky, where everybody could remove
 * the entries of others), HRUN_ENOMEM. */
int hrun_ledger_open(const char *dir, struct hrun_ledger **out, struct hrun_error *err);
/* NULL-safe; withdraws what is entered. */
void hrun_ledger_close(struct hrun_ledger *l);
const char *hrun_ledger_dir(const struct hrun_ledger *l);

/* Read all entries but this object's. The first time it takes the ticket. Dead entries of this user are removed.
 * Errors: HRUN_EIO, HRUN_ENOMEM. */
int hrun_ledger_read(struct hrun_ledger *l, struct hrun_ledger_list *out, struct hrun_error *err);
void hrun_ledger_list_release(struct hrun_ledger_list *list);

/* Claim e->uses for as long as this object is open, or until hrun_ledger_withdraw. Of e these fields count: since_s,
 * end_s, app, program, N, version, uses; host and pid are those of the process that has opened the ledger. Result: 1
 * granted; 0 others have some of it: nothing is claimed, and *seen (may be NULL), which is released before, has what
 * was found; -1 with *err, nothing is claimed.
 * Errors: HRUN_EIO (no room, no locks, a folder that cannot be written), HRUN_EINVAL (something is claimed already),
 * HRUN_ENOMEM. */
int hrun_ledger_claim(struct hrun_ledger *l, const struct hrun_ledger_entry *e, struct hrun_ledger_list *seen,
                      struct hrun_error *err);
/* Let go what is claimed, if anything. After a claim that was granted the next one has a new ticket. */
void hrun_ledger_withdraw(struct hrun_ledger *l);

/* Enter that this run waits for e->uses, in place of what it waited for before; the same again only touches the entry.
 * Errors: those of hrun_ledger_claim. */
int hrun_ledger_queue(struct hrun_ledger *l, const struct hrun_ledger_entry *e, struct hrun_error *err);
/* It does not wait any more. */
void hrun_ledger_leave(struct hrun_ledger *l);

/* Does entry e stand in the way of this object's claim to what both want? 1 unless it is silent, or waits with a later
 * ticket. */
int hrun_ledger_counts(const struct hrun_ledger *l, const struct hrun_ledger_entry *e);

/* Below 0, 0, above: by the names without domain, so that what is one host stands together in a sorted list. */
int hrun_ledger_host_order(const char *a, const char *b);
/* A list of PUs as a set. What does not parse, and PUs that no Linux host has, are in none. */
struct hrun_ledger_pus {
    uint64_t bits[HRUN_LEDGER_PUS / 64];
};
void hrun_ledger_pus_read(const char *text, struct hrun_ledger_pus *out);
/* Is some PU of list b in set a? */
int hrun_ledger_pus_meet(const struct hrun_ledger_pus *a, const char *b);

/* Append the name of a user, "uid 1234" where it has none. */
void hrun_ledger_user(uid_t uid, struct hrun_buf *out);

#endif
