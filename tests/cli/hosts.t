#!/bin/bash
# Other hosts: asked for their topology through the remote shell agent. The agent is a script that runs the command
# here, with the topology of the host that it is given.
. "$(dirname "$0")/tap.sh"
cd "$tmp" || exit 1
cp "$(command -v sleep)" sleeper
cat > agent <<A
#!/bin/sh
echo "\$@" >> "$tmp/calls"
host=\$1
shift
case \$host in
127.0.0.2|127.0.0.3) export HWLOC_SYNTHETIC="package:1 [numa(memory=8GB)] core:4 pu:2" ;;
127.0.0.4|127.0.0.5) export HWLOC_SYNTHETIC="package:2 [numa(memory=32GB)] core:4 pu:1" ;;
127.0.0.6) echo "Welcome, this shell is chatty"; export HWLOC_SYNTHETIC="package:2 [numa(memory=32GB)] core:4 pu:1" ;;
127.0.0.7) exec taskset -c 0 sh -c "\$*" ;;
127.0.0.20) echo "first line" >&2; echo "ssh: connect to host: Connection refused" >&2; exit 255 ;;
127.0.0.21) "$tmp/sleeper" 1000 & "$tmp/sleeper" 1000 ;;
127.0.0.22) echo "hello there"; exit 0 ;;
127.0.0.23) exec sh -c "$tmp/nosuch/hrun --show-cluster=xml" ;;
127.0.0.24) exec yes ;;
127.0.0.25) exit 0 ;;
127.0.0.26) printf '<?xml version="1.0"?>\n<topology version="2.0">\n'; exit 0 ;;
127.0.0.27) echo "<?xml <topology/> </topology>"; exit 0 ;;
127.0.0.33) cat broken.xml; exit 0 ;;
127.0.0.28) "$tmp/sleeper" 1000 >/dev/null 2>&1 & export HWLOC_SYNTHETIC="[numa(memory=8GB)] core:1 pu:1" ;;
127.0.0.29) kill -9 \$\$ ;;
127.0.0.30) exec sh -c "\$1 --no-such-option" ;;
127.0.0.31) [ ! -e "$tmp/down" ] || { echo "ssh: connect to host: No route to host" >&2; exit 255; } ;;
esac
exec sh -c "\$*"
A
chmod +x agent
h="hrun --refresh --mca plm_rsh_agent $tmp/agent"   # what they said before is looked at further down
leftover() { pgrep -f "$tmp/(agent|sleeper)" | tr '\n' ' '; }
nothing_left() {
    for _ in $(seq 2000); do [ -z "$(leftover)" ] && break; sleep 0.1; done
    out=$(leftover)
    ok "$1: no process is left" test -z "$out"
}
json() { python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$tmp/.out" "$1"; }

# ---- what a host tells
run env HWLOC_SYNTHETIC="package:1 [numa(memory=8GB)] core:4 pu:2" hrun --show-cluster=xml
status_is 0 "--show-cluster=xml"
out_has '<topology version=' "prints hwloc XML"
out_has "usable 0-7" "and what may be used"
out_has "memory 8000000000" "and the memory"
cp "$tmp/.out" told.xml
ok "the whole is well-formed" python3 -c 'import sys, xml.etree.ElementTree as t; t.parse(sys.argv[1])' told.xml
run env HWLOC_XMLFILE=told.xml hrun --show-cluster
out_has "   4         1  " "hwloc reads it"
run env HWLOC_SYNTHETIC=nonsense hrun --show-cluster=xml
status_is 125 "a topology that cannot be loaded"
one_error "is one error"

# ---- two kinds of hosts
printf '127.0.0.2\n127.0.0.[3-4]\n127.0.0.5\n' > hosts
: > calls
run $h --hostfile hosts --show-cluster --json
status_is 0 "a host file with other hosts"
ok "each host is asked once" test "$(sort calls | uniq | wc -l)" = 4 -a "$(wc -l < calls)" = 4
ok "by the path of this hrun" grep -qx "127.0.0.3 $(realpath "$build/bin/hrun") --show-cluster=xml" calls
got=$(json '[(s["name"], s["level"], s["cores_per_pe"], [p["host"] for p in s["pes"]]) for s in d["subclusters"]]')
want="[('node-8c', 'node', 8, ['127.0.0.4', '127.0.0.5']), ('node-4c', 'node', 4, ['127.0.0.2', '127.0.0.3'])]"
out=$got ok "two sub-clusters of nodes" test "$got" = "$want"
got=$(json '[h["local"] for h in d["hosts"]]')
out=$got ok "none of them local" test "$got" = "[False, False, False, False]"
run $h --hostfile hosts --level core --show-cluster --json
got=$(json '[(s["level"], s["cores_per_pe"], len(s["pes"])) for s in d["subclusters"]]')
out=$got ok "two sub-clusters of cores" test "$got" = "[('core', 1, 8), ('core', 1, 16)]"
run $h --host 127.0.0.2:3,127.0.0.4:5 --show-cluster -v
out_has "host 127.0.0.2, cores 0-2, PUs 0-5" "slots limit the cores"
out_has "host 127.0.0.4, cores 0-4, PUs 0-4" "of each host"
# Each of these means two cores of 127.0.0.2 and three of 127.0.0.4, as with mpirun and mpiexec.
printf '127.0.0.4\n127.0.0.2\n127.0.0.4\n127.0.0.2\n127.0.0.4\n' > repeated
printf '127.0.0.2 slots=2\n127.0.0.3 slots=0\n127.0.0.4 slots=8\n127.0.0.5:8\n' > slots
while read -r words; do
    # shellcheck disable=SC2086
    run $h $words --level core --show-cluster --json
    got=$(json 'sorted((p["host"], p["cores"]) for s in d["subclusters"] for p in s["pes"])')
    out="$got $err" ok "$words" test "$got" = "[('127.0.0.2', '0'), ('127.0.0.2', '1'), ('127.0.0.4', '0'), ('127.0.0.4', '1'), ('127.0.0.4', '2')]"
done <<'END'
--host 127.0.0.2:2,127.0.0.4:3
--host 127.0.0.2:2 --host 127.0.0.4:3
--hosts 127.0.0.2,127.0.0.2 -H 127.0.0.4:2,127.0.0.4,127.0.0.5:0
-machinefile repeated
-f repeated
--hostfile slots --host 127.0.0.2,127.0.0.4:3
--host 127.0.0.4:3,127.0.0.2:* --hostfile slots
END
fails 125 "--host:1:1: host '127.0.0.3' is not in slots; with a host file --host chooses among its hosts" \
    "a host with no slots is none to choose" $h --hostfile slots --host 127.0.0.3 --show-cluster
run $h --host "127.0.0.2:*,127.0.0.4:auto" --level core --show-cluster --json
got=$(json 'sum(len(s["pes"]) for s in d["subclusters"])')
ok "HOST:* and HOST:auto: all its cores" test "$got" = 12
run $h --host 127.0.0.4:5 --level package --show-cluster -v
out_has "host 127.0.0.4, cores 4, PUs 4" "slots limit the last package"
run $h --host 127.0.0.4 --show-cluster
out_has "core     8         1" "one other host alone: level core"
run $h --host localhost,127.0.0.6 --show-cluster -v
status_is 0 "this host and another, whose shell prints a greeting"
out_has "host 127.0.0.6, cores 0-7" "which does no harm"
run env HWLOC_SYNTHETIC="[numa(memory=1GB)] core:2 pu:1" $h --host localhost,127.0.0.4 --show-cluster -v
out_has "host localhost, cores 0-1," "a topology of this host's environment"
out_has "host 127.0.0.4, cores 0-7," "is not that of others"
cores=$(nproc)
# A mask that leaves out a processor needs two.
if [ "$cores" -gt 1 ]; then
    run $h --host 127.0.0.7 --show-cluster -v
    out_has "core     1         1" "what the affinity mask forbids there is not used"
else
    skip "affinity" "one processor only"
fi

# ---- the same kind of PE has one signature, asked or local
run hrun --engine mpirun --show-cluster --json
mine=$(json 'd["subclusters"][0]["signature"]')
run $h --host 127.0.0.99 --show-cluster --json
told=$(json 'd["subclusters"][0]["signature"]')
out="$mine $told" ok "a host like this one has its signature" test "$mine" = "$told"

# ---- cluster files
cat > cluster.yaml <<'Y'
subclusters:
  - {name: big, hosts: "127.0.0.[4-5]", power_w: 200}
  - {name: small, hosts: 127.0.0.2, memory: 4GiB}
  - {name: old, hosts: 127.0.0.20, cores: 2, memory: 1GiB, cpu: Old}
Y
: > calls
run $h --cluster cluster.yaml --show-cluster -v
status_is 0 "a cluster file with hosts that it does not describe"
out_has "big PE 1: host 127.0.0.5, cores 0-7" "they are asked"
out_has "small PE 0: host 127.0.0.2, cores 0-3" "all of them"
out_has "4.00 GiB" "what the file says of them counts"
ok "those that it describes are not" test "$(wc -l < calls)" = 3
printf 'subclusters:\n  - hosts: 127.0.0.2\n  - hosts: 127.0.0.20\n' > cluster.yaml
fails 125 "cluster.yaml:3:12: host '127.0.0.20' cannot be reached" "the place of a host that fails" \
    $h --cluster cluster.yaml --show-cluster

# ---- layouts
run $h --host 127.0.0.2,127.0.0.4:6 --engine mpirun --dry-run -v -n 2 /bin/true
status_is 0 "a dry run"
out_has "rank 0=127.0.0.4 slot=0-5" "the rankfile has the cores of the larger host"
out_has "rank 1=127.0.0.2 slot=0-3" "and of the smaller"
run $h --host 127.0.0.2,127.0.0.4:6 --level core --engine mpirun --dry-run -v -n 10 /bin/true
out_has "rank 9=127.0.0.4 slot=5" "and so at level core"
run $h --host 127.0.0.2 --dry-run -n 2 /bin/true
out_has "mpirun --rankfile" "one other host alone is mpirun's"

# ---- hosts that do not answer
for bad in "20 cannot be reached through $tmp/agent: ssh: connect to host: Connection refused; see that" \
    "22 answers 'hello there' in place of its topology; install" "23 cannot run $(realpath "$build/bin/hrun") (" \
    "24 prints more than" "25 answers nothing in place" "26 answers '<?xml" "27 : the XML text is no hwloc XML" \
    "29 did not answer: $tmp/agent was killed by signal 9" "30 did not answer: status 125 of $tmp/agent: hrun: unknown"; do
    n=${bad%% *} text=${bad#* }
    case $text in :*) text="127.0.0.$n'$text" ;; *) text="127.0.0.$n' $text" ;; esac
    fails 125 "--host:1:11: host '$text" "host $n: ${bad#* }" $h --host "127.0.0.2,127.0.0.$n" --show-cluster
