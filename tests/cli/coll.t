#!/bin/bash
# Tuned collective operations: every way of every operation gives what the MPI library gives, in C and Fortran, and what
# is not ours to do reaches the library.
. "$(dirname "$0")/tap.sh"
two_cores
cd "$tmp" || exit 1
lib=$build/lib/hrun/libhrun-coll.so
mpi=(timeout -k 5 120 mpirun --oversubscribe --mca mpi_yield_when_idle 1)
before=$(litter)

# [selector=NAME] [tell=1] text RANKS [RECORD...]: what hrun tells the library, of three made-up hosts on two switches
# with the ranks dealt out to them in turn; between 2 and 30 kB gathers are irregular.
text() {
    local n=$1 records
    shift
    records="b,2,$n,3,2,2,1,${selector:-unheard_of};o,0.1,0,0,${tell:-0};w,65536,0,0,0,0,0;t,2000,30000,0.2;s,0,1,1"
    records+=";c,0,1e-6,1e-10,0,0,0,1,1e-6,1e-10"
    records+=";c,1,5e-5,5e-9,1e8,1e8,1e9,2,1e-6,1e-9,2e-6,2e-9,2e-6,2e-9,3e-6,3e-9"
    records+=";p,0,0,1e-5,1e9;p,0,1,1e-5,1e8;p,1,0,1e-5,1e8;p,1,1,1e-5,1e8;g,0,1,1e7;g,1,0,1e7"
    records+=";h,0,0,0;h,1,1,0;h,2,0,1"
    for ((r = 0; r < n; r++)); do records+=";r,$r,$r,$((r % 3 < n ? r % 3 : 0)),$((r % 3 == 1 && r > 3))"; done
    for r in "$@"; do records+=";$r"; done
    echo "$records;e,$(tr -cd ';' <<<"$records" | wc -c | awk '{ print $1 + 1 }')"
}

# check RANKS TEXT [WORD...]: collcheck with that text.
check() {
    local n=$1 words=$2
    shift 2
    run "${mpi[@]}" -np "$n" -x LD_PRELOAD="$lib" -x HRUN_COLL="$words" "$bin/collcheck" "$@"
}
# took OP: of its calls none reached the library; left OP: all did.
took() { ok "$2: no $1 is left to the library" grep -qE "^$1: [1-9][0-9]* calls, 0 reached" <<<"$out"; }
left() { ok "$2: each $1 is left to the library" grep -qE "^$1: ([1-9][0-9]*) calls, \1 reached" <<<"$out"; }

# It is built from lib/net and lib/base, of which a program of a user must see nothing.
seen=$(nm -D --defined-only "$lib" | awk '{ print $3 }' | grep -vE '^(mpi_|MPI_|hrun_coll_(pmpi|PMPI)_)')
ok 'it has no names but those of MPI' test -z "$seen"
needed=$(readelf -d "$lib" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^lib(c|m|dl)\.so')
ok 'and needs the C library alone' test -z "$needed"

for n in 2 5 8; do
    case $n in 2) ways=linear ;; 5) ways="linear binomial hosts" ;; *) ways=hosts ;; esac
    for way in $ways; do
        [ $way = linear ] && bcast=greedy || bcast=$way
        check $n "$(text $n "f,gather,$way" "f,scatter,$way" "f,bcast,$bcast")" errors
        status_is 0 "$n ranks, $way: ends well"
        out_has 'differing: 0' "$n ranks, $way: the same, byte by byte"
        for op in gather scatter bcast; do took $op "$n ranks, $way"; done
        for op in gatherv scatterv; do
            if [ "$way" = linear ]; then took $op "$n ranks, $way"; else left $op "$n ranks, $way"; fi
        done
    done
done
check 5 "$(text 5 f,gather,pieces f,scatter,untuned f,bcast,untuned)"
out_has 'differing: 0' 'pieces: the same, byte by byte'
took gatherv 'pieces'
ok 'pieces: gathers below and above the region are left to the library' \
    grep -qE '^gather: [1-9][0-9]* calls, [1-9][0-9]* reached' <<<"$out"
ok 'pieces: those in it are not' \
    test "$(awk '/^gather:/ { print ($2 > $4) }' <<<"$out")" = 1
