#!/usr/bin/env bats
# The keys and policies that a user gives to verify, and keys that change
# (store-layout.md N5 to N10).

load ../lib/common
load ../lib/store
load ../lib/sign
load ../lib/hostile

prepare() {
	signed_store
}

# ---- Keys that the user gives -----------------------------------------------

@test "a key is a vkey, an SSH line, PEM, or a file with one of them" {
	ssh-keygen -yf log.ssh >log.pub
	openssl pkey -in log.key -pubout >log.pem
	expect 0 kistore verify --key log.vkey
	for key in log.pub log.pem "$(cat log.pub)" "$(cat log.pem)"; do
		expect 0 kistore verify --key "$key" --origin "$ORIGIN"
		signed_by log.key 9
		expect 2 kistore verify --key "$key"
		silent_out
		err_has 'give --origin NAME'
		expect 6 kistore verify --key "$key" --origin "$OTHER"
		verdict 'untrusted key'
	done
	expect 0 kistore verify --key log.vkey --origin "$ORIGIN"
	expect 2 kistore verify --key log.vkey --origin "$OTHER"
	err_has "the key is for the origin $ORIGIN, and --origin is $OTHER"
}

@test "a key file may have CR LF, blanks at its end, or a byte order mark" {
	ssh-keygen -yf log.ssh >log.pub
	openssl pkey -in log.key -pubout >log.pem
	for file in log.vkey log.pub log.pem; do
		sed 's/$/\r/' $file >crlf
		{ printf '\xef\xbb\xbf'; cat $file; } >marked
		{ cat $file; printf ' \n\n'; } >blank
		for key in crlf marked blank; do
			expect 0 kistore verify --key $key --origin "$ORIGIN"
			signed_by log.key 9
		done
	done
}

@test "a vkey with a wrong id, of another type or cut short is refused: exit 2" {
	id=$(id_of log.key)
	bad=$(tr '0-9a-f' '1-9a-f0' <<<"$id")
	for key in "${VKEY/+$id+/+$bad+}" "$(vkey_of log.key 04)" \
		"${VKEY%?????}" "${VKEY}AAAA" "$ORIGIN+$id+" \
		"${VKEY/+$id+/+${id^^}+}x" "$(vkey_of log.key 02)"; do
		try kistore verify --key "$key"
		[ "$status" -eq 2 ] || [ "$status" -eq 8 ] || {
			echo "$key: $status"
			return 1
		}
		silent_out
		one_line
	done
	expect 2 kistore verify --key "$(vkey_of log.key 04)"
	err_has 'this is the key of a cosigner'
	expect 2 kistore verify --key "${VKEY/+$id+/+$bad+}"
	expect 8 kistore verify --key "$(vkey_of log.key 02)"
}

@test "keys of other kinds, private keys and what is no key: exit 2" {
	openssl genrsa 2048 2>/dev/null | openssl rsa -pubout >rsa.pem \
		2>/dev/null
	ssh-keygen -q -t rsa -b 2048 -N '' -f rsa
	: >empty
	echo junk >junk
	head -c 70000 /dev/zero | tr '\0' x >long
	for key in rsa.pem rsa.pub log.key log.ssh empty junk long; do
		try kistore verify --key "$key" --origin "$ORIGIN"
		[ "$status" -eq 2 ] || [ "$status" -eq 8 ] || {
			echo "$key: $status"
			cat "$ERR"
			return 1
		}
		silent_out
		one_line
	done
	expect 2 kistore verify --key log.key --origin "$ORIGIN"
	err_has 'the key given: private key where a public key is needed'
	expect 2 kistore verify --key rsa.pem --origin "$ORIGIN"
	expect 5 kistore verify --key absent
	expect 5 kistore verify --key .
}

@test "what is given to judge is never refused as if it were put: not exit 4" {
	: >empty
	head -c 1100000 /dev/zero | tr '\0' x >long
	for option in --policy --since --revoked; do
		for file in empty long; do
			try kistore verify --key "$VKEY" $option $file
			[ "$status" -eq 1 ] || [ "$status" -eq 2 ] || {
				echo "$option $file: $status"
				return 1
			}
			silent_out
		done
	done
}

