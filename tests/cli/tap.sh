# tap.sh - Test Anything Protocol for tests of the commands; sourced by tests/cli/*.t, which prove(1) runs
#
#   run CMD...          run it; afterwards $status, $out and $err hold its exit status and what it wrote
#   status_is N WHAT    check $status
#   out_has TEXT WHAT   check that $out holds TEXT (err_has: $err); out_lacks, err_lacks: that it does not
#   one_error WHAT      $err is exactly one line, and $out is empty
#   ok WHAT CMD...      check that CMD succeeds
#   nothing_new BEFORE  succeeds if litter (below) names nothing but what BEFORE, an earlier output of it, names
#   two_cores           skip all of the test where there is but one core
#   done_testing        print the plan, exit
#
# Each test gets a folder of its own in $tmp, removed at the end, and its own HRUN_DATA.
# Standard output goes to files, never through a pipe, so that a crash is seen as one.

set -u
# Other runs on this machine have shared memory and temporary folders of their own, where the system allows it.
if [ -z "${TAP_SHM-}" ] && unshare -m mount -t tmpfs none /dev/shm 2>/dev/null; then
    TAP_SHM=own exec unshare -m bash -c 'mount -t tmpfs -o mode=1777 none /dev/shm && exec "$@"' bash "$0" "$@"
