#!/bin/bash
# Applications with several algorithms: hrun chooses among them by formulas over speeds and network or by terms that
# were fitted, tells which and why, keeps their measurements apart; speeds are measured and shown; the figures of
# tests/accuracy/variants keep their targets.
. "$(dirname "$0")/tap.sh"
cd "$tmp" || exit 1
h=$build/bin/hrun
c=$build/bin/hrun-calibrate
json() { python3 -c "import json,sys; d = json.load(open('$tmp/.out')); print($1)"; }

# ---------------------------------------------------------------- speeds of this host

run "$c" show --speeds
out_has "no speeds are stored; hrun-calibrate speeds measures them" "without measurements there are no speeds"
run "$c" speeds --procs 1,2 -r 3 --json
status_is 0 "speeds are measured"
ok "one for each number of processes on a PE, with date and library" \
    test "$(json '[d[0]["M"], d[1]["M"], all(0 < r["s_per_operation"] < 1e-6 and r["measurements"] == 3 and
        r["date"] > "2" and r["library"] for r in d)]')" = "[1, 2, True]"
run "$c" show --speeds
out_has "Gflop/s" "they are kept and shown"
run "$c" show
out_has "no profiles in" "and are no profile of an application"
run "$c" speeds prog
status_is 125 "speeds takes no program"
fails 125 "--dry-run does nothing for \`speeds\`" "what speeds cannot do is refused, and nothing measured" \
    "$c" speeds --dry-run
fails 125 "--budget does nothing for \`show --speeds\`" "as is what their table has no use for" \
    "$c" show --speeds --budget 10
fails 125 "takes no program or name: 'lu'" "speeds are of no application" "$c" show --speeds lu
run "$c" speeds --platform x.xml
err_has "stand in their platform file" "simulated hosts have theirs in the platform file"

# ---------------------------------------------------------------- without what formulas need

mkdir "$tmp/defs"
cat >"$tmp/defs/two.yaml" <<'END'
name: two
args: ["{N}"]
variants:
- {name: plain, formula: "2*N^3*share*perf"}
- {name: chatty, formula: "2*N^3*share*perf + P*p2p(8*N)", args: ["{N}", "{shares}"]}
END
two() { run "$h" --profile-path "$tmp/defs" -app two "$@"; }
two --dry-run -N 1000 /bin/true
status_is 0 "a variant that needs the network is left out where it was not measured"
out_has "variant      plain, the only one that is predicted; not predicted: chatty" "which is said"
cat >"$tmp/defs/slow.yaml" <<'END'
name: slow
args: ["{N}"]
variants:
- {name: twice, formula: "4*N^3*share*perf"}
- {name: once, formula: "2*N^3*share*perf"}
END
for how in --dry-run --dry-run=time; do
    run "$h" --profile-path "$tmp/defs" -app slow $how -N 1000 --limit time=0.000001 /bin/true
    status_is 125 "$how: a time that no variant keeps"
    err_has "slow.once at N = 1000: no configuration" "is told with the variant that comes nearest"
done
two --dry-run -N 1000 --variant chatty /bin/true
out_has "its formula needs the network, which was not measured; to measure it: hrun-calibrate network" \
    "named alone it says how it is measured"
out_has "to make a profile: hrun-calibrate network" "and where speeds are known, does not ask for them again"
two --dry-run -N 1000 --variant chaty /bin/true
status_is 125 "an unknown variant"
err_has "--variant: two has no variant 'chaty' (it has: plain, chatty); did you mean 'chatty'?" \
    "is told with the nearest"
run "$h" --profile-path "$tmp/defs" -app two.chaty --dry-run -N 1000 /bin/true
err_has "did you mean 'chatty'?" "also as NAME.VARIANT"
run "$h" --dry-run -app lu --variant x -N 100 "$bin/lu"
err_has "lu has no variants" "a definition without variants has none"
two -N 1000 --finest --limit time=1 /bin/true '{N}'
err_has "say which with --variant" "--finest chooses the size of one"
rm -rf "$HRUN_DATA"
two --dry-run -N 1000 /bin/true
out_has "the speed of its PEs is not known; hrun-calibrate speeds measures it" "without speeds the command is said"
out_has "variant      plain, the first: none is predicted" "and the first variant is taken"
out_has "to make a profile: hrun-calibrate speeds" "speeds come first"

# ---------------------------------------------------------------- variants with terms

