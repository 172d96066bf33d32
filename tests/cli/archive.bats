#!/usr/bin/env bats
# kistore snapshot export, verify, import: one stream whoever exports, nothing
# believed that is not proven, old or new.

load ../lib/common
load ../lib/store

NAME=archive.example/log
THIRD=sha256:459baf6556e5536285c26b26d11eda4980b44d362142461d8e7e5b4f3900ce23

prepare() {
	once signed sign_store
	use_stores
}

sign_store() {
	seed_store
	SIGNER=$PWD/signer
	kistore key generate --name "$NAME" -o log.key >vkey 2>/dev/null
	snapshot --first
}

# Who verifies remembers apart from who signs.
use_stores() {
	use_store demo.git
	export SIGNER=$PWD/signer XDG_STATE_HOME=$PWD/reader
	VKEY=$(<vkey)
}

snapshot() {
	XDG_STATE_HOME=$SIGNER kistore -q snapshot create --key log.key "$@" \
		>/dev/null
}

# export_to FILE [ARGUMENT…]
export_to() {
	local file=$1
	shift
	kistore snapshot export -o "$file" "$@" >exported
}

# The digest of the stream in a file; the same as exports say it.
tar_digest() {
	echo "sha256:$(zstd -dcq "$1" | sha256sum | cut -c1-64)"
}

said_digest() {
	sed -n 's/^tar \(sha256:[0-9a-f]*\),.*/\1/p' "$1"
}

# import_to DIR FILE: as somebody who never saw this log.
import_to() {
	XDG_STATE_HOME=$PWD/none.$RANDOM kistore -q snapshot import \
		--key "$VKEY" "$2" "$1" >imported
}

tree_of() {
	git -C "$1" ls-tree -r HEAD
}

# same_store A B: objects, log and checkpoint; dictionaries and earlier notes
# may differ.
same_store() {
	diff <(git -C "$1" rev-parse HEAD:log HEAD:checkpoint HEAD:store.json \
		HEAD:README.md) <(git -C "$2" rev-parse HEAD:log \
		HEAD:checkpoint HEAD:store.json HEAD:README.md) || return
	diff <(git -C "$1" ls-tree -r --name-only HEAD objects) \
		<(git -C "$2" ls-tree -r --name-only HEAD objects)
}

clean() {
	expect 0 kistore -C "$1" verify --key "$VKEY"
	grep -qx 'found nothing wrong' "$OUT"
	! grep -q '^warning' "$OUT" || return 1
}

# Nothing is left beside what is listed.
only() {
	diff <(printf '%s\n' "$@" | sort) <(find . -maxdepth 1 -name '*.git' \
		-printf '%f\n' -o -maxdepth 1 -name '.kistore-*' \
		-printf '%f\n' | sort)
}

# A longer history: runs, a retraction, a supersession, takedowns; three more
# snapshots. Sizes go to s1 s2 s3 s4.
history() {
	rm -rf demo.git signer
	once history make_history
	read -r s1 s2 s3 s4 <sizes
}

make_history() {
	once signed sign_store
	use_stores
	kistore -q put "$REPO/fixtures/liger-runs.jsonl" >/dev/null
	kistore -q retract c3252a98 --reason wrong >/dev/null
	snapshot
	kistore -q put "$SEEDS"/group/*.json >/dev/null
	kistore -q supersede c3252a98 --by 09e771f0 >/dev/null
	kistore -q restore c3252a98 --reason right >/dev/null
	snapshot
	export_to before-takedown.kistore
	echo '{"name":"renamed"}' | kistore -q annotate "$PROJECT" \
		--metadata - >/dev/null
	kistore -q takedown "$PROJECT" --lines --reason law >/dev/null
	kistore -q takedown "$WORKLOAD" --reason law >/dev/null
	snapshot
	kistore snapshot list 2>/dev/null | cut -d' ' -f1 | paste -sd' ' >sizes
}

# ---- The way round -------------------------------------------------------------

@test "export, verify, import, export: one stream" {
	expect 0 kistore snapshot export -o a.kistore
	silent_err
	grep -q "^snapshot of 9 entries of $NAME, root sha256:" "$OUT"
	grep -qx '7 objects, 3522 bytes' "$OUT"
	digest=$(said_digest "$OUT")
	[ "$digest" = "$(tar_digest a.kistore)" ]
	expect 0 kistore snapshot verify --key "$VKEY" a.kistore
	silent_err
	[ "$(said_digest "$OUT")" = "$digest" ]
	grep -q "^signature: signed by $NAME+" "$OUT"
	expect 0 kistore snapshot import --key "$VKEY" a.kistore new.git
	silent_err
	grep -q '^a new store: commit [0-9a-f]\{12\}$' "$OUT"
	diff <(tree_of demo.git) <(tree_of new.git)
	[ "$(git -C new.git log --format='%s %cd' --date=unix)" = \
		'import snapshot 9 1787000000' ]
	[ -z "$(git -C new.git fsck --strict 2>&1)" ]
	clean new.git
	KISTORE_DIR=new.git export_to b.kistore
	cmp a.kistore b.kistore
	only demo.git new.git
}

@test "stock tar lists and unpacks it, and stock tools check what was in it" {
	history
	export_to a.kistore
	zstd -dcq a.kistore >a.tar
	tar -tvf a.tar >list
	[ "$(head -n 1 list | tr -s ' ' | cut -d' ' -f1,2,4-)" = \
		"-rw-r--r-- 0/0 1970-01-01 00:00 checkpoint" ]
	! grep -v '^-rw-r--r-- 0/0 .* 1970-01-01 00:00 ' list || return 1
	mkdir x
	tar -C x -xf a.tar
	git -C demo.git show HEAD:checkpoint | cmp - x/checkpoint
	git -C demo.git show HEAD:log/000/000.jsonl | cmp - \
		x/log/000/000.jsonl
	[ "$(find x/log -type f | sort | xargs cat | wc -l)" -eq "$s4" ]
	for file in x/objects/*; do
		[ "$(sha256sum <"$file" | cut -c1-64)" = "${file##*/}" ]
	done
	[ "$(find x/objects -type f | wc -l)" -eq \
		"$(git -C demo.git ls-tree -r HEAD objects | wc -l)" ]
	# Trailing blocks: two, and no more.
	[ $(($(wc -c <a.tar) % 512)) -eq 0 ]
	[ "$(tail -c 1024 a.tar | tr -d '\0' | wc -c)" -eq 0 ]
	[ "$(tail -c 1536 a.tar | tr -d '\0' | wc -c)" -ne 0 ]
}

