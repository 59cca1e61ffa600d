#!/bin/bash
# weak.t - the family weak (paper 001) on simulated clusters, whose times are exact: six runs of at most eight processes
# for each sub-cluster and size foretell what more processes take, on one cluster and over two, with rows shared out
. "$(dirname "$0")/tap.sh"
cd "$tmp" || exit 1

if ! command -v smpicc >/dev/null || [ ! -x "$build/bin/hrun-smpi" ]; then
    [ "${CI-}" = true ] && { printf '1..1\nnot ok 1 - libsimgrid-dev is not installed\n'; exit 1; }
    echo '1..0 # SKIP SimGrid is not installed: libsimgrid-dev'
    exit 0
fi
# a: 12 hosts of one core, of which a-5 is slower than it says; b: 3 hosts of four cores. 3 GB for each process.
python3 - >"$tmp/p.xml" <<'P'
out, tail = [], []
for name, hosts, cores, speed in (("a", 12, 1, "4e8f"), ("b", 3, 4, "5.6e8f")):
    for i in range(hosts):
        out.append('<host id="%s-%d" speed="%s" core="%d"><prop id="memory_bytes" value="%d"/>'
                   '<prop id="cost_per_hour" value="%d"/></host>' % (
                       name, i, speed, cores, cores * int(2**25 + 3e9), cores))
        for link, bw, lat in (("l", "12.5e6Bps", "50us"), ("loop", "2e9Bps", "1us")):
            out.append('<link id="%s-%s-%d" bandwidth="%s" latency="%s" sharing_policy="SPLITDUPLEX"/>' % (
                link, name, i, bw, lat))
        tail.append('<route src="%s-%d" dst="switch"><link_ctn id="l-%s-%d" direction="UP"/></route>' % ((name, i) * 2))
        tail.append('<route src="%s-%d" dst="%s-%d" symmetrical="NO"><link_ctn id="loop-%s-%d" direction="UP"/>'
                    '</route>' % ((name, i) * 3))
print("<?xml version='1.0'?>", '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
      '<platform version="4.1"><zone id="z" routing="Floyd">', *out, '<router id="switch"/>', *tail,
      '<trace id="slow" periodicity="-1">', "0 0.8", "</trace>",
      '<trace_connect kind="SPEED" trace="slow" element="a-5"/>', "</zone></platform>", sep="\n")
P
prog=$build/tests/accuracy/multigrid
on=(--platform "$tmp/p.xml" --level core --smpi smpi/coll-selector:mpich -app multigrid)
field() { python3 -c 'import json, sys; p = json.loads(sys.argv[1]); print(eval(sys.argv[2]))' "$out" "$1"; }
plan() { run hrun "${on[@]}" --dry-run --json "$@" "$prog"; }
# near CONFIG N: predicted as simulated, to 1 %
near() {
    plan --config "$1" -N "$2"
    local predicted
    predicted=$(field 'p["predicted_s"]')
    run hrun "${on[@]}" -q --no-record --config "$1" -N "$2" "$prog"
    [ "$status" = 0 ] && awk -v p="$predicted" -v s="$(sed -n 's/^time: \(.*\) s$/\1/p' <<<"$out")" \
        'BEGIN { printf "# predicted %s, simulated %s\n", p, s; exit !(p > 0 && s > 0 && (p - s)^2 <= (0.01 * s)^2) }'
}

run hrun-calibrate "${on[@]}" -N 32768 --dry-run "$prog"
out_has "each alone" "the runs are shown, those of copies as such"
ok "six for each sub-cluster" test "$(grep -cE '^[ab] +32768 ' <<<"$out")" = 12
run hrun-calibrate "${on[@]}" -q -r 1 -N 32768 "$prog"
status_is 0 "they are made"
out_has "weak/nnls" "and models of them"
run hrun-calibrate "${on[@]}" -r 1 -N 32768 "$prog"
err_has "12 of 12 runs are measured already" "once"

