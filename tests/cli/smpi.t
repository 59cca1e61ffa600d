#!/bin/bash
# Engine smpi with real SimGrid: platforms become sub-clusters, programs run, fail, hang and end as with the other
# engines, times are simulated, calibration and dry runs go by them, and real and simulated profiles never mix.
. "$(dirname "$0")/tap.sh"
cd "$tmp" || exit 1
smpi=$build/tests/smpi

h=$build/bin/hrun
if [ ! -x "$build/bin/hrun-smpi" ]; then
    : >p.xml
    if command -v smpirun >/dev/null; then
        ok "hrun-smpi is built where SimGrid is" false
    else
        # What can be tested without SimGrid: that its absence is said.
        fails 125 "install libsimgrid-dev" "without SimGrid hrun says what to install" "$h" --platform p.xml /bin/true
        skip "engine smpi" "SimGrid is not installed (libsimgrid-dev)"
    fi
    done_testing
fi
mkdir apart
cp "$h" apart
: >p.xml
PATH=/usr/bin:/bin fails 125 "install libsimgrid-dev" "without hrun-smpi hrun says what to install" \
    apart/hrun --platform p.xml /bin/true

before=$(litter)
nothing_left() {
    local n
    for n in 1 2 3 4 5 6 7 8 9 10; do [ -z "$(pgrep -f "$smpi/probe")" ] && break; sleep 0.1; done
    out="processes: $(pgrep -af "$smpi/probe") files: $(litter)"
    ok "no process is left $1" test -z "$(pgrep -f "$smpi/probe")"
    ok "nothing is left $1" nothing_new "$before"
}
wait_for() { for _ in $(seq 2000); do grep -q "$1" "$2" 2>/dev/null && return 0; sleep 0.1; done; return 1; }

# platform FILE LINE...: a platform whose zone holds these lines.
platform() {
    local file=$1
    shift
    { printf '%s\n' '<?xml version="1.0"?>' '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">' \
        '<platform version="4.1">' '<zone id="all" routing="Full">' "$@" '</zone>' '</platform>'; } >"$file"
}
# cluster NAME PREFIX COUNT SPEED [MORE]
cluster() {
    echo "<cluster id=\"$1\" prefix=\"$2\" suffix=\"\" radical=\"0-$(($3 - 1))\" speed=\"$4\" bw=\"125MBps\"" \
        "lat=\"50us\" ${5-}/>"
}
# join A FIRST-A B FIRST-B BANDWIDTH
join() {
    echo "<link id=\"$1$3\" bandwidth=\"$5\" latency=\"50us\"/><zoneRoute src=\"$1\" dst=\"$3\"" \
        "gw_src=\"$2$1_router\" gw_dst=\"$4$3_router\"><link_ctn id=\"$1$3\"/></zoneRoute>"
}
json() { python3 -c "import json,sys; d = json.load(open('$tmp/.out')); print($1)"; }

# ---------------------------------------------------------------- platforms become sub-clusters

platform two.xml "$(cluster A fast- 3 1.6Gf 'core="2"')" "$(cluster B slow- 12 0.55Gf)" "$(join A fast- B slow- 1GBps)"
run "$h" --show-cluster --json --platform two.xml
status_is 0 "a platform file"
ok "two speeds make two sub-clusters, the fast one first" \
    test "$(json '[(s["name"], len(s["pes"]), s["cores_per_pe"], s["level"]) for s in d["subclusters"]]')" \
    = "[('fast', 3, 2, 'node'), ('slow', 12, 1, 'node')]"
ok "hosts in the order of their numbers" \
    test "$(json '[p["host"] for p in d["subclusters"][1]["pes"]][-3:]')" = "['slow-9', 'slow-10', 'slow-11']"
run "$h" --show-cluster --platform two.xml
out_has "network of fast: link 125 MB/s 50 us, loopback 125 MB/s 100 us, between two hosts 125 MB/s 100 us" \
    "and their network"
