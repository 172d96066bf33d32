#!/usr/bin/env bats
# kistore annotate, retract, supersede, restore, takedown, dictionary train, gc.

load ../lib/common
load ../lib/store

prepare() {
	seed_store
	SECOND=sha256:09e771f055f28262ffb40b9eb6fe53dd6426eaf292f85477d77113feadf4d5d3
}

# The newest entry, as stored, without its time.
last_entry() {
	kistore log --json | tail -n 1 | jq -c '.entry | del(.at)'
}

refused() {
	local want=$1 before
	shift
	before=$(commit_id)
	expect "$want" kistore "$@"
	silent_out
	[ -s "$ERR" ]
	[ "$(commit_id)" = "$before" ]
}

# bats test_tags=valgrind
@test "retract prints the entry's index and the digest" {
	expect 0 kistore retract c3252a98 --reason 'a bad timer'
	silent_err
	out_is "8 $RUN"
	[ "$(last_entry)" = "{\"digest\":\"$RUN\",\"op\":\"retract\",\"reason\":\"a bad timer\"}" ]
}

@test "retract takes the time of the decision" {
	kistore retract c3252a98 --reason x --retracted-at 2026-01-02T03:04:05Z
	last_entry | jq -e '.retractedAt == "2026-01-02T03:04:05Z"'
}

@test "restore lifts a retraction, and refuses where nothing stands" {
	refused 4 restore c3252a98 --reason x
	kistore retract c3252a98 --reason x
	expect 0 kistore restore c3252a98 --reason 'was right'
	out_is "9 $RUN"
	expect 0 kistore resolve c3252a98
	silent_err
	refused 4 restore c3252a98 --reason x
}

@test "supersede names a successor of the same kind" {
	kistore put "$SEEDS"/group/run-09e771f055f2.json
	expect 0 kistore supersede c3252a98 --by 09e771f0
	out_is "9 $RUN"
	[ "$(last_entry)" = "{\"by\":\"$SECOND\",\"digest\":\"$RUN\",\"op\":\"supersede\"}" ]
	expect 0 kistore resolve c3252a98
	err_has "c3252a98 is superseded"
	refused 4 supersede 09e771f0 --by c3252a98
	refused 4 supersede c3252a98 --by "$PROJECT"
	refused 4 supersede c3252a98 --by c3252a98
	refused 3 supersede c3252a98 --by nothing
	refused 2 supersede c3252a98
}

@test "annotate replaces metadata, provenance or both" {
	echo '{ "name": "renamed", "title": "T" }' >metadata.json
	echo '{"summary":"s"}' >provenance.json
	expect 0 kistore annotate "$PROJECT" --metadata metadata.json
	out_is "8 $PROJECT"
	last_entry | jq -e '.metadata == {name: "renamed", title: "T"} and
		has("provenance") == false'
	expect 0 kistore annotate renamed --metadata metadata.json \
		--provenance provenance.json
	last_entry | jq -e '.provenance == {summary: "s"}'
	expect 0 kistore annotate renamed --metadata - <<<'{"name":"again"}'
	expect 0 kistore resolve again
}

@test "annotate refuses what is not an object of the right shape" {
	refused 2 annotate "$PROJECT"
	refused 2 annotate "$PROJECT" --metadata - --provenance -
	refused 5 annotate "$PROJECT" --metadata nofile
	for text in '' '[]' '{}' '{"name":' '{"nam":"x"}' '{"name":"A b"}'; do
		printf '%s' "$text" >file
		refused 4 annotate "$PROJECT" --metadata file
	done
	printf '{"sumary":"x"}' >file
	try kistore annotate "$PROJECT" --provenance file
	[ "$status" -ne 0 ]
	silent_out
}

@test "takedown removes the bytes, and with --lines the text" {
	expect 0 kistore takedown "$WORKLOAD" --reason law
	out_is "8 $WORKLOAD"
	[ "$(git -C demo.git ls-tree HEAD "$(object_path "$WORKLOAD")")" = "" ]
	git -C demo.git show HEAD:log/000/000.jsonl | sed -n 7p |
		jq -e --arg digest "$WORKLOAD" '.digest == $digest'
	expect 0 kistore takedown "$PROJECT" --lines --reason 'names a person'
	[ "$(git -C demo.git show HEAD:log/000/000.jsonl |
		grep -c transformers\",)" -eq 0 ]
	git -C demo.git show HEAD:log/000/000.jsonl | sed -n 5p |
		grep -Eqx -- '-[0-9a-f]{64}'
	expect 0 kistore verify
}

@test "after a takedown nothing more is said of the object" {
	kistore takedown "$WORKLOAD" --reason law
	refused 4 retract "$WORKLOAD" --reason x
	refused 4 restore "$WORKLOAD" --reason x
	expect 0 kistore takedown "$WORKLOAD" --reason 'once more'
}

@test "a reason is required, and is not empty" {
	for op in retract restore takedown; do
		refused 2 $op c3252a98
		err_is "kistore: $op needs --reason TEXT"
		refused 4 $op c3252a98 --reason ''
	done
	refused 4 retract c3252a98 --reason $'\xff'
}

