#!/bin/bash
# apps.t - the test applications: their checks pass at several sizes and numbers of processes, results do
# not depend on the number of processes, a wrong result is found, what the rule forbids is refused, and the
# application definitions tell the truth about time line, sizes and memory.
#
# Run from the top of the tree; programs in ${HRUN_BUILD:-build}/tests/apps.

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export LC_ALL=C

bin=${HRUN_BUILD:-build}/tests/apps
defs=tests/apps
mpirun=$(command -v mpirun.openmpi || command -v mpirun)
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

count=0
failed=0

ok() {     # ok STATUS NAME
    count=$((count + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $count - $2"
    else
        echo "not ok $count - $2"
        echo "#   status $status"
        sed 's/^/#   /' "$tmp/out" "$tmp/err"
        failed=$((failed + 1))
    fi
}

key_of() {
    local IFS=_
    echo "$tmp/run_$*"
}

# launch P APP ARGUMENTS...: output and status into files named by the words. One process needs no mpirun.
launch() {
    local key p=$1 app=$2
    key=$(key_of "$@")
    shift 2
    # A folder of its own: Open MPI 4 jobs of one user that start and end together may remove the session folder
    # below TMPDIR under each other's hands ("mkdir ... File exists").
    local -x TMPDIR
    TMPDIR=$(mktemp -d "$tmp/XXXX")
    if [ "$p" -eq 1 ]; then
        timeout 60 "$bin/$app" "$@" >"$key.out" 2>"$key.err" </dev/null
    else
        timeout 60 "$mpirun" --oversubscribe --mca mpi_yield_when_idle 1 -np "$p" "$bin/$app" "$@" \
            >"$key.out" 2>"$key.err" </dev/null
    fi
    echo $? >"$key.status"
}
export -f key_of launch
export tmp bin mpirun

# Launch all lines "P APP ARGUMENTS" of standard input, several at a time: a start mostly sleeps, so this
# saves most of the test's time. A later `run` with the same words takes what is there.
ahead() {
    xargs -P 6 -L 1 bash -c 'launch "$@"' launch
}

# run P APP ARGUMENTS...: output in $tmp/out and $tmp/err, status in $status
run() {
    local key
    key=$(key_of "$@")
    [ -e "$key.status" ] || launch "$@"
    mv "$key.out" "$tmp/out" && mv "$key.err" "$tmp/err" && status=$(cat "$key.status")
    rm -f "$key.status"
}

field() {  # field NAME: what follows "NAME: " in the output
    sed -n "s/^$1: //p" "$tmp/out"
}

near() {   # near A B TOLERANCE: |A-B| <= TOLERANCE |B|
    awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { d = a - b; if (d < 0) d = -d; if (b < 0) b = -b;
        exit !(a != "" && b != "" && d <= t * b) }'
}

# passes P APP ARGUMENTS...: status 0, one line each of time, check, result
passes() {
    run "$@"
    [ $status -eq 0 ] &&
        [ "$(grep -cE '^check: ok \(residual [0-9.e+-]+\)$' "$tmp/out")" -eq 1 ] &&
        [ "$(grep -c '^time: ' "$tmp/out")" -eq 1 ] && [ "$(grep -c '^result: ' "$tmp/out")" -eq 1 ]
    ok $? "$2 ${*:3} on $1 passes its check"
}

# refuses TEXT P APP ARGUMENTS...: status 2, nothing on stdout, one message that holds TEXT
refuses() {
    local text=$1
    shift
    run "$@"
    [ $status -eq 2 ] && [ ! -s "$tmp/out" ] && [ "$(grep -c "^$2: " "$tmp/err")" -eq 1 ] &&
        grep "^$2: " "$tmp/err" | grep -qF -- "$text"
    ok $? "$2 ${*:3} on $1 is refused: $text"
}

for app in lu jacobi femcg fft hybrid matmul multigrid ring; do
    if [ ! -x "$bin/$app" ]; then
        echo "Bail out! $bin/$app is missing; 'make apps' builds it"
        exit 1
    fi
done

# ---------------------------------------------------------------- results do not depend on P

ahead <<'END'
1 lu 211 -b 16
2 lu 211 -b 16
3 lu 211 -b 16
4 lu 211 -b 16
2 lu 211 -b 16 --owners=0,0,0,1,0,0,0,1,0,0,0,0,1,0
3 lu 211 -b 16 --owners=1,1,1,1,1,0,1,2,1,1,1,1,1,1
4 lu 211 -b 16 --owners=0,1,0,1,0,1,2,3,0,1,0,1,0,1
3 lu 208 -b 16 --owners=0,0,1,0,0,0,1,2,0,0,0,1,0
1 lu 208 -b 16
1 jacobi 26 -i 40
2 jacobi 26 -i 40
3 jacobi 26 -i 40
4 jacobi 26 -i 40
2 jacobi 26 -i 40 --shares=20,6
4 jacobi 26 -i 40 --shares 2*1,2*12
1 femcg 60
2 femcg 60
3 femcg 60
4 femcg 60
2 femcg 60 --shares=45,15
4 femcg 60 --shares 2*1,11,47
1 fft 4096
2 fft 4096
4 fft 4096
1 fft 8192
2 fft 8192
4 fft 8192
1 hybrid 131
2 hybrid 131
3 hybrid 131
4 hybrid 131
1 multigrid 128
2 multigrid 128
3 multigrid 128
4 multigrid 128
1 multigrid 128 --rows=96
3 multigrid 128 --shares 32,48,16
2 multigrid 128 --shares=80,16
4 multigrid 128 --shares 2*48,2*32
1 ring 700
2 ring 700
3 ring 700
4 ring 700
1 ring 701 --near 3
2 ring 701 --near 3
3 ring 701 --near 3
4 ring 701 --near 3
END
for p in 1 2 3 4; do
    passes $p lu 211 -b 16
    sum=$(field result | sed 's/^sum|x| //')
    [ $p -eq 1 ] && sum1=$sum
    # Roundings differ with the shapes of the products; the condition number enlarges them.
    near "$sum" "$sum1" 1e-8
    ok $? "lu: solution on $p as on 1 process"
done
for words in "2 lu 211 -b 16 --owners=0,0,0,1,0,0,0,1,0,0,0,0,1,0" "3 lu 211 -b 16 --owners=1,1,1,1,1,0,1,2,1,1,1,1,1,1" "4 lu 211 -b 16 --owners=0,1,0,1,0,1,2,3,0,1,0,1,0,1"; do
    # shellcheck disable=SC2086
    passes $words
    near "$(field result | sed 's/^sum|x| //')" "$sum1" 1e-8
    ok $? "$words: the solution of 1 process"
done
# The right side has a block of its own.
passes 1 lu 208 -b 16
sum1=$(field result | sed 's/^sum|x| //')
passes 3 lu 208 -b 16 --owners=0,0,1,0,0,0,1,2,0,0,0,1,0
near "$(field result | sed 's/^sum|x| //')" "$sum1" 1e-8
ok $? "lu 208: owners of whole panels, the solution of 1 process"

for p in 1 2 3 4; do
    passes $p jacobi 26 -i 40
    sum=$(field result | sed 's/ change.*//')
    change=$(field result | sed 's/.*change //')
    [ $p -eq 1 ] && sum1=$sum && change1=$change
    [ -n "$sum" ] && [ "$sum" = "$sum1" ] && near "$change" "$change1" 1e-8
    ok $? "jacobi: every bit of the solution on $p as on 1 process"
done
for words in "2 jacobi 26 -i 40 --shares=20,6" "4 jacobi 26 -i 40 --shares 2*1,2*12"; do
    # shellcheck disable=SC2086
    passes $words
    [ "$(field result | sed 's/ change.*//')" = "$sum1" ] &&
        near "$(field result | sed 's/.*change //')" "$change1" 1e-8
    ok $? "$words: every bit of the solution of 1 process"
done

for p in 1 2 3 4; do
    passes $p femcg 60
    error=$(field result | sed 's/^error \([^ ]*\) .*/\1/')
    steps=$(field result | sed 's/.*iterations //')
    [ $p -eq 1 ] && error1=$error && steps1=$steps
    near "$error" "$error1" 1e-3 && near "$steps" "$steps1" 0.02
    ok $? "femcg: error and iterations on $p as on 1 process"
done
for words in "2 femcg 60 --shares=45,15" "4 femcg 60 --shares 2*1,11,47"; do
    # shellcheck disable=SC2086
    passes $words
    near "$(field result | sed 's/^error \([^ ]*\) .*/\1/')" "$error1" 1e-3 &&
        near "$(field result | sed 's/.*iterations //')" "$steps1" 0.02
    ok $? "$words: error and iterations of 1 process"
done

for n in 4096 8192; do
    for p in 1 2 4; do
        passes $p fft $n
        sum=$(field result)
        [ $p -eq 1 ] && sum1=$sum
        [ -n "$sum" ] && [ "$sum" = "$sum1" ]
        ok $? "fft $n: every bit of the transform on $p as on 1 process"
    done
done

run 1 fft 4096 --seed 2
[ "$(field result)" != "$sum1" ] && [ -n "$(field result)" ]
ok $? "fft: another input has another checksum"

for p in 1 2 3 4; do
    passes $p hybrid 131
    sum=$(field result | sed 's/ threads.*//')
    [ $p -eq 1 ] && sum1=$sum
    [ -n "$sum" ] && [ "$sum" = "$sum1" ]
    ok $? "hybrid: every bit of the product on $p as on 1 process"
done

# The rows are N, or those of the shares where these are fewer; what is too much of 160 is taken from the last ranks.
for p in 1 2 3 4; do
    passes $p multigrid 128
    [ $p -eq 1 ] && sum1=$(field result)
    [ "$(field result)" = "$sum1" ] && [ "${sum1##* }" = 128 ]
    ok $? "multigrid: every bit of the solution on $p as on 1 process"
done
passes 4 multigrid 128 --shares 2*48,2*32
[ "$(field result)" = "$sum1" ]
ok $? "multigrid: every bit as with equal rows when shares are unequal, and more than there are rows"
passes 1 multigrid 128 --rows=96
sum1=$(field result)
for words in "3 multigrid 128 --shares 32,48,16" "2 multigrid 128 --shares=80,16"; do
    # shellcheck disable=SC2086
    passes $words
    [ "$(field result)" = "$sum1" ] && [ "${sum1##* }" = 96 ]
    ok $? "$words: the mesh has the rows of the shares, and every bit is that of 1 process"
done

for how in 700 '701 --near 3'; do
    for p in 1 2 3 4; do
        passes $p ring $how
        sum=$(field result)
        [ $p -eq 1 ] && sum1=$sum
        [ -n "$sum" ] && [ "$sum" = "$sum1" ]
        ok $? "ring $how: every class of the histogram on $p as on 1 process"
    done
done
case $sum in "pairs 245350 "*) false ;; esac   # all of 701
ok $? "ring: pairs that are near are fewer than all"
# Each method, on equal and on unequal shares: 6 is 2 by 3, 5 is a row.
for v in columns cartesian cannon; do
    for p in 1 2 3 5 6; do
        echo "$p matmul 97 --variant $v --shares 1*1.7,$((p - 1))*1"
        echo "$p matmul 97 --variant $v"
    done
done | sed 's/,0\*1$//' >"$tmp/products"
ahead <"$tmp/products"
sum1=
while read -r -a words; do
    passes "${words[@]}" </dev/null
    sum=$(field result | sed 's/^sum|Cx| //')
    sum1=${sum1:-$sum}
    near "$sum" "$sum1" 1e-10
    ok $? "${words[*]}: the product of all"
done <"$tmp/products"

# ---------------------------------------------------------------- edges

# The last three of four ranks have no column; one plane each; one row each.
cat >"$tmp/edges" <<'END'
1 lu 1
1 lu 2
1 lu 31
1 lu 32
1 lu 33
1 lu 50 --block=1
1 lu 50 -b 512
4 lu 3 -b 4
1 lu 33 --owners=2*0
1 lu 64 --owners=2*0
4 lu 4 -b 1 --owners=3,2,1,0
3 lu 64 -b 8 --owners=8*2
2 lu 300 -b 4 --owners=1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1
1 jacobi 1
1 jacobi 2
1 jacobi 7
1 jacobi 12 --sweeps 1
4 jacobi 4 -i 7
1 jacobi 7 --shares 7
3 jacobi 3 -i 7 --shares 3*1
1 femcg 16
1 femcg 17
1 femcg 33
3 femcg 18
3 femcg 17 --shares 2*1,15
1 fft 1
1 fft 2
1 fft 4
1 fft 8
1 fft 32
4 fft 16
1 fft 64 --repeat 5
1 hybrid 1
1 hybrid 33
3 hybrid 4 -r 2
1 matmul 1
4 matmul 1 --variant cartesian
3 matmul 2 --variant cannon --side 1
4 matmul 5 --variant cannon --side 9
4 matmul 40 --variant cannon --shares=1,1000,1,1
1 multigrid 2 -l 1
1 multigrid 8 -l 3 -i 1
2 multigrid 64 -l 6 -i 3
3 multigrid 96 -l 2 -s 1 -c 1
2 multigrid 64 --shares 32,32 -R 64
1 multigrid 64 -l 4 -r 3
1 ring 1
1 ring 2 -m 2
4 ring 4
4 ring 6 --near 9 -r 2
2 ring 1000 --dim 3 --near 1
END
ahead <"$tmp/edges"
while read -r -a words; do
    passes "${words[@]}" </dev/null
done <"$tmp/edges"

# ---------------------------------------------------------------- time grows as it should

# In CPU time, which other work on the machine does not lengthen: MPI_Wtime tells it to the applications.
cat >"$tmp/cpu.c" <<'END'
#include <time.h>
double MPI_Wtime(void);
double MPI_Wtime(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
END
${CC:-cc} -shared -fPIC -o "$tmp/cpu.so" "$tmp/cpu.c"   # CC may be two words: "ccache gcc"
ok $? "a clock of CPU time"

time_of() {  # time_of APP ARGUMENTS...: the time that it prints on 1 process of one thread
    OMP_NUM_THREADS=1 LD_PRELOAD=$tmp/cpu.so run 1 "$@"
    field time | sed 's/ s$//'
}
grows() {  # grows APP N1 N2 LOW HIGH OPTIONS...
    local a b
    a=$(time_of "$1" "$2" -r 5 "${@:6}")
    b=$(time_of "$1" "$3" -r 5 "${@:6}")
    awk -v a="$a" -v b="$b" -v l="$4" -v h="$5" 'BEGIN { exit !(a > 0 && b / a > l && b / a < h) }'
    ok $? "$1: from N=$2 ($a s) to N=$3 ($b s) the time grows $4 to $5 times"
}
# Twice the size is 8 times the work for all but fft and ring; wide limits besides.
grows lu 300 1200 16 320
grows jacobi 32 64 3 40 -i 30
grows femcg 64 128 3 40
grows fft 16384 262144 5 100
grows hybrid 128 512 16 320
grows multigrid 128 512 5 50
grows ring 400 1600 5 60

# ---------------------------------------------------------------- a wrong result is found

# P, application, options; the last one disturbs the last of two ranks
cat >"$tmp/spoilt" <<'END'
1 lu 60 --spoil 1
1 jacobi 9 --spoil 1
1 femcg 32 --spoil 1
1 fft 256 --spoil 1
2 fft 256 -x 1
2 hybrid 40 --spoil 1
2 matmul 40 --variant cannon --spoil 1
2 multigrid 64 --spoil 1
2 ring 40 --spoil 1
END
ahead <"$tmp/spoilt"
while read -r -a words; do
    run "${words[@]}" </dev/null
    [ $status -eq 1 ] && grep -q '^check: FAILED (residual ' "$tmp/out" && grep -q '^time: ' "$tmp/out"
    ok $? "${words[1]} on ${words[0]}: a disturbed result fails the check with status 1"
done <"$tmp/spoilt"

# ---------------------------------------------------------------- several sizes in one start

# Two rounds over the list, each size checked once, in the last round; 50 is not a multiple of 3.
run 3 femcg 60,50,90 -r 2
[ $status -eq 0 ] && [ "$(grep -cE '^N=(60|90) run [12]: [0-9.e+-]+ s$' "$tmp/out")" -eq 4 ] &&
    [ "$(grep -cE '^N=(60|90) check: ok \(residual [0-9.e+-]+\)$' "$tmp/out")" -eq 2 ] &&
    [ "$(sed 's/[: ].*//' "$tmp/out" | tr '\n' ' ')" = "N=50 N=60 N=90 N=60 N=60 N=90 N=90 " ] &&
    grep -q '^N=50 refused$' "$tmp/out" && grep -q 'N=50 on 3 processes: N must be a multiple' "$tmp/err"
ok $? "femcg 60,50,90 -r 2 on 3: two rounds, a check each, 50 refused"
[ "$(grep -c '^time: ' "$tmp/out")" -eq 0 ]
ok $? "and no line that the definition takes for the time"
run 1 lu 40,60 --spoil 1
[ $status -eq 1 ] && grep -q '^N=40 check: FAILED (residual ' "$tmp/out" && ! grep -q 'check: ok' "$tmp/out"
ok $? "lu 40,60 --spoil 1: a disturbed result fails the check with status 1"
run 3 femcg 50,70
[ $status -eq 2 ] && [ "$(cat "$tmp/out")" = "$(printf 'N=50 refused\nN=70 refused')" ]
ok $? "femcg 50,70 on 3: status 2 when the rule accepts none of the sizes"

# ---------------------------------------------------------------- what is refused

# P, application, arguments; behind "|" a part of the message
cat >"$tmp/refused" <<'END'
1 lu|the size is missing
1 lu 0|N must be a whole number from 1 to 1000000, not '0'
1 lu 10,20x,30|N must be a whole number from 1 to 1000000, not '20x'
1 lu 10,|N must be a whole number from 1 to 1000000, not ''
1 lu 10 --gate=nobody|nobody answers at --gate=nobody
2 lu 10 --gate=nobody|nobody answers at --gate=nobody
1 lu 10x|N must be a whole number from 1 to 1000000, not '10x'
1 lu -5|unexpected '-5'; 'lu --help' lists the options
1 lu 99999999999999999999|not '99999999999999999999'
1 lu 10 7|unexpected '7'
1 lu 10 --blocks 3|unexpected '--blocks'
1 lu 10 -b 0|--block needs a whole number from 1 to 512, not '0'
1 lu 10 -b|--block needs a whole number from 1 to 512, not ''
1 lu 10 --repeat=-1|--repeat needs a whole number from 1 to 1000, not '-1'
1 femcg 15|N must be a whole number from 16 to 40000, not '15'
1 fft 1000|N=1000 is not a power of two; use 512 or 1024
3 fft 64|3 processes: their number must be a power of two
4 fft 8|N=8 on 4 processes: N must be a multiple of P^2 = 16
4 femcg 50|N must be a multiple of the number of processes, two rows each at least; use 48 or 52
7 femcg 17|use 21 or 28
2 femcg 20 --shares=16,3|--shares=16,3: 19 rows in all, not 20
2 femcg 20 --shares=20|--shares=20: 1 of the shares for 2 processes
2 femcg 20 --shares=19.5,0.5|--shares=19.5,0.5: rows are whole, not 19.5
9 femcg 17 --shares 8*1,9|N=17 on 9 processes: N must be a multiple
2 jacobi 20 --shares=16,5|--shares=16,5: 21 planes in all, not 20
2 jacobi 20 --shares=2*6,8|--shares=2*6,8: more shares than the 2 processes
2 jacobi 20 --shares=20,0|--shares=20,0: shares are COUNT*NUMBER,..., not '0'
2 lu 100 -b 10 --owners=8*0,1|--owners=8*0,1: 9 of the owners for 10 panels
2 lu 100 -b 10 --owners=8*0,3*1|--owners=8*0,3*1: more owners than the 10 panels
2 lu 100 -b 10 --owners=9*0,0.5|--owners=9*0,0.5: owners are ranks from 0 to 1, not 0.5
2 lu 100 -b 10 --owners=9*0,2|--owners=9*0,2: owners are ranks from 0 to 1, not 2
2 lu 100 -b 10 --owners=9*0,-1|--owners=9*0,-1: owners are COUNT*NUMBER,..., not '-1'
4 jacobi 3|N=3 on 4 processes: each process needs a plane; use N >= 4 or fewer processes
2 matmul 8 --variant strassen|--variant 'strassen' is not known: columns, cartesian or cannon
2 matmul 8 --variant|--variant '' is not known
2 matmul 8 --shares 3*1|--shares=3*1: more shares than the 2 processes
2 matmul 8 --shares 1|--shares=1: 1 of the shares for 2 processes
1 multigrid 72|N=72 with 5 levels: N must be 32 or a greater multiple of 16
1 multigrid 16|N=16 with 5 levels: N must be 32 or a greater multiple of 16
4 multigrid 48|48 rows on 4 processes: each needs 16 or a multiple, and two of them in all
2 multigrid 64 --shares 16,24|--shares=16,24: rows come in multiples of 16 (2 to the levels less one), not 24
2 multigrid 64 --shares 3*16|--shares=3*16: more shares than the 2 processes
2 multigrid 64 --shares=64|--shares=64: 1 of the shares for 2 processes
2 multigrid 64 --shares=2*|--shares=2*: shares are COUNT*NUMBER,..., not ''
2 multigrid 64 --shares 16,16 -R 64|--shares=16,16: 32 rows in all, and the mesh has 64
4 hybrid 3|N=3 on 4 processes: each process needs a row; use N >= 4 or fewer processes
4 ring 3|N=3 on 4 processes: each needs a point
END
sed 's/|.*//' "$tmp/refused" | ahead
while IFS='|' read -r words text; do
    # shellcheck disable=SC2086
    refuses "$text" $words </dev/null
done <"$tmp/refused"

run 1 lu --help
[ $status -eq 0 ] && grep -q '^usage: lu N\[,N...\] \[options\]$' "$tmp/out" && grep -q -- '-b, --block ' "$tmp/out"
ok $? "--help"

# 1e6 x 1e6 numbers are 8 TB: malloc refuses under a limit on the address space.
status=$(ulimit -v 4000000; run 1 lu 1000000; echo $status)
[ "$status" = 3 ] && grep -q '^lu: not enough memory for N=1000000 on 1 process$' "$tmp/err"
ok $? "lu: not enough memory is said, status 3"

# ---------------------------------------------------------------- the definitions

# within APP N P: the memory that the definition states holds, and is not far too much
within() {
    local expr bytes
    expr=$(sed -n 's/^memory: "\(.*\)"$/\1/p' "$defs/$1.yaml")
    run "$3" "$1" "$2"
    bytes=$(field memory | sed 's/ bytes$//')
    awk -v b="$bytes" "function ceil(x) { return x == int(x) ? x : int(x) + 1 }
        BEGIN { N = $2; P = $3; m = $expr; exit !(b > 0.5 * m && b <= m) }"
    ok $? "$1 $2 on $3: $bytes bytes are within the definition's $expr"
}
ahead <<'END'
1 lu 2000
2 lu 2400
1 jacobi 128
1 femcg 400
2 fft 2097152
1 lu 64
1 jacobi 64
1 femcg 64
1 fft 64
1 hybrid 64
2 hybrid 1600
END
within lu 2000 1
within lu 2400 2
within jacobi 128 1
within femcg 400 1
within fft 2097152 2
within hybrid 1600 2

for app in lu jacobi femcg fft hybrid ring; do
    match=$(sed -n "s/^time: {match: '\(.*\)'}$/\1/p" "$defs/$app.yaml")
    n=64
    run 1 $app $n
    [ -n "$match" ] && [ "$(grep -cE -- "$match" "$tmp/out")" -eq 1 ] &&
        awk -v t="$(field time | sed 's/ s$//')" 'BEGIN { exit !(t > 0) }'
    ok $? "$app.yaml: its expression finds the time"
    sizes=$(sed -n 's/^sizes: \[\(.*\)\]$/\1/p' "$defs/$app.yaml" | tr -d ,)
    bad=
    for n in $sizes; do
        case $app in
            femcg) [ $((n % 12)) -eq 0 ] || bad="$bad $n" ;;                     # P = 1, 2, 3, 4, 6, 12
            fft) [ $((n & (n - 1))) -eq 0 ] && [ $((n % 64)) -eq 0 ] || bad="$bad $n" ;;   # P = 1, 2, 4, 8
            jacobi) [ "$n" -ge 16 ] || bad="$bad $n" ;;
        esac
    done
    [ -n "$sizes" ] && [ -z "$bad" ]
    ok $? "$app.yaml: the rule accepts its sizes for small P${bad:+, but not$bad}"
done

echo "1..$count"
exit $((failed > 0))
