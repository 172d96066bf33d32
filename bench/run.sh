#!/bin/sh
# Measures kistore against git on the catalogue's manifests, in one run on one
# machine, and prints a table, which it leaves in $BUILD/bench.md too.
# bench/README.md says what each figure is.
#
#	KISTORE=build/kistore bench/run.sh
#
# RUNS says how often the long ones are repeated (7).
set -eu

cd "$(dirname "$0")/.."
# shellcheck source=bench/lib.sh
. bench/lib.sh
runs=${RUNS:-7}

bench_need hyperfine jq zstd strace python3 git pkg-config /usr/bin/time
bench_begin
bench_catalogue
count=$(bench/make_manifests.py "$rows" "$work")
manifests=$work/manifests.jsonl
tree=$work/tree

# timed, for what takes long and for what does not
few() {
	name=$1
	shift
	timed "$name" -r "$runs" -w 1 "$@"
}

many() {
	name=$1
	shift
	timed "$name" -r $((runs * 15)) -w 10 "$@"
}

# ---- Put -------------------------------------------------------------------

# new_store NAME: commands to have an empty one, with the disk at rest.
new_store() {
	echo "sh -c 'rm -rf $1 && $kistore -q init $1 && sync'"
}

put_all() {
	fresh_git="sh -c 'rm -rf $tree/.git && git init -q $tree && sync'"
	few git-put -p "$fresh_git" \
		"sh -c 'cd $tree && git add -A && git commit -q -m all'"
	few put-lines -p "$(new_store "$work/lines.git")" \
		"$kistore -q -C $work/lines.git put $manifests"
	few put-all -p "$(new_store "$work/all.git")" \
		"$kistore -q -C $work/all.git put $catalogue"
	few put-again "$kistore -q -C $work/all.git put $catalogue"
	"$kistore" -q init "$work/peak.git" >/dev/null
	once put-lines "$kistore" -q -C "$work/peak.git" put "$manifests"
	rm -rf "$work/peak.git"
	"$kistore" -q init "$work/peak.git" >/dev/null
	once put-all "$kistore" -q -C "$work/peak.git" put "$catalogue"
	once put-again "$kistore" -q -C "$work/peak.git" put "$catalogue"
	"$kistore" -q init "$work/traced.git" >/dev/null
	traced put-all "$kistore" -q -C "$work/traced.git" put "$catalogue"
	rm -rf "$work/peak.git" "$work/traced.git"
}

# ---- Verify and clone ------------------------------------------------------

verify_all() {
	cp -a "$tree/.git" "$work/packed.git"
	git -C "$work/packed.git" config core.bare true
	git -C "$work/packed.git" gc -q
	few git-verify-loose "git -C $tree fsck --full --no-progress"
	few git-verify "git -C $work/packed.git fsck --full --no-progress"
	few verify-lines "$kistore -q -C $work/lines.git verify"
	few verify-all "$kistore -q -C $work/all.git verify"
	once git-verify git -C "$work/packed.git" fsck --full --no-progress
	once verify-lines "$kistore" -q -C "$work/lines.git" verify
	once verify-all "$kistore" -q -C "$work/all.git" verify
}

clone_all() {
	for name in lines all packed; do
		git clone -q --bare --no-local "$work/$name.git" \
			"$work/$name-clone.git"
	done
	few verify-clone "$kistore -q -C $work/all-clone.git verify"
}

# ---- One record ------------------------------------------------------------

start_one() {
	run=$(jq -r 'select(.kind == "BenchmarkRun") | .metadata.name' \
		"$manifests" | sort | uniq -u | sed -n 7p)
	jq -c --arg name "$run" 'select(.metadata.name == $name)' "$manifests" |
		head -n 1 >"$work/run.json"
	digest=$("$kistore" digest "$work/run.json" | grep -o 'sha256:[0-9a-f]*')
	pkg-config --cflags --libs libgit2 |
		xargs "${CC:-cc}" -O2 -o "$BUILD/empty_libgit2" \
		bench/empty_libgit2.c
	"$kistore" -C "$work/all.git" resolve "$digest" >/dev/null
	many true /bin/true
	many empty-libgit2 "$BUILD/empty_libgit2"
	many canon "$kistore canon $work/run.json"
	many digest "$kistore digest $work/run.json"
	many resolve "$kistore -C $work/all.git resolve $digest"
	many resolve-name "$kistore -C $work/all.git resolve $run"
	many get "$kistore -C $work/all.git get $digest"
	once canon "$kistore" canon "$work/run.json"
	once resolve "$kistore" -C "$work/all.git" resolve "$digest"
	once get "$kistore" -C "$work/all.git" get "$digest"
	once index sh -c "rm -f $work/all.git/kistore-index.sqlite* &&
		$kistore -C $work/all.git resolve $digest"
	once catalogue "$kistore" -C "$work/all.git" list --limit 1
	many list "$kistore -C $work/all.git list --limit 20"
	many list-some "$kistore -C $work/all.git list --hardware B200 \
		--sort value --limit 20"
	many rank "$kistore -C $work/all.git rank $digest"
	many show "$kistore -C $work/all.git show $digest"
}

