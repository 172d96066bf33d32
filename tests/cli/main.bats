#!/usr/bin/env bats
# The frame: commands, options, exit codes, output.
# bats file_tags=valgrind

load ../lib/common

@test "without a command one line says where help is, and the status is 2" {
	expect 2 kistore
	silent_out
	err_is "kistore: which command? (see: kistore --help)"
}

@test "--help goes to standard output, fits 80 columns and lists commands" {
	expect 0 kistore --help
	silent_err
	head -n 1 "$OUT" | grep -q '^usage: kistore '
	grep -q '^  canon  ' "$OUT"
	[ "$(awk 'length > 80' "$OUT")" = "" ]
	# Each name stands apart from what is said of it, all in one column.
	sed -n '/^  init /,$p' "$OUT" >rows
	[ "$(wc -l <rows)" -gt 30 ]
	[ "$(grep -cv '^  [a-z-]*\( [a-z-]*\)\{0,1\}  ' rows)" -eq 0 ]
	[ "$(sed 's/^\(  [a-z-]*\( [a-z-]*\)\{0,1\}   *\).*/\1/' rows |
		awk '{ print length }' | uniq | wc -l)" -eq 1 ]
}

@test "--version prints one line" {
	expect 0 kistore --version
	silent_err
	grep -Eqx 'kistore [0-9]+\.[0-9]+\.[0-9]+ \(format kistore/1\)' "$OUT"
}

@test "every command has --help on standard output within 80 columns" {
	kistore --help | sed -n 's/^  \([a-z -]*[a-z]\)  .*/\1/p' >commands
	[ -s commands ]
	while read -r words; do
		# shellcheck disable=SC2086 # a name may be two words
		expect 0 kistore $words --help
		silent_err
		head -n 1 "$OUT" | grep -q "^usage: kistore $words"
		[ "$(awk 'length > 80' "$OUT")" = "" ]
	done <commands
}

@test "an unknown command is refused in one line" {
	expect 2 kistore frobnicate
	silent_out
	err_is "kistore: unknown command 'frobnicate' (see: kistore --help)"
}

@test "a command's name is not abbreviated" {
	expect 2 kistore cano x
	err_has "unknown command 'cano'"
}

@test "an unknown option is refused before anything is read" {
	expect 2 kistore canon --frobnicate nofile
	silent_out
	err_is "kistore: unknown option --frobnicate (see: kistore canon --help)"
	expect 2 kistore --frobnicate canon
	err_is "kistore: unknown option --frobnicate (see: kistore --help)"
	expect 2 kistore digest -x nofile
	err_has "unknown option -x"
}

@test "option names are not abbreviated" {
	expect 2 kistore digest --stric nofile
	err_has "unknown option --stric"
}

@test "an option that is not a list is refused the second time" {
	expect 2 kistore digest --strict --strict x
	err_is "kistore: option --strict is given twice"
	expect 2 kistore -q -q canon x
	err_is "kistore: option -q is given twice"
	expect 2 kistore -q canon -q x
	err_is "kistore: option -q is given twice"
}

@test "a flag takes no value" {
	expect 2 kistore digest --strict=yes x
	err_is "kistore: option --strict takes no value"
}

@test "an option that needs a value says so at the end of the line" {
	expect 2 kistore -C
	err_is "kistore: option -C needs a value: DIR"
}

@test "too few and too many operands are refused" {
	expect 2 kistore canon
	err_is "kistore: canon needs FILE|- (see: kistore canon --help)"
	expect 2 kistore canon a b
	err_is "kistore: canon has no use for 'b' (see: kistore canon --help)"
}

@test "options may stand behind operands, and -- ends them" {
	echo '{}' >./--help
	expect 0 kistore canon -- --help
	[ "$(cat "$OUT")" = '{}' ]
	echo '[ ]' >file
	expect 0 kistore canon file -q
	[ "$(cat "$OUT")" = '[]' ]
}

