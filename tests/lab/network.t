#!/bin/bash
# The network of real hosts: measured by all engines' way, a slow link among them, kept, shown; a host that vanishes in
# the middle, one host only. Hosts share this machine's processors: figures are looked at in their order, not to the
# percent.
. "$(dirname "$0")/lib.sh"
lab_up 'f1 40 0 fast' 'f2 40 1 fast' 's1 20 0-1 slow' 's2 20 0-1 slow'
cd "$tmp" || exit 1
export HRUN_CACHE=$tmp/cache HRUN_DATA=$tmp/data

calibrate() { on_head env HRUN_CACHE="$HRUN_CACHE" HRUN_DATA="$HRUN_DATA" hrun-calibrate "$@"; }
hosts=f1,f2,s1,s2
json() { python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
names = [h["name"] for h in d["hosts"]]
of = {h["name"]: h["class"] for h in d["hosts"]}
def rate(a, b):
    return next(p["beta_bytes_per_s"]["value"] for p in d["pairs"] if (p["from"], p["to"]) == (of[a], of[b]))
print(eval(sys.argv[2]))' "$tmp/.out" "$1"; }

# ---- four hosts
run calibrate network --host $hosts --dry-run
status_is 0 "a dry run"
out_has "hrun-netbench" "... says what it would start"
ok "... and keeps nothing" test ! -e data/networks
run calibrate network --host $hosts -r 20 --keep records --json
status_is 0 "the network of four hosts"
got=$(json 'sorted(names)')
out=$got ok "... has their names" test "$got" = "['f1', 'f2', 's1', 's2']"
got=$(json 'min(rate(a, b) for a in names for b in names if a != b) > 1e6')
out=$got ok "... and rates between all of them" test "$got" = True
ok "... and is kept, with its records" test "$(cd data/networks && ls -d *.yaml *.records | wc -l)" = 2
ok "... with its records, to the end" grep -qx end records
all_clean "nothing is left on any host"
cp .out first
run calibrate network --host $hosts --json
status_is 0 "what was measured is shown again"
err_has "--redo measures it again" "... and how to measure it again"
got=$(json 'd["date"]')
ok "... it is the same" grep -q "$got" first
run calibrate show --network --host s2,f1,f2,s1
status_is 0 "show --network, in any order of the hosts"
out_has "network of 4 hosts" "... in words"
run calibrate network --from records
status_is 0 "records that were kept are estimated again"

# ---- a slow link
lab rate s2 10
run calibrate network --host $hosts -r 10 --redo --json
status_is 0 "a host with a slow link"
got=$(json 'all(rate(a, "s2") < 2e6 < 1e7 < rate(a, b) for a, b in (("f1", "f2"), ("f2", "f1"), ("f1", "s1")))')
out="$got $out" ok "... is told, and does not make the others slow" test "$got" = True
lab rate s2 -

# ---- a host that vanishes in the middle
rm -rf data
background gone calibrate network --host $hosts -r 100000 --precision 0.001%
await 20 on s1 pgrep -x hrun-netbench
lab kill s1
finish gone 60
status_is 125 "a host vanishes while the network is measured"
err_has "s1" "... it is named"
err_has "nothing of it is kept" "... and nothing is kept"
ok "... indeed" test -z "$(ls data/networks/*.yaml 2>/dev/null)"
run calibrate network --host f1,f2,s1
status_is 125 "a host that is down"
err_has "s1" "... is named"
lab start s1
all_clean "nothing is left on any host"
done_testing
