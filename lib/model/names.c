/* names.c - names of families and methods; see model.h for the contracts */
#include "model/model.h"

#include <string.h>

static const char *const families[] = {
    [HRUN_FAMILY_NT] = "nt", [HRUN_FAMILY_PT] = "pt", [HRUN_FAMILY_NPT] = "npt"
};
static const char *const methods[] = { [HRUN_METHOD_LS] = "ls", [HRUN_METHOD_NNLS] = "nnls" };

const char *hrun_family_name(enum hrun_family f)
{
    return families[f];
}

const char *hrun_method_name(enum hrun_method m)
{
    return methods[m];
}

int hrun_family_parse(const char *text, enum hrun_family *out, struct hrun_error *err)
{
    for (int i = 0; i < (int)(sizeof families / sizeof *families); i++) {
        if (!strcmp(text, families[i])) {
            *out = (enum hrun_family)i;
            return 0;
        }
    }
    return hrun_fail(err, HRUN_EINVAL, "'%s' is no model family; choose nt, pt or npt", text);
}

int hrun_method_parse(const char *text, enum hrun_method *out, struct hrun_error *err)
{
    for (int i = 0; i < (int)(sizeof methods / sizeof *methods); i++) {
        if (!strcmp(text, methods[i])) {
            *out = (enum hrun_method)i;
            return 0;
        }
    }
    return hrun_fail(err, HRUN_EINVAL, "'%s' is no fitting method; choose ls or nnls", text);
}
