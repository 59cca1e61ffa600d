#!/bin/bash
# The manual, the help and the completion say what the programs do.
. "$(dirname "$0")/tap.sh"

for m in hrun.1 hrun-calibrate.1 hrun-calibrate-doctor.1 hrun-calibrate-network.1 hrun-app.5 hrun-cluster.5 hrun-profile.5 hrun.7 hrun-model.7 hrun-launch.7 hrun-mpirun.7 hrun-plan.1 libhrun.3; do
    run mandoc -T lint -W warning "man/$m"
    status_is 0 "man/$m passes mandoc's lint"
done

# Every key of a document's table stands in the page of its format.
while read -r source page; do
    keys=$(grep -oE '(HRUN_KEY[A-Z_]*|TEXT|MAYBE_LIST|VALUE)\("[A-Za-z0-9_]+"' "$source" | sed 's/.*"\(.*\)"/\1/' | sort -u)
    missing=$(for key in $keys; do grep -qw -- "$key" "man/$page" || echo "$key"; done)
    out="$keys / $missing" ok "the keys of $source are in man/$page" test -n "$keys" -a -z "$missing"
done <<'END'
lib/app/load.c hrun-app.5
lib/cluster/clusterfile.c hrun-cluster.5
lib/net/net_yaml.c hrun-profile.5
lib/store/models.c hrun-profile.5
hrun/jobs/jobs_read.c hrun-plan.1
END

# Every option of the table (the completion lists them all) stands in its page and in --help.
for cmd in hrun hrun-calibrate; do
    run "$cmd" --completion
    status_is 0 "$cmd --completion"
    cp "$tmp/.out" "$tmp/completion"
    ok "the completion of $cmd is valid bash" bash -n "$tmp/completion"
    # The list that completes "--": every option with a long name that is no hidden alias.
    options=$(sed -n "s/^ *--\*).*compgen -W '\([^']*\)'.*/\1/p" "$tmp/completion")
    ok "$cmd has options" test "$(echo "$options" | wc -w)" -gt 15
    "$cmd" --help > "$tmp/help"
    missing=
    for o in $options; do
        name=${o#--}
        grep -qE -- "(Fl|,) -$name( |\$)" "man/$cmd.1" || missing="$missing $o"
        grep -q -- "--$name" "$tmp/help" || missing="$missing $o(help)"
    done
    out=$missing ok "every option of $cmd is in man/$cmd.1 and --help:$missing" test -z "$missing"
    ok "--help of $cmd fits 80 columns" test -z "$(awk 'length > 80' "$tmp/help")"
done

# Completion at work.
complete_words() { # LINE [COMMAND] -> candidates
    bash -c '. /dev/stdin; COMP_LINE=$1; COMP_POINT=${#1}; read -ra COMP_WORDS <<<"$1"; [[ $1 == *" " ]] && COMP_WORDS+=("");
             COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); f=$(complete -p "$2" | sed "s/.*-F \([^ ]*\).*/\1/");
             $f "$2" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"; printf "%s\n" "${COMPREPLY[@]}"' \
        _ "$1" "${2-hrun}" < "$tmp/${2-hrun}-completion"
}
hrun --completion > "$tmp/hrun-completion"
hrun-calibrate --completion > "$tmp/hrun-calibrate-completion"
out=$(complete_words "hrun --dry")
out_has "--dry-run" "--dry completes"
out=$(complete_words "hrun --engine l")
out_has "local" "values of --engine complete"
for line in "hrun -app mat" "hrun --app=mat"; do
    out=$(complete_words "$line")
    ok "'$line': names of applications complete" test "$out" = matmul
done
out=$(complete_words "hrun-calibrate -app mat" hrun-calibrate)
ok "those of hrun-calibrate too" test "$out" = matmul
out=$(complete_words "hrun-calibrate -q sho" hrun-calibrate)
ok "show completes where a program may stand" grep -qx show <<<"$out"
out=$(complete_words "hrun-calibrate fit jacobi npb-" hrun-calibrate)
ok "and names of applications behind fit" test "$out" = "$(printf 'npb-%s\n' bt cg ep lu)"
out=$(complete_words "hrun-calibrate impo" hrun-calibrate)
ok "import completes" grep -qx import <<<"$out"
out=$(complete_words "hrun-calibrate --format e" hrun-calibrate)
ok "and the formats of export" test "$out" = extrap
out=$(complete_words "hrun-calibrate show --js" hrun-calibrate)
out_lacks "jacobi" "an option behind show is none"
cd "$tmp" && : > jackson
out=$(complete_words "hrun-calibrate program jac" hrun-calibrate)
ok "behind a program files complete" test "$out" = jackson
out=$(complete_words "hrun-calibrate import jac" hrun-calibrate)
ok "and behind import" test "$out" = jackson
done_testing