ok "12 processes on a, one of them slower" near 0,0,12,1 32768
ok "12 on b" near 12,1,0,0 32768
ok "both, rows shared out" near 12,1,12,1 32768
plan -N 32768
shares=$(field '[(s["share"], s["pes_used"]) for s in p["subclusters"]]')
ok "the choice uses both; b has more rows, whole units, N of them in all: $shares" test "$(field \
    '(lambda v: all(r % 16 == 0 for r, n in v) and v[0][0] > v[1][0] and
    0 <= sum(r * n for r, n in v) - p["N"] < 16 * 12)([(s["share"], s["pes_used"]) for s in p["subclusters"]])')" = True
ok "and they reach the program" test "$(field '"--shares=12*" in " ".join(p["argv"])')" = True
run hrun "${on[@]}" --dry-run -N 32768 "$prog"
out_has "weak/NNLS" "the report names the family"
out_has "  rows         " "and the rows"

# 3 GB hold 2850 rows of 32768 cells: a process alone cannot hold the mesh.
fails 125 "does not fit into its memory, 2.83 GiB" "it is not run" \
    hrun "${on[@]}" --dry-run --config 0,0,1,1 -N 32768 "$prog"
plan --force --config 0,0,1,1 -N 32768
ok "a configuration whose memory is too small has no prediction" test "$(field 'p["predicted_s"]')" = None

fails 125 "no model of multigrid for N=16384; there is one for N=32768" "a size without a model" \
    hrun "${on[@]}" --dry-run -N 16384 "$prog"
out_before=$err
ok "and the command that makes one" grep -qF "hrun-calibrate -app multigrid -N 16384 makes one" <<<"$out_before"
fails 125 "only N = 32768 was measured" "--finest of one size" \
    hrun "${on[@]}" --dry-run --finest --limit time=0.000001 "$prog"
out_before=$err
ok "advises twice the size, with the options" grep -Eq \
    'to measure a larger one: hrun-calibrate -app multigrid .*--platform .* -N 65536 .*multigrid' <<<"$out_before"
run hrun "${on[@]}" --dry-run --finest "$prog"
ok "also in a dry run" grep -Eq 'to measure a larger one: hrun-calibrate .* -N 65536 ' <<<"$out"
run hrun-calibrate "${on[@]}" -q -r 1 -N 16384 "$prog"
ok "two sizes tell of one between them" near 12,1,12,1 24576
plan -N 32768
limit=$(field '0.6 * p["predicted_s"]')
money=$(field '0.2 * p["cost"]')
plan --finest --limit "time=$limit"
ok "--finest keeps the time" test \
    "$(field "p['predicted_s'] <= $limit < 1.01 * p['predicted_s'] and p['finest']['next'] == p['N'] + 16")" = True
finest=$(field 'p["N"]')
plan --finest --limit "time=$limit" --limit "cost=$money"
ok "and the money, on a smaller mesh" test "$(field "p['cost'] <= $money and p['N'] < $finest")" = True
run hrun "${on[@]}" --no-record --finest --limit "time=$limit" "$prog"
ok "it can be run, too" test "$status" = 0 -a -n "$(grep '^time: ' <<<"$out")"
err_has "hrun: N = $finest, predicted" "and says which size that was"

run hrun-calibrate "${on[@]}" fit --fit ls multigrid
out_has "weak/ls" "the paper's steps make models as well"

for o in "--budget 1m" --full-grid; do
    # shellcheck disable=SC2086
    fails 125 "are made of six runs" "$o" hrun-calibrate "${on[@]}" $o -N 32768 "$prog"
done
fails 125 "write {shares} where they stand" "a program that is not told its rows" \
    hrun-calibrate "${on[@]}" -N 32768 "$prog" '{N}'
fails 125 "-n says how many processes a run of family weak is to have" "-n for another family" \
    hrun-calibrate -app lu -n 4 "$bin/lu"
# Without a model all have the same rows.
run hrun "${on[@]}" --data "$tmp/none" --dry-run --json -n 8 -N 32768 "$prog"
ok "without a profile all rows are shared equally" test "$(field '"--shares=8*4096" in p["argv"]')" = True
done_testing
