/* fuzz_log.c - any text as a log of measurements: records that keep the invariants of store.h, and the others counted;
 * a sound record behind it is found. Each input is tried as it is, and with each of its lines made a record whose
 * checksum is right, or few changed ones would come as far as being decoded; and as what is remembered of a log. */
#include "fuzz.h"

#include "base/units.h"
#include "store/store.h"

#include <math.h>
#include <zlib.h>

#define APP "lu"
#define SIG "cpu-a.4c-1f2e3d4c"
#define RECORD(m, n, p, ok, mixed, status, time) \
    "{\"M\":" m ",\"N\":" n ",\"P\":" p ",\"app\":\"" APP "\",\"cluster\":\"a,b\",\"config\":\"(4,2,0,0)\"," \
    "\"consts\":\"nb=128\",\"date\":\"2026-11-20T10:36:00Z\",\"engine\":\"local\",\"host\":\"head\"," \
    "\"mixed\":" mixed ",\"mpi\":\"ompi-4.1.4\",\"ok\":" ok ",\"origin\":\"calibration\",\"pes\":4," \
    "\"program\":\"/opt/app/xlu\",\"signature\":\"" SIG "\",\"status\":\"" status "\",\"time_s\":" time "," \
    "\"v\":1,\"version\":\"0.1.0\",\"wall_s\":13.25}"

/* What version 2 tells besides. */
#define RECORD_2(signatures, limits, compute) \
    "{\"M\":2,\"N\":9600,\"P\":9,\"app\":\"" APP "\",\"cluster\":\"a,b\",\"compute_s\":" compute "," \
    "\"config\":\"(4,2,1,1)\",\"consts\":\"nb=128\",\"date\":\"2026-11-20T10:36:00Z\",\"engine\":\"local\"," \
    "\"host\":\"head\",\"limits\":\"" limits "\",\"mixed\":true,\"mpi\":\"ompi-4.1.4\",\"mpi_s\":0.25," \
    "\"ok\":true,\"origin\":\"run\",\"pes\":4,\"program\":\"/opt/app/xlu\",\"signature\":\"" SIG "\"," \
    "\"signatures\":\"" signatures "\",\"status\":\"ok\",\"time_s\":12.5,\"trace\":\"\",\"v\":2," \
    "\"version\":\"0.1.0\",\"wall_s\":13.25}"

static const char good[] = RECORD("2", "9600", "8", "true", "false", "ok", "12.5");

const char *const fuzz_seeds[] = {
    RECORD("2", "9600", "8", "true", "false", "ok", "12.5") "\t73eef0d5\n",
    RECORD("2", "9600", "8", "true", "false", "ok", "12.5") "\t73eef0d5\n"
    RECORD("2", "9600", "8", "true", "false", "ok", "12.5") "\t73eef0d5\n",
    RECORD("2", "9600", "8", "true", "false", "ok", "12.5") "\n"
    RECORD("1", "1", "16", "true", "true", "ok", "1e-9") "\n" RECORD("1", "7", "4", "false", "false", "exit 3", "0"),
    RECORD("2", "9600", "8", "true", "false", "ok", "nan"),
    RECORD_2(SIG ",x", "b", "1.5") "\n" RECORD_2("", "", "0") "\n" RECORD_2("x", "c", "-1"),
    "{\"M\":1}\t00000000\n", "\t73eef0d5", "",
    "9600 8 2 4 1 0 12.5\tok\trun\t(4,2,0,0)\ta,b\tnb=128\t2026-11-20T10:36:00Z\t\tb\n"
    "7 4 1 4 0 0 0\texit 3\tcalibration\t\t\t\t2026-11-20T10:36:00Z\t\t\n", NULL
};

static struct place {
    char *log, *recent;
    struct hrun_store *store;
} at;

static void tidy(void)
{
    hrun_store_close(at.store);
    free(at.log);
    free(at.recent);
}

static void settle(void)
{
    char *folder = hrun_strf("%s/profiles/" APP, fuzz_folder());

    at.log = hrun_strf("%s/" SIG ".log", folder);
    at.recent = hrun_strf("%s/" SIG ".recent", folder);
    at.store = hrun_store_open(fuzz_folder(), NULL);
    FUZZ_CHECK(folder && at.log && at.recent && at.store && !hrun_mkdirs(folder, 0700, NULL) && !atexit(tidy));
    free(folder);
}

