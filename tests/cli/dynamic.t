#!/bin/bash
# Programs of Open MPI that publish names and connect to each other, and clients of PMIx that ask and log, under hrun's
# own server.
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

ok "nothing is left" nothing_new "$before"
done_testing
