#!/bin/bash
# truth.t - the ground truth of `make accuracy`, on clusters of four hosts: skeletons send the messages of the real
# programs, tables are the same each time, and the figures are what brute force makes of a table
. "$(dirname "$0")/tap.sh"

# SimGrid is optional, for users and for tests; where all is installed (CI) its absence is a fault.
if ! command -v smpicc >/dev/null || ! command -v smpirun >/dev/null; then
    [ "${CI-}" = true ] && { printf '1..1\nnot ok 1 - smpicc is missing: libsimgrid-dev is not installed\n'; exit 1; }
    echo '1..0 # SKIP smpicc is missing: libsimgrid-dev is not installed'
    exit 0
fi
play() { # OUT WORDS... : tables into $tmp/OUT
    local out=$1
    shift
    run timeout 300 tests/accuracy/tables --out "$tmp/$out" "$@"
}
# smpirun as tests/accuracy/tables calls it, RANKS of the first hosts of a platform, one on each.
alone() { # PLATFORM HOSTS PROGRAM WORDS...
    printf '%s\n' $2 >"$tmp/hosts"
    run timeout 120 smpirun -np "$(wc -l <"$tmp/hosts")" -hostfile "$tmp/hosts" -platform "$tmp/a/platforms/$1.xml" \
        --cfg=smpi/simulate-computation:no --cfg=smpi/coll-selector:mpich --cfg=smpi/display-timing:no \
        --log=root.thres:critical "${@:3}"
}
near() { # X Y TOLERANCE: relative
    awk -v x="$1" -v y="$2" -v t="$3" 'BEGIN { exit !(x > 0 && y > 0 && x - y <= t * y && y - x <= t * y) }'
}
seconds() { # what an application printed
    sed -n 's/^time: \(.*\) s$/\1/p' <<<"$out"
}
entry() { # OUT APP PLATFORM N CONFIG: from a table
    awk -F'"' -v head="$2,$3,$4," -v config="$5" '$1 == head && $2 == config { print substr($3, 2) }' \
        "$tmp/$1/tables/$2-$3.csv"
}