# ---- --since ----------------------------------------------------------------

@test "--since takes a note of the past, from anywhere" {
	stored_note >nine
	next_snapshot
	trusts 0 --since nine
	signed_by log.key 10
	stored_note >ten
	trusts 0 --since ten
	hand_note log.key "$ORIGIN" 4 >four
	trusts 0 --since four
	trusts 0 --since - <nine
}

@test "--since a newer note: rollback; another root: fork; both exit 1" {
	git clone -q --bare demo.git clone.git
	next_snapshot
	stored_note >ten
	use_store clone.git
	trusts 1 --since ten
	verdict 'rollback: older than what was accepted before: 9 entries are signed, 10 were then (N6)'
	forget
	fork_log log.key
	git -C clone.git tag | xargs -r git -C clone.git tag -d >/dev/null
	trusts 1 --since ten
	verdict 'fork: '
	out_has 'evidence: '
	[ ! -e "$(state_file accepted)" ]
}

@test "--since what is no note, or of nobody known, is refused" {
	echo junk >junk
	expect 1 kistore verify --key "$VKEY" --since junk
	silent_out
	err_has 'the note seen before: '
	stored_note | sed 's/$/\r/' >crlf
	expect 1 kistore verify --key "$VKEY" --since crlf
	hand_note thief.key >thiefs
	expect 6 kistore verify --key "$VKEY" --since thiefs
	silent_out
	err_has 'the note seen before: '
	hand_note log.key "$OTHER" >foreign
	expect 6 kistore verify --key "$VKEY" --since foreign
	err_has 'no trusted key of this origin signed it (N5)'
	stored_note | sed '2s/9/8/' >forged
	expect 1 kistore verify --key "$VKEY" --since forged
	err_has 'does not verify (N2)'
}

@test "--since a note of another log is not passed over in silence" {
	hand_note other.key "$OTHER" 5 >since
	try kistore verify --key "$VKEY" --key other.vkey --since since
	[ "$status" -ne 0 ]
}

@test "--since goes before no memory: both are compared" {
	stored_note >nine
	next_snapshot
	trusts 0
	git -C demo.git update-ref HEAD HEAD~2
	git -C demo.git tag -d snapshot/10 >/dev/null
	trusts 1 --since nine
	verdict rollback
}

# ---- --revoked --------------------------------------------------------------

@test "notes of a revoked key count up to its last good one" {
	stored_note >nine
	trusts 0 --revoked nine
	signed_by log.key 9
	forget
	next_snapshot
	trusts 6 --revoked nine
	verdict "revoked key: the key $ORIGIN+$(id_of log.key) is revoked: its notes count up to size 9, and this one has 10 (N10)"
	out_has 'signed: 9 entries, by an earlier snapshot; 1 after them is not'
	no_finding
	stored_note >ten
	trusts 0 --revoked ten
}

@test "a log that is not consistent with the last good note is not trusted" {
	stored_note >nine
	fork_log log.key
	trusts 6 --revoked nine
	grep -q '^signature: revoked key: ' "$OUT"
	out_lacks 'signed: '
	{
		log_lines | head -n 7
		retract_entry "$WORKLOAD" stolen
		echo
		log_lines | sed -n 8p
	} >same-size
	replace "$SEGMENT" same-size
	remove checkpoints/10
	sign_by_hand log.key
	trusts 6 --revoked nine
	verdict "revoked key: the key $ORIGIN+$(id_of log.key) is revoked, and the log is not consistent with its last good note, of size 9 (N10)"
}

@test "--revoked what is no note, or of nobody known, is refused" {
	echo junk >junk
	expect 1 kistore verify --key "$VKEY" --revoked junk
	err_has 'the last note of a revoked key: '
	hand_note thief.key >thiefs
	expect 6 kistore verify --key "$VKEY" --revoked thiefs
	err_has 'the last note of a revoked key: '
	stored_note | sed '2s/9/8/' >forged
	expect 1 kistore verify --key "$VKEY" --revoked forged
}