done
err_has "cluster file (see hrun-cluster(5))" "what else to do"
fails 125 "install hrun there at the same path" "a host without hrun" $h --host 127.0.0.23 -n 1 /bin/true
fails 125 "(also failed: 127.0.0." "several that fail are named at once" $h --host 127.0.0.20,127.0.0.29,127.0.0.2 --show-cluster
nothing_left "after failures"
run $h --host 127.0.0.28 --show-cluster
status_is 0 "an agent that leaves a process behind"
nothing_left "after it"
fails 125 "did not answer within 10 s" "a host that hangs" $h --host 127.0.0.2,127.0.0.21 --show-cluster
nothing_left "after the time limit"

for sig in INT TERM HUP KILL; do
    env --default-signal=INT "$build/bin/hrun" --mca plm_rsh_agent "$tmp/agent" --host 127.0.0.21 --show-cluster \
        </dev/null >"$tmp/.out" 2>"$tmp/.err" &
    pid=$!
    for _ in $(seq 2000); do [ "$(pgrep -f "$tmp/sleeper" | wc -l)" = 2 ] && break; sleep 0.1; done
    kill -$sig $pid
    wait $pid 2>/dev/null
    status=$? err=$(cat "$tmp/.err")
    status_is $((128 + $(kill -l $sig))) "SIG$sig while a host is asked"
    nothing_left "after SIG$sig"
