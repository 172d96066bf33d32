#!/usr/bin/env bats
# Whose word counts: verdicts of verify, pins, what was accepted before, and what
# a reader sees of a store that somebody changed who had no right to
# (store-layout.md N5 to N10, S1 to S7, X8). The user's keys are in
# trust-keys.bats, the signer's side in trust-signer.bats.

load ../lib/common
load ../lib/store
load ../lib/sign
load ../lib/hostile

prepare() {
	signed_store
}

# ---- A sound store ----------------------------------------------------------

# bats test_tags=valgrind
@test "a store that the key signed is signed, and its state remembered" {
	trusts 0
	silent_err
	signed_by log.key 9
	out_lacks 'signature not checked'
	accepted_note | diff - <(stored_note)
	[ ! -e "$(state_file pins)" ]
	trusts 0
}

@test "the note is what openssl signs of the root that python computes" {
	stored_note | diff - <(hand_note log.key)
	remove checkpoints/9
	sign_by_hand log.key
	trusts 0
	signed_by log.key 9
}

@test "without trust the signature is not checked, whoever made it" {
	expect 0 kistore verify
	out_has 'signature not checked'
	out_lacks 'signature: '
	expect 0 kistore verify --json
	jq -e 'select(.schema == "kistore-verify/1") | .signature |
		.verdict == "not asked" and .signer == null and .size == 9' \
		"$OUT"
	[ ! -e "$XDG_STATE_HOME" ]
}

@test "the verdict stands in --json with its reason" {
	expect 0 kistore verify --json --key "$VKEY" --pin
	jq -e --arg signer "$ORIGIN+$(id_of log.key)" '.signature == {verdict:
		"signed", message: "signed by \($signer)", size: 9,
		unsignedTail: 0, $signer, witnesses: 0, cosignedAt: null,
		pinned: true, evidence: null}' "$OUT"
	expect 6 kistore verify --json --key "$THIEF"
	jq -e '.signature.verdict == "untrusted key" and .signature.size == 0
		and .signature.signer == null' "$OUT"
}

@test "another key than the one that signed is not trusted: exit 6" {
	for key in "$THIEF" "$(cat other.vkey)"; do
		expect 6 kistore verify --key "$key"
		verdict "untrusted key: the note of size 9 is signed by $ORIGIN+$(id_of log.key): no key that is trusted"
		no_finding
	done
	[ ! -e "$XDG_STATE_HOME" ]
}

@test "of several keys the one that signed is enough" {
	expect 0 kistore verify --key "$THIEF" --key other.vkey --key "$VKEY"
	signed_by log.key 9
}

@test "a store without any note is unsigned: exit 6 where trust was asked for" {
	kistore init --origin "$ORIGIN" plain.git >/dev/null
	use_store plain.git
	kistore -q put "$SEEDS"/*.json >/dev/null
	trusts 6
	verdict 'unsigned: nothing is signed'
	expect 0 kistore verify
	kistore init bare.git >/dev/null
	expect 6 kistore -C bare.git verify --key "$VKEY"
	verdict unsigned
}

# ---- An unsigned tail -------------------------------------------------------

@test "what follows the signed entries is counted, and accepted by nobody" {
	unsigned_tail
	trusts 0
	verdict "signed by $ORIGIN"
	out_has 'signed: 9 entries; 3 after them are not'
	no_finding
	accepted_note | sed -n 2p | grep -qx 9
	append "$(retract_entry "$PROJECT")"
	expect 0 kistore verify --json --key "$VKEY"
	jq -e '.signature.unsignedTail == 4 and .log.size == 13' "$OUT"
}

@test "one entry that follows is one" {
	append "$(retract_entry "$RUN")"
	trusts 0
	out_has 'signed: 9 entries; 1 after them is not'
}

@test "what kistore itself appends without the key is a tail as well" {
	kistore -q retract "$RUN" --reason forged >/dev/null
	kistore -q annotate "$PROJECT" --metadata - <<<'{"name":"forged"}' \
		>/dev/null
	kistore -q takedown "$WORKLOAD" --reason forged --lines >/dev/null
	git -C demo.git cat-file -e "HEAD:$(object_path "$WORKLOAD")"
	log_lines | head -n 9 | log_root | diff - <(lines_at HEAD~3 | log_root)
	trusts 0
	out_has 'signed: 9 entries; 3 after them are not'
	no_finding
}

@test "a takedown in the tail does not excuse an object that is missing" {
	append "$(takedown_entry "$WORKLOAD")"
	remove "$(object_path "$WORKLOAD")"
	trusts 1
	finding absent "$(object_path "$WORKLOAD")" "$WORKLOAD"
	verdict "signed by $ORIGIN"
	[ ! -e "$(state_file accepted)" ]
	expect 1 kistore verify
}

@test "nor does one that a thief has signed with a key of his own" {
	append "$(key_entry "$THIEF")" "$(takedown_entry "$WORKLOAD")"
	remove "$(object_path "$WORKLOAD")"
	sign_by_hand thief.key
	trusts 1
	finding absent "$(object_path "$WORKLOAD")" "$WORKLOAD"
	verdict 'untrusted key'
	out_has 'signed: 9 entries, by an earlier snapshot; 2 after them are not'
}

# redact N: line N of the log as its leaf hash, which leaves the root as it is.
redact() {
	local leaf
	log_lines >lines
	leaf=$({ printf '\0'; sed -n "$1p" lines | tr -d '\n'; } | sha256sum |
		cut -c1-64)
	sed "$1s/.*/-$leaf/" lines >redacted
	replace "$SEGMENT" redacted
	log_lines | log_root | diff - <(log_root <lines)
}