@test "a revoked key's successor goes on" {
	make_key next "$ORIGIN"
	snapshot log.key --next next.vkey
	stored_note >last
	snapshot next.key --first
	trusts 0 --revoked last
	signed_by next.key 11
	forget
	stored_note 9 >nine
	trusts 6 --revoked nine
}

# ---- --policy ---------------------------------------------------------------

@test "a policy's quorum is met, or the note does not count: exit 6" {
	witness
	policy_file 'quorum W' >policy
	expect 6 kistore verify --policy policy
	verdict 'untrusted key: the witness W has not cosigned, which the policy demands'
	out_lacks 'signed: '
	cosign
	expect 0 kistore verify --policy policy
	signed_by log.key 9
	out_has 'cosigned by 1, last at 2026-08-17T20:53:21Z'
	expect 0 kistore verify --json --policy policy
	jq -e '.signature.witnesses == 1 and
		.signature.cosignedAt == "2026-08-17T20:53:21Z"' "$OUT"
	policy_file 'quorum none' >none
	expect 0 kistore verify --policy none
	# The next note is nobody's but the log's.
	forget
	next_snapshot
	expect 6 kistore verify --policy policy
	out_has 'signed: 9 entries, by an earlier snapshot; 1 after them is not'
}

@test "a quorum that is not met is told with what there is" {
	witness
	witness second
	cosign
	policy_file "witness S $(vkey_of second.key 04)" 'group both all W S' \
		'quorum both' >policy
	expect 6 kistore verify --policy policy
	verdict 'untrusted key: 1 of the 2 members of both have cosigned, and the policy demands 2'
	cosign 1787000002 second
	expect 0 kistore verify --policy policy
	out_has 'cosigned by 2, last at 2026-08-17T20:53:22Z'
}

@test "a cosignature is no signature of the log" {
	witness
	stored_note >old
	text_of old >text
	note_of text cosignature_line witness.key 1787000001 >note
	publish_note note
	policy_file 'quorum W' >policy
	expect 1 kistore verify --policy policy
	verdict "untrusted key: only cosigners that are trusted signed it, not the log's key (N1)"
	finding damage checkpoints/9 '(S3)'
}

@test "a cosignature that does not verify refuses the note" {
	witness
	stored_note >note
	text_of note | sed '2s/9/8/' >text
	cosignature_line witness.key 1787000001 <text >>note
	publish_note note
	trusts 0
	policy_file 'quorum none' >policy
	expect 1 kistore verify --policy policy
	verdict 'forged: the signature of witness.example/w+'
}

@test "a policy without a line for this log accepts it for nobody" {
	witness
	cosign
	printf 'witness W %s\nquorum W\n' "$(vkey_of witness.key 04)" >policy
	expect 6 kistore verify --policy policy
	verdict 'untrusted key'
	expect 0 kistore verify --policy policy --key "$VKEY"
	signed_by log.key 9
	printf 'log %s\nquorum none\n' "$(cat other.vkey)" >policy
	expect 6 kistore verify --policy policy
	verdict "untrusted key: the note of size 9 is signed by $ORIGIN+$(id_of log.key)"
	printf 'log %s\nquorum none\n' "$THIEF" >policy
	expect 6 kistore verify --policy policy
}

@test "a policy that breaks a rule is refused with its line: exit 2" {
	for text in '' "log $VKEY" "log $VKEY"$'\nquorum W' junk \
		"log $(vkey_of log.key 04)"$'\nquorum none' \
		"log $VKEY"$'\nwitness W '"$VKEY"$'\nquorum W'; do
		printf '%s\n' "$text" >policy
		expect 2 kistore verify --policy policy
		silent_out
		err_has 'the policy: '
	done
	err_is 'kistore: the policy: line 2: the key is of type 01, and those of witnesses are of type 04 (kistore key show --cosigner)'
}

