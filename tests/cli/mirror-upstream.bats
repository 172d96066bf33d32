#!/usr/bin/env bats
# What an upstream may do to those who follow it, and what becomes of it: each is
# a verdict of its own, and the mirror stays as it was (store-layout.md M1, M2, M6
# to M9, N6, N16). What goes well is in mirror.bats, cosignatures in
# mirror-cosign.bats.

load ../lib/common
load ../lib/store
load ../lib/sign
load ../lib/hostile
load ../lib/upstream

prepare() {
	mirrored_store
}

# ---- An older log ------------------------------------------------------------

# bats test_tags=valgrind
@test "an upstream that was set back is a rollback" {
	next_snapshot
	expect 0 mirror update
	updated 10
	upstream_back 2
	refuses rollback 1 'older than what was accepted before: 9 entries are signed, 10 were then (N6)'
}

@test "a rollback is one though nothing but the mirror remembers what was" {
	next_snapshot
	expect 0 mirror update
	upstream_back 2
	forget
	refuses rollback 1 '9 entries are signed, 10 were then' --key "$VKEY"
	[ ! -e "$(state_file accepted)" ]
}

@test "an unsigned tail, or a note of nobody, on top does not hide a rollback" {
	next_snapshot
	expect 0 mirror update
	upstream_back 2
	unsigned_tail
	refuses_too rollback 1 '9 entries are signed, 10 were then'
	append "$(key_entry "$THIEF")"
	sign_by_hand thief.key
	refuses rollback 1 '9 entries are signed, 10 were then'
}

@test "an older checkpoint that is put back over the newest" {
	next_snapshot
	stored_note 9 >nine
	replace checkpoint nine
	# To who has not seen the newest it is the tail of an older one.
	expect 0 mirror update
	grep -q '^current: ' "$OUT"
	grep -q '^left: 1 entry after the snapshot' "$OUT"
	mirror_is 9
	upstream_back 1
	expect 0 mirror update
	updated 10
	replace checkpoint nine
	refuses rollback 1 '9 entries are signed, 10 were then'
}

@test "an upstream without its notes is no store that was never signed" {
	remove checkpoint checkpoints/9
	refuses rollback 1 '0 entries are signed, 9 were then'
}

@test "behind what another clone has accepted, but not behind the mirror: stale" {
	next_snapshot
	clone_mirror other.git
	upstream_back 2
	refuses_too stale 1 '9 entries are signed, 10 were then'
	# The same where there is something to fetch.
	echo licence >file
	replace LICENSE file
	refuses stale 1 '9 entries are signed, 10 were then'
	clone_refuses stale 1 '9 entries are signed, 10 were then' --key "$VKEY"
	forget
	expect 0 mirror update --key "$VKEY"
	updated 9
}

# ---- Another log -------------------------------------------------------------

