#!/bin/sh
# Measures whether what kistore does grows in step with what it holds: puts
# 10,000, 100,000 and 1,000,000 synthetic runs into new stores, and uses them.
# Prints a table, a column a size, and leaves it in $BUILD/million.md too.
#
#	KISTORE=build/kistore bench/million.sh [COUNT]...
#
# The million takes minutes, about 2 GB under $TMPDIR, and 1 GB of memory.
set -eu

cd "$(dirname "$0")/.."
# shellcheck source=bench/lib.sh
. bench/lib.sh
sizes=${*:-10000 100000 1000000}

bench_need hyperfine jq zstd strace python3 git pkg-config /usr/bin/time
bench_begin
bench_catalogue
for size in $sizes; do
	free=$(df -P -B1 "$work" | awk 'NR == 2 { print $4 }')
	if [ "$free" -lt $((size * 4000)) ]; then
		echo "bench: $work has no room for $size records" >&2
		exit 1
	fi
done

# The next new run of SIZE, as $work/one.json.
next_run() {
	set -- "$work/more"/*
	mv "$1" "$work/one.json"
}

use() {
	name=$1 store=$2 size=$3
	mkdir "$work/more"
	bench/make_million.py "$size" "$rows" --more 8 |
		split -l 1 -a 3 - "$work/more/"
	for i in 1 2 3 4 5; do
		next_run
		once "put-one-$name-$i" \
			"$kistore" -q -C "$store" put "$work/one.json"
	done
	# The median of five, by time.
	sort -n "$work/put-one-$name"-?.once | sed -n 3p \
		>"$work/put-one-$name.once"
	awk '{ print $1, $1, $2 + $3 }' "$work/put-one-$name.once" \
		>"$work/put-one-$name.time"
	awk '{ print $4 }' "$work/put-one-$name.once" \
		>"$work/put-one-$name.peak"
	next_run
	traced "put-one-$name" "$kistore" -q -C "$store" put "$work/one.json"
	digest=$("$kistore" digest "$work/one.json" |
		grep -o 'sha256:[0-9a-f]*')
	timed "resolve-$name" -r 50 -w 5 "$kistore -C $store resolve $digest"
	timed "name-$name" -r 50 -w 5 \
		"$kistore -C $store resolve synthetic-$((size + 5))"
	timed "get-$name" -r 50 -w 5 "$kistore -C $store get $digest"
	once "catch-up-$name" "$kistore" -C "$store" list --limit 1
	timed "list-$name" -r 20 -w 3 "$kistore -C $store list --limit 20"
	timed "list-some-$name" -r 20 -w 3 "$kistore -C $store list \
		--hardware B200 --sort value --limit 20"
	timed "rank-$name" -r 20 -w 3 "$kistore -C $store rank $digest"
	timed "show-$name" -r 20 -w 3 "$kistore -C $store show $digest"
	once "resolve-$name" "$kistore" -C "$store" resolve "$digest"
	once "get-$name" "$kistore" -C "$store" get "$digest"
	rm -r "$work/more"
}

sign() {
	once "snapshot-$1" "$kistore" -q -C "$2" snapshot create \
		--key "$work/log.key"
}

# A mirror, 1,000 new records, and the citation of one of them.
follow() {
	name=$1 store=$2 size=$3 mirror=$work/mirror.git
	XDG_STATE_HOME=$work/state-$name
	export XDG_STATE_HOME
	"$kistore" -q key generate --name bench.example/log \
		-o "$work/log.key" >"$work/log.vkey" 2>/dev/null
	"$kistore" -q -C "$store" snapshot create --key "$work/log.key" \
		--first >/dev/null
	once "mirror-$name" "$kistore" -q mirror clone \
		--key "$work/log.vkey" "$store" "$mirror"
	"$kistore" -q -C "$mirror" mirror update >/dev/null
	bench/make_million.py "$size" "$rows" --more 1008 | tail -n 1000 \
		>"$work/more.jsonl"
	"$kistore" -q -C "$store" put "$work/more.jsonl" >/dev/null
	sign "$name" "$store"
	once "update-$name" "$kistore" -q -C "$mirror" mirror update
	timed "no-news-$name" -r 20 -w 3 "$kistore -q -C $mirror mirror update"
	digest=$(tail -n 1 "$work/more.jsonl" | "$kistore" digest - |
		grep -o 'sha256:[0-9a-f]*')
	timed "cite-$name" -r 20 -w 3 -p "rm -f $work/cited" \
		"$kistore -q -C $store cite --proof $work/cited $digest"
	stat -c %s "$work/cited" >"$work/cited-$name"
	timed "check-$name" -r 50 -w 5 \
		"$kistore check --key $work/log.vkey $work/cited"
	rm -rf "$mirror" "$work/log.key" "$work/more.jsonl"
}

measure() {
	size=$1 name=$1 store=$work/$1.git
	echo "bench: $size" >&2
	bench/make_million.py "$size" "$rows" | zstd -q >"$work/input.jsonl.zst"
	stat -c %s "$work/input.jsonl.zst" >"$work/input-$name"
	"$kistore" -q init "$store" >/dev/null
	once "put-$name" "$kistore" -q -C "$store" put "$work/input.jsonl.zst"
	rm "$work/input.jsonl.zst"
	once "verify-$name" "$kistore" -q -C "$store" verify
	digest=$("$kistore" -C "$store" log --json 1..2 |
		jq -r .entry.digest)
	rm -f "$store"/kistore-index.sqlite*
	once "index-$name" "$kistore" -q -C "$store" resolve "$digest"
	cat "$store"/kistore-index.sqlite* | wc -c >"$work/index-$name.bytes"
	once "catalogue-$name" "$kistore" -q -C "$store" list --limit 1
	use "$name" "$store" "$size"
	git clone -q --bare --no-local "$store" "$work/clone.git"
	pack_bytes "$work/clone.git" >"$work/clone-$name"
	once "gc-$name" "$kistore" -q -C "$store" gc
	once "verify-gc-$name" "$kistore" -q -C "$store" verify
	follow "$name" "$store" "$size"
	rm -rf "$store" "$work/clone.git"
}

# ---- Report ----------------------------------------------------------------

# each WHAT GOAL FUNCTION ARG...: a row, with what FUNCTION prints for a size.
each() {
	printf '| %s ' "$1"
	goal=$2
	shift 2
	for size in $sizes; do
		printf '| %s ' "$("$@" "$size")"
	done
	printf '| %s |\n' "$goal"
}

wall() { seconds "$(median "$1-$2")"; }
processor() { seconds "$(cut -d' ' -f3 "$work/$1-$2.time")"; }
peak() { awk '{ printf "%.1f MB", $1 * 1.024e-3 }' "$work/$1-$2.peak"; }
size_of() { bytes "$(cat "$work/$1-$2")"; }
file() { cat "$work/$1-$3.$2"; }
file_bytes() { bytes "$(file "$@")"; }
per_object() {
	awk -v size="$2" '{ printf "%.1f µs", $3 * 1e6 / size }' \
		"$work/$1-$2.time"
}

report() {
	cat <<-END
	# Measured, by size

	Synthetic runs like those of $input, with what they refer to, from
	\`bench/make_million.py\`. Once each, but the median of 5 for put one
	and of 50 for resolve and get; processor is user and system time, of all
	threads; peak is resident memory.

	$(bench_machine)

	END
	printf '| objects | %sgoal at a million |\n' \
		"$(for s in $sizes; do printf '%s | ' "$s"; done)"
	printf '|---|%s---|\n' "$(for s in $sizes; do printf -- '--:|'; done)"
	each 'put them' linear wall put
	each '… processor' '' processor put
	each '… processor, per object' '' per_object put
	each '… peak' '≤ 400 MB' peak put
	each 'verify' '≤ 4 s' wall verify
	each '… processor' '' processor verify
	each '… processor, per object' '' per_object verify
	each '… peak' '≤ 128 MB' peak verify
	each 'verify after gc' '≤ 4 s' wall verify-gc
	each 'build the index' '≤ 30 s' wall index
	each '… processor, per object' '' per_object index
	each '… peak' '' peak index
	each '… bytes' '' file_bytes index bytes
	each 'fill the catalogue' '≤ 30 s' wall catalogue
	each '… peak' '' peak catalogue
	each 'put one' '≤ 25 ms' wall put-one
	each '… processor' '' processor put-one
	each '… peak' '≤ 32 MB' peak put-one
	each '… fsyncs' '≤ 8' file put-one fsyncs
	each '… written' '' file_bytes put-one written
	each 'resolve a digest' '≤ 10 ms' wall resolve
	each 'resolve a name' '≤ 10 ms' wall name
	each 'get' '≤ 10 ms' wall get
	each '… peak' '' peak get
	each 'catch up with six' '' wall catch-up
	each 'list 20' '≤ 20 ms' wall list
	each 'list 20 by value, on one GPU' '≤ 20 ms' wall list-some
	each 'rank' '≤ 20 ms' wall rank
	each 'show' '≤ 20 ms' wall show
	each 'gc' '' wall gc
	each 'mirror clone' '' wall mirror
	each '… peak' '' peak mirror
	each 'snapshot of 1,000 more' '' wall snapshot
	each 'mirror update by 1,000' '' wall update
	each '… peak' '' peak update
	each 'mirror update by nothing' '' wall no-news
	each 'cite --proof' '' wall cite
	each '… bytes' '' size_of cited
	each 'check' '≤ 5 ms' wall check
	each 'input, .jsonl.zst' '' size_of input
	each 'pack of a clone' '' size_of clone
}

for size in $sizes; do
	measure "$size"
done
report | tee "$BUILD/million.md"
