#!/usr/bin/env bats
# kistore key generate, key show, key register.

load ../lib/common
load ../lib/store
load ../lib/hostile

# The key of RFC 8410 section 10.3 under a name; its vkey's id is the start of
# SHA-256(name LF type key), by sha256sum.
ORIGIN=example.org/log
BASE64=ARm/RAlphM3+hUG6wWfcO5bIUIaqMLa2ywxcOK1wMWbh
VKEY=$ORIGIN+00f117d5+$BASE64
COSIGNER=$ORIGIN+48f96aab+BBm/RAlphM3+hUG6wWfcO5bIUIaqMLa2ywxcOK1wMWbh
SSH="ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBm/RAlphM3+hUG6wWfcO5bIUIaqMLa2ywxcOK1wMWbh"
PEM='-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
-----END PUBLIC KEY-----'
SECRET=MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC

prepare() {
	umask 022
	printf '%s\n' "Name: $ORIGIN" '-----BEGIN PRIVATE KEY-----' \
		"$SECRET" '-----END PRIVATE KEY-----' >rfc.key
	chmod 600 rfc.key
	printf 'correct horse\nbattery staple\n' >phrase
}

generate() {
	kistore -q key generate --name "$ORIGIN" -o "$@"
}

# Nothing but what was there: no key, no temporary file.
nothing_made() {
	[ ! -e new.key ] && [ -z "$(find . -name '.kistore-*')" ]
}

# key_id NAME TYPE BASE64-OF-32-BYTES, by stock tools.
key_id() {
	{
		printf '%s\n' "$1"
		# shellcheck disable=SC2059 # the type is an escape
		printf "\\x$2"
		base64 -d <<<"$3"
	} | sha256sum | cut -c1-8
}

# on_terminal [PROMPT ANSWER]… -- COMMAND…
on_terminal() {
	python3 "$REPO/tests/lib/terminal.py" "$@"
}

no_terminal() {
	setsid -w "$@" </dev/null
}

# The secret part of a key file does not appear in what was said.
kept_secret() {
	! grep -qF "$SECRET" "$OUT" "$ERR" &&
		! grep -qF "${SECRET:22:20}" "$OUT" "$ERR" &&
		! grep -qF 'correct horse' "$OUT" "$ERR"
}

# ---- key generate ----------------------------------------------------------

# bats test_tags=valgrind
@test "key generate writes a private key and prints its verifier key" {
	expect 0 kistore key generate --name "$ORIGIN" -o new.key
	[ "$(wc -l <"$OUT")" -eq 1 ]
	grep -Eqx "$ORIGIN\+[0-9a-f]{8}\+A[A-Za-z0-9+/]{43}" "$OUT"
	err_is "kistore: new.key holds the private key, not encrypted: keep it safe, and a copy of it elsewhere, since whoever has it signs as $ORIGIN
kistore: publish the verifier key, the line $ORIGIN+..., in two independent places outside of any store"
	[ "$(stat -c '%a %F' new.key)" = "600 regular file" ]
	[ "$(sed -n 1p new.key)" = "Name: $ORIGIN" ]
	[ "$(sed -n 2p new.key)" = "-----BEGIN PRIVATE KEY-----" ]
	[ "$(wc -l <new.key)" -eq 4 ]
	vkey=$(<"$OUT")
	expect 0 kistore key show new.key
	silent_err
	[ "$(sed -n 1p "$OUT")" = "$vkey" ]
	[ "$(find . -name '*.key' | wc -l)" -eq 2 ]
}

@test "key generate's id is that of C2SP signed-note, by sha256sum" {
	vkey=$(generate new.key)
	key=$(openssl pkey -in new.key -pubout -outform DER | tail -c 32 | base64)
	[ "$vkey" = "$ORIGIN+$(key_id "$ORIGIN" 01 "$key")+$(
		{ printf '\1'; base64 -d <<<"$key"; } | base64)" ]
}

@test "two keys of one name are two keys" {
	[ "$(generate a.key)" != "$(generate b.key)" ]
	! cmp -s a.key b.key || return 1
}

@test "-q leaves the verifier key only" {
	expect 0 kistore -q key generate --name x -o new.key
	silent_err
	[ "$(wc -l <"$OUT")" -eq 1 ]
}

@test "key generate --json tells all that may be told" {
	expect 0 kistore key generate --json --name "$ORIGIN" -o new.key
	[ "$(wc -l <"$ERR")" -eq 2 ]
	kistore key show --json new.key | diff - "$OUT"
	jq -e 'keys == ["fingerprint", "keyId", "name", "pem", "schema", "ssh",
		"vkey"] and .schema == "kistore-key/1" and
		.name == $origin and (.vkey | startswith(
		$origin + "+" + $doc.keyId + "+"))' \
		--arg origin "$ORIGIN" --argjson doc "$(cat "$OUT")" "$OUT"
	jq -r .ssh "$OUT" >new.pub
	[ "$(ssh-keygen -lf new.pub | cut -d' ' -f2)" = \
		"$(jq -r .fingerprint "$OUT")" ]
	jq -j .pem "$OUT" | diff - <(openssl pkey -in new.key -pubout)
	! grep -q "$(sed -n 3p new.key)" "$OUT" || return 1
}

