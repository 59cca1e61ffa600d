/* json.c - JSON documents as text; see json.h */
#include "base/json.h"

#include "base/alloc.h"

void hrun_json_print(json_t *root, struct hrun_buf *out)
{
    autofree char *printed = root ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) : NULL;

    json_decref(root);
    if (!printed)
        hrun_out_of_memory();
    hrun_buf_addf(out, "%s\n", printed);
}
