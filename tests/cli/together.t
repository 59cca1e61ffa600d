#!/bin/bash
# together.t - profiles of several sub-clusters: what runs on all of them change, and a sub-cluster of one PE
. "$(dirname "$0")/tap.sh"

cat >"$tmp/cluster.yaml" <<'Y'
subclusters:
  - name: new
    hosts: 127.0.0.2
    topology: "[numa] package:1 core:4 pu:1"
  - name: old
    hosts: 127.0.1.[1-4]
    topology: "[numa] package:1 core:2 pu:1"
Y
plan() {
    run hrun --cluster "$tmp/cluster.yaml" --dry-run -app lu -N 2000 "$@" "$bin/lu"
}
run hrun --cluster "$tmp/cluster.yaml" --show-cluster --json
printf '%s' "$out" >"$tmp/shown"

# put <<<LINES: measurements into the logs, of a sub-cluster alone ("alone NAME PES") or of a configuration ("run
# (1,1,4,1) N FACTOR LIMITS"), which took FACTOR times its true time
cat >"$tmp/log.py" <<'P'
import json, os, sys, zlib
shown = json.load(open(sys.argv[1]))
subs = [(s["name"], s["signature"]) for s in shown["subclusters"]]
speed = {"new": 4.0, "old": 1.0}
folder = os.path.join(os.environ["HRUN_DATA"], "profiles/lu")
os.makedirs(folder, exist_ok=True)
serial = int(sys.argv[2])

def seconds(name, n, p, m):
    return 2e-9 * n ** 3 / p * m / speed[name] + (p > m) * (1e-8 * n * n + 1e-3 * p) + 0.01

def put(config, n, factor=1, limits=""):
    global serial
    serial += 1
    used = [i for i in range(len(subs)) if config[2 * i]]
    p = sum(config[2 * i] * config[2 * i + 1] for i in used)
    t = factor * max(seconds(subs[i][0], n, p, config[2 * i + 1]) for i in used)
    for i in used:
        r = dict(M=config[2 * i + 1], N=n, P=p, app="lu", cluster=",".join(s[0] for s in subs), compute_s=0,
                 config="(%s)" % ",".join(map(str, config)), consts="",
                 date="2026-11-20T10:%02d:%02dZ" % (serial // 60 % 60, serial % 60), engine="mpirun", host="head",
                 limits=limits, mixed=len(used) > 1, mpi="ompi-4.1.4", mpi_s=0, ok=True,
                 origin="calibration", pes=config[2 * i], program="/opt/lu", signature=subs[i][1],
                 signatures=",".join(s[1] for s in subs), status="ok", time_s=t, trace="", v=2,
                 version="0.1.0", wall_s=t)
        text = json.dumps(r, sort_keys=True, separators=(",", ":"))
        with open(os.path.join(folder, subs[i][1] + ".log"), "a") as f:
            f.write("%s\t%08x\n" % (text, zlib.crc32(text.encode())))

for words in sys.stdin.read().splitlines():
    w = words.split()
    if w[0] == "alone":
        i = [s[0] for s in subs].index(w[1])
        for pes in range(1, int(w[2]) + 1):
            for n in (400, 800, 1200, 1600, 2400, 3200):
                config = [0] * (2 * len(subs))
                config[2 * i:2 * i + 2] = [pes, 1]
                put(config, n)
    else:
        put([int(x) for x in w[1][1:-1].split(",")], int(w[2]), float(w[3]), w[4] if len(w) > 4 else "")
P
serial=0
put() {
    python3 "$tmp/log.py" "$tmp/shown" $serial || exit 1
    serial=$((serial + 100))
}
field() { # EXPRESSION of p, the plan
    python3 -c 'import json, sys; p = json.loads(sys.argv[1]); print(eval(sys.argv[2]))' "$out" "$1"
}

put <<<$'alone new 1\nalone old 4'
run hrun-calibrate fit lu
status_is 0 "both profiles are fitted, as their measurements name each other"
plan --json
status_is 0 "a plan"
first=$(field 'p["predicted_s"]')
ok "one PE and others are chosen together" test "$(field '[c["pes"] for c in p["config"]]')" = "[1, 4]"
plan
out_has "sub-cluster new shows too few P alone: how its time follows P is shared with old" \
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

# The old ones were seen to limit runs in which all are used: their model learns of P = 5.
put <<<"$(printf 'run (1,1,4,1) %d 1.3 old\n' 800 1200 1600 2400 3200)"
run hrun-calibrate fit lu
status_is 0 "fitted with mixed runs"
run hrun-calibrate show lu --json
ok "the one that limits them has them in its model" python3 -c 'import json, sys
v = {p["signature"]: [m for m in p["models"] if m["family"] == "npt"] for p in json.loads(sys.argv[1])}
top = {s: max(m["P_max"] for m in ms) for s, ms in v.items() if ms}
assert max(top.values()) == 5, top' "$out"
done_testing
