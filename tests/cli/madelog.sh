# madelog.sh - made-up measurements of lu on a cluster; sourced after tap.sh by tests that have written its file
# $tmp/cluster.yaml
#
#   put <<<LINES        measurements into the logs, as madelog.py has them, each later than those before
#   field EXPRESSION    of p, the plan that $out holds as JSON
run hrun --cluster "$tmp/cluster.yaml" --show-cluster --json
printf '%s' "$out" >"$tmp/shown"
serial=0
put() {
    python3 "$top/tests/cli/madelog.py" "$tmp/shown" $serial || exit 1
    serial=$((serial + 1000))
}
field() {
    python3 -c 'import json, sys; p = json.loads(sys.argv[1]); print(eval(sys.argv[2]))' "$out" "$1"
}
