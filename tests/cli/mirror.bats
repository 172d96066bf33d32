#!/usr/bin/env bats
# kistore mirror clone, update and status, where the upstream is an honest one:
# what is taken over, what a takedown removes, and what death, company and a full
# disk leave (store-layout.md, section M). What a dishonest one may do is in
# mirror-upstream.bats, cosignatures are in mirror-cosign.bats.

load ../lib/common
load ../lib/store
load ../lib/sign
load ../lib/hostile
load ../lib/history
load ../lib/web
load ../lib/upstream

prepare() {
	signed_store
}

teardown() {
	web_stop
}

# ---- A clone -----------------------------------------------------------------

# bats test_tags=valgrind
@test "a clone has what was signed, pins the key, and remembers what it accepted" {
	expect 0 kistore mirror clone --key "$VKEY" demo.git m.git
	out_is "updated: $ORIGIN, 9 new, 7 objects checked
holds 9 entries, root sha256:$(stored_note | sed -n 3p | base64 -d | od -An -tx1 | tr -d ' \n')
signature: signed by $ORIGIN+$(id_of log.key)
signed: 9 entries
pinned: trusted for its origin from now on"
	silent_err
	diff <(printf 'log %s\nquorum none\n' "$VKEY") "$(state_file pins)"
	stored_note | diff - "$(state_file accepted)"
	[ "$(git -C m.git rev-parse HEAD)" = "$(commit_id)" ]
	diff <(git -C m.git for-each-ref) <(upstream for-each-ref)
	[ "$(git -C m.git rev-parse --is-bare-repository)" = true ]
	[ -z "$(git -C m.git remote)" ]
	nothing_left m.git
	mirror_is 9
	expect 0 kistore -C m.git verify
	signed_by log.key 9
	expect 0 kistore -C m.git get c3252a98
	[ "sha256:$(sha256sum <"$OUT" | cut -c1-64)" = "$RUN" ]
}

@test "--json is one document" {
	expect 0 kistore mirror clone --json --key "$VKEY" demo.git m.git
	silent_err
	jq -e --arg url "$PWD/demo.git" --arg origin "$ORIGIN" \
		--arg signer "$ORIGIN+$(id_of log.key)" '
		(.root | test("^sha256:[0-9a-f]{64}$")) and (del(.root) == {
		schema: "kistore-mirror-clone/1", verdict: "updated",
		message: "signed by \($signer)", url: $url, origin: $origin,
		checked: "2026-08-17T20:53:20Z",
		good: "2026-08-17T20:53:20Z", fork: null, size: 9, before: 0,
		unsignedTail: 0, changed: true, rewritten: false, whole: true,
		objects: 7, damaged: 0, absent: 0, carried: 0, purged: false,
		interrupted: false, cosignatures: 0, signature: {
		verdict: "signed", message: "signed by \($signer)", size: 9,
		unsignedTail: 0, signer: $signer, witnesses: 0,
		cosignedAt: null, pinned: true, evidence: null}})' "$OUT"
	expect 0 mirror update --json
	jq -e '.schema == "kistore-mirror-update/1" and .verdict == "current" and
		.before == 9 and (.changed or .whole | not) and .objects == 0 and
		(.signature.pinned | not)' "$OUT"
	expect 0 mirror status --json
	jq -e '.schema == "kistore-mirror-status/1" and .verdict == "current" and
		.size == 9 and .checked == "2026-08-17T20:53:20Z" and
		.signature == null' "$OUT"
}

@test "under a pin no key is needed" {
	pin
	expect 0 kistore mirror clone demo.git m.git
	out_lacks pinned
	mirror_is 9
}

@test "a pin that is there stays, whatever a clone is made with" {
	witness
	cosign
	pin
	cp "$(state_file pins)" before
	policy_file 'quorum W' >policy
	expect 0 kistore mirror clone --policy policy demo.git m.git
	out_has 'cosigned by 1, last at 2026-08-17T20:53:21Z'
	diff before "$(state_file pins)"
}

@test "a clone by a policy pins it, witnesses and all" {
	witness
	cosign
	policy_file 'quorum W' >policy
	expect 0 kistore mirror clone --policy policy demo.git m.git
	diff policy "$(state_file pins)"
	next_snapshot
	expect 6 mirror update
	says 'untrusted key' 'the witness W has not cosigned'
	cosign
	expect 0 mirror update
	updated 10
}

