#!/bin/bash
# Bad input: one clear error, the right status, nothing changed.
. "$(dirname "$0")/tap.sh"
two_cores
lu=$bin/lu
cd "$tmp" || exit 1

# ---- sizes
for n in 0 -5 abc 1e400 99999999999999999999 '' 9.5; do
    fails 125 "-N" "N = '$n' is refused" hrun --dry-run -app lu -N "$n" "$lu"
done

# ---- names
fails 125 "no definition of 'nosuch'" "unknown app" hrun -app nosuch -N 100 "$lu"
fails 125 "hpl" "a near miss is suggested" hrun -app hlp -N 100 "$lu"
fails 125 "engine" "unknown engine" hrun --engine warp -app lu -N 100 "$lu"
fails 125 "objective" "unknown objective" hrun --objective beauty -app lu -N 100 "$lu"
fails 125 "unknown option" "unknown option" hrun --frobnicate "$lu"
fails 125 "level" "unknown level" hrun --level rack --show-cluster
fails 125 "no program" "no program" hrun
fails 127 "nosuchprogram" "program not found" hrun ./nosuchprogram
fails 127 "nosuchprogram" "program not found in PATH" hrun nosuchprogram
fails 127 "24: there is no program of this name in PATH; is it part of an option" "a list without commas" hrun-calibrate -app lu --sizes 16 24 32 "$lu"
echo hello > "$tmp/plain"
fails 126 "plain" "program not executable" hrun ./plain
mkdir folder
fails 126 "folder" "a folder is no program" hrun ./folder
fails 125 "it needs -N SIZE" "no size: refused before anything is said of the run" hrun "$lu"
printf 'name: keeps\nrule: "P >= 1"\nterms: {np: ["N/P"], n: ["N"]}\nfiles: [{path: in.txt, content: "{N}"}]\n' > keeps.yaml
echo mine > in.txt
for v in "" -v --dry-run; do
    fails 125 "in.txt" "a file that is not to be written over: the same${v:+, with $v}" \
        hrun $v --data "$tmp/kept" --profile-path "$tmp" -app keeps -N 100 true
done
fails 125 "-N, the problem size, needs an app definition" "size without a definition" hrun -N 100 /bin/true

# ---- options that do not parse
for o in "--nosuch" "-N" "--level bogus x"; do
    fails 125 "hrun-calibrate: " "hrun-calibrate $o" hrun-calibrate $o
done

# ---- options without an effect, and words (tests/unit/command_line.h tries every option)
fails 125 "--top needs a whole number" "a bad value that nothing would read" hrun --top x /bin/true
fails 125 "--top does nothing without --dry-run or --verbose" "alternatives that nobody sees" \
    hrun --top 3 /bin/true
fails 125 "--top does nothing for \`--show-cluster=users\`" "--show-cluster=users and an option of runs" \
    hrun --show-cluster=users --top 3
fails 125 "-n: --np does nothing for \`--list-apps\`" "--list-apps and an option of runs" hrun --list-apps -n 4
fails 125 "--json does nothing for \`--list-apps\`" "--list-apps has no JSON" hrun --list-apps --json
fails 125 "--np does nothing for \`--show-cluster\`" "--show-cluster and an option of runs" \
    hrun --show-cluster -n 4
fails 125 "\`--show-cluster=users\` takes no program or name: '/bin/true'" "--show-cluster=users and a program" \
    hrun --show-cluster=users /bin/true
for o in "variant x" "define a=1"; do
    # shellcheck disable=SC2086
    fails 125 "--${o%% *} does nothing without an app definition: none knows the program /bin/true" "--$o alone" \
        hrun --$o /bin/true
done
fails 125 "--variant does nothing without an app definition: there is none" "--show-cluster of no application" \
    hrun --show-cluster --variant x
fails 125 "--define does nothing without an app definition: there is none" "speeds for no application" \
    hrun-calibrate speeds -D a=1
run hrun --explore 5% /bin/true
status_is 0 "--explore of a command"
fails 125 "--explore does nothing without a size" "--explore of no size" hrun --explore 5% -app lu "$lu" size
run hrun --force --refresh --skip-unreachable --oversubscribe /bin/true
status_is 0 "what only allows something is accepted where it is not needed"
fails 127 "'shwo' is neither a program nor a subcommand; did you mean 'show'?" "a subcommand with a typing mistake" \
    hrun-calibrate shwo lu
for word in ls rm help; do
    fails 125 "'$word' reads like a subcommand, but there is none of this name" "one that there is not: $word" hrun-calibrate $word lu
