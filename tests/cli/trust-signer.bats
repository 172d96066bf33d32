#!/usr/bin/env bats
# What a signer refuses to sign, tags, and cosignatures (store-layout.md N11 to
# N15, S1 to S7).

load ../lib/common
load ../lib/store
load ../lib/sign
load ../lib/hostile

prepare() {
	signed_store
}

# ---- The signer -------------------------------------------------------------

@test "a signer without memory does not sign a store that was rewritten" {
	fork_log log.key
	rm -rf signer
	mkdir signer
	not_signed 6 log.key
	err_has 'there is no memory of what'
	not_signed 6 log.key --first
	err_has 'the store has a note of this key, of size 10: it does not sign for the first time (S7)'
}

@test "--first is refused by any note with a line of the key" {
	make_key next "$ORIGIN"
	stored_note >note
	add_line note signature_line next.key
	publish_note note
	not_signed 6 next.key --first
	err_has 'the store has a note of this key, of size 9'
}

@test "--resume of a newer note on an older log is refused: exit 1" {
	next_snapshot
	stored_note >ten
	git -C demo.git update-ref HEAD HEAD~2
	git -C demo.git tag -d snapshot/10 >/dev/null
	rm -rf signer
	mkdir signer
	not_signed 1 log.key --resume ten
	err_has 'the log is shorter than the 10 entries of the note to resume from: not signed, for that would be a rollback (S7)'
}

@test "--resume of a note that the log does not extend is refused: exit 1" {
	next_snapshot
	stored_note >ten
	git -C demo.git update-ref HEAD HEAD~2
	git -C demo.git tag -d snapshot/10 >/dev/null
	kistore -q retract "$RUN" --reason other >/dev/null
	rm -rf signer
	mkdir signer
	not_signed 1 log.key --resume ten
	err_has 'the first 10 entries of the log are others than in the note to resume from: not signed, for that would be a fork (S7)'
}

@test "--resume of what another key signed, or nobody, is refused" {
	rm -rf signer
	mkdir signer
	hand_note thief.key >thiefs
	not_signed 6 log.key --resume thiefs
	err_has 'the note to resume from'
	stored_note | sed '2s/9/5/' >forged
	not_signed 1 log.key --resume forged
	hand_note log.key "$OTHER" >foreign
	not_signed 1 log.key --resume foreign
	err_has 'the note to resume from is of another origin (S7)'
	echo junk >junk
	not_signed 1 log.key --resume junk
	: >empty
	try as_signer kistore snapshot create --key log.key --resume empty
	[ "$status" -ne 0 ]
}

@test "with its memory a key signs no log that was rewritten: exit 1" {
	next_snapshot
	git -C demo.git update-ref HEAD HEAD~2
	git -C demo.git tag -d snapshot/10 >/dev/null
	not_signed 1 log.key
	err_has 'the log is shorter than the 10 entries of what this key signed last: not signed, for that would be a rollback (S7)'
	kistore -q retract "$RUN" --reason other >/dev/null
	not_signed 1 log.key
	err_has 'the first 10 entries of the log are others than in what this key signed last: not signed, for that would be a fork (S7)'
	# Not even the line that would announce another key is written.
	make_key next "$ORIGIN"
	not_signed 1 log.key --next next.vkey
}

@test "--resume does not make up for a memory that says otherwise" {
	stored_note >nine
	next_snapshot
	git -C demo.git update-ref HEAD HEAD~2
	git -C demo.git tag -d snapshot/10 >/dev/null
	not_signed 1 log.key --resume nine
	err_has 'what this key signed last'
}

@test "a memory that is scrambled is not taken for none" {
	memory=$(find signer -name checkpoint)
	for junk in garbage '' "$OTHER"; do
		printf '%s' "$junk" >"$memory"
		not_signed 1 log.key
		not_signed 1 log.key --first
	done
	printf '%s\n1\n%s\n' "$OTHER" "$(log_lines | log_root 1)" >"$memory"
	not_signed 1 log.key
	err_has 'of another origin (S7)'
}

