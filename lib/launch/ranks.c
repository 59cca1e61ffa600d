/* ranks.c - the bindings of the ranks as text; see ranks.h for the format. hrun-shim links this file, so it uses
 * lib/base only. */
#include "launch/ranks.h"

#include "base/alloc.h"
#include "base/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Open MPI 4 has btl vader, version 5 btl sm. */
const char *const hrun_shared_memory_keys[] = {
    "btl_vader_backing_directory", "btl_sm_backing_directory", "osc_sm_backing_directory", "osc_rdma_backing_directory",
    "shmem_mmap_backing_file_base_dir", NULL
};

static void variable_name(int part, char *name, size_t size)
{
    if (part)
        snprintf(name, size, HRUN_RANKS_VARIABLE "_%d", part);
    else
        snprintf(name, size, HRUN_RANKS_VARIABLE);
}

void hrun_ranks_words(const struct hrun_layout *l, struct hrun_strvec *words)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    autorelease(hrun_buf_release) struct hrun_buf entry = HRUN_BUF_INIT;
    char name[32];
    int part = 0;

    for (int r = 0; r < l->nranks; ) {
        int first = r++;

        while (r < l->nranks && l->ranks[r].threads == l->ranks[first].threads &&
               !strcmp(l->ranks[r].cpuset, l->ranks[first].cpuset))
            r++;
        hrun_buf_reset(&entry);
        hrun_buf_addf(&entry, "%d", first);
        if (r - 1 > first)
            hrun_buf_addf(&entry, "-%d", r - 1);
        hrun_buf_addf(&entry, "=%s", l->ranks[first].cpuset);
        if (l->ranks[first].threads)
            hrun_buf_addf(&entry, "/%d", l->ranks[first].threads);
        if (text.len && text.len + 1 + entry.len > HRUN_RANKS_PART) {
            variable_name(part++, name, sizeof name);
            hrun_strvec_pushf(words, "%s=%s", name, text.data);
            hrun_buf_reset(&text);
        }
        if (text.len)
            hrun_buf_addc(&text, ';');
        hrun_buf_add(&text, entry.data, entry.len);
    }
    variable_name(part, name, sizeof name);
    hrun_strvec_pushf(words, "%s=%s", name, text.data);
}

/* Read the entry at p. Result: the text behind it; NULL: not an entry. */
static const char *read_entry(const char *p, long *first, long *last, const char **cpuset, size_t *len, int *threads)
{
    enum { NUMBER_MAX = 0x3fffffff };
    long n = 0, same = 0;

    if (!(p = hrun_range_next(p, NUMBER_MAX, first, last)) || *p != '=')
        return NULL;
    *cpuset = ++p;
    *len = strspn(p, "0123456789,-");
    p += *len;
    if (*p == '/' && (!(p = hrun_range_next(p + 1, NUMBER_MAX, &n, &same)) || n != same))
        return NULL;
    *threads = (int)n;
    return *p && *p != ';' ? NULL : p;
}

int hrun_ranks_find(char *(*lookup)(const char *name), int rank, struct hrun_ranks_entry *out, struct hrun_error *err)
{
    const char *text, *end, *cpuset;
    char name[32];
    size_t len;
    long first, last;
    int threads;

    for (int part = 0; ; part++) {
        variable_name(part, name, sizeof name);
        text = lookup(name);
        if (!text)
            return hrun_fail(err, HRUN_ENOENT, "%s has no entry for rank %d", HRUN_RANKS_VARIABLE, rank);
        for (const char *p = text; *p; p = end + (*end == ';')) {
            if (!(end = read_entry(p, &first, &last, &cpuset, &len, &threads)))
                return hrun_fail(err, HRUN_EPARSE, "%s cannot be understood at character %d", name,
                                 (int)(p - text) + 1);
            if (rank < first || rank > last)
                continue;
            out->threads = threads;
            out->cpuset = xstrndup(cpuset, len);
            return 0;
        }
    }
}
