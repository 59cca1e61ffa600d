#!/bin/bash
# hrun-calibrate --new: a program with a rule and no definition gets one, a profile, and a launch, from one command.
. "$(dirname "$0")/tap.sh"
two_cores
cd "$tmp" || exit 1
unset HRUN_PROFILE_PATH
cp "$bin/fft" mycode
own=$HOME/.config/hrun/profiles/mycode.yaml
clock='^time: ([0-9.eE+-]+) s$'
sizes="--sizes 4096,16384,65536"
new="hrun-calibrate --new -app mycode $sizes --procs 1"

run hrun --dry-run -app mycode -N 4096 ./mycode
status_is 125 "before, nothing is known of it"

run hrun-calibrate --new -app mycode ./mycode '{N}'
status_is 125 "sizes are needed"
one_error "in one line"
err_has "--sizes" "which names the option"
fails 125 "-app MyCode: the name of a new application has lower-case letters" "a name with capital letters" \
    hrun-calibrate --new -app MyCode -N 4096 ./mycode '{N}'
err_has "-app mycode would do" "is told in lower-case ones"
fails 125 "and does not end in .yaml: -app mycode would do" "that of a file is none" \
    hrun-calibrate --new -app mycode.yaml -N 4096 ./mycode '{N}'
run hrun-calibrate --new -app mycode --sizes 64 ./mycode '{N}'
status_is 125 "one size"
err_has "--sizes: two sizes or more" "tells nothing of growth, which is said before anything is run"
run $new ./mycode
status_is 125 "the size has to reach the program"
err_has "{N}" "and how is said"
run hrun-calibrate --new
status_is 125 "so is a program"
run $new --rule 'N %% P' ./mycode '{N}'
status_is 125 "a rule that is none"
one_error "is told in one line"
err_has "--rule 'N %% P'" "by its option"
run $new --force --rule 'P < 1' ./mycode '{N}'
status_is 125 "a rule that accepts nothing"
err_has "--rule 'P < 1': accepts no number of processes" "is refused before anything is run or replaced"
run $new --time '^time: (' ./mycode '{N}'
status_is 125 "a regular expression that is none"
err_has "--time: '^time: ('" "is told by its option"
run $new --time '^time: ' ./mycode '{N}'
status_is 125 "one without a group, too"
one_error "in one line"
run $new -- ./mycode '{N}' --no-such-option
status_is 125 "a program that never works"
err_has "no run of mycode worked" "is told"
ok "and no definition is left" test ! -e "$own"

mkdir mine
: >mine/mycode.yaml
run hrun-calibrate --new -app mycode $sizes --rule 'P >= 1' --profile-path ":$tmp/mine" -- ./mycode '{N}'
err_has "$tmp/mine/mycode.yaml is there already" "the definition goes to the first one that is named"

before=$(litter)
run $new --time "$clock" -- ./mycode '{N}'
status_is 0 "a definition is made"
err_has "N=4096 on 3 processes: exit" "the rule was tried"
err_has "the rule is ispow2(N) && ispow2(P)" "and found"
out_has "$own" "where it is written is told"
out_has "npt/nnls" "and the models are fitted"
err_has "the terms rest on little and may be poor" "two numbers of processes tell little, which is said"
err_has "at 3 sizes and 2 numbers of processes; better ones need at least three numbers of processes" "with what there is"
ok "nothing else is left behind" nothing_new "$before"
ok "it says how the rule was found" grep -q '^# Found by runs' "$own"
ok "and what was measured" grep -q 'N from 4096 to 65536 on 1 to 2 processes' "$own"
ok "its own time is read" grep -q "^time: {match: '^time:" "$own"
ok "the words of the command are kept" grep -qF "args: ['{N}']" "$own"
ok "the first term is divided work" grep -q "^  np: \['[^']*/P'" "$own"

run hrun --dry-run -app mycode -N 32768 ./mycode
status_is 0 "hrun predicts with it"
out_has "NP-T/NNLS" "by the models"
run hrun -N 32768 ./mycode
status_is 0 "and runs it, known by its name alone"
out_has "check: ok" "with the size"
run hrun --dry-run -app mycode -N 30000 ./mycode
status_is 125 "what the rule excludes is refused"
run hrun ./mycode 32768
err_has "hrun: N = 32768 (mycode 32768) of mycode, predicted" "the size is read where {N} stands in the definition"
err_has "hrun: predicted" "and the run is compared with the model"
run hrun --dry-run=time ./mycode 32768
status_is 0 "also for scripts"
run hrun-calibrate --dry-run ./mycode 8192
err_has "N = 8192 (mycode 8192) of mycode" "so hrun-calibrate reads it, as one more size"
fails 125 "-N gives the size 4096, but 'mycode 32768' gives 32768" "-N must not contradict it" hrun -N 4096 ./mycode 32768
run hrun ./mycode 32768 x
err_has "no -N given, and the arguments do not match the definition's args: '{N}', so no model is used" \
    "of other words no size is known"