@test "a chain of incremental files gives the same as the full file" {
	history
	export_to full.kistore
	export_to i3.kistore --from "$s2" "$s3"
	export_to i4.kistore --from "$s3"
	# The first two sizes have what was taken down since; what was
	# exported in time goes on from there.
	import_to chain.git before-takedown.kistore
	import_to chain.git i4.kistore
	grep -qx "taken down: 2 objects removed, 1 line redacted" imported
	import_to full.git full.kistore
	clean chain.git
	clean full.git
	same_store chain.git full.git
	same_store chain.git demo.git
	export_to again.kistore
	KISTORE_DIR=chain.git export_to chain.kistore
	KISTORE_DIR=full.git export_to again.kistore
	cmp full.kistore chain.kistore
	cmp full.kistore again.kistore
	[ "$(git -C chain.git log --format=%s | tr '\n' ' ')" = \
		"import snapshot $s4 import snapshot $s3 " ]
	git -C chain.git show "HEAD:checkpoints/$s3" | cmp - \
		<(git -C demo.git show "HEAD:checkpoints/$s3")
	kistore -C chain.git log "$PROJECT" >said
	grep -q redacted said
}

@test "each step of a chain that begins with the first snapshot" {
	export_to a.kistore
	import_to chain.git a.kistore
	for n in 1 2 3 4; do
		before=$(kistore log --root | cut -d' ' -f1)
		kistore -q retract c3252a98 --reason "$n" >/dev/null
		[ "$n" -ne 2 ] || kistore -q put "$SEEDS"/group/*.json \
			>/dev/null
		[ "$n" -ne 3 ] || kistore -q put \
			"$REPO/fixtures/liger-runs.jsonl" >/dev/null
		snapshot
		export_to i.kistore --from "$before"
		import_to chain.git i.kistore
		clean chain.git
		diff <(tree_of demo.git) <(tree_of chain.git)
	done
}

@test "users, umasks, zones, locales and places make no difference" {
	history
	export_to a.kistore
	digest=$(said_digest exported)
	git clone -q --bare demo.git clone.git
	git clone -q demo.git worktree 2>/dev/null
	import_to imported.git before-takedown.kistore
	kistore -q -C imported.git put "$SEEDS"/*.json >/dev/null
	kistore -q -C imported.git dictionary train >/dev/null
	export_to i4.kistore --from "$s3"
	import_to imported.git i4.kistore
	clean imported.git
	[ -n "$(git -C imported.git ls-tree HEAD dictionaries/)" ]
	for store in demo.git clone.git worktree imported.git; do
		(
			umask 077
			mkdir -p "home.$store"
			HOME=$PWD/home.$store TZ=Asia/Kathmandu LC_ALL=C \
				SOURCE_DATE_EPOCH=1 GIT_AUTHOR_NAME=Else \
				KISTORE_DIR=$store export_to x.kistore
		)
		cmp a.kistore x.kistore
		[ "$(said_digest exported)" = "$digest" ]
	done
	[ "$(stat -c %a x.kistore)" = 600 ]
}

@test "an imported store may have another dictionary than the exporter's" {
	python3 - >many.jsonl <<-'END'
	import json
	for i in range(1500):
	    print(json.dumps({"apiVersion": "kernelindex.dev/v1alpha1",
	        "kind": "SoftwareProject", "metadata": {"name": "p%d" % i},
	        "spec": {"name": "Project number %d of many" % i}}))
	END
	kistore -q put many.jsonl >/dev/null
	snapshot
	export_to a.kistore
	expect 0 kistore snapshot import --json --key "$VKEY" a.kistore x.git
	jq -e '.schema == "kistore-snapshot-import/1" and .created and
		.changed and .dictionaryTrained and .objects == 1507 and
		.signature.verdict == "signed"' "$OUT"
	[ -n "$(git -C x.git ls-tree HEAD dictionaries/)" ]
	[ "$(git -C x.git rev-parse HEAD:dictionaries)" != \
		"$(git -C demo.git rev-parse HEAD:dictionaries)" ]
	clean x.git
	same_store demo.git x.git
	KISTORE_DIR=x.git export_to b.kistore
	cmp a.kistore b.kistore
	kistore -q retract c3252a98 --reason x >/dev/null
	snapshot
	export_to c.kistore --from 1509
	import_to x.git c.kistore
	clean x.git
}

@test "takedowns reach back into segments, full ones and the one that grows" {
	kistore -q put "$REPO/fixtures/liger-runs.jsonl" >/dev/null
	kistore -q put "$SEEDS"/group/*.json >/dev/null
	n=$(kistore log --root | cut -d' ' -f1)
	[ "$n" -gt 200 ] && [ "$n" -lt 256 ]
	snapshot
	export_to a.kistore
	import_to x.git a.kistore
	for reason in $(seq "$n" 270); do
		kistore -q retract c3252a98 --reason "$reason" >/dev/null
	done
	kistore -q takedown "$PROJECT" --lines --reason law >/dev/null
	kistore -q takedown 09e771f0 --lines --reason law >/dev/null
	snapshot
	export_to b.kistore --from "$n"
	import_to x.git b.kistore
	clean x.git
	same_store demo.git x.git
	[ "$(git -C x.git show HEAD:log/000/000.jsonl | grep -c '^-')" -eq 2 ]
	# Now the listed entry is in a segment before the one that grows.
	n=$(kistore log --root | cut -d' ' -f1)
	kistore -q takedown "$THIRD" --lines --reason law >/dev/null
	snapshot
	export_to c.kistore --from "$n"
	import_to x.git c.kistore
	clean x.git
	same_store demo.git x.git
	[ "$(git -C x.git show HEAD:log/000/000.jsonl | grep -c '^-')" -eq 3 ]
}

@test "a work tree follows what is imported into it" {
	export_to a.kistore
	import_to bare.git a.kistore
	git clone -q bare.git tree 2>/dev/null
	kistore -q retract c3252a98 --reason x >/dev/null
	kistore -q put "$SEEDS"/group/*.json >/dev/null
	snapshot
	export_to b.kistore --from 9
	expect 0 kistore -C tree snapshot import --key "$VKEY" b.kistore
	[ -z "$(git -C tree status --porcelain)" ]
	[ "$(wc -l <tree/log/000/000.jsonl)" -eq 14 ]
	clean tree
}

@test "the file may come by a pipe, and go to one" {
	kistore snapshot export 2>said | cat >a.kistore
	grep -q "^kistore: tar sha256:" said
	expect 0 kistore snapshot verify --key "$VKEY" - <a.kistore
	expect 0 bash -c "cat a.kistore | '$KISTORE' snapshot import \
		--key '$VKEY' - new.git"
	clean new.git
	expect 0 kistore snapshot export -o - 9
	cmp "$OUT" a.kistore
	expect 0 kistore -q snapshot export
	silent_err
	mkfifo pipe
	cat pipe >b.kistore &
	expect 0 kistore snapshot export -o pipe
	wait
	cmp a.kistore b.kistore
	[ -p pipe ]
}

@test "--json tells the same" {
	expect 0 kistore snapshot export --json -o a.kistore
	jq -e --arg tar "$(tar_digest a.kistore)" '.schema ==
		"kistore-snapshot-export/1" and .file == "a.kistore" and
		.size == 9 and .from == 0 and .objects == 7 and
		.objectBytes == 3522 and .tar == $tar and
		.tarBytes == 14336 and .origin == "'"$NAME"'"' "$OUT"
	expect 0 kistore snapshot verify --json --key "$VKEY" a.kistore
	jq -e --arg tar "$(tar_digest a.kistore)" '.schema ==
		"kistore-snapshot-verify/1" and .tar == $tar and
		.signature.verdict == "signed" and .unsupported == 0 and
		.notChecked == ""' "$OUT"
	expect 2 kistore snapshot export --json
	err_has "--json needs -o FILE"
}

# ---- What is not exported --------------------------------------------------------

@test "an export needs a snapshot, by its size" {
	kistore init empty.git >/dev/null
	expect 3 kistore -C empty.git snapshot export -o a.kistore
	err_has "nothing is signed yet"
	for size in 8 10 99999; do
		expect 3 kistore snapshot export -o a.kistore "$size"
		err_is "kistore: there is no snapshot of $size entries, only of 9"
	done
	expect 3 kistore snapshot export -o a.kistore --from 3
	err_has "there is no snapshot of 3 entries, only of 9"
	expect 2 kistore snapshot export -o a.kistore --from 9
	err_has "begins at an earlier snapshot"
	expect 2 kistore snapshot export -o a.kistore nine
	expect 2 kistore snapshot export -o a.kistore 0
	expect 2 kistore snapshot export -o a.kistore -- -9
	expect 2 kistore snapshot export -o a.kistore 9 9
	[ ! -e a.kistore ]
	only demo.git empty.git
}

@test "what was taken down is in no export, and older sizes are refused" {
	history
	for size in "$s1" "$s2" "$s3"; do
		expect 3 kistore snapshot export -o a.kistore "$size"
		err_has "which entry $((s4 - 2)) takes down"
		err_has "(S13)"
		silent_out
	done
	[ ! -e a.kistore ]
	export_to a.kistore "$s4"
	! zstd -dcq a.kistore | grep -q transformers || return 1
	zstd -dcq a.kistore | tar -t >list
	! grep -q "${PROJECT#sha256:}\|${WORKLOAD#sha256:}" list || return 1
	# What does not concern it can still be exported.
	export_to b.kistore --from "$s2" "$s3"
	expect 0 kistore snapshot verify --key "$VKEY" b.kistore
}

@test "a takedown that is not signed yet stops exports of what it names" {
	kistore -q takedown "$PROJECT" --reason law >/dev/null
	expect 3 kistore snapshot export -o a.kistore
	err_has "the snapshot of 9 entries has $PROJECT, which entry 9 takes down"
	snapshot
	expect 0 kistore snapshot export -o a.kistore
}

@test "entries after the snapshot stay out" {
	export_to a.kistore
	kistore -q retract c3252a98 --reason x >/dev/null
	export_to b.kistore
	cmp a.kistore b.kistore
	{ git -C demo.git show HEAD:log/000/000.jsonl; echo '{}'; } >bad
	replace log/000/000.jsonl bad
	export_to b.kistore
	cmp a.kistore b.kistore
}

@test "a damaged store is not exported, and nothing is left" {
	damaged() {
		expect "$1" kistore snapshot export -o a.kistore
		silent_out
		err_has "$2"
		[ ! -e a.kistore ]
		only demo.git
		git -C demo.git update-ref HEAD "$good"
	}
	good=$(commit_id)
	remove "$(object_path "$PROJECT")"
	damaged 1 "$PROJECT was published but its object is absent"
	printf 'no frame' >bad
	replace "$(object_path "$PROJECT")" bad
	damaged 1 "$(object_path "$PROJECT"): "
	git -C demo.git show "HEAD:$(object_path "$RUN")" >bad
	replace "$(object_path "$PROJECT")" bad
	damaged 1 "another sha256 than its address"
	git -C demo.git show HEAD:log/000/000.jsonl |
		sed 's/transformers/transformerz/' >bad
	replace log/000/000.jsonl bad
	damaged 1 "are not those that were signed (S1)"
	git -C demo.git show HEAD:log/000/000.jsonl | sed '4p;5d' >bad
	replace log/000/000.jsonl bad
	damaged 1 "entry 4: the digest is published already"
	git -C demo.git show HEAD:log/000/000.jsonl | head -n 4 >bad
	replace log/000/000.jsonl bad
	damaged 1 "fewer than the 9 entries that are signed (S2)"
	git -C demo.git show HEAD:checkpoints/9 | sed '1s/log/lok/' >bad
	replace checkpoints/9 bad
	damaged 1 "checkpoint"
	printf 'x' >bad
	replace checkpoints/7 bad
	damaged 1 "checkpoints/7"
	printf '{"format":"kistore/1","origin":"other.example/log"}' >bad
	replace store.json bad
	damaged 1 "another origin than store.json (S3)"
}

@test "the lines of cosigners stay out of the file" {
	export_to a.kistore
	kistore key generate --name witness.example/w -o w.key >/dev/null 2>&1
	git -C demo.git show HEAD:checkpoint >note
	{ cat note; printf '\342\200\224 witness.example/w AAAAAAAA\n'; } >cosigned
	replace checkpoint cosigned
	replace checkpoints/9 cosigned
	export_to b.kistore
	cmp a.kistore b.kistore
}

@test "where it cannot be written nothing is left" {
	[ -c /dev/full ] || skip "no /dev/full"
	expect 5 kistore snapshot export -o /dev/full
	err_has "/dev/full: No space left on device"
	[ -c /dev/full ]
	status=0
	"$KISTORE" snapshot export >/dev/full 2>err || status=$?
	[ "$status" -eq 5 ]
	grep -q 'standard output: No space left on device' err
	expect 5 kistore snapshot export -o no/such/a.kistore
	mkdir directory
	expect 5 kistore snapshot export -o directory
	[ -z "$(ls -A directory)" ]
	if [ "$(id -u)" -ne 0 ]; then
		chmod a-w directory
		expect 5 kistore snapshot export -o directory/a.kistore
	fi
	only demo.git
}

@test "a file that is there is replaced as a whole, or stays" {
	echo precious >a.kistore
	expect 3 kistore snapshot export -o a.kistore 8
	[ "$(cat a.kistore)" = precious ]
	ln a.kistore other-name
	expect 0 kistore snapshot export -o a.kistore
	[ "$(cat other-name)" = precious ]
	expect 0 kistore snapshot verify --key "$VKEY" a.kistore
}

@test "no file goes to a terminal" {
	need_terminal
	need_command python3
	status=0
	python3 -c 'import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' \
		"$KISTORE" snapshot export >said </dev/null || status=$?
	[ "$status" -eq 2 ]
	grep -q 'standard output is a terminal: name a file (-o FILE)' said
}

# ---- Whose word counts --------------------------------------------------------------

@test "without a key everything but trust is checked, and that is said" {
	export_to a.kistore
	expect 6 kistore snapshot verify a.kistore
	err_has "no key is trusted: it is signed, as it says itself, by $NAME+"
	grep -qx '7 objects, 3522 bytes' "$OUT"
	grep -qx 'signature not checked' "$OUT"
	expect 6 kistore snapshot verify --json a.kistore
	head -n 1 "$OUT" | jq -e '.signature.verdict == "not asked" and
		.notChecked == "signature not checked"'
	expect 6 kistore snapshot import a.kistore new.git
	silent_out
	err_has "--unverified (S12)"
	only demo.git
	expect 0 kistore snapshot import --unverified a.kistore new.git
	err_has "unverified: nobody's word"
	grep -qx 'signature not checked' "$OUT"
	clean new.git
}

@test "another key, another origin" {
	export_to a.kistore
	kistore key generate --name "$NAME" -o two.key >two 2>/dev/null
	expect 6 kistore snapshot verify --key "$(cat two)" a.kistore
	grep -q '^signature: untrusted key: ' "$OUT"
	expect 6 kistore snapshot import --key "$(cat two)" a.kistore new.git
	err_has "untrusted key: "
	kistore key generate --name other.example/log -o three.key >three \
		2>/dev/null
	expect 6 kistore snapshot verify --key "$(cat three)" a.kistore
	# The right key, said to be of another log.
	kistore key show --json log.key | jq -r .ssh | cut -d' ' -f1,2 >ssh
	expect 6 kistore snapshot verify --key ssh --origin other.example/log \
		a.kistore
	expect 0 kistore snapshot verify --key ssh --origin "$NAME" a.kistore
	expect 2 kistore snapshot verify --key ssh a.kistore
	expect 5 kistore snapshot verify --key no-such-file a.kistore
	only demo.git
}

@test "a file whose note is of another log" {
	export_to a.kistore
	kistore init b.git >/dev/null
	kistore key generate --name other.example/log -o b.key >b.vkey \
		2>/dev/null
	XDG_STATE_HOME=$SIGNER kistore -q -C b.git snapshot create \
		--key b.key --first >/dev/null
	kistore -C b.git snapshot export -o b.kistore >/dev/null
	zstd -dcq b.kistore | tar -xO checkpoint >note
	remade a.kistore set checkpoint note >bad.kistore
	expect 1 kistore snapshot verify --key "$VKEY" --key "$(cat b.vkey)" \
		bad.kistore
	silent_out
}

@test "a pin stands for a key" {
	export_to a.kistore
	expect 2 kistore snapshot verify --pin a.kistore
	expect 0 kistore snapshot verify --key "$VKEY" --pin a.kistore
	grep -qx 'pinned: trusted for its origin from now on' "$OUT"
	expect 0 kistore snapshot verify a.kistore
	expect 0 kistore snapshot import a.kistore new.git
	kistore key generate --name "$NAME" -o two.key >two 2>/dev/null
	expect 6 kistore snapshot verify --key "$(cat two)" a.kistore
}

@test "an older file is a rollback" {
	export_to a.kistore
	kistore -q retract c3252a98 --reason x >/dev/null
	snapshot
	export_to b.kistore
	expect 0 kistore snapshot verify --key "$VKEY" b.kistore
	expect 1 kistore snapshot verify --key "$VKEY" a.kistore
	grep -q '^signature: rollback: older than what was accepted' "$OUT"
	expect 1 kistore snapshot import --key "$VKEY" a.kistore new.git
	err_has "a.kistore: rollback: "
	expect 1 kistore snapshot import --unverified --key "$VKEY" a.kistore \
		new.git
	only demo.git
	zstd -dcq b.kistore | tar -xO checkpoint >note
	XDG_STATE_HOME=$PWD/none expect 1 kistore snapshot verify \
		--key "$VKEY" --since note a.kistore
}

@test "a fork is told with evidence, and is not imported" {
	kistore -q retract c3252a98 --reason x >/dev/null
	git clone -q --bare demo.git fork.git
	snapshot
	export_to a.kistore
	git -C fork.git update-ref HEAD HEAD~
	kistore -q -C fork.git retract c3252a98 --reason y >/dev/null
	cp -r "$SIGNER" thief
	rm -r thief/kistore/signers
	git -C fork.git show HEAD:checkpoint >note
	XDG_STATE_HOME=$PWD/thief kistore -q -C fork.git snapshot create \
		--key log.key --resume note >/dev/null
	KISTORE_DIR=fork.git export_to f.kistore
	KISTORE_DIR=fork.git export_to fi.kistore --from 9
	expect 0 kistore snapshot verify --key "$VKEY" a.kistore
	expect 1 kistore snapshot verify --key "$VKEY" f.kistore
	grep -q '^signature: fork: ' "$OUT"
	evidence=$(sed -n 's/^evidence: //p' "$OUT")
	grep -q '^== the consistency proof' "$evidence"
	expect 1 kistore snapshot verify --key "$VKEY" fi.kistore
	grep -q '^signature: fork: ' "$OUT"
	expect 1 kistore snapshot import --key "$VKEY" f.kistore new.git
	err_has "evidence: "
	# A store that has followed one does not take the other.
	import_to mine.git a.kistore
	expect 1 kistore -C mine.git snapshot import --key "$VKEY" fi.kistore
	XDG_STATE_HOME=$PWD/none expect 1 kistore -C mine.git snapshot import \
		--key "$VKEY" fi.kistore
	err_has "other entries after entry 8 than the file"
	only demo.git fork.git mine.git
}

@test "what was accepted of a smaller size than the file begins with" {
	export_to a.kistore
	expect 0 kistore snapshot verify --key "$VKEY" a.kistore
	for n in 1 2; do
		kistore -q retract c3252a98 --reason "$n" >/dev/null
		snapshot
	done
	export_to i.kistore --from 10
	expect 0 kistore snapshot verify --key "$VKEY" i.kistore
	grep -q 'not compared with what was accepted before' "$OUT"
	# So it is not remembered.
	expect 0 kistore snapshot verify --key "$VKEY" a.kistore
}

@test "a key that another has announced is followed where notes show it" {
	export_to a.kistore
	import_to x.git a.kistore
	kistore key generate --name "$NAME" -o two.key >two 2>/dev/null
	kistore -q retract c3252a98 --reason x >/dev/null
	XDG_STATE_HOME=$SIGNER kistore -q snapshot create --key log.key \
		--next "$(cat two)" >/dev/null
	export_to b.kistore --from 9
	import_to x.git b.kistore
	kistore -q restore c3252a98 --reason x >/dev/null
	XDG_STATE_HOME=$SIGNER kistore -q snapshot create --key two.key \
		--first >/dev/null
	size=$(kistore log --root | cut -d' ' -f1)
	export_to c.kistore --from 11
	expect 6 kistore snapshot verify --key "$VKEY" c.kistore
	expect 0 kistore snapshot verify --key "$VKEY" --key "$(cat two)" \
		c.kistore
	import_to x.git c.kistore
	expect 0 kistore -C x.git verify --key "$VKEY"
	export_to d.kistore "$size"
	expect 0 kistore snapshot verify --key "$(cat two)" d.kistore
}

# ---- Files that nobody exported --------------------------------------------------------

# remade FILE EDIT…: the file with its members changed, on standard output; see
# the script for what edits there are.
remade() {
	local file=$1
	shift
	zstd -dcq "$file" | python3 -c '
import os, sys

def read(data):
    members = []
    while data[:512].strip(b"\0"):
        head, name = data[:512], data[:100].rstrip(b"\0").decode()
        size = int(head[124:135], 8)
        members.append([name, data[512:512 + size]])
        data = data[512 + (size + 511) // 512 * 512:]
    return members

def write(name, body):
    head = bytearray(512)
    def put(at, text):
        head[at:at + len(text)] = text
    put(0, name.encode())
    put(100, b"0000644\0"); put(108, b"0000000\0"); put(116, b"0000000\0")
    put(124, b"%011o\0" % len(body)); put(136, b"00000000000\0")
    put(148, b"        "); put(156, b"0"); put(257, b"ustar\0"); put(263, b"00")
    put(329, b"0000000\0"); put(337, b"0000000\0")
    put(148, b"%06o\0 " % sum(head))
    return bytes(head) + body + b"\0" * (-len(body) % 512)

members = read(sys.stdin.buffer.read())
args = sys.argv[1:]
def find(name):
    return next(m for m in members if m[0].startswith(name))
while args:
    op, name = args.pop(0), args.pop(0)
    m = find(name)
    if op == "set":
        m[1] = open(args.pop(0), "rb").read()
    elif op == "drop":
        members.remove(m)
    elif op == "double":
        members.insert(members.index(m), [m[0], m[1]])
    elif op == "rename":
        m[0] = args.pop(0)
    elif op == "first":
        members.remove(m); members.insert(0, m)
    elif op == "last":
        members.remove(m); members.append(m)
    elif op == "swap":
        o = find(args.pop(0)); m[1], o[1] = o[1], m[1]
    elif op == "edit":
        m[1] = m[1].replace(os.fsencode(args.pop(0)),
            os.fsencode(args.pop(0)))
    elif op == "cut":
        lines = m[1].splitlines(True); del lines[int(args.pop(0))]
        m[1] = b"".join(lines)
    elif op == "turn":
        lines = m[1].splitlines(True); n = int(args.pop(0))
        lines[n:n + 2] = lines[n + 1:n - 1:-1] if n else lines[1::-1]
        m[1] = b"".join(lines)
out = b"".join(write(*m) for m in members) + bytes(1024)
sys.stdout.buffer.write(out)' "$@" | zstd -qc
}

# bad WHY EDIT…: the good file so changed is refused by all, for that reason;
# where there is a store $into, an import into it changes nothing.
bad() {
	local why=$1
	shift
	remade good.kistore "$@" >bad.kistore
	is_bad "$why"
}

is_bad() {
	expect 1 kistore snapshot verify --key "$VKEY" bad.kistore
	silent_out
	err_has "bad.kistore: "
	err_has "$1"
	local before
	before=$([ -z "${into-}" ] || git -C "$into" rev-parse HEAD)
	expect 1 kistore snapshot import --key "$VKEY" bad.kistore \
		"${into-new.git}"
	err_has "$1"
	expect 1 kistore snapshot import --unverified bad.kistore \
		"${into-new.git}"
	only demo.git ${into+"$into"}
	[ -z "${into-}" ] || [ "$(git -C "$into" rev-parse HEAD)" = "$before" ]
}

@test "objects that lack, are too many, swapped, doubled or edited" {
	export_to good.kistore
	remade good.kistore edit checkpoint x x >same.kistore
	[ "$(tar_digest same.kistore)" = "$(tar_digest good.kistore)" ]
	bad "$PROJECT is published, and not in the file (S9)" \
		drop "objects/${PROJECT#sha256:}"
	bad "no entry of the file publishes it (S9)" \
		rename "objects/e6" "objects/$(printf '%064d' 0 | tr 0 f)"
	bad "another sha256 than its address (O9)" swap objects/08 objects/1e
	bad "follows that of" double objects/08
	bad "follows that of" last objects/08
	bad "another sha256 than its address (O9)" \
		edit objects/1e transformers transformerz
	bad "where an object is due" rename objects/08 objects/080E
}

@test "lines that are dropped, turned round or edited" {
	export_to good.kistore
	bad "ends before entry 8 (S9)" cut log/ 3
	bad "they have another root (S1)" turn log/ 0
	bad "they have another root (S1)" turn log/ 3
	bad "they have another root (S1)" edit log/ transformers transformerz
	bad "entry 4: " edit log/ '"kind":"kernelindex.dev/v1alpha1/SoftwareProject"' '"kind":""'
	bad "entry 0: not canonical JSON" edit log/ '{"at"' $'\n{"at"'
	bad "has bytes after entry 8 (S9)" edit log/ '"log"}' \
		$'"log"}\n{}'
}

@test "members out of order, of other names, or too few" {
	export_to good.kistore
	bad "where checkpoint is due (S9)" first log/
	bad "archive ends where from/checkpoint or log/000/000.jsonl is due" \
		drop log/ drop objects/08 drop objects/1e drop objects/45 \
		drop objects/90 drop objects/c3 drop objects/c6 drop objects/e6
	bad "where checkpoint is due (S9)" drop checkpoint
	bad "or log/000/000.jsonl is due (S9)" rename log/ log/000/00.jsonl
	bad "or log/000/000.jsonl is due (S9)" rename log/ ../000.jsonl
	bad "where from/checkpoint or log/000/000.jsonl is due (S9)" \
		double checkpoint
	bad "where an object is due (S9)" double log/
}

@test "notes that are edited" {
	export_to good.kistore
	bad "checkpoint: " edit checkpoint $'\n9\n' $'\n09\n'
	bad "has bytes after entry 7 (S9)" edit checkpoint $'\n9\n' $'\n8\n'
	bad "ends before entry 9 (S9)" edit checkpoint $'\n9\n' $'\n10\n'
	bad "which is not its origin (S3)" edit checkpoint \
		"$NAME"$'\n' "other.example/log"$'\n'
	bad "has 2 signatures" edit checkpoint $'\n\n\342' \
		$'\n\n\342\200\224 x AAAAAAAAAA==\n\342'
	zstd -dcq good.kistore | tar -xO checkpoint >note
	LC_ALL=C sed '$s/.\{20\}\(..\)$/AAAAAAAAAAAAAAAAAAAA\1/' note >forged
	remade good.kistore set checkpoint forged >bad.kistore
	is_bad "checkpoint: "
}

@test "what is no snapshot file at all" {
	for bytes in '' 'x' '(\265/\375' "$(cat vkey)"; do
		printf '%b' "$bytes" >bad.kistore
		is_bad "bad.kistore: "
	done
	export_to good.kistore
	zstd -dcq good.kistore >bad.kistore
	is_bad "not a zstd frame (S8)"
	zstd -dcq good.kistore | zstd -qc --no-check >bad.kistore
	is_bad "has no checksum (S8)"
	cat good.kistore good.kistore >bad.kistore
	is_bad "bytes follow the zstd frame (S8)"
	{ cat good.kistore; echo; } >bad.kistore
	is_bad "bytes follow the zstd frame (S8)"
	head -c 1000 good.kistore >bad.kistore
	is_bad "bad.kistore: "
	tar -C demo.git -c HEAD | zstd -qc >bad.kistore
	is_bad "archive member HEAD has another"
	zstd -dcq good.kistore | { cat; head -c 1024 /dev/zero; } |
		zstd -qc >bad.kistore
	is_bad "archive goes on after its two zero blocks (S10)"
}

@test "a bomb is refused as soon as it is none" {
	head -c 300000000 /dev/zero | zstd -qc >bad.kistore
	is_bad "archive ends where checkpoint is due (S9)"
	export_to good.kistore
	zstd -dcq good.kistore | { head -c 2560; head -c 300000000 /dev/zero |
		tr '\0' '\n'; } | zstd -qc >bad.kistore
	is_bad "bad.kistore: "
}

@test "an incremental file that is wrong" {
	export_to a.kistore
	into=x.git
	import_to x.git a.kistore
	kistore -q put "$SEEDS"/group/*.json >/dev/null
	kistore -q retract c3252a98 --reason x >/dev/null
	snapshot
	export_to good.kistore --from 9
	expect 0 kistore snapshot verify --key "$VKEY" good.kistore
	bad "from/range" edit from/range A B edit from/range a b \
		edit from/range c d edit from/range 1 2
	bad "where from/range is due (S9)" drop from/range
	bad "where from/checkpoint or log/000/000.jsonl is due (S9)" \
		drop from/checkpoint
	bad "ends before entry 5 (S9)" drop from/checkpoint drop from/range
	bad "incremental snapshot of 9 entries from entry 14 on (S11)" \
		swap checkpoint from/checkpoint
	bad "is published, and not in the file (S9)" drop objects/0
	bad "they have another root (S1)" turn log/ 1
	bad "ends before entry" cut log/ 0
}

# ---- Where it goes ----------------------------------------------------------------------

@test "a full file needs a place of its own" {
	export_to a.kistore
	expect 2 kistore snapshot import --key "$VKEY" a.kistore
	err_has "name the directory of the store to make of it"
	expect 5 kistore snapshot import --key "$VKEY" a.kistore demo.git
	err_has "demo.git: exists and is not empty"
	mkdir full
	touch full/x
	expect 5 kistore snapshot import --key "$VKEY" a.kistore full
	[ "$(ls -A full)" = x ]
	expect 5 kistore snapshot import --key "$VKEY" a.kistore vkey
	expect 5 kistore snapshot import --key "$VKEY" no-file new.git
	err_has "no-file: No such file or directory"
	expect 5 kistore snapshot import --key "$VKEY" a.kistore vkey/new.git
	expect 2 kistore snapshot import --key "$VKEY"
	only demo.git
	mkdir empty
	expect 0 kistore snapshot import --key "$VKEY" a.kistore empty/
	clean empty
	expect 0 kistore snapshot import --key "$VKEY" a.kistore deep/er/new.git/
	clean deep/er/new.git
	[ "$(ls -A deep/er)" = new.git ]
}

@test "a directory that cannot be written in" {
	[ "$(id -u)" -ne 0 ] || skip "root may write everywhere"
	export_to a.kistore
	mkdir closed
	chmod a-w closed
	expect 5 kistore snapshot import --key "$VKEY" a.kistore closed/new.git
	expect 5 kistore snapshot import --key "$VKEY" a.kistore closed
	[ -z "$(ls -A closed)" ]
}

@test "an incremental file continues the store that ends where it begins" {
	export_to a.kistore
	kistore -q retract c3252a98 --reason 1 >/dev/null
	snapshot
	export_to b.kistore --from 9
	kistore -q retract c3252a98 --reason 2 >/dev/null
	snapshot
	export_to c.kistore --from 10
	export_to bc.kistore --from 9
	expect 3 kistore snapshot import --key "$VKEY" b.kistore nothing.git
	err_has "continues the store that has its first 9 entries"
	import_to x.git a.kistore
	at=$(git -C x.git rev-parse HEAD)
	expect 3 kistore snapshot import --key "$VKEY" c.kistore x.git
	err_has "the store has 9 entries, and the file begins after 10"
	expect 6 kistore snapshot import b.kistore x.git
	[ "$(git -C x.git rev-parse HEAD)" = "$at" ]
	expect 0 kistore -C x.git snapshot import --key "$VKEY" b.kistore
	grep -q '^the store is continued: commit ' "$OUT"
	at=$(git -C x.git rev-parse HEAD)
	expect 0 kistore -C x.git snapshot import --key "$VKEY" b.kistore
	grep -qx 'nothing to do: the store has these entries' "$OUT"
	expect 5 kistore -C x.git snapshot import --key "$VKEY" bc.kistore
	err_has "the store has 10 entries already, of which 10 are signed"
	[ "$(git -C x.git rev-parse HEAD)" = "$at" ]
	expect 0 kistore -C x.git snapshot import --key "$VKEY" c.kistore
	expect 0 kistore -C x.git snapshot import --key "$VKEY" bc.kistore
	grep -qx 'nothing to do: the store has these entries' "$OUT"
	# What is older than what was accepted rolls nothing back here.
	expect 0 kistore -C x.git snapshot import --key "$VKEY" b.kistore
	clean x.git
}

@test "a store with other entries is not continued" {
	export_to a.kistore
	kistore -q retract c3252a98 --reason 1 >/dev/null
	snapshot
	export_to b.kistore --from 9
	import_to x.git a.kistore
	kistore -q -C x.git retract c3252a98 --reason mine >/dev/null
	at=$(git -C x.git rev-parse HEAD)
	expect 5 kistore -C x.git snapshot import --key "$VKEY" b.kistore
	err_has "after the 9 entries that the file continues the store has 1 more"
	err_has "(git update-ref)"
	[ "$(git -C x.git rev-parse HEAD)" = "$at" ]
	git -C x.git update-ref HEAD HEAD~
	expect 0 kistore -C x.git snapshot import --key "$VKEY" b.kistore
	# Another log with as many entries.
	kistore init y.git >/dev/null
	kistore -q -C y.git put "$SEEDS"/group/*.json "$SEEDS"/*.json \
		>/dev/null
	expect 1 kistore -C y.git snapshot import --key "$VKEY" b.kistore
	err_has "are not those that the file continues (S11)"
	kistore init --origin other.example/log z.git >/dev/null
	expect 1 kistore -C z.git snapshot import --key "$VKEY" b.kistore
	err_has "the origin of the store is other.example/log"
}

@test "an import waits for the writer's lock no longer than asked" {
	need_command flock
	export_to a.kistore
	import_to x.git a.kistore
	kistore -q retract c3252a98 --reason 1 >/dev/null
	snapshot
	export_to b.kistore --from 9
	expect 5 flock x.git/kistore.lock "$KISTORE" -C x.git snapshot import \
		--wait 0 --key "$VKEY" b.kistore
	expect 0 kistore -C x.git snapshot import --key "$VKEY" b.kistore
}

@test "verify needs neither a store nor git" {
	export_to a.kistore
	mkdir elsewhere
	cd elsewhere
	unset KISTORE_DIR
	expect 0 env -i "$KISTORE" snapshot verify --key "$VKEY" ../a.kistore
	err_has "what was accepted is not remembered"
	[ -z "$(ls -A)" ]
	if command -v strace >/dev/null && [ -z "${SANITIZE-}" ] &&
		strace -qq -o /dev/null true 2>/dev/null; then
		strace -f -qq -o trace "$KISTORE" snapshot verify \
			--key "$VKEY" ../a.kistore >/dev/null
		! grep -q 'gitconfig\|\.git"' trace || return 1
	fi
}

# ---- Death ---------------------------------------------------------------------------------

# killed SECONDS COMMAND…
killed() {
	local delay=$1
	shift
	(
		"$@" >out 2>err &
		sleep "$delay"
		kill -9 $!
		wait $!
	) 2>/dev/null || true
}

moments() {
	echo 0.001 0.002 0.003 0.004 0.005 0.007 0.009 0.012 0.015 0.02 0.025 \
		0.03 0.04 0.05 0.06 0.08 0.1 0.13 0.18 0.25
}

@test "killed at 20 moments of an export: the old file or the new one" {
	export_to old.kistore
	history
	export_to new.kistore
	new=0
	for moment in $(moments); do
		cp old.kistore a.kistore
		killed "$moment" "$KISTORE" snapshot export -o a.kistore
		if ! cmp -s a.kistore old.kistore; then
			cmp a.kistore new.kistore
			new=$((new + 1))
		fi
	done
	echo "$new of 20 were done"
	expect 0 kistore snapshot export -o a.kistore
	cmp a.kistore new.kistore
}

@test "killed at 20 moments of an import: no store, or a whole one" {
	history
	export_to a.kistore
	new=0
	for moment in $(moments); do
		rm -rf new.git
		killed "$moment" "$KISTORE" snapshot import --key "$VKEY" \
			a.kistore new.git
		[ -e new.git ] || continue
		clean new.git
		new=$((new + 1))
	done
	echo "$new of 20 were done"
	rm -rf new.git
	expect 0 kistore snapshot import --key "$VKEY" a.kistore new.git
	clean new.git
}

@test "killed at 20 moments of an incremental import: the old store or the new" {
	history
	export_to i.kistore --from "$s3"
	import_to old.git before-takedown.kistore
	old=$(git -C old.git rev-parse HEAD)
	new=0
	for moment in $(moments); do
		rm -rf x.git
		cp -a old.git x.git
		killed "$moment" "$KISTORE" -C x.git snapshot import \
			--key "$VKEY" i.kistore
		expect 0 kistore -C x.git verify
		if [ "$(git -C x.git rev-parse HEAD)" != "$old" ]; then
			same_store x.git demo.git
			new=$((new + 1))
		fi
		expect 0 kistore -C x.git snapshot import --key "$VKEY" \
			i.kistore
		clean x.git
		same_store x.git demo.git
	done
	echo "$new of 20 were done"
}