done
run hrun-calibrate --dry-run /bin/ls
status_is 0 "a program of such a name, with its path"
mkdir here
printf '#!/bin/sh\necho from the folder\n' | tee here/mycode here/true >/dev/null
chmod +x here/mycode here/true
run hrun --wdir here -n 1 mycode
out_has "from the folder" "a program of the working directory without ./ runs, as by mpirun"
ok "which is said once" test "$(grep -c "mycode is not in PATH: ./mycode of the working" .err)" = 1
run hrun -n 1 true : --wdir here -n 1 mycode
out_has "from the folder" "so does a further one"
ok "and that is said once" test "$(grep -c "./mycode of the working" .err)" = 1
out_lacks "$(printf 'from the folder\nfrom the folder')" "what is in PATH goes before it"
run sh -c 'cd here && hrun-calibrate --dry-run mycode'
err_has "mycode is not in PATH: ./mycode of the working directory is used" "hrun-calibrate takes it as well"
for dash in - --; do
    run hrun -n 1 /bin/echo 5 ${dash}dry-run=time
    out_has "5 ${dash}dry-run=time" "an option of hrun's behind the program, ${dash}dry-run, is the program's"
    err_has "hrun: '${dash}dry-run=time' comes after /bin/echo, so /bin/echo gets it" "which is said"
done
run hrun-calibrate --dry-run /bin/true --full-grid
err_has "hrun-calibrate: '--full-grid' comes after /bin/true, so /bin/true gets it" "so it is of hrun-calibrate's"
run hrun -n 1 -- /bin/echo --dry-run
err_lacks "--dry-run" "not with -- before the program"
run hrun -n 1 /bin/echo --dry --n --np {P} --top={P} -- --np
err_lacks "behind" "nor of words that are none exactly, have a template as value, or stand behind one more --"
fails 125 "'5m' after --wait would be taken as the program: write --wait=5m" "a value that needs '='" \
    hrun --wait 5m "$lu"
fails 125 "--limit: 'tim' is none of time=TIME, cost=COST" "a limit that there is not" \
    hrun --dry-run --limit pes=4,tim=5 -app lu -N 100 "$lu"
fails 125 "--limit pes needs a whole number" "one of no number" hrun --dry-run --limit pes=few -app lu -N 100 "$lu"
fails 125 "option '--dry-run' must be one of choice, time, found 'tme'; did you mean 'time'?" "a dry run of something else" \
    hrun --dry-run=tme -app lu -N 100 "$lu"
fails 125 "--budget does nothing for \`fit\`" "hrun-calibrate fit with options of runs" \
    hrun-calibrate fit --budget 5m --trace --threshold 3 lu
fails 125 "--budget needs a time" "hrun-calibrate export with a bad value" \
    hrun-calibrate export --budget nonsense --pes zz
fails 125 "--pes needs a whole number" "and with a bad list" hrun-calibrate export --pes zz
fails 125 "--seed and --full-grid contradict each other" "a seed of nothing" \
    hrun-calibrate --full-grid --seed 3 -app lu "$lu"
fails 125 "--size and --sizes contradict each other" "two options that say which sizes" \
    hrun-calibrate -N 60 --sizes 100 -app lu "$lu"
fails 125 "--budget needs a time" "a budget of runs in other words" hrun-calibrate --budget 5m,9walks -app lu "$lu"
fails 125 "--budget needs a whole number in 1..1000000" "a budget of no run" hrun-calibrate --budget 0runs -app lu "$lu"
fails 125 "--sizes: the range 1000-500 runs backwards: say 500-1000" "a range that runs backwards" \
    hrun-calibrate --sizes 1000-500 -app lu "$lu"
fails 125 "--plot and --json contradict each other" "a plot in a document" hrun-calibrate show --plot --json
fails 125 "--define needs NAME=VALUE" "a constant without a value" hrun-calibrate show -D nonsense lu
fails 125 "are not measured together" "hrun-calibrate and several programs" hrun-calibrate /bin/echo : /bin/echo
run hrun -n 1 -- /bin/echo a : b
status_is 0 "a colon of the program"
out_has "a : b" "is passed on to it"

# ---- numbers of processes, configurations
fails 125 "-n" "-n 0" hrun -n 0 /bin/true
fails 125 "-n" "-n x" hrun -n x /bin/true
fails 125 "holds at most" "P larger than the cluster" hrun -n 100000 /bin/true
fails 125 "--config" "configuration with too many PEs" hrun --config '(100000,1)' /bin/true
fails 125 "--config" "configuration that does not parse" hrun --config '(1,' /bin/true
fails 125 "sub-cluster" "--use of an unknown sub-cluster" hrun --use nosuch /bin/true
fails 125 "--timeout" "timeout that is no time" hrun --timeout soon /bin/true
fails 125 "MPIEXEC_TIMEOUT needs a time" "nor that of mpiexec" env MPIEXEC_TIMEOUT=soon hrun -n 1 true
run env MPIEXEC_TIMEOUT=1 hrun -n 1 sleep 60
status_is 124 "MPIEXEC_TIMEOUT ends a run as --timeout does"
for none in 0 -1 ""; do
    run env MPIEXEC_TIMEOUT=$none hrun -n 1 true
    status_is 0 "MPIEXEC_TIMEOUT=$none is none"