done

# ---- which agent
run env OMPI_MCA_plm_rsh_agent="$tmp/nosuch:$tmp/agent" hrun --host 127.0.0.2 --show-cluster
status_is 0 "the agent of the environment, the first that exists"
fails 125 "the agent '$tmp/nosuch' that reaches other hosts is not found" "an agent that does not exist" \
    env OMPI_MCA_plm_rsh_agent="$tmp/agent" hrun --mca plm_rsh_agent "$tmp/nosuch" --host 127.0.0.2 --show-cluster
echo garbage > noexec
fails 125 "plm_rsh_agent" "an agent that cannot be executed" hrun --mca plm_rsh_agent "$tmp/noexec" --host 127.0.0.2 --show-cluster
mkdir -p onlyhrun fake
fails 125 "install openssh-client" "no ssh" env PATH=onlyhrun "$build/bin/hrun" --host 127.0.0.2 --show-cluster
printf '#!/bin/sh\necho "$@" > %s/options\nwhile [ "$1" != "127.0.0.2" ]; do shift; done\nexec %s/agent "$@"\n' "$tmp" "$tmp" > fake/ssh
chmod +x fake/ssh
PATH=$tmp/fake:$PATH run hrun --host 127.0.0.2 --show-cluster
status_is 0 "ssh by default"
ok "which may not ask for passwords" grep -q "^-x -o BatchMode=yes 127.0.0.2 /" options
PATH=$tmp/fake:$PATH run hrun --mca plm_rsh_agent "ssh -p 2222" --host 127.0.0.2 --show-cluster
ok "and has the user's options first" grep -q "^-p 2222 -x -o BatchMode=yes 127.0.0.2 /" options
nothing_left "at the end"

