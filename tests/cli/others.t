#!/bin/bash
# Beside other users: nobody else learns the name by which PMIx lets a process into the job, and nobody else can write
# what hrun makes.
. "$(dirname "$0")/tap.sh"
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
    for _ in $(seq 200); do [ -s environment ] && break; sleep 0.05; done
    rundir=$(tr '\0' '\n' <environment | sed -n 's/^PMIX_SERVER_TMPDIR=//p')
}
end_job() { touch end; wait $pid; status=$?; err=$(cat job.err); }
# As the rank, but for the namespace NAME.
join() { xargs -0 -a environment sh -c 'exec env -i "$@" '"PMIX_NAMESPACE=$1 timeout 20 python3 $tmp/join.py" sh 2>&1; }

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

# ---- a stranger that gives a memory file of its own the names of the job's outlives a job whose hrun is killed
start_job
python3 -c 'import os, sys, time
files = [os.memfd_create(name, 0) for name in sys.argv[1:]]
print("made", flush=True)
time.sleep(60)' "${rundir##*/}" hrun-job >forged &
forger=$!
for _ in $(seq 200); do [ -s forged ] && break; sleep 0.05; done
kill -9 $pid
wait $pid 2>/dev/null
for _ in $(seq 200); do [ -d "$rundir" ] || break; sleep 0.05; done
ok "the job is removed" test -s forged -a ! -d "$rundir"
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
