#!/bin/bash
# lab.t - the short part of the lab's tests: a small cluster comes up, hrun runs over it, through ssh and inside Slurm,
# and nothing is left. The long part is `make check-lab`.
. "$(dirname "$0")/../lab/lib.sh"

groups() { find /sys/fs/cgroup -maxdepth 2 -type d -name "$1" 2>/dev/null; }

run lab up "$tmp/none"
if lab can >/dev/null; then
    status_is 1 "a table that is not there"
    err_has "no such table" "... is told"
    printf 'h1 30 0\nh1 - -\n' >"$tmp/twice"
    run lab up "$tmp/twice"
    err_has "twice:2: host h1 is there twice" "a bad table is told with its line"
    printf 'h1 1 0\nh2\n' >"$tmp/small"
    run env HRUN_LAB="$tmp/small.lab" "$lab_tool" up "$tmp/small"
    err_has "a quota of 1 % is too small" "a lab that cannot be as the table wants it does not come up"
    ok "... and leaves no folder" test ! -e "$tmp/small.lab"
    # What lies about is never taken for a lab's: root believes what is in the folder, and removes it.
    mkdir "$tmp/full" "$tmp/open"
    touch "$tmp/full/mine"
    for folder in full open link; do
        [ $folder != link ] || ln -s open "$tmp/link"
        [ $folder != open ] || chmod 777 "$tmp/open"
        run env HRUN_LAB="$tmp/$folder" "$lab_tool" up
        status_is 1 "no lab in a folder that is $folder"
        run env HRUN_LAB="$tmp/$folder" "$lab_tool" down
        ok "... and it is left as it is" test -e "$tmp/$folder"
        [ $folder != open ] || chmod 755 "$tmp/open"
    done
    ok "... with what is in it" test -f "$tmp/full/mine"
    run env HRUN_LAB="$tmp/a b" "$lab_tool" can
    out_has "may be in this path" "a folder whose name would be two words is refused"
fi

lab_up 'h1 60 0 fast' 'h2 60 1 fast' 'h3 30 1 slow'
id=hrun-lab-$(printf %s "$HRUN_LAB" | sha1sum | cut -c 1-10)
ok "the lab's control groups are there" test -n "$(groups "$id")"
run on h3 hostname
[ "$out" = h3 ]; tap_report $((!$?)) "a host has its name"
run lab up
err_has "run lab down first" "it cannot come up twice"
run on_head ssh h2 'hostname; lstopo-no-graphics --of xml | grep -o "Lab [A-Z][a-z]*" | sort -u'
[ "$out" = $'h2\nLab Fast' ]; tap_report $((!$?)) "ssh reaches another host without words; it is of its kind"
ok "each host has its own /tmp" bash -c "'$lab_tool' exec h1 touch /tmp/mine && ! '$lab_tool' exec h2 test -e /tmp/mine"

run on_head hrun --host h1,h2,h3 "$bin/probe" info
status_is 0 "hrun over three hosts"
out_has "rank 2 of 3" "... starts a process on each"
run on_head hrun --host h1,h3 "$bin/probe" @1exit=7
status_is 7 "... and ends with the status of the program"
all_clean "nothing is left on any host"

# Others know where h3 is, from the runs above: that must hold after it is back. Else they wait for half a minute.
reached() {
    for from in head h1 h2; do
        run on $from ssh -o ConnectTimeout=5 h3 hostname
        [ "$out" = h3 ]; tap_report $((!$?)) "... and reached from $from at once"
    done
}
lab kill h3
run lab status
out_has "h3           10.77.0.3      down" "a host that was killed is down"
run lab start h3
status_is 0 "it is started"
reached
lab unplug h3
run on_head ssh -o ConnectTimeout=2 h3 hostname
status_is 255 "a host without network is silent"
run lab plug h3
status_is 0 "it is plugged in"
reached
mkdir /tmp/hrun-unseen.$$
run bash -c "cd /tmp/hrun-unseen.$$ && '$lab_tool' exec h1 pwd"
rmdir /tmp/hrun-unseen.$$
[ "$out" = /root ]; tap_report $((!$?)) "what cannot run in the folder it was called in runs in one of the host's own"

if slurm_up; then
    run in_slurm srun -l -N3 hostname
    out_has "2: h3" "Slurm runs on all hosts"
    run timeout 90 "$slurm_tool" exec salloc -Q -N3 hrun "$bin/probe" info
    status_is 0 "hrun inside an allocation of Slurm"
    out_has "rank 2 of 3" "... uses its hosts"
    ok "Slurm goes down" "$slurm_tool" down
    all_clean "nothing is left on any host after it"
else
    skip "hrun inside an allocation of Slurm" "no Slurm here: $why"
fi

for host in head h1 h2 h3; do on $host readlink /proc/self/ns/net; done >"$tmp/spaces"
inside() { readlink /proc/[0-9]*/ns/net 2>/dev/null | grep -Fxcf "$tmp/spaces"; }
ok "processes are in the hosts" test "$(inside)" -ge 4
run lab down
status_is 0 "the lab goes down"
ok "its folder is gone" test ! -e "$HRUN_LAB"
ok "its control groups are gone" test -z "$(groups "$id")"
ok "no process is in its hosts" test "$(inside)" = 0
run cat /proc/mounts
out_lacks "$HRUN_LAB" "its mounts are gone"
run lab down
status_is 0 "taking it down again is harmless"
done_testing
