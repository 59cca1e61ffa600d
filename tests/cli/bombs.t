#!/bin/bash
# bombs.t - short input that stands for much work, and long input where none is honest: each gets one clear error, in
# few seconds of a processor and 300 MB of addresses (a sanitizer takes terabytes of addresses, and longer).
. "$(dirname "$0")/tap.sh"
cd "$tmp" || exit 1

# bounded CMD...: within these bounds. What ends by them has another status, or says that memory ran out.
bounded() (if [ -z "${HRUN_SANITIZE-}" ]; then ulimit -t 5 -v 300000; else ulimit -t 60; fi; exec "$@")
# bomb TEXT WHAT CMD...
bomb() { local text=$1 what=$2; shift 2; fails 125 "$text" "$what" bounded "$@"; }
# repeated TEXT COUNT
repeated() { yes "$1" | head -n "$2" | tr -d '\n'; }

# ---- hosts
many=$(seq -s, -f 'n%g-[0-9999]' 2000)
bomb "more than 16384 hosts" "--host of 20 million names" hrun --host "$many" --show-cluster
tr , '\n' <<<"$many" > hosts
bomb "hosts:2:1: more than 16384 hosts" "a host file of as many" hrun --hostfile hosts --show-cluster
bomb "more than 16384 names" "a node list of Slurm of as many" \
    env SLURM_JOB_ID=1 SLURM_JOB_NODELIST="$many" hrun --show-cluster
seq -f 'n%g' 30000 > nodes
bomb "more than 16384 hosts" "a node file of PBS" env PBS_NODEFILE=nodes hrun --show-cluster
sed 's/.*/  - {hosts: "&", cores: 2, memory: 1GiB}/; 1i subclusters:' hosts > cluster.yaml
bomb "cluster.yaml:3:14: the file has more than 16384 names" "a cluster file of as many, in many sub-clusters" \
    hrun --cluster cluster.yaml --show-cluster
printf 'subclusters:\n  - {hosts: "n[1-9]", exclude: "%s", cores: 2, memory: 1GiB}\n' "$many" > cluster.yaml
bomb "more than 16384 names" "as many that are excluded" hrun --cluster cluster.yaml --show-cluster

# ---- topologies
# topologies COUNT STEP: a cluster file of so many, each with STEP more cores than the one before
topologies() {
    echo subclusters:
    for ((i = 0; i < $1; i++)); do
        echo "  - {hosts: '127.0.1.$((i + 1))', topology: 'package:32 numa:4 core:$((20 + i * $2)) pu:4'}"
    done
}
topologies 20 1 > cluster.yaml
bomb "cluster.yaml:3:37: the topologies of the file have more than 16384 PUs together" "20 large topologies" \
    hrun --cluster cluster.yaml --show-cluster
topologies 20 0 > cluster.yaml
run bounded hrun --cluster cluster.yaml --show-cluster
status_is 0 "equal topologies count once"
{ echo '<a>'; repeated '<a/>' 1200000; echo '</a>'; } > large.xml
echo 'subclusters: [{hosts: 127.0.1.1, topology: large.xml}]' > cluster.yaml
bomb "4194304" "a large XML file" hrun --cluster cluster.yaml --show-cluster

# ---- pipes to which nobody writes
mkfifo -m 755 pipe
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
chmod +x socket
for kind in ./pipe ./socket /dev/null; do
    fails 126 "not a regular file" "$kind as a program" timeout -s KILL 60 hrun -n 1 $kind
done
for option in --hostfile --machinefile --cluster --rankfile; do
    fails 125 "is a pipe to which nothing is written" "$option of a pipe" \
        timeout -s KILL 60 hrun $option pipe -n 1 --dry-run true
done
cp -R pipe pipe.yaml
fails 125 "is a pipe to which nothing is written" "a definition that is a pipe" \
    timeout -s KILL 60 hrun --profile-path . -app pipe -n 1 --dry-run true
fails 125 "'socket' is a socket" "a socket as a host file" hrun --hostfile socket -n 1 true
run hrun --hostfile <(sleep 0.1; echo localhost) -n 1 echo ran
out_has ran "a pipe to which a process writes is a file"
if [ -x "$build/bin/hrun-smpi" ]; then
    fails 125 "pipe is not a regular file" "a pipe as a platform" timeout -s KILL 60 hrun --platform pipe --show-cluster
