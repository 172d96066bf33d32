#!/usr/bin/env bats
# kistore mirror cosign, what becomes of own cosignatures when the branch goes on,
# and who is satisfied by two of them (store-layout.md M3, M10, M11; C2SP
# tlog-cosignature and tlog-policy).

load ../lib/common
load ../lib/store
load ../lib/sign
load ../lib/hostile
load ../lib/upstream

prepare() {
	mirrored_store
	make_key one one.example/m
	make_key two two.example/m
	chmod 600 ./*.key
}

mirror_note() {
	git -C "${MIRROR-m.git}" cat-file blob "HEAD:checkpoint${1:+s/$1}"
}

# ---- One cosignature -----------------------------------------------------------

# bats test_tags=valgrind
@test "a mirror adds its line, which is what openssl signs" {
	before=$(git -C m.git rev-parse HEAD)
	expect 0 mirror cosign --key one.key
	stored_note >note
	text_of note | cosignature_line one.key 1787000000 | cat note - |
		diff - "$OUT"
	err_is "kistore: cosigned 9 entries at 2026-08-17T20:53:20Z; the log takes the line in with: kistore snapshot add-cosignature --key '$(vkey_of one.key 04)'"
	# It stands in both places, in a commit of the mirror's own.
	mirror_note | diff - "$OUT"
	mirror_note 9 | diff - "$OUT"
	[ "$(git -C m.git rev-parse HEAD^)" = "$before" ]
	[ "$(git -C m.git log -1 --format=%s)" = 'cosignatures of this mirror' ]
	git -C m.git diff --name-only HEAD^ HEAD |
		diff <(printf '%s\n' checkpoint checkpoints/9) -
	[ "$(git -C m.git rev-parse snapshot/9^0)" = "$before" ]
	grep -qx "cosigner $(vkey_of one.key 04)" m.git/kistore-mirror
	mirror_is 9
	expect 0 mirror status
	out_has 'own cosignatures of the newest note: 1'
}

@test "--json is one document with the note" {
	expect 0 env SOURCE_DATE_EPOCH=1787000100 "$KISTORE" -C m.git mirror \
		cosign --json --key one.key
	# shellcheck disable=SC2119 # the newest
	jq -e --arg key "$(vkey_of one.key 04)" --arg note "$(mirror_note)
" '.schema == "kistore-mirror-cosign/1" and .size == 9 and .new and
		.time == "2026-08-17T20:55:00Z" and .cosigner == $key and
		.note == $note and (.root | startswith("sha256:"))' "$OUT"
	expect 0 mirror cosign -q --json --key one.key
	jq -e '.new | not' "$OUT"
	silent_err
}

@test "the same note is cosigned once, and gives the same line" {
	expect 0 mirror cosign --key one.key
	cp "$OUT" first
	keep_mirror
	expect 0 env SOURCE_DATE_EPOCH=1787000999 "$KISTORE" -C m.git mirror \
		cosign --key one.key
	diff first "$OUT"
	err_has 'had cosigned 9 entries at 2026-08-17T20:53:20Z'
	mirror_kept
}

@test "what was cosigned is remembered, by the key of the cosigner" {
	expect 0 mirror cosign --key one.key
	hex=$(vkey_of one.key 04 | tr -d '\n' | sha256sum | cut -c1-64)
	mirror_note >note
	text_of note | diff - "$XDG_STATE_HOME/kistore/signers/$hex/checkpoint"
	# Without the line, from memory: the same text may be signed again.
	git -C m.git update-ref HEAD HEAD^
	expect 0 mirror cosign --key one.key
	mirror_note | diff note -
}

@test "an OpenSSH key cosigns, and one with a passphrase" {
	printf secret >phrase
	chmod 600 phrase
	kistore -q key generate --name two.example/m --passphrase-file phrase \
		-o locked.key >/dev/null

	expect 0 mirror cosign --key one.ssh
	stored_note >note
	text_of note | cosignature_line one.key 1787000000 | cat note - |
		diff - "$OUT"
	expect 0 mirror cosign --key locked.key --passphrase-file phrase
	[ "$(mirror_note | tail -n +5 | wc -l)" -eq 3 ]
}

# ---- Who may not ----------------------------------------------------------------

# uncosigned STATUS [OPTION…]: refused, and nothing is written or remembered.
uncosigned() {
	local code=$1
	shift
	keep_mirror
	cp m.git/kistore-mirror remembered
	find "$XDG_STATE_HOME" -path '*/signers/*' -type f \
		! -name kistore.lock -exec sha256sum {} + | sort >memory
	expect "$code" mirror cosign "$@"
	silent_out
	one_line
	diff kept <(mirror_state)
	diff remembered m.git/kistore-mirror
	find "$XDG_STATE_HOME" -path '*/signers/*' -type f \
		! -name kistore.lock -exec sha256sum {} + | sort | diff memory -
}

@test "without a pin or a policy there is nothing to stand by: exit 6" {
	forget
	mkdir -p "$XDG_STATE_HOME"
	uncosigned 6 --key one.key
	err_has 'not cosigned: not trusted: no key is trusted for its origin'
	printf 'log %s\nquorum none\n' "$VKEY" >policy
	expect 0 mirror cosign --key one.key --policy policy
}

@test "nor where the pin is of another key, or the policy is not met" {
	printf 'log %s\nquorum none\n' "$THIEF" >"$(state_file pins)"
	uncosigned 6 --key one.key
	err_has 'not cosigned: untrusted key: '
	witness
	policy_file 'quorum W' >policy
	uncosigned 6 --key one.key --policy policy
	err_has 'not cosigned: untrusted key: the witness W has not cosigned'
}

@test "the log's own key, and those before it, cosign nothing: exit 2" {
	uncosigned 2 --key log.key
	err_has 'that key signs the log, by entry 8: cosign with one that does nothing else (M3)'
	# Under another name, too.
	sed 's/^Name: .*/Name: other.example\/m/' log.key >renamed.key
	chmod 600 renamed.key
	uncosigned 2 --key renamed.key
	err_has 'that key signs the log'
	make_key heir "$ORIGIN"
	chmod 600 heir.key
	snapshot log.key --next "$(<heir.vkey)"
	snapshot heir.key --first
	expect 0 mirror update
	uncosigned 2 --key log.key
	uncosigned 2 --key heir.key
}

