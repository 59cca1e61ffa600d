#!/bin/bash
# finest.t - --finest: the largest size that memory, time and money allow, against a look at every size
. "$(dirname "$0")/tap.sh"

cat >"$tmp/cluster.yaml" <<'Y'
subclusters:
  - name: new
    hosts: 127.0.0.[2-3]
    topology: "[numa] package:1 core:4 pu:1"
    cost_per_hour: 9
  - name: old
    hosts: 127.0.1.[1-4]
    topology: "[numa] package:1 core:2 pu:1"
    cost_per_hour: 1
Y
. "$top/tests/cli/madelog.sh"
put <<<$'alone new 2\nalone old 4'
run hrun-calibrate fit lu
status_is 0 "profiles of two sub-clusters"
# The same with a rule that leaves gaps, and that lets larger sizes have more processes than smaller ones.
mkdir "$tmp/defs" "$tmp/data2"
sed 's/^rule: .*/rule: "N % (7*P) == 0"/; s/^memory: .*/memory: "8*N^2\/P"/' tests/apps/lu.yaml >"$tmp/defs/lu.yaml"
grep -q '^rule: "N % (7' "$tmp/defs/lu.yaml" || echo 'rule: "N % (7*P) == 0"' >>"$tmp/defs/lu.yaml"

finest() {
    run hrun --profile-path "$tmp/defs" --cluster "$tmp/cluster.yaml" --dry-run --json -app lu --finest "$@" \
        "$bin/lu" '{N}'
}
at() {     # at N OPTION...: status 0 when N has a configuration
    local n=$1
    shift
    run hrun --profile-path "$tmp/defs" --cluster "$tmp/cluster.yaml" --dry-run --json -app lu -N "$n" "$@" \
        "$bin/lu" '{N}'
    [ "$status" = 0 ]
}
# exact OPTION...: of the next eight sizes above what --finest says the rule accepts there is none, and that one is
exact() {
    local n k limit
    finest "$@"
    [ "$status" = 0 ] || return 1
    n=$(field 'p["finest"]["N"]')
    limit=$(field 'p["finest"]["limit"]')
    [ "$(field 'p["N"]')" = "$n" ] && [ "$(field 'p["argv"][1]')" = "$n" ] || return 1
    for ((k = n + 56; k > n; k -= 7)); do
        [ "$k" -gt "$limit" ] || ! at "$k" "$@" || return 1
    done
    at "$n" "$@"
}
ok "--limit time=0.2" exact --limit time=0.2
small=$(field 'p["N"]')
ok "--limit time=0.4" exact --limit time=0.4
ok "more time, a larger size" test "$(field 'p["N"]')" -gt "$small"
ok "--limit cost=0.0005" exact --limit cost=0.0005
ok "both" exact --limit cost=0.0005 --limit time=0.4
ok "with -n" exact --limit time=0.2 -n 3
ok "with --use" exact --limit time=0.2 --use old
finest
ok "without limits what was measured limits it" test "$(field 'p["N"]')" = "$(field 'p["finest"]["limit"]//7*7')"
ok "and the extrapolation is told" test "$(field 'p["extrapolates"] is not None')" = True
finest -N 333
ok "-N is an upper limit" test "$(field 'p["N"], p["finest"]["limit_given"]')" = "(329, True)"
finest --limit time=0.2
ok "the next size and why it is none" test \
    "$(field 'p["finest"]["next"] % 7 == 0 and "keeps the limits" in p["finest"]["why_not"]')" = True
run hrun --profile-path "$tmp/defs" --cluster "$tmp/cluster.yaml" --dry-run -app lu --finest --limit time=0.2 \
    "$bin/lu" '{N}'
out_has "  finest       N = $small of sizes up to " "the report says it"

fails 125 "has no size up to" "limits that none keeps" hrun --profile-path "$tmp/defs" \
    --cluster "$tmp/cluster.yaml" --dry-run -app lu --finest --limit time=0.000000001 "$bin/lu" '{N}'
fails 125 "--finest and --config contradict" "--config" hrun --cluster "$tmp/cluster.yaml" --dry-run -app lu --finest \
    --config 1,1,0,0 "$bin/lu" '{N}'
fails 125 "--finest and --limit within contradict" "--limit within" \
    hrun --cluster "$tmp/cluster.yaml" --dry-run -app lu --finest --limit within=5% "$bin/lu" '{N}'
fails 125 "--finest does nothing without an app definition" "a program without a definition" \
    hrun --dry-run --finest /bin/true
fails 125 "write {N} where it stands" "a size that does not reach the program" hrun --cluster "$tmp/cluster.yaml" \
    --dry-run -app lu --finest "$bin/lu" 100
fails 125 "there is no profile" "no profile" hrun --data "$tmp/data2" --cluster "$tmp/cluster.yaml" --dry-run -app lu \
    --finest "$bin/lu"

# Runs that took half as long again allow less than the models do; what was asked and what was measured stay the same.
finest --limit time=0.2
config=$(field '"(%s)" % ",".join("%d,%d" % (c["pes"], c["procs_per_pe"]) for c in p["config"])')
limit=$(field 'p["finest"]["limit"]')
procs=$(field 'p["P"]')
slow() { python3 -c "for i in range(6): print('night $config $small 1.5')"; }
put <<<"$(slow)"
finest --limit time=0.2 -n "$procs"
ok "slow runs make the size smaller, or another configuration, and not the limit" test \
    "$(field 'p["N"] <= '"$small"', p["finest"]["limit"] == '"$limit"', p["finest"]["limit_given"]')" = "(True, True, False)"
ok "why the next size is none is told of them, too" test \
    "$(field 'p["finest"]["next"] > p["N"] and "keeps the limits" in p["finest"]["why_not"]')" = True
done_testing
