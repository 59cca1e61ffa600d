/* Definitions of family weak: the mesh of a size, the memory of a process, and each mistake with its place. */
#include "fixture.h"

#include "app/app.h"

#define HEAD "name: app\nfamily: weak\nconstants: [{name: l, value: 3}]\n"

static void test_mesh(const char *dir)
{
    struct hrun_error err;
    struct hrun_app *app = load_text(dir, "name: app\nfamily: weak\nmemory: \"N*P\"\n", &err);
    int64_t units = 0, unit = 0;
    double bytes = 0;

    ok(app && app->family == HRUN_APP_WEAK, "a definition of family weak needs no terms, nor the key weak %s", err.text);
    if (!app)
        return;
    is_int(hrun_app_mesh(app, 100, &units, &unit, &err), 0, "its mesh");
    ok(units == 100 && unit == 1, "has N rows, each by itself");
    ok(!hrun_app_share_memory(app, 100, 4, 7, &bytes, &err) && bytes == 400, "memory is the definition's");
    hrun_app_destroy(app);

    app = load_text(dir, HEAD "weak: {rows: \"2*N\", unit: \"2^(l-1)\", memory: \"8*N*W + P\"}\n", &err);
    ok(app, "all keys %s", err.text);
    if (!app)
        return;
    ok(!hrun_app_mesh(app, 101, &units, &unit, &err) && units == 51 && unit == 4, "202 rows are 51 units of four");
    ok(!hrun_app_share_memory(app, 100, 4, 20, &bytes, &err) && bytes == 16004, "the memory of so many rows");
    units = 7;
    ok(hrun_app_units_fitting(app, 100, 4, 50, 16004, &err) == 5, "five units fit into as much");
    ok(hrun_app_units_fitting(app, 100, 4, 50, 16003, &err) == 4, "four into a byte less");
    ok(hrun_app_units_fitting(app, 100, 4, 50, 3203, &err) == 0, "none into less than one takes");
    ok(hrun_app_units_fitting(app, 100, 4, 50, 1e12, &err) == 50, "all into much");
    ok(hrun_app_units_fitting(app, 100, 4, 50, 0, &err) == 50, "and where nothing is known of it");
    /* 200 rows are 50 units, 13 of which are the most on one of four processes */
    ok(!hrun_app_memory(app, 100, 4, &bytes, &err) && bytes == 8 * 100 * 52 + 4, "and of equal shares");
    hrun_app_destroy(app);

    app = load_text(dir, HEAD "weak: {rows: \"N/2\", unit: \"N-5\"}\n", &err);
    units = unit = 7;
    ok(app && hrun_app_mesh(app, 101, &units, &unit, &err) && err.code == HRUN_EINVAL, "half a row: %s", err.text);
    has_str(err.text, "weak.rows of app: 'N/2' is 50.5 at N=101", "is told");
    ok(app && hrun_app_mesh(app, 4, &units, &unit, &err) && units == 7 && unit == 7, "as is a unit below 1");
    hrun_app_destroy(app);
}

static void test_mistakes(const char *dir)
{
    static const struct { const char *text, *said; int line, column; } bad[] = {
        { "name: app\nterms: {np: [N], n: [N]}\nweak: {unit: 2}\n", "'weak' is for definitions of family weak", 3, 7 },
        { HEAD "weak:\n  rows: N*x\n", "x", 5, 11 },
        { HEAD "weak:\n  unit: P\n", "P", 5, 9 },
        { HEAD "weak:\n  rows: N\n  memory: \"8*N*W + Q\"\n", "Q", 6, 20 },
        { HEAD "weak: {shares: N}\n", "shares", 4, 0 },
        { HEAD "terms: {np: [N], n: [N]}\n", "'terms' are for definitions of family npt, not weak", 4, 8 },
        { "name: app\nfamily: weakly\n", "did you mean 'weak'?", 2, 9 },
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
    char *path = hrun_strf("%s/../../share/profiles/multigrid.yaml", test_data());
    struct hrun_error err = { 0 };
    struct hrun_app *app = NULL;
    int64_t units = 0, unit = 0;

    ok(!hrun_app_load(path, NULL, &app, &err), "the shipped definition loads %s", err.text);
    ok(app && !hrun_app_mesh(app, 65536, &units, &unit, &err) && units == 4096 && unit == 16, "five meshes");
    ok(app && hrun_app_rule(app, 4096, 256, &err) == 1 && hrun_app_rule(app, 4096, 257, &err) == 0 &&
       hrun_app_rule(app, 4100, 4, &err) == 0 && hrun_app_rule(app, 16, 1, &err) == 0, "and its rule");
    hrun_app_destroy(app);
    free(path);
}

int main(void)
{
    char *dir = temp_dir();

    test_mesh(dir);
    test_mistakes(dir);
    test_shipped();
    hrun_remove_tree(dir);
    free(dir);
    return tap_done();
}
