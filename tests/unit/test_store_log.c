/* test_store_log.c - records of the log: round trip, damage of every kind, what is refused */
#include "store.h"

static char *dir, *logfile;
static struct hrun_store *store;

static char *random_text(uint64_t *rng)
{
    /* What could confuse a reader: the marks of a record, quotes, controls, several bytes per character. */
    static const char *const pieces[] = {
        "{\"M\":", "\t0123abcd", "\n", "\\", "\"", "a", "Z", " ", "\x01", "\x7f", "\xc3\xa9", "\xe2\x82\xac",
        "\xf0\x9f\x90\xa7", "}", "\r\n", "/", "\\u0041", "0"
    };
    struct hrun_buf b = HRUN_BUF_INIT;
    int n = (int)(draw(rng) % 12);

    if (draw(rng) % 8 == 0)
        return NULL;
    for (int i = 0; i < n; i++)
        hrun_buf_adds(&b, pieces[draw(rng) % (sizeof pieces / sizeof *pieces)]);
    return hrun_buf_detach(&b);
}

/* Any positive finite double is as likely as any other. */
static double random_time(uint64_t *rng)
{
    double t;

    do {
        uint64_t bits = draw(rng) >> 1;
        memcpy(&t, &bits, sizeof t);
    } while (!isfinite(t) || t <= 0);
    return t;
}

static struct hrun_sample random_sample(uint64_t *rng)
{
    struct hrun_sample s = { 0 };

    s.N = 1 + (int64_t)(draw(rng) >> (11 + draw(rng) % 52));
    s.M = 1 + (int)(draw(rng) % 64);
    s.pes = 1 + (int)(draw(rng) % 10000);
    s.mixed = (int)(draw(rng) % 2);
    s.P = s.M * s.pes + (s.mixed ? 1 + (int)(draw(rng) % 1000) : 0);
    s.ok = draw(rng) % 4 != 0;
    s.time_s = s.ok ? random_time(rng) : 0;
    s.wall_s = s.ok || draw(rng) % 2 ? random_time(rng) : 0;
    s.status = strdup(s.ok ? "ok" : "exit 3");
    s.origin = random_text(rng);
    s.config = random_text(rng);
    s.cluster = random_text(rng);
    s.consts = random_text(rng);
    s.program = random_text(rng);
    s.launcher.host = random_text(rng);
    s.launcher.mpi = random_text(rng);
    s.launcher.engine = random_text(rng);
    s.launcher.version = random_text(rng);
    s.date = hrun_strf("%04d-%02d-%02dT%02d:%02d:%02dZ", 1000 + (int)(draw(rng) % 9000), 1 + (int)(draw(rng) % 12),
                       1 + (int)(draw(rng) % 28), (int)(draw(rng) % 24), (int)(draw(rng) % 60),
                       (int)(draw(rng) % 60));
    if (s.cluster && *s.cluster && draw(rng) % 2) {
        s.signatures = strdup(SIG);          /* one, as there is no comma in the cluster's text */
        s.limits = draw(rng) % 2 ? strdup(s.cluster) : NULL;
    }
    s.compute_s = draw(rng) % 4 ? 0 : random_time(rng);
    s.mpi_s = draw(rng) % 4 ? 0 : random_time(rng);
    s.work = draw(rng) % 4 ? 0 : random_time(rng);
    s.copies = !s.mixed && draw(rng) % 4 == 0;
    s.trace = draw(rng) % 4 ? NULL : strdup("1 ranks=2 elapsed=1");
    s.settings = draw(rng) % 4 ? NULL : strdup("--mca pml ob1");
    return s;
}

