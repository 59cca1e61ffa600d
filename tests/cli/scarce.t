#!/bin/bash
# Under bad conditions: too little memory, too few processes, no home folder.
. "$(dirname "$0")/tap.sh"
cd "$tmp" || exit 1
before=$(litter)

# ---- limits: a run ends, and where hrun cannot do it, it says so. All begin now, as one waits for a time limit of hrun.
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
        limit thread.$n env NO_THREAD=$n LD_PRELOAD="$tmp/nothread.so" timeout 60 hrun -q -n 1 "$bin/probe" ring
    done
    for v in 14000 20000 26000 32000 44000 56000 62000 68000 90000; do
        limit memory.$v sh -c "ulimit -v $v; exec timeout 60 hrun -q -n 1 true"
    done
fi
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
after=$(litter)
out=$after
ok "nothing is left" test "$before" = "$after"
done_testing
