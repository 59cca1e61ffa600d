#!/bin/bash
# Several programs in one job: with ':' between them (local for both MPIs, mpirun, dry runs, what is refused), and a
# build for each kind of PE.
. "$(dirname "$0")/tap.sh"
two_cores
cd "$tmp" || exit 1
cp "$bin/probe" one
cp "$bin/probe" two
three="$tmp/t h'r\$ee"
cp "$bin/probe" "$three"
before=$(litter)

# three_programs HOW OPTION...: ranks 0, 1 to 2 and 3 are these programs with these arguments, in one world.
three_programs() {
    local how=$1 a=$2 b=$3 c=$4
    shift 4
    run hrun --oversubscribe "$@" -n 1 "$a" app ring : -np 2 "$b" app ring info 'env=a b' : -c 1 "$c" app ring
    status_is 0 "three programs, $how"
    ok "$how: ranks are numbered one program after the other" test "$(printf '%s\n' "$out" | grep ' is ' | sort)" = \
        "rank 0 is ${a##*/}, program 0
rank 1 is ${b##*/}, program 1
rank 2 is ${b##*/}, program 1
rank 3 is ${c##*/}, program 2"
    out_has "rank 1 of 4" "$how: in one world"
    out_has "rank 1 a b=" "$how: each with its own arguments"
}

run hrun --oversubscribe -n 2 ./one ring : -n 1 ./two ring
status_is 0 "programs that work together"
out_has "ring good" "a message goes round all of them"
three_programs local ./one ./two "$three" --engine local
out_lacks "hrun:" "and nothing is said between"
three_programs "local with bindings" ./one ./two "$three" --engine local --report-bindings
err_has "rank 3 is bound to PUs" "which are told of each"
three_programs mpirun ./one ./two "$three" --engine mpirun
three_programs "mpirun with bindings" ./one ./two "$three" --engine mpirun --report-bindings
for e in local mpirun; do
    run env -u A -u B hrun --engine $e --oversubscribe -x A=7 -env B {P} --wdir "$HOME" \
        -n 1 "$tmp/one" env=A env=B info : -n 1 ./two env=A env=B info
    ok "-x and -env of the first program are its own with $e" test "$(printf '%s\n' "$out" | grep = | sort)" = \
        "rank 0 A=7
rank 0 B=2
rank 1 A=(unset)
rank 1 B=(unset)"
    ok "and so is --wdir" test "$(printf '%s\n' "$out" | grep "$HOME" | cut -c1-6)" = "rank 0"
    run hrun --engine $e --oversubscribe -genv A 7 -gwdir "$HOME" -n 1 "$tmp/one" env=A info : \
        -n 1 "$tmp/two" env=A info
    ok "-genv counts for all with $e" test "$(printf '%s\n' "$out" | grep -c 'A=7$')" = 2
    ok "and so does -gwdir" test "$(printf '%s\n' "$out" | grep -c "$HOME")" = 2
    run hrun --engine $e --oversubscribe -x A=7 -genv B 1 -n 1 ./one env=A env=B info : \
        -n 1 -env A 8 -wdir "$HOME" "$tmp/two" env=A env=B info
    out_has "rank 0 A=7" "a further program has -x of its own with $e: not the first"
    out_has "rank 1 A=8" "but itself"
    out_has "rank 1 B=1" "beside those of all"
    ok "and a folder of its own" test "$(printf '%s\n' "$out" | grep "$HOME" | cut -c1-6)" = "rank 1"
    run hrun --engine $e --oversubscribe -n 1 ./one barriers=1 : -n 2 ./two barriers=1 @2exit=7
    status_is 7 "the status of the program that fails, with $e"
done
if [ -x "$bin/mpich/probe" ]; then
    cp "$bin/mpich/probe" mone
    cp "$bin/mpich/probe" mtwo
    three_programs MPICH ./mone ./mtwo ./mone --engine local
    printf '#!/bin/sh\nexec ./mone "$@"\n' >script
    chmod +x script
    run hrun -n 1 ./script app : -n 1 ./mtwo app
    out_has "rank 1 is mtwo, program 1" "a script's MPI is that of the program beside it"
    fails 125 "have to be of the same MPI" "programs of two MPIs" hrun -n 1 ./one : -n 1 ./mone
    run hrun --dry-run --oversubscribe -n 1 ./mone : -n 2 ./mtwo x
    out_has "./mone : -n 2 ./mtwo x" "the command for Hydra has both"
else
    skip "programs of MPICH" "mpicc.mpich is not there"
fi

# ---- dry run
run hrun --dry-run --oversubscribe -x A=1 -n 1 ./one 'a b' : -n 2 ./two
out_has "would run: -n 1 env A=1 $tmp/./one 'a b' : -n 2 ./two as 3 processes" "the dry run has both programs"
out=${out// -- / }      # of Open MPI 5
out_has "env A=1 $tmp/./one 'a b' : -np 2 ./two" "and so has mpirun's command"
run hrun --dry-run --oversubscribe --verbose -n 1 ./one app : -n 2 ./two app
printf '%s\n' "$out" | sed -n 's/^ *\(rank [0-9]*=.*\)/\1/p' >hrun.rankfile
run sh -c "$(printf '%s\n' "$out" | sed -n 's/.*the same by mpirun: //p')"
out_has "rank 2 is two, program 1" "which starts the same"
run hrun --dry-run --oversubscribe --json -n 1 ./one : -n 2 ./two x
ok "the document tells which ranks start what" python3 -c 'import json,sys
p = json.load(open(sys.argv[1]))
assert p["programs"] == [
    {"first": 0, "ranks": 1, "argv": ["./one"]}, {"first": 1, "ranks": 2, "argv": ["./two", "x"]}]' .out
run hrun --dry-run --json -n 1 ./one
ok "of one program it is null" python3 -c 'import json,sys
assert json.load(open(sys.argv[1]))["programs"] is None' .out

# ---- what is refused, and what ':' is no separator
fails 127 "./nosuch" "a further program that there is not" hrun -n 1 ./one : -n 1 ./nosuch
fails 126 "/etc/passwd" "one that cannot be executed" hrun -n 1 ./one : -n 1 /etc/passwd
fails 125 "say -n P in front of ./two" "a further program without -n" hrun -n 1 ./one : ./two
fails 125 "say -n P in front of ./one" "a first program without -n" hrun ./one : -n 1 ./two
fails 125 "no program behind a ':'" "a ':' at the end" hrun -n 1 ./one :
fails 125 "no program behind a ':'" "-n alone behind a ':'" hrun -n 1 ./one : -n 2
fails 125 "no program behind a ':'" "nothing between two" hrun -n 1 ./one : : -n 1 ./two
fails 125 "no program before the first ':'" "nothing before the first" hrun : -n 1 ./two
fails 125 "'--timeout' comes after a ':'" "--timeout behind a ':'" hrun -n 1 ./one : -n 1 --timeout 9 ./two
fails 125 "'--timeout' comes after a ':'" "another one" hrun --timeout 8 -n 1 ./one : -n 1 --timeout 9 ./two
run hrun --oversubscribe --mca a b --timeout 9 --bind-to none -n 1 ./one : \
    -n 1 --mca a b --timeout 9 --bind-to none --oversubscribe ./two
status_is 0 "what stands in front of the first one may stand behind a ':' again"
fails 125 "the working directory /nosuch cannot be used" "a folder that there is not" \
    hrun -n 1 ./one : -n 1 --wdir /nosuch ./two
fails 125 "-x =1: a variable's name is missing" "a variable without a name" hrun -n 1 ./one : -n 1 -x =1 ./two
fails 125 "unknown option '--frob'" "an unknown option there" hrun -n 1 ./one : --frob ./two
fails 125 "processes together" "more processes than a number holds" \
    hrun -n 1000000000 ./one : -n 1000000000 ./two : -n 1000000000 ./two
fails 125 "-n and --config contradict" "a --config" \
    hrun --config '(2,1)' -n 1 ./one : -n 2 ./two
run hrun -n 1 ./one : -n 1 --membind local ./two
status_is 0 "mpirun's options that do nothing here"
err_has "--membind local: hrun leaves memory" "are passed over with a word"
fails 125 "--bind-to core after a ':' places" "a binding counts for all" hrun -n 1 ./one : -n 1 --bind-to core ./two
run hrun -q -n 1 --map-by slot --dry-run --json ./one : -n 1 ./two
out_has '"mapping": "by slot, bound to core"' "what stands in front of the first one maps all"
fails 125 "the first program has none: give it its own --host" "hosts of a further program alone" hrun -n 1 ./one : -n 1 --host localhost ./two
fails 125 "contradict each other" "hosts, and --map-by" hrun --map-by core --host a -n 1 ./one : -n 1 --host b ./two
run hrun --oversubscribe --host localhost -n 1 ./one app : --host localhost -n 1 ./two app
out_has "rank 1 is two, program 1" "programs with hosts of their own"
run hrun -n 1 -- /bin/echo a : b
out_has "a : b" "behind -- a ':' is the program's"
run hrun -n 1 /bin/echo a : -n 1 -- /bin/echo c : d
out_has "c : d" "and so it is for a further one"
# ---- a program for a kind of PE
host=$(hostname)
cp one one.fast
hybrid="env HWLOC_XMLFILE=$top/tests/data/topo/made-8p16e.xml hrun --cluster c.yaml --config (2,1,2,1)"
kinds() { # PROGRAM: of the slow kind
    printf 'subclusters:\n  - {name: fast, hosts: %s, kind: IntelCore, program: "{program}.fast"}\n' "$host" >c.yaml
    printf '  - {name: slow, hosts: %s, kind: IntelAtom%s}\n' "$host" "${1:+, program: $1}" >>c.yaml
}
kinds
run $hybrid ./one app ring 'env=a b'
status_is 0 "a program for one kind, and the one that is named for the other"
ok "each starts its own" test "$(printf '%s\n' "$out" | grep ' is ' | sort)" = "rank 0 is one.fast, program 0
rank 1 is one.fast, program 0
rank 2 is one, program 1
rank 3 is one, program 1"
ok "with the same arguments" test "$(printf '%s\n' "$out" | grep -c 'a b=')" = 4
run $hybrid --dry-run ./one x
out_has "-n 2 ./one.fast x : -n 2 ./one x" "the dry run has both"
kinds ./nosuch
fails 127 "./nosuch: there is no such program" "a program for a kind that there is not" $hybrid ./one app
kinds /etc/passwd
fails 126 "/etc/passwd" "one that cannot be executed" $hybrid ./one app
kinds
fails 125 "leave one of the two out" "several programs beside it" \
    env HWLOC_XMLFILE="$top/tests/data/topo/made-8p16e.xml" hrun --cluster c.yaml -n 1 ./one : -n 1 ./two
printf 'subclusters:\n  - {name: all, hosts: %s, program: ./two}\n' "$host" >c.yaml
run hrun --cluster c.yaml -n 2 ./one app ring
out_has "rank 1 is two, program 0" "one program in place of the other everywhere"
if [ -x mone ]; then
    kinds ./mone
    run $hybrid ./one app
    err_has "have to be of the same MPI" "programs of two MPIs"
fi
build() { # ON PROGRAM
    printf '%s\n' "name: own" "programs: [one]" "builds:" "  - {on: nothing, program: ./nosuch}" \
        "  - {on: $1, program: $2}" 'terms: {np: ["N/P"], n: ["N"], p: ["T/P"]}' >own.yaml
}
build "$(uname -m)" '"{program}.fast"'
run hrun -app ./own.yaml -n 1 ./one app
out_has "rank 0 is one.fast" "a definition names the program for a machine"
printf 'subclusters:\n  - {name: mine, hosts: %s}\n' "$host" >c.yaml
build mine ./two
run hrun --cluster c.yaml -app ./own.yaml -n 1 ./one app
out_has "rank 0 is two" "or for a sub-cluster"
build mine '""'
fails 125 "own.yaml:5:" "a build without a program" hrun -app ./own.yaml -n 1 ./one app
ok "nothing is left" nothing_new "$before"
done_testing
