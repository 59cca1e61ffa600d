/* scratch.c - scratch folders for runs; see scratch.h */
#include "session/scratch.h"

#include "base/alloc.h"
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

static const char KEPT[] = "hrun-failed-";

/* Files over COPIED_MAX bytes, files after COPIED_ALL bytes, and folders after NAMES_MAX names are linked. Input decks
 * are text of some KiB; copying restart files and meshes for each of a hundred runs would take too long. */
enum { COPIED_MAX = 1 << 20, COPIED_ALL = 32 << 20, NAMES_MAX = 1000 };
/* If the working folder has more names, there are no scratch folders: copying takes longer than many runs. */
enum { NAMES_MOST = 5000 };

/* ------------------------------------------------------------------ location */

/* 1 if the folder exists on all other hosts, else 0. */
static int is_seen_by_all(const struct context *c, char *folder)
{
    const struct hrun_cluster *cl = c->cluster;
    char *const argv[] = { "/bin/sh", "-c", "test -d \"$0\"", folder, NULL };
    struct hrun_remote what = { .argv = argv, .mca = &c->set->job.mca, .timeout_s = 20, .missing = "" };
    size_t n = (size_t)cl->nhosts;
    autofree char **hosts = xcalloc(n + 1, sizeof *hosts);
    autofree struct hrun_buf *outputs = xcalloc(n + 1, sizeof *outputs);
    autofree struct hrun_error *errors = xcalloc(n + 1, sizeof *errors);
    int others = 0, yes = 1;

    for (int i = 0; i < cl->nhosts; i++) {
        hrun_buf_init(&outputs[i]);
        if (!cl->hosts[i].is_local)
            hosts[others++] = cl->hosts[i].name;
    }
    if (others)
        yes = !hrun_remote_run(&what, hosts, others, outputs, errors, NULL);
    for (int i = 0; i < cl->nhosts && yes; i++)
        yes = errors[i].code == HRUN_OK;
    for (int i = 0; i < cl->nhosts; i++)
        hrun_buf_release(&outputs[i]);
    return yes;
}

/* 1 if scratch folders can be made in base, else 0: base must be on the file system of home, other users must not be
 * able to rename the folders, and all hosts must see them. */
static int serves_as_base(const struct context *c, const char *base, const char *home)
{
    int fd = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct stat a, b;
    int good = fd >= 0 && !fstat(fd, &a) && !stat(home, &b) && a.st_dev == b.st_dev &&
               (!strcmp(base, home) || hrun_keeps_names(fd));
    autofree char *folder = good ? hrun_rundir_create(base, NULL) : NULL;
    int yes = folder && (c->cluster->platform || is_seen_by_all(c, folder));

    hrun_remove_tree(folder);
    if (fd >= 0)
        close(fd);
    return yes;
}

static char *working_folder(const struct context *c, struct hrun_error *err)
{
    const char *dir = settings_folder(c->set);
    char *path = realpath(dir, NULL);

    if (!path)
        hrun_fail_errno(err, HRUN_EIO, "cannot find the working directory '%s'", dir);
    return path;
}

