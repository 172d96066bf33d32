#!/usr/bin/env bats
# A store under stock tools: git, zstd, sha256sum, jq.
# shellcheck disable=SC2030,SC2031 # each test has a STORE of its own

load ../lib/common
load ../lib/damage

prepare() {
	need_command git zstd jq python3
}

# git finds nothing to say, not even a warning, about the store and a clone.
expect_sound() {
	expect 0 git -C "$STORE" fsck --strict --full --no-dangling
	silent_out
	silent_err
	rm -rf clone.git
	git clone -q --bare --no-local "$STORE" clone.git
	expect 0 git -C clone.git fsck --strict --full --no-dangling
	silent_out
	silent_err
}

# Every object of the repository DIR, or every Nth, decodes with stock tools to
# the bytes that its path is named for. Prints how many.
check_objects() {
	local path id hex count=0 dictionary

	git -C "$1" ls-tree -r HEAD objects/ |
		awk -v n="${2-1}" 'NR % n == 0 { print $3, $4 }' >listed
	mkdir -p dictionaries
	while read -r path; do
		id=${path#dictionaries/}
		git -C "$1" show "HEAD:$path" >"dictionaries/${id%%-*}"
		hex=${path##*-}
		echo "${hex%.zdict}  dictionaries/${id%%-*}" |
			sha256sum -c --quiet
	done < <(git -C "$1" ls-tree -r --name-only HEAD dictionaries/)
	while read -r id path; do
		hex=${path#objects/}
		hex=${hex//\//}
		git -C "$1" cat-file blob "$id" >frame.zst
		# The dictionary that the frame names, RFC 8878 3.1.1.1.3.
		dictionary=$(zstd -lv frame.zst 2>/dev/null |
			sed -n 's/^DictID: \([1-9][0-9]*\)$/\1/p')
		zstd -dqc ${dictionary:+-D "dictionaries/$dictionary"} \
			frame.zst >body
		[ "$(sha256sum <body | cut -c1-64).zst" = "$hex" ]
		count=$((count + 1))
	done <listed
	echo "$count"
}

@test "git fsck --strict is silent after every command that writes" {
	kistore -q init store.git >/dev/null
	STORE=$PWD/store.git
	expect_sound
	in_store -q put "$SEEDS"/000/*.json >/dev/null
	expect_sound
	in_store -q put "$SEEDS"/003/*.json >/dev/null
	expect_sound
	other=$(kistore digest "$SEEDS/003/run.json" | cut -d' ' -f1)
	echo '{"name":"other"}' >metadata.json
	expect 0 in_store annotate "$RUN" --metadata metadata.json
	expect 0 in_store retract "$RUN" --reason wrong
	expect 0 in_store supersede "$RUN" --by "$other"
	expect 0 in_store restore "$RUN" --reason right
	expect_sound
	expect 0 in_store takedown "$RUN" --reason law
	expect_sound
	expect_clean
	expect 0 in_store gc
	expect_sound
	expect_clean
}

@test "any object is checked by git show, zstd -dc and sha256sum" {
	make_store
	[ "$(git -C "$STORE" show "HEAD:$(path_of "$RUN")" | zstd -dc |
		sha256sum)" = "${RUN#sha256:}  -" ]
	git clone -q --bare --no-local "$STORE" clone.git
	[ "$(check_objects clone.git)" -eq 7 ]
}

@test "so are objects that need a dictionary" {
	kistore -q init store.git >/dev/null
	STORE=$PWD/store.git
	in_store -q put "$REPO/fixtures/liger-runs.jsonl" >/dev/null
	expect 0 in_store dictionary train
	in_store -q put "$SEEDS"/000/*.json "$SEEDS"/003/*.json >receipt
	new=$(grep -c ' new$' receipt)
	[ "$new" -gt 0 ]
	expect_sound
	total=$(git -C clone.git ls-tree -r HEAD objects/ | wc -l)
	[ "$total" -eq $((245 + new)) ]
	digest=$(sed -n 's/ .* new$//p' receipt | head -n 1)
	git -C clone.git show "HEAD:$(path_of "$digest")" >needy.zst
	path=$(git -C clone.git ls-tree --name-only HEAD dictionaries/)
	git -C clone.git show "HEAD:$path" >learnt
	[ "$(zstd -D learnt -dc <needy.zst | sha256sum)" = \
		"${digest#sha256:}  -" ]
	run zstd -dqc needy.zst
	[ "$status" -ne 0 ]
	[ "$(check_objects clone.git 9)" -eq $((total / 9)) ]
}

@test "each frame states its size, and zstd finds one frame" {
	make_store
	git clone -q "$STORE" tree
	find tree/objects -name '*.zst' | while read -r file; do
		zstd -tq "$file"
		zstd -lv "$file" >listing 2>/dev/null
		grep -q '^# Zstandard Frames: 1$' listing
		grep -q '^Decompressed Size: .*(\([0-9]*\) B)' listing
	done
}

@test "the root of the log is what RFC 6962 says, computed by other means" {
	make_store
	in_store -q put "$SEEDS"/003/*.json >/dev/null
	bytes_of "$SEGMENT" | python3 -c '
import hashlib, sys
def tree(leaves):
    if len(leaves) == 1:
        return hashlib.sha256(b"\0" + leaves[0]).digest()
    k = 1
    while 2 * k < len(leaves):
        k *= 2
    return hashlib.sha256(b"\1" + tree(leaves[:k]) + tree(leaves[k:])).digest()
lines = sys.stdin.buffer.read().split(b"\n")[:-1]
print(len(lines), "sha256:" + tree(lines).hex())' >want
	in_store log --root | cmp want -
}

@test "jq reads the log, and its own sorted form of it is the same bytes" {
	make_store
	bytes_of "$SEGMENT" >log
	jq -r 'select(.op == "publish").digest' log | sort >digests
	store_git ls-tree -r --name-only HEAD objects/ |
		sed 's,^objects/,sha256:,; s,/,,g; s,\.zst$,,' | sort |
		cmp digests -
	jq -cS . log | cmp log -
}

@test "a clone, a bundle and a repack of a store are the same store" {
	make_store
	in_store log --root >root
	git clone -q "$STORE" tree
	store_git bundle create -q "$PWD/store.bundle" main
	git clone -q --bare store.bundle bundled.git -b main
	git clone -q --bare --no-local "$STORE" packed.git
	git -C packed.git repack -adfq --window=50
	for STORE in "$PWD/tree" "$PWD/bundled.git" "$PWD/packed.git"; do
		expect_clean
		in_store log --root | cmp root -
		in_store get "$RUN" | cmp - "$SEEDS/000/run.jcs"
		expect 0 in_store put "$SEEDS"/003/*.json
		expect_clean
		expect 0 git -C "$STORE" fsck --strict --no-dangling
		silent_out
	done
	[ "$(git -C tree status --porcelain)" = "" ]
}

@test "a checkout changes no byte, whatever git is told about line ends" {
	make_store
	git -c core.autocrlf=true -c core.eol=crlf clone -q "$STORE" tree
	cd tree || return
	git ls-tree -r HEAD | while read -r _ _ id path; do
		[ "$(git hash-object --no-filters "$path")" = "$id" ]
	done
}

@test "git log -p and git diff show the log as text, and objects not at all" {
	make_store
	in_store -q put "$SEEDS"/003/*.json >/dev/null
	git -C "$STORE" log -p --format= -1 >text
	grep -q '^+{"at":"' text
	git clone -q "$STORE" tree
	git -C tree log -p --format= -1 -- objects >binary
	grep -q '^Binary files' binary
	run grep -c '^+[^+]' binary
	[ "$output" = 0 ]
}

@test "a shallow clone is checked like any other" {
	make_store
	in_store -q put "$SEEDS"/003/*.json >/dev/null
	git clone -q --bare --depth 1 "file://$STORE" shallow.git
	in_store log --root >root
	STORE=$PWD/shallow.git
	expect 0 in_store verify
	grep -qx 'found nothing wrong' "$OUT"
	grep -q 'history' "$OUT"
	in_store log --root | cmp root -
}

@test "a partial clone's absent objects are not fetched, not damaged" {
	make_store
	store_git config uploadpack.allowFilter true
	git clone -q --bare --filter=blob:none "file://$STORE" partial.git
	# What a reader needs to begin with.
	for path in store.json .gitattributes "$SEGMENT"; do
		git -C partial.git cat-file blob "HEAD:$path" >/dev/null
	done
	STORE=$PWD/partial.git
	expect 3 in_store verify
	[ "$(grep -c '^unfetched objects/' "$OUT")" -eq 7 ]
	grep -qx 'found 0 damaged, 0 absent, 7 unfetched, 0 unsupported' "$OUT"
	get_refuses "$RUN" 3
	err_has "not fetched"
	git -C partial.git cat-file blob "HEAD:$(path_of "$RUN")" >/dev/null
	in_store get "$RUN" | cmp - "$SEEDS/000/run.jcs"
	# What is here and wrong is told apart from what is not here.
	: | place "$(path_of "$PROJECT")"
	expect 1 in_store verify
	named damage "$(path_of "$PROJECT")" "$PROJECT"
	grep -qx 'found 1 damaged, 0 absent, 5 unfetched, 0 unsupported' "$OUT"
}

@test "nothing that the repository names is executed" {
	make_store
	git clone -q "$STORE" tree
	STORE=$PWD/tree
	printf '#!/bin/sh\ntouch "%s"\n' "$PWD/executed" >snare
	chmod +x snare
	cp snare tree/.git/hooks/post-index-change
	for hook in pre-commit post-commit reference-transaction pre-auto-gc \
		post-checkout fsmonitor-watchman post-rewrite; do
		cp snare "tree/.git/hooks/$hook"
	done
	git -C tree config core.fsmonitor "$PWD/snare"
	git -C tree config core.sshCommand "$PWD/snare"
	git -C tree config core.pager "$PWD/snare"
	git -C tree config core.editor "$PWD/snare"
	git -C tree config filter.bad.smudge "$PWD/snare"
	git -C tree config filter.bad.clean "$PWD/snare"
	git -C tree config filter.bad.required true
	git -C tree config diff.bad.textconv "$PWD/snare"
	echo '* filter=bad diff=bad' >tree/.git/info/attributes
	rm -f executed
	expect 0 in_store verify
	expect 0 in_store status
	expect 0 in_store get "$RUN"
	try in_store put "$SEEDS"/003/*.json
	try in_store gc
	[ ! -e executed ]
}

@test "replace refs and grafts lead nobody astray" {
	make_store
	other=$(zstd -q -c "$SEEDS/index.json" | blob)
	store_git replace -f "$(store_git rev-parse "HEAD:$(path_of "$RUN")")" \
		"$other"
	expect_clean
	in_store get "$RUN" | cmp - "$SEEDS/000/run.jcs"
	store_git rev-parse HEAD >"$STORE/info/grafts"
	expect_clean
}