@test "a rollback is a rollback by a policy, too" {
	printf 'log %s\nquorum none\n' "$VKEY" >policy
	next_snapshot
	expect 0 kistore verify --policy policy
	git -C demo.git update-ref HEAD HEAD~2
	git -C demo.git tag -d snapshot/10 >/dev/null
	expect 1 kistore verify --policy policy
	verdict rollback
}

@test "a time beyond the calendar is no empty text" {
	witness
	cosign 9223372036854775807
	policy_file 'quorum W' >policy
	expect 0 kistore verify --policy policy
	fails grep -q 'last at $' "$OUT"
	expect 0 kistore verify --json --policy policy
	jq -e '.signature.cosignedAt != ""' "$OUT"
}

@test "--pin with a policy pins the policy, witnesses and all" {
	witness
	policy_file 'quorum W' >policy
	cosign
	expect 0 kistore verify --policy policy --pin
	out_has 'pinned: trusted for its origin from now on'
	cmp policy "$(state_file pins)"
	expect 0 kistore verify --pin
	out_has 'cosigned by 1'
	next_snapshot
	expect 6 kistore verify
	expect 5 kistore verify --key "$VKEY" --pin
	err_has 'is pinned otherwise'
	cmp policy "$(state_file pins)"
}

# ---- Key change -------------------------------------------------------------

# log.key announces next.key under its own signature; then next.key takes over.
hand_over() {
	make_key next "$ORIGIN"
	NEXT=$(cat next.vkey)
	snapshot log.key --next next.vkey
	[ "${1-}" = announced ] || snapshot next.key --first
}

@test "a successor that was announced is accepted by both keys" {
	hand_over
	trusts 0
	signed_by next.key 11
	forget
	expect 0 kistore verify --key "$NEXT"
	signed_by next.key 11
	log_lines | sed -n 10p | jq -e --arg next "sha256:$(printf %s "$NEXT" |
		sha256sum | cut -c1-64)" '.next == $next and .role == "log"'
}

@test "a reader who has pinned the old key follows its successor" {
	pin
	hand_over
	next=$(log_lines | wc -l)
	expect 0 kistore log
	silent_err
	[ "$(wc -l <"$OUT")" -eq "$next" ]
	append "$(retract_entry "$RUN")"
	expect 0 kistore resolve c3252a98
	err_is 'kistore: 1 entry after the 11 that are signed is left out (--unsigned shows it)'
	expect 5 kistore verify --key "$NEXT" --pin
}

@test "two hand-overs in a row lead from the first key to the third" {
	hand_over announced
	make_key third "$ORIGIN"
	snapshot next.key --first --next third.vkey
	snapshot third.key --first
	trusts 0
	signed_by third.key 12
	expect 0 kistore verify --key third.vkey
	expect 0 kistore verify --key "$NEXT"
}

@test "a key that nobody announced is refused by the old one: exit 6" {
	make_key next "$ORIGIN"
	snapshot next.key --first
	trusts 6
	verdict "untrusted key: the note of size 10 is signed by $ORIGIN+$(id_of next.key): no key that is trusted"
	out_has 'signed: 9 entries, by an earlier snapshot; 1 after them is not'
	expect 0 kistore verify --key next.vkey
	printf 'log %s\nlog %s\nquorum none\n' "$VKEY" "$(cat next.vkey)" >both
	expect 0 kistore verify --policy both
	signed_by next.key 10
}

@test "another key than the one announced is refused: exit 6" {
	hand_over announced
	append "$(key_entry "$THIEF")"
	sign_by_hand thief.key
	trusts 6
	verdict 'untrusted key'
}

@test "an announcement in an unsigned tail, or signed by the thief, is none" {
	append "$(key_entry "$VKEY" "$THIEF")"
	append "$(key_entry "$THIEF")"
	sign_by_hand thief.key
	trusts 6
	verdict 'untrusted key'
	out_has 'signed: 9 entries, by an earlier snapshot; 2 after them are not'
	no_finding
	# Nor when he signs the announcement first.
	log_lines | head -n 10 >lines
	replace "$SEGMENT" lines
	remove checkpoints/11
	sign_by_hand thief.key
	lines_at HEAD~3 >lines
	replace "$SEGMENT" lines
	sign_by_hand thief.key
	trusts 1
	verdict 'untrusted key'
	finding damage checkpoints/10 '(S3)'
}

