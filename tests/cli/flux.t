#!/bin/bash
# flux.t - engine flux inside a real Flux instance of this host, where flux is in PATH
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/tap.sh"

command -v flux >/dev/null || { echo "1..0 # SKIP no flux in PATH (flux-core)"; exit 0; }
run timeout 60 flux start -s1 true
[ "$status" = 0 ] || { echo "1..0 # SKIP no Flux instance here: $(head -n 1 <<<"$err")"; exit 0; }

# inside CMD...: CMD in an instance of its own. Two ranks, however many cores there are.
inside() { run timeout 120 flux start -s1 "$@"; }
hrun() { inside hrun -q --oversubscribe -n 2 "$@"; }
# What is left of a job is gone within 10 s.
quiet() { for ((k = 0; k < 100; k++)); do pgrep -f "$1" >/dev/null || return 0; sleep 0.1; done; return 1; }

inside hrun --show-cluster
out_has "(Flux instance)" "the hosts are those of the instance"
out_has "-flux-" "engine flux is taken by itself"
inside hrun --dry-run -n 1 "$bin/probe"
out_has "would run: flux run --nodes=1 --exclusive --tasks-per-node=1" "the command to type"

for program in probe mpich/probe; do
    probe=$bin/$program
    [ -x "$probe" ] || { skip "$program" "it is not built"; continue; }
    hrun --report-bindings "$probe" info ring
    status_is 0 "$program: two ranks"
    out_has "ring good" "$program: they are one world"
    err_has "rank 1 is bound to PUs" "$program: each is bound by the shim"
    hrun "$probe" @1:exit=43 sleep=60
    status_is 43 "$program: the status of the rank that fails"
    err_has "rank 1 exited with status 43" "$program: which is named"
    hrun "$probe" @0:kill=11 sleep=60
    status_is 139 "$program: a signal"
    err_has "rank 0 was killed by signal 11" "$program: which is named"
    hrun "$probe" @1:abort=42 sleep=60
    status_is 42 "$program: MPI_Abort"
    hrun "$probe" @1:nofinalize spin
    status_is 1 "$program: a rank without MPI_Finalize"
    hrun --timeout 1 "$probe" sleep=60
    status_is 124 "$program: a time limit"
    hrun --tag-output "$probe" out=1 err=1
    out_has "[1]<stdout>: rank 1 line 0" "$program: tags"
    err_has "[0]<stderr>: rank 0 line 0" "$program: tags of standard error"
    hrun "$probe" daemon=86399
    status_is 0 "$program: a daemon is left behind"
    ok "$program: and ended" quiet "$probe daemon=86399"
    # shellcheck disable=SC2016
    inside bash -c 'echo text | hrun -q --oversubscribe -n 2 "$1" stdin' - "$probe"
    out_has "text" "$program: rank 0 reads standard input"
    # shellcheck disable=SC2016
    inside bash -c 'hrun -q --oversubscribe -n 2 "$1" trap sleep=2 & sleep 1.5; kill -TERM $!; wait $!' - "$probe"
    out_has "rank 1 signal 15" "$program: a signal reaches the ranks"
done

inside hrun -q -n 1 sh -c 'printf half >&2; printf "\001\377\n"'
[ "$err" = half ]; tap_report $((!$?)) "standard error is the program's alone"
[ "$(od -An -tx1 <"$tmp/.out")" = " 01 ff 0a" ]; tap_report $((!$?)) "bytes are kept"
inside bash -c 'flux run -N1 sleep 60 & sleep 1; hrun -q -n 1 --timeout 4 true'
status_is 124 "a job that waits for its hosts"
err_has "the job waits for its hosts" "... is told"
done_testing
