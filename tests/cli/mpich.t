#!/bin/bash
# Programs of MPICH on this host, beyond launch.t: dry run, bindings, sharing a core, calibrating, names, spawning.
. "$(dirname "$0")/tap.sh"
two_cores
mpich=$bin/mpich
if [ ! -x "$mpich/probe" ]; then
    skip "programs of MPICH" "mpicc.mpich is not there"
    done_testing
    exit
fi
cd "$tmp" || exit 1
before=$(litter)

run hrun --dry-run -n 2 "$mpich/probe"
out_has "the same by mpiexec: mpiexec.hydra -n 2 -bind-to 'user:" "the dry run has Hydra's command"
if command -v mpiexec.hydra >/dev/null; then
    real=$(eval "$(sed -n 's/.*the same by mpiexec: //p' .out) info" 2>&1 | sort)
    run hrun -n 2 "$mpich/probe" info
    ok "which places the processes as hrun does" test "$real" = "$(printf '%s\n' "$out" | sort)"
else
    skip "Hydra's command" "mpiexec.hydra is not there"
fi
run hrun --report-bindings -n 2 "$mpich/probe" ring
status_is 0 "--report-bindings"
err_has "rank 1 is bound to PUs" "says where"
err_has "as planned" "and that it is so"

run hrun --config '(1,4)' "$mpich/probe" info barriers=3000 ring big
status_is 0 "four processes on one PE"
out_has "rank 3 of 4" "are one world"
out_has "ring good" "that works"
many=$(($(nproc) + 1))
ln -s "$(command -v hrun)" mpiexec
for how in "./mpiexec" "hrun -genv A 1"; do
    run $how -n $many "$mpich/probe" info
    status_is 0 "more processes than cores, called as mpiexec: $how"
    err_has "hrun: $many processes share cores" "which one line says"
    run $how -n $many true
    status_is 125 "but not of a program that is not of MPICH"
done
fails 125 "or --oversubscribe" "nor called as hrun" hrun -n $many "$mpich/probe"
run hrun -v --config '(1,2)' "$mpich/probe"
err_has "waiting processes yield the processor" "and -v says that they yield"
run hrun --tune-collectives -n 2 "$mpich/probe" ring
status_is 0 "--tune-collectives of a program of MPICH"
err_has "only programs of Open MPI can be tuned" "says that it does nothing"
run hrun --mca btl self -n 2 "$mpich/probe" ring
err_has "--mca does nothing here" "and so does --mca"
run hrun --trace --no-record -n 2 "$mpich/pattern" 2000
status_is 0 "--trace"
err_has "the busiest process computes" "of a program of MPICH tells who waits"
names=$(printf '%s\n' "$err" | tail -1 | grep -o '[A-Z][a-z_]*' | sort | tr '\n' ' ')
run hrun --trace --no-record -n 2 "$bin/pattern" 2000
out=$names err=$(printf '%s\n' "$err" | tail -1 | grep -o '[A-Z][a-z_]*' | sort | tr '\n' ' ')
ok "in which calls" test -n "$names"

# A profile of its own: that of the same program with Open MPI is not used.
run hrun-calibrate -q -app lu --sizes 100,200,300 --budget 12runs "$mpich/lu"
status_is 0 "hrun-calibrate"
ok "the profile's name has the MPI and its version" bash -c "ls $HRUN_DATA/*/lu* $HRUN_DATA/lu* 2>/dev/null | grep -q 'mpich-[34]'"
run hrun --dry-run -app lu -N 400 "$mpich/lu"
status_is 0 "a choice"
out_has "predicted" "has a prediction"
run hrun --dry-run --mca btl self -app lu -N 400 "$mpich/lu"
ok "of which parameters of Open MPI change no times" sh -c '! grep -q "other options" "$1" "$2"' sh .out .err
run hrun --dry-run -app lu -N 400 "$bin/lu"
out_has "no profile" "which Open MPI's has not"
run hrun -app lu -N 300 "$mpich/lu"
status_is 0 "the chosen run"
out=$(ls /dev/shm; litter)
ok "nothing is left" nothing_new "$before"

