#!/usr/bin/env bash
# git gc, git repack -a -d, git pack-refs and git prune beside writers and
# readers: whoever keeps house, nobody fails and nothing is lost. (git prune
# without --expire takes loose objects away that nothing leads to yet, here as
# from git itself; so it runs while puts write packs, before there are 50.)

# shellcheck source=tests/stress/lib.bash
. "$(dirname "$0")/lib.bash"
SECONDS_EACH=${SECONDS_EACH:-40}

"$KISTORE" init store >out || die init
manifest first >first.json
"$KISTORE" -C store put first.json >out 2>err || die "the put"
first=$(cut -d' ' -f1 out)
count=1

writer() {
	local n=0
	while [ ! -e stop ]; do
		n=$((n + 1))
		manifest "$1-$n" | "$KISTORE" -q -C store put --wait 600 - \
			>"put.$1" 2>"err.$1" ||
			{ cat "err.$1"; echo "put $1 $n"; } >>failed
	done
	echo "$n" >"count.$1"
}

reader() {
	while [ ! -e stop ]; do
		"$KISTORE" -C store verify >seen 2>rerr ||
			{ cat seen rerr; echo verify; } >>failed
		"$KISTORE" -C store get "$first" >got 2>rerr ||
			{ cat rerr; echo get; } >>failed
		"$KISTORE" -C store resolve --tree first >got 2>rerr ||
			{ cat rerr; echo resolve; } >>failed
	done
}

# beside COMMAND…: run it over and over for a while.
beside() {
	local end=$((SECONDS + SECONDS_EACH)) runs=0 n
	rm -f stop count.*
	writer "${1//[^a-z]/}-a$count" &
	writer "${1//[^a-z]/}-b$count" &
	reader &
	while [ "$SECONDS" -lt "$end" ]; do
		for command; do
			$command >git.out 2>&1 ||
				{ cat git.out; echo "$command"; } >>failed
		done
		runs=$((runs + 1))
	done
	touch stop
	wait
	[ ! -e failed ] || { sort failed | uniq -c | head -n 20; die "$*"; }
	for n in count.*; do count=$((count + $(cat "$n"))); done
	clean store "$*"
	no_leftovers store "$*"
	objects=$(git -C store ls-tree -r --name-only HEAD objects | wc -l)
	[ "$objects" -eq "$count" ] || die "$*: $objects objects, not $count"
	[ -z "$(git -C store fsck --strict 2>&1)" ] || die "$*: git fsck"
	say "${*//-C store /}: $runs times, $count objects so far"
}

git="git -C store"
beside "$git gc --quiet"
beside "$git gc --quiet --aggressive --prune=1.hour.ago"
beside "$git repack -a -d -q" "$git pack-refs --all"
beside "$git repack -A -d -q" "$git prune-packed -q" \
	"$git multi-pack-index write --no-progress" "$git repack -a -d -q"
beside "$KISTORE -C store gc --wait 600"
beside "$git prune" "$git repack -a -d -q"
# Loose objects as well: no prune of what is new.
"$KISTORE" -C store gc >out 2>err || die gc
for ((n = 0; n < 55; n++)); do
	manifest "pack-$n" | "$KISTORE" -q -C store put - >out 2>err || die put
done
count=$((count + 55))
beside "sleep 1" "$git prune --expire=1.hour.ago" "sleep 1" "$git prune-packed -q"
beside "$git gc --quiet"
say "ok, $count objects"
