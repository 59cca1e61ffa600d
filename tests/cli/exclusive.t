#!/bin/bash
# exclusive.t - two calibrations of one thing at the same time: the second one waits and measures what is left
. "$(dirname "$0")/tap.sh"
cd "$tmp" || exit 1
lu=$bin/lu

# Try a command every 50 ms, for a minute at most.
until_ok() {
    local i
    for ((i = 0; i < 1200; i++)); do
        "$@" >"$tmp/.until" 2>&1 && return 0
        sleep 0.05
    done
    return 1
}

cat >hold.c <<'C'
/* Stops the process that it is loaded into when it has locked a calibration, and has written who it is. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static ssize_t hold(const char *name, int fd, const void *data, size_t len, off_t at)
{
    ssize_t (*next)(int, const void *, size_t, off_t) = dlsym(RTLD_NEXT, name);
    char link[64], path[PATH_MAX] = "";
    ssize_t n = next(fd, data, len, at);
    static int held;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (!held && readlink(link, path, sizeof path - 1) > 5 && !strcmp(path + strlen(path) - 5, ".lock")) {
        held = 1;
        raise(SIGSTOP);
    }
    return n;
}
ssize_t pwrite(int fd, const void *data, size_t len, off_t at) { return hold("pwrite", fd, data, len, at); }
ssize_t pwrite64(int fd, const void *data, size_t len, off_t at) { return hold("pwrite64", fd, data, len, at); }
__attribute__((constructor)) static void only_here(void) { unsetenv("LD_PRELOAD"); }
C
"${CC:-cc}" -shared -fPIC -o hold.so hold.c -ldl || exit 1

is_stopped() {
    [[ $(<"/proc/$first/stat") == *") T "* ]]
}

says_waiting() {
    grep -q "another calibration of .* is running (process $first); waiting for it" "$tmp/2.err"
}

# Start a command in a data folder of its own, which stops as soon as it has its lock; start another, which has to wait.
two() {
    HRUN_DATA=$(mktemp -d "$tmp/data.XXXXXX")
    export HRUN_DATA
    env LD_PRELOAD="$tmp/hold.so" ASAN_OPTIONS="${ASAN_OPTIONS-}:verify_asan_link_order=0" \
        "$@" >"$tmp/1.out" 2>"$tmp/1.err" &
    first=$!
    ok "$what: the first one has its lock" until_ok is_stopped
    "$@" >"$tmp/2.out" 2>"$tmp/2.err" &
    second=$!
    ok "$what: the second one says that it waits, and for whom" until_ok says_waiting
}

# Let the first one go on. Statuses of both are in $statuses.
go_on() {
    kill -CONT $first
    wait $first
    statuses=$?
    wait $second
    statuses="$statuses $?"
}

runs() {
    cat "$HRUN_DATA"/profiles/"${1:-lu}"/*.log | grep -c '"origin":"calibration"'
}

measure="hrun-calibrate --full-grid --sizes 60,100 --pes 1 --procs 1 -r 3 -app lu $lu"

what="plain"
two $measure
run timeout 300 hrun-calibrate --sizes 60,100 --pes 1 --procs 1 --dry-run -app lu "$lu"
status_is 0 "a dry run waits for nobody"
run timeout 300 hrun-calibrate show lu
ok "nor does show" test "$status" != 124
run timeout 300 hrun -app lu -N 60 "$lu"
status_is 0 "nor does hrun, which records a run"
go_on
ok "both succeed" test "$statuses" = "0 0"
ok "each run is made once" test "$(runs)" = 6
ok "the second one finds all measured" grep -q "6 of 6 runs are measured already" "$tmp/2.err"
ok "and fits the models" grep -q "single/" "$tmp/2.out"

what="killed"
two $measure
kill -KILL $first
go_on 2>/dev/null
ok "when the first one is killed the second one goes on" test "$statuses" = "137 0"
ok "and makes what is left" test "$(runs)" = 6

what="interrupted"
two $measure
kill -TERM $second
wait $second
status=$?
ok "a signal ends the waiting" test "$status" = 143
ok "that is said" grep -q "was interrupted by signal 15; nothing was measured" "$tmp/2.err"
go_on
ok "the first one does not notice" test "${statuses% *}" = 0
ok "and makes its runs" test "$(runs)" = 6

what="--budget"
two hrun-calibrate --sizes 60,100 --pes 1 --procs 1 --budget 3runs -app lu "$lu"
go_on
ok "both succeed" test "$statuses" = "0 0"
ok "the second one goes by the runs of the first" grep -qE "[0-9]+ measurements? (is|are) there already" "$tmp/2.err"

what="--new"
mkdir "$tmp/made"
two hrun-calibrate --full-grid --new --sizes 60,100 --pes 1 --procs 1 -r 1 --rule "N % P == 0" \
    --profile-path "$tmp/made" -app mine "$lu" "{N}"
go_on
ok "the first one writes the definition, the second one finds it there" test "$statuses" = "0 125"
ok "that is said" grep -q "is there already" "$tmp/2.err"
ok "each run is made once" test "$(runs mine)" = 2

what="speeds"
two hrun-calibrate speeds --repetitions 3
go_on
ok "both succeed" test "$statuses" = "0 0"

what="network"
two hrun-calibrate network --repetitions 1
go_on
ok "both succeed" test "$statuses" = "0 0"
ok "the second one shows what the first has measured" grep -q "this network was measured before" "$tmp/2.err"

done_testing
