#!/bin/bash
# shares.t - programs that can be told how much of the work each process gets: unequal shares are chosen together with
# the configuration, on simulated clusters whose times are exact
. "$(dirname "$0")/tap.sh"
two_cores

if ! command -v smpicc >/dev/null || [ ! -x "$build/bin/hrun-smpi" ]; then
    [ "${CI-}" = true ] && { printf '1..1\nnot ok 1 - libsimgrid-dev is not installed\n'; exit 1; }
    echo '1..0 # SKIP SimGrid is not installed: libsimgrid-dev'
    exit 0
fi
cd "$tmp"
mkdir apps
export HRUN_PROFILE_PATH=$tmp/apps
# a: three hosts, b: three of half the speed. platform MORE [OTHER]: properties of all hosts, or of those of a and of b
platform() {
    cat <<E
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="z" routing="Full">
<cluster id="a" prefix="a-" suffix="" radical="0-2" speed="1Gf" bw="1250MBps" lat="5us" router_id="ra">$1</cluster>
<cluster id="b" prefix="b-" suffix="" radical="0-2" speed="0.5Gf" bw="1250MBps" lat="5us"
router_id="rb">${2-$1}</cluster>
<link id="s" bandwidth="100GBps" latency="1us" sharing_policy="FATPIPE"/>
<zoneRoute src="a" dst="b" gw_src="ra" gw_dst="rb"><link_ctn id="s"/></zoneRoute>
</zone></platform>
E
}
platform '' >p.xml
# define NAME KEYS ARGS: a definition of the Jacobi sweeps over N planes
define() {
    cat >"apps/$1.yaml" <<E
name: $1
procs_per_pe: [1]
$2
terms:
  np: ["N^3*W", "N^2*W", "N^2", "N", "1"]
  n:  ["N^3", "N^2", "1"]
args: [$3]
time: {match: '^time: ([0-9.eE+-]+) s\$'}
sizes: [96, 144, 192]
E
}
define planes 'shares: {units: "N", min: 2}' '"{N}", "--shares={shares}"'
prog=$build/tests/accuracy/jacobi
on=(--platform p.xml --smpi smpi/coll-selector:mpich -app planes)
field() { python3 -c 'import json, sys; p = json.loads(sys.argv[1]); print(eval(sys.argv[2]))' "$out" "$1"; }
seconds() { sed -n 's/^time: \(.*\) s$/\1/p' <<<"$out"; }
sum() { tr ',' ' ' <<<"$out" | awk '{ for (i = 1; i <= NF; i++) s += $i; print NF, s }'; }

run hrun "${on[@]}" --dry-run -N 192 "$prog"
out_has "--shares=6*32" "without a profile shares are equal, and told"
run hrun-calibrate "${on[@]}" -q "$prog"
status_is 0 "a calibration"
ok "makes runs with unequal shares, which are kept" grep -qE '"shares":"0\.[0-9]+,0\.[0-9]+"' "$HRUN_DATA"/profiles/planes/*.log
run hrun "${on[@]}" --dry-run --json -N 192 "$prog"
ok "all hosts are chosen, those of a with twice the planes: $(field 'p["shares"]["units"]')" test "$(field \
    '(p["P"] == 6 and sum(p["shares"]["units"]) == 192 and p["shares"]["how"] == "best" and
    1.9 < p["subclusters"][0]["share"] / p["subclusters"][1]["share"] < 2.15)')" = True
ok "and by how much that is quicker than equal shares" test "$(field \
    'p["shares"]["equal"]["predicted_s"] > 1.3 * p["predicted_s"]')" = True
predicted=$(field 'p["predicted_s"]')
run hrun "${on[@]}" --no-record -N 192 "$prog"
status_is 0 "it runs"
best=$(seconds)
ok "as long as predicted ($best s, $predicted s)" awk -v a="$best" -v b="$predicted" \
    'BEGIN { exit !((a - b)^2 <= (0.01 * a)^2) }'
run hrun "${on[@]}" --no-record -q --shares equal -N 192 "$prog"
ok "--shares equal takes longer ($(seconds) s)" awk -v a="$(seconds)" -v b="$best" 'BEGIN { exit !(a > 1.3 * b) }'
run hrun "${on[@]}" --no-record -q --shares proportional --config 3,1,3,1 -N 192 "$prog"
ok "proportional ones do not" awk -v a="$(seconds)" -v b="$best" 'BEGIN { exit !(a > 0 && a < 1.1 * b) }'
# Panels in laps against all of a rank in a row: the ranks that have the first ones would soon have nothing to do.
sed 's/deal: cyclic, //; s/^name: .*/name: blocks/' "$top/share/profiles/lu-panels.yaml" >apps/blocks.yaml
lu=$build/tests/accuracy/lu
run hrun --platform p.xml --smpi smpi/coll-selector:mpich -q -app lu-panels -n 3 -N 1600 "$lu"
laps=$(seconds)
run hrun --platform p.xml --smpi smpi/coll-selector:mpich -q -app blocks -n 3 -N 1600 "$lu"
ok "LU takes $laps s with panels in laps, $(seconds) s with blocks of panels" awk -v a="$laps" -v b="$(seconds)" \
    'BEGIN { exit !(a > 0 && a < 0.9 * b) }'
