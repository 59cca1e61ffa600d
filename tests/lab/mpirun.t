#!/bin/bash
# An engine over hosts: bindings, statuses, signals, and every fault that a host can have. Nothing may be left anywhere.
# $LAB_ENGINE: mpirun (default), or ssh for programs of MPICH (ssh.t); what only one of them has is asked of it alone.
. "$(dirname "$0")/lib.sh"

engine=${LAB_ENGINE:-mpirun}
probe=$bin/probe
[ "$engine" = ssh ] && probe=$bin/mpich/probe
[ -x "$probe" ] || { echo "1..0 # SKIP mpicc.mpich is not there"; exit 0; }
is() { [ "$engine" = "$1" ]; }

lab_up 'h1 40 0 fast' 'h2 40 1 fast' 'h3 40 1 slow'

hosts=h1,h2,h3
hrun() { on_head hrun --engine $engine --host "$hosts" -q "$@"; }

# An agent that does to one host what a test wants: agent HOST WORDS..., WORDS stand before the command there.
agent() { # FILE HOST PREFIX
    # shellcheck disable=SC2016
    printf '#!/bin/sh\nwhile :; do case $1 in -o) shift 2 ;; -*) shift ;; *) break ;; esac; done\nhost=$1\nshift\n[ "$host" = %s ] && { %s\n}\nexec "%s/ssh" "$host" "$*"\n' \
        "$2" "$3" "$HRUN_LAB" >"$1"
    chmod 755 "$1"
}

# A host that has been away answers when the others have forgotten where it was.
back() { await 90 on_head "$HRUN_LAB/ssh" -o ConnectTimeout=2 h3 true; }

# ---------------------------------------------------------------- what works

run hrun --report-bindings hostname
status_is 0 'a program runs on three hosts'
ok 'on each of them once' test "$(printf '%s\n' "$out" | sort | xargs)" = 'h1 h2 h3'
err_has 'h1: rank 0 is bound to PUs 0, as planned' 'the first host uses its own CPU'
err_has 'h2: rank 1 is bound to PUs 1, as planned' 'the second, though of the same kind, another one'
err_has 'h3: rank 2 is bound to PUs 1, as planned' 'and so does the third'
err_has 'waiting processes yield the processor, as the control group of host h1' 'that ranks yield is said'
ok 'nothing else is said' test "$(printf '%s\n' "$err" | wc -l)" = 4

# shellcheck disable=SC2016
run hrun sh -c 'taskset -cp $$ | sed "s/.*: //; s/^/$(hostname) /"'
ok 'programs are bound without --report-bindings too' test "$(printf '%s\n' "$out" | sort | xargs)" = 'h1 0 h2 1 h3 1'
# shellcheck disable=SC2016
run hrun sh -c 'env | grep -c -e ^HRUN_RANKS -e ^HRUN_SHM -e ^HRUN_NOTES'
out_has 0 'what is meant for hrun-shim does not reach the program'
# shellcheck disable=SC2016
run hrun sh -c 'env | grep "^OMPI_MCA.*hrun-shim"'
out_lacks hrun-shim 'nor are the shims in the settings that it finds'
# shellcheck disable=SC2016
run on_head env HRUN_CONNECT_TIMEOUT=4 hrun --engine $engine --host head,h1 -n 2 -q sh -c \
    '[ "$(hostname)" = h1 ] || exec hrun --host h2,h3 -q sh -c "sleep 6; hostname"'
ok 'an hrun that a process starts works as any' test "$status $(printf '%s\n' "$out" | sort | xargs)" = '0 h2 h3'
run hrun "$probe"
status_is 0 'an MPI program runs over hosts'

# Where the user says where processes go.
# shellcheck disable=SC2016
where='echo $OMPI_COMM_WORLD_RANK$PMI_RANK $(hostname) $(taskset -cp $$ | sed "s/.*: //")'
run hrun -n 6 --map-by node --oversubscribe --bind-to core sh -c "$where"
ok 'by node: hosts in turn, bound to a core' test "$(sort -n <<<"$out" | xargs)" = '0 h1 0 1 h2 1 2 h3 1 3 h1 0 4 h2 1 5 h3 1'
run hrun -ppn 2 -n 5 --oversubscribe sh -c "$where"
ok '-ppn: so many on each host' test "$(sort -n <<<"$out" | cut -d' ' -f1,2 | xargs)" = '0 h1 1 h1 2 h2 3 h2 4 h3'
run hrun -N 1 --report-bindings sh -c "$where"
status_is 0 '-N 1: one process on each host'
ok 'bound as planned' test "$(grep -c 'as planned' <<<"$err")" = 3
printf 'rank 2=h1 slot=0\nrank 0=+n2 slot=0\nrank 1=h2 slot=0\n' >"$tmp/ranks"
run hrun --rankfile "$tmp/ranks" sh -c "$where"
ok "a user's rankfile" test "$(sort -n <<<"$out" | cut -d' ' -f1,2 | xargs)" = '0 h3 1 h2 2 h1'
run hrun --map-by hwthread -n 3 --rank-by node "$probe"
status_is 0 'an MPI program on hardware threads of several hosts'

