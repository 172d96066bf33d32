#!/usr/bin/env bats
# kistore snapshot create and list: one commit, one note, one tag; old or new.

load ../lib/common
load ../lib/store
load ../lib/hostile

NAME=archive.example/log

prepare() {
	seed_store
	export XDG_STATE_HOME=$PWD/state
	kistore key generate --name "$NAME" -o log.key >vkey 2>/dev/null
	VKEY=$(cat vkey)
	export VKEY
}

first_snapshot() {
	kistore -q snapshot create --key log.key --first >/dev/null
}

@test "the first snapshot names the key, signs, commits, tags" {
	expect 0 kistore snapshot create --key log.key --first
	at=$(date -u -d @1787000000 +%Y-%m-%dT%H:%M:%SZ)
	grep -q "^entry 8: {\"at\":\"$at\",\"key\":\"" "$OUT"
	grep -q '^new since entry 0: 7 published 1 keys 1 others$' "$OUT"
	grep -q "^signed 9 entries, root sha256:.*, by $NAME+" "$OUT"
	[ "$(git -C demo.git tag)" = snapshot/9 ]
	[ "$(git -C demo.git show HEAD:store.json)" = \
		"{\"format\":\"kistore/1\",\"origin\":\"$NAME\"}" ]
	git -C demo.git show HEAD:checkpoint >note
	git -C demo.git show HEAD:checkpoints/9 | cmp - note
	[ "$(sed -n 1,2p note)" = "$(printf '%s\n9' "$NAME")" ]
	expect 0 kistore verify --key "$VKEY"
	grep -q "^signature: signed by $NAME+" "$OUT"
	[ -z "$(git -C demo.git fsck --strict 2>&1)" ]
	[ "$(git -C demo.git log --format=%s | head -n 2 | tr '\n' ' ')" = \
		"snapshot 9 key " ]
}

@test "nothing new is said, and nothing is written" {
	first_snapshot
	before=$(commit_id)
	expect 0 kistore snapshot create --key log.key
	[ "$(cat "$OUT")" = "nothing new since the snapshot of 9 entries" ]
	[ "$(commit_id)" = "$before" ]
}

@test "what is new is told before it is signed" {
	first_snapshot
	kistore -q retract c3252a98 --reason wrong >/dev/null
	kistore -q put fixtures.json >/dev/null 2>&1 || true
	expect 0 kistore snapshot create --key log.key
	grep -q '^entry 9: {.*"op":"retract".*"reason":"wrong"}$' "$OUT"
	grep -q '^new since entry 9: 1 retracted$' "$OUT"
	[ "$(git -C demo.git tag | tr '\n' ' ')" = "snapshot/10 snapshot/9 " ]
	expect 0 kistore snapshot list
	[ "$(cut -d' ' -f1 "$OUT" | tr '\n' ' ')" = "9 10 " ]
	expect 0 kistore snapshot list --json
	jq -es 'map(.size) == [9, 10] and all(.origin == "'"$NAME"'") and
		all(.schema == "kistore-snapshot/1")' "$OUT"
}

@test "--json is one document with the lines" {
	expect 0 kistore snapshot create --key log.key --first --json
	jq -e '.schema == "kistore-snapshot-create/1" and .created and
		.tagged and .from == 0 and .size == 9 and
		.counts.published == 7 and .counts.keys == 1 and
		(.lines | length) == 1 and .lines[0].index == 8 and
		.lines[0].entry.role == "log"' "$OUT"
}

@test "a key without memory signs only when it is told to" {
	expect 6 kistore snapshot create --key log.key
	silent_out
	err_has "(--resume FILE)"
	err_has "(--first)"
	[ -z "$(git -C demo.git tag)" ]
	[ "$(kistore log --root | cut -d' ' -f1)" = 8 ]
	first_snapshot
	expect 2 kistore snapshot create --key log.key --first
	err_has "has signed 9 entries before"
}

