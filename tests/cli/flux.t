#!/bin/bash
# flux.t - inside a real Flux instance of this host, where flux is in PATH: its hosts are taken, and runs start there
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/tap.sh"

command -v flux >/dev/null || { echo "1..0 # SKIP no flux in PATH (flux-core)"; exit 0; }
run timeout 60 flux start -s1 true
[ "$status" = 0 ] || { echo "1..0 # SKIP no Flux instance here: $(head -n 1 <<<"$err")"; exit 0; }

# inside CMD...: CMD in an instance of its own.
inside() { run timeout 120 flux start -s1 "$@"; }

inside hrun --show-cluster
out_has "(Flux instance)" "the hosts are those of the instance"
for engine in local mpirun; do
    inside hrun -q --oversubscribe -n 2 --engine $engine "$bin/probe" info ring
    status_is 0 "engine $engine: two ranks"
    out_has "ring good" "engine $engine: they are one world"
done
done_testing
