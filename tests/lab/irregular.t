#!/bin/bash
# Gathers that lose messages: seven hosts whose switch keeps so little of what comes to one of them too fast that six
# senders overflow it, and which wait for TCP's timer then (paper 002's irregular region). Is it found, and only it; are
# gathers there tuned, with the same results? Looked at are only times that a timer of 200 ms makes, and no others.
. "$(dirname "$0")/lib.sh"
names=(n1 n2 n3 n4 n5 n6 n7)
lab_up "${names[@]/%/ - - -}"
cd "$tmp" || exit 1
export HRUN_DATA=$tmp/data HRUN_CACHE=$tmp/cache
for h in "${names[@]}"; do
    lab old-tcp "$h"
    lab rate "$h" 100 24
done
common=(--host n1,n2,n3,n4,n5,n6,n7 -x "LD_PRELOAD=$build/tests/lab/idle.so" --mca mpi_yield_when_idle 1)

run on_head hrun-calibrate network "${common[@]}" --keep records --json
status_is 0 'the network is measured'
cp .out network.json
# The longest of the repetitions of each size is in field 11 of its record, in seconds.
awk '$1 == "gather" { print $6, $11 }' records >sizes
ok 'some gathers wait for the timer' awk '$2 > 0.2 { n++ } END { exit !n }' sizes
read -r M1 M2 share < <(python3 -c '
import json
t = json.load(open("network.json"))["thresholds"]
print(t["gather_M1_bytes"], t["gather_M2_bytes"], t["irregular_share"])')
out="M1 $M1, M2 $M2, share $share; $(tr '\n' ';' <sizes)"
ok 'the region is found' awk -v M1="$M1" -v M2="$M2" 'BEGIN { exit !(0 < M1 && M1 < M2) }'
ok 'it has all sizes that wait for the timer' awk -v M1="$M1" -v M2="$M2" \
    '$2 > 0.2 && ($1 < M1 || $1 > M2) { bad++ } END { exit bad > 0 }' sizes
# What fits into the switch as a whole is regular: 24 KiB of six.
ok 'not what fits into the switch' awk -v M1="$M1" 'BEGIN { exit !(M1 > 2897) }'
# From 64 KiB on senders wait for the root, which takes them one after the other.
ok 'nor what waits for the root' awk -v M2="$M2" 'BEGIN { exit !(M2 < 65536) }'
ok 'which some gathers in it do, not all' awk -v p="$share" 'BEGIN { exit !(0 < p && p < 1) }'

tuned=(hrun "${common[@]}" --tune-collectives -n 7)
run on_head "${tuned[@]}" --dry-run "$bin/collbench"
ok 'hrun would split its gathers' grep -qE '^    gather .* pieces of [0-9.]+ (B|KiB) .* times as fast$' <<<"$out"
run on_head "${tuned[@]}" -v "$bin/collbench" 3 gather:8000 gatherv:48000
status_is 0 'gathers in the region'
ok 'are tried in pieces' grep -qE '^  gather +7\.00 KiB +7 +0 +pieces of [0-9.]+ (B|KiB)  +[0-9]+  (stays|dropped)' <<<"$err"
ok 'with counts, too' grep -qE '^  gatherv +any +7 +0 +linear, irregular parts in pieces' <<<"$err"
run on_head "${tuned[@]}" -v "$bin/collcheck"
out_has 'differing: 0' 'tuned operations compute the same, byte by byte'
err_has ' pieces of ' 'gathers in pieces among them'
all_clean 'nothing is left on the hosts'
done_testing
