#!/bin/bash
# service.t - predictions for schedulers: hrun --dry-run=time, hrun_ask by the programs of libhrun(3) in C and in Python,
# hrun.h, and what libhrun shows. What they say is what the dry run says.
. "$(dirname "$0")/tap.sh"

# cluster FILE NEW OLD: a cluster of so many new and old hosts
cluster() {
    cat >"$1" <<Y
subclusters:
  - name: new
    hosts: 127.0.0.[2-$((1 + $2))]
    topology: "[numa] package:1 core:4 pu:1"
    cost_per_hour: 9
  - name: old
    hosts: 127.0.1.[1-$3]
    topology: "[numa] package:1 core:2 pu:1"
    cost_per_hour: 1
Y
}
cluster "$tmp/cluster.yaml" 2 4
cluster "$tmp/small.yaml" 1 4
. "$top/tests/cli/madelog.sh"
put <<<$'alone new 2\nalone old 4\nrun (1,1,4,1) 2000 1.2\nrun (2,1,4,1) 2000 1.1'
run hrun-calibrate fit lu
status_is 0 "profiles of two sub-clusters"

# ---------------------------------------------------------------- hrun --dry-run=time
lu=(hrun --cluster "$tmp/cluster.yaml" -app lu -N 2000)
# dry FIELDS CONFIG...: of the dry run with a program
dry() {
    run "${lu[@]}" --dry-run --json "${@:2}" "$bin/lu"
    field "'%.6g %.6g %.6g' % (p['predicted_s'], p['predicted_low_s'], p['predicted_high_s'])$1"
}
dry "" --config 2,1,4,1 >"$tmp/want"
dry "" --config 1,1,0,0 >>"$tmp/want"
run "${lu[@]}" --dry-run=time --config '(2,1,4,1)' --config 1,1,0,0
status_is 0 "--dry-run=time without a program"
ok "a line for each configuration: seconds, interval, configuration" test "$out" = \
    "$(paste -d' ' "$tmp/want" <(printf '(2,1,4,1)\n(1,1,0,0)\n'))"
best=$(dry "")
run "${lu[@]}" --dry-run --json "$bin/lu"
config=$(field "'(' + ','.join('%d,%d' % (s['pes'], s['procs_per_pe']) for s in p['config']) + ')'")
run "${lu[@]}" --dry-run=time
ok "without --config the best" test "$out" = "$best $config"
run "${lu[@]}" --dry-run=time "$bin/lu"
ok "and with a program the same" test "$out" = "$best $config"
run "${lu[@]}" --dry-run=time --objective cost
out_has "(0,0,1,1)" "led by the options of a choice"
run "${lu[@]}" --dry-run=time --json
status_is 0 "--dry-run=time --json"
cp "$tmp/.out" "$tmp/predict.json"
run "${lu[@]}" --dry-run --json "$bin/lu"
ok "is the document of the dry run but for what would be started" python3 - "$tmp/predict.json" "$tmp/.out" <<'P'
import json, sys
a, b = (json.load(open(f)) for f in sys.argv[1:])
assert a["argv"] is None and a["mpirun"] is None and b["argv"] and b["mpirun"]
# What the dry run tells besides is about a run.
assert list(a) == [k for k in b if k in a]
assert [k for k in a if a[k] != b[k] and k != "search_s"] == ["argv", "mpirun"]
P
run "${lu[@]}" --dry-run=time --json --config 2,1,4,1 --config 1,1,0,0
ok "an array for several configurations" test "$(field '[c["P"] for c in p]')" = "[6, 1]"
run "${lu[@]}" --dry-run
status_is 0 "--dry-run without a program"
out_has "-np 2 lu 2000" "shows the definition's"
out_has "predicted 2.04 s" "and uses the profile that there is"
run env PATH="$build/bin:/nowhere" "${lu[@]}" --dry-run=time
ok "neither mpirun nor an MPI need be installed" test "$out" = "$best $config"

fails 125 "new has 2 PEs, not 5" "a configuration that is not there" "${lu[@]}" --dry-run=time --config 5,1,0,0
fails 125 "5,1,0,0: --config" "of several it says which, and prints nothing" "${lu[@]}" --dry-run=time --config 1,1,0,0 \
    --config 5,1,0,0