@test "a signed line that somebody redacted is damage, though the root stays" {
	next_snapshot
	trusts 0
	redact 10
	trusts 1
	finding damage "$SEGMENT:10" 'no takedown names this redacted line'
	verdict "signed by $ORIGIN"
}

@test "nor does a takedown in the tail excuse it: no retraction goes that way" {
	next_snapshot
	redact 10
	append "$(takedown_entry "$WORKLOAD" | sed 's/"op"/"lines":[9],&/')"
	trusts 1
	grep -q "^damage $SEGMENT:10 " "$OUT"
}

@test "nor the text of a record" {
	redact 5
	append "$(takedown_entry "$PROJECT" | sed 's/"op"/"lines":[4],&/')"
	trusts 1
	grep -q "^damage $SEGMENT:5 " "$OUT"
}

@test "a pinned reader is not shown a log in which a retraction was redacted" {
	next_snapshot
	pin
	redact 10
	expect 1 kistore resolve c3252a98
	silent_out
	append "$(takedown_entry "$WORKLOAD" | sed 's/"op"/"lines":[9],&/')"
	expect 1 kistore resolve c3252a98
	silent_out
}

@test "a signer does not sign such a takedown: exit 1" {
	next_snapshot
	redact 10
	append "$(takedown_entry "$WORKLOAD" | sed 's/"op"/"lines":[9],&/')"
	not_signed 1 log.key
}

@test "a reader without a pin reads on where a note cannot be read" {
	head -c 1500000 /dev/zero | tr '\0' x >huge
	stored_note >note
	replace checkpoint huge
	trusts 1
	grep -q '^damage checkpoint' "$OUT"
	expect 0 kistore log
	[ "$(wc -l <"$OUT")" -eq 9 ]
	remove checkpoint
	replace checkpoint/9 note
	trusts 1
	finding damage checkpoint 'has mode 040000, must be 100644 (T3)'
	expect 0 kistore log
	[ "$(wc -l <"$OUT")" -eq 9 ]
}

@test "pinned readers do not see the tail, and say how many follow" {
	pin
	unsigned_tail
	note='kistore: 3 entries after the 9 that are signed are left out (--unsigned shows them)'
	expect 0 kistore resolve c3252a98
	out_is "$RUN"
	err_is "$note"
	expect 0 kistore resolve transformers
	err_is "$note"
	expect 3 kistore resolve forged
	expect 0 kistore log
	[ "$(wc -l <"$OUT")" -eq 9 ]
	err_is "$note"
	expect 0 kistore log --root
	[ "$(cut -d' ' -f1 "$OUT")" = 9 ]
	expect 0 kistore get "$WORKLOAD"
	[ "sha256:$(sha256sum <"$OUT" | cut -c1-64)" = "$WORKLOAD" ]
	err_is "$note"
	expect 0 kistore status
	grep -Eqx 'log entries +9' "$OUT"
	err_is "$note"
	expect 0 kistore snapshot list
	err_is "$note"
	[ "$(wc -l <"$OUT")" -eq 1 ]
}

@test "one entry that is left out is one" {
	pin
	append "$(retract_entry "$RUN")"
	expect 0 kistore resolve c3252a98
	err_is 'kistore: 1 entry after the 9 that are signed is left out (--unsigned shows it)'
}

@test "--unsigned shows the tail, without a word of trust" {
	pin
	unsigned_tail
	expect 0 kistore resolve --unsigned c3252a98
	err_has 'c3252a98 is retracted'
	expect 0 kistore resolve --unsigned forged
	expect 0 kistore log --unsigned
	[ "$(wc -l <"$OUT")" -eq 12 ]
	silent_err
	expect 0 kistore status --unsigned
	grep -Eqx 'log entries +12' "$OUT"
}

@test "--json says what is verified: with a pin, and not without" {
	for verified in false true; do
		expect 0 kistore log --json
		jq -es "all(.verified == $verified) and length == 9" "$OUT"
		expect 0 kistore log --json --root
		jq -e ".verified == $verified" "$OUT"
		expect 0 kistore resolve --json c3252a98
		jq -e ".verified == $verified" "$OUT"
		expect 0 kistore status --json
		jq -e ".verified == $verified" "$OUT"
		expect 0 kistore status --json --unsigned
		jq -e '.verified == false' "$OUT"
		pin
	done
}

