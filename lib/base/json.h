/* json.h - JSON documents as hrun and hrun-calibrate print them: indented, numbers with nine digits */
#ifndef HRUN_BASE_JSON_H
#define HRUN_BASE_JSON_H

#include "base/buf.h"

#include <jansson.h>

/* Append a document and a newline, and release the document. */
static inline void hrun_json_print(json_t *root, struct hrun_buf *out)
{
    autofree char *printed = root ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) : NULL;

    json_decref(root);
    if (!printed)
        hrun_out_of_memory();
    hrun_buf_addf(out, "%s\n", printed);
}

#endif