static void test_round_trip(void)
{
    enum { COUNT = 200, SEED = 20261120 };
    static struct hrun_sample want[COUNT];
    struct hrun_samples got = { 0 };
    struct hrun_error err = { 0 };
    uint64_t rng = SEED;
    int stored = 0, same = 0;

    ok(!hrun_store_samples(store, APP, SIG, &got, &err) && got.n == 0 && got.bad == 0 && !got.first_bad,
       "no log yet: no samples");
    ok(access(dir, F_OK) == 0 && access(logfile, F_OK) != 0, "reading creates nothing");
    for (int i = 0; i < COUNT; i++) {
        want[i] = random_sample(&rng);
        stored += !hrun_store_append(store, APP, SIG, &want[i], &err);
    }
    is_int(stored, COUNT, "random samples are stored (seed %d)", SEED);
    ok(!hrun_store_samples(store, APP, SIG, &got, &err), "and read");
    is_int(got.n, COUNT, "all of them");
    is_int(got.bad, 0, "none is bad");
    for (size_t i = 0; i < got.n && i < COUNT; i++)
        same += same_sample(&want[i], &got.v[i]);
    is_int(same, COUNT, "in their order, equal to the last bit");
    for (int i = 0; i < COUNT; i++)
        hrun_sample_release(&want[i]);
    hrun_samples_release(&got);
    ok(!got.v && !got.n, "a released list is empty");
    hrun_samples_release(&got);
    unlink(logfile);
}

/* A record is of a higher version only where it tells what lower ones have no keys for. */
static void test_versions(void)
{
    struct hrun_sample s[10];
    struct hrun_samples got = { 0 };
    struct hrun_error err = { 0 };
    struct hrun_buf text;
    int same = 0;

    for (int i = 0; i < 10; i++)
        s[i] = plain_sample(i + 1);
    s[1].signatures = SIG "," SIG;
    s[2].limits = "b";
    s[3].compute_s = 1.5;
    s[4].mpi_s = 1e-300;
    s[5].trace = "1 ranks=2";
    s[6].work = 96;
    s[7].copies = 1;
    s[8].settings = "--mca pml ob1";
    s[9].shares = "0.125,0";
    for (int i = 0; i < 10; i++) {
        ok(!hrun_store_append(store, APP, SIG, &s[i], &err), "a record that tells %s",
           i ? "more than version 1 can" : "what version 1 can");
        text = read_file(logfile);
        if (i == 0)
            ok(strstr(text.data, "\"v\":1,") && !strstr(text.data, "compute_s"), "is of version 1");
        else
            has_str(strrchr(text.data, '{'), i < 6 ? "\"v\":2," : i < 8 ? "\"v\":3," : i < 9 ? "\"v\":4," : "\"v\":5,",
                    "is of version %d", i < 6 ? 2 : i < 8 ? 3 : i < 9 ? 4 : 5);
        hrun_buf_release(&text);
    }
    ok(!hrun_store_samples(store, APP, SIG, &got, &err) && got.n == 10 && !got.bad, "all are read");
    for (size_t i = 0; i < got.n && i < 10; i++)
        same += same_sample(&s[i], &got.v[i]);
    is_int(same, 10, "as they were written");
    hrun_samples_release(&got);
    unlink(logfile);
}

static void test_odd_bytes(void)
{
    struct hrun_sample s = plain_sample(1);
    struct hrun_samples got = { 0 };
    struct hrun_error err = { 0 };

    s.program = "/opt/caf\xe9/\xed\xa0\x80/\xc0\xaf/x\xf4\x90";
    ok(!hrun_store_append(store, APP, SIG, &s, &err),
       "a path that is not UTF-8 does not lose the measurement");
    ok(!hrun_store_samples(store, APP, SIG, &got, &err) && got.n == 1 && !got.bad, "it is read");
#define FFFD "\xef\xbf\xbd"
    is_str(got.n ? got.v[0].program : NULL, "/opt/caf" FFFD "/" FFFD FFFD FFFD "/" FFFD FFFD "/x" FFFD FFFD,
           "with U+FFFD for each odd byte");
    hrun_samples_release(&got);
    unlink(logfile);
}

/* Three records, and where each ends (without its newline). */
static struct hrun_buf three_records(size_t end[3])
{
    struct hrun_buf text;
    struct hrun_error err = { 0 };

    unlink(logfile);
    for (int i = 0; i < 3; i++) {
        struct hrun_sample s = plain_sample(101 + i);
        hrun_store_append(store, APP, SIG, &s, &err);
        text = read_file(logfile);
        end[i] = text.len - 1;
        if (i < 2)
            hrun_buf_release(&text);
    }
    return text;
}