@test "--resume takes the place of a lost memory" {
	first_snapshot
	git -C demo.git show HEAD:checkpoint >kept
	rm -rf state
	expect 6 kistore snapshot create --key log.key --first
	err_has "the store has a note of this key, of size 9"
	expect 0 kistore snapshot create --key log.key --resume kept
	kistore -q retract c3252a98 --reason x >/dev/null
	expect 0 kistore snapshot create --key log.key
}

@test "a log that was cut is not signed" {
	first_snapshot
	kistore -q retract c3252a98 --reason x >/dev/null
	kistore -q snapshot create --key log.key >/dev/null
	git -C demo.git update-ref HEAD HEAD~2
	kistore -q restore c3252a98 --reason y >/dev/null 2>&1 || true
	expect 1 kistore snapshot create --key log.key
	silent_out
	err_has "rollback (S7)"
}

@test "a log that was rewritten is not signed" {
	first_snapshot
	kistore -q retract c3252a98 --reason x >/dev/null
	kistore -q snapshot create --key log.key >/dev/null
	git -C demo.git update-ref HEAD HEAD~2
	kistore -q retract c3252a98 --reason other >/dev/null
	before=$(commit_id)
	expect 1 kistore snapshot create --key log.key
	err_has "fork (S7)"
	[ "$(commit_id)" = "$before" ]
}

@test "a key of another name than the origin is refused" {
	first_snapshot
	kistore key generate --name other.example/log -o other.key \
		>/dev/null 2>&1
	expect 2 kistore snapshot create --key other.key --first
	err_has "(S3)"
	silent_out
}

@test "a damaged store is not signed" {
	printf 'garbage' >bad
	replace "$(object_path "$RUN")" bad
	before=$(commit_id)
	expect 1 kistore snapshot create --key log.key --first
	silent_out
	err_has "$(object_path "$RUN")"
	err_has "and is not signed (S6)"
	[ "$(commit_id)" = "$before" ]
	[ -z "$(git -C demo.git tag)" ]
}

@test "an object that is old is not read again, one that is new is" {
	first_snapshot
	printf '{"apiVersion":"kernelindex.dev/v1alpha1","kind":%s' \
		'"SoftwareProject","metadata":{"name":"x"},"spec":{"name":"X"}}' \
		>new.json
	new=$(kistore -q put new.json | cut -d' ' -f1)
	printf 'garbage' >bad
	replace "$(object_path "$new")" bad
	expect 1 kistore snapshot create --key log.key
	err_has "$(object_path "$new")"
}

@test "a takedown is carried out by the snapshot that signs it" {
	first_snapshot
	kistore -q takedown "$PROJECT" --reason law --lines >/dev/null
	git -C demo.git cat-file -e "HEAD:$(object_path "$PROJECT")"
	root=$(kistore log --root | cut -d' ' -f2)
	expect 0 kistore verify --key "$VKEY"
	expect 0 kistore snapshot create --key log.key
	grep -q '^taken down: 1 objects removed, 1 lines redacted$' "$OUT"
	grep -q "^signed 10 entries, root $root, by " "$OUT"
	if git -C demo.git cat-file -e "HEAD:$(object_path "$PROJECT")"; then
		false
	fi
	[ "$(git -C demo.git show HEAD:log/000/000.jsonl |
		grep -c '^-[0-9a-f]\{64\}$')" -eq 1 ]
	expect 0 kistore verify --key "$VKEY"
	grep -q '^taken down: 1 object$' "$OUT"
	[ "$(kistore log --root | cut -d' ' -f2)" = "$root" ]
}

@test "a lost tag is made again" {
	first_snapshot
	git -C demo.git tag -d snapshot/9 >/dev/null
	expect 0 kistore snapshot create --key log.key
	grep -q "its tag was made again" "$OUT"
	expect 0 kistore verify --key "$VKEY"
	[ "$(git -C demo.git tag)" = snapshot/9 ]
}

