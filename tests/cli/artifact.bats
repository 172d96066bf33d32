#!/usr/bin/env bats
# kistore artifact put, artifact get.

load ../lib/common
load ../lib/store
load ../lib/hostile

HELLO=sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03
EMPTY=sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855

prepare() {
	seed_store
	echo hello >hello.txt
}

digest_of() {
	echo "sha256:$(sha256sum "$1" | cut -c1-64)"
}

# put_raw FILE…: quietly.
put_raw() {
	kistore -q artifact put "$@" >/dev/null
}

log_lines() {
	git -C "$KISTORE_DIR" show HEAD:log/000/000.jsonl
}

# stored DIGEST: the frame at its address.
stored() {
	git -C "$KISTORE_DIR" show "HEAD:$(object_path "$1")"
}

# no_rest DIRECTORY: nothing of a file on its way is left there.
no_rest() {
	[ -z "$(find "$1" -name '.kistore-*')" ]
}

# ---- artifact put ----------------------------------------------------------

# bats test_tags=valgrind
@test "artifact put stores the bytes of a file, by their digest" {
	before=$(commit_id)
	expect 0 kistore artifact put hello.txt
	out_is "$HELLO raw new"
	err_is 'kistore: added 1 entry; the log has 9'
	[ "$(git -C demo.git rev-parse HEAD^)" = "$before" ]
	[ "$(log_lines | tail -n 1)" = "{\"at\":\"2026-08-17T20:53:20Z\",\"digest\":\"$HELLO\",\"kind\":\"raw\",\"op\":\"publish\"}" ]
	stored "$HELLO" | zstd -dc | cmp - hello.txt
	expect 0 kistore verify
	grep -qx 'found nothing wrong' "$OUT"
}

