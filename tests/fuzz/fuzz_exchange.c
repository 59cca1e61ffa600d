/* fuzz_exchange.c - any text as measurements in CSV: what is read keeps the invariants of store.h, so that CSV gives it
 * back; what is not says where, and leaves what was read before. */
#include "fuzz.h"

#include "base/units.h"
#include "store/store.h"

#include <math.h>
#include <string.h>

const char *const fuzz_seeds[] = {
    "app,signature,N,P,M,pes,time_s,wall_s,ok,mixed,status,origin,date,host\r\n"
    "lu,sig,100,2,1,2,1.5,2,1,0,ok,run,2026-11-20T10:36:00Z,\"a \"\"b\"\",\nc\"\r\n"
    "lu,sig,100,2,1,1,0,2,0,1,exit 3,run,2026-11-20T10:36:00Z,\r\n",
    "N,P,time_s\n100,1,1e-3\n\n200,1,\"7\"\n",
    "\xef\xbb\xbfN,P,time_s,limits,cluster\n1,1,1,a,\"a,b\"\n",
    "", NULL
};

static void check(const struct hrun_exchanged *x)
{
    const struct hrun_sample *s = &x->sample;

    FUZZ_CHECK(s->N >= 1 && s->N <= HRUN_COUNT_MAX && s->P >= 1 && s->M >= 1 && s->pes >= 1 && x->line >= 1);
    FUZZ_CHECK(s->mixed ? s->P > (int64_t)s->M * s->pes : s->P == (int64_t)s->M * s->pes);
    FUZZ_CHECK(isfinite(s->time_s) && isfinite(s->wall_s) && s->status && s->date && strcmp(s->status, "anew"));
    FUZZ_CHECK(s->ok ? s->time_s > 0 && s->wall_s > 0 : s->time_s == 0);
    FUZZ_CHECK(!strcmp(s->origin, "import"));
}

/* What was read, as CSV and back, is as much and in the same order. */
static void check_csv(const struct hrun_exchange *x)
{
    const struct hrun_sample **v = calloc(x->n + 1, sizeof *v);
    struct hrun_exchange back = HRUN_EXCHANGE_INIT;
    struct hrun_buf text = HRUN_BUF_INIT;
    struct hrun_error err = { 0 };
    size_t left;

    FUZZ_CHECK(v);
    for (size_t i = 0; i < x->n; i++)
        v[i] = &x->v[i].sample;
    FUZZ_CHECK(!hrun_exchange_write(HRUN_EXCHANGE_CSV, &(struct hrun_exchange_set) { "lu", "sig", v, x->n }, 1, &text,
                                    &left, &err) && !left);
    FUZZ_CHECK(!hrun_exchange_read("f", text.data, text.len, &back, &err) && back.n == x->n);
    for (size_t i = 0; i < x->n; i++) {
        const struct hrun_sample *a = v[i], *b = &back.v[i].sample;

        FUZZ_CHECK(a->N == b->N && a->P == b->P && a->time_s == b->time_s && a->wall_s == b->wall_s);
        FUZZ_CHECK(!strcmp(a->launcher.host ? a->launcher.host : "", b->launcher.host) && !strcmp(a->date, b->date));
    }
    hrun_exchange_release(&back);
    hrun_buf_release(&text);
    free(v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hrun_exchange x = HRUN_EXCHANGE_INIT;
    struct hrun_error err = { 0 };
    char *text = malloc(size + 1);      /* of its own, and without an end: a sanitizer sees what reads on */

    FUZZ_CHECK(text);
    memcpy(text, data, size);
    text = realloc(text, size ? size : 1);
    FUZZ_CHECK(text);
    if (hrun_exchange_read("f", text, size, &x, &err))
        FUZZ_CHECK(!x.n && err.code == HRUN_EPARSE && err.text[0] && !strcmp(err.file, "f"));
    else
        FUZZ_CHECK(x.n > 0);
    for (size_t i = 0; i < x.n; i++)
        check(&x.v[i]);
    if (x.n)
        check_csv(&x);
    hrun_exchange_release(&x);
    free(text);
    return 0;
}