# evidence_of_fork: what the last refusal left, with both notes and a proof that
# leads to neither.
evidence_of_fork() {
	local evidence
	expect 1 mirror update
	evidence=$(sed -n 's/^evidence: //p' "$OUT")
	case $evidence in "$XDG_STATE_HOME"/kistore/forks/*) ;; *) return 1 ;; esac
	[ "$(stat -c %a "$evidence")" = 600 ]
	sed '1,/^== accepted before$/d;/^== now$/,$d' "$evidence" |
		sed '1d;$d' >seen
	sed '1,/^== now$/d;/^== the /,$d' "$evidence" | sed '1d;$d' >now
	git -C m.git cat-file blob HEAD:checkpoint | diff - seen
	stored_note | diff - now
	[ "$(sed -n 2p seen)" = "$(sed -n 2p now)" ] || {
		sed '1,/^== (RFC/d' "$evidence" | sed '1d' >failing
		fails consistent seen now <failing
	}
	expect 1 mirror update --json
	jq -e --arg evidence "$evidence" '.signature.evidence == $evidence
		and .signature.verdict == "fork"' "$OUT"
}

@test "a log that forked is refused, with evidence and where it differs" {
	fork_log log.key
	[ "$(log_lines | wc -l)" -eq 10 ]
	refuses fork 1 'its first 9 entries were others then (N6); entry 7 is the first that differs from this mirror'"'s"
	evidence_of_fork
	accepted_note | sed -n 2p | grep -qx 9
}

@test "so is one of the same size" {
	{
		log_lines | sed 8d
		annotate_entry "$PROJECT" stolen
		echo
	} >forked
	replace "$SEGMENT" forked
	remove "$(object_path "$RUN")"
	drop_tags
	sign_by_hand log.key
	refuses fork 1 'entry 7 is the first that differs'
	evidence_of_fork
}

@test "a fork is one though nothing but the mirror remembers what was" {
	forget
	fork_log log.key
	refuses fork 1 'entry 7 is the first that differs' --key "$VKEY"
	expect 1 mirror update --key "$VKEY"
	[ -f "$(sed -n 's/^evidence: //p' "$OUT")" ]
}

@test "a fork of what another clone has accepted: refused, and so are clones" {
	next_snapshot
	clone_mirror other.git
	upstream_back 2
	append "$(retract_entry "$WORKLOAD" stolen)"
	sign_by_hand log.key
	refuses fork 1 'its first 10 entries were others then'
	clone_refuses fork 1 'its first 10 entries were others then' --key "$VKEY"
	[ "$(find "$XDG_STATE_HOME/kistore/forks" -type f | wc -l)" -eq 1 ]
}

@test "a store of another origin, signed by a key that is trusted for it, too" {
	(
		kistore init --origin "$OTHER" second.git >/dev/null
		use_store second.git
		kistore -q put "$SEEDS"/*.json >/dev/null
		snapshot other.key --first
		next_snapshot_of other.key
		pin "$(<other.vkey)"
	)
	mv demo.git first.git
	mv second.git demo.git
	refuses 'wrong origin' 1 "its origin is \"$OTHER\", and this is a mirror of \"$ORIGIN\""
	refuses 'wrong origin' 1 "$OTHER" --key other.vkey
	[ -f "$(state_file accepted "$OTHER")" ]
}

next_snapshot_of() {
	kistore -q retract "$RUN" --reason wrong >/dev/null
	snapshot "$1"
}

@test "a store that names another origin, or none" {
	printf '{"format":"kistore/1","origin":"%s"}' "$OTHER" >json
	replace store.json json
	refuses 'wrong origin' 1 "its origin is \"$OTHER\""
	printf '{"format":"kistore/1"}' >json
	replace store.json json
	refuses 'wrong origin' 1 'its origin is ""'
}

@test "a note of the key for another origin" {
	hand_note log.key "$OTHER" 9 >note
	publish_note note
	refuses 'wrong origin' 1 "the key of $ORIGIN signed this for the origin $OTHER (S3)"
	clone_refuses 'wrong origin' 1 "signed this for the origin $OTHER" --key "$VKEY"
}

# ---- Lines that are not those that were signed --------------------------------

@test "a line that was dropped, the note kept: mismatch" {
	log_lines >all
	for n in 1 3 8; do
		sed "${n}d" all >lines
		replace "$SEGMENT" lines
		refuses_too mismatch 1 "9 entries are signed, and the log has fewer (S2); entry $((n - 1)) is the first that differs"
	done
	sed '$d' all >lines
	replace "$SEGMENT" lines
	refuses mismatch 1 '9 entries are signed, and the log has fewer (S2)'
	clone_refuses mismatch 1 'the log has fewer (S2)' --key "$VKEY"
}

@test "a line that was dropped, and another put in its place" {
	{
		log_lines | sed 8d
		retract_entry "$WORKLOAD"
		echo
	} >lines
	replace "$SEGMENT" lines
	refuses mismatch 1 'the first 9 entries of the log are not those that were signed (S1); entry 7 is the first that differs'
}

@test "lines in another order" {
	log_lines | sed '4{h;d};5G' >lines
	replace "$SEGMENT" lines
	refuses mismatch 1 'entry 3 is the first that differs'
}

@test "metadata of an old entry that was changed, the note kept: mismatch" {
	log_lines | sed 's/transformers/transmuters/' >lines
	replace "$SEGMENT" lines
	refuses mismatch 1 'the first 9 entries of the log are not those that were signed (S1); entry 4 is the first that differs'
	clone_refuses mismatch 1 'not those that were signed (S1)' --key "$VKEY"
}

@test "the same beside new entries that are signed" {
	next_snapshot
	log_lines | sed 's/transformers/transmuters/' >lines
	replace "$SEGMENT" lines
	refuses mismatch 1 'the first 10 entries of the log are not those that were signed (S1); entry 4 is the first that differs'
}

# A log of more than one segment: 300 records.
long_store() {
	once long sign_long_store
	use_store demo.git
	VKEY=$(<log.vkey)
	rm -rf m.git
	forget
	clone_mirror m.git
}

sign_long_store() {
	signed_store
	for n in {1..300}; do
		manifest "number-$n"
		echo
	done >many.jsonl
	kistore -q put many.jsonl >/dev/null
	snapshot log.key
}

@test "changed metadata in a segment that is not the last, and in the last" {
	long_store
	mirror_is 309
	for n in 20 256 257 300; do
		path=log/000/00$(((n - 1) / 256)).jsonl
		upstream cat-file blob "HEAD:$path" |
			sed "$(((n - 1) % 256 + 1))s/\"number-/\"no-/" >lines
		replace "$path" lines
		refuses_too mismatch 1 "the first 309 entries of the log are not those that were signed (S1); entry $((n - 1)) is the first that differs"
		upstream_back 1
	done
	mirror_is 309
}

@test "a segment that is gone" {
	long_store
	for path in log/000/000.jsonl log/000/001.jsonl; do
		remove "$path"
		refuses_too mismatch 1 ''
		upstream_back 1
	done
	mirror_is 309
}

# ---- Objects -----------------------------------------------------------------

# what_is_new: a record and a snapshot that the mirror has not yet.
what_is_new() {
	put_new alpha
	snapshot log.key
}

@test "another object's frame at the address of one that the mirror has: damaged" {
	frame_of "$PROJECT" >frame
	replace "$(object_path "$RUN")" frame
	refuses damaged 1 "1 damaged, 0 absent: $(object_path "$RUN"): "
	expect 1 mirror update
	err_has "kistore: $(object_path "$RUN"): "
	clone_refuses damaged 1 "$(object_path "$RUN")" --key "$VKEY"
}

@test "the same of one that is new" {
	what_is_new
	frame_of "$PROJECT" >frame
	replace "$(object_path "$NEW")" frame
	refuses damaged 1 "1 damaged, 0 absent: $(object_path "$NEW"): "
}

@test "a frame of other bytes, at either address: damaged" {
	what_is_new
	printf 'other bytes' | zstd -qc >frame
	for digest in "$RUN" "$NEW"; do
		replace "$(object_path "$digest")" frame
		refuses_too damaged 1 "1 damaged, 0 absent: $(object_path "$digest"): "
		upstream_back 1
	done
}

@test "what is no frame, cut short, or has one bit changed: damaged" {
	what_is_new
	frame_of "$NEW" >frame
	head -c -3 frame >short
	flip 30 <frame >flipped
	printf garbage >junk
	: >empty
	for bad in short flipped junk empty; do
		replace "$(object_path "$NEW")" "$bad"
		refuses_too damaged 1 "1 damaged, 0 absent: $(object_path "$NEW"): "
		upstream_back 1
	done
	expect 0 mirror update
	updated 10
}

@test "another frame of the same bytes is no damage" {
	frame_of "$RUN" | zstd -dqc >body
	zstd -qc -19 --no-check body >frame
	replace "$(object_path "$RUN")" frame
	expect 0 mirror update --json
	jq -e '.verdict == "updated" and .whole and .objects == 7' "$OUT"
	mirror_is 9
}

@test "an object that the mirror has, deleted without a takedown: incomplete" {
	remove "$(object_path "$RUN")"
	refuses incomplete 1 "1 absent: $(object_path "$RUN"): published in the log but not in the tree (T12)"
	clone_refuses incomplete 1 "1 absent: $(object_path "$RUN")" --key "$VKEY"
}

@test "a new object that is not there: incomplete" {
	what_is_new
	remove "$(object_path "$NEW")"
	refuses incomplete 1 "1 absent: $(object_path "$NEW"): published in the log but not in the tree (T12)"
}

@test "a takedown that nobody signed does not excuse it" {
	append "$(takedown_entry "$RUN")"
	remove "$(object_path "$RUN")"
	expect 0 mirror update
	grep -q '^left: 1 entry after the snapshot, not signed yet$' "$OUT"
	git -C m.git cat-file -e "HEAD:$(object_path "$RUN")"
	mirror_is 9
	sign_by_hand thief.key
	keep_mirror
	try mirror update
	[ "$status" -eq 1 ]
	mirror_kept
}

@test "damage and absence at once are both counted" {
	printf garbage >junk
	replace "$(object_path "$RUN")" junk
	remove "$(object_path "$PROJECT")"
	refuses damaged 1 '1 damaged, 1 absent: '
	expect 1 mirror update --json
	jq -e '.damaged == 1 and .absent == 1 and .whole' "$OUT"
	[ "$(wc -l <"$ERR")" -eq 2 ]
}

@test "a new object that the log does not publish: damaged" {
	printf 'stray' >stray
	digest=sha256:$(sha256sum <stray | cut -c1-64)
	zstd -qc stray >frame
	replace "$(object_path "$digest")" frame
	refuses damaged 1 "$(object_path "$digest"): not published in the log (T12)"
	append "$(retract_entry "$RUN")"
	sign_by_hand log.key
	refuses_too damaged 1 "$(object_path "$digest"): not published in the log (T12)"
}

@test "of many faults the first is told in the verdict, and twenty by themselves" {
	long_store
	printf garbage >junk
	upstream ls-tree -r --name-only HEAD objects/ | head -n 30 >paths
	while read -r path; do file_change "$path" junk; done <paths | change
	refuses damaged 1 "30 damaged, 0 absent: $(head -n 1 paths): "
	expect 1 mirror update
	[ "$(wc -l <"$ERR")" -eq 20 ]
}

# ---- A tail that is passed off as signed ---------------------------------------

# The note that the key signed of ten entries, to `ten`, and those in `lines`;
# the upstream is back at nine.
ten_entries() {
	next_snapshot
	stored_note >ten
	log_lines >lines
	upstream_back 2
}

note_of_ten() {
	file_change checkpoint ten
	file_change checkpoints/10 ten
}

ten_of_eleven() {
	note_of_ten
	file_change "$SEGMENT" lines
}

@test "a snapshot commit whose log is longer than its note says: false tail" {
	ten_entries
	retract_entry "$WORKLOAD" >>lines
	echo >>lines
	commit_on HEAD ten_of_eleven
	refuses 'false tail' 1 'its newest note is of 10 entries, but no commit has that note and a log of 10: what follows is passed off as signed (S3)'
	clone_refuses 'false tail' 1 'no commit has that note' --key "$VKEY"
}

@test "the note came when the log was longer already: false tail" {
	ten_entries
	commit_on HEAD file_change "$SEGMENT" lines
	retract_entry "$WORKLOAD" >>lines
	echo >>lines
	commit_on HEAD file_change "$SEGMENT" lines
	commit_on HEAD note_of_ten
	[ "$(log_lines | wc -l)" -eq 11 ]
	refuses 'false tail' 1 'its newest note is of 10 entries'
}

@test "a checkpoint of an older size, and no commit with that log: false tail" {
	unsigned_tail
	commit_on ''
	[ "$(upstream rev-list --count HEAD)" -eq 1 ]
	refuses 'false tail' 1 'its newest note is of 9 entries, but no commit has that note and a log of 9'
}

@test "a tail after a snapshot that has it in the same commit, and goes on" {
	ten_entries
	retract_entry "$WORKLOAD" >>lines
	echo >>lines
	commit_on HEAD ten_of_eleven
	append "$(retract_entry "$PROJECT")"
	refuses 'false tail' 1 'its newest note is of 10 entries'
}

@test "an honest tail is counted and left" {
	unsigned_tail
	expect 0 mirror update
	grep -q "^current: $ORIGIN, nothing is new\$" "$OUT"
	grep -q '^left: 3 entries after the snapshot, not signed yet$' "$OUT"
	mirror_is 9
	expect 0 mirror update --json
	jq -e '.verdict == "current" and .unsignedTail == 3 and .size == 9 and
		(.changed | not)' "$OUT"
	expect 0 mirror status
	grep -q '^left: 3 entries' "$OUT"
	[ "$(git -C m.git cat-file blob "HEAD:$SEGMENT" | wc -l)" -eq 9 ]
}

@test "a snapshot and a tail after it: the one is taken, the other left" {
	next_snapshot
	unsigned_tail
	expect 0 mirror update --json
	jq -e '.verdict == "updated" and .unsignedTail == 3 and .size == 10 and
		.before == 9 and .changed' "$OUT"
	mirror_is 10
	[ "$(git -C m.git cat-file blob "HEAD:$SEGMENT" | wc -l)" -eq 10 ]
	[ "$(git -C m.git rev-parse HEAD)" = "$(upstream rev-parse HEAD~1)" ]
	clone_mirror c.git
	[ "$(git -C c.git rev-parse HEAD)" = "$(upstream rev-parse HEAD~1)" ]
}

@test "what the tail adds to the tree is not taken either" {
	put_new alpha
	expect 0 mirror update
	fails git -C m.git cat-file -e "HEAD:$(object_path "$NEW")"
	frame=$(upstream rev-parse "HEAD:$(object_path "$NEW")")
	fails git -C m.git cat-file -e "$frame"
}

# ---- Keys --------------------------------------------------------------------

@test "a thief who names his own key in the log: untrusted key" {
	append "$(key_entry "$THIEF")" "$(retract_entry "$RUN")"
	sign_by_hand thief.key
	refuses 'untrusted key' 6 "the note of size 11 is signed by $ORIGIN+$(id_of thief.key): no key that is trusted"
	clone_refuses 'untrusted key' 6 'no key that is trusted' --key "$VKEY"
}

@test "the log re-signed by another key from its beginning: untrusted key" {
	log_lines | head -n 8 >lines
	{
		key_entry "$THIEF"
		echo
		retract_entry "$RUN"
		echo
	} >>lines
	replace "$SEGMENT" lines
	remove checkpoints/9
	drop_tags
	sign_by_hand thief.key
	refuses 'untrusted key' 6 "the note of size 10 is signed by $ORIGIN+$(id_of thief.key)"
}

@test "a note of another key than the log names is damage, not distrust alone" {
	stored_note >old
	text_of old >text
	note_of text signature_line thief.key >note
	publish_note note
	refuses damaged 1 "is not signed by $ORIGIN+$(id_of log.key), the key that the log names in entry 8 (S3)"
}

@test "a signature that does not verify: forged" {
	stored_note >note
	{
		text_of note
		echo
		text_of note | sed 's/9/8/' | signature_line log.key
	} >bad
	publish_note bad
	refuses forged 1 "the signature of $ORIGIN+$(id_of log.key) does not verify (N2)"
	clone_refuses forged 1 'does not verify (N2)' --key "$VKEY"
}

@test "a key that is revoked: its last good note is the last that counts" {
	stored_note >last
	next_snapshot
	refuses 'revoked key' 6 'is revoked: its notes count up to size 9, and this one has 10 (N10)' \
		--key "$VKEY" --revoked last
	expect 0 mirror update
	updated 10
}

@test "a user who trusts another key: untrusted key, though nothing is new" {
	refuses 'untrusted key' 6 'no key that is trusted' --key "$THIEF"
	clone_refuses 'untrusted key' 6 'no key that is trusted' --key "$THIEF"
}

@test "a policy whose quorum has not cosigned: untrusted key" {
	witness
	policy_file 'quorum W' >policy
	next_snapshot
	refuses 'untrusted key' 6 'the witness W has not cosigned, which the policy demands' \
		--policy policy
	clone_refuses 'untrusted key' 6 'the witness W has not cosigned' --policy policy
}

@test "without a pin and without a key nothing is trusted" {
	forget
	refuses 'not trusted' 6 'no key is trusted for its origin, "archive.example/log": name one that you have from elsewhere (--key or --policy), or be the user who pinned one'
	clone_refuses 'not trusted' 6 'no key is trusted for its origin'
	[ ! -e "$XDG_STATE_HOME/kistore" ]
}

@test "a store that nobody signed" {
	kistore init --origin "$ORIGIN" plain.git >/dev/null
	kistore -q -C plain.git put "$SEEDS"/*.json >/dev/null
	mv demo.git signed.git
	mv plain.git demo.git
	forget
	clone_refuses unsigned 6 'nothing is signed' --key "$VKEY"
	refuses rollback 1 '0 entries are signed, 9 were then' --key "$VKEY"
}

# ---- What is not delivered -----------------------------------------------------

half() {
	refuses half-updated 5 'it does not deliver what its HEAD leads to (try again later: it is being updated, is damaged, or the transfer broke off): git fetch failed: '
}

# One pack for all, which the name $PACK stands for.
one_pack() {
	upstream repack -adq
	PACK=$(echo demo.git/objects/pack/*.pack)
	chmod u+w "$PACK"
}

@test "a pack that is cut short: half-updated" {
	next_snapshot
	one_pack
	size=$(stat -c %s "$PACK")
	for keep in $((size - 21)) $((size / 2)) 20; do
		truncate -s "$keep" "$PACK"
		refuses_too half-updated 5 'git fetch failed: '
	done
	clone_refuses half-updated 5 'git fetch failed: ' --key "$VKEY"
}

@test "a pack in which one bit is wrong: half-updated" {
	what_is_new
	one_pack
	cp "$PACK" whole
	at=$(git show-index <"${PACK%.pack}.idx" | awk -v id="$(upstream \
		rev-parse "HEAD:$(object_path "$NEW")")" '$2 == id { print $1 }')
	flip $((at + 30)) <whole >"$PACK"
	half
	cp whole "$PACK"
	expect 0 mirror update
	updated 10
}

@test "a pack that is gone, or without its index" {
	next_snapshot
	one_pack
	mv "$PACK" pack
	half
	mv pack "$PACK"
	mv "${PACK%.pack}.idx" index
	half
}

@test "a loose object that is cut short, empty or gone" {
	what_is_new
	upstream_loose
	file=$(loose_file "HEAD:$(object_path "$NEW")")
	cp "$file" whole
	chmod u+w "$file"
	head -c -5 whole >"$file"
	half
	: >"$file"
	refuses_too half-updated 5 'git fetch failed: '
	rm "$file"
	refuses_too half-updated 5 'git fetch failed: '
	cp whole "$file"
	expect 0 mirror update
	updated 10
}

@test "a tree, a commit or the log that is not there" {
	next_snapshot
	upstream_loose
	for rev in HEAD 'HEAD^{tree}' HEAD~1 HEAD:log "HEAD:$SEGMENT" \
		HEAD:checkpoint; do
		file=$(loose_file "$rev")
		mv "$file" kept
		try mirror update
		[ "$status" -eq 5 ] || { cat "$OUT" "$ERR"; return 1; }
		grep -Eq '^refused: (half-updated|unreachable): ' "$OUT"
		mv kept "$file"
	done
	mirror_is 9
	expect 0 mirror update
	updated 10
}

@test "what the mirror has needs not be delivered" {
	next_snapshot
	upstream_loose
	rm -f "$(loose_file "HEAD:$(object_path "$RUN")")"
	expect 0 mirror update
	updated 10
}

@test "a shallow clone, or history that is cut off by a graft" {
	next_snapshot
	mv demo.git full.git
	git clone -q --bare --depth 2 "file://$PWD/full.git" demo.git
	refuses half-updated 5 'its HEAD leads to no commit that comes with all of its history (is it a shallow clone?)'
	clone_refuses half-updated 5 'all of its history' --key "$VKEY"
	rm -rf demo.git
	mv full.git demo.git
	upstream rev-parse HEAD >demo.git/info/grafts
	half
	[ ! -e m.git/shallow ]
}

@test "an address where nobody answers: unreachable" {
	mv demo.git gone.git
	refuses unreachable 5 "does not appear to be a git repository"
	clone_refuses unreachable 5 'git ls-remote failed: fatal: ' --key "$VKEY"
	mv gone.git demo.git
	expect 0 mirror update
	grep -q '^current: ' "$OUT"
	expect 0 mirror status
}

@test "a server where nobody listens: unreachable" {
	for url in http://127.0.0.1:1/log.git git://127.0.0.1:1/log.git; do
		expect 5 kistore mirror clone --key "$VKEY" "$url" c.git
		says unreachable 'git ls-remote failed: '
		[ ! -e c.git ]
	done
}

# ---- What is no store ----------------------------------------------------------

@test "a repository that is empty, or whose HEAD has no commit: unsigned" {
	upstream symbolic-ref HEAD refs/heads/unborn
	refuses_too unsigned 6 'it has no HEAD: nothing was committed there yet'
	# Other names that end in HEAD are not it.
	upstream update-ref refs/remotes/origin/HEAD main
	upstream update-ref refs/heads/HEAD main
	refuses_too unsigned 6 'it has no HEAD'
	rm -rf demo.git
	git init -q --bare demo.git
	refuses unsigned 6 'it has no HEAD'
	clone_refuses unsigned 6 'it has no HEAD' --key "$VKEY"
}

@test "a repository that is no store" {
	rm -rf demo.git
	git init -q demo.git
	upstream commit -q --allow-empty -m nothing
	refuses 'not a store' 3 'its newest commit has no store.json (T1)'
	clone_refuses 'not a store' 3 'store.json (T1)' --key "$VKEY"
	echo text >demo.git/file
	upstream add file
	upstream commit -q -m something
	refuses 'not a store' 3 'store.json (T1)'
}

@test "a HEAD that leads to no commit" {
	for id in "$(upstream rev-parse HEAD:store.json)" \
		"$(upstream rev-parse 'HEAD^{tree}')"; do
		echo "$id" >demo.git/refs/heads/main
		refuses_too half-updated 5 'its HEAD leads to no commit'
	done
	mirror_is 9
}

@test "a detached HEAD, and a branch of another name, are followed" {
	next_snapshot
	head=$(upstream rev-parse HEAD)
	echo "$head" >demo.git/HEAD
	expect 0 mirror update
	updated 10
	[ "$(git -C m.git symbolic-ref HEAD)" = refs/heads/main ]
	echo 'ref: refs/heads/trunk' >demo.git/HEAD
	upstream branch -m main trunk
	kistore -q annotate "$PROJECT" --metadata - <<<'{"name":"again"}' >/dev/null
	snapshot log.key
	expect 0 mirror update
	updated 11
	[ "$(git -C m.git symbolic-ref HEAD)" = refs/heads/main ]
}

@test "a store of a newer format: unsupported" {
	for text in '{"format":"kistore/2"}' \
		'{"format":"kistore/1","hash":"sha512"}'; do
		printf %s "$text" >json
		replace store.json json
		refuses_too unsupported 8 'store.json: '
		upstream_back 1
	done
	replace store.json json
	refuses unsupported 8 'store.json: '
	clone_refuses unsupported 8 'store.json: ' --key "$VKEY"
}

@test "an entry that only a newer version knows: unsupported" {
	append "{\"at\":\"$AT\",\"op\":\"bless\"}"
	sign_by_hand log.key
	refuses unsupported 8 "$SEGMENT:10"
	clone_refuses unsupported 8 "$SEGMENT:10" --key "$VKEY"
}

@test "a store.json that is malformed, or no file: damaged" {
	for text in '' '{' '{"format": "kistore/1"}' '[]'; do
		printf %s "$text" >json
		replace store.json json
		refuses_too damaged 1 'store.json'
		upstream_back 1
	done
	change <<<"M 040000 $(upstream rev-parse HEAD:log) store.json"
	refuses damaged 1 'store.json'
}

@test "a log that is no log: damaged, and not an error of git" {
	printf x >file
	for path in log log/000 log/stray; do
		replace "$path" file
		refuses_too damaged 1 'is a blob, not a tree'
		upstream_back 1
	done
	change <<<"M 160000 $(upstream rev-parse HEAD) log"
	refuses_too damaged 1 'is a commit, not a tree'
	upstream_back 1
	replace "$SEGMENT" file
	refuses_too mismatch 1 'the log has fewer (S2)'
	upstream_back 1
	remove "$SEGMENT"
	refuses damaged 1 'log: is not in the tree'
}

@test "a log of which the end alone is one is a tail, of as many entries as it says" {
	retract_entry "$RUN" >line
	echo >>line
	replace log/001/000.jsonl line
	expect 0 mirror update
	grep -q '^current: ' "$OUT"
	grep -q '^left: 65528 entries after the snapshot, not signed yet$' "$OUT"
	mirror_is 9
}

@test "what is beyond a limit: damaged" {
	head -c 16777217 /dev/zero >file
	replace "$SEGMENT" file
	refuses_too damaged 1 'more than the 16777216 allowed'
	upstream_back 1
	head -c 1000001 /dev/zero >file
	replace checkpoint file
	try mirror update
	[ "$status" -eq 1 ]
	grep -q '^refused: ' "$OUT"
	replace store.json file
	refuses damaged 1 'more than the 65536 allowed'
}

# ---- Names and modes -----------------------------------------------------------

@test "modes other than those of T3, where the store is: damaged" {
	blob=$(upstream rev-parse "HEAD:$(object_path "$RUN")")
	head=$(upstream rev-parse HEAD)
	link=$(printf /etc/passwd | upstream hash-object -w --stdin)
	for entry in "100755 $blob" "120000 $link" "160000 $head"; do
		change <<<"M $entry $(object_path "$RUN")"
		refuses_too damaged 1 "$(object_path "$RUN"): "
		upstream_back 1
	done
	for path in store.json "$SEGMENT" checkpoint checkpoints/9; do
		blob=$(upstream rev-parse "HEAD:$path")
		for entry in "100755 $blob" "120000 $link"; do
			change <<<"M $entry $path"
			try mirror update
			[ "$status" -eq 1 ] || { cat "$OUT" "$ERR"; return 1; }
			grep -q '^refused: ' "$OUT"
			upstream_back 1
		done
	done
	mirror_is 9
}

@test "a link or a submodule for a directory of the store: damaged" {
	head=$(upstream rev-parse HEAD)
	link=$(printf /etc | upstream hash-object -w --stdin)
	for path in objects objects/c log/000 checkpoints dictionaries \
		dictionaries/x objects/sub; do
		for entry in "120000 $link" "160000 $head"; do
			change <<<"M $entry $path"
			try mirror update
			[ "$status" -eq 1 ] || { cat "$path" "$OUT" "$ERR"; return 1; }
			grep -Eq '^refused: (damaged|rollback|mismatch): ' "$OUT"
			upstream_back 1
		done
	done
	mirror_is 9
}

@test "what the store does not use is taken as it is, and nothing it names is read" {
	link=$(printf '/etc/passwd' | upstream hash-object -w --stdin)
	{
		printf 'M 120000 %s LICENSE\n' "$link"
		printf 'M 160000 %s sub\n' "$(upstream rev-parse HEAD)"
		printf 'M 100755 %s run-me\n' "$link"
	} | change
	expect 0 mirror update
	updated 9
	git -C m.git ls-tree HEAD | grep -q '^120000 .*	LICENSE$'
	expect 0 kistore -C m.git verify
	out_has 'LICENSE is not covered'
}

@test "names that git would not check out are not taken in, wherever they are" {
	echo x >file
	for path in .git/config src/.git src/.GIT/hooks/post-checkout 'src/git~1' \
		objects/.git $'src/.g\xe2\x80\x8cit'; do
		replace "$path" file
		refuses_too damaged 1 'hasDotgit'
		upstream_back 1
	done
	replace src/.git file
	refuses damaged 1 "contains '.git'"
	clone_refuses damaged 1 'hasDotgit' --key "$VKEY"
	printf '[submodule "x"]\n\turl = -u./x\n\tpath = x\n' >file
	upstream_back 1
	replace .gitmodules file
	refuses_too damaged 1 'gitmodulesUrl'
}

@test "trees that are out of form are not taken in" {
	blob=$(upstream rev-parse HEAD:store.json | sed 's/../\\x&/g')
	for tree in "100644 b\\0${blob}100644 a\\0$blob" \
		"100644 a\\0${blob}100644 a\\0$blob" \
		"100644 ..\\0$blob" "100644 .\\0$blob"; do
		# shellcheck disable=SC2059 # it is one
		id=$(printf "$tree" | upstream hash-object -t tree -w --stdin \
			--literally)
		root=$({
			upstream ls-tree HEAD
			printf '040000 tree %s\tsub\n' "$id"
		} | upstream mktree)
		upstream update-ref HEAD "$(upstream commit-tree -p HEAD -m x \
			"$root")"
		refuses_too damaged 1 'git fetch failed: error: object '
		upstream_back 1
	done
}

# ---- References ----------------------------------------------------------------

@test "other references of the upstream are not taken over" {
	next_snapshot
	upstream update-ref refs/heads/other HEAD~1
	upstream update-ref refs/notes/commits HEAD
	upstream update-ref refs/kistore/fetched HEAD~3
	upstream update-ref refs/kistore/accepted HEAD~3
	upstream update-ref refs/remotes/origin/main HEAD
	upstream update-ref refs/tags/v1 HEAD
	upstream tag -a -m note v2
	upstream tag snapshots/10
	expect 0 mirror update
	updated 10
	git -C m.git for-each-ref --format='%(refname)' |
		diff <(printf '%s\n' refs/heads/main refs/tags/snapshot/10 \
			refs/tags/snapshot/9) -
	clone_mirror c.git
	diff <(git -C m.git show-ref) <(git -C c.git show-ref)
	git -C m.git config --get-regexp '^remote' && return 1
	[ ! -e m.git/FETCH_HEAD ]
}

@test "replacements and grafts change nothing here" {
	upstream replace "$(upstream rev-parse HEAD)" "$(upstream rev-parse HEAD~2)"
	next_snapshot
	expect 0 mirror update
	updated 10
	[ -z "$(git -C m.git for-each-ref refs/replace)" ]
	# Nor those that somebody put into the mirror.
	git -C m.git replace "$(git -C m.git rev-parse HEAD)" \
		"$(git -C m.git rev-parse HEAD~2)"
	kistore -q annotate "$PROJECT" --metadata - <<<'{"name":"again"}' >/dev/null
	snapshot log.key
	expect 0 mirror update
	git -C m.git replace -d "$(git -C m.git rev-parse 'refs/heads/main~2')" \
		>/dev/null
	mirror_is 11
}

@test "a tag with a wrong signature on a commit of the history: damaged" {
	next_snapshot
	stored_note >note
	hand_tag thief.ssh snapshot/10 note | tag_object snapshot/10
	refuses damaged 1 'refs/tags/snapshot/10: '
	clone_refuses damaged 1 'refs/tags/snapshot/10: ' --key "$VKEY"
	hand_tag log.ssh snapshot/10 note | tag_object snapshot/10
	expect 0 mirror update
	updated 10
}

@test "a tag that is none, or of another name, on a commit of the history: damaged" {
	next_snapshot
	good=$(upstream rev-parse refs/tags/snapshot/10)
	upstream update-ref refs/tags/snapshot/10 HEAD
	refuses damaged 1 'refs/tags/snapshot/10: '
	upstream update-ref refs/tags/snapshot/10 "$good"
	for name in 0010 ten 10/more 11; do
		[ "$name" != 10/more ] ||
			upstream update-ref -d refs/tags/snapshot/10
		upstream update-ref "refs/tags/snapshot/$name" "$good"
		refuses_too damaged 1 "refs/tags/snapshot/$name: "
		upstream update-ref -d "refs/tags/snapshot/$name"
	done
	# A symbolic one comes as what it leads to.
	upstream symbolic-ref refs/tags/snapshot/12 refs/tags/snapshot/9
	refuses damaged 1 'refs/tags/snapshot/12: the tag says that it is snapshot/9'
}

@test "bad tags of commits outside the history are not taken" {
	next_snapshot
	stored_note >note
	side=$(upstream commit-tree -p HEAD -m side "$(upstream rev-parse \
		'HEAD^{tree}')")
	root=$(upstream commit-tree -m root "$(upstream rev-parse 'HEAD^{tree}')")
	upstream update-ref refs/tags/snapshot/1 "$side"
	upstream update-ref refs/tags/snapshot/2 "$root"
	hand_tag thief.ssh snapshot/3 note "$root" | tag_object snapshot/3
	upstream update-ref refs/tags/snapshot/4 "$(upstream rev-parse HEAD:log)"
	upstream update-ref refs/tags/snapshot/5 \
		"$(upstream rev-parse HEAD:checkpoint)"
	expect 0 mirror update
	updated 10
	git -C m.git tag | diff <(printf '%s\n' snapshot/10 snapshot/9) -
}

@test "the tag of a snapshot that is not accepted yet is not taken" {
	next_snapshot
	upstream tag -d snapshot/10 >/dev/null
	unsigned_tail
	stored_note >note
	# Of a commit in the tail.
	hand_tag log.ssh snapshot/13 note | tag_object snapshot/13
	expect 0 mirror update
	updated 10
	git -C m.git tag | diff <(echo snapshot/9) -
}

# ---- What would run ------------------------------------------------------------

@test "no hook runs, neither the upstream's nor the mirror's, nor what git's configuration names" {
	next_snapshot
	for store in demo.git m.git; do
		mkdir -p $store/hooks
		for hook in post-update reference-transaction post-checkout \
			pre-receive update post-receive proc-receive post-merge \
			pre-auto-gc pre-push post-rewrite post-index-change \
			fsmonitor-watchman; do
			printf '#!/bin/sh\ntouch "%s"\n' \
				"$PWD/ran-$store-$hook" >$store/hooks/$hook
			chmod +x $store/hooks/$hook
		done
		for name in core.fsmonitor uploadpack.packObjectsHook \
			core.alternateRefsCommand core.gitProxy core.pager \
			gc.recentObjectsHook core.editor gpg.ssh.program; do
			git -C $store config "$name" "touch $PWD/ran-$name;"
		done
	done
	expect 0 mirror update
	updated 10
	kistore -q takedown "$PROJECT" --reason law --lines >/dev/null
	snapshot log.key
	expect 0 mirror update
	grep -q '^what was taken down is gone' "$OUT"
	[ -z "$(compgen -G 'ran-*')" ]
}

@test "an address is only an address" {
	export MARKER=$PWD/marker
	for url in "ext::sh -c 'touch $MARKER'" "ext::sh -c touch% $MARKER" \
		'-x' "--upload-pack=touch $MARKER" "-u" \
		"ssh://-oProxyCommand=touch${IFS:0:1}$MARKER/x" \
		"-oProxyCommand=touch:$MARKER"; do
		expect 5 kistore mirror clone --key "$VKEY" -- "$url" c.git
		says unreachable ''
		[ ! -e c.git ]
		[ ! -e marker ]
	done
	# Nor where the mirror itself has such a one.
	sed -i "s|^url .*|url ext::sh -c 'touch $MARKER'|" m.git/kistore-mirror
	refuses unreachable 5 "transport 'ext' not allowed"
	[ ! -e marker ]
}

@test "an address that begins with a hyphen may be a directory here" {
	mv demo.git ./-demo.git
	expect 0 kistore mirror clone --key "$VKEY" -- -demo.git c.git
	MIRROR=c.git expect 0 mirror update
}

@test "an address with control characters, or without any, is a mistake: exit 2" {
	for url in $'a\tb' $'a\nurl ext::x' $'a\r' $'\001' $'a\177' $'\033[31m'; do
		expect 2 kistore mirror clone --key "$VKEY" "$url" c.git
		err_is 'kistore: an address has no control characters'
		silent_out
		[ ! -e c.git ]
	done
	expect 2 kistore mirror clone --key "$VKEY" '' c.git
	err_is 'kistore: the address is empty'
	[ ! -e c.git ]
}

@test "what an upstream says is told in one line, escaped" {
	printf '{"format":"kistore/1","origin":"\xe2\x80\xae\\u001b[31m"}' >json
	replace store.json json
	refuses damaged 1 'store.json'
	upstream_back 1
	hand_note log.key >note
	text_of note >text
	{
		cat text
		echo
		printf '\xe2\x80\x94 a\xe2\x80\xaeb\x7f %s\n' "$(head -c 68 \
			/dev/zero | base64 -w0)"
	} >bad
	publish_note bad
	try mirror update
	[ "$status" -eq 1 ] || [ "$status" -eq 6 ]
	no_escapes
	expect "$status" mirror status
	no_escapes
	[ "$(grep -c '^message ' m.git/kistore-mirror)" -eq 1 ]
}
