/* internal.h - what the files of lib/launch and its engines share, with the life of a job at the end */
#ifndef HRUN_LAUNCH_INTERNAL_H
#define HRUN_LAUNCH_INTERNAL_H

#include "base/buf.h"
#include "base/error.h"
#include "base/units.h"
#include "launch/guard.h"
#include "launch/launch.h"
#include "layout/layout.h"
#include "topo/topo.h"

#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

/* ---- shimpath: where hrun-shim is */

/* Absolute path of hrun-shim: beside the running program (hrun and hrun-calibrate are installed with it), else, for
 * other programs that use this library, in PATH. It has to be at the same path on all hosts of a job. The caller frees
 * it. NULL with HRUN_EENGINE: it is in neither place. */
char *hrun_shim_path(struct hrun_error *err);

/* The same for another program that is installed with hrun; NULL: it is in neither place. */
char *hrun_beside_path(const char *name);

/* ---- command_output: what a short command prints */

/* Append what argv[0], a path, prints with these words; errors = 1: on standard error, too. It reads /dev/null, and its
 * status does not count. It may be idle for 10 s between two pieces of output, as a folder on a network that is down
 * must not hang hrun, and compute for a minute. Errors: HRUN_EIO (it cannot be started or does not answer). */
int hrun_command_output(char *const *argv, int errors, struct hrun_buf *out, struct hrun_error *err);

/* ---- agent: parameters of mpirun, and the remote shell that it would use */

/* What the user says of an MCA parameter of mpirun's, the last word first: n_mca words "KEY=VALUE", the environment,
 * the files that mca_base_param_files names, or else $HOME/.openmpi/mca-params.conf and the system's
 * openmpi-mca-params.conf (where Debian and Open MPI keep it). Several
 * keys are names of one parameter. NULL: nothing, as an empty variable says; else the caller frees it. */
char *hrun_agent_setting(char *const *mca, int n_mca, const char *const *keys, int n_keys);

/* The agent: path into *program (the caller frees it), itself and its options as words. As mpirun does it: alternatives
 * stand between colons, the first that exists counts; ssh unless the user says otherwise; -x for ssh.
 * Errors: HRUN_EENGINE (none exists). */
int hrun_agent_find(char *const *mca, int n_mca, char **program, struct hrun_strvec *words, struct hrun_error *err);

/* Is it ssh, whose options we know? */
int hrun_agent_is_ssh(const char *program);

/* What an agent is to be given as the name of a host: the address in "[fe80::2]", any other name as it is. The caller
 * frees it. */
char *hrun_bare_name(const char *host);

/* ---- mpilib: recognising MPI libraries by name */

/* Is it the file name of an MPI library of MPICH's family? "libmpich.so.12", "libmpi.so.12.2.2" (the MPICH ABI: MPICH,
 * Intel MPI, MVAPICH), "libmpi_intel.so.4", ... Open MPI's libmpi.so.40 is none. */
int hrun_soname_is_mpich(const char *name);

/* The MPI of the job's program: what its caller knows, else what is found. Errors: those of hrun_program_mpi. */
int hrun_job_mpi(const struct hrun_job *job, struct hrun_mpi *out, struct hrun_error *err);

/* ---- openmpi: the mpirun of this host */

/* By what names mpirun goes, in the order of the search; NULL ends the list. */
extern const char *const hrun_openmpi_names[];

/* The first of these in PATH that is Open MPI's. The caller sets m->cache_dir and m->refresh. Errors: HRUN_EENGINE
 * (none; says what to install), HRUN_EIO; the rest of *m is untouched. */
int hrun_openmpi_find(struct hrun_openmpi *m, struct hrun_error *err);
/* That of a job: what its caller knows, else what is found. Errors: those of hrun_openmpi_find. */
int hrun_openmpi_of(const struct hrun_job *job, struct hrun_openmpi *m, struct hrun_error *err);

/* In openmpi_kept.c. Recall what was found before: 0; or -1, *m untouched, where nothing is kept in m->cache_dir, or
 * since then a program, PATH or what it loads libraries by has changed. *key gets all that an answer depends on from
 * now on, for hrun_openmpi_keep, which uses it up: a program that is replaced while it is asked is asked again. It is
 * empty where an answer cannot be kept. That it could not be written is no error. errno is kept. */
int hrun_openmpi_recall(struct hrun_openmpi *m, struct hrun_buf *key);
void hrun_openmpi_keep(const struct hrun_openmpi *m, struct hrun_buf *key);

/* ---------------------------------------------------------------- notes
 *
 * What becomes of the other hosts of a job, told by the agents that reach them
 *
 * Purpose: mpirun starts its daemons through `hrun-shim agent` (hrun/shim/shim.h), one for each host. What they see
 * they write into a FIFO in the job's folder, whose path is in HRUN_NOTES:
 * "KIND<tab>HOST<tab>NUMBER<tab>TEXT<newline>", short enough to be written in one piece.
 */

