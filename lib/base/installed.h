/* installed.h - where this hrun is installed
 *
 * Purpose: programs and files that are installed together find each other wherever that is, in a build tree too.
 */
#ifndef HRUN_BASE_INSTALLED_H
#define HRUN_BASE_INSTALLED_H

/* The folder whose bin/ and lib/ this code was loaded from: that of libhrun.so where it runs in it, else of the running
 * program; without symbolic links. The caller frees it. NULL: it cannot be told, or no memory. */
char *hrun_installed(void);

#endif
