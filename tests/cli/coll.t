#!/bin/bash
# Tuned collective operations: every way of every operation gives what the MPI library gives, in C and Fortran, and what
# is not ours to do reaches the library.
. "$(dirname "$0")/tap.sh"
cd "$tmp" || exit 1
lib=$build/lib/hrun/libhrun-coll.so
mpi=(timeout -k 5 120 mpirun --oversubscribe --mca mpi_yield_when_idle 1)
before=$(litter)

# text RANKS [RECORD...]: what hrun tells the library, of three made-up hosts on two switches with the ranks dealt out to
# them in turn; between 2 and 30 kB gathers are irregular.
text() {
    local n=$1 records
    shift
    records="b,1,$n,3,2,2,65536,0.1,0,0;t,2000,30000,0.2;s,0,1,1;c,0,1e-6,1e-10,0,0,0,1,1e-6,1e-10"
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

for n in 2 5 8; do
    case $n in 2) ways=linear ;; 5) ways="linear binomial hosts" ;; *) ways=hosts ;; esac
    for way in $ways; do
        check $n "$(text $n "f,gather,$way" "f,scatter,$way" "f,bcast,$([ "$way" = linear ] && echo greedy || echo "$way")")" \
            errors
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
for what in '' "$(text 3)" "$(text 4 x,1)" "$(text 4 f,gather,hosts | sed 's/e,.*/e,1/')" "$(text 4 f,gather,hosts | sed 's/^b,1/b,2/')"; do
    check 4 "$what"
    status_is 0 "HRUN_COLL=$(cut -c 1-20 <<<"$what")...: runs"
    out_has 'differing: 0' 'the same'
    for op in gather bcast; do left $op 'a text that does not fit'; done
done
check 4 "$(text 4 u,gather,0,0,linear u,scatter,0,0,linear u,bcast,0,0,unheard_of)"
out_has 'differing: 0' 'by the model: the same'
left bcast 'an algorithm that is not known'
ok 'by the model: some gathers are taken' test "$(awk '/^gather:/ { print ($2 > $4) }' <<<"$out")" = 1

done_testing
