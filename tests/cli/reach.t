#!/bin/bash
# reach.t - what stands before mpirun's remote shell, without other hosts: hrun-shim agent and its notes, mpirun's words
. "$(dirname "$0")/tap.sh"
cd "$tmp" || exit 1

# A remote shell that runs the command here.
cat > rsh <<'P'
#!/bin/sh
shift
exec sh -c "$*"
P
# One that has no connection.
cat > refused <<'P'
#!/bin/sh
echo "connect to host $1: refused" >&2
exit 255
P
chmod +x rsh refused
mkfifo notes
exec 9<>notes

# noted KIND HOST NUMBER TEXT, within 10 s; notes that come before are left out.
noted() {
    local line want
    want=$(printf '%s\t' "$@") want=${want%?}
    while IFS= read -r -t 10 -u 9 line; do [ "$line" = "$want" ] && return; done
    return 1
}
agent() { HRUN_NOTES=notes run hrun-shim agent "$@"; }

agent 10 shell 1 ./rsh h1 'echo words; exit 3'
status_is 3 "the remote shell's status is handed on"
ok "its output is no output of the program" test -z "$out" -a "$err" = words
ok "the shell there tells that the host was reached" noted up h1 0 ""
ok "it has ended" noted ended h1 3 ""
agent 10 shell 1 ./refused h1 true
ok "a host without a connection cannot be reached" noted failed h1 255 "connect to host h1: refused"
agent 10 shell 1 ./rsh h1 'exit 255'
ok "one that was reached is lost" noted lost h1 255 ""
agent 10 nobody 1 ./rsh h1 'exit 255'
ok "where nobody reports 255 is a failure" noted failed h1 255 ""
agent 10 nobody 1 ./rsh h1 'echo hrun-shim:up >&2; exit 2'
ok "and another status an end" noted ended h1 2 ""
err_has "hrun-shim:up" "words that are no report are passed on"

agent 10 host 1 ./rsh h1 'echo hrun-shim:refused no room >&2; exit 125'
ok "a host that refuses says why" noted refused h1 0 "no room"
agent 10 host 1 ./rsh h1 'printf "a banner"; echo hrun-shim:refused no room >&2; exit 125'
ok "also behind words without an end" noted refused h1 0 "no room"
ok "which are passed on" test "$err" = "a banner"
agent 10 host 1 ./rsh h1 'echo /bin/hrun-shim: no such file >&2; exit 127'
ok "words that only look like a report are none" noted failed h1 127 "/bin/hrun-shim: no such file"
agent 10 host 1 ./rsh h1 'echo hrun-shim:changed >&2; exit 125'
ok "so does one that has changed" noted changed h1 0 ""
agent 0.2 host 1 ./rsh h1 'exec sleep 60'
ok "one that does not report is late" noted late h1 0 0.2
agent 10 host 1 ./rsh h1 'echo hrun-shim:up >&2; exit 255'
ok "one that is cut off is lost" noted lost h1 255 ""
HRUN_NOTES=notes run timeout 300 hrun-shim agent 10 host 1 ./rsh h1 \
    'echo hrun-shim:up >&2; echo hrun-shim:bye 4 >&2; exec sleep 60'
status_is 4 "the daemon's status is that of the agent"
ok "a host that has cleaned up has ended, and its connection is cut" noted ended h1 4 ""
HRUN_NOTES=notes HRUN_NOTES_KILLER=1 hrun-shim agent 30 host 1 ./rsh h1 \
    'echo hrun-shim:up >&2; while [ ! -e killed ]; do sleep 0.1; done; echo hrun-shim:bye 0 >&2' &
ok "an agent that mpirun kills" noted up h1 0 ""
kill -KILL $!
wait $! 2>/dev/null
touch killed
ok "tells nevertheless that the host has ended" noted ended h1 0 ""

run hrun-shim agent 10 host 1 ./rsh h1 'echo hrun-shim:refused no room >&2; exit 125'
err_has "host 'h1' cannot take part: no room" "without notes the reason goes to standard error"
# shellcheck disable=SC2016
SHELL=/bin/some agent 10 host 1 ./rsh h1 'echo $SHELL'
out_has /bin/some "mpirun's question for the shell of a host is answered"
run hrun-shim agent 10 shell 2 ./rsh h1
status_is 125 "too few words are an error"