@test "an announcement signed by no key but the thief's own is none" {
	append "$(key_entry "$THIEF" "$THIEF")"
	sign_by_hand thief.key
	make_key third "$ORIGIN"
	append "$(key_entry "$THIEF" "$(cat third.vkey)")"
	sign_by_hand thief.key
	append "$(key_entry "$(cat third.vkey)")"
	sign_by_hand third.key
	trusts 6
	verdict 'untrusted key'
	out_has 'signed: 9 entries, by an earlier snapshot; 3 after them are not'
	no_finding
}

@test "an announced key must be named by a line of its own" {
	hand_over announced
	append "$(retract_entry "$RUN")"
	sign_by_hand next.key
	trusts 1
	verdict 'untrusted key'
	finding damage checkpoints/11 "is not signed by $ORIGIN+$(id_of log.key)"
}

@test "the line that names it must be within what it signs" {
	hand_over announced
	stored_note >ten
	text_of ten >text
	note_of text signature_line next.key >note
	publish_note note
	append "$(key_entry "$NEXT")"
	trusts 1
	verdict 'untrusted key'
}

@test "the old key signs no more after the hand-over: exit 6" {
	hand_over
	append "$(retract_entry "$RUN")"
	sign_by_hand log.key
	trusts 1
	verdict "revoked key: signed by $ORIGIN+$(id_of log.key), but the log names $ORIGIN+$(id_of next.key) as its key since entry 10 (S3)"
	out_has 'signed: 11 entries, by an earlier snapshot; 1 after them is not'
	finding damage checkpoints/12 '(S3)'
}

@test "not even where it names itself again, which nobody announced" {
	hand_over
	append "$(key_entry "$VKEY")" "$(retract_entry "$RUN")"
	sign_by_hand log.key
	trusts 6
	out_has 'signed: 11 entries, by an earlier snapshot; 2 after them are not'
}

@test "nor for a reader who has pinned it" {
	pin
	hand_over
	expect 0 kistore verify
	append "$(retract_entry "$RUN")"
	sign_by_hand log.key
	try kistore resolve c3252a98
	err_lacks 'is retracted'
}

@test "nor for that reader where it names itself again" {
	pin
	hand_over
	expect 0 kistore verify
	append "$(key_entry "$VKEY")" "$(retract_entry "$RUN")"
	sign_by_hand log.key
	try kistore resolve c3252a98
	err_lacks 'is retracted'
}

@test "where the other of two announced keys took over, the first does not" {
	make_key next "$ORIGIN"
	make_key chosen "$ORIGIN"
	snapshot log.key --next next.vkey
	snapshot log.key --next chosen.vkey
	snapshot chosen.key --first
	append "$(key_entry "$(cat next.vkey)")"
	sign_by_hand next.key
	trusts 6
	out_has 'signed: 12 entries, by an earlier snapshot; 1 after them is not'
}

@test "an announcement that a later one replaced counts no more" {
	make_key next "$ORIGIN"
	make_key chosen "$ORIGIN"
	snapshot log.key --next next.vkey
	snapshot log.key --next chosen.vkey
	append "$(key_entry "$(cat next.vkey)")"
	sign_by_hand next.key
	trusts 6
	out_has 'signed: 11 entries, by an earlier snapshot; 1 after them is not'
}

@test "a key line that is long is a key line, for verify and for readers" {
	pin
	hand_over announced
	append "$(key_entry "$NEXT" | sed \
		"s/}$/,\"x-why\":\"$(printf 'x%.0s' {1..3000})\"}/")"
	sign_by_hand next.key
	trusts 0
	verdict "signed by $ORIGIN+$(id_of next.key)"
	expect 0 kistore log
	[ "$(wc -l <"$OUT")" -eq 11 ]
	silent_err
}