@test "a log with a duplicate publish is not signed" {
	append "$(log_lines | sed -n 5p)"
	not_signed 1 log.key
	err_has 'the log has 1 fault, and is not extended'
}

@test "a store with a note that is forged, or not of the log's key, is not signed" {
	kistore -q retract "$RUN" --reason x >/dev/null
	hand_note thief.key >note
	publish_note note
	not_signed 1 log.key
	err_has 'checkpoints/10'
	hand_note log.key "$OTHER" >note
	publish_note note
	not_signed 1 log.key
}

@test "what a thief signed with his own key is told before it is signed over" {
	append "$(key_entry "$THIEF")" "$(retract_entry "$RUN" quiet)"
	sign_by_hand thief.key
	kistore -q annotate "$PROJECT" --metadata - <<<'{"name":"again"}' \
		>/dev/null
	try as_signer kistore snapshot create --key log.key
	[ "$status" -ne 0 ] || {
		out_has '"reason":"quiet"'
		out_has "$THIEF"
	}
}

@test "nor can his key line make the signer give up" {
	append "$(key_entry "$THIEF" | sed \
		"s/}$/,\"x-why\":\"$(printf 'x%.0s' {1..3000})\"}/")"
	try as_signer kistore snapshot create --key log.key
	err_lacks 'try again'
}

@test "a successor is announced by a vkey that says something" {
	: >empty
	not_signed 4 log.key --next "$(vkey_of thief.key 04)"
	not_signed 4 log.key --next "$VKEY"
	err_has 'the next key: is this key itself (N9)'
	not_signed 2 log.key --next other.vkey
	try as_signer kistore snapshot create --key log.key --next empty
	[ "$status" -ne 0 ]
}

# ---- Tags -------------------------------------------------------------------

# bad_tag NAME WORDS: verify finds it, and nothing else is wrong.
bad_tag() {
	expect 1 kistore verify
	finding damage "refs/tags/$1" "$2"
	out_has 'found 1 damaged, 0 absent, 0 unfetched, 0 unsupported'
	trusts 1
	verdict "signed by $ORIGIN"
	[ ! -e "$(state_file accepted)" ]
}

@test "git verify-tag accepts the tag, and ssh-keygen its signature" {
	echo "$ORIGIN namespaces=\"git\" $(ssh-keygen -yf log.ssh)" >allowed
	expect 0 git -C demo.git -c "gpg.ssh.allowedSignersFile=$PWD/allowed" \
		-c gpg.format=ssh verify-tag snapshot/9
	err_has "Good \"git\" signature for $ORIGIN"
	echo "$ORIGIN namespaces=\"git\" $(ssh-keygen -yf thief.ssh)" >allowed
	try git -C demo.git -c "gpg.ssh.allowedSignersFile=$PWD/allowed" \
		-c gpg.format=ssh verify-tag snapshot/9
	[ "$status" -ne 0 ]
}

@test "a tag made by hand, with git and ssh-keygen, is as good" {
	stored_note >note
	git -C demo.git tag -d snapshot/9 >/dev/null
	hand_tag log.ssh snapshot/9 note | tag_object snapshot/9
	trusts 0
	signed_by log.key 9
	git -C demo.git fsck --strict
}

@test "a tag of another snapshot under a new name is found" {
	stored_note >note
	hand_tag log.ssh snapshot/8 note | tag_object snapshot/9
	bad_tag snapshot/9 'the tag says that it is snapshot/8 (S4)'
}

@test "the tag of one snapshot as that of another is found" {
	next_snapshot
	git -C demo.git update-ref refs/tags/snapshot/9 refs/tags/snapshot/10
	bad_tag snapshot/9 'the tag says that it is snapshot/10 (S4)'
}