@test "a new key has mode 0600 whatever the umask lets through" {
	umask 000
	generate new.key
	[ "$(stat -c %a new.key)" = 600 ]
}

@test "a key is never overwritten, nor anything else" {
	cp rfc.key before
	: >empty
	mkdir directory
	ln -s nowhere dangling
	ln -s rfc.key link
	mkfifo fifo
	for path in rfc.key empty directory dangling link fifo /dev/null; do
		refused 5 timeout 10 "$KISTORE" key generate --name x -o "$path"
		err_is "kistore: $path: exists already, and a key is never overwritten"
	done
	cmp before rfc.key
	[ ! -s empty ] && [ ! -e nowhere ] && [ -p fifo ]
	expect 5 kistore key generate --json --name x -o rfc.key
	jq -e '.error.code == "exists" and .error.exit == 5' "$OUT"
	cmp before rfc.key
}

# bad_name NAME RULE
bad_name() {
	refused 2 kistore key generate --name "$1" -o new.key
	err_has "$2"
	err_has "(T6)"
	nothing_made
}

@test "T6: a name has 1 to 255 bytes" {
	long=$(printf 'n%.0s' $(seq 255))
	bad_name '' 'an origin has 1 to 255 bytes'
	bad_name "${long}n" 'an origin has 1 to 255 bytes'
	# 128 characters, 256 bytes.
	bad_name "$(printf '\303\274%.0s' $(seq 128))" '1 to 255 bytes'
	expect 0 kistore -q key generate --name "$long" -o new.key
	expect 0 kistore key show new.key
	grep -q "^$long+" "$OUT"
}

@test "T6: a name does not begin as what other keys sign" {
	for name in cosignature/ cosignature/v1 DSSEv1 DSSEv1x; do
		bad_name "$name" 'must not start with "cosignature/" or "DSSEv1"'
	done
	for name in cosignature xcosignature/ DSSEv2 dssev1; do
		expect 0 kistore -q key generate --name "$name" -o new.key
		rm new.key
	done
}

@test "T6: a name has no control character, no blank and no plus" {
	for name in 'a b' ' a' 'a ' $'a\tb' $'a\nb' $'a\rb' $'\001' $'a\177' \
		'a+b' + $'a\302\205b' $'a\302\240b' $'a\341\232\200b' \
		$'a\342\200\200b' $'a\342\200\212b' $'a\342\200\250b' \
		$'a\342\200\251b' $'a\342\200\257b' $'a\342\201\237b' \
		$'a\343\200\200b'; do
		bad_name "$name" "without control characters, blanks or '+'"
	done
}

@test "T6: a name is UTF-8" {
	for name in $'\377' $'a\200' $'\300\257' $'\355\240\200' \
		$'\364\220\200\200' $'a\303'; do
		bad_name "$name" 'an origin is UTF-8'
	done
	expect 0 kistore -q key generate --name $'z\303\274rich.example/\360\237\230\200' \
		-o new.key
	expect 0 kistore key show new.key
	grep -q $'^z\303\274rich.example/\360\237\230\200+' "$OUT"
}

@test "key generate needs a name and a file, and no more" {
	refused 2 kistore key generate -o new.key
	err_is "kistore: key generate needs --name NAME"
	refused 2 kistore key generate --name x
	err_is "kistore: key generate needs -o FILE"
	refused 2 kistore key generate --name x -o new.key other
	refused 2 kistore key generate --name x --name y -o new.key
	refused 2 kistore key
	err_is "kistore: key needs one of: generate, show, register"
	nothing_made
}

@test "a private key is not written to standard output" {
	refused 2 kistore key generate --name x -o -
	err_is "kistore: a private key is not written to standard output: name a file"
	[ ! -e ./- ]
}

@test "a place that cannot be written is told of with status 5" {
	refused 5 kistore key generate --name x -o no/new.key
	err_is "kistore: no/new.key: No such file or directory"
	refused 5 kistore key generate --name x -o rfc.key/new.key
	err_is "kistore: rfc.key/new.key: Not a directory"
	refused 5 kistore key generate --name x -o ''
	nothing_made
}

@test "a directory that may not be written gets no key" {
	need_plain_rights
	mkdir shut
	chmod 500 shut
	refused 5 with_plain_rights "$KISTORE" key generate --name x \
		-o shut/new.key
	err_is "kistore: shut/new.key: Permission denied"
	[ -z "$(ls -A shut)" ]
}

@test "on a full disk nothing half-written is left" {
	need_mounts
	cat >script <<-'END'
	mount -t tmpfs -o size=64k t mount || exit 99
	head -c 64k /dev/zero >mount/fill 2>/dev/null
	"$KISTORE" key generate --name x -o mount/new.key
	status=$?
	ls -A mount
	rm mount/fill
	"$KISTORE" -q key generate --name x -o mount/new.key || exit 98
	exit $status
	END
	expect 5 unshare -Urm sh script
	one_line
	err_has 'mount/new.key: No space left on device'
	[ "$(sed -n 1p "$OUT")" = fill ]
	[ "$(wc -l <"$OUT")" -eq 2 ]
}