@test "without a pin readers show all of it, and say that nothing is verified" {
	unsigned_tail
	for command in log status 'resolve transformers' 'get 1e8503b1'; do
		# shellcheck disable=SC2086 # two words
		try kistore $command
		err_has 'what the log says is not verified: no key is pinned (kistore verify --key KEY --pin)'
	done
	expect 0 kistore log
	[ "$(wc -l <"$OUT")" -eq 12 ]
	expect 0 kistore -q log
	silent_err
}

@test "a pinned reader of a state of the past needs it to be signed" {
	pin
	next_snapshot
	unsigned_tail
	expect 0 kistore log --root --at 10
	expect 0 kistore log --root --at 9
	expect 0 kistore log --root --at 8
	[ "$(cut -d' ' -f1 "$OUT")" = 8 ]
	expect 3 kistore log --root --at 13
	err_has 'that state has 13 entries, of which 10 are signed (--unsigned shows it)'
	expect 0 kistore log --root --at 13 --unsigned
}

@test "a state of the past that is no beginning of the signed one is refused" {
	pin
	log_lines | sed '3d;8d' >other
	replace "$SEGMENT" other
	git -C demo.git tag odd
	git -C demo.git update-ref HEAD HEAD~1
	expect 1 kistore log --at odd
	err_has 'the log of that state is no beginning of the one that was signed'
	expect 0 kistore log --at odd --unsigned
}

@test "in a shallow clone the signed state may be out of reach, not damaged" {
	pin
	append "$(retract_entry "$RUN")"
	git clone -q --bare --depth 1 "file://$PWD/demo.git" shallow.git
	expect 0 kistore -C shallow.git verify
	expect 3 kistore -C shallow.git resolve c3252a98
	err_has 'no commit has the 9 entries that are signed'
	err_has 'git fetch --unshallow'
	expect 0 kistore -C shallow.git resolve --unsigned c3252a98
	git -C shallow.git fetch -q --unshallow
	expect 0 kistore -C shallow.git resolve c3252a98
}

@test "a pinned reader refuses a log that is not the one that was signed" {
	pin
	log_lines | sed 's/transformers/transmuters/' >lines
	replace "$SEGMENT" lines
	for command in log status 'get c3252a98' 'resolve c3252a98'; do
		# shellcheck disable=SC2086 # two words
		expect 1 kistore $command
		silent_out
		err_has 'the log is not the one that was signed (kistore verify tells more)'
	done
	trusts 1
	verdict 'mismatch: the first 9 entries of the log are not those that were signed (S1)'
}

@test "a pinned reader refuses a store whose notes were taken out" {
	pin
	remove checkpoint checkpoints/9
	expect 1 kistore log
	silent_out
	err_has 'rollback: older than what was accepted before'
	rm "$(state_file accepted)"
	expect 6 kistore log
	silent_out
	err_has 'unsigned: nothing is signed (--unsigned reads it all the same)'
	expect 0 kistore log --unsigned
}

@test "a pin is for one origin: another store is read as before" {
	pin
	kistore init --origin "$OTHER" second.git >/dev/null
	expect 0 kistore -C second.git log
	silent_err
	expect 0 kistore -C second.git log --json
	jq -e '.verified == false' "$OUT"
	expect 0 kistore -C second.git verify
	out_has 'signature not checked'
}

@test "a pin in git's configuration, or in the repository, is nothing" {
	for name in kistore.key kistore.pin kistore.trust user.signingKey; do
		git -C demo.git config "$name" "$THIEF"
	done
	git -C demo.git config gpg.ssh.allowedSignersFile "$PWD/allowed"
	echo "* $(ssh-keygen -yf thief.ssh)" >allowed
	mkdir -p demo.git/pins demo.git/kistore/pins demo.git/state/kistore/pins
	hex=$(basename "$(state_file pins)")
	printf 'log %s\nquorum none\n' "$THIEF" >demo.git/pins/"$hex"
	cp demo.git/pins/"$hex" demo.git/kistore/pins
	cp demo.git/pins/"$hex" demo.git/state/kistore/pins
	replace "pins/$hex" "demo.git/pins/$hex"
	append "$(key_entry "$THIEF")" "$(retract_entry "$RUN")"
	sign_by_hand thief.key
	expect 0 kistore verify
	out_has 'signature not checked'
	expect 0 kistore log
	err_has 'not verified'
	cd demo.git
	expect 0 kistore -C . verify
	out_has 'signature not checked'
	expect 6 kistore -C . verify --key "$VKEY"
}

# ---- Notes ------------------------------------------------------------------

@test "a second signature line, by another key, is ignored" {
	stored_note >note
	for key in thief other; do
		add_line note signature_line $key.key
		publish_note note
		trusts 0
		signed_by log.key 9
	done
	expect 6 kistore verify --key "$VKEY" --key "$THIEF" --policy - <<-END
	log $(cat other.vkey)
	witness w $(vkey_of thief.key 04 w)
	quorum w
	END
}

@test "the second line first is no better" {
	stored_note >old
	{
		text_of old
		echo
		text_of old | signature_line thief.key
		tail -n 1 old
	} >note
	publish_note note
	trusts 0
	signed_by log.key 9
}

