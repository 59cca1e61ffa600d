#!/bin/bash
# Launching real Open MPI programs through each engine: size, binding, status, signals, stdin, output; nothing left.
. "$(dirname "$0")/tap.sh"
two_cores
cd "$tmp" || exit 1
cp "$bin/probe" probe || exit 1
probe=$tmp/probe      # a name that no other test starts
before=$(litter)

# Processes of probe that are still there, children of its own included.
leftover() { pgrep -f "$tmp/(mpich-)?probe" | tr '\n' ' '; }
# wait_for TEXT FILE: until TEXT is in FILE, at most 200 s.
wait_for() { for _ in $(seq 2000); do grep -q "$1" "$2" 2>/dev/null && return 0; sleep 0.1; done; return 1; }
nothing_left() {
    local n
    for n in $(seq 600); do [ -z "$(leftover)" ] && break; sleep 0.1; done
    out="processes: $(leftover) files: $(litter)"
    ok "$1: no process is left" test -z "$(leftover)"
    ok "$1: nothing is left" nothing_new "$before"
}

if unshare -u true 2>/dev/null; then
    run unshare -u bash -c 'hostname "$(printf "h%.0s" {1..64})" && exec "$@"' bash hrun --engine local -n 2 "$probe" ring
    status_is 0 "engine local on a host whose name is as long as Linux allows"
    out_has "ring good" "all ranks are in one job"
else
    skip "a host with a long name" "unshare -u is not permitted"
