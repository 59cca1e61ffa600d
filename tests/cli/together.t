#!/bin/bash
# together.t - profiles of several sub-clusters: what runs on all of them change, and a sub-cluster of one PE
. "$(dirname "$0")/tap.sh"
cd "$tmp" || exit 1

cat >"$tmp/cluster.yaml" <<'Y'
subclusters:
  - name: new
    hosts: 127.0.0.2
    topology: "[numa] package:1 core:4 pu:1"
  - name: old
    hosts: 127.0.1.[1-4]
    topology: "[numa] package:1 core:2 pu:1"
Y
. "$top/tests/cli/madelog.sh"
plan() {
    run hrun --cluster "$tmp/cluster.yaml" --dry-run -app lu -N 2000 "$@" "$bin/lu"
}
put <<<$'alone new 1\nalone old 4'
run hrun-calibrate fit lu
status_is 0 "both profiles are fitted, as their measurements name each other"
plan --json
status_is 0 "a plan"
first=$(field 'p["predicted_s"]')
ok "one PE and others are chosen together" test "$(field '[c["pes"] for c in p["config"]]')" = "[1, 4]"
plan
out_has "sub-cluster new shows too few P alone: how its time follows P is shared with others" \
    "the report says what is shared"
out_lacks "corrected" "nothing is corrected without runs"

# Runs of the chosen configuration that take a fifth longer than predicted.
put <<<$'run (1,1,4,1) 2000 1.2\nrun (1,1,4,1) 2000 1.21\nrun (1,1,4,1) 2000 1.19'
plan --json --config 1,1,4,1
status_is 0 "a plan with runs of this configuration in the logs"
ok "its time is corrected towards theirs" python3 -c 'import json, sys
p = json.loads(sys.argv[1])
first = float(sys.argv[2])
c = p["correction"]
assert c["runs"] == 3 and c["runs_at_other_N"] == 0 and 1.1 < c["factor"] < 1.2, c
assert abs(p["predicted_s"] / first - c["factor"]) < 1e-6, p
assert p["predicted_low_s"] < p["predicted_s"] < p["predicted_high_s"]
assert max(s["predicted_s"] or 0 for s in p["subclusters"]) == p["predicted_s"]' "$out" "$first"
plan --config 1,1,4,1
out_has "by 3 runs of this configuration" "the report says so"
run hrun --cluster "$tmp/cluster.yaml" --dry-run -app lu -N 2400 --config 1,1,4,1 "$bin/lu"
out_has "by 3 runs of this configuration at other N" "at another N, too"
plan --json
ok "the choice and its alternatives are in order of their corrected times" python3 -c 'import json, sys
p = json.loads(sys.argv[1])
t = [p["predicted_s"]] + [v["predicted_s"] for v in p["next_best"]]
assert t == sorted(t) and len(t) == 3, t' "$out"

# The old ones limit runs in which all are used: their model learns of P = 5.
put <<<"$(printf 'run (1,1,4,1) %d 1.3\n' 800 1200 1600 2400 3200)"
run hrun-calibrate fit lu
status_is 0 "fitted with mixed runs"
run hrun-calibrate show lu --json
ok "the one that limits them has them in its model" python3 -c 'import json, sys
v = {p["signature"]: [m for m in p["models"] if m["family"] == "npt"] for p in json.loads(sys.argv[1])}
top = {s: max(m["P_max"] for m in ms) for s, ms in v.items() if ms}
assert max(top.values()) == 5, top' "$out"
done_testing
