#!/bin/bash
# --probe over hosts: one watched run, or the beginning of the real one, tells the speeds, a slow host is left out where
# a second run, or what it does in a second, shows that this is quicker, and a signal in the probe ends all.
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

# Processes share 100 ms a round asleep, and the last one of several takes ten times its share: alone the first one takes a
# fifth of the time.
cp "$bin/pattern" "$tmp/steps"
steps="$tmp/steps 100 ms=100 shared slow=-2 times=10 sum say"
run on_head hrun --host fast1,slow1 --probe=4s $steps rounds=40
status_is 0 'the beginning of a run is looked at over hosts'
err_has 'by the first 4.00 s of the run (1,1,0,0) is predicted to take 0.' 'the slow host is left out'
err_has 'and did as much in 0.' 'which is seen to be better'
ok 'the user sees the output of one run' test "$(grep -c '^round' <<<"$out")/$(grep -c '^error' <<<"$err")" = 40/40
run on_head hrun --host fast1,slow1 --probe=4s $steps rounds=20 slow=0
status_is 0 'a run whose first process is always slow'
err_has 'the default is begun anew' 'comes back to the default'
ok 'and its output is that of one run' test "$(grep -c '^round' <<<"$out")" = 20
ok 'each of the two was recorded once' \
    test "$(cat "$HRUN_DATA"/profiles/steps-*/*slow*.log | grep -c '"origin":"run"')" = 1
run on_head hrun --host fast1,slow1 --probe $steps rounds=20 slow=0
err_has 'looked at the first ' 'what the command took before is known'
ok 'and a look takes a tenth of it' grep -qE 'looked at the first ([0-9]{3} ms|1\.[0-9]+ s) of the run' <<<"$err"
all_clean 'nothing is left on the hosts'
done_testing