@test "nor does a key that is registered for attestations, or was: exit 2" {
	kistore -q key register one.vkey >/dev/null
	snapshot log.key
	expect 0 mirror update
	uncosigned 2 --key one.key
	err_has 'that key is registered for attestations, by entry 9: cosign with one that does nothing else (M3)'
	kistore -q key register --revoke one.vkey >/dev/null
	snapshot log.key
	expect 0 mirror update
	uncosigned 2 --key one.key
	expect 0 mirror cosign --key two.key
}

@test "nor a key that signs another log, or cosigns one: exit 2" {
	kistore init --origin "$OTHER" second.git >/dev/null
	kistore -q -C second.git put "$SEEDS"/*.json >/dev/null
	kistore -q -C second.git snapshot create --key other.key --first >/dev/null
	chmod 600 other.key
	uncosigned 2 --key other.key
	err_has 'that key signs a log: cosign with one that does nothing else (M3)'
	kistore -q mirror clone --key other.vkey second.git m2.git >/dev/null
	MIRROR=m2.git expect 0 mirror cosign --key one.key
	uncosigned 2 --key one.key
	err_has "that key cosigns the log $OTHER: use another one for this (M3)"
}

@test "what is no private key signs nothing" {
	uncosigned 4 --key one.vkey
	uncosigned 5 --key absent.key
	uncosigned 2
	err_has '--key'
}

@test "a mirror that lacks an object is not cosigned: exit 1" {
	commit=$(KISTORE_DIR=$PWD/m.git commit_id)
	id=$(git -C m.git rev-parse "HEAD:$(object_path "$RUN")")
	# In git's objects.
	mkdir packs
	mv m.git/objects/pack/* packs
	for pack in packs/*.pack; do git -C m.git unpack-objects -q <"$pack"; done
	mv "m.git/objects/${id:0:2}/${id:2}" frame
	expect 1 mirror cosign --key one.key
	silent_out
	err_has "not cosigned: damaged: "
	err_has "$(object_path "$RUN")"
	[ "$(KISTORE_DIR=$PWD/m.git commit_id)" = "$commit" ]
	[ ! -e "$XDG_STATE_HOME/kistore/signers" ] || [ -z "$(find \
		"$XDG_STATE_HOME/kistore/signers" -name checkpoint)" ]
	mv frame "m.git/objects/${id:0:2}/${id:2}"
	# In the tree.
	KISTORE_DIR=$PWD/m.git remove "$(object_path "$RUN")"
	expect 1 mirror cosign --key one.key
	silent_out
	err_has 'not cosigned: incomplete: 1 absent: '
	[ "$(mirror_note | wc -l)" -eq 5 ]
}

@test "nor one whose log was changed, or that has more than was signed" {
	log_lines | sed 's/transformers/transmuters/' >lines
	KISTORE_DIR=$PWD/m.git replace "$SEGMENT" lines
	expect 1 mirror cosign --key one.key
	silent_out
	err_has 'not cosigned: mismatch: '
	[ "$(mirror_note | wc -l)" -eq 5 ]
}

@test "nor one that is behind what the key has cosigned: exit 1" {
	next_snapshot
	cp -a m.git old.git
	expect 0 mirror update
	expect 0 mirror cosign --key one.key
	hex=$(vkey_of one.key 04 | tr -d '\n' | sha256sum | cut -c1-64)
	cp "$XDG_STATE_HOME/kistore/signers/$hex/checkpoint" memory
	# What was accepted tells it first; without that, the cosigner's memory.
	MIRROR=old.git expect 1 mirror cosign --key one.key
	err_has 'not cosigned: stale: '
	rm "$(state_file accepted)"
	MIRROR=old.git expect 1 mirror cosign --key one.key
	silent_out
	err_has 'not cosigned: this key has cosigned 10 entries already, and the mirror has 9 (rollback)'
	diff memory "$XDG_STATE_HOME/kistore/signers/$hex/checkpoint"
	[ "$(MIRROR=old.git mirror_note | wc -l)" -eq 5 ]
	# Another key may.
	MIRROR=old.git expect 0 mirror cosign --key two.key
}

@test "nor one of another log than the key has cosigned: exit 1" {
	cp -a demo.git honest.git
	next_snapshot
	expect 0 mirror update
	expect 0 mirror cosign --key one.key
	rm -rf demo.git m.git "$XDG_STATE_HOME/kistore/accepted"
	mv honest.git demo.git
	append "$(retract_entry "$WORKLOAD" stolen)"
	append "$(retract_entry "$PROJECT" stolen)"
	sign_by_hand log.key
	clone_mirror m.git
	expect 1 mirror cosign --key one.key
	silent_out
	err_has 'not cosigned: this key has cosigned 10 other entries of this origin (fork)'
	[ "$(mirror_note | wc -l)" -eq 5 ]
	expect 0 mirror cosign --key two.key
}

@test "a memory that is scrambled is not taken for none" {
	expect 0 mirror cosign --key one.key
	next_snapshot
	expect 0 mirror update
	hex=$(vkey_of one.key 04 | tr -d '\n' | sha256sum | cut -c1-64)
	echo garbage >"$XDG_STATE_HOME/kistore/signers/$hex/checkpoint"
	uncosigned 1 --key one.key
}

@test "where the memory cannot be written nothing is signed: exit 5" {
	need_plain_rights
	mkdir -p "$XDG_STATE_HOME/kistore/signers"
	chmod 500 "$XDG_STATE_HOME/kistore/signers"
	uncosigned_plain() {
		with_plain_rights "$KISTORE" -C m.git mirror cosign --key one.key
	}
	keep_mirror
	expect 5 uncosigned_plain
	silent_out
	mirror_kept
	chmod 700 "$XDG_STATE_HOME/kistore/signers"
}

@test "one cosigns at a time: exit 5" {
	need_command flock
	flock m.git/kistore.lock sleep 5 3>&- &
	holder=$!
	until ! flock -n m.git/kistore.lock true; do sleep 0.02; done
	SECONDS=0
	uncosigned 5 --key one.key --wait 0
	err_has 'held by another process'
	[ "$SECONDS" -lt 2 ]
	pkill -P "$holder" || true
	wait "$holder" || true
}

# ---- When the branch goes on -------------------------------------------------------

@test "own cosignatures stay in the notes of before" {
	expect 0 mirror cosign --key one.key
	mirror_note >nine
	next_snapshot
	expect 0 mirror update
	out_has 'kept: own cosignatures of 1 note'
	updated 10
	mirror_note 9 | diff nine -
	mirror_note 10 | diff - <(stored_note)
	[ "$(git -C m.git rev-parse HEAD^)" = "$(upstream rev-parse HEAD)" ]
	expect 0 mirror status --json
	jq -e '.cosignatures == 0' "$OUT"
	expect 0 mirror cosign --key one.key
	mirror_note >ten
	put_new alpha
	snapshot log.key
	expect 0 mirror update --json
	jq -e '.carried == 2 and (.whole | not) and .objects == 1' "$OUT"
	mirror_note 9 | diff nine -
	mirror_note 10 | diff ten -
	mirror_is 11
	# With nothing new nothing is committed again.
	keep_mirror
	expect 0 mirror update
	out_has current
	mirror_kept
}

@test "of several keys, each stays" {
	expect 0 mirror cosign --key one.key
	expect 0 mirror cosign --key two.key
	mirror_note >nine
	[ "$(wc -l <nine)" -eq 7 ]
	expect 0 mirror status
	out_has 'own cosignatures of the newest note: 2'
	next_snapshot
	expect 0 mirror update
	mirror_note 9 | diff nine -
}

@test "they stay where the history is rewritten, by either side" {
	expect 0 mirror cosign --key one.key
	mirror_note >nine
	kistore -q takedown "$PROJECT" --reason law --lines >/dev/null
	snapshot log.key
	expect 0 mirror update
	out_has 'what was taken down is gone'
	updated 10
	mirror_note 9 | diff nine -
	expect 0 mirror cosign --key one.key
	mirror_note >ten
	kistore -q gc --purge >/dev/null
	expect 0 mirror update
	out_has 'the history was rewritten'
	updated 10
	mirror_note 9 | diff nine -
	mirror_note 10 | diff ten -
	commit_on ''
	expect 0 mirror update
	updated 10
	mirror_note 9 | diff nine -
	mirror_note | diff ten -
	[ "$(git -C m.git rev-list --count HEAD)" -eq 2 ]
}

@test "lines of others that the upstream adds stand beside them" {
	expect 0 mirror cosign --key one.key
	mirror_note | tail -n 1 >own
	witness
	cosign
	expect 0 mirror update
	{
		stored_note
		cat own
	} | diff - <(mirror_note)
	out_has 'kept: own cosignatures of 1 note'
	# What the upstream drops again goes, and the own stays.
	stored_note | head -n 5 >note
	publish_note note
	expect 0 mirror update
	cat note own | diff - <(mirror_note)
}

@test "an upstream that took the line in has what the mirror has" {
	expect 0 mirror cosign --key one.key
	cp "$OUT" cosigned
	kistore -q snapshot add-cosignature --key "$(vkey_of one.key 04)" cosigned \
		>/dev/null
	expect 0 mirror update
	out_lacks kept
	[ "$(git -C m.git rev-parse HEAD)" = "$(upstream rev-parse HEAD)" ]
	expect 0 mirror status
	out_has 'own cosignatures of the newest note: 1'
	# One that spoils it, in its signature, does not have its way.
	sed -E '$s/^(— [^ ]+ .{40})A/\1B/;t;$s/^(— [^ ]+ .{40})./\1A/' \
		cosigned >spoilt
	publish_note spoilt
	expect 0 mirror update
	mirror_note | diff cosigned -
	mirror_is 9
}

@test "only cosignatures that verify are kept" {
	expect 0 mirror cosign --key one.key
	mirror_note >good
	{
		head -n 5 good
		text_of good | sed 's/9/8/' | cosignature_line one.key 1787000000
	} >bad
	KISTORE_DIR=$PWD/m.git publish_note bad
	next_snapshot
	expect 0 mirror update
	out_lacks kept
	updated 10
	mirror_note 9 | diff <(head -n 5 good) -
}

@test "a refusal leaves them where they are" {
	expect 0 mirror cosign --key one.key
	fork_log log.key
	refuses fork 1 'entry 7 is the first that differs'
	expect 1 mirror update
	mirror_note | diff - <(git -C m.git cat-file blob HEAD:checkpoints/9)
	[ "$(mirror_note | wc -l)" -eq 6 ]
}

@test "a mirror of the mirror has them, too" {
	expect 0 mirror cosign --key one.key
	kistore -q mirror clone m.git second.git >/dev/null
	MIRROR=second.git mirror_note | diff - <(mirror_note)
	MIRROR=second.git mirror_is 9
	MIRROR=second.git expect 0 mirror cosign --key two.key
	[ "$(MIRROR=second.git mirror_note | wc -l)" -eq 7 ]
}

# ---- Two of two -----------------------------------------------------------------

# Two mirrors of two users cosign, and the maintainer takes both lines in; the
# policy of a third user demands both.
both_cosigned() {
	kistore -q mirror clone --key "$VKEY" demo.git m2.git >/dev/null
	expect 0 mirror cosign --key one.key
	cp "$OUT" first
	MIRROR=m2.git expect 0 env SOURCE_DATE_EPOCH=1787000100 "$KISTORE" \
		-C m2.git mirror cosign --key two.key
	cp "$OUT" second
	kistore -q snapshot add-cosignature --key "$(vkey_of one.key 04)" first \
		>/dev/null
	kistore -q snapshot add-cosignature --key "$(vkey_of two.key 04)" second \
		>/dev/null
	both_policy "$(vkey_of one.key 04)" "$(vkey_of two.key 04)" >policy
	stored_note >cosigned
	[ "$(wc -l <cosigned)" -eq 7 ]
}

both_policy() {
	printf 'log %s\nwitness A %s\nwitness B %s\n' "$VKEY" "$1" "$2"
	printf 'group both all A B\nquorum both\n'
}

# satisfied STATUS: what the policy's user is told of the store, of a citation
# that is made from it, and of a mirror.
satisfied() {
	rm -rf c.git
	expect "$1" third verify --policy policy
	third cite c3252a98 --proof c.json >/dev/null
	expect "$1" third check --policy policy c.json
	expect "$1" third mirror clone --policy policy demo.git c.git
	[ "$1" -eq 0 ] || [ ! -e c.git ]
}

third() {
	XDG_STATE_HOME=$PWD/third kistore "$@"
}

@test "where both have cosigned, who demands both is satisfied, in every command" {
	both_cosigned
	satisfied 0
	expect 0 third verify --policy policy
	out_has 'cosigned by 2, last at 2026-08-17T20:55:00Z'
	expect 0 third check --policy policy c.json
	out_has 'since: 2026-08-17T20:53:20Z at the latest, by a cosignature'
	expect 0 third -C c.git mirror update --policy policy
	expect 0 third -C c.git mirror update
	# Both mirrors, with the other's line as well.
	for store in m.git m2.git; do
		MIRROR=$store expect 0 mirror update --policy policy
		MIRROR=$store mirror_note | sort | diff <(sort cosigned) -
		expect 0 third -C $store verify --policy policy
	done
	# A snapshot file has no cosignatures (S12): no quorum is met by it.
	kistore -q snapshot export -o s.kistore >/dev/null
	expect 6 third snapshot verify s.kistore --policy policy
	out_has 'untrusted key: 0 of the 2 members of both have cosigned, and the policy demands 2'
}

@test "with one line removed it does not hold" {
	both_cosigned
	for line in 6 7; do
		sed "${line}d" cosigned >note
		publish_note note
		satisfied 6
		says 'untrusted key' '1 of the 2 members of both have cosigned, and the policy demands 2'
	done
	# A mirror keeps what it has, and its own line does not count twice.
	MIRROR=m2.git refuses_policy
}

refuses_policy() {
	keep_state m2.git
	MIRROR=m2.git expect 6 mirror update --policy policy
	says 'untrusted key' '1 of the 2 members of both have cosigned'
	state_of m2.git | grep -v '^kistore-mirror ' |
		diff <(grep -v '^kistore-mirror ' state.m2.git) -
}

@test "with one line twice it does not hold" {
	both_cosigned
	for line in 6 7; do
		{
			head -n 5 cosigned
			sed -n "${line}p;${line}p" cosigned
		} >note
		publish_note note
		satisfied 6
		says 'untrusted key' '1 of the 2 members of both have cosigned'
	done
}

@test "nor with a second line of one key, of another time" {
	both_cosigned
	{
		sed '$d' cosigned
		text_of cosigned | cosignature_line one.key 1787000200
	} >note
	publish_note note
	satisfied 6
	says 'untrusted key' '1 of the 2 members of both have cosigned'
}

@test "with one key under both names it does not hold" {
	both_cosigned
	# In the note: a line under the other's name by the first's key.
	sed 's/^Name: .*/Name: two.example\/m/' one.key >renamed.key
	{
		sed '$d' cosigned
		text_of cosigned | cosignature_line renamed.key 1787000100
	} >note
	publish_note note
	satisfied 6
	says 'untrusted key' '1 of the 2 members of both have cosigned'
	# In the policy, too: one public key is one witness, whatever it is called.
	both_policy "$(vkey_of one.key 04)" "$(vkey_of renamed.key 04)" >policy
	for command in 'verify' 'check c.json' 'mirror clone demo.git c.git' \
		'-C m.git mirror update'; do
		# shellcheck disable=SC2086 # words
		expect 2 third $command --policy policy
		err_has 'the policy: line 3: the public key stands in the policy already, and one key counts once'
		silent_out
	done
	[ ! -e c.git ]
}