run hrun --platform p.xml -app lu-panels -n 3 -N 160 --print-shares owners:, "$lu"
ok "owners are printed ($out)" test "$out" = 0,1,2,0,1
for app in jacobi-planes femcg-rows; do
    run hrun --platform p.xml --smpi smpi/coll-selector:mpich -q -app $app -n 3 -N 100 "$build/tests/accuracy/${app%-*}"
    ok "$app runs, in unequal parts of 100 ($(seconds) s)" test "$status" = 0
done
run hrun "${on[@]}" --dry-run -N 192 "$prog"
out_has "units/proc" "the dry run tells the share of a process"
out_has "equal shares (3,1,0,0)" "and the best of equal ones"
ok "by rank, in the command" grep -qE -- '--shares=3\*4[0-9],[123]\*2[0-9]' <<<"$out"
run hrun "${on[@]}" -q -N 192 "$prog"
run hrun "${on[@]}" --dry-run --json -N 192 "$prog"
ok "no waits change shares where no run was watched" test "$(field 'p["shares"]["waits"]')" = None
# The last run, as if it had been watched: the processes of b wait a tenth of its time longer than those of a.
watch_last planes
run hrun "${on[@]}" --dry-run -N 192 "$prog"
ok "so that b is given more" grep -qE '^  waits  .*: a -2\.. %, b \+4\.. %$' <<<"$out"
run hrun "${on[@]}" --dry-run --json -N 192 "$prog"
ok "which is told in JSON" test "$(field '[round(100 * w) for w in p["shares"]["waits"]]')" = "[98, 105]"
run hrun-calibrate report planes -o r.html
sed -n 's:.*id="data">\(.*\)</script>.*:\1:p' r.html >report.json
ok "and in a report" test "$(python3 -c 'import json; d = json.load(open("report.json"))
print(d["plan"]["chosen"], [round(100 * w) for w in d["shares_by_waits"]])')" = "(3,1,3,1) [98, 105]"
ok "which compares equal, proportional and the best shares" test "$(python3 -c 'import json
print(all(s["best_s"] <= 1.001 * min(s["equal_s"], s["proportional_s"]) for s in json.load(open("report.json"))["shares"]))
')" = True
# All runs of the best with unequal shares failed; with equal ones it works.
failing=$tap_dir/failing
cp -r "$HRUN_DATA" "$failing"
python3 - "$failing"/profiles/planes/*.log <<'E'
import json, sys, zlib
for log in sys.argv[1:]:
    lines = open(log).read().splitlines()
    for i, line in enumerate(lines):
        run = json.loads(line.split("\t")[0])
        if run.get("shares") and run["config"] == "(3,1,3,1)":
            run.update(ok=False, status="exit 2", time_s=0, origin="calibration")
            text = json.dumps(run, sort_keys=True, separators=(",", ":"))
            lines[i] = "%s\t%08x" % (text, zlib.crc32(text.encode()))
    open(log, "w").write("\n".join(lines) + "\n")
E
run hrun "${on[@]}" --data "$failing" --dry-run --json -N 144 "$prog"
ok "what only failed with unequal shares is not chosen so" test "$(field \
    '(p["shares"]["how"], [s["pes_used"] for s in p["subclusters"]])')" != "('best', [3, 3])"
run hrun "${on[@]}" --data "$failing" --dry-run -N 192 --shares equal "$prog"
status_is 0 "with equal ones"
out_lacks "left out" "it did not fail"
run hrun "${on[@]}" --dry-run --finest --limit time=2 "$prog"
ok "--finest goes up to what unequal shares allow" awk -v n="$(sed -n 's/^planes  N=\([0-9]*\) .*/\1/p' <<<"$out")" \
    'BEGIN { exit !(n >= 195 && n <= 210) }'