@test "on read-only media there is one line and no key" {
	need_mounts
	cat >script <<-'END'
	mount -t tmpfs -o ro t mount || exit 99
	"$KISTORE" key generate --name x -o mount/new.key
	END
	refused 5 unshare -Urm sh script
	err_has 'Read-only file system'
}

@test "a key whose verifier key cannot be printed is there, and is told of" {
	[ -c /dev/full ] || skip "no /dev/full"
	status=0
	"$KISTORE" key generate --name x -o new.key 2>err >/dev/full || status=$?
	[ "$status" -eq 5 ]
	grep -q 'new.key holds the private key' err
	grep -q 'cannot write standard output' err
	expect 0 kistore key show new.key
}

@test "key generate opens no file for writing but the one it makes" {
	need_command strace
	[ -z "${VALGRIND:-}${SANITIZE:-}" ] || skip "more is opened under them"
	strace -f -o trace -e trace=open,openat,creat,rename,link,unlink \
		"$KISTORE" -q key generate --name x -o new.key >/dev/null
	grep -E 'O_(WRONLY|RDWR|CREAT|TRUNC|APPEND)|^[0-9]+ +(creat|rename|link|unlink)' \
		trace | grep -v '= -1 ' >written
	cat written
	[ "$(wc -l <written)" -eq 1 ]
	grep -qE '"new.key", O_WRONLY\|O_CREAT\|O_EXCL\|O_CLOEXEC, 0600' written
	strace -f -o trace -e trace=fsync "$KISTORE" -q key generate --name x \
		-o other.key >/dev/null
	[ "$(grep -c 'fsync(.*= 0' trace)" -eq 2 ]
	strace -f -o trace -e trace=open,openat,creat "$KISTORE" key show \
		new.key >/dev/null
	! grep -E 'O_(WRONLY|RDWR|CREAT|TRUNC|APPEND)' trace || return 1
}

# ---- passphrases -----------------------------------------------------------

