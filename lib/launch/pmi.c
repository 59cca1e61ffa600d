/* pmi.c - the PMI-1 server of a job: in the guard's process, or relayed to other hosts (see pmi.h)
 *
 * Properties of MPICH 4.0's client and Hydra's server that this file depends on:
 *   - A line is "cmd=NAME KEY=VALUE ...", and values have no blanks. Only MPI_Comm_spawn's command has several lines,
 *     from "mcmd=spawn" to "endcmd". Each command has one answer, except abort: the rank waits until it is killed.
 *   - MPICH crashes on a process mapping of more than 674 characters; without a mapping it compares host names.
 *   - If a rank ends without finalize, the others spin for ever, so hrun detects its end by waitpid(2).
 *   - The client shuts the connection down when it finalizes, so that a second MPI program of a rank's script cannot
 *     begin (SIGPIPE, 141), under Hydra as well.
 */
#include "launch/pmi.h"

#include "base/alloc.h"
#include "launch/frames.h"
#include "launch/words.h"

#include <errno.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    LINE_MAX_LEN = 4096,         /* MPICH's own limit is 1024 */
    STORED_MAX = 256 << 20,      /* bytes of all keys and values */
    MAPPING_MAX = 674
};

struct stored_pair {
    char *key, *value;
};

struct rank {
    int fd;                      /* -1: none, or closed */
    int closed;                  /* 1: further data of the rank is ignored */
    struct hrun_buf in, out;     /* in: the line so far; out: data not sent yet */
    int begun, in_barrier, in_spawn;
};

struct hrun_pmi {
    int n, nbarrier;
    struct hrun_pmi_owner owner;
    struct rank *ranks;
    const int *apps;             /* of each rank, the caller's array; NULL: all 0 */
    void *kvs, *names;           /* trees of struct stored_pair, tsearch(3) */
    size_t stored;
};

/* ---------------------------------------------------------------- sending */

static void report_to_owner(struct hrun_pmi *p, int kind, int rank, int status, const char *text)
{
    struct hrun_guard_event ev = { .kind = kind, .rank = rank, .status = status };

    snprintf(ev.text, sizeof ev.text, "%s", text);
    p->owner.report(p->owner.ctx, &ev);
}

static void close_rank(struct rank *k)
{
    hrun_close_fd(&k->fd);
    k->closed = 1;
    hrun_buf_reset(&k->in);
    hrun_buf_reset(&k->out);
}

static void send_unsent(struct rank *k)
{
    ssize_t n = k->out.len ? send(k->fd, k->out.data, k->out.len, MSG_DONTWAIT | MSG_NOSIGNAL) : 0;

    if (n > 0) {
        k->out.len -= (size_t)n;
        memmove(k->out.data, k->out.data + n, k->out.len);
    } else if (n < 0 && errno != EAGAIN && errno != EINTR) {
        close_rank(k);
    }
}

/* Send a line to a rank; fmt has no newline. */
__attribute__((format(printf, 3, 4)))
static void answer_rank(struct hrun_pmi *p, int rank, const char *fmt, ...)
{
    struct rank *k = &p->ranks[rank];
    va_list ap;

    if (k->closed)
        return;
    va_start(ap, fmt);
    hrun_buf_vaddf(&k->out, fmt, ap);
    va_end(ap);
    hrun_buf_addc(&k->out, '\n');
    if (!p->owner.send) {
        send_unsent(k);
    } else {
        p->owner.send(p->owner.ctx, rank, k->out.data, k->out.len);
        hrun_buf_reset(&k->out);
    }
}

/* Report a rank that breaks the protocol to hrun, which ends the job, and ignore it from then on. */
static void refuse_rank_of_pmi(struct hrun_pmi *p, int rank, const char *why, const char *line)
{
    char text[sizeof ((struct hrun_guard_event *)0)->text];

    snprintf(text, sizeof text, "%s%s%.80s%s", why, *line ? ": \"" : "", line, *line ? "\"" : "");
    /* The rank may end as soon as its connection is closed. */
    report_to_owner(p, HRUN_GUARD_REFUSED, rank, 0, text);
    close_rank(&p->ranks[rank]);
}

/* ---------------------------------------------------------------- keys and values */

static int compare_keys(const void *a, const void *b)
{
    const struct stored_pair *x = a, *y = b;

    return strcmp(x->key, y->key);
}

static void free_pair(void *pair)
{
    struct stored_pair *x = pair;

    free(x->key);
    free(x->value);
    free(x);
}

static const char *stored(void *const *tree, const char *key)
{
    struct stored_pair want = { (char *)(uintptr_t)key, NULL };
    struct stored_pair *const *found = tfind(&want, tree, compare_keys);

    return found ? (*found)->value : NULL;
}

