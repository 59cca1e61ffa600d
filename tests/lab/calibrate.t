#!/bin/bash
# Calibration over unlike hosts: each sub-cluster alone, a host that dies, a time limit, a signal; then
# hrun chooses by what was measured and runs over the hosts.
. "$(dirname "$0")/lib.sh"
cd "$tmp" || exit 1
lab_up "fast1 48 - fast" "fast2 48 - fast" "slow1 24 - slow" "slow2 24 - slow"
lu=$bin/lu
full="hrun-calibrate --full-grid"
hosts="--host fast[1-2],slow[1-2]"
mkdir profiles
export HRUN_PROFILE_PATH=$tmp/profiles:$apps
# Of the log in data folder $1: what $3 (a Python expression over m, the measurements of $2) says.
log() {
    hrun-calibrate --data "$1" --json show "$2" >"$tmp/.log" 2>/dev/null
    python3 -c '
import json, sys
p = json.load(open(sys.argv[1]))
m = [x for q in p for x in q["measurements"]]
sys.exit(any(q["bad_records"] for q in p) or not eval(sys.argv[2]))' "$tmp/.log" "$3"
}

# ---- one after the other
cal="$full $hosts --sizes 100,200,300 --procs 1"
run on_head $cal -r 1 --dry-run -app lu "$lu"
status_is 0 "a dry run over two kinds of hosts"
ok "12 runs, six for each" test "$(grep -cE '^lab-(fast|slow)[^ ]* +[a-z]+\[1-2\] +6 +6 ' .out)" = 2
run on_head $cal -r 1 -app lu "$lu"
status_is 0 "one run of each point"
run on_head $cal -r 2 -app lu "$lu"
status_is 0 "another one"
err_has "12 of 24 runs are measured already" "goes on where the first was"
out_has "npt/nnls" "and fits"
ok "24 good times on both kinds" log "$HRUN_DATA" lu \
    'len(p) == 2 and len(m) == 24 and all(x["ok"] and x["time_s"] > 0 for x in m) and all("-mpirun-" in q["signature"] for q in p)'
all_clean "nothing is left on the hosts"

# ---- hrun chooses by it, and runs
run on_head hrun $hosts --dry-run --json -N 250 -app lu "$lu"
ok "the model chooses" python3 -c 'import json,sys; assert json.load(open(sys.argv[1]))["chosen_by"] == "model"' "$tmp/.out"
run on_head hrun $hosts -N 250 -app lu "$lu"
status_is 0 "hrun runs over the hosts"
out_has "check: ok" "and computes"
err_has "predicted" "with predicted and actual time"
run on_head hrun $hosts --config '(2,1,2,1)' -N 250 -app lu "$lu"
out_has "check: ok" "both kinds together, too"

# ---- a program that takes as long as it is told
cat > profiles/nap.yaml <<'Y'
name: nap
rule: "P >= 1"
procs_per_pe: [1]
terms: {np: ["N", "1"], n: ["N", "1"]}
args: ["{N}"]
Y
cat > nap <<P
#!/bin/sh
touch "$tmp/at.\$(hostname).\$1"
exec sleep \$((\$1 / 10))
P
chmod +x nap
nap=$tmp/nap

run on_head $full $hosts --data "$tmp/late" --sizes 1,2,900 --pes 1 --timeout 5 --retries 1 -r 1 -app nap "$nap"
status_is 125 "a time limit"
err_has "2 points failed and are left out (last: timeout: what it left is in $tmp/hrun-failed-nap)" "one point of each kind"
ok "recorded as failed, tried again, never a time" log late nap \
    'len(m) == 8 and sum(x["status"] == "timeout" and not x["ok"] and x["time_s"] == 0 for x in m) == 4'
all_clean "nothing is left of the runs that were ended"

# ---- a host dies in the middle
rm -f at.*
cal="$full $hosts --data $tmp/dies --sizes 1,2,3,4,50 --retries 1 -r 1 -app nap $nap"
background dies on_head $cal
await 60 test -e at.slow2.50
lab kill slow2
finish dies 240
status_is 125 "a host dies in the middle of a run: status 125"
err_has "slow2" "and it is named"
err_has "what was measured is kept, and the same command makes the runs that a host has prevented" "and what to do"
ok "the other kind is measured in full" log dies nap 'sum(x["ok"] and x["pes"] in (1, 2) for q in p if "fast" in q["signature"] for x in q["measurements"]) == 10'
ok "failures are failures" log dies nap \
    'any(not x["ok"] for x in m) and all(x["time_s"] == 0 and ("slow2" in x["status"]) for x in m if not x["ok"])'
ok "what the living half of its kind measured is kept" log dies nap \
    'sum(x["ok"] and x["pes"] == 1 for q in p if "slow" in q["signature"] for x in q["measurements"]) == 5'
all_clean "nothing is left on the others"
lab start slow2
run on_head $cal
status_is 0 "when it is back the same command goes on"
ok "to the end" log dies nap 'sum(x["ok"] for x in m) == 20'

# ---- a host becomes another one in the middle
rm -f at.*
cal="$full $hosts --data $tmp/changes --sizes 1,2,20 --pes 1,2 -r 1 -app nap $nap"
background changes on_head $cal
await 60 test -e at.slow1.20
lab kind slow2 fast
finish changes 120
status_is 0 "a host becomes one of another kind: the calibration goes on"
err_has "slow2" "and it is named"
err_has "9 of 12 runs are measured already" "what was measured is kept"
ok "and no failure recorded" log changes nap 'len(p) == 3 and len(m) == 12 and all(x["ok"] for x in m)'
lab kind slow2 slow

# ---- one signal
rm -f at.*
background int "$lab_tool" head \
    $full $hosts --refresh --data "$tmp/int" --sizes 900 --pes 2 -r 1 -app nap "$nap"
ok "a run on two hosts" await 60 test -e at.fast2.900
kill -INT "${behind[int]}"
finish int 60
status_is 130 "SIGINT during a run: status 130"
err_has "stopped" "said so"
ok "no record of the run that was cut" test -z "$(cat "$tmp"/int/profiles/*/*.log 2>/dev/null)"
all_clean "and it is ended on all hosts"
done_testing
