#!/bin/bash
# hrun-calibrate network: one host; simulated ones behind two switches, whose parameters are known; what is kept, shown
# and refused. Real hosts are in tests/lab/network.t.
. "$(dirname "$0")/tap.sh"
cd "$tmp" || exit 1
export HRUN_CACHE=$tmp/cache
before=$(litter)
json() {
    python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "${2-$tmp/.out}" "$1"
}

# ---------------------------------------------------------------- bad options

c=hrun-calibrate
fails 125 "takes no program" "a program" $c network ./program
fails 125 "--precision 0: a percentage above 0" "a precision of nothing" $c network --precision 0
fails 125 "-r needs a whole number" "no repetition" $c network -r 0
fails 125 "--budget does nothing for \`network\`" "a budget, which is of applications" $c network --budget 10
fails 125 "there is no ledger" "the ledger is of use to it" \
    env HRUN_LEDGER="$tmp/none/of/these" $c network -q
fails 125 "--app does nothing for \`network\`" "an application" $c network --redo -app hpl
fails 125 "--redo does nothing for \`network --from\`" "measuring what was measured" $c network --from nosuch --redo
fails 125 "--precision does nothing for \`show --network\`" "a precision of what is only shown" \
    $c show --network --precision 1
fails 125 "takes no program or name: 'lu'" "an application's network" $c show --network lu
fails 125 "--hostfile does nothing for \`show\`" "hosts of a profile" $c show lu --hostfile hosts
fails 125 "platform file none.xml: No such file" "a platform that is not there" $c network --platform none.xml
fails 125 "nosuch" "a file of records that is not there" $c network --from nosuch
echo "no records" >torn
fails 125 "torn: these are no records of the network benchmark: there is no \`network\` line" "a file of other things" \
    $c network --from torn
printf '%s\n' "network 1 2" "host 0 a 0 1 0" "host 1 b 0 1 0" "trip 0 1 -1 0 0 0 1 nan 0 1" >torn
fails 125 "torn:4: a record of the network benchmark does not make sense" "a record that is bad" $c network --from torn
printf '%s\n' "network 1 2" "host 0 a 0 1 0" "host 1 b 0 1 0" "trip 0 1 -1 0 0 0 1 .1 0 .1" | head -c -4 >torn
fails 125 "torn:4: the records of the network benchmark end before their \`end\` line" "a file that is cut" \
    $c network --from torn
printf '%s\n' "network 1 2" "host 0 a 0 1 0" "host 1 b 0 1 0" end >torn
fails 125 "torn: no message between a and b was measured" "too little" $c network --from torn
fails 125 "the network of this host was not measured: \`hrun-calibrate network\`" "show --network before" \
    $c show --network
HWLOC_SYNTHETIC="node:1 core:4 pu:1" fails 125 "unset the variable" "a topology that is only described" $c network

# ---------------------------------------------------------------- this host

run $c network --help
status_is 0 "--help behind network"
out_has "Usage: hrun-calibrate" "helps"
ok "and measures nothing" test -z "$(ls "$HRUN_DATA"/networks/*.yaml 2>/dev/null)"
run $c network --dry-run
status_is 0 "a dry run"
out_has "hrun-netbench --kinds" "says what would be started"
out_has "would write: $HRUN_DATA/networks/" "and where it would be kept"
ok "and keeps nothing" test -z "$(ls "$HRUN_DATA"/networks/*.yaml 2>/dev/null)"
run $c network -r 10 --json
status_is 0 "the network inside one host"
ok "is JSON, with what messages inside it take" \
    test "$(json 'len(d["hosts"]), len(d["pairs"]), d["classes"][0]["local"][0]["s_per_byte"]["value"] > 0')" = \
    "(1, 0, True)"