@test "the other key alone is not trusted, and not that of the log" {
	stored_note >old
	text_of old >text
	note_of text signature_line thief.key >note
	publish_note note
	trusts 1
	verdict "untrusted key: the note of size 9 is signed by $ORIGIN+$(id_of thief.key): no key that is trusted"
	finding damage checkpoints/9 "is not signed by $ORIGIN+$(id_of log.key), the key that the log names in entry 8 (S3)"
	out_lacks 'signed: '
	pin_before=$(ls "$XDG_STATE_HOME" 2>/dev/null || true)
	[ -z "$pin_before" ]
}

@test "a thief who names his key in the log is not trusted: exit 6" {
	append "$(key_entry "$THIEF")" "$(retract_entry "$RUN")"
	sign_by_hand thief.key
	trusts 6
	verdict "untrusted key: the note of size 11 is signed by $ORIGIN+$(id_of thief.key): no key that is trusted"
	out_has 'signed: 9 entries, by an earlier snapshot; 2 after them are not'
	no_finding
	expect 0 kistore verify --key "$THIEF"
	pin 2>/dev/null || true
	[ ! -e "$(state_file pins)" ]
}

@test "pinned readers see what the key signed before the thief did" {
	pin
	append "$(key_entry "$THIEF")" "$(retract_entry "$RUN")"
	sign_by_hand thief.key
	expect 0 kistore resolve c3252a98
	err_is 'kistore: 2 entries after the 9 that are signed are left out (--unsigned shows them)'
	expect 0 kistore log
	[ "$(wc -l <"$OUT")" -eq 9 ]
}

@test "a signature that does not verify is forged: exit 1" {
	stored_note >note
	{
		text_of note
		echo
		text_of note | sed 's/9/8/' | signature_line log.key
	} >bad
	publish_note bad
	trusts 1
	verdict "forged: the signature of $ORIGIN+$(id_of log.key) does not verify (N2)"
	finding damage checkpoints/9 '(S3)'
	# Nor does a sound line after it mend it.
	tail -n 1 note >>bad
	publish_note bad
	trusts 1
	verdict forged
	# A reader may not go by it either.
	printf 'log %s\nquorum none\n' "$VKEY" >policy
	mkdir -p "$(dirname "$(state_file pins)")"
	cp policy "$(state_file pins)"
	expect 1 kistore log
	silent_out
}

@test "a note of more entries than the log has is a mismatch: exit 1" {
	log_lines | sed '$d' >lines
	replace "$SEGMENT" lines
	trusts 1
	verdict 'mismatch: 9 entries are signed, and the log has fewer (S2)'
	finding damage checkpoints/9 'signs more than the 8 entries of the log (S2)'
	lines_at HEAD~1 >lines
	replace "$SEGMENT" lines
	hand_note log.key "$ORIGIN" 9 | sed '2s/9/4294967296/' >text
	{
		text_of text
		echo
		text_of text | signature_line log.key
	} >note
	publish_note note
	trusts 1
	verdict 'mismatch: 4294967296 entries are signed, and the log has fewer (S2)'
}

@test "a note with another root than the log's is a mismatch: exit 1" {
	printf '%s\n9\n%s\n' "$ORIGIN" "$(log_lines | log_root 8)" >text
	note_of text signature_line log.key >note
	publish_note note
	trusts 1
	verdict 'mismatch: the first 9 entries of the log are not those that were signed (S1)'
	finding damage checkpoints/9 "the log's entries are not those that it signs (S1)"
	[ ! -e "$(state_file accepted)" ]
}

@test "an older note that is of another log is found beside a sound newest one" {
	next_snapshot
	printf '%s\n5\n%s\n' "$ORIGIN" "$(log_lines | log_root 4)" >text
	note_of text signature_line log.key >note
	replace checkpoints/5 note
	trusts 1
	verdict "signed by $ORIGIN"
	finding damage checkpoints/5 "the log's entries are not those that it signs (S1)"
	[ ! -e "$(state_file accepted)" ]
}

@test "checkpoint is the newest note, byte for byte" {
	stored_note >note
	add_line note signature_line thief.key
	replace checkpoint note
	trusts 1
	finding damage checkpoint 'is not the newest note of checkpoints/ (T2)'
	verdict "signed by $ORIGIN"
	remove checkpoint
	trusts 1
	finding damage checkpoint 'is absent, but checkpoints/ has notes (T2)'
	remove checkpoints/9
	replace checkpoint note
	trusts 1
	verdict unsigned
	finding damage checkpoint '(T2)'
}

@test "names in checkpoints/ that are no size are found, each of them" {
	stored_note >note
	for name in 09 +9 9.txt 0x9 ' 9' 9223372036854775808 evil/9 note; do
		replace "checkpoints/$name" note
	done
	trusts 1
	verdict "signed by $ORIGIN"
	[ "$(grep -c '^damage checkpoints/.* is not a note by the size of its log (T2)$' "$OUT")" -eq 8 ]
	out_has 'found 8 damaged, 0 absent'
}

@test "a note under the size of another is found" {
	stored_note >note
	replace checkpoints/7 note
	trusts 1
	finding damage checkpoints/7 'is a checkpoint of size 9, which its name is not (T2)'
}

