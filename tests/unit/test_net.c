/* test_net.c - networks: a message alone, invariants, files: round trip, what is refused and where, versions, damage,
 * and which file is about which hosts */
#include "net.h"

#include "base/file.h"
#include "net/net_parts.h"

#include <locale.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static char *dir, *path;

/* Three hosts behind two switches: a and b of class 0 (two kinds of PEs) at switch 0, c of class 1 at switch 1. Powers
 * of two, so that sums are exact. */
static struct hrun_net *plain_net(void)
{
    const char *const hosts[] = { "a", "b", "c" };
    struct hrun_net *net = net_make(hosts, 3, 2, 2, 2);

    net_text(&net->engine, "mpirun");
    net_text(&net->mpi, "ompi-4.1.4");
    net_text(&net->date, "2026-11-20T10:36:00Z");
    net->class_of[2] = net->group_of[2] = 1;
    net->classes[0].C_s = (struct hrun_net_value){ 0x1p-16, 0x1p-20 };
    net->classes[0].t_s_per_byte.v = 0x1p-30;
    net->classes[0].nkinds = 2;
    free(net->classes[0].local_fixed_s);
    free(net->classes[0].local_s_per_byte);
    net->classes[0].local_fixed_s = calloc(4, sizeof(struct hrun_net_value));
    net->classes[0].local_s_per_byte = calloc(4, sizeof(struct hrun_net_value));
    for (int k = 0; k < 4; k++) {
        net->classes[0].local_fixed_s[k] = (struct hrun_net_value){ (k + 1) * 0x1p-20, NAN };
        net->classes[0].local_s_per_byte[k] = (struct hrun_net_value){ (k + 1) * 0x1p-32, NAN };
    }
    net->classes[1].C_s.v = 0x1p-15;
    net->classes[1].t_s_per_byte.v = 0x1p-29;
    for (int i = 0; i < 3; i++)
        net->pairs[i] = (struct hrun_net_pair){ { 0x1p-14, 0x1p-18 }, { 0x1p27, 0x1p20 } };
    net->trunks[1] = (struct hrun_net_value){ 0x1p25, NAN };
    net->segments[1] = (struct hrun_net_segment){ 1024, 2, 0.5 };
    net->sync_bytes = 65536;
    net->reduce_s_per_byte = 0x1p-31;
    net->thresholds = (struct hrun_net_thresholds){ 4096, 8192, 65536, -0x1p-33, 0x1p-34, 0.125, 0.5 };
    return net;
}

/* ---------------------------------------------------------------- a message alone */

