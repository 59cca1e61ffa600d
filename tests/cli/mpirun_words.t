#!/bin/bash
# The options of mpirun and mpiexec: each is in hrun-mpirun(7) and is served, passed over with a line, or refused.
. "$(dirname "$0")/tap.sh"
two_cores
cd "$tmp" || exit 1
table=$top/hrun/run/mpirun_words.c
rows=$(sed -n 's/^    { "\([a-z-]*\)", \([012]\), \([A-Z]*\),.*/\1 \2 \3/p' "$table")
ok "the table has rows" test "$(printf '%s\n' "$rows" | wc -l)" -ge 80
missing=
wrong=
printf 'subclusters:\n  - {hosts: localhost}\n  - {hosts: 127.0.0.2, cores: 1, memory: 1GiB}\n' >two.yaml
while read -r name values what; do
    grep -q "^\.It Fl $name\( \|\$\)" "$top/man/hrun-mpirun.7" || missing="$missing $name"
    set --
    [ "$values" = 2 ] && set -- A b
    [ "$values" = 1 ] && set -- x
    case $name in
        ntasks* | c | ppn | perhost | npernode | npersocket | cpus-per-*) set -- 1 ;;
        map-by | rank-by | bind-to) set -- core ;;
        cpu-*) set -- 0 ;;
        s | stdin) set -- none ;;
        ppr) set -- 1:node ;;
        rankfile | rf) echo "rank 0=+n0 slot=0" >ranks; set -- ranks ;;
        hosts | nodelist | w) set -- localhost ;;
        f | nodefile) echo localhost >hosts; set -- hosts ;;
        app* | configfile) echo "-n 1 true" >programs; set -- programs ;;
        am | tune) echo "A = b" >params; set -- params ;;
        gwdir | chdir) set -- / ;;
    esac
    for dash in - --; do
        case $name in nolocal | skip-launch-node) set -- --dry-run --cluster two.yaml ;; esac
        program=true procs="-n 1"
        case $name in app* | configfile) program= ;; c) procs= ;; esac
        run hrun $procs "$dash$name" "$@" $program
        case $what in
        PROGRAMS) [ "$status" = 0 ] && [ -z "$err" ] ;;
        REFUSED) [ "$status" = 125 ] && [ "$(printf '%s\n' "$err" | wc -l)" = 1 ] && [[ $err == *"is not served: "* ]] ;;
        INSTEAD) [ "$status" = 0 ] && [[ $err == "hrun: $dash$name"* ]] ;;
        PLACE | HERE) [ "$status" = 0 ] && [ -z "$err" ] ;;
        *) [ "$status" = 0 ] && [[ $err != *unknown* ]] ;;
        esac || wrong="$wrong $dash$name($status: $err)"
    done
done <<< "$rows"
out=$missing err=$wrong
ok "each option is in hrun-mpirun(7)" test -z "$missing"
ok "each does what the table says, with one dash or two" test -z "$wrong"

run hrun -np 2 --map-by core --bind-to core --mca btl self,vader -x A=1 "$bin/probe" info env=A
status_is 0 "a line of a script for Open MPI"
out_has "rank 1 A=1" "starts its program with its settings"
run hrun -q -np 1 --membind local true
ok "-q: without a word" test -z "$err"
run hrun -c 2 -genv A 5 -env B=C d -genvlist HOME,A -l "$bin/probe" env=A env=HOME
status_is 0 "a line of a script for Hydra"
out_has "[1]<stdout>: rank 1 A=5" "with its settings"
run hrun -n 1 --allow-run-as-root sh -c 'echo $OMPI_ALLOW_RUN_AS_ROOT'
out_has 1 "--allow-run-as-root"
run hrun -path "$bin" -n 1 probe info
status_is 0 "--path: the program is found there"
run sh -c 'echo hello | hrun -stdin none -n 1 cat'
ok "--stdin none: nothing is read" test "$status$out" = 0
fails 125 "rank 0 alone reads standard input" "--stdin of another rank" hrun --stdin 1 -n 1 true
run hrun -q --merge-stderr-to-stdout -n 1 sh -c 'echo there >&2'
ok "--merge-stderr-to-stdout" test "$out$err" = there
run hrun -n 1 sh -c 'echo "$@"' x -f nosuch --map-by y
out_has "-f nosuch --map-by y" "options of the program are its own"
run hrun -n 1 -- echo --bind-to core
out_has "--bind-to core" "and what is behind --"
run hrun -x A -x B=--map-by --timeout 20 -n 1 echo good
out_has good "values of hrun's own options are not taken for such words"
run hrun --membind=local -n 1 true
err_has "hrun: --membind local: " "a value behind ="
printf '%s\n' '# comment' '-n 1 echo one' '' '-n 1 -x A=two printenv A :' '-n 1 echo 3' >programs
run hrun -q --oversubscribe --app programs
ok "a file of programs" test "$(printf '%s\n' "$out" | sort | tr '\n' ' ')" = "3 one two "
fails 125 "leave 'true' out" "and a program beside it" hrun --app programs true
fails 125 "'nosuch' is no file of programs" "a file that is not there" hrun --app nosuch
fails 125 "unknown option '-prof'; did you mean '--profile-path'?" "a name with one dash is not cut" \
    hrun -prof /tmp true
run hrun --vers
status_is 0 "with two it may be"
fails 125 "option '-genv' needs two values" "a value is missing" hrun -genv A
fails 125 "takes no value behind '='" "or too many are there" hrun --bycore=1 true

