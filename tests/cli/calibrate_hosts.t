#!/bin/bash
# hrun-calibrate over hosts, and its failures. The hosts are addresses of this machine: the remote shell agent is a script
# that runs the command here, with the topology of the host that it is given.
. "$(dirname "$0")/tap.sh"
two_cores
cd "$tmp" || exit 1
lu=$bin/lu
full="hrun-calibrate --full-grid"
mkdir profiles
export HRUN_PROFILE_PATH=$tmp/profiles:$apps
# This machine twice, with processors of other names.
hrun --show-cluster=xml | sed '/^<?hrun/,/^?>/d' > this.xml
for kind in near far; do
    if grep -q 'name="CPUModel"' this.xml; then
        sed "s/\(name=\"CPUModel\" value=\"\)[^\"]*/\1Made $kind/" this.xml > $kind.xml
    else
        sed "s/\(<object type=\"Package\"[^>]*[^/]>\)/\1<info name=\"CPUModel\" value=\"Made $kind\"\/>/" this.xml > $kind.xml
    fi
done
cat > agent <<A
#!/bin/sh
host=\$1
shift
case \$host in
127.0.0.2) export HWLOC_XMLFILE="$tmp/near.xml" HWLOC_THISSYSTEM=1 ;;
127.0.0.5) export HWLOC_XMLFILE="$top/tests/data/topo/made-8p16e.xml" ;;
*) export HWLOC_XMLFILE="$tmp/far.xml" HWLOC_THISSYSTEM=1 ;;
esac
case \$* in
*--show-cluster=xml*) exec sh -c "\$*" ;;
esac
[ -e "$tmp/down.\$host" ] && { echo "ssh: connect to host \$host: No route to host" >&2; exit 255; }
export SITE=\$host
exec sh -c "\$*"
A
chmod +x agent
on() { echo --mca plm_rsh_agent "$tmp/agent" --host "$1"; }
two=$(on 127.0.0.2,127.0.0.4)
# Of the log: what $1 (a Python expression over m, the list of measurements) says.
log() {
    [ -d "$1" ] || return
    hrun-calibrate --data "$1" --json show "$2" >"$tmp/.log" 2>/dev/null
    python3 -c '
import json, sys
p = json.load(open(sys.argv[1]))
m = [x for q in p for x in q["measurements"]]
bad = sum(q["bad_records"] for q in p)
sys.exit(not eval(sys.argv[2]))' "$tmp/.log" "$3"
}
left() { pgrep -f "$tmp/napper" | tr '\n' ' '; }
nothing_left() {
    for _ in $(seq 2000); do [ -z "$(left)" ] && break; sleep 0.1; done
    out=$(left)
    ok "$1: no process is left" test -z "$out"
}

# ---- each way to fail, on one host: recorded as failed, tried again, never a time
cat > profiles/odd.yaml <<'Y'
name: odd
rule: "P >= 1"
procs_per_pe: [1]
terms: {np: ["N", "1"], n: ["N", "1"]}
args: ["{N}"]
time: {match: '^time: (.*)$'}
sizes: [100]
Y
cat > odd <<P
#!/bin/sh
case \$1 in
101) exit 3 ;;
102) kill -9 \$\$ ;;
103) exec sleep 100 ;;
104) echo done ;;
105) echo "time: 0" ;;
106) echo "time: -2" ;;
107) echo "time: nan" ;;
108) echo "time: inf" ;;
109) echo "time: 1e999" ;;
110) echo "time: soon" ;;
111) [ -e "$tmp/once" ] || { touch "$tmp/once"; exit 4; }; echo "time: 0.5" ;;
*) echo "time: 0.25" ;;
esac
P
chmod +x odd
odd="$full --data $tmp/odd.d --timeout 1 --retries 2 -r 2 --pes 1 --sizes 99-112 -app odd ./odd"
run $odd
status_is 125 "points that fail: status 125"
err_has "9 points failed and are left out" "as many as failed are told"
bad='all(not x["ok"] and x["time_s"] == 0 for x in m if x["N"] in range(101, 111))'
ok "not one became a time" log odd.d odd "$bad"
ok "each was tried three times, but one that takes no time" log odd.d odd \
    'all(sum(x["N"] == n for x in m) == (1 if n == 105 else 3) for n in range(101, 111))'
for how in "101 exit 3" "102 signal 9" "103 timeout" "104 no time in output" "105 too short to tell" "106 no time in output" \
    "107 no time in output" "108 no time in output" "109 no time in output" "110 no time in output"; do
    ok "N=${how%% *} is in the log as '${how#* }'" log odd.d odd \
        "{x['status'] for x in m if x['N'] == ${how%% *}} == {'${how#* }'}"
done
ok "one that failed once and then worked is a measurement" log odd.d odd \
    'sorted(x["time_s"] for x in m if x["N"] == 111) == [0, 0.5, 0.5]'
ok "the others have their repetitions" log odd.d odd 'all(sum(x["N"] == n and x["ok"] for x in m) == 2 for n in (99, 100, 112))'
out_has "single/nnls" "and what worked is fitted"
run $full --data "$tmp/odd.d" --timeout 1 --retries 0 -r 2 --pes 1 --sizes 99,101,100 -app odd ./odd
ok "--retries 0: one more try" log odd.d odd 'sum(x["N"] == 101 for x in m) == 4'

# ---- the dry run
run $full $two --dry-run --sizes 60,100 --procs 1 -r 2 -app lu "$lu"
status_is 0 "a dry run over hosts"
ok "tells each sub-cluster's runs" grep -Eq '^made-near +127\.0\.0\.2 +2 +4 +not known yet$' "$tmp/.out"
ok "and those of all" grep -Eq '^all +4 +8 +not known yet$' "$tmp/.out"
out_has "sub-cluster made-near has one PE" "and what a single PE is good for"
run $full $two --level core --dry-run --sizes 60 --procs 1 -r 2 -app lu "$lu"
out_has "made-near    60  2    2         1     2" "cores of one host are PEs"
out_lacks "has one PE" "and more than one"

