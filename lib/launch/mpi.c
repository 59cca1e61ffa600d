/* mpi.c - which MPI a program is linked with; see launch.h for the contract
 *
 * The program is never run. The dynamic linker (ld.so --list) lists its libraries, resolved as at the program's start.
 * Texts in the MPI library identify it; MPICH is identified by the library's name. For a script, the programs that it
 * names are examined. No process is started for a static program or one that needs the C library only.
 */
#include "base/alloc.h"
#include "base/file.h"
#include "base/list.h"
#include "launch/programs.h"
#include "launch/words.h"

#include <ctype.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct image {
    const char *data;
    size_t len;
};

static int image_open(const char *path, struct image *im, struct hrun_error *err)
{
    autorelease(hrun_close_fd) int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    void *p = NULL;

    if (fd < 0 || fstat(fd, &st) ||
        (S_ISREG(st.st_mode) && st.st_size > 0 &&
         (p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)) == MAP_FAILED))
        return hrun_fail_errno(err, HRUN_EIO, "cannot read %s", path);
    *im = (struct image){ p, p ? (size_t)st.st_size : 0 };
    return 0;
}

static void image_close(struct image *im)
{
    if (im->data)
        munmap((void *)(uintptr_t)im->data, im->len);
}

static const char *image_find(const struct image *im, const char *text)
{
    return im->data ? memmem(im->data, im->len, text, strlen(text)) : NULL;
}

/* len bytes at offset, or NULL if the file is shorter. */
static const void *image_at(const struct image *im, uint64_t offset, uint64_t len)
{
    return offset <= im->len && len <= im->len - offset ? im->data + offset : NULL;
}

/* ---------------------------------------------------------------- ELF */

enum file_kind { FILE_SCRIPT, FILE_STATIC, FILE_DYNAMIC, FILE_FOREIGN };

struct elf {
    enum file_kind kind;
    const char *interp;    /* points into the image */
    int libc_only;         /* 1: the program needs libraries of the C library only */
    const char *simgrid;   /* version of the needed SimGrid in the image, ".3.32"; NULL: not needed */
};

/* Shared objects of glibc and musl: none of them leads to MPI. */
static const char *const libc_names[] = {
    "libc.so", "libm.so", "libdl.so", "librt.so", "libpthread.so", "ld-linux", "ld64.so", "ld-musl", "libc.musl",
    "libgcc_s.so", "libresolv.so", NULL
};

/* File offset of the virtual address, through the program headers; -1 if it is in no segment. */
static int64_t offset_of(const ElfW(Phdr) *ph, int n, ElfW(Addr) addr)
{
    for (int i = 0; i < n; i++)
        if (ph[i].p_type == PT_LOAD && addr >= ph[i].p_vaddr && addr - ph[i].p_vaddr < ph[i].p_filesz)
            return (int64_t)(addr - ph[i].p_vaddr + ph[i].p_offset);
    return -1;
}

/* Read the needed libraries from the dynamic section. */
static void read_needs(const struct image *im, const ElfW(Phdr) *ph, int nph, const ElfW(Phdr) *dynamic,
                       struct elf *out)
{
    static const char simgrid[] = "libsimgrid.so";
    const ElfW(Dyn) *d = image_at(im, dynamic->p_offset, dynamic->p_filesz);
    size_t n = dynamic->p_filesz / sizeof *d;
    int64_t strings = -1;

    if (!d)
        return;
    for (size_t i = 0; i < n && d[i].d_tag != DT_NULL; i++)
        if (d[i].d_tag == DT_STRTAB)
            strings = offset_of(ph, nph, d[i].d_un.d_ptr);
    if (strings < 0)
        return;
    out->libc_only = 1;
    for (size_t i = 0; i < n && d[i].d_tag != DT_NULL; i++) {
        uint64_t at = (uint64_t)strings + d[i].d_un.d_val;
        const char *name = at < im->len && memchr(im->data + at, 0, im->len - at) ? im->data + at : "";
        if (d[i].d_tag == DT_AUDIT || d[i].d_tag == DT_DEPAUDIT || d[i].d_tag == DT_AUXILIARY ||
            d[i].d_tag == DT_FILTER || (d[i].d_tag == DT_NEEDED && !hrun_begins_with(name, libc_names)))
            out->libc_only = 0;
        if (d[i].d_tag == DT_NEEDED && !strncmp(name, simgrid, strlen(simgrid)))
            out->simgrid = name + strlen(simgrid);
    }
}

