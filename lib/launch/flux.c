/* flux.c - the Flux instance that hrun runs in; see launch.h */
#include "launch/programs.h"

#include <stdint.h>
#include <stdlib.h>

int hrun_flux_resources(struct hrun_buf *text, struct hrun_error *err)
{
    const char *uri = getenv("FLUX_URI");
    autofree char *flux = uri && *uri ? hrun_program_find("flux", NULL, NULL) : NULL;
    char *const words[] = { flux, (char *)(uintptr_t)"kvs", (char *)(uintptr_t)"get", (char *)(uintptr_t)"resource.R",
                            NULL };
    int rc = flux ? hrun_command_output(words, 0, text, err) : 0;

    if (flux && !rc && !text->len)
        rc = hrun_fail(err, HRUN_EENGINE, "FLUX_URI names a Flux instance, and 'flux kvs get resource.R' tells nothing "
                       "of it: when it has ended, or is not yours, unset FLUX_URI");
    return rc;
}