# ---- both sub-clusters, one after the other
cat > profiles/nap.yaml <<'Y'
name: nap
rule: "P >= 1"
procs_per_pe: [1]
terms: {np: ["N", "1"], n: ["N", "1"]}
args: ["{N}"]
sizes: [10, 20]
Y
cat > napper <<P
#!/bin/sh
case \$1 in [34]?) exit 0 ;; esac
sleep 100
P
chmod +x napper
run $full $two --data nap1.d --sizes 31,41 -r 2 -app nap "$tmp/napper"
status_is 0 "both sub-clusters are measured"
err_has "[8/8]" "one count for all"
ok "every run is in the log" log nap1.d nap \
    'len(m) == 8 and all(x["ok"] and x["time_s"] > 0 for x in m) and not bad and len(p) == 2'
run $full $two --data nap1.d --sizes 31,41 -r 4 --dry-run -app nap "$tmp/napper"
ok "a dry run knows the times now" grep -Eq '^all +4 +8 +[0-9.]+ m?s$' "$tmp/.out"

# ---- a sub-cluster that nobody has measured does not lie idle unnoticed
run $full $two --use made-near --data one.d --sizes 31,41 -r 1 -app nap "$tmp/napper"
status_is 0 "one of two sub-clusters is measured"
run hrun $two --data one.d -N 41 -app nap "$tmp/napper"
status_is 0 "a run by its profile"
err_has "hrun: sub-cluster made-far has no profile yet and is not used" "says which sub-cluster is left out"
err_has "hrun: to measure it: hrun-calibrate" "and how to measure it"
run hrun $two --data one.d -q -N 41 -app nap "$tmp/napper"
err_lacks "has no profile yet" "-q does not"

# ---- one SIGINT ends it
for round in "INT 130" "TERM 143"; do
    sig=${round% *} want=${round#* }
    # The shell lets SIGINT be ignored by what it starts in the background.
    perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' \
        $full $two --data "nap$sig.d" --sizes 30,99 -r 1 -app nap "$tmp/napper" >bg.out 2>bg.err </dev/null &
    pid=$!
    for _ in $(seq 2000); do [ -n "$(left)" ] && log "nap$sig.d" nap 'len(m) == 1' && break; sleep 0.1; done
    kill -$sig $pid
    wait $pid
    status=$?
    err=$(cat bg.err) ran="hrun-calibrate (SIG$sig)"
    status_is "$want" "SIG$sig: status $want"
    err_has "stopped after 1 measurement; what was measured is kept" "what was measured is kept"
    nothing_left "SIG$sig"
    ok "SIG$sig: the run that was cut is no record" log "nap$sig.d" nap 'len(m) == 1 and all(x["ok"] for x in m) and not bad'
done

# ---- hrun-calibrate itself is killed
$full $two --data napK9.d --sizes 99 -r 1 -app nap "$tmp/napper" >bg.out 2>bg.err </dev/null &
pid=$!
for _ in $(seq 2000); do [ -n "$(left)" ] && break; sleep 0.1; done
kill -9 $pid
wait $pid 2>/dev/null
nothing_left "SIGKILL"

# ---- a host that cannot be reached when a run is started
touch down.127.0.0.4
run $full $two --data down.d --sizes 31-33 -r 1 --retries 1 -app nap "$tmp/napper"
status_is 125 "a host is down: status 125"
err_has "sub-cluster made-far is given up: 3 points in a row could not be run" "its sub-cluster is given up"
err_has "127.0.0.4" "and the host is named"
ok "its failures are in the log, tried again" log down.d nap \
    'sum(not x["ok"] for x in m) == 6 and all(x["status"].startswith("engine: ") for x in m if not x["ok"])'
ok "the other sub-cluster is measured in full" log down.d nap 'sum(x["ok"] for x in m) == 3'
out_has "made-near " "and fitted"
rm down.127.0.0.4
run $full $two --data down.d --sizes 31-33 -r 1 --retries 1 -app nap "$tmp/napper"
status_is 0 "when it is back the same command goes on"
err_has "3 of 6 runs are measured already" "with what is missing"

# ---- the command that hrun suggests makes the profile that the same hrun then uses
cat > cluster.yaml <<'Y'
subclusters:
  - name: small
    hosts: "127.0.0.2"
  - name: large
    hosts: "127.0.0.4"
Y
printf '127.0.0.2\n127.0.0.4 \n' > hosts
suggested() { # OPTION...
    run hrun "$@" --dry-run -N 80 -app lu "$lu" 80
    line=$(printf '%s\n' "$out" | sed -n 's/^  to make a profile: //p')
    out=$line ok "$1 $2: a command is suggested" test -n "$line"
    eval "run ${line/ -app/ --sizes 60,100 --procs 1 --budget 6runs -app}"
    status_is 0 "$1 $2: it works"
    run hrun "$@" --dry-run --json -N 80 -app lu "$lu" 80
    ok "$1 $2: and hrun predicts by it" python3 -c 'import json,sys; assert json.load(open(sys.argv[1]))["chosen_by"] == "model"' "$tmp/.out"
}
suggested --data "$tmp/s 1" $two --mca btl self,vader,tcp
suggested --data "$tmp/s 1" --mca plm_rsh_agent "$tmp/agent" --hostfile hosts --level core
suggested --data "$tmp/s2" --mca plm_rsh_agent "$tmp/agent" --skip-unreachable --cluster cluster.yaml -x "A=b c" --wdir "$tmp"
done_testing
