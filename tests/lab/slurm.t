#!/bin/bash
# slurm.t - inside allocations of a real Slurm: gathering, grouping, engine srun
# shellcheck source=tests/lab/lib.sh
. "$(dirname "$0")/lib.sh"

lab_up "fast1 60 0-1 fast" "fast2 60 0-1 fast" "slow1 40 0 slow" "slow2 40 0 slow"
slurm_up || { echo "1..0 # SKIP no Slurm here: $why"; exit 0; }
probe=$bin/probe

# all CMD...: CMD in an allocation of all four hosts. part: one CPU of fast1, fast2 and slow1.
all() { run timeout 60 "$slurm_tool" exec salloc -Q --exclusive -N 4 -n 6 "$@"; }
part() { run timeout 60 "$slurm_tool" exec salloc -Q -w fast1,fast2,slow1 -N 3 -n 3 --ntasks-per-node=1 "$@"; }
het() { run timeout 60 "$slurm_tool" exec salloc -Q --exclusive -w fast1,fast2 -n 4 : -w slow1 -n 1 "$@"; }
teh() { run timeout 60 "$slurm_tool" exec salloc -Q --exclusive -w slow1 -n 1 : -w fast1,fast2 -n 4 "$@"; }
# Open MPI over Slurm's PMIx crashes or hangs in MPI_Init once in some hundred runs: such an end is not ours.
again() { # STATUS CMD...: once more if it did not end so
    local want=$1
    shift
    "$@"
    [ "$status" = "$want" ] || { echo "# status $status in place of $want, once more: $ran"; printf '%s\n' "$err" | head -n 5 | sed 's/^/#   /'; "$@"; }
}
# The CPUs that the ranks saw, sorted by rank: "0:0 1:1 ..."
bindings() { printf '%s\n' "$out" | sed -n 's/^rank \([0-9]*\) of [0-9]* cpus \([0-9,]*\) .*/\1:\2/p' | sort -n | tr '\n' ' '; }
hosts_of() { printf '%s\n' "$out" | sort -t' ' -k1,1 | tr '\n' ' '; }

# ---------------------------------------------------------------- gathering and grouping
all hrun --show-cluster --level core
status_is 0 "the allocation is discovered"
out_has "Slurm job" "its source is named"
out_has "fast[1-2]" "hosts of one kind make a sub-cluster"
out_has "slow[1-2]" "and those of the other kind"
out_has "Lab Fast" "by what each host says of itself"
out_has "srun" "engine srun is taken by itself"

again 0 part hrun -q --level core "$probe" info
[ "$(bindings)" = "0:0 1:0 2:0 " ] && tap_report 1 "CPUs that are not granted are not used" ||
    tap_report 0 "CPUs that are not granted are not used: $(bindings)"

# What was asked for by -n and -c of salloc is started: without -n whole nodes are.
again 0 run timeout 60 "$slurm_tool" exec salloc -Q -n1 -c2 hrun -q "$probe" info
[ "$(bindings)" = "0:0,1 " ] && tap_report 1 "a task with two CPUs" || tap_report 0 "a task with two CPUs: $(bindings)"
again 0 run timeout 60 "$slurm_tool" exec salloc -Q --exclusive -N2 -w fast1,fast2 -n3 hrun -q --level core "$probe" info
[ "$(bindings)" = "0:0 1:1 2:0 " ] && tap_report 1 "three tasks on two nodes" || tap_report 0 "three tasks on two nodes: $(bindings)"
again 0 run timeout 60 "$slurm_tool" exec salloc -Q --exclusive -N2 -w fast1,fast2 hrun -q --level core "$probe" info
[ "$(bindings)" = "0:0 1:1 2:0 3:1 " ] && tap_report 1 "no tasks on two nodes" || tap_report 0 "no tasks on two nodes: $(bindings)"

# Where the user says where processes go.
again 0 all hrun -q --map-by node --bind-to core --level node "$probe" info
[ "$(bindings)" = "0:0 1:0 2:0 3:0 4:1 5:1 " ] && tap_report 1 "--map-by node: hosts in turn" ||
    tap_report 0 "--map-by node: hosts in turn: $(bindings)"
again 0 part hrun -q -npernode 1 --bind-to none "$probe" info
[ "$(bindings)" = "0:0 1:0 2:0 " ] && tap_report 1 "--bind-to none: what is granted, and no more" ||
    tap_report 0 "--bind-to none: what is granted, and no more: $(bindings)"

fails 125 "slow2" "a host that is not granted is refused" timeout 60 "$slurm_tool" exec salloc -Q -w fast1,fast2 -N 2 -n 2 \
    hrun --host fast1,slow2 "$probe"

