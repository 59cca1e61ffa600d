#!/bin/bash
# faults.t - what goes wrong on clusters: hosts that are down, hang, are full, or are not what they were; jobs that are
# interrupted or killed. Each time: an error that names the host, status 125, nothing started, nothing left on any host.
# $LAB_ENGINE: mpirun (default), or ssh, with a program of MPICH (faults_ssh.t).
. "$(dirname "$0")/lib.sh"

engine=${LAB_ENGINE:-mpirun}
probe=$bin/probe
[ "$engine" = ssh ] && probe=$bin/mpich/probe
[ -x "$probe" ] || { echo "1..0 # SKIP mpicc.mpich is not there"; exit 0; }
lab_up 'h1 60 0 fast' 'h2 60 1 fast' 'h3 50 1 slow'

hosts=h1,h2,h3
# Limits of the tests, in seconds: hrun's own for a host that does not answer is 30.
patience=90

job() { on_head hrun --host $hosts "$@"; }
job_in() { background "$1" on_head hrun --host $hosts "${@:2}"; }
forget() { rm -rf "$HOME/.cache/hrun"; }
# What is remembered of a host may not hold after its boot.
restart() { lab start "$1"; forget; }
warm() {
    run job "$probe" barriers=1
    [ "$status" = 0 ] && return
    printf '%s\n' "$out" "$err" | sed 's/^/# /'
    tap_report 0 "hrun runs over hosts in good health"
    done_testing
}
running() { # HOST...: the program runs on each
    local h
    for h; do on "$h" pgrep -x probe >/dev/null || return 1; done
}

# The job did not start, and the last word is hrun's, about that host.
refused() { # HOST TEXT WHAT
    local last
    last=$(printf '%s\n' "$err" | tail -n 1)
    status_is 125 "$3: status 125"
    case $last in
        "hrun: "*"$1"*) tap_report 1 "$3: the last line names $1" ;;
        *) tap_report 0 "$3: the last line names $1 (it is '$last')" ;;
    esac
    err_has "$2" "$3: says what is wrong"
    ok "$3: nothing was started, and standard output is empty" test -z "$out"
}

# ---------------------------------------------------------------- a host that is down

lab kill h3
run timeout $patience "$lab_tool" head hrun --host $hosts "$probe" info
refused h3 h3 "a host is down before discovery"
run timeout $patience "$lab_tool" head hrun --skip-unreachable --host $hosts "$probe" info
status_is 0 "... with --skip-unreachable the others run"
err_has h3 "... the missing one is named"
out_has "rank 1 of 2" "... and left out"
restart h3
all_clean "a host that is down leaves nothing behind"

# sshd stands still, so that hrun waits for the host when it dies.
forget
on h3 pkill -STOP -x sshd
job_in asking "$probe" info
await 20 on_head pgrep -f 'ssh .*h3' && sleep 1
lab kill h3
finish asking $patience
refused h3 h3 "a host dies during discovery"
restart h3
all_clean "a host that dies during discovery leaves nothing behind"

warm
lab kill h3
run timeout $patience "$lab_tool" head hrun --host $hosts "$probe" info
refused h3 h3 "a host whose topology is remembered is down"
restart h3
all_clean "a launch that a host fails leaves nothing behind"

job_in dies "$probe" sleep=300
ok "a job runs on all hosts" await 30 running h1 h2 h3
lab kill h3
finish dies $patience
status_is 125 "a host dies during a run: status 125"
err_has "host 'h3' was lost" "... it is named"
restart h3
all_clean "the other hosts are clean after it"

job_in silent "$probe" sleep=300
ok "a job runs on all hosts again" await 30 running h1 h2 h3
lab unplug h3
finish silent $patience
status_is 125 "a host goes silent during a run: status 125"
err_has "host 'h3' was lost" "... it is named"
lab plug h3
ok "the silent host ends its part by itself" await $patience bash -c "! '$lab_tool' exec h3 pgrep -x probe"
all_clean "all hosts are clean after it"

# ---------------------------------------------------------------- ssh that hangs