@test "a reference must mean one object" {
	for op in retract restore takedown; do
		refused 3 $op nothing --reason x
		refused 2 $op --reason x
		refused 2 $op c3252a98 transformers --reason x
	done
}

@test "--json tells index, operation and digest" {
	expect 0 kistore retract --json c3252a98 --reason x
	jq -e --arg digest "$RUN" '. == {schema: "kistore-change/1",
		entry: 8, op: "retract", $digest}' "$OUT"
}

@test "an operation waits for the lock no longer than asked" {
	need_command flock
	before=$(commit_id)
	expect 5 flock demo.git/kistore.lock "$KISTORE" retract --wait 0 \
		c3252a98 --reason x
	silent_out
	[ "$(commit_id)" = "$before" ]
	refused 2 retract --wait -1 c3252a98 --reason x
	refused 2 retract --wait soon c3252a98 --reason x
}

@test "a receipt that cannot be printed says that the store was changed" {
	[ -c /dev/full ] || skip "no /dev/full"
	status=0
	"$KISTORE" retract c3252a98 --reason x 2>err >/dev/full || status=$?
	[ "$status" -eq 5 ]
	grep -qF 'the store was changed, but' err
	[ "$(kistore log | wc -l)" -eq 9 ]
}

@test "a log with a fault is not extended" {
	{ git -C demo.git show HEAD:log/000/000.jsonl; echo '{}'; } >bad
	replace log/000/000.jsonl bad
	refused 1 retract c3252a98 --reason x
	refused 1 put "$SEEDS/project.json"
}

@test "a log that needs a newer version is not extended" {
	{
		git -C demo.git show HEAD:log/000/000.jsonl
		echo '{"at":"2026-08-17T20:53:20Z","op":"sing"}'
	} >new
	replace log/000/000.jsonl new
	refused 8 retract c3252a98 --reason x
}

@test "dictionary train prints the name of the dictionary" {
	kistore -q put "$REPO/fixtures/liger-runs.jsonl" >/dev/null
	expect 0 kistore dictionary train
	name=$(cat "$OUT")
	name=${name#dictionaries/}
	echo "$name" | grep -Eqx '[0-9]+-[0-9a-f]{64}\.zdict'
	git -C demo.git cat-file blob "HEAD:dictionaries/$name" >dictionary
	[ "$(sha256sum <dictionary | cut -c1-64).zdict" = "${name#*-}" ]
	expect 0 kistore verify
	grep -q ', 1 dictionary and the log$' "$OUT"
	expect 2 kistore dictionary
	err_is "kistore: dictionary needs one of: train"
}

@test "later puts use the dictionary, and the stock tool reads them" {
	kistore -q put "$REPO/fixtures/liger-runs.jsonl" >/dev/null
	kistore -q dictionary train
	git -C demo.git ls-tree --name-only HEAD dictionaries/ >names
	[ "$(wc -l <names)" -eq 1 ]
	git -C demo.git cat-file blob "HEAD:$(cat names)" >dictionary
	kistore -q put "$SEEDS/group/run-09e771f055f2.json" >/dev/null
	git -C demo.git cat-file blob "HEAD:$(object_path "$SECOND")" |
		zstd -q -d -c -D dictionary | sha256sum | cut -c1-64 >sum
	[ "sha256:$(cat sum)" = "$SECOND" ]
}

@test "too few records to train on are refused" {
	kistore init empty.git
	export KISTORE_DIR=empty.git
	refused 4 dictionary train
}

@test "gc packs, runs no hook, and says nothing" {
	mkdir -p demo.git/hooks
	printf '#!/bin/sh\ntouch %s\n' "$PWD/ran" >demo.git/hooks/pre-auto-gc
	chmod +x demo.git/hooks/pre-auto-gc
	kistore retract c3252a98 --reason x
	expect 0 kistore gc
	silent_out
	silent_err
	[ ! -e ran ]
	[ "$(find demo.git/objects/pack -name '*.pack' | wc -l)" -eq 1 ]
	expect 0 kistore verify
	git -C demo.git fsck --strict
}

@test "a takedown whose own entry fills a segment redacts that segment" {
	rm -rf demo.git
	kistore init demo.git
	kistore -q put "$REPO/fixtures/liger-runs.jsonl" >/dev/null
	kistore -q put "$SEEDS/project.json" >/dev/null
	while [ "$(kistore log --root | cut -d' ' -f1)" -lt 255 ]; do
		kistore retract "$PROJECT" --reason x
	done
	root=$(kistore log --root)
	expect 0 kistore takedown "$PROJECT" --lines --reason law
	[ "$root" != "$(kistore log --root)" ]
	[ "$(git -C demo.git show HEAD:log/000/000.jsonl | wc -l)" -eq 256 ]
	[ "$(git -C demo.git show HEAD:log/000/000.jsonl | grep -c '^-')" -eq 1 ]
	expect 0 kistore verify
	expect 0 kistore retract "$(kistore log --json 1..2 |
		jq -r .entry.digest)" --reason y
	expect 0 kistore verify
}