# ---- what they said before
h="hrun --mca plm_rsh_agent $tmp/agent"
rm -rf "$HOME/.cache"
: > calls
run $h --host 127.0.0.2,127.0.0.4 --show-cluster
out_lacks "as remembered" "hosts that are asked"
run $h --host 127.0.0.2,127.0.0.4 --show-cluster
status_is 0 "and remembered"
out_has "2 hosts as remembered, the oldest answer is " "which is told"
ok "they are asked once" test "$(wc -l < calls)" = 2
ok "the answers are in the home folder" test -n "$(ls "$HOME"/.cache/hrun/topologies/hosts-* 2>/dev/null)"
run $h --host 127.0.0.2,127.0.0.4 --show-cluster --json
got=$(json '[(h["remembered"], len(h["fingerprint"]), h["openmpi"] != None, h["asked"] > 1e9) for h in d["hosts"]]')
out=$got ok "for machines too" test "$got" = "[(True, 8, True, True), (True, 8, True, True)]"
run $h --refresh --host 127.0.0.2,127.0.0.4 --show-cluster
ok "--refresh asks anew" test "$(wc -l < calls)" = 4
out_lacks "as remembered" "so nothing is remembered"
run env HRUN_CACHE="$tmp/other" $h --host 127.0.0.2 --show-cluster
ok "HRUN_CACHE is another folder" test -n "$(ls "$tmp"/other/hosts-* 2>/dev/null)"
ok "in which nothing was" test "$(wc -l < calls)" = 5
cp agent agent2
run hrun --mca plm_rsh_agent "$tmp/agent2" --host 127.0.0.2 --show-cluster
ok "another remote shell may reach another host" test "$(wc -l < calls)" = 6
echo > notafolder
run env HRUN_CACHE="$tmp/notafolder/x" $h --host 127.0.0.2 --show-cluster
ok "a cache that cannot be written is silent" test -z "$err" -a "$status" = 0
run env HRUN_CACHE="$tmp/notafolder/x" $h --host 127.0.0.2 --show-cluster -v
err_has "hrun: cannot cache the hosts' topologies in $tmp/notafolder/x: " "but for -v"

# ---- hosts left out
two="hrun --mca plm_rsh_agent $tmp/agent --host 127.0.0.31,127.0.0.32 --show-cluster"
run $two
status_is 0 "two hosts answer, and are remembered"
touch down
run $two --skip-unreachable
status_is 0 "--skip-unreachable does not trust what is remembered"
err_has "hrun: host '127.0.0.31' cannot be reached through" "of a host that is down by now"
out_has "on 1 host" "and uses the other"
run $h --skip-unreachable --host 127.0.0.2,127.0.0.20,127.0.0.4,127.0.0.22 --show-cluster
status_is 0 "--skip-unreachable"
err_has "hrun: host '127.0.0.20' cannot be reached through" "names what is left out"
err_has "; left out" "as left out"
err_has "hrun: host '127.0.0.22' answers 'hello there'" "each"
out_has "on 2 hosts" "the others are used"
out_has "left out: host '127.0.0.20' cannot be reached" "the table tells it too"
run $h --skip-unreachable -q --host 127.0.0.2,127.0.0.20 --show-cluster --json
ok "-q is quiet" test -z "$err"
got=$(json '[(h["name"], "cannot be reached" in h["why"]) for h in d["left_out"]]')
out=$got ok "for machines" test "$got" = "[('127.0.0.20', True)]"
run $h --skip-unreachable --host 127.0.0.2,127.0.0.20 --engine mpirun --dry-run -n 1 /bin/true
status_is 0 "a dry run without the host"
sed 's/ complete_cpuset=/ compleet_cpuset=/; /^topology /d' told.xml > broken.xml
run $h --skip-unreachable --host 127.0.0.2,127.0.0.33 --show-cluster
status_is 0 "a topology that crashes hwloc is that host's alone"
err_has "hrun: host '127.0.0.33': the XML text is broken: it crashes hwloc" "which is named"
fails 125 "host '127.0.0.33': the XML text is broken" "without the option it is an error" \
    $h --host 127.0.0.2,127.0.0.33 --show-cluster
