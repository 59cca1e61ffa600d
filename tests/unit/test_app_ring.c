/* Definitions of family ring: what a process does, and each mistake with its place. */
#include "fixture.h"

#include "app/app.h"

#define HEAD "name: app\nfamily: ring\nconstants: [{name: m, value: 10}]\n"

static void test_work(const char *dir)
{
    struct hrun_error err;
    struct hrun_app *app = load_text(dir, HEAD "ring: {local: \"n*(n-1)/2\", step: \"n^2 + P - P\", bytes: \"8*m*n\"}\n",
                                &err);
    struct hrun_ring_work w = { 0 }, before;

    ok(app && app->family == HRUN_APP_RING, "a definition of family ring needs no terms %s", err.text);
    if (!app)
        return;
    is_int(hrun_app_ring_work(app, 1000, 8, &w, &err), 0, "what a process does");
    ok(w.n == 125 && w.local == 125 * 62 && w.step == 15625 && w.bytes == 10000, "over n = N/P, N, P and constants");
    before = w;
    is_int(hrun_app_ring_work(app, 1, 2, &w, &err), -1, "half a point, whose pairs are fewer than none");
    is_int(err.code, HRUN_EINVAL, "is refused: %s", err.text);
    ok(!memcmp(&w, &before, sizeof w), "and nothing is written");
    hrun_app_destroy(app);
}

static void test_mistakes(const char *dir)
{
    static const struct { const char *text, *said; int line, column; } bad[] = {
        { HEAD "ring: {local: n, step: n, bytes: n}\nterms: {np: [N], n: [N]}\n",
          "'terms' are for definitions of family npt, not ring", 5, 8 },
        { "name: app\nfamily: ring\n", "says under 'ring' what a process does", 2, 9 },
        { "name: app\nterms: {np: [N], n: [N]}\nring: {local: n, step: n, bytes: n}\n",
          "'ring' is for definitions of family ring", 3, 7 },
        { HEAD "ring: {local: n, step: n}\n", "bytes", 0, 0 },
        { HEAD "ring:\n  local: n\n  step: n*x\n  bytes: n\n", "x", 6, 11 },
        { HEAD "ring:\n  local: n\n  step: n\n  bytes: \"\"\n", "", 7, 0 },
        { HEAD "ring: {local: n, step: \"ring(8)\", bytes: n}\n", "ring", 4, 0 },
        { "name: app\nfamily: ring\nconstants: [{name: n, value: 1}]\nring: {local: n, step: n, bytes: n}\n",
          "cannot be named 'n'", 4, 0 },
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct hrun_error err;
        struct hrun_app *app = load_text(dir, bad[i].text, &err);

        ok(!app && err.code == HRUN_EPARSE && strstr(err.text, bad[i].said), "mistake %zu: %s", i + 1, err.text);
        ok((!bad[i].line || err.line == bad[i].line) && (!bad[i].column || err.column == bad[i].column),
           "its place (%d:%d)", err.line, err.column);
        hrun_app_destroy(app);
    }
}

static void test_shipped(void)
{
    char *path = hrun_strf("%s/../../share/profiles/ring.yaml", test_data());
    struct hrun_error err = { 0 };
    struct hrun_app *app = NULL;
    struct hrun_ring_work w;

    ok(!hrun_app_load(path, NULL, &app, &err), "the shipped definition loads %s", err.text);
    ok(app && !hrun_app_ring_work(app, 42000, 35, &w, &err) && w.step == 1200.0 * 1200 && w.bytes == 96000,
       "and has the work of paper 004");
    hrun_app_destroy(app);
    free(path);
}

int main(void)
{
    char *dir = temp_dir();

    test_work(dir);
    test_mistakes(dir);
    test_shipped();
    hrun_remove_tree(dir);
    free(dir);
    return tap_done();
}