run hrun "${on[@]}" --dry-run -N 192 --use a "$prog"
status_is 0 "on one sub-cluster"
out_lacks "units/proc" "shares are equal"
run hrun "${on[@]}" --explore 5% --dry-run -N 192 "$prog"
status_is 0 "--explore goes with them"
run hrun-calibrate export planes --format csv
out_has "shares" "an export has them"

# ---------------------------------------------------------------- forms

run hrun "${on[@]}" --print-shares units -N 192 "$prog"
ok "--print-shares units: 6 numbers that add up to 192" test "$(sum)" = "6 192"
run hrun "${on[@]}" --print-shares cuts:, -N 192 "$prog"
ok "cuts, with commas: 5 that rise" test \
    "$(awk -F, '{ print NF, $1 < $2 && $2 < $3 && $3 < $4 && $4 < $5 && $5 < 1 }' <<<"$out")" = "5 1"
run hrun "${on[@]}" --print-shares 10 -N 192 "$prog"
ok "whole numbers of this sum" test "$(sum)" = "6 10"
run hrun "${on[@]}" --print-shares 5 -N 192 "$prog"
status_is 125 "a sum below the number of processes"
err_has "do not add up to 5" "is refused"
err_has "--print-shares 5: " "as of this option"
run hrun "${on[@]}" --print-shares 0 -N 192 "$prog"
err_has "a number that they add up to, not '0'" "0 is none"
run hrun "${on[@]}" --print-shares '' -N 192 "$prog"
one_error "no form"
err_has "no form is given: units, owners, fractions, cuts" "is told what there is"
run hrun --print-shares units -n 2 true
status_is 125 "a program without shares"
err_has "true has no shares: write {shares:100:,} in quotes" "is refused"
run hrun --print-shares 7:, -n 2 true '{shares:100}'
ok "words have them" test "$out" = 4,3
run hrun "${on[@]}" --print-shares sorted -N 192 "$prog"
one_error "an unknown form"
err_has "units, owners, fractions, cuts or a number" "is told what there is"

# ---------------------------------------------------------------- wrong words

