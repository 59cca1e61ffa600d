#!/bin/bash
# hrun-calibrate --budget, --runs, --target-error: chooses runs, says why it ended, goes on where it was.
. "$(dirname "$0")/tap.sh"
cd "$tmp" || exit 1
lu=$bin/lu
some="--sizes 60,100,140,200 -app lu"
records() { cat "$HRUN_DATA"/profiles/lu/*.log | wc -l; }

run hrun-calibrate $some --budget 1m --dry-run "$lu"
status_is 0 "the first runs are listed"
out_has "screen" "with their stage"
out_has "the later ones depend on the times of these" "the others cannot be known"
ok "nothing is stored by a dry run" test ! -e "$HRUN_DATA"

before=$(litter)
run hrun-calibrate $some --runs 10 --seed 3 "$lu"
status_is 0 "ten runs are made"
err_has "--seed 3" "their order can be had again"
err_has "[10/10]" "the last of them"
err_has "all --runs are made; 10 runs in" "why it ended is said"
out_has "runs of it" "there is a table of the best configurations"
out_has "npt/nnls" "and the models are fitted"
ok "each run is in the log" test "$(records)" = 10
ok "nothing is left behind" test "$before" = "$(litter)"

run hrun-calibrate $some --runs 2 "$lu"
status_is 0 "two more"
err_has "10 measurements are there already" "those of before are known"
ok "and kept" test "$(records)" = 12

run hrun-calibrate $some --target-error 100% --budget 5m "$lu"
status_is 0 "a target that is easily reached"
err_has "the target of --target-error is reached" "ends it"

run hrun --dry-run -app lu -N 180 "$lu"
status_is 0 "hrun chooses by what was measured"
out_has "predicted" "with a prediction"

run hrun-calibrate $some --budget 1m -r 2 "$lu"
status_is 125 "repetitions are the full grid's"
err_has "repeated where their spread asks for it" "which is said"
run hrun-calibrate $some --budget 1m --full-grid "$lu"
status_is 125 "either the full grid or chosen runs"
run hrun-calibrate $some --full-grid --dry-run "$lu"
status_is 0 "the full grid has its name"
out_has "runs to make" "and is as before"
done_testing
