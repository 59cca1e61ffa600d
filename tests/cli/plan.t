#!/bin/bash
# plan.t - hrun plan FILE: order and PEs of several jobs. Each job's time is checked against --config, its PEs against
# those that others have at the same time.
. "$(dirname "$0")/tap.sh"

cat >"$tmp/cluster.yaml" <<'Y'
subclusters:
  - name: new
    hosts: 127.0.0.[2-3]
    topology: "[numa] package:1 core:4 pu:1"
  - name: old
    hosts: 127.0.1.[1-4]
    topology: "[numa] package:1 core:2 pu:1"
Y
. "$top/tests/cli/madelog.sh"
put <<<$'alone new 2\nalone old 4'
run hrun-calibrate fit lu
status_is 0 "profiles of two sub-clusters"

# like TEXT REGEX WHAT: is there a line of TEXT that matches?
like() {
    ok "$3" grep -Eq -- "$2" <<<"$1"
}
jobs() {
    cat >"$tmp/jobs.yaml"
}
plan() {
    run hrun plan --cluster "$tmp/cluster.yaml" "$@" "$tmp/jobs.yaml"
}

jobs <<Y
jobs:
  - {app: lu, N: 2000, count: 3, program: $bin/lu}
  - {app: lu, N: 600, name: small, count: 2, program: $bin/lu}
  - {app: lu, N: 2400, name: big, program: $bin/lu, args: ["{N}", "it's"]}
Y
plan
status_is 0 "a plan of six jobs"
like "$out" '^6 jobs on 6 PEs in 2 sub-clusters' "says how many of what"
like "$out" 'all end after .* one after the other: .* times as long' "and what it gains"
like "$out" 'small\.2 +600 +\([0-9],' "a row for each"
plan -v
like "$out" "hrun --wait -app lu --cluster $tmp/cluster.yaml -N 2400 --config '.*' $bin/lu '[{]N[}]' 'it'.''s' &" "-v: the commands"
words() {
    eval "set -- $(sed -n 's/ & sleep 1$//; s/^  \(hrun --wait .* -N 2400\)/\1/p' <<<"$out")"
    [ "${*: -2:1}|${*: -1:1}" = "{N}|it's" ]
}
ok "which a shell takes as the file has them" words

plan --json
status_is 0 "for machines"
printf '%s\n' "$out" >"$tmp/plan.json"
check() {
    python3 - "$tmp/plan.json" <<'P'
import json, sys
p = json.load(open(sys.argv[1]))
v = p["jobs"]
assert len(v) == 6 and sorted(j["name"] for j in v)[0] == "big"
assert abs(p["makespan_s"] - max(j["end_s"] for j in v)) < 1e-12
assert p["bound_s"] <= p["makespan_s"] <= p["one_after_the_other_s"]
assert p["makespan_s"] < 0.9 * p["one_after_the_other_s"], "nothing gained"
assert not p["exact"] or p["bound_s"] == p["makespan_s"]
at = [{(s["subcluster"], e["host"], e["pe"]) for s in j["places"] for e in s["pes"]} for j in v]
for a in range(6):
    assert abs(v[a]["end_s"] - v[a]["start_s"] - v[a]["time_s"]) < 1e-7   # nine digits are printed
    numbers = [int(x) for x in v[a]["config"].strip("()").split(",")]
    assert len(at[a]) == numbers[0] + numbers[2], (v[a], at[a])
    for b in range(a):
        if v[a]["start_s"] < v[b]["end_s"] and v[b]["start_s"] < v[a]["end_s"]:
            assert not at[a] & at[b], (v[a], v[b])
assert [j["start_s"] for j in v] == sorted(j["start_s"] for j in v)
P
}
ok "no PE is used twice, all figures agree" check

# Times are those of a dry run of the configuration.
same_times() {
    python3 -c 'import json, sys
for j in json.load(open(sys.argv[1]))["jobs"]: print(j["N"], j["config"], repr(j["time_s"]))' "$tmp/plan.json" |
    while read -r n config seconds; do
        run hrun --cluster "$tmp/cluster.yaml" --dry-run --json -app lu -N "$n" --config "$config" "$bin/lu"
        [ "$status" = 0 ] || return 1
        echo "$out" | python3 -c 'import json, sys
assert abs(json.load(sys.stdin)["predicted_s"] - float(sys.argv[1])) <= 1e-9 * float(sys.argv[1])' "$seconds" ||
            return 1
    done
}
ok "each time is that of its configuration" same_times