/* A log cut anywhere gives exactly the records that are whole; the next append does not touch them. */
static void test_prefixes(void)
{
    size_t end[3];
    struct hrun_buf text = three_records(end), now;
    int wrong = 0, unread = 0, unsaid = 0, lost = 0, placed = 0;

    for (size_t len = 0; len <= text.len; len++) {
        struct hrun_samples got = { 0 };
        struct hrun_sample extra = plain_sample(999);
        struct hrun_error err = { 0 };
        size_t whole = (size_t)(len >= end[0]) + (len >= end[1]) + (len >= end[2]);
        size_t last = whole ? end[whole - 1] : 0;
        int torn = len > last + (whole > 0);
        char want[64];

        write_file(logfile, text.data, len);
        unread += hrun_store_samples(store, APP, SIG, &got, &err) != 0;
        for (size_t i = 0; i < got.n; i++)
            wrong += got.v[i].N != 101 + (int64_t)i;
        wrong += got.n != whole;
        unsaid += got.bad != (size_t)torn || !got.first_bad != !torn;
        snprintf(want, sizeof want, ".log:%zu: a record without its end", whole + 1);
        placed += torn && strstr(got.first_bad, want) != NULL;
        hrun_samples_release(&got);

        lost += hrun_store_append(store, APP, SIG, &extra, &err) != 0;
        lost += hrun_store_samples(store, APP, SIG, &got, &err) != 0 || got.n != whole + 1
             || got.v[whole].N != 999 || got.bad != (size_t)torn;
        hrun_samples_release(&got);
        now = read_file(logfile);
        lost += now.len < len || memcmp(now.data, text.data, len);
        lost += len > 0 && now.data[len - (now.data[len - 1] == '\n')] != '\n';
        hrun_buf_release(&now);
    }
    is_int(unread, 0, "a log cut at any of %zu lengths is read", text.len + 1);
    is_int(wrong, 0, "and gives exactly the records that are whole");
    is_int(unsaid, 0, "a torn one is counted once, and nothing else is");
    /* In each record every length from 1 to one less than the whole is torn. */
    is_int(placed, end[0] - 1 + end[1] - end[0] - 2 + end[2] - end[1] - 2, "with the line where it stands");
    is_int(lost, 0, "appending to it keeps each byte and starts a line of its own");
    hrun_buf_release(&text);
    unlink(logfile);
}

/* Each single flipped bit is noticed, and costs at most the record that it is in. */
static void test_bit_flips(void)
{
    size_t end[3];
    struct hrun_buf text = three_records(end);
    int unnoticed = 0, trusted = 0, lost = 0, unread = 0;

    for (size_t at = 0; at < text.len; at++) {
        int hit = at == end[0] || at == end[1] || at == end[2] ? -1 : (at > end[0]) + (at > end[1]);

        for (int bit = 0; bit < 8; bit++) {
            struct hrun_samples got = { 0 };
            struct hrun_error err = { 0 };
            int seen[3] = { 0 };

            text.data[at] ^= (char)(1 << bit);
            write_file(logfile, text.data, text.len);
            text.data[at] ^= (char)(1 << bit);
            unread += hrun_store_samples(store, APP, SIG, &got, &err) != 0;
            unnoticed += got.bad == 0 || !got.first_bad;
            for (size_t i = 0; i < got.n; i++) {
                struct hrun_sample want = plain_sample(got.v[i].N);
                int which = (int)(got.v[i].N - 101);

                if (which < 0 || which > 2 || seen[which]++ || !same_sample(&want, &got.v[i]))
                    trusted++;
            }
            for (int i = 0; i < 3; i++) {
                trusted += i == hit && seen[i];
                lost += i != hit && !seen[i];
            }
            hrun_samples_release(&got);
        }
    }
    is_int(unread, 0, "a log with one of %zu bits flipped is read", text.len * 8);
    is_int(unnoticed, 0, "each flip is noticed");
    is_int(trusted, 0, "no damaged record is trusted");
    is_int(lost, 0, "no sound record is lost, not even to a flipped newline");
    hrun_buf_release(&text);
    unlink(logfile);
}

