#!/bin/bash
# goals.t - what is minimised and what is kept: --objective and --limit; time against cost. All choices are
# checked against each configuration evaluated on its own (--config).
. "$(dirname "$0")/tap.sh"

prices() {
    cat >"$tmp/cluster.yaml" <<Y
subclusters:
  - name: new
    hosts: 127.0.0.[2-3]
    topology: "[numa] package:1 core:4 pu:1"
    cost_per_hour: ${1-9}
    power_w: 200
  - name: old
    hosts: 127.0.1.[1-4]
    topology: "[numa] package:1 core:2 pu:1"
    ${2-cost_per_hour: 1}
    power_w: 150
Y
}
prices
. "$top/tests/cli/madelog.sh"
plan() {
    run hrun --cluster "$tmp/cluster.yaml" --dry-run -app lu -N 2000 "$@" "$bin/lu"
}
put <<<$'alone new 2\nalone old 4'
run hrun-calibrate fit lu
status_is 0 "profiles of two sub-clusters"

# Every configuration, one by one: its time, cost, energy.
for p in 0 1 2; do
    for q in 0 1 2 3 4; do
        [ $p$q = 00 ] && continue
        plan --json --config "$p,$((p > 0)),$q,$((q > 0))"
        [ "$status" = 0 ] && echo "$out" | python3 -c 'import json, sys
p = json.load(sys.stdin)
print(json.dumps([p["config"], p["predicted_s"], p["cost"], p["energy_j"], p["predicted_high_s"]]))'
    done
done >"$tmp/all"
ok "all are predicted with cost and energy" test "$(grep -vc null "$tmp/all")" = 14

# choice WHAT LIMIT: is the choice in $out the one with the least WHAT among those for which LIMIT holds?
choice() {
    python3 - "$tmp/all" "$out" "$1" "$2" <<'P'
import json, sys
every = [json.loads(l) for l in open(sys.argv[1])]
every = [dict(config=c, t=t, cost=m, energy=e, high=h, pes=sum(s["pes"] for s in c)) for c, t, m, e, h in every]
got = json.loads(sys.argv[2])
quickest = min(every, key=lambda v: v["t"])
best = min((v for v in every if eval(sys.argv[4], dict(v, best=quickest))), key=lambda v: (v[sys.argv[3]], v["pes"]))
assert got["config"] == best["config"], (got["config"], best)
assert abs(got["cost"] - best["cost"]) <= 1e-9 * best["cost"], (got["cost"], best)
P
}
plan --json
ok "without options the quickest" choice t True
plan --objective cost --json
ok "--objective cost" choice cost True
plan --objective energy --json
ok "--objective energy" choice energy True
for x in 5 20 60; do
    plan --limit within=$x% --json
    ok "--limit within=$x%: the cheapest of those" choice cost "t <= best['t'] * (1 + $x / 100) * (1 + 1e-12)"
done
plan --limit within=interval --json
ok "--limit within=interval" choice cost "t <= best['high'] * (1 + 1e-12)"
plan --limit pes=2 --json
ok "--limit pes" choice t "pes <= 2"
limit=$(python3 -c 'import json, sys
print(sorted(json.loads(l)[2] for l in open(sys.argv[1]))[5])' "$tmp/all")
plan --limit "cost=$limit" --json
ok "--limit cost" choice t "cost <= $limit * (1 + 1e-12)"
plan --json
ok "time against cost: nothing beats these in both, and all such are there" python3 - "$tmp/all" "$out" <<'P'
import json, sys
every = [json.loads(l) for l in open(sys.argv[1])]
beaten = lambda t, m: any((u <= t and n < m) or (u < t and n <= m) for _, u, n, _, _ in every)
front = [[c, t, m] for c, t, m, e, h in every if not beaten(t, m)]
got = [[v["config"], v["predicted_s"], v["cost"]] for v in json.loads(sys.argv[2])["pareto"]]
assert len(got) > 1, got
assert [v[0] for v in got] == [v[0] for v in sorted(front, key=lambda v: v[1])], (got, front)
P
plan
out_has "time against cost (nothing beats these in both):" "the report has the table"
out_has "<- chosen" "and where the choice is in it"
plan --objective cost
out_has "<- minimised" "what is minimised is marked"

fails 125 "keeps the limits: at most 1.00 ms; the quickest takes" "a time that none keeps" \
    hrun --cluster "$tmp/cluster.yaml" --dry-run -app lu -N 2000 --limit time=0.001 "$bin/lu"
fails 125 "the cheapest costs" "a cost that none keeps" \
    hrun --cluster "$tmp/cluster.yaml" --dry-run -app lu -N 2000 --limit cost=1e-9 "$bin/lu"
fails 125 "the smallest uses 1 PE; of those that keep the other limit the quickest takes" "two limits" \
    hrun --cluster "$tmp/cluster.yaml" --dry-run -app lu -N 2000 --limit time=0.001 --limit pes=1 "$bin/lu"
plan -n 1
out_has "(it is not of 1 process)" "-n leaves mpirun's configuration out"
fails 125 "--limit cost 0: it must be above 0" "a cost of nothing" hrun --dry-run --limit cost=0 "$bin/lu"
fails 125 "--limit within and --objective time contradict" "--limit within and the time" \
    hrun --cluster "$tmp/cluster.yaml" --dry-run -app lu -N 2000 --limit within=5% --objective time "$bin/lu"
fails 125 "--config leaves nothing to choose" "--config and a limit" \
    hrun --cluster "$tmp/cluster.yaml" --dry-run -app lu -N 2000 --config 1,1,0,0 --limit pes=2 "$bin/lu"
fails 125 "need predictions, and there are none" "no profile" \
    hrun --cluster "$tmp/cluster.yaml" --dry-run --limit pes=1 /bin/true
prices 9 ""
fails 125 "sub-cluster old has no \`cost_per_hour\`" "a sub-cluster without a price" \
    hrun --cluster "$tmp/cluster.yaml" --dry-run -app lu -N 2000 --objective cost "$bin/lu"
plan --objective cost --use new --json
status_is 0 "which may be left out"
done_testing