static void test_p2p(void)
{
    struct hrun_net *net = plain_net();
    const double from_1k = 2 * 0x1p-14;

    is_num(hrun_net_p2p(net, 0, 0, 1, 0, 0) * 1e6, (2 * 0x1p-16 + 0x1p-14) * 1e6, 1e-15, "empty: C + C + L");
    is_num(hrun_net_p2p(net, 0, 0, 1, 1, 512) * 1e6, (2 * 0x1p-16 + 0x1p-14 + 512 * (2 * 0x1p-30 + 0x1p-27)) * 1e6,
           1e-15, "512 B: each byte at both processors and on the wire");
    is_num(hrun_net_p2p(net, 0, 0, 1, 0, 1024) * 1e6,
           (2 * 0x1p-16 + from_1k + 1024 * (2 * 0x1p-30 + 0.5 * 0x1p-27)) * 1e6, 1e-15, "1024 B: the next segment");
    is_num(hrun_net_p2p(net, 0, 0, 2, 0, 1024) * 1e6,
           (0x1p-16 + 0x1p-15 + from_1k + 1024 * (0x1p-30 + 0x1p-29 + 0.5 * 0x1p-25)) * 1e6, 1e-15, "over the trunk");
    net->classes[1].in_bytes_per_s.v = 0x1p20;
    is_num(hrun_net_p2p(net, 0, 0, 2, 0, 1024) * 1e6,
           (0x1p-16 + 0x1p-15 + from_1k + 1024 * (0x1p-30 + 0x1p-29 + 0.5 * 0x1p-20)) * 1e6, 1e-15,
           "into a port that is slower than both");
    net->classes[0].out_bytes_per_s.v = 0x1p19;
    is_num(hrun_net_p2p(net, 0, 0, 2, 0, 1024) * 1e6,
           (0x1p-16 + 0x1p-15 + from_1k + 1024 * (0x1p-30 + 0x1p-29 + 0.5 * 0x1p-19)) * 1e6, 1e-15,
           "out of one that is slower still");
    net->trunks_shared = 1;
    net->back_share = 0.25;
    net->classes[0].out_bytes_per_s.v = net->classes[1].in_bytes_per_s.v = 0;
    is_num(hrun_net_p2p(net, 0, 0, 2, 0, 1024) * 1e6,
           (0x1p-16 + 0x1p-15 + from_1k + 1024 * (0x1p-30 + 0x1p-29 + 0.5 * 1.25 * 0x1p-25)) * 1e6, 1e-15,
           "over a trunk that its acknowledgements take, too");
    is_num(hrun_net_p2p(net, 0, 1, 0, 0, 4096) * 1e6, (3 * 0x1p-20 + 4096 * 3 * 0x1p-32) * 1e6, 1e-15,
           "inside a host: from its kind 1 to its kind 0");
    net->classes[0].local_bytes_per_s = 0x1p28;
    is_num(hrun_net_p2p(net, 0, 1, 0, 0, 4096) * 1e6, (3 * 0x1p-20 + 4096 * 0x1p-28) * 1e6, 1e-15,
           "no faster than the memory");
    ok(isnan(hrun_net_p2p(net, 2, 0, 2, 1, 1)) && isnan(hrun_net_p2p(net, 2, 0, 2, -1, 1)), "no such kind: NAN");
    net->pairs[2].beta_bytes_per_s.v = 0;
    ok(isnan(hrun_net_p2p(net, 2, 0, 0, 0, 1)), "nothing measured from c to a: NAN");
    ok(isnan(hrun_net_p2p(net, 0, 0, 3, 0, 1)) && isnan(hrun_net_p2p(net, -1, 0, 1, 0, 1)), "no such host: NAN");
    ok(isnan(hrun_net_p2p(net, 0, 0, 1, 0, -1)) && isnan(hrun_net_p2p(net, 0, 0, 1, 0, NAN)), "no such size: NAN");
    is_int(hrun_net_find(net, "c"), 2, "c is host 2");
    is_int(hrun_net_find(net, "C"), -1, "C is none");
    hrun_net_destroy(net);
}

/* ---------------------------------------------------------------- invariants */

static void test_create(void)
{
    const char *const hosts[] = { "x", "y" };
    struct hrun_error err = { 0 };
    struct hrun_net *net = net_blank(hosts, 2);

    ok(net && !hrun_net_check(net, &err), "a blank network keeps the invariants (%s)", err.text);
    ok(net->nclasses == 2 && net->class_of[0] == 0 && net->class_of[1] == 1 && net->ngroups == 1, "a class each");
    ok(isnan(net->classes[1].C_s.half) && isnan(net->pairs[3].L_s.half) && isnan(net->trunks[0].half) &&
       isnan(net->classes[0].local_fixed_s[0].half) && net->pairs[3].beta_bytes_per_s.v == 0, "nothing is known");
    hrun_net_destroy(net);
    hrun_net_destroy(NULL);
}

