#!/usr/bin/env bats
# What put and digest are given: each policy of store-layout.md I, and every
# sort of file that is none. A refusal is one line, its exit code, and nothing
# else: no output, no change of the store.

load ../lib/common
load ../lib/hostile

prepare() {
	"$KISTORE" -q init s.git
	manifest first >first.json
	"$KISTORE" -q -C s.git put first.json >first
	keep_state s.git
}

# A manifest of a kind without a table, its spec on standard input.
odd_manifest() {
	printf '{"apiVersion":"example.org/v1","kind":"Odd","metadata":%s,' \
		'{"name":"odd"}'
	printf '"spec":'
	cat
	printf '}'
}

# put_spec SPEC [OPTION…]: put it in such a manifest, from standard input.
put_spec() {
	local spec=$1
	shift
	printf '%s' "$spec" | odd_manifest >spec.json
	"$KISTORE" -C s.git put --allow-unknown-kind "$@" - <spec.json
}

# spec_is TEXT: the object that the last output names has this spec.
spec_is() {
	"$KISTORE" -C s.git get "$(first_digest)" >body
	diff <(printf '{"apiVersion":"example.org/v1","kind":"Odd","spec":%s}' \
		"$1") body
}

# ---- policies (store-layout.md I) ------------------------------------------

@test "every manifest of fixtures/invalid is refused by put and by digest" {
	local count=0
	while IFS=$'\t' read -r file rule words options; do
		case $file in \#* | '') continue ;; esac
		[ "$options" != - ] || options=
		path=$REPO/fixtures/invalid/$file
		# shellcheck disable=SC2086 # options are words, or nothing
		refused 4 "$KISTORE" -C s.git put $options "$path"
		[ "$words" = - ] || said "$words"
		said "$file"
		# shellcheck disable=SC2086
		refused 4 "$KISTORE" digest $options "$path"
		[ "$words" = - ] || said "$words"
		[ -n "$rule" ]
		count=$((count + 1))
	done <"$REPO/fixtures/invalid/MANIFEST.tsv"
	[ "$count" -ge 60 ]
	unchanged s.git
}

@test "in JSON Lines a refusal names the line" {
	for file in I3-duplicate-name I4-lone-surrogate I7-inexact-integer \
		I9-nul-in-name I12-extra-member I16-missing-member \
		I17-null I18-duration-too-large; do
		{
			cat first.json
			echo
			tr -d '\r\n' <"$REPO/fixtures/invalid/$file.json"
			echo
		} >lines.jsonl
		refused 4 "$KISTORE" -C s.git put lines.jsonl
		said 'lines.jsonl:2: '
	done
	unchanged s.git
}

@test "one bad manifest among good ones refuses all of them" {
	for n in 1 2 3; do manifest "good-$n" >"good-$n.json"; done
	refused 4 "$KISTORE" -C s.git put good-1.json good-2.json \
		"$REPO/fixtures/invalid/I3-duplicate-name.json" good-3.json
	unchanged s.git
}

@test "I11: a manifest over 1 MiB is refused, one of just that size is not" {
	printf '{"s":""}' | odd_manifest >base
	pad=$((1048576 - $(wc -c <base)))
	for more in 0 1; do
		head -c "$((pad + more))" /dev/zero | tr '\0' x |
			sed 's/^/{"s":"/; s/$/"}/' | odd_manifest >"$more.json"
	done
	[ "$(wc -c <0.json)" -eq 1048576 ]
	refused 4 "$KISTORE" -C s.git put --allow-unknown-kind 1.json
	err_has 1048576
	refused 4 "$KISTORE" digest --allow-unknown-kind 1.json
	unchanged s.git
	expect 0 "$KISTORE" -C s.git put --allow-unknown-kind 0.json
	expect 0 "$KISTORE" -C s.git verify
}

