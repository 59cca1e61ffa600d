#!/bin/bash
# threads.t - definitions with `threads: fill`: the cores of a PE are shared out to its processes, which get as many
# threads; what the dry run says, what the processes get, what is measured.
. "$(dirname "$0")/tap.sh"
cd "$tmp" || exit 1
mkdir defs
export HRUN_PROFILE_PATH=$tmp/defs:$apps

# A program that tells its rank, threads and binding; its definition with and without the key.
cat >show <<'E2'
#!/bin/sh
pus=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
echo "$PMIX_RANK ${OMP_NUM_THREADS-none} $pus"
E2
chmod +x show
define() { # LINE...: the definition with these lines
    printf '%s\n' 'name: show' 'programs: [show]' 'procs_per_pe: [1, 2, 3]' 'terms:' '  np: ["N/P", "1"]' \
        '  n: ["N", "1"]' "$@" >defs/show.yaml
}
define 'threads: fill'

run hrun --show-cluster --json -app show
status_is 0 "the cluster of such an application"
cores=$(python3 -c '
import json, sys
s = json.load(open(sys.argv[1]))["subclusters"]
print(s[0]["cores_per_pe"] if len(s) == 1 and s[0]["level"] == "node" and len(s[0]["pes"]) == 1 else 0)' "$tmp/.out")
if [ "$cores" -lt 2 ]; then
    skip "threads" "one host with two cores of one kind at least is needed"
    done_testing
fi
ok "on one host the PEs are whole nodes" test "$cores" -ge 2
run hrun --show-cluster --json
ok "and cores for all others" python3 -c '
import json, sys
assert json.load(open(sys.argv[1]))["subclusters"][0]["level"] == "core"' "$tmp/.out"

# same PLAN RUN M THREADS: what the processes have got is what was planned, and the plan is right. THREADS: "plan", or
# what all of them must have.
cat >same.py <<'E2'
import json, sys
ranks = json.load(open(sys.argv[1]))["ranks"]
got = sorted(line.split() for line in open(sys.argv[2]))
M, want, cores = int(sys.argv[3]), sys.argv[4], int(sys.argv[5])
def numbers(text):
    out = []
    for part in text.split(","):
        a, _, b = part.partition("-")
        out += range(int(a), int(b or a) + 1)
    return out
assert len(ranks) == len(got) == M, got
for r, (rank, threads, pus) in zip(ranks, got):
    share = cores // M + (r["rank"] < cores % M) if M <= cores else 1
    assert int(rank) == r["rank"] and numbers(pus) == numbers(r["pus"]), (r, pus)
    assert len(numbers(r["cores"])) == (share if M <= cores else cores), r
    assert r["threads"] == (share if want == "plan" else None), r
    assert threads == (str(share) if want == "plan" else want), (r, threads)
pus = [n for r in ranks for n in numbers(r["pus"])]
assert M > cores or len(set(pus)) == len(pus), pus
E2
for m in 1 2 3 $((cores + 1)); do
    run hrun --dry-run --json --config "(1,$m)" -app show -N 8 ./show '{N}'
    cp "$tmp/.out" plan.json
    run hrun -q --config "(1,$m)" -app show -N 8 ./show '{N}'
    status_is 0 "$m processes run"
    cp "$tmp/.out" got
    ok "$m processes on $cores cores: cores, threads and bindings" python3 same.py plan.json got $m plan "$cores"
done

# A machine that only exists on paper: 8 cores of two hardware threads for 3 processes.
run env HWLOC_SYNTHETIC="package:2 core:4 pu:2" hrun --dry-run --json --config "(1,3)" -app show -N 8 ./show '{N}'
ok "8 cores for 3 processes: 3, 3 and 2 with both their hardware threads" python3 -c '
import json, sys
r = [(k["cores"], k["pus"], k["threads"]) for k in json.load(open(sys.argv[1]))["ranks"]]
assert r == [("0-2", "0-5", 3), ("3-5", "6-11", 3), ("6-7", "12-15", 2)], r' "$tmp/.out"
run env HWLOC_SYNTHETIC="package:2 core:4 pu:2" hrun --dry-run -v --level package --config "(2,3)" -app show -N 8 ./show '{N}'
ok "on two packages of 4 cores 3 processes have 1 or 2" grep -q '2 of 2 *3 *1-2 *1-2 *0-5' "$tmp/.out"
out_has "rank 3=$(uname -n) slot=4-5" "the rankfile is narrowed too"
out_has "but for OMP_NUM_THREADS, which differs" "and what mpirun cannot do is said"
run env HWLOC_SYNTHETIC="package:2 core:4 pu:2" hrun --dry-run --config "(1,2)" -app show -N 8 ./show '{N}'
out_has "-np 2 -x OMP_NUM_THREADS=4 ./show 8" "an equal number of threads stands in the command of mpirun"

# Who has the last word on the number of threads.
export OMP_NUM_THREADS=7
for x in "-x OMP_NUM_THREADS=5" "-x OMP_NUM_THREADS" ""; do
    run hrun --config "(1,2)" -app show $x -N 8 ./show '{N}'
    err_lacks "OMP_NUM_THREADS is set" "hrun sets no number of threads with '$x'"
    cp "$tmp/.out" got
    run hrun --dry-run --json --config "(1,2)" -app show $x -N 8 ./show '{N}'
    case $x in *=*) want=5 ;; *) want=7 ;; esac
    ok "'$x' or the environment goes before the plan, and the bindings stay" \
        python3 same.py "$tmp/.out" got 2 $want "$cores"
    run hrun --dry-run --config "(1,2)" -app show $x -N 8 ./show '{N}'
    out_has "$want (-x)" "the dry run says so"
