#!/bin/bash
# The doctor: what was measured is judged, forced bad cases are found, settings of a made-up system are told. This
# machine may be as busy as it likes: that nothing is found is only asked of records.
. "$(dirname "$0")/tap.sh"
cd "$tmp" || exit 1
before=$(litter)

# finding CHECK TEXT WHAT: $out, a JSON report, has a finding of this check whose words hold TEXT.
finding() {
    ok "$3" perl -MJSON::PP -e '
        my ($check, $text) = @ARGV;
        open my $in, "<", "report" or die;
        my $report = decode_json(join "", <$in>);
        exit !grep { $_->{check} eq $check && index($_->{what}, $text) >= 0 && $_->{advice} } @{$report->{findings}}' \
        "$1" "$2"
}
# doctor ARGS...: a JSON report of few repetitions; it is no failure of this test that the machine is unpredictable.
doctor() {
    run hrun-calibrate doctor -r 5 --json "$@"
    printf '%s\n' "$out" >report
    [ "$status" = 0 ] || [ "$status" = 1 ]
    tap_report $((!$?)) "doctor $* ends with 0 or 1"
    ok "... as it says in JSON" perl -MJSON::PP -0777 -ne \
        'exit !(decode_json($_)->{predictable} ? '"$status"' == 0 : '"$status"' == 1)' report
}

# ---------------------------------------------------------------- records

cat >good <<'EOF'
sub 0 2 fast
rank 0 0 0 a1
rank 1 0 1 a2
rank 2 0 2 a3
hrun-probe 1
fact 0 mtu 1500
fact 1 mtu 1500
fact 2 mtu 1500
kernel 0 1 1.01 0.99 1 1.02
kernel 1 1 1.02 0.99 1 1.01
kernel 2 1 1 0.99 1.01 1.02
noise 0 1000 0.001 0.00101 0.001 0.0011 0.002
trip 0 1 8 1e-5 1.01e-5 1e-5
alltoall 8 1e-4 1.01e-4 1e-4
end
EOF
run hrun-calibrate doctor --from good
status_is 0 "a good cluster is predictable enough"
out_has "Predictable enough for a threshold of 5 %: 0 problems, 0 warnings" "... in words"
run hrun-calibrate doctor --from good --threshold 1%
status_is 1 "the threshold is an option"
out_has "PROBLEM  kernel-spread: equal work on PE 1 of fast (host a2)" "... and what is beyond it is told"
sed 's/^fact 2 mtu.*/fact 2 mtu 9000/' good >mtu
run hrun-calibrate doctor --from mtu
status_is 1 "unequal MTUs are a problem"
out_has "the MTU of host a3 (network) is 9000, that of host a1 1500" "... with hosts and figures"
out_has "ip link set dev" "... and what to do"
run hrun-calibrate doctor -q --from mtu
[ "$status$out$err" = 1 ]; tap_report $((!$?)) "-q: the status alone"

grep -v '^end' good >torn
fails 125 "torn" "torn records are told" hrun-calibrate doctor --from torn
sed 's/^kernel 1.*/kernel 1 nan/' good >bad
fails 125 "bad:10: " "bad ones with their line" hrun-calibrate doctor --from bad
fails 125 "none" "a file that is not there" hrun-calibrate doctor --from none
fails 125 "percentage above 0" "a threshold of 0" hrun-calibrate doctor --threshold 0 --from good
fails 125 "\`doctor --from\` takes no program" "records and a program" hrun-calibrate doctor --from good "$bin/lu"
fails 125 "one program" "two programs" hrun-calibrate doctor "$bin/lu" "$bin/lu"
fails 127 "no-such-program" "a program that is not there" hrun-calibrate doctor -q ./no-such-program
fails 125 "simulated" "simulated hosts" hrun-calibrate doctor --platform any.xml
fails 125 "HWLOC_SYNTHETIC" "a described topology" env HWLOC_SYNTHETIC="package:1 core:2 pu:1" hrun-calibrate doctor -q

# ---------------------------------------------------------------- a made-up system, and a threaded library

for ((cpu = 0; cpu < $(getconf _NPROCESSORS_CONF); cpu++)); do
    mkdir -p "root/sys/devices/system/cpu/cpu$cpu/cpufreq"
    echo powersave >"root/sys/devices/system/cpu/cpu$cpu/cpufreq/scaling_governor"
done
mkdir -p root/sys/devices/system/cpu/intel_pstate root/sys/kernel/mm/transparent_hugepage root/proc \
    root/sys/class/net/{lo,eth8,eth9}
echo 0 >root/sys/devices/system/cpu/intel_pstate/no_turbo
echo '[always] madvise never' >root/sys/kernel/mm/transparent_hugepage/enabled
printf 'SwapTotal: 4096 kB\nSwapFree: 1024 kB\n' >root/proc/meminfo
echo 65536 >root/sys/class/net/lo/mtu
for i in 8 9; do echo ${i}000 >root/sys/class/net/eth$i/mtu; done
echo down >root/sys/class/net/eth8/operstate
echo up >root/sys/class/net/eth9/operstate
unset OPENBLAS_NUM_THREADS OMP_NUM_THREADS GOTO_NUM_THREADS
export HRUN_DOCTOR_ROOT=$tmp/root
doctor --level node --keep records "$bin/lu"
finding governor "is powersave" "the governor is told"
finding turbo "turbo is on" "turbo, too"
finding huge-pages "always" "huge pages"
finding swap-used "3 MiB" "what is in swap"
out_has '"mtu": "9000"' "the interface that is up is looked at"
out_has '"kernel": {' "the kernel is measured"
out_has '"quanta": ' "and the noise"
# On one processor a process has one thread whatever is left on.
if [ "$(nproc)" -gt 1 ]; then
    finding blas-threads "OPENBLAS_NUM_THREADS is not set" "threads that are left on are told"
else
    skip "threads that are left on are told" "one processor"
fi
cp report first
run hrun-calibrate doctor --json --from records
printf '%s\n' "$out" >report
ok "what was kept is judged the same" cmp first report
unset HRUN_DOCTOR_ROOT

# ---------------------------------------------------------------- a competitor

sh -c 'while :; do :; done' &
busy=$!
doctor -q --keep records -x OPENBLAS_NUM_THREADS=1 "$bin/lu"
finding others "most on that host: process " "others are found, with the processes that took most"
ok "... ours among them" grep -qE "^process [0-9]+ $busy [0-9.]+ sh\$" records
ok "and no threads where the variable is set" bash -c '! grep -q blas-threads report'
[ "$(nproc)" = 1 ] || ok "messages are measured" grep -q '"bytes": 1048576.0' report
[ -z "$err" ]; tap_report $((!$?)) "-q says nothing else"
kill $busy
wait $busy 2>/dev/null
ok "nothing is left" nothing_new "$before"
done_testing
