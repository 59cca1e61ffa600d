/* irregular.c - network terms whose operations take irregular times; see model.h */
#include "model/model.h"

#include "model/terms.h"

#include <string.h>

/* Has a model before it the same term in use? */
static int is_named(const struct hrun_buf *which, const char *text)
{
    size_t len = strlen(text);

    for (const char *at = which->data; at && (at = strstr(at, text)); at++)
        if ((at == which->data || at[-1] == ' ') && (!at[len] || at[len] == ','))
            return 1;
    return 0;
}

static void look_at(const struct hrun_app *app, const char *text, const struct hrun_net *net, int64_t N, int P,
                    struct hrun_buf *which)
{
    struct hrun_net_call call;
    int owned = 0;
    struct hrun_expr *e = hrun_term_find(app, HRUN_TERM_NP, text, &owned, NULL);

    if (e && hrun_term_is_network(e) && !hrun_term_network_call(e, (double)N, P, &call, NULL) &&
        hrun_net_irregular(net, &call, P) && !is_named(which, text))
        hrun_buf_addf(which, "%s%s", which->len ? ", " : "", text);
    if (e && owned)
        hrun_expr_destroy(e);
}

void hrun_models_irregular(const struct hrun_app *app, struct hrun_models *const *models, int nsubs,
                           const struct hrun_net *net, int64_t N, int P, struct hrun_buf *which)
{
    for (int s = 0; s < nsubs; s++)
        for (int i = 0; models[s] && i < models[s]->n; i++) {
            const struct hrun_fit_record *r = &models[s]->v[i];

            for (int j = 0; !strcmp(r->family, "npt") && j < r->nterms; j++)
                if (r->k[j] != 0)
                    look_at(app, r->terms[j], net, N, P, which);
        }
}
