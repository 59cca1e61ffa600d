#!/bin/bash
# A short, deterministic round of every fuzz target; `make fuzz` runs more.
. "$(dirname "$0")/tap.sh"
for f in "$build"/tests/fuzz/fuzz_*; do
    case $f in *.o | *.d) continue ;; esac
    run "$f" -n 500 -s 1
    status_is 0 "$(basename "$f"): 500 rounds"
done
done_testing