for op in scatter scatterv bcast; do left $op 'untuned'; done
check 4 "$(text 4 f,gather,hosts f,scatter,hosts f,bcast,greedy)" threads errors
out_has 'differing: 0' 'two threads at once, and the errors of wrong arguments'

# ---------------------------------------------------------------- without a word, everything is the library's
hosts=$(text 4 f,gather,hosts)
for what in '' "$(text 3)" "$(text 4 x,1)" "${hosts%e,*}e,1" "b,1${hosts#b,2}"; do
    check 4 "$what"
    status_is 0 "HRUN_COLL=$(cut -c 1-20 <<<"$what")...: runs"
    out_has 'differing: 0' 'the same'
    for op in gather bcast; do left $op 'a text that does not fit'; done
done
check 4 "$(text 4)"
for op in gather bcast; do left $op 'a selector that is not known'; done
check 4 "$(selector=openmpi text 4)"
out_has 'differing: 0' 'by the model: the same'
ok 'by the model: some gathers are taken' test "$(awk '/^gather:/ { print ($2 > $4) }' <<<"$out")" = 1

# ---------------------------------------------------------------- what was proposed is tried

# 40 calls of one broadcast, which the model would do another way; a trial takes ten of them, by the clock: what else the
# machine does in these milliseconds may decide it, so that it is asked up to three times.
tries() { # WHO WANT WHAT
    local _
    for _ in 1 2 3; do
        check 6 "$(selector=openmpi text 6)" slow="$1"
        [[ $out == *"slow: $2 of 40 were the library's"* ]] && break
    done
    out_has "slow: $2 of 40 were the library's" "$3"
    out_has 'differing: 0' 'and gives the same'
}
tries library 5 'a way that is quicker stays after five calls of each'
tries ours 35 'one that is slower does not, whatever the model says'

# ---------------------------------------------------------------- Fortran, with both of its modules

if command -v mpifort >/dev/null && command -v gfortran >/dev/null; then
    for module in mpi mpi_f08; do
        cat >$module.f90 <<F
program p
  use $module
  integer :: e, r, n, i, bad
  integer :: counts(8), places(8)
  double precision :: a(1000), b(8000), c(1000)
  call MPI_Init(e)
  call MPI_Comm_rank(MPI_COMM_WORLD, r, e)
  call MPI_Comm_size(MPI_COMM_WORLD, n, e)
  bad = 0
  a = r
  counts = 1000
  places = [(1000 * (i - 1), i = 1, 8)]
  call MPI_Gather(a, 1000, MPI_DOUBLE_PRECISION, b, 1000, MPI_DOUBLE_PRECISION, 1, MPI_COMM_WORLD, e)
  if (r == 1) then
    do i = 1, n
      if (any(b(1000*i-999:1000*i) /= i - 1)) bad = bad + 1
    end do
    b(1001:2000) = 77
    call MPI_Scatter(b, 1000, MPI_DOUBLE_PRECISION, MPI_IN_PLACE, 1000, MPI_DOUBLE_PRECISION, 1, MPI_COMM_WORLD, e)
    if (any(b(1001:2000) /= 77)) bad = bad + 1
    b(1001:2000) = 1
    call MPI_Gatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, counts, places, MPI_DOUBLE_PRECISION, 1, MPI_COMM_WORLD, e)
    do i = 1, n
      if (any(b(1000*i-999:1000*i) /= i - 1)) bad = bad + 1
    end do
  else
    call MPI_Scatter(b, 1000, MPI_DOUBLE_PRECISION, c, 1000, MPI_DOUBLE_PRECISION, 1, MPI_COMM_WORLD, e)
    if (any(c /= r)) bad = bad + 1
    call MPI_Gatherv(c, 1000, MPI_DOUBLE_PRECISION, b, counts, places, MPI_DOUBLE_PRECISION, 1, MPI_COMM_WORLD, e)
  end if
  call MPI_Scatterv(b, counts, places, MPI_DOUBLE_PRECISION, c, 1000, MPI_DOUBLE_PRECISION, 1, MPI_COMM_WORLD, e)
  if (any(c /= r)) bad = bad + 1
  if (r == 1) a = 42
  call MPI_Bcast(a, 1000, MPI_DOUBLE_PRECISION, 1, MPI_COMM_WORLD, e)
  if (any(a /= 42)) bad = bad + 1
  call MPI_Allreduce(MPI_IN_PLACE, bad, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, e)
  if (r == 0) print '(A,I0)', 'wrong ', bad
  call MPI_Finalize(e)
