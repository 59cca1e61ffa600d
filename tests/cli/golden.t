#!/usr/bin/env bash
# Core kinds of many machines, and what hrun starts on them without a profile: tests/data/topo/GOLDEN
. "$(dirname "$0")/tap.sh"

data=${HRUN_TEST_DATA:-tests/data}/topo
run "$data/machines.py" golden
status_is 0 "a table of all machines"
printf '%s\n' "$out" >"$tmp/golden"
run diff -u "$data/GOLDEN" "$tmp/golden"
status_is 0 "it is GOLDEN; $data/README says how to make that anew"

done_testing