static void elf_read(const struct image *im, struct elf *out)
{
    static const char *const linkers[] = { "ld-linux", "ld64.so", "ld.so", "ld-musl", NULL };
    const ElfW(Ehdr) *eh = image_at(im, 0, sizeof *eh);
    const ElfW(Phdr) *ph, *dynamic = NULL;
    int nph;

    memset(out, 0, sizeof *out);
    out->kind = FILE_SCRIPT;
    if (!image_at(im, 0, SELFMAG) || memcmp(im->data, ELFMAG, SELFMAG))
        return;
    out->kind = FILE_FOREIGN;
    if (!eh || eh->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
        eh->e_phentsize != sizeof *ph)
        return;
    nph = eh->e_phnum;
    ph = image_at(im, eh->e_phoff, (uint64_t)nph * sizeof *ph);
    if (!ph)
        return;
    out->kind = FILE_STATIC;
    for (int i = 0; i < nph; i++) {
        const char *text = image_at(im, ph[i].p_offset, ph[i].p_filesz);
        if (ph[i].p_type == PT_INTERP && text && ph[i].p_filesz && !text[ph[i].p_filesz - 1])
            out->interp = text;
        if (ph[i].p_type == PT_DYNAMIC)
            dynamic = &ph[i];
    }
    if (out->interp)
        out->kind = hrun_begins_with(hrun_base_name(out->interp), linkers) ? FILE_DYNAMIC : FILE_FOREIGN;
    if (dynamic)
        read_needs(im, ph, nph, dynamic, out);
}

/* ---------------------------------------------------------------- texts of MPI libraries */

/* Length of the version at p, which a NUL ends: "4.1.4" or "5.0.3rc2"; 0: not a version. */
static size_t version_len(const char *p, const char *end)
{
    const char *s = p;
    int dots = 0;

    if (p >= end || !isdigit((unsigned char)*p))
        return 0;
    while (p < end && (isalnum((unsigned char)*p) || (*p == '.' && p[-1] != '.'))) {
        if (*p == '.')
            dots++;
        else if (!isdigit((unsigned char)*p) && dots < 2)
            return 0;
        p++;
    }
    return p < end && !*p && dots == 2 && p - s < 16 ? (size_t)(p - s) : 0;
}

/* Open MPI contains its version as a separate text: "v4.1.4" (the source revision of a release), else "4.1.4". */
static void openmpi_version(const struct image *im, char *out, size_t size)
{
    const char *p = im->data, *end = im->data + im->len;
    int have = 0;

    for (; p < end && (p = memchr(p, 0, (size_t)(end - p))); p++) {
        const char *s = p + 1;
        int v = s < end && *s == 'v';
        size_t len = version_len(s + v, end);
        if (!len || (have && !v))
            continue;
        snprintf(out, size, "%.*s", (int)len, s + v);
        have = 1;
        if (v)
            return;
    }
}

static void set_mpi(struct hrun_mpi *out, enum hrun_mpi_kind kind, const char *name, const char *id, int major)
{
    *out = (struct hrun_mpi){ .kind = kind, .major = major };
    snprintf(out->name, sizeof out->name, "%s", name);
    snprintf(out->id, sizeof out->id, "%s", id);
}

/* Identify an MPI library, or a static MPI program, by the texts in it. 1: *out is filled, else 0. */
static int identify_text(const struct image *im, struct hrun_mpi *out)
{
    static const struct { const char *text, *name, *id; } mpich[] = {
        { "Intel(R) MPI Library", "Intel MPI", "impi" },
        { "MVAPICH2 Version", "MVAPICH", "mvapich" },
        { "MVAPICH Version", "MVAPICH", "mvapich" },
        { "MPICH Version", "MPICH", "mpich" },
    };

    if (image_find(im, "Open MPI v")) {
        char version[32] = "", id[64];

        openmpi_version(im, version, sizeof version);
        snprintf(id, sizeof id, *version ? "ompi-%s" : "ompi", version);
        set_mpi(out, HRUN_MPI_OPENMPI, "Open MPI", id, (int)strtol(version, NULL, 10));
        return 1;
    }
    for (size_t i = 0; i < sizeof mpich / sizeof *mpich; i++)
        if (image_find(im, mpich[i].text)) {
            set_mpi(out, HRUN_MPI_MPICH, mpich[i].name, mpich[i].id, 0);
            return 1;
        }
    return 0;
}

