#!/bin/bash
# hrun --probe: on simulated hosts of unlike speed no program is slower than by default, and most are quicker; what is
# said and recorded; programs without a definition; errors, failures, signals and time limits.
. "$(dirname "$0")/tap.sh"
two_cores
cd "$tmp" || exit 1
h=$build/bin/hrun
skeletons=$build/tests/accuracy
before=$(litter)
json() { python3 -c "import json,sys; d = json.load(open('$tmp/.out')); print($1)"; }

# ---------------------------------------------------------------- options

lu=$bin/lu
fails 125 "say which is the real one with -N SIZE" "--probe without a size" "$h" --probe "$lu" {N}
fails 125 "say which is the real one with -N SIZE" "a small size without a real one" "$h" --probe=300 "$lu"
fails 125 "--explore 5%" "of a command without a size it says what learns" "$h" --probe "$lu" deck
fails 125 "--probe needs a whole number" "a time" "$h" --probe=5s -N 200 "$lu" {N}
fails 125 "write {N} where it stands" "a size that the program is not told" "$h" --probe -N 200 -app lu "$lu" 200
fails 125 "--probe needs a whole number in 1..200" "a probe larger than the run" \
    "$h" --probe=300 -N 200 "$lu" {N}
fails 125 "no number of processes from 1 to" "a size without a number of processes" \
    "$h" --probe=9 -N 18 "$bin/femcg" {N}
for o in "--np 2" "--config (1,1)" "--explore 5" "--finest"; do
    # shellcheck disable=SC2086
    fails 125 "--probe and ${o%% *} contradict each other" "--probe with ${o%% *}" "$h" --probe $o -N 200 "$lu" {N}
done
fails 125 "contradict each other" "no dry run of a probe that cannot be" \
    "$h" --probe --dry-run -N 200 --config '(1,1)' "$lu" {N}
run "$h" --probe --dry-run -N 200 -app lu
status_is 0 "a dry run needs no program"
run "$h" --probe --dry-run -N 200
status_is 125 "but an application"

# ---------------------------------------------------------------- failures, signals and time limits on this host

