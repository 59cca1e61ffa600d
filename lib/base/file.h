/* file.h - reading, atomic and durable writing, locking, folders for one run
 *
 * Invariants:
 *   - a reader of a file written by hrun_file_replace sees the old or the new content, never a part
 *     (temporary file in the same folder, fsync, rename, fsync of the folder), also over NFS; the temporary file of a
 *     killed process is removed when the same file is replaced next, that of a living process never;
 *   - locks are record locks on a separate file (fcntl; they work over NFS and end with the process); a lock file is
 *     never removed;
 *   - other users cannot write a file or folder made here, for any mode and umask; the umask decides whether the group
 *     can, for stores that a project shares.
 */
#ifndef HRUN_BASE_FILE_H
#define HRUN_BASE_FILE_H

#include "base/buf.h"
#include "base/error.h"

#include <sys/types.h>

/* The permission bits that a file or folder made here may have. */
enum { HRUN_FILE_MODES = 0775 };

/* The part of a path after the last '/', or all of it. */
const char *hrun_base_name(const char *path);

/* Append the file's content to *out. Files over max bytes are refused. A pipe with a writer, such as a shell's
 * <(COMMAND), is read to its end. Errors: HRUN_ENOENT (no such file), HRUN_EINVAL (a folder, a socket, a pipe without
 * a writer, or over max), HRUN_EIO (all else). */
int hrun_file_read(const char *path, size_t max, struct hrun_buf *out, struct hrun_error *err);

/* hrun_file_read of a regular file in the open folder, which must be the folder of path. Follows no symbolic link, and
 * never waits. Errors: also HRUN_EIO for a symbolic link. */
int hrun_file_read_in(int folder, const char *path, size_t max, struct hrun_buf *out, struct hrun_error *err);

/* Replace path by data[len], atomically and durably, with permission bits mode (after umask). If path is a symbolic
 * link, its target is replaced. Errors: HRUN_EIO; the old file is untouched and no temporary file is left. If only the
 * fsync of the folder failed, the file has the new content, and the message contains this. */
int hrun_file_replace(const char *path, const void *data, size_t len, mode_t mode, struct hrun_error *err);

/* hrun_file_replace in an open folder, which must be the folder of path. A symbolic link itself is replaced. */
int hrun_file_replace_in(int folder, const char *path, const void *data, size_t len, mode_t mode,
                         struct hrun_error *err);

/* The temporary file's name is at most this many characters longer than the file's own. */
enum { HRUN_FILE_MARKS = 19 };

/* Append data[len], whole lines, durably to a file; the caller has the file's lock. 0: the data is on the disk. If the
 * last line has no newline (its writer was killed), the write begins with a newline. For an empty file, the folder and
 * depth - 1 folders above are synced before.
 * Errors: HRUN_EIO (also if path is not a regular file). The file then has its old content. If the file could not be
 * truncated, a part of data follows, and *torn = 1, else 0; torn may be NULL. */
int hrun_file_append(const char *path, const void *data, size_t len, int depth, int *torn, struct hrun_error *err);

/* 1 if path is a folder or a link to one, else 0. */
int hrun_is_folder(const char *path);

/* Create path and its missing parents. An existing folder is no error. Errors: HRUN_EIO. */
int hrun_mkdirs(const char *path, mode_t mode, struct hrun_error *err);

/* Open (O_PATH) the folder of path below the open folder top, without following symbolic links, even if others change
 * folders during the call. path is relative and has no component ".."; make = 1: missing folders are created. Result: a
 * close-on-exec descriptor; -1 with errno, ELOOP for a symbolic link, and *len: length of the faulty part of path. */
int hrun_open_below(int top, const char *path, int make, size_t *len);

/* Open or create the lock file at path, and wait until this process has the lock. Users who cannot write the file
 * cannot read it, and so cannot lock it. Result: a close-on-exec descriptor for hrun_unlock, or -1 (HRUN_EIO). Locks
 * belong to the process: they exclude other processes, not other threads, and unlocking one of two locks of a process
 * on one file ends both. */
int hrun_lock(const char *path, struct hrun_error *err);
/* hrun_lock without waiting, for a long time: the lock belongs to the descriptor, and lasts until this process and its
 * forked children that execute no program have closed it. Errors: also HRUN_EBUSY, whose text is the holder
 * ("process 123 on node1"). */
int hrun_lock_try(const char *path, struct hrun_error *err);
/* Take a shared (alone = 0) or an exclusive lock, without waiting. *fd: -1, then the new descriptor for hrun_unlock; or
 * the descriptor of a lock of this function, which is converted. Errors: HRUN_EIO, HRUN_EBUSY; *fd is unchanged. */
int hrun_lock_share(const char *path, int alone, int *fd, struct hrun_error *err);
void hrun_unlock(int fd);

/* 1 if only root and this user can rename files in the open folder. 0: the names in it cannot be trusted. */
int hrun_keeps_names(int dir);

/* A private folder (0700) for one run, "BASE/hrun.UID.PID.START.PLACE.XXXXXX", base NULL: $TMPDIR or /tmp. Folders of
 * the same user in BASE whose process is gone (an earlier hrun was killed) are removed first, unless other users can
 * rename files in BASE.
 * START (start time of the process) and PLACE (host, boot and PID name space) identify the owning process: on a
 * shared BASE, folders of other hosts and containers stay; a reused PID does not keep a folder. Result: its absolute
 * path, which the caller frees; NULL with HRUN_EIO. */
char *hrun_rundir_create(const char *base, struct hrun_error *err);

/* Remove a folder and all in it, without following symbolic links. NULL and missing files are no error. */
void hrun_remove_tree(const char *path);

/* Write all of data[len] to fd, continuing after interrupted and partial writes. 0, or -1 with errno. */
int hrun_write_all(int fd, const void *data, size_t len);

/* ---------------------------------------------------------------- home
 *
 * Paths of a user's own files
 *
 * Purpose: one rule for all folders below the home folder, also without HOME, as in cron jobs and services.
 */

/* "VALUE/BELOW" with the value of variable xdg (NULL: none), else "HOME/IN_HOME/BELOW". The home folder is $HOME, else
 * that of the user database. Values that are not absolute paths are ignored, as the XDG base directory specification
 * demands. The path need not exist. Result: the path, which the caller frees; NULL with HRUN_ENOENT (the user has no
 * home folder). */
char *hrun_user_path(const char *xdg, const char *in_home, const char *below, struct hrun_error *err);

/* ---------------------------------------------------------------- installed
 *
 * The folders of this installation of hrun
 *
 * Purpose: programs and files that are installed together find each other in any prefix, and in a build tree.
 */

/* The folder with the bin/ and lib/ from which this code was loaded: the folder of libhrun.so if libhrun.so has this
 * code, else of the running program; symbolic links resolved. The caller frees it. NULL: unknown. */
char *hrun_installed(void);

/* Path of a library that hrun preloads: PREFIX/lib/hrun/NAME for PREFIX/bin/hrun, and the same below build/. The
 * caller frees it. NULL: there is none, or its path has characters that LD_PRELOAD does not allow. */
char *hrun_installed_library(const char *name);

/* Path of a program that hrun starts on hosts: PREFIX/lib/hrun/NAME. The caller frees it. Errors: HRUN_ENOENT. */
char *hrun_installed_tool(const char *name, struct hrun_error *err);

#endif
