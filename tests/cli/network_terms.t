#!/bin/bash
# Terms of the network: a transform on simulated hosts behind two switches with a thin link between them. Without their
# network hrun says so; with it the thin link is seen and avoided, in dry runs, predictions, reports and JSON.
. "$(dirname "$0")/tap.sh"
cd "$tmp" || exit 1
app=$build/tests/smpi/fft
h=$build/bin/hrun
c=$build/bin/hrun-calibrate
[ -x "$build/bin/hrun-smpi" ] && [ -x "$app" ] || { skip "terms of the network" "SimGrid is not installed"; done_testing; }
export HRUN_PROFILE_PATH=$PWD/defs
mkdir -p defs data/networks away
# The terms of the worked example of hrun-app(5): nothing stands for what the network takes.
sed 's|^  np: .*|  np: ["N*ln(N)/P", "alltoall(16*N/P^2)", "N/P", "1"]|' "$OLDPWD/tests/apps/fft.yaml" >defs/fft.yaml

# The platform, and its network as it is: two hosts on one switch, four slower ones on the other, 25 MB/s between them.
python3 - >/dev/null <<'END'
import zlib
xml = ["<?xml version='1.0'?>", '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
       '<platform version="4.1"><zone id="all" routing="Full">']
for name, hosts, speed in ("fast", 2, 1.6), ("slow", 4, 1.1):
    xml.append('<cluster id="%s" prefix="%s-" suffix="" radical="0-%d" speed="%gGf" bw="125MBps" lat="20us" '
               'loopback_bw="500MBps" loopback_lat="5us" router_id="%s-router"/>' % (name, name, hosts - 1, speed, name))
xml += ['<link id="trunk" bandwidth="25MBps" latency="20us"/>',
        '<zoneRoute src="fast" dst="slow" gw_src="fast-router" gw_dst="slow-router"><link_ctn id="trunk"/></zoneRoute>',
        '</zone></platform>', '']
xml = "\n".join(xml)
open("p.xml", "w").write(xml)
net = ["version: 1", "engine: smpi %08x smpi/bw-factor:0:1 smpi/lat-factor:0:1" % zlib.crc32(xml.encode()),
       "mpi: MPI", "selector: mpich",
       'date: "2026-01-01T00:00:00Z"', "groups: 2", "hosts:"]
net += ["- {name: %s, class: %d, group: %d}" % (n, g, g)
        for n, g in [("fast-%d" % i, 0) for i in range(2)] + [("slow-%d" % i, 1) for i in range(4)]]
net.append("classes:")
for g in range(2):
    net += ["- C_s: {v: 0}", "  t_s_per_byte: {v: 0}", "  out_bytes_per_s: {v: 125e6}", "  in_bytes_per_s: {v: 125e6}",
            "  local_bytes_per_s: 0", "  kinds: 1", "  local:",
            "  - {from: 0, to: 0, fixed_s: {v: 5e-6}, s_per_byte: {v: 2e-9}}"]
net.append("pairs:")
for a in range(2):
    for b in range(2):
        net.append("- {from: %d, to: %d, L_s: {v: %g}, beta_bytes_per_s: {v: %g}}"
                   % (a, b, 40e-6 if a == b else 60e-6, 125e6 if a == b else 25e6))
net += ["trunks:", "- {from: 0, to: 1, bytes_per_s: {v: 25e6}}", "- {from: 1, to: 0, bytes_per_s: {v: 25e6}}",
        "segments:", "- {from_bytes: 0, a: 1, b: 1}", "sync_bytes: 65536", "wire_waits: 1", "bias_bytes: 8775",
        "back_share: 0.05", "trunks_shared: 1", "reduce_s_per_byte: 0",
        "thresholds: {scatter_S: 0, gather_M1: 0, gather_M2: 0, kappa1_s_per_byte: 0, kappa2_s_per_byte: 0, "
        "irregular_s: 0, irregular_share: 0}", ""]
open("net.yaml", "w").write("\n".join(net))
END
on="--data data --platform p.xml --smpi smpi/coll-selector:mpich --smpi smpi/bw-factor:0:1 --smpi smpi/lat-factor:0:1"
json() { python3 -c "import json,sys; d = json.load(open('$tmp/.out')); print($1)"; }

