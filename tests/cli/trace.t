#!/bin/bash
# Watching: known calls are counted exactly, a known imbalance is seen, programs notice nothing, and what cannot be
# watched runs all the same.
. "$(dirname "$0")/tap.sh"
two_cores
cd "$tmp" || exit 1
pattern=$bin/pattern
lib=$build/lib/hrun/libhrun-trace.so
before=$(litter)

# What the newest record of pattern's log has.
newest_trace() { tail -n 1 "$(ls -t "$HRUN_DATA"/profiles/pattern/*.log | head -n 1)" | sed 's/.*"trace":"//; s/".*//'; }

# ---------------------------------------------------------------- the library alone: what each rank tells

# told ENVIRONMENT... -- PROGRAM...: 3 ranks, 0 and 1 on one PE; $lines gets the records.
told() {
    local env=()
    while [ "$1" != -- ]; do env+=(-x "$1"); shift; done
    shift
    run mpirun --oversubscribe --mca mpi_yield_when_idle 1 -np 3 -x LD_PRELOAD="$lib" "${env[@]}" "$@"
    lines=$(sed -n 's/.*hrun-trace \(.*\) [0-9a-f]*$/\1/p' "$tmp/.err" | tr ';' '\n')
}
record() { ok "$2" grep -qE "^$1\$" <<<"$lines"; }
told HRUN_TRACE=3 -- "$pattern" 1000 rounds=4
status_is 0 'a program with the library preloaded runs'
want=$(mpirun --oversubscribe --mca mpi_yield_when_idle 1 -np 3 "$pattern" 1000 rounds=4 2>/dev/null | grep sum)
out_has "$want" 'and computes the same'
err=$lines
record 'b,3' 'all ranks tell'
for r in 0 1 2; do
    for call in Isend,4 Startall,4 Waitall,8 Allreduce,4 Bcast,4 Alltoall,4 Send,4; do
        record "c,$r,$call,[0-9]+" "rank $r: $call calls"
    done
    record "r,$r(,[0-9]+){4}" "rank $r: its times"
done
told HRUN_TRACE=3 -- "$pattern" 1000 off rounds=4
record 'c,0,Isend,1,[0-9]+' 'MPI_Pcontrol(0) stops the watch'
told HRUN_TRACE=3 -- "$pattern" 1000 threads rounds=4
out_has "$want" 'a program with threads'
record 'c,1,Isend,4,[0-9]+' 'and the calls of its second thread'
told HRUN_TRACE=4 -- "$pattern" 1000
ok 'another number of ranks tells nothing' test -z "$lines"
told HRUN_TRACE=3 LD_BIND_NOW=1 -- "$bin/probe" ring env=LD_PRELOAD env=HRUN_TRACE
out_has 'ring good' 'a library bound at once works, too'
ok 'programs do not hand the watch on' test "$(grep -c '=(unset)' <<<"$out")" = 6

# Nobody reads the standard error of rank 0 any more, which the program does not write to.
run env OMPI_MCA_ess_singleton_isolated=1 HRUN_TRACE=1 LD_PRELOAD="$lib" python3 -c '
import os, subprocess, sys
r, w = os.pipe()
os.close(r)
sys.exit(subprocess.call(sys.argv[1:], stderr=w) % 256)' "$pattern" 100
status_is 0 'a program whose standard error is a broken pipe ends well'
out_has 'sum:' 'and says what it has to say'

# A program that loads MPI for itself alone, as Python does.
cat >ring.c <<'C'
#include <mpi.h>
int entry(void)
{
    int x = 1, sum = 0;
    MPI_Init(0, 0);
    MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return sum;
}
C
cat >loader.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    void *m = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : 0;
    int (*entry)(void) = m ? (int (*)(void))dlsym(m, "entry") : 0;
    printf("sum %d\n", entry ? entry() : -1);
    return 0;
}
C
if mpicc -shared -fPIC -o ring.so ring.c && cc -o loader loader.c -ldl; then
    told HRUN_TRACE=3 -- ./loader ./ring.so
    out_has 'sum 3' 'a program that loads MPI for itself alone runs'
    record 'c,2,Allreduce,1,[0-9]+' 'and is watched'