#define HRUN_NOTES_VARIABLE "HRUN_NOTES"
/* Set where the agent is started by what may end it by SIGKILL (mpirun). */
#define HRUN_NOTES_KILLER_VARIABLE "HRUN_NOTES_KILLER"

enum hrun_note {
    HRUN_NOTE_BEGUN,        /* the agent has been started */
    HRUN_NOTE_UP,           /* the host has passed all checks and starts the daemon */
    HRUN_NOTE_CHANGED,      /* it is not what it was when the plan was made */
    HRUN_NOTE_REFUSED,      /* it cannot take part; text: why */
    HRUN_NOTE_RANK_BEGUN,   /* of a rank (number), by hrun-shim in front of it, no host: it is about to be executed */
    HRUN_NOTE_RANK_ENDED,   /* text: its wait status in decimal */
    HRUN_NOTE_LATE,         /* it did not report in time; text: the limit in s */
    HRUN_NOTE_FAILED,       /* the agent ended (number: status; text: its last words) before the host had reported */
    HRUN_NOTE_LOST,         /* the agent ended and the daemon had not; number and text as before */
    HRUN_NOTE_CRASHED,      /* the daemon was killed; number: signal */
    HRUN_NOTE_ENDED,        /* the daemon ended; number: status */
    HRUN_NOTE_KINDS
};

/* Longest text of a note; the rest is cut off. A note is written in one piece (PIPE_BUF). */
enum { HRUN_NOTE_TEXT = 1024, HRUN_NOTE_HOST = 256 };

/* Write a note; control characters become blanks. Nothing is done when nobody reads or the FIFO is full. */
void hrun_note_write(int fd, enum hrun_note kind, const char *host, int number, const char *text);

struct hrun_note_read {
    enum hrun_note kind;
    int number;
    char host[HRUN_NOTE_HOST], text[HRUN_NOTE_TEXT];
};
/* Parse one line without its newline. -1: it is no note. */
int hrun_note_parse(const char *line, struct hrun_note_read *out);

/* ---------------------------------------------------------------- ranks
 *
 * What each rank is bound to, told to hrun-shim through the environment
 *
 * Purpose: mpirun and srun bind by rules of their own, and the ranks of unlike nodes need a list that neither can
 * express; so `hrun-shim rank PROGRAM ARGUMENT...` stands in front of each rank, binds itself, and becomes the
 * program. This file is the language between the two.
 * Format: entries "FIRST[-LAST]=CPUSET[/THREADS]" separated by ';', ranks ascending without a gap, neighbours that are
 * alike in one entry: "0-3=0-7/8;4=8,24/1". An empty CPUSET binds nothing. The text stands in HRUN_RANKS,
 * HRUN_RANKS_1, HRUN_RANKS_2, ...: one variable holds at most HRUN_RANKS_PART bytes and only whole entries, since Linux
 * takes strings of at most 128 KiB.
 */

#define HRUN_RANKS_VARIABLE "HRUN_RANKS"
/* "bind", "report", "tell", with commas: what the shim does with them. For the first two it compares its real affinity
 * with the planned one, and fails where they differ. For the third it stays beside the rank, and writes notes of its
 * begin and end into the FIFO that HRUN_NOTES names. */
#define HRUN_RANKS_DO_VARIABLE "HRUN_RANKS_DO"
/* A folder of the rank's host for Open MPI's shared memory files. Not set: they stay where Open MPI puts them. */
#define HRUN_RANKS_SHM_VARIABLE "HRUN_SHM"

enum { HRUN_RANKS_PART = 100000 };

/* The MCA parameters that say where Open MPI's shared memory files are, ending with NULL. */
extern const char *const hrun_shared_memory_keys[];

/* Append to *words "HRUN_RANKS=...", "HRUN_RANKS_1=...", ... for all ranks of the layout. */
void hrun_ranks_words(const struct hrun_layout *l, struct hrun_strvec *words);

struct hrun_ranks_entry {
    char *cpuset;               /* "" for none; the caller frees it */
    int threads;                /* 0: not said */
};
/* The entry of a rank, as lookup(name) finds the variables (getenv, or a test's). Errors: HRUN_EPARSE (naming the
 * variable), HRUN_ENOENT (no entry for that rank). */
int hrun_ranks_find(char *(*lookup)(const char *name), int rank, struct hrun_ranks_entry *out,
                    struct hrun_error *err);

/* ---------------------------------------------------------------- procs
 *
 * Finding and ending the processes of a job through /proc
 *
 * Purpose: ranks start other programs, and those may outlive them, leave the process group and the session,
 * or be adopted. A process belongs to the job when its environment holds HRUN_JOB=<job id>, when it has inherited the
 * job's mark, or when its process group was made for a rank. Nothing else is ever signalled.
 *
 * The mark is a random number as soft limit RLIMIT_LOCKS, which Linux has kept without a use since 2.4.25: a process
 * that clears its environment, closes all files and leaves its session keeps its limits. 0: none.
 */