static void test_check(void)
{
    struct hrun_net *net = plain_net();
    struct hrun_error err = { 0 };
    const struct { double *v; const char *say; int signs; } numbers[] = {
        { &net->classes[0].C_s.v, "classes[0].C_s.v is ", 0 },
        { &net->classes[1].t_s_per_byte.v, "classes[1].t_s_per_byte.v is ", 0 },
        { &net->classes[0].out_bytes_per_s.v, "classes[0].out_bytes_per_s.v is ", 0 },
        { &net->classes[0].in_bytes_per_s.v, "classes[0].in_bytes_per_s.v is ", 0 },
        { &net->classes[0].local_bytes_per_s, "classes[0].local_bytes_per_s is ", 0 },
        { &net->classes[0].local_fixed_s[2].v, "classes[0].local[1 to 0].fixed_s.v is ", 0 },
        { &net->classes[0].local_s_per_byte[3].v, "classes[0].local[1 to 1].s_per_byte.v is ", 0 },
        { &net->pairs[1].L_s.v, "pairs[0 to 1].L_s.v is ", 0 },
        { &net->pairs[2].beta_bytes_per_s.v, "pairs[1 to 0].beta_bytes_per_s.v is ", 0 },
        { &net->trunks[1].v, "trunks[0 to 1].bytes_per_s.v is ", 0 },
        { &net->segments[1].from_bytes, "segments[1].from_bytes is ", 0 },
        { &net->segments[0].a, "segments[0].a is ", 0 }, { &net->segments[1].b, "segments[1].b is ", 0 },
        { &net->sync_bytes, "sync_bytes is ", 0 }, { &net->reduce_s_per_byte, "reduce_s_per_byte is ", 0 },
        { &net->thresholds.scatter_S, "thresholds.scatter_S is ", 0 },
        { &net->thresholds.kappa1_s_per_byte, "thresholds.kappa1_s_per_byte is ", 1 },
        { &net->thresholds.irregular_share, "thresholds.irregular_share is ", 0 },
    };
    const struct { struct hrun_net_value *v; const char *say; } halves[] = {
        { &net->classes[0].C_s, "classes[0].C_s.half is " }, { &net->pairs[1].L_s, "pairs[0 to 1].L_s.half is " },
        { &net->trunks[1], "trunks[0 to 1].bytes_per_s.half is " },
    };
    const struct { int *v; int to; const char *say; } wholes[] = {
        { &net->class_of[1], 2, "host 'b' is of class 2: classes are numbered from 0 to 1" },
        { &net->class_of[1], -1, "host 'b' is of class -1" }, { &net->group_of[2], 2, "host 'c' is in group 2" },
    };
    static const double never[] = { NAN, INFINITY, -INFINITY, -1 };

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        for (int j = 0; j < (numbers[i].signs ? 3 : 4); j++) {
            double keep = *numbers[i].v;

            *numbers[i].v = never[j];
            ok(hrun_net_check(net, &err) == -1 && err.code == HRUN_EINVAL, "%s%g: refused", numbers[i].say, never[j]);
            has_str(err.text, numbers[i].say, "which is said");
            *numbers[i].v = keep;
        }
    for (size_t i = 0; i < sizeof halves / sizeof *halves; i++)
        for (int j = 1; j < 4; j++) {
            double keep = halves[i].v->half;

            halves[i].v->half = never[j];
            ok(hrun_net_check(net, &err) == -1, "%s%g: refused", halves[i].say, never[j]);
            has_str(err.text, halves[i].say, "which is said");
            halves[i].v->half = keep;
        }
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++) {
        int keep = *wholes[i].v;

        *wholes[i].v = wholes[i].to;
        ok(hrun_net_check(net, &err) == -1 && err.code == HRUN_EINVAL, "%s: refused", wholes[i].say);
        has_str(err.text, wholes[i].say, "which is said");
        *wholes[i].v = keep;
    }
    net->segments[1].from_bytes = 0;
    ok(hrun_net_check(net, &err) == -1, "segments that do not ascend");
    has_str(err.text, "segments[1].from_bytes is 0: segments must ascend", "which is said");
    net->segments[1].from_bytes = 1024;
    net->segments[0].from_bytes = 1;
    ok(hrun_net_check(net, &err) == -1, "the first segment later than at 0");
    net->segments[0].from_bytes = 0;
    net->thresholds.irregular_share = 1.5;
    ok(hrun_net_check(net, &err) == -1, "more than all gathers");
    net->thresholds.irregular_share = 1;
    net->thresholds.gather_M2 = 8191;
    ok(hrun_net_check(net, &err) == -1, "M2 below M1");
    net->thresholds.gather_M2 = 0;
    ok(!hrun_net_check(net, &err), "no M2 is none");
    net->back_share = 1.25;
    ok(hrun_net_check(net, &err) == -1, "more on the way back than was sent");
    net->back_share = 1;
    net->wire_waits = 2;
    ok(hrun_net_check(net, &err) == -1, "neither waiting nor not waiting");
    net->wire_waits = 1;
    net->hosts[2][0] = 'a';
    ok(hrun_net_check(net, &err) == -1, "a host twice");
    has_str(err.text, "host 'a' is listed twice", "which is said");
    hrun_net_destroy(net);
}

