/* test_cluster_hostfile.c - host files and --host: every accepted form, every mistake with its place */
#include "tap.h"

#include "base/file.h"
#include "cluster/internal.h"

#include <stdlib.h>

/* The list as "name:slots name:slots", or the error as "LINE:COLUMN text". */
static char *show(int rc, struct hrun_host_list *list, const struct hrun_error *err)
{
    struct hrun_buf b = HRUN_BUF_INIT;

    if (rc)
        hrun_buf_addf(&b, "%d:%d %s", err->line, err->column, err->text);
    for (size_t i = 0; !rc && i < list->n; i++)
        hrun_buf_addf(&b, "%s%s:%d", i ? " " : "", list->v[i].name, list->v[i].slots);
    hrun_host_list_release(list);
    return hrun_buf_detach(&b);
}

static char *read_text(const char *path, const char *text, size_t len)
{
    struct hrun_host_list list = HRUN_HOST_LIST_INIT;
    struct hrun_error err = { 0 };

    hrun_file_replace(path, text, len, 0600, &err);
    return show(hrun_hostfile_read(path, 0, &list, &err), &list, &err);
}

static char *read_words(const char *text)
{
    struct hrun_host_list list = HRUN_HOST_LIST_INIT;
    struct hrun_error err = { 0 };

    return show(hrun_hosts_parse(text, &list, &err), &list, &err);
}

static const struct {
    const char *text, *want;
} files[] = {
    { "a\nb\n", "a:0 b:0" },
    { "a\nb", "a:0 b:0" },
    { "a slots=4\nb slots=2 max_slots=3\nc max-slots=7\n", "a:4 b:2 c:7" },
    { "a\tslots = 4\r\n\r\n  b:2 \r\n", "a:4 b:2" },
    { "# all\n\na # the first\n#b\n", "a:0" },
    { "\xef\xbb\xbf" "a cpus=3\nb count=1", "a:3 b:1" },
    { "p4-[0-2] slots=2\nn[08-10].x.org:16\n",
      "p4-0:2 p4-1:2 p4-2:2 n08.x.org:16 n09.x.org:16 n10.x.org:16" },
    { "[::1]:2\n[fe80::2]\n127.0.0.1", "[::1]:2 [fe80::2]:0 127.0.0.1:0" },
    { "a,b:2\n", "a:2 b:2" },
    { "", "0:0 the host file names no host; a line is 'NAME [slots=N]'" },
    { "\n# nothing\n \r\n", "0:0 the host file names no host; a line is 'NAME [slots=N]'" },
    { "a\nb\n\n A # again\n", "a:2 b:1" },
    { "a\nb\nb\nc:4\na\na\n", "a:3 b:2 c:4" },
    { "a slots=2\nb\na\n", "a:3 b:1" },
    { "a:2\nb\na:3\n", "a:5 b:0" },
    { "p[1-3]\np2\n", "p1:1 p2:2 p3:1" },
    { "a slots=2\na slots=3\n", "2:1 host 'a' is listed twice (first at line 1), with slots of its own: write it once, "
      "with all its slots" },
    { "a\na slots=3\n", "2:1 host 'a' is listed twice (first at line 1), with slots of its own: ..." },
    { "a slots=0\nb slots=2\nc:0\n", "b:2" },
    { "a max_slots=0\nb\n", "b:0" },
    { "a slots=0\n", "0:0 every host has 0 slots, so no process can be started" },
    { "a slots=-1\n", "1:9 slots needs a whole number ..." },
    { "a slots=\n", "1:9 slots needs a whole number ..." },
    { "a slots=two\n", "1:9 slots needs a whole number ..." },
    { "ok\na slots=3 max_slots=2\n", "2:1 max_slots=2 is less than slots=3" },
    { "a slots=3 slots=2\n", "1:11 'slots' is given twice" },
    { "a:2 slots=2\n", "1:1 'a:2' tells its slots twice" },
    { "a:\n", "1:3 slots needs a whole number ..." },
    { "a:x\n", "1:3 slots needs a whole number ..." },
    { "b\n  a rack=me\n", "2:5 'rack' is not understood behind a host name; a line is 'NAME [slots=N] "
      "[max_slots=M]' or 'NAME:N'" },
    { "b\n  a username=me slots=2\n", "2:5 a host list cannot name a user: write 'User me' for this host into "
      "~/.ssh/config" },
    { "me@a\n", "1:1 a host list cannot name a user: write 'User me' for this host into ~/.ssh/config" },
    { "::1 slots=2\n", "1:1 write an IPv6 address in brackets: [::1], or [::1]:N with slots" },
    { "a slots\n", "1:3 'slots' is not understood behind a host name; a line is..." },
    { "a b\n", "1:3 'b' is not understood behind a host name; a line is..." },
    { "a =\n", "1:3 '=' is not understood behind a host name; a line is..." },
    { "\n n[1-\n", "2:6 host list 'n[1-': ..." },
    { "n[3-1]\n", "1:3 host list 'n[3-1]': ..." },
    { ":4\n", "1:1 a host name is missing" },
};

