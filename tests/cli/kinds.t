#!/bin/bash
# A program of which nothing is known on one host with two kinds of cores: what is measured, kept, told and chosen. The
# host is this one, whose first two CPUs a made-up /sys calls a fast and a slow core.
. "$(dirname "$0")/tap.sh"
two_cores
cd "$tmp" || exit 1
if ! taskset -c 0,1 true 2>/dev/null || [ ! -e /sys/devices/system/cpu/cpu1/topology/core_id ]; then
    echo "1..0 # SKIP CPUs 0 and 1 are not both ours"
    exit 0
fi
cpu=/sys/devices/system/cpu
mkdir -p root/proc root$cpu
for f in online possible present; do echo 0-1 >root$cpu/$f; done
for i in 0 1; do
    mkdir -p root$cpu/cpu$i/topology
    echo $i >root$cpu/cpu$i/topology/core_id
    echo 0 >root$cpu/cpu$i/topology/physical_package_id
    for f in core_cpus thread_siblings; do echo $((1 << i)) >root$cpu/cpu$i/topology/$f; done
    for f in core_siblings package_cpus; do echo 3 >root$cpu/cpu$i/topology/$f; done
    echo $((1024 - 512 * i)) >root$cpu/cpu$i/cpu_capacity
done
cp /proc/cpuinfo /proc/meminfo root/proc
export HWLOC_FSROOT=$tmp/root HWLOC_THISSYSTEM=1
logs=$HRUN_DATA/profiles/pe-Kinds