done
run env MPIEXEC_TIMEOUT=1 hrun --no-record --timeout 60 -n 1 sleep 1.5
status_is 0 "--timeout goes before it"

fails 125 "contradict" "-n and --config" hrun -n 2 --config '(1,1)' /bin/true
fails 125 "--json" "--json of a run" hrun --json /bin/true
one=$(hrun --show-cluster --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["subclusters"][0]["name"])')
fails 125 "to use" "--config beyond --use" hrun --use "$one:1" --config '(2,1)' /bin/true
fails 125 "leaves no PE" "--use of nothing" hrun --use "$one:0" /bin/true
fails 125 "no sub-cluster has so many" "--pes beyond the cluster" hrun-calibrate --pes 5000 --sizes 100 -app lu "$lu"
fails 125 "write {N}" "a calibration whose size does not reach the program" \
    hrun-calibrate --sizes 100,200 -app lu "$lu" 100
fails 125 "HWLOC_SYNTHETIC" "a calibration on a described topology" \
    env HWLOC_SYNTHETIC='package:1 [numa(memory=8GB)] core:4 pu:1' hrun-calibrate --sizes 100 -app lu "$lu"
run hrun --use "$one:1" -n 2 --oversubscribe --dry-run --json /bin/true
ok "--use holds when ranks go round again" python3 -c '
import json, sys
assert {r["pe"] for r in json.load(open(sys.argv[1]))["ranks"]} == {0}' "$tmp/.out"
"$build/bin/hrun" -n 1 /bin/true <&- >&- 2>&-
status=$? out= err=
status_is 0 "closed standard descriptors"

# ---- the application's rule
run hrun --dry-run -app fft -N 1000 -n 3 "$bin/fft"
status_is 125 "a P that the rule excludes is refused"
err_has "does not accept P = 3" "and the rule is named"

# ---- host files
printf 'no-such-host.invalid slots=2\n' > unknown
echo no-such-host.invalid > granted
fails 125 "service not known (PBS job 3 grants it)" "an unknown host of a job" \
    env PBS_JOBID=3 PBS_NODEFILE="$PWD/granted" hrun /bin/true
fails 125 "unknown:1" "host file with an unknown host names file and line" hrun --hostfile unknown /bin/true
: > empty
fails 125 "empty" "empty host file" hrun --hostfile empty /bin/true
printf '# only a comment\n\n' > comment
fails 125 "comment" "host file without hosts" hrun --hostfile comment /bin/true
printf 'localhost slots=1\nlocalhost slots=1\n' > twice
fails 125 "twice:2" "duplicate host names the line" hrun --hostfile twice /bin/true
fails 125 "--machinefile: there is already a host file, twice" "two host files" \
    hrun --hostfile twice --machinefile nonl /bin/true
fails 125 "nosuchfile" "missing host file" hrun --hostfile nosuchfile /bin/true
printf 'localhost slots=1\r\n' > crlf
run hrun --hostfile crlf --level core -n 1 /bin/echo hi
status_is 0 "CRLF host file is read"
out_has hi "and the program runs"
printf 'localhost slots=1' > nonl
run hrun --hostfile nonl --level core -n 1 /bin/echo hi
status_is 0 "host file without a last newline is read"
fails 125 "no-such-host" "--host with an unknown host" hrun --host no-such-host.invalid /bin/true

# ---- cluster files
cat > cluster.yaml <<'Y'
subclusters:
  - name: fast
    hosts: no-such-host-[0-3].invalid
    cores: 4
    memory: 16GiB
    cpu: Xeon
Y
fails 125 "cluster.yaml:3" "cluster file naming hosts that do not exist" hrun --cluster cluster.yaml --show-cluster

# ---- profiles
mkdir -p defs
cat > defs/bad.yaml <<'Y'
name: bad
rule: "N % (P - 1) == 0"
terms:
  np: ["N/P", "1"]
  n: ["N", "1"]
Y
run hrun --profile-path "$tmp/defs" --dry-run -app bad -N 10 /bin/true
status_is 125 "a rule that divides by zero for some P fails"
err_has "P=1" "and names the P"
sed -i 's,^rule:.*,rule: P >= 1,; s,"N/P","N/(P-1)",' defs/bad.yaml
fails 125 "defs/bad.yaml: terms: 'N/(P-1)' divides by zero at N=100, P=1, which the rule accepts" \
    "a term without a value where the rule accepts a run is told before anything is run" \
    hrun-calibrate --profile-path "$tmp/defs" -app bad --sizes 100,200 "$lu" '{N}'
