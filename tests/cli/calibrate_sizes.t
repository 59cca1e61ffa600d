#!/bin/bash
# Sizes by time: clocks that tell coarse steps, times of 0, sizes that are too short to tell anything.
. "$(dirname "$0")/tap.sh"
cd "$tmp" || exit 1

# A program that tells N^3 / P in steps of 10 ms, as "0" where that is less than half of one.
cat >coarse <<'P'
#!/bin/sh
awk "BEGIN { printf \"time: %g s\n\", int(100 * $1 ^ 3 * 1e-8 / $2 + 0.5) / 100 }"
P
chmod +x coarse
run hrun-calibrate --sizes 60,120,240,480,960 -app lu --runs 40 ./coarse '{N}' '{P}'
status_is 0 "a program with a coarse clock is measured"
err_lacks "failed" "a time of 0 is no failure"
err_has "too short to tell" "but too short where the clock is not known yet"
cp .err .err.coarse
ok "nor a reason to try again" test "$(grep -c 'too short' "$HRUN_DATA"/profiles/lu/*.log)" = 5
run hrun-calibrate --sizes 60,120,240,480,960 -app lu ./coarse '{N}' '{P}'
status_is 0 "the same again"
ok "where the clock is known it counts as half a step" grep -q 'time_s":0.005' "$HRUN_DATA"/profiles/lu/*.log
err_lacks "too short to tell" "and as a run"
run hrun --dry-run --json -app lu -N 60 ./coarse '{N}' '{P}'
status_is 0 "hrun predicts the shortest size"
ok "and knows that its time is not known" python3 -c '
import json, sys
p = json.load(open(sys.argv[1]))
assert p["predicted_low_s"] <= 0.0022 / p["P"] and p["predicted_high_s"] < 0.03, p' "$tmp/.out"

printf '#!/bin/sh\necho "time: 0.00 s"\n' >nothing
chmod +x nothing
run hrun-calibrate --sizes 60,120 -app lu --data "$tmp/nothing.data" ./nothing '{N}' '{P}'
status_is 125 "a program that only tells 0 s"
err_has "every run ended with a time of 0 s" "is said to be too short"
err_lacks "is this how the program is started" "and not to be started wrongly"

ok "no line of progress is wider than a terminal" awk '/^\[/ && length > 80 { exit 1 }' .err .err.coarse
done_testing