/* Pieces of logs in any order between sound records: only the sound ones come back. */
static void test_garbage(void)
{
    enum { ROUNDS = 300, SEED = 4711 };
    size_t end[3];
    struct hrun_buf text = three_records(end);
    uint64_t rng = SEED;
    int wrong = 0;

    for (int round = 0; round < ROUNDS; round++) {
        struct hrun_buf b = HRUN_BUF_INIT;
        struct hrun_samples got = { 0 };
        struct hrun_error err = { 0 };
        size_t junk = 1 + draw(&rng) % 200, from = draw(&rng) % end[0];

        hrun_buf_add(&b, text.data, end[0] + 1);
        if (draw(&rng) % 2)
            for (size_t i = 0; i < junk; i++)
                hrun_buf_addc(&b, (char)draw(&rng));
        else
            hrun_buf_add(&b, text.data, from);
        if (draw(&rng) % 2)
            hrun_buf_addc(&b, '\n');
        hrun_buf_add(&b, text.data + end[0] + 1, end[1] - end[0]);
        write_file(logfile, b.data, b.len);
        wrong += hrun_store_samples(store, APP, SIG, &got, &err) != 0 || got.n != 2 || got.v[0].N != 101
              || got.v[1].N != 102;
        hrun_samples_release(&got);
        hrun_buf_release(&b);
    }
    is_int(wrong, 0, "garbage between two records costs neither (seed %d, %d rounds)", SEED, ROUNDS);
    hrun_buf_release(&text);
    unlink(logfile);
}

/* The last record without its newline, behind a longer line of what a checksum could go on with. */
static void test_no_last_newline(void)
{
    size_t end[3];
    struct hrun_buf text = three_records(end), b = HRUN_BUF_INIT;
    struct hrun_samples got = { 0 };
    struct hrun_error err = { 0 };

    for (size_t i = 0; i < 2 * end[0]; i++)
        hrun_buf_addc(&b, 'a');
    hrun_buf_addc(&b, '\n');
    hrun_buf_add(&b, text.data, end[0]);
    write_file(logfile, b.data, b.len);
    ok(!hrun_store_samples(store, APP, SIG, &got, &err) && got.n == 1 && got.bad == 1,
       "a last record without its newline is read, whatever stood before it");
    hrun_samples_release(&got);
    hrun_buf_release(&b);
    hrun_buf_release(&text);
    unlink(logfile);
}

/* A record as JSON text, with `from` replaced by `to`. */
static char *altered(const char *from, const char *to)
{
    size_t end[3];
    struct hrun_buf text = three_records(end), out = HRUN_BUF_INIT;
    char *json = strndup(text.data, end[0] - 9), *at = strstr(json, from);

    if (!at) {
        printf("Bail out! no %s in %s\n", from, json);
        exit(1);
    }
    hrun_buf_add(&out, json, (size_t)(at - json));
    hrun_buf_addf(&out, "%s%s", to, at + strlen(from));
    free(json);
    hrun_buf_release(&text);
    unlink(logfile);
    return hrun_buf_detach(&out);
}

