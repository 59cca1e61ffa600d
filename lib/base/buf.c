/* buf.c - growing strings and string lists; see buf.h for the contracts */
#include "base/alloc.h"
#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char hrun_buf_empty[1] = "";

void hrun_buf_init(struct hrun_buf *b)
{
    b->data = hrun_buf_empty;
    b->len = b->cap = 0;
}

void hrun_buf_release(struct hrun_buf *b)
{
    if (!b)
        return;
    if (b->cap)
        free(b->data);
    hrun_buf_init(b);
}

void hrun_buf_reset(struct hrun_buf *b)
{
    b->len = 0;
    if (b->cap)
        b->data[0] = 0;
}

/* Make room for `more` bytes and the final NUL. */
static void grow(struct hrun_buf *b, size_t more)
{
    int is_new = !b->cap;

    if (more >= (size_t)-1 - b->len)
        hrun_out_of_memory();
    if (is_new)
        b->data = NULL;
    hrun_grow(b->data, b->len + more + 1, b->cap);
    if (is_new)
        b->data[0] = 0;
}

void hrun_buf_add(struct hrun_buf *b, const void *data, size_t len)
{
    if (len == 0)
        return;
    grow(b, len);
    memcpy(b->data + b->len, data, len);
    b->len += len;
    b->data[b->len] = 0;
}

void hrun_buf_add_tail(struct hrun_buf *b, const void *data, size_t len, size_t max)
{
    hrun_buf_add(b, data, len);
    if (b->len > max) {
        memmove(b->data, b->data + b->len - max, max + 1);
        b->len = max;
    }
}

void hrun_buf_adds(struct hrun_buf *b, const char *s)
{
    hrun_buf_add(b, s, strlen(s));
}

void hrun_buf_addc(struct hrun_buf *b, char c)
{
    hrun_buf_add(b, &c, 1);
}

void hrun_buf_addn(struct hrun_buf *b, char c, size_t count)
{
    if (count == 0)
        return;
    grow(b, count);
    memset(b->data + b->len, c, count);
    b->len += count;
    b->data[b->len] = 0;
}

void hrun_buf_vaddf(struct hrun_buf *b, const char *fmt, va_list ap)
{
    va_list again;
    int len;

    va_copy(again, ap);
    len = vsnprintf(NULL, 0, fmt, ap);
    if (len > 0) {
        grow(b, (size_t)len);
        vsnprintf(b->data + b->len, (size_t)len + 1, fmt, again);
        b->len += (size_t)len;
    }
    va_end(again);
}

void hrun_buf_addf(struct hrun_buf *b, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    hrun_buf_vaddf(b, fmt, ap);
    va_end(ap);
}

int hrun_utf8_length(const unsigned char *s)
{
    int len = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;

    for (int i = 1; i < len; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90)
        || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return len;
}

void hrun_buf_add_printable(struct hrun_buf *b, const char *text, size_t len)
{
    const unsigned char *s = (const unsigned char *)text, *end = s + len;

    for (int n; s < end; s += n ? n : 1) {
        int code, layout = *s == '\n' || *s == '\t' || (*s == '\r' && s[1] == '\n');

        n = hrun_utf8_length(s);
        code = n == 1 ? s[0] : n == 2 ? (s[0] & 0x1f) << 6 | (s[1] & 0x3f) : ' ';
        if (!n)
            hrun_buf_addf(b, "\\x%02x", *s);
        else if (!layout && (code < ' ' || (code >= 0x7f && code < 0xa0)))
            hrun_buf_addf(b, "\\u%04x", (unsigned)code);
        else
            hrun_buf_add(b, s, (size_t)n);
    }
}

void hrun_buf_add_shell(struct hrun_buf *b, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:@%";

    if (*word && word[strspn(word, plain)] == 0) {
        hrun_buf_adds(b, word);
        return;
    }
    hrun_buf_addc(b, '\'');
    for (; *word; word++)
        if (*word == '\'')
            hrun_buf_adds(b, "'\\''");
        else
            hrun_buf_addc(b, *word);
    hrun_buf_addc(b, '\'');
}

void hrun_buf_add_command(struct hrun_buf *b, char *const *words)
{
    for (int i = 0; words[i]; i++) {
        if (i)
            hrun_buf_addc(b, ' ');
        hrun_buf_add_shell(b, words[i]);
    }
}

char *hrun_buf_detach(struct hrun_buf *b)
{
    char *s = b->cap ? b->data : xstrdup("");

    hrun_buf_init(b);
    return s;
}

void hrun_strvec_push(struct hrun_strvec *sv, const char *s)
{
    hrun_grow(sv->v, sv->n + 2, sv->cap);
    sv->v[sv->n++] = xstrdup(s);
    sv->v[sv->n] = NULL;
}

void hrun_strvec_pushf(struct hrun_strvec *sv, const char *fmt, ...)
{
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    va_list ap;

    va_start(ap, fmt);
    hrun_buf_vaddf(&b, fmt, ap);
    va_end(ap);
    hrun_strvec_push(sv, b.data);
}

void hrun_strvec_add(struct hrun_strvec *sv, ...)
{
    const char *word;
    va_list ap;

    va_start(ap, sv);
    while ((word = va_arg(ap, const char *)))
        hrun_strvec_push(sv, word);
    va_end(ap);
}

void hrun_strvec_add_all(struct hrun_strvec *sv, char *const *words)
{
    for (; words && *words; words++)
        hrun_strvec_push(sv, *words);
}

static int compare_string_pointers(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void hrun_strvec_sort(struct hrun_strvec *sv, size_t first)
{
    size_t kept = first;

    if (sv->n == first)
        return;
    qsort(sv->v + first, sv->n - first, sizeof *sv->v, compare_string_pointers);
    for (size_t i = first; i < sv->n; i++)
        if (kept > first && !strcmp(sv->v[kept - 1], sv->v[i]))
            free(sv->v[i]);
        else
            sv->v[kept++] = sv->v[i];
    sv->n = kept;
    sv->v[kept] = NULL;
}

void hrun_strvec_release(struct hrun_strvec *sv)
{
    if (!sv)
        return;
    for (size_t i = 0; i < sv->n; i++)
        free(sv->v[i]);
    free(sv->v);
    sv->v = NULL;
    sv->n = sv->cap = 0;
}

char *hrun_strf(const char *fmt, ...)
{
    struct hrun_buf b = HRUN_BUF_INIT;
    va_list ap;

    va_start(ap, fmt);
    hrun_buf_vaddf(&b, fmt, ap);
    va_end(ap);
    return hrun_buf_detach(&b);
}
