/* json.h - JSON documents as hrun and hrun-calibrate print them: indented, numbers with nine digits */
#ifndef HRUN_BASE_JSON_H
#define HRUN_BASE_JSON_H

#include "base/buf.h"

#include <jansson.h>

/* Append a document and a newline, and release it. */
void hrun_json_print(json_t *root, struct hrun_buf *out);

#endif
