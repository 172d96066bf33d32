#!/usr/bin/env bats
# What does not belong into the tree, and lines of the log dropped, doubled,
# reordered or edited: each committed with stock git, and named by verify.

load ../lib/common
load ../lib/damage

prepare() {
	need_command git zstd
	make_store
}

# ---- The tree ---------------------------------------------------------------

@test "an unlisted file is named wherever it lies" {
	echo stray >stray
	hex=$(sha256sum stray | cut -c1-64)
	zstd -q stray
	own=${RUN#sha256:c32}
	# Where it lies, and what is named.
	while read -r path named; do
		place "$path" <stray.zst
		expect 1 in_store verify
		named damage "$named" -
		found 1 0
		undo
	done <<-END
	objects/stray objects/stray
	objects/c/stray objects/c/stray
	objects/c/32/stray objects/c/32/stray
	objects/c/32/52a98.zst objects/c/32/52a98.zst
	objects/g/00/00.zst objects/g
	objects/C/32/$own.zst objects/C
	objects/c/3G/$own.zst objects/c/3G
	objects/c/32/$own objects/c/32/$own
	objects/c/32/$own.zst~ objects/c/32/$own.zst~
	objects/c/32/$own.zst.zst objects/c/32/$own.zst.zst
	log/stray log/stray
	log/000/stray log/000/stray
	log/000/000.jsonl~ log/000/000.jsonl~
	log/000/001 log/000/001
	dictionaries/stray dictionaries/stray
	dictionaries/README.md dictionaries/README.md
	END
	# Well made, well placed, and not published.
	place "$(path_of "sha256:$hex")" <stray.zst
	expect 1 in_store verify
	named damage "$(path_of "sha256:$hex")" "sha256:$hex" "(T12)"
	found 1 0
}

@test "a name with blanks and control characters is named in one safe line" {
	echo stray | place $'objects/c/32/a b\tc\033[31m'
	expect 1 in_store verify
	named damage 'objects/c/32/a\x20b\x09c\x1b[31m' -
	found 1 0
}

@test "other names at the top are allowed, and said to be not covered" {
	echo licence | place LICENSE
	echo 'int main;' | place src/main.c
	expect 0 in_store verify
	grep -qx 'found nothing wrong' "$OUT"
	grep -q 'LICENSE is not covered' "$OUT"
	grep -q 'src is not covered' "$OUT"
}

@test "a wrong mode of an object is named, and what it names is not read" {
	path=$(path_of "$RUN")
	id=$(store_git rev-parse "HEAD:$path")
	head=$(store_git rev-parse HEAD)
	for entry in "graft 100755 $id" "graft_any 100664 $id" \
		"graft 120000 $id" "graft 160000 $head"; do
		# shellcheck disable=SC2086 # words
		$entry "$path"
		expect 1 in_store verify
		named damage "$path" - "(T3)"
		found 1 0
		get_refuses "$RUN"
		expect 1 in_store verify "$RUN"
		named damage "$path" "$RUN" "(T3)"
		undo
	done
	graft 040000 "$(store_git rev-parse HEAD:log)" "$path"
	expect 1 in_store verify
	get_refuses "$RUN"
}

@test "a wrong mode of any other name is named" {
	tree=$(store_git rev-parse HEAD:log)
	head=$(store_git rev-parse HEAD)
	for path in store.json .gitattributes "$SEGMENT"; do
		id=$(store_git rev-parse "HEAD:$path")
		for how in "graft 100755" "graft_any 100664"; do
			# shellcheck disable=SC2086 # words
			$how "$id" "$path"
			expect 1 in_store verify
			named damage "$path" -
			undo
		done
		graft 120000 "$(printf /etc/passwd | blob)" "$path"
		try in_store verify
		[ "$status" -eq 1 ]
		undo
	done
	for path in objects log dictionaries objects/c objects/c/32 log/000; do
		graft 160000 "$head" "$path"
		expect 1 in_store verify
		named damage "$path" -
		undo
		echo file | place "$path"
		expect 1 in_store verify
		named damage "$path" -
		undo
		graft 120000 "$(printf /etc | blob)" "$path"
		expect 1 in_store verify
		named damage "$path" -
		undo
	done
	for path in README.md checkpoint; do
		graft 040000 "$tree" "$path"
		expect 1 in_store verify
		named damage "$path" - "(T3)"
		undo
	done
	expect_clean
}

@test "store.json in another form is damage, of another format is unsupported" {
	for text in '' '{' '{}' '[]' '{"format": "kistore/1"}' \
		'{"format":1}' '{"format":"kistore/1"}
' '{"format":"kistore/1","format":"kistore/1"}' \
		'{"format":"kistore/1","origin":1}' \
		'{"format":"kistore/1","origin":"a b"}' \
		'{"format":"kistore/1","origin":""}' \
		'{"format":"kistore/1","origin":"cosignature/v1"}'; do
		printf %s "$text" | place store.json
		expect 1 in_store verify
		grep -q store.json "$OUT" "$ERR"
		expect 1 in_store put "$SEEDS"/003/*.json
		silent_out
		undo
	done
	for text in '{"format":"kistore/2"}' \
		'{"format":"kistore/1","hash":"sha512"}' \
		'{"epoch":1,"format":"kistore/2"}'; do
		printf %s "$text" | place store.json
		for command in verify status "get $RUN" "resolve $RUN" \
			"put $SEEDS/003/run.json"; do
			# shellcheck disable=SC2086 # words
			expect 8 in_store $command
			silent_out
		done
		undo
	done
	remove store.json
	expect 3 in_store verify
	err_has "not a kistore store"
}

@test ".gitattributes in another form is a warning" {
	edit .gitattributes sed 's/-text/text/'
	expect 0 in_store verify
	named warning .gitattributes - "(T7)"
	grep -qx 'found nothing wrong' "$OUT"
	undo
	remove .gitattributes
	expect 0 in_store verify
	named warning .gitattributes - "(T7)"
}

# ---- The log ----------------------------------------------------------------

# lines N…: these lines of standard input, in this order.
lines() {
	awk -v order="$*" '{ text[NR] = $0 } END {
		count = split(order, number, " ")
		for (i = 1; i <= count; i++)
			print text[number[i]]
	}'
}

# log_damaged PATH WORDS: verify names PATH, and nothing can be put.
log_damaged() {
	expect 1 in_store verify
	named damage "$1" - "$2"
	before=$(store_git rev-parse HEAD)
	expect 1 in_store put "$SEEDS"/003/*.json
	silent_out
	[ "$(store_git rev-parse HEAD)" = "$before" ]
}

@test "a dropped line is named" {
	edit "$SEGMENT" sed 3d
	expect 1 in_store verify
	named damage "$(path_of "$OPERATION")" "$OPERATION" "(T12)"
	grep -q '^damage objects/.* refers to '"$OPERATION"'.* (R21)$' "$OUT"
	undo
	edit "$SEGMENT" sed 1d
	expect 1 in_store verify
	named damage "$SEGMENT:1" - "entry 0 must be init"
	undo
	# A last line cannot be missed by looking at the log alone.
	edit "$SEGMENT" head -n -1
	expect 1 in_store verify
	named damage "$(path_of "$RUN")" "$RUN" "(T12)"
	found 1 0
}

@test "a doubled line is named" {
	for n in 1 2 8; do
		edit "$SEGMENT" sed "${n}p"
		expect 1 in_store verify
		named damage "$SEGMENT:$((n + 1))" -
		found 1 0
		undo
	done
}

@test "a reordered line is named, or changes the root" {
	before=$(in_store log --root)
	# Before what it refers to.
	edit "$SEGMENT" lines 1 8 2 3 4 5 6 7
	expect 1 in_store verify
	named damage "$(path_of "$RUN")" "$RUN" "(R21)"
	undo
	edit "$SEGMENT" lines 2 1 3 4 5 6 7 8
	expect 1 in_store verify
	named damage "$SEGMENT:1" -
	named damage "$SEGMENT:2" -
	undo
	# Two that have nothing to do with each other: only a root tells.
	edit "$SEGMENT" lines 1 3 2 4 5 6 7 8
	expect 0 in_store verify
	[ "$(in_store log --root)" != "$before" ]
}

@test "an edited line is named, or changes the root" {
	before=$(in_store log --root)
	hex=${OPERATION#sha256:}
	zero=$(printf '%064d' 0)
	edit "$SEGMENT" sed "3s/$hex/$zero/"
	expect 1 in_store verify
	named absent "$(path_of "sha256:$zero")" "sha256:$zero"
	named damage "$(path_of "$OPERATION")" "$OPERATION" "(T12)"
	undo
	edit "$SEGMENT" sed '3s/OperationSpec/WorkloadSuite/'
	expect 1 in_store verify
	named damage "$(path_of "$OPERATION")" "$OPERATION" "(O8)"
	undo
	edit "$SEGMENT" sed '3s/"op":"publish"/"op": "publish"/'
	expect 1 in_store verify
	named damage "$SEGMENT:3" -
	undo
	edit "$SEGMENT" sed '3s/"at":"2/"at":"1/'
	expect 1 in_store verify
	named damage "$SEGMENT:3" - "earlier"
	undo
	edit "$SEGMENT" sed '3s/"title":"[^"]*"/"title":"another"/'
	expect 0 in_store verify
	[ "$(in_store log --root)" != "$before" ]
}

@test "every byte of a line that is changed is found, or changes the root" {
	# Bit 0 of each byte of the third line, some in one commit each.
	bytes_of "$SEGMENT" | sed -n 3p >line
	size=$(($(stat -c %s line) - 1))
	root=$(in_store log --root)
	for ((n = 0; n < size; n += 29)); do
		cp line changed
		flip changed "$n"
		bytes_of "$SEGMENT" | sed -e '3r changed' -e 3d >segment
		place "$SEGMENT" <segment
		try in_store verify
		if [ "$status" -ne 1 ]; then
			[ "$status" -eq 0 ] || [ "$status" -eq 8 ]
			! grep -qF "${root#* }" "$OUT"
		fi
		undo
	done
}

# A log of 8 and 300 entries, in two segments: first and second.
make_long_log() {
	bytes_of "$SEGMENT" >first
	at=$(head -n 1 first | cut -c8-27)
	for ((n = 0; n < 300; n++)); do
		printf '{"at":"%s","op":"x-note","x-number":%d}\n' "$at" "$n"
	done >notes
	head -n 248 notes >>first
	tail -n 52 notes >second
	place "$SEGMENT" <first
	place log/000/001.jsonl <second
}

@test "a segment of 255 or 257 lines is named" {
	make_long_log
	expect_clean
	grep -q '^log of 308 entries' "$OUT"
	head -n 255 first | place "$SEGMENT"
	log_damaged "$SEGMENT:255" "255 lines"
	undo
	{ cat first; head -n 1 second; } | place "$SEGMENT"
	log_damaged "$SEGMENT:257" "257 lines"
	undo
	{ cat first; head -n 1 second; } | place "$SEGMENT"
	sed 1d second | place log/000/001.jsonl
	log_damaged "$SEGMENT:257" "257 lines"
	undo
	undo
	# The last may be full, but not more.
	remove log/000/001.jsonl
	expect_clean
	{ cat first; head -n 1 second; } | place "$SEGMENT"
	log_damaged "$SEGMENT:257" "257 lines"
}

@test "a segment that does not end in LF, or has CR LF, is named" {
	make_long_log
	head -c -1 first | place "$SEGMENT"
	log_damaged "$SEGMENT:256" "LF"
	undo
	head -c -1 second | place log/000/001.jsonl
	log_damaged log/000/001.jsonl:52 "LF"
	undo
	sed 's/$/\r/' first | place "$SEGMENT"
	log_damaged "$SEGMENT:1" ''
	undo
	{ cat first; echo; } | place "$SEGMENT"
	log_damaged "$SEGMENT:257" ''
	undo
	{ echo; cat second; } | place log/000/001.jsonl
	log_damaged log/000/001.jsonl:1 ''
	undo
	{ printf '\xef\xbb\xbf'; cat first; } | place "$SEGMENT"
	log_damaged "$SEGMENT:1" ''
}

@test "an empty, missing or wrongly named segment is named" {
	make_long_log
	: | place "$SEGMENT"
	log_damaged "$SEGMENT:0" "0 lines"
	undo
	: | place log/000/001.jsonl
	log_damaged log/000/001.jsonl:0 "0 lines"
	undo
	remove "$SEGMENT"
	log_damaged "$SEGMENT" "absent"
	undo
	remove log/000/001.jsonl
	place log/000/002.jsonl <second
	expect 1 in_store verify
	named damage log/000/001.jsonl - "absent"
	undo
	undo
	for path in log/000/1.jsonl log/000/0001.jsonl log/000/01.jsonl \
		log/000/256.jsonl log/000/002.json log/000/00a.jsonl \
		log/000/002.jsonl.zst; do
		place "$path" <second
		expect 1 in_store verify
		named damage "$path" - "(T9)"
		found 1 0
		undo
	done
	for path in log/0000 log/00 log/01 log/0a0 log/0001; do
		place "$path/000.jsonl" <second
		expect 1 in_store verify
		named damage "$path" - "(T9)"
		found 1 0
		undo
	done
	expect_clean
}

@test "a log that is gone is a fault" {
	remove log
	expect 1 in_store verify
	named damage "$SEGMENT:1" - "empty"
	expect 1 in_store put "$SEEDS"/003/*.json
	silent_out
}

@test "a segment over the limit is not read" {
	head -c 16777217 /dev/zero | tr '\0' ' ' | place "$SEGMENT"
	expect 1 in_store verify
	named damage "$SEGMENT" - 16777216
	expect 1 in_store status
	silent_out
}