# Hosts that are only described: no shim on them, and mpirun reaches all itself, as their daemons could not.
cat > mpirun <<'P'
#!/bin/sh
printf '%s\n' "$@" >>"$LOG"
[ "$1" = --version ] && echo "mpirun (Open MPI) 4.1.4" && exit
echo "killer $HRUN_NOTES_KILLER" >>"$LOG"
exit 1
P
cp mpirun mpirun.openmpi
cp rsh ssh
chmod +x mpirun mpirun.openmpi ssh
printf 'subclusters:\n  - name: far\n    hosts: 192.0.2.[1-70]\n    cores: 1\n    memory: 1GiB\n    cpu: Some CPU\n' > far.yaml
LOG=$tmp/log PATH=$tmp:$PATH run hrun -q --cluster far.yaml -n 70 /bin/true
status_is 125 "an mpirun that fails"
ok "mpirun's version is asked for once" test "$(grep -cx -e --version log)" = 1
ok "described hosts are reached by mpirun alone" sh -c "grep -A 1 -x plm_rsh_no_tree_spawn log | grep -qx 1"
ok "and tell through their shell that they are up" grep -q 'hrun-shim agent 30 shell 6 ssh -x ' log
ok "agents are told that mpirun may kill them" grep -qx 'killer 1' log
ok "no shim is expected there" sh -c "! grep -q -e 'hrun-shim host' -e 'hrun-shim rank' log"

# An mpirun that starts one of two ranks, is told to pass a signal on before there is one, and says that all went well.
cat > mpirun <<'P'
#!/bin/bash
[ "$1" = --version ] && echo "mpirun (Open MPI) 4.1.4" && exit
begun=
trap 'echo "${begun:-early}" >>"$LOG"' USR1
kill -USR1 $PPID
sleep 0.3
while [[ $1 != */hrun-shim ]]; do shift; done
begun="after $*"
[ $RANKS = 0 ] && exit 0
for ((r = 0; r < RANKS; r++)); do PMIX_RANK=$r "$@" & done
while ! wait; do :; done
exit 0
P
false_zero() { : >log; LOG=$tmp/log RANKS=$1 PATH=$tmp:$PATH run hrun -q --engine mpirun -n 2 --oversubscribe "${@:2}"; }
false_zero 2 sh -c 'while ! grep -q . log; do sleep 0.05; done; echo done'
status_is 0 "status 0 counts where each rank has ended with 0"
ok "a signal reaches mpirun when all ranks have begun" grep -qx "after .*hrun-shim rank .*sh -c .*" log
false_zero 1 true
status_is 125 "status 0 does not count where a rank has not begun"
err_has "1 of 2 processes had not begun" "which is said"
ok "and the signal is held back until then" test ! -s log
false_zero 2 sh -c '[ $PMIX_RANK = 0 ] || exit 3'
status_is 3 "a rank's own failure counts more than status 0 of mpirun"
false_zero 2 sh -c '[ $PMIX_RANK = 0 ] || kill -9 $PPID $$'
status_is 125 "one whose end nobody tells is missing"
err_has "1 of 2 processes had not ended" "which is said"

# What no hrun of this version sends as a job, words that "|" ends: a list too long or too short, a program or a rank
# that is none, the words of an older one.
for words in '/|1|0|1|/bin/true|2147483647|true|' '/|1|-5|-7|-9|' '/|1|0|1|/bin/true|0|1|0|0|' \
    '/|1|0|1|/bin/true|1|true|1|0|7|' '/|1|0|1|/bin/true|1|true|1|1|0|' '/|1|0|1|2|/bin/true|x|1|0|0|' ''; do
    printf "\\0\\0\\0\\1\\0\\0\\0\\0\\0\\0\\0\\$(printf %o ${#words})" >frame
    printf %s "$words" | tr '|' '\0' >>frame
    run bash -c 'hrun-shim proxy now <frame'
    ok "the proxy understands no job '$words'" test "$status" = 0
    err_has "hrun-shim proxy cannot read what hrun sent: install" "which it says"
done
done_testing
