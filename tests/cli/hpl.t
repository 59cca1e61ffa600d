#!/bin/bash
# hpl.t - HPL as its users have it: the shipped definition, grids, the time, and an HPL.dat of the user's
. "$(dirname "$0")/tap.sh"

# A program that reads HPL.dat as HPL does, writes files as programs do, and prints HPL's result line.
mkdir -p "$tmp/work/data"
export SLOW=$tmp/slow TIDY=$tmp/tidy
cd "$tmp/work" || exit 1
cat >xhpl <<'END'
#!/bin/bash
[ "${OMPI_COMM_WORLD_RANK:-0}" = 0 ] || exit 0
mapfile -t line <HPL.dat
word() { set -- ${line[$1 - 1]}; echo "$1"; }
echo run >>log
echo "$(word 6)" >new.tmp && mv new.tmp new
mkdir -p results && echo done >results/"$(word 6)"
rm -f deck && echo written >deck
[ -e "$TIDY" ] || echo spoilt >HPL.dat
[ ! -e "$SLOW" ] || sleep 60
printf 'WR%s%sC2R%s %10s %5s %5s %5s %18.2f %18s\n' "$(word 25)" "$(word 23)" "$(word 17)" "$(word 6)" "$(word 8)" \
    "$(word 11)" "$(word 12)" 0.01 1.2345e+01
END
chmod +x xhpl
export HRUN_PROFILE_PATH=
hpl() { run hrun --level core --host "localhost:1" -app hpl --oversubscribe "$@" ./xhpl; }
# The result line of the last run: depth and broadcast, N, NB, P, Q.
result() { sed -n 's/^WR\(..\)C2R. *\([0-9]*\) *\([0-9]*\) *\([0-9]*\) *\([0-9]*\) .*/\1 \2 \3 \4 \5/p' <<<"$out"; }
is_result() { ok "$2" test "$(result)" = "$1"; }

# ---------------------------------------------------------------- without a file

hpl -v -N 1000 -n 12
status_is 0 "it runs"
is_result "11 1000 128 3 4" "on the squarest grid"
err_has "54.1 ms" "the time comes from the Gflops"
hpl -N 1000 -n 7
is_result "11 1000 128 1 7" "of a prime it is one row"
hpl -N 1000 -n 12 -D q=2 -D nb=64
is_result "11 1000 64 2 6" "rows can be fixed"
fails 125 "the rule of hpl, 'P % q == 0'" "what they do not divide is refused" \
    hrun --host localhost:1 -app hpl --oversubscribe -N 1000 -n 7 -D q=2 ./xhpl
rm -rf HPL.dat log new results deck

# ---------------------------------------------------------------- with HPL's own

{
    printf 'HPLinpack\nICL\nHPL.out\n6\n4\n29 30 34 35 Ns\n4\n1 2 3 4 NBs\n0\n3\n2 1 4 Ps\n2 4 1 Qs\n16.0\n'
    printf '3\n0 1 2 PFACTs\n'
    printf '2\n2 4 NBMINs\n1\n2\n3\n0 1 2\n1\n0  BCASTs (0=1rg)\n1\n0            DEPTHs (>=0)\n2\n64\n0\n0\n1\n8\n'
} >HPL.dat
echo mine >deck
cp HPL.dat ../stock
hpl -N 1000 -n 2 --dry-run
status_is 0 "a dry run with a file of the user's"
err_has "taken over from your HPL.dat: bcast=0, depth=0 (-D" "says what one number of it says"
err_has "for these, so the definition's count: nb=128, nbmin=4, rows=0, cols=0 (-D" "what it says in several numbers"
err_has "your HPL.dat stays as it is: the program runs in a folder of its own" "and how a run would be made"
run hrun-calibrate --dry-run --level core --host localhost:1 -app hpl --sizes 1000,2000 ./xhpl
ok "hrun-calibrate says so once" test "$(grep -c 'taken over from your HPL.dat: bcast=0, depth=0' <<<"$err")" = 1
hpl -N 1000 -n 4
status_is 0 "a run with it"
is_result "00 1000 128 2 2" "takes over what it says; lists of values are HPL's to try"
err_has "taken over from your HPL.dat: bcast=0, depth=0" "says so"
ok "the file is as it was" cmp HPL.dat ../stock
ok "what the program wrote is there: files that were there" test "$(cat deck)" = written
ok "new ones" test "$(cat new log)" = "1000
run"
ok "and folders" test "$(cat results/1000)" = done
hpl -N 2000 -n 4
ok "what is appended is appended" test "$(cat log)" = "run
run"
ok "a folder that is there has what is new in it" test "$(cat results/1000 results/2000)" = "done
done"
ok "nothing else is left" test "$(echo * .[!.]* ../*hrun*)" = "HPL.dat data deck log new results xhpl .[!.]* ../*hrun*"
hpl -N 1000 -n 4 -D bcast=5 -D depth=0 -D nb=128 -D nbmin=4 -D rows=0 -D cols=0
is_result "05 1000 128 2 2" "-D goes before"
err_lacks "taken over" "and then nothing is taken over"