run $c network
status_is 0 "the second time it is shown"
err_has "--redo measures it again" "and said how it is measured again"
ok "there is one" test "$(ls "$HRUN_DATA"/networks/*.yaml | wc -l)" = 1
ok "nothing is left" nothing_new "$before"
run $c network --redo --timeout 0.01
status_is 125 "a time that is too short"
err_has "did not end within --timeout; nothing of it is kept" "is told"

run $c network --redo -x LD_PRELOAD="$build/tests/apps/jump.so"
status_is 125 "a clock that jumps"
err_has "the clocks of two processes contradict each other" "is told"
err_has "measure again" "with what to do"
run $c show --network --json
ok "and what was measured before stays" test "$(json 'len(d["hosts"])')" = 1
( umask 022; HOME=$tmp/home XDG_DATA_HOME=$tmp/home/share HRUN_DATA='' hrun-calibrate network -r 10 -q )
ok "below a home folders are nobody else's" test "$(stat -c %a home/share/hrun home/share/hrun/networks | xargs)" = "700 700"
( umask 022; HRUN_DATA=$tmp/given hrun-calibrate network -r 10 -q )
ok "where HRUN_DATA names them they are everybody's to read" test "$(stat -c %a given/networks)" = 755

# ---------------------------------------------------------------- simulated hosts

if [ ! -x "$build/lib/hrun/hrun-netbench-smpi" ]; then
    skip "simulated hosts" "SimGrid is not installed (libsimgrid-dev)"
    done_testing
fi

# Two hosts at each of two switches, whose trunk of 100 Mbit/s is shared; factors that SimGrid multiplies times and
# rates by are switched off, and so is the influence that messages have on those of the other direction, so that the
# figures of this file are those of the network.
cat >two.xml <<'X'
<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="all" routing="Full">
    <cluster id="A" prefix="a-" suffix="" radical="0-1" speed="1Gf" bw="125MBps" lat="20us" loopback_bw="500MBps"
             loopback_lat="5us" router_id="ra"/>
    <cluster id="B" prefix="b-" suffix="" radical="0-1" speed="1Gf" bw="100MBps" lat="30us" loopback_bw="500MBps"
             loopback_lat="5us" router_id="rb"/>
    <link id="trunk" bandwidth="12.5MBps" latency="10us"/>
    <zoneRoute src="A" dst="B" gw_src="ra" gw_dst="rb"><link_ctn id="trunk"/></zoneRoute>
  </zone>
</platform>
X
plain="--smpi smpi/bw-factor:0:1 --smpi smpi/lat-factor:0:1 --smpi network/crosstraffic:0"
# shellcheck disable=SC2086
run $c network --platform two.xml $plain --keep records --json
status_is 0 "the network of four simulated hosts"
cp .out network.json
ok "they are behind two switches" \
    test "$(json 'd["switches"], [h["switch"] for h in d["hosts"]]')" = "(2, [0, 0, 1, 1])"
cat >look.py <<'P'
# What a message of M bytes alone takes beyond an empty one, and an empty one, against the platform: (latency, rate).
# SimGrid sends 16 bytes with each message, which is what an empty one takes beyond the latency.
import json
d = json.load(open("network.json"))
of = [h["class"] for h in d["hosts"]]
truth = {(0, 1): (40e-6, 125e6), (2, 3): (60e-6, 100e6), (0, 2): (60e-6, 12.5e6), (3, 1): (60e-6, 12.5e6)}
worst = 0
for (a, b), (latency, rate) in truth.items():
    p = next(p for p in d["pairs"] if (p["from"], p["to"]) == (of[a], of[b]))
    ca, cb = d["classes"][of[a]], d["classes"][of[b]]
    empty = p["L_s"]["value"] + ca["C_s"]["value"] + cb["C_s"]["value"]
    byte = 1 / p["beta_bytes_per_s"]["value"] + ca["t_s_per_byte"]["value"] + cb["t_s_per_byte"]["value"]
    print("%d -> %d: %.2f us of %.2f, %.3f ns/B of %.3f" % (a, b, 1e6 * empty, 1e6 * latency, 1e9 * byte, 1e9 / rate))
    worst = max(worst, abs(empty / (latency + 16 / rate) - 1), abs(byte * rate - 1))
