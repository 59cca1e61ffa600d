/* store.c - the data folder: its path, file names, folders and locks; see store.h */
#include "base/alloc.h"
#include "store/internal.h"
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Characters of the longest file name that are reserved behind a signature: for ".recent" and the suffix of a temporary
 * file. */
enum { NAME_ROOM = 32 };
_Static_assert(NAME_ROOM >= sizeof ".recent" - 1 + HRUN_FILE_MARKS, "room for the longest name");

struct hrun_store *hrun_store_open(const char *data, struct hrun_error *err)
{
    struct hrun_store *s = xcalloc(1, sizeof *s);
    struct hrun_error why = { 0 };
    autofree char *cwd = NULL;

    s->held = -1;
    /* A folder named by the user may be shared. The XDG specification asks for 0700 in a home. */
    s->mode = 0777;
    if (!data || !*data)
        data = getenv("HRUN_DATA");
    if (data && data[0] == '/') {
        s->dir = xstrdup(data);
    } else if (data && *data) {
        /* The process may change its working directory later. */
        cwd = getcwd(NULL, 0);
        if (cwd)
            s->dir = hrun_strf("%s/%s", strcmp(cwd, "/") ? cwd : "", data);
        else
            hrun_fail(err, HRUN_EINVAL, "the data folder '%s' is relative and the present folder is gone: "
                      "give an absolute path", data);
    } else {
        s->mode = 0700;
        s->dir = hrun_user_path("XDG_DATA_HOME", ".local/share", "hrun", &why);
        if (!s->dir)
            hrun_fail(err, HRUN_ENOENT, "no folder for measurements: %s; set HRUN_DATA to a folder", why.text);
    }
    if (s->dir)
        return s;
    hrun_store_close(s);
    return NULL;
}

void hrun_store_close(struct hrun_store *s)
{
    if (!s)
        return;
    hrun_store_end(s);
    free(s->dir);
    free(s);
}

const char *hrun_store_dir(const struct hrun_store *s)
{
    return s->dir;
}

int hrun_store_make_folder(const struct hrun_store *s, const char *name, struct hrun_error *err)
{
    autofree char *path = hrun_strf("%s/%s", s->dir, name);

    return hrun_mkdirs(path, s->mode, err);
}

/* ---------------------------------------------------------------- names */

static int is_store_name(const char *s, size_t len)
{
    if (!len || len > NAME_MAX - NAME_ROOM)
        return 0;
    for (size_t i = 0; i < len; i++) {
        int low = (s[i] >= 'a' && s[i] <= 'z') || (s[i] >= '0' && s[i] <= '9');

        if (!low && (i == 0 || !((s[i] >= 'A' && s[i] <= 'Z') || s[i] == '.' || s[i] == '_' || s[i] == '-')))
            return 0;
    }
    return 1;
}

int store_check_name(const char *what, const char *name, struct hrun_error *err)
{
    if (name && is_store_name(name, strlen(name)))
        return 0;
    return hrun_fail(err, HRUN_EINVAL, "'%.100s' cannot name %s: it must be a-z or 0-9, then letters, "
                     "digits, '.', '_' or '-', at most %d in all", name ? name : "", what,
                     NAME_MAX - NAME_ROOM);
}

char *store_folder(const struct hrun_store *s, const char *app, struct hrun_error *err)
{
    return store_check_name("an application", app, err) ? NULL : hrun_strf("%s/profiles/%s", s->dir, app);
}

char *store_path(const struct hrun_store *s, const char *app, const char *signature, const char *suffix,
                 struct hrun_error *err)
{
    return store_check_name("an application", app, err) || store_check_name("a sub-cluster signature", signature, err)
           ? NULL : hrun_strf("%s/profiles/%s/%s%s", s->dir, app, signature, suffix);
}

/* ---------------------------------------------------------------- writing */

int store_holds(const struct hrun_store *s, const char *app, const char *signature)
{
    return s->held >= 0 && !strcmp(s->held_app, app) && !strcmp(s->held_signature, signature);
}

/* The path of a lock file. Creates its folder. */
static char *lock_path(const struct hrun_store *s, const char *app, const char *signature, const char *suffix,
                       struct hrun_error *err)
{
    autofree char *dir = store_folder(s, app, err);
    char *lock = dir ? store_path(s, app, signature, suffix, err) : NULL;

    if (!lock || !hrun_mkdirs(dir, s->mode, err))
        return lock;
    free(lock);
    return NULL;
}

char *hrun_store_calibration_lock(const struct hrun_store *s, const char *app, const char *signature,
                                  struct hrun_error *err)
{
    char *path = lock_path(s, app, signature, ".calibrate.lock", err);

