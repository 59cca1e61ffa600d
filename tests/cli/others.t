#!/bin/bash
# Beside other users: nobody else learns the name by which PMIx lets a process into the job, and nobody else can write
# what hrun makes.
. "$(dirname "$0")/tap.sh"
two_cores
cd "$tmp" || exit 1

# ---- a process that is not of the job joins it, and then aborts it
cat > join.py <<'P'
import ctypes, os
pmix = ctypes.CDLL("libpmix.so.2")
joined = pmix.PMIx_Init(ctypes.create_string_buffer(4096), None, ctypes.c_size_t(0)) == 0
print("joined" if joined else "refused", flush=True)
if joined:
    pmix.PMIx_Abort(77, b"", None, ctypes.c_size_t(0))
os._exit(0)
P
cat > rank <<'R'
#!/bin/sh
env -0 >environment.new && mv environment.new environment
while [ ! -e "$1" ]; do sleep 0.05; done
R
chmod +x rank
chmod 711 "$tmp"    # another user comes as far as the temporary folder
start_job() { # starts a job that ends when the file `end` appears; sets $pid and $rundir
    rm -f environment end
    hrun -q -n 1 ./rank end </dev/null >job.out 2>job.err &
    pid=$!
    for _ in $(seq 2000); do [ -s environment ] && break; sleep 0.05; done
    rundir=$(tr '\0' '\n' <environment | sed -n 's/^PMIX_SERVER_TMPDIR=//p')
}
end_job() { touch end; wait $pid; status=$?; err=$(cat job.err); }
# As the rank, but for the namespace NAME.
join() { xargs -0 -a environment sh -c 'exec env -i "$@" '"PMIX_NAMESPACE=$1 timeout 300 python3 $tmp/join.py" sh 2>&1; }

namespace() { tr '\0' '\n' <environment | sed -n 's/^PMIX_NAMESPACE=//p'; }
start_job
secret=$(namespace)
ok "the namespace holds 128 random bits" expr "$secret" : 'hrun-[0-9a-f]\{32\}$'
printf '%s\n' "$secret" >secret  # and not in the command line of grep
out=$(find "$TMPDIR" /dev/shm /run/lock 2>/dev/null | grep -F -f secret; grep -lsF -f secret /proc/[0-9]*/cmdline)
ok "it stands in no file name and in no command line" test -z "$out"
if [ "$(id -u)" = 0 ]; then
    out=$(setpriv --reuid 65534 --regid 65534 --clear-groups sh -c \
        "grep -rlsF -D skip -f - '$TMPDIR' /dev/shm /proc/[0-9]*/environ" <secret)
    ok "and in no file that another user can read" test -z "$out"
else
    skip "and in no file that another user can read" "needs root"
fi
out=$(join "${rundir##*/}")
ok "who knows only the name of the folder does not join" test "$out" = refused
end_job
status_is 0 "and does the job no harm"
start_job
ok "each job has a namespace of its own" test "$secret" != "$(namespace)"
out=$(join "$(namespace)")
end_job
out_has joined "with the namespace it would have joined"
status_is 77 "and aborted the job"

# ---- a stranger with a limit like the job's mark outlives a job whose hrun is killed; what left that job does not
cat >leave <<P
#!/bin/bash
# Leave session, environment and all files.
env -i setsid bash -c 'trap "" TERM; for f in /proc/self/fd/*; do eval "exec \${f##*/}>&-"; done 2>/dev/null
    exec /bin/sleep 4321.$$' &
sleep 60
P
chmod +x leave
prlimit --locks=1234567:unlimited sleep 60 &
forger=$!
hrun --no-record --engine local -n 1 ./leave >job.out 2>job.err </dev/null &
pid=$!
left() { pgrep -fx "/bin/sleep 4321.$$"; }
for _ in $(seq 200); do left >/dev/null && break; sleep 0.05; done
ok "a process leaves the job" left
rundir=$(echo "$TMPDIR"/hrun.*)
kill -9 $pid
wait $pid 2>/dev/null
for _ in $(seq 2000); do [ -d "$rundir" ] || break; sleep 0.05; done
ok "the job is removed" test ! -d "$rundir"
out=$(left)
ok "also what has left it" test -z "$out"
ok "and the stranger lives" kill -0 $forger
kill $forger
wait $forger 2>/dev/null

# ---- with a mask that forbids nothing
mkdir -p masked/ledger
(umask 0; HRUN_DATA=$tmp/masked/data HRUN_CACHE=$tmp/masked/cache HRUN_LEDGER=$tmp/masked/ledger \
    hrun -q --engine mpirun -app lu -N 100 -n 1 "$bin/lu" 100) >job.out 2>job.err
status=$? err=$(cat job.err)
status_is 0 "a run with umask 0 that is recorded"
ok "makes files" test "$(find masked -type f | wc -l)" -ge 3
out=$(find masked -mindepth 2 -perm /002)
ok "none of which another user can write" test -z "$out"
done_testing
