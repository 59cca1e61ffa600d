#!/bin/bash
# --probe over hosts: one watched run tells the speeds, a slow host is left out where a second run shows that this is
# quicker, and a signal in the probe ends all.
. "$(dirname "$0")/lib.sh"
cd "$tmp" || exit 1
lab_up "fast1 45 - fast" "fast2 45 - fast" "slow1 45 - slow"
hosts="--host fast[1-2],slow1"
export HRUN_PROFILE_PATH=$apps
# Rank 2 is the one on the slow host while there is one process on each: it is 100 ms in each round longer outside MPI,
# however busy the machine is; where there are only two processes, nobody is.
words="$bin/pattern {N} rounds=10 ms=100 slow=2"

run on_head hrun $hosts --probe -v -N 8000 -app pattern $words
status_is 0 'a program is probed and runs'
out_has 'sum:' 'its output is that of the real run'
ok 'and of that alone' test "$(grep -c 'sum:' <<<"$out")" = 1
err=$(grep '^hrun:' <<<"$err")
err_has 'probes the speeds with N = 1000 on 3 processes, one per PE' 'one run on all hosts'
err_has 'a process of lab-fast computes 1.' 'those on fast hosts compute for a second'
err_has 'a process of lab-slow computes 2.' 'that on the slow host for two'
err_has '; (2,1,0,0) is predicted to take 0.' 'the slow host is left out'
ok 'which a small run has shown to be quicker' grep -qE 'and took 0\.[0-8][0-9]* of it at N = 1000$' <<<"$err"
ok 'all runs on fast hosts are recorded' \
    test "$(cat "$HRUN_DATA"/profiles/pattern/*fast*.log | grep -c '"origin":"run"')" -ge 3
ok 'and the two or more with the slow one' \
    test "$(cat "$HRUN_DATA"/profiles/pattern/*slow*.log | grep -c '"origin":"run"')" -ge 1
run on_head hrun $hosts --probe --dry-run -N 8000 -app pattern $words
out_has '--probe      first runs with N = 1000 on 3 processes, one per PE' 'the dry run says what would be probed'

background probe on_head hrun $hosts --probe -N 8000 -app pattern "$bin/pattern" {N} rounds=600 ms=100 slow=2
begun() { on slow1 pgrep -x pattern; }
ok 'a probe has begun' await 30 begun
on_head pkill -INT -x hrun
finish probe 40
status_is 130 'SIGINT ends it with 128 + its number'
err_has 'interrupted in the probe; the real run was not begun' 'and nothing else is run'
all_clean 'nothing is left on the hosts'

done_testing