@test "a key that is none is a mistake of the call, and nobody is asked: exit 2" {
	mkdir bin
	printf '#!/bin/sh\ntouch "%s"\n' "$PWD/asked" >bin/git
	chmod +x bin/git
	for option in "--key ${VKEY}x" '--policy log.vkey'; do
		# shellcheck disable=SC2086 # two words
		PATH=$PWD/bin:$PATH expect 2 kistore mirror clone $option \
			--key "$VKEY" demo.git m.git
		silent_out
		[ ! -e m.git ]
	done
	[ ! -e asked ]
	clone_mirror m.git
	keep_mirror
	PATH=$PWD/bin:$PATH expect 2 mirror update --key "${VKEY}x"
	echo garbage >"$(state_file pins)"
	PATH=$PWD/bin:$PATH expect 2 mirror update
	err_has "the pin of $ORIGIN"
	[ ! -e asked ]
	unmoved
}

@test "addresses of every kind, and places from everywhere" {
	mkdir -p a/b
	expect 0 kistore mirror clone --key "$VKEY" "file://$PWD/demo.git" one.git
	(cd a/b && expect 0 kistore mirror clone ../../demo.git ../two.git)
	grep -qx "url $PWD/a/b/../../demo.git" a/two.git/kistore-mirror
	# With directories on the way, and into one that is empty.
	expect 0 kistore mirror clone demo.git c/d/three.git
	mkdir four.git
	expect 0 kistore mirror clone demo.git four.git
	next_snapshot
	unset KISTORE_DIR
	(cd a/two.git/objects && expect 0 kistore mirror update)
	(cd / && expect 0 kistore -C "$BATS_TEST_TMPDIR/one.git" mirror update)
	KISTORE_DIR=c/d/three.git expect 0 kistore mirror update
	for store in one.git a/two.git c/d/three.git; do
		[ "$(git -C $store rev-parse HEAD)" = "$(upstream rev-parse HEAD)" ]
	done
}

# ---- An update ---------------------------------------------------------------

@test "with nothing new nothing changes but what the update remembers of itself" {
	clone_mirror m.git
	keep_mirror
	export SOURCE_DATE_EPOCH=1787000100
	expect 0 mirror update
	out_is "current: $ORIGIN, nothing is new
holds 9 entries, root sha256:$(stored_note | sed -n 3p | base64 -d | od -An -tx1 | tr -d ' \n')
signature: signed by $ORIGIN+$(id_of log.key)
signed: 9 entries"
	silent_err
	mirror_kept
	grep -qx 'checked 1787000100' m.git/kistore-mirror
	expect 0 mirror status
	out_has 'last asked at 2026-08-17T20:55:00Z'
}

# brings SIZE OBJECTS: the next update takes this over, and looks at what is new.
brings() {
	expect 0 mirror update --json
	jq -e ".verdict == \"updated\" and .size == $1 and .objects == $2 and
		(.whole | not) and .changed and (.rewritten | not)" "$OUT" || {
		cat "$OUT" "$ERR"
		return 1
	}
	nothing_left m.git
	diff <(git -C m.git for-each-ref) <(upstream for-each-ref)
}

@test "after a put and a snapshot only what is new is checked" {
	clone_mirror m.git
	put_new alpha
	put_new beta
	put_new gamma
	snapshot log.key
	brings 12 3
	mirror_is 12
	accepted_note | diff - <(stored_note)
	put_new delta
	snapshot log.key
	expect 0 mirror update
	grep -q "^updated: $ORIGIN, 1 new, 1 objects checked\$" "$OUT"
	mirror_is 13
}