# Hosts that a cluster file describes: hrun is not asked to be there.
printf 'subclusters:\n  - name: far\n    hosts: h[1-3]\n    cores: 1\n    memory: 512MiB\n    cpu: Some CPU\n' >"$tmp/described"
if is mpirun; then
described() { on_head hrun --cluster "$tmp/described" -q "$@"; }
run described hostname
status_is 0 'a program runs on hosts that are only described'
ok 'on each of them once' test "$(printf '%s\n' "$out" | sort | xargs)" = 'h1 h2 h3'
# shellcheck disable=SC2016
run described sh -c '[ $(hostname) = h3 ] && exit 7; sleep 60'
status_is 7 'and its status is handed on'
fi

# ---------------------------------------------------------------- several programs

cp "$probe" "$tmp/one"
cp "$probe" "$tmp/two"
apps_of() { printf '%s\n' "$out" | sed -n 's/^rank \([0-9]*\) is \([^,]*\),.*/\1:\2/p' | sort -n | xargs; }
run hrun -genv A 7 -n 1 "$tmp/one" app ring env=A : -n 2 "$tmp/two" app ring env=A 'env=a b'
status_is 0 'two programs on three hosts'
ok 'each rank starts its own' test "$(apps_of)" = '0:one 1:two 2:two'
ok '-genv reaches all' test "$(printf '%s\n' "$out" | grep -c 'A=7')" = 3
run hrun --report-bindings -n 2 "$tmp/one" app ring : -n 1 "$tmp/two" app ring
err_has 'h3: rank 2 is bound to PUs 1, as planned' 'and is bound'
printf 'subclusters:\n  - {name: a, hosts: "h[1-2]"}\n  - {name: b, hosts: h3, program: "%s"}\n' "$tmp/two" >"$tmp/c"
kinds() { on_head hrun --engine $engine --cluster "$tmp/c" -q "$@"; }
run kinds "$tmp/one" app ring
ok 'a sub-cluster starts a program of its own' test "$status $(apps_of)" = '0 0:one 1:one 2:two'
on h3 cp "$tmp/two" /root/three
sed -i 's|program: .*}|program: /root/three}|' "$tmp/c"
run kinds "$tmp/one" app ring
ok 'which only its host has' test "$status $(apps_of)" = '0 0:one 1:one 2:three'
sed -i 's|/root/three|/root/nosuch|' "$tmp/c"
run kinds "$tmp/one" app ring
status_is 127 'one that its host has not'
err_has 'h3: rank 2: cannot start /root/nosuch: No such file' 'is told by that host'
if is mpirun; then
sed -i 's|hosts: h3|hosts: h3, cores: 1, memory: 512MiB, cpu: Some|; s|hosts: "h\[1-2\]"|hosts: "h[1-2]", cores: 1, memory: 512MiB, cpu: Other|; s|nosuch|three|' "$tmp/c"
run kinds "$tmp/one" app ring
ok 'and so it is on hosts that are only described' test "$status $(apps_of)" = '0 0:one 1:one 2:three'
fi

# shellcheck disable=SC2016
run hrun sh -c '[ $(hostname) = h3 ] && exit 7; sleep 60'
status_is 7 'the status of a process on another host is handed on'
run hrun sh -c '[ $(hostname) = h2 ] && kill -SEGV $$; sleep 60'
status_is 139 'so is a signal'
run hrun --timeout 3 sleep 60
status_is 124 'a time limit ends processes on other hosts'
ran='stdin'
out=$(echo hello | on_head hrun --engine $engine --host h3,h1 -q sh -c 'cat' 2>/dev/null)
ok 'standard input reaches rank 0 on another host' test "$out" = hello
all_clean 'nothing is left of all that'

# ---------------------------------------------------------------- bindings that cannot be

