#!/bin/bash
# Programs in containers: a script that puts folders of this host into a root of its own stands for the container's.
. "$(dirname "$0")/tap.sh"
two_cores
if ! unshare -m true 2>/dev/null; then
    skip "programs in containers" "no mount namespaces here"
    done_testing
    exit
fi
cd "$tmp" || exit 1
mkdir root
cat >enter <<'E2'
#!/bin/bash
# enter FOLDER... -- PROGRAM ARGUMENT...: with the system's folders, as the image, and these of the host
exec unshare -m bash -c '
    root=$1; shift
    mount -t tmpfs none "$root"
    for d in /usr /lib /lib64 /bin /etc /proc /sys /dev; do
        [ ! -d "$d" ] || { mkdir -p "$root$d"; mount --rbind "$d" "$root$d"; }
    done
    while [ "$1" != -- ]; do mkdir -p "$root$1"; mount --rbind "$1" "$root$1"; shift; done
    shift
    [ -z "$OWN_SHM" ] || mount -t tmpfs none "$root/dev/shm"
    mkdir -p "$root/tmp" "$root/image"
    exec chroot "$root" "$@"' bash "$ROOT" "$@"
E2
chmod +x enter
export ROOT=$tmp/root OWN_SHM=
before=$(litter)

for e in local mpirun; do
    run hrun --engine $e --mpi openmpi -x A=7 -n 2 ./enter "$build" "$TMPDIR" -- "$bin/probe" info env=A ring big
    status_is 0 "Open MPI in a container, engine $e"
    out_has "rank 1 of 2 cpus 1 cwd /" "the processes are bound there, and one world"
    out_has "rank 1 A=7" "the environment reaches the inside"
    out_has "ring good" "and so does shared memory"
    run hrun --engine $e --mpi openmpi -n 2 ./enter "$build" "$TMPDIR" -- "$bin/probe" barriers=1 @1exit=7
    status_is 7 "its status comes out"
done
run hrun --mpi openmpi --report-bindings -n 2 ./enter "$build" "$TMPDIR" -- "$bin/probe"
err_has "rank 1 is bound to PUs 1, as planned" "--report-bindings"
run hrun --mpi openmpi -n 1 ./enter "$build" "$TMPDIR" -- "$bin/probe" app ring : \
    -n 1 ./enter "$build" "$TMPDIR" -- "$bin/probe" app ring
status_is 0 "two containers in one job"
out_has "rank 1 is probe, program 1" "each with its own words"
run hrun --mpi openmpi --mca btl self,tcp -n 2 unshare -p -f --kill-child "$bin/probe" ring exit=3
status_is 3 "Open MPI in PID namespaces of their own, by the network"
if [ -x "$bin/mpich/probe" ]; then
    run hrun --mpi mpich -x A=7 -n 2 ./enter "$build" "$TMPDIR" -- "$bin/mpich/probe" info env=A ring big
    status_is 0 "MPICH in a container"
    out_has "rank 1 of 2 cpus 1 cwd /" "bound, one world"
    out_has "rank 1 A=7" "with the environment"
    # hrun sees the library, or MPI_Init fails first.
    run hrun -n 2 ./enter "$build" "$TMPDIR" -- "$bin/mpich/probe" sleep=20
    case "$status $err" in
        125*"Say --mpi mpich"* | [1-9]*with_--mpi_mpich*) good=1 ;;
        *) good=0 ;;
    esac
    ok "MPICH without --mpi does not start" test $good = 1
    run env OWN_SHM=1 hrun --mpi mpich -n 2 ./enter "$build" "$TMPDIR" -- "$bin/mpich/probe" ring
    err_has "unable to allocate shared memory" "MPICH needs the host's /dev/shm"
    fails 125 "does not speak PMI-1" "an environment that does not reach the inside" \
        hrun --mpi mpich -n 2 ./enter "$build" -- /usr/bin/env -i "$bin/mpich/probe"
else
    skip "MPICH in a container" "mpicc.mpich is not there"
fi
ok "nothing is left" nothing_new "$before"
done_testing
