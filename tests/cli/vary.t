#!/bin/bash
# hrun-calibrate --vary: a number in a command is its size; hrun knows the command at any value of it.
. "$(dirname "$0")/tap.sh"
cd "$tmp" || exit 1
# Work that N says, and the deck; its time is told, so that no clock counts.
cat >mycode <<'P'
#!/bin/sh
for w; do case $last in x|-nx) n=$w ;; -in) deck=$w ;; esac; case $w in size=*) n=${w#*=} ;; esac; last=$w; done
[ "$n" = 13 ] && exit 3
awk -v n="$n" -v p="${OMPI_COMM_WORLD_SIZE:-1}" '{ print "time:", n ^ 3 * $1 / p + 1e-3, "s" }' "$deck"
P
chmod +x mycode
echo 1e-5 >deck
h="hrun --level core"
clock='^time:.([0-9.eE+-]+)'
new="hrun-calibrate --level core --time $clock"
lj="./mycode -in deck -var x"

# What is in the way, before anything is run.
fails 125 "has no 'y'; its numbers are: x 20" "no such number" $new --vary y=12,16 $lj 20
fails 125 "several 'x'" "a number that stands twice" $new --vary x=12,16 $lj 20 x 30
fails 125 "'x' is '2.5' in the command" "one that is not whole" $new --vary x=12,16 $lj 2.5
fails 125 "given twice" "two numbers" $new --vary x=12,16 --vary y=3 $lj 20
fails 125 "--sizes does nothing for" "--sizes beside it" $new --vary x=12,16 --sizes 3 $lj 20
fails 125 "--size does nothing for" "-N beside it" $new --vary x=12,16 -N 3 $lj 20
fails 125 "--vary does nothing for" "--new beside it" $new --vary x=12,16 --new $lj 20
fails 125 "{N} stands in the command" "{N} beside it" $new --vary x=12,16 $lj '{N}'
fails 125 "-app lu is a definition" "-app of a definition" $new --vary x=12,16 -app lu $lj 20
fails 125 "the definition of lu knows the program" "a program that a definition knows" $new --vary x=12,16 ./lu x 20
fails 125 "two sizes or more" "one value" $new --vary x=12 $lj 20
fails 125 "the list is empty" "none" $new --vary x= $lj 20
fails 125 "NAME=LIST" "no name" $new --vary =12 $lj 20
fails 125 "no program given" "no command" $new --vary x=12,16
fails 125 "write a script" "a line's end in a word" $new --vary x=12,16 $lj 20 $'a\nb'
fails 125 "write a script" "what is no text" $new --vary x=12,16 $lj 20 $'\xff\xfe'
run bash -c "hrun-calibrate --vary x=12,16 $lj 20 <deck"
err_has "there is standard input" "standard input from a file is said"
ok "nothing is left of all that" test ! -e $HRUN_DATA/problems

run $new --vary x=12,16,20 --dry-run $lj 20
status_is 0 "a dry run"
ok "writes nothing" test ! -e $HRUN_DATA/problems
run $new --vary x=12,16,20 $lj 20
status_is 0 "a command is measured at several values of a number"
err_has "the rule is P >= 1" "its rule is found"
name=$(basename $HRUN_DATA/problems/mycode-*.yaml .yaml)
out_has "$name: rule P >= 1, terms " "and terms"
ok "none of the user's definitions" test -z "$(find "$HOME" -name '*.yaml')"
ok "that of the command has the sizes" grep -q '^sizes: \[12, 16, 20\]' "$HRUN_DATA/problems/$name.yaml"
models=$(sed '/^fitted\|^# crc32/d' "$HRUN_DATA/profiles/$name"/*.yaml)
run hrun-calibrate fit "$name"
[ "$models" = "$(sed '/^fitted\|^# crc32/d' "$HRUN_DATA/profiles/$name"/*.yaml)" ]
tap_report $((!$?)) "fit makes the same models of the same runs"
run hrun-calibrate show
out_has "  $lj '{N}'" "show tells the command with {N}"
run hrun-calibrate show "$name"
status_is 0 "show knows its name"
run hrun-calibrate report "$name" -o page.html
status_is 0 "so does report"

run $h --dry-run $lj 18
status_is 0 "hrun knows it at another value"
out_has "$name  N = 18 (x 18) on " "as its size"
out_has "predicted" "with a prediction"
out_has "would run: $lj 18" "of the same words"
run $h $lj 18
err_has "N = 18 (x 18) of $name, predicted " "which is said before the run"
err_has "prediction error" "compared after it"
ok "and recorded at that size" grep -q '"N":18.*"origin":"run"' $HRUN_DATA/profiles/"$name"/*.log
run $h --dry-run "$tmp/mycode" -in deck -var x 18
out_has "N = 18 (x 18)" "the folder of the program does not count"
run $h --dry-run $lj 200
out_has "extrapolates: N = 200 is 10.0 times beyond" "a value far away is extrapolated"
out_has "hrun-calibrate --level core --sizes 200 $lj '{N}'" "and how it is measured is said"
run $h --dry-run=time $lj 18
status_is 0 "the time alone"
run $h --dry-run --json $lj 18
out_has '"N": 18' "JSON"
run $h --dry-run -N 18 $lj '{N}'
out_has "$name  N=18 on " "{N} with -N is the same command"
run $h --explore 50% --dry-run $lj 18
status_is 0 "--explore"
for other in "./mycode -in deck -var y 18" "./mycode -in deck -var x 18 more" "./mycode -in deck -var x 018"; do
    run $h --dry-run $other
    out_has "never measured" "another command: $other"
done

# More values.
run $new --vary x=24,28 $lj 20
status_is 0 "a second --vary adds values"
err_lacks "the rule is" "its rule is known"
ok "to those there are" grep -q '^sizes: \[12, 16, 20, 24, 28\]' "$HRUN_DATA/problems/$name.yaml"
ok "of one definition" test "$(ls $HRUN_DATA/problems | wc -l)" = 2
run hrun-calibrate --level core $lj 32
status_is 0 "the command with another value"
err_has "N = 32 (x 32) of $name" "is measured at it"
ok "too" grep -q '"N":32.*"origin":"calibration"' $HRUN_DATA/profiles/"$name"/*.log
run hrun-calibrate --level core --sizes 36 $lj '{N}'
status_is 0 "so is one that --sizes names"
run hrun-calibrate fit "$name"
status_is 0 "fit knows it"
run $new --vary x=13,26 --procs 1 $lj 20
status_is 125 "a value at which it fails"

# The deck.
echo 2e-5 >deck
run $h $lj 18
err_has "have changed since it was last run" "a changed deck is said"
err_has "prediction error" "and what was known is the guess"
run $h $lj 22
err_lacks "have changed" "once, for all values"
: >18
run $h --dry-run $lj 18
out_has "N = 18 (x 18)" "a file with the name of a number is none of its files"

# Names, and other forms of a number.
run $new --vary size=12,16,20 --procs 1 -app own ./mycode -in deck size=20
status_is 0 "NAME=NUMBER, with a name of its own"
run $h --dry-run ./mycode -in deck size=24
out_has "own  N = 24 (size=24)" "is known by its words"
run $h --dry-run -app own ./mycode -v -in other size=24
out_has "own  N = 24 (size=24)" "and by its name, whatever the other words are"
run $h --dry-run -app own -N 24 ./mycode
out_has "./mycode -in deck size=24" "which has the words as well"
run $new --vary size=28 -app own ./mycode -in deck size=20
ok "processes per PE stay as they were" grep -qF 'procs_per_pe: [1]' $HRUN_DATA/problems/own.yaml
run $new --vary nx --budget 12runs ./mycode -in deck -nx 24
status_is 0 "--vary NAME: up to the value that the command has"
ok "which is the largest" grep -q '^sizes: \[.*, 24\]' $HRUN_DATA/problems/mycode-*.yaml
run hrun-calibrate --level core -app flat --budget 8runs $lj 40
status_is 0 "-app OTHER makes one value a command of its own"
run $h --dry-run $lj 40
out_has "flat on " "which counts for that value"
run $h --dry-run $lj 41
out_has "N = 41 (x 41)" "and for no other"
fails 125 "flat is a command whose work is the same" "it is not varied under this name" $new --vary x=2,3 -app flat $lj 40

# Definitions of users.
mkdir mine
cp mycode theirs
printf '%s\n' 'name: theirs' 'programs: [theirs]' 'size: number' 'terms: {np: ["N^3/P", "1"], n: ["N^3", "1"], p: ["T/P"]}' \
    "args: ['-in', deck, '-nx', '{N}']" "time: {match: '$clock'}" 'sizes: [12, 16, 20]' >mine/theirs.yaml
run hrun-calibrate --profile-path mine --level core ./theirs -in deck -nx 24
status_is 0 "a definition with size: number is measured"
err_has "N = 24 (-nx 24) of theirs" "also at the size of the command"
run $h --profile-path mine --dry-run ./theirs -nx 18 -in deck
out_has "theirs  N = 18 (-nx 18) on " "and finds it without -N"
sed -i 's/{N}/20/' mine/theirs.yaml
fails 125 "mine/theirs.yaml:3:7: with size: number one word of args" "args have to say where it stands" \
    hrun --profile-path mine --dry-run ./theirs -nx 18
done_testing
