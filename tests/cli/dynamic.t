#!/bin/bash
# Programs of Open MPI that publish names, connect to each other and spawn, and clients of PMIx that ask and log, under
# hrun's own server.
. "$(dirname "$0")/tap.sh"
cd "$tmp" || exit 1
cp "$bin/dynamic" dynamic
before=$(litter)

run timeout -k 9 60 hrun --oversubscribe -n 3 ./dynamic names
status_is 0 "names"
ok "are published, found and taken back" test "$(sort <<<"$out")" = "lookup MPI_SUCCESS equal
lookup of another MPI_ERR_NAME
lookup of what is gone MPI_ERR_NAME
publish MPI_SUCCESS
publish again MPI_SUCCESS
unpublish MPI_SUCCESS"
run timeout -k 9 60 hrun --oversubscribe -n 2 ./dynamic connect
status_is 0 "accept and connect"
out_has "sum 1" "and what is sent arrives"
run timeout -k 9 60 hrun --oversubscribe -n 2 --mca pmix_base_exchange_timeout 1 ./dynamic alone
status_is 0 "nobody connects"
out_has "accept MPI_ERR_" "which ends after Open MPI's own timeout"

cp "$bin/services" services
run timeout -k 9 60 hrun --oversubscribe -n 2 ./services
status_is 0 "a client of PMIx"
ok "gets its answers at once" test "$out" = "log SUCCESS
mail NOT-SUPPORTED
namespaces SUCCESS mine
status SUCCESS good
pmix.qry.ptable SUCCESS 0 me connected services 1 connected services
pmix.qry.lptable SUCCESS 0 me connected services 1 connected services
keys SUCCESS listed
unknown NOT-FOUND
of no job NOT-FOUND
one of two PARTIAL SUCCESS"
ok "and what it logs is printed" test "$err" = words
run timeout -k 9 60 hrun --oversubscribe -n 2 ./services 100000
ok "also a megabyte" test "$(md5sum <"$tmp/.out")" = "$(for ((i = 0; i < 100000; i++)); do printf '%8d\n ' $i; done |
    sed '$d' | md5sum)"
run timeout -k 9 60 hrun --oversubscribe --tag-output -n 2 ./services
err_has "[0]<stderr>: words" "with the tag of its rank"

# spawned WHAT STATUS TEXT OPTION... PROGRAM WORD...: sorted output and status of a run that must not hang.
spawned() {
    local what=$1 status=$2 text=$3
    shift 3
    run timeout -k 9 90 hrun -q "$@"
    status_is "$status" "$what: the status"
    ok "$what: what each process says" test "$(sort <<<"$out")" = "$(sort <<<"$text")"
}
three="0 sum 3
0 spawn MPI_SUCCESS
1 sum 3
1 spawn MPI_SUCCESS
child 0 of 2 program 0 sum 200 words 0  variable none
child 1 of 2 program 0 sum 200 words 0  variable none"
hows=(--oversubscribe)
[ "$(nproc)" -lt 2 ] || hows+=("--host localhost:4")        # two processes start, and two places are left
for how in "${hows[@]}"; do
    spawned "two spawn two, three times, $how" 0 "$three
$three
$three" $how -n 2 ./dynamic spawn 2
done
one="child 0 of 1 program 0 sum 100 words 0  variable none"
spawned "each spawns one for itself" 0 "0 spawn MPI_SUCCESS
0 sum 1
1 spawn MPI_SUCCESS
1 sum 1
$one
$one" --oversubscribe -n 2 ./dynamic self
spawned "two programs" 0 "spawn MPI_SUCCESS
child 0 of 3 program 0 sum 100 words 1 one variable 7
child 1 of 3 program 0 sum 100 words 1 one variable 7
child 2 of 3 program 1 sum 100 words 2 two variable none" --oversubscribe -n 1 ./dynamic two
run timeout -k 9 60 hrun -q --oversubscribe -n 1 ./dynamic exit 3
status_is 3 "a child that fails ends the job"
err_has "rank 1 exited with status 3" "is told by its number behind the job's own"
run timeout -k 9 60 hrun -q --oversubscribe --tag-output -n 1 ./dynamic self
out_has "[1]<stdout>: child 0 of 1" "and so its lines are tagged"

# What is refused is told at once, to all ranks that take part.
none="0 spawn MPI_ERR_SPAWN
1 spawn MPI_ERR_SPAWN"
spawned "no free place" 0 "0 spawn MPI_ERR_SPAWN" --host localhost:1 -n 1 ./dynamic self
err_has "0 of 1 places of this host are free" "is said"
spawned "a wish that is not served" 0 "$none" --oversubscribe -n 2 ./dynamic info map_by core
err_has "key 'map_by' of its MPI_Info is not served" "is named"
spawned "another host" 0 "$none" --oversubscribe -n 2 ./dynamic info host elsewhere
err_has "'elsewhere' is another" "is named"
spawned "no such program" 0 "$none" --oversubscribe -n 2 ./dynamic spawn 1 ./none
err_has "MPI_Comm_spawn of ./none is refused: ./none: there is no such program" "is named"
run timeout -k 9 60 hrun -q --oversubscribe -n 1 ./dynamic spawn 1000000 ./dynamic
err_has "at most 65536 can be started" "too many processes are refused"
spawned "a child that does not call MPI_Init" 0 "$none" --oversubscribe -n 2 ./dynamic spawn 1 /bin/true
err_has "rank 2, which MPI_Comm_spawn has started, has ended without calling MPI_Init" "is told"
spawned "engine mpirun" 0 "0 spawn MPI_SUCCESS
0 sum 1
$one" --engine mpirun --oversubscribe -n 1 ./dynamic self
run timeout -k 9 60 hrun --engine mpirun -n 1 sh -c 'exit 50'
err_has "rank 0 ended with status 50, the status of an MPI_Comm_spawn that finds no free place: start hrun with --over" \
    "its refusal names the option"
run timeout -k 9 60 hrun --oversubscribe -n 2 ./services spawn
out_has "spawn of /bin/true SUCCESS" "a client of PMIx spawns"

ok "nothing is left" nothing_new "$before"
done_testing