print("within 2.5 %" if worst <= 0.025 else "off by %.1f %%" % (100 * worst))
P
run python3 look.py
out_has "within 2.5 %" "latencies and rates are those of the platform"
cp .out figures
run json '[t["bytes_per_s"]["value"] for t in d["trunks"] if t["from"] != t["to"]]' network.json
ok "the thin link is told as a trunk: $out" python3 -c "import sys; v = eval(sys.argv[1]);
sys.exit(not v or any(abs(x / 12.5e6 - 1) > 0.025 for x in v))" "$out"
ok "what long messages carry is told" test "$(json '[round(p["bandwidth_bytes_per_s"] / 12.5e6, 1) for p in d["pairs"]
    if d["hosts"][0]["class"] == p["from"] and d["hosts"][2]["class"] == p["to"]]' network.json)" = "[1.0]"
ok "algorithms are those of SimGrid's \`ompi\`, with which hrun starts programs" \
    test "$(json 'd["selector"]' network.json)" = ompi
ok "and what else hrun knows of SimGrid's messages" test "$(json '[d[k] for k in ("wire_waits", "bias_bytes",
    "back_share", "trunks_shared")]' network.json)" = "[True, 8775.0, 0.0, True]"
ok "sends of 64 KiB wait" test "$(json '62000 < d["rendezvous_bytes"] <= 65536' network.json)" = True
ok "it takes less than 0.3 s of simulated time" \
    test "$(json '0 < d["measurement"]["spent_s"] < 0.3' network.json)" = True
ok "both ways share it" grep -q "trunks_shared: 1" "$HRUN_DATA"/networks/a-0.4-*.yaml

# A link as fast as the hosts are, and hardly longer: one message alone does not see it.
sed -e 's/radical="0-1"/radical="0-3"/; s/bw="100MBps" lat="30us"/bw="125MBps" lat="20us"/' \
    -e 's/"12.5MBps" latency="10us"/"125MBps" latency="1us"/' two.xml >eight.xml
# shellcheck disable=SC2086
run $c network --platform eight.xml $plain --json
status_is 0 "eight like hosts"
cp .out eight.json
ok "are behind two switches" \
    test "$(json '[h["switch"] for h in d["hosts"]]' eight.json)" = "[0, 0, 0, 0, 1, 1, 1, 1]"
run json '[t["bytes_per_s"]["value"] for t in d["trunks"] if t["from"] != t["to"]]' eight.json
ok "what they share is told: $out" python3 -c "import sys; v = eval(sys.argv[1]);
sys.exit(not v or any(abs(x / 125e6 - 1) > 0.025 for x in v))" "$out"
# shellcheck disable=SC2086
run $c show --network --platform two.xml $plain
status_is 0 "it is shown"
out_has "network of 4 hosts behind 2 switches" "in words"
out_has "bandwidth" "as users call it"
out_has "trunk: all messages from a-[0-1] to b-[0-1] share" "with its trunk"
# shellcheck disable=SC2086
run $c show --network --json --platform two.xml $plain --host b-0,a-1
ok "part of the hosts have the same network" test "$(json 'len(d["hosts"])')" = 4
run $c show --network --platform two.xml
status_is 125 "with other parameters of SimGrid it is another network"

# What messages at once share is right also where latencies are long: trunks between three and three hosts, on which
# trips do not begin at one time, and a switch that all share. SimGrid's long messages carry 0.940694 of a link, less
# 1/21 of acknowledgements where these go the same way.
cat >shared.py <<'P'
import itertools, sys
near, far, link, latency = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
print("<?xml version='1.0'?>", '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
      '<platform version="4.1"> <zone id="all" routing="Full">', sep="\n")
for h in range(near + far):
    print('<host id="h%d" speed="1Gf"/> <link id="l%d" bandwidth="125MBps" latency="20us" '
          'sharing_policy="SPLITDUPLEX"/>' % (h, h))
