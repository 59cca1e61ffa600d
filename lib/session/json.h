/* json.h - JSON documents as they are printed: indented, numbers with the digits that measurements have
 *
 * Purpose: what hrun and hrun-calibrate say to machines looks the same everywhere.
 */
#ifndef HRUN_SERVICE_JSON_H
#define HRUN_SERVICE_JSON_H

#include "base/buf.h"
#include "base/error.h"

#include <jansson.h>

/* Append a document and a newline, and drop it. root NULL: memory ran out when it was made. Errors: HRUN_ENOMEM. */
int json_print(json_t *root, struct hrun_buf *out, struct hrun_error *err);

#endif