else
    skip "a pipe as a platform" "hrun-smpi is not built"
fi
rm pipe pipe.yaml socket

# ---- YAML
define() { # LINE...: a definition with these lines
    printf '%s\n' 'name: bomb' 'rule: "P >= 1"' 'terms: {np: ["N/P"], n: ["N"]}' 'args: ["{N}"]' "$@" > bomb.yaml
}
use="hrun --dry-run --profile-path $tmp -app bomb -N 100 /bin/true"
define
run $use
status_is 0 "a definition that is none"
for nest in '[' '{a: '; do
    define "title: $(repeated "$nest" 100000)"
    bomb "nested more than 32 deep" "$nest 100000 times in a definition" $use
    bomb "nested more than 32 deep" "in a cluster file" hrun --cluster bomb.yaml --show-cluster
    bomb "nested more than 32 deep" "in a file of jobs" hrun plan bomb.yaml
done

define "sizes: [$(seq -s, 100000)]"
bomb "'sizes' must have at most 1000 entries" "100000 sizes" $use
define "variants: [$(seq -s, -f '{name: v%g}' 33)]"
bomb "'variants' must have at most 32 entries" "33 variants, each of which is searched" $use

# ---- the expression that finds the time
for e in '((a{1,255}){1,255}){1,255}([0-9]+)' "$(repeated 'a{255}' 100)([0-9]+)" \
    "a$(repeated + 20)([0-9]+)" "$(repeated a 3000)([0-9]+)"; do
    define "time: {match: '$e'}"
    bomb "more than 250 characters when its repetitions are written out" "time.match: ${e::40}" $use
done
define "time: {match: '$(repeated '(' 30000)a$(repeated ')' 30000)'}"
bomb "more than 32 groups within each other" "groups within each other" $use
define "time: {match: '(a*)(b*)\\1'}"
bomb "refers back to a group" "a reference back" $use
bomb "--time: the regular expression" "the same for a new application" \
    hrun-calibrate --new -app other --sizes 1 --time '((a{255}){255}){255}' /bin/true {N}

# ---- measurements
import="hrun-calibrate import -app lu --signature sig"
printf 'N,P,time_s\n100,1,1.5\n' > good.csv
printf 'N,P,time_s\n200,1,2.5\n' > more.csv
run $import good.csv
status_is 0 "measurements from a file"
printf 'N,P,time_s\n100,1,"%s"\n' "$(repeated a 300000)" > bomb.csv
bomb "bomb.csv:2: the line is longer than 256 KiB" "a long cell" $import bomb.csv
python3 - "$HRUN_DATA/profiles/lu/sig.log" <<'P'
import sys, zlib
text = b'{"M":[' + b'1,' * 10000000 + b'1]}'
open(sys.argv[1], "ab").write(text + b"\t%08x\n" % zlib.crc32(text))
P
run bounded $import good.csv
status_is 0 "a log with a record of 20 MB is read"
out_has "1 known already" "without that record"
run $import more.csv
run bounded hrun-calibrate show lu
out_has "2 measurements, 0 failed, 0 mixed, 1 bad record skipped" "as are those behind it"
out_has "sig.log:2: a line longer than 256 KiB" "which is reported"

# ---- networks
{
    printf 'network 1 2\nhost 0 a 0 1 0\nhost 1 b 0 1 0\n'
    seq -f 'trip 0 1 -1 0 %g 0 1 .1 0 .1' 5000
    echo end
} > records
bomb "at most 4096 are possible" "a sweep of 5000 sizes" hrun-calibrate network --from records
printf '<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="w" routing="Full">
<cluster id="c" prefix="n" suffix="" radical="0-100000000" speed="1Gf" bw="1Gbps" lat="1us"/>
</zone></platform>' > platform.xml
if [ -x "$build/bin/hrun-smpi" ]; then
    # hrun-smpi has bounds of its own.
    fails 125 "SimGrid cannot read this platform file" "a platform of 100 million hosts" \
        hrun --platform platform.xml --show-cluster
    sed -i 's/100000000/16383/' platform.xml
    run hrun --platform platform.xml --show-cluster
    out_has "16384 PEs in 1 sub-cluster" "one of 16384"
else
    skip "one of 16384" "hrun-smpi is not built"
    skip "a platform of 100 million hosts" "hrun-smpi is not built"
fi

done_testing