#define HRUN_JOB_VARIABLE "HRUN_JOB"

struct hrun_pids {
    pid_t *v;
    size_t n, cap;
};

#define HRUN_PIDS_INIT { NULL, 0, 0 }

void hrun_pids_push(struct hrun_pids *p, pid_t pid);
int hrun_pids_has(const struct hrun_pids *p, pid_t pid);
void hrun_pids_release(struct hrun_pids *p);

/* Append the living processes of the job (zombies are not), but for this process and those in except (may be
 * NULL). groups: the process groups made for ranks. -1: there is no /proc. */
int hrun_procs_of_job(const char *job_id, unsigned long mark, const struct hrun_pids *groups,
                      const struct hrun_pids *except, struct hrun_pids *out);

/* Append the children of this process, of all its threads, zombies included. -1 when the kernel does not
 * tell. */
int hrun_procs_children(struct hrun_pids *out);

/* 1 when this process has one thread only. */
int hrun_procs_single_threaded(void);

/* Append root and all its descendants. */
void hrun_procs_tree(pid_t root, struct hrun_pids *out);

/* Process group of a process, also of a zombie; -1 when it is gone. */
pid_t hrun_procs_group(pid_t pid);

/* Does its environment hold HRUN_JOB=<job id>, or has it inherited the job's mark? */
int hrun_procs_marked(pid_t pid, const char *job_id, unsigned long mark);

/* The number that stands in its environment under that name; otherwise: there is none, or no such process. */
long hrun_procs_number(pid_t pid, const char *name, long otherwise);

/* Which MPI library has the process mapped (HRUN_MPI_NONE, _OPENMPI or _MPICH)? Its file name goes to name[size]. */
enum hrun_mpi_kind hrun_procs_mpi(pid_t pid, char *name, size_t size);

/* ---------------------------------------------------------------- signals
 *
 * Taking signals from the caller, and giving them back
 *
 * Purpose: while hrun starts others and waits for them, signals come through a descriptor.
 * Invariants: between take and give back the calling thread blocks what it takes; afterwards mask and action of SIGCHLD
 * are as before, and nothing that our own work has raised reaches the caller.
 */

struct hrun_signals {
    int fd;                         /* signalfd(2), not blocking; -1: none */
    sigset_t old_mask;              /* for the processes that are started */
    struct sigaction old_sigchld;
    int taken;
};

#define HRUN_SIGNALS_INIT { .fd = -1 }

/* Take n signals but those that the caller ignores (nohup, a shell's background jobs), which are not meant for what we
 * start either; and SIGCHLD, which must not be ignored, or no status would reach us. SIGPIPE is blocked besides.
 * Errors: HRUN_EIO; give back all the same. */
int hrun_signals_take(struct hrun_signals *s, const int *signals, size_t n, struct hrun_error *err);
/* Harmless when nothing was taken. */
void hrun_signals_give_back(struct hrun_signals *s);

/* In a job. What a signal to hrun means: to end the job, to stop it, or just to be passed on. */
enum hrun_signal_action { HRUN_SIGNAL_END, HRUN_SIGNAL_STOP, HRUN_SIGNAL_PASS };
enum hrun_signal_action hrun_signal_action(int sig);
/* Take the signals that mean something to a job. */
int hrun_signals_take_job(struct hrun_signals *s, struct hrun_error *err);

/* ---------------------------------------------------------------- spawn
 *
 * Starting processes bound to their PEs
 *
 * Invariants: nothing but async-signal-safe calls between fork and exec; the calling thread's binding is as
 * before afterwards; on failure no started process remains.
 */

struct hrun_spawn {
    const char *program;         /* path, absolute if wdir is set, of processes that name none themselves */
    char *const *argv;
    const char *wdir;            /* NULL: the present folder */
    sigset_t mask;               /* signal mask of the process */
    struct sigaction sigchld;    /* its disposition of SIGCHLD */
    int death_signal;            /* sent to the process by the kernel when hrun dies */
    unsigned long mark;          /* of the job, 0: none */
    int sessions;                /* 1: a process that leads a group leads a session, too */
    int ignore_ttou;             /* 1: a process in a group of its own may write to a tostop terminal */
    const struct hrun_topo *topo; /* NULL: nothing is bound */
};

struct hrun_spawn_one {
    const char *program;         /* with argv in place of struct hrun_spawn's; NULL: those */
    char *const *argv;
    char *const *env;
    const char *wdir;            /* in place of struct hrun_spawn's; NULL: that */
    const char *cpuset;          /* OS numbers; NULL or "": unbound */
    int fds[3];                  /* standard input, output, error; -1: inherited */
    int keep_fd;                 /* one more descriptor that it inherits under its number; 0: none */
    int own_group;               /* 1: it leads a process group, so one signal reaches all it starts */
};

