/* test_store_current.c - a mark "anew" makes earlier measurements with the same constants no longer count */
#include "store/store.h"
#include "tap.h"

#include <stdlib.h>

static struct hrun_sample make(int64_t N, int ok, const char *status, const char *consts)
{
    struct hrun_sample s = { .N = N, .P = 1, .M = 1, .pes = 1, .ok = ok, .time_s = ok, .wall_s = 1 };

    s.status = strdup(status);
    s.consts = strdup(consts);
    return s;
}

/* Build samples from a text such as "a1 b2 a* a3": constants, then N, 'M' for a run of several sub-clusters at N=1, '*'
 * for a mark, 'x' for one of N=1 or '!' for a failed run; the numbers that still count are written to out. */
static size_t run(const char *text, char *out)
{
    struct hrun_samples s = { 0 };
    size_t old;

    s.v = calloc(32, sizeof *s.v);
    for (const char *p = text; s.v && *p; p += p[2] ? 3 : 2) {
        const char consts[2] = { p[0], 0 };

        s.v[s.n] = p[1] == '*' ? make(1, 0, HRUN_STATUS_ANEW, consts)
                   : p[1] == 'x' ? make(1, 0, HRUN_STATUS_ANEW_POINT, consts)
                   : p[1] == '!' ? make(9, 0, "exit 1", consts) : make(p[1] == 'M' ? 1 : p[1] - '0', 1, "ok", consts);
        s.v[s.n++].mixed = p[1] == 'M';
    }
    old = hrun_samples_current(&s);
    *out = 0;
    for (size_t i = 0; i < s.n; i++)
        sprintf(out + strlen(out), "%s%d", s.v[i].consts, (int)s.v[i].N);
    hrun_samples_release(&s);
    return old;
}

/* A mark of one point is about its N, its P and its M. */
static void test_point(void)
{
    struct hrun_samples s = { .v = calloc(8, sizeof *s.v) };

    for (int i = 0; i < 6; i++) {
        s.v[i] = make(100, i < 5, i < 5 ? "ok" : HRUN_STATUS_ANEW_POINT, "");
        s.v[i].P = i == 1 ? 4 : 2;
        s.v[i].M = i == 2 ? 2 : 1;
        s.v[i].N = i == 3 ? 101 : 100;
    }
    s.n = 6;
    is_int(hrun_samples_current(&s), 2, "a mark of one point outdates what was measured there");
    ok(s.n == 3 && s.v[0].P == 4 && s.v[1].M == 2 && s.v[2].N == 101, "and nothing of another P, M or N");
    hrun_samples_release(&s);
}

int main(void)
{
    static const struct { const char *text, *left; size_t old; } cases[] = {
        { "", "", 0 },
        { "a1 a2", "a1a2", 0 },
        { "a*", "", 0 },
        { "a1 a2 a* a3", "a3", 2 },
        { "a1 b2 a* a3", "b2a3", 1 },
        { "a1 a* b2 b* a3", "a3", 2 },
        { "a1 a* a2 a* a3 a4", "a3a4", 2 },
        { "a! a1 a*", "", 2 },
        { "a* a! a1", "a9a1", 0 },
        { "a1 a2 ax a3", "a2a3", 1 },
        { "a1 a2 a1 ax a1", "a2a1", 2 },
        { "a1 b1 ax", "b1", 1 },
        { "aM a1 ax", "a1", 1 },
        { "a1 a2 ax a2 a* a1 a2 ax", "a2", 4 },
    };
    char left[128];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t old = run(cases[i].text, left);

        is_str(left, cases[i].left, "'%s': what counts", cases[i].text);
        is_int(old, cases[i].old, "'%s': what no longer does", cases[i].text);
    }
    test_point();
    return tap_done();
}