# All applications, at a size that a table has; the Fourier transform has others.
play a --on tiny --sizes 96,128,400,1000,16384
status_is 0 "six applications are played on a small cluster"
rows=$(cat "$tmp"/a/tables/*-tiny.csv | grep -vc ^app,)
# (1 + 2 * 2) * (1 + 2) - 1 = 14 configurations: lu at 400 and 1000, jacobi at 96 and 128, femcg at 96 (P = 5 does not
# divide it, which is (2,2,1,1) alone), mg at 128, ring at 1000, fft at 16384 with P = 1, 2, 4 (not 3, 5, 6).
ok "each table has all configurations that the rule allows ($rows rows)" [ "$rows" = $((28 + 28 + 13 + 14 + 14 + 9)) ]
play b --on tiny --sizes 96,128,400,1000,16384 --jobs 1
ok "a second time, one after the other, all times are the same" diff -r "$tmp/a/tables" "$tmp/b/tables"
play a --on tiny --sizes 96,128,400,1000,16384
err_has "0 of 8 parts are to be played" "what was played is not played again"
echo "# other content" >>"$tmp/a/parts/jacobi-tiny-96"
play a --on tiny --only jacobi --sizes 96,128,400,1000,16384
err_has "1 of 2 parts are to be played" "what is not whole is played again"
ok "and gives the same" diff -r "$tmp/a/tables" "$tmp/b/tables"
play a --on nowhere
ok "an unknown platform is refused" [ "$status" != 0 ]
err_has "'nowhere' is none of" "and the message names the known ones"

# One simulation of all runs gives what a simulation of each gives.
for pair in "lu 400" "jacobi 96" "femcg 96" "mg 128" "ring 1000 --dim=16" "fft 16384"; do
    set -- $pair
    alone tiny "fast-0 fast-1 slow-0 slow-1" "$build/tests/accuracy/$1" "${@:2}"
    ok "$1 alone takes as long as among others" near "$(seconds)" "$(entry a "$1" tiny "$2" "(2,1,2,1)")" 1e-5
done

# Hosts without end of speed: what is left are the messages, and they are those of the real programs.
play a --on endless --only lu,jacobi --sizes 96,128,400
for pair in "lu 400" "jacobi 96"; do
    set -- $pair
    alone endless "fast-0 fast-1 slow-0 slow-1" "$build/tests/smpi/$1" "${@:2}"
    ok "$1 sends what the real program sends" near "$(seconds)" "$(entry a "$1" endless "$2" "(2,1,2,1)")" 1e-4
done

# The network of a platform is measured on the same hosts, kept, and estimated from.
play n --on tiny --only fft --sizes 4096,16384,65536
status_is 0 "a platform's network is measured with its tables"
ok "on its hosts, to the end" awk '$1 == "host" && $3 ~ /^(fast|slow)-[01]$/ { n++ } { last = $0 }
    END { exit !(n == 4 && last == "end") }' "$tmp/n/networks/tiny.txt"
play n --on tiny --only fft --sizes 4096,16384,65536
err_lacks "the network of tiny was measured" "once"
fft() { # WORDS...
    run timeout 300 "$build/tests/accuracy/accuracy" --tables "$tmp/n/tables" --methods joint --seeds 2 "$@"
}
fft --networks "$tmp/n/networks"
status_is 0 "models of the transform have what is estimated from it"
out_has "of 4 hosts" "which is said"
out_has "network: estimated from " "as it is printed"
out_has "targets of ε: mean 5 %, worst 15 %" "beside the targets"
fft --networks "$tmp/n/networks" --exact
out_has "network: not estimated: the parameters of the platform" "--exact takes what the platform says of itself"
fft --networks none
out_lacks "network:" "and without any there is none"
printf 'network 1 4\n' >"$tmp/n/networks/tiny.txt"
fft --networks "$tmp/n/networks"
status_is 1 "records that break off are refused"
play n --on tiny --only fft --sizes 4096,16384,65536
err_has "the network of tiny was measured" "and measured again"

# ---------------------------------------------------------------- the figures
# A table that the terms of jacobi.yaml fit exactly: Ti = wi(M) (N^3/P + N^2) + ci, and wi M N^3 on one PE.
cat >"$tmp/made.py" <<'P'
import csv, itertools, sys
out, spoil = sys.argv[1], float(sys.argv[2])
w, train, other = [1e-8, 1.7e-8], [32, 48, 64, 80, 96, 128], [72, 160]
options = [[(0, 0)] + [(p, m) for p in range(1, 5) for m in range(1, n + 1)] for n in (2, 1)]
rows, found = [], []
for N in train + other:
    at = {}
    for c in itertools.product(*options):
        P = sum(p * m for p, m in c)
        used = [(i, p, m) for i, (p, m) in enumerate(c) if p]
        if used:
            at[c] = max(w[i] * m * N**3 * 1.1 if P == m else w[i] * (m + 0.1) * (N**3 / P + 2 * N**2) + 0.001 * m
                        for i, p, m in used)
    best = sorted(at, key=lambda c: (at[c], sum(p for p, _ in c)))
    if spoil != 1 and N == 96:
        second, at[best[0]] = at[best[1]], at[best[0]] * spoil
        found.append(at[best[0]] / min(second, at[best[0]]) - 1)
        assert sum(1 for p, _ in best[0] if p) == 2, "the best one must be mixed"
    rows += [("jacobi", "made", N, "(" + ",".join("%d,%d" % x for x in c) + ")", "%.12g" % t) for c, t in at.items()]
with open(out + "/jacobi-made.csv", "w") as f:
    csv.writer(f, lineterminator="\n").writerows([("app", "platform", "N", "config", "time_s")] + rows)
with open(out + "/sets.csv", "w") as f:
    csv.writer(f, lineterminator="\n").writerows([
        ("app", "platform", "subs", "definition", "train", "other"),
        ("jacobi", "made", "a:4:2 b:4:1", "tests/apps/jacobi.yaml", *(" ".join(map(str, v)) for v in (train, other)))])
print(*found)
P
cat >"$tmp/look.py" <<'P'
import json, sys
sets = json.load(open(sys.argv[1]))
methods = {m["method"]: m for m in sets[0]["methods"]}
sys.exit(not eval("(" + sys.argv[2] + ")"))
P
mkdir -p "$tmp/made" "$tmp/spoilt"
judge() { # FOLDER WORDS...: accuracy's JSON into $tmp/json
    run timeout 300 "$build/tests/accuracy/accuracy" --tables "$tmp/$1" --json "${@:2}"
    printf '%s\n' "$out" >"$tmp/json"
}
look() { # EXPRESSION
    python3 "$tmp/look.py" "$tmp/json" "$1"
}
ok "a made-up table" python3 "$tmp/made.py" "$tmp/made" 1
judge made --sigma 0 --glitches 0 --seeds 2
status_is 0 "methods are tried on it"
for m in ls nnls relative joint automatic; do
    ok "without noise $m always finds the best" \
        look "all(methods['$m'][s]['epsilon_worst'] == 0 and methods['$m'][s]['served'] == methods['$m'][s]['asked'] > 0
                  for s in ('trained', 'others'))"
    # What sub-clusters have in common pulls their models a little.
    case $m in joint | automatic) within=0.01 ;; *) within=1e-5 ;; esac
    ok "and predicts its time" look "all(methods['$m'][s]['delta_worst'] < $within for s in ('trained', 'others'))"
done
ok "the grid is what was measured" look "abs(methods['nnls']['cost_of_grid'] - 1) < 1e-9"
ok "static allocations stand beside them" \
    look "[s['config'] for s in sets[0]['static']] == ['(1,1,0,0)', '(4,1,0,0)', '(4,1,4,1)']"
want=$(python3 "$tmp/made.py" "$tmp/spoilt" 1.5)
judge spoilt --sigma 0 --glitches 0 --seeds 1 --methods relative
ok "where the choice takes 1.5 times its prediction, epsilon is $want" \
    look "abs(methods['relative']['trained']['epsilon_worst'] - $want) < 1e-9 < $want and
          methods['relative']['trained']['epsilon_worst_N'] == 96"
ok "and why: the choice is slower than its interval says" \
    look "[(m['N'], m['cause'], m['seeds']) for m in methods['relative']['misses']] == [(96, 'model', 1)] and
          methods['relative']['causes'] == {'noise': 0, 'model': 1, 'not run': 0, 'few runs': 0} and
          methods['relative']['epsilon_of_all_once'] == 0"
run "$build/tests/accuracy/accuracy" --tables "$tmp/spoilt" --sigma 0 --glitches 0 --seeds 1 --methods relative
out_has "relative: of its epsilon 100 % model; to run every configuration once and take the quickest: 0.00 %" \
    "the text has the causes where a target is missed"
out_has "model: the choice is slower than its interval says" "and the choices that cost most"
ok "and delta a third" look "abs(methods['relative']['trained']['delta_worst'] - 1 / 3) < 1e-4"
judge made --seeds 5 --jobs 1
cp "$tmp/json" "$tmp/json1"
judge made --seeds 5 --jobs 3
ok "the same seeds give the same figures in one process and in three" cmp "$tmp/json1" "$tmp/json"
for m in extrap extrapneg; do
    ok "under noise terms from the library are nearer than those of $m" \
        look "all(methods['automatic'][s][k] < methods['$m'][s][k] for s in ('trained', 'others')
                  for k in ('epsilon_mean', 'delta_mean'))"
done
ok "noise is felt" look "methods['ls']['trained']['delta_worst'] > 0.01"
judge made --seeds 5 --seed 100
ok "other seeds give other figures" bash -c '! cmp -s "$0" "$1"' "$tmp/json1" "$tmp/json"
run "$build/tests/accuracy/accuracy" --tables "$tmp/made" --methods none
status_is 2 "an unknown method is refused"
err_has "relative" "and the known ones are listed"
run "$build/tests/accuracy/accuracy" --tables "$tmp/made" --app lu
status_is 1 "a table that is not there is an error"
sed -i 's/"(1,1,0,0)"/"(5,1,0,0)"/' "$tmp/made/jacobi-made.csv"
run "$build/tests/accuracy/accuracy" --tables "$tmp/made"
status_is 1 "so is one with a configuration that its cluster does not have"
err_has "(5,1,0,0) is none of the set's configurations" "which is named"
done_testing
