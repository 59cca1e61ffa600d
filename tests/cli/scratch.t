#!/bin/bash
# Runs of hrun-calibrate have folders of their own: the user's folder stays as it was.
. "$(dirname "$0")/tap.sh"
mkdir "$tmp/defs" "$tmp/place" "$tmp/place/work" "$tmp/place/work/sub" "$tmp/place/work/.hidden" "$tmp/elsewhere"
export HRUN_PROFILE_PATH=$tmp/defs
work=$tmp/place/work
define() { # MORE KEYS OF THE DEFINITION
    cat >"$tmp/defs/prog.yaml" <<EOF
name: prog
programs: [prog]
terms: {np: ["N/P", "1"], n: ["N", "1"]}
args: ["{N}"]
files: [{path: sub/in.txt, content: "{N}"}, {path: mine.txt, content: "hrun's {N}"}]
time: {match: '^time: ([0-9.]+)'}
${1-}
EOF
}
# Rank 0 looks at its inputs, writes wherever a program might, and takes a time of N/100 s.
cat >"$work/prog" <<'EOF'
#!/bin/bash
[ "${OMPI_COMM_WORLD_RANK:-0}" = 0 ] || exit 0
[ "$(cat sub/in.txt)" = "$1" ] && [ "$(cat ../beside.txt)" = beside ] && [ "$(cat sub/deck)" = deck ] &&
    [ -s large ] && [ "$(cat .hidden/x)" = x ] && [ "$PWD" -ef . ] && [ "$(env | grep ^PWD=)" = "PWD=$PWD" ] || exit 9
echo out >result.$1.$$
echo changed >deck
echo changed >sub/deck
mkdir made && echo out >made/result
pwd >>"$SEEN"
[ -z "${SLEEP-}" ] || sleep "$SLEEP"
[ "$1" != "${FAIL-}" ] || { echo "not with $1"; echo "why it fails" >&2; exit 3; }
echo "time: 0.$1"
EOF
chmod +x "$work/prog"
echo deck >"$work/deck"
echo deck >"$work/sub/deck"
echo x >"$work/.hidden/x"
echo beside >"$tmp/place/beside.txt"
echo "the user's" >"$work/mine.txt"
truncate -s 2M "$work/large"
ln -s nowhere "$work/broken"
ln -s sub "$work/link"
export SEEN=$tmp/seen
state() {
    (cd "$tmp/place" && find . -type d -printf '%P %m\n' -o -printf '%P %y %m %s %t %l\n' | sort &&
        md5sum work/deck work/sub/deck work/mine.txt)
}
cd "$work" || exit 1

calibrate() { rm -f "$SEEN"; run hrun-calibrate --again --sizes 11,13,15 --pes 1 --full-grid -r 1 --retries 0 "$@"; }
folders() { sort -u "$SEEN" 2>/dev/null | wc -l; }
unchanged() { [ "$(state)" = "$before" ]; }

define
before=$(state)
calibrate ./prog
status_is 0 "a program that leaves files behind is calibrated"
ok "and the user's folder and the one around it are as they were" unchanged
ok "each run had a folder of its own" test "$(folders)" = 3
ok "beside the working folder" test "$(dirname "$(head -n 1 "$SEEN")")" = "$tmp/place"
calibrate -q -x SLEEP=0 ../work/prog '{N}'
status_is 0 "a program by another relative path, its size among its arguments, with -x"
ok "leaves nothing either" unchanged
cd "$tmp/elsewhere" || exit 1
calibrate --wdir ../place/work ./prog
status_is 0 "--wdir"
ok "its folder is left as it was" unchanged
cd "$work" || exit 1

echo big >>large
before=$(state)
cp prog "$tmp/prog.kept"
sed -i 's/^mkdir made/echo more >>large; &/' prog
before=$(state)
define 'scratch: copy'
calibrate ./prog
status_is 0 "scratch: copy"
ok "copies large files, too" unchanged
cp "$tmp/prog.kept" prog
define 'scratch: none'
calibrate ./prog
status_is 125 "scratch: none runs in the working folder, where the user's own file is kept"
err_has "mine.txt' was changed, or was not written by hrun" "as it always was"
define 'scratch: links'
calibrate ./prog
status_is 125 "what is not known is refused"
err_has "'scratch' must be one of link, copy, none, found 'links'; did you mean 'link'?" "with what is"
define

before=$(state)
calibrate -x FAIL=13 ./prog
status_is 125 "a run fails"
err_has "exit 3: why it fails; what it left is in $work/hrun-failed-prog" "it says where what it left is kept"
ok "what it wrote is there" test -e "$(echo "$work"/hrun-failed-prog/result.13.*)"
ok "with its output" grep -q "not with 13" "$work/hrun-failed-prog/hrun.stdout"
ok "and its errors" grep -q "why it fails" "$work/hrun-failed-prog/hrun.stderr"
ok "it can be run again there" test "$(cat "$work/hrun-failed-prog/sub/in.txt")" = 13
calibrate -x FAIL=15 ./prog
ok "one is kept, the last" test "$(cd "$work/hrun-failed-prog" && cat sub/in.txt; echo; ls result.*)" = "15
$(cd "$work/hrun-failed-prog" && ls result.15.*)"
rm -rf "$work/hrun-failed-prog"
ok "nothing else is" unchanged

begin() { # a calibration whose run sleeps, until it is there
    rm -f "$SEEN"
    env --default-signal hrun-calibrate --again --sizes 11,13,15 --pes 1 --full-grid -r 1 -x SLEEP=60 ./prog \
        >"$tmp/.out" 2>"$tmp/.err" </dev/null &
    pid=$!
    for ((i = 0; i < 300; i++)); do [ ! -s "$SEEN" ] && kill -0 "$pid" || break; sleep 0.1; done
}
settled() { for ((i = 0; i < 100; i++)); do unchanged && return; sleep 0.1; done; return 1; }
begin
kill -INT "$pid"
wait "$pid"
ok "an interrupted calibration removes its folder" unchanged
begin
kill -KILL "$pid"
wait "$pid" 2>/dev/null
ok "and one that is killed" settled

mkdir "$work/hrun.$(id -u).x"
before=$(state)
calibrate ./prog
ok "another run's folder is left alone" unchanged
rmdir "$work/hrun.$(id -u).x"

# Where nothing can be made beside the working folder, in it.
if mount -t tmpfs none "$tmp/elsewhere" 2>/dev/null; then
    cp -a "$work/." "$tmp/elsewhere"
    echo beside >"$tmp/beside.txt"
    sed -i 's,\.\./beside,../../beside,' "$tmp/elsewhere/prog"
    cd "$tmp/elsewhere" || exit 1
    calibrate ./prog
    status_is 0 "the working folder is a file system of its own"
    ok "runs have folders in it" test "$(dirname "$(head -n 1 "$SEEN")")" = "$tmp/elsewhere"
    ok "which are gone" test -z "$(find . -name 'hrun*')"
    cd "$tmp" || exit 1
    umount "$tmp/elsewhere"
else
    for what in "its own file system" "folders in it" "which are gone"; do
        skip "$what" "no tmpfs may be mounted here"
    done
fi
done_testing