put_one() {
	mkdir "$work/more"
	bench/make_million.py 1000 "$rows" --more $((runs + 4)) |
		split -l 1 -a 4 - "$work/more/"
	cat >"$work/next" <<-'END'
	#!/bin/sh
	set -- "${0%/*}"/more/*
	mv "$1" "${0%/*}/one.json"
	sync
	END
	chmod +x "$work/next"
	timed put-one -r "$runs" -w 1 -p "$work/next" \
		"$kistore -q -C $work/all.git put $work/one.json"
	"$work/next"
	once put-one "$kistore" -q -C "$work/all.git" put "$work/one.json"
	"$work/next"
	before=$(pack_bytes "$work/all.git")
	traced put-one "$kistore" -q -C "$work/all.git" put "$work/one.json"
	one_pack=$(($(pack_bytes "$work/all.git") - before))
}

# ---- Report ----------------------------------------------------------------

# row WHAT NAME PEER GOAL
row() {
	times=–
	[ -n "$3" ] && times=$(ratio "$2" "$3")
	echo "| $1 | $(cells "$2") | $times | $4 |"
}

columns() {
	echo "| what | median | shortest | processor | peak | $1 | goal |"
	echo '|---|--:|--:|--:|--:|--:|---|'
}

report() {
	objects=$("$kistore" -C "$work/lines-clone.git" status --json |
		jq .objects)
	cat <<-END
	# Measured

	Input: $input; $count distinct manifests
	($objects objects when put as lines). Medians of $runs runs after one to warm
	up; processor is user and system time, of all threads; peak is resident memory.
	\`bench/README.md\` says more.

	$(bench_machine)

	## Put

	$(columns 'git ÷ this')
	$(row "\`git add -A && git commit\` of $count files" git-put '' '–')
	$(row 'put the same, from JSON Lines' put-lines git-put '≤ 0.36 s; 4')
	$(row 'put the catalogue with its rows' put-all git-put '≤ 0.36 s; 4')
	$(row 'the same again: nothing to do' put-again git-put '–')

	The put of the catalogue made $(cat "$work/put-all.fsyncs") fsyncs and wrote
	$(bytes "$(cat "$work/put-all.written")").
	Floor, from throw-away programs, on one core: reading 0.02 s, canonical form
	0.03, SHA-256 0.015, zstd with dictionary 0.04, training 0.1, the pack 0.08,
	deflating the log 0.12, trees 0.1.

	## Verify

	$(columns 'fsck of the pack ÷ this')
	$(row "\`git fsck --full\`, loose objects" git-verify-loose git-verify '–')
	$(row "\`git fsck --full\` after \`git gc\`" git-verify '' '–')
	$(row 'verify, the same manifests' verify-lines git-verify '≤ 0.12 s')
	$(row 'verify, the catalogue with its rows' verify-all git-verify \
		'≤ 0.12 s')
	$(row 'the same in a clone, packed by git' verify-clone git-verify \
		'≤ 0.12 s')

	Loose, git's check takes $(ratio verify-lines git-verify-loose) times as long as
	verify. Floor: one reader and two workers 0.05 s.

	## Bytes to clone

	Pack of a fresh \`git clone --bare --no-local\`.

	| what | pack | goal |
	|---|--:|---|
	| git, after \`git gc\` | $(bytes "$(pack_bytes "$work/packed-clone.git")") | – |
	| kistore, the same manifests | $(bytes "$(pack_bytes \
		"$work/lines-clone.git")") | – |
	| kistore, the catalogue with its rows | $(bytes "$(pack_bytes \
		"$work/all-clone.git")") | ≤ 6.8 MB |

	## One record, a new process each time

	$(columns 'above an empty program')
	$(above "\`/bin/true\`" true true '–')
	$(above 'an empty libgit2 program' empty-libgit2 true '–')
	$(above canon canon true '≤ 5 ms')
	$(above digest digest true '≤ 5 ms')
	$(above 'resolve a digest' resolve empty-libgit2 '≤ 10 ms')
	$(above 'resolve a name' resolve-name empty-libgit2 '≤ 10 ms')
	$(above get get empty-libgit2 '≤ 10 ms')
	$(above 'put one new run' put-one empty-libgit2 '≤ 25 ms')
	$(above 'resolve without an index: builds it' index empty-libgit2 \
		'≤ 0.5 s')
	$(above 'the first list: fills the catalogue' catalogue empty-libgit2 \
		'≤ 0.5 s')
	$(above 'list 20' list empty-libgit2 '≤ 10 ms')
	$(above 'list 20 by value, on one GPU' list-some empty-libgit2 \
		'≤ 10 ms')
	$(above rank rank empty-libgit2 '≤ 10 ms')
	$(above show show empty-libgit2 '≤ 10 ms')

	Putting one made $(cat "$work/put-one.fsyncs") fsyncs (goal: ≤ 8), wrote
	$(bytes "$(cat "$work/put-one.written")"), of which $(bytes "$one_pack") is its pack.
	Above an empty program: for canon and digest \`/bin/true\`, for the rest the
	empty libgit2 program.
	END
}

# above WHAT NAME EMPTY GOAL: with the difference instead of a ratio.
above() {
	more=$(awk -v a="$(median "$2")" -v b="$(median "$3")" \
		'BEGIN { print (a > b ? a - b : 0) }')
	echo "| $1 | $(cells "$2") | $(seconds "$more") | $4 |"
}

put_all
verify_all
clone_all
start_one
put_one
report | tee "$BUILD/bench.md"