run "$h" --show-cluster --json --platform two.xml --level core --host 'fast-[0,2],slow-3'
ok "level core, of the hosts that --host names" \
    test "$(json '[(s["name"], [p["host"] for p in s["pes"]]) for s in d["subclusters"]]')" \
    = "[('fast', ['fast-0', 'fast-0', 'fast-2', 'fast-2']), ('slow', ['slow-3'])]"
printf 'slow-1\nslow-0\n' >hosts
run "$h" --show-cluster --json --platform two.xml --hostfile hosts
ok "or a host file, in its order" \
    test "$(json '[p["host"] for p in d["subclusters"][0]["pes"]]')" = "['slow-1', 'slow-0']"

platform thin.xml "$(cluster A l 2 1Gf)" "$(cluster B r 2 1Gf)" "$(join A l B r 12.5MBps)"
run "$h" --show-cluster --json --platform thin.xml
ok "equal hosts on either side of a thin link are two sub-clusters" \
    test "$(json '[s["name"] for s in d["subclusters"]]')" = "['l', 'r']"
platform thick.xml "$(cluster A l 2 1Gf)" "$(cluster B r 2 1Gf)" "$(join A l B r 1GBps)"
run "$h" --show-cluster --json --platform thick.xml
ok "of a thick one they are one" test "$(json 'len(d["subclusters"])')" = 1
for topology in 'TORUS" topo_parameters="4,4,2' 'FAT_TREE" topo_parameters="2;4,8;1,2;1,1'; do
    platform tree.xml "$(cluster A t 32 1Gf "topology=\"$topology\"")"
    run "$h" --show-cluster --json --platform tree.xml
    ok "${topology%%\"*} of equal hosts is one sub-cluster" \
        test "$(json '[len(s["pes"]) for s in d["subclusters"]]')" = "[32]"
done
platform one.xml '<host id="only one" speed="1Gf"/>'
run "$h" --platform one.xml "$smpi/flops" 100 hosts
out_has "rank 0 on only one" "a platform of one host, without any link"
platform odd.xml '<host id="a b" speed="2Gf"/><host id="c:2" speed="1Gf"/>' '<link id="l" bandwidth="1GBps" latency="1us"/>' \
    '<route src="a b" dst="c:2"><link_ctn id="l"/></route>'
run "$h" --platform odd.xml "$smpi/flops" 100 hosts
out_has "rank 1 on c:2" "names that a host file could mistake"

# Routes that SimGrid finds itself, over routers that are no hosts.
cat >floyd.xml <<'X'
<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="all" routing="Floyd">
    <host id="a0" speed="2Gf"/><host id="a1" speed="2Gf"/><host id="b0" speed="1Gf"/>
    <router id="s1"/><router id="s2"/>
    <link id="l0" bandwidth="125MBps" latency="20us"/><link id="l1" bandwidth="125MBps" latency="20us"/>
    <link id="l2" bandwidth="125MBps" latency="20us"/><link id="up" bandwidth="125MBps" latency="20us"/>
    <route src="a0" dst="s1"><link_ctn id="l0"/></route><route src="a1" dst="s1"><link_ctn id="l1"/></route>
    <route src="b0" dst="s2"><link_ctn id="l2"/></route><route src="s1" dst="s2"><link_ctn id="up"/></route>
  </zone>
</platform>
X
run $h --show-cluster --platform floyd.xml
status_is 0 "routing by Floyd"
out_has "3 PEs in 2 sub-clusters on 3 hosts" "has its hosts"

# ---------------------------------------------------------------- platforms that are none

bad() { fails 125 "$2" "$1" "$h" --platform bad.xml "$smpi/flops" 100; }
echo hello >bad.xml
bad "no XML" "hrun: bad.xml:1: Invalid XML"
sed 's/0.55Gf/x/' two.xml >bad.xml
bad "a speed that is none, with its line" "bad.xml:6: cannot parse number"
platform bad.xml
bad "no host" "bad.xml: the platform has no host"
platform bad.xml '<host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>'
bad "no route" "no route from host"
platform bad.xml '<host id="a" speed="1Gf"/><host id="b" speed="1Gf"/><host id="c" speed="1Gf"/>' \
    '<link id="l" bandwidth="1GBps" latency="1us"/><route src="a" dst="c"><link_ctn id="l"/></route>'