@test "with --passphrase-file the key is encrypted, for stock openssl too" {
	expect 0 kistore key generate --name "$ORIGIN" -o new.key \
		--passphrase-file phrase
	head -n 1 "$ERR" | grep -q 'new.key holds the private key: keep it'
	kept_secret
	vkey=$(<"$OUT")
	[ "$(sed -n 1,2p new.key)" = "Name: $ORIGIN
-----BEGIN ENCRYPTED PRIVATE KEY-----" ]
	[ "$(stat -c %a new.key)" = 600 ]
	openssl pkey -in new.key -passin file:phrase -pubout >theirs
	openssl pkey -in new.key -passin 'pass:correct horse' -pubout |
		cmp - theirs
	expect 0 kistore key show --passphrase-file phrase new.key
	kept_secret
	[ "$(sed -n 1p "$OUT")" = "$vkey" ]
	sed -n '3,$p' "$OUT" | diff - theirs
}

@test "a passphrase is the first line of a file, without its LF alone" {
	printf 'correct horse' >bare
	printf 'correct horse\n' >line
	printf 'correct horse\r\n' >crlf
	printf ' correct horse\n' >blank
	generate new.key --passphrase-file phrase
	for file in bare line; do
		expect 0 kistore key show --passphrase-file "$file" new.key
	done
	for file in crlf blank; do
		refused 6 kistore key show --passphrase-file "$file" new.key
		! openssl pkey -in new.key -passin "file:$file" -noout \
			2>/dev/null || return 1
	done
	# As they are, they are good passphrases.
	generate crlf.key --passphrase-file crlf
	openssl pkey -in crlf.key -passin file:crlf -noout
	expect 0 kistore key show --passphrase-file crlf crlf.key
}

@test "a passphrase comes from a pipe, too" {
	generate new.key --passphrase-file - <phrase
	generate other.key --passphrase-file <(cat phrase)
	openssl pkey -in new.key -passin file:phrase -noout
	openssl pkey -in other.key -passin file:phrase -noout
	expect 0 kistore key show --passphrase-file - new.key <phrase
	# Its first line is enough: this pipe does not end.
	mkfifo pipe
	exec 9<>pipe
	cat phrase >&9
	expect 0 timeout 60 "$KISTORE" key show --passphrase-file pipe new.key
	exec 9>&-
}

@test "a passphrase has 1 to 1023 bytes, none of them 00" {
	: >empty
	printf '\nsecond\n' >first-empty
	printf 'a\0b\n' >nul
	printf 'x%.0s' $(seq 1023) >longest
	printf 'x%.0s' $(seq 1024) >longer
	for file in empty first-empty; do
		refused 4 kistore key generate --name x -o new.key \
			--passphrase-file "$file"
		err_is "kistore: $file: the passphrase is empty"
	done
	refused 4 kistore key generate --name x -o new.key --passphrase-file nul
	err_is "kistore: nul: a passphrase has no byte 00"
	for file in longer /dev/zero; do
		refused 4 kistore key generate --name x -o new.key \
			--passphrase-file "$file"
		err_is "kistore: $file: a passphrase has at most 1023 bytes"
	done
	nothing_made
	generate new.key --passphrase-file longest
	openssl pkey -in new.key -passin file:longest -noout
	expect 0 kistore key show --passphrase-file longest new.key
	refused 4 kistore key show --passphrase-file empty new.key
}

@test "a passphrase file that is not there or no file makes no key" {
	mkdir directory
	refused 5 kistore key generate --name x -o new.key --passphrase-file no
	err_is "kistore: no: No such file or directory"
	refused 5 kistore key generate --name x -o new.key \
		--passphrase-file directory
	err_is "kistore: directory: Is a directory"
	nothing_made
}

@test "a passphrase comes from one place" {
	refused 2 kistore key generate --name x -o new.key --passphrase \
		--passphrase-file phrase
	err_is "kistore: --passphrase and --passphrase-file exclude each other"
	refused 2 kistore key show --passphrase --passphrase-file phrase rfc.key
	refused 2 kistore key show --passphrase-file - - <rfc.key
	err_is "kistore: standard input can be only one of them"
	nothing_made
}

@test "a missing or wrong passphrase is status 6, and says what to do" {
	generate new.key --passphrase-file phrase
	refused 6 kistore key show new.key
	err_is "kistore: new.key: private key is encrypted: give --passphrase-file FILE, or --passphrase to be asked"
	echo 'incorrect horse' >wrong
	refused 6 kistore key show --passphrase-file wrong new.key
	err_is "kistore: new.key: the passphrase does not open the private key"
	! grep -q incorrect "$ERR" || return 1
	expect 6 kistore key show --json --passphrase-file wrong new.key
	jq -e '.error.code == "untrusted"' "$OUT"
	kept_secret
}

@test "a key that is not encrypted needs no passphrase, and asks for none" {
	expect 0 kistore key show --passphrase-file phrase rfc.key
	expect 0 no_terminal "$KISTORE" key show --passphrase rfc.key
	silent_err
}

@test "without a terminal to ask on there is one line, and no key" {
	need_command setsid
	refused 5 no_terminal "$KISTORE" key generate --name x -o new.key \
		--passphrase
	err_is "kistore: there is no terminal to ask for a passphrase on: give --passphrase-file FILE"
	nothing_made
	generate old.key --passphrase-file phrase
	refused 5 no_terminal "$KISTORE" key show --passphrase old.key
}

@test "a new passphrase is asked for twice, on a terminal that does not show it" {
	need_terminal
	expect 0 on_terminal 'new passphrase for new.key: ' $'correct horse\n' \
		'the same once more: ' $'correct horse\n' -- \
		"$KISTORE" key generate --name x -o new.key --passphrase \
		</dev/null
	kept_secret
	diff <(printf 'new passphrase for new.key: \r\nthe same once more: \r\n') \
		terminal.said
	openssl pkey -in new.key -passin file:phrase -noout
	vkey=$(<"$OUT")
	expect 0 on_terminal 'passphrase for new.key: ' $'correct horse\n' -- \
		"$KISTORE" key show --passphrase new.key </dev/null
	[ "$(sed -n 1p "$OUT")" = "$vkey" ]
	diff <(printf 'passphrase for new.key: \r\n') terminal.said
}

@test "script(1): a passphrase is typed on the terminal" {
	need_terminal
	need_command script
	generate new.key --passphrase-file phrase
	{ sleep 2; printf 'correct horse\n'; sleep 1; } |
		script -qec "'$KISTORE' key show --passphrase new.key >shown" \
		/dev/null >said
	diff shown <(kistore key show --passphrase-file phrase new.key)
	grep -q 'passphrase for new.key: ' said
}

@test "what was typed wrong makes no key, and names no passphrase" {
	need_terminal
	wrong() {
		expect 4 on_terminal "$@" -- "$KISTORE" key generate --name x \
			-o new.key --passphrase
		silent_out
		one_line
		kept_secret
		nothing_made
	}
	wrong 'new passphrase' $'correct horse\n' 'once more' $'other\n'
	err_is "kistore: the passphrases differ: nothing was made"
	wrong 'new passphrase' $'correct horse\n' 'once more' $'\n'
	err_is "kistore: the passphrases differ: nothing was made"
	wrong 'new passphrase' $'\n' 'once more' $'\n'
	err_is "kistore: the passphrase is empty"
	wrong 'new passphrase' $'\004' 'once more' $'\004'
	wrong 'new passphrase' "$(printf 'x%.0s' $(seq 1024))"$'\n'
	err_is "kistore: a passphrase has at most 1023 bytes"
	generate new.key --passphrase-file phrase
	expect 6 on_terminal 'passphrase for' $'correct hors\n' -- \
		"$KISTORE" key show --passphrase new.key
	err_is "kistore: new.key: the passphrase does not open the private key"
}

@test "the longest passphrase can be typed" {
	need_terminal
	long=$(printf 'x%.0s' $(seq 1023))
	expect 0 on_terminal 'new passphrase' "$long"$'\n' 'once more' \
		"$long"$'\n' -- "$KISTORE" key generate --name x -o new.key \
		--passphrase
	openssl pkey -in new.key -passin "pass:$long" -noout
}

@test "a signal at the prompt ends the program, with the echo back" {
	need_terminal
	# Typed: ^C and ^\; sent: the others.
	while read -r code answer; do
		expect "$code" on_terminal 'new passphrase' "$(printf '%b' \
			"$answer")" -- "$KISTORE" key generate --name x \
			-o new.key --passphrase
		silent_out
		silent_err
		nothing_made
	done <<-'END'
	130 \003
	130 half\003
	131 \034
	143 kill:TERM
	129 kill:HUP
	END
	expect 130 on_terminal 'new passphrase' $'correct horse\n' 'once more' \
		$'\003' -- "$KISTORE" key generate --name x -o new.key \
		--passphrase
	nothing_made
}

@test "a program stopped at the prompt asks again when it goes on" {
	need_terminal
	generate new.key --passphrase-file phrase
	expect 0 on_terminal 'passphrase for' $'half\032' 'passphrase for' \
		$'correct horse\n' -- "$KISTORE" key show --passphrase new.key
	[ -e terminal.stopped ]
	diff "$OUT" <(kistore key show --passphrase-file phrase new.key)
}

@test "a signal that is ignored does not end the prompt" {
	need_terminal
	generate new.key --passphrase-file phrase
	# shellcheck disable=SC2016 # for the inner shell
	expect 0 on_terminal 'passphrase for' kill:HUP '' $'correct horse\n' -- \
		sh -c 'trap "" HUP; exec "$0" key show --passphrase new.key' \
		"$KISTORE"
}

@test "a name that would disturb the terminal is escaped in the prompt" {
	need_terminal
	generate new.key --passphrase-file phrase
	mv new.key $'e\033[31mvil.key'
	expect 0 on_terminal 'passphrase for e\x1b[31mvil.key: ' \
		$'correct horse\n' -- "$KISTORE" key show --passphrase \
		$'e\033[31mvil.key'
	! grep -q $'\033' terminal.said || return 1
}

# ---- key show --------------------------------------------------------------

# bats test_tags=valgrind
@test "key show prints verifier key, SSH line and PEM of a private key" {
	expect 0 kistore key show rfc.key
	silent_err
	out_is "$VKEY
$SSH $ORIGIN
$PEM"
	kept_secret
}

@test "key show takes every form of a public key, as file and as text" {
	expect 0 kistore key show rfc.key
	cp "$OUT" want
	printf '%s\n' "$VKEY" >vkey
	printf '%s\n' "$SSH someone@somewhere" >ssh
	printf '%s\n' "$PEM" >pem
	expect 0 kistore key show vkey
	diff want "$OUT"
	expect 0 kistore key show "$VKEY"
	diff want "$OUT"
	expect 0 kistore key show - <vkey
	diff want "$OUT"
	for file in vkey ssh pem; do
		expect 0 kistore key show --origin "$ORIGIN" "$file"
		silent_err
		diff want "$OUT"
		# Editors and git leave these behind.
		{ printf '\357\273\277'; sed 's/$/\r/' "$file"; } >crlf
		expect 0 kistore key show --origin "$ORIGIN" crlf
		diff want "$OUT"
		# PEM begins with dashes.
		expect 0 kistore key show --origin "$ORIGIN" -- "$(<"$file")"
		diff want "$OUT"
	done
	sed 's/$/\r/' rfc.key >crlf.key
	chmod 600 crlf.key
	expect 0 kistore key show crlf.key
	diff want "$OUT"
	silent_err
}

@test "a public key without a name needs --origin, and a name is not changed" {
	printf '%s\n' "$SSH $ORIGIN" >ssh
	printf '%s\n' "$PEM" >pem
	for file in ssh pem; do
		refused 2 kistore key show "$file"
		err_is "kistore: $file: an OpenSSH or PEM key does not say for which origin it is: give --origin NAME, or the key as NAME+HASH+KEY (N5)"
	done
	for key in rfc.key "$VKEY"; do
		refused 2 kistore key show --origin other "$key"
		err_has "the key is for the origin $ORIGIN, and --origin is other"
		expect 0 kistore key show --origin "$ORIGIN" "$key"
	done
	refused 4 kistore key show --origin 'a b' pem
	err_has '(T6)'
}

@test "key show --cosigner prints the verifier key of type 04, with a word" {
	[ "$COSIGNER" = "$ORIGIN+$(key_id "$ORIGIN" 04 \
		"$(base64 -d <<<"$BASE64" | tail -c 32 | base64)")+BBm${BASE64:3}" ]
	for key in rfc.key "$VKEY" "$COSIGNER"; do
		expect 0 kistore key show --cosigner "$key"
		err_is "kistore: a key that makes cosignatures must be used for nothing else"
		out_is "$COSIGNER
$SSH $ORIGIN
$PEM"
	done
	expect 0 kistore -q key show --cosigner rfc.key
	silent_err
	expect 0 kistore key show "$COSIGNER"
	[ "$(sed -n 1p "$OUT")" = "$COSIGNER" ]
	expect 0 kistore key show --json --cosigner rfc.key
	jq -e --arg vkey "$COSIGNER" '.vkey == $vkey and
		.keyId == "48f96aab"' "$OUT"
}

@test "key show --json" {
	expect 0 kistore key show --json rfc.key
	jq -e --arg vkey "$VKEY" --arg ssh "$SSH $ORIGIN" --arg pem "$PEM
" --arg origin "$ORIGIN" --arg print "$(ssh-keygen -lf - <<<"$SSH" |
		cut -d' ' -f2)" '. == {schema: "kistore-key/1", name: $origin,
		keyId: "00f117d5", $vkey, $ssh, fingerprint: $print, $pem}' "$OUT"
	[ "$(wc -l <"$OUT")" -eq 1 ]
	kept_secret
}