/* Start n processes; pids[n] is filled. Errors: HRUN_ENOPROG, HRUN_ENOEXEC (exec refused), HRUN_EIO, those of
 * hrun_topo_bind. */
int hrun_spawn(const struct hrun_spawn *s, const struct hrun_spawn_one *one, int n, pid_t *pids,
               struct hrun_error *err);

/* A descriptor from which text can be read, close-on-exec. -1 with HRUN_EIO. */
int hrun_text_fd(const char *text, struct hrun_error *err);

/* ---- pmi: the same for PMI-1, the protocol of MPICH's family */

struct hrun_pmi;

/* Who a server tells what ranks do, and who brings its answers to them. send = NULL: they have connections. */
struct hrun_pmi_owner {
    void (*report)(void *ctx, const struct hrun_guard_event *ev);
    void (*send)(void *ctx, int rank, const char *data, size_t len);
    void *ctx;
};

/* For the ranks of a layout, which is not kept. apps: the number of each rank's program, an array that outlives the
 * server; NULL: all 0. */
struct hrun_pmi *hrun_pmi_create(const struct hrun_layout *l, const int *apps, const struct hrun_pmi_owner *owner);
/* Give each rank a connection: fds[nranks] get their ends, close-on-exec, which the caller closes. Errors: HRUN_EIO;
 * fds are closed then. */
int hrun_pmi_connect(struct hrun_pmi *p, int *fds, struct hrun_error *err);
void hrun_pmi_destroy(struct hrun_pmi *p);
/* Fill polled[nranks] for poll(2); do what it has found possible. */
void hrun_pmi_poll(const struct hrun_pmi *p, struct pollfd *polled);
void hrun_pmi_handle(struct hrun_pmi *p, const struct pollfd *polled);
/* What a rank has sent, as _handle does it. A rank that breaks the protocol is reported and not listened to again. */
void hrun_pmi_feed(struct hrun_pmi *p, int rank, const char *data, size_t len);
/* It does not read its answers, of which HRUN_PMI_UNREAD_MAX bytes (frames.h) may wait: the same. */
void hrun_pmi_unread(struct hrun_pmi *p, int rank);

/* ---- mpich: what programs of MPICH's family need beside PMI, and what they leave behind */

/* Append the variables of all ranks, whatever serves PMI; those of rank of a job on this host, whose PMI connection is
 * fd. After hrun_env_base. */
void hrun_mpich_env(struct hrun_strvec *env);
void hrun_mpich_env_rank(const struct hrun_layout *l, int rank, int fd, struct hrun_strvec *env);

/* Add libhrun-mpich.so, for ranks that share cores or are on several hosts, and (over_slurm) for what Slurm's PMI
 * lacks. words[size] is what it is told, as long as the job. Result: its path, which the caller frees after the job;
 * NULL where it is not needed, or not installed, which on_message is told. */
char *hrun_mpich_preload(struct hrun_job *job, int over_slurm, char *words, size_t size);

struct hrun_run;
/* Ranks of an MPI program that have all ended well without a word to their server may have worked alone: -1 with
 * HRUN_EMPI then. */
int hrun_mpich_check_together(const struct hrun_run *r, struct hrun_error *err);

/* The command of Hydra for the same hosts, and on one host for the same placement, as hrun_engine_command has it. */
void hrun_mpich_command(const struct hrun_job *job, struct hrun_buf *out);

/* Remove shared memory of MPICH and UCX that the user's processes have made since then (time(2)) and that no living one
 * has: a rank that is killed in MPI_Init leaves it. */
void hrun_mpich_remove_orphans(time_t since);

/* ---------------------------------------------------------------- sieve
 *
 * Taking the lines of libhrun-trace.so out of the standard error of a job
 *
 * Purpose: a line begins with HRUN_TRACE_MARK (base/trace_lines.h), wherever in the stream that stands, and ends with its
 * newline; all else is passed on as it came, in order and at once, but for a beginning of a mark, which is held until
 * it is known to be one.
 * Invariants: what begins like a mark and is none, and a line longer than HRUN_TRACE_LINE, is passed on whole.
 */

struct hrun_sieve {
    struct hrun_buf held;      /* mark and line so far */
};
#define HRUN_SIEVE_INIT { HRUN_BUF_INIT }

/* Append to *rest what is passed on, to *lines the lines without their marks. */
void hrun_sieve_feed(struct hrun_sieve *s, const char *data, size_t len, struct hrun_buf *rest, struct hrun_buf *lines);
/* The stream has ended. */
void hrun_sieve_end(struct hrun_sieve *s, struct hrun_buf *rest);
void hrun_sieve_release(struct hrun_sieve *s);

/* ---------------------------------------------------------------- sink
 *
 * Hrun's own standard output or error, where output of processes passes through it
 *
 * Purpose: a queue of what is to be written, and what became of writing it.
 * Invariants: a write never blocks when poll(2) has promised room; what has been written is given back, also where the
 * queue never runs empty; when the reader has gone nothing is kept.
 */