run hrun "${on[@]}" --print-shares units "$prog"
one_error "--print-shares units without a size"
run hrun "${on[@]}" --data nowhere --shares proportional -N 192 "$prog"
one_error "--shares proportional without a profile"
run hrun --shares best -n 1 true
one_error "--shares best of a program without shares"
run hrun "${on[@]}" --shares half -N 192 "$prog"
one_error "--shares half"
run hrun "${on[@]}" "$prog" "--shares={shares:units}"
err_has "{shares:units} are units of work, and how many there are follows from the problem size" "units without a size"
run hrun "${on[@]}" -n 6 -N 10 "$prog"
status_is 125 "fewer units than processes"
err_has "10 units of work are too few for P = 6 processes" "are told"
run hrun "${on[@]}" --dry-run -N 1 "$prog"
err_has "1 unit of work is too few for P = 1 process of planes at N = 1, which has 2 at least" "also of one process"
run hrun "${on[@]}" --data nowhere --dry-run -N 1 "$prog"
err_has "1 unit of work is too few for P = 1 process" "and without a profile"
define odd 'shares: {units: "N/5"}' '"{N}", "--shares={shares}"'
run hrun "${on[@]}" -app odd -N 192 "$prog"
status_is 125 "units that are not whole"
err_has "shares.units of odd: 'N/5' is 38.4 at N=192" "are told"
define deaf 'shares: {units: "N"}
files: [{path: parts, content: "{shares} hrun:00000000"}]' '"{N}"'
on[5]=deaf
run hrun-calibrate "${on[@]}" "$prog"
status_is 0 "a program that ignores its shares"
err_has "make no difference to the program" "its calibration says so"
run hrun "${on[@]}" --dry-run -N 192 "$prog"
out_has "make no difference to the program" "is seen"
run hrun "${on[@]}" --dry-run --shares best -N 192 "$prog"
out_has "make no difference to the program" "also with --shares best"
out_lacks "units/proc" "and gets equal ones"
run hrun "${on[@]}" -q --no-record -N 192 "$prog"
status_is 0 "from then on"
# Of 7 planes messages take nearly all of the time: no term with W is left.
define flat 'shares: {units: "N"}' '"{N}", "--sweeps=4", "--shares={shares}"'
sed -i -e 's|np: .*|np: ["N^9*W", "P", "1"]|' -e 's|^sizes: .*|sizes: [7, 8, 9, 10]|' -e 's|^procs|rule: "P <= N"\nprocs|' apps/flat.yaml
on[5]=flat
run hrun-calibrate "${on[@]}" -q "$prog"
status_is 0 "a program whose time does not follow the shares is calibrated with equal ones"
define late '' '"{N}"'
sed -i 's|"N^3\*W", "N^2\*W"|"N^3/P", "N^2/P"|' apps/late.yaml
on[5]=late
run hrun-calibrate "${on[@]}" -q "$prog"
define late 'shares: {units: "N"}' '"{N}", "--shares={shares}"'
run hrun "${on[@]}" --dry-run -N 192 "$prog"
out_has "no model has a term with W: hrun-calibrate fit late" "a profile from before the shares"
run hrun-calibrate "${on[@]:0:4}" fit late
run hrun "${on[@]}" --dry-run -N 192 "$prog"
out_has "units/proc" "which a fit mends"
platform '<prop id="memory_bytes" value="190000000"/>' >small.xml
define full 'shares: {units: "N"}' '"{N}", "--shares={shares}"'
on=(--platform small.xml --smpi smpi/coll-selector:mpich -app full)
run hrun-calibrate "${on[@]}" -q "$prog"
define full 'shares: {units: "N", memory: "1e9*W"}' '"{N}", "--shares={shares}"'
run hrun "${on[@]}" -q -N 180 "$prog"
run hrun "${on[@]}" --dry-run --json -N 180 "$prog"
ok "shares keep to memory: $(field 'p["shares"]["units"]')" test "$(field 'max(p["shares"]["units"])')" = 34
run hrun "${on[@]}" --dry-run -N 180 "$prog"
out_has "1 valid, 14 excluded (rule or units 0, memory 14)" "what has no room for any dealing is excluded by the memory"
out_has "by 1 run of this configuration" "and so does what runs are compared with"
define full 'shares: {units: "N", memory: "2e9*W"}' '"{N}", "--shares={shares}"'
run hrun "${on[@]}" --dry-run -N 180 "$prog"
status_is 125 "memory that forbids every dealing"
err_has "memory 15, no usable time 0); however the work is dealt out, it does not fit into the memory" "is why"
run hrun "${on[@]}" --dry-run -N 180 --config 3,1,3,1 "$prog"
status_is 125 "and --config does not run it"
err_has "full at N = 180: 1 process of 318 MiB on a PE of a does not fit into its memory, 181 MiB" "for that reason"
run hrun "${on[@]}" --dry-run --force -N 180 --config 3,1,3,1 "$prog"
status_is 0 "but with --force"
platform '<prop id="memory_bytes" value="190000000"/>' '<prop id="memory_bytes" value="1900000000"/>' >unlike.xml
define wide 'shares: {units: "N", memory: "2e8 + 1e8*W"}' '"{N}", "--shares={shares}"'
define even 'memory: "2e8 + 1e8/P"' '"{N}"'
sed -i 's|\*W"|/P"|g' apps/even.yaml
for app in wide even; do
    on=(--platform unlike.xml --smpi smpi/coll-selector:mpich --data "$tap_dir/unlike" -app $app)
    run hrun "${on[@]}" --dry-run -N 180 "$prog"
    out_has "(0,0,3,1)  one process per node, the largest P that the rule and the memory accept" \
        "$app: without a profile PEs with too little memory are left out"
    run hrun "${on[@]}" --dry-run -N 180 -n 3 "$prog"
    out_has "(0,0,3,1)" "by -n, too"
    run hrun "${on[@]}" --dry-run -N 180 --config 3,1,0,0 "$prog"
    err_has "does not fit into its memory" "--config names them in vain"
    run hrun "${on[@]}" --dry-run -N 180 --config 0,0,2,1 "$prog"
    status_is 0 "and others not"
