#!/bin/bash
# Discovery over real hosts: asked through ssh, grouped by what they are, remembered, changed, silent, dead.
. "$(dirname "$0")/lib.sh"
lab_up 'fast1 40 0 fast' 'fast2 40 1 fast' 'slow1 20 0-1 slow' 'slow2 20 0-1 slow'
cd "$tmp" || exit 1
export HRUN_CACHE=$tmp/cache

# The lab's own way to its hosts, written down.
cat > agent <<A
#!/bin/sh
echo "\$1" >> "$tmp/calls"
exec "$HRUN_LAB/ssh" "\$@"
A
chmod +x agent
hrun_head() { on_head env HRUN_CACHE="$HRUN_CACHE" hrun --mca plm_rsh_agent "$tmp/agent" "$@"; }
hosts=slow1,fast1,slow2,fast2
calls() { wc -l < calls; }
json() { python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$tmp/.out" "$1"; }
subs='[(s["cpu_model"], s["cores_per_pe"], [p["host"] for p in s["pes"]]) for s in d["subclusters"]]'

# ---- cold
: > calls
run hrun_head --host $hosts --show-cluster --json
status_is 0 "four hosts of two kinds"
got=$(json "$subs")
want="[('Lab Fast', 1, ['fast1', 'fast2']), ('Lab Slow', 2, ['slow1', 'slow2'])]"
out=$got ok "are grouped by what they are" test "$got" = "$want"
ok "each is asked once" test "$(sort calls | tr '\n' ' ')" = "fast1 fast2 slow1 slow2 "
got=$(json '[h["openmpi"] == d["hosts"][0]["openmpi"] != None for h in d["hosts"]]')
out=$got ok "they tell their Open MPI" test "$got" = "[True, True, True, True]"
got=$(json 'len({h["fingerprint"] for h in d["hosts"]})')
out=$got ok "each has a fingerprint of its own" test "$got" = 4
cp .out first

# ---- warm
run hrun_head --host $hosts --show-cluster --json
ok "no shell is started for hosts that are known" test "$(calls)" = 4
got=$(json '[h["remembered"] for h in d["hosts"]]')
out=$got ok "all of them are remembered" test "$got" = "[True, True, True, True]"
ok "and are the same" python3 - first .out <<'P'
import json, sys
a, b = (json.load(open(f)) for f in sys.argv[1:])
sys.exit(a["subclusters"] != b["subclusters"])
P
run hrun_head --host fast2,slow2,fast1,slow1 --show-cluster --json
got=$(json '[s["name"] for s in d["subclusters"]]')
out=$got ok "the order of the hosts changes no name" test "$got" = "['lab-fast', 'lab-slow']"
run hrun_head --host $hosts --engine mpirun --dry-run -n 4 true
status_is 0 "a dry run"
ok "needs no shell either" test "$(calls)" = 4
run hrun_head --refresh --host $hosts --show-cluster
ok "--refresh asks all" test "$(calls)" = 8
run on_head env HRUN_CACHE="$HRUN_CACHE" hrun --host fast1,slow1 --show-cluster
out_lacks "remembered" "through another remote shell they are asked"

# ---- a host that changes
run hrun_head --host fast1 --show-cluster --json
before=$(json 'd["hosts"][0]["fingerprint"]')
run hrun_head --host slow1,fast1 --show-cluster --json
lab kind slow1 fast
run hrun_head --host slow1,fast1 --show-cluster --json
got=$(json "$subs")
out=$got ok "what is remembered is shown" test "$got" = "[('Lab Fast', 1, ['fast1']), ('Lab Slow', 2, ['slow1'])]"
run hrun_head --refresh --host slow1,fast1 --show-cluster --json
got=$(json "$subs")
out=$got ok "until the host is asked anew" test "$got" = "[('Lab Fast', 2, ['slow1']), ('Lab Fast', 1, ['fast1'])]"
got=$(json '[s["name"] for s in d["subclusters"]]')
out=$got ok "names say what tells them apart" test "$got" = "['lab-fast-2c', 'lab-fast-1c']"
got=$(json 'd["hosts"][1]["fingerprint"]')
out="$got $before" ok "a host that has not changed keeps its fingerprint" test "$got" = "$before"
lab kind slow1 slow
run hrun_head --host slow1,fast1 -n 2 hostname
status_is 0 "a run after the host has changed back"
err_has "slow1" "says that it has changed"
run hrun_head --host slow1,fast1 --show-cluster --json
got=$(json "$subs")
out=$got ok "and it has been asked anew" test "$got" = "[('Lab Fast', 1, ['fast1']), ('Lab Slow', 2, ['slow1'])]"

# ---- the cluster file goes before what hosts say
cat > cluster.yaml <<'Y'
subclusters:
  - {name: old, hosts: "slow[1-2]", cpu: "Old One", cores: 1, memory: 1GiB}
  - {name: new, hosts: "fast[1-2]", level: core}
Y
run hrun_head --cluster cluster.yaml --show-cluster --json
got=$(json '[(s["name"], s["cpu_model"], s["level"], len(s["pes"])) for s in d["subclusters"]]')
out=$got ok "a cluster file" test "$got" = "[('old', 'Old One', 'node', 2), ('new', 'Lab Fast', 'core', 2)]"

# ---- allocations
printf 'fast1\nslow1\nslow1\n' > nodes
run on_head env HRUN_CACHE="$HRUN_CACHE" PBS_JOBID=3 PBS_NODEFILE="$tmp/nodes" \
    hrun --mca plm_rsh_agent "$tmp/agent" --show-cluster --json
got=$(json '(d["source"], [(h["name"], h["slots"]) for h in d["hosts"]])')
out=$got ok "the hosts of a PBS job" test "$got" = "('PBS job 3', [('fast1', 1), ('slow1', 2)])"
printf 'slow2 slots=1\n' > default
run on_head env HRUN_CACHE="$HRUN_CACHE" OMPI_MCA_orte_default_hostfile="$tmp/default" \
    hrun --mca plm_rsh_agent "$tmp/agent" --show-cluster --json
got=$(json "$subs")
out=$got ok "Open MPI's default host file" test "$got" = "[('Lab Slow', 1, ['slow2'])]"
run on_head env HRUN_CACHE="$HRUN_CACHE" SLURM_JOB_ID=5 SLURM_JOB_NODELIST='slow[1-2]' SLURM_JOB_CPUS_PER_NODE='1(x2)' \
    hrun --mca plm_rsh_agent "$tmp/agent" --cluster cluster.yaml --engine mpirun --show-cluster --json
got=$(json '(d["allocation"], [h["name"] for h in d["hosts"]], [h["name"] for h in d["left_out"]])')
out=$got ok "of the cluster file what a Slurm job has" \
    test "$got" = "('Slurm job 5', ['slow1', 'slow2'], ['fast1', 'fast2'])"

# ---- hosts that do not answer
lab kill fast2
run hrun_head --host $hosts --show-cluster
status_is 0 "a dead host that is remembered"
fails 125 "host 'fast2' " "a dead host" hrun_head --refresh --host $hosts --show-cluster
one_error "is one error"
run hrun_head --refresh --skip-unreachable --host $hosts --show-cluster --json
status_is 0 "is left out with --skip-unreachable"
got=$(json '([h["name"] for h in d["hosts"]], [h["name"] for h in d["left_out"]])')
out=$got ok "and no other" test "$got" = "(['slow1', 'fast1', 'slow2'], ['fast2'])"
err_has "host 'fast2' " "which is told"
run hrun_head --refresh --skip-unreachable --host $hosts -n 3 hostname
status_is 0 "a run on the others"
got=$(printf '%s\n' "$out" | sort | tr '\n' ' ')
out=$got ok "is on all of them" test "$got" = "fast1 slow1 slow2 "
lab start fast2
run hrun_head --refresh --host $hosts --show-cluster --json
got=$(json "$subs")
out=$got ok "a host that is back" test "$got" = "$want"
lab unplug slow2
fails 125 "host 'slow2' " "a silent network" hrun_head --refresh --host $hosts --show-cluster
ok "by ssh's word, or else by the limit of ten seconds" \
    grep -Eq "host 'slow2' (cannot be reached through|did not answer within 10 s)" "$tmp/.err"
run hrun_head --refresh --skip-unreachable --host $hosts --show-cluster --json
got=$(json '[h["name"] for h in d["left_out"]]')
out=$got ok "is left out as well" test "$got" = "['slow2']"
fails 125 "no host is left: host 'slow2' " "nobody answers" hrun_head --refresh --skip-unreachable --host slow2 --show-cluster
lab plug slow2
printf '#!/bin/sh\n[ "$1" = slow1 ] && exec sleep 1000\nexec "%s/ssh" "$@"\n' "$HRUN_LAB" > hangs
chmod +x hangs
fails 125 "host 'slow1' did not answer within 10 s" "a remote shell that hangs" \
    on_head env HRUN_CACHE="$HRUN_CACHE" hrun --mca plm_rsh_agent "$tmp/hangs" --host $hosts --show-cluster
all_clean "nothing is left on any host"
done_testing