forget
on h3 pkill -STOP -x sshd
run timeout $patience "$lab_tool" head hrun --host $hosts "$probe" info
refused h3 "did not answer" "ssh hangs during discovery"
on h3 pkill -CONT -x sshd
warm
on h3 pkill -STOP -x sshd
run timeout $patience "$lab_tool" head hrun --host $hosts "$probe" info
refused h3 h3 "ssh hangs during the launch"
on h3 pkill -CONT -x sshd
all_clean "ssh that hangs leaves nothing behind"

# ---------------------------------------------------------------- temporary folders

warm
on h2 mount -o remount,size=64k /tmp
on h2 sh -c 'cat /dev/zero >/tmp/full' 2>/dev/null
run timeout $patience "$lab_tool" head hrun --host $hosts "$probe" info
refused h2 /tmp "a full temporary folder"
on h2 rm /tmp/full
on h2 mount -o remount,size=1g,ro /tmp
run timeout $patience "$lab_tool" head hrun --host $hosts "$probe" info
refused h2 /tmp "a temporary folder that is read-only"
on h2 mount -o remount,rw /tmp
run job "$probe" info
status_is 0 "once there is room the job runs"
all_clean "full folders leave nothing behind"

# ---------------------------------------------------------------- hosts that are not what they were

warm
lab kind h2 odd
run job "$probe" info
status_is 0 "a host whose topology has changed is asked anew"
err_has "h2" "... and named"
out_has "rank 2 of 3" "... and the job runs, once"
run printf '%s\n' "$out"
ok "... with each rank once" test "$(printf '%s\n' "$out" | grep -c '^rank ')" = 3
run job --show-cluster
out_has "Odd" "... the new topology is remembered"
lab kind h2 fast

all_clean "a changed host leaves nothing behind"

if [ "$engine" = mpirun ]; then
# An mpirun of another version stands over the real one, on h2 alone.
printf '#!/bin/sh\necho "mpirun (Open MPI) 3.1.2"\n' >"$tmp/old"
chmod 755 "$tmp/old"
mpirun=$(readlink -f "$(command -v "${HRUN_TEST_MPIRUN:-/usr/bin}/mpirun.openmpi" || command -v mpirun)")
on h2 mount --bind "$tmp/old" "$mpirun"
for when in remembered asked; do
    run timeout $patience "$lab_tool" head hrun --host $hosts "$probe" info
    refused h2 3.1.2 "another Open MPI on a host that is $when"
    err_has "$("$mpirun" --version | sed -n '1s/.* //p')" "... and the version here"
    forget
done
on h2 umount "$mpirun"
run job "$probe" info
status_is 0 "with the same Open MPI everywhere the job runs"
fi

# ---------------------------------------------------------------- signals

warm
for delay in 0.1 0.3 0.6 1; do
    job_in twice "$probe" sleep=300
    await 10 on_head pgrep -x hrun
    sleep $delay
    on_head pkill -INT -x hrun
    sleep 0.1
    on_head pkill -INT -x hrun
    finish twice 60
    status_is 130 "SIGINT twice, $delay s after the start: status 130"
    all_clean "... nothing is left on any host"
done

job_in killed "$probe" term-ignore daemon=300 sleep=300
ok "a job that ignores SIGTERM and leaves a daemon runs" await 30 running h1 h2 h3
on_head pkill -KILL -x hrun
finish killed 10
status_is 137 "hrun is killed with SIGKILL"
all_clean "... no process of the job survives on any host, and no file"

for delay in 0.1 0.4 0.8; do
    job_in early "$probe" sleep=300
    await 10 on_head pgrep -x hrun
    sleep $delay
    on_head pkill -KILL -x hrun
    finish early 10
    all_clean "SIGKILL $delay s after the start: nothing is left on any host"
done

# ---------------------------------------------------------------- two at once

job_in one "$probe" ring barriers=20 exit=3
job_in two "$probe" ring barriers=20 exit=4
finish one $patience
status_is 3 "two hruns at once on the same hosts: the first"
finish two $patience
status_is 4 "... and the second"
all_clean "... nothing is left on any host"
done_testing