cat > defs/key.yaml <<'Y'
name: key
rulez: "1"
terms:
  np: ["N/P"]
  n: ["N"]
Y
fails 125 "key.yaml:2:1" "an unknown key has a place" hrun --profile-path "$tmp/defs" --dry-run -app key -N 10 /bin/true

# ---- no topology, no mpirun
fails 125 "nosuch.xml" "no hwloc topology" env HWLOC_XMLFILE=nosuch.xml hrun --show-cluster
mkdir -p nopath
fails 125 "mpirun" "mpirun missing" env PATH=nopath "$build/bin/hrun" --engine mpirun -n 1 /bin/true

# ---- disks
run hrun --show-cluster
status_is 0 "the cluster is shown"
if [ -w /dev/full ]; then
    "$build/bin/hrun" --show-cluster > /dev/full 2>"$tmp/.err"
    status=$? out= err=$(cat "$tmp/.err")
    status_is 125 "a full disk under the output is an error"
    "$build/bin/hrun" --tag-output -n 1 /bin/echo hi > /dev/full 2>"$tmp/.err"
    status=$? out= err=$(cat "$tmp/.err")
    status_is 125 "a full disk under the program's output too"
    err_has "standard output: No space left on device" "and is told"
fi

# ---- many processes on few hosts
run hrun -q -n 1000 --oversubscribe --dry-run true
status_is 0 "a dry run of 1000 processes on one host"
out_has "P = 1000" "is told"
run env HWLOC_SYNTHETIC='core:1000 pu:1' hrun -q --dry-run true
status_is 0 "and on a host of 1000 cores"

# ---- what a terminal would obey
fails 127 "in PATH, which is" "a dot is no list of sizes" hrun .
run hrun "$(printf 'no\033[31mprog')"
status_is 127 "a program whose name has control characters"
err_has 'no\u001b[31mprog' "is told without them"
run hrun "$(printf './two\nlines')"
one_error "a name of two lines is told in one"
name=$(printf 'p\033[31m\302\233\177\377\rgr\303\274n')
printf '#!/bin/sh\nprintf "\\033[31m\\200\\r\\n"; printf "\\033" >&2; exit 3\n' >"$tmp/$name"
chmod +x "$tmp/$name"
run hrun --dry-run "$tmp/$name"
out_has "would run: '$tmp/$(printf 'p\\u001b[31m\\u009b\\u007f\\xff\\u000dgr\303\274n')'" "one that is there, in a report"
run hrun --dry-run --json "$tmp/$name"
ok "JSON stays JSON" python3 -c 'import json, sys; assert "\x1b[31m" in json.load(open(sys.argv[1]))["argv"][0]' "$tmp/.out"
run hrun -q -n 1 "$tmp/$name"
ok "what a program writes is passed on as it is" cmp "$tmp/.out" <(printf '\033[31m\200\r\n')
ok "to standard error, too" grep -q "$(printf '^\033')" "$tmp/.err"
run hrun -n 1 --no-such-option="$(printf '\302\233')"
err_lacks "$(printf '\302\233')" "control characters beyond ASCII are none of a message"

for letter in a ab abc; do      # characters of three bytes, across the ends of what is written at once
    mkdir "$tmp/$letter"
    printf '%s\n' "name: euros" "title: $letter$(yes € | head -n 8000 | tr -d '\n')" \
        'terms: {np: ["N/P", "1"], n: ["N", "1"]}' >"$tmp/$letter/euros.yaml"
    run hrun --profile-path "$tmp/$letter" --list-apps
    ok "long text in UTF-8 stays as it is" test "$(grep -o '€' "$tmp/.out" | wc -l)" = 8000
done

# ---- a reader that has gone
mkfifo "$tmp/fifo"
exec 4<>"$tmp/fifo" 3>"$tmp/fifo" 4<&-
for command in "hrun --help" "hrun --version" "hrun --completion" "hrun --list-apps" "hrun --show-cluster" \
    "hrun --dry-run true" "hrun --dry-run --json true" "hrun plan --help" "hrun-calibrate --help" "hrun-calibrate -h"; do
    run bash -c "$command >&3"
    status_is 141 "$command ends as after SIGPIPE"
    ok "without a word" test -z "$err"
done
exec 3>&-
run bash -c 'hrun --help >/dev/full'
status_is 125 "a full disk"
err_has "standard output: No space left on device" "is told"

# ---- nothing was changed by any of this
ok "no data folder was made" test ! -e "$HRUN_DATA"
done_testing