struct hrun_sink {
    int fd;
    struct hrun_buf queue;
    size_t at;                /* written so far */
    int dead;                 /* its reader has gone */
    int error;                /* errno of a write that failed for another reason, or 0 */
    int held;                 /* 1: nothing is written until all hosts are ready */
};
#define HRUN_SINK_INIT(fd) { (fd), HRUN_BUF_INIT, 0, 0, 0, 0 }

void hrun_sink_release(struct hrun_sink *s);

/* Append, unless its reader has gone. What is held is released when it has become too much to be held. */
void hrun_sink_add(struct hrun_sink *s, const char *data, size_t len);
/* Is something to be written now? */
int hrun_sink_waiting(const struct hrun_sink *s);
/* 0: so much is to be written that nothing should be read for it. */
int hrun_sink_has_room(const struct hrun_sink *s);
/* Write a part, after poll. -1: it cannot be written any more, and s->dead is set. */
int hrun_sink_write(struct hrun_sink *s);
/* Of what is held, drop all, or (noise not NULL) lines that hold this text ("": none). Then it is held no longer. */
void hrun_sink_let_go(struct hrun_sink *s, const char *noise);

/* ---------------------------------------------------------------- output
 *
 * The output of the processes where hrun has to touch it
 *
 * Purpose: pipes from the processes to hrun's own output, to on_stdout, or to stderr_text, with tags when
 * asked.
 * Invariants:
 *   - nothing is read that cannot be passed on: a slow reader of hrun's output slows the program, and never
 *     stops hrun from hearing signals (each write fits what poll has promised);
 *   - the order within one rank's stream is kept; without tags data is passed on as it comes, with tags
 *     line by line (a last line without an end gets one);
 *   - when the reader of hrun's output has gone the programs' pipes are closed, so that they notice as
 *     usual; any other failure to write is kept for hrun_output_failed;
 *   - what is held does not grow with the output: some 64 KiB per stream, and
 *     at the end what the pipes hold.
 */

struct hrun_output;

/* How lines get their tags. */
enum hrun_tagging {
    HRUN_TAG_RANK,     /* each process is one rank: hrun adds the tag */
    HRUN_TAG_SRUN,     /* the process is srun --label: "03: " is rewritten; standard error always comes through a pipe,
                          as srun has no other way to keep its own words out of it */
    HRUN_TAG_MPIRUN,   /* the process is mpirun --tag-output: "[1,3]<stdout>:" is rewritten */
    HRUN_TAG_PRTERUN,  /* the same by Open MPI 5, which puts a blank behind it */
    HRUN_TAG_FED       /* each process is one rank, whose output comes by hrun_output_feed; the descriptors are those of
                          what brings it here, whose words get no tags */
};

/* For nprocs processes. hold: standard error passes through hrun and waits for hrun_output_release, or until more than
 * 64 KiB have come. NULL and *err on failure. */
struct hrun_output *hrun_output_create(const struct hrun_job *job, int nprocs, enum hrun_tagging tagging, int hold,
                                       struct hrun_error *err);
/* Pass on what was held back and what comes, or (pass_on = 0) drop what was held back. Of the former, lines that hold
 * the text `noise` ("": none) are left out. Harmless when nothing is held. */
void hrun_output_release(struct hrun_output *o, int pass_on, const char *noise);
void hrun_output_destroy(struct hrun_output *o);

/* Make room for the output of n processes from number first on. -1 with *err: o is as before. */
int hrun_output_grow(struct hrun_output *o, int first, int n, struct hrun_error *err);
/* The descriptor that process i gets as its standard output (is_err = 0) or error; -1: hrun's own. */
int hrun_output_child_fd(const struct hrun_output *o, int i, int is_err);
/* After the last process has been started: close the writing ends. */
void hrun_output_started(struct hrun_output *o);

/* HRUN_TAG_FED: what rank i has written; the rank has ended. */
void hrun_output_feed(struct hrun_output *o, int i, int is_err, const char *data, size_t len);
void hrun_output_end(struct hrun_output *o, int i);
/* 1: what is fed can be passed on soon; 0: the caller should wait. */
int hrun_output_has_room(const struct hrun_output *o);
/* 1: nobody reads hrun's own standard output or error any more, and nobody else wants that of the ranks. */
int hrun_output_is_deaf(const struct hrun_output *o, int is_err);