run $h --platform bad.xml --host c,a "$smpi/flops" 100 hosts
status_is 0 "only hosts that --host chooses need routes"
out_has "rank 1 on a" "and they are used"
fails 125 "no route from host 'a' to host 'b'" "those that are chosen do" \
    "$h" --platform bad.xml --host a,b "$smpi/flops" 100
platform bad.xml "$(cluster A a 2 1Gf)"
sed -i -e '/DOCTYPE/s|SYSTEM.*|SYSTEM "http://simgrid.gforge.inria.fr/simgrid.dtd">|' -e 's/version="4.1"/version="3"/' bad.xml
bad "version 3" "bad.xml:2: the platform file is of version 3 or less, and SimGrid here reads 4 and 4.1: convert it with 'simgrid_update"
platform bad.xml "$(cluster A a 1 1Gf)" "$(cluster A b 1 1Gf)"
bad "a zone twice" "Refusing to create a second NetZone"
rm bad.xml
bad "no file" "platform file bad.xml: No such file or directory"
fails 125 "host 'nosuch' is not in the platform two.xml" "an unknown host" \
    "$h" --platform two.xml --host nosuch /bin/true
fails 125 "levels node and core only" "an unknown level" "$h" --platform two.xml --level l3 /bin/true
fails 125 "cannot be given together" "a cluster file, too" "$h" --platform two.xml --cluster c.yaml /bin/true

# ---------------------------------------------------------------- what goes with what

q="$h -q --platform two.xml"
fails 125 "say which with --platform FILE" "engine smpi without a platform" "$h" --engine smpi "$smpi/probe"
fails 125 "use --engine smpi" "a platform with another engine" "$h" --engine mpirun --platform two.xml "$smpi/probe"
fails 125 "nothing is simulated" "--smpi without a platform" "$h" --smpi a:b "$bin/probe"
fails 125 "is linked with Open MPI, and engine smpi simulates" "a program of Open MPI" $q "$bin/probe"
fails 125 "is linked with no MPI, and engine smpi" "a program of no MPI" $q /bin/true
fails 125 "can only be simulated" "a program of smpicc with engine local" "$h" -q --engine local "$smpi/probe"
fails 125 "can only be simulated" "and with engine mpirun" "$h" -q --engine mpirun "$smpi/probe"
fails 125 "use --smpi NAME:VALUE" "--mca" $q --mca a b "$smpi/probe"
fails 125 "cannot be told apart" "--tag-output" $q --tag-output "$smpi/probe"
fails 125 "needs NAME:VALUE" "--smpi without a value" $q --smpi a "$smpi/probe"
fails 125 "hrun itself sets smpi/np" "--smpi of what hrun sets" $q --smpi smpi/np:2 "$smpi/probe"
run $q --smpi smpi/nonsense:1 "$smpi/probe" info
status_is 125 "--smpi of an unknown parameter"
err_has "SimGrid failed: Bad config key: smpi/nonsense" "in SimGrid's words"

# ---------------------------------------------------------------- runs

run "$h" --platform two.xml --config '(2,2,1,1)' --report-bindings "$smpi/flops" 100 hosts
status_is 0 "a program runs"
ok "each rank is where the plan has it" \
    test "$(printf '%s\n' "$out" | grep '^rank' | sort | paste -sd,)" = \
    "rank 0 on fast-0,rank 1 on fast-0,rank 2 on fast-1,rank 3 on fast-1,rank 4 on slow-0"
err_has "rank 4 is simulated on host slow-0" "and --report-bindings tells"
first=$out
run "$h" --platform two.xml --config '(2,2,1,1)' "$smpi/flops" 100 hosts
ok "the simulated time is the same each time" \
    test "$(printf '%s\n' "$first" | grep time)" = "$(printf '%s\n' "$out" | grep time)"
