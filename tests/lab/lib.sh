# lib.sh - tests on a lab of their own; sourced by tests/lab/*.t, brings tests/cli/tap.sh along
#
#   lab_up LINE...          bring a lab up with these lines as its table (see tests/lab/lab); at most one per test.
#                           Where no lab is possible the whole test is skipped, with the reason. It is taken down at
#                           exit on any path
#   slurm_up                start Slurm on it; status 1 and the reason in $why where its programs are missing
#   on HOST CMD...          run CMD on HOST, in the folder that the test is in; on_head CMD...: on host head
#   in_slurm CMD...         run CMD on head, with this Slurm
#   lab CMD ARGS...         any other command of tests/lab/lab
#   background NAME CMD...  run CMD behind; $tmp/NAME.out, .err; then finish NAME SECONDS sets $status, $out, $err
#   await SECONDS CMD...    until CMD succeeds; else status 1
#   all_clean WHAT          check that within 15 s no process and no file of a job is left on any host that is up
#
# Hosts see the tree and the folders of the test ($tmp, HOME, HRUN_DATA) as it does; /tmp, /run, /dev/shm and /root are each
# host's own.

# shellcheck source=tests/cli/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../cli/tap.sh"

export HRUN_LAB=$tmp/lab HRUN_LAB_SHARE=$tap_dir HRUN_BUILD=$build
lab_tool=$top/tests/lab/lab
slurm_tool=$top/tests/lab/slurm
lab_end() { cd /; [ ! -d "$HRUN_LAB" ] || "$lab_tool" down; rm -rf "$tap_dir"; }
trap lab_end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

lab() { "$lab_tool" "$@"; }
on() { "$lab_tool" exec "$@"; }
on_head() { "$lab_tool" head "$@"; }
in_slurm() { "$slurm_tool" exec "$@"; }

lab_up() {
    local why
    why=$(lab can) || { echo "1..0 # SKIP no lab here: $why"; exit 0; }
    printf '%s\n' "$@" >"$tmp/table"
    lab up "$tmp/table" >"$tmp/lab.up" 2>&1 && return
    sed 's/^/# /' "$tmp/lab.up"
    tap_report 0 "the lab comes up"
    done_testing
}

slurm_up() {
    why=$("$slurm_tool" can) || return 1
    "$slurm_tool" up >"$tmp/slurm.up" 2>&1 && return
    sed 's/^/# /' "$tmp/slurm.up"
    tap_report 0 "Slurm comes up"
    done_testing
}

await() {
    local end=$((SECONDS + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.1
    done
}

declare -A behind
background() { # NAME CMD...
    local name=$1
    shift
    "$@" >"$tmp/$name.out" 2>"$tmp/$name.err" </dev/null &
    behind[$name]=$!
}

# A job that does not end in time is killed, and its status is then 999.
finish() { # NAME SECONDS
    local pid=${behind[$1]}
    ran="$1 (behind)"
    gone() { ! kill -0 "$pid" 2>/dev/null; }
    if await "$2" gone; then
        wait "$pid"
        status=$?
    else
        kill -9 "$pid"
        wait "$pid" 2>/dev/null
        status=999
    fi
    out=$(cat "$tmp/$1.out")
    err=$(cat "$tmp/$1.err")
}

# What a job has left on a host: processes beside those that boot started (and Slurm's), and files in shared places.
left_on() { # HOST
    on "$1" sh -c '
        ps -eo pid=,ppid=,comm=,args= | awk -v me=$$ '\''
            $1 == 1 || $1 == me || $2 == me { next }
            $3 == "sleep" && $5 == 86400 && $2 == 1 { next }
            $3 == "sshd" && /\[listener\]/ { next }
            $3 ~ /^(munged|slurmd|slurmctld|slurmscriptd)$/ { next }
            { print }'\''
        ls -d /tmp/hrun.* /tmp/hrun-* /tmp/ompi.* /tmp/openmpi-* /tmp/pmix-* /tmp/prte.* /dev/shm/* 2>/dev/null
        true'
}

clean_now() {
    local host left=
    for host in $(lab status | awk 'NR > 1 && $3 != "down" { print $1 }'); do
        left+=$(left_on "$host" | sed "s/^/$host: /")
    done
    printf '%s' "$left" >"$tmp/.left"
    [ -z "$left" ]
}

all_clean() {
    if await 15 clean_now; then
        tap_report 1 "$1"
    else
        tap_report 0 "$1"
        sed 's/^/#   left on /' "$tmp/.left"
    fi
}