fails 125 "HWLOC_XMLFILE='broken.xml' is broken" "such a file of the user" \
    env HWLOC_XMLFILE=broken.xml hrun --dry-run -n 1 /bin/true
printf 'subclusters:\n  - {hosts: "n[1-2]", topology: broken.xml}\n' > broken.yaml
fails 125 "broken.xml' is broken" "such a file of a cluster file" hrun --cluster broken.yaml --show-cluster
fails 125 "hwloc longer than" "a topology of a billion PUs" env HWLOC_SYNTHETIC="pu:1000000000" hrun --show-cluster
fails 125 "no host is left: none of 2 answers; host '127.0.0.20'" "nobody answers" \
    $h --skip-unreachable --host 127.0.0.20,127.0.0.29 --show-cluster
fails 125 "host '127.0.0.20' cannot be reached" "without the option it is an error" \
    $h --host 127.0.0.2,127.0.0.20 --show-cluster

# ---- allocations
printf 'subclusters:\n  - {name: mine, hosts: "127.0.0.[2-5]", cores: 8, memory: 1GiB}\n' > cluster.yaml
run env SLURM_JOB_ID=77 "SLURM_JOB_NODELIST=127.0.0.[2-4]" "SLURM_JOB_CPUS_PER_NODE=8(x2),3" \
    $h --cluster cluster.yaml --engine mpirun --show-cluster --json
got=$(json '(d["allocation"], [(h["name"], h["slots"]) for h in d["hosts"]], [h["name"] for h in d["left_out"]])')
want="('Slurm job 77', [('127.0.0.2', 8), ('127.0.0.3', 8), ('127.0.0.4', 3)], ['127.0.0.5'])"
out=$got ok "of a cluster file what a Slurm job has, as far as granted" test "$got" = "$want"
fails 125 "SLURM_JOB_CPUS_PER_NODE: '8' counts fewer than the 3 hosts of the allocation" "variables that disagree" \
    env SLURM_JOB_ID=77 "SLURM_JOB_NODELIST=127.0.0.[2-4]" SLURM_JOB_CPUS_PER_NODE=8 $h --show-cluster
printf '127.0.0.2\n127.0.0.2\n127.0.0.4\n' > nodes
run env PBS_JOBID=5.s PBS_NODEFILE="$tmp/nodes" $h --show-cluster -v
out_has "(PBS job 5.s)" "the hosts of a PBS job"
out_has "host 127.0.0.2, cores 0-1, PUs 0-3" "two cores of one"
out_has "host 127.0.0.4, cores 0, PUs 0" "one of the other"
# What other managers grant: two processes on one host, one on the other; NCPUS: with four cores on each.
printf '127.0.0.2 2 all.q UNDEFINED\n127.0.0.4 1 all.q UNDEFINED\n' > pe
while IFS='|' read -r words source cores; do
    # shellcheck disable=SC2086
    run env $words $h --level core --show-cluster --json
    got=$(json '(d["allocation"], [h["slots"] for h in d["hosts"]], sum(len(s["pes"]) for s in d["subclusters"]))')
    out="$got $err" ok "$words" test "$got" = "('$source', [2, 1], $cores)"
