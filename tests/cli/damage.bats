#!/usr/bin/env bats
# Damage to objects, frames and dictionaries, made with stock git or below it:
# each named by verify. (That to the tree and the log is in tamper.bats.)

# shellcheck disable=SC2030,SC2031 # each test has a STORE of its own

load ../lib/common
load ../lib/damage

prepare() {
	need_command git zstd python3
	make_store
}

# ---- Objects ----------------------------------------------------------------

@test "an object that decodes to other bytes is named, and get prints nothing" {
	body_of "$RUN" >body
	sed 's/"passed"/"passes"/' body >other
	[ "$(stat -c %s body)" = "$(stat -c %s other)" ]
	zstd -q other
	place "$(path_of "$RUN")" <other.zst
	expect 1 in_store verify
	named damage "$(path_of "$RUN")" "$RUN" "another sha256"
	found 1 0
	for form in '' --manifest --bundle --page; do
		# shellcheck disable=SC2086 # no form is no argument
		expect 1 in_store get $form "$RUN"
		silent_out
		err_has "$(path_of "$RUN")"
	done
	expect 1 in_store verify "$RUN"
	named damage "$(path_of "$RUN")" "$RUN"
	expect 0 in_store verify "$OPERATION"
}

@test "an object at the address of another is named at both" {
	graft 100644 "$(store_git rev-parse "HEAD:$(path_of "$RUN")")" \
		"$(path_of "$PROJECT")"
	expect 1 in_store verify
	named damage "$(path_of "$PROJECT")" "$PROJECT" "(O9)"
	found 1 0
	get_refuses "$PROJECT"
	expect 0 in_store get "$RUN"
}

@test "a deleted object is absent, for verify and for get" {
	remove "$(path_of "$OPERATION")"
	expect 1 in_store verify
	named absent "$(path_of "$OPERATION")" "$OPERATION" "(T12)"
	found 0 1
	get_refuses "$OPERATION"
	err_has "published but its object is absent"
	# What refers to it is named when that is asked for.
	expect 1 in_store verify "$RUN"
	named absent "$(path_of "$OPERATION")" "$OPERATION"
}

@test "all objects deleted are all absent" {
	remove objects
	expect 1 in_store verify
	found 0 7
}

@test "one damaged object stops neither the check of others nor their use" {
	zstd -q -c "$SEEDS/index.json" | place "$(path_of "$RUN")"
	remove "$(path_of "$OPERATION")"
	: | place "$(path_of "$PROJECT")"
	echo stray | place objects/0/00/stray
	expect 1 in_store verify
	named damage "$(path_of "$RUN")" "$RUN"
	named damage "$(path_of "$PROJECT")" "$PROJECT" "empty"
	named damage objects/0/00/stray - "(T11)"
	named absent "$(path_of "$OPERATION")" "$OPERATION"
	found 3 1
	grep -q '^checked 6 objects ' "$OUT"
	digest=sha256:$(sha256sum "$SEEDS/000/workload.jcs" | cut -c1-64)
	in_store get "$digest" | cmp - "$SEEDS/000/workload.jcs"
}

@test "the findings are the same with one thread and with many" {
	for file in run workload protocol; do
		digest=sha256:$(sha256sum "$SEEDS/000/$file.jcs" | cut -c1-64)
		echo junk | place "$(path_of "$digest")"
	done
	expect 1 in_store verify --threads 1
	cp "$OUT" one
	expect 1 in_store verify --threads 7
	cmp one "$OUT"
	found 3 0
}

@test "--json names the same and counts the same" {
	echo junk | place "$(path_of "$RUN")"
	remove "$(path_of "$OPERATION")"
	expect 1 in_store --json verify
	jq -es --arg digest "$RUN" --arg path "$(path_of "$RUN")" \
		--arg gone "$OPERATION" '
		(map(select(.schema == "kistore-finding/1")) | length) == 2 and
		any(.[]; .severity == "damage" and .digest == $digest and
			.path == $path) and
		any(.[]; .severity == "absent" and .digest == $gone) and
		(.[-1] | .schema == "kistore-verify/1" and .damaged == 1 and
			.absent == 1 and .objects == 6 and .warnings == 0)' "$OUT"
}