@test "a file that is executable, or a link, is no note" {
	stored_note >note
	replace checkpoints/9 note 100755
	trusts 1
	finding damage checkpoints/9 '(T2)'
	verdict unsigned
	printf checkpoint >target
	replace checkpoints/9 target 120000
	trusts 1
	finding damage checkpoints/9 '(T2)'
}

@test "a note with CR LF, without its last LF, or of four lines is refused" {
	stored_note >note
	sed 's/$/\r/' note >crlf
	head -c -1 note >short
	sed '3a more' note >longer
	sed '4d' note >joined
	{ sed '/^$/,$d' note; echo; } >bare
	for bad in crlf short longer joined bare; do
		publish_note $bad 9
		trusts 1
		grep -q '^damage checkpoints/9 ' "$OUT"
		verdict unsigned
		pin 2>/dev/null && return 1
	done
	publish_note note
	trusts 0
}

@test "a fourth line of text is refused even where the key signed it" {
	{
		note_text
		echo 'extra'
	} >text
	note_of text signature_line log.key >note
	publish_note note
	trusts 1
	finding damage checkpoints/9 'has more than three lines of text (S1)'
}

@test "a checkpoint of another origin, by the same key, is of another log: exit 1" {
	hand_note log.key "$OTHER" 9 >note
	publish_note note
	trusts 1
	finding damage checkpoints/9 '(S3)'
	verdict "wrong origin: the key of $ORIGIN signed this for the origin $OTHER (S3)"
	[ ! -e "$(state_file accepted)" ]
	# Readers have it no other way.
	mkdir -p "$(dirname "$(state_file pins)")"
	printf 'log %s\nquorum none\n' "$VKEY" >"$(state_file pins)"
	expect 1 kistore log
	silent_out
	err_has 'wrong origin'
}

@test "the same key under the name of another origin is another key" {
	note_text "$OTHER" >text
	note_of text signature_line log.key "$OTHER" >note
	publish_note note
	trusts 1
	verdict 'untrusted key'
	expect 1 kistore verify --key "$(vkey_of log.key 01 "$OTHER")"
	verdict 'wrong origin'
}

@test "a store that was copied under another origin is no copy of the first" {
	printf '{"format":"kistore/1","origin":"%s"}' "$OTHER" >json
	replace store.json json
	trusts 1
	verdict "wrong origin: the note is of the origin $ORIGIN, which is not that of the store (S3)"
	finding damage checkpoints/9 'its origin is not that of store.json'
	printf '{"format":"kistore/1"}' >json
	replace store.json json
	trusts 1
	finding damage checkpoints/9 'its origin is not that of store.json'
}

@test "a duplicate publish inside the signed size is a fault though it is signed" {
	append "$(log_lines | sed -n 5p)"
	sign_by_hand log.key
	trusts 1
	verdict "signed by $ORIGIN"
	finding damage "$SEGMENT:10" 'the digest is published already'
	[ ! -e "$(state_file accepted)" ]
	expect 1 kistore verify --key "$VKEY" --pin
	[ ! -e "$(state_file pins)" ]
	out_lacks 'pinned: '
}

@test "a log that names no key of its own is signed by nobody" {
	log_lines | head -n 8 >lines
	replace "$SEGMENT" lines
	remove checkpoints/9
	sign_by_hand log.key
	drop_tags
	trusts 1
	verdict 'mismatch: the log names no key of its own within the signed size 8 (S3)'
	finding damage checkpoints/8 'the log names no key of its own within this size (S3)'
}

# ---- What was accepted before -----------------------------------------------

@test "an older snapshot that is put back is a rollback: exit 1" {
	next_snapshot
	trusts 0
	signed_by log.key 10
	git -C demo.git update-ref HEAD HEAD~2
	git -C demo.git tag -d snapshot/10 >/dev/null
	trusts 1
	verdict 'rollback: older than what was accepted before: 9 entries are signed, 10 were then (N6)'
	no_finding
	accepted_note | sed -n 2p | grep -qx 10
	# For every clone of that origin.
	git clone -q --bare demo.git clone.git
	expect 1 kistore -C clone.git verify --key "$VKEY"
	verdict rollback
	forget
	trusts 0
}

@test "an unsigned tail makes no fork of a rollback, nor evidence against a key" {
	next_snapshot
	trusts 0
	git -C demo.git update-ref HEAD HEAD~2
	git -C demo.git tag -d snapshot/10 >/dev/null
	unsigned_tail
	trusts 1
	verdict rollback
	out_lacks evidence
	[ ! -e "$XDG_STATE_HOME/kistore/forks" ]
}

@test "a pinned reader is not rolled back" {
	next_snapshot
	pin
	git -C demo.git update-ref HEAD HEAD~2
	for command in log status 'get c3252a98' 'resolve c3252a98'; do
		# shellcheck disable=SC2086 # two words
		expect 1 kistore $command
		silent_out
		err_has 'rollback: older than what was accepted before: 9 entries are signed, 10 were then (N6) (--unsigned reads it all the same)'
	done
	expect 0 kistore log --unsigned
}