@test "I15: a kind that is not known is refused unless it is allowed" {
	echo '{}' | odd_manifest >odd.json
	refused 4 "$KISTORE" -C s.git put odd.json
	err_has --allow-unknown-kind
	unchanged s.git
	expect 0 "$KISTORE" -C s.git put --allow-unknown-kind odd.json
}

@test "I19: an unknown member is kept and told of, and --strict refuses it" {
	manifest odd | sed 's/"spec":{/"spec":{"colour":"red",/' >odd.json
	refused 4 "$KISTORE" -C s.git put --strict odd.json
	unchanged s.git
	expect 0 "$KISTORE" -C s.git put odd.json
	err_has spec.colour
	"$KISTORE" -C s.git get "$(first_digest)" | grep -q '"colour":"red"'
}

# ---- reports O13 to O20 ----------------------------------------------------

@test "O13: names in NFC and NFD are two records, and neither is changed" {
	expect 0 put_spec $'{"\303\251":1}'
	nfc=$(first_digest)
	spec_is $'{"\303\251":1}'
	expect 0 put_spec $'{"e\314\201":1}'
	nfd=$(first_digest)
	spec_is $'{"e\314\201":1}'
	[ "$nfc" != "$nfd" ]
}

@test "O13: a digest in upper case is read, and printed in lower case" {
	digest=$(grep -oE '[0-9a-f]{64}' first)
	expect 0 "$KISTORE" -C s.git resolve "$(echo "$digest" | tr a-f A-F)"
	out_is "sha256:$digest"
	git -C s.git ls-tree -r --name-only HEAD objects >names
	! grep -vE '^objects/[0-9a-f]/[0-9a-f]{2}/[0-9a-f]{61}\.zst$' names ||
		return 1
}

@test "O14: numbers come out as ECMAScript prints them" {
	while read -r given want; do
		expect 0 put_spec "{\"v\":$given}"
		spec_is "{\"v\":$want}"
	done <<-'END'
	1e21 1e+21
	1e20 100000000000000000000
	-0 0
	0.10 0.1
	0.1 0.1
	5e-324 5e-324
	0.000001 0.000001
	1e-7 1e-7
	1e23 1e+23
	333333333.33333329 333333333.3333333
	1491926160718000000 1491926160718000000
	295147905179352830000 295147905179352830000
	9007199254740992 9007199254740992
	END
}

@test "O14: 0.10 and 0.1 are one record" {
	expect 0 put_spec '{"v":0.10}'
	one=$(first_digest)
	expect 0 put_spec '{"v":0.1}'
	[ "$(first_digest)" = "$one" ]
	grep -q ' known$' "$OUT"
}

@test "O14: a number that cannot be held or is none is refused" {
	for number in 9007199254740993 1E400 -1E400 1e-400 \
		01 1. .5 +1 NaN Infinity 0x10 - 1e 1e+ --1 1_000 ''; do
		refused 4 put_spec "{\"v\":$number}"
		said 'standard input: '
	done
	unchanged s.git
}

@test "O16: a member twice is refused, with its name and place" {
	for spec in '{"a":1,"a":2}' '{"a":1,"\u0061":2}' '{"a":1,"a":1}' \
		'{"o":{"x":1,"x":1}}' '{"l":[{"x":1,"x":2}]}'; do
		refused 4 put_spec "$spec"
		err_has duplicate
		grep -qE 'byte [0-9]+' "$ERR"
	done
	unchanged s.git
}

@test "O16: one duplicate among 60,000 members is found at once" {
	{
		printf '{'
		seq -f '"k%.0f":0,' 1 60000
		printf '"k30000":0}'
	} | tr -d '\n' | odd_manifest >many.json
	refused 4 timeout 10 "$KISTORE" -C s.git put --allow-unknown-kind \
		many.json
	err_has k30000
	unchanged s.git
}

@test "O17: members are ordered by UTF-16 units, and escaped as RFC 8785 says" {
	expect 0 put_spec '{"\ufb33":1,"\ud83d\ude00":2}'
	spec_is $'{"\360\237\230\200":2,"\357\254\263":1}'
	expect 0 put_spec '{"a":"\u2028\/\u000a\u0001\u007f"}'
	spec_is $'{"a":"\342\200\250/\\n\\u0001\177"}'
}

