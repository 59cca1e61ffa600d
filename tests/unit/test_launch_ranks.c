/* test_launch_ranks.c - what ranks are told (launch/ranks.h) and what agents tell (launch/notes.h) */
#include "fixture.h"

#include "launch/agent.h"
#include "launch/notes.h"
#include "launch/ranks.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct hrun_strvec words;

static char *lookup(const char *name)
{
    size_t len = strlen(name);

    for (size_t i = 0; i < words.n; i++)
        if (!strncmp(words.v[i], name, len) && words.v[i][len] == '=')
            return words.v[i] + len + 1;
    return NULL;
}

/* Every rank finds its own cpuset and threads again. */
static void round_trip(const struct hrun_layout *l, const char *what)
{
    struct hrun_ranks_entry e;
    int good = 0;

    hrun_strvec_release(&words);
    hrun_ranks_words(l, &words);
    for (int r = 0; r < l->nranks; r++) {
        if (hrun_ranks_find(lookup, r, &e, NULL))
            break;
        good += !strcmp(e.cpuset, l->ranks[r].cpuset) && e.threads == l->ranks[r].threads;
        free(e.cpuset);
    }
    is_int(good, l->nranks, "%s: each rank finds what is its own", what);
}

static void ranks(void)
{
    enum { MANY = 20000 };
    static char sets[MANY][16];
    struct hrun_rank *r = calloc(MANY, sizeof *r);
    struct hrun_layout l = { .ranks = r, .nranks = 5 };
    struct hrun_ranks_entry e;
    struct hrun_error err = { 0 };

    for (int i = 0; i < 5; i++)
        r[i] = (struct hrun_rank){ .cpuset = i < 3 ? "0-3,8" : "", .threads = i == 4 ? 2 : 0 };
    round_trip(&l, "a few");
    is_int(words.n, 1, "one variable");
    is_str(words.n ? words.v[0] : "", "HRUN_RANKS=0-2=0-3,8;3=;4=/2", "neighbours that are alike are one entry");
    is_int(hrun_ranks_find(lookup, 5, &e, &err), -1, "a rank that is not there");
    is_int(err.code, HRUN_ENOENT, "is told");
    for (int i = 0; i < MANY; i++) {
        snprintf(sets[i], sizeof sets[i], "%d", i % 9000);
        r[i] = (struct hrun_rank){ .cpuset = sets[i], .threads = i % 7 };
    }
    l.nranks = MANY;
    round_trip(&l, "very many, all different");
    ok(words.n > 1, "they take several variables");
    for (size_t i = 0; i < words.n; i++)
        ok(strlen(words.v[i]) < 128 << 10, "variable %d is one that Linux takes", (int)i);
    hrun_strvec_release(&words);
    hrun_strvec_push(&words, "HRUN_RANKS=0=1;x=2");
    is_int(hrun_ranks_find(lookup, 1, &e, &err), -1, "text that is none");
    is_int(err.code, HRUN_EPARSE, "is an error");
    hrun_strvec_release(&words);
    free(r);
}

static void notes(void)
{
    static const char *const bad[] = { "", "up", "up\th1", "up\th1\t3", "nonsense\th1\t3\tx", "upper\th1\t3\tx" };
    char text[3 * HRUN_NOTE_TEXT], line[3 * HRUN_NOTE_TEXT];
    struct hrun_note_read n;
    int fds[2], good = 0;
    ssize_t len;

    if (pipe(fds))
        return;
    for (int kind = 0; kind < HRUN_NOTE_KINDS; kind++) {
        hrun_note_write(fds[1], (enum hrun_note)kind, "h1", kind - 3, "no\troute\nto host");
        len = read(fds[0], line, sizeof line - 1);
        line[len > 0 ? len - 1 : 0] = 0;
        good += hrun_note_parse(line, &n) == 0 && n.kind == (enum hrun_note)kind && n.number == kind - 3 &&
                !strcmp(n.host, "h1") && !strcmp(n.text, "no route to host");
    }
    is_int(good, HRUN_NOTE_KINDS, "each kind of note is read as it was written, in one line");
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    hrun_note_write(fds[1], HRUN_NOTE_FAILED, text, 255, text);
    len = read(fds[0], line, sizeof line - 1);
    ok(len > 0 && len < 4096 && line[len - 1] == '\n', "a long one fits into one piece");
    line[len > 0 ? len - 1 : 0] = 0;
    is_int(hrun_note_parse(line, &n), 0, "and is read");
    is_int(strlen(n.text), HRUN_NOTE_TEXT - 1, "as far as it was kept");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        is_int(hrun_note_parse(bad[i], &n), -1, "'%s' is no note", bad[i]);
    close(fds[0]);
    close(fds[1]);
}

static void agents(void)
{
    static char *mca[] = { (char *)"plm_rsh_agent=/nonexistent/rsh -q : sh -p 22", (char *)"plm_rsh_agent_x=no" };
    static const char *const key[] = { "plm_rsh_agent" };
    char *folder = temp_dir(), path[600], *program = NULL, *value;
    struct hrun_strvec agent = HRUN_STRVEC_INIT;
    struct hrun_error err = { 0 };

    unsetenv("OMPI_MCA_plm_rsh_agent");
    unsetenv("PRTE_MCA_plm_ssh_agent");
    is_int(hrun_agent_find(&(struct hrun_strvec){ mca, 2, 0 }, &program, &agent, &err), 0,
           "the first agent that exists");
    is_str(agent.n == 3 ? agent.v[2] : "", "22", "with its options");
    is_str(program ? strrchr(program, '/') : "", "/sh", "and its path");
    free(program);
    hrun_strvec_release(&agent);
    mca[0] = (char *)"plm_rsh_agent=/nonexistent/rsh";
    is_int(hrun_agent_find(&(struct hrun_strvec){ mca, 1, 0 }, &program, &agent, &err), -1,
           "an agent that does not exist");
    has_str(err.text, "the agent '/nonexistent/rsh' that reaches other hosts is not found", "is named");
    is_int(agent.n, 0, "no words then");

    snprintf(path, sizeof path, "%s/.openmpi", folder);
    mkdir(path, 0700);
    setenv("HOME", folder, 1);
    put(folder, ".openmpi/mca-params.conf",
        "# plm_rsh_agent = no\n plm_rsh_agent =  /my/rsh -x \nplm_rsh_agents = no\n");
    value = hrun_agent_setting(NULL, key, 1);
    is_str(value, "/my/rsh -x", "the user's file of MCA parameters is read");
    free(value);
    setenv("OMPI_MCA_plm_rsh_agent", "mine", 1);
    value = hrun_agent_setting(NULL, key, 1);
    is_str(value, "mine", "the environment goes before it");
    free(value);
    value = hrun_agent_setting(&(struct hrun_strvec){ mca, 2, 0 }, key, 1);
    is_str(value, "/nonexistent/rsh", "and --mca before that");
    free(value);
    free(folder);
}

int main(void)
{
    ranks();
    notes();
    agents();
    return tap_done();
}