# ---------------------------------------------------------------- placement
again 0 all hrun -q --level core "$probe" info ring
status_is 0 "six ranks, one per core"
[ "$(bindings)" = "0:0 1:1 2:0 3:1 4:0 5:0 " ] && tap_report 1 "each on its core" || tap_report 0 "each on its core: $(bindings)"
out_has "ring good" "they are one world"

again 0 all hrun -q --level core --oversubscribe -n 13 "$probe" info env=OMPI_MCA_mpi_yield_when_idle ring
status_is 0 "more ranks than cores, round and round the hosts"
[ "$(bindings)" = "0:0 1:1 2:0 3:1 4:0 5:0 6:0 7:1 8:0 9:1 10:0 11:0 12:0 " ] && tap_report 1 "in the plan's order" ||
    tap_report 0 "in the plan's order: $(bindings)"
out_has "rank 12 OMPI_MCA_mpi_yield_when_idle=1" "ranks that share a core yield"

# shellcheck disable=SC2016
again 0 all hrun -q --level core --oversubscribe -n 13 sh -c 'echo "$PMIX_RANK $(hostname)"'
[ "$(printf '%s\n' "$out" | sort -n | cut -d' ' -f2 | tr '\n' ' ')" = \
    "fast1 fast1 fast2 fast2 slow1 slow2 fast1 fast1 fast2 fast2 slow1 slow2 fast1 " ] &&
    tap_report 1 "each rank is on its host" || tap_report 0 "each rank is on its host"

again 0 all hrun -q --report-bindings --level core "$probe"
status_is 0 "--report-bindings"
err_has "fast2: rank 3 is bound to PUs 1, as planned" "tells what each rank is bound to"

all hrun --dry-run --level core "$probe" a "b c"
out_has "would run: env OMPI_MCA_mpi_yield_when_idle=1 srun --mpi=pmix" "the dry run shows a command"
command=$(printf '%s\n' "$out" | sed -n 's/.*would run: //p')
all bash -c "${command/ a */ info}"
status_is 0 "that can be typed"
[ "$(printf '%s\n' "$out" | grep -c '^rank .* of 6 ')" = 6 ] && tap_report 1 "and starts the same" || tap_report 0 "and starts the same"

# Slurm's PMIx looks for the nodes of a step among the first ones of the job, and its processes wait for nobody: always
# where it may not connect directly, else once in a few runs.
again 0 all env SLURM_PMIX_DIRECT_CONN=false hrun -q --level core --host slow1,slow2 --timeout 20 "$probe" info ring
status_is 0 "a step on the last nodes of the job"
out_has "ring good" "is one world"
again 0 all env SLURM_PMIX_DIRECT_CONN=false hrun -q --level core --host fast2,slow2,fast1 --timeout 20 "$probe" ring
out_has "ring good" "and on some of them, in another order"
# shellcheck disable=SC2016
all hrun -q --level core --host slow2 sh -c 'echo "$SLURM_JOB_NODELIST"'
[ "$out" = slow2 ] && tap_report 1 "it is told its own nodes" || tap_report 0 "it is told its own nodes: $out"
all hrun-calibrate --full-grid --data "$tmp/data" --profile-path "$top/tests/apps" --use lab-slow --sizes 100,200 -r 1 \
    --timeout 20 "$bin/lu"
status_is 0 "the sub-cluster of the last nodes is calibrated"
err_lacks "failed" "and no run fails"

# ---------------------------------------------------------------- what processes get
again 0 all hrun -q --level core --wdir /tmp -x FOO="a b" --mca some_key 7 "$probe" @5info env=FOO env=OMPI_MCA_some_key
out_has "rank 5 of 6 cpus 0 cwd /tmp" "--wdir"
out_has "rank 4 FOO=a b" "-x"
out_has "rank 3 OMPI_MCA_some_key=7" "--mca"
all env SLURM_EXPORT_ENV=NONE SLURM_NTASKS_PER_NODE=1 SLURM_CPUS_PER_TASK=2 SLURM_LABELIO=1 MINE=1 hrun -q --level core "$probe" env=MINE
out_has "rank 5 MINE=1" "options of srun in the environment do not get in the way"
printf '%s\n' "$out" | grep -q '^[0-9]: ' && tap_report 0 "nor change the output" || tap_report 1 "nor change the output"

