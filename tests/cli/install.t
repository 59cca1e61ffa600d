#!/bin/bash
# What `make install` puts in place works from there: programs, definitions, library, header, manuals, completion.
. "$(dirname "$0")/tap.sh"
dest=$tmp/dest
run env -u MAKEFLAGS -u MAKELEVEL make -s --no-print-directory install DESTDIR="$dest" PREFIX=/usr SANITIZE="${HRUN_SANITIZE:-}"
status_is 0 "make install DESTDIR= PREFIX="
for f in bin/hrun bin/hrun-calibrate lib/hrun/libhrun-trace.so lib/hrun/libhrun-coll.so lib/hrun/libhrun-mpich.so lib/hrun/hrun-probe lib/libhrun.a lib/libhrun.so lib/pkgconfig/hrun.pc include/hrun.h \
         share/hrun/profiles/hpl.yaml share/man/man1/hrun.1 share/man/man7/hrun.7 share/man/man3/libhrun.3 \
         share/bash-completion/completions/hrun; do
    ok "$f is installed" test -s "$dest/usr/$f"
done
[ ! -x "$build/bin/hrun-smpi" ] || ok "bin/hrun-smpi is installed" test -x "$dest/usr/bin/hrun-smpi"
unset HRUN_PROFILE_PATH
PATH=/usr/bin:/bin run "$dest/usr/bin/hrun" --list-apps
status_is 0 "the installed hrun runs"
out_has "usr/share/hrun/profiles/hpl.yaml" "and finds the installed definitions"

cat > "$tmp/user.c" <<'C'
#include <hrun.h>
#include <stdio.h>
int main(void)
{
    struct hrun_error err = { 0 };
    if (hrun_ask("{\"app\": \"hpl\", \"colour\": \"red\"}", &err))
        return 1;
    puts(err.text);
    return 0;
}
C
san=${HRUN_SANITIZE:+-fsanitize=$HRUN_SANITIZE}
export PKG_CONFIG_PATH=$dest/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$dest
# shellcheck disable=SC2046,SC2086
run cc $san -Wall -Werror -o "$tmp/user" "$tmp/user.c" $(pkg-config --cflags --libs hrun)
status_is 0 "a program builds with hrun.h, libhrun and hrun.pc"
LD_LIBRARY_PATH=$dest/usr/lib run "$tmp/user"
status_is 0 "and runs"
out_has "unknown key 'colour'; there are: app" "with the right answer"
done_testing