else
    tap_report 0 'a program that loads MPI builds'
fi

# Fortran, with both of its modules.
if command -v mpifort >/dev/null && command -v gfortran >/dev/null; then
    cat >old.f90 <<'F'
program p
  use mpi
  integer :: e, r, n, q(2)
  double precision :: a(10), b(10)
  call MPI_Init(e)
  call MPI_Comm_rank(MPI_COMM_WORLD, r, e)
  call MPI_Comm_size(MPI_COMM_WORLD, n, e)
  a = r
  call MPI_Allreduce(MPI_IN_PLACE, a, 10, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, e)
  call MPI_Irecv(b, 10, MPI_DOUBLE_PRECISION, mod(r+n-1,n), 0, MPI_COMM_WORLD, q(1), e)
  call MPI_Isend(a, 10, MPI_DOUBLE_PRECISION, mod(r+1,n), 0, MPI_COMM_WORLD, q(2), e)
  call MPI_Waitall(2, q, MPI_STATUSES_IGNORE, e)
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 2, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, e)
  if (r == 0) print '(A,F4.1)', 'sum ', b(10)
  call MPI_Finalize(e)
end
F
    sed -e 's/use mpi$/use mpi_f08/' -e 's/:: e, r, n, q(2)/:: r, n\n type(MPI_Request) :: q(2)/' -e 's/, e)$/)/' \
        -e 's/Init(e)/Init()/; s/Finalize(e)/Finalize()/' old.f90 >new.f90
    for module in old new; do
        mpifort -o "$module" "$module.f90" 2>/dev/null
        told HRUN_TRACE=3 -- "./$module"
        out_has 'sum  3.0' "Fortran, $module module: the program runs"
        err=$lines
        for call in Isend Allreduce Allgather Waitall; do
            record "c,1,$call,1,[0-9]+" "Fortran, $module module: $call is counted once"
        done
    done
else
    skip 'programs in Fortran are watched' 'there is no gfortran'
fi

# ---------------------------------------------------------------- hrun

for engine in local mpirun; do
    run hrun --trace --engine $engine -n 2 -app pattern -N 2000 "$pattern"
    status_is 0 "$engine: hrun --trace"
    out_has 'sum:' "$engine: the output is there"
    err_has 'the busiest process computes' "$engine: who waits is told"
    err_has 'watching took about' "$engine: and what it cost"
    err_lacks 'hrun-trace' "$engine: the library's lines are not passed on"
    ok "$engine: the times are in the record" grep -qE '^1 ranks=2 elapsed=.* mpi=.* overhead=' <<<"$(newest_trace)"
    run hrun --trace --tag-output --engine $engine -n 2 "$bin/probe" @0:err=2 env=LD_PRELOAD
    err_has '[0]<stderr>: rank 0 line 1' "$engine: errors of the program are kept"
    err_has 'the busiest process' "$engine: with tags it is watched, too"
    err_lacks 'hrun-trace' "$engine: and its lines taken out"
    ok "$engine: nothing is preloaded any more" test "$(grep -c 'LD_PRELOAD=(unset)' <<<"$out")" = 2
done
run hrun --trace --tag-output --oversubscribe --engine mpirun -n 24 "$pattern" 100
err_has 'the busiest process' 'mpirun: more lines than it reads at once, labelled'
err_lacks '0]<stderr>' 'and none of them is left'
run hrun -n 2 "$bin/probe" @0:err=1
err_lacks 'busiest' 'nobody watches unasked'
if [ -z "${HRUN_SANITIZE-}" ]; then
    LD_PRELOAD=libm.so.6 run hrun --trace -n 2 "$bin/probe" env=LD_PRELOAD
    ok "what the user preloads stays" test "$(grep -c 'LD_PRELOAD=libm.so.6' <<<"$out")" = 2
    err_has 'the busiest process' 'and the program is watched'