fails 125 "give -N SIZE" "no size" hrun --cluster "$tmp/cluster.yaml" -app lu --dry-run=time
fails 125 "name one with -app" "no application" hrun --cluster "$tmp/cluster.yaml" -N 100 --dry-run=time
fails 125 "sub-cluster new has no profile of jacobi" "no profile" \
    hrun --cluster "$tmp/cluster.yaml" -app jacobi -N 100 --dry-run=time
fails 125 "no program given" "a run needs a program" "${lu[@]}"
fails 125 "a profile of lu for engine mpirun, and none for engine srun" "the profile of another engine" "${lu[@]}" \
    --dry-run=time --engine srun

# ---------------------------------------------------------------- an application of two variants
mkdir "$tmp/defs"
sed '/^name:/c name: two\nvariants:\n- {name: far, title: Slow on few}\n- {name: near, title: Slow on many}' \
    "$apps/lu.yaml" >"$tmp/defs/two.yaml"
python3 - "$HRUN_DATA/profiles" <<'P'
import glob, json, os, sys, zlib
for name in ("far", "near"):
    os.mkdir(sys.argv[1] + "/two." + name)
    for log in glob.glob(sys.argv[1] + "/lu/*.log"):
        with open(log.replace("/lu/", "/two.%s/" % name), "w") as out:
            for line in open(log):
                r = json.loads(line.split("\t")[0])
                if r["mixed"]:
                    continue
                scale = 2 if (r["N"] >= 1600) == (name == "near") else 1
                r.update(app="two." + name, consts="variant:" + name, time_s=r["time_s"] * scale)
                text = json.dumps(r, separators=(",", ":"), sort_keys=True)
                out.write("%s\t%08lx\n" % (text, zlib.crc32(text.encode())))
P
run hrun-calibrate --profile-path "$tmp/defs" fit two.far two.near
status_is 0 "profiles of both"
two=(hrun --profile-path "$tmp/defs" --cluster "$tmp/cluster.yaml" -app two)
for n in 600 3000; do
    run "${two[@]}" -N $n --dry-run=time --variant far
    far=$out
    run "${two[@]}" -N $n --dry-run=time --variant near
    quick=$(printf '%s\n' "$far" "$out" | sort -g | head -n 1)
    ok "variants differ at N = $n" test "$far" != "$out"
    run "${two[@]}" -N $n --dry-run=time
    ok "and the quicker one is told" test "$out" = "$quick"
    run "${two[@]}" -N $n --dry-run --json
    ok "as the dry run has it" test "$(field "'%.6g' % p['predicted_s']")" = "${quick%% *}"
done

# ---------------------------------------------------------------- as installed
dest=$tmp/dest
run env -u MAKEFLAGS -u MAKELEVEL make -s --no-print-directory install \
    DESTDIR="$dest" PREFIX=/usr SANITIZE="${HRUN_SANITIZE:-}"
status_is 0 "make install"
inc=$dest/usr/include
for as in "-std=c11 -x c" "-std=c++11 -x c++" "-std=c++17 -x c++"; do
    echo '#include <hrun.h>' >"$tmp/alone"
    # shellcheck disable=SC2086
    run cc $as -Wall -Wextra -Wpedantic -Werror -I"$inc" -fsyntax-only "$tmp/alone"
    status_is 0 "hrun.h compiles alone with $as"
done
cat >"$tmp/user.cc" <<'C'
#include <hrun.h>
#include <cstdio>
int main() { std::printf("%s\n", hrun_version()); }
C
export PKG_CONFIG_PATH=$dest/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$dest
export LD_LIBRARY_PATH=$dest/usr/lib${LD_LIBRARY_PATH+:$LD_LIBRARY_PATH}
san=${HRUN_SANITIZE:+-fsanitize=$HRUN_SANITIZE}
# shellcheck disable=SC2046,SC2086
run c++ $san -Wall -Werror -o "$tmp/user" "$tmp/user.cc" $(pkg-config --cflags --libs hrun)
run "$tmp/user"
ok "a program in C++ is linked with it" test "hrun $out" = "$(hrun --version)"

# Names that hrun.h declares, its comments, and what its own libraries make of them apart.
declared=$(cc -E -P "$inc/hrun.h" | grep -oE '\<hrun_[a-z0-9_]+' | sort -u)
for lib in "-D --defined-only $dest/usr/lib/libhrun.so" "$dest/usr/lib/libhrun.a"; do
    # shellcheck disable=SC2086
    shown=$(nm $lib | awk '$2 ~ /^[BCDGRSTVWui]$/ { sub(/@.*/, "", $3); print $3 }' | grep -vE '^(_|$)' | sort -u)
    ok "${lib##*/} shows ten functions" test "$(echo "$shown" | wc -l)" = 10
    more=$(comm -23 <(echo "$shown") <(echo "$declared"))
    ok "${lib##*/} shows nothing that hrun.h does not declare" test -z "$more"
