#!/bin/bash
# Folders of runs over several hosts: with a working folder that all share, and with one on each host.
. "$(dirname "$0")/lib.sh"
cd "$tmp" || exit 1
lab_up "a1 40 - fast" "a2 40 - fast"
mkdir defs shared shared/work
export HRUN_PROFILE_PATH=$tmp/defs
printf '%s\n' 'name: prog' 'programs: [prog]' 'terms: {np: ["N/P", "1"], n: ["N", "1"]}' 'args: ["{N}"]' \
    "time: {match: '^time: ([0-9.]+)'}" >defs/prog.yaml
cat >shared/work/prog <<'EOF'
#!/bin/sh
pwd >>"$SEEN"
[ -e deck ] || exit 9
echo out >result.$1.$(hostname).$$
[ "${OMPI_COMM_WORLD_RANK:-0}" = 0 ] && echo "time: 0.$1"
exit 0
EOF
chmod +x shared/work/prog; echo x >shared/work/deck
export SEEN=$tmp/seen
cal="hrun-calibrate --full-grid --host a[1-2] --again --sizes 11,13,15 --procs 1 --pes 2 -r 1 --retries 0 -x SEEN"
cd shared/work
run on_head $cal ./prog
status_is 0 "runs over two hosts that share the working folder"
ok "had folders of their own" test "$(sort -u "$SEEN" | wc -l)" = 3
ok "which are gone" test "$(ls -R "$tmp/shared" | grep -c 'result\|hrun')" = 0
# Each host has a /tmp of its own.
for host in head a1 a2; do
    on "$host" mkdir -p /tmp/own/work
    on "$host" cp "$tmp/shared/work/prog" "$tmp/shared/work/deck" /tmp/own/work
done
rm -f "$SEEN"
cd "$tmp"
run on_head $cal --wdir /tmp/own/work ./prog
status_is 0 "runs over two hosts whose working folders are their own"
err_has "runs are made in /tmp/own/work itself: no folder for them can be made there that all hosts see" \
    "are made in these, and it is said"
ok "they are" test "$(sort -u "$SEEN")" = /tmp/own/work
done_testing
