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

/* Build samples from a text such as "a1 b2 a* a3": constants, then N or '*' for a mark or '!' for a failed run; the
 * numbers that still count are written to out. */
static size_t run(const char *text, char *out)
{
    struct hrun_samples s = { 0 };
    size_t old;

    s.v = calloc(32, sizeof *s.v);
    for (const char *p = text; s.v && *p; p += p[2] ? 3 : 2) {
        const char consts[2] = { p[0], 0 };

        s.v[s.n++] = p[1] == '*' ? make(1, 0, HRUN_STATUS_ANEW, consts)
                   : p[1] == '!' ? make(9, 0, "exit 1", consts) : make(p[1] - '0', 1, "ok", consts);
    }
    old = hrun_samples_current(&s);
    *out = 0;
    for (size_t i = 0; i < s.n; i++)
        sprintf(out + strlen(out), "%s%d", s.v[i].consts, (int)s.v[i].N);
    hrun_samples_release(&s);
    return old;
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
    };
    char left[128];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t old = run(cases[i].text, left);

        is_str(left, cases[i].left, "'%s': what counts", cases[i].text);
        is_int(old, cases[i].old, "'%s': what no longer does", cases[i].text);
    }
    return tap_done();
}