static const struct {
    const char *text, *want;
} words[] = {
    { "a", "a:0" },
    { "a:2,b, p4-[0-1,3]:4 ,[::1]:3", "a:2 b:0 p4-0:4 p4-1:4 p4-3:4 [::1]:3" },
    { "a,b,a", "a:2 b:1" },
    { "a:2,b:0,a,c:auto", "a:3 c:0" },
    { "a:*", "a:0" },
    { "a,a:*", "1:3 host 'a' is listed twice (first at column 1), with all its cores and a number of slots: ..." },
    { "fe80::1:2", "1:1 write an IPv6 address in brackets: [fe80::1:2], ..." },
    { "a,me@b:2", "1:3 a host list cannot name a user: write 'User me' ..." },
    { "", "1:1 a host name is missing" },
    { "a,,b", "1:3 a host name is missing" },
    { "a,b,", "1:5 a host name is missing" },
    { "a,b:0x", "1:5 slots needs a whole number ..." },
    { "a,p[1-", "1:7 host list 'p[1-': ..." },
    { "a, b c", "1:5 host list 'b c': ..." },
};

/* What is wanted ends in "..." where lib/base has the rest of the message in its words. */
static void check(const char *got, const char *want, const char *what, size_t i)
{
    size_t len = strlen(want);
    int open = len > 3 && !strcmp(want + len - 3, "...");

    if (!ok(open ? !strncmp(got, want, len - 3) : !strcmp(got, want), "%s %zu", what, i))
        printf("#   got  '%s'\n#   want '%s'\n", got, want);
}

int main(void)
{
    struct hrun_host_list list = HRUN_HOST_LIST_INIT;
    struct hrun_error err;
    char *dir = hrun_rundir_create(NULL, &err), *path = hrun_strf("%s/hosts", dir), *got, *big;
    size_t len = 0;

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        got = read_text(path, files[i].text, strlen(files[i].text));
        check(got, files[i].want, "host file", i);
        free(got);
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        got = read_words(words[i].text);
        check(got, words[i].want, "--host", i);
        free(got);
    }

    got = read_text(path, "a\nb\0c\n", 6);
    is_str(got, "2:0 this is no text: the line holds a zero byte", "a zero byte");
    free(got);

    /* A long file: every name once, the last line without newline; then the first name again. */
    big = malloc(16000 * 16);
    for (int i = 0; i < 16000; i++)
        len += (size_t)sprintf(big + len, "host%d:3\n", i);
    hrun_file_replace(path, big, len - 1, 0600, &err);
    ok(!hrun_hostfile_read(path, 0, &list, &err) && list.n == 16000 && list.v[15999].slots == 3 &&
       list.v[15999].line == 16000, "16,000 lines");
    len += (size_t)sprintf(big + len, "host0 slots=1");
    hrun_file_replace(path, big, len, 0600, &err);
    is_int(hrun_hostfile_read(path, 0, &list, &err), -1, "and one of them again");
    ok(err.code == HRUN_EPARSE && err.line == 16001, "its place");
    is_str(err.file, path, "its file");
    ok(list.n == 16000, "the list is as before");
    hrun_host_list_release(&list);
    free(big);

    is_int(hrun_hostfile_read("/no/such/file", 0, &list, &err), -1, "no such file");
    is_int(err.code, HRUN_ENOENT, "its code");
    is_int(hrun_hostfile_read(dir, 0, &list, &err), -1, "a folder");
    is_int(err.code, HRUN_EINVAL, "its code");
    is_int(hrun_hosts_parse("a,", &list, &err), -1, "--host");
    is_str(err.file, "--host", "names itself as the place");

    hrun_remove_tree(dir);
    free(dir);
    free(path);
    return tap_done();
}