end
F
        if mpifort -o $module $module.f90 2>$module.err; then
            for way in hosts linear; do
                run "${mpi[@]}" -np 4 -x LD_PRELOAD="$lib" \
                    -x HRUN_COLL="$(text 4 f,gather,$way f,scatter,$way f,bcast,hosts)" ./$module
                out_has 'wrong 0' "Fortran, $module, $way: all is right"
            done
            run "${mpi[@]}" -np 4 -x LD_PRELOAD="$build/lib/hrun/libhrun-trace.so:$lib" -x HRUN_TRACE=4 \
                -x HRUN_COLL="$(text 4 f,gather,hosts f,scatter,hosts f,bcast,hosts)" ./$module
            out_has 'wrong 0' "Fortran, $module: behind libhrun-trace.so too"
            err_has 'c,2,Gather,1,' 'which counts what the program calls'
        else
            err=$(cat $module.err)
            tap_report 0 "a Fortran program with $module builds"
        fi
    done
else
    skip 'Fortran' 'no mpifort and gfortran here'
fi

# ---------------------------------------------------------------- hrun --tune-collectives

run hrun --tune-collectives -n 2 "$bin/collcheck"
status_is 0 'without a network the program runs'
err_has 'not tuned: the network of these hosts was not measured; measure it: hrun-calibrate network' \
    'and hrun says how to measure it'
run hrun --tune-collectives --dry-run -n 2 "$bin/collcheck"
err_has 'measure it: hrun-calibrate network' 'the dry run says it as well'
run hrun --tune-collectives -n 1 "$bin/probe"
err_has 'not tuned: there is one process alone' 'one process'
run hrun-calibrate network -q -r 5
status_is 0 'the network of this host is measured'
for engine in local mpirun; do
    run hrun --tune-collectives --engine $engine -n 2 "$bin/probe" env=HRUN_COLL env=HRUN_PRELOAD env=LD_PRELOAD
    status_is 0 "$engine: a tuned run"
    ok "$engine: nothing of it is left to what the program starts" test "$(grep -c '=(unset)' <<<"$out")" = 6
    err_lacks 'not tuned' "$engine: is tuned"
    run hrun --tune-collectives --trace --engine $engine -n 2 "$bin/collcheck"
    out_has 'differing: 0' "$engine: the same, byte by byte, watched too"
    err_has 'the busiest process' "$engine: and the watch tells"
done

# ---------------------------------------------------------------- what is tuned is told