fi
# Tests expect two equal cores: of more, each has two, by one hardware thread of each.
if [ -z "${TAP_CORES-}" ]; then
    cpus=()
    for range in $(sed -n 's/^Cpus_allowed_list:\t//p' /proc/self/status | tr , ' '); do
        for ((cpu = ${range%-*}; cpu <= ${range#*-}; cpu++)); do
            core=$(cat /sys/devices/system/cpu/cpu$cpu/topology/thread_siblings_list 2>/dev/null) || core=$cpu
            [[ " ${cores-} " == *" $core "* ]] || { cpus+=($cpu); cores="${cores-} $core"; }
        done
    done
    export TAP_CORES=$((${#cpus[@]} < 2 ? 1 : 2))
    if [ $TAP_CORES = 2 ] && [ "$(nproc)" -gt 2 ]; then
        cpu=$((2 * ($$ % (${#cpus[@]} / 2))))
        exec taskset -c "${cpus[cpu]},${cpus[cpu + 1]}" bash "$0" "$@"
    fi
fi
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
top=$PWD
build=${HRUN_BUILD:-build}
case $build in /*) ;; *) build=$top/$build ;; esac
apps=$top/tests/apps
bin=$build/tests/apps
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OPENBLAS_NUM_THREADS=1
export PATH="$build/bin:${HRUN_TEST_MPIRUN:+$HRUN_TEST_MPIRUN:}$PATH"
unset HRUN_PROFILE_PATH HWLOC_SYNTHETIC HWLOC_XMLFILE HRUN_DATA HRUN_CACHE XDG_DATA_HOME XDG_CONFIG_HOME XDG_CACHE_HOME
unset OMP_NUM_THREADS SLURM_JOB_ID SLURM_JOBID PBS_NODEFILE FLUX_URI OMPI_MCA_orte_default_hostfile
tap_dir=$(mktemp -d)
tmp=$tap_dir/t
# Calibrations link all files of the working directory for each run: what hrun keeps lies beside it.
export HOME=$tap_dir/home HRUN_DATA=$tap_dir/data HRUN_PROFILE_PATH=$apps HRUN_LEDGER=none
export TMPDIR=$tap_dir/tmp
mkdir -p "$tmp" "$HOME" "$TMPDIR"
chmod 711 "$tap_dir" "$tmp"
chmod 1777 "$TMPDIR"
# A child that a signal ends before it has become its program would do the same.
trap '[ "$BASHPID" != $$ ] || { cd /; rm -rf "$tap_dir"; }' EXIT
tap_n=0
tap_failed=0

tap_report() { # GOOD WHAT
    tap_n=$((tap_n + 1))
    if [ "$1" = 1 ]; then
        echo "ok $tap_n - $2"
    else
        tap_failed=$((tap_failed + 1))
        echo "not ok $tap_n - $2"
        {   # where prove(1) shows it
            echo "#   $2: line ${BASH_LINENO[1]}; status ${status-} of: ${ran-}"
            printf '%s\n' "${out-}" | head -n 15 | sed 's/^/#   out: /'
            printf '%s\n' "${err-}" | head -n 15 | sed 's/^/#   err: /'
        } >&2
    fi
}

run() {
    ran="$*"
    "$@" >"$tmp/.out" 2>"$tmp/.err" </dev/null
    status=$?
    out=$(cat "$tmp/.out")
    err=$(cat "$tmp/.err")
}

status_is() { [ "$status" = "$1" ] && tap_report 1 "$2" || tap_report 0 "$2 (want status $1)"; }
out_has() { case $out in *"$1"*) tap_report 1 "$2" ;; *) tap_report 0 "$2 (no '$1' in output)" ;; esac; }
err_has() { case $err in *"$1"*) tap_report 1 "$2" ;; *) tap_report 0 "$2 (no '$1' in errors)" ;; esac; }
out_lacks() { case $out in *"$1"*) tap_report 0 "$2 ('$1' in output)" ;; *) tap_report 1 "$2" ;; esac; }
err_lacks() { case $err in *"$1"*) tap_report 0 "$2 ('$1' in errors)" ;; *) tap_report 1 "$2" ;; esac; }
one_error() {
    if [ -z "$out" ] && [ -n "$err" ] && [ "$(printf '%s\n' "$err" | wc -l)" = 1 ]; then
        tap_report 1 "$1"
    else
        tap_report 0 "$1 (want one line of error and no output)"
    fi
}
ok() {
    local what=$1
    shift
    if "$@" >/dev/null 2>&1; then tap_report 1 "$what"; else tap_report 0 "$what"; fi
}
# two_cores: for tests that say where several processes go: skip all where there is one core.
two_cores() { [ "$TAP_CORES" -ge 2 ] || { echo "1..0 # SKIP two cores are needed"; exit 0; }; }
skip() { tap_n=$((tap_n + 1)); echo "ok $tap_n - $1 # SKIP $2"; }
# A check that is spelt wrong is no check that holds.
command_not_found_handle() { tap_report 0 "command not found: $*"; return 127; }
done_testing() { echo "1..$tap_n"; [ $tap_failed = 0 ]; exit $?; }

# fails STATUS TEXT WHAT CMD...: CMD fails with STATUS and one error line that holds TEXT.
fails() {
    local want=$1 text=$2 what=$3
    shift 3
    run "$@"
    if [ "$status" = "$want" ] && [ -z "$out" ] && [ "$(printf '%s\n' "$err" | wc -l)" = 1 ]; then
        case $err in
            *"$text"*) tap_report 1 "$what" ;;
            *) tap_report 0 "$what (no '$text' in errors)" ;;
        esac
    else
        tap_report 0 "$what (want status $want and one error line)"
    fi
}

# watch_last APP: its last run with unequal shares into the logs of APP again, as if it had been watched and the
# processes on simulated hosts of 0.5 Gflop/s had waited a tenth of its time longer than the others.
watch_last() {
    python3 - "$HRUN_DATA/profiles/$1"/*.log <<'E'
import json, sys, zlib
for log in sys.argv[1:]:
    runs = [json.loads(line.split("\t")[0]) for line in open(log)]
    run = [r for r in runs if r.get("shares")][-1]
    run["date"] = "2099" + run["date"][4:]
    run["mpi_s"] = (0.11 if "0.5-gflop" in run["signature"] else 0.01) * run["time_s"]
    text = json.dumps(run, sort_keys=True, separators=(",", ":"))
    open(log, "a").write("%s\t%08x\n" % (text, zlib.crc32(text.encode())))
E
}

# Files and folders that hrun or its MPI may leave in shared places, for comparison before and after. Folders of an hrun
# that is still running, or that belongs to another container (its name holds its PID namespace), do not count, nor do
# those of an mpirun that is still running, and memory that a process still has.
litter() {
    local f pid here
    here=$(readlink /proc/self/ns/pid | tr -dc 0-9)
    ls -d "$TMPDIR"/hrun.* "$TMPDIR"/ompi.* "$TMPDIR"/pmix-* /dev/shm/hrun.* /dev/shm/vader* /dev/shm/*pmix* 2>/dev/null | sort |
        while read -r f; do
            case $f in
                */hrun.*)
                    pid=${f##*/hrun.}
                    pid=${pid#*.}
                    kill -0 "${pid%%.*}" 2>/dev/null && continue
                    case $f in *".$here-"*) ;; */hrun.*.*.*.*-*.*) continue ;; esac ;;
                */ompi.*)
                    for pid in "$f"/pid.*; do
                        kill -0 "${pid##*.}" 2>/dev/null && continue 2
                    done ;;
                */vader* | */*pmix*)
                    grep -qsF "$f" /proc/[0-9]*/maps && continue ;;
            esac
            echo "$f"
        done
}
# Where /dev/shm is not our own, what another test has just made there may be seen: what stays for 2 s is left behind.
nothing_new() {
    local left=20
    [ "${TAP_SHM-}" != own ] || left=1
    while litter | grep -qvxF -e "$1"; do
        left=$((left - 1))
        [ $left -gt 0 ] || return 1
        sleep 0.1
    done
}