static int has_many_names(const char *folder)
{
    DIR *dir = opendir(folder);
    int n = 0;

    while (dir && n <= NAMES_MOST && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n > NAMES_MOST;
}

int scratch_find(struct scratch *s, const struct context *c, int keep, char **why, struct hrun_error *err)
{
    char *home, *slash;

    *s = (struct scratch){ .copy = c->app->run.scratch == HRUN_APP_SCRATCH_COPY };
    *why = NULL;
    if (c->app->run.scratch == HRUN_APP_SCRATCH_NONE)
        return 0;
    home = working_folder(c, err);
    if (!home)
        return -1;
    if (has_many_names(home)) {
        *why = hrun_strf("runs are made in %s itself: it holds more than %d names, too many to put into folders for "
                         "runs", home, (int)NAMES_MOST);
        free(home);
        return 0;
    }
    s->home = home;
    s->base = xstrdup(home);
    s->kept = keep ? hrun_strf("%s/%s%s", home, KEPT, c->app->name) : NULL;
    slash = strrchr(s->base, '/');
    if (slash > s->base)
        *slash = 0;
    /* No folders are made in the root folder. */
    if (slash == s->base || !serves_as_base(c, s->base, home)) {
        *slash = '/';
        if (!serves_as_base(c, home, home)) {
            *why = hrun_strf("runs are made in %s itself: no folder for them can be made there that all hosts see",
                             home);
            free(home);
            s->home = NULL;
        }
    }
    return 0;
}

int scratch_for_user(struct scratch *s, const struct context *c, struct hrun_error *err)
{
    char *home = working_folder(c, err);

    *s = (struct scratch){ 0 };
    if (!home)
        return -1;
    s->users = hrun_strf("%s/hrun-%s.XXXXXX", home, c->app->name);
    s->home = home;
    return 0;
}

void scratch_release(struct scratch *s)
{
    free(s->users);
    free(s->home);
    free(s->base);
    free(s->kept);
    *s = (struct scratch){ 0 };
}

char *scratch_create(const struct scratch *s, struct hrun_error *err)
{
    char *path;

    if (!s->users)
        return hrun_rundir_create(s->base, err);
    path = xstrdup(s->users);
    if (mkdtemp(path))
        return path;
    hrun_fail_errno(err, HRUN_EIO, "cannot make a folder for the run in '%s'", s->home);
    free(path);
    return NULL;
}

/* ------------------------------------------------------------------ contents */

/* State of copying names between the working folder and the folder of a run. */
struct transfer {
    const struct scratch *s;
    const char *folder;                 /* of the run */
    const struct hrun_strvec *inputs;   /* for scratch_return: names that are not moved */
    struct hrun_strvec below;           /* subfolders to visit, relative to either folder: "" or "a/b/" */
    size_t names;
    off_t copied;
};

/* Call `place` for each name in each of t->below in `top`; `place` may append to t->below. */
static int walk_folders(struct transfer *t, const char *top,
                        int (*place)(struct transfer *t, const char *below, const char *name, struct hrun_error *err),
                        struct hrun_error *err)
{
    int rc = 0;

    hrun_strvec_push(&t->below, "");
    for (size_t i = 0; i < t->below.n && !rc; i++) {
        autofree char *path = hrun_strf("%s/%s", top, t->below.v[i]);
        DIR *dir = opendir(path);
        struct dirent *e;

        while (dir && !rc && (e = readdir(dir)))
            if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
                rc = place(t, t->below.v[i], e->d_name, err);
        if (dir)
            closedir(dir);
    }
    hrun_strvec_release(&t->below);
    return rc;
}

static int copy_bytes(int in, int out)
{
    char chunk[1 << 16];
    ssize_t n;

    while ((n = read(in, chunk, sizeof chunk)) > 0 || (n < 0 && errno == EINTR))
        if (n > 0 && hrun_write_all(out, chunk, (size_t)n))
            return -1;
    return n < 0 ? -1 : 0;
}

/* Copy a file; with clone_only = 1 only if the file system can share its blocks. Result: 0; 1: no copy exists, as the
 * file cannot be read or cloned; -1 with errno. */
static int copy_file(const char *from, const char *to, const struct stat *st, int clone_only)
{
    const struct timespec times[2] = { st->st_atim, st->st_mtim };
    int in = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK), out, rc;

    if (in < 0)
        return 1;
    out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, st->st_mode & 0777);
    rc = out < 0 ? -1 : !ioctl(out, FICLONE, in) ? 0 : clone_only ? 1 : copy_bytes(in, out);
    if (!rc && (fchmod(out, st->st_mode & 0777) || futimens(out, times)))
        rc = -1;
    if (out >= 0 && close(out) && !rc)
        rc = -1;
    if (out >= 0 && rc)
        unlink(to);
    close(in);
    return rc;
}

/* 1 if hrun made this folder in the working folder (for instance `to`), else 0. */
static int is_own_folder(const char *name, const char *to)
{
    char mine[32];

    snprintf(mine, sizeof mine, "hrun.%ld.", (long)geteuid());
    return !strncmp(name, mine, strlen(mine)) || !strncmp(name, KEPT, sizeof KEPT - 1) ||
           !strcmp(name, strrchr(to, '/') + 1);
}