run on h1 env PMIX_RANK=0 HRUN_RANKS=0=1 HRUN_RANKS_DO=bind,report hrun-shim rank touch "$tmp/bad"
status_is 125 'a process that cannot have its CPU fails'
err_has 'h1: rank 0 cannot be bound to PUs 1' 'it says so'
run on_head taskset -c 1 env PMIX_RANK=0 HRUN_RANKS=0=0 HRUN_RANKS_DO=report hrun-shim rank touch "$tmp/bad"
status_is 125 'a process that was bound elsewhere fails'
err_has 'head: rank 0 is bound to PUs 1 and not, as planned, to 0' 'it says so'
ok 'neither has begun' test ! -e "$tmp/bad"
if is mpirun; then
# An mpirun that puts another list in the place of hrun's.
mkdir -p "$tmp/fake"
printf '#!/bin/sh\n[ "$1" = --version ] || export HRUN_RANKS="0=0;1=0;2=1"\nexec -a "$0" %s "$@"\n' "$(readlink -f "$(command -v mpirun)")" |
    sed '1s/sh/bash/' >"$tmp/fake/mpirun"
chmod 755 "$tmp/fake/mpirun"
run on_head env PATH="$tmp/fake:$PATH" hrun --engine $engine --host $hosts -q --report-bindings touch "$tmp/bad"
status_is 125 'processes that are not where the plan wants them end the job'
err_has 'h2: rank 1 cannot be bound to PUs 0' 'and host and rank are named'
fi
all_clean 'nothing is left of them'

# ---------------------------------------------------------------- before the program starts

counted() { hrun "$@" sh -c "echo x >>$tmp/count.\$(hostname)"; }
counts() { cat "$tmp"/count.* 2>/dev/null | wc -l; }

on h3 pkill -x sshd
run counted
status_is 125 'a host that lets nobody in ends the start'
err_has "hrun: host 'h3' cannot be reached" 'the host is named'
ok 'in one line' test "$(printf '%s\n' "$err" | wc -l)" = 1
ok 'and nothing stands on standard output' test -z "$out"
if is mpirun; then
run described true
status_is 125 'so does one that is only described'
err_has "hrun: host 'h3' cannot be reached" 'the host is named'
ok 'in one line' test "$(printf '%s\n' "$err" | wc -l)" = 1
else
run on_head hrun --engine ssh --cluster "$tmp/described" -q true
status_is 125 'hosts that are only described are not for programs of MPICH'
err_has 'need hrun on every host' 'that is said'
ok 'in one line' test "$(printf '%s\n' "$err" | wc -l)" = 1
fi
lab kill h3
run on_head env HRUN_CONNECT_TIMEOUT=4 hrun --engine $engine --host $hosts -q sh -c "echo x >>$tmp/count.x"
status_is 125 'so does a host that is down'
err_has "hrun: host 'h3' was not ready within 4 s" 'the host is named'
ok 'in one line' test "$(printf '%s\n' "$err" | wc -l)" = 1
ok 'no process was started' test "$(counts)" = 0
lab start h3
back
run counted
status_is 0 'when it is back the program runs'
ok 'once on each host' test "$(counts)" = 3
rm -f "$tmp"/count.*

agent "$tmp/hangs" h3 "[ ! -e $tmp/hang ] || exec sleep 300"
run hrun --mca plm_rsh_agent "$tmp/hangs" true
status_is 0 "an agent of the user's own is used"
touch "$tmp/hang"
run on_head env HRUN_CONNECT_TIMEOUT=4 hrun --engine $engine --host $hosts -q --mca plm_rsh_agent "$tmp/hangs" sh -c "echo x >>$tmp/count.x"
status_is 125 'an ssh that hangs is given up'
err_has "host 'h3' was not ready within 4 s" 'the host is named'
ok 'in one line' test "$(printf '%s\n' "$err" | wc -l)" = 1
ok 'no process was started' test "$(counts)" = 0

on h3 sh -c 'mkdir -p /run/ro /run/full; mount -t tmpfs -o ro none /run/ro; mount -t tmpfs -o size=64k none /run/full'
agent "$tmp/readonly" h3 'set -- "export TMPDIR=/run/ro; $*"'
run hrun --mca plm_rsh_agent "$tmp/readonly" sh -c "echo x >>$tmp/count.x"
status_is 125 'a folder for temporary files that cannot be written ends the start'
err_has "host 'h3' cannot take part: its folder for temporary files, /run/ro, cannot be used" 'host and folder are named'
ok 'in one line' test "$(printf '%s\n' "$err" | wc -l)" = 1
ok 'and nothing stands on standard output' test -z "$out"
agent "$tmp/full" h3 'set -- "export TMPDIR=/run/full; $*"'
run hrun --mca plm_rsh_agent "$tmp/full" sh -c "echo x >>$tmp/count.x"
status_is 125 'so does a full one'
err_has "its folder for temporary files, /run/full, is full" 'it says so'
ok 'no process was started' test "$(counts)" = 0