/* Whole lines with a right checksum that are no good all the same: skipped, with the reason. */
static void test_refused_when_read(void)
{
    static const struct { const char *from, *to, *why; } cases[] = {
        { "\"v\":1", "\"v\":6", "a newer hrun wrote this record (version 6, this hrun reads up to 5)" },
        { "\"v\":1", "\"v\":2", "'signatures' is missing" },
        { "\"v\":1", "\"v\":0", "not a measurement: no version 'v'" },
        { "\"v\":1,", "", "not a measurement: no version 'v'" },
        { "\"app\":\"lu\"", "\"app\":\"hpl\"", "the record is of application 'hpl', the file of 'lu'" },
        { SIG, "cpu-b.4c-00000000",
          "the record is of signature 'cpu-b.4c-00000000', the file of 'cpu-a.4c-1f2e3d4c'" },
        { "\"app\":\"lu\",", "", "'app' is missing" },
        { "\"time_s\":12.5", "\"time_s\":0", "time_s is 0: a time is a positive, finite number of seconds" },
        { "\"time_s\":12.5", "\"time_s\":-1.5", "time_s is -1.5: a time is a positive" },
        { "\"time_s\":12.5", "\"time_s\":NaN", "not JSON: " },
        { "\"time_s\":12.5", "\"time_s\":1e999", "not JSON: real number overflow" },
        { "\"time_s\":12.5", "\"time_s\":\"12.5\"", "'time_s' is of the wrong type or out of range" },
        { "\"wall_s\":13.25", "\"wall_s\":0.0", "wall_s is 0: a time is a positive" },
        { "\"wall_s\":13.25", "\"wall_s\":1,\"wall_s\":2", "not JSON: duplicate object key" },
        { "\"P\":8", "\"P\":8.5", "'P' is of the wrong type or out of range" },
        { "\"P\":8", "\"P\":4294967304", "'P' is of the wrong type or out of range" },
        { "\"P\":8", "\"P\":9", "P is 9, but 4 PEs with 2 processes each hold 8" },
        { "\"N\":101", "\"N\":0", "N is 0, not in 1..2^53" },
        { "\"N\":101,", "", "'N' is missing" },
        { "\"ok\":true", "\"ok\":1", "'ok' is of the wrong type or out of range" },
        { "\"ok\":true", "\"ok\":false", "status is 'ok' for a run that failed" },
        { "\"host\":\"head\"", "\"host\":7", "'host' is of the wrong type or out of range" },
        { "\"host\":\"head\"", "\"host\":\"\\u0000\"", "not JSON: \\u0000 is not allowed" },
        { "\"host\":", "\"hosts\":", "'host' is missing" },
        { "\"host\":", "\"gpu\":1,\"host\":", "there are keys that version 1 does not have" },
        { "2026-11-20T", "2026-02-30T", "date is '2026-02-30T10:36:00Z', not of the form" },
        { "}", "", "not JSON: " },
        { "{\"M\":2", "[{\"M\":2", "not JSON: " },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *json = altered(cases[i].from, cases[i].to), want[256];
        struct hrun_buf b = HRUN_BUF_INIT;
        struct hrun_samples got = { 0 };
        struct hrun_error err = { 0 };
        char *good = altered("\"N\":101", "\"N\":7");

        add_line(&b, good);
        add_line(&b, json);
        add_line(&b, good);
        write_file(logfile, b.data, b.len);
        ok(!hrun_store_samples(store, APP, SIG, &got, &err) && got.n == 2 && got.bad == 1
           && got.v[0].N == 7 && got.v[1].N == 7, "skipped, its neighbours kept: %s", cases[i].to);
        snprintf(want, sizeof want, "%s:2: %s", logfile, cases[i].why);
        has_str(got.first_bad, want, "with place and reason");
        hrun_samples_release(&got);
        hrun_buf_release(&b);
        free(json);
        free(good);
        unlink(logfile);
    }
}

/* Eight processes here, and four of sub-cluster b. */
static void test_shares(void)
{
    static const char *const bad[] = { "nan,nan", "-5,0.1", "x,y", ",", "0,0", "inf,0.1", "0.9,0.9", "0.1", "1e-9,1e-9",
                                       "0.125,0", "0.1,0.05z", "0.1,0.05,0" };
    static const char *const good[] = { "0.1,0.05", "0.0833333333,0.0833333333", "0.142857143,0.142857143" };
    struct hrun_sample s = plain_sample(1);
    struct hrun_samples got = { 0 };
    struct hrun_error err = { 0 };

    s.mixed = 1;
    s.P = 12;
    s.config = "(4,2,2,2)";
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        s.shares = (char *)bad[i];
        ok(hrun_store_append(store, APP, SIG, &s, &err) == -1 && err.code == HRUN_EINVAL, "shares %s are refused",
           bad[i]);
        has_str(err.text, bad[i], "and said");
    }
    s.config = "(4,2";
    s.shares = (char *)good[0];
    ok(hrun_store_append(store, APP, SIG, &s, &err) == -1, "so are shares of no configuration");
    s.config = "(4,2,2,2)";
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        s.shares = (char *)good[i];
        ok(!hrun_store_append(store, APP, SIG, &s, &err), "shares %s are kept", good[i]);
    }
    ok(!hrun_store_samples(store, APP, SIG, &got, &err) && got.n == 3 && !got.bad, "and read");
    hrun_samples_release(&got);
    unlink(logfile);
}