/* How many entries hrun_output_poll may use. */
int hrun_output_npoll(const struct hrun_output *o);
/* Fill p with what to wait for. Result: number of entries. */
int hrun_output_poll(struct hrun_output *o, struct pollfd *p);
/* Do what poll has found possible, for the entries that hrun_output_poll filled. */
void hrun_output_handle(struct hrun_output *o, const struct pollfd *p, int n);
/* 1 when all sources have ended and all has been passed on. */
int hrun_output_done(const struct hrun_output *o);
/* 0, or -1 when something could not be written (a full disk). Errors: HRUN_EIO, "standard output: ...". */
int hrun_output_failed(const struct hrun_output *o, struct hrun_error *err);
/* Give up waiting for the ends of the sources: take all that is there, close them. What has been read is still
 * passed on by hrun_output_handle. */
void hrun_output_close(struct hrun_output *o);

/* ---- words: the lines that a launcher writes to its standard error for hrun, not for the user */

struct hrun_words {
    int fd, child_fd;           /* reading end, and the end that the launcher gets; -1: closed */
    struct hrun_buf line;       /* the line so far */
};

#define HRUN_WORDS_INIT { -1, -1, HRUN_BUF_INIT }

/* Make the pipe. Errors: HRUN_EIO. */
int hrun_words_open(struct hrun_words *w, struct hrun_error *err);
/* Make a FIFO and read that. -1 with errno. */
int hrun_words_fifo(struct hrun_words *w, const char *path);
/* The launcher has been started: close its end here. */
void hrun_words_started(struct hrun_words *w);
/* Read what is there without waiting, and call hear with each line (its end cut off, longer ones than 4 KiB in pieces),
 * at the end of the stream also with what has no end. */
void hrun_words_take(struct hrun_words *w, void (*hear)(void *ctx, char *line), void *ctx);
/* Harmless when it was never opened. */
void hrun_words_close(struct hrun_words *w);
/* Close *fd unless it is -1, which it becomes. */
void hrun_close_fd(int *fd);

/* ---- env: the environment of the processes */

/* Set name to value in a list of "NAME=VALUE", replacing it where it stands; word: "NAME=VALUE" itself. */
void hrun_env_set(struct hrun_strvec *env, const char *name, const char *value);
void hrun_env_set_number(struct hrun_strvec *env, const char *name, int value);
void hrun_env_set_word(struct hrun_strvec *env, const char *word);
/* Value of name in the list, or NULL. */
const char *hrun_env_get(const struct hrun_strvec *env, const char *name);

/* The caller's environment without what an outer launcher has left in it (ranks, addresses of servers). */
void hrun_env_base(struct hrun_strvec *out);

/* Apply the job's working directory (as PWD), mca words (as OMPI_MCA_KEY=VALUE) and env words. A NAME
 * without a value is in the list already; one that is not set is told to on_message. */
void hrun_env_user(const struct hrun_job *job, struct hrun_strvec *env);

/* Set MCA parameter key unless the user does. */
void hrun_env_mca(const struct hrun_job *job, struct hrun_strvec *env, const char *key, const char *value);

/* Make a program of MPICH, or one with its ABI, fail at its start instead of running as many worlds of one
 * process each: it looks for its process manager at PMI_PORT, and the text there is no address. One that a
 * script starts by its own mpiexec finds that by PMI_FD, which comes first. */
#define HRUN_ENV_PMI_PORT "PMI_PORT"
#define HRUN_ENV_NO_MPICH "hrun_starts_programs_of_MPICH_with_--mpi_mpich"
void hrun_env_no_mpich(struct hrun_strvec *env);

/* Put Open MPI's shared memory files into folder (NULL: leave them), so that they can be removed whatever
 * happens to the processes. */
void hrun_env_shared_memory(const struct hrun_job *job, struct hrun_strvec *env, const char *folder);

/* The job's preloads, if it has any: their variables, and the libraries in front of LD_PRELOAD, or (shim = 1) told to
 * hrun-shim. After hrun_env_user. */
void hrun_env_preload(const struct hrun_job *job, int shim, struct hrun_strvec *env);
/* Append the same, for hrun-shim, as words "NAME=VALUE". */
void hrun_env_preload_words(const struct hrun_job *job, struct hrun_strvec *words);

/* The libraries' paths, with colons between them, for hrun-shim, which preloads them into the rank and nothing else. */
#define HRUN_ENV_PRELOAD "HRUN_PRELOAD"

/* Does the user set MCA parameter key, in the environment or with --mca? */
int hrun_env_user_mca(const struct hrun_job *job, const char *key);

/* The parameter by which waiting ranks yield the processor, and whether hrun sets it. */
extern const char hrun_env_yield[];
int hrun_env_yields(const struct hrun_job *job);

/* Validate the job's env and mca words. Errors: HRUN_EINVAL with the word and the right form. */
int hrun_env_check(const struct hrun_job *job, struct hrun_error *err);

/* ---- slurm: a Slurm allocation as its own programs see it */

/* -1 with HRUN_EENGINE: that program of Slurm is not there. */
int hrun_srun_missing(struct hrun_error *err, const char *name);

/* The index of a host in the allocation, by its name with or without domain, or as this host; -1: it is not of it. */
int hrun_allocation_index(const struct hrun_allocation *a, const char *name, int is_local);

