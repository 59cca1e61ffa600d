#!/bin/bash
# Watching over hosts: which kind of hosts the others wait for, a host without the library; through mpirun and srun.
. "$(dirname "$0")/lib.sh"
cd "$tmp" || exit 1
lab_up "fast1 48 - fast" "fast2 48 - fast" "slow1 16 - slow"
hosts="--host fast[1-2],slow1"
pattern=$bin/pattern
export HRUN_PROFILE_PATH=$apps

# The newest record of the kind of hosts $1: what $2 (a Python expression over m) says.
newest() {
    hrun-calibrate --json show "$3" >"$tmp/.log" 2>/dev/null
    python3 -c '
import json, sys
m = [q for q in json.load(open(sys.argv[1])) if sys.argv[2] in q["signature"]][-1]["measurements"][-1]
sys.exit(not eval(sys.argv[3]))' "$tmp/.log" "$1" "$2"
}

run on_head hrun $hosts --trace --config '(2,1,1,1)' -N 1000 -app pattern "$pattern"
status_is 0 'a program runs on three watched hosts'
err_has 'the busiest process' 'and who waits is told'
err_lacks 'hrun-trace' 'the lines of the library are not'

# A process of one kind or the other is 100 ms in each round longer outside MPI.
waits_for() { # RANK KIND OTHER
    run on_head hrun $hosts --trace --config '(2,1,1,1)' -N 1000 -app pattern "$pattern" 1000 rounds=10 ms=100 slow="$1"
    err_has "the others wait for lab-$2" "all wait for a $2 host"
    ok "which is recorded for the $2 ones" newest "$2" "m['mixed'] and '$2' in m['limits'] and m['compute_s'] > 1.9" pattern
    ok "and the $3 ones" newest "$3" "m['mixed'] and '$2' in m['limits'] and m['mpi_s'] > 0" pattern
}
waits_for 2 slow fast
waits_for 1 fast slow
run hrun-calibrate show pattern
out_has 'waited for in mixed runs' 'show tells how often each kind did'
# shellcheck disable=SC2016
run on_head hrun $hosts --trace -q -n 3 sh -c 'env | grep -c -e "^HRUN_PRELOAD"; env | grep -c "^LD_PRELOAD=.*libhrun-trace"'
ok 'each process has the library, and not what is meant for hrun-shim' test "$(sort <<<"$out" | xargs)" = '0 0 0 1 1 1'

on slow1 mount -t tmpfs none "$build/lib/hrun"
run on_head hrun $hosts --trace -q -n 3 "$bin/probe"
ok 'a host without the library fails the run' test "$status" != 0
err_has 'slow1: rank 2: this host has no' 'and says which host it is'
run on_head hrun $hosts -q -n 3 "$bin/probe"
status_is 0 'nobody else needs it'
on slow1 umount "$build/lib/hrun"
all_clean 'nothing is left on the hosts'

if slurm_up; then
    run in_slurm salloc -Q -N3 hrun --trace -n 3 -N 1000 -app pattern "$pattern"
    status_is 0 'srun: a watched program runs'
    out_has 'sum:' 'srun: its output is there'
    err_has 'the busiest process' 'srun: who waits is told'
    err_lacks 'hrun-trace' 'srun: the lines of the library are not'
    run in_slurm salloc -Q -N3 hrun --trace --tag-output --oversubscribe -n 24 -N 100 -app pattern "$pattern"
    err_has 'the busiest process' 'srun: nor are they torn when it labels lines'
else
    skip 'srun: a watched program runs' "$why"
fi
done_testing