kept() { ls $logs/*.log 2>/dev/null | wc -l; }
# So many rounds a second on the cores of kind0 and kind1, as if a benchmark had told that.
speeds() {
    python3 - "$logs" "$@" <<'P'
import glob, json, sys, zlib
for path in glob.glob(sys.argv[1] + "/*.log"):
    r = json.loads(open(path).readline().split("\t")[0])
    speed = float(sys.argv[2 + ("kind1" in r["signature"])])
    r.update(ok=True, status="ok", time_s=1 / speed)
    text = json.dumps(r, sort_keys=True, separators=(",", ":"))
    open(path, "w").write("%s\t%08x\n" % (text, zlib.crc32(text.encode())))
P
}
ranks() { printf '%s\n' "$out" | grep -c rank; }

run hrun --show-cluster
out_has "kind1" "the host has two kinds of cores"
run hrun --dry-run sh -c "echo rank"
out_has "not known: a run would first measure them, with all cores, in 1.5 s" "a dry run says what a run would measure"
is() { tap_report "$([ "$1" = "$2" ] && echo 1 || echo 0)" "$3 ($1)"; }
is "$(kept)" 0 "and measures nothing"
for words in "-n 2" "--config (1,1,1,1)" "--use xeon" "--map-by core" "--level node" "--use nothing"; do
    run hrun $words sh -c "echo rank"
    is "$(kept)" 0 "nor does a run with $words"
done

# ---- others use a core
for _ in 1 2 3 4; do
    taskset -c 0 sh -c 'while :; do :; done' &
    hogs="${hogs-} $!"
done
run hrun sh -c "echo rank"
status_is 0 "a run on a busy machine"
err_has "are not known, though measured in 1.5 s: other programs had core" "says that the benchmark is not to be trusted"
is "$(ranks)" 2 "it has one process per core"
run hrun sh -c "echo rank"
err_lacks "measured in" "the next run does not try again"
run hrun -v sh -c "echo rank"
err_has "less than an hour ago while other programs ran; --refresh" "with -v it says why"
run hrun --refresh sh -c "echo rank"
err_has "though measured in" "--refresh measures again"
kill $hogs
wait $hogs 2>/dev/null
HWLOC_FSROOT= HWLOC_SYNTHETIC="core:1 pu:2" run hrun --dry-run --json --level core --config "(1,2)" sh -c "echo rank"
is "$(printf %s "$out" | grep -c "\"pus\": \"0-1\"")" 2 "two processes on a core are bound to its hardware threads together"
is "$(kept)" 2 "what was measured is in the log of each kind"

# ---- what is known decides
speeds 100 80
run hrun sh -c "echo rank"
is "$(ranks)" 2 "a core that is 1.25 times as quick: both"
err_lacks "measured in" "nothing is measured"
err_lacks "times as quick" "nor told"
run hrun -v sh -c "echo rank"
err_has "cores of kind0 (1) are 1.2 times as quick as those of kind1 (1)" "but with -v"
speeds 100 95
run hrun -v sh -c "echo rank"
err_has "cores of kind0 and kind1 (2) are equally quick" "within 10 % they are one kind"
speeds 250 100
run hrun sh -c "echo rank"
is "$(ranks)" 1 "2.5 times as quick: the fast one alone"
err_has "1 process, one per core of kind0" "which is said"
run hrun -q sh -c "echo rank"
is "$(ranks)" 1 "-q changes no more than words"
run hrun --dry-run --json sh -c "echo rank"
out_has '"chosen_by": "kinds"' "for machines"
run hrun --dry-run sh -c "echo rank"
out_has "P = 1  (1,1,0,0)  one per core of kind0" "a dry run shows the choice"
speeds 200 100
run hrun sh -c "echo rank"
is "$(ranks)" 3 "twice as quick: two processes there and one on the slow core"
err_has "3 processes, 2 per core of kind0, one per core of kind1" "which is said"
run hrun --dry-run --level package sh -c "echo rank"
out_lacks "kind0 (1) are" "kinds do not count with --level package"
unset HWLOC_FSROOT HWLOC_THISSYSTEM
HWLOC_SYNTHETIC="core:4 pu:1" run hrun --dry-run sh -c "echo rank"
out_lacks "kinds of cores" "nor where the topology is a description"
export HWLOC_FSROOT=$tmp/root HWLOC_THISSYSTEM=1

# ---- what was run decides over speeds
printf '#!/bin/sh\n[ "$OMPI_COMM_WORLD_SIZE" = 2 ] && exec sleep 1.1\nsleep 5\n' >prog
chmod +x prog
speeds 250 100
run hrun ./prog
run hrun --config "(1,1,1,1)" ./prog
run hrun ./prog
err_has "2 processes, one per core, the quickest of 2 configurations that were run" "earlier runs decide over speeds"

# ---- with --explore the choice among kinds is what learning starts from
printf '#!/bin/sh\nexec sleep 1.$((4 * OMPI_COMM_WORLD_SIZE))\n' >learner
chmod +x learner
for time in first second; do
    run hrun --explore 5% ./learner
    err_has "1 process, one per core of kind0" "the $time run has what speeds say"
done
run hrun --dry-run --json --explore 5% ./learner
out_has '"learns"' "then runs tell"
is "$(printf %s "$out" | python3 -c 'import json, sys; print(json.load(sys.stdin)["learns"]["best"])')" "(1,1,0,0)" \
    "and that is the best known"

# ---- a process that hangs, and one SIGINT
children() { ps -o pid= --ppid "$1" | xargs; }
start() {
    rm -rf "$HRUN_DATA"
    before=$(litter)
    # The shell lets SIGINT be ignored by what it starts in the background.
    perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' hrun sh -c "echo rank" >bg.out 2>bg.err </dev/null &
    pid=$!
    for _ in $(seq 3000); do
        child=$(children $pid)
        [ "$(wc -w <<<"$child")" = 2 ] && break
        sleep 0.02
    done
}
start
kill -STOP ${child%% *}
wait $pid
status=$?
err=$(cat bg.err) out=$(cat bg.out) ran="hrun, with a benchmark that hangs"
status_is 0 "a benchmark that hangs is given up"
err_has "1 of 2 processes that time the cores have not answered" "which is said"
is "$(ranks)" 2 "and the program runs"
gone() { for _ in $(seq 2000); do kill -0 $child 2>/dev/null || return 0; sleep 0.05; done; return 1; }
ok "nothing is left of it" gone
start
kill -INT $pid
wait $pid
is $? 130 "SIGINT ends a benchmark"
ok "its processes" gone
is "$(kept)" 0 "nothing is kept"
ok "nor left" nothing_new "$before"
done_testing