done <<END
PE_HOSTFILE=$tmp/pe JOB_ID=7 NSLOTS=3|SGE job 7|3
LSB_DJOB_HOSTFILE=$tmp/nodes LSB_JOBID=8|LSF job 8|3
PBS_NODEFILE=$tmp/nodes PBS_JOBID=9 NCPUS=4 OMP_NUM_THREADS=4|PBS job 9|8
OAR_NODEFILE=$tmp/nodes OAR_JOB_ID=10|OAR job 10|3
END
# Slots of a host file bound the cores of its ranks, and threads are as many in all of them.
printf '127.0.0.2\n127.0.0.2\n127.0.0.4\n' > slots
while IFS='|' read -r words cores; do
    # shellcheck disable=SC2086
    run $h --hostfile slots --dry-run --json $words true
    got=$(json '[(r["host"][-1], r["cores"], r["threads"]) for r in d["ranks"]]')
    out="$got $err" ok "slots and '$words'" test "$got" = "$cores"
done <<END
-n 3|[('2', '0', 1), ('2', '1', 1), ('4', '0', 1)]
-n 3 --bind-to none|[('2', '0-3', 2), ('2', '0-3', 2), ('4', '0-7', 2)]
END
many=$(($(nproc) + 2))
run hrun --host "localhost:$many" -n $many "$bin/probe" info
out_has "rank $((many - 1)) of $many" "slots that the user gives allow as many processes"
err_has "hrun: $many processes share cores" "which one line says"
fails 125 "-n $((many + 1)): " "and no more" hrun --host "localhost:$many" -n $((many + 1)) true
# A job that lists no hosts has slots of this one.
run env JOB_ID=5 NSLOTS=1 hrun --dry-run true
out_has "SGE job 5 grants 1 process: " "a job without a list of hosts"
run env PBS_JOBID=6 hrun --dry-run true
out_has "PBS job 6 grants 1 process: " "and without a number of slots"
fails 125 "SGE job 5 holds at most 1 process (one per core)" "it is named where it has too few" \
    env JOB_ID=5 NSLOTS=1 hrun -n 2 true
fails 125 "hrun: LSB_DJOB_HOSTFILE: cannot read '/no/such'" "an allocation that cannot be read is never this host alone" \
    env LSB_DJOB_HOSTFILE=/no/such LSB_JOBID=8 hrun true
run env PBS_NODEFILE="$tmp/nodes" NCPUS=4 $h --level core --dry-run --json --map-by ppr:1:node:pe=4 true
got=$(json '[(r["host"], r["cores"]) for r in d["ranks"]]')
out="$got $err" ok "cores of a host beyond its processes" test "$got" = "[('127.0.0.2', '0-3'), ('127.0.0.4', '0-3')]"
fails 125 "--host:1:1: host '127.0.0.5' is not in PBS job 5.s, which grants 127.0.0.[2,4]" "a host of others" \
    env PBS_JOBID=5.s PBS_NODEFILE="$tmp/nodes" $h --host 127.0.0.5 --show-cluster