@test "what is old is not read again" {
	clone_mirror m.git
	# In the mirror's own pack, which nothing shows so far.
	id=$(git -C m.git rev-parse "HEAD:$(object_path "$RUN")")
	pack=$(echo m.git/objects/pack/*.pack)
	at=$(git show-index <"${pack%.pack}.idx" | awk -v id="$id" \
		'$2 == id { print $1 }')
	chmod u+w "$pack"
	cp "$pack" whole
	flip $((at + 40)) <whole >"$pack"
	expect 1 kistore -C m.git verify
	put_new alpha
	snapshot log.key
	brings 10 1
	# All of it is verified where something else changes.
	echo '* text' >file
	replace .gitattributes file
	expect 1 mirror update
	says damaged "$(object_path "$RUN")"
}

@test "lines of every kind, notes and dictionaries are new things, and no more" {
	clone_mirror m.git
	kistore -q annotate "$PROJECT" --metadata - <<<'{"name":"again"}' >/dev/null
	kistore -q retract "$RUN" --reason wrong >/dev/null
	snapshot log.key
	brings 11 0
	kistore -q restore "$RUN" --reason right >/dev/null
	make_key runner runner.example/r
	kistore -q key register runner.vkey >/dev/null
	snapshot log.key
	brings 13 0
	witness
	cosign
	brings 13 0
	stored_note | diff - <(git -C m.git cat-file blob HEAD:checkpoint)
	for n in {1..40}; do manifest "number-$n"; echo; done >many.jsonl
	kistore -q put many.jsonl >/dev/null
	kistore -q dictionary train >/dev/null
	put_new alpha
	snapshot log.key
	[ -n "$(upstream ls-tree HEAD dictionaries/)" ]
	brings 54 41
	echo licence >file
	replace LICENSE file
	brings 54 0
	mirror_is 54
}

@test "segments are filled and begun" {
	clone_mirror m.git
	for n in {1..260}; do manifest "number-$n"; echo; done >all.jsonl
	before=9
	for size in 255 256 257 268; do
		sed -n "$((before - 8)),$((size - 9))p" all.jsonl >some.jsonl
		kistore -q put some.jsonl >/dev/null
		snapshot log.key
		brings "$size" $((size - before))
		before=$size
	done
	mirror_is 268
	# Several snapshots at once, over the end of a segment.
	git clone -q --bare m.git old.git
	sed '/^upstream/d; /^snapshot/d' m.git/kistore-mirror \
		>old.git/kistore-mirror
	git -C old.git update-ref HEAD "$(git -C old.git rev-parse snapshot/255^0)"
	git -C old.git tag -d snapshot/256 snapshot/257 snapshot/268 >/dev/null
	MIRROR=old.git expect 0 mirror update --key "$VKEY" --json
	jq -e '.size == 268 and .objects == 13 and (.whole | not)' "$OUT"
}

@test "a successor that the key announced is followed" {
	clone_mirror m.git
	make_key heir "$ORIGIN"
	snapshot log.key --next "$(<heir.vkey)"
	expect 0 mirror update
	snapshot heir.key --first
	expect 0 mirror update
	out_has "signed by $ORIGIN+$(id_of heir.key)"
	updated 11
	# But not the old one again.
	kistore -q retract "$RUN" --reason wrong >/dev/null
	append "$(key_entry "$VKEY")"
	sign_by_hand log.key
	expect 6 mirror update
	says 'revoked key' ''
}

@test "a history that was rewritten is followed where the log is consistent" {
	next_snapshot
	clone_mirror m.git
	commit_on ''
	expect 0 mirror update
	out_has 'the history was rewritten: the log is consistent with what was held before'
	updated 10
	[ "$(git -C m.git rev-list --count HEAD)" -eq 1 ]
	# Tags of the history that is gone go, too.
	[ -z "$(git -C m.git tag)" ]
	expect 0 mirror update
	out_lacks rewritten
	put_new alpha
	snapshot log.key
	expect 0 mirror update
	out_lacks rewritten
	git -C m.git tag | diff <(echo snapshot/11) -
	updated 11
}

@test "a mirror of a mirror, and of one that moved" {
	clone_mirror m.git
	expect 0 kistore mirror clone --key "$VKEY" m.git second.git
	next_snapshot
	MIRROR=second.git expect 0 mirror update
	out_has current
	expect 0 mirror update
	MIRROR=second.git expect 0 mirror update
	out_has updated
	mv m.git moved.git
	mv demo.git m.git
	MIRROR=second.git expect 0 mirror update
	out_has current
	MIRROR=second.git mirror_is 10
}

@test "over HTTP, as a plain directory, and while that is half written" {
	upstream update-server-info
	web_start "$PWD"
	expect 0 kistore mirror clone --key "$VKEY" "$WEB_URL/demo.git" m.git
	mirror_is 9
	expect 0 mirror update
	out_has current
	cp -R demo.git/objects old
	put_new alpha
	snapshot log.key
	upstream update-server-info
	# The branch has moved, and the objects are not there yet.
	mv demo.git/objects new
	mv old demo.git/objects
	refuses half-updated 5 'it does not deliver what its HEAD leads to'
	rm -rf demo.git/objects
	mv new demo.git/objects
	expect 0 mirror update
	updated 10
	web_stop
	refuses unreachable 5 "unable to access"
}

@test "packs become one when there are many" {
	clone_mirror m.git
	for n in {1..50}; do
		echo "$n" | git -C m.git hash-object -w --stdin |
			git -C m.git pack-objects -q "$PWD/m.git/objects/pack/pack" \
			>/dev/null
	done
	[ "$(find m.git -name '*.pack' | wc -l)" -ge 50 ]
	next_snapshot
	expect 0 mirror update
	updated 10
	[ "$(find m.git -name '*.pack' | wc -l)" -lt 5 ]
}

# ---- Takedowns -----------------------------------------------------------------

# Of the project: its line, and its body.
LINE='"name":"transformers"'
BODY='"name":"Hugging Face Transformers"'

taken_down() {
	kistore -q takedown "$PROJECT" --reason law "$@" >/dev/null
	snapshot log.key
}

# bats test_tags=valgrind
@test "a takedown of an object, where the upstream purged: it is gone here, too" {
	clone_mirror m.git
	found m.git "$LINE" "$BODY"
	taken_down
	kistore -q gc --purge >/dev/null
	expect 0 mirror update
	grep -q "^updated: $ORIGIN, 1 new, 6 objects checked\$" "$OUT"
	out_has 'the history was rewritten'
	out_has 'what was taken down is gone from the history here, too'
	updated 10
	gone m.git "$BODY"
	found m.git "$LINE"
	diff <(git -C m.git for-each-ref) <(upstream for-each-ref)
	expect 3 kistore -C m.git get "$PROJECT"
}

@test "the same with its lines, of which no index remembers anything" {
	clone_mirror m.git
	expect 0 mirror update
	expect 0 kistore -C m.git resolve transformers
	grep -qaF transformers m.git/kistore-index.sqlite*
	taken_down --lines
	kistore -q gc --purge >/dev/null
	expect 0 mirror update --json
	jq -e '.verdict == "updated" and .rewritten and .purged and .whole' "$OUT"
	mirror_is 10
	gone m.git "$LINE" "$BODY" transformers
	expect 3 kistore -C m.git resolve transformers
}

@test "where the upstream does not purge, it is gone here all the same, and stays so" {
	clone_mirror m.git
	taken_down --lines
	found demo.git "$LINE" "$BODY"
	expect 0 mirror update --json
	jq -e '.verdict == "updated" and (.rewritten | not) and .purged' "$OUT"
	mirror_is 10
	gone m.git "$LINE" "$BODY"
	# Nothing leads to the history of before.
	[ -z "$(git -C m.git tag)" ]
	expect 0 mirror update
	out_has current
	for n in 1 2; do
		put_new "next-$n"
		snapshot log.key
		expect 0 mirror update --json
		jq -e '.verdict == "updated" and .purged and (.whole | not) and
			.objects == 1' "$OUT"
		mirror_is $((10 + n))
		gone m.git "$LINE" "$BODY"
	done
	# Once it does, histories are the same again.
	kistore -q gc --purge >/dev/null
	expect 0 mirror update
	out_has 'the history was rewritten'
	mirror_is 12
	gone m.git "$LINE" "$BODY"
	diff <(git -C m.git for-each-ref) <(upstream for-each-ref)
	put_new last
	snapshot log.key
	expect 0 mirror update --json
	jq -e '.verdict == "updated" and (.purged or .rewritten | not)' "$OUT"
	git -C m.git tag | diff <(echo snapshot/13) -
}

@test "a history that was purged and comes back is purged again" {
	taken_down --lines
	git clone -q --bare demo.git old.git
	clone_mirror m.git
	gone m.git "$LINE" "$BODY"
	kistore -q gc --purge >/dev/null
	expect 0 mirror update
	gone m.git "$LINE" "$BODY"
	mv demo.git purged.git
	mv old.git demo.git
	expect 0 mirror update
	out_has 'the history was rewritten'
	mirror_is 10
	gone m.git "$LINE" "$BODY"
	# By a merge, too, which leaves the first parents as they were.
	mv demo.git old.git
	mv purged.git demo.git
	expect 0 mirror update
	put_new alpha
	snapshot log.key
	upstream fetch -q ../old.git main:old
	upstream update-ref HEAD "$(upstream commit-tree -p HEAD -p old -m merge \
		"$(upstream rev-parse 'HEAD^{tree}')")"
	found demo.git "$BODY"
	expect 0 mirror update
	mirror_is 11
	gone m.git "$LINE" "$BODY"
}

@test "a clone of what was taken down and not purged does not have it" {
	taken_down --lines
	found demo.git "$LINE" "$BODY"
	expect 0 kistore mirror clone --key "$VKEY" demo.git m.git
	out_has 'what was taken down is gone from the history here, too'
	mirror_is 10
	gone m.git "$LINE" "$BODY"
}

@test "a takedown that nobody has signed yet removes nothing" {
	clone_mirror m.git
	kistore -q takedown "$PROJECT" --reason law --lines >/dev/null
	keep_mirror
	expect 0 mirror update
	out_has current
	mirror_kept
	found m.git "$LINE" "$BODY"
}

# git_that CASE COMMANDS: a git in ./bin that does this first where its arguments
# match the pattern; kill_parent: one that kills who runs it.
git_that() {
	local real
	real=$(command -v git)
	mkdir -p bin
	printf '#!/bin/sh\ncase " $* " in\n%s) %s;;\nesac\nexec "%s" "$@"\n' \
		"$1" "$2" "$real" >bin/git
	chmod +x bin/git
}

kill_parent() {
	# shellcheck disable=SC2016 # of that script
	git_that "$1" "kill -${2-9}"' $PPID; '"${3-exit 1}"
}

# slow_fetch: one that makes `fetching` and waits for `go`, ten seconds at most.
slow_fetch() {
	git_that '*" fetch "*' "touch '$PWD/fetching'; n=0; while [ ! -e '$PWD/go' ] &&
		[ \$n -lt 200 ]; do n=\$((n + 1)); sleep 0.05; done"
}

# with_git COMMAND…: by that git.
with_git() {
	PATH=$PWD/bin:$PATH "$@"
}

# dies COMMAND…: it is killed, of which no shell tells.
dies() {
	local code=0
	("$@" >out 2>err &
		wait $!) 2>/dev/null || code=$?
	[ "$code" -eq 137 ]
}

@test "a purge that was interrupted goes on at the next update" {
	clone_mirror whole.git
	taken_down --lines
	for when in '*" update-ref "*' '*" reflog "*' '*--prune=now*'; do
		rm -rf m.git
		cp -a whole.git m.git
		kill_parent "$when"
		dies with_git "$KISTORE" -C m.git mirror update
		# What is new is accepted, and it is known that more is due.
		mirror_is 10
		grep -qx 'purge due' m.git/kistore-mirror
		found m.git "$BODY"
		expect 0 mirror status
		out_has 'an update is under way, or was interrupted and the next goes on with it'
		expect 0 mirror update
		out_has 'what was taken down is gone from the history here, too'
		gone m.git "$LINE" "$BODY"
		mirror_is 10
		expect 0 mirror status
		out_lacks interrupted
	done
}

@test "it goes on where nobody answers, too" {
	clone_mirror m.git
	taken_down --lines
	kill_parent '*--prune=now*'
	dies with_git "$KISTORE" -C m.git mirror update
	mv demo.git gone.git
	expect 5 mirror update
	says unreachable ''
	out_has 'what was taken down is gone from the history here, too'
	gone m.git "$LINE" "$BODY"
}

@test "a purge that fails is told, and what came is accepted" {
	clone_mirror m.git
	taken_down
	git_that '*--prune=now*' 'echo "fatal: no" >&2; exit 1'
	expect 5 with_git "$KISTORE" -C m.git mirror update
	err_has 'the update is accepted, but what was taken down is not all removed yet (kistore mirror update goes on)'
	mirror_is 10
	expect 0 mirror update
	gone m.git "$BODY"
}

# ---- Where a clone goes ----------------------------------------------------------

# taken DIR [WORDS]: a clone there is refused, and changes nothing.
taken() {
	keep_state "$1"
	expect 5 kistore mirror clone --key "$VKEY" demo.git "$1"
	err_is "kistore: $1: ${2-exists and is not empty}"
	silent_out
	unchanged "$1"
}

@test "a directory that is not empty is left alone" {
	state_of() {
		find "$1" -printf '%P %s %T@ %C@\n' | sort
	}
	mkdir file.git
	echo text >file.git/text
	taken file.git
	git init -q --bare empty.git
	taken empty.git
	git clone -q --bare demo.git clone.git
	taken clone.git
	taken demo.git
	clone_mirror m.git
	taken m.git 'is a mirror of that already (kistore mirror update)'
	git clone -q --bare demo.git other.git
	kistore -q mirror clone other.git of-other.git >/dev/null
	taken of-other.git
	echo text >text
	expect 5 kistore mirror clone --key "$VKEY" demo.git text
	expect 5 kistore mirror clone --key "$VKEY" demo.git text/m.git
	[ "$(<text)" = text ]
}

@test "a clone that is refused leaves nothing of what it made, and all else" {
	mkdir -p a empty.git
	for place in c.git a/b/c.git x/y/c.git; do
		expect 6 kistore mirror clone --key "$THIEF" demo.git $place
		[ ! -e $place ]
	done
	[ -d a ] && [ ! -e a/b ] && [ ! -e x ]
	expect 6 kistore mirror clone --key "$THIEF" demo.git empty.git
	[ -d empty.git ] && [ -z "$(ls -A empty.git)" ]
	[ ! -e "$XDG_STATE_HOME/kistore/pins" ]
	[ ! -e "$XDG_STATE_HOME/kistore/accepted" ]
}

# ---- Death and company -----------------------------------------------------------

@test "a clone that was killed is repeated in the same place" {
	for when in '*" ls-remote "*' '*" fetch "*' '*--prune=now*'; do
		[ "$when" != '*--prune=now*' ] || taken_down
		rm -rf m.git
		forget
		kill_parent "$when"
		dies with_git "$KISTORE" mirror clone --key "$VKEY" demo.git m.git
		[ -d m.git ]
		# From elsewhere it is none of its business.
		expect 5 kistore mirror clone --key "$VKEY" m.git/../other.git m.git
		[ "$when" = '*--prune=now*' ] || {
			expect 0 kistore mirror clone --key "$VKEY" demo.git m.git
			out_has 'pinned: '
			mirror_is 9
		}
	done
	# The branch was there already, and that was told.
	expect 0 mirror update
	mirror_is 10
	gone m.git "$BODY"
}

@test "one that is repeated and refused leaves nothing either" {
	kill_parent '*" fetch "*'
	dies with_git "$KISTORE" mirror clone --key "$VKEY" demo.git m.git
	expect 6 kistore mirror clone --key "$THIEF" demo.git m.git
	[ -z "$(ls -A m.git)" ]
	expect 0 kistore mirror clone --key "$VKEY" demo.git m.git
	mirror_is 9
}

# clone_dies CALL…: before each of these calls of a clone.
clone_dies() {
	local call n
	for call; do
		n=1
		while :; do
			rm -rf m.git
			forget
			dies_at "$call" "$n" "$KISTORE" mirror clone \
				--key "$VKEY" demo.git m.git || break
			clone_again
			n=$((n + 1))
		done
		# The last one was not hit.
		mirror_is 9
	done
	sort deaths | uniq -c
}

# It can be repeated, or was done, unless it had not even begun.
clone_again() {
	if kistore mirror clone --key "$VKEY" demo.git m.git >out 2>err; then
		echo again
	elif grep -q 'is a mirror of that already' err; then
		expect 0 mirror update
		echo told
	else
		expect 5 kistore mirror clone --key "$VKEY" demo.git m.git
		err_has 'exists and is not empty'
		[ ! -e m.git/kistore-mirror ]
		echo begun
		return
	fi >>deaths
	nothing_left m.git
	[ -f "$(state_file pins)" ]
	diff <(git -C m.git for-each-ref) <(upstream for-each-ref)
	expect 0 kistore -C m.git verify
	signed_by log.key 9
}

@test "a clone may be killed before any of its files gets its name" {
	need_strace
	clone_dies rename
	[ "$(grep -c again deaths)" -ge 5 ]
}

# bats test_tags=long
@test "a clone may be killed before it removes anything" {
	need_strace
	clone_dies unlink link
}

# update_dies CALL…: before each of these calls of an update.
update_dies() {
	local call n
	clone_mirror whole.git
	cp -a "$XDG_STATE_HOME" state
	put_new alpha
	snapshot log.key
	for call; do
		n=1
		while :; do
			rm -rf m.git "$XDG_STATE_HOME"
			cp -a whole.git m.git
			cp -a state "$XDG_STATE_HOME"
			dies_at "$call" "$n" "$KISTORE" -C m.git mirror update ||
				break
			case $(git -C m.git rev-parse HEAD) in
			"$(upstream rev-parse HEAD)") echo new ;;
			"$(upstream rev-parse snapshot/9^0)") echo old ;;
			*) return 1 ;;
			esac >>deaths
			expect 0 kistore -C m.git verify
			expect 0 mirror update
			nothing_left m.git
			diff <(git -C m.git for-each-ref) <(upstream for-each-ref)
			n=$((n + 1))
		done
		mirror_is 10
	done
	sort deaths | uniq -c
}

@test "an update may be killed before any file gets its name: the old state or the new" {
	need_strace
	update_dies rename
	[ "$(grep -c old deaths)" -ge 3 ]
	[ "$(grep -c new deaths)" -ge 2 ]
}

# bats test_tags=long
@test "an update may be killed before it removes anything: the old state or the new" {
	need_strace
	update_dies unlink link
}

@test "an update that was killed while git fetched goes on" {
	clone_mirror m.git
	next_snapshot
	kill_parent '*" fetch "*'
	keep_mirror
	dies with_git "$KISTORE" -C m.git mirror update
	until flock -n m.git/kistore.lock true; do sleep 0.05; done
	[ -d m.git/kistore-incoming ]
	expect 0 mirror status
	out_has 'an update is under way, or was interrupted'
	mirror_is 9
	# What git left half written goes.
	mkdir -p m.git/kistore-incoming/objects/pack \
		m.git/kistore-incoming/refs/tags/snapshot
	echo half >m.git/kistore-incoming/objects/pack/tmp_pack_x
	touch m.git/kistore-incoming/{HEAD,packed-refs,shallow}.lock
	echo junk >m.git/kistore-incoming/refs/tags/snapshot/9
	expect 0 mirror update
	updated 10
	diff <(git -C m.git for-each-ref) <(upstream for-each-ref)
}

@test "what stands where it fetches is no obstacle, and a link is not followed" {
	clone_mirror m.git
	next_snapshot
	mkdir elsewhere
	echo mine >elsewhere/mine
	ln -s ../elsewhere m.git/kistore-incoming
	try mirror update
	[ "$(<elsewhere/mine)" = mine ] && [ "$(ls elsewhere)" = mine ]
	rm -f m.git/kistore-incoming
	echo file >m.git/kistore-incoming
	expect 0 mirror update
	mirror_is 10
}

@test "SIGINT ends it: a clone leaves nothing, an update goes on" {
	kill_parent '*" fetch "*' INT 'sleep 0.2'
	try with_git python3 -c 'import signal, subprocess, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
code = subprocess.call(sys.argv[1:])
sys.exit(code if code >= 0 else 128 - code)' "$KISTORE" mirror clone \
		--key "$VKEY" demo.git m.git
	[ "$status" -eq 130 ]
	silent_out
	[ ! -e m.git ]
	clone_mirror m.git
	next_snapshot
	keep_mirror
	try with_git python3 -c 'import signal, subprocess, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
code = subprocess.call(sys.argv[1:])
sys.exit(code if code >= 0 else 128 - code)' "$KISTORE" -C m.git mirror update
	[ "$status" -eq 130 ]
	mirror_is 9
	expect 0 mirror update
	updated 10
}

@test "a second update is told that it is busy, at once with --wait 0: exit 5" {
	need_command flock
	clone_mirror m.git
	next_snapshot
	slow_fetch
	with_git "$KISTORE" -C m.git mirror update >first 2>&1 3>&- &
	pid=$!
	until [ -e fetching ]; do sleep 0.02; done
	SECONDS=0
	expect 5 mirror update --wait 0
	err_has 'm.git/kistore.lock: held by another process'
	silent_out
	expect 5 kistore mirror clone --key "$VKEY" --wait 0 demo.git m.git
	[ "$SECONDS" -lt 2 ]
	expect 0 mirror status
	out_has 'an update is under way'
	touch go
	wait "$pid"
	grep -q '^updated: ' first
	mirror_is 10
}

@test "a second clone into the same place is told so, too" {
	need_command flock
	slow_fetch
	with_git "$KISTORE" mirror clone --key "$VKEY" demo.git m.git >first 2>&1 3>&- &
	pid=$!
	until [ -e fetching ]; do sleep 0.02; done
	expect 5 kistore mirror clone --key "$VKEY" --wait 0 demo.git m.git
	err_has 'held by another process'
	# One that waits finds it done.
	kistore mirror clone --key "$VKEY" --wait 20 demo.git m.git >second 2>&1 3>&- &
	other=$!
	sleep 0.2
	touch go
	wait "$pid"
	grep -q '^updated: ' first
	code=0
	wait "$other" || code=$?
	[ "$code" -eq 5 ]
	grep -q 'is a mirror of that already' second
	mirror_is 9
	expect 0 mirror update
}

# ---- Surroundings ----------------------------------------------------------------

@test "a mirror that may not be written is told of, and read" {
	need_plain_rights
	clone_mirror m.git
	next_snapshot
	keep_mirror
	chmod -R a-w m.git
	for command in update "cosign --key log.key"; do
		# shellcheck disable=SC2086 # words
		expect 5 with_plain_rights "$KISTORE" -C m.git mirror $command
		err_has 'ermission denied'
		silent_out
	done
	expect 0 with_plain_rights "$KISTORE" -C m.git mirror status
	chmod -R u+w m.git
	mirror_kept
	mkdir full
	chmod 500 full
	expect 5 with_plain_rights "$KISTORE" mirror clone --key "$VKEY" demo.git \
		full/m.git
	[ -z "$(ls -A full)" ]
}

@test "where nothing can be remembered a clone is none: exit 5" {
	need_plain_rights
	mkdir -p "$XDG_STATE_HOME"
	chmod 500 "$XDG_STATE_HOME"
	expect 5 with_plain_rights "$KISTORE" mirror clone --key "$VKEY" demo.git m.git
	[ ! -e m.git ]
	chmod 700 "$XDG_STATE_HOME"
	clone_mirror m.git
	next_snapshot
	chmod -R a-w "$XDG_STATE_HOME"
	expect 0 with_plain_rights "$KISTORE" -C m.git mirror update
	err_has 'what was accepted is not remembered: '
	chmod -R u+w "$XDG_STATE_HOME"
	updated 10
}

# small_files BLOCKS COMMAND…: as on a disk on which no file may have more KiB.
small_files() {
	bash -c 'trap "" XFSZ; ulimit -f "$1"; shift; exec "$@"' limited "$@"
}

@test "on a full disk the mirror stays as it was: exit 5" {
	clone_mirror m.git
	for n in {1..300}; do manifest "number-$n"; echo; done >many.jsonl
	kistore -q put many.jsonl >/dev/null
	snapshot log.key
	keep_mirror
	for blocks in 0 1 8 64; do
		expect 5 small_files $blocks "$KISTORE" -C m.git mirror update
		diff kept <(mirror_state | grep -v '^kistore-incoming')
		expect 5 small_files $blocks "$KISTORE" mirror clone demo.git c.git
		[ ! -e c.git ]
	done
	mirror_is 9
	expect 0 mirror update
	updated 309
}

@test "what is no mirror is not found: exit 3" {
	mkdir plain
	for command in update status 'cosign --key log.key'; do
		# shellcheck disable=SC2086 # words
		expect 3 kistore -C demo.git mirror $command
		err_has 'demo.git/ is not a mirror (kistore mirror clone makes one)'
		silent_out
		for place in plain nowhere; do
			# shellcheck disable=SC2086 # words
			expect 3 kistore -C $place mirror $command
			silent_out
		done
	done
	expect 3 kistore -C demo.git mirror status --json
	jq -e '.error.exit == 3' "$OUT"
}

@test "a memory that is scrambled is told: exit 1" {
	clone_mirror m.git
	cp m.git/kistore-mirror good
	keep_mirror
	for text in '' 'kistore-mirror/2' "$(head -n 1 good)" \
		"$(sed '/^url/d' good)" "$(sed 's/^upstream ./upstream x/' good)" \
		"$(sed 's/^tail .*/tail -1/' good)" "$(cat good; echo noblank)" \
		"$(sed 's/^checked .*/checked 1e9/' good)"; do
		printf '%s\n' "$text" >m.git/kistore-mirror
		for command in update status; do
			expect 1 mirror $command
			err_has 'm.git/kistore-mirror: malformed (clone the mirror again)'
			silent_out
		done
	done
	head -c -1 good >m.git/kistore-mirror
	expect 1 mirror status
	head -c 1048577 /dev/zero >m.git/kistore-mirror
	expect 1 mirror status
	# What another version adds is passed over.
	{ cat good; echo 'colour blue'; } >m.git/kistore-mirror
	expect 0 mirror update
	mirror_kept
}

@test "a verdict that nobody knows is none" {
	clone_mirror m.git
	sed -i 's/^verdict .*/verdict splendid/' m.git/kistore-mirror
	expect 0 mirror status --json
	jq -e '.verdict == "never"' "$OUT"
}

@test "status says what the last update did, and ends as it did" {
	clone_mirror m.git
	expect 0 mirror status
	out_is "follows $PWD/demo.git
last asked at 2026-08-17T20:53:20Z
updated: $ORIGIN
holds 9 entries, root sha256:$(stored_note | sed -n 3p | base64 -d | od -An -tx1 | tr -d ' \n')"
	silent_err
	append "$(retract_entry "$RUN")"
	expect 0 mirror update
	expect 0 mirror status
	grep -qx "current: $ORIGIN" "$OUT"
	grep -qx 'left: 1 entry after the snapshot, not signed yet' "$OUT"
	mv demo.git gone.git
	expect 5 mirror update
	expect 5 mirror status
	says unreachable '' || grep -q '^refused: unreachable: ' "$OUT"
	keep_mirror
	expect 5 mirror status
	unmoved
}

@test "writers refuse a mirror: exit 2" {
	clone_mirror m.git
	keep_mirror
	for command in 'put beta.json' "retract $RUN --reason x" \
		"takedown $RUN --reason x" 'key register other.vkey' \
		'snapshot create --key log.key' 'dictionary train'; do
		manifest beta >beta.json
		# shellcheck disable=SC2086 # words
		expect 2 as_signer "$KISTORE" -C m.git $command
		err_has 'this is a mirror, and the next update would drop what is written'
		silent_out
	done
	mirror_kept
	expect 0 kistore -C m.git gc
	mirror_is 9
}

@test "a mirror is a bare repository: exit 8" {
	clone_mirror m.git
	git clone -q demo.git tree
	cp m.git/kistore-mirror tree/.git
	git clone -q --bare --depth 1 "file://$PWD/demo.git" shallow.git
	cp m.git/kistore-mirror shallow.git
	for store in tree shallow.git; do
		MIRROR=$store expect 8 mirror update
		err_has 'a mirror is a bare repository, neither shallow nor partial'
	done
}

@test "a mirror is on a branch, whichever: exit 5" {
	clone_mirror m.git
	next_snapshot
	head=$(git -C m.git rev-parse HEAD)
	echo "$head" >m.git/HEAD
	for command in update 'cosign --key other.key'; do
		# shellcheck disable=SC2086 # words
		expect 5 mirror $command
		err_has 'HEAD is detached: a mirror is on a branch'
		silent_out
	done
	nothing_left m.git
	expect 0 mirror status
	echo 'ref: refs/heads/trunk' >m.git/HEAD
	git -C m.git branch -m main trunk
	expect 0 mirror update
	updated 10
	[ "$(git -C m.git symbolic-ref HEAD)" = refs/heads/trunk ]
}

@test "what somebody keeps in a mirror keeps what was taken down, and is named" {
	clone_mirror m.git
	git -C m.git branch mine
	taken_down
	for n in 1 2; do
		expect 5 mirror update
		err_has 'the update is accepted, but what was taken down is not all removed yet'
		err_has 'other references lead to it (X9): delete them or move them elsewhere first: refs/heads/mine'
		mirror_is 10
	done
	git -C m.git branch -q -D mine
	expect 0 mirror update
	out_has 'what was taken down is gone from the history here, too'
	gone m.git "$BODY"
}