jobs <<<"jobs: [{app: lu, N: 2000}]"
plan
status_is 0 "one job"
like "$out" 'no schedule of these configurations is shorter' "is proven"
run hrun --cluster "$tmp/cluster.yaml" --dry-run --json -app lu -N 2000 "$bin/lu"
best=$(echo "$out" | python3 -c 'import json, sys; print(json.load(sys.stdin)["predicted_s"])')
plan --json
ok "and is hrun's own choice" test "$(echo "$out" | python3 -c 'import json, sys
print(json.load(sys.stdin)["makespan_s"])')" = "$best"
plan --use old:2
status_is 0 "on two PEs of one sub-cluster"
like "$out" '^1 job on 2 PEs' "as --use says"

# ------------------------------------------------------------------ mistakes

refused() {
    jobs <<<"$1"
    plan
    status_is 125 "refused: $1"
    like "$err" "$2" "says why"
    ok "and plans nothing" test -z "$out"
}
refused 'jobs: [{app: lu}]' "jobs.yaml:1:8: .*lacks the key 'N'"
refused 'jobs: [{app: lu, N: 0}]' 'jobs.yaml:1:[0-9]*: a size is a whole number from 1'
refused 'jobs: [{app: lu, N: 5, count: 0}]' 'jobs.yaml:1:.*0 jobs: a count is at least 1'
refused 'jobs: [{app: lu, N: 5, count: 2000}]' 'these would be 2000 jobs: no more than 1000'
refused 'jobs: [{app: lu, N: 5, count: 600}, {app: lu, N: 6, count: 600}]' 'jobs.yaml:1:.*1200 jobs: no more than 1000'
refused 'jobs: [{app: lu, N: 5, sizes: 2}]' "unknown key 'sizes'"
refused 'jobs: [{app: lux, N: 5}]' 'job lux-5: .*lux'
refused 'jobs: [{app: lu, N: 5, define: [q=1]}]' 'job lu-5: -D q'
refused 'jobs: [{app: jacobi, N: 500}]' 'job jacobi-500: there is no profile of jacobi.*hrun-calibrate -app jacobi'
refused 'jobs: []' 'jobs.yaml:1:'
run hrun plan "$tmp/none.yaml"
status_is 125 "no such file"
like "$err" 'none.yaml' "is named"
run hrun plan
status_is 125 "no file"
like "$err" 'takes one file of jobs, not none .hrun plan --help.; a program of this name is started as ./plan' "says so"
jobs <<<"jobs: [{app: lu, N: 2000}]"
plan --objective cost
like "$err" '^hrun: --objective does nothing for `plan`: leave it out; it is for' "options that a plan has not"

# ------------------------------------------------------------------ jobs without a program

mkdir "$tmp/path"
printf '#!/bin/sh\n' >"$tmp/path/lu"
chmod +x "$tmp/path/lu"
jobs <<<"jobs: [{app: lu, N: 2000}]"
(
    export HRUN_DATA=$tmp/scripts PATH="$tmp/path:$PATH"
    hrun --cluster "$tmp/cluster.yaml" --show-cluster --json lu >"$tmp/shown"
    put <<<$'alone new 2\nalone old 4'
    hrun-calibrate -q fit lu && hrun plan --cluster "$tmp/cluster.yaml" "$tmp/jobs.yaml"
) >"$tmp/script.plan" 2>&1
status=$? ran="hrun plan" out=$(cat "$tmp/script.plan")
status_is 0 "without a program the definition's in PATH says which MPI, not the Open MPI that is installed"

# ------------------------------------------------------------------ more sub-clusters than parts can tell apart

for i in {1..24}; do
    echo "{name: s$i, hosts: '127.0.$i.[1-2]', topology: '[numa] package:1 core:$((i + 1)) pu:1'}"
done | paste -sd, | sed 's/.*/subclusters: [&]/' >"$tmp/cluster.yaml"
. "$top/tests/cli/madelog.sh"
put < <(for i in {1..24}; do echo "alone s$i 2"; done)
run hrun-calibrate fit lu
status_is 0 "profiles of 24 sub-clusters"
jobs <<<"jobs: [{app: lu, N: 2000, count: 2}]"
run timeout 300 hrun plan --json --cluster "$tmp/cluster.yaml" "$tmp/jobs.yaml"
status_is 0 "are looked at in groups, not in 17 million parts"
ok "which two jobs share" test "$(field "p['makespan_s'] < p['one_after_the_other_s']")" = True
done_testing