@test "with one key in two encodings it does not hold" {
	both_cosigned
	satisfied 0
	first=$(vkey_of one.key 04)
	# Digits in upper case, padding, a blank, and as the key of a log.
	for again in "${first/+"$(id_of one.key 04)"+/+"$(id_of one.key 04 |
		tr 'a-f' 'A-F')"+}" "$first=" "${first/+/ +}" "$first" \
		"$(vkey_of one.key 01)"; do
		both_policy "$first" "$again" >policy
		expect 2 third verify --policy policy
		silent_out
		expect 2 third mirror clone --policy policy demo.git d.git
		[ ! -e d.git ]
	done
}

@test "with a line by another key under the same name it does not hold" {
	both_cosigned
	make_key forger two.example/m
	{
		sed '$d' cosigned
		text_of cosigned | cosignature_line forger.key 1787000100
	} >note
	publish_note note
	satisfied 6
	says 'untrusted key' '1 of the 2 members of both have cosigned'
	# Under the other's key id, too: then the line is one that does not verify.
	{
		sed '$d' cosigned
		text_of cosigned | cosignature_line forger.key 1787000100 |
			reidentify "$(id_of two.key 04)"
	} >note
	publish_note note
	satisfied 1
	says forged 'does not verify (N2)'
}

@test "a mirror that has a note by its key is not behind a policy that wants more" {
	witness
	cosign
	next_snapshot
	expect 0 mirror update
	policy_file 'quorum W' >policy
	refuses 'untrusted key' 6 'its newest note was accepted before, and what is trusted now, another key or a policy, accepts 9 entries' \
		--policy policy
	cosign
	expect 0 mirror update --policy policy
	updated 10
}

