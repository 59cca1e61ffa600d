#!/bin/bash
# A command that no definition knows: measured as it stands, recognised by its words and files, learnt from runs.
. "$(dirname "$0")/tap.sh"
cd "$tmp" || exit 1
# Work that two processes share, so that two are best; its deck says how much.
cat >mycode <<'P'
#!/bin/sh
exec sleep $(awk -v p="$OMPI_COMM_WORLD_SIZE" '{ print $1 / (p ? p : 1) }' "$2")
P
chmod +x mycode
echo 0.6 >deck
echo 1.2 >slow
h="hrun --level core"

run hrun-calibrate --level core --budget 20s ./mycode -in deck
status_is 0 "a command is calibrated as it stands"
out_has "best" "the best configuration is told"
out_lacks "N=" "without a size"
out_lacks "nnls" "models of a few runs are for show"
ok "what that changes is told" grep -Eq 'from now on hrun starts this command with [0-9]+ process(es)?, \([12],[12]\): ' <<<"$err"
ok "its definition is kept" test "$(ls $HRUN_DATA/problems | wc -l)" = 2
name=$(basename $HRUN_DATA/problems/mycode-*.yaml .yaml)
ok "with the command as its title" grep -q 'title: "./mycode -in deck"' "$HRUN_DATA/problems/$name.yaml"

run $h --dry-run ./mycode -in deck
status_is 0 "hrun recognises the command"
out_has "$name on " "by its name"
out_has "predicted" "and predicts it"
out_lacks "never measured" "as one that it knows"
run $h ./mycode -in deck
err_has "prediction error" "a run is compared with the prediction"
run $h "$tmp/mycode" -in deck
err_has "prediction error" "the folder of the program does not count"
cp deck same
run $h --dry-run ./mycode -in same
out_has "never measured" "other words are another command"
run $h --dry-run ./mycode -in slow
out_has "never measured" "so is another deck"

run hrun-calibrate show
out_has "  ./mycode -in deck" "show tells the command"
run hrun-calibrate show "$name"
status_is 0 "by its name as well"
run hrun-calibrate show mycode
out_has "$name" "and by the name of its program"
run hrun-calibrate report -app "$name" -o page.html
status_is 0 "report knows it"
ok "with two processes per PE, as hrun has" grep -q '"config":"([12],2)"' page.html

# One process takes far longer than two: that run is ended, is no failure, and is not made again.
printf '#!/bin/sh\ntest "$OMPI_COMM_WORLD_SIZE" = 1 && exec sleep 60\nexec sleep 0.3\n' >lone
chmod +x lone
run timeout 300 hrun-calibrate --level core --timeout 45s --budget 8s ./lone
status_is 0 "a run that is far slower than others is no failure"
err_has "ended, too slow" "it is ended"
run timeout 300 hrun-calibrate --level core --budget 8s ./lone
err_lacks "ended, too slow" "once"

# A program that refuses a number of processes.
cat >picky <<'P'
#!/bin/sh
test "$OMPI_COMM_WORLD_SIZE" = 4 && exit 3
exec sleep $(awk -v p="$OMPI_COMM_WORLD_SIZE" 'BEGIN { print 0.4 / (p ? p : 1) }')
P
chmod +x picky
run hrun-calibrate --level core --budget 10s ./picky
status_is 0 "a number of processes that the program refuses is no failure of the calibration"
err_has "refuses some numbers of processes; from now on: P != 4" "it is said"
ok "and stands in the definition" grep -q '^rule: "P != 4"' $HRUN_DATA/problems/picky-*.yaml
run $h --dry-run ./picky
out_has "1 excluded (rule 1" "so that it is not chosen"
run $h -n 4 ./picky
status_is 125 "nor run unasked"
run hrun-calibrate --level core --budget 3runs --again ./picky
err_has "from now on: P != 4" "--again asks it anew"
cat >broken <<'P'
#!/bin/sh
grep -q steps "$1" || exit 4
exec sleep 1.1
P
chmod +x broken
echo steps >input
run $h ./broken input
echo stpes >input
run hrun-calibrate --level core --budget 10s ./broken input
status_is 125 "with a broken input nothing works"
err_lacks "from now on: P" "which says nothing of numbers of processes"
echo steps >input
run $h -n 1 ./broken input
status_is 0 "nothing of it is left when the input is mended"
run hrun-calibrate --level core --budget 4runs ./broken input
err_has "P=4" "and what failed is measured"
printf '#!/bin/sh\n[ "$LICENSE" ] || exit 4\nexec sleep 0.3\n' >licensed
chmod +x licensed
LICENSE=1 run hrun-calibrate --level core --budget 1runs ./licensed
run hrun-calibrate --level core --budget 4runs ./licensed
err_lacks "from now on: P" "what worked before tells nothing where nothing works now"
run hrun-calibrate --level core --budget 10s -app pick ./picky
err_has "from now on: P != 4" "a rule of a command with a name"
sed -i 's/= 4/= 5/' picky
run hrun-calibrate --level core -r 3 --again -app pick ./picky
status_is 125 "options that contradict each other"
ok "forget nothing" grep -q '^rule:' $HRUN_DATA/problems/pick.yaml
run hrun-calibrate --level core --budget 4runs --again -app pick ./picky
status_is 0 "--again"
ok "forgets it" test -z "$(grep '^rule:' $HRUN_DATA/problems/pick.yaml)"

