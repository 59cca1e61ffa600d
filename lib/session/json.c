/* json.c - JSON documents as they are printed; see context.h */
#include "session/context.h"

#include <stdlib.h>

int json_print(json_t *root, struct hrun_buf *out, struct hrun_error *err)
{
    char *text = root ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) : NULL;

    json_decref(root);
    if (!text)
        return hrun_fail_nomem(err);
    hrun_buf_adds(out, text);
    hrun_buf_addc(out, '\n');
    free(text);
    return out->failed ? hrun_fail_nomem(err) : 0;
}
