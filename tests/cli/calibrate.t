#!/bin/bash
# hrun-calibrate --full-grid: measures, stores at once, goes on where it was, fits, shows; then hrun predicts by it.
. "$(dirname "$0")/tap.sh"
two_cores
cd "$tmp" || exit 1
lu=$bin/lu
full="hrun-calibrate --full-grid"
small="--sizes 60,100,140,200"

run $full $small -r 1 --dry-run -app lu "$lu"
status_is 0 "the runs are listed"
out_has "runs to make" "with their number"
ok "nothing is stored by a dry run" test ! -e "$HRUN_DATA"

run hrun --dry-run -app lu -N 120 "$lu"
status_is 0 "without a profile the dry run works"
out_has "no profile" "and says so"
out_has "hrun-calibrate -app lu" "and how to make one"
before=$(litter)
run hrun -app lu -N 120 "$lu"
status_is 0 "without a profile the run works"
out_has "check: ok" "the application ran and checked itself"
err_has "no profile of lu" "hrun says that it has no profile"
err_has "hrun-calibrate -app lu" "and the command that makes one"
ok "the time is recorded" grep -q time_s "$HRUN_DATA"/profiles/lu/*.log

run $full $small -r 2 -app lu "$lu"
status_is 0 "calibration succeeds"
err_has "left" "with the time left"
out_has "npt/nnls" "the table has NP-T models"
out_has "single/nnls" "and single-PE models"
ok "calibration leaves nothing behind" nothing_new "$before"
logs=$(cat "$HRUN_DATA"/profiles/lu/*.log | wc -l)

run $full $small -r 2 -app lu "$lu"
status_is 0 "a second calibration succeeds"
err_has "are measured already" "and measures nothing anew"
ok "no record was added" test "$logs" = "$(cat "$HRUN_DATA"/profiles/lu/*.log | wc -l)"

run hrun-calibrate show lu
status_is 0 "show"
out_has "lu on" "names application and signature"
run hrun-calibrate show --json lu -v
status_is 0 "show --json, options among the names"
ok "is JSON" python3 -c 'import json,sys; p=json.load(open(sys.argv[1])); assert p[0]["models"] and p[0]["measurements"]' "$tmp/.out"
ok "whose numbers have nine digits, as in all JSON" python3 -c 'import json,sys
def digits(text): assert len(text.split("e")[0].replace(".", "").lstrip("-0")) <= 9, text
json.load(open(sys.argv[1]), parse_float=digits)' "$tmp/.out"
cp -r "$HRUN_DATA" "$tmp/few"
for log in "$tmp"/few/profiles/lu/*.log; do
    python3 - "$log" <<'P'
import json, sys, zlib
sizes = {r["N"]: r for r in (json.loads(l.split("\t")[0]) for l in open(sys.argv[1])) if r["P"] == 1}
with open(sys.argv[1], "w") as f:
    for N, r in sorted(sizes.items())[:2]:
        text = json.dumps(dict(r, time_s=1e-7 * N ** 3 + 1e-5 * N ** 2), sort_keys=True, separators=(",", ":"))
        f.write("%s\t%08x\n" % (text, zlib.crc32(text.encode())))
P
done
run hrun-calibrate --data "$tmp/few" fit lu
out_has "too few runs" "coefficients that follow two runs exactly have no training error"
run hrun-calibrate --data "$tmp/few" show --json lu
ok "nor in JSON" python3 -c 'import json,sys
for r in json.load(open(sys.argv[1]))[0]["models"]: assert r["train_error_max"] is None and r["dof"] == 0, r' \
    "$tmp/.out"
run hrun-calibrate --data "$tmp/few" report lu -o "$tmp/few.html"
ok "nor in a report" test "$(sed '/<noscript>/,/<.noscript>/!d' "$tmp/few.html" | grep -c "too few runs")" -gt 0
run hrun-calibrate fit lu
status_is 0 "fit anew"
out_lacks "too few runs" "with enough of them there is a training error"
run hrun-calibrate fit nosuch
status_is 125 "fit of an unknown application fails"

run hrun --dry-run -app lu -N 180 "$lu"
status_is 0 "dry run with a profile"
out_has "NP-T/NNLS" "names the model"
out_has "predicted" "has a prediction"
out_has "mpirun-style" "compares with mpirun"
out_has "configurations:" "counts configurations"
out_has "would run:" "tells the command"
run hrun --dry-run --json -app lu -N 180 "$lu"
ok "--json is JSON" python3 -c '
import json, sys
p = json.load(open(sys.argv[1]))
assert p["chosen_by"] == "model" and p["predicted_low_s"] <= p["predicted_s"] <= p["predicted_high_s"]
assert len(p["ranks"]) == p["P"] and p["exact"]
for c in p["next_best"] + [p["mpirun_style"]]:     # the order counts what is less certain as longer
    assert p["predicted_s"] <= max(c["predicted_s"], c["ranked_s"]), c' "$tmp/.out"

run hrun --dry-run -app lu -N 180 "$lu"
out_lacks "extrapolates" "a size between those that were run is no extrapolation"
run hrun -app lu -N 210 --no-record "$lu"
err_has "hrun: the prediction extrapolates: N = 210 is 1.05 times beyond" "a run says at once that its size is outside"
err_has "hrun: to measure this size, too: hrun-calibrate -app lu --sizes 210 " "and how to measure it"
run hrun --dry-run -app lu -N 400 "$lu"
out_has "the prediction extrapolates: N = 400 is 2.0 times beyond what sub-cluster " "twice the largest size is told"
out_has " was measured at (60 .. 200)" "with the measured range"
out_has "to measure this size, too: hrun-calibrate -app lu --sizes 400 " "and the command that measures it"
ok "once" test "$(grep -c extrapolates .out)" = 1
run hrun --dry-run --json -app lu -N 400 "$lu"
ok "and in JSON" python3 -c '
import json, sys
p = json.load(open(sys.argv[1]))
e = [x for x in p["extrapolates"] if x["in"] == "N"][0]
assert e["value"] == 400 and e["factor"] == 2 and e["measured"] == [60, 200] and p["extrapolation"] >= 2
assert p["outside_of_sizes"] == [60, 200] and "N 2.0 x beyond" in p["unsure"], p
assert e["subcluster"] in [s["name"] for s in p["subclusters"]]' "$tmp/.out"

run hrun -app lu -N 180 "$lu"
status_is 0 "the run by the model"
out_has "check: ok" "computes"
err_has "predicted" "predicted and actual are told"
err_has "actual" "both of them"
run hrun -q -app lu -N 180 "$lu"
ok "-q says nothing" test -z "$err"
run hrun lu -N 180
status_is 127 "a program not in PATH is not found"
run env PATH="$bin:$PATH" hrun -N 180 lu
status_is 0 "the program's name finds its definition"
err_has "predicted" "and its profile"
run hrun -app lu -N 180 -n 1 "$lu"
out_has "check: ok" "-n 1 runs one process"
run hrun -app lu -N 180 --config '(1,2)' "$lu"
out_has "check: ok" "--config (1,2) runs two on one PE"

# Two sizes that differ are refused; a size that reaches the program is recorded.
records() { cat "$HRUN_DATA"/profiles/lu/*.log | wc -l; }
n=$(records)
fails 125 "-N gives the size 180, but" "a run whose words hold another size than -N" hrun -app lu -N 180 "$lu" 100
run hrun -app lu -N 180 "$lu" 180
ok "one whose words hold the size is" test "$((n + 1))" = "$(records)"
run hrun -app lu -N 180 -n 3 "$lu"
status_is 0 "-n 3 on two PEs is no configuration and still runs"
out_has "check: ok" "and computes"
err_lacks "predicted" "without a prediction"
run hrun -v -app lu -N 180 "$lu"
err_has "would run" "-v tells the choice before the run"
out_lacks "would run" "on standard error"

# The definition's rule, the memory, and the nearest sizes.
run hrun --dry-run -app lu -N 9007199254740992 "$lu"
status_is 125 "a size that no memory holds: status 125"
near=$(printf '%s\n' "$err" | sed -n 's/.*size that has one is \([0-9]*\)$/\1/p')
ok "and the nearest size is told ($near)" test "${near:-0}" -gt 1000
run hrun --dry-run -app lu -N "${near:-0}" "$lu"
status_is 0 "which is valid"
# The search has half a second of its own work, in which a sanitized build comes within a factor of two.
more=$((${near:-0} / 100))
[ -z "${HRUN_SANITIZE-}" ] || more=${near:-0}
run hrun --dry-run -app lu -N "$((${near:-0} + more))" "$lu"
status_is 125 "while one a little larger is not"
run hrun --dry-run -app fft -N 400000 "$bin/fft"
status_is 125 "a rule of powers of two"
err_has "sizes that have one are 262144 and 524288" "whose sizes lie far from each other: they are told all the same"
run hrun --dry-run -app femcg -N 7 -n 2 "$bin/femcg"
status_is 125 "no valid configuration: status 125"
err_has "does not accept" "and why"

# A failing program is recorded as failed and never becomes a time.
cat > failing <<'P'
#!/bin/sh
echo "lu: out of luck" >&2
echo "--------------------" >&2
exit 3
P
chmod +x failing
run $full --data "$tmp/data2" $small -r 1 -app lu ./failing '{N}'
status_is 125 "a program that always fails stops the calibration"
err_has "out of luck" "with its last words"
run hrun-calibrate --data "$tmp/data2" --json show lu
ok "failed runs are no measurements" python3 -c '
import json, sys
p = json.load(open(sys.argv[1]))
assert p and all(not m["ok"] and m["time_s"] == 0 for q in p for m in q["measurements"]) and not p[0]["models"]' "$tmp/.out"

# Killed at any moment it loses at most the running measurement, and goes on where it was.
data3=$tmp/data3
for delay in 0.4 0.8 1.2; do
    $full --data "$data3" $small --procs 1 -r 1 -app lu "$lu" >/dev/null 2>&1 </dev/null &
    pid=$!
    sleep $delay
    kill -9 $pid
    wait $pid 2>/dev/null
done
run $full --data "$data3" $small --procs 1 -r 1 -app lu "$lu"
status_is 0 "a calibration that was killed goes on"
run hrun-calibrate --data "$data3" --json show lu
ok "each point was measured once, nothing is bad" python3 -c '
import json, sys
p = json.load(open(sys.argv[1]))
assert all(q["bad_records"] == 0 for q in p)
keys = [(m["N"], m["P"], m["M"]) for q in p for m in q["measurements"] if m["ok"]]
assert len(keys) == len(set(keys)) and len(keys) >= 4, keys' "$tmp/.out"

printf '#!/bin/sh\necho "time: $(($1 * $1 * $1))e-8 s"\n' > "$tmp/steady"
chmod +x "$tmp/steady"
# Two at once lose nothing.
data4=$tmp/data4
$full -q --data "$data4" --sizes 60,100 --pes 1 --procs 1 -r 2 -app lu "$tmp/steady" '{N}' >/dev/null 2>&1 </dev/null &
one=$!
$full -q --data "$data4" --sizes 140,200 --pes 1 --procs 1 -r 2 -app lu "$tmp/steady" '{N}' >/dev/null 2>&1 </dev/null &
two=$!
wait $one; s1=$?
wait $two; s2=$?
ok "two calibrations at once succeed" test "$s1$s2" = 00
run hrun-calibrate --data "$data4" --json show lu
ok "and lose nothing" python3 -c '
import json, sys
p = json.load(open(sys.argv[1]))
assert len(p[0]["measurements"]) == 8 and p[0]["bad_records"] == 0' "$tmp/.out"

# --again: what was measured before no longer counts, so that a changed program gets a new profile.
run $full --data "$tmp/data5" --sizes 60,100,140,200 --pes 1 --procs 1 -r 1 -app lu "$tmp/steady" '{N}'
run $full --data "$tmp/data5" --sizes 60,100,140,200 --pes 1 --procs 1 -r 1 --again -app lu "$tmp/steady" '{N}'
run hrun-calibrate --data "$tmp/data5" show lu
out_has "4 measurements" "--again starts anew"
out_has "4 older ones no longer count" "and what was measured before is kept and told"
run $full --data "$tmp/data5" --sizes 60,100,140,200 --pes 1 --procs 1 -r 1 -app lu "$tmp/steady" '{N}'
err_has "4 of 4 runs are measured already" "and goes on without --again"

# --redo: what is measured anew replaces what was measured there, and nothing else.
run $full --data "$tmp/data5" --sizes 100,200 --pes 1 --procs 1 -r 1 --redo -app lu "$tmp/steady" '{N}'
status_is 0 "a part is measured anew"
run hrun-calibrate --data "$tmp/data5" show lu
out_has "4 measurements" "all sizes still count"
out_has "6 older ones no longer count" "and what was measured at those two no longer does"
run $full --data "$tmp/data5" --sizes 60,100,140,200 --pes 1 --procs 1 -r 1 -app lu "$tmp/steady" '{N}'
err_has "4 of 4 runs are measured already" "so that nothing is left to be measured"

# Times that no model describes: said in one line, with what to do.
cat > "$tmp/jitter" <<'P'
#!/bin/sh
case $1 in 60 | 140) echo "time: 10 s" ;; *) echo "time: 0.001 s" ;; esac
P
chmod +x "$tmp/jitter"
run $full --data "$tmp/data7" --sizes 60,100,140,200 --pes 1 --procs 1 -r 1 -app lu "$tmp/jitter" '{N}'
status_is 0 "times that no model describes are no error"
said="models miss their own measurements by more than 50 % on average: single of "
err_has "$said" "but told"
ok "in one line" test "$(printf '%s\n' "$err" | grep -c "$said")" = 1
run hrun-calibrate --data "$tmp/data7" fit lu
err_has "$said" "also when they are fitted again"
run hrun --dry-run --data "$tmp/data7" -app lu -N 100 "$tmp/jitter" '{N}'
out_has "these $said" "hrun repeats it in its dry run"
run hrun --dry-run --json --data "$tmp/data7" -app lu -N 100 "$tmp/jitter" '{N}'
ok "also as JSON" python3 -c "import json, sys; assert json.loads(sys.argv[1])['models_that_miss'][:9] == 'single of'" \
    "$out"
run hrun-calibrate -q --data "$tmp/data7" fit lu
err_lacks "$said" "and not with -q"
run $full --data "$tmp/data8" --sizes 60,100,140,200 --pes 1 --procs 1 -r 1 -app lu "$tmp/steady" '{N}'
out_has "single/nnls" "times that a model describes"
err_lacks "miss their own" "are not talked of"
run hrun --dry-run --data "$tmp/data8" -app lu -N 100 "$tmp/steady" '{N}'
out_lacks "miss their own" "nor by hrun"
run hrun --dry-run --data "$tmp/data8" -app lu -N 120 "$tmp/steady" '{N}'
out_has "at other N; not run at this one" "which says where a prediction rests on runs at other sizes"

# The first run of N=140 takes three times as long: it counts less.
cat > "$tmp/flaky" <<'P'
#!/bin/sh
t=$(($1 * $1 * $1))
[ "$1" = 140 ] && ! [ -e "$0.ran" ] && : > "$0.ran" && t=$((3 * t))
echo "time: ${t}e-7 s"
P
chmod +x "$tmp/flaky"
grid="--data $tmp/data9 --sizes 60,80,100,120,140,160,200 --pes 1 --procs 1 -r 3 -app lu"
run $full $grid "$tmp/flaky" '{N}'
status_is 0 "a campaign with a run that is off"
run hrun-calibrate --json show lu --data "$tmp/data9"
ok "21 runs, and the model is that of the others" python3 -c '
import json, sys
p = json.load(open(sys.argv[1]))[0]
m = p["models"][0]
assert len(p["measurements"]) == 21 and m["family"] == "single"
assert abs(sum(t["k"] * 200.0 ** (3 - i) for i, t in enumerate(m["terms"])) / 0.8 - 1) < 0.01
assert "1 of 21 measurements is far from the fit and counts less" in m["note"]' "$tmp/.out"
run hrun-calibrate --no-robust --data "$tmp/data9" fit lu
run hrun-calibrate --json show lu --data "$tmp/data9"
ok "--no-robust lets every run count in full" python3 -c '
import json, sys
assert json.load(open(sys.argv[1]))[0]["models"][0]["note"] == ""' "$tmp/.out"
run hrun-calibrate --exclude-glitches 2 --data "$tmp/data9" fit lu
status_is 125 "the glitch rule with a factor that leaves one size makes no model"
run hrun-calibrate --exclude-glitches 0.9 --data "$tmp/data8" fit lu
err_lacks "glitch" "without glitches the rule excludes nothing"
rm -f "$tmp/flaky.ran"
printf '#!/bin/sh\necho "time: $(($1 == 140 ? 6000000 : $1 * $1 * $1))e-7 s"\n' > "$tmp/dent"
chmod +x "$tmp/dent"
run $full --exclude-glitches 0.9 --data "$tmp/data11" --sizes 60,100,140,200 --pes 1 --procs 1 -r 1 -app lu \
    "$tmp/dent" '{N}'
err_has "M=1, P=1, N=140 is excluded as a glitch: 0.46 of the performance at N=100, at most 0.90" "a glitch is told"
out_has " 3  60 .. 200" "and excluded"
run hrun-calibrate --exclude-glitches 0 --data "$tmp/data11" fit lu
status_is 125 "a factor of 0 is refused"
err_has "--exclude-glitches 0: it must be above 0" "and why"

# The same through engine mpirun, whose profiles are its own.
run $full --engine mpirun --data "$tmp/data6" --sizes 60,100,200 --pes 1,2 --procs 1 -r 1 -app lu "$lu"
status_is 0 "calibration through mpirun"
run hrun --engine mpirun --data "$tmp/data6" --dry-run --json -app lu -N 180 "$lu"
ok "its model chooses" python3 -c 'import json,sys; assert json.load(open(sys.argv[1]))["chosen_by"] == "model"' "$tmp/.out"
run hrun --engine mpirun --data "$tmp/data6" -app lu -N 180 "$lu"
out_has "check: ok" "the chosen configuration computes"
err_has "predicted" "and predicted and actual are told"
run hrun --data "$tmp/data6" --dry-run -app lu -N 180 "$lu"
out_has "no profile" "another engine does not use that profile"
note="has a profile for engine mpirun and none for engine local, which starts this run: --engine mpirun uses it"
out_has "$note" "and says whose it is"
run hrun --data "$tmp/data6" --no-record -app lu -N 180 "$lu"
err_has "$note" "in a run, too"
run hrun --data "$tmp/none" --dry-run -app lu -N 180 "$lu"
out_lacks "has a profile for" "where there is none nothing is said of one"

# Options that change times, and are no part of a signature.
with="--mca coll ^tuned"
run $full --sizes 60,100 --procs 1 -r 1 --data "$tmp/options" $with --mca orte_tmpdir_base "$tmp" -app lu "$lu"
status_is 0 "a calibration with an option that changes times"
ok "which is recorded, what does not is not" grep -q '"settings":"--mca coll .^tuned.' "$tmp"/options/profiles/lu/*.log
run hrun --data "$tmp/options" --dry-run $with -app lu -N 80 "$lu"
out_lacks "other options that change times" "with the same option nothing is said"
run env OMPI_MCA_coll=^tuned hrun --data "$tmp/options" --dry-run -app lu -N 80 "$lu"
out_lacks "other options that change times" "the environment may have it"
out_lacks ", extrapolated" "N = 80 lies within what was measured"
run hrun --data "$tmp/options" --dry-run -app lu -N 140 "$lu"
out_lacks ", extrapolated" "140 is 1.4 times beyond it"
run hrun --data "$tmp/options" --dry-run -app lu -N 160 "$lu"
ok "where the interval stands 160 is told to be extrapolated" grep -qE "predicted .* [.][.] .*[)], extrapolated$" "$tmp/.out"
run env KMP_BLOCKTIME=7 hrun --data "$tmp/options" --dry-run -x OMP_PLACES=cores -x KMP_BLOCKTIME -app lu -N 80 "$lu"
out_has "(it: --mca coll '^tuned'; this run: -x KMP_BLOCKTIME=7 -x OMP_PLACES=cores)" "a run with others is told"
out_has "hrun-calibrate --again -app lu --data $tmp/options -x OMP_PLACES=cores -x KMP_BLOCKTIME" "with the command that \
measures it"
run hrun --data "$tmp/options" $with -x PASSWORD=secret -app lu -N 80 "$lu"
ok "a variable that changes no times is not recorded" eval '! grep -q secret "$tmp"/options/profiles/lu/*.log'
err_lacks "other options that change times" "nor is it another condition"
run hrun --data "$tmp/options" --dry-run --json -app lu -N 80 "$lu"
ok "programs are told, too" python3 -c 'import json,sys
assert json.load(open(sys.argv[1]))["measured_with"].startswith("--mca coll ")' "$tmp/.out"
run hrun --data "$tmp/options" -app lu -N 80 "$lu"
err_has "was measured with other options that change times (it: --mca coll '^tuned'; this run: none)" "and in a run"
run $full --sizes 60,100,140 --procs 1 -r 1 --data "$tmp/options" -app lu "$lu"
err_has "(then: --mca coll '^tuned'; now: none) and count together" "going on without it is told"

# Damage to the stored files.
sig=$(basename "$(ls "$HRUN_DATA"/profiles/lu/*.yaml)" .yaml)
cp -r "$HRUN_DATA" "$tmp/keep"
sed -i '3s/.$/X/' "$HRUN_DATA/profiles/lu/$sig.log"
run hrun-calibrate show lu
out_has "1 bad record" "a corrupted record is reported and skipped"
printf 'garbage' > "$HRUN_DATA/profiles/lu/$sig.yaml"
fails 125 "$sig.yaml" "models that cannot be read are an error that names the file" hrun -app lu -N 180 "$lu"
err_has "hrun-calibrate fit" "and says what makes them anew"
run hrun --dry-run --force -app lu -N 180 "$lu"
status_is 0 "--force runs as without a profile"
out_has "$sig.yaml" "and still names the file"
run hrun-calibrate fit lu
status_is 0 "and are made anew from the log"
run hrun --dry-run -app lu -N 180 "$lu"
out_has "NP-T/NNLS" "so that hrun predicts again"

# A full disk: one error, and the log holds all that it held before.
if [ "$(id -u)" = 0 ] && mkdir -p "$tmp/full" && mount -t tmpfs -o size=256k tmpfs "$tmp/full" 2>/dev/null; then
    cp -r "$tmp/keep/." "$tmp/full/"
    dd if=/dev/zero of="$tmp/full/filler" bs=1k count=1000 2>/dev/null
    held=$(cat "$tmp/full/profiles/lu/$sig.log" | sha256sum)
    # A dozen records fill what is left of the log's last block.
    run $full --data "$tmp/full" --again --sizes 60 --pes 1 --procs 1 -r 16 -app lu "$lu"
    status_is 125 "a full disk stops the calibration"
    err_has "No space left" "with the reason"
    ok "and the log is a prefix of what it is now" test "$(head -c "$(stat -c %s "$tmp/keep/profiles/lu/$sig.log")" "$tmp/full/profiles/lu/$sig.log" | sha256sum)" = "$held"
    run hrun --data "$tmp/full" -app lu -N 100 "$lu"
    status_is 0 "a run on a full disk still runs"
    umount "$tmp/full"
else
    skip "full disk" "needs root and mount"
fi
# ---- a data folder of a group
member() { # 1|2 CMD...: as one of two users of a group, whose files the group may write
    local id=$((60000 + $$ % 5000))
    setpriv --reuid $((id + $1)) --regid $id --clear-groups \
        env -C / HOME=/nonexistent HRUN_DATA="$tmp/shared" sh -c 'umask 002; exec "$@"' sh "${@:2}"
}
if [ "$(id -u)" = 0 ] && member 1 test -x "$build/bin/hrun"; then
    mkdir shared
    chgrp $((60000 + $$ % 5000)) shared
    chmod 2770 shared
    for user in 1 2; do
        run member $user $full --sizes $((50 + 10 * user)),100 --pes 1 --procs 1 -r $user -app lu "$lu"
        status_is 0 "user $user of a group measures and fits"
        run member $user hrun -app lu -N 100 "$lu"
        status_is 0 "and runs"
        err_lacks "not recorded" "which is recorded"
    done
    run member 1 hrun-calibrate fit lu
    status_is 0 "the first one fits what the second one has measured"
    ok "runs of both are there" test "$(cat shared/profiles/lu/*.log | grep -c '"origin":"run"')" = 2
else
    skip "a data folder of a group" "needs root and a build that others can read"
fi

done_testing
