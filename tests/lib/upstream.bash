# shellcheck shell=bash
# A mirror, and what an upstream may do to it: load ../lib/upstream after
# ../lib/common, ../lib/store, ../lib/sign and ../lib/hostile.
#
# demo.git is the upstream, on which the functions of store.bash and sign.bash
# work, with stock git; m.git is its mirror.

# mirrored_store: a signed store, and a mirror by a user who has pinned its key.
mirrored_store() {
	signed_store
	clone_mirror m.git
}

# clone_mirror DIR [OPTION…]
clone_mirror() {
	kistore -q mirror clone --key "$VKEY" "${@:2}" demo.git "$1" >/dev/null
}

# mirror COMMAND…: of m.git, or $MIRROR.
mirror() {
	kistore -C "${MIRROR-m.git}" mirror "$@"
}

upstream() {
	git -C demo.git "$@"
}

# upstream_back N: the upstream as it was N commits ago, without the tags of what
# came since.
upstream_back() {
	upstream update-ref HEAD "HEAD~$1"
	upstream tag --no-merged HEAD | xargs -r git -C demo.git tag -d \
		>/dev/null
}

# put_new NAME: one more record, whose digest is in $NEW.
put_new() {
	# shellcheck disable=SC2034 # tests use it
	NEW=$(manifest "$1" | kistore -q put - | cut -d' ' -f1)
}

# frame_of DIGEST: the frame that the upstream has of it.
frame_of() {
	upstream cat-file blob "HEAD:$(object_path "$1")"
}

# commit_on PARENT COMMAND…: let the upstream's branch lead to one commit on PARENT
# ("" = none) with the tree of HEAD, changed as COMMAND tells fast-import.
commit_on() {
	local parent=$1
	{
		printf 'commit refs/heads/made\n'
		printf 'committer T <t@example.org> 1787000000 +0000\n'
		printf 'data 7\nby hand\n'
		[ -z "$parent" ] || printf 'from %s\n' \
			"$(upstream rev-parse "$parent")"
		printf 'M 040000 %s ""\n' "$(upstream rev-parse 'HEAD^{tree}')"
		"${@:2}"
	} | upstream fast-import --quiet --force
	upstream update-ref HEAD refs/heads/made
	upstream update-ref -d refs/heads/made
}

# Every object of the upstream in a file of its own.
upstream_loose() {
	local pack
	mkdir -p packs
	mv demo.git/objects/pack/* packs
	for pack in packs/*.pack; do
		upstream unpack-objects -q <"$pack"
	done
	rm -r packs
}

# loose_file REV: the file of a loose object of the upstream.
loose_file() {
	local id
	id=$(upstream rev-parse "$1")
	echo "demo.git/objects/${id:0:2}/${id:2}"
}

# ---- The mirror stays as it was ----------------------------------------------

# HEAD, references, git objects, and files with their sizes and times, but for
# what an update remembers of itself.
mirror_state() {
	git -C m.git symbolic-ref HEAD
	git -C m.git for-each-ref
	git -C m.git cat-file --batch-all-objects --batch-check
	state_of m.git | grep -v '^kistore-mirror '
}

keep_mirror() {
	mirror_state >kept
	kept_size=$(git -C m.git cat-file blob HEAD:checkpoint | sed -n 2p)
}

# unmoved: it is as it was, and nothing is left beside it. mirror_kept: and
# another user who trusts the key finds it as good as before.
unmoved() {
	diff kept <(mirror_state)
	nothing_left m.git
}

mirror_kept() {
	unmoved
	mirror_is "$kept_size"
}

nothing_left() {
	local left
	left=$(leftovers "$1" | grep -v '/kistore-mirror$' || true)
	[ -z "$left" ] && return
	echo "left: $left"
	return 1
}

# mirror_is SIZE: it holds that snapshot and nothing after it, and is sound.
mirror_is() {
	rm -rf judge
	expect 0 env XDG_STATE_HOME="$PWD/judge" "$KISTORE" \
		-C "${MIRROR-m.git}" verify --key "$VKEY"
	out_has "signed: $1 entries"
	out_lacks 'after them'
	no_finding
	[ -z "$(git -C "${MIRROR-m.git}" fsck --strict --no-dangling 2>&1)" ]
}

# ---- Verdicts ----------------------------------------------------------------

# says VERDICT WORDS: the last command's first line, of a refusal.
says() {
	local line
	read -r line <"$OUT" || true
	[[ $line == "refused: $1: "*"$2"* ]] && return
	echo "not refused: $1: … $2"
	cat "$OUT" "$ERR"
	return 1
}

# told KIND VERDICT WORDS: the same of a document.
told() {
	jq -e --arg kind "kistore-mirror-$1/1" --arg verdict "$2" \
		--arg words "$3" '.schema == $kind and .verdict == $verdict and
		(.message | contains($words)) and (.changed | not)' "$OUT" \
		>/dev/null && return
	echo "not told: $1 $2 … $3"
	cat "$OUT" "$ERR"
	return 1
}

# refuses VERDICT STATUS WORDS [OPTION…]: so ends an update, and another; `status`
# says it as well; and the mirror is what it was.
refuses() {
	local verdict=$1 code=$2 words=$3
	shift 3
	keep_mirror
	expect "$code" mirror update "$@"
	says "$verdict" "$words"
	no_escapes
	mirror_kept
	expect "$code" mirror update --json "$@"
	told update "$verdict" "$words"
	jq -e ".size == $kept_size and .before == $kept_size" "$OUT" >/dev/null
	unmoved
	expect "$code" mirror status
	[ "$(grep -c "^refused: $verdict: " "$OUT")" -eq 1 ]
	grep -q "^holds $kept_size entries" "$OUT"
	expect "$code" mirror status --json
	told status "$verdict" "$words"
}

# refuses_too VERDICT STATUS WORDS [OPTION…]: in a word, for one of many.
refuses_too() {
	keep_mirror
	expect "$2" mirror update "${@:4}"
	says "$1" "$3"
	unmoved
}

# What the user trusts and has accepted.
trust_state() {
	find "$XDG_STATE_HOME" -type f ! -name kistore.lock ! -path '*/forks/*' \
		-exec sha256sum {} + 2>/dev/null | sort
}

# clone_refuses VERDICT STATUS WORDS [OPTION…]: nothing is left of it, and nothing
# trusted or accepted.
clone_refuses() {
	local verdict=$1 code=$2 words=$3
	shift 3
	trust_state >trusted
	expect "$code" kistore mirror clone "$@" demo.git c.git
	says "$verdict" "$words"
	no_escapes
	[ ! -e c.git ]
	expect "$code" kistore mirror clone --json "$@" demo.git c.git
	told clone "$verdict" "$words"
	[ ! -e c.git ]
	trust_state | diff trusted -
}

# updated [SIZE]: the last update was accepted, and the mirror is that.
updated() {
	grep -q '^updated: ' "$OUT" || { cat "$OUT" "$ERR"; return 1; }
	nothing_left m.git
	[ $# -eq 0 ] || mirror_is "$1"
}