# MCA parameters: `mapped CORES ENVIRONMENT...` is the mapping of 2 processes on one package of so many cores.
mkdir -p "$HOME/.openmpi"
mapped() {
    run env HWLOC_SYNTHETIC="package:2 core:$1 pu:1" "${@:2}"
    out=$(printf '%s\n' "$out" | sed -n '/^  mapping/{n;s/^ *//;p;}')
}
h="hrun --dry-run -n 2 --host localhost"
mapped 2 $h --map-by package true
want=$out
ok "two processes by package" test -n "$want"
mapped 2 OMPI_MCA_rmaps_base_mapping_policy=socket $h true
ok "OMPI_MCA_rmaps_base_mapping_policy counts as --map-by" test "$out" = "$want"
err_has "says where processes go, so no model chooses" "and one line says so"
mapped 2 PRTE_MCA_rmaps_default_mapping_policy=package $h true
ok "the name of Open MPI 5 as well" test "$out" = "$want"
mapped 2 $h --mca rmaps_base_mapping_policy socket true
ok "and --mca" test "$out" = "$want"
mapped 2 OMPI_MCA_rmaps_base_mapping_policy=socket $h --map-by core true
ok "an option goes before" test "$out" != "$want" -a -z "$err"
mapped 2 OMPI_MCA_rmaps_base_mapping_policy=nosuch $h true
err_has "is ignored: value nosuch: unknown word" "one that is not understood is told"
printf 'rmaps_base_mapping_policy = socket\nrmaps_base_oversubscribe = yes\n' >"$HOME/.openmpi/mca-params.conf"
mapped 2 $h true
ok "a file of parameters" test "$out" = "$want"
mapped 2 OMPI_MCA_rmaps_base_mapping_policy= $h true
ok "an empty variable goes before the file" test "$out" != "$want"
printf 'rmaps_base_mapping_policy = core\n' >own.conf
mapped 2 OMPI_MCA_mca_base_param_files=none.conf:own.conf $h true
ok "mca_base_param_files names other files" test -n "$out" -a "$out" != "$want"
mapped 2 $h --mca mca_base_param_files own.conf true
ok "also by --mca" test -n "$out" -a "$out" != "$want"
run env HWLOC_SYNTHETIC="package:1 core:1 pu:1" hrun -n 9 --dry-run true
status_is 0 "rmaps_base_oversubscribe there"
run env HWLOC_SYNTHETIC="package:1 core:1 pu:1" OMPI_MCA_rmaps_base_oversubscribe=0 hrun -n 9 --dry-run true
status_is 125 "and taken back in the environment"
rm "$HOME/.openmpi/mca-params.conf"
export XDG_CONFIG_HOME=$tmp/config HWLOC_SYNTHETIC="package:1 core:1 pu:1"
mkdir -p config/hrun
run env HRUN_OVERSUBSCRIBE=1 hrun -n 2 --dry-run true
status_is 0 "HRUN_OVERSUBSCRIBE"
echo "oversubscribe: yes" >config/hrun/options.yaml
run hrun -n 2 --dry-run true
status_is 0 "oversubscribe: yes in options.yaml"
fails 125 "give fewer, or --oversubscribe" "the environment goes before it" env HRUN_OVERSUBSCRIBE=no hrun -n 2 --dry-run true
fails 125 "HRUN_OVERSUBSCRIBE: oversubscribe is yes or no" "a bad value" env HRUN_OVERSUBSCRIBE=x hrun -n 2 --dry-run true
unset XDG_CONFIG_HOME HWLOC_SYNTHETIC
echo "-mca rmaps_base_oversubscribe 1 -x A=b" >params
for how in "env OMPI_MCA_rmaps_base_oversubscribe=1 hrun" "hrun --mca rmaps_base_oversubscribe true" "hrun --tune params"; do
    run env HWLOC_SYNTHETIC="package:1 core:1 pu:1" $how -n 2 --dry-run true
    status_is 0 "more processes than cores: $how"
    run $how --engine mpirun --mca rmaps_base_mapping_policy node -n 1 true
    status_is 0 "and mpirun, which gets a rankfile, does not see them"
done
run hrun --ntasks=2 --cpus-per-task=1 --nodelist=localhost --label --kill-on-bad-exit=1 "$bin/probe" info
status_is 0 "a line of a script for srun"
out_has "rank 1 " "starts its program"
fails 125 "write --cpus-per-task 2" "-c beside -n, which srun takes for cores" hrun -n 1 -c 2 true
fails 125 "write --cpus-per-task 2" "in one word as well" hrun -n 1 -c2 true
fails 125 "give several one by one" "a list of variables" hrun --export=ALL,A=1 -n 1 true
fails 125 "write env -i" "no environment" hrun --export=NONE -n 1 true
run hrun -x A=1,B=2 -n 1 sh -c 'echo $A'
out_has 1,B=2 "a list in the value of one is none"
fails 125 "ask salloc or sbatch" "what a job is asked for" hrun --partition=big -n 1 true
fails 125 "not '4k': write 4000 or 4096" "a number with a unit" hrun -N 4k -n 1 true
run hrun -n 1e0 true
status_is 0 "one with an exponent"
for word in bindto:bind-to bind:bind-to mapby:map-by rank_by:rank-by cpu-per-task:cpus-per-task ntask:ntasks; do
    fails 125 "unknown option '--${word%:*}'; did you mean '--${word#*:}'?" "--${word%:*} gets a suggestion" \
        hrun --${word%:*} 1 -n 1 true
done
fails 125 "unknown option '--tagoutput'; did you mean '--tag-output'?" "so do hrun's own" hrun --tagoutput -n 1 true
run hrun -qn1 true
status_is 0 "short options in one word are none of these"
done_testing
