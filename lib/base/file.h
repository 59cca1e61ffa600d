/* file.h - reading, atomic and durable writing, locking, folders for one run
 *
 * Invariants:
 *   - a reader of a file written by hrun_file_replace sees the old or the new content, never a part
 *     (temporary file in the same folder, fsync, rename, fsync of the folder), also over NFS; what a killed
 *     process left of it is removed when the same file is replaced next, a living one's never;
 *   - locks are record locks on a file of their own (fcntl; they work over NFS and end with the process); a lock file
 *     is never removed;
 *   - others cannot write a file or folder made here, whatever mode and umask say; whether the group can is the
 *     umask's choice, for stores that a project shares.
 */
#ifndef HRUN_BASE_FILE_H
#define HRUN_BASE_FILE_H

#include "base/buf.h"
#include "base/error.h"

#include <sys/types.h>

/* The permission bits that a file or folder made here may have. */
enum { HRUN_FILE_MODES = 0775 };

/* What stands behind the last '/' of a path, or all of it. */
const char *hrun_base_name(const char *path);

/* Append the file's content to *out. Files over max bytes are refused. A pipe is read to its end where somebody writes
 * to it, as a shell's <(COMMAND). Errors: HRUN_ENOENT (no such file), HRUN_EINVAL (a folder, a socket, a pipe to which
 * nothing is written, or over max), HRUN_EIO (all else). */
int hrun_file_read(const char *path, size_t max, struct hrun_buf *out, struct hrun_error *err);

/* The same of a regular file in an open folder, which is the one that holds path. No symbolic link is followed, and
 * nothing is waited for. Errors: also HRUN_EIO for a symbolic link. */
int hrun_file_read_in(int folder, const char *path, size_t max, struct hrun_buf *out, struct hrun_error *err);

/* Replace path by data[len], atomically and durably, with permission bits mode (after umask). Where path is
 * a symbolic link, what it points to is replaced. Errors: HRUN_EIO; the old file is untouched and no
 * temporary file is left (only when nothing but the folder's fsync failed does the new content stand; the
 * message says so). */
int hrun_file_replace(const char *path, const void *data, size_t len, mode_t mode, struct hrun_error *err);

/* The same in an open folder, which is the one that holds path. A symbolic link of that name is replaced itself. */
int hrun_file_replace_in(int folder, const char *path, const void *data, size_t len, mode_t mode,
                         struct hrun_error *err);

/* The name of that temporary file is at most this many characters longer than the file's own. */
enum { HRUN_FILE_MARKS = 19 };

/* Append data[len], whole lines, to a file that is written under the caller's lock, durably: 0 means that it is
 * on the disk. An end without newline (its writer was stopped) gets one first, in the same write. To an empty
 * file the folder that holds it, and depth - 1 above that, are synced before.
 * Errors: HRUN_EIO (also when path is no regular file). The file holds what it held before, or, where it could not be
 * cut back (*torn = 1, else 0; torn may be NULL), a part of data behind that. */
int hrun_file_append(const char *path, const void *data, size_t len, int depth, int *torn, struct hrun_error *err);

/* Make the names in a folder durable. 0, also where the file system cannot sync folders; or -1 with errno. */
int hrun_sync_folder(const char *path);

/* 1 if path is a folder or a link to one, else 0. */
int hrun_is_folder(const char *path);

/* Create path and its missing parents. An existing folder is no error. Errors: HRUN_EIO. */
int hrun_mkdirs(const char *path, mode_t mode, struct hrun_error *err);

/* Open (O_PATH) the folder that holds path below the open folder top, whatever others change meanwhile: no symbolic
 * link is followed. path is relative and has no component ".."; make = 1: missing folders are made. Result: a file
 * descriptor (close-on-exec); -1 with errno, ELOOP for a symbolic link, and *len: how much of path the fault is
 * about. */
int hrun_open_below(int top, const char *path, int make, size_t *len);

/* Open (create if need be) the lock file at path and wait until the lock is ours. Who cannot write the file cannot read
 * it either, and so cannot hold it. Result: a file descriptor (close-on-exec) to be given to hrun_unlock, or -1
 * (HRUN_EIO). Locks belong to the process: they exclude other processes, not other threads, and a second hrun_lock of
 * the same file by one process shares its fate. */
int hrun_lock(const char *path, struct hrun_error *err);
/* The same without waiting, for a lock that is held for long: it belongs to the descriptor, and lasts until this
 * process and all that it forked without executing a program have closed it. Errors: also HRUN_EBUSY, whose text is who
 * has it ("process 123 on node1"). */
int hrun_lock_try(const char *path, struct hrun_error *err);
/* The same for a lock that many processes share, or one has alone. *fd is -1, and becomes the descriptor to be given to
 * hrun_unlock, or is that of such a lock, which changes. Errors: HRUN_EIO, HRUN_EBUSY; *fd and its lock stay as they
 * are. */
int hrun_lock_share(const char *path, int alone, int *fd, struct hrun_error *err);
void hrun_unlock(int fd);

/* Can nobody but root and this user rename what is in the open folder? A name proves nothing where others can. */
int hrun_keeps_names(int dir);

/* A private folder (0700) for one run, "BASE/hrun.UID.PID.START.PLACE.XXXXXX", base being NULL for $TMPDIR or /tmp.
 * Folders of the same user in BASE whose process is gone (an earlier hrun was killed) are removed first, unless other
 * users can rename what is in BASE.
 * START, the time when the process started, and PLACE, which stands for host, boot and PID name space, tell which
 * process made it: on a shared BASE a folder of another host or container is left alone, and a PID used again does not
 * keep a folder alive.
 * Result: its absolute path, which the caller frees; NULL with HRUN_EIO. */
char *hrun_rundir_create(const char *base, struct hrun_error *err);

/* Remove a folder and all in it, never following symbolic links. NULL-safe; what is gone already is fine. */
void hrun_remove_tree(const char *path);

/* Write all of data[len] to fd, over interrupted and partial writes. 0, or -1 with errno. */
int hrun_write_all(int fd, const void *data, size_t len);

/* ---------------------------------------------------------------- home
 *
 * Where a user's own files are
 *
 * Purpose: one rule for all folders below the home folder, also where HOME is not set, as for cron and services.
 */

/* "VALUE/BELOW", VALUE being that of the variable xdg (NULL: none), else "HOME/IN_HOME/BELOW". The home folder is
 * $HOME, else that of the user database. Values that are no absolute paths do not count, as the XDG base directory
 * specification says. Nothing need exist. Result: the path, which the caller frees; NULL with HRUN_ENOENT (the user has
 * no home folder). */
char *hrun_user_path(const char *xdg, const char *in_home, const char *below, struct hrun_error *err);

/* ---------------------------------------------------------------- installed
 *
 * Where this hrun is installed
 *
 * Purpose: programs and files that are installed together find each other wherever that is, in a build tree too.
 */

/* The folder whose bin/ and lib/ this code was loaded from: that of libhrun.so where it runs in it, else of the running
 * program; without symbolic links. The caller frees it. NULL: unknown. */
char *hrun_installed(void);

/* Path of a library of ours that is preloaded: PREFIX/bin/hrun -> PREFIX/lib/hrun/NAME, and the same below build/. The
 * caller frees it. NULL: there is none, or it cannot stand in LD_PRELOAD. */
char *hrun_installed_library(const char *name);

/* Path of a program of ours that is started on hosts, in the same folder. The caller frees it. Errors: HRUN_ENOENT. */
char *hrun_installed_tool(const char *name, struct hrun_error *err);

#endif
