#!/bin/bash
# Measurements for other programs and from them: CSV, and Extra-P's text format out.
. "$(dirname "$0")/tap.sh"

sig=cpu-a.4c-1f2e3d4c
other=cpu-b.8c-0a0b0c0d

# Write a log: signature, then lines "N P M pes ok mixed time consts extra-JSON".
log() {
    mkdir -p "$HRUN_DATA/profiles/lu"
    python3 -c '
import json, sys, zlib
sig = sys.argv[1]
for i, line in enumerate(sys.stdin):
    N, P, M, pes, ok, mixed, t, consts, extra = line.rstrip("\n").split("\t")
    t = float(t)
    o = dict(M=int(M), N=int(N), P=int(P), app="lu", cluster="a,b", config="(4,1,0,0)", consts=consts, engine="local",
             date="2026-11-20T10:36:%02dZ" % (i % 60), host="head", mixed=mixed == "1", mpi="ompi-4.1.4", ok=ok == "1",
             origin="calibration", pes=int(pes), program="/opt/a, \"b\"/lu", signature=sig, time_s=t,
             status="ok" if ok == "1" else "exit 3", v=1, version="0.1.0", wall_s=t + 0.1)
    if extra:
        o.update(v=2, signatures="", limits="", compute_s=0.0, mpi_s=0.0, trace="")
        o.update(json.loads(extra))
    text = json.dumps(o, sort_keys=True, separators=(",", ":"))
    print("%s\t%08x" % (text, zlib.crc32(text.encode())))' "$1" > "$HRUN_DATA/profiles/lu/$1.log"
}
t=$'\t'
log $sig <<END
400${t}2${t}1${t}2${t}1${t}0${t}0.1${t}nb=128${t}
400${t}1${t}1${t}1${t}1${t}0${t}1.2345678901234568e-7${t}nb=128${t}
400${t}1${t}1${t}1${t}1${t}0${t}0.3${t}nb=128${t}
800${t}4${t}2${t}2${t}1${t}0${t}12345.5${t}nb=128${t}
800${t}4${t}2${t}2${t}0${t}0${t}0${t}nb=128${t}
800${t}7${t}2${t}2${t}1${t}1${t}7.25${t}nb=128${t}{"limits":"b","signatures":"$sig,$other","compute_s":1.5,"mpi_s":0.1,"trace":"x\\ny, \\"z\\""}
END
log $other <<END
400${t}1${t}1${t}1${t}1${t}0${t}0.7${t}${t}
END
home=$HRUN_DATA