lab kind h3 other
run counted
status_is 0 'a host that has changed is asked anew, and the program runs'
err_has "hrun: host 'h3' offers other resources or another MPI than when hrun last asked: asking all hosts anew" 'hrun says so'
ok 'each process was started once' test "$(counts)" = 3
run counted
err_lacks changed 'then it is known'
rm -f "$tmp"/count.*

if is mpirun; then
printf '#!/bin/sh\necho "mpirun (Open MPI) 3.1.2"\n' >"$tmp/old"
chmod 755 "$tmp/old"
on h3 mount --bind "$tmp/old" "$(readlink -f "$(command -v mpirun)")"
run counted --refresh
status_is 125 'another version of Open MPI on a host is an error'
err_has "host 'h3' has Open MPI 3.1.2 and this host has" 'that names host and versions'
ok 'in one line' test "$(printf '%s\n' "$err" | wc -l)" = 1
ok 'no process was started' test "$(counts)" = 0
on h3 umount "$(readlink -f "$(command -v mpirun)")"
run counted
status_is 0 'mended, it is noticed by itself'
fi
all_clean 'nothing is left of these starts'

# ---------------------------------------------------------------- while the program runs

started() { [ "$(cat "$tmp"/up.* 2>/dev/null | wc -l)" -ge "${1:-3}" ]; }
# It ignores what can be ignored, and leaves a process in a session of its own.
cat >"$tmp/stubborn" <<'END'
#!/bin/bash
trap '' TERM INT HUP
setsid sh -c 'trap "" TERM INT HUP; while :; do sleep 1; done' &
echo x >"$1.$(hostname)"
while :; do sleep 1; done
END
chmod 755 "$tmp/stubborn"
long() { rm -f "$tmp"/up.*; background "$1" on_head hrun --engine $engine --host "$hosts" -q "$tmp/stubborn" "$tmp/up"; await 30 started; }
job_pid() { on_head pgrep -x hrun | head -n 1; }

long lost
lab kill h3
finish lost 40
status_is 125 'a host that dies ends the job'
err_has "hrun: host 'h3' was lost during the run" 'and is named'
ok 'at last' test "$(printf '%s\n' "$err" | tail -n 1)" = "hrun: host 'h3' was lost during the run"
all_clean 'nothing is left on the others'
lab start h3
back

long silent
lab unplug h3
finish silent 60
status_is 125 'a host whose network goes silent ends the job'
err_has "hrun: host 'h3' was lost during the run" 'and is named'
lab plug h3
back
all_clean 'nothing is left, also not there'

if is mpirun; then
# Nobody but mpirun looks whether the link of this remote shell still works.
rm -f "$tmp/hang" "$tmp"/up.*
background mute on_head hrun --engine $engine --host $hosts -q --mca plm_rsh_agent "$tmp/hangs" --mca oob_tcp_keepalive_time 4 \
    --mca oob_tcp_keepalive_intvl 1 --mca oob_tcp_keepalive_probes 2 "$tmp/stubborn" "$tmp/up"
await 30 started
lab unplug h3
finish mute 60
status_is 125 'so does one whose remote shell does not notice'
err_has 'was lost during the run' 'which is said'
err_has 'on node h3' 'with what mpirun says of it'
lab plug h3
back
all_clean 'nothing is left there either'
fi

long twice
on_head pkill -INT -x hrun
sleep 0.5
on_head pkill -INT -x hrun
finish twice 30
status_is 130 'SIGINT twice ends a job that ignores it'
all_clean 'nothing is left'

long killed
on_head pkill -KILL -x hrun
finish killed 20
status_is 137 'hrun is killed by SIGKILL'
all_clean 'nothing is left'

long launcher
if is mpirun; then
on_head pkill -KILL -x 'mpirun|prterun'
finish launcher 30
status_is 137 'mpirun is killed by SIGKILL'
else
on_head pkill -KILL -f 'hrun-shim agent.* h2 '
finish launcher 30
status_is 125 'the agent of a host is killed by SIGKILL'
err_has "host 'h2' was lost" 'its host counts as lost'
fi
all_clean 'nothing is left'

background early on_head hrun --engine $engine --host $hosts -q sleep 60
await 10 on_head pgrep -f 'hrun-shim agent'
on_head pkill -INT -x hrun
finish early 30
status_is 130 'SIGINT while daemons start'
all_clean 'nothing is left'

background one on_head hrun --engine $engine --host $hosts -q "$probe"
background two on_head hrun --engine $engine --host $hosts -q "$probe"
finish one 60
status_is 0 'two jobs at once on the same hosts: one'
finish two 60
status_is 0 'and the other'
all_clean 'nothing is left'

done_testing
