#!/bin/bash
# Under bad conditions: too little memory, too few threads, no home folder, SIGKILL at any moment.
. "$(dirname "$0")/tap.sh"
two_cores
cd "$tmp" || exit 1
chmod 711 "$tmp"    # another user comes as far as the temporary folder
before=$(litter)

# ---- limits: a run ends, and where hrun cannot do it, it says so. All begin now: one waits for a time limit of hrun.
cat > nothread.c <<'C'
/* Makes one thread of the process named pmix-guard fail to start, that with number $NO_THREAD. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *arg)
{
    int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = dlsym(RTLD_NEXT, "pthread_create");
    static int n;
    char name[16] = "";

    prctl(PR_GET_NAME, name);
    if (!strcmp(name, "pmix-guard") && ++n == atoi(getenv("NO_THREAD")))
        return EAGAIN;
    return next(t, a, f, arg);
}
C
limited=
limit() { # NAME CMD...: run it in the background
    local name=$1
    shift
    ("$@" </dev/null >"$name.out" 2>"$name.err"; echo $? >"$name.status") &
    limited="$limited $!"
}
if [ -n "${HRUN_SANITIZE-}" ]; then
    skip "limits" "sanitizers need more address space than any limit leaves, and to be preloaded first"
else
    "${CC:-cc}" -shared -fPIC -o nothread.so nothread.c -ldl
    for n in 1 2; do
        limit thread.$n env NO_THREAD=$n LD_PRELOAD="$tmp/nothread.so" timeout 300 hrun -q -n 1 "$bin/probe" ring
    done
    for v in 14000 20000 26000 32000 44000 56000 62000 68000 90000; do
        limit memory.$v sh -c "ulimit -v $v; exec timeout 300 hrun -q -n 1 true"
    done
fi

# ---- no home folder
nobody() { # WORD... CMD...: as a user that the user database does not know, with the settings WORD of env
    local id=$((60000 + $$ % 5000))
    setpriv --reuid $id --regid $id --clear-groups env -C / -u HRUN_DATA -u HRUN_CACHE "$@"
}
run env -u HOME -u HRUN_DATA hrun-calibrate show nosuch
err_has "in $(getent passwd "$(id -u)" | cut -d: -f6)/.local/share/hrun" "without HOME the user database counts"
if [ "$(id -u)" = 0 ] && nobody test -x "$build/bin/hrun"; then
    work=$tmp/work
    mkdir -m 1777 "$work"
    printf 'name: reads\nrule: "P >= 1"\nterms: {np: ["N/P"], n: ["N"]}\nfiles: [{path: in/put, content: "{N}"}]\n' >"$work/reads.yaml"
    chmod 644 "$work/reads.yaml"
    for home in "-u HOME" HOME= HOME=relative; do
        run nobody $home hrun --profile-path "$apps" -app lu -N 100 -n 1 "$bin/lu" 100
        status_is 0 "env $home: a run without any place for data"
        ok "env $home: says once that nothing is kept" test "$(grep -c "kept\|recorded" "$tmp/.err")" = 1
        err_has "hrun: nothing is kept: no folder for measurements: HOME is not set to an absolute path, and user" \
            "env $home: and why"
        err_has "set HRUN_DATA to a folder" "env $home: and what to do"
        fails 125 "set HRUN_DATA to a folder" "env $home: nothing can be measured" \
            nobody $home hrun-calibrate --profile-path "$apps" -app lu --sizes 100 "$bin/lu" '{N}'
        for n in 7 7; do
            run nobody $home hrun -q --wdir "$work" --profile-path "$work" -app reads -N $n -n 1 cat in/put
            status_is 0 "env $home: an application that reads a file"
            ok "env $home: which hrun writes where there is none, or the same" test "$out" = 7
        done
        fails 125 "overwrite it with --force" "env $home: one that hrun does not know stays" \
            nobody $home hrun -q --wdir "$work" --profile-path "$work" -app reads -N 8 -n 1 cat in/put
        run nobody $home hrun -q --force --wdir "$work" --profile-path "$work" -app reads -N 8 -n 1 cat in/put
        ok "env $home: but with --force" test "$status $out" = "0 8"
        rm -r "$work/in"
        run nobody $home hrun -q --engine mpirun -n 1 true
        status_is 0 "env $home: mpirun starts, too"
    done
    run nobody HOME=/nonexistent hrun --profile-path "$apps" -app lu -N 100 -n 1 "$bin/lu" 100
    status_is 0 "a run with a home folder that does not exist"
    err_has "this run was not recorded: cannot create the folder '/nonexistent'" "says that it is not recorded"
    fails 125 "name another data folder with HRUN_DATA" "where nothing can be measured" \
        nobody HOME=/nonexistent hrun-calibrate --profile-path "$apps" -app lu --sizes 100 "$bin/lu" '{N}'
else
    skip "no home folder" "needs root and a build that others can read"
fi

# ---- killed at any moment: the guard or the next run removes all
cp "$(command -v sleep)" sleeper
for _ in $(seq 20); do
    env --default-signal "$build/bin/hrun" -q -n 1 "$tmp/sleeper" 300 </dev/null >/dev/null 2>&1 &
    sleep "0.0$((RANDOM % 6))$((RANDOM % 10))"
    kill -9 $!
    wait $! 2>/dev/null
done
# One that nothing tells of but what it inherited.
env --default-signal "$build/bin/hrun" -q -n 1 \
    sh -c "env -i setsid '$tmp/sleeper' 301 & exec '$tmp/sleeper' 302" </dev/null &
for _ in $(seq 2000); do pgrep -f "$tmp/sleeper 301" >/dev/null && break; sleep 0.1; done
kill -9 $!
wait $! 2>/dev/null
for _ in $(seq 2000); do pgrep -f "$tmp/sleeper" >/dev/null || break; sleep 0.1; done
out=$(pgrep -af "$tmp/sleeper")
ok "hrun killed leaves no process, also none in a session and an environment of its own" test -z "$out"
run hrun -q -n 1 true
status_is 0 "the next run"

check_limit() {
    ran=$1 status=$(cat "$1.status") out=$(cat "$1.out") err=$(cat "$1.err")
    case $status in
        0) ok "$1: the program runs" true ;;
        124 | 137 | 139) tap_report 0 "$1: ends by itself" ;;
        *) ok "$1: ends with words (status $status)" test -n "$err" ;;
    esac
}

wait $limited
for s in memory.*.status; do
    [ -e "$s" ] && check_limit "${s%.status}"
done
for n in 1 2; do
    [ -e thread.$n.status ] || continue
    check_limit thread.$n
    status_is 125 "thread $n of the PMIx server does not start: hrun fails"
    err_has "hrun: the PMIx server of the job does not s" "says so"
    err_has "(ulimit -u)" "and why that may be"
done
out=$(litter)
ok "nothing is left, also of those that were killed" nothing_new "$before"
done_testing
