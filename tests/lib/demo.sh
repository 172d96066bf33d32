#!/bin/sh
# A tour: makes a store in a temporary directory, puts a published run and all
# that it rests on, finds it again, and checks it. Shows each command and what
# it printed; stops at the first that fails.
set -eu

cd "$(dirname "$0")/../.."
program=${KISTORE:-build/kistore}
case $program in /*) ;; *) program=$PWD/$program ;; esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
ln -s "$program" "$work/kistore"
ln -s "$PWD/fixtures/seeds/closure" "$work/seeds"
ln -s "$PWD/fixtures/seeds/run-c3252a98.json" "$work/page.json"
PATH=$work:$PATH
cd "$work"

# Show a command line as one would type it, and run it.
try() {
	printf '\n$ %s\n' "$1"
	eval "$1"
}

echo 'kistore keeps benchmark records in a git repository, each named by its'
echo 'SHA-256. This tour works in an empty directory; seeds/ holds manifests of'
echo 'a published run, of the runs it is compared with, and of all they rest on.'

try 'kistore init data.git'
try 'export KISTORE_DIR=data.git'
try 'kistore put --source seeds/source.json seeds/000/*.json seeds/000/group/*'
try 'kistore resolve c3252a98'
try 'kistore resolve --tree c3252a98'

printf '\n%s\n' 'The manifest as the publisher shows it, byte for byte:'
try 'kistore get --page c3252a98 >got.json'
try 'head -n 12 got.json'
try 'cmp got.json page.json && echo the same'

try 'kistore verify'
try 'kistore log --root'

# What a sceptic does who trusts none of the above.
if command -v zstd >/dev/null; then
	printf '\n%s\n' 'And without kistore, with stock tools:'
	rest=52a98ba487075f12047e8fc1ecd6dc156a9144e5fc5a6619de6954416fcf6
	try "git -C data.git cat-file blob \\
    HEAD:objects/c/32/$rest.zst |
    zstd -dc | sha256sum"
fi