@test "--json is refused where a command has none" {
	echo '{}' >file
	expect 2 kistore --json canon file
	err_is "kistore: canon has no --json"
	expect 2 kistore canon --json file
	err_has "unknown option --json"
}

@test "an error under --json is one object on standard output too" {
	expect 5 kistore digest --json nofile
	[ "$(wc -l <"$OUT")" -eq 1 ]
	jq -e '.schema == "kistore-error/1" and .error.code == "io" and
		.error.exit == 5 and (.error.message | contains("nofile"))' "$OUT"
	[ "$(wc -l <"$ERR")" -eq 1 ]
	err_has "kistore: nofile: "
}

@test "control characters in arguments are not sent to the terminal" {
	expect 2 kistore $'a\033[31mb\nc'
	[ "$(wc -l <"$ERR")" -eq 1 ]
	err_has 'a\x1b[31mb\x0ac'
}

@test "a full disk is reported with status 5" {
	[ -c /dev/full ] || skip "no /dev/full"
	echo '{}' >file
	status=0
	"$KISTORE" canon file 2>err >/dev/full || status=$?
	[ "$status" -eq 5 ]
	grep -qx 'kistore: cannot write standard output: No space left on device' err
	"$KISTORE" --help 2>err >/dev/full || status=$?
	[ "$status" -eq 5 ]
}

@test "a closed standard output is reported with status 5" {
	echo '{}' >file
	status=0
	"$KISTORE" canon file 2>err >&- || status=$?
	[ "$status" -eq 5 ]
	grep -qx 'kistore: cannot write standard output: Bad file descriptor' err
}

@test "a closed standard input is reported with status 5" {
	status=0
	"$KISTORE" canon - 2>err >out <&- || status=$?
	[ "$status" -eq 5 ]
	grep -qx 'kistore: standard input: Bad file descriptor' err
	[ ! -s out ]
}

@test "a closed standard error changes nothing else" {
	[ -z "${VALGRIND:-}" ] || skip "valgrind itself needs standard error"
	echo '{}' >file
	[ "$("$KISTORE" canon file 2>&-)" = '{}' ]
}

@test "a reader that goes away ends the program by SIGPIPE" {
	head -c 3000000 /dev/zero | tr '\0' ' ' | sed 's/^/["/; s/$/"]/' >big
	set +o pipefail
	"$KISTORE" canon big 2>err | head -c 1 >/dev/null
	[ "${PIPESTATUS[0]}" -eq 141 ]
	[ ! -s err ]
	set -o pipefail
}

@test "what the README tells to type works, in its order" {
	need_command jq zstd
	ln -s "$REPO/fixtures" fixtures
	echo x >run.log
	sed -n '/^## Five minutes/,/^## Publishing/p' "$REPO/README.md" | awk '
		/^```sh/ { n++; on = 1; next }
		/^```/ { on = 0 }
		on { print > ("block" n) }'
	# Programs that may not be here are left out.
	grep '^kistore' block3 >exports
	# shellcheck disable=SC2016 # for the shell that runs it
	sed -i 's/ -o log.key .*/ -o log.key >vkey/
		s/VKEY/"$(cat vkey)"/' block2
	# shellcheck disable=SC2016
	sed -i 's/--key KEY/--key "$(cat vkey)"/' block5 block6
	mkdir bin
	ln -s "$(realpath "$KISTORE")" bin/kistore
	for block in block1 block2 exports block4 block5 block6 block7; do
		cat "$block"
	done >all
	PATH=$PWD/bin:$PATH expect 0 bash -euo pipefail all
	grep -q '^4 of 4 that rank$' "$OUT"
	grep -q '^pinned: ' "$OUT"
	grep -q '^1 attestation, 1 verified$' "$OUT"
	[ "$(tail -n 1 "$OUT")" = "$(sed -n 's/^D=//p' block7)  -" ]
	[ -s runs.csv ] && [ -s rope.csv ] && [ -s runs.db ]
	[ "$(wc -l <runs.jsonl)" -eq 4 ]
}
