#!/usr/bin/env bats
# Mirrors whose upstream, surroundings or own files are not what they ought to
# be.

load ../lib/common
load ../lib/store
load ../lib/sign

prepare() {
	need_command git openssl ssh-keygen python3
	signed_store
}

# follow: a mirror of the store, in ./mirror, made once.
follow() {
	kistore -q mirror clone --key "$VKEY" "$KISTORE_DIR" mirror >/dev/null
}

# in_mirror COMMAND…
in_mirror() {
	kistore -C mirror "$@"
}

# empty_directory PATH: commit a directory without files, which git's index
# cannot have, but a tree can.
empty_directory() {
	local path=/$1 parent tree
	tree=$(git -C "$KISTORE_DIR" mktree </dev/null)
	while [ -n "$path" ]; do
		parent=${path%/*}
		tree=$({
			git -C "$KISTORE_DIR" ls-tree "HEAD:${parent#/}" \
				2>/dev/null | grep -v $'\t'"${path##*/}\$" || true
			printf '040000 tree %s\t%s\n' "$tree" "${path##*/}"
		} | git -C "$KISTORE_DIR" mktree)
		path=$parent
	done
	git -C "$KISTORE_DIR" update-ref HEAD "$(git -C "$KISTORE_DIR" \
		commit-tree -p HEAD -m empty "$tree")"
}

@test "a directory without files where none belongs is seen by an update, too" {
	local before path
	follow
	grow 1
	before=$(commit_id)
	for path in objects/zz objects/c/zz log/001/x log/x; do
		git -C "$KISTORE_DIR" update-ref HEAD "$before"
		empty_directory "$path"
		expect 1 in_mirror mirror update
		out_has "refused: damaged: "
	done
	# One that belongs there is no fault, and looked at whole.
	git -C "$KISTORE_DIR" update-ref HEAD "$before"
	empty_directory objects/e/ee
	expect 0 in_mirror mirror update
	expect 0 in_mirror verify --key "$VKEY"
}