@test "O17: ill-formed text is refused, never repaired" {
	for text in '\ud800' '\udc00' '\ude00\ud83d' '\ud83d\u0041' \
		$'\355\240\200' $'\300\200' $'\364\220\200\200' $'\200' \
		$'\342\202' $'\377'; do
		refused 4 put_spec "{\"a\":\"$text\"}"
		grep -qE 'byte [0-9]+' "$ERR"
		! grep -q $'\357\277\275' "$ERR" || return 1
	done
	unchanged s.git
}

@test "O18: U+0000 is refused in names and strings, and never ends a text" {
	for spec in '{"a\u0000b":1,"a":2}' '{"a":"x\u0000y"}' \
		'{"a":["\u0000"]}'; do
		refused 4 put_spec "$spec"
		err_has U+0000
	done
	printf '%s\0%s' "$(cat first.json)" "$(cat first.json)" >nul.json
	refused 4 "$KISTORE" -C s.git put nul.json
	printf '%s\0' "$(cat first.json)" >nul.json
	refused 4 "$KISTORE" -C s.git put nul.json
	unchanged s.git
}

@test "O19: a byte order mark, other encodings and what follows are told apart" {
	{ printf '\357\273\277'; cat first.json; } >mark.json
	refused 4 "$KISTORE" -C s.git put mark.json
	err_has 'byte order mark'
	for encoding in UTF-16 UTF-16LE UTF-32; do
		iconv -t "$encoding" first.json >coded.json
		refused 4 "$KISTORE" -C s.git put coded.json
	done
	for tail in x '{}' ',' ']' '"'; do
		{ cat first.json; printf '%s' "$tail"; } >tail.json
		refused 4 "$KISTORE" -C s.git put tail.json
	done
	unchanged s.git
}

@test "O19: line ends and blanks around tokens do not change the digest" {
	jq . first.json | sed 's/$/\r/' >crlf.json
	{ printf ' \t\r\n'; cat crlf.json; printf '\n\n \t'; } >blanks.json
	for file in crlf.json blanks.json; do
		expect 0 "$KISTORE" -C s.git put "$file"
		grep -q ' known$' "$OUT"
	done
	unchanged s.git
}

@test "O19: sizes at the edge of a page and a block are read whole" {
	manifest edge >base
	"$KISTORE" digest base >want
	for size in 4096 65536 262144 262145; do
		pad=$((size - $(wc -c <base)))
		{
			head -c -1 base
			head -c "$pad" /dev/zero | tr '\0' ' '
			printf '}'
		} >edge.json
		[ "$(wc -c <edge.json)" -eq "$size" ]
		"$KISTORE" digest edge.json >file
		cmp file want
		# shellcheck disable=SC2002 # a pipe is the point
		cat edge.json | "$KISTORE" digest - >pipe
		cmp pipe want
	done
}

@test "O20: depth is limited, whatever the stack" {
	for depth in 65 500000; do
		python3 -c "import sys; n = $depth - 2
sys.stdout.write('{\"v\":' + '[' * n + ']' * n + '}')" >spec
		odd_manifest <spec >lists.json
		refused 4 small_stack "$KISTORE" -C s.git put \
			--allow-unknown-kind lists.json
		python3 -c "import sys; n = $depth - 2
sys.stdout.write('{\"a\":' * n + '0' + '}' * n)" >spec
		odd_manifest <spec >objects.json
		refused 4 small_stack "$KISTORE" -C s.git put \
			--allow-unknown-kind objects.json
		refused 4 small_stack "$KISTORE" digest \
			--allow-unknown-kind objects.json
	done
	head -c 4000000 /dev/zero | tr '\0' '[' >open.json
	refused 4 small_stack "$KISTORE" -C s.git put open.json
	refused 4 small_stack "$KISTORE" canon open.json
	unchanged s.git
}