@test "after git revert the store is clean again" {
	git clone -q "$STORE" tree
	STORE=$PWD/tree
	zstd -q -c "$SEEDS/index.json" >"tree/$(path_of "$RUN")"
	git -C tree rm -q "$(path_of "$OPERATION")"
	sed -i '$d' "tree/$SEGMENT"
	echo stray >tree/objects/stray
	git -C tree add -A
	git -C tree commit -q -m damage
	expect 1 in_store verify
	expect 1 in_store get "$OPERATION"
	git -C tree revert --no-edit HEAD >/dev/null
	expect_clean
	in_store get "$OPERATION" | cmp - "$SEEDS/000/operation.jcs"
	expect 0 in_store put "$SEEDS"/003/*.json
	expect_clean
}

# ---- Frames -----------------------------------------------------------------

# Into frames/: files that must not stand for the body in "body", each named
# for what is wrong with it.
bad_frames() {
	mkdir frames
	python3 - body frame frames <<-'END'
	import sys
	body = open(sys.argv[1], 'rb').read()
	frame = open(sys.argv[2], 'rb').read()
	magic = b'\x28\xb5\x2f\xfd'
	size4 = len(body).to_bytes(4, 'little')
	def put(name, data):
	    open(sys.argv[3] + '/' + name, 'wb').write(data)
	def block(data):
	    return (len(data) << 3 | 1).to_bytes(3, 'little') + data
	def head(flags, rest=b''):
	    return magic + bytes([flags]) + rest
	def flagged(bits):
	    return frame[:4] + bytes([frame[4] | bits]) + frame[5:]
	skip = b'\x50\x2a\x4d\x18\x04\0\0\0abcd'
	plain = head(0xa0, size4) + block(body)
	put('empty', b'')
	put('nul-filled', bytes(len(frame)))
	put('one-byte', b'\x28')
	put('magic-only', magic)
	put('not-compressed', body)
	put('trailing-byte', frame + b'\0')
	put('trailing-newline', frame + b'\n')
	put('second-frame', frame + frame)
	put('second-frame-empty', frame + head(0x20, b'\0\1\0\0'))
	put('skippable-only', skip)
	put('skippable-before', skip + frame)
	put('skippable-after', frame + skip)
	put('reserved-bit', flagged(0x08))
	put('unused-bit', flagged(0x10))
	put('no-size', head(0x00, b'\x58') + block(body))
	put('size-too-small', head(0xa0, (len(body) - 1).to_bytes(4, 'little'))
	    + block(body))
	put('size-too-large', head(0xa0, (len(body) + 1).to_bytes(4, 'little'))
	    + block(body))
	put('window-2-gib', head(0x80, b'\xa8' + size4) + block(body))
	put('window-4-tib', head(0x80, b'\xff' + size4) + block(body))
	put('claims-1-tib', head(0xe0, b'\0\0\0\0\0\1\0\0') + b'\3\0\0\0')
	put('claims-16-eib', head(0xe0, b'\xff' * 8) + b'\3\0\0\0')
	put('claims-64-mib-1', head(0xa0, (67108865).to_bytes(4, 'little'))
	    + b'\3\0\0\0')
	put('dictionary-unknown', head(0xa3, (32768).to_bytes(4, 'little')
	    + size4) + block(body))
	put('checksum-wrong', head(0xa4, size4) + block(body) + b'\0\0\0\0')
	put('reserved-block', head(0xa0, size4) + b'\7\0\0' + body)
	put('no-last-block', head(0xa0, size4) +
	    (len(body) << 3).to_bytes(3, 'little') + body)
	put('legacy-magic', b'\x27\xb5\x2f\xfd' + frame[4:])
	put('gzip-magic', b'\x1f\x8b\x08\0' + frame[4:])
	put('other-body', head(0xa0, size4) + block(body[:-1] + b']'))
	open('plain', 'wb').write(plain)
	open('window-1-mib', 'wb').write(
	    head(0x80, b'\x50' + size4) + block(body))
	open('window-2-mib', 'wb').write(
	    head(0x80, b'\x58' + size4) + block(body))
	END
}

@test "every wrong frame is named, and get prints nothing" {
	body_of "$PROJECT" >body
	bytes_of "$(path_of "$PROJECT")" >frame
	bad_frames
	# The bomb: 131 kB that decode to 4 GiB of valid JSON.
	python3 -c "h=b'\x28\xb5\x2f\xfd\x00\x58'
f=lambda t,n,l:(n<<3|t<<1|l).to_bytes(3,'little')
open('frames/bomb','wb').write(h+f(0,6,0)+b'{\"a\":\"'+
	(f(1,131072,0)+b'a')*32768+f(0,2,1)+b'\"}')"
	branches "$(path_of "$PROJECT")" frames
	for frame in frames/*; do
		expect 1 in_store verify --at "${frame#frames/}"
		named damage "$(path_of "$PROJECT")" "$PROJECT"
		found 1 0
		[ "$(tail -n 1 "$ERR")" = "" ]
		expect 1 in_store get --at "${frame#frames/}" "$PROJECT"
		silent_out
		err_has "$(path_of "$PROJECT"): "
	done
}

@test "any frame of the right bytes is right" {
	body_of "$PROJECT" >body
	bytes_of "$(path_of "$PROJECT")" >frame
	bad_frames
	mkdir good
	mv plain window-1-mib good
	zstd -q -19 --ultra -c body >good/level-19
	zstd -q --fast=5 -c --no-check body >good/fast
	branches "$(path_of "$PROJECT")" good
	for frame in good/*; do
		expect 0 in_store verify --at "${frame#good/}"
		grep -qx 'found nothing wrong' "$OUT"
		in_store get --at "${frame#good/}" "$PROJECT" | cmp - body
	done
}

@test "the window of a record's frame is at most 1 MiB" {
	body_of "$PROJECT" >body
	bytes_of "$(path_of "$PROJECT")" >frame
	bad_frames
	place "$(path_of "$PROJECT")" <window-2-mib
	expect 1 in_store verify
	named damage "$(path_of "$PROJECT")" "$PROJECT" "1048576"
	found 1 0
	# The bytes are right and cost no more, so get may print them.
	in_store get "$PROJECT" | cmp - body
}

@test "no proper beginning of a frame passes, and none of it is printed" {
	printf '{"apiVersion":"a/v1","kind":"K","spec":{"text":"%s"}}' \
		"some words, some words, some words, and some words more" >body
	expect 0 in_store put --allow-unknown-kind body
	digest=$(first_digest)
	bytes_of "$(path_of "$digest")" >frame
	size=$(stat -c %s frame)
	[ "$size" -lt "$(stat -c %s body)" ]
	mkdir cuts
	for ((n = 0; n < size; n++)); do
		head -c "$n" frame >"cuts/cut-$n"
	done
	branches "$(path_of "$digest")" cuts
	for ((n = 0; n < size; n++)); do
		expect 1 in_store get --at "cut-$n" "$digest"
		silent_out
		[ "$n" -eq 0 ] || err_has truncated
	done
	for n in 0 1 5 9 $((size / 2)) $((size - 1)); do
		expect 1 in_store verify --at "cut-$n"
		named damage "$(path_of "$digest")" "$digest"
		found 1 0
	done
}

@test "a bomb costs neither memory nor time" {
	skip_under_sanitizer "address space is limited"
	python3 -c "h=b'\x28\xb5\x2f\xfd\x00\x58'
f=lambda t,n,l:(n<<3|t<<1|l).to_bytes(3,'little')
open('bomb','wb').write(h+f(0,6,0)+b'{\"a\":\"'+
	(f(1,131072,0)+b'a')*32768+f(0,2,1)+b'\"}')"
	place "$(path_of "$RUN")" <bomb
	printf '\x28\xb5\x2f\xfd\xe0\0\0\0\0\0\1\0\0\3\0\0\0' |
		place "$(path_of "$PROJECT")"
	# The bomb with a size in its header that is within the limit.
	python3 -c "d=open('bomb','rb').read()
open('lying','wb').write(d[:4]+b'\x80\x58\0\0\0\4'+d[6:])"
	place "$(path_of "$OPERATION")" <lying
	bounded='ulimit -v 600000; exec timeout -k 1 5 "$@"'
	expect 1 bash -c "$bounded" - "$KISTORE" -C "$STORE" verify
	named damage "$(path_of "$RUN")" "$RUN" "content size"
	named damage "$(path_of "$PROJECT")" "$PROJECT" 67108864
	named damage "$(path_of "$OPERATION")" "$OPERATION" "damaged zstd frame"
	found 3 0
	for digest in "$RUN" "$PROJECT" "$OPERATION"; do
		expect 1 bash -c "$bounded" - "$KISTORE" -C "$STORE" \
			get "$digest"
		silent_out
		err_has "$(path_of "$digest"): "
	done
}

@test "a file longer than any frame may be is not read" {
	head -c 67634177 /dev/zero | place "$(path_of "$RUN")"
	expect 1 in_store verify
	named damage "$(path_of "$RUN")" "$RUN" 67634176
	found 1 0
	get_refuses "$RUN"
}

# ---- Dictionaries -----------------------------------------------------------

# A store with a dictionary, after which some objects came that need it: their
# digests are in the file "needy".
make_dictionary_store() {
	local made=$BATS_FILE_TMPDIR/dictionary.git

	if [ ! -d "$made" ]; then
		kistore -q init "$made"
		kistore -q -C "$made" put "$REPO/fixtures/liger-runs.jsonl" \
			>/dev/null
		kistore -q -C "$made" dictionary train >/dev/null
		kistore -q -C "$made" put "$SEEDS"/000/*.json \
			"$SEEDS"/003/*.json >"$made.put"
	fi
	STORE=$PWD/dictionary.git
	cp -R "$made" "$STORE"
	sed -n 's/ .* new$//p' "$made.put" >needy
	[ -s needy ]
	NEEDY=$(head -n 1 needy)
	DICTIONARY=$(store_git ls-tree -r --name-only HEAD dictionaries/)
}

@test "a swapped byte of a dictionary is named, with how many need it" {
	make_dictionary_store
	bytes_of "$DICTIONARY" >dictionary
	flip dictionary 5000
	place "$DICTIONARY" <dictionary
	expect 1 in_store verify
	named damage "$DICTIONARY" - sha256
	named damage "$DICTIONARY" - "$(wc -l <needy) object"
	found 2 0
	get_refuses "$NEEDY"
	err_has "$DICTIONARY"
	# Objects that do without it are read and checked all the same.
	expect 0 in_store get "$RUN"
}

@test "a dictionary that is gone is named at every object that needs it" {
	make_dictionary_store
	remove "$DICTIONARY"
	expect 1 in_store verify
	while read -r digest; do
		named damage "$(path_of "$digest")" "$digest" \
			"needs dictionary 32768"
	done <needy
	found "$(wc -l <needy)" 0
	get_refuses "$NEEDY"
	err_has "dictionary 32768"
}

@test "a dictionary under a wrong name is named" {
	make_dictionary_store
	bytes_of "$DICTIONARY" >dictionary
	hex=$(sha256sum dictionary | cut -c1-64)
	for name in "32769-$hex" "032768-$hex" "32768-${hex^^}" "0-$hex" \
		"4294967296-$hex" "32768-${hex%?}" "32768-$hex.zdict"; do
		place "dictionaries/$name.zdict" <dictionary
		expect 1 in_store verify
		named damage "dictionaries/$name.zdict" - ''
		found 1 0
		undo
	done
	expect 0 in_store verify
}

@test "two dictionaries of one id are named" {
	make_dictionary_store
	bytes_of "$DICTIONARY" >dictionary
	flip dictionary 5000
	hex=$(sha256sum dictionary | cut -c1-64)
	place "dictionaries/32768-$hex.zdict" <dictionary
	expect 1 in_store verify
	grep -q '^damage dictionaries/32768-.* (T14)$' "$OUT"
}

@test "a raw-content dictionary is named" {
	head -c 4096 "$SEEDS/index.json" >raw
	hex=$(sha256sum raw | cut -c1-64)
	place "dictionaries/32768-$hex.zdict" <raw
	expect 1 in_store verify
	named damage "dictionaries/32768-$hex.zdict" - "not a zstd dictionary"
	found 1 0
}

@test "a dictionary over the limit is not read" {
	head -c 1048577 /dev/zero >big
	hex=$(sha256sum big | cut -c1-64)
	place "dictionaries/32768-$hex.zdict" <big
	expect 1 in_store verify
	named damage "dictionaries/32768-$hex.zdict" - 1048576
	found 1 0
}

# ---- Below git --------------------------------------------------------------

@test "a loose object that is damaged on disk is named" {
	make_loose
	expect_clean
	file=$(loose "HEAD:$(path_of "$RUN")")
	cp "$file" kept
	size=$(stat -c %s kept)
	for how in flip cut empty nul junk; do
		rm -f "$file"
		cp kept "$file"
		chmod u+w "$file"
		case $how in
		flip) flip "$file" $((size - 20)) ;;
		cut) head -c $((size / 2)) kept >"$file" ;;
		empty) : >"$file" ;;
		nul) head -c "$size" /dev/zero >"$file" ;;
		junk) echo junk >"$file" ;;
		esac
		expect 1 in_store verify
		named damage "$(path_of "$RUN")" "$RUN"
		found 1 0
		get_refuses "$RUN"
	done
	rm -f "$file"
	cp kept "$file"
	expect_clean
}

@test "a loose object that holds another one is named" {
	make_loose
	file=$(loose "HEAD:$(path_of "$RUN")")
	other=$(loose "HEAD:$(path_of "$PROJECT")")
	rm -f "$file"
	cp "$other" "$file"
	expect 1 in_store verify
	named damage "$(path_of "$RUN")" "$RUN"
	found 1 0
	get_refuses "$RUN"
}

@test "a symbolic link in place of a loose object is never taken for it" {
	make_loose
	file=$(loose "HEAD:$(path_of "$RUN")")
	for target in "$(loose "HEAD:$(path_of "$PROJECT")")" /etc/passwd \
		/dev/zero /nonexistent; do
		ln -sf "$target" "$file"
		try timeout 20 "$KISTORE" -C "$STORE" verify
		[ "$status" -eq 1 ]
		named damage "$(path_of "$RUN")" "$RUN"
		found 1 0
		expect 1 timeout 20 "$KISTORE" -C "$STORE" get "$RUN"
		silent_out
	done
}

@test "a FIFO or a directory in place of a loose object is not waited for" {
	make_loose
	file=$(loose "HEAD:$(path_of "$RUN")")
	for how in mkfifo mkdir; do
		rm -f "$file"
		"$how" "$file"
		expect 1 timeout 20 "$KISTORE" -C "$STORE" verify
		named damage "$(path_of "$RUN")" "$RUN"
		found 1 0
		expect 1 timeout 20 "$KISTORE" -C "$STORE" get "$RUN"
		silent_out
	done
}

@test "damaged loose trees, segments and commits hang nobody" {
	make_loose
	for rev in HEAD 'HEAD^{tree}' "HEAD:$SEGMENT" HEAD:objects/c; do
		file=$(loose "$rev")
		cp "$file" kept
		chmod u+w "$file"
		head -c $(($(stat -c %s kept) / 2)) kept >"$file"
		for command in verify status "resolve $RUN" \
			"put $SEEDS/003/operation.json" "log --root"; do
			# shellcheck disable=SC2086 # words
			try timeout -k 1 20 "$KISTORE" -C "$STORE" $command
			[ "$status" -lt 9 ]
		done
		expect 1 timeout -k 1 20 "$KISTORE" -C "$STORE" verify
		cp kept "$file"
	done
	expect_clean
}

@test "a missing blob is named, a missing tree with its path" {
	make_loose
	file=$(loose "HEAD:$(path_of "$RUN")")
	mv "$file" kept
	expect 1 in_store verify
	named damage "$(path_of "$RUN")" "$RUN"
	found 1 0
	get_refuses "$RUN"
	mv kept "$file"
	for path in objects/c/32 objects/c; do
		file=$(loose "HEAD:$path")
		mv "$file" kept
		expect 1 in_store verify
		named damage "$path" -
		grep -q '^checked [1-6] objects' "$OUT"
		get_refuses "$RUN"
		expect 0 in_store get "$PROJECT"
		mv kept "$file"
	done
	for path in objects log log/000 "$SEGMENT"; do
		file=$(loose "HEAD:$path")
		mv "$file" kept
		expect 1 in_store verify
		named damage "$path" -
		mv kept "$file"
	done
	for rev in HEAD 'HEAD^{tree}' HEAD:store.json; do
		file=$(loose "$rev")
		mv "$file" kept
		try in_store verify
		[ "$status" -eq 1 ]
		[ -s "$ERR" ]
		silent_out
		mv kept "$file"
	done
	expect_clean
}

@test "a missing dictionary, or its directory, does not stop the check" {
	make_dictionary_store
	make_loose
	echo junk | place "$(path_of "$PROJECT")"
	for path in "$DICTIONARY" dictionaries; do
		file=$(loose "HEAD:$path")
		mv "$file" kept
		expect 1 in_store verify
		named damage "$path" -
		named damage "$(path_of "$PROJECT")" "$PROJECT"
		grep -q '^checked ' "$OUT"
		mv kept "$file"
	done
}

@test "a byte of a pack that is changed is named" {
	store_git repack -adq
	pack=$(echo "$STORE"/objects/pack/*.pack)
	id=$(store_git rev-parse "HEAD:$(path_of "$RUN")")
	# Type, size, packed size, offset.
	read -r _ _ _ packed offset <<<"$(store_git verify-pack -v \
		"${pack%.pack}.idx" | grep "^$id")"
	cp "$pack" kept
	for at in $((offset + packed / 2)) $((offset + packed - 1)) "$offset"; do
		chmod u+w "$pack"
		cp kept "$pack"
		flip "$pack" "$at"
		expect 1 in_store verify
		named damage "$(path_of "$RUN")" "$RUN"
		found 1 0
		get_refuses "$RUN"
		expect 0 in_store get "$PROJECT"
	done
}

@test "a pack that is cut short, or gone, is damage and no crash" {
	store_git repack -adq
	pack=$(echo "$STORE"/objects/pack/*.pack)
	cp "$pack" kept
	chmod u+w "$pack"
	for n in 0 11 12 100; do
		head -c "$n" kept >"$pack"
		try in_store verify
		[ "$status" -eq 1 ]
	done
	rm "$pack"
	try in_store verify
	[ "$status" -eq 1 ]
}

@test "an index that is damaged is built anew" {
	expect 0 in_store resolve c3252a98
	cp "$OUT" answer
	file=$STORE/kistore-index.sqlite
	for how in junk empty cut flip; do
		rm -f "$file"-*
		case $how in
		junk) echo junk >"$file" ;;
		empty) : >"$file" ;;
		cut) in_store -q status >/dev/null
			head -c 5000 "$file" >short
			rm -f "$file"-*; cp short "$file" ;;
		flip) in_store -q status >/dev/null; rm -f "$file"-*
			flip "$file" 4096 ;;
		esac
		expect 0 in_store resolve c3252a98
		cmp answer "$OUT"
		expect 0 in_store verify
	done
}

# ---- The work tree ----------------------------------------------------------

@test "a FIFO, a device or a link in the work tree hangs and misleads nobody" {
	git clone -q "$STORE" tree
	STORE=$PWD/tree
	path=tree/$(path_of "$RUN")
	rm "$path" tree/store.json "tree/$SEGMENT" tree/.gitattributes
	mkfifo "$path" tree/store.json tree/.gitattributes
	ln -s /dev/zero "tree/$SEGMENT"
	for command in verify status "get $RUN" "resolve --tree $RUN"; do
		# shellcheck disable=SC2086 # words
		expect 0 timeout 20 "$KISTORE" -C tree $command
	done
	# A writer sees that they are not as committed.
	expect 5 timeout 20 "$KISTORE" -C tree put "$SEEDS"/003/*.json
	silent_out
	[ -p "$path" ]
}

@test "files of the work tree that differ do not matter to readers" {
	git clone -q "$STORE" tree
	STORE=$PWD/tree
	echo junk >"tree/$(path_of "$RUN")"
	rm "tree/$(path_of "$PROJECT")"
	echo junk >>"tree/$SEGMENT"
	expect_clean
	in_store get "$RUN" | cmp - "$SEEDS/000/run.jcs"
}