done

# A program that no definition knows: the environment's number stays at each level and with each engine; without one hrun
# sets it, and says so.
cp show plain
for engine in local mpirun; do
    for level in core node; do
        run hrun -q --engine $engine --level $level -n 1 ./plain
        ok "OMP_NUM_THREADS=7 stays: engine $engine, PEs are a $level" test "${out#* 7 }" != "$out"
    done
done
run hrun -q --engine mpirun --level node -n 1 --mca mca_base_env_list A=1 ./plain
ok "also beside mca_base_env_list, which mpirun takes no -x with" test "${out#* 7 }" != "$out"
unset OMP_NUM_THREADS
run hrun --level node -n 1 ./plain
ok "without it there is one thread for each core" test "${out#* $cores }" != "$out"
err_has "OMP_NUM_THREADS is set to $cores, the cores of a process" "and one line says so"
ok "measurements with fixed numbers are kept apart" python3 -c '
import glob, json, os
files = glob.glob(os.environ["HRUN_DATA"] + "/profiles/show/*.log")
lines = [json.loads(l.split("\t")[0]) for f in files for l in open(f)]
assert {l["consts"] for l in lines} == {"threads:fill", "threads:5", "threads:7"}, lines'

run hrun --dry-run --config "(1,2)" -app show -N 8 ./show '{N}'
out_has "cores/proc  threads" "the dry run has columns for cores and threads"
run hrun --dry-run --level core --config "(1,2)" -app show -N 8 ./show '{N}'
out_has "each PE is one core: choose larger PEs, for instance --level node" "PEs of one core are told"
out_has "1, shared" "processes that share cores are shown"
define
run hrun --dry-run --level node --config "(1,2)" -app show -N 8 ./show '{N}'
out_lacks "cores/proc" "without the key there are none"
OMP_NUM_THREADS=7 run hrun -q --level node --config "(1,2)" -app show -N 8 ./show '{N}'
ok "and the environment's OMP_NUM_THREADS is left alone" test "$(printf '%s\n' "$out" | awk '{print $2}' | sort -u)" = 7
define 'threads: all'
fails 125 "'threads' must be one of fill, found 'all'" "another word is a mistake" hrun -app show -N 8 ./show '{N}'

# A real program, which finds out for itself.
hybrid=$bin/hybrid
for m in 1 2; do
    run hrun -q --config "(1,$m)" -app hybrid -N 100 "$hybrid" '{N}' --check 1
    status_is 0 "hybrid: $m processes have as many threads as cores"
    out_has "check: ok" "and the right result"
    out_has "threads $cores" "on all cores"
done
run hrun -q --config "(1,1)" -app hybrid -N 100 -x OMP_NUM_THREADS=1 "$hybrid" '{N}' --check 1
status_is 1 "its check finds a process with fewer threads than cores"
run hrun -q --config "(1,2)" -app hybrid -N 100 "$hybrid" '{N}' --spoil 1
status_is 1 "and a wrong result"

# The same through mpirun, whatever it would do by itself.
for m in 1 2; do
    run hrun -q --engine mpirun --config "(1,$m)" -app hybrid -N 100 "$hybrid" '{N}' --check 1
    status_is 0 "engine mpirun: $m processes have as many threads as cores"
done

# Calibration: each number of processes per PE is its own split, and has its own model.
export HRUN_DATA=$tmp/hybrid
run hrun-calibrate --full-grid --sizes 32,64,96,128 -r 1 -app hybrid "$hybrid"
status_is 0 "calibration of hybrid"
ok "measures both splits, under the name of the key" python3 -c '
import glob, json, os
log = glob.glob(os.environ["HRUN_DATA"] + "/profiles/hybrid/*.log")[0]
lines = [json.loads(l.split("\t")[0]) for l in open(log)]
assert all(l["ok"] and l["consts"] == "threads:fill" and "-node-" in l["signature"] for l in lines), lines
assert {(l["M"], l["N"]) for l in lines} == {(m, n) for m in (1, 2) for n in (32, 64, 96, 128)}, lines'
run hrun --dry-run --json -app hybrid -N 112 "$hybrid"
ok "the model chooses among them" python3 -c '
import json, sys
p = json.load(open(sys.argv[1]))
m = p["config"][0]["procs_per_pe"]
assert p["chosen_by"] == "model" and m in (1, 2) and p["predicted_s"] > 0 and len(p["next_best"]) == 1, p
assert sum(r["threads"] for r in p["ranks"]) == int(sys.argv[2]), p' "$tmp/.out" "$cores"
run hrun -app hybrid -N 112 "$hybrid" '{N}' --check 1
status_is 0 "and it runs"
err_has "predicted" "with a prediction"
run hrun --dry-run -app hybrid -N 112 -x OMP_NUM_THREADS=1 "$hybrid"
out_has "measured with other constants, this run has threads:1; to use the profile: no OMP_NUM_THREADS" "a fixed number does not use that profile"
run hrun-calibrate --full-grid --dry-run --sizes 32,64,96,128 -r 1 -app hybrid "$hybrid"
out_has "0 runs to make" "nothing is left to be measured"
sed '/^threads:/d' "$apps/hybrid.yaml" >defs/hybrid.yaml
run hrun-calibrate --full-grid --dry-run --level node --sizes 32,64,96,128 -r 1 -app hybrid "$hybrid"
out_has "8 runs to make" "but without the key all is"
done_testing
