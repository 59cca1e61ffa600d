#!/bin/bash
# learn.t - what hrun learns from its runs: drift of the machines, --explore, and logs of thousands of runs
. "$(dirname "$0")/tap.sh"
cd "$tmp" || exit 1

cat >"$tmp/cluster.yaml" <<'Y'
subclusters:
  - name: new
    hosts: 127.0.0.[2-3]
    topology: "[numa] package:1 core:4 pu:1"
  - name: old
    hosts: 127.0.1.[1-24]
    topology: "[numa] package:1 core:2 pu:1"
Y
. "$top/tests/cli/madelog.sh"
plan() {
    run hrun --cluster "$tmp/cluster.yaml" --dry-run -app lu -N 600 "$@" "$bin/lu"
}
nights() { # COUNT CONFIG FACTOR: users' runs with noise of 1 %
    put <<<"$(python3 -c "for i in range($1): print('night $2 600', $3 + 0.01 * (i % 3 - 1))")"
}

put <<<$'alone new 2\nalone old 24'
run hrun-calibrate fit lu
status_is 0 "profiles"
plan --json
best=$(field '"(%s)" % ",".join("%d,%d" % (c["pes"], c["procs_per_pe"]) for c in p["config"])')
ok "nothing has changed yet, nothing is explored" test "$(field 'p["drift"], p["explores"]')" = "([], None)"

# ---- drift
on=1,1,20,1
nights 12 "($on)" 1.03
plan --config "$on"
out_has "corrected " "runs correct the prediction"
out_lacks "machine has changed" "that they are 3 % off all the time is no drift"
nights 4 "($on)" 1.2
plan
out_lacks "machine has changed" "nor are four runs"
nights 2 "($on)" 1.2
plan
out_has "the machine has changed: the last 6 runs that sub-cluster old limits took 1" "six are, by how much is said"
out_has "to measure it again: hrun-calibrate --again -app lu --cluster" "with the command"
plan --json
ok "also to programs" test "$(field '[(d["subcluster"], d["runs"], 1.1 < d["factor"] < 1.25) for d in p["drift"]]')" = \
    "[('old', 6, True)]"