    if (!path)
        store_advise(err, "nothing is measured");
    return path;
}

int store_lock(const struct hrun_store *s, const char *app, const char *signature, struct hrun_error *err)
{
    autofree char *lock = store_holds(s, app, signature) ? NULL : lock_path(s, app, signature, ".lock", err);

    return lock ? hrun_lock(lock, err) : store_holds(s, app, signature) ? s->held : -1;
}

void store_unlock(const struct hrun_store *s, int lock)
{
    if (lock != s->held)
        hrun_unlock(lock);
}

int hrun_store_begin(struct hrun_store *s, const char *app, const char *signature, struct hrun_error *err)
{
    if (s->held >= 0)
        return hrun_fail(err, HRUN_EINVAL, "the profile of %s on %s is locked already: lock one profile at a time",
                         s->held_app, s->held_signature);
    s->held = store_lock(s, app, signature, err);
    if (s->held < 0)
        return store_advise(err, "nothing is changed");
    s->held_app = xstrdup(app);
    s->held_signature = xstrdup(signature);
    return 0;
}

void hrun_store_end(struct hrun_store *s)
{
    hrun_unlock(s->held);
    free(s->held_app);
    free(s->held_signature);
    s->held = -1;
    s->held_app = s->held_signature = NULL;
}

int store_advise(struct hrun_error *err, const char *kept)
{
    static const struct { int sys; const char *advice; } known[] = {
        { ENOSPC, "free some space there" },
        { EDQUOT, "your quota there is used up: free some space" },
        { EFBIG,  "raise the limit on the size of files (ulimit -f)" },
        { EROFS,  "the file system is read-only" },
        { EACCES, "make the folder writable for you" },
        { EPERM,  "make the folder writable for you" },
        { ENOLCK, "the file system gives no locks" },
    };
    const char *advice = NULL;
    size_t len;

    if (!err || err->code != HRUN_EIO)
        return -1;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].sys == err->sys)
            advice = known[i].advice;
    len = strlen(err->text);
    snprintf(err->text + len, sizeof err->text - len, "; %s: %s%sname another data folder with HRUN_DATA",
             kept, advice ? advice : "", advice ? ", or " : "");
    return -1;
}

/* ---------------------------------------------------------------- listing */

/* The length of a name without its suffix, or 0 if the name has none of the suffixes. */
static size_t stem_length(const char *name, const char *const *suffixes)
{
    size_t len = strlen(name);

    for (; *suffixes; suffixes++)
        if (len > strlen(*suffixes) && !strcmp(name + len - strlen(*suffixes), *suffixes))
            return len - strlen(*suffixes);
    return 0;
}

/* Append the names in a folder, sorted, without duplicates. suffixes: only names that end in one of them, which is cut
 * off. NULL: only names of folders. A missing folder has no names. */
static int list_names(const char *path, const char *const *suffixes, struct hrun_strvec *out,
                      struct hrun_error *err)
{
    struct dirent *e;
    DIR *d = opendir(path);
    size_t first = out->n;
    int why;

    if (!d)
        return errno == ENOENT ? 0 : hrun_fail_errno(err, HRUN_EIO, "cannot list %s", path);
    while ((void)(errno = 0), (e = readdir(d))) {
        /* Network file systems may not report the type. Any name may then be a folder. */
        int may_be_folder = e->d_type == DT_DIR || e->d_type == DT_UNKNOWN || e->d_type == DT_LNK;
        size_t len = suffixes ? stem_length(e->d_name, suffixes) : may_be_folder ? strlen(e->d_name) : 0;

        if (is_store_name(e->d_name, len))
            hrun_strvec_pushf(out, "%.*s", (int)len, e->d_name);
    }
    why = errno;
    closedir(d);
    hrun_strvec_sort(out, first);
    errno = why;
    return why ? hrun_fail_errno(err, HRUN_EIO, "cannot list %s", path) : 0;
}

int hrun_store_apps(struct hrun_store *s, struct hrun_strvec *out, struct hrun_error *err)
{
    autofree char *path = hrun_strf("%s/profiles", s->dir);

    return list_names(path, NULL, out, err);
}

int hrun_store_signatures(struct hrun_store *s, const char *app, struct hrun_strvec *out,
                          struct hrun_error *err)
{
    static const char *const suffixes[] = { ".log", ".yaml", NULL };
    autofree char *path = s ? store_folder(s, app, err) : NULL;

    return !s ? 0 : path ? list_names(path, suffixes, out, err) : -1;
}