done
define wide 'shares: {units: "N", memory: "1e6*N*W"}' '"{N}", "--shares={shares}"'
on[7]=wide
run hrun-calibrate "${on[@]}" -q "$prog"
run hrun "${on[@]}" --dry-run -N 7000 "$prog"
err_has "a size that has one is 6270" "the largest size with unequal shares is told"

# ---------------------------------------------------------------- commands without a definition

here=(--platform p.xml --smpi smpi/coll-selector:mpich)
run hrun-calibrate "${here[@]}" -q "$prog" 96 '--shares={shares:96:*}'
status_is 0 "a command with shares in its words is measured as it stands"
run hrun "${here[@]}" --dry-run "$prog" 96 '--shares={shares:96:*}'
out_has "units/proc" "and gets unequal ones"
run hrun "${here[@]}" -q --no-record "$prog" 96 '--shares={shares:96:*}'
status_is 0 "it runs"
run hrun-calibrate "${here[@]}" -q "$prog" 96 '--shares={shares}'
one_error "how many units there are nobody knows"
err_has "{shares:100}" "and what to write"
run hrun-calibrate "${here[@]}" -q "$prog" 96 '--shares={shares:96'
err_has "did you mean {shares:96}?" "a brace is missing"
run hrun "${here[@]}" --dry-run --probe -N 96 "$prog" '{N}' '--shares={shares:units:,}'
one_error "a probe does not know how many units there are"
err_has "does not know how many units of work the command has" "either"
run hrun "${here[@]}" --dry-run -n 2 "$prog" 96 : -n 2 "$prog" 96 '--shares={shares:units:,}'
err_has "does not know how many units of work the command has" "nor is it known of several programs"
define plain '' '"{N}"'
sed -i 's|"N^3\*W", "N^2\*W"|"N^3/P", "N^2/P"|' apps/plain.yaml
run hrun "${here[@]}" --dry-run -app plain -N 96 "$prog" '{N}' '--shares={shares:units:,}'
err_has "does not know how many units of work the command has" "nor of a definition without shares"
run hrun -n 2 -x 'PARTS={shares:7:,}' sh -c 'echo $PARTS'
ok "-x has them in the environment" test "$(sort -u <<<"$out")" = 4,3

run hrun-calibrate --vary jacobi=96,144,192 "${on[@]:0:4}" -q "$prog" 96 "--shares={shares:units:,}"
run hrun --dry-run "${on[@]:0:4}" "$prog" 168 "--shares={shares:units:,}"
ok "--vary: a number of the command is its size and how many units it has" grep -qE "shares=[0-9,]+" <<<"$out"
out_has "equal shares" "for which shares are dealt out"
# ---------------------------------------------------------------- what definitions and variables may say

