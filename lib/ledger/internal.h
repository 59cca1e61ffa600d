/* internal.h - what the files of lib/ledger share; nobody else includes it */
#ifndef HRUN_LEDGER_INTERNAL_H
#define HRUN_LEDGER_INTERNAL_H

#include "base/units.h"
#include "ledger/ledger.h"

/* Names of entries, and of files that are not entries yet. */
#define LEDGER_FOLDER "hrun-"
#define LEDGER_ENTRY "run-"
#define LEDGER_NEW ".new-"

/* Bytes of an entry with a write lock: the first while it is there, the second until what it claims is granted. Both
 * locks are taken before others can open the file. A lock that is taken later could be refused, as others may hold
 * locks for reading then; nobody can keep its owner from releasing one. */
enum { LEDGER_BYTE_LIVE, LEDGER_BYTE_PENDING };

/* A file of ours with a lock on it. name "" and fd -1: none. */
struct ledger_file {
    int fd;
    char name[128];
    char *text;                 /* of a waiting run: what it says; else NULL */
};

struct hrun_ledger {
    char *dir;
    char *folder;               /* its own folder's name in dir; NULL: not looked for yet */
    int folder_fd;              /* -1: not open */
    uid_t uid;
    int64_t ticket;             /* 0: none yet */
    char host[65];              /* of this process */
    long pid;
    struct ledger_file claim, queue;
    int granted;                /* 1: the claim is */
    double looked_s;            /* when this object last read the ledger, by the monotonic clock; 0: never */
};

/* ---------------------------------------------------------------- entry.c */

/* Append an entry as text. waits: its state. */
void ledger_print(const struct hrun_ledger_entry *e, int waits, int64_t ticket, struct hrun_buf *out);
/* Read text[len], which is changed, into *e (zeroed), its uses in the order that ledger_meet needs. 0; 1: it is no
 * entry, or has more than max uses, *e is released; -1 without memory. */
int ledger_parse(char *text, size_t len, int max, struct hrun_ledger_entry *e);
void ledger_entry_release(struct hrun_ledger_entry *e);
/* By ticket, then user, host and process: below 0, 0, above. */
int ledger_order(const struct hrun_ledger_entry *a, const struct hrun_ledger_entry *b);
/* Has one a PU of the other? */
int ledger_meet(const struct hrun_ledger_entry *a, const struct hrun_ledger_entry *b);

/* ---------------------------------------------------------------- own.c: this user's folder */

/* Find or make it. 0, or -1 with *err. */
int ledger_own_folder(struct hrun_ledger *l, struct hrun_error *err);
/* Put an entry with this text in place, locked. 0, or -1 with *err. */
int ledger_put(struct hrun_ledger *l, const char *text, size_t len, struct ledger_file *out, struct hrun_error *err);
/* Remove it; the lock ends. */
void ledger_remove(struct hrun_ledger *l, struct ledger_file *f);
/* Seconds since 1970 by the clock of the file system; -1 when it does not tell. */
int64_t ledger_now(struct hrun_ledger *l);

/* Open the folder name in dir if it is a real one of user uid on file system dev. -1: it is not; errno 0, or why that
 * is not known. */
int ledger_open_folder(int dir, const char *name, uid_t uid, dev_t dev);

/* Show that what the entry with this descriptor claims is granted. 0, or -1 with errno. */
int ledger_grant(int fd);
/* Has some process a write lock on this byte? -1 with errno where that is not known. */
int ledger_is_locked(int fd, int byte);

#endif