sum=$(cksum <"$own")
run $new ./mycode '{N}'
status_is 125 "a definition is not overwritten"
one_error "which is told in one line"
err_has "--force" "with the way to do it"
ok "it is as it was" test "$sum" = "$(cksum <"$own")"
run $new --force --rule 'ispow2(N) && N % (P*P) == 0' ./mycode '{N}'
status_is 0 "--force replaces it"
err_lacks "on 3 processes" "a rule that is given is not tried"
err_has "measurements are there already" "and what was measured counts"
ok "it is the one given" grep -qF "rule: 'ispow2(N) && N % (P*P) == 0'" "$own"

mkdir here
run $new --profile-path here --data here --rule 'ispow2(N) && ispow2(P)' --dry-run ./mycode '{N}'
status_is 0 "a dry run"
out_has "first runs" "lists the first runs"
ok "and writes nothing" test -z "$(ls here)"
run $new --profile-path here --rule 'ispow2(N) && ispow2(P)' -q ./mycode '{N}'
status_is 0 "--profile-path"
ok "is where the definition goes" test -e here/mycode.yaml

# What the chosen terms would choose is run, too; --runs is for both parts, and the grid is not measured twice.
cat >exact <<'P'
#!/bin/sh
[ "$1" != 141 ] && awk "BEGIN { print \"time:\", $1 ^ 3 * 1e-7 / $2 + 1e-3 * $2, \"s\" }"
P
chmod +x exact
exact=(--new --rule 'P >= 1' --time "$clock" -- ./exact '{N}' '{P}')
records() { cat "$HRUN_DATA/profiles/$1"/*.log | grep -c '"origin":"calibration"'; }
run hrun-calibrate -app chosen --sizes 60,100,140,200 "${exact[@]}"
status_is 0 "a definition by chosen runs"
ok "each size's choice by the terms that were chosen rests on runs" \
    test "$(sed -n '/rests on/,$p' .out | grep -cE '^ *(60|100|140|200) .* [0-9]+ runs?( +\*)?$')" = 4
run hrun-calibrate -app few --sizes 60,100,140,200 --procs 1 --budget 7runs "${exact[@]}"
err_has "all runs of --budget are made; 3 runs in" "7 runs: three before the terms are chosen"
ok "and at most one with them" test "$(records few)" -le 7
ok "a loss that nobody would see is not told" eval '! grep -qE "[0-9]e-[0-9]+ %" .err'
marks() { cat "$HRUN_DATA"/profiles/few/*.log | grep -c '"status":"anew"'; }
run hrun-calibrate -app few --sizes 60,100,140,200 --procs 1 --budget 7runs --again --force "${exact[@]}"
status_is 0 "--again measures anew"
err_has "; 3 measurements are there already" "and what it measures first counts in its later parts"
ok "what stood before is marked once" test "$(marks)" = 1
run hrun-calibrate -app two --sizes 60,200 --pes 1 --procs 1 --budget 2runs "${exact[@]}"
out_has "single/" "2 runs leave none for the second part, which fits"
ok "and are two in all" test "$(records two)" = 2
run hrun-calibrate -app grid --full-grid -r 1 --sizes 60,100,141,200 --pes 1 --procs 1 --retries 0 "${exact[@]}"
out_has "single/nnls" "a definition by the full grid"
ok "each run is made once, also the one that fails" test "$(records grid)" = 4

# A program that is told its shares of N units has no more processes than units.
cat >dealt <<'P'
#!/bin/sh
echo "$2" | tr , '\n' | awk -v n="$1" -v p="$OMPI_COMM_WORLD_SIZE" '$1 < 1 { bad = 1 }
    $1 > most { most = $1 } { sum += $1 }
    END { if (bad || sum != n || NR != p) exit 3; print "time:", n ^ 2 * most * 1e-4 + 1e-3, "s" }'
P
chmod +x dealt
run hrun-calibrate --new -app dealt --sizes 4,8,16 --time "$clock" -- ./dealt '{N}' '{shares:units:,}'
status_is 0 "a program that is told its shares"
err_lacks "exit 3" "is not run with fewer units than processes"
err_has "the rule is P <= N" "which is its rule"
ok "and stands in the definition" grep -qxF "rule: 'P <= N'" "${own%/*}/dealt.yaml"

# The rule is tried on the PEs that may be used.
printf '#!/bin/sh\ngrep Cpus_allowed_list /proc/self/status >>"$SEEN"\nexec ./mycode "$@"\n' >wrapped
chmod +x wrapped
name=$(hrun --show-cluster | awk '/ signature$/ { getline; print $1 }')
run env SEEN="$tmp/seen" hrun-calibrate --new -app narrow --sizes 4096,16384 --procs 1 --budget 4runs --use "$name:1" \
    --time "$clock" -- ./wrapped '{N}'
status_is 0 "a definition made on one PE"
err_has "N=4096 on 2 processes: works" "with runs of several processes"
ok "which used no other PE" test "$(sort -u seen | wc -l)" = 1

done_testing
