#!/bin/bash
# hrun-calibrate chooses its runs, finds a budget or keeps to --budget (time, runs, percentage), says why it ended, goes
# on where it was; the grid is behind --full-grid. Mixed runs: smpi.t.
. "$(dirname "$0")/tap.sh"
two_cores
cd "$tmp" || exit 1
lu=$bin/lu
some="--sizes 60,100,140,200 -app lu"
records() { cat "$HRUN_DATA"/profiles/lu/*.log | wc -l; }

run hrun-calibrate $some --dry-run "$lu"
status_is 0 "the first runs are listed"
out_has "screen" "with their stage"
out_lacks "has one PE" "and nothing of what only runs alone need"
out_has "the later ones depend on the times of these" "the others cannot be known"
run hrun-calibrate $some --dry-run --budget 2runs "$lu"
ok "and no more than so many runs" grep -q '^2 first runs over' .out
ok "nothing is stored by a dry run" test ! -e "$HRUN_DATA"

# Without any option of the kind: the budget follows from what runs of the choices take.
printf '#!/bin/sh\nawk "BEGIN { print \\"time:\\", $1 ^ 3 * 1e-7 / $2 + 1e-3 * $2, \\"s\\" }"\n' >exact
chmod +x exact
run hrun-calibrate $some --data "$tmp/default" ./exact '{N}' '{P}'
status_is 0 "runs are chosen by default"
err_has "runs are chosen one by one" "which is said at the start"
ok "at the end, how long they took of which budget" \
    grep -Eq '[0-9]+ runs? in [0-9.]+ m?s of a budget of [0-9.]+ m?s \(--budget TIME sets another\)' .err
made=$(sed -n 's/^hrun-calibrate: \(.*; \)*\([0-9]*\) runs\{0,1\} in .*/\2/p' .err)
ok "each of the $made runs is in the log" test "$made" = "$(cat default/profiles/lu/*.log | wc -l)"
out_has "npt/nnls" "the models are fitted"
ok "the best configuration at each size stands at the end" \
    test "$(sed -n '/rests on/,$p' .out | grep -cE '^ *(60|100|140|200) +\(2,2\) .* [0-9]+ runs?( +\*)?$')" = 4
ok "the next best stands beside it" grep -Eq '^ *200 +\(2,2\) .* \((2,1|1,2)\) \+[0-9]' .out
ok "and a choice of one run is marked" test "$(grep -c ' 1 run  *\*$' .out)" = "$(grep -cE '^ *[0-9]+ .* 1 run( |$)' .out)"
run hrun --dry-run -app lu -N 200 --data "$tmp/default" ./exact '{N}' '{P}'
ok "there and in the dry run" test "$(grep -c 'fewer than two runs at this size' .out)" = \
    "$(grep -cE 'by 1 run of|not run at this one' .out)"
run hrun-calibrate $some --data "$tmp/default" ./exact '{N}' '{P}'
made_now=$(sed -n 's/^hrun-calibrate: \(.*; \)*\([0-9]*\) runs\{0,1\} in .*/\2/p' .err)
ok "what was measured counts when it is started again" test "$made_now" -lt "$made"
run hrun-calibrate $some --data "$tmp/default" --full-grid --dry-run ./exact '{N}' '{P}'
status_is 0 "the grid is behind --full-grid"
out_has "runs to make" "with all its runs"
out_lacks "screen" "none of which is chosen"
for o in "-r 2" --redo; do
    # shellcheck disable=SC2086
    fails 125 "belongs to --full-grid" "$o without --full-grid" hrun-calibrate $some --data "$tmp/default" $o "$lu"
done
fails 125 "--full-grid and --budget contradict each other" "either the full grid or chosen runs" \
    hrun-calibrate $some --budget 1m --full-grid "$lu"

before=$(litter)
run hrun-calibrate $some -v --budget 10runs --seed 3 "$lu"
status_is 0 "ten runs are made"
err_has "--seed 3" "their order can be had again"
err_has "[10/10]" "the last of them"
err_has "all runs of --budget are made; 10 runs in" "why it ended is said"
out_has "rests on" "there is a table of the best configurations"
out_has "npt/nnls" "and the models are fitted"
ok "each run is in the log" test "$(records)" = 10
ok "nothing is left behind" nothing_new "$before"

run hrun-calibrate $some --budget 2runs "$lu"
status_is 0 "two more"
err_has "10 measurements are there already" "those of before are known"
ok "and kept" test "$(records)" = 12

run hrun-calibrate $some --budget 100% --budget 5m "$lu"
status_is 0 "a target that is easily reached"
err_has "the percentage of --budget is reached" "ends it"

# The table at the end is what hrun says of the same sizes: N, configuration, time, interval, runs of it.
found=$out
cat >agrees.py <<'P'
import json, re, sys
size, found, path = sys.argv[1:]
p = json.load(open(path))
row = re.search(r"^ *%s +(\(\S+\)) +(\S+ \S+) +\((\S+ \S+) \.\. (\S+ \S+)\) +(.*)$" % size, found, re.M).groups()
unit = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
seconds = [float(v.split()[0]) * unit[v.split()[1]] for v in row[1:4]]
config = "(" + ",".join("%d,%d" % (c["pes"], c["procs_per_pe"]) for c in p["config"]) + ")"
assert row[0] == config, (row[0], config)
for said, known in zip(seconds, (p["predicted_s"], p["predicted_low_s"], p["predicted_high_s"])):
    assert abs(said - known) < 0.06 * known + 1e-9, (seconds, p)   # two digits
P
agrees() { # N
    run hrun --dry-run --json -app lu -N "$1" "$lu"
    python3 agrees.py "$1" "$found" "$tmp/.out"
}
for N in 60 100 140 200; do
    ok "at N=$N hrun says what the table of the calibration says" agrees "$N"
done

run hrun --dry-run -app lu -N 180 "$lu"
status_is 0 "hrun chooses by what was measured"
out_has "predicted" "with a prediction"
done_testing