@test "a private key that others can read or change is warned about" {
	for mode in 640 604 620 602 644 666; do
		chmod "$mode" rfc.key
		expect 0 kistore key show rfc.key
		err_is "kistore: rfc.key: this private key can be read or changed by others than its owner (chmod 600)"
	done
	expect 0 kistore -q key show rfc.key
	silent_err
	for mode in 600 400 700; do
		chmod "$mode" rfc.key
		expect 0 kistore key show rfc.key
		silent_err
	done
	echo "$VKEY" >public
	chmod 644 public
	expect 0 kistore key show public
	silent_err
}

@test "a private key on the command line is refused, and not repeated" {
	for text in "$(<rfc.key)" "$(sed -n '2,$p' rfc.key)" \
		"PRIVATE+KEY+$ORIGIN+00f117d5+$SECRET"; do
		for words in 'key show' 'key register' 'key show --'; do
			# shellcheck disable=SC2086 # two words
			refused 2 kistore $words "$text"
			err_is "kistore: a private key does not belong on the command line, where others see it: name its file"
		done
	done
}

@test "key show refuses keys of other algorithms by name" {
	openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 2>/dev/null >rsa
	openssl genpkey -algorithm X25519 >x25519
	openssl genpkey -algorithm ED448 >ed448
	openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 >ec
	for pair in rsa:RSA x25519:X25519 ed448:ED448 ec:EC; do
		file=${pair%%:*}
		{ echo 'Name: x'; cat "$file"; } >"$file.key"
		chmod 600 "$file.key"
		refused 4 kistore key show "$file.key"
		err_is "kistore: $file.key: private key of algorithm ${pair#*:}, not Ed25519 (N4)"
		openssl pkey -in "$file" -pubout >"$file.pub"
		refused 4 kistore key show --origin x "$file.pub"
		err_is "kistore: $file.pub: public key of algorithm ${pair#*:}, not Ed25519 (N4)"
	done
	openssl rsa -in rsa -traditional 2>/dev/null >old
	refused 4 kistore key show old
	err_has 'PEM block "RSA PRIVATE KEY"'
	ssh-keygen -q -t ecdsa -N '' -C x -f ecdsa
	for file in ecdsa ecdsa.pub; do
		refused 4 kistore key show --origin x "$file"
		err_has ecdsa-sha2-nistp256
	done
}

