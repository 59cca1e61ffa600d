/* ask.h - what a short command prints (internal) */
#ifndef HRUN_LAUNCH_ASK_H
#define HRUN_LAUNCH_ASK_H

#include "base/buf.h"
#include "base/error.h"

/* Append what argv[0], a path, prints with these words; errors = 1: on standard error, too. It reads /dev/null, and its
 * status does not count. It has 10 s between two pieces of output, as a folder on a network that is down must not hang
 * hrun. Errors: HRUN_EIO (it cannot be started or does not answer), HRUN_ENOMEM. */
int hrun_ask(char *const *argv, int errors, struct hrun_buf *out, struct hrun_error *err);

#endif