static void test_refused_when_written(void)
{
    static const double never[] = { 0, -0.0, -1, NAN, INFINITY, -INFINITY };
    struct hrun_error err = { 0 };
    struct hrun_sample s;

    for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
        s = plain_sample(1);
        s.time_s = never[i];
        ok(hrun_store_append(store, APP, SIG, &s, &err) == -1 && err.code == HRUN_EINVAL,
           "time_s %g is refused", never[i]);
        has_str(err.text, "time_s is", "which is said");
        s = plain_sample(1);
        s.wall_s = never[i];
        ok(hrun_store_append(store, APP, SIG, &s, &err) == -1 && err.code == HRUN_EINVAL,
           "wall_s %g is refused", never[i]);
        has_str(err.text, "wall_s is", "which is said");
        s.ok = 0;
        s.status = "timeout";
        s.time_s = 0;
        is_int(hrun_store_append(store, APP, SIG, &s, &err), never[i] == 0 ? 0 : -1,
               "a failed run of %g s", never[i]);
    }
    unlink(logfile);

#define REFUSED(change, reason) do { \
        s = plain_sample(1); \
        change; \
        ok(hrun_store_append(store, APP, SIG, &s, &err) == -1 && err.code == HRUN_EINVAL, "refused: %s", \
           #change); \
        has_str(err.text, reason, "with the reason"); \
    } while (0)
    REFUSED(s.N = 0, "N is 0, not in 1..2^53");
    REFUSED(s.N = -5, "N is -5");
    REFUSED(s.N = ((int64_t)1 << 53) + 1, "N is 9007199254740993");
    REFUSED(s.P = 0, "each must be 1 or more");
    REFUSED(s.M = -2, "each must be 1 or more");
    REFUSED(s.pes = 0, "each must be 1 or more");
    REFUSED((s.M = 65536, s.pes = 65536), "hold 4294967296");
    REFUSED(s.P = 9, "P is 9, but 4 PEs with 2 processes each hold 8");
    REFUSED(s.mixed = 1, "P is 8, but 8 processes are in this sub-cluster alone");
    REFUSED(s.ok = 2, "each must be 0 or 1");
    REFUSED(s.mixed = -1, "each must be 0 or 1");
    REFUSED(s.status = "exit 3", "status is 'exit 3' for a run that was good");
    REFUSED(s.status = NULL, "status is '' for a run that was good");
    REFUSED((s.ok = 0, s.time_s = 0), "status is 'ok' for a run that failed");
    REFUSED((s.ok = 0, s.time_s = 0, s.status = ""), "status is empty for a run that failed");
    REFUSED((s.ok = 0, s.status = "exit 3"), "time_s is 12.5 for a run that failed: it must be 0");
    REFUSED(s.date = NULL, "date is '', not of the form");
    REFUSED(s.date = "yesterday", "date is 'yesterday', not of the form");
    REFUSED(s.signatures = SIG, "signatures are 1 ('" SIG "') for the 2 sub-clusters 'a,b'");
    REFUSED((s.signatures = SIG, s.cluster = NULL), "for the 0 sub-clusters ''");
    REFUSED(s.limits = "c", "limits is 'c', which is none of the sub-clusters 'a,b'");
    REFUSED(s.limits = "a,b", "limits is 'a,b'");
    REFUSED(s.compute_s = -1, "compute_s and mpi_s are -1 and 0");
    REFUSED(s.work = INFINITY, "work is inf: it must be finite");
    REFUSED(s.copies = 2, "copies is 2: it must be 0 or 1");
    REFUSED(s.mpi_s = NAN, "they must be finite and not negative");
    ok(access(logfile, F_OK) != 0, "nothing was written for any of them");
    test_shares();
    s = plain_sample(1);
    s.N = -1;
    ok(hrun_store_append(store, APP, SIG, &s, NULL) == -1, "without an error object too");
}

int main(void)
{
    dir = temp_dir();
    store = open_store(dir);
    logfile = file_of(dir, ".log");
    test_round_trip();
    test_versions();
    test_odd_bytes();
    test_prefixes();
    test_bit_flips();
    test_garbage();
    test_no_last_newline();
    test_refused_when_read();
    test_refused_when_written();
    hrun_store_close(store);
    hrun_remove_tree(dir);
    free(logfile);
    free(dir);
    return tap_done();
}