cat >"$tmp/defs/both.yaml" <<'END'
name: both
time: {match: '^t ([0-9.e-]+)$'}
variants:
- name: linear
  args: [linear, "{N}", "{P}"]
  terms: {np: ["N/P", "P"], n: ["N"]}
- name: square
  args: [square, "{N}", "{P}"]
  terms: {np: ["N^2/P", "1"], n: ["N^2"]}
END
cat >"$tmp/timed" <<'END'
#!/bin/sh
# Rank 0 tells a time: linear 1e-2 N / P + 1, square 1e-4 N^2 / P.
[ "${PMIX_RANK:-0}" = 0 ] || exit 0
awk -v how="$1" -v N="$2" -v P="$3" 'BEGIN { print "t", how == "linear" ? 1e-2 * N / P + 1 * P : 1e-4 * N * N / P + 1 }'
END
chmod +x "$tmp/timed"
for how in show "--profile-path $tmp/defs fit" export; do
    run "$c" $how both
    status_is 125 "${how##* }: without a profile of any variant"
    err_has "there is no profile of both" "is told"
done
both() { run "$h" --profile-path "$tmp/defs" -app both "$@" "$tmp/timed"; }
run "$c" --profile-path "$tmp/defs" -app both --sizes 50,100,200,400 --pes 1,2 --budget 12runs "$tmp/timed"
status_is 0 "all variants with terms are measured"
err_has "variant linear, 1 of 2 that have terms" "one after the other"
ok "and kept apart" test -d "$HRUN_DATA/profiles/both.linear" -a -d "$HRUN_DATA/profiles/both.square"
for how in show "--profile-path $tmp/defs fit" export; do
    run "$c" $how both
    status_is 0 "${how##* } takes the name of the whole for all variants"
    ok "each once" test "$(grep -Eo '^both\.(linear|square)' "$tmp/.out" | sort -u | wc -l)" = 2
done
run "$c" --profile-path "$tmp/defs" report both -o "$tmp/both.html"
status_is 125 "a report is of one variant"
err_has "both has 2 variants, and a report is of one, as of both.linear" "which is said"
both --dry-run --json -N 50
small=$(json 'd["app"]')
both --dry-run --json -N 400
large=$(json 'd["app"]')
out="$small $large"
ok "of both that is chosen which is quicker at the size" test "$small $large" = "both.square both.linear"
both -N 400
err_has "hrun: variant linear, predicted" "after a run it is told which it was"
both -N 400 --variant square
err_has "hrun: variant square, predicted" "--variant names one"
run "$c" --profile-path "$tmp/defs" -app both --variant square --sizes 50,100 --pes 1 --dry-run "$tmp/timed"
err_lacks "variant linear" "hrun-calibrate --variant measures one"
cat >"$tmp/defs/blocks.yaml" <<'END'
name: blocks
constants: [{name: how, value: 1}]
args: ["{how}", "{N}", "{P}"]
terms: {np: ["N^2/P", "1"], n: ["N^2"]}
variants:
- name: usual
- {name: other, constants: [{name: how, value: 7}]}
END
printf '#!/bin/sh\n[ "${PMIX_RANK:-0}" = 0 ] && echo "how $1"\n' >"$tmp/says"
chmod +x "$tmp/says"
for v in usual other; do
    run "$h" --profile-path "$tmp/defs" -app blocks --variant $v -N 10 -n 1 "$tmp/says"
    out_has "how $([ $v = usual ] && echo 1 || echo 7)" "variant $v has its own value"
done
run "$c" --profile-path "$tmp/defs" -app two "$tmp/timed"
err_has "all variants are predicted by formulas" "of formulas there is nothing to measure"

# ---------------------------------------------------------------- on simulated hosts

if [ ! -x "$build/tests/accuracy/matmul" ] || [ ! -x "$build/bin/hrun-smpi" ]; then
    skip "matmul on simulated hosts" "SimGrid is not installed (libsimgrid-dev)"
    done_testing
fi
run env HRUN_BUILD="$build" "$top/tests/accuracy/variants" --quick --json --out "$tmp/v"
status_is 0 "the figures keep their targets: errors of formulas <= 2 %, time lost <= 1 %"
ok "all three formulas are tried" test "$(grep -c '"method": "formula", "variant"' <<<"$out")" = 3
export HRUN_DATA=$tmp/v/data HRUN_CACHE=$tmp/v/data
m() { run "$h" --platform "$tmp/v/platform.xml" -app matmul "$@" "$build/tests/accuracy/matmul"; }
m --dry-run --json -N 1000
ok "variants and what they would take are told" \
    test "$(json '[len(d["variants"]), all(v["time_s"] > 0 for v in d["variants"]),
        min(d["variants"], key=lambda v: v["time_s"])["chosen"]]')" = "[3, True, True]"