@test "a successor is announced once, and follows" {
	first_snapshot
	kistore key generate --name "$NAME" -o next.key >next 2>/dev/null
	expect 0 kistore snapshot create --key log.key --next "$(cat next)"
	grep -q '"next":"sha256:'"$(tr -d '\n' <next | sha256sum |
		cut -c1-64)"'"' "$OUT"
	expect 0 kistore snapshot create --key log.key --next next
	grep -q "^nothing new" "$OUT"
	expect 0 kistore snapshot create --key next.key --first
	silent_err
	expect 0 kistore verify --key "$VKEY"
	expect 0 kistore verify --key "$(cat next)"
}

@test "a key that nobody announced signs, and is told that nobody follows" {
	first_snapshot
	kistore key generate --name "$NAME" -o next.key >next 2>/dev/null
	expect 0 kistore snapshot create --key log.key --next "$(cat next)"
	kistore key generate --name "$NAME" -o other.key >other 2>/dev/null
	expect 0 kistore snapshot create --key other.key --first
	one_line
	err_has 'did not announce this one (--next)'
	expect 6 kistore verify --key "$(cat next)"
	expect 0 kistore verify --key "$(cat other)"
	# Nor does a key that has handed over come back unseen.
	expect 0 kistore snapshot create --key log.key
	err_has 'did not announce this one (--next)'
}

@test "a work tree has what the snapshot commits" {
	export KISTORE_DIR=
	kistore init --worktree tree >/dev/null
	kistore -q -C tree put "$SEEDS"/*.json >/dev/null
	kistore -q -C tree snapshot create --key log.key --first >/dev/null
	[ -z "$(git -C tree status --porcelain)" ]
	[ -f tree/checkpoints/9 ] && [ -f tree/README.md ]
}

@test "the README's recipes hold, with stock tools" {
	first_snapshot
	git clone -q demo.git clone 2>/dev/null
	sed -n '2p' vkey >/dev/null
	kistore key show log.key >shown
	sed -n '/BEGIN PUBLIC/,$p' shown >clone/key.pem
	sed -n 2p shown | awk '{ print $3, $1, $2 }' >clone/signers
	grep '^    ' clone/README.md | sed 's/^    //' >recipes
	[ "$(wc -l <recipes)" -ge 17 ]
	{
		echo "set -e; cd clone; D=${RUN#sha256:}"
		sed "s/'WORDS'/'transformers'/" recipes
	} >script
	expect 0 env -u KISTORE_DIR bash script
	grep -q "^${RUN#sha256:}  -$" "$OUT"
	grep -q '^Signature Verified Successfully$' "$OUT"
	root=$(sed -n 3p clone/checkpoint)
	[ "$(grep -cxF -- "$root" "$OUT")" -eq 3 ]
	grep -q 'Good "git" signature' "$ERR"
}

@test "a README that somebody changed is warned about" {
	first_snapshot
	echo 'The key is in this repository.' >README
	replace README.md README
	expect 0 kistore verify --key "$VKEY"
	grep -q '^warning README.md - .*(T8)$' "$OUT"
}

@test "killed at any moment, the store is old or new" {
	for delay in 0.00 0.02 0.04 0.06 0.08 0.10 0.12 0.15 0.20 0.30; do
		rm -rf killed.git state
		cp -a demo.git killed.git
		(
			"$KISTORE" -C killed.git -q snapshot create --key log.key \
				--first >/dev/null 2>&1 &
			sleep "$delay"
			kill -9 $!
			wait $!
		) 2>/dev/null || true
		expect 0 kistore -C killed.git verify
		first=--first
		[ -z "$(find state -name checkpoint -size +0 2>/dev/null)" ] ||
			first=
		# shellcheck disable=SC2086 # nothing where it is empty
		expect 0 kistore -C killed.git snapshot create --key log.key \
			$first
		expect 0 kistore -C killed.git verify --key "$VKEY"
		[ "$(git -C killed.git tag)" = snapshot/9 ]
	done
}