int hrun_soname_is_mpich(const char *name)
{
    static const char *const names[] = {
        "libmpich.so", "libmpich-", "libmpi_intel.so", "libmpi_mt.so", "libmvapich", "libmpi_cray.so",
        "libmpi_gnu", NULL
    };

    /* The MPICH ABI is libmpi.so.12; Open MPI has 20 and 40. */
    return hrun_begins_with(name, names) || (!strncmp(name, "libmpi.so.12", 12) && (!name[12] || name[12] == '.'));
}

/* ---------------------------------------------------------------- ld.so --list */

/* Read MPICH's version from a symbol, because a search would read tens of megabytes. "": unknown. */
static void mpich_version(const struct image *im, char *out, size_t size)
{
    static const char symbol[] = "MPII_Version_string";
    const ElfW(Ehdr) *eh = image_at(im, 0, sizeof *eh);
    const ElfW(Shdr) *sh = eh && eh->e_shentsize == sizeof *sh ? image_at(im, eh->e_shoff, eh->e_shnum * sizeof *sh)
                                                               : NULL;
    const ElfW(Phdr) *ph = eh && eh->e_phentsize == sizeof *ph ? image_at(im, eh->e_phoff, eh->e_phnum * sizeof *ph)
                                                               : NULL;

    *out = 0;
    for (int i = 0; sh && ph && i < eh->e_shnum; i++) {
        const ElfW(Sym) *sym = sh[i].sh_type == SHT_DYNSYM ? image_at(im, sh[i].sh_offset, sh[i].sh_size) : NULL;
        const ElfW(Shdr) *names = sym && sh[i].sh_link < eh->e_shnum ? &sh[sh[i].sh_link] : NULL;
        for (size_t k = 0; names && k < sh[i].sh_size / sizeof *sym; k++) {
            const char *name = image_at(im, names->sh_offset + sym[k].st_name, sizeof symbol), *text;
            if (!name || memcmp(name, symbol, sizeof symbol))
                continue;
            text = image_at(im, (uint64_t)offset_of(ph, eh->e_phnum, sym[k].st_value), sym[k].st_size);
            if (text && sym[k].st_size && memchr(text, 0, sym[k].st_size))
                snprintf(out, size, "%s", text);
            return;
        }
    }
}

/* 1 if this line of the list names an MPI library, which *out then describes; else 0. */
static int identify_line(char *line, struct hrun_mpi *out)
{
    autorelease(image_close) struct image im = { NULL, 0 };
    char *file = strstr(line, " => "), *end, version[32] = "", id[64];
    int readable, found = 0;

    line += strspn(line, " \t");
    if (file) {
        *file = 0;
        file += 4;
        end = strstr(file, " (");
        if (end)
            *end = 0;
    }
    if (strncmp(line, "libmpi.so", 9) && !hrun_soname_is_mpich(line))
        return 0;
    readable = file && file[0] == '/' && image_open(file, &im, NULL) == 0;
    if (!strncmp(line, "libmpich", 8)) {
        if (readable)
            mpich_version(&im, version, sizeof version);
        if (strspn(version, "0123456789.abcprx") != strlen(version))
            version[0] = 0;
        snprintf(id, sizeof id, *version ? "mpich-%s" : "mpich", version);
        set_mpi(out, HRUN_MPI_MPICH, "MPICH", id, 0);
        return 1;
    }
    if (readable)
        found = identify_text(&im, out);
    if (!found && hrun_soname_is_mpich(line))
        set_mpi(out, HRUN_MPI_MPICH, "MPICH", "mpich", 0);
    else if (!found)  /* libmpi.so.40 is missing or stripped of texts */
        set_mpi(out, HRUN_MPI_OPENMPI, "Open MPI", "ompi", 0);
    return 1;
}

/* Append the dynamic linker's list, lines "soname => file (address)". */
static int list_libraries(const char *path, const struct elf *elf, struct hrun_buf *out, struct hrun_error *err)
{
    char *const words[] = { (char *)(uintptr_t)elf->interp, (char *)(uintptr_t)"--list", (char *)(uintptr_t)path,
                            NULL };

    return hrun_command_output(words, 0, out, err);
}

