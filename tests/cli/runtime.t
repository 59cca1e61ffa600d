#!/bin/bash
# libhrun-mpi: the example of libhrun(3), as it stands there, compiled against an installed hrun and run.
. "$(dirname "$0")/tap.sh"
two_cores
dest=$tmp/dest
run env -u MAKEFLAGS -u MAKELEVEL make -s --no-print-directory install \
    DESTDIR="$dest" PREFIX=/usr SANITIZE="${HRUN_SANITIZE:-}"
status_is 0 "make install"
for f in lib/libhrun-mpi.a lib/libhrun-mpi.so include/hrun-mpi.h lib/pkgconfig/hrun-mpi.pc lib/hrun/hrun-netbench; do
    ok "$f is installed" test -s "$dest/usr/$f"
done
sed -n '/^\.\\" The program below .*runtime\.t/,/^\.Ed/p' man/libhrun.3 | sed '/^\./d; s/\\e/\\/g' >"$tmp/network.c"
cd "$tmp" || exit 1
ok "the manual has a program" grep -q hrun_measure_network network.c
export PKG_CONFIG_PATH=$dest/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$dest
san=${HRUN_SANITIZE:+-fsanitize=$HRUN_SANITIZE}
# shellcheck disable=SC2046,SC2086
run mpicc.openmpi $san -Wall -Wextra -Werror -o network network.c $(pkg-config --cflags --libs hrun hrun-mpi)
status_is 0 "it builds with hrun.pc and hrun-mpi.pc"
export LD_LIBRARY_PATH=$dest/usr/lib${LD_LIBRARY_PATH+:$LD_LIBRARY_PATH}
export ASAN_OPTIONS=detect_leaks=0  # Open MPI's own
run mpirun.openmpi --oversubscribe --mca mpi_yield_when_idle 1 -np 3 ./network
status_is 0 "and runs"
ok "it predicts at six sizes" test "$(grep -c ' bytes: *[0-9][0-9.]* us (' .out)" = 6
ok "more bytes take longer" awk '{ if ($3 < last) bad = 1; last = $3 } END { exit bad || !(last > 0) }' .out
run mpirun.openmpi -np 1 ./network
status_is 1 "one process alone"
err_has "the network cannot be measured" "has no network"
# On simulated hosts, as the manual builds it there.
if command -v smpicc >/dev/null && [ -x "$build/lib/hrun/hrun-netbench-smpi" ] && [ -z "${HRUN_SANITIZE:-}" ]; then
    printf '%s\n' "<?xml version='1.0'?>" '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">' \
        '<platform version="4.1"><zone id="all" routing="Full">' \
        '<cluster id="N" prefix="new-" radical="0-3" suffix="" speed="2Gf" bw="125MBps" lat="50us"/>' \
        '</zone></platform>' >now.xml
    # shellcheck disable=SC2046,SC2010
    run smpicc -DHRUN_SMPI -D_GNU_SOURCE -I"$OLDPWD/calib/mpi" -o simulated network.c \
        $(ls "$OLDPWD"/calib/mpi/*.c | grep -v -e netbench -e probe) $(pkg-config --cflags --libs hrun) -lm
    status_is 0 "it builds with smpicc"
    run hrun -q --timeout 60 --platform now.xml --smpi smpi/simulate-computation:no -n 4 ./simulated
    ok "and predicts on simulated hosts" test "$(grep -c ' bytes: *[0-9][0-9.]* us (' .out)" = 6
else
    skip "simulated hosts" "SimGrid is not installed (libsimgrid-dev)"
fi
ok "the static library shows nothing but what its header declares" test \
    "$(nm "$dest/usr/lib/libhrun-mpi.a" | awk '$2 ~ /^[TDB]$/ { print $3 }' | sort | paste -sd' ')" = \
    "hrun_measure_hosts hrun_measure_network"
done_testing
