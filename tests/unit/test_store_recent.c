/* What a decision needs of a log: the same with what is remembered of it and without, however it came about. */
#include "store.h"

#include <math.h>

/* A record: run or calibration, of N, with a time that tells which it is. */
static void add(struct hrun_buf *log, int64_t N, const char *origin, double time_s)
{
    char *json = hrun_strf("{\"M\":2,\"N\":%lld,\"P\":8,\"app\":\"" APP "\",\"cluster\":\"a,b\","
                           "\"config\":\"(4,2,0,0)\",\"consts\":\"\",\"date\":\"2026-11-20T10:36:00Z\","
                           "\"engine\":\"local\",\"host\":\"h\",\"mixed\":false,\"mpi\":\"ompi-4.1.4\",\"ok\":true,"
                           "\"origin\":\"%s\",\"pes\":4,\"program\":\"/opt/x\",\"signature\":\"" SIG "\","
                           "\"status\":\"ok\",\"time_s\":%.17g,\"v\":1,\"version\":\"0.1.0\",\"wall_s\":%.17g}",
                           (long long)N, origin, time_s, time_s);

    add_line(log, json);
    free(json);
}

struct fixture {
    char *dir, *log, *recent;
    struct hrun_store *s;
};

static struct fixture setup(void)
{
    struct fixture f = { .dir = temp_dir() };
    struct hrun_sample first = plain_sample(1);
    struct hrun_error err = { 0 };

    f.log = file_of(f.dir, ".log");
    f.recent = file_of(f.dir, ".recent");
    f.s = open_store(f.dir);
    ok(!hrun_store_append(f.s, APP, SIG, &first, &err), "a log");
    return f;
}

static void teardown(struct fixture *f)
{
    hrun_store_close(f->s);
    hrun_remove_tree(f->dir);
    free(f->dir);
    free(f->log);
    free(f->recent);
}

static struct hrun_samples samples_of(const struct fixture *f)
{
    struct hrun_samples out = { 0 };
    struct hrun_error err = { 0 };

    if (hrun_store_recent(f->s, APP, SIG, &out, &err))
        ok(0, "%s", err.text);
    return out;
}

/* Equal in what both are said to hold. */
static int same(const struct hrun_samples *a, const struct hrun_samples *b)
{
    int same = a->n == b->n && a->n > 0;

    for (size_t i = 0; same && i < a->n; i++) {
        const struct hrun_sample *x = &a->v[i], *y = &b->v[i];

        same = x->N == y->N && x->P == y->P && x->M == y->M && x->pes == y->pes && x->time_s == y->time_s &&
               x->ok == y->ok && x->mixed == y->mixed && same_text(x->status, y->status) &&
               same_text(x->origin, y->origin) && same_text(x->config, y->config) &&
               same_text(x->cluster, y->cluster) && same_text(x->consts, y->consts) && same_text(x->date, y->date) &&
               same_text(x->signatures, y->signatures) && same_text(x->settings, y->settings);
    }
    return same;
}

/* Is the answer with what is remembered the one without it? */
static void check(const struct fixture *f, const char *what)
{
    struct hrun_samples with = samples_of(f), without;

    unlink(f->recent);
    without = samples_of(f);
    ok(same(&with, &without), "%s: the same as from the whole log, %zu and %zu", what, with.n, without.n);
    hrun_samples_release(&with);
    hrun_samples_release(&without);
}

static void append(const struct fixture *f, const struct hrun_buf *lines)
{
    FILE *log = fopen(f->log, "a");

    if (!log || fwrite(lines->data, 1, lines->len, log) != lines->len || fclose(log))
        ok(0, "%s", f->log);
}