# What MPICH asks of its process manager beside the start.
cat > more.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "";
    int rank, error;
    MPI_Comm other;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!strcmp(argv[1], "spawn"))
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other, &error);
    if (rank == 0)
        MPI_Publish_name("service", MPI_INFO_NULL, "a-port");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Lookup_name("service", MPI_INFO_NULL, port);
        printf("found %s\n", port);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Unpublish_name("service", MPI_INFO_NULL, "a-port");
    MPI_Finalize();
    return 0;
}
C
mpicc.mpich -w -o more more.c
run hrun -n 2 ./more names
status_is 0 "names are published and looked up"
out_has "found a-port" "and found"
run timeout 300 hrun -n 2 ./more spawn
ok "MPI_Comm_spawn fails ($status), and does not hang" test "$status" != 0 -a "$status" != 124
err_has "MPI_Comm_spawn" "with MPI's own error"
run env PMI_FD=77 PMI_RANK=5 PMI_SIZE=9 PMI_PORT=x:1 PMIX_RANK=3 PMIX_NAMESPACE=outer hrun -n 2 "$mpich/probe" info
out_has "rank 1 of 2" "variables of an outer launcher do no harm"
printf '#!/bin/sh\nexport PMI_RANK=7 PMI_SIZE=8 PMI_FD=99\nexec "%s" "$@"\n' "$mpich/probe" > liar
chmod +x liar
run timeout 300 hrun -n 2 ./liar info
ok "a script that exports PMI_ variables of its own fails ($status)" test "$status" != 0 -a "$status" != 124

# Programs that nobody can start.
echo 'int MPI_Init(int *, char ***); int main(void) { return MPI_Init(0, 0); }' > two.c
if gcc -o two two.c -Wl,--no-as-needed -l:libmpich.so.12 -l:libmpi.so.40 2>.gcc; then
    fails 125 "is linked with two MPIs, MPICH and Open MPI" "a program linked with two MPIs" hrun -n 2 ./two
else
    skip "two MPIs" "there are not two"
fi
other=$(printf '\xb7')
case $(uname -m) in aarch64) other=$(printf '\x3e') name=x86_64 ;; *) name=aarch64 ;; esac
cp "$mpich/probe" foreign
printf '%s' "$other" | dd of=foreign bs=1 seek=18 conv=notrunc 2>/dev/null
fails 126 "is built for $name, and this host is " "a program for another processor" hrun -n 2 ./foreign

# Programs that do not keep to PMI.
cat > garbage.py <<'E'
import os, sys, time
os.write(int(os.environ["PMI_FD"]), eval(sys.argv[1]))
time.sleep(20)
E
for garbage in 'b"cmd=init pmi_version=2 pmi_subversion=0\n"' 'b"x"*9000' 'bytes(range(256))*4' \
    'b"cmd=init pmi_version=1 pmi_subversion=1\ncmd=nosuch rank=-5\n"'; do
    run timeout 300 hrun --mpi mpich -n 2 python3 garbage.py "$garbage"
    status_is 125 "a process that sends $garbage ends the job"
    err_has "hrun: rank " "which is told"
done
ok "nothing is left of all" nothing_new "$before"
printf '#!/bin/sh\nexport PMI_RANK=5 PMI_SIZE=9\nexec %s info\n' "$bin/mpich/probe" >displaced
chmod +x displaced
run timeout 300 hrun --mpi mpich -n 2 ./displaced
ok "a script that sets PMI_RANK itself fails ($status)" test "$status" != 0 -a "$status" != 124

# Engine ssh on this host: what its proxy and its connection must bear.
ssh="hrun -q --engine ssh"
run bash -c "ulimit -n 64; exec timeout 300 $ssh --oversubscribe -n 40 true"
status_is 125 "ssh: more processes than open files are allowed"
err_has "cannot be started: Too many open files" "is said"
err_lacks "was lost" "and no host counts as lost"
run bash -c "yes | timeout 300 $ssh -n 1 sh -c 'exec <&-; sleep 1; echo closed'"
out_has closed "ssh: a process that closes its endless input"
run bash -c "head -c 3000000 /dev/zero | $ssh -n 1 cat | wc -c"
out_has 3000000 "ssh: all of a large input comes back"
run bash -c "$ssh -n 2 yes | head -n 1"
out_has y "ssh: a reader that goes"
cat >unread <<'S'
#!/usr/bin/env python3
import os, socket
s = socket.socket(fileno=int(os.environ["PMI_FD"]))
s.sendall(b"cmd=init pmi_version=1 pmi_subversion=1\n")
while True:
    s.sendall(b"cmd=get_maxes\n" * 1000)
S
chmod +x unread
for e in local ssh; do
    run timeout 100 hrun -q --mpi mpich --engine $e -n 1 ./unread
    status_is 125 "$e: a rank that does not read PMI's answers"
    err_has "rank 0 of ./unread asks PMI and does not read the answers" "is refused"
done
# A reader that has stopped: the second Ctrl-C ends all the same.
mkfifo stopped
sleep 60 <stopped &
reader=$!
env --default-signal=INT "$build/bin/hrun" -q --engine ssh -n 1 yes >stopped 2>/dev/null </dev/null &
pid=$!
sleep 1
kill -INT $pid
sleep 1
kill -INT $pid
for _ in $(seq 2000); do kill -0 $pid 2>/dev/null || break; sleep 0.1; done
ok "ssh: two SIGINT end a run whose reader has stopped" sh -c "! kill -0 $pid 2>/dev/null"
kill -9 $pid 2>/dev/null
wait $pid 2>/dev/null
kill $reader
done_testing
