/* each_variant.c - hrun-calibrate of a definition with variants: measures each that has terms, one after the other */
#include "../common/calib_options.h"

#include <stdio.h>
#include <string.h>

/* Names of the variants to be measured. Result: 1 if the definition has variants and none was named. */
static int list_variants(const struct calib_settings *s, char **words, struct hrun_strvec *names, int *formulas,
                         struct hrun_error *err)
{
    struct settings quiet = s->common;
    autorelease(context_release) struct context c = { .set = &quiet };
    int several = 0;

    quiet.quiet = 1;            /* the measurement prints the notes */
    *formulas = 0;
    if (words[0] && !context_app(&c, words[0], err) && c.variants_of && !s->common.variant) {
        several = 1;
        for (int k = 0; k < c.variants_of->nvariants; k++) {
            const struct hrun_app *v = c.variants_of->variants[k];

            *formulas += hrun_family_of(v)->by_formula;
            if (!hrun_family_of(v)->by_formula)
                hrun_strvec_push(names, v->variant);
        }
    }
    return several;
}

int calib_variants(const struct calib_settings *s, char **words)
{
    autorelease(hrun_strvec_release) struct hrun_strvec names = HRUN_STRVEC_INIT;
    struct hrun_error err = { 0 };
    struct calib_settings one = *s;
    int formulas, several = list_variants(s, words, &names, &formulas, &err), status = 0;

    if (!several)
        return calib_measure(s, words);
    if (!names.n)
        fprintf(stderr, "hrun-calibrate: all variants are predicted by formulas: there is nothing to measure of the "
                "application; hrun-calibrate speeds and hrun-calibrate network measure what these need\n");
    for (size_t i = 0; i < names.n && !status; i++) {
        if (!s->common.quiet)
            fprintf(stderr, "hrun-calibrate: variant %s, %zu of %zu that have terms\n", names.v[i], i + 1, names.n);
        one.common.variant = names.v[i];
        status = calib_measure(&one, words);
        fflush(stdout);         /* keeps the name above its table if both go to one file */
    }
    return status;
}