/* ---------------------------------------------------------------- files */

static void test_round_trip(void)
{
    enum { ROUNDS = 150, SEED = 7 };
    struct hrun_error err = { 0 };
    uint64_t rng = SEED;
    int same = 0;

    for (int i = 0; i < ROUNDS; i++) {
        struct hrun_net *net = net_random(&rng, 7), *back = NULL;

        if (hrun_net_save(net, path, &err) || hrun_net_load(path, &back, &err))
            printf("#   round %d: %s\n", i, err.text);
        else
            same += net_same(net, back);
        hrun_net_destroy(net);
        hrun_net_destroy(back);
    }
    is_int(same, ROUNDS, "random networks come back equal to the last bit (seed %d)", SEED);
}

/* A comma for the decimal point must not reach the files. */
static void test_locale(void)
{
    static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "da_DK.UTF-8" };
    struct hrun_net *net = plain_net(), *back = NULL;
    const char *set = NULL;

    for (size_t i = 0; i < sizeof names / sizeof *names && !set; i++)
        set = setlocale(LC_ALL, names[i]);
    if (!set) {
        printf("ok %d # SKIP no locale with a decimal comma is installed\n", ++tap_count);
    } else {
        ok(!hrun_net_save(net, path, NULL) && !hrun_net_load(path, &back, NULL) && net_same(net, back),
           "written and read in the locale %s", set);
        setlocale(LC_ALL, "C");
        hrun_net_destroy(back);
        back = NULL;
        ok(!hrun_net_load(path, &back, NULL) && net_same(net, back), "and in C");
    }
    hrun_net_destroy(back);
    hrun_net_destroy(net);
}

/* The file of the plain network with `from` replaced by `to`, and no checksum. */
static void alter(const char *from, const char *to)
{
    struct hrun_net *net = plain_net();
    struct hrun_buf text, out = HRUN_BUF_INIT;
    char *at;

    unlink(path);
    hrun_net_save(net, path, NULL);
    text = read_file(path);
    at = strstr(text.data, from);
    if (!at) {
        printf("Bail out! no '%s' in %s\n", from, text.data);
        exit(1);
    }
    hrun_buf_add(&out, text.data, (size_t)(at - text.data));
    hrun_buf_addf(&out, "%s%s", to, at + strlen(from));
    out.len = (size_t)(strstr(out.data, "# crc32 ") - out.data);
    write_file(path, out.data, out.len);
    hrun_buf_release(&text);
    hrun_buf_release(&out);
    hrun_net_destroy(net);
}

static void place_of(const char *what, int *line, int *column)
{
    struct hrun_buf text = read_file(path);
    const char *at = strstr(text.data, what);

    *line = *column = at ? 1 : 0;
    for (const char *p = text.data; at && p < at; p++) {
        *column = *p == '\n' ? 1 : *column + 1;
        *line += *p == '\n';
    }
    hrun_buf_release(&text);
}

