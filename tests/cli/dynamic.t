#!/bin/bash
# Programs of Open MPI that publish names and connect to each other, under hrun's own server.
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

ok "nothing is left" nothing_new "$before"
done_testing
