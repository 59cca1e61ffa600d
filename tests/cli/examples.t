#!/bin/bash
# Every command line that README.md and the manual pages show is understood; those that name a program make a dry run.
. "$(dirname "$0")/tap.sh"

python3 tests/cli/examples.py README.md man/*.[1357] >"$tmp/examples"
ok "README.md and the pages have examples" test "$(wc -l <"$tmp/examples")" -ge 100
# Their programs, files and hosts, for which a script answers in place of ssh.
cd "$tmp" || exit 1
mkdir bin "$HOME/.openmpi"
for program in mycode lmp xhpl a.out multigrid matmul bmt-128-8 network lu bin/lmp bin/lu bin/apptainer; do
    printf '#!/bin/sh\n' >$program
    chmod +x $program
done
echo 1 | tee deck in.lj >input.dat
printf '127.0.0.2\n127.0.0.3\n127.0.0.4\n' >hosts
cat >agent <<'A'
#!/bin/sh
shift
exec sh -c "$*"
A
chmod +x agent
echo "plm_rsh_agent = $tmp/agent" >"$HOME/.openmpi/mca-params.conf"
cat >cloud.yaml <<'Y'
subclusters:
  - {name: fast, hosts: 127.0.0.2, cores: 64, memory: 16GiB, cost_per_hour: 2}
  - {name: slow, hosts: "127.0.0.[3-4]", cores: 2, memory: 8GiB, cost_per_hour: 0.5}
Y
export PATH=$tmp/bin:$PATH HWLOC_SYNTHETIC="package:1 [numa(memory=8GB)] core:8 pu:1"
# What this folder does not have: profiles, platforms, definitions of the reader's own. Where the program is left out of
# an example the words alone count.
lacks='no program given|no profile|no ledger|none knows the program|no definition of|no sub-cluster|xml: No such|needs a size'
while IFS=$'\t' read -r where line; do
    eval "set -- $line"
    run "$1" --help "${@:2}"
    status_is 0 "$where: $line"
    case $line in
    *--help* | *" show"* | *" fit"* | *" report "* | *" export "* | *" speeds"* | *" doctor"*) continue ;;
    hrun\ *--dry-run* | *--show-* | *--list-*) dry= ;;
    hrun\ * | *--hostfile* | *--platform*) dry=--dry-run ;;
    *) dry="--dry-run --cluster cloud.yaml" ;;
    esac
    # shellcheck disable=SC2086
    run "$1" $dry "${@:2}"
    ok "$where: a dry run of it" test "$status" = 0 -o -n "$(grep -E "$lacks" <<<"$err")"
done <"$tmp/examples"
done_testing