# A limit that was too short is no failure for good.
cp lone brief
sed -i 's/sleep 60/sleep 1.2/; s/sleep 0.3/sleep 1.1/' brief
run $h ./brief
run hrun-calibrate --level core --budget 4runs --timeout 1 ./brief
status_is 125 "runs that a limit ends"
run hrun-calibrate --level core --budget 4runs ./brief
err_has "P=1" "are made again with more time"
err_lacks "failed" "and work"

# Standard input.
run bash -c "echo 1 | (sleep 0.3; $h -v --level core sh -c 'cat >none; sleep 1.1')"
err_has "nothing is recorded of a run that reads standard input" "a run with standard input is not recorded"
fails 125 "mpirun starts processes itself" "another launcher in place of the program" $h mpirun -n 2 ./mycode -in deck

# The deck changes.
echo 0.7 >deck
run $h ./mycode -in deck
err_has "have changed since it was last run" "a changed deck is said"
err_has "prediction error" "and what was known is the guess"
run $h ./mycode -in deck
err_lacks "have changed" "once"
echo 0.6 >deck
run $h --dry-run ./mycode -in deck
err_lacks "have changed" "the old one is known, too"

# Behind '=', a name, temporary names, spaces.
run hrun-calibrate --level core --budget 10s -app lj ./mycode --deck=deck same
status_is 0 "-app gives it a name"
ok "which is that of the definition" test -f $HRUN_DATA/problems/lj.yaml
run $h --dry-run -app ljj ./mycode --deck=deck same
err_has "did you mean the command 'lj'?" "a mistake in it is seen"
run $h --dry-run -app lj ./mycode --deck=other same
out_has "predicted" "by which it is found, whatever the words are"
run hrun-calibrate --level core --budget 10s -app 'Not a name' ./mycode -in deck
status_is 125 "which must be one"
run $h --dry-run -app nonesuch ./mycode -in deck
status_is 125 "hrun makes none of a name that nobody knows"
mkdir 'two words'
cp deck 'two words/deck"q'
run hrun-calibrate --level core --budget 10s ./mycode -in 'two words/deck"q'
status_is 0 "words with blanks and quotes"
run hrun-calibrate show
out_has "deck\"q'" "are shown"

# Learning without calibration: a run of a second and more.
run $h ./mycode -in slow
err_has "nothing is known of ./mycode yet" "the first run of a command"
run $h -n 1 ./mycode -in slow
run $h -n 1 ./mycode -in slow
run $h -n 1 ./mycode -in slow 1
ok "with -n nothing is said where standard error is no terminal and nothing was predicted" test -z "$err"
run script -qec "$h -n 1 ./mycode -in slow 1" /dev/null
out_has "hrun: actual " "at a terminal the time is"
run $h -v -n 1 ./mycode -in slow 1
err_has "hrun-calibrate --level core ./mycode -in slow 1" "what would calibrate it has the words as they were typed"
ok "a run of a second is recorded" grep -q ' mycode-' $HRUN_DATA/problems/commands
run $h ./mycode -in same
before=$(wc -l <$HRUN_DATA/problems/commands)
run $h true
run $h true
ok "shorter ones are not" test "$(wc -l <$HRUN_DATA/problems/commands)" = "$before"
run $h --no-record -n 1 ./mycode -in slow
status_is 0 "--no-record"

# Input that no word names is of the folder.
mkdir one two bin
printf '#!/bin/sh\nexec cat INCAR\n' >bin/vasp
chmod +x bin/vasp
echo a >one/INCAR
echo b >two/INCAR
PATH=$tmp/bin:$PATH
run hrun-calibrate --level core --budget 10s --wdir one vasp
status_is 0 "a program that finds its input in the folder"
run $h --dry-run --wdir one vasp
out_has predicted "is known there"
run $h --dry-run --wdir two vasp
out_has "never measured" "and in no other folder"
run bash -c 'hrun-calibrate --level core --budget 10s ./mycode -in deck <deck'
status_is 125 "standard input from a file is not for a calibration"
err_has "there is standard input" "which is said"