@test "a tag with another size in its note is found" {
	hand_note log.key "$ORIGIN" 8 >note
	hand_tag log.ssh snapshot/9 note | tag_object snapshot/9
	bad_tag snapshot/9 'its note is of size 8 (S4)'
}

@test "a tag with a note of another log is found" {
	printf '%s\n9\n%s\n' "$ORIGIN" "$(log_lines | log_root 8)" >text
	note_of text signature_line log.key >note
	hand_tag log.ssh snapshot/9 note | tag_object snapshot/9
	bad_tag snapshot/9 'its note is not of this log (S4)'
}

@test "text after the footer of the signature is found, which git passes over" {
	git -C demo.git cat-file tag snapshot/9 >whole
	{ cat whole; echo 'and what is more'; } | tag_object snapshot/9
	echo "$ORIGIN namespaces=\"git\" $(ssh-keygen -yf log.ssh)" >allowed
	git -C demo.git -c "gpg.ssh.allowedSignersFile=$PWD/allowed" \
		-c gpg.format=ssh verify-tag snapshot/9
	bad_tag snapshot/9 ''
	{ cat whole; echo; } | tag_object snapshot/9
	bad_tag snapshot/9 ''
	head -c -1 whole | tag_object snapshot/9
	bad_tag snapshot/9 ''
}

@test "a second signature in the message is found" {
	stored_note >note
	hand_tag log.ssh snapshot/9 note >tag
	{
		cat note
		sed -n '/^-----BEGIN SSH/,$p' tag
	} >twice
	hand_tag log.ssh snapshot/9 twice | tag_object snapshot/9
	bad_tag snapshot/9 ''
	for begin in '-----BEGIN PGP SIGNATURE-----' \
		'-----BEGIN PGP MESSAGE-----' '-----BEGIN SIGNED MESSAGE-----'; do
		{ cat note; printf '%s\n' "$begin" x; } >odd
		hand_tag log.ssh snapshot/9 odd | tag_object snapshot/9
		bad_tag snapshot/9 ''
	done
}

@test "a message with more than the note is found" {
	stored_note >note
	{ cat note; echo 'retracted: nothing'; } >addition
	hand_tag log.ssh snapshot/9 addition | tag_object snapshot/9
	bad_tag snapshot/9 ''
	echo hello >other
	hand_tag log.ssh snapshot/9 other | tag_object snapshot/9
	bad_tag snapshot/9 ''
}

@test "a lightweight tag, and one of something else, are found" {
	git -C demo.git update-ref refs/tags/snapshot/9 HEAD
	bad_tag snapshot/9 'is a commit, not a tag'
	git -C demo.git update-ref refs/tags/snapshot/9 "$(git -C demo.git \
		rev-parse 'HEAD^{tree}')"
	bad_tag snapshot/9 'is a tree, not a tag'
}

@test "a tag that is not signed, or that another key signed, is found" {
	stored_note >note
	hand_tag log.ssh snapshot/9 note | sed '/^-----BEGIN/,$d' |
		tag_object snapshot/9
	bad_tag snapshot/9 'it is not signed'
	hand_tag thief.ssh snapshot/9 note | tag_object snapshot/9
	bad_tag snapshot/9 ''
	ssh-keygen -q -t rsa -b 2048 -N '' -f rsa
	hand_tag rsa snapshot/9 note | tag_object snapshot/9
	bad_tag snapshot/9 ''
	hand_tag log.ssh snapshot/9 note | sed 's/^tagger T/tagger U/' |
		tag_object snapshot/9
	bad_tag snapshot/9 ''
}

@test "a tag on a commit whose log has another size is found" {
	stored_note >note
	append "$(retract_entry "$RUN")"
	hand_tag log.ssh snapshot/9 note HEAD | tag_object snapshot/9
	bad_tag snapshot/9 'the log of its commit has 10 entries (S4)'
}