static int identify_dynamic(const char *path, const struct elf *elf, struct hrun_mpi *out, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    char *line, *save = NULL;
    const char *preload = getenv("LD_PRELOAD");
    struct hrun_mpi second;
    int n = 0;

    set_mpi(out, HRUN_MPI_NONE, "", "none", 0);
    if (elf->libc_only && !(preload && *preload))
        return 0;
    if (list_libraries(path, elf, &b, err))
        return -1;
    for (line = strtok_r(b.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        if (identify_line(line, n ? &second : out) && n++ && second.kind != out->kind)
            return hrun_fail(err, HRUN_EMPI, "%s is linked with two MPIs, %s and %s, which cannot work in one program: "
                             "link it anew with one of them (ldd %s)", path, out->name, second.name, path);
    return 0;
}

int hrun_program_libraries(const char *path, struct hrun_strvec *out, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    autorelease(image_close) struct image im = { NULL, 0 };
    struct elf elf;
    char *line, *save = NULL;

    if (image_open(path, &im, err))
        return -1;
    elf_read(&im, &elf);
    if (elf.kind != FILE_DYNAMIC)
        return 0;
    if (list_libraries(path, &elf, &b, err))
        return -1;
    for (line = strtok_r(b.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char *file = strstr(line, " => /");
        autofree char *real = NULL;

        if (!file)
            continue;
        file += 4;
        file[strcspn(file, " ")] = 0;
        real = realpath(file, NULL);
        hrun_strvec_push(out, real ? real : file);
    }
    return 0;
}

/* ---------------------------------------------------------------- scripts */

/* Find the first MPI program among the words of a script. If it is linked with an MPI of MPICH's family, fill *out;
 * else leave it untouched. */
static void look_behind_script(const struct image *im, struct hrun_mpi *out)
{
    static const char between[] = " \t\r;&|()`\"'$<>=";
    enum { TEXT_MAX = 64 << 10, WORDS_MAX = 500, LOOKS_MAX = 8 };
    autofree char *text = xstrndup(im->data ? im->data : "", im->len < TEXT_MAX ? im->len : TEXT_MAX);
    char *save = NULL, *in_line;
    struct hrun_mpi found = { .kind = HRUN_MPI_NONE };
    int looks = 0, words = 0;

    for (char *line = strtok_r(text, "\n", &save); line && looks < LOOKS_MAX && words < WORDS_MAX;
         line = strtok_r(NULL, "\n", &save)) {
        line[strcspn(line, "#")] = 0;
        in_line = NULL;
        for (char *word = strtok_r(line, between, &in_line); word && looks < LOOKS_MAX && words++ < WORDS_MAX;
             word = strtok_r(NULL, between, &in_line)) {
            autofree char *path = word[0] == '-' ? NULL : hrun_program_find(word, NULL, NULL);
            autorelease(image_close) struct image program = { NULL, 0 };
            struct elf elf = { .kind = FILE_SCRIPT };

            if (path && image_open(path, &program, NULL) == 0)
                elf_read(&program, &elf);
            if (elf.kind == FILE_DYNAMIC && !elf.libc_only && ++looks && !identify_dynamic(path, &elf, &found, NULL) &&
                found.kind != HRUN_MPI_NONE)
                looks = LOOKS_MAX;
        }
    }
    if (found.kind != HRUN_MPI_MPICH)
        return;
    *out = found;
    out->behind_script = 1;
}

int hrun_job_mpi(const struct hrun_job *job, struct hrun_mpi *out, struct hrun_error *err)
{
    if (!job->mpi)
        return hrun_program_mpi(job->program, out, err);
    *out = *job->mpi;
    return 0;
}

int hrun_program_mpi(const char *path, struct hrun_mpi *out, struct hrun_error *err)
{
    autorelease(image_close) struct image im = { NULL, 0 };
    struct hrun_mpi found;
    struct elf elf;
    char id[64];

    if (image_open(path, &im, err))
        return -1;
    elf_read(&im, &elf);
    if (elf.kind == FILE_SCRIPT) {
        set_mpi(&found, HRUN_MPI_UNKNOWN, "", "script", 0);
        look_behind_script(&im, &found);
    } else if (elf.kind == FILE_DYNAMIC) {
        if (identify_dynamic(path, &elf, &found, err))
            return -1;
    } else if (elf.kind == FILE_STATIC && elf.simgrid) {
        /* smpicc makes shared objects, which SimGrid loads once for each rank. */
        snprintf(id, sizeof id, "smpi%s%.32s", *elf.simgrid ? "-" : "", elf.simgrid + (*elf.simgrid == '.'));
        set_mpi(&found, HRUN_MPI_SMPI, "SimGrid", id, 0);
        found.counts_flops = image_find(&im, "smpi_execute") && !image_find(&im, "smpi_sample_");
    } else if (!identify_text(&im, &found)) {
        set_mpi(&found, HRUN_MPI_NONE, "", "none", 0);
    }
    *out = found;
    return 0;
}