again 0 all hrun -q --level core --tag-output "$probe" out=1 @2err=2
out_has "[5]<stdout>: rank 5 line 0" "--tag-output"
err_has "[2]<stderr>: rank 2 line 1" "and of standard error"
again 0 all bash -c "echo some text | hrun -q --level core $probe stdin"
[ "$out" = "some text" ] && tap_report 1 "rank 0 reads standard input" || tap_report 0 "rank 0 reads standard input"
again 0 all hrun -q --level core "$probe" @1err=3
[ "$err" = "$(printf 'rank 1 line 0\nrank 1 line 1\nrank 1 line 2')" ] && tap_report 1 "standard error is the program's alone" ||
    tap_report 0 "standard error is the program's alone"

# ---------------------------------------------------------------- programs of MPICH
mpich=$bin/mpich/probe
if [ -x "$mpich" ]; then
    all hrun -q --level core "$mpich" info ring big
    status_is 0 "a program of MPICH over four hosts"
    [ "$(bindings)" = "0:0 1:1 2:0 3:1 4:0 5:0 " ] && tap_report 1 "each rank on its core" ||
        tap_report 0 "each rank on its core: $(bindings)"
    out_has "ring good" "they are one world"
    good=0
    for _ in 1 2 3 4 5 6; do all hrun -q --level core --timeout 30 "$mpich" ring; [ "$status" = 0 ] && good=$((good + 1)); done
    [ "$good" = 6 ] && tap_report 1 "MPI_Finalize ends each time" || tap_report 0 "MPI_Finalize ends each time ($good of 6)"
    all hrun -q --level core --oversubscribe -n 13 --timeout 60 "$mpich" info ring
    status_is 0 "more of them than cores"
    for end in "3 barriers=3 @4exit=3 spin" "7 barriers=3 @1abort=7 spin" "139 barriers=3 @5kill=11 spin" \
        "137 barriers=3 @2kill=9 spin" "1 barriers=3 @3nofinalize spin"; do
        want=${end%% *}
        # shellcheck disable=SC2086
        all hrun -q --level core --timeout 40 "$mpich" ${end#* }
        status_is "$want" "with MPICH: ${end#* }"
    done
    all hrun --dry-run --level core "$mpich" a
    out_has "srun --mpi=pmi2" "the dry run shows the command"
    all hrun -q --level core --report-bindings "$mpich"
    err_has "fast2: rank 3 is bound to PUs 1, as planned" "--report-bindings with MPICH"
    het hrun -q --level core "$mpich" info ring
    status_is 0 "a heterogeneous job with MPICH, by ssh"
    out_has "rank 4 of 5" "is one world"
    het hrun -q --level core --engine srun "$mpich" info
    status_is 125 "srun of it"
    err_has "within one component" "is refused to programs of MPICH"
    all_clean "programs of MPICH"
else
    skip "programs of MPICH" "mpicc.mpich is not there"
fi

# ---------------------------------------------------------------- how it ends
ends() { # STATUS WORDS WHAT CMD...
    local want=$1 words=$2 what=$3
    shift 3
    again "$want" all "$@"
    status_is "$want" "$what"
    err_has "$words" "$what: said so"
}
ends 3 "rank 4 exited with status 3" "a rank exits with 3" hrun -q --level core "$probe" @4exit=3 sleep=30
ends 7 "rank 1 aborted the job with status 7" "MPI_Abort" hrun -q --level core "$probe" @1abort=7 sleep=30
ends 139 "rank 5 was killed by signal 11" "a rank crashes" hrun -q --level core "$probe" @5kill=11 sleep=30
ends 137 "rank 2 was killed by signal 9" "a rank is killed" hrun -q --level core "$probe" @2kill=9 sleep=30
ends 1 "rank 3 exited without calling MPI_Finalize" "a rank leaves MPI" hrun -q --level core "$probe" @3nofinalize sleep=30
# shellcheck disable=SC2016
ends 5 "rank 2 exited with status 5" "a program without MPI" \
    hrun -q --level core sh -c 'if [ $PMIX_RANK = 2 ]; then exit 5; fi; sleep 30'
# shellcheck disable=SC2016
ends 137 "rank 2 was killed by signal 9" "a process without MPI is killed" \
    hrun -q --level core sh -c 'if [ $PMIX_RANK = 2 ]; then kill -9 $$; fi; trap "exit 4" TERM; sleep 30 & wait'
ends 124 "did not end within 2 s" "the time limit" hrun -q --level core --timeout 2 "$probe" term-ignore sleep=60
ends 127 "no-such-program" "a program that is not there" hrun -q --level core ./no-such-program
all_clean "nothing is left"

# started NAME: its ranks run, as they have written a file each.
started() { [ "$(ls "$tmp/$1".rank.* 2>/dev/null | wc -l)" = 6 ]; }
# signalled NAME SIGNAL... -- STATUS WHAT [WORDS OF PROBE]: signals to hrun while the job runs.
# shellcheck disable=SC2016
signalled() {
    local name=$1 sigs=() want what
    shift
    while [ "$1" != -- ]; do sigs+=("$1"); shift; done
    want=$2 what=$3
    shift 3
    background "$name" "$slurm_tool" exec salloc -Q --exclusive -N 4 -n 6 sh -c \
        'echo $$ >'"$tmp/$name.pid"'; exec hrun -q --level core sh -c '\''>'"$tmp/$name"'.rank.$PMIX_RANK; '"$1"\'
    await 20 started "$name" || echo "# $name did not start"
    sleep 0.5
    for s in "${sigs[@]}"; do
        on_head sh -c 'pid=$(cat '"$tmp/$name.pid"'); kill -'"$s"' $pid'
        sleep 0.5
    done
    finish "$name" 20
    [ "$want" = any ] || status_is "$want" "$what"
}
signalled int INT -- 130 "SIGINT ends the ranks" "sleep 60"
signalled caught TERM -- 0 "SIGTERM reaches the ranks, which may end well" 'trap "exit 0" TERM; sleep 60 & wait'
signalled twice INT INT -- 130 "a second SIGINT kills" 'trap "" INT TERM; sleep 60'
signalled user USR1 -- 0 "SIGUSR1 reaches the ranks" 'trap "exit 0" USR1; sleep 60 & wait'
all_clean "nothing is left after signals"

# hrun is killed: its srun goes, and the ranks with it.
signalled killed KILL -- any "SIGKILL of hrun" "sleep 60"
all_clean "no process survives it"

# shellcheck disable=SC2016
background cancelled "$slurm_tool" exec salloc -Q --exclusive -N 4 -n 6 sh -c \
    'echo $SLURM_JOB_ID >'"$tmp/cancelled.id"'; hrun -q --level core sh -c ">'"$tmp"'/cancelled.rank.\$PMIX_RANK; sleep 60"; echo "status $?"'
await 20 started cancelled
in_slurm scancel "$(cat "$tmp/cancelled.id")"
finish cancelled 20
out_has "status 143" "scancel of the job"
all_clean "nothing is left after scancel"

# ---------------------------------------------------------------- several programs
cp "$probe" "$tmp/one"
cp "$probe" "$tmp/two"
apps_of() { printf '%s\n' "$out" | sed -n 's/^rank \([0-9]*\) is \([^,]*\),.*/\1:\2/p' | sort -n | xargs; }
again 0 all hrun -q --level core -genv A 7 -n 1 "$tmp/one" app ring env=A : -n 5 "$tmp/two" app ring env=A "env=a 'b"
ok 'two programs in a step' test "$status $(apps_of)" = '0 0:one 1:two 2:two 3:two 4:two 5:two'
ok '-genv reaches all, in one world' test "$(printf '%s\n' "$out" | grep -c 'A=7$\|good')" = 7
out_has "rank 5 a 'b=" 'each has its arguments'
again 7 all hrun -q --level core -n 1 "$tmp/one" barriers=1 : -n 2 "$tmp/two" barriers=1 @2exit=7
status_is 7 'the status of the one that fails'
again 0 het hrun -q --level core -n 2 "$tmp/one" app ring : -n 3 "$tmp/two" app ring
ok 'two programs in a heterogeneous job' test "$status $(apps_of)" = '0 0:one 1:one 2:two 3:two 4:two'
run all hrun --dry-run --level core -n 1 "$tmp/one" a : -n 5 "$tmp/two" b
out_has "exec $tmp/one a; exec $tmp/two b'" 'the dry run has a command for it'
if [ -x "$bin/mpich/probe" ]; then
    cp "$bin/mpich/probe" "$tmp/three"
    again 0 all hrun -q --level core -n 1 "$mpich" app ring : -n 5 "$tmp/three" app ring
    ok 'two programs of MPICH' test "$status $(apps_of)" = '0 0:probe 1:three 2:three 3:three 4:three 5:three'
fi

# ---------------------------------------------------------------- two at once, batch, heterogeneous, mpirun
# shellcheck disable=SC2016
again 0 all sh -c 'hrun -q --level core '"$probe"' ring & hrun -q --level core '"$probe"' ring; a=$?; wait $! && exit $a'
status_is 0 "two jobs at once in one allocation"
[ "$(printf '%s\n' "$out" | grep -c 'ring good')" = 2 ] && tap_report 1 "both are complete" || tap_report 0 "both are complete"

printf '#!/bin/sh\nhrun -q --level core %s info ring\n' "$probe" >"$tmp/batch.sh"
run timeout 60 "$slurm_tool" exec sbatch -W -Q --exclusive -N 4 -n 6 -o "$tmp/batch.out" "$tmp/batch.sh"
out=$(cat "$tmp/batch.out")
out_has "ring good" "a batch script, hrun on the first node"
[ "$(bindings)" = "0:0 1:1 2:0 3:1 4:0 5:0 " ] && tap_report 1 "each rank on its core there too" ||
    tap_report 0 "each rank on its core there too: $(bindings)"

# shellcheck disable=SC2016
again 0 het hrun -q --level core --oversubscribe -n 7 sh -c 'echo "$PMIX_RANK $(hostname)"'
[ "$(printf '%s\n' "$out" | sort -n | cut -d' ' -f2 | tr '\n' ' ')" = "fast1 fast1 fast2 fast2 fast1 fast1 slow1 " ] &&
    tap_report 1 "a heterogeneous job, ranks component by component" ||
    tap_report 0 "a heterogeneous job, ranks component by component"
again 0 het hrun -q --level core "$probe" ring info
out_has "ring good" "is one world"
[ "$(bindings)" = "0:0 1:1 2:0 3:1 4:0 " ] && tap_report 1 "bound" || tap_report 0 "bound: $(bindings)"
again 3 het hrun -q --level core "$probe" @4exit=3 sleep=30
status_is 3 "a rank of the second component fails"
err_has "rank 4 exited with status 3" "and is named by its number"
# shellcheck disable=SC2016
again 0 teh hrun -q --level core sh -c 'echo "$PMIX_RANK $(hostname)"'
[ "$(printf '%s\n' "$out" | sort -n | cut -d' ' -f2 | tr '\n' ' ')" = "slow1 fast1 fast1 fast2 fast2 " ] &&
    tap_report 1 "the components go before the sub-clusters" || tap_report 0 "the components go before the sub-clusters"
again 0 teh hrun -q --level core "$probe" info ring
status_is 0 "components whose nodes Slurm's PMIx mixes up"
out_has "ring good" "are one world by mpirun"
[ "$(bindings)" = "0:0 1:0 2:1 3:0 4:1 " ] && tap_report 1 "bound" || tap_report 0 "bound: $(bindings)"
again 3 teh hrun -q --level core "$probe" @4exit=3 sleep=30
status_is 3 "the status of a rank there"
again 0 teh hrun -q --level core -n 2 "$tmp/one" app ring : -n 3 "$tmp/two" app ring
ok "two programs there" test "$status $(apps_of)" = '0 0:one 1:one 2:two 3:two 4:two'
teh hrun -q --engine srun --level core "$probe" ring
status_is 125 "engine srun"
err_has "use --engine mpirun" "refuses them"

again 0 all hrun -q --engine mpirun --level core --oversubscribe -n 8 "$probe" info ring
status_is 0 "engine mpirun in an allocation"
out_has "ring good" "its daemons come by srun"
fails 125 "inside a Slurm allocation" "engine srun outside of one" on_head hrun --engine srun "$probe"
all_clean "nothing is left in the end"
# ---------------------------------------------------------------- a node dies
# Slurm believes in a node for five minutes unless told otherwise.
"$slurm_tool" down
SLURM_LAB_CONF=SlurmdTimeout=5 slurm_up
await 20 in_slurm sh -c '[ $(sinfo -h -N -t idle -o %N | wc -l) = 4 ]'
# shellcheck disable=SC2016
background dies timeout 100 "$slurm_tool" exec salloc -Q --no-kill --exclusive -N 4 -n 6 sh -c '
    hrun -q --level core sh -c ">'"$tmp"'/dies.rank.\$PMIX_RANK; sleep 70"; echo "lost $?"
    hrun --refresh --show-cluster; echo "asked $?"
    hrun --refresh --skip-unreachable --show-cluster; echo "skipped $?"'
await 20 started dies
lab kill slow2
finish dies 90
out_has "lost 125" "a node dies while the job runs"
err_has "host 'slow2' was lost during the run" "which is said"
out_has "asked 125" "a node that is down when asked"
err_has "host 'slow2' did not answer: Unable to create step" "is named with Slurm's own reason"
out_has "skipped 0" "or left out"
out_has "fast[1-2]" "and the others are asked all the same"
all_clean "the others are clean"
done_testing
