#!/usr/bin/env bats
# kistore canon: RFC 8785 bytes, and nothing else.
# bats file_tags=valgrind

load ../lib/common

# canon_is TEXT WANTED
canon_is() {
	printf '%s' "$1" >in
	expect 0 kistore canon in
	silent_err
	printf '%s' "$2" | cmp - "$OUT"
}

# refused TEXT MESSAGE
refused() {
	printf '%s' "$1" >in
	expect 4 kistore canon in
	silent_out
	[ "$(wc -l <"$ERR")" -eq 1 ]
	grep -q '^kistore: in: ' "$ERR"
	err_has "$2"
}

@test "members are sorted, blanks dropped, numbers rewritten" {
	canon_is ' { "b" : [ 1.50, 1E2 ,-0 ] , "a" : null } ' \
		'{"a":null,"b":[1.5,100,0]}'
}

@test "no newline is added" {
	canon_is '"x"
' '"x"'
}

@test "- is standard input" {
	echo '[ 1 ]' >in
	status=0
	"$KISTORE" canon - <in >out || status=$?
	[ "$status" -eq 0 ]
	printf '[1]' | cmp - out
}

@test "a pipe given by name is read to its end" {
	mkfifo pipe
	echo '[ 2 ]' >pipe &
	expect 0 kistore canon pipe
	printf '[2]' | cmp - "$OUT"
}

@test "RFC 8785 can express U+0000 and a number beyond 2^53, so they pass" {
	canon_is '["\u0000"]' '["\u0000"]'
	canon_is '9007199254740993' '9007199254740992'
}

@test "a text that is not JSON is refused with its byte" {
	refused '{"a":}' 'byte 5'
	refused '' 'byte 0'
	refused '[1] x' 'byte 4'
}

@test "what RFC 8785 cannot express is refused" {
	refused '{"a":1,"a":2}' '"a"'
	refused '["\ud800"]' 'surrogate'
	refused '1e400' 'byte 0'
}

@test "a file that is not there is named" {
	expect 5 kistore canon nofile
	silent_out
	err_is "kistore: nofile: No such file or directory"
}

@test "a directory is not read" {
	expect 5 kistore canon /
	silent_out
	err_has "kistore: /: "
}

@test "every published pair comes out to the byte" {
	need_shared vectors/jcs/pairs
	local in
	for in in "$SHARED"/vectors/jcs/pairs/*.in.json; do
		expect 0 kistore canon "$in"
		cmp "${in%.in.json}.out.json" "$OUT"
		# Canonical text is its own canonical form.
		expect 0 kistore canon "${in%.in.json}.out.json"
		cmp "${in%.in.json}.out.json" "$OUT"
	done
}

@test "every published text to refuse is refused" {
	need_shared vectors/jcs/reject
	local in
	for in in "$SHARED"/vectors/jcs/reject/*.json; do
		expect 4 kistore canon "$in"
		silent_out
		[ "$(wc -l <"$ERR")" -eq 1 ]
	done
}
