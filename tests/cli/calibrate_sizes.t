#!/bin/bash
# Sizes by time: clocks that tell coarse steps, times of 0, sizes that are too short to tell anything.
. "$(dirname "$0")/tap.sh"
two_cores
cd "$tmp" || exit 1

# A program that tells N^3 / P in steps of 10 ms, as "0" where that is less than half of one.
cat >coarse <<'P'
#!/bin/sh
awk "BEGIN { printf \"time: %g s\n\", int(100 * $1 ^ 3 * 1e-8 / $2 + 0.5) / 100 }"
P
chmod +x coarse
run hrun-calibrate --sizes 60,120,240,480,960 -app lu --budget 40runs ./coarse '{N}' '{P}'
status_is 0 "a program with a coarse clock is measured"
err_lacks "failed" "a time of 0 is no failure"
err_has "too short to tell" "but too short where the clock is not known yet"
cp .err .err.coarse
ok "nor a reason to try again" test "$(grep -c 'too short' "$HRUN_DATA"/profiles/lu/*.log)" = 5
run hrun-calibrate --sizes 60,120,240,480,960 -app lu ./coarse '{N}' '{P}'
status_is 0 "the same again"
ok "where the clock is known it counts as half a step" grep -q 'time_s":0.005' "$HRUN_DATA"/profiles/lu/*.log
ok "and as a run" test "$(grep -c 'too short to tell  ' .err)" = 0
err_has "lu: the quickest runs at N = 60 (" "which sizes are too short is said"
ok "once, and which would do" \
    test "$(grep -c 'are too short to tell much: from 500 ms on.* from about N = 960 on' .err)" = 1
run hrun --dry-run --json -app lu -N 60 ./coarse '{N}' '{P}'
status_is 0 "hrun predicts the shortest size"
ok "and knows that its time is not known" python3 -c '
import json, sys
p = json.load(open(sys.argv[1]))
assert p["predicted_low_s"] <= 0.0022 / p["P"] and p["predicted_high_s"] < 0.03, p' "$tmp/.out"

# -N names the size that matters: those up to it are hrun's choice, and none is too short.
run hrun-calibrate -N 1920 -app lu --data "$tmp/upto.data" ./coarse '{N}' '{P}'
status_is 0 "sizes up to one that matters"
err_has "the first ones tell how long it takes" "at the start it is said that the time will be known"
err_has "N = 240 is left out, as times there are too short to tell anything" "short ones are given up"
err_has "N = 480 is left out" "up to those that are long enough"
err_has "this takes up to " "how long it takes is said as soon as it is known"
ok "and have no place in the table" test "$(sed -n '/rests on/,$p' .out | awk '$1 ~ /^[0-9]+$/ { print $1 }' | xargs)" = \
    "640 960 1280 1920"
run hrun-calibrate -N 1920 -app lu --data "$tmp/upto.data" ./coarse '{N}' '{P}'
err_lacks "] epyc  N=240 " "nor are they measured when it goes on"
run hrun-calibrate -N 1920 --full-grid --dry-run -app lu --data "$tmp/upto.data" ./coarse '{N}' '{P}'
out_lacks " 960 " "of the grid it is this size alone"
run hrun-calibrate --new -N 960 -app upto --rule 'P >= 1' --time '^time: ([0-9.]+) s$' ./coarse '{N}' '{P}'
status_is 0 "so it is with --new"
ok "up to the size" grep -Eq '^960 +\(2,2\)' .out

mkdir first
cp "$apps/lu.yaml" first/upto.yaml
HRUN_PROFILE_PATH=$tmp/first fails 125 "$tmp/first/upto.yaml would hide the new definition" \
    "a definition that hides the new one is seen before anything is run" \
    hrun-calibrate --new --force -N 960 -app upto ./coarse '{N}' '{P}'
fails 125 "does not allow 99 processes per PE" "nor are numbers of processes that the definition lacks passed over" \
    hrun-calibrate -N 960 --procs 1,99 -app lu ./coarse '{N}' '{P}'

printf '%s\n' 'name: divides' 'rule: "1000/N > P"' 'procs_per_pe: [1]' 'terms: {np: ["N/P"], n: ["N"]}' \
    'args: ["{N}", "{P}"]' >first/divides.yaml
HRUN_PROFILE_PATH=$tmp/first run hrun-calibrate --dry-run -N 5 -app divides ./coarse
status_is 0 "a size whose parts are below 1, with a rule that divides by N"

printf '#!/bin/sh\necho "time: 0.00 s"\n' >nothing
chmod +x nothing
run hrun-calibrate --sizes 60,120 -app lu --data "$tmp/nothing.data" ./nothing '{N}' '{P}'
status_is 125 "a program that only tells 0 s"
err_has "every run ended with a time of 0 s" "is said to be too short"
err_lacks "is this how the program is started" "and not to be started wrongly"

ok "no line of progress is wider than a terminal" awk '/^\[/ && length > 80 { exit 1 }' .err .err.coarse
done_testing