fi
for engine in local mpirun local+mpich ssh+mpich; do
    probe=$tmp/probe
    if [[ $engine == *+mpich ]]; then
        cp "$bin/mpich/probe" mpich-probe 2>/dev/null || { skip "${engine%+*} with MPICH" "mpicc.mpich is not there"; continue; }
        probe=$tmp/mpich-probe
    fi
    h="hrun --engine ${engine%+*}"
    run $h -n 2 "$probe" info ring big
    status_is 0 "$engine: an MPI program runs"
    out_has "rank 0 of 2" "$engine: rank 0 of 2"
    out_has "rank 1 of 2" "$engine: rank 1 of 2"
    cpus=$(printf '%s\n' "$out" | sed -n 's/.*cpus \([0-9,]*\) .*/\1/p' | sort -u | wc -l)
    ok "$engine: each process is bound to a PE of its own" test "$cpus" = 2
    run $h --dry-run --json -n 2 "$probe"
    planned=$(python3 -c 'import json,sys; print(",".join(r["pus"] for r in json.load(open(sys.argv[1]))["ranks"]))' "$tmp/.out")
    run $h -n 2 "$probe" info
    real=$(printf '%s\n' "$out" | sort | sed -n 's/.*cpus \([0-9,]*\) .*/\1/p' | paste -sd,)
    ok "$engine: the real binding is the planned one ($planned, $real)" test "$planned" = "$real"

    run $h --config '(1,3)' "$probe" info barriers=2000
    status_is 0 "$engine: three processes on one PE"
    out_has "of 3" "$engine: they know each other"
    ok "$engine: and who waits in a barrier gives the CPU to the others" \
        awk '$1 == "yields" { n = $2 } END { exit !(n >= 2000) }' "$tmp/.out"
    run $h --config '(1,3)' --mca mpi_yield_when_idle 0 "$probe" barriers=10
    out_has "yields 0" "$engine: unless the user says otherwise"
    run $h -n 2 "$probe" barriers=10
    out_has "yields 0" "$engine: a process that has its PE to itself keeps it"

    run $h -n 2 "$probe" @1exit=3
    status_is 3 "$engine: the status of a rank that exits 3"
    run $h -n 2 "$probe" @1abort=7 spin
    status_is 7 "$engine: MPI_Abort(7)"
    run $h -n 2 "$probe" @1kill=11 spin
    status_is 139 "$engine: a segmentation fault is 139"
    run $h -n 1 sh -c 'tr "\0" "\n" <"/proc/$PPID/cmdline" | grep -qx rank && kill -USR1 $PPID; kill -SEGV $$'
    status_is 139 "$engine: also where hrun-shim beside the rank has got another signal before"
    nothing_left "$engine, after failures"

    printf 'one\ntwo\n' > in
    "$build/bin/hrun" --engine ${engine%+*} -n 2 "$probe" @0stdin <in >"$tmp/.out" 2>"$tmp/.err"
    status=$? out=$(cat .out) err=$(cat .err)
    out_has "$(printf 'one\ntwo')" "$engine: rank 0 reads standard input"

    run $h -n 2 --tag-output "$probe" info
    out_has "<stdout>" "$engine: --tag-output"
    FROM_OUTSIDE=kept run $h -x FROM_OUTSIDE -x NEW=value -n 1 "$probe" env=FROM_OUTSIDE env=NEW
    out_has kept "$engine: -x NAME passes a variable on"
    out_has value "$engine: -x NAME=VALUE sets one"
    mkdir -p elsewhere
    run $h -n 1 --wdir elsewhere "$probe" info
    out_has "$tmp/elsewhere" "$engine: --wdir"
    run $h -n 1 --wdir elsewhere env
    out_has "PWD=$tmp/elsewhere" "$engine: PWD is that directory"
    run $h -n 1 -- "$probe" out=3
    status_is 0 "$engine: -- ends the options"
    run $h --mca mpi_param_check 0 -n 1 "$probe" env=OMPI_MCA_mpi_param_check
    status_is 0 "$engine: --mca"
    out_has "OMPI_MCA_mpi_param_check=0" "$engine: the processes see its value"

    run $h --timeout 1 -n 2 "$probe" spin
    status_is 124 "$engine: --timeout"
    err_has "the job did not end within 1 s: ending it" "$engine: and says so"
    run $h --timeout 1 -n 2 "$probe" term-ignore spin
    status_is 124 "$engine: --timeout of processes that ignore SIGTERM"
    nothing_left "$engine, after timeouts"

    for sig in INT:130 TERM:143 HUP:129; do
        want=${sig#*:} sig=${sig%:*}
        rm -f "$tmp/.out"     # wait_for would see what the run before wrote
        # Shells start background jobs with SIGINT ignored, nohup SIGHUP, and hrun leaves ignored what was ignored.
        env --default-signal=INT,HUP "$build/bin/hrun" --engine ${engine%+*} -n 2 "$probe" info spin \
            </dev/null >"$tmp/.out" 2>"$tmp/.err" &
        pid=$!
        wait_for "rank 1" "$tmp/.out"
        kill -$sig $pid
        wait $pid
        status=$? err=$(cat "$tmp/.err")
        status_is $want "$engine: SIG$sig ends the run with 128 + its number"
        nothing_left "$engine, after SIG$sig"
    done
    rm -f "$tmp/.out"
    "$build/bin/hrun" --engine ${engine%+*} -n 2 "$probe" trap info sleep=3 </dev/null >"$tmp/.out" 2>"$tmp/.err" &
    pid=$!
    wait_for "rank 1" "$tmp/.out"
    kill -USR1 $pid
    wait $pid
    status=$? out=$(cat "$tmp/.out") err=$(cat "$tmp/.err")
    out_has "signal 10" "$engine: SIGUSR1 reaches the application"
done

probe=$tmp/probe
# SIGKILL of hrun itself: the processes end with it; folders go with the next run.
rm -f "$tmp/.out"
"$build/bin/hrun" -n 2 "$probe" info spin </dev/null >"$tmp/.out" 2>/dev/null &
pid=$!
wait_for "rank 1" "$tmp/.out"
kill -9 $pid
wait $pid 2>/dev/null
run hrun -n 1 "$probe" info
nothing_left "local, after SIGKILL of hrun and one more run"

# A rank that leaves without MPI_Finalize does not hang the others.
run timeout 300 hrun -n 2 "$probe" @1nofinalize spin
ok "a rank that leaves early ends the job ($status)" test "$status" != 0 -a "$status" != 124
# A grandchild does not survive.
run hrun -n 1 "$probe" child=60
nothing_left "local, after a child that stays"

# mpirun's own failure is not the program's.
run hrun --engine mpirun --mca ess nosuch -n 1 /bin/true
status_is 125 "mpirun: a failure of mpirun itself"
err_has "before it started a process" "and is told as one"

# On a terminal the program sees one, also where hrun reads its output for the time in it.
cat > onterm <<'P'
#!/bin/sh
[ -t 1 ] && echo "on a terminal" || echo "no terminal"
echo "time: 1 s"
P
chmod +x onterm
run script -qec "hrun -q --no-record -app lu -N 100 -n 1 ./onterm '{N}'" /dev/null
out_has "on a terminal" "a captured program on a terminal writes to one"
out_has "time: 1 s" "and all that it writes arrives"
run hrun -q --no-record -app lu -N 100 -n 1 ./onterm '{N}'
out_has "no terminal" "and to none where hrun does not"

probe=$tmp/probe
# Programs that are no MPI programs, scripts, and programs of another MPI.
run hrun -n 2 /bin/echo hello
ok "a program without MPI runs twice" test "$(grep -c hello "$tmp/.out")" = 2
printf '#!/bin/sh\nexec "%s" "$@"\n' "$probe" > wrapper
chmod +x wrapper
run hrun -n 2 ./wrapper info
out_has "rank 1 of 2" "a script that starts an MPI program"
if command -v mpicc.mpich >/dev/null; then
    cat > mpich.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int c, char **v)
{
    int r, n;
    MPI_Init(&c, &v);
    MPI_Comm_rank(MPI_COMM_WORLD, &r);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    sleep(3);
    printf("mpich rank %d of %d\n", r, n);
    MPI_Finalize();
    return 0;
}
C
    mpicc.mpich -o mpich mpich.c 2>/dev/null
    printf '#!/bin/sh\n./mpich\n' > mpich-wrapper
    chmod +x mpich-wrapper
    fails 125 "MPICH" "mpirun: a program linked with MPICH is refused" hrun --engine mpirun -n 2 ./mpich
    printf '#!/bin/sh\nx=mpich; exec ./$x\n' > mpich-hidden
    chmod +x mpich-hidden
    run hrun -n 2 ./mpich-wrapper
    status_is 0 "local: a script that names an MPICH program"
    out_has "mpich rank 1 of 2" "which runs as one world"
    # hrun sees the library, or MPI_Init fails first; both say what to write.
    found_out() { case "$status $err" in 125*"Say --mpi mpich"* | [1-9]*"with_--mpi_mpich"*) ;; *) false ;; esac; }
    run hrun -n 2 ./mpich-hidden
    ok "a script that hides one is found out, and what to write is said" found_out
    run hrun --mpi mpich -n 2 ./mpich-hidden
    out_has "mpich rank 1 of 2" "--mpi mpich: what it starts is one world"
    run hrun --mpi openmpi -n 2 ./mpich-wrapper
    ok "--mpi openmpi: and not where the user is wrong" found_out
    fails 125 "leave --mpi out" "--mpi that contradicts the program" hrun --mpi openmpi -n 2 ./mpich
    printf '#!/bin/sh\nexec "%s" "$@"\n' "$probe" > wrapper
    run hrun --mpi mpich -n 2 ./wrapper sleep=3
    status_is 125 "--mpi mpich of a script that starts a program of Open MPI"
    err_has "Say --mpi openmpi" "is found out"
    printf '#!/bin/sh\n./mpich && ./mpich\n' > mpich-twice
    chmod +x mpich-twice
    run hrun -n 2 ./mpich-twice
    ok "two programs of MPICH, one after another in one process, fail ($status)" test "$status" != 0
    fails 125 "has called MPI_Init" "a program of MPICH that none of its processes initialises" \
        hrun -n 2 "$bin/mpich/probe" nompi
    run hrun --mpi mpich -n 2 /bin/true
    status_is 125 "the same of a program that shows no MPI"
    for script in ./mpich-wrapper ./mpich-hidden; do
        run hrun --engine mpirun -n 2 $script
        ok "mpirun: $script, which starts an MPICH program, fails ($status)" test "$status" != 0
        out_lacks "of 1" "before it runs as processes of one rank each"
    done
    nothing_left "programs of MPICH"
