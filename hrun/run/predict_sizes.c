/* predict_sizes.c - hrun --dry-run=time: the predicted time alone; see run.h */
#include "run.h"

#include "session/decide.h"
#include "session/work.h"

#include <stdio.h>

/* What is asked, and what is known to answer it. */
struct asked {
    const struct hrun_settings *s;
    struct context c;
    struct knowledge known;
    int64_t N;
};

static int learn(struct asked *a, char **words, struct hrun_error *err)
{
    const struct hrun_settings *s = a->s;
    struct context *c = &a->c;
    struct work w = { .c = c, .N = s->N, .words = words, .programs = s->programs,
                      .nprograms = s->nprograms };

    c->set = &s->common;
    if (hrun_mapping_places(&s->mapping))
        return hrun_fail(err, HRUN_EINVAL, "--dry-run=time predicts configurations: give --config in place of --map-by "
                         "and its like, or --dry-run alone");
    if (context_app(c, words[0], err) || problem_find(c, s->nprograms ? NULL : words, s->N, err))
        return -1;
    a->N = w.N = c->app && c->app->fixed ? 1 : c->number ? c->number->N : s->N;
    w.words = (char **)number_words(c, words);
    if (!a->N)
        return hrun_fail(err, HRUN_EINVAL, "--dry-run=time needs a size: give -N SIZE");
    if (!c->app)
        return hrun_fail(err, HRUN_ENOENT, "--dry-run=time needs an app definition: name one with -app "
                         "(hrun --list-apps)");
    if ((words[0] && work_find_program(&w, 0, err)) || context_cluster(c, &s->common, err) ||
        context_choose_engine(c, 0, err))
        return -1;
    return knowledge_load(c, &a->known, err);
}

/* Append the line of one configuration, or its document; NULL: of the best one. */
static int add_prediction(struct asked *a, const char *config, struct hrun_buf *out, struct hrun_error *err)
{
    struct question ask = a->s->ask;
    struct known_app *app;
    struct decision d;
    int rc;

    ask.config = config;
    ask.table = a->s->common.json;
    if (knowledge_ask(&a->c, &a->known, &ask, a->N, &d, &app, err))
        return a->s->configs.n > 1 ? hrun_fail_prefix(err, "%s", config) : -1;
    if (a->s->common.json) {
        rc = predict_document(&a->c, app, &d, out, err);
    } else {
        hrun_buf_addf(out, "%.6g %.6g %.6g ", d.time_s, d.low_s, d.high_s);
        hrun_config_print(d.pes, d.procs, d.nsubs, out);
        hrun_buf_addc(out, '\n');
        rc = out->failed ? hrun_fail_nomem(err) : 0;
    }
    decision_release(&d);
    return rc;
}

/* All of them; several documents are an array. */
static int add_predictions(struct asked *a, struct hrun_buf *out, struct hrun_error *err)
{
    const struct hrun_strvec *configs = &a->s->configs;
    int array = a->s->common.json && configs->n > 1;

    for (size_t i = 0; i < configs->n; i++) {
        if (array)
            hrun_buf_adds(out, i ? "," : "[");
        if (add_prediction(a, configs->v[i], out, err))
            return -1;
    }
    if (array)
        hrun_buf_adds(out, "]\n");
    return configs->n ? 0 : add_prediction(a, NULL, out, err);
}

int run_predict(const struct hrun_settings *s, char **words)
{
    struct asked a = { .s = s };
    struct hrun_error err = { 0 };
    struct hrun_buf out = HRUN_BUF_INIT;
    int status = 0;

    if (learn(&a, words, &err) || add_predictions(&a, &out, &err))
        status = context_complain("hrun", &err);
    else
        fputs(out.data, stdout);
    hrun_buf_release(&out);
    knowledge_release(&a.known);
    context_release(&a.c);
    return status;
}
