#!/bin/bash
# Where ranks go: on simulated hosts, alternately behind two switches, a declared pattern crosses the wire between these
# as little as can be, as the dry run says, and the run is quicker; without pattern, network or wish the order is plain.
. "$(dirname "$0")/tap.sh"
cd "$tmp" || exit 1
h=$build/bin/hrun
ring=$build/tests/accuracy/ring
if [ ! -x "$build/bin/hrun-smpi" ] || [ ! -x "$ring" ]; then
    skip "placement on simulated hosts" "SimGrid is not installed (libsimgrid-dev)"
    done_testing
fi
json() { python3 -c "import json,sys; d = json.load(open('$tmp/.out')); print($1)"; }

# Eight hosts at 125 MB/s; the wire between the switches has 125 MB/s each way, no less than any host's.
cat >make.py <<'EOF'
def ctn(link, way): return '<link_ctn id="%s" direction="%s"/>' % (link, way)
n = 8
print('<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n<platform version="4.1">'
      '<zone id="all" routing="Full">')
for i in range(n):
    print('<host id="n-%d" speed="1Gf"/><link id="l%d" bandwidth="125MBps" latency="50us" '
          'sharing_policy="SPLITDUPLEX"/>' % (i, i))
print('<link id="self" bandwidth="1GBps" latency="1us"/>'
      '<link id="trunk" bandwidth="125MBps" latency="1us" sharing_policy="SPLITDUPLEX"/>')
for i in range(n):
    for j in range(n):
        trunk = '' if i % 2 == j % 2 else ctn('trunk', 'UP' if i % 2 == 0 else 'DOWN')
        way = '<link_ctn id="self"/>' if i == j else ctn('l%d' % i, 'UP') + trunk + ctn('l%d' % j, 'DOWN')
        print('<route src="n-%d" dst="n-%d" symmetrical="NO">%s</route>' % (i, j, way))
print('</zone></platform>')
EOF
python3 make.py >two.xml
# The network as it is: a file written by hand, without checksum.
cat >network.py <<'EOF'
import sys, zlib
v = lambda x: '{v: %r}' % x
print('version: 1\nengine: smpi %08x\nmpi: %s\nselector: openmpi\ngroups: 2\nhosts:'
      % (zlib.crc32(open('two.xml', 'rb').read()), sys.argv[1]))
for i in range(8): print('- {name: n-%d, class: 0, group: %d}' % (i, i % 2))
print('classes:\n- C_s: %s\n  t_s_per_byte: %s\n  out_bytes_per_s: %s\n  in_bytes_per_s: %s\n  local_bytes_per_s: 0\n'
      '  kinds: 1' % (v(0.0), v(0.0), v(125e6), v(125e6)))
print('pairs:\n- {from: 0, to: 0, L_s: %s, beta_bytes_per_s: %s}' % (v(1e-4), v(125e6)))
print('trunks:')
for g in 0, 1: print('- {from: %d, to: %d, bytes_per_s: %s}' % (g, 1 - g, v(125e6)))
print('segments:\n- {from_bytes: 0, a: 1, b: 1}\nsync_bytes: 65536\nwire_waits: 1\nbias_bytes: 0\nback_share: 0\n'
      'trunks_shared: 0\nreduce_s_per_byte: 0\nthresholds: {scatter_S: 0, gather_M1: 0, gather_M2: 0, '
      'kappa1_s_per_byte: 0, kappa2_s_per_byte: 0, irregular_s: 0, irregular_share: 0}')
EOF
mkdir -p profiles data/networks
app() { printf '%s\n' "name: $1" 'terms: {np: ["N^2/P"], n: ["N^2"]}' "args: ['{N}']" \
    "time: {match: '^time: ([0-9.eE+-]+) s\$'}" ${2:+"pattern: $2"} >"profiles/$1.yaml"; }
app rings ring
app grids grid
app all alltoall
app none
export HRUN_PROFILE_PATH=$tmp/profiles
dry() { run "$h" --dry-run --platform two.xml -app "$1" --config "$2" -N 8000 "${@:3}" "$ring"; }

dry rings '(8,1)'
out_has "  placement    ring, in the plain order: the network was not measured (hrun-calibrate network --platform two.xml)" \
    "a pattern, and no network: what would help is said"
dry rings '(8,1)' --json
ok "to machines, too" test "$(json '[d["placement"][k] for k in ("pattern", "changed")]')" = "['ring', False]"
python3 network.py "$(json 'd["mpi"]')" >data/networks/made.yaml
dry rings '(8,1)'
status_is 0 "with a network"
out_has "  placement    ring over 2 switches: 2 crossings in place of 8; the slowest message takes " \
    "the ring crosses twice in place of eight times"
out_has "n-[0,2,4,6" "as the hosts show"
dry rings '(8,1)' --json
ok "and the ranks" test "$(json '[int(r["host"][2:]) % 2 for r in d["ranks"]]')" = "[0, 0, 0, 0, 1, 1, 1, 1]"
ok "to machines" test "$(json '[d["placement"][k] for k in ("pattern", "changed", "switches", "messages", "crossings",
    "plain_crossings", "exact")]')" = "['ring', True, 2, 8, 2, 8, True]"
ok "every PE once" test "$(json 'sorted(r["pe"] for r in d["ranks"])')" = "[0, 1, 2, 3, 4, 5, 6, 7]"
dry rings '(4,2)'
out_has "ring over 2 switches: 0 crossings in place of 4" "half of the hosts: all behind one switch"
dry grids '(8,1)'
out_has "grid over 2 switches: 4 crossings in place of " "a grid is cut once"
dry all '(8,1)'
out_has "alltoall over 2 switches: 32 crossings; no order is better than the plain one" \
    "from each to each: no order helps"
dry none '(8,1)'
out_lacks "placement" "no pattern: no word of it"
out_has "n-[0-7]" "and the order of the hosts"
dry none '(8,1)' --json
ok "no pattern: null" \
    test "$(json '(d["placement"], [r["pe"] for r in d["ranks"]])')" = "(None, [0, 1, 2, 3, 4, 5, 6, 7])"

run "$h" --platform two.xml -app rings --config '(8,1)' -N 8000 --no-record "$ring"
status_is 0 "a run placed by its pattern"
placed=$(printf '%s\n' "$out" | sed -n 's/^time: \(.*\) s$/\1/p')
run "$h" --platform two.xml -app none --config '(8,1)' -N 8000 --no-record "$ring"
status_is 0 "and one in plain order"
plain=$(printf '%s\n' "$out" | sed -n 's/^time: \(.*\) s$/\1/p')
ok "the first is quicker ($placed s, $plain s)" python3 -c "import sys; sys.exit(not $placed < 0.99 * $plain)"

echo "version: 1" >data/networks/made.yaml
dry rings '(8,1)'
out_has "ring, in the plain order: network not used: $tmp/data/networks/made.yaml:1:1: the file lacks the key " \
    "a damaged network counts as none, which is said"
done_testing