@test "O20: a depth of 64 is taken, and is read back with a small stack" {
	# The manifest and spec are two of them, the scalar is one.
	python3 -c "import sys; n = 64 - 3
sys.stdout.write('{\"v\":' + '[' * (n - 0) + ']' * n + '}')" >spec
	expect 0 small_stack put_spec "$(cat spec)"
	spec_is "$(cat spec)"
	expect 0 small_stack "$KISTORE" -C s.git verify
}

# ---- files that are none ---------------------------------------------------

@test "an empty file, an empty input and one of blanks are refused" {
	: >empty.json
	: >empty.jsonl
	: >empty
	printf ' \n\t\r\n' >blank.json
	printf '\n\n   \n' >blank.jsonl
	zstd -q empty.json blank.jsonl
	for file in empty.json empty.jsonl empty blank.json blank.jsonl \
		empty.json.zst blank.jsonl.zst; do
		refused 4 "$KISTORE" -C s.git put "$file"
		said "$file" || said 'no manifest in the input'
		refused 4 "$KISTORE" digest "$file"
	done
	refused 4 from_file empty "$KISTORE" -C s.git put -
	err_has 'standard input'
	refused 4 from_file blank.json "$KISTORE" -C s.git put -
	unchanged s.git
}

@test "a compressed file that ends early is refused at every length" {
	manifest cut | zstd -q -c >whole.zst
	size=$(wc -c <whole.zst)
	for ((n = 0; n < size; n += 17)); do
		head -c "$n" whole.zst >cut.json.zst
		refused 4 "$KISTORE" -C s.git put cut.json.zst
	done
	head -c $((size - 1)) whole.zst >cut.json.zst
	refused 4 "$KISTORE" -C s.git put cut.json.zst
	unchanged s.git
}

@test "a compressed file that is damaged, no frame, or goes on is refused" {
	manifest cut | zstd -q --check -c >whole.zst
	size=$(wc -c <whole.zst)
	for ((n = 0; n < size; n += 13)); do
		flip "$n" <whole.zst >bad.json.zst
		refused 4 "$KISTORE" -C s.git put bad.json.zst
	done
	cp first.json plain.json.zst
	refused 4 "$KISTORE" -C s.git put plain.json.zst
	{ cat whole.zst; echo tail; } >tail.json.zst
	refused 4 "$KISTORE" -C s.git put tail.json.zst
	unchanged s.git
}

@test "O21: a bomb of 4 GiB in one line is refused early and in little memory" {
	skip_under_sanitizer "address space"
	bomb >bomb.json.zst
	cp bomb.json.zst bomb.jsonl.zst
	for file in bomb.json.zst bomb.jsonl.zst; do
		refused 4 bounded "$KISTORE" -C s.git put "$file"
		said 'longer than the limit of'
		refused 4 bounded "$KISTORE" digest "$file"
	done
	unchanged s.git
}

@test "O21: a frame that claims a terabyte is refused before it is believed" {
	skip_under_sanitizer "address space"
	printf '\x28\xb5\x2f\xfd\xe0\0\0\0\0\0\1\0\0\3\0\0\0' >huge.json.zst
	refused 4 bounded "$KISTORE" -C s.git put huge.json.zst
	# A window of 2^41 bytes.
	printf '\x28\xb5\x2f\xfd\x00\xf8\x01\0\0' >window.json.zst
	refused 4 bounded "$KISTORE" -C s.git put window.json.zst
	unchanged s.git
}

@test "an endless input is refused in little memory" {
	skip_under_sanitizer "address space"
	refused 4 from_file /dev/zero bounded "$KISTORE" -C s.git put -
	refused 4 blanks_for_ever bounded "$KISTORE" -C s.git put -
	unchanged s.git
}

@test "a directory without records is refused" {
	mkdir -p empty/below other
	echo text >other/README
	for directory in empty other; do
		try "$KISTORE" -C s.git put "$directory"
		[ "$status" -eq 4 ]
		silent_out
		err_has "$directory: a directory without records"
	done
	unchanged s.git
}