# A grid counts for as many processes.
sed -e '8s/.*/192, NB/' -e '11s/.*/4 Ps/' -e '12s/.*/1 Qs/' ../stock >HPL.dat
hpl -N 1000 -n 4
err_has "nb=192, bcast=0, depth=0, rows=4, cols=1" "block size and grid"
is_result "00 1000 192 4 1" "are taken over"
hpl -N 1000 -n 6
is_result "00 1000 192 2 3" "the grid where it fits"
err_has "taken over from your HPL.dat: nb=192, bcast=0, depth=0 (-D" "else it is not said to be taken over"
err_has "as this run has 6 processes: rows=4 (here 2), cols=1 (here 3)" "but what the run has"
touch "$TIDY"
run hrun --level core --host localhost:1 -app hpl ./xhpl
err_has "hrun: 4 processes share cores" "processes of the user's file that share cores are told of"
hpl
rm "$TIDY"
status_is 0 "without a size the program reads the user's file"
out_has "29  192,     4     1" "as it is"
err_has "starts 4 processes, as your HPL.dat asks for" "with as many processes"
err_lacks "taken over" "and nothing is taken over"
hpl -n 2 --dry-run
err_lacks "processes, as your" "-n goes before"
run hrun-calibrate --dry-run --level core --host localhost:1 -app hpl --sizes 1000,2000 ./xhpl
err_has "by runs with that number of processes: rows=4, cols=1" "runs of a calibration have the grid where it fits"

# A profile with other constants, and how to use it.
printf 'N,P,time_s,consts\n' >../m.csv
for N in 4000 8000 12000 16000 20000; do
    for P in 1 2 4; do
        echo "$N,$P,$((N / 1000 * N / 1000 * N / 1000 / P + N / 1000 * N / 1000)),\"bcast=1,cols=0,depth=1,nb=128,nbmin=4,rows=0\""
    done
done >>../m.csv
sig=$(hrun --level core --host localhost:1 -app hpl -N 1000 --dry-run --json ./xhpl 2>"$tmp/.err" |
      sed -n 's/.*"signature": "\(.*\)".*/\1/p')
run hrun-calibrate import --signature "$sig" -app hpl ../m.csv
run hrun-calibrate fit hpl
hpl -N 10000 --dry-run
out_has "this run has bcast=0 cols=1 depth=0 nb=192 rows=4; to use the profile: -D bcast=1 -D cols=0 -D depth=1 -D nb=128 -D rows=0" \
    "what of the file is in the way of the profile"
hpl -N 10000 --dry-run -D bcast=1 -D cols=0 -D depth=1 -D nb=128 -D rows=0
out_has "15 measurements" "which is used with these options"
rm -rf "$HRUN_DATA/profiles"

# What is no regular file is neither read nor written.
rm HPL.dat
mkfifo HPL.dat
hpl -N 1000 -n 4
status_is 0 "a pipe in place of the file"
is_result "11 1000 128 2 2" "says nothing of the values"
rm HPL.dat
cp ../stock HPL.dat

# ---------------------------------------------------------------- hrun is killed

cp HPL.dat ../stock
touch "$SLOW"
setsid hrun -q --host localhost:1 -app hpl -N 3000 -n 1 ./xhpl >/dev/null 2>&1 &
pid=$!
for ((i = 0; i < 300; i++)); do
    grep -qs 3000 hrun-hpl.*/new && break
    sleep 0.05
done
ok "the run has a folder of its own" grep -qs 3000 hrun-hpl.*/new
kill -9 "$pid"
wait "$pid" 2>/dev/null
rm "$SLOW"
ok "after SIGKILL the file is as it was" cmp HPL.dat ../stock
ok "and what the program wrote is still there" grep -qs 3000 hrun-hpl.*/new
hrun --dry-run --host localhost:1 -app hpl -N 3000 -n 1 ./xhpl >/dev/null 2>&1
ok "after the next hrun, too" grep -qs 3000 hrun-hpl.*/new
rm -r hrun-hpl.*

# ---------------------------------------------------------------- what is refused is refused in a dry run, too

# hrun's own file is no user's: the next run replaces it.
touch "$TIDY"
hpl -N 1000 -n 1 --force
err_lacks "taken over" "--force overwrites the file"
hpl -N 2000 -n 1
err_lacks "your HPL.dat" "which is hrun's then"
rm -f HPL.dat
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    chmod 755 .
    try() { env HRUN_DATA="$tmp/other" setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
    mkdir -m 777 "$tmp/other"
    chmod 755 "$tmp"
    fails 125 "cannot write '$tmp/work/HPL.dat'" "a folder that cannot be written, in a dry run" \
        try hrun --host localhost:1 -app hpl -N 1000 -n 1 --dry-run ./xhpl
else
    skip "a folder that cannot be written, in a dry run" "not root"
fi
done_testing