@test "several files are one commit, in the order given, each once" {
	before=$(commit_id)
	printf 'a' >a
	printf 'b' >b
	cp a again
	expect 0 kistore artifact put b a again hello.txt
	out_is "$(digest_of b) raw new
$(digest_of a) raw new
$HELLO raw new"
	[ "$(git -C demo.git rev-parse HEAD^)" = "$before" ]
	[ "$(log_lines | tail -n 3 | jq -r .digest)" = "$(digest_of b)
$(digest_of a)
$HELLO" ]
	expect 0 kistore verify
}

@test "what is there already is known, and nothing is written" {
	put_raw hello.txt
	now=$(commit_id)
	expect 0 kistore artifact put hello.txt
	out_is "$HELLO raw known"
	err_is 'kistore: nothing to write; the log has 9 entries'
	[ "$(commit_id)" = "$now" ]
	expect 0 kistore -q artifact put hello.txt --describe
	sed -n 1p "$OUT" | grep -qx "$HELLO raw known"
	[ "$(wc -l <"$OUT")" -eq 2 ]
	now=$(commit_id)
	expect 0 kistore -q artifact put hello.txt --describe
	[ "$(grep -c ' known$' "$OUT")" -eq 2 ]
	[ "$(commit_id)" = "$now" ]
}

@test "--describe adds a record that tells of the bytes" {
	mkdir logs
	mv hello.txt logs
	expect 0 kistore -q artifact put logs/hello.txt --describe
	artifact=$(sed -n 's| kistore/v1/Artifact new||p' "$OUT")
	expect 0 kistore get "$artifact"
	out_is '{"apiVersion":"kistore/v1","kind":"Artifact","spec":{"digest":"'"$HELLO"'","kind":"file","mediaType":"application/octet-stream","name":"hello.txt","sizeBytes":6,"storage":"archived"}}' ||
		diff "$OUT" <(printf %s '{"apiVersion":"kistore/v1","kind":"Artifact","spec":{"digest":"'"$HELLO"'","kind":"file","mediaType":"application/octet-stream","name":"hello.txt","sizeBytes":6,"storage":"archived"}}')
	[ "$(log_lines | tail -n 2 | jq -r .kind)" = "raw
kistore/v1/Artifact" ]
	expect 0 kistore verify
}

@test "what a description is to say asks for one" {
	expect 0 kistore -q artifact put hello.txt --kind log \
		--media-type text/plain --name 'The log "of" it' \
		--license Apache-2.0 --uri https://example.org/x
	artifact=$(sed -n 's| kistore/v1/Artifact new||p' "$OUT")
	kistore get "$artifact" | jq -e '.spec == {digest: $digest,
		kind: "log", mediaType: "text/plain",
		name: "The log \"of\" it", license: "Apache-2.0",
		uri: "https://example.org/x", sizeBytes: 6,
		storage: "archived"}' --arg digest "$HELLO"
	expect 0 kistore artifact get "$artifact"
	cmp hello.txt "$OUT"
}

@test "a description must be one" {
	keep_state demo.git
	refused 4 kistore artifact put hello.txt --kind 'A Log'
	err_has 'spec.kind'
	refused 4 kistore artifact put hello.txt --name "$(printf 'n%.0s' $(seq 501))"
	err_has 'spec.name'
	refused 4 kistore artifact put hello.txt --license $'\377'
	err_is 'kistore: the license of an artifact must be UTF-8'
	refused 2 kistore artifact put hello.txt hello.txt --name x
	err_is 'kistore: --name and --uri are of one file: put the files one by one'
	unchanged demo.git
	expect 0 kistore artifact put hello.txt --name "$(printf 'n%.0s' $(seq 500))"
}

@test "a file whose name is not UTF-8 is described without it" {
	cp hello.txt $'bad\377name' || skip "no such names here"
	expect 0 kistore artifact put --describe $'bad\377name'
	err_has 'is described without'
	kistore get "$(sed -n 's| kistore/v1/Artifact new||p' "$OUT")" |
		jq -e '.spec | has("name") | not'
}

@test "--json is the receipt of a put" {
	expect 0 kistore -q artifact put hello.txt --describe --json
	jq -e '.schema == "kistore-put/1" and .logSize == 10 and
		.counts.new == 2 and .counts.objects == 2 and
		.counts.entries == 2 and (.objects | map(.kind)) ==
		["raw", "kistore/v1/Artifact"] and (.commit | length) == 40' \
		"$OUT"
}

@test "standard input is put, too" {
	expect 0 kistore -q artifact put - <hello.txt
	out_is "$HELLO raw new"
	expect 0 kistore -q artifact put - --describe < <(seq 100000)
	raw=$(sed -n 's/ raw new//p' "$OUT")
	[ "$raw" = "sha256:$(seq 100000 | sha256sum | cut -c1-64)" ]
	kistore get "$(sed -n 's| kistore/v1/Artifact new||p' "$OUT")" |
		jq -e '.spec | (has("name") | not) and .sizeBytes == 588895'
	kistore artifact get "$raw" | cmp - <(seq 100000)
	refused 2 kistore artifact put - - <hello.txt
	err_is 'kistore: standard input (-) can be given only once'
}

@test "nothing at all can be put" {
	: >empty
	expect 0 kistore -q artifact put empty
	out_is "$EMPTY raw new"
	expect 0 kistore artifact get "$EMPTY"
	silent_out
	expect 0 kistore verify
	stored "$EMPTY" | zstd -dc | cmp - empty
}

@test "the log is the same to the byte in another store" {
	seq 1000 >numbers
	put_raw hello.txt numbers --describe
	log_lines >first
	mkdir other
	cd other
	seed_store
	put_raw ../hello.txt ../numbers --describe
	log_lines | cmp - ../first
}

# big N [CHARACTER…]: N bytes that do not compress.
big() {
	openssl enc -aes-128-ctr -nosalt -K 00 -iv 00 -in /dev/zero 2>/dev/null |
		head -c "$1"
}

@test "a file of the largest size goes in and out in little memory" {
	need_command time
	[ -x /usr/bin/time ] || skip "no /usr/bin/time"
	big 67108864 >largest
	(
		[ -n "${SANITIZE:-}${VALGRIND:-}" ] || ulimit -v 400000
		/usr/bin/time -o put.time -f %M "$KISTORE" -q artifact put largest
	) >receipt
	digest=$(digest_of largest)
	grep -qx "$digest raw new" receipt
	/usr/bin/time -o get.time -f %M "$KISTORE" artifact get "$digest" \
		-o back
	cmp largest back
	kistore artifact get "$digest" | cmp - largest
	expect 0 kistore verify
	# What git maps of the pack counts here; of memory of its own a put has
	# less than half of that.
	cat put.time get.time
	[ -n "${SANITIZE:-}${VALGRIND:-}" ] || {
		[ "$(cat put.time)" -lt 140000 ]
		[ "$(cat get.time)" -lt 180000 ]
	}
}

@test "B2: no file is larger" {
	keep_state demo.git
	head -c 67108865 /dev/zero >large
	refused 4 kistore artifact put hello.txt large
	err_is 'kistore: large: is longer than 67108864 bytes, the most that a raw object has (O1)'
	refused 4 kistore artifact put - < <(cat large hello.txt)
	err_is 'kistore: standard input: is longer than 67108864 bytes, the most that a raw object has (O1)'
	refused 4 bounded "$KISTORE" artifact put - </dev/zero
	unchanged demo.git
}

@test "O8: a record is not put as raw bytes, in whatever file" {
	keep_state demo.git
	line="is a record, and a record is never stored as raw bytes (O8): use kistore put"
	for file in "$SEEDS"/*.jcs; do
		cp "$file" x.bin
		refused 4 kistore artifact put x.bin
		err_is "kistore: x.bin: $line"
	done
	refused 4 kistore artifact put - <x.bin
	err_is "kistore: standard input: $line"
	refused 4 kistore artifact put hello.txt x.bin
	# O4: of whatever kind, too.
	printf '{"apiVersion":"x/v1","kind":"Y","spec":{}}' >unknown
	refused 4 kistore artifact put unknown
	unchanged demo.git
	# These are none: not canonical, with metadata, with LF, too long.
	cp "$SEEDS/run.json" manifest
	{ cat "$SEEDS/run.jcs"; echo; } >with-lf
	printf '{"apiVersion":"x/v1","kind":"Y","spec":{"a":"%s"}}' \
		"$(head -c 1048576 /dev/zero | tr '\0' a)" >long
	expect 0 kistore artifact put manifest with-lf long
	expect 0 kistore verify
	grep -qx 'found nothing wrong' "$OUT"
}

@test "only regular files are taken, without waiting" {
	mkfifo pipe
	mkdir directory
	keep_state demo.git
	for path in pipe directory /dev/null /dev/zero; do
		refused 4 timeout 10 "$KISTORE" artifact put "$path"
		err_is "kistore: $path: not a regular file (give its data on standard input, as \"-\")"
		refused 4 timeout 10 "$KISTORE" artifact put hello.txt "$path"
	done
	refused 5 kistore artifact put no
	err_is 'kistore: no: cannot be read: No such file or directory'
	refused 2 kistore artifact put
	refused 2 kistore artifact
	unchanged demo.git
	ln -s hello.txt link
	expect 0 kistore artifact put link
}

@test "a file that may not be read is told of" {
	need_plain_rights
	chmod 000 hello.txt
	refused 5 with_plain_rights "$KISTORE" artifact put hello.txt
	err_is 'kistore: hello.txt: cannot be read: Permission denied'
}

@test "a file that changes while it is read is refused" {
	big 3000000 >changing
	keep_state demo.git
	# It is read twice; before the second time it grows, shrinks, changes.
	for change in 'printf x >>changing' 'truncate -s 5 changing' \
		'printf x | dd of=changing conv=notrunc bs=1 seek=7 2>/dev/null'; do
		big 3000000 >changing
		(
			exec 9>demo.git/kistore.lock
			flock 9
			"$KISTORE" artifact put changing >out 2>err 9>&- &
			# It has read the file once then, and waits.
			sleep 1
			eval "$change"
			exec 9>&-
			code=0
			wait $! || code=$?
			echo "$code" >code
		)
		[ "$(cat code)" -eq 4 ]
		[ "$(cat err)" = 'kistore: changing: was changed while it was read' ]
	done
	unchanged demo.git
}

@test "what was taken down is skipped among others, and refused alone" {
	put_raw hello.txt
	kistore -q takedown "$HELLO" --reason law
	refused 4 kistore artifact put hello.txt
	err_has 'it was taken down'
	refused 4 kistore artifact put hello.txt --describe
	echo other >other
	expect 0 kistore artifact put other hello.txt --describe
	err_has '1 object taken down before: skipped'
	[ "$(grep -c ' new$' "$OUT")" -eq 2 ]
	! grep -q "$HELLO" "$OUT" || return 1
	expect 0 kistore verify
}

@test "R22: raw bytes do not take the place of a record that is awaited" {
	printf 'raw' >raw
	jq -c --arg digest "$(digest_of raw)" '.metadata.name = "waiting" |
		.spec.workloadDigest = $digest' "$SEEDS/run.json" >waiting.json
	kistore -q put --allow-missing waiting.json >/dev/null
	keep_state demo.git
	refused 4 kistore artifact put raw
	err_has '(R22)'
	unchanged demo.git
}

@test "killed anywhere in an artifact put: the old state or the new" {
	need_command strace
	skip_under_sanitizer "strace and leak detection"
	strace -qq -o /dev/null -e trace=none true || skip "strace may not trace"
	big 1500000 >large
	old=$(commit_id)
	count=0
	for call in rename link unlink write pwrite64; do
		for n in 1 2 3 4 5 6 8 12 20; do
			rm -rf copy.git
			cp -a demo.git copy.git
			code=0
			(
				strace -f -qq -o /dev/null -e "trace=$call" \
					-e "inject=$call:signal=KILL:when=$n" \
					"$KISTORE" -C copy.git artifact put large \
					--describe >out 2>err &
				wait $!
			) 2>/dev/null || code=$?
			[ "$code" -eq 137 ] || break
			count=$((count + 1))
			expect 0 kistore -C copy.git verify
			now=$(git -C copy.git rev-parse HEAD)
			[ "$now" = "$old" ] ||
				[ "$(git -C copy.git rev-parse HEAD^)" = "$old" ]
			expect 0 kistore -q -C copy.git artifact put large --describe
			expect 0 kistore -C copy.git verify
			[ -z "$(find copy.git -name 'kistore-*' ! -name kistore.lock \
				! -name 'kistore-index.sqlite*' -o -name '*.keep' -o \
				-name 'tmp_*')" ]
			kistore -C copy.git artifact get "$(digest_of large)" |
				cmp - large
		done
	done
	[ "$count" -ge 15 ]
}

@test "a signal ends an artifact put, and leaves nothing" {
	keep_state demo.git
	mkfifo pipe
	exec 9<>pipe
	timeout 60 "$KISTORE" artifact put - <pipe >out 2>err 9>&- &
	pid=$!
	# More than a pipe holds: it has been read from when all is written.
	big 200000 >&9
	kill -TERM "$pid"
	code=0
	wait "$pid" || code=$?
	exec 9>&-
	[ "$code" -eq 143 ]
	unchanged demo.git
}

@test "on a full disk nothing is stored" {
	need_mounts
	big 3000000 >large
	cat >script <<-'END'
	mount -t tmpfs -o size=2m t mount || exit 99
	"$KISTORE" -q init mount/s.git >/dev/null || exit 98
	"$KISTORE" -C mount/s.git artifact put large
	status=$?
	"$KISTORE" -q -C mount/s.git verify >&2 || exit 97
	find mount/s.git -name 'kistore-*' ! -name kistore.lock \
		! -name 'kistore-index.sqlite*'
	exit $status
	END
	expect 5 unshare -Urm sh script
	err_has 'No space left on device'
	silent_out
}

@test "with many packs it is stored loose, and readable" {
	for i in $(seq 51); do
		git -C demo.git hash-object -w --stdin <<<"$i" >/dev/null
		git -C demo.git repack -q -d
		echo "$i" >n
		put_raw n
	done
	[ "$(find demo.git -name '*.pack' | wc -l)" -ge 50 ] || skip "git repacks"
	big 1000000 >large
	expect 0 kistore artifact put large
	kistore artifact get "$(digest_of large)" | cmp - large
	expect 0 git -C demo.git fsck --strict
	expect 0 kistore verify
}

@test "a work tree gets the file, too" {
	kistore -q init --worktree tree
	expect 0 kistore -C tree artifact put hello.txt
	zstd -dc "tree/$(object_path "$HELLO")" | cmp - hello.txt
	[ -z "$(git -C tree status --porcelain)" ]
}

@test "raw bytes go through a snapshot file" {
	need_command zstd
	big 700000 >large
	put_raw large hello.txt --describe
	kistore -q key generate --name example.org/log -o log.key >log.vkey
	kistore -q snapshot create --key log.key --first >/dev/null
	kistore -q snapshot export -o s.kistore
	expect 0 kistore -q snapshot import s.kistore copy.git --key log.vkey
	kistore -q -C copy.git artifact get "$(digest_of large)" | cmp - large
	expect 0 kistore -C copy.git verify --key log.vkey
}

# ---- artifact get ----------------------------------------------------------

@test "artifact get writes the bytes out, and nothing else" {
	put_raw hello.txt
	for ref in "$HELLO" "${HELLO#sha256:}" 5891b5b522d5; do
		expect 0 kistore artifact get "$ref"
		cmp hello.txt "$OUT"
		silent_err
	done
	expect 0 kistore artifact get "$HELLO" -o back
	silent_out
	cmp hello.txt back
	expect 0 kistore artifact get -o - "$HELLO"
	cmp hello.txt "$OUT"
	no_rest .
}

@test "-o replaces a file whole, and writes into a pipe" {
	put_raw hello.txt
	echo before >back
	ln back other-name
	expect 0 kistore artifact get "$HELLO" -o back
	cmp hello.txt back
	[ "$(cat other-name)" = before ]
	mkfifo pipe
	cat pipe >piped &
	expect 0 kistore artifact get "$HELLO" -o pipe
	wait
	cmp hello.txt piped
	[ -p pipe ]
	refused 5 kistore artifact get "$HELLO" -o no/back
	[ -c /dev/full ] || return 0
	refused 5 kistore artifact get "$HELLO" -o /dev/full
	status=0
	kistore artifact get "$HELLO" >/dev/full 2>err || status=$?
	[ "$status" -eq 5 ]
}

@test "a terminal gets no raw bytes" {
	need_terminal
	put_raw hello.txt
	expect 2 python3 "$REPO/tests/lib/terminal.py" -- sh -c \
		"exec '$KISTORE' artifact get $HELLO >/dev/tty"
	err_has 'standard output is a terminal: name a file (-o FILE)' ||
		grep -q 'standard output is a terminal' terminal.said
}

@test "what is only described, taken down or absent is told apart, with status 3" {
	printf '{"apiVersion":"kistore/v1","kind":"Artifact","spec":{"digest":"sha256:%064d","kind":"log","mediaType":"text/plain","sizeBytes":7,"storage":"inline"}}' \
		7 >described.json
	artifact=$(kistore -q put described.json | cut -d' ' -f1)
	seven=sha256:$(printf '%064d' 7)
	for ref in "$seven" "$artifact"; do
		refused 3 kistore artifact get "$ref" -o back
		err_is "kistore: $seven is described by $artifact, but its bytes are not archived"
	done
	eight=sha256:$(printf '%064d' 8)
	refused 3 kistore artifact get "$eight" -o back
	err_is "kistore: $eight is not in this store, and nothing here describes it"
	refused 3 kistore artifact get no-such-name -o back
	refused 3 kistore artifact get "$RUN" -o back
	err_is "kistore: $RUN is a record and no artifact (kistore get prints it)"
	put_raw hello.txt --describe
	kistore -q takedown "$HELLO" --reason law
	refused 3 kistore artifact get "$HELLO" -o back
	err_is "kistore: $HELLO was taken down"
	[ ! -e back ]
	no_rest .
}

@test "damaged bytes are not written, not even half" {
	big 1000000 >large
	put_raw large
	digest=$(digest_of large)
	echo before >back
	for at in 3 500000 999990; do
		stored "$digest" | flip "$at" >frame
		cp -a demo.git damaged.git
		(
			export KISTORE_DIR=damaged.git
			replace "$(object_path "$digest")" frame
		)
		refused 1 kistore -C damaged.git artifact get "$digest"
		err_has "$(object_path "$digest")"
		refused 1 kistore -C damaged.git artifact get "$digest" -o back
		[ "$(cat back)" = before ]
		rm -rf damaged.git
	done
	no_rest .
	# Another sound frame is damage as well.
	zstd -q hello.txt -o frame -f
	replace "$(object_path "$digest")" frame
	refused 1 kistore artifact get "$digest"
	err_has 'have another sha256 than its address'
	remove "$(object_path "$digest")"
	refused 1 kistore artifact get "$digest"
	err_is "kistore: $digest was published but its object is absent"
}

@test "frames of others are read, in one segment or with a dictionary" {
	big 300000 >large
	digest=$(digest_of large)
	put_raw large
	zstd -q -19 --ultra --long=27 large -o frame -f
	replace "$(object_path "$digest")" frame
	kistore artifact get "$digest" | cmp - large
	for i in $(seq 200); do
		manifest "project-$i-$RANDOM" >"p$i.json"
	done
	kistore -q put p*.json >/dev/null
	kistore -q dictionary train >/dev/null
	path=$(git -C demo.git ls-tree --name-only HEAD dictionaries/)
	git -C demo.git show "HEAD:$path" >dictionary
	zstd -q -D dictionary large -o frame -f
	replace "$(object_path "$digest")" frame
	kistore artifact get "$digest" | cmp - large
	expect 0 kistore verify
	# Records are read after it as before.
	kistore get "$RUN" | sha256sum | grep -q "^${RUN#sha256:}"
}

@test "--at shows an earlier state" {
	put_raw hello.txt
	refused 3 kistore artifact get --at 8 "$HELLO"
	expect 0 kistore artifact get --at 9 "$HELLO"
	cmp hello.txt "$OUT"
}

# ---- Links -----------------------------------------------------------------

@test "what a run links to is archived, described or absent" {
	jq -c --arg digest "$HELLO" '.metadata.name = "logged" |
		.spec.evidence.logs = {$digest, uri: "kernelindex:artifact/x"}' \
		"$SEEDS/run.json" >run.json
	kistore -q put run.json >/dev/null
	link() {
		kistore resolve --tree --json logged | jq -r '.. | objects |
			select(.path? == "spec.evidence.logs.digest").state'
	}
	[ "$(link)" = absent ]
	printf '{"apiVersion":"kistore/v1","kind":"Artifact","spec":{"digest":"%s","kind":"log","mediaType":"text/plain","sizeBytes":6,"storage":"inline"}}' \
		"$HELLO" >described.json
	kistore -q put described.json >/dev/null
	[ "$(link)" = described ]
	put_raw hello.txt
	[ "$(link)" = archived ]
	kistore -q takedown "$HELLO" --reason law
	[ "$(link)" = 'taken down' ]
}