@test "key show refuses what is no key" {
	: >empty
	echo hello >word
	echo 'hello world' >words
	head -c 300 /dev/urandom >noise
	sed 2d rfc.key >no-begin
	sed 4d rfc.key >no-end
	sed 1d rfc.key >no-name
	sed '1s/.*/Name: a b/' rfc.key >bad-name
	sed '1p' rfc.key >two-names
	cat rfc.key rfc.key >two-keys
	sed '3s/T/!/' rfc.key >bad-base64
	echo "${VKEY/00f1/00f2}" >bad-id
	echo "$ORIGIN+00f117d5+$(printf '\2%032d' 0 | base64)" >type-02
	head -c 65537 /dev/zero >large
	{ cat rfc.key; head -c 65536 /dev/zero; } >padded
	for file in empty word words noise no-begin no-end no-name bad-name \
		two-names two-keys bad-base64 bad-id large padded; do
		chmod 600 "$file"
		refused 4 kistore key show "$file"
		err_has "$file: "
		kept_secret
		no_escapes
	done
	refused 8 kistore key show type-02
	refused 5 kistore key show nothing
	err_is "kistore: nothing: No such file or directory"
	refused 5 kistore key show .
	refused 4 timeout 10 "$KISTORE" key show /dev/zero
	err_is "kistore: /dev/zero: is longer than 65536 bytes"
	refused 2 kistore key show
	refused 2 kistore key show rfc.key rfc.key
}

@test "an encrypted OpenSSH key is refused with what to do" {
	ssh-keygen -q -t ed25519 -N 'correct horse' -C "$ORIGIN" -f locked
	for options in '' '--passphrase-file phrase'; do
		# shellcheck disable=SC2086 # words
		refused 4 kistore key show $options locked
		err_has 'locked: '
		err_has encrypted
	done
	# As it says.
	ssh-keygen -q -p -P 'correct horse' -N '' -f locked
	expect 0 kistore key show locked
}

# ---- with other programs ---------------------------------------------------

@test "openssl reads what key generate writes, and its public half" {
	generate new.key
	openssl pkey -in new.key -noout -check
	openssl pkey -in new.key -pubout >theirs
	kistore key show new.key | sed -n '3,$p' | tee ours | diff - theirs
	openssl pkey -pubin -in ours -noout -text | grep -q 'ED25519'
	# What the key signs verifies with the PEM that is published.
	openssl pkeyutl -sign -rawin -inkey new.key -in phrase -out signature
	openssl pkeyutl -verify -rawin -pubin -inkey ours -in phrase \
		-sigfile signature
}