else
    skip "MPICH" "mpicc.mpich is not installed"
fi

# Another application that nobody here wrote.
if command -v hpcc >/dev/null; then
    mkdir -p hpcc && cd hpcc
    OPENBLAS_NUM_THREADS=1 run hrun --profile-path "$top/share/profiles" -app hpcc -N 1000 hpcc
    status_is 0 "hpcc runs under hrun -app hpcc -N 1000 hpcc"
    ok "and its HPL passes" grep -q 'HPL_time=' hpccoutf.txt
    echo "mine" > hpccinf.txt
    OPENBLAS_NUM_THREADS=1 run hrun --profile-path "$top/share/profiles" -app hpcc -N 500 -n 1 hpcc
    err_has "your hpccinf.txt stays as it is" "with an input file of the user's it runs as well"
    ok "whose results are added" test "$(grep -c '^HPL_N=' hpccoutf.txt)$(grep '^HPL_N=500' hpccoutf.txt)" = 2HPL_N=500
    ok "and which stands as it was" grep -qx mine hpccinf.txt
    cd ..
else
    skip "hpcc" "hpcc is not installed"
fi
# What the processes find of their bindings, and what happens where it is not the plan's.
for engine in local mpirun; do
    run hrun -q --engine $engine --report-bindings -n 1 "$probe"
    status_is 0 "$engine: --report-bindings"
    err_has ": rank 0 is bound to PUs " "$engine: the process tells its binding"
    err_has ", as planned" "$engine: and that it is the planned one"
    # Of two -x of a name Open MPI 5 takes the first.
    [ "$engine" = local ] || ! mpirun --version | grep -q 'MPI) 5\|PRRTE' || continue
    run hrun -q --engine $engine --report-bindings -n 1 -x HRUN_RANKS=0=4095 touch bad
    status_is 125 "$engine: a process that is not bound as planned fails"
    ok "$engine: and has not begun" test ! -e bad
done
run env PMIX_RANK=0 HRUN_RANKS=0=4095 HRUN_RANKS_DO=report hrun-shim rank touch bad
status_is 125 "hrun-shim compares without binding"
err_has "and not, as planned, to 4095" "and names both"
ok "the program has not begun" test ! -e bad
nothing_left "at the end"

# A session of its own has a share of its own of a busy processor, and no way to yield to another one.
# shellcheck disable=SC2016
session='cut -d " " -f 6 /proc/$$/stat'
here=$(sh -c "$session")
run hrun -q --engine local --oversubscribe -n $(($(nproc) * 2)) sh -c "$session"
ok "processes that share cores are in hrun's session" test "$(sort -u <<<"$out")" = "$here"
run hrun -q --engine local -n 1 sh -c "$session"
if [ "$(cat /proc/sys/kernel/sched_autogroup_enabled 2>/dev/null)" = 1 ] && ! [[ $(hrun --dry-run -n 1 true) = *yield* ]]; then
    ok "one that has its core for itself has a session, too" test "$out" != "$here"
else
    ok "one that need not have a session has none" test "$out" = "$here"
fi
done_testing
