#!/bin/bash
# Tuned collective operations over hosts with unlike links: the same results through mpirun and srun, and what is said
# where a host lacks the library.
. "$(dirname "$0")/lib.sh"
cd "$tmp" || exit 1
lab_up "f1 40 0 fast" "f2 40 1 fast" "s1 20 0-1 slow" "s2 20 0-1 slow"
export HRUN_DATA=$tmp/data HRUN_CACHE=$tmp/cache
hosts=f1,f2,s1,s2
lab rate s1 10

run on_head hrun --host $hosts --tune-collectives -n 4 "$bin/probe"
err_has "measure it: hrun-calibrate network --host '$hosts'" 'without a network hrun says how to measure it'
run on_head hrun-calibrate network -q --host $hosts -r 10
status_is 0 'the network is measured'
run on_head hrun --host $hosts --tune-collectives -n 4 "$bin/collcheck" errors
status_is 0 'a tuned program over four hosts'
out_has 'differing: 0' 'computes the same, byte by byte'
err_lacks 'not tuned' 'and is tuned'
run on_head hrun --host $hosts --tune-collectives --trace -n 4 "$bin/collcheck"
out_has 'differing: 0' 'watched, too'
err_has 'the busiest process' 'and the watch tells'
on s2 mount -t tmpfs none "$build/lib/hrun"
run on_head hrun --host $hosts --tune-collectives -q -n 4 "$bin/probe"
ok 'a host without the library fails the run' test "$status" != 0
err_has 'libhrun-coll.so' 'and names the library'
on s2 umount "$build/lib/hrun"
all_clean 'nothing is left on the hosts'

if slurm_up; then
    run in_slurm salloc -Q -N4 hrun --tune-collectives -n 4 "$bin/collcheck"
    # Open MPI's tcp crashes now and then under srun (139), whatever is started.
    [ "$status" = 139 ] && run in_slurm salloc -Q -N4 hrun --tune-collectives -n 4 "$bin/collcheck"
    out_has 'differing: 0' 'srun: the same'
    err_lacks 'not tuned' 'srun: is tuned'
else
    skip 'srun' "$why"
fi
done_testing
