/* test_calib_left.c - the time left that a campaign foretells, against the time that its runs then take */
#include "calib.h"

#include "../../calib/measure/budget.h"
#include "../../calib/measure/progress.h"

#include <math.h>

static const struct hrun_engine fake = { .name = "mpirun", .check = fake_check };

/* The wall time of a run, s. */
typedef double wall(double N, double P, double speed);

static double dense(double N, double P, double speed)
{
    return 0.5 + 4e-11 * N * N * N / P / speed + 2e-8 * N * N;
}

static double stencil(double N, double P, double speed)
{
    return 0.4 + 1e-6 * N * N / P / speed + 1e-5 * N;
}

static double no_start(double N, double P, double speed)
{
    return 2e-9 * N * N * N / P / speed;
}

static double flat(double N, double P, double speed)
{
    (void)P;
    return 2 + 1e-6 * N / speed;
}

/* Each time varies by a few percent. */
static double noise(int point, int repetition)
{
    return 1 + 0.04 * sin(12.9898 * point + 78.233 * repetition);
}

/* Make the runs of a grid in their order, as runs_make does. Result: the largest factor by which the time left is wrong
 * once `part` of the time has passed, where it is sure, or (sure = 0) where it is not. */
static double worst(wall *w, double part, int repetitions, int sure)
{
    static const char cluster[] = "subclusters:\n"
                                  "  - {name: near, hosts: \"127.0.0.[2-5]\", cores: 1, cpu: Near}\n"
                                  "  - {name: far, hosts: \"127.0.0.[6-9]\", cores: 2, cpu: Far}\n";
    struct calib_settings s = { CALIB_SETTINGS_DEFAULTS, .again = 1, .repetitions = repetitions,
                                .sizes = { { 400, 800, 1200, 1600, 2400, 3200, 4000, 6400 }, 8 } };
    double all = 0, done = 0, most = 1;
    struct fixture f;

    set_up_context(&f, "left", cluster, "{np: [\"N\"], n: [\"N\"]}", "far", &fake);
    if (campaign_build(&f.c, &s, &f.g, &f.err))
        stop(&f);
    for (int rep = 0; rep < repetitions; rep++)
        for (int i = 0; i < f.g.n; i++)
            all += w((double)f.g.v[i].N, f.g.v[i].P, f.g.v[i].sub ? 0.5 : 1) * noise(i, rep);
    for (int rep = 0; rep < repetitions; rep++)
        for (int i = 0; i < f.g.n; i++) {
            double t = w((double)f.g.v[i].N, f.g.v[i].P, f.g.v[i].sub ? 0.5 : 1) * noise(i, rep), left;

            campaign_note(&f.g, &(struct event){ .kind = EVENT_RUN, .point = i, .time_s = t, .wall_s = t });
            done += t;
            left = campaign_time_left(&f.g, -1);
            if (campaign_left_is_sure(&f.g) == sure && done > part * all && all - done > 0.01 * all)
                most = fmax(most, left > 0 ? exp(fabs(log(left / (all - done)))) : INFINITY);
        }
    tear_down(&f);
    return most;
}

/* What passes between runs counts: of a grid as much for each run, of a budget in proportion. */
static void test_pace(void)
{
    struct hrun_cluster cl = { .nsubs = 1 };
    struct settings set = { .quiet = 1 };
    struct context c = { .set = &set, .cluster = &cl };
    const struct hrun_config one = { 1, { 1 }, { 1 } };
    struct point points[2] = { { .N = 100, .config = one, .P = 1 },
                               { .N = 200, .config = one, .P = 1 } };
    struct campaign g = { .v = points, .n = 2, .wanted = 2, .nsubs = 1 };
    struct progress p;

    progress_start(&p, &c, &g);
    is_num(progress_left(&p), 0, 0, "before the first run the time left is not known");
    for (int i = 0; i < 2; i++) {
        const struct event e = { .kind = EVENT_RUN, .point = i, .time_s = 1, .wall_s = 4 };

        campaign_note(&g, &e);
        progress_show(&p, &e);
    }
    is_num(progress_left(&p), 8, 1e-6, "two runs of 4 s are left, nothing passed between the first ones");
    p.busy_s += 1;
    is_num(progress_left(&p), 9, 1e-6, "half a second each between runs");
    p.ended_s -= 100;
    progress_show(&p, &(struct event){ .kind = EVENT_RUN, .point = 1, .wall_s = 4 });
    is_num(p.busy_s, 9 + 4, 1e-6, "a long pause, which is for other users, does not count");
    cl.platform = (char *)"some.xml";
    is_num(progress_left(&p), 2 * p.busy_s / 3, 1e-6, "a simulation takes as long as its simulator");
}

/* The line of a run on a terminal of so many columns: names give way to the time left. */
static void test_line(void)
{
    static const char *const widths[] = { "40", "60", "80", "300" };
    char name[61];
    struct hrun_subcluster sub = { .name = name };
    struct hrun_app app = { .fixed = 0 };
    struct hrun_cluster cl = { .subs = &sub, .nsubs = 1 };
    struct settings set = { .quiet = 0 };
    struct context c = { .set = &set, .cluster = &cl, .app = &app };
    const struct event e = { .kind = EVENT_RUN, .time_s = 3.25, .wall_s = 4 };
    const struct hrun_config two = { 1, { 2 }, { 1 } };

    for (int len = 3; len <= 60; len += 19)
        for (size_t i = 0; i < 4; i++) {
            struct point points[2] = { { .N = 1000, .config = two, .P = 2 },
                                       { .N = 2000, .config = two, .P = 2 } };
            struct campaign g = { .v = points, .n = 2, .wanted = 1, .nsubs = 1 };
            int real = dup(STDERR_FILENO), columns = atoi(widths[i]);
            FILE *file = tmpfile();
            char line[400] = "";
            struct progress p;

            memset(name, 'n', (size_t)len);
            name[len] = 0;
            setenv("COLUMNS", widths[i], 1);
            dup2(fileno(file), STDERR_FILENO);
            progress_start(&p, &c, &g);
            campaign_note(&g, &e);
            progress_show(&p, &e);
            dup2(real, STDERR_FILENO);
            close(real);
            rewind(file);
            ok(fgets(line, sizeof line, file) && (int)strlen(line) <= columns && strstr(line, "  3.25 s  ") &&
               strstr(line, " s left\n") && (columns < 80 || strstr(line, "  N=1000     P=2   (2 PEs x 1)  ")) &&
               (columns < 300 || strstr(line, name)),
               "%d columns, a name of %d: the line fits and ends with the time left: %s", columns, len, line);
            fclose(file);
        }
    unsetenv("COLUMNS");
}

int main(void)
{
    static const struct { const char *name; wall *w; } kinds[] = {
        { "a dense solver", dense }, { "a stencil", stencil }, { "no start-up", no_start }, { "nearly flat", flat }
    };

    folder = temp_dir();
    test_pace();
    test_line();
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        double sure = worst(kinds[i].w, 0.1, 3, 1), guessed = worst(kinds[i].w, 0.1, 1, 0);

        ok(sure < 1.1, "%s: once all points have run, the time left is right within 10 %% (%.2f)", kinds[i].name, sure);
        ok(guessed < 3, "%s: before, it is right within a factor of 3 (%.2f)", kinds[i].name, guessed);
    }
    return tap_done();
}