static void check_sample(const struct hrun_sample *s)
{
    FUZZ_CHECK(s->N >= 1 && s->N <= HRUN_COUNT_MAX && s->P >= 1 && s->M >= 1 && s->pes >= 1);
    FUZZ_CHECK(s->mixed ? s->P > (int64_t)s->M * s->pes : s->P == (int64_t)s->M * s->pes);
    FUZZ_CHECK(isfinite(s->time_s) && isfinite(s->wall_s) && s->status && s->date);
    FUZZ_CHECK(isfinite(s->compute_s) && s->compute_s >= 0 && isfinite(s->mpi_s) && s->mpi_s >= 0);
    if (s->ok)
        FUZZ_CHECK(s->time_s > 0 && s->wall_s > 0 && strcmp(s->status, "ok") == 0);
    else
        FUZZ_CHECK(s->time_s == 0 && s->wall_s >= 0 && s->status[0] && strcmp(s->status, "ok") != 0);
}

/* Read what was written. last: the last record is the good one. */
static size_t read_log(int last)
{
    struct hrun_samples got = { 0 };
    struct hrun_error err = { 0 };
    size_t n;

    FUZZ_CHECK(hrun_store_samples(at.store, APP, SIG, &got, &err) == 0);
    FUZZ_CHECK((got.bad > 0) == (got.first_bad != NULL));
    for (size_t i = 0; i < got.n; i++)
        check_sample(&got.v[i]);
    n = got.n;
    if (last)
        FUZZ_CHECK(n > 0 && got.v[n - 1].N == 9600 && got.v[n - 1].time_s == 12.5
                   && strcmp(got.v[n - 1].program, "/opt/app/xlu") == 0);
    hrun_samples_release(&got);
    return n;
}

/* data[size] are the lines that are remembered of the log as far as it goes; they are believed or not. */
static void read_recent(const uint8_t *data, size_t size, const struct hrun_buf *log)
{
    size_t before = log->len < 4096 ? log->len : 4096;      /* bytes that are compared */
    struct hrun_buf text = HRUN_BUF_INIT;
    struct hrun_samples got = { 0 };
    struct stat st;

    FUZZ_CHECK(!stat(at.log, &st));
    hrun_buf_addf(&text, "hrun recent 1 %ju %zu %08lx\n", (uintmax_t)st.st_ino, log->len,
                  crc32(0, (const unsigned char *)log->data + log->len - before, (unsigned)before));
    hrun_buf_add(&text, data, size);
    hrun_buf_addf(&text, "%08lx\n", crc32(0, (const unsigned char *)text.data, (unsigned)text.len));
    fuzz_write(at.recent, text.data, text.len);
    FUZZ_CHECK(!hrun_store_recent(at.store, APP, SIG, &got, NULL));
    for (size_t i = 0; i < got.n; i++)
        check_sample(&got.v[i]);
    hrun_samples_release(&got);
    hrun_buf_release(&text);
}

static void add_record(struct hrun_buf *out, const char *json, size_t len)
{
    hrun_buf_add(out, json, len);
    hrun_buf_addf(out, "\t%08lx\n", crc32(0, (const unsigned char *)json, (unsigned)len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hrun_buf text = HRUN_BUF_INIT, signed_text = HRUN_BUF_INIT;
    size_t n;

    if (!at.log)
        settle();
    hrun_buf_add(&text, data, size);
    fuzz_write(at.log, text.data, text.len);
    n = read_log(0);
    add_record(&text, good, sizeof good - 1);
    fuzz_write(at.log, text.data, text.len);
    FUZZ_CHECK(read_log(1) > n);
    read_recent(data, size, &text);

    for (const char *s = (const char *)data, *end = s + size; size && s < end; s++) {
        const char *eol = memchr(s, '\n', (size_t)(end - s)), *stop = eol ? eol : end;
        const char *tab = memchr(s, '\t', (size_t)(stop - s));

        add_record(&signed_text, s, (size_t)((tab ? tab : stop) - s));
        s = stop;
    }
    fuzz_write(at.log, signed_text.data, signed_text.len);
    read_log(0);
    hrun_buf_release(&text);
    hrun_buf_release(&signed_text);
    return 0;
}