run $q --config '(1,1,0,0)' "$smpi/flops" 1000
ok "10^9 operations take 1/1.6 s on a core of 1.6 Gflop/s" \
    awk '$1 == "time:" { exit !($2 > 0.6249 && $2 < 0.6251) }' "$tmp/.out"
run $q --config '(1,2,0,0)' "$smpi/flops" 1000
ok "and half of it on its two cores" awk '$1 == "time:" { exit !($2 > 0.312 && $2 < 0.35) }' "$tmp/.out"
run "$h" -q --use slow:2 --platform two.xml "$smpi/flops" 100 hosts
ok "--use" test "$(printf '%s\n' "$out" | grep -c 'on slow-[01]$')" = 2
run $q --trace -n 2 "$smpi/flops" 100
status_is 0 "a run that cannot be watched is made"
run $q -n 1 "$smpi/lu" 64
out_has "check: ok" "a program whose computation is timed computes right"

run $q --config '(3,1,0,0)' "$smpi/probe" @1exit=3
status_is 3 "the status of a rank that exits 3"
err_has "rank 1 exited with status 3" "and which it was"
run $q --config '(3,1,0,0)' "$smpi/probe" @2abort=7 ring
status_is 1 "MPI_Abort"
err_has "rank 2 aborted the job" "and who called it"
run $q --config '(3,1,0,0)' "$smpi/probe" @1kill=11 ring
status_is 139 "a segmentation fault is 139"
err_has "a rank was killed by signal 11" "and is told"
run $q --config '(3,1,0,0)' "$smpi/probe" @1nofinalize ring
status_is 1 "a rank that leaves without MPI_Finalize"
printf '%s\n' '#include <mpi.h>' 'int main(int c, char **v) { int r, x; MPI_Init(&c, &v);' \
    'MPI_Comm_rank(MPI_COMM_WORLD, &r);' 'if (r) MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); MPI_Finalize(); return 0; }' >hang.c
smpicc -o hang hang.c
run $q --config '(3,1,0,0)' ./hang
status_is 1 "a deadlock is no success"
err_has "the program hangs" "and is told"