else
    skip 'what the user preloads stays' 'sanitizers have to be loaded first'
fi
run hrun --trace -n 2 -x LD_PRELOAD=libm.so.6 "$bin/probe" env=LD_PRELOAD
ok "so does what -x preloads" test "$(grep -c 'LD_PRELOAD=libm.so.6' <<<"$out")" = 2
err_has 'the busiest process' 'and the program is watched'
run hrun --trace --report-bindings -n 2 "$bin/probe" env=LD_PRELOAD env=HRUN_PRELOAD
ok "behind hrun-shim, too, nothing is handed on" test "$(grep -c '=(unset)' <<<"$out")" = 4
err_has 'the busiest process' 'and the program is watched'
run hrun --trace -n 2 sh -c "exec $bin/probe ring"
err_has 'the busiest process' 'a script that becomes an MPI program is watched'
run hrun --trace -n 2 true
status_is 0 'what is no MPI program runs'
err_has 'the time in MPI cannot be measured: the program is not linked with MPI' 'with a word'
run hrun --trace -n 2 "$bin/probe" @1exit=3
status_is 3 'a status is handed on'
err_lacks 'busiest' 'a failed run tells nothing'

# One process is twice as long outside MPI as the other: 200 ms in each round against 100. The mean is 150, the busiest
# has 1.33 times that; what a busy machine adds is little against it.
imbalance() { # WHAT ARGUMENT...
    local what=$1
    shift
    run hrun --trace -n 2 -app pattern -N 10 "$pattern" 10 rounds=10 ms=100 "$@"
    factor=$(sed -n 's/.*computes \([0-9.]*\) times.*/\1/p' <<<"$err")
}
imbalance slow slow=1
ok "a process that computes twice as long is seen ($factor times the mean one)" \
    awk "BEGIN { exit !($factor > 1.2 && $factor < 1.45) }"
slow=$factor
imbalance even
ok "and more so than when all compute alike ($factor)" awk "BEGIN { exit !($factor >= 1 && $factor < $slow) }"

# ---------------------------------------------------------------- hrun-calibrate

rm -rf "$HRUN_DATA"
run hrun-calibrate --full-grid --sizes 1000,2000,4000,8000 -r 1 -q -app pattern "$pattern"
status_is 0 'a calibration'
ok 'watches nothing unasked' \
    test "$(grep -c '"trace"' "$HRUN_DATA"/profiles/pattern/*.log)" = 0
run hrun-calibrate --full-grid --trace --again --sizes 1000,2000,4000,8000 -r 1 -q -app pattern "$pattern"
status_is 0 'a calibration with --trace'
ok 'watches all' test "$(grep -c '"trace":"1 ranks' "$HRUN_DATA"/profiles/pattern/*.log)" -ge 12
run hrun-calibrate show pattern
out_has 'imbalance' 'show has the imbalance'
out_has 'watching took' 'and what watching cost'
run hrun-calibrate show --json pattern
ok 'show --json has all of it' python3 -c '
import json, sys
p = json.load(open(sys.argv[1]))[0]
assert p["waits"][0]["runs"] >= 4 and p["waits"][0]["imbalance"] >= 1
assert 0 <= p["waits"][0]["overhead"] < 10
assert any(m["trace"] and m["compute_s"] > 0 for m in p["measurements"])' "$tmp/.out"
run hrun-calibrate --full-grid --trace --sizes 1000 -r 1 -app pattern sh -c ': {N}; echo time: 1.5 s'
ok 'of what cannot be watched a calibration says so once' \
    test "$(grep -c 'the time in MPI cannot be measured: the program is not linked with MPI' "$tmp/.err")" = 1
ok 'nothing is left' nothing_new "$before"
done_testing