# A pipe among the arguments is left alone.
mkfifo pipe
(echo whole >pipe) &
run timeout 300 $h -n 1 cat pipe
out_has whole "what is in a pipe is for the program"

# The data folder of somebody else.
if [ "$(id -u)" = 0 ] && chmod 755 "$tmp" && setpriv --reuid 65534 --clear-groups test -x "$(command -v hrun)"; then
    other="setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/nonexistent HRUN_CACHE=$tmp/none"
    run $other $h --level core -n 1 ./mycode -in deck
    status_is 0 "a command that another user keeps runs all the same"
    err_has "hrun treats the command as new" "and why nothing is known of it is said"
    run $other hrun-calibrate --level core ./mycode -in deck
    status_is 125 "it is not calibrated there"
    err_has "--data DIR" "what to do is said"
fi

# What is in the way.
fails 125 "leave -N" "a size has no meaning" hrun --level core -N 9 -app lj ./mycode --deck=deck same
fails 125 "leave -N and --sizes out" "nor for calibrating" hrun-calibrate -N 9 -app lj ./mycode --deck=deck same
fails 127 "no such program" "a program that is not there" hrun-calibrate ./nonesuch deck
ok "leaves no record" test -z "$(ls $HRUN_DATA/problems | grep nonesuch)"
echo 'garbage in the index' >>"$HRUN_DATA"/problems/commands
run $h --dry-run ./mycode -in deck
out_has "predicted" "a line that is none is passed over"
printf 'name: [' >"$HRUN_DATA/problems/$name.yaml"
run $h --dry-run ./mycode -in deck
status_is 125 "a damaged definition"
err_has "$name.yaml:" "is named with its place"
printf 'name: x\nsize: some\n' >x.yaml
fails 125 "one of fixed, command, number" "size: of a definition is fixed, or of commands" hrun --dry-run -app ./x.yaml true
printf 'name: x\nsize: fixed\nsizes: [1, 2]\n' >x.yaml
fails 125 "there are no other sizes" "and has no sizes beside it" hrun --dry-run -app ./x.yaml true

# A definition that knows the program comes before what is known of the command, where it can tell the size.
printf '%s\n' 'name: later' 'programs: [mycode]' "args: ['-in', slow, '{N}']" 'terms: {np: ["1/P"], n: ["1"]}' >later.yaml
run $h --profile-path . --dry-run ./mycode -in slow 1
out_has "later  N = 1 (slow 1)" "a command that was run before is the definition's, whose args its words are"
run $h --profile-path . --dry-run ./mycode -in slow
out_has "mycode-" "and stays known of other words"
run $h --profile-path . --dry-run ./mycode -in same 7
out_lacks "mycode-" "not where nothing is known of them"
run $h --profile-path . --dry-run -app later ./mycode -in slow
out_lacks "mycode-" "nor where -app names the definition"

# A definition of commands.
mkdir -p one/defs
printf '%s\n' 'name: code' 'programs: [sized]' 'size: command' 'rule: "P != 2"' 'procs_per_pe: [1, 2]' \
    "time: {match: 'it''s ([0-9.hms ]+)', value: 'x/2'}" >one/defs/code.yaml
cat >sized <<'P'
#!/bin/sh
p=${OMPI_COMM_WORLD_SIZE:-1}
[ "$p" != 2 ] || { echo "not on two" >&2; exit 3; }
sleep 0.$((8 / p))
[ "${OMPI_COMM_WORLD_RANK:-0}" != 0 ] || echo "it's 1m $((8 / p)).5s"
P
chmod +x sized
d="--profile-path one/defs"
mkdir one/alone
sed 's/P != 2/P == 1/' one/defs/code.yaml >one/alone/code.yaml
run $h --profile-path one/alone --dry-run ./sized -in deck
out_lacks "never measured" "a command that a definition of commands knows"
out_has "as 1 process" "starts as many processes at first as its rule accepts"
run hrun-calibrate --level core --budget 20s $d ./sized -in deck
status_is 0 "a command whose program a definition of commands knows"
err_lacks "status 3" "is not run on counts that its rule excludes"
run $h $d --dry-run ./sized -in deck
out_has "sized-" "it has a name of its own"
out_has "predicted" "by which hrun finds it"
run $h $d ./sized -in deck
err_has "actual 3" "and the time is what it prints, units and value included"
run $h --dry-run ./sized -in deck
out_has "predicted" "once measured the definition is not needed"
run hrun-calibrate --level core --budget 10s $d -app byname ./sized -in same
ok "-app gives a name, and the definition counts nevertheless" grep -q 'P != 2' $HRUN_DATA/problems/byname.yaml
run hrun-calibrate --level core --budget 12runs $d -app varied --vary x=20,30,40 ./sized x 20
for key in "rule: 'P != 2'" "procs_per_pe: [1, 2]" "time: {match: 'it''s ([0-9.hms ]+)', value: 'x/2'}"; do
    ok "so it does where a number of the command is varied: $key" grep -qFx "$key" $HRUN_DATA/problems/varied.yaml