static void test_refused(void)
{
    static const struct {
        const char *from, *to;
        const char *at;        /* what the error points to, NULL: not looked at */
        const char *why;
    } cases[] = {
        { "version: 1", "version: 0", "0\n", "version 0 is unknown" },
        { "groups: 2", "groups: 4", "4\nhosts",
          "groups is 4: it must be at least 1, and at most the number of hosts, 3" },
        { "groups: 2", "groups: 1", NULL, "trunks[0].to is 1: groups are numbered from 0 to 0" },
        { "group: 1", "group: 2", "2}", "host 'c' is in group 2: groups are numbered from 0 to 1" },
        { "selector: openmpi\n", "", NULL, "lacks the key 'selector'" },
        { "selector: openmpi", "selector: ''", "''", "'selector' must not be empty" },
        { "selector: ", "gpu: 1\nselector: ", "gpu", "unknown key 'gpu'" },
        { "name: b", "name: a", "a, class: 0, group: 0}\n- {name: c", "host 'a' is listed twice: keep one" },
        { "class: 1", "class: 2", "2,", "host 'c' is of class 2: classes are numbered from 0 to 1" },
        { "class: 1", "class: x", "x,", "'hosts[2].class' must be a whole number, found 'x'" },
        { "kinds: 2", "kinds: 0", "0\n  local", "classes[0].kinds is 0: it must be in 1..256" },
        { "kinds: 2", "kinds: 257", "257\n", "classes[0].kinds is 257: it must be in 1..256" },
        { "kinds: 2", "kinds: 1", "1, fixed_s", "classes[0].local[1].to is 1: kinds are numbered from 0 to 0" },
        { "C_s: {v: ", "C_s: {v: -", "-1.", "classes[0].C_s.v is -1.52588e-05: it must be finite and not negative" },
        { "half: ", "half: -", "-9.", "classes[0].C_s.half is -9.53674e-07" },
        { "half: ", "half: .nan #", NULL, "" },
        { "L_s: {v: ", "L_s: {v: -", NULL, "pairs[0].L_s.v is -6.10352e-05" },
        { "L_s: {v: ", "L_s: {v: 1e999}, x: {v: ", "1e999", "must be a number below" },
        { "pairs:\n- {from: 0", "pairs:\n- {from: 2", "2, to", "pairs[0].from is 2: classes are numbered from 0 to 1" },
        { "pairs:\n- {from: 0, to: 0", "pairs:\n- {from: 0, to: -1", "-1,",
          "pairs[0].to is -1: classes are numbered from 0 to 1" },
        { "pairs:\n- {from: 0, to: 0", "pairs:\n- {from: 0, to: 1", NULL, "pairs[1].L_s was given before: keep one" },
        { "trunks:\n- {from: 0, to: 1", "trunks:\n- {from: 0, to: 2", "2, bytes",
          "trunks[0].to is 2: groups are numbered from 0 to 1" },
        { "b: 0.5}", "b: 0}", "0}\nsync", "segments[1].b is 0: a factor must be finite and above 0" },
        { "from_bytes: 0", "from_bytes: 1", NULL, "segments[0].from_bytes is 1: the first segment begins at 0 bytes" },
        { "irregular_share: 0.5", "irregular_share: 5e0", "5e0",
          "thresholds.irregular_share is 5: a share is at most 1" },
        { "sync_bytes: ", "sync_bytes: many #", "many", "'sync_bytes' must be a number" },
        { "thresholds:", "- x", NULL, "" },
    };
    struct hrun_net *out = (struct hrun_net *)&out;
    struct hrun_error err = { 0 };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int line = 0, column = 0;

        alter(cases[i].from, cases[i].to);
        memset(&err, 0, sizeof err);
        ok(hrun_net_load(path, &out, &err) == -1 && out == (struct hrun_net *)&out && err.code == HRUN_EPARSE,
           "refused: %.*s", (int)strcspn(cases[i].to, "\n"), cases[i].to);
        is_str(err.file, path, "its file");
        ok(err.line > 0 && err.column > 0, "its place");
        if (cases[i].at) {
            place_of(cases[i].at, &line, &column);
            ok(line > 0 && err.line == line && err.column == column, "at %d:%d (%d:%d)", line, column, err.line,
               err.column);
        }
        has_str(err.text, cases[i].why, "the reason");
        ok(hrun_net_load(path, &out, NULL) == -1, "without an error object too");
    }
    unlink(path);
    ok(hrun_net_load(path, &out, &err) == -1 && err.code == HRUN_ENOENT, "no file");
    alter("version", "version");
    ok(!hrun_net_load(path, &out, &err), "a file without a checksum, written by hand, is read");
    hrun_net_destroy(out);
}

