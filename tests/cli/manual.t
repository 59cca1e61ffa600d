#!/bin/bash
# The manual, the help and the completion say what the programs do.
. "$(dirname "$0")/tap.sh"

for m in hrun.1 hrun-calibrate.1 hrun-app.5 hrun-cluster.5 hrun-profile.5 hrun.7; do
    run mandoc -T lint -W warning "man/$m"
    status_is 0 "man/$m passes mandoc's lint"
done

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
complete_words() { # LINE -> candidates
    bash -c '. /dev/stdin; COMP_LINE=$1; COMP_POINT=${#1}; read -ra COMP_WORDS <<<"$1"; [[ $1 == *" " ]] && COMP_WORDS+=("");
             COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); f=$(complete -p hrun | sed "s/.*-F \([^ ]*\).*/\1/");
             $f hrun "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"; printf "%s\n" "${COMPREPLY[@]}"' \
        _ "$1" < "$tmp/hrun-completion"
}
hrun --completion > "$tmp/hrun-completion"
out=$(complete_words "hrun --dry")
out_has "--dry-run" "--dry completes"
out=$(complete_words "hrun --engine l")
out_has "local" "values of --engine complete"
done_testing
