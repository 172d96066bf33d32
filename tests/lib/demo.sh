#!/bin/sh
# A tour in seven commands: makes a store in a temporary directory, puts a
# published run and all that it rests on, finds it again, and checks it. Shows
# each command and what it printed; stops at the first that fails.
set -eu

cd "$(dirname "$0")/../.."
kistore=${KISTORE:-build/kistore}
seeds=fixtures/seeds/closure
run=c3252a98ba487075f12047e8fc1ecd6dc156a9144e5fc5a6619de6954416fcf6

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
store=$work/data.git

# The commands are shown as one would type them, with short names for the
# program and the store.
show() {
	printf '\n$'
	printf ' %s' "$@"
	printf '\n'
}

run_kistore() {
	show kistore "$@"
	"$kistore" -C "$store" "$@"
}

echo 'kistore keeps benchmark records in a git repository, each named by its'
echo 'SHA-256. The store of this tour is data.git, in a temporary directory.'

show kistore init data.git
"$kistore" init "$store"
export KISTORE_DIR="$store"
show export KISTORE_DIR=data.git

run_kistore put --source "$seeds/source.json" "$seeds/000"

short=$(printf %.8s "$run")
run_kistore resolve "$short"
run_kistore resolve --tree "$short"
run_kistore get --page "$short"
run_kistore verify
run_kistore log --root

# What the sceptic does who trusts none of the above.
if command -v zstd >/dev/null; then
	path=objects/c/32/${run#c32}.zst
	echo
	echo "\$ git -C data.git cat-file blob HEAD:$path | zstd -dc | sha256sum"
	digest=$(git -C "$store" cat-file blob "HEAD:$path" | zstd -dc |
		sha256sum)
	echo "$digest"
	[ "${digest%% *}" = "$run" ]
fi