/* With its checksum any flipped bit is found before a value is believed. */
static void test_damage(void)
{
    struct hrun_net *net = plain_net(), *out = NULL;
    struct hrun_error err = { 0 };
    struct hrun_buf text;
    size_t body;
    int missed = 0, unsaid = 0;

    ok(!hrun_net_save(net, path, &err), "a network");
    text = read_file(path);
    body = (size_t)(strstr(text.data, "# crc32 ") - text.data);
    for (size_t at = 0; at < body; at++) {
        text.data[at] ^= 1;
        write_file(path, text.data, text.len);
        text.data[at] ^= 1;
        missed += hrun_net_load(path, &out, &err) != -1 || err.code != HRUN_ECORRUPT;
        unsaid += strcmp(err.file, path) || !strstr(err.text, "the network is damaged or was edited");
    }
    is_int(missed, 0, "one flipped bit in each of %zu bytes is noticed", body);
    is_int(unsaid, 0, "and said");
    for (size_t len = 0; len < text.len; len++) {
        write_file(path, text.data, len);
        if (!hrun_net_load(path, &out, &err)) {
            missed += !net_same(net, out);
            hrun_net_destroy(out);
        }
    }
    /* A file cut in its last line has no checksum, one cut in its last number has another number. */
    ok(missed < 32, "cut before its last line it is refused (%d short numbers)", missed);
    hrun_buf_release(&text);
    hrun_net_destroy(net);
}

/* A network of a newer hrun is neither read nor replaced. */
static void test_newer(void)
{
    struct hrun_net *net = plain_net(), *out = (struct hrun_net *)&out;
    struct hrun_error err = { 0 };
    struct hrun_buf before, after;

    alter("version: 1", "version: 2\ngpu: yes");
    before = read_file(path);
    ok(hrun_net_load(path, &out, &err) == -1 && err.code == HRUN_ECORRUPT && out == (struct hrun_net *)&out,
       "a newer hrun's is refused");
    has_str(err.text, "a newer hrun wrote the network (version 2, this hrun reads up to 1): use the newer hrun",
            "which is said");
    ok(hrun_net_save(net, path, &err) == -1 && err.code == HRUN_EEXISTS, "nor replaced");
    is_str(err.file, path, "its file");
    has_str(err.text, "a newer hrun wrote the network (version 2, this hrun writes 1): it is kept", "the reason");
    ok(hrun_net_save(net, path, NULL) == -1, "without an error object too");
    after = read_file(path);
    ok(before.len == after.len && !memcmp(before.data, after.data, after.len), "it stands as it was");
    hrun_buf_addf(&before, "# crc32 00000000\n");
    write_file(path, before.data, before.len);
    ok(!hrun_net_save(net, path, &err), "a damaged one is no loss, whatever its version");
    net->sync_bytes = -1;
    ok(hrun_net_save(net, path, &err) == -1 && err.code == HRUN_EINVAL, "a wrong number is not written");
    net->sync_bytes = 0;
    net_text(&net->date, "\xff\xfe");
    ok(hrun_net_save(net, path, &err) == -1 && err.code == HRUN_EINVAL, "nor is what is not UTF-8");
    hrun_buf_release(&after);
    after = read_file(path);
    ok(after.len > 500 && strstr(after.data, "version: 1\n"), "the old one stands");
    hrun_buf_release(&before);
    hrun_buf_release(&after);
    hrun_net_destroy(net);
}

