/* test_topo_broken.c - lib/cluster: broken descriptions never crash or fill the memory of the program that loads them
 *
 * The corpus is made of whole machines: each second attribute misspelt in turn and left out in turn, the file cut at each
 * 100th byte. Each of them loads, and can be used, or gives one error. Both of hwloc's readers of XML are tried.
 */
#include "tap.h"

#include "base/file.h"
#include "cluster/topo_parts.h"

#include <ctype.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int loaded, refused, wrong;

static void use(const char *xml)
{
    struct hrun_buf out = HRUN_BUF_INIT;
    struct hrun_error err = { 0 };
    struct hrun_topo *t = hrun_topo_load(HRUN_TOPO_XML, xml, &err);
    struct hrun_topo_pe *pes;
    int n;

    loaded += t != NULL;
    refused += !t;
    wrong += !t && (!err.code || !err.text[0] || strchr(err.text, '\n'));
    for (int level = HRUN_LEVEL_NODE; t && level <= HRUN_LEVEL_CORE; level++)
        if (!hrun_topo_pes(t, (enum hrun_level)level, 0, &pes, &n, NULL))
            hrun_topo_pes_free(pes, n);
    if (t)
        hrun_topo_export(t, &out, NULL);
    hrun_buf_release(&out);
    hrun_topo_destroy(t);
}

/* The attribute name="value" whose '=' stands at p: where its name begins, and how long the whole is. */
static const char *attribute(const char *p, size_t *len)
{
    const char *name = p, *end = p[1] == '"' ? strchr(p + 2, '"') : NULL;

    while (isalnum((unsigned char)name[-1]) || name[-1] == '_')
        name--;
    *len = end ? (size_t)(end + 1 - name) : 0;
    return name;
}

/* Each second one: what differs between cores and PUs occurs often. */
static void break_attributes(const char *xml)
{
    static int count;    /* goes on from file to file: the parity of an attribute differs between them */

    for (const char *p = xml; (p = strchr(p + 1, '=')); ) {
        size_t len, at = (size_t)(attribute(p, &len) - xml);
        char *copy = strdup(xml);

        if (len && count++ % 2 == 0) {
            copy[at] = copy[at] == 'x' ? 'y' : 'x';
            use(copy);
            memset(copy + at, ' ', len);
            use(copy);
        }
        free(copy);
    }
}

static void cut_short(const char *xml)
{
    for (size_t len = strlen(xml) / 100 * 100; len; len -= 100) {
        char *copy = strndup(xml, len);

        use(copy);
        free(copy);
    }
}

/* In a process of its own: hwloc reads the variable once. Result: 1 if nothing crashed and all errors were good. */
static int corpus(const char *file, const char *libxml)
{
    const char *dir = getenv("HRUN_TEST_DATA");
    int status = -1;
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        struct hrun_buf xml = HRUN_BUF_INIT;
        char *path = hrun_strf("%s/topo/%s", dir ? dir : "tests/data", file);

        setenv("HWLOC_LIBXML_IMPORT", libxml, 1);
        if (hrun_file_read(path, 1 << 20, &xml, NULL))
            _exit(2);
        use(xml.data);
        if (loaded != 1)
            _exit(3);
        break_attributes(xml.data);
        cut_short(xml.data);
        printf("# %s: %d loaded, %d refused\n", file, loaded, refused);
        fflush(stdout);
        hrun_buf_release(&xml);
        free(path);
        _exit(wrong || !refused);
    }
    waitpid(pid, &status, 0);
    if (status)
        printf("# status %x\n", (unsigned)status);
    return status == 0;
}

/* Short texts that stand for gigabytes or minutes. */
static void bombs(void)
{
    static const struct { enum hrun_topo_source source; const char *text; } bad[] = {
        { HRUN_TOPO_SYNTHETIC, "core:100000 pu:10000" },
        { HRUN_TOPO_SYNTHETIC, "pu:1000000000" },
        { HRUN_TOPO_XML, "<?xml version=\"1.0\"?>\n<topology version=\"2.0\"><object type=\"Machine\" os_index=\"0\" "
          "cpuset=\"0x1\" complete_cpuset=\"0x1\" allowed_cpuset=\"0x1\" nodeset=\"0x1\" complete_nodeset=\"0x1\" "
          "allowed_nodeset=\"0x1\"><object type=\"PU\" os_index=\"4294967295\" cpuset=\"0x1\"/></object></topology>" }
    };
    struct rusage mine;
    struct hrun_error err;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        err.text[0] = 0;
        ok(!hrun_topo_load(bad[i].source, bad[i].text, &err), "%.30s is refused", bad[i].text);
        printf("# %s\n", err.text);
    }
    getrusage(RUSAGE_SELF, &mine);
    ok(mine.ru_maxrss < 400 << 10, "they do not fill the memory of the program (%ld KiB)", mine.ru_maxrss);
}

/* The address sanitizer has locks of its own, and does not take them before a fork as glibc takes malloc's: a child spins
 * on one that another thread held, here at times after all that the other tests leave behind. */
#ifndef __SANITIZE_ADDRESS__
static atomic_int stop;

static void *use_hwloc(void *unused)
{
    hwloc_topology_t h;

    while (!stop && !hwloc_topology_init(&h))
        hwloc_topology_destroy(h);
    return unused;
}

/* A lock of hwloc that another thread holds during a fork stays locked in the child for ever. */
static void test_threads(void)
{
    pthread_t threads[2];
    struct hrun_error err = { 0 };
    struct hrun_topo *t;
    time_t end = time(NULL) + 2;
    int n = 0;

    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, use_hwloc, NULL))
            exit(1);
    do {
        t = hrun_topo_load(HRUN_TOPO_SYNTHETIC, "core:2 pu:1", &err);
        hrun_topo_destroy(t);
    } while (t && ++n < 100 && time(NULL) < end);
    stop = 1;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    ok(t != NULL, "%d descriptions load while other threads use hwloc: %s", n, err.text);
}
#endif

static int wait_for_ever(void *unused, struct hrun_error *err)
{
    (void)unused;
    (void)err;
    while (pause())
        continue;
    return 0;
}

/* A child that waits without using the processor, as for a lock that nobody releases, is ended. */
static void test_waiting_child(void)
{
    struct hrun_error err = { 0 };

    alarm(300);         /* ends this test where nothing ends the child */
    ok(hrun_topo_try(wait_for_ever, NULL, "it", &err) && err.code == HRUN_EINVAL, "a child that waits for ever: %s",
       err.text);
    alarm(0);
}

int main(void)
{
    static const char *const files[] = { "arm-2c.xml", "lakefield.xml" };

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        ok(corpus(files[i], "1"), "%s broken in many ways", files[i]);
        ok(corpus(files[i], "0"), "%s broken in many ways, with hwloc's own reader", files[i]);
    }
    bombs();
    test_waiting_child();
#ifndef __SANITIZE_ADDRESS__
    test_threads();
#endif
    return tap_done();
}