print('<link id="shared" bandwidth="%s" latency="%s"/>' % (link, latency))
for i, j in itertools.combinations(range(near + far), 2):
    shared = '<link_ctn id="shared"/>' if not far or (i < near) != (j < near) else ''
    print('<route src="h%d" dst="h%d"><link_ctn id="l%d" direction="UP"/>%s<link_ctn id="l%d" direction="DOWN"/>'
          '</route>' % (i, j, i, shared, j))
print("</zone> </platform>")
P
while read -r near far rate latency what; do
    python3 shared.py $near $far ${rate}MBps $latency >shared.xml
    run $c network --platform shared.xml --json
    status_is 0 "$what"
    cp .out shared.json
    run json '["%.4g MB/s" % (t["bandwidth_bytes_per_s"] / 1e6) for t in d["trunks"]]' shared.json
    ok "carries what the platform says: $out" python3 -c "import sys; v = eval(sys.argv[1])
sys.exit(not v or any(abs(float(x.split()[0]) * 1.05 / 0.940694 / $rate - 1) > 0.025 for x in v))" "$out"
    carried=$(json 'd["trunks"][0]["bandwidth_bytes_per_s"] / 1e6' shared.json)
    run $c show --network --platform shared.xml
    out_has "share $(printf %.4g "$carried") MB/s" "which is what the table says"
done <<'X'
3 3 40 500us a slow trunk, far away
3 3 100 20us a trunk as fast as a link, nearly
2 3 10 20us a thin one
8 0 200 1us a switch
X

sed 's/12.5MBps/25MBps/' two.xml >other.xml
# shellcheck disable=SC2086
run $c show --network --platform other.xml $plain
status_is 125 "and on another platform"
run $c network --from records --json
status_is 0 "records that were kept"
cp .out again.json
ok "give the same network" \
    test "$(json 'd["pairs"], d["trunks"]' again.json)" = "$(json 'd["pairs"], d["trunks"]' network.json)"
head -n 40 records >torn
fails 125 "torn:40: the records of the network benchmark end before" "records that are torn" $c network --from torn

# The report of an application has the network of the hosts that are named.
run $c network --platform two.xml -q
ok "the records are kept beside the network" test "$(ls "$HRUN_DATA"/networks/*.records | wc -l)" -ge 2
run $c -app jacobi --platform two.xml --sizes 24,48 --full-grid -r 1 -q "$build/tests/smpi/jacobi" {N}
run $c report jacobi --platform two.xml -o r.html
status_is 0 "a report with a network"
sed -n 's:.*id="data">\(.*\)</script>.*:\1:p' r.html >report.json
trips='all(len(w["measured"]) > 0 and len(w["model"]) > 4 for w in d["network"]["round_trips"])'
ok "has round trips, measured and by the model" test "$(json "$trips" report.json)" = True
ok "and scatter and gather" test "$(json 'min(len(d["network"][op]["measured"]) for op in ("scatter", "gather")) > 4' \
    report.json)" = True
run $c show --network --platform two.xml
ok "and the tables that show --network prints" test "$(json 'd["network"]["text"].strip() in open(".out").read()' \
    report.json)" = True
run $c report jacobi -o r.html
sed -n 's:.*id="data">\(.*\)</script>.*:\1:p' r.html >report.json
ok "without hosts it has none" test "$status" = 0 -a "$(json 'd["network"]' report.json)" = None
run $c report jacobi --platform other.xml -o r.html
err_has "the network of these hosts was not measured" "what is missing is told"

# One host, one process: there is no network.
cat >one.xml <<'X'
<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="all" routing="Full"><host id="alone" speed="1Gf"/></zone></platform>
X
run $c network --platform one.xml --json
status_is 0 "one simulated host, with what SimGrid has inside of one"
ok "nothing is left" nothing_new "$before"
done_testing