/* Store or replace a value. -1: STORED_MAX would be exceeded. */
static int store_pair(struct hrun_pmi *p, void **tree, const char *key, const char *value)
{
    const char *old = stored(tree, key);
    size_t size = p->stored - (old ? strlen(key) + strlen(old) : 0) + strlen(key) + strlen(value);
    struct stored_pair *x, **at;

    if (size > STORED_MAX)
        return -1;
    x = xmalloc(sizeof *x);
    *x = (struct stored_pair){ xstrdup(key), xstrdup(value) };
    at = tsearch(x, tree, compare_keys);
    if (!at)
        hrun_out_of_memory();
    if (*at != x) {
        char *replaced = (*at)->value;

        (*at)->value = x->value;
        x->value = replaced;
        free_pair(x);
    }
    p->stored = size;
    return 0;
}

static int forget_pair(struct hrun_pmi *p, void **tree, const char *key)
{
    struct stored_pair want = { (char *)(uintptr_t)key, NULL };
    struct stored_pair **found = tfind(&want, tree, compare_keys), *x = found ? *found : NULL;

    if (!x)
        return -1;
    tdelete(&want, tree, compare_keys);
    p->stored -= strlen(x->key) + strlen(x->value);
    free_pair(x);
    return 0;
}

/* ---------------------------------------------------------------- commands */

/* The value of a field in a line "KEY=VALUE KEY=VALUE ...", which the caller frees; NULL: there is none. */
static char *field(const char *line, const char *key)
{
    size_t len = strlen(key);

    for (const char *p = line; *p; p += strcspn(p, " "), p += strspn(p, " "))
        if (!strncmp(p, key, len) && p[len] == '=')
            return xstrndup(p + len + 1, strcspn(p + len + 1, " "));
    return NULL;
}

/* Run a command. v: values of the fields that its row names. Result: NULL, or why the rank is refused. */
typedef const char *command(struct hrun_pmi *p, int rank, char *const *v);

static const char FULL[] = "stores more through PMI than hrun has memory for";

