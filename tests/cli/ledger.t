#!/bin/bash
# ledger.t - runs side by side on the PEs of this host: what remains is taken, the rest is waited for, who uses what,
# several users, killed ones, a ledger that cannot be used
. "$(dirname "$0")/tap.sh"
cd "$tmp" || exit 1

cores=$(hrun --show-cluster --level core --json | python3 -c "
import json, sys
print(max(len(s['pes']) for s in json.load(sys.stdin)['subclusters']))")
if [ "$cores" -lt 2 ]; then
    skip "runs side by side" "one core"
    done_testing
fi
ledger=$tmp/ledger
mkdir -m 1777 "$ledger"
chmod 755 "$tmp"
export HRUN_LEDGER=$ledger
all=$((cores - 1))

# start COUNT FILE: a run with that many PEs of level core that writes its PUs to FILE and ends when FILE.end is there
start() {
    hrun -q -n "$1" sh -c "taskset -cp \$\$ >>'$2'; while [ ! -e '$2.end' ]; do sleep 0.05; done" &
    for _ in $(seq 200); do
        [ -s "$2" ] && [ "$(wc -l <"$2")" = "$1" ] && return
        sleep 0.05
    done
}
pus() { sed 's/.*: //' "$1" | sort -n | tr '\n' ' '; }
entries() { find "$ledger" -name 'hrun-*' | wc -l; }
who() { hrun --show-cluster=users --json | python3 -c "import json, sys; d = json.load(sys.stdin)['runs']; print($1)"; }

run hrun --show-cluster=users
status_is 0 "an empty ledger"
out_has "no PEs are in use" "says so"
ok "looking makes nothing" test "$(ls "$ledger")" = ""

# ---- a second run takes what remains
start "$all" "$tmp/one"
one=$!
run hrun --show-cluster=users
out_has "root" "who runs"
out_has ":$one " "with its process"
ok "for machines" test "$(who "(len(d), d[0]['state'], d[0]['pid'] == $one)")" = "(1, 'runs', True)"
run hrun --dry-run true
out_has "$all of $cores PEs of" "the dry run says what is in use"
out_has "in use by root" "and by whom"
out_has "P = 1" "what remains is chosen"
out_lacks "would wait" "for which it would not wait"
run hrun --dry-run --json true
ok "for machines, too" test "$(python3 -c "
import json; p = json.load(open('$tmp/.out'))
print(p['P'], [(u['pes'], u['user'], u['waits']) for u in p['in_use']])")" = \
    "1 [($all, 'root', False)]"
start 1 "$tmp/two"
two=$!
ok "two runs have different PUs" test -z "$(cat "$tmp/one" "$tmp/two" | sed 's/.*: //' | sort | uniq -d)"
fails 125 "the PEs that this run needs are in use: $cores of $cores PEs" "a third one finds nothing" hrun --no-wait true
fails 125 "; hrun --show-cluster=users" "and is told who tells more" hrun --no-wait -n 2 true
fails 125 "HRUN_LEDGER=none" "and what else could be done" hrun --no-wait --config "(2,1)" true
fails 125 "at most $cores" "what the cluster has not got is another error" hrun -n $((cores + 1)) true
for words in "" "--wait" "--no-wait" "-n $cores"; do
    run hrun $words --dry-run true
    status_is 0 "a dry run '$words' is not refused"
    ok "'$words' tells in one line whom it would wait for" \
        test "$(grep -c "it would wait: $cores of $cores PEs of .* in use by root since" <<<"$out")" = 1
done
run hrun --dry-run --json true
ok "for machines, too" test "$(python3 -c "
import json; p = json.load(open('$tmp/.out'))
print(p['would_wait'], p['in_use'][0]['since'] > 10 ** 9)")" = "True True"
run env HRUN_LEDGER=none hrun -q -n 1 true
status_is 0 "without a ledger it runs beside them"

# ---- a run that is killed frees its PEs
kill -9 $two
wait $two 2>/dev/null
run hrun -q -n 1 true
status_is 0 "the PE of a run that was killed is free"
ok "and its entry is removed" test "$(entries)" = 1
touch "$tmp/one.end" "$tmp/two.end"
wait $one
ok "nothing is left when a run has ended" test "$(entries)" = 0
run hrun -q -n "$cores" true
status_is 0 "all PEs are free again"

# ---- waiting
start "$cores" "$tmp/three"
three=$!
hrun -n 1 sh -c "echo one >>$tmp/order; sleep 0.3" 2>"$tmp/waits" &
first=$!
for _ in $(seq 2000); do [ "$(who "len(d)")" = 2 ] && break; sleep 0.05; done
hrun -n "$cores" sh -c "echo all >>$tmp/order" 2>/dev/null &
second=$!
for _ in $(seq 2000); do [ "$(who "len(d)")" = 3 ] && break; sleep 0.05; done
run hrun --show-cluster=users
out_has "waiting, the first one first:" "who waits stands in a list"
ok "in their order" test "$(who "[e['pid'] for e in d if e['state'] == 'waits']")" = "[$first, $second]"
run timeout -s INT 1 hrun true
status_is 124 "interrupted while it waits"
err_has "$cores of $cores PEs of" "it said for whom"
ok "it leaves nothing" test "$(entries)" = 3
run hrun --wait=1 -n 1 true
status_is 125 "at most a second"
err_has "the PEs that this run needs are still in use at the end of --wait" "then it is an error"
ok "nothing was started meanwhile" test ! -e "$tmp/order"
ok "it has said once for whom it waits" test "$(grep -c "waits for its PEs .*in use by root since" "$tmp/waits")" = 1
touch "$tmp/three.end"
wait $first
ok "the first goes" test $? = 0
wait $second
ok "and the second" test "$(sort "$tmp/order" | uniq -c | tr -s ' ' | tr '\n' ';')" = " $cores all; 1 one;"
ok "in their order" test "$(head -n 1 "$tmp/order")" = one
wait $three
ok "nothing is left" test "$(entries)" = 0

# A shell loop: none is lost.
for i in 1 2 3; do hrun -q sh -c "echo job$i >>$tmp/loop; sleep 0.1" & done
wait
ok "jobs of a shell loop run all" test "$(sort -u "$tmp/loop" | tr '\n' ' ')" = "job1 job2 job3 "

# Free PEs of the host that one waits for are kept for it.
start 1 "$tmp/four"
four=$!
hrun -n "$cores" true 2>/dev/null &
waiter=$!
for _ in $(seq 2000); do [ "$(who "len(d)")" = 2 ] && break; sleep 0.05; done
fails 125 "kept for root, who waits since" "what is free is kept for one that waits" hrun --no-wait -n 1 true
kill -STOP $waiter
touch "$tmp/four.end"
wait $four
run hrun --show-cluster=users
out_has "no PEs are in use" "where all wait nothing is in use"
out_has "waiting, the first one first:" "and those who wait are told"
kill -TERM $waiter
kill -CONT $waiter
wait $waiter
ok "until it is ended" test $? = 143
run hrun -q -n 1 true
status_is 0 "then it is free"

# ---- predicted ends: of two ways the one that ends earlier
mkdir "$tmp/profiles"
cat >"$tmp/profiles/naps.yaml" <<'Y'
name: naps
rule: "P >= 1"
procs_per_pe: [1]
terms: {np: ["N/P"], n: ["N"]}
args: ["{N}", "{P}"]
sizes: [10, 20, 40]
time: {match: '^time: (.*)$'}
Y
cat >"$tmp/naps" <<'P'
#!/usr/bin/python3
import os, sys, time
s = float(sys.argv[1]) / float(sys.argv[2]) / 100
time.sleep(s)
if os.environ.get("OMPI_COMM_WORLD_RANK") == "0": print("time: %.6f" % s, flush=True)
P
chmod +x "$tmp/naps"
export HRUN_PROFILE_PATH=$tmp/profiles
run hrun-calibrate --full-grid -q -app naps -r 1 "$tmp/naps"
status_is 0 "a profile"
start 1 "$tmp/five"
five=$!
run timeout 3 hrun --wait -app naps -N 100 "$tmp/naps"
touch "$tmp/five.end"
wait $five
status_is 124 "the end of the other run is not known: it waits for all"
hrun -q -n 1 -app naps -N 1000 "$tmp/naps" &
six=$!
for _ in $(seq 2000); do [ "$(who "len(d)")" = 1 ] && break; sleep 0.05; done
run hrun --dry-run true
out_has " until about " "a predicted end is told"
run hrun --wait -app naps -N 10 "$tmp/naps"
status_is 0 "a short run beside a long one"
err_lacks "waits for" "starts on what remains"
ok "while the other runs" kill -0 $six
kill $six
wait $six 2>/dev/null

# ---- calibration has its host for itself
start 1 "$tmp/seven"
seven=$!
(sleep 1.5; touch "$tmp/seven.end") &
run hrun-calibrate --full-grid --sizes 10,11 --pes 1 -r 1 --again -app naps "$tmp/naps"
status_is 0 "a calibration"
err_has "waits for its PEs: 1 of $cores PEs" "waits until its host is free"
wait $seven
ok "nothing is left" test "$(entries)" = 0

# ---- a ledger that cannot be used
fails 125 "there is no ledger '$tmp/nowhere'" "a ledger that is not there" env HRUN_LEDGER="$tmp/nowhere" hrun true
mkdir -m 777 "$tmp/open"
fails 125 "chmod +t" "one that is open to all and not sticky" env HRUN_LEDGER="$tmp/open" hrun true
printf 'ledger: mine\nsubclusters: [{hosts: localhost}]\n' >"$tmp/c.yaml"
HRUN_LEDGER='' fails 125 "there is no ledger '$tmp/mine'" "one that a cluster file names" \
    hrun --cluster "$tmp/c.yaml" true
mkdir "$tmp/mine"
HRUN_LEDGER='' run hrun --cluster "$tmp/c.yaml" --show-cluster=users
out_has "in use ($tmp/mine)" "and --show-cluster=users knows it"
run hrun -q sh -c 'hrun -q --level core true'
status_is 0 "a run that starts a run"
mkdir -m 1777 "$tmp/fifo"
mkfifo "$tmp/fifo/hrun.locks"
run env HRUN_LEDGER="$tmp/fifo" hrun -n 1 true
status_is 0 "one that another user has made useless"
err_has "hrun.locks, which belongs to root, is not a plain file" "is told, with his name"

if [ "$(id -u)" = 0 ]; then
    # ---- another user
    as=(setpriv --reuid=64003 --regid=64003 --clear-groups env HOME="$tmp/other" HRUN_DATA="$tmp/other")
    mkdir "$tmp/other"
    chown 64003 "$tmp/other"
    if "${as[@]}" env HRUN_LEDGER=none hrun -q true 2>/dev/null; then
        "${as[@]}" hrun -q -n "$cores" sleep 30 &
        other=$!
        for _ in $(seq 2000); do [ "$(who "len(d)")" = 1 ] && break; sleep 0.05; done
        fails 125 "in use by uid 64003" "PEs of another user" hrun --no-wait -n 1 true
        kill $other
        wait $other 2>/dev/null
        start "$cores" "$tmp/eight"
        eight=$!
        run "${as[@]}" hrun --no-wait -n 1 true
        status_is 125 "our PEs are in use for him"
        err_has "in use by root" "by us"
        run "${as[@]}" sh -c "rm -f $ledger/*; for f in $ledger/hrun-*; do echo >\$f; done; echo {} >$ledger/hrun.locks"
        ok "he cannot end our claim" test "$(who "[e['uid'] for e in d]")" = "[0]"
        touch "$tmp/eight.end"
        wait $eight
    else
        skip "another user" "he cannot run hrun here"
    fi
    # ---- a full file system
    mkdir -m 1777 "$tmp/full"
    if mount -t tmpfs -o size=8k,nr_inodes=64,mode=1777 tmpfs "$tmp/full" 2>/dev/null; then
        dd if=/dev/zero of="$tmp/full/filler" bs=4k count=4 2>/dev/null
        run env HRUN_LEDGER="$tmp/full" hrun -n 1 true
        status_is 0 "on a full file system it runs"
        err_lacks "does not lock its PEs" "with a lock, which needs no room"
        ok "nothing is left of it" test "$(ls "$tmp/full" | tr '\n' ' ')" = "filler hrun.locks "
        umount "$tmp/full"
    else
        skip "a full file system" "no mount here"
    fi
fi
done_testing