done
readelf -d "$dest/usr/lib/libhrun.so" >"$tmp/dynamic"
ok "libhrun.so has its ABI's name" grep -q 'soname: \[libhrun.so.0\]' "$tmp/dynamic"

# ---------------------------------------------------------------- the programs of the manual
cd "$tmp" || exit 1
sed -n '/^\.\\" The program below is compiled and run by tests\/cli\/service/,/^\.Ed/p' "$top/man/libhrun.3" |
    sed '/^\./d; s/\\e/\\/g' >which.c
sed -n '/^\.\\" The script below is run by tests\/cli\/service/,/^\.Ed/p' "$top/man/libhrun.3" |
    sed '/^\./d; s/\\e/\\/g' >best.py
ok "the manual has a program" grep -q hrun_ask which.c
# shellcheck disable=SC2046,SC2086
run cc $san -Wall -Wextra -Werror -o which which.c $(pkg-config --cflags --libs hrun jansson)
status_is 0 "it builds with hrun.pc"
run ./which lu cluster.yaml 600 2000 none
status_is 0 "and runs"
answers=$out
err_has "N = none: " "what is no size is refused in words"
for n in 600 2000; do
    run hrun --cluster cluster.yaml -app lu -N $n --dry-run --json
    want=$(field "'N = %d: %d processes, %.3f s' % (p['N'], p['P'], p['predicted_s'])")
    ok "it says what the dry run chooses at N = $n" grep -Fqx "$want" <<<"$answers"
done
if [ -n "$san" ]; then
    skip "Python" "the sanitizer's library would have to be loaded first"
else
    run python3 best.py lu cluster.yaml 2000
    status_is 0 "the manual's script runs"
    out_has "2000 2 2.043 s limited by new" "and finds the best"
    run python3 best.py lu nosuch.yaml 2000
    err_has "nosuch.yaml" "an error is told in words"
    status_is 1 "and ends it"
    sed '/^app, cluster/,$d' best.py >ask.py
    cat >>ask.py <<'P'
import subprocess
def both(**question):
    line = ["hrun", "--dry-run=time", "--json"]
    for key, value in question.items():
        for v in value if isinstance(value, list) else [value]:
            line += ["--" + key] + (str(v).split("=", 1) if key == "mca" else [str(v)])
    want = json.loads(subprocess.run(line, stdout=subprocess.PIPE, check=True).stdout)
    got = ask(**question)
    for a in (want if isinstance(want, list) else [want]) + (got if isinstance(got, list) else [got]):
        a.pop("search_s", None)
    print("same" if want == got else ("differs", line, want, got))
lu = dict(app="lu", cluster="cluster.yaml")
both(**lu, size=2000)
both(**lu, size=2000, config=["2,1,4,1", "(1,1,0,0)"])
both(**lu, size=1700, objective="cost", limit="within=50%,pes=4", use="new:1,old", top=7)
both(**lu, np=2, size=2000, mca=["btl=self,tcp"], level="node", engine="mpirun")
both(app="two", cluster="cluster.yaml", size=600, **{"profile-path": "defs"})
both(app="two", cluster="cluster.yaml", size=3000, variant="far", **{"profile-path": "defs"})
P
    run python3 ask.py
    ok "each question is answered as the command line with the same options" test "$out" = \
        "$(printf 'same\n%.0s' 1 2 3 4 5 6)"
    python3 - "$top/lib/session/ask.c" >keys <<'P'
import re, sys
for key in re.findall(r'_KEY\("([a-z-]+)"|\.name = "([a-z-]+)"', open(sys.argv[1]).read()):
    print(max(key))
P
    ok "there are keys" test "$(wc -l <keys)" -gt 20
    hrun --help >help
    while read -r key; do
        [ "$key" = program ] || grep -q -- "--$key\b" help || echo "$key"
        [ "$key" = size ] || grep -qw -- "$key" "$top/man/libhrun.3" || echo "$key"
    done <keys >missing
    ok "each key is an option of hrun, and in the manual" test ! -s missing
fi
done_testing
