#!/bin/bash
# Where the user says where processes go: --map-by, --rank-by, --bind-to, --rankfile and their like count, as with
# Open MPI, whose maps are compared with hrun's.
. "$(dirname "$0")/tap.sh"
two_cores
cd "$tmp" || exit 1

# ---------------------------------------------------------------- the same as mpirun

# The hosts of ranks, and the cores that they are mapped to: "0:0/0-3 1:1/0-3". $topology: of both hosts; $slots.
hrun_map() {
    printf 'subclusters:\n  - {name: a, hosts: "127.0.0.[11-12]", topology: "%s"}\n' "$topology" >cluster.yaml
    hrun -q --cluster cluster.yaml "$@" --dry-run --json true 2>&1 | python3 -c '
import json, sys
for r in json.load(sys.stdin)["ranks"]:
    print("%d:%d/%s" % (r["rank"], int(r["host"][-2:]) - 11, r["cores"]), end=" ")'
}
# mpirun can simulate hosts; "" where it cannot, or dies of it.
mpirun_map() {
    HWLOC_THISSYSTEM=1 timeout 300 mpirun --mca ras simulator --mca ras_simulator_num_nodes 2 --mca ras_simulator_topo_files \
        "$tmp/topology.xml" --mca ras_simulator_slots "$slots" --mca ras_simulator_max_slots "$slots" \
        --host "nodeA0:$slots,nodeA1:$slots" --do-not-launch --display-devel-map "$@" true 2>/dev/null </dev/null | python3 -c '
import re, sys
node, rank, got = 0, None, {}
for line in sys.stdin:
    m = re.search(r"Data for node: nodeA(\d)", line)
    node = int(m.group(1)) if m else node
    m = re.search(r"Data for proc: \[\[\d+,\d+\],(\d+)\]", line)
    rank = int(m.group(1)) if m else rank
    m = re.search(r"Locale: +(\S+)", line)
    if m:
        cores = [k for k, c in enumerate(re.split(r"/|\]\[", m.group(1).strip("[]"))) if "B" in c]
        fold = "" if not cores else "%d" % cores[0] if len(cores) == 1 else "%d-%d" % (cores[0], cores[-1])
        got[rank] = (node, fold if m.group(1) != "NODE" else "NODE")
for r in sorted(got):
    print("%d:%d/%s" % (r, *got[r]), end=" ")'
}
same() { # WORDS...
    local real ours
    real=$(mpirun_map "$@")
    ours=$(hrun_map "$@")
    # Where ranks are mapped to hosts alone nothing is said of cores.
    case $real in *NODE*) ours=$(sed 's,/[^ ]*,/NODE,g' <<<"$ours") ;; esac
    case $real in
    0:*) out="mpirun: $real" err="hrun:   $ours" ok "as mpirun: $*" test "$real" = "$ours" ;;
    *) skip "as mpirun: $*" "this mpirun simulates no hosts" ;;
    esac
}
json() { python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$tmp/.out" "$1"; }
while IFS='|' read -r topology slots words; do
    lstopo-no-graphics -f --input "$topology" topology.xml 2>/dev/null
    while read -ra line; do
        same "${line[@]}"
    done <<<"$(tr ';' '\n' <<<"$words")"
done <<'END'
pack:2 numa:2 l3:1 core:4 pu:2|16|-np 20 --map-by slot;-np 5 --map-by node;-np 7 --bynode;-np 20 --map-by numa --rank-by node;--map-by socket
pack:2 numa:2 l3:1 core:4 pu:2|16|-np 8 --map-by numa --rank-by core;-np 8 --map-by numa --rank-by socket;-np 24 --map-by core --rank-by node
pack:2 numa:2 l3:1 core:4 pu:2|16|-np 8 --map-by ppr:2:socket --rank-by socket:span --bind-to socket;-np 5 --map-by ppr:2:numa --bind-to numa
pack:2 numa:2 l3:1 core:4 pu:2|16|-npernode 3;-pernode;-np 3 -npernode 2;-np 7 --map-by node --rank-by slot;-np 20 --map-by l3cache
pack:4 numa:1 l3:1 l2:2 core:2 pu:1|16|-np 16 --rank-by core;-np 16 --rank-by slot;-np 2 --rank-by core;-np 20 --rank-by numa;-np 7 --rank-by socket
pack:1 core:6 pu:1|6|-np 8 --map-by core;--map-by core;-np 9 --map-by slot;-np 3 --map-by slot:PE=2;-np 4 --map-by node:PE=3
END

# ---------------------------------------------------------------- bound for real

run hrun -n 2 --map-by core --report-bindings true
status_is 0 "--map-by core"
err_has "rank 0 is bound to PUs" "the bindings are told"
run hrun -n 2 --bind-to none --report-bindings sh -c 'grep Cpus_allowed_list /proc/self/status'
ok "--bind-to none: processes may use what hrun may" test "$(printf '%s\n' "$out" | sort -u)" = "$(grep Cpus_allowed_list /proc/self/status)"
if [ "$(nproc)" -gt 1 ]; then
    for engine in local mpirun; do
        printf 'rank 1=+n0 slot=0\nrank 0=localhost slot=1\n' >ranks
        run hrun --engine $engine -rf ranks --report-bindings sh -c 'taskset -cp $$ | sed "s/.*: //"'
        status_is 0 "engine $engine: --rankfile"
        ok "two processes, on a core each" test "$(printf '%s\n' "$out" | sort -u | wc -l)" = 2
        run hrun --engine $engine -n 2 --map-by slot --bind-to none --report-bindings "$bin/probe" info
        status_is 0 "an MPI program that is not bound"
        run hrun --engine $engine --map-by slot:PE=2 --report-bindings sh -c 'echo one; taskset -cp $$ >&2'
        ok "PE=2: as many processes as find two cores" test "$(grep -c one <<<"$out")" = $(($(nproc) / 2))
    done
    run hrun --host localhost:1 --map-by slot:PE=2 --report-bindings true
    status_is 0 "slots of a host count processes: they may have several cores each"
fi
# Slots count processes, whether cores or hardware threads are counted; without slots a host has one for each core.
lstopo-no-graphics -f --input "pack:2 [numa] core:3 pu:4" threads.xml 2>/dev/null
threads() { run env HWLOC_XMLFILE="$tmp/threads.xml" HWLOC_THISSYSTEM=0 hrun -q --dry-run --json "$@" true; }
for words in "4 --host localhost:4 --use-hwthread-cpus" "24 --use-hwthread-cpus" "6 --map-by hwthread" \
    "2 --host localhost:2 --map-by hwthread" "6 -n 6 --map-by hwthread" "9 -n 9 --map-by hwthread:oversubscribe"; do
    # shellcheck disable=SC2086
    threads ${words#* }
    ok "${words#* }: ${words%% *} processes" test "$(json 'd["P"]')" = "${words%% *}"
done
for words in "-n 7 --map-by hwthread" "-n 5 --host localhost:4 --use-hwthread-cpus" "-n 3 --host localhost:2 --map-by hwthread"; do
    # shellcheck disable=SC2086
    threads $words
    err_has "there is room for" "$words"
done
run hrun --map-by node --dry-run true
out_has "mapping      by node, bound to core; rank host:cores" "a dry run tells the mapping"
run hrun -n 1 --map-by slot:DISPLAY true
err_has "mapping      by slot" ":DISPLAY tells it, too"
fails 125 "there is room for" "more than there is room for" hrun -n 1000 --map-by core true
fails 125 "give one of them" "not with what lets hrun choose" hrun --map-by core --config 1,1 true
fails 125 "hrun: --map-by sokcet: unknown word 'sokcet'; there are slot, node" "a mistyped word" hrun --map-by sokcet true
fails 125 "ranks:1: a line is like" "a bad rankfile" sh -c 'echo bad >ranks; hrun --rankfile ranks true'

# ---------------------------------------------------------------- a model only predicts

cat >cluster.yaml <<'END'
subclusters:
  - {name: new, hosts: "127.0.0.[2-3]", topology: "[numa] package:1 core:4 pu:1"}
  - {name: old, hosts: "127.0.1.[1-4]", topology: "[numa] package:1 core:2 pu:1"}
END
. "$top/tests/cli/madelog.sh"
put <<<$'alone new 2\nalone old 4'
hrun-calibrate fit lu >/dev/null 2>&1
told() { run hrun -q --cluster cluster.yaml --dry-run --json -app lu -N 2000 "$@" "$bin/lu"; }
told --config 2,1,4,1
want=$(field 'p["predicted_s"]')
told --map-by ppr:1:node
ok "a mapping that is a configuration has its prediction" test "$(field 'p["predicted_s"], p["chosen_by"], p["P"]')" = "($want, 'user', 6)"
told -n 6 --map-by node --rank-by slot
ok "however it is said" test "$(field 'p["predicted_s"]')" = "$want"
told -n 7 --map-by slot
ok "another has none" test "$(field 'p["config"], p["predicted_s"], [r["host"][-3:] for r in p["ranks"]].count("0.2")')" = "(None, None, 4)"
# Tasks that a job grants bound what the model chooses, and are what is started without one; -n goes beyond them.
slurm() { # TASKS_PER_NODE WORDS...
    local tasks=$1
    shift
    run env SLURM_JOB_ID=7 "SLURM_JOB_NODELIST=127.0.0.[2-3]" "SLURM_JOB_CPUS_PER_NODE=4(x2)" SLURM_NTASKS=3 \
        SLURM_TASKS_PER_NODE="$tasks" hrun -q --cluster cluster.yaml --dry-run --json "$@"
}
slurm 2,1 -app lu -N 2000 "$bin/lu"
ok "the model chooses no more processes than are granted" test "$(field 'p["chosen_by"], p["P"] <= 3')" = "('model', True)"
slurm 2,1 -app lu -N 2000 -n 4 "$bin/lu"
ok "-n may ask for more" test "$(field 'p["P"]')" = 4
while IFS='|' read -r tasks words want; do
    # shellcheck disable=SC2086
    slurm "$tasks" $words true
    got=$(field '" ".join("%s:%s" % (r["host"][-1], r["cores"]) for r in p["ranks"])')
    out="$got $err" ok "$tasks tasks, $words" test "$got" = "$want"
done <<'END'
2,1||2:0-1 2:2-3 3:0-1
1,2|-n 2|2:0-1 3:0-1
2,1|--bind-to none|2:0-3 2:0-3 3:0-3
1,2|--oversubscribe|2:0-1 3:0-1 3:2-3
3(x2)|--map-by core|2:0 2:1 2:2 3:0 3:1 3:2
END
run env SLURM_JOB_ID=7 SLURM_JOB_NODELIST=127.0.0.2 SLURM_JOB_CPUS_PER_NODE=4 SLURM_NTASKS=2 SLURM_TASKS_PER_NODE=2 \
    SLURM_CPUS_PER_TASK=1 hrun --cluster cluster.yaml --dry-run true
out_has "P = 2  (2,1)  as Slurm job 7 grants" "a dry run tells it"
out_has "0 127.0.0.2:0  1 127.0.0.2:1" "each with SLURM_CPUS_PER_TASK cores"
out_has "Slurm job 7 grants 2 processes: -n, " "and how to start more"
run env SLURM_JOB_ID=7 SLURM_JOB_NODELIST=127.0.0.2 SLURM_JOB_CPUS_PER_NODE=4 SLURM_NTASKS=6 SLURM_TASKS_PER_NODE=6 \
    hrun --cluster cluster.yaml --dry-run true
err_has "Slurm job 7 grants 6 processes, but cores for 4 only: -n 6 --oversubscribe starts all" "tasks that share cores"
told -n 6 --bind-to core
ok "--bind-to alone: the model chooses, and processes are bound to a core of their PE" test \
    "$(field 'p["chosen_by"], set(len(r["cores"]) for r in p["ranks"])')" = "('model', {1})"
printf 'subclusters:\n  - {name: a, hosts: "127.0.0.[11-12]", topology: "pack:2 numa:1 core:2 pu:1"}\n' >cluster.yaml
run hrun -q --cluster cluster.yaml -app hybrid -N 128 --map-by ppr:1:node:pe=3 --dry-run --json "$bin/hybrid"
ok "threads: fill gives a process as many threads as it has cores" test \
    "$(field '[(r["cores"], r["threads"]) for r in p["ranks"]]')" = "[('0-2', 3), ('0-2', 3)]"
run hrun -q --cluster cluster.yaml -n 3 --dry-run --json true
ok "-n of more processes than there are hosts fills their cores" test \
    "$(field '[r["host"][-2:] + ":" + r["cores"] for r in p["ranks"]]')" = "['11:0-1', '11:2-3', '11:0-1']"
fails 125 "--dry-run=time predicts configurations" "--dry-run=time with a mapping" \
    hrun --dry-run=time -app lu -N 2000 --map-by node "$bin/lu"

# ---------------------------------------------------------------- -N

run hrun -q --cluster cluster.yaml -N 2 --dry-run --json true
out_has '"mapping": "2 on each node' "-N 2 on two hosts: processes per node"
run hrun --cluster cluster.yaml -N 2 -n 4 --dry-run true
err_has "hrun: -N 2 without an app definition is taken as mpirun's processes per node; the problem size is --size" \
    "it is said"
fails 125 "mpirun's -N, processes per node, is -npernode here" "too many for a host" \
    hrun --cluster cluster.yaml -N 5 --dry-run true
fails 125 "-npernode here" "-n does not fit" hrun --cluster cluster.yaml -N 2 -n 5 --dry-run true
fails 125 "-npernode here" "one host, and no -n" hrun -N 1 true
fails 125 "-npernode here" "-N is more than -n" hrun -N 2 -n 1 true
fails 125 "-npernode here" "--size is a size" hrun --cluster cluster.yaml --size 2 --dry-run true
fails 125 "-npernode here" "{N} is a size" hrun --cluster cluster.yaml -N 2 --dry-run echo '{N}'
run bash -c 'hrun -n 1 --rankfile <(echo "rank 0=localhost slot=0") echo piped'
out_has piped "a rankfile may be a pipe"
done_testing