nights 8 "($on)" 1.03
plan
out_lacks "machine has changed" "it ends when runs are as before"
nights 12 "($on)" 0.8
plan
out_has "less time than those" "machines become quicker, too"
python3 - "$HRUN_DATA"/profiles/lu/*.log <<'P'
import sys, zlib
for name in sys.argv[1:]:
    r = open(name).read().splitlines()[0].split("\t")[0]
    import json
    r = json.loads(r)
    r.update(ok=False, time_s=0, status="anew", date="2026-11-21T10:00:00Z")
    text = json.dumps(r, sort_keys=True, separators=(",", ":"))
    open(name, "a").write("%s\t%08x\n" % (text, zlib.crc32(text.encode())))
P
plan
out_lacks "machine has changed" "measuring again ends it"

# ---- --explore: a made-up truth, in which configurations take up to 2.5 % more or less than their model says
for against in "--config $best" "-n 4" --no-record; do
    fails 125 "contradict each other" "--explore and $against" \
        hrun --cluster "$tmp/cluster.yaml" -app lu -N 600 --explore 5% $against "$bin/lu"
done
fails 125 "a percentage above 0" "--explore -1" hrun --cluster "$tmp/cluster.yaml" -app lu -N 600 --explore -1 "$bin/lu"
rm -rf "$HRUN_DATA"
serial=0
put <<<$'alone new 2\nalone old 24'
run hrun-calibrate fit lu
plan --explore 5%
out_lacks explores "the first run is the best predicted one"
out_has "tries nothing: no run at this N is known, so the best predicted configuration runs first" "and it says why"
out_has "not run at this one" "the size is new to it"
plan --config "(1,1,5,1)"
out_has "rests on     models alone: this configuration was never run" "and others were never run at all"
nights 1 "$best" 1
plan --explore 5%
out_has "may be as quick as the best known, $best" "then another one is tried, it is said"
out_has "predicted loss" "with what it costs"
out_has "such are left" "and how many there are"
for k in 1 2 3 4; do
    plan --explore 5% --top $k
    ok "of $k the one that is tried is no alternative to itself" \
        test "$(grep -cE '^  next best *$|^  next best.* \+0\.0 %' <<<"$out")" = 0
done
plan --explore 5% --json
tried=$(field '"(%s)" % ",".join("%d,%d" % (c["pes"], c["procs_per_pe"]) for c in p["config"])')
plan --json
ok "without --explore the best is run" test "$(field 'p["explores"]')" = None
put <<<"crash $tried 600"
plan --explore 5% --json
next=$(field 'bool(p["explores"]) and "(%s)" % ",".join("%d,%d" % (c["pes"], c["procs_per_pe"]) for c in p["config"])')
ok "after a failure another one is tried" test "$next" != False -a "$next" != "$tried"
cat >"$tmp/nights.py" <<'P'
import json, math, random, subprocess, sys
sys.path.insert(0, sys.argv[1])
import madelog
random.seed(4)
logs = madelog.Logs(sys.argv[2], 2000)
N, plan, truth = 600, sys.argv[3:], {}
def actual(config):
    c = tuple(config)
    if c not in truth:
        truth[c] = math.exp(random.Random(str(c)).uniform(-0.025, 0.025)) * logs.true_time(config, N)
    return truth[c]
def ask(*more):
    p = json.loads(subprocess.run(plan[:-1] + list(more) + plan[-1:], stdout=subprocess.PIPE, check=True).stdout)
    flat = lambda config: [x for c in config for x in (c["pes"], c["procs_per_pe"])]
    return p, flat(p["config"])
first, times, told = None, [], 0
for night in range(120):
    p, config = ask("--explore", "5%")
    first = first or config
    if p["explores"]:
        told += 1
        assert p["explores"]["predicted_loss"] <= 0.05
    actual(config)
    factor = truth[tuple(config)] / logs.true_time(config, N)
    logs.put(config, N, factor * math.exp(random.gauss(0, 0.02)) * (2 if random.random() < 0.05 else 1), origin="run")
    times.append(truth[tuple(config)])
p, chosen = ask("--top", "64")
within = [[x for c in v["config"] for x in (c["pes"], c["procs_per_pe"])] for v in p["next_best"]
          if v["predicted_s"] <= 1.05 * p["predicted_s"]]
best = min(actual(c) for c in within + [chosen])
print("%d nights, %d of them explore; %d configurations within 5 %%; the last choice is %.2f %% from the best of them, the "
      "first one was %.2f %%; mean loss of all nights %.2f %%" %
      (len(times), told, len(within) + 1, 100 * (actual(chosen) / best - 1), 100 * (actual(first) / best - 1),
       100 * (sum(times) / len(times) / best - 1)))
assert actual(chosen) <= 1.01 * best and sum(times) / len(times) <= 1.025 * best
assert actual(first) > 1.01 * best and told > 5
P
run python3 "$tmp/nights.py" "$top/tests/cli" "$tmp/shown" hrun --cluster "$tmp/cluster.yaml" --dry-run --json -app lu \
    -N 600 "$bin/lu"
status_is 0 "repeated runs find the best: $out"

# ---- the order: what is known less well stands behind, which is shown
rm -rf "$HRUN_DATA"
serial=0
put <<<$'alone new 2\nalone old 24'
run hrun-calibrate fit lu
nights 12 "$best" 1.003
plan --top 4
ok "what looks quicker than the choice is told to be less certain" \
    grep -qE '  -[0-9.]+ % \(less certain: ranked as \+[0-9.]+ %\)' "$tmp/.out"
plan --top 4 --json
ok "to programs, too" test "$(field 'p["next_best"][0]["predicted_s"] < p["predicted_s"] < p["next_best"][0]["ranked_s"]')" = True
run hrun-calibrate report lu -N 600 -o "$tmp/lu.html"
ok "and in a report" test "$(sed -n 's:.*id="data">\(.*\)</script>.*:\1:p' "$tmp/lu.html" | python3 -c 'import json, sys
first, *others = json.load(sys.stdin)["plan"]["choices"]
print(any(v["doubted"] and v["predicted_s"] < first["predicted_s"] < v["ranked_s"] for v in others))')" = True

# ---- real runs: a program of one's own whose time is that of a table
mkdir "$tmp/profiles"
export HRUN_PROFILE_PATH=$tmp/profiles:$apps
cat >"$tmp/profiles/table.yaml" <<'Y'
name: table
rule: "P >= 1"
procs_per_pe: [1, 2, 3, 4]
terms: {np: ["N/P", "N", "1"], n: ["N", "1"]}
args: ["{N}", "{P}"]
time: {match: '^time: (.*)$'}
sizes: [100, 200, 400]
Y
cat >"$tmp/table" <<'P'
#!/bin/sh
# A tenth is divided among processes; where there is a file "broken" it fails but with 4 of them.
[ -e "$(dirname "$0")/broken" ] && [ "$2" != 4 ] && exit 3
[ "${PMIX_RANK:-0}" = 0 ] && echo "time: $(awk "BEGIN { print $1 * (0.9 + 0.1 / $2) }")"
exit 0
P
chmod +x "$tmp/table"
one=(--host localhost -app table -N 300)
runs() { cat "$HRUN_DATA"/profiles/table/*.log | grep -c '"origin":"run"'; }
run hrun-calibrate --full-grid --host localhost --level package --pes 1 -r 1 -app table "$tmp/table"
status_is 0 "a profile of this machine"
run hrun "${one[@]}" --level package --explore 5% "$tmp/table"
status_is 0 "a run"
err_lacks explores "the first run is the best predicted one"
err_lacks "tries nothing" "which is not talked of"
: >"$tmp/broken"
run hrun "${one[@]}" --level package --explore 5% "$tmp/table"
err_has "hrun: explores (" "then standard error says what is tried"
err_has "may be as quick as the best known, (1,4)" "and in place of what"
status_is 3 "it fails"
err_has "this was a trial of --explore" "which is said to be a trial"
run hrun "${one[@]}" --level package --explore 5% "$tmp/table"
ok "what fails is recorded, and not tried again" python3 -c '
import glob, json, sys
runs = [json.loads(l.split("\t")[0]) for f in glob.glob(sys.argv[1]) for l in open(f)]
failed = [r["config"] for r in runs if r["origin"] == "run" and r["status"] == "exit 3"]
assert failed and len(failed) == len(set(failed)), failed' "$HRUN_DATA/profiles/table/*.log"
rm "$tmp/broken"
n=$(runs)
run hrun "${one[@]}" --level package --no-record "$tmp/table"
ok "a run with --no-record is not recorded" test "$n" = "$(runs)"

# ---- logs of thousands of runs are read once
rm -rf "$HRUN_DATA"
serial=0
put <<<$'alone new 2\nalone old 24'
run hrun-calibrate fit lu
put <<<"$(for ((i = 0; i < 3000; i++)); do echo "night $best $((i % 2 ? 600 : 601 + i)) 1.0$((i % 10))"; done)"
plan
status_is 0 "with 3,000 runs"
first=$out
ok "what tells of them is remembered" test -s "$(ls "$HRUN_DATA"/profiles/lu/*.recent | head -n 1)"
for log in "$HRUN_DATA"/profiles/lu/*.log; do
    [ -e "${log%.log}.recent" ] && dd if=/dev/zero of="$log" bs=64k count=10 conv=notrunc 2>/dev/null
done
plan
ok "the logs are not read again: a plan is the same when they are damaged since" \
    test "$(sed 's/  *[0-9.]* [mu]*s$//' <<<"$out")" = "$(sed 's/  *[0-9.]* [mu]*s$//' <<<"$first")"

# ---- a command that nobody calibrated: quick with one process, and refused by the program with more than two
mkdir "$tmp/command"
cd "$tmp/command" || exit 1
cat >mycode <<'P'
#!/bin/sh
p=${OMPI_COMM_WORLD_SIZE:-1}
[ "$p" -gt 2 ] && exit 4
[ "$p" = 1 ] && exec sleep 0.1
exec sleep 1.1
P
chmod +x mycode
echo deck >deck
c="hrun --level core"
usual=$($c --dry-run --json ./mycode deck | python3 -c 'import json, sys; print(json.load(sys.stdin)["P"])')
if [ "$usual" = 2 ]; then
    run $c --explore 100% ./mycode deck
    err_has "nothing is known of ./mycode yet" "the first run of a command"
    run $c --explore 100% ./mycode deck
    err_has "expected to take" "the second one is the default, too"
    for ((i = 0; i < 8; i++)); do
        $c --explore 100% ./mycode deck 2>>said
    done
    ok "then others are tried" grep -q "explores (.*), which may be quicker than the best known, (2,1)" said
    ok "and what a trial brought is said" grep -q "it took .* less than the best known" said
    ok "no failed one is tried twice" test "$(grep explores said | sort | awk '{ print $3 }' | grep -vF "(1,1)" | uniq -d)" = ""
    run $c --explore 5% --dry-run --json ./mycode deck
    ok "the best is found" test "$(field 'p["learns"]["best"]')" = "(1,1)"
    run $c --dry-run --json ./mycode deck
    ok "which is run with --explore alone" test "$(field 'p["P"], p["learns"]')" = "(2, None)"

    # The user's own options.
    mkdir -p "$tmp/config/hrun"
    export XDG_CONFIG_HOME=$tmp/config
    mine=$tmp/config/hrun/options.yaml
    echo "explore: 5%" >"$mine"
    run $c --dry-run --json ./mycode deck
    ok "options.yaml says it always" test "$(field 'p["learns"]["best"]')" = "(1,1)"
    for against in "--explore 0" "-n 2" "--config (2,1)" --no-record "--map-by core"; do
        run $c --dry-run --json $against ./mycode deck
        ok "$against goes before it" test "$status $(field 'p["learns"]')" = "0 None"
    done
    run $c -q true
    status_is 0 "what nothing is learnt of runs all the same"
    echo "explore: much" >"$mine"
    fails 125 "options.yaml:1:10: explore much: a percentage above 0" "a bad value has a place" $c true
    printf 'quiet: true\nexplroe: 5%%\n' >"$mine"
    fails 125 "options.yaml:2:1: unknown key 'explroe'" "so has an unknown key" $c true
    for text in "" "# explore: 5%"; do
        echo "$text" >"$mine"
        run $c -q true
        status_is 0 "a file that says nothing: '$text'"
    done
    echo "explroe: 5%" >"$mine"
    run hrun --version
    status_is 0 "which is not read where nothing is run"
    printf 'quiet: true\ntimeout: 1h\n' >"$mine"
    rm -rf "$HRUN_DATA/problems"
    run $c ./mycode deck
    ok "-q and --timeout" test "$status$err" = 0
    unset XDG_CONFIG_HOME
else
    skip "learning of a command" "it wants two cores"
fi
done_testing
