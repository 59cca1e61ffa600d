/* test_calib_options.c - each option of hrun-calibrate, wrong in each way that it can be, for each subcommand */
#include "command_line.h"

#include "../../calib/common/calib_options.h"

int main(void)
{
    test_command_line(&(struct context_command){ "hrun-calibrate", calib_options, calib_modes, "", "", "", NULL,
                                                 NULL });
    return tap_done();
}