static const char *on_init(struct hrun_pmi *p, int rank, char *const *v)
{
    if (strcmp(v[0], "1")) {
        answer_rank(p, rank, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=-1");
        return "is linked with an MPI that speaks another version of PMI than 1";
    }
    p->ranks[rank].begun = 1;
    report_to_owner(p, HRUN_GUARD_CONNECTED, rank, 0, "");
    answer_rank(p, rank, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0");
    return NULL;
}

static const char *on_pmi_abort(struct hrun_pmi *p, int rank, char *const *v)
{
    report_to_owner(p, HRUN_GUARD_ABORT, rank, (int)strtol(v[0], NULL, 10), "");
    return NULL;
}

static const char *on_maxes(struct hrun_pmi *p, int rank, char *const *v)
{
    (void)v;
    answer_rank(p, rank, "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024");
    return NULL;
}

static const char *on_kvsname(struct hrun_pmi *p, int rank, char *const *v)
{
    (void)v;
    answer_rank(p, rank, "cmd=my_kvsname kvsname=kvs_0");
    return NULL;
}

static const char *on_appnum(struct hrun_pmi *p, int rank, char *const *v)
{
    (void)v;
    answer_rank(p, rank, "cmd=appnum appnum=%d", p->apps ? p->apps[rank] : 0);
    return NULL;
}

static const char *on_universe_size(struct hrun_pmi *p, int rank, char *const *v)
{
    (void)v;
    answer_rank(p, rank, "cmd=universe_size size=%d", p->n);
    return NULL;
}

static const char *on_put(struct hrun_pmi *p, int rank, char *const *v)
{
    if (store_pair(p, &p->kvs, v[0], v[1]))
        return FULL;
    answer_rank(p, rank, "cmd=put_result rc=0 msg=success");
    return NULL;
}

static const char *on_get(struct hrun_pmi *p, int rank, char *const *v)
{
    const char *value = stored(&p->kvs, v[0]);

    if (value)
        answer_rank(p, rank, "cmd=get_result rc=0 msg=success value=%s", value);
    else
        answer_rank(p, rank, "cmd=get_result rc=-1 msg=key_not_found value=unknown");
    return NULL;
}

static const char *on_barrier(struct hrun_pmi *p, int rank, char *const *v)
{
    (void)v;
    if (p->ranks[rank].in_barrier)
        return "entered a PMI barrier twice";
    p->ranks[rank].in_barrier = 1;
    if (++p->nbarrier < p->n)
        return NULL;
    p->nbarrier = 0;
    for (int i = 0; i < p->n; i++) {
        p->ranks[i].in_barrier = 0;
        answer_rank(p, i, "cmd=barrier_out");
    }
    return NULL;
}

static const char *on_publish(struct hrun_pmi *p, int rank, char *const *v)
{
    if (stored(&p->names, v[0]))
        answer_rank(p, rank, "cmd=publish_result info=error rc=-1 msg=duplicate_service_%.200s", v[0]);
    else if (store_pair(p, &p->names, v[0], v[1]))
        return FULL;
    else
        answer_rank(p, rank, "cmd=publish_result info=ok rc=0 msg=success");
    return NULL;
}

static const char *on_unpublish(struct hrun_pmi *p, int rank, char *const *v)
{
    if (forget_pair(p, &p->names, v[0]))
        answer_rank(p, rank, "cmd=unpublish_result info=error rc=-1 msg=service_%.200s_not_found", v[0]);
    else
        answer_rank(p, rank, "cmd=unpublish_result info=ok rc=0 msg=success");
    return NULL;
}

static const char *on_lookup(struct hrun_pmi *p, int rank, char *const *v)
{
    const char *port = stored(&p->names, v[0]);

    if (port)
        answer_rank(p, rank, "cmd=lookup_result info=ok rc=0 msg=success port=%s", port);
    else
        answer_rank(p, rank, "cmd=lookup_result info=error rc=-1 msg=service_%.200s_not_found", v[0]);
    return NULL;
}

static const char *on_finalize(struct hrun_pmi *p, int rank, char *const *v)
{
    (void)v;
    p->ranks[rank].begun = 0;
    report_to_owner(p, HRUN_GUARD_FINALIZED, rank, 0, "");
    answer_rank(p, rank, "cmd=finalize_ack");
    return NULL;
}

/* The commands, with the fields that each needs. A rank may send the first two before init. */
enum { BEFORE_INIT = 2, NEEDS_MAX = 2 };
static const struct { const char *name; command *run; const char *needs[NEEDS_MAX]; } commands[] = {
    { "init", on_init, { "pmi_version" } }, { "abort", on_pmi_abort, { "exitcode" } },
    { "get_maxes", on_maxes, { NULL } }, { "get_my_kvsname", on_kvsname, { NULL } },
    { "get_appnum", on_appnum, { NULL } }, { "get_universe_size", on_universe_size, { NULL } },
    { "put", on_put, { "key", "value" } }, { "get", on_get, { "key" } }, { "barrier_in", on_barrier, { NULL } },
    { "publish_name", on_publish, { "service", "port" } }, { "unpublish_name", on_unpublish, { "service" } },
    { "lookup_name", on_lookup, { "service" } }, { "finalize", on_finalize, { NULL } },
};

/* Run one command. Result: NULL, or why the rank is refused. */
static const char *run_command(struct hrun_pmi *p, int rank, const char *line)
{
    autofree char *name = field(line, "cmd");
    char *v[NEEDS_MAX] = { NULL, NULL };
    const char *why = NULL;
    size_t i = 0, n = sizeof commands / sizeof *commands;

    while (i < n && (!name || strcmp(name, commands[i].name)))
        i++;
    if (i == n)
        return "sent an unknown PMI command";
    if (!p->ranks[rank].begun && i >= BEFORE_INIT)
        return "sent a command of PMI before init";
    for (int k = 0; k < NEEDS_MAX && commands[i].needs[k]; k++)
        if (!(v[k] = field(line, commands[i].needs[k])))
            why = "sent a command of PMI without a field that it needs";
    if (!why)
        why = commands[i].run(p, rank, v);
    free(v[0]);
    free(v[1]);
    return why;
}

/* Execute one line. A spawn command (in_spawn) is skipped and answered with an error, so that MPI_Comm_spawn fails. */
static void obey_pmi_line(struct hrun_pmi *p, int rank, const char *line)
{
    struct rank *k = &p->ranks[rank];
    const char *why = NULL;

    if (k->in_spawn || !strncmp(line, "mcmd=", 5)) {
        k->in_spawn = strcmp(line, "endcmd") != 0;
        if (!k->in_spawn)
            answer_rank(p, rank, "cmd=spawn_result rc=-1 msg=hrun_starts_no_further_processes");
    } else if ((why = run_command(p, rank, line))) {
        refuse_rank_of_pmi(p, rank, why, line);
    }
}

void hrun_pmi_unread(struct hrun_pmi *p, int rank)
{
    refuse_rank_of_pmi(p, rank, "asks PMI and does not read the answers", "");
}

void hrun_pmi_feed(struct hrun_pmi *p, int rank, const char *data, size_t len)
{
    struct rank *k = &p->ranks[rank];

    while (len > 0 && !k->closed) {
        const char *end = memchr(data, '\n', len);
        size_t n = end ? (size_t)(end - data) : len;

        hrun_buf_add(&k->in, data, n);
        if (k->in.len > LINE_MAX_LEN) {
            refuse_rank_of_pmi(p, rank, "sent too long a line to PMI", "");
            return;
        }
        data += n + (end != NULL);
        len -= n + (end != NULL);
        if (!end)
            return;
        hrun_buf_addc(&k->in, 0);
        obey_pmi_line(p, rank, k->in.data);
        hrun_buf_reset(&k->in);
        if (k->out.len > HRUN_PMI_UNREAD_MAX)
            hrun_pmi_unread(p, rank);
    }
}

/* ---------------------------------------------------------------- connections */

/* Store the process mapping, such as "(vector,(0,1,4),(1,2,2))": four ranks on node 0, then two on each of nodes 1 and
 * 2. Hosts are numbered in order of appearance. Stores nothing if the text would be too long. */
static void store_mapping(struct hrun_pmi *p, const struct hrun_layout *l)
{
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    autofree int *ids = xcalloc((size_t)l->cluster->nhosts + 1, sizeof *ids);
    int nids = 0, node = -1, count = 0, before = 0;
    int first = 0, nodes = 0;            /* current block: nodes first, first + 1, ..., each with `before` ranks */

    hrun_buf_adds(&b, "(vector");
    for (int r = 0; r <= l->nranks; r++) {
        int *id = r < l->nranks ? &ids[l->ranks[r].host] : NULL;

        if (id && !*id)
            *id = ++nids;
        if (id && *id - 1 == node) {
            count++;
            continue;
        }
        if (nodes && (node != first + nodes || count != before)) {
            hrun_buf_addf(&b, ",(%d,%d,%d)", first, nodes, before);
            nodes = 0;
        }
        if (count && !nodes)
            first = node;
        nodes += count > 0;
        before = count;
        node = id ? *id - 1 : -1;
        count = 1;
    }
    hrun_buf_addf(&b, ",(%d,%d,%d))", first, nodes, before);
    if (b.len <= MAPPING_MAX)
        store_pair(p, &p->kvs, "PMI_process_mapping", b.data);
}

struct hrun_pmi *hrun_pmi_create(const struct hrun_layout *l, const int *apps, const struct hrun_pmi_owner *owner)
{
    struct hrun_pmi *p = xmalloc(sizeof *p);

    *p = (struct hrun_pmi){ .n = l->nranks, .apps = apps, .owner = *owner };
    p->ranks = xcalloc((size_t)p->n, sizeof *p->ranks);
    for (int i = 0; i < p->n; i++) {
        p->ranks[i].fd = -1;
        hrun_buf_init(&p->ranks[i].in);
        hrun_buf_init(&p->ranks[i].out);
    }
    store_mapping(p, l);
    return p;
}

int hrun_pmi_connect(struct hrun_pmi *p, int *fds, struct hrun_error *err)
{
    int pair[2];

    for (int i = 0; i < p->n; i++)
        fds[i] = -1;
    for (int i = 0; i < p->n; i++) {
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
            hrun_fail_errno(err, HRUN_EIO, "cannot make a connection for rank %d (are too few open files allowed, "
                            "ulimit -n?)", i);
            while (i-- > 0)
                hrun_close_fd(&fds[i]);
            return -1;
        }
        p->ranks[i].fd = pair[0];
        fds[i] = pair[1];
    }
    return 0;
}

void hrun_pmi_destroy(struct hrun_pmi *p)
{
    if (!p)
        return;
    for (int i = 0; i < p->n; i++) {
        close_rank(&p->ranks[i]);
        hrun_buf_release(&p->ranks[i].in);
        hrun_buf_release(&p->ranks[i].out);
    }
    tdestroy(p->kvs, free_pair);
    tdestroy(p->names, free_pair);
    free(p->ranks);
    free(p);
}

void hrun_pmi_poll(const struct hrun_pmi *p, struct pollfd *polled)
{
    for (int i = 0; i < p->n; i++)
        polled[i] = (struct pollfd){ p->ranks[i].fd, (short)(POLLIN | (p->ranks[i].out.len ? POLLOUT : 0)), 0 };
}

void hrun_pmi_handle(struct hrun_pmi *p, const struct pollfd *polled)
{
    char data[8192];

    for (int i = 0; i < p->n; i++) {
        struct rank *k = &p->ranks[i];
        if (k->fd >= 0 && (polled[i].revents & POLLOUT))
            send_unsent(k);
        if (k->fd < 0 || !(polled[i].revents & ~POLLOUT))
            continue;
        ssize_t n = recv(k->fd, data, sizeof data, MSG_DONTWAIT);
        if (n > 0)
            hrun_pmi_feed(p, i, data, (size_t)n);
        else if (n == 0 || (errno != EAGAIN && errno != EINTR))
            close_rank(k);
    }
}