/* ---------------------------------------------------------------- which file */

static void test_names(void)
{
    const char *const hosts[] = { "node2", "node10", "Node1" }, *const other[] = { "Node1", "node2", "node10" };
    const char *const joined[] = { "node10node2", "Node1" }, *const odd[] = { "[::1]" };
    struct hrun_buf a = HRUN_BUF_INIT, b = HRUN_BUF_INIT, c = HRUN_BUF_INIT;

    hrun_net_file("/data", &(struct hrun_net_origin){ hosts, 3, "mpirun", "ompi-4.1.4" }, &a);
    hrun_net_file("/data", &(struct hrun_net_origin){ other, 3, "mpirun", "ompi-4.1.4" }, &b);
    is_str(a.data, b.data, "the order of the hosts does not matter");
    ok(!strncmp(a.data, "/data/networks/node1.3-mpirun-ompi-4.1.4-", 41) && a.len == 41 + 8 + 5, "a name to read: %s",
       a.data);
    hrun_net_file("/data", &(struct hrun_net_origin){ joined, 2, "mpirun", "ompi-4.1.4" }, &c);
    ok(strcmp(strrchr(a.data, '-'), strrchr(c.data, '-')), "other hosts, another name");
    hrun_buf_reset(&b);
    hrun_net_file("/data", &(struct hrun_net_origin){ hosts, 3, "smpi", "ompi-4.1.4" }, &b);
    ok(strcmp(strrchr(a.data, '-'), strrchr(b.data, '-')), "so for another engine");
    hrun_buf_reset(&b);
    hrun_net_file("/data", &(struct hrun_net_origin){ odd, 1, "local", "" }, &b);
    ok(!strpbrk(b.data + strlen("/data/networks/"), "[]:/"), "no odd characters: %s", b.data);
    hrun_buf_release(&a);
    hrun_buf_release(&b);
    hrun_buf_release(&c);
}

/* Save a network of these hosts under the name that it gets. */
static void put_word(const char *data, const char *const *hosts, int n, const char *engine, const char *date)
{
    struct hrun_net *net = net_blank(hosts, n);
    struct hrun_buf file = HRUN_BUF_INIT;

    net_text(&net->engine, engine);
    net_text(&net->mpi, "ompi-4.1.4");
    net_text(&net->date, date);
    hrun_net_file(data, &(struct hrun_net_origin){ hosts, n, engine, "ompi-4.1.4" }, &file);
    ok(!hrun_net_save(net, file.data, NULL), "saved: %s", strrchr(file.data, '/') + 1);
    hrun_buf_release(&file);
    hrun_net_destroy(net);
}

static struct hrun_net *choose(const char *data, const char *const *hosts, int n, struct hrun_buf *file,
                               struct hrun_buf *note)
{
    hrun_buf_reset(file);
    return hrun_net_choose(data, &(struct hrun_net_origin){ hosts, n, "mpirun", "ompi-4.1.4" }, file, note);
}

