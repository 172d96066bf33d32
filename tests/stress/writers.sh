#!/usr/bin/env bash
# Four writers with 500 single puts each, at once, beside readers that never
# stop. Everybody waits, nobody fails, nothing is lost, and every reader sees
# one whole state at any time.

# shellcheck source=tests/stress/lib.bash
. "$(dirname "$0")/lib.bash"
WRITERS=${WRITERS:-4}
PUTS=${PUTS:-500}

"$KISTORE" init store >out || die init
manifest first >first.json
"$KISTORE" -C store put first.json >out 2>err || die "the put"
first=$(cut -d' ' -f1 out)
jq -cjS 'del(.metadata)' first.json >body

writer() {
	local n
	for ((n = 0; n < PUTS; n++)); do
		manifest "w$1-$n" | "$KISTORE" -q -C store put --wait 600 - \
			>"put.$1" 2>"err.$1" || echo "put $1 $n" >>failed
		grep -q ' new$' "put.$1" || echo "not new: $1 $n" >>failed
	done
}

# A log only grows, and verify is clean at any time.
reader() {
	local size=0 now looks=0
	while [ ! -e stop ]; do
		"$KISTORE" -C store verify >"read.$1" 2>"rerr.$1" ||
			{ cat "read.$1" "rerr.$1"; echo verify; } >>failed
		now=$(sed -n 's/^log of \([0-9]*\) .*/\1/p' "read.$1")
		[ "${now:-0}" -ge "$size" ] || echo "log shrank" >>failed
		size=$now
		"$KISTORE" -C store get "$first" 2>"rerr.$1" | cmp -s - body ||
			{ cat "rerr.$1"; echo get; } >>failed
		[ "$("$KISTORE" -C store resolve first 2>"rerr.$1")" = \
			"$first" ] || { cat "rerr.$1"; echo resolve; } >>failed
		looks=$((looks + 1))
	done
	echo "$looks" >"looks.$1"
}

start=$(seconds)
reader 1 &
reader 2 &
pids=
for ((w = 1; w <= WRITERS; w++)); do
	writer "$w" &
	pids="$pids $!"
done
# shellcheck disable=SC2086 # many
wait $pids
took=$(since "$start")
touch stop
wait
[ ! -e failed ] || { sort failed | uniq -c | head; die "somebody failed"; }
clean store end
no_leftovers store end
objects=$(git -C store ls-tree -r --name-only HEAD objects | wc -l)
[ "$objects" -eq $((WRITERS * PUTS + 1)) ] || die "$objects objects"
[ "$(entries_of store)" -eq $((WRITERS * PUTS + 2)) ] || die entries
[ "$(git -C store rev-list --count HEAD)" -eq $((WRITERS * PUTS + 2)) ] ||
	die commits
[ -z "$(git -C store fsck --strict 2>&1)" ] || die "git fsck"
say "ok, $WRITERS writers with $PUTS puts each in $took s," \
	"read $(awk '{ n += $1 } END { print n }' looks.*) times meanwhile"