# All records as JSON, sorted, but for what an import may change.
records() { # DATA [without KEY...]
    python3 - "$@" <<'END'
import glob, json, sys
out = []
for name in glob.glob(sys.argv[1] + "/profiles/*/*.log"):
    for line in open(name):
        o = json.loads(line.split("\t")[0])
        o.setdefault("limits", ""), o.setdefault("signatures", ""), o.setdefault("trace", "")
        o.setdefault("compute_s", 0.0), o.setdefault("mpi_s", 0.0)
        for key in ["origin", "v"] + sys.argv[2:]:
            o.pop(key)
        out.append(json.dumps(o, sort_keys=True))
print("\n".join(sorted(out)))
END
}
origins() { cat "$HRUN_DATA"/profiles/*/*.log | grep -o '"origin":"[a-z]*"' | sort -u; }

# ------------------------------------------------------------------ CSV
run hrun-calibrate export -o "$tmp/all.csv" -app lu
status_is 0 "export to CSV"
ok "it says nothing" test -z "$out$err"
out=$(head -n 1 "$tmp/all.csv") err=
out_has "app,signature,N,P,M,pes,time_s," "a header with all columns"
ok "Python's csv module reads what was stored" python3 - "$tmp/all.csv" <<'END'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
assert len(rows) == 7, len(rows)
mixed = [r for r in rows if r["mixed"] == "1"]
assert len(mixed) == 1 and mixed[0]["trace"] == 'x\ny, "z"' and mixed[0]["program"] == '/opt/a, "b"/lu'
assert sorted(float(r["time_s"]) for r in rows)[1] == 1.2345678901234568e-7
END
run hrun-calibrate export lu
cmp -s "$tmp/.out" "$tmp/all.csv"
ok "standard output is the same" cmp "$tmp/.out" "$tmp/all.csv"
fails 125 "all.dat' ends neither in .csv" "an export whose name does not tell a format" \
    hrun-calibrate export -o "$tmp/all.dat" -app lu
ok "writes nothing" test ! -e "$tmp/all.dat"
run hrun-calibrate export -o "$tmp/all" -app lu
ok "a name that ends in nothing gets CSV" cmp "$tmp/all" "$tmp/all.csv"

export HRUN_DATA=$tmp/second
run hrun-calibrate import "$tmp/all.csv"
status_is 0 "import of all"
out_has "lu on $sig: 6 measurements imported, 0 known" "it says how many"
ok "nothing is lost" test "$(records "$home")" = "$(records "$HRUN_DATA")"
out=$(origins)
ok "their origin is import" test "$out" = '"origin":"import"'
run hrun-calibrate import "$tmp/all.csv"
out_has "0 measurements imported, 6 known" "what is imported again is known"
export HRUN_DATA=$tmp/third
run hrun-calibrate import "$tmp/all.csv" "$tmp/all.csv"
ok "a file that is given twice, too" test "$(records "$home")" = "$(records "$HRUN_DATA")"
run hrun-calibrate import --signature new-1 -app lu "$tmp/all.csv"
status_is 125 "two profiles are not made one"
err_has "$tmp/all.csv:9: " "which is told at the row"
err_has "$other" "and both are named"

# ------------------------------------------------------------------ Extra-P
export HRUN_DATA=$home
fails 125 "one set of constants" "a file for Extra-P has one region" hrun-calibrate export --format extrap lu
run hrun-calibrate export -o "$tmp/{app}-{signature}.txt" lu
status_is 0 "one file for each sub-cluster"
err_has "2 measurements are left out" "failed and mixed runs are left out, and told"
printf '%s\n' '# measured by hrun: seconds, for the size N, P processes in all and M on each PE' 'PARAMETER N P M' \
    'POINTS (400 1 1) (400 2 1)' 'POINTS (800 4 2)' 'METRIC time' "REGION lu->$sig->nb=128" \
    'DATA 0.00000012345678901234568 0.3' 'DATA 0.1' 'DATA 12345.5' > "$tmp/want"
ok "the text format" diff "$tmp/want" "$tmp/lu-$sig.txt"
ok "without M where it is 1" grep -qx 'PARAMETER N P' "$tmp/lu-$other.txt"
before=$(cat "$home"/profiles/lu/*.log)
fails 125 "import reads CSV" "Extra-P's files are not read" hrun-calibrate import "$tmp/lu-$sig.txt"
fails 125 "import reads CSV" "nor those of Extra-P's users" \
    bash -c "printf 'PARAMETER p\nPOINTS 1 2\nREGION main\nDATA 1 2\n' | hrun-calibrate import --app lu --signature x -"
ok "and nothing of them is stored" test "$before" = "$(cat "$home"/profiles/lu/*.log)"
fails 125 "--format" "a format goes with export alone" hrun-calibrate import --format extrap "$tmp/lu-$sig.txt"

# ------------------------------------------------------------------ of other programs
export HRUN_DATA=$tmp/foreign
printf '\xef\xbb\xbfP,time_s,N\n8,0.5,100\n\n"8","0.5",200\n' > "$tmp/f.csv"
fails 125 "f.csv:2: the signature of the measurement is not known: say it with --signature" "a profile must be named" \
    hrun-calibrate import -app lu "$tmp/f.csv"
fails 125 "-app" "an application too" hrun-calibrate import --signature mine "$tmp/f.csv"
run bash -c 'hrun-calibrate import -app lu --signature mine - < "$1"' _ "$tmp/f.csv"
out_has "2 measurements imported" "CSV from standard input, with few columns in any order"
printf 'N,P,time_s,app\n100,1,1,theirs\n' > "$tmp/renamed.csv"
run hrun-calibrate import -app lu --signature mine "$tmp/renamed.csv"
out_has "its application 'theirs' becomes 'lu'" "what an option replaces is told"
fails 125 "no-such-app" "an application without a definition" hrun-calibrate import -app no-such-app --signature x "$tmp/f.csv"

# ------------------------------------------------------------------ all or nothing
before=$(cat "$HRUN_DATA"/profiles/*/*.log)
printf 'N,P,time_s\n5,5,5\n' > "$tmp/new.csv"
bad() { # NAME LINE TEXT WHAT <content
    cat > "$tmp/$1"
    fails 125 "$3" "$4" hrun-calibrate import -app lu --signature mine "$tmp/new.csv" "$tmp/$1"
    err_has "$tmp/$1:$2: " "at its line"
}
bad b.csv 3 "time_s is" "a time of zero" <<< $'N,P,time_s\n100,1,1\n100,1,0'
bad b.csv 3 "time_s" "one that is not a number" <<< $'N,P,time_s\n100,1,1\n100,1,nan'
bad b.csv 4 "N" "a negative size, behind a cell of two lines" <<< $'N,P,time_s,program\n100,1,1,"a\nb"\n-5,1,1,c'
bad b.csv 2 "cells" "a row with too few cells" <<< $'N,P,time_s\n100,1'
bad b.csv 2 "cells" "or too many" <<< $'N,P,time_s\n100,1,1,1'
bad b.csv 1 "the column 'times' is unknown" "an unknown column" <<< $'N,P,times\n100,1,1'
bad b.csv 1 "twice" "a column twice" <<< $'N,P,N,time_s\n1,1,1,1'
bad b.csv 1 "no column 'time_s'" "no time" <<< $'N,P\n100,1'
bad b.csv 3 "quote" "a quote inside of a cell" <<< $'N,P,time_s,host\n100,1,1,a\n100,1,1,a"b'
bad b.csv 2 "not closed" "a quote that stays open" <<< $'N,P,time_s,host\n100,1,1,"a'
bad b.csv 2 "others took part" "a mixed run that is none" <<< $'N,P,time_s,mixed\n100,1,1,1'
bad b.csv 2 "date is" "a date that is none" <<< $'N,P,time_s,date\n100,1,1,yesterday'
bad b.csv 2 "status is 'anew'" "a mark that would outdate others" <<< $'N,P,time_s,ok,status\n1,1,0,0,anew'
bad b.csv 2 "UTF-8" "text that is not UTF-8" <<< $'N,P,time_s,host\n1,1,1,a\xff'
bad b.csv 2 "P is 7" "PEs that do not make P" <<< $'N,P,M,time_s\n1,7,2,1'
bad b.csv 2 "time_s needs a number" "a time with a unit" <<< $'N,P,time_s\n1,1,1.5 ms'
bad b.csv 1 "the column 'N;P;time_s' is unknown" "semicolons" <<< $'N;P;time_s\n1;1;1'
bad b.csv 2 "N needs a whole number" "a line of comment" <<< $'N,P,time_s\n#,1,1'
ok "nothing of all these files was imported" test "$before" = "$(cat "$HRUN_DATA"/profiles/*/*.log)"
fails 125 "needs the name of a file" "no file" hrun-calibrate import
fails 125 "no measurement" "a file without measurements" hrun-calibrate import -app lu --signature x /dev/null

# ------------------------------------------------------------------ somebody else's constants
mkdir "$tmp/out"
run hrun-calibrate import -app lu --signature theirs "$tmp/new.csv"
printf 'N,P,time_s,consts\n5,5,5,../x/nb=1\n' > "$tmp/consts.csv"
run hrun-calibrate import -app lu --signature theirs "$tmp/consts.csv"
run hrun-calibrate export --signature theirs -o "$tmp/out/{constants}.csv" lu
status_is 0 "constants in the name of a file"
ok "name no folder" test -f "$tmp/out/.._x_nb=1.csv"

# ------------------------------------------------------------------ files that are not to be replaced
ln -s /dev/null "$tmp/null"
run hrun-calibrate export -o "$tmp/null" --format csv --signature mine lu
status_is 0 "export to a device"
ok "which stays one" test -c /dev/null
fails 125 "no measurement of signature none" "a signature that is not there" hrun-calibrate export --signature none lu
run bash -c 'hrun-calibrate export lu > /dev/full'
status_is 125 "a full disk is told"
done_testing
