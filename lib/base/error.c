/* error.c - filling error objects; see error.h for the contracts */
#include "base/error.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

size_t hrun_error_size(void)
{
    return sizeof(struct hrun_error);
}

int hrun_fail_at(struct hrun_error *err, enum hrun_code code, const char *file, int line, int column,
                 const char *fmt, ...)
{
    va_list ap;

    if (!err)
        return -1;
    err->code = code;
    err->sys = 0;
    err->line = line;
    err->column = column;
    err->excess = 0;
    snprintf(err->file, sizeof err->file, "%s", file ? file : "");
    va_start(ap, fmt);
    vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    return -1;
}

int hrun_fail_errno(struct hrun_error *err, enum hrun_code code, const char *fmt, ...)
{
    char text[HRUN_ERROR_TEXT];
    int why = errno;
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    hrun_fail(err, code, "%s: %s", text, strerror(why));
    if (err)
        err->sys = why;
    return -1;
}

int hrun_fail_prefix(struct hrun_error *err, const char *fmt, ...)
{
    char old[HRUN_ERROR_TEXT];
    size_t len;
    va_list ap;

    if (!err)
        return -1;
    memcpy(old, err->text, sizeof old);
    va_start(ap, fmt);
    vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    len = strlen(err->text);
    snprintf(err->text + len, sizeof err->text - len, ": %s", old);
    return -1;
}

char *hrun_error_format(const struct hrun_error *err, char *out, size_t size)
{
    char text[HRUN_ERROR_FILE + HRUN_ERROR_TEXT + 32];
    size_t n = 0;

    if (!err->file[0])
        snprintf(text, sizeof text, "%s", err->text);
    else if (err->line && err->column)
        snprintf(text, sizeof text, "%s:%d:%d: %s", err->file, err->line, err->column, err->text);
    else if (err->line)
        snprintf(text, sizeof text, "%s:%d: %s", err->file, err->line, err->text);
    else
        snprintf(text, sizeof text, "%s: %s", err->file, err->text);
    /* Text from files and other hosts may contain control characters and newlines. */
    for (const char *c = text; *c && n + sizeof "\\u001b" <= size; c++)
        if (iscntrl((unsigned char)*c) && *c != '\t')
            n += (size_t)snprintf(out + n, size - n, "\\u%04x", (unsigned char)*c);
        else
            out[n++] = *c;
    if (size)
        out[n] = 0;
    return out;
}