# Two kinds of cores, so that there is something to probe.
kinds=$top/tests/data/topo/made-8p16e.xml
two_kinds() { HWLOC_XMLFILE=$kinds "$@"; }
prog=$bin/probe
use=$(two_kinds "$h" --show-cluster --json | python3 -c '
import json, sys
print(",".join(s["name"] + ":1" for s in json.load(sys.stdin)["subclusters"]))')
run two_kinds "$h" --probe --use "$use" -N 64 "$prog" env=S{N} @0exit=3
status_is 125 "a program that fails in the probe"
err_has "the probe with N = 8 on 2 processes failed: exit 3" "which is said"
err_lacks "hrun: actual" "and nothing else is run"
run two_kinds "$h" --probe --use "$use" --timeout 2 -N 64 "$prog" info env=S{N} spin
status_is 124 "a probe beyond --timeout"
env --default-signal=INT HWLOC_XMLFILE="$kinds" "$h" --probe --use "$use" -N 64 "$prog" env=S{N} spin \
    >.out 2>.err </dev/null &
pid=$!
for _ in $(seq 2000); do pgrep -f "$prog env=S8" >/dev/null && break; sleep 0.1; done
sleep 0.5
kill -INT $pid
wait $pid
status=$? out=$(cat .out) err=$(cat .err)
status_is 130 "SIGINT in the probe"
err_has "interrupted in the probe; the real run was not begun" "ends all"
out="$(pgrep -af "$prog env=S") $(litter)"
ok "no process is left" test -z "$(pgrep -f "$prog env=S")"
ok "nothing is left" nothing_new "$before"

run two_kinds "$h" --probe --use "$use" -N 64 sh -c ': {N}'
status_is 0 "a program that cannot be watched"
err_has "hrun: the probe took " "is probed all the same"
run two_kinds "$h" --probe --use "$use" -v -N 64 "$bin/pattern" {N} rounds=3
status_is 0 "a program is watched on this host, and run"
err_has "probes the speeds with N = " "which begins with a small run"
ok "of which both processes tell how long they computed" test "$(grep -c 'the probe: a process of' <<<"$err")" = 2
ok "its output is not seen" test "$(grep -c '^sum:' <<<"$out")" = 1
err_has "hrun: the probe took" "the line after the run"

if ! [ -x "$build/bin/hrun-smpi" ] || ! [ -x "$skeletons/ring" ]; then
    skip "probes of simulated hosts" "SimGrid is not installed (libsimgrid-dev)"
    done_testing
fi

# ---------------------------------------------------------------- the promise, in simulated time

# platform FILE LINE...: a platform whose zone holds these lines.
platform() {
    local file=$1
    shift
    { printf '%s\n' '<?xml version="1.0"?>' '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">' \
        '<platform version="4.1">' '<zone id="all" routing="Full">' "$@" '</zone>' '</platform>'; } >"$file"
}
# cluster NAME PREFIX COUNT SPEED [MORE]
cluster() {
    echo "<cluster id=\"$1\" prefix=\"$2\" suffix=\"\" radical=\"0-$(($3 - 1))\" speed=\"$4\" bw=\"125MBps\"" \
        "lat=\"50us\" ${5-}/>"
}
link() { echo "<link id=\"$1\" bandwidth=\"1GBps\" latency=\"50us\"/>"; }
# join A FIRST-A B FIRST-B LINK
join() {
    echo "<zoneRoute src=\"$1\" dst=\"$3\"" \
        "gw_src=\"$2$1_router\" gw_dst=\"$4$3_router\"><link_ctn id=\"$5\"/></zoneRoute>"
}
platform cores.xml "$(cluster A f- 3 1.6Gf 'core="2"')" "$(cluster B s- 4 0.55Gf)" "$(link x)" "$(join A f- B s- x)"
platform three.xml "$(cluster A f- 2 1.6Gf)" "$(cluster B m- 2 1.1Gf)" "$(cluster C s- 2 0.4Gf)" \
    "$(link x)" "$(link y)" "$(link z)" "$(join A f- B m- x)" "$(join A f- C s- y)" "$(join B m- C s- z)"
platform tail.xml "$(cluster A f- 4 1.6Gf)" "$(cluster B s- 1 0.1Gf)" "$(link x)" "$(join A f- B s- x)"
platform alike.xml "$(cluster A f- 4 1.6Gf)"
export HRUN_PROFILE_PATH=$apps:$top/tests/accuracy

time_of() { awk '$1 == "time:" { print $2 }' "$tmp/.out"; }
quicker=0
for p in cores three tail; do
    for a in lu:3200 jacobi:256 ring:20000 fft:4194304 femcg:480; do
        run "$h" -q --no-record --platform $p.xml -N "${a#*:}" "$skeletons/${a%:*}"
        default=$(time_of)
        run "$h" --no-record --platform $p.xml --probe -N "${a#*:}" "$skeletons/${a%:*}"
        chosen=$(time_of)
        out="default $default, after a probe $chosen"
        ok "${a%:*} on $p: not slower than by default" awk "BEGIN { exit !($chosen > 0 && $chosen <= $default) }"
        awk "BEGIN { exit !($chosen < 0.9 * $default) }" && quicker=$((quicker + 1))
    done
done
out="$quicker of 15"
ok "two of three are quicker" test $quicker -ge 10
run "$h" --platform tail.xml --probe -N 20000 "$skeletons/ring"
err_has "(4,1,0,0) is predicted to take 0.1" "a host that all wait for is left out"
ok "and what that brings is seen in the small run, and told with its cost" \
    grep -qE 'probe took 4 runs and [0-9.]+ ms, [0-9.]+ % of the real run; .*, and took 0\.1[0-9] of it at N = 2000$' \
    <<<"$err"
ok "all runs are recorded: f and s alone, the default, what was tried, and the real one" \
    test "$(cat "$HRUN_DATA"/profiles/ring/*.log | grep -c '"origin":"run"')" = 6
ok "with their sizes" test "$(grep -ho '"N":[0-9]*' "$HRUN_DATA"/profiles/ring/*.log | sort | uniq -c | xargs)" = \
    '5 N:2000 1 N:20000'

run "$h" --platform alike.xml --probe -N 20000 "$skeletons/ring"
err_has "--probe runs nothing: all PEs are alike" "where all PEs are alike nothing is probed"
err_lacks "the probe took" "and there is nothing to tell"
run "$h" --platform cores.xml --probe --use f -N 20000 "$skeletons/ring"
err_has "(3,2,0,0) is predicted to take 0." "unless they have cores to spare"

# ---------------------------------------------------------------- dry runs

run "$h" --platform tail.xml --probe --dry-run -N 20000 "$skeletons/ring"
out_has "--probe      first runs with N = 2000 on each sub-cluster alone" "a dry run shows the probe"
out_has "P = 5  (4,1,1,1)  one process per node" "and the default"
run "$h" --platform tail.xml --probe --dry-run --json -N 20000 "$skeletons/ring"
ok "for machines" test "$(json 'd["probe"]["N"], d["probe"]["P"], d["probe"]["apart"], d["chosen_by"]')" = \
    "2000 5 True default"
run "$h" --platform tail.xml --dry-run --json -N 20000 "$skeletons/ring"
ok "which is null without --probe" test "$(json 'd["probe"]')" = None

# ---------------------------------------------------------------- without a definition; with a profile

unset HRUN_PROFILE_PATH
cp "$skeletons/ring" "./My+Ring"
run "$h" --platform tail.xml --probe -N 20000 ./My+Ring {N}
status_is 0 "a program that no definition knows"
err_has "is predicted to take 0." "is probed as well"
ok "and recorded by its name" test -n "$(ls "$HRUN_DATA"/profiles/my-ring/*.log)"
run "$h" --platform alike.xml --probe -N 2000 ./My+Ring {N}
err_has "no definition and no profile of my-ring" "where the default is run it says what is missing"
err_has "hrun-calibrate --new -app my-ring --platform alike.xml --sizes 500,1000,2000 -- ./My+Ring '{N}'" \
    "and how to make it"
cp "$skeletons/ring" ./hpl
fails 125 "but there is one called hpl: say -app hpl" "a program that is called as another application" \
    "$h" --platform tail.xml --probe -N 2000 ./hpl {N}

export HRUN_PROFILE_PATH=$apps
run hrun-calibrate -q --platform tail.xml --sizes 400,800 -app flops "$build/tests/smpi/flops"
run "$h" --platform tail.xml --probe -N 1200 "$build/tests/smpi/flops"
err_has "--probe is not needed: there is a profile, and it is used" "with a profile nothing is probed"
err_has "hrun: predicted" "and the profile chooses"
run "$h" --platform tail.xml --probe --dry-run --json -N 1200 "$build/tests/smpi/flops"
ok "also for machines" test "$(json 'd["probe"], d["chosen_by"]')" = "{'needed': False} model"
done_testing
