# shellcheck shell=bash
# Changing a store behind its back, with stock git: load ../lib/damage, after
# ../lib/common.
#
# $STORE is the bare repository that the functions work on. Only make_store
# uses kistore; what the tests then put into the store is written by git's own
# plumbing, commit by commit.

SEEDS=$REPO/fixtures/seeds/closure
# The seed run and two of the records it refers to.
RUN=sha256:c3252a98ba487075f12047e8fc1ecd6dc156a9144e5fc5a6619de6954416fcf6
OPERATION=sha256:e655a95629867bb20ea2d0e6b41bbde013db93f7fca6deb9a49b6ee8b4bc31a5
PROJECT=sha256:1e8503b1cc39e8fe9d5242242de945ada0ed98cac96889f952cc7459d2de9da9
SEGMENT=log/000/000.jsonl
export SEEDS RUN OPERATION PROJECT SEGMENT

# make_store [DIR]: a store with the seed run and all that it refers to, seven
# objects. It is made once a file of tests, and copied.
make_store() {
	STORE=$PWD/${1:-store.git}
	local made=$BATS_FILE_TMPDIR/made.git

	if [ ! -d "$made" ]; then
		SOURCE_DATE_EPOCH=1787000000 kistore -q init "$made"
		SOURCE_DATE_EPOCH=1787000000 kistore -q -C "$made" \
			put "$SEEDS"/000/*.json >/dev/null
	fi
	cp -R "$made" "$STORE"
}

store_git() {
	git -C "$STORE" "$@"
}

in_store() {
	kistore -C "$STORE" "$@"
}

# ---- Reading ----------------------------------------------------------------

# The path of the object with a digest, and the digest of a path.
path_of() {
	local hex=${1#sha256:}
	echo "objects/${hex:0:1}/${hex:1:2}/${hex:3}.zst"
}

# bytes_of PATH: a file of the store.
bytes_of() {
	store_git cat-file blob "HEAD:$1"
}

# body_of DIGEST: the bytes of an object that needs no dictionary.
body_of() {
	bytes_of "$(path_of "$1")" | zstd -dqc
}

# ---- Writing ----------------------------------------------------------------

# The id of standard input as a blob.
blob() {
	store_git hash-object -w --stdin
}

# Commit to main what `git fast-import` is told on standard input, which is
# much quicker than an index or a tree at a time.
change() {
	{
		printf 'commit refs/heads/main\n'
		printf 'committer T <t@example.org> 1787000000 +0000\n'
		printf 'data 7\nby hand\nfrom refs/heads/main^0\n'
		cat
	} | store_git fast-import --quiet
}

# graft MODE ID PATH: commit an entry of this mode.
graft() {
	change <<<"M $1 $2 $3"
}

# place PATH: commit standard input as the file PATH.
place() {
	graft 100644 "$(blob)" "$1"
}

remove() {
	change <<<"D $1"
}

# edit PATH COMMAND…: commit what COMMAND makes of the file PATH.
edit() {
	local path=$1
	shift
	bytes_of "$path" >edited
	"$@" <edited | place "$path"
}

# Take the last commit back.
undo() {
	store_git update-ref refs/heads/main main^
}

# graft_any MODE ID PATH: the same for a mode that only git mktree takes, tree
# by tree up to the root.
graft_any() {
	local mode=$1 id=$2 path=$3 type=blob name directory

	while [ -n "$path" ]; do
		name=${path##*/}
		directory=${path%"$name"}
		directory=${directory%/}
		id=$({
			store_git ls-tree "main:$directory" |
				grep -vF -- "$(printf '\t')$name"
			printf '%s %s %s\t%s\n' "$mode" "$type" "$id" "$name"
		} | store_git mktree)
		mode=040000
		type=tree
		path=$directory
	done
	store_git update-ref refs/heads/main \
		"$(store_git commit-tree -p main -m 'by hand' "$id")"
}

# branches PATH DIR: for each file of DIR a branch of its name, main with that
# file at PATH.
branches() {
	local id file
	while read -r id file; do
		printf 'commit refs/heads/%s\n' "${file##*/}"
		printf 'committer T <t@example.org> 1787000000 +0000\n'
		printf 'data 7\nby hand\nfrom refs/heads/main^0\n'
		printf 'M 100644 %s %s\n' "$id" "$1"
	done < <(paste -d ' ' \
		<(printf '%s\n' "$PWD/$2"/* |
			store_git hash-object -w --stdin-paths) \
		<(printf '%s\n' "$PWD/$2"/*)) | store_git fast-import --quiet
}

# flip FILE OFFSET: change one byte in place, whatever its mode.
flip() {
	local byte
	chmod u+w "$1"
	byte=$(od -An -tu1 -j "$2" -N 1 "$1")
	printf '%b' "\\x$(printf '%02x' $((byte ^ 1)))" |
		dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# Every object of the store in a file of its own.
make_loose() {
	local pack
	mkdir -p packs
	mv "$STORE"/objects/pack/* packs
	for pack in packs/*.pack; do
		store_git unpack-objects -q <"$pack"
	done
}

# loose REV: the file of a loose object.
loose() {
	local id
	id=$(store_git rev-parse "$1")
	echo "$STORE/objects/${id:0:2}/${id:2}"
}

# ---- Judging ----------------------------------------------------------------

# expect_clean: verify finds nothing, not even a warning.
expect_clean() {
	expect 0 in_store verify
	grep -qx 'found nothing wrong' "$OUT"
	! grep -q '^warning' "$OUT"
}

# named SEVERITY PATH DIGEST [WORDS]: the last verify said so. "-" for none.
named() {
	local line
	while read -r line; do
		case $line in
		"$1 $2 $3 "*"${4-}"*) return ;;
		esac
	done <"$OUT"
	echo "not named: $1 $2 $3 ${4-}"
	cat "$OUT" "$ERR"
	return 1
}

# found DAMAGED ABSENT [UNSUPPORTED]: the counts of the last verify, which
# agree with what it listed.
found() {
	local want="found $1 damaged, $2 absent, 0 unfetched, ${3-0} unsupported"

	if ! grep -qx "$want" "$OUT" ||
		[ "$(grep -c '^damage ' "$OUT")" -ne "$1" ] ||
		[ "$(grep -c '^absent ' "$OUT")" -ne "$2" ]; then
		echo "not found: $want"
		cat "$OUT" "$ERR"
		return 1
	fi
}

# get_refuses DIGEST [STATUS]: get prints nothing and says why.
get_refuses() {
	expect "${2-1}" in_store get "$1"
	silent_out
	[ -s "$ERR" ]
}
