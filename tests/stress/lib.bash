# What every script in this directory sources first. They are run one by one by
# `make check-stress`; each ends with a line "NAME: ok, …" or stops at the
# first failure. Work is done below $STRESS_DIR (default: $TMPDIR or /tmp).

set -u
NAME=$(basename "$0" .sh)
REPO=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
KISTORE=$(realpath "${KISTORE:-$REPO/build/kistore}")
SHARED=$(realpath "${KISTORE_SHARED:-$REPO/../shared}")
CATALOGUE=$SHARED/data/catalog-2026-08-16-0022af0b.jsonl.zst
export KISTORE
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
unset GIT_DIR GIT_WORK_TREE KISTORE_DIR SOURCE_DATE_EPOCH

WORK=$(mktemp -d "${STRESS_DIR:-${TMPDIR:-/tmp}}/kistore-$NAME.XXXXXX")
WORK=$(realpath "$WORK")
export HOME=$WORK
cd "$WORK" || exit 1
trap 'wait; rm -rf "$WORK"' EXIT

say() {
	printf '%s: %s\n' "$NAME" "$*"
}

die() {
	say "FAILED: $*"
	for file in out err; do
		[ ! -s "$file" ] || head -n 5 "$file"
	done
	[ -z "${KEEP-}" ] || trap - EXIT
	exit 1
}

need() {
	local command
	for command; do
		if ! command -v "$command" >/dev/null; then
			say "skipped: no $command"
			exit 0
		fi
	done
}

need_catalogue() {
	[ -e "$CATALOGUE" ] || { say "skipped: no catalogue"; exit 0; }
}

# manifest NAME: a small valid record, different for each name.
manifest() {
	printf '{"apiVersion":"kernelindex.dev/v1alpha1",'
	printf '"kind":"SoftwareProject","metadata":{"name":"%s"},' "$1"
	printf '"spec":{"name":"Project %s"}}' "$1"
}

seconds() {
	date +%s.%N
}

since() {
	echo "$(seconds) $1" | awk '{ printf "%.1f", $1 - $2 }'
}

head_of() {
	git -C "$1" rev-parse HEAD
}

# How many entries the log has.
entries_of() {
	"$KISTORE" -C "$1" log --root | awk '{ print $1 }'
}

# verify is clean.
clean() {
	"$KISTORE" -C "$1" verify >out 2>err || die "$2: verify is not clean"
}

# shellcheck disable=SC2034 # the scripts read $state
# old_or_new STORE OLD ENTRIES WHAT: HEAD is OLD, or its child with a log of
# ENTRIES; sets $state.
old_or_new() {
	local now
	now=$(head_of "$1") || die "$4: no HEAD"
	state=old
	[ "$now" != "$2" ] || return 0
	state=new
	[ "$(git -C "$1" rev-parse HEAD^)" = "$2" ] ||
		die "$4: HEAD is neither the old commit nor its child"
	[ "$(entries_of "$1")" = "$3" ] || die "$4: half of the entries"
}

# Files that a writer leaves only when it dies, in a git directory or work
# tree; then packs that git cannot use, and packs of objects that nothing leads
# to.
leftovers() {
	local git
	git=$(git -C "$1" rev-parse --absolute-git-dir)
	find "$1" \( -name 'kistore-*' -o -name '.kistore-*' -o \
		-name 'pack_git2_*' -o -name '*.keep' -o -name '*.lock' -o \
		-name 'tmp_*' \) ! -name kistore.lock \
		! -name 'kistore-index.sqlite*' ! -name kistore-mirror
	find "$git/objects/pack" -name '*.pack' | while read -r pack; do
		[ -e "${pack%.pack}.idx" ] || echo "$pack"
	done
	git -C "$1" count-objects -v | grep -E '^garbage: [1-9]'
}

no_leftovers() {
	leftovers "$1" >left 2>&1
	[ ! -s left ] || { cat left; die "$2: something is left"; }
}