@test "a tag on a commit that is not here is found" {
	git -C demo.git cat-file tag snapshot/9 |
		sed "s/^object .*/object $(printf '%040d' 1)/" |
		tag_object snapshot/9
	try kistore verify
	[ "$status" -eq 1 ]
	finding damage refs/tags/snapshot/9 'is absent'
}

@test "a tag of a size without a note is found" {
	hand_note log.key "$ORIGIN" 8 >note
	hand_tag log.ssh snapshot/8 note HEAD~2 | tag_object snapshot/8
	bad_tag snapshot/8 'there is no checkpoints/8: the store does not know this snapshot (S4)'
}

@test "a tag whose size is not in its one form is found" {
	stored_note >note
	for name in snapshot/09 snapshot/+9 snapshot/9x snapshot/latest \
		snapshot/9/9 snapshot/18446744073709551625; do
		git -C demo.git tag -d snapshot/9 >/dev/null 2>&1 || true
		hand_tag log.ssh $name note | tag_object $name
		bad_tag $name 'its name is not snapshot/SIZE (S4)'
		git -C demo.git tag -d $name >/dev/null
	done
}

@test "a symbolic reference is no tag of a snapshot" {
	git -C demo.git symbolic-ref refs/tags/snapshot/8 refs/tags/snapshot/9
	expect 1 kistore verify
	finding damage refs/tags/snapshot/8 ''
}

@test "tags of other names are nobody's business, and lost ones no fault" {
	git -C demo.git tag v1
	git -C demo.git tag snapshots
	git -C demo.git tag -d snapshot/9 >/dev/null
	trusts 0
	signed_by log.key 9
}

@test "the name of a tag is escaped" {
	name=$'snapshot/\342\200\2569'
	git -C demo.git update-ref "refs/tags/$name" HEAD
	expect 1 kistore verify
	no_escapes
	out_lacks $'\342\200\256'
}

# ---- Cosignatures -----------------------------------------------------------

@test "a line by a cosigner is taken over, and verify shows it" {
	witness
	witness=$(vkey_of witness.key 04)
	stored_note >note
	text_of note | cosignature_line witness.key 1787000001 >line
	expect 0 kistore snapshot add-cosignature --key "$witness" line
	out_is 'the note of 9 entries has 1 line more or renewed'
	cat note line | diff - <(stored_note)
	stored_note 9 | diff - \
		<(stored_note)
	trusts 0
	signed_by log.key 9
	out_lacks 'cosigned by'
	policy_file 'quorum W' >policy
	expect 0 kistore verify --policy policy
	out_has 'cosigned by 1, last at 2026-08-17T20:53:21Z'
	# The same once more changes nothing; a later one takes its place.
	before=$(commit_id)
	expect 0 kistore snapshot add-cosignature --key "$witness" line
	out_is "nothing new: the note of 9 entries has these keys' lines already"
	expect 0 kistore snapshot add-cosignature --json --key "$witness" line
	jq -e '.size == 9 and .added == 0' "$OUT"
	[ "$(commit_id)" = "$before" ]
	text_of note | cosignature_line witness.key 1787000009 >line
	expect 0 kistore snapshot add-cosignature --json --policy policy line
	jq -e '.schema == "kistore-snapshot-cosignature/1" and .size == 9 and
		.added == 1' "$OUT"
	[ "$(stored_note | wc -l)" -eq 6 ]
	expect 0 kistore verify --policy policy
	out_has 'last at 2026-08-17T20:53:29Z'
}

@test "a whole note is taken, also one of an older size" {
	witness
	witness=$(vkey_of witness.key 04)
	stored_note >nine
	next_snapshot
	stored_note >ten
	{
		cat nine
		text_of nine | cosignature_line witness.key 1787000001
	} >whole
	expect 0 kistore snapshot add-cosignature --key "$witness" whole
	out_is 'the note of 9 entries has 1 line more or renewed'
	stored_note 9 | diff - whole
	stored_note | diff - ten
	trusts 0
	signed_by log.key 10
	expect 0 kistore snapshot add-cosignature --key "$witness" - < <(
		cat ten
		text_of ten | cosignature_line witness.key 1787000001)
	out_is 'the note of 10 entries has 1 line more or renewed'
	trusts 0
}