/* The name by which Slurm knows host h of the cluster; the caller frees it. *group: its component. Errors: HRUN_EINVAL
 * (it is not of the allocation). */
char *hrun_srun_node(const struct hrun_allocation *a, const char *name, int is_local, int *group,
                     struct hrun_error *err);

/* Append the caller's environment for an srun: without what an outer launcher left there and without the variables that
 * act as options of srun. */
void hrun_srun_clean_env(struct hrun_strvec *env);

/* ---- srun_words.c: what srun -v says of a running step */

enum hrun_srun_kind {
    HRUN_SRUN_NOTHING,          /* of no interest */
    HRUN_SRUN_STEP,             /* the step exists: step */
    HRUN_SRUN_STARTED,          /* ntasks more tasks run */
    HRUN_SRUN_NOTICE,           /* the next HRUN_SRUN_TASKS is about step */
    HRUN_SRUN_TASKS,            /* tasks have ended: first task, status, signal */
    HRUN_SRUN_ABORTED,          /* Slurm ends the step: its PMIx has lost a process, MPI_Abort, scancel */
    HRUN_SRUN_LOST,             /* text: a host that went away */
    HRUN_SRUN_WAITING,          /* text: why the step cannot begin yet */
    HRUN_SRUN_COMPLAINT         /* text: another error of srun */
};

struct hrun_srun_said {
    enum hrun_srun_kind kind;
    char step[64];              /* "12.0" */
    int ntasks, task;
    int status;                 /* of a task: exit status, 128 + signal */
    int signal;                 /* that killed it, 0: none */
    const char *text;           /* in the line */
    size_t len;                 /* of text */
};

/* Understand one line. */
void hrun_srun_read(const char *line, struct hrun_srun_said *out);

/* ---- remote_srun.c */

/* hrun_remote_run by steps of srun, when this is a Slurm allocation that has all these hosts and srun is in PATH.
 * Result: 1 when it is not, and nothing has been done; else as hrun_remote_run. */
int hrun_remote_srun(const struct hrun_remote *what, char *const *hosts, int n, struct hrun_buf *outputs,
                     struct hrun_error *errors, struct hrun_error *err);

/* Take srun's labels and the shim's folds out of a stream ("03: text." a line, "03: text\" a piece of one, "03: =0" the
 * end with the command's status). */
struct hrun_unfold {
    int n;                      /* tasks */
    struct hrun_buf *outputs;   /* n: what their commands printed */
    int *status;                /* n: how their commands ended; -1: not yet */
    struct hrun_buf line;
};
void hrun_unfold(struct hrun_unfold *u, const char *data, size_t len);

/* ---------------------------------------------------------------- job
 *
 * The life of a job's processes on this host, the same for all engines
 *
 * Purpose: signals, timeout, output, judging how it ended, and leaving nothing behind. An engine prepares
 * what is started: one process per rank (local), or one launcher (mpirun, srun).
 * Invariants: between hrun_run_begin and hrun_run_end the calling thread blocks the signals of the job;
 * hrun_run_end restores all that begin changed, on every path, and no process or folder of the job remains.
 * Order of calls: begin, start, loop, end (end always, also when begin failed).
 */

struct hrun_proc {
    pid_t pid;                   /* 0: a rank that the launcher's processes look after: hrun_run_ended tells its end */
    int own_group;               /* 0: in hrun's own process group, see own_group() in job.c */
    int alive;
    int connected;               /* PMIx: connected and not finalized */
    int was_connected;           /* PMIx: connected at some time */
};

struct hrun_run;

/* A launcher that is told and tells in its own way (srun, ssh); where there is none kill(2) and its status do. All but
 * signal are of a launcher that is a process of its own (is_launcher). */
struct hrun_launcher {
    const char *name;
    int is_program;             /* 1: it becomes the program: it begins in the job's folder, its standard error is the
                                   program's and its words come through words.child_fd; 0: it is told where to begin,
                                   and its words come through its standard error */
    /* Bring a signal to all ranks; SIGKILL: end them now. */
    void (*signal)(struct hrun_run *r, int sig);
    /* A line of its words, without its end. */
    void (*hear)(struct hrun_run *r, char *line);
    /* verdict_s has come. */
    void (*settle)(struct hrun_run *r);
    /* It has ended with this status of waitpid(2), and all its words have been heard. */
    void (*ended)(struct hrun_run *r, int status);
};

struct hrun_run {
    const struct hrun_job *job;
    struct hrun_outcome *out;
    struct hrun_error *err;      /* filled when the engine fails while the job runs */
    int engine_failed;