@test "keys that openssl made work, with a line Name:" {
	openssl genpkey -algorithm ed25519 >plain
	openssl pkcs8 -topk8 -in plain -v2 aes-256-cbc -passout file:phrase \
		>pbkdf2
	openssl pkcs8 -topk8 -in plain -scrypt -passout file:phrase >scrypt
	openssl pkcs8 -topk8 -in plain -v2 aes128 -v2prf hmacWithSHA512 \
		-passout file:phrase >other
	{ echo "Name: $ORIGIN"; cat plain; } >plain.key
	expect 0 kistore -q key show plain.key
	sed -n '3,$p' "$OUT" | diff - <(openssl pkey -in plain -pubout)
	cp "$OUT" want
	for file in pbkdf2 scrypt other; do
		{ echo "Name: $ORIGIN"; cat "$file"; } >"$file.key"
		expect 0 kistore -q key show --passphrase-file phrase "$file.key"
		diff want "$OUT"
		refused 6 kistore -q key show "$file.key"
	done
	sed -n '2,$p' pbkdf2.key >nameless
	refused 4 kistore key show --passphrase-file phrase nameless
	err_has 'private key has no name: put a line "Name: NAME"'
}

@test "keys that ssh-keygen made work, and its SSH line is ours" {
	ssh-keygen -q -t ed25519 -N '' -C "$ORIGIN" -f ssh
	expect 0 kistore key show ssh
	silent_err
	sed -n 2p "$OUT" | diff - <(ssh-keygen -y -f ssh)
	sed -n 2p "$OUT" | diff - ssh.pub
	kistore key show --json ssh | jq -r .fingerprint |
		diff - <(ssh-keygen -lf ssh | cut -d' ' -f2)
	cp "$OUT" want
	expect 0 kistore key show --origin "$ORIGIN" ssh.pub
	diff want "$OUT"
	ssh-keygen -q -t ed25519 -N '' -C '' -f unnamed
	refused 4 kistore key show unnamed
	err_has 'OpenSSH private key has no name: set its comment by ssh-keygen'
}

# ---- key register ----------------------------------------------------------

# The newest entry, as stored.
last_line() {
	kistore log --json | tail -n 1 | jq -cS .entry
}

@test "key register appends one line, as the layout has it" {
	seed_store
	expect 0 kistore key register "$VKEY"
	silent_err
	out_is "8 $VKEY"
	git -C demo.git show HEAD:log/000/000.jsonl | tail -n 1 | diff - \
		<(printf '{"at":"2026-08-17T20:53:20Z","key":"%s","op":"key","role":"controlled"}\n' \
		"$VKEY")
	[ "$(git -C demo.git log -1 --format=%s)" = "key controlled $ORIGIN" ]
	expect 0 kistore verify
	grep -qx 'found nothing wrong' "$OUT"
	expect 0 kistore log 8..
	out_is "8 2026-08-17T20:53:20Z key       controlled $VKEY"
	expect 0 kistore retract c3252a98 --reason x
	expect 0 kistore verify
}

@test "key register takes a file with the verifier key" {
	empty_store
	printf '%s\r\n' "$VKEY" >runner.pub
	expect 0 kistore key register runner.pub
	out_is "1 $VKEY"
	expect 0 kistore key register - <runner.pub
	out_is "1 $VKEY"
}

@test "key register --json" {
	empty_store
	expect 0 kistore key register --json "$VKEY"
	jq -e --arg key "$VKEY" '. == {schema: "kistore-key-change/1", entry: 1,
		role: "controlled", $key, changed: true}' "$OUT"
	expect 0 kistore -q key register --json "$VKEY"
	silent_err
	jq -e '.entry == 1 and .changed == false' "$OUT"
	expect 0 kistore key register --json --revoke "$VKEY"
	jq -e '.entry == 2 and .role == "revoked" and .changed' "$OUT"
}

@test "R24: registering twice writes nothing, also after others" {
	empty_store
	kistore key register "$VKEY"
	other=$(generate other.key)
	kistore key register "$other"
	before=$(commit_id)
	expect 0 kistore key register "$VKEY"
	out_is "1 $VKEY"
	err_is "kistore: that key is registered already: nothing was written"
	expect 0 kistore key register "$other"
	out_is "2 $other"
	[ "$(commit_id)" = "$before" ]
	# Envelopes are signed by keys and not for names, so it is the same under
	# another one.
	kistore key show --origin example.org/b "$SSH" | sed -n 1p >b
	expect 0 kistore key register b
	out_is "1 $VKEY"
	err_is "kistore: that key is registered already: nothing was written"
	expect 0 kistore key register --revoke b
	out_is "3 $(<b)"
	refused 4 kistore key register --revoke "$VKEY"
	expect 0 kistore verify
}

@test "R24: --revoke ends what stands, and nothing else" {
	empty_store
	refused 4 kistore key register --revoke "$VKEY"
	err_is "kistore: that key is not registered: there is nothing to revoke (R24)"
	kistore key register "$VKEY"
	refused 4 kistore key register --revoke "$(generate other.key)"
	expect 0 kistore key register --revoke "$VKEY"
	silent_err
	out_is "2 $VKEY"
	[ "$(last_line)" = "{\"at\":\"2026-08-17T20:53:20Z\",\"key\":\"$VKEY\",\"op\":\"key\",\"role\":\"revoked\"}" ]
	refused 4 kistore key register --revoke "$VKEY"
	expect 0 kistore key register "$VKEY"
	out_is "3 $VKEY"
	expect 0 kistore key register --revoke "$VKEY"
	out_is "4 $VKEY"
	expect 0 kistore verify
}