# shellcheck disable=SC2086
{
run "$c" --full-grid -q $on -app fft --sizes 65536,262144,1048576 "$app"
status_is 0 "a profile without a network"
run "$h" --dry-run $on -app fft -N 524288 "$app"
out_has "network of these hosts was not measured" "a dry run says that the network is not known"
out_has "hrun-calibrate network" "and how to measure it"
run "$h" --dry-run --json $on -app fft -N 524288 "$app"
ok "as JSON does" test "$(json 'd["network"] is None and "hrun-calibrate network" in d["network_note"]')" = True
sed "s/^mpi: MPI/mpi: $(json 'd["mpi"]')/" net.yaml >data/networks/p.yaml

echo 'version: 1' >data/networks/damaged.yaml
run "$h" --dry-run --json $on -app fft -N 524288 "$app"
ok "a network that cannot be read is told once" test "$(json 'd["network_note"].count("network not used: ")')" = 1
mv data/networks/p.yaml away
run "$h" --dry-run --json $on -app fft -N 524288 "$app"
ok "and once where there is no other" test "$(json 'd["network_note"].count("network not used: ")')" = 1
mv away/p.yaml data/networks
rm data/networks/damaged.yaml

run "$h" --dry-run $on -app fft -N 524288 "$app"
status_is 0 "with its network"
out_has "network of 6 hosts, measured" "a dry run tells of it"
out_has "looked at as a whole" "and of the search"
run "$h" --dry-run --json $on -app fft -N 524288 "$app"
ok "JSON has its date, and whether the search was exact" \
    test "$(json '(d["network"]["date"], d["network"]["hosts"], d["exact"], d["gap"], d["looks"] > 0, d["network_note"])')" \
    = "('2026-01-01T00:00:00Z', 6, True, 0.0, True, None)"
# A run over the thin link was never measured, and is predicted within a tenth.
run "$h" --dry-run --json $on -app fft -N 524288 --config 1,1,1,1 "$app"
predicted=$(json 'd["predicted_s"]')
run "$h" -q $on -app fft -N 524288 --config 1,1,1,1 "$app"
took=$(sed -n 's/^time: \([0-9.e+-]*\) s$/\1/p' .out)
out="predicted $predicted, took $took"
ok "a run over the thin link is predicted" python3 -c "import sys; sys.exit(abs($predicted / $took - 1) > 0.1)"
# What if the link were as fast as the hosts are?
cp data/networks/p.yaml as-is.yaml
sed -e '/^pairs:/,/^trunks:/s/beta_bytes_per_s: {v: 2.5e+07}/beta_bytes_per_s: {v: 1.25e+08}/' \
    -e '/^trunks:/,/^segments:/s/25e6/250e6/' as-is.yaml >fast.yaml
what_if() { run "$h" --dry-run --json $on --network "$1" -app fft -N 524288 --config 1,1,1,1 "$app"; }
run "$h" --dry-run --json $on -app fft -N 524288 --config 1,1,1,1 "$app"
predicted=$(json 'd["predicted_s"]')
what_if as-is.yaml
ok "a copy of the network predicts the same, by what was run as well" \
    test "$(json "abs(d['predicted_s'] / $predicted - 1) < 1e-9, d['network']['file']")" = "True as-is.yaml"
what_if fast.yaml
out="$predicted before, now $(json 'd["predicted_s"]')"
ok "a faster link is seen, also where the configuration was run" \
    test "$(json "d['predicted_s'] < 0.8 * $predicted")" = True
run "$h" --dry-run $on --network fast.yaml -app fft -N 524288 "$app"
out_has "network of 6 hosts as fast.yaml has it" "and the plan says of which network it is"
sed '/slow-3/s/slow-3/other/' fast.yaml >lacks.yaml
fails 125 "lacks.yaml: this network has no host slow-3" "a network of other hosts" \
    "$h" --dry-run $on --network lacks.yaml -app fft -N 524288 "$app"
fails 125 "none.yaml" "one that is not there" "$h" --dry-run $on --network none.yaml -app fft -N 524288 "$app"
run "$h" --dry-run $on --network fast.yaml -n 2 "$app"
err_has "--network fast.yaml changes nothing" "where nothing asks it that is said"

mv data/networks/p.yaml away
run "$h" --dry-run --json $on --network fast.yaml -app fft -N 524288 "$app"
ok "without a measured network the given one does" \
    test "$(json 'd["network"]["file"], d["network_note"]')" = "fast.yaml None"
run "$h" --dry-run --json $on -app fft -N 524288 "$app"
ok "models fitted with a network are not needed without it" test "$(json 'd["network"] is None and d["predicted_s"] > 0')" = True
mv away/p.yaml data/networks
run "$c" --full-grid -q $on -app fft --sizes 65536 --redo "$app"
run "$c" show --data data --json fft
out_has alltoall "with a network the term is fitted and kept"
run "$c" show --data data fft
ok "text has its coefficient" grep -Eq '^  npt, 1 process per PE: T = .*[0-9.e+-]+ alltoall\(16\*N/P\^2\)' .out
run "$c" show --data data --plot fft
out_has "fitted without the network" "a plot of text has curves, and says that they know no network"
run "$c" fit --data data fft
status_is 0 "fit where no hosts are named"
err_has "no hosts were named: terms of fft that ask for the network are left out" "says that it knows no network"
err_has "name them as for hrun" "and how it would"
run "$c" show --data data --json fft
ok "its models have no such term" bash -c '! grep -q \"alltoall "$0"' .out
run "$c" fit $on -v fft
err_has "the network of 6 hosts measured 2026-01-01T00:00:00Z is used" "where they are named it is used"
run "$c" show --data data --json fft
out_has '"alltoall' "and the term is fitted"
run "$c" report $on -o with.html fft
status_is 0 "a report of named hosts"
err_lacks "left out" "has their network"
mv data/networks/p.yaml away
run "$h" --dry-run $on -app fft -N 524288 "$app"
status_is 0 "such models without the network are fitted anew"
out_has "terms that ask for it are left out" "and it is said"
run "$c" report --data data -o r.html fft
status_is 0 "a report, which knows no network, is made of them"
err_has "left out of this report" "and says so"
run "$c" fit $on fft
err_has "the network of these hosts was not measured: terms of fft" "fit says that the named hosts have none"
err_has "hrun-calibrate network" "and how to measure it"

# Where runs are chosen the network that terms ask for is measured before the first one.
new="--data first ${on#--data data } --host fast-[0-1] -app fft --sizes 4096,16384 --procs 1"
run "$c" $new --dry-run "$app"
ok "a dry run measures no network" test ! -e first/networks
run "$c" $new --budget 4runs "$app"
status_is 0 "terms of the network and chosen runs"
err_has "fft has terms that ask for the network, which is measured first" "the network is measured"
ok "and kept" test -n "$(ls first/networks/*.yaml)"
run "$c" $new --budget 1runs "$app"
err_lacks "is measured first" "which is known from then on"
run "$c" fit ${new%% -app *} -v fft
err_has "the network of 2 hosts measured" "and used"
}
done_testing