done
fails 125 "size: command" "with a size it means nothing" hrun --level core $d -N 9 -app code ./sized {N}
printf 'name: x\nsize: command\nargs: [a]\n' >x.yaml
fails 125 "has no 'args'" "what a command has of its own it cannot say" hrun --dry-run -app ./x.yaml true

# A default that the program refuses.
cat >refusing.c <<'C'
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int size, rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!rank)
        printf("%d processes\n", size);
    fflush(stdout);
    MPI_Finalize();
    return argc > 1 && size > 1;
}
C
mpicc -o refusing refusing.c
if [ "$(nproc)" -ge 2 ]; then
    pes="--host localhost:2 --level core"
    run hrun $pes --no-record ./refusing x
    for _ in 1 2; do
        run hrun $pes ./refusing x
        status_is 1 "a program refuses one process per core"
        out_has "2 processes" "once more in the next run, as the reason may be another"
    done
    err_has "the next run of this command starts another number of processes than 2" "after two failures that is said"
    ok "nothing was started again" test "$(grep -c processes .out)" = 1
    run hrun $pes -q --dry-run ./refusing x
    out_has "as 2 processes" "with -q, which would not say it, the default stays"
    run hrun $pes ./refusing x
    status_is 0 "the next run"
    out_has "1 processes" "starts what usual rules allow"
    err_has "2 processes failed in 2 earlier runs of this command: 1 is started, the largest square" "and says so"
    run hrun $pes ./refusing x
    status_is 1 "the default is started once more"
    err_has "and 1 worked: 2 are started once more, to see whether their number was the reason" "which is said"
    run hrun $pes ./refusing x
    err_has "2 processes failed in 3 earlier runs of this command: 1 is started, which worked" "then what has worked"
    run hrun $pes -n 2 ./refusing x
    status_is 1 "-n is obeyed"
    for _ in 1 2 3; do run hrun $pes ./refusing y; done
    run hrun-calibrate $pes --budget 5runs ./refusing y
    status_is 0 "what runs have told of a program is heard when it is calibrated"
    ok "a number that it refuses is tried again once" test "$(grep -c 'P=2 .*failed' .err)" = 2
    run hrun $pes --dry-run ./refusing
    err_lacks "failed" "another command is another one"
    touch -d '+1 hour' refusing
    run hrun $pes --dry-run ./refusing x
    err_lacks "failed" "and so is a program that was built since"
    sed 's/size > 1/!fopen("input", "r")/' refusing.c >needing.c
    mpicc -o needing needing.c
    rm -f input
    for _ in 1 2; do run hrun $pes ./needing x; done
    touch input
    run hrun $pes ./needing x
    out_has "1 processes" "a program whose input was missing is started once with another number"
    for _ in 1 2; do
        run hrun $pes ./needing x
        status_is 0 "then with the default, which works"
        out_has "2 processes" "and stays"
    done
    run hrun $pes sh -c 'exit 3'
    err_lacks "failed at once" "what is no program of MPI is not learnt of"
else
    skip "a program that refuses one process per core" "two cores are needed"
fi

# A command that was only run: hrun learns from its runs, and fit without a name makes no models of them.
printf '#!/bin/sh\nexec sleep 1.1\n' >only-run
chmod +x only-run
run $h ./only-run
run $h ./only-run
ok "runs of a command are recorded" test -n "$(ls "$HRUN_DATA"/profiles/only-run-*/*.log)"
run hrun-calibrate fit
ok "fit leaves them to hrun" test -z "$(ls "$HRUN_DATA"/profiles/only-run-*/*.yaml 2>/dev/null)"
run hrun-calibrate fit "$(basename "$HRUN_DATA"/profiles/only-run-*)"
ok "unless it is asked for them" test -n "$(ls "$HRUN_DATA"/profiles/only-run-*/*.yaml)"
done_testing