@test "a note of no trusted key on top of an old state does not hide a rollback" {
	next_snapshot
	pin
	git -C demo.git update-ref HEAD HEAD~2
	git -C demo.git tag -d snapshot/10 >/dev/null
	append "$(key_entry "$THIEF")"
	sign_by_hand thief.key
	trusts 1
	verdict rollback
}

@test "nor from a pinned reader" {
	next_snapshot
	pin
	git -C demo.git update-ref HEAD HEAD~2
	append "$(key_entry "$THIEF")"
	sign_by_hand thief.key
	expect 1 kistore resolve c3252a98
	silent_out
	err_has rollback
}

@test "nor by a newest note from which the signature was taken" {
	next_snapshot
	pin
	stored_note >ten
	text_of ten >text
	note_of text signature_line thief.key >note
	publish_note note
	for command in log 'resolve c3252a98'; do
		# shellcheck disable=SC2086 # two words
		expect 1 kistore $command
		silent_out
		err_has rollback
	done
}

@test "a fork by a stolen key is told from a rollback, with evidence: exit 1" {
	git clone -q --bare demo.git clone.git
	next_snapshot
	trusts 0
	accepted_note >accepted
	log_lines >honest
	# The positive: what is proven between two sizes of one log.
	prove 9 10 <honest >proof
	stored_note 9 >nine
	consistent nine accepted <proof
	use_store clone.git
	fork_log log.key
	[ "$(log_lines | wc -l)" -eq 10 ]
	append "$(retract_entry "$PROJECT" stolen)"
	sign_by_hand log.key
	remove checkpoints/10
	git -C clone.git tag -d snapshot/9 >/dev/null
	trusts 1
	verdict 'fork: not the log that was accepted before: its first 10 entries were others then (N6)'
	no_finding
	evidence=$(sed -n 's/^evidence: //p' "$OUT")
	[ -f "$evidence" ] && [ "$(stat -c %a "$evidence")" = 600 ]
	accepted_note | diff accepted -
	# Both notes are in it, each verifies, and no proof leads to both.
	sed '1,/^== accepted before$/d;/^== now$/,$d' "$evidence" |
		sed '1d;$d' | diff accepted -
	sed '1,/^== now$/d;/^== the /,$d' "$evidence" | sed '1d;$d' >now
	stored_note | diff now -
	sed '1,/^== (RFC/d' "$evidence" | sed '1d' >failing
	[ -s failing ]
	prove 10 11 < <(log_lines) | diff failing -
	fails consistent accepted now <failing
	fails consistent accepted now <proof
}

@test "a fork of the same size is a fork" {
	trusts 0
	{
		log_lines | sed '8d'
		retract_entry "$WORKLOAD" stolen
		echo
	} >forked
	replace "$SEGMENT" forked
	remove "$(object_path "$RUN")"
	sign_by_hand log.key
	drop_tags
	trusts 1
	verdict 'fork: not the log that was accepted before: its first 9 entries were others then (N6)'
	out_has 'evidence: '
	no_finding
	expect 1 kistore verify --json --key "$VKEY"
	jq -e '.signature.verdict == "fork" and
		(.signature.evidence | startswith("/"))' "$OUT"
}

@test "a shorter fork is refused as what it surely is, a rollback" {
	next_snapshot
	trusts 0
	log_lines | sed '3,8d' >short
	replace "$SEGMENT" short
	remove checkpoints/9 checkpoints/10
	drop_tags
	sign_by_hand log.key
	trusts 1
	verdict rollback
}

@test "each fork leaves evidence of its own" {
	trusts 0
	fork_log log.key
	trusts 1
	append "$(retract_entry "$PROJECT" stolen)"
	sign_by_hand log.key
	trusts 1
	[ "$(find "$XDG_STATE_HOME/kistore/forks" -type f | wc -l)" -eq 2 ]
	trusts 1
	[ "$(find "$XDG_STATE_HOME/kistore/forks" -type f | wc -l)" -eq 2 ]
}

@test "a pinned reader refuses a fork, also one that is longer" {
	pin
	fork_log log.key
	for command in log status 'resolve transformers' 'resolve stolen'; do
		# shellcheck disable=SC2086 # two words
		expect 1 kistore $command
		silent_out
		err_has fork
	done
}

@test "a log that was rewritten and is not signed at all is refused" {
	pin
	{
		log_lines | sed '8d'
		retract_entry "$WORKLOAD" other
		echo
	} >rewritten
	replace "$SEGMENT" rewritten
	remove "$(object_path "$RUN")" checkpoint checkpoints/9
	drop_tags
	trusts 1
	grep -Eq '^signature: (fork|rollback): ' "$OUT"
	expect 1 kistore log
	silent_out
}

@test "what is asked of the past is no rollback" {
	next_snapshot
	trusts 0
	expect 0 kistore verify --key "$VKEY" --at 9
	verdict "signed by $ORIGIN"
	accepted_note | sed -n 2p | grep -qx 10
}