    /* Set by the engine before hrun_run_start. */
    int is_plain;                /* 1: the only process is no rank, and may use any MPI */
    int is_launcher;             /* 1: the only process is mpirun, srun or hrun-smpi, which looks after the
                                    ranks itself */
    const struct hrun_launcher *launcher; /* or NULL; then the next two are not used */
    void *state;                 /* of the launcher's functions */
    struct hrun_words words;
    enum hrun_tagging tagging;
    int hold_errors;             /* 1: standard error is held back until hrun_output_release */
    char noise[64];              /* which lines of it, of those held back, tell the user nothing; may be set later */
    /* What else to listen to: called when watch_fd (-1: none) can be read, and when a process has ended. Result: how
     * many helpers on the way to other hosts are still there; hrun waits a while for them when all has ended. */
    int watch_fd;
    int (*watch)(struct hrun_run *r);
    int paused;                  /* 1: watch waits until the output has room */
    void (*abandon)(struct hrun_run *r);    /* some are still there after that */
    void *watch_ctx;

    int mpich;                   /* 1: PMI-1 is served to programs of MPICH, not PMIx */
    /* HRUN_GUARD_SPAWN and what follows; NULL: something has happened, or spawn_s has come. */
    void (*on_spawn)(struct hrun_run *r, const struct hrun_guard_event *ev);
    double spawn_s;              /* 0: there is none */

    /* Made by begin. */
    time_t since;                /* when */
    char *rundir, *shmdir;       /* shmdir may be NULL: no /dev/shm here */
    const char *job_id;          /* last part of rundir */
    unsigned long mark;          /* by which processes of the job are found (procs), 0: none */
    struct hrun_guard guard;
    struct hrun_pids groups;     /* process groups made for the job */
    struct hrun_pids strangers;  /* children that the caller had before */
    struct hrun_signals signals;
    int old_subreaper;

    /* Made by start. */
    struct hrun_output *output;
    struct pollfd *polled;       /* room for what is waited for */
    struct hrun_proc *procs;
    int nprocs, nalive;
    double start_s;              /* monotonic clock */

    /* The way to the end. */
    int failed;                  /* a failure has been recorded in out */
    int timed_out;
    int ending_signal;           /* INT, TERM, HUP or QUIT that hrun got last, or 0 */
    double ending_signal_s;
    double kill_s;               /* when patience ends, 0: not ending */
    double begun_s;              /* until this time ranks may be missing: other signals than those that end the job are
                                    held back, and a launcher that is told to end may hang, and is killed then */
    unsigned long held;          /* signals held back: 1 << number */
    int killed;                  /* a launcher has been told to end the ranks at once */
    double verdict_s;            /* when the launcher's settle is called, 0: not */
    double watch_s;              /* when to look for another MPI library next; infinite: no more */
};

int hrun_run_begin(struct hrun_run *r, const struct hrun_job *job, struct hrun_outcome *out,
                   struct hrun_error *err);
/* Make room for nprocs processes and the pipes of their output, for an engine that has to know these before it
 * starts. */
int hrun_run_prepare(struct hrun_run *r, int nprocs, struct hrun_error *err);
/* Start nprocs processes (prepare first if that has not been done); one[] tells their environment, binding and program
 * (NULL: program and argv), their fds are set here (process 0 gets the job's standard input). Errors as hrun_spawn;
 * on_start is called on success. */
int hrun_run_start(struct hrun_run *r, const char *program, char *const *argv, const struct hrun_topo *topo,
                   struct hrun_spawn_one *one, int nprocs, struct hrun_error *err);
/* Start n further processes while the job runs, which are numbered behind those that there are. Their standard input is
 * /dev/null. Errors: as above; the job is as before. */
int hrun_run_add(struct hrun_run *r, const struct hrun_topo *topo, struct hrun_spawn_one *one, int n,
                 struct hrun_error *err);
/* Until all has ended. 0, or -1 when the engine failed (*err says why). */
int hrun_run_loop(struct hrun_run *r);
void hrun_run_end(struct hrun_run *r);

/* Process 0's standard input as the job has it: a descriptor to be closed, -1 for hrun's own, -2 on failure. */
int hrun_run_stdin(const struct hrun_job *job, struct hrun_error *err);
/* A rank without a process here has ended with this wait status; has told the PMI server something. */
void hrun_run_ended(struct hrun_run *r, int rank, int status);
void hrun_run_event(struct hrun_run *r, const struct hrun_guard_event *ev);
/* Rank (-1: unknown) has failed with that status. The first failure counts, and ends the job; after a timeout or a
 * signal to hrun failures are its consequence. 1: this one counts. */
int hrun_run_fail(struct hrun_run *r, int rank, int status);
/* For watch: the engine has failed, r->err says why, and the job is to end; a host was lost, and the job is to end with
 * 125. */
void hrun_run_break(struct hrun_run *r);
void hrun_run_lose(struct hrun_run *r, const char *host);

/* Words for the user. */
void hrun_run_say(struct hrun_run *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Processes of the job that outlived its ranks. sig is sent to each (0: none). Result: how many
 * live. */
int hrun_run_sweep(struct hrun_run *r, int sig);

#endif
