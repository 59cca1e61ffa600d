/* list.c - comma-separated lists of names; see list.h for the contracts */
#include "base/list.h"

#include <string.h>

void hrun_list_add(struct hrun_buf *out, const char *name)
{
    if (out->len)
        hrun_buf_addc(out, ',');
    hrun_buf_adds(out, name);
}

int hrun_list_count(const char *list)
{
    int n = list && *list;

    for (; n && *list; list++)
        n += *list == ',';
    return n;
}

const char *hrun_list_item(const char *list, int place, size_t *len)
{
    if (!list || !*list || place < 0)
        return NULL;
    for (; place > 0; place--) {
        list = strchr(list, ',');
        if (!list)
            return NULL;
        list++;
    }
    *len = strcspn(list, ",");
    return list;
}

char *hrun_list_copy(const char *list, int place)
{
    size_t len;
    const char *item = hrun_list_item(list, place, &len);

    return item ? strndup(item, len) : NULL;
}

int hrun_list_is(const char *list, int place, const char *name)
{
    size_t len;
    const char *item = hrun_list_item(list, place, &len);

    return item && name && strlen(name) == len && !strncmp(item, name, len);
}

int hrun_list_find(const char *list, const char *name)
{
    for (int i = 0, n = hrun_list_count(list); i < n; i++)
        if (hrun_list_is(list, i, name))
            return i;
    return -1;
}