define mute 'shares: {units: "N"}' '"{N}"'
run hrun --dry-run -app mute -n 2 -N 16 "$bin/jacobi"
err_has "does not reach the program: write {shares}" "shares that no word has"
define words 'shares: {units: "N"}' ''
run hrun-calibrate --dry-run -q "${on[@]:0:4}" -app words "$prog" '{N}'
err_has "words has shares, and those of a process do not reach the program" "nor those of the user"
run hrun --dry-run "${on[@]:0:4}" -app words -N 96 "$prog" '{N}'
one_error "and hrun refuses them"
err_has "words has shares, and those of a process do not reach the program" "as well"
run hrun --dry-run "${on[@]:0:4}" -app words -N 96 -x 'PARTS={shares}' "$prog" '{N}'
status_is 0 "unless a variable has them"
run hrun --dry-run "${on[@]:0:4}" -app full -N 96 "$prog" '{N}'
err_has "full has shares, and those of a process do not reach" "words in place of the arguments that have them"
run hrun --dry-run "${on[@]:0:4}" -app deaf -N 96 "$prog" '{N}'
status_is 0 "but files do"
run hrun-calibrate --dry-run -q "${on[@]:0:4}" -app words -x 'PARTS={shares}' "$prog" '{N}'
status_is 0 "but a variable may"
define inverse 'shares: {units: "N"}' '"{N}", "--shares={shares}"'
sed -i 's|np: \[|&"N*(1/(1/W))", |' apps/inverse.yaml
run hrun-calibrate --dry-run -q "${on[@]:0:4}" -app inverse "$prog"
status_is 0 "a term over 1/W has a value"
run hrun -n 2 -x 'A={N} {shares:foo} {shares' sh -c 'echo "$A"'
ok "-x leaves other braces as they are" test "$status $(sort -u <<<"$out")" = "0 {N} {shares:foo} {shares"
run hrun -n 1 echo '{sharesX}' '{shared' '{"share":1}' '{{a}'
ok "so do words" test "$status $out" = '0 {sharesX} {shared {"share":1} {{a}'
for word in '{share:9:,}' '{Shares:9:,}' '{shares 9:,}' '{shares:9:,' '{SHARE:9:,'; do
    run hrun -n 1 echo "--parts=$word"
    one_error "$word"
    err_has "did you mean {shares:9:,}?" "which is misspelt"
done
for word in shares:9: --parts=shares:units: 'shares:cuts:;'; do
    run hrun -n 1 echo "$word"
    one_error "$word, which a shell has made"
    err_has "write it in quotes" "of braces without quotes"
done
run hrun -n 1 -x PARTS={shares:9:,} true
err_has "'PARTS={shares:9:,}': write it in quotes" "as of a variable"
run hrun -n 2 echo shares:9: shares:x: shares '{shares:9:,}'
status_is 0 "beside shares in quotes it is a word"
run hrun -n 1 echo '{{share: 1}' 'x {{Shares}' '{{shares}'
ok "a second brace makes a plain one" test "$status $out" = '0 {share: 1} x {Shares} {shares}'
run hrun -n 1 echo '${shares:-none}' '${share}' '${shares:2}'
ok "variables of a shell are left alone, but shares" test "$status $out" = '0 ${shares:-none} ${share} $2'
run hrun -n 2 -x 'A={shares:1:,}' echo
err_has "1 unit of work is too few for P = 2" "fewer units than processes in a variable"
run hrun -n 1 echo '{share}'
err_has "did you mean {shares}?" "so is {share}"
run hrun -n 1 echo '{share:rows}'
err_has "shares are written as {shares} or {shares:FORM}, by which they are units" "another word is told which there are"
run hrun -n 1 echo '{shares:}'
err_has "no form behind its colon" "but not shares of no form"
here+=(--data "$tap_dir/variable")
run hrun-calibrate "${here[@]}" -q -x 'PARTS={shares:48}' "$prog" 48
status_is 0 "a command whose shares a variable has"
ok "is run with unequal ones" grep -qE '"shares":"0\.[0-9]+,0\.[0-9]+"' "$tap_dir"/variable/profiles/jacobi-*/*.log
run hrun --dry-run "${here[@]}" "$prog" 48
out_has "never measured" "without the variable it is another command"

# A command whose words hold one number of processes.
cat >lists.c <<'C'
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int procs;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &procs);
    if (argc - 1 != procs) {
        fprintf(stderr, "%d numbers for %d processes\n", argc - 1, procs);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    for (int i = 0; i < 20; i++) {
        smpi_execute_flops(1e7);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
C
smpicc -o lists lists.c
for P in 5 6; do
    here=(--platform p.xml --smpi smpi/coll-selector:mpich --data "$tap_dir/lists$P" --use "a:$((P - 3)),b:3")
    words=(./lists $(seq "$P"))
    run hrun-calibrate "${here[@]}" "${words[@]}"
    status_is 0 "a program that accepts $P processes alone is calibrated"
    err_has "from now on: P == $P" "which is found"
    err_has "from now on hrun starts this command with $P processes" "and chosen"
    run hrun "${here[@]}" "${words[@]}"
    status_is 0 "hrun starts what works"
done
done_testing