# reidentify ID: signature lines, with this id.
reidentify() {
	local dash name sig
	read -r dash name sig
	printf '%s %s %s\n' "$dash" "$name" "$({
		bytes_of_hex "$1"
		base64 -d <<<"$sig" | tail -c +5
	} | base64 -w0)"
}

@test "nor with a line over another text, or of the log's type" {
	both_cosigned
	{
		sed '$d' cosigned
		text_of cosigned | sed 's/9/8/' | cosignature_line two.key 1787000100
	} >note
	publish_note note
	satisfied 1
	says forged 'does not verify (N2)'
	{
		sed '$d' cosigned
		text_of cosigned | signature_line two.key
	} >note
	publish_note note
	satisfied 6
	says 'untrusted key' '1 of the 2 members of both have cosigned'
}

@test "the next note is not cosigned yet, and the mirror of such a user waits" {
	both_cosigned
	third mirror clone --policy policy demo.git c.git >/dev/null
	next_snapshot
	expect 6 third -C c.git mirror update
	says 'untrusted key' '0 of the 2 members of both have cosigned'
	MIRROR=c.git mirror_is 9
	for pair in 'm.git one' 'm2.git two'; do
		read -r store key <<<"$pair"
		MIRROR=$store expect 0 mirror update
		MIRROR=$store expect 0 mirror cosign --key "$key.key"
		cp "$OUT" line
		kistore -q snapshot add-cosignature \
			--key "$(vkey_of "$key.key" 04)" line >/dev/null
	done
	expect 0 third -C c.git mirror update
	MIRROR=c.git mirror_is 10
}