@test "key register takes nothing but a verifier key" {
	empty_store
	before=$(commit_id)
	echo "$SSH" >ssh
	echo "$PEM" >pem
	for key in "$SSH" ssh pem; do
		refused 4 kistore key register "$key"
		err_is "kistore: an OpenSSH or PEM key has no name: register NAME+HASH+KEY, which key show --origin NAME prints (L18)"
	done
	refused 4 kistore key register rfc.key
	err_is "kistore: private key where a public key is needed; keep it secret, and give the public half (N4)"
	kept_secret
	refused 4 kistore key register "${VKEY/00f1/00f2}"
	refused 4 kistore key register "${VKEY}x"
	refused 4 kistore key register "${VKEY%?}"
	refused 8 kistore key register \
		"$ORIGIN+00f117d5+$(printf '\2%032d' 0 | base64)"
	refused 5 kistore key register nothing
	refused 4 kistore key register phrase
	refused 2 kistore key register
	refused 2 kistore key register "$VKEY" "$VKEY"
	[ "$(commit_id)" = "$before" ]
}

@test "M3, N13: keys of cosigners and of the log are not registered" {
	empty_store
	refused 4 kistore key register "$COSIGNER"
	err_is "kistore: a key of type 04 makes cosignatures and is used for nothing else (M3): register another one, of type 01"
	git -C demo.git show HEAD:log/000/000.jsonl >log
	printf '{"at":"2026-08-17T20:53:20Z","key":"%s","op":"key","origin":"%s","role":"log"}\n' \
		"$VKEY" "$ORIGIN" >>log
	replace log/000/000.jsonl log
	expect 0 kistore verify
	refused 4 kistore key register "$VKEY"
	err_is "kistore: that key signs the log, by entry 1, and is used for nothing else (N13): register another one"
	# Under another name it is the same key.
	refused 4 kistore key register "$(kistore key show --origin x "$SSH" |
		sed -n 1p)"
	# A line that another writer made is ended all the same.
	printf '{"at":"2026-08-17T20:53:20Z","key":"%s","op":"key","role":"controlled"}\n' \
		"$COSIGNER" >>log
	replace log/000/000.jsonl log
	expect 0 kistore key register --revoke "$COSIGNER"
	out_is "3 $COSIGNER"
	expect 0 kistore verify
}

@test "what looks like a key line, and is none, registers nothing" {
	empty_store
	git -C demo.git show HEAD:log/000/000.jsonl >log
	printf '{"at":"2026-08-17T20:53:20Z","key":"%s","op":"x-key","role":"controlled"}\n' \
		"$VKEY" >>log
	printf '{"at":"2026-08-17T20:53:20Z","key":"%s","op":"key","role":"x-runner"}\n' \
		"$VKEY" >>log
	replace log/000/000.jsonl log
	expect 0 kistore verify
	expect 0 kistore key register "$VKEY"
	out_is "3 $VKEY"
}

@test "a name that needs escapes stands in the log as canonical JSON has it" {
	empty_store
	vkey=$(kistore -q key generate --name $'a"b\\c\303\274' -o odd.key)
	expect 0 kistore key register "$vkey"
	expect 0 kistore key register "$vkey"
	[ "$(jq -r .key <(git -C demo.git show HEAD:log/000/000.jsonl |
		tail -n 1))" = "$vkey" ]
	expect 0 kistore verify
	expect 0 kistore key register --revoke "$vkey"
}

@test "key register needs a store, its lock, and a log without fault" {
	refused 3 kistore -C nowhere key register "$VKEY"
	empty_store
	need_command flock
	refused 5 flock demo.git/kistore.lock "$KISTORE" key register --wait 0 \
		"$VKEY"
	git -C demo.git show HEAD:log/000/000.jsonl >log
	cp log good
	echo '{"at":"2026-08-17T20:53:20Z","op":"future"}' >>log
	replace log/000/000.jsonl log
	refused 8 kistore key register "$VKEY"
	cp good log
	echo 'no line' >>log
	replace log/000/000.jsonl log
	refused 1 kistore key register "$VKEY"
	[ "$(git -C demo.git show HEAD:log/000/000.jsonl | wc -l)" -eq 2 ]
}

@test "key register finds what stands in an earlier segment" {
	empty_store
	kistore key register "$VKEY"
	git -C demo.git show HEAD:log/000/000.jsonl >log
	for n in $(seq 254); do
		echo "{\"at\":\"2026-08-17T20:53:20Z\",\"n\":$n,\"op\":\"x-fill\"}"
	done >>log
	replace log/000/000.jsonl log
	expect 0 kistore key register "$(generate other.key)"
	grep -q '^256 ' "$OUT"
	expect 0 kistore key register "$VKEY"
	out_is "1 $VKEY"
	expect 0 kistore key register --revoke "$VKEY"
	out_is "257 $VKEY"
	expect 0 kistore verify
}
