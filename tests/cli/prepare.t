#!/bin/bash
# prepare.t - the commands that a definition runs before the application: when they are run, how they end, what is
# remembered of them, and that it counts in the choice
. "$(dirname "$0")/tap.sh"
two_cores

cd "$tmp"
mkdir apps
export HRUN_PROFILE_PATH=$tmp/apps
# define NAME KEYS ARGS: a definition of the Jacobi sweeps over N planes
define() {
    local args='"{N}", "--shares={shares}"'
    [ $# -lt 3 ] || args=$3
    cat >"apps/$1.yaml" <<D
name: $1
procs_per_pe: [1]
$2
terms:
  np: ["N^3*W", "N^2*W", "N^2", "N", "1"]
  n:  ["N^3", "N^2", "1"]
args: [$args]
time: {match: '^time: ([0-9.eE+-]+) s\$'}
sizes: [96, 144, 192]
D
}
shares='shares: {units: "N"}'
prog=$bin/jacobi
# here NAME OPTIONS: in a folder of its own
here() {
    folder=$1
    mkdir -p "$folder"
    shift
    run hrun -n 2 --wdir "$folder" "$@" "$prog"
}
prepared() { cat "${1-$folder}"/prepared 2>/dev/null | wc -l; }

# ---------------------------------------------------------------- when they are run

define steps "$shares
prepare:
  - run: [sh, -c, \"echo {P} {shares:units:,} >>prepared\"]"
here a -app steps -N 16
status_is 0 "a command before the run"
ok "is run once, with P and shares" test "$(cat a/prepared)" = "2 8,8"
here a -app steps -N 16
ok "what was prepared is not prepared again, also where it was the first that is remembered at all" \
    test "$status $(prepared)" = "0 1"
here a -app steps -N 16 --force
ok "but with --force" test "$status $(prepared)" = "0 2"
here a -app steps -N 16 -n 1
here a -app steps -N 16
ok "and after another number of processes" test "$status $(prepared)" = "0 4"
here b -app steps -N 16
ok "in another folder it is" test "$status $(cat b/prepared)" = "0 2 8,8"
rm -r b
here b -app steps -N 16
ok "and in a folder that is made anew at the same path" test "$status $(prepared)" = "0 1"
here b -app steps -N 16
ok "once" test "$status $(prepared)" = "0 1"
define script "$shares
prepare:
  - run: [./decompose.sh, \"{N}\"]
  - run: [cp, list, \"$tmp/script/copy\"]"
mkdir script
printf '#!/bin/sh\necho $1 | tee -a prepared >list\n' >script/decompose.sh
chmod +x script/decompose.sh
here script -app script -N 16
here script -app script -N 16
ok "files that words name count as the steps left them" test "$status $(prepared)" = "0 1"
for file in decompose.sh list copy; do
    touch -d 2001-01-01 script/$file
    was=$(prepared)
    here script -app script -N 16
    here script -app script -N 16
    ok "what is edited is prepared anew, once: $file" test "$status $(prepared)" = "0 $((was + 1))"
done
define found "$shares
prepare: [{run: [decompose.sh, two]}]"
for edited in no no yes; do
    [ $edited = no ] || echo "# edited" >>script/decompose.sh
    PATH=$tmp/script:$PATH here found -app found -N 16
done
ok "also one that is found in PATH" test "$status $(prepared)" = "0 2"
define fails "$shares
prepare: [{run: [sh, -c, \"echo x >>prepared\"]}]"
here fails -app fails -N 16
prog=$tmp/fails.sh
printf '#!/bin/sh\nexit ${STATUS-3}\n' >"$prog"
chmod +x "$prog"
anew="with what an earlier one had prepared: the next one prepares anew"
here fails -app fails -N 16
ok "an application that fails" test "$status $(prepared)" = "3 1"
err_has "$anew" "may do so by what was prepared"
here fails -app fails -N 16
ok "which is prepared anew then" test "$status $(prepared)" = "3 2"
err_lacks "$anew" "and is new"
printf '#!/bin/sh\nkill -9 $$\n' >"$prog"
here fails -app fails -N 16 -q
err_lacks "$anew" "--quiet does not say so"
here fails -app fails -N 16 --timeout 60
ok "after a signal, too" test "$status $(prepared)" = "137 3"
printf '#!/bin/sh\n[ -z "$LATE" ] || exec sleep 60\n' >"$prog"
here fails -app fails -N 16 --timeout 1
LATE=1 here fails -app fails -N 16 --timeout 1
status_is 124 "a run that --timeout ends"
err_lacks "$anew" "is no failure of the application"
prog=$bin/jacobi
here fails -app fails -N 16
ok "so nothing is prepared after it" test "$status $(prepared)" = "0 3"
define plain "$shares
constants: [{name: c, value: 1}]
prepare: [{run: [sh, -c, \"echo \$PART >>prepared\"]}]"
here sizes -app plain -N 16
here sizes -app plain -N 32
ok "another size counts where the words do not have it" test "$(prepared)" = 2
here sizes -app plain -N 32 -D c=2
ok "and so does a constant" test "$(prepared)" = 3
here sizes -app plain -N 32 -D c=2 -x PART=1
here sizes -app plain -N 32 -D c=2 -x PART=2
here sizes -app plain -N 32 -D c=2 -x PART=2
ok "and what -x sets, which the command gets" test "$(tail -n 2 sizes/prepared | tr '\n' ' ')$(prepared)" = "1 2 5"
PART=3 here sizes -app plain -N 32 -D c=2 -x PART
PART=4 here sizes -app plain -N 32 -D c=2 -x PART
ok "or passes on" test "$(prepared)" = 7
define two "$shares
prepare: [{run: [sh, -c, \"echo two >>prepared\"]}]"
here both -app plain -N 16
here both -app two -N 16
here both -app plain -N 16
ok "another definition in the same folder has prepared something else" test "$(prepared)" = 3
define many "prepare:
  - mpi: [sh, -c, \"echo rank >>ranks\"]
  - run: [sh, -c, \"wc -l <ranks >count\"]
$shares"
here many -app many -N 16
ok "mpi: as many processes as the application has, step after step" test "$status $(tr -d ' ' <many/count)" = "0 2"

# ---------------------------------------------------------------- what a dry run tells of them

define told "$shares
prepare:
  - run: [sh, -c, \"echo {P} {N} >>prepared\"]
  - mpi: [true]"
here told -app told -N 16 --dry-run
out_has "  would prepare: sh -c 'echo 2 16 >>prepared'" "a dry run tells what prepares, as it would be run"
out_has "  would prepare: true as all processes" "and where"
here told -app told -N 16 --dry-run --json
field() { python3 -c 'import json, sys; p = json.loads(sys.argv[1]); print(eval(sys.argv[2]))' "$out" "$1"; }
ok "as JSON" test "$(field 'p["prepare"]')" = "{'steps': 2, 'kept': False, 'took_s': None}"
here told -app told -N 16
here told -app told -N 16 --dry-run
out_lacks "would prepare" "not where what is prepared is the same"
ok "which is told, and since when" grep -qE \
    '^  prepare      done already, [0-9]+ seconds? ago; --force prepares anew$' "$tmp/.out"
here told -app told -N 16 -v
err_has "  prepare      done already, " "also by -v"
here told -app told -N 16 --dry-run --json
ok "which has taken its time" test "$(field 'p["prepare"]["steps"], p["prepare"]["took_s"] > 0')" = "(0, True)"
run hrun -n 2 --dry-run --json -N 16 -app "$apps/jacobi.yaml" "$prog"
ok "null without the key" test "$(field 'p["prepare"]')" = None
HRUN_PROFILE_PATH='' run hrun --dry-run -app openfoam -n 2 -N 60 sh
out_has "sh foam.sh rhoCentralFoam" "the definition of OpenFOAM, which comes with hrun, is one"
out_has "would prepare: sh foam.sh redistributePar -decompose as all processes" "that prepares"
sed -n '/^name: duct$/,/^\.Ed/{/^\.Ed/d;p}' "$top/man/hrun-app.5" >apps/duct.yaml
run hrun --dry-run -app duct -n 2 sh
out_has "would prepare: sh foam.sh redistributePar -decompose as all processes" "as is that of the manual"

# ---------------------------------------------------------------- how they fail

define broken "prepare: [{run: [sh, -c, \"printf 'no %s here\\\\n' mesh >&2; exit 3\"]}]
$shares"
here broken -app broken -N 16
status_is 125 "a step that fails ends the run"
err_has "no mesh here" "with its words"
err_has "ended with status 3; its words are above" "and its status"
out_lacks "time:" "before the application"
here broken -app broken -N 16
status_is 125 "and is not taken for done"
define loud "prepare: [{run: [sh, -c, \"printf 'bad %s\\\\n' cells; exit 3\"]}]
$shares"
here loud -app loud -N 16
err_has "bad cells" "words on standard output are words, too"
out_lacks "bad cells" "for standard error"
define mute "prepare: [{run: [sh, -c, \"exit 3\"]}]
$shares"
here mute -app mute -N 16
err_has "ended with status 3" "one that says nothing"
err_lacks "above" "has none"
define killed "prepare: [{run: [sh, -c, \"kill -9 \$\$\"]}]
$shares"
here killed -app killed -N 16
err_has "was killed by signal 9" "one that is killed is told"
define nothing "prepare: [{run: [no-such-command]}]
$shares"
here nothing -app nothing -N 16
ok "a command that is not there" test "$status" -ge 125
err_has "no-such-command" "is named"
define neither "prepare: [{}]
$shares"
here neither -app neither -N 16
err_has "a step is either" "a step that says nothing"
for app in broken loud; do
    run hrun-calibrate -app $app -q --sizes 16 --procs 1 -r 1 --full-grid --pes 1 "$prog"
    [ $app = broken ] && words="no mesh here" || words="bad cells"
    err_has "ended with status 3: $words" "a calibration tells why runs fail: $app"
    err_has "the same command makes the runs that a step of 'prepare' or a host has prevented" "and what to do"
done
ok "the library prints nothing itself" sh -c \
    "! grep -rE 'fprintf\(std(out|err)|[^a-z_]printf\(|fputs\(' '$top/lib' --include='*.c'"

# ---------------------------------------------------------------- runs in one folder at the same time

define same "$shares
files: [{path: parts, content: \"{P} hrun:00000000\"}]
prepare: [{run: [sh, -c, \"echo {P} >>prepared; [ -z \\\"\$HELD\\\" ] || \$HELD\"]}]"
cat >held.sh <<'E'
#!/bin/sh
echo $$ >>started
while [ -e started ] && [ ! -e go ]; do sleep 0.05; done
E
chmod +x held.sh
# begin N OPTIONS: start a run that goes on until the folder has a file "go"; return when N such runs have started there
begin() {
    want=$1
    shift
    hrun --wdir same -app same -N 16 --timeout 60 "$@" >/dev/null 2>&1 </dev/null &
    pid=$!
    for i in {1..300}; do [ "$(cat same/started 2>/dev/null | wc -l)" -ge "$want" ] && break; sleep 0.1; done
}
mkdir same
begin 1 -n 1 "$tmp/held.sh"
first=$pid
here same -app same -N 16
status_is 125 "a run that would prepare anew under another one"
one_error "is refused"
err_has "another run uses what was prepared in '$PWD/same': wait for its end, or run in a folder of your own (--wdir)" \
    "with what to do"
ok "before it writes anything" test "$(cut -d' ' -f1 same/prepared same/parts | tr -d '\n')" = 11
here same -app same -N 16 -n 1 --force
ok "as is one with --force" test "$status $(cat same/prepared)" = "125 1"
here same -app same -N 16 -n 1
ok "one that finds itself prepared runs beside it" test "$status $(cat same/prepared)" = "0 1"
here other -app same -N 16
ok "and one in another folder" test "$status $(cat other/prepared)" = "0 2"
run env -C same hrun-calibrate -app same -q --sizes 16 --procs 1 -r 1 --full-grid --pes 1 "$prog"
err_has "measured at N=16" "and a calibration, in its own folders"
begin 2 -n 1 "$tmp/held.sh"
kill -KILL $first
wait $first 2>/dev/null
here same -app same -N 16
ok "while one of two goes on, the folder is in use" test "$status $(cat same/prepared)" = "125 1"
kill -KILL $pid
wait $pid 2>/dev/null
here same -app same -N 16
ok "no longer when hrun is killed" test "$status $(tail -n 1 same/prepared)" = "0 2"
touch same/go
rm -r same
mkdir same
begin 1 -n 1 -x HELD="$tmp/held.sh" "$prog"
here same -app same -N 16 -n 1 -x HELD="$tmp/held.sh"
ok "nor does one run while another prepares the same" test "$status $(cat same/prepared)" = "125 1"
touch same/go
wait $pid
ok "which ends well" test $? = 0
here same -app same -N 16 -n 1 -x HELD="$tmp/held.sh"
ok "and has prepared for the next one" test "$status $(cat same/prepared)" = "0 1"
rm "$HRUN_DATA"/prepared/*.lock
for memory in "$HRUN_DATA"/prepared/????????????????; do mkdir "$memory.lock"; done
here same -app same -N 16
ok "where nothing can be locked, runs go on" test "$status $(tail -n 1 same/prepared)" = "0 2"
rmdir "$HRUN_DATA"/prepared/*.lock

# ---------------------------------------------------------------- plain commands

define world "prepare: [{run: [mpirun, -n, \"2\", --oversubscribe, sh, -c, \"echo \$HERE >>prepared\"]}]
$shares"
here world -app world -N 16 -x HERE=yes
ok "a command may start mpirun" test "$status $(tr '\n' ' ' <world/prepared)" = "0 yes yes "
define rank "prepare: [{run: [sh, -c, \"env | grep -cE '^(PMIX|PMI|OMPI_COMM)_' >prepared || true\"]}]
$shares"
here rank -app rank -N 16
ok "as it is no rank of anything" test "$status $(cat rank/prepared)" = "0 0"
define left "prepare: [{run: [sh, -c, \"setsid sleep 60 & echo \$! >left.pid\"]}]
$shares"
here left -app left -N 16
ok "what it leaves behind ends with it" test "$status" = 0 -a -s left/left.pid -a ! -e "/proc/$(cat left/left.pid)"

# ---------------------------------------------------------------- signals and time limits

define slow "prepare: [{run: [sh, -c, \"sleep 60 & echo \$! >child; wait\"]}]
$shares"
define deaf "prepare: [{run: [sh, -c, \"trap 'exit 0' INT TERM; sleep 60 & echo \$! >child; wait\"]}]
$shares"
define nested "prepare: [{run: [mpirun, -n, \"1\", sh, -c, \"echo \$\$ >child; exec sleep 60\"]}]
$shares"
define ranks "prepare: [{mpi: [sh, -c, \"echo \$\$ >child; exec sleep 60\"]}]
$shares"
before=$(litter)
for app in slow deaf nested ranks; do
    for round in "INT 130" "TERM 143"; do
        mkdir -p "$app"
        rm -f "$app/child"
        # The shell lets SIGINT be ignored by what it starts in the background.
        env --default-signal=INT "$build/bin/hrun" -n 1 --wdir $app -app $app -N 16 "$prog" >"$app/out" 2>&1 \
            </dev/null &
        pid=$!
        for i in {1..100}; do [ -s "$app/child" ] && break; sleep 0.1; done
        kill -"${round% *}" $pid
        wait $pid
        ok "SIG${round% *} in a step ends hrun with ${round#* }: $app" test $? = "${round#* }"
        ok "and the step, without the application" test -s $app/child -a ! -e "/proc/$(cat $app/child)" -a \
            "$(grep -c ^time: $app/out)" = 0
    done
    here $app -app $app -N 16 --timeout 1
    status_is 124 "so does --timeout: $app"
    err_has "did not end in time (--timeout)" "as is said"
    ok "and nothing is left of it" test ! -e "/proc/$(cat $app/child)"
done
ok "nothing else is left" nothing_new "$before"
define long "prepare: [{run: [sleep, \"2\"]}, {run: [sleep, \"0.1\"]}]
$shares"
SECONDS=0
mkdir long
run hrun -n 1 --wdir long -app long -N 16 -x 'SHARES={shares}' --timeout 3 sleep 60
ok "--timeout holds for steps and application together ($SECONDS s)" test $status = 124 -a $SECONDS -lt 50
run hrun-calibrate -app slow -q --sizes 16 --procs 1 -r 1 --full-grid --pes 1 --timeout 1 "$prog"
err_has "did not end in time" "and in a calibration"

# ---------------------------------------------------------------- the choice

if ! command -v smpicc >/dev/null || [ ! -x "$build/bin/hrun-smpi" ]; then
    skip "what is prepared and the choice" "SimGrid is not installed (libsimgrid-dev)"
    done_testing
fi
export HRUN_DATA=$tmp/choice         # where nothing else was prepared
# a: three hosts, b: three of half the speed
cat >p.xml <<E
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="z" routing="Full">
<cluster id="a" prefix="a-" suffix="" radical="0-2" speed="1Gf" bw="1250MBps" lat="5us" router_id="ra"/>
<cluster id="b" prefix="b-" suffix="" radical="0-2" speed="0.5Gf" bw="1250MBps" lat="5us" router_id="rb"/>
<link id="s" bandwidth="100GBps" latency="1us" sharing_policy="FATPIPE"/>
<zoneRoute src="a" dst="b" gw_src="ra" gw_dst="rb"><link_ctn id="s"/></zoneRoute>
</zone></platform>
E
# kept UNITS: the definition kept, which takes as long as NAP says to prepare
kept() {
    define kept "constants: [{name: c, value: 1}]
shares: {units: \"$1\", min: 2}
prepare: [{run: [sh, -c, \"echo {c} >>prepared; sleep \${{NAP-0}\"]}]" '"{N}", "--shares={shares:192:*}"'
}
define kept 'constants: [{name: c, value: 1}]
shares: {units: "N", min: 2}' '"{N}", "--shares={shares}"'
prog=$build/tests/accuracy/jacobi
on=(--platform p.xml --smpi smpi/coll-selector:mpich -app kept -N 192)
run hrun-calibrate "${on[@]:0:6}" -q "$prog"
status_is 0 "a calibration"
mkdir kept
on+=(--wdir kept)
kept N
run hrun "${on[@]}" --dry-run --json "$prog"
best=$(field 'p["predicted_s"]')
NAP=2 run hrun "${on[@]}" --no-record -q --config 3,1,0,0 "$prog"
ok "a slow one is prepared, for long" test "$status $(prepared kept)" = "0 1"
run hrun "${on[@]}" --dry-run --json "$prog"
ok "and kept, as preparing the best takes longer than it saves" test \
    "$(field 'p["prepare"]["kept"], p["prepare"]["steps"], p["prepare"]["took_s"] > 2')" = "(True, 0, True)"
ok "it is the one that is told" test "$(field '[s["pes_used"] for s in p["subclusters"]], p["next_best"]')" = \
    "([3, 0], [])"
ok "with its own time" test "$(field "p['predicted_s'] > 1.3 * $best")" = True
run hrun "${on[@]}" --dry-run "$prog"
s='[0-9.]+ m?s'
ok "for people, with what each takes" grep -qE \
    "^  prepared     as in .*, which takes $s: the best would take $s, and 2[0-9.]* s to prepare it; --force does$" \
    "$tmp/.out"
out_lacks "next best" "without those that are not better"
out_lacks "equal shares" "in any way"
out_lacks "would prepare" "nothing is done"
run hrun "${on[@]}" --force --dry-run --json "$prog"
ok "--force prepares the best" test "$(field 'p["prepare"]["kept"], p["prepare"]["steps"], p["P"]')" = "(False, 1, 6)"
run hrun "${on[@]}" -x PART=1 --dry-run --json "$prog"
ok "as what was prepared with another environment would be prepared anew in any case, so is the best" test \
    "$(field 'p["prepare"]["kept"], p["prepare"]["steps"], p["P"]')" = "(False, 1, 6)"
run hrun "${on[@]}" --shares best --dry-run --json "$prog"
ok "and so does --shares best" test "$(field 'p["prepare"]["kept"], p["prepare"]["steps"], p["P"]')" = "(False, 1, 6)"
run hrun "${on[@]}" --no-record "$prog"
ok "it runs without preparing" test "$status $(prepared kept)" = "0 1"
err_has "hrun: prepared as in the last run here, which takes " "and says so"
run hrun "${on[@]}" --no-record -q "$prog"
err_lacks "prepared" "but with --quiet"

# What was prepared with unequal shares, of many units, which do not fit into nine digits.
kept 'N^4'
run hrun "${on[@]}" --no-record -q --force "$prog"
status_is 0 "many units"
run hrun "${on[@]}" --no-record -q "$prog"
ok "are remembered as they are" test "$status $(prepared kept)" = "0 2"
kept '2*N^4'
run hrun "${on[@]}" --dry-run --json "$prog"
ok "are not those of another definition" test "$status $(field 'p["prepare"]["steps"], sum(p["shares"]["units"])')" = \
    "0 (1, $((2 * 192 ** 4)))"
kept 'N^4'
for share in 1e300 -1 9007199254740993 '"x"' x; do
    sed -i "1s/\\[.*\\]/[$share, $share]/" "$HRUN_DATA"/prepared/????????????????
    run hrun "${on[@]}" --dry-run --json "$prog"
    ok "a broken file keeps nothing: $share" test "$status $(field 'p["prepare"]["kept"]')" = "0 False"
done

# The last run, as if it had been watched: the processes of b wait a tenth of its time longer than those of a. So the
# shares that are prepared are not the best any more, and take longer than these.
NAP=2 run hrun "${on[@]}" -q --force "$prog"
cp "$HRUN_DATA"/prepared/???????????????? best
sed -e '1s/\[.*\]/[283115520, 169869312]/' \
    -e 's/^[0-9]* [0-9 ]*$/283115520 283115520 283115520 169869312 169869312 169869312/' best >uneven
cp uneven "$HRUN_DATA"/prepared/????????????????
run hrun "${on[@]}" --dry-run --json "$prog"
ok "shares that are not the best are kept" test "$(field 'p["prepare"]["kept"], p["subclusters"][1]["share"]')" = \
    "(True, 169869312)"
unwatched=$(field 'p["predicted_s"]')
watch_last kept
run hrun "${on[@]}" --dry-run --json "$prog"
ok "where b waits, more work on b takes less time ($(field 'p["predicted_s"]') s, $unwatched s)" test \
    "$(field "p['prepare']['kept'], p['predicted_s'] < 0.97 * $unwatched")" = "(True, True)"
cp best "$HRUN_DATA"/prepared/????????????????
run hrun "${on[@]}" --force --dry-run --json "$prog"
best=$(field 'p["predicted_s"]')
run hrun "${on[@]}" --dry-run --json "$prog"
ok "shares before a run was watched are kept, and slower by its waits ($(field 'p["predicted_s"]') s, $best s)" test \
    "$(field "p['prepare']['kept'], p['predicted_s'] > 1.01 * $best")" = "(True, True)"
run hrun "${on[@]}" -q --no-record "$prog"
ok "to the unit, so that nothing is prepared" test "$status $(prepared kept)" = "0 3"
done_testing