printf 'one\ntwo\n' >in
$q -n 2 "$smpi/probe" @0stdin <in >"$tmp/.out" 2>"$tmp/.err"
out=$(cat .out)
out_has "$(printf 'one\ntwo')" "rank 0 reads standard input"
mkdir -p 'else where'
cp "$smpi/probe" 'else where/pro be'
run $q -n 1 --wdir 'else where' -x NEW='a b' './pro be' info env=NEW
out_has "cwd $tmp/else where" "--wdir, with a blank in it"
out_has "a b" "-x, with a blank in it"
run $q -n 1 "$smpi/probe" info -- --help --cfg=x:y
out_has "rank 0 of 1" "words that SimGrid would understand are the program's"
run $q --timeout 1 -n 2 "$smpi/probe" term-ignore spin
status_is 124 "--timeout of a program that ignores SIGTERM"
nothing_left "after failures and timeouts"
for sig in INT:130 TERM:143 HUP:129; do
    want=${sig#*:} sig=${sig%:*}
    rm -f "$tmp/.out"     # wait_for would see what the run before wrote
    env --default-signal=INT,HUP $q -n 2 "$smpi/probe" info spin </dev/null >"$tmp/.out" 2>"$tmp/.err" &
    pid=$!
    wait_for "rank 1" "$tmp/.out"
    kill -$sig $pid
    wait $pid
    status=$? err=$(cat "$tmp/.err")
    status_is $want "SIG$sig ends the run with 128 + its number"
done
rm -f "$tmp/.out"
$q -n 2 "$smpi/probe" info spin </dev/null >"$tmp/.out" 2>/dev/null &
pid=$!
wait_for "rank 1" "$tmp/.out"
kill -9 $pid
wait $pid 2>/dev/null
run $q -n 1 "$smpi/probe" info
nothing_left "after signals, and after SIGKILL of hrun and one more run"

# ---------------------------------------------------------------- calibration

fails 125 "is linked with Open MPI" "hrun-calibrate with a program of Open MPI" \
    hrun-calibrate -q --platform two.xml -app lu --host 'fast-0' --sizes 64 "$bin/lu"
run hrun-calibrate --dry-run --platform two.xml --host 'fast-[0-2],slow-[0-2]' -app flops "$smpi/flops"
status_is 0 "hrun-calibrate --dry-run"
out_has "sub-clusters fast,slow" "shows the kinds of simulated hosts"
few=(--platform two.xml --host 'fast-[0-2],slow-[0-2]')
run hrun-calibrate "${few[@]}" -app flops --procs 1,2 "$smpi/flops"
status_is 0 "hrun-calibrate"
ok "runs on both kinds at once are among those that it chooses" grep -q '"mixed":true' "$HRUN_DATA"/profiles/flops/*.log
out_has "rests on" "and the best configuration at each size stands at the end"
ok "profiles say that they are simulated" \
    test "$(cd "$HRUN_DATA/profiles/flops" && ls -d simulated-*-smpi-3*-smpi-*.yaml | wc -l)" = 2
run "$h" --dry-run --json "${few[@]}" -app flops -N 1500 "$smpi/flops"
status_is 0 "hrun --dry-run"
predicted=$(json 'd["predicted_s"]')
ok "chooses by the model" test "$(json 'd["chosen_by"]')" = model
run "$h" --dry-run "${few[@]}" -app flops -N 1500 "$smpi/flops"
out_has "would run: smpirun -platform $tmp/two.xml -hostfile hrun.hostfile -np" "and shows the smpirun line"
run "$h" --no-record "${few[@]}" -app flops -N 1500 "$smpi/flops"
status_is 0 "the choice runs"
ok "in the predicted time, within 5 % ($predicted)" \
    awk -v p="$predicted" '$1 == "time:" { exit !($2 > 0.95 * p && $2 < 1.05 * p) }' "$tmp/.out"

# The same hosts with another network, other parameters, or a program that counts otherwise: another profile.
other() { "$h" --dry-run --json "$@" -app flops -N 1500 "$smpi/flops"; }
sed 's/50us/500us/' two.xml >far.xml
run other --platform far.xml --host 'fast-[0-2],slow-[0-2]'
ok "another latency is another profile" test "$(json 'd["chosen_by"]')" = default
run other "${few[@]}" --smpi smpi/coll-selector:mpich
ok "other parameters of SimGrid are another profile" test "$(json 'd["chosen_by"]')" = default
run "$h" --dry-run --json "${few[@]}" -app flops -N 1500 "$smpi/lu" 1500
ok "a program whose computation is timed has another profile" test "$(json 'd["chosen_by"]')" = default
run other --platform two.xml --host 'fast-[0-2]'
ok "fewer hosts are not" test "$(json 'd["chosen_by"]')" = model

# Without a time of its own the program's time is the simulated clock's.
hrun-calibrate --full-grid -q "${few[@]}" -app bare --repetitions 1 --sizes 400,800 "$smpi/flops" >/dev/null
run "$h" --dry-run --json "${few[@]}" -app bare -N 800 --config '(1,1,0,0)' "$smpi/flops"
ok "the wall clock of a run is the simulated one" \
    test "$(json '0.319 < d["predicted_s"] < 0.33')" = True

# What if? One more fast node: the dry runs on two platform files say what it is worth; nothing is measured anew.
sed 's/radical="0-2"/radical="0-3"/' two.xml >more.xml
run "$h" --dry-run --json --platform more.xml --host 'fast-[0-3],slow-[0-2]' -app flops -N 1500 "$smpi/flops"
ok "one more fast node: the profile holds, and the prediction is better" \
    test "$(json "d['chosen_by'] == 'model' and d['predicted_s'] < 0.9 * $predicted")" = True
nothing_left "at the end"
done_testing
