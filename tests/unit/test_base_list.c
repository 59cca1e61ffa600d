/* comma-separated lists: round trips over random lists, against a plain search; empty ones and lists that end early */
#include "tap.h"

#include "base/list.h"

#include <stdlib.h>

static void is_item(const char *list, int place, const char *want, const char *what)
{
    size_t len = 99;
    const char *item = hrun_list_item(list, place, &len);

    ok(want ? item && len == strlen(want) && !strncmp(item, want, len) : !item && len == 99, "%s", what);
}

static void test_items(void)
{
    char *copy;

    is_item("fast,slow", 0, "fast", "the first name");
    is_item("fast,slow", 1, "slow", "the last name");
    is_item("fast,slow", 2, NULL, "there is no third");
    is_item("fast,slow", -1, NULL, "nor one before the first");
    is_item("fast", 0, "fast", "a name alone");
    is_item("", 0, NULL, "an empty list has no name");
    is_item(NULL, 0, NULL, "no list has none");
    is_item("a,,b", 1, "", "an empty name between two");
    is_item("a,", 1, "", "and at the end");
    copy = hrun_list_copy("fast,slow", 0);
    is_str(copy, "fast", "a name in memory of its own");
    free(copy);
    ok(!hrun_list_copy("fast,slow", 2), "none of a name that is not there");
    is_int(hrun_list_count("a,,b"), 3, "which count");
    is_int(hrun_list_count(""), 0, "an empty list counts nothing");
    is_int(hrun_list_count(NULL), 0, "nor does none");
    ok(hrun_list_is("fast,slow", 1, "slow"), "slow stands at place 1");
    ok(!hrun_list_is("fast,slow", 1, "slo") && !hrun_list_is("fast,slow", 1, "slower"), "a part of a name is not it");
    ok(!hrun_list_is("fast,slow", 0, "fast,slow"), "nor is the list one of its names");
    ok(!hrun_list_is("a,,b", 1, NULL), "nor no name at all");
    is_int(hrun_list_find("b,a,b", "b"), 0, "the first of equal names is found");
    is_int(hrun_list_find("b,a,b", "c"), -1, "a name that is not there is not found");
    is_int(hrun_list_find(NULL, "c"), -1, "nor in no list");
}

static void test_starts(void)
{
    static const char *const starts[] = { "OMP_", "UCX_", NULL }, *const none[] = { NULL };

    ok(hrun_begins_with("UCX_TLS=all", starts), "a text begins with the last start");
    ok(hrun_begins_with("OMP_", starts), "a start begins with itself");
    ok(!hrun_begins_with("OMP", starts) && !hrun_begins_with("XOMP_", starts) && !hrun_begins_with("", starts),
       "a part of a start, a start within and an empty text do not begin with it");
    ok(!hrun_begins_with("OMP_", none), "of no starts there is none");
}

/* Names "n0" .. "n11" in random lists: "n1" begins "n10" and "n11". */
static void test_round_trip(void)
{
    unsigned state = 1;
    int bad = 0;

    for (int round = 0; round < 200; round++) {
        struct hrun_buf b = HRUN_BUF_INIT;
        char names[8][4];
        int n = round % 9, first;

        for (int i = 0; i < n; i++) {
            state = state * 1664525u + 1013904223u;     /* Numerical Recipes' quick generator */
            snprintf(names[i], sizeof names[i], "n%u", (state >> 20) % 12);
            hrun_list_add(&b, names[i]);
        }
        bad += hrun_list_count(b.data) != n;
        for (int i = 0; i < n; i++) {
            for (first = 0; strcmp(names[first], names[i]); )
                first++;
            bad += !hrun_list_is(b.data, i, names[i]) || hrun_list_find(b.data, names[i]) != first;
        }
        hrun_buf_release(&b);
    }
    is_int(bad, 0, "what was written is read back, and found at its first place");
}

int main(void)
{
    test_items();
    test_starts();
    test_round_trip();
    return tap_done();
}