static void test_choose(void)
{
    const char *const abcd[] = { "a", "b", "c", "d" }, *const abce[] = { "e", "a", "b", "c" };
    const char *const abcdef[] = { "a", "b", "c", "d", "e", "f" }, *const xy[] = { "x", "y" };
    const char *const ba[] = { "b", "a" }, *const aaa[] = { "a", "a", "a" };
    struct hrun_buf file = HRUN_BUF_INIT, note = HRUN_BUF_INIT, bad = HRUN_BUF_INIT;
    char *data = hrun_strf("%s/more/deep", dir);
    struct hrun_net *net;
    struct stat st;

    ok(!choose(data, abcd, 2, &file, &note) && !note.len && !file.len, "nothing there: none, and no word");
    put_word(data, abcdef, 6, "mpirun", "2026-01-01T00:00:00Z");
    put_word(data, abcd, 2, "local", "2026-01-01T00:00:00Z");
    net = choose(data, ba, 2, &file, &note);
    ok(net && net->nhosts == 6, "the one that has them, not that of another engine");
    hrun_net_destroy(net);
    put_word(data, abcd, 4, "mpirun", "2026-01-01T00:00:00Z");
    put_word(data, abce, 4, "mpirun", "2026-02-01T00:00:00Z");
    net = choose(data, ba, 2, &file, &note);
    ok(net && net->nhosts == 4 && hrun_net_find(net, "e") == 0, "the one with the fewest others, of equals the newest");
    ok(strstr(file.data, data) && !stat(file.data, &st), "and its file");
    hrun_net_destroy(net);
    net = choose(data, aaa, 3, &file, &note);
    ok(net && net->nhosts == 4, "a host that is named several times counts once");
    hrun_net_destroy(net);
    ok(!choose(data, xy, 2, &file, &note), "none of them has x");
    put_word(data, ba, 2, "mpirun", "2025-01-01T00:00:00Z");
    net = choose(data, abcd, 2, &file, &note);
    ok(net && net->nhosts == 2 && !note.len, "that of exactly these hosts");
    hrun_net_destroy(net);
    hrun_net_file(data, &(struct hrun_net_origin){ ba, 2, "mpirun", "ompi-4.1.4" }, &bad);
    write_file(bad.data, "version: 1\nhosts: 3\n", 20);
    net = choose(data, abcd, 2, &file, &note);
    ok(net && net->nhosts == 4, "that one damaged: the next");
    has_str(note.data, "network not used: ", "which is noted");
    has_str(note.data, ":2:8: 'hosts' must be a list", "with the place");
    hrun_net_destroy(net);
    net = hrun_net_choose(data, &(struct hrun_net_origin){ ba, 2, "mpirun", "ompi-4.1.4" }, NULL, NULL);
    ok(net && net->nhosts == 4, "without file and note");
    hrun_net_destroy(net);
    hrun_buf_release(&bad);
    hrun_buf_release(&file);
    hrun_buf_release(&note);
    free(data);
}

/* ---------------------------------------------------------------- what is badly known */

static void test_unsure(void)
{
    const char *const names[] = { "a", "b", "c" };
    struct hrun_net *net = net_blank(names, 3);
    struct hrun_buf words = HRUN_BUF_INIT;
    struct hrun_net_unsure u;

    for (int k = 0; k < 9; k++)
        net->pairs[k] = (struct hrun_net_pair){ { 1e-4, 1e-5 }, { 1e8, 1e7 } };
    hrun_net_find_unsure(net, &u);
    is_int(u.of, 6, "six ways between three hosts");
    is_int(u.pairs, 0, "all known to a tenth");
    hrun_net_add_unsure(net, &words);
    is_int((long)words.len, 0, "of which nothing is said");
    net->pairs[1 * 3 + 2].L_s.half = 5e-5;
    net->pairs[2 * 3 + 0].beta_bytes_per_s.half = 9e7;
    hrun_net_find_unsure(net, &u);
    ok(u.pairs == 2 && u.from == 2 && u.to == 0 && u.half_rel > 0.77 && u.half_rel < 0.79,
       "a latency known to a half, and a rate to nine tenths");
    hrun_net_add_unsure(net, &words);
    ok(words.len && strstr(words.data, "2 of 6 pairs of host classes (c -> a: +-78 %)") && strstr(words.data, "--redo"),
       "are told, with what to do");
    hrun_buf_release(&words);
    hrun_net_destroy(net);
}

int main(void)
{
    dir = temp_dir();
    path = hrun_strf("%s/net.yaml", dir);
    test_p2p();
    test_create();
    test_check();
    test_round_trip();
    test_locale();
    test_refused();
    test_damage();
    test_newer();
    test_names();
    test_choose();
    free(path);
    free(dir);
    test_unsure();
    return tap_done();
}