@test "what was accepted is shared by clones, and kept for each origin" {
	git clone -q --bare demo.git clone.git
	next_snapshot
	trusts 0
	expect 1 kistore -C clone.git verify --key "$VKEY"
	verdict rollback
	kistore init second.git >/dev/null
	use_store second.git
	snapshot other.key --first
	expect 0 kistore verify --key other.vkey
	[ -f "$(state_file accepted)" ]
	[ -f "$(state_file accepted "$OTHER")" ]
}

@test "the memory is private, and readable with stock tools" {
	pin
	[ "$(find "$XDG_STATE_HOME" -type d -printf '%m\n' | sort -u)" = 700 ]
	[ "$(find "$XDG_STATE_HOME" -type f ! -name kistore.lock \
		-printf '%m\n' | sort -u)" = 600 ]
	diff <(printf 'log %s\nquorum none\n' "$VKEY") "$(state_file pins)"
}

@test "an accepted state that is scrambled is told, ignored, and made anew" {
	trusts 0
	for junk in garbage '' $'\377\n\n\342\200\224 x AAAA\n'; do
		printf %s "$junk" >"$(state_file accepted)"
		trusts 0
		err_has "what was accepted of $ORIGIN before cannot be read, and is not compared: "
		accepted_note | diff - <(stored_note)
		trusts 0
		silent_err
	done
	rm "$(state_file accepted)"
	mkdir "$(state_file accepted)"
	trusts 0
	err_has 'is not compared'
	err_has 'what was accepted is not remembered: '
}

@test "a pin that is scrambled stops everything that would go by it: exit 2" {
	pin
	for junk in garbage '' 'quorum nobody' "log $THIEF"; do
		printf '%s\n' "$junk" >"$(state_file pins)"
		for command in verify log status 'resolve c3252a98'; do
			# shellcheck disable=SC2086 # two words
			expect 2 kistore $command
			silent_out
			err_has "the pin of $ORIGIN: "
		done
	done
	expect 0 kistore log --unsigned
	trusts 0
}

@test "a pin that cannot be read stops it as well: exit 5" {
	pin
	rm "$(state_file pins)"
	mkdir "$(state_file pins)"
	expect 5 kistore log
	silent_out
	expect 5 kistore verify
	silent_out
}

@test "--pin is remembered once, and read by verify" {
	trusts 0 --pin
	out_has 'pinned: trusted for its origin from now on'
	trusts 0 --pin
	expect 0 kistore verify
	signed_by log.key 9
	out_lacks 'signature not checked'
	expect 0 kistore verify --pin
	unsigned_tail
	expect 0 kistore verify
	out_has 'signed: 9 entries; 3 after them are not'
	append "$(key_entry "$THIEF")"
	sign_by_hand thief.key
	expect 6 kistore verify
	verdict 'untrusted key'
}

@test "another key is not pinned over the first: exit 5" {
	pin
	cp "$(state_file pins)" before
	append "$(key_entry "$THIEF")"
	sign_by_hand thief.key
	expect 5 kistore verify --key "$THIEF" --pin
	err_has "$ORIGIN is pinned otherwise in $(state_file pins): remove that file to pin another key"
	diff before "$(state_file pins)"
	rm "$(state_file pins)"
	expect 0 kistore verify --key "$THIEF" --pin
}

@test "--pin, --since and --revoked need a key to go by: exit 2" {
	stored_note >note
	for option in --pin '--since note' '--revoked note'; do
		# shellcheck disable=SC2086 # two words
		expect 2 kistore verify $option
		silent_out
		err_is 'kistore: no key is trusted: name one (--key or --policy)'
	done
	[ ! -e "$XDG_STATE_HOME" ]
}

@test "nothing is pinned where something is wrong" {
	printf garbage >bad
	replace "$(object_path "$RUN")" bad
	trusts 1 --pin
	out_lacks 'pinned: '
	[ ! -e "$XDG_STATE_HOME/kistore" ]
	expect 6 kistore verify --key other.vkey --pin || [ "$status" -eq 1 ]
	[ ! -e "$XDG_STATE_HOME/kistore" ]
}

@test "a memory that cannot be written is told, and --pin fails: exit 5" {
	need_plain_rights
	mkdir -p "$XDG_STATE_HOME"
	chmod 500 "$XDG_STATE_HOME"
	expect 0 with_plain_rights "$KISTORE" verify --key "$VKEY"
	signed_by log.key 9
	err_has 'what was accepted is not remembered: '
	expect 5 with_plain_rights "$KISTORE" verify --key "$VKEY" --pin
	[ -z "$(ls "$XDG_STATE_HOME")" ]
	chmod 700 "$XDG_STATE_HOME"
}

@test "where there is no home nothing is remembered, and verify still judges" {
	homeless() {
		env -u HOME -u XDG_STATE_HOME "$KISTORE" "$@"
	}
	expect 0 homeless verify --key "$VKEY"
	signed_by log.key 9
	err_is 'kistore: what was accepted is not remembered: there is no place to remember this: set XDG_STATE_HOME or HOME'
	expect 5 homeless verify --key "$VKEY" --pin
	err_has 'there is no place to remember this'
	expect 0 homeless verify
	expect 0 homeless log
	before=$(commit_id)
	expect 5 homeless snapshot create --key log.key --first
	err_has 'there is no place to remember this'
	[ "$(commit_id)" = "$before" ]
}