# not_added STATUS OPTION…: nothing is taken over.
not_added() {
	local before
	before=$(commit_id)
	expect "$1" kistore snapshot add-cosignature "${@:2}"
	silent_out
	[ "$(commit_id)" = "$before" ]
}

@test "lines of unknown keys only are refused: exit 6" {
	witness
	stored_note >note
	text_of note | cosignature_line witness.key 1787000001 >line
	not_added 6 --key "$(vkey_of thief.key 04)" line
	err_has 'no signature given is by a known key (N2)'
	not_added 2 line
	err_has 'name the cosigners whose lines are taken (--key or --policy)'
	# The private half of this one is no cosigner's.
	not_added 6 --key "$(vkey_of witness.key 01)" line
}

@test "a line that does not verify is refused with the sound ones: exit 1" {
	witness
	witness second
	stored_note >note
	{
		text_of note | cosignature_line second.key 1787000001
		text_of note | sed '2s/9/8/' |
			cosignature_line witness.key 1787000001
	} >lines
	not_added 1 --key "$(vkey_of witness.key 04)" \
		--key "$(vkey_of second.key 04)" lines
	err_has 'does not verify (N2)'
	# The line of an older note is none of the newest.
	next_snapshot
	text_of note | cosignature_line second.key 1787000001 >lines
	not_added 1 --key "$(vkey_of second.key 04)" lines
}

@test "a note that the store does not have is not found: exit 3" {
	witness
	hand_note log.key "$ORIGIN" 8 >note
	add_line note cosignature_line witness.key 1787000001
	not_added 3 --key "$(vkey_of witness.key 04)" note
	err_has 'the store has no note with that text'
	kistore init plain.git >/dev/null
	use_store plain.git
	sed -n '$p' note >line
	not_added 3 --key "$(vkey_of witness.key 04)" line
	err_has 'the store has no note at all'
}

@test "no more than 16 lines are published: exit 4" {
	stored_note >note
	text_of note >text
	# Names make keys: one private half is enough.
	for i in $(seq 16); do
		sed "s/^Name: .*/Name: w$i/" thief.key >w.key
		cosignature_line w.key 1787000001 <text >>lines
		printf '%s\n' --key "$(vkey_of w.key 04)" >>options
	done
	mapfile -t options <options
	not_added 4 "${options[@]}" lines
	err_has 'the note would have 17 signature lines, and at most 16 are published (N2)'
	sed '$d' lines >fewer
	expect 0 kistore snapshot add-cosignature "${options[@]}" fewer
	out_is 'the note of 9 entries has 15 lines more or renewed'
	trusts 0
	not_added 4 "${options[@]}" <(tail -n 1 lines)
}

@test "what is neither lines nor a note is refused" {
	witness
	for text in junk '' $'\342\200\224 w AAAA' $'\342\200\224 w !!!!\n'; do
		printf %s "$text" >junk
		not_added 1 --key "$(vkey_of witness.key 04)" junk
	done
	not_added 5 --key "$(vkey_of witness.key 04)" absent
	not_added 2 --key "$(vkey_of witness.key 04)"
}

@test "a cosigner's key that is none is a mistake of the call: exit 2" {
	echo junk >junk
	not_added 2 --key junk junk
	not_added 2 --policy junk junk
}

@test "cosignatures survive the next snapshot, and tags stay good" {
	witness
	cosign
	next_snapshot
	trusts 0
	[ "$(stored_note 9 | wc -l)" -eq 6 ]
	[ "$(stored_note 10 | wc -l)" -eq 5 ]
}
