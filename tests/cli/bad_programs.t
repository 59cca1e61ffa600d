#!/bin/bash
# What hrun-calibrate says of programs that cannot be measured, or not everywhere.
. "$(dirname "$0")/tap.sh"
two_cores
cd "$tmp" || exit 1
export HRUN_PROFILE_PATH=$tmp
program() { # NAME TIME
    printf '%s\n' "name: $1" "programs: [$1]" \
        'terms: {np: ["N/P", "N", "1"], n: ["N", "1"]}' 'args: ["{N}"]' "$2" >"$1.yaml"
    (echo '#!/bin/bash'; echo 'p=${OMPI_COMM_WORLD_SIZE:-1}'; cat) >"$1"
    chmod +x "$1"
}
clock="time: {match: '^time: ([0-9.]+)'}"
program untold "$clock" <<<'echo "elapsed: 1.5"'
program coarse "$clock" <<<'echo "time: 0.01"'
program idle "$clock" <<<'echo "time: 0.3$((RANDOM % 5))1"'     # a load on this machine does not change it
program picky "$clock" <<'EOF'
[ "${OMPI_COMM_WORLD_RANK:-0}" = 0 ] || exit 0
[ $p = 1 ] || [ "$1" -lt 12 ] || { echo "$1 on $p" >&2; exit 4; }
echo "time: 0.$((5000 * $1 / p + 10000 + RANDOM % 100))"
EOF
program aborts "$clock" <<'EOF'
printf '%s\n' 'aborts: bad size' '-----------' 'MPI_ABORT was invoked on rank 0 with errorcode 3.' '' \
    'exactly when Open MPI kills them.' '-----------' >&2
exit 3
EOF
program complains "$clock" <<'EOF'
printf '%s\n' 'Balancing ...' 'ERROR: no masses' 'Last command: balance'
printf '%s\n' 'mpirun detected that one or more processes exited with non-zero status, thus causing' '' \
    '  Process name: [[48045,1],2]' '  Exit code:    1' '-----------' >&2
exit 1
EOF
quick="--sizes 4,8,12,16 --procs 1 --retries 0"

run hrun-calibrate $quick --full-grid -r 1 ./untold
status_is 125 "a program whose time is not found"
err_has "failed: the program reported no time: no line of its standard output matches '^time: ([0-9.]+)'" \
    "each run says so"
err_has "the program runs, but its time is not found" "and the end"
err_has "mend 'time' in $tmp/untold.yaml, or leave it out, and the wall clock counts" "with what to do"
err_lacks "is this how the program is started" "which is not to start it otherwise"
ok "its output is kept for a look" grep -q "elapsed: 1.5" hrun-failed-untold/hrun.stdout
run hrun-calibrate $quick --budget 1 ./untold
status_is 125 "the same with chosen runs"
out_has "nothing is known: no model could be made" "the table says of each size that nothing is known"

run hrun-calibrate $quick --full-grid -r 1 ./aborts
err_has "failed: exit 3: aborts: bad size" "of a program that aborts its own words are told, not those of the library"

sed -i "s/'aborts: bad size' //; s/^exit 3/echo aborts: bad size >\&2; exit 3/" aborts
run hrun-calibrate $quick --full-grid -r 1 ./aborts
err_has "failed: exit 3: aborts: bad size" "also where they come behind those"

run hrun-calibrate $quick --full-grid -r 1 ./complains
err_has "failed: exit 1: ERROR: no masses" "of one that tells an error on standard output the line that does"

run hrun-calibrate $quick --full-grid -r 1 ./coarse
status_is 0 "a program with a coarse clock"
err_has "coarse: the quickest runs at N = " "is named"
err_has " are too short to tell much: from 500 ms on" "with what would do"
run hrun-calibrate $quick --full-grid -r 1 ./idle
status_is 0 "a program without work"
err_has "the time hardly follows N, " "is called so"
run hrun-calibrate -q $quick --full-grid -r 1 --again ./idle
err_lacks "hardly" "not with -q"

if [ "$(nproc)" -ge 2 ]; then
    run hrun-calibrate $quick --pes 1,2 --budget 10 ./picky       # enough where starts are slow
    status_is 125 "a program that fails at some sizes on two processes"
    err_has "exit 4: 16 on 2" "says what failed"
    ok "and chooses others there" grep -Eq '^16 +\(1,1\)' .out
    ok "at both sizes" grep -Eq '^12 +\(1,1\)' .out
else
    for what in fails says choices many; do skip "$what" "two cores are needed"; done
fi
# Nothing worked: that is told, and not that more measurements would give models.
printf '#!/bin/sh\nexit 3\n' >"$tmp/never"
chmod +x "$tmp/never"
run hrun-calibrate --sizes 60,100 --procs 1 --budget 4runs -app untold "$tmp/never"
err_has "points all failed" "a program that always fails"
err_lacks "has no model for" "is no want of models"
done_testing
