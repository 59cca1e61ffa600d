#!/bin/bash
# Configurations that failed at a size are not chosen there, unless --config asks for one; the dry run says so.
. "$(dirname "$0")/tap.sh"
two_cores
cd "$tmp" || exit 1

# The more processes, the quicker; but at N = 200 four of them fail.
cat >picky <<'P'
#!/bin/sh
[ "$1" = 200 ] && [ "$2" = 4 ] && { echo "no room for four" >&2; exit 3; }
awk "BEGIN { print \"time:\", $1 ^ 3 * 1e-7 / $2 + 1e-4, \"s\" }"
P
chmod +x picky
run hrun-calibrate --sizes 100,140,200,280 -app lu ./picky '{N}' '{P}'
out_lacks "FAILED" "the table at the end has no choice that failed"
ok "it is another one" grep -Eq '^ *200 +\((1,2|2,1)\)' .out
ok "at other sizes it is the best" grep -Eq '^ *280 +\(2,2\)' .out
run hrun --dry-run -app lu -N 200 ./picky '{N}' '{P}'
status_is 0 "a plan where the best failed"
out_lacks "P = 4" "it is not chosen"
out_has "left out     1 configuration that failed at this size (exit 3): (2,2)" "which is said, with the reason"
run hrun --dry-run --json -app lu -N 200 ./picky '{N}' '{P}'
ok "as JSON, too" python3 -c '
import json, sys
p = json.load(open(sys.argv[1]))
assert p["failed"] == {"count": 1, "configs": "(2,2)", "last": "exit 3"}, p["failed"]
assert p["P"] == 2 and all(c["P"] != 4 for c in p["next_best"]), p' "$tmp/.out"
run hrun --dry-run --config '(2,2)' -app lu -N 200 ./picky '{N}' '{P}'
status_is 0 "--config may ask for it"
out_has "P = 4" "and gets it"
run hrun --dry-run --json -app lu -N 280 ./picky '{N}' '{P}'
ok "at another size nothing failed" python3 -c '
import json, sys
p = json.load(open(sys.argv[1]))
assert p["failed"] is None and p["P"] == 4, p' "$tmp/.out"
run hrun --dry-run -n 4 -app lu -N 200 ./picky '{N}' '{P}'
out_has "P = 4" "as may -n"
done_testing
