#!/bin/bash
# Definitions with `threads: fill` over unlike hosts: a host of two cores and one of one core in the same run.
. "$(dirname "$0")/lib.sh"

cpus=$(nproc)
[ "$cpus" -ge 2 ] || { echo "1..0 # SKIP two cores are needed"; exit 0; }
lab_up 'two 60 0-1 fast' 'one 30 1 slow' 'wide 60 0-1 fast'
export HRUN_PROFILE_PATH=$apps

# hosts HOSTS WORD...: hrun on head
hosts() {
    local list=$1
    shift
    run timeout 60 "$lab_tool" head hrun --host "$list" -app hybrid -q "$@"
}

# threads CONFIG HOSTS WANT: what each rank has, "rank host threads PUs"
# shellcheck disable=SC2016
tell='echo "$PMIX_RANK $(hostname) ${OMP_NUM_THREADS-none} $(sed -n "s/^Cpus_allowed_list:[[:space:]]*//p" /proc/self/status)"'
threads() {
    hosts "$2" --config "$1" --no-record -N 64 "${@:4}" sh -c "$tell"
    ok "$2 $1: $3" test "$(printf '%s\n' "$out" | sort -n | paste -sd ';')" = "$3"
}

# Sub-clusters are in the order of what they are: fast before slow.
threads '(1,1,1,1)' two,one '0 two 2 0-1;1 one 1 1'
threads '(1,2,1,1)' two,one '0 two 1 0;1 two 1 1;2 one 1 1'
threads '(1,1,1,2)' two,one '0 two 2 0-1;1 one 1 1;2 one 1 1'
threads '(2,2)' two,wide '0 two 1 0;1 two 1 1;2 wide 1 0;3 wide 1 1'
export OMP_NUM_THREADS=7
threads '(2,1)' two,wide '0 two 7 0-1;1 wide 7 0-1'
threads '(1,1,1,1)' two,one '0 two 3 0-1;1 one 3 1' -x OMP_NUM_THREADS=3
unset OMP_NUM_THREADS

hosts two,one --config '(1,1,1,1)' -N 120 "$bin/hybrid" '{N}' --check 1
status_is 0 "hybrid on unlike hosts: each process has as many threads as cores"
out_has "check: ok" "and the right result"
out_has "threads 3" "on all three cores"
hosts two,one --config '(1,1,1,1)' -x OMP_NUM_THREADS=2 -N 120 "$bin/hybrid" '{N}' --check 1
status_is 1 "its check finds a process with more threads than cores"
err_has "rank 1 is bound to 1 cores and has 2 threads" "and names it"

run timeout 300 "$lab_tool" head hrun-calibrate --full-grid \
    --host two,one -app hybrid --sizes 32,64,96 -r 1 -q "$bin/hybrid"
status_is 0 "calibration over unlike hosts"
ok "measures each split on each kind of host" python3 -c '
import glob, json, os
logs = glob.glob(os.environ["HRUN_DATA"] + "/profiles/hybrid/*.log")
kinds = [{(l["M"], l["N"]) for l in (json.loads(t.split("\t")[0]) for t in open(f))
          if l["origin"] == "calibration" and l["ok"] and l["consts"] == "threads:fill"} for f in logs]
want = {(m, n) for m in (1, 2) for n in (32, 64, 96)}
assert len(logs) == 2 and all(k == want for k in kinds), kinds'
all_clean "nothing is left on any host"

# The same by Slurm, in an allocation of these two hosts.
if slurm_up; then
    slurm() { run timeout 60 "$slurm_tool" exec salloc -Q --exclusive -w two,one -N 2 hrun --engine srun -app hybrid -q "$@"; }
    slurm --config '(1,1,1,1)' --no-record -N 64 sh -c "$tell"
    ok "engine srun: each process has its cores and threads" \
        test "$(printf '%s\n' "$out" | sort -n | paste -sd ';')" = '0 two 2 0-1;1 one 1 1'
    slurm --config '(1,2,1,1)' -N 120 "$bin/hybrid" '{N}' --check 1
    status_is 0 "hybrid finds as many threads as cores there too"
    all_clean "and nothing is left"
else
    skip "threads by Slurm" "$why"
fi
done_testing