printf 'subclusters:\n  - {name: mine, hosts: "127.0.0.[2-5]"}\n' > cluster.yaml
run env PBS_JOBID=5.s PBS_NODEFILE="$tmp/nodes" $h --cluster cluster.yaml --show-cluster
out_has "left out, not in PBS job 5.s: 127.0.0.[3,5]" "of a cluster file what is granted"
out_has "(cluster file cluster.yaml, in PBS job 5.s)" "and whose job it is"
printf 'subclusters:\n  - {hosts: "127.0.1.[10-12,%s99]", cores: 1, memory: 1GiB}\n' "$(seq -s, 20 2 80)," > cluster.yaml
run hrun --cluster cluster.yaml --show-cluster
out_has "127.0.1.[10-12,20,22,24,26,28,30,32,34,36,38,40,42,44,46,48,... (35 hosts)" "of a long list of hosts the beginning"
printf '127.0.0.4 slots=2\n' > default
run env OMPI_MCA_orte_default_hostfile="$tmp/default" $h --show-cluster -v
out_has "host 127.0.0.4, cores 1, PUs 1" "Open MPI's default host file"
run env OMPI_MCA_orte_default_hostfile="$tmp/default" $h --host 127.0.0.2 --show-cluster
out_has "(--host)" "which others replace"
run env OMPI_MCA_orte_default_hostfile=/no/such $h --mca orte_default_hostfile "$tmp/default" --show-cluster
out_has "(Open MPI's host file $tmp/default)" "--mca names it, before the environment"
mkdir -p "$HOME/.openmpi"
echo "orte_default_hostfile = $tmp/default" > "$HOME/.openmpi/mca-params.conf"
run $h --show-cluster
out_has "(Open MPI's host file $tmp/default)" "or the user's file of parameters"
run $h --mca orte_default_hostfile none --show-cluster
out_has "(this host)" "none is none"
rm "$HOME/.openmpi/mca-params.conf"
# ---- nothing that is handed to the shell of a host is run by it
mkdir 'tmp$(touch touched)' 'bin$(touch touched)'
ln -s "$(command -v mpirun)" 'bin$(touch touched)/mpirun'
start="$h --host 127.0.0.98,127.0.0.99 -n 2 -q"
run env TMPDIR="$tmp/tmp\$(touch touched)" $start true
status_is 125 "a folder for temporary files with a \$ in its name"
err_has "set TMPDIR to another folder" "is refused"
fails 125 "leave it out" "--mca with a \$ in its value" $start --mca nosuch '$(touch touched)' true
fails 125 "leave it out" "--mca with a \" in its value" $start --mca nosuch '"; touch touched; "' true
fails 125 "leave it out" "--mca with a ; in its name" $start --mca 'nosuch;touch touched;' 1 true
fails 125 "leave it out" "a \` in a variable of Open MPI" env OMPI_MCA_nosuch='`touch touched`' $start true
fails 125 "leave it out" "a ; in the name of one" env 'OMPI_MCA_nosuch;touch touched;=1' $start true
cat > novalue.py <<'P'
import ctypes, os, sys
argv = (ctypes.c_char_p * len(sys.argv))(*[word.encode() for word in sys.argv[1:]], None)
words = [b"OMPI_MCA_novalue"] + [name + b"=" + value for name, value in os.environb.items()]
ctypes.CDLL(None).execve(argv[0], argv, (ctypes.c_char_p * (len(words) + 1))(*words, None))
P
fails 125 "the parameter novalue in the environment has no value: unset it" "a variable of Open MPI without a =" \
    python3 novalue.py "$build/bin/hrun" ${start#hrun} true
fails 125 "another mpirun first in PATH" "a \$ in mpirun's path" env PATH="$tmp/bin\$(touch touched):$PATH" $start true
ln -s /usr 'prefix$(touch touched)'
for word in OPAL_PREFIX="$tmp/prefix\$(touch touched)" OPAL_BINDIR='/usr/bin;touch touched' \
    OMPI_MCA_plm_rsh_pass_libpath='/x;touch touched;' OMPI_MCA_plm_rsh_chdir='/;touch touched' \
    OMPI_MCA_plm_rsh_args='; touch touched;' OMPI_MCA_orte_launch_agent='touch touched; orted'; do
    fails 125 "without quotes into the commands" "${word%%=*} that is more than a plain value" env "$word" $start true
done
fails 125 "only letters, digits and :_./+,@%=- can stand in it" "the first of two --mca for one parameter" \
    $start --mca plm_rsh_pass_libpath '/x;touch touched;' --mca plm_rsh_pass_libpath /y true
echo "plm_rsh_chdir = /;touch touched" > "$HOME/.openmpi/mca-params.conf"
fails 125 "mpirun writes plm_rsh_chdir=/;touch touched without" "one in the user's file of parameters" $start true
rm "$HOME/.openmpi/mca-params.conf"
run env OPAL_PREFIX=/usr OMPI_MCA_plm_rsh_pass_libpath=/x:/y OMPI_MCA_plm_rsh_chdir=/ \
    OMPI_MCA_orte_launch_agent='/usr/bin/env orted' $h --host 127.0.0.98 -n 1 -q true
status_is 0 "plain ones"
fails 125 "a name does not begin with '-'" "a host that is an option" $h --host=-oProxyCommand -n 1 true
run $start --mca nosuch 'a b;c' -x 'A=$(touch touched)' -x 'OMPI_MCA_other=$(touch touched)' \
    --wdir 'tmp$(touch touched)' sh -c 'echo "$A $1 $PWD"' sh '`touch touched`'
out_has "\$(touch touched) \`touch touched\` $tmp/tmp\$(touch touched)" "all else arrives as it is"
ok "and nothing was run" test ! -e touched -a ! -e "$HOME/touched" -a ! -e 'tmp$(touch touched)/touched'
nothing_left "at the end"
done_testing
