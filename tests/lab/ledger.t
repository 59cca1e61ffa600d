#!/bin/bash
# A ledger on a shared file system: runs over hosts that are started from different hosts, under different names of
# them.
. "$(dirname "$0")/lib.sh"

lab_up 'f1 40 0 fast' 'f2 40 1 fast' 's1 20 0 slow'
mkdir -m 1777 "$tmp/ledger"
export HRUN_LEDGER=$tmp/ledger
held() { on_head hrun --show-cluster=users --json | python3 -c "import json, sys; print(len(json.load(sys.stdin)['runs']))"; }
is_held() { [ "$(held)" = "$1" ]; }

background one "$lab_tool" head hrun -q --host f1,f2,s1 -n 2 sh -c "while [ ! -e '$tmp/end' ]; do sleep 0.1; done"
ok "a run over two hosts is entered" await 30 is_held 1
run on_head hrun --show-cluster=users
out_has " f1:" "with the first host"
out_has " f2:" "and the second"
run on_head hrun --host f1,f2,s1 --dry-run true
out_has "2 of 2 PEs of lab-fast in use by root since" "the next one sees it"
run on_head hrun -q --host f1,f2,s1 -n 1 hostname
ok "and takes the third" test "$status $out" = "0 s1"
run on f1 hrun --no-wait --level core true
status_is 125 "a run that is started on another host sees it too"
err_has "the PEs that this run needs are in use" "where nothing is left"
background two "$lab_tool" exec f2 hrun -q -n 1 hostname
ok "one waits there" await 30 is_held 2
touch "$tmp/end"
finish one 30
status_is 0 "the first ends"
finish two 30
ok "then the second has its turn" test "$status $out" = "0 f2"
ok "nothing is left" test "$(ls "$tmp/ledger")" = hrun.locks
done_testing
