/* test_hrun_options.c - each option of hrun, wrong in each way that it can be, in each of its modes */
#include "command_line.h"

#include "../../hrun/run/options.h"

int main(void)
{
    test_command_line(&(struct context_command){ "hrun", hrun_options, hrun_modes, "", "", "", programs_read,
                                                 NULL });
    return tap_done();
}