static void test_thinning(void)
{
    struct fixture f = setup();
    struct hrun_buf lines = HRUN_BUF_INIT;
    struct hrun_samples got = samples_of(&f);
    size_t n = 0;

    is_int(got.n, 1, "a short log is what it is");
    ok(access(f.recent, F_OK), "and nothing is remembered of it");
    hrun_samples_release(&got);
    for (int i = 0; i < 3000; i++)
        add(&lines, 500, "run", 1 + 1e-3 * i);
    for (int i = 0; i < 40; i++)
        add(&lines, 500, "calibration", 10 + i);
    append(&f, &lines);
    got = samples_of(&f);
    ok(!access(f.recent, F_OK), "a long one is remembered");
    is_int(got.n, 1 + 32 + 32, "of each kind some are kept");
    for (size_t i = 1; i < got.n && got.v[i].time_s < 10; i++)
        n += fabs(got.v[i].time_s - (i <= 8 ? 1 + 1e-3 * (double)(i - 1) : 1 + 1e-3 * (double)(3000 - 33 + i))) < 1e-9;
    is_int(n, 32, "the first 8 and the last 24");
    hrun_samples_release(&got);
    got = samples_of(&f);
    is_int(got.n, 1 + 32 + 32, "the second time, too");
    hrun_samples_release(&got);
    check(&f, "after it was thinned");
    got = samples_of(&f);
    hrun_samples_release(&got);
    hrun_buf_reset(&lines);
    for (int i = 0; i < 30; i++)
        add(&lines, 500, "run", 5 + 1e-3 * i);
    append(&f, &lines);
    check(&f, "with some more");
    hrun_buf_reset(&lines);
    for (int i = 0; i < 3000; i++)
        add(&lines, 1000 + i, "run", 1);
    append(&f, &lines);
    got = samples_of(&f);
    is_int(got.n, 1 + 32 + 512, "of users' runs the last ones, of a calibration all");
    hrun_samples_release(&got);
    check(&f, "with many N");
    hrun_buf_release(&lines);
    teardown(&f);
}

static void test_marks(void)
{
    struct fixture f = setup();
    struct hrun_buf lines = HRUN_BUF_INIT;
    struct hrun_sample mark = plain_sample(500);
    struct hrun_samples got;
    struct hrun_error err = { 0 };

    for (int i = 0; i < 400; i++)
        add(&lines, 500 + i % 2, "run", 1 + i);
    append(&f, &lines);
    got = samples_of(&f);
    hrun_samples_release(&got);
    mark.ok = 0;
    mark.time_s = 0;
    mark.consts = "";
    mark.status = HRUN_STATUS_ANEW_POINT;
    ok(!hrun_store_append(f.s, APP, SIG, &mark, &err), "a mark of one point");
    got = samples_of(&f);
    is_int(got.n, 1 + 32, "what is remembered of it no longer counts");
    hrun_samples_release(&got);
    mark.status = HRUN_STATUS_ANEW;
    ok(!hrun_store_append(f.s, APP, SIG, &mark, &err), "a mark of all");
    check(&f, "those of other constants stay");
    hrun_buf_release(&lines);
    teardown(&f);
}

static void test_not_trusted(void)
{
    struct fixture f = setup();
    struct hrun_buf lines = HRUN_BUF_INIT, kept, log;
    struct hrun_samples got;

    for (int i = 0; i < 300; i++)
        add(&lines, 500 + i, "run", 1 + i);
    append(&f, &lines);
    got = samples_of(&f);
    hrun_samples_release(&got);
    kept = read_file(f.recent);
    ok(kept.len > 0, "something is remembered");
    for (size_t at = 0; at < kept.len; at += 1 + kept.len / 50) {
        struct hrun_samples with;

        kept.data[at] ^= 1;
        write_file(f.recent, kept.data, kept.len);
        kept.data[at] ^= 1;
        with = samples_of(&f);
        if (with.n != 301)
            ok(0, "a flipped bit at %zu", at);
        hrun_samples_release(&with);
        write_file(f.recent, kept.data, at);
        with = samples_of(&f);
        if (with.n != 301)
            ok(0, "cut at %zu", at);
        hrun_samples_release(&with);
    }
    ok(1, "damaged it is not used");
    write_file(f.recent, kept.data, kept.len);
    log = read_file(f.log);
    write_file(f.log, log.data, log.len / 2);
    check(&f, "a log that was cut");
    write_file(f.recent, kept.data, kept.len);
    log.data[log.len - 300] ^= 1;
    write_file(f.log, log.data, log.len);
    check(&f, "a log that was changed at its end");
    unlink(f.log);
    write_file(f.recent, kept.data, kept.len);
    got = samples_of(&f);
    is_int(got.n, 0, "no log, no samples");
    hrun_samples_release(&got);
    hrun_buf_reset(&lines);
    hrun_buf_adds(&lines, "{\"M\":2,\"N\":");
    log.data[log.len - 300] ^= 1;
    write_file(f.log, log.data, log.len);
    append(&f, &lines);
    got = samples_of(&f);
    is_int(got.n, 301, "a record in the making is left out");
    ok(!got.bad, "without a word: the next reader finds it whole");
    hrun_samples_release(&got);
    hrun_buf_release(&lines);
    hrun_buf_release(&kept);
    hrun_buf_release(&log);
    teardown(&f);
}

int main(void)
{
    test_thinning();
    test_marks();
    test_not_trusted();
    return tap_done();
}