chosen=$(json 'd["app"]')
predicted=$(json 'd["predicted_s"]')
m --dry-run -N 1000
out_has "variant      ${chosen#matmul.}; next best: " "in words, too"
out_has "--shares '8*1.3,8*1'" "shares go with the speeds"
m -N 1000
status_is 0 "it runs"
ok "and takes what was predicted" awk -v t="$(sed -n 's/^time: \(.*\) s/\1/p' <<<"$out")" -v p="$predicted" \
    'BEGIN { exit !(t > 0 && p > 0.98 * t && p < 1.02 * t) }'
ok "which is recorded as of this variant" test -d "$HRUN_DATA/profiles/$chosen"
m --dry-run --json -N 1000 --variant cannon
ok "a variant can be named" test "$(json '[d["app"], d["variants"]]')" = "['matmul.cannon', None]"
m --dry-run --json -N 1000 -n 4
ok "and the number of processes" test "$(json 'd["P"]')" = 4

# ---------------------------------------------------------------- on a network that is supposed

network=$(ls "$tmp"/v/data/networks/*.yaml)
sed -E '/^# crc32/d; s/bytes_per_s: \{v: [0-9.e+-]+/bytes_per_s: {v: 1.0e+05/' "$network" >"$tmp/slow.yaml"
m --dry-run --json -N 1000
predicted=$(json 'd["predicted_s"]')
m --dry-run --json -N 1000 --network "$network"
ok "formulas ask the network that is given: the measured one changes nothing" \
    test "$(json "abs(d['predicted_s'] / $predicted - 1) < 1e-6")" = True
m --dry-run --json -N 1000 --network "$tmp/slow.yaml"
ok "a slow one does" test "$(json "d['predicted_s'] > 1.1 * $predicted")" = True
m --dry-run=time -N 1000 --network "$tmp/slow.yaml"
ok "for --dry-run=time, too" awk -v p="$predicted" '{ exit !($1 > 1.1 * p) }' <<<"$out"
fails 125 "cannot read '$tmp/none'" "one that is not there is refused" \
    "$h" --platform "$tmp/v/platform.xml" -app matmul --dry-run -N 1000 --network "$tmp/none" \
    "$build/tests/accuracy/matmul"

# ---------------------------------------------------------------- without a program

alone() { run "$h" --data "$tmp/alone" --platform "$tmp/v/platform.xml" -app matmul "$@"; }
mkdir -p "$tmp/alone/networks" "$tmp/path"
cp "$tmp"/v/data/networks/* "$tmp/alone/networks"
alone --dry-run=time -N 1000
status_is 0 "a network suffices: without a program and a profile it is SimGrid's that is meant on a platform"
cp "$bin/lu" "$tmp/path/matmul"
PATH=$tmp/path:$PATH alone --dry-run=time -N 1000
status_is 0 "also where one in PATH is linked with another MPI"
PATH=$tmp/path:$PATH alone --dry-run -N 1000
status_is 0 "which a dry run does not take"
out_has "network of" "and which hides no network"
run env PATH="$tmp/path:$PATH" "$h" --platform "$tmp/v/platform.xml" -app matmul --dry-run -N 1000 matmul
status_is 125 "named it is taken"
err_has "smpicc" "and refused"
echo 'jobs: [{app: matmul, N: 1000}]' >"$tmp/jobs.yaml"
run "$h" plan --data "$tmp/alone" --platform "$tmp/v/platform.xml" "$tmp/jobs.yaml"
status_is 0 "hrun plan knows it as well"
rm -r "$tmp/alone"
alone --dry-run -N 1000
out_has "to make a profile: hrun-calibrate network --platform" "on a platform the network is what can be missing"
out_lacks "hrun-calibrate speeds" "and no speeds"
fails 125 "to measure it: hrun-calibrate network --platform" "as hrun plan says" \
    "$h" plan --data "$tmp/alone" --platform "$tmp/v/platform.xml" "$tmp/jobs.yaml"
done_testing