/* Copy or link a name of the working folder in the run's folder. */
static int place_name(struct transfer *t, const char *below, const char *name, struct hrun_error *err)
{
    autofree char *from = hrun_strf("%s/%s%s", t->s->home, below, name);
    autofree char *to = hrun_strf("%s/%s%s", t->folder, below, name);
    struct stat st, there;
    int rc = 1;

    if (!*below && is_own_folder(name, t->folder))
        return 0;
    t->names++;
    if (lstat(from, &st)) {
        rc = 0;                    /* removed since readdir */
    } else if (t->s->users) {
        /* If the folder exists because of inputs in it, link its other names one by one. */
        if (S_ISDIR(st.st_mode) && !lstat(to, &there) && S_ISDIR(there.st_mode)) {
            hrun_strvec_pushf(&t->below, "%s%s/", below, name);
            rc = 0;
        }
    } else if (S_ISDIR(st.st_mode) && (t->s->copy || (t->names <= NAMES_MAX && name[0] != '.'))) {
        rc = mkdir(to, 0700) && errno != EEXIST ? -1 : 0;
        if (!rc)
            hrun_strvec_pushf(&t->below, "%s%s/", below, name);
    } else if (!stat(from, &st) && S_ISREG(st.st_mode)) {
        int small = st.st_size <= COPIED_MAX && t->copied + st.st_size <= COPIED_ALL;

        rc = copy_file(from, to, &st, !t->s->copy && !small);
        t->copied += rc ? 0 : st.st_size;
    }
    if (rc > 0)
        rc = symlink(from, to);
    if (rc >= 0 || errno == EEXIST)     /* EEXIST: an input that hrun wrote */
        return 0;
    return hrun_fail_errno(err, HRUN_EIO, "cannot put '%s%s' into '%s', the folder of a run (scratch: none in the "
                           "definition does without it)", below, name, t->folder);
}

int scratch_fill(const struct scratch *s, const char *folder, struct hrun_error *err)
{
    struct transfer t = { .s = s, .folder = folder };

    return walk_folders(&t, s->home, place_name, err);
}

/* Move a name of the run's folder to the working folder, unless it is an input or a link made by place_name. */
static int return_name(struct transfer *t, const char *below, const char *name, struct hrun_error *err)
{
    autofree char *from = hrun_strf("%s/%s%s", t->folder, below, name);
    autofree char *to = hrun_strf("%s/%s%s", t->s->home, below, name);
    char link[4096];
    struct stat st, there;
    ssize_t n = readlink(from, link, sizeof link);
    int stays = n == (ssize_t)strlen(to) && !memcmp(link, to, (size_t)n);

    for (size_t i = 0; i < t->inputs->n; i++)
        stays |= !strcmp(from + strlen(t->folder) + 1, t->inputs->v[i]);
    if (stays || lstat(from, &st))
        return 0;
    if (S_ISDIR(st.st_mode) && !lstat(to, &there) && S_ISDIR(there.st_mode))
        hrun_strvec_pushf(&t->below, "%s%s/", below, name);
    else if (rename(from, to))
        return hrun_fail_errno(err, HRUN_EIO, "cannot move '%s%s', which the run has written, from '%s' to '%s'", below,
                               name, t->folder, t->s->home);
    return 0;
}

int scratch_return(const struct scratch *s, const char *folder, const struct hrun_strvec *inputs,
                   struct hrun_error *err)
{
    struct transfer t = { .s = s, .folder = folder, .inputs = inputs };

    if (walk_folders(&t, folder, return_name, err))
        return -1;
    hrun_remove_tree(folder);
    return 0;
}

/* ------------------------------------------------------------------ failed runs */

/* Write a file in a kept folder, unless one of that name exists. */
static void write_kept_output(const char *folder, const char *name, const struct hrun_buf *text)
{
    autofree char *path = hrun_strf("%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);

    if (fd >= 0 && !hrun_write_all(fd, text->data, text->len))
        fchmod(fd, 0644);
    if (fd >= 0)
        close(fd);
}

int scratch_keep(const struct scratch *s, const char *folder, const struct hrun_buf *output,
                 const struct hrun_buf *errors)
{
    if (!s->kept)
        return 0;
    write_kept_output(folder, "hrun.stdout", output);
    write_kept_output(folder, "hrun.stderr", errors);
    hrun_remove_tree(s->kept);
    return !rename(folder, s->kept);
}