@test "a FIFO, a device and a socket are refused without waiting" {
	mkfifo pipe.json
	refused 4 timeout 10 "$KISTORE" -C s.git put pipe.json
	err_has pipe.json
	refused 4 timeout 10 "$KISTORE" -C s.git put /dev/zero
	refused 4 timeout 10 "$KISTORE" -C s.git put /dev/null
	refused 4 timeout 10 "$KISTORE" digest pipe.json
	python3 -c 'import socket
socket.socket(socket.AF_UNIX).bind("socket.json")'
	refused 4 timeout 10 "$KISTORE" -C s.git put socket.json
	unchanged s.git
}

@test "in a directory FIFOs and symbolic links are skipped, and said so" {
	mkdir -p in/below
	cp first.json in/below/one.json
	mkfifo in/pipe.json
	ln -s . in/self
	ln -s ../../in in/below/up
	ln -s /etc/passwd in/out.json
	ln -s gone in/gone.json
	expect 0 timeout 10 "$KISTORE" -C s.git put in
	[ "$(wc -l <"$OUT")" -eq 1 ]
	for name in pipe.json self below/up out.json gone.json; do
		err_has "in/$name: skipped"
	done
	unchanged s.git
}

@test "a path that is not there is told of with status 5" {
	refused 5 "$KISTORE" -C s.git put gone.json
	err_has 'gone.json: No such file or directory'
	refused 5 "$KISTORE" -C s.git put first.json gone/
	refused 5 "$KISTORE" digest gone.json
	ln -s loop-b loop-a
	ln -s loop-a loop-b
	refused 5 "$KISTORE" -C s.git put loop-a
	refused 5 "$KISTORE" -C s.git put first.json/below
	unchanged s.git
}

@test "a file or directory that may not be read is told of with status 5" {
	need_plain_rights
	cp first.json secret.json
	mkdir shut
	cp first.json shut
	chmod 000 secret.json shut
	refused 5 with_plain_rights "$KISTORE" -C s.git put secret.json
	err_has 'secret.json: Permission denied'
	refused 5 with_plain_rights "$KISTORE" -C s.git put shut
	refused 5 with_plain_rights "$KISTORE" digest secret.json
	chmod 700 shut
	unchanged s.git
}

@test "a long file name, and one of other bytes, are read and shown in one line" {
	long=$(head -c 250 /dev/zero | tr '\0' n).json
	cp first.json "$long"
	expect 0 "$KISTORE" -C s.git put "$long"
	echo '{' >"$long"
	refused 4 "$KISTORE" -C s.git put "$long"
	odd=$'\377\376 \303(.json'
	cp first.json "$odd"
	expect 0 "$KISTORE" -C s.git put "$odd"
	echo '{' >"$odd"
	refused 4 "$KISTORE" -C s.git put "$odd"
	iconv -f UTF-8 -t UTF-8 "$ERR" >utf-8
	refused 5 "$KISTORE" -C s.git put "$(head -c 300 /dev/zero |
		tr '\0' x)"
	unchanged s.git
}

@test "terminal escapes in names and in manifests reach no terminal" {
	name=$'a\033]0;owned\007\n\033[2J.json'
	echo '{' >"$name"
	refused 4 "$KISTORE" -C s.git put "$name"
	no_escapes
	manifest odd | sed 's/"spec":{/"spec":{"\\u001b[31m\\u009b\\n":1,/' \
		>odd.json
	refused 4 "$KISTORE" -C s.git put --strict odd.json
	no_escapes
	manifest odd | sed 's/"SoftwareProject"/"\\u001b[31mX"/' >odd.json
	refused 4 "$KISTORE" -C s.git put odd.json
	no_escapes
	mkdir in
	cp first.json in
	touch in/$'\033[31m\302\233red'
	expect 0 "$KISTORE" -C s.git put in
	no_escapes
	unchanged s.git
}