# A network on which gathers of 2000 to 50000 B are irregular, though none is.
network=$(ls "$HRUN_DATA"/networks/*.yaml)
cp "$network" kept.yaml
sed -i '/^# crc32/d; s/gather_M1: .*/gather_M1: 2000/; s/gather_M2: .*/gather_M2: 50000/
    s/irregular_s: .*/irregular_s: 0.2/; s/irregular_share: .*/irregular_share: 0.5/' "$network"
tuned=(hrun --tune-collectives --oversubscribe -n 4)
gathers=("$bin/collbench" 10 gather:20000 gatherv:9000)
run "${tuned[@]}" --dry-run "${gathers[@]}"
status_is 0 'a dry run'
ok 'tells which gathers would go in pieces' \
    grep -qE '^    gather +1\.95 KiB to [0-9.]+ KiB  pieces of 1000 B +[0-9.]+ to [0-9.]+ times as fast$' <<<"$out"
out_has 'irregular parts in pieces of' 'and those with counts'
run "${tuned[@]}" --dry-run --json "${gathers[@]}"
got=$(python3 -c '
import json, sys
t = json.load(sys.stdin)["tuning"]
print(t["why_not"], [(o["from_bytes"], o["segment_bytes"], o["speedup_least"] > 1.1) for o in t["operations"]
                     if o["operation"] == "gather" and o["way"] == "pieces"],
      [o["to_bytes"] for o in t["operations"] if o["operation"] == "gatherv"])' <<<"$out")
out=$got ok 'in JSON, too' test "$got" = 'None [(2000.0, 1000.0, True)] [None]'
for engine in local mpirun; do
    run "${tuned[@]}" --engine $engine -v "${gathers[@]}"
    status_is 0 "$engine -v: a run"
    err_has 'tuned operations, by the model' "$engine -v: says before it what would be tuned"
    # Of 50 calls 3 are waited for, 10 are tried, half of them our way, and the others go the quicker way.
    ok "$engine -v: and after it what was, and what became of it" grep -qE \
        '^  gather +16\.0 KiB +4 +0 +pieces of 964 B +(42 +stays: .* against|5 +dropped: .* against) Open MPI' <<<"$err"
    ok "$engine -v: of variants with counts, too" grep -qE '^  gatherv +any +4 +0 +linear, irregular parts' <<<"$err"
    ok "$engine -v: once" test "$(grep -c 'tuned operations, as rank 0 saw them' <<<"$err")" = 1
    ok "$engine -v: in words only" test -z "$(tr -cd '\036' <<<"$err$out")"
done
run "${tuned[@]}" --trace -v "${gathers[@]}"
err_has 'tuned operations, as rank 0 saw them' 'watched: what was tuned is told'
err_has 'the busiest process' 'and the watch tells'
run "${tuned[@]}" "${gathers[@]}"
err_lacks 'tuned operations' 'without -v nothing is told'
run "${tuned[@]}" -v "$bin/collbench" 1 gather:100
err_has 'no collective operation was tuned' 'nor where nothing was tuned, which is said'
# A prediction that is made of such a gather says so: that of 40000 B and more, which Open MPI does straight.
mkdir defs
cat >defs/gathering.yaml <<'END'
name: gathering
programs: [pattern]
rule: "P >= 1"
procs_per_pe: [1]
terms:
  np: ["gather(40000+N)"]
  n: ["N", "1"]
args: ["{N}"]
time: {match: '^time: ([0-9.eE+-]+) s$'}
sizes: [1000, 2000, 4000]
END
gathering=(--profile-path "$PWD/defs" -app gathering)
run hrun-calibrate "${gathering[@]}" -q "$bin/pattern"
status_is 0 'an application that gathers'
run hrun --dry-run "${gathering[@]}" -n 2 -N 3000 "$bin/pattern"
out_has 'irregular: gather(40000+N) is of a size at which gathers' 'a prediction of an irregular gather says so'
run hrun --dry-run --json "${gathering[@]}" -n 2 -N 3000 "$bin/pattern"
out_has '"irregular": "gather(40000+N)"' 'in JSON, too'
run hrun --dry-run "${gathering[@]}" -n 2 -N 30000 "$bin/pattern"
out_lacks 'irregular' 'one of a larger gather does not'
mv kept.yaml "$network"
run "${tuned[@]}" --dry-run "${gathers[@]}"
out_lacks 'pieces' 'where gathers are regular none goes in pieces'
check 4 "$(tell=1 text 4 f,gather,hosts)"
ok 'a way that is forced is told as such' grep -qE 'coll k,gather,4,0,[0-9]+,hosts,0,2,[1-9]' <<<"$err"
cat >many.c <<'C'
#include <mpi.h>
int main(int argc, char **argv)
{
    int own = 0, all[2];

    MPI_Init(&argc, &argv);
    for (int k = 0; k < 300; k++) {
        MPI_Comm comm;

        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int i = 0; i < 10; i++)
            MPI_Gather(&own, 1, MPI_INT, all, 1, MPI_INT, 0, comm);
        MPI_Comm_free(&comm);
    }
    MPI_Finalize();
    return 0;
}
C
mpicc -o many many.c
run "${mpi[@]}" -np 2 -x LD_PRELOAD="$lib" -x HRUN_COLL="$(tell=1 text 2 f,gather,linear)" ./many
ok 'of 300 choices 256 are told' test "$(grep -c 'coll k,gather,' <<<"$err")" = 256
ok 'and the others counted, each once' grep -qE 'coll m,44 ' <<<"$err"
run hrun --tune-collectives -n 2 sh -c 'echo "$HRUN_COLL"'
out_has "b,2,2,1,1,1,1,openmpi" 'the processes are told of their hosts'
run hrun --tune-collectives -n 2 -app pattern -N 100 "$bin/pattern" 100
status_is 0 'an application with a definition'
ok 'a tuned run is not kept' test ! -e "$HRUN_DATA/profiles/pattern"
run hrun -n 2 -app pattern -N 100 "$bin/pattern" 100
ok 'one that is not tuned is' test -e "$HRUN_DATA/profiles/pattern"
ok 'nothing is left' nothing_new "$before"

done_testing