@test "a state directory that is no absolute path is not used" {
	XDG_STATE_HOME=state expect 0 kistore verify --key "$VKEY"
	[ ! -e state ]
	[ -d "$HOME/.local/state/kistore/accepted" ]
}

# ---- Takedowns --------------------------------------------------------------

@test "a takedown in a signed store removes nothing until it is signed" {
	kistore -q takedown "$PROJECT" --reason law --lines >/dev/null
	git -C demo.git cat-file -e "HEAD:$(object_path "$PROJECT")"
	[ "$(log_lines | grep -c '^-')" -eq 0 ]
	trusts 0
	out_has 'signed: 9 entries; 1 after them is not'
	no_finding
	root=$(log_lines | log_root)
	before=$(commit_id)
	expect 0 as_signer kistore snapshot create --key log.key
	out_has 'taken down: 1 objects removed, 1 lines redacted'
	# In that one commit.
	[ "$(git -C demo.git rev-parse HEAD^)" = "$before" ]
	git -C demo.git diff --name-status HEAD^ HEAD |
		grep -qx "D.$(object_path "$PROJECT")"
	log_lines | sed -n 5p | grep -Eqx -- '-[0-9a-f]{64}'
	[ "$(log_lines | log_root)" = "$root" ]
	stored_note | sed -n 3p | grep -qxF "$root"
	trusts 0
	signed_by log.key 10
	out_has 'taken down: 1 object'
	expect 3 kistore get "$PROJECT"
	err_has 'taken down'
}

@test "an object that is still there after that snapshot is damage" {
	path=$(object_path "$PROJECT")
	git -C demo.git cat-file blob "HEAD:$path" >body
	kistore -q takedown "$PROJECT" --reason law >/dev/null
	snapshot log.key
	trusts 0
	replace "$path" body
	trusts 1
	finding damage "$path" 'was taken down and is still here (X8)'
	expect 1 kistore verify
	not_signed 1 log.key
}

@test "a signed takedown that a key signed by hand, without carrying it out" {
	append "$(takedown_entry "$WORKLOAD")"
	sign_by_hand log.key
	trusts 1
	finding damage "$(object_path "$WORKLOAD")" '(X8)'
}

@test "takedowns before the first snapshot and after are both carried out" {
	kistore init second.git >/dev/null
	use_store second.git
	kistore -q put "$SEEDS"/*.json >/dev/null
	kistore -q takedown "$WORKLOAD" --reason law --lines >/dev/null
	fails git -C second.git cat-file -e "HEAD:$(object_path "$WORKLOAD")"
	rm -rf signer
	snapshot log.key --first
	kistore -q takedown "$PROJECT" --reason law --lines >/dev/null
	expect 0 as_signer kistore snapshot create --key log.key
	out_has 'taken down: 1 objects removed, 1 lines redacted'
	trusts 0
	out_has 'taken down: 2 objects'
}

# ---- Surroundings -----------------------------------------------------------

@test "verify --key asks nobody: no socket is made" {
	need_command strace
	skip_under_sanitizer 'a leak checker cannot work below strace'
	expect 0 strace -f -qq -e trace=network -o trace "$KISTORE" verify \
		--key "$VKEY" --pin
	signed_by log.key 9
	[ ! -s trace ]
	# Which can fail:
	strace -f -qq -e trace=network -o trace python3 -c \
		'import socket; socket.socket()'
	grep -q 'socket(' trace
}

@test "verify writes nothing into the store, which may be read-only" {
	need_plain_rights
	unsigned_tail
	keep_state demo.git
	chmod -R a-w demo.git
	expect 0 with_plain_rights "$KISTORE" verify --key "$VKEY"
	out_has 'signed: 9 entries; 3 after them are not'
	expect 0 with_plain_rights "$KISTORE" verify --key "$VKEY" --pin
	expect 0 with_plain_rights "$KISTORE" log
	[ "$(wc -l <"$OUT")" -eq 9 ]
	chmod -R u+w demo.git
	unchanged demo.git
}

@test "names and texts of a hostile note are escaped" {
	hand_note log.key >note
	text_of note >text
	printf '\xe2\x80\x94 a\xe2\x80\xaeb\x7f %s\n' "$(head -c 68 /dev/zero |
		base64 -w0)" >line
	{ cat text; echo; cat line; } >bad
	publish_note bad
	trusts 1
	no_escapes
	out_lacks $'\342\200\256'
	printf 'evil\xe2\x80\xae\x7f\n9\n%s\n' "$(log_lines | log_root)" >text
	note_of text signature_line log.key >bad
	publish_note bad 9
	trusts 1
	no_escapes
	out_lacks $'\342\200\256'
}

@test "verify of one record goes by the same verdicts" {
	expect 0 kistore verify c3252a98 --key "$VKEY"
	verdict "signed by $ORIGIN"
	expect 6 kistore verify c3252a98 --key "$THIEF"
	expect 1 kistore verify c3252a98 --key "$VKEY" --since <(
		stored_note | sed 's/$/\r/')
}
